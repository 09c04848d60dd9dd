"""Rows of numbers: what a word says, and the table that rows grow into."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from orrery_analytic.logs.table import COLUMNS, Block, Problem, Reading, chunks
from orrery_analytic.logs.text import Lines, excerpt, strip_prefix

__all__ = [
    "Notes", "Rows", "cut_short", "is_heading", "joined", "looks_like_row", "number", "out_of_range", "plain",
    "read_lines",
]  # fmt: skip

_ABSENT = {"n/a", "na", "-", "--", "nan", "-nan", "+nan", "null", "none", "nan(ind)", "-nan(ind)"}
# Titles and headers of every format with rows of numbers; whose they are, each reader knows itself.
_HEADING = re.compile(
    r"#* ?(?:OSU|OMB)\b|# ?Size\b|# ?(?:Benchmarking|size n|size count|nThreads?|nccl-tests)\b"
    r"|(?:Group )?#(?:bytes|rep)|nvbandwidth |Running \w+\.?$|mem(?:cpy|ory) |\[CUDA Bandwidth|\[P2P \(Peer"
    r"|(?:Uni|Bi)directional P2P|P2P[ =]"
    r"|(?:Host|Device) to (?:Host|Device) Bandwidth|bandwidthTest-"
)
_HEADING_BEGINS = frozenset("#OSGBbnRm[UPHD")


def number(word: str) -> float | None:
    """Return the number that a word is, NaN where it says that there is none, and None where it is something else."""
    try:
        value = float(word)
    except ValueError:
        return math.nan if word.lower() in _ABSENT else None
    # Python takes more for numbers than any benchmark prints: inf, 1_0, digits of other scripts.
    return None if math.isinf(value) or "_" in word or not word.isascii() else value


def cut_short(words: Sequence[str], above: Sequence[str]) -> bool:
    """Tell whether the last word has fewer decimals than the one above it: a file ends inside a number."""
    last = len(words) - 1
    return 0 <= last < len(above) and _decimals(words[last]) < _decimals(above[last])


def _decimals(word: str) -> int:
    return len(word.partition(".")[2])


def looks_like_row(words: Sequence[str]) -> bool:
    """Tell whether at least half of a short line's words begin like numbers, perhaps broken ones."""
    digits = sum(word.lstrip("+-.")[:1].isdecimal() for word in words)
    return 1 < len(words) <= 14 and 2 * digits >= len(words)


def is_heading(text: str) -> bool:
    """Tell whether a line is a title or a header of a format with rows of numbers."""
    return text[:1] in _HEADING_BEGINS and _HEADING.match(" ".join(text[:200].split())) is not None


def out_of_range(mean: NDArray[np.float64], least: NDArray[np.float64], most: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return in which rows a mean does not lie between the least and the most."""
    return np.flatnonzero((mean < least) | (mean > most))


@dataclass
class Notes:
    """What a reader has found so far, and the line that it is at."""

    reading: Reading = field(default_factory=Reading)
    at: int = 0
    text: str = ""
    elsewhere: bool = False
    """Whether the line stands in a table of another format."""

    def leaves(self) -> bool:
        """Tell whether the line is a heading; asked after the reader's own are ruled out, it is that of another."""
        if is_heading(self.text):
            self.elsewhere = True
            return True
        return False

    def many(self, chunk: list[tuple[int, str]]) -> int:
        """Take the rows that lines begin with, all at once, if they are plain ones; return how many there are."""
        return 0

    def problems(self, what: str, lines: Iterable[tuple[int, str]]) -> None:
        """Note the same of each of some lines."""
        for self.at, self.text in lines:
            self.problem(what)

    def problem(self, what: str) -> None:
        """Note that the line looks like data and is not read in full."""
        self.reading.problems.append(Problem(self.at, f"{what}: {excerpt(self.text)}"))

    def see(self) -> None:
        """Note where the format is first seen."""
        self.reading.seen = self.reading.seen or Problem(self.at, excerpt(self.text))


class Parser(Protocol):
    """What reads a log line by line."""

    reading: Reading

    def many(self, chunk: list[tuple[int, str]]) -> int:
        """Take the plain rows that lines begin with, all at once, and return how many there are."""

    def line(self, at: int, text: str, words: list[str], cut: bool) -> None:
        """Take a line that is not blank, and its words; `cut` if the log ends in it, without a line feed."""

    def end(self) -> Reading:
        """Return what was read."""


def read_lines(parser: Parser, lines: Lines, begin: int = 0) -> Reading:
    """Give a parser the lines of a log that are not blank, but the first `begin`."""
    last = len(lines)
    for chunk in chunks(lines, parser.reading, begin):
        taken = parser.many(chunk)
        parser.reading.looked -= taken
        for at, text in chunk[taken:]:
            if words := text.split():
                parser.line(at, text, words, at == last)
    return parser.end()


@cache
def _plain(width: int, mark: str) -> re.Pattern[str]:
    more = rf"(?:[ \t]++\d{{1,15}}+(?:\.\d{{0,9}}+)?+){{{width - 1}}}"
    return re.compile(rf"(?:[ \t]*+\d{{1,15}}+{more}{mark}[ \t]*+\r?\n)+", re.ASCII)


def joined(chunk: Sequence[tuple[int, str]]) -> str:
    """Return lines as one text, without the prefix of the first where it is that of all."""
    first = chunk[0][1]
    text = "\n".join([line for _, line in chunk])
    label = first[: len(first) - len(strip_prefix(first))].lstrip()
    if prefix := label[: len(label.rstrip()) + 1]:
        text = text.lstrip().removeprefix(prefix).replace(f"\n{prefix}", "\n")
    return text


def plain(chunk: Sequence[tuple[int, str]], width: int, mark: str = "") -> NDArray[np.float64]:
    """Return the rows that lines begin with, but the last line, if they are nothing but numbers without signs.

    Parameters
    ----------
    chunk
        Lines with their numbers. All may have the prefix of the first.
    width
        Numbers in a row, the first of them whole.
    mark
        A regular expression for what is printed after the numbers.

    Returns
    -------
    numpy.ndarray
        A row each, `width` numbers wide.
    """
    found = _plain(width, mark).match(joined(chunk))
    if found is None:
        return np.empty((0, width))
    numbers = re.sub(mark, "", found[0]) if mark else found[0]
    return np.fromstring(numbers, sep=" ").reshape(-1, width)


@dataclass
class Rows:
    """Rows of one table, as they come: the columns need not be the same in each."""

    constants: Mapping[str, Any] = field(default_factory=dict)
    lines: list[int] = field(default_factory=list)
    rows: list[tuple[tuple[str, ...], Sequence[Any]]] = field(default_factory=list)
    parts: list[tuple[Sequence[int], dict[str, Sequence[Any] | NDArray[Any]]]] = field(default_factory=list)
    """What came before `rows`, column by column, with the lines."""

    def __bool__(self) -> bool:
        return bool(self.rows or self.parts)

    def add(self, line: int, names: tuple[str, ...], values: Sequence[Any]) -> None:
        """Add a row: columns of the table, and as many values."""
        self.lines.append(line)
        self.rows.append((names, values))

    def many(self, lines: Sequence[int], columns: Mapping[str, Sequence[Any] | NDArray[Any]]) -> None:
        """Add rows by column."""
        self.settle()
        self.parts.append((lines, dict(columns)))

    def settle(self) -> None:
        """Put the rows into columns, NaN where one has no value."""
        if not self.rows:
            return
        first = self.rows[0][0]
        if all(names is first for names, _ in self.rows):
            found: dict[str, Any] = dict(
                zip(first, zip(*(values for _, values in self.rows), strict=True), strict=True)
            )
        else:
            found = {name: [math.nan] * len(self.rows) for names in {names for names, _ in self.rows} for name in names}
            for at, (names, values) in enumerate(self.rows):
                for name, value in zip(names, values, strict=True):
                    found[name][at] = value
        self.parts.append((self.lines, found))
        self.lines, self.rows = [], []

    def columns(self) -> dict[str, Sequence[Any] | NDArray[Any]]:
        """Return the values by column, NaN where a row has none."""
        self.settle()
        if len(self.parts) == 1:
            return self.parts[0][1]
        names = dict.fromkeys(name for _, columns in self.parts for name in columns)
        return {name: np.concatenate([_column(name, *part) for part in self.parts]) for name in names}

    def close(
        self, reading: Reading, constants: Mapping[str, Any] | None = None, columns: Mapping[str, Any] | None = None
    ) -> None:
        """Hand over the rows, if there are any, and begin anew; what is given stands in place of its own."""
        if self:
            told = columns or self.columns()
            lines = self.parts[0][0] if len(self.parts) == 1 else np.concatenate([lines for lines, _ in self.parts])
            reading.blocks.append(Block(lines, told, self.constants if constants is None else constants))
        self.lines, self.rows, self.parts = [], [], []


def _column(name: str, lines: Sequence[int], columns: Mapping[str, Any]) -> NDArray[Any]:
    kind = COLUMNS[name][0] if name in COLUMNS else float
    return np.asarray(columns[name], dtype=kind) if name in columns else np.full(len(lines), math.nan, dtype=kind)
