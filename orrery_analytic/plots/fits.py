"""A fit: the measured points, the model through them, its 95 % intervals of the switch points, and the residuals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter

from orrery_analytic.calibration import Fit
from orrery_analytic.errors import QuantityError
from orrery_analytic.plots import style
from orrery_analytic.units import shown

__all__ = ["fit"]

_OUTLIER: dict[str, Any] = {
    "color": "black",
    "linestyle": "",
    "marker": "x",
    "markersize": 7,
    "markeredgewidth": 1.8,
    "zorder": 5,
    "clip_on": False,
}
_BAND: dict[str, Any] = {"color": "#D9D9D9", "zorder": 0, "linewidth": 0}
_FEWEST = 20.0  # percent, of the axis of residuals


def _parts(points: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Return the points by series, or by number of ranks, with the names of the parts."""
    for column, name in (("series", "{}"), ("P", "P = {:g}")):
        if column in points and points[column].notna().all() and points[column].nunique() > 1:
            return [(name.format(key), part) for key, part in points.groupby(column, sort=False)]
    return [("", points)]


def _pieces(part: pd.DataFrame, ends: list[float]) -> list[pd.DataFrame]:
    """Return the points between the switch points."""
    place = np.searchsorted(ends, part["n"].to_numpy(), side="left")
    return [part[place == i] for i in range(len(ends) + 1)]


def fit(made: Fit, axes: tuple[Axes, Axes] | None = None) -> tuple[Axes, Axes]:
    """Draw a fit: data and model over n, and below how far each point lies from the model, in percent.

    Parameters
    ----------
    made : Fit
        What ``oa.fit`` returned.
    axes : pair of Axes, optional
        For data and for residuals; those of a new `figure` unless given.

    Returns
    -------
    pair of Axes
        Grey bands are the 95 % intervals of the switch points, crosses are outliers; those at the edge lie beyond it.

    Raises
    ------
    QuantityError
        If `made` is no fit.
    """
    if not isinstance(made, Fit):
        raise QuantityError(f"a fit is drawn, as oa.fit(...) returns it, but {shown(made)} was given.")
    above, below = axes or style.figure(3.9, 2.0, above=0.3)[1]
    points = made.points[made.points["n"] > 0]
    ends = sorted(value for name, value in made.parameters.items() if made.units[name] == "B")
    handles = []
    used = points[points["used"]]
    top = max(_FEWEST, 1.2 * float(np.abs(_percent(used)).max()))
    for i, (name, part) in enumerate(_parts(points)):
        look = {**style.curve_style(i), "marker": ""}
        for piece in _pieces(part.sort_values("n"), ends):
            above.plot(piece["n"], piece["fitted"], **look)
        marker = {**style.MEASURED, "marker": style.curve_style(i)["marker"], "markeredgecolor": look["color"]}
        marker |= {"markersize": 5, "clip_on": False}  # the first and the last point lie on the frame
        good, bad = part[part["used"]], part[~part["used"]]
        for kept, how in ((good, marker), (bad, _OUTLIER)):
            above.plot(kept["n"], kept["seconds"], **how)
            below.plot(kept["n"], _percent(kept).clip(-top, top), **how)
        if name:
            handles.append(Line2D([], [], label=name, **{**marker, **look, "marker": marker["marker"]}))
        else:
            handles += [Line2D([], [], label="model", **look), Line2D([], [], label="measured", **marker)]
    if (~points["used"]).any():
        handles.append(Line2D([], [], label="outlier", **_OUTLIER))
    switches = [made.intervals[name] for name in made.parameters if made.units[name] == "B"]
    for low, high in switches:
        for ax in (above, below):
            ax.axvspan(low, min(high, float(points["n"].max())), **_BAND)
    if switches:
        handles.append(Line2D([], [], color=_BAND["color"], linewidth=8, label="switch point, 95 %"))
    for ax in (above, below):
        style.set_axis(ax, "n", points["n"].to_numpy())
    style.set_time_axis(above)
    above.set_xlabel("")
    above.set_ylabel("time")
    limits = style.log_limits([points["seconds"].to_numpy(), points["fitted"].to_numpy()])
    if limits:
        above.set_ylim(*limits)
    below.axhline(0, color="#666666", linewidth=1, zorder=1)
    below.set_ylim(-1.1 * top, 1.1 * top)
    below.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:+.0f} %" if v else "0 %"))
    below.set_ylabel("off the model")
    above.set_title(made.model, loc="left", fontsize=10)
    style.legend(above, handles)
    return above, below


def _percent(points: pd.DataFrame) -> pd.Series:
    """Return by how much each point is above the model."""
    return 100 * (points["seconds"] / points["fitted"] - 1)
