"""Copies between device and host memory: latency and bandwidth, or bands of sizes; pageable or pinned host memory."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any

import sympy as sp

from orrery_analytic.errors import QuantityError, choose, shown
from orrery_analytic.symbols import COPIES, band_symbols, copy_symbols

__all__ = ["copy_name", "copy_time", "flag", "size_bands", "t_d2h", "t_h2d"]


def flag(name: str, value: object) -> bool:
    """Return `value`, which must be True or False.

    Raises
    ------
    QuantityError
        If it is neither.
    """
    if not isinstance(value, bool):
        raise QuantityError(f"{name} must be True or False, but {shown(value)} was given.")
    return value


def size_bands(bands: Mapping[str, int] | None) -> dict[str, int]:
    """Return the number of size bands of the copies "d2h" and "h2d", and of those that `bands` says; else one band.

    Parameters
    ----------
    bands : mapping such as {"d2h": 2, "h2d": 1}, optional
        `Machine.bands` is one; "pinned_d2h" and "pinned_h2d" are the copies of pinned memory.

    Raises
    ------
    UnknownNameError
        For a copy that is none of these.
    QuantityError
        If `bands` is no mapping, or a number of bands is not a whole number from 1 to 64.
    """
    if bands is not None and not isinstance(bands, Mapping):
        raise QuantityError(f'bands must be a mapping such as {{"d2h": 2, "h2d": 2}}, but {shown(bands)} was given.')
    counts = {"d2h": 1, "h2d": 1}
    for copy, count in (bands or {}).items():
        if isinstance(count, bool) or not isinstance(count, Integral) or not 1 <= count <= 64:
            raise QuantityError(
                f"bands[{shown(copy)}] must be a whole number from 1 to 64, but {shown(count)} was given."
            )
        counts[choose("copy", copy, COPIES)] = int(count)
    return counts


def copy_name(way: str, pinned: bool) -> str:
    """Return which of `COPIES` a copy "d2h" or "h2d" is: that of pageable or that of pinned host memory."""
    return f"pinned_{way}" if pinned else way


def _copy_time(copy: str, m: Any, bands: int) -> sp.Expr:
    """Return latency + m * (time a byte) of the size band that holds m bytes; a limit belongs to the band below it."""
    if bands == 1:
        latency, per_byte = copy_symbols(copy)
        return latency + m * per_byte
    rows = band_symbols(copy, bands)
    return sp.Piecewise(*((a + m * b, True if limit is None else sp.Le(m, limit)) for a, b, limit in rows))


def copy_time(way: str, m: Any, bands: Mapping[str, int] | None = None, pinned: bool = False) -> sp.Expr:
    """Return `t_d2h` or `t_h2d` of m bytes (way "d2h" or "h2d"), with the bands that a mapping says."""
    name = copy_name(way, pinned)
    return _copy_time(name, m, size_bands(bands).get(name, 1))


def t_d2h(m: Any, bands: int = 1, pinned: bool = False) -> sp.Expr:
    r"""Return the time of a copy of m bytes to the host, :math:`\alpha_{d2h} + m \beta_{d2h}`, in seconds.

    With k > 1 size bands :math:`\alpha_{d2h,i} + m \beta_{d2h,i}` for the first band i with :math:`m \le s_{d2h,i}`;
    the last band has no limit.

    Parameters
    ----------
    m : SymPy expression or number
        Bytes, at least 1.
    bands : int
        Number of size bands, k.
    pinned : bool
        Whether the host memory is pinned (alpha_pinned_d2h ...), as that of a point-to-point layer, or pageable, as
        what a library allocates for a call.

    Source: Table I of the Orrery paper ("copy latency, banded bandwidth").
    """
    return _copy_time(copy_name("d2h", pinned), m, bands)


def t_h2d(m: Any, bands: int = 1, pinned: bool = False) -> sp.Expr:
    r"""Return the time of a copy of m bytes to the device, :math:`\alpha_{h2d} + m \beta_{h2d}`; else as `t_d2h`."""
    return _copy_time(copy_name("h2d", pinned), m, bands)
