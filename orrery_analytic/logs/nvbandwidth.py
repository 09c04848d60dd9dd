"""nvbandwidth: a point each cell of its matrices, from text and from its JSON.

A test that drives both directions prints what one of them gets, not their sum. Its copies are of one size, which it
does not print: `size` and `n` are missing. Rows of sums, and tests that were waived, are no points.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

from orrery_analytic.logs.matrices import UNITS, Matrix, Places
from orrery_analytic.logs.objects import flat_objects
from orrery_analytic.logs.rows import Notes, looks_like_row, number, read_lines
from orrery_analytic.logs.table import Reader, Reading, patience
from orrery_analytic.logs.text import Lines, excerpt, strip_prefix

__all__ = ["READER"]

_VERSION = re.compile(r"nvbandwidth Version: (\S{1,30})")
_RUNNING = re.compile(r"Running (?:benchmark )?(\w{1,80})\.?\s*$")
_TOTAL = re.compile(r"(SUM|MIN|MAX|AVG) (\S{1,80}) (\S{1,30})\s*$")
_DESCRIPTION = re.compile(r"mem(?:cpy|ory)\b.{0,200}\((GB/s|MB/s|us|ns)\)\s*$")
_SIDE = r"(CPU|GPU|\w{1,20}) ?\((row|column)s?\)"
_BETWEEN = re.compile(rf"{_SIDE} (<->|<-|->) {_SIDE}")
_ALONE = re.compile(_SIDE)
_AXES: dict[str, Literal["row", "column"]] = {"row": "row", "column": "column"}
_JSON_VERSION = re.compile(r'"version"\s{0,9}:\s{0,9}"([^"\\]{1,30})"')
# As many devices there are not: where a matrix has more rows, it is checked whether to go on.
_MOST_ROWS = 10_000
_KEYS = ("bandwidth_matrix", "bandwidth_description")


def _places(description: str, test: str) -> Places:
    """Return where the bytes of a cell go, as the description of a matrix says."""
    found = _BETWEEN.search(description)
    if found is None:
        alone = _ALONE.search(description)
        kind = alone[1] if alone else "GPU"
        return (kind, "column"), (kind, "column")
    first, first_is, arrow, second, second_is = found.groups()
    # Both ways at once: what is measured is the way that gives the test its name, else that of the text.
    back = arrow == "<-" or (arrow == "<->" and test.startswith(("device_to_host", "all_to_host")))
    source, destination = (first, _AXES[first_is]), (second, _AXES[second_is])
    return (destination, source) if back else (source, destination)


def _matrix(version: str, test: str, description: str, unit: str) -> Matrix:
    constants = {"benchmark": f"nvbandwidth {test}".strip(), "collective": "copy"}
    constants |= {"version": version} if version else {}
    return Matrix(constants, unit, _places(description, test))


@dataclass
class _Parser(Notes):
    version: str = ""
    test: str = ""
    started: tuple[int, str] = (0, "")
    matrix: Matrix | None = None

    def close(self) -> None:
        """End a matrix."""
        if self.matrix is not None:
            if self.matrix:
                self.started = (0, "")
            self.matrix.close(self.reading)
        self.matrix = None

    def stop(self) -> None:
        """End a test; one that gave nothing and was not waived is told."""
        self.close()
        if self.started[0]:
            at, text = self.at, self.text
            self.at, self.text = self.started
            self.problem("no measured value under")
            self.at, self.text = at, text
        self.started, self.test = (0, ""), ""

    def many(self, chunk: list[tuple[int, str]]) -> int:
        """Take the rows that lines begin with, all at once, if they are plain ones; return how many there are."""
        return self.matrix.many(chunk) if self.matrix is not None else 0

    def line(self, at: int, text: str, words: list[str], cut: bool) -> None:
        """Take a line; `cut` if the log ends in it, without a line feed."""
        self.at, self.text = at, text
        if not words[0].isdecimal():
            self.text = strip_prefix(text)
            words = self.text.split()
        if not words:
            return
        if words[0].isdecimal():
            if self.matrix is not None:
                self.matrix.line(words, self, cut)
            elif (
                not self.elsewhere and looks_like_row(words) and any("." in word or word == "N/A" for word in words[1:])
            ):
                self.problem("a row without the line that says what it is")
            return
        flat = " ".join(words)[:400]
        if running := _RUNNING.match(flat):
            self.stop()
            self.test, self.started, self.elsewhere = running[1], (at, flat), False
            self.see()
        elif version := _VERSION.match(flat):
            self.stop()
            self.version = version[1]
            self.see()
        elif described := _DESCRIPTION.match(flat):
            self.close()
            self.elsewhere = False
            self.matrix = _matrix(self.version, self.test, flat, described[1])
            self.see()
        elif flat.startswith(("memcpy ", "memory latency")):
            self.close()
            self.elsewhere = False
            self.problem("the line that says what a matrix is breaks off")
        elif total := _TOTAL.match(flat):
            self.total(total[1], number(total[3]))
        elif flat.startswith(("Waived", "Waiving", "ERROR", "Error")):
            self.close()
            if flat[0] == "E" and self.test:
                self.problem("a test failed")
            self.started = (0, "")
        elif self.leaves():
            self.stop()
        elif self.matrix is not None:
            self.matrix.line(words, self, cut)

    def end(self) -> Reading:
        """Return what was read."""
        self.stop()
        return self.reading

    def total(self, kind: str, printed: float | None) -> None:
        """Hold the sum of the cells against that which is printed: a row may be missing."""
        if self.matrix is not None and kind == "SUM" and printed is not None:
            cells, count = self.matrix.sum()
            if abs(cells - printed) > 0.01 * (count + 1) + 1e-5 * abs(printed):
                self.problem(f"the values above add up to {cells:.2f}; a row may be missing")
        self.close()


def _parse(lines: Lines) -> Reading:
    return read_lines(_Parser(), lines)


def _parse_text(text: str) -> Reading:
    """Read the JSON that `nvbandwidth --json` writes: its cells are text, in a list for each row."""
    notes = Notes(Reading(by_value=True))
    found = _JSON_VERSION.search(text) if '"testcases"' in text else None
    for notes.at, test in flat_objects(text, _KEYS):
        if notes.reading.full(notes.at, patience(text)):
            break
        if isinstance(test, str):
            notes.text = "an entry of testcases"
            notes.problem(test)
            continue
        notes.text = str(test.get("name"))[:100]
        notes.see()
        _test(test, found[1] if found else "", notes)
    return notes.reading


def _test(test: dict[str, Any], version: str, notes: Notes) -> None:
    description, cells = test.get("bandwidth_description"), _matrix_of(test.get("bandwidth_matrix"))
    described = _DESCRIPTION.match(description) if isinstance(description, str) else None
    if described is None or cells is None:
        notes.problem("no description of a matrix, or no matrix")
        return
    matrix = _matrix(version, str(test.get("name", ""))[:80], described[0], described[1])
    told = excerpt(described[0])
    for row, words in enumerate(cells):
        notes.text = f"row {row} of {told}"
        matrix.cells(str(row), [str(word)[:40] for word in words], notes)
        notes.reading.looked += 1
        if row > _MOST_ROWS and notes.reading.full(notes.at, _MOST_ROWS):
            break
    matrix.close(notes.reading)


def _matrix_of(cells: object) -> list[list[Any]] | None:
    return cells if isinstance(cells, list) and all(isinstance(row, list) for row in cells) else None


def _may_hold(text: str) -> bool:
    return any(sign in text for sign in ("nvbandwidth", "memcpy ", "memory latency")) and any(
        f"({unit})" in text for unit in UNITS
    )


READER = Reader(
    "nvbandwidth", "matrices under 'memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)'", _may_hold, _parse, _parse_text
)
