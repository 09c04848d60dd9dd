"""Where a choice changes with n at a given P: found between samples by bisection, for many P at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from orrery_analytic.decisions.whole import LARGEST_COUNT, LARGEST_SIZE, whole
from orrery_analytic.selection.best import Search
from orrery_analytic.selection.candidates import FANS, RADICES, SEGMENTS
from orrery_analytic.selection.plans import Plan
from orrery_analytic.selection.setting import Prices, axis

if TYPE_CHECKING:
    import pandas as pd

    from orrery_analytic.machines import Machine

__all__ = ["Borders", "borders", "sample_sizes", "stretches"]

#: Returns a whole number for what is chosen, for arrays of P and n that broadcast.
Choice = Callable[[np.ndarray, np.ndarray], np.ndarray]


class Borders(NamedTuple):
    """Stretches of one choice: arrays with an element for each. At P ranks, from `start` bytes on, `choice` holds."""

    P: np.ndarray
    start: np.ndarray
    choice: np.ndarray


def sample_sizes(largest: int = 2**30, each: int = 8) -> np.ndarray:
    """Return whole sizes from 1 to `largest` bytes: powers of two and the neighbours of each, and others between.

    Parameters
    ----------
    largest : int
        Bytes.
    each : int
        Samples from one power of two to the next.
    """
    top = np.log2(largest)
    between = np.floor(2.0 ** np.arange(0, top, 1 / each)).astype(np.int64)
    powers = 2 ** np.arange(int(top) + 1, dtype=np.int64)
    sizes = np.concatenate([between, powers - 1, powers, powers + 1, [largest]])
    return np.unique(sizes[(sizes >= 1) & (sizes <= largest)])


def stretches(choice: Choice, P: np.ndarray, n: np.ndarray, grid: np.ndarray, relative: float = 0.0) -> Borders:
    """Return the stretches of a choice over n, for each P, from samples of it and bisection between them.

    Parameters
    ----------
    choice : function of arrays of P and n
    P, n : 1-D arrays of whole numbers, n ascending
        Where it was sampled.
    grid : array (P, n)
        The choice there.
    relative : float
        Bisection ends when a border is known to this part of its size; 0 is exact, to the byte.

    Returns
    -------
    Borders
        In the order of P and then of n; the first stretch of each P begins at n[0]. A stretch between two samples
        that show the same choice is not found.
    """
    row, column = np.nonzero(grid[:, 1:] != grid[:, :-1])
    found = [(np.arange(P.size), np.full(P.size, n[0]), grid[:, 0])]
    low, end = n[column], n[column + 1]
    before, after = grid[row, column], grid[row, column + 1]
    while row.size:
        high, beyond = end.copy(), after.copy()
        while (wide := np.flatnonzero(high - low > np.maximum(1, relative * low))).size:
            middle = low[wide] + (high[wide] - low[wide]) // 2
            now = choice(P[row[wide]], middle)
            same = now == before[wide]
            low[wide] = np.where(same, middle, low[wide])
            high[wide] = np.where(same, high[wide], middle)
            beyond[wide] = np.where(same, beyond[wide], now)
        found.append((row, high, beyond))
        more = (beyond != after) & (high < end)  # something else lies between
        row, low, end = row[more], high[more].copy(), end[more]
        before, after = beyond[more], after[more]
    place, start, what = (np.concatenate(column) for column in zip(*found, strict=True))
    order = np.lexsort((start, place))
    return Borders(P[place[order]], start[order], what[order])


def borders(
    machine: Machine | str,
    collective: str,
    P: Any,
    n: Any = None,
    candidates: Sequence[str] | None = None,
    segment_bytes: Sequence[int] = SEGMENTS,
    fan: Sequence[int] = FANS,
    radix: Sequence[int] = RADICES,
    **options: Any,
) -> pd.DataFrame:
    """Return where the best choice changes with n, for each P: exact, in whole bytes.

    Parameters
    ----------
    machine, collective, candidates, segment_bytes, fan, radix, **options
        As in `best`.
    P : int or 1-D array
        Numbers of ranks.
    n : 1-D array, optional
        Sizes (bytes, or "1 MiB") between which borders are sought, at least two; unless given 1 B to 1 GiB, eight for
        each power of two. Where two neighbours have the same best choice, nothing is sought between them.

    Returns
    -------
    pandas.DataFrame
        A row for each stretch: `P`, `start` and `stop` (bytes; without `stop`; 0 for the last, which has no end),
        `algorithm`, `segment_bytes`, `fan`, and `seconds` at `start`.

    Raises
    ------
    UnknownNameError, QuantityError
        As `best`.
    """
    import pandas as pd

    search = Search.of(machine, collective, candidates, segment_bytes, fan, radix, **options)
    ranks = whole("P", axis("P", P), 1, LARGEST_SIZE)
    sizes = np.unique(whole("n", axis("n", sample_sizes() if n is None else n), 0, LARGEST_COUNT))
    seen: list[Plan] = []
    places: dict[Plan, int] = {}

    def choice(some_P: np.ndarray, some_n: np.ndarray) -> np.ndarray:
        _, place, plans = search.best(Prices(search.setting, some_P, some_n))
        for plan in plans:
            if places.setdefault(plan, len(seen)) == len(seen):
                seen.append(plan)
        return np.asarray(np.array([*(places[plan] for plan in plans), -1])[place])

    found = stretches(choice, ranks, sizes, choice(ranks[:, None], sizes[None, :]))
    least, _, _ = search.best(Prices(search.setting, found.P, found.start))
    last = np.append(found.P[1:] != found.P[:-1], True)
    none = Plan("")
    plans = [seen[i] if i >= 0 else none for i in found.choice]
    return pd.DataFrame(
        {
            "P": found.P,
            "start": found.start,
            "stop": np.where(last, 0, np.append(found.start[1:], 0)),
            "algorithm": [str(plan) for plan in plans],
            "segment_bytes": [plan.segment_bytes for plan in plans],
            "fan": [plan.fan for plan in plans],
            "seconds": least,
        }
    )
