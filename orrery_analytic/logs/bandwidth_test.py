"""CUDA's sample programs bandwidthTest and p2pBandwidthLatencyTest (their HIP ports too): copies between memories.

Bandwidths are kept as printed. So a copy within a device counts its bytes twice, as read and as written; a matrix of
both directions counts both; and the time that bandwidthTest prints is size over bandwidth. Its MB were 2^20 bytes.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any

from orrery_analytic.logs.matrices import Matrix
from orrery_analytic.logs.osu_headers import memory
from orrery_analytic.logs.rows import Notes, Rows, cut_short, looks_like_row, number, plain, read_lines
from orrery_analytic.logs.table import Reader, Reading
from orrery_analytic.logs.text import Lines, strip_prefix

__all__ = ["READER"]

_LINE = re.compile(
    r"bandwidthTest-((?:H2D|D2H|D2D)[\w-]{0,40}), Bandwidth = (\S{1,40}) ([GM]B/s), Time = (\S{1,40}) s,"
    r" Size = (\d{1,18}) bytes(?:, NumDevsUsed = (\d{1,6}))?(.{0,40})$"
)
_VALUES = re.compile(r"\bBandwidth = .{1,60}, Time = .{1,60}, Size = ")
_DIRECTION = re.compile(r"(Host|Device) to (Host|Device) Bandwidth")
_MODE = re.compile(r"(PINNED|PAGEABLE|PAGED) Memory Transfers", re.IGNORECASE)
_HEADER = re.compile(r"Transfer Size \(Bytes\) Bandwidth ?\(([GM]B/s)\)", re.IGNORECASE)
_MATRIX = re.compile(
    r"((?:(?:Uni|Bi)directional )?P2P ?= ?(?:En|Dis)abled)(.{0,60}?) Matrix ?\((GB/s|us)\)", re.IGNORECASE
)
_SWITCH = re.compile(r"^(?:(?:Uni|Bi)directional )?P2P ?=")
_CORNER = re.compile(r"(D\\D|GPU|CPU) [\d ]+$")
_FACTORS = {"GB/s": 1e9, "MB/s": 2.0**20}
_UNTIMED = ("size", "n", "bandwidth_bytes_per_s")
_TIMED = ("size", "n", "seconds", "bandwidth_bytes_per_s")
_SIDES = {"H": "host", "D": "device"}


def _copy(direction: str) -> dict[str, Any]:
    """Return the columns that say which way: `H2D`, `D2H` or `D2D`."""
    ends = _SIDES[direction[0]], _SIDES[direction[2]]
    return {"collective": "copy", "source": ends[0], "destination": ends[1], **memory(*ends)}


@dataclass
class _Parser(Notes):
    direction: str = ""
    mode: str = ""
    unit: str = ""
    above: list[str] = field(default_factory=list)
    rows: Rows = field(default_factory=lambda: Rows({}))
    titled: tuple[str, str] = ("", "")
    matrix: Matrix | None = None

    def close(self) -> None:
        """End a table or matrix."""
        self.rows.close(self.reading)
        if self.matrix is not None:
            self.matrix.close(self.reading)
        self.matrix = None

    def start(self, **constants: Any) -> None:
        """Begin a table, if it is another one."""
        if constants != self.rows.constants:
            self.close()
            self.rows.constants = constants

    def line(self, at: int, text: str, words: list[str], cut: bool) -> None:
        """Take a line; `cut` if the log ends in it, without a line feed."""
        self.at, self.text = at, text
        if not words[0].isdecimal():
            self.text = strip_prefix(text)
            words = self.text.split()
        if not words:
            return
        if words[0].isdecimal():
            self.numbers(words, cut)
            return
        flat = " ".join(words)[:400]
        if flat.startswith("bandwidthTest-") or _VALUES.search(flat):
            self.one(flat, cut)
        elif flat.startswith(("[CUDA Bandwidth", "[P2P (Peer")):
            self.close()
            self.unit, self.titled, self.elsewhere = "", ("", ""), False
        elif direction := _DIRECTION.match(flat):
            self.close()
            self.see()
            self.direction, self.unit, self.titled = f"{direction[1][0]}2{direction[2][0]}", "", ("", "")
            self.mode, self.elsewhere = "", False
        elif mode := _MODE.match(flat):
            self.elsewhere = False
            self.mode = mode[1].capitalize().replace("Pageable", "Paged")
        elif header := _HEADER.search(flat):
            self.see()
            self.unit, self.above, self.elsewhere = header[1].replace("gb", "GB").replace("mb", "MB"), [], False
            way = _copy(self.direction) if self.direction else {"collective": "copy"}
            name = "-".join(part for part in (self.direction, self.mode) if part)
            self.start(benchmark=f"bandwidthTest {name}".strip(), **way)
        elif matrix := _MATRIX.search(flat):
            self.close()
            self.see()
            self.direction, self.unit, self.elsewhere = "", matrix[3], False
            self.titled = (matrix[1] + matrix[2], matrix[3])
        elif corner := _CORNER.match(flat):
            if self.titled[0]:
                self.corner(corner[1], flat.split()[1:])
            elif not self.elsewhere:
                self.problem("a matrix without the line that says what it is")
        elif _SWITCH.search(flat):
            self.close()
            self.unit, self.titled, self.elsewhere = "", ("", ""), False
            self.problem("a title of a matrix breaks off")
        elif "Connectivity" in flat or self.leaves():
            self.elsewhere = True
            self.close()
            self.unit, self.titled = "", ("", "")
        elif self.matrix is not None or self.unit:
            self.numbers(words, cut)

    def many(self, chunk: list[tuple[int, str]]) -> int:
        """Take the rows that lines begin with, all at once, if they are plain ones; return how many there are."""
        if self.matrix is not None:
            return self.matrix.many(chunk)
        if not self.unit or self.titled[0]:
            return 0
        values = plain(chunk, 2)
        if rows := len(values):
            size, bandwidth = values.T
            self.above = strip_prefix(chunk[rows - 1][1]).split()
            columns = (size, size, bandwidth * _FACTORS[self.unit])
            self.rows.many([at for at, _ in chunk[:rows]], dict(zip(_UNTIMED, columns, strict=True)))
        return rows

    def numbers(self, words: list[str], cut: bool) -> None:
        """Take a line of a matrix, or of a table of sizes and bandwidths."""
        if self.matrix is not None:
            self.matrix.line(words, self, cut)
        elif self.titled[0]:
            self.headless(words, cut)
        elif self.unit:
            self.row(words, cut)
        elif not self.elsewhere and len(words) == 2 and looks_like_row(words):
            self.problem("a row without its title or header above it")

    def end(self) -> Reading:
        """Return what was read."""
        self.close()
        return self.reading

    def one(self, flat: str, cut: bool) -> None:
        """Take a line that says everything itself."""
        self.see()
        found = _LINE.match(flat)
        bandwidth, seconds = (number(found[2]), number(found[4])) if found else (None, None)
        if not found or bandwidth is None or seconds is None or not (bandwidth >= 0 and seconds >= 0) or found[7]:
            self.problem("row breaks off, or a value is no number")
            return
        if cut and not found[6]:
            self.problem("row breaks off")
            return
        self.unit, self.titled = "", ("", "")
        self.start(benchmark=f"bandwidthTest {found[1]}", **_copy(found[1]))
        size = float(found[5])
        # Five decimals: what is shorter than 5 us is printed as 0.
        self.rows.add(self.at, _TIMED, (size, size, seconds or math.nan, bandwidth * _FACTORS[found[3]]))

    def row(self, words: list[str], cut: bool) -> None:
        """Take a line of a table of sizes and bandwidths."""
        if not words[0].isdecimal():
            if looks_like_row(words):
                self.problem("looks like a row, but it does not begin with a size")
            return
        if cut and (len(words) < 2 or cut_short(words, self.above)):
            self.problem("row breaks off")
            return
        size, bandwidth = number(words[0]), number(words[1]) if len(words) > 1 else None
        if size is None or bandwidth is None or not 0 <= bandwidth < math.inf or size >= 2.0**63:
            self.problem("no measured value")
            return
        if len(words) > 2:
            self.problem(f"{len(words)} values where the header names 2")
        self.above = words
        self.rows.add(self.at, _UNTIMED, (size, size, bandwidth * _FACTORS[self.unit]))

    def corner(self, kind: str, labels: list[str]) -> None:
        """Take the labels of the columns of a matrix; those of a latency say whose time it is."""
        title, unit = self.titled
        name = f"p2pBandwidthLatencyTest {title}" + ("" if kind == "D\\D" else f" ({kind})")
        self.close()
        self.matrix = Matrix(
            {"benchmark": name, "collective": "copy"},
            unit,
            (("GPU", "row"), ("GPU", "column")),
        )
        self.matrix.labels = labels

    def headless(self, words: list[str], cut: bool) -> None:
        """Take a row of a matrix the labels of whose columns are lost."""
        if looks_like_row(words):
            self.corner("D\\D", [str(at) for at in range(len(words) - 1)])
            assert self.matrix is not None
            self.matrix.line(words, self, cut)


def _may_hold(text: str) -> bool:
    return "bandwidthTest-" in text or "Transfer Size (Bytes)" in text or ("P2P" in text and "Matrix" in text)


def _parse(lines: Lines) -> Reading:
    return read_lines(_Parser(), lines)


READER = Reader(
    "CUDA bandwidthTest and p2pBandwidthLatencyTest",
    "lines 'bandwidthTest-H2D-Pinned, Bandwidth = ...', tables under 'Transfer Size (Bytes)', 'P2P=... Matrix'",
    _may_hold,
    _parse,
)
