"""What an explorer of costs says: the costs at the marked point, beside each other, and their formulas."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping

from orrery_analytic.cost import Cost
from orrery_analytic.units import readable
from orrery_analytic.widgets.cost_curves import Costs
from orrery_analytic.widgets.symbol_sliders import number_text

__all__ = ["formula", "words"]

_LONGEST = 500  # characters of a formula that can be read here
_STATUS = '<div role="status" aria-live="polite" style="line-height: 1.4; overflow-wrap: anywhere">{}</div>'
_CELL = 'style="padding-right: 14px; white-space: nowrap"'


def words(shown: Costs, numbers: Mapping[str, float], named: Iterable[str]) -> str:
    """Return HTML: the costs at the marked point, how many times the least each is, and on a second machine the first.

    Parameters
    ----------
    shown : Costs
    numbers : mapping of symbol to float
        Where the sliders are.
    named : iterable of str
        The symbols that say where the point is.
    """
    first, *others = shown.at.values()
    heads = ["", *shown.at, ""] if others else []
    rows = [[html.escape(text) for text in heads]] if heads else []
    least = min(first.values())
    for label, seconds in first.items():
        times = f"{seconds / least:.3g} times the least" if seconds > 1.0005 * least > 0 else ""
        time = readable(seconds, "s") if times else f"<b>{readable(seconds, 's')}</b>"
        rows.append([html.escape(label), time, *(_beside(other[label], seconds) for other in others), times])
    place = ", ".join(f"{name} = {number_text(name, numbers[name])}" for name in dict.fromkeys(named))
    table = "".join(f"<tr>{''.join(f'<td {_CELL}>{text}</td>' for text in row)}</tr>" for row in rows)
    return _STATUS.format(f"<b>{html.escape(place)}</b><table>{table}</table>")


def _beside(seconds: float, first: float) -> str:
    return readable(seconds, "s") + (f" ({seconds / first:.3g} times)" if first else "")


def formula(label: str, cost: Cost) -> str:
    """Return HTML with LaTeX; what is too long is scrolled."""
    latex = html.escape(f"$\\displaystyle {cost.latex()}$")
    if len(latex) > _LONGEST:
        latex = "<i>a long formula, with cases: .latex() of this cost has it</i>"
    note = f'<div style="font-size: smaller; line-height: 1.3">{html.escape(cost.validity)}</div>'
    scrolled = f'<div style="overflow: auto hidden; contain: inline-size; margin: 2px 0">{latex}</div>'
    return (
        f'<div style="width: 740px; max-width: 100%; margin-top: 6px"><b>{html.escape(label)}</b>{scrolled}{note}</div>'
    )
