"""Terms that change with the size of a message or buffer: pieces, and the sizes at which they switch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import sympy as sp

from orrery_analytic.decisions.whole import whole
from orrery_analytic.errors import QuantityError, shown
from orrery_analytic.units import to_si

__all__ = ["Terms", "by_size", "joined", "size_option"]

Terms = dict[str, sp.Expr]


def by_size(*pieces: tuple[Terms, Any]) -> Terms:
    """Return named terms in pieces: each with its condition, the first that holds; a term that is missing is 0.

    Pieces of pieces become one list.
    """
    names = dict.fromkeys(name for terms, _ in pieces for name in terms)
    return {
        name: sp.Piecewise(
            *(
                (e, sp.And(condition, inner))
                for terms, condition in pieces
                for e, inner in _pieces(terms.get(name, sp.S.Zero))
            )
        )
        for name in names
    }


def _pieces(e: sp.Expr) -> Iterable[tuple[sp.Expr, Any]]:
    """Return the pieces of an expression, and their conditions; what is added to them goes into each."""
    inner = [part for part in sp.Add.make_args(e) if isinstance(part, sp.Piecewise)]
    if len(inner) != 1:
        return [(e, sp.true)]
    return [(e - inner[0] + value, condition) for value, condition in inner[0].args]


def joined(*parts: Terms) -> Terms:
    """Return the sums of terms of the same name."""
    names = dict.fromkeys(name for part in parts for name in part)
    return {name: sp.Add(*(part.get(name, sp.S.Zero) for part in parts)) for name in names}


def size_option(name: str, value: Any, symbol: sp.Symbol) -> sp.Expr:
    """Return a size in bytes: a whole number of at least 1, text with a unit ("512 KiB"), an expression, or a symbol.

    Parameters
    ----------
    name : str
        How messages call it.
    value
        What was given; "symbol" stands for `symbol`.
    symbol : SymPy symbol

    Raises
    ------
    QuantityError
        For anything else.
    """
    if isinstance(value, str):
        return symbol if value == "symbol" else sp.nsimplify(to_si(value, "B", name, positive=True))
    if isinstance(value, sp.Expr) and not value.is_number:
        return value
    number = int(value) if isinstance(value, sp.Integer) else value
    array = whole(name, number, 1)
    if array.ndim:
        raise QuantityError(f"{name} must be one size in bytes, but {shown(value)} was given.")
    return sp.Integer(int(array))
