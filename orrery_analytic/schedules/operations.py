"""What a rank does, as small tuples: the words in which a rank's program is written.

A program is a generator for one rank that yields these in the order in which the rank calls them, as MPI code would.
Each message and each reduction carries the round that it belongs to, so that a formula can be compared round by round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

__all__ = [
    "EXCHANGE",
    "IRECV",
    "ISEND",
    "RECV",
    "REDUCE",
    "SEND",
    "WAIT_ALL",
    "WAIT_RECV",
    "WAIT_SEND",
    "WAIT_SENDS",
    "Operation",
    "Program",
    "among",
    "exchange",
    "irecv",
    "isend",
    "recv",
    "reduce",
    "send",
    "shifted",
    "wait_all",
    "wait_recv",
    "wait_send",
    "wait_sends",
]

Operation = tuple[Any, ...]
Program = Callable[[int], Iterator[Operation]]

SEND, ISEND, RECV, IRECV, EXCHANGE, WAIT_RECV, WAIT_SENDS, WAIT_ALL, REDUCE, WAIT_SEND = range(10)


def send(to: int, nbytes: int, round: int = 0) -> Operation:
    """Send and go on when the message has left (Hockney: when it has arrived)."""
    return (SEND, to, nbytes, round)


def isend(to: int, nbytes: int, round: int = 0) -> Operation:
    """Post a send and go on at once."""
    return (ISEND, to, nbytes, round)


def recv(source: int, nbytes: int, round: int = 0) -> Operation:
    """Receive and go on when the data are usable."""
    return (RECV, source, nbytes, round)


def irecv(source: int, nbytes: int, round: int = 0) -> Operation:
    """Post a receive and go on at once."""
    return (IRECV, source, nbytes, round)


def exchange(to: int, nbytes: int, source: int, nbytes_in: int, round: int = 0) -> Operation:
    """Post a receive, send, wait for the receive: MPI_Sendrecv."""
    return (EXCHANGE, to, nbytes, source, nbytes_in, round)


def wait_recv() -> Operation:
    """Wait for the oldest posted receive."""
    return (WAIT_RECV,)


def wait_send() -> Operation:
    """Wait for the oldest posted send that was not waited for."""
    return (WAIT_SEND,)


def wait_sends() -> Operation:
    """Wait for all posted sends."""
    return (WAIT_SENDS,)


def wait_all() -> Operation:
    """Wait for all posted sends and receives."""
    return (WAIT_ALL,)


def reduce(nbytes: int, round: int = 0) -> Operation:
    """Combine two operands of `nbytes` bytes."""
    return (REDUCE, nbytes, round)


def shifted(program: Program, rounds: int) -> Program:
    """Return a program whose rounds are counted from `rounds` on."""

    def later(rank: int) -> Iterator[Operation]:
        for operation in program(rank):
            yield (*operation[:-1], operation[-1] + rounds) if len(operation) > 1 else operation

    return later


def among(ranks: Sequence[int], program: Program, rounds: int = 0) -> Program:
    """Return the program of ``len(ranks)`` ranks for these ranks of a larger schedule, from round `rounds` on."""
    places = {rank: i for i, rank in enumerate(ranks)}

    def renamed(rank: int) -> Iterator[Operation]:
        for operation in shifted(program, rounds)(places[rank]):
            kind, *rest = operation
            if kind == EXCHANGE:
                to, nbytes, source, *rest = rest
                yield (kind, ranks[to], nbytes, ranks[source], *rest)
            elif kind in (SEND, ISEND, RECV, IRECV):
                yield (kind, ranks[rest[0]], *rest[1:])
            else:
                yield operation

    return renamed
