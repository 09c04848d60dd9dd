"""Rows of nccl-tests text: size, count and type, perhaps operation and root, then one result or two of 4 to 9 values.

What a row holds shows in the row: it begins with two whole numbers and a type, wherever that stands in the line, and
its width tells the rest. Headers tell less: old ones name columns that the rows leave out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np

from orrery_analytic.logs.csv_cells import values
from orrery_analytic.logs.nccl_points import DATATYPE, Point
from orrery_analytic.logs.rows import joined, number

__all__ = ["ROW", "Header", "Row", "header", "holds_row", "many", "more_values", "pair", "row", "types"]

_TYPE = re.compile(rf"{DATATYPE}(?![\w.])")
_BEFORE_TYPE = re.compile(r"\d[ \t|]+\d{1,18}[ \t|]+$")
# Nothing but a label of launchers, `<stdout>:`, may stand before it without a blank.
ROW = re.compile(rf"(?<![\w./+-])(?<!(?<!>):)(\d{{1,18}})[\s|]+(\d{{1,18}})[\s|]+({DATATYPE})(?![\w.])")
# A row as most are: two results, nothing else; what it does not fit is looked at word by word.
_NUMBER = r"(\d{1,18}+(?:\.\d{0,9}+)?+(?:e[+-]?\d{1,2})?)\s++"
_RESULT = rf"{_NUMBER}{_NUMBER}{_NUMBER}(\d{{1,18}}|N/A|\de[+-]\d\d)"
_PAIR = re.compile(
    rf"(?:\[[^\]\s]{{1,80}}\](?:<stdout>:)?|\s{{0,9}}\d{{1,7}}:)?\s*+(\d{{1,18}})\s++(\d{{1,18}})\s++({DATATYPE})\s++"
    rf"(?:([a-z]\w*+)\s++)?(?:(-?\d{{1,9}})\s++)?{_RESULT}\s++{_RESULT}\s*+$"
)
_LONE = re.compile(_PAIR.pattern.replace(rf"{_RESULT}\s++{_RESULT}", _RESULT))
# What debug output begins with where it breaks into a line; `[0]` also is a label of launchers.
_NOISE = re.compile(r"\[|\S+:\d+:\d+|\b[NR]CCL\b|[`<]")
_ROOT = re.compile(r"-?\d{1,9}")
_WRONG = re.compile(r"-?\d{1,18}|\d{1,9}(?:\.\d{1,9})?e[+-]?\d{1,3}", re.IGNORECASE)
_ABSENT = {"N/A", "NA", "-", ""}
_STAMP = re.compile(r"\s\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\s*$")
# rccl-tests -M 1: algorithm, protocol and channels.
_CHOICE = re.compile(r"\s[A-Za-z]\w*\s+[A-Za-z]\w*\s+\d{1,4}\s*$|\sN/A\s+N/A\s+N/A\s*$")
# Values of a result, and results: 4; 5 with #bitdiff; 8 with i_min i_max i_p99 i_cv%; 9 with both.
_SHAPES = ((4, 2), (4, 1), (8, 2), (5, 2), (9, 2))
# A result that is not there leaves as many blanks.
_GAP = re.compile(r"\s{30,}\S")
_GIGA = 1e9


class Header(NamedTuple):
    """What a header says: whether times are milliseconds (NCCL 1), of the CPU, and whether checks are deviations."""

    milliseconds: bool = False
    of_cpu: bool = False
    deviation: bool = False


class Row(NamedTuple):
    """A row, with the results that are whole, what is wrong with it, and whether more of it may follow."""

    size: float
    elements: float
    datatype: str
    reduction: str
    root: float
    words: tuple[str, ...]
    width: int
    only_in_place: bool
    fault: str

    @property
    def results(self) -> int:
        """How many results are there in full."""
        return len(self.words) // self.width

    @property
    def open(self) -> bool:
        """Whether results are missing that another line may hold: it ends where one would begin."""
        return not self.fault and self.results < 2 and len(self.words) % self.width == 0

    def points(self, line: int, told: Header) -> tuple[list[Point], str]:
        """Return the points of the row, and what is wrong with its values ("" if nothing is)."""
        points, faults = [], [self.fault] if self.fault else []
        for result in range(min(2, self.results)):
            words = self.words[result * self.width :][:4]
            time, algbw, busbw = (number(word) for word in words[:3])
            if time is None or not time >= 0:
                faults.append("no measured time")
                continue
            if algbw is None or busbw is None or not _fits(words[3]):
                faults.append("a value is no number")
            seconds = time / (1e3 if told.milliseconds else 1e6)
            wrong, deviation = _check(words[3], told.deviation)
            points.append(
                Point(
                    line,
                    self.size,
                    self.elements,
                    self.datatype,
                    self.reduction,
                    self.root,
                    self.only_in_place or result == 1,
                    math.nan if told.of_cpu else seconds,
                    seconds if told.of_cpu else math.nan,
                    _bandwidth(algbw),
                    _bandwidth(busbw),
                    wrong,
                    deviation,
                )
            )
        return points, faults[0] if faults else ""


def _bandwidth(value: float | None) -> float:
    return math.nan if value is None or value < 0 else value * _GIGA


def _fits(word: str) -> bool:
    """Tell whether a word is a check: `0`, `1e-06`, `N/A`; an asterisk marks what exceeds a limit."""
    return word.upper() in _ABSENT or bool(_WRONG.fullmatch(word.rstrip("*")))


def _check(word: str, deviation: bool) -> tuple[float, float]:
    """Return wrong elements and deviation; one is NaN, or both."""
    value = number(word.rstrip("*"))
    if value is None or not math.isfinite(value):
        return math.nan, math.nan
    return (math.nan, value) if deviation or not value.is_integer() else (value, math.nan)


def pair(line: str, number_: int, told: Header | None) -> list[Point]:
    """Return the two points of a row as most are, [] if the line is anything else."""
    found = _PAIR.match(line)
    if not found:
        return []
    size, count, datatype, reduction, root, *values = found.groups()
    told = told or Header(deviation="e" in values[3])
    per_second = 1e3 if told.milliseconds else 1e6
    points = []
    for in_place in (False, True):
        time, algbw, busbw, check = values[4:] if in_place else values[:4]
        seconds = float(time) / per_second
        wrong, deviation = (0.0, math.nan) if check == "0" and not told.deviation else _check(check, told.deviation)
        points.append(
            Point(
                number_,
                float(size),
                float(count),
                datatype,
                reduction or "",
                float(root) if root else math.nan,
                in_place,
                math.nan if told.of_cpu else seconds,
                seconds if told.of_cpu else math.nan,
                float(algbw) * _GIGA,
                float(busbw) * _GIGA,
                wrong,
                deviation,
            )
        )
    return points


@cache
def _many(named: bool, rooted: bool, results: int) -> re.Pattern[str]:
    words = [r"\d{1,18}+", r"\d{1,18}+", DATATYPE, *[r"[a-z]\w*+"] * named, *[r"-?\d{1,9}+"] * rooted]
    value = r"\d{1,18}+(?:\.\d{0,9}+)?+(?:e[+-]?\d{1,2}+)?+"
    words += [*[value] * 3, r"(?:\de[+-]\d\d|\d{1,18}+|N/A)"] * results
    row = r"[ \t]{1,29}+".join(words)
    return re.compile(rf"(?:[ \t]*+{row}[ \t]*+\r?\n)+", re.ASCII)


def many(chunk: Sequence[tuple[int, str]], told: Header | None) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the rows that lines begin with, but the last line, if all are as most are and alike, by column.

    The first columns are what a row says of all its results, the others those of each result; without any, there is
    no such row.
    """
    found = _PAIR.match(chunk[0][1])
    results = 2 if found else 1
    found = found or _LONE.match(chunk[0][1])
    rows = _many(bool(found[4]), bool(found[5]), results).match(joined(chunk)) if found else None
    text = rows[0] if rows else ""
    if results == 1:  # more of the last one may stand in the line below
        text = text[: text.rfind("\n", 0, -1) + 1]
    if not text or not found:
        return {}, []
    words = text.split()
    width = len(words) // text.count("\n")
    columns = [words[at::width] for at in range(width)]
    size, count, datatype, *more = columns[: width - 4 * results]
    each: dict[str, Any] = {
        "line": [at for at, _ in chunk[: len(size)]],
        "size": values(size),
        "elements": values(count),
        "datatype": datatype,
        "reduction": more.pop(0) if found[4] else [""] * len(size),
        "root": values(more[0]) if more else np.full(len(size), math.nan),
    }
    told = told or Header(deviation="e" in columns[width - 4 * results + 3][0])
    return each, [
        {"in_place": [in_place] * len(size), **_result(columns[begin : begin + 4], told)}
        for in_place, begin in zip((False, True), range(width - 4 * results, width, 4), strict=False)
    ]


def _result(columns: Sequence[Sequence[str]], told: Header) -> dict[str, Any]:
    """Return the columns of a result: time, both bandwidths, and the check."""
    seconds, algbw, busbw, check = map(values, columns)
    seconds = seconds / (1e3 if told.milliseconds else 1e6)
    nothing = np.full(len(check), math.nan)
    return {
        "seconds": nothing if told.of_cpu else seconds,
        "enqueue_seconds": seconds if told.of_cpu else nothing,
        "algbw": algbw * _GIGA,
        "busbw": busbw * _GIGA,
        "wrong": nothing if told.deviation else np.where(check % 1 == 0, check, math.nan),
        "deviation": check if told.deviation else np.where(check % 1 == 0, math.nan, check),
    }


def types(text: str) -> Iterator[int]:
    """Yield places in a text at which a type of elements is named: there, rows may stand."""
    for found in _TYPE.finditer(text):
        if text[found.start() - 1] in " \t|":
            yield found.start()


def holds_row(text: str) -> bool:
    """Tell whether two whole numbers stand before a type anywhere in a text."""
    return any(_BEFORE_TYPE.search(text, max(0, place - 80), place) for place in types(text))


@lru_cache(maxsize=256)
def header(line: str) -> Header | None:
    """Return what a line says if it is a header."""
    words = line.lower().replace("|", " ").split()
    if "algbw" not in words and "busbw" not in words:
        return None
    of_cpu = "cputime" in words
    if not (of_cpu or "time" in words) or not ("size" in words or "bytes" in words or "type" in words):
        return None
    return Header("bytes" in words and "res" in words, of_cpu, "error" in words or "res" in words)


def _split(words: list[str]) -> tuple[float, int, list[str]]:
    """Return the root (NaN if none), the width of a result, and the words of the results."""
    for width, results in _SHAPES:
        rest = len(words) - results * width
        if rest in (0, 1) and (rest == 0 or _ROOT.fullmatch(words[0])) and _fits(words[rest + 3]):
            return (float(words[0]) if rest else math.nan), width, words[rest:]
    # Of a row that breaks off, or has more values than any: the root has no decimals and is rarely another than -1.
    rooted = bool(words) and _ROOT.fullmatch(words[0]) and (words[0] == "-1" or len(words) % 4 == 1)
    return (float(words[0]) if rooted else math.nan), 4, words[1:] if rooted else words


def row(line: str, found: re.Match[str]) -> Row:
    """Return the row that begins with `found`, a match of `ROW` in the line, and ends with it."""
    size, count, datatype = found.groups()
    rest = line[found.end() :]
    for trailing in (_STAMP, _NOISE, _CHOICE):
        if cut := trailing.search(rest):
            rest = rest[: cut.start()]
    words = rest.replace("|", " ").split()
    names: list[str] = []
    while words and not words[0][:1].isdecimal() and words[0].upper() not in _ABSENT:
        if number(words[0]) is not None and words[0].lower() != "none":
            break
        names.append(words.pop(0))
    fault = "a word where numbers are expected" if len(names) > 1 else ""
    reduction = names[0] if names else ""
    root, width, values = _split(words)
    if len(values) > 2 * width:
        fault = "more values than a row has"
    elif len(values) % width:
        fault = "row breaks off"
    elif root < -1:
        fault = "no such root"
    only_in_place = len(values) == width and bool(_GAP.search(rest))
    return Row(float(size), float(count), datatype, reduction, root, tuple(values), width, only_in_place, fault)


def more_values(line: str) -> tuple[str, ...]:
    """Return the words of results with which a line begins, `()` if it begins with something else.

    Debug output may break into a row, so that its results stand in lines of their own.
    """
    noise = _NOISE.search(line)
    words = (line[: noise.start()] if noise else line).split()
    whole = len(words) in (4, 8) and all(
        number(word) is not None if place % 4 < 3 else _fits(word) for place, word in enumerate(words)
    )
    return tuple(words) if whole else ()
