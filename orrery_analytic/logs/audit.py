"""The audit of a log of nccl-tests: recomputed bandwidths, checks of results, repeats, and what may be claimed from it.

Thresholds and rules: "From the source of nccl-tests to algbw and busbw" (course chapter 08, nccl-tests 2.19.5). A log
passes if its numbers agree with each other; that says nothing of the hardware.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from orrery_analytic.busbw import FACTORS, bus_bandwidth, canonical
from orrery_analytic.decisions.whole import one
from orrery_analytic.errors import FormatError, QuantityError
from orrery_analytic.logs import COLUMNS, read
from orrery_analytic.logs.audit_report import Check, as_html, as_text, as_yaml
from orrery_analytic.logs.audit_rules import agrees, correctness, counts, identified, notes, number_of_rows, repeats
from orrery_analytic.units import shown

__all__ = ["ALGBW_TOLERANCE", "BUSBW_TOLERANCE", "CV_LIMIT", "Audit", "audit"]

#: Bytes per second by which a recomputed bandwidth may miss the printed one, which has two decimals of a GB/s.
ALGBW_TOLERANCE = 0.011e9
BUSBW_TOLERANCE = 0.016e9
#: Repeats that vary more (standard deviation over mean) bear no exact comparison.
CV_LIMIT = 0.05

_GROUP = ["collective", "ranks", "datatype", "reduction", "root", "in_place", "size"]


@dataclass(frozen=True)
class Audit:
    """What an audit found.

    Attributes
    ----------
    checks
        One a rule: its name, "pass", "fail", "unknown" or "note", and why.
    points
        The audited rows of the log, with `algbw_error` and `busbw_error`: recomputed minus printed, in bytes/s.
    groups
        A row a collective, ranks, type, size and place: cycles, median and p95 of the time, coefficient of variation
        `cv`, median bandwidths (recomputed), wrong elements, and `exact`: whether they bear an exact comparison.
    """

    checks: tuple[Check, ...]
    points: pd.DataFrame
    groups: pd.DataFrame

    @property
    def passed(self) -> bool:
        """Whether no rule is broken."""
        return all(check.verdict != "fail" for check in self.checks)

    def report(self) -> str:
        """Return the findings as text."""
        return as_text(self.checks, self.groups, self.passed)

    def __str__(self) -> str:
        return self.report()

    def baseline(self) -> str:
        """Return the record that may serve as a baseline, as YAML: one entry a group that was checked and repeated."""
        return as_yaml(self.points, self.groups)

    def _repr_html_(self) -> str:
        return as_html(self.checks, self.groups, self.passed)


def audit(
    source: object,
    collective: str | None = None,
    ranks: int | None = None,
    rows: int | None = None,
    cv_limit: float = CV_LIMIT,
) -> Audit:
    """Audit a log of nccl-tests or rccl-tests: does it agree with itself, and what may be claimed from it.

    Parameters
    ----------
    source
        A table from `orrery_analytic.read`, or anything that it reads.
    collective, ranks
        Fill in what the log does not tell.
    rows
        How many out-of-place results there must be; not checked if None.
    cv_limit
        Coefficient of variation (a fraction) of the repeats above which exact comparisons are refused.

    Returns
    -------
    Audit
        `.passed`, `.checks`, `.groups`, `.points`, `.report()`, and `.baseline()`: YAML of the groups that are right,
        repeated and steady.

    Raises
    ------
    FormatError
        No row of these tools.
    UnknownNameError, QuantityError

    Notes
    -----
    algbw = size / time and busbw = algbw * `bus_factor` are recomputed from the printed size and time, never from the
    requested size. They may miss what is printed by 0.011 and 0.016 GB/s, or by what the printed digits of the time
    make up. Out-of-place, and in-place where the tools check it, no element may be wrong; elsewhere N/A is right.
    """
    table = source if isinstance(source, pd.DataFrame) else read(source)
    missing = [name for name in COLUMNS if name not in table]
    if missing:
        raise FormatError(f"an audit takes a log, or a table from read(): this one has no column {missing[0]!r}.")
    points = table[table["algbw_bytes_per_s"].notna() & table["seconds"].notna()].copy()
    if points.empty:
        raise FormatError("an audit needs rows of nccl-tests or rccl-tests (size, time, algbw); this log holds none.")
    limit = _limit(cv_limit)
    if collective is not None:
        points["collective"] = points["collective"].fillna(canonical(collective))
    if ranks is not None:
        points["ranks"] = points["ranks"].fillna(float(one("ranks", ranks, 1)))
    _recompute(points)
    groups = _groups(points, limit)
    checks = [
        *identified(points),
        agrees(points, "algbw", ALGBW_TOLERANCE, "size / time"),
        agrees(points, "busbw", BUSBW_TOLERANCE, "algbw * factor(collective, ranks)"),
        *correctness(points),
        counts(points),
        *number_of_rows(points, rows),
        repeats(groups, limit),
        *notes(points),
    ]
    return Audit(tuple(checks), points, groups)


def _limit(given: object) -> float:
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not 0 <= given <= 1e6:
        raise QuantityError(f"cv_limit = {shown(given)}: allowed is a fraction, such as 0.05.")
    return float(given)


def _known(points: pd.DataFrame) -> pd.Series[bool]:
    return points["collective"].isin(list(FACTORS)) & points["ranks"].notna() & (points["seconds"] > 0)


def _recompute(points: pd.DataFrame) -> None:
    """Add what size and time give, and by how much it misses what is printed."""
    for name in ("algbw", "busbw"):
        points[name] = points[name + "_error"] = math.nan
    known = _known(points)
    for name in sorted(set(points.loc[known, "collective"])):
        rows = points[known & (points["collective"] == name)]
        columns = (rows[column].to_numpy() for column in ("size", "seconds", "ranks"))
        points.loc[rows.index, "algbw"], points.loc[rows.index, "busbw"] = bus_bandwidth(name, *columns)
    alone = ~known & (points["collective"] != "hypercube") & (points["seconds"] > 0)
    points.loc[alone, "algbw"] = points["size"] / points["seconds"]
    for name in ("algbw", "busbw"):
        points[name + "_error"] = points[name] - points[name + "_bytes_per_s"]


def _groups(points: pd.DataFrame, limit: float) -> pd.DataFrame:
    """Return the statistics of repeats; 0-byte rows are of different requests and left out."""
    keys = points[points["size"] > 0]
    grouped = keys.groupby(_GROUP, dropna=False, sort=False)
    groups = grouped.agg(
        cycles=("seconds", "size"),
        requested_bytes=("requested_bytes", "first"),
        median_seconds=("seconds", "median"),
        p95_seconds=("seconds", lambda times: float(np.percentile(times, 95))),
        cv=("seconds", lambda times: float(np.std(times) / np.mean(times)) if len(times) > 1 else math.nan),
        algbw=("algbw", "median"),
        busbw=("busbw", "median"),
        wrong=("wrong", lambda wrong: wrong.sum(min_count=len(wrong))),
        error=("busbw_error", lambda errors: errors.abs().max()),
    ).reset_index()
    groups["exact"] = groups["cv"] <= limit
    return groups
