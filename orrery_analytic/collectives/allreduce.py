"""MPI_Allreduce: n is the whole vector; every rank ends with the result."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import sympy as sp

from orrery_analytic.collectives import bcast
from orrery_analytic.collectives import reduce as to_root
from orrery_analytic.collectives.algorithm import EVERY, POWERS, Algorithm, Call, Exact, Options
from orrery_analytic.collectives.blocks import blocks, segment_count
from orrery_analytic.collectives.folding import butterfly_loggp
from orrery_analytic.collectives.rabenseifner import Shape, combine, halving_phases, less_idle
from orrery_analytic.collectives.rounds import Phase, close
from orrery_analytic.networks import LogGP
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

__all__ = ["ALGORITHMS", "recursive_doubling_program", "reduce_ring"]


def _levels(P: int) -> tuple[int, int, int]:
    """Return (fl, q, R): q = 2**fl is the largest power of two up to P, and R = P - q ranks fold."""
    levels = P.bit_length() - 1
    return levels, 1 << levels, P - (1 << levels)


def _basic_linear(call: Call) -> Program:
    """Return a linear reduce to rank 0 and a linear bcast from it, whatever the library would decide."""
    together = Call(call.P, call.count, call.itemsize)
    up, down = to_root.linear_program(together), shifted(bcast.linear_program(together), call.P - 1)

    def program(rank: int) -> Iterator[Operation]:
        yield from up(rank)
        yield from down(rank)

    return program


def recursive_doubling_program(call: Call) -> Program:
    """Return the program in which pairs exchange whole vectors; beyond a power of two, ranks fold into the next."""
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


def reduce_ring(call: Call, part: Callable[[int], int], first_round: int) -> Program:
    """Return P - 1 rounds in which part(b) bytes of each block b go around and are combined; rank r ends with r + 1."""

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
        reduce_ring(call, lambda b, i=i: blocks(sizes[b], phases)[i] * itemsize, i * (P - 1))  # type: ignore[misc]
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
    shape = Shape(call)
    start = shape.start + shape.depth
    whole = call.count * call.itemsize

    def program(rank: int) -> Iterator[Operation]:
        yield from combine(shape, rank)
        if shape.leaves(rank):
            yield recv(rank - 1, whole, start + shape.depth)
            return
        for i, (other, kept, given) in enumerate(reversed(shape.windows(shape.number(rank)))):
            yield exchange(shape.real(other), kept, shape.real(other), given, start + i)
        if rank < 2 * shape.folded:
            yield send(rank + 1, whole, start + shape.depth)

    return program


def _basic_linear_phases(options: Options) -> tuple[Phase, ...]:
    down = (replace(p, first=p.first + P - 1, last=p.last + P - 1) for p in bcast.linear_phases(options))
    return (*to_root.linear_phases(options), *down)


def _basic_linear_loggp(network: LogGP, options: Options) -> dict[str, sp.Expr]:
    """Return the linear reduce, then the linear bcast, which starts when rank 0 has the result."""
    up, down = to_root.linear_loggp(network, options), close(bcast.linear_phases(options), network)
    return {name: up[name] + down[name] for name in up}


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
    there_and_back = halving_phases(options)
    start, fold = there_and_back[-1].last + 1, log2_ceil(P) - log2_floor(P)
    return (*there_and_back, Phase("the folded ranks get the result", start, start + fold - 1, n))


def _rabenseifner_loggp(network: LogGP, options: Options) -> dict[str, sp.Expr]:
    """Return the sum over the rounds: A(m), and what a gap leaves idle in each but the last.

    A rank that folds gets the other half of the sum on one port and sends on the other: no gap comes between.
    """
    terms = less_idle(close(_rabenseifner_phases(options), network), network)
    free = sp.Max(0, network.g - network.L - 2 * network.o - n / 2 * network.gamma)
    return {**terms, "gap": terms["gap"] - (log2_ceil(P) - log2_floor(P)) * free}


_LINEAR = Exact(
    note="The sends of the reduce block; those of the bcast are posted at once, and the port takes them in order."
)

ALGORITHMS = (
    Algorithm("allreduce", "basic_linear", _basic_linear, _basic_linear_phases, _basic_linear_loggp, _LINEAR, _LINEAR),
    Algorithm(
        "allreduce",
        "recursive_doubling",
        recursive_doubling_program,
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
        _rabenseifner_loggp,
        loggp_exact=Exact(EVERY, gapped_reducing=POWERS, note="At most 6 % high (P = 10)."),
    ),
)
