"""Rates of work: a cost is a line in one over a rate, not in the rate."""

from __future__ import annotations

import sympy as sp

from orrery_analytic.cost import Cost

__all__ = ["RATES", "inverted"]

RATES = ("R", "R_mem", "R_flop")
"""The symbols that are rates, in B/s or flop/s; of every other parameter a cost is a line itself."""


def inverted(cost: Cost, rate: sp.Symbol) -> Cost:
    """Return a cost in which the symbol of a rate stands for one over it: W / R becomes W R, a line in R."""
    local, shared = ({k: e.subs(rate, 1 / rate) for k, e in part.items()} for part in (cost.local, cost.collective))
    return Cost(local, cost.validity, shared, cost.fixed)
