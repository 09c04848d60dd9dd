"""`lower_bound`: what no algorithm of a collective can undercut under Hockney, and how far an algorithm is from it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import sympy as sp

from orrery_analytic.algebra.exact.arguments import numbers_for, one_cost
from orrery_analytic.algebra.exact.values import exact_cost
from orrery_analytic.collectives.registry import twin
from orrery_analytic.cost import Cost
from orrery_analytic.errors import QuantityError
from orrery_analytic.networks import Hockney
from orrery_analytic.symbols import P, log2_ceil, n
from orrery_analytic.units import shown

__all__ = ["distance_to_bound", "lower_bound"]

_SHARE = (P - 1) / P * n
#: Bytes that the rank that moves most sends or receives at least, and bytes that the one that combines most combines.
_BYTES: Mapping[str, tuple[sp.Expr, sp.Expr]] = MappingProxyType(
    {
        "barrier": (sp.S.Zero, sp.S.Zero),
        "bcast": (n, sp.S.Zero),
        "scatter": ((P - 1) * n, sp.S.Zero),
        "gather": ((P - 1) * n, sp.S.Zero),
        "allgather": ((P - 1) * n, sp.S.Zero),
        "alltoall": ((P - 1) * n, sp.S.Zero),
        "reduce": (n, _SHARE),
        "allreduce": (2 * _SHARE, _SHARE),
        "reduce_scatter": (_SHARE, _SHARE),
        "reduce_scatter_block": ((P - 1) * n, (P - 1) * n),
        "scan": (n, _SHARE),
        "exscan": (n, (P - 2) / P * n),
    }
)


def lower_bound(collective: str, network: Hockney = Hockney()) -> dict[str, sp.Expr]:  # noqa: B008 - frozen
    r"""Return what no algorithm of a collective can undercut, in seconds: by messages, by bytes, and by reductions.

    After k rounds a rank knows of at most :math:`2^k` ranks, so that :math:`\lceil \log_2 P \rceil \alpha` bounds every
    collective; the rank that must send or receive most bytes gives that of bandwidth, and
    :math:`n (P - 1)` bytes to combine, shared among P ranks, that of reductions. Each is a bound of its own: one
    algorithm need not reach two of them at once.

    Parameters
    ----------
    collective : str
    network : Hockney

    Returns
    -------
    dict
        "latency", "bandwidth" and "reduce": SymPy expressions; the last two where they are not 0.

    Raises
    ------
    UnknownNameError
        If there is no such collective.
    QuantityError
        For LogGP, under which a rank sends its next message before the last one has arrived, so that the rounds are no
        bound.

    Source: after Chan, Heimlich, Purkayastha and van de Geijn, CCPE 19(13), 2007, and Patarasuk and Yuan, JPDC 69(2),
    2009 (allreduce); scan and exscan derived.
    """
    if not isinstance(network, Hockney):
        raise QuantityError(f"lower bounds are for Hockney(), not {shown(network)}.")
    moved, combined = _BYTES[twin(collective)]
    bounds = {"latency": log2_ceil(P) * network.alpha, "bandwidth": moved * network.beta,
              "reduce": combined * network.gamma}  # fmt: skip
    return {name: e for name, e in bounds.items() if e != 0}


def distance_to_bound(cost: Cost, collective: str, machine: Any = None, **values: Any) -> float:
    """Return how many times a cost exceeds the largest of the lower bounds of its collective; at least 1.

    Parameters
    ----------
    cost : Cost
        Of an algorithm on host buffers under Hockney().
    collective : str
    machine : Machine, its name, or mapping of symbol name to number, optional
    **values : number
        P, n and other symbols by name; they go before the machine's.

    Raises
    ------
    UnknownNameError
        If there is no such collective, or a symbol has no number.
    QuantityError
        For numbers out of range, and where the cost is not stated for this P or the bound is 0.
    """
    bounds = [Cost(collective={name: e}) for name, e in lower_bound(collective).items()]
    numbers = numbers_for((one_cost(cost), *bounds), machine, values)
    seconds, least = exact_cost(cost, numbers), max(exact_cost(bound, numbers) for bound in bounds)
    if seconds is None or not least:
        raise QuantityError("this cost is not stated for this P, or its lower bound is 0 here.")
    return float(seconds / least)
