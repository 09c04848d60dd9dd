"""`Cost`: named terms that add up to a total; prints itself, takes numbers, becomes a fast NumPy function."""

from __future__ import annotations

from orrery_analytic.cost.arithmetic import NoNumber
from orrery_analytic.cost.cost import TERM_NAMES, Cost
from orrery_analytic.cost.parameters import machine_of, parameters_of
from orrery_analytic.symbols.evaluation import evaluate

__all__ = ["TERM_NAMES", "Cost", "NoNumber", "evaluate", "machine_of", "parameters_of"]
