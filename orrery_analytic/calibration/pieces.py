"""Switch points: where one straight line in n ends and the next begins, found and not given."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from orrery_analytic.calibration.linear import Floats, scatter

__all__ = ["UNSURE", "Piece", "pieces"]

UNSURE = 6.0
"""A segmentation whose misfit is no more than this above the least one may be the right one, at 95 %."""

_LEAST_POINTS = 4  # of a piece: two parameters, and two points to contradict them
_LEAST_GOOD = 3  # of these, how many may not be outliers
_CAP = 9.0  # (3 sigma)**2: a point that is further away is an outlier, whichever piece it is in
_PENALTY = 1.75  # by simulation: one straight line is taken for two in about 2 of 100 runs, with or without outliers
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
    others
        Other ranges (first, last, misfit) that the piece may have: by how much the points are further off then, in
        variances, at most `UNSURE`.
    """

    first: int
    last: int
    last_between: tuple[int, int]
    others: tuple[tuple[int, int, float], ...] = ()


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
    return max(float(np.nanmedian(np.abs(r)) * 1.4826 * np.sqrt(width / (width - 2))), 2e-3)


@dataclass(frozen=True)
class _Segments:
    """The best ways to part the points into k = 1, 2, ... pieces, for a given standard deviation of the points.

    Attributes
    ----------
    places
        Where a piece may begin or end.
    misfit
        Of the line from one place to another: the sum of squared distances in variances, each at most `_CAP`; infinite
        where a piece would have too few points.
    left, right
        Row k, column i: the least misfit of k pieces from the start to place i, and from place i to the end.
    """

    places: Ints
    misfit: Floats
    left: Floats
    right: Floats

    def cuts(self, k: int) -> list[int]:
        """Return the indices of the places at which the best k pieces begin and end."""
        at = [len(self.places) - 1]
        for m in range(k - 1, -1, -1):
            at.append(int(np.argmin(self.left[m] + self.misfit[:, at[-1]])))
        return at[::-1]


def _segments(n: Floats, seconds: Floats, sigma: float, places: Ints, most: int) -> _Segments:
    """Return the least misfits by dynamic programming over all places, from both ends."""
    count = len(places)
    begin, end = (part.ravel() for part in np.meshgrid(np.arange(count), np.arange(count), indexing="ij"))
    keep = places[end] - places[begin] >= min(_LEAST_POINTS, len(n))
    begin, end = begin[keep], end[keep]
    squares = (_lines(n, seconds, places[begin], places[end], sigma) / sigma) ** 2
    good = np.nansum(squares < _CAP, axis=1) >= min(_LEAST_GOOD, len(n))
    good |= (begin == 0) & (end == count - 1)  # one piece there always is
    misfit = np.full((count, count), np.inf)
    misfit[begin[good], end[good]] = np.nansum(np.minimum(squares, _CAP), axis=1)[good]
    left, right = np.full((most + 1, count), np.inf), np.full((most + 1, count), np.inf)
    left[0, 0] = right[0, -1] = 0.0
    for k in range(most):
        left[k + 1] = (left[k][:, None] + misfit).min(axis=0)
        right[k + 1] = (misfit + right[k][None, :]).min(axis=1)
    return _Segments(places, misfit, left, right)


def _spread(n: Floats, seconds: Floats, found: _Segments, k: int, sigma: float) -> float:
    """Return the standard deviation of the points about the best k pieces, without outliers."""
    cuts = found.places[found.cuts(k)]
    r = np.nansum(_lines(n, seconds, cuts[:-1], cuts[1:], sigma), axis=0)
    return max(scatter(r, 3 * k - 1), 2e-3)


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
    parameters a piece. The variance is that about one piece more than were found, so that a switch that is missed does
    not hide in it. Each piece has at least four points, and at least three that are no outliers.
    """
    count = len(n)
    sigma = _noise(n, seconds)
    places = np.unique(np.linspace(0, count, min(count, _MOST_PLACES) + 1).round().astype(np.int64))
    price = 3 * np.log(count) * _PENALTY * np.arange(most + 1)
    k = 0
    for _ in range(4):
        found = _segments(n, seconds, sigma, places, most)
        possible = np.flatnonzero(np.isfinite(found.left[:, -1]))
        before, k = k, int(possible[np.argmin((found.left[:, -1] + price)[possible])])
        if k == before:
            break
        more = min(k + 1, int(possible[-1]))
        sigma = _spread(n, seconds, found, more, sigma)
    cuts, least = found.cuts(k), found.left[k, -1]
    out = []
    for m, (i, j) in enumerate(pairwise(cuts), start=1):
        through = found.left[m] + found.right[k - m] - least
        may = places[through <= UNSURE] - 1
        between = (int(may.min()), int(may.max())) if m < k else (count - 1, count - 1)
        over = found.left[m - 1][:, None] + found.misfit + found.right[k - m][None, :] - least
        others = tuple(
            (int(places[a]), int(places[b]) - 1, max(float(over[a, b]), 0.0))
            for a, b in np.argwhere(over <= UNSURE)
            if (a, b) != (i, j)
        )
        out.append(Piece(int(places[i]), int(places[j]) - 1, between, others))
    return out
