"""MPI_Allgather: n is one rank's block; every rank ends with P n bytes."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from orrery_analytic.collectives.algorithm import TWO, Algorithm, Call, Exact, Options
from orrery_analytic.collectives.rounds import Phase, k
from orrery_analytic.schedules.operations import Operation, Program, exchange
from orrery_analytic.symbols import P, log2_ceil, log2_floor, n

__all__ = ["ALGORITHMS", "ring_program"]


def ring_program(call: Call) -> Program:
    """Return P - 1 rounds, each of which sends a block to the right neighbour."""
    block = call.count * call.itemsize

    def program(rank: int) -> Iterator[Operation]:
        right, left = (rank + 1) % call.P, (rank - 1) % call.P
        for i in range(call.P - 1):
            yield exchange(right, block, left, block, i)

    return program


def _bruck(call: Call) -> Program:
    block = call.count * call.itemsize

    def program(rank: int) -> Iterator[Operation]:
        i, distance = 0, 1
        while distance < call.P:
            nbytes = min(distance, call.P - distance) * block
            yield exchange((rank - distance) % call.P, nbytes, (rank + distance) % call.P, nbytes, i)
            i, distance = i + 1, 2 * distance

    return program


def _recursive_doubling(call: Call) -> Program:
    block = call.count * call.itemsize

    def program(rank: int) -> Iterator[Operation]:
        for i in range(call.P.bit_length() - 1):
            peer = rank ^ (1 << i)
            yield exchange(peer, block << i, peer, block << i, i)

    return program


def _neighbor(call: Call) -> Program:
    block = call.count * call.itemsize

    def program(rank: int) -> Iterator[Operation]:
        right, left = (rank + 1) % call.P, (rank - 1) % call.P
        partners = (right, left) if rank % 2 == 0 else (left, right)
        yield exchange(partners[0], block, partners[0], block, 0)
        for i in range(1, call.P // 2):
            yield exchange(partners[i % 2], 2 * block, partners[i % 2], 2 * block, i)

    return program


def _two_proc(call: Call) -> Program:
    block = call.count * call.itemsize
    return lambda rank: iter([exchange(1 - rank, block, 1 - rank, block, 0)])


def _ring_phases(options: Options) -> tuple[Phase, ...]:
    return (Phase("a block goes to the right neighbour", 0, P - 2, n),)


def _bruck_phases(options: Options) -> tuple[Phase, ...]:
    fl, cl = log2_floor(P), log2_ceil(P)
    return (
        Phase("all blocks held go to rank - 2**k", 0, fl - 1, 2**k * n),
        Phase("the rest, unless P is a power of two", fl, cl - 1, (P - 2**fl) * n),
    )


def _neighbor_phases(options: Options) -> tuple[Phase, ...]:
    # P odd: the library runs the ring, P - 1 rounds of one block. P even: one round of one block, then two at a time.
    odd = sp.Mod(P, 2)
    pairs = (1 - odd) * (P / 2 - 1)
    return (
        Phase("one block to the partner (P odd: to the right neighbour, in every round)", 0, odd * (P - 2), n),
        Phase("two blocks to the other partner, in turn", 1, pairs, 2 * n),
    )


def _two_proc_phases(options: Options) -> tuple[Phase, ...]:
    return (Phase("both exchange their block", 0, 0, n),)


ALGORITHMS = (
    Algorithm("allgather", "bruck", _bruck, _bruck_phases),
    Algorithm("allgather", "recursive_doubling", _recursive_doubling, _bruck_phases),
    Algorithm("allgather", "ring", ring_program, _ring_phases),
    Algorithm("allgather", "neighbor", _neighbor, _neighbor_phases),
    Algorithm("allgather", "two_proc", _two_proc, _two_proc_phases, only_at=TWO,
              hockney_exact=Exact(TWO), loggp_exact=Exact(TWO)),
)  # fmt: skip
