"""Which algorithm Open MPI takes for (collective, P, n), as data: number, name and reason, and what then runs."""

from __future__ import annotations

from orrery_analytic.decisions.fixed import RULES, Selection, pieces, rule_set, select
from orrery_analytic.decisions.names import ALGORITHMS, list_collectives
from orrery_analytic.decisions.substitutions import SUBSTITUTIONS, runs

__all__ = [
    "ALGORITHMS",
    "RULES",
    "SUBSTITUTIONS",
    "Selection",
    "list_collectives",
    "pieces",
    "rule_set",
    "runs",
    "select",
]
