"""MPI_Reduce_scatter_block: n is one rank's block; the vector has P n bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import sympy as sp

from orrery_analytic.collectives.algorithm import EVERY, POWERS, Algorithm, Call, Exact, Options
from orrery_analytic.collectives.doubling import levels
from orrery_analytic.collectives.doubling_formulas import (
    block_path,
    block_path_loggp,
    doubling_blocks,
    doubling_rounds,
)
from orrery_analytic.collectives.halving_formulas import butterfly_loggp, halving_loggp
from orrery_analytic.collectives.reduce_scatter import (
    BUTTERFLY_EXACT,
    EXCHANGED,
    HALVING_EXACT,
    halving_phases,
    halving_program,
    settling_rounds,
)
from orrery_analytic.collectives.rounds import Phase, k, split
from orrery_analytic.networks import Hockney, LogGP
from orrery_analytic.schedules.operations import Operation, Program, exchange, recv, reduce, send
from orrery_analytic.symbols import P, log2_ceil, log2_floor, n

__all__ = ["ALGORITHMS"]


def _recursive_doubling(call: Call) -> Program:
    """Return the program in which pairs exchange all but the blocks of their own subtrees, and combine."""
    P, block = call.P, call.count * call.itemsize

    def program(rank: int) -> Iterator[Operation]:
        for level in levels(rank, P):
            before, after = level.other[0] * block, (P - level.other[1]) * block
            incoming, outgoing = before + after, (P - level.own[1] + level.own[0]) * block
            if level.partner is not None:
                yield exchange(level.partner, outgoing, level.partner, incoming, level.round)
            if level.source is not None:
                yield recv(level.source[0], incoming, level.source[1])
            for to, at in level.forwards:
                yield send(to, incoming, at)
            if level.receives:
                last = level.source[1] if level.source is not None else level.round
                yield reduce(before, last)
                yield reduce(after, last)

    return program


def _butterfly(call: Call) -> Program:
    """Return the butterfly; for a power of two the library permutes the blocks first, so that no exchange is left."""
    return halving_program(call, near_first=True, settles=call.P & (call.P - 1) != 0)


def _recursive_doubling_phases(options: Options) -> tuple[Phase, ...]:
    unwanted = (P - doubling_blocks(P, k, 1)) * n
    label = "pairs exchange all but their own subtree's blocks, and combine; where a partner is missing, others pass on"
    return (Phase(label, 0, doubling_rounds(P) - 1, unwanted, unwanted),)


def _recursive_doubling_hockney(network: Hockney, options: Options) -> dict[str, sp.Expr]:
    """Return log2(P) alpha + (P log2(P) - P + 1) n (beta + gamma) for a power of two, else the longest path."""
    beta, gamma = n * network.beta, n * network.gamma
    fl = log2_floor(P)
    power = fl * network.alpha + (P * fl - P + 1) * (beta + gamma)
    path = block_path(P, network.alpha, beta, gamma)
    return split(sp.Piecewise((power, sp.Eq(log2_ceil(P), fl)), (path, True)), network)


def _recursive_doubling_loggp(network: LogGP, options: Options) -> dict[str, sp.Expr]:
    """Return the longest path.

    Where the last ranks join a full group, two messages follow each other; a large gap keeps a rank longer, with one
    message and one reduction of at least 2**fl blocks less.
    """
    one_way, G = network.L + 2 * network.o, network.G
    reduction = n * network.gamma
    prices = (
        one_way - G,
        sp.Max(one_way, network.g) - G,
        sp.Max(2 * one_way, network.g + G - 2 ** log2_floor(P) * (n * G + reduction)) - 2 * G,
        sp.Max(network.o, network.g) - G,
        n * G,
        reduction,
        network.g - one_way,
    )
    return split(block_path_loggp(P, *prices), network)


def _of_total(phases: tuple[Phase, ...]) -> tuple[Phase, ...]:
    """Return phases of reduce_scatter for P blocks of n bytes."""
    return tuple(
        replace(phase, nbytes=phase.nbytes.subs(n, P * n), reduced=sp.sympify(phase.reduced).subs(n, P * n))
        for phase in phases
    )


def _butterfly_phases(options: Options) -> tuple[Phase, ...]:
    return _of_total(halving_phases(options, settling_rounds(P, 0)))


ALGORITHMS = (
    Algorithm(
        "reduce_scatter_block",
        "recursive_doubling",
        _recursive_doubling,
        _recursive_doubling_phases,
        _recursive_doubling_loggp,
        EXCHANGED,
        Exact(EVERY, reducing=POWERS, gapped=POWERS, note=f"{EXCHANGED.note} At most 17 % high (P = 31)."),
        hockney=_recursive_doubling_hockney,
    ),
    Algorithm(
        "reduce_scatter_block",
        "recursive_halving",
        halving_program,
        lambda options: _of_total(halving_phases(options, log2_ceil(P) - log2_floor(P))),
        lambda network, options: halving_loggp(network, P * n),
        EXCHANGED,
        HALVING_EXACT,
    ),
    Algorithm(
        "reduce_scatter_block",
        "butterfly",
        _butterfly,
        _butterfly_phases,
        lambda network, options: butterfly_loggp(network, P * n, settles=False),
        EXCHANGED,
        BUTTERFLY_EXACT,
    ),
)
