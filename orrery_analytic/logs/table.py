"""The one table that every reader fills: its columns, the blocks it is made of, and what could not be read."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress, islice
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from orrery_analytic.logs.text import Lines

__all__ = [
    "COLUMNS", "OF_A_HEADER", "OF_A_ROW", "Block", "LogWarning", "Problem", "Reader", "Reading", "chunks", "frame",
    "patience", "warn",
]  # fmt: skip

COLUMNS: dict[str, tuple[type, str]] = {
    "file": (object, "name of the file, or <text>, <bytes>, <file>, <upload>"),
    "line": (np.int64, "line in the file, from 1"),
    "table": (np.int64, "number of the table in the file, from 0"),
    "benchmark": (object, "program that measured, such as osu_allreduce"),
    "version": (object, "its version"),
    "collective": (object, "allreduce ...; p2p for send and receive; get, put ... one-sided; copy between memories"),
    "datatype": (object, "type of an element, as printed"),
    "buffers": (object, "host, device or managed; mixed where sender and receiver differ"),
    "send_buffer": (object, "memory of the sender"),
    "recv_buffer": (object, "memory of the receiver"),
    "ranks": (np.float64, "ranks that took part"),
    "size": (np.float64, "bytes, as printed"),
    "n": (np.float64, "bytes, in the convention of the formulas"),
    "seconds": (np.float64, "time of the operation, mean over ranks, without overlapped work"),
    "min_seconds": (np.float64, "time of the fastest rank"),
    "max_seconds": (np.float64, "time of the slowest rank"),
    "iterations": (np.float64, "repetitions behind the mean"),
    "bandwidth_bytes_per_s": (np.float64, "bytes per second, all pairs together"),
    "messages_per_s": (np.float64, "messages per second, all pairs together"),
    "overall_seconds": (np.float64, "non-blocking: operation and overlapped work together"),
    "compute_seconds": (np.float64, "non-blocking: overlapped work alone"),
    "overlap": (np.float64, "non-blocking: fraction of the operation hidden behind the work"),
    "in_place": (object, "True where the receive buffer was also the send buffer"),
    "validation": (object, "pass or fail"),
    "algorithm": (object, "algorithm that was forced, as printed"),
    "library": (object, "library that ran it, with its version, as printed"),
    "nodes": (np.float64, "nodes that took part"),
    "mean_seconds": (np.float64, "mean over the iterations, where seconds is their median"),
    "best_seconds": (np.float64, "shortest iteration"),
    "p90_seconds": (np.float64, "nine iterations of ten are no longer"),
    "source": (object, "where a copy comes from: host, host 1, GPU 0 ..."),
    "destination": (object, "where it goes"),
    "operation": (object, "of one rank in a trace: send, recv ..."),
    "rank": (np.float64, "rank whose operation it is"),
    "peer": (np.float64, "the rank that it sends to, or receives from"),
    "step": (np.float64, "step of the algorithm, as the program numbered it"),
    "start_seconds": (np.float64, "begin of the operation, after that of the first one in the file"),
    "end_seconds": (np.float64, "its end"),
    "issue_seconds": (np.float64, "from its begin until its rank waits for it"),
    "messages": (np.float64, "netgauge: messages of a train, the n of PRTT(n,0,s)"),
    "round_trip_seconds": (np.float64, "netgauge: PRTT(1,0,s)"),
    "train_seconds": (np.float64, "netgauge: PRTT(n,0,s), messages back to back"),
    "spaced_train_seconds": (np.float64, "netgauge: PRTT(n,PRTT(1,0,s),s), messages a round trip apart"),
    "L": (np.float64, "netgauge: LogGP latency, seconds"),
    "o_send": (np.float64, "netgauge: LogGP overhead of the sender, seconds"),
    "o_recv": (np.float64, "netgauge: LogGP overhead of the receiver, seconds"),
    "g": (np.float64, "netgauge: LogGP gap between messages, seconds, from all rows up to this one"),
    "G": (np.float64, "netgauge: LogGP gap per byte, seconds per byte, likewise"),
    "count": (np.float64, "nccl-tests: elements that the call passes, as printed"),
    "requested_bytes": (np.float64, "nccl-tests: size asked for, before the tool rounds it"),
    "reduction": (object, "nccl-tests: sum, prod, max, min, avg, mulsum; none"),
    "root": (np.float64, "rank of the root; -1 where there is none"),
    "algbw_bytes_per_s": (np.float64, "nccl-tests: size over time, as printed"),
    "busbw_bytes_per_s": (np.float64, "nccl-tests: that times a factor of the ranks, as printed; no speed of a link"),
    "wrong": (np.float64, "nccl-tests: elements with a wrong result"),
    "deviation": (np.float64, "nccl-tests before 2.11: largest deviation from the right result"),
    "enqueue_seconds": (np.float64, "nccl-tests -C 1: time until the CPU has enqueued the operation"),
    "warmup_iterations": (np.float64, "repetitions before the measured ones"),
    "device": (object, "model of the accelerator, as printed"),
    "lsqu": (np.float64, "netgauge: residual of the fit of g and G, as printed"),
}

# Python shows this many; all are in the table's attrs.
_SHOWN = 20
# No log has as many. Where they are found, the file is something else, and a reader goes no further.
_MOST_PROBLEMS = 10_000
_MOST_TABLES = 10_000
# So many lines that are no plain rows readers look at together, and one more for as many characters, of which there
# are several times as many in a line of any log.
_MOST_LOOKS = 200_000
_CHARACTERS_A_LOOK = 40
_STRIDE = 400
OF_A_HEADER, OF_A_ROW = 10, 5
"""As many more lines a header, and a row of many words, are worth where they are counted: they take as long."""
# Where pandas copies a column before it writes into it, one that holds a single value everywhere is stored once.
_COPY_ON_WRITE = int(pd.__version__.partition(".")[0]) >= 3


class LogWarning(UserWarning):
    """A line of a log that looks like a measurement and was not read, or not in full."""


class Problem(NamedTuple):
    """A line that looks like data and could not be read in full: its number (from 1) and what is wrong with it."""

    line: int
    text: str


@dataclass(frozen=True)
class Block:
    """Rows of one table of a log.

    `lines` are their line numbers; `columns` are as long as `lines`; `constants` hold for every row. Names are those
    of `COLUMNS`; what is absent was not measured.
    """

    lines: Sequence[int] | np.ndarray[Any, Any]
    columns: Mapping[str, Sequence[Any] | np.ndarray[Any, Any]]
    constants: Mapping[str, Any]


@dataclass
class Reading:
    """What a reader made of a log: blocks of rows, problems, and where it first saw its format (line, text).

    `looked` counts the lines that had to be looked at one by one, headers tenfold; `stopped` is the line from which on
    it gave up.
    """

    blocks: list[Block] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    seen: Problem | None = None
    looked: int = 0
    by_value: bool = False
    """Whether these are values of JSON, and no lines."""
    stopped: Problem | None = None

    def full(self, line: int, most_looks: float = math.inf) -> bool:
        """Tell whether there are more problems, tables or looks than any log has, and note the line that comes next."""
        for found, most, what in (
            (len(self.problems), _MOST_PROBLEMS, "lines that cannot be read"),
            (len(self.blocks), _MOST_TABLES, "tables"),
            (self.looked, most_looks, "short lines or values that are no plain rows"),
        ):
            if found >= most and not self.stopped:
                self.stopped = Problem(line, f"{found:,} {what} stand above this one: from here on nothing is read")
        return self.stopped is not None


def patience(text: str) -> int:
    """Return how many lines, or values of JSON, are looked at one by one before a text is given up."""
    return _MOST_LOOKS + len(text) // _CHARACTERS_A_LOOK


def chunks(lines: Lines, reading: Reading, begin: int = 0) -> Iterator[list[tuple[int, str]]]:
    """Yield lines but the first `begin`, with their numbers from 1, some at a time, until the reading is full.

    Those are left out that say nothing in any format. Whoever takes many at once counts them off what was looked at.
    """
    most_looks = patience(lines.text) // lines.readers
    telling = compress(enumerate(islice(lines, begin, None), begin + 1), islice(lines.telling, begin, None))
    while (chunk := list(islice(telling, _STRIDE))) and not reading.full(chunk[0][0], most_looks):
        reading.looked += len(chunk)
        yield chunk


@dataclass(frozen=True)
class Reader:
    """A format: its name, what betrays it (for messages), a fast look whether it may be there, and its parsers.

    `parse` takes lines, which are cut where they are too long for a row; `parse_text` the whole text, for JSON.
    `from_name` gives what only the name of a file says, by column of the table.
    """

    name: str
    looks_for: str
    may_hold: Callable[[str], bool]
    parse: Callable[[Lines], Reading] | None = None
    parse_text: Callable[[str], Reading] | None = None
    from_name: Callable[[str], Mapping[str, Any]] | None = None

    def read(self, name: str, text: str, lines: Lines) -> list[Reading]:
        """Return what each of its parsers made of a log."""
        readings = [self.read_lines(name, lines)] if self.parse else []
        return [*readings, self._named(name, self.parse_text(text))] if self.parse_text else readings

    def read_lines(self, name: str, lines: Lines) -> Reading:
        """Return what its parser of lines made of a log."""
        assert self.parse is not None
        return self._named(name, self.parse(lines))

    def _named(self, name: str, reading: Reading) -> Reading:
        if reading.stopped:
            reading.stopped = reading.stopped._replace(text=f"{reading.stopped.text} as {self.name}")
        if self.from_name:
            told = self.from_name(name)
            reading.blocks = [replace(block, constants={**told, **block.constants}) for block in reading.blocks]
        return reading


def frame(name: str, blocks: Sequence[Block]) -> pd.DataFrame:
    """Put blocks into one table, in the order of the file.

    Parameters
    ----------
    name
        The file.
    blocks
        At least one, each with at least one row.

    Returns
    -------
    pandas.DataFrame
        A row a measured point; the columns and types of `COLUMNS`, NaN where nothing was measured.
    """
    ordered = sorted(blocks, key=lambda block: block.lines[0])
    lengths = [len(block.lines) for block in ordered]
    data: dict[str, np.ndarray[Any, Any]] = {
        "file": _everywhere(name, object, sum(lengths)),
        "line": np.concatenate([block.lines for block in ordered]),
        "table": np.repeat(np.arange(len(ordered)), lengths),
    }
    varying = {column for block in ordered for column in block.columns}
    fixed = {column for block in ordered for column in block.constants}
    for column, (kind, _) in COLUMNS.items():
        if column in data:
            continue
        if column in varying:
            parts = [
                np.asarray(block.columns[column], dtype=kind)
                if column in block.columns
                else _everywhere(block.constants.get(column, math.nan), kind, length)
                for block, length in zip(ordered, lengths, strict=True)
            ]
            data[column] = np.concatenate(parts) if len(parts) > 1 else parts[0]
            continue
        constants = [block.constants.get(column, math.nan) for block in ordered] if column in fixed else [math.nan]
        if len(set(constants)) > 1:
            data[column] = np.repeat(np.array(constants, dtype=kind), lengths)
        else:
            data[column] = _everywhere(constants[0], kind, sum(lengths))
    # With its type, or pandas would guess that of text from what it holds. Nobody else has these arrays: no copy.
    series = {column: pd.Series(data[column], dtype=kind, copy=False) for column, (kind, _) in COLUMNS.items()}
    return pd.DataFrame(series, copy=False)


def _everywhere(value: Any, kind: type, length: int) -> np.ndarray[Any, Any]:
    """Return a column that holds one value everywhere."""
    if _COPY_ON_WRITE:
        return np.broadcast_to(np.array(value, dtype=kind), length)
    return np.full(length, value, dtype=kind)


def warn(name: str, problems: Sequence[Problem], stacklevel: int) -> None:
    """Issue a `LogWarning` for each problem; after the first twenty, one that counts the rest."""
    for problem in problems[:_SHOWN]:
        warnings.warn(f"{name}, line {problem.line}: {problem.text}", LogWarning, stacklevel=stacklevel + 1)
    if len(problems) > _SHOWN:
        last = f"the last is line {problems[-1].line}: {problems[-1].text}"
        text = f"{name}: {len(problems) - _SHOWN} more lines like these, {last}; table.attrs['warnings'] lists all."
        warnings.warn(text, LogWarning, stacklevel=stacklevel + 1)
