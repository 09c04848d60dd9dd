"""Curves of a prediction on the Axes of a paper: the algorithms, the library's choice, and a legend below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, LogLocator

from orrery_analytic.collectives.registry import list_algorithms
from orrery_analytic.errors import QuantityError, choose
from orrery_analytic.exports.paper import figure_of, paper_axes, points_of, set_font_size, width_of
from orrery_analytic.plots import curves
from orrery_analytic.predict import predict
from orrery_analytic.selection.setting import Setting, axis
from orrery_analytic.units import shown

if TYPE_CHECKING:
    import xarray as xr

    from orrery_analytic.machines import Machine

__all__ = ["draw", "paper_curves", "predictions"]

_EDGE = 0.03  # inches


def predictions(
    machine: Machine | str, collective: str, P: Any, n: Any, algorithms: Sequence[str] | None = None, **options: Any
) -> tuple[Setting, xr.Dataset, dict[str, xr.Dataset]]:
    """Return the setting of a figure, the library's choice, and the algorithms that are drawn; see `export`.

    Raises
    ------
    UnknownNameError, QuantityError
        As `predict`; if both P and n have several values; for what a logarithmic axis cannot show.
    """
    if "algorithm" in options:
        raise QuantityError("the curves of a figure are algorithms=('ring', ...); algorithm= is for predict.")
    setting = Setting.of(machine, collective, **options)
    ranks, sizes = axis("P", P), axis("n", n)
    if ranks.size > 1 and sizes.size > 1:
        raise QuantityError("a figure has one axis: give several values of P or of n, and one of the other.")
    if sizes.min() == 0:
        raise QuantityError("n = 0 has no place on a logarithmic axis. Allowed: at least 1 byte.")
    if ranks.max() == 1:
        raise QuantityError("P = 1: on one rank a collective costs 0, and there is no curve. Allowed: also P > 1.")
    choice = predict(machine, collective, P, n, **options)
    names = _names(setting, P, n, algorithms)
    return setting, choice, {name: predict(machine, collective, P, n, algorithm=name, **options) for name in names}


def _names(setting: Setting, P: Any, n: Any, algorithms: Sequence[str] | None) -> list[str]:
    """Return the algorithms that are drawn."""
    allowed = list_algorithms(setting.collective)
    if algorithms is not None:
        given = [algorithms] if isinstance(algorithms, str) else algorithms
        if not isinstance(given, list | tuple) or not given:
            raise QuantityError(f"algorithms must be names such as ('ring', ...), but {shown(algorithms)} was given.")
        return list(dict.fromkeys(choose(f"{setting.collective} algorithm", name, allowed) for name in given))
    found = setting.plans(axis("P", P)[:, None], axis("n", n)[None, :])[2]
    return [name for name in allowed if name in {plan.algorithm for plan in found}]


def draw(choice: xr.Dataset, others: Mapping[str, xr.Dataset], column: Any, font_size: float) -> Axes:
    """Return new Axes as wide as a column with the curves of predictions over P or n."""
    library = str(choice.attrs["rules"])
    names = [f"{library}'s choice", *others]
    across = width_of(column) * 72 / (points_of(font_size) * (0.5 * max(map(len, names)) + 4.2))  # half an em a letter
    columns = min(max(int(across), 1), len(names))
    axes = paper_axes(column, legend_rows=-(-len(names) // columns), font_size=font_size)
    curves(choice, others, ax=axes, library=library)
    if choice["algorithm"].size == 1:
        _mark(axes)
    old = axes.get_legend()
    handles = list(old.legend_handles) if old else []
    if old:
        old.remove()
    axes.legend(
        handles=handles, labels=[str(handle.get_label()) for handle in handles if handle], loc="lower center",
        bbox_to_anchor=(0.5, 0.0), bbox_transform=axes.figure.transFigure, ncols=columns, frameon=False,
        handlelength=2.4, columnspacing=1.2, labelspacing=0.2, borderaxespad=0.3,
    )  # fmt: skip
    low, high = axes.get_ylim()
    if high < 99 * low:  # powers of ten alone would be one tick or two
        axes.yaxis.set_major_locator(LogLocator(base=10, subs=(1.0, 2.0, 5.0)))
    set_font_size(figure_of(axes), font_size)
    _thin_ticks(axes)
    _make_room(axes)
    return axes


def _mark(axes: Axes) -> None:
    """Show lines of a single point, which have no length, by their markers, and amid the axis."""
    low, high = axes.get_xlim()
    axes.set_xlim(low / 2, high)
    for line in axes.get_lines():
        line.set_markevery(None)
        if line.get_marker() in ("None", None, ""):
            line.set(marker="s", markersize=2 * line.get_linewidth())


def _thin_ticks(axes: Axes) -> None:
    """Leave out powers of two of the horizontal axis until the labels of the others stand apart."""
    low, high = axes.get_xlim()
    ticks = [tick for tick in axes.get_xticks() if low <= tick <= high]
    for every in range(1, len(ticks) + 1):
        axes.xaxis.set_major_locator(FixedLocator(ticks[::every]))
        axes.figure.canvas.draw()
        boxes = [label.get_window_extent() for label in axes.get_xticklabels()]
        gap = 0.4 * boxes[0].height if boxes else 0
        if all(left.x1 + gap < right.x0 for left, right in pairwise(boxes)):
            return


def _make_room(axes: Axes) -> None:
    """Make the figure higher where names of switches, in several rows, stand above it."""
    figure = figure_of(axes)
    wide, high = figure.get_size_inches()
    more = max(text.get_window_extent().y1 for text in axes.texts) / figure.dpi - high + _EDGE if axes.texts else 0
    if more > 0:
        box = axes.get_position()
        figure.set_size_inches(wide, high + more)
        axes.set_position((box.x0, box.y0 * high / (high + more), box.width, box.height * high / (high + more)))


def paper_curves(
    machine: Machine | str,
    collective: str,
    P: Any,
    n: Any,
    algorithms: Sequence[str] | None = None,
    column: Any = "single",
    font_size: float = 8.0,
    **options: Any,
) -> Axes:
    """Return the figure of `export` alone: new Axes, with the same arguments."""
    _, choice, others = predictions(machine, collective, P, n, algorithms, **options)
    return draw(choice, others, column, font_size)
