"""Chapter 5: right answers in several forms, and what is said of wrong ones."""

from __future__ import annotations

from typing import Any

import pint
import pytest
import sympy as sp
from answers import refused, taken

import orrery_analytic as oa
from orrery_analytic.symbols import P, alpha, beta, gamma, log2_ceil, log2_floor, n

OWN_P, OWN_N, OWN_ALPHA, OWN_BETA, OWN_GAMMA = sp.symbols("P n alpha beta gamma")
DOWN, UP = log2_floor(P), log2_ceil(P)
MESSAGES = 2 * UP - DOWN
SENT = alpha + n * beta
SECONDS = 7 * (1.9e-6 + 8 / 24.7e9) + 6 * 8 / 8e9
FOLD = ["allreduce, recursive doubling", "allreduce, Rabenseifner"]


@pytest.mark.parametrize(
    "answer",
    [
        MESSAGES * SENT + UP * n * gamma,
        sp.expand((DOWN + 2 * (UP - DOWN)) * SENT + (DOWN + (UP - DOWN)) * n * gamma),
        (2 * log2_ceil(OWN_P) - log2_floor(OWN_P)) * (OWN_ALPHA + OWN_N * OWN_BETA)
        + log2_ceil(OWN_P) * OWN_N * OWN_GAMMA,
        sp.Piecewise(
            (DOWN * (SENT + n * gamma), sp.Eq(2**DOWN, P)), ((DOWN + 2) * SENT + (DOWN + 1) * n * gamma, True)
        ),
        oa.collective_cost("allreduce", "recursive_doubling"),
    ],
)
def test_folding_in_any_form(answer: Any) -> None:
    taken("5.1", answer)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (UP * (SENT + n * gamma), "folding takes two"),
        (MESSAGES * (SENT + n * gamma), "only one brings an addition"),
        (DOWN * (SENT + n * gamma), "left out"),
        (MESSAGES * (alpha + P * n * beta) + UP * P * n * gamma, "n were P times as large"),
        (MESSAGES * (alpha + n / P * beta) + UP * n / P * gamma, "one P-th"),
        (sp.log(P, 2) * (SENT + n * gamma), "At every power of two this is right"),
    ],
)
def test_not_folding(answer: Any, says: str) -> None:
    refused("5.1", answer, says=says)


def test_the_time_on_48_ranks() -> None:
    taken("5.2", SECONDS, "13.3 us", "0.01331 ms", pint.Quantity(13.3, "us"), 7 * 1.9e-6)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (13.3, "10^6"),
        ("13.308 ns", "10^3"),
        ("13.3 GB/s", "wrong kind of unit"),
        ("10.62 us", "no part of a message"),
        ("11.4 us", "time on 64 ranks"),
        ("9.5 us", "time on 32 ranks"),
    ],
)
def test_not_the_time_on_48_ranks(answer: Any, says: str) -> None:
    refused("5.2", answer, says=says)


def test_who_folds() -> None:
    taken("5.3", FOLD, FOLD[::-1], set(FOLD), tuple(FOLD))
    refused("5.3", [*FOLD, "allgather, Bruck"], says="closes at any P")
    refused("5.3", [*FOLD, "bcast, binomial tree"], says="missing leaf")
    refused("5.3", FOLD[0], says="1 more")
    refused("5.3", ["allgather, bruk"], says="Did you mean 'allgather, Bruck'")
