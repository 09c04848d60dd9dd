"""Chapter 2: right answers in several forms, and what is said of wrong ones."""

from __future__ import annotations

from typing import Any

import pint
import pytest
import sympy as sp
from answers import refused, taken

import orrery_analytic as oa
from orrery_analytic.symbols import P, alpha, beta, log2_ceil, log2_floor, n

OWN_P, OWN_N, OWN_ALPHA, OWN_BETA = sp.symbols("P n alpha beta")
ROUND = alpha + n * beta
SECONDS = 7 * (4.2e-6 + 65536 / 12.8e9)


@pytest.mark.parametrize(
    "answer",
    [
        log2_ceil(P) * ROUND,
        sp.expand(log2_ceil(P) * ROUND),
        log2_ceil(OWN_P) * (OWN_ALPHA + OWN_N * OWN_BETA),
        sp.ceiling(sp.log(P, 2)) * ROUND,
        oa.collective_cost("bcast", "binomial"),
    ],
)
def test_a_tree_in_any_form(answer: Any) -> None:
    taken("2.1", answer)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ((P - 1) * ROUND, "others than the root send too"),
        (log2_floor(P) * ROUND, "P may be 5"),
        (log2_ceil(P) * alpha + n * beta, "each round passes all n bytes"),
        (log2_ceil(P) * (alpha + P * n * beta), "n were P times as large"),
        (log2_ceil(P) * (alpha + n / P * beta), "one P-th"),
        (sp.log(P, 2) * ROUND, "At every power of two this is right"),
        (log2_ceil(P) * (alpha + n / beta), "n is multiplied by it"),
    ],
)
def test_no_tree(answer: Any, says: str) -> None:
    refused("2.1", answer, says=says)


def test_its_time() -> None:
    taken("2.2", SECONDS, "65.24 us", "0.0652 ms", pint.Quantity(65240, "ns"), sp.Float(SECONDS))


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (65.24, "10^6"),
        ("65.24 ms", "10^3"),
        ("65.24 GB/s", "wrong kind of unit"),
        (99 * SECONDS / 7, "99 messages in a row"),
        ("61.92 us", "rounded up"),
        ("55.92 us", "only 64 ranks"),
    ],
)
def test_not_its_time(answer: Any, says: str) -> None:
    refused("2.2", answer, says=says)


def test_what_shortens_it() -> None:
    taken("2.3", "twice the bandwidth", ["twice the bandwidth"], {"twice the bandwidth"})
    refused("2.3", "half the ranks", says="one round out of ten")
    refused("2.3", "half the latency", says="one part in 90")
    refused("2.3", "twice the bandwith", says="Did you mean 'twice the bandwidth'")
