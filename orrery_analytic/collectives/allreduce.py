"""MPI_Allreduce: n is the whole vector; every rank ends with the result."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import sympy as sp

from orrery_analytic.collectives.algorithm import EVERY, POWERS, Algorithm, Call, Exact, Options
from orrery_analytic.collectives.bcast import linear_program as linear_bcast
from orrery_analytic.collectives.blocks import blocks, segment_count
from orrery_analytic.collectives.folding import butterfly_loggp
from orrery_analytic.collectives.reduce import linear_program as linear_reduce
from orrery_analytic.collectives.rounds import Phase, k
from orrery_analytic.schedules.operations import (
    Operation,
    Program,
    exchange,
    irecv,
    recv,
    reduce,
    send,
    shifted,
    wait_recv,
)
from orrery_analytic.symbols import P, log2_ceil, log2_floor, n

__all__ = ["ALGORITHMS"]


def _levels(P: int) -> tuple[int, int, int]:
    """Return (fl, q, R): q = 2**fl is the largest power of two up to P, and R = P - q ranks fold."""
    levels = P.bit_length() - 1
    return levels, 1 << levels, P - (1 << levels)


def _basic_linear(call: Call) -> Program:
    """Return a linear reduce to rank 0 and a linear bcast from it, whatever the library would decide."""
    together = Call(call.P, call.count, call.itemsize)
    up, down = linear_reduce(together), shifted(linear_bcast(together), call.P - 1)

    def program(rank: int) -> Iterator[Operation]:
        yield from up(rank)
        yield from down(rank)

    return program


def _recursive_doubling(call: Call) -> Program:
    levels, _, folded = _levels(call.P)
    nbytes = call.count * call.itemsize
    shift = int(folded > 0)

    def program(rank: int) -> Iterator[Operation]:
        if rank < 2 * folded and rank % 2 == 0:
            yield send(rank + 1, nbytes, 0)
            yield recv(rank + 1, nbytes, levels + 1)
            return
        if rank < 2 * folded:
            yield recv(rank - 1, nbytes, 0)
            yield reduce(nbytes, 0)
        new = rank >> 1 if rank < 2 * folded else rank - folded
        for i in range(levels):
            other = new ^ (1 << i)
            peer = 2 * other + 1 if other < folded else other + folded
            yield exchange(peer, nbytes, peer, nbytes, i + shift)
            yield reduce(nbytes, i + shift)
        if rank < 2 * folded:
            yield send(rank - 1, nbytes, levels + 1)

    return program


def _reduce_ring(call: Call, part: Callable[[int], int], first_round: int) -> Program:
    """Return P - 1 rounds in which part(b) bytes of each block b are combined around the ring; rank r ends with r + 1."""

    def program(rank: int) -> Iterator[Operation]:
        P = call.P
        right, left = (rank + 1) % P, (rank - 1) % P
        yield irecv(left, part(left), first_round)
        yield send(right, part(rank), first_round)
        for i in range(1, P - 1):
            block = (rank - i) % P
            yield irecv(left, part((block - 1) % P), first_round + i)
            yield wait_recv()
            yield reduce(part(block), first_round + i - 1)
            yield send(right, part(block), first_round + i)
        yield wait_recv()
        yield reduce(part(right), first_round + P - 2)

    return program


def _segmented_ring(call: Call) -> Program:
    """Return a reduction ring for each phase (one part of every block), and one ring that gathers whole blocks."""
    P, itemsize = call.P, call.itemsize
    sizes = blocks(call.count, P)
    segment = segment_count(call.count, itemsize, call.segment_bytes)
    phases, rest = divmod(call.count, P * segment)
    phases += rest >= P and rest > (P * segment) >> 1
    phases = max(phases, 1)
    rings = [
        _reduce_ring(call, lambda b, i=i: blocks(sizes[b], phases)[i] * itemsize, i * (P - 1))  # type: ignore[misc]
        for i in range(phases)
    ]

    def program(rank: int) -> Iterator[Operation]:
        for ring in rings:
            yield from ring(rank)
        right, left = (rank + 1) % P, (rank - 1) % P
        for i in range(P - 1):
            outgoing, incoming = sizes[(rank + 1 - i) % P] * itemsize, sizes[(rank - i) % P] * itemsize
            yield exchange(right, outgoing, left, incoming, (phases * (P - 1)) + i)

    return program


def _ring(call: Call) -> Program:
    return _segmented_ring(Call(call.P, call.count, call.itemsize))


def _rabenseifner(call: Call) -> Program:
    levels, _, folded = _levels(call.P)
    itemsize, count = call.itemsize, call.count
    shift = 2 * (folded > 0)
    left_half = count // 2

    def fold(rank: int) -> Iterator[Operation]:
        left, right = left_half * itemsize, (count - left_half) * itemsize
        if rank % 2:
            yield exchange(rank - 1, left, rank - 1, right, 0)
            yield reduce(right, 0)
            yield send(rank - 1, right, 1)
            yield recv(rank - 1, count * itemsize, shift + 2 * levels)
        else:
            yield exchange(rank + 1, right, rank + 1, left, 0)
            yield reduce(left, 0)
            yield recv(rank + 1, right, 1)

    def program(rank: int) -> Iterator[Operation]:
        if rank < 2 * folded:
            yield from fold(rank)
            if rank % 2:
                return
        new = rank // 2 if rank < 2 * folded else rank - folded
        window = count
        windows = []
        for i in range(levels):
            other = new ^ (1 << i)
            peer = 2 * other if other < folded else other + folded
            half = window // 2
            kept, given = (half, window - half) if rank < peer else (window - half, half)
            yield exchange(peer, given * itemsize, peer, kept * itemsize, shift + i)
            yield reduce(kept * itemsize, shift + i)
            windows.append((peer, kept * itemsize, given * itemsize))
            window = kept
        for i, (peer, kept, given) in enumerate(reversed(windows)):
            yield exchange(peer, kept, peer, given, shift + levels + i)
        if rank < 2 * folded:
            yield send(rank + 1, count * itemsize, shift + 2 * levels)

    return program


def _recursive_doubling_phases(options: Options) -> tuple[Phase, ...]:
    fl, fold = log2_floor(P), log2_ceil(P) - log2_floor(P)
    return (
        Phase("the folded ranks hand over their vector, unless P is a power of two", 0, fold - 1, n, n),
        Phase("pairs exchange and combine", fold, fold + fl - 1, n, n),
        Phase("the folded ranks get the result", fold + fl, 2 * fold + fl - 1, n),
    )


def _segmented_ring_phases(options: Options) -> tuple[Phase, ...]:
    if options.segment is None:
        phases, part = sp.S.One, n / P
    else:
        phases, part = sp.Max(1, n / (P * options.segment)), sp.Min(n / P, options.segment)
    rounds = phases * (P - 1)
    return (
        Phase("a block goes around and is combined", 0, rounds - 1, part, part),
        Phase("the results go around", rounds, rounds + P - 2, n / P),
    )


def _rabenseifner_phases(options: Options) -> tuple[Phase, ...]:
    fl, fold = log2_floor(P), log2_ceil(P) - log2_floor(P)
    start = 2 * fold
    halved = n / 2 ** (k - start + 1)
    return (
        Phase("folding pairs exchange halves, unless P is a power of two", 0, fold - 1, n / 2, n / 2),
        Phase("and one of them gets the other half of the sum", fold, start - 1, n / 2),
        Phase("pairs exchange halves of what is left and combine", start, start + fl - 1, halved, halved),
        Phase("the same halves back, smallest first", start + fl, start + 2 * fl - 1, n / 2 ** (start + 2 * fl - k)),
        Phase("the folded ranks get the result", start + 2 * fl, start + 2 * fl + fold - 1, n),
    )


ALGORITHMS = (
    Algorithm("allreduce", "basic_linear", _basic_linear),
    Algorithm(
        "allreduce",
        "recursive_doubling",
        _recursive_doubling,
        _recursive_doubling_phases,
        lambda network, options: butterfly_loggp(network, n, n),
    ),
    Algorithm("allreduce", "ring", _ring, lambda options: _segmented_ring_phases(Options())),
    Algorithm("allreduce", "segmented_ring", _segmented_ring, _segmented_ring_phases, segmented=True),
    Algorithm(
        "allreduce",
        "rabenseifner",
        _rabenseifner,
        _rabenseifner_phases,
        loggp_exact=Exact(EVERY, gapped=POWERS, gapped_reducing="no P"),
    ),
)
