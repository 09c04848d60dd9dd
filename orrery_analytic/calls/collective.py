"""One collective (Eq. 2): the network, and legs or the host bounce of device buffers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sympy as sp

from orrery_analytic.calls.device import buffer_sizes, device_cost
from orrery_analytic.collectives.formulas import network_cost
from orrery_analytic.collectives.registry import twin
from orrery_analytic.cost import Cost
from orrery_analytic.decisions.whole import whole
from orrery_analytic.errors import QuantityError, choose
from orrery_analytic.networks import Hockney, Network
from orrery_analytic.units import shown

__all__ = ["REDUCTIONS", "collective_cost"]

REDUCTIONS = ("schedule", "printed")
"""How t_reduce of Eq. 2 is read: what the schedule combines, or gamma times the bytes of a rank's vector."""

_REDUCING = ("allreduce", "exscan", "reduce", "reduce_scatter", "reduce_scatter_block", "scan")

_OTHER_ROOTS = {
    ("reduce", "linear"): "root other than 0: under LogGP an upper bound where g > o",
    ("reduce", "in-order_binary"): "root P - 1: less by the last message of n bytes, as the result need not be sent on",
    (
        "reduce",
        "rabenseifner",
    ): "odd roots below 2 (P - 2**floor(log2 P)): more by a message of n / 2**floor(log2 P) bytes",
}


def collective_cost(
    collective: str,
    algorithm: str,
    network: Network = Hockney(),  # noqa: B008 - frozen
    buffers: str | tuple[str, str] = "host",
    transport: str | None = None,
    staging: str = "printed",
    segment_bytes: Any = 0,
    fan: int = 1,
    radix: int = 4,
    root: int = 0,
    parts: Sequence[str] | None = None,
    bands: Mapping[str, int] | None = None,
    reduction: str = "schedule",
    ranks_per_node: int = 1,
    P: int | None = None,
    library: str = "openmpi-4.1",
    in_place: bool = False,
    rank: str = "root",
    pinned: bool = False,
    gdr_limit: Any = None,
) -> Cost:
    r"""Return what a collective costs in P, n and the parameters of network and GPU, in seconds; 0 for P = 1.

    On host buffers T_net alone: the closed form of the algorithm, in P, n, alpha, beta, gamma (or L, o, g, G, gamma).
    On device buffers more (`device_cost`), with s and r bytes in the send and the receive buffer (P n for what is
    gathered, scattered or exchanged between all):

    * where the library passes device buffers on :math:`t_{leg}(s) + t_{leg}(r) + t_{call} + T_{net}`. bcast: n at the
      root and n at a receiver; gather and scatter: the buffers of the root;
    * where it copies them to the host :math:`t_{call} + T_{net}` and the copies of `bounce_copies`, with
      :math:`t_{reduce}` as the term reduce of T_net; no legs, whatever the transport. Out of place
      :math:`2 t_{d2h}(n) + t_{h2d}(n)` for allreduce, scan, exscan and the root of reduce; in place
      :math:`t_{d2h}(n) + t_{h2d}(n)`. 6.0 does so for small bcast, allgather and alltoall too, as a Piecewise in n;
    * barrier has no buffers: as on the host.

    Parameters
    ----------
    collective, algorithm : str
        Names of `list_collectives` and `list_algorithms`. allgatherv and alltoallv cost as
        their twins, but for alltoallv basic_linear, whose schedule is its own.
    network : Hockney, LogGP or TwoLevel
    buffers : str or pair of str
        "host" or "device": where the buffers of all ranks are; a pair for send and receive buffers (bcast: the root's
        and the others').
    transport : str, optional
        "staged", "gdr" or "peer"; "gdr" unless given. Where there are no device legs it has no effect, and `validity`
        says so.
    staging, bands
        As in `p2p_cost`.
    segment_bytes, fan, radix, parts, ranks_per_node
        As in `network_cost`: segments ("symbol" keeps n_s), chains below the root, radix of a tree, the parts of a
        composed algorithm such as ("reduce:binomial", "bcast:binomial"), ranks of a node for "two_level_" ones.
    root : int
        Formulas are for root 0, and for all where trees turn with the root. `validity` says what another root changes:
        in reduce, for linear (under LogGP), in-order_binary and rabenseifner.
    library : str
        Which library answers, "openmpi-4.1" (as 4.0 and 5.0) or "openmpi-6.0" or a version: what it copies to the host.
    in_place : bool
        Whether MPI_IN_PLACE is passed (in reduce, gather and scatter: at the root).
    rank : str
        "root": the rank that copies most, and leaves last. "other": in reduce, a rank that copies its send buffer only;
        T_net is then an upper bound.
    pinned : bool
        Whether staged legs go through pinned host memory. A bounce goes through pageable memory in any case.
    gdr_limit : int, text, SymPy expression or "symbol", optional
        Bytes up to which a buffer goes by GPUDirect RDMA; larger ones are staged.
    P : int, optional
        For a composed algorithm without `parts`: the number of ranks for which the library's own choice of parts is
        taken, as a Piecewise in n.
    reduction : str
        "schedule": the reductions on the critical path. "printed": gamma times the bytes of a rank's vector (n;
        P n for reduce_scatter_block), as the paper's beta_op n, on host buffers too; a gap of LogGP stays as it is.

    Raises
    ------
    UnknownNameError
        For a name or an option that is not there, and for a composed algorithm without `parts` and `P`.
    QuantityError
        For a network without closed forms, or a wrong number.

    Source: T_net derived from the schedule of the algorithm; the rest Eq. 1 and Eq. 2 of the Orrery paper (arXiv
    2610.18565), with sizes of buffers by the MPI standard and, for reductions, by reading Open MPI 4.1.6.
    """
    choose("reduction", reduction, REDUCTIONS)
    device = device_cost(collective, buffers, transport, staging, bands, library, in_place, rank, pinned, gdr_limit)
    place = twin(collective)
    cost = network_cost(collective, algorithm, network, segment_bytes, fan, radix, parts, ranks_per_node, P)
    place_of_root = whole("root", root)
    if place_of_root.ndim:
        raise QuantityError(f"root is one rank, but {shown(root)} was given.")
    if place_of_root:
        cost += Cost(validity=_OTHER_ROOTS.get((place, algorithm), ""))
    if reduction == "printed" and place in _REDUCING:
        cost = _with_printed_reduction(cost, buffer_sizes(place)[0], network)
    return cost + (device if P is None or "P" not in cost.fixed else device.at(P=P))


def _with_printed_reduction(cost: Cost, m: sp.Expr, network: Network) -> Cost:
    """Return the cost with t_reduce = m gamma, for the m bytes of a rank's vector."""
    told = f"{cost.validity}; t_reduce as printed, whatever the schedule combines"
    return Cost(cost.local, told, {**cost.collective, "reduce": m * network.gamma})
