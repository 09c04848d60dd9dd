"""What a library takes along an axis: a strip above the axes, and the name of each stretch where it begins."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.text import Text
from matplotlib.transforms import Affine2D, ScaledTranslation, blended_transform_factory
from numpy.typing import NDArray

from orrery_analytic.plots import style

__all__ = ["Switches", "spans"]

_ROWS, _ROW_HEIGHT, _FIRST_ROW = 4, 9.6, 8.0  # of names above the axes; points
_STRIP = 4.5  # points above the axes
_NAME_SIZE = 7.8


def spans(x: NDArray[Any], labels: NDArray[Any]) -> list[tuple[float, float, str]]:
    """Return (first x, x of the next, label) of each stretch of equal labels; the last ends at the last x."""
    if not len(x):
        return []
    starts = [0, *(i for i in range(1, len(x)) if labels[i] != labels[i - 1]), len(x) - 1]
    return [(float(x[a]), float(x[b]), str(labels[a])) for a, b in pairwise(starts)]


class Switches:
    """The artists of the strip and of the names, which change in place.

    Parameters
    ----------
    ax : Axes
    colours : mapping of algorithm to colour
        Of the strip; what is not named is grey.
    """

    def __init__(self, ax: Axes, colours: Mapping[str, Any]) -> None:
        self.ax, self._colours = ax, colours
        # Above the axes: x in data units, y in points from the upper edge.
        box: Any = ax.transAxes
        points = Affine2D().scale(1 / 72) + ax.figure.dpi_scale_trans + ScaledTranslation(0, 1, box)
        above = blended_transform_factory(ax.transData, points)
        self._strip = _lines(ax, above, linewidth=5, capstyle="butt")
        self._poles = _lines(ax, above, linewidth=0.8, color="#555555")
        self.lines = _lines(ax, ax.get_xaxis_transform(), linewidth=0.9, color="#555555", linestyle=(0, (2, 3)))
        self._names: list[Text] = []
        self._above = above

    @property
    def above(self) -> list[Any]:
        """What stands above the axes, in the order of drawing."""
        return [self._strip, self._poles, *self._names]

    def update(self, x: NDArray[Any], choice: NDArray[Any], chosen: NDArray[Any], runs: NDArray[Any]) -> None:
        """Draw the strip of what runs, and name each stretch where it begins: what is chosen, and to what it leads."""
        really = np.array([str(name).partition(" (")[0] for name in runs], dtype=object)
        names = [str(a) if str(a) == b else f"{a} → {b}" for a, b in zip(chosen, really, strict=True)]
        known = spans(x, np.where(np.isfinite(choice), really, ""))
        self._strip.set_segments([[(a, _STRIP), (b, _STRIP)] for a, b, _ in known])
        self._strip.set_color([self._colours.get(r, "#8C8C8C") for _, _, r in known])
        self._strip.set_linestyle(["-" if r else style.NO_FORMULA_LINE for _, _, r in known])
        stretches = spans(x, np.array(names, dtype=object))
        self.lines.set_segments([[(a, 0), (a, 1)] for a, _, _ in stretches[1:]])
        while len(self._names) < len(stretches):
            self._names.append(self._name())
        for text in self._names[len(stretches) :]:
            text.set_text("")
        poles = []
        flags = self._flags([(a, name) for a, _, name in stretches])
        for text, (a, _, name), (left, row) in zip(self._names, stretches, flags, strict=False):
            height = _FIRST_ROW + row * _ROW_HEIGHT
            fits = row < _ROWS
            text.set_text(name if fits else "")
            text.set_position((float(self.ax.transData.inverted().transform((left, 0))[0]), height))
            poles.append([(a, 0.0), (a, height + 0.7 * _ROW_HEIGHT if fits else _FIRST_ROW)])
        self._poles.set_segments(poles)

    def _flags(self, stretches: list[tuple[float, str]]) -> list[tuple[float, int]]:
        """Return left pixel and row of each name, so that no name lies on another, nor on a later one's pole."""
        placed: list[tuple[float, float, int]] = []  # of the later ones: left, pole, row
        for first, name in reversed(stretches):
            pole = float(self.ax.transData.transform((first, 1.0))[0])
            width = 0.58 * _NAME_SIZE * self.ax.figure.dpi / 72 * len(name) + 4  # about; measuring text is slow
            left = max(min(pole + 3, self.ax.figure.bbox.x1 - width), self.ax.bbox.x0)
            row = 1 + max((r for near, at, r in placed if min(near, at) < left + width), default=-1)
            placed.append((left, pole, row))
        return [(left, row) for left, _, row in reversed(placed)]

    def _name(self) -> Text:
        return self.ax.text(
            0, 0, "", transform=self._above, fontsize=_NAME_SIZE, ha="left", va="bottom", clip_on=False, color="#222222"
        )


def _lines(ax: Axes, transform: Any, **options: Any) -> LineCollection:
    made = LineCollection([], transform=transform, clip_on=False, **options)
    ax.add_collection(made, autolim=False)
    return made
