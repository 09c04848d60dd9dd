"""From values at some P to exact coefficients over a basis of functions of P: linear algebra in fractions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import sympy as sp

from orrery_analytic.errors import QuantityError
from orrery_analytic.symbols import P, log2_ceil, log2_floor

__all__ = ["BASIS", "basis_of", "combine", "tabulate"]

BASIS: tuple[sp.Expr, ...] = (
    sp.S.One,
    P,
    log2_floor(P),
    log2_ceil(P),
    1 / P,
    2 ** log2_floor(P),
    2 ** -log2_floor(P),
    P * 2 ** -log2_floor(P),
    2 ** log2_floor(P) / P,
)
"""Functions of P whose sums a closed form is looked for among. ``log2_ceil(P) - log2_floor(P)``, which they hold, is 1
unless P is a power of two."""


def basis_of(functions: Sequence[sp.Expr | int]) -> tuple[sp.Expr, ...]:
    """Return a basis after a look at each of its functions.

    Raises
    ------
    QuantityError
        If one is no SymPy expression, or holds another symbol than P.
    """
    checked = []
    for f in functions:
        if isinstance(f, bool) or not isinstance(f, (int, sp.Expr)):
            raise QuantityError(
                f"a basis is made of SymPy expressions in P (orrery_analytic.symbols.P), but {f!r} was given."
            )
        function = sp.sympify(f)
        function = function.subs({s: P for s in function.free_symbols if s.name == "P"})
        if function.free_symbols - {P}:
            others = ", ".join(sorted(s.name for s in function.free_symbols - {P}))
            raise QuantityError(f"the basis function {function} holds {others}. Allowed: P alone.")
        checked.append(function)
    if not checked:
        raise QuantityError("an empty basis was given. Allowed: at least one function of P.")
    return tuple(dict.fromkeys(checked))


def tabulate(basis: Sequence[sp.Expr], at: int) -> list[Fraction]:
    """Return the values of the functions of a basis at one P, as fractions.

    Raises
    ------
    QuantityError
        If a value is no fraction (``log(P)``, or a division by 0).
    """
    values = []
    for function in basis:
        value = function.subs(P, at)
        if not isinstance(value, sp.Rational):
            raise QuantityError(
                f"the basis function {function} is {value} at P = {at}. Allowed: whole numbers and fractions."
            )
        values.append(Fraction(int(value.p), int(value.q)))
    return values


def combine(
    table: Mapping[int, Sequence[Fraction]], values: Mapping[int, Fraction]
) -> tuple[list[Fraction], int | None]:
    """Return the coefficients with which a basis has the `values` at every P of theirs.

    Parameters
    ----------
    table : mapping of P to the values of the basis there
    values : mapping of P to a value

    Returns
    -------
    coefficients : list of Fraction
        One a function of the basis; where the basis is dependent on these P, later functions get 0.
    int or None
        The first P at which no combination has the values up to there; the coefficients hold before it.
    """
    rows: dict[int, list[Fraction]] = {}  # reduced equations, by the function that each is solved for
    disagrees: int | None = None
    for at in sorted(values):
        row = [*table[at], values[at]]
        for solved, known in rows.items():
            row = _without(row, known, solved)
        pivot = next((i for i, x in enumerate(row) if x), None)
        if pivot is None:
            continue
        if pivot == len(row) - 1:
            disagrees = at
            break
        row = [x / row[pivot] for x in row]
        rows = {solved: _without(known, row, pivot) for solved, known in rows.items()}
        rows[pivot] = row
    size = len(next(iter(table.values())))
    return [rows[i][-1] if i in rows else Fraction(0) for i in range(size)], disagrees


def _without(row: list[Fraction], known: list[Fraction], pivot: int) -> list[Fraction]:
    """Return an equation less a multiple of a known one, so that it no longer holds the function `pivot`."""
    factor = row[pivot]
    return [x - factor * y for x, y in zip(row, known, strict=True)] if factor else row
