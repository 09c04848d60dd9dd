"""The longest path of recursive doubling on any number of ranks: a walk along the binary digits of P.

P = 2**k + R: a full subtree of 2**k ranks and a cut-off one of R, which in turn is a full one and a cut-off one. Where
the two join at level k, the full one passes the other's part on in f = k - floor(log2 R) rounds. The path begins in one
of the full subtrees and goes through all joins above it, so that there are as many candidates as P has ones.

Under LogGP a full subtree meets the messages of an early cut-off one, or waits for those of a late one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp

from orrery_analytic.collectives.doubling import passing_rounds

__all__ = ["bcast_path", "bcast_path_loggp", "block_path", "block_path_loggp", "doubling_blocks", "doubling_rounds"]

Counts = tuple[int, ...]


@lru_cache(maxsize=8192)
def _rounds(P: int) -> tuple[tuple[int, int], ...]:
    """Return (blocks held, blocks of the cut-off subtree or else of a full one) for each round of recursive doubling."""
    found = []
    for i in range((P - 1).bit_length()):
        passing = passing_rounds(P, i)
        there = P % (1 << i) if passing else 1 << i
        found += [(1 << i, there)] + [(there, there)] * passing
    return tuple(found)


class doubling_rounds(sp.Function):
    """Return the number of rounds of recursive doubling on P ranks, those included in which parts are passed on."""

    is_integer = True
    is_nonnegative = True

    @classmethod
    def eval(cls, P: sp.Expr) -> sp.Expr | None:
        """Return the number where P is one."""
        return sp.Integer(len(_rounds(int(P)))) if isinstance(P, sp.Integer) else None

    def _latex(self, printer: Any) -> str:
        return rf"\operatorname{{rounds}}\left({printer._print(self.args[0])}\right)"


class doubling_blocks(sp.Function):
    """Return the blocks of the largest message in round k of recursive doubling: held, or (others) not wanted."""

    is_integer = True
    is_nonnegative = True

    @classmethod
    def eval(cls, P: sp.Expr, k: sp.Expr, others: sp.Expr) -> sp.Expr | None:
        """Return the number where P and k are numbers."""
        if not (isinstance(P, sp.Integer) and isinstance(k, sp.Integer)):
            return None
        return sp.Integer(_rounds(int(P))[int(k)][int(others)])

    def _latex(self, printer: Any) -> str:
        P, k, others = (printer._print(a) for a in self.args)
        return rf"b_{{{'other' if others == '1' else 'held'}}}\left({P}, {k}\right)"


def _longest(found: Iterable[Counts]) -> tuple[Counts, ...]:
    """Return those of the counts that no others reach in every entry."""
    counts = set(found)
    return tuple(
        sorted(c for c in counts if not any(c != d and all(x <= y for x, y in zip(c, d, strict=True)) for d in counts))
    )


def _joined(P: int) -> tuple[int, int, int, int]:
    """Return (k, 2**k, R, f)."""
    k = P.bit_length() - 1
    return k, 1 << k, P - (1 << k), passing_rounds(P, k)


class _Path(sp.Function):
    r"""The longest path as a function in formulas: :math:`\max_j (c_{j1} x_1 + c_{j2} x_2 + \ldots)`, x in seconds.

    A subclass says in `_ends` which whole numbers each candidate j has on P ranks.
    """

    is_nonnegative = True

    @staticmethod
    def _ends(P: int) -> tuple[Counts, ...]:
        raise AssertionError  # each subclass has its own

    @classmethod
    def _price(cls, P: int, counts: Counts, prices: tuple[Any, ...], largest: Any) -> Any:
        return sum(c * x for c, x in zip(counts, prices, strict=True))

    @classmethod
    def eval(cls, P: sp.Expr, *prices: sp.Expr) -> sp.Expr | None:
        """Return the maximum over the candidates, where P is a number."""
        if not isinstance(P, sp.Integer):
            return None
        return sp.Max(*(cls._price(int(P), counts, prices, sp.Max) for counts in cls._ends(int(P))))

    @classmethod
    def _imp_(cls, P: Any, *prices: Any) -> Any:
        ranks, *columns = np.broadcast_arrays(P, *prices)
        out = np.zeros(ranks.shape)
        for p in np.unique(ranks):
            here = ranks == p
            given = tuple(x[here] for x in columns)
            out[here] = np.max([cls._price(int(p), c, given, np.maximum) for c in cls._ends(int(p))], axis=0)
        return out

    def _eval_evalf(self, prec: int) -> sp.Expr:
        return self

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        P, *prices = (printer._print(a) for a in self.args)
        inner = " + ".join(rf"c_{{j{i}}} \left({x}\right)" for i, x in enumerate(prices, start=1))
        text = rf"\max_{{j \mid {P}}} \left({inner}\right)"
        return text if exp is None else rf"\left({text}\right)^{{{exp}}}"


class bcast_path(_Path):
    """Return the longest path of scatter and recursive doubling under Hockney, for alpha and the time of a block."""

    @staticmethod
    @lru_cache(maxsize=8192)
    def _ends(P: int) -> tuple[Counts, ...]:
        k, full, R, f = _joined(P)
        alone = (2 * k, 2 * (full - 1))
        if R == 0:
            return (alone,)
        return _longest((a + 2 + f, b + R + full + f * R) for a, b in (alone, *bcast_path._ends(R)))


class bcast_path_loggp(_Path):
    """Return the same under LogGP; an upper bound unless P is a power of two.

    For one message waited for, alone and with its gap, one that lies there, and the time of a block.
    """

    @staticmethod
    @lru_cache(maxsize=8192)
    def _ends(P: int) -> tuple[Counts, ...]:
        def ends(ranks: int, last: int) -> Iterator[Counts]:
            k, full, R, f = _joined(ranks)
            if R == 0:
                yield last, 2 * k - last, 0, 2 * (full - 1)
                return
            # The full subtree comes after the cut-off one; it passes its part on, or sends it all that it holds.
            yield 1, 2 * k + f - 1, 2, 2 * (full - 1) + full + (1 + f) * R
            yield 1, 2 * k, 1, 2 * (full - 1) + full + R
            for one, gapped, there, blocks in ends(R, 0):
                yield one + 3, gapped + f - 1, there, blocks + (2 + f) * R
                yield one + 1, gapped, there + 1, blocks + R + full

        return _longest(ends(P, 1))


def _taken(P: int, k: int) -> int:
    """Return the blocks that a rank of a full subtree of 2**k ranks, of P, has taken in: P - 2**i in round i < k."""
    return k * P - (1 << k) + 1


class block_path(_Path):
    """Return the longest path of reduce-scatter by recursive doubling under Hockney.

    For alpha, the time of a block, and its reduction.
    """

    @staticmethod
    @lru_cache(maxsize=8192)
    def _ends(P: int) -> tuple[Counts, ...]:
        def ends(ranks: int) -> Iterator[Counts]:
            k, _, R, f = _joined(ranks)
            own = (k, _taken(P, k), _taken(P, k))
            if R == 0:
                yield own
                return
            for a, b, reduced in (own, *ends(R)):
                yield a + 1 + f, b + (1 + f) * (P - R), reduced + P - R

        return _longest(ends(P))


class block_path_loggp(_Path):
    """Return the same under LogGP.

    For a message waited for in a full subtree, one alone, two at a join, one with its gap, one that lies there, the
    time of a block, its reduction, and what the gap exceeds L + 2 o by: in round i of a full subtree it leaves that idle
    less the reduction of P - 2**i blocks.
    """

    @staticmethod
    @lru_cache(maxsize=8192)
    def _ends(P: int) -> tuple[Counts, ...]:
        def ends(ranks: int, last: int) -> Iterator[Counts]:
            k, _, R, f = _joined(ranks)
            own = _taken(P, k)
            if R == 0:
                yield k - last, last, 0, 0, 0, own, own
                return
            yield k, 1, 0, f - 1, 1, own + (1 + f) * (P - R), own + P - R
            for full, one, two, gapped, there, blocks, reduced in ends(R, 0):
                yield full, one, two + 1, gapped + f - 1, there, blocks + (1 + f) * (P - R), reduced + P - R

        return _longest(ends(P, 1))

    @classmethod
    def _price(cls, P: int, counts: Counts, prices: tuple[Any, ...], largest: Any) -> Any:
        *prices, behind = prices
        idle = sum(largest(0, behind - (P - 2**i) * prices[-1]) for i in range(counts[0]))
        return super()._price(P, counts, tuple(prices), largest) + idle
