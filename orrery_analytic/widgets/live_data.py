"""What a page needs in order to draw an explorer on its own: formulas as JavaScript, tables of what runs, machines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from orrery_analytic.collectives import list_algorithms
from orrery_analytic.cost import TERM_NAMES
from orrery_analytic.decisions import list_collectives
from orrery_analytic.decisions.fixed import rule_set
from orrery_analytic.decisions.whole import truth
from orrery_analytic.errors import QuantityError, UnknownNameError, choose
from orrery_analytic.gpu import BUFFERS, TRANSPORTS
from orrery_analytic.machines import MACHINE_KEYS, Machine
from orrery_analytic.plots.style import TERM_STYLES
from orrery_analytic.units import shown
from orrery_analytic.widgets.code import short
from orrery_analytic.widgets.controls import TRANSPORT_NAMES, _bytes, _network, _ranks
from orrery_analytic.widgets.javascript import runtime
from orrery_analytic.widgets.live_parts import formulas_of, tables, usual
from orrery_analytic.widgets.pair import offered_machines, two_machines
from orrery_analytic.widgets.parameters import _as_dict, _bands, _knobs
from orrery_analytic.widgets.view import RANKS, SIZES, STATE

__all__ = ["LIVE_STATE", "Live", "line_of_code", "live"]

LIVE_STATE = {name: value for name, value in STATE.items() if name != "hold"}
"""What `explore_live` takes beside machine and collective, and what it takes it for unless given."""

_DRAWN: list[int] = np.unique(np.rint(np.geomspace(4, 2**30, 225)).astype(int)).tolist()


@dataclass(frozen=True)
class Live:
    """All that a page is given.

    Attributes
    ----------
    machines : mapping of label to Machine
        Those that the page offers, as they were given or as their files have them.
    rules : str
        Whose choice it is.
    data : dict
        For the page, as JSON: machines, sizes, ranks, colours.
    state : dict
        Where the controls begin.
    """

    machines: Mapping[str, Machine]
    rules: str
    data: dict[str, Any]
    state: dict[str, Any]

    def parts(self, collective: str, buffers: str, transport: str | None) -> dict[str, Any]:
        """Return what the page needs for one place of one collective: its tables and its formulas, by name."""
        ranks, sizes = np.array(self.data["ranks"]), np.array(self.data["sizes"])
        found, plans_found = tables(collective, self.rules, ranks, sizes)
        base = self.machines[self.state["machine"]]
        where = {"buffers": buffers, "transport": transport}
        place = f"{collective} {buffers}" + (f" {transport}" if transport else "")
        return {collective: found, place: formulas_of(collective, plans_found, where, _bands_of(self.machines), base)}

    def all_parts(self) -> dict[str, Any]:
        """Return those of every place of buffers for the collective at which the page begins."""
        collective = self.state["collective"]
        ways = [("host", None)] + ([] if collective == "barrier" else [("device", way) for way in TRANSPORTS])
        return {key: part for way in ways for key, part in self.parts(collective, *way).items()}


def live(machine: Any, collective: str, algorithms: Any = None, **state: Any) -> Live:
    """Return what a page needs to show a collective on a machine; arguments as of `explore_live`.

    Raises
    ------
    UnknownNameError, QuantityError
        For a name or a number that is not there or not allowed; the message says what is.
    """
    for name in state:
        choose("part of the explorer's state", name, LIVE_STATE)
    given = {**LIVE_STATE, **state}
    base, second = two_machines(machine)
    choose("collective", collective, list_collectives())
    barrier = collective == "barrier"
    buffers = "host" if barrier else choose("place of buffers", given["buffers"], BUFFERS)
    names = list_algorithms(collective)
    asked = given["algorithms"] if algorithms is None else algorithms
    ticked = usual(collective) if asked is None else _listed(asked)
    for name in ticked:
        choose(f"{collective} algorithm with a formula", name, names)
    machines = offered_machines(base, second)
    labels = list(machines)
    begin: dict[str, Any] = {
        "machine": labels[0],
        "beside": "" if second is None else next(label for label in machines if machines[label] is second),
        "collective": collective,
        "buffers": buffers,
        "transport": choose("transport", given["transport"], TRANSPORTS),
        "network": _network(given["network"]),
        "axis": "P" if barrier else choose("axis", given["axis"], ("n", "P")),
        "P": _ranks(given["P"]),
        "n": _bytes(given["n"]),
        "share": truth("share", given["share"]),
        "large": truth("large", given["large"]),
        "algorithms": ticked,
        "values": {},
    }
    rules = rule_set(given["rules"])
    ranks = sorted({*RANKS, begin["P"]})
    data = {
        "rules": rules,
        "ranks": ranks,
        "sizes": sorted({*SIZES, *_DRAWN, begin["n"]}),
        "size_stops": sorted({*SIZES, begin["n"]}),
        "rank_grid": [P for P in ranks if P <= 8 or P % 2 == 0 or begin["P"] == P],
        "collectives": list_collectives(),
        "buffers": list(BUFFERS),
        "transports": [[name, told] for name, told in TRANSPORT_NAMES.items()],
        "machines": [_described(label, one) for label, one in machines.items()],
        "terms": [{"name": t, "color": TERM_STYLES[t][0], "hatch": TERM_STYLES[t][1]} for t in TERM_NAMES],
        "runtime": runtime(),
    }
    made = Live(machines, rules, data, begin)
    _check_numbers(made)
    return made


def _listed(algorithms: Any) -> list[Any]:
    if isinstance(algorithms, str | bytes) or not isinstance(algorithms, Iterable):
        raise QuantityError(f"algorithms is a list of names, but {shown(algorithms)} was given.")
    return list(algorithms)


def _check_numbers(made: Live) -> None:
    """Refuse a machine that lacks numbers for the network at which the view begins."""
    begin = made.state
    transport = begin["transport"] if begin["buffers"] == "device" else None
    formulas_here: dict[str, Any] = list(made.parts(begin["collective"], begin["buffers"], transport).values())[-1]
    for label in filter(None, (begin["machine"], begin["beside"])):
        machine = made.machines[label]
        needed: set[str] = {re.sub(r"_\d+$", "", str(name)) for name in formulas_here["used"][begin["network"]]}
        lacking: list[str] = sorted(name for name in needed - set(machine.parameters) if not name.startswith("s_"))
        if lacking:
            raise UnknownNameError(f"machine {label!r} has no numbers for {begin['network']}: {', '.join(lacking)}.")


def _bands_of(machines: Mapping[str, Machine]) -> tuple[tuple[str, int], ...]:
    """Return as many size bands of each copy as any machine has: the page fills them up where one has fewer."""
    every = [machine.bands for machine in machines.values()]
    return tuple((copy, max(bands.get(copy, 1) for bands in every)) for copy in every[0])


def _described(label: str, machine: Machine) -> dict[str, Any]:
    """Return the numbers of a machine by symbol, and a knob for each that its file gives."""
    knobs = [
        {
            "symbol": knob.symbol, "label": knob.label, "unit": knob.unit, "meaning": knob.meaning,
            "value": knob.value(machine),
            "inverse": knob.field == "bandwidth" or (knob.band is None and MACHINE_KEYS[knob.key].inverse),
        }
        for knob in _knobs(machine) if knob.value(machine) is not None
    ]  # fmt: skip
    return {"name": label, "values": dict(machine.parameters), "knobs": knobs}


def line_of_code(given: Live, state: Mapping[str, Any]) -> str:
    """Return one line of code that makes a view again."""
    base = given.machines[state["machine"]]
    machine = base.replace(**_overrides(base, state["values"])) if state["values"] else base
    second = given.machines.get(state["beside"])
    machines = short(machine) if second is None else f"({short(machine)}, {short(second)})"
    told = {name: state[name] for name in ("buffers", "network", "axis", "P", "n", "share", "large")}
    told |= {"rules": given.rules, "transport": state["transport"] if state["buffers"] == "device" else "gdr"}
    changed = {name: value for name, value in told.items() if value != LIVE_STATE[name] or name in ("P", "n")}
    options = "".join(f", {name}={value!r}" for name, value in changed.items())
    # A page that has just come to another collective waits for its names.
    curves = "" if state["algorithms"] is None else f", algorithms={list(state['algorithms'])!r}"
    return f"oa.explore_live({machines}, {state['collective']!r}{curves}{options})"


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
