"""Costs at one P in fractions: the value of a formula, or the lines that it is as a function of one symbol."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache, reduce
from math import floor
from typing import Any

import sympy as sp

from orrery_analytic.algebra.exact.lines import Lines, indicator, latest, select
from orrery_analytic.collectives.functions_of_p import OfP
from orrery_analytic.cost import Cost
from orrery_analytic.errors import QuantityError

__all__ = [
    "SIGNS",
    "UndefinedHereError",
    "exact_cost",
    "exact_value",
]

SIGNS = {
    sp.StrictLessThan: (-1,), sp.LessThan: (-1, 0), sp.StrictGreaterThan: (1,), sp.GreaterThan: (0, 1),
    sp.Equality: (0,), sp.Unequality: (-1, 1),
}  # fmt: skip
"""Of each relation, the signs that the difference of its sides may have."""


class UndefinedHereError(QuantityError):
    """A formula that is stated for other numbers of ranks only."""


def exact_cost(cost: Cost, values: Mapping[str, Any]) -> Any:
    """Return a cost in seconds as a fraction, or as `Lines` where a value is; None where it is not stated for this P.

    A collective costs 0 on one rank.
    """
    terms = cost.local if values.get("P") == 1 else cost.terms
    try:
        return exact_value(sp.Add(*terms.values()), values)
    except UndefinedHereError:
        return None


def exact_value(e: sp.Expr, values: Mapping[str, Any]) -> Any:
    """Return the value of an expression in fractions, or as `Lines` where a value is.

    Raises
    ------
    UndefinedHereError
        If no case of a Piecewise holds.
    QuantityError
        If it is no line, piece by piece, in the quantity that is given as one.
    """
    return _Walk(values)(sp.sympify(e))


class _Walk:
    """The value of an expression, each part of it computed once."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values
        self.known: dict[sp.Basic, Any] = {}

    def __call__(self, e: sp.Basic) -> Any:
        if e not in self.known:
            self.known[e] = self._compute(e)
        return self.known[e]

    def _compute(self, e: sp.Basic) -> Any:
        if isinstance(e, sp.Symbol):
            return self.values[e.name]
        if isinstance(e, sp.Rational):
            return Fraction(int(e.p), int(e.q))
        if isinstance(e, sp.Float):
            return Fraction(repr(float(e)))
        if e in (sp.true, sp.false):
            return bool(e)
        if isinstance(e, sp.Piecewise):
            return self._piecewise(e.args)
        compute = _BY_TYPE.get(type(e))
        if compute is None:
            return self._function(e)
        return compute(*map(self, e.args))

    def _piecewise(self, cases: tuple[Any, ...]) -> Any:
        """Return the value of the first case that holds; cases that never hold are not looked at."""
        if not cases:
            raise UndefinedHereError("no case of this formula holds here.")
        value, condition = cases[0]
        where = self(condition)
        if not isinstance(where, Lines):
            return self(value) if where else self._piecewise(cases[1:])
        return select(where, self(value), self._piecewise(cases[1:]))

    def _function(self, e: sp.Basic) -> Any:
        if not isinstance(e, sp.Function):
            raise QuantityError(f"{e} cannot be computed in fractions.")
        arguments = [self(a) for a in e.args]
        if isinstance(e, OfP):
            return type(e)._walk(int(arguments[0]), latest, *arguments[1:])
        # The function says itself what it is where only some arguments are numbers; then that is computed.
        opaque = {f"x{i}": a for i, a in enumerate(arguments) if isinstance(a, Lines)}
        plain = tuple(None if isinstance(a, Lines) else a for a in arguments)
        function: Any = type(e)
        return _Walk(opaque)(_applied(function, plain))


@lru_cache(maxsize=4096)
def _applied(function: Any, arguments: tuple[Fraction | None, ...]) -> sp.Expr:
    """Return what a function makes of numbers, and of symbols x0, x1 ... where there is none."""
    e = function(
        *(
            sp.Symbol(f"x{i}", real=True) if a is None else sp.Rational(a.numerator, a.denominator)
            for i, a in enumerate(arguments)
        )
    )
    if e.has(function):
        raise QuantityError(f"{e} cannot be computed in fractions.")
    return e


def _power(base: Any, exponent: Any) -> Any:
    if isinstance(base, Lines) or isinstance(exponent, Lines) or exponent.denominator != 1:
        raise QuantityError("a power is no line: this cost is not affine, piece by piece.")
    if base == 0 and exponent < 0:
        raise QuantityError("a cost divides by a number that is 0 here.")
    return base ** int(exponent)


def _floor(x: Any) -> Any:
    return x.__floor__() if isinstance(x, Lines) else Fraction(floor(x))


_BY_TYPE: dict[Any, Callable[..., Any]] = {
    sp.Add: lambda *parts: reduce(operator.add, parts),
    sp.Mul: lambda *parts: reduce(operator.mul, parts),
    sp.Pow: _power,
    sp.Max: latest,
    sp.Min: lambda *values: -latest(*(-v for v in values)),
    sp.floor: _floor,
    sp.ceiling: lambda x: -_floor(-x),
    sp.Mod: lambda a, b: a - b * _floor(a * (1 / b)),
    sp.And: lambda *conditions: -latest(*(-c for c in conditions)),
    sp.Or: latest,
    sp.Not: lambda condition: 1 - condition,
    **{kind: lambda a, b, allowed=allowed: indicator(a - b, allowed) for kind, allowed in SIGNS.items()},
}
