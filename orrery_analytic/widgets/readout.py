"""What an explorer says in words: the choice and why, its cost and what it is made of, and the formula."""

from __future__ import annotations

import html
from functools import lru_cache

import numpy as np
import sympy as sp

from orrery_analytic.collectives.formulas import has_formula
from orrery_analytic.decisions import select
from orrery_analytic.plots import size_text
from orrery_analytic.selection import Plan, plan_cost
from orrery_analytic.symbols.printing import latex
from orrery_analytic.units import readable
from orrery_analytic.widgets.view import NETWORKS, Picture, View

__all__ = ["formula", "sentence"]


def sentence(view: View, picture: Picture) -> str:
    """Return HTML: what the library takes at the current point and why, what it costs, and what would be best."""
    i = picture.here
    chosen = str(picture.chosen[i])
    reason = select(view.collective, view.P, view.size, rules=view.rules).reason
    place = f"P = {view.P}" + ("" if view.collective == "barrier" else f", n = {_size(view)}")
    text = f"{place}: Open MPI ({view.rules}) takes {_strong(chosen)} because "
    text += f'<span style="white-space: nowrap">{html.escape(str(reason))}</span>'
    text += _handed_over(chosen, picture.plan) + ". "
    seconds = float(picture.choice[i])
    if not np.isfinite(seconds):
        return text + _no_formula(view, chosen, picture.plan) + _best(picture, None)
    on = f" on {html.escape(view.machine_name)}" if view.beside else ""
    text += f"It costs {_strong(readable(seconds, 's'))}{on}"
    shares = {name: float(values[i]) / seconds for name, values in picture.terms.items()} if seconds else {}
    if shares:
        first = max(shares, key=lambda name: shares[name])
        text += f", {100 * shares[first]:.0f} % of it {html.escape(first.replace('_', ' '))}"
    return text + _second(view, picture, seconds) + ". " + _best(picture, seconds)


def _second(view: View, picture: Picture, seconds: float) -> str:
    """Say what the same costs on the second machine."""
    if view.beside is None or picture.beside is None:
        return ""
    other = float(picture.beside.choice[picture.here])
    ratio = f", {other / seconds:.2f} times as long" if seconds else ""
    return f"; {_strong(readable(other, 's'))} on {html.escape(view.beside.name)}{ratio}"


def _strong(text: str) -> str:
    return f'<b style="white-space: nowrap">{html.escape(text)}</b>'


def _size(view: View) -> str:
    if view.shares_total:
        return f"{size_text(view.size)} a rank ({size_text(view.n)} in all)"
    return size_text(view.n)


def _handed_over(chosen: str, plan: Plan) -> str:
    if plan.algorithm != chosen:
        return f", which hands over to {_strong(plan.algorithm)}"
    return f", which is made of {_strong(' and '.join(plan.parts))}" if plan.parts else ""


def _no_formula(view: View, chosen: str, plan: Plan) -> str:
    """Say by name what has no formula; the cost of something else is never shown in its place."""
    named = [part.split(":") for part in plan.parts] or [[view.collective, plan.algorithm]]
    network = NETWORKS[view.network]
    lacking = [f"{where} {name}" for where, name, *_ in named if not has_formula(where, name, network)]
    told = " and ".join(_strong(name) for name in lacking or [f"{view.collective} {chosen} in segments"])
    return f"There is no formula for {told} yet, so its cost is not shown. "


def _best(picture: Picture, choice: float | None) -> str:
    here = {name: float(values[picture.here]) for name, values in picture.seconds.items()}
    known = {name: value for name, value in here.items() if np.isfinite(value)}
    if not known:
        return ""
    name = min(known, key=lambda a: known[a])
    if choice is not None and choice <= known[name] * (1 + 1e-9):
        return "No drawn algorithm is faster."
    who = "The fastest that is drawn" if choice is None else "Faster"
    text = f"{who}: {_strong(name)}, {readable(known[name], 's')}"
    return f"{text}." if not choice else f"{text}; the choice takes {choice / known[name]:.2f} times as long."


def formula(view: View, plan: Plan) -> str:
    """Return HTML with LaTeX: what runs, term by term, and where the formula is exact."""
    return _formula(view.collective, plan, view.network, view.buffers, view.transport, view.bands)


@lru_cache(maxsize=256)
def _formula(
    collective: str,
    plan: Plan,
    network: str,
    buffers: str,
    transport: str | None,
    bands: tuple[tuple[str, int], ...],
) -> str:
    cost = plan_cost(collective, plan, NETWORKS[network], bands, buffers=buffers, transport=transport)
    title = f"<b>{html.escape(collective)}, {html.escape(str(plan))}</b>"
    if cost is None:
        return f"{title}: no formula yet."
    if cost.total.atoms(sp.Max) != sp.Add(*cost.terms.values()).atoms(sp.Max):
        rows = [rf"& T = & \displaystyle {cost.latex()}"]  # terms that cancel in part: the sum is shorter
    else:
        rows = [
            rf"\text{{{name.replace('_', ' ')}}} & {'+' if i else 'T ='} & \displaystyle {latex(e)}"
            for i, (name, e) in enumerate(cost.terms.items())
        ]
    table = r"\begin{array}{rrl}" + r" \\ ".join(rows) + r"\end{array}"
    # Contained, or a long formula would make the text below it as wide.
    scrolled = f'<div style="overflow: auto hidden; contain: inline-size; margin: 4px 0">${table}$</div>'
    note = f'<div style="font-size: smaller; line-height: 1.35">{html.escape(cost.validity)}</div>'
    # The content of an HTMLMath widget shrinks to its text unless it asks for a width.
    return f'<div style="width: 740px; max-width: 100%">{title}{scrolled}{note}</div>'
