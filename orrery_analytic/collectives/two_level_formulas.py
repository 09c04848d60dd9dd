"""Closed forms of two-level collectives under LogGP: trees of leaders, and trees inside nodes, joined at their ports.

M is the number of nodes. A message takes A, r is the reduction of n bytes, d the distance of two messages of one rank.
C = max(A + r, d) is a message that is waited for and combined, S = max(o + (n - 1) G + r, d) one that lies there.
Source: derived, held against the schedules.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from orrery_analytic.collectives.algorithm import Options
from orrery_analytic.collectives.folding import butterfly_loggp
from orrery_analytic.collectives.functions_of_p import OfP, popcount
from orrery_analytic.collectives.rounds import split
from orrery_analytic.networks import LogGP
from orrery_analytic.symbols import P, log2_ceil, log2_floor, max_popcount, n

__all__ = ["allreduce_loggp", "bcast_loggp", "full_nodes", "node_count", "reduce_loggp"]


class node_count(OfP):
    """Return the nodes of P ranks, ceil(P / w) for w on each, without rounding."""

    is_integer = True
    is_positive = True
    _name = r"\operatorname{nodes}"

    @staticmethod
    def _walk(P: int, latest: Callable[..., Any], *rest: Any) -> Any:
        (width,) = rest
        return -(-P // width)


def full_nodes(options: Options) -> tuple[sp.Expr, sp.Expr]:
    """Return the number of nodes, and the ranks of a full one."""
    width = options.ranks_per_node
    return (node_count(P, width), sp.Min(width, P)) if width > 1 else (P, sp.S.One)


class _Charges:
    """What P ranks on nodes of `width` are charged, in seconds."""

    def __init__(self, network: LogGP, options: Options) -> None:
        self.one_way, self.distance = network.message(n), network.distance(n)
        self.combined = self.one_way + n * network.gamma
        self.step = sp.Max(self.combined, self.distance)
        self.absorbed = sp.Max(self.combined - network.L - network.o, self.distance)
        self.width = sp.Integer(options.ranks_per_node)
        self.nodes, _ = full_nodes(options)
        self.last = sp.Mod(P - 1, self.width) + 1
        self.one_node, self.uneven = sp.Le(P, self.width), sp.Ne(self.last, self.width)

    def hops(self, slots: sp.Expr, messages: sp.Expr) -> sp.Expr:
        """Return the time until a node of a bcast tree has the data: so many messages, the other slots distances."""
        return (slots - messages) * self.distance + messages * self.one_way

    def path(self, ranks: sp.Expr) -> sp.Expr:
        """Return the longest path of a binomial bcast, as that of bcast binomial; 0 on one rank."""
        fl, cl, pop = log2_floor(ranks), log2_ceil(ranks), max_popcount(ranks)
        return sp.Max(fl * self.one_way, sp.Min(1, fl) * self.hops(cl, sp.S.One), self.hops(cl, pop))

    def fan_in(self, ranks: sp.Expr) -> sp.Expr:
        """Return a binomial reduce: (fl - 1) C + A + r, and S for the last child unless `ranks` is a power of two."""
        fl, cl = log2_floor(ranks), log2_ceil(ranks)
        return self.combined + (fl - 1) * self.step + (cl - fl) * self.absorbed

    @property
    def early(self) -> sp.Expr:
        """The step of a leader to which that of the last node sends: it is ready sooner than the others."""
        ready = sp.Piecewise((0, sp.Eq(self.last, 1)), (self.fan_in(self.last), True))
        return sp.Max(self.absorbed, self.combined - self.fan_in(self.width) + ready)


def bcast_loggp(network: LogGP, options: Options) -> dict[str, sp.Expr]:
    """Return the path to a leader, its messages to other leaders, and the path inside its node.

    A leader v of M has its port free after ceil(log2 M) slots, pop(v) of them messages that were waited for, or one
    slot earlier if it has no child on the top level. If the last node is smaller, it is looked at apart.
    """
    c = _Charges(network, options)
    if c.width == 1:
        return split(c.path(P), network)
    M, inside = c.nodes, c.path(c.width)
    fl, cl, before = log2_floor(M), log2_ceil(M), log2_ceil(M - 1)
    even = sp.Max(cl * c.distance, fl * c.one_way, c.hops(cl, max_popcount(M))) + inside
    others = sp.Max(cl * c.distance, (cl - 1) * c.one_way, c.hops(before, max_popcount(M - 1))) + inside
    last = c.hops(cl, popcount(M - 1)) + c.path(c.last)
    return split(sp.Piecewise((c.path(P), c.one_node), (sp.Max(others, last), c.uneven), (even, True)), network)


def reduce_loggp(network: LogGP, options: Options) -> dict[str, sp.Expr]:
    """Return one fan-in after another: C for the first child of the second one too, as the leader's port is busy.

    If the last node is smaller, its leader is early. With M = 2**k, all paths to the root that have no other early
    message lead through it.
    """
    c = _Charges(network, options)
    if c.width == 1:
        return split(c.fan_in(P), network)
    fl, cl, inside = log2_floor(c.nodes), log2_ceil(c.nodes), c.fan_in(c.width)
    cases = (
        (c.fan_in(P), c.one_node),
        (inside + (fl - 1) * c.step + c.early, c.uneven & sp.Eq(fl, cl)),
        (inside + fl * c.step + (cl - fl) * c.absorbed, True),
    )
    return split(sp.Piecewise(*cases), network)


def allreduce_loggp(network: LogGP, options: Options) -> dict[str, sp.Expr]:
    """Return a fan-in, recursive doubling of leaders whose ports have just received, and a bcast inside nodes.

    As `butterfly_loggp`, from the fan-in on: with M = 2**fl, fl C; else the larger of
    (1 + c) C + (fl - c) S + max(A, d), c = ceil(log2 (M - 2**fl)), for a folded leader or the one that sends to it, and
    (1 + fl) C. If the last node is smaller, that matters with two nodes, and where one leader folds: then the path of
    (1 + fl) C ends there alone, and others have one early message on their way.
    """
    c = _Charges(network, options)
    if c.width == 1:
        return butterfly_loggp(network, n, n)
    fl, start, inside, alone = log2_floor(c.nodes), c.fan_in(c.width), c.path(c.width), c.path(c.last)
    beyond = c.nodes - 2**fl
    late = log2_ceil(beyond)
    back = sp.Max(c.one_way, c.distance)
    folded = (1 + late) * c.step + (fl - late) * c.absorbed + back
    others = sp.Max(folded, c.early + (fl - 1) * c.step + back, fl * c.step + c.absorbed)
    cases = (
        (c.fan_in(P) + c.path(P), c.one_node),
        (start + sp.Max(c.early + inside, c.combined + alone), c.uneven & sp.Eq(c.nodes, 2)),
        (start + sp.Max(others + inside, (1 + fl) * c.step + alone), c.uneven & sp.Eq(beyond, 1)),
        (start + fl * c.step + inside, sp.Eq(beyond, 0)),
        (start + sp.Max(folded, (1 + fl) * c.step) + inside, True),
    )
    return split(sp.Piecewise(*cases), network)
