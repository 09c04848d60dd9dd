"""Where ranks sit: closed forms on nodes (`TwoLevel`), which algorithms have one, and where it is exact."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import sympy as sp

from orrery_analytic.collectives import node_folds, node_formulas, node_pairs, node_rounds
from orrery_analytic.collectives.algorithm import EVERY, POWERS, TWO, Algorithm, Options
from orrery_analytic.collectives.node_rounds import close_on_nodes, inside_only
from orrery_analytic.collectives.rounds import Phase
from orrery_analytic.errors import QuantityError, shown
from orrery_analytic.networks import TwoLevel
from orrery_analytic.symbols import P, log2_ceil, log2_floor, n

__all__ = ["Placed", "on_nodes", "placed", "placed_claim", "placed_terms"]

_MULTIPLES = "multiples of ranks_per_node"
_POWER, _ANY = "ranks_per_node a power of two", ""
_ENDS = "an even ranks_per_node, and two network cards for the first and the last rank of a node"
_NEEDS: Mapping[str, Callable[[TwoLevel], bool]] = {
    _ANY: lambda network: True,
    _POWER: lambda network: network.ranks_per_node & (network.ranks_per_node - 1) == 0,
    _ENDS: lambda network: network.ranks_per_node % 2 == 0 and (network.ranks_per_node - 1) % network.cards > 0,
}
_Terms = Callable[[Algorithm, TwoLevel, Options], dict[str, sp.Expr]]


def _power(ranks: int) -> bool:
    return ranks & (ranks - 1) == 0


@dataclass(frozen=True)
class Placed:
    """The closed form of an algorithm on several nodes. On one node it is that of one level, with messages inside.

    Parameters
    ----------
    terms : function of (Algorithm, TwoLevel, Options)
        The terms for P > ranks_per_node.
    at : str
        For which P > ranks_per_node: EVERY, _MULTIPLES, POWERS, or TWO where there are no more than two ranks at all.
    shared : str
        What it is where ranks share cards; "" is exact.
    needs : str
        A key of `_NEEDS`: what must hold for the nodes.
    one_node_apart : bool
        Whether one node is a case of its own.
    folded : function, optional
        The terms for other multiples of ranks_per_node than those of `at`: where ranks share cards, if `high` says how
        good they are.
    high : int
        How many percent an upper bound is high, at the most, where ranks share cards.
    """

    terms: _Terms
    at: str = _MULTIPLES
    shared: str = ""
    needs: str = _POWER
    one_node_apart: bool = True
    folded: _Terms | None = None
    high: int = 0

    def folds(self, network: TwoLevel) -> bool:
        """Return whether the terms where ranks fold are offered."""
        return self.folded is not None and (self.high > 0 or network.sharing(network.ranks_per_node) == 1)

    def exists(self, network: TwoLevel, ranks: int) -> bool:
        """Return whether there is a closed form on so many ranks."""
        width = network.ranks_per_node
        at = _MULTIPLES if self.folds(network) else self.at
        more = {EVERY: True, _MULTIPLES: ranks % width == 0, POWERS: _power(ranks), TWO: False}
        return ranks <= width or more[at]

    def holds(self, network: TwoLevel, ranks: int, overtaking: bool = False) -> bool:
        """Return whether the formula is claimed to be exact; `overtaking` unless gamma < beta."""
        if ranks <= network.ranks_per_node or network.sharing(network.ranks_per_node) == 1 or not self.shared:
            return True
        return (self.shared == _OVERTAKING and not overtaking) or (self.shared == _FOLDED and _power(ranks))

    def told(self) -> str:
        """Return the claim in words."""
        if self.at == TWO:
            return "exact for P = 2 on one node"
        at = _MULTIPLES if self.folded else self.at
        scope = "" if at == EVERY else f" up to ranks_per_node and for {at}; no other P has a closed form"
        exact = f"exact for every P{scope}"
        needs = f"with {self.needs}: " if self.needs else ""
        shared = self.shared.format(self.high)
        return f"{needs}{exact}" + (f". Where ranks share a network card: {shared}" if shared else "")


def _rounds(of: Callable[[TwoLevel], tuple[Phase, ...]]) -> _Terms:
    return lambda known, network, options: close_on_nodes(of(network), network)


def _closed(of: Callable[[TwoLevel], dict[str, sp.Expr]]) -> _Terms:
    return lambda known, network, options: of(network)


def _phases(known: Algorithm, options: Options) -> tuple[Phase, ...]:
    assert known.phases is not None
    return known.phases(options)


def _ring(known: Algorithm, network: TwoLevel, options: Options) -> dict[str, sp.Expr]:
    return close_on_nodes(node_rounds.ring(_phases(known, options)), network)


def _leaders(known: Algorithm, network: TwoLevel, options: Options) -> dict[str, sp.Expr]:
    return close_on_nodes(_phases(known, options), network)


_BOUND = "an upper bound, up to 128 ranks at most {} % high"
_FOLDED = "exact for powers of two, else " + _BOUND
_PAIRWISE = (
    "nominal: each step begins when the last one is over on all ranks, and no card waits for another one; the schedule "
    "takes 0.65 to 1.2 times as long, up to 64 ranks"
)
_OVERTAKING = "for powers of two only, exact if gamma < beta, else within 8 %"
_RING = Placed(_ring, EVERY, needs=_ANY)
_LEADERS = Placed(_leaders, EVERY, needs=_ANY, one_node_apart=False)
_TWO_RANKS = Placed(_rounds(lambda network: ()), TWO, needs=_ANY)


def _halving(total: sp.Expr) -> Placed:
    there, folded = partial(node_pairs.far_first, total=total), partial(node_folds.halving_folded, total=total)
    return Placed(_closed(there), POWERS, _OVERTAKING, folded=_closed(folded))


def _rabenseifner(halves: bool) -> Placed:
    folded = partial(node_folds.rabenseifner_folded, halves=halves)
    return Placed(_closed(node_pairs.rabenseifner), POWERS, _OVERTAKING, folded=_closed(folded))


def _star(m: sp.Expr = n, times: int = 1, reduced: sp.Expr = sp.S.Zero) -> Placed:
    return Placed(_closed(partial(node_formulas.star, m=m, times=times, reduced=reduced)), EVERY, needs=_ANY)


def _line(reduced: sp.Expr) -> Placed:
    return Placed(_closed(partial(node_formulas.line, reduced=reduced)), EVERY, needs=_ANY)


_PLACED: Mapping[tuple[str, str], Placed] = {
    **dict.fromkeys((("bcast", "basic_linear"), ("scatter", "basic_linear"), ("scatter", "linear_nb"),
                     ("gather", "basic_linear")), _star()),
    ("reduce", "linear"): _star(reduced=(P - 1) * n),
    ("allreduce", "basic_linear"): _star(times=2, reduced=(P - 1) * n),
    ("barrier", "linear"): _star(sp.S.Zero, times=2),
    ("scan", "linear"): _line((P - 1) * n),
    ("exscan", "linear"): _line((P - 2) * n),
    ("bcast", "pipeline"): Placed(
        lambda known, network, options: node_formulas.pipeline(network, options), EVERY, needs=_ANY
    ),
    ("bcast", "binomial"): Placed(_closed(node_formulas.binomial_bcast)),
    **dict.fromkeys((("gather", "binomial"), ("scatter", "binomial")),
                    Placed(_closed(node_formulas.binomial_blocks))),
    ("allgather", "ring"): _RING,
    ("allreduce", "ring"): _RING,
    ("allreduce", "segmented_ring"): _RING,
    ("reduce_scatter", "ring"): _RING,
    ("barrier", "double_ring"): Placed(_rounds(node_rounds.double_ring), EVERY, needs=_ANY),
    ("barrier", "bruck"): Placed(_rounds(node_rounds.dissemination)),
    ("barrier", "recursive_doubling"): Placed(_rounds(node_rounds.doubling_barrier)),
    ("barrier", "tree"): Placed(_rounds(node_rounds.tree_barrier)),
    ("allgather", "neighbor"): Placed(_rounds(node_rounds.neighbor), needs=_ENDS),
    ("allgather", "bruck"): Placed(_closed(node_rounds.bruck), shared=_BOUND, high=12),
    ("alltoall", "modified_bruck"): Placed(_closed(node_rounds.modified_bruck), shared=_BOUND, high=20),
    ("alltoall", "pairwise"): Placed(_rounds(node_rounds.pairwise), shared=_PAIRWISE, needs=_ANY),
    ("reduce_scatter", "mpich_pairwise"): Placed(_rounds(node_rounds.pairwise_reducing), shared=_PAIRWISE, needs=_ANY),
    ("allgather", "recursive_doubling"): Placed(_closed(node_pairs.doubling_allgather), POWERS),
    ("allgather", "mpich_recursive_doubling"): Placed(_closed(node_pairs.doubling_allgather), POWERS),
    ("allreduce", "recursive_doubling"): Placed(_closed(node_pairs.doubling_allreduce), POWERS, _FOLDED,
               folded=_closed(node_folds.doubling_folded), high=20),
    ("allreduce", "rabenseifner"): _rabenseifner(True),
    ("allreduce", "mpich_rabenseifner"): _rabenseifner(False),
    ("reduce_scatter", "recursive_halving"): _halving(n),
    ("reduce_scatter_block", "recursive_halving"): _halving(P * n),
    ("reduce_scatter_block", "butterfly"): Placed(
        _closed(partial(node_pairs.near_first, total=P * n)), POWERS, _OVERTAKING
    ),
    ("reduce_scatter_block", "recursive_doubling"): Placed(_closed(node_pairs.doubling_reduce_scatter), POWERS),
    ("allgather", "two_proc"): _TWO_RANKS,
    ("alltoall", "two_proc"): _TWO_RANKS,
    ("barrier", "two_proc"): _TWO_RANKS,
    ("bcast", "two_level_binomial"): _LEADERS,
    ("reduce", "two_level_binomial"): _LEADERS,
    ("allreduce", "two_level_recursive_doubling"): _LEADERS,
}  # fmt: skip

_CONDITION: Mapping[str, Callable[[int], sp.Basic]] = {
    EVERY: lambda width: sp.true,
    _MULTIPLES: lambda width: sp.Eq(sp.Mod(P, width), 0),
    POWERS: lambda width: sp.Eq(log2_ceil(P), log2_floor(P)),
}


def on_nodes(known: Algorithm, network: TwoLevel) -> bool:
    """Return whether an algorithm has a closed form on these nodes of several ranks."""
    form = _PLACED.get((known.collective, known.name))
    return form is not None and _NEEDS[form.needs](network)


def placed(known: Algorithm, network: TwoLevel) -> Placed:
    """Return the closed form of an algorithm on nodes of several ranks.

    Raises
    ------
    QuantityError
        If it has none on these nodes.
    """
    form = _PLACED.get((known.collective, known.name))
    if form is not None and _NEEDS[form.needs](network):
        return form
    if form is None:
        others = ", ".join(name for where, name in _PLACED if where == known.collective)
        told = f"none on nodes of several ranks. Algorithms of {known.collective} that have one: {others}"
    else:
        told = f"one with {form.needs}, but {shown(network)} was given"
    raise QuantityError(
        f"the closed forms of {known.collective} {known.name!r}: {told}. A schedule is timed exactly on any network: "
        f"oa.schedule({known.collective!r}, {known.name!r}, P, count).finish(network, alpha=..., ...)."
    )


def placed_claim(collective: str, name: str) -> str:
    """Return what the closed form of an algorithm on nodes says of itself, "" where it has none."""
    found = _PLACED.get((collective, name))
    return found.told() if found else ""


def placed_terms(known: Algorithm, network: TwoLevel, options: Options) -> dict[str, sp.Expr]:
    """Return the closed form of an algorithm on nodes of several ranks, term by term, in seconds.

    Raises
    ------
    QuantityError
        If it has none.
    """
    form = placed(known, network)
    width = network.ranks_per_node
    several = form.terms(known, network, options)
    if not form.one_node_apart:
        return several
    one = inside_only(known.terms(replace(network.inside, gamma=network.gamma), options))
    found = [(one, sp.Le(P, width))]
    if form.at in _CONDITION:
        found.append((several, _CONDITION[form.at](width)))
    if form.folded is not None and form.folds(network):
        found.append((form.folded(known, network, options), _CONDITION[_MULTIPLES](width)))
    terms = {}
    for name in dict.fromkeys(name for part, _ in reversed(found) for name in part):
        cases = [(part.get(name, sp.S.Zero), condition) for part, condition in found]
        terms[name] = sp.Piecewise(*cases) if any(e != 0 for e, _ in cases) else sp.S.Zero
    return terms
