"""OSU micro-benchmarks (OMB): latency, bandwidth, message rate, collectives, one-sided; headers of every version.

Sizes are what the formulas call n. Non-blocking collectives: `seconds` is the pure communication time.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from orrery_analytic.logs.osu_headers import (
    FULL,
    NO_LAUNCH,
    TITLE,
    Launch,
    Test,
    is_header,
    launched,
    memory,
    named,
    started,
    under_header,
    unknown_unit,
)
from orrery_analytic.logs.rows import Rows, out_of_range, plain, read_lines
from orrery_analytic.logs.table import OF_A_HEADER, Problem, Reader, Reading
from orrery_analytic.logs.text import Lines, excerpt, strip_prefix

__all__ = ["READER"]

# Printed value / this = value in SI units, if its header names no unit.
_SCALES = {"bandwidth_bytes_per_s": 1e-6, "overlap": 100.0, "messages_per_s": 1.0, "iterations": 1.0, "size": 1.0}
_MICROSECONDS = 1e6
_BUFFERS = re.compile(r"Send Buffer on (\w+).*?Receive Buffer on (\w+)")
_PAIRS = re.compile(r"\[ ?pairs: (\d{1,9})")
_DATATYPE = re.compile(r"# ?Datatype: (\w+)", re.IGNORECASE)
_WORLD = re.compile(r"I am \d{1,9} of (\d{1,9})\b")
_VERDICTS = {"pass": "pass", "passed": "pass", "fail": "fail", "failed": "fail"}
_ABSENT = {"n/a", "na", "-", "--"}
# A size and a value as OSU prints them, wherever they stand.
_ROW = re.compile(r"\d\s+\d+\.\d\d(?:\s|$)")
_NUMBER = re.compile(r"(?:^| )\d")
_CLOCK = re.compile(r"(?:^| )(?:\d{1,3}-)?\d\d:\d\d:\d\d(?: |$)")
_VALUE = re.compile(r"\d{1,12}\.\d\d")
_AGAIN = "sizes start again without a header; read as rows of the table above"
_OUTSIDE = "the mean does not lie between the least and the most"
_PASS = r"[ \t]++Pass"
# What titles and headers begin with, of OSU and other tools.
_HEADS = frozenset("#aAbBnNoOsStT")
# What is shorter and begins with no size is no row, not even of a barrier (`2.75`), and no heading.
_SHORTEST = 4
# Headers of other tools, whose rows are not ours.
_FOREIGN = re.compile(
    r"# ?(?:size (?:count|n)|bytes|benchmarking|nthreads?|nccl-tests|out-of-place)\b|transfer size \(bytes\)",
    re.IGNORECASE,
)


@dataclass
class _Parser:
    """What is known while the lines of a log go by."""

    reading: Reading = field(default_factory=Reading)
    test: Test | None = None
    title: tuple[int, str] | None = None
    launch: Launch = NO_LAUNCH
    rows: Rows = field(default_factory=lambda: Rows({}))
    size: float = 0.0
    fields: list[str] = field(default_factory=list)
    """Words of the row above, whose size is `size`."""

    def problem(self, number: int, what: str, line: str) -> None:
        """Note a line that looks like data and is not read in full."""
        self.reading.problems.append(Problem(number, f"{what}: {excerpt(line)}"))

    def see(self, number: int, line: str) -> None:
        """Note where the format is first seen."""
        self.reading.seen = self.reading.seen or Problem(number, excerpt(line))

    def close(self) -> None:
        """End a table: its rows become a block."""
        if self.rows and self.test:
            columns = self.rows.columns()
            for name in columns.keys() - {"rest", "validation"}:
                printed = np.asarray(columns[name])
                scale = self.test.scales.get(name)
                columns[name] = printed * scale if scale else printed / _SCALES.get(name, _MICROSECONDS)
            columns["n"] = columns.get("size", np.zeros(len(columns[self.test.names[0]])))  # a barrier carries nothing
            self.rows.close(self.reading, self.test.constants, columns)
            self.title = None
        self.size = 0.0

    def end(self, test: Test | None = None) -> Reading:
        """End a table and what its title said; a title without a row is a problem."""
        self.close()
        if self.title:
            self.problem(self.title[0], "no measured row under", self.title[1])
        self.test, self.title = test, None
        return self.reading

    def tell(self, **constants: Any) -> None:
        """Add to what holds for the rows below, and for these alone."""
        self.close()
        self.test = (self.test or Test({})).told(**constants)

    def line(self, number: int, line: str, fields: list[str], cut: bool) -> None:
        """Take a line that is not blank, and its words; `cut` if the log ends in it, without a line feed."""
        if not fields[0].isdecimal():
            if len(line) < _SHORTEST:
                return
            line = strip_prefix(line)
            fields = line.split()
        if not fields:
            return
        if not fields[0].isdecimal():
            self.text(number, line, fields, cut)
        elif self.test and self.test.sized:
            self.row(self.test, number, line, fields, cut)
        elif _ROW.search(line):
            self.problem(number, "a row without its title or header above it", line)

    def text(self, number: int, line: str, fields: list[str], cut: bool) -> None:
        """Take a line that does not begin with a size."""
        flat = " ".join(fields)[:400]
        heads = flat[0] in _HEADS
        if heads and (title := TITLE.match(flat)):
            if self.rows or not self.title or self.title[1] != flat:  # several ranks may print it
                self.end(started(named(title[1], title[2]), self.launch))
                self.title, self.launch = (number, flat), NO_LAUNCH
                self.see(number, flat)
        elif heads and _FOREIGN.match(flat):
            self.end()
        elif heads and is_header(flat):
            self.close()
            self.reading.looked += OF_A_HEADER
            self.test = under_header(self.test or Test({}), flat)
            self.see(number, flat)
            if flat[0] == "#" and (unit := unknown_unit(flat)):
                self.test = replace(self.test, columns=())
                self.problem(number, f"the unit {unit} is not known: under it no row is read", line)
            kept = [column for column in self.test.columns if column != "rest"]
            if len(set(kept)) < len(kept):
                self.problem(number, "the header names a column twice; the first is read", line)
        elif self.note(line, flat):
            return
        elif self.test and not self.test.sized and fields[0][:1].isdecimal():
            self.row(self.test, number, line, fields, cut)
            if self.rows:  # one is all that a barrier prints
                self.end()
        elif (
            self.test
            and (_ROW.search(line) or ((flat[0] != "#" or flat[1:2] == "#") and _looks_like_row(fields)))
            and not _CLOCK.search(flat)
        ):
            self.problem(number, "looks like a row, but it does not begin with a size", line)

    def note(self, line: str, flat: str) -> bool:
        """Take what is said beside the rows: element type, memory, ranks, command line."""
        if "pairs:" in flat and (pairs := _PAIRS.search(flat)):
            self.tell(ranks=2.0 * int(pairs[1]))
        elif flat[0] == "#" and (datatype := _DATATYPE.match(flat)):
            self.tell(datatype=datatype[1])
        elif "Receive Buffer" in flat and (buffers := _BUFFERS.search(flat)):
            self.tell(**memory(buffers[1].lower(), buffers[2].lower()))
        elif flat[0] == "I" and (world := _WORLD.match(flat)):
            self.launch = self.launch._replace(ranks=float(world[1]))
        elif "osu_" in line and (launch := launched(line)):
            self.launch = launch
        else:
            return False
        return True

    def row(self, test: Test, number: int, line: str, fields: list[str], cut: bool) -> None:
        """Take a line that begins like a row."""
        values, verdict, more = _values(fields)
        if cut or more or not test.fits(values):
            words = " ".join(fields[1:])
            if len(values) == 1 and ((len(fields) > 3 and not _NUMBER.search(words)) or _CLOCK.search(words)):
                return  # prose: "1 more process has ..."; a table of jobs: "1234 00:01:02 COMPLETED"
            # A word may follow a value (`8.43 <- switch`), but not a count (`4 ranks`, `1024 2 of them`).
            fault = _fault(test, values, cut or more) or (more and "." not in fields[test.main] and "no measured value")
            if fault or (cut and self.shortened(fields)):
                self.problem(number, fault or "row breaks off", line)
                return
            self.fit(test, number, line, values)
        if test.sized and values[0] < self.size:
            self.problem(number, _AGAIN, line)
        if len(values) > 2 and not all(value >= 0 or math.isnan(value) for value in values):
            self.problem(number, "a value is negative", line)
            values = [value if value >= 0 else math.nan for value in values]
        mean, least, most = (values[test.sized :] + [math.nan] * 3)[:3]
        if test.ranged and (mean < least or mean > most):
            self.problem(number, _OUTSIDE, line)
        names = (self.test or test).names[: len(values)]
        if verdict:
            self.rows.add(number, (*names, "validation"), (*values, verdict))
        else:
            self.rows.add(number, names, values)
        self.size, self.fields = values[0], fields

    def many(self, chunk: list[tuple[int, str]]) -> int:
        """Take the rows that lines begin with, all at once, if they are plain ones; return how many there are."""
        test = self.test
        if test is None or not test.sized or test.main < 0:
            return 0
        passed = chunk[0][1].rstrip().endswith("Pass")
        values = plain(chunk, len(test.names), _PASS if passed else "")
        if rows := len(values):
            again = np.flatnonzero(np.diff(values[:, 0], prepend=self.size) < 0)
            outside = out_of_range(*values[:, 1:4].T) if test.ranged else ()
            for what, places in ((_AGAIN, again), (_OUTSIDE, outside)):
                for at in places:
                    self.problem(chunk[at][0], what, strip_prefix(chunk[at][1]))
            columns: dict[str, Any] = dict(zip(test.names, values.T, strict=True))
            if passed:
                columns["validation"] = np.full(rows, "pass", dtype=object)
            self.rows.many([number for number, _ in chunk[:rows]], columns)
            self.size, self.fields = values[-1, 0], strip_prefix(chunk[rows - 1][1]).split()
        return rows

    def fit(self, test: Test, number: int, line: str, values: list[float]) -> None:
        """Settle what to do with a row that is wider or shorter than its header."""
        named, measured = len(test.columns), len(values) - test.sized
        if test.columns == ("seconds",) and _is_full(values[test.sized :]):
            scales = dict.fromkeys(FULL[:3], test.scales["seconds"]) if test.scales else {}
            self.test = replace(test, columns=FULL, scales=scales)
        elif measured != named:
            self.problem(number, f"{measured} values where the header names {named}", line)
            # Of a row that is too short, no more than the first value is sure.
            del values[(named if measured > named else 1) + test.sized :]

    def shortened(self, fields: list[str]) -> bool:
        """Tell whether the last value has fewer decimals than that of the row above: the file ends inside a number."""
        last = len(fields) - 1
        return bool(self.rows) and last < len(self.fields) and _decimals(fields[last]) < _decimals(self.fields[last])


def _values(fields: list[str]) -> tuple[list[float], str, bool]:
    """Return the numbers at the front of a row, Pass or Fail among them, and whether other words follow."""
    values: list[float] = []
    verdict = ""
    for word in fields:
        try:
            value = float(word.replace("_", "x"))  # Python would take 1_0 for 10
            values.append(value if value < math.inf else math.nan)
        except ValueError:
            if word.lower() in _VERDICTS:
                verdict = _VERDICTS[word.lower()]
            elif word.lower() in _ABSENT:
                values.append(math.nan)
            else:
                return values, verdict, True
    return values, verdict, False


def _fault(test: Test, values: list[float], incomplete: bool) -> str:
    """Say why the values of a row cannot be taken; `incomplete` if they may be fewer, or shorter, than were printed."""
    if not test.columns:
        return "no header says what this row measures"
    width = len(test.columns) + test.sized
    if len(values) <= test.main or (len(values) < width and incomplete):
        return "row breaks off"
    return "" if test.fits((values + [math.nan] * width)[:width]) else "no measured value"


def _is_full(measured: list[float]) -> bool:
    """Tell whether four values are mean, least, most and a count; option -f prints them, some headers name only one."""
    if len(measured) != len(FULL):
        return False
    mean, least, most, count = measured
    return least <= mean <= most and count >= 1 and count.is_integer()


def _decimals(word: str) -> int:
    return len(word.partition(".")[2])


def _looks_like_row(fields: list[str]) -> bool:
    """Tell whether a short line is mostly numbers, perhaps broken ones."""
    if len(fields) > 10:
        return False
    numbers = sum(word.lstrip("+-.")[:1].isdecimal() for word in fields)
    return 2 * numbers > len(fields) or _VALUE.fullmatch(fields[1] if 2 <= len(fields) <= 3 else "") is not None


def _may_hold(text: str) -> bool:
    return any(sign in text for sign in ("OSU", "OMB", "(us)", "MB/s"))


def _parse(lines: Lines) -> Reading:
    return read_lines(_Parser(), lines)


READER = Reader("OSU micro-benchmarks", "a title '# OSU ... Test' or a header '# Size ... (us)'", _may_hold, _parse)
