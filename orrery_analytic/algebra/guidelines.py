"""`guidelines`: a collective should not cost more than others that do its work; proved, refuted, or left open."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import sympy as sp

from orrery_analytic.algebra.exact.monomials import RANKS
from orrery_analytic.algebra.verdicts import Verdict, Verdicts, judged
from orrery_analytic.calls import collective_cost
from orrery_analytic.collectives.registry import list_algorithms
from orrery_analytic.cost import Cost
from orrery_analytic.errors import OrreryError, QuantityError
from orrery_analytic.networks import Hockney, LogGP
from orrery_analytic.symbols import P, n
from orrery_analytic.units import shown

__all__ = ["GUIDELINES", "guidelines"]

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

_BEST = "best"
_FEW = tuple(p for k in range(1, 11) for p in (2**k, 2**k + 1) if p <= 1024)


def guidelines(
    algorithms: Mapping[str, str] | str,
    network: Hockney | LogGP = Hockney(),  # noqa: B008 - frozen
    machine: Any = None,
    ranks: Iterable[int] | None = None,
) -> Verdicts:
    """Return the verdict on each of `GUIDELINES` whose collectives all have an algorithm.

    Parameters
    ----------
    algorithms : mapping of collective to algorithm, or "best"
        ``{"allreduce": "ring", "reduce": "binomial", "bcast": "best"}``; of equal n for all, as each is scaled. "best"
        is the cheapest of all algorithms with a formula, in one segment; alone it is meant for every collective.
    network : Hockney or LogGP
    machine
        As in `guideline`.
    ranks : iterable of int, optional
        With a machine; unless given 2 to 1024, or where "best" is asked for powers of two and one more.

    Returns
    -------
    Verdicts
        A tuple of `Verdict`, that a notebook shows as a table.

    Raises
    ------
    UnknownNameError
        If there is no such collective, algorithm or machine, or the machine lacks a symbol.
    QuantityError
        For numbers out of range.

    Source: after Traff, Gropp and Thakur, Self-consistent MPI performance guidelines, TPDS 21(5), 2010.
    """
    if isinstance(algorithms, str) and algorithms == _BEST:
        algorithms = dict.fromkeys(sorted({c for where, others in GUIDELINES for c in (where, *dict(others))}), _BEST)
    if not isinstance(algorithms, Mapping) or not all(isinstance(name, str) for name in algorithms.values()):
        raise QuantityError(
            'a mapping of collectives to names of algorithms is allowed, such as {"allreduce": "ring", "reduce": '
            f'"binomial", "bcast": "best"}}, or "best", but {shown(algorithms)} was given.'
        )
    if not isinstance(network, Hockney | LogGP):
        raise QuantityError(f"network is Hockney or LogGP here, but {shown(network)} was given.")
    costs = {where: _costs(where, name, network) for where, name in algorithms.items()}
    if ranks is None:
        ranks = _FEW if _BEST in algorithms.values() else RANKS
    found: list[Verdict] = []
    for where, others in GUIDELINES:
        if {where, *(other for other, _ in others)} <= costs.keys():
            right = [[_scaled(cost, scale) for cost in costs[other]] for other, scale in others]
            claim = f"{where} <= {' + '.join(other for other, _ in others)}"
            found.append(judged([costs[where]], right, machine, ranks, claim))
    return Verdicts(found)


def _costs(collective: str, algorithm: str, network: Hockney | LogGP) -> list[Cost]:
    if algorithm != _BEST:
        return [collective_cost(collective, algorithm, network)]
    found = []
    for name in list_algorithms(collective):
        try:
            found.append(collective_cost(collective, name, network))
        except OrreryError:  # composed of others, which the library decides by P and n
            continue
    return found


def _scaled(cost: Cost, scale: sp.Expr) -> Cost:
    """Return a cost of a collective for n times a factor."""
    return Cost(validity=cost.validity, collective={name: e.subs(n, scale * n) for name, e in cost.collective.items()})
