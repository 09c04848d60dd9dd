"""Where the library's decision changes at a given number of ranks: exact, by the conditions of its own rules."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from orrery_analytic.collectives.registry import COMPOSED, resolve
from orrery_analytic.decisions import SUBSTITUTIONS, RuleFile, runs
from orrery_analytic.decisions import resolve as resolve_rules
from orrery_analytic.decisions.fixed import Rules, fixed_rows, rule_set
from orrery_analytic.decisions.names import ALGORITHMS, SELF
from orrery_analytic.decisions.rows import Condition, Row
from orrery_analytic.decisions.rule_files.records import QUANTITIES
from orrery_analytic.decisions.whole import LARGEST_COUNT, LARGEST_SIZE, one, truth
from orrery_analytic.errors import choose
from orrery_analytic.selection.plans import Plan, plans

__all__ = ["Decided", "breakpoints", "decided"]


class Decided(NamedTuple):
    """A range of sizes on which one thing runs: from `start` bytes up to but without `stop` (None: to the end)."""

    start: int
    stop: int | None
    chosen: str
    plan: Plan


def breakpoints(
    collective: str, P: int, rules: Rules = "openmpi-4.1", itemsize: int = 4, commutative: bool = True
) -> list[int]:
    """Return sizes n in bytes, ascending, between which neither the library's choice nor what then runs changes.

    At a given P every condition of a decision compares two quantities that grow with n, or n with a number: it changes
    once, at a size that bisection finds exactly. So does each run-time substitution, above n = 0. Those of the parts
    of composed algorithms are among them. Nothing need change at a breakpoint; `decided` keeps those where it does.

    Parameters
    ----------
    collective : str
    P : int
        Ranks, at least 1.
    rules : str or RuleFile
        As in `select`.
    itemsize : int
        Bytes of an element.
    commutative : bool
        Whether the operation commutes.

    Raises
    ------
    UnknownNameError, QuantityError
        As `select`.
    """
    choose("collective", collective, ALGORITHMS)
    ranks, itemsize, commutative = (
        one("P", P, 1, LARGEST_SIZE),
        one("itemsize", itemsize, 1),
        truth("commutative", commutative),
    )
    source = resolve_rules(rules)
    found = {0, 1}
    for where, size, top in _levels(collective, ranks, source, commutative):
        conditions, told = _asked(where, ranks, source, commutative)
        looks = _looks(where, ranks, source, itemsize)
        for condition in conditions:
            found.update(_changes(_truth(condition, looks, size), 0, top))
        for taken in told:
            if any(taken[0] == old for place, old, _, _ in SUBSTITUTIONS if place == where):
                found.update(_changes(_outcome(where, taken, ranks, size, itemsize, commutative), 1, top))
    return sorted(found)


def decided(
    collective: str, P: int, rules: Rules = "openmpi-4.1", itemsize: int = 4, commutative: bool = True
) -> list[Decided]:
    """Return what the library takes and what then runs on P ranks, as ranges of n that follow one another.

    Parameters and errors as of `breakpoints`.
    """
    source = resolve_rules(rules)
    starts = breakpoints(collective, P, source, itemsize, commutative)
    chosen, index, found = plans(collective, P, np.array(starts), source, None, itemsize, commutative)
    taken = [(str(name), found[i]) for name, i in zip(chosen, index, strict=True)]
    kept = [i for i in range(len(starts)) if i == 0 or taken[i] != taken[i - 1]]
    ends = [*(starts[i] for i in kept[1:]), None]
    return [Decided(starts[i], end, *taken[i]) for i, end in zip(kept, ends, strict=True)]


def _levels(
    collective: str, ranks: int, rules: str | RuleFile, commutative: bool
) -> Iterator[tuple[str, Callable[[int], int], int]]:
    """Return where the library decides: the collective, and the parts of what it may take: (name, n of it, largest)."""
    yield collective, lambda m: m, LARGEST_COUNT // (ranks if collective == "allgatherv" else 1)
    for name in {name for name, _, _ in _asked(collective, ranks, rules, commutative)[1]} - {SELF[1]}:
        for part in COMPOSED.get(resolve(collective, name), ()):
            if not part.algorithm:
                largest = LARGEST_COUNT // max(part.size(ranks, 1), 1)
                yield part.collective, lambda m, p=part: p.size(ranks, m), largest  # type: ignore[misc]


def _asked(
    collective: str, ranks: int, rules: str | RuleFile, commutative: bool
) -> tuple[set[Condition], set[tuple[str, int, int]]]:
    """Return the conditions that can change with n, and all that may be taken: (name, segment_bytes, fan)."""
    rows = fixed_rows(collective, rule_set(rules), commutative)
    conditions = {c for row in rows for c in row.conditions if c.left != "P" or c.of}
    # Equality changes where "below" and "at most" do.
    conditions = {
        replace(c, relation=r) for c in conditions for r in (("<", "<=") if c.relation == "==" else (c.relation,))
    }
    names = dict([SELF, *ALGORITHMS[collective].items()])
    told = {(names[row.number], row.segment_bytes, row.fan) for row in rows if _may_hold(row, ranks)}
    if isinstance(rules, RuleFile):
        compared, known = QUANTITIES[collective], rules.algorithms(collective)
        for message in (m for comm in rules.collectives.get(collective, ()) for m in comm.messages):
            told.add((known.get(message.number, ""), message.segment_bytes, message.fan))
            if compared in ("n", "P n"):
                conditions.add(Condition(compared, "<", message.from_bytes))
            if compared in ("n", "P n") and message.to_bytes is not None:
                conditions.add(Condition(compared, "<=", message.to_bytes))
    return conditions, told


def _looks(collective: str, ranks: int, rules: str | RuleFile, itemsize: int) -> Callable[[int], dict[str, Any]]:
    """Return the function that gives what the conditions of a decision look at, for a size."""
    total = ranks if collective == "allgatherv" and rule_set(rules) == "openmpi-4.0" else 1

    def values(nbytes: int) -> dict[str, Any]:
        n = np.int64(nbytes * total)
        return {"P": np.int64(ranks), "n": n, "count": n // itemsize, "P n": np.float64(ranks) * np.float64(n)}

    return values


def _may_hold(row: Row, ranks: int) -> bool:
    return all(c.holds({"P": np.asarray(ranks)}) for c in row.conditions if c.left == "P" and not c.of)


def _outcome(
    collective: str,
    told: tuple[str, int, int],
    ranks: int,
    size: Callable[[int], int],
    itemsize: int,
    commutative: bool,
) -> Callable[[int], Any]:
    """Return the function that says what runs in place of `told` at a size."""
    name, segment, fan = told
    return lambda m: runs(
        collective, name, ranks, -(-size(m) // itemsize), commutative, segment_bytes=segment, fan=fan, itemsize=itemsize
    )


def _truth(condition: Condition, looks: Callable[[int], dict[str, Any]], size: Callable[[int], int]) -> Any:
    return lambda m: bool(condition.holds(looks(size(m))))


def _differs(outcome: Callable[[int], Any], now: Any) -> Callable[[int], bool]:
    return lambda m: bool(outcome(m) != now)


def _changes(outcome: Callable[[int], Any], low: int, top: int) -> list[int]:
    """Return every whole number in (low, top] at which an outcome changes, of which none comes back."""
    found = []
    last = outcome(top)
    while (now := outcome(low)) != last:
        low = low + 1 + bisect_left(range(low + 1, top + 1), True, key=_differs(outcome, now))
        found.append(low)
    return found
