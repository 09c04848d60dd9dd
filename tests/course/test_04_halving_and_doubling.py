"""Chapter 4: right answers in several forms, and what is said of wrong ones."""

from __future__ import annotations

from typing import Any

import pint
import pytest
import sympy as sp
from answers import refused, taken

import orrery_analytic as oa
from orrery_analytic.symbols import P, alpha, beta, gamma, log2_ceil, log2_floor, n

OWN_P, OWN_N, OWN_ALPHA, OWN_BETA, OWN_GAMMA = sp.symbols("P n alpha beta gamma")
STEP = sp.Symbol("i", integer=True)
MESSAGES = 2 * log2_floor(P) * alpha
SENT = n * (P - 1) / P
BYTES = 16433.66
CHANGES = ["half the latency", "twice the bandwidth", "twice the reduction rate", "twice the ranks"]


@pytest.mark.parametrize(
    "answer",
    [
        MESSAGES + SENT * (2 * beta + gamma),
        sp.expand(MESSAGES + SENT * (2 * beta + gamma)),
        2 * sp.log(OWN_P, 2) * OWN_ALPHA + OWN_N * (1 - 1 / OWN_P) * (2 * OWN_BETA + OWN_GAMMA),
        MESSAGES + sp.Sum(n / 2**STEP, (STEP, 1, sp.log(P, 2))) * (2 * beta + gamma),
        oa.collective_cost("allreduce", "rabenseifner"),
    ],
)
def test_halving_and_doubling_in_any_form(answer: Any) -> None:
    taken("4.1", answer)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (log2_floor(P) * alpha + SENT * (beta + gamma), "first half alone"),
        (MESSAGES + 2 * SENT * (beta + gamma), "nothing is added"),
        (MESSAGES + n * (2 * beta + gamma), "stops at n/P"),
        (MESSAGES + P * SENT * (2 * beta + gamma), "n were P times as large"),
        (MESSAGES + SENT / P * (2 * beta + gamma), "one P-th"),
        (log2_ceil(P) * (alpha + n * (beta + gamma)), "whole vector in each round"),
        (log2_floor(P) * alpha + SENT * (2 * beta + gamma), "look again at alpha"),
    ],
)
def test_not_halving_and_doubling(answer: Any, says: str) -> None:
    refused("4.1", answer, says=says)


def test_where_they_cross() -> None:
    taken("4.2", BYTES, "16.43 kB", "16.05 KiB", pint.Quantity(16434, "byte"), sp.Integer(16434))


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("16.43 B", "10^3"),
        ("16.43 KiB", "1024"),
        ("16.43 us", "wrong kind of unit"),
        (BYTES / 128, "n is the whole vector"),
        (BYTES * 128, "too large"),
        (15751.19, "counts them once"),
    ],
)
def test_not_where_they_cross(answer: Any, says: str) -> None:
    refused("4.2", answer, says=says)


def test_what_brings_the_crossing_down() -> None:
    right = ["half the latency", "twice the ranks"]
    taken("4.3", right, right[::-1], set(right), tuple(right))
    refused("4.3", CHANGES[1:3], says="the other way round")
    refused("4.3", CHANGES[:3], says="Which one gains more")
    refused("4.3", "half the latency", says="1 more")
    refused("4.3", [*right, "twice the rank"], says="Did you mean 'twice the ranks'")
    refused("4.3", CHANGES)
