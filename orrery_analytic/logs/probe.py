"""The tables of `orrery_analytic.probe` that OSU's programs do not have: reductions, calls, copies, launches, kernels.

`seconds` is the median of the samples. Its tables in OSU's form are read as those.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from orrery_analytic.logs.osu_headers import memory
from orrery_analytic.logs.rows import Notes, Rows, looks_like_row, number, plain, read_lines
from orrery_analytic.logs.table import Problem, Reader, Reading
from orrery_analytic.logs.text import Lines, excerpt, strip_prefix

__all__ = ["READER"]

_TITLE = re.compile(r"# ?orrery_analytic probe (\S{1,40}): (.*)")
_CONSTANT = re.compile(r"(benchmark|collective|datatype|reduction|ranks|send|recv)=([\w.+-]{1,60})(?=\s|$)")
_FACT = re.compile(r"# ?(library|device): (.{1,300})")
_HEADER = re.compile(r"# ?bytes\s+median_us\b")
_ROW = re.compile(r"\d{1,19}(?:\s+\d{1,19}\.\d{4}){3}\s+\d{1,19}")
_AGAIN = "sizes start again without a header; read as rows of the table above"
_COLUMNS = ("size", "n", "seconds", "best_seconds", "p90_seconds", "iterations")


@dataclass
class _Parser(Notes):
    facts: dict[str, Any] = field(default_factory=dict)
    rows: Rows = field(default_factory=lambda: Rows({}))
    title: Problem | None = None  # where the table begins, if no row has followed yet
    open: bool = False
    width: int = 0  # of the header: rows are as long
    size: float = 0.0  # of the row above

    def line(self, at: int, text: str, words: list[str], cut: bool) -> None:
        """Take a line; `cut` if the log ends in it, without a line feed."""
        self.at, self.text = at, text
        if not words[0].isdecimal():
            self.text = strip_prefix(text)
            words = self.text.split()
        if words and words[0].isdecimal():
            self.row(words, cut)
        elif words:
            self.other(words)

    def many(self, chunk: list[tuple[int, str]]) -> int:
        """Take the rows that lines begin with, all at once, if they are plain ones; return how many there are."""
        if not self.open:
            return 0
        values = plain(chunk, 5)
        if rows := len(values):
            size, *times, iterations = values.T
            self.problems(_AGAIN, (chunk[at] for at in np.flatnonzero(np.diff(size, prepend=self.size) < 0)))
            self.title, self.size = None, size[-1]
            columns = (size, size, *(time * 1e-6 for time in times), iterations)
            self.rows.many([at for at, _ in chunk[:rows]], dict(zip(_COLUMNS, columns, strict=True)))
        return rows

    def other(self, words: list[str]) -> None:
        """Take a line that does not begin with a size."""
        if title := _TITLE.match(self.text):
            self.begin(title[1], title[2])
        elif _HEADER.match(self.text):
            self.see()
            if not (self.open and self.title):
                self.begin("", "")
            self.width = len(self.text.rstrip())
        elif fact := _FACT.match(self.text):
            self.facts[fact[1]] = fact[2].strip()
        elif self.leaves():
            self.close()
        elif self.open and looks_like_row(words):
            self.problem("looks like a row, but it does not begin with a size")

    def begin(self, version: str, told: str) -> None:
        """Begin a table: the words of its title say what holds for all of its rows."""
        self.close()
        self.see()
        self.open, self.elsewhere, self.width = True, False, 0
        self.title = Problem(self.at, f"no measured row under: {excerpt(self.text)}")
        constants: dict[str, Any] = {**self.facts, "benchmark": "orrery_analytic probe"}
        constants |= dict(_CONSTANT.findall(told))
        send, recv = constants.pop("send", ""), constants.pop("recv", "")
        if {send, recv} <= {"host", "device"}:
            constants |= memory(send, recv)
        if "ranks" in constants:
            ranks = number(constants.pop("ranks"))
            constants["ranks"] = math.nan if ranks is None else ranks
        if version:
            constants["version"] = version
        self.rows.constants = constants

    def row(self, words: list[str], cut: bool) -> None:
        """Take a line that begins with a size."""
        if not self.open:
            if _ROW.fullmatch(self.text.strip()):
                self.problem("a row without its title or header above it")
            return
        self.title = None
        values = [number(word) for word in words[:5]]
        if len(words) < 5 or (cut and len(self.text.rstrip()) < self.width):
            if len(words) > 1:
                self.problem("row breaks off")
            return
        known = [math.nan if value is None else value for value in values]
        if len(words) > 5 or not all(value >= 0 for value in known) or known[0] >= 2.0**63:
            self.problem("no row of size, median, best, 90th percentile and iterations")
            return
        size, median, best, p90, iterations = known
        if size < self.size:
            self.problem(_AGAIN)
        self.size = size
        self.rows.add(self.at, _COLUMNS, (size, size, median * 1e-6, best * 1e-6, p90 * 1e-6, iterations))

    def close(self) -> None:
        """End a table; one without a row is a problem."""
        if self.title:
            self.reading.problems.append(self.title)
        self.rows.close(self.reading)
        self.open, self.title, self.size = False, None, 0.0

    def end(self) -> Reading:
        """Return what was read."""
        self.close()
        return self.reading


def _may_hold(text: str) -> bool:
    return "orrery_analytic probe" in text or "median_us" in text


def _parse(lines: Lines) -> Reading:
    return read_lines(_Parser(), lines)


READER = Reader(
    "orrery_analytic.probe",
    "a title '# orrery_analytic probe 0.1.0: benchmark=...' above '# bytes median_us ...'",
    _may_hold,
    _parse,
)
