"""MPI_Bcast by parts: halves down a binary tree, or blocks scattered and gathered by all. n is the whole vector."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import sympy as sp

from orrery_analytic.collectives import scatter, trees
from orrery_analytic.collectives.algorithm import POWERS, Algorithm, Call, Exact, Options
from orrery_analytic.collectives.blocks import segments
from orrery_analytic.collectives.doubling import levels
from orrery_analytic.collectives.doubling_formulas import (
    bcast_path,
    bcast_path_loggp,
    doubling_blocks,
    doubling_rounds,
)
from orrery_analytic.collectives.rounds import Phase, k, split, summand
from orrery_analytic.collectives.tree_formulas import split_binary_loggp, split_binary_phases
from orrery_analytic.networks import Hockney, LogGP
from orrery_analytic.schedules.operations import Operation, Program, exchange, irecv, recv, send, wait_recv
from orrery_analytic.symbols import P, log2_ceil, log2_floor, n

__all__ = ["ALGORITHMS"]


def _split_binary_tree(call: Call) -> Program:
    """Return the program in which each subtree of the root passes on one half, and pairs then exchange halves.

    With an even number of ranks the last one has no partner: the root sends it the other half.
    """
    tree = trees.binary(call.P)
    halves = [call.count - call.count // 2, call.count // 2]
    # This algorithm alone cuts segments down to whole elements, and to no less than one.
    whole = max(call.segment_bytes // call.itemsize, 1) * call.itemsize if call.segment_bytes else 0
    sizes = [[m * call.itemsize for m in segments(half, call.itemsize, whole)] for half in halves]
    left, right = (half * call.itemsize for half in halves)
    period = min(2, call.P - 1)
    rounds = max(tree.slots) + period * (max(map(len, sizes)) - 1)  # those of the tree
    alone = call.P - 1 if call.P % 2 == 0 else None

    def root() -> Iterator[Operation]:
        for s in range(len(sizes[0])):
            for side, child in enumerate(tree.children[0]):
                if s < len(sizes[side]):
                    yield send(call.real(child), sizes[side][s], tree.slots[child] - 1 + period * s)
        if alone:
            yield send(call.real(alone), right, rounds)

    def inner(v: int, mine: list[int]) -> Iterator[Operation]:
        parent, at = call.real(tree.parents[v] or 0), tree.slots[v] - 1
        children = tree.children[v]
        if not children:
            for s, nbytes in enumerate(mine):
                yield recv(parent, nbytes, at + period * s)
            return
        yield irecv(parent, mine[0], at)
        for s, nbytes in enumerate(mine):
            if s + 1 < len(mine):
                yield irecv(parent, mine[s + 1], at + period * (s + 1))
            yield wait_recv()
            for child in children:
                yield send(call.real(child), nbytes, tree.slots[child] - 1 + period * s)

    def program(rank: int) -> Iterator[Operation]:
        v = call.virtual(rank)
        if v == 0:
            yield from root()
            return
        yield from inner(v, sizes[(v + 1) % 2])
        if v == alone:
            yield recv(call.root, right, rounds)
        elif v % 2:
            yield exchange(call.real(v + 1), left, call.real(v + 1), right, rounds)
        else:
            yield exchange(call.real(v - 1), right, call.real(v - 1), left, rounds)

    return program


def _window(call: Call) -> Callable[[int, int], int]:
    """Return the function that gives the bytes of blocks first .. end - 1, where blocks are as long as the first."""
    block = -(-call.count // call.P)
    return lambda first, end: (min(end * block, call.count) - min(first * block, call.count)) * call.itemsize


def _scatter(call: Call) -> Program:
    """Return the binomial scatter, largest subtree first; subtrees without data are left out."""
    window = _window(call)
    depth = (call.P - 1).bit_length()

    def program(rank: int) -> Iterator[Operation]:
        v = call.virtual(rank)
        mine = (v & -v).bit_length() - 1 if v else depth  # the subtree of v spans 2**mine ranks
        if v and window(v, v + (1 << mine)):
            yield recv(call.real(v - (1 << mine)), window(v, v + (1 << mine)), depth - 1 - mine)
        for i in reversed(range(mine)):
            child = v + (1 << i)
            nbytes = window(child, child + (1 << i))
            if child < call.P and nbytes:
                yield send(call.real(child), nbytes, depth - 1 - i)

    return program


def _scatter_allgather(call: Call) -> Program:
    window, scattered = _window(call), _scatter(call)
    depth = (call.P - 1).bit_length()

    def program(rank: int) -> Iterator[Operation]:
        yield from scattered(rank)
        for level in levels(call.virtual(rank), call.P):
            nbytes = window(*level.other)
            if level.partner is not None:
                partner = call.real(level.partner)
                yield exchange(partner, window(*level.own), partner, nbytes, depth + level.round)
            if level.source is not None:
                yield recv(call.real(level.source[0]), nbytes, depth + level.source[1])
            for to, at in level.forwards:
                yield send(call.real(to), nbytes, depth + at)

    return program


def _scatter_allgather_ring(call: Call) -> Program:
    window, scattered = _window(call), _scatter(call)
    depth = (call.P - 1).bit_length()

    def program(rank: int) -> Iterator[Operation]:
        yield from scattered(rank)
        right, left = (rank + 1) % call.P, (rank - 1) % call.P
        sizes = [
            window((call.virtual(rank) - i) % call.P, (call.virtual(rank) - i) % call.P + 1) for i in range(call.P)
        ]
        for i in range(call.P - 1):
            yield exchange(right, sizes[i], left, sizes[i + 1], depth + i)

    return program


_POWER = sp.Eq(log2_ceil(P), log2_floor(P))
_SCATTER = next(algorithm for algorithm in scatter.ALGORITHMS if algorithm.name == "binomial")


def _scatter_phases() -> tuple[Phase, ...]:
    """Return the rounds of the scatter of n bytes, n / P to each rank."""
    assert _SCATTER.phases is not None
    return tuple(replace(phase, nbytes=phase.nbytes.subs(n, n / P)) for phase in _SCATTER.phases(Options()))


def _scatter_allgather_phases(options: Options) -> tuple[Phase, ...]:
    start = log2_ceil(P)
    held = doubling_blocks(P, k - start, 0) * n / P
    label = "pairs exchange what they hold; where a partner is missing, others pass its part on"
    return (*_scatter_phases(), Phase(label, start, start + doubling_rounds(P) - 1, held))


def _scatter_allgather_hockney(network: Hockney, options: Options) -> dict[str, sp.Expr]:
    """Return 2 log2(P) alpha + 2 (P - 1) / P n beta for a power of two, else the longest path."""
    block = n / P * network.beta
    power = 2 * log2_floor(P) * network.alpha + 2 * (P - 1) * block
    return split(sp.Piecewise((power, _POWER), (bcast_path(P, network.alpha, block), True)), network)


def _scatter_allgather_loggp(network: LogGP, options: Options) -> dict[str, sp.Expr]:
    """Return the sum of 2 log2(P) rounds for a power of two, else the longest path."""
    one_way = network.L + 2 * network.o
    gapped, there = sp.Max(one_way, network.g), sp.Max(network.o, network.g)
    prices = (price - network.G for price in (one_way, gapped, there))
    block = n / P * network.G
    rounds = 2 * log2_floor(P)
    power = rounds * (one_way - network.G) + (rounds - 1) * sp.Max(0, network.g - one_way) + 2 * (P - 1) * block
    return split(sp.Piecewise((power, _POWER), (bcast_path_loggp(P, *prices, block), True)), network)


def _scatter_allgather_ring_phases(options: Options) -> tuple[Phase, ...]:
    start = log2_ceil(P)
    return (*_scatter_phases(), Phase("a block goes to the right neighbour", start, start + P - 2, n / P))


def _scatter_allgather_ring_loggp(network: LogGP, options: Options) -> dict[str, sp.Expr]:
    """Return the scatter, whose last rank then holds up the ring: P - 1 times max(A(n / P), d(n / P))."""
    step = summand(_scatter_allgather_ring_phases(options)[-1], network)
    return {name: e.subs(n, n / P) + (P - 1) * step[name] for name, e in _SCATTER.terms(network, options).items()}


_BLOCKING = Exact(note="Sends block.")
_HALVES = Exact(
    note="Sends block. Segments are equal and fit into a half of the vector; else the library takes the pipeline."
)

ALGORITHMS = (
    Algorithm(
        "bcast",
        "split_binary_tree",
        _split_binary_tree,
        split_binary_phases,
        split_binary_loggp,
        _HALVES,
        _HALVES,
        segmented=True,
    ),
    Algorithm(
        "bcast",
        "scatter_allgather",
        _scatter_allgather,
        _scatter_allgather_phases,
        _scatter_allgather_loggp,
        _BLOCKING,
        Exact(POWERS, note="Sends block. At most 20 % high (P = 7)."),
        hockney=_scatter_allgather_hockney,
    ),
    Algorithm(
        "bcast",
        "scatter_allgather_ring",
        _scatter_allgather_ring,
        _scatter_allgather_ring_phases,
        _scatter_allgather_ring_loggp,
        _BLOCKING,
        _BLOCKING,
    ),
)
