"""Reads text in GOAL: which operations each rank has, and which of them wait for which."""

from __future__ import annotations

import re
from collections import deque

from orrery_analytic.schedules.graphs import Step
from orrery_analytic.schedules.operations import IRECV, ISEND, irecv, isend, reduce
from orrery_analytic.schedules.text import MOST, NUMBER, refuse

__all__ = ["check_tags", "read_steps"]

_ANY = -1
_LABEL = r"[a-zA-Z][a-zA-Z0-9_]*"
_PLACE = rf"(?:\s+cpu\s+(?P<cpu>{NUMBER}))?(?:\s+nic\s+(?P<nic>{NUMBER}))?"
_MESSAGE = re.compile(
    rf"(?:(?P<label>{_LABEL})\s*:\s*)?(?:(?P<send>send)|recv)\s+(?P<nbytes>{NUMBER})b\s+(?P<way>to|from)\s+"
    rf"(?P<peer>-1|{NUMBER})(?:\s+tag\s+(?P<tag>-1|{NUMBER}))?{_PLACE}"
)
_CALC = re.compile(rf"(?:(?P<label>{_LABEL})\s*:\s*)?calc\s+(?P<time>{NUMBER}){_PLACE}")
_DEPENDENCY = re.compile(rf"(?P<after>{_LABEL})\s+(?P<kind>i?requires)\s+(?P<before>{_LABEL})")
_FRAME = re.compile(rf"num_ranks\s+(?P<P>{NUMBER})|rank\s+(?P<rank>{NUMBER})\s*{{|(?P<end>}})")
_ROUND = re.compile(rf"// round ({NUMBER})")


def read_steps(name: str, lines: list[str]) -> list[list[Step]]:
    """Return the operations of each rank in the order of the text.

    Raises
    ------
    FormatError
        For what is not GOAL, or what a `Schedule` cannot say.
    """
    reader = _Reader(name)
    reader.read(lines)
    return [reader.ranks[rank] for rank in range(len(reader.ranks))]


class _Reader:
    """Reads lines into the steps of each rank."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.P: int | None = None
        self.rank: int | None = None
        self.ranks: dict[int, list[Step]] = {}
        self.labels: dict[str, int] = {}
        self.round = 0

    def read(self, lines: list[str]) -> None:
        number, comment = 0, False
        for number, line in enumerate(lines, start=1):
            if found := _ROUND.fullmatch(line.strip()):
                self.round = int(found[1])
                if self.round > MOST:
                    refuse(self.name, number, f"round {self.round} is above {MOST}")
            text, comment = _without_comments(line, comment)
            while frame := _FRAME.match(text):
                self.frame(frame, number)
                text = text[frame.end() :].strip()
            if text:
                self.statement(text, number)
        if self.rank is not None:
            refuse(self.name, number, f"the text ends inside rank {self.rank}: }} is missing")
        if self.P is None:
            refuse(self.name, number, "num_ranks is missing")
        missing = next((rank for rank in range(self.P) if rank not in self.ranks), None)
        if missing is not None:
            refuse(self.name, number, f"there are {self.P} ranks, but rank {missing} is missing")

    def frame(self, found: re.Match[str], line: int) -> None:
        if found["P"]:
            self.P = int(found["P"])
            if self.ranks or not 1 <= self.P <= MOST:
                refuse(self.name, line, f"num_ranks must come first, from 1 to {MOST}")
        elif found["end"]:
            if self.rank is None:
                refuse(self.name, line, "} closes nothing")
            self.rank = None
        else:
            rank = int(found["rank"])
            if self.rank is not None:
                refuse(self.name, line, f"rank {rank} begins before rank {self.rank} ends: }} is missing")
            if self.P is None or rank >= self.P or rank in self.ranks:
                refuse(self.name, line, f"rank {rank} is there twice, or not below num_ranks ({self.P})")
            self.rank, self.ranks[rank], self.labels, self.round = rank, [], {}, 0

    def statement(self, text: str, line: int) -> None:
        if self.rank is None:
            refuse(self.name, line, f"{text[:60]!r} is outside a rank. Allowed: num_ranks N, rank R {{")
        if found := _DEPENDENCY.fullmatch(text):
            for label in (found["after"], found["before"]):
                if label not in self.labels:
                    refuse(self.name, line, f"no operation {label!r} comes before this line in rank {self.rank}")
            step = self.ranks[self.rank][self.labels[found["after"]]]
            step.after.append((self.labels[found["before"]], found["kind"] == "requires"))
        elif found := _MESSAGE.fullmatch(text):
            self.add(self.message(found, line), found, line)
        elif found := _CALC.fullmatch(text):
            self.add(Step(line, reduce(int(found["time"]), self.round)), found, line)
        else:
            refuse(
                self.name, line,
                f"{text[:60]!r} is not GOAL. Allowed: l1: send 8b to 1 tag 0, l1: recv 8b from 1 tag 0, l1: calc 100, "
                "l2 requires l1, l2 irequires l1",
            )  # fmt: skip

    def message(self, found: re.Match[str], line: int) -> Step:
        peer, nbytes, tag = int(found["peer"]), int(found["nbytes"]), int(found["tag"] or 0)
        if (found["way"] == "to") != bool(found["send"]):
            refuse(self.name, line, "it is send ... to, and recv ... from")
        if peer == _ANY:
            refuse(self.name, line, "messages from any source are not understood: a schedule names each partner")
        if self.P is None or peer >= self.P:
            refuse(self.name, line, f"there is no rank {peer}; ranks are 0 to {(self.P or 1) - 1}")
        return Step(line, (isend if found["send"] else irecv)(peer, nbytes, self.round), tag)

    def add(self, step: Step, found: re.Match[str], line: int) -> None:
        assert self.rank is not None
        for place in ("cpu", "nic"):
            if int(found[place] or 0):
                refuse(self.name, line, f"{place} {found[place]} is not understood: a rank has one of each, number 0")
        steps = self.ranks[self.rank]
        if found["label"]:
            if found["label"] in self.labels:
                refuse(self.name, line, f"{found['label']!r} is there twice in rank {self.rank}")
            self.labels[found["label"]] = len(steps)
        steps.append(step)


def _without_comments(line: str, inside: bool) -> tuple[str, bool]:
    """Return a line without comments, and whether one goes on in the next line."""
    kept = []
    while line:
        if inside:
            _, end, line = line.partition("*/")
            inside = not end
        else:
            start = re.search(r"//|/\*", line)
            kept.append(line[: start.start()] if start else line)
            inside = bool(start and start[0] == "/*")
            line = line[start.end() :] if start and inside else ""
    return " ".join(kept).strip(), inside


def check_tags(posted: list[list[Step]], name: str) -> None:
    """Refuse messages that would overtake each other: a schedule matches them in the order of their posting."""
    sent: dict[tuple[int, int], deque[int]] = {}
    for rank, steps in enumerate(posted):
        for step in steps:
            if step.operation[0] == ISEND:
                sent.setdefault((rank, step.operation[1]), deque()).append(step.tag)
    for rank, steps in enumerate(posted):
        for step in steps:
            if step.operation[0] != IRECV:
                continue
            source = step.operation[1]
            tags = sent.get((source, rank))
            if not tags:
                refuse(name, step.line, f"rank {source} sends no such message to rank {rank}")
            tag = tags.popleft()
            if _ANY not in (tag, step.tag) and tag != step.tag:
                refuse(
                    name, step.line,
                    f"tag {step.tag} is received where rank {source} sends tag {tag}: messages between two ranks must "
                    "be received in the order in which they are sent",
                )  # fmt: skip
