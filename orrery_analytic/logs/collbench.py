"""CollBench: each send and receive of each rank, from the JSON that it exports.

The file has neither sizes nor the collective nor the number of ranks. Its clock counts on each host by itself: times
of ranks of one host compare, those of different hosts do not. `seconds` is from the begin of an operation to its end:
for a small message that is sent at once it is no transfer time, and a receive holds the wait for a late sender.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from orrery_analytic.logs.objects import flat_objects
from orrery_analytic.logs.table import Block, Problem, Reader, Reading
from orrery_analytic.logs.text import excerpt

__all__ = ["READER", "OPERATIONS", "Operation", "operations", "written"]

OPERATIONS = ("send", "recv", "bcast", "reduce", "allreduce", "scatter", "gather", "allgather", "alltoall", "unknown")
_KEYS = ("operation_type", "algo_idx", "t_start_ns", "t_end_ns")
_MOST = 1 << 20
"""The most ranks."""
_LATEST = 1 << 64
_COUNT = re.compile(r'"count"\s{0,9}:\s{0,9}(\d{1,9}),\s{0,9}"operations"')


@dataclass(frozen=True)
class Operation:
    """An operation of a rank: its line in the file, kind, ranks, step, and times in nanoseconds of its host's clock.

    `wait` is 0 where the program did not wait for it by itself.
    """

    line: int
    kind: str
    rank: int
    peer: int
    step: int
    start: int
    wait: int
    end: int


def operations(text: str) -> tuple[list[Operation], list[Problem]]:
    """Return the operations of a CollBench file, in its order, and which entries are none and why."""
    found: list[Operation] = []
    problems: list[Problem] = []
    reading = Reading(problems=problems)
    for line, entry in flat_objects(text, _KEYS):
        if reading.full(line):
            break
        made = entry if isinstance(entry, str) else _operation(line, entry)
        if isinstance(made, Operation):
            found.append(made)
        else:
            problems.append(Problem(line, f"an operation is not read: {made}"))
    counts = list(_COUNT.finditer(text))
    counted, there = sum(int(count[1]) for count in counts), len(found) + len(problems)
    if reading.stopped:
        problems.append(reading.stopped)
    elif counts and (counted > there or (counted < there and not problems)):  # one broken entry may look like two
        line = text.count("\n", 0, counts[0].start()) + 1
        problems.append(Problem(line, f"count says {counted} operations, but there are {there}"))
    return found, sorted(problems)


def _operation(line: int, entry: dict[str, Any]) -> Operation | str:
    """Return the operation of an entry, or what is wrong with it."""
    kind = entry.get("operation_type")
    if kind not in OPERATIONS:
        return f"operation_type is {_shown(kind)}"
    names = ("rank", "peer", "algo_idx", "t_start_ns", "t_wait_ns", "t_end_ns")
    values = {name: _whole(entry.get(name)) for name in names}
    if values["t_wait_ns"] is None and "t_wait_ns" not in entry:
        values["t_wait_ns"] = 0
    for name, value in values.items():
        if value is None:
            return f"{name} is {_shown(entry.get(name))}" if name in entry else f"it has no {name}"
    rank, peer, step, start, wait, end = (value for value in values.values() if value is not None)
    if kind in ("send", "recv") and not (0 <= rank < _MOST and 0 <= peer < _MOST):
        return f"it goes from rank {rank} to rank {peer}"
    if not 0 <= start <= end < _LATEST or not 0 <= wait < _LATEST:
        return "it ends before it begins"
    # t_total is end - start. Of what is there twice, one may have been changed.
    total = _whole(entry.get("t_total_ns", end - start))
    if total != end - start:
        return f"t_total_ns is {_shown(entry.get('t_total_ns'))}, but end - start is {end - start}"
    return Operation(line, str(kind), rank, peer, step, start, wait, end)


def _whole(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not -_LATEST < value < _LATEST:
        return None
    return int(value) if value == int(value) else None


def _shown(value: object) -> str:
    return excerpt(value if isinstance(value, str) else repr(value)[:100], 40)


def _parse(text: str) -> Reading:
    found, problems = operations(text)
    reading = Reading(problems=problems)
    lines = [each.line for each in found] + [problem.line for problem in problems]
    reading.seen = Problem(min(lines), "an operation of CollBench") if lines else None
    if found:
        zero = min(each.start for each in found)
        columns: dict[str, list[Any]] = {
            "operation": [each.kind for each in found],
            "collective": ["p2p" if each.kind in ("send", "recv") else each.kind for each in found],
            "rank": [each.rank for each in found],
            "peer": [each.peer for each in found],
            "step": [each.step for each in found],
            "seconds": [(each.end - each.start) / 1e9 for each in found],
            "start_seconds": [(each.start - zero) / 1e9 for each in found],
            "end_seconds": [(each.end - zero) / 1e9 for each in found],
            # t_wait stays 0 where the program did not wait: then t_issue, printed as an unsigned number, is 1.8e19.
            "issue_seconds": [
                (each.wait - each.start) / 1e9 if each.start <= each.wait <= each.end else float("nan")
                for each in found
            ],
        }
        reading.blocks.append(Block([each.line for each in found], columns, {"benchmark": "CollBench"}))
    return reading


def written(found: list[Operation]) -> str:
    """Return operations as CollBench writes them."""
    entries = [
        {
            "index": index, "operation_type": each.kind, "rank": each.rank, "peer": each.peer, "algo_idx": each.step,
            "t_start_ns": each.start, "t_wait_ns": each.wait, "t_end_ns": each.end,
            "t_issue_ns": (each.wait - each.start) % _LATEST, "t_total_ns": each.end - each.start,
        }
        for index, each in enumerate(found)
    ]  # fmt: skip
    return json.dumps({"count": len(entries), "operations": entries}, indent=2) + "\n"


def _may_hold(text: str) -> bool:
    return any(f'"{key}"' in text for key in _KEYS)


READER = Reader(
    "CollBench",
    'JSON with "operations", each with "operation_type", "rank", "peer", "algo_idx", "t_start_ns"',
    _may_hold,
    parse_text=_parse,
)
