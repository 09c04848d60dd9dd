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

from orrery_analytic.collectives.functions_of_p import OfP
from orrery_analytic.collectives.longest_path import knomial_path
from orrery_analytic.symbols import P, log2_ceil, log2_floor
from orrery_analytic.symbols.printing import Printer
from orrery_analytic.symbols.printing import latex as one_line

__all__ = ["Written", "align", "equations", "latex", "width", "write"]

_LINE = 70
"""What fits on a line, in letters: 16 cm of 10 point type."""
_ROOMS = (1, 0.86, 0.71, 0.57, 0.43, 0.31)
"""Where the parts of a formula are broken, as shares of a line, until the whole fits."""
_WORTH = 4
"""Parts of fewer operations get no name, on lines of that length; on short lines one less is enough."""
_NEXT = r" \\ "

_LOGARITHMS = {
    log2_floor(P): sp.Symbol(r"\underline{\ell}", integer=True, nonnegative=True),
    log2_ceil(P): sp.Symbol(r"\overline{\ell}", integer=True, nonnegative=True),
}
_INNERMOST = re.compile(r"\\begin\{(\w+)\}(?:\[t\])?((?:(?!\\begin).)*?)\\end\{\1\}", re.DOTALL)
_FRACTION = re.compile(r"\\frac\{([^{}]*)\}\{([^{}]*)\}")


def _letters(text: str) -> int:
    """Return about how wide one line is, in letters: signs have space around them."""
    text = re.sub(r"\\(?:left|right|displaystyle|quad|text|mathrm|operatorname|[,;!:])(?![a-zA-Z])", "", text)
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
    broken = _NEXT.join(f"& {line}" for line in lines)
    return rf"\begin{{aligned}}[t] {broken} \end{{aligned}}"


class _Printer(Printer):
    """SymPy's LaTeX, with sums, maxima and minima on several lines where they are wider than `room`."""

    def __init__(self, room: int) -> None:
        super().__init__()
        self.room = room

    def _print(self, expr: Any, **options: Any) -> str:
        text: str = super()._print(expr, **options)
        if isinstance(expr, OfP) and width(text) > self.room:
            name, _, inside = text.partition(r"\left(")
            return rf"{name}\left({self._listed(expr.args)}{inside[inside.rindex(chr(92) + 'right)') :]}"
        if isinstance(expr, knomial_path) and width(text) > self.room:
            ranks, _, message, distance = (self._print(a) for a in expr.args)
            path = _block([rf"a_v \left({message}\right)", f"{{}} + b_v {distance}"])
            return rf"\max_{{1 \le v < {ranks}}} \left({path}\right)"
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

    def _print_Piecewise(self, expr: sp.Piecewise) -> str:
        text: str = super()._print_Piecewise(expr)
        if width(text) <= self.room:
            return text
        rows = []
        for e, holds in expr.args:
            when = r"\text{otherwise}" if holds == sp.true else rf"\text{{for}}\: {self._print(holds)}"
            rows.append(rf"{self._print(e)} \\ \quad {when}")
        return rf"\begin{{cases}} {_NEXT.join(rows)} \end{{cases}}"

    def _print_Max(self, expr: sp.Expr, exp: str | None = None) -> str:
        return self._variadic(expr, "max", exp)

    def _print_Min(self, expr: sp.Expr, exp: str | None = None) -> str:
        return self._variadic(expr, "min", exp)

    def _variadic(self, expr: sp.Expr, name: str, exp: str | None) -> str:
        inside = self._listed(sorted(expr.args, key=sp.default_sort_key))
        text = rf"\{name}\left({inside}\right)"
        return text if exp is None else f"{text}^{{{exp}}}"


def latex(expression: sp.Expr, line: int = _LINE) -> str:
    """Return a formula as LaTeX, on several lines where it is wider than `line` letters; needs amsmath."""
    for share in _ROOMS:
        text = str(_Printer(round(share * line)).doprint(expression))
        if width(text) <= line:
            break
    return text


def equations(pairs: Sequence[tuple[str, sp.Expr]], line: int = _LINE) -> str:
    """Return left = right as one align* environment on lines of so many letters.

    Where right sides have no room beside the left ones, or take more lines there, they stand below their own.
    """
    room = line - 2 - max(width(left) for left, _ in pairs)
    beside = [latex(e, max(room, 1)) for _, e in pairs]
    together = align([f"{left} &= {text}" for (left, _), text in zip(pairs, beside, strict=True)])
    rows: list[str] = []
    for left, e in pairs:
        text = latex(e, line - 2)
        fits = width(left) + 2 + width(text) <= line
        rows += [f"& {left} = {text}"] if fits else [f"& {left} = {{}}", rf"& \quad {text}"]
    apart = align(rows)
    if all(width(text) <= room for text in beside) and together.count(_NEXT.strip()) <= apart.count(_NEXT.strip()):
        return together
    return apart


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


def _repeated(pool: Sequence[sp.Expr], kept: sp.Expr, line: int) -> sp.Expr | None:
    """Return the largest maximum, minimum or function that occurs more than once, but for the one that is `kept`."""
    kinds = (sp.Max, sp.Min, sp.Function)
    found = Counter(e for whole in pool for e in sp.preorder_traversal(whole) if isinstance(e, kinds))
    worth = _WORTH - (line < _LINE // 2)
    again = [e for e, times in found.items() if times > 1 and e != kept and sp.count_ops(e) >= worth]
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


def _wide(expressions: Sequence[sp.Expr], line: int) -> bool:
    return any(width(one_line(e)) > 2 * line for e in expressions)


def write(terms: Mapping[str, sp.Expr], total: sp.Expr, along: Sequence[sp.Expr] = (), line: int = _LINE) -> Written:
    """Return terms and total with names for what makes them long; as they are where all fits on two lines.

    Parameters
    ----------
    terms : mapping of term name to expression
    total : expression
    along : sequence of expressions
        Others that are printed beside them: where one is wide, logarithms get names as well.
    line : int
        Letters of a line.
    """
    if not _wide([*(wholes := [*terms.values(), total]), *along], line):
        return Written((), dict(terms), total)
    wholes[-1] = _merged(total)
    used = {e: symbol for e, symbol in _LOGARITHMS.items() if any(whole.has(e) for whole in [*wholes, *along])}
    pool = [e.xreplace(used) for e in wholes]
    found: list[tuple[sp.Symbol, sp.Expr]] = []
    long = _wide(pool, line)
    while long and (part := _repeated(pool, pool[len(terms)], line)) is not None:
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
