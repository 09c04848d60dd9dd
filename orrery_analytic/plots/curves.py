"""One curve an algorithm over n or P, with the library's choice under them and its switches named above."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike, NDArray

from orrery_analytic.errors import QuantityError
from orrery_analytic.plots import style
from orrery_analytic.plots.switches import Switches

__all__ = ["Curves", "curves"]


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
        self._heads = [style.head_of(name, second=bool(i)) for i, name in enumerate(machines or ())]
        colours = {name: line.get_color() for name, line in self.lines.items()}
        self.switches = Switches(ax, colours)
        self._limits: tuple[float, float] | None = None
        self._shown: tuple[str, ...] = ()

    @property
    def artists(self) -> list[Any]:
        """Everything that changes with the numbers, in the order of drawing."""
        second = [self.second] if self.second else []
        curves = [*self.beside.values(), *self.lines.values()]
        return [self.switches.lines, *second, self.choice, *curves, *self.switches.above]

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
        self.switches.update(x, choice, chosen, runs)
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


def _empty_line(ax: Axes, **options: Any) -> Line2D:
    line: Line2D = ax.plot([], [], **options)[0]
    return line


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
