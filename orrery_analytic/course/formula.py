"""Answers that are formulas: equal if they are so at every point looked at, in whatever form they are written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from orrery_analytic.cost import Cost, evaluate
from orrery_analytic.course.verdict import Verdict
from orrery_analytic.errors import OrreryError, shown, unknown_name
from orrery_analytic.symbols import SYMBOLS, describe
from orrery_analytic.units import is_finite

__all__ = ["POWERS", "RANKS", "Formula"]

RANKS = (*range(2, 34), 63, 64, 65, 100, 127, 129, 255, 257, 511, 1000, 1023, 1025, 4097, 12345, 2**20 + 1)
"""Where a formula is looked at that has to hold for every P."""
POWERS = (2, 4, 8, 16, 32, 64, 1024)
"""Where a formula is looked at that is for powers of two alone."""

_DRAWS = 12
_EQUAL = 1e-9
_NO_FORMULA = Verdict(False, "This is no formula that gives a time for every P and n.")


@dataclass(frozen=True)
class Formula:
    """A formula that is asked for.

    Parameters
    ----------
    truth : SymPy expression or Cost
        The right one, made by the package.
    ranks : tuple of int
        The numbers of ranks at which answers are compared with it.
    also : tuple of str
        Symbols that an answer may hold though the right one does not.
    """

    truth: sp.Expr | Cost
    ranks: tuple[int, ...] = RANKS
    also: tuple[str, ...] = ()

    @cached_property
    def expression(self) -> sp.Expr:
        """The right formula."""
        return self.truth.total if isinstance(self.truth, Cost) else sp.sympify(self.truth)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The symbols that an answer may hold."""
        return tuple(sorted({*(s.name for s in self.expression.free_symbols), "P", *self.also}))

    def judge(self, answer: Any) -> Verdict:
        """Return whether an answer is this formula, and where it is not, which part of it to look at."""
        try:
            given = _expression(answer)
        except Exception:  # SymPy has many errors of its own for what it cannot add up
            return _NO_FORMULA
        if isinstance(given, Verdict):
            return given
        for name in sorted(s.name for s in given.free_symbols):
            if name not in self.names:
                return Verdict(False, str(unknown_name("symbol in this formula", name, self.names)))
        try:
            same = self._same(given)
        except Exception:  # nor has every expression a value
            return _NO_FORMULA
        return Verdict(True) if same.all() else Verdict(False, self._hint(given, same))

    def _same(self, given: sp.Expr, kept: Iterable[str] | None = None, truth: sp.Expr | None = None) -> Any:
        """Return at which points a formula equals the right one; of the times of machines, only those `kept` count."""
        values = dict(self._points)
        if kept is not None:
            values |= {name: np.zeros_like(values["P"]) for name in self._times if name not in kept}
        mine, right = evaluate([given, self.expression if truth is None else truth], values)
        return np.isclose(mine, right, rtol=_EQUAL, atol=0)

    @cached_property
    def _points(self) -> dict[str, Any]:
        """Points at which now one, now another part of a formula is the large one."""
        draw = np.random.default_rng(2)
        P = np.repeat(np.array(self.ranks, dtype=float), _DRAWS)
        values = {name: 10 ** draw.uniform(-4, 2, P.size) for name in self.names}
        sizes = {name: np.ceil(10 ** draw.uniform(0, 9, P.size)) for name in self.names if _unit(name) in ("B", "1")}
        return values | sizes | {"P": P}

    @property
    def _times(self) -> list[str]:
        return [name for name in self.names if _unit(name) in ("s", "s/B")]

    def _hint(self, given: sp.Expr, same: Any) -> str:
        for times, told in _READINGS:
            there = {s: s * times for s in self.expression.free_symbols if s.name == "n"}
            if there and self._same(given, truth=self.expression.subs(there)).all():
                return told
        P = self._points["P"]
        powers = np.log2(P) % 1 == 0
        if same[powers].all() and not powers.all():
            wrong = int(P[~same][0])
            return f"At every power of two this is right; at P = {wrong} it is not."
        ratio = self._constant_ratio(given)
        if ratio is not None:
            return f"The form is right, but this is {ratio} times what it should be."
        parts = {name: self._same(given, kept=(name,)).all() for name in self._times if self._adds_up}
        right = [name for name, holds in parts.items() if holds]
        wrong_parts = [name for name, holds in parts.items() if not holds]
        if wrong_parts and right:
            return f"What is charged with {_listed(right)} is right; look again at {_listed(wrong_parts)}."
        if same.any():
            holds = sorted({int(p) for p in P[same]} - {int(p) for p in P[~same]})
            if holds:
                return f"This is right at P = {_listed(holds)}, but not at P = {int(P[~same][0])}."
        return ""

    @cached_property
    def _adds_up(self) -> bool:
        """Whether the right formula is a sum of parts, each with one of the times of machines."""
        one = np.ones_like(self._points["P"])
        alone = [self._points | {n: 0 * one for n in self._times if n != name} for name in self._times]
        with np.errstate(all="ignore"):
            parts = sum(evaluate([self.expression], values)[0] for values in alone)
            return bool(np.allclose(parts, evaluate([self.expression], self._points)[0], rtol=_EQUAL, atol=0))

    def _constant_ratio(self, given: sp.Expr) -> Fraction | None:
        mine, right = evaluate([given, self.expression], self._points)
        with np.errstate(all="ignore"):
            ratios = mine / right
        if not np.isfinite(ratios).all() or not np.allclose(ratios, ratios[0], rtol=_EQUAL, atol=0) or ratios[0] == 0:
            return None
        return Fraction(float(ratios[0])).limit_denominator(1000)


_READINGS = (
    (SYMBOLS["P"].symbol, "This would be right if n were P times as large: read again what n counts here."),
    (1 / SYMBOLS["P"].symbol, "This would be right if n were one P-th of what it is: read again what n counts here."),
)


def _unit(name: str) -> str:
    try:
        return describe(name).unit
    except OrreryError:
        return "s"


def _listed(items: Iterable[Any]) -> str:
    *first, last = [str(item) for item in items]
    return f"{', '.join(first)} and {last}" if first else last


def _expression(answer: Any) -> sp.Expr | Verdict:
    """Return an answer in the package's symbols; text is not read as a formula."""
    if isinstance(answer, list) and len(answer) == 1:  # as sympy.solve gives it
        answer = answer[0]
    if isinstance(answer, Cost):
        answer = answer.total
    if isinstance(answer, str):
        return Verdict(False, "Text is not read as a formula: write it without quotes, in symbols.")
    number = isinstance(answer, int | float | Fraction) and not isinstance(answer, bool) and is_finite(answer)
    if not number and not isinstance(answer, sp.Expr):
        return Verdict(False, f"A formula in the symbols of this notebook is asked for, but {shown(answer)} was given.")
    expression = sp.sympify(answer).doit()  # a sum over rounds may be left as it stands
    if expression.has(sp.I, sp.nan, sp.zoo, sp.oo):
        return Verdict(False, "This is no formula for a time: it is infinite, or no real number.")
    return expression.subs({s: SYMBOLS[s.name].symbol for s in expression.free_symbols if s.name in SYMBOLS})
