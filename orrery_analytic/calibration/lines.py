"""Straight lines in n: Hockney, Hockney in pieces, windowed bandwidth and message rate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.linalg import block_diag

from orrery_analytic.calibration.fitted import Fit
from orrery_analytic.calibration.glue import handshake
from orrery_analytic.calibration.linear import (
    FAR,
    NEAR,
    Floats,
    covariance_of,
    deviations,
    robust_values,
    scatter,
    spread,
)
from orrery_analytic.calibration.pieces import Parting, partings
from orrery_analytic.calibration.points import by_size, falls, measured, numbers, one_series, where
from orrery_analytic.calibration.result import Given, Way
from orrery_analytic.calibration.solve import Column, Switch, solve
from orrery_analytic.calibration.ways import doubted
from orrery_analytic.decisions.whole import one
from orrery_analytic.errors import FormatError, choose
from orrery_analytic.units import readable, to_si

__all__ = ["LINKS", "bandwidth", "fit_lines", "hockney", "hockney_pieces", "per_message"]

LINKS: Mapping[str, tuple[str, str, str, str]] = {
    "between": ("alpha", "beta", "latency", "bandwidth"),
    "inside": ("alpha_intra", "beta_intra", "intra_latency", "intra_bandwidth"),
    "peer": ("alpha_peer", "beta_peer", "peer_latency", "peer_bandwidth"),
}
"""Where messages went: between nodes, inside a node, between two GPUs of a node; symbols and machine keys of each."""


def fit_lines(
    model: str, points: pd.DataFrame, notes: list[str], first: str, slope: str, most: int, base: float = 0.0
) -> Fit:
    r"""Return the fit of seconds = first + (n - base) slope, in up to `most` pieces.

    Parameters of one piece are ``first`` and ``slope``; of several ``first_1``, ``slope_1``, ``s_1`` (its last size).
    """
    n, seconds = points["n"].to_numpy(dtype=float), points["seconds"].to_numpy(dtype=float)
    found = partings(n, seconds, most)
    tail = first.partition("_")[2]
    names = [f"s_{tail}_{i}" if tail else f"s_{i}" for i in range(1, len(found[0].cuts) - 1)]
    columns = []
    for i, (begin, end) in enumerate(pairwise(found[0].cuts), start=1):
        number = f"_{i}" if names else ""
        here = (np.arange(len(n)) >= begin) & (np.arange(len(n)) < end)
        columns.append(Column(f"{first}{number}", "s", here.astype(float)))
        columns.append(Column(f"{slope}{number}", "s/B", np.where(here, n - base, 0.0)))
    around = [
        {s: (float(n[at - 1]), float(n[at])) for s, at in zip(names, way.cuts[1:-1], strict=True)} for way in found
    ]
    switches = [Switch(s, *around[0][s], *_ends([way[s] for way in around])) for s in names]
    lines = np.column_stack([np.ones(len(n)), n - base])
    weights, sigma = _without_outliers(lines, seconds, found[0])
    fit = solve(model, columns, points, weights=weights, switches=switches, notes=notes)
    if len(fit.names) < len(columns):  # a piece of 0 bytes alone has no slope
        return fit
    line = cache(partial(_line, lines, seconds, sigma))
    pieces = [[line(*pair) for pair in pairwise(way.cuts)] for way in found[1:]]
    ways = [
        Way(way.chance, np.concatenate([v for v, _ in part]), block_diag(*(c for _, c in part)), switched)
        for way, part, switched in zip(found[1:], pieces, around[1:], strict=True)
    ]
    return doubted(fit, [replace(fit.ways[0], chance=found[0].chance), *ways])


def _ends(pairs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the outer ends of intervals."""
    return min(low for low, _ in pairs), max(high for _, high in pairs)


def _line(lines: Floats, seconds: Floats, sigma: float, begin: int, end: int) -> tuple[Floats, Floats]:
    """Return the robust line through some points, and its covariance."""
    lines, seconds = lines[begin:end], seconds[begin:end]
    values = robust_values(lines, seconds, sigma, rounds=10)
    r = deviations(lines, seconds, values)
    relative = (lines * np.exp(r)[:, None] / seconds[:, None])[_near(r, sigma)]
    return values, covariance_of(relative, sigma)


def _near(r: Floats, sigma: float) -> NDArray[np.bool_]:
    """Return which points are no outliers."""
    return np.asarray(np.abs(r) <= max(FAR * sigma, NEAR))


def _without_outliers(lines: Floats, seconds: Floats, found: Parting) -> tuple[Floats, float]:
    """Return a weight of 1 for each point, 0 for outliers, by the spread of all pieces, as each has few; the spread."""
    sigma, weights = 0.05, np.ones(len(seconds))
    pieces = [slice(*pair) for pair in pairwise(found.cuts)]
    for _ in range(5):
        r = np.concatenate(
            [
                deviations(lines[at], seconds[at], robust_values(lines[at], seconds[at], min(sigma, 0.05)))
                for at in pieces
            ]
        )
        sigma = spread(r, 2 * len(pieces))
        weights = _near(r, sigma).astype(float)
    for at in pieces:
        if weights[at].sum() < 2:  # a line takes two points
            weights[at] = 1.0
    return weights, scatter(r, 2 * len(pieces))


def _lines(model: str, table: pd.DataFrame, link: str, most: int, wire: Any) -> Fit:
    first, slope, latency_key, bandwidth_key = LINKS[choose("link", link, LINKS)]
    rows = one_series(_timed(table))
    points, notes = by_size(rows)
    notes += falls(points)
    fit = fit_lines(model, points, notes, first, slope, most)
    names = [name for name in fit.parameters if name.startswith(first)]
    gives = {}
    called = _collective(rows)
    if called in (None, "p2p"):
        slopes = [name for name in fit.parameters if name.startswith(slope)]
        gives = {latency_key: Given(names[0]), bandwidth_key: Given(slopes[-1])}
        if link == "between":
            gives |= handshake(fit)
    return replace(
        fit, warnings=(*fit.warnings, *_of_a_call(called, first, slope), *_above_wire(fit, rows, wire)), gives=gives
    )


def _of_a_call(called: str | None, first: str, slope: str) -> list[str]:
    if called in (None, "p2p"):
        return []
    return [
        f"these are times of a whole {called}: {first} and {slope} are those of the call, not of a message, and go "
        'into no machine file. model="collective" finds those of a message.'
    ]


def _collective(rows: pd.DataFrame) -> str | None:
    known = list(rows["collective"].dropna()) if "collective" in rows.columns else []
    return str(known[0]) if known else None


def _timed(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with a time; where there are bandwidths alone, say which model takes them."""
    try:
        return measured(table)
    except FormatError as error:
        if np.isfinite(numbers(table, "bandwidth_bytes_per_s")).any():
            raise FormatError(
                f'{error} It has bandwidths: model="bandwidth" takes them, "copies" those of copies.'
            ) from None
        raise


def _above_wire(fit: Fit, rows: pd.DataFrame, wire: Any) -> list[str]:
    """Say where one over a time a byte is more than the wire can do, and what bus bandwidths are not."""
    notes = []
    bus = numbers(rows, "busbw_bytes_per_s")
    limit = to_si(wire, "B/s", "wire", positive=True) if wire is not None else np.inf
    if np.isfinite(bus).any():
        at = rows.iloc[[int(np.nanargmax(bus))]]
        above = ", above the wire," if np.nanmax(bus) > limit else ""
        notes.append(
            f"the bus bandwidth of this table, up to {readable(np.nanmax(bus), 'B/s')}{above}{where(at)} is no speed "
            "of a link: it is size over time, times a factor of the ranks. No parameter is made of it."
        )
    for name, value in fit.parameters.items():
        if fit.units[name] == "s/B" and (value == 0 or 1 / value > limit) and wire is not None:
            rate = readable(1 / value, "B/s") if value else "no limit"
            notes.append(
                f"1/{name} is {rate}, above the wire ({readable(limit, 'B/s')}): these bytes did not all cross it. "
                "It is no bandwidth of a link."
            )
    return notes


def hockney(table: pd.DataFrame, link: str = "between", wire: Any = None) -> Fit:
    r"""Return alpha and beta of :math:`T = \alpha + n \beta`: latency of a message, or the cost of a call.

    Parameters
    ----------
    table : DataFrame
        n (bytes) and seconds, of one series.
    link : str
        "between" nodes (alpha, beta), "inside" a node (alpha_intra, beta_intra) or "peer": two GPUs of a node.
    wire : text or number, optional
        What the link can do ("25 GB/s"): a bandwidth above it is warned of.
    """
    return _lines("hockney", table, link, 1, wire)


def hockney_pieces(table: pd.DataFrame, link: str = "between", most: int = 4, wire: Any = None) -> Fit:
    r"""Return latency and time a byte in pieces, :math:`T = \alpha_i + n \beta_i` for :math:`s_{i-1} < n \le s_i`.

    Where the pieces end is found, and how many there are: at most `most`. Otherwise as `hockney`. A machine file takes
    the latency of the first piece and the bandwidth of the last, with an eager limit and a rendezvous where these bring
    that line nearer to the pieces, and says how far off it is. `Fit.piece` is one piece alone.
    """
    return _lines("hockney_pieces", table, link, one("most", most, 1, 8), wire)


def per_message(table: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Return the time between messages of one pair and direction, of a windowed bandwidth or message rate test.

    ``osu_mbw_mr`` counts all pairs together, a bidirectional test both directions: their rate is divided by the number.
    """
    rows = one_series(measured(table, "bandwidth_bytes_per_s"))
    name = str(rows["benchmark"].iloc[0]) if "benchmark" in rows.columns else ""
    streams, notes = 1.0, []
    if "bibw" in name:
        streams = 2.0
        notes.append("both directions together were measured: a direction is taken to have half.")
    elif "mbw" in name:
        ranks = numbers(rows, "ranks")[0]
        if np.isfinite(ranks) and ranks >= 2:
            streams = ranks / 2
            notes.append(f"{streams:g} pairs together were measured: a pair is taken to have its share.")
        else:
            notes.append("how many pairs sent is not in the table: it is taken as one.")
    rows = rows[rows["n"] > 0].copy()
    rate = rows["bandwidth_bytes_per_s"] / streams
    messages = numbers(rows, "messages_per_s") / streams
    rows["seconds"] = np.where(np.isfinite(messages) & (messages > 0), 1 / messages, rows["n"] / rate)
    points, more = by_size(rows)
    return points, [*notes, *more]


def bandwidth(table: pd.DataFrame, most: int = 4, wire: Any = None) -> Fit:
    r"""Return g and G of windowed messages: :math:`n / B = g + (n - 1) G`, in up to `most` pieces.

    Many messages are under way at once, so the latency cannot be told: g is the gap between two of them.
    """
    points, notes = per_message(table)
    notes += falls(points)
    notes.append(
        "a windowed test has many messages under way: it gives the gap between messages (g, or the overhead if that is "
        "longer) and the time a byte (G); of the latency it says nothing."
    )
    fit = fit_lines("bandwidth", points, notes, "g", "G", one("most", most, 1, 8), base=1.0)
    gaps, slopes = ([name for name in fit.parameters if name.partition("_")[0] == kind] for kind in "gG")
    gives = {
        "message_gap": Given(gaps[0]),
        "gap_per_byte": Given(slopes[-1]),
        "bandwidth": Given(slopes[-1], derived=True),
    }
    return replace(fit, gives=gives, warnings=(*fit.warnings, *_above_wire(fit, points, wire)))
