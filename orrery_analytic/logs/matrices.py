"""Matrices of numbers under a line that says what they are: bandwidths and latencies between devices."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from orrery_analytic.logs.rows import Notes, cut_short, looks_like_row, number, plain
from orrery_analytic.logs.table import Block, Reading
from orrery_analytic.logs.text import strip_prefix

__all__ = ["UNITS", "Matrix", "Places"]

UNITS = {
    "GB/s": ("bandwidth_bytes_per_s", 1e9),
    "MB/s": ("bandwidth_bytes_per_s", 1e6),
    "us": ("seconds", 1e-6),
    "ns": ("seconds", 1e-9),
}
"""Units as printed: the column of the table, and what one is worth there."""

Places = tuple[tuple[str, Literal["row", "column"]], tuple[str, Literal["row", "column"]]]
"""Of where the bytes of a cell come from, and of where they go to: what it is, and whose label says which one."""

_DIGITS = re.compile(r"[0-9.]+")
_MEMORY = np.array(["host", "device", "mixed"], dtype=object)


def _place(kind: str, label: str) -> str:
    """Return a place as tables name it: `GPU 0`, and `host` for a CPU, with its number where it is not 0."""
    if kind.upper() != "CPU":
        return f"GPU {label}"
    return "host" if label == "0" else f"host {label}"


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
    rows: dict[str, int] = field(default_factory=dict)
    """The labels of the rows, each with its number."""
    lines: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    ends: list[tuple[int, int]] = field(default_factory=list)
    """Of each cell, the numbers of its row and its column."""
    parts: list[tuple[NDArray[Any], ...]] = field(default_factory=list)
    """Lines, rows, columns and values of the cells that came before."""

    def __bool__(self) -> bool:
        return bool(self.values or self.parts)

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
        values = plain(chunk, width + 1)
        rows = len(values) if width else 0
        if rows:
            self.settle()
            labels, which = np.unique(values[:, 0].astype(np.int64), return_inverse=True)
            numbers = np.array([self.rows.setdefault(str(label), len(self.rows)) for label in labels.tolist()])[which]
            self.above = strip_prefix(chunk[rows - 1][1]).split()[1:]
            lines = [at for at, _ in chunk[:rows]]
            columns = np.tile(np.arange(width), rows)
            self.parts.append((np.repeat(lines, width), np.repeat(numbers, width), columns, values[:, 1:].ravel()))
        return rows

    def settle(self) -> None:
        """Put the cells that came one by one with the others."""
        if self.values:
            self.parts.append((np.array(self.lines), *np.array(self.ends).T, np.array(self.values)))
            self.lines, self.values, self.ends = [], [], []

    def cells(self, label: str, cells: Sequence[str], notes: Notes) -> None:
        """Take the cells of a row; those without a number were not measured."""
        row = self.rows.setdefault(str(int(label)) if label.isdecimal() else label, len(self.rows))
        if plain := _plain(cells):  # as nearly all are
            self.lines.extend([notes.at] * len(plain))
            self.values.extend(plain)
            self.ends.extend((row, at) for at in range(len(plain)))
            return
        for at, word in enumerate(cells):
            value = number(word)
            if value is None or value < 0:
                notes.problem(f"no measured value in column {self.column(at)}")
            elif not math.isnan(value):
                self.lines.append(notes.at)
                self.values.append(value)
                self.ends.append((row, at))

    def column(self, at: int) -> str:
        """Return the label of a column, or its number where labels are missing."""
        return self.labels[at] if at < len(self.labels) else str(at)

    def sum(self) -> tuple[float, int]:
        """Return the sum of the cells, and their number."""
        self.settle()
        return sum(float(part[-1].sum()) for part in self.parts), sum(len(part[-1]) for part in self.parts)

    def close(self, reading: Reading) -> None:
        """Hand over the cells, if there are any."""
        self.settle()
        if not self.parts:
            return
        lines, rows, at, values = map(np.concatenate, zip(*self.parts, strict=True))
        labels = {"row": list(self.rows), "column": [self.column(each) for each in range(at.max() + 1)]}
        numbers = {"row": rows, "column": at}
        ends, memories = [], []
        for kind, axis in self.places:
            names = [_place(kind, label) for label in labels[axis]]
            ends.append(np.array(names, dtype=object)[numbers[axis]])
            memories.append(np.array([not name.startswith("host") for name in names], dtype=np.int64)[numbers[axis]])
        send, recv = memories
        buffers = {"send_buffer": send, "recv_buffer": recv, "buffers": np.where(send == recv, send, 2)}
        column, scale = UNITS[self.unit]
        columns: dict[str, Any] = {"source": ends[0], "destination": ends[1], column: values * scale}
        columns |= {name: _MEMORY[kind] for name, kind in buffers.items()}
        reading.blocks.append(Block(lines, columns, self.constants))
