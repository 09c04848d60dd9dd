"""The report of a fit, as text and as HTML."""

from __future__ import annotations

import html as markup
import math

from orrery_analytic.calibration.points import lines_text
from orrery_analytic.calibration.result import Result
from orrery_analytic.units import readable

__all__ = ["html", "meaning", "text", "value_text"]

_WORTH = 0.5  # correlations below this are not worth a line
_HEADS = ("parameter", "value", "std. error", "95 % interval", "as a rate")


def value_text(value: float, unit: str) -> str:
    """Return a number with its unit; what is not finite in words."""
    if math.isinf(value):
        return "no limit"
    return "unknown" if math.isnan(value) else readable(value, unit)


def meaning(fit: Result) -> str:
    """Return over what the fit holds, in one line."""
    low, high = fit.range
    used = int(fit.points["used"].sum())
    return (
        f"{used} of {len(fit.points)} points, {readable(low, 'B')} to {readable(high, 'B')}; "
        f"they lie {100 * fit.sigma:.2g} % about the model (relative standard deviation). "
        "Larger and smaller sizes are extrapolation."
    )


def _rows(fit: Result) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for name, value in fit.parameters.items():
        unit = fit.units[name]
        low, high = fit.intervals[name]
        error = fit.stderr.get(name, math.nan)
        rate = readable(1 / value, "B/s") if unit == "s/B" and value > 0 and math.isfinite(1 / value) else ""
        rows.append(
            (
                name,
                value_text(value, unit),
                "" if math.isnan(error) else value_text(error, unit),
                f"{value_text(low, unit)} to {value_text(high, unit)}",
                rate,
            )
        )
    return rows


def _correlations(fit: Result) -> list[str]:
    matrix = fit.correlations.to_numpy()
    return [
        f"{a} and {b}: {matrix[i, j]:+.2f}"
        for i, a in enumerate(fit.names)
        for j, b in enumerate(fit.names[:i])
        if abs(matrix[i, j]) > _WORTH
    ]


def _outliers(fit: Result) -> list[str]:
    out = []
    for at, row in fit.outliers.iterrows():
        place = lines_text(fit.points.loc[[at]])
        told = "" if not place else f"{place}: "
        size = readable(row["n"], "B")
        ratio = math.exp(row["deviation"])
        out.append(f"{told}{readable(row['seconds'], 's')} at {size}, {ratio:.2f} times the model")
    return out


def text(fit: Result) -> str:
    """Return the report of a fit as text."""
    rows = [_HEADS, *_rows(fit)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEADS))]
    out = [f"Fit of {fit.model} to {fit.source}", meaning(fit), ""]
    out += ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    for title, lines in _parts(fit):
        out += ["", f"{title}:", *(f"  {line}" for line in lines)]
    return "\n".join(out)


def _parts(fit: Result) -> list[tuple[str, list[str]]]:
    parts = [
        (f"Correlations above {_WORTH}", _correlations(fit)),
        ("Outliers, which do not count or count little", _outliers(fit)),
        ("Warnings", list(fit.warnings)),
    ]
    return [(title, lines) for title, lines in parts if lines]


def html(fit: Result) -> str:
    """Return the report of a fit as HTML."""
    left = "style='text-align:left'"
    heads = "".join(f"<th {left}>{head}</th>" for head in _HEADS)
    rows = "".join(
        "<tr>" + "".join(f"<td {left}>{markup.escape(cell)}</td>" for cell in row) + "</tr>" for row in _rows(fit)
    )
    out = f"<p><b>{markup.escape(fit.model)}</b>: {markup.escape(fit.source)}<br>{markup.escape(meaning(fit))}</p>"
    out += f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
    for title, lines in _parts(fit):
        items = "".join(f"<li>{markup.escape(line)}</li>" for line in lines)
        out += f"<p>{markup.escape(title)}:</p><ul>{items}</ul>"
    return out
