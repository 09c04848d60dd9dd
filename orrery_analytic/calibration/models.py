"""The models that a table can be fitted with, by name, and the one verb that fits."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from orrery_analytic.calibration.bounce import fit_bounce
from orrery_analytic.calibration.copies import copies
from orrery_analytic.calibration.formula import collective, kernel
from orrery_analytic.calibration.lines import bandwidth, hockney, hockney_pieces
from orrery_analytic.calibration.loggp import loggp
from orrery_analytic.calibration.overhead import call
from orrery_analytic.calibration.points import as_table, numbers
from orrery_analytic.calibration.reduction import reduction
from orrery_analytic.calibration.result import Fit
from orrery_analytic.calls import collective_cost
from orrery_analytic.cost import Cost
from orrery_analytic.errors import QuantityError, choose, unknown_name

__all__ = ["MODELS", "fit"]


def _bounce(table: Any, copies: int | None = None, library: str = "openmpi-4.1") -> Fit:
    if not isinstance(table, tuple | list) or len(table) != 2:
        raise QuantityError("model 'bounce' takes two tables, (device, host), of the same collective.")
    device, host = table
    return fit_bounce(device, host, copies=copies, library=library)


MODELS: Mapping[str, Callable[..., Fit]] = MappingProxyType(
    {
        "hockney": hockney,
        "hockney_pieces": hockney_pieces,
        "bandwidth": bandwidth,
        "loggp": loggp,
        "copies": copies,
        "kernel": kernel,
        "reduction": reduction,
        "collective": collective,
        "bounce": _bounce,
        "call": call,
    }
)
"""Name to function. Each takes a table (loggp, reduction, bounce, call: several) and options, and returns a `Fit`."""

_SEVERAL = ("loggp", "reduction", "bounce", "call")
_FORMULA = "collective"


def _usual(table: Any) -> str:
    """Return the model that suits what a table has."""
    if isinstance(table, tuple | list):
        return "loggp"
    frame = as_table(table)
    if np.isfinite(numbers(frame, "train_seconds")).any():
        return "loggp"
    if "collective" in frame.columns and (frame["collective"] == "copy").any():
        return "copies"
    rated = np.isfinite(numbers(frame, "bandwidth_bytes_per_s")).any()
    return "bandwidth" if rated and not np.isfinite(numbers(frame, "seconds")).any() else "hockney_pieces"


def fit(table: Any, model: str | Cost | None = None, **options: Any) -> Fit:
    r"""Fit the parameters of a model to measurements: relative, robust, and never below 0.

    The relative distances log(measured / model) are made small, so that every size counts alike. Outliers, further than
    four standard deviations, are set aside and named. lmfit makes the last fit.

    Parameters
    ----------
    table : DataFrame, mapping of columns, or several
        As `read` returns it, with the rows of one series: at least n (bytes) and seconds.
    model : str or Cost, optional
        One of `MODELS`; a Cost is the formula of what was measured. Unless given what suits the table:
        "hockney_pieces" for times, "bandwidth" for windowed rates, "copies", and "loggp" for netgauge and several
        tables.

        * "hockney": :math:`\alpha + n \beta`; "hockney_pieces": the same in pieces whose switch points are found;
        * "bandwidth": g and G of windowed tests and message rates;
        * "loggp": L, o, g, G of netgauge, or of (latency, bandwidth, message rate);
        * "copies": latency and bandwidth in bands; "kernel": launch, synchronisation, rate;
        * "reduction": gamma; (allreduce, allgather) as well;
        * "collective": the parameters of the formula of a collective;
        * "bounce": (device, host): see `fit_bounce`;
        * "call": (device, host): the latency of GPUDirect RDMA from a latency test, the cost of a call from a
          collective that copies nothing to the host.
    **options
        Of the model, for example ``link="inside"``, ``most=2``, ``wire="25 GB/s"``, ``algorithm="ring"``.

    Returns
    -------
    Fit
        Parameters with 95 % intervals, and warnings that say what the data cannot tell.

    Raises
    ------
    UnknownNameError
        For an unknown model or option.
    QuantityError, FormatError
        For a table that has several series, too few points, or nothing to fit.

    Notes
    -----
    The intervals of pieces hold the other switch points that the data allow as well; where one is in doubt they are
    much wider than the standard errors. `Fit.covariance` holds for the pieces that were found alone, and with it
    `Fit.sample`, `predict_band` and `chance`. Simulated with 3 % noise and outliers: in 0 to 5 of 100 runs with two
    pieces, and in up to 7 with three, an interval is more than three times as wide as the ideal one of least squares,
    since a switch point is ambiguous or a piece has few good points. With three bands of a copy, four points in the
    middle one and 10 % outliers, 86 to 95 % of the 95 % intervals hold the truth.

    Examples
    --------
    >>> from orrery_analytic.calibration import fit
    >>> n = [1, 1e3, 1e4, 1e5, 1e6, 1e7]
    >>> made = fit({"n": n, "seconds": [2e-6, 2.1e-6, 3e-6, 12e-6, 102e-6, 1002e-6]}, "hockney")
    >>> round(made.parameters["alpha"] * 1e6, 2), round(1e-9 / made.parameters["beta"], 2)
    (2.0, 10.0)
    """
    if isinstance(model, Cost):
        options, model = {"cost": model, **options}, _FORMULA
    name = choose("model", _usual(table) if model is None else model, MODELS)
    function = MODELS[name]
    allowed = list(inspect.signature(function).parameters)[1:]
    if "options" in allowed:
        allowed = [*allowed[:-1], *inspect.signature(collective_cost).parameters]
    for option in options:
        if option not in allowed:
            raise unknown_name(f"option of model {name!r}", option, allowed)
    if name not in _SEVERAL:
        if isinstance(table, tuple | list):
            raise QuantityError(f"model {name!r} takes one table, not several. Several go with {', '.join(_SEVERAL)}.")
        table = as_table(table)
    return function(table, **options)
