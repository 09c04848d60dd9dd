"""The fixed decision: rows that take an algorithm for P ranks and n bytes, and the rules that stand for one."""

from __future__ import annotations

from functools import cache
from os import PathLike, sep
from pathlib import Path

from orrery_analytic.decisions import openmpi_4_0, openmpi_4_1
from orrery_analytic.decisions.names import SELF
from orrery_analytic.decisions.rows import Condition, Row, rows_from_cells, rows_from_formulas
from orrery_analytic.decisions.rule_files import RuleFile, read_rules
from orrery_analytic.decisions.versions import rule_set_of, version_of

__all__ = ["Rules", "fixed_rows", "resolve", "rule_set"]

#: A version of Open MPI, or a rule file: read, or its path or text.
Rules = str | RuleFile | PathLike[str]


@cache
def fixed_rows(collective: str, rules: str, commutative: bool) -> tuple[Row, ...]:
    """Return the rows by which one of `RULES` decides a collective, in order: the first whose conditions hold."""
    alone = Row((Condition("P", "==", 1),), SELF[0], "P == 1: coll/self answers")
    if collective in ("scan", "exscan"):
        return (alone, Row((), 1, "coll/basic"))
    if rules == "openmpi-4.0":
        formulas = {**openmpi_4_0.TABLES, **({} if commutative else openmpi_4_0.NON_COMMUTATIVE)}
        return (alone, *rows_from_formulas(formulas[collective]))
    cells = {**openmpi_4_1.TABLES, **({} if commutative else openmpi_4_1.NON_COMMUTATIVE)}
    return (alone, *rows_from_cells(cells[collective]))


def resolve(rules: Rules) -> str | RuleFile:
    """Return rules that are a version, or a RuleFile; the path or the text of a rule file is read.

    Raises
    ------
    UnknownNameError
        For a version that is not known, and text that is neither a version nor a file.
    FormatError, FileMissingError
        As `read_rules`.
    """
    if isinstance(rules, RuleFile):
        return rules
    if isinstance(rules, PathLike):
        return read_rules(rules)
    if isinstance(rules, str) and version_of(rules) is None and _names_file(rules):
        return read_rules(rules)
    rule_set_of(rules)
    return rules


def _names_file(text: str) -> bool:
    if "\n" in text or sep in text:
        return True
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # a name that no file can have
        return False


def rule_set(rules: Rules) -> str:
    """Return the name of the rule set that `rules` means: itself, the one that holds in that version of Open MPI, or
    for a rule file that which answers where no rule does.

    "openmpi-4.1", "4.1.6", "v5.0.3", "Open MPI 3.1.6", "mpirun (Open MPI) 4.1.4" are all understood.

    Raises
    ------
    UnknownNameError, FormatError, FileMissingError
        As `resolve`.
    """
    found = resolve(rules)
    return found.rule_set if isinstance(found, RuleFile) else rule_set_of(found)
