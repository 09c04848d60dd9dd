"""Switch points: where one straight line in n ends and the next begins, found and not given."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from orrery_analytic.calibration.linear import CAUCHY, Floats, scatter

__all__ = ["UNSURE", "Parting", "partings"]

_LEAST_POINTS = 4  # of a piece: two parameters, and two points to contradict them
_LEAST_GOOD = 3  # of these, how many may not be outliers
_GOOD = 9.0  # (3 sigma)**2
_SLOW = 0.05  # probability, per unit of log(seconds / line), of a point that was disturbed: that makes it slower
_FAST = 0.0015  # ... and of one that is too fast
_LEAST_CAP = 4.0
_LEAST_SIGMA = 2e-3
_PENALTY = 2.0  # by simulation: one straight line is taken for two in about 1 of 100 runs, with or without outliers
UNSURE = 6.0
"""A way whose misfit, in variances, is no more than this above the least one may be the right one, at 95 %."""

_MOST_PARTINGS = 300
_MOST_PLACES = 80  # where a piece may begin or end; of more sizes, evenly many
_ROUNDS = 14
_ROUNDING = 1e-9

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Parting:
    """A way to part the points, in order of size, into pieces with one latency and one time a byte each.

    Attributes
    ----------
    cuts
        Places where a piece begins, and the number of points: piece i is ``cuts[i] : cuts[i + 1]``.
    chance
        Its probability among the partings into as many pieces.
    """

    cuts: tuple[int, ...]
    chance: float


def _distances(n: Floats, seconds: Floats, first: Ints, stop: Ints, sigma: float) -> Floats:
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
        weight = inside / np.sqrt(1 + (r / (CAUCHY * scale[:, None])) ** 2)
    return np.where(inside, r, np.nan)


def _noise(n: Floats, seconds: Floats) -> float:
    """Return the relative spread about lines through six neighbours, whatever the pieces are."""
    width = min(6, len(n))
    if width <= 2:
        return 0.05
    first = np.arange(len(n) - width + 1)
    r = _distances(n, seconds, first, first + width, 0.02)
    return max(float(np.nanmedian(np.abs(r)) * 1.4826 * np.sqrt(width / (width - 2))), _LEAST_SIGMA)


@dataclass(frozen=True)
class _Ranges:
    """The lines through all ranges of points that may be a piece.

    Attributes
    ----------
    places
        Where a piece may begin or end.
    begin, end
        Of each range, which places.
    r
        Relative distances from the line of each range, a row each; NaN outside of it.
    """

    places: Ints
    begin: Ints
    end: Ints
    r: Floats


def _ranges(n: Floats, seconds: Floats, sigma: float) -> _Ranges:
    places = np.unique(np.linspace(0, len(n), min(len(n), _MOST_PLACES) + 1).round().astype(np.int64))
    begin, end = np.triu_indices(len(places), 1)
    keep = places[end] - places[begin] >= min(_LEAST_POINTS, len(n))
    begin, end = begin[keep], end[keep]
    return _Ranges(places, begin, end, _distances(n, seconds, places[begin], places[end], sigma))


@dataclass(frozen=True)
class _Partings:
    """The best ways to part the points into k = 1, 2, ... pieces, for a given standard deviation of the points.

    Attributes
    ----------
    misfit
        Of the line from one place to another; infinite where a piece would have too few points.
    left, right
        Row k, column i: the least misfit of k pieces from the start to place i, and from place i to the end.
    """

    misfit: Floats
    left: Floats
    right: Floats

    def near(self, k: int, above: float, most: int) -> list[tuple[tuple[int, ...], float]]:
        """Return partings into k pieces and by how much each misses more than the best, at most `above`, best first."""
        least = self.left[k, -1]
        waiting: list[tuple[float, tuple[int, ...]]] = [(0.0, (0,))] if np.isfinite(least) else []
        found: list[tuple[tuple[int, ...], float]] = []
        while waiting and len(found) < most:
            more, cuts = heapq.heappop(waiting)
            if len(cuts) == k + 1:
                found.append((cuts, more))
                continue
            so_far = sum(float(self.misfit[i, j]) for i, j in pairwise(cuts))
            over = np.maximum(so_far + self.misfit[cuts[-1]] + self.right[k - len(cuts)] - least, 0.0)
            for j in np.flatnonzero(over <= above + _ROUNDING):
                heapq.heappush(waiting, (float(over[j]), (*cuts, int(j))))
        return found


def _parted(ranges: _Ranges, sigma: float, most: int) -> _Partings:
    """Return the least misfits by dynamic programming over all places, from both ends."""
    count, points = len(ranges.places), ranges.r.shape[1]
    squares = (ranges.r / sigma) ** 2
    slow, fast = (max(-2 * np.log(p * sigma * np.sqrt(2 * np.pi)), _LEAST_CAP) for p in (_SLOW, _FAST))
    good = (squares < _GOOD).sum(axis=1) >= min(_LEAST_GOOD, points)
    good |= (ranges.begin == 0) & (ranges.end == count - 1)  # one piece there always is
    misfit = np.full((count, count), np.inf)
    capped = np.nansum(np.minimum(squares, np.where(ranges.r > 0, slow, fast)), axis=1)
    misfit[ranges.begin[good], ranges.end[good]] = capped[good]
    left, right = np.full((most + 1, count), np.inf), np.full((most + 1, count), np.inf)
    left[0, 0] = right[0, -1] = 0.0
    for k in range(most):
        left[k + 1] = (left[k][:, None] + misfit).min(axis=0)
        right[k + 1] = (misfit + right[k][None, :]).min(axis=1)
    return _Partings(misfit, left, right)


def _best(ranges: _Ranges, sigma: float, most: int) -> tuple[float, int, float, _Partings]:
    """Return the least criterion, the number of pieces, the standard deviation about them, and the partings."""
    points = ranges.r.shape[1]
    price = 3 * np.log(points) * _PENALTY
    row = {(i, j): at for at, (i, j) in enumerate(zip(ranges.begin.tolist(), ranges.end.tolist(), strict=True))}
    found = []
    start = _parted(ranges, sigma, most)
    for k in np.flatnonzero(np.isfinite(start.left[:, -1])).tolist():
        mine, parted = sigma, start
        for _ in range(2):
            for cuts, _ in parted.near(k, 0.0, 1):  # none, where a smaller sigma leaves a piece too few good points
                r = np.nansum([ranges.r[row[pair]] for pair in pairwise(cuts)], axis=0)
                mine = max(scatter(r, 3 * k - 1), _LEAST_SIGMA)
                parted = _parted(ranges, mine, most)
        total = float(parted.left[k, -1]) + 2 * points * float(np.log(mine)) + price * k
        found.append((total, k, mine, parted))
    return min(found, key=lambda each: each[0])


def partings(n: Floats, seconds: Floats, most: int = 4) -> list[Parting]:
    r"""Return the ways to part the points into pieces of seconds = latency + n * (time a byte), the likeliest first.

    Parameters
    ----------
    n, seconds : arrays
        Bytes in ascending order, each once, and times above 0.
    most : int
        The largest number of pieces.

    Notes
    -----
    A point at the relative distance r from the line of its piece adds :math:`\min(r^2 / \sigma^2, c)` to the misfit.
    That is -2 log of the likelihood of a normal distribution with outliers: :math:`c = -2 \log(p \sigma \sqrt{2 \pi})`
    with p their probability a unit of r. Outliers are slow far more often than fast, so that points which are too fast
    for a line seldom count as outliers of it.

    The best parting into k pieces, for each k, is found by dynamic programming over all places of the switches. The
    number of pieces is that of the least misfit plus :math:`2 N \log \sigma` plus a penalty, the Bayesian information
    criterion with three parameters a piece, where sigma is the spread about these k pieces. Each piece has at least
    four points, and at least three that are no outliers.

    A parting that misses by d more than the best one has :math:`e^{-d/2}` of its probability; those up to d = 6 are
    returned.
    """
    sigma = _noise(n, seconds)
    for _ in range(2):  # the lines depend on sigma a little
        ranges = _ranges(n, seconds, sigma)
        _, k, sigma, parted = _best(ranges, sigma, most)
    near = parted.near(k, UNSURE, _MOST_PARTINGS)
    chances = np.exp([-more / 2 for _, more in near])
    return [
        Parting(tuple(int(ranges.places[i]) for i in cuts), float(chance))
        for (cuts, _), chance in zip(near, chances / chances.sum(), strict=True)
    ]
