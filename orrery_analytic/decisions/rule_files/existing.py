"""Whether a file that is there may be replaced by a rule file: another rule file may, nothing else."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from orrery_analytic.decisions.rule_files.classic import SECOND_FORM, read_classic
from orrery_analytic.decisions.rule_files.heading import own_heading
from orrery_analytic.decisions.rule_files.json_form import RELEASE, read_json
from orrery_analytic.decisions.rule_files.problems import Problems
from orrery_analytic.decisions.rule_files.source import load
from orrery_analytic.errors import FormatError, QuantityError
from orrery_analytic.units import shown

__all__ = ["check_replaceable"]


def check_replaceable(path: str | PathLike[str]) -> None:
    """Refuse to replace a file that is no rule file.

    The library skips all that is no number, so that many a text would make rules: a file of others is a rule file only
    if it has rules and nothing odd.

    Raises
    ------
    QuantityError
        For another file.
    """
    try:
        if Path(path).exists():
            _check(load(Path(path))[1])
    except FormatError as error:
        raise QuantityError(
            f"{shown(str(path))} is no rule file, and is not replaced: {error} "
            "Allowed: overwrite=True, or another path."
        ) from None
    except (OSError, ValueError):
        return  # no name of a file: writing says so


def _check(data: bytes) -> None:
    if own_heading(data):
        return
    problems = Problems("it", str(SECOND_FORM))
    if data.lstrip().startswith(b"{"):
        problems.library, rules = RELEASE, read_json(data, problems)
    else:
        rules = read_classic(data, problems, SECOND_FORM, "5.0")[1]
    if not rules or problems.found:
        raise FormatError(f"{problems.found[0] if problems.found else 'it has no rules'}.")
