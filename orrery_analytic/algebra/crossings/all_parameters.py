"""Whether one sum of cheapest costs is at most another one whatever the parameters are: proved, refuted, or open."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache, partial
from itertools import combinations, product
from math import ceil, floor, inf, log2
from typing import Any

import numpy as np
import sympy as sp

from orrery_analytic.algebra.crossings.stretches import Stretch, over_reals
from orrery_analytic.algebra.exact.lines import Lines, latest
from orrery_analytic.algebra.exact.monomials import RANKS, sign_over_ranks, unguarded
from orrery_analytic.algebra.exact.values import exact_cost, exact_value
from orrery_analytic.cost import Cost, evaluate
from orrery_analytic.symbols import describe, n

__all__ = ["Groups", "cheapest", "for_all_parameters"]

Groups = Sequence[Sequence[Cost]]
"""A sum with a summand for each group: the cheapest cost of it."""

_Stated = tuple[sp.Expr, np.ndarray]
"""A sum of costs, and at which P of `RANKS` it is stated."""

_PROBES = (2, 4, 8, 16, 64, 3, *(p for p in range(5, 18) if p not in (8, 16)), 100, 1024)
"""Numbers of ranks for a witness; powers of two first, as all formulas are exact there."""
_BLOCK = 1024
"""Bytes of a witness for each rank: that many a schedule cuts into equal blocks, and LogGP counts from one byte on."""


def cheapest(groups: Groups, values: Mapping[str, Any]) -> Any:
    """Return the sum over groups of the cheapest cost; None where a group has none that is stated."""
    total: Any = Fraction(0)
    for group in groups:
        stated = [seconds for cost in group if (seconds := exact_cost(cost, values)) is not None]
        if not stated:
            return None
        total = total + _least(stated)
    return total


def _least(values: Sequence[Any]) -> Any:
    return -latest(*(-v for v in values))


def for_all_parameters(left: Groups, right: Groups) -> tuple[str, str, dict[str, Any] | None]:
    """Return the verdict, where it holds or why it is open, and the witness of a refuted one; see `guideline`.

    Proved are, at each P, sums on the right of which no product of n and parameters has a smaller factor than in a sum
    on the left; what is left then, where two parameters are all and n stands beside one of them, over their quotient.
    """
    names = sorted({s for group in (*left, *right) for cost in group for s in cost.symbols} - {"P", "n"})
    found = next(_witnesses(left, right, [(name,) for name in names]), None)
    if found is not None:
        return _refuted(found)
    lefts, rights = _sums(left), _sums(right)
    everywhere = bool(np.all(_anywhere(lefts) & _anywhere(rights)))
    unproved = [(total, there) for total, where in rights if (there := _uncovered(total, where, lefts)).any()]
    proved = ("proved", f"for P = {RANKS[0]} to {RANKS[-1]} and all parameters", None)
    if everywhere and not unproved:
        return proved
    decided = everywhere and _of_one_quotient([e for e, _ in (*lefts, *rights)], names)
    found = next(_between(lefts, unproved, names) if decided else _witnesses(left, right, _pairs(names)), None)
    if found is not None:
        return _refuted(found)
    told = "give a machine" if everywhere else "one of the formulas is not stated for all P"
    return proved if decided else ("open", f"for all parameters: {told}", None)


def _refuted(witness: dict[str, Any]) -> tuple[str, str, dict[str, Any]]:
    alone = [key for key in witness if key not in ("P", "n")]
    return "refuted", f"where {' and '.join(alone)} alone count{'s' * (len(alone) == 1)}", witness


@lru_cache(maxsize=1024)
def _where_stated(total: sp.Expr) -> np.ndarray:
    given = dict.fromkeys((s.name for s in total.free_symbols), 1.0) | {"P": np.array(RANKS)}
    (seconds,) = evaluate((total,), {s.name: given[s.name] for s in total.free_symbols})
    return np.broadcast_to(np.isfinite(np.asarray(seconds, dtype=float)), (len(RANKS),))


def _sums(groups: Groups) -> list[_Stated]:
    """Return each choice of one cost a group."""
    return [
        (unguarded(sp.Add(*(c.total for c in chosen))), np.all([_where_stated(c.total) for c in chosen], axis=0))
        for chosen in product(*groups)
    ]


def _anywhere(sums: list[_Stated]) -> np.ndarray:
    return np.asarray(np.any([where for _, where in sums], axis=0))


def _uncovered(total: sp.Expr, where: np.ndarray, lefts: list[_Stated]) -> np.ndarray:
    """Return at which P a sum is stated, and no left one is at most as large whatever the parameters are."""
    open_ = where.copy()
    for other, there in lefts:
        if not open_.any():
            break
        signs = np.array([-1 if s is None else s for s in sign_over_ranks(sp.expand(total - other))])
        open_ &= ~(there & (signs >= 0))
    return open_


def _cheapest_at(sums: Sequence[Groups], at: Mapping[str, Any], put_in: Mapping[str, Any]) -> list[Any]:
    return [cheapest(groups, {**at, **put_in}) for groups in sums]


def _pairs(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return each latency with each time a byte, and the times a byte with each other."""
    latencies = [name for name in names if describe(name).unit == "s"]
    others = [name for name in names if name not in latencies]
    return [*product(latencies, others), *combinations(others, 2)]


def _witnesses(left: Groups, right: Groups, alone: Sequence[tuple[str, ...]]) -> Iterator[dict[str, Any]]:
    """Return P, n and the parameters that alone make the left sum the larger one."""
    none = {s: Fraction(0) for group in (*left, *right) for cost in group for s in cost.symbols}
    if any(describe(s).unit not in ("s", "s/B") for s in none.keys() - {"P", "n"}):
        return  # a rate, or a size, cannot be 0
    for p, names in product(_PROBES, alone):
        at = {**none, "P": Fraction(p), "n": Fraction(_BLOCK * p)}
        yield from _larger(partial(_cheapest_at, (left, right), at), p, names)


def _larger(
    sides: Callable[[Mapping[str, Any]], Sequence[Any]], p: int, alone: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Return the witnesses at one P: one parameter is 1, or the first of two is 1 and the second anything."""
    first, *second = alone
    put_in: dict[str, Any] = {first: Fraction(1)}
    a, b = sides(put_in | dict.fromkeys(second, Lines.identity(Fraction(0))))
    if a is None or b is None:
        return
    dearer = [s for s in over_reals(a, b, Fraction(0), None) if s.cheaper == "b"]
    for x in map(_inside, dearer) if second else [1.0] * len(dearer):
        a, b = sides(put_in | dict.fromkeys(second, Fraction(x)))
        if a > b:
            yield {"P": p, "n": _BLOCK * p, first: 1} | dict.fromkeys(second, x)


def _inside(stretch: Stretch) -> float:
    """Return a number inside a stretch, a power of two if there is one."""
    low, high, _ = stretch
    power = 2.0 ** (floor(log2(low)) + 1 if low else ceil(log2(high)) - 1 if high < inf else 0)
    return power if low < power < high else (low + high) / 2


def _of_one_quotient(totals: Sequence[sp.Expr], names: Sequence[str]) -> bool:
    """Return whether costs hold two parameters alone, the second beside n: then their quotient decides for every n."""
    if len(names) != 2:
        return False
    rate = describe(names[1]).symbol
    return not any(e.xreplace({rate: rate / n}).has(n) for e in totals)


def _between(lefts: list[_Stated], unproved: list[_Stated], names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Return the witnesses at each P at which something is unproved."""
    for i, p in enumerate(RANKS):
        found = [[e for e, where in sums if where[i]] for sums in (lefts, unproved)]
        if found[1]:
            yield from _larger(partial(_least_at, found, {"P": Fraction(p), "n": Fraction(_BLOCK * p)}), p, names)


def _least_at(sums: Sequence[Sequence[sp.Expr]], at: Mapping[str, Any], put_in: Mapping[str, Any]) -> list[Any]:
    return [_least([exact_value(e, {**at, **put_in}) for e in part]) for part in sums]
