"""Copies between device and host: bands of sizes from a sweep, a bandwidth alone from single rates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from orrery_analytic.calibration.fitted import Fit
from orrery_analytic.calibration.lines import fit_lines
from orrery_analytic.calibration.points import MOST, by_size, falls, lines_text, numbers, one_series
from orrery_analytic.calibration.result import Given
from orrery_analytic.calibration.solve import Column, solve
from orrery_analytic.decisions.whole import one
from orrery_analytic.errors import FormatError, QuantityError, choose
from orrery_analytic.symbols import COPIES

__all__ = ["copies"]

_ENOUGH = 3  # sizes from which a latency and a bandwidth can be told apart
_LARGE = 2.0**26  # bytes of a copy whose latency no longer counts, where a table does not say the size


def _copy(rows: pd.DataFrame) -> str:
    """Return which of `COPIES` the rows are, by the buffers and what the benchmark calls pinned."""
    ways = {
        ("device", "host"): "d2h",
        ("host", "device"): "h2d",
    }
    pairs = (
        set(zip(rows["send_buffer"], rows["recv_buffer"], strict=True))
        if {"send_buffer", "recv_buffer"} <= set(rows.columns)
        else set()
    )
    if len(pairs) != 1 or next(iter(pairs)) not in ways:
        raise QuantityError(
            "the table does not say one direction of copies: take the rows of one, by send_buffer and recv_buffer, or "
            f"give copy=, one of {', '.join(COPIES)}."
        )
    names = " ".join(map(str, rows["benchmark"].dropna().unique())) if "benchmark" in rows.columns else ""
    return ("pinned_" if "pinned" in names.lower() or "nvbandwidth" in names else "") + ways[next(iter(pairs))]


def copies(table: pd.DataFrame, copy: str | None = None, most: int = 3) -> Fit:
    r"""Return latency and bandwidth of a copy, in up to `most` bands of sizes: :math:`T = \alpha_i + n \beta_i`.

    Parameters
    ----------
    table : DataFrame
        Copies of n bytes in one direction: seconds, or bandwidths. Of bandwidths without their sizes the median gives
        the time a byte; the latency is then not known.
    copy : str, optional
        "d2h", "h2d", "pinned_d2h" or "pinned_h2d"; what the table says unless given (nvbandwidth copies pinned memory).
    most : int
        The largest number of bands.
    """
    name = _copy(table) if copy is None else choose("copy", copy, COPIES)
    rates, n = numbers(table, "bandwidth_bytes_per_s"), numbers(table, "n")
    n = np.where(np.isfinite(n), n, numbers(table, "size"))
    rated = np.isfinite(rates) & (rates > 0)
    with np.errstate(all="ignore"):  # bandwidthTest prints times of 0.00001 s
        seconds = np.where(rated, n / rates, numbers(table, "seconds"))
    usable = (seconds > 1 / MOST) & (seconds < MOST) & (n > 0) & (n < MOST)
    if len(set(n[usable])) < _ENOUGH:
        return _rate_alone(table, name, np.where(np.isfinite(rates), rates, n / seconds))
    rows = table[usable].copy()
    rows["n"], rows["seconds"] = n[usable], seconds[usable]
    rows = one_series(rows)
    points, notes = by_size(rows.assign(buffers="host", send_buffer="host", recv_buffer="host"))
    notes += falls(points)
    if rated[usable].any():
        notes.append(
            "bandwidths were measured, and their times are n over bandwidth: where copies follow each other without a "
            "wait, the latency of one is hidden in part."
        )
    fit = fit_lines("copies", points, notes, f"alpha_{name}", f"beta_{name}", one("most", most, 1, 8))
    alphas = [each for each in fit.names if each.startswith("alpha")]
    if len(alphas) == 1:
        gives = {f"{name}_latency": Given(f"alpha_{name}"), f"{name}_bandwidth": Given(f"beta_{name}")}
    else:
        gives = {f"{name}_bands": Given(alphas[0])}
    return replace(fit, gives=gives)


def _rate_alone(table: pd.DataFrame, name: str, rates: Any) -> Fit:
    known = (rates > 1) & (rates < MOST)
    if not known.any():
        raise FormatError("no row of this table has a bandwidth, or a time and a size: no copy can be fitted.")
    rows = table[known].copy()
    rows["seconds"] = _LARGE / rates[known]
    rows["n"] = _LARGE
    notes = [
        f"{known.sum()} bandwidths of too few sizes ({lines_text(rows)}): beta_{name} is that of their median. The "
        "latency of a copy cannot be told from them: a sweep over sizes from 1 kB would."
    ]
    columns = [Column(f"beta_{name}", "s/B", rows["n"].to_numpy(dtype=float))]
    gives = {f"{name}_bandwidth": Given(f"beta_{name}")}
    return solve("copies", columns, rows.reset_index(drop=True), notes=notes, gives=gives)
