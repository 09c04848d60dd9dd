"""GOAL, the text format of LogGOPSim: write a schedule to simulate it elsewhere, read one that was made elsewhere.

A rank is a graph of sends, receives and calculations: ``requires`` waits for the end of another operation of the rank,
``irequires`` for its start. Source: the scanner of LogGOPSim's txt2bin.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from fractions import Fraction
from os import PathLike

from orrery_analytic.errors import ScheduleError
from orrery_analytic.schedules.goal_reader import check_tags, read_steps
from orrery_analytic.schedules.graphs import Step, sequence
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
    Operation,
)
from orrery_analytic.schedules.schedule import Schedule
from orrery_analytic.schedules.text import load, save, whole

__all__ = ["read_goal", "write_goal"]


def write_goal(
    schedule: Schedule,
    path: str | PathLike[str] | None = None,
    calc_per_byte: int | Fraction = 1,
    least_bytes: int = 0,
) -> str:
    """Return a schedule as GOAL, which LogGOPSim's txt2bin reads, and write it to a file if one is named.

    Program order becomes ``irequires``, every wait becomes ``requires``. A message's tag is its number among those from
    the same sender to the same receiver. Rounds are kept in comments, and a reduction is a calculation. GOAL cannot say
    that a rank ends without waiting for what it posted (in GOAL it ends with its last operation), nor whether sends are
    eager (the simulator decides).

    Parameters
    ----------
    schedule : Schedule
    path : path, optional
    calc_per_byte : int or Fraction
        Time units of the simulator that a reduced byte takes; times are rounded to whole units. With 1, `read_goal`
        gives the bytes back.
    least_bytes : int
        Smaller messages are written with as many bytes: 1 for LogGOPSim, which goes wrong on messages of no bytes.

    Raises
    ------
    QuantityError
        If a message or reduction has no whole number of bytes.
    ScheduleError
        If a rank waits for what it has not posted.
    """
    blocks = [f"num_ranks {schedule.P}\n"]
    for rank in range(schedule.P):
        lines = _Writer(rank, calc_per_byte, least_bytes).lines(schedule.operations(rank))
        blocks.append("".join(f"{line}\n" for line in (f"rank {rank} {{", *lines, "}")))
    return save("\n".join(blocks), path)


class _Writer:
    """Turns the program of one rank into lines."""

    def __init__(self, rank: int, calc_per_byte: int | Fraction, least_bytes: int) -> None:
        self.rank, self.calc_per_byte, self.least_bytes = rank, calc_per_byte, least_bytes
        self.out: list[str] = []
        self.tags: Counter[tuple[str, int]] = Counter()
        self.last = 0  # label of the operation before
        self.over: list[int] = []  # what was waited for since then
        self.open_sends: deque[int] = deque()
        self.open_receives: deque[int] = deque()
        self.round: int | None = None

    def lines(self, operations: Iterator[Operation]) -> list[str]:
        for operation in operations:
            kind = operation[0]
            if kind == EXCHANGE:
                _, to, nbytes, source, nbytes_in, at = operation
                receive = self.message("recv", source, nbytes_in, at)
                self.over += [receive, self.message("send", to, nbytes, at)]
            elif kind in (SEND, ISEND):
                label = self.message("send", *operation[1:])
                (self.over if kind == SEND else self.open_sends).append(label)
            elif kind in (RECV, IRECV):
                label = self.message("recv", *operation[1:])
                (self.over if kind == RECV else self.open_receives).append(label)
            elif kind == REDUCE:
                self.over.append(self.add(f"calc {round(whole(operation[1]) * self.calc_per_byte)}", operation[2]))
            elif kind in (WAIT_RECV, WAIT_SEND):
                labels = self.open_receives if kind == WAIT_RECV else self.open_sends
                if not labels:
                    raise ScheduleError(f"rank {self.rank} waits for a message, but has none posted.")
                self.over.append(labels.popleft())
            elif kind in (WAIT_SENDS, WAIT_ALL):
                for labels in (self.open_sends, self.open_receives)[: 1 + (kind == WAIT_ALL)]:
                    self.over += labels
                    labels.clear()
            else:
                raise ScheduleError(f"rank {self.rank}: unknown operation {operation!r}.")
        return self.out

    def message(self, word: str, peer: int, nbytes: int, at: int) -> int:
        tag = self.tags[word, peer]
        self.tags[word, peer] += 1
        way = "to" if word == "send" else "from"
        return self.add(f"{word} {max(whole(nbytes), self.least_bytes)}b {way} {peer} tag {tag}", at)

    def add(self, text: str, at: int) -> int:
        """Write an operation and what it waits for; return its label."""
        label = self.last + 1
        if at != self.round:
            self.out.append(f"// round {at}")
            self.round = at
        self.out.append(f"l{label}: {text}")
        self.out += [f"l{label} requires l{before}" for before in self.over]
        if self.last and self.last not in self.over:
            self.out.append(f"l{label} irequires l{self.last}")
        self.over, self.last = [], label
        return label


def read_goal(source: str | PathLike[str]) -> Schedule:
    """Return the schedule that a text in GOAL describes.

    A rank posts each operation as soon as what it requires is over, in the order of the text; where several wait, the
    first in the text is served first, though GOAL would let another overtake it. It ends when all its operations do. A
    calculation of t time units is a reduction of t bytes: pass the length of the unit, in seconds, as gamma. Rounds
    come from the comments that `write_goal` leaves; without these all is round 0.

    Parameters
    ----------
    source : path, or text with at least one line break

    Raises
    ------
    FormatError
        For what is not GOAL, and for what a `Schedule` cannot say: messages from any source or with tags in another
        order than they are sent, processors and network cards other than 0. The message names the line.
    FileMissingError
        If there is no such file.
    """
    name, lines = load(source)
    programs: list[list[Operation]] = []
    posted: list[list[Step]] = []
    for steps in read_steps(name, lines):
        program, order = sequence(steps, name)
        programs.append(program)
        posted.append(order)
    check_tags(posted, name)
    return Schedule(len(programs), lambda rank: iter(programs[rank]), name)
