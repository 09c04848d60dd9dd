"""`asymptotics`: how the terms of a cost grow with n and with P."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import log2
from types import MappingProxyType
from typing import NamedTuple

import sympy as sp
from sympy.logic.boolalg import Boolean

from orrery_analytic.algebra.exact.arguments import one_cost
from orrery_analytic.algebra.exact.branches import TooManyBranchesError, at_least, branches
from orrery_analytic.algebra.exact.monomials import by_monomial, tidied, unguarded
from orrery_analytic.algebra.exact.values import UndefinedHereError, exact_value
from orrery_analytic.algebra.tables import formula, html_table
from orrery_analytic.cost import Cost, NoNumber
from orrery_analytic.symbols import P, n

__all__ = ["Asymptotics", "Growth", "asymptotics"]

_BITS = 24
#: (m, j) for the numbers of ranks m 2**(k - 4) + j: powers of two, beside them, and sixteenths between two of them.
_SEQUENCES = ((16, -1), (16, 0), (16, 1), *((m, 0) for m in range(17, 32)))


class Growth(NamedTuple):
    """The leading behaviour of a term as P goes to infinity.

    Parameters
    ----------
    least, most : SymPy expression
        Between these it lies, to leading order; they are equal where the term has a limit in that sense.
    """

    least: sp.Expr
    most: sp.Expr

    def __str__(self) -> str:
        return str(self.least) if self.least == self.most else f"between {self.least} and {self.most}"


@dataclass(frozen=True, repr=False)
class Asymptotics(NoNumber):
    """How the terms of a cost grow. Made by `asymptotics`.

    Parameters
    ----------
    cost : Cost
    """

    cost: Cost

    _instead = "Its formulas are .in_n and .in_P."

    @cached_property
    def in_n(self) -> Mapping[str, tuple[tuple[sp.Expr, tuple[Boolean, ...]], ...]]:
        """For each term, as n goes to infinity: (leading part, conditions), one for each branch that stays.

        Empty for a term with too many branches, or that is a walk along the bits of P.
        """
        return MappingProxyType({name: _in_n(e) for name, e in self.cost.terms.items()})

    @cached_property
    def in_P(self) -> Mapping[str, Growth | None]:
        """For each term, as P goes to infinity: its leading part, or bounds of it; None where it is a maximum.

        Each product of n and parameters keeps its own leading part. Rounded logarithms count as log2 P; where the
        factor before the leading power depends on how P lies between powers of two, least and most are told.
        """
        return MappingProxyType({name: _in_ranks(e) for name, e in self.cost.terms.items()})

    def __repr__(self) -> str:
        rows = []
        for name in self.cost.terms:
            large = "; ".join(f"{e} if {' and '.join(map(str, c))}" if c else str(e) for e, c in self.in_n[name])
            rows.append(f"{name:<15} n -> oo: {large or 'no formula'}")
            rows.append(f"{'':<15} P -> oo: {self.in_P[name] or 'no formula'}")
        return "\n".join(rows)

    def _repr_html_(self) -> str:
        rows = []
        for name in self.cost.terms:
            large = "; ".join(formula(e) for e, _ in self.in_n[name])
            growth = self.in_P[name]
            ranks = "" if growth is None else " to ".join(map(formula, dict.fromkeys(growth)))
            rows.append((html.escape(name), large, ranks))
        return html_table(("term", r"$n \to \infty$", r"$P \to \infty$"), rows)


def _in_n(e: sp.Expr) -> tuple[tuple[sp.Expr, tuple[Boolean, ...]], ...]:
    try:
        found = branches((e,), n)
    except TooManyBranchesError:
        return ()
    rows: dict[tuple[sp.Expr, tuple[Boolean, ...]], None] = {}
    for (branch,), conditions in found:
        merged = sp.expand(branch)
        slope = merged.coeff(n, 1)
        rest = sp.expand(merged - slope * n)
        if slope.has(n) or rest.has(n):
            return ()
        kept = tuple(c for c in map(_for_large_n, conditions) if c is not sp.true)
        if merged is not sp.nan and sp.false not in kept:
            rows[tidied(slope) * n if slope != 0 else tidied(rest), kept] = None
    return tuple(rows)


def _for_large_n(condition: Boolean) -> Boolean:
    """Return what a condition asks as n goes to infinity: of the factor of n, or without one of the rest."""
    if not condition.has(n):
        return condition
    if not isinstance(condition, sp.Ge | sp.Le | sp.Gt | sp.Lt):
        return condition
    difference = sp.expand(condition.gts - condition.lts)
    slope = difference.coeff(n, 1)
    if slope == 0:
        return at_least(difference)
    # A factor of 0 leaves it to the rest; that one case is left to the other branch.
    return sp.false if at_least(-slope) is sp.true else at_least(slope)


def _in_ranks(e: sp.Expr) -> Growth | None:
    least = most = sp.S.Zero
    for monomial, coefficient in by_monomial(unguarded(e)).items():
        if monomial.has(P):
            return None
        found = _leading(coefficient)
        if found is None:
            return None
        least, most = least + found[0] * monomial, most + found[1] * monomial
    return Growth(least, most)


@lru_cache(maxsize=1024)
def _leading(coefficient: sp.Expr) -> tuple[sp.Expr, sp.Expr] | None:
    """Return the least and the largest leading part of a function of P, over P beside and between powers of two."""
    found = []
    for m, j in _SEQUENCES:
        ranks = {k: Fraction(m * 2 ** (k - 4) + j) for k in (_BITS, 2 * _BITS)}
        try:
            first, then = (exact_value(coefficient, {"P": p}) for p in ranks.values())
        except UndefinedHereError:
            continue
        if not first or not then:
            found.append((0, 0, Fraction(0)))
            continue
        power = round(log2(abs(then / first)) / _BITS)
        f, g = (value / p**power for value, p in zip((first, then), ranks.values(), strict=True))
        logs = round(log2(abs(g / f)))
        factor = g if logs == 0 else (g - f) / _BITS
        rounded = factor.limit_denominator(1000)
        if logs not in (0, 1) or abs(factor - rounded) > Fraction(1, 10**4) * abs(factor):
            return None
        found.append((power, logs, rounded))
    if not found:
        return None
    parts = [
        (key, sp.Rational(*key[2].as_integer_ratio()) * P ** key[0] * sp.log(P, 2) ** key[1]) for key in sorted(found)
    ]
    return parts[0][1], parts[-1][1]


def asymptotics(cost: Cost) -> Asymptotics:
    r"""Return how each term of a cost grows as n, and as P, goes to infinity.

    Rabenseifner's bandwidth, :math:`2 n \beta (P - 1) / P`, goes to :math:`2 n \beta`; the latency of recursive
    doubling grows as :math:`\alpha \log_2 P`.

    Parameters
    ----------
    cost : Cost

    Returns
    -------
    Asymptotics
        `.in_n` and `.in_P`, mappings from the name of a term to its leading part, in seconds.

    Raises
    ------
    QuantityError
        If it is no `Cost`.

    In P the leading power, the logarithm and the factor are read off exact values near P = 2**24 and 2**48, at powers
    of two, beside them, and at sixteenths between two of them; bounds are those of these P. Evidence, no proof.
    Source: derived.
    """
    return Asymptotics(one_cost(cost))
