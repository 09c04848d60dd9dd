"""Netgauge, LogGP pattern: round trips of trains of messages, and the parameters that netgauge makes of them.

`seconds` is one way, half of PRTT(1,0,s). netgauge's L, o, g and G are kept as printed, negative and missing ones too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from orrery_analytic.logs.osu_headers import memory
from orrery_analytic.logs.rows import Notes, Rows, cut_short, looks_like_row, number, plain, read_lines
from orrery_analytic.logs.table import Reader, Reading
from orrery_analytic.logs.text import Lines, strip_prefix

__all__ = ["READER"]

# As printed (microseconds, microseconds per byte), with the column of the table; "" is a count or has no unit.
_COLUMNS = {
    "size": ("size", 1.0),
    "n": ("messages", 1.0),
    "PRTT(1,0,s)": ("round_trip_seconds", 1e6),
    "PRTT(n,0,s)": ("train_seconds", 1e6),
    "PRTT(n,PRTT(1,0,s),s)": ("spaced_train_seconds", 1e6),
    "L": ("L", 1e6),
    "o_s": ("o_send", 1e6),
    "o_r": ("o_recv", 1e6),
    "g": ("g", 1e6),
    "G": ("G", 1e6),
    "lsqu(g,G)": ("lsqu", 1.0),
}
_CONSTANTS = {"benchmark": "netgauge LogGP", "collective": "p2p", "ranks": 2.0, **memory("host", "host")}


@dataclass
class _Parser(Notes):
    names: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    above: list[str] = field(default_factory=list)
    rows: Rows = field(default_factory=lambda: Rows(_CONSTANTS))

    def line(self, at: int, text: str, words: list[str], cut: bool) -> None:
        """Take a line; `cut` if the log ends in it, without a line feed."""
        self.at, self.text = at, text
        if not words[0].isdecimal():
            self.text = strip_prefix(text)
            words = self.text.split()
        if not words:
            return
        if words[0].isdecimal():
            self.row(words, cut)
        elif "PRTT(" in self.text and self.text[0] == "#":
            self.header(words[1:])
        elif "lsqu(" in self.text and self.text[0] != "#":  # the hash mark is lost
            self.header(words)
        elif self.leaves():
            self.rows.close(self.reading)
            self.names = ()
        elif self.names and self.text[0] != "#" and looks_like_row(words):
            self.problem("looks like a row, but it does not begin with a size")

    def end(self) -> Reading:
        """Return what was read."""
        self.rows.close(self.reading)
        return self.reading

    def header(self, words: list[str]) -> None:
        """Take the names of the columns; where they are as many as ever, they are those, mangled or not."""
        self.rows.close(self.reading)
        self.see()
        self.elsewhere = False
        usual = tuple(_COLUMNS)
        self.names = usual if len(words) == len(usual) else tuple(words)
        self.columns = (*(_COLUMNS[name][0] for name in self.names if name in _COLUMNS), "n", "seconds")

    def many(self, chunk: list[tuple[int, str]]) -> int:
        """Take the rows that lines begin with, all at once, if they are plain ones; return how many there are."""
        names = self.names
        if names != tuple(_COLUMNS):
            return 0
        values = plain(chunk, len(names))
        if rows := len(values):
            columns = {
                _COLUMNS[name][0]: of_name / _COLUMNS[name][1] for name, of_name in zip(names, values.T, strict=True)
            }
            columns |= {"n": columns["size"], "seconds": columns["round_trip_seconds"] / 2}
            self.above = strip_prefix(chunk[rows - 1][1]).split()
            self.rows.many([at for at, _ in chunk[:rows]], columns)
        return rows

    def row(self, words: list[str], cut: bool) -> None:
        """Take a line that begins like a row."""
        if not self.names:
            if not self.elsewhere and looks_like_row(words):
                self.problem("a row without the header of its columns")
            return
        values: dict[str, float] = {}
        for name, word in zip(self.names, words, strict=False):
            value = number(word)
            if value is None:
                if looks_like_row(words):
                    self.problem(f"{name} is no number")
                return
            if name in _COLUMNS:
                column, scale = _COLUMNS[name]
                values[column] = value / scale
        if cut and (len(words) < len(self.names) or cut_short(words, self.above)):
            self.problem("row breaks off")
            return
        size, there_and_back = values.get("size", math.nan), values.get("round_trip_seconds", math.nan)
        if not (0 <= size < 2.0**63 and 0 <= there_and_back < math.inf):
            self.problem("no measured value")
            return
        columns = self.columns
        if len(words) != len(self.names):
            self.problem(f"{len(words)} values where the header names {len(self.names)}")
            if len(words) < len(self.names):  # which one is missing, nobody knows
                values = {column: values[column] for column in ("size", "round_trip_seconds")}
                columns = (*values, "n", "seconds")
        self.above = words
        self.rows.add(self.at, columns, (*values.values(), size, there_and_back / 2))


def _may_hold(text: str) -> bool:
    return any(sign in text for sign in ("PRTT(", "lsqu(", "loggp.out"))


def _parse(lines: Lines) -> Reading:
    return read_lines(_Parser(), lines)


READER = Reader("netgauge LogGP", "a header '# size n PRTT(1,0,s) ...'", _may_hold, _parse)
