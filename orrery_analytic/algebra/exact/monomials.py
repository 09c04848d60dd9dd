"""Sums of products: what of an expression depends on P alone, its sign over P, and how a reader would write it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import groupby

import numpy as np
import sympy as sp
from sympy.logic.boolalg import Boolean

from orrery_analytic.algebra.exact.values import SIGNS
from orrery_analytic.collectives.rounds import tidy
from orrery_analytic.cost import evaluate
from orrery_analytic.symbols import P

__all__ = [
    "RANKS",
    "by_monomial",
    "holds_over_ranks",
    "quotient_of",
    "sides",
    "sign_over_ranks",
    "tidied",
    "told_over_ranks",
    "unguarded",
]

RANKS = range(2, 1025)
"""The P over which signs are decided."""


def by_monomial(e: sp.Expr) -> dict[sp.Expr, sp.Expr]:
    """Return an expression as {product of symbols other than P: coefficient in P alone}, multiplied out."""
    sums: dict[sp.Expr, list[sp.Expr]] = {}
    for term in sp.Add.make_args(sp.expand(e)):
        of_ranks, rest = term.as_independent(*(term.free_symbols - {P}), as_Add=False)
        sums.setdefault(rest, []).append(of_ranks)
    return {m: sp.Add(*parts) for m, parts in sums.items()}


@lru_cache(maxsize=4096)
def _over_ranks(coefficient: sp.Expr) -> tuple[int, ...]:
    """Return the sign of a function of P at each of `RANKS`; rounding is not taken for a sign."""
    if not coefficient.free_symbols:
        return (int(sp.sign(coefficient)),) * len(RANKS)
    parts = sp.Add.make_args(coefficient)
    values = np.stack(np.broadcast_arrays(*evaluate(parts, {"P": np.array(RANKS)})))
    total, scale = values.sum(axis=0), np.abs(values).sum(axis=0)
    return tuple(np.where(np.abs(total) > 1e-9 * scale, np.sign(total), 0).astype(int).tolist())


@lru_cache(maxsize=4096)
def sign_over_ranks(e: sp.Expr) -> tuple[int | None, ...]:
    """Return the sign of an expression at each P of `RANKS`, whatever its other, positive symbols are.

    None where it depends on them. It is decided where the coefficients of all products have one sign.
    """
    up = down = strict = np.zeros(len(RANKS), dtype=bool)
    for monomial, coefficient in by_monomial(e).items():
        signs = np.array(_over_ranks(coefficient))
        known = monomial.is_nonnegative is True
        up, down = up | (signs > 0 if known else signs != 0), down | (signs < 0 if known else signs != 0)
        strict = strict | ((signs != 0) & (monomial.is_positive is True))
    rows = zip(up.tolist(), down.tolist(), strict.tolist(), strict=True)
    return tuple(None if (u and d) or ((u or d) and not s) else u - d for u, d, s in rows)


def holds_over_ranks(condition: Boolean) -> np.ndarray:
    """Return at which P of `RANKS` a condition holds; those in which other symbols occur are taken to."""
    if isinstance(condition, sp.And | sp.Or | sp.Not):
        parts = [holds_over_ranks(c) for c in condition.args]
        if isinstance(condition, sp.Not):
            return ~parts[0] if not condition.free_symbols - {P} else np.ones(len(RANKS), dtype=bool)
        return np.asarray((np.all if isinstance(condition, sp.And) else np.any)(parts, axis=0))
    if condition.free_symbols - {P}:
        return np.ones(len(RANKS), dtype=bool)
    if not condition.free_symbols:
        return np.full(len(RANKS), bool(condition))
    signs = np.array(_over_ranks(condition.lhs - condition.rhs))
    return np.isin(signs, SIGNS[type(condition)])


def told_over_ranks(texts: Mapping[int, str]) -> str:
    """Return texts by P as one: "equal (P = 2); a below, b above (P = 3 to 1024)"; without P where it is one text.

    Powers of two are told apart from the others where that is shorter.
    """
    if len(set(texts.values())) == 1:
        return next(iter(texts.values()))
    parts = [
        ("", list(texts)),
        ("powers of two from ", [p for p in texts if p & (p - 1) == 0]),
        ("others from ", [p for p in texts if p & (p - 1)]),
    ]
    together, powers, others = (_runs(label, numbers, texts) for label, numbers in parts)
    rows = together if len(together) <= len(powers) + len(others) else powers + others
    merged: dict[str, list[str]] = {}
    for text, ranks in rows:
        merged.setdefault(text, []).append(ranks)
    return "; ".join(f"{text} (P = {', '.join(_few(ranks))})" for text, ranks in merged.items())


def _few(ranks: list[str]) -> list[str]:
    """Return some numbers of ranks as text, the middle left away where there are many."""
    return ranks if len(ranks) <= 8 else [*ranks[:4], "...", ranks[-1]]


def _runs(label: str, numbers: list[int], texts: Mapping[int, str]) -> list[tuple[str, str]]:
    """Return (text, P as text) of each run of numbers with one text."""
    found = []
    for text, group in groupby(numbers, key=texts.__getitem__):
        ranks = list(group)
        found.append((text, f"{label}{ranks[0]} to {ranks[-1]}" if len(ranks) > 1 else str(ranks[0])))
    return found


def sides(e: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Return (more, less) with e > 0 where more > less: sums, as far as signs are known of positive terms."""
    terms = by_monomial(_primitive(e))
    less = [m for m, c in terms.items() if max(_over_ranks(c)) <= 0]
    more = [m for m in terms if m not in less]
    left, right = (sp.Add(*(tidy(s * terms[m]) * m for m in side)) for s, side in ((1, more), (-1, less)))
    return sp.factor_terms(left), sp.factor_terms(right)


def _primitive(e: sp.Expr) -> sp.Expr:
    """Return an expression without positive numbers and symbols that are a factor of all of it."""
    factors = sp.Mul.make_args(sp.factor_terms(sp.expand(e).as_content_primitive()[1]))
    kept = [f for f in factors if not (f.is_number or f.is_Symbol or (f.is_Pow and f.base.is_Symbol))]
    sign = -1 if any(f.is_number and f.is_negative for f in factors) else 1
    return sp.expand(sign * sp.Mul(*kept))


def tidied(e: sp.Expr) -> sp.Expr:
    """Return a sum with one tidy coefficient in P before each product of the other symbols."""
    return sp.Add(*(tidy(c) * m for m, c in by_monomial(e).items()))


def quotient_of(numerator: sp.Expr, denominator: sp.Expr) -> sp.Expr:
    """Return a quotient of two sums as one fraction, as a reader would write it."""
    top, bottom = tidied(numerator), tidied(denominator)
    whole = sp.together(top / bottom)
    plain = sp.factor_terms(top) / sp.factor_terms(bottom)
    cancelled = sp.cancel(whole) if not whole.has(sp.Max, sp.Min, sp.Piecewise, sp.Function) else whole
    return min((plain, whole, sp.factor_terms(cancelled)), key=lambda e: (sp.count_ops(e), sp.default_sort_key(e)))


def unguarded(e: sp.Expr) -> sp.Expr:
    """Return the formula of an algorithm that is stated for some P only, as it is at these."""
    return e.replace(lambda f: isinstance(f, sp.Piecewise) and len(f.args) == 1, lambda f: f.args[0].expr)
