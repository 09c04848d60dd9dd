"""A cost as LaTeX that compiles, with where it holds."""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp

from orrery_analytic.algebra.derivations.layout import align, latex, write
from orrery_analytic.algebra.derivations.prose import latex_text
from orrery_analytic.cost import Cost

__all__ = ["formula_latex", "formulas_latex"]


def formula_latex(cost: Cost, name: str = "") -> str:
    """Return T = total as an align* environment, in seconds; needs amsmath.

    Parameters
    ----------
    cost : Cost
        Long formulas come with lines for the names that shorten them.
    name : str
        Stands below T, such as the algorithm.
    """
    written = write(cost.terms, cost.total)
    left = rf"T_{{\text{{{latex_text(name)}}}}}" if name else "T"
    rows = [*((sp.latex(symbol), e) for symbol, e in written.names), (left, written.total)]
    return align([f"{side} &= {latex(e)}" for side, e in rows])


def formulas_latex(costs: Mapping[str, Cost], comment: str) -> str:
    """Return the formulas of several algorithms, each with a comment on where it is exact, after one `comment`."""
    parts = [
        f"% {name}: {' '.join(cost.validity.split())}\n{formula_latex(cost, name)}" for name, cost in costs.items()
    ]
    return "\n\n".join([f"% {comment}\n% Needs amsmath. Seconds; n in bytes.", *parts]) + "\n"
