"""MPI_Alltoall: n is the block of one pair; every rank sends P - 1 of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import sympy as sp

from orrery_analytic.collectives.algorithm import TWO, Algorithm, Call, Exact, Options
from orrery_analytic.collectives.rounds import Phase, k
from orrery_analytic.schedules.operations import Operation, Program, exchange, irecv, isend, wait_all
from orrery_analytic.symbols import P, log2_ceil, n

__all__ = ["ALGORITHMS", "popcount_sum"]


def _popcount_sum(x: Any, bits: Any) -> Any:
    """Return the set bits among the `bits` lowest ones of 0, 1 ... x - 1; exact for ints."""
    total = 0 * x
    for j in range(int(np.max(bits, initial=0))):
        half = 1 << j
        rest = x % (2 * half) - half  # of the last, incomplete period of bit j, what lies in its second half
        total = total + (bits > j) * (x // (2 * half) * half + (rest + abs(rest)) // 2)
    return total


class popcount_sum(sp.Function):
    r"""Return :math:`\sum_{0 \le i < P} \operatorname{pop}(i \bmod 2^b)`: set bits, the b lowest of each i counted.

    Parameters
    ----------
    P, b : SymPy expressions
        Whole numbers, P >= 1 and b >= 0.

    How many i < P have bit k set is ``popcount_sum(P, k + 1) - popcount_sum(P, k)``, so sums of these telescope. With
    b = ceil(log2 P) all bits count, and P = 2**m gives m 2**(m - 1). Exact for integers; arrays in double precision.
    """

    is_integer = True
    is_nonnegative = True

    @classmethod
    def eval(cls, x: sp.Expr, bits: sp.Expr) -> sp.Expr | None:
        """Return a number for numbers, and what is known for symbols."""
        if isinstance(x, sp.Integer) and isinstance(bits, sp.Integer):
            return sp.Integer(_popcount_sum(int(x), int(bits))) if x >= 1 and bits >= 0 else sp.nan
        if bits == 0:
            return sp.S.Zero
        return bits * x / 2 if x == 2**bits else None

    @staticmethod
    def _imp_(x: Any, bits: Any) -> Any:
        return np.asarray(_popcount_sum(x, bits), dtype=float)

    def _eval_evalf(self, prec: int) -> sp.Expr:
        return self

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        x, bits = (printer._print(a) for a in self.args)
        counted = "i" if self.args[1] == log2_ceil(self.args[0]) else rf"\left(i \bmod 2^{{{bits}}}\right)"
        text = rf"\left(\sum_{{i < {x}}} \operatorname{{pop}} {counted}\right)"
        return text if exp is None else f"{text}^{{{exp}}}"


def _linear(call: Call) -> Program:
    """Return the program that posts all receives, rank + 1 first, then all sends, rank - 1 first, and waits."""
    block = call.count * call.itemsize

    def program(rank: int) -> Iterator[Operation]:
        for i in range(1, call.P):
            yield irecv((rank + i) % call.P, block, i - 1)
        for i in range(1, call.P):
            yield isend((rank - i) % call.P, block, i - 1)
        yield wait_all()

    return program


def _ascending(call: Call) -> Program:
    """Return the program of alltoallv: as the linear one, but every rank posts from rank 0 up.

    A port takes its messages in this order, so those between two ranks fly when the ports of both have come to them.
    """
    block = call.count * call.itemsize

    def program(rank: int) -> Iterator[Operation]:
        for post in (irecv, isend):
            for other in range(call.P):
                if other != rank:
                    yield post(other, block, rank + other - 1)
        yield wait_all()

    return program


def _shifting(call: Call, rounds: list[tuple[int, int]]) -> Program:
    """Return the program that sends to rank + distance, and receives from rank - distance, once for each of `rounds`.

    A round is (distance, bytes).
    """

    def program(rank: int) -> Iterator[Operation]:
        for i, (distance, nbytes) in enumerate(rounds):
            yield exchange((rank + distance) % call.P, nbytes, (rank - distance) % call.P, nbytes, i)

    return program


def _pairwise(call: Call) -> Program:
    block = call.count * call.itemsize
    return _shifting(call, [(distance, block) for distance in range(1, call.P)])


def _modified_bruck(call: Call) -> Program:
    """Return the program that sends, in round k, all blocks whose distance has bit k set."""
    block = call.count * call.itemsize
    rounds = []
    for i in range((call.P - 1).bit_length()):
        blocks = _popcount_sum(call.P, i + 1) - _popcount_sum(call.P, i)
        rounds.append((1 << i, blocks * block))
    return _shifting(call, rounds)


def _linear_phases(options: Options) -> tuple[Phase, ...]:
    return (
        Phase("each rank sends to P - 2 ranks, one behind another", 0, P - 3, n, back_to_back=True),
        Phase("and to the last one", P - 2, P - 2, n),
    )


def _ascending_phases(options: Options) -> tuple[Phase, ...]:
    return (
        Phase("the ranks that add up to k + 1 exchange their blocks", 0, 2 * P - 5, n, back_to_back=True),
        Phase("and the last two ranks", 2 * P - 4, 2 * P - 4, n),
    )


def _pairwise_phases(options: Options) -> tuple[Phase, ...]:
    return (Phase("a block goes to rank + k + 1", 0, P - 2, n),)


def _modified_bruck_phases(options: Options) -> tuple[Phase, ...]:
    blocks = popcount_sum(P, k + 1) - popcount_sum(P, k)
    return (Phase("the blocks whose distance has bit k set go to rank + 2**k", 0, log2_ceil(P) - 1, blocks * n),)


def _two_proc_phases(options: Options) -> tuple[Phase, ...]:
    return (Phase("both exchange their block", 0, 0, n),)


def _algorithm(
    name: str, program: Callable[[Call], Program], phases: Callable[[Options], tuple[Phase, ...]], exact: Exact
) -> Algorithm:
    return Algorithm("alltoall", name, program, phases, hockney_exact=exact, loggp_exact=exact)


_POSTED = Exact(note="All messages are posted at once; a port takes them in program order, each with its own latency.")
_EXCHANGED = Exact(note="A rank waits for its send and its receive in every round.")
_ASCENDING = Exact(note="All messages are posted at once, by every rank from rank 0 up, so that ports wait.")

ALGORITHMS = (
    _algorithm("linear", _linear, _linear_phases, _POSTED),
    _algorithm("pairwise", _pairwise, _pairwise_phases, _EXCHANGED),
    _algorithm("modified_bruck", _modified_bruck, _modified_bruck_phases, _EXCHANGED),
    _algorithm("linear_sync", _linear, _linear_phases, _POSTED),  # no limit to open requests: as linear
    Algorithm("alltoallv", "basic_linear", _ascending, _ascending_phases,
              hockney_exact=_ASCENDING, loggp_exact=_ASCENDING),
    Algorithm("alltoall", "two_proc", _pairwise, _two_proc_phases, only_at=TWO,
              hockney_exact=Exact(TWO), loggp_exact=Exact(TWO)),
)  # fmt: skip
