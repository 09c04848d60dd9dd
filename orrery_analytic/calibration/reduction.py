"""The time a reduced byte, gamma: from times of a local reduction, or from what allreduce does more than allgather."""

from __future__ import annotations

from typing import Any

import numpy as np

from orrery_analytic.calibration.bounce import common_sizes
from orrery_analytic.calibration.fitted import Fit
from orrery_analytic.calibration.linear import Floats
from orrery_analytic.calibration.points import as_table, by_size, falls, measured, numbers, one_series
from orrery_analytic.calibration.result import Given
from orrery_analytic.calibration.solve import Column, solve, source_of
from orrery_analytic.errors import QuantityError

__all__ = ["reduction"]

_GIVES = {"reduction_rate": Given("gamma")}


def reduction(table: Any) -> Fit:
    r"""Return gamma, seconds a reduced byte.

    Parameters
    ----------
    table : DataFrame or (allreduce, allgather)
        Times of a local reduction of n bytes, :math:`t_0 + n \gamma`. Or those of two collectives that both ran as a
        ring on the same ranks: an allreduce of n bytes is twice an allgather of blocks of n / P, and the reduction of
        :math:`n (P - 1) / P` bytes.
    """
    if isinstance(table, tuple | list):
        if len(table) != 2:
            raise QuantityError(
                f"model 'reduction' takes one table, or (allreduce, allgather), not {len(table)} tables."
            )
        return _difference(*table)
    points, notes = by_size(one_series(measured(as_table(table))))
    notes += falls(points)
    n: Floats = points["n"].to_numpy(dtype=float)
    columns = [Column("t_0", "s", np.ones(len(n))), Column("gamma", "s/B", n)]
    return solve("reduction", columns, points, notes=notes, gives=_GIVES)


def _difference(allreduce: Any, allgather: Any) -> Fit:
    gathered = measured(as_table(allgather)).copy()
    ranks = numbers(gathered, "ranks")
    if not np.all(ranks >= 2) or len(set(ranks)) > 1:
        raise QuantityError(
            "the allgather table does not say how many ranks took part, at least 2 and the same in all rows."
        )
    P = float(ranks[0])
    gathered["n"] = gathered["n"] * P
    longer, shorter, notes = common_sizes(allreduce, gathered, ("allreduce", "allgather, P n"))
    n: Floats = longer["n"].to_numpy(dtype=float)
    offset: Floats = 2 * shorter["seconds"].to_numpy(dtype=float)
    columns = [Column("gamma", "s/B", n * (P - 1) / P)]
    notes.append("allreduce is taken as a ring: twice the allgather of the same bytes, and the reduction.")
    source = f"allreduce: {source_of(longer)}; allgather: {source_of(shorter)}"
    return solve("reduction", columns, longer, offset=offset, trim=False, notes=notes, gives=_GIVES, source=source)
