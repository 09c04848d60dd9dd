"""Rows of numbers: what a word says, and the table that rows grow into."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Protocol

from orrery_analytic.logs.table import Block, Problem, Reading
from orrery_analytic.logs.text import excerpt

__all__ = ["Notes", "Rows", "cut_short", "looks_like_row", "number", "read_lines"]

_ABSENT = {"n/a", "na", "-", "--", "nan", "-nan", "+nan", "null", "none", "nan(ind)", "-nan(ind)"}
# Titles and headers of every format with rows of numbers; whose they are, each reader knows itself.
_HEADING = re.compile(
    r"#* ?(?:OSU|OMB)\b|# ?Size\b|# ?(?:Benchmarking|size n|size count|nThreads?|nccl-tests)\b"
    r"|(?:Group )?#(?:bytes|rep)|nvbandwidth |Running \w+\.?$|mem(?:cpy|ory) |\[CUDA Bandwidth|\[P2P \(Peer"
    r"|(?:Uni|Bi)directional P2P|P2P[ =]"
    r"|(?:Host|Device) to (?:Host|Device) Bandwidth|bandwidthTest-"
)


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
        if _HEADING.match(" ".join(self.text[:200].split())):
            self.elsewhere = True
            return True
        return False

    def problem(self, what: str) -> None:
        """Note that the line looks like data and is not read in full."""
        self.reading.problems.append(Problem(self.at, f"{what}: {excerpt(self.text)}"))

    def see(self) -> None:
        """Note where the format is first seen."""
        self.reading.seen = self.reading.seen or Problem(self.at, excerpt(self.text))


class Parser(Protocol):
    """What reads a log line by line."""

    def line(self, at: int, text: str, words: list[str], cut: bool) -> None:
        """Take a line that is not blank, and its words; `cut` if the log ends in it, without a line feed."""

    def end(self) -> Reading:
        """Return what was read."""


def read_lines(parser: Parser, lines: Sequence[str], begin: int = 0) -> Reading:
    """Give a parser the lines of a log that are not blank, but the first `begin`."""
    last = len(lines)
    for at, text in enumerate(islice(lines, begin, None), begin + 1):
        if text and (words := text.split()):
            parser.line(at, text, words, at == last)
    return parser.end()


@dataclass
class Rows:
    """Rows of one table, as they come: the columns need not be the same in each."""

    constants: Mapping[str, Any]
    lines: list[int] = field(default_factory=list)
    rows: list[tuple[tuple[str, ...], Sequence[Any]]] = field(default_factory=list)

    def add(self, line: int, names: tuple[str, ...], values: Sequence[Any]) -> None:
        """Add a row: columns of the table, and as many values."""
        self.lines.append(line)
        self.rows.append((names, values))

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return the values by column, NaN where a row has none."""
        first = self.rows[0][0]
        if all(names is first for names, _ in self.rows):
            return dict(zip(first, zip(*(values for _, values in self.rows), strict=True), strict=True))
        found = {name: [math.nan] * len(self.rows) for names in {names for names, _ in self.rows} for name in names}
        for at, (names, values) in enumerate(self.rows):
            for name, value in zip(names, values, strict=True):
                found[name][at] = value
        return dict(found)

    def close(self, reading: Reading, columns: Mapping[str, Any] | None = None) -> None:
        """Hand over the rows, if there are any, and begin anew; `columns` in place of those of the rows."""
        if self.rows:
            reading.blocks.append(Block(self.lines, columns or self.columns(), self.constants))
        self.lines, self.rows = [], []
