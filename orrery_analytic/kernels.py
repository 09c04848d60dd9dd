"""What a kernel costs: launch, work and synchronisation (Eq. 3 of the Orrery paper)."""

from __future__ import annotations

from numbers import Real
from typing import Any

import sympy as sp

from orrery_analytic.errors import QuantityError
from orrery_analytic.symbols import R, W, t_launch, t_sync

__all__ = ["compute_time", "kernel_terms"]


def compute_time(work: Any = W) -> sp.Expr:
    """Return W / R in seconds: bytes that a kernel touches over its rate in bytes a second.

    One measured rate a kernel, as in Table I of the Orrery paper; it suits kernels that are bound by memory.
    """
    return work / R


def kernel_terms(work: Any = None, sync: bool = True) -> dict[str, sp.Expr]:
    """Return t_launch + W / R, and t_sync beside it, as terms launch, compute and sync in seconds.

    Parameters
    ----------
    work : SymPy expression or number, optional
        Bytes that the kernel touches; the symbol W unless given.
    sync : bool
        Whether the host waits for the kernel.

    Raises
    ------
    QuantityError
        If `work` is no SymPy expression and no number of at least 0.

    Source: reconstructed from Table I and the text of the Orrery paper; the right side of its Eq. 3 was not at hand.
    """
    terms = {"launch": t_launch, "compute": compute_time(_bytes(work))}
    return {**terms, "sync": t_sync} if sync else terms


def _bytes(work: Any) -> sp.Expr:
    if work is None:
        return W
    value = sp.sympify(work) if isinstance(work, sp.Expr | Real) and not isinstance(work, bool) else sp.nan
    if value.is_negative or value.has(sp.nan, sp.oo):
        raise QuantityError(f"work must be bytes, at least 0, or a SymPy expression of them, but {work!r} was given.")
    return value
