"""Formulas without Max, Min and Piecewise: one for each choice among their branches, with the conditions of it."""

from __future__ import annotations

from typing import NamedTuple

import sympy as sp
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from orrery_analytic.algebra.exact.monomials import sides, sign_over_ranks

__all__ = ["MOST_BRANCHES", "Branch", "TooManyBranchesError", "at_least", "branches", "jumps"]

MOST_BRANCHES = 8


class TooManyBranchesError(Exception):
    """More choices than anybody would read."""


class Branch(NamedTuple):
    """Expressions without a Max, Min or Piecewise that holds x, and the conditions under which they are the costs."""

    expressions: tuple[sp.Expr, ...]
    conditions: tuple[Boolean, ...]


def at_least(difference: sp.Expr) -> Boolean:
    """Return the condition ``difference >= 0``; true or false where that holds for all positive symbols and all P."""
    found = set(sign_over_ranks(difference))
    if None not in found:
        if min(s for s in found if s is not None) >= 0:
            return sp.true
        if found == {-1}:
            return sp.false
    more, less = sides(difference)
    return sp.Le(less, more, evaluate=False) if less.is_Symbol else sp.Ge(more, less, evaluate=False)


def branches(expressions: tuple[sp.Expr, ...], x: sp.Symbol) -> list[Branch]:
    """Return the choices among the branches of every Max and Min that holds x, and of every Piecewise.

    Raises
    ------
    TooManyBranchesError
        If there are more of them than anybody would read.
    """
    open_, done = [Branch(tuple(map(_without_common_factors, expressions)), ())], []
    while open_:
        branch = open_.pop(0)
        node = _next(branch.expressions, x)
        if node is None:
            done.append(branch)
        else:
            open_ += _chosen(branch, node)
        if len(open_) + len(done) > MOST_BRANCHES:
            raise TooManyBranchesError
    return [b for i, b in enumerate(done) if b not in done[:i]]


def _without_common_factors(e: sp.Expr) -> sp.Expr:
    """Return an expression with positive factors that all arguments of a Max share put before it."""

    def outside(node: sp.Max) -> sp.Expr:
        factors = [set(sp.Mul.make_args(sp.factor_terms(a))) for a in node.args]
        common = sp.Mul(*(f for f in set.intersection(*factors) if f.is_Symbol and f.is_positive))
        return node if common == 1 else common * node.func(*(a / common for a in node.args))

    return e.replace(lambda node: isinstance(node, sp.Max) and len(node.args) > 1, outside)


def _next(expressions: tuple[sp.Expr, ...], x: sp.Symbol) -> sp.Basic | None:
    """Return a node to choose a branch of, the same one whatever the order of sets.

    First each outermost Piecewise, so that nothing is asked of a case that is not chosen; then the innermost maxima.
    """
    cases = {node for e in expressions for node in e.atoms(sp.Piecewise)}
    outer = [node for node in cases if not any(node != other and other.has(node) for other in cases)]
    if outer:
        return min(outer, key=sp.default_sort_key)
    nodes = {node for e in expressions for node in e.atoms(sp.Max, sp.Min) if node.has(x)}
    inner = [node for node in nodes if not any(node != other and node.has(other) for other in nodes)]
    return min(inner, key=sp.default_sort_key, default=None)


def _chosen(branch: Branch, node: sp.Basic) -> list[Branch]:
    found = []
    for value, conditions in _options(node):
        kept = []
        for condition in (*branch.conditions, *conditions):
            put_in = condition.xreplace({node: value})
            if isinstance(put_in, sp.Ge | sp.Le) and put_in != condition:
                put_in = at_least(put_in.gts - put_in.lts)
            if put_in is not sp.true and put_in not in kept:
                kept.append(put_in)
        if sp.false not in kept and not any(_opposite(c) in kept for c in kept):
            found.append(Branch(tuple(e.xreplace({node: value}) for e in branch.expressions), tuple(kept)))
    return found


def _opposite(condition: Boolean) -> Boolean:
    """Return what holds with a condition nowhere, or where two branches meet alone."""
    if isinstance(condition, sp.Ge | sp.Le):
        return at_least(condition.lts - condition.gts)
    return sp.Not(condition)


def _options(node: sp.Basic) -> list[tuple[sp.Expr, list[Boolean]]]:
    options: list[tuple[sp.Expr, list[Boolean]]] = []
    if isinstance(node, sp.Piecewise):
        before: list[Boolean] = []
        for value, condition in node.args:
            options.append((value, [*map(sp.Not, before), condition]))
            before.append(condition)
        return options
    arguments = sorted(node.args, key=sp.default_sort_key)
    sign = 1 if isinstance(node, sp.Max) else -1
    for i, argument in enumerate(arguments):
        conditions = [at_least(sign * (argument - other)) for j, other in enumerate(arguments) if j != i]
        if sp.false not in conditions:
            options.append((argument, conditions))
    always = [option for option in options if all(c is sp.true for c in option[1])]
    return always[:1] or options


def jumps(expressions: tuple[sp.Expr, ...], x: sp.Symbol) -> list[sp.Expr]:
    """Return the x at which a Piecewise goes from one case to the next, as formulas."""
    found = set()
    for e in expressions:
        for node in e.atoms(sp.Piecewise):
            for _, condition in node.args:
                for relation in condition.atoms(Relational):
                    difference = sp.expand(relation.lhs - relation.rhs)
                    slope = difference.coeff(x, 1)
                    if slope != 0 and not slope.has(x):
                        found.add(-difference.coeff(x, 0) / slope)
    return sorted(found, key=sp.default_sort_key)
