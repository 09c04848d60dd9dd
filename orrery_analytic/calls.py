"""One MPI call, or one kernel, put together: `p2p_cost`, `collective_cost` (Eq. 2), `kernel_cost` (Eq. 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import sympy as sp

from orrery_analytic.collectives.formulas import network_cost
from orrery_analytic.collectives.registry import twin
from orrery_analytic.collectives.rounds import Phase, close
from orrery_analytic.cost import Cost
from orrery_analytic.decisions.whole import whole
from orrery_analytic.errors import QuantityError, choose
from orrery_analytic.gpu import BUFFERS, STAGINGS, TRANSPORTS, device_leg, host_bounce, size_bands
from orrery_analytic.kernels import kernel_terms
from orrery_analytic.networks import Hockney, LogGP
from orrery_analytic.symbols import P, n, t_call

__all__ = ["REDUCTIONS", "collective_cost", "kernel_cost", "p2p_cost"]

REDUCTIONS = ("schedule", "printed")
"""How t_reduce of Eq. 2 is read: what the schedule combines, or gamma times the bytes of a rank's vector."""

#: Bytes of the send buffer and of the receive buffer: of any rank; with a root, of the rank that has the larger ones.
_SIZES: Mapping[str, tuple[sp.Expr, sp.Expr]] = MappingProxyType(
    {
        "allgather": (n, P * n),
        "alltoall": (P * n, P * n),
        "bcast": (n, n),
        "gather": (n, P * n),
        "scatter": (P * n, n),
        "allreduce": (n, n),
        "exscan": (n, n),
        "reduce": (n, n),
        "reduce_scatter": (n, n / P),
        "reduce_scatter_block": (P * n, n),
        "scan": (n, n),
    }
)

_BOUNCED = ("allreduce", "exscan", "reduce", "reduce_scatter_block", "scan")
_REDUCING = (*_BOUNCED, "reduce_scatter")

_OTHER_ROOTS = {
    ("reduce", "linear"): "root other than 0: under LogGP an upper bound where g > o",
    ("reduce", "in-order_binary"): "root P - 1: less by the last message of n bytes, as the result need not be sent on",
    (
        "reduce",
        "rabenseifner",
    ): "odd roots below 2 (P - 2**floor(log2 P)): more by a message of n / 2**floor(log2 P) bytes",
}

_LEGS = {
    "printed": "through host memory, d2h + h2d on each leg as Eq. 1 is printed",
    "directed": "through host memory, d2h where it is sent and h2d where it is received",
    "gdr": "by GPUDirect RDMA",
    "peer": "over NVLink or PCIe",
}
_BOUNCE = (
    "device buffers, out of place: the library copies {} to the host, reduces there and copies the result back, one "
    "after another with the network; the transport plays no part"
)


def p2p_cost(
    network: Hockney | LogGP = Hockney(),  # noqa: B008 - frozen
    send: str = "host",
    recv: str = "host",
    transport: str | None = None,
    staging: str = "printed",
    bands: Mapping[str, int] | None = None,
) -> Cost:
    r"""Return what one message of n bytes costs: :math:`T_{p2p} = t_{leg}(n) + T_{net}(n) + t_{leg}(n)`, in seconds.

    Parameters
    ----------
    network : Hockney or LogGP
        T_net is alpha + n beta, or A(n) = L + 2 o + (n - 1) G. One message has no gap. For a message inside a node:
        ``Hockney(symbols.alpha_intra, symbols.beta_intra)``.
    send, recv : str
        Where the two buffers are: "host" or "device".
    transport : str, optional
        How device buffers reach the network: "staged", "gdr" or "peer"; "gdr" unless given. Where both buffers are on
        the host it has no effect, and `validity` says so.
    staging : str
        "printed" charges d2h + h2d on each staged leg, as Eq. 1 is printed; "directed" charges d2h at the sender and
        h2d at the receiver.
    bands : mapping of "d2h" and "h2d" to a number of size bands, optional
        One each unless given; ``machine.bands`` for those of a machine.

    Raises
    ------
    UnknownNameError
        For an option that is not there.
    QuantityError
        For a network without closed forms, or a wrong number of bands.

    Source: Eq. 1 and Eq. 2 of the Orrery paper (arXiv 2610.18565).
    """
    if not isinstance(network, Hockney | LogGP):
        raise QuantityError(
            f"a message has a formula for Hockney() and LogGP(), not {network!r}; give one level of it."
        )
    chosen = _transport(transport)
    legs = [
        Cost(device_leg(n, end, buffer, chosen, staging, bands)) for end, buffer in (("send", send), ("recv", recv))
    ]
    message = Cost(close((Phase("one message", 0, 0, n),), network), "one message of at least one byte: exact")
    on_device = "device" in (send, recv)
    return sum(legs, message + Cost(validity=_legs_told(chosen, staging) if on_device else _unused(transport)))


def collective_cost(
    collective: str,
    algorithm: str,
    network: Hockney | LogGP = Hockney(),  # noqa: B008 - frozen
    buffers: str = "host",
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
) -> Cost:
    r"""Return what a collective costs in P, n and the parameters of network and GPU, in seconds; 0 for P = 1.

    On host buffers T_net alone: the closed form of the algorithm, in P, n, alpha, beta, gamma (or L, o, g, G, gamma).
    On device buffers, with s and r bytes in the send and the receive buffer (P n for what is gathered, scattered or
    exchanged between all):

    * without a reduction :math:`t_{leg}(s) + t_{leg}(r) + t_{call} + T_{net}`. bcast: n at the root and n at a
      receiver; gather and scatter: the buffers of the root;
    * with one :math:`2 t_{d2h}(n) + t_{h2d}(n) + t_{call} + T_{net}`, as Open MPI's coll/cuda copies both buffers to
      the host (reduce: at the root), with :math:`t_{reduce}` as the term reduce of T_net; no legs, whatever the
      transport. reduce_scatter_block: :math:`t_{d2h}(P n) + t_{d2h}(n) + t_{h2d}(n)`. reduce_scatter, which
      coll/cuda leaves alone: :math:`t_{d2h}(n) + t_{h2d}(n / P)`, as its algorithms copy the input to host memory;
    * barrier has no buffers: as on the host.

    Parameters
    ----------
    collective, algorithm : str
        Names of `list_collectives` and `list_algorithms`. allgatherv and alltoallv cost as their twins.
    network : Hockney or LogGP
    buffers : str
        "host" or "device": where the buffers of all ranks are.
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
    chosen = _transport(transport)
    choose("place of buffers", buffers, BUFFERS)
    choose("staging", staging, STAGINGS)
    choose("reduction", reduction, REDUCTIONS)
    size_bands(bands)
    place = twin(collective)
    cost = network_cost(collective, algorithm, network, segment_bytes, fan, radix, parts, ranks_per_node, P)
    if whole("root", root).any():
        cost += Cost(validity=_OTHER_ROOTS.get((place, algorithm), ""))
    if reduction == "printed" and place in _REDUCING:
        cost = _with_printed_reduction(cost, _SIZES[place][0], network)
    if buffers == "host":
        return cost + Cost(validity=_unused(transport))
    if place not in _SIZES:
        return cost + Cost(validity=f"{collective} has no buffers: as on the host")
    return cost + Cost(collective={"call": t_call}) + _device_part(place, chosen, staging, bands)


def kernel_cost(work: Any = None, sync: bool = True) -> Cost:
    r"""Return what a kernel costs: :math:`T = t_{launch} + W / R`, and :math:`t_{sync}` as its own term, in seconds.

    Parameters
    ----------
    work : SymPy expression or number, optional
        Bytes that the kernel touches; the symbol W unless given.
    sync : bool
        Whether the host waits for the kernel here. A program that launches several kernels and waits once adds the
        costs of those without and of one with.

    Raises
    ------
    QuantityError
        If `work` is no SymPy expression and no number of at least 0.

    Source: Eq. 3 of the Orrery paper, reconstructed from its Table I.
    """
    return Cost(kernel_terms(work, sync), "a kernel bound by memory, at one measured rate; nothing overlaps")


def _transport(transport: str | None) -> str:
    return "gdr" if transport is None else choose("transport", transport, TRANSPORTS)


def _unused(transport: str | None) -> str:
    """Return what a transport without device legs is told: that it has no effect."""
    return "" if transport is None else f"transport {transport!r} has no effect: there are no device buffers"


def _legs_told(transport: str, staging: str) -> str:
    way = _LEGS[staging if transport == "staged" else transport]
    return f"device buffers: one leg for each, {way}; nothing overlaps"


def _with_printed_reduction(cost: Cost, m: sp.Expr, network: Hockney | LogGP) -> Cost:
    """Return the cost with t_reduce = m gamma, for the m bytes of a rank's vector."""
    told = f"{cost.validity}; t_reduce as printed, whatever the schedule combines"
    return Cost(cost.local, told, {**cost.collective, "reduce": m * network.gamma})


def _device_part(place: str, transport: str, staging: str, bands: Mapping[str, int] | None) -> Cost:
    """Return what Eq. 2 adds to call and network: the legs of both buffers, or the host bounce of a reduction."""
    sent, received = _SIZES[place]
    if place in _BOUNCED:
        told = _BOUNCE.format("both buffers")
        return Cost(validity=told, collective=host_bounce((sent, received), (received,), bands))
    if place in _REDUCING:
        told = _BOUNCE.format("the send buffer (by reading its source)")
        return Cost(validity=told, collective=host_bounce((sent,), (received,), bands))
    legs = [
        Cost(collective=device_leg(m, end, "device", transport, staging, bands))
        for end, m in (("send", sent), ("recv", received))
    ]
    return sum(legs, Cost(validity=_legs_told(transport, staging)))
