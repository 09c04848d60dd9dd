"""A schedule as a plain table of messages, in CSV: one row an operation of a rank.

======== ==================================================================================================
column   meaning
======== ==================================================================================================
rank     who does it
order    where it stands in the rank's program; a send and a receive with the same order are one exchange
kind     send, recv, isend, irecv, reduce, wait_recv, wait_send, wait_sends, wait_all
peer     to whom a message goes, or from whom it comes; else empty
nbytes   bytes of a message, or of a reduction; else empty
round    round of a message or reduction, counted from 0; else empty
======== ==================================================================================================
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from os import PathLike

from orrery_analytic.errors import QuantityError, ScheduleError, unknown_name
from orrery_analytic.schedules.operations import (
    EXCHANGE,
    IRECV,
    ISEND,
    RECV,
    REDUCE,
    SEND,
    WAIT_ALL,
    WAIT_RECV,
    WAIT_SEND,
    WAIT_SENDS,
    Operation,
    exchange,
)
from orrery_analytic.schedules.schedule import Schedule
from orrery_analytic.schedules.text import MOST, NUMBER, load, refuse, save, whole

__all__ = ["read_messages", "write_messages"]

_COLUMNS = ("rank", "order", "kind", "peer", "nbytes", "round")
_KINDS = {
    "send": SEND, "recv": RECV, "isend": ISEND, "irecv": IRECV, "reduce": REDUCE, "wait_recv": WAIT_RECV,
    "wait_send": WAIT_SEND, "wait_sends": WAIT_SENDS, "wait_all": WAIT_ALL,
}  # fmt: skip
_NAMES = {kind: name for name, kind in _KINDS.items()}
_WHOLE = re.compile(NUMBER)

Row = tuple[int | str, ...]


def write_messages(schedule: Schedule, path: str | PathLike[str] | None = None) -> str:
    """Return a schedule as CSV, operation by operation, and write it to a file if one is named.

    Columns: rank, order, kind, peer, nbytes, round. Nothing is lost but the number of ranks where the last ones do
    nothing (see `read_messages`).

    Raises
    ------
    QuantityError
        If a message or reduction has no whole number of bytes.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for rank in range(schedule.P):
        for order, operation in enumerate(schedule.operations(rank)):
            writer.writerows((rank, order, *row) for row in _rows(operation))
    return save(out.getvalue(), path)


def _rows(operation: Operation) -> Iterator[Row]:
    kind = operation[0]
    if kind == EXCHANGE:
        _, to, nbytes, source, nbytes_in, at = operation
        yield "send", to, whole(nbytes), at
        yield "recv", source, whole(nbytes_in), at
    elif kind == REDUCE:
        yield "reduce", "", whole(operation[1]), operation[2]
    elif kind in (SEND, RECV, ISEND, IRECV):
        yield _NAMES[kind], operation[1], whole(operation[2]), operation[3]
    elif kind in _NAMES:
        yield _NAMES[kind], "", "", ""
    else:
        raise ScheduleError(f"unknown operation {operation!r}.")


def read_messages(source: str | PathLike[str], P: int | None = None) -> Schedule:
    """Return the schedule that a table of messages describes.

    Parameters
    ----------
    source : path, or text with at least one line break
        CSV with a head. Columns, in any order: rank, order, kind, peer, nbytes, and round (0 unless given).
    P : int, optional
        Number of ranks; one more than the largest that is named unless given.

    Raises
    ------
    FormatError
        For a row that is no operation; the message names the line.
    FileMissingError
        If there is no such file.
    QuantityError
        If P is smaller than the ranks that the table names.
    """
    name, lines = load(source)
    rows: dict[int, dict[int, list[tuple[int, Operation]]]] = {}
    named = -1
    for line, cells in _cells(name, lines):
        rank, order = (_number(cells, column, name, line) for column in ("rank", "order"))
        operation = _operation(cells, name, line)
        peer = operation[1] if operation[0] in (SEND, RECV, ISEND, IRECV) else 0
        named = max(named, rank, peer)
        if named >= MOST:
            refuse(name, line, f"rank {named} is not below {MOST}")
        rows.setdefault(rank, {}).setdefault(order, []).append((line, operation))
    if P is None:
        P = max(named + 1, 1)
    elif isinstance(P, bool) or not hasattr(P, "__index__") or named >= P or P < 1:
        raise QuantityError(f"P must be a whole number above the ranks that {name} names (0 to {named}), but is {P!r}.")
    programs = {rank: [_together(orders[i], name) for i in sorted(orders)] for rank, orders in rows.items()}
    return Schedule(int(P), lambda rank: iter(programs.get(rank, ())), name)


def _cells(name: str, lines: list[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """Return number and cells of each row below the head."""
    head: list[str] | None = None
    for line, text in enumerate(lines, start=1):
        # Line by line, so that an open quotation mark does not swallow the rest of the file.
        try:
            row = [cell.strip() for cell in next(csv.reader([text], strict=True), [])]
        except csv.Error as error:
            refuse(name, line, f"it is not CSV ({error})")
        if not any(row):
            continue
        if head is None:
            head = row
            for column in head:
                if column not in _COLUMNS or head.count(column) > 1:
                    refuse(name, line, f"it must be the head. {unknown_name('column', column, _COLUMNS)}")
            missing = set(_COLUMNS) - set(head) - {"round"}
            if missing:
                refuse(name, line, f"columns are missing: {', '.join(sorted(missing))}")
            continue
        if len(row) != len(head):
            refuse(name, line, f"it has {len(row)} cells under a head of {len(head)}")
        yield line, dict(zip(head, row, strict=True))
    if head is None:
        refuse(name, len(lines), f"there is no head. Allowed: {','.join(_COLUMNS)}")


def _number(cells: dict[str, str], column: str, name: str, line: int) -> int:
    text = cells[column]
    if not _WHOLE.fullmatch(text):
        refuse(name, line, f"{column} is {text[:40]!r}. Allowed: a whole number of at most 15 digits")
    return int(text)


def _operation(cells: dict[str, str], name: str, line: int) -> Operation:
    kind = cells["kind"]
    if kind not in _KINDS:
        refuse(name, line, str(unknown_name("kind", kind[:40], _KINDS)).rstrip("."))
    fields = {"reduce": ("nbytes",)}.get(kind, () if kind.startswith("wait") else ("peer", "nbytes"))
    for column in ("peer", "nbytes"):
        if column not in fields and cells[column]:
            refuse(name, line, f"{kind} has no {column}, but {cells[column][:40]!r} is given")
    values = [_number(cells, column, name, line) for column in fields]
    if not fields:
        return (_KINDS[kind],)
    at = _number(cells, "round", name, line) if cells.get("round") else 0
    if at > MOST:
        refuse(name, line, f"round {at} is above {MOST}")
    return (_KINDS[kind], *values, at)


def _together(rows: list[tuple[int, Operation]], name: str) -> Operation:
    """Return the operation of one place in a program: that of its row, or the exchange of two."""
    if len(rows) == 1:
        return rows[0][1]
    by_kind = {operation[0]: operation for _, operation in rows}
    line = rows[-1][0]
    if len(rows) != 2 or set(by_kind) != {SEND, RECV}:
        refuse(name, line, "only one send and one recv may have the same rank and order: an exchange")
    outgoing, incoming = by_kind[SEND], by_kind[RECV]
    if outgoing[3] != incoming[3]:
        refuse(name, line, f"an exchange is of one round, but its rows have {outgoing[3]} and {incoming[3]}")
    return exchange(outgoing[1], outgoing[2], incoming[1], incoming[2], outgoing[3])
