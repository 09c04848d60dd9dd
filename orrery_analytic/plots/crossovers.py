"""Where two algorithms cross, over n and over P: curves with borders, and strips of ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator
from matplotlib.transforms import Affine2D, ScaledTranslation, blended_transform_factory
from numpy.typing import ArrayLike

from orrery_analytic.errors import QuantityError
from orrery_analytic.plots import style
from orrery_analytic.units import shown

__all__ = ["Border", "Ranks", "crossover_curves", "rank_strips"]


_WHO = ("a", "b", "equal")  # is the cheaper one
_PALE = 0.4  # share of the colour that b keeps
_STRIP, _ROW, _ROWS = 7.0, 10.0, 3  # points above the axes; rows of labels


def _looks(names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return how areas of each verdict look; "" is that of what is not stated.

    They have the colours of the two curves, full and plain against pale and hatched, which a grey print keeps apart.
    """
    if isinstance(names, str) or len(names) != 2:
        raise QuantityError(f"names of two algorithms are needed, a and b, but {shown(names)} was given.")
    a, b = (look["color"] for look in style.algorithm_styles(names))
    faces = {"a": (a, ""), "b": (style.paler(b, _PALE), "////"), "equal": ("#FFFFFF", "")}
    edge = {"edgecolor": "#444444", "linewidth": 0.5}
    return {who: {"facecolor": face, "hatch": hatch, **edge} for who, (face, hatch) in faces.items()} | {
        "": style.NO_FORMULA
    }


def _collections(ax: Axes, names: Sequence[str], **options: Any) -> dict[str, PolyCollection]:
    """Add boxes of each verdict."""
    made = {who: PolyCollection([], **look, **options) for who, look in _looks(names).items()}
    for boxes in made.values():
        ax.add_collection(boxes, autolim=False)
    return made


def _box(left: float, right: float, low: float, high: float) -> list[tuple[float, float]]:
    return [(left, low), (right, low), (right, high), (left, high)]


def _explained(names: Sequence[str], seen: set[str]) -> list[Patch]:
    """Return the entries of a legend for the verdicts that are seen, under a head."""
    told = {**dict(zip(_WHO, (*names, "equal"), strict=True)), "": "not stated\nfor both"}
    return [
        Patch(alpha=0, label="cheaper:"),
        *(Patch(**look, label=told[who]) for who, look in _looks(names).items() if who in seen),
    ]


class Border:
    """Two curves over n, who of them is cheaper, and where that changes; the artists change in place.

    Parameters
    ----------
    ax : Axes
        Made ready for time over n.
    x : array
        Bytes; where the horizontal axis begins and ends.
    names : (str, str)
        Of a and b, for the legend.
    """

    def __init__(self, ax: Axes, x: ArrayLike, names: Sequence[str]) -> None:
        self.ax, self._x, self._seen = ax, np.asarray(x, dtype=float), set[str]()
        self._names, self._limits = tuple(names), (0.0, 0.0)
        style.set_axis(ax, "n", self._x)
        style.set_time_axis(ax)
        ax.grid(True, color="#E2E2E2", linewidth=0.7)
        looks = style.algorithm_styles(names)
        self.lines = [
            ax.plot([], [], label=name, markevery=(14 * i, 28), **look)[0]
            for i, (name, look) in enumerate(zip(names, looks, strict=True))
        ]
        # Above the axes: x in data units, y in points from the upper edge.
        box: Any = ax.transAxes
        points = Affine2D().scale(1 / 72) + ax.figure.dpi_scale_trans + ScaledTranslation(0, 1, box)
        self._above = blended_transform_factory(ax.transData, points)
        self.strips = _collections(ax, names, transform=self._above, clip_on=False)
        self.border = LineCollection([], colors="black", linewidths=1.1, transform=ax.get_xaxis_transform(), zorder=3)
        ax.add_collection(self.border, autolim=False)
        self.texts = [
            ax.text(1, _STRIP + 2 + _ROW * i, "", transform=self._above, fontsize=8.5, ha="center", va="bottom")
            for i in range(_ROWS)
        ]

    @property
    def artists(self) -> list[Any]:
        """Everything that changes with the numbers, in the order of drawing."""
        return [*self.lines, self.border, *self.strips.values(), *self.texts]

    def update(self, seconds: Sequence[ArrayLike], stretches: Sequence[tuple[float, float, str]]) -> bool:
        """Put new numbers in; return whether limits or legend changed, so that all must be drawn again.

        Parameters
        ----------
        seconds : two arrays like x
            Of a and b; NaN where one is not stated.
        stretches : sequence of (first, last, cheaper)
            In whole bytes, as `Crossover.intervals` returns them.
        """
        values = [np.asarray(y, dtype=float) for y in seconds]
        for line, y in zip(self.lines, values, strict=True):
            line.set_data(self._x, y)
        low, high = float(self._x.min()), float(self._x.max())
        seen = [(max(a, low), min(b + 1, high), who) for a, b, who in stretches if a < high and b + 1 > low]
        for who, strip in self.strips.items():
            strip.set_verts([_box(a, b, 0, _STRIP) for a, b, w in seen if (w if w in _WHO else "") == who])
        starts = [a for a, _, _ in stretches[1:] if low < a < high]
        self.border.set_segments([[(a, 0), (a, 1)] for a in starts])
        for i, text in enumerate(self.texts):
            text.set_text(_from(starts[i]) if i < len(starts) else "")
            if i < len(starts):
                text.set_x(float(np.clip(starts[i], low * 8, high / 8)))
        found = {who if who in _WHO else "" for _, _, who in seen}
        anew = found != self._seen
        if anew:
            self._seen = found
            style.legend(self.ax, [*self.lines, *_explained(self._names, found)])
        need = style.log_limits(values)
        if need is not None and not (self._limits[0] <= need[0] and need[1] <= self._limits[1]):
            self._limits, anew = need, True
            self.ax.set_ylim(*need)
        return anew


def _from(first: float) -> str:
    return f"from {first:,.0f} B".replace(",", " ")


def crossover_curves(
    x: ArrayLike,
    seconds: Mapping[str, ArrayLike],
    stretches: Sequence[tuple[float, float, str]],
    ax: Axes | None = None,
) -> Axes:
    """Draw the times of two algorithms over n, and above them who is the cheaper one, from which byte on.

    Parameters
    ----------
    x : array
        Bytes.
    seconds : mapping of name to array like x
        Of two algorithms, a and b in this order, in seconds; NaN where one is not stated.
    stretches : sequence of (first, last, cheaper)
        ``crossover(a, b, "n").intervals(machine, P=64)``, in whole bytes; cheaper is "a", "b" or "equal".
    ax : Axes, optional
        Those of a new `figure` unless given.

    Returns
    -------
    Axes
        Time in seconds, logarithmic, with units on the ticks. Borders are upright lines, at the first byte of each
        stretch, which stands above the first three.

    Raises
    ------
    QuantityError
        If there are not two curves.
    """
    drawn = Border(style.figure(3.6)[1][0] if ax is None else ax, x, list(seconds))
    drawn.update(list(seconds.values()), stretches)
    return drawn.ax


class Ranks:
    """Who of two is the cheaper one over P: a row for each size, a cell for each number of ranks; changes in place.

    Parameters
    ----------
    ax : Axes
    labels : sequence of str
        Of the rows, from top to bottom.
    names : (str, str)
        Of a and b, for the legend.
    least, most : int
        The ranks at the ends.
    """

    def __init__(self, ax: Axes, labels: Sequence[str], names: Sequence[str], least: int, most: int) -> None:
        self.ax, self._names, self._seen = ax, tuple(names), set[str]()
        ax.set_xlim(least - 0.5, most + 0.5)
        ax.set_ylim(len(labels) - 0.5, -0.5)
        ax.set_yticks(range(len(labels)), list(labels))
        ax.tick_params(axis="y", length=0)
        ax.spines[["left", "right", "top"]].set_visible(False)
        ax.xaxis.set_major_locator(FixedLocator([2**k for k in range(most.bit_length()) if least <= 2**k <= most]))
        ax.set_xlabel("ranks P")
        self.cells = _collections(ax, names)

    @property
    def artists(self) -> list[Any]:
        """Everything that changes with the numbers, in the order of drawing."""
        return [*self.cells.values()]

    def update(self, rows: Sequence[Sequence[tuple[float, float, str]]]) -> bool:
        """Put new stretches in; return whether the legend changed, so that all must be drawn again."""
        squares: dict[str, list[Any]] = {who: [] for who in self.cells}
        for i, stretches in enumerate(rows):
            for first, last, who in stretches:
                for p in range(int(first), int(last) + 1):
                    squares[who if who in _WHO else ""].append(_box(p - 0.5, p + 0.5, i - 0.36, i + 0.36))
        for who, cells in self.cells.items():
            cells.set_verts(squares[who])
        seen = {who for who, found in squares.items() if found}
        if seen == self._seen:
            return False
        self._seen = seen
        style.legend(self.ax, _explained(self._names, seen))
        return True


def rank_strips(
    rows: Mapping[str, Sequence[tuple[float, float, str]]], names: Sequence[str], ax: Axes | None = None
) -> Axes:
    """Draw who of two algorithms is the cheaper one over P: a row for each size, a cell for each number of ranks.

    Parameters
    ----------
    rows : mapping of label to sequence of (first, last, cheaper)
        ``crossover(a, b, "P").intervals(machine, n=65536, last=64)``, in whole ranks; from top to bottom.
    names : (str, str)
        Of a and b.
    ax : Axes, optional
        Those of a new `figure` unless given.

    Returns
    -------
    Axes
        Ranks along a linear axis, with ticks at powers of two.

    Raises
    ------
    QuantityError
        If a row is empty, or there are none, or not two names.
    """
    if not rows or not all(rows.values()):
        raise QuantityError("each row needs stretches of ranks, such as crossover(a, b, 'P').intervals(machine, n=8).")
    ax = style.figure(0.75 + 0.3 * len(rows), above=0.12)[1][0] if ax is None else ax
    stretches = [stretch for row in rows.values() for stretch in row]
    least, most = min(int(s[0]) for s in stretches), max(int(s[1]) for s in stretches)
    Ranks(ax, list(rows), names, least, most).update(list(rows.values()))
    return ax
