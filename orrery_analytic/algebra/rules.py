"""`guidelines`: a collective should not cost more than others that do its work; proved, refuted, or left open."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from orrery_analytic.algebra.crossover import crossover
from orrery_analytic.algebra.exact import exact_cost, one_whole
from orrery_analytic.algebra.monomials import RANKS, sign_over_ranks
from orrery_analytic.algebra.tables import html_table
from orrery_analytic.calls import collective_cost
from orrery_analytic.cost import Cost
from orrery_analytic.decisions.whole import LARGEST_SIZE
from orrery_analytic.errors import QuantityError
from orrery_analytic.networks import Hockney, LogGP
from orrery_analytic.symbols import P, n
from orrery_analytic.units import shown

__all__ = ["GUIDELINES", "Verdict", "Verdicts", "guideline", "guidelines"]

GUIDELINES: tuple[tuple[str, tuple[tuple[str, sp.Expr], ...]], ...] = (
    ("allreduce", (("reduce", sp.S.One), ("bcast", sp.S.One))),
    ("allreduce", (("reduce_scatter", sp.S.One), ("allgather", 1 / P))),
    ("allgather", (("gather", sp.S.One), ("bcast", P))),
    ("allgather", (("alltoall", sp.S.One),)),
    ("bcast", (("scatter", 1 / P), ("allgather", 1 / P))),
    ("reduce", (("allreduce", sp.S.One),)),
    ("reduce", (("reduce_scatter", sp.S.One), ("gather", 1 / P))),
    ("reduce_scatter", (("reduce", sp.S.One), ("scatter", 1 / P))),
    ("gather", (("allgather", sp.S.One),)),
    ("scatter", (("bcast", P),)),
)
"""Each collective, and those whose sum it should not exceed, with their n over its own."""


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
    left: Cost, right: Cost, machine: Any = None, ranks: Iterable[int] = RANKS, name: str = "left <= right"
) -> Verdict:
    """Return whether one cost is at most another one, for whole bytes from 1 on.

    Parameters
    ----------
    left, right : Cost
    machine : Machine or mapping of symbol name to number, optional
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
        If the machine lacks a symbol.

    Without a machine, "proved" means that no product of n and parameters has a larger factor on the left at any P, and
    "refuted" that with one parameter alone the left is larger. What lies between, and most maxima, is left open.
    Source: derived.
    """
    if not isinstance(name, str):
        raise QuantityError(f"name is the claim as text, but {shown(name)} was given.")
    for cost in (left, right):
        if not isinstance(cost, Cost):
            raise QuantityError(f"a Cost is allowed, such as collective_cost gives, but {shown(cost)} was given.")
    if not isinstance(ranks, Iterable) or (isinstance(ranks, np.ndarray) and not ranks.ndim):
        raise QuantityError(f"ranks are several numbers of ranks, such as range(2, 65), but {shown(ranks)} was given.")
    if machine is not None:
        few = [one_whole("ranks", p, 2, LARGEST_SIZE) for p in ranks]
        if not few:
            raise QuantityError("ranks are several numbers of ranks, such as range(2, 65), but none was given.")
        return _on_machine(left, right, machine, few, name)
    difference = right.total - left.total
    if all(sign is not None and sign >= 0 for sign in sign_over_ranks(difference)):
        return Verdict(name, "proved", f"for P = {RANKS[0]} to {RANKS[-1]} and all parameters")
    parameters = sorted({s.name for s in difference.free_symbols} - {"P", "n"})
    for p in (*range(2, 18), 64, 100, 1024):
        for alone in parameters:
            values = {**dict.fromkeys(parameters, Fraction(0)), alone: Fraction(1), "P": Fraction(p), "n": Fraction(1)}
            a, b = exact_cost(left, values), exact_cost(right, values)
            if a is not None and b is not None and a > b:
                return Verdict(name, "refuted", f"where {alone} alone counts", {"P": p, "n": 1, alone: 1})
    return Verdict(name, "open", "for all parameters; give a machine")


def _on_machine(left: Cost, right: Cost, machine: Any, ranks: list[int], name: str) -> Verdict:
    crossing, told = crossover(left, right, "n"), getattr(machine, "name", "these numbers")
    undefined = False
    for p in ranks:
        for stretch in crossing.intervals(machine, P=p):
            if stretch.cheaper == "b":
                return Verdict(name, "refuted", f"on {told}", {"P": p, "n": stretch.first})
            undefined |= stretch.cheaper not in ("a", "equal")
    if undefined:
        return Verdict(name, "open", f"on {told}: one of the formulas is not stated for all P")
    return Verdict(name, "proved", f"on {told} for P = {ranks[0]} to {ranks[-1]}, every n")


def guidelines(
    algorithms: Mapping[str, str],
    network: Hockney | LogGP = Hockney(),  # noqa: B008 - frozen
    machine: Any = None,
    ranks: Iterable[int] = RANKS,
) -> Verdicts:
    """Return the verdict on each of `GUIDELINES` whose collectives all have an algorithm.

    Parameters
    ----------
    algorithms : mapping of collective to algorithm
        ``{"allreduce": "ring", "reduce": "binomial", "bcast": "binomial"}``; of equal n for all, as each is scaled.
    network : Hockney or LogGP
    machine, ranks
        As in `guideline`.

    Returns
    -------
    Verdicts
        A tuple of `Verdict`, that a notebook shows as a table.

    Raises
    ------
    UnknownNameError
        If there is no such collective or algorithm, or the machine lacks a symbol.
    QuantityError
        For numbers out of range.

    Source: after Traff, Gropp and Thakur, Self-consistent MPI performance guidelines, TPDS 21(5), 2010.
    """
    if not isinstance(algorithms, Mapping) or not all(isinstance(name, str) for name in algorithms.values()):
        raise QuantityError(
            'a mapping of collectives to names of algorithms is allowed, such as {"allreduce": "ring", "reduce": '
            f'"binomial", "bcast": "binomial"}}, but {shown(algorithms)} was given.'
        )
    costs = {where: collective_cost(where, name, network) for where, name in algorithms.items()}
    found = []
    for where, others in GUIDELINES:
        if {where, *(other for other, _ in others)} <= costs.keys():
            right = sum((_scaled(costs[other], scale) for other, scale in others), Cost())
            claim = f"{where} <= {' + '.join(other for other, _ in others)}"
            found.append(guideline(costs[where], right, machine, ranks, claim))
    return Verdicts(found)


def _scaled(cost: Cost, scale: sp.Expr) -> Cost:
    """Return a cost of a collective for n times a factor."""
    return Cost(validity=cost.validity, collective={name: e.subs(n, scale * n) for name, e in cost.collective.items()})
