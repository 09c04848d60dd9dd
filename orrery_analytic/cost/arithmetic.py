"""`NoNumber`: what might be taken for a number says what to calculate with instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from orrery_analytic.errors import QuantityError

__all__ = ["NoNumber"]


def _refusing(sign: str) -> Callable[..., Any]:
    def refused(self: NoNumber, *other: Any) -> Any:
        beside = f" with {type(other[0]).__name__}" if other else ""
        raise QuantityError(f"{type(self).__name__} is no number: {sign}{beside} is not for it. {self._instead}")

    return refused


class NoNumber:
    """A result that holds numbers, and is none: arithmetic and order are errors that name what is meant.

    A subclass says so in `_instead`, and defines what it does know how to do.
    """

    _instead: ClassVar[str] = ""

    __add__ = __radd__ = _refusing("+")
    __sub__ = __rsub__ = _refusing("-")
    __mul__ = __rmul__ = _refusing("*")
    __truediv__ = __rtruediv__ = _refusing("/")
    __pow__ = __rpow__ = _refusing("**")
    __floordiv__ = __rfloordiv__ = _refusing("//")
    __mod__ = __rmod__ = _refusing("%")
    __neg__ = _refusing("-")
    __abs__ = _refusing("abs()")
    __lt__, __le__, __gt__, __ge__ = map(_refusing, ("<", "<=", ">", ">="))
    __float__ = _refusing("float()")
