"""Which algorithm Open MPI takes for (collective, P, n), as data: number, name and reason, and what then runs."""

from __future__ import annotations

from orrery_analytic.decisions.choice import pieces, select
from orrery_analytic.decisions.fixed import resolve, rule_set
from orrery_analytic.decisions.names import ALGORITHMS, list_collectives
from orrery_analytic.decisions.rule_files import CommRule, MessageRule, RuleFile, read_rules
from orrery_analytic.decisions.selection import Selection
from orrery_analytic.decisions.substitutions import SUBSTITUTIONS, runs
from orrery_analytic.decisions.versions import RULES

__all__ = [
    "ALGORITHMS",
    "RULES",
    "SUBSTITUTIONS",
    "CommRule",
    "MessageRule",
    "RuleFile",
    "Selection",
    "list_collectives",
    "pieces",
    "read_rules",
    "resolve",
    "rule_set",
    "runs",
    "select",
]
