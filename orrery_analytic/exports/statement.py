"""A crossover as text for a paper: who is cheaper from which byte on, with numbers, formula and where they are from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf, isclose
from typing import TYPE_CHECKING, Any

import sympy as sp

from orrery_analytic.algebra.crossings.crossover import Crossover, crossover
from orrery_analytic.algebra.crossings.stretches import Stretch
from orrery_analytic.algebra.derivations.layout import equations, latex
from orrery_analytic.algebra.derivations.prose import latex_text
from orrery_analytic.calls import collective_cost
from orrery_analytic.errors import QuantityError
from orrery_analytic.exports.formula import letters_of
from orrery_analytic.exports.provenance import provenance
from orrery_analytic.machines import Machine, load_machine
from orrery_analytic.selection.setting import Setting, axis
from orrery_analytic.symbols import describe
from orrery_analytic.units import readable, shown, to_si

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["crossover_setting", "crossover_statement", "crossover_table"]


def crossover_setting(
    machine: Machine | str, collective: str, names: Sequence[str], **options: Any
) -> tuple[Crossover, Setting]:
    """Return the crossover in n of two algorithms of a collective, and the setting: machine, buffers, network.

    Parameters
    ----------
    machine : Machine, or name or path of a machine file
    collective : str
    names : (str, str)
        Two algorithms.
    **options
        network, buffers, rules ... and keys of the machine file, as in `predict`.

    Raises
    ------
    UnknownNameError
        For a name that is not there, and for a composed algorithm.
    QuantityError
        For a value that is out of range.
    """
    setting = Setting.of(machine, collective, **options)
    device = {} if setting.device["buffers"] == ("host", "host") else {**setting.device, "bands": setting.machine.bands}
    a, b = (collective_cost(collective, name, setting.network, **device) for name in names)
    return crossover(a, b, "n"), setting


def crossover_table(crossing: Crossover, names: Sequence[str], machine: Machine | str, P: Any) -> pd.DataFrame:
    """Return a row a stretch of whole bytes on which one of two algorithms is cheaper; without an end it is missing.

    Takes and raises what `crossover_statement` takes and raises.
    """
    import pandas as pd

    told = {"a": names[0], "b": names[1]}
    rows = [
        (p, s.first, None if s.last == inf else int(s.last), told.get(s.cheaper, s.cheaper))
        for p in axis("P", P).tolist()
        for s in crossing.intervals(machine, P=p)
    ]
    table = pd.DataFrame(rows, columns=["P", "n from (B)", "n to (B)", "cheaper"])
    return table.astype({"n to (B)": "Int64"})


def crossover_statement(
    crossing: Crossover, names: Sequence[str], machine: Machine | str, P: Any, about: str = ""
) -> str:
    r"""Return in LaTeX which of two algorithms is cheaper from which message size on, and the formula of the border.

    Parameters
    ----------
    crossing : Crossover
        ``crossover(a, b, "n")``.
    names : (str, str)
        What a and b are called in the text.
    machine : Machine, or name or path of a machine file
    P : int or sequence of int
        Ranks; a sentence for each.
    about : str
        More for the line of provenance: the collective, its buffers, the network.

    Returns
    -------
    str
        A comment of provenance, a sentence with exact whole bytes for each P, :math:`n^*` as an align* environment, and
        the numbers of its parameters; needs amsmath. The formula is the one of every P where there is one, else it is
        the one that holds on these ranks.

    Raises
    ------
    QuantityError
        For a crossover of anything but n, for what are not two names, and for P that are no whole numbers.
    UnknownNameError
        If the machine has no number for a symbol of the two costs.
    """
    if not isinstance(crossing, Crossover) or crossing.symbol.name != "n":
        raise QuantityError(f"crossing must be crossover(a, b, 'n'), but {shown(crossing)} was given.")
    if not isinstance(names, list | tuple) or len(names) != 2 or not all(isinstance(name, str) for name in names):
        raise QuantityError(f"names must be what a and b are called, such as ('ring', 'tree'), not {shown(names)}.")
    if not isinstance(about, str):
        raise QuantityError(f"about is text for the line of provenance, but {shown(about)} was given.")
    loaded = machine if isinstance(machine, Machine) else load_machine(machine)
    ranks = axis("P", P).tolist()
    sentences = [_sentence(crossing.intervals(loaded, P=p), [latex_text(name) for name in names], p) for p in ranks]
    asked = f"{names[0]} against {names[1]}, P = {', '.join(map(str, ranks))}"
    line = provenance(machine, *([about] if about else []), asked)
    found = _formulas(crossing, loaded, ranks)
    if not found:
        return "\n".join([f"% {line}", *sentences])
    numbers = _numbers({symbol.name for _, e in found for symbol in e.free_symbols}, loaded)
    return "\n".join(
        [f"% {line}", *sentences, "They cost the same at", equations(found, letters_of("single")), f"with {numbers}."]
    )


def _sentence(stretches: Sequence[Stretch], names: Sequence[str], ranks: int) -> str:
    a, b = names
    verdicts = {
        "a": f"{a} is cheaper", "b": f"{b} is cheaper", "equal": "both cost the same",
        "only a": f"only {a} is defined", "only b": f"only {b} is defined", "neither": "neither is defined",
    }  # fmt: skip
    parts = [f"{verdicts[s.cheaper]} {_range(s)}" for s in stretches]
    where = f"{ranks}~rank" if ranks == 1 else f"{ranks}~ranks"
    return f"On {where} {', '.join(parts[:-1])}{' and ' if parts[1:] else ''}{parts[-1]}."


def _range(stretch: Stretch) -> str:
    first, last = (r"\,".join(f"{x:,.0f}".split(",")) for x in stretch[:2])
    if stretch.first == stretch.last:
        return f"for {first}~{'byte' if stretch.first == 1 else 'bytes'}"
    if stretch.last == inf:
        return "for every message size" if stretch.first == 1 else f"from {first}~bytes on"
    return f"up to {last}~bytes" if stretch.first == 1 else f"from {first} to {last}~bytes"


def _formulas(crossing: Crossover, machine: Machine, ranks: Sequence[int]) -> list[tuple[str, sp.Expr]]:
    """Return name and formula of the border for every P, or of each border on these ranks."""
    if not any(crossing.at(machine, P=p) for p in ranks):
        return []
    if len(crossing.points) == 1 and not crossing.conditions[0] and not crossing.note:
        return [("n^*", crossing.points[0])]
    found = []
    for p in ranks:
        at = crossover(crossing.a.at(P=p), crossing.b.at(P=p), "n")
        found += [(f"n^*_{{P = {p}}}", e) for _, e in at.formulas(machine) if e is not None]
    return found


def _numbers(names: Iterable[str], machine: Machine) -> str:
    """Return parameters with their numbers, to three digits."""
    told = []
    for name in sorted({*names} - {"P"}):
        info, value = describe(name), machine.parameters[name]
        text = readable(value, info.unit)
        number, _, unit = text.partition(" ")
        relation = "=" if isclose(to_si(text, info.unit, name), value) else r"\approx"
        unit = rf"\mu\text{{{unit[1:]}}}" if unit.startswith("u") else rf"\text{{{unit}}}"
        told.append(rf"${latex(info.symbol)} {relation} {number}\,{unit}$")
    return ", ".join(told)
