"""What a call is made of: the terms of the library's choice, stacked, over n or P."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.ticker import FuncFormatter
from numpy.typing import ArrayLike, NDArray

from orrery_analytic.cost import TERM_NAMES
from orrery_analytic.plots import style
from orrery_analytic.plots.switches import spans
from orrery_analytic.units import readable

__all__ = ["Stack", "stacked_terms"]


class Stack:
    """The artists of the figure, which change in place when the numbers do.

    Parameters
    ----------
    ax : Axes
        Made ready for terms over n or P.
    axis : str
        "n" or "P".
    x : array
        Where the horizontal axis begins and ends.
    share : bool
        Shares of the total, in percent; else seconds on a linear axis.
    """

    def __init__(self, ax: Axes, axis: str, x: ArrayLike, share: bool = True) -> None:
        self.ax, self.share = ax, share
        style.set_axis(ax, axis, np.asarray(x))
        self.areas = {name: self._area(name) for name in TERM_NAMES}
        self.missing = PolyCollection(
            [], label="no formula", transform=ax.get_xaxis_transform(), zorder=1, **style.NO_FORMULA
        )
        ax.add_collection(self.missing, autolim=False)
        ax.set_ylabel("share of the time" if share else "time of the call")
        ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:.0%}" if share else readable(v, "s")))
        ax.set_ylim(0, 1)
        self._shown: tuple[str, ...] = ()

    def _area(self, name: str) -> PolyCollection:
        colour, hatch = style.TERM_STYLES[name]
        look: dict[str, Any] = {"facecolor": colour, "edgecolor": "#333333", "hatch": hatch, "linewidth": 0.5}
        made = PolyCollection([], label=name.replace("_", " "), zorder=2, **look)
        self.ax.add_collection(made, autolim=False)
        return made

    @property
    def artists(self) -> list[Any]:
        """Everything that changes with the numbers, in the order of drawing."""
        return [self.missing, *self.areas.values()]

    def update(self, x: NDArray[Any], terms: Mapping[str, NDArray[Any]], focus: int | None = None) -> bool:
        """Put new numbers in; return whether limits or legend changed, so that all must be drawn again.

        Parameters
        ----------
        x : array
        terms : mapping of term name to array like x
            Seconds of the library's choice; NaN where it has no formula.
        focus : int, optional
            Place in x whose total a time axis is made for; the whole of x unless given.
        """
        present = {name: np.asarray(terms[name], dtype=float) for name in TERM_NAMES if name in terms}
        total = np.sum(list(present.values()), axis=0) if present else np.full(len(x), np.nan)
        known = np.isfinite(total)
        scale = np.where(known & (total > 0), total, 1.0) if self.share else np.ones(len(x))
        bottom = np.zeros(len(x))
        for name, area in self.areas.items():
            height = np.where(known, present[name] / scale, 0.0) if name in present else None
            if height is None or not height.any():
                area.set_verts([])
                continue
            area.set_verts([np.concatenate([_path(x, bottom), _path(x, bottom + height)[::-1]])])
            bottom = bottom + height
        gaps = [(a, b) for a, b, label in spans(x, np.where(known, "", "missing")) if label]
        self.missing.set_verts([[(a, 0), (b, 0), (b, 1), (a, 1)] for a, b in gaps])
        return self._fit(float(bottom.max() if focus is None else 1.5 * bottom[focus])) | self._explain(bool(gaps))

    def _fit(self, top: float) -> bool:
        """Change the limits of a time axis if the stack leaves it, or fills a third of it at most."""
        if self.share or not top or self.ax.get_ylim()[1] / 3 < top <= self.ax.get_ylim()[1]:
            return False
        self.ax.set_ylim(0, 1.1 * top)
        return True

    def _explain(self, gaps: bool) -> bool:
        shown = tuple(name for name, area in self.areas.items() if area.get_paths()) + (("",) if gaps else ())
        if shown == self._shown:
            return False
        self._shown = shown
        handles = [area for area in reversed(self.areas.values()) if area.get_paths()]
        style.legend(self.ax, handles + ([self.missing] if gaps else []))
        return True


def _path(x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    return np.column_stack([x, y])


def stacked_terms(choice: xr.Dataset, ax: Axes | None = None, share: bool = True) -> Axes:
    """Draw what the library's choice is made of, over n or P: one area a term, stacked.

    Parameters
    ----------
    choice : Dataset
        ``predict(machine, collective, P, n)``; one of P and n is long. Where the choice has no formula it is hatched.
    ax : Axes, optional
        Those of a new `figure` unless given.
    share : bool
        Percent of the total; else seconds, on a linear axis.

    Raises
    ------
    QuantityError
        If both P and n are long.

    Source: after Fig. 3 of the Orrery paper (arXiv 2610.18565).
    """
    axis, x, along = style.axis_of(choice)
    ax = style.figure(2.3, above=0.2)[1][0] if ax is None else ax
    terms = {str(name): np.atleast_1d(along[name].to_numpy()) for name in along.data_vars if name in TERM_NAMES}
    Stack(ax, axis, x, share).update(x, terms)
    return ax
