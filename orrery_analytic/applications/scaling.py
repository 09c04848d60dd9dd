"""Phases of a program over P, in numbers: seconds of each, speedup, efficiency, shares."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from orrery_analytic.cost import Cost
from orrery_analytic.decisions.whole import LARGEST_SIZE, Integers, whole
from orrery_analytic.errors import QuantityError

if TYPE_CHECKING:
    import xarray as xr

    from orrery_analytic.machines import Machine

__all__ = ["ranks_of", "strong_scaling"]

Group = tuple[NDArray[np.bool_], Mapping[str, Cost | None]]


def ranks_of(machine: Machine, P: Any, nodes: Any) -> Integers:
    """Return the numbers of ranks, from `P` or from `nodes` full of them.

    Raises
    ------
    QuantityError
        If both or none are given, or they are no whole numbers in one dimension.
    """
    if (P is None) == (nodes is None):
        raise QuantityError("give either P=, numbers of ranks, or nodes=, numbers of full nodes.")
    given = whole("P", P, 1, LARGEST_SIZE) if nodes is None else whole("nodes", nodes, 1, LARGEST_SIZE)
    ranks = np.atleast_1d(given) * (1 if nodes is None else machine.ranks_per_node)
    if ranks.ndim != 1 or not ranks.size:
        raise QuantityError(f"P and nodes can be one number or several in a row, not an array of shape {ranks.shape}.")
    return whole("P", ranks, 1, LARGEST_SIZE)


def strong_scaling(
    machine: Machine,
    ranks: Integers,
    groups: Callable[[Integers], Iterable[Group]],
    times: Any,
    compute: Iterable[str],
) -> xr.Dataset:
    """Return seconds of each phase over P, and what follows from them.

    Parameters
    ----------
    machine : Machine
    ranks : array of int
    groups : function of an array of ranks
        Returns pairs: where in the array they hold, and the phases there, each the cost of one iteration; None is a
        phase without a formula.
    times : int
        Iterations.
    compute : iterable of str
        Phases that count as computing; the rest is communication.

    Returns
    -------
    Dataset
        Over P (with nodes beside it): seconds, one variable a phase, speedup over one rank, efficiency (speedup / P),
        compute_share and communication_share (of the seconds).
    """
    import xarray as xr

    points = np.append(ranks, 1)  # the last one is what speedup compares with
    phases: dict[str, NDArray[np.float64]] = {}
    for where, costs in groups(points):
        for name, cost in costs.items():
            phases.setdefault(name, np.full(points.shape, np.nan))
            if cost is not None:
                given = {symbol: machine.parameters[symbol] for symbol in cost.symbols if symbol in machine.parameters}
                phases[name][where] = times * cost.values(P=points[where], **given)["total"]
    total = np.sum(list(phases.values()), axis=0)
    computing = np.sum([phases[name] for name in compute], axis=0)
    speedup = total[-1] / total[:-1]
    units = {
        "seconds": (total[:-1], "s", "time of the run"),
        **{name: (value[:-1], "s", name) for name, value in phases.items()},
        "speedup": (speedup, "1", "speedup over one rank"),
        "efficiency": (speedup / ranks, "1", "speedup / P"),
        "compute_share": ((computing / total)[:-1], "1", "share of computing"),
        "communication_share": ((1 - computing / total)[:-1], "1", "share of communication"),
    }
    variables = {name: ("P", value, {"units": unit, "long_name": told}) for name, (value, unit, told) in units.items()}
    nodes = -(-ranks // machine.ranks_per_node)
    coordinates = {
        "P": ("P", ranks, {"units": "1", "long_name": "ranks"}),
        "nodes": ("P", nodes, {"units": "1", "long_name": "nodes"}),
    }
    return xr.Dataset(variables, coordinates, attrs={"machine": machine.name, "iterations": times})
