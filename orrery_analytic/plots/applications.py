"""Programs in pictures: bars of phases, and time over nodes beside the ideal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from orrery_analytic.errors import QuantityError
from orrery_analytic.plots import style
from orrery_analytic.units import readable

__all__ = ["phase_bars", "strong_scaling"]

_PHASES = {
    "memset": ("#E6E6E6", ""),
    "kernel": ("#8C8C8C", "//"),
    "halo": ("#56B4E9", ""),
    "norm": ("#D55E00", "\\\\"),
}
_OTHERS = (("#009E73", "xx"), ("#F0C94A", ".."), ("#CC79A7", "++"), ("#FFFFFF", ""))


def phase_bars(bars: Mapping[str, Mapping[str, float]], ax: Axes | None = None, share: bool = False) -> Axes:
    """Draw one bar a column, stacked from its phases.

    Parameters
    ----------
    bars : mapping of what stands under the bar to a mapping of phase to seconds
        Missing phases count as nothing.
    ax : Axes, optional
        Those of a new `figure` unless given.
    share : bool
        Percent of each bar; else seconds, on a linear axis.

    Raises
    ------
    QuantityError
        If there is nothing to draw.

    Source: after Fig. 4 of the Orrery paper (arXiv 2610.18565).
    """
    names = dict.fromkeys(name for phases in bars.values() for name in phases)
    if not names:
        raise QuantityError("bars are made of phases, but none were given.")
    ax = style.figure(2.8, above=0.3)[1][0] if ax is None else ax
    heights = np.array([[float(phases.get(name, 0.0)) for phases in bars.values()] for name in names])
    if share:
        heights = heights / heights.sum(axis=0)
    bottoms = np.cumsum(heights, axis=0) - heights
    others = iter(_OTHERS * len(names))
    looks = {name: _PHASES[name] if name in _PHASES else next(others) for name in names}
    for (colour, hatch), height, bottom in zip(looks.values(), heights, bottoms, strict=True):
        ax.bar(list(bars), height, 0.62, bottom, **_look(colour, hatch))
    ax.set_ylabel("share of the time" if share else "time")
    ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:.0%}" if share else readable(v, "s")))
    ax.set_ylim(0, 1 if share else 1.08 * float(heights.sum(axis=0).max()))
    style.legend(ax, [Patch(label=name, **_look(*looks[name])) for name in reversed(names)])
    return ax


def _look(colour: str, hatch: str) -> dict[str, Any]:
    return {"facecolor": colour, "edgecolor": "#333333", "hatch": hatch, "linewidth": 0.5}


def strong_scaling(runs: Mapping[str, xr.Dataset], ax: Axes | None = None) -> Axes:
    """Draw time over nodes, one curve a run, and beside the first what it would take if nodes were all that counts.

    Parameters
    ----------
    runs : mapping of name to Dataset
        As `Jacobi.run` returns them.
    ax : Axes, optional
        Those of a new `figure` unless given.

    Raises
    ------
    QuantityError
        If there is no run.
    """
    if not runs:
        raise QuantityError("no run was given.")
    ax = style.figure(3.2, above=0.3)[1][0] if ax is None else ax
    handles = []
    for i, (name, data) in enumerate(runs.items()):
        handles += ax.plot(data["nodes"], data["seconds"], label=name, **style.curve_style(i))
    first = next(iter(runs.values()))
    nodes, seconds = first["nodes"].to_numpy(), first["seconds"].to_numpy()
    ideal = Line2D(nodes, seconds[0] * nodes[0] / nodes, label="ideal", color="#8C8C8C", linewidth=1, zorder=1)
    ax.add_line(ideal)
    ax.set_xscale("log", base=2)
    ax.xaxis.set_major_locator(FixedLocator(nodes.tolist()))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:.0f}"))
    ax.set_xlabel("nodes")
    style.set_time_axis(ax)
    limits = style.log_limits([np.asarray(data["seconds"], dtype=float) for data in runs.values()])
    if limits is not None:
        ax.set_ylim(*limits)
    ax.set_ylabel("time of the run")
    ax.grid(True, color="#E2E2E2", linewidth=0.7)
    style.legend(ax, [*handles, ideal])
    return ax
