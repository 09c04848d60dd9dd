"""From a graph of operations, each with what it waits for, to a program: an order in which a rank can run it."""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass, field

from orrery_analytic.schedules.operations import ISEND, REDUCE, Operation, wait_all, wait_recv, wait_send
from orrery_analytic.schedules.text import refuse

__all__ = ["Step", "sequence"]


@dataclass
class Step:
    """An operation of a rank: an isend, an irecv or a reduction.

    Parameters
    ----------
    line : int
        Where the text has it.
    operation : Operation
    tag : int
        Of a message.
    after : list of (int, bool)
        Indexes of the operations that it waits for, and whether for their end (else for their start).
    """

    line: int
    operation: Operation
    tag: int = 0
    after: list[tuple[int, bool]] = field(default_factory=list)


def sequence(steps: list[Step], name: str) -> tuple[list[Operation], list[Step]]:
    """Return a rank's program, and its steps in the order in which they are posted.

    A port takes messages in the order in which they are posted, so whoever waits for one has waited for those before.
    """
    run = _Sequence(steps)
    while run.ready or run.waiting:
        if run.ready:
            run.post(heapq.heappop(run.ready))
        else:
            run.wait_for(heapq.heappop(run.waiting))
    if len(run.order) < len(steps):
        stuck = next(i for i in range(len(steps)) if run.unposted[i])
        refuse(name, steps[stuck].line, "this operation waits for itself, round in a circle")
    return [*run.program, wait_all()], [steps[i] for i in run.order]


class _Sequence:
    def __init__(self, steps: list[Step]) -> None:
        self.steps = steps
        self.unposted = [len(step.after) for step in steps]  # of those that a step waits for
        self.unfinished = [sum(end for _, end in step.after) for step in steps]
        self.followers: list[list[tuple[int, bool]]] = [[] for _ in steps]
        for i, step in enumerate(steps):
            for before, end in step.after:
                self.followers[before].append((i, end))
        self.ready = [i for i, step in enumerate(steps) if not step.after]
        self.waiting: list[int] = []  # all that they wait for is posted, but not over
        self.finished = [False] * len(steps)
        self.open_sends: deque[int] = deque()
        self.open_receives: deque[int] = deque()
        self.program: list[Operation] = []
        self.order: list[int] = []

    def post(self, i: int) -> None:
        operation = self.steps[i].operation
        self.program.append(operation)
        self.order.append(i)
        if operation[0] == REDUCE:
            self.finish(i)
        else:
            (self.open_sends if operation[0] == ISEND else self.open_receives).append(i)
        for follower, _ in self.followers[i]:
            self.unposted[follower] -= 1
            if not self.unposted[follower]:
                heapq.heappush(self.waiting if self.unfinished[follower] else self.ready, follower)

    def finish(self, i: int) -> None:
        self.finished[i] = True
        for follower, end in self.followers[i]:
            self.unfinished[follower] -= end
            if end and not self.unfinished[follower] and not self.unposted[follower]:
                heapq.heappush(self.ready, follower)

    def wait_for(self, i: int) -> None:
        """Wait for what step i requires."""
        for before, end in self.steps[i].after:
            sends = self.steps[before].operation[0] == ISEND
            opened, wait = (self.open_sends, wait_send()) if sends else (self.open_receives, wait_recv())
            while end and not self.finished[before]:
                self.program.append(wait)
                self.finish(opened.popleft())
