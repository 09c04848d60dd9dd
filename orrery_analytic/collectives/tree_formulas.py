"""Closed forms of the binary trees and of reductions over trees: the longest path, and the pace of further segments.

With t what a message costs, d the distance of two messages of a rank (under Hockney t again) and r a reduction, a
segment that comes up a tree costs t + r for each level and max(d, r) for each child that is taken in before another:
the library combines the data of one child while those of the next arrive. Source: derived, held against the schedules.
"""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from orrery_analytic.collectives.algorithm import Options
from orrery_analytic.collectives.rounds import Phase, split
from orrery_analytic.networks import Hockney, LogGP
from orrery_analytic.symbols import P, log2_ceil, log2_floor, n

__all__ = [
    "binary_phases",
    "binary_reduce",
    "binary_reduce_phases",
    "binary_loggp",
    "chain_reduce",
    "in_order_phases",
    "in_order_reduce",
    "longest_chain",
    "segmented",
    "split_binary_loggp",
    "split_binary_phases",
]

_FL = log2_floor(P)
_ONES = log2_floor(P - 2**_FL + 1)
"""The most right turns on the way to a node of the last level of the binary tree."""
_SLOTS = sp.Max(2 * (_FL - 1), _FL + _ONES)
_PAIRS = _FL - 3 + sp.floor(P / 2 ** (_FL - 1))
"""The levels of the binary tree on which the left-most node has a sibling: fl, or fl - 1 where P < 3 2**(fl - 1)."""


def segmented(options: Options, whole: sp.Expr = n) -> tuple[sp.Expr, sp.Expr]:
    """Return number and bytes of the segments: whole / n_s of n_s bytes, or one where whole <= n_s."""
    if options.segment is None:
        return sp.S.One, whole
    return sp.Max(1, whole / options.segment), sp.Min(whole, options.segment)


def quotient(a: sp.Expr, b: sp.Expr) -> sp.Expr:
    """Return floor(a / b) in whole numbers, so that no division is rounded up."""
    return (a - sp.Mod(a, b)) / b


def longest_chain(fan: int) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """Return (chains, length of the shorter ones, number of longer ones), for chains below the root."""
    if fan == 1:
        return sp.S.One, P - 1, sp.S.Zero
    chains = sp.Min(fan, P - 1)
    return chains, quotient(P - 1, chains), sp.Mod(P - 1, chains)


def _piped(label: str, more: sp.Expr, depth: sp.Expr, size: sp.Expr) -> tuple[Phase, ...]:
    """Return the rounds in which `more` segments leave the root, and those in which the last one goes through."""
    last = Phase(label, more, more + depth - 1, size)
    return (last,) if more == 0 else (Phase("the other segments, one behind another", 0, more - 1, size), last)


def binary_phases(options: Options) -> tuple[Phase, ...]:
    """Return the rounds of the binary tree: max(2 (fl - 1), fl + log2(R + 1)) for the deepest node, R = P - 2**fl."""
    count, size = segmented(options)
    return _piped("every node serves its left child, then its right one", (count - 1) * sp.Min(2, P - 1), _SLOTS, size)


def _path(one_way: sp.Expr, aside: sp.Expr) -> sp.Expr:
    """Return the longest path in a tree whose nodes of level l and index i have l + popcount(i) rounds."""
    return sp.Max((_FL - 1) * (one_way + aside), _FL * one_way + _ONES * aside)


def binary_loggp(network: LogGP, options: Options) -> dict[str, sp.Expr]:
    """Return max over the nodes of (level) A + (right turns) d, and two sends' distance for each other segment."""
    count, size = segmented(options)
    one_way, distance = network.message(size), network.distance(size)
    return split(_path(one_way, distance) + (count - 1) * sp.Min(2, P - 1) * distance, network)


def split_binary_phases(options: Options) -> tuple[Phase, ...]:
    """Return the rounds of the split binary tree: halves go down the tree, then pairs exchange them."""
    count, size = segmented(options, n / 2)
    tree = _piped("half of the vector down each side of the tree", (count - 1) * sp.Min(2, P - 1), _SLOTS, size)
    end = tree[-1].last + 1
    return (*tree, Phase("pairs exchange halves", end, end, n / 2))


def split_binary_loggp(network: LogGP, options: Options) -> dict[str, sp.Expr]:
    """Return the path of a half down the tree, the distance of two sends for each other segment, and one exchange.

    For a power of two the last rank has no partner: the root's half lies there when its own has come, and takes
    max(o, g) + (n / 2 - 1) G more. On two ranks that is all there is.
    """
    count, size = segmented(options, n / 2)
    one_way, distance = network.message(size), network.distance(size)
    exchange = sp.Max(network.message(n / 2), network.distance(n / 2))
    apart = sp.Max(network.o, network.g) - network.G
    alone = sp.Max(_FL * one_way + apart + n / 2 * network.G, (_FL - 1) * (one_way + distance) + exchange)
    last = sp.Piecewise((alone, sp.Eq(log2_ceil(P), _FL)), (_path(one_way, distance) + exchange, True))
    pace = sp.Piecewise((apart + size * network.G, sp.Eq(P, 2)), (2 * distance, True))
    return split(last + (count - 1) * pace, network)


def _charges(network: Hockney | LogGP, size: sp.Expr) -> tuple[sp.Expr, sp.Expr, sp.Expr, sp.Expr]:
    """Return (one way, distance of two receives, a receive whose message is there, a send of the program)."""
    one_way = network.message(size)
    if isinstance(network, Hockney):
        return one_way, one_way, one_way, one_way
    return one_way, network.distance(size), network.o + (size - 1) * network.G, network.o


def _turns(network: Hockney | LogGP, size: sp.Expr, turns: sp.Expr, sends: bool) -> sp.Expr:
    """Return how long a node takes to take in so many more messages, of one or of many children; it may `send` each on.

    Each message takes its distance, or its reduction and the node's own send. A receive is posted when the one before
    the last is combined (and sent on), so that two of them take no less than a receive, a reduction and a send.
    """
    _, distance, absorbed, out = _charges(network, size)
    reduction = size * network.gamma
    own = out if sends else sp.S.Zero
    one, two = sp.Max(distance, reduction + own), absorbed + reduction + own
    odd = sp.Mod(turns, 2)  # a fraction of a turn is a fraction of what the next whole one adds
    return sp.Max(turns * one, sp.floor(turns / 2) * two + sp.Min(1, odd) * one + sp.Max(0, odd - 1) * (two - one))


def chain_reduce(network: Hockney | LogGP, options: Options) -> dict[str, sp.Expr]:
    """Return the way of the first segment up the longest chain, (length) (t + r), and the root's turns after it.

    The pace of a single chain of three or more ranks is that of its inner ranks.
    """
    count, size = segmented(options)
    chains, length, longer = longest_chain(options.fan)
    first = (length + sp.Min(1, longer)) * (network.message(size) + size * network.gamma)
    turns = chains * count - 1
    more = _turns(network, size, turns, sends=False)
    if options.fan == 1 and count != 1:
        more = sp.Piecewise((more, P < 3), (_turns(network, size, turns, sends=True), True))
    return split(first + more, network)


def binary_reduce_phases(options: Options) -> tuple[Phase, ...]:
    """Return the rounds of the binary tree upwards: each node takes in one child in a round."""
    return _upwards(options, _FL + _PAIRS)


def _upwards(options: Options, depth: sp.Expr) -> tuple[Phase, ...]:
    count, size = segmented(options)
    label = "every node takes in its children, one after another"
    phases = _piped(label, (count - 1) * sp.Min(2, P - 1), depth, size)
    return tuple(replace(phase, reduced=size) for phase in phases)


def _more_segments(network: Hockney | LogGP, size: sp.Expr, more: sp.Expr) -> sp.Expr:
    """Return what `more` segments add in a binary tree: by its root, or by an inner node that has two children."""
    _, distance, absorbed, out = _charges(network, size)
    reduction = size * network.gamma
    root, inner = (sp.Max(2 * distance, 2 * reduction + own, absorbed + reduction + own) for own in (sp.S.Zero, out))
    alone = _turns(network, size, more, sends=False)
    return sp.Piecewise((alone, P < 3), (more * root, P < 6), (more * inner, True))


def _binary_total(network: Hockney | LogGP, options: Options, in_order: bool) -> sp.Expr:
    count, size = segmented(options)
    one_way, distance, *_ = _charges(network, size)
    step, aside = one_way + size * network.gamma, sp.Max(distance, size * network.gamma)
    first = _path(step, aside) if in_order else _FL * step + _PAIRS * aside
    return first if count == 1 else first + _more_segments(network, size, count - 1)


def binary_reduce(network: Hockney | LogGP, options: Options) -> dict[str, sp.Expr]:
    """Return fl (t + r) + pairs max(d, r): the way up from the left-most leaf, taken in first on each level."""
    return split(_binary_total(network, options, in_order=False), network)


def in_order_phases(options: Options) -> tuple[Phase, ...]:
    """Return the rounds of the in-order binary tree to rank P - 1, and the message from there to rank 0."""
    tree = _upwards(options, _SLOTS)
    end = tree[-1].last + 1
    return (*tree, Phase("the last rank sends the result to the root", end, end, n))


def in_order_reduce(network: Hockney | LogGP, options: Options) -> dict[str, sp.Expr]:
    """Return the longest path of the in-order tree, and one message of n bytes from rank P - 1 to rank 0."""
    return split(_binary_total(network, options, in_order=True) + network.message(n), network)
