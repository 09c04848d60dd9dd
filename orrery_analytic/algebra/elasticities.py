"""`elasticity`: the share of each parameter in a cost."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import Any

import sympy as sp

from orrery_analytic.algebra.exact.arguments import numbers_for, one_cost
from orrery_analytic.algebra.exact.lines import Lines
from orrery_analytic.algebra.exact.monomials import quotient_of
from orrery_analytic.algebra.exact.rates import RATES, inverted
from orrery_analytic.algebra.exact.values import exact_cost
from orrery_analytic.algebra.tables import formula, html_table
from orrery_analytic.cost import Cost, NoNumber
from orrery_analytic.errors import QuantityError
from orrery_analytic.symbols import describe

__all__ = ["Elasticity", "elasticity"]

_NOT_PARAMETERS = ("P", "n", "n_s", "n_f", "W", "F", "nx", "ny", "iterations", "nccheck")
_NEAR = Fraction(1, 10**40)


@dataclass(frozen=True, repr=False)
class Elasticity(NoNumber):
    """The elasticities of a cost, d ln T / d ln p for each parameter p. Made by `elasticity`.

    Parameters
    ----------
    cost : Cost
    """

    cost: Cost

    _instead = "Its formulas are .shares, its numbers are .at(machine, P=64, n=2**20)."

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters of the machine that the cost holds, in alphabetical order."""
        return tuple(name for name in self.cost.symbols if name not in _NOT_PARAMETERS)

    @cached_property
    def shares(self) -> Mapping[str, sp.Expr]:
        """For each parameter its share as a formula; empty where the cost is a maximum, whose branches differ."""
        total = self.cost.total
        if total.has(sp.Max, sp.Min, sp.Piecewise) or any(
            f.free_symbols - {_ranks(f)} for f in total.atoms(sp.Function)
        ):
            return MappingProxyType({})
        symbols = {name: describe(name).symbol for name in self.parameters}
        return MappingProxyType({k: quotient_of(s * total.diff(s), total) for k, s in symbols.items()})

    def at(self, machine: Any = None, **values: Any) -> dict[str, float]:
        """Return the share of each parameter as a number.

        Parameters
        ----------
        machine : Machine, its name, or mapping of symbol name to number, optional
        **values : number
            P, n and other symbols by name; they go before the machine's.

        Where branches of a maximum are equal, such as o and g on many machines, one of them counts, the same for all
        parameters.

        Raises
        ------
        UnknownNameError
            If a symbol has no number, or the cost does not have one that was given.
        QuantityError
            For numbers out of range, and where the cost is 0 or not stated for this P.
        """
        numbers = numbers_for((self.cost,), machine, values)
        total = exact_cost(self.cost, numbers)
        if not total:
            raise QuantityError("this cost is 0 here, or not stated for this P: there are no shares of it.")
        # Beside the point no two branches are equal, and to the first degree their slopes are those at the point.
        beside = {
            **numbers,
            **{name: numbers[name] * (1 + i * _NEAR) for i, name in enumerate(self.parameters, start=1)},
        }
        return {name: float(self._slope(name, beside) * numbers[name] / total) for name in self.parameters}

    def _slope(self, name: str, numbers: Mapping[str, Fraction]) -> Fraction:
        x, cost = numbers[name], self.cost
        if name in RATES:  # d T / d R = - (d T / d (1 / R)) / R**2
            return -self._right(inverted(cost, describe(name).symbol), name, numbers, 1 / x) / x**2
        return self._right(cost, name, numbers, x)

    def _right(self, cost: Cost, name: str, numbers: Mapping[str, Fraction], x: Fraction) -> Fraction:
        line = exact_cost(cost, {**numbers, name: Lines.identity(Fraction(0))})
        if not isinstance(line, Lines):
            return Fraction(0)
        return next(
            b for knot, (_, b) in zip(reversed(line.knots), reversed(line.parts), strict=True) if knot <= (x, 1)
        )

    def __repr__(self) -> str:
        rows = [f"{name:<12} {share}" for name, share in self.shares.items()]
        return "\n".join(rows) or f"shares of {', '.join(self.parameters)}: ask for `at` numbers"

    def _repr_html_(self) -> str:
        rows = [(formula(describe(name).symbol), formula(share)) for name, share in self.shares.items()]
        return html_table(("parameter", "share"), rows) if rows else f"<p>{html.escape(repr(self))}</p>"


def _ranks(f: sp.Basic) -> sp.Symbol | None:
    return next((s for s in f.free_symbols if s.name == "P"), None)


def elasticity(cost: Cost) -> Elasticity:
    r"""Return how much each parameter of the machine counts: :math:`E_p = \partial \ln T / \partial \ln p`.

    A parameter that is one percent larger makes the call :math:`E_p` percent slower. Every time parameter enters a cost
    to the first degree, so that by Euler's theorem the shares of all of them add up to 1: under Hockney alpha, beta and
    gamma, under LogGP L, o, g, G and gamma. They add up to less where a cost holds fixed seconds.

    Parameters
    ----------
    cost : Cost

    Returns
    -------
    Elasticity
        `.shares` are formulas, ``.at(machine, P=64, n=2**20)`` numbers, without a unit. A rate (R) has a share below 0.

    Raises
    ------
    QuantityError
        If it is no `Cost`.

    Source: derived.

    Examples
    --------
    >>> import orrery_analytic as oa
    >>> oa.elasticity(oa.p2p_cost()).shares["alpha"]
    alpha/(alpha + beta*n)
    """
    return Elasticity(one_cost(cost))
