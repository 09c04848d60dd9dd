"""MPI_Reduce: n is the whole vector; the root ends with the result."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import sympy as sp

from orrery_analytic.collectives import trees
from orrery_analytic.collectives.algorithm import EVERY, POWERS, Algorithm, Call, Exact, Options
from orrery_analytic.collectives.bcast import chain_phases
from orrery_analytic.collectives.blocks import segments
from orrery_analytic.collectives.rounds import Phase, close_tree
from orrery_analytic.collectives.tree_formulas import (
    binary_reduce,
    binary_reduce_phases,
    chain_reduce,
    in_order_phases,
    in_order_reduce,
)
from orrery_analytic.networks import Hockney, LogGP
from orrery_analytic.schedules.operations import Operation, Program, irecv, recv, reduce, send, wait_recv
from orrery_analytic.symbols import P, log2_ceil, log2_floor, n

__all__ = ["ALGORITHMS", "linear_loggp", "linear_phases", "linear_program", "tree_program"]

_OVERLAP = "The library combines one child's data while the last child's arrive; the formula adds both."


def tree_program(tree: trees.Tree, call: Call) -> Program:
    """Return the program of Open MPI's generic tree reduce.

    An inner node has at most two receives posted: it combines the data of one child while those of the next arrive,
    also across segments, and sends a segment on when all its children are in.
    """
    sizes = [m * call.itemsize for m in segments(call.count, call.itemsize, call.segment_bytes)]
    period = len(tree.children[tree.root])

    def inner(v: int) -> Iterator[Operation]:
        children = tree.children[v]
        incoming = [(child, s) for s in range(len(sizes)) for child in children]
        for i, (child, s) in enumerate(incoming):
            if i == 0:
                yield irecv(call.real(child), sizes[s], tree.arrivals[child] + s * period)
            if i + 1 < len(incoming):
                after, t = incoming[i + 1]
                yield irecv(call.real(after), sizes[t], tree.arrivals[after] + t * period)
            yield wait_recv()
            yield reduce(sizes[s], tree.arrivals[child] + s * period)
            parent = tree.parents[v]
            if child == children[-1] and parent is not None:
                yield send(call.real(parent), sizes[s], tree.arrivals[v] + s * period)

    def leaf(v: int) -> Iterator[Operation]:
        parent = tree.parents[v]
        assert parent is not None
        for s, nbytes in enumerate(sizes):
            yield send(call.real(parent), nbytes, tree.arrivals[v] + s * period)

    return lambda rank: (inner if tree.children[call.virtual(rank)] else leaf)(call.virtual(rank))


def linear_program(call: Call) -> Program:
    """Return the program in which the root receives from all, from the last rank down."""
    nbytes = call.count * call.itemsize

    def program(rank: int) -> Iterator[Operation]:
        if rank != call.root:
            yield send(call.root, nbytes, call.P - 1 - rank - (rank < call.root))
            return
        # From the last rank down to the first; the root's own data are taken where its turn is.
        messages = reductions = 0
        for other in reversed(range(call.P)):
            if other != call.root:
                yield recv(other, nbytes, messages)
                messages += 1
            if other < call.P - 1:
                yield reduce(nbytes, reductions)
                reductions += 1

    return program


def _in_order_binary(call: Call) -> Program:
    """Return the reduction over the in-order tree to the last rank, which sends the result to the root."""
    last = call.P - 1
    tree = trees.in_order_binary(call.P)
    up = tree_program(tree, replace(call, root=0))
    end = max(tree.arrivals) + 1
    nbytes = call.count * call.itemsize

    def program(rank: int) -> Iterator[Operation]:
        yield from up(rank)
        if call.root != last and rank == last:
            yield send(call.root, nbytes, end)
        if call.root != last and rank == call.root:
            yield recv(last, nbytes, end)

    return program


def linear_phases(options: Options) -> tuple[Phase, ...]:
    """Return the P - 1 messages to the root, one behind another, each combined when it is in."""
    return (
        Phase("the root receives from P - 2 ranks and combines", 0, P - 3, n, n, back_to_back=True),
        Phase("and from the last one", P - 2, P - 2, n, n),
    )


def linear_loggp(network: LogGP, options: Options) -> dict[str, sp.Expr]:
    """Return A(n) + (P - 2)(max(o, g) + (n - 1) G) + (P - 1) n gamma, less the gap that reductions fill.

    Blocking receives in a row are max(o, g) + (n - 1) G apart. The first of them is not followed by a reduction.
    """
    reduction = n * network.gamma
    return {
        "latency": network.L + P * network.o,
        "bandwidth": (P - 1) * (n - 1) * network.G,
        "gap": sp.Min(1, P - 2) * sp.Max(0, network.g - network.o)
        + sp.Max(0, P - 3) * sp.Max(0, network.g - network.o - reduction),
        "reduce": (P - 1) * reduction,
    }


def _binomial_phases(options: Options) -> tuple[Phase, Phase]:
    fl, cl = log2_floor(P), log2_ceil(P)
    return (
        Phase("children of full subtrees send, parents combine", 0, fl - 1, n, n),
        Phase("the last child, unless P is a power of two", fl, cl - 1, n, n, back_to_back=True),
    )


_PIPED = Exact(
    note="Sends block; two receives are posted, so that one child's data are combined while the next arrive. "
    "Segments of equal size."
)


def _piped(
    name: str,
    program: Callable[[Call], Program],
    phases: Callable[[Options], tuple[Phase, ...]],
    terms: Callable[[Hockney | LogGP, Options], dict[str, sp.Expr]],
) -> Algorithm:
    return Algorithm("reduce", name, program, phases, terms, _PIPED, _PIPED, segmented=True, hockney=terms)


def _chain_phases(options: Options) -> tuple[Phase, ...]:
    """Return the rounds of the chain of bcast, upwards."""
    return tuple(replace(phase, reduced=phase.nbytes) for phase in chain_phases(options))


ALGORITHMS = (
    Algorithm("reduce", "linear", linear_program, linear_phases, linear_loggp),
    _piped("chain", lambda call: tree_program(trees.chain(call.P, call.fan), call), _chain_phases, chain_reduce),
    _piped(
        "pipeline",
        lambda call: tree_program(trees.chain(call.P, 1), call),
        lambda options: _chain_phases(Options(options.segment)),
        lambda network, options: chain_reduce(network, Options(options.segment)),
    ),
    _piped("binary", lambda call: tree_program(trees.binary(call.P), call), binary_reduce_phases, binary_reduce),
    Algorithm(
        "reduce",
        "binomial",
        lambda call: tree_program(trees.in_order_binomial(call.P), call),
        _binomial_phases,
        lambda network, options: close_tree(*_binomial_phases(options), network),
        hockney_exact=Exact(EVERY, reducing=POWERS, note=_OVERLAP),
        loggp_exact=Exact(EVERY, reducing=POWERS, note=_OVERLAP),
    ),
    _piped("in-order_binary", _in_order_binary, in_order_phases, in_order_reduce),
)
