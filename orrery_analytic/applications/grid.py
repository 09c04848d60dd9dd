"""What the Jacobi solver counts: rows of the slowest rank, bytes of its kernel, iterations with a norm."""

from __future__ import annotations

from numbers import Real
from typing import Any

import sympy as sp

from orrery_analytic.errors import QuantityError, choose
from orrery_analytic.symbols import P
from orrery_analytic.units import shown

__all__ = ["ROWS", "kernel_bytes", "norms_due", "slowest_rows"]

ROWS = ("balanced", "last", "even")
"""How rows are dealt out: no two ranks differ by more than one, the last takes what is left over, or (ny - 2) / P."""

#: The solver prints the norm of every so-many-th iteration.
_PRINTED = 100


def _expression(name: str, value: Any) -> sp.Expr:
    """Return a number or a SymPy expression; never text, which SymPy would run as code."""
    if not isinstance(value, sp.Expr | Real) or isinstance(value, bool):
        raise QuantityError(f"{name} must be a number or a SymPy expression, but {shown(value)} was given.")
    return sp.sympify(value)


def slowest_rows(ny: Any, rows: str = "balanced", ranks: Any = P) -> sp.Expr:
    r"""Return the rows of the rank that has most: the inner ny - 2 rows are dealt out to P ranks.

    * "balanced": :math:`\lceil (ny-2)/P \rceil`;
    * "last": :math:`\lfloor (ny-2)/P \rfloor` each, and the last rank what is left over as well, up to P - 1 rows more:
      :math:`ny - 2 - (P-1) \lfloor (ny-2)/P \rfloor`;
    * "even": (ny - 2) / P, as a real number.

    Parameters
    ----------
    ny : int or SymPy expression
        Rows of the grid, two of them fixed.
    rows : str
        One of `ROWS`.
    ranks : int or SymPy expression
        P unless given.

    Raises
    ------
    UnknownNameError
        If `rows` is none of these.
    QuantityError
        For what is no number and no expression.

    Source: FZJ-JSC/tutorial-multi-gpu, 03-H: the advanced solution ("balanced") and the plain one ("last").
    """
    inner, ranks = _expression("ny", ny) - 2, _expression("ranks", ranks)
    if choose("way of dealing out rows", rows, ROWS) == "last":
        return inner - (ranks - 1) * sp.floor(inner / ranks)
    return sp.ceiling(inner / ranks) if rows == "balanced" else inner / ranks


def kernel_bytes(nx: Any, rows: Any, itemsize: Any = 4) -> sp.Expr:
    """Return the bytes that a sweep over `rows` rows touches, 2 itemsize nx rows: each point is read and written once.

    The four neighbours of a point come from the cache.

    Source: derived.
    """
    given = {"itemsize": itemsize, "nx": nx, "rows": rows}
    return sp.Mul(2, *(_expression(name, value) for name, value in given.items()))


def norms_due(iterations: Any, nccheck: Any, csv: bool = True) -> sp.Expr:
    r"""Return in how many iterations the norm is due, counted from iteration 0.

    With k = nccheck in every k-th, :math:`\lceil iterations / k \rceil`. A run that prints (csv=False) needs it in
    every 100th as well; those that are both count once.

    Parameters
    ----------
    iterations, nccheck : int or SymPy expression
        Whole numbers of at least 1. With csv=False, nccheck is a number.
    csv : bool
        Whether the run prints one line at its end alone.

    Source: FZJ-JSC/tutorial-multi-gpu, 03-H. Convergence, which ends the loop early, plays no part.
    """
    count, step = _expression("iterations", iterations), _expression("nccheck", nccheck)
    if step == 1:
        return count
    checked = sp.ceiling(count / step)
    return checked if csv else checked + sp.ceiling(count / _PRINTED) - sp.ceiling(count / sp.lcm(step, _PRINTED))
