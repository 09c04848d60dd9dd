"""One message (Eq. 1 and 2): legs, network, protocol, and staging in fragments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy as sp

from orrery_analytic.collectives.rounds import Phase, close
from orrery_analytic.cost import Cost
from orrery_analytic.errors import QuantityError, choose
from orrery_analytic.gpu import (
    BUFFERS,
    STAGINGS,
    TRANSPORTS,
    Terms,
    by_size,
    device_leg,
    eager_leg,
    flag,
    gdr_leg,
    joined,
    pipelined_terms,
    size_bands,
    size_option,
)
from orrery_analytic.networks import Hockney, LogGP
from orrery_analytic.symbols import alpha_rndv, n, n_f, s_gdr, s_rndv
from orrery_analytic.units import shown

__all__ = ["PROTOCOLS", "WAYS", "chosen_transport", "legs_told", "p2p_cost", "unused", "unused_by_legs"]

PROTOCOLS = ("eager", "rendezvous", "auto")
"""How a message starts: at once, after a handshake, or by its size."""

WAYS = (*STAGINGS, "pipelined")
"""How a staged message is read: the two readings of its legs, or both copies and the network in fragments at once."""

_LEGS = {
    "printed": "through {} host memory, d2h + h2d on each leg as Eq. 1 is printed",
    "directed": "through {} host memory, d2h where it is sent and h2d where it is received",
    "pipelined": "through {} host memory in fragments: exact where they divide n, elsewhere off by less than one",
    "gdr": "by GPUDirect RDMA",
    "peer": "over NVLink or PCIe",
}
_PROTOCOLS_TOLD = {
    "eager": "eager: the library copies it between each device buffer and its own",
    "rendezvous": "rendezvous: the handshake alpha_rndv comes first",
    "auto": "eager up to s_rndv, rendezvous above",
}


def p2p_cost(
    network: Hockney | LogGP = Hockney(),  # noqa: B008 - frozen
    send: str = "host",
    recv: str = "host",
    transport: str | None = None,
    staging: str = "printed",
    bands: Mapping[str, int] | None = None,
    protocol: str | None = None,
    pinned: bool = False,
    fragment_bytes: Any = "symbol",
    gdr_limit: Any = None,
) -> Cost:
    r"""Return what one message of n bytes costs: :math:`T_{p2p} = t_{leg}(n) + T_{net}(n) + t_{leg}(n)`, in seconds.

    Parameters
    ----------
    network : Hockney or LogGP
        T_net is alpha + n beta, or A(n) = L + 2 o + (n - 1) G. One message has no gap. For a message inside a node:
        ``Hockney(symbols.alpha_intra, symbols.beta_intra)``; over NVLink, which moves the bytes itself, with
        transport="peer", staging="directed" and ``Hockney(symbols.alpha_intra, 0)``.
    send, recv : str
        Where the two buffers are: "host" or "device".
    transport : str, optional
        How device buffers reach the network: "staged", "gdr" or "peer"; "gdr" unless given. Where both buffers are on
        the host it has no effect, and `validity` says so.
    staging : str
        "printed" charges d2h + h2d on each staged leg, and the bytes of a peer copy on both legs, as Eq. 1 is printed;
        "directed" charges d2h at the sender and h2d at the receiver, and the bytes of a peer copy once; "pipelined"
        stages in fragments, of which one is copied while another is on the wire.
    bands : mapping of "d2h" and "h2d" to a number of size bands, optional
        One each unless given; ``machine.bands`` for those of a machine.
    protocol : str, optional
        None: one latency for all sizes, as in Eq. 2. "eager": with GPUDirect or a peer, the leg of a device buffer is
        alpha_gdr + n beta_eager. "rendezvous": alpha_rndv more, and a leg by GPUDirect alpha_gdr + n beta_gdr.
        "auto": eager up to s_rndv bytes, rendezvous above.
    pinned : bool
        Whether staged copies go through pinned host memory (alpha_pinned_d2h ...), as point-to-point layers do;
        ``machine.pinned`` says whether a machine file has numbers for it. Else the copies are those of a bounce.
    fragment_bytes : int, text, SymPy expression or "symbol"
        Bytes of a fragment with staging="pipelined"; "symbol" keeps n_f. See `optimal_fragment`, `best_fragment`.
    gdr_limit : int, text, SymPy expression or "symbol", optional
        Bytes up to which a message goes by GPUDirect RDMA; larger ones are staged. "symbol" keeps s_gdr.

    Returns
    -------
    Cost
        Terms latency, bandwidth, and those of the legs. Terms that switch with the size are Piecewise in n.

    Raises
    ------
    UnknownNameError
        For an option that is not there.
    QuantityError
        For a network without closed forms, or a wrong number.

    Source: Eq. 1 and Eq. 2 of the Orrery paper (arXiv 2610.18565); protocol and pipeline after UCX 1.15, derived.
    """
    if not isinstance(network, Hockney | LogGP):
        raise QuantityError(
            f"a message has a formula for Hockney() and LogGP(), not {shown(network)}. Of a TwoLevel, give its between "
            "for a message between nodes, its inside for one inside a node."
        )
    message = _Message(network, send, recv, staging, bands, pinned, fragment_bytes)
    chosen = chosen_transport(transport)
    if protocol is not None:
        choose("protocol", protocol, PROTOCOLS)
    limit = None if gdr_limit is None else size_option("gdr_limit", gdr_limit, s_gdr)
    on_device = "device" in (send, recv)
    large = message.terms(chosen, protocol)
    if limit is not None and chosen == "gdr" and on_device:
        large = by_size((large, sp.Le(n, limit)), (message.terms("staged", protocol), True))
    terms = by_size((message.terms(chosen, "eager"), sp.Le(n, s_rndv)), (large, True)) if protocol == "auto" else large
    told = ["one message of at least one byte: exact"]
    told += [_PROTOCOLS_TOLD[protocol]] if protocol else []
    if on_device:
        told += [legs_told(chosen, staging, pinned, limit), unused_by_legs(chosen, staging, pinned, limit)]
    else:
        told.append(unused("there are no device buffers", transport, staging, pinned, limit))
    return Cost(terms, "; ".join(filter(None, told)))


class _Message:
    """The terms of one message, for each transport and protocol."""

    def __init__(
        self,
        network: Hockney | LogGP,
        send: str,
        recv: str,
        staging: str,
        bands: Mapping[str, int] | None,
        pinned: bool,
        fragment_bytes: Any,
    ) -> None:
        self.network, self.bands, self.pinned = network, bands, flag("pinned", pinned)
        self.ends = {
            end: choose("place of a buffer", place, BUFFERS) for end, place in (("send", send), ("recv", recv))
        }
        self.staging = choose("staging", staging, WAYS)
        self.fragment = size_option("fragment_bytes", fragment_bytes, n_f)
        size_bands(bands)

    def terms(self, transport: str, protocol: str | None) -> Terms:
        """Return the terms with one transport and protocol, for all sizes."""
        handshake = {"latency": alpha_rndv} if protocol in ("rendezvous", "auto") else {}
        if transport == "staged" and self.staging == "pipelined" and "device" in self.ends.values():
            return joined(handshake, pipelined_terms(self.fragment, self.network, **self.ends, bands=self.bands,
                                                     pinned=self.pinned))  # fmt: skip
        legs = [self._leg(end, transport, protocol) for end, place in self.ends.items() if place == "device"]
        return joined(close((Phase("one message", 0, 0, n),), self.network), handshake, *legs)

    def _leg(self, end: str, transport: str, protocol: str | None) -> Terms:
        if protocol == "eager" and transport != "staged":
            return eager_leg(n)
        if protocol is not None and transport == "gdr":
            return gdr_leg(n)
        reading = "directed" if self.staging == "pipelined" else self.staging
        return device_leg(n, end, "device", transport, reading, self.bands, self.pinned)


def chosen_transport(transport: str | None) -> str:
    """Return the transport, "gdr" unless given."""
    return "gdr" if transport is None else choose("transport", transport, TRANSPORTS)


def unused(
    why: str, transport: str | None = None, staging: str = "printed", pinned: bool = False, limit: Any = None
) -> str:
    """Return what `validity` says of options that were given and have no effect; "" if none was."""
    names = [
        *([f"transport {transport!r}"] if transport is not None else []),
        *([f"staging {staging!r}"] if staging != "printed" else []),
        *(["pinned"] if pinned else []),
        *(["gdr_limit"] if limit is not None else []),
    ]
    return f"{' and '.join(names)} {'have' if names[1:] else 'has'} no effect: {why}" if names else ""


def unused_by_legs(transport: str, staging: str, pinned: bool, limit: Any) -> str:
    """Return the same of the legs of device buffers: what is not staged takes no option of staging."""
    if transport == "staged":
        return unused("every buffer is staged", limit=limit)
    if transport == "peer":
        return unused("nothing is staged", pinned=pinned, limit=limit)
    return unused("nothing is staged", staging=staging, pinned=pinned) if limit is None else ""


def legs_told(transport: str, staging: str, pinned: bool, limit: Any = None) -> str:
    """Return what `validity` says of the legs of device buffers."""
    staged = _LEGS[staging].format("pinned" if pinned else "pageable")
    way = staged if transport == "staged" else _LEGS[transport]
    if transport == "gdr" and limit is not None:
        way += f" up to {limit} bytes, above {staged}"
    return f"device buffers: one leg for each, {way}" + ("" if "in fragments" in way else "; nothing overlaps")
