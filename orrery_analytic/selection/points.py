"""`Points`: what the library takes, what then runs and what that costs, over a grid of P, n and machine numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from orrery_analytic.collectives.registry import formulas
from orrery_analytic.cost import TERM_NAMES
from orrery_analytic.selection.plans import Plan
from orrery_analytic.selection.setting import Setting

__all__ = ["Grid", "Points"]

#: Points that are decided at once, where P has several: names of algorithms take 128 bytes a point, and more than once.
_AT_ONCE = 2**16


class Grid(NamedTuple):
    """What is known at the points of a grid.

    Attributes
    ----------
    seconds : array (P, n, keys ...)
    terms : dict of str to array
        As `seconds`, in the order of `TERM_NAMES`: those that come up.
    algorithm, runs : array (P, n) of str objects
    """

    seconds: np.ndarray
    terms: dict[str, np.ndarray]
    algorithm: np.ndarray
    runs: np.ndarray


@dataclass(frozen=True)
class Points:
    """A call on a machine at many P and n.

    Attributes
    ----------
    setting : Setting
    algorithm : str, optional
        What the library is told to take.
    keys : tuple of str
        Keys of the machine file that have several values, each a dimension.
    """

    setting: Setting
    algorithm: str | None = None
    keys: tuple[str, ...] = ()

    def terms(self) -> list[str]:
        """Return the names of all terms that may come up, whatever P and n are, in the order of `TERM_NAMES`."""
        plans = [Plan(name) for name in formulas(self.setting.collective)]
        if self.algorithm is not None:
            plans.append(Plan(self.algorithm))
        costs = [self.setting.cost(plan) for plan in plans]
        found = {name for cost in costs if cost is not None for name in cost.terms}
        return [name for name in TERM_NAMES if name in found]

    def at(self, P: np.ndarray, n: np.ndarray, *values: np.ndarray) -> Grid:
        """Return what is known at all combinations of one-dimensional arrays, `values` those of `keys` in SI units.

        Raises
        ------
        QuantityError
            For numbers out of range.
        """
        from orrery_analytic.machines import MACHINE_KEYS

        shape = (P.size, n.size, *(a.size for a in values))
        numbers: dict[str, Any] = dict(self.setting.machine.parameters)
        for i, (key, axis) in enumerate(zip(self.keys, values, strict=True)):
            info = MACHINE_KEYS[key]
            along = axis.reshape(-1, *(1 for _ in values[i + 1 :]))
            numbers[str(info.symbol)] = 1 / along if info.inverse else along
        grid = Grid(np.full(shape, np.nan), {}, *(np.empty(shape[:2], dtype=object) for _ in range(2)))
        step = max(1, _AT_ONCE // max(n.size, 1))
        for start in range(0, P.size, step):
            self._fill(grid, slice(start, start + step), P, n, numbers)
        for term in grid.terms.values():
            term[np.isnan(term) & ~np.isnan(grid.seconds)] = 0.0  # a term that an algorithm does not have
        return grid._replace(terms={name: grid.terms[name] for name in TERM_NAMES if name in grid.terms})

    def _fill(self, grid: Grid, rows: slice, P: np.ndarray, n: np.ndarray, numbers: dict[str, Any]) -> None:
        """Fill in some rows of the grid."""
        ranks, sizes = np.broadcast_arrays(P[rows, None], n[None, :])
        chosen, index, found = self.setting.plans(ranks, sizes, self.algorithm)
        for name in set(chosen.ravel().tolist()):  # one object for each name, not one for each point
            grid.algorithm[rows][chosen == name] = name
        grid.runs[rows] = np.array([str(plan) for plan in found], dtype=object)[index]
        points = (-1, *(1 for _ in self.keys))
        for i, plan in enumerate(found):
            cost, here = self.setting.cost(plan), index == i
            if cost is None or not here.any():
                continue
            given = {name: numbers[name] for name in cost.symbols if name in numbers}
            parts = cost.values(P=ranks[here].reshape(points), n=sizes[here].reshape(points), **given)
            grid.seconds[rows][here] = parts.pop("total")
            for name, seconds in parts.items():
                if name not in grid.terms:
                    grid.terms[name] = np.full(grid.seconds.shape, np.nan)
                grid.terms[name][rows][here] = seconds
