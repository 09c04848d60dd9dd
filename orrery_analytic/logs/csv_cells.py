"""Cells of comma-separated values: of one line, and of many lines at once."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orrery_analytic.logs.text import strip_prefix

__all__ = ["in_turn", "split", "table", "value", "values"]


def split(text: str, delimiter: str) -> list[str]:
    """Return the cells of a line."""
    if '"' not in text:
        return [cell.strip() for cell in text.split(delimiter)]
    # A carriage return inside a line is the one thing that the csv module refuses.
    rows = csv.reader([text.replace("\r", " ")], delimiter=delimiter, skipinitialspace=True)
    return [cell.strip() for cell in next(rows, [])]


def table(lines: list[str], delimiter: str, width: int) -> list[list[str]]:
    """Return the cells of lines by column, [] if not all lines are of that width or one may have a prefix."""
    if any('"' in line for line in lines):
        try:
            rows = list(csv.reader(lines, delimiter=delimiter, skipinitialspace=True))
        except csv.Error:
            return []
        if len(rows) != len(lines) or any(len(row) != width for row in rows):
            return []
        columns = [[row[at].strip() for row in rows] for at in range(width)]
    else:
        if any(line.count(delimiter) != width - 1 for line in lines):
            return []
        text = delimiter.join(lines)
        cells = text.split(delimiter)
        if any(blank in text for blank in " \t\r"):
            cells = [cell.strip() for cell in cells]
        columns = [cells[at::width] for at in range(width)]
    plain = "".join(columns[0]).isdecimal() or all(
        cell.isdecimal() or strip_prefix(cell) == cell for cell in columns[0]
    )
    return columns if plain else []


def values(cells: Sequence[str]) -> NDArray[np.float64]:
    """Return numbers, NaN where there is none."""
    text = "".join(cells)
    if not text:
        return np.full(len(cells), math.nan)
    if "_" not in text:
        try:
            found = np.array(list(map(float, cells)))
        except ValueError:
            pass
        else:
            found[np.isinf(found)] = math.nan
            return found
    return np.array([value(cell) for cell in cells])


def in_turn(columns: list[Any]) -> Any:
    """Return columns as one: the first value of each, the second of each ..."""
    return np.stack([np.asarray(column) for column in columns], axis=1).ravel() if len(columns) > 1 else columns[0]


def value(cell: str) -> float:
    """Return a number, NaN where there is none."""
    if not cell:
        return math.nan
    try:
        found = float(cell)
    except ValueError:
        return math.nan
    return found if math.isfinite(found) and "_" not in cell else math.nan
