"""Chapter 3: right answers in several forms, and what is said of wrong ones."""

from __future__ import annotations

from typing import Any

import pint
import pytest
import sympy as sp
from answers import refused, taken

import orrery_analytic as oa
from orrery_analytic.symbols import P, alpha, beta, gamma, n, n_s

OWN_P, OWN_N, OWN_ALPHA, OWN_BETA, OWN_GAMMA = sp.symbols("P n alpha beta gamma")
PIECE = alpha + n / P * beta
BEST = sp.sqrt(n * alpha / ((P - 2) * beta))
SECONDS = 0.01103963


@pytest.mark.parametrize(
    "answer",
    [
        (P - 1) * (2 * PIECE + n / P * gamma),
        sp.expand((P - 1) * (2 * PIECE + n / P * gamma)),
        (OWN_P - 1) * (2 * OWN_ALPHA + (2 * OWN_BETA + OWN_GAMMA) * OWN_N / OWN_P),
        oa.collective_cost("allreduce", "ring"),
    ],
)
def test_a_ring_in_any_form(answer: Any) -> None:
    taken("3.1", answer)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ((P - 1) * (2 * alpha + n * (2 * beta + gamma)), "n/P a piece"),
        ((P - 1) * (2 * alpha + n / P**2 * (2 * beta + gamma)), "one P-th"),
        ((P - 1) * (PIECE + n / P * gamma), "first half alone"),
        (2 * (P - 1) * (PIECE + n / P * gamma), "nothing is added"),
        (2 * (P - 1) * PIECE, "look again at gamma"),
        (P * (2 * PIECE + n / P * gamma), ""),
    ],
)
def test_no_ring(answer: Any, says: str) -> None:
    refused("3.1", answer, says=says)


@pytest.mark.parametrize(
    "answer",
    [
        BEST,
        (n * alpha) ** sp.Rational(1, 2) / sp.sqrt(P * beta - 2 * beta),
        sp.sqrt(OWN_N * OWN_ALPHA / OWN_BETA / (OWN_P - 2)),
        oa.optimal_segment(oa.collective_cost("bcast", "chain", segment_bytes="symbol")).points[0],
    ],
)
def test_the_best_segment_in_any_form(answer: Any) -> None:
    taken("3.2", answer)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (n / BEST, "how many segments"),
        (sp.sqrt(n * alpha / ((P - 1) * beta)), "P - 2 + k steps"),
        (BEST**2, "take the root"),
        (sp.sqrt(P) * BEST, "n were P times as large"),
        (BEST / sp.sqrt(P), "one P-th"),
        (sp.sqrt(n_s * alpha / beta), "'n_s'"),
    ],
)
def test_not_the_best_segment(answer: Any, says: str) -> None:
    refused("3.2", answer, says=says)


def test_the_time_of_a_chain() -> None:
    taken("3.3", SECONDS, "11.04 ms", "11040 us", pint.Quantity(11.04, "ms"), sp.Float(SECONDS))


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (11.04, "10^3"),
        ("11.04 us", "10^3"),
        ("11.04 MB", "wrong kind of unit"),
        (255 * (4.2e-6 + 2**26 / 12.8e9), "without segments"),
        (8 * (4.2e-6 + 2**26 / 12.8e9), "binomial tree"),
        (2**26 / 12.8e9, "the chain has to fill"),
    ],
)
def test_not_the_time_of_a_chain(answer: Any, says: str) -> None:
    refused("3.3", answer, says=says)
