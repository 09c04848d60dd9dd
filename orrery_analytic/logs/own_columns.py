"""Numbers that people write down themselves: columns under a header that names bytes, and times or rates with units.

They are looked for where no benchmark's table is. `size_bytes,latency_us`, `# Size  GB/s` and `n seconds` are such
headers; where a column names no unit, nothing is read, and the message says how to name it.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from orrery_analytic.logs.csv_cells import split, table, values
from orrery_analytic.logs.rows import Notes, Rows, cut_short, looks_like_row, number, plain, read_lines
from orrery_analytic.logs.table import Reader, Reading
from orrery_analytic.logs.text import Lines, strip_prefix

__all__ = ["LONGEST_HEADER", "OWN_NUMBERS", "READER", "header", "known"]

OWN_NUMBERS = (
    "Own numbers need no log: oa.fit takes a pandas table with the columns n (bytes) and seconds, as "
    "pandas.DataFrame({'n': [8, 1024], 'seconds': [2.1e-6, 2.6e-6]}); a text is read where its header names bytes and "
    "a unit, as 'size_bytes,latency_us' or '# Size GB/s'"
)
_SECONDS = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("ms", "msec", "millisecond", "milliseconds"), 1e3),
    **dict.fromkeys(("us", "usec", "usecs", "µs", "μs", "microsecond", "microseconds"), 1e6),
    **dict.fromkeys(("ns", "nsec", "nanosecond", "nanoseconds"), 1e9),
}
"""Units of time: what a second is in them."""
_BINARY = {"B": 1.0, "byte": 1.0, "bytes": 1.0, "KiB": 2.0**-10, "MiB": 2.0**-20, "GiB": 2.0**-30}
_DECIMAL = {"kB": 1e-3, "KB": 1e-3, "MB": 1e-6, "GB": 1e-9, "TB": 1e-12, "Mbit": 8e-6, "Gbit": 8e-9}
_RATES = {f"{unit}{per}": worth for unit, worth in (_BINARY | _DECIMAL).items() for per in ("/s", "/sec", "ps")}
"""Units of bandwidth: what a byte per second is in them."""
_MEAN = {"avg", "average", "mean", "median"}
_OF_SIZE = {"message", "msg", "buffer", "data", "transfer", "size", "sizes", "length", "len", "n", "nbytes"}
_OF_TIME = {*_MEAN, "latency", "lat", "time", "t", "duration", "elapsed"}
_OF_RATE = {*_MEAN, "bandwidth", "bw", "throughput", "rate"}
_OF_COUNT = {"iterations", "iters", "repetitions", "reps", "samples"}
_ENDS = {"min": "min_seconds", "max": "max_seconds"}
_WORDS = re.compile(r"[\s_()\[\]\"'.:-]+")
_GAPS = re.compile(r"\s{2,}|\t")
_BEFORE_UNIT = re.compile(r"\s+(?=[(\[])")
_DELIMITERS = (",", ";", "\t")
_BETTER = {"seconds": "time_us, time_ms or seconds", "bandwidth_bytes_per_s": "bandwidth_GB/s or bandwidth_MB/s"}
_MEASURES = _BETTER.keys()
_USUAL = ("n", "size", "bytes", "size_bytes", "seconds", "time_us", "latency_us", "bandwidth_gb/s")
LONGEST_HEADER = 200
_HEADERS_STAND_IN = 10_000


class _Column(NamedTuple):
    """A column of the table, and what one of it is in the file; no unit where that is not known."""

    name: str
    per_unit: float = 1.0


@lru_cache(maxsize=256)
def _column(name: str) -> _Column | None:
    """Return what a column of that name holds; a measure without a unit has a NaN for it."""
    words = [word for word in _WORDS.split(name.strip("# ")) if word]
    unit = words[-1] if words else ""
    low = [word.lower() for word in words]
    before = set(low[:-1])
    if unit in _RATES and before <= _OF_RATE:
        return _Column("bandwidth_bytes_per_s", _RATES[unit])
    if low and low[-1] in _SECONDS and before <= _OF_TIME | _ENDS.keys() and (before or unit != "s"):
        end = [_ENDS[word] for word in sorted(before & _ENDS.keys())]
        return _Column(end[0] if end else "seconds", _SECONDS[low[-1]]) if len(end) < 2 else None
    if before <= _OF_SIZE and words and (unit in _BINARY or low[-1] in ("bytes", "byte")):
        return _Column("size", _BINARY.get(unit, 1.0))
    if low and {*low} <= _OF_SIZE and low[-1] in ("size", "sizes", "length", "n", "nbytes"):
        return _Column("size")
    if low and {*low} <= _OF_COUNT:
        return _Column("iterations")
    for name_, of_name in (("seconds", _OF_TIME), ("bandwidth_bytes_per_s", _OF_RATE)):
        if low and {*low} <= of_name and not {*low} <= _MEAN:
            return _Column(name_, math.nan)
    return None


class _Header(NamedTuple):
    """How a header divides its columns ("" by blanks), which they are, and why no row under it is read ("" if any)."""

    delimiter: str
    columns: tuple[_Column, ...]
    fault: str


@lru_cache(maxsize=256)
def header(text: str) -> _Header | None:
    """Return what a line says if it is a header, or nearly one."""
    text = text.strip("# \t\r")
    parts = [(delimiter, text.split(delimiter)) for delimiter in _DELIMITERS if delimiter in text]
    parts += [("", _GAPS.split(text)), ("", _BEFORE_UNIT.sub("", text).split())]
    for delimiter, names in parts:
        columns = [column for column in map(_column, names) if column]
        told = [column.name for column in columns]
        if len(columns) == len(names) == len({*told}) and "size" in told and _MEASURES & {*told}:
            better = [_BETTER[column.name] for column in columns if math.isnan(column.per_unit)]
            fault = f"a column names no unit, and is not read; call it {better[0]}" if better else ""
            return _Header(delimiter, tuple(columns), fault)
        if len(names) == 2 and len(columns) == 1 and not any(map(str.isdecimal, text)):
            other = next(name.strip() for name in names if not _column(name))
            if near := difflib.get_close_matches(other.lower(), _USUAL, n=1, cutoff=0.7):
                return _Header(delimiter, (), f"the column {other[:40]!r} is not known; did you mean {near[0]!r}?")
    return None


def known(name: str) -> bool:
    """Tell whether a column of that name is known, with its unit if it is a measure."""
    column = _column(name)
    return column is not None and not math.isnan(column.per_unit)


@dataclass
class _Parser(Notes):
    columns: tuple[_Column, ...] = ()
    delimiter: str = ""
    above: Sequence[str] = ()
    rows: Rows = field(default_factory=lambda: Rows({}))

    def line(self, at: int, text: str, words: list[str], cut: bool) -> None:
        """Take a line; `cut` if the log ends in it, without a line feed."""
        self.at, self.text = at, strip_prefix(text)
        if not self.text[:1].isdecimal() and len(self.text) < LONGEST_HEADER and (found := header(self.text)):
            self.begin(found)
            return
        if self.columns:
            cells = split(self.text, self.delimiter) if self.delimiter else self.text.split()
            self.row(cells, cut)

    def begin(self, found: _Header) -> None:
        """Begin a table; one whose measure has no unit is not read."""
        self.rows.close(self.reading)
        if found.fault:
            self.problem(found.fault)
        else:
            self.see()
        self.columns, self.delimiter = () if found.fault else found.columns, found.delimiter

    def many(self, chunk: list[tuple[int, str]]) -> int:
        """Take the rows that lines begin with, all at once, if they are plain ones; return how many there are."""
        width = len(self.columns)
        if not width:
            return 0
        if self.delimiter:
            cells = table([line for _, line in chunk[:-1]], self.delimiter, width) if len(chunk) > 1 else []
            found = [values(column) for column in cells]
            rows = len(found[0]) if found and all(((column >= 0) & (column < 2.0**63)).all() for column in found) else 0
            self.above = [column[-1] for column in cells]
        else:
            found = [*plain(chunk, width).T]
            rows = len(found[0])
            self.above = strip_prefix(chunk[rows - 1][1]).split() if rows else self.above
        if rows:
            columns = {column.name: each / column.per_unit for column, each in zip(self.columns, found, strict=True)}
            self.rows.many([at for at, _ in chunk[:rows]], columns | {"n": columns["size"]})
        return rows

    def row(self, cells: list[str], cut: bool) -> None:
        """Take a line below the header."""
        known = [number(cell) for cell in cells]
        if len(known) != len(self.columns) or None in known or (cut and cut_short(cells, self.above)):
            if looks_like_row(cells):
                self.problem(f"no row of {len(self.columns)} numbers" if not cut else "row breaks off")
            return
        found = {
            column.name: (math.nan if value is None else value) / column.per_unit
            for column, value in zip(self.columns, known, strict=True)
        }
        measured = any(found.get(name, math.nan) >= 0 for name in _MEASURES)
        if not measured or not 0 <= found["size"] < 2.0**63 or any(value < 0 for value in found.values()):
            self.problem("no measured value")
            return
        self.above = cells
        self.rows.add(self.at, (*found, "n"), (*found.values(), found["size"]))

    def end(self) -> Reading:
        """Return what was read."""
        self.rows.close(self.reading)
        return self.reading


def _may_hold(text: str) -> bool:
    """Tell whether there is a header near the begin."""
    first = text[:_HEADERS_STAND_IN].split("\n")
    return any(len(line) < LONGEST_HEADER and header(strip_prefix(line)) for line in first)


def _parse(lines: Lines) -> Reading:
    return read_lines(_Parser(), lines)


READER = Reader("own columns", "a header as 'size_bytes,latency_us' or '# Size GB/s'", _may_hold, _parse)
