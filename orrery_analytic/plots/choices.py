"""Maps over P and n: what the library takes, what costs least, and how much slower the first is than the second."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.contour import ContourSet
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator
from numpy.typing import NDArray

from orrery_analytic.errors import QuantityError, choose
from orrery_analytic.plots import style
from orrery_analytic.plots.regions import NAME, draw_regions, edges_of, looks_of
from orrery_analytic.selection.maps import CHOICES, ChoiceMap
from orrery_analytic.units import shown as told

__all__ = ["PANELS", "choice_map"]

PANELS = (*CHOICES, "regret")

_TITLES = {"library": "{} takes", "runs": "{}: what then runs", "best": "least time by the model"}
_LEVELS = (1.1, 2, 5, 10, 50, 200, 1000)
_LEFT, _WIDE, _HIGH, _GAP, _BELOW, _ABOVE, _BAR = 0.72, 2.9, 3.1, 0.4, 1.08, 0.34, 0.85  # inches
_ROOM = 0.04  # of the width and height: free around the number of a level


def choice_map(
    found: ChoiceMap | Sequence[ChoiceMap],
    panels: Sequence[str] = ("library", "best", "regret"),
    axes: Sequence[Axes] | None = None,
) -> list[Axes]:
    """Draw what a library takes over P and n, what costs least, and the regret: how many times slower the library is.

    Each algorithm has one colour and one hatch, in every panel and in every map of its collective, and its name stands
    on its larger regions. Black lines are the borders between regions, to a thousandth of their size; a single number
    of ranks that differs from its neighbours shows by its colour. On maps of 60 numbers of ranks and more, lines of
    equal regret are those of the median of seven neighbours; the colours are each point's own.

    Parameters
    ----------
    found : ChoiceMap or sequence of ChoiceMap
        Of `selection.choice_map`, over at least two numbers of ranks and two sizes; or one for each panel, all of one
        collective, such as those of two libraries. Regrets then share one scale.
    panels : sequence of str
        Of `PANELS`: "library" (what it takes), "runs" (what then really runs), "best", "regret".
    axes : sequence of Axes, optional
        One for each panel; unless given those of a new figure, side by side, with a legend.

    Returns
    -------
    list of Axes
        Bytes along the horizontal axis, ranks along the vertical one, both logarithmic.

    Raises
    ------
    UnknownNameError
        For a panel that is not there.
    QuantityError
        If P or n has one value, or there is not one of `axes`, or of several maps, for each panel, or these are not of
        one collective.
    """
    if isinstance(panels, str) or not isinstance(panels, Sequence) or not panels:
        raise QuantityError(f"panels must be names of {', '.join(PANELS)}, at least one, not {told(panels)}.")
    for panel in panels:
        choose("panel", panel, PANELS)
    maps = [found] * len(panels) if isinstance(found, ChoiceMap) else _listed(found, ChoiceMap)
    if len(maps) != len(panels) or len({shown.data.attrs["collective"] for shown in maps}) != 1:
        raise QuantityError(f"{len(panels)} panels need as many maps of one collective, but {told(found)} was given.")
    drawn = [] if axes is None else _listed(axes, Axes)
    if axes is not None and len(drawn) != len(panels):
        raise QuantityError(f"{len(panels)} panels need as many axes, but {told(axes)} was given.")
    grids = [[np.maximum(shown.data[name].to_numpy().astype(float), 1) for name in ("n", "P")] for shown in maps]
    for sizes, ranks in grids:
        if min(sizes.size, ranks.size) < 2:
            raise QuantityError(f"a map needs two values of P and of n, but {ranks.size} and {sizes.size} were given.")
    drawn = drawn or _figure(panels)
    worst = max(2.0, *(float(shown.data["regret"].max()) for shown in maps))
    seen: set[int] = set()
    for i, (panel, shown, ax) in enumerate(zip(panels, maps, drawn, strict=True)):
        sizes, ranks = grids[i]
        _prepare(ax, sizes, edges_of(ranks), first=i == 0 or axes is not None)
        if panel == "regret":
            _draw_regret(ax, shown, sizes, ranks, worst, bar=axes is None)
            whose = "its" if isinstance(found, ChoiceMap) else f"{shown.library},"
            ax.set_title(f"regret: {whose} time over the least", fontsize=9.5)
            seen |= {-1} if shown.data["regret"].isnull().any() else set()
            continue
        regions = shown.regions(panel)
        draw_regions(ax, shown, regions, sizes, ranks)
        ax.set_title(_TITLES[panel].format(shown.library), fontsize=9.5)
        seen |= set(regions.choice.tolist())
    if axes is None and seen:
        _legend(drawn, maps[0], sorted(seen))
    return drawn


def _listed(given: Any, kind: type) -> list[Any]:
    """Return what was given as a list if all of it is of one kind, else an empty one."""
    items = list(given) if isinstance(given, Iterable) else []
    return items if all(isinstance(item, kind) for item in items) else []


def _figure(panels: Sequence[str]) -> list[Axes]:
    """Return panels side by side, with room for a legend below and for a colour scale at the right of a regret."""
    room = [_WIDE + (_BAR if panel == "regret" else _GAP) for panel in panels]
    width, height = _LEFT + sum(room), _ABOVE + _HIGH + _BELOW
    made, drawn = style.figure(height, width=width)
    drawn += [made.add_axes((0, 0, 1, 1), label=str(i)) for i in range(1, len(panels))]
    left = _LEFT
    for ax, wide in zip(drawn, room, strict=True):
        ax.set_position((left / width, _BELOW / height, _WIDE / width, _HIGH / height))
        left += wide
    return drawn


def _prepare(ax: Axes, sizes: NDArray[Any], edges: NDArray[Any], first: bool) -> None:
    style.set_axis(ax, "n", sizes)
    ax.xaxis.set_major_locator(LogLocator(base=1024, numticks=9))
    ax.xaxis.set_minor_locator(LogLocator(base=32, numticks=9))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_yscale("log", base=2)
    ax.set_ylim(edges[0], edges[-1])
    ax.yaxis.set_major_locator(LogLocator(base=2, numticks=13))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:.0f}" if first else ""))
    ax.set_ylabel("ranks P" if first else "")
    ax.tick_params(labelsize=8.5)


def _draw_regret(ax: Axes, found: ChoiceMap, sizes: NDArray[Any], ranks: NDArray[Any], worst: float, bar: bool) -> None:
    """Draw the regret as a colour scale from 1 on, with lines where it reaches round numbers."""
    from scipy import ndimage

    regret = found.data["regret"].to_numpy()
    known = np.isfinite(regret)
    if not known.all():
        ax.patch.set(**style.NO_FORMULA)
    mesh = ax.pcolormesh(
        sizes, ranks, np.where(known, regret, np.nan), norm=LogNorm(1, worst), cmap="YlOrBr", shading="nearest",
        rasterized=True, zorder=1,
    )  # fmt: skip
    # Many algorithms take powers of two, or even P, otherwise than their neighbours: lines would be all there is.
    many = 7 if ranks.size >= 60 else 1
    smooth = ndimage.median_filter(np.where(known, regret, 1.0), size=(many, 3))
    if levels := [level for level in _LEVELS if level < smooth[known].max(initial=1.0)]:
        masked = np.ma.array(smooth, mask=~known)
        lines = ax.contour(sizes, ranks, masked, levels=levels, colors="black", linewidths=0.7, zorder=2)
        _label_levels(ax, lines)
    if bar:
        box, figure = ax.get_position(), ax.figure
        inch = 1 / figure.get_figwidth()  # type: ignore[union-attr]
        scale = figure.colorbar(mesh, cax=figure.add_axes((box.x1 + 0.1 * inch, box.y0, 0.14 * inch, box.height)))
        ticks = [1.0, *(level for level in (1.5, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000) if level <= worst)]
        scale.set_ticks(ticks, labels=[f"{tick:g}×" for tick in ticks], fontsize=8)
        scale.ax.yaxis.set_minor_locator(NullLocator())


def _label_levels(ax: Axes, lines: ContourSet) -> None:
    """Write each level once, on its longest line, as far as can be from the other levels and from the edges."""
    placed: list[NDArray[Any]] = []
    for level, path in zip(lines.levels, lines.get_paths(), strict=True):
        parts = [
            ax.transAxes.inverted().transform(ax.transData.transform(p)) for p in path.to_polygons(closed_only=False)
        ]
        if not parts:
            continue
        longest = max(parts, key=lambda points: np.hypot(*np.diff(points, axis=0).T).sum())
        room = np.minimum(longest, 1 - longest).min(axis=1)
        for other in placed:
            room = np.minimum(room, np.hypot(*(longest - other).T) / 2)
        if room.max() < _ROOM:
            continue
        across, up = longest[room.argmax()]
        placed.append(longest[room.argmax()])
        ax.text(across, up, f"{level:g}×", transform=ax.transAxes, **NAME)


def _legend(drawn: Sequence[Axes], found: ChoiceMap, seen: Sequence[int]) -> None:
    looks = looks_of(found.names)
    handles = [
        Patch(label=found.names[i] if i >= 0 else "no formula", **(looks[i] if i >= 0 else style.NO_FORMULA))
        for i in seen
    ]
    for handle in handles:
        handle.set_linewidth(0.6)
    figure = drawn[0].figure
    columns = max(1, min(len(handles), int(figure.get_figwidth() / 1.9)))  # type: ignore[union-attr]
    figure.legend(
        handles=handles, loc="lower center", ncol=columns, frameon=False, fontsize=8.5, handlelength=2.2,
        handleheight=1.3, columnspacing=1.2,
    )  # fmt: skip
