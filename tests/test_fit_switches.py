"""Switch points in doubt: the ways that the data admit, intervals and draws that hold them, bands near a switch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy as sp

import orrery_analytic as oa
from orrery_analytic.calibration.pieces import partings
from orrery_analytic.calibration.ways import mixed
from orrery_analytic.errors import QuantityError

SIZES = 2.0 ** np.arange(25)
SWITCH = 92e3  # between two sizes
FIRST, SECOND = (8e-6, 1 / 3e9), (14e-6, 1 / 12e9)


def noisy(seconds: Any, seed: int) -> Any:
    return seconds * (1 + 0.03 * np.random.default_rng(seed).standard_normal(len(seconds)))


def truth(n: Any) -> Any:
    return np.where(n <= SWITCH, FIRST[0] + n * FIRST[1], SECOND[0] + n * SECOND[1])


@pytest.fixture(scope="module")
def two_pieces() -> oa.Cost:
    n = oa.describe("n").symbol
    alpha_1, beta_1, alpha_2, beta_2, s_1 = sp.symbols("alpha_1 beta_1 alpha_2 beta_2 s_1", positive=True)
    return oa.Cost({"latency": sp.Piecewise((alpha_1 + n * beta_1, n <= s_1), (alpha_2 + n * beta_2, True))})


@pytest.fixture(scope="module")
def in_doubt() -> oa.Fit:
    """Sizes before and after the switch are outliers: nothing says where between 8 KiB and 256 KiB it is."""
    seconds = noisy(truth(SIZES), 5)
    seconds[15:18] *= 6
    return oa.fit({"n": SIZES, "seconds": seconds})


def test_a_band_near_a_switch_holds_the_truth(two_pieces: oa.Cost) -> None:
    n = SWITCH * np.array([0.5, 0.8, 0.95, 1.05, 1.2, 1.4, 2])
    hits = np.zeros(len(n))
    for seed in range(20):
        band = oa.predict_band(two_pieces, oa.fit({"n": SIZES, "seconds": noisy(truth(SIZES), seed)}), 2, n, draws=500)
        hits += (band["low"].to_numpy()[0] <= truth(n)) & (truth(n) <= band["high"].to_numpy()[0])
    assert (hits >= 17).all(), hits


def test_draws_of_a_switch_point_lie_between_two_sizes() -> None:
    made = oa.fit({"n": SIZES, "seconds": noisy(truth(SIZES), 1)})
    drawn = made.sample(4000)["s_1"]
    assert made.parameters["s_1"] == 65536 <= drawn.min()
    assert drawn.max() < 131072
    assert np.log2(drawn).mean() == pytest.approx(16.5, abs=0.02)


def test_ways_that_the_data_admit_are_drawn_by_their_chance(in_doubt: oa.Fit) -> None:
    chances = [way.chance for way in in_doubt.ways]
    assert len(chances) > 1
    assert sum(chances) == pytest.approx(1)
    assert chances == sorted(chances, reverse=True)
    drawn = in_doubt.sample(20000)["s_1"]
    for way in in_doubt.ways:
        low, high = way.switches["s_1"]
        assert ((drawn >= low) & (drawn < high)).mean() == pytest.approx(way.chance, abs=0.02)


def test_a_switch_in_doubt_is_told(in_doubt: oa.Fit) -> None:
    assert in_doubt.intervals["s_1"] == (8192, 262144)
    sure = oa.fit({"n": SIZES, "seconds": noisy(truth(SIZES), 5)})
    for name in ("beta_1", "alpha_2"):
        wide, narrow = (np.ptp(fit.intervals[name]) for fit in (in_doubt, sure))
        assert wide > 1.5 * narrow
    assert any(
        "the data leave open where the switch lies: s_1 (8 KiB to 256 KiB)" in text for text in in_doubt.warnings
    )
    assert not any("leave open" in text for text in sure.warnings)


def test_points_too_fast_for_a_piece_are_seldom_outliers_of_it() -> None:
    # Two slow points before the switch might be of the second piece, two fast ones after it are not of the first.
    seconds = truth(SIZES)
    slow, fast = seconds.copy(), seconds.copy()
    slow[15:17] *= 1.6
    fast[17:19] *= 1 / 1.6
    ways = [len(partings(SIZES, noisy(times, 7))) for times in (slow, fast)]
    assert ways[0] > 1 == ways[1]


def test_outliers_that_hide_a_parameter_are_told() -> None:
    seconds = noisy(2e-6 + SIZES[:14] / 4e9, 3)
    assert not any("outliers hide" in text for text in oa.fit({"n": SIZES[:14], "seconds": seconds}).warnings)
    seconds[12:] *= 4
    made = oa.fit({"n": SIZES[:14], "seconds": seconds})
    assert any("outliers hide what would tell most" in text and "beta" in text for text in made.warnings)


def test_the_shortest_interval_of_a_mixture() -> None:
    one = mixed(np.array([1.0]), np.array([0.1]), np.array([1.0]))
    np.testing.assert_allclose(one, (1 - 0.196, 1 + 0.196), atol=1e-4)
    far = mixed(np.array([1.0, 9.0]), np.array([0.1, 0.1]), np.array([0.97, 0.03]))
    np.testing.assert_allclose(far, (0.77, 1.23), atol=6e-3)  # the 98 % of the first that are 95 % of all
    both = mixed(np.array([1.0, 2.0]), np.array([0.1, 0.1]), np.array([0.6, 0.4]))
    assert both[0] < 1 < 2 < both[1]


def test_the_switch_of_a_rendezvous_is_drawn_too() -> None:
    cost = oa.with_rendezvous(oa.collective_cost("allgather", "ring"))
    seconds = cost(P=8, n=SIZES, alpha=2e-6, beta=1e-10, alpha_rndv=1.5e-6, s_rndv=8192)
    made = oa.fit({"n": SIZES, "seconds": noisy(seconds, 2), "ranks": 8}, cost)
    drawn = made.sample(1000)["s_rndv"]
    assert made.parameters["s_rndv"] in (4096, 8192, 16384)
    assert len(np.unique(drawn)) > 900
    band = oa.predict_band(cost, made, 8, [2048, 12000, 65536])
    width = ((band["high"] - band["low"]) / band["seconds"]).to_numpy()[0]
    assert width[1] > 2 * max(width[0], width[2])  # 12000 bytes are before the switch, or after it


def test_without_points_to_spare_there_are_no_draws() -> None:
    made = oa.fit({"n": [1, 1e6], "seconds": [2e-6, 1e-4]}, "hockney")
    with pytest.raises(QuantityError, match="2 points for 2 parameters do not say how sure"):
        made.sample()
