"""Tables that no benchmark wrote, beside those of one: own columns, and numbers that nobody reads.

Every reader takes rows as those of its last header. So a header of own columns must end a table for all of them, or
its rows would be read in the wrong unit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice, pairwise

import numpy as np
from numpy.typing import NDArray

from orrery_analytic.logs import own_columns
from orrery_analytic.logs.csv_cells import split
from orrery_analytic.logs.osu_headers import is_header, unknown_unit
from orrery_analytic.logs.rows import is_heading
from orrery_analytic.logs.table import Block, Problem
from orrery_analytic.logs.text import Lines, excerpt, strip_prefix

__all__ = ["OwnTables", "own_tables", "unread"]

# A line without digits, perhaps behind the rank or the stream that a launcher puts there.
_WORDS = re.compile(r"^[^\S\n]*(?:\S{1,40}[:>\]|][^\S\n]*)?[#A-Za-z\"(][^\n\d]{2,199}$", re.MULTILINE)
_OF_SIZE = re.compile(r"(?:\b|_)(?:size|sizes|n|nbytes|bytes?|[kmg]i?b|length|len|b)(?:\b|_)", re.IGNORECASE)
_OF_TIME = re.compile(
    r"(?:\b|_)(?:[mnuµμ]?s|secs?|[mun]secs?|\w*seconds?|[kmgt]?i?b(?:it|ytes?)?(?:ps|/s(?:ec)?))\b", re.IGNORECASE
)
_PARTS = re.compile(r"[^\s,;#]+")
_ROW = re.compile(r"[\d.]")
# What cannot stand between rows of one table: a line of JSON, a word alone, a header of CSV.
_OTHER = re.compile(r"[{\[]|[A-Za-z]\w*\s*$|[^\d,]+,[^\d,]+,[^\d]+$")
_OF_IMB = re.compile(r"#(?:bytes|repetitions)\b|transfer size \(bytes\)", re.IGNORECASE)
_CSV = re.compile(
    r"^[^\S\n]*\d[\d.eE+-]{0,30}(?:[^\S\n]*[,;][^\S\n]*[+-]?(?:\d[\d.eE+-]{0,30})?){1,30}[^\S\n]*$", re.MULTILINE
)
# No log has as many headers, nor as many rows between commas that belong to nobody.
_MOST = 10_000
# ... nor as many lines that may be headers.
_LOOKED = 20_000
# So many lines below a header its first row is looked for: blank lines, units and rules may stand between.
_NEAR, _FAR = 2, 20
_OF_TWO = 2
# Words of a line of two columns, with a label.
_FEW = 3


@dataclass(frozen=True)
class OwnTables:
    """Which lines, by number, stand in tables that are no benchmark's; which of them can be read; what is wrong."""

    lines: NDArray[np.bool_]
    readable: NDArray[np.bool_]
    problems: list[Problem]


def own_tables(lines: Lines) -> OwnTables:
    """Find the tables under headers of own columns; one ends where the next header or title of any format stands."""
    found = np.zeros(len(lines) + 1, dtype=bool)
    readable = found.copy()
    problems = []
    headers, stop = _headers(lines)
    for (header, fault), (next_, _) in pairwise([*headers, (len(lines) + 1, "")]):
        end = next((at for at in range(header + 1, next_) if _ends(lines[at - 1])), next_)
        found[header:end] = True
        readable[header:end] = not fault
        if fault:
            text = strip_prefix(lines[header - 1])
            rows = [at for at in range(header + 1, end) if _ROW.match(strip_prefix(lines[at - 1]))]
            below = f"{len(rows)} lines below that look like rows are not read, the last is line {rows[-1]}"
            problems.append(Problem(header, f"{fault}; {below}: {excerpt(text)}"))
    if stop:
        found[stop:] = True
        readable[stop:] = False
        what = f"{len(headers):,} headers of own columns stand above this one: from here on nothing is read"
        problems.append(Problem(stop, what))
    return OwnTables(found, readable, problems)


def _headers(lines: Lines) -> tuple[list[tuple[int, str]], int]:
    """Return the numbers of headers of own columns, why their rows cannot be read ("" if they can), and where it ended.

    That is the line after which no more are looked for, 0 unless there are too many.
    """
    candidates = (match.start() for match in _WORDS.finditer(lines.text) if _may_name(match[0]))
    headers: list[tuple[int, str]] = []
    for looked, at in enumerate(lines.numbers(candidates), start=1):
        text = strip_prefix(lines[at - 1])
        row = _first_row(lines, at, _FAR if _names(text) else _NEAR)
        fault = _fault(text, strip_prefix(lines[row - 1])) if row and not _of_a_benchmark(text) else None
        if fault is not None:
            headers.append((at, fault))
        if len(headers) == _MOST or looked == _LOOKED:
            return headers, at
    return headers, 0


def _may_name(line: str) -> bool:
    """Tell fast whether a line may name sizes and a unit, or one of these and another column."""
    size, unit = _OF_SIZE.search(line), _OF_TIME.search(line)
    return bool(size and unit) or (bool(size or unit) and len(_PARTS.findall(line)) <= _FEW)


def _first_row(lines: Lines, header: int, far: int) -> int:
    """Return the number of the first line below a header that begins like a row, 0 if none is near or one is else."""
    for at in range(header + 1, min(header + 1 + far, len(lines) + 1)):
        if _ROW.match(strip_prefix(lines[at - 1])):
            return at
        if _ends(lines[at - 1]):
            return 0
    return 0


def _of_a_benchmark(text: str) -> bool:
    """Tell whether a line is a header that readers of benchmarks know; one in other units is that of own columns."""
    flat = " ".join(text.split())
    told = own_columns.header(text) if is_header(flat) and unknown_unit(flat) else None
    return bool(_OF_IMB.match(flat)) or (is_header(flat) and (told is None or bool(told.fault)))


def _ends(line: str) -> bool:
    """Tell whether a line begins something else than rows of the table above."""
    if line[:1].isdecimal():
        return False
    text = strip_prefix(line)
    if not text or text[0].isdecimal():
        return False
    return is_heading(text) or is_header(" ".join(text.split())) or bool(_OTHER.match(text)) or _names(text)


def _names(text: str) -> bool:
    return len(text) < own_columns.LONGEST_HEADER and own_columns.header(text) is not None


def _fault(text: str, row: str) -> str | None:
    """Return why rows under a header cannot be read, "" if they can, None if the line is no header."""
    told = own_columns.header(text)
    if told and not told.fault:
        return ""
    bare = text.strip("# \t\r")
    pairs = [(split(bare, each), split(row, each)) for each in (",", ";", "\t")] + [(bare.split(), row.split())]
    names = next((names for names, cells in pairs if len(names) == len(cells) == _OF_TWO), [])
    # Under a header of more columns, rows are wider than those of the table above, and its reader names them.
    if told:
        return told.fault if names else None
    strange = [name for name in names if not own_columns.known(name)]
    if len(strange) == len(names):  # prose
        return None
    return f"the column {strange[0]!r} is not known" if strange else "no column is the size"


def unread(lines: Lines, blocks: Iterable[Block], problems: Iterable[Problem], own: OwnTables) -> list[Problem]:
    """Name rows between commas that nobody read: the first of those that follow each other, and how many they are."""
    done = own.lines.copy()
    for block in blocks:
        done[np.asarray(block.lines)] = True
    done[[problem.line for problem in problems]] = True
    rows = lines.numbers(match.start() for match in islice(_CSV.finditer(lines.text), _MOST))
    runs: list[list[int]] = []
    for at in rows:
        if done[at]:
            continue
        if runs and at == runs[-1][-1] + 1:
            runs[-1].append(at)
        else:
            runs.append([at])
    return [
        Problem(
            run[0],
            f"{len(run)} lines of numbers between commas, to line {run[-1]}, are in no table that is known: "
            f"{excerpt(lines[run[0] - 1])}",
        )
        for run in runs
    ]
