"""Measured points beside a model, and how far the model is off."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from orrery_analytic.plots import style

__all__ = ["measured", "relative_error"]


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
    (line,) = ax.plot(places, np.asarray(seconds, dtype=float), label=label, **style.MEASURED)
    if (need := style.log_limits([np.asarray(seconds, dtype=float)])) is not None:
        low, high = ax.get_ylim()
        ax.set_ylim(min(low, need[0]), max(high, need[1]))
    old = ax.get_legend()
    style.legend(ax, [*(old.legend_handles if old else []), line])
    return ax
