"""Curves of any costs over one of their symbols, for one machine or for two, with a marked point; and their files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from orrery_analytic.cost import Cost
from orrery_analytic.plots.style import beside_style, curve_style, figure, head_of, legend, log_limits, set_time_axis
from orrery_analytic.widgets.symbol_sliders import info_of, set_symbol_axis

__all__ = ["CostCurves", "Costs", "seconds_of"]

_CURSOR: dict[str, Any] = {"color": "black", "linewidth": 1.1, "zorder": 3}


def seconds_of(cost: Cost, numbers: Mapping[str, Any]) -> Any:
    """Return what a cost takes, given numbers of its symbols and of others."""
    return cost(**{name: numbers[name] for name in cost.symbols})


@dataclass(frozen=True)
class Costs:
    """What is drawn: seconds by machine and label, along x and at the marked point.

    Attributes
    ----------
    axis : str
        The symbol that runs along.
    x : array
    here : float
        The marked point.
    along : mapping of machine to mapping of label to array like x
    at : mapping of machine to mapping of label to float
    """

    axis: str
    x: NDArray[Any]
    here: float
    along: dict[str, dict[str, NDArray[Any]]]
    at: dict[str, dict[str, float]]

    @classmethod
    def of(
        cls, costs: Mapping[str, Cost], axis: str, x: NDArray[Any], numbers: Mapping[str, dict[str, float]]
    ) -> Costs:
        """Return the seconds of costs, with numbers of the symbols by machine."""
        along, at = {}, {}
        for machine, own in numbers.items():
            line = {**own, axis: x}
            along[machine] = {name: np.broadcast_to(seconds_of(c, line), x.shape) for name, c in costs.items()}
            at[machine] = {name: float(seconds_of(c, own)) for name, c in costs.items()}
        return cls(axis, x, next(iter(numbers.values()))[axis], along, at)

    def figure(self) -> Figure:
        """Return a new figure of the curves and the marked point."""
        made, (axes,) = figure(3.7, above=0.16, below=0.56)
        CostCurves(axes, self.axis, self.x, list(next(iter(self.at.values()))), list(self.at)).update(self)
        return made

    def csv(self) -> bytes:
        """Return the numbers of the curves, with the unit in each head."""
        columns: dict[str, Any] = {f"{self.axis} ({info_of(self.axis).unit})": self.x}
        for machine, lines in self.along.items():
            on = f" on {machine}" if len(self.along) > 1 else ""
            columns |= {f"{label}{on} (s)": seconds for label, seconds in lines.items()}
        return pd.DataFrame(columns).to_csv(index=False, float_format="%.9g", lineterminator="\n").encode()


class CostCurves:
    """The artists, which change in place: solid with open markers, and dashed with full ones for a second machine.

    Parameters
    ----------
    axes : Axes
        Cleared.
    axis, x
        What runs along.
    labels : sequence of str
        Of the costs.
    machines : sequence of str
        One or two names.
    """

    def __init__(self, axes: Any, axis: str, x: NDArray[Any], labels: Sequence[str], machines: Sequence[str]) -> None:
        self.axes = axes
        set_symbol_axis(axes, axis, x)
        set_time_axis(axes)
        axes.set_ylabel("time")
        axes.grid(True, color="#E2E2E2", linewidth=0.7)
        every, two = max(len(x) // 9, 1), len(machines) > 1
        self.lines = []
        for i, label in enumerate(labels):
            own, places = curve_style(i), (i * every // 3 % every, every)
            looks = [beside_style(own, False), beside_style(own, True)] if two else [own]
            self.lines.append([axes.plot([], [], label=label, markevery=places, **look)[0] for look in looks])
        heads = [head_of(name, bool(i)) for i, name in enumerate(machines)] if two else []
        legend(axes, [*heads, *(pair[0] for pair in self.lines)])
        for text in axes.get_legend().get_texts():
            text.set_parse_math(False)
        self.cursor = axes.axvline(1, **_CURSOR)
        (self.dots,) = axes.plot([], [], marker="o", markersize=6, linestyle="", **_CURSOR)
        self._limits: tuple[float, float] | None = None

    @property
    def artists(self) -> list[Any]:
        """Everything that changes with the numbers, in the order of drawing."""
        return [*(line for pair in self.lines for line in reversed(pair)), self.cursor, self.dots]

    def update(self, drawn: Costs) -> bool:
        """Put new numbers in; return whether the limits changed, so that all must be drawn again."""
        curves = [[_positive(line) for line in lines.values()] for lines in drawn.along.values()]
        for pair, own in zip(self.lines, zip(*curves, strict=True), strict=True):
            for line, seconds in zip(pair, own, strict=True):
                line.set_data(drawn.x, seconds)
        here = [seconds for machine in drawn.at.values() for seconds in machine.values()]
        self.cursor.set_xdata([drawn.here, drawn.here])
        self.dots.set_data([drawn.here] * len(here), _positive(np.array(here)))
        need = log_limits([line for lines in curves for line in lines])
        if need is None or (self._limits and self._limits[0] <= need[0] and need[1] <= self._limits[1]):
            return False
        self._limits = need
        self.axes.set_ylim(*need)
        return True


def _positive(seconds: NDArray[Any]) -> NDArray[np.float64]:
    """Return seconds without what has no place on a log axis."""
    return np.where(seconds > 0, seconds, np.nan)
