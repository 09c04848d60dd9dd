"""MPI_Reduce_scatter with equal counts: n is the total; every rank ends with its block of n / P bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import sympy as sp

from orrery_analytic.collectives.algorithm import EVERY, POWERS, Algorithm, Call, Exact, Options
from orrery_analytic.collectives.allreduce import reduce_ring
from orrery_analytic.collectives.functions_of_p import OfP
from orrery_analytic.collectives.halving_formulas import butterfly_loggp, halving_loggp
from orrery_analytic.collectives.rounds import Phase, k
from orrery_analytic.schedules.operations import Operation, Program, exchange, recv, reduce, send
from orrery_analytic.symbols import P, log2_ceil, log2_floor, n

__all__ = [
    "ALGORITHMS",
    "BUTTERFLY_EXACT",
    "EXCHANGED",
    "HALVING_EXACT",
    "halving_phases",
    "halving_program",
    "settling_rounds",
]


def halving_program(call: Call, near_first: bool = False, settles: bool = True) -> Program:
    """Return the program in which pairs exchange halves of what they hold, and combine.

    Beyond a power of two, even ranks hand their vector to the next rank, which goes on with two blocks and gives one
    back. Far partners first (recursive halving), a rank is left with its own block; near partners first (butterfly),
    with the block of its mirror (bits reversed), which it `settles`, by an exchange, unless the data were permuted.
    """
    P, block = call.P, call.count * call.itemsize
    depth = P.bit_length() - 1
    power = 1 << depth
    folded = P - power
    shift = int(folded > 0)

    def real(v: int) -> int:
        return 2 * v + 1 if v < folded else v + folded

    def window(first: int, length: int) -> int:
        end = first + length
        return (length + min(end, folded) - min(first, folded)) * block

    def mirror(v: int) -> int:
        return int(f"{v:0{depth}b}"[::-1], 2) if near_first else v

    def program(rank: int) -> Iterator[Operation]:
        if rank < 2 * folded and rank % 2 == 0:
            yield send(rank + 1, P * block, 0)
            yield recv(real(mirror(rank // 2)), block, shift + depth)
            return
        if rank < 2 * folded:
            yield recv(rank - 1, P * block, 0)
            yield reduce(P * block, 0)
        v = rank // 2 if rank < 2 * folded else rank - folded
        first = 0
        for i in range(depth):
            length = power >> (i + 1)
            other = v ^ (1 << i if near_first else length)
            kept, given = (first, first + length) if v < other else (first + length, first)
            yield exchange(real(other), window(given, length), real(other), window(kept, length), shift + i)
            yield reduce(window(kept, length), shift + i)
            first = kept
        if first < folded:
            yield send(2 * first, block, shift + depth)
        if settles and first != v:
            yield exchange(real(first), block, real(first), block, shift + depth + (folded > 1))

    return program


def _ring(call: Call) -> Program:
    block = call.count * call.itemsize
    return reduce_ring(call, lambda b: block, 0)


def _ring_phases(options: Options) -> tuple[Phase, ...]:
    return (Phase("a block goes around and is combined", 0, P - 2, n / P, n / P),)


def halving_phases(options: Options, after: sp.Expr) -> tuple[Phase, ...]:
    """Return the rounds of halving and `after` rounds in which single blocks find their rank.

    The first rank that folds has two blocks for every block v < R = P - 2**fl, as long as there are any: its half of
    2**j blocks holds R more where 2**j >= R, and 2**j more where it is smaller.
    """
    fl, fold = log2_floor(P), log2_ceil(P) - log2_floor(P)
    folded, block = P - 2**fl, n / P
    start = fold + fl - log2_ceil(sp.Max(1, folded))  # of the rounds in which all blocks are double
    wide, narrow = ((2 ** (fold + fl - 1 - k) + folded) * block, 2 ** (fold + fl - k) * block)
    return (
        Phase("ranks beyond a power of two hand over their vector, if there are any", 0, fold - 1, n, n),
        Phase("pairs exchange halves of their blocks, R of them double, and combine", fold, start - 1, wide, wide),
        Phase("all of them double", start, fold + fl - 1, narrow, narrow),
        Phase("blocks go to their ranks", fold + fl, fold + fl + after - 1, block),
    )


def _halving_phases(options: Options) -> tuple[Phase, ...]:
    return halving_phases(options, log2_ceil(P) - log2_floor(P))


class settling_rounds(OfP):
    """Return the rounds in which blocks go to their ranks after a butterfly: for P, and 0 or 1 for powers of two.

    None on two ranks. One where one rank folds. Two where more do: ranks that hold two blocks first give one to the
    rank that has folded.
    """

    is_integer = True
    _name = r"\operatorname{settling}"

    @staticmethod
    def _walk(P: int, latest: Callable[..., Any], *rest: Any) -> Any:
        folded = P - (1 << P.bit_length() - 1)
        return min(folded, 2) if folded else rest[0] * min(P - 2, 1)


def _butterfly_phases(options: Options) -> tuple[Phase, ...]:
    return halving_phases(options, settling_rounds(P, 1))


EXCHANGED = Exact(note="A rank waits for its send and its receive in every round.")
_MEETING = f"{EXCHANGED.note} Ranks that fold are late and at first meet partners whose messages lie there. At most"
HALVING_EXACT = Exact(EVERY, reducing=POWERS, note=f"{_MEETING} 10 % high (P = 5).")
BUTTERFLY_EXACT = Exact(POWERS, note=f"{_MEETING} 21 % high (P = 6), 15 % (P = 19) where g <= L + 2 o.")

ALGORITHMS = (
    Algorithm(
        "reduce_scatter",
        "recursive_halving",
        halving_program,
        _halving_phases,
        lambda network, options: halving_loggp(network, n),
        EXCHANGED,
        HALVING_EXACT,
    ),
    Algorithm("reduce_scatter", "ring", _ring, _ring_phases, None, EXCHANGED, EXCHANGED),
    Algorithm(
        "reduce_scatter",
        "butterfly",
        lambda call: halving_program(call, near_first=True),
        _butterfly_phases,
        lambda network, options: butterfly_loggp(network, n, settles=True),
        EXCHANGED,
        BUTTERFLY_EXACT,
    ),
)
