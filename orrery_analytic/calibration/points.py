"""From a table of `read` to the points of a fit: one series, one time a size, and what is odd about them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from orrery_analytic.calibration.linear import FAR, NEAR, Floats, spread
from orrery_analytic.errors import FormatError, QuantityError
from orrery_analytic.units import readable, shown

__all__ = [
    "MOST", "SERIES", "as_table", "by_size", "falls", "lines_text", "measured", "numbers", "one_series", "unusable",
    "where",
]  # fmt: skip

SERIES = (
    "file", "table", "benchmark", "collective", "algorithm", "send_buffer", "recv_buffer", "buffers", "ranks", "nodes",
    "in_place", "reduction", "source", "destination", "operation", "library",
)  # fmt: skip
"""Columns that tell one series of measurements from another."""

_FALL = 0.92  # a larger size that takes less than this much of the time of a smaller one
_SHOWN = 6
_PER_SECOND = {"m": "1e3", "u": "1e6", "n": "1e9"}
MOST = 1e18
"""Bytes, seconds, bytes a second: more than that, or less than one over it, was never measured."""


def as_table(table: Any) -> pd.DataFrame:
    """Return a table with at least a row, or raise the error that says what is allowed."""
    if isinstance(table, Mapping):
        try:
            table = pd.DataFrame(dict(table))
        except ValueError as error:
            raise QuantityError(f"these columns make no table: {error}.") from None
    if not isinstance(table, pd.DataFrame):
        raise QuantityError(
            f"a fit takes a table, as read(path) returns it, or columns such as n and seconds, not {shown(table)}."
        )
    if table.columns.nlevels > 1:
        raise QuantityError("the columns of this table have names of several levels. Allowed: one text each.")
    named = [name for name in table.index.names if name is not None and name not in table.columns]
    if named:  # as after a groupby
        table = table.reset_index(named)
    if not len(table):
        raise QuantityError("this table has no row: nothing can be fitted to it.")
    twice = table.columns[table.columns.duplicated()]
    if len(twice):
        raise QuantityError(f"this table has several columns {shown(twice[0])}. Allowed: each name once.")
    for name in SERIES:
        if name in table.columns and not table[name].map(pd.api.types.is_scalar).all():
            raise QuantityError(f"the column {name} of this table holds lists or the like. Allowed: text and numbers.")
    return pd.DataFrame(table.reset_index(drop=True))  # an index of the name of a column would be ambiguous


def numbers(table: pd.DataFrame, column: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return a column as floats; NaN where it is absent or no number."""
    if column not in table.columns:
        return np.full(len(table), np.nan)
    if table[column].dtype.kind in "bcmM":  # pandas would take a date for its nanoseconds
        raise QuantityError(f"the column {column} of this table holds {table[column].dtype}. Allowed: numbers.")
    try:
        return np.asarray(pd.to_numeric(table[column], errors="coerce"), dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise QuantityError(f"the column {column} of this table holds something that is no number of a log.") from None


def measured(table: pd.DataFrame, column: str = "seconds") -> pd.DataFrame:
    """Return the rows that have a size and a value of a column, with both as floats.

    Raises
    ------
    FormatError
        If there is none.
    """
    out = table.copy()
    out["n"] = np.where(np.isfinite(numbers(table, "n")), numbers(table, "n"), numbers(table, "size"))
    out[column] = numbers(table, column)
    keep = (out["n"] >= 0) & (out["n"] < MOST) & (out[column] > 1 / MOST) & (out[column] < MOST)
    if not keep.any():
        filled = [str(name) for name in table.columns if table[name].notna().any()]
        raise FormatError(
            f"no row of this table has a size (n, in bytes) and {column} above 0. Its columns: {', '.join(filled)}. "
            f"{_recipe(table, column)}"
        )
    return pd.DataFrame(out.loc[keep])


def _recipe(table: pd.DataFrame, column: str) -> str:
    """Say how to make a column of a table that has none, from those that it has."""
    if column in table.columns and not {"n", "size"}.isdisjoint(table.columns):
        timed = (numbers(table, column) > 1 / MOST).any()
        bad = column if not timed else "n" if "n" in table.columns else "size"
        held = table[bad].dropna()
        told = shown(_plain(held.iloc[0])) if len(held) else "nothing"
        return f"Its {bad} holds {told}. Allowed: numbers above 0, in SI units."
    names = [str(name) for name in table.columns]
    size = next((name for name in names if re.search("^n$|size|byte", name.lower())), "sizes")
    if column != "seconds":
        return f"Make them: table.assign(n=table[{size!r}], {column}=...)."
    time = next((name for name in names if re.search("time|lat|sec|^[unm]s$|_[unm]s$", name.lower())), "time_us")
    unit = re.search("[unm]s(ec)?$", time.lower())
    factor = f" / {_PER_SECOND[unit[0][0]]}" if unit else ""
    return f"Make them: table.assign(n=table[{size!r}], seconds=table[{time!r}]{factor})."


def unusable(table: pd.DataFrame) -> list[str]:
    """Return notes on values that are there and are no size, or no time."""
    notes = []
    for column, least in (("n", 0.0), ("seconds", 1 / MOST)):
        values = numbers(table, column)
        given = table[column].notna().to_numpy() if column in table.columns else np.zeros(len(table), dtype=bool)
        bad = given & ~((values >= least) & (values < MOST))
        if bad.any():
            held = shown(_plain(table[column][bad].iloc[0]))
            notes.append(f"{_rows(int(bad.sum()))} not used{where(table[bad])}: {column} holds {held}.")
    return notes


def one_series(table: pd.DataFrame, apart_from: Iterable[str] = ()) -> pd.DataFrame:
    """Return the table if its rows are of one series, or raise the error that lists the series.

    Raises
    ------
    QuantityError
        If there are several: the caller takes one.
    """
    names = [name for name in SERIES if name in table.columns and name not in set(apart_from)]
    differ = [name for name in names if table[name].nunique(dropna=False) > 1]
    if not differ:
        return table
    groups = list(table.groupby(differ, dropna=False, sort=False))
    told = "; ".join(
        ", ".join(f"{name} {_told(value)}" for name, value in zip(differ, key, strict=True)) + f" ({len(rows)} rows)"
        for key, rows in groups[:_SHOWN]
    )
    more = f"; and {len(groups) - _SHOWN} more" if len(groups) > _SHOWN else ""
    first = groups[0][0][0]
    raise QuantityError(
        f"a fit takes one series of measurements, and this table has {len(groups)}: {told}{more}. "
        f"Take one, for example table[table[{differ[0]!r}] == {_plain(first)!r}]."
    )


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _told(value: Any) -> str:
    value = _plain(value)
    return f"{value:g}" if isinstance(value, float) and not isinstance(value, bool) else str(value)


def lines_text(rows: pd.DataFrame, most: int = 12) -> str:
    """Return "line 12", "lines 12 and 13", "lines 3 to 9" for the rows of one file, "" where lines are not known."""
    if "line" not in rows.columns or not len(rows):
        return ""
    lines = sorted({int(x) for x in numbers(rows, "line") if np.isfinite(x)})
    if not lines:
        return ""
    if len(lines) == 1:
        return f"line {lines[0]}"
    if len(lines) > 2 and lines[-1] - lines[0] == len(lines) - 1:
        return f"lines {lines[0]} to {lines[-1]}"
    if len(lines) > most:
        return f"{len(lines)} of lines {lines[0]} to {lines[-1]}"
    return f"lines {', '.join(map(str, lines[:-1]))} and {lines[-1]}"


def where(rows: pd.DataFrame) -> str:
    """Return the lines of some rows in brackets with a space before, or nothing."""
    text = lines_text(rows)
    return f" ({text})" if text else ""


def by_size(
    rows: pd.DataFrame, column: str = "seconds", keys: Sequence[str] = ("n",)
) -> tuple[pd.DataFrame, list[str]]:
    """Return one row a size, in order of size, and notes on what was left out or put together.

    Rows of 0 bytes are left out unless their buffers are known to be on the host, or not known at all: for device
    buffers a library does nothing there. Rows that failed their validation are left out. Of rows that repeat a size the
    mean is taken, without those far from the middle one.
    """
    notes = []
    bad = np.zeros(len(rows), dtype=bool)
    if "validation" in rows.columns:
        bad |= (rows["validation"] == "fail").to_numpy()
    bad |= numbers(rows, "wrong") > 0
    if bad.any():
        notes.append(f"{_rows(bad.sum())} with wrong results not used{where(rows[bad])}.")
        rows = rows[~bad]
    zero = (rows["n"] == 0).to_numpy()
    if zero.any() and _on_device(rows):
        notes.append(
            f"{_rows(zero.sum())} of 0 bytes not used{where(rows[zero])}: nothing of a device buffer moves there, so "
            "they say nothing of its latency."
        )
        rows = rows[~zero]
    if not len(rows):
        raise FormatError(
            "no row is left to fit: those that there are have wrong results, or 0 bytes of a device buffer."
        )
    repeated = rows.duplicated(list(keys), keep=False)
    if repeated.any():
        far = _far(rows[column].to_numpy(dtype=float), rows.groupby(list(keys), sort=False).ngroup().to_numpy())
        sizes = rows.loc[repeated, "n"].nunique()
        without = f", without {_rows(int(far.sum()))} far from the others{where(rows[far])}" if far.any() else ""
        notes.append(
            f"{_rows(int(repeated.sum()))} repeat {sizes} size{'s' if sizes > 1 else ''}{where(rows[repeated])}: the "
            f"mean of each size is taken{without}."
        )
        rows = rows[~far]
        mean = rows.groupby(list(keys))[column].mean()
        rows = rows.drop_duplicates(list(keys)).set_index(list(keys), drop=False)
        rows[column] = mean
        rows.index = pd.RangeIndex(len(rows))
    return rows.sort_values(list(keys)).reset_index(drop=True), notes


def _far(values: Floats, size: np.ndarray[Any, Any]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return which repeats are further from the middle one of their size than `FAR` standard deviations, and `NEAR`.

    The standard deviation is one for all sizes: each alone has few repeats. Of an even number the lower middle one
    counts, as what disturbs a measurement makes it longer.
    """
    order = np.lexsort((values, size))
    logs, of = np.log(values[order]), size[order]
    begin = np.flatnonzero(np.r_[True, of[1:] != of[:-1]])
    count = np.diff(np.r_[begin, len(of)])
    r = logs - np.repeat(logs[begin + (count - 1) // 2], count)
    half = np.maximum(count / 2, 1)  # the middle one itself says nothing of the spread, nor does a pair say it twice
    told = (r != 0) & np.repeat(count > 1, count)
    wide = np.repeat(np.sqrt(half / (half + 0.5)), count)
    sigma = spread((r * wide)[told]) if told.any() else 0.0
    far = np.zeros(len(values), dtype=bool)
    far[order] = np.abs(r) > max(FAR * sigma, NEAR)
    return far


def _rows(count: int) -> str:
    return f"{count} row{'s' if count > 1 else ''}"


def _on_device(rows: pd.DataFrame) -> bool:
    for name in ("buffers", "send_buffer", "recv_buffer"):
        if name in rows.columns and rows[name].isin(["device", "mixed", "managed"]).any():
            return True
    return False


def falls(rows: pd.DataFrame, column: str = "seconds") -> list[str]:
    """Return a note on where a larger message takes less time, the worst first."""
    n, seconds = rows["n"].to_numpy(), rows[column].to_numpy()
    ratio = seconds[1:] / seconds[:-1]
    odd = np.flatnonzero(ratio < _FALL)
    if not odd.size:
        return []
    worst = odd[np.argsort(ratio[odd])][:3]
    told = [
        f"from {readable(seconds[i], 's')} at {readable(n[i], 'B')} to {readable(seconds[i + 1], 's')} at "
        f"{readable(n[i + 1], 'B')}{where(rows.iloc[[i, i + 1]])}"
        for i in worst
    ]
    more = f"; {len(odd) - len(worst)} more" if len(odd) > len(worst) else ""
    return [f"time falls with size: {'; '.join(told)}{more}. No line with a latency and a bandwidth does that."]
