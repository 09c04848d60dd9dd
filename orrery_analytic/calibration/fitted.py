"""`Fit`: what a fit found, with its report and its machine."""

from __future__ import annotations

import os
from typing import Any

from orrery_analytic.calibration import report
from orrery_analytic.calibration.glue import one_piece
from orrery_analytic.calibration.machine_file import calibrate
from orrery_analytic.calibration.result import Result
from orrery_analytic.machines import Machine

__all__ = ["Fit"]


class Fit(Result):
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
        95 % intervals, never below 0; of a switch point its last and first sizes on either side. Those of the others
        hold other places of the switch points as well, and may be much wider than the standard error.
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
    ways : tuple of Way
        Where the switch points may lie, with what is fitted then, the likeliest first; one, where there are none.
    warnings : tuple of str
        What the data cannot tell, and what is odd about them.
    gives : mapping of str to Given
        Keys of a machine file that the fit has a value for.
    network
        The network of a collective's formula: of several, the one that fits best.
    shared : tuple of str
        Parameters that the points know as a sum alone.
    undetermined : dict of str to str
        Why the data do not determine a parameter: it is shared, or its interval holds 0.
    minimized
        lmfit's MinimizerResult of the last stage; its times are in microseconds, its times a byte in picoseconds.
    """

    def report(self) -> str:
        """Return what was fitted as text: values, errors, intervals, correlations, outliers, warnings."""
        return report.text(self)

    def piece(self, n: Any) -> Fit:
        """Return the piece of a fit in pieces that holds for messages of n bytes, as a fit of one line.

        Its parameters are alpha and beta (or those of its link), so that `predict_band`, `chance` and `to_machine` take
        it. It keeps the spread, the ways and the warnings of the whole fit.

        Parameters
        ----------
        n : number or text
            Bytes of a message ("64 KiB"): those of the messages that an algorithm sends, n / P for a ring.

        Raises
        ------
        QuantityError
            If the fit has no pieces.
        """
        return one_piece(self, n)

    def to_machine(
        self,
        name: str,
        base: Machine | str | None = None,
        path: str | os.PathLike[str] | None = None,
        overwrite: bool = True,
        **given: Any,
    ) -> Machine:
        """Return a machine with the values of this fit, and write its file: `calibrate` with one fit."""
        return calibrate(name, self, base=base, path=path, overwrite=overwrite, **given)

    def __repr__(self) -> str:
        return self.report()

    def _repr_html_(self) -> str:
        return report.html(self)
