"""From columns to a `Fit`: what no column tells, what two columns tell together, the fit itself, and its warnings."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy import stats

from orrery_analytic.calibration.fitted import Fit
from orrery_analytic.calibration.linear import (
    LITTLE,
    Estimate,
    Floats,
    covariance_of,
    deviations,
    estimate,
    refine,
    robust_values,
)
from orrery_analytic.calibration.points import lines_text
from orrery_analytic.calibration.result import Given, Way, correlations
from orrery_analytic.errors import QuantityError
from orrery_analytic.units import readable

__all__ = ["MUCH", "Column", "Switch", "solve", "source_of"]

MUCH = 2.0
"""How much wider an interval is worth a word."""

_TRADE = 0.95
_MISFIT = 0.15
_SCALES = {"s": 1e6, "s/B": 1e12}


@dataclass(frozen=True)
class Column:
    """A parameter: its name, its unit ("s", "s/B"; "B/s" where one over it is fitted), what it is multiplied by."""

    name: str
    unit: str
    values: Floats


@dataclass(frozen=True)
class Switch:
    """A switch point: the sizes just before and after it, and those between which it lies at 95 %."""

    name: str
    value: float
    above: float
    low: float
    high: float


def source_of(rows: pd.DataFrame) -> str:
    """Return the files and lines of some rows, for people."""
    if "file" not in rows.columns:
        return "a table"
    parts = []
    for file, part in rows.groupby("file", dropna=False, sort=False):
        lines = lines_text(part)
        parts.append(f"{file}, {lines}" if lines else str(file))
    return "; ".join(parts)


def solve(
    model: str,
    columns: Sequence[Column],
    points: pd.DataFrame,
    *,
    mix: Floats | None = None,
    offset: Floats | None = None,
    weights: Floats | None = None,
    trim: bool = True,
    switches: Sequence[Switch] = (),
    notes: Sequence[str] = (),
    gives: Mapping[str, Given] | None = None,
    source: str = "",
) -> Fit:
    """Return the fit of seconds = offset + sum of columns times what is fitted.

    Parameters
    ----------
    model : str
    columns : sequence of Column
        One for each parameter.
    points : DataFrame
        A row a point, with n and seconds; file, line, P, series where they are known.
    mix : array, optional
        The parameters are mix @ what is fitted, which is never below 0; the same unless given.
    offset : array, optional
        Seconds of each point that need no parameter.
    weights : array, optional
        Of each point, 0 for an outlier; found here unless given.
    trim : bool
        As in `estimate`.
    switches, notes, gives, source
        What the fit carries along.

    Raises
    ------
    QuantityError
        If there are fewer points than parameters.
    """
    seconds = points["seconds"].to_numpy(dtype=float)
    kept, share, groups = _apart(columns, seconds)
    mix = np.eye(len(columns)) if mix is None else mix
    if len(seconds) < len(kept) or not kept:
        needed = ", ".join(column.name for column in kept) or "none that these points depend on"
        raise QuantityError(
            f"{len(seconds)} point(s) are too few for {len(kept)} parameter(s) ({needed}). Allowed: at least as many "
            "sizes as parameters; four more to know how sure they are."
        )
    known: Floats | float = 0.0 if offset is None else offset
    matrix = np.column_stack([column.values for column in kept])
    if weights is None:
        start, weights = estimate(matrix, seconds, known, trim)
    else:
        used = weights > 0
        start = robust_values(matrix[used], seconds[used], 0.05, offset[used] if offset is not None else 0.0)
    scales = [_SCALES["s" if column.unit == "s" else "s/B"] for column in kept]
    done = refine([column.name for column in kept], scales, matrix, seconds, known, start, weights)
    table = points.copy()
    table["deviation"] = deviations(matrix, seconds, done.values, known)
    table["fitted"] = seconds / np.exp(table["deviation"])
    table["weight"], table["used"] = weights, weights >= LITTLE
    parameters = _parameters(columns, mix, share, groups, done)
    order = [p.name for p in parameters if p.seen]
    full = mix @ share
    slope = np.array([p.slope for p in parameters])
    covariance = full @ done.covariance @ full.T * np.outer(slope, slope)
    seen = np.flatnonzero([p.seen for p in parameters])
    told = [*notes, *_warnings(done, parameters, covariance, table), *_hidden(kept, done, table["fitted"])]
    columns_shown = ("file", "line", "series", "P", "n", "seconds", "fitted", "deviation", "weight", "used")
    names = {*order, *(switch.name for switch in switches)}
    shared = tuple(p.name for p in parameters if p.shared)
    values = np.array([p.value for p in parameters if p.seen])
    found = Way(1.0, values, covariance[np.ix_(seen, seen)], {s.name: (s.value, s.above) for s in switches})
    return Fit(
        model=model,
        source=source or source_of(points),
        names=tuple(order),
        parameters={p.name: p.value for p in parameters} | {s.name: s.value for s in switches},
        stderr={p.name: p.error for p in parameters} | {s.name: math.nan for s in switches},
        intervals={p.name: (p.low, p.high) for p in parameters} | {s.name: (s.low, s.high) for s in switches},
        covariance=found.covariance,
        units={p.name: p.unit for p in parameters} | {s.name: "B" for s in switches},
        points=table[[c for c in columns_shown if c in table]],
        sigma=done.sigma,
        freedom=done.freedom,
        warnings=tuple(told),
        gives={
            key: replace(given, derived=given.derived or given.parameter in shared)
            for key, given in (gives or {}).items()
            if given.parameter in names
        },
        ways=(found,),
        minimized=done.minimized,
        shared=shared,
    )


@dataclass(frozen=True)
class _Parameter:
    """A parameter in its own unit; `slope` is its derivative by what was fitted, -1/x**2 for a rate."""

    name: str
    unit: str
    value: float
    error: float
    low: float
    high: float
    slope: float = 1.0
    seen: bool = True
    shared: bool = False
    spans_zero: bool = False


def _apart(columns: Sequence[Column], seconds: Floats) -> tuple[list[Column], Floats, list[list[tuple[int, float]]]]:
    """Return independent columns, the matrix from them to all, and for each the columns that are multiples of it.

    Columns that are multiples of each other cannot be told apart: the first stands for all, and what is fitted is
    shared out evenly. Columns of zeros stand for nothing.
    """
    kept: list[Column] = []
    members: list[list[tuple[int, float]]] = []
    for at, column in enumerate(columns):
        if not np.any(column.values):
            continue
        for place, other in enumerate(kept):
            a, b = column.values / seconds, other.values / seconds
            ratio = float(a @ b / (b @ b))
            if other.unit == column.unit and np.linalg.norm(a - ratio * b) < 1e-6 * np.linalg.norm(a):
                members[place].append((at, ratio))
                break
        else:
            kept.append(column)
            members.append([(at, 1.0)])
    share = np.zeros((len(columns), len(kept)))
    for place, group in enumerate(members):
        for at, ratio in group:
            share[at, place] = 1 / (len(group) * ratio)
    return kept, share, members


def _parameters(
    columns: Sequence[Column], mix: Floats, share: Floats, groups: list[list[tuple[int, float]]], done: Estimate
) -> list[_Parameter]:
    """Return the parameters with their errors and intervals."""
    times = float(stats.t.ppf(0.975, done.freedom)) if done.freedom > 0 else math.inf
    full = mix @ share
    values, variances = full @ done.values, np.diag(full @ done.covariance @ full.T)
    out = []
    for i, column in enumerate(columns):
        value, error = float(values[i]), math.sqrt(max(float(variances[i]), 0.0)) if done.freedom > 0 else math.inf
        # By the way in which what is fitted together is shared out, a parameter may be anything between these factors.
        ways = [[mix[i, at] / ratio for at, ratio in group] for group in groups]
        shared = any(max(way) - min(way) > 1e-6 * max(way) for way in ways)
        half = times * error if error < math.inf else math.inf
        low, high = max(value - half, 0.0), value + half
        if shared:
            top = (
                done.values + times * np.sqrt(np.diag(done.covariance))
                if done.freedom > 0
                else np.full(len(groups), np.inf)
            )
            low = float(sum(min(way) * v for way, v in zip(ways, done.values, strict=True)))
            high = float(sum(max(way) * v for way, v in zip(ways, top, strict=True) if max(way) > 0))
            error = (high - low) / math.sqrt(12)
        seen = bool(np.any(full[i]))
        if not seen:
            out.append(_Parameter(column.name, column.unit, 0.0, math.inf, 0.0, math.inf, seen=False))
            continue
        spans = low <= 0.0 and not shared
        slope = 1.0
        if column.unit == "B/s":  # what was fitted is one over it
            slope = -1 / value**2 if value > 0 else 0.0
            low, high = 1 / high if high else math.inf, 1 / low if low else math.inf
            value, error = (1 / value, error / value**2) if value > 0 else (math.inf, math.inf)
        out.append(_Parameter(column.name, column.unit, value, error, low, high, slope, True, shared, spans))
    return out


def _hidden(columns: Sequence[Column], done: Estimate, fitted: pd.Series[float]) -> list[str]:
    """Say of which parameters outliers take away most that the points would tell."""
    relative = np.column_stack([column.values for column in columns]) / fitted.to_numpy()[:, None]
    with np.errstate(all="ignore"):
        wider = np.sqrt(np.diag(done.covariance) / np.diag(covariance_of(relative, done.sigma)))
    told = [f"that of {c.name} {x:.2g} times as wide" for c, x in zip(columns, wider, strict=True) if x > MUCH]
    return [f"outliers hide what would tell most. It makes intervals wider, {', '.join(told)}."] if told else []


def _warnings(done: Estimate, parameters: Sequence[_Parameter], covariance: Floats, points: pd.DataFrame) -> list[str]:
    """Say what these points cannot tell, and how badly the model misses them."""
    notes, count = [], len(points)
    if done.freedom < 4:
        sure = "how sure they are is not known at all" if done.freedom <= 0 else "their errors are rough themselves"
        notes.append(f"{count} points for {len(done.values)} parameters are few: {sure}.")
    shared = [p.name for p in parameters if p.shared]
    if shared:
        notes.append(
            f"{' and '.join(shared)} cannot be told apart: these points depend on a sum alone, not on its parts. It is "
            "shared out evenly; each may be anything within its interval."
        )
    for p in parameters:
        if not p.seen:
            notes.append(f"these points say nothing of {p.name}: no time depends on it.")
        elif p.spans_zero and done.freedom > 0:
            notes.append(
                f"{p.name} cannot be told from {'infinity' if p.unit == 'B/s' else '0'}: its 95 % interval is "
                f"{readable(p.low, p.unit)} to {'no limit' if math.isinf(p.high) else readable(p.high, p.unit)}. "
                "Points where it makes up more of the time would tell."
            )
    correlation = correlations(covariance)
    for (i, a), (j, b) in itertools.combinations(enumerate(parameters), 2):
        if abs(correlation[i, j]) > _TRADE and done.freedom > 0 and not (a.shared or b.shared):
            way = "one can be larger if the other is smaller" if correlation[i, j] < 0 else "both can be larger"
            notes.append(
                f"{a.name} and {b.name} trade off (correlation {correlation[i, j]:+.2f}): {way}, and the points fit as "
                "well. Another size or kind of test would tell them apart."
            )
    if done.sigma > _MISFIT and done.freedom > 0:
        worst = points.iloc[int(points["deviation"].abs().to_numpy().argmax())]
        notes.append(
            f"the model misses the points by {100 * done.sigma:.0f} % (standard deviation), at worst by a factor of "
            f"{math.exp(abs(worst['deviation'])):.2f} at {readable(worst['n'], 'B')}: it does not describe them."
        )
    out = int((~points["used"]).sum())
    if out > count / 4:
        notes.append(
            f"{out} of {count} points are outliers: either the measurements or the model are not to be trusted."
        )
    return notes
