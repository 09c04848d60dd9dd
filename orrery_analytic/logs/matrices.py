"""Matrices of numbers under a line that says what they are: bandwidths and latencies between devices."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any

import numpy as np

from orrery_analytic.logs.rows import Notes, cut_short, looks_like_row, number, plain
from orrery_analytic.logs.table import Block, Reading
from orrery_analytic.logs.text import strip_prefix

__all__ = ["UNITS", "Matrix", "Places", "place"]

UNITS = {
    "GB/s": ("bandwidth_bytes_per_s", 1e9),
    "MB/s": ("bandwidth_bytes_per_s", 1e6),
    "us": ("seconds", 1e-6),
    "ns": ("seconds", 1e-9),
}
"""Units as printed: the column of the table, and what one is worth there."""

Places = Callable[[str, str], tuple[str, str]]
"""From the labels of row and column of a cell to where its bytes come from and go to."""


def place(kind: str, label: str) -> str:
    """Return a place as tables name it: `GPU 0`, and `host` for a CPU, with its number where it is not 0."""
    if kind.upper() != "CPU":
        return f"GPU {label}"
    return "host" if label == "0" else f"host {label}"


_DIGITS = re.compile(r"[0-9.]+")
_ENDS = ("source", "destination", "send_buffer", "recv_buffer", "buffers")


def _memory(where: str) -> str:
    return "host" if where.startswith("host") else "device"


def _are_labels(words: Sequence[str]) -> bool:
    """Tell whether a line heads the columns: whole numbers, or no numbers; values have decimals, or are N/A."""
    if any("." in word or word == "N/A" for word in words):
        return False
    return all(map(str.isdecimal, words)) or not looks_like_row(words)


def _plain(cells: Sequence[str]) -> list[float]:
    """Return the values of cells that all are numbers of digits; else nothing."""
    if not _DIGITS.fullmatch("".join(cells)):
        return []
    try:
        values = list(map(float, cells))
    except ValueError:
        return []
    return values if sum(values) < math.inf else []


@dataclass
class Matrix:
    """A matrix as it is read.

    Parameters
    ----------
    constants
        What holds for each of its cells, by column of the table.
    unit
        One of `UNITS`.
    places
        Where the bytes of a cell come from and go to.
    """

    constants: Mapping[str, Any]
    unit: str
    places: Places
    labels: list[str] = field(default_factory=list)
    above: Sequence[str] = ()
    lines: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    ends: list[tuple[str, int]] = field(default_factory=list)
    """Of each cell, the label of its row and the place of its column."""

    def line(self, words: Sequence[str], notes: Notes, cut: bool) -> None:
        """Take a line below the description: the labels of the columns, a row, or something else."""
        if not self.labels and _are_labels(words):
            self.labels = list(words)
            return
        width = len(self.labels) or len(words) - 1
        if len(words) == width + 1 and not cut and words[0].isdecimal():
            self.above = words[1:]
            self.cells(words[0], self.above, notes)
            return
        begin = 1
        if len(words) != width + 1:  # the label of a row may have several words
            while begin < len(words) - 1 and not words[begin][:1].isdecimal() and number(words[begin]) is None:
                begin += 1
        cells = words[begin:]
        if self.labels and not cells and words[0].isdecimal():
            notes.problem("row breaks off")
        if not cells or not (words[0].isdecimal() or any(number(cell) is not None for cell in cells)):
            return
        if len(words) > 2 * width + 4 and not looks_like_row(words):
            return  # prose
        if cut and (len(cells) < width or cut_short(cells, self.above)):
            notes.problem("row breaks off")
            cells = cells[:-1]
        elif len(cells) != width:
            notes.problem(f"{len(cells)} values where the header names {width}")
        self.cells(words[0] if begin == 1 else " ".join(words[:begin]), cells[:width], notes)
        self.above = cells

    def many(self, chunk: list[tuple[int, str]]) -> int:
        """Take the rows that lines begin with, all at once, if they are plain ones; return how many there are."""
        width = len(self.labels)
        values = plain(chunk, width + 1)[:, 1:] if width else ()
        if rows := len(values):
            words = [strip_prefix(line).split() for _, line in chunk[:rows]]
            self.above = words[-1][1:]
            self.lines.extend(at for at, _ in chunk[:rows] for _ in range(width))
            self.values.extend(np.ravel(values).tolist())
            self.ends.extend((row[0], at) for row in words for at in range(width))
        return rows

    def cells(self, label: str, cells: Sequence[str], notes: Notes) -> None:
        """Take the cells of a row; those without a number were not measured."""
        if plain := _plain(cells):  # as nearly all are
            self.lines.extend([notes.at] * len(plain))
            self.values.extend(plain)
            self.ends.extend(zip(repeat(label, len(plain)), range(len(plain)), strict=True))
            return
        for at, word in enumerate(cells):
            value = number(word)
            if value is None or value < 0:
                notes.problem(f"no measured value in column {self.column(at)}")
            elif not math.isnan(value):
                self.lines.append(notes.at)
                self.values.append(value)
                self.ends.append((label, at))

    def column(self, at: int) -> str:
        """Return the label of a column, or its number where labels are missing."""
        return self.labels[at] if at < len(self.labels) else str(at)

    def close(self, reading: Reading) -> None:
        """Hand over the cells, if there are any."""
        if not self.values:
            return
        places = dict.fromkeys(self.ends)
        told = np.array([self.told(*end) for end in places], dtype=object)
        numbers = {end: at for at, end in enumerate(places)}
        which = np.fromiter(map(numbers.__getitem__, self.ends), dtype=np.int64, count=len(self.ends))
        column, scale = UNITS[self.unit]
        columns: dict[str, Any] = dict(zip(_ENDS, told[which].T, strict=True))
        columns[column] = np.array(self.values) * scale
        reading.blocks.append(Block(self.lines, columns, self.constants))

    def told(self, label: str, at: int) -> tuple[str, ...]:
        """Return the columns `_ENDS` of a cell."""
        source, destination = self.places(label, self.column(at))
        send, recv = _memory(source), _memory(destination)
        return source, destination, send, recv, send if send == recv else "mixed"
