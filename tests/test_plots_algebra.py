"""Pictures of algebra on costs: borders at the byte, cells of ranks, shares that fill the panel, distances to 1."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb

from orrery_analytic.algebra import crossover, distance_to_bound, elasticity
from orrery_analytic.calls import collective_cost
from orrery_analytic.errors import QuantityError, UnknownNameError
from orrery_analytic.networks import LogGP
from orrery_analytic.plots.algebra import bound_distance, crossover_curves, elasticity_areas, rank_strips
from orrery_analytic.plots.crossovers import Border
from orrery_analytic.plots.style import algorithm_styles, paler

NUMBERS = {"alpha": 1e-6, "beta": 1e-10, "gamma": 2e-10}
RABENSEIFNER, RING = (collective_cost("allreduce", name) for name in ("rabenseifner", "ring"))
SIZES = np.unique(np.geomspace(4, 2**30, 60).astype(int))
TIMES = {"rabenseifner": RABENSEIFNER(P=12, n=SIZES, **NUMBERS), "ring": RING(P=12, n=SIZES, **NUMBERS)}


def legend_of(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def boxes(ax: Any) -> list[list[tuple[float, float]]]:
    """Left and right ends of the boxes of each collection."""
    found = [artist for artist in ax.collections if isinstance(artist, PolyCollection)]
    return [[(p.vertices[:, 0].min(), p.vertices[:, 0].max()) for p in artist.get_paths()] for artist in found]


def test_the_border_stands_at_its_first_byte() -> None:
    stretches = crossover(RABENSEIFNER, RING, "n").intervals(NUMBERS, P=12)
    ax = crossover_curves(SIZES, TIMES, stretches)
    assert [text.get_text() for text in ax.texts if text.get_text()] == [f"from {45883:,} B".replace(",", " ")]
    (border,) = next(c for c in ax.collections if not isinstance(c, PolyCollection)).get_segments()
    assert border[:, 0].tolist() == [45883, 45883]
    assert boxes(ax)[:2] == [[(4, 45883)], [(45883, 2**30)]]
    assert legend_of(ax) == ["rabenseifner", "ring", "cheaper:", "rabenseifner", "ring"]
    assert ax.get_ylabel() == "time of the call"
    for line, seconds in zip(ax.lines, TIMES.values(), strict=True):
        assert np.array_equal(line.get_ydata(), seconds)


def test_an_algorithm_has_the_colour_of_its_curves_everywhere() -> None:
    names = list(TIMES)
    colours = [look["color"] for look in algorithm_styles(names)]
    stretches = [(1, 999, "a"), (1000, math.inf, "b")]
    forth, back = crossover_curves(SIZES, TIMES, stretches), crossover_curves(SIZES, dict(reversed(TIMES.items())), [])
    cells = rank_strips({"8 B": [(2, 3, "a"), (4, 5, "b")]}, names)
    assert [line.get_color() for line in forth.lines] == [line.get_color() for line in reversed(back.lines)] == colours
    for ax in (forth, cells):
        a, b = (c.get_facecolor()[0][:3] for c in ax.collections[:2])
        assert a == pytest.approx(to_rgb(colours[0]))
        assert b == pytest.approx(paler(colours[1], 0.4))
    distances = bound_distance(SIZES, {name: np.full(len(SIZES), 2.0) for name in reversed(names)})
    assert [line.get_color() for line in distances.lines[1:]] == colours[::-1]


def test_what_is_not_stated_has_no_colour_of_either() -> None:
    two, ring = (collective_cost("allgather", name) for name in ("two_proc", "ring"))
    times = {"two_proc": np.full(len(SIZES), math.nan), "ring": ring(P=9, n=SIZES, alpha=1e-6, beta=1e-10)}
    ax = crossover_curves(SIZES, times, crossover(two, ring, "n").intervals(NUMBERS, P=9))
    assert boxes(ax) == [[], [], [], [(4, 2**30)]]
    assert legend_of(ax)[-1] == "not stated\nfor both"


def test_a_border_is_kept_up_to_date_in_place() -> None:
    drawn = Border(
        crossover_curves(SIZES, TIMES, [(1, math.inf, "a")]).figure.add_axes((0, 0, 1, 1)), SIZES, ("x", "y")
    )
    times = list(TIMES.values())
    assert drawn.update(times, [(1, 99, "a"), (100, math.inf, "b")])
    assert not drawn.update(times, [(1, 199, "a"), (200, math.inf, "b")])
    assert drawn.update(times, [(1, math.inf, "a")])  # the legend loses b
    many = [(1, 9, "a"), *((10 * k, 10 * k + 9, "ab"[k % 2]) for k in range(1, 9))]
    drawn.update(times, many)
    assert len(drawn.border.get_segments()) == 8
    assert sum(bool(text.get_text()) for text in drawn.texts) == 3  # named are the first three


def test_each_number_of_ranks_has_a_cell() -> None:
    crossing = crossover(RABENSEIFNER, RING, "P")
    rows = {f"{n} B": crossing.intervals(NUMBERS, n=n, last=64) for n in (2**13, 2**19)}
    ax = rank_strips(rows, ("rabenseifner", "ring"))
    found = boxes(ax)
    assert sum(map(len, found)) == 2 * 63
    assert len(found[2]) == 2  # equal on two ranks
    large = [
        p for stretch in rows["524288 B"] if stretch.cheaper == "a" for p in range(stretch.first, stretch.last + 1)
    ]
    assert large == [4, 8, 16, 32, 64]
    assert ax.get_xticks().tolist() == [2, 4, 8, 16, 32, 64]
    assert [text.get_text() for text in ax.get_yticklabels()] == list(rows)
    assert legend_of(ax) == ["cheaper:", "rabenseifner", "ring", "equal"]
    with pytest.raises(QuantityError, match="each row needs stretches"):
        rank_strips({}, ("a", "b"))
    with pytest.raises(QuantityError, match="names of two"):
        rank_strips(rows, "ring")


def test_shares_fill_the_panel() -> None:
    shares = elasticity(RING)
    found = [shares.at(NUMBERS, P=64, n=int(n)) for n in SIZES]
    ax = elasticity_areas(SIZES, {name: [row[name] for row in found] for name in found[0]})
    tops = [area.get_paths()[0].vertices[:, 1].max() for area in ax.collections]
    assert tops[-1] == pytest.approx(1)
    assert legend_of(ax) == [r"$\gamma$ (reduce)", r"$\beta$ (bytes)", r"$\alpha$ (latency)"]
    assert len({tuple(area.get_facecolor()[0]) for area in ax.collections}) == 3
    with pytest.raises(QuantityError, match="share of R is below 0"):
        elasticity_areas(SIZES, {"R": -np.ones(len(SIZES))})
    with pytest.raises(UnknownNameError):
        elasticity_areas(SIZES, {"delta": np.ones(len(SIZES))})


def test_shares_of_loggp_look_different_from_each_other() -> None:
    shares = elasticity(collective_cost("allreduce", "ring", LogGP()))
    found = shares.at({"L": 1e-6, "o": 2e-7, "g": 3e-7, "G": 1e-10, "gamma": 1e-10}, P=8, n=1024)
    ax = elasticity_areas([8, 16], {name: [value, value] for name, value in found.items()}, axis="P")
    looks = {(tuple(area.get_facecolor()[0]), area.get_hatch()) for area in ax.collections}
    assert len(looks) == len(found) == 5
    assert ax.get_xlabel() == "ranks P"


def test_distances_are_at_least_one() -> None:
    distances = {
        "ring": [distance_to_bound(RING, "allreduce", NUMBERS, P=64, n=int(n)) for n in SIZES],
        "none": np.full(len(SIZES), math.nan),
    }
    ax = bound_distance(SIZES, distances)
    low, high = ax.get_ylim()
    assert low < 1 < max(distances["ring"]) < high
    assert legend_of(ax) == ["ring", "none", "lower bound"]
    assert ax.lines[0].get_ydata()[0] == 1
