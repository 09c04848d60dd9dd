"""Open MPI's dynamic rule files (coll_tuned_dynamic_rules_filename): read, match as the library does, write."""

from __future__ import annotations

from orrery_analytic.decisions.rule_files.reader import read_rules
from orrery_analytic.decisions.rule_files.records import CommRule, MessageRule
from orrery_analytic.decisions.rule_files.rule_file import RuleFile

__all__ = ["CommRule", "MessageRule", "RuleFile", "read_rules"]
