"""Who reaches whom, and in which round: the trees in a schedule. No drawing here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from orrery_analytic.errors import QuantityError, choose
from orrery_analytic.schedules import Schedule
from orrery_analytic.schedules.trace import Message, Trace

__all__ = [
    "Spread",
    "duration",
    "known",
    "messages_of",
    "orientation",
    "predicted_of",
    "seconds",
    "spread",
    "timed",
    "unmatched",
]

_DIRECTIONS = ("auto", "down", "up")
_UP = {"bcast": False, "scatter": False, "gather": True, "reduce": True}
_MOST = 6000


def messages_of(schedule: Schedule | Trace) -> tuple[Message, ...]:
    """Return the messages of a schedule (their times are None) or of a trace, round by round.

    Raises
    ------
    QuantityError
        If they are more than a picture can show.
    """
    if isinstance(schedule, Trace):
        found = sorted((*schedule.messages, *schedule.unmatched), key=lambda message: message.round)
    else:
        rounds = enumerate(schedule.rounds())
        found = [Message(*message, k, None, None) for k, each in rounds for message in each.messages]
    if len(found) > _MOST:
        raise QuantityError(f"{schedule!r} has {len(found)} messages. A picture holds {_MOST}: take a smaller P.")
    return tuple(found)


def predicted_of(schedule: Schedule | Trace, predicted: Schedule | Trace | None) -> tuple[Message, ...]:
    """Return the messages of what was predicted for a schedule or trace; none without a prediction.

    Raises
    ------
    QuantityError
        If it has another number of ranks, or is no schedule.
    """
    if predicted is None:
        return ()
    if not isinstance(predicted, (Schedule, Trace)) or predicted.P != schedule.P:
        raise QuantityError(
            f"predicted must be a schedule or trace of {schedule.P} ranks, but {predicted!r} was given."
        )
    return messages_of(predicted)


def known(time: Any) -> bool:
    """Return whether a time is one: a trace holds None or NaN where nothing was measured."""
    return time is not None and isfinite(time)


def duration(trace: Trace) -> float:
    """Return when the last rank is done, in seconds, of those of which it is known."""
    return max((float(end) for end in trace.finish if known(end)), default=0.0)


def timed(messages: Sequence[Message]) -> bool:
    """Return whether some messages are those of a trace; those of a schedule have no times."""
    return any(known(message.start) or known(message.end) for message in messages)


def seconds(message: Message) -> float | None:
    """Return how long a message took, None where it is not known."""
    return float(message.end - message.start) if known(message.start) and known(message.end) else None


def unmatched(messages: Sequence[Message]) -> list[Message]:
    """Return the messages of a trace of which one end alone was measured: a send that nobody received, or the like."""
    return [message for message in messages if known(message.start) != known(message.end)]


@dataclass(frozen=True)
class Spread:
    """The tree by which what a root has reaches the others (down), or what they have reaches it (up).

    Parameters
    ----------
    root : int
    up : bool
    edges : tuple of Message
        One for each other rank that is reached: its first message down, its last one up.
    """

    root: int
    up: bool
    edges: tuple[Message, ...]

    @property
    def rounds(self) -> list[int]:
        """The rounds in which there are edges."""
        return sorted({edge.round for edge in self.edges})

    def far(self, edge: Message) -> int:
        """Return the end of an edge that is away from the root."""
        return edge.source if self.up else edge.destination

    def places(self) -> dict[int, tuple[int, int]]:
        """Return column and row of each rank, so that no edges cross.

        Time goes down: the root is in the first row and a rank in the row of its round, or, up, the root in the last.
        A rank stands above its farthest child; the nearer ones follow at its right, each with all below it.
        """
        rounds = self.rounds
        rows = {self.far(edge): rounds.index(edge.round) + (not self.up) for edge in self.edges}
        rows[self.root] = len(rounds) if self.up else 0
        children: dict[int, list[int]] = {}
        for edge in self.edges:
            child = self.far(edge)
            children.setdefault(edge.destination if self.up else edge.source, []).append(child)
        found: dict[int, tuple[int, int]] = {}
        stack, column = [(self.root, True)], -1
        while stack:
            rank, apart = stack.pop()
            column += apart
            found[rank] = column, rows[rank]
            near_first = sorted(children.get(rank, ()), key=lambda child: abs(rows[child] - rows[rank]))
            stack += [(child, child != near_first[-1]) for child in near_first]
        return found


def spread(messages: Sequence[Message], root: int, up: bool = False) -> Spread:
    """Return the tree of a root: a rank passes on in later rounds what it has got in a round."""
    by_round: dict[int, list[Message]] = {}
    for message in messages:
        by_round.setdefault(message.round, []).append(message)
    reached = {root}
    edges: list[Message] = []
    for k in sorted(by_round, reverse=up):
        new: dict[int, Message] = {}
        for message in by_round[k]:
            near, far = (message.destination, message.source) if up else (message.source, message.destination)
            if near in reached and far not in reached:
                new.setdefault(far, message)
        reached |= new.keys()
        edges += new.values()
    return Spread(root, up, tuple(edges))


def orientation(
    schedule: Schedule | Trace, messages: Sequence[Message], root: int | None, direction: str
) -> tuple[int, bool]:
    """Return the root, and whether its tree goes up.

    Without a root: the only rank that sends before it receives anything (down), or the only one that at last receives
    and sends no more (up). Where there are both, as the name of the collective says; else up if there are reductions,
    or if the latter is rank 0. Where there is neither, rank 0, down. With a root: up if it never sends.

    Raises
    ------
    QuantityError
        If there is no such rank.
    UnknownNameError
        For another direction.
    """
    choose("direction", direction, _DIRECTIONS)
    senders, receivers = {m.source for m in messages}, {m.destination for m in messages}
    if root is not None:
        if isinstance(root, bool) or not hasattr(root, "__index__") or not 0 <= root < schedule.P:
            raise QuantityError(f"root must be a rank, 0 to {schedule.P - 1}, but {root!r} was given.")
        return int(root), direction == "up" or (direction == "auto" and root in receivers and root not in senders)
    ends = {up: _ends(messages, up) for up in (False, True)}
    ways = [up for up in (False, True) if len(ends[up]) == 1 and direction in ("auto", "up" if up else "down")]
    if not ways:
        return 0, direction == "up"
    up = _goes_up(schedule, ends[True]) if len(ways) == 2 else ways[0]
    return next(iter(ends[up])), up


def _ends(messages: Sequence[Message], up: bool) -> set[int]:
    """Return the ranks that only send in the first round they take part in; up, only receive in the last."""
    pick = max if up else min
    at: tuple[dict[int, int], dict[int, int]] = {}, {}  # when each rank sends, and receives, first (up: last)
    for message in messages:
        for rank, when in ((message.source, at[0]), (message.destination, at[1])):
            when[rank] = pick(when.get(rank, message.round), message.round)
    wanted, other = (at[1], at[0]) if up else at
    return {rank for rank, k in wanted.items() if rank not in other or (k != other[rank] and pick(k, other[rank]) == k)}


def _goes_up(schedule: Schedule | Trace, last: set[int]) -> bool:
    """Return whether the messages gather, by the name of the collective, reductions, or where they end."""
    collective = schedule.name.partition(" ")[0]
    if collective in _UP:
        return _UP[collective]
    if isinstance(schedule, Trace):
        return bool(schedule.reductions) or last == {0}
    return any(each.reductions for each in schedule.rounds()) or last == {0}
