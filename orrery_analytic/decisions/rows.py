"""The form that every decision table takes: an ordered list of rows; the first whose conditions all hold answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Cells",
    "Condition",
    "FormulaRow",
    "Row",
    "Values",
    "all_hold",
    "first_row",
    "rows_from_cells",
    "rows_from_formulas",
]

#: What the conditions look at: name -> whole numbers (or whole products of them), all of one shape.
Values = Mapping[str, NDArray[Any]]
#: A fixed table: (P below, ((n below, number), ...)) in the order of the tests; None is "else".
Cells = tuple[tuple[int | None, tuple[tuple[int | None, int], ...]], ...]
#: A row of a formula table: (conditions, number, segment_bytes); no conditions is "else".
FormulaRow = tuple[tuple["Condition", ...], int, int]

_COMPARISONS: Mapping[str, Callable[..., Any]] = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
}
_TESTS: Mapping[str, Callable[[NDArray[Any]], Any]] = {
    "is odd": lambda value: value % 2 == 1,
    "is a power of two": lambda value: value & (value - 1) == 0,
    "is no power of two": lambda value: value & (value - 1) != 0,
}
_OPPOSITE = {
    "<": ">=",
    "<=": ">",
    ">": "<=",
    ">=": "<",
    "==": "!=",
    "is odd": "is even",
    "is a power of two": "is no power of two",
    "is no power of two": "is a power of two",
}


@dataclass(frozen=True)
class Condition:
    """`left relation slope * of + bound`, or `left relation` where the relation needs no right side ("is odd").

    The arithmetic is Open MPI's: whole numbers stay whole, fractional slopes make it double precision.
    """

    left: str
    relation: str
    bound: float = 0
    slope: float = 0
    of: str = ""

    def holds(self, values: Values) -> NDArray[np.bool_]:
        """Return where the condition holds."""
        left = values[self.left]
        if self.relation in _TESTS:
            return np.asarray(_TESTS[self.relation](left))
        right = self.slope * values[self.of] + self.bound if self.of else self.bound
        return np.asarray(_COMPARISONS[self.relation](left, right))

    def text(self, opposite: bool = False) -> str:
        """Return the condition, or its opposite, as people write it."""
        relation = _OPPOSITE[self.relation] if opposite else self.relation
        if self.relation in _TESTS:
            return f"{self.left} {relation}"
        if not self.of:
            return f"{self.left} {relation} {self.bound}"
        product = self.of if self.slope == 1 else f"{self.slope:.9g} {self.of}"
        return f"{self.left} {relation} {product}" + (f" + {self.bound}" if self.bound else "")


@dataclass(frozen=True)
class Row:
    """A row of a decision table: `number` is taken where `conditions` hold and those of no earlier row do."""

    conditions: tuple[Condition, ...]
    number: int
    reason: str
    segment_bytes: int = 0
    fan: int = 0


def _below(name: str, bound: int | None, previous: int | None) -> tuple[Condition, ...]:
    """Return the condition of a bound: below it or, for the else, at least the bound before it if there is one."""
    if bound is not None:
        # Open MPI tests P == 2 where the table says P < 3; P = 1 never comes here.
        return (Condition(name, "==", 2),) if (name, bound) == ("P", 3) else (Condition(name, "<", bound),)
    return (Condition(name, ">=", previous),) if previous is not None else ()


def _reason(ranks: tuple[Condition, ...], nbytes: tuple[Condition, ...]) -> str:
    parts = [*(condition.text() for condition in ranks), *(condition.text() for condition in nbytes)]
    if ranks and nbytes:
        return " and ".join(parts)
    return f"{parts[0] if ranks else 'any P'}, {parts[-1] if nbytes else 'any n'}"


def rows_from_cells(table: Cells) -> tuple[Row, ...]:
    """Return the rows of a table of (P below, ((n below, number), ...))."""
    rows = []
    previous_size = None
    for size, cells in table:
        ranks = _below("P", size, previous_size)
        previous_limit = None
        for limit, number in cells:
            nbytes = _below("n", limit, previous_limit)
            rows.append(Row(ranks + nbytes, number, _reason(ranks, nbytes)))
            previous_limit = limit
        previous_size = size
    return tuple(rows)


def rows_from_formulas(table: Sequence[FormulaRow]) -> tuple[Row, ...]:
    """Return the rows of a table of (conditions, number, segment_bytes); the else says which row before it failed."""
    rows: list[Row] = []
    for conditions, number, segment_bytes in table:
        reason = " and ".join(condition.text() for condition in conditions)
        if not conditions:
            last = rows[-1].conditions if rows else ()
            reason = " or ".join(condition.text(opposite=True) for condition in last) or "any P, any n"
        rows.append(Row(conditions, number, reason, segment_bytes))
    return tuple(rows)


def all_hold(conditions: Sequence[Condition], values: Values, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Return where all of the conditions hold."""
    held = np.ones(shape, dtype=bool)
    for condition in conditions:
        held &= condition.holds(values)
    return held


def first_row(rows: Sequence[Row], values: Values, shape: tuple[int, ...]) -> NDArray[np.intp]:
    """Return the index of the first row whose conditions hold, at every point."""
    index = np.full(shape, len(rows) - 1, dtype=np.intp)
    waiting = np.ones(shape, dtype=bool)
    for position, row in enumerate(rows):
        held = waiting & all_hold(row.conditions, values, shape)
        index = np.where(held, position, index)
        waiting &= ~held
    return index
