"""Runs the programs of all ranks against each other: finish times by max-plus evaluation, near linear in the messages.

Values may be ints, Fractions or floats: only `+`, `*` and the timing's `latest` (`max`) are used, so exact values give
exact times, and values of another kind bring a `latest` of their own.
"""

from __future__ import annotations

import heapq
from collections import defaultdict, deque
from typing import Any

from orrery_analytic.errors import QuantityError, ScheduleError
from orrery_analytic.networks import LogGPTiming, Timing
from orrery_analytic.schedules.operations import (
    EXCHANGE,
    IRECV,
    ISEND,
    RECV,
    REDUCE,
    SEND,
    WAIT_ALL,
    WAIT_RECV,
    WAIT_SEND,
    WAIT_SENDS,
    Program,
)

__all__ = ["finish_times"]


class _Message:
    """One message: when each side posted it, and when it left and arrived (None: not yet)."""

    __slots__ = ("arrival", "destination", "left", "nbytes", "received", "recv_posted", "sender_waits", "sent",
                 "receiver_waits", "send_posted", "source")  # fmt: skip

    def __init__(self, source: int, destination: int, nbytes: int) -> None:
        self.source, self.destination, self.nbytes = source, destination, nbytes
        self.send_posted: Any = None
        self.recv_posted: Any = None
        self.sent: Any = None  # when the sender may go on
        self.received: Any = None  # when the data are usable
        self.arrival: Any = None  # eager networks: first byte at the receiver
        self.sender_waits = self.receiver_waits = False


class _Run:
    def __init__(self, P: int, program: Program, timing: Timing) -> None:
        self.P, self.timing, self.latest = P, timing, timing.latest
        self.programs = [program(rank) for rank in range(P)]
        self.clock: list[Any] = [0] * P
        self.out_free: list[Any] = [0] * P
        self.in_free: list[Any] = [0] * P
        self.card_free: dict[tuple[str, int], Any] = defaultdict(int)
        # Posted and not yet matched, by channel; posted and not yet transferred, by port; not yet waited for, by rank.
        self.half: dict[tuple[int, int], deque[_Message]] = {}
        self.out_queue: list[deque[_Message]] = [deque() for _ in range(P)]
        self.in_queue: list[deque[_Message]] = [deque() for _ in range(P)]
        self.open_sends: list[deque[_Message]] = [deque() for _ in range(P)]
        self.open_receives: list[deque[_Message]] = [deque() for _ in range(P)]
        self.pending = [0] * P  # messages that a blocked rank waits for
        self.runnable = list(range(P - 1, -1, -1))
        self.heads: list[_Message] = []  # that came to the head of a queue when the message before them was through
        # For networks with shared cards: when it begins at the earliest and was ready, as `order` gives them, source, a
        # counter, and that begin itself. So the time does not hang on the order in which ranks are simulated.
        self.startable: list[tuple[Any, Any, int, int, Any, _Message]] = []
        self.counter = 0
        self.done = 0
        self.shares = hasattr(timing, "cards_per_node")

    def run(self) -> list[Any]:
        while self.heads or self.runnable or self.startable:
            if self.heads:
                self.start(self.heads.pop())
            elif self.runnable:
                self.advance(self.runnable.pop())
            else:
                _, ready, _, _, begin, message = heapq.heappop(self.startable)
                if message.sent is not None:
                    continue  # it came to the head of both its queues at once, and was pushed twice
                free = self.cards_free(message)
                if free > begin:  # no card is kept for it meanwhile: a message that can start before it does
                    self.queue(message, ready, free)
                else:
                    self.transfer(message, begin)
        if self.done < self.P:
            stuck = [rank for rank in range(self.P) if self.pending[rank]]
            first = ", ".join(self.waits_for(rank) for rank in stuck[:4])
            raise ScheduleError(f"the schedule deadlocks: {len(stuck)} of {self.P} ranks never finish ({first} ...).")
        for (source, destination), queue in self.half.items():
            if queue:
                side = "received" if queue[0].send_posted is not None else "sent"
                raise ScheduleError(f"a message from rank {source} to rank {destination} is never {side}.")
        return self.clock

    def waits_for(self, rank: int) -> str:
        """Say what a blocked rank waits for: the head of its queues."""
        heads = [f"rank {rank} sends to {q.destination}" for q in list(self.out_queue[rank])[:1]]
        heads += [f"rank {rank} receives from {q.source}" for q in list(self.in_queue[rank])[:1]]
        return " and ".join(heads) or f"rank {rank}"

    def advance(self, rank: int) -> None:
        """Run a rank's program until it ends or has to wait."""
        for operation in self.programs[rank]:
            kind = operation[0]
            if kind == EXCHANGE:
                _, to, nbytes, source, nbytes_in, _ = operation
                incoming = self.post_receive(rank, source, nbytes_in)
                outgoing = self.post_send(rank, to, nbytes)
                self.wait(rank, [outgoing], [incoming])
            elif kind == SEND:
                self.wait(rank, [self.post_send(rank, operation[1], operation[2])], [])
            elif kind == ISEND:
                self.open_sends[rank].append(self.post_send(rank, operation[1], operation[2]))
            elif kind == RECV:
                self.wait(rank, [], [self.post_receive(rank, operation[1], operation[2])])
            elif kind == IRECV:
                self.open_receives[rank].append(self.post_receive(rank, operation[1], operation[2]))
            elif kind == WAIT_RECV:
                if not self.open_receives[rank]:
                    raise ScheduleError(f"rank {rank} waits for a receive, but has none posted.")
                self.wait(rank, [], [self.open_receives[rank].popleft()])
            elif kind == WAIT_SEND:
                if not self.open_sends[rank]:
                    raise ScheduleError(f"rank {rank} waits for a send, but has none posted.")
                self.wait(rank, [self.open_sends[rank].popleft()], [])
            elif kind in (WAIT_SENDS, WAIT_ALL):
                sends = list(self.open_sends[rank])
                self.open_sends[rank].clear()
                receives: list[_Message] = []
                if kind == WAIT_ALL:
                    receives = list(self.open_receives[rank])
                    self.open_receives[rank].clear()
                self.wait(rank, sends, receives)
            elif kind == REDUCE:
                if self.timing.gamma is None:
                    raise QuantityError(
                        "this schedule reduces: a value for gamma (s/B, time a reduced byte) is needed."
                    )
                self.clock[rank] += operation[1] * self.timing.gamma
            else:
                raise ScheduleError(f"rank {rank}: unknown operation {operation!r}.")
            if self.pending[rank]:
                return
        self.done += 1

    def matched(self, source: int, destination: int, nbytes: int, side: str) -> _Message:
        """Return the message whose other side was posted before, or a new one; a channel keeps its order."""
        queue = self.half.get((source, destination))
        if queue is None:
            queue = self.half[source, destination] = deque()
        if queue and getattr(queue[0], side) is None:
            message = queue.popleft()
            if message.nbytes != nbytes:
                sizes = (nbytes, message.nbytes) if side == "send_posted" else (message.nbytes, nbytes)
                raise ScheduleError(
                    f"rank {source} sends {sizes[0]} bytes to rank {destination}, which expects {sizes[1]}."
                )
            return message
        if not 0 <= source < self.P or not 0 <= destination < self.P:
            raise ScheduleError(f"message from rank {source} to rank {destination}, but ranks are 0 to {self.P - 1}.")
        message = _Message(source, destination, nbytes)
        queue.append(message)
        return message

    def post_send(self, rank: int, to: int, nbytes: int) -> _Message:
        message = self.matched(rank, to, nbytes, "send_posted")
        message.send_posted = self.clock[rank]
        if isinstance(self.timing, LogGPTiming):
            message.sent, self.out_free[rank], message.arrival = self.timing.send(
                nbytes, self.clock[rank], self.out_free[rank]
            )
            self.clock[rank] = message.sent  # the overhead is the processor's, whether the send blocks or not
            self.deliver(to)
        else:
            self.out_queue[rank].append(message)
            self.start(message)
        return message

    def post_receive(self, rank: int, source: int, nbytes: int) -> _Message:
        message = self.matched(source, rank, nbytes, "recv_posted")
        message.recv_posted = self.clock[rank]
        self.in_queue[rank].append(message)
        if self.timing.eager:
            self.deliver(rank)
        else:
            self.start(message)
        return message

    def deliver(self, rank: int) -> None:
        """Eager: take in what has been sent, in the order in which the receives were posted."""
        queue, timing = self.in_queue[rank], self.timing
        assert isinstance(timing, LogGPTiming)
        while queue and queue[0].arrival is not None:
            message = queue.popleft()
            message.received, self.in_free[rank] = timing.receive(
                message.nbytes, message.arrival, message.recv_posted, self.in_free[rank]
            )
            self.settle(message)

    def start(self, message: _Message) -> None:
        """Rendezvous: transfer a message if both sides have posted it and both ports have come to it."""
        if message.send_posted is None or message.recv_posted is None or message.sent is not None:
            return
        source, destination = message.source, message.destination
        if self.out_queue[source][0] is not message or self.in_queue[destination][0] is not message:
            return
        ready = self.latest(message.send_posted, message.recv_posted, self.out_free[source], self.in_free[destination])
        if not self.shares:
            self.transfer(message, ready)
            return
        assert not isinstance(self.timing, LogGPTiming)
        self.queue(message, self.timing.order(ready), ready)

    def queue(self, message: _Message, ready: Any, begin: Any) -> None:
        """Put a message, ready to start, among those that wait for cards: it begins at `begin` or later."""
        assert not isinstance(self.timing, LogGPTiming)
        self.counter += 1
        entry = (self.timing.order(begin), ready, message.source, self.counter, begin, message)
        heapq.heappush(self.startable, entry)

    def cards_free(self, message: _Message) -> Any:
        """Return when the network cards that a message needs are both free."""
        assert not isinstance(self.timing, LogGPTiming)
        cards = self.timing.cards(message.source, message.destination)
        return max(self.card_free["out", cards[0]], self.card_free["in", cards[1]]) if cards else 0

    def transfer(self, message: _Message, begin: Any) -> None:
        source, destination, timing = message.source, message.destination, self.timing
        assert not isinstance(timing, LogGPTiming)
        if self.shares and (cards := timing.cards(source, destination)):
            busy_until = begin + timing.busy(source, destination, message.nbytes)
            self.card_free["out", cards[0]] = self.card_free["in", cards[1]] = busy_until
        end = begin + timing.duration(source, destination, message.nbytes)
        message.sent = message.received = self.out_free[source] = self.in_free[destination] = end
        self.out_queue[source].popleft()
        self.in_queue[destination].popleft()
        self.settle(message)
        # Not started here: one message may set off the next all along a chain of ranks.
        for queue in (self.out_queue[source], self.in_queue[destination]):
            if queue:
                self.heads.append(queue[0])

    def settle(self, message: _Message) -> None:
        """Wake the ranks that waited for a message."""
        if message.sender_waits:
            self.wake(message.source, message.sent)
        if message.receiver_waits:
            self.wake(message.destination, message.received)

    def wake(self, rank: int, time: Any) -> None:
        latest = self.latest
        self.clock[rank] = latest(self.clock[rank], time)
        self.pending[rank] -= 1
        if not self.pending[rank]:
            self.runnable.append(rank)

    def wait(self, rank: int, sends: list[_Message], receives: list[_Message]) -> None:
        latest = self.latest  # `self.latest(...)` would be looked up as a method first, which is slower
        for message in sends:
            if message.sent is None:
                message.sender_waits = True
                self.pending[rank] += 1
            else:
                self.clock[rank] = latest(self.clock[rank], message.sent)
        for message in receives:
            if message.received is None:
                message.receiver_waits = True
                self.pending[rank] += 1
            else:
                self.clock[rank] = latest(self.clock[rank], message.received)


def finish_times(P: int, program: Program, timing: Timing) -> list[Any]:
    """Return the time at which each rank ends its program; all start at 0.

    Raises
    ------
    ScheduleError
        If the programs deadlock, leave a message unmatched, or disagree on its size.
    """
    return _Run(P, program, timing).run()
