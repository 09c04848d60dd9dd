"""PICO (HLC-Lab): summaries of runs with the algorithm forced, and the raw times of one run, in CSV.

PICO counts elements of the whole buffer: `size` is their bytes, and `n` one block of them where the formulas take the
block of a rank (allgather, gather, scatter) or of a pair (alltoall). Times are those of the slowest rank. A summary has
a row a run: `seconds` is the median over its iterations. Raw files have a row an iteration, and say nothing of what was
run: count, algorithm and type are in their names, `<count>_<algorithm>_<type>.csv`; the collective may be in the name
of a folder; the ranks are known where each has its column, and only then is `n`, for collectives whose block counts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import PurePath
from typing import Any

import numpy as np

from orrery_analytic.logs.csv_cells import table, values
from orrery_analytic.logs.osu_headers import memory
from orrery_analytic.logs.rows import Notes, Rows, number, read_lines
from orrery_analytic.logs.table import OF_A_ROW, Reader, Reading
from orrery_analytic.logs.text import Lines

__all__ = ["READER"]

_SUMMARY = (
    "system", "timestamp", "test_id", "nnodes", "tasks_per_node", "collective", "mpi_lib", "mpi_version", "gpu_aware",
    "algorithm", "dtype", "count_elements", "n_iter_used", "min_us", "median_us", "mean_us", "p90_us",
)  # fmt: skip
_TIMES = {"min_us": "best_seconds", "median_us": "seconds", "mean_us": "mean_seconds", "p90_us": "p90_seconds"}
_COUNTS = ("count_elements", "nnodes", "tasks_per_node", "n_iter_used")
_ORDERED = ("min_us", "median_us", "p90_us")
_TOLD = (*_SUMMARY[:3], "mpi_lib", "mpi_version", "gpu_aware")
_OF_A_RUN = ("collective", "algorithm", "datatype", "nodes", "ranks", "size", "n", "iterations", *_TIMES.values())
_OF_THE_SLOWEST = ("seconds", "iterations")
_OF_EACH = (*_OF_THE_SLOWEST, "min_seconds", "max_seconds")
_NEEDED = {"collective", "algorithm", "count_elements", "median_us"}
_BUFFERS = {"yes": memory("device", "device"), "no": memory("host", "host")}
_ITEMSIZES = {
    "int8": 1, "char": 1, "int16": 2, "int32": 4, "int": 4, "float": 4, "int64": 8, "double": 8,
}  # fmt: skip
_OF_A_BLOCK = {"allgather", "gather", "scatter", "alltoall"}
_COLLECTIVES = {*_OF_A_BLOCK, "allreduce", "bcast", "reduce", "reduce_scatter", "alltoallv"}
_FILE = re.compile(r"(\d{1,15})_(\w{1,60}?)(?:_(\d{1,12}))?_([a-z]+\d{0,2})\.csv")
_RAW_HEADER = re.compile(r"^[ \t]*highest(?:,| ?\r?$)", re.MULTILINE)
# A time in nanoseconds; a line that is shorter than a header and begins otherwise says nothing.
_BEGINS = frozenset('0123456789."')
_TIME = r"\d{1,15}+(?:\.\d{0,9}+)?+"
_RAW = re.compile(r"highest((?:, ?rank\d{1,7})*)")


def _block(collective: object, size: float, ranks: float) -> float:
    """Return n of a buffer of some bytes; NaN where it depends on what is not known."""
    if collective in _OF_A_BLOCK:
        return size / ranks if ranks >= 1 else math.nan
    return size if collective in _COLLECTIVES else math.nan


@cache
def _times(ranks: int) -> re.Pattern[str]:
    return re.compile(rf"(?:{_TIME}(?:, ?{_TIME}){{{ranks}}}\r?\n)+", re.ASCII)


@dataclass
class _Parser(Notes):
    names: tuple[str, ...] = ()
    raw: int = -1  # columns of a raw file after the first; -1 in a summary
    last: float = 0.0
    run: tuple[str, ...] = ()
    rows: Rows = field(default_factory=lambda: Rows({}))

    def line(self, at: int, text: str, words: list[str], cut: bool) -> None:
        """Take a line; `cut` if the log ends in it, without a line feed."""
        self.at, self.text = at, text.strip()
        if self.raw >= 0 and len(self.text) < len("highest") and self.text[0] not in _BEGINS:
            return
        if self.raw < 0 and not self.names and "," not in text and self.text != "highest":
            return
        cells = [cell.strip(' \t"') for cell in self.text.split(",")]
        if self.raw >= 0 and self.text[:1].isdecimal():  # no header begins so
            self.iteration(cells, cut)
        elif raw := _RAW.fullmatch(self.text):
            self.header(())
            self.raw = raw[1].count(",")
            self.rows.constants = {"benchmark": "PICO", **({"ranks": float(self.raw)} if self.raw else {})}
        elif len(_NEEDED & set(cells)) > 1 or (len(cells) > 8 and len(set(_SUMMARY) & set(cells)) > len(cells) // 2):
            self.header(_SUMMARY if len(cells) == len(_SUMMARY) else tuple(cells))
        elif self.raw >= 0:
            self.iteration(cells, cut)
        elif self.names:
            self.summary(cells, cut)
        elif len(cells) == len(_SUMMARY):
            self.problem("a row without the header of its columns")

    def many(self, chunk: list[tuple[int, str]]) -> int:
        """Take the rows that lines begin with, all at once, if they are plain ones; return how many there are."""
        return self.iterations(chunk) if self.raw >= 0 else self.runs(chunk[:-1])

    def iterations(self, chunk: list[tuple[int, str]]) -> int:
        """Take the rows of a raw file that lines begin with, but the last line."""
        found = _times(self.raw).match("\n".join([line for _, line in chunk]))
        if not found:
            return 0
        times = np.fromstring(found[0].replace(",", " "), sep=" ").reshape(-1, self.raw + 1)
        slowest, ranks = times[:, 0], times[:, 1:]
        if self.raw and (slowest < ranks.max(axis=1)).any():
            return 0
        columns: dict[str, Any] = {"seconds": slowest / 1e9, "iterations": np.ones(len(times))}
        if self.raw:
            columns |= {"min_seconds": ranks.min(axis=1) / 1e9, "max_seconds": slowest / 1e9}
        self.last = times[-1, -1]
        self.rows.many([at for at, _ in chunk[: len(times)]], columns)
        return len(times)

    def runs(self, chunk: list[tuple[int, str]]) -> int:
        """Take the rows of a summary that lines begin with, if all lines are as wide and of one run."""
        lines = [line for _, line in chunk]
        cells = table(lines, ",", len(self.names)) if self.names and '"' not in "".join(lines) else []
        row = dict(zip(self.names, cells, strict=bool(cells)))
        if not row.keys() >= _NEEDED or any(len({*row.get(name, ())}) > 1 for name in _TOLD):
            return 0
        nothing = np.full(len(lines), math.nan)
        numbers = {name: values(row[name]) for name in (*_TIMES, *_COUNTS) if name in row}
        itemsizes = {text: _ITEMSIZES.get(text.lower(), math.nan) for text in {*row.get("dtype", ())}}
        size = numbers["count_elements"] * np.array([itemsizes[text] for text in row.get("dtype", ())] or nothing)
        ordered = np.diff([numbers[name] for name in _ORDERED if name in numbers], axis=0) >= 0
        sound = np.all([*(known >= 0 for known in (*numbers.values(), size)), *ordered], axis=0)
        rows = len(lines) if sound.all() else int(np.argmin(sound))
        if not rows:
            return 0
        self.of_a_run({name: text[0] for name, text in row.items()})
        nodes, each, iterations = (numbers.get(name, nothing) for name in _COUNTS[1:])
        nodes, each = (np.where(known > 0, known, math.nan) for known in (nodes, each))
        collective = list(map(str.lower, row["collective"]))
        block = [_block(*told) for told in zip(collective, size.tolist(), (nodes * each).tolist(), strict=True)]
        columns = (
            collective, row["algorithm"], row["dtype"], nodes, nodes * each, size, block, iterations,
            *(numbers.get(name, nothing * 1e6) / 1e6 for name in _TIMES),
        )  # fmt: skip
        told = {name: column[:rows] for name, column in zip(_OF_A_RUN, columns, strict=True)}
        self.rows.many([at for at, _ in chunk[:rows]], told)
        return rows

    def header(self, names: tuple[str, ...]) -> None:
        """Take the names of the columns."""
        self.rows.close(self.reading)
        self.see()
        self.names, self.raw, self.run, self.rows.constants = names, -1, (), {}

    def iteration(self, cells: list[str], cut: bool) -> None:
        """Take a row of a raw file: nanoseconds, of the slowest rank and perhaps of each."""
        values = [number(cell) for cell in cells]
        times = [value for value in values if value is not None and value >= 0]
        if len(times) != len(values) or len(values) != self.raw + 1 or (self.raw and times[0] < max(times[1:])):
            if self.text[:1].isdecimal():
                self.problem(f"no row of {self.raw + 1} times in nanoseconds")
        elif cut and self.rows and times[-1] < self.last / 3:  # a digit less is ten times less
            self.problem("the file may end inside this number")
        else:
            self.last, slowest = times[-1], times[0] / 1e9
            if self.raw:
                self.rows.add(self.at, _OF_EACH, (slowest, 1.0, min(times[1:]) / 1e9, slowest))
            else:
                self.rows.add(self.at, _OF_THE_SLOWEST, (slowest, 1.0))

    def summary(self, cells: list[str], cut: bool) -> None:
        """Take a row of a summary."""
        self.reading.looked += OF_A_ROW
        row = dict(zip(self.names, cells, strict=False))
        if len(cells) < len(self.names) or not set(row) >= _NEEDED:
            self.problem(f"row breaks off: {len(cells)} values under a header of {len(self.names)}")
            return
        if len(cells) > len(self.names):
            self.problem(f"{len(cells)} values where the header names {len(self.names)}")
        times = {column: number(row.get(name, "nan")) for name, column in _TIMES.items()}
        counts = {name: number(row.get(name, "nan")) for name in ("nnodes", "tasks_per_node", "n_iter_used")}
        count, itemsize = number(row["count_elements"]), _ITEMSIZES.get(row.get("dtype", "").lower())
        if None in times.values() or None in counts.values() or count is None or not _is_time(times["seconds"]):
            self.problem("no measured value, or one that is no number")
            return
        if itemsize is None or not 0 <= count < 2.0**60:
            self.problem("the bytes are not known: no count, or no type")
            return
        if cut and not _in_order(times):
            self.problem("row breaks off")
            return
        if not _in_order(times):
            self.problem("median and 90 % do not come in this order after the least")
        self.of_a_run(row)
        nodes, each = counts["nnodes"] or math.nan, counts["tasks_per_node"] or math.nan
        size, collective = count * itemsize, row["collective"].lower()
        self.rows.add(
            self.at,
            _OF_A_RUN,
            (
                collective, row["algorithm"], row["dtype"], nodes, nodes * each, size,
                _block(collective, size, nodes * each), counts["n_iter_used"],
                *(math.nan if value is None else value / 1e6 for value in times.values()),
            ),
        )  # fmt: skip

    def end(self) -> Reading:
        """Return what was read."""
        self.rows.close(self.reading)
        return self.reading

    def of_a_run(self, row: Mapping[str, str]) -> None:
        """Begin another table where another run begins."""
        run = tuple(row.get(name, "") for name in _TOLD)
        if run != self.run:
            self.rows.close(self.reading)
            self.run = run
            self.rows.constants = {
                "benchmark": f"PICO {row.get('system', '')}".strip(),
                "library": f"{row.get('mpi_lib', '')} {row.get('mpi_version', '')}".strip() or math.nan,
                **_BUFFERS.get(row.get("gpu_aware", "").lower(), {}),
            }


def _is_time(value: float | None) -> bool:
    return value is not None and value >= 0


def _in_order(times: Mapping[str, float | None]) -> bool:
    order = [times[name] for name in ("best_seconds", "seconds", "p90_seconds")]
    known = [value for value in order if value is not None and not math.isnan(value)]
    return known == sorted(known)


def _from_name(name: str) -> dict[str, Any]:
    """Return what the name of a raw file says, and that of the folders above it."""
    path = PurePath(name.replace("\\", "/"))
    found = _FILE.fullmatch(path.name)
    if found is None or found[4] not in _ITEMSIZES:
        return {}
    told: dict[str, Any] = {"algorithm": found[2], "datatype": found[4], "size": float(found[1]) * _ITEMSIZES[found[4]]}
    for folder in reversed(path.parts[:-1]):
        words = set(re.split(r"[^a-z]+", folder.lower().replace("reduce_scatter", "reducescatter")))
        named = {collective for collective in _COLLECTIVES if collective.replace("_", "") in words}
        if len(named) == 1:
            told["collective"] = named.pop()
            told["n"] = _block(told["collective"], told["size"], math.nan)
            break
    return told


def _may_hold(text: str) -> bool:
    if "highest" in text and _RAW_HEADER.search(text):
        return True
    return "median_us" in text or "count_elements" in text


def _parse(lines: Lines) -> Reading:
    return read_lines(_Parser(), lines)


READER = Reader(
    "PICO", "a header with collective, algorithm, count_elements, median_us; or one 'highest'", _may_hold, _parse,
    from_name=_from_name,
)  # fmt: skip
