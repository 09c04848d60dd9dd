"""MPI_Scatter: n is one rank's block; the root holds P n bytes first."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import sympy as sp

from orrery_analytic.collectives import trees
from orrery_analytic.collectives.algorithm import Algorithm, Call, Exact, Options
from orrery_analytic.collectives.gather import subtree
from orrery_analytic.collectives.rounds import Phase, close, k
from orrery_analytic.networks import LogGP
from orrery_analytic.schedules.operations import Operation, Program, isend, recv, send, wait_sends
from orrery_analytic.symbols import P, log2_ceil, log2_floor, n

__all__ = ["ALGORITHMS"]


def _linear(call: Call, operation: Callable[[int, int, int], Operation]) -> Program:
    """Return the program in which the root sends, by `send` or by `isend`, to all in rank order."""
    block = call.count * call.itemsize

    def program(rank: int) -> Iterator[Operation]:
        if rank != call.root:
            yield recv(call.root, block, rank - (rank > call.root))
            return
        for i, to in enumerate(r for r in range(call.P) if r != call.root):
            yield operation(to, block, i)
        yield wait_sends()

    return program


def _binomial(call: Call) -> Program:
    """Return the program that passes whole subtrees down the in-order binomial tree, the largest first."""
    tree = trees.in_order_binomial(call.P)
    block = call.count * call.itemsize
    levels = (call.P - 1).bit_length()

    def program(rank: int) -> Iterator[Operation]:
        v = call.virtual(rank)
        parent = tree.parents[v]
        if parent is not None:
            level = (v - parent).bit_length() - 1
            yield recv(call.real(parent), subtree(v, call.P) * block, levels - 1 - level)
        for level, child in reversed(tuple(enumerate(tree.children[v]))):
            yield send(call.real(child), subtree(child, call.P) * block, levels - 1 - level)

    return program


def _linear_phases(options: Options) -> tuple[Phase, ...]:
    return (
        Phase("the root sends to each of P - 2 ranks", 0, P - 3, n, back_to_back=True),
        Phase("and to the last one", P - 2, P - 2, n),
    )


def _binomial_phases(options: Options) -> tuple[Phase, ...]:
    fl, cl = log2_floor(P), log2_ceil(P)
    return (
        Phase("the first child gets its blocks, unless P is a power of two", 0, cl - fl - 1, (P - 2**fl) * n),
        Phase("the largest full subtrees left get theirs", cl - fl, cl - 1, 2 ** (cl - 1 - k) * n),
    )


def _binomial_loggp(network: LogGP, options: Options) -> dict[str, sp.Expr]:
    r"""Return the terms under LogGP, exact for every P.

    A full subtree is a synchronous round for each level: after a message, a node sends the next one (d later) or its
    child does (A later). Where P is no power of two, the root first sends R = P - 2**fl blocks, and all the rest comes
    later by max(g + (R n - 1) G, o + h n G).

    Where o hides the bytes of what the root sends first (d = o), its first child may be later than the root, since
    that child waits for these bytes. With C = 2**(fl + 1) - P, of e binary digits, the last rank lies down the first
    fl - e ones of P, and h = 2**fl - 2**e - (fl - e) C; h = 0 unless P begins with two ones and more behind them.

    Source: derived; the paths in between are never the longest.
    """
    full = _binomial_phases(options)[1]
    fl, cl = log2_floor(P), log2_ceil(P)
    missing = 2 ** (fl + 1) - P
    e = log2_floor(missing) + 1
    shown = network.o + (2**fl - 2**e - (fl - e) * missing) * n * network.G
    wire = ((P - 2**fl) * n - 1) * network.G
    free = sp.Max(wire, shown)
    first = {"latency": network.o, "bandwidth": free - network.o, "gap": sp.Max(network.g + wire, shown) - free}
    terms = close((full,), network)
    return {name: terms[name] + (cl - fl) * step for name, step in first.items()}


_BLOCKING = Exact(note="Sends block.")
_POSTED = Exact(note="All sends are posted at once; the port takes them in program order, each with its own latency.")

ALGORITHMS = (
    Algorithm(
        "scatter",
        "basic_linear",
        lambda call: _linear(call, send),
        _linear_phases,
        hockney_exact=_BLOCKING,
        loggp_exact=_BLOCKING,
    ),
    Algorithm("scatter", "binomial", _binomial, _binomial_phases, _binomial_loggp, _BLOCKING, _BLOCKING),
    Algorithm(
        "scatter",
        "linear_nb",
        lambda call: _linear(call, isend),
        _linear_phases,
        hockney_exact=_POSTED,
        loggp_exact=_POSTED,
    ),
)
