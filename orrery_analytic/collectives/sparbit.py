"""Sparbit, Open MPI 5.0's allgather of near neighbours last: every block goes in a message of its own."""

from __future__ import annotations

from collections.abc import Iterator

from orrery_analytic.collectives.algorithm import Algorithm, Call, Options
from orrery_analytic.collectives.rounds import Phase
from orrery_analytic.schedules.operations import Operation, Program, irecv, isend, wait_all
from orrery_analytic.symbols import P, log2_ceil, n

__all__ = ["ALGORITHMS", "steps"]


def steps(P: int) -> list[tuple[int, int]]:
    """Return (distance, messages) of each step, farthest first; message t of a step carries block rank - 2 t distance.

    A rank sends all the blocks that it holds, but one where the receiver would later get a block twice: where the bit
    of the distance is not set in P, above the lowest set bit of P, and at that bit.

    Source: Open MPI 5.0, coll/base.
    """
    lowest = P & -P
    distance, expected = 1 << ((P - 1).bit_length() - 1), 1
    found = []
    while distance:
        excluded = distance >= lowest and (distance == lowest or not P & distance)
        found.append((distance, expected - excluded))
        distance, expected = distance >> 1, 2 * expected - excluded
    return found


def _sparbit(call: Call) -> Program:
    block = call.count * call.itemsize

    def program(rank: int) -> Iterator[Operation]:
        i = 0
        for distance, messages in steps(call.P):
            for _ in range(messages):
                yield isend((rank + distance) % call.P, block, i)
                yield irecv((rank - distance) % call.P, block, i)
                i += 1
            yield wait_all()

    return program


def _phases(options: Options) -> tuple[Phase, ...]:
    last = P - 1 - log2_ceil(P)  # messages that are not the last of their step
    return (
        Phase("blocks that others of their step follow (in the order of rounds, steps take turns)", 0, last - 1, n,
              back_to_back=True),
        Phase("the last block of each step", last, P - 2, n),
    )  # fmt: skip


ALGORITHMS = (Algorithm("allgather", "sparbit", _sparbit, _phases),)
