"""Host staging in fragments: while one fragment is on the wire, the next is copied to the host and the last back.

Stages k (copy to the host, network, copy to the device) take a_k + f b_k for a fragment of f bytes. All n bytes take

    sum_k (a_k + f b_k) + (n / f - 1) max_k (a_k + f b_k),

the sum of the stages for the first fragment, and the slowest stage once more for every other one.
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import sympy as sp

from orrery_analytic.collectives.rounds import Phase, close, summand
from orrery_analytic.errors import QuantityError, choose
from orrery_analytic.gpu.copies import copy_name, copy_time, flag
from orrery_analytic.gpu.legs import BUFFERS
from orrery_analytic.gpu.pieces import Terms, by_size, joined
from orrery_analytic.networks import Hockney, LogGP
from orrery_analytic.symbols import copy_symbols, n
from orrery_analytic.units import is_finite, shown

__all__ = [
    "Stage",
    "checked_stages",
    "fragment_threshold",
    "optimal_fragment",
    "pipeline_time",
    "pipelined_terms",
    "pipeline_stages",
]

Stage = tuple[str, Any, Any]
"""A stage: its name ("d2h", "network", "h2d"), its latency a_k in s and its time a byte b_k in s/B."""


def pipeline_stages(
    network: Hockney = Hockney(),  # noqa: B008 - frozen
    send: str = "device",
    recv: str = "device",
    pinned: bool = False,
) -> tuple[Stage, ...]:
    """Return the stages of a message that is staged through the host: a copy for each device buffer, and the network.

    Raises
    ------
    QuantityError
        If no buffer is on the device, or the network is no `Hockney`: its messages hold the wire all their time.
    """
    if not isinstance(network, Hockney):
        raise QuantityError(
            f"stages are of latency and time a byte: a Hockney() network is allowed, not {shown(network)}."
        )
    flag("pinned", pinned)
    down = choose("place of a buffer", send, BUFFERS) == "device"
    up = choose("place of a buffer", recv, BUFFERS) == "device"
    if not (down or up):
        raise QuantityError("both buffers are on the host: there is nothing to stage. Allowed: send or recv 'device'.")
    first = [("d2h", *copy_symbols(copy_name("d2h", pinned)))] if down else []
    last = [("h2d", *copy_symbols(copy_name("h2d", pinned)))] if up else []
    return (*first, ("network", network.alpha, network.beta), *last)


def pipeline_time(line: tuple[Stage, ...], fragment: Any, nbytes: Any = n) -> sp.Expr:
    """Return the time of `nbytes` in fragments: the sum of the stages and (nbytes / fragment - 1) times the slowest.

    Exact where the fragment divides the message; elsewhere off by less than one fragment in every stage.
    """
    times = [latency + fragment * per_byte for _, latency, per_byte in line]
    return sp.Add(*times) + (nbytes / fragment - 1) * sp.Max(*times)


def checked_stages(line: Any) -> tuple[Stage, ...]:
    """Return the stages of `line`, those of `pipeline_stages` unless given; never text, which SymPy would run as code.

    Raises
    ------
    QuantityError
        For anything but triples of a name, a latency and a time a byte, as SymPy expressions or numbers.
    """
    if line is None:
        return pipeline_stages()
    allowed = (sp.Expr, Real)
    good = isinstance(line, tuple | list) and line and all(
        isinstance(stage, tuple | list) and len(stage) == 3 and isinstance(stage[0], str)
        and all(isinstance(e, allowed) and _is_amount(e) for e in stage[1:])
        for stage in line
    )  # fmt: skip
    if not good:
        raise QuantityError(
            f"stages are triples of a name, a latency and a time a byte, as pipeline_stages() makes them, not "
            f"{shown(line)}."
        )
    return tuple((name, a, b) for name, a, b in line)


def _is_amount(e: sp.Expr | Real) -> bool:
    """Return whether an expression, or a number, can be a size or a time: no boolean, not negative, finite."""
    if isinstance(e, sp.Expr) and not e.is_number:
        return not e.has(sp.nan, sp.oo, -sp.oo, sp.zoo)
    real = not isinstance(e, sp.Expr) or e.is_extended_real
    return not isinstance(e, bool) and bool(real) and is_finite(e) and float(e) >= 0


def _slowest(line: tuple[Stage, ...], slowest: str) -> tuple[Any, Any]:
    """Return the latency of the slowest stage, and the time a byte of all others together."""
    choose("stage", slowest, [name for name, _, _ in line])
    latencies = [a for name, a, _ in line if name == slowest]
    others = sp.Add(*(b for name, _, b in line if name != slowest))
    if len(latencies) > 1 or others == 0:
        raise QuantityError("stages have names of their own, and one besides the slowest takes time for each byte.")
    return latencies[0], others


def optimal_fragment(line: tuple[Stage, ...] | None = None, slowest: str = "network", nbytes: Any = n) -> sp.Expr:
    r"""Return the fragment size with the least time, :math:`f = \sqrt{n a_s / \sum_{k \ne s} b_k}`, in bytes.

    Stage s is the slowest one. Fragments of any size are thought of, n / f of them; `best_fragment` finds the whole
    numbers. Where the slowest stage at this f is another one, the best f is where the two take equally long.

    Parameters
    ----------
    line : tuple of stages, optional
        As `pipeline_stages` makes them; device to device through the network unless given.
    slowest : str
        "d2h", "network" or "h2d".
    nbytes : SymPy expression or number
        Bytes of the message.

    Raises
    ------
    UnknownNameError, QuantityError
        If there is no such stage, or for what is no number and no expression.

    Source: derived; the derivative of `pipeline_time` is zero there.
    """
    if not isinstance(nbytes, sp.Expr | Real) or not _is_amount(nbytes):
        raise QuantityError(f"nbytes must be a number of bytes or a SymPy expression, not {shown(nbytes)}.")
    latency, others = _slowest(checked_stages(line), slowest)
    return sp.sqrt(nbytes * latency / others)


def fragment_threshold(line: tuple[Stage, ...] | None = None, slowest: str = "network") -> sp.Expr:
    r"""Return the fragment size from which on fragments pay, :math:`a_s / \sum_{k \ne s} b_k`, in bytes.

    With fragments larger than this, every message of more than one fragment is faster than all at once; with smaller
    ones, none is. It is also the size of the smallest message that is worth cutting in two.

    Parameters
    ----------
    line, slowest
        As in `optimal_fragment`.

    Source: derived: serial less pipelined time is (n / f - 1) (f sum of b_k over k other than s, less a_s).
    """
    latency, others = _slowest(checked_stages(line), slowest)
    return latency / others


def pipelined_terms(
    fragment: Any,
    network: Hockney | LogGP = Hockney(),  # noqa: B008 - frozen
    send: str = "device",
    recv: str = "device",
    bands: Mapping[str, int] | None = None,
    pinned: bool = False,
) -> Terms:
    """Return the terms of a message of n bytes that is staged in fragments; up to one fragment, all at once.

    The network is charged in full: n / f messages, back to back. The copies add what it does not hide: the first
    fragment to the host and the last one to the device in full, and for each other fragment what the copy takes longer
    than the stages before it (the network counts as the first).

    Parameters
    ----------
    fragment : SymPy expression
        Bytes of a fragment, f.
    network : Hockney or LogGP
        Under LogGP messages back to back lie d(f) apart.
    send, recv, bands, pinned
        As in `device_leg`.

    Source: the pipeline of UCX and Open MPI's ob1; derived.
    """
    more = n / fragment - 1
    copies = {"d2h": send == "device", "h2d": recv == "device"}
    wire = summand(
        Phase("fragments back to back", 0, more - 1, fragment, back_to_back=isinstance(network, LogGP)), network
    )
    slowest = sp.Add(*wire.values())
    exposed: Terms = {}
    for way in (way for way, there in copies.items() if there):
        one = copy_time(way, fragment, bands, pinned)
        longer = sp.Max(slowest, one)
        exposed[way] = one + more * (longer - slowest)
        slowest = longer
    first = close((Phase("one fragment", 0, 0, fragment),), network)
    network_terms = joined({name: more * e for name, e in wire.items()}, first)
    whole = {name: e if e.has(sp.Max) else sp.expand(e) for name, e in network_terms.items()}
    in_fragments = joined(whole, exposed)
    at_once = joined(
        close((Phase("one message", 0, 0, n),), network),
        {way: copy_time(way, n, bands, pinned) for way, there in copies.items() if there},
    )
    return by_size((at_once, sp.Le(n, fragment)), (in_fragments, True))
