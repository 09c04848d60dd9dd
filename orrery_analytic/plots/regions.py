"""Regions of a map over P and n: a colour and a hatch for each algorithm, borders, and names on the larger ones."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from numpy.typing import NDArray

from orrery_analytic.plots import style
from orrery_analytic.selection.borders import Borders
from orrery_analytic.selection.maps import ChoiceMap

__all__ = ["NAME", "draw_regions", "edges_of", "looks_of"]

_HATCHES = (
    "", "////", "....", "\\\\\\\\", "xxxx", "----", "||||", "OO", "++++",
    "//", "\\\\", "..", "xx", "--", "||",
)  # fmt: skip
_PALE = (0.52, 0.25)  # shares of the colour of the curves
_PIXELS = 150  # of the raster on which places for names are sought
NAME: dict[str, Any] = {
    "fontsize": 7.5, "ha": "center", "va": "center", "zorder": 3, "linespacing": 0.95, "clip_on": True,
    "bbox": {"facecolor": "white", "alpha": 0.85, "edgecolor": "none", "pad": 1.2},
}  # fmt: skip
"""How a name looks that stands on a map."""

_THIN = 0.02  # of the height: lines above and below such a row would hide it
_LETTER = 0.0185  # of the width: a letter of a name


def edges_of(values: NDArray[Any]) -> NDArray[Any]:
    """Return the borders of cells around values, halfway between them on a logarithmic axis."""
    middle = np.sqrt(values[1:] * values[:-1])
    return np.concatenate([[values[0] ** 2 / middle[0]], middle, [values[-1] ** 2 / middle[-1]]])


def looks_of(names: Sequence[str]) -> list[dict[str, Any]]:
    """Return colour and hatch of each algorithm of a collective: the colour of its curves, made pale.

    Of two with one colour, the later one is paler.
    """
    colours = [look["color"] for look in style.algorithm_styles(names)]
    return [
        {
            "facecolor": style.paler(colour, _PALE[min(colours[:i].count(colour), len(_PALE) - 1)]),
            "edgecolor": tuple(0.75 * part for part in to_rgb(colour)),
            "hatch": _HATCHES[i % len(_HATCHES)],
            "linewidth": 0,
        }
        for i, colour in enumerate(colours)
    ]


def _cells(regions: Borders, sizes: NDArray[Any], ranks: NDArray[Any]) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    """Return for each number of ranks where its stretches begin (and the last one ends), and what is chosen there."""
    found = []
    for P in ranks:
        here = regions.P == P
        found.append((np.append(np.maximum(regions.start[here], 1), sizes[-1]).astype(float), regions.choice[here]))
    return found


def draw_regions(ax: Axes, found: ChoiceMap, regions: Borders, sizes: NDArray[Any], ranks: NDArray[Any]) -> None:
    """Draw the regions of one choice over sizes and ranks, their borders and their names."""
    edges = edges_of(ranks)
    cells = _cells(regions, sizes, ranks)
    boxes: dict[int, list[NDArray[Any]]] = {}
    lines = []
    for i, (starts, choice) in enumerate(cells):
        low, high = edges[i], edges[i + 1]
        for (a, b), what in zip(pairwise(starts), choice.tolist(), strict=True):
            boxes.setdefault(what, []).append(np.array([(a, low), (b, low), (b, high), (a, high), (a, low)]))
        lines += [[(a, low), (a, high)] for a in starts[1:-1]]
    thin = np.diff(np.log(edges)) < _THIN * np.log(edges[-1] / edges[0])
    for i in range(1, len(cells)):
        lines += _between(cells, i, edges[i], thin)
    looks = looks_of(found.names)
    for what, polygons in boxes.items():
        look = looks[what] if what >= 0 else style.NO_FORMULA
        path = Path.make_compound_path(*(Path(p, closed=True) for p in polygons))
        ax.add_patch(PathPatch(path, antialiased=False, zorder=1, **look))
    ax.add_collection(LineCollection(lines, colors="black", linewidths=0.7, zorder=2), autolim=False)
    _name_regions(ax, found, cells, edges, sizes)


def _at(cell: Any, left: NDArray[Any]) -> NDArray[Any]:
    """Return what one number of ranks chooses from these sizes on."""
    return np.asarray(cell[1][np.searchsorted(cell[0][:-1], left, side="right") - 1])


def _between(cells: Any, i: int, at: float, thin: NDArray[Any]) -> list[list[tuple[float, float]]]:
    """Return the lines below the i-th number of ranks, where the choice differs from that of the one before.

    A thin row that differs from both of its neighbours, which agree, has none: its colour shows it.
    """
    rows = range(max(i - 2, 0), min(i + 2, len(cells)))
    both = np.unique(np.concatenate([cells[row][0] for row in rows]))
    kinds = {row: _at(cells[row], both[:-1]) for row in rows}
    drawn = kinds[i] != kinds[i - 1]
    if thin[i - 1] and i >= 2:
        drawn &= kinds[i] != kinds[i - 2]
    if thin[i] and i + 1 < len(cells):
        drawn &= kinds[i - 1] != kinds[i + 1]
    return [[(both[j], at), (both[j + 1], at)] for j in np.flatnonzero(drawn)]


def _name_regions(ax: Axes, found: ChoiceMap, cells: Any, edges: NDArray[Any], sizes: NDArray[Any]) -> None:
    """Write the name of each algorithm where there is most room for it, once on every region with enough."""
    from scipy import ndimage

    x = np.geomspace(sizes[0], sizes[-1], 2 * _PIXELS + 1)[1::2]
    y = np.geomspace(edges[0], edges[-1], 2 * _PIXELS + 1)[1::2]
    rows = np.clip(np.searchsorted(edges, y) - 1, 0, len(cells) - 1)
    raster = np.array([_at(cells[row], x) for row in rows])
    placed: list[tuple[int, int, int]] = []  # row, column and half of the width of each name
    for what in np.unique(raster).tolist():
        name = found.names[what] if what >= 0 else "no formula"
        # The rows of a few numbers of ranks do not cut a region in two.
        closed = ndimage.binary_closing(np.pad(raster == what, 4), np.ones((7, 1), dtype=bool))[4:-4, 4:-4]
        parts, number = ndimage.label(closed)
        for part in range(1, number + 1):
            inside = parts == part
            room = ndimage.distance_transform_edt(np.pad(inside, 1), sampling=(1.6, 1))[1:-1, 1:-1]
            wide = _LETTER * _PIXELS
            text = name if inside.sum(axis=1).max() > wide * len(name) else name.replace("_", "_\n", 1)
            half = int(wide * max(map(len, text.split("\n"))) / 2) + 2
            for row, column, other in placed:
                room[max(row - 14, 0) : row + 15, max(column - half - other, 0) : column + half + other] = 0
            if room.max() < 7 or inside.sum() < 250:
                continue
            row, column = (int(place) for place in np.unravel_index(room.argmax(), room.shape))
            column = min(max(column, half), _PIXELS - 1 - half)
            placed.append((row, column, half))
            ax.text(x[column], y[row], text, **NAME)
