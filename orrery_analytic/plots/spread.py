"""Who reaches whom, and in which round: the trees in a schedule. No drawing here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from orrery_analytic.errors import QuantityError, choose
from orrery_analytic.schedules import Schedule
from orrery_analytic.schedules.trace import Message, Trace

__all__ = ["Spread", "messages_of", "orientation", "spread"]

_DIRECTIONS = ("auto", "down", "up")
_MOST = 6000


def messages_of(schedule: Schedule | Trace) -> tuple[Message, ...]:
    """Return the messages of a schedule (their times are None) or of a trace, round by round.

    Raises
    ------
    QuantityError
        If they are more than a picture can show.
    """
    if isinstance(schedule, Trace):
        found = sorted(schedule.messages, key=lambda message: message.round)
    else:
        rounds = enumerate(schedule.rounds())
        found = [Message(*message, k, None, None) for k, each in rounds for message in each.messages]
    if len(found) > _MOST:
        raise QuantityError(f"{schedule!r} has {len(found)} messages. A picture holds {_MOST}: take a smaller P.")
    return tuple(found)


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

    Without a root: the only rank that never receives (down), or the only one that never sends (up); where there are
    both, up if there are reductions, or if the latter is rank 0; where there is neither, rank 0. With a root: up if it
    never sends.

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
    ends: dict[bool, Any] = {False: senders - receivers, True: receivers - senders}  # the possible roots, down and up
    ways = [up for up in (False, True) if len(ends[up]) == 1 and direction in ("auto", "up" if up else "down")]
    if not ways:
        return 0, direction == "up"
    up = _reduces(schedule) or ends[True] == {0} if len(ways) == 2 else ways[0]
    return next(iter(ends[up])), up


def _reduces(schedule: Schedule | Trace) -> bool:
    if isinstance(schedule, Trace):
        return bool(schedule.reductions)
    return any(each.reductions for each in schedule.rounds())
