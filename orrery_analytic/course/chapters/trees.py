"""Chapter 2: what a tree of messages costs."""

from __future__ import annotations

from math import log2

from orrery_analytic.calls import collective_cost
from orrery_analytic.cost import Cost
from orrery_analytic.course.choice import Choice
from orrery_analytic.course.exercise import Exercise, Mistake
from orrery_analytic.course.formula import Formula
from orrery_analytic.course.number import Number
from orrery_analytic.machines import load_machine
from orrery_analytic.symbols import P, alpha, beta, log2_ceil, log2_floor, n

__all__ = ["EXERCISES"]

_CHANGES = ("half the latency", "twice the bandwidth", "half the ranks")


def _tree() -> Cost:
    return collective_cost("bcast", "binomial")


def _linear() -> Cost:
    return collective_cost("bcast", "basic_linear")


def _on_leonardo(cost: Cost) -> float:
    """Return the seconds of a broadcast of 65536 bytes to 100 ranks."""
    return float(cost.at(load_machine("leonardo"), P=100, n=65536).total)


def _best_change() -> str:
    """Return what makes a tree of 4 MiB over 1024 ranks of MUSICA fastest."""
    musica = load_machine("musica")
    latency, bandwidth = musica.parameters["alpha"] / 2, 2 / musica.parameters["beta"]
    changed = ((musica.replace(latency=latency), 1024), (musica.replace(bandwidth=bandwidth), 1024), (musica, 512))
    seconds = [float(_tree().at(machine, P=ranks, n=4 * 2**20).total) for machine, ranks in changed]
    return _CHANGES[seconds.index(min(seconds))]


EXERCISES = (
    Exercise(
        number="2.1",
        asks="The time of a broadcast of n bytes to P ranks through a binomial tree, for every P.",
        answer=lambda: Formula(_tree()),
        hint="Count the rounds for P = 8 and for P = 9. What does one round cost?",
        says="As many rounds as it takes to double up to P, and the whole message in each.",
        mistakes=lambda: (
            Mistake(Formula(_linear()), "These are P - 1 messages in a row: in a tree, others than the root send too."),
            Mistake(
                Formula(log2_floor(P) * (alpha + n * beta)),
                "Too few rounds where P is no power of two: after two rounds four ranks have it, and P may be 5.",
            ),
            Mistake(
                Formula(log2_ceil(P) * alpha + n * beta),
                "The latency is right, but each round passes all n bytes on once more.",
            ),
            Mistake(
                Formula(log2_ceil(P) * (alpha + n / beta)),
                "beta is the time of a byte, not a bandwidth: n is multiplied by it.",
            ),
        ),
    ),
    Exercise(
        number="2.2",
        asks="How long a broadcast of 65,536 bytes to 100 ranks of Leonardo takes through a binomial tree.",
        answer=lambda: Number(_on_leonardo(_tree()), "s"),
        hint="How many rounds do 100 ranks take, and how long is one round?",
        says="Seven rounds, though the last one has only 36 ranks to reach.",
        mistakes=lambda: (
            Mistake(Number(_on_leonardo(_linear()), "s"), "This is the time of 99 messages in a row."),
            Mistake(
                Number(_on_leonardo(_tree()) * log2(100) / 7, "s"),
                "There is no part of a round: log2(100) = 6.64 has to be rounded up.",
            ),
            Mistake(Number(_on_leonardo(_tree()) * 6 / 7, "s"), "After six rounds only 64 ranks have it."),
        ),
    ),
    Exercise(
        number="2.3",
        asks=f"What shortens this broadcast most: {', '.join(_CHANGES)}?",
        answer=lambda: Choice(_best_change(), _CHANGES),
        hint="Put the machine's numbers into one round: which part of it is the large one?",
        says="A round takes 1.9 us of latency and 170 us of bytes. For large messages a tree pays for its bytes.",
        mistakes=lambda: (
            Mistake(Choice("half the ranks", _CHANGES), "Half the ranks save one round out of ten."),
            Mistake(Choice("half the latency", _CHANGES), "The latency is only about one part in 90 of a round here."),
        ),
    ),
)
