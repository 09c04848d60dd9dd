"""Long formulas on several lines: what occurs more than once gets a name, wide sums and maxima are broken.

Nothing is rounded, dropped or simplified: names put back give the formula that came in.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp
from sympy.printing.latex import LatexPrinter

from orrery_analytic.collectives.functions_of_p import OfP
from orrery_analytic.symbols import P, log2_ceil, log2_floor

__all__ = ["Written", "align", "latex", "width", "write"]

_LINE = 70
"""What fits on a line, in letters: 16 cm of 10 point type."""
_ROOMS = (_LINE, 60, 50, 40, 30, 22)
"""Where the parts of a formula are broken, until the whole fits."""
_WORTH = 4
"""Parts of fewer operations get no name."""

_LOGARITHMS = {
    log2_floor(P): sp.Symbol(r"\underline{\ell}", integer=True, nonnegative=True),
    log2_ceil(P): sp.Symbol(r"\overline{\ell}", integer=True, nonnegative=True),
}
_INNERMOST = re.compile(r"\\begin\{(\w+)\}(?:\[t\])?((?:(?!\\begin).)*?)\\end\{\1\}", re.DOTALL)
_FRACTION = re.compile(r"\\frac\{([^{}]*)\}\{([^{}]*)\}")


def _letters(text: str) -> int:
    """Return about how wide one line is, in letters: signs have space around them."""
    text = re.sub(r"\\(?:left|right|displaystyle|quad|text|operatorname|[,;!:])(?![a-zA-Z])", "", text)
    text = re.sub(r"\\(?:max|min|log|bmod)(?![a-zA-Z])", "xxx", text)
    text = re.sub(r"\\(?:underline|overline|[a-zA-Z]+)", "x", text)
    return len(re.sub(r"[{}^_&\s]", "", re.sub(r"[-+=<>]", "xx", text)))


def width(text: str) -> int:
    """Return about how many letters a formula is wide; a block of several lines is as wide as the widest."""
    text = re.sub(r"\\(?:underline|overline)\{\\ell\}", "x", text)
    while (match := _INNERMOST.search(text)) is not None:
        widest = max(map(_letters, match[2].split(r"\\")))
        text = f"{text[: match.start()]}{'x' * (widest + (match[1] == 'cases') * 4)}{text[match.end() :]}"
    while (match := _FRACTION.search(text)) is not None:
        text = text[: match.start()] + max(match[1], match[2], key=_letters) + text[match.end() :]
    return _letters(text)


def _block(lines: Sequence[str]) -> str:
    broken = r" \\ ".join(f"& {line}" for line in lines)
    return rf"\begin{{aligned}}[t] {broken} \end{{aligned}}"


class _Printer(LatexPrinter):
    """SymPy's LaTeX, with sums, maxima and minima on several lines where they are wider than `room`."""

    def __init__(self, room: int) -> None:
        super().__init__()
        self.room = room

    def _print(self, expr: Any, **options: Any) -> str:
        text: str = super()._print(expr, **options)
        if isinstance(expr, OfP) and width(text) > self.room:
            name, _, inside = text.partition(r"\left(")
            return rf"{name}\left({self._listed(expr.args)}{inside[inside.rindex(chr(92) + 'right)') :]}"
        return text

    def _listed(self, arguments: Sequence[sp.Expr]) -> str:
        printed = [self._print(a) for a in arguments]
        inside = ", ".join(printed)
        if width(inside) <= self.room:
            return inside
        return _block([f"{a}," for a in printed[:-1]] + printed[-1:]).replace("[t]", "", 1)

    def _print_Add(self, expr: sp.Add, order: Any = None) -> str:
        text: str = super()._print_Add(expr, order=order)
        if width(text) <= self.room:
            return text
        lines: list[str] = []
        for term in self._as_ordered_terms(expr, order=order):
            negative = bool(sp.sympify(term).could_extract_minus_sign())
            printed = self._print(-term if negative else term)
            bare = -term if negative else term
            if self._needs_add_brackets(bare) or bare.is_Add:
                printed = rf"\left({printed}\right)"
            sign = "- " if negative else "+ " if lines else ""
            if lines and width(lines[-1] + printed) < self.room - 3:
                lines[-1] += f" {sign}{printed}"
            else:
                lines.append(f"{{}} {sign}{printed}" if lines else f"{sign}{printed}")
        return _block(lines) if len(lines) > 1 else lines[0]

    def _print_Max(self, expr: sp.Expr, exp: str | None = None) -> str:
        return self._variadic(expr, "max", exp)

    def _print_Min(self, expr: sp.Expr, exp: str | None = None) -> str:
        return self._variadic(expr, "min", exp)

    def _variadic(self, expr: sp.Expr, name: str, exp: str | None) -> str:
        inside = self._listed(sorted(expr.args, key=sp.default_sort_key))
        text = rf"\{name}\left({inside}\right)"
        return text if exp is None else f"{text}^{{{exp}}}"


def latex(expression: sp.Expr) -> str:
    """Return a formula as LaTeX, on several lines where it is wide; needs amsmath."""
    for room in _ROOMS:
        text = str(_Printer(room).doprint(expression))
        if width(text) <= _LINE:
            break
    return text


@dataclass(frozen=True)
class Written:
    """A cost as it is printed.

    Parameters
    ----------
    names : tuple of (Symbol, expression)
        What the names stand for; each holds only those before it.
    terms : mapping of term name to expression
    total : expression
    """

    names: tuple[tuple[sp.Symbol, sp.Expr], ...]
    terms: Mapping[str, sp.Expr]
    total: sp.Expr

    @property
    def logarithms(self) -> dict[sp.Expr, sp.Symbol]:
        """Those names that stand for whole logarithms of P, by what they stand for."""
        return {e: symbol for symbol, e in self.names if e in _LOGARITHMS}

    @property
    def others(self) -> tuple[tuple[sp.Symbol, sp.Expr], ...]:
        """The names that stand for anything else."""
        return tuple((symbol, e) for symbol, e in self.names if e not in _LOGARITHMS)

    def spelled_out(self, expression: sp.Expr) -> sp.Expr:
        """Return an expression with what its names stand for put back."""
        for symbol, meaning in reversed(self.names):
            expression = expression.xreplace({symbol: meaning})
        return expression


def _repeated(pool: Sequence[sp.Expr], kept: sp.Expr) -> sp.Expr | None:
    """Return the largest maximum, minimum or function that occurs more than once, but for the one that is `kept`."""
    kinds = (sp.Max, sp.Min, sp.Function)
    found = Counter(e for whole in pool for e in sp.preorder_traversal(whole) if isinstance(e, kinds))
    again = [e for e, times in found.items() if times > 1 and e != kept and sp.count_ops(e) >= _WORTH]
    return max(again, key=lambda e: (sp.count_ops(e), sp.default_sort_key(e)), default=None)


def _merged(total: sp.Expr) -> sp.Expr:
    """Return a total whose cases stand in one Piecewise, so that what one term adds and another takes away cancels."""
    parts = [e for e in sp.Add.make_args(total) if isinstance(e, sp.Piecewise)]
    conditions = {tuple(condition for _, condition in part.args) for part in parts}
    if len(parts) < 2 or len(conditions) > 1:
        return total
    cases = []
    for i, condition in enumerate(next(iter(conditions))):
        case = sp.expand(sp.Add(*(part.args[i].expr for part in parts)))
        cases.append(
            (sp.collect(case, sorted(case.atoms(sp.Max), key=sp.default_sort_key), sp.factor_terms), condition)
        )
    return total - sp.Add(*parts) + sp.Piecewise(*cases)


def _wide(expressions: Sequence[sp.Expr]) -> bool:
    return any(width(sp.latex(e)) > 2 * _LINE for e in expressions)


def write(terms: Mapping[str, sp.Expr], total: sp.Expr, along: Sequence[sp.Expr] = ()) -> Written:
    """Return terms and total with names for what makes them long; as they are where all fits on two lines.

    Parameters
    ----------
    terms : mapping of term name to expression
    total : expression
    along : sequence of expressions
        Others that are printed beside them: where one is wide, logarithms get names as well.
    """
    if not _wide([*(wholes := [*terms.values(), total]), *along]):
        return Written((), dict(terms), total)
    wholes[-1] = _merged(total)
    used = {e: symbol for e, symbol in _LOGARITHMS.items() if any(whole.has(e) for whole in [*wholes, *along])}
    pool = [e.xreplace(used) for e in wholes]
    found: list[tuple[sp.Symbol, sp.Expr]] = []
    long = _wide(pool)
    while long and (part := _repeated(pool, pool[len(terms)])) is not None:
        symbol = sp.Dummy("M", real=True, nonnegative=part.is_nonnegative)
        pool = [e.xreplace({part: symbol}) for e in pool] + [part]
        found = [(s, e.xreplace({part: symbol})) for s, e in found] + [(symbol, part)]
    numbered = {s: sp.Symbol(f"M_{i}", **_known(s)) for i, (s, _) in enumerate(reversed(found), start=1)}
    names = [(symbol, e) for e, symbol in used.items()]
    names += [(numbered[s], e.xreplace(numbered)) for s, e in reversed(found)]
    short = [e.xreplace(numbered) for e in pool[: len(wholes)]]
    return Written(tuple(names), dict(zip(terms, short, strict=False)), short[len(terms)])


def _known(symbol: sp.Dummy) -> dict[str, bool]:
    return {"real": True, **({"nonnegative": True} if symbol.is_nonnegative else {})}


def align(rows: Sequence[str]) -> str:
    """Return rows "left &= right" as one align* environment."""
    lines = " \\\\\n".join(rows)
    return f"\\begin{{align*}}\n{lines}\n\\end{{align*}}"
