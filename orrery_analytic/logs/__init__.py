"""Benchmark logs of any known format, found by content, to one table."""

from __future__ import annotations

from itertools import islice

import pandas as pd

from orrery_analytic.errors import FormatError
from orrery_analytic.logs import osu
from orrery_analytic.logs.table import COLUMNS, LogWarning, Problem, Reader, frame, warn
from orrery_analytic.logs.text import excerpt, load, to_lines

__all__ = ["COLUMNS", "LogWarning", "Problem", "read"]

# A format is a module with a READER; the order does not matter.
_READERS: tuple[Reader, ...] = (osu.READER,)


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
    readings = [(reader, reader.parse(lines)) for reader in _READERS if reader.may_hold(text)]
    blocks = [block for _, reading in readings for block in reading.blocks]
    problems = sorted(problem for _, reading in readings for problem in reading.problems)
    if not blocks:
        seen = [(reader.name, reading.seen) for reader, reading in readings if reading.seen]
        recognised = [f"{format_} (line {place.line}: {place.text})" for format_, place in seen]
        raise FormatError(_nothing_in(name, lines, recognised, problems))
    table = frame(name, blocks)
    table.attrs["warnings"] = problems
    warn(name, problems, stacklevel=2)
    return table


def _nothing_in(name: str, lines: list[str], recognised: list[str], problems: list[Problem]) -> str:
    """Say what was looked for, what was recognised, and what is there instead of measured rows."""
    known = "; ".join(f"{reader.name} ({reader.looks_for})" for reader in _READERS)
    filled = (number for number, line in enumerate(lines, 1) if line.strip())
    first = [f"line {number}: {excerpt(lines[number - 1])}" for number in islice(filled, 3)]
    text = f"{name} holds no measured row"
    text += f", though it looks like {', '.join(recognised)}." if recognised else " of a known format."
    text += "".join(f" Line {problem.line}: {problem.text}." for problem in problems[:3])
    return f"{text} Looked for: {known}. It begins with {'; '.join(first) or 'nothing: it is empty'}."
