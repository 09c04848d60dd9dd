"""What device buffers cost: copies between device and host, the device leg (Eq. 1), the host bounce (of Eq. 2).

Equations are those of the Orrery paper (arXiv 2610.18565, section III-B). Terms come by name: d2h, h2d, gdr, peer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Any

import sympy as sp

from orrery_analytic.errors import QuantityError, choose
from orrery_analytic.symbols import alpha_gdr, alpha_peer, band_symbols, beta_peer, copy_symbols

__all__ = [
    "BUFFERS",
    "STAGINGS",
    "TRANSPORTS",
    "device_leg",
    "gdr_leg",
    "host_bounce",
    "peer_leg",
    "size_bands",
    "staged_leg",
    "t_d2h",
    "t_h2d",
]

BUFFERS = ("host", "device")
"""Where a buffer may be."""

TRANSPORTS = ("staged", "gdr", "peer")
"""How a device buffer reaches the network: through host memory, GPUDirect RDMA, NVLink or PCIe peer."""

STAGINGS = ("printed", "directed")
"""How a staged leg is read: d2h + h2d for each leg (Eq. 1 as printed), or d2h at the sender and h2d at the receiver."""

_ENDS = ("send", "recv")
_COPIES = ("d2h", "h2d")

Terms = dict[str, sp.Expr]


def size_bands(bands: Mapping[str, int] | None) -> dict[str, int]:
    """Return the number of size bands of both copies; one band where `bands` does not say.

    Parameters
    ----------
    bands : mapping such as {"d2h": 2, "h2d": 1}, optional
        `Machine.bands` is one.

    Raises
    ------
    UnknownNameError
        For a copy that is neither "d2h" nor "h2d".
    QuantityError
        If `bands` is no mapping, or a number of bands is not a whole number of at least 1.
    """
    if bands is not None and not isinstance(bands, Mapping):
        raise QuantityError(f'bands must be a mapping such as {{"d2h": 2, "h2d": 2}}, but {bands!r} was given.')
    counts = dict.fromkeys(_COPIES, 1)
    for copy, count in (bands or {}).items():
        if isinstance(count, bool) or not isinstance(count, Integral) or not 1 <= count <= 64:
            raise QuantityError(f"bands[{copy!r}] must be a whole number from 1 to 64, but {count!r} was given.")
        counts[choose("copy", copy, _COPIES)] = int(count)
    return counts


def _copy_time(copy: str, m: Any, bands: int) -> sp.Expr:
    """Return latency + m * (time a byte) of the size band that holds m bytes; a limit belongs to the band below it."""
    if bands == 1:
        latency, per_byte = copy_symbols(copy)
        return latency + m * per_byte
    rows = band_symbols(copy, bands)
    return sp.Piecewise(*((a + m * b, True if limit is None else sp.Le(m, limit)) for a, b, limit in rows))


def t_d2h(m: Any, bands: int = 1) -> sp.Expr:
    r"""Return the time of a copy of m bytes to the host, :math:`\alpha_{d2h} + m \beta_{d2h}`, in seconds.

    With k > 1 size bands :math:`\alpha_{d2h,i} + m \beta_{d2h,i}` for the first band i with :math:`m \le s_{d2h,i}`;
    the last band has no limit.

    Parameters
    ----------
    m : SymPy expression or number
        Bytes, at least 1.
    bands : int
        Number of size bands, k.

    Source: Table I of the Orrery paper ("copy latency, banded bandwidth").
    """
    return _copy_time("d2h", m, bands)


def t_h2d(m: Any, bands: int = 1) -> sp.Expr:
    r"""Return the time of a copy of m bytes to the device, :math:`\alpha_{h2d} + m \beta_{h2d}`; else as `t_d2h`."""
    return _copy_time("h2d", m, bands)


def staged_leg(m: Any, end: str, staging: str = "printed", bands: Mapping[str, int] | None = None) -> Terms:
    """Return the leg of m bytes through host memory: t_d2h(m) + t_h2d(m) as printed in Eq. 1.

    With staging="directed": t_d2h(m) alone at the sender (end="send"), t_h2d(m) alone at the receiver (end="recv").
    The paper charges both copies on every leg; a transfer from device to device then counts each copy twice.
    """
    counts = size_bands(bands)
    if staging == "directed":
        return {"d2h": t_d2h(m, counts["d2h"])} if end == "send" else {"h2d": t_h2d(m, counts["h2d"])}
    return {"d2h": t_d2h(m, counts["d2h"]), "h2d": t_h2d(m, counts["h2d"])}


def gdr_leg() -> Terms:
    """Return the leg by GPUDirect RDMA, alpha_gdr: whatever the bytes, which the network itself carries (Eq. 1)."""
    return {"gdr": alpha_gdr}


def peer_leg(m: Any) -> Terms:
    """Return the leg of m bytes over NVLink or PCIe to a peer: alpha_peer + m beta_peer (Eq. 1)."""
    return {"peer": alpha_peer + m * beta_peer}


def device_leg(
    m: Any,
    end: str,
    buffer: str = "device",
    transport: str = "gdr",
    staging: str = "printed",
    bands: Mapping[str, int] | None = None,
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
        "printed" or "directed" (`staged_leg`); the other transports are alike at both ends.
    bands : mapping of "d2h" and "h2d" to a number of size bands, optional

    Raises
    ------
    UnknownNameError, QuantityError
        For an option that is not there; for a wrong number of bands.

    Source: Eq. 1 of the Orrery paper.
    """
    choose("end", end, _ENDS)
    choose("transport", transport, TRANSPORTS)
    choose("staging", staging, STAGINGS)
    size_bands(bands)
    if choose("place of a buffer", buffer, BUFFERS) == "host":
        return {}
    if transport == "staged":
        return staged_leg(m, end, staging, bands)
    return gdr_leg() if transport == "gdr" else peer_leg(m)


def host_bounce(down: Iterable[Any], up: Iterable[Any], bands: Mapping[str, int] | None = None) -> Terms:
    """Return the copies of a reduction that runs on the host: t_d2h of each size in `down`, t_h2d of each in `up`.

    down = (n, n), up = (n,) is the host bounce 2 t_d2h(n) + t_h2d(n) of Eq. 2: the component coll/cuda of Open MPI 4.1
    copies the send buffer, and the receive buffer too, to the host, and the result back. Copies are of whole buffers,
    one after another.

    Parameters
    ----------
    down, up : iterable of SymPy expressions or numbers
        Bytes of each copy to the host, and back to the device.
    bands : mapping of "d2h" and "h2d" to a number of size bands, optional

    Source: Eq. 2 of the Orrery paper; Open MPI 4.1.6, coll/cuda.
    """
    counts = size_bands(bands)
    return {
        "d2h": sp.Add(*(t_d2h(m, counts["d2h"]) for m in down)),
        "h2d": sp.Add(*(t_h2d(m, counts["h2d"]) for m in up)),
    }
