"""Names of symbols as LaTeX: what a name says, not what SymPy guesses from it (nccheck is no nc with a check on it)."""

from __future__ import annotations

import re
from typing import Any

import sympy as sp
from sympy.printing.latex import LatexPrinter, greek_letters_set

__all__ = ["Printer", "latex"]

_NAME = re.compile(r"([A-Za-z]+?)([0-9]*)((?:_[A-Za-z0-9]+)*)")


def _upright(word: str) -> str:
    """Return a word of several letters upright: in italics it would be a product."""
    return word if len(word) == 1 or word.isdecimal() else rf"\mathrm{{{word}}}"


class Printer(LatexPrinter):
    r"""SymPy's LaTeX with names taken at their word: alpha_pinned_d2h is \alpha_{\mathrm{pinned,d2h}}, n_s is n_{s}."""

    def _print_Symbol(self, expr: sp.Symbol, style: str = "plain") -> str:
        named = _NAME.fullmatch(expr.name)
        if named is None or (named[1].lower() in greek_letters_set and not named[2] + named[3]):
            return str(super()._print_Symbol(expr, style=style))
        head, number, rest = named.groups()
        # An operator's name keeps its distance from what it multiplies.
        word = head if len(head) == 1 else rf"\operatorname{{{head}}}"
        letter = self._print_Symbol(sp.Symbol(head)) if head.lower() in greek_letters_set else word
        below = [part for part in (number, *rest.split("_")) if part]
        return f"{letter}_{{{_upright(','.join(below))}}}" if below else letter


def latex(expression: Any) -> str:
    """Return a SymPy expression as LaTeX; subscripts of several letters are upright.

    Parameters
    ----------
    expression : SymPy expression, relation or condition
    """
    return str(Printer().doprint(expression))
