"""What a page needs in order to draw an explorer on its own: formulas as JavaScript, tables of what runs, machines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from orrery_analytic.collectives import list_algorithms
from orrery_analytic.collectives.algorithm import TWO
from orrery_analytic.collectives.registry import formulas
from orrery_analytic.cost import TERM_NAMES, Cost
from orrery_analytic.decisions import ALGORITHMS, list_collectives, select
from orrery_analytic.decisions.fixed import rule_set
from orrery_analytic.errors import QuantityError, UnknownNameError, choose
from orrery_analytic.gpu import BUFFERS, TRANSPORTS
from orrery_analytic.machines import MACHINE_KEYS, Machine, list_machines, load_machine
from orrery_analytic.plots.style import TERM_STYLES, curve_style
from orrery_analytic.selection import Plan, plan_cost, plans
from orrery_analytic.units import shown
from orrery_analytic.widgets.code import _machine
from orrery_analytic.widgets.controls import STATE, _bytes, _network, _ranks
from orrery_analytic.widgets.javascript import function, runtime
from orrery_analytic.widgets.parameters import _as_dict, _bands, _knobs
from orrery_analytic.widgets.view import BLOCKS, NETWORKS, RANKS, SIZES

__all__ = ["LIVE_STATE", "Live", "line_of_code", "live"]

LIVE_STATE = {name: value for name, value in STATE.items() if name != "hold"}
"""What `explore_live` takes beside machine and collective, and what it takes it for unless given."""

_ITEMSIZE = 4
_DRAWN = np.unique(np.rint(np.geomspace(4, 2**30, 225)).astype(int)).tolist()


@dataclass(frozen=True)
class Live:
    """All that a page is given.

    Attributes
    ----------
    machine : Machine
        As it was given.
    options : mapping
        Of what is the same whatever the controls say: collective, buffers, transport, rules.
    data : dict
        For the page, as JSON: tables, machines, names, colours.
    source : str
        JavaScript that returns the functions of the formulas, by network and plan.
    state : dict
        Where the controls begin.
    """

    machine: Machine
    options: Mapping[str, Any]
    data: dict[str, Any]
    source: str
    state: dict[str, Any]


def live(machine: Machine | str, collective: str, algorithms: Any = None, **state: Any) -> Live:
    """Return what a page needs to show a collective on a machine; arguments as of `explore_live`.

    Raises
    ------
    UnknownNameError, QuantityError
        For a name or a number that is not there or not allowed; the message says what is.
    """
    for name in state:
        choose("part of the explorer's state", name, LIVE_STATE)
    given = {**LIVE_STATE, **state}
    base = load_machine(machine) if isinstance(machine, str) else machine
    if not isinstance(base, Machine):
        raise QuantityError(f"machine is a Machine, or the name or path of its file, but {shown(machine)} was given.")
    choose("collective", collective, list_collectives())
    barrier = collective == "barrier"
    buffers = choose("place of buffers", given["buffers"], BUFFERS)
    transport = choose("transport", given["transport"], TRANSPORTS)
    options = {
        "collective": collective,
        "buffers": buffers,
        "transport": transport if buffers == "device" and not barrier else None,
        "rules": rule_set(given["rules"]),
    }
    names = list_algorithms(collective)
    own = ALGORITHMS[collective].values()  # "two_proc" is for two ranks alone: it would be a tick without a curve
    ticked = [a for a in names if a in own and a != "two_proc"] if algorithms is None else _listed(algorithms)
    for name in ticked:
        choose(f"{collective} algorithm with a formula", name, names)
    begin = {
        "machine": base.name,
        "network": _network(given["network"]),
        "axis": "P" if barrier else choose("axis", given["axis"], ("n", "P")),
        "P": _ranks(given["P"]),
        "n": _bytes(given["n"]),
        "share": bool(given["share"]),
        "algorithms": ticked,
        "values": {},
    }
    data, source = _page(base, options, names, begin)
    return Live(base, options, data, source, begin)


def _listed(algorithms: Any) -> list[Any]:
    if isinstance(algorithms, str | bytes) or not isinstance(algorithms, Iterable):
        raise QuantityError(f"algorithms is a list of names, but {shown(algorithms)} was given.")
    return list(algorithms)


def _page(
    base: Machine, options: dict[str, Any], names: list[str], begin: dict[str, Any]
) -> tuple[dict[str, Any], str]:
    ranks = np.array(sorted({*RANKS, begin["P"]}))
    sizes = np.array(sorted({*SIZES, *_DRAWN, begin["n"]}))
    found: dict[Plan, int] = {}
    tables = {name: _table(options, ranks, sizes, name, found) for name in names}
    choice, told = _choice(options, ranks, sizes, found)
    priced = {network: [_cost(options, base, plan, network) for plan in found] for network in NETWORKS}
    networks = [name for name in NETWORKS if _needs(priced[name]) <= set(base.parameters)]
    if begin["network"] not in networks:
        lacking = ", ".join(sorted(_needs(priced[begin["network"]]).difference(base.parameters)))
        raise UnknownNameError(f"machine {base.name!r} has no numbers for {begin['network']}: {lacking}.")
    arguments = ["P", "n", *sorted(set().union(*(_needs(priced[name]) for name in networks)))]
    machines = [base, *(m for m in map(load_machine, list_machines()) if m.name != base.name)]
    data = {
        **options,
        "blocks": options["collective"] in BLOCKS,
        "ranks": ranks.tolist(),
        "sizes": sizes.tolist(),
        "size_stops": sorted({*SIZES, begin["n"]}),
        "rank_grid": [P for P in ranks.tolist() if P <= 8 or P % 2 == 0 or begin["P"] == P],
        "plans": [{"text": str(plan), "algorithm": plan.algorithm} for plan in found],
        "curves": [{"name": name, "table": tables[name], **_style(i)} for i, name in enumerate(names)],
        "choice": choice,
        "told": told,
        "networks": {name: [_terms(cost) for cost in priced[name]] for name in networks},
        "arguments": arguments[2:],
        "used": {name: sorted(_needs(priced[name])) for name in networks},
        "machines": [_described(m, arguments) for m in machines if _fits(m, base, options, arguments)],
        "terms": [{"name": t, "color": TERM_STYLES[t][0], "hatch": TERM_STYLES[t][1]} for t in TERM_NAMES],
    }
    return data, _source({name: priced[name] for name in networks}, arguments)


def _style(i: int) -> dict[str, Any]:
    style = curve_style(i)
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


def _cost(options: dict[str, Any], machine: Machine, plan: Plan, network: str) -> Cost | None:
    bands = tuple(machine.bands.items())
    where = {"buffers": options["buffers"], "transport": options["transport"]}
    return plan_cost(options["collective"], plan, NETWORKS[network], bands, **where)


def _terms(cost: Cost | None) -> list[str] | None:
    return None if cost is None else list(cost.terms)


def _needs(costs: list[Cost | None]) -> set[str]:
    return {name for cost in costs if cost is not None for name in cost.symbols} - {"P", "n"}


def _fits(machine: Machine, base: Machine, options: dict[str, Any], arguments: list[str]) -> bool:
    """Return whether the formulas, made for the copies of `base`, hold for a machine, and it has all their numbers."""
    return set(arguments[2:]) <= set(machine.parameters) and (
        options["buffers"] == "host" or machine.bands == base.bands
    )


def _described(machine: Machine, arguments: list[str]) -> dict[str, Any]:
    """Return the numbers of a machine by symbol, and its knobs: those keys of its file that the formulas use."""
    knobs = [
        {
            "symbol": knob.symbol, "label": knob.label, "unit": knob.unit, "meaning": knob.meaning,
            "value": knob.value(machine),
            "inverse": knob.field == "bandwidth" or (knob.band is None and MACHINE_KEYS[knob.key].inverse),
        }
        for knob in _knobs(machine) if knob.symbol in arguments
    ]  # fmt: skip
    return {"name": machine.name, "values": {a: machine.parameters[a] for a in arguments[2:]}, "knobs": knobs}


def _source(priced: dict[str, list[Cost | None]], arguments: list[str]) -> str:
    """Return the body of a function that returns, by network, one function a plan: P, n, ... to its terms."""
    made, tables = [runtime()], []
    for network, costs in priced.items():
        names = [f"{network}_{i}" if cost is not None else "null" for i, cost in enumerate(costs)]
        made += [
            function(name, list(cost.terms.values()), arguments)
            for name, cost in zip(names, costs, strict=True)
            if cost is not None
        ]
        tables.append(f"{network}: [{', '.join(names)}]")
    return "\n".join([*made, f"return {{{', '.join(tables)}}};"])


def line_of_code(given: Live, state: Mapping[str, Any]) -> str:
    """Return one line of code that makes a view again."""
    known = {m.name: m for m in map(load_machine, list_machines())} | {given.machine.name: given.machine}
    base = known[state["machine"]]
    machine = base.replace(**_overrides(base, state["values"])) if state["values"] else base
    told = {name: given.options[name] for name in ("buffers", "transport", "rules") if given.options[name]}
    told |= {name: state[name] for name in ("network", "axis", "P", "n", "share")}
    changed = {name: value for name, value in told.items() if value != LIVE_STATE[name] or name in ("P", "n")}
    options = "".join(f", {name}={value!r}" for name, value in changed.items())
    curves = f", algorithms={list(state['algorithms'])!r}"
    return f"oa.explore_live({_machine(machine)}, {given.options['collective']!r}{curves}{options})"


def _overrides(machine: Machine, values: Mapping[str, float]) -> dict[str, Any]:
    """Return what `Machine.replace` takes, for numbers by symbol in the unit of the machine file."""
    found: dict[str, Any] = {}
    for knob in _knobs(machine):
        if knob.symbol not in values:
            continue
        if knob.band is None:
            found[knob.key] = values[knob.symbol]
        else:
            bands = found.setdefault(knob.key, [_as_dict(band) for band in _bands(machine, knob.key)])
            bands[knob.band][knob.field] = values[knob.symbol]
    return found
