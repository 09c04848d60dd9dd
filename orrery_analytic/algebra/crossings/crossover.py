"""`crossover`: where one of two costs becomes the cheaper one."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import sympy as sp
from sympy.logic.boolalg import Boolean

from orrery_analytic.algebra.crossings.borders import border_formula
from orrery_analytic.algebra.crossings.cases import Case, closed_cases
from orrery_analytic.algebra.crossings.real_ranks import points_at_powers_of_two
from orrery_analytic.algebra.crossings.stretches import Stretches, borders, over_ranks, over_reals, over_whole, turned
from orrery_analytic.algebra.exact.arguments import as_fraction, is_endless, numbers_for, one_whole, whole_bytes
from orrery_analytic.algebra.exact.lines import Lines
from orrery_analytic.algebra.exact.rates import RATES, inverted
from orrery_analytic.algebra.exact.values import exact_cost
from orrery_analytic.algebra.tables import formula, html_table
from orrery_analytic.cost import Cost, NoNumber
from orrery_analytic.errors import QuantityError, UnknownNameError
from orrery_analytic.symbols import describe
from orrery_analytic.symbols.printing import latex
from orrery_analytic.units import in_si, shown

__all__ = ["Crossover", "crossover"]

_MOST_RANKS = 2**20


@dataclass(frozen=True, repr=False)
class Crossover(NoNumber):
    """Where one of two costs, a and b, becomes the cheaper one. Made by `crossover`.

    Parameters
    ----------
    symbol : SymPy symbol
        What is varied.
    a, b : Cost
    """

    symbol: sp.Symbol
    a: Cost
    b: Cost

    _instead = "Its formulas are .points, its numbers are .at(machine, P=64) and .intervals(machine, P=64)."

    @cached_property
    def _closed(self) -> tuple[tuple[Case, ...], str]:
        if self.symbol.name == "P":
            same = sp.expand(self.a.total - self.b.total) == 0
            return ((Case(None, (), "equal"),), "") if same else ((), "no closed form in P; ask for the intervals")
        cases, note = closed_cases(*(cost.total for cost in self._sides), self.symbol)
        return tuple(case.turned(self.symbol) for case in cases) if self._is_rate else cases, note

    @property
    def _is_rate(self) -> bool:
        return self.symbol.name in RATES

    @cached_property
    def _sides(self) -> tuple[Cost, Cost]:
        """The two costs as lines in the symbol: in both a rate stands for one over it."""
        return (inverted(self.a, self.symbol), inverted(self.b, self.symbol)) if self._is_rate else (self.a, self.b)

    @property
    def cases(self) -> tuple[Case, ...]:
        """One for each choice among the branches of maxima: point, conditions, and which is cheaper around it."""
        return self._closed[0]

    @property
    def note(self) -> str:
        """Why there is no closed form, or not for all P; empty where there is."""
        return self._closed[1]

    @property
    def points(self) -> tuple[sp.Expr, ...]:
        """Where the two are equal, as formulas; each holds under the `conditions` at its place."""
        return tuple(case.point for case in self.cases if case.point is not None)

    @property
    def conditions(self) -> tuple[tuple[Boolean, ...], ...]:
        """For each of `points` what must hold; `symbol` stands for the point."""
        return tuple(case.conditions for case in self.cases if case.point is not None)

    @property
    def cheaper(self) -> str:
        """Which is cheaper on either side, as text: "a below, b above", "a", "equal"; over P where that changes it."""
        rows = [
            (case.cheaper, " and ".join(map(str, case.conditions)))
            for case in self.cases
            if "jumps" not in case.cheaper
        ]
        return "; ".join(f"{text} where {where}" if where else text for text, where in rows) or self.note

    @cached_property
    def at_powers_of_two(self) -> tuple[sp.Expr, ...]:
        """In P: the real P at which the two are equal if every P is a power of two, as formulas.

        A quotient, a power of two, or Lambert's W of both real branches, k = 0 and -1, of which those that are real and
        at least 2 count. Empty where the costs have other parts in P than P and its logarithm, and in other symbols.
        """
        return points_at_powers_of_two(self.a.total, self.b.total) if self.symbol.name == "P" else ()

    def intervals(self, machine: Any = None, first: Any = None, last: Any = None, **values: Any) -> Stretches:
        """Return the exact stretches over which a, or b, is the cheaper one.

        Parameters
        ----------
        machine : Machine, its name, or mapping of symbol name to number, optional
        first, last : number or text with its unit, optional
            The range: of n whole bytes from 1, of P whole numbers from 2 to 1024 (at most 2**20), of a parameter real
            numbers from 0.
        **values : number
            For symbols by name, P and n too; they go before the machine's.

        Returns
        -------
        Stretches
            A tuple of (first, last, cheaper), ascending; a notebook shows a table. Of n and P no number lies in two of
            them; of a parameter neighbours share their border.

        Raises
        ------
        UnknownNameError
            If a symbol has no number, or the costs do not have one that was given.
        QuantityError
            For numbers out of range.

        A float is taken as the decimal that it prints as, and nothing is rounded then. Of P, floats decide where they
        differ by more than 1e-9, and fractions where they do not.
        """
        numbers = numbers_for((self.a, self.b), machine, values, self.symbol.name)
        if self.symbol.name == "P":
            least = one_whole("first", 2 if first is None else first, 1, _MOST_RANKS)
            most = one_whole("last", 1024 if last is None else last, least, _MOST_RANKS)
            return Stretches(over_ranks(self.a, self.b, numbers, least, most), "P")
        start, stop = self._range(first, last)
        a, b = self._lines(numbers, start, stop)
        if self.symbol.name == "n":
            return Stretches(over_whole(a, b, start, stop), "n")
        found = over_reals(a, b, start, stop)
        return Stretches(turned(found) if self._is_rate else found, self.symbol.name)

    def at(self, machine: Any = None, **values: Any) -> tuple[float, ...]:
        """Return where another one of the two becomes the cheaper one, in SI units, ascending; empty if nowhere.

        Of n real numbers of bytes, at least 1; of P the first number of ranks of each new stretch, up to 1024. Takes
        what `intervals` takes, and raises what that raises.
        """
        if self.symbol.name == "P":
            return tuple(stretch.first for stretch in self.intervals(machine, **values)[1:])
        _, found = self._borders(machine, values)
        return tuple(float(1 / x if self._is_rate else x) for x in found)

    def formulas(self, machine: Any = None, **values: Any) -> tuple[tuple[float, sp.Expr | None], ...]:
        """Return each number that `at` returns with its formula, for the branches of maxima that hold there.

        The formula is None where a cost jumps, and for the rare cost that is no formula at one P either. In P there is
        none. Takes what `intervals` takes, and raises what that raises.
        """
        if self.symbol.name == "P":
            return tuple((x, None) for x in self.at(machine, **values))
        numbers, found = self._borders(machine, values)
        a, b = (cost.total for cost in self._sides)
        rows = ((x, border_formula(a, b, self.symbol, x, numbers)) for x in found)
        return tuple((float(1 / x), e and 1 / e) if self._is_rate else (float(x), e) for x, e in rows)

    def __call__(self, **values: Any) -> tuple[float, ...]:
        """Return `at` of these numbers alone."""
        return self.at(None, **values)

    def _range(self, first: Any, last: Any) -> tuple[Fraction, Fraction | None]:
        if self.symbol.name == "n":
            return whole_bytes(first, last)
        unit = describe(self.symbol.name).unit
        start = as_fraction("first", 0 if first is None else in_si(first, unit, "first"))
        stop = None if is_endless(last) else as_fraction("last", in_si(last, unit, "last"))
        if stop is not None and (stop < start or (self._is_rate and not stop)):
            raise QuantityError(f"last = {shown(last)} lies below first = {shown(first)}, or is a rate of 0.")
        if self._is_rate:
            return (Fraction(0) if stop is None else 1 / stop), 1 / start if start else None
        return start, stop

    def _lines(self, numbers: Mapping[str, Fraction], first: Fraction, last: Fraction | None) -> tuple[Any, Any]:
        values = {**numbers, self.symbol.name: Lines.identity(first, last)}
        a, b = self._sides
        return exact_cost(a, values), exact_cost(b, values)

    def _borders(self, machine: Any, values: Mapping[str, Any]) -> tuple[dict[str, Fraction], tuple[Fraction, ...]]:
        """Return the numbers, and the borders of `_sides`, in the order of what is looked for."""
        numbers = numbers_for((self.a, self.b), machine, values, self.symbol.name)
        start, stop = self._range(None, None)
        found = borders(*self._lines(numbers, start, stop), start, stop)
        return numbers, tuple(x for x in reversed(found) if x) if self._is_rate else found

    def __repr__(self) -> str:
        lines = [f"{self.symbol.name}: {self.cheaper}"]
        for point, conditions in zip(self.points, self.conditions, strict=True):
            where = f"  if {' and '.join(map(str, conditions))}" if conditions else ""
            lines.append(f"  {self.symbol.name} = {point}{where}")
        return "\n".join([*lines, *([self.note] if self.note and self.cases else [])])

    def _repr_latex_(self) -> str:
        rows = []
        for point, conditions in zip(self.points, self.conditions, strict=True):
            where = r",\quad " + r" \wedge ".join(map(latex, conditions)) if conditions else ""
            rows.append(f"{latex(self.symbol)}^* = {latex(point)}{where}")
        body = r" \\ ".join(rows) or rf"\text{{{self.cheaper.replace('_', ' ')}}}"
        stacked = rf"\begin{{array}}{{l}} {body} \end{{array}}" if len(rows) > 1 else body
        return rf"$\displaystyle {stacked}$"

    def _repr_html_(self) -> str:
        rows = [
            ("" if c.point is None else formula(c.point), ", ".join(map(formula, c.conditions)), html.escape(c.cheaper))
            for c in self.cases
        ]
        table = html_table((f"${latex(self.symbol)}^*$", "if", "cheaper"), rows) if rows else ""
        return table + (f"<p>{html.escape(self.note)}</p>" if self.note else "")


def crossover(cost_a: Cost, cost_b: Cost, symbol: str | sp.Symbol) -> Crossover:
    r"""Return where one of two costs becomes the cheaper one, as formulas and in exact numbers.

    Costs are lines, piece by piece, in n and in each parameter of a machine (in one over a rate). Where
    :math:`a = a_0 + a_1 x` and :math:`b = b_0 + b_1 x` they cross at :math:`x^* = (b_0 - a_0) / (a_1 - b_1)`; of a Max
    or a Piecewise each choice of branches is one case, with the conditions under which it holds.

    Parameters
    ----------
    cost_a, cost_b : Cost
        In the answer they are a and b. ``cost.at(P=128)`` gives formulas at one P.
    symbol : str or SymPy symbol
        "n" (bytes), a parameter of a machine ("alpha", "beta", "L", "alpha_gdr" ...), or "P".

    Returns
    -------
    Crossover
        `.points`, `.conditions`, `.cheaper` in words, `.cases`; `.intervals(machine, P=128)` exact stretches and
        `.at(machine, P=128)` the numbers. In P there are intervals, and `.at_powers_of_two`.

    Raises
    ------
    UnknownNameError
        If no formula of this package has such a symbol, or none of the two costs a parameter of this name.
    QuantityError
        If a cost is no `Cost`, or has a number for the symbol already.

    Words over P are decided for P = 2 to 1024, for all positive values of the parameters. A cost that is a walk along
    the bits of P, such as bcast scatter_allgather, has no closed form in P: `.note` says so, and intervals are exact.
    Source: derived.

    Examples
    --------
    >>> import orrery_analytic as oa
    >>> doubling, ring = (oa.collective_cost("allreduce", name) for name in ("recursive_doubling", "ring"))
    >>> crossing = oa.crossover(doubling, ring, "n")
    >>> crossing.cheaper
    'a below, b above'
    >>> crossing.intervals(P=8, alpha=2e-6, beta=1e-10, gamma=1e-10)[0]
    Stretch(first=1, last=65185, cheaper='a')
    """
    name = symbol.name if isinstance(symbol, sp.Symbol) else symbol
    if not isinstance(name, str):
        raise QuantityError(f'a symbol or its name, such as "n", is allowed, but {shown(symbol)} was given.')
    found = describe(name).symbol
    for which, cost in (("cost_a", cost_a), ("cost_b", cost_b)):
        if not isinstance(cost, Cost):
            raise QuantityError(f"{which} must be a Cost, such as collective_cost gives, but {shown(cost)} was given.")
        if found.name in cost.fixed:
            raise QuantityError(f"{which} has a number for {found.name} already: there is nothing to vary.")
    known = sorted({*cost_a.symbols, *cost_b.symbols})
    if found.name not in ("P", "n", *known):
        raise UnknownNameError(
            f"neither cost depends on {found.name} ({describe(found.name).meaning}): there is nothing to vary. "
            f"They hold {', '.join(known) or 'no symbols'}."
        )
    return Crossover(found, cost_a, cost_b)
