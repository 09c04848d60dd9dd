"""What is wrong with a rule file: an error where the library does not use it, a list of oddities where it does."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import zip_longest
from typing import NoReturn

from orrery_analytic.decisions.names import algorithms_of
from orrery_analytic.decisions.rule_files.records import DECIDED, CommRule
from orrery_analytic.errors import FormatError

__all__ = ["IGNORED", "Problems", "algorithm_list", "odd_rules"]

#: What the library does with most bad files.
IGNORED = "Open MPI {} ignores the whole file in silence and takes its fixed decision"
_MOST = 20


@dataclass
class Problems:
    """Collects the oddities of a file, and raises its errors."""

    name: str
    library: str
    found: list[str] = field(default_factory=list)
    more: int = 0

    def note(self, line: int, text: str) -> None:
        """Keep an oddity; after the first ones they are only counted."""
        if len(self.found) < _MOST:
            self.found.append(f"line {line}: {text}")
        else:
            self.more += 1

    def refuse(self, line: int, problem: str, effect: str = IGNORED) -> NoReturn:
        """Raise the error for a line: what was found, what is allowed, and what the library does."""
        stop = "" if problem.endswith("?") else "."
        raise FormatError(f"{self.name}, line {line}: {problem}{stop} {effect.format(self.library)}.")

    def listed(self) -> tuple[str, ...]:
        """Return the oddities."""
        return (*self.found, *([f"and {self.more} more"] if self.more else []))


def algorithm_list(collective: str, release: str) -> str:
    """Return the numbers and names that a rule may have."""
    known = algorithms_of(collective, release).items()
    return ", ".join(["0 the fixed decision", *(f"{number} {name}" for number, name in known)])


def odd_rules(collective: str, comms: tuple[CommRule, ...], problems: Problems, line: int) -> None:
    """Note what the library accepts, in any form, but does not use as people may think."""
    if collective not in DECIDED:
        problems.note(line, f"coll/tuned decides nothing for {collective}: these rules are never looked at")
        return
    pair = {number for number, name in algorithms_of(collective).items() if name == "two_proc"}
    for comm, after in zip_longest(comms, comms[1:]):
        last = comm.to_ranks if after is None or comm.to_ranks is not None else after.from_ranks - 1
        if len(comm.messages) > 1 and collective in ("alltoallv", "barrier"):
            problems.note(comm.line, f"{collective} looks for 0 bytes: only the rule for these is ever taken")
        elif len(comm.messages) > 1 and collective in ("exscan", "scan"):
            problems.note(
                comm.line, f"{collective} looks for P times the bytes of one element, not for those of a call"
            )
        for message in comm.messages:
            if message.number in pair and (comm.from_ranks, last) != (2, 2):
                problems.note(message.line, "two_proc: calls on other than 2 ranks that take it end in an error")
                break
