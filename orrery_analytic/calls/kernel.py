"""One kernel (Eq. 3)."""

from __future__ import annotations

from typing import Any

from orrery_analytic.cost import Cost
from orrery_analytic.errors import QuantityError
from orrery_analytic.gpu import flag
from orrery_analytic.kernels import kernel_terms, measured_terms, roofline_terms

__all__ = ["kernel_cost"]


def kernel_cost(work: Any = None, sync: bool = True, flops: Any = None, seconds: Any = None) -> Cost:
    r"""Return what a kernel costs: :math:`T = t_{launch} + W / R`, and :math:`t_{sync}` as its own term, in seconds.

    With `flops`, by the roofline: :math:`T = t_{launch} + \max(W / R_{mem}, F / R_{flop})`. With `seconds`, a measured
    kernel takes the place of the model: it is the term compute, alone.

    Parameters
    ----------
    work : SymPy expression or number, optional
        Bytes that the kernel touches; the symbol W unless given.
    sync : bool
        Whether the host waits for the kernel here. A program that launches several kernels and waits once adds the
        costs of those without and of one with.
    flops : SymPy expression, number or "symbol", optional
        Floating-point operations of the kernel; "symbol" keeps F.
    seconds : SymPy expression or number, optional
        A measured time from launch to completion, in place of launch, work and synchronisation. It goes with neither
        `work` nor `flops`.

    Raises
    ------
    QuantityError
        If an argument is no SymPy expression and no number of at least 0, or `seconds` comes with work or flops.

    Source: Eq. 3 of the Orrery paper, reconstructed from its Table I; the roofline after Williams, Waterman and
    Patterson, CACM 52(4), 2009; `seconds` as its twin mode.
    """
    flag("sync", sync)
    if seconds is not None:
        if work is not None or flops is not None:
            raise QuantityError("seconds= takes the place of the model: give it without work= and flops=.")
        return Cost(measured_terms(seconds), "a measured kernel, from launch to completion; nothing overlaps")
    if flops is not None:
        told = "a kernel at the roof of memory or of arithmetic, whichever is lower; nothing overlaps"
        return Cost(roofline_terms(work, flops, sync), told)
    return Cost(kernel_terms(work, sync), "a kernel bound by memory, at one measured rate; nothing overlaps")
