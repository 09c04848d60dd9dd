"""The host bounce of Eq. 2, library by library: which buffers a collective copies to the host and back.

Open MPI copies device buffers of some collectives to fresh, pageable host memory, runs the collective there, and copies
the result back: whole buffers, one copy after another, not overlapped with the network. `BOUNCES` says which copies.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import sympy as sp

from orrery_analytic.decisions import list_collectives
from orrery_analytic.errors import QuantityError, choose, shown, unknown_name
from orrery_analytic.gpu.copies import copy_time, flag
from orrery_analytic.gpu.legs import BUFFERS
from orrery_analytic.gpu.pieces import Terms
from orrery_analytic.symbols import P, n

__all__ = [
    "BOUNCES",
    "LIBRARIES",
    "RANKS",
    "Bounce",
    "Copies",
    "bounce_copies",
    "bounce_library",
    "buffer_places",
    "host_bounce",
]

LIBRARIES = {"openmpi-4.1": ("2.1", "3.0", "3.1", "4.0", "4.1", "5.0"), "openmpi-6.0": ("6.0",)}
"""The rules, and the releases of Open MPI (major.minor) in which each holds; read in 4.1.6, 5.0 and 6.0."""

RANKS = ("root", "other")
"""Whose copies are counted, where the root makes others than the rest."""


@dataclass(frozen=True)
class Bounce:
    """One row: what a library copies for a collective whose buffers are on the device. Sizes are bytes, in n and P.

    Attributes
    ----------
    send
        Of the send buffer to the host, unless the call is in place.
    recv
        Of the receive buffer to the host, although its contents are not needed out of place.
    back
        Of the receive buffer back to the device.
    in_place
        Of the receive buffer to the host if the call is in place.
    root_only
        Whether the receive buffer is copied at the root alone.
    one_buffer
        Whether there is one buffer for both, as in bcast.
    limit
        Largest n that bounces; None is all.
    told
        What else is known.
    """

    send: sp.Expr
    recv: sp.Expr
    back: sp.Expr
    in_place: sp.Expr
    root_only: bool = False
    one_buffer: bool = False
    limit: int | None = None
    told: str = ""


_VECTOR = Bounce(n, n, n, n)
_SCATTERED_BUG = (
    "in place only one block goes to the host although all are read, which crashes: a known bug, mended in 6.0 and "
    "late in 5.0 (open-mpi/ompi pull requests 13883, 14249)"
)

#: By reading coll/cuda of Open MPI 4.1.6 (older releases and 5.0 alike) and coll/accelerator of 6.0.
BOUNCES: Mapping[str, Mapping[str, Bounce]] = MappingProxyType(
    {
        "openmpi-4.1": MappingProxyType(
            {
                "allreduce": _VECTOR,
                "scan": _VECTOR,
                "exscan": _VECTOR,
                "reduce": Bounce(n, n, n, n, root_only=True),
                "reduce_scatter_block": Bounce(P * n, n, n, n, told=_SCATTERED_BUG),
                "reduce_scatter": Bounce(
                    n,
                    sp.S.Zero,
                    n / P,
                    n,
                    told="left alone by coll/cuda, but its algorithms copy the input to the host",
                ),
            }
        ),
        "openmpi-6.0": MappingProxyType(
            {
                "allreduce": _VECTOR,
                "scan": _VECTOR,
                "exscan": _VECTOR,
                "reduce": Bounce(n, n, n, n, root_only=True),
                "reduce_scatter_block": Bounce(P * n, n, n, P * n),
                "reduce_scatter": Bounce(n, n / P, n / P, n),
                "bcast": Bounce(n, n, n, n, one_buffer=True, limit=256),
                "allgather": Bounce(n, P * n, P * n, P * n, limit=65536),
                "alltoall": Bounce(P * n, P * n, P * n, P * n, limit=65536),
            }
        ),
    }
)


@dataclass(frozen=True)
class Copies:
    """What one call copies: bytes of each copy to the host (`down`) and back to the device (`up`), in order.

    Attributes
    ----------
    down, up
        Bytes, as expressions in n and P.
    limit
        Largest n for which the library does so; None is all.
    told
        What else is known.
    """

    down: tuple[sp.Expr, ...]
    up: tuple[sp.Expr, ...]
    limit: int | None = None
    told: str = ""


def bounce_library(library: str) -> str:
    """Return the key of `BOUNCES` that holds for a library: "openmpi-4.1", "5.0.3", "Open MPI 6.0" are understood.

    Raises
    ------
    UnknownNameError
        For anything else.
    """
    given = library.strip() if isinstance(library, str) else ""
    found = re.fullmatch(
        r"(?:(?:open[ _-]?mpi|ompi)[ _-]?)?v?(\d+\.\d+)(?:\.\d+)?(?:(?:a|rc)\d+)?", given, re.IGNORECASE
    )
    for name, releases in LIBRARIES.items():
        if found and found[1] in releases:
            return name
    raise unknown_name("library", library, [f"openmpi-{release}" for each in LIBRARIES.values() for release in each])


def buffer_places(buffers: Any) -> tuple[str, str]:
    """Return where send and receive buffers are, from "host", "device" or a pair of them.

    Raises
    ------
    UnknownNameError, QuantityError
        For another place, or what is no pair.
    """
    if isinstance(buffers, tuple | list):
        if len(buffers) != 2:
            raise QuantityError(f"buffers is one place or two, (send, receive), but {shown(buffers)} was given.")
        return choose("place of buffers", buffers[0], BUFFERS), choose("place of buffers", buffers[1], BUFFERS)
    return choose("place of buffers", buffers, BUFFERS), buffers


def bounce_copies(
    collective: str,
    library: str = "openmpi-4.1",
    buffers: str | tuple[str, str] = "device",
    in_place: bool = False,
    rank: str = "root",
) -> Copies | None:
    """Return which copies a library makes around a collective, or None where it passes device buffers on.

    Parameters
    ----------
    collective : str
        One of `list_collectives`.
    library : str
        "openmpi-4.1" (older ones and 5.0 alike: coll/cuda) or "openmpi-6.0" (coll/accelerator), or a version.
    buffers : str or pair of str
        "host" or "device", or a pair for send and receive buffer (bcast: the root's, the others').
    in_place : bool
        Whether MPI_IN_PLACE is passed (in reduce: at the root).
    rank : str
        "root" or "other"; they differ in reduce, where the root alone copies its receive buffer.

    Raises
    ------
    UnknownNameError, QuantityError
        For an option that is not there.

    Examples
    --------
    >>> bounce_copies("allreduce").down, bounce_copies("allreduce").up
    ((n, n), (n,))

    Source: coll/cuda of Open MPI 4.1.6 and coll/accelerator of 6.0, by reading; not measured.
    """
    choose("collective", collective, list_collectives())
    choose("rank", rank, RANKS)
    send, recv = buffer_places(buffers)
    row = BOUNCES[bounce_library(library)].get(collective)
    if flag("in_place", in_place) and collective in ("bcast", "barrier"):
        raise QuantityError(f"{collective} has no MPI_IN_PLACE: in_place=False is allowed.")
    if row is None:
        return None
    if row.one_buffer:
        both = (row.send,) if "device" in (send, recv) else ()
        return Copies(both, both, row.limit, row.told)
    at_root = rank == "root" or not row.root_only
    in_place = in_place and at_root
    down = [row.send] if send == "device" and not in_place else []
    if recv == "device" and at_root:
        down.append(row.in_place if in_place else row.recv)
    up = [row.back] if recv == "device" and at_root else []
    return Copies(tuple(m for m in down if m != 0), tuple(up), row.limit, row.told)


def host_bounce(down: Iterable[Any], up: Iterable[Any], bands: Mapping[str, int] | None = None) -> Terms:
    """Return the time of copies around a call that runs on the host: t_d2h of each in `down`, t_h2d of each in `up`.

    down = (n, n), up = (n,) is the host bounce 2 t_d2h(n) + t_h2d(n) of Eq. 2: the component coll/cuda of Open MPI 4.1
    copies the send buffer, and the receive buffer too, to the host, and the result back. Copies are of whole buffers,
    one after another, through pageable memory.

    Parameters
    ----------
    down, up : iterable of SymPy expressions or numbers
        Bytes of each copy to the host, and back to the device.
    bands : mapping of "d2h" and "h2d" to a number of size bands, optional

    Source: Eq. 2 of the Orrery paper; Open MPI 4.1.6, coll/cuda.
    """
    return {
        "d2h": sp.Add(*(copy_time("d2h", m, bands) for m in down)),
        "h2d": sp.Add(*(copy_time("h2d", m, bands) for m in up)),
    }
