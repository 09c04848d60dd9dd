"""nccl-tests as JSON: -J of 2.17.3 and later, the object keyed by size of an earlier patch, and records of rccl-tests.

The first holds the whole environment of the process, which may hold secrets: nothing of it is kept, or quoted.
"""

from __future__ import annotations

import bisect
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from orrery_analytic.logs.nccl_points import Points, Run, block
from orrery_analytic.logs.nccl_results import name_of, points_of, ranks_of, results_in, run_of, run_of_record
from orrery_analytic.logs.table import Problem, Reader, Reading, patience

__all__ = ["READER"]

_SIGNS = ('"alg_bw"', '"oop_time"', '"algBw"')
_BEGINS = re.compile(r'\{\s*"|\[\s*\{')
# Where the result of a size begins, in the order of the text.
_RESULT = re.compile(r'"size"\s*:|"\d{1,18}"\s*:\s*\{')
# Characters that may be read twice: a cut document is, broken ones without end are not.
_SECOND_READINGS = 4
_SHORT = 50_000
# After so many values it is seen whether to go on.
_STRIDE = 64
_DECODER = json.JSONDecoder()


@dataclass
class _Table:
    """The results of one document, or of records that follow each other."""

    key: object
    run: Run
    document: Mapping[str, Any] | None
    points: Points = field(default_factory=Points)


@dataclass
class _Parser:
    text: str
    reading: Reading = field(default_factory=lambda: Reading(by_value=True))
    open: _Table | None = None
    ends: list[int] = field(default_factory=list)
    breaks: set[int] = field(default_factory=set)
    cut: Run | None = None
    """What the configuration of a document says that breaks off."""

    def line(self, place: int) -> int:
        """Return the line, from 1, of a place in the text."""
        if not self.ends:
            self.ends = [found.start() for found in re.finditer("\n", self.text)] or [len(self.text)]
        return bisect.bisect_left(self.ends, place) + 1

    def parse(self) -> Reading:
        """Decode every value that the text holds; of one that breaks off, those inside it."""
        at, spare = 0, _SECOND_READINGS * len(self.text) + 100_000
        while found := _BEGINS.search(self.text, at):
            start = found.start()
            self.reading.looked += 1
            if self.reading.looked % _STRIDE == 0 and self.full(start):
                break
            value, at, cost = self.decode(start)
            if at > start:
                self.take(value, start, at)
                continue
            at, spare = start + 1, spare - cost
            if spare < 0:
                self.problem(at, "too much of this is broken JSON: the rest is not read")
                break
        self.close()
        return self.reading

    def full(self, place: int) -> bool:
        """Tell whether there are more tables, problems or values than any log has."""
        return self.reading.full(self.line(place), patience(self.text))

    def close(self) -> None:
        """End a table: its points become a block."""
        if self.open and self.open.points:
            self.reading.blocks.append(block(self.open.points, self.open.run))
        self.open = None

    def decode(self, start: int) -> tuple[Any, int, int]:
        """Return the value that begins at a place and where it ends, or, if there is none, what it cost to see that.

        Most values end in their line, which is looked at alone: an error costs a count of all lines before it.
        """
        end = self.text.find("\n", start, start + _SHORT)
        alone = self.text[start:end] if end >= 0 else ""
        cost = 0
        for text, offset in ((alone, start), (self.text, 0)) if alone else ((self.text, 0),):
            try:
                value, at = _DECODER.raw_decode(text, start - offset)
            except json.JSONDecodeError as error:
                cost += error.pos + offset - start + len(text) // 50 + 150
                if text is alone and error.pos >= len(alone.rstrip()):
                    continue
                place = start if any(sign in alone for sign in _SIGNS) else error.pos + offset
                self.broken(start, error.pos + offset, place, error.msg)
            except RecursionError:
                cost += len(text) // 50 + 20_000
            except ValueError:  # a number of thousands of digits
                self.problem(start, "a number with too many digits")
                cost += len(text) // 50 + 20_000
            else:
                return value, at + offset, 0
            break
        return None, start, cost

    def problem(self, place: int, what: str) -> None:
        """Note what looks like data and is not read; never with the text, which may hold secrets."""
        self.reading.problems.append(Problem(self.line(place), what))

    def broken(self, start: int, end: int, place: int, message: str) -> None:
        """Note a value that is no JSON, if results stand in it."""
        if end not in self.breaks and any(self.text.find(sign, start, end + 1) >= 0 for sign in _SIGNS):
            self.breaks.add(end)
            self.problem(place, f"JSON breaks here ({message})")

    def take(self, value: Any, start: int, end: int) -> None:
        """Take a decoded value."""
        results = list(results_in(value))
        if not results:
            if isinstance(value, dict) and "nthreads" in value:
                self.cut = run_of({"config": value}, {})  # of a document that breaks off
            return
        self.reading.seen = self.reading.seen or Problem(self.line(start), "results as JSON")
        places = [found.start() for found in _RESULT.finditer(self.text, start, end)]
        for index, (document, result) in enumerate(results):
            place = places[index] if len(places) == len(results) else start
            points, fault = points_of(self.line(place), result)
            self.table(document, result).points.take(points)
            if fault:
                self.problem(place, fault)
                if self.full(place):
                    break

    def table(self, document: Mapping[str, Any] | None, result: Mapping[str, Any]) -> _Table:
        """Return the table of a result: that of its document, or of records of the same test that come one by one."""
        key = id(document) if document is not None else (name_of(result), str(ranks_of(result)))
        if not self.open or self.open.key != key:
            self.close()
            run = run_of(document, result) if document is not None else run_of_record(result, self.cut)
            # The document is kept, or another one could take its identity.
            self.open = _Table(key, run, document)
        return self.open


def _may_hold(text: str) -> bool:
    return any(sign in text for sign in _SIGNS)


def _parse(text: str) -> Reading:
    return _Parser(text).parse()


READER = Reader(
    "nccl-tests or rccl-tests as JSON",
    'objects with "alg_bw", "oop_time" or "algBw"',
    _may_hold,
    parse_text=_parse,
)
