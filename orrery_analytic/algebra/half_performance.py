"""`half_performance`: the size, and the number of ranks, at which half of the asymptotic bandwidth is reached."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import sympy as sp

from orrery_analytic.algebra.exact.arguments import numbers_for, one_cost, one_whole
from orrery_analytic.algebra.exact.lines import Lines, signs
from orrery_analytic.algebra.exact.monomials import quotient_of
from orrery_analytic.algebra.exact.values import exact_cost
from orrery_analytic.cost import Cost, NoNumber
from orrery_analytic.errors import QuantityError
from orrery_analytic.symbols import n
from orrery_analytic.symbols.printing import latex

__all__ = ["HalfPerformance", "half_performance"]

_MOST_RANKS = 2**16


@dataclass(frozen=True, repr=False)
class HalfPerformance(NoNumber):
    """Half of the asymptotic bandwidth of a cost. Made by `half_performance`.

    Parameters
    ----------
    cost : Cost
    """

    cost: Cost

    _instead = "Its formula is .size, its numbers are .at(machine, P=64) and .ranks(machine, n=2**20)."

    @cached_property
    def size(self) -> sp.Expr | None:
        """n_1/2 in bytes, as a formula; None where the cost is no single line in n."""
        total = sp.expand(self.cost.total)
        slope = total.coeff(n, 1)
        rest = sp.expand(total - slope * n)
        return None if slope == 0 or slope.has(n) or rest.has(n) else quotient_of(rest, slope)

    def at(self, machine: Any = None, **values: Any) -> float:
        """Return n_1/2 in bytes: from there on at least half of the asymptotic bandwidth is reached; 0 if always.

        Parameters
        ----------
        machine : Machine, its name, or mapping of symbol name to number, optional
        **values : number
            P and other symbols by name; they go before the machine's.

        Raises
        ------
        UnknownNameError
            If a symbol has no number, or the cost does not have one that was given.
        QuantityError
            For numbers out of range, and where the time does not grow with n.
        """
        return float(self._size(numbers_for((self.cost,), machine, values, "n")))

    def _size(self, numbers: dict[str, Fraction]) -> Fraction:
        line = exact_cost(self.cost, {**numbers, "n": Lines.identity(Fraction(0))})
        if not isinstance(line, Lines) or line.parts[-1][1] <= 0:
            raise QuantityError("the time does not grow with n here: there is no asymptotic bandwidth.")
        slow = signs(line - 2 * line.parts[-1][1] * Lines.identity(Fraction(0)))
        return max(
            (knot[0] for (knot, _), (_, before) in zip(slow[1:], slow, strict=False) if before > 0), default=Fraction(0)
        )

    def ranks(self, machine: Any = None, last: int = 1024, **values: Any) -> int | None:
        """Return P_1/2: the largest number of ranks, up to `last`, on which n bytes still reach half of the bandwidth.

        The asymptotic bandwidth is that of large n on so many ranks. None where it is reached
        on none from 2 on. Takes n, and raises what `at` raises.
        """
        numbers = numbers_for((self.cost,), machine, values, "P")
        size = numbers.pop("n", None)
        if size is None:
            raise QuantityError(
                "n is needed, in bytes, for the number of ranks on which it reaches half of the bandwidth."
            )
        most = one_whole("last", last, 2, _MOST_RANKS)
        reached = (p for p in range(most, 1, -1) if self._size({**numbers, "P": Fraction(p)}) <= size)
        return next(reached, None)

    def __repr__(self) -> str:
        return f"n_1/2 = {self.size}" if self.size is not None else "n_1/2: ask for `at` numbers"

    def _repr_latex_(self) -> str | None:
        return rf"$\displaystyle n_{{1/2}} = {latex(self.size)}$" if self.size is not None else None


def half_performance(cost: Cost) -> HalfPerformance:
    r"""Return n_1/2 and P_1/2: where half of the asymptotic bandwidth is reached.

    A cost :math:`T = T_0 + n / r_\infty` moves n bytes at a rate :math:`n / T`, which is :math:`r_\infty / 2` at
    :math:`n_{1/2} = T_0\, r_\infty`. P_1/2 is the largest P at which :math:`n_{1/2}(P) \le n`.

    Parameters
    ----------
    cost : Cost

    Returns
    -------
    HalfPerformance
        `.size` a formula in bytes, ``.at(machine, P=64)`` its number; ``.ranks(machine, n=2**20)`` is P_1/2.

    Raises
    ------
    QuantityError
        If it is no `Cost`.

    Source: n_1/2 after Hockney, Parallel Computing 20(3), 1994; P_1/2 derived.
    """
    return HalfPerformance(one_cost(cost))
