"""What the verbs of algebra are asked with: costs, numbers for their symbols, ranges.

A float is taken as the decimal fraction that it prints as: 2.1e-06 is 21 / 10**7.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import inf
from numbers import Integral, Rational, Real
from typing import Any

import sympy as sp

from orrery_analytic.cost import Cost, parameters_of
from orrery_analytic.decisions.whole import LARGEST_COUNT, whole
from orrery_analytic.errors import QuantityError, UnknownNameError, choose
from orrery_analytic.symbols import describe
from orrery_analytic.symbols.evaluation import unit_of
from orrery_analytic.units import in_si, is_finite, shown

__all__ = ["as_fraction", "is_endless", "numbers_for", "one_cost", "one_whole", "whole_bytes"]


def one_cost(cost: Any) -> Cost:
    """Return a cost.

    Raises
    ------
    QuantityError
        If it is none.
    """
    if not isinstance(cost, Cost):
        raise QuantityError(f"a Cost is allowed, such as collective_cost gives, but {shown(cost)} was given.")
    return cost


def as_fraction(name: str, value: Any) -> Fraction:
    """Return a number of at least 0 as a fraction; a float as the decimal that it prints as.

    Raises
    ------
    QuantityError
        If it is no finite number of at least 0.
    """
    if isinstance(value, sp.Rational):
        value = Fraction(int(value.p), int(value.q))
    elif isinstance(value, sp.Float):
        value = float(value)
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not is_finite(value) or value < 0:
        raise QuantityError(f"{name} must be one finite number of at least 0, but {shown(value)} was given.")
    if isinstance(value, Integral):
        return Fraction(int(value))
    return Fraction(value) if isinstance(value, Rational) else Fraction(repr(float(value)))


def one_whole(name: str, value: Any, least: int, largest: int = LARGEST_COUNT) -> int:
    """Return one whole number from `least` to `largest`.

    Raises
    ------
    QuantityError
        For anything else, and for several numbers.
    """
    found = whole(name, value, least, largest)
    if found.ndim:
        raise QuantityError(f"{name} must be one whole number, but {shown(value)} was given.")
    return int(found)


def numbers_for(costs: tuple[Cost, ...], machine: Any, values: Mapping[str, Any], but: str = "") -> dict[str, Fraction]:
    """Return a fraction for each symbol of some costs except `but`: those of a machine, and `values` before them.

    Raises
    ------
    UnknownNameError
        If a symbol has no number, or a name in `values` is no symbol of the costs.
    QuantityError
        If a number is out of range, or P or n has one in a cost already.
    """
    source = parameters_of(machine)
    if but in values:
        raise QuantityError(f"{but} is what is looked for, and takes no number.")
    needed = {name for cost in costs for name in cost.symbols}
    taken = frozenset.intersection(*(cost.fixed for cost in costs)) - needed
    allowed = dict.fromkeys((*sorted(needed - {but}), *(name for name in ("P", "n") if name != but)))
    for name in values:
        if name in taken:
            raise QuantityError(f"{name} has a number in these costs already, and takes no other one.")
        choose("symbol in these costs", name, allowed)
    given = {**{k: v for k, v in source.items() if k in needed}, **values}
    missing = sorted(needed - given.keys() - {but})
    if missing:
        told = "; ".join(f"{name} ({describe(name).told})" for name in missing)
        raise UnknownNameError(f"no value was given for {told}. Given: {', '.join(given) or 'nothing'}.")
    if "P" in given:
        whole("P", given["P"], 1)
    return {k: as_fraction(k, in_si(v, unit_of(k), k)) for k, v in given.items() if k != but}


def is_endless(last: Any) -> bool:
    """Return whether the end of a range is none: not given, or infinite."""
    return last is None or (isinstance(last, Real) and last == inf)


def whole_bytes(first: Any, last: Any) -> tuple[Fraction, Fraction | None]:
    """Return a range of whole bytes, from 1 on unless `first` is given; None where it has no end.

    Raises
    ------
    QuantityError
        If one is no whole number of at least 1, or `last` lies below `first`.
    """
    start = one_whole("first", 1 if first is None else in_si(first, "B", "first"), 1)
    return Fraction(start), None if is_endless(last) else Fraction(one_whole("last", in_si(last, "B", "last"), start))
