"""`guideline`: whether one cost is at most another one; proved, refuted with a witness, or left open."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
import sympy as sp

from orrery_analytic.algebra.crossings.stretches import over_whole
from orrery_analytic.algebra.exact.lines import Lines, latest
from orrery_analytic.algebra.exact.monomials import RANKS, sign_over_ranks, unguarded
from orrery_analytic.algebra.exact.values import exact_cost, numbers_for, one_whole
from orrery_analytic.algebra.tables import html_table
from orrery_analytic.cost import Cost, evaluate
from orrery_analytic.decisions.whole import LARGEST_SIZE
from orrery_analytic.errors import QuantityError
from orrery_analytic.units import shown

__all__ = ["Verdict", "Verdicts", "guideline", "judged"]

Groups = Sequence[Sequence[Cost]]
"""A sum with a summand for each group: the cheapest cost of it."""
_PROBES = (*range(2, 18), 64, 100, 1024)
_BLOCK = 1024
"""Bytes of a block of the witness: LogGP counts from one byte on."""


@dataclass(frozen=True)
class Verdict:
    """Whether one cost is at most another one.

    Parameters
    ----------
    name : str
        What is claimed.
    verdict : str
        "proved", "refuted" or "open".
    where : str
        For which P and parameters it is proved, or why it is open.
    witness : mapping or None
        Of a refuted one: P, n and parameters at which it does not hold.
    """

    name: str
    verdict: str
    where: str
    witness: Mapping[str, Any] | None = None

    @property
    def told(self) -> str:
        """The witness as text; empty where there is none."""
        return ", ".join(f"{k} = {v}" for k, v in (self.witness or {}).items())

    def __str__(self) -> str:
        return f"{self.name}: {self.verdict} {self.where}" + (f": {self.told}" if self.witness else "")


class Verdicts(tuple[Verdict, ...]):
    """Verdicts, a tuple that a notebook shows as a table."""

    def __repr__(self) -> str:
        return "\n".join(map(str, self))

    def _repr_html_(self) -> str:
        rows = ((v.name, v.verdict, v.where, v.told) for v in self)
        return html_table(
            ("guideline", "verdict", "where", "witness"), ([html.escape(cell) for cell in row] for row in rows)
        )


def guideline(
    left: Cost | Iterable[Cost],
    right: Cost | Iterable[Cost],
    machine: Any = None,
    ranks: Iterable[int] = RANKS,
    name: str = "left <= right",
) -> Verdict:
    """Return whether one cost is at most another one, for whole bytes from 1 on.

    Parameters
    ----------
    left, right : Cost, or several
        Of several costs the cheapest one counts, at each P and n.
    machine : Machine, its name, or mapping of symbol name to number, optional
        With it the verdict is for its numbers: exact for every n, at each of `ranks`. Without it, for all parameters.
    ranks : iterable of int
        Numbers of ranks; 2 to 1024 unless given. Without a machine it is those always.
    name : str
        What is claimed.

    Raises
    ------
    QuantityError
        If one is no `Cost`, or for numbers out of range.
    UnknownNameError
        If there is no such machine, or it lacks a symbol.

    Without a machine, "proved" means that at every P, for each cost on the right, there is one on the left with no
    larger factor before any product of n and parameters, and "refuted" that with one parameter alone the left is
    larger. What lies between, and most maxima, is left open. Source: derived.
    """
    if not isinstance(name, str):
        raise QuantityError(f"name is the claim as text, but {shown(name)} was given.")
    return judged((_several(left),), (_several(right),), machine, ranks, name)


def _several(costs: Any) -> tuple[Cost, ...]:
    single = isinstance(costs, Cost | Mapping | str) or not isinstance(costs, Iterable)
    found = (costs,) if single else tuple(costs)
    for cost in found:
        if not isinstance(cost, Cost):
            raise QuantityError(f"a Cost is allowed, such as collective_cost gives, but {shown(cost)} was given.")
    if not found:
        raise QuantityError("of several costs the cheapest one counts, but none was given.")
    return found


def judged(left: Groups, right: Groups, machine: Any, ranks: Iterable[int], name: str) -> Verdict:
    """Return the verdict on two sums of cheapest costs; see `guideline`."""
    if not isinstance(ranks, Iterable) or (isinstance(ranks, np.ndarray) and not ranks.ndim):
        raise QuantityError(f"ranks are several numbers of ranks, such as range(2, 65), but {shown(ranks)} was given.")
    if machine is None:
        return _for_all_parameters(left, right, name)
    few = sorted({one_whole("ranks", p, 2, LARGEST_SIZE) for p in ranks})
    if not few:
        raise QuantityError("ranks are several numbers of ranks, such as range(2, 65), but none was given.")
    return _on_machine(left, right, machine, few, name)


@lru_cache(maxsize=1024)
def _stated(total: sp.Expr) -> np.ndarray:
    """Return at which P of `RANKS` a formula is stated."""
    given = dict.fromkeys((s.name for s in total.free_symbols), 1.0) | {"P": np.array(RANKS)}
    (seconds,) = evaluate((total,), {s.name: given[s.name] for s in total.free_symbols})
    return np.broadcast_to(np.isfinite(np.asarray(seconds, dtype=float)), (len(RANKS),))


def _sums(groups: Groups) -> list[tuple[sp.Expr, np.ndarray]]:
    """Return each choice of one cost a group, as (total, at which P it is stated)."""
    return [
        (unguarded(sp.Add(*(c.total for c in chosen))), np.all([_stated(c.total) for c in chosen], axis=0))
        for chosen in product(*groups)
    ]


def _for_all_parameters(left: Groups, right: Groups, name: str) -> Verdict:
    lefts, rights = _sums(left), _sums(right)
    anywhere = np.any([w for _, w in lefts], axis=0) & np.any([w for _, w in rights], axis=0)
    if anywhere.all() and all(_covered(total, where, lefts) for total, where in rights):
        return Verdict(name, "proved", f"for P = {RANKS[0]} to {RANKS[-1]} and all parameters")
    witness = _lone_parameter(left, right)
    if witness is not None:
        alone = next(key for key in witness if key not in ("P", "n"))
        return Verdict(name, "refuted", f"where {alone} alone counts", witness)
    if not anywhere.all():
        return Verdict(name, "open", "for all parameters: one of the formulas is not stated for all P")
    return Verdict(name, "open", "for all parameters; give a machine")


def _covered(total: sp.Expr, where: np.ndarray, lefts: list[tuple[sp.Expr, np.ndarray]]) -> bool:
    """Return whether wherever one sum is stated, some left one is not larger whatever the parameters are."""
    open_ = where.copy()
    for other, there in lefts:
        if not open_.any():
            break
        signs = np.array([-1 if s is None else s for s in sign_over_ranks(sp.expand(total - other))])
        open_ &= ~(there & (signs >= 0))
    return not open_.any()


def _lone_parameter(left: Groups, right: Groups) -> dict[str, Any] | None:
    """Return P and the parameter that, alone, makes the left one the larger one."""
    names = sorted({s for group in (*left, *right) for cost in group for s in cost.symbols} - {"P", "n"})
    for p in _PROBES:
        size = _BLOCK * p if "G" in names else 1
        for alone in names:
            values = {
                **dict.fromkeys(names, Fraction(0)),
                alone: Fraction(1),
                "P": Fraction(p),
                "n": Fraction(_BLOCK * p),
            }
            a, b = (_cheapest(side, values) for side in (left, right))
            if a is not None and b is not None and a > b:
                return {"P": p, "n": size, alone: 1}
    return None


def _cheapest(groups: Groups, values: Mapping[str, Any]) -> Any:
    """Return the sum over groups of the cheapest cost; None where a group has none that is stated."""
    total: Any = Fraction(0)
    for group in groups:
        stated = [seconds for cost in group if (seconds := exact_cost(cost, values)) is not None]
        if not stated:
            return None
        total = total - latest(*(-seconds for seconds in stated))
    return total


def _on_machine(left: Groups, right: Groups, machine: Any, ranks: list[int], name: str) -> Verdict:
    told = machine if isinstance(machine, str) else getattr(machine, "name", "these numbers")
    costs = tuple(cost for group in (*left, *right) for cost in group)
    numbers = numbers_for(costs, machine, {"P": ranks[0]}, "n")
    first, undefined = Fraction(1), []
    for p in ranks:
        values = {**numbers, "P": Fraction(p), "n": Lines.identity(first)}
        a, b = (_cheapest(side, values) for side in (left, right))
        if a is None or b is None:
            undefined.append(p)
            continue
        dearer = next((s for s in over_whole(a, b, first, None) if s.cheaper == "b"), None)
        if dearer is not None:
            return Verdict(name, "refuted", f"on {told}", {"P": p, "n": dearer.first})
    if undefined:
        return Verdict(name, "open", f"on {told}: one of the formulas is not stated at P = {_told(undefined)}")
    return Verdict(name, "proved", f"on {told} for P = {_told(ranks)}, every n")


def _told(ranks: list[int]) -> str:
    """Return numbers of ranks as text; that they have gaps is seen."""
    if ranks == list(range(ranks[0], ranks[-1] + 1)):
        return f"{ranks[0]} to {ranks[-1]}" if ranks[1:] else f"{ranks[0]}"
    few = [*ranks[:4], "...", ranks[-1]] if len(ranks) > 8 else ranks
    return f"{', '.join(map(str, few))} ({len(ranks)} numbers of ranks)"
