"""The pieces of a derivation: numbered steps of sentences and equations, in LaTeX, in HTML and as text."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import sympy as sp

from orrery_analytic.algebra.derivations.layout import align, latex
from orrery_analytic.algebra.derivations.prose import html_text, latex_text, plain_text

__all__ = ["Equation", "Step", "Symbols"]


@dataclass(frozen=True)
class Equation:
    """left = right, in seconds unless it says otherwise.

    Parameters
    ----------
    left : str
        LaTeX.
    right : SymPy expression, or str as LaTeX
    plain : str
        The right side as text, where it is given as LaTeX.
    """

    left: str
    right: sp.Expr | str
    plain: str = ""

    def row(self, equals: str = "&=") -> str:
        """Return the equation as LaTeX."""
        return f"{self.left} {equals} {self.right if isinstance(self.right, str) else latex(self.right)}"


@dataclass(frozen=True)
class Step:
    """One step: a title, then sentences and equations.

    Parameters
    ----------
    title : str
    body : tuple of str or Equation
        Sentences as `prose` takes them.
    """

    title: str
    body: tuple[str | Equation, ...]

    def _groups(self) -> list[tuple[bool, list[str | Equation]]]:
        return [(kind, list(g)) for kind, g in groupby(self.body, key=lambda item: isinstance(item, Equation))]

    def latex(self, number: int) -> str:
        """Return the step as LaTeX."""
        parts = [rf"\paragraph{{{number}. {latex_text(self.title)}.}}"]
        for equations, items in self._groups():
            if equations:
                rows = [e for e in items if isinstance(e, Equation)]
                parts.append(rf"\[ {rows[0].row('=')} \]" if len(rows) == 1 else align([e.row() for e in rows]))
            else:
                parts.append("\n\n".join(latex_text(str(item)) for item in items))
        return "\n".join(parts)

    def html(self, number: int) -> str:
        """Return the step as HTML whose formulas MathJax sets."""
        parts = [f"<p><b>{number}. {html_text(self.title)}.</b></p>"]
        for equations, items in self._groups():
            if equations:
                rows = "\\\\ ".join(e.row() for e in items if isinstance(e, Equation))
                parts.append(f"<div>$$\\begin{{aligned}} {html.escape(rows)} \\end{{aligned}}$$</div>")
            else:
                parts.append(f"<p>{'<br>'.join(html_text(str(item)) for item in items)}</p>")
        return "".join(parts)

    def text(self, number: int) -> str:
        """Return the step as plain text."""
        lines = [f"{number}. {self.title}"]
        lines += [
            f"   {plain_text(e.left)} = {plain_text(str(e.plain or e.right))}"
            if isinstance(e, Equation)
            else f"   {plain_text(e)}"
            for e in self.body
        ]
        return "\n".join(lines)


@dataclass(frozen=True)
class Symbols:
    """A table of symbols: (symbol, unit, meaning) in each row."""

    rows: Sequence[tuple[sp.Symbol, str, str]]

    def latex(self) -> str:
        """Return the table as LaTeX."""
        rows = " \\\\\n".join(
            f"${latex(symbol)}$ & {latex_text(unit)} & {latex_text(meaning)}" for symbol, unit, meaning in self.rows
        )
        head = "symbol & unit & meaning \\\\ \\hline\\rule{0pt}{2.4ex}%"
        return f"\\begin{{tabular}}{{@{{}}llp{{11cm}}@{{}}}}\n{head}\n{rows} \\\\\n\\end{{tabular}}"

    def html(self) -> str:
        """Return the table as HTML."""
        left = "style='text-align:left'"
        rows = "".join(
            f"<tr><td {left}>${html.escape(latex(symbol))}$</td><td {left}>{html.escape(unit)}</td>"
            f"<td {left}>{html_text(meaning)}</td></tr>"
            for symbol, unit, meaning in self.rows
        )
        heads = "".join(f"<th {left}>{name}</th>" for name in ("symbol", "unit", "meaning"))
        return f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"

    def text(self) -> str:
        """Return the table as plain text."""
        return "\n".join(
            f"{plain_text(str(symbol)):>12}  {unit:<4} {plain_text(meaning)}" for symbol, unit, meaning in self.rows
        )
