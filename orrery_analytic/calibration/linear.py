"""Relative, robust, non-negative least squares: seconds = offset + sum of columns times parameters, each at least 0.

Every formula here is linear in the parameters of the machine, so a fit of any of them is of this one form. The robust
part (which points are outliers) is done here; lmfit does the last, smooth part, with bounds, errors and correlations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize
from scipy.special import ndtri

from orrery_analytic.errors import OrreryError

__all__ = [
    "CAUCHY",
    "FAR",
    "LITTLE",
    "NEAR",
    "Estimate",
    "Floats",
    "covariance_of",
    "deviations",
    "estimate",
    "refine",
    "robust_values",
    "scatter",
    "spread",
]

FAR = 4.0
"""A point further from the model than this many standard deviations is an outlier."""

NEAR = 0.1
"""A point that is nearer to the model than this, relatively, is no outlier, however little the others scatter."""

WIDER = 1.2
"""Standard errors are taken this much wider: the search for outliers and switch points hides some of the spread."""

_LEAST_SPREAD = 1e-4  # printed times are rounded: below this, rounding would make outliers
CAUCHY = 2.385
"""The scale, in standard deviations, at which the weights of Cauchy keep 95 % of the efficiency."""

_LEAST = 1e-300
_LEAST_STEEP = 0.3

LITTLE = 1 / (1 + (FAR / CAUCHY) ** 2)
"""The weight of an outlier, if it is not set aside; its least one."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """Parameters that fit, and how sure they are.

    Attributes
    ----------
    values
        A number for each column.
    covariance
        Of the values; that of one at 0 is as if it were free.
    weights
        For each point its weight, 0 for an outlier.
    sigma
        Relative standard deviation of the points about the model.
    freedom
        Degrees of freedom of sigma: points that were used less parameters.
    minimized
        lmfit's MinimizerResult; its times are in microseconds, its times a byte in picoseconds.
    """

    values: Floats
    covariance: Floats
    weights: Floats
    sigma: float
    freedom: int
    minimized: Any


def spread(residuals: Floats, parameters: int = 0) -> float:
    """Return the standard deviation of residuals by a middle one of their sizes: outliers count little.

    With parameters fitted, as many of the residuals are near 0 for nothing; the middle one lies further out.
    """
    count = len(residuals)
    place = min((count + parameters + 1) // 2, count)
    size = float(np.sort(np.abs(residuals))[place - 1])
    share = min((place - 0.5) / count, 0.95) if count > 1 else 0.5
    wider = np.sqrt(count / max(count - parameters, 1))
    return max(size / float(ndtri((1 + share) / 2)) * float(wider), _LEAST_SPREAD)


def scatter(residuals: Floats, parameters: int = 0) -> float:
    """Return the standard deviation of residuals without those further than `FAR` of it: sharper than `spread`."""
    sigma = spread(residuals, parameters)
    for _ in range(5):
        kept = residuals[np.abs(residuals) <= FAR * sigma]
        sigma = max(float(np.sqrt((kept**2).sum() / max(len(kept) - parameters, 1))), _LEAST_SPREAD)
    return sigma


def deviations(columns: Floats, seconds: Floats, values: Floats, offset: Floats | float = 0.0) -> Floats:
    """Return log(seconds / model): the relative distance of each point, large where the model is 0."""
    return np.asarray(np.log(seconds) - np.log(np.maximum(offset + columns @ values, _LEAST)))


def _solve(columns: Floats, right: Floats) -> Floats:
    """Return the non-negative least squares solution, with columns brought to one size first."""
    size = np.linalg.norm(columns, axis=0)
    size[size == 0] = 1.0
    return np.asarray(optimize.nnls(columns / size, right)[0] / size)


def robust_values(
    columns: Floats, seconds: Floats, sigma: float, offset: Floats | float = 0.0, rounds: int = 25
) -> Floats:
    r"""Return the parameters that minimise the sum of :math:`\log(1 + (r / c \sigma)^2)`, r the relative distances.

    Gauss-Newton with Cauchy's weights, from the relative least squares solution, the scale c sigma narrowing from wide.
    """
    values = _solve(columns / seconds[:, None], 1 - offset / seconds)
    for turn in range(rounds):
        model = np.maximum(offset + columns @ values, _LEAST)
        r = np.clip(np.log(seconds) - np.log(model), -1.0, 1.0)
        weight = np.sqrt(_cauchy(r, max(sigma, spread(r, columns.shape[1]) if turn < rounds // 2 else 0.0)))
        new = _solve(columns * (weight / model)[:, None], weight * (1 + r - offset / model))
        if np.allclose(new, values, rtol=1e-10, atol=0):
            break
        values = new
    return values


def _cauchy(residuals: Floats, sigma: float) -> Floats:
    return np.asarray(1 / (1 + (residuals / (CAUCHY * sigma)) ** 2))


def estimate(
    columns: Floats, seconds: Floats, offset: Floats | float = 0.0, trim: bool = True
) -> tuple[Floats, Floats]:
    """Return parameters and the weight of each point for seconds = offset + columns @ parameters.

    Parameters
    ----------
    columns : array of points by parameters
        What each parameter is multiplied by at each point.
    seconds : array of points
        Measured times, above 0.
    offset : array of points, optional
        What is known of them, and needs no parameter.
    trim : bool
        Outliers, further than `FAR` standard deviations, have weight 0 and all others 1. Else each point has Cauchy's
        weight, and none is set aside: right where the model, and not a point, is wrong somewhere.
    """
    values = robust_values(columns, seconds, 0.05, offset)
    weights = np.ones(len(seconds))
    least = columns.shape[1]
    for _ in range(8):
        r = deviations(columns, seconds, values, offset)
        sigma = max(spread(r, least), 0.0 if trim else NEAR)
        weights = (np.abs(r) <= max(FAR * sigma, NEAR)).astype(float) if trim else _cauchy(r, sigma)
        if trim and weights.sum() <= least:
            weights = (np.argsort(np.argsort(np.abs(r))) <= least).astype(float)
        used = weights > 0
        known = offset[used] if isinstance(offset, np.ndarray) else offset
        # So wide a scale is plain least squares.
        new = robust_values(columns[used], seconds[used], 1e3 if trim else sigma, known)
        if np.allclose(new, values, rtol=1e-8, atol=0):
            break
        values = new
    return values, weights


def refine(
    names: list[str],
    scales: list[float],
    columns: Floats,
    seconds: Floats,
    offset: Floats | float,
    start: Floats,
    weights: Floats,
) -> Estimate:
    """Return the weighted least squares fit of log(seconds / model) by lmfit, each parameter bounded below by 0.

    Parameters
    ----------
    names, scales
        Of the parameters: the number that lmfit sees is the SI number times its scale, so that all are near 1.
    columns, seconds, offset
        As in `estimate`.
    start, weights
        What `estimate` returned.

    Raises
    ------
    OrreryError
        If lmfit is not installed.
    """
    try:
        import lmfit
    except ImportError:
        raise OrreryError("fits need lmfit. Install it with pip install 'orrery_analytic[calibration]'.") from None

    scale, used = np.array(scales), weights > 0
    known = np.broadcast_to(np.asarray(offset, dtype=float), seconds.shape)[used]
    matrix, logs, root = columns[used] / scale, np.log(seconds[used]), np.sqrt(weights[used])
    parameters = lmfit.Parameters()
    for name, value in zip(names, start * scale, strict=True):
        parameters.add(name, value=float(value), min=0.0)

    def residuals(p: Any) -> Floats:
        model = known + matrix @ np.array([p[name].value for name in names])
        return np.asarray(root * (logs - np.log(np.maximum(model, _LEAST))))

    freedom = int(used.sum()) - len(names)
    with np.errstate(all="ignore"):  # exact data have no spread to divide by
        minimized = lmfit.minimize(residuals, parameters, method="least_squares") if freedom > 0 else None
    values = np.array([minimized.params[name].value for name in names]) / scale if minimized else start.copy()
    values[(values < start) & (start == 0)] = 0.0
    values[np.abs(values) * scale < 1e-9] = 0.0  # the solver stays inside of its bounds, however little
    model = np.maximum(offset + columns @ values, _LEAST)
    relative, w = np.nan_to_num((columns / model[:, None])[used], posinf=0.0), weights[used]
    psi = w * (np.log(seconds) - np.log(model))[used]  # a point far off counts for no more than a near one
    steep = max(float(np.mean(2 * w**2 - w)), _LEAST_STEEP)  # d psi / d r of Cauchy's weights; 1 where all weights are
    sigma = max(float(np.sqrt((psi**2).sum() / max(freedom, 1))) / steep, _LEAST_SPREAD)
    # lmfit has the same covariance where all weights are 1, but none for exact data.
    return Estimate(values, covariance_of(relative, sigma), weights, sigma, freedom, minimized)


def covariance_of(relative: Floats, sigma: float) -> Floats:
    r"""Return :math:`(w \sigma)^2 (J^T J)^{-1}`, the covariance of parameters, with w = `WIDER`.

    Parameters
    ----------
    relative : array of points by parameters
        J, the derivatives of the logarithm of the model.
    sigma : float
        Standard deviation of the logarithms of the times.
    """
    size = np.linalg.norm(relative, axis=0)
    size[size == 0] = 1.0
    inverse = np.linalg.pinv((relative / size).T @ (relative / size)) / np.outer(size, size)
    return np.asarray((WIDER * sigma) ** 2 * inverse)
