"""Chapter 3: what passing round a ring costs."""

from __future__ import annotations

import sympy as sp

from orrery_analytic.algebra import optimal_segment
from orrery_analytic.calls import collective_cost
from orrery_analytic.cost import Cost
from orrery_analytic.course.exercise import Exercise, Mistake
from orrery_analytic.course.formula import RANKS, Formula
from orrery_analytic.course.number import Number
from orrery_analytic.machines import load_machine
from orrery_analytic.symbols import P, alpha, beta, gamma, n

__all__ = ["EXERCISES"]

_LONG = tuple(ranks for ranks in RANKS if ranks > 2)  # a chain of two ranks has nobody to pass on to
_MESSAGE = {"P": 256, "n": 2**26}  # of exercise 3.3


def _ring() -> Cost:
    return collective_cost("allreduce", "ring")


def _chain() -> Cost:
    return collective_cost("bcast", "pipeline", segment_bytes="symbol")


def _best_segment() -> sp.Expr:
    return optimal_segment(_chain()).points[0]


def _on_leonardo(algorithm: str) -> float:
    return float(collective_cost("bcast", algorithm).at(load_machine("leonardo"), **_MESSAGE).total)


EXERCISES = (
    Exercise(
        number="3.1",
        asks="The time of an allreduce of a vector of n bytes over a ring of P ranks.",
        answer=lambda: Formula(_ring()),
        hint="How many steps has each half, how long is one piece, and which half adds?",
        says="The bytes stay below twice the vector, however many ranks there are. The messages do not.",
        mistakes=lambda: (
            Mistake(
                Formula((P - 1) * (alpha + n / P * (beta + gamma))),
                "This is the first half alone: now every rank has one piece of the sum and needs the others.",
            ),
            Mistake(
                Formula(2 * (P - 1) * (alpha + n / P * (beta + gamma))),
                "The second half only hands finished pieces round: nothing is added in it.",
            ),
            Mistake(
                Formula(2 * (P - 1) * (alpha + n * (beta + gamma / 2))),
                "A step passes one piece on, not the whole vector: n is the vector here, n/P a piece.",
            ),
        ),
    ),
    Exercise(
        number="3.2",
        asks="The number of bytes n_s in a segment with which a broadcast of n bytes through a chain is fastest.",
        answer=lambda: Formula(_best_segment(), ranks=_LONG),
        hint="With n_s the time is A + B/n_s + C*n_s. It is smallest where B/n_s = C*n_s.",
        says="At the best segment, the bytes that fill the chain cost as much as the latencies of all segments.",
        mistakes=lambda: (
            Mistake(
                Formula(n / _best_segment(), ranks=_LONG),
                "This is how many segments there are; asked for is how long one is.",
            ),
            Mistake(
                Formula(sp.sqrt(n * alpha / ((P - 1) * beta)), ranks=_LONG),
                "Nearly: with k segments there are P - 2 + k steps, not P - 1 + k.",
            ),
            Mistake(
                Formula(_best_segment() ** 2, ranks=_LONG),
                "B/n_s = C*n_s says what the square of n_s is: take the root.",
            ),
        ),
    ),
    Exercise(
        number="3.3",
        asks="How long a broadcast of 67,108,864 bytes to 256 ranks of Leonardo takes with the best segments.",
        answer=lambda: Number(optimal_segment(_chain()).at("leonardo", **_MESSAGE).seconds, "s"),
        hint="Put the best n_s into (P - 2 + n/n_s)*(alpha + n_s*beta).",
        says="About twice the 5.2 ms that the bytes take to cross one link; a tree takes 42 ms.",
        mistakes=lambda: (
            Mistake(
                Number(_on_leonardo("pipeline"), "s"),
                "This is the chain without segments: everybody waits for the whole message.",
            ),
            Mistake(Number(_on_leonardo("binomial"), "s"), "This is the binomial tree of chapter 2."),
            Mistake(
                Number(_MESSAGE["n"] * load_machine("leonardo").parameters["beta"], "s"),
                "These are the bytes on one link. Segments also have latencies, and the chain has to fill.",
            ),
        ),
    ),
)
