"""Rabenseifner's reductions: halve the vector, near partners first, then collect the pieces the same way back."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from orrery_analytic.collectives.algorithm import EVERY, POWERS, Algorithm, Call, Exact, Options
from orrery_analytic.collectives.halving_formulas import idle
from orrery_analytic.collectives.rounds import Phase, close, k
from orrery_analytic.networks import LogGP
from orrery_analytic.schedules.operations import Operation, Program, exchange, recv, reduce, send
from orrery_analytic.symbols import P, log2_ceil, log2_floor, n

__all__ = ["ALGORITHMS", "Shape", "combine", "halving_phases", "less_idle"]


class Shape:
    """Who takes part, and with what: P ranks fold to `power` ranks v, of which each ends with a piece of the sum."""

    def __init__(self, call: Call) -> None:
        self.depth = call.P.bit_length() - 1
        self.power = 1 << self.depth
        self.folded = call.P - self.power
        self.start = 2 * (self.folded > 0)  # rounds of folding
        self.count, self.itemsize = call.count, call.itemsize

    def leaves(self, rank: int) -> bool:
        """Return whether a rank folds: it hands its data over, and has no number v."""
        return rank < 2 * self.folded and rank % 2 == 1

    def number(self, rank: int) -> int:
        """Return v of a rank that does not fold."""
        return rank // 2 if rank < 2 * self.folded else rank - self.folded

    def real(self, v: int) -> int:
        """Return the rank that has number v."""
        return 2 * v if v < self.folded else v + self.folded

    def windows(self, v: int) -> list[tuple[int, int, int]]:
        """Return (partner's number, bytes kept, bytes given away) in each round of halving."""
        found, window = [], self.count
        for i in range(self.depth):
            other = v ^ (1 << i)
            half = window // 2
            kept = half if v < other else window - half
            found.append((other, kept * self.itemsize, (window - kept) * self.itemsize))
            window = kept
        return found


def combine(shape: Shape, rank: int) -> Iterator[Operation]:
    """Return what a rank does until it holds a piece of the sum, or has folded."""
    left = shape.count // 2 * shape.itemsize
    right = shape.count * shape.itemsize - left
    if rank < 2 * shape.folded:
        if rank % 2:
            yield exchange(rank - 1, left, rank - 1, right, 0)
            yield reduce(right, 0)
            yield send(rank - 1, right, 1)
            return
        yield exchange(rank + 1, right, rank + 1, left, 0)
        yield reduce(left, 0)
        yield recv(rank + 1, right, 1)
    for i, (other, kept, given) in enumerate(shape.windows(shape.number(rank))):
        yield exchange(shape.real(other), given, shape.real(other), kept, shape.start + i)
        yield reduce(kept, shape.start + i)


def _reduce(call: Call) -> Program:
    """Return the program that gathers the pieces at the root; a root that has folded takes the place of v = 0."""
    shape = Shape(call)
    replaces = shape.leaves(call.root)
    top = 0 if replaces else shape.number(call.root)
    start = shape.start + shape.depth
    piece = shape.windows(0)[-1][1]

    def real(v: int) -> int:
        return call.root if v == top else shape.real(v)

    def program(rank: int) -> Iterator[Operation]:
        yield from combine(shape, rank)
        if shape.leaves(rank) and rank != call.root:
            return
        if replaces and rank == 0:
            yield send(call.root, piece, start)
            return
        if replaces and rank == call.root:
            yield recv(0, piece, start)
        v = top if rank == call.root else shape.number(rank)
        for i, (other, kept, given) in reversed(list(enumerate(shape.windows(v)))):
            at = start + replaces + shape.depth - 1 - i
            if other >> i == top >> i:
                yield send(real(other), kept, at)
                return
            yield recv(real(other), given, at)

    return program


def halving_phases(options: Options) -> tuple[Phase, ...]:
    """Return the rounds in which the vector is halved and combined, and those in which the pieces are collected."""
    fl, fold = log2_floor(P), log2_ceil(P) - log2_floor(P)
    start = 2 * fold
    halved = n / 2 ** (k - start + 1)
    return (
        Phase("folding pairs exchange halves, unless P is a power of two", 0, fold - 1, n / 2, n / 2),
        Phase("and one of them gets the other half of the sum", fold, start - 1, n / 2),
        Phase("pairs exchange halves of what is left and combine", start, start + fl - 1, halved, halved),
        Phase("the same halves back, smallest first", start + fl, start + 2 * fl - 1, n / 2 ** (start + 2 * fl - k)),
    )


def less_idle(terms: dict[str, sp.Expr], network: LogGP) -> dict[str, sp.Expr]:
    """Return the terms of rounds among which the vector is halved, the gap less what the reductions of halves fill."""
    behind = network.g - network.L - 2 * network.o
    fl = log2_floor(P)
    less = idle(behind, n / 2**fl * network.gamma, sp.S.Zero, fl) - fl * sp.Max(0, behind)
    return {**terms, "gap": terms["gap"] + less}


def _reduce_loggp(network: LogGP, options: Options) -> dict[str, sp.Expr]:
    """Return the sum over the rounds: A(m) and what a gap leaves idle in each but the last."""
    return less_idle(close(halving_phases(options), network), network)


_ROOT = "Sends block. For a root that does not fold; for another one, one piece is sent once more."

ALGORITHMS = (
    Algorithm(
        "reduce",
        "rabenseifner",
        _reduce,
        halving_phases,
        _reduce_loggp,
        Exact(note=_ROOT),
        Exact(EVERY, gapped_reducing=POWERS, note=f"{_ROOT} At most 11 % high (P = 3)."),
    ),
)
