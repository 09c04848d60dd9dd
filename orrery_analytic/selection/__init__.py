"""What the library takes and what it costs, what would be better, and the rules that make it so."""

from __future__ import annotations

from orrery_analytic.selection.best import best, regret
from orrery_analytic.selection.borders import borders, sample_sizes
from orrery_analytic.selection.breakpoints import Decided, breakpoints, decided
from orrery_analytic.selection.candidates import FANS, RADICES, SEGMENTS, candidates, seconds_of
from orrery_analytic.selection.formula import selected_cost
from orrery_analytic.selection.maps import ChoiceMap, choice_map
from orrery_analytic.selection.plans import Plan, plan_cost, plans
from orrery_analytic.selection.selected import Piece, SelectedCost
from orrery_analytic.selection.tune import tune
from orrery_analytic.selection.tuning import Points, Tuning

__all__ = [
    "FANS", "RADICES", "SEGMENTS", "ChoiceMap", "Decided", "Piece", "Plan", "Points", "SelectedCost", "Tuning", "best",
    "borders", "breakpoints", "candidates", "choice_map", "decided", "plan_cost", "plans", "regret", "sample_sizes",
    "seconds_of", "selected_cost", "tune",
]  # fmt: skip
