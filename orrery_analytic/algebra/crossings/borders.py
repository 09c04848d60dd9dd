"""The formula of one border of which the numbers are known: they decide which branch of each maximum holds there."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import sympy as sp

from orrery_analytic.algebra.exact.monomials import quotient_of
from orrery_analytic.algebra.exact.values import exact_value
from orrery_analytic.symbols import P

__all__ = ["border_formula"]


def border_formula(
    a: sp.Expr, b: sp.Expr, x: sp.Symbol, at: Fraction, values: Mapping[str, Fraction]
) -> sp.Expr | None:
    """Return the formula of the x near `at` where a and b are equal; None where one of them jumps, or has none.

    Parameters
    ----------
    a, b : SymPy expressions
    x : SymPy symbol
    at : Fraction
        The number of the border.
    values : mapping of symbol name to Fraction
        For all other symbols. P is put in where a cost is a sum over rounds, or a walk along the bits of P.
    """
    here = {**values, x.name: at}
    branches = []
    for e in (a, b):
        if any(f.has(x) for f in e.atoms(sp.Function) - e.atoms(sp.Max, sp.Min, sp.Piecewise)):
            e = e.subs(P, int(values["P"]))
        branches.append(_branch(e, x, here))
    difference = sp.expand(branches[0] - branches[1])
    slope = difference.coeff(x, 1)
    rest = sp.expand(slope * x - difference)
    if slope.has(x) or rest.has(x) or exact_value(slope, here) == 0 or exact_value(difference, here) != 0:
        return None
    flip = -1 if exact_value(rest, here) < 0 else 1
    return quotient_of(flip * rest, flip * slope)


def _branch(e: sp.Expr, x: sp.Symbol, here: Mapping[str, Fraction]) -> sp.Expr:
    """Return an expression with each maximum that holds x replaced by the argument that is the largest here."""
    if not e.has(x):
        return e
    if isinstance(e, sp.Piecewise):
        return _branch(next(value for value, condition in e.args if exact_value(condition, here)), x, here)
    if isinstance(e, sp.Max | sp.Min):
        chosen = (max if isinstance(e, sp.Max) else min)(
            sorted(e.args, key=sp.default_sort_key), key=lambda argument: exact_value(argument, here)
        )
        return _branch(chosen, x, here)
    return e.func(*(_branch(argument, x, here) for argument in e.args)) if e.args else e
