"""Closed forms on nodes where one message is under way at a time, and of binomial trees of whole nodes.

P > q ranks sit on M nodes of q, in blocks. A message of m bytes takes alpha + m beta between nodes, alpha_intra +
m beta_intra inside one. Where no two messages between nodes are under way at once, shared network cards cost nothing.

Source: derived, held against the schedules.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from orrery_analytic.collectives.algorithm import Options
from orrery_analytic.collectives.node_rounds import depth_of
from orrery_analytic.collectives.tree_formulas import segmented
from orrery_analytic.collectives.two_level_formulas import node_count
from orrery_analytic.networks import TwoLevel
from orrery_analytic.symbols import P, log2_ceil, n

__all__ = ["binomial_bcast", "binomial_blocks", "line", "pipeline", "star"]


def _terms(
    network: TwoLevel, inside: tuple[Any, Any], across: tuple[Any, Any], reduced: Any = sp.S.Zero
) -> dict[str, sp.Expr]:
    """Return the terms of (messages, bytes) inside nodes and between them, one after another, and of reduced bytes."""
    near, far = network.inside, network.between
    return {
        "latency": across[0] * far.alpha,
        "bandwidth": across[1] * far.beta,
        "intra_latency": inside[0] * near.alpha,
        "intra_bandwidth": inside[1] * near.beta,
        "reduce": reduced * network.gamma,
    }


def star(network: TwoLevel, m: Any, times: int = 1, reduced: Any = sp.S.Zero) -> dict[str, sp.Expr]:
    """Return messages of m bytes between rank 0 and each other rank, one after another: q - 1 inside, P - q between."""
    near, far = times * (network.ranks_per_node - 1), times * (P - network.ranks_per_node)
    return _terms(network, (near, near * m), (far, far * m), reduced)


def line(network: TwoLevel, reduced: Any = sp.S.Zero) -> dict[str, sp.Expr]:
    """Return messages of n bytes from each rank to the next: M - 1 between nodes, P - M inside them."""
    nodes = node_count(P, network.ranks_per_node)
    return _terms(network, (P - nodes, (P - nodes) * n), (nodes - 1, (nodes - 1) * n), reduced)


def pipeline(network: TwoLevel, options: Options) -> dict[str, sp.Expr]:
    """Return segments down one chain: each further one takes as long as the slower one of the two messages."""
    count, size = segmented(options)
    near, far = network.inside, network.between
    within = P - node_count(P, network.ranks_per_node)
    between = P - within + count - 2
    terms = _terms(network, (within, within * size), (between, between * size))
    slower = sp.Max(0, near.alpha - far.alpha + size * (near.beta - far.beta))
    return {**terms, "intra_bandwidth": terms["intra_bandwidth"] + (count - 1) * slower}


def binomial_blocks(network: TwoLevel) -> dict[str, sp.Expr]:
    """Return a binomial tree of blocks, gathered or scattered: among first ranks of nodes, and inside the root's node.

    P is a multiple of q, a power of two: (P - q) n bytes in ceil(log2 (P / q)) messages, (q - 1) n in log2 q.
    """
    q, depth = network.ranks_per_node, depth_of(network)
    return _terms(network, (depth, (q - 1) * n), (log2_ceil(P) - depth, (P - q) * n))


def binomial_bcast(network: TwoLevel) -> dict[str, sp.Expr]:
    r"""Return a binomial bcast, from near to far: all q ranks of a node send to another one, k of them over one card.

    P is a multiple of q, a power of two. In the first of J = ceil(log2 (P / q)) rounds the last of k messages arrives
    after alpha + k n beta; each further one takes as long as the card is busy, k n beta, or as one message, if longer:
    :math:`\alpha + k n \beta + (J - 1) \max(\alpha + n \beta, k n \beta)`.
    """
    depth, sharing, far = depth_of(network), network.sharing(network.ranks_per_node), network.between
    rounds = log2_ceil(P) - depth
    terms = _terms(network, (depth, depth * n), (rounds, sharing * rounds * n))
    waited = sp.Max(0, far.alpha - (sharing - 1) * n * far.beta) if sharing > 1 else far.alpha
    return {**terms, "latency": far.alpha + (rounds - 1) * waited}
