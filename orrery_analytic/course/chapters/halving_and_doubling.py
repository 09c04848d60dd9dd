"""Chapter 4: what halving and doubling cost."""

from __future__ import annotations

from orrery_analytic.algebra import crossover
from orrery_analytic.calls import collective_cost
from orrery_analytic.cost import Cost
from orrery_analytic.course.choice import Choice
from orrery_analytic.course.exercise import Exercise, Mistake
from orrery_analytic.course.formula import POWERS, Formula
from orrery_analytic.course.number import Number
from orrery_analytic.machines import Machine, load_machine
from orrery_analytic.symbols import P, alpha, beta, gamma, log2_floor, n

__all__ = ["EXERCISES"]

_CHANGES = ("half the latency", "twice the bandwidth", "twice the reduction rate", "twice the ranks")


def _doubling() -> Cost:
    return collective_cost("allreduce", "recursive_doubling")


def _rabenseifner() -> Cost:
    return collective_cost("allreduce", "rabenseifner")


def _crossing(machine: Machine, ranks: int) -> float:
    """Return the size from which on Rabenseifner's allreduce is faster, in bytes."""
    return float(crossover(_doubling(), _rabenseifner(), "n").at(machine, P=ranks)[0])


def _lowered() -> frozenset[str]:
    """Return what brings the crossing of MUSICA at 64 ranks down."""
    musica = load_machine("musica")
    latency, bandwidth, rate = (musica.parameters[name] for name in ("alpha", "beta", "gamma"))
    changed = (
        _crossing(musica.replace(latency=latency / 2), 64),
        _crossing(musica.replace(bandwidth=2 / bandwidth), 64),
        _crossing(musica.replace(reduction_rate=2 / rate), 64),
        _crossing(musica, 128),
    )
    return frozenset(name for name, at in zip(_CHANGES, changed, strict=True) if at < _crossing(musica, 64))


def _half_forgotten() -> float:
    """Return the crossing on 128 ranks of Leonardo if the bytes of Rabenseifner's second half are forgotten."""
    latency, *per_byte = (load_machine("leonardo").parameters[name] for name in ("alpha", "beta", "gamma"))
    return 7 * latency / (sum(per_byte) * (7 - 127 / 128))


EXERCISES = (
    Exercise(
        number="4.1",
        asks="The time of Rabenseifner's allreduce of a vector of n bytes on P = 2^k ranks.",
        answer=lambda: Formula(_rabenseifner(), ranks=POWERS),
        hint="The first half sends n/2 + n/4 + ... + n/P bytes. The second half sends the same the other way.",
        says="Twice the messages of recursive doubling, and no more bytes than the ring.",
        mistakes=lambda: (
            Mistake(
                Formula(log2_floor(P) * alpha + n * (P - 1) / P * (beta + gamma), ranks=POWERS),
                "This is the first half alone: every rank then has 1/P of the sum.",
            ),
            Mistake(
                Formula(2 * log2_floor(P) * alpha + 2 * n * (P - 1) / P * (beta + gamma), ranks=POWERS),
                "The second half gathers what is summed already: nothing is added in it.",
            ),
            Mistake(
                Formula(2 * log2_floor(P) * alpha + n * (2 * beta + gamma), ranks=POWERS),
                "Nearly: n/2 + n/4 + ... stops at n/P, which is n/P short of n.",
            ),
            Mistake(Formula(_doubling(), ranks=POWERS), "This is recursive doubling: the whole vector in each round."),
        ),
    ),
    Exercise(
        number="4.2",
        asks="From how many bytes on Rabenseifner's allreduce beats recursive doubling on 128 ranks of Leonardo.",
        answer=lambda: Number(_crossing(load_machine("leonardo"), 128), "B"),
        hint="Set the two times equal: both are a number of messages and a number times n.",
        says="Below it, seven messages saved count for more than the bytes.",
        mistakes=lambda: (
            Mistake(
                Number(_half_forgotten(), "B"),
                "Rabenseifner's bytes go out twice: once halved, once doubled. This counts them once.",
            ),
            Mistake(
                Number(_crossing(load_machine("leonardo"), 128) / 128, "B"),
                "This looks like one rank's piece: n is the whole vector.",
            ),
        ),
    ),
    Exercise(
        number="4.3",
        asks=f"What makes Rabenseifner's allreduce the faster one from a smaller n on, out of {', '.join(_CHANGES)}.",
        answer=lambda: Choice(_lowered(), _CHANGES),
        hint="At the crossing the extra messages take as long as the spared bytes. Which of the two changes, and how?",
        says="Rabenseifner pays in messages and saves bytes: cheap messages help it, cheap bytes do not. More ranks "
        "leave more bytes to save.",
        mistakes=lambda: (
            Mistake(
                Choice(frozenset(set(_CHANGES) - _lowered()), _CHANGES),
                "It is the other way round: where bytes are cheap there is less to save.",
            ),
            Mistake(
                Choice(frozenset({"half the latency", "twice the bandwidth", "twice the reduction rate"}), _CHANGES),
                "All of these make both algorithms faster. Which one gains more?",
            ),
        ),
    ),
)
