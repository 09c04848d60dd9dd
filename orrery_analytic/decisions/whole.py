"""Whole numbers in, 64-bit integers out, and the exact powers of two that the decisions need."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from orrery_analytic.errors import QuantityError
from orrery_analytic.symbols.evaluation import is_number
from orrery_analytic.units import holds_truth, shown

__all__ = ["LARGEST_COUNT", "LARGEST_SIZE", "Integers", "broadcast", "one", "power_of_two_below", "truth", "whole"]

Integers = NDArray[np.int64]

#: Ranks are counted by a C int.
LARGEST_SIZE = 2**31 - 1
#: Up to here a double holds every whole number, so that the products of the conditions compare exactly.
LARGEST_COUNT = 2**53 - 1


def whole(name: str, value: object, least: int = 0, largest: int = LARGEST_COUNT) -> Integers:
    """Return `value` (a number or an array of numbers) as 64-bit integers.

    Whole floats (`1e6`) are taken; anything else that is no whole number from `least` to `largest` is a
    `QuantityError` that names the first offender and, where there is one, the nearest allowed number.
    """
    try:
        array = np.asarray(value)
        if array.dtype.kind == "O" and array.size and all(map(is_number, array.flat)):
            array = array.astype(float)  # fractions, and SymPy's numbers
    except (OverflowError, RuntimeError, TypeError, ValueError):  # ragged lists; arrays that live on another device
        raise _refused(name, value, least, largest) from None
    if array.dtype.kind not in "iuf" or np.ma.is_masked(value) or holds_truth(value):
        raise _refused(name, value, least, largest)
    wrong = ~((array >= least) & (array <= largest) & (array == np.floor(array)))
    if wrong.any():
        given = array[wrong].flat[0].item()
        nearest = "" if np.isnan(given) else f" Nearest: {round(min(max(given, least), largest))}."
        raise _refused(name, given, least, largest, nearest)
    return array.astype(np.int64)


def one(name: str, value: object, least: int = 0, largest: int = LARGEST_COUNT) -> int:
    """Return `value` as `whole` does, but refuse arrays."""
    number = whole(name, value, least, largest)
    if number.ndim:
        raise QuantityError(f"{name} must be one whole number here, but {shown(value)} was given.")
    return int(number)


def truth(name: str, value: object) -> bool:
    """Return `value`, which must be True or False, or 0 or 1 for them; text ("no") would count as true."""
    if not isinstance(value, bool | int | np.bool_ | np.integer) or value not in (0, 1):
        raise QuantityError(f"{name} must be True or False, but {shown(value)} was given.")
    return bool(value)


def _refused(name: str, given: object, least: int, largest: int, nearest: str = "") -> QuantityError:
    return QuantityError(f"{name} = {shown(given)}: allowed are whole numbers from {least} to {largest}.{nearest}")


def broadcast(**arrays: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Return the arrays in their common shape, by name."""
    try:
        return dict(zip(arrays, np.broadcast_arrays(*arrays.values()), strict=True))
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise QuantityError(f"shapes that do not broadcast: {shapes}. Allowed: equal lengths, or 1.") from None


def power_of_two_below(size: Integers) -> Integers:
    """Return the largest power of two that is at most `size` (1 <= size < 2**31), by bits: no logarithm is exact."""
    bits = size.copy()
    for shift in (1, 2, 4, 8, 16):
        bits |= bits >> shift
    return (bits + 1) >> 1
