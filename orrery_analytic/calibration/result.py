"""`Fit`: parameters with their uncertainty, the points behind them, and what the data cannot tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from orrery_analytic.calibration.linear import Floats
from orrery_analytic.decisions.whole import one

if TYPE_CHECKING:
    import os

    from orrery_analytic.machines import Machine

__all__ = ["Fit", "Given"]


@dataclass(frozen=True)
class Given:
    """What a key of a machine file takes of a fit: `factor` times a parameter, or one over it for a bandwidth.

    It is `derived` where it was not that number that was measured.
    """

    parameter: str
    factor: float = 1.0
    derived: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """Parameters fitted to measurements.

    Attributes
    ----------
    model : str
        Name of the model.
    source : str
        Files and lines that were fitted.
    names : tuple of str
        Parameters that are times, times a byte or rates, in the order of `covariance`.
    parameters, stderr : mapping of str to float
        SI units. Switch points (``s_1``: the last size of the first piece) are among the parameters; they have an
        interval and no standard error.
    intervals : mapping of str to (low, high)
        95 % intervals, never below 0; of a switch point its last and first sizes on either side. Those of a piece hold
        other places of the switch points as well, and may be much wider than the standard error.
    covariance : array
        Of the parameters in `names`, as if switch points were known.
    units : mapping of str to str
        "s", "s/B", "B/s", "B".
    points : DataFrame
        A row a point: file, line, P, n, seconds, fitted (seconds), deviation (log of their ratio), weight, used (False
        for outliers, whose weight is 0 or little), series.
    sigma : float
        Relative standard deviation of the points about the model.
    freedom : int
        Points used less parameters.
    warnings : tuple of str
        What the data cannot tell, and what is odd about them.
    gives : mapping of str to Given
        Keys of a machine file that the fit has a value for.
    network
        The network of a collective's formula: of several, the one that fits best.
    minimized
        lmfit's MinimizerResult of the last stage; its times are in microseconds, its times a byte in picoseconds.
    """

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
    warnings: tuple[str, ...] = ()
    gives: Mapping[str, Given] = field(default_factory=dict)
    network: Any = None
    minimized: Any = None

    def __post_init__(self) -> None:
        for name in ("parameters", "stderr", "intervals", "units", "gives"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    @cached_property
    def correlations(self) -> pd.DataFrame:
        """Correlations between the parameters in `names`."""
        size = np.sqrt(np.diag(self.covariance))
        with np.errstate(all="ignore"):
            matrix = np.nan_to_num(self.covariance / np.outer(size, size))
        return pd.DataFrame(matrix, self.names, self.names)

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
        """Return k draws of the parameters, normal with their covariance, none below 0; switch points stay.

        Parameters
        ----------
        k : int
            Number of draws.
        seed : int
            Of the random numbers: the same seed gives the same draws.
        """
        count, start = one("k", k, 1, 10**7), one("seed", seed)
        size = np.sqrt(np.diag(self.covariance))
        size = np.where((size > 0) & np.isfinite(size), size, 0.0)
        with np.errstate(all="ignore"):
            matrix = np.nan_to_num(self.covariance / np.outer(size, size), posinf=0.0, neginf=0.0)
        values, vectors = np.linalg.eigh(matrix)  # of correlations: covariances span twenty orders of magnitude
        normal = np.random.default_rng(start).standard_normal((count, len(self.names)))
        draws = (normal * np.sqrt(np.maximum(values, 0.0))) @ vectors.T * size
        centre = np.array([self.parameters[name] for name in self.names])
        least = np.where(
            [self.units[name] == "B/s" for name in self.names], centre / 10, 0.0
        )  # formulas divide by rates
        others = {name: np.full(count, value) for name, value in self.parameters.items()}
        return others | dict(zip(self.names, np.maximum(centre + draws, least).T, strict=True))

    def report(self) -> str:
        """Return what was fitted as text: values, errors, intervals, correlations, outliers, warnings."""
        from orrery_analytic.calibration.report import text

        return text(self)

    def to_machine(
        self, name: str, base: Machine | str | None = None, path: str | os.PathLike[str] | None = None, **given: Any
    ) -> Machine:
        """Return a machine with the values of this fit, and write its file: `calibrate` with one fit."""
        from orrery_analytic.calibration.machine_file import calibrate

        return calibrate(name, self, base=base, path=path, **given)

    def __repr__(self) -> str:
        return self.report()

    def _repr_html_(self) -> str:
        from orrery_analytic.calibration.report import html

        return html(self)
