"""The longest path of a tree under LogGP, where no sum over rounds is exact.

A node that is the i-th child of its parent has the data (i - 1) d + A after its parent: d between two sends, A one way.
The last node decides: ``max over v of a(v) A + b(v) d``. Few nodes can be last; this module finds them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp

__all__ = ["knomial_path"]


@lru_cache(maxsize=8192)
def _knomial_ends(P: int, radix: int) -> tuple[tuple[int, int], ...]:
    """Return (messages, distances) of the paths to the nodes that can be last, on P >= 2 ranks."""
    found: set[tuple[int, int]] = set()
    messages = distances = 0  # of the path to the node whose subtree is looked at
    while P > 1:
        level, stride = 0, 1
        while stride * radix < P:
            level, stride = level + 1, stride * radix
        last = (P - 1) // stride  # children on the top level
        below = level * (radix - 1)  # further children of this node
        found.add((messages + 1, distances + last + below - 1))  # its last child
        found.add(
            (messages + level, distances + last + below - level) if level else (messages + 1, distances + last - 1)
        )
        if last > 1:  # the child before the last on the top level has a full subtree
            found.add((messages + level + 1, distances + last - 1 + below - level - 1))
        messages, distances = messages + 1, distances + last - 1
        P -= last * stride
    return tuple(sorted(found))


class knomial_path(sp.Function):
    r"""Return the longest path of a k-nomial tree: :math:`\max_{1 \le v < P} (a_v A + b_v d)`.

    Parameters
    ----------
    P : SymPy expression
        Number of ranks.
    radix : int
        Radix of the tree.
    A, d : SymPy expressions, in seconds
        One message; the distance of two sends of a rank.

    Exact for every P >= 2: the tree is walked along the digits of P - 1. Source: derived.
    """

    is_nonnegative = True

    @classmethod
    def eval(cls, P: sp.Expr, radix: sp.Expr, A: sp.Expr, d: sp.Expr) -> sp.Expr | None:
        """Return the maximum over the few nodes that can be last, where P is a number."""
        if isinstance(P, sp.Integer):
            if P < 2:
                return sp.S.Zero
            return sp.Max(*(a * A + b * d for a, b in _knomial_ends(int(P), int(radix))))
        return None

    @staticmethod
    def _imp_(P: Any, radix: Any, A: Any, d: Any) -> Any:
        ranks, A, d = np.broadcast_arrays(P, A, d)
        out = np.zeros(ranks.shape)
        for p in np.unique(ranks):
            here = ranks == p
            ends = _knomial_ends(int(p), int(radix))
            out[here] = np.max([a * A[here] + b * d[here] for a, b in ends], axis=0) if ends else 0.0
        return out

    def _eval_evalf(self, prec: int) -> sp.Expr:
        return self

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        P, _, A, d = (printer._print(a) for a in self.args)
        text = rf"\max_{{1 \le v < {P}}} \left(a_v \left({A}\right) + b_v {d}\right)"
        return text if exp is None else rf"\left({text}\right)^{{{exp}}}"
