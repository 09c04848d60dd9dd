"""What rules that were sought cannot do, and where they hold: in words, for people and for the head of the file."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from orrery_analytic.decisions import RuleFile, runs
from orrery_analytic.decisions.notes import HAN
from orrery_analytic.decisions.rule_files.records import QUANTITIES
from orrery_analytic.selection.best import Search
from orrery_analytic.selection.candidates import candidates
from orrery_analytic.selection.plans import bytes_text
from orrery_analytic.selection.tuning import Points

__all__ = ["file_notes", "notes"]


def notes(
    searches: Mapping[str, Search],
    rules: RuleFile,
    ranks: NDArray[np.int64],
    lost: Mapping[str, float],
    points: Mapping[str, Points],
) -> tuple[str, ...]:
    """Return what the rules cannot do, and where they hold.

    Parameters
    ----------
    searches
        By collective.
    rules
        Found by them; their comments are told as well.
    ranks
        For which they were sought.
    lost
        The least worst regret of collectives that no rule keeps within the bound.
    points
        What was measured.
    """
    below = f", the fixed decision below {ranks[0]}" if ranks[0] > 2 else ""
    told = [
        "Times are those of the model, not measured.",
        f"Rules were sought at these P alone. Each holds up to the next one, the last for all larger{below}.",
    ]
    for name, regret in lost.items():
        told.append(
            f"{name}: the library does not look at its bytes, and no one rule is within the bound at every size; "
            f"the one with the least worst regret, {regret:.3g}, is taken."
        )
    for name, measured in points.items():
        if left_out := searches[name].left_out:
            told.append(f"{name}: {left_out}.")
        if missing := int(np.isnan(measured.default).sum()):
            told.append(
                f"{name}: what the library takes without the file has no closed form on this network at {missing} of "
                f"{measured.default.size} points. Regrets and gains without the file are over the others, and rules "
                "were sought there among what has one. schedule(...).time(...) gives the seconds of the rest."
            )
    reordering = []
    for name, comms in rules.rules:
        named = {rules.algorithms(name)[rule.number] for comm in comms for rule in comm.messages if rule.number}
        safe = {plan.algorithm for plan in candidates(name, commutative=False)}
        others = {algorithm for algorithm in named if runs(name, algorithm, 4, 2**20, commutative=False) not in safe}
        if searches[name].setting.commutative and others:
            reordering.append(f"{', '.join(sorted(others))} ({name})")
    if reordering:
        told.append(
            f"The library takes {', '.join(reordering)} for operations that do not commute as well, which it does not "
            "of its own accord. Tune with commutative=False if a program has any."
        )
    return (*told, *rules.comments)


def file_notes(rules: RuleFile, sizes: NDArray[np.int64] | None) -> tuple[str, ...]:
    """Return what who uses the file has to know: the sizes (None: all) that it is for, and who answers before it."""
    told = []
    names = [name for name, _ in rules.rules]
    looked_at = [name for name in names if QUANTITIES[name] in ("n", "P n")]
    if sizes is not None and looked_at:
        least, most = bytes_text(int(sizes[0])), bytes_text(int(sizes[-1]))
        told.append(
            f"Rules for {', '.join(looked_at)} hold {f'from {least} to {most}' if least != most else f'at {most}'} "
            "alone, as was asked: at other sizes the library decides as without the file."
        )
        if blocks := [name for name in looked_at if QUANTITIES[name] == "P n"]:
            told[-1] += f" For {', '.join(blocks)} it compares P n: on P between those given, sizes go as 1/P."
    blind = [name for name in names if name not in looked_at and name != "barrier"]
    if sizes is not None and blind:
        told.append(
            f"{', '.join(blind)}: the library does not look at the bytes of a call, and rules hold at all sizes."
        )
    if rules.version.major >= 5 and (before := [name for name in names if name in HAN]):
        told.append(
            f"On several nodes with several ranks each, coll/han of Open MPI {rules.version.release} answers "
            f"{', '.join(before)} before a rule does, unless told not to: --mca coll_han_priority 0."
        )
    return tuple(told)
