"""What a kernel costs: launch, work and synchronisation (Eq. 3 of the Orrery paper), the roofline, and overlap."""

from __future__ import annotations

from numbers import Real
from typing import Any

import sympy as sp

from orrery_analytic.cost import Cost
from orrery_analytic.errors import QuantityError
from orrery_analytic.symbols import F, R, R_flop, R_mem, W, t_launch, t_sync
from orrery_analytic.units import is_finite, shown

__all__ = [
    "compute_time",
    "kernel_terms",
    "machine_balance",
    "measured_terms",
    "overlap",
    "roofline_rate",
    "roofline_terms",
    "roofline_time",
]

_NO_NUMBERS = (sp.nan, sp.oo, -sp.oo, sp.zoo)


def compute_time(work: Any = W) -> sp.Expr:
    """Return W / R in seconds: bytes that a kernel touches over its rate in bytes a second.

    One measured rate a kernel, as in Table I of the Orrery paper; it suits kernels that are bound by memory.
    """
    return work / R


def roofline_time(work: Any = W, flops: Any = F) -> sp.Expr:
    """Return max(W / R_mem, F / R_flop) in seconds: bytes over memory bandwidth, or operations over their peak rate.

    Memory and arithmetic overlap perfectly, so that the slower of the two decides: the least time there can be.

    Source: Williams, Waterman and Patterson, "Roofline", CACM 52(4), 2009.
    """
    return sp.Max(work / R_mem, flops / R_flop)


def machine_balance() -> sp.Expr:
    """Return R_flop / R_mem, in operations a byte: kernels that do fewer for each byte are bound by memory."""
    return R_flop / R_mem


def roofline_rate(intensity: Any) -> sp.Expr:
    """Return min(R_flop, intensity R_mem) in flop/s, for a kernel that does `intensity` operations for each byte."""
    return sp.Min(R_flop, _amount("intensity", intensity, None) * R_mem)


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
    return _terms(compute_time(_amount("work", work, W)), sync)


def roofline_terms(work: Any = None, flops: Any = None, sync: bool = True) -> dict[str, sp.Expr]:
    """Return the terms of a kernel with `roofline_time` as compute; `flops` is F unless given, or for "symbol"."""
    amount = _amount("flops", None if isinstance(flops, str) and flops == "symbol" else flops, F)
    return _terms(roofline_time(_amount("work", work, W), amount), sync)


def measured_terms(seconds: Any) -> dict[str, sp.Expr]:
    """Return a measured time as the term compute."""
    return {"compute": _amount("seconds", seconds, None)}


def overlap(compute: Cost, communication: Cost) -> Cost:
    r"""Return what computing costs while messages are under way: :math:`\max(T_{compute}, T_{communication})`.

    All terms of `compute` stay; of the communication only the time that is left when computing is done, the term
    exposed = max(0, T_communication - T_compute). Their sum is the maximum. On one rank a collective costs nothing, so
    that nothing of it is exposed there.

    Parameters
    ----------
    compute : Cost
        What runs meanwhile, such as a kernel on the inner rows. What must come first is added to the result:
        ``boundary + overlap(inner, halo)``.
    communication : Cost
        What it hides, in part or in full.

    Raises
    ------
    QuantityError
        If either is no `Cost`.

    Source: derived; perfect overlap, in which neither slows the other down.
    """
    for name, cost in (("compute", compute), ("communication", communication)):
        if not isinstance(cost, Cost):
            raise QuantityError(f"{name} must be a Cost, but {shown(cost)} was given.")
    alone = _exposed(communication.local, compute.local)
    together = _exposed(communication.terms, compute.terms)
    parts = [f"({cost.validity or 'no claim'})" for cost in (compute, communication)]
    return Cost(
        {**compute.local, "exposed": compute.local.get("exposed", sp.S.Zero) + alone},
        f"{parts[0]} overlaps {parts[1]}, and neither slows the other down",
        {**compute.collective, "exposed": compute.collective.get("exposed", sp.S.Zero) + together - alone},
        compute.fixed | communication.fixed,
    )


def _exposed(communication: Any, compute: Any) -> sp.Expr:
    """Return what of the first is left when the second is over."""
    return sp.Max(0, sp.Add(*communication.values()) - sp.Add(*compute.values())) if communication else sp.S.Zero


def _terms(compute: sp.Expr, sync: bool) -> dict[str, sp.Expr]:
    terms = {"launch": t_launch, "compute": compute}
    return {**terms, "sync": t_sync} if sync else terms


def _amount(name: str, given: Any, symbol: sp.Symbol | None) -> sp.Expr:
    """Return a number of at least 0 or an expression; `symbol` unless given."""
    if given is None and symbol is not None:
        return symbol
    value = sp.sympify(given) if isinstance(given, sp.Expr | Real) and not isinstance(given, bool) else sp.nan
    if (
        value.is_extended_negative
        or value.is_extended_real is False
        or value.has(*_NO_NUMBERS)
        or (value.is_Rational and not is_finite(value))
    ):
        kind = {"work": "bytes", "seconds": "a time in s"}.get(name, "a number")
        raise QuantityError(
            f"{name} must be {kind}, at least 0, or a SymPy expression of them, but {shown(given)} was given."
        )
    return value
