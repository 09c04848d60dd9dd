"""The formulas of a live view as JavaScript and LaTeX, and the tables of what runs where."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from orrery_analytic.collectives import list_algorithms
from orrery_analytic.collectives.algorithm import TWO
from orrery_analytic.collectives.registry import formulas
from orrery_analytic.cost import Cost
from orrery_analytic.decisions import ALGORITHMS, select
from orrery_analytic.machines import Machine
from orrery_analytic.plots.style import algorithm_styles
from orrery_analytic.selection import Plan, plan_cost, plans
from orrery_analytic.symbols.printing import latex
from orrery_analytic.widgets.javascript import function
from orrery_analytic.widgets.view import BLOCKS, NETWORKS

__all__ = ["formulas_of", "tables", "usual"]

_ITEMSIZE = 4


def usual(collective: str) -> list[str]:
    """Return the library's own algorithms that have a curve; "two_proc" is for two ranks alone."""
    own = ALGORITHMS[collective].values()
    return [name for name in list_algorithms(collective) if name in own and name != "two_proc"]


def tables(collective: str, rules: str, ranks: Any, sizes: Any) -> tuple[dict[str, Any], tuple[Plan, ...]]:
    """Return the tables of a collective over arrays of ranks and sizes, and the plans in the order that they count."""
    return _tables(collective, rules, tuple(ranks.tolist()), tuple(sizes.tolist()))


@lru_cache(maxsize=32)
def _tables(
    collective: str, rules: str, ranks: tuple[int, ...], sizes: tuple[int, ...]
) -> tuple[dict[str, Any], tuple[Plan, ...]]:
    """Return the tables of a collective, and the plans in the order that they count."""
    options = {"collective": collective, "rules": rules}
    names, found = list_algorithms(collective), dict[Plan, int]()
    looks = algorithm_styles(names)
    tables = [_table(options, np.array(ranks), np.array(sizes), name, found) for name in names]
    choice, told = _choice(options, np.array(ranks), np.array(sizes), found)
    own = usual(collective)
    curves = [
        {"name": name, "table": table, "usual": name in own, **_style(look)}
        for name, table, look in zip(names, tables, looks, strict=True)
    ]
    plans_found = [{"text": str(plan), "algorithm": plan.algorithm} for plan in found]
    kind = {"blocks": collective in BLOCKS}
    return {**kind, "curves": curves, "choice": choice, "told": told, "plans": plans_found}, tuple(found)


def formulas_of(
    collective: str, found: tuple[Plan, ...], where: dict[str, Any], bands: tuple[tuple[str, int], ...], base: Machine
) -> dict[str, Any]:
    """Return the formulas of all plans at one place of buffers: as JavaScript, and as LaTeX with their names."""

    def cost(plan: Plan, network: str, of: tuple[tuple[str, int], ...]) -> Cost | None:
        return plan_cost(collective, plan, NETWORKS[network], of, **where)

    priced = {network: [cost(plan, network, bands) for plan in found] for network in NETWORKS}
    used = {network: sorted(_needs(costs)) for network, costs in priced.items()}
    arguments = ["P", "n", *sorted({name for names in used.values() for name in names})]
    own = tuple(base.bands.items())
    return {
        "source": _source(priced, arguments),
        "networks": {
            network: [None if c is None else list(c.terms) for c in costs] for network, costs in priced.items()
        },
        "latex": {network: [_latex(cost(plan, network, own)) for plan in found] for network in NETWORKS},
        "used": used,
        "arguments": arguments[2:],
    }


def _latex(cost: Cost | None) -> str:
    # Term by term: that is their order, and a total would be simplified first, which takes longer than all the rest.
    return "" if cost is None else f"T = {' + '.join(latex(e) for e in cost.terms.values()) or '0'}"


def _style(style: dict[str, Any]) -> dict[str, Any]:
    dashes = [] if style["linestyle"] == "-" else list(style["linestyle"][1])
    return {"color": style["color"], "dashes": dashes, "marker": style["marker"], "width": style["linewidth"]}


def _places(options: dict[str, Any], ranks: Any, sizes: Any, name: str | None) -> tuple[Any, Any, list[Plan]]:
    collective = options["collective"]
    P, n = np.meshgrid(ranks, sizes, indexing="ij")
    return plans(collective, P, n, options["rules"], name, _ITEMSIZE)


def _table(options: dict[str, Any], ranks: Any, sizes: Any, name: str, found: dict[Plan, int]) -> list[list[list[int]]]:
    """Return for each P the stretches of sizes on which one plan runs: (first place, number of the plan)."""
    known = formulas(options["collective"])
    on_two = name in known and known[name].only_at == TWO
    _, index, own = _places(options, ranks[:1] if on_two else ranks, sizes, name)
    numbers = np.array([found.setdefault(plan, len(found)) for plan in own])[index]
    rows = [_stretches(row) for row in numbers]
    return rows + [[[0, -1]]] * (len(ranks) - len(rows))


def _choice(
    options: dict[str, Any], ranks: Any, sizes: Any, found: dict[Plan, int]
) -> tuple[list[list[list[int]]], list[dict[str, str]]]:
    """Return for each P the stretches of the library's choice: (place, plan, number of what is told), and what is."""
    chosen, index, own = _places(options, ranks, sizes, None)
    numbers = np.array([found.setdefault(plan, len(found)) for plan in own])[index]
    reasons = np.broadcast_to(
        np.asarray(select(options["collective"], ranks[:, None], sizes[None, :], rules=options["rules"]).reason),
        chosen.shape,
    )
    told: dict[tuple[str, str], int] = {}
    rows = []
    for row in range(len(ranks)):
        pairs = zip(chosen[row].tolist(), reasons[row].tolist(), strict=True)
        said = np.array([told.setdefault(pair, len(told)) for pair in pairs])
        rows.append(_stretches(numbers[row], said))
    return rows, [{"name": name, "reason": reason} for name, reason in told]


def _stretches(*columns: Any) -> list[list[int]]:
    """Return (first place, values there) of each stretch on which no column changes."""
    table = np.stack(columns, axis=1)
    starts = [0, *(np.flatnonzero((table[1:] != table[:-1]).any(axis=1)) + 1).tolist()]
    return [[start, *table[start].tolist()] for start in starts]


def _needs(costs: list[Cost | None]) -> set[str]:
    return {name for cost in costs if cost is not None for name in cost.symbols} - {"P", "n"}


def _source(priced: dict[str, list[Cost | None]], arguments: list[str]) -> str:
    """Return the body of a function that returns, by network, one function a plan: P, n, ... to its terms."""
    made, tables = [], []
    for network, costs in priced.items():
        names = [f"{network}_{i}" if cost is not None else "null" for i, cost in enumerate(costs)]
        made += [
            function(name, list(cost.terms.values()), arguments)
            for name, cost in zip(names, costs, strict=True)
            if cost is not None
        ]
        tables.append(f"{network}: [{', '.join(names)}]")
    return "\n".join([*made, f"return {{{', '.join(tables)}}};"])
