"""What the library takes and what it costs, what would be better, and the rules that make it so."""

from __future__ import annotations

from orrery_analytic.selection.plans import Plan, plan_cost, plans

__all__ = ["Plan", "plan_cost", "plans"]
