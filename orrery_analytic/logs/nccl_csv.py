"""Tables of nccl-tests results as comma-separated values: rccl-tests -Z csv, and what people make themselves.

Columns are known by their names. Names that come twice (`time` ... `time`, or `time` ... `time.1`) are those of the
out-of-place and of the in-place result.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from orrery_analytic.logs.csv_cells import split, table, value, values
from orrery_analytic.logs.nccl_points import Point, Points, Run, block
from orrery_analytic.logs.rows import number
from orrery_analytic.logs.table import OF_A_HEADER, Problem, Reader, Reading, chunks
from orrery_analytic.logs.text import Lines, excerpt, strip_prefix

__all__ = ["READER"]

# What a name says, flattened to small letters; the first that fits.
_ROLES = (
    ("algbw", re.compile(r"alg\w*b(?:w|andwidth)")),
    ("busbw", re.compile(r"bus\w*b(?:w|andwidth)")),
    ("wrong", re.compile(r"#?n?wrong|error|outofbounds")),
    ("ignored", re.compile(r"timestamp|nodes$|ranksper|pernode|cycle")),
    ("gpus_per_rank", re.compile(r"gpusperrank")),
    ("in_place", re.compile(r"is_?inplace$|inplace$")),
    ("time", re.compile(r"time|latency")),
    ("size", re.compile(r"size|bytes|^b$")),
    ("count", re.compile(r"count|elements")),
    ("reduction", re.compile(r"redop|^op$")),
    ("root", re.compile(r"^root")),
    ("datatype", re.compile(r"type")),
    ("collective", re.compile(r"collective|^name|^test|operation|^algo")),
    ("ranks", re.compile(r"ranks|gpus|nproc|worldsize")),
)
_DIGIT = re.compile(r"\d")
_TIME = re.compile(r"time|latency", re.IGNORECASE)
_TRUE = {"1", "true", "yes", "in-place", "inplace"}
_TWICE = {"time", "algbw", "busbw", "wrong"}
_UNITS = {"us": 1e6, "ms": 1e3, "ns": 1e9, "s": 1.0}
_UNIT = re.compile(r"(?:time|latency)[ _]?[(\[]?(us|ms|ns|s)[)\]]?(?:\.\d+)?$")
_PLACE = re.compile(r"(?P<out>oop|outofplace)|(?P<within>^ip|inplace)")
_SIGNS = ("algbw", "busbw", "alg_bw", "bus_bw", "bus bw", "bus bandwidth", "algorithm bandwidth")
_SIGN = re.compile("|".join(_SIGNS), re.IGNORECASE)
_DELIMITERS = (",", ";", "\t")
_TOLD = ("count", "datatype", "reduction", "root", "in_place", "collective", "ranks", "gpus_per_rank")
_GIGA = 1e9


class _Column(NamedTuple):
    """What a column holds; `in_place` counts where a result can come twice."""

    role: str
    in_place: bool
    units_per_second: float = 1e6


def _column(name: str, seen: set[tuple[str, bool]]) -> _Column:
    """Return what the column of that name holds, after those in `seen`."""
    low = name.strip().strip('"').lower()
    flat = re.sub(r"[^a-z#_]", "", low).replace("_", "")
    role = next((role for role, pattern in _ROLES if pattern.search(flat)), "ignored")
    if role not in _TWICE:
        return _Column(role, False)
    place = _PLACE.search(flat)
    in_place = bool(place and place["within"]) or (not place and (role, False) in seen)
    unit = _UNIT.search(low)
    return _Column(role, in_place, _UNITS[unit[1]] if unit else 1e6)


@lru_cache(maxsize=256)
def _columns(text: str, delimiter: str) -> list[_Column]:
    """Return the columns that a header names, [] if it is none: it has a size, a time and a bandwidth."""
    columns: list[_Column] = []
    cells = split(text, delimiter) if _TIME.search(text) else []
    for cell in cells:
        columns.append(_column(cell, {(column.role, column.in_place) for column in columns}))
    roles = {column.role for column in columns}
    known = {"size", "time"} <= roles and roles & {"algbw", "busbw"}
    return columns if known and len(cells) < 100 and not any(_is_number(cell) for cell in cells) else []


def _is_number(cell: str) -> bool:
    value = number(cell.strip())
    return value is not None and not math.isnan(value)


def _short(text: str) -> str:
    return text[:20]


def _is_true(flag: str) -> bool:
    return flag.lower() in _TRUE


def _each(texts: Sequence[str], told: Callable[[str], Any]) -> list[Any]:
    """Return what is told of each text, asked once where all are the same, as they mostly are."""
    return [told(texts[0])] * len(texts) if _alike(texts) else list(map(told, texts))


def _alike(texts: Sequence[str]) -> bool:
    return texts.count(texts[0]) == len(texts)


class _Result(NamedTuple):
    """Where the values of a result stand in a row; -1 for one that is not there, which is the empty last cell."""

    in_place: bool
    units_per_second: float
    time: int
    algbw: int
    busbw: int
    wrong: int


def _results(columns: Sequence[_Column]) -> list[_Result]:
    results = []
    for in_place in (False, True):
        at = {column.role: place for place, column in enumerate(columns) if column.in_place is in_place}
        if "time" in at:
            scale = columns[at["time"]].units_per_second
            places = [at.get(role, -1) for role in ("time", "algbw", "busbw", "wrong")]
            results.append(_Result(in_place, scale, *places))
    return results


@dataclass
class _Parser:
    reading: Reading = field(default_factory=Reading)
    columns: Sequence[_Column] = ()
    delimiter: str = ","
    width: int = 0
    nodes_unnamed: bool = False
    at: dict[str, int] = field(default_factory=dict)
    told: list[int] = field(default_factory=list)
    """Where the values of `_TOLD` stand in a row; -1 as in a result."""
    results: list[_Result] = field(default_factory=list)
    points: Points = field(default_factory=Points)
    test: tuple[str, str, str] = ("", "", "")
    """Collective, ranks and GPUs a rank, as the rows above say them."""

    def close(self) -> None:
        """End a table: its rows become a block."""
        if self.points:
            collective, ranks, each = self.test
            total = value(ranks) * (value(each) if value(each) > 0 else 1)
            known = total >= 1 and total.is_integer()
            self.reading.blocks.append(block(self.points, Run(collective[:40], ranks=total if known else math.nan)))
        self.points = Points()

    def line(self, number_: int, line: str) -> None:
        """Take a line."""
        low = "" if line[:1].isdecimal() else line.lower()
        if ("alg" in low or "bus" in low) and "{" not in low and _SIGN.search(low):
            self.reading.looked += OF_A_HEADER
            text = strip_prefix(line).lstrip("# ")
            for delimiter in _DELIMITERS:
                if text.count(delimiter) > 1 and (columns := _columns(text, delimiter)):
                    self.header(columns, delimiter)
                    self.reading.seen = self.reading.seen or Problem(number_, excerpt(line))
                    return
        if self.width and line.count(self.delimiter) > 1 and _DIGIT.search(line):
            bare = line.partition(self.delimiter)[0].isdecimal()
            self.row(number_, line, split(line if bare else strip_prefix(line), self.delimiter))

    def many(self, chunk: list[tuple[int, str]]) -> int:
        """Take lines all at once, if each is a row in full of the test above it; return how many they are."""
        width = self.width + self.nodes_unnamed if self.width else 0
        first = split(chunk[0][1], self.delimiter)
        if not width or len(first) != width or not value(first[self.at["size"]]) >= 0:
            return 0
        rows = table([line for _, line in chunk], self.delimiter, width)
        if not rows:
            return 0
        if self.nodes_unnamed:
            del rows[2]
        rows.append([""] * len(chunk))  # for what is not there
        told = dict(zip(_TOLD, (rows[place] for place in self.told), strict=True))
        test = (told["collective"][0], told["ranks"][0], told["gpus_per_rank"][0])
        alike = all(_alike(told[name]) for name in ("collective", "ranks", "gpus_per_rank"))
        size = values(rows[self.at["size"]])
        times = [values(rows[result.time]) / result.units_per_second for result in self.results]
        if not alike or not all((time >= 0).all() for time in times) or not ((size >= 0) & (size % 1 == 0)).all():
            return 0
        if test != self.test:
            self.close()
            self.test = test
        each: dict[str, Any] = {
            "line": [number_ for number_, _ in chunk],
            "size": size,
            "elements": values(told["count"]),
            "datatype": _each(told["datatype"], _short),
            "reduction": _each(told["reduction"], _short),
            "root": values(told["root"]),
        }
        flagged = np.array(_each(told["in_place"], _is_true))
        points: list[dict[str, Any]] = []
        for result, time in zip(self.results, times, strict=True):
            algbw, busbw, wrong = (values(rows[place]) for place in (result.algbw, result.busbw, result.wrong))
            measured = {"seconds": time, "algbw": algbw * _GIGA, "busbw": busbw * _GIGA, "wrong": wrong}
            points.append({"in_place": flagged | result.in_place, **measured})
        self.points.together(each, points)
        return len(chunk)

    def header(self, columns: Sequence[_Column], delimiter: str) -> None:
        """Begin a table."""
        self.close()
        if columns is self.columns:
            return
        self.columns, self.delimiter, self.width, self.results = columns, delimiter, len(columns), _results(columns)
        self.at = {column.role: place for place, column in enumerate(columns) if column.role not in _TWICE}
        self.told = [self.at.get(role, -1) for role in _TOLD]
        # rccl-tests writes nodes, which its header leaves out.
        self.nodes_unnamed = "gpus_per_rank" in self.at and self.at.get("collective") == 1

    def row(self, number_: int, line: str, cells: list[str]) -> None:
        """Take a row: its points are those results whose time is a number."""
        if self.nodes_unnamed and len(cells) == self.width + 1:
            del cells[2]
        fault = "" if len(cells) == self.width else f"{len(cells)} values where the header names {self.width}"
        cells += [""] * max(1, self.width + 1 - len(cells))
        cells[-1] = ""
        count, datatype, reduction, root, flag, *test = [cells[place] for place in self.told]
        size = value(cells[self.at["size"]])
        if not (size >= 0 and size.is_integer()):
            if sum(not math.isnan(value(cell)) for cell in cells) > 2:
                self.reading.problems.append(Problem(number_, f"no size where the header says: {excerpt(line)}"))
            return
        if tuple(test) != self.test:
            self.close()
            self.test = (test[0], test[1], test[2])
        told = (value(count), _short(datatype), _short(reduction), value(root))
        flagged = _is_true(flag)
        for result in self.results:
            seconds = value(cells[result.time]) / result.units_per_second
            if not seconds >= 0:
                fault = fault or "no measured time"
                continue
            bandwidths = (value(cells[result.algbw]) * _GIGA, value(cells[result.busbw]) * _GIGA)
            check = (value(cells[result.wrong]), math.nan)
            place = result.in_place or flagged
            self.points.take([Point(number_, size, *told, place, seconds, math.nan, *bandwidths, *check)])
        if fault:
            self.reading.problems.append(Problem(number_, f"{fault}: {excerpt(line)}"))


def _may_hold(text: str) -> bool:
    low = text.lower()
    return any(sign in low for sign in _SIGNS) and any(delimiter in text for delimiter in _DELIMITERS)


def _parse(lines: Lines) -> Reading:
    parser = _Parser()
    for chunk in chunks(lines, parser.reading):
        taken = parser.many(chunk)
        parser.reading.looked -= taken
        for number_, line in chunk[taken:]:
            if "," in line or ";" in line or "\t" in line:
                parser.line(number_, line)
    parser.close()
    return parser.reading


READER = Reader(
    "nccl-tests results as comma-separated values",
    "a header that names size, time and algbw or busbw",
    _may_hold,
    _parse,
)
