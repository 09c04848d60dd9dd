"""A slider for a symbol, whatever its unit: what it offers, how its numbers are written, and an axis over it."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import Any

import numpy as np
import sympy as sp
from matplotlib.ticker import FuncFormatter, NullLocator
from numpy.typing import NDArray

from orrery_analytic.decisions.whole import LARGEST_SIZE, one
from orrery_analytic.errors import OrreryError, QuantityError
from orrery_analytic.plots import size_text
from orrery_analytic.plots.style import set_axis
from orrery_analytic.symbols import SYMBOLS, SymbolInfo, describe
from orrery_analytic.units import UNITS, is_finite, readable, shown, to_si
from orrery_analytic.widgets.controls import _slider
from orrery_analytic.widgets.parameters import _offered
from orrery_analytic.widgets.view import RANKS, SIZES

__all__ = ["grid", "in_order", "info_of", "meaning", "number_of", "number_text", "offers", "set_symbol_axis",
           "symbol_slider"]  # fmt: skip

_COUNTS = ("nx", "ny", "iterations", "nccheck")
_SIZES = (1, 2, *SIZES)
_LARGEST = 2**40  # bytes
_POINTS = 241  # of a curve: over sizes, eight an octave


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Return names in the order of the package's symbols, P and n first, and others behind them."""
    order = {name: i for i, name in enumerate(SYMBOLS)}
    return tuple(sorted(names, key=lambda name: (order.get(name, len(order)), name)))


def info_of(name: str) -> SymbolInfo:
    """Return unit and meaning of a symbol, one that the package does not know included."""
    try:
        return describe(name)
    except OrreryError:
        return SymbolInfo(sp.Symbol(name, positive=True), "1", "a symbol of your own")


def number_of(name: str, value: Any) -> float:
    """Return a number that was given for a symbol, in SI units.

    Raises
    ------
    QuantityError
        If it is none that the symbol can have.
    """
    unit = info_of(name).unit
    if name == "P":
        return one("P", value, 1, LARGEST_SIZE)
    if name in _COUNTS:
        return one(name, value, 1)
    if unit in UNITS:
        si = to_si(value, unit, name, positive=unit in ("B", "B/s", "flop/s"))
    elif isinstance(value, int | float | np.number) and not isinstance(value, bool) and is_finite(value) and value > 0:
        si = float(value)
    else:
        raise QuantityError(f"{name} must be a plain number above 0, but {shown(value)} was given.")
    if not _is_size(name):
        return si
    if si != int(si) or si > _LARGEST:
        raise QuantityError(f"{name} = {shown(value)} is refused. Allowed: whole bytes, up to 1 TiB.")
    return int(si)


def _is_size(name: str) -> bool:
    return info_of(name).unit == "B" and name != "W"


def number_text(name: str, value: float) -> str:
    """Return a number of a symbol with its unit."""
    if _is_size(name):
        return size_text(value)
    unit = info_of(name).unit
    return readable(value, unit) if unit in (*UNITS, "1") else f"{value:.3g} {unit}"


def meaning(name: str, value: float) -> str:
    """Return HTML: what a symbol is, with the bandwidth that a time a byte amounts to."""
    info = info_of(name)
    rate = (
        f' <span style="white-space: nowrap">({readable(1 / value, "B/s")})</span>'
        if info.unit == "s/B" and value
        else ""
    )
    return f'<div style="font-size: 11px; line-height: 1.25; color: #555">{html.escape(info.meaning)}{rate}</div>'


def offers(name: str, value: float) -> list[tuple[str, float]]:
    """Return the numbers of a slider, with their texts: ranks, sizes, or two decades around a value."""
    numbers: Iterable[float]
    if name == "P":
        numbers = {1, *RANKS, value}
    elif _is_size(name):
        numbers = {*_SIZES, value}
    else:
        numbers = (x for x in _offered(value, info_of(name).unit) if name not in _COUNTS or x == int(x))
    return [(number_text(name, x), x) for x in sorted(numbers)]


def symbol_slider(name: str, value: float, width: str) -> Any:
    """Return the slider of a symbol; its description is the name, so wide, its tooltip the meaning and the unit."""
    info = info_of(name)
    slider = _slider(name, [], 1, str, info.told)
    slider.options = offers(name, value)
    slider.value = value
    slider.style.description_width = width
    slider.add_class(f"orrery-{name}")
    return slider


def grid(name: str, offered: Iterable[float]) -> NDArray[Any]:
    """Return where curves are drawn: at all offered ranks, else evenly on a log scale from the least to the largest."""
    positive = [x for x in offered if x > 0]
    if name == "P":
        return np.array(positive, dtype=int)
    points = np.geomspace(positive[0], positive[-1], _POINTS)
    return np.unique(np.rint(points).astype(int)) if name in _COUNTS or _is_size(name) else points


def set_symbol_axis(axes: Any, name: str, x: NDArray[Any]) -> None:
    """Make the horizontal axis one of a symbol, logarithmic, as long as x."""
    if name in ("P", "n"):
        set_axis(axes, name, x)
        return
    axes.set_xscale("log")
    axes.set_xlim(x[0], x[-1])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: number_text(name, value)))
    axes.set_xlabel(f"{name}: {info_of(name).meaning}", parse_math=False)
