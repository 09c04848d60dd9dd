"""What a machine file says of one key: the value as written and in SI units, where it comes from, and the checks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from orrery_analytic.errors import QuantityError, choose
from orrery_analytic.machines.keys import BAND_KEYS, COPIES, MACHINE_KEYS
from orrery_analytic.units import readable, shown, to_si

__all__ = ["Band", "Record", "band_copy", "check_text", "check_value", "written"]


@dataclass(frozen=True)
class Band:
    """One band of sizes of a copy: up to `up_to` bytes (None: without limit), latency in s, bandwidth in B/s."""

    up_to: float | None
    latency: float
    bandwidth: float


@dataclass(frozen=True)
class Record:
    """One value of a machine and where it comes from.

    Attributes
    ----------
    key
        Key of the machine file.
    value
        The value as it is written there ("1.9 us").
    origin
        "measured", "vendor", "derived" or "assumed"; "what if" for a value that `Machine.replace` put in.
    reference
        Where to look it up, or the reasoning.
    si
        The value in SI units: a number, the name of the library, or the bands of a copy.
    """

    key: str
    value: str
    origin: str
    reference: str
    si: float | int | str | tuple[Band, ...]


def band_copy(key: str) -> str | None:
    """Return "d2h" for the key "d2h_bands", the other copies alike, and None for every other key."""
    return next((copy for copy in COPIES if key == f"{copy}_bands"), None)


def check_text(name: str, value: object) -> str:
    """Return a text that is not empty."""
    if not isinstance(value, str) or not value.strip():
        raise QuantityError(f"{name} = {shown(value)} is refused. Allowed: a text that is not empty.")
    return value


def _check_count(name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or not 1 <= int(value) < 2**31:
        raise QuantityError(f"{name} = {shown(value)} is refused. Allowed: a whole number from 1, without unit.")
    return int(value)


def _check_quantity(name: str, value: object, unit: str, bare: bool) -> float:
    """Return an SI value; rates must be more than zero, since formulas divide by them."""
    if not bare and not isinstance(value, str):
        number = isinstance(value, int | float) and not isinstance(value, bool)
        kind = "a number without a unit" if number else f"a {type(value).__name__}"
        example = {"s": "2.1 us", "B": "64 KiB", "B/s": "24.3 GB/s", "s/B": "0.04 ns/B", "flop/s": "34 Tflop/s"}[unit]
        raise QuantityError(f"{name} = {shown(value)} is {kind}. Allowed: text with a unit, for example {example!r}.")
    si = to_si(value, unit, name, positive=unit in ("B", "B/s", "flop/s"))
    if unit == "B/s" and not math.isfinite(1 / si):
        raise QuantityError(f"{name} = {shown(value)} is too small. Allowed: a rate of at least 1e-300 B/s.")
    return si


def _check_bands(value: object, bare: bool) -> tuple[Band, ...]:
    """Return the bands of a copy: sizes that grow, and a last band without `up_to`."""
    allowed = "a list of {up_to, latency, bandwidth}, sizes growing, the last without up_to"
    if not isinstance(value, list | tuple) or not value:
        raise QuantityError(f"value = {shown(value)} is refused. Allowed: {allowed}.")
    bands: list[Band] = []
    for place, item in enumerate(value, start=1):
        if not isinstance(item, Mapping):
            raise QuantityError(f"band {place} = {shown(item)} is refused. Allowed: {allowed}.")
        for name in item:
            choose(f"key of band {place}", name, BAND_KEYS)
        needed = set(BAND_KEYS) if place < len(value) else {"latency", "bandwidth"}
        if set(item) != needed:
            raise QuantityError(f"band {place} of {len(value)} has {', '.join(item) or 'nothing'}. Allowed: {allowed}.")
        si = {k: _check_quantity(f"{k} of band {place}", item[k], BAND_KEYS[k], bare) for k in item}
        bands.append(Band(si.get("up_to"), si["latency"], si["bandwidth"]))
    limits = [band.up_to for band in bands[:-1] if band.up_to is not None]
    if limits != sorted(set(limits)):
        raise QuantityError(f"up_to = {', '.join(readable(x, 'B') for x in limits)} does not grow. Allowed: {allowed}.")
    return tuple(bands)


def check_value(key: str, value: object, *, bare: bool) -> float | int | str | tuple[Band, ...]:
    """Return the SI value of a key.

    Parameters
    ----------
    key
        "library", the bands of a copy ("d2h_bands") or one of `MACHINE_KEYS`.
    value
        What was given.
    bare
        Whether plain numbers (SI) and pint quantities will do, as in `Machine.replace`; in a file only text will.

    Raises
    ------
    QuantityError
        If the value has the wrong type or unit or lies outside its range.
    """
    name = key if bare else "value"
    if key == "library":
        return check_text(name, value)
    if band_copy(key):
        return _check_bands(value, bare)
    unit = MACHINE_KEYS[key].unit
    return _check_count(name, value) if unit == "1" else _check_quantity(name, value, unit, bare)


def _written_band(band: Mapping[str, Any]) -> str:
    limit = f"to {band['up_to']}" if "up_to" in band else "above"
    return f"{limit}: {band['latency']}, {band['bandwidth']}"


def written(key: str, value: Any, si: object) -> str:
    """Return the text of a value that `check_value` has accepted, as it was written; plain numbers get a unit."""
    if band_copy(key):
        parts = [{k: written(k, v, to_si(v, BAND_KEYS[k], k)) for k, v in band.items()} for band in value]
        return "; ".join(_written_band(band) for band in parts)
    if isinstance(value, str):
        return value
    unit = BAND_KEYS[key] if key in BAND_KEYS else MACHINE_KEYS[key].unit
    return str(si) if unit == "1" else f"{si!r} {unit}"
