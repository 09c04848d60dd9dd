"""`Derivation`: the closed form that was found for a schedule, what it is made of, and where it was checked."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import sympy as sp

from orrery_analytic.collectives.rounds import tidy
from orrery_analytic.cost import Cost
from orrery_analytic.symbols import alpha, beta, gamma, n
from orrery_analytic.symbols.printing import latex

__all__ = ["NAMES", "Derivation", "Piece", "closed_form", "ranges", "value_at"]

NAMES = ("latency", "bandwidth", "reduce")
_FACTORS = (alpha, n * beta, n * gamma)

Piece = tuple[tuple[Fraction, ...], ...]
"""Coefficients of the basis for messages, bytes / n and reduced bytes / n."""


@dataclass(frozen=True, repr=False)
class Derivation:
    """A closed form in P and n that equals a schedule at every P on which it was checked.

    Parameters
    ----------
    formula : Cost
        Terms latency, bandwidth and reduce, in seconds; its `validity` tells the P.
    basis : tuple of SymPy expressions
        The functions of P that it was looked for among.
    pieces : tuple
        For each sum whose maximum the time is (mostly one): the coefficients of the basis for messages, for bytes / n
        and for reduced bytes / n.
    fitted, checked : tuple of int
        The P that the coefficients come from, and those that were not used for them. The formula is exact at both.
    """

    formula: Cost
    basis: tuple[sp.Expr, ...]
    pieces: tuple[Piece, ...]
    fitted: tuple[int, ...]
    checked: tuple[int, ...]

    @property
    def coefficients(self) -> tuple[Mapping[str, Mapping[sp.Expr, Fraction]], ...]:
        """For each piece: term name to basis function to coefficient, without zeros."""
        return tuple(
            {
                name: {f: c for f, c in zip(self.basis, part, strict=True) if c}
                for name, part in zip(NAMES, piece, strict=True)
            }
            for piece in self.pieces
        )

    def latex(self) -> str:
        """Return the formula as LaTeX."""
        return self.formula.latex()

    def _repr_latex_(self) -> str:
        return self.formula._repr_latex_()

    def __repr__(self) -> str:
        return f"{self.formula!r}\nbasis: {', '.join(map(str, self.basis))}"

    def _repr_html_(self) -> str:
        rows = []
        for i, piece in enumerate(self.coefficients):
            for name, combination in piece.items():
                cells = "".join(f"<td>{combination.get(f, '')}</td>" for f in self.basis)
                label = name if len(self.pieces) == 1 else f"{name} ({i + 1})"
                rows.append(f"<tr><th style='text-align:left'>{html.escape(label)}</th>{cells}</tr>")
        head = "".join(f"<th>${latex(f)}$</th>" for f in self.basis)
        table = f"<table><thead><tr><th>basis</th>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
        return self.formula._repr_html_() + table


def ranges(numbers: Sequence[int]) -> str:
    """Return whole numbers in order as text, with runs drawn together: "2 to 19, 63 to 65"."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs)


def closed_form(
    basis: Sequence[sp.Expr], pieces: Sequence[Piece], tables: Sequence[Sequence[Fraction]]
) -> dict[str, sp.Expr]:
    """Return the terms of the largest of several sums: ``total = sum of the terms = max over the pieces``.

    What all pieces share stands before the maximum. As under LogGP elsewhere, "bandwidth" is what the bytes add to the
    latency, and "reduce" what the reductions add to both.

    Parameters
    ----------
    basis, pieces
        See `Derivation`.
    tables : values of the basis, for each P
        A piece that another one exceeds at all of these is left away from the maximum.
    """
    terms: dict[str, sp.Expr] = {}
    apart: list[int] = []  # the parts in which pieces differ
    before: sp.Expr = sp.S.Zero  # the maximum over those parts that came before, and its piece if it is one sum
    base: int | None = None
    for j, (name, factor) in enumerate(zip(NAMES, _FACTORS, strict=True)):
        if len({piece[j] for piece in pieces}) == 1:
            terms[name] = _sum(basis, pieces[0][j]) * factor
            continue
        apart.append(j)
        kept = _undominated([[piece[i] for i in apart] for piece in pieces], tables)
        if base is None:
            terms[name] = sp.Max(*(_weighted(basis, pieces[k], apart) for k in kept)) - before
        else:
            lower = [pieces[base][i] if i in apart[:-1] else (Fraction(0),) * len(basis) for i in range(3)]
            parts = (_weighted(basis, _less(pieces[k], lower), apart) for k in kept)
            terms[name] = sp.Max(*parts)
        before = sp.Max(*(_weighted(basis, pieces[k], apart) for k in kept))
        base = kept[0] if len(kept) == 1 else None
    return terms


def _less(piece: Piece, other: Sequence[Sequence[Fraction]]) -> Piece:
    return tuple(tuple(x - y for x, y in zip(part, less, strict=True)) for part, less in zip(piece, other, strict=True))


def _weighted(basis: Sequence[sp.Expr], piece: Piece, parts: Sequence[int]) -> sp.Expr:
    return sp.Add(*(_sum(basis, piece[i]) * _FACTORS[i] for i in parts))


def _sum(basis: Sequence[sp.Expr], coefficients: Sequence[Fraction]) -> sp.Expr:
    terms = (sp.Rational(c.numerator, c.denominator) * f for c, f in zip(coefficients, basis, strict=True))
    return tidy(sp.Add(*terms))


def _undominated(pieces: list[list[tuple[Fraction, ...]]], tables: Sequence[Sequence[Fraction]]) -> list[int]:
    """Return which pieces no other one exceeds or equals in every part at every P; of equal ones the first."""
    values = [[value_at(part, table) for table in tables for part in piece] for piece in pieces]

    def exceeds(i: int, j: int) -> bool:
        return all(x >= y for x, y in zip(values[i], values[j], strict=True))

    everyone = range(len(pieces))
    return [j for j in everyone if not any(exceeds(i, j) and (i < j or not exceeds(j, i)) for i in everyone if i != j)]


def value_at(coefficients: Sequence[Fraction], table: Sequence[Fraction]) -> Fraction:
    """Return the sum of a basis with its values in `table`."""
    return sum((c * x for c, x in zip(coefficients, table, strict=True)), Fraction(0))
