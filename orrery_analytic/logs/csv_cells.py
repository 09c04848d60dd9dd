"""Cells of comma-separated values: of one line, and of many lines at once."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from orrery_analytic.logs.text import strip_prefix

__all__ = ["split", "table", "value", "values"]


def split(text: str, delimiter: str) -> list[str]:
    """Return the cells of a line."""
    if '"' not in text:
        return [cell.strip() for cell in text.split(delimiter)]
    # A carriage return inside a line is the one thing that the csv module refuses.
    rows = csv.reader([text.replace("\r", " ")], delimiter=delimiter, skipinitialspace=True)
    return [cell.strip() for cell in next(rows, [])]


def table(lines: list[str], delimiter: str, width: int) -> list[list[str]]:
    """Return the cells of lines by column, [] if not all lines are of that width or one may have a prefix."""
    text = "\n".join(lines)
    try:
        rows = (
            list(csv.reader(lines, delimiter=delimiter, skipinitialspace=True))
            if '"' in text
            else [line.split(delimiter) for line in lines]
        )
        columns = list(map(list, zip(*rows, strict=True)))
    except (csv.Error, ValueError):
        return []
    if len(columns) != width or len(columns[0]) != len(lines):
        return []
    if any(blank in text for blank in " \t\r"):
        columns = [[cell.strip() for cell in column] for column in columns]
    plain = "".join(columns[0]).isdecimal() or all(
        cell.isdecimal() or strip_prefix(cell) == cell for cell in columns[0]
    )
    return columns if plain else []


def values(cells: Sequence[str]) -> NDArray[np.float64]:
    """Return numbers, NaN where there is none."""
    text = "".join(cells)
    if not text:
        return np.full(len(cells), math.nan)
    if "_" not in text and text.isascii():
        try:
            found = np.array(list(map(float, cells)))
        except ValueError:
            pass
        else:
            found[np.isinf(found)] = math.nan
            return found
    return np.array([value(cell) for cell in cells])


def value(cell: str) -> float:
    """Return a number, NaN where there is none."""
    if not cell:
        return math.nan
    try:
        found = float(cell)
    except ValueError:
        return math.nan
    return found if math.isfinite(found) and "_" not in cell and cell.isascii() else math.nan
