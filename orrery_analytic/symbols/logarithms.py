"""Exact integer logarithms as SymPy functions: they count bits, in SymPy, in NumPy and in plain Python alike.

``ceiling(log(P, 2))`` through floats is wrong at P = 2**29 and others.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
import sympy as sp

from orrery_analytic.errors import QuantityError, shown

__all__ = [
    "log2_ceil",
    "log2_floor",
    "log_floor",
    "max_popcount",
]


def _bit_length(x: Any) -> Any:
    """Return bit lengths of whole numbers >= 0, exactly, for scalars and arrays of ints or floats up to 2**62."""
    if isinstance(x, int):
        return x.bit_length()
    array = np.asarray(x)
    if array.dtype.kind in "iu":
        # frexp is exact below 2**53 only: look at the upper and the lower 31 bits apart.
        upper, lower = array >> 31, array & (2**31 - 1)
        return np.where(upper > 0, np.frexp(upper.astype(float))[1] + 31, np.frexp(lower.astype(float))[1])
    return np.frexp(array)[1]


def _whole(x: Any) -> Any:
    """Return x unchanged if it is made of whole numbers, so that counting its bits is meaningful."""
    array = np.asarray(x)
    if array.dtype.kind == "f" and not bool(np.all(np.floor(array) == array)):
        raise QuantityError(f"P counts ranks and must be a whole number, but {shown(x)} was given.")
    return x


def _floor_bits(x: Any) -> Any:
    return _bit_length(_whole(x)) - 1


def _ceil_bits(x: Any) -> Any:
    return _bit_length(_whole(x) - 1)


def _log_floor(x: Any, base: int) -> Any:
    power = base
    level: Any = np.zeros(np.shape(x), dtype=int)
    while power <= np.max(x):
        level = level + (np.asarray(x) >= power)
        power *= base
    return level


def _popcount_top(x: Any) -> Any:
    """Return the largest number of set bits among the whole numbers below x that are as long as x - 1."""
    if isinstance(x, int):
        m = x - 1
        best = m.bit_count()
        for i in range(m.bit_length() - 1):
            if m >> i & 1:  # clear bit i, set all below it
                best = max(best, (m >> (i + 1)).bit_count() + i)
        return best
    numbers = np.asarray(_whole(x)).astype(np.int64) - 1
    most = np.bitwise_count(numbers).astype(np.int64)
    for i in range(62):
        above = numbers >> (i + 1)
        candidate = np.bitwise_count(above).astype(np.int64) + i
        most = np.where((numbers >> i & 1 == 1) & (above > 0), np.maximum(most, candidate), most)
    return most


def _power_of_two(x: sp.Expr) -> sp.Expr | None:
    """Return k if x is 2**k for a whole k that may be symbolic, else None."""
    if isinstance(x, sp.Pow) and x.base == 2 and x.exp.is_integer and x.exp.is_nonnegative:
        return x.exp
    return None


def _argument(name: str, x: Any) -> Any:
    """Return a whole number or an expression; never text, which SymPy would run as code."""
    number = isinstance(x, Integral | float | np.floating | sp.Float) and not isinstance(x, bool)
    if number and x == x // 1:
        return int(x)
    if not isinstance(x, sp.Expr) or (x.is_number and not x.is_integer):
        raise QuantityError(f"{name} takes a whole number, an array of them or a SymPy expression, not {shown(x)}.")
    return x


class _BitFunction(sp.Function):
    """A whole number read off the bits of a whole number; exact for every integer, and for arrays of them."""

    is_integer = True
    is_nonnegative = True
    _left, _right = "", ""

    def __new__(cls, x: Any, **options: Any) -> Any:
        if isinstance(x, np.ndarray) and x.dtype.kind in "iuf":
            return cls._bits(x)
        return super().__new__(cls, _argument(cls.__name__, x), **options)

    @staticmethod
    def _bits(x: Any) -> Any:
        raise AssertionError  # each subclass has its own

    @classmethod
    def _imp_(cls, x: Any) -> Any:
        """What lambdify calls; floats, since NumPy refuses negative powers of integers."""
        return np.asarray(cls._bits(x), dtype=float)

    @classmethod
    def eval(cls, x: sp.Expr) -> sp.Expr | None:
        if isinstance(x, sp.Integer):
            return sp.Integer(int(cls._bits(int(x)))) if x >= 1 else sp.nan
        return _power_of_two(x)

    def _eval_evalf(self, prec: int) -> sp.Expr:
        return self

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        argument = printer._print(self.args[0])
        if not self.args[0].is_Atom:
            argument = rf"\left({argument}\right)"
        text = f"{self._left}{argument}{self._right}"
        return text if exp is None else f"{text}^{{{exp}}}"


class log2_floor(_BitFunction):
    r"""Return :math:`\lfloor \log_2 P \rfloor` exactly, for every whole P >= 1 (arrays: to 2**62)."""

    _left, _right = r"\left\lfloor \log_2 ", r" \right\rfloor"
    _bits = staticmethod(_floor_bits)


class log2_ceil(_BitFunction):
    r"""Return :math:`\lceil \log_2 P \rceil` exactly, for every whole P >= 1 (arrays: to 2**62)."""

    _left, _right = r"\left\lceil \log_2 ", r" \right\rceil"
    _bits = staticmethod(_ceil_bits)


class log_floor(sp.Function):
    r"""Return :math:`\lfloor \log_b x \rfloor` exactly, for whole x >= 1 and a whole base b >= 2."""

    is_integer = True
    is_nonnegative = True

    def __new__(cls, x: Any, base: Any, **options: Any) -> Any:
        """Refuse text, which SymPy would run as code, and other bases."""
        if not isinstance(base, Integral) or isinstance(base, bool) or base < 2:
            raise QuantityError(f"the base of log_floor is a whole number of at least 2, not {shown(base)}.")
        return super().__new__(cls, _argument("log_floor", x), base, **options)

    @classmethod
    def eval(cls, x: sp.Expr, base: sp.Expr) -> sp.Expr | None:
        """Return the number of digits less one, where x is a number."""
        if base == 2:
            return log2_floor(x)
        if isinstance(x, sp.Integer) and isinstance(base, sp.Integer):
            return sp.Integer(int(_log_floor(int(x), int(base)))) if x >= 1 else sp.nan
        return None

    @staticmethod
    def _imp_(x: Any, base: Any) -> Any:
        return np.asarray(_log_floor(x, int(base)), dtype=float)

    def _eval_evalf(self, prec: int) -> sp.Expr:
        return self

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        x, base = (printer._print(a) for a in self.args)
        argument = x if self.args[0].is_Atom else rf"\left({x}\right)"
        text = rf"\left\lfloor \log_{{{base}}} {argument} \right\rfloor"
        return text if exp is None else f"{text}^{{{exp}}}"


class max_popcount(_BitFunction):
    r"""Return the largest number of set bits among the v < P that have as many binary digits as P - 1.

    The depth, in messages, of the deepest node of a binomial tree on P ranks among those that are reached last. It
    equals :math:`\log_2 P` when P is a power of two, and 0 for P = 1.
    """

    _left, _right = r"\operatorname{pop} ", ""
    _bits = staticmethod(_popcount_top)
