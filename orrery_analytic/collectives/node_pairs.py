r"""Closed forms on nodes where pairs exchange: whole nodes cross together, and ranks wait in turn for their card.

P and the q ranks of a node are powers of two. k ranks share the busiest card; they go one after another, in the same
order in every round. While a message is under way for alpha, and is reduced, the card carries those of the other k - 1
ranks: only what exceeds these is waited for. With w = (k - 1) beta, J rounds of m_1 >= m_2 ... bytes between nodes
take, in seconds,

.. math:: \sum_j k m_j \beta + \sum_{j<J} \max(0, \alpha + m_j \gamma - m_{j+1} w) + \alpha + m_J \gamma

and with m_1 <= m_2 ... the same with m_j w. Ranks that are late leave no trace in what follows inside the node but
their delay. Unless gamma < beta a rank may overtake another one, as messages get shorter: then this is near, not exact.

Source: derived, held against the schedules.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from orrery_analytic.collectives.halving_formulas import idle
from orrery_analytic.collectives.node_rounds import depth_of
from orrery_analytic.collectives.rounds import tidy
from orrery_analytic.networks import TwoLevel
from orrery_analytic.symbols import P, log2_floor, n

__all__ = [
    "doubling_allgather",
    "doubling_allreduce",
    "doubling_reduce_scatter",
    "far_first",
    "near_first",
    "rabenseifner",
]

_FL = log2_floor(P)
_Triple = tuple[Any, Any, Any]


def _terms(
    network: TwoLevel, inside: _Triple, across: _Triple, waited: Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr]
) -> dict[str, sp.Expr]:
    """Return the terms of (rounds, bytes, reduced bytes) inside nodes and between them.

    `waited` gives what latency and reduction add between nodes, for alpha, gamma and w. Without w all of both.
    """
    near, far = network.inside, network.between
    sharing = network.sharing(network.ranks_per_node)
    rounds, nbytes, reduced = across
    if sharing == 1:
        latency, reduction = rounds * far.alpha, tidy(reduced + inside[2]) * network.gamma
    else:
        w = (sharing - 1) * far.beta
        latency = waited(far.alpha, sp.S.Zero, w)
        reduction = waited(far.alpha, network.gamma, w) - latency + inside[2] * network.gamma
    return {
        "latency": latency,
        "bandwidth": sharing * tidy(nbytes) * far.beta,
        "intra_latency": inside[0] * near.alpha,
        "intra_bandwidth": tidy(inside[1]) * near.beta,
        "reduce": reduction if reduced != 0 else sp.S.Zero,
    }


def doubling_allgather(network: TwoLevel) -> dict[str, sp.Expr]:
    """Return recursive doubling of blocks: 2**i n bytes in round i, inside the node while 2**i < q."""
    q, depth = network.ranks_per_node, depth_of(network)

    def waited(alpha: sp.Expr, gamma: sp.Expr, w: sp.Expr) -> sp.Expr:
        return alpha + idle(alpha, n * w, sp.Integer(depth), _FL - 1)

    return _terms(network, (depth, (q - 1) * n, 0), (_FL - depth, (P - q) * n, 0), waited)


def doubling_allreduce(network: TwoLevel) -> dict[str, sp.Expr]:
    """Return recursive doubling of whole vectors: n bytes, and their reduction, in every round."""
    depth = depth_of(network)
    rounds = _FL - depth

    def waited(alpha: sp.Expr, gamma: sp.Expr, w: sp.Expr) -> sp.Expr:
        return alpha + n * gamma + (rounds - 1) * sp.Max(0, alpha + n * gamma - n * w)

    return _terms(network, (depth, depth * n, depth * n), (rounds, rounds * n, rounds * n), waited)


def far_first(network: TwoLevel, total: sp.Expr) -> dict[str, sp.Expr]:
    """Return recursive halving of a vector of `total` bytes: half of it across the nodes first."""
    q, depth, block = network.ranks_per_node, depth_of(network), total / P

    def waited(alpha: sp.Expr, gamma: sp.Expr, w: sp.Expr) -> sp.Expr:
        return alpha + q * block * gamma + idle(alpha, block * (w - 2 * gamma), sp.Integer(depth), _FL - 1)

    inside, across = (q - 1) * block, (P - q) * block
    return _terms(network, (depth, inside, inside), (_FL - depth, across, across), waited)


def near_first(network: TwoLevel, total: sp.Expr) -> dict[str, sp.Expr]:
    """Return halving of a vector of `total` bytes with near partners first: the last blocks go across the nodes."""
    q, depth, block = network.ranks_per_node, depth_of(network), total / P

    def waited(alpha: sp.Expr, gamma: sp.Expr, w: sp.Expr) -> sp.Expr:
        return alpha + block * gamma + idle(alpha, block * (w - 2 * gamma), sp.S.Zero, _FL - depth - 1)

    inside, across = (P - P / q) * block, (P / q - 1) * block
    return _terms(network, (depth, inside, inside), (_FL - depth, across, across), waited)


def rabenseifner(network: TwoLevel) -> dict[str, sp.Expr]:
    """Return halving with near partners first, and the same way back: between nodes down to n / P and up again."""
    q, depth, block = network.ranks_per_node, depth_of(network), n / P
    rounds = _FL - depth

    def waited(alpha: sp.Expr, gamma: sp.Expr, w: sp.Expr) -> sp.Expr:
        there = idle(alpha, block * (w - 2 * gamma), sp.S.Zero, rounds - 1)
        turn = sp.Max(0, block * gamma - sp.Max(0, block * w - alpha))  # the last reduction, before the way back
        return alpha + there + turn + idle(alpha, block * w, sp.S.Zero, rounds)

    inside, across = n - n / q, n / q - block
    return _terms(network, (2 * depth, 2 * inside, inside), (2 * rounds, 2 * across, across), waited)


def doubling_reduce_scatter(network: TwoLevel) -> dict[str, sp.Expr]:
    """Return recursive doubling of all but a rank's own blocks: (P - 2**i) n bytes, and their reduction, in round i."""
    q, depth = network.ranks_per_node, depth_of(network)
    rounds = _FL - depth

    def waited(alpha: sp.Expr, gamma: sp.Expr, w: sp.Expr) -> sp.Expr:
        last = alpha + P / 2 * n * gamma
        return last + idle(alpha + P * n * (gamma - w), n * (gamma - 2 * w), sp.Integer(depth), _FL - 1)

    inside, across = (depth * P - q + 1) * n, (rounds * P - P + q) * n
    return _terms(network, (depth, inside, inside), (rounds, across, across), waited)
