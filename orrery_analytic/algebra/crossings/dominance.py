"""`dominant_term`: which term of a cost is the largest, and from which n on."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import ceil, floor, inf
from typing import Any, NamedTuple

from orrery_analytic.algebra.crossings.crossover import Crossover, crossover
from orrery_analytic.algebra.exact.arguments import numbers_for, one_cost, one_whole, whole_bytes
from orrery_analytic.algebra.exact.lines import Lines, signs
from orrery_analytic.algebra.exact.values import UndefinedHereError, exact_value
from orrery_analytic.cost import Cost, NoNumber
from orrery_analytic.errors import QuantityError
from orrery_analytic.units import in_si

__all__ = ["Dominance", "Region", "dominant_term"]


class Region(NamedTuple):
    """From `first` to `last` bytes, both included, the term that is the largest; of equal ones the first in order."""

    first: float
    last: float
    term: str


@dataclass(frozen=True, repr=False)
class Dominance(NoNumber):
    """Which term of a cost is the largest. Made by `dominant_term`.

    Parameters
    ----------
    cost : Cost
    """

    cost: Cost

    _instead = "Its formulas are .borders, its numbers are .regions(machine, P=64)."

    @property
    def borders(self) -> dict[tuple[str, str], Crossover]:
        """For each two terms where they are equal, in n: formulas, as of two costs."""
        alone = {name: Cost({name: e}) for name, e in self.cost.terms.items()}
        return {(a, b): crossover(alone[a], alone[b], "n") for a, b in combinations(alone, 2)}

    def regions(self, machine: Any = None, first: int = 1, last: Any = None, **values: Any) -> tuple[Region, ...]:
        """Return the exact stretches of whole bytes over which one term is the largest.

        Parameters
        ----------
        machine : Machine, its name, or mapping of symbol name to number, optional
        first, last : int or text with its unit, optional
            The range of n, in bytes; without a last one it is endless.
        **values : number
            P and other symbols by name; they go before the machine's.

        Raises
        ------
        UnknownNameError
            If a symbol has no number, or the cost does not have one that was given.
        QuantityError
            For numbers out of range, and where the cost is 0 or not stated for this P.
        """
        numbers = numbers_for((self.cost,), machine, values, "n")
        start, stop = whole_bytes(first, last)
        x = Lines.identity(start, stop)
        terms = self.cost.local if numbers.get("P") == 1 else self.cost.terms
        try:
            lines = {name: x * 0 + exact_value(e, {**numbers, "n": x}) for name, e in terms.items()}
        except UndefinedHereError:
            lines = {}
        if not lines:
            raise QuantityError("this cost has no terms here: it is 0, or not stated for this P.")
        return tuple(_largest(lines, int(start), inf if stop is None else int(stop)))

    def at(self, machine: Any = None, **values: Any) -> str:
        """Return the name of the largest term at one n. Takes and raises what `regions` takes and raises, and n."""
        size = one_whole("n", in_si(values.pop("n", None), "B", "n"), 1)
        return self.regions(machine, first=size, last=size, **values)[0].term

    def __repr__(self) -> str:
        return f"the largest of {', '.join(self.cost.terms)}: ask for `regions` at numbers, or for `borders`"


def _largest(lines: dict[str, Lines], first: int, last: float) -> list[Region]:
    """Return the regions: between two places where any two terms cross, the order is one."""
    cuts = {first}
    for a, b in combinations(lines.values(), 2):
        for (x, behind), _ in signs(a - b):
            cuts.add(floor(x) + 1 if behind else ceil(x))
    starts = sorted(c for c in cuts if first <= c <= last)
    regions: list[Region] = []
    for start, end in zip(starts, [*(c - 1 for c in starts[1:]), last], strict=True):
        values = {name: line.at(Fraction(start)) for name, line in lines.items()}
        term = max(values, key=values.__getitem__)
        if regions and regions[-1].term == term:
            regions[-1] = regions[-1]._replace(last=end)
        else:
            regions.append(Region(start, end, term))
    return regions


def dominant_term(cost: Cost) -> Dominance:
    """Return which term of a cost is the largest from which n on: latency, bandwidth, reduction, a copy ...

    Parameters
    ----------
    cost : Cost

    Returns
    -------
    Dominance
        ``.regions(machine, P=64)`` exact stretches of n in bytes, `.borders` formulas.

    Raises
    ------
    QuantityError
        If it is no `Cost`.

    Terms are lines in n, piece by piece; borders of two of them are those of `crossover`. Source: derived.
    """
    return Dominance(one_cost(cost))
