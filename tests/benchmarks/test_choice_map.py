"""Choices and regret of all algorithms on 200 x 200 points, beside an argmin by hand. `make bench` times both."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import orrery_analytic as oa

EXAMPLE = oa.load_machine("example")
DATA = oa.choice_map(EXAMPLE, "allreduce", segment_bytes=[0]).data
RANKS, SIZES = DATA["P"].to_numpy(), DATA["n"].to_numpy()
NAMES = ["basic_linear", "recursive_doubling", "ring", "rabenseifner"]


def by_hand(P: Any, n: Any, alpha: float, beta: float, gamma: float) -> tuple[Any, Any]:
    """The least of four algorithms that need no decision, and which one it is; no labels, no library."""
    P, n = P[:, None].astype(float), n[None, :].astype(float)
    floor = np.frexp(P)[1] - 1
    ceil = np.frexp(P - 1)[1]
    halves = ceil - floor + 1 - 0.5**floor
    doubling = (2 * ceil - floor) * (alpha + n * beta) + ceil * n * gamma
    linear = (P - 1) * (2 * alpha + n * (2 * beta + gamma))
    count = np.ceil(n / 4)
    seconds = np.stack(
        [
            linear,
            doubling,
            np.where(count < P, doubling, (P - 1) * (2 * alpha + n / P * (2 * beta + gamma))),
            np.where(
                count < 2.0**floor,
                linear,
                (3 * ceil - floor) * alpha + 2 * n * beta * halves + n * gamma * (halves - (ceil - floor) / 2),
            ),
        ]
    )
    return seconds.min(axis=0), seconds.argmin(axis=0)


def numbers() -> dict[str, float]:
    return {name: EXAMPLE.parameters[name] for name in ("alpha", "beta", "gamma")}


def test_the_map_is_that_made_by_hand() -> None:
    data = oa.choice_map(EXAMPLE, "allreduce", candidates=NAMES, segment_bytes=[0]).data
    least, which = by_hand(RANKS, SIZES, **numbers())
    mine = data["seconds_best"].to_numpy()
    library = data["seconds_library"].to_numpy()
    np.testing.assert_allclose(mine, np.minimum(least, library), rtol=1e-12)
    clear = least * (1 + 1e-9) < library
    assert (np.array(NAMES)[which][clear] == data["best"].to_numpy()[clear]).mean() > 0.999  # but for ties


@pytest.mark.benchmark(group="map of 200 x 200")
@pytest.mark.parametrize("collective", ["allreduce", "bcast", "allgather", "reduce_scatter_block"])
def test_map(benchmark: Any, collective: str) -> None:
    oa.choice_map(EXAMPLE, collective)
    assert benchmark(oa.choice_map, EXAMPLE, collective).data.sizes == {"P": 200, "n": 200}


@pytest.mark.benchmark(group="map of 200 x 200")
def test_by_hand(benchmark: Any) -> None:
    assert benchmark(by_hand, RANKS, SIZES, **numbers())[0].shape == (200, 200)
