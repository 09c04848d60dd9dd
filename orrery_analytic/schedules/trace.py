"""What happens when: every message and reduction with its start and end, and the path through them that decides.

The engine runs on any kind of number. Here a time remembers what it was waited for, so the engine itself needs no
bookkeeping, and the times are those of `Schedule.finish` to the last digit.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from orrery_analytic.networks import LogGPTiming, RendezvousTiming, Timing
from orrery_analytic.schedules.engine import finish_times
from orrery_analytic.schedules.operations import EXCHANGE, ISEND, REDUCE, SEND, Operation, Program

__all__ = ["Message", "Part", "Reduction", "Trace", "traced"]


@dataclass(frozen=True)
class Message:
    """A message of `nbytes` bytes in a round: it leaves at `start`, and its data are usable at `end` (seconds)."""

    source: int
    destination: int
    nbytes: Any
    round: int
    start: Any
    end: Any


@dataclass(frozen=True)
class Reduction:
    """A reduction of `nbytes` bytes by a rank in a round, from `start` to `end` (seconds)."""

    rank: int
    nbytes: Any
    round: int
    start: Any
    end: Any


@dataclass(frozen=True)
class Part:
    """A part of the critical path: from rank `source` at `start` to rank `destination` at `end` (seconds).

    Of a message it may be the whole, or what keeps a port, a processor or a network card busy.
    """

    event: Message | Reduction
    source: int
    destination: int
    start: Any
    end: Any


@dataclass(frozen=True)
class Trace:
    """The events of a run on P ranks.

    Parameters
    ----------
    P : int
    messages, reductions : tuples
        Each in the order of their ends.
    finish : tuple
        Seconds at which each rank is done.
    path : tuple of `Part`
        The critical path: each part starts when the one before ends, the first at 0, and the last ends with the
        collective. Of several, one. Empty where it is not known.
    name : str
        For people.
    unmatched : tuple of `Message`
        In a record of a real run, those of which one end alone is known: the other one is None.
    """

    P: int
    messages: tuple[Message, ...]
    reductions: tuple[Reduction, ...]
    finish: tuple[Any, ...]
    path: tuple[Part, ...] = ()
    name: str = "trace"
    unmatched: tuple[Message, ...] = ()

    @property
    def time(self) -> Any:
        """Return when the last rank is done, in seconds."""
        return max(self.finish, default=0)

    def __repr__(self) -> str:
        return f"<Trace {self.name}, P = {self.P}: {len(self.messages)} messages, {len(self.reductions)} reductions>"


class _Event:
    """A message or reduction whose times are not all known yet."""

    __slots__ = ("end", "nbytes", "reduces", "round", "source", "start", "to")

    def __init__(self, source: int, to: int, nbytes: Any, round: int, start: Any, reduces: bool = False) -> None:
        self.source, self.to, self.nbytes, self.round, self.reduces = source, to, nbytes, round, reduces
        self.start = self.end = start

    def known(self) -> Message | Reduction:
        if self.reduces:
            return Reduction(self.source, self.nbytes, self.round, self.start, self.end)
        return Message(self.source, self.to, self.nbytes, self.round, self.start, self.end)


@dataclass(frozen=True, eq=False)
class _Moment:
    """A time, and what was waited for: an event on its way from a rank to a rank, which began at an earlier moment.

    It compares as its time does: where network cards are shared, the engine keeps messages in the order of times.
    """

    value: Any
    event: _Event | None = None
    way: tuple[int, int] = (0, 0)
    before: _Moment | None = None

    def __add__(self, span: _Span) -> _Moment:
        return span.after(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (_Moment, int)) and bool(self.value == _moment(other).value)

    def __hash__(self) -> int:
        return hash(self.value)

    def __lt__(self, other: _Moment | int) -> bool:
        return bool(self.value < _moment(other).value)

    def __gt__(self, other: _Moment | int) -> bool:
        return bool(self.value > _moment(other).value)


def _moment(time: _Moment | int) -> _Moment:
    return time if isinstance(time, _Moment) else _Moment(time)  # the engine's clocks start at 0


def _latest(*times: _Moment | int) -> _Moment:
    return max(map(_moment, times), key=lambda moment: moment.value)


@dataclass(frozen=True)
class _Span:
    """How long an event takes; added to the moment at which it begins."""

    event: _Event
    length: Any
    ends: bool = True  # the event, not only its hold on a card

    def after(self, begin: _Moment) -> _Moment:
        end = begin.value + self.length
        self.event.start = begin.value
        if self.ends:
            self.event.end = end
        return _Moment(end, self.event, (self.event.source, self.event.to), begin)

    def __radd__(self, begin: int) -> _Moment:
        return self.after(_moment(begin))


@dataclass
class _Recorder:
    """Knows which operation the engine is at, and keeps the events."""

    program: Program
    rank: int = 0
    operation: Operation = ()
    rounds: dict[tuple[int, int], deque[int]] = field(default_factory=lambda: defaultdict(deque))
    events: list[_Event] = field(default_factory=list)

    def operations(self, rank: int) -> Iterator[Operation]:
        for operation in self.program(rank):
            self.rank, self.operation = rank, operation
            if operation[0] in (SEND, ISEND, EXCHANGE):
                self.rounds[rank, operation[1]].append(operation[-1])
            yield operation

    def message(self, source: int, to: int, m: Any, start: Any = 0) -> _Event:
        """Return a new event; the messages of a channel come in the order in which they are sent."""
        self.events.append(_Event(source, to, m, self.rounds[source, to].popleft(), start))
        return self.events[-1]


@dataclass(frozen=True)
class _Gamma:
    """Time a reduced byte: bytes times this is the reduction that the engine is at."""

    gamma: Any
    recorder: _Recorder

    def __rmul__(self, nbytes: Any) -> _Span:
        rank, operation = self.recorder.rank, self.recorder.operation
        assert operation[0] == REDUCE
        event = _Event(rank, rank, nbytes, operation[-1], 0, reduces=True)
        self.recorder.events.append(event)
        return _Span(event, nbytes * self.gamma)


@dataclass(frozen=True, kw_only=True)
class _Rendezvous(RendezvousTiming):
    inner: RendezvousTiming
    recorder: _Recorder
    cards_per_node: int = 1  # so that the engine asks for cards, and how long they are busy, first
    latest = staticmethod(_latest)

    def cards(self, source: int, destination: int) -> tuple[int, int] | None:
        return self.inner.cards(source, destination)

    def order(self, time: Any) -> Any:
        return self.inner.order(_moment(time).value)

    def busy(self, source: int, destination: int, m: int) -> Any:
        event = self.recorder.message(source, destination, m)
        return _Span(event, self.inner.busy(source, destination, m), ends=False)

    def duration(self, source: int, destination: int, m: int) -> Any:
        shared = self.inner.cards(source, destination) is not None
        event = self.recorder.events[-1] if shared else self.recorder.message(source, destination, m)
        return _Span(event, self.inner.duration(source, destination, m))


@dataclass(frozen=True, kw_only=True)
class _Eager(LogGPTiming):
    inner: LogGPTiming
    recorder: _Recorder
    latest = staticmethod(_latest)

    def send(self, m: int, program: Any, port: Any) -> tuple[Any, Any, Any]:
        start, source, to = _latest(program, port), self.recorder.rank, self.recorder.operation[1]
        event = self.recorder.message(source, to, m, start.value)
        sent, free, arrival = self.inner.send(m, start.value, start.value)
        here = (source, source)
        return (
            _Moment(sent, event, here, start),
            _Moment(free, event, here, start),
            _Moment(arrival, event, (source, to), start),
        )

    def receive(self, m: int, arrival: Any, posted: Any, port: Any) -> tuple[Any, Any]:
        start, event = _latest(arrival, posted, port), arrival.event
        event.end, free = self.inner.receive(m, start.value, start.value, start.value)
        here = (event.to, event.to)
        return _Moment(event.end, event, here, start), _Moment(free, event, here, start)


def traced(P: int, program: Program, timing: Timing, name: str = "trace") -> Trace:
    """Run the programs of all ranks as `finish_times` does, and return what happened.

    Raises
    ------
    ScheduleError, QuantityError
        As `finish_times`.
    """
    recorder = _Recorder(program)
    gamma = None if timing.gamma is None else _Gamma(timing.gamma, recorder)
    own: Timing
    if isinstance(timing, LogGPTiming):
        own = _Eager(timing.L, timing.o, timing.g, timing.G, gamma, inner=timing, recorder=recorder)
    else:
        own = _Rendezvous(timing.alpha, timing.beta, gamma, inner=timing, recorder=recorder)
    moments = [_moment(time) for time in finish_times(P, recorder.operations, own)]
    events = {event: event.known() for event in sorted(recorder.events, key=lambda event: event.end)}
    return Trace(
        P,
        tuple(event for event in events.values() if isinstance(event, Message)),
        tuple(event for event in events.values() if isinstance(event, Reduction)),
        tuple(moment.value for moment in moments),
        _path(_latest(*moments), events),
        name,
    )


def _path(last: _Moment, events: dict[_Event, Message | Reduction]) -> tuple[Part, ...]:
    """Walk back from the last moment; a message that is on its way and then taken in is one part."""
    parts: list[Part] = []
    moment = last
    while moment.before is not None:
        assert moment.event is not None
        event, (source, to), begin = events[moment.event], moment.way, moment.before
        if parts and parts[-1].event is event and source != to == parts[-1].source:
            taken = parts.pop()
            parts.append(Part(event, source, taken.destination, begin.value, taken.end))
        else:
            parts.append(Part(event, source, to, begin.value, moment.value))
        moment = begin
    return tuple(reversed(parts))
