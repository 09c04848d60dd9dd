"""Halving under LogGP: folded ranks are late, and a gap may leave ports waiting; both are exact here.

In round i of halving, counted from the last one, a rank keeps about 2**i blocks. Two messages of one rank lie
d(m) = max(o, g + (m - 1) G) apart, so that the gap leaves a rank idle for what g exceeds its overheads and reduction by.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from orrery_analytic.collectives.rounds import split
from orrery_analytic.networks import LogGP
from orrery_analytic.symbols import P, log2_ceil, log2_floor

__all__ = ["butterfly_loggp", "halving_loggp", "idle"]


class idle(sp.Function):
    r"""Return what gaps leave idle in rounds of halving: :math:`\sum_{i=a}^{b-1} \max(0, x - (2^i + R) r)`.

    Parameters
    ----------
    x : SymPy expression, in seconds
        What the gap exceeds the other costs of a round by, without the reduction.
    r : SymPy expression, in seconds
        The reduction of one block.
    R : SymPy expression
        Blocks beyond 2**i.
    a, b : SymPy expressions
        The rounds are i = a .. b - 1.
    """

    is_nonnegative = True

    @classmethod
    def eval(cls, x: sp.Expr, r: sp.Expr, R: sp.Expr, a: sp.Expr, b: sp.Expr) -> sp.Expr | None:
        """Return the sum where its bounds are numbers or its summands equal."""
        if x.is_nonpositive:
            return sp.S.Zero
        if r == 0:
            return (b - a) * sp.Max(0, x)
        if isinstance(a, sp.Integer) and isinstance(b, sp.Integer):
            return sp.Add(*(sp.Max(0, x - (2**i + R) * r) for i in range(int(a), int(b))))
        return None

    @staticmethod
    def _imp_(x: Any, r: Any, R: Any, a: Any, b: Any) -> Any:
        x, r, R, a, b = np.broadcast_arrays(x, r, R, a, b)
        rounds = range(int(np.min(a, initial=0)), int(np.max(b, initial=0)))
        return sum((np.where((a <= i) & (i < b), np.maximum(0, x - (2**i + R) * r), 0.0) for i in rounds), np.zeros(x.shape))

    def _eval_evalf(self, prec: int) -> sp.Expr:
        return self

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        x, r, R, a, b = (printer._print(argument) for argument in self.args)
        blocks = "2^i" if self.args[2] == 0 else rf"\left(2^i + {R}\right)"
        text = rf"\sum_{{i={a}}}^{{{b} - 1}} \max\left(0, {x} - {blocks} {r}\right)"
        return text if exp is None else rf"\left({text}\right)^{{{exp}}}"


@dataclass(frozen=True)
class _Halving:
    """What P ranks charge for halving a vector of `total` bytes, b = total / P a block, r(m) the reduction of m bytes.

    R = P - 2**fl ranks fold, and the rank that they fold into has two blocks each: w(i) = 2**i + min(2**i, R) blocks in
    round i. c = ceil(log2 R): all blocks are double where i < c.
    """

    network: LogGP
    total: sp.Expr

    fl = log2_floor(P)
    power = sp.Eq(log2_ceil(P), log2_floor(P))
    R = P - 2**fl
    c = log2_ceil(sp.Max(1, R))

    @property
    def block(self) -> sp.Expr:
        return self.total / P

    @property
    def r(self) -> sp.Expr:
        """The reduction of a block."""
        return self.block * self.network.gamma

    def blocks(self, number: sp.Expr) -> sp.Expr:
        """Return what so many blocks take on the wire and to reduce, in seconds."""
        return number * (self.block * self.network.G + self.r)

    @property
    def fold(self) -> sp.Expr:
        """A(total) + r(total)."""
        return self.network.message(self.total) + self.total * self.network.gamma

    def waited(self, first: int, end: sp.Expr, double: int = 1) -> sp.Expr:
        """Return the sum of max(A(m) + r(m), d(m)), m = 2**i b or the double, over first <= i < end."""
        net = self.network
        behind = idle(net.g - net.L - 2 * net.o, double * self.r, sp.S.Zero, sp.S(first), end)
        return (end - first) * (net.L + 2 * net.o - net.G) + self.blocks((2**end - 2**first) * double) + behind

    @property
    def alone(self) -> sp.Expr:
        """A rank that waits for a late one in every round; the gap of the last round is not waited for."""
        return self.waited(1, self.fl) + self.network.message(self.block) + self.r

    def wide(self, lead: sp.Expr, first: sp.Expr) -> sp.Expr:
        """Return the sum of max(lead + m G + r(m), d(m)), m = (2**i + R) b, over first <= i < fl."""
        rounds = self.fl - first
        behind = idle(self.network.g - self.network.G - lead, self.r, self.R, first, self.fl)
        return rounds * lead + self.blocks(rounds * self.R + 2**self.fl - 2**first) + behind

    @property
    def early(self) -> sp.Expr:
        """The lead of a message that lies there when it is asked for."""
        return self.network.o - self.network.G

    @property
    def late(self) -> sp.Expr:
        """The rank that folds: whoever it meets in the first rounds is early, and in the end it gives a block back."""
        return self.fold + self.wide(self.early, self.c) + self.waited(0, self.c, double=2) + self.network.message(self.block)


def halving_loggp(network: LogGP, total: sp.Expr) -> dict[str, sp.Expr]:
    """Return the terms of recursive halving with its fold; `total` is the bytes of the whole vector.

    With S(m) = max(o + (m - 1) G + r(m), d(m)) for a message that lies there and C(m) = max(A(m) + r(m), d(m)) for one
    that is waited for (the last one never for the gap):

    * P a power of two: the sum of C(2**i b).
    * else the larger of A(total) + r(total) + S(w(i) b) for i >= c + C(w(i) b) for i < c + A(b) (a rank that folds),
      and A(total) + r(total) + C(2**i b) for all i (one that does not, and always meets late ones).

    Source: derived.
    """
    h = _Halving(network, total)
    return split(sp.Piecewise((h.alone, h.power), (sp.Max(h.late, h.fold + h.alone), True)), network)


def butterfly_loggp(network: LogGP, total: sp.Expr, settles: bool) -> dict[str, sp.Expr]:
    """Return the terms of the butterfly with its fold; with a power of two the blocks may have to `settle`.

    As `halving_loggp`, but pairs near first, and at the end most ranks exchange a block, A(b), those with two after
    they gave one away, d(b) more. Where R > 1, no rank is taken to be early: an upper bound.

    Source: derived.
    """
    h = _Halving(network, total)
    last = network.message(h.block)
    power = h.alone
    if settles:
        power = sp.Piecewise((power, P < 4), (h.waited(0, h.fl) + last, True))
    # One rank folds: it meets early ranks alone, or after the first round none, or before the last one.
    others = (
        h.wide(h.early, h.fl - 1) + h.waited(0, h.fl - 1),
        h.waited(1, h.fl) + sp.Max(network.message(h.block) - network.L - network.o + h.r, network.distance(h.block)),
    )
    one_folds = sp.Max(h.late, *(h.fold + other + last for other in others))
    waiting = network.L + 2 * network.o - network.G
    bound = h.fold + h.wide(waiting, h.c) + h.waited(0, h.c, double=2) + last + network.distance(h.block)
    return split(sp.Piecewise((power, h.power), (one_folds, sp.Eq(h.R, 1)), (bound, True)), network)
