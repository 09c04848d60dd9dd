"""Tables that notebooks show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from orrery_analytic.symbols.printing import latex

__all__ = ["formula", "html_table"]


def formula(e: Any) -> str:
    """Return an expression as LaTeX between dollars, with fractions as tall as on a line of their own."""
    return rf"$\displaystyle {latex(e)}$"


def html_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table as HTML, its text at the left. Cells are HTML already; columns without any are left out."""
    cells = [list(row) for row in rows]
    kept = [i for i in range(len(head)) if any(row[i] for row in cells)]
    left = "style='text-align:left'"
    top = "".join(f"<th {left}>{head[i]}</th>" for i in kept)
    body = "".join(f"<tr>{''.join(f'<td {left}>{row[i]}</td>' for i in kept)}</tr>" for row in cells)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
