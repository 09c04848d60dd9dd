"""The one table that every reader fills: its columns, the blocks it is made of, and what could not be read."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

__all__ = ["COLUMNS", "Block", "LogWarning", "Problem", "Reader", "Reading", "frame", "warn"]

COLUMNS: dict[str, tuple[type, str]] = {
    "file": (object, "name of the file, or <text>, <bytes>, <file>, <upload>"),
    "line": (np.int64, "line in the file, from 1"),
    "table": (np.int64, "number of the table in the file, from 0"),
    "benchmark": (object, "program that measured, such as osu_allreduce"),
    "version": (object, "its version"),
    "collective": (object, "allreduce, iallreduce ...; p2p for send and receive; get, put ... for one-sided"),
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
}

# Python shows this many; all are in the table's attrs.
_SHOWN = 20


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

    lines: Sequence[int]
    columns: Mapping[str, Sequence[Any] | np.ndarray[Any, Any]]
    constants: Mapping[str, Any]


@dataclass
class Reading:
    """What a reader made of a log: blocks of rows, problems, and where it first saw its format (line, text)."""

    blocks: list[Block] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    seen: Problem | None = None


@dataclass(frozen=True)
class Reader:
    """A format: its name, what betrays it (for messages), a fast look whether it may be there, and its parser."""

    name: str
    looks_for: str
    may_hold: Callable[[str], bool]
    parse: Callable[[list[str]], Reading]


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
        "file": np.full(sum(lengths), name, dtype=object),
        "line": np.concatenate([block.lines for block in ordered]),
        "table": np.repeat(np.arange(len(ordered)), lengths),
    }
    for column, (kind, _) in COLUMNS.items():
        if column in data:
            continue
        if any(column in block.columns for block in ordered):
            parts = [block.columns.get(column, [math.nan] * len(block.lines)) for block in ordered]
            data[column] = np.concatenate([np.asarray(part, dtype=kind) for part in parts])
        else:
            constants = [block.constants.get(column, math.nan) for block in ordered]
            data[column] = np.repeat(np.array(constants, dtype=kind), lengths)
    # With its type, or pandas would guess that of text from what it holds.
    return pd.DataFrame({column: pd.Series(data[column], dtype=kind) for column, (kind, _) in COLUMNS.items()})


def warn(name: str, problems: Sequence[Problem], stacklevel: int) -> None:
    """Issue a `LogWarning` for each problem; after the first twenty, one that counts the rest."""
    for problem in problems[:_SHOWN]:
        warnings.warn(f"{name}, line {problem.line}: {problem.text}", LogWarning, stacklevel=stacklevel + 1)
    if len(problems) > _SHOWN:
        text = f"{name}: {len(problems) - _SHOWN} more lines like these; table.attrs['warnings'] lists all."
        warnings.warn(text, LogWarning, stacklevel=stacklevel + 1)
