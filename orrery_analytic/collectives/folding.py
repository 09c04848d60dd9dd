"""Any P by folding: the ranks beyond a power of two hand their data to others, wait, and get the result back.

With q = 2**floor(log2 P) and R = P - q, R pairs fold; q ranks go on.
"""

from __future__ import annotations

import sympy as sp

from orrery_analytic.collectives.rounds import split
from orrery_analytic.networks import LogGP
from orrery_analytic.symbols import P, log2_ceil, log2_floor

__all__ = ["butterfly_loggp"]


def butterfly_loggp(network: LogGP, nbytes: sp.Expr, reduced: sp.Expr) -> dict[str, sp.Expr]:
    r"""Return the terms of recursive doubling with whole messages under LogGP, exact for every P.

    With A, d for `nbytes`, r = reduced gamma, M = max(A + r, d), B = o + (m - 1) G (the part of A that is left when a
    message has arrived before its receive is posted), c = ceil(log2 R):

    * P a power of two: (fl - 1) M + A + r.
    * else: the folded ranks are late. In the first c rounds late ranks meet late ranks; in the others their partners'
      messages lie there already, and a round costs max(B + r, d). So T is the larger of
      2 A + r + c M + (fl - c) max(B + r, d) and 2 A + 2 r + (fl - 1) M (a rank that does not fold).

    Source: derived; held against the schedule for every P to 1024.
    """
    one_way, distance = network.message(nbytes), network.distance(nbytes)
    r = reduced * network.gamma
    fl = log2_floor(P)
    late = log2_ceil(P - 2**fl)
    step = sp.Max(one_way + r, distance)
    absorbed = sp.Max(one_way - network.L - network.o + r, distance)
    folded = 2 * one_way + r + late * step + (fl - late) * absorbed
    unfolded = 2 * one_way + 2 * r + (fl - 1) * step
    power = (fl - 1) * step + one_way + r
    return split(sp.Piecewise((power, sp.Eq(log2_ceil(P), fl)), (sp.Max(folded, unfolded), True)), network)
