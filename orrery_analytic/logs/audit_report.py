"""An audit as text, as HTML, and its baseline record as YAML. What comes from a log is quoted, never markup."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pandas as pd

from orrery_analytic.busbw import FACTORS, bus_factor

__all__ = ["Check", "as_html", "as_text", "as_yaml"]

_GIGA = 1e9
_HEADINGS = "collective ranks type place bytes cycles median_us p95_us cv_% algbw_GB/s busbw_GB/s wrong exact".split()


class Check(NamedTuple):
    """A rule: its name, "pass", "fail", "unknown" or "note", and why."""

    name: str
    verdict: str
    reason: str


def _conclusion(checks: Sequence[Check], passed: bool) -> str:
    open_ = sum(check.verdict == "unknown" for check in checks)
    if not passed:
        return "FAIL: " + ", ".join(check.name for check in checks if check.verdict == "fail")
    return "PASS" + (f", with {open_} points that the log leaves open" if open_ else "")


def _cells(groups: pd.DataFrame) -> list[list[str]]:
    rows = []
    for group in groups.to_dict("records"):
        place = "in" if group["in_place"] is True else "out"
        rows.append(
            [
                *(_text(group[name]) for name in ("collective", "ranks", "datatype")),
                place,
                *(_text(group[name]) for name in ("size", "cycles")),
                *(_fixed(group[name], 1e-6, 3) for name in ("median_seconds", "p95_seconds")),
                _fixed(group["cv"], 0.01, 2),
                *(_fixed(group[name], _GIGA, 2) for name in ("algbw", "busbw")),
                _text(group["wrong"]),
                "yes" if group["exact"] else "no",
            ]
        )
    return rows


def _text(value: object) -> str:
    if isinstance(value, float):
        return "?" if math.isnan(value) else f"{value:.0f}"
    return " ".join(str(value).split())[:40]


def _fixed(value: float, unit: float, decimals: int) -> str:
    return "?" if math.isnan(value) else f"{value / unit:.{decimals}f}"


def as_text(checks: Sequence[Check], groups: pd.DataFrame, passed: bool) -> str:
    """Return checks and statistics as text."""
    width = max(len(check.name) for check in checks)
    lines = [_conclusion(checks, passed), ""]
    lines += [f"{check.verdict:8}{check.name:{width}}  {check.reason}" for check in checks]
    table = [_HEADINGS, *_cells(groups)]
    widths = [max(len(row[at]) for row in table) for at in range(len(_HEADINGS))]
    lines += ["", *("  ".join(cell.rjust(size) for cell, size in zip(row, widths, strict=True)) for row in table)]
    return "\n".join(lines) + "\n"


def as_html(checks: Sequence[Check], groups: pd.DataFrame, passed: bool) -> str:
    """Return checks and statistics as HTML."""

    def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
        head = "".join(f'<th style="text-align:left">{html.escape(heading)}</th>' for heading in headings)
        body = "".join(
            "<tr>" + "".join(f'<td style="text-align:left">{html.escape(cell)}</td>' for cell in row) + "</tr>"
            for row in rows
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    rules = table(["rule", "verdict", "why"], [(check.name, check.verdict, check.reason) for check in checks])
    return (
        f"<div><p><b>{html.escape(_conclusion(checks, passed))}</b></p>{rules}{table(_HEADINGS, _cells(groups))}</div>"
    )


def _quoted(text: str) -> str:
    """Return a YAML scalar in double quotes, with every character escaped that could end it or the line."""
    plain = {chr(code) for code in range(32, 127)} - set('"\\')
    return (
        '"' + "".join(c if c in plain else "?" if "\ud800" <= c <= "\udfff" else f"\\U{ord(c):08X}" for c in text) + '"'
    )


def _scalar(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _quoted(value)
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "null"
    return str(value)


def _whole(value: float) -> int | None:
    return int(value) if math.isfinite(value) else None


def _only(values: pd.Series[Any]) -> Any:
    """Return the one value of a column, None where there is none, or more than one."""
    found = list(values.dropna().unique())
    return found[0] if len(found) == 1 else None


def _record(points: pd.DataFrame, group: dict[str, Any]) -> dict[str, dict[str, object]]:
    known = group["collective"] in FACTORS and math.isfinite(group["ranks"])
    factor = float(bus_factor(group["collective"], int(group["ranks"]))) if known else None
    whole = {name: _whole(group[name]) for name in ("ranks", "size", "requested_bytes", "wrong", "cycles")}
    counts = {"warmup": _only(points["warmup_iterations"]), "iterations": _only(points["iterations"])}
    return {
        "software": {"nccl_runtime": _only(points["library"]), "nccl_tests_version": _only(points["version"])},
        "hardware": {"gpu_model": _only(points["device"]), "world_size": whole["ranks"], "topology_hash": None},
        "workload": {
            **{"collective": _string(group["collective"]), "requested_bytes": whole["requested_bytes"]},
            **{
                "actual_bytes": whole["size"],
                "datatype": _string(group["datatype"]),
                "in_place": bool(group["in_place"]),
            },
        },
        "measurement": {
            **{name: None if count is None else _whole(float(count)) for name, count in counts.items()},
            "cycles": whole["cycles"],
            "median_us": round(group["median_seconds"] * 1e6, 3),
            "p95_us": round(group["p95_seconds"] * 1e6, 3),
            "cycle_cv_percent": round(group["cv"] * 100, 3),
            "algbw_GBs": round(group["algbw"] / _GIGA, 3),
            "busbw_GBs": round(group["busbw"] / _GIGA, 3),
            "wrong": whole["wrong"],
        },
        "formula": {"factor": factor, "max_recompute_error_GBs": round(group["error"] / _GIGA, 5)},
    }


def _string(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _entries(points: pd.DataFrame, groups: pd.DataFrame) -> Iterator[str]:
    for group in groups.to_dict("records"):
        if not group["exact"] or group["wrong"] != 0:
            continue
        mark = "- "
        for section, content in _record(points, {str(key): value for key, value in group.items()}).items():
            yield f"{mark}{section}:"
            yield from (f"    {key}: {_scalar(value)}" for key, value in content.items())
            mark = "  "


def as_yaml(points: pd.DataFrame, groups: pd.DataFrame) -> str:
    """Return the groups that were repeated, steady and right as YAML; `[]` if there is none.

    topology_hash is for the reader to fill: no log tells it.
    """
    lines = list(_entries(points, groups))
    return "\n".join(lines or ["[]"]) + "\n"
