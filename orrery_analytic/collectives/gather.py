"""MPI_Gather: n is one rank's block; the root ends with P n bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import sympy as sp

from orrery_analytic.collectives import trees
from orrery_analytic.collectives.algorithm import Algorithm, Call, Exact, Options
from orrery_analytic.collectives.blocks import segment_count
from orrery_analytic.collectives.rounds import Phase, k
from orrery_analytic.networks import LogGP
from orrery_analytic.schedules.operations import Operation, Program, irecv, recv, send, wait_all, wait_recv
from orrery_analytic.symbols import P, log2_ceil, log2_floor, n

__all__ = ["ALGORITHMS", "subtree"]


def subtree(v: int, P: int) -> int:
    """Return how many ranks node v > 0 of the in-order binomial tree heads, itself among them."""
    return min(v & -v, P - v)


def _basic_linear(call: Call) -> Program:
    """Return the program in which the root receives from all in rank order."""
    block = call.count * call.itemsize

    def program(rank: int) -> Iterator[Operation]:
        if rank != call.root:
            yield send(call.root, block, rank - (rank > call.root))
            return
        for i, other in enumerate(r for r in range(call.P) if r != call.root):
            yield recv(other, block, i)

    return program


def _binomial(call: Call) -> Program:
    """Return the program that passes whole subtrees up the in-order binomial tree, in one message each."""
    tree = trees.in_order_binomial(call.P)
    block = call.count * call.itemsize

    def program(rank: int) -> Iterator[Operation]:
        v = call.virtual(rank)
        for i, child in enumerate(tree.children[v]):
            yield recv(call.real(child), subtree(child, call.P) * block, i)
        parent = tree.parents[v]
        if parent is not None:
            level = (v - parent).bit_length() - 1
            yield send(call.real(parent), subtree(v, call.P) * block, level)

    return program


def _linear_sync(call: Call) -> Program:
    """Return the program in which the root tells each rank in turn to send: a first segment, then the rest.

    The root waits for the first segment before it turns to the next rank; the rest (a message even if it is empty)
    may still be on its way. It comes in before the next first segment, for which it makes the wait no longer.
    """
    first = segment_count(call.count, call.itemsize, call.segment_bytes) * call.itemsize
    rest = call.count * call.itemsize - first

    def program(rank: int) -> Iterator[Operation]:
        if rank != call.root:
            turn = 2 * (rank - (rank > call.root))
            yield recv(call.root, 0, turn)
            yield send(call.root, first, turn + 1)
            yield send(call.root, rest, turn + 2)
            return
        for i, other in enumerate(r for r in range(call.P) if r != call.root):
            yield irecv(other, first, 2 * i + 1)
            yield send(other, 0, 2 * i)
            yield irecv(other, rest, 2 * i + 2)
            if i:
                yield wait_recv()  # the rest of the rank before
            yield wait_recv()
        yield wait_all()

    return program


def _basic_linear_phases(options: Options) -> tuple[Phase, ...]:
    return (
        Phase("the root receives from each of P - 2 ranks", 0, P - 3, n, back_to_back=True),
        Phase("and from the last one", P - 2, P - 2, n),
    )


def _basic_linear_loggp(network: LogGP, options: Options) -> dict[str, sp.Expr]:
    """Return A(n) + (P - 2)(max(o, g) + (n - 1) G): the distance of blocking receives in a row."""
    return {
        "latency": network.L + P * network.o,
        "bandwidth": (P - 1) * (n - 1) * network.G,
        "gap": (P - 2) * sp.Max(0, network.g - network.o),
    }


def _binomial_phases(options: Options) -> tuple[Phase, ...]:
    fl, cl = log2_floor(P), log2_ceil(P)
    return (
        Phase("children of full subtrees send them", 0, fl - 1, 2**k * n),
        Phase("the last child, unless P is a power of two", fl, cl - 1, (P - 2**fl) * n),
    )


def _binomial_loggp(network: LogGP, options: Options) -> dict[str, sp.Expr]:
    """Return L + 2 o + (fl - 1) max(L + 2 o, g) + (cl - fl) max(o, g) + ((P - 1) n - cl) G.

    A round of full subtrees is synchronous. The root's last child, of P - 2**fl blocks, has been ready before the root
    is: its message follows the one before as in a linear gather.
    """
    fl, cl = log2_floor(P), log2_ceil(P)
    one_way = network.L + 2 * network.o
    return {
        "latency": fl * one_way + (cl - fl) * network.o,
        "bandwidth": ((P - 1) * n - cl) * network.G,
        "gap": (fl - 1) * sp.Max(0, network.g - one_way) + (cl - fl) * sp.Max(0, network.g - network.o),
    }


def _segments(options: Options) -> tuple[sp.Expr, sp.Expr]:
    """Return the bytes of the first segment and of the rest."""
    first = n if options.segment is None else sp.Min(n, options.segment)
    return first, n - first


def _linear_sync_phases(options: Options) -> tuple[Phase, ...]:
    first, rest = _segments(options)
    odd = sp.floor((k + 1) / 2) - sp.floor(k / 2)  # written so that its sum telescopes
    return (
        Phase("the first sender is told to go", 0, 0, sp.S.Zero),
        Phase(
            "k odd: a first segment; k even: its rest, while the next sender is told to go",
            1,
            2 * P - 2,
            first * odd + rest * (1 - odd),
        ),
    )


def _linear_sync_loggp(network: LogGP, options: Options) -> dict[str, sp.Expr]:
    """Return A(1) + d(f) + A(r) + (P - 2) max(A(1) + A(f), d(f) + d(r)), for a first segment of f bytes and r more.

    A turn takes a token there and a first segment back, or as long as the root's port needs for both segments.
    """
    first, rest = _segments(options)
    # A message of no bytes counts as one byte.
    there, back, more = network.L + 2 * network.o, (first - 1) * network.G, (sp.Max(1, rest) - 1) * network.G

    def longer(gap: sp.Expr) -> sp.Expr:
        """Return how much longer than a token and a first segment the port needs."""
        if rest == 0:
            return 2 * sp.Max(0, gap - there)
        return sp.Max(0, gap + more - 2 * there + sp.Max(gap, network.o - back))

    distance = sp.Max(network.o, back)
    return {
        "latency": 2 * (P - 1) * there + network.o,
        "bandwidth": (P - 2) * (back + longer(sp.S.Zero)) + more + distance - network.o,
        "gap": (P - 2) * (longer(network.g) - longer(sp.S.Zero)) + network.distance(first) - distance,
    }


def _algorithm(
    name: str,
    program: Callable[[Call], Program],
    phases: Callable[[Options], tuple[Phase, ...]],
    loggp: Callable[[LogGP, Options], dict[str, sp.Expr]],
    exact: Exact,
    segmented: bool = False,
) -> Algorithm:
    return Algorithm("gather", name, program, phases, loggp, exact, exact, segmented=segmented)


_BLOCKING = Exact(note="Sends and receives block.")

ALGORITHMS = (
    _algorithm("basic_linear", _basic_linear, _basic_linear_phases, _basic_linear_loggp, _BLOCKING),
    _algorithm("binomial", _binomial, _binomial_phases, _binomial_loggp, _BLOCKING),
    _algorithm(
        "linear_sync",
        _linear_sync,
        _linear_sync_phases,
        _linear_sync_loggp,
        Exact(note="Sends block; the root's receives are posted. n_s is the first segment, of whole elements."),
        segmented=True,
    ),
)
