"""Expressions in the package's symbols become numbers: NumPy functions, made once, run in blocks that fit the cache."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from numbers import Real
from typing import Any

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from orrery_analytic.errors import QuantityError, UnknownNameError
from orrery_analytic.symbols.names import SYMBOLS, describe
from orrery_analytic.units import holds_truth, in_si, shown

__all__ = ["as_floats", "compiled", "evaluate", "in_blocks", "is_number", "shape_of", "unit_of"]

#: Points that are computed at once: the arrays of the steps in between then stay in the cache.
_BLOCK = 2**15


@lru_cache(maxsize=4096)
def _function(expressions: tuple[sp.Expr, ...], names: tuple[str, ...]) -> Any:
    """Return one NumPy function for several expressions; made once for each set of expressions."""
    for unknown in sorted({str(f.func) for e in expressions for f in e.atoms(AppliedUndef)}):
        # lambdify would print its name as Python, and run it.
        raise QuantityError(f"an expression holds the function {shown(unknown)}, which has no value.")
    return sp.lambdify([sp.Symbol(name, **_assumptions(name)) for name in names], list(expressions), "numpy", cse=True)


def _assumptions(name: str) -> dict[str, bool]:
    return dict(describe(name).symbol.assumptions0) if name in SYMBOLS else {"positive": True}


def evaluate(expressions: Iterable[sp.Expr], values: Mapping[str, Any]) -> list[np.ndarray]:
    """Return the numbers of several expressions at once, broadcast against each other and all `values`.

    Parameters
    ----------
    expressions : iterable of SymPy expressions in the package's symbols
    values : mapping of symbol name to scalar or array
        SI units (`describe` tells them). Names that no expression holds take part in broadcasting only.

    Raises
    ------
    UnknownNameError
        If a symbol of an expression has no value; the message names its meaning and unit.
    """
    fixed = tuple(expressions)
    function, needed = compiled(fixed, values)
    arrays = {name: as_floats(name, value) for name, value in values.items()}
    own = [shape_of({s.name: arrays[s.name] for s in e.free_symbols}) for e in fixed]

    def block(part: Mapping[str, np.ndarray]) -> Sequence[Any]:
        results: Sequence[Any] = function(*(part[name] for name in needed))
        return results

    shape = shape_of(arrays)
    return [np.broadcast_to(r, shape) for r in in_blocks(block, arrays, own)]


def compiled(fixed: tuple[sp.Expr, ...], values: Mapping[str, Any]) -> tuple[Any, tuple[str, ...]]:
    """Return the function of several expressions and the names that it takes, in order; all must have a value."""
    needed = tuple(sorted({symbol.name for e in fixed for symbol in e.free_symbols}))
    missing = [name for name in needed if name not in values]
    if missing:
        told = "; ".join(f"{name} ({describe(name).told})" for name in missing)
        raise UnknownNameError(f"no value was given for {told}. Given: {', '.join(values) or 'nothing'}.")
    return _function(fixed, needed), needed


def shape_of(arrays: Mapping[str, np.ndarray]) -> tuple[int, ...]:
    """Return the shape that arrays have in common; an error names those that do not broadcast."""
    try:
        return np.broadcast_shapes(*(a.shape for a in arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {a.shape}" for name, a in arrays.items() if a.ndim)
        raise QuantityError(f"arrays of these shapes do not broadcast: {shapes}.") from None


def in_blocks(
    function: Callable[[Mapping[str, np.ndarray]], Sequence[Any]],
    arrays: Mapping[str, np.ndarray],
    shapes: Sequence[tuple[int, ...]],
) -> list[np.ndarray]:
    """Return what a function of arrays gives, block by block along the longest axis.

    Parameters
    ----------
    function : callable
        From a block of each array, by name, to a block of each result.
    arrays : mapping of name to array
        They broadcast.
    shapes : sequence of shapes, one a result
        1 where a result is the same along an axis.
    """
    whole = shape_of(arrays)
    results = [np.empty(shape) for shape in shapes]
    length = max(whole, default=1)
    axis = whole.index(length) - len(whole) if whole else -1
    step = max(1, length * _BLOCK // max(math.prod(whole), 1))

    def cut(array: np.ndarray, start: int) -> np.ndarray:
        if array.ndim < -axis or array.shape[axis] == 1:
            return array
        here: tuple[Any, ...] = (..., slice(start, start + step), *(slice(None),) * (-axis - 1))
        part: np.ndarray = array[here]
        return part

    with np.errstate(all="ignore"):  # np.select computes every branch of a Piecewise, also those that do not hold
        for start in range(0, length, step):
            for result, part in zip(results, function({k: cut(a, start) for k, a in arrays.items()}), strict=True):
                cut(result, start)[...] = part
    return results


def as_floats(name: str, value: Any) -> np.ndarray:
    """Return `value` as floats, since int64 arithmetic would overflow in silence."""
    numbers = in_si(value, unit_of(name), name)
    try:
        array = np.asarray(numbers)
        kind = array.dtype.kind
        numbers_all = kind in "iuf" or (kind == "O" and all(map(is_number, array.flat)))
        if not numbers_all or np.ma.is_masked(value) or holds_truth(numbers):
            raise TypeError
        floats = array.astype(float, copy=False)
    except (TypeError, ValueError, OverflowError):
        raise QuantityError(f"{name} must be a number or an array of numbers, but {shown(value)} was given.") from None
    least, most = (floats.min(), floats.max()) if floats.size else (1.0, 1.0)  # NaN where one of them is
    if name == "P":
        if not (least >= 1 and most < np.inf and (array.dtype.kind in "iu" or _all_whole(floats))):
            raise QuantityError(
                f"P counts ranks: whole numbers of at least 1 are allowed, but {shown(value)} was given."
            )
    elif not least >= 0:
        raise QuantityError(f"{name} must not be negative or NaN, but {shown(value)} was given.")
    return floats


@lru_cache(maxsize=1024)
def unit_of(name: str) -> str:
    """Return the unit of a symbol; "1" for those that are no symbol of the package."""
    try:
        return describe(name).unit
    except UnknownNameError:
        return "1"


def _all_whole(numbers: np.ndarray) -> bool:
    flat = numbers.reshape(-1)
    parts = (flat[start : start + _BLOCK] for start in range(0, flat.size, _BLOCK))
    return all(np.array_equal(part, np.floor(part)) for part in parts)


def is_number(item: Any) -> bool:
    """Return whether something is one real number; True and False are none."""
    return isinstance(item, Real | sp.Number) and not isinstance(item, bool)
