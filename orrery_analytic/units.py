"""Units at the boundary: what people write and read ("2.1 us", "24.3 GB/s", "1 MiB") against the SI floats inside.

GB is 10^9 bytes and GiB is 2^30 bytes. Text is never evaluated: a number and a unit are picked out by a regular
expression, the unit must be one of a short list, and only then does pint say what it is worth.
"""

from __future__ import annotations

import difflib
import itertools
import math
import re
from fractions import Fraction
from functools import cache
from numbers import Real
from typing import Any

from orrery_analytic.errors import QuantityError, choose, shown

__all__ = ["UNITS", "holds_truth", "in_si", "is_finite", "readable", "shown", "to_si"]

_TIMES = ("s", "ms", "us", "\N{MICRO SIGN}s", "\N{GREEK SMALL LETTER MU}s", "ns", "ps")
_SIZES = (
    *("B", "kB", "MB", "GB", "TB", "PB", "KiB", "MiB", "GiB", "TiB", "PiB", "byte", "bytes"),
    *("bit", "kbit", "Mbit", "Gbit", "Tbit"),
)
_OPERATIONS = tuple(f"{prefix}flop" for prefix in ("", "k", "M", "G", "T", "P"))
_SPELLINGS = {
    "s": _TIMES,
    "B": _SIZES,
    "B/s": tuple(f"{size}/{time}" for size, time in itertools.product(_SIZES, _TIMES)),
    "s/B": tuple(f"{time}/{size}" for time, size in itertools.product(_TIMES, _SIZES)),
    "flop/s": tuple(f"{operations}/s" for operations in _OPERATIONS),
}
_SIZES_TOLD = "B, kB, MB, GB, TB (powers of 1000), KiB, MiB, GiB (powers of 1024), bit, kbit, Mbit, Gbit"
_ALLOWED = {
    "s": "a time in s, ms, us, ns or ps, for example '2.1 us'",
    "B": f"a size in {_SIZES_TOLD}, for example '1 MiB'",
    "B/s": f"a size over a time (sizes in {_SIZES_TOLD}), for example '24.3 GB/s' or '200 Gbit/s'",
    "s/B": f"a time over a size (sizes in {_SIZES_TOLD}), for example '0.04 ns/B'",
    "flop/s": f"operations over a second in {', '.join(_OPERATIONS)} /s, for example '34 Tflop/s'",
}
UNITS = tuple(_ALLOWED)

_PINT_NAMES = {"s": "second", "B": "byte", "B/s": "byte/second", "s/B": "second/byte", "flop/s": "flop/second"}
_LONGEST = 100
_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?"
_QUANTITY = re.compile(rf"\s*({_NUMBER})\s*([^\W\d_]+(?:/[^\W\d_]+)?)\s*")

# Prefixes in use for each unit, smallest first. Nobody says kiloseconds or millibytes.
_PREFIXES = {
    "s": ((1e-12, "p"), (1e-9, "n"), (1e-6, "u"), (1e-3, "m"), (1.0, "")),
    "B": ((1.0, ""), (1e3, "k"), (1e6, "M"), (1e9, "G"), (1e12, "T"), (1e15, "P")),
}
_PREFIXES["B/s"] = _PREFIXES["flop/s"] = _PREFIXES["B"]
_PREFIXES["s/B"] = ((1e-15, "f"), *_PREFIXES["s"])
_BINARY = ((2**50, "PiB"), (2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))


class _RefusedError(Exception):
    """Why a value is refused; `to_si` makes the sentence of it."""


@cache
def _registry() -> Any:
    """Return the one registry of this package; its factors are exact fractions, so that "2.1 us" is 2.1e-6."""
    import pint

    registry: Any = pint.UnitRegistry(non_int_type=Fraction)
    registry.define("flop = [flop]")
    return registry


@cache
def _factor(spelling: str, unit: str) -> Fraction:
    """Return how many SI units one `spelling` is; only spellings of `_SPELLINGS` come here."""
    return Fraction(_registry().Quantity(Fraction(1), spelling).to(_PINT_NAMES[unit]).magnitude)


def _nearest(spelling: str, unit: str) -> str:
    """Return the hint for a unit that is not among the spellings: wrong case, "GBps", "sec", or a slip."""
    flat = spelling.lower().replace("sec", "s").replace("bits", "bit")
    flat = re.sub(r"(?<=[bt])ps$", "/s", flat)
    allowed = _SPELLINGS[unit]
    near = [u for u in allowed if flat in (u.lower(), u.lower().replace("bit", "b"), u.lower().replace("ib", "b"))]
    near = near or difflib.get_close_matches(spelling, allowed, n=1, cutoff=0.6)
    return f" Did you mean {' or '.join(repr(u) for u in near)}?" if near else ""


def _from_text(text: str, unit: str) -> Fraction:
    """Return the exact SI value of "<number> <unit>"."""
    match = _QUANTITY.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        bare = re.fullmatch(rf"\s*{_NUMBER}\s*", text[:_LONGEST])
        raise _RefusedError("is a number without a unit." if bare else "is no number followed by a unit.")
    number, spelling = match.groups()
    if spelling in _SPELLINGS[unit]:
        return Fraction(number) * _factor(spelling, unit)
    if any(spelling in spellings for spellings in _SPELLINGS.values()):
        raise _RefusedError(f"has the wrong kind of unit, {spelling!r}.")
    raise _RefusedError(f"has a unit that is not known here, {spelling!r}.{_nearest(spelling, unit)}")


def _from_quantity(quantity: Any, unit: str) -> Any:
    """Return the SI magnitude of a pint quantity of any registry."""
    import pint

    magnitude = quantity.magnitude
    if hasattr(magnitude, "item") and not magnitude.ndim:  # NumPy's integers would overflow in silence
        quantity = type(quantity)(magnitude.item(), quantity.units)
    try:
        return quantity.to(_PINT_NAMES[unit]).magnitude
    except (pint.PintError, ValueError, TypeError):
        raise _RefusedError("has the wrong kind of unit.") from None


def _number(value: object, unit: str, positive: bool) -> float:
    number: object = value
    if isinstance(value, str):
        number = _from_text(value, unit)
    elif hasattr(value, "magnitude") and hasattr(value, "dimensionality"):
        number = _from_quantity(value, unit)
    if not isinstance(number, Real) or isinstance(number, bool):
        raise _RefusedError("is not one number.")
    try:
        si = float(number)
    except OverflowError:
        si = math.inf
    if not math.isfinite(si):
        raise _RefusedError("is not finite.")
    if si < 0:
        raise _RefusedError("is negative.")
    if positive and si == 0:
        raise _RefusedError("must be more than zero.")
    return si


def is_finite(number: Any) -> bool:
    """Return whether a number is finite, and not beyond all floats, as whole numbers of any length can be."""
    try:
        return math.isfinite(number)
    except OverflowError:
        return False


def to_si(value: object, unit: str, name: str, *, positive: bool = False) -> float:
    """Return a quantity as an SI float.

    Parameters
    ----------
    value
        Text of a number and a unit ("2.1 us", "24.3 GB/s", "200 Gbit/s", "1 MiB", "0.04 ns/B"), a pint quantity, or
        a plain number, which is in SI already.
    unit
        What is expected: "s", "B", "B/s", "s/B" or "flop/s".
    name
        How the message calls the value.
    positive
        Refuse zero as well; negative and infinite values and NaN are always refused.

    Raises
    ------
    QuantityError
        With what was given, what is allowed, and an example.
    """
    choose("unit", unit, UNITS)
    try:
        return _number(value, unit, positive)
    except _RefusedError as refused:
        raise QuantityError(f"{name} = {shown(value)} {refused} Allowed: {_ALLOWED[unit]}.") from None


def _may_have_unit(item: Any) -> bool:
    return isinstance(item, str | list | tuple) or hasattr(item, "magnitude")


def holds_truth(value: Any) -> bool:
    """Return whether True or False is among the items of lists, where NumPy would take it for 1 or 0."""
    if not isinstance(value, list | tuple):
        return False
    return any(type(item).__name__ in ("bool", "bool_") or holds_truth(item) for item in value)


def in_si(value: Any, unit: str, name: str) -> Any:
    """Return numbers in SI for text and pint quantities, alone or in lists and arrays; all else as it is.

    What takes a size as a number takes "1 MiB" and ["1 KiB", 4096] by it; it checks the numbers itself.

    Parameters
    ----------
    value
        Anything. Numbers without a unit are in SI already.
    unit
        As in `to_si`; of another one, such as "1", no text is a number.
    name
        How the message calls the value.

    Raises
    ------
    QuantityError
        For text that is no quantity, and for units of another kind.
    """
    if unit not in UNITS:
        return value
    quantity = hasattr(value, "magnitude") and hasattr(value, "dimensionality")
    if isinstance(value, str) or (quantity and not getattr(value.magnitude, "ndim", 0)):
        number = to_si(value, unit, name)
        return int(number) if unit == "B" and number.is_integer() else number
    held = getattr(value, "data", None)
    if hasattr(held, "magnitude"):  # a DataArray of a quantity, whose `values` have lost the unit
        return in_si(held, unit, name)
    items = getattr(value, "values", value)  # of a Series or a DataArray
    if not quantity and getattr(getattr(items, "dtype", None), "kind", "") in ("O", "U") and hasattr(items, "tolist"):
        items = items.tolist()
        if isinstance(items, str):
            return in_si(items, unit, name)
    if not quantity and not (isinstance(items, list | tuple) and any(map(_may_have_unit, items))):
        return value
    return [in_si(item, unit, name) for item in items]


def readable(value: float, unit: str) -> str:
    """Return a short text for an SI value, to three digits: "1.9 us", "24.3 GB/s", "40.5 ps/B", "64 KiB".

    Sizes that are a whole multiple of a power of 1024 (up to four digits) get a binary prefix, others a decimal one.

    Parameters
    ----------
    value
        The number in SI units.
    unit
        "s", "B", "B/s", "s/B", "flop/s", or "1" for a plain number.

    Raises
    ------
    UnknownNameError
        If `unit` is another one.
    """
    choose("unit", unit, (*UNITS, "1"))
    value = float(value)
    if unit == "1" or value == 0 or not math.isfinite(value):
        return f"{value:.6g}" if unit == "1" else f"{value:g} {unit}"
    if unit == "B":
        for power, binary in _BINARY:
            if value % power == 0 and abs(value) < 10_000 * power:
                return f"{value / power:.0f} {binary}"
    # Rounded before the prefix is chosen: 999.9996 us is 1 ms, not 1e+03 us.
    rounded = float(f"{value:.3g}")
    prefixes = _PREFIXES[unit]
    scale, prefix = next((p for p in reversed(prefixes) if abs(rounded) >= p[0] * (1 - 1e-9)), prefixes[0])
    return f"{rounded / scale:.6g} {prefix}{unit}"
