"""`guideline`: whether one cost is at most another one; proved, refuted with a witness, or left open."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from orrery_analytic.algebra.crossings.all_parameters import Groups, cheapest, for_all_parameters
from orrery_analytic.algebra.crossings.stretches import over_whole
from orrery_analytic.algebra.exact.arguments import numbers_for, one_cost, one_whole
from orrery_analytic.algebra.exact.lines import Lines
from orrery_analytic.algebra.exact.monomials import RANKS
from orrery_analytic.algebra.tables import html_table
from orrery_analytic.cost import Cost
from orrery_analytic.decisions.whole import LARGEST_SIZE
from orrery_analytic.errors import QuantityError
from orrery_analytic.units import shown

__all__ = ["Verdict", "Verdicts", "guideline", "judged"]


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
    larger factor before any product of n and parameters; with two parameters alone, such as alpha and beta, it is exact
    over their quotient. "refuted" means that with one or two parameters alone the left is larger. The rest is left
    open. Verdicts are on formulas: what is refuted where `validity` calls the left one an upper bound may hold for the
    schedule. Source: derived.
    """
    if not isinstance(name, str):
        raise QuantityError(f"name is the claim as text, but {shown(name)} was given.")
    return judged((_several(left),), (_several(right),), machine, ranks, name)


def _several(costs: Any) -> tuple[Cost, ...]:
    single = isinstance(costs, Cost | Mapping | str) or not isinstance(costs, Iterable)
    found = tuple(map(one_cost, (costs,) if single else costs))
    if not found:
        raise QuantityError("of several costs the cheapest one counts, but none was given.")
    return found


def judged(left: Groups, right: Groups, machine: Any, ranks: Iterable[int], name: str) -> Verdict:
    """Return the verdict on two sums of cheapest costs; see `guideline`."""
    if not isinstance(ranks, Iterable) or (isinstance(ranks, np.ndarray) and not ranks.ndim):
        raise QuantityError(f"ranks are several numbers of ranks, such as range(2, 65), but {shown(ranks)} was given.")
    if machine is None:
        return Verdict(name, *for_all_parameters(left, right))
    few = sorted({one_whole("ranks", p, 2, LARGEST_SIZE) for p in ranks})
    if not few:
        raise QuantityError("ranks are several numbers of ranks, such as range(2, 65), but none was given.")
    return _on_machine(left, right, machine, few, name)


def _on_machine(left: Groups, right: Groups, machine: Any, ranks: list[int], name: str) -> Verdict:
    told = machine if isinstance(machine, str) else getattr(machine, "name", "these numbers")
    costs = tuple(cost for group in (*left, *right) for cost in group)
    numbers = numbers_for(costs, machine, {"P": ranks[0]}, "n")
    first, undefined = Fraction(1), []
    for p in ranks:
        values = {**numbers, "P": Fraction(p), "n": Lines.identity(first)}
        a, b = (cheapest(side, values) for side in (left, right))
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
