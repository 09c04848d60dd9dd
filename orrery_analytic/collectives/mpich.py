"""Reductions of MPICH that Open MPI does not have: Rabenseifner's allreduce with another fold, pairwise exchange."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from orrery_analytic.collectives.algorithm import POWERS, Algorithm, Call, Exact, Options
from orrery_analytic.collectives.allreduce import recursive_doubling_program
from orrery_analytic.collectives.blocks import blocks
from orrery_analytic.collectives.halving_formulas import idle
from orrery_analytic.collectives.rounds import Phase, close, k
from orrery_analytic.networks import LogGP
from orrery_analytic.schedules.operations import Operation, Program, exchange, recv, reduce, send
from orrery_analytic.symbols import P, log2_ceil, log2_floor, n

__all__ = ["ALGORITHMS"]


def _rabenseifner(call: Call) -> Program:
    """Return Rabenseifner's allreduce with a fold of whole vectors: even ranks give theirs to the next rank.

    With fewer elements than a power of two of ranks, MPICH runs recursive doubling.
    """
    depth = call.P.bit_length() - 1
    power = 1 << depth
    folded = call.P - power
    if call.count < power:
        return recursive_doubling_program(call)
    whole = call.count * call.itemsize
    sizes = blocks(call.count, power)
    start = int(folded > 0)

    def real(v: int) -> int:
        return 2 * v + 1 if v < folded else v + folded

    def window(first: int, length: int) -> int:
        return sum(sizes[first : first + length]) * call.itemsize

    def program(rank: int) -> Iterator[Operation]:
        if rank < 2 * folded and rank % 2 == 0:
            yield send(rank + 1, whole, 0)
            yield recv(rank + 1, whole, start + 2 * depth)
            return
        if rank < 2 * folded:
            yield recv(rank - 1, whole, 0)
            yield reduce(whole, 0)
        v = rank // 2 if rank < 2 * folded else rank - folded
        first, passed = 0, []
        for i in range(depth):
            length = power >> (i + 1)
            peer = real(v ^ 1 << i)
            keeps_left = not v >> i & 1
            kept, given = (first, first + length) if keeps_left else (first + length, first)
            yield exchange(peer, window(given, length), peer, window(kept, length), start + i)
            yield reduce(window(kept, length), start + i)
            passed.append((peer, window(kept, length), window(given, length)))
            first = kept
        for i, (peer, own, other) in enumerate(reversed(passed), start + depth):
            yield exchange(peer, own, peer, other, i)
        if rank < 2 * folded:
            yield send(rank - 1, whole, start + 2 * depth)

    return program


def _pairwise(call: Call) -> Program:
    block = call.count * call.itemsize

    def program(rank: int) -> Iterator[Operation]:
        for i in range(1, call.P):
            yield exchange((rank + i) % call.P, block, (rank - i) % call.P, block, i - 1)
            yield reduce(block, i - 1)

    return program


def _rabenseifner_phases(options: Options) -> tuple[Phase, ...]:
    fl, fold = log2_floor(P), log2_ceil(P) - log2_floor(P)
    halved, back = n / 2 ** (k - fold + 1), n / 2 ** (fold + 2 * fl - k)
    return (
        Phase("ranks beyond a power of two hand over their vector, if there are any", 0, fold - 1, n, n),
        Phase("pairs exchange halves of what is left and combine", fold, fold + fl - 1, halved, halved),
        Phase("the same halves back, smallest first", fold + fl, fold + 2 * fl - 1, back),
        Phase("the folded ranks get the result", fold + 2 * fl, 2 * fold + 2 * fl - 1, n),
    )


def _rabenseifner_loggp(network: LogGP, options: Options) -> dict[str, sp.Expr]:
    """Return the sum over rounds, with what the gap leaves idle once reductions are taken off, round by round.

    The gap makes the next message late 2 fl - 1 times, and that to the folded rank. A rank has received, not sent, when
    it begins the first exchange after the fold.
    """
    fl, fold = log2_floor(P), log2_ceil(P) - log2_floor(P)
    behind = network.g - network.L - 2 * network.o
    halving = idle(behind, n / 2**fl * network.gamma, sp.S.Zero, fl)
    terms = close(_rabenseifner_phases(options), network)
    return {**terms, "gap": halving + (fl - 1 + fold) * sp.Max(0, behind)}


def _pairwise_phases(options: Options) -> tuple[Phase, ...]:
    return (Phase("a block to rank + k + 1, and one to combine from rank - k - 1", 0, P - 2, n / P, n / P),)


ALGORITHMS = (
    Algorithm(
        "allreduce",
        "mpich_rabenseifner",
        _rabenseifner,
        _rabenseifner_phases,
        _rabenseifner_loggp,
        loggp_exact=Exact(gapped_reducing=POWERS),
    ),
    Algorithm("reduce_scatter", "mpich_pairwise", _pairwise, _pairwise_phases),
)
