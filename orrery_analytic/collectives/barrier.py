"""MPI_Barrier: messages of no bytes, which LogGP counts as one byte each."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from orrery_analytic.collectives.algorithm import TWO, Algorithm, Call, Exact, Options
from orrery_analytic.collectives.folding import butterfly_loggp
from orrery_analytic.collectives.rounds import Phase, close, close_tree, split
from orrery_analytic.networks import LogGP
from orrery_analytic.schedules.operations import Operation, Program, exchange, irecv, recv, send, wait_all
from orrery_analytic.symbols import P, log2_ceil, log2_floor

__all__ = ["ALGORITHMS"]

_NONE = sp.S.Zero


def _linear(call: Call) -> Program:
    def program(rank: int) -> Iterator[Operation]:
        if rank:
            yield send(0, 0, rank - 1)
            yield recv(0, 0, call.P - 2 + rank)
            return
        for other in range(1, call.P):
            yield irecv(other, 0, other - 1)
        yield wait_all()
        for other in range(1, call.P):
            yield send(other, 0, call.P - 2 + other)

    return program


def _double_ring(call: Call) -> Program:
    """Return two laps of a token; the library sends the second one synchronously."""

    def program(rank: int) -> Iterator[Operation]:
        right, left = (rank + 1) % call.P, (rank - 1) % call.P
        for lap in range(2):
            if rank:
                yield recv(left, 0, lap * call.P + rank - 1)
            yield send(right, 0, lap * call.P + rank)
            if not rank:
                yield recv(left, 0, (lap + 1) * call.P - 1)

    return program


def _bruck(call: Call) -> Program:
    def program(rank: int) -> Iterator[Operation]:
        for i in range((call.P - 1).bit_length()):
            distance = 1 << i
            yield exchange((rank + distance) % call.P, 0, (rank - distance) % call.P, 0, i)

    return program


def _recursive_doubling(call: Call) -> Program:
    levels = call.P.bit_length() - 1
    power = 1 << levels
    folds = int(power < call.P)

    def program(rank: int) -> Iterator[Operation]:
        if rank >= power:
            yield exchange(rank - power, 0, rank - power, 0, 0)
            return
        if rank + power < call.P:
            yield recv(rank + power, 0, 0)
        for i in range(levels):
            yield exchange(rank ^ (1 << i), 0, rank ^ (1 << i), 0, i + folds)
        if rank + power < call.P:
            yield send(rank + power, 0, levels + 1)

    return program


def _tree(call: Call) -> Program:
    levels = (call.P - 1).bit_length()

    def program(rank: int) -> Iterator[Operation]:
        partners = [
            (i, rank ^ (1 << i)) for i in range(levels) if rank & ((1 << i) - 1) == 0 and rank ^ (1 << i) < call.P
        ]
        for i, partner in partners:
            yield recv(partner, 0, i) if partner > rank else send(partner, 0, i)
        for i, partner in reversed(partners):
            at = 2 * levels - 1 - i
            yield send(partner, 0, at) if partner > rank else recv(partner, 0, at)

    return program


def _two_proc(call: Call) -> Program:
    return lambda rank: iter([exchange(1 - rank, 0, 1 - rank, 0, 0)])


def _linear_phases(options: Options) -> tuple[Phase, ...]:
    return (
        Phase("rank 0 hears of P - 2 ranks", 0, P - 3, _NONE, back_to_back=True),
        Phase("and of the last one", P - 2, P - 2, _NONE),
        Phase("it releases P - 2 ranks", P - 1, 2 * P - 4, _NONE, back_to_back=True),
        Phase("and the last one", 2 * P - 3, 2 * P - 3, _NONE),
    )


def _linear_loggp(network: LogGP, options: Options) -> dict[str, sp.Expr]:
    """Return 2 (A + (P - 2) d): a fan-in, then a fan-out that starts when the fan-in is over."""
    return _twice(close(_linear_phases(options)[:2], network))


def _double_ring_phases(options: Options) -> tuple[Phase, ...]:
    return (Phase("a token goes around the ring, twice", 0, 2 * P - 1, _NONE),)


def _double_ring_loggp(network: LogGP, options: Options) -> dict[str, sp.Expr]:
    """Return P A + max(P A, d): rank 0 sends the second token when the first is back and its port is free."""
    lap = P * network.message(sp.S.One)
    return split(lap + sp.Max(lap, network.distance(sp.S.One)), network)


def _bruck_phases(options: Options) -> tuple[Phase, ...]:
    return (Phase("a token goes to rank + 2**k", 0, log2_ceil(P) - 1, _NONE),)


def _recursive_doubling_phases(options: Options) -> tuple[Phase, ...]:
    fl, fold = log2_floor(P), log2_ceil(P) - log2_floor(P)
    return (
        Phase("the ranks beyond a power of two report, if there are any", 0, fold - 1, _NONE),
        Phase("pairs at distance 2**k exchange tokens", fold, fold + fl - 1, _NONE),
        Phase("the reporters are released", fold + fl, 2 * fold + fl - 1, _NONE),
    )


def _tree_phases(options: Options) -> tuple[Phase, ...]:
    fl, cl = log2_floor(P), log2_ceil(P)
    return (
        Phase("up the tree, full subtrees", 0, fl - 1, _NONE),
        Phase("the last subtree, unless P is a power of two", fl, cl - 1, _NONE, back_to_back=True),
        Phase("down to the last subtree", cl, 2 * cl - fl - 1, _NONE, back_to_back=True),
        Phase("down the tree", 2 * cl - fl, 2 * cl - 1, _NONE),
    )


def _tree_loggp(network: LogGP, options: Options) -> dict[str, sp.Expr]:
    full, last, *_ = _tree_phases(options)
    return _twice(close_tree(full, last, network))


def _twice(terms: dict[str, sp.Expr]) -> dict[str, sp.Expr]:
    return {name: 2 * e for name, e in terms.items()}


def _two_proc_phases(options: Options) -> tuple[Phase, ...]:
    return (Phase("both exchange a token", 0, 0, _NONE),)


_BLOCKING = Exact(note="Sends block.")

ALGORITHMS = (
    Algorithm("barrier", "linear", _linear, _linear_phases, _linear_loggp),
    Algorithm("barrier", "double_ring", _double_ring, _double_ring_phases, _double_ring_loggp, _BLOCKING, _BLOCKING),
    Algorithm(
        "barrier",
        "recursive_doubling",
        _recursive_doubling,
        _recursive_doubling_phases,
        lambda network, options: butterfly_loggp(network, sp.S.One, _NONE),
    ),
    Algorithm("barrier", "bruck", _bruck, _bruck_phases),
    Algorithm("barrier", "two_proc", _two_proc, _two_proc_phases, None, Exact(TWO), Exact(TWO), only_at=TWO),
    Algorithm("barrier", "tree", _tree, _tree_phases, _tree_loggp),
)
