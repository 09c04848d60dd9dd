"""Chapter 6: which algorithm is taken, and why."""

from __future__ import annotations

from functools import cache

from orrery_analytic.algebra import crossover
from orrery_analytic.calls import collective_cost
from orrery_analytic.course.choice import Choice
from orrery_analytic.course.exercise import Exercise, Mistake
from orrery_analytic.course.formula import POWERS, Formula
from orrery_analytic.course.number import Number
from orrery_analytic.selection import regret
from orrery_analytic.symbols import P, alpha, gamma, n

__all__ = ["EXERCISES"]


_RANKS = 64
_SIZES = {"4 KiB": 2**12, "64 KiB": 2**16, "128 KiB": 2**17, "1 MiB": 2**20}
_TOO_SLOW = 1.5


@cache
def _doubling_against_ring() -> tuple[Formula, tuple[Mistake, ...]]:
    doubling, ring = (collective_cost("allreduce", name) for name in ("recursive_doubling", "ring"))
    (border,) = crossover(doubling, ring, "n").points
    start = (ring.total - doubling.total).subs(n, 0) / alpha
    mistakes = (
        (border.subs(gamma, 0), "The reductions are missing: each byte saves gamma as well as beta."),
        (-border, "The sign is the other one: the ring costs more at the start, and less with each byte."),
        (1 / border, "This is upside down: what is paid at the start is divided by what a byte saves."),
        (border / start, "Count the messages of both: the ring sends 2 (P - 1), recursive doubling log2(P)."),
        (border / P, "This is the size of a block of n / P; n is the whole vector."),
        (border * P, "This is the vectors of all ranks together; n is the vector of one."),
    )
    return Formula(border, ranks=POWERS), tuple(Mistake(Formula(wrong, ranks=POWERS), told) for wrong, told in mistakes)


@cache
def _border(latency: str) -> float:
    from orrery_analytic.machines import load_machine

    doubling, rabenseifner = (collective_cost("allreduce", name) for name in ("recursive_doubling", "rabenseifner"))
    (border,) = crossover(doubling, rabenseifner, "n").at(load_machine("musica").replace(latency=latency), P=_RANKS)
    return border


def _slow_latency() -> tuple[Mistake, ...]:
    return (
        Mistake(Number(_border("1.9 us"), "B"), "This is the border as it was, with a latency of 1.9 us."),
        Mistake(Number(_border("0.19 us"), "B"), "A longer latency makes messages dearer: where should the border go?"),
        Mistake(Number(_border("19 us") * _RANKS, "B"), "This is all ranks together; n is the vector of one."),
        Mistake(Number(_border("19 us") / _RANKS, "B"), "This is a block of n / P; n is the whole vector."),
    )


@cache
def _slow_at() -> frozenset[str]:
    found = regret("musica", "allreduce", _RANKS, list(_SIZES.values())).regret.to_numpy()[0]
    return frozenset(name for name, times in zip(_SIZES, found, strict=True) if times > _TOO_SLOW)


def _right_sizes() -> frozenset[str]:
    return frozenset(_SIZES) - _slow_at()


EXERCISES = (
    Exercise(
        number="6.1",
        asks="The size from which on the ring is cheaper than recursive doubling, on powers of two.",
        answer=lambda: _doubling_against_ring()[0],
        hint="Both costs are lines in n: divide the difference at n = 0 by the difference of what a byte costs.",
        says="The ring's extra messages over what it saves with each byte; the more ranks, the later it pays.",
        mistakes=lambda: _doubling_against_ring()[1],
    ),
    Exercise(
        number="6.2",
        asks="The border between recursive doubling and Rabenseifner's algorithm with a latency of 19 us.",
        answer=lambda: Number(_border("19 us"), "B"),
        hint="alpha is a factor of the border.",
        says="Ten times the latency, ten times the border: a table of sizes cannot fit both networks.",
        mistakes=_slow_latency,
    ),
    Exercise(
        number="6.3",
        asks="The sizes at which the library's allreduce takes more than 1.5 times the least.",
        answer=lambda: Choice(_slow_at(), tuple(_SIZES)),
        hint="The library errs between the border of the formulas and the border of its own table.",
        says="Between 14 KiB and 256 KiB the rule has not changed yet, though the formulas have.",
        mistakes=lambda: (
            Mistake(Choice(_right_sizes(), tuple(_SIZES)), "These are those where its choice is the best one."),
            Mistake(
                Choice(_slow_at() | {"4 KiB"}, tuple(_SIZES)),
                "At 4 KiB it takes the same algorithm, but there it is the right one: 4 KiB is below the border.",
            ),
        ),
    ),
)
