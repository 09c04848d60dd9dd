r"""Closed forms on nodes where some ranks fold: any number of full nodes.

P = 2**fl + R ranks on nodes of q, a power of two that divides P: 2 R ranks fold in pairs inside their nodes, which
leaves half of the ranks there; the pairs of these are between nodes from a distance of q / 2 on, those of full nodes
from q on. Where ranks do not share cards the path of a rank that folds is the longest one.

Source: derived, held against the schedules.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sympy as sp

from orrery_analytic.collectives.functions_of_p import OfP
from orrery_analytic.collectives.node_rounds import depth_of
from orrery_analytic.networks import TwoLevel
from orrery_analytic.symbols import P, log2_ceil, log2_floor, n

__all__ = ["doubling_folded", "halving_folded", "rabenseifner_folded"]

_FL = log2_floor(P)


@dataclass(frozen=True)
class _Prices:
    """What a path is charged: the parameters of a network, or 0 for some of them."""

    beta: Any = 0
    near_beta: Any = 0
    alpha: Any = 0
    near_alpha: Any = 0
    gamma: Any = 0

    def across(self, rounds: Any, nbytes: Any, reduced: Any = 0) -> Any:
        """Return so many rounds between nodes with so many bytes in all."""
        return rounds * self.alpha + nbytes * self.beta + reduced * self.gamma

    def inside(self, rounds: Any, nbytes: Any, reduced: Any = 0) -> Any:
        """Return the same inside nodes."""
        return rounds * self.near_alpha + nbytes * self.near_beta + reduced * self.gamma


def _terms(network: TwoLevel, path: Callable[[_Prices], sp.Expr]) -> dict[str, sp.Expr]:
    """Return what each parameter adds to a path on which those before it are charged; it grows with each of them."""
    near, far = network.inside, network.between
    prices = (far.beta, near.beta, far.alpha, near.alpha, network.gamma)
    names = ("bandwidth", "intra_bandwidth", "latency", "intra_latency", "reduce")
    totals = [path(_Prices(*prices[:given])) for given in range(len(prices) + 1)]
    return {name: totals[i + 1] - totals[i] for i, name in enumerate(names)}


class trailing_zeros(OfP):
    """Return how often 2 divides P: the place of its lowest set bit."""

    is_integer = True
    _name = r"\operatorname{zeros}"

    @staticmethod
    def _walk(P: int, latest: Callable[..., Any], *rest: Any) -> Any:
        return (P & -P).bit_length() - 1


def doubling_folded(network: TwoLevel) -> dict[str, sp.Expr]:
    """Return the terms of recursive doubling of vectors of n bytes where ranks fold; a bound where they share cards.

    With k ranks on a card, J rounds between nodes take J k n beta + alpha + n gamma, and J - 1 times what alpha +
    n gamma exceeds the messages of the other k - 1 ranks by. Up to the lowest set bit of P, nodes where ranks fold, of
    which fewer may share a card, and full ones keep to themselves: the larger of both paths counts.
    """
    q, depth, zeros = network.ranks_per_node, depth_of(network), trailing_zeros(P)
    used = network.cards if network.cards % 2 else network.cards // 2  # by every second rank
    k, k_few = network.sharing(q), -(-(q // 2) // used)

    def path(c: _Prices) -> sp.Expr:
        def between(rounds: sp.Expr, sharing: int, any_round: sp.Expr = sp.S.One) -> sp.Expr:
            waited, others = c.across(1, 0, n), c.across(0, (sharing - 1) * n)
            behind = rounds * sp.Max(0, waited - others) + any_round * sp.Min(waited, others)
            return c.across(0, rounds * sharing * n) + behind

        apart = few = between(zeros - depth + 1, k_few)
        if k > k_few:
            apart = sp.Max(few, between(zeros - depth, k, sp.Min(1, zeros - depth)))
        return c.inside(depth + 1, (depth + 1) * n, depth * n) + apart + between(_FL - zeros, k)

    return _terms(network, path)


def halving_folded(network: TwoLevel, total: sp.Expr) -> dict[str, sp.Expr]:
    """Return the terms of recursive halving of a vector of `total` bytes where ranks fold, of own cards.

    In round i from the last one, a rank that folds keeps 2**i + min(2**i, R) blocks; in the end it gives one back.
    """
    q, depth = network.ranks_per_node, depth_of(network)
    block, folded = total / P, P - 2**_FL
    top = log2_ceil(sp.Max(1, folded))
    between = (2**_FL + 2**top + folded * (_FL - top) - q) * block

    def path(c: _Prices) -> sp.Expr:
        inside = c.inside(depth + 1, total + (q - 1) * block, total + (q - 2) * block)
        return inside + c.across(_FL - depth + 1, between, between)

    return _terms(network, path)


def rabenseifner_folded(network: TwoLevel, halves: bool) -> dict[str, sp.Expr]:
    """Return the terms of Rabenseifner's allreduce where ranks fold, of own cards; pairs may fold by `halves`."""
    q, depth = network.ranks_per_node, depth_of(network)
    inside, between = n - 2 * n / q, 2 * n / q - n / 2**_FL

    def path(c: _Prices) -> sp.Expr:
        folding = c.inside(2, n, n / 2) if halves else c.inside(1, n, n)
        there = c.inside(depth - 1, inside, inside) + c.across(_FL - depth + 1, between, between)
        return folding + there + c.across(_FL - depth + 1, between) + c.inside(depth, inside + n)

    return _terms(network, path)
