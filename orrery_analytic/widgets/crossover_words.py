"""What an explorer of crossovers says: who is the cheaper one, from where to where, and the border as a formula."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import inf, isfinite

import sympy as sp

from orrery_analytic.algebra.crossings.stretches import Stretch
from orrery_analytic.plots import size_text
from orrery_analytic.symbols.printing import latex
from orrery_analytic.units import readable

__all__ = ["formulas", "words"]


def words(
    algorithms: Sequence[str],
    P: int,
    n: int,
    seconds: Sequence[float],
    over_n: Iterable[Stretch],
    over_P: Sequence[Stretch],
) -> str:
    """Return HTML: both times at the point, and who is the cheaper one over n and over P."""
    names = dict(zip("ab", map(html.escape, algorithms), strict=True))
    times = ", ".join(f"{name} {_time(t)}" for name, t in zip(names.values(), seconds, strict=True))
    known = all(isfinite(t) and t > 0 for t in seconds)
    ratio = f", {max(seconds) / min(seconds):.2f} times as long" if known and max(seconds) > min(seconds) else ""
    sizes = "; ".join(f"{_who(who, names)} {_sizes(first, last)}" for first, last, who in over_n)
    found: dict[str, list[str]] = {}
    for first, last, who in over_P:
        found.setdefault(who, []).append(f"{first}" if first == last else f"{first} to {last}")
    ranks = "; ".join(f"{_who(who, names)} at {', '.join(where)}" for who, where in found.items())
    ends = f"P = {over_P[0].first} to {over_P[-1].last}"
    return "<br>".join(
        (
            f"<b>P = {P}, n = {size_text(n)}:</b> {times}{ratio}.",
            f"<b>Cheaper over n on {P} ranks:</b> {sizes}.",
            f"<b>Cheaper over {ends} at {size_text(n)}:</b> {ranks}.",
        )
    )


def formulas(found: Iterable[tuple[float, sp.Expr | None]], P: int) -> str:
    """Return HTML with LaTeX: each border in n with its formula, for the branches of maxima that hold there."""
    rows = [
        f"<b>Equal cost on {P} ranks at {_bytes(at)}:</b>{_scrolled(_latex(e))}"
        if e is not None
        else f"<b>A cost jumps at {_bytes(at)}.</b>"
        for at, e in found
    ]
    text = "<br>".join(rows) or f"<b>On {P} ranks the two change places at no n.</b>"
    # The content of an HTMLMath widget shrinks to its text unless it asks for a width.
    return f'<div style="width: 740px; max-width: 100%">{text}</div>'


def _scrolled(latex: str) -> str:
    # Contained, or a long formula would make the text beside it as wide.
    style = "overflow: auto hidden; contain: inline-size; margin: 8px 0"
    return f'<div style="{style}">$\\displaystyle n^* = {latex}$</div>'


@lru_cache(maxsize=256)
def _latex(e: sp.Expr) -> str:
    return latex(e)


def _time(seconds: float) -> str:
    return readable(seconds, "s") if isfinite(seconds) else "not stated"


def _who(verdict: str, names: dict[str, str]) -> str:
    only = {f"only {k}": f"only {name} is stated" for k, name in names.items()}
    return f"<b>{({**names, **only}).get(verdict, verdict)}</b>"


def _bytes(n: float) -> str:
    return f"{n:,.1f}".removesuffix(".0").replace(",", " ") + " B"


def _sizes(first: float, last: float) -> str:
    low, high = _bytes(first), _bytes(last)
    if last == inf:
        return "everywhere" if first <= 1 else f"from {low} on"
    return f"to {high}" if first <= 1 else f"from {low} to {high}"
