"""One curve an algorithm over n or P, with the library's choice under them and its switches named above."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import Affine2D, ScaledTranslation, blended_transform_factory
from numpy.typing import ArrayLike, NDArray

from orrery_analytic.errors import QuantityError
from orrery_analytic.plots import style

__all__ = ["Curves", "curves", "measured", "relative_error", "spans"]

_ROWS, _ROW_HEIGHT, _FIRST_ROW = 4, 9.6, 8.0  # of names above the axes; points
_STRIP = 4.5  # points above the axes
_NAME_SIZE = 7.8


def spans(x: NDArray[Any], labels: NDArray[Any]) -> list[tuple[float, float, str]]:
    """Return (first x, x of the next, label) of each stretch of equal labels; the last ends at the last x."""
    if not len(x):
        return []
    starts = [0, *(i for i in range(1, len(x)) if labels[i] != labels[i - 1]), len(x) - 1]
    return [(float(x[a]), float(x[b]), str(labels[a])) for a, b in pairwise(starts)]


class Curves:
    """The artists of the figure, which change in place when the numbers do.

    Parameters
    ----------
    ax : Axes
        Made ready for time over n or P.
    axis : str
        "n" or "P".
    x : array
        Where the horizontal axis begins and ends.
    names : sequence of str
        All algorithms that may be drawn; the order gives each its style.
    library : str
        Whose choice is drawn.
    also : sequence of Line2D
        Other lines of the panel: they keep inside the limits and stand in the legend while they have points.
    machines : (str, str), optional
        Names of two machines that stand beside each other: solid lines with open markers for the first, dashed ones
        with full markers for the second.
    """

    def __init__(
        self, ax: Axes, axis: str, x: ArrayLike, names: Sequence[str], library: str = "Open MPI",
        also: Sequence[Line2D] = (), machines: tuple[str, str] | None = None,
    ) -> None:  # fmt: skip
        self.ax, self.also = ax, also
        style.set_axis(ax, axis, np.asarray(x))
        style.set_time_axis(ax)
        ax.grid(True, color="#E2E2E2", linewidth=0.7)
        looks = dict(zip(names, style.algorithm_styles(names), strict=True))
        firsts = {name: style.beside_style(look, False) if machines else look for name, look in looks.items()}
        self.lines = {name: _empty_line(ax, label=name, **look) for name, look in firsts.items()}
        seconds = {name: style.beside_style(look, True) for name, look in looks.items()} if machines else {}
        self.beside = {name: _empty_line(ax, **look) for name, look in seconds.items()}
        self._axis = axis
        self.choice = _empty_line(ax, label=f"{library}'s choice", **style.CHOICE)
        self.second = _empty_line(ax, label=f"{library}'s choice", **style.BESIDE) if machines else None
        self._heads = [_head(name, second=bool(i)) for i, name in enumerate(machines or ())]
        # Above the axes: x in data units, y in points from the upper edge.
        box: Any = ax.transAxes
        points = Affine2D().scale(1 / 72) + ax.figure.dpi_scale_trans + ScaledTranslation(0, 1, box)
        above = blended_transform_factory(ax.transData, points)
        self.strip = _lines(ax, above, linewidth=5, capstyle="butt")
        self.poles = _lines(ax, above, linewidth=0.8, color="#555555")
        self.switches = _lines(ax, ax.get_xaxis_transform(), linewidth=0.9, color="#555555", linestyle=(0, (2, 3)))
        self.names: list[Text] = []
        self._above = above
        self._limits: tuple[float, float] | None = None
        self._shown: tuple[str, ...] = ()

    @property
    def artists(self) -> list[Any]:
        """Everything that changes with the numbers, in the order of drawing."""
        second = [self.second] if self.second else []
        curves = [*self.beside.values(), *self.lines.values()]
        return [self.switches, *second, self.choice, *curves, self.strip, self.poles, *self.names]

    def update(
        self,
        x: NDArray[Any],
        seconds: Mapping[str, NDArray[Any]],
        choice: NDArray[Any],
        chosen: NDArray[Any],
        runs: NDArray[Any],
        beside: tuple[Mapping[str, NDArray[Any]], NDArray[Any]] | None = None,
    ) -> bool:
        """Put new numbers in; return whether limits or legend changed, so that all must be drawn again.

        Parameters
        ----------
        x : array
        seconds : mapping of algorithm to array like x
            Those that are not named are hidden.
        choice : array like x
            Seconds of the library's choice; NaN where it has no formula.
        chosen, runs : arrays of names like x
            What the library takes, and what then runs.
        beside : (seconds, choice), optional
            The same numbers on the second machine. The library's rules look at P and n alone: what runs is the same.
        """
        for name, line in self.lines.items():
            line.set_data((x, seconds[name]) if name in seconds else ([], []))
        self.choice.set_data(x, choice)
        others, second = beside or ({}, np.full(len(x), np.nan))
        for name, line in self.beside.items():
            line.set_data((x, others[name]) if name in others else ([], []))
        if self.second:
            self.second.set_data(x, second)
        every = max(len(x) // 8, 1) if self._axis == "n" else 3
        for lines in (self.lines, self.beside):
            for i, line in enumerate(lines.values()):
                line.set_markevery((4 * i % every if self._axis == "n" else i % every, every))
        self._mark(x, choice, chosen, runs)
        values = [
            *seconds.values(),
            choice,
            *others.values(),
            second,
            *(np.asarray(line.get_ydata(), dtype=float) for line in self.also),
        ]
        return self._fit(values) | self._explain(seconds, not np.isfinite(choice).all())

    def _fit(self, values: Sequence[NDArray[Any]]) -> bool:
        """Widen the vertical limits if one of the values leaves them; return whether they changed."""
        need = style.log_limits(values)
        if need is None or (self._limits and self._limits[0] <= need[0] and need[1] <= self._limits[1]):
            return False
        self._limits = need
        self.ax.set_ylim(*need)
        return True

    def _explain(self, seconds: Mapping[str, NDArray[Any]], gaps: bool) -> bool:
        """Renew the legend if other curves are seen than before; return whether they are."""
        seen = [name for name in self.lines if name in seconds and np.isfinite(seconds[name]).any()]
        others = [line for line in self.also if len(line.get_xdata())]  # type: ignore[arg-type]
        shown = (*seen, *(str(line.get_label()) for line in others), *([""] if gaps else []))
        if shown == self._shown:
            return False
        self._shown = shown
        gap = Line2D([], [], color="#8C8C8C", linewidth=5, linestyle=style.NO_FORMULA_LINE, label="no formula")
        style.legend(
            self.ax,
            [*self._heads, self.choice, *(self.lines[name] for name in seen), *([gap] if gaps else []), *others],
        )
        return True

    def _mark(self, x: NDArray[Any], choice: NDArray[Any], chosen: NDArray[Any], runs: NDArray[Any]) -> None:
        """Draw the strip of what runs, and name each stretch where it begins: what is chosen, and to what it leads."""
        really = np.array([str(name).partition(" (")[0] for name in runs], dtype=object)
        names = [str(a) if str(a) == b else f"{a} → {b}" for a, b in zip(chosen, really, strict=True)]
        known = spans(x, np.where(np.isfinite(choice), really, ""))
        self.strip.set_segments([[(a, _STRIP), (b, _STRIP)] for a, b, _ in known])
        self.strip.set_color([self.lines[r].get_color() if r in self.lines else "#8C8C8C" for _, _, r in known])
        self.strip.set_linestyle(["-" if r else style.NO_FORMULA_LINE for _, _, r in known])
        stretches = spans(x, np.array(names, dtype=object))
        self.switches.set_segments([[(a, 0), (a, 1)] for a, _, _ in stretches[1:]])
        while len(self.names) < len(stretches):
            self.names.append(self._name())
        for text in self.names[len(stretches) :]:
            text.set_text("")
        poles = []
        flags = self._flags([(a, name) for a, _, name in stretches])
        for text, (a, _, name), (left, row) in zip(self.names, stretches, flags, strict=False):
            height = _FIRST_ROW + row * _ROW_HEIGHT
            fits = row < _ROWS
            text.set_text(name if fits else "")
            text.set_position((float(self.ax.transData.inverted().transform((left, 0))[0]), height))
            poles.append([(a, 0.0), (a, height + 0.7 * _ROW_HEIGHT if fits else _FIRST_ROW)])
        self.poles.set_segments(poles)

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


def _head(machine: str, second: bool) -> Line2D:
    """Return the entry of the legend that says which lines are those of a machine."""
    look = style.beside_style({**style.curve_style(0), "color": "#333333"}, second)
    return Line2D([], [], label=machine, **look)


def _empty_line(ax: Axes, **options: Any) -> Line2D:
    line: Line2D = ax.plot([], [], **options)[0]
    return line


def _lines(ax: Axes, transform: Any, **options: Any) -> LineCollection:
    made = LineCollection([], transform=transform, clip_on=False, **options)
    ax.add_collection(made, autolim=False)
    return made


def curves(
    choice: xr.Dataset,
    algorithms: Mapping[str, xr.Dataset] | None = None,
    ax: Axes | None = None,
    library: str = "Open MPI",
    beside: tuple[xr.Dataset, Mapping[str, xr.Dataset] | None] | None = None,
) -> Axes:
    """Draw time over n or P: one curve an algorithm, the library's choice under them, its switches marked and named.

    Parameters
    ----------
    choice : Dataset
        ``predict(machine, collective, P, n)``: the library's choice, in seconds; one of P and n is long.
    algorithms : mapping of name to Dataset, optional
        ``predict(..., algorithm=name)`` over the same P and n.
    ax : Axes, optional
        Those of a new `figure` unless given.
    library : str
        Whose choice it is, for the legend.
    beside : (choice, algorithms), optional
        The same predictions for a second machine: dashed lines with full markers, where the first machine's are solid
        with open ones. The machines' names come from the predictions.

    Returns
    -------
    Axes
        Time in seconds, logarithmic, with units on the ticks.

    Raises
    ------
    QuantityError
        If both P and n are long, or if `beside` is no pair, or is of another collective or at other points.
    """
    axis, x, along = style.axis_of(choice)
    ax = style.figure()[1][0] if ax is None else ax
    others = algorithms or {}
    second = None if beside is None else _second(choice, axis, x, beside)
    machines = None if second is None else (_machine(choice), _machine(second[0]))
    names = list(dict.fromkeys([*others, *(second[1] if second else ())]))
    drawn = Curves(ax, axis, x, names, library, machines=machines)
    chosen, runs, taken = (np.atleast_1d(along[name].to_numpy()) for name in ("algorithm", "runs", "seconds"))
    there = None if second is None else (_seconds(second[1]), _seconds({"": second[0]})[""])
    drawn.update(x, _seconds(others), taken, chosen, runs, there)
    return ax


def _seconds(algorithms: Mapping[str, xr.Dataset]) -> dict[str, NDArray[Any]]:
    return {name: np.atleast_1d(style.axis_of(data)[2]["seconds"].to_numpy()) for name, data in algorithms.items()}


def _machine(choice: xr.Dataset) -> str:
    return str(choice.attrs.get("machine", "another machine"))


def _second(choice: xr.Dataset, axis: str, x: NDArray[Any], beside: Any) -> tuple[xr.Dataset, Mapping[str, xr.Dataset]]:
    """Return the predictions of a second machine, which must be of the same call at the same points."""
    if not isinstance(beside, tuple) or len(beside) != 2 or not isinstance(beside[0], xr.Dataset):
        raise QuantityError("beside is a pair (choice, algorithms) of one second machine: a figure shows two at most.")
    told = [beside[0].attrs.get(name) == choice.attrs.get(name) for name in ("collective", "rules")]
    over, places, _ = style.axis_of(beside[0])
    if not all(told) or over != axis or not np.array_equal(places, x):
        raise QuantityError("beside must hold the same collective and rules at the same P and n.")
    return beside[0], beside[1] or {}


def relative_error(seconds: ArrayLike, model: ArrayLike) -> NDArray[np.float64]:
    """Return (model - measured) / measured: positive where the model is too slow. NaN where one of them is missing."""
    measured_s = np.asarray(seconds, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = (np.asarray(model, dtype=float) - measured_s) / measured_s
    return np.where(np.isfinite(error), error, np.nan)


def measured(
    x: ArrayLike, seconds: ArrayLike, model: ArrayLike | None = None, ax: Axes | None = None, label: str = "measured"
) -> Axes:
    """Draw measured points; with the model at the same places, say the median of the absolute relative error.

    Parameters
    ----------
    x, seconds : arrays
        Bytes or ranks, and seconds.
    model : array, optional
        What the model says there, in seconds.
    ax : Axes, optional
        Those of `curves`; new ones unless given.
    label : str
        For the legend.
    """
    places = np.asarray(x, dtype=float)
    if ax is None:
        ax = style.figure()[1][0]
        style.set_axis(ax, "n", places)
        style.set_time_axis(ax)
    if model is not None and np.isfinite(error := np.abs(relative_error(seconds, model))).any():
        label = f"{label},\nmedian |error| {100 * np.nanmedian(error):.0f} %"
    line = _empty_line(ax, label=label, **style.MEASURED)
    line.set_data(places, np.asarray(seconds, dtype=float))
    if (need := style.log_limits([np.asarray(seconds, dtype=float)])) is not None:
        low, high = ax.get_ylim()
        ax.set_ylim(min(low, need[0]), max(high, need[1]))
    old = ax.get_legend()
    style.legend(ax, [*(old.legend_handles if old else []), line])
    return ax
