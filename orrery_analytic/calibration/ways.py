"""Switch points in doubt: the ways in which the data admit them, and intervals that hold all of these ways."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from scipy import stats
from scipy.special import ndtr

from orrery_analytic.calibration.fitted import Fit
from orrery_analytic.calibration.linear import Floats
from orrery_analytic.calibration.result import Way
from orrery_analytic.calibration.solve import MUCH
from orrery_analytic.units import readable

__all__ = ["doubted", "mixed"]

_LEVEL = 0.95
_TAILS = np.linspace(0.001, 1 - _LEVEL - 0.001, 25)  # holds the middle one, that of equal tails


def mixed(values: Floats, errors: Floats, chances: Floats) -> tuple[float, float]:
    """Return the shortest interval with 95 % of a mixture of normal distributions.

    Parameters
    ----------
    values, errors, chances : arrays
        Mean, standard deviation and probability of each.
    """
    errors = np.maximum(errors, 1e-300)
    shares = np.concatenate([_TAILS, _TAILS + _LEVEL])
    below = np.full(len(shares), float((values - 9 * errors).min()))
    above = np.full(len(shares), float((values + 9 * errors).max()))
    for _ in range(45):
        middle = (below + above) / 2
        small = ndtr((middle[:, None] - values) / errors) @ chances < shares
        below, above = np.where(small, middle, below), np.where(small, above, middle)
    low, high = above[: len(_TAILS)], above[len(_TAILS) :]
    width = high - low
    shortest = np.flatnonzero(width <= width.min() * (1 + 1e-6))  # of several, the one with the most equal tails
    best = shortest[np.argmin(np.abs(_TAILS[shortest] - (1 - _LEVEL) / 2))]
    return float(low[best]), float(high[best])


def doubted(fit: Fit, ways: Iterable[Way]) -> Fit:
    """Return a fit whose intervals and draws hold other ways of the switch points than the one that was found.

    Parameters
    ----------
    fit : Fit
        That of the likeliest way.
    ways : iterable of Way
        All of them, the one of `fit` first; `chance` is how likely each is next to the others.

    Notes
    -----
    The interval of a parameter is the shortest one that holds 95 % of the mean over all ways, weighted with their
    chances, each normal and as wide as Student's t makes that of one way.
    """
    likely = list(ways)
    total = sum(way.chance for way in likely)
    every = tuple(replace(way, chance=way.chance / total) for way in likely)
    if len(every) == 1 or fit.freedom <= 0:
        return replace(fit, ways=every)
    times = float(stats.t.ppf(0.975, fit.freedom)) / 1.96
    chances, values = np.array([way.chance for way in every]), np.array([way.values for way in every])
    intervals, worse = dict(fit.intervals), {}
    for i, name in enumerate(fit.names):
        if not np.isfinite(values[:, i]).all():  # a rate that has no limit
            continue
        errors = times * np.sqrt(np.maximum([way.covariance[i, i] for way in every], 0.0))
        (low, high), (least, most) = mixed(values[:, i], errors, chances), fit.intervals[name]
        intervals[name] = max(low, 0.0), high
        wider = (high - max(low, 0.0)) / max(most - least, 1e-300)
        if wider > MUCH or low <= 0 < least:
            worse[name] = wider
    made = replace(fit, intervals=intervals, ways=every)
    return replace(made, warnings=(*fit.warnings, *_doubt(made, worse)))


def _doubt(fit: Fit, worse: dict[str, float]) -> Sequence[str]:
    """Say where a switch point is in doubt, and what is known less well for it."""
    if not worse:
        return []
    switches = [name for name in fit.ways[0].switches if len({way.switches[name] for way in fit.ways}) > 1]
    where = " and ".join(f"{s} ({' to '.join(readable(end, 'B') for end in fit.intervals[s])})" for s in switches)
    told = ", ".join(f"that of {name} {times:.2g} times as wide" for name, times in worse.items())
    return [f"the data leave open where the switch lies: {where}. It makes intervals wider, {told}."]
