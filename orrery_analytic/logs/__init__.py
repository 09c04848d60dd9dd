"""Benchmark logs of any known format, found by content, to one table."""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from orrery_analytic.errors import FormatError
from orrery_analytic.logs import (
    bandwidth_test,
    collbench,
    imb,
    nccl_csv,
    nccl_json,
    nccl_tests,
    netgauge,
    nvbandwidth,
    osu,
    own_columns,
    pico,
    probe,
)
from orrery_analytic.logs.beside import own_tables, unread
from orrery_analytic.logs.refused import refusal
from orrery_analytic.logs.table import COLUMNS, Block, LogWarning, Problem, Reader, Reading, frame, warn
from orrery_analytic.logs.text import Lines, excerpt, load, strip_prefix, to_lines

__all__ = ["COLUMNS", "LogWarning", "Problem", "read"]

_ROW = re.compile(r"\s*\d{1,19}(?:\s+\d{1,19}(?:\.\d{1,19})?){0,12}\s+\d{1,15}\.\d{1,19}\s*")
_ENDS_IN_DECIMALS = re.compile(r"\.\d{1,19}\s*$", re.MULTILINE)
_FILLED = re.compile(r"\S.*")
# So many rows above the first table are named one by one.
_MOST_UNTITLED = 1000

# A format is a module with a READER; the order does not matter. Own columns are looked for where none of them is.
_READERS: tuple[Reader, ...] = (
    osu.READER,
    netgauge.READER,
    imb.READER,
    nvbandwidth.READER,
    bandwidth_test.READER,
    pico.READER,
    probe.READER,
    collbench.READER,
    nccl_tests.READER,
    nccl_json.READER,
    nccl_csv.READER,
)


def read(source: object) -> pd.DataFrame:
    """Read a benchmark log: one table, a row a measured point.

    Parameters
    ----------
    source
        A path (`str` or `Path`), text (a `str` with a line break), bytes, an open file, or one item of an ipywidgets
        FileUpload (`upload.value[0]`). The format is found by content, not by name.

    Returns
    -------
    pandas.DataFrame
        Columns `orrery_analytic.logs.COLUMNS` says: seconds, bytes and bytes per second; `size` in bytes as printed
        and `n` in the convention of the formulas; NaN where nothing was measured. `attrs["warnings"]` lists the lines
        that look like measurements and were not read, or not in full, as (line, text).

    Raises
    ------
    FileMissingError
        There is no such file.
    FormatError
        No measured row, or no known format; the message says what was looked for and what was seen.

    Warns
    -----
    LogWarning
        For each of those lines (the first twenty, then their number).
    """
    name, text = load(source)
    lines = to_lines(text)
    readers = [reader for reader in _READERS if reader.may_hold(text)]
    lines.readers = max(1, sum(reader.parse is not None for reader in readers))
    with _no_collection():
        own = own_tables(lines) if readers else None
        theirs = lines.without(np.flatnonzero(own.lines)) if own and own.lines.any() else lines
        readings = [(reader, reading) for reader in readers for reading in reader.read(name, text, theirs)]
        readings = [(reader, _again(name, theirs, reader, reading, readings)) for reader, reading in readings]
        if not any(reading.seen for _, reading in readings):
            own = None
            if own_columns.READER.may_hold(text):
                readings += [(own_columns.READER, own_columns.READER.read_lines(name, lines))]
        elif own and own.readable.any():
            rest = lines.without(np.flatnonzero(~own.readable[1:]) + 1)
            readings += [(own_columns.READER, own_columns.READER.read_lines(name, rest))]
    blocks = [block for _, reading in readings for block in reading.blocks]
    problems = _problems(lines, [reading for _, reading in readings])
    problems = sorted([*_without_title(lines, blocks, problems), *problems, *(own.problems if own else ())])
    if own:
        problems = sorted([*problems, *unread(lines, blocks, problems, own)])
    if not blocks:
        seen = [(reader.name, reading.seen) for reader, reading in readings if reading.seen]
        recognised = [f"{format_} (line {place.line}: {place.text})" for format_, place in seen]
        stops = [reading.stopped for _, reading in readings if reading.stopped in problems and reading.stopped]
        raise FormatError(_nothing_in(name, lines, recognised, problems, stops))
    table = frame(name, blocks)
    table.attrs["warnings"] = problems
    warn(name, problems, stacklevel=2)
    return table


def _again(
    name: str, lines: Lines, reader: Reader, reading: Reading, readings: list[tuple[Reader, Reading]]
) -> Reading:
    """Have a reader that gave up look again, without the lines that others could read: those do not count."""
    if not reading.stopped or reading.by_value:
        return reading
    others = _read_in(lines, *(other for _, other in readings if other is not reading)) & ~_read_in(lines, reading)
    if not any(others[problem.line] for problem in reading.problems):
        return reading
    return reader.read_lines(name, lines.without(np.flatnonzero(others)))


def _read_in(lines: Lines, *readings: Reading) -> NDArray[np.bool_]:
    """Tell of each line, by its number, whether it was read."""
    found = np.zeros(len(lines) + 1, dtype=bool)
    for block in chain.from_iterable(reading.blocks for reading in readings):
        found[np.asarray(block.lines)] = True
    return found


@contextmanager
def _no_collection() -> Iterator[None]:
    """Keep the garbage collector away: of millions of small rows, none is garbage, and it looks at all of them."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _problems(lines: Lines, readings: Sequence[Reading]) -> list[Problem]:
    """Return the problems in the order of their lines, but those of lines that another format claims."""
    numbers = {problem.line for reading in readings for problem in reading.problems}
    claimed: dict[int, int] = {}
    for at, reading in enumerate(readings if numbers else ()):
        read = _read_in(lines, reading)
        claimed.update((number, at) for number in numbers if read[number])
    # Where nobody read a line, he knows best who read others.
    for at in sorted(range(len(readings)), key=lambda at: not readings[at].blocks):
        for problem in readings[at].problems:
            claimed.setdefault(problem.line, at)
    kept = [problem for at, each in enumerate(readings) for problem in each.problems if claimed[problem.line] == at]
    counted = {claimed[problem.line] for problem in kept}
    stops = [each.stopped for at, each in enumerate(readings) if each.stopped and (each.blocks or at in counted)]
    return sorted(kept + stops)


def _without_title(lines: Lines, blocks: Sequence[Block], problems: Sequence[Problem]) -> list[Problem]:
    """Name rows of numbers above the first table: no reader knows whose they are."""
    first = min((int(min(block.lines)) for block in blocks), default=1)
    named = {problem.line for problem in problems}
    places = _ENDS_IN_DECIMALS.finditer(lines.text, 0, int(lines.ends[first - 2]) if first > 1 else 0)
    untitled: list[Problem] = []
    while len(untitled) < _MOST_UNTITLED and (some := [found.start() for found in islice(places, _MOST_UNTITLED)]):
        untitled += [
            Problem(at, f"a row without its title or header above it: {excerpt(lines[at - 1])}")
            for at in lines.numbers(some)
            if at not in named and _ROW.fullmatch(strip_prefix(lines[at - 1]))
        ]
    if next(places, None):
        untitled.append(Problem(untitled[-1].line, "more rows without their title or header may follow it"))
    return untitled


def _nothing_in(name: str, lines: Lines, recognised: list[str], problems: list[Problem], stops: list[Problem]) -> str:
    """Say what was looked for, what was recognised, and what is there instead of measured rows."""
    known = "; ".join(f"{reader.name} ({reader.looks_for})" for reader in _READERS)
    filled = lines.numbers(found.start() for found in islice(_FILLED.finditer(lines.text), 3))
    first = [f"line {number}: {excerpt(lines[number - 1])}" for number in filled]
    kind = None if recognised else refusal(lines)
    if kind:
        text = f"{name} is no log of a benchmark, but {kind}"
    else:
        text = f"{name} holds no measured row"
        text += f", though it looks like {', '.join(recognised)}." if recognised else " of a known format."
    text += "".join(f" Line {problem.line}: {problem.text}." for problem in problems[:3])
    text += "".join(f" Reading stopped at line {stop.line}: {stop.text}." for stop in stops if stop not in problems[:3])
    begin = "; ".join(first) or "nothing: it is empty"
    return f"{text} Looked for: {known}. It begins with {begin}. {own_columns.OWN_NUMBERS}."
