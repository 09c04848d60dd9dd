"""The fewest rules that hold: stretches of communicator sizes, and within each stretches of bytes with one candidate.

A rule file divides the communicator sizes into stretches, and for each of them the bytes into stretches. On each of
those one candidate is taken, which must be allowed at every point there. `cover` finds the division with the fewest
stretches of bytes in all, then with the fewest stretches of sizes, then with the least cost.

Both divisions are shortest paths from left to right: the best way to divide what lies left of a place, given what is
taken there, does not depend on what lies right of it (Bellman). With counts alone, going as far as any candidate is
allowed before taking a new one would give as few stretches; this finds the one of least cost among those as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Group", "cover"]


class Group(NamedTuple):
    """A stretch of communicator sizes, by the places of the first and the last, and its rules.

    Each rule is (cell, candidate): from this cell of bytes on, this candidate. The first begins at cell 0.
    """

    first: int
    last: int
    rules: tuple[tuple[int, int], ...]


def cover(
    allowed: NDArray[np.bool_], cost: NDArray[np.float64], tick: Callable[[int, int], None] = lambda done, of: None
) -> list[Group]:
    """Return the fewest rules so that what is taken is allowed everywhere, the cheapest of those.

    Parameters
    ----------
    allowed : array of bool (candidates, communicator sizes, cells of bytes)
        What may be taken where. Each cell of each size allows at least one candidate.
    cost : array of float, like allowed
        Not negative; looked at where allowed.
    tick : function of two whole numbers
        Called now and then with how many cells are done, and how many there are.
    """
    _, sizes, cells = allowed.shape
    priced = np.where(allowed, cost, 0.0)
    comm = 1 + float(priced.max(axis=0).sum())  # more than all costs together: fewer are always better
    rule = comm * (sizes + 1)
    # Sums over a stretch of sizes are differences of sums from the first size on.
    forbidden = _from_first(~allowed)
    sums = _from_first(priced)

    def step(first: Any, last: Any, cell: int) -> NDArray[np.float64]:
        wrong = forbidden[last + 1, cell] > forbidden[first, cell]
        return np.where(wrong, np.inf, sums[last + 1, cell] - sums[first, cell])

    first, last = np.triu_indices(sizes)
    total = np.full((first.size, allowed.shape[0]), rule)
    for cell in range(cells):
        total = np.minimum(total, total.min(axis=1, keepdims=True) + rule) + step(first, last, cell)
        if cell % 64 == 63:
            tick(cell + 1, cells)
    groups = _shortest(sizes, first, last, total.min(axis=1) + comm)
    return [Group(i, j, _rules(np.array([step(i, j, cell) for cell in range(cells)]), rule)) for i, j in groups]


def _from_first(values: NDArray[np.generic]) -> NDArray[np.float64]:
    """Return for each size the sums over all sizes before it, as (sizes + 1, cells, candidates)."""
    summed = np.cumsum(np.moveaxis(values, 0, 2), axis=0, dtype=np.float64)
    return np.concatenate([np.zeros((1, *summed.shape[1:])), summed])


def _shortest(
    sizes: int, first: NDArray[np.intp], last: NDArray[np.intp], price: NDArray[np.float64]
) -> list[tuple[int, int]]:
    """Return the stretches of sizes of least price in all."""
    least = np.full(sizes + 1, np.inf)
    least[0] = 0
    before = np.zeros(sizes + 1, dtype=np.intp)
    for end in range(1, sizes + 1):
        ways = np.flatnonzero(last == end - 1)
        prices = least[first[ways]] + price[ways]
        least[end], before[end] = prices.min(), first[ways[prices.argmin()]]
    found: list[tuple[int, int]] = []
    end = sizes
    while end > 0:
        found.insert(0, (int(before[end]), end - 1))
        end = int(before[end])
    return found


def _rules(steps: NDArray[np.float64], rule: float) -> tuple[tuple[int, int], ...]:
    """Return the stretches of one group from its costs (cells, candidates), infinite where not allowed."""
    came = np.empty(steps.shape, dtype=np.intp)
    total = np.full(steps.shape[1], rule)
    own = np.arange(total.size)
    for cell, costs in enumerate(steps):
        best = int(total.argmin())
        jumps = total[best] + rule < total
        came[cell] = np.where(jumps, best, own)
        total = np.where(jumps, total[best] + rule, total) + costs
    taken = [int(total.argmin())]
    for cell in range(len(steps) - 1, 0, -1):
        taken.append(int(came[cell, taken[-1]]))
    taken.reverse()
    return tuple((cell, what) for cell, what in enumerate(taken) if cell == 0 or what != taken[cell - 1])
