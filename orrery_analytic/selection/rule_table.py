"""The rules of a library as a table that people read: where each answers, what then runs, and what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sympy as sp

from orrery_analytic.calls import collective_cost
from orrery_analytic.collectives.registry import COMPOSED, resolve
from orrery_analytic.decisions.fixed import fixed_rows
from orrery_analytic.decisions.names import ALGORITHMS, SELF
from orrery_analytic.decisions.rows import Condition, Row
from orrery_analytic.decisions.substitutions import SUBSTITUTIONS
from orrery_analytic.networks import Network
from orrery_analytic.selection.plans import Plan, bytes_text, plan_cost
from orrery_analytic.symbols import P, n

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["rule_table"]

_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_UPPER, _LOWER = ("<", "<="), (">", ">=")


def rule_table(collective: str, rules: str, network: Network, commutative: bool, **options: Any) -> pd.DataFrame:
    """Return the rows of one of the rule sets, each with the ranges of P and n where it answers.

    Parameters
    ----------
    collective, rules : str
        As the decisions name them.
    network : Hockney, LogGP or TwoLevel
    commutative : bool
    **options
        buffers, transport, staging and bands of `plan_cost`.
    """
    import pandas as pd

    rows = fixed_rows(collective, rules, commutative)
    names = dict([SELF, *ALGORITHMS[collective].items()])
    found = []
    for i, row in enumerate(rows):
        ranks, sizes = _domain(row, rows[:i])
        plan = Plan(names[row.number], row.segment_bytes, (), row.fan)
        runs = _told(collective, plan, commutative)
        found.append((ranks, sizes, plan.described, runs, _formula(collective, plan, network, options)))
    return pd.DataFrame(found, columns=["P", "n", "algorithm", "runs", "formula"])


def _domain(row: Row, before: Sequence[Row]) -> tuple[str, str]:
    """Return where a row answers, as one text for P and one for everything else.

    An earlier row did not hold: if all its conditions but one follow from what is known here, that one is false.
    """
    known, waiting = list(row.conditions), _shortened(before)
    while waiting:
        rest = []
        for earlier in waiting:
            unknown = [c for c in earlier if not any(_implies(k, c) for k in known)]
            if any(_excludes(k, c) for c in unknown for k in known):
                continue
            if len(unknown) == 1:
                known.append(_negated(unknown[0]))
            else:
                rest.append(earlier)
        if len(rest) == len(waiting):
            break
        waiting = rest  # what was just learnt may settle others
    others = [" and ".join(map(_text, earlier)) for earlier in waiting]
    ranks = _ranges("P", [c for c in known if c.left == "P" and not c.of])
    sizes = _ranges("n", [c for c in known if c.left == "n" and not c.of])
    mixed = [_text(c) for c in known if c.of or c.left not in ("P", "n")]
    return ranks or "any", " and ".join([*([sizes] if sizes else []), *mixed, *(f"not ({o})" for o in others)]) or "any"


def _shortened(rows: Sequence[Row]) -> list[tuple[Condition, ...]]:
    """Return the conditions of rows without those that an earlier row settles: after "A and b", "A and not b" is A."""
    found: list[tuple[Condition, ...]] = []
    for row in rows:
        kept = [
            c
            for c in row.conditions
            if c.relation not in _OPPOSITE or {*row.conditions} - {c} | {_negated(c)} not in map(set, found)
        ]
        found.append(tuple(kept))
    return found


def _negated(c: Condition) -> Condition:
    opposite = {**_OPPOSITE, "==": ">" if c.left == "P" and c.bound == 1 else "!=", "is odd": "is even",
                "is a power of two": "is no power of two"}  # fmt: skip
    return Condition(c.left, opposite[c.relation], c.bound, c.slope, c.of)


def _bounds(c: Condition) -> tuple[float, float] | None:
    """Return the whole numbers (least, largest) that a condition without a slope allows."""
    if c.of or c.relation not in (*_UPPER, *_LOWER, "=="):
        return None
    ends = {
        "<": (0, c.bound - 1), "<=": (0, c.bound), ">": (c.bound + 1, sp.oo), ">=": (c.bound, sp.oo),
        "==": (c.bound, c.bound),
    }  # fmt: skip
    return ends[c.relation]


def _implies(a: Condition, b: Condition) -> bool:
    """Return whether b holds wherever a does."""
    if a == b:
        return True
    inner, outer = _bounds(a), _bounds(b)
    return bool(a.left == b.left and inner and outer and outer[0] <= inner[0] and inner[1] <= outer[1])


def _excludes(a: Condition, b: Condition) -> bool:
    """Return whether b holds nowhere where a does."""
    if (a.left, a.relation, b.relation, a.bound) == (b.left, "!=", "==", b.bound):
        return True
    first, second = _bounds(a), _bounds(b)
    return bool(a.left == b.left and first and second and (first[1] < second[0] or second[1] < first[0]))


def _ranges(name: str, conditions: Sequence[Condition]) -> str:
    """Return the bounds on one quantity as one chain, "32 <= P < 64", and what else is said of it."""
    spans = [span for c in conditions if (span := _bounds(c))]
    low = max((span[0] for span in spans), default=0)
    high = min((span[1] for span in spans), default=sp.oo)
    for c in sorted((c for c in conditions if c.relation == "!="), key=lambda c: c.bound):
        low += c.bound == low
    rest = [_text(c) for c in conditions if _bounds(c) is None and not (c.relation == "!=" and c.bound < low)]
    write = bytes_text if name == "n" else str
    chain = ""
    if low == high:
        chain = f"{name} = {write(int(low))}"
    elif high != sp.oo:
        chain = f"{write(int(low))} <= {name} < {write(int(high) + 1)}" if low else f"{name} < {write(int(high) + 1)}"
    elif low:
        chain = f"{name} >= {write(int(low))}"
    return " and ".join(filter(None, [chain, *rest]))


def _text(c: Condition) -> str:
    """Return a condition as people write it; sizes with their unit."""
    if c.left == "n" and not c.of and c.relation in (*_UPPER, *_LOWER, "==", "!="):
        return f"n {c.relation} {bytes_text(int(c.bound))}"
    return c.text() if c.relation != "is even" else f"{c.left} is even"


def _told(collective: str, plan: Plan, commutative: bool) -> str:
    """Return what runs where the library takes `plan`: itself, or what stands in for it and where."""
    if plan.algorithm == SELF[1]:
        return plan.algorithm
    told, names = [], {plan.algorithm}
    for where, kind, condition, instead in SUBSTITUTIONS:
        if where != collective or kind not in names:
            continue
        if condition.left not in ("commutative", "fan"):
            told.append(f"{instead} where {condition.text()}")
            names.add(instead)
        elif not commutative if condition.left == "commutative" else plan.fan <= condition.bound:
            return instead
    return "; ".join([plan.described, *told])


def _formula(collective: str, plan: Plan, network: Network, options: dict[str, Any]) -> sp.Expr:
    """Return the total of what is chosen; that of a composed algorithm in the costs of its parts."""
    parts = COMPOSED.get(resolve(collective, plan.algorithm)) if plan.algorithm != SELF[1] else None
    if parts is None:
        cost = plan_cost(collective, plan, network, **options)
        return sp.nan if cost is None else cost.total
    free = [part for part in parts if not part.algorithm]
    any_parts = Plan(plan.algorithm, 0, tuple(f"{part.collective}:{ALGORITHMS[part.collective][1]}" for part in free))
    host, whole = plan_cost(collective, any_parts, network), plan_cost(collective, any_parts, network, **options)
    if host is None or whole is None:
        return sp.nan
    device = [e for name, e in whole.terms.items() if name not in host.terms]
    fixed = [
        collective_cost(part.collective, part.algorithm, network).total.subs(n, part.scale * n)
        for part in parts
        if part.algorithm
    ]
    return sp.Add(*device, *fixed, *(sp.Function(f"T_{part.collective}")(P, part.scale * n) for part in free))
