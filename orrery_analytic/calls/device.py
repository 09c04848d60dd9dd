"""What device buffers add to a collective (Eq. 1 and 2): the call, and legs or the copies that the library makes."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import sympy as sp

from orrery_analytic.calls.p2p import chosen_transport, legs_told, unused, unused_by_legs
from orrery_analytic.collectives.registry import twin
from orrery_analytic.cost import Cost
from orrery_analytic.errors import choose
from orrery_analytic.gpu import (
    STAGINGS,
    bounce_copies,
    buffer_places,
    by_size,
    device_leg,
    flag,
    host_bounce,
    joined,
    size_bands,
    size_option,
)
from orrery_analytic.symbols import P, n, s_gdr, t_call

__all__ = ["buffer_sizes", "device_cost"]

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

#: Where a rank has one buffer alone if the call is in place. At the root of gather or scatter it spares nothing: the
#: others have their buffers all the same.
_ONE_IN_PLACE = ("allgather", "alltoall")

_BOUNCE = (
    "the library copies {} to the host and {} back, one after another with the network, through pageable memory; "
    "the transport plays no part"
)
_NO_LEGS = "the library copies the buffers to the host, and passes none to the network"


def buffer_sizes(collective: str) -> tuple[sp.Expr, ...]:
    """Return the bytes of the send and of the receive buffer, of the rank that has the larger ones; () for barrier."""
    return _SIZES.get(twin(collective), ())


def device_cost(
    collective: str,
    buffers: str | tuple[str, str] = "device",
    transport: str | None = None,
    staging: str = "printed",
    bands: Mapping[str, int] | None = None,
    library: str = "openmpi-4.1",
    in_place: bool = False,
    rank: str = "root",
    pinned: bool = False,
    gdr_limit: Any = None,
) -> Cost:
    """Return what buffers on the device add to a collective on host buffers, whatever its algorithm; 0 for P = 1.

    t_call, and the copies that the library makes (`bounce_copies`), or, where it passes device buffers on, the leg of
    each buffer that is on the device. With limits, terms are Piecewise in n.

    Parameters
    ----------
    collective : str
        One of `list_collectives`.
    buffers, transport, staging, bands, library, in_place, rank, pinned, gdr_limit
        As in `collective_cost`.

    Raises
    ------
    UnknownNameError, QuantityError
        For an option that is not there, or a wrong number.

    Source: Eq. 1 and Eq. 2 of the Orrery paper; sizes of buffers by the MPI standard; copies by reading Open MPI.
    """
    chosen = chosen_transport(transport)
    places = buffer_places(buffers)
    choose("staging", staging, STAGINGS)
    counts = size_bands(bands)
    copies = bounce_copies(collective, library, places, in_place, rank)
    limit = None if gdr_limit is None else size_option("gdr_limit", gdr_limit, s_gdr)
    flag("pinned", pinned)
    given = transport, staging, pinned, limit
    if "device" not in places:
        return Cost(validity=unused("there are no device buffers", *given))
    ends = [*zip(("send", "recv"), buffer_sizes(collective), places, strict=False)]
    if not ends:
        told = f"{collective} has no buffers: as on the host"
        return Cost(validity="; ".join(filter(None, (told, unused("there are no buffers", *given)))))
    if in_place and twin(collective) in _ONE_IN_PLACE:
        ends = ends[1:]
    legs = joined(*(device_leg(m, end, at, chosen, staging, counts, pinned, limit) for end, m, at in ends))
    told = legs_told(chosen, staging, pinned, limit)
    idle = unused_by_legs(chosen, staging, pinned, limit)
    if copies is not None:
        bounce = host_bounce(copies.down, copies.up, counts)
        says = "; ".join(filter(None, (_BOUNCE.format(_listed(copies.down), _listed(copies.up)), copies.told)))
        if copies.limit is None:
            legs, told, idle = bounce, f"device buffers: {says}", unused(_NO_LEGS, *given)
        else:
            legs = by_size((bounce, sp.Le(n, copies.limit)), (legs, True))
            told = f"device buffers up to n = {copies.limit} bytes: {says}; above: {told}"
    return Cost(validity="; ".join(filter(None, (told, idle))), collective={"call": t_call, **legs})


def _listed(sizes: tuple[sp.Expr, ...]) -> str:
    """Return sizes as text: "n + n bytes", or "nothing"."""
    return f"{' + '.join(map(str, sizes))} bytes" if sizes else "nothing"
