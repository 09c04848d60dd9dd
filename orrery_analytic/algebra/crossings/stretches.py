"""Where which of two costs is the cheaper one: exact stretches of n, of a parameter of a machine, or of P."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import groupby
from math import ceil, floor, inf
from typing import Any, NamedTuple

import numpy as np
import sympy as sp

from orrery_analytic.algebra.exact.lines import Lines, signs
from orrery_analytic.algebra.exact.values import exact_cost
from orrery_analytic.algebra.tables import html_table
from orrery_analytic.cost import Cost
from orrery_analytic.symbols import describe
from orrery_analytic.units import readable

__all__ = ["Stretch", "Stretches", "borders", "over_ranks", "over_reals", "over_whole", "turned", "undefined"]

_WORDS = {-1: "a", 0: "equal", 1: "b"}
_CHUNK = 1024
_NEAR = 1e-9


class Stretch(NamedTuple):
    """From `first` to `last`, both included, one verdict.

    Parameters
    ----------
    first, last : int or float
        Whole bytes, whole ranks, or numbers of a parameter in SI units; `last` is infinite where there is no end.
    cheaper : str
        "a", "b" or "equal"; "only a" or "only b" where the other is not stated for this P, "neither" where none is.
    """

    first: float
    last: float
    cheaper: str


class Stretches(tuple[Stretch, ...]):
    """Stretches of one symbol, a tuple that a notebook shows as a table with units."""

    symbol: str

    def __new__(cls, rows: Iterable[Stretch], symbol: str = "n") -> Stretches:
        """Keep the name of the symbol beside the rows: it tells their unit."""
        made = super().__new__(cls, rows)
        made.symbol = symbol
        return made

    def _repr_html_(self) -> str:
        unit = describe(self.symbol).unit

        def told(value: float) -> str:
            if value == inf:
                return "no end"
            return f"{value:,.0f} B".replace(",", " ") if unit == "B" else readable(value, unit)

        return html_table((f"{self.symbol} from", "to", "cheaper"), ((told(a), told(b), who) for a, b, who in self))


def undefined(a: Any, b: Any) -> str:
    """Return the verdict where one of two costs, or both, is None: not stated here."""
    return "neither" if a is None and b is None else "only b" if a is None else "only a"


def _signs(a: Any, b: Any, first: Fraction, last: Fraction | None) -> list[tuple[tuple[Fraction, int], int]]:
    difference = a - b
    return signs(difference if isinstance(difference, Lines) else Lines.identity(first, last).constant(difference))


def over_whole(a: Any, b: Any, first: Fraction, last: Fraction | None) -> tuple[Stretch, ...]:
    """Return the stretches of whole numbers over which the sign of a - b is one."""
    if a is None or b is None:
        return (Stretch(int(first), inf if last is None else int(last), undefined(a, b)),)
    found = _signs(a, b, first, last)
    ends = [*(knot for knot, _ in found[1:]), None if last is None else (last, 1)]
    kept: list[Stretch] = []
    for ((x, behind), sign), end in zip(found, ends, strict=True):
        start = floor(x) + 1 if behind else ceil(x)
        stop = inf if end is None else floor(end[0]) if end[1] else ceil(end[0]) - 1
        if start > stop:
            continue
        if kept and kept[-1].cheaper == _WORDS[sign]:
            start = int(kept.pop().first)
        kept.append(Stretch(start, stop, _WORDS[sign]))
    return tuple(kept)


def over_reals(a: Any, b: Any, first: Fraction, last: Fraction | None) -> tuple[Stretch, ...]:
    """Return the stretches of real numbers over which the sign of a - b is one; neighbours share their border."""
    top = inf if last is None else float(last)
    if a is None or b is None:
        return (Stretch(float(first), top, undefined(a, b)),)
    found = _signs(a, b, first, last)
    ends = [*(float(knot[0]) for knot, _ in found[1:]), top]
    rows = [Stretch(float(knot[0]), end, _WORDS[sign]) for (knot, sign), end in zip(found, ends, strict=True)]
    # A single point of equality between two verdicts is their border; between two like ones it is where they touch.
    return tuple(
        row
        for i, row in enumerate(rows)
        if row.first < row.last or not 0 < i < len(rows) - 1 or rows[i - 1].cheaper == rows[i + 1].cheaper
    )


def turned(found: tuple[Stretch, ...]) -> tuple[Stretch, ...]:
    """Return stretches of a quantity as those of one over it."""
    return tuple(Stretch(1 / s.last, 1 / s.first if s.first else inf, s.cheaper) for s in reversed(found) if s.last)


def borders(a: Any, b: Any, first: Fraction, last: Fraction | None) -> tuple[Fraction, ...]:
    """Return the real numbers at which another one of the two becomes the cheaper one, or they become equal."""
    if a is None or b is None:
        return ()
    found = _signs(a, b, first, last)
    rows = [
        (knot, sign)
        for i, (knot, sign) in enumerate(found)
        if not (sign == 0 and 0 < i < len(found) - 1 and found[i + 1][0][0] == knot[0])
    ]
    return tuple(knot[0] for (knot, sign), (_, before) in zip(rows[1:], rows, strict=False) if sign != before)


def over_ranks(a: Cost, b: Cost, values: Mapping[str, Fraction], first: int, last: int) -> tuple[Stretch, ...]:
    """Return the stretches of P; where floats cannot tell, in fractions."""
    found: list[Stretch] = []
    for word, p, q in _runs(_word_at(a, b, values, first, last)):
        if found and found[-1].cheaper == word:
            found[-1] = found[-1]._replace(last=q)
        else:
            found.append(Stretch(p, q, word))
    return tuple(found)


def _runs(words: Iterable[tuple[int, str]]) -> Iterable[tuple[str, int, int]]:
    for word, group in groupby(words, key=lambda item: item[1]):
        ranks = [p for p, _ in group]
        yield word, ranks[0], ranks[-1]


def _word_at(a: Cost, b: Cost, values: Mapping[str, Fraction], first: int, last: int) -> Iterable[tuple[int, str]]:
    numbers = {name: float(value) for name, value in values.items()}
    same = None  # whether they are one formula is asked only where floats cannot tell, as it takes a while
    for start in range(first, last + 1, _CHUNK):
        ranks = np.arange(start, min(start + _CHUNK, last + 1))
        left, right = (_seconds(cost, ranks, numbers) for cost in (a, b))
        known = np.abs(left - right) > _NEAR * (np.abs(left) + np.abs(right))
        for p, x, y, clear in zip(ranks.tolist(), left, right, known, strict=True):
            if clear:
                yield p, "a" if x < y else "b"
                continue
            if np.isnan(x) or np.isnan(y):
                yield p, undefined(None if np.isnan(x) else x, None if np.isnan(y) else y)
                continue
            if same is None:
                same = sp.expand(a.total - b.total) == 0
            if same:
                yield p, "equal"
            else:
                at = {**values, "P": Fraction(p)}
                difference = exact_cost(a, at) - exact_cost(b, at)
                yield p, _WORDS[(difference > 0) - (difference < 0)]


def _seconds(cost: Cost, ranks: np.ndarray, numbers: Mapping[str, float]) -> np.ndarray:
    given = {name: numbers[name] for name in cost.symbols if name in numbers}
    seconds = cost(P=ranks, **given)
    return np.asarray(np.broadcast_to(seconds, ranks.shape))
