"""Formulas as JavaScript, for a page that evaluates them itself: printed by SymPy, never made from text of a user."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any

import sympy as sp
from sympy.core.function import UndefinedFunction
from sympy.printing.jscode import JavascriptCodePrinter
from sympy.printing.precedence import PRECEDENCE

from orrery_analytic.errors import QuantityError, unknown_name
from orrery_analytic.units import shown

__all__ = ["function", "javascript", "runtime"]

_PLAIN = ("Abs", "Max", "Min", "Mod", "Piecewise", "ceiling", "exp", "floor", "log", "sign")
"""Functions that are written with what JavaScript has."""

_SYMBOL = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


@cache
def runtime() -> str:
    """Return the JavaScript functions that printed formulas call: exact integer logarithms, paths through trees."""
    return (resources.files(__package__) / "runtime.js").read_text(encoding="utf-8")


@cache
def _provided() -> tuple[str, ...]:
    return tuple(re.findall(r"^function (\w+)\(", runtime(), re.MULTILINE))


class _Printer(JavascriptCodePrinter):
    """Prints one expression; where no case of a Piecewise holds its value is NaN, as in NumPy."""

    def _print_Piecewise(self, expr: sp.Piecewise) -> str:
        text = "NaN"
        for value, condition in reversed(expr.args):
            if condition == True:  # noqa: E712 - SymPy's
                text = self._print(value)
            else:
                text = f"({self._print(condition)}) ? ({self._print(value)}) : ({text})"
        return f"({text})"

    def _print_NaN(self, expr: Any) -> str:
        return "NaN"

    def _print_Mod(self, expr: sp.Mod) -> str:
        a, b = (f"({self._print(e)})" for e in expr.args)
        return f"(({a} % {b} + {b}) % {b})"  # of the sign of the divisor, as in Python

    def _print_ImaginaryUnit(self, expr: Any) -> str:
        raise TypeError("it is complex")

    def _print_Float(self, expr: sp.Float) -> str:
        return repr(float(expr))  # shortest that is this double; SymPy's own has 15 digits

    def _print_Rational(self, expr: sp.Rational) -> str:
        return f"{expr.p}/{expr.q}"

    def _print_Function(self, expr: sp.Function) -> str:
        name = type(expr).__name__
        if name in _PLAIN:
            return str(super()._print_Function(expr))
        return f"{name}({', '.join(self._print(a) for a in expr.args)})"

    def _print_Pow(self, expr: sp.Pow) -> str:
        base, exponent = expr.args
        if exponent == -1:
            return f"1/{self.parenthesize(base, PRECEDENCE['Pow'])}"
        return f"Math.pow({self._print(base)}, {self._print(exponent)})"


def _checked(expr: Any) -> sp.Expr:
    """Return an expression of which all can be written as JavaScript."""
    if isinstance(expr, bool) or not isinstance(expr, sp.Expr | int | float):
        raise QuantityError(f"a SymPy expression or a number can be JavaScript, but {shown(expr)} was given.")
    expr = sp.sympify(expr)
    for found in sorted(expr.atoms(sp.Function), key=sp.default_sort_key):
        kind, name = type(found), type(found).__name__
        if isinstance(kind, UndefinedFunction):
            raise QuantityError(f"the function {name} is not defined, and has no JavaScript form.")
        own = kind.__module__.startswith("orrery_analytic.")
        if name not in (_provided() if own else _PLAIN):
            raise unknown_name("function with a JavaScript form", name, [*_PLAIN, *_provided()])
    for symbol in sorted(expr.free_symbols, key=sp.default_sort_key):
        if not _SYMBOL.fullmatch(symbol.name):
            raise QuantityError(
                f"the symbol {shown(symbol.name)} is no JavaScript name. Allowed: letters, digits and underscores, a "
                "letter first."
            )
    return expr


def _printed(printer: _Printer, expr: sp.Expr) -> str:
    try:
        return str(printer.doprint(expr))
    except (NotImplementedError, TypeError, ValueError) as error:
        raise QuantityError(f"{shown(expr)} has no JavaScript form: {str(error).splitlines()[0]}.") from None


def javascript(expr: Any) -> str:
    """Return a SymPy expression as a JavaScript expression in its symbols, in double precision.

    Parameters
    ----------
    expr : SymPy expression or number
        Such as ``cost.total``, which is stated for P >= 2. Text is refused: SymPy would run it.

    Returns
    -------
    str
        It calls functions of `runtime` where there are whole logarithms or paths through trees. It agrees with NumPy to
        1e-12 of the value for P up to 2**20 and n up to 2**40.

    Raises
    ------
    UnknownNameError
        If a function in it has no JavaScript form.
    QuantityError
        If it is no expression, or holds what JavaScript has not: complex infinity, a symbol that is no name.
    """
    return _printed(_Printer(), _checked(expr))


def function(name: str, expressions: Sequence[Any], arguments: Sequence[str]) -> str:
    """Return a JavaScript function of some numbers that returns an array, one entry an expression.

    Parameters
    ----------
    name : str
    expressions : sequence of SymPy expressions
        What they have in common is computed once.
    arguments : sequence of str
        Names of symbols, all that the expressions hold among them.

    Raises
    ------
    UnknownNameError, QuantityError
        As from `javascript`, and for a symbol that is no argument.
    """
    checked = [_checked(e) for e in expressions]
    for symbol in sorted({s.name for e in checked for s in e.free_symbols}.difference(arguments)):
        raise unknown_name("argument", symbol, arguments)
    shared, results = sp.cse(checked, symbols=sp.numbered_symbols("x"))
    printer = _Printer()
    lines = [f"  const {symbol} = {_printed(printer, e)};" for symbol, e in shared]
    lines += [f"  return [{', '.join(_printed(printer, e) for e in results)}];"]
    return "\n".join([f"function {name}({', '.join(arguments)}) {{", *lines, "}"])
