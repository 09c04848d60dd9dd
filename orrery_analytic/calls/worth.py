"""When is it worth it: staging by hand against the library, GPUDirect RDMA against staging, as sizes in closed form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import signature
from typing import Any

import sympy as sp

from orrery_analytic.calls.collective import collective_cost
from orrery_analytic.calls.device import buffer_sizes, device_cost
from orrery_analytic.calls.p2p import p2p_cost
from orrery_analytic.cost import Cost
from orrery_analytic.errors import QuantityError, choose
from orrery_analytic.gpu import copy_time, flag, pipeline_stages, pipeline_time, size_bands, size_option
from orrery_analytic.networks import Hockney
from orrery_analytic.symbols import alpha_rndv, n, n_f
from orrery_analytic.units import readable, shown

__all__ = ["Threshold", "bounce_threshold", "by_hand_cost", "staging_threshold"]


_NOT_FINITE = (sp.nan, sp.oo, -sp.oo, sp.zoo)


@dataclass(frozen=True)
class Threshold:
    """The size at which one way of doing it becomes cheaper than another.

    Attributes
    ----------
    size
        Bytes at which both take equally long: a fraction in the symbols, or a number; infinity where one is the cheaper
        for all sizes.
    below, above
        Which is cheaper for smaller and for larger sizes.
    where
        What must hold for it to be so; true where all is numbers.
    """

    size: sp.Expr
    below: str
    above: str
    where: Any = sp.true

    def __str__(self) -> str:
        if self.size == sp.oo:
            return f"{self.below}, whatever the size"
        size = readable(float(self.size), "B") if self.size.is_number else str(self.size)
        told = f"{self.below} up to {size}, {self.above} above"
        return told if self.where == sp.true else f"{told}, where {self.where}"


def _line(e: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Return what a time takes at n = 0 and for each byte."""
    e = sp.expand(e)
    slope = e.coeff(n, 1)
    start = sp.expand(e - n * slope)
    if start.has(n) or slope.has(n):
        raise QuantityError(
            f"a straight line in n has one crossing, but the difference of these costs is none: {shown(e)}. Give the "
            "pieces apart (another protocol, one size band, a number for the fragment), or use crossover."
        )
    return start, slope


def _handover(first: Cost, second: Cost, names: tuple[str, str]) -> Threshold:
    """Return the size up to which `first` is the cheaper, n = (a_2 - a_1) / (b_1 - b_2) for costs a + b n each."""
    start, slope = _line(first.total - second.total)
    if start.has(*_NOT_FINITE) or slope.has(*_NOT_FINITE):
        raise QuantityError("one of the costs is not finite, so that they have no crossing: give finite numbers.")
    if not (start.is_number and slope.is_number):
        if slope == 0:
            return Threshold(sp.oo, names[0], names[0], sp.Lt(start, 0))
        size = sp.together(-start / slope)
        return Threshold(size, names[0], names[1], sp.And(sp.Lt(start, 0), sp.Gt(slope, 0)))
    if start * slope >= 0:  # one of them starts lower and stays so
        always = names[0] if start + slope <= 0 else names[1]
        return Threshold(sp.oo, always, always)
    below, above = names if start < 0 else names[::-1]
    return Threshold(-start / slope, below, above)


def staging_threshold(
    machine: Any = None,
    network: Hockney = Hockney(),  # noqa: B008 - frozen
    pinned: bool = False,
    fragment_bytes: Any = None,
    send: str = "device",
    recv: str = "device",
) -> Threshold:
    """Return the message size up to which GPUDirect RDMA is cheaper than staging: what to set a limit to.

    GPUDirect costs alpha_gdr + n beta_gdr a device buffer more than a message from host memory, staging its copies.

    Parameters
    ----------
    machine : Machine or mapping of symbol name to number, optional
        Numbers; a closed form in the symbols unless given.
    network : Hockney
    pinned : bool
        Whether the copies go through pinned memory.
    fragment_bytes : int, text, SymPy expression or "symbol", optional
        Against staging in such fragments (a message of no more than one is staged at once); one copy after the other
        unless given.
    send, recv : str
        Where the buffers are; one of them at least on the device.

    Raises
    ------
    UnknownNameError, QuantityError
        For an option that is not there, or a wrong number.

    Source: derived.
    """
    direct = p2p_cost(network, send, recv, "gdr", protocol="rendezvous")
    staged = p2p_cost(network, send, recv, "staged", "directed", protocol="rendezvous", pinned=pinned)
    names = ("gdr", "staged")
    if machine is not None:
        direct, staged = direct.at(machine), staged.at(machine)
    at_once = _handover(direct, staged, names)
    if fragment_bytes is None:
        return at_once
    fragment = size_option("fragment_bytes", fragment_bytes, n_f)
    time = pipeline_time(pipeline_stages(network, send, recv, pinned), fragment)
    more = _handover(direct, Cost({"latency": alpha_rndv, "bandwidth": time}).at(machine), names)
    if not (at_once.size.is_number and more.size.is_number and fragment.is_number):
        return Threshold(more.size, more.below, more.above, sp.And(more.where, sp.Gt(more.size, fragment)))
    if at_once.size <= fragment:  # such messages are no more than one fragment
        return at_once
    return more if more.size > fragment else Threshold(sp.oo, more.above, more.above)


def bounce_threshold(
    collective: str,
    machine: Any = None,
    pinned: bool = True,
    P: int | None = None,
    **options: Any,
) -> Threshold:
    """Return the size up to which a library does better with device buffers than a program that stages them by hand.

    The library: what `device_cost` adds, a bounce or legs. By hand: one copy of the send buffer to the host, one of the
    receive buffer back, and the same collective between. Its network part is the same, and cancels.

    Parameters
    ----------
    collective : str
        One of `list_collectives`, but barrier.
    machine : Machine or mapping of symbol name to number, optional
        Numbers; a closed form in the symbols unless given.
    pinned : bool
        Whether the program's own host buffers are pinned.
    P : int, optional
        Number of ranks, where buffers grow with it.
    **options
        Of `device_cost`: transport, library, in_place, bands and so on.

    Raises
    ------
    UnknownNameError, QuantityError
        For an option that is not there, a wrong number, or where the costs are no straight lines (a limit in n).

    Source: derived.
    """
    _known(options, device_cost, "collective")
    library, by_hand = device_cost(collective, **options), _copies_by_hand(collective, pinned, options.get("bands"))
    numbers = {} if P is None else {"P": P}
    if machine is not None or numbers:
        library, by_hand = library.at(machine, **numbers), by_hand.at(machine, **numbers)
    return _handover(library, by_hand, ("library", "by hand"))


def _known(options: Mapping[str, Any], of: Callable[..., Cost], *own: str) -> None:
    """Refuse options that a function does not have; `own` are given by the caller."""
    allowed = [name for name in signature(of).parameters if name not in own]
    for name in options:
        choose("option", name, allowed)


def _copies_by_hand(collective: str, pinned: bool, bands: Mapping[str, int] | None) -> Cost:
    """Return the two copies of a program that stages its buffers itself."""
    counts, sizes = size_bands(bands), buffer_sizes(collective)
    copies = {
        way: copy_time(way, m, counts, flag("pinned", pinned)) for way, m in zip(("d2h", "h2d"), sizes, strict=False)
    }
    memory = "pinned" if pinned else "pageable"
    return Cost(validity=f"staged by hand through {memory} host memory; nothing overlaps", collective=copies)


def by_hand_cost(
    collective: str,
    algorithm: str,
    pinned: bool = True,
    bands: Mapping[str, int] | None = None,
    **options: Any,
) -> Cost:
    """Return what a collective on device buffers costs if the program stages it: copy down, call on the host, copy up.

    Parameters
    ----------
    collective, algorithm : str
        As in `collective_cost`.
    pinned : bool
        Whether the program's own host buffers are pinned.
    bands : mapping of a copy to a number of size bands, optional
    **options
        Of `collective_cost` on host buffers: network, segment_bytes, parts, P and so on.

    Raises
    ------
    UnknownNameError, QuantityError
        As `collective_cost`.

    Source: derived; the send buffer goes down and the receive buffer up once each, not overlapped.
    """
    _known(options, collective_cost, "collective", "algorithm", "buffers", "bands")
    return collective_cost(collective, algorithm, buffers="host", **options) + _copies_by_hand(
        collective, pinned, bands
    )
