"""Halving under LogGP: a gap leaves ports idle unless a reduction fills it, and ranks that fold are late.

Two messages of one rank lie d(m) = max(o, g + (m - 1) G) apart. With r(m) the reduction, a round costs
C(m) = max(A(m) + r(m), d(m)) where its message is waited for, and S(m) = max(o + (m - 1) G + r(m), d(m)) where it lies
there already. Source: derived, and held against the schedules.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sympy as sp

from orrery_analytic.collectives.functions_of_p import OfP
from orrery_analytic.collectives.rounds import split
from orrery_analytic.networks import LogGP
from orrery_analytic.symbols import P, log2_ceil, log2_floor

__all__ = ["butterfly_loggp", "butterfly_path", "halving_loggp", "halving_path", "idle"]


class idle(sp.Function):
    r"""Return what is left idle in rounds of halving or doubling: :math:`\sum_{i=a}^{b-1} \max(0, x - 2^i r)`, in s.

    Parameters
    ----------
    x : SymPy expression, in seconds
        What the gap exceeds the rest of a round by: g - L - 2 o. On nodes: the latency of a message.
    r : SymPy expression, in seconds
        The reduction of the last round. On nodes: the messages of other ranks on the same card.
    a, b : SymPy expressions
        The rounds i = a .. b - 1, counted from the last one.
    """

    is_nonnegative = True

    @classmethod
    def eval(cls, x: sp.Expr, r: sp.Expr, a: sp.Expr, b: sp.Expr) -> sp.Expr | None:
        """Return the sum where its bounds are numbers or its summands equal."""
        if x.is_nonpositive and r.is_nonnegative:
            return sp.S.Zero
        if r == 0:
            return (b - a) * sp.Max(0, x)
        if isinstance(a, sp.Integer) and isinstance(b, sp.Integer):
            return sp.Add(*(sp.Max(0, x - 2**i * r) for i in range(int(a), int(b))))
        return None

    @staticmethod
    def _imp_(x: Any, r: Any, a: Any, b: Any) -> Any:
        x, r, a, b = np.broadcast_arrays(x, r, a, b)
        out = np.zeros(x.shape)
        for i in range(int(np.max(b, initial=0))):
            out = out + np.where((a <= i) & (i < b), np.maximum(0, x - 2.0**i * r), 0.0)
        return out

    def _eval_evalf(self, prec: int) -> sp.Expr:
        return self

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        x, r, a, last = (printer._print(argument) for argument in (*self.args[:3], self.args[3] - 1))
        text = rf"\sum_{{i={a}}}^{{{last}}} \max\left(0, {x} - 2^i \, {r}\right)"
        return text if exp is None else rf"\left({text}\right)^{{{exp}}}"


class _Charges:
    """What LogGP charges for m blocks of b bytes, in seconds; `latest` is the maximum, of SymPy or of NumPy."""

    def __init__(self, latest: Callable[..., Any], b: Any, L: Any, o: Any, g: Any, G: Any, gamma: Any) -> None:
        self.latest, self.b, self.L, self.o, self.g, self.G, self.gamma = latest, b, L, o, g, G, gamma

    def wire(self, m: int) -> Any:
        return (m * self.b - 1) * self.G

    def reduction(self, m: int) -> Any:
        return m * self.b * self.gamma

    def one_way(self, m: int) -> Any:
        return self.L + 2 * self.o + self.wire(m)

    def distance(self, m: int) -> Any:
        return self.latest(self.o, self.g + self.wire(m))

    def waited(self, m: int) -> Any:
        """Return C(m)."""
        return self.latest(self.one_way(m) + self.reduction(m), self.distance(m))

    def there(self, m: int) -> Any:
        """Return S(m)."""
        return self.latest(self.o + self.wire(m) + self.reduction(m), self.distance(m))


def _widths(P: int) -> list[int]:
    """Return the blocks that the first rank that folds keeps in each round, the last one first: 2**i + min(2**i, R)."""
    depth = P.bit_length() - 1
    return [2**i + min(2**i, P - 2**depth) for i in range(depth)]


class halving_path(OfP):
    """Return the longest path of recursive halving where R = P - 2**fl > 0 ranks fold, for P, b, L, o, g, G, gamma.

    With b bytes in a block and w(i) = 2**i + min(2**i, R) blocks in round i, counted from the last one, the larger of:

    * A(P b) + r(P b), S(w(i) b) where 2**i >= R (whoever it meets is early), C(w(i) b) where 2**i < R, and A(b): a rank
      that folds, and that gives a block back;
    * A(P b) + r(P b) and C(2**i b), the last one without its gap: a rank that always meets late ones.
    """

    _name = r"T_{\text{halving}}"

    @staticmethod
    def _walk(P: int, latest: Callable[..., Any], *rest: Any) -> Any:
        net = _Charges(latest, *rest)
        widths = _widths(P)
        R = P - 2 ** len(widths)
        fold = net.one_way(P) + net.reduction(P)
        late = sum(net.there(w) if 2**i >= R else net.waited(w) for i, w in enumerate(widths)) + net.one_way(1)
        others = sum(net.waited(2**i) for i in range(1, len(widths))) + net.one_way(1) + net.reduction(1)
        return fold + latest(late, others)


class butterfly_path(OfP):
    """Return the longest path of the butterfly where R = P - 2**fl > 0 ranks fold; arguments as of `halving_path`.

    Pairs are near first, and in the end blocks go to their ranks, A(b), d(b) after another one was given away. Where
    one rank folds: it meets early ranks in all rounds, or in the first one, or in the last one. Where more do: no rank
    is taken to be early, an upper bound.
    """

    _name = r"T_{\text{butterfly}}"

    @staticmethod
    def _walk(P: int, latest: Callable[..., Any], *rest: Any) -> Any:
        net = _Charges(latest, *rest)
        widths = _widths(P)
        rounds = len(widths)
        fold = net.one_way(P) + net.reduction(P) + net.one_way(1)
        if P - 2**rounds > 1:
            return fold + sum(map(net.waited, widths)) + net.distance(1)
        late = sum(map(net.there, widths))
        first = net.there((P + 1) // 2) + sum(net.waited(2**i) for i in range(rounds - 1))
        last = sum(net.waited(2**i) for i in range(1, rounds)) + net.there(1)
        return fold + latest(late, first, last)


def _by_halves(network: LogGP, total: sp.Expr, first: int) -> sp.Expr:
    """Return the sum of C(2**i b) over all rounds of a power of two; rounds before `first` do not wait for the gap."""
    fl, b = log2_floor(P), total / P
    one_way = network.L + 2 * network.o
    behind = idle(network.g - one_way, b * network.gamma, sp.S(first), fl)
    return fl * (one_way - network.G) + (P - 1) * b * (network.G + network.gamma) + behind


def _folding(path: type[OfP], network: LogGP, total: sp.Expr, *cases: tuple[sp.Expr, Any]) -> dict[str, sp.Expr]:
    """Return the terms: those of `cases`, and of a path where ranks fold."""
    folded = path(P, total / P, network.L, network.o, network.g, network.G, network.gamma)
    return split(sp.Piecewise(*cases, (folded, True)), network)


_POWER = sp.Eq(log2_ceil(P), log2_floor(P))


def halving_loggp(network: LogGP, total: sp.Expr) -> dict[str, sp.Expr]:
    """Return the terms of recursive halving of a vector of `total` bytes: P a power of two, or `halving_path`."""
    return _folding(halving_path, network, total, (_by_halves(network, total, 1), _POWER))


def butterfly_loggp(network: LogGP, total: sp.Expr, settles: bool) -> dict[str, sp.Expr]:
    """Return the terms of the butterfly on a vector of `total` bytes: P a power of two, or `butterfly_path`.

    With a power of two, blocks `settle` by one more exchange, but not on two ranks, nor if the data were permuted.
    """
    permuted = _by_halves(network, total, 1), sp.Eq(P, 2) if settles else _POWER
    settled = _by_halves(network, total, 0) + network.message(total / P), _POWER
    return _folding(butterfly_path, network, total, permuted, *((settled,) if settles else ()))
