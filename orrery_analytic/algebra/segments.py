"""`optimal_segment`: the segment size at which a pipelined algorithm is fastest, as a formula and in whole segments."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import Any, NamedTuple

import numpy as np
import sympy as sp
from sympy.logic.boolalg import Boolean

from orrery_analytic.algebra.exact.arguments import numbers_for, one_cost, one_whole
from orrery_analytic.algebra.exact.branches import TooManyBranchesError, at_least, branches
from orrery_analytic.algebra.exact.monomials import quotient_of, sign_over_ranks
from orrery_analytic.algebra.exact.values import exact_cost
from orrery_analytic.algebra.tables import formula, html_table
from orrery_analytic.cost import Cost, NoNumber
from orrery_analytic.errors import QuantityError
from orrery_analytic.symbols import P, n, n_s
from orrery_analytic.symbols.printing import latex
from orrery_analytic.units import shown

__all__ = ["OptimalSegment", "Segments", "optimal_segment"]

_FIRST_LOOK = 1024
_CLOSE = 8


class Segments(NamedTuple):
    """The best whole number of segments.

    Parameters
    ----------
    number : int
        How many equal segments (of each half, or in each phase, where the algorithm cuts the vector first).
    segment_bytes : int
        Bytes of one, rounded up to a whole byte.
    seconds : float
        What the collective costs then, with segments of equal size.
    """

    number: int
    segment_bytes: int
    seconds: float


@dataclass(frozen=True, repr=False)
class OptimalSegment(NoNumber):
    """The best segment size of a cost that holds n_s. Made by `optimal_segment`.

    Parameters
    ----------
    cost : Cost
    whole : SymPy expression
        The bytes that are cut into segments: n, n / 2 or n / P.
    """

    cost: Cost
    whole: sp.Expr

    _instead = "Its formulas are .cases, its numbers are .at(machine, P=64, n=2**20)."

    @cached_property
    def cases(self) -> tuple[tuple[sp.Expr, tuple[Boolean, ...], sp.Expr], ...]:
        """(n_s, conditions, seconds) as formulas, one for each choice among the branches of maxima.

        n_s in the conditions is the best one. The number of segments is taken as a real number; where even
        and odd numbers of them cost differently, as odd. Empty where the cost has too many branches.
        """
        e = _smooth(self.cost.total, self.whole)
        try:
            found = branches((e,), n_s)
        except TooManyBranchesError:
            return ()
        cases = []
        fits, too_large = at_least(self.whole - n_s), at_least(n_s - self.whole)
        for (branch,), conditions in found:
            merged = sp.expand(branch)
            fewer, larger = merged.coeff(n_s, -1), merged.coeff(n_s, 1)
            rest = sp.expand(merged - fewer / n_s - larger * n_s)
            signs = sign_over_ranks(fewer), sign_over_ranks(larger)
            if rest.has(n_s) or too_large in conditions or any(not {1, None} & set(s) for s in signs):
                continue  # not of this form; or as large, or as small, a segment as there can be
            positive = [at_least(part) for part, s in zip((fewer, larger), signs, strict=True) if None in s]
            where = tuple(c for c in (*conditions, *positive) if c != fits)
            best = _root(quotient_of(fewer, larger))
            cases.append((best, where, sp.factor_terms(rest) + 2 * sp.sqrt(sp.factor(fewer * larger))))
        return tuple(dict.fromkeys(cases))

    @property
    def points(self) -> tuple[sp.Expr, ...]:
        """The best segment size in bytes, as formulas; larger than the vector where one segment is best."""
        return tuple(point for point, _, _ in self.cases)

    @property
    def conditions(self) -> tuple[tuple[Boolean, ...], ...]:
        """For each of `points` what must hold; n_s stands for the point."""
        return tuple(conditions for _, conditions, _ in self.cases)

    def at(self, machine: Any = None, largest: int = 2**20, **values: Any) -> Segments:
        """Return the best whole number of equal segments, and what that costs.

        Parameters
        ----------
        machine : Machine, its name, or mapping of symbol name to number, optional
        largest : int
            The most segments that are looked at.
        **values : number
            P and n, and other symbols by name.

        Numbers of segments are tried one after another, from one on, up to four times the best one and at least 1024;
        those that floats cannot tell apart are compared in fractions. Of equal ones the smallest number is returned.

        Raises
        ------
        UnknownNameError
            If a symbol has no number, or the cost does not have one that was given.
        QuantityError
            For numbers out of range.
        """
        numbers = numbers_for((self.cost,), machine, values, "n_s")
        most = one_whole("largest", largest, 1, 2**20)
        if numbers.get("P") == 1:
            return Segments(1, ceil(numbers["n"]), 0.0)
        size = self.whole.subs(n, 1).subs(P, sp.Rational(*numbers.get("P", Fraction(1)).as_integer_ratio()))
        total = Fraction(int(size.p), int(size.q)) * numbers["n"]
        if total <= 0:
            raise QuantityError(
                f"n must be more than 0 to be cut into segments, but {shown(values.get('n'))} was given."
            )
        most = min(most, max(1, ceil(total)))
        end = min(_FIRST_LOOK, most)
        while True:
            seconds = self._seconds(numbers, total, np.arange(1, end + 1))
            best = int(np.argmin(seconds)) + 1
            if end == most or 4 * best <= end:
                break
            end = min(4 * end, most)
        # The first of those as good, for where many are equal; those around the best, for where T is flat.
        equal = (np.flatnonzero(seconds <= seconds[best - 1] * (1 + 1e-12))[:_CLOSE] + 1).tolist()
        around = range(max(1, best - _CLOSE), min(end, best + _CLOSE) + 1)
        exact = {k: exact_cost(self.cost, {**numbers, "n_s": total / k}) for k in {*equal, *around}}
        count = min(exact, key=lambda k: (exact[k], k))
        return Segments(count, ceil(total / count), float(exact[count]))

    def _seconds(self, numbers: Mapping[str, Fraction], total: Fraction, counts: np.ndarray) -> np.ndarray:
        given = {name: float(numbers[name]) for name in self.cost.symbols if name != "n_s"}
        return np.asarray(self.cost(**given, n_s=float(total) / counts))

    def __repr__(self) -> str:
        rows = []
        for point, conditions, seconds in self.cases:
            where = f"  if {' and '.join(map(str, conditions))}" if conditions else ""
            rows.append(f"n_s = {point}{where}: {seconds} s")
        return "\n".join(rows) or "no closed form; ask for `at` numbers"

    def _repr_latex_(self) -> str:
        rows = [
            rf"n_s^* = {latex(point)}" + (r",\quad " + r" \wedge ".join(map(latex, where)) if where else "")
            for point, where, _ in self.cases
        ]
        body = r" \\ ".join(rows) or r"\text{no closed form}"
        return (
            rf"$\displaystyle \begin{{array}}{{l}} {body} \end{{array}}$"
            if len(rows) > 1
            else rf"$\displaystyle {body}$"
        )

    def _repr_html_(self) -> str:
        rows = [
            (formula(point), ", ".join(map(formula, where)), formula(seconds)) for point, where, seconds in self.cases
        ]
        head = ("$n_s^*$ (B)", "if", "time (s)")
        return html_table(head, rows) if rows else f"<p>{html.escape(repr(self))}</p>"


def _root(e: sp.Expr) -> sp.Expr:
    """Return a square root in one piece; SymPy would take it apart factor by factor."""
    return sp.Pow(e, sp.S.Half, evaluate=False)


def _counts(e: sp.Expr) -> Iterable[sp.Expr]:
    """Return the numbers of segments, n / (c n_s), of which an expression takes at least one."""
    for node in e.atoms(sp.Max):
        yield from (a for a in node.args if 1 in node.args and a.has(n_s) and not sp.expand(a * n_s).has(n_s))


def _smooth(e: sp.Expr, cut: sp.Expr) -> sp.Expr:
    """Return a cost for at least one segment, their number a real one; where even and odd ones differ, as for odd."""
    count = cut / n_s
    e = e.replace(lambda f: isinstance(f, sp.Max) and set(f.args) == {sp.S.One, count}, lambda f: count)
    e = e.replace(lambda f: isinstance(f, sp.Min) and set(f.args) == {n_s, cut}, lambda f: n_s)
    e = e.replace(lambda f: isinstance(f, sp.Mod) and f.has(n_s), lambda f: sp.S.Zero)
    return e.replace(lambda f: isinstance(f, sp.floor) and f.has(n_s), lambda f: f.args[0])


def optimal_segment(cost: Cost) -> OptimalSegment:
    r"""Return the segment size at which a pipelined algorithm is fastest.

    A cost :math:`T = A + B / n_s + C\, n_s` is smallest at :math:`n_s^* = \sqrt{B / C}`, where it is
    :math:`A + 2 \sqrt{B C}`. The pipeline of bcast, under Hockney: :math:`n_s^* = \sqrt{n \alpha / ((P - 2) \beta)}`.

    Parameters
    ----------
    cost : Cost
        With the symbol n_s: ``collective_cost("bcast", "pipeline", segment_bytes="symbol")``.

    Returns
    -------
    OptimalSegment
        `.points` and `.conditions` are formulas, in bytes; ``.at(machine, P=64, n=2**20)`` the best whole number of
        segments, their size and the time.

    Raises
    ------
    QuantityError
        If it is no `Cost`, or has no segments to choose.

    Segments are equal. Source: derived; for the chain as after Pjesivac-Grbovic et al., Cluster Computing 10, 2007.
    """
    found = {sp.expand(count * n_s) for count in _counts(one_cost(cost).total)}
    if len(found) != 1:
        raise QuantityError(
            "this cost has no segments to choose. Allowed: a cost of an algorithm with segments, made with "
            'segment_bytes="symbol", such as collective_cost("bcast", "pipeline", segment_bytes="symbol").'
        )
    return OptimalSegment(cost, found.pop())
