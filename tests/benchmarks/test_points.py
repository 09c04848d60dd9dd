"""A formula over 10^6 points, beside NumPy written by hand. `make bench` times both, formula by formula."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import orrery_analytic as oa

RNG = np.random.default_rng(7)
RANKS = RNG.integers(2, 4096, 10**6).astype(float)
SIZES = np.round(2 ** RNG.uniform(2, 30, 10**6))
HOCKNEY = {"alpha": 1e-6, "beta": 1e-10, "gamma": 2e-10}
SEGMENT = 65536


def logarithms(P: Any) -> tuple[Any, Any]:
    return np.frexp(P)[1] - 1, np.frexp(P - 1)[1]


def ring(P: Any, n: Any, alpha: float, beta: float, gamma: float) -> Any:
    return (P - 1) * (2 * alpha + n / P * (2 * beta + gamma))


def segmented_ring(P: Any, n: Any, alpha: float, beta: float, gamma: float) -> Any:
    segments = np.maximum(1, n / (P * SEGMENT))
    part = np.minimum(n / P, SEGMENT)
    return (P - 1) * (segments * (alpha + part * (beta + gamma)) + alpha + n / P * beta)


def rabenseifner(P: Any, n: Any, alpha: float, beta: float, gamma: float) -> Any:
    floor, ceil = logarithms(P)
    halves = ceil - floor + 1 - 0.5**floor
    return (3 * ceil - floor) * alpha + 2 * n * beta * halves + n * gamma * (halves - (ceil - floor) / 2)


def doubling(P: Any, n: Any, alpha: float, beta: float, gamma: float) -> Any:
    floor, ceil = logarithms(P)
    return (2 * ceil - floor) * (alpha + n * beta) + ceil * n * gamma


def pipeline(P: Any, n: Any, alpha: float, beta: float) -> Any:
    return (P - 2 + np.maximum(1, n / SEGMENT)) * (alpha + np.minimum(n, SEGMENT) * beta)


CASES: dict[str, tuple[Any, Callable[..., Any], dict[str, float]]] = {
    "allreduce ring": (oa.collective_cost("allreduce", "ring"), ring, HOCKNEY),
    "allreduce segmented_ring": (
        oa.collective_cost("allreduce", "segmented_ring", segment_bytes=SEGMENT), segmented_ring, HOCKNEY,
    ),
    "allreduce rabenseifner": (oa.collective_cost("allreduce", "rabenseifner"), rabenseifner, HOCKNEY),
    "allreduce recursive_doubling": (oa.collective_cost("allreduce", "recursive_doubling"), doubling, HOCKNEY),
    "bcast pipeline": (oa.collective_cost("bcast", "pipeline", segment_bytes=SEGMENT), pipeline, HOCKNEY),
}  # fmt: skip


def given(name: str) -> dict[str, float]:
    cost, _, numbers = CASES[name]
    return {symbol: number for symbol, number in numbers.items() if symbol in cost.symbols}


@pytest.mark.parametrize("name", CASES)
def test_the_formula_is_that_written_by_hand(name: str) -> None:
    cost, by_hand, _ = CASES[name]
    some = slice(0, 1000)
    formula = cost(P=RANKS[some], n=SIZES[some], **given(name))
    np.testing.assert_allclose(formula, by_hand(RANKS[some], SIZES[some], **given(name)), rtol=1e-12)


@pytest.mark.parametrize("who", ["formula", "by hand"])
@pytest.mark.parametrize("name", CASES)
def test_points(benchmark: Any, name: str, who: str) -> None:
    benchmark.group = f"10^6 points, {name}"
    cost, by_hand, _ = CASES[name]
    if who == "formula":
        seconds = benchmark(lambda: cost(P=RANKS, n=SIZES, **given(name)))
    else:
        seconds = benchmark(by_hand, RANKS, SIZES, **given(name))
    assert seconds.shape == RANKS.shape
