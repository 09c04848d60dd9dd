"""A cost as LaTeX that compiles, with where it holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orrery_analytic.algebra.derivations.layout import equations, latex, write
from orrery_analytic.algebra.derivations.prose import latex_text
from orrery_analytic.cost import Cost
from orrery_analytic.errors import QuantityError
from orrery_analytic.exports.paper import width_of
from orrery_analytic.units import shown

__all__ = ["formula_latex", "formulas_latex", "letters_of"]

_LETTERS = 9.0
"""How many letters of 10 point type an inch of a formula holds, about."""


def letters_of(column: Any) -> int:
    """Return how many letters of a formula stand side by side in a column."""
    return round(_LETTERS * width_of(column))


def formula_latex(cost: Cost, name: str = "", column: Any = "single") -> str:
    """Return T = total as an align* environment, in seconds; needs amsmath.

    Parameters
    ----------
    cost : Cost
        Long formulas come with lines for the names that shorten them.
    name : str
        Stands below T, such as the algorithm.
    column : str or float
        Where it has to fit, in 10 point type: "single" (a column of an article on two columns), "double", or inches.

    Raises
    ------
    UnknownNameError, QuantityError
        For what is no cost, no text, or no column.
    """
    if not isinstance(cost, Cost):
        raise QuantityError(f"a Cost is allowed, such as collective_cost gives, but {shown(cost)} was given.")
    if not isinstance(name, str):
        raise QuantityError(f"name is text, such as 'ring', but {shown(name)} was given.")
    line = letters_of(column)
    written = write(cost.terms, cost.total, line=line)
    left = rf"T_{{\text{{{latex_text(name)}}}}}" if name else "T"
    return equations([*((latex(symbol), e) for symbol, e in written.names), (left, written.total)], line)


def formulas_latex(costs: Mapping[str, Cost], comment: str, column: Any = "single") -> str:
    """Return the formulas of several algorithms, each with a comment on where it is exact, after one `comment`."""
    parts = [
        f"% {name}: {' '.join(cost.validity.split())}\n{formula_latex(cost, name, column)}"
        for name, cost in costs.items()
    ]
    return "\n\n".join([f"% {comment}\n% Needs amsmath. Seconds; n in bytes.", *parts]) + "\n"
