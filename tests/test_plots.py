"""Figures: what is drawn, that units and names are there, that nothing overlaps, and that pyplot is left alone."""

from __future__ import annotations

import io
import subprocess
import sys
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
import xarray as xr
from matplotlib.axes import Axes
from PIL import Image

import orrery_analytic as oa
from orrery_analytic import plots
from orrery_analytic.cost import TERM_NAMES
from orrery_analytic.errors import QuantityError
from orrery_analytic.plots import regions, style

SIZES = 2 ** np.arange(2, 31)
RANKS = 2 ** np.arange(1, 13)
ALGORITHMS = ("recursive_doubling", "ring", "rabenseifner")


def predicted(collective: str, P: Any, n: Any, names: tuple[str, ...], **options: Any) -> tuple[xr.Dataset, Any]:
    choice = oa.predict("example", collective, P, n, **options)
    return choice, {name: oa.predict("example", collective, P, n, algorithm=name, **options) for name in names}


def texts(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts if text.get_text()]


def legend_names(ax: Axes) -> list[str]:
    legend = ax.get_legend()
    assert legend is not None
    return [text.get_text() for text in legend.get_texts()]


def without_formula(choice: xr.Dataset, where: np.ndarray[Any, Any]) -> xr.Dataset:
    """The choice as it is where what runs has no formula."""
    numbers = {name: choice[name].where(~where) for name in choice.data_vars if choice[name].dtype.kind == "f"}
    return choice.assign(numbers)


@pytest.fixture(scope="module")
def allreduce() -> tuple[xr.Dataset, dict[str, xr.Dataset]]:
    return predicted("allreduce", 64, SIZES, ALGORITHMS)


def test_curves_are_the_predictions(allreduce: Any) -> None:
    choice, algorithms = allreduce
    ax = plots.curves(choice, algorithms)
    lines = {line.get_label(): line for line in ax.lines}
    for name in ALGORITHMS:
        np.testing.assert_array_equal(lines[name].get_xdata(), SIZES)
        np.testing.assert_array_equal(lines[name].get_ydata(), algorithms[name]["seconds"].to_numpy()[0])
    np.testing.assert_array_equal(lines["Open MPI's choice"].get_ydata(), choice["seconds"].to_numpy()[0])
    assert legend_names(ax) == ["Open MPI's choice", *ALGORITHMS]
    assert lines["Open MPI's choice"].get_zorder() < min(lines[name].get_zorder() for name in ALGORITHMS)


def test_ticks_carry_units(allreduce: Any) -> None:
    ax = plots.curves(*allreduce)
    ax.figure.canvas.draw()
    sizes = [tick.get_text() for tick in ax.get_xticklabels()]
    times = [tick.get_text() for tick in ax.get_yticklabels()]
    assert {"64 B", "1 KiB", "4 MiB"} <= set(sizes)
    assert all(text.split()[1] in ("us", "ms", "s", "ns") for text in times)
    assert ax.get_xlabel() == "message size n"
    assert ax.get_ylabel() == "time of the call"


def test_switches_are_named_where_they_are(allreduce: Any) -> None:
    choice = allreduce[0]
    ax = plots.curves(*allreduce)
    assert texts(ax) == ["recursive_doubling", "rabenseifner"]
    switch = ax.collections[2].get_segments()  # strip, poles, switches
    assert [segment[0][0] for segment in switch] == [2**18]
    names = choice["algorithm"].to_numpy()[0]
    assert [n for n, (a, b) in zip(SIZES[1:], pairwise(names), strict=True) if a != b] == [2**18]


@pytest.mark.parametrize(("P", "collective"), [(2, "allreduce"), (16, "bcast"), (2, "bcast"), (48, "alltoall")])
def test_names_of_switches_do_not_overlap(collective: str, P: int) -> None:
    ax = plots.curves(oa.predict("example", collective, P, SIZES))
    figure: Any = ax.figure
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts if text.get_text()]
    assert len(boxes) > 1
    assert not [pair for pair in combinations(boxes, 2) if pair[0].overlaps(pair[1])]
    assert all(figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1 for box in boxes)


def test_nothing_lies_on_the_data_or_outside(allreduce: Any) -> None:
    figure, (upper, lower) = plots.figure(3.8, 2.6)
    plots.curves(*allreduce, ax=upper)
    plots.stacked_terms(allreduce[0], ax=lower)
    figure.canvas.draw()
    for ax in (upper, lower):
        legend: Any = ax.get_legend()
        assert legend.get_window_extent().x0 >= ax.bbox.x1
        assert legend.get_window_extent().x1 <= figure.bbox.x1
        assert ax.yaxis.label.get_window_extent().x0 >= 0
        assert ax.xaxis.label.get_window_extent().y0 >= (0 if ax is lower else lower.bbox.y1)


def test_long_names_take_two_lines_of_the_legend() -> None:
    choice = oa.predict("example", "allgather", 64, SIZES)
    names = ("mpich_recursive_doubling", "scatter_allgather_ring", "bine_reduce_scatter_allgather")
    ax = plots.curves(choice, dict.fromkeys(names, choice))
    figure: Any = ax.figure
    figure.canvas.draw()
    legend: Any = ax.get_legend()
    first = ["mpich_recursive_", "scatter_allgather_", "bine_reduce_"]
    assert legend_names(ax)[1:] == [f"{a}\n{name[len(a) :]}" for a, name in zip(first, names, strict=True)]
    assert legend.get_window_extent().x1 <= figure.bbox.x1


def test_styles_differ_without_colour() -> None:
    styles = [style.curve_style(i) for i in range(15)]
    assert len({(repr(s["linestyle"]), s["marker"]) for s in styles}) == len(styles)
    assert len(style.TERM_STYLES) == len(TERM_NAMES) == len(set(style.TERM_STYLES.values()))


def test_an_algorithm_looks_the_same_in_every_figure() -> None:
    keys = ("color", "linestyle", "marker")
    alone = {}
    for collective in oa.list_collectives():
        names = oa.list_algorithms(collective)
        looks = style.algorithm_styles(names)
        assert len({(repr(look["linestyle"]), look["marker"]) for look in looks}) == len(names), collective
        for name, look in zip(names, looks, strict=True):
            assert alone.setdefault(name, [look[key] for key in keys]) == [look[key] for key in keys]
    assert set(alone) == set(style._LOOKS)
    own = style.algorithm_styles(["mine", "ring", "mine too"])
    assert own[1]["color"] == style.algorithm_styles(["ring"])[0]["color"]
    assert own[0]["color"] != own[2]["color"]


@pytest.mark.parametrize("collective", oa.list_collectives())
def test_regions_of_a_map_differ_from_each_other(collective: str) -> None:
    looks = regions.looks_of(oa.list_algorithms(collective))
    assert len({look["facecolor"] for look in looks}) == len({look["hatch"] for look in looks}) == len(looks)


def test_two_machines_on_one_axis(allreduce: Any) -> None:
    choice = oa.predict("musica", "allreduce", 64, SIZES)
    ring = oa.predict("musica", "allreduce", 64, SIZES, algorithm="ring")
    ax = plots.curves(*allreduce, beside=(choice, {"ring": ring}))
    assert legend_names(ax) == ["example", "musica", "Open MPI's choice", *ALGORITHMS]
    lines = [line for line in ax.lines if len(line.get_xdata())]
    dashed = [line for line in lines if line.get_linestyle() == "--"]
    np.testing.assert_array_equal(dashed[0].get_ydata(), ring["seconds"].to_numpy()[0])
    assert dashed[0].get_markerfacecolor() == dashed[0].get_color() == style.algorithm_styles(["ring"])[0]["color"]
    assert all(line.get_linestyle() == "-" for line in lines if line not in dashed)
    assert texts(ax) == ["recursive_doubling", "rabenseifner"]


@pytest.mark.parametrize(
    "beside",
    [
        None,
        ("bcast", 64, SIZES),
        ("allreduce", 64, SIZES[1:]),
        ("allreduce", RANKS, 64),
    ],
)
def test_what_cannot_stand_beside_is_refused(allreduce: Any, beside: Any) -> None:
    other = ("one", "two", "three") if beside is None else (oa.predict("musica", *beside), None)
    with pytest.raises(QuantityError, match="beside"):
        plots.curves(*allreduce, beside=other)


def test_what_is_taken_and_what_then_runs_are_both_named() -> None:
    assert texts(plots.curves(oa.predict("example", "allgather", 12, SIZES))) == ["recursive_doubling → bruck"]


def test_a_choice_without_formula_is_hatched_and_said() -> None:
    choice = oa.predict("example", "allreduce", 64, SIZES)
    gap = without_formula(choice, SIZES >= 2**18)
    ax = plots.curves(gap)
    assert "no formula" in legend_names(ax)
    assert texts(ax) == ["recursive_doubling", "rabenseifner"]
    lower = plots.stacked_terms(gap)
    assert legend_names(lower)[-1] == "no formula"
    assert "no formula" not in legend_names(plots.stacked_terms(choice))


@pytest.mark.parametrize("share", [True, False])
def test_terms_add_up_to_the_total(share: bool, allreduce: Any) -> None:
    choice = allreduce[0]
    ax = plots.stacked_terms(choice, share=share)
    areas = {str(area.get_label()): area.get_paths() for area in ax.collections}
    drawn = {name: paths[0].vertices for name, paths in areas.items() if paths}
    assert set(drawn) == {"latency", "bandwidth", "reduce"}
    count = len(SIZES)
    heights = [vertices[count : 2 * count][::-1][:, 1] - vertices[:count, 1] for vertices in drawn.values()]
    total = np.ones(count) if share else choice["seconds"].to_numpy()[0]
    np.testing.assert_allclose(sum(heights), total, rtol=1e-12)
    assert legend_names(ax) == ["reduce", "bandwidth", "latency"]  # from the top of the stack


def test_over_ranks_with_a_total_shared_out() -> None:
    pairs = xr.DataArray(range(len(RANKS)), dims="P")
    choice = oa.predict("example", "allgather", RANKS, 2**20 // RANKS).isel(P=pairs, n=pairs)
    ax = plots.curves(choice)
    assert ax.get_xlabel() == "ranks P"
    assert ax.get_xlim() == (2, 4096)
    assert "neighbor" in texts(ax)
    assert legend_names(plots.stacked_terms(choice)) == ["bandwidth", "latency"]


def test_two_long_dimensions_are_refused() -> None:
    choice = oa.predict("example", "allreduce", RANKS, SIZES)
    with pytest.raises(QuantityError, match=r"P \(12 values\), n \(29 values\)"):
        plots.curves(choice)
    with pytest.raises(QuantityError, match="sel"):
        plots.stacked_terms(choice)


def test_measured_points_widen_the_limits_and_say_their_error(allreduce: Any) -> None:
    ax = plots.curves(*allreduce)
    before = ax.get_ylim()
    plots.measured([2**10, 2**20], [1e-3, 50.0], model=[1.1e-3, 60.0], ax=ax)
    assert ax.get_ylim()[1] > max(50, before[1])
    assert legend_names(ax)[-1] == "measured,\nmedian |error| 15 %"
    assert legend_names(ax)[:-1] == ["Open MPI's choice", *ALGORITHMS]
    alone = plots.measured([2**10, 2**20], [1e-3, 2e-3])
    assert legend_names(alone) == ["measured"]


def test_relative_error_is_positive_where_the_model_is_slow() -> None:
    np.testing.assert_allclose(plots.relative_error([1.0, 2.0], [1.5, 1.0]), [0.5, -0.5])
    assert np.isnan(plots.relative_error([0.0, np.nan, 1.0], [1.0, 1.0, np.nan])).all()


@pytest.mark.parametrize(
    ("nbytes", "text"),
    [(1, "1 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (2**20, "1 MiB"), (1023 * 2**20, "1023 MiB"), (2**41, "2 TiB")],
)
def test_sizes_are_readable(nbytes: int, text: str) -> None:
    assert plots.size_text(nbytes) == text


def test_artists_change_in_place_and_limits_only_when_a_curve_leaves() -> None:
    ax = plots.figure()[1][0]
    drawn = plots.Curves(ax, "n", SIZES, ["ring"])
    names = np.array(["ring"] * len(SIZES))
    times = np.geomspace(1.2e-6, 0.8e-3, len(SIZES))
    assert drawn.update(SIZES, {"ring": times}, times, names, names)
    artists, limits = list(drawn.artists), ax.get_ylim()
    assert not drawn.update(SIZES, {"ring": 1.1 * times}, times, names, names)
    assert ax.get_ylim() == limits
    assert drawn.update(SIZES, {"ring": 100 * times}, times, names, names)
    assert ax.get_ylim()[1] > limits[1]
    assert list(drawn.artists) == artists
    np.testing.assert_array_equal(drawn.lines["ring"].get_ydata(), 100 * times)


def test_a_notebook_shows_a_figure_without_pyplot(allreduce: Any) -> None:
    figure: Any = plots.curves(*allreduce).figure
    picture = Image.open(io.BytesIO(figure._repr_png_()))
    assert picture.size == (780, 380)
    assert len(np.unique(np.asarray(picture.convert("L")))) > 50  # not blank


def test_pyplot_is_never_imported() -> None:
    code = """
import sys, orrery_analytic as oa
from orrery_analytic import plots
choice = oa.predict("example", "allreduce", 64, [64, 4096, 2**20])
plots.measured([64], [1e-5], ax=plots.curves(choice, {"ring": choice}))
plots.stacked_terms(choice).figure._repr_png_()
oa.explore().controls.n.value = 2**20
print("matplotlib.pyplot" in sys.modules, "matplotlib.figure" in sys.modules)
"""
    run = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert run.stdout.split() == ["False", "True"], run.stderr
