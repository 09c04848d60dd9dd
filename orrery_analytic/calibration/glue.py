"""Fits in pieces: one piece alone, and how far off one line is that is glued from the first and the last of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np

from orrery_analytic.calibration.linear import Floats
from orrery_analytic.calibration.points import MOST
from orrery_analytic.calibration.result import Given, Result
from orrery_analytic.errors import QuantityError
from orrery_analytic.machines.records import band_copy
from orrery_analytic.units import readable, to_si

__all__ = ["Piece", "advice", "glued", "handshake", "off", "one_piece", "pieces"]

_F = TypeVar("_F", bound=Result)


class Piece(NamedTuple):
    """A piece of a fit: the names of its parameters, and the sizes above and up to which it holds."""

    first: str
    slope: str
    low: float
    high: float

    @property
    def told(self) -> str:
        """Where it holds, in words."""
        if self.high == np.inf:
            return f"above {readable(self.low, 'B')}"
        return f"up to {readable(self.high, 'B')}"


def pieces(fit: Result) -> list[Piece]:
    """Return the pieces of a fit in order of size, none where it has one line or is no line."""
    firsts, slopes = fit.names[0::2], fit.names[1::2]
    ends = [value for name, value in fit.parameters.items() if fit.units.get(name) == "B"]
    count = len(ends) + 1
    numbered = all(re.search(f"_{i}$", name) for part in (firsts, slopes) for i, name in enumerate(part, start=1))
    if not ends or not numbered or not len(firsts) == len(slopes) == count:
        return []
    bounds = pairwise([0.0, *ends, np.inf])
    return [Piece(a, b, low, high) for a, b, (low, high) in zip(firsts, slopes, bounds, strict=True)]


def _times(fit: Result, every: list[Piece], line: Callable[[Floats], Floats]) -> tuple[float, float]:
    """Return by what share a line misses the pieces most, and at which fitted size."""
    n = np.unique(fit.points["n"].to_numpy(dtype=float))
    n = n[n > 0]
    base = 1.0 if every[0].slope.startswith("G") else 0.0
    at = [next(piece for piece in every if size <= piece.high) for size in n]
    first = np.array([fit.parameters[piece.first] for piece in at])
    slope = np.array([fit.parameters[piece.slope] for piece in at])
    wrong = line(n) / np.maximum(first + (n - base) * slope, 1 / MOST) - 1
    worst = int(np.abs(wrong).argmax())
    return float(wrong[worst]), float(n[worst])


def _line(fit: Result, every: list[Piece], more: float = 0.0, above: float = np.inf) -> Callable[[Floats], Floats]:
    """Return the time of the first latency and the last slope, and `more` above a size."""
    base = 1.0 if every[0].slope.startswith("G") else 0.0
    first, slope = fit.parameters[every[0].first], fit.parameters[every[-1].slope]
    return lambda n: first + (n - base) * slope + np.where(n > above, more, 0.0)


def handshake(fit: Result) -> dict[str, Given]:
    """Return the eager limit and the latency of the rendezvous that bring the glued line nearest to the pieces.

    The handshake is what the latency of a later piece is more than that of the first. None where that brings no gain.
    """
    every = pieces(fit)
    if not every:
        return {}
    start = fit.parameters[every[0].first]
    best, found = abs(_times(fit, every, _line(fit, every))[0]), {}
    for switch, (before, after) in enumerate(pairwise(every), start=1):
        more = fit.parameters[after.first] - start
        miss = abs(_times(fit, every, _line(fit, every, more, before.high))[0])
        if more > 0 and miss < best:
            best = miss
            found = {
                "eager_limit": Given(f"s_{switch}"),
                "rendezvous_latency": Given(after.first, derived=True, less=every[0].first),
            }
    return found


def off(wrong: float, n: float) -> str:
    """Return a relative error and where it is, in words."""
    return f"{100 * abs(wrong):.2g} % {'above' if wrong > 0 else 'below'} them at {readable(n, 'B')}"


def glued(fit: Result) -> tuple[float, str]:
    """Return how far off the one line of a machine file is from the pieces of a fit, and that in words; 0 without any.

    The line has the latency of the first piece and the bandwidth of the last.
    """
    every = pieces(fit)
    if not every or any(band_copy(key) for key in fit.gives):  # bands of a copy stay apart in the file
        return 0.0, ""
    wrong, n = _times(fit, every, _line(fit, every))
    first, last = every[0], every[-1]
    told = (
        f"one line glued from {len(every)} pieces, {first.first} ({first.told}) and {last.slope} ({last.told}), is up "
        f"to {off(wrong, n)}"
    )
    if "rendezvous_latency" in fit.gives:
        limit, shake = fit.parameters[fit.gives["eager_limit"].parameter], fit.gives["rendezvous_latency"]
        more = fit.parameters[shake.parameter] - fit.parameters[shake.less]
        told += '; with eager_limit and rendezvous_latency (protocol="auto") up to '
        told += off(*_times(fit, every, _line(fit, every, more, limit)))
    return abs(wrong), told


def advice(fit: Result) -> str:
    """Say how to take one piece of a fit."""
    *_, last = every = pieces(fit)
    named = ", ".join(f"fit.piece({piece.high:.0f}) {piece.told}" for piece in every[:-1])
    sizes = fit.points["n"]
    above = float(sizes[sizes > last.low].min())
    model = '"hockney"' if fit.model == "hockney_pieces" else f'"{fit.model}", most=1'
    return (
        f"Take the piece of the messages that are sent: {named}, fit.piece({above:.0f}) {last.told}; or fit that range "
        f'alone, as oa.fit(table[table["n"] > {last.low:.0f}], {model})'
    )


def one_piece(fit: _F, n: Any) -> _F:
    """Return the piece of a fit that holds for messages of n bytes, with the names of one line: `Fit.piece`."""
    every = pieces(fit)
    if not every:
        raise QuantityError(f"this fit of {fit.model} has no pieces: it is one already.")
    size = to_si(n, "B", "n")
    taken = next(piece for piece in every if size <= piece.high)
    names = {name: name.rpartition("_")[0] for name in taken[:2]}
    at = [fit.names.index(name) for name in names]
    block = np.ix_(at, at)
    gives: dict[str, Given] = {}
    for key, given in fit.gives.items():
        kind = "first" if given.parameter == every[0].first else "slope"
        if copy := band_copy(key):
            gives |= {f"{copy}_latency": Given(names[taken.first]), f"{copy}_bandwidth": Given(names[taken.slope])}
        elif given.parameter in (every[0].first, every[-1].slope) and not given.less:
            gives[key] = replace(given, parameter=names[getattr(taken, kind)])
    low = taken.low if taken is not every[0] else -1.0  # 0 bytes are of the first piece
    here = (fit.points["n"] > low) & (fit.points["n"] <= taken.high)

    def of(values: Any) -> dict[str, Any]:
        return {new: values[old] for old, new in names.items()}

    return replace(
        fit,
        model="hockney" if fit.model == "hockney_pieces" else fit.model,
        names=tuple(names.values()),
        parameters=of(fit.parameters),
        stderr=of(fit.stderr),
        intervals=of(fit.intervals),
        units=of(fit.units),
        covariance=fit.covariance[block],
        points=fit.points[here].reset_index(drop=True),
        ways=tuple(
            replace(way, values=way.values[at], covariance=way.covariance[block], switches={}) for way in fit.ways
        ),
        warnings=(f"the piece {taken.told} of a fit in {len(every)} pieces.", *fit.warnings),
        gives=gives,
    )
