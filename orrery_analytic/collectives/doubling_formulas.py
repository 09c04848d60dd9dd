"""The longest path of recursive doubling on any number of ranks: a walk along the binary digits of P.

P = 2**i + h: a full group of 2**i ranks and the last h ones, which in turn are a full group and the last ones of it.
Where they join, at each set bit i of P but the lowest, the full group passes on what it gets from the last ones: that
takes i - j more messages, one after another, where j is the next lower set bit. Either may be the later one.

Source: derived, and held against the schedules.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import Any

import sympy as sp

from orrery_analytic.collectives.doubling import passing_rounds
from orrery_analytic.collectives.functions_of_p import OfP, set_bits

__all__ = ["bcast_path", "bcast_path_loggp", "block_path", "block_path_loggp", "doubling_blocks", "doubling_rounds"]


@lru_cache(maxsize=8192)
def _rounds(P: int) -> tuple[tuple[int, int], ...]:
    """Return for each round the blocks that a rank holds, and those of its partner: of the last ranks, if cut off."""
    found = []
    for i in range((P - 1).bit_length()):
        passing = passing_rounds(P, i)
        last = P % (1 << i) if passing else 1 << i
        found += [(1 << i, last)] + [(last, last)] * passing
    return tuple(found)


class doubling_rounds(OfP):
    """Return the number of rounds of recursive doubling on P ranks, those included in which parts are passed on."""

    is_integer = True
    _name = r"\operatorname{rounds}"

    @staticmethod
    def _walk(P: int, latest: Callable[..., Any], *rest: Any) -> Any:
        return len(_rounds(P))


class doubling_blocks(sp.Function):
    """Return the blocks in round k of recursive doubling: those held by a rank (0), or those of its partner (1)."""

    is_integer = True
    is_nonnegative = True

    @classmethod
    def eval(cls, P: sp.Expr, k: sp.Expr, partner: sp.Expr) -> sp.Expr | None:
        """Return the number where P and k are numbers."""
        if not (isinstance(P, sp.Integer) and isinstance(k, sp.Integer)):
            return None
        return sp.Integer(_rounds(int(P))[int(k)][int(partner)])

    def _latex(self, printer: Any) -> str:
        P, k, _ = (printer._print(a) for a in self.args)
        return rf"b_{{\text{{{'partner' if self.args[2] else 'held'}}}}}\left({P}, {k}\right)"


class bcast_path(OfP):
    r"""Return the longest path of scatter and recursive doubling under Hockney: x a message and y a block, in seconds.

    A full group of 2**i ranks takes :math:`E_i = 2 i x + 2 (2^i - 1) y`. The last ranks, from the lowest set bit b
    on, take :math:`F_b = E_b` and :math:`F_i = \max(E_i, F_j) + 2 x + (2^i + h) y + (i - j) (x + h y)`, for the message
    that the root sends them first, the exchange, and what is passed on. The last F is the path.
    """

    _name = r"T_{\text{doubling}}"

    @staticmethod
    def _walk(P: int, latest: Callable[..., Any], *rest: Any) -> Any:
        x, y = rest
        bits = set_bits(P)

        def group(i: int) -> Any:
            return 2 * i * x + 2 * (2**i - 1) * y

        through = group(bits[0])
        for j, i in pairwise(bits):
            h = P % 2**i
            through = latest(group(i), through) + 2 * x + (2**i + h) * y + (i - j) * (x + h * y)
        return through


class bcast_path_loggp(OfP):
    """Return the same under LogGP, in seconds; an upper bound unless P is a power of two.

    For a message without its bytes that is waited for, x, the larger of it and its gap, wide, and one that lies there,
    there; and for a block on the wire, y. At each join the longest path comes from the full group, whose root has sent
    to the last ranks first, and passes on or sends all that it holds; or from the last ranks, alike.
    """

    _name = r"T_{\text{doubling}}"

    @staticmethod
    def _walk(P: int, latest: Callable[..., Any], *rest: Any) -> Any:
        x, wide, there, y = rest
        bits = set_bits(P)

        def group(i: int) -> Any:
            return 2 * i * wide + 2 * (2**i - 1) * y

        if len(bits) == 1:
            return group(bits[0]) - wide + x if P > 1 else 0 * x
        through = group(bits[0])
        for j, i in pairwise(bits):
            full, h, hops = 2**i, P % 2**i, i - j
            through = latest(
                group(i) + 2 * there + (hops - 1) * wide + x + (full + (1 + hops) * h) * y,
                group(i) + there + x + (full + h) * y,
                through + 3 * x + (hops - 1) * wide + (2 + hops) * h * y,
                through + x + there + (full + h) * y,
            )
        return through


def _taken(P: int, i: int) -> int:
    """Return the blocks that a rank of a full group of 2**i ranks, of P, has taken in: P - 2**k in round k < i."""
    return i * P - (1 << i) + 1


class block_path(OfP):
    r"""Return the longest path of reduce-scatter by recursive doubling under Hockney.

    For a message x, a block y and its reduction z, in seconds. A full group of 2**i ranks takes
    :math:`E_i = i x + (i P - 2^i + 1)(y + z)`, the last ranks :math:`F_b = E_b` and
    :math:`F_i = \max(E_i, F_j) + (1 + i - j) (x + (P - h) y) + (P - h) z`. The last F is the path.
    """

    _name = r"T_{\text{doubling}}"

    @staticmethod
    def _walk(P: int, latest: Callable[..., Any], *rest: Any) -> Any:
        x, y, z = rest
        bits = set_bits(P)

        def group(i: int) -> Any:
            return i * x + _taken(P, i) * (y + z)

        through = group(bits[0])
        for j, i in pairwise(bits):
            others = P - P % 2**i
            through = latest(group(i), through) + (1 + i - j) * (x + others * y) + others * z
        return through


class block_path_loggp(OfP):
    """Return the same under LogGP, in seconds; an upper bound where g > L + 2 o.

    For a message without its bytes that is waited for, x, the larger of it and its gap, wide, two messages at a join,
    two, and one that lies there, there; for a block on the wire, y, and its reduction, z; and for what the gap exceeds
    L + 2 o by, behind: a full group waits for it less the reduction of P - 2**k blocks in round k, but not in the end.
    """

    _name = r"T_{\text{doubling}}"

    @staticmethod
    def _walk(P: int, latest: Callable[..., Any], *rest: Any) -> Any:
        x, wide, two, there, y, z, behind = rest
        bits = set_bits(P)

        def group(i: int, gaps: int) -> Any:
            idle = (latest(0 * x, behind - (P - 2**k) * z) for k in range(gaps))
            return i * x + _taken(P, i) * (y + z) + sum(idle, 0 * x)

        if len(bits) == 1:
            return group(bits[0], max(0, bits[0] - 1))
        through = group(bits[0], bits[0])
        for j, i in pairwise(bits):
            others, hops = P - P % 2**i, i - j
            passed = (hops - 1) * wide + (1 + hops) * others * y + others * z
            through = latest(group(i, i) + there + x, through + two) + passed
        return through
