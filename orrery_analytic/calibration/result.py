"""What a fit found, as data: parameters with their uncertainty, the points behind them, what the data cannot tell."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from orrery_analytic.calibration.linear import Floats
from orrery_analytic.decisions.whole import one
from orrery_analytic.errors import QuantityError

__all__ = ["Given", "Result", "Way", "correlations"]


@dataclass(frozen=True)
class Given:
    """What a key of a machine file takes of a fit: `factor` times a parameter, or one over it for a bandwidth.

    It is `derived` where it was not that number that was measured. Where it is what the parameter is more than another
    one, that is `less`.
    """

    parameter: str
    factor: float = 1.0
    derived: bool = False
    less: str = ""

    def of(self, parameters: Mapping[str, float]) -> float:
        """Return the number, of parameters by name."""
        return self.factor * (parameters[self.parameter] - (parameters[self.less] if self.less else 0.0))


@dataclass(frozen=True, eq=False)
class Way:
    """A way in which the switch points may lie, and what the other parameters are then.

    Attributes
    ----------
    chance : float
        Its probability.
    values, covariance : arrays
        Of the parameters in `names` of the fit.
    switches : mapping of str to (low, high)
        The last size before each switch point, and the first one after it.
    """

    chance: float
    values: Floats
    covariance: Floats
    switches: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def draws(self, normal: Floats) -> Floats:
        """Return draws of the parameters, with the covariance, from rows of independent normal numbers."""
        size = np.sqrt(np.maximum(np.diag(self.covariance), 0.0))
        size = np.where(np.isfinite(size), size, 0.0)
        values, vectors = np.linalg.eigh(correlations(self.covariance))  # covariances span twenty orders of magnitude
        return np.asarray(self.values + (normal * np.sqrt(np.maximum(values, 0.0))) @ vectors.T * size)


def correlations(covariance: Floats) -> Floats:
    """Return a covariance divided by standard deviations, 0 where these are 0 or not finite."""
    size = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    with np.errstate(all="ignore"):
        return np.asarray(np.nan_to_num(covariance / np.outer(size, size), posinf=0.0, neginf=0.0))


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """What a fit found, as data: `Fit` says what each attribute is."""

    model: str
    source: str
    names: tuple[str, ...]
    parameters: Mapping[str, float]
    stderr: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]]
    covariance: Floats
    units: Mapping[str, str]
    points: pd.DataFrame
    sigma: float
    freedom: int
    ways: tuple[Way, ...]
    warnings: tuple[str, ...] = ()
    gives: Mapping[str, Given] = field(default_factory=dict)
    network: Any = None
    minimized: Any = None
    shared: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("parameters", "stderr", "intervals", "units", "gives"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    @cached_property
    def correlations(self) -> pd.DataFrame:
        """Correlations between the parameters in `names`."""
        return pd.DataFrame(correlations(self.covariance), self.names, self.names)

    @property
    def undetermined(self) -> dict[str, str]:
        """Why the data do not determine a parameter, for each of those."""
        told = f"{' and '.join(self.shared)} cannot be told apart"
        out = dict.fromkeys(self.shared, told)
        for name, (low, high) in self.intervals.items():
            if name not in out and self.freedom > 0 and self.units[name] != "B":
                if self.units[name] == "B/s" and math.isinf(high):
                    out[name] = f"{name} cannot be told from infinity"
                elif self.units[name] != "B/s" and low <= 0:
                    out[name] = f"{name} cannot be told from 0"
        return out

    @property
    def range(self) -> tuple[float, float]:
        """Smallest and largest n, in bytes, that were fitted."""
        used = self.points.loc[self.points["weight"] > 0, "n"]
        return float(used.min()), float(used.max())

    @property
    def outliers(self) -> pd.DataFrame:
        """Points that were set aside, or count little."""
        return self.points[~self.points["used"]]

    def sample(self, k: int = 1000, seed: int = 0) -> dict[str, Floats]:
        r"""Return k draws of the parameters, none below 0.

        First the switch points are drawn: one of `ways` by its chance, then any size between the last one before the
        switch and the first one after it, :math:`\log s` uniform. The others have the covariance that goes with them,
        and Student's t distribution with `freedom`.

        Parameters
        ----------
        k : int
            Number of draws.
        seed : int
            Of the random numbers: the same seed gives the same draws.

        Raises
        ------
        QuantityError
            If there are no more points than parameters: how sure these are is not known.
        """
        count, rng = one("k", k, 1, 10**7), np.random.default_rng(one("seed", seed))
        if self.freedom <= 0:
            raise QuantityError(
                f"{len(self.points)} points for {len(self.names)} parameters do not say how sure these are: no draws "
                "can be made. Allowed: a fit to more points."
            )
        which = rng.choice(len(self.ways), count, p=[way.chance for way in self.ways])
        normal = rng.standard_normal((count, len(self.names)))
        normal *= np.sqrt(self.freedom / rng.chisquare(self.freedom, count))[:, None]
        out = {name: np.full(count, value) for name, value in self.parameters.items()}
        place = rng.random((count, len(self.ways[0].switches)))
        for i in np.unique(which):
            way, here = self.ways[i], which == i
            drawn = way.draws(normal[here])
            for name, column in zip(self.names, drawn.T, strict=True):
                # Formulas divide by rates: these stay above a tenth.
                out[name][here] = np.maximum(column, self.parameters[name] / 10 if self.units[name] == "B/s" else 0.0)
            for (name, (low, high)), share in zip(way.switches.items(), place[here].T, strict=True):
                low = max(low, 1.0)
                out[name][here] = low * ((high / low) ** share if math.isfinite(high) else 1.0)
        return out
