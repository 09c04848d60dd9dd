"""Uncertainty to the end: predictions with bands, and the probability that one algorithm beats another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from orrery_analytic.calibration.fitted import Fit
from orrery_analytic.calibration.glue import advice, pieces
from orrery_analytic.cost import Cost
from orrery_analytic.errors import QuantityError
from orrery_analytic.units import in_si, shown

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["chance", "predict_band"]


def _seconds(
    costs: tuple[Cost, ...], fit: Any, P: Any, n: Any, machine: Any, draws: int | None, seed: int = 0
) -> list[Any]:
    """Return the seconds of costs, arrays (draw, P, n), with the same draws of the parameters in all of them.

    Without a number of draws there is one, of the parameters as they were fitted.
    """
    for cost in costs:
        if not isinstance(cost, Cost):
            raise QuantityError(f"a Cost is allowed, such as collective_cost(...) returns, not {shown(cost)}.")
    if not isinstance(fit, Fit):
        raise QuantityError(f"a fit is allowed, as oa.fit(...) returns it, not {shown(fit)}.")
    asked = {name for cost in costs for name in cost.symbols}
    if not asked & set(fit.parameters) and pieces(fit):
        raise QuantityError(
            f"the parameters of this fit ({', '.join(fit.parameters)}) are those of pieces, the formula has "
            f"{', '.join(sorted(asked - {'P', 'n'}))}. {advice(fit)}."
        )
    if not asked & set(fit.parameters):
        raise QuantityError(
            f"no parameter of this fit ({', '.join(fit.parameters)}) is in the formula ({', '.join(sorted(asked))}): "
            'the fit says nothing of it. Allowed: a fit of its parameters, as with model="hockney", or another Cost.'
        )
    others: Mapping[str, Any] = {}
    if machine is not None:
        if isinstance(machine, str):
            from orrery_analytic.machines import load_machine

            machine = load_machine(machine)
        others = getattr(machine, "parameters", machine)
        if not isinstance(others, Mapping):
            raise QuantityError(f"machine is a machine or a mapping of symbols to numbers, not {shown(machine)}.")
    fitted = fit.parameters if draws is None else fit.sample(draws, seed)
    values = {**others, **{name: np.reshape(value, (-1, 1, 1)) for name, value in fitted.items()}}
    for name, given in (("P", P), ("n", n)):
        if np.ndim(given) > 1 or not np.size(given):
            raise QuantityError(f"{name} = {shown(given)} is refused. Allowed: a number or a 1-D array of them.")
    ranks, sizes = np.atleast_1d(P)[:, None], np.atleast_1d(n)
    return [cost(P=ranks, n=sizes, **{s: values[s] for s in cost.symbols if s in values}) for cost in costs]


def predict_band(
    cost: Cost, fit: Fit, P: Any, n: Any, machine: Any = None, level: float = 0.95, draws: int = 2000, seed: int = 0
) -> xr.Dataset:
    """Return what a cost comes to with the parameters of a fit, and the band within which their uncertainty leaves it.

    Parameters
    ----------
    cost : Cost
        Its symbols are parameters of the fit, or of `machine`.
    fit : Fit
        Of one in pieces take a piece: ``fit.piece("64 KiB")``.
    P, n : number or 1-D array
        Ranks; bytes, or text ("1 MiB").
    machine : Machine, str or mapping, optional
        Numbers for the symbols that were not fitted; they have no uncertainty.
    level : float
        Probability of the band, between 0 and 1.
    draws, seed : int
        Of the parameters; the same seed gives the same band.

    Returns
    -------
    xarray.Dataset
        dims P, n; seconds, low, high. The band is that of the mean time: single measurements scatter about it by
        `fit.sigma` more. Where a switch point may lie on either side of n, it holds both pieces: `Fit.sample`.
    """
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
        raise QuantityError(f"level must be between 0 and 1, but {shown(level)} was given.")
    import xarray as xr

    n = in_si(n, "B", "n")
    [drawn] = _seconds((cost,), fit, P, n, machine, draws, seed)
    [centre] = _seconds((cost,), fit, P, n, machine, None)
    shape = (max(int(np.size(P)), 1), max(int(np.size(n)), 1))
    drawn = np.broadcast_to(drawn, (np.shape(drawn)[0] if np.ndim(drawn) == 3 else 1, *shape))
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2], axis=0)
    units = {"units": "s"}
    middle = np.broadcast_to(centre, (1, *shape))[0]
    return xr.Dataset(
        {name: (("P", "n"), value, units) for name, value in (("seconds", middle), ("low", low), ("high", high))},
        {"P": ("P", np.atleast_1d(P), {"units": "1"}), "n": ("n", np.atleast_1d(n), {"units": "B"})},
        attrs={"level": level, "fit": fit.model, "source": fit.source},
    )


def chance(
    first: Cost, second: Cost, fit: Fit, P: Any, n: Any, machine: Any = None, draws: int = 2000, seed: int = 0
) -> xr.DataArray:
    """Return the probability that the first cost is the smaller one, given how sure the fit is of its parameters.

    Parameters are as in `predict_band`; both costs see the same draws. Equal costs count one half.

    Returns
    -------
    xarray.DataArray
        dims P, n; from 0 to 1.
    """
    import xarray as xr

    n = in_si(n, "B", "n")
    a, b = _seconds((first, second), fit, P, n, machine, draws, seed)
    shape = (max(int(np.size(P)), 1), max(int(np.size(n)), 1))
    better = (np.asarray(a) < b) + 0.5 * (np.asarray(a) == b)
    better = np.broadcast_to(better, (np.shape(better)[0] if np.ndim(better) == 3 else 1, *shape))
    coordinates = {"P": np.atleast_1d(P), "n": np.atleast_1d(n)}
    return xr.DataArray(better.mean(axis=0), coordinates, ("P", "n"), name="chance")
