"""The device leg of Eq. 1: what one buffer costs between its memory and the network. Terms: d2h, h2d, gdr, peer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy as sp

from orrery_analytic.errors import choose
from orrery_analytic.gpu.copies import copy_time, flag, size_bands
from orrery_analytic.gpu.pieces import Terms, by_size, size_option
from orrery_analytic.symbols import alpha_gdr, alpha_peer, beta_eager, beta_gdr, beta_peer, s_gdr

__all__ = [
    "BUFFERS",
    "STAGINGS",
    "TRANSPORTS",
    "device_leg",
    "eager_leg",
    "gdr_leg",
    "peer_leg",
    "staged_leg",
]

BUFFERS = ("host", "device")
"""Where a buffer may be."""

TRANSPORTS = ("staged", "gdr", "peer")
"""How a device buffer reaches the network: through host memory, GPUDirect RDMA, NVLink or PCIe peer."""

STAGINGS = ("printed", "directed")
"""How legs are read: as Eq. 1 is printed, or so that bytes are charged once, in the direction in which they go."""

_ENDS = ("send", "recv")


def staged_leg(
    m: Any, end: str, staging: str = "printed", bands: Mapping[str, int] | None = None, pinned: bool = False
) -> Terms:
    """Return the leg of m bytes through host memory: t_d2h(m) + t_h2d(m) as printed in Eq. 1.

    With staging="directed": t_d2h(m) alone at the sender (end="send"), t_h2d(m) alone at the receiver (end="recv").
    The paper charges both copies on every leg; a transfer from device to device then counts each copy twice.
    """
    down, up = {"d2h": copy_time("d2h", m, bands, pinned)}, {"h2d": copy_time("h2d", m, bands, pinned)}
    if staging == "directed":
        return down if end == "send" else up
    return {**down, **up}


def gdr_leg(m: Any = 0) -> Terms:
    """Return the leg by GPUDirect RDMA, alpha_gdr: whatever the bytes, which the network itself carries (Eq. 1).

    With m bytes alpha_gdr + m beta_gdr, for hardware that reads GPU memory more slowly than the network sends.
    """
    return {"gdr": alpha_gdr + m * beta_gdr}


def eager_leg(m: Any) -> Terms:
    """Return the leg of an eager message of m bytes, alpha_gdr + m beta_eager.

    The library copies it between the device buffer and one of its own, through a mapping of GPU memory (gdrcopy).

    Source: UCX 1.15, which does so for every transport but staging; derived.
    """
    return {"gdr": alpha_gdr + m * beta_eager}


def peer_leg(m: Any, end: str = "send", staging: str = "printed") -> Terms:
    """Return the leg of m bytes over NVLink or PCIe to a peer: alpha_peer + m beta_peer (Eq. 1).

    With staging="directed" the bytes are charged at the receiver alone, which fetches them: one copy moves them.
    """
    return {"peer": alpha_peer if staging == "directed" and end == "send" else alpha_peer + m * beta_peer}


def device_leg(
    m: Any,
    end: str,
    buffer: str = "device",
    transport: str = "gdr",
    staging: str = "printed",
    bands: Mapping[str, int] | None = None,
    pinned: bool = False,
    gdr_limit: Any = None,
) -> Terms:
    """Return t_leg(m) of Eq. 1 as named terms, in seconds: what one buffer costs between its memory and the network.

    Charged once for each device buffer, on the rank that owns it. A buffer on the host has no terms: it costs 0.

    Parameters
    ----------
    m : SymPy expression or number
        Bytes of the buffer.
    end : str
        "send" or "recv": what the buffer is for.
    buffer : str
        "host" or "device".
    transport : str
        "staged", "gdr" or "peer".
    staging : str
        "printed" or "directed" (`staged_leg`, `peer_leg`); GPUDirect RDMA is alike at both ends.
    bands : mapping of a copy ("d2h", "h2d") to a number of size bands, optional
    pinned : bool
        Whether staged legs go through pinned host memory.
    gdr_limit : int, text, SymPy expression or "symbol", optional
        Bytes up to which a buffer goes by GPUDirect RDMA; larger ones are staged. "symbol" keeps s_gdr.

    Raises
    ------
    UnknownNameError, QuantityError
        For an option that is not there; for a wrong number.

    Source: Eq. 1 of the Orrery paper; the limit as in Open MPI's openib (30000 B) and MVAPICH2-GDR.
    """
    choose("end", end, _ENDS)
    choose("transport", transport, TRANSPORTS)
    choose("staging", staging, STAGINGS)
    size_bands(bands)
    flag("pinned", pinned)
    limit = None if gdr_limit is None else size_option("gdr_limit", gdr_limit, s_gdr)
    if choose("place of a buffer", buffer, BUFFERS) == "host":
        return {}
    if transport == "peer":
        return peer_leg(m, end, staging)
    staged = staged_leg(m, end, staging, bands, pinned)
    if transport == "staged":
        return staged
    return gdr_leg() if limit is None else by_size((gdr_leg(), sp.Le(m, limit)), (staged, True))
