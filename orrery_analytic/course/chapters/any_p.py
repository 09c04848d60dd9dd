"""Chapter 5: numbers of ranks that are no powers of two."""

from __future__ import annotations

from math import log2

from orrery_analytic.calls import collective_cost
from orrery_analytic.collectives import schedule
from orrery_analytic.cost import Cost
from orrery_analytic.course.choice import Choice
from orrery_analytic.course.exercise import Exercise, Mistake
from orrery_analytic.course.formula import Formula
from orrery_analytic.course.number import Number
from orrery_analytic.machines import load_machine
from orrery_analytic.networks import Hockney
from orrery_analytic.symbols import P, alpha, beta, gamma, log2_ceil, log2_floor, n

__all__ = ["EXERCISES"]

_NAMED = {
    "bcast, binomial tree": ("bcast", "binomial"),
    "allgather, Bruck": ("allgather", "bruck"),
    "allgather, ring": ("allgather", "ring"),
    "allreduce, recursive doubling": ("allreduce", "recursive_doubling"),
    "allreduce, Rabenseifner": ("allreduce", "rabenseifner"),
}


def _doubling() -> Cost:
    return collective_cost("allreduce", "recursive_doubling")


def _on_musica() -> float:
    """Return the seconds of an allreduce of 8 bytes on 48 ranks."""
    return float(_doubling().at(load_machine("musica"), P=48, n=8).total)


def _messages(collective: str, algorithm: str, ranks: int) -> int:
    """Return how many messages follow each other in the schedule."""
    made = schedule(collective, algorithm, ranks, count=ranks)
    return int(made.time(Hockney(), alpha=1, beta=0, gamma=0))


def _dearer_at_12() -> frozenset[str]:
    return frozenset(name for name, which in _NAMED.items() if _messages(*which, 12) > _messages(*which, 16))


EXERCISES = (
    Exercise(
        number="5.1",
        asks="The time of an allreduce of a vector of n bytes by recursive doubling, for every P.",
        answer=lambda: Formula(_doubling()),
        hint="Count messages and additions for P = 8, then for P = 9. log2_ceil(P) - log2_floor(P) tells them apart.",
        says="Exact for every P. Folding adds two messages and one addition, wherever P is no power of two.",
        mistakes=lambda: (
            Mistake(
                Formula(log2_ceil(P) * (alpha + n * (beta + gamma))),
                "Rounding up charges one message more, but folding takes two: one in and one out.",
            ),
            Mistake(
                Formula((2 * log2_ceil(P) - log2_floor(P)) * (alpha + n * (beta + gamma))),
                "Nothing is added when the result comes back: of the two extra messages only one brings an addition.",
            ),
            Mistake(Formula(log2_floor(P) * (alpha + n * (beta + gamma))), "The ranks that fold are left out here."),
        ),
    ),
    Exercise(
        number="5.2",
        asks="How long an allreduce of 8 bytes by recursive doubling takes on 48 ranks of MUSICA.",
        answer=lambda: Number(_on_musica(), "s"),
        hint="The nearest power of two below is 32. How many ranks have to fold?",
        says="Seven messages. On 64 ranks there are six: more ranks, less time.",
        mistakes=lambda: (
            Mistake(Number(_on_musica() * log2(48) / 7, "s"), "log2(48) = 5.58, and there is no part of a message."),
            Mistake(
                Number(_on_musica() * 6 / 7, "s"),
                "This is the time on 64 ranks. On 48, 16 ranks have to fold: five rounds and two messages more.",
            ),
            Mistake(
                Number(_on_musica() * 5 / 7, "s"), "This is the time on 32 ranks: the other 16 have to fold in and out."
            ),
        ),
    ),
    Exercise(
        number="5.3",
        asks="Which algorithms have more messages on their critical path on 12 ranks than on 16.",
        answer=lambda: Choice(_dearer_at_12(), tuple(_NAMED)),
        hint="Count messages on 12 and on 16 ranks, or let the schedules count them. Who has to wait for whom?",
        says="Those that fold. Trees and Bruck round up and stop at 4; the ring counts ranks.",
        mistakes=lambda: (
            Mistake(
                Choice(frozenset(_dearer_at_12() | {"allgather, Bruck"}), tuple(_NAMED)),
                "Bruck's algorithm goes round a circle, which closes at any P: it cuts its last message short.",
            ),
            Mistake(
                Choice(frozenset(_dearer_at_12() | {"bcast, binomial tree"}), tuple(_NAMED)),
                "In a tree a missing rank is a missing leaf: nobody has to wait for it.",
            ),
        ),
    ),
)
