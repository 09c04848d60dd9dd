"""Collectives in two levels: a leader a node, and binomial trees or recursive doubling between the leaders.

Ranks sit on nodes in blocks of `ranks_per_node`; the last node may have fewer. The first rank of a node leads it, the
root leads its own. P <= ranks_per_node is one node, and one rank a node is the algorithm between the leaders alone.

With t for a message, M nodes and s = min(ranks_per_node, P) ranks on a full one, bcast takes
(ceil(log2 M) + ceil(log2 s)) t under Hockney, and reduce as many messages and reductions: all of it on the first node,
which is full. Source: derived, held against the schedules.
"""

from __future__ import annotations

from collections.abc import Iterator

from orrery_analytic.collectives import bcast, trees
from orrery_analytic.collectives.algorithm import Algorithm, Call, Exact, Options
from orrery_analytic.collectives.allreduce import recursive_doubling_program
from orrery_analytic.collectives.rounds import Phase
from orrery_analytic.collectives.two_level_formulas import allreduce_loggp, bcast_loggp, full_nodes, reduce_loggp
from orrery_analytic.schedules.operations import Operation, Program, among, recv, reduce, send
from orrery_analytic.symbols import log2_ceil, log2_floor, n

__all__ = ["ALGORITHMS"]


class _Nodes:
    """The ranks of each node, its leader first; the node of the root first."""

    def __init__(self, call: Call) -> None:
        width = call.ranks_per_node
        nodes = [list(range(first, min(first + width, call.P))) for first in range(0, call.P, width)]
        home, place = divmod(call.root, width)
        nodes[home] = nodes[home][place:] + nodes[home][:place]
        self.nodes = nodes[home:] + nodes[:home]
        self.leaders = [ranks[0] for ranks in self.nodes]
        self.home = {rank: ranks for ranks in self.nodes for rank in ranks}
        self.depth = (min(width, call.P) - 1).bit_length()  # rounds inside a full node
        self.between = (len(self.nodes) - 1).bit_length()  # rounds of a tree of the leaders
        self.count, self.itemsize = call.count, call.itemsize

    def call(self, ranks: list[int]) -> Call:
        return Call(len(ranks), self.count, self.itemsize)

    def down(self, ranks: list[int], rounds: int) -> Program:
        """Return a binomial bcast from the first of some ranks."""
        return among(ranks, bcast.tree_program(trees.binomial(len(ranks)), self.call(ranks)), rounds)

    def up(self, ranks: list[int], rounds: int) -> Program:
        """Return a binomial reduce to the first of some ranks, with blocking receives."""
        tree, nbytes = trees.in_order_binomial(len(ranks)), self.count * self.itemsize

        def program(v: int) -> Iterator[Operation]:
            for child in tree.children[v]:
                yield recv(child, nbytes, tree.arrivals[child])
                yield reduce(nbytes, tree.arrivals[child])
            parent = tree.parents[v]
            if parent is not None:
                yield send(parent, nbytes, tree.arrivals[v])

        return among(ranks, program, rounds)


def _bcast(call: Call) -> Program:
    nodes = _Nodes(call)

    def program(rank: int) -> Iterator[Operation]:
        ranks = nodes.home[rank]
        if rank == ranks[0]:
            yield from nodes.down(nodes.leaders, 0)(rank)
        yield from nodes.down(ranks, nodes.between)(rank)

    return program


def _reduce(call: Call) -> Program:
    nodes = _Nodes(call)

    def program(rank: int) -> Iterator[Operation]:
        ranks = nodes.home[rank]
        yield from nodes.up(ranks, 0)(rank)
        if rank == ranks[0]:
            yield from nodes.up(nodes.leaders, nodes.depth)(rank)

    return program


def _allreduce(call: Call) -> Program:
    nodes = _Nodes(call)
    leaders = nodes.leaders
    fold = 2 * (len(leaders) & (len(leaders) - 1) > 0)
    end = nodes.depth + len(leaders).bit_length() - 1 + fold
    between = among(leaders, recursive_doubling_program(nodes.call(leaders)), nodes.depth)

    def program(rank: int) -> Iterator[Operation]:
        ranks = nodes.home[rank]
        yield from nodes.up(ranks, 0)(rank)
        if rank == ranks[0]:
            yield from between(rank)
        yield from nodes.down(ranks, end)(rank)

    return program


def _bcast_phases(options: Options) -> tuple[Phase, ...]:
    between, inside = (log2_ceil(x) for x in full_nodes(options))
    return (
        Phase("leaders that have the vector send it to others", 0, between - 1, n),
        Phase("all of a node that have it send it on", between, between + inside - 1, n, inside=True),
    )


def _reduce_phases(options: Options) -> tuple[Phase, ...]:
    between, inside = (log2_ceil(x) for x in full_nodes(options))
    return (
        Phase("in each node the others send, and combine on the way to the leader", 0, inside - 1, n, n, inside=True),
        Phase("leaders send and combine on the way to the root", inside, inside + between - 1, n, n),
    )


def _allreduce_phases(options: Options) -> tuple[Phase, ...]:
    nodes, ranks = full_nodes(options)
    inside, fl, fold = log2_ceil(ranks), log2_floor(nodes), log2_ceil(nodes) - log2_floor(nodes)
    start = inside + fold
    end = start + fl + fold
    return (
        _reduce_phases(options)[0],
        Phase("leaders beyond a power of two hand over their vector, if there are any", inside, start - 1, n, n),
        Phase("pairs of leaders exchange and combine", start, start + fl - 1, n, n),
        Phase("the folded leaders get the result", start + fl, end - 1, n),
        Phase("all of a node that have it send it on", end, end + inside - 1, n, inside=True),
    )


_BLOCKING = "Receives block, but for exchanges between leaders."
_ROOT = "Where the last node has fewer ranks, for root 0."

ALGORITHMS = (
    Algorithm("bcast", "two_level_binomial", _bcast, _bcast_phases, bcast_loggp, loggp_exact=Exact(note=_ROOT)),
    Algorithm(
        "reduce",
        "two_level_binomial",
        _reduce,
        _reduce_phases,
        reduce_loggp,
        Exact(note=_BLOCKING),
        Exact(note=f"{_BLOCKING} {_ROOT}"),
    ),
    Algorithm(
        "allreduce",
        "two_level_recursive_doubling",
        _allreduce,
        _allreduce_phases,
        allreduce_loggp,
        Exact(note=_BLOCKING),
        Exact(note=_BLOCKING),
    ),
)
