"""The models that a table can be fitted with, by name, and the one verb that fits."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from orrery_analytic.calibration.bounce import fit_bounce
from orrery_analytic.calibration.copies import copies
from orrery_analytic.calibration.fitted import Fit
from orrery_analytic.calibration.formula import collective, kernel
from orrery_analytic.calibration.lines import bandwidth, hockney, hockney_pieces
from orrery_analytic.calibration.loggp import loggp
from orrery_analytic.calibration.overhead import call
from orrery_analytic.calibration.points import as_table, numbers, unusable
from orrery_analytic.calibration.reduction import reduction
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
    A switch point is no certain number: the intervals of pieces, `Fit.sample`, `predict_band` and `chance` go over all
    places that the data admit, each with its likelihood (`Fit.ways`). Simulated with 3 % noise and up to 10 % outliers,
    of 25 sizes in two or three pieces the 95 % intervals hold the truth in 90 to 98 of 100 runs. One is more than
    three times as wide as that of least squares, with outliers and switch points known, in at most 3 of 100 runs with
    two pieces, in up to 17 with three: there outliers lie next to a switch point, and the data cannot tell. Repeats of
    each size help (at most 1). Of 12 sizes with 10 % outliers it is up to 16, and the truth is held in 87 to 97 runs;
    of three bands with four sizes in the middle one in 88 to 93. Mostly `Fit.warnings` says so, not always.

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
        made = function(table, **options)
        return replace(made, warnings=(*unusable(table), *made.warnings))
    return function(table, **options)
