"""The probes of messages between two ranks, or between pairs of ranks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from orrery_analytic.probe.timing import Run

__all__ = ["WINDOW", "Pair", "exchange", "messages_of", "one_way", "ping_pong"]

WINDOW = 64
"""Messages under way at once, as in OSU's tests."""
_TAG = 1


@dataclass(frozen=True)
class Pair:
    """A rank and its partner.

    Attributes
    ----------
    mpi
        The module ``mpi4py.MPI``.
    comm
        All ranks that take part.
    partner
        Rank of the partner in it; the lower one of the two sends first.
    buffer
        From bytes to an array of them, on the host or the device.
    """

    mpi: Any
    comm: Any
    partner: int
    buffer: Callable[[int], Any]

    @property
    def first(self) -> bool:
        """Whether this rank is the one that sends first."""
        return bool(self.comm.rank < self.partner)

    def agree(self, value: float) -> float:
        """Return the number that the first rank has."""
        return float(self.comm.bcast(value, 0))

    def memory(self, size: int) -> list[Any]:
        """Return a new buffer, as mpi4py takes it."""
        return [self.buffer(size), self.mpi.BYTE]


def ping_pong(pair: Pair, size: int) -> Run:
    """Return what sends a message there and back."""
    out, into = pair.memory(size), pair.memory(size)
    send, receive, first, partner = pair.comm.Send, pair.comm.Recv, pair.first, pair.partner

    def run(iterations: int) -> None:
        for _ in range(iterations):
            if first:
                send(out, partner, _TAG)
            receive(into, partner, _TAG)
            if not first:
                send(out, partner, _TAG)

    return run


def one_way(pair: Pair, size: int) -> Run:
    """Return what sends a window of messages and waits for the answer of four bytes; all pairs end together."""
    out, answer = pair.memory(size), pair.memory(4)
    comm, partner, wait = pair.comm, pair.partner, pair.mpi.Request.Waitall

    def run(iterations: int) -> None:
        for _ in range(iterations):
            if pair.first:
                wait([comm.Isend(out, partner, _TAG) for _ in range(WINDOW)])
                comm.Recv(answer, partner, _TAG)
            else:
                wait([comm.Irecv(out, partner, _TAG) for _ in range(WINDOW)])
                comm.Send(answer, partner, _TAG)
        if comm.size > 2:
            comm.Barrier()

    return run


def exchange(pair: Pair, size: int) -> Run:
    """Return what sends a window of messages each way at once."""
    out, into = pair.memory(size), pair.memory(size)
    comm, partner, wait = pair.comm, pair.partner, pair.mpi.Request.Waitall

    def run(iterations: int) -> None:
        for _ in range(iterations):
            receives = [comm.Irecv(into, partner, _TAG) for _ in range(WINDOW)]
            wait(receives + [comm.Isend(out, partner, _TAG) for _ in range(WINDOW)])

    return run


def messages_of(probe: str, ranks: int) -> int:
    """Return how many messages an iteration of a probe has, of all ranks that take part."""
    return {"latency": 2, "bandwidth": WINDOW, "exchange": 2 * WINDOW, "message_rate": ranks // 2 * WINDOW}[probe]
