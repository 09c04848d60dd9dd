"""LogGP: from netgauge's trains of messages, or from latency, bandwidth and message-rate tests together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from orrery_analytic.calibration.fitted import Fit
from orrery_analytic.calibration.linear import Floats
from orrery_analytic.calibration.lines import per_message
from orrery_analytic.calibration.points import as_table, by_size, falls, lines_text, measured, numbers, one_series
from orrery_analytic.calibration.result import Given, Way
from orrery_analytic.calibration.solve import Column, solve
from orrery_analytic.errors import FormatError, QuantityError
from orrery_analytic.units import readable

__all__ = ["loggp"]

_FLAT = 1.5  # an overhead above this many times that of the smallest messages holds their copies too
_GIVES = {"wire_latency": Given("L"), "overhead": Given("o"), "message_gap": Given("g"), "gap_per_byte": Given("G")}
_WAY, _GAP, _OVERHEAD = "one way", "between messages", "overhead"


def loggp(table: Any) -> Fit:
    r"""Return L, o, g and G of LogGP, with :math:`A(m) = L + 2o + (m - 1) G` and :math:`d(m) = g + (m - 1) G`.

    Parameters
    ----------
    table : DataFrame or several
        netgauge's: L, o, g and G are fitted to its times, not taken from its columns, where g turns negative. Or a
        latency table and one or more of bandwidth and message rate: L and o are then known as the sum L + 2 o alone,
        and within bounds, as the gap between messages is at least o.
    """
    tables = list(table) if isinstance(table, tuple | list) else [table]
    if not tables:
        raise QuantityError(
            "model 'loggp' takes a table of netgauge, or tables of latency and bandwidth; none was given."
        )
    frames = [as_table(each) for each in tables]
    if len(frames) == 1 and np.isfinite(numbers(frames[0], "train_seconds")).any():
        return _netgauge(frames[0])
    return _tests(frames)


def _columns(series: pd.Series[Any], n: Floats, names: Sequence[str]) -> list[Column]:
    """Return the columns of L, o, g, G: one way L + 2 o + (m - 1) G, between messages g + (m - 1) G, overheads o."""
    way, gap, overhead = (series.to_numpy() == name for name in (_WAY, _GAP, _OVERHEAD))
    m = np.maximum(n, 1.0) - 1
    values = {"L": way * 1.0, "o": 2.0 * way + overhead, "L + 2 o": way * 1.0, "g": gap * 1.0, "G": (way | gap) * m}
    return [Column(name.replace("L + 2 o", "A"), "s/B" if name == "G" else "s", values[name]) for name in names]


def _netgauge(table: pd.DataFrame) -> Fit:
    rows = one_series(measured(table))
    gaps = (numbers(rows, "train_seconds") - numbers(rows, "round_trip_seconds")) / (numbers(rows, "messages") - 1)
    series = {
        _WAY: rows["seconds"].to_numpy(),
        _GAP: gaps,
        _OVERHEAD: (numbers(rows, "o_send") + numbers(rows, "o_recv")) / 2,
    }
    parts, notes = [], []
    for name, seconds in series.items():
        part = rows.assign(series=name, seconds=seconds)
        part = part[np.isfinite(part["seconds"]) & (part["seconds"] > 0)]
        if len(part):
            part, told = by_size(part)
            parts.append(part)
            notes += [note for note in told if note not in notes]
    notes += falls(parts[0])
    if parts[-1]["series"].iloc[0] == _OVERHEAD:
        flat = _flat(parts[-1]["seconds"].to_numpy())
        if flat < len(parts[-1]):
            notes.append(
                f"the overhead is that of messages up to {readable(parts[-1]['n'].iloc[flat - 1], 'B')}: above, the "
                "copy of the message counts in what netgauge prints as o "
                f"({lines_text(parts[-1].iloc[flat:])})."
            )
        parts[-1] = parts[-1].iloc[:flat]
    for column in ("g", "G"):
        below = numbers(rows, column) < 0
        if below.any():
            notes.append(
                f"netgauge prints a negative {column} ({lines_text(rows[below])}), not used, nor is any other "
                f"{column}: it is fitted to the times of trains of messages."
            )
    points = pd.concat(parts, ignore_index=True)
    columns = _columns(points["series"], points["n"].to_numpy(dtype=float), ("L", "o", "g", "G"))
    return solve("loggp", columns, points, notes=notes, gives=_GIVES)


def _flat(overheads: Floats) -> int:
    """Return how many overheads, in order of size, come before they rise for good: some above may be outliers."""
    above = overheads > _FLAT * np.median(overheads[:5])
    wrong = [int(above[:at].sum() + (~above[at:]).sum()) for at in range(1, len(above) + 1)]
    return len(above) - int(np.argmin(wrong[::-1]))


def _tests(tables: Sequence[pd.DataFrame]) -> Fit:
    parts, notes = [], []
    for table in tables:
        timed = np.isfinite(numbers(table, "seconds")).any()
        rated = np.isfinite(numbers(table, "bandwidth_bytes_per_s")).any()
        if timed:
            rows, told = by_size(one_series(measured(table)))
            parts.append(rows[rows["n"] > 0].assign(series=_WAY))
            notes += [*told, *falls(rows)]
        elif rated:
            rows, told = per_message(table)
            parts.append(rows.assign(series=_GAP))
            notes += [*told, *falls(rows)]
        else:
            raise FormatError("a table has neither seconds nor bandwidths: LogGP takes latency and bandwidth tests.")
    points = pd.concat(parts, ignore_index=True)
    if set(points["series"]) != {_WAY, _GAP}:
        missing = "a latency" if _WAY not in set(points["series"]) else "a bandwidth or message-rate"
        raise QuantityError(f"LogGP takes a latency test and a windowed one: {missing} table is missing.")
    n = points["n"].to_numpy(dtype=float)
    fit = solve("loggp", _columns(points["series"], n, ("L + 2 o", "g", "G")), points, notes=notes)
    return _bounded(fit)


def _bounded(fit: Fit) -> Fit:
    """Return a fit of A = L + 2 o, g and G with L and o within their bounds: o is at most the gap, and half of A."""
    sum_high, gap_high = fit.intervals["A"][1], fit.intervals["g"][1]
    o_high = min(gap_high, sum_high / 2)
    o = min(fit.parameters["g"], fit.parameters["A"] / 2) / 2
    values = {"L": fit.parameters["A"] - 2 * o, "o": o}
    intervals = {"L": (max(fit.intervals["A"][0] - 2 * o_high, 0.0), sum_high), "o": (0.0, o_high)}
    stderr = {name: (high - low) / math.sqrt(12) for name, (low, high) in intervals.items()}
    # L + 2 o keeps the variance of A: o moves within its bounds, and L against it.
    matrix = np.array([[1, -2, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], dtype=float)
    inner = np.zeros((4, 4))
    at = [0, 2, 3]
    inner[np.ix_(at, at)] = fit.covariance
    inner[1, 1] = stderr["o"] ** 2
    names = ("L", "o", "g", "G")
    low, high = fit.intervals["A"]
    note = (
        f"L and o cannot be told apart: a latency test gives L + 2 o = {readable(fit.parameters['A'], 's')} "
        f"({readable(low, 's')} to {readable(high, 's')}), and the gap between messages is at least o. So o is at "
        f"most {readable(o_high, 's')}, and L between {readable(intervals['L'][0], 's')} and "
        f"{readable(intervals['L'][1], 's')}; they stand in the middle of that. netgauge measures them apart."
    )
    covariance = matrix @ inner @ matrix.T
    parameters = values | {name: fit.parameters[name] for name in ("g", "G")}
    return replace(
        fit,
        names=names,
        parameters=parameters,
        intervals=intervals | {name: fit.intervals[name] for name in ("g", "G")},
        stderr=stderr | {name: fit.stderr[name] for name in ("g", "G")},
        units={"L": "s", "o": "s", "g": "s", "G": "s/B"},
        covariance=covariance,
        ways=(Way(1.0, np.array([parameters[name] for name in names]), covariance),),
        warnings=(*fit.warnings, note),
        gives={key: replace(given, derived=given.parameter in ("L", "o")) for key, given in _GIVES.items()},
        shared=("L", "o"),
    )
