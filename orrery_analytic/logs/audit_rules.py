"""The rules of an audit: each looks at all results and says pass, fail, unknown or note, and why."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from orrery_analytic.busbw import BLOCKWISE, FACTORS
from orrery_analytic.decisions.whole import one
from orrery_analytic.logs.audit_report import Check
from orrery_analytic.logs.nccl_points import resolution

__all__ = ["agrees", "correctness", "counts", "identified", "notes", "number_of_rows", "repeats"]

# The tools do not check these in place: N/A is right, and anything else is not.
_NOT_IN_PLACE = ("alltoall", "alltoallv", "p2p")
_GIGA = 1e9


def _rounding(points: pd.DataFrame, name: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return by how much the printed digits of time and bandwidth can make a recomputed bandwidth miss."""
    bounds = []
    columns = (points["seconds"] * 1e6, points[name], points[name + "_bytes_per_s"] / _GIGA)
    for time, value, printed in zip(*columns, strict=True):
        bounds.append(resolution(time, 100) / time * value + resolution(printed, 1000) * _GIGA if time > 0 else 0.0)
    return np.array(bounds)


def agrees(points: pd.DataFrame, name: str, tolerance: float, formula: str) -> Check:
    """Check printed bandwidths against recomputed ones; the digits of the printed time may explain a difference."""
    rows = points[points[name + "_error"].notna()]
    if rows.empty:
        return Check(f"{name} recomputed", "unknown", f"{formula} cannot be formed: collective or ranks are not known")
    errors = rows[name + "_error"].abs().to_numpy()
    beyond = errors > tolerance
    rounding = _rounding(rows[beyond], name) if beyond.any() else np.array([])
    wrong = rows[beyond][errors[beyond] > np.maximum(tolerance, 1.01 * rounding)]
    largest = f"largest error {errors.max() / _GIGA:.5f} GB/s of {len(rows)} results"
    if not wrong.empty:
        first = wrong.iloc[0]
        told = f"line {first['line']} prints {first[name + '_bytes_per_s'] / _GIGA:.2f}, {formula} is "
        told += f"{first[name] / _GIGA:.2f}"
        return Check(f"{name} recomputed", "fail", f"further off than printing can be: {len(wrong)}; first, {told}")
    explained = f"; {beyond.sum()} beyond {tolerance / _GIGA:g} GB/s by the rounding of the printed time"
    return Check(f"{name} recomputed", "pass", largest + (explained if beyond.any() else ""))


def identified(points: pd.DataFrame) -> Iterator[Check]:
    """Yield what a bandwidth means nothing without: versions, collective, type, ranks."""
    for name, column in (
        ("version of the tests", "version"),
        ("version of NCCL", "library"),
        ("collective", "collective"),
        ("datatype", "datatype"),
        ("ranks", "ranks"),
    ):
        values = sorted({f"{value:g}" if isinstance(value, float) else str(value) for value in points[column].dropna()})
        missing = int(points[column].isna().sum())
        told = ", ".join(values[:8]) + (" ..." if len(values) > 8 else "")
        if missing:
            yield Check(name, "unknown", f"not known for {missing} of {len(points)} results" + (told and f"; {told}"))
        else:
            yield Check(name, "pass", told)


def correctness(points: pd.DataFrame) -> Iterator[Check]:
    """Yield what the checks of the results say, with the rules for N/A."""
    in_place = points["in_place"].eq(True)
    unsupported = in_place & points["collective"].isin(_NOT_IN_PLACE)
    checked = points["wrong"].notna() | points["deviation"].notna()
    for name, rows in (("out-of-place results", ~in_place), ("in-place results", in_place & ~unsupported)):
        count = int(rows.sum())
        wrong = points[rows & (points["validation"] == "fail")]
        unchecked = int((rows & ~checked).sum())
        if not count:
            continue
        if not wrong.empty:
            first = wrong.iloc[0]
            yield Check(name, "fail", f"{len(wrong)} of {count} are wrong; first line {first['line']}")
        elif unchecked == count and not checked.any():
            yield Check(name, "unknown", f"none of {count} was checked (N/A: -c 0)")
        elif unchecked:
            yield Check(name, "fail", f"{unchecked} of {count} say N/A where others were checked")
        elif points.loc[rows, "wrong"].isna().any():
            yield Check(name, "unknown", f"{count} print a deviation, not a count: no limit is known")
        else:
            yield Check(name, "pass", f"no wrong element in {count}")
    if unsupported.any():
        odd = points[unsupported & checked]
        names = ", ".join(sorted(set(points.loc[unsupported, "collective"])))
        if odd.empty:
            yield Check("in-place without a check", "pass", f"N/A as it must be: nccl-tests checks no in-place {names}")
        else:
            line = odd.iloc[0]["line"]
            yield Check(
                "in-place without a check", "fail", f"N/A expected for in-place {names}, line {line} has a value"
            )


def counts(points: pd.DataFrame) -> Check:
    """Check what the column count means: a block where each rank has its own, else the whole."""
    rows = points[points["count"].gt(0) & points["ranks"].notna() & points["collective"].isin(list(FACTORS))]
    rows = rows[rows["collective"] != "alltoallv"]
    parts = np.where(rows["collective"].isin(list(BLOCKWISE)), rows["ranks"], 1.0)
    width: pd.Series[float] = rows["size"] / rows["count"] / parts
    odd = rows[~width.isin([1, 2, 4, 8])]
    if rows.empty:
        return Check("size and count", "unknown", "no count, ranks or collective is known")
    if not odd.empty:
        first = odd.iloc[0]
        return Check("size and count", "fail", f"line {first['line']}: size is no multiple of count that fits")
    asked = points[points["requested_bytes"].notna() & (points["requested_bytes"] != points["size"])]
    rounded = f"; {len(asked)} results are of less than was asked for" if len(asked) else ""
    return Check("size and count", "pass", f"size is count * element size, times ranks where it is a block{rounded}")


def number_of_rows(points: pd.DataFrame, expected: int | None) -> Iterator[Check]:
    """Check how many out-of-place results there are, if that is expected."""
    if expected is None:
        return
    count = int((~points["in_place"].eq(True)).sum())
    verdict = "pass" if count == one("rows", expected) else "fail"
    yield Check("number of rows", verdict, f"{count} out-of-place results, {expected} expected")


def repeats(groups: pd.DataFrame, limit: float) -> Check:
    """Check whether repeats are there and steady enough for exact comparisons."""
    repeated = groups[groups["cycles"] > 1]
    unstable = repeated[~repeated["exact"]]
    if repeated.empty:
        return Check(
            "repeats", "unknown", "every point was measured once: no exact comparison can be made from it (-N)"
        )
    if unstable.empty:
        largest = f"coefficient of variation at most {100 * repeated['cv'].max():.2f} %"
        return Check("repeats", "pass", f"{len(repeated)} groups of {repeated['cycles'].min()} or more, {largest}")
    worst = unstable.sort_values("cv").iloc[-1]
    told = f"{worst['collective']}, {worst['size']:.0f} B: {100 * worst['cv']:.2f} %"
    return Check(
        "repeats",
        "note",
        f"{len(unstable)} of {len(repeated)} groups vary by more than {100 * limit:g} % ({told}): exact claims refused",
    )


def notes(points: pd.DataFrame) -> Iterator[Check]:
    """Yield what must be kept in mind whatever the numbers."""
    meaning = "busbw is arithmetic on size, time and ranks: beside the speed of one link, it is a sum over links"
    yield Check("meaning", "note", meaning)
    if (points["ranks"] == 1).any():
        yield Check("one rank", "note", "with one rank busbw is 0 for most collectives and says nothing")
