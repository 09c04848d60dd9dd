"""MPI_Bcast: n is the whole vector; the root holds it first."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from orrery_analytic.collectives import trees
from orrery_analytic.collectives.algorithm import Algorithm, Call, Exact, Options
from orrery_analytic.collectives.blocks import segments
from orrery_analytic.collectives.longest_path import knomial_path
from orrery_analytic.collectives.rounds import Phase, split
from orrery_analytic.collectives.tree_formulas import binary_loggp, binary_phases, longest_chain, quotient, segmented
from orrery_analytic.networks import LogGP
from orrery_analytic.schedules.operations import Operation, Program, irecv, isend, recv, wait_recv, wait_sends
from orrery_analytic.symbols import P, log2_ceil, log2_floor, log_floor, max_popcount, n

__all__ = ["ALGORITHMS", "chain_phases", "linear_phases", "linear_program", "tree_program"]


def tree_program(tree: trees.Tree, call: Call) -> Program:
    """Return the program of Open MPI's generic tree bcast.

    The root posts each segment to all its children and waits; an inner node receives the next segment while it passes
    on the last one; a leaf keeps two receives posted.
    """
    sizes = [m * call.itemsize for m in segments(call.count, call.itemsize, call.segment_bytes)]
    period = len(tree.children[tree.root])

    def program(rank: int) -> Iterator[Operation]:
        v = call.virtual(rank)
        children = [(call.real(c), tree.slots[c] - 1) for c in tree.children[v]]
        parent = tree.parents[v]
        if parent is not None:
            source, slot = call.real(parent), tree.slots[v] - 1
            yield irecv(source, sizes[0], slot)
        for s, nbytes in enumerate(sizes):
            if parent is not None:
                if s + 1 < len(sizes):
                    yield irecv(source, sizes[s + 1], slot + (s + 1) * period)
                yield wait_recv()
            for child, slot_of_child in children:
                yield isend(child, nbytes, slot_of_child + s * period)
            if children:
                yield wait_sends()

    return program


def linear_program(call: Call) -> Program:
    """Return the program in which the root sends to all in rank order."""
    nbytes = call.count * call.itemsize

    def program(rank: int) -> Iterator[Operation]:
        if rank != call.root:
            yield recv(call.root, nbytes, rank - (rank > call.root))
            return
        for i, to in enumerate(r for r in range(call.P) if r != call.root):
            yield isend(to, nbytes, i)
        yield wait_sends()

    return program


def linear_phases(options: Options) -> tuple[Phase, ...]:
    """Return the P - 1 messages of the root, one behind another."""
    return (
        Phase("the root sends to each of P - 2 ranks", 0, P - 3, n, back_to_back=True),
        Phase("and to the last one", P - 2, P - 2, n),
    )


def chain_phases(options: Options) -> tuple[Phase, ...]:
    """Return the rounds in which segments go down chains, one behind another."""
    count, size = segmented(options)
    chains, length, _ = longest_chain(options.fan)
    first = Phase("one segment goes down to the end of the last chain", 0, length + chains - 2, size)
    if options.segment is None:
        return (first,)
    more = (count - 1) * chains
    return (
        Phase("the root sends the other segments, one behind another", 0, more - 1, size),
        Phase(first.label, more, more + length + chains - 2, size),
    )


def _chain_loggp(network: LogGP, options: Options) -> dict[str, sp.Expr]:
    count, size = segmented(options)
    one_way, distance = network.message(size), network.distance(size)
    chains, length, longer = longest_chain(options.fan)
    if options.fan == 1:
        # An inner rank posts the receive of segment s + 2 after it has passed on segment s: two segments take no less
        # than o + (m - 1) G + o. Only a chain of three or more ranks has an inner rank.
        more, two = count - 1, 2 * network.o + (size - 1) * network.G
        odd = sp.Mod(more, 2)  # a fraction of a segment is a fraction of what the next whole one adds
        inner = (more - odd) / 2 * two + sp.Min(1, odd) * distance + sp.Max(0, odd - 1) * (two - distance)
        return split((P - 1) * one_way + sp.Max(more * distance, sp.Min(1, P - 2) * inner), network)
    ends = (chains - 1) * distance + length * one_way
    longer_ends = (longer - 1) * distance + (length + 1) * one_way
    last = sp.Max(ends, sp.Piecewise((longer_ends, sp.Gt(longer, 0)), (ends, True)))
    return split((count - 1) * chains * distance + last, network)


def _binomial_phases(options: Options) -> tuple[Phase, ...]:
    return (Phase("all that have the vector send it on", 0, log2_ceil(P) - 1, n),)


def _binomial_loggp(network: LogGP, options: Options) -> dict[str, sp.Expr]:
    """Return max over v of (bit length - pop count) d + (pop count) A, which three of the nodes decide."""
    one_way, distance = network.message(n), network.distance(n)
    fl, cl, pop = log2_floor(P), log2_ceil(P), max_popcount(P)
    nodes = (fl * one_way, (cl - 1) * distance + one_way, (cl - pop) * distance + pop * one_way)
    return split(sp.Max(*nodes), network)


def _knomial_phases(options: Options) -> tuple[Phase, ...]:
    level = log_floor(P - 1, options.radix)
    children = quotient(P - 1, options.radix**level) + level * (options.radix - 1)
    return (Phase("the root sends to its children, the first of which pass it on", 0, children - 1, n),)


def _knomial_loggp(network: LogGP, options: Options) -> dict[str, sp.Expr]:
    return split(knomial_path(P, options.radix, network.message(n), network.distance(n)), network)


_BINARY = Exact(note="The sends of a segment are posted at once; the port takes them in order. Segments of equal size.")
_CHAIN = Exact(note="Segments of equal size.")
ALGORITHMS = (
    Algorithm("bcast", "basic_linear", linear_program, linear_phases),
    Algorithm(
        "bcast",
        "chain",
        lambda call: tree_program(trees.chain(call.P, call.fan), call),
        chain_phases,
        _chain_loggp,
        _CHAIN,
        _CHAIN,
        segmented=True,
    ),
    Algorithm(
        "bcast",
        "pipeline",
        lambda call: tree_program(trees.chain(call.P, 1), call),
        lambda options: chain_phases(Options(options.segment)),
        lambda network, options: _chain_loggp(network, Options(options.segment)),
        _CHAIN,
        _CHAIN,
        segmented=True,
    ),
    Algorithm(
        "bcast",
        "binary_tree",
        lambda call: tree_program(trees.binary(call.P), call),
        binary_phases,
        binary_loggp,
        _BINARY,
        _BINARY,
        segmented=True,
    ),
    Algorithm(
        "bcast",
        "binomial",
        lambda call: tree_program(trees.binomial(call.P), call),
        _binomial_phases,
        _binomial_loggp,
    ),
    Algorithm(
        "bcast",
        "knomial",
        lambda call: tree_program(trees.knomial(call.P, call.radix), call),
        _knomial_phases,
        _knomial_loggp,
    ),
)
