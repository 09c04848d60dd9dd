"""Intel MPI Benchmarks (IMB): MPI1, NBC, RMA, P2P and MT tables of every version since 3.

Sizes are what the formulas call n: the vector of allreduce, bcast, reduce and reduce_scatter, one rank's or one pair's
block elsewhere. `seconds` is t[usec] (PingPong: half a round trip), t_avg, or t_pure of a non-blocking collective.
Mbytes/sec were 2^20 bytes until IMB 4.1 and 10^6 later: which, the rows themselves tell, where size and time are there.
Sendrecv counts the bytes of both directions, Exchange of all four messages; so do their bytes per second here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orrery_analytic.logs.osu_headers import memory
from orrery_analytic.logs.rows import Notes, Rows, cut_short, looks_like_row, number, out_of_range, plain, read_lines
from orrery_analytic.logs.table import Reader, Reading
from orrery_analytic.logs.text import Lines, strip_prefix

__all__ = ["READER"]

_COLUMNS = {
    "#bytes": "size",
    "#repetitions": "iterations",
    "t[usec]": "seconds",
    "t_avg[usec]": "seconds",
    "t_min[usec]": "min_seconds",
    "t_max[usec]": "max_seconds",
    "t_pure[usec]": "seconds",
    "t_ovrl[usec]": "overall_seconds",
    "t_cpu[usec]": "compute_seconds",
    "overlap[%]": "overlap",
    "mbytes/sec": "bandwidth_bytes_per_s",
    "msg/sec": "messages_per_s",
    "group": "group",
    "defects": "defects",
}
_KEPT = {*_COLUMNS.values()} - {"group", "defects"}
# Printed value / this = value in SI units.
_SCALES = {"overlap": 100.0, "size": 1.0, "iterations": 1.0, "messages_per_s": 1.0}
_MICROSECONDS = 1e6
_MB, _MIB = 1e6, 2.0**20
_OLD = re.compile(r"[234]\.")
_RANGE = ("min_seconds", "max_seconds", "seconds")
_OUTSIDE = "the mean does not lie between the least and the most"
# Without a header: columns by how many there are.
_USUAL = {
    4: ("size", "iterations", "seconds", "bandwidth_bytes_per_s"),
    5: ("size", "iterations", *_RANGE),
    6: ("size", "iterations", *_RANGE, "bandwidth_bytes_per_s"),
}
_BARRIER = ("iterations", *_RANGE)
_SHORTEST = len("# OSU x")
_VERSION = re.compile(r"# *Intel ?\(R\) MPI Benchmarks? (\S{1,20}?),? ")
_TITLE = re.compile(r"# ?Benchmarking (?:Multi-)?(\w{1,60})")
_RANKS = re.compile(r"# #processes ?= ?(\d{1,9})\b")
_GROUPS = re.compile(r"# \( ?\d{1,9} groups of (\d{1,9}) processes")
_DATATYPE = re.compile(r"# MPI_Datatype (for reductions )?: (\w{1,40})")
_GPU = re.compile(r"# \S{0,300}IMB-\w+-GPU\b")
_REASONS = ("out-of-mem", "int-overflow", "time-out")
_POINT_TO_POINT = {"pingpong", "pingpongspecificsource", "pingpongany", "uniband", "biband", "unirandom", "birandom"}
_REDUCES = {"allreduce", "reduce", "reduce_scatter", "reduce_scatter_block", "reduce_local", "scan", "exscan"}
# Bytes that the bandwidth counts, in messages of the printed size.
_COUNTED = {"sendrecv": 2, "exchange": 4}


def _collective(name: str) -> str:
    """Return MPI's name for what a benchmark does: allreduce, iallreduce, p2p, pingping, put ..."""
    plain = name.lower().removesuffix("mt").removesuffix("_pure")
    if plain in _POINT_TO_POINT:
        return "p2p"
    for call in ("put", "get", "accumulate"):
        if re.search(rf"(?:^|_){call}(?:_|$)", plain):
            return call
    return plain


@dataclass
class _Parser(Notes):
    version: str = ""
    on_gpu: bool = False
    datatypes: dict[bool, str] = field(default_factory=dict)
    title: tuple[int, str, str] = (0, "", "")  # line, text and benchmark
    names: tuple[str, ...] = ()
    above: list[str] = field(default_factory=list)
    rows: Rows = field(default_factory=lambda: Rows({"benchmark": "IMB"}))

    def close(self) -> None:
        """End a table; its rows say in which unit their bandwidth is."""
        if self.rows:
            self.title = (0, "", self.title[2])
            counted = _COUNTED.get(str(self.rows.constants.get("collective")), 1)
            printed = {name: np.array(values) for name, values in self.rows.columns().items() if name in _KEPT}
            unit = _unit(printed, counted, self.version)
            scales = {**_SCALES, "bandwidth_bytes_per_s": 1 / unit}
            columns = {name: values / scales.get(name, _MICROSECONDS) for name, values in printed.items()}
            columns["n"] = columns.get("size", np.zeros(len(next(iter(columns.values())))))
            self.rows.close(self.reading, columns=columns)

    def tell(self, **constants: Any) -> None:
        """Add to what holds for the rows below."""
        self.close()
        self.rows.constants = {**self.rows.constants, **constants}

    def line(self, at: int, text: str, words: list[str], cut: bool) -> None:
        """Take a line; `cut` if the log ends in it, without a line feed."""
        self.at, self.text = at, text
        if not words[0].isdecimal():
            self.text = strip_prefix(text)
            words = self.text.split()
        if not words:
            return
        if words[0].isdecimal():
            if not self.elsewhere:
                self.row(words, cut)
            return
        flat = " ".join(words)[:200]
        if flat[0] == "#" and not flat[1:2].isalpha():
            if len(flat) >= _SHORTEST:
                self.comment(flat)
        elif ("#repetitions" in words or "[usec]" in flat) and "#iterations" not in words:
            self.header(words)
        elif self.leaves():
            self.stop()
        elif (
            not self.elsewhere and self.known and (words[0][0].isdecimal() or len(words) > 3) and looks_like_row(words)
        ):
            self.problem("looks like a row, but it does not begin with a size")

    def many(self, chunk: list[tuple[int, str]]) -> int:
        """Take the rows that lines begin with, all at once, if they are plain ones; return how many there are."""
        names = self.names or (self.usual(len(strip_prefix(chunk[0][1]).split())) if self.known else ())
        if self.elsewhere or len({*names}) < max(len(names), 1):
            return 0
        values = plain(chunk, len(names))
        if rows := len(values):
            columns = dict(zip(names, values.T, strict=True))
            if {*_RANGE} <= {*names}:
                least, most, mean = (columns[name] for name in _RANGE)
                self.problems(_OUTSIDE, (chunk[at] for at in out_of_range(mean, least, most)))
            self.above = strip_prefix(chunk[rows - 1][1]).split()
            self.rows.many([at for at, _ in chunk[:rows]], columns)
        return rows

    @property
    def known(self) -> bool:
        """Whether a title or a header says what rows are."""
        return bool(self.names or self.title[2])

    def end(self) -> Reading:
        """Return what was read."""
        self.stop()
        return self.reading

    def comment(self, flat: str) -> None:
        """Take what is said of the rows: benchmark, ranks, version, types."""
        if title := _TITLE.match(flat):
            self.stop()
            self.see()
            self.elsewhere, self.title = False, (self.at, flat, title[1])
            collective = _collective(title[1])
            told = {"benchmark": f"IMB {title[1]}", "collective": collective}
            element = self.datatypes.get(collective.removeprefix("i") in _REDUCES)
            self.rows.constants = told | ({"version": self.version} if self.version else {})
            self.rows.constants |= {"datatype": element} if element else {}
            self.rows.constants |= {} if self.on_gpu else memory("host", "host")
        elif number_of := _RANKS.match(flat) or _GROUPS.match(flat):
            self.tell(ranks=float(number_of[1]))
        elif version := _VERSION.match(flat):
            self.see()
            self.version = version[1]
        elif _GPU.match(flat):
            self.on_gpu = True
        elif datatype := _DATATYPE.match(flat):
            self.datatypes[bool(datatype[1])] = datatype[2]
        elif self.leaves():
            self.stop()

    def stop(self) -> None:
        """End a table and what its title said."""
        self.close()
        if self.title[0]:
            at, text = self.at, self.text
            self.at, self.text = self.title[:2]
            self.problem("no measured row under")
            self.at, self.text = at, text
        self.names, self.title = (), (0, "", "")
        self.rows.constants = {"benchmark": "IMB"}

    def header(self, words: list[str]) -> None:
        """Take the names of the columns."""
        self.close()
        self.see()
        self.elsewhere = False
        names = tuple(_COLUMNS.get(word.lower(), word) for word in words)
        self.names = names if {"seconds", "bandwidth_bytes_per_s"} & {*names} else ()

    def row(self, words: list[str], cut: bool) -> None:
        """Take a line that begins with a whole number."""
        values = [number(word) for word in words]
        named = len(self.names)
        if None in values and named and len(words) > named and None not in values[:named]:
            del values[named:], words[named:]  # a remark follows: `8107.16 <- drops from here`
            cut = False
        if None in values:
            if any(word.startswith(_REASONS) for word in words[1:3]):
                self.problem("not measured")
            elif looks_like_row(words[:8]):  # a sentence may begin with a number
                self.problem("no row of numbers" if self.known else "a row without the title or header above it")
            return
        if not self.known:
            if looks_like_row(words):
                self.problem("a row without the title or header above it")
            return
        names = self.names or self.usual(len(words))
        if cut and (len(words) < len(names) or cut_short(words, self.above)):
            self.problem("row breaks off")
        elif len(words) < len(names):
            self.problem(f"row breaks off: {len(words)} values where the header names {len(names)}")
        elif not names:
            self.problem("no header says what this row measures")
        else:
            self.measured(names, [value for value in values if value is not None], words)

    def measured(self, names: tuple[str, ...], values: list[float], words: list[str]) -> None:
        """Take a row of numbers, at least as many as columns."""
        main = values[names.index("seconds" if "seconds" in names else "bandwidth_bytes_per_s")]
        if not (0 <= main < 2.0**63 and 0 <= values[0] < 2.0**63):
            self.problem("no measured value")
            return
        if len(values) > len(names):
            self.problem(f"{len(values)} values where the header names {len(names)}")
        if {*_RANGE} <= {*names}:
            least, most = values[names.index("min_seconds")], values[names.index("max_seconds")]
            if main < least or main > most:
                self.problem(_OUTSIDE)
        if min(values) < 0:
            self.problem("a value is negative")
            values = [value if value >= 0 else math.nan for value in values]
        self.above = words
        self.rows.add(self.at, names, values[: len(names)])

    def usual(self, width: int) -> tuple[str, ...]:
        """Return the columns of a row whose header is lost."""
        return _BARRIER if self.title[2].lower() in ("barrier", "ibarrier") else _USUAL.get(width, ())


def _unit(printed: Mapping[str, NDArray[np.float64]], counted: int, version: str) -> float:
    """Return how many bytes one Mbyte is: what fits the row with the largest bandwidth, else what the version did."""
    if {"size", "seconds", "bandwidth_bytes_per_s"} <= printed.keys():
        best = int(np.argmax(printed["bandwidth_bytes_per_s"]))
        bandwidth = printed["bandwidth_bytes_per_s"][best]
        longest = printed.get("max_seconds", printed["seconds"])[best]
        if bandwidth > 0.5 and longest > 0:
            ratio = counted * printed["size"][best] / longest / bandwidth  # 1 or 1.048576
            if 0.98 < ratio < 1.07:
                return _MIB if ratio > 1.024 else _MB
    return _MIB if _OLD.match(version) else _MB


def _may_hold(text: str) -> bool:
    return any(sign in text for sign in ("#repetitions", "[usec]", "# Benchmarking", "MPI Benchmark"))


def _parse(lines: Lines) -> Reading:
    return read_lines(_Parser(), lines)


READER = Reader(
    "Intel MPI Benchmarks", "'# Benchmarking ...' and a header '#bytes #repetitions t[usec] ...'", _may_hold, _parse
)
