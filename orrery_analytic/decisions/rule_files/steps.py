"""Which rule the library takes: rules on ranges of whole numbers as steps, from one number to the next."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from orrery_analytic.decisions.rule_files.records import LARGEST, CommRule

__all__ = ["Steps", "comm_steps", "message_steps"]


class Steps:
    """From each of `starts` on, rule `rules[i]` of a list is taken; -1 is none. The first start is 0."""

    def __init__(self, starts: Sequence[int], rules: Sequence[int]) -> None:
        self.starts, self.rules = np.array(starts, dtype=np.int64), np.array(rules, dtype=np.intp)

    def at(self, values: NDArray[np.int64]) -> NDArray[np.intp]:
        """Return the rules that are taken at `values`, none of which is negative."""
        found: NDArray[np.intp] = self.rules[np.searchsorted(self.starts, values, side="right") - 1]
        return found

    def pieces(self) -> list[tuple[int, int | None, int]]:
        """Return (first value, last value or None, rule) for each step that is not empty."""
        starts = self.starts.tolist()
        ends = [start - 1 for start in starts[1:]] + [None]
        rows = zip(starts, ends, self.rules.tolist(), strict=True)
        return [(start, end, rule) for start, end, rule in rows if end is None or end >= start]


def comm_steps(comms: Sequence[CommRule], bounded: bool, allowed: frozenset[str] = frozenset({"any"})) -> Steps:
    """Return which communicator rule is taken, over P.

    Parameters
    ----------
    comms
        The rules, in the order of the file.
    bounded
        Whether rules have a last value (JSON), or hold to the next one.
    allowed
        The distributions of ranks over nodes of the communicator; rules for others are passed over.
    """
    if bounded:
        bounds = [(rule.from_ranks, rule.to_ranks if rule.distribution in allowed else -1) for rule in comms]
        return _first(bounds)
    return _last_passed([rule.from_ranks for rule in comms])


def message_steps(comm: CommRule, bounded: bool) -> Steps:
    """Return which rule of a communicator rule is taken, over the bytes that the library compares."""
    if bounded:
        return _first([(rule.from_bytes, rule.to_bytes) for rule in comm.messages])
    return _last_passed([rule.from_bytes for rule in comm.messages])


def _last_passed(lows: Sequence[int]) -> Steps:
    """Return the rule before the first whose number is larger; the first rule holds below its own number too."""
    if not lows:
        return Steps([0], [-1])
    starts = np.maximum.accumulate(np.array(lows, dtype=np.int64))
    starts[0] = 0
    return Steps(starts.tolist(), range(len(lows)))


def _first(bounds: Sequence[tuple[int, int | None]]) -> Steps:
    """Return the first rule that holds a value between its bounds, both included."""
    highs = [LARGEST if high is None else min(high, LARGEST) for _, high in bounds]
    lows = [low for low, _ in bounds]
    order = sorted((low, i) for i, low in enumerate(lows) if low <= highs[i])
    edges = sorted({0, *(low for low, _ in order), *(highs[i] + 1 for _, i in order if highs[i] < LARGEST)})
    starts: list[int] = []
    rules: list[int] = []
    open_rules: list[int] = []
    entered = 0
    for edge in edges:
        while entered < len(order) and order[entered][0] <= edge:
            heappush(open_rules, order[entered][1])
            entered += 1
        while open_rules and highs[open_rules[0]] < edge:
            heappop(open_rules)
        rule = open_rules[0] if open_rules else -1
        if not rules or rules[-1] != rule:
            starts.append(edge)
            rules.append(rule)
    return Steps(starts, rules)
