"""Closed forms on nodes, from rounds: a round costs what its busiest card costs, or a message inside a node if slower.

With k messages of m bytes on the busiest card of a node, a round takes alpha + k m beta between nodes, alpha_intra +
m beta_intra inside them, and the larger of the two where messages of both kinds move. Source: derived, held against the
schedules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import sympy as sp

from orrery_analytic.collectives.alltoall import popcount_sum
from orrery_analytic.collectives.functions_of_p import OfP
from orrery_analytic.collectives.halving_formulas import idle
from orrery_analytic.collectives.rounds import Phase, close, k, tidy
from orrery_analytic.collectives.two_level_formulas import node_count
from orrery_analytic.networks import TwoLevel
from orrery_analytic.symbols import P, log2_ceil, log2_floor, n

__all__ = [
    "bruck",
    "close_on_nodes",
    "depth_of",
    "dissemination",
    "double_ring",
    "doubling_barrier",
    "inside_only",
    "modified_bruck",
    "neighbor",
    "pairwise",
    "pairwise_reducing",
    "ring",
    "tree_barrier",
]


def inside_only(terms: dict[str, sp.Expr]) -> dict[str, sp.Expr]:
    """Return terms of one level under the names of messages inside nodes."""
    return {name if name == "reduce" else f"intra_{name}": e for name, e in terms.items()}


def close_on_nodes(phases: Sequence[Phase], network: TwoLevel) -> dict[str, sp.Expr]:
    """Return what the rounds of all phases add up to, term by term, in seconds.

    latency and bandwidth are those of messages between nodes. intra_latency and intra_bandwidth are those of rounds
    inside nodes, and what messages inside nodes add to rounds of both kinds where they are slower.
    """
    shared = tuple(replace(p, nbytes=p.sharing * p.nbytes) for p in phases if not p.inside)
    within = tuple(p for p in phases if p.inside)
    across = close(shared, replace(network.between, gamma=sp.S.One))
    inside = close(within, replace(network.inside, gamma=sp.S.One))
    reduced = tidy(across["reduce"] + inside["reduce"])
    terms = {**across, **inside_only(inside), "reduce": reduced * network.gamma}
    for phase in phases:
        if phase.beside:
            name = "intra_bandwidth" if phase.nbytes != 0 else "intra_latency"
            terms[name] += phase.count * _slower_inside(network, phase.nbytes, phase.sharing)
    return terms


def _slower_inside(network: TwoLevel, m: Any, sharing: int) -> sp.Expr:
    """Return max(0, alpha_intra + m beta_intra - alpha - k m beta): what a message inside a node adds to a round."""
    near, far = network.inside, network.between
    return sp.Max(0, near.alpha - far.alpha + m * (near.beta - sharing * far.beta))


def depth_of(network: TwoLevel) -> int:
    """Return log2 of the ranks of a node, which must be a power of two."""
    return network.ranks_per_node.bit_length() - 1


def ring(phases: Iterable[Phase]) -> tuple[Phase, ...]:
    """Return the rounds of a ring: in each, one rank of a node sends out and one receives, the others stay inside."""
    return tuple(replace(phase, beside=True) for phase in phases)


def double_ring(network: TwoLevel) -> tuple[Phase, ...]:
    """Return a token's way, twice around: from node to node, M messages, and inside nodes the other P - M."""
    nodes = node_count(P, network.ranks_per_node)
    return (
        Phase("a token goes from node to node, twice around", 0, 2 * nodes - 1, sp.S.Zero),
        Phase("and from rank to rank inside nodes", 2 * nodes, 2 * P - 1, sp.S.Zero, inside=True),
    )


def dissemination(network: TwoLevel) -> tuple[Phase, ...]:
    """Return tokens to rank + 2**k: below ranks_per_node some stay inside their node."""
    depth = depth_of(network)
    return (
        Phase("a token goes to rank + 2**k, out of the node for some", 0, depth - 1, sp.S.Zero, beside=True),
        Phase("out of the node for all", depth, log2_ceil(P) - 1, sp.S.Zero),
    )


def doubling_barrier(network: TwoLevel) -> tuple[Phase, ...]:
    """Return pairs at distance 2**k, inside nodes below ranks_per_node; whole nodes report, and are released."""
    depth, all_rounds = depth_of(network), 2 * log2_ceil(P) - log2_floor(P)
    return (
        Phase("pairs of a node exchange tokens", 0, depth - 1, sp.S.Zero, inside=True),
        Phase("pairs on two nodes, ranks beyond a power of two among them", depth, all_rounds - 1, sp.S.Zero),
    )


def tree_barrier(network: TwoLevel) -> tuple[Phase, ...]:
    """Return the tree, up and down: its lowest levels are inside nodes."""
    depth = depth_of(network)
    return (
        Phase("up and down inside nodes", 0, 2 * depth - 1, sp.S.Zero, inside=True),
        Phase("up and down between nodes", 2 * depth, 2 * log2_ceil(P) - 1, sp.S.Zero),
    )


def bruck(network: TwoLevel) -> dict[str, sp.Expr]:
    """Return the terms of Bruck's rounds: 2**k blocks to rank - 2**k; min(2**k, ranks_per_node) ranks send out."""
    depth = depth_of(network)
    sharing = network.sharing(network.ranks_per_node)
    fl, cl = log2_floor(P), log2_ceil(P)
    phases = (
        *(
            Phase(f"{2**i} blocks to rank - {2**i}", i, i, 2**i * n, beside=True, sharing=network.sharing(2**i))
            for i in range(depth)
        ),
        Phase("all blocks held to rank - 2**k, out of the node", depth, fl - 1, 2**k * n, sharing=sharing),
        Phase("the rest, unless P is a power of two", fl, cl - 1, (P - 2**fl) * n, sharing=sharing),
    )

    def waited(alpha: sp.Expr, w: sp.Expr) -> sp.Expr:
        rest = sp.Max(0, alpha - sp.Min(2 ** (fl - 1), P - 2**fl) * w)
        return idle(alpha, w, sp.Integer(depth), fl - 1) + (cl - fl) * rest

    return _hidden(phases, network, waited)


class bits_idle(OfP):
    """Return what is waited for between rounds that move the blocks whose number has bit i set, in s.

    The sum of max(0, x - b y) over i = a, ..., ceil(log2 P) - 2, for P, x, y (in seconds) and a, where b is the number
    of blocks in round i, or i + 1 if these are fewer.
    """

    _name = r"T_{\text{idle}}"

    @staticmethod
    def _walk(P: int, latest: Callable[..., Any], *rest: Any) -> Any:
        x, y, first = rest
        last = (P - 1).bit_length() - 1
        with_bit = [(P >> i + 1 << i) + max(0, P % (2 << i) - (1 << i)) for i in range(last + 1)]
        start = int(np.ravel(first)[0])  # one for all points
        return sum((latest(0 * x, x - min(with_bit[i : i + 2]) * y) for i in range(start, last)), 0 * x)


def modified_bruck(network: TwoLevel) -> dict[str, sp.Expr]:
    """Return the terms of the alltoall: P / 2 blocks to rank + 2**k as long as some ranks stay inside."""
    depth = depth_of(network)
    blocks = popcount_sum(P, k + 1) - popcount_sum(P, k)
    phases = (
        *(
            Phase(f"half of the blocks to rank + {2**i}", i, i, P / 2 * n, beside=True, sharing=network.sharing(2**i))
            for i in range(depth)
        ),
        Phase("the blocks whose distance has bit k set, out of the node", depth, log2_ceil(P) - 1, blocks * n,
              sharing=network.sharing(network.ranks_per_node)),
    )  # fmt: skip
    return _hidden(phases, network, lambda alpha, w: bits_idle(P, alpha, w, sp.Integer(depth)))


def _hidden(
    phases: tuple[Phase, ...], network: TwoLevel, waited: Callable[[sp.Expr, sp.Expr], sp.Expr]
) -> dict[str, sp.Expr]:
    """Return the terms of rounds, of which those out of nodes hide their latency behind messages on the same card.

    `waited` is what is left of it in all of them but the last, for alpha and what other ranks' blocks take on the card.
    """
    terms = close_on_nodes(phases, network)
    others = network.sharing(network.ranks_per_node) - 1
    if others:
        alpha = network.between.alpha
        left = waited(alpha, others * n * network.between.beta)
        terms["latency"] = (depth_of(network) + 1) * alpha + left
    return terms


def pairwise(network: TwoLevel, m: sp.Expr = n, reduced: sp.Expr = sp.S.Zero) -> tuple[Phase, ...]:
    """Return P - 1 rounds with one block each: min(s, P - s, ranks_per_node) ranks of a node cross at distance s."""
    q = network.ranks_per_node
    found, start = [], 0
    for sharing, distances in Counter(network.sharing(s) for s in range(1, q)).items():
        end = start + 2 * distances
        found.append(Phase("near ranks, both ways around", start, end - 1, m, reduced, beside=True, sharing=sharing))
        start = end
    far = Phase("ranks on other nodes", start, P - 2, m, reduced, sharing=network.sharing(q))
    return (*found, far)


def pairwise_reducing(network: TwoLevel) -> tuple[Phase, ...]:
    """Return the rounds of a pairwise reduce-scatter: those of `pairwise` with blocks of n / P, each combined."""
    return pairwise(network, n / P, n / P)


def neighbor(network: TwoLevel) -> tuple[Phase, ...]:
    """Return the neighbour exchange: every second round crosses, at both ends of a node, on two cards."""
    crossing = sp.floor(P / 4)
    beside = network.ranks_per_node > 2
    return (
        Phase("one block to the partner", 0, 0, n, inside=True),
        Phase("two blocks to the other partner, out of the node at its ends", 1, crossing, 2 * n, beside=beside),
        Phase("two blocks to the first partner", crossing + 1, P / 2 - 1, 2 * n, inside=True),
    )
