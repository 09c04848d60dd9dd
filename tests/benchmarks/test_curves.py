"""Six allreduce algorithms over 200 sizes after the first call, beside NumPy by hand. `make bench` times both."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import orrery_analytic as oa
from orrery_analytic.cost import evaluate

SIZES = np.geomspace(4, 2**30, 200)
VALUES = {"P": 96.0, "n": SIZES, "alpha": 1e-6, "beta": 1e-10, "gamma": 2e-10}
SEGMENT = 65536
OPTIONS: dict[str, dict[str, Any]] = {
    "basic_linear": {},
    "recursive_doubling": {},
    "ring": {},
    "segmented_ring": {"segment_bytes": SEGMENT},
    "rabenseifner": {},
    "nonoverlapping": {"parts": ("reduce:binomial", "bcast:binomial")},
}
TOTALS = [oa.collective_cost("allreduce", name, **options).total for name, options in OPTIONS.items()]


def by_hand(P: float, n: Any, alpha: float, beta: float, gamma: float) -> list[Any]:
    floor = np.frexp(P)[1] - 1
    ceil = np.frexp(P - 1)[1]
    segments = np.maximum(1, n / (P * SEGMENT))
    part = np.minimum(n / P, SEGMENT)
    halves = ceil - floor + 1 - 0.5**floor
    return [
        (P - 1) * (2 * alpha + n * (2 * beta + gamma)),
        (2 * ceil - floor) * (alpha + n * beta) + ceil * n * gamma,
        (P - 1) * (2 * alpha + n / P * (2 * beta + gamma)),
        (P - 1) * (segments * (alpha + part * (beta + gamma)) + alpha + n / P * beta),
        (3 * ceil - floor) * alpha + 2 * n * beta * halves + n * gamma * (halves - (ceil - floor) / 2),
        ceil * (2 * alpha + n * (2 * beta + gamma)),
    ]


def test_formulas_are_those_written_by_hand() -> None:
    for formula, hand in zip(evaluate(TOTALS, VALUES), by_hand(**VALUES), strict=True):
        np.testing.assert_allclose(formula, hand, rtol=1e-12)


@pytest.mark.benchmark(group="200 sizes x 6 algorithms")
def test_formulas(benchmark: Any) -> None:
    evaluate(TOTALS, VALUES)
    assert len(benchmark(evaluate, TOTALS, VALUES)) == len(OPTIONS)


@pytest.mark.benchmark(group="200 sizes x 6 algorithms")
def test_by_hand(benchmark: Any) -> None:
    assert len(benchmark(by_hand, **VALUES)) == len(OPTIONS)
