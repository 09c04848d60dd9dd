"""Functions of one quantity x that are straight lines over pieces, in fractions: sums, maxima, and where they change.

A cost at one P is such a function of n, and of each parameter of a machine. Nothing here is rounded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import ceil, floor
from typing import Any

from orrery_analytic.errors import QuantityError

__all__ = ["Knot", "Lines", "indicator", "latest", "select", "signs"]

Knot = tuple[Fraction, int]
"""Where a piece begins: at x itself (0), or just behind it (1)."""

_Part = tuple[Fraction, Fraction]
_MOST_PIECES = 200_000


def _sign(x: Fraction) -> int:
    return (x > 0) - (x < 0)


@dataclass(frozen=True)
class Lines:
    """A function of x >= the first knot: ``part[0] + part[1] x`` from each knot on.

    Parameters
    ----------
    knots : tuple of (Fraction, int), ascending
    parts : tuple of (Fraction, Fraction), one a knot
    last : Fraction or None
        The largest x, which belongs to the domain; None where there is none.
    """

    knots: tuple[Knot, ...]
    parts: tuple[_Part, ...]
    last: Fraction | None = None

    @staticmethod
    def identity(first: Fraction, last: Fraction | None = None) -> Lines:
        """Return the function x on a domain."""
        return Lines(((first, 0),), ((Fraction(0), Fraction(1)),), last)

    def constant(self, value: Any) -> Lines:
        """Return a constant function on the same domain."""
        return Lines(self.knots[:1], ((Fraction(value), Fraction(0)),), self.last)

    def pieces(self) -> Iterator[tuple[Knot, Knot | None, _Part]]:
        """Return (knot, next knot, part) of each piece; the last one ends at None, or just behind `last`."""
        end = None if self.last is None else (self.last, 1)
        return zip(self.knots, (*self.knots[1:], end), self.parts, strict=True)

    def at(self, x: Fraction) -> Fraction:
        """Return the value at x."""
        a, b = next(
            part for knot, part in zip(reversed(self.knots), reversed(self.parts), strict=True) if knot <= (x, 0)
        )
        return a + b * x

    def __add__(self, other: Any) -> Lines:
        if not isinstance(other, Lines):
            return Lines(self.knots, tuple((a + other, b) for a, b in self.parts), self.last)
        pieces = [(knot, (a + c, b + d)) for knot, _, (a, b), (c, d) in _merged(self, other)]
        return _simplified(pieces, self.last)

    __radd__ = __add__

    def __neg__(self) -> Lines:
        return self * -1

    def __sub__(self, other: Any) -> Lines:
        return self.__add__(-1 * other)

    def __rsub__(self, other: Any) -> Lines:
        return (-self).__add__(other)

    def __mul__(self, other: Any) -> Lines:
        if not isinstance(other, Lines):
            if other == 0:
                return self.constant(0)
            return Lines(self.knots, tuple((a * other, b * other) for a, b in self.parts), self.last)
        pieces: list[tuple[Knot, _Part]] = []
        for knot, _, (a, b), (c, d) in _merged(self, other):
            if b and d:
                raise QuantityError("a product of two lines is no line: this cost is not affine, piece by piece.")
            pieces.append((knot, (a * c, a * d + b * c)))
        return _simplified(pieces, self.last)

    __rmul__ = __mul__

    def __floor__(self) -> Lines:
        pieces: list[tuple[Knot, _Part]] = []
        for knot, end, (a, b) in self.pieces():
            if not b:
                pieces.append((knot, (Fraction(floor(a)), Fraction(0))))
                continue
            if end is None:
                raise QuantityError("there are endlessly many steps without a last x: give one, such as last=2**30.")
            levels = sorted((a + b * knot[0], a + b * end[0]))
            if levels[1] - levels[0] + len(pieces) > _MOST_PIECES:
                raise QuantityError(f"there are more than {_MOST_PIECES} steps up to this last x: give a smaller one.")
            # A falling line leaves a whole number just behind it, a rising one reaches it there.
            steps = ((((k - a) / b, int(b < 0)), k) for k in range(ceil(levels[0]), floor(levels[1]) + 1))
            start = floor(a + b * knot[0])
            if b < 0 and knot[1] and start == a + b * knot[0]:
                start -= 1
            inner = sorted((at, Fraction(k - (b < 0))) for at, k in steps if knot < at < end)
            pieces += [(at, (k, Fraction(0))) for at, k in [(knot, Fraction(start)), *inner]]
        return _simplified(pieces, self.last)


def _merged(f: Lines, g: Lines) -> Iterator[tuple[Knot, Knot | None, _Part, _Part]]:
    """Return (knot, next knot, part of f, part of g) of the pieces on which both are lines."""
    if f.knots == g.knots:
        for (knot, end, part), other in zip(f.pieces(), g.parts, strict=True):
            yield knot, end, part, other
        return
    knots = sorted({*f.knots, *g.knots})
    ends = (*knots[1:], None if f.last is None else (f.last, 1))
    i = j = 0
    for knot, end in zip(knots, ends, strict=True):
        i += i + 1 < len(f.knots) and f.knots[i + 1] <= knot
        j += j + 1 < len(g.knots) and g.knots[j + 1] <= knot
        yield knot, end, f.parts[i], g.parts[j]


def _simplified(pieces: list[tuple[Knot, _Part]], last: Fraction | None) -> Lines:
    """Return the function without knots at which nothing changes."""
    if len(pieces) > _MOST_PIECES:
        raise QuantityError(f"this cost has more than {_MOST_PIECES} pieces: give a smaller last x.")
    kept = [piece for i, piece in enumerate(pieces) if i == 0 or piece[1] != pieces[i - 1][1]]
    return Lines(tuple(knot for knot, _ in kept), tuple(part for _, part in kept), last)


def _root(knot: Knot, end: Knot | None, part: _Part) -> Fraction | None:
    """Return where the line is 0 between two knots, ends left out; or None."""
    if not part[1]:
        return None
    root = -part[0] / part[1]
    return root if root > knot[0] and (end is None or root < end[0]) else None


def _sign_between(knot: Knot, end: Knot | None, part: _Part) -> int:
    """Return the sign of a line without a root inside, at an inner point of its piece."""
    a, b = part
    if end is None:
        return _sign(b) or _sign(a)
    return _sign(a + b * (knot[0] + end[0]) / 2)


def _upper(f: Lines, g: Lines) -> Lines:
    pieces: list[tuple[Knot, _Part]] = []
    for knot, end, p, q in _merged(f, g):
        difference = (p[0] - q[0], p[1] - q[1])
        root = _root(knot, end, difference)
        if root is None:
            pieces.append((knot, p if _sign_between(knot, end, difference) > 0 else q))
        else:
            first, then = (p, q) if difference[1] < 0 else (q, p)
            pieces += [(knot, first), ((root, 0), then)]
    return _simplified(pieces, f.last)


def latest(*values: Any) -> Any:
    """Return the maximum of numbers and functions; where `_walk` asks for one."""
    numbers = [v for v in values if not isinstance(v, Lines)]
    functions = [v for v in values if isinstance(v, Lines)]
    if not functions:
        return max(numbers)
    if numbers:
        functions.append(functions[0].constant(max(numbers)))
    return reduce(_upper, functions)


def signs(f: Lines) -> list[tuple[Knot, int]]:
    """Return the sign of a function, -1, 0 or 1, from each knot on; neighbours differ."""
    found: list[tuple[Knot, int]] = []
    for knot, end, part in f.pieces():
        slope, root = _sign(part[1]), _root(knot, end, part)
        if root is not None:
            found += [(knot, -slope), ((root, 0), 0), ((root, 1), slope)]
            continue
        inside = _sign_between(knot, end, part)
        # A root may lie on an end that belongs to the piece.
        if slope and knot[1] == 0 and part[0] + part[1] * knot[0] == 0:
            found.append((knot, 0))
            if end is None or end > (knot[0], 1):
                found.append(((knot[0], 1), inside))
        else:
            found.append((knot, inside))
            if slope and end is not None and end[1] == 1 and part[0] + part[1] * end[0] == 0 and end[0] > knot[0]:
                found.append(((end[0], 0), 0))
    return [item for i, item in enumerate(found) if i == 0 or item[1] != found[i - 1][1]]


def indicator(f: Any, allowed: tuple[int, ...]) -> Any:
    """Return whether the sign of a number is among those allowed; of a function, 1 where it is, else 0."""
    if not isinstance(f, Lines):
        return _sign(f) in allowed
    pieces = [(knot, (Fraction(int(sign in allowed)), Fraction(0))) for knot, sign in signs(f)]
    return _simplified(pieces, f.last)


def select(where: Any, value: Any, other: Any) -> Any:
    """Return `value` where the indicator is 1, and `other` where it is 0."""
    if not isinstance(where, Lines):
        return value if where else other
    value, other = (v if isinstance(v, Lines) else where.constant(v) for v in (value, other))
    both = [(knot, (p, q)) for knot, _, p, q in _merged(value, other)]
    knots = sorted({*where.knots, *(knot for knot, _ in both)})
    pieces: list[tuple[Knot, _Part]] = []
    for knot in knots:
        p, q = next(parts for at, parts in reversed(both) if at <= knot)
        chosen = next(part for at, part in zip(reversed(where.knots), reversed(where.parts), strict=True) if at <= knot)
        pieces.append((knot, p if chosen[0] else q))
    return _simplified(pieces, where.last)
