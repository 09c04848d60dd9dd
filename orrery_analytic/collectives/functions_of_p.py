"""SymPy functions of P that are walked through, bit by bit, where P is a number."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
import sympy as sp

__all__ = ["OfP", "popcount", "set_bits"]


def set_bits(P: int) -> list[int]:
    """Return the places of the set bits of P, lowest first."""
    return [i for i in range(P.bit_length()) if P >> i & 1]


def _largest(*values: Any) -> Any:
    return reduce(np.maximum, values)


class OfP(sp.Function):
    """A function whose first argument is a whole number P >= 1; subclasses say how it is walked through."""

    is_nonnegative = True
    _name = ""

    @staticmethod
    def _walk(P: int, latest: Callable[..., Any], *rest: Any) -> Any:
        """Return the value at P; `latest` is the maximum, of SymPy or of NumPy, whichever `rest` is of."""
        raise AssertionError  # each subclass has its own

    @classmethod
    def eval(cls, P: sp.Expr, *rest: sp.Expr) -> sp.Expr | None:
        """Return the value where P is a number."""
        return sp.sympify(cls._walk(int(P), sp.Max, *rest)) if isinstance(P, sp.Integer) and P >= 1 else None

    @classmethod
    def _imp_(cls, P: Any, *rest: Any) -> Any:
        ranks, *rest_of_point = np.broadcast_arrays(P, *rest)
        out = np.zeros(ranks.shape)
        for p in np.unique(ranks):
            here = ranks == p
            out[here] = cls._walk(int(p), _largest, *(value[here] for value in rest_of_point))
        return out

    def _eval_evalf(self, prec: int) -> sp.Expr:
        return self

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        arguments = ", ".join(printer._print(a) for a in self.args)
        text = rf"{self._name}\left({arguments}\right)"
        return text if exp is None else rf"{text}^{{{exp}}}"


class popcount(OfP):
    """Return the number of set bits of P."""

    is_integer = True
    _name = r"\operatorname{bits}"

    @staticmethod
    def _walk(P: int, latest: Callable[..., Any], *rest: Any) -> Any:
        return P.bit_count()
