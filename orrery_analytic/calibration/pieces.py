"""Switch points: where one straight line in n ends and the next begins, found and not given."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from orrery_analytic.calibration.linear import Floats

__all__ = ["Piece", "pieces"]

_LEAST_POINTS = 4  # of a piece: two parameters, and two points to contradict them
_CAP = 9.0  # (3 sigma)**2: a point that is further away is an outlier, whichever piece it is in
# The next three were set by simulation (3 % noise, none to 15 % outliers, 9 to 49 sizes, one to three pieces): the
# right number of pieces in 95 of 100 runs, and the switch points inside of their intervals.
_UNSURE = 6.0
_PENALTY = 1.5
_DOUBT = 4.0  # the noise of few points is taken larger than it looks
_MOST_PLACES = 80  # where a piece may begin or end; of more sizes, evenly many
_CAUCHY = 2.385
_ROUNDS = 14

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Piece:
    """A range of sizes with one latency and one time a byte.

    Attributes
    ----------
    first, last
        Places of its first and its last point among the points in order of size.
    last_between
        The least and the largest place that could be its last, at 95 %.
    """

    first: int
    last: int
    last_between: tuple[int, int]


def _lines(n: Floats, seconds: Floats, first: Ints, stop: Ints, sigma: float) -> Floats:
    """Return the relative distances of the points of many ranges from the robust line of each, NaN outside of it.

    The same as `robust_values` of two columns, 1 and n, with all ranges at once: ranges are rows, points columns.
    """
    place = np.arange(len(n))
    inside = (place >= first[:, None]) & (place < stop[:, None])
    size = n / max(float(n.max()), 1.0)
    weight, model, r = inside.astype(float), np.broadcast_to(seconds, inside.shape), np.zeros(inside.shape)
    for turn in range(_ROUNDS):
        a, b, y = weight / model, weight * size / model, weight * (1 + r)
        aa, ab, bb, ay, by = ((p * q).sum(1) for p, q in ((a, a), (a, b), (b, b), (a, y), (b, y)))
        with np.errstate(all="ignore"):
            determinant = aa * bb - ab**2
            alpha, beta = (bb * ay - ab * by) / determinant, (aa * by - ab * ay) / determinant
            flat = ~(determinant > 1e-12 * aa * bb) | (beta < 0)
            alpha, beta = np.where(flat, ay / aa, alpha), np.where(flat, 0.0, beta)
            through = alpha < 0
            alpha, beta = np.where(through, 0.0, alpha), np.where(through, by / bb, beta)
        model = np.maximum(alpha[:, None] + beta[:, None] * size, 1e-300)
        r = np.log(seconds) - np.log(model)
        if turn == _ROUNDS - 1:
            break
        r = np.clip(r, -1.0, 1.0)
        scale = np.full(len(first), sigma)
        if turn < _ROUNDS // 2:
            scale = np.maximum(scale, 1.4826 * np.nanmedian(np.where(inside, np.abs(r), np.nan), axis=1))
        weight = inside / np.sqrt(1 + (r / (_CAUCHY * scale[:, None])) ** 2)
    return np.where(inside, r, np.nan)


def _noise(n: Floats, seconds: Floats) -> float:
    """Return the relative spread about lines through six neighbours, whatever the pieces are."""
    width = min(6, len(n))
    if width <= 2:
        return 0.05
    first = np.arange(len(n) - width + 1)
    r = _lines(n, seconds, first, first + width, 0.02)
    return max(float(np.nanmedian(np.abs(r)) * 1.4826 * np.sqrt(width / (width - 2))), 2e-3) * (1 + _DOUBT / len(n))


def _misfits(n: Floats, seconds: Floats, sigma: float, places: Ints) -> dict[tuple[int, int], float]:
    """Return the misfit of the line of every range of at least two points between two places."""
    first, stop = (part.ravel() for part in np.meshgrid(places, places, indexing="ij"))
    keep = stop - first >= 2
    first, stop = first[keep], stop[keep]
    r = _lines(n, seconds, first, stop, sigma)
    misfit = np.nansum(np.minimum((r / sigma) ** 2, _CAP), axis=1)
    return {(int(i), int(j)): float(m) for i, j, m in zip(first, stop, misfit, strict=True)}


def pieces(n: Floats, seconds: Floats, most: int = 4) -> list[Piece]:
    """Return the pieces of seconds = latency + n * (time a byte), in order of size.

    Parameters
    ----------
    n, seconds : arrays
        Bytes in ascending order, each once, and times above 0.
    most : int
        The largest number of pieces.

    Notes
    -----
    Dynamic programming over all places of the switches, for the least sum of squared relative distances, each capped so
    that an outlier makes no piece of its own; the number of pieces by the Bayesian information criterion, with three
    parameters a piece. Each has at least four points.
    """
    count = len(n)
    sigma = _noise(n, seconds)
    places = np.unique(np.linspace(0, count, min(count, _MOST_PLACES) + 1).round().astype(np.int64))
    misfit = _misfits(n, seconds, sigma, places) if count >= 2 else {(0, count): 0.0}
    least = min(_LEAST_POINTS, count)
    best: dict[tuple[int, int], tuple[float, tuple[int, ...]]] = {(0, 0): (0.0, (0,))}
    for k in range(1, most + 1):  # (pieces, points covered) -> least misfit, and the places of the switches
        for j in map(int, places):
            options = [
                (best[k - 1, i][0] + misfit[i, j], (*best[k - 1, i][1], j))
                for i in map(int, places[places <= j - least])
                if (k - 1, i) in best
            ]
            if options:
                best[k, j] = min(options)
    price = 3 * np.log(count) * _PENALTY
    cuts = min((best[k, count][0] + price * k, best[k, count][1]) for k in range(1, most + 1) if (k, count) in best)[1]
    return [
        Piece(i, j - 1, _between(misfit, places, i, j, cuts[at + 2]) if j < count else (j - 1, j - 1))
        for at, (i, j) in enumerate(pairwise(cuts))
    ]


def _between(misfit: dict[tuple[int, int], float], places: Ints, i: int, j: int, end: int) -> tuple[int, int]:
    """Return the least and the largest last place of the piece from i to j - 1, whose successor ends before `end`."""
    here = misfit[i, j] + misfit[j, end]
    can = [c for c in map(int, places) if i + 2 <= c <= end - 2 and misfit[i, c] + misfit[c, end] <= here + _UNSURE]
    return min(can) - 1, max(can) - 1
