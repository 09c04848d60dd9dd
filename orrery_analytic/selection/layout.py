"""The points of a search for rules, and those that measure what it found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from orrery_analytic.decisions.rule_files.records import QUANTITIES
from orrery_analytic.decisions.whole import power_of_two_below

__all__ = ["Layout"]

_LARGEST = 2**30
_NO_MORE = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Layout:
    """Sizes at some numbers of ranks.

    Attributes
    ----------
    ranks : array (K,)
    cells : array (T,)
        Where rules may begin: bytes as a rule file compares them. One alone where the library looks at no bytes.
    n : array (K, N)
        Bytes of a call at the points of the search: column k lies in cell k, unless there is but one cell.
    used : array of bool (K, N)
        Which of them are points.
    held_out, held_out_used : arrays (K, M)
        The same for sizes between those, none of which is among them.
    outside : array of bool (K, T)
        Cells that hold no size from the least to the largest of those given: rules say nothing there.
    """

    ranks: NDArray[np.int64]
    cells: NDArray[np.int64]
    n: NDArray[np.int64]
    used: NDArray[np.bool_]
    held_out: NDArray[np.int64]
    held_out_used: NDArray[np.bool_]
    outside: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        collective: str,
        ranks: NDArray[np.int64],
        sizes: NDArray[np.int64] | None,
        segments: tuple[int, ...],
        itemsize: int,
    ) -> Layout:
        """Return the layout of a collective.

        Parameters
        ----------
        collective : str
        ranks : array
            Ascending.
        sizes : array, optional
            Bytes of a call, ascending; unless given, those of `_default`, of whole elements. Cells end where they do.
        segments : tuple of int
            Segment sizes that are tried.
        itemsize : int
            Bytes of an element.
        """
        scale = ranks[:, None] if QUANTITIES[collective] == "P n" else np.ones_like(ranks)[:, None]
        multiple = itemsize if sizes is None else 1
        edges = _default(ranks, segments, itemsize, scale) if sizes is None else _given(sizes, scale)
        n = _least(edges, scale, multiple)
        used = scale * n < np.append(edges[1:], _NO_MORE)  # or no size of this P lies in the cell
        between = np.sqrt(edges[:-1].astype(float) * edges[1:]).astype(np.int64)
        held_out = _least(between, scale, multiple)
        cells = np.append(0, edges[1:])
        outside = np.zeros((ranks.size, cells.size), dtype=bool)
        new = np.ones(held_out.shape, dtype=bool)
        if sizes is not None:
            used &= np.isin(n, sizes)
            # A call without elements asks for no algorithm: 0 belongs to 1.
            outside = (cells < scale * (sizes[0] if sizes[0] > 1 else 0)) | (cells > scale * sizes[-1])
            new = (held_out >= sizes[0]) & (held_out <= sizes[-1])
        for row, (held, searched) in enumerate(zip(held_out, np.where(used, n, -1), strict=True)):
            first = np.zeros(held.shape, dtype=bool)
            first[np.unique(held, return_index=True)[1]] = True
            new[row] &= first & ~np.isin(held, searched) & (held <= searched.max())
        if QUANTITIES[collective] not in ("n", "P n"):
            cells, outside = cells[:1], np.zeros((ranks.size, 1), dtype=bool)
        return cls(ranks, cells, n, used, held_out, new, outside)

    def points(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
        """Return P and n of all points, and which of them are held out."""
        n = np.concatenate([self.n, self.held_out], axis=1)
        used = np.concatenate([self.used, self.held_out_used], axis=1)
        held_out = np.arange(n.shape[1]) >= self.n.shape[1]
        return (
            np.broadcast_to(self.ranks[:, None], n.shape)[used],
            n[used],
            np.broadcast_to(held_out, n.shape)[used],
        )


def _default(
    ranks: NDArray[np.int64], segments: tuple[int, ...], itemsize: int, scale: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return sixteen sizes to an octave, in round numbers, and those where algorithms hand over to others.

    These are fewer elements than ranks, or than their largest power of two, or than a segment for each rank.
    """
    grid = [2**k * part // 16 for k in range(_LARGEST.bit_length()) for part in range(16, 32)]
    pieces = np.array([itemsize, *(size for size in segments if size)])
    over = np.multiply.outer(np.append(ranks, power_of_two_below(ranks)), pieces).ravel() if scale.max() == 1 else []
    edges = np.unique(np.concatenate([np.array(grid), np.asarray(over, dtype=np.int64)]))
    return edges[edges <= _LARGEST]


def _given(sizes: NDArray[np.int64], scale: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where cells begin for sizes that were given: at 0, at each of them, and right after the last."""
    return np.unique(np.concatenate([[0], (scale * sizes).ravel(), (scale * sizes[-1] + 1).ravel()]))


def _least(starts: NDArray[np.int64], scale: NDArray[np.int64], multiple: int) -> NDArray[np.int64]:
    """Return for each P and each start the least n that is compared as so many bytes or more."""
    return multiple * -(-starts // (scale * multiple))
