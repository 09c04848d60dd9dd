"""Traces of CollBench: sends matched with receives, drawn like a prediction, held against one, and written from one."""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path

import pandas as pd

from orrery_analytic.errors import FormatError, QuantityError, choose
from orrery_analytic.logs.collbench import Operation, operations, written
from orrery_analytic.logs.table import Problem, warn
from orrery_analytic.logs.text import load
from orrery_analytic.schedules import Schedule
from orrery_analytic.schedules.text import save
from orrery_analytic.schedules.trace import Message, Trace

__all__ = ["RecordedTrace", "read_trace", "write_trace"]

_CLOCKS = ("shared", "separate")
_ALWAYS = (
    "The file has no sizes.",
    "Times of ranks on different hosts do not compare: each host has its own clock.",
    "A send ends when its buffer is free, which for a small message is before it arrives; a receive holds the wait for "
    "a late sender.",
)


@dataclass(frozen=True, repr=False)
class RecordedTrace(Trace):
    """A run that CollBench recorded, as the pictures of schedules take it.

    A message is a send with its receive: from the begin of the send to the end of the receive, in the step of the
    send. `nbytes` is None unless a prediction gave it.

    Parameters
    ----------
    sends, receives : tuple of Operation
        Of each message, in the order of `messages`: what the file says of both of its ends.
    orphans : tuple of Operation
        Sends that nobody received, and receives of what nobody sent.
    notes : tuple of str
        What the trace cannot say, and what is odd about it.
    """

    sends: tuple[Operation, ...] = ()
    receives: tuple[Operation, ...] = ()
    orphans: tuple[Operation, ...] = ()
    notes: tuple[str, ...] = ()

    def table(self) -> pd.DataFrame:
        """Return a row a message: step, received_in, source, destination, nbytes, and seconds.

        `seconds` is from the begin of the send to the end of the receive and compares clocks; `send_seconds` and
        `recv_seconds` are of one clock each.
        """
        rows = [
            (
                message.round, receive.step, message.source, message.destination, message.nbytes,
                message.end - message.start, (send.end - send.start) / 1e9, (receive.end - receive.start) / 1e9,
            )
            for message, send, receive in zip(self.messages, self.sends, self.receives, strict=True)
        ]  # fmt: skip
        columns = ["step", "received_in", "source", "destination", "nbytes", "seconds", "send_seconds", "recv_seconds"]
        table = pd.DataFrame(rows, columns=columns)
        table["nbytes"] = table["nbytes"].astype(float)
        return table.sort_values(["step", "source", "destination"], kind="stable", ignore_index=True)

    def steps(self) -> pd.DataFrame:
        """Return a row a step: messages, and mean and longest seconds of messages, of sends and of receives."""
        groups = self.table().groupby("step")
        times = {f"{of}{name}": (f"{of}seconds", how) for of in ("", "send_", "recv_")
                 for name, how in (("mean", "mean"), ("longest", "max"))}  # fmt: skip
        return groups.agg(messages=("source", "size"), **times).reset_index()

    def __repr__(self) -> str:
        told = f"<RecordedTrace {self.name}, P = {self.P}: {len(self.messages)} messages, {len(self.orphans)} orphans>"
        return "\n".join([told, *(f"  {note}" for note in self.notes)])


def read_trace(source: object, predicted: Schedule | None = None, *, clocks: str = "shared") -> RecordedTrace:
    """Read a trace that CollBench exported, and match its sends with its receives.

    The k-th send from a rank to another belongs to the k-th receive there, in the order in which they were started:
    MPI keeps that order where tags are equal, and the file has no tags. Sends and receives without a partner are
    `orphans`.

    Parameters
    ----------
    source
        As `orrery_analytic.read` takes it.
    predicted : Schedule, optional
        What should have been sent: it gives the ranks, and the bytes of the k-th message from a rank to another. The
        notes say where both differ.
    clocks : {"shared", "separate"}
        "shared": times count from the first operation of all, which is right for ranks of one host. "separate": those
        of each rank count from its own first operation, as if all had entered together. Only differences within a
        rank are measured then.

    Returns
    -------
    RecordedTrace
        `oa.plots` draws it as it does a predicted one; `table()` and `steps()` have its latencies, `notes` its limits.

    Raises
    ------
    FormatError
        If there is no send with its receive.
    FileMissingError
        If there is no such file.
    QuantityError
        If the prediction has fewer ranks than the trace, or is no Schedule.

    Warns
    -----
    LogWarning
        For each entry that is not read, by its line.
    """
    choose("clocks", clocks, _CLOCKS)
    if predicted is not None and not isinstance(predicted, Schedule):
        raise QuantityError(f"predicted must be a Schedule, as oa.schedule returns, but is {type(predicted).__name__}.")
    name, text = load(source)
    found, problems = operations(text)
    own = [each for each in found if each.kind in ("send", "recv")]
    problems += [
        Problem(each.line, f"a whole {each.kind} is no message") for each in found if each.kind not in ("send", "recv")
    ]
    pairs, orphans = _matched(own)
    if not pairs:
        told = "".join(f" Line {problem.line}: {problem.text}." for problem in problems[:3])
        raise FormatError(
            f"{name} holds no send with its receive, but {len(own)} of them alone.{told} Looked for: CollBench's JSON, "
            'with "operation_type", "rank", "peer", "algo_idx" and times in each of "operations".'
        )
    warn(name, sorted(problems), stacklevel=2)
    trace = _trace(Path(name).name, pairs, orphans, clocks)
    trace = replace(trace, notes=(*_ALWAYS, *_oddities(trace, pairs, orphans)))
    return trace if predicted is None else _against(trace, predicted)


def _matched(found: Sequence[Operation]) -> tuple[list[tuple[Operation, Operation]], list[Operation]]:
    """Return the pairs of sends and receives, and what is left."""
    waiting: dict[tuple[int, int], tuple[deque[Operation], deque[Operation]]] = defaultdict(lambda: (deque(), deque()))
    pairs: list[tuple[Operation, Operation]] = []
    for each in sorted(found, key=lambda each: each.start):  # of one rank, the order in which they were started
        ends = (each.rank, each.peer) if each.kind == "send" else (each.peer, each.rank)
        sends, receives = waiting[ends]
        (sends if each.kind == "send" else receives).append(each)
        if sends and receives:
            pairs.append((sends.popleft(), receives.popleft()))
    return pairs, sorted((each for ends in waiting.values() for queue in ends for each in queue), key=_by_line)


def _by_line(each: Operation) -> int:
    return each.line


def _trace(
    name: str, pairs: Sequence[tuple[Operation, Operation]], orphans: Sequence[Operation], clocks: str
) -> RecordedTrace:
    found = [*(each for pair in pairs for each in pair), *orphans]
    first = min(each.start for each in found)
    zeros: dict[int, int] = {}
    for each in found:
        zeros[each.rank] = min(zeros.get(each.rank, each.start), each.start) if clocks == "separate" else first
    made = [(_message(send, receive, zeros), send, receive) for send, receive in pairs]
    made.sort(key=lambda each: each[0].end)
    messages, sends, receives = zip(*made, strict=True)
    P = 1 + max(max(each.rank, each.peer) for each in found)
    finish = [0.0] * P
    for each in found:
        finish[each.rank] = max(finish[each.rank], (each.end - zeros[each.rank]) / 1e9)
    alone = [_message(each, None, zeros) if each.kind == "send" else _message(None, each, zeros) for each in orphans]
    return RecordedTrace(
        P, messages, (), tuple(finish), name=name, unmatched=tuple(alone),
        sends=sends, receives=receives, orphans=tuple(orphans),
    )  # fmt: skip


def _message(send: Operation | None, receive: Operation | None, zeros: Mapping[int, int]) -> Message:
    """Return a message by its ends, of which one may be unknown."""
    start = None if send is None else (send.start - zeros[send.rank]) / 1e9
    end = None if receive is None else (receive.end - zeros[receive.rank]) / 1e9
    one = send or receive
    assert one is not None
    ends = (one.rank, one.peer) if one is send else (one.peer, one.rank)
    return Message(*ends, None, one.step, start, end)


def _oddities(
    trace: RecordedTrace, pairs: Sequence[tuple[Operation, Operation]], orphans: Sequence[Operation]
) -> list[str]:
    notes = []
    if orphans:
        told = ", ".join(
            f"{each.rank} to {each.peer}" if each.kind == "send" else f"{each.peer} to {each.rank} (only received)"
            for each in orphans[:5]
        )
        notes.append(f"{len(orphans)} without a partner: {told}{' ...' if len(orphans) > 5 else ''}.")
    other = sum(send.step != receive.step for send, receive in pairs)
    if other:
        notes.append(f"{other} of {len(pairs)} messages were received in another step than they were sent in.")
    backwards = sum(message.end < message.start for message in trace.messages)
    if backwards:
        notes.append(f"{backwards} of {len(pairs)} messages end before they begin: clocks differ.")
    return notes


def _against(trace: RecordedTrace, predicted: Schedule) -> RecordedTrace:
    """Give the messages the bytes of the predicted ones, and note where both differ."""
    if predicted.P < trace.P:
        raise QuantityError(f"the prediction has {predicted.P} ranks, but the trace names rank {trace.P - 1}.")
    due: dict[tuple[int, int], deque[int]] = defaultdict(deque)
    for rank in range(predicted.P):
        for destination, nbytes in predicted.sends(rank):
            due[rank, destination].append(nbytes)
    # The messages of a channel in the order of their sends.
    order = sorted(range(len(trace.messages)), key=lambda i: trace.sends[i].start)
    messages = list(trace.messages)
    unforeseen: list[Message] = []
    for i in order:
        message = messages[i]
        channel = due[message.source, message.destination]
        if channel:
            messages[i] = replace(message, nbytes=channel.popleft())
        else:
            unforeseen.append(message)
    notes = [note for note in trace.notes if note != _ALWAYS[0]]
    missing = [ends for ends, channel in due.items() for _ in channel]
    for kind, ends in (("not predicted", [(m.source, m.destination) for m in unforeseen]), ("not recorded", missing)):
        if ends:
            told = ", ".join(f"{source} to {destination}" for source, destination in ends[:5])
            notes.append(f"{len(ends)} messages {kind}: {told}{' ...' if len(ends) > 5 else ''}.")
    notes.append(f"Bytes are those of {predicted.name}, not measured.")
    finish = (*trace.finish, *[0.0] * (predicted.P - trace.P))
    return replace(trace, P=predicted.P, messages=tuple(messages), finish=finish, notes=tuple(notes))


def write_trace(trace: Trace, path: str | PathLike[str] | None = None) -> str:
    """Return a trace as the JSON that CollBench exports, and write it to a file if one is named.

    Each message becomes a send and a receive, both from its start to its end, so that CollBench's own scripts write the
    time of the message at its arrow. `algo_idx` is the round. What the format cannot hold is lost: sizes, reductions,
    the critical path, and fractions of a nanosecond.

    Parameters
    ----------
    trace : Trace
        As `Schedule.trace` or `read_trace` returns.
    path : path, optional

    Raises
    ------
    QuantityError
        If it is no Trace, or a time is no finite number of at least 0.

    Examples
    --------
    >>> import orrery_analytic as oa
    >>> from orrery_analytic.logs.traces import read_trace, write_trace
    >>> trace = oa.schedule("bcast", "chain", P=3, count=1, fan=1).trace(oa.Hockney(), alpha=2e-6, beta=0)
    >>> [(m.source, m.destination, m.end) for m in read_trace(write_trace(trace)).messages]
    [(0, 1, 2e-06), (1, 2, 4e-06)]
    """
    if not isinstance(trace, Trace):
        raise QuantityError(f"a Trace is written, as Schedule.trace returns; not {type(trace).__name__}.")
    found = []
    for message in trace.messages:
        start, end = _nanoseconds(message.start), _nanoseconds(message.end)
        if end < start:
            raise QuantityError(f"a message from {message.source} to {message.destination} ends before it begins.")
        ends = (("send", message.source, message.destination), ("recv", message.destination, message.source))
        found += [Operation(0, kind, rank, peer, message.round, start, start, end) for kind, rank, peer in ends]
    # Rank by rank, as CollBench gathers them.
    found.sort(key=lambda each: (each.rank, each.start))
    return save(written(found), path)


def _nanoseconds(seconds: object) -> int:
    try:
        value = float(seconds)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not 0 <= value < 1e10:
        raise QuantityError(f"a time of a trace is a number of seconds, at least 0, but one is {seconds!r}.")
    return round(value * 1e9)
