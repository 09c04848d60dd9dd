"""Chapter 8: what a collective costs that reduces on the host although its buffers are on the device."""

from __future__ import annotations

from functools import cache

from orrery_analytic.calls import collective_cost, device_cost
from orrery_analytic.course.choice import Choice
from orrery_analytic.course.exercise import Exercise, Mistake
from orrery_analytic.course.formula import Formula
from orrery_analytic.course.number import Number
from orrery_analytic.gpu import bounce_copies
from orrery_analytic.symbols import t_call

__all__ = ["EXERCISES"]

# ABCI, four A100 of one node, Open MPI 4.0.5 (aistabci/abci2.0benchmark): allreduce of 32 MiB.
_NBYTES, _ON_DEVICE, _ON_HOST = 2**25, 37412.53e-6, 15454.29e-6

_TWICE_AS_GOOD = {
    "network latency": ("latency",),
    "network bandwidth": ("bandwidth",),
    "copy latency": ("d2h_latency", "h2d_latency"),
    "copy bandwidth": ("d2h_bandwidth", "h2d_bandwidth"),
    "reduction rate": ("reduction_rate",),
}
_SYMBOLS = {
    "latency": "alpha",
    "bandwidth": "beta",
    "d2h_latency": "alpha_d2h",
    "h2d_latency": "alpha_h2d",
    "d2h_bandwidth": "beta_d2h",
    "h2d_bandwidth": "beta_h2d",
    "reduction_rate": "gamma",
}


def _in_place() -> Formula:
    return Formula(device_cost("allreduce", in_place=True))


def _in_place_mistakes() -> tuple[Mistake, ...]:
    whole, alone = device_cost("allreduce").total, device_cost("allreduce", in_place=True).total
    return (
        Mistake(Formula(whole), "This is out of place: with one buffer there is one copy down, not two."),
        Mistake(Formula(alone - t_call), "The copies are right, but t_call is missing."),
        Mistake(Formula(whole - t_call), "This is out of place, and t_call is missing."),
    )


def _copy_bandwidth(copies: int) -> Number:
    return Number(copies * _NBYTES / (_ON_DEVICE - _ON_HOST), "B/s")


def _number_of_copies() -> int:
    found = bounce_copies("allreduce")
    assert found is not None
    return len(found.down) + len(found.up)


def _bandwidth_mistakes() -> tuple[Mistake, ...]:
    copies, ranks = _number_of_copies(), 4
    of_all = Number(copies * _NBYTES / _ON_DEVICE, "B/s")
    return (
        Mistake(_copy_bandwidth(1), "This is one copy of n bytes: count the copies of the bounce."),
        Mistake(_copy_bandwidth(2), "This is two copies of n bytes: the receive buffer goes down as well."),
        Mistake(of_all, "This is the whole time on the device: what it takes on the host is no copy."),
        Mistake(_copy_bandwidth(copies * ranks), "This is the bytes of all four ranks; each copies its own n."),
    )


@cache
def _saves_most() -> str:
    """Return which number saves most, for 1 KiB by recursive doubling on 64 ranks of musica."""
    from orrery_analytic.machines import load_machine

    cost = collective_cost("allreduce", "recursive_doubling", buffers="device")
    numbers = {name: value for name, value in load_machine("musica").parameters.items() if name in cost.symbols}

    def seconds(keys: tuple[str, ...]) -> float:
        halved = {_SYMBOLS[key]: numbers[_SYMBOLS[key]] / 2 for key in keys}
        return float(cost(**{**numbers, **halved}, P=64, n=2**10))

    return min(_TWICE_AS_GOOD, key=lambda name: seconds(_TWICE_AS_GOOD[name]))


def _choice(name: str) -> Choice:
    return Choice(name, tuple(_TWICE_AS_GOOD))


EXERCISES = (
    Exercise(
        number="8.1",
        asks="What device buffers add to an allreduce of n bytes in place, in Open MPI 4.1.",
        answer=_in_place,
        hint="Count the copies: which buffers are there, and which of them goes which way?",
        says="One buffer goes down once and up once: in place spares a third of the bounce.",
        mistakes=_in_place_mistakes,
    ),
    Exercise(
        number="8.2",
        asks="The bandwidth of one copy between device and host, from two measured times.",
        answer=lambda: _copy_bandwidth(_number_of_copies()),
        hint="The difference of the two times is the bounce: so many copies of n bytes each.",
        says="4.6 GB/s: pageable memory. The machine file musica has this number, and says from where.",
        mistakes=_bandwidth_mistakes,
    ),
    Exercise(
        number="8.3",
        asks="The number of the machine that saves most for an allreduce of 1 KiB if it is twice as good.",
        answer=lambda: _choice(_saves_most()),
        hint="Write down each term in microseconds; the largest one is the one to halve.",
        says="Three copies wait 29 us for 1 KiB each; all six messages of the network wait 11 us.",
        mistakes=lambda: (
            Mistake(_choice("copy bandwidth"), "So it is for large messages; 1 KiB at 4.6 GB/s takes 0.2 us."),
            Mistake(_choice("network latency"), "Close: it is the next one. Six messages wait 11.4 us; the copies?"),
        ),
    ),
)
