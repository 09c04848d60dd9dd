"""The classic form of rule files, and ``rule-file-version-2``, read as Open MPI 4.1 and 5.0 read them.

A file is a row of numbers: of collectives, and for each its number and that of its communicator sizes; for each size
the size and the number of its rules; for each rule bytes, algorithm, fan, bytes of a segment and, in version 2, perhaps
the most requests. Line breaks mean nothing, all that is no number is skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NoReturn

from orrery_analytic.decisions.names import algorithms_of
from orrery_analytic.decisions.rule_files.numbers import Number, Text, numbers
from orrery_analytic.decisions.rule_files.problems import Problems, algorithm_list, odd_rules
from orrery_analytic.decisions.rule_files.records import (
    COLLECTIVES,
    DECIDED,
    NO_RULE,
    Collectives,
    CommRule,
    MessageRule,
    signed,
)
from orrery_analytic.decisions.versions import Version

__all__ = ["HEADER", "SECOND_FORM", "has_header", "read_classic"]

HEADER = "rule-file-version-"
#: The first release that knows the header and a fifth number in a rule.
SECOND_FORM = Version(5, 0, 7)

_HEADER = re.compile(HEADER.encode() + rb"\s*([+-]?[0-9]{1,9})")
_DIGIT_AHEAD = re.compile(rb"[ \t]*[0-9]")
_OCTAL = re.compile(rb"[+]?0(?:[0-9]|[xX](?![0-9a-fA-F]))")
_UNKNOWN = "Open MPI {} reads the file, but calls that take this rule fail with MPI_ERR_ARG, which ends the job"


def has_header(data: bytes) -> bool:
    """Return whether a file begins with the header of the second form."""
    return _HEADER.match(data) is not None


def read_classic(data: bytes, problems: Problems, version: Version, release: str) -> tuple[str, Collectives]:
    """Return the form of a file, "classic" or "version-2", and its rules.

    Parameters
    ----------
    data
        The file.
    problems
        Takes what is odd.
    version
        Of the library that reads it.
    release
        Whose algorithms are allowed: "4.1" or "5.0".

    Raises
    ------
    FormatError
        Where the library ignores the file, or where a call that takes a rule fails.
    """
    text, start, second = Text(data), 0, False
    if version >= SECOND_FORM:
        header = _HEADER.match(data)
        start = header.end() if header else _prefix(data)
        second = header is not None and int(header[1]) > 1
    return "version-2" if second else "classic", _Reader(text, start, problems, second, release).collectives()


def _prefix(data: bytes) -> int:
    """Return how much of the header a file without it begins with: the library has read past that."""
    pairs = zip(data[: len(HEADER)], HEADER.encode(), strict=False)
    return next((i for i, (have, want) in enumerate(pairs) if have != want), min(len(data), len(HEADER)))


class _Reader:
    """Takes the numbers of a file one after the other."""

    def __init__(self, text: Text, start: int, problems: Problems, second: bool, release: str) -> None:
        self.text, self.problems, self.second, self.release = text, problems, second, release
        self.junk: list[tuple[int, int]] = []
        self.numbers: Iterator[Number] = numbers(text, start, self.junk)
        self.last = Number(0, start, start)
        self.known: dict[str, dict[int, str]] = {}
        self.unknown: tuple[int, str] | None = None
        self.broken: tuple[int, int] | None = None

    def collectives(self) -> Collectives:
        """Return the rules of all collectives; of two for the same the later."""
        found: dict[str, tuple[CommRule, ...]] = {}
        total = self.next("the number of collectives", len(COLLECTIVES))
        for _ in range(total):
            collective = COLLECTIVES[self.next("the number of a collective", len(COLLECTIVES) - 1)]
            line = self.line()
            if collective in found:
                self.problems.note(line, f"rules for {collective} once more: these replace the earlier ones")
            found[collective] = self.comms(collective)
            odd_rules(collective, found[collective], self.problems, line)
        if not total:
            self.problems.note(self.line(), "no rules")
        if self.unknown:  # only now: what the library ignores it does not use
            self.problems.refuse(*self.unknown, _UNKNOWN)
        self.look_around()
        return tuple((collective, comms) for collective, comms in found.items() if comms)

    def comms(self, collective: str) -> tuple[CommRule, ...]:
        """Return the rules of a collective."""
        comms: list[CommRule] = []
        for _ in range(self.next(f"the number of communicator sizes of {collective}")):
            ranks = max(self.small("a communicator size"), 0)
            line = self.line()
            if not comms and ranks > 2:
                self.problems.note(line, f"{collective}: the rules from {ranks} ranks on are taken on fewer ranks too")
            comms.append(CommRule(ranks, self.messages(collective, ranks), line=line))
        for before, comm in pairwise(comms):
            if comm.from_ranks <= before.from_ranks:
                self.problems.note(comm.line, f"{collective}: {comm.from_ranks} ranks after {before.from_ranks}")
        return tuple(comms)

    def messages(self, collective: str, ranks: int) -> tuple[MessageRule, ...]:
        """Return the rules for a communicator size."""
        messages: list[MessageRule] = []
        total, counted = self.next(f"the number of rules of {collective} from {ranks} ranks on"), self.last
        for _ in range(total):
            nbytes = self.next("the bytes of a rule")
            start, line = self.last.start, self.line()
            number = self.small("the algorithm of a rule")
            self.check_algorithm(collective, number, line)
            fan = max(self.small("the fan of a rule"), 0)
            segment = self.small("the segment size of a rule") % 2**32
            requests = 0
            if self.second and _DIGIT_AHEAD.match(self.text.data, self.last.end):
                requests = max(self.small("the most requests of a rule"), 0)
            if not messages and nbytes:
                found = f"the first rule of {collective} from {ranks} ranks on begins at {nbytes} bytes"
                self.refuse(line, f"{found}. Allowed: 0")
            if self.broken is None and b"\n" in self.text.data[start : self.last.end]:
                self.broken = line, self.text.line(counted.start)
            if messages and nbytes <= messages[-1].from_bytes:
                self.problems.note(line, f"{collective}: {nbytes} bytes after {messages[-1].from_bytes}")
            messages.append(MessageRule(nbytes, number, fan, segment, requests, line=line))
        return tuple(messages)

    def check_algorithm(self, collective: str, number: int, line: int) -> None:
        """Keep the first algorithm that the library does not have."""
        if self.unknown or collective not in DECIDED or number == NO_RULE:
            return
        if collective not in self.known:
            self.known[collective] = algorithms_of(collective, self.release)
        if number not in self.known[collective]:
            later = algorithms_of(collective).get(number)
            hint = f" ({later} came with 5.0)" if later else ""
            allowed = algorithm_list(collective, self.release)
            self.unknown = line, f"algorithm {number} of {collective}{hint}. Allowed: {allowed}"

    def small(self, what: str) -> int:
        """Return the next number as a C int keeps it."""
        value = self.next(what)
        if value != signed(value):
            self.problems.note(self.line(), f"{value} becomes {signed(value)}: it is kept in 32 bits")
        return signed(value)

    def next(self, what: str, most: int | None = None) -> int:
        """Return the next number."""
        number = next(self.numbers, None)
        allowed = "whole numbers from 0 on" if most is None else f"0 to {most}"
        if number is None:
            self.refuse(self.text.line(len(self.text.data)), f"the file ends where {what} is due")
        self.last = number
        value = number.value
        if value < 0 or (most is not None and value > most):
            shown = self.text.excerpt(number.start, number.end)
            self.refuse(self.line(), f"{what} is {shown}. Allowed: {allowed}")
        if self.text.data[number.start] in b"+0" and _OCTAL.match(self.text.data, number.start):
            shown = self.text.excerpt(number.start, number.end)
            self.problems.note(self.line(), f"{shown} is {value}: a leading 0 makes it octal")
        return value

    def refuse(self, line: int, problem: str) -> NoReturn:
        """Raise the error for a line, with what may be its cause: a number of rules that is not theirs."""
        hint = ""
        if self.broken:
            hint = (
                f". The rule of line {self.broken[0]} runs over its end: is the number in line {self.broken[1]} right?"
            )
        self.problems.refuse(line, f"{problem}{hint}")

    def line(self) -> int:
        """Return the line of the last number."""
        return self.text.line(self.last.start)

    def look_around(self) -> None:
        """Note what the library skipped, and what it did not come to."""
        for start, end in self.junk:
            self.problems.note(self.text.line(start), f"{self.text.excerpt(start, end)} is skipped: it is no number")
        if self.broken:
            self.problems.note(
                self.broken[0], f"a rule runs over its line: is the number in line {self.broken[1]} right?"
            )
        rest = next(self.numbers, None)
        if rest is not None:
            line = self.text.line(rest.start)
            self.problems.note(
                line, "numbers after the last rule are not read: is one of the numbers of rules too small?"
            )
