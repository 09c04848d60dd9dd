"""Where two formulas cross, as formulas: one case for each choice among the branches of their maxima."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from orrery_analytic.algebra.exact.branches import MOST_BRANCHES, Branch, TooManyBranchesError, branches, jumps
from orrery_analytic.algebra.exact.monomials import (
    RANKS,
    holds_over_ranks,
    quotient_of,
    sides,
    sign_over_ranks,
    told_over_ranks,
)
from orrery_analytic.algebra.exact.values import UndefinedHereError, exact_value

__all__ = ["Case", "closed_cases"]

_SWAPPED = {"below": "above", "above": "below"}
_SWAP = re.compile("below|above")


@dataclass(frozen=True)
class Case:
    """One branch of two formulas.

    Parameters
    ----------
    point : SymPy expression or None
        Where the two are equal, or where one of them jumps; None where they never are.
    conditions : tuple of SymPy relations
        When it is so; the symbol that is looked for stands for the point in them.
    cheaper : str
        Which is cheaper on either side, over P; decided for P = 2 to 1024.
    slope : SymPy expression or None
        Of a - b, in the symbol: a is the cheaper one below the point where it is positive, b where it is negative. They
        cross where it is not 0. None where a formula jumps.
    """

    point: sp.Expr | None
    conditions: tuple[Boolean, ...]
    cheaper: str
    slope: sp.Expr | None = None

    def turned(self, symbol: sp.Symbol) -> Case:
        """Return the case in a rate, where the symbol stood for one over it; what was below is above."""
        words = _SWAP.sub(lambda found: _SWAPPED[found[0]], self.cheaper)
        conditions = tuple(where.subs(symbol, 1 / symbol) for where in self.conditions)
        return Case(self.point and 1 / self.point, conditions, words)

    def holds(self, symbol: sp.Symbol, values: Mapping[str, Any]) -> bool:
        """Return whether the point is there, for exact numbers for all other symbols."""
        if self.point is None or (self.slope is not None and exact_value(self.slope, values) == 0):
            return False
        try:
            at = exact_value(self.point, values)
            return at > 0 and all(exact_value(c, {**values, symbol.name: at}) for c in self.conditions)
        except UndefinedHereError:
            return False


@lru_cache(maxsize=2048)
def closed_cases(a: sp.Expr, b: sp.Expr, x: sp.Symbol) -> tuple[tuple[Case, ...], str]:
    """Return the cases of two costs that are affine in x, branch by branch, and why some have no formula.

    With :math:`a = a_0 + a_1 x` and :math:`b = b_0 + b_1 x` the point is :math:`(b_0 - a_0) / (a_1 - b_1)`.
    """
    if sp.expand(a - b) == 0:
        return (Case(None, (), "equal"),), ""
    try:
        choices = branches((a, b), x)
    except TooManyBranchesError:
        return (
            (),
            f"no closed form in {x.name} is written down: maxima with more than {MOST_BRANCHES} branches. At numbers "
            "`intervals` is exact, and `formulas` gives the formula of each border",
        )
    cases, notes = [], []
    for choice in choices:
        case, note = _case(choice, x)
        cases += [case] if case else []
        notes += [note] if note else []
    moved = ("may change: a formula jumps here",) if cases else ()
    cases += [Case(point, (), text) for point in jumps((a, b), x) for text in moved]
    return tuple(_merged(cases)), "; ".join(dict.fromkeys(notes))


def _case(choice: Branch, x: sp.Symbol) -> tuple[Case | None, str]:
    """Return the case of one choice of branches, or why it has no formula; neither where it never is."""
    a, b = choice.expressions
    here = np.all([holds_over_ranks(c) for c in choice.conditions], axis=0) if choice.conditions else True
    ranks = np.array(RANKS)[np.broadcast_to(here, len(RANKS))]
    if sp.nan in (a, b) or not ranks.size:
        return None, ""
    conditions = _tightest(choice.conditions, x)
    difference = sp.expand(a - b)
    slope = difference.coeff(x, 1)
    rest = sp.expand(slope * x - difference)
    if slope.has(x) or rest.has(x):
        where = f" where {' and '.join(map(str, conditions))}" if conditions else ""
        return None, f"no closed form{where}: no line in {x.name}, or a walk along the bits of P; give a P"
    signs = {p: (sign_over_ranks(slope)[p - RANKS[0]], sign_over_ranks(rest)[p - RANKS[0]]) for p in ranks.tolist()}
    told = {pair: _text(*pair, slope, rest) for pair in set(signs.values())}
    text = told_over_ranks({p: told[pair] for p, pair in signs.items()})
    crossing = [pair for pair in signs.values() if "below" in told[pair]]
    if not crossing:
        return Case(None, conditions, text), ""
    flip = -1 if -1 in crossing[-1] else 1
    return Case(quotient_of(flip * rest, flip * slope), conditions, text, slope), ""


def _tightest(conditions: tuple[Boolean, ...], x: sp.Symbol) -> tuple[Boolean, ...]:
    """Return the conditions without bounds of x that others imply."""
    kept = [c for c in conditions if not (isinstance(c, Relational) and c.lhs == x and c.rhs.is_number)]
    bounds = [c for c in conditions if c not in kept]
    above = [c for c in bounds if isinstance(c, sp.Ge | sp.Gt)]
    below = [c for c in bounds if isinstance(c, sp.Le | sp.Lt)]
    others = [c for c in bounds if c not in above and c not in below]
    tight = ([max(above, key=lambda c: c.rhs)] if above else []) + ([min(below, key=lambda c: c.rhs)] if below else [])
    return (*kept, *others, *tight)


def _text(s: int | None, r: int | None, slope: sp.Expr, rest: sp.Expr) -> str:
    up, down = "a below, b above", "b below, a above"
    if s is None and r is None:
        return f"{up} if {_positive(slope)} and {_positive(rest)}; {down} if neither; else a or b"
    if s is None:
        if r == 0:
            return f"b if {_positive(slope)}, else a"
        return f"{up} if {_positive(slope)}, else a" if r == 1 else f"{down} if {_positive(-slope)}, else b"
    if r is None:
        if s == 0:
            return f"a if {_positive(rest)}, else b"
        return f"{up} if {_positive(rest)}, else b" if s == 1 else f"{down} if {_positive(-rest)}, else a"
    if s * r > 0:
        return up if s > 0 else down
    return "equal" if s == r else ("b" if s > r else "a")


def _positive(e: sp.Expr) -> str:
    """Return the condition e > 0 as text, with nothing subtracted where signs are known."""
    more, less = sides(e)
    return f"{more} > {less}"


def _merged(cases: list[Case]) -> list[Case]:
    """Return the cases without those that are said already."""
    return [case for i, case in enumerate(cases) if case not in cases[:i]]
