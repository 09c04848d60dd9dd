"""The code that remakes a view without widgets."""

from __future__ import annotations

from typing import Any

from orrery_analytic.errors import QuantityError
from orrery_analytic.machines import MACHINE_KEYS, Band, Machine, Record, list_machines, load_machine
from orrery_analytic.units import readable, to_si
from orrery_analytic.widgets.view import SIZES_DRAWN, STATE, View

__all__ = ["code", "line", "short"]

_BAND_UNITS = {"up_to": "B", "latency": "s", "bandwidth": "B/s"}
_TEACHING = "example"  # a machine that is always there, for what is in no packaged file


def code(view: View, top: float | None = None, log: str | None = None) -> str:
    """Return a program that draws the figures of a view.

    Parameters
    ----------
    view : View
    top : float, optional
        Seconds at the upper end of the stacked terms; they are shares of the total unless given.
    log : str, optional
        Name of the log whose points are shown: the program says where to read it, as its folder is not known.
    """
    P = view.grid()[1].tolist()
    options = [f"rules={_text(view.rules)}", f"buffers={_text(view.buffers)}"]
    options += [f"transport={_text(view.transport)}"] if view.transport else []
    options += [f"network=oa.{view.network}()"]
    pick, imports = "", ["import orrery_analytic as oa", "from orrery_analytic import plots"]
    if view.axis == "n":
        imports = ["import numpy as np", "", *imports]
        points = [f"P = {view.P}", f"n = {SIZES_DRAWN}"]
    elif view.shares_total:
        imports = ["import numpy as np", "import xarray as xr", "", *imports]
        points = [
            f"P = np.array({_listed(P)})",
            f"n = np.maximum({view.n} // P, 1)  # a total, shared out among the ranks",
            'pairs = xr.DataArray(range(len(P)), dims="P")  # each n with its own P',
        ]
        pick = ".isel(P=pairs, n=pairs)"
    else:
        points = [f"P = {_listed(P)}", f"n = {view.n}"]
    call = f"oa.predict(machine, {_text(view.collective)}, P, n, "
    second = call.replace("machine", "second", 1)
    lines = [
        f"# As a widget: {line(view, top is None)}",
        *imports,
        "",
        f"machine = {_machine(view.machine)}",
        *points,
        f"options = dict({', '.join(options)})",
        "",
        f"choice = {call}**options){pick}",
        f"algorithms = {_listed(view.drawn)}",
        "curves = {",
        f"    name: {call}algorithm=name, **options){pick}",
        "    for name in algorithms",
        "}",
    ]
    if view.beside:
        lines += [
            "",
            f"second = {_machine(view.beside)}",
            "beside = (",
            f"    {second}**options){pick},",
            f"    {{name: {second}algorithm=name, **options){pick} for name in algorithms}},",
            ")",
        ]
    panels = ("upper, middle, lower", "3.8, 2.6, 2.6") if view.beside else ("upper, lower", "3.8, 2.6")
    lines += [
        "",
        f"figure, ({panels[0]}) = plots.figure({panels[1]})",
        f"plots.curves(choice, curves, ax=upper{', beside=beside' if view.beside else ''})",
        *_terms("choice", "middle" if view.beside else "lower", view.machine_name if view.beside else "", top),
        *(_terms("beside[0]", "lower", view.beside.name, top) if view.beside else []),
        f"lower.set_xlabel({_text(view.caption)})",
    ]
    if log is not None:
        at = "table.n" if view.axis == "n" else "table.ranks"
        lines += [
            "# The points of the log, once the name leads to it from here:",
            f"# table = oa.read({_text(log)})",
            f"# table = table[table.collective == {_text(view.collective)}]",
            f"# plots.measured({at}, table.seconds, ax=upper)",
        ]
    return "\n".join([*lines, f'figure.savefig("{view.collective}.png")', "figure", ""])


def _terms(choice: str, ax: str, machine: str, top: float | None) -> list[str]:
    limit = [] if top is None else [f"{ax}.set_ylim(0, {top:.3g})"]
    return [
        f"plots.stacked_terms({choice}, ax={ax}, share={top is None})",
        *limit,
        *([f"{ax}.set_ylabel({_text(machine)})", f'{ax}.set_xlabel("")'] if machine else []),
    ]


def line(view: View, share: bool = True) -> str:
    """Return one line of code that opens the explorer at a view."""
    machines = [short(m) for m in (view.machine, view.beside) if m is not None]
    given = machines[0] if len(machines) == 1 else f"({', '.join(machines)})"
    told: dict[str, Any] = {
        "buffers": view.buffers,
        "transport": view.transport,
        "network": view.network,
        "rules": view.rules,
    }
    told |= {"axis": view.axis, "hold": view.hold, "share": share}
    usual = {**STATE, "transport": None if view.transport is None else STATE["transport"]}
    changed = {name: value for name, value in told.items() if value != usual[name]}
    changed |= {"P": view.P, "n": view.n, "algorithms": list(view.algorithms)}
    options = ", ".join(f"{name}={_written(value)}" for name, value in changed.items())
    return f"oa.explore({given}, {_text(view.collective)}, {options})"


def short(machine: Machine) -> str:
    """Return the name of a packaged machine alone, else the expression that makes the machine."""
    text = _machine(machine)
    return _text(machine.name) if text == f"oa.load_machine({_text(machine.name)})" else text


def _written(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_written, value))}]"
    return _text(value) if isinstance(value, str) else repr(value)


def _text(text: str) -> str:
    """Return a string literal, in double quotes where nothing needs an escape."""
    return f'"{text}"' if text.isprintable() and not {'"', "\\"} & set(text) else ascii(text)


def _listed(items: Any) -> str:
    """Return a list as people write it, broken before 120 columns."""
    lines, line = [], "["
    for item in items:
        text = f"{item if not isinstance(item, str) else _text(item)}, "
        if len(line) + len(text) > 110:
            lines.append(line.rstrip())
            line = " " * 4
        line += text
    return "\n".join([*lines, line.removesuffix(", ")]).rstrip() + "]"


def _machine(machine: Machine) -> str:
    """Return the expression that makes a machine: a packaged one, and what differs from it."""
    name = machine.name if machine.name in list_machines() else _TEACHING
    base = load_machine(name)
    changed = [r for r in machine.records if r.key not in base.provenance or base.provenance[r.key].si != r.si]
    given = [f"{record.key}={_value(record)}" for record in changed]
    given += [f"name={_text(machine.name)}"] if machine.name != name else []
    return f"oa.load_machine({_text(name)})" + (f".replace({', '.join(given)})" if given else "")


def _value(record: Record) -> str:
    if isinstance(record.si, str):
        return _text(record.si)
    if isinstance(record.si, tuple):
        return f"[{', '.join(_band(band) for band in record.si)}]"
    return _number(record.si, MACHINE_KEYS[record.key].unit)


def _band(band: Band) -> str:
    given = {name: unit for name, unit in _BAND_UNITS.items() if getattr(band, name) is not None}
    return f"{{{', '.join(f'{_text(name)}: {_number(getattr(band, name), unit)}' for name, unit in given.items())}}}"


def _number(value: float, unit: str) -> str:
    """Return a number with its unit, where that is exactly the number, else bare in SI units."""
    if unit == "1":
        return repr(value)
    text = readable(value, unit)
    try:
        return _text(text) if to_si(text, unit, "value") == value else repr(value)
    except QuantityError:
        return repr(value)
