"""nccl-tests and rccl-tests, text of every age, and the tests of NCCL 1.

Out-of-place and in-place are two points. `size` is the total that the tools print; `n` is in the convention of the
formulas. Where no line names the collective or the ranks, they are concluded from the rows (see `nccl_points`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from orrery_analytic.logs.nccl_points import PROGRAM, Points, Run, block, library
from orrery_analytic.logs.nccl_rows import ROW, Header, Row, header, holds_row, many, more_values, pair, row, types
from orrery_analytic.logs.table import OF_A_ROW, Problem, Reader, Reading, chunks
from orrery_analytic.logs.text import Lines, excerpt, strip_prefix

__all__ = ["READER"]

_SETTINGS = re.compile(
    r"nThread \d+ nGpus \d+ minBytes (\d{1,18}) maxBytes (\d{1,18}) step: (\d{1,18})\((factor|bytes)\) "
    r"warmup iters: (\d{1,9})\s+iters: (\d{1,9})(?:\s+agg iters: (\d{1,9}))?"
)
_DEVICE = re.compile(
    r"Rank\s{1,9}(\d{1,7})\s+(?:Group\s{1,9}(\d{1,7})\s+)?(?:Pid\s{1,9}\d+\s+)?(?:on|uses)\b.*?\bdevice\s+\d+"
    r"(?:\s+\[[^\]]{0,40}\])?(.{0,100})"
)
_DEVICE_OF_NCCL_1 = re.compile(r"Device\s{1,9}(\d{1,7}) -> +\d+ (?:\[[^\]]{0,40}\])?(.{0,100})")
_VERSION = re.compile(r"nccl-tests version (\S{1,40})|rccl-tests: Version (\S{1,80})")
_LIBRARY = re.compile(r"nccl-library=(\d{4,6})\b|\b([NR]CCL) version *:? *(\d{1,3}\.\d[\w.+-]{0,60})")
_RANKS = re.compile(r"\bn[rR]anks (\d{1,7})\b")
# What begins a run, in the versions that print it.
_BEGINS = ("nThread ", "nccl-tests version", "Collective test starting")
_HEADINGS = ("algbw", "busbw")
_NOTES = (*_BEGINS, "_perf", "_test", "Rank ", "Device ", "rccl-tests: Version", "CCL version", "nranks ", "nRanks ")
# A row that ends before its type; columns are wide.
_CUT = re.compile(r"(?:\[\S{1,80}(?:>:|\]))?\s*(?:\s{5}\d{1,12}|\s\d{6,18})(?:\s+\d{1,18})?\s*")
_INDENTS = frozenset(" [")
# So many rows with one result are named one by one.
_MOST_LONE = 1000
_DEBUG = re.compile(r"\b[NR]CCL\b")


@dataclass
class _Parser:
    """What is known while the lines of a log go by."""

    reading: Reading = field(default_factory=Reading)
    run: Run = field(default_factory=Run)
    told: Header | None = None
    points: Points = field(default_factory=Points)
    pending: tuple[int, str, Row] | None = None
    devices: dict[str, set[int]] = field(default_factory=dict)
    lone: list[tuple[int, str]] = field(default_factory=list)
    """Rows of the table with one result."""
    pairs: bool = False
    """Whether the table has rows with two."""
    measured: bool = False
    """Whether rows have come since the run began: the next line about a run is about another one."""
    named: str = ""
    """A program that was named since: it will be that of the next run."""

    def problem(self, number: int, what: str, line: str) -> None:
        """Note a line that looks like data and is not read in full."""
        self.reading.problems.append(Problem(number, f"{what}: {excerpt(line)}"))

    def close(self) -> None:
        """End a table: its rows become a block."""
        self.settle()
        if self.points:
            ranks = self._ranks()
            self.reading.blocks.append(block(self.points, replace(self.run, ranks=ranks) if ranks else self.run))
        for number, line in self.lone[:_MOST_LONE] if self.pairs else ():
            self.problem(number, "one result where other rows have two", line)
        if self.pairs and len(self.lone) > _MOST_LONE:
            more = f"{len(self.lone) - _MOST_LONE} more rows from here on have one result where others have two"
            self.problem(self.lone[_MOST_LONE][0], more, self.lone[_MOST_LONE][1])
        self.points, self.lone, self.pairs = Points(), [], False

    def _ranks(self) -> float | None:
        """Return how many ranks the device list shows: it may be cut at its head; groups are apart."""
        if len(self.devices) > 1:
            sizes = {len(group) for group in self.devices.values()}
            return float(sizes.pop()) if len(sizes) == 1 else None
        return float(max(group) + 1) if (group := next(iter(self.devices.values()), None)) else None

    def settle(self, last: bool = False) -> None:
        """Take the row that waited for more of itself; `last` if the log ends in it: then its end is not sure."""
        if not self.pending:
            return
        number, line, unfinished = self.pending
        self.pending = None
        if last and unfinished.fault == "row breaks off" and not unfinished.results:
            self.problem(number, "row breaks off", line)
            return
        told = self.told or Header(deviation="e" in "".join(unfinished.words[3:4]).lower())
        points, fault = unfinished.points(number, told)
        if fault or not points:
            self.problem(number, fault or "row breaks off", line)
        elif unfinished.results == 1:
            self.lone.append((number, line))
        self.pairs = self.pairs or unfinished.results == 2
        self.points.take(points)
        self.measured = self.measured or bool(points)

    def many(self, chunk: list[tuple[int, str]]) -> int:
        """Take the rows that lines begin with, all at once, if they are as most are; return how many there are."""
        each, results = many(chunk, self.told)
        if not results:
            return 0
        taken = chunk[: len(each["line"])]
        self.settle()
        if len(results) == 1:
            self.lone += taken
        self.pairs = self.pairs or len(results) == 2
        self.points.together(each, results)
        self.measured = True
        return len(taken)

    def rows(self, number: int, line: str) -> bool:
        """Take a line in which a type is named; tell whether a row begins in it."""
        if points := pair(line, number, self.told):
            self.settle()
            self.points.take(points)
            self.pairs = self.measured = True
            return True
        found = begins = ROW.search(line)
        self.reading.looked += OF_A_ROW
        while begins:
            following = ROW.search(line, begins.end())
            part = line[: following.start()] if following else line
            self.settle()
            self.pending = (number, line, row(part, begins))
            begins = following
        return found is not None

    def other(self, number: int, line: str) -> None:
        """Take a line with several decimals that is no row and no heading: more of a row, or a broken one."""
        if self.pending and self.pending[2].open and (more := more_values(strip_prefix(line))):
            at, first, unfinished = self.pending
            self.pending = (at, first, unfinished._replace(words=unfinished.words + more))
        elif self.told and not _DEBUG.search(line):
            words = line.replace("|", " ").split()
            if sum(word.lstrip("+-.")[:1].isdecimal() for word in words) >= 8:
                self.problem(number, "looks like a row, but size, count and type are not there", line)

    def heading(self, number: int, line: str) -> None:
        """Take a line that may be a header."""
        told = header(line)
        if told is None:
            return
        self.close()
        if self.named:
            self.begin()
        self.told = told
        self.reading.seen = self.reading.seen or Problem(number, excerpt(line))
        if told.of_cpu:
            self.problem(number, "times are those of enqueueing (-C 1): seconds stay empty", line)

    def begin(self) -> None:
        """Start a run."""
        self.close()
        self.run, self.told, self.devices = Run(program=self.named), None, {}
        self.measured, self.named = False, ""

    def note(self, number: int, line: str) -> None:
        """Take what is said beside the rows: program, versions, settings, devices."""
        begins = any(sign in line for sign in _BEGINS)
        if begins and (self.measured or self.pending or self.devices):
            self.begin()
        if "_perf" in line or "_test" in line:
            programs = {name[0] for name in PROGRAM.finditer(line)}
            if len(programs) == 1:
                self.name(programs.pop(), ends="concluded:" in line)
        if begins:
            self.see(number, line)
        if "ersion" in line or "library=" in line:
            self.versions(line)
        device = ("Rank " in line and _DEVICE.search(line)) or ("Device " in line and _DEVICE_OF_NCCL_1.search(line))
        if device:
            self.device(number, line, device)
        elif "anks " in line and math.isnan(self.run.ranks) and (ranks := _RANKS.search(line)):
            self.run = replace(self.run, ranks=float(ranks[1]))

    def see(self, number: int, line: str) -> None:
        """Take a line that begins a run; it may hold its settings."""
        self.reading.seen = self.reading.seen or Problem(number, excerpt(line))
        if settings := _SETTINGS.search(line):
            least, most, step, kind, warmup, repeats, together = settings.groups()
            self.run = replace(
                self.run,
                sweep=(int(least), int(most), int(step), kind == "factor"),
                warmup=float(warmup),
                iterations=float(repeats) * float(together or 1),
            )

    def versions(self, line: str) -> None:
        """Take the versions that a line names, of the tests or of the library."""
        if version := _VERSION.search(line):
            self.run = replace(self.run, version=version[1] or version[2])
        if versions := _LIBRARY.search(line):
            named = f"NCCL {library(versions[1])}" if versions[1] else f"{versions[2]} {versions[3]}"
            self.run = replace(self.run, library=named)

    def name(self, program: str, ends: bool) -> None:
        """Take the name of a program: of this run, or, after its rows, of the next one."""
        if not ends and (self.measured or self.pending):
            self.named = program
        elif program != self.run.program and not (ends and self.run.program):
            self.run = replace(self.run, program=program)

    def device(self, number: int, line: str, device: re.Match[str]) -> None:
        """Take a line of the device list."""
        if self.measured or self.pending:
            self.begin()
        rank, group = int(device[1]), (device[2] if device.lastindex == 3 else None) or "0"
        if rank in self.devices.setdefault(group, set()) and rank == 0:
            self.problem(number, "rank 0 a second time: runs without MPI print into each other; all are read", line)
        self.devices[group].add(rank)
        self.run = replace(self.run, device=device[device.lastindex or 0].strip() or self.run.device)


def _may_hold(text: str) -> bool:
    return any(sign in text for sign in (*_HEADINGS, *_BEGINS)) or holds_row(text)


def _places(text: str, sign: str) -> Iterator[int]:
    at = text.find(sign)
    while at >= 0:
        yield at
        at = text.find(sign, at + 1)


def _parse(lines: Lines) -> Reading:
    parser = _Parser()
    final = next((number for number in range(len(lines), 0, -1) if lines[number - 1].strip()), 0)
    typed = {*lines.numbers(types(lines.text))}
    headings, notes = (
        {number for sign in signs for number in lines.numbers(_places(lines.text, sign))}
        for signs in (_HEADINGS, _NOTES)
    )
    for chunk in chunks(lines, parser.reading):
        taken = parser.many(chunk)
        parser.reading.looked -= taken
        for number, line in chunk[taken:]:
            if number in typed and parser.rows(number, line):
                continue
            if number in headings or number in notes:
                if number in headings:
                    parser.heading(number, line)
                if number in notes:
                    parser.note(number, line)
            elif line.count(".") > 1 and line[0] != "#":
                parser.other(number, line)
            elif line[:1] in _INDENTS and parser.told and _CUT.fullmatch(line):
                parser.problem(number, "row breaks off", line)
    parser.settle(last=parser.pending is not None and parser.pending[0] == final)
    parser.close()
    return parser.reading


READER = Reader(
    "nccl-tests or rccl-tests",
    "a header '# size count type redop root time algbw busbw #wrong', or rows of that kind",
    _may_hold,
    _parse,
)
