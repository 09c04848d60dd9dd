"""From fits to a machine and its file: every value with where it comes from, and what else the file needs."""

from __future__ import annotations

import json
import math
import os
import textwrap
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from orrery_analytic.calibration.glue import advice, glued, pieces
from orrery_analytic.calibration.report import value_text
from orrery_analytic.calibration.result import Given, Result
from orrery_analytic.decisions.whole import truth
from orrery_analytic.errors import FormatError, QuantityError
from orrery_analytic.machines import Machine, load_machine
from orrery_analytic.machines.keys import COPIES, MACHINE_KEYS
from orrery_analytic.machines.records import Band, Record, band_copy, check_text
from orrery_analytic.networks import TwoLevel
from orrery_analytic.units import shown

__all__ = ["calibrate"]

_NETWORKS = {
    "Hockney()": ("latency", "bandwidth"),
    "LogGP()": ("wire_latency", "overhead", "message_gap", "gap_per_byte"),
}
_FAR = 0.05  # a glued line that is less far off is worth no warning
_AS = "as machine "
_SCALES = {"s": (1e6, "us"), "B/s": (1e-9, "GB/s"), "s/B": (1e9, "ns/B"), "B": (1.0, "B")}
_PROBES = {
    "latency": "latency test between nodes", "bandwidth": "latency or bandwidth test between nodes",
    "reduction_rate": "times of reductions", "call_overhead": "latency test of device buffers",
    "gdr_latency": "latency test of device buffers", "peer_latency": "latency test between GPUs of a node",
    "peer_bandwidth": "latency test between GPUs of a node", "launch_latency": "times of kernels",
    "sync_latency": "times of kernels", "kernel_rate": "times of kernels",
}  # fmt: skip


def _written(value: float, unit: str) -> str:
    scale, name = _SCALES[unit]
    return f"{value * scale:.6g} {name}"


def _usable(fit: Result, given: Given, inverse: bool) -> bool:
    value = given.of(fit.parameters)
    return math.isfinite(value) and math.isfinite(fit.intervals[given.parameter][0]) and not (inverse and value <= 0)


def _value(fit: Result, key: str, given: Given) -> Any:
    """Return the value of a key as a machine file has it."""
    if copy := band_copy(key):
        count = sum(name.startswith(f"alpha_{copy}_") for name in fit.parameters)
        return [
            {
                **({"up_to": _written(fit.parameters[f"s_{copy}_{i}"], "B")} if i < count else {}),
                "latency": _written(fit.parameters[f"alpha_{copy}_{i}"], "s"),
                "bandwidth": _written(1 / fit.parameters[f"beta_{copy}_{i}"], "B/s"),
            }
            for i in range(1, count + 1)
        ]
    info = MACHINE_KEYS[key]
    number = given.of(fit.parameters)
    return _written(1 / number if info.inverse else number, info.unit)


def _reference(fit: Result, key: str, given: Given) -> str:
    """Return where a value comes from: model, files and lines, parameter and interval, and what is wrong with it."""
    names = [given.parameter, *([given.less] if given.less else [])]
    if copy := band_copy(key):
        names = [name for name in fit.parameters if copy in name]
    told = []
    for name in names:
        unit, (low, high) = fit.units[name], fit.intervals[name]
        interval = f"95 %: {value_text(low, unit)} to {value_text(high, unit)}"
        told.append(f"{name} = {value_text(fit.parameters[name], unit)} ({interval})")
    times = f", times {given.factor:.4g}" if given.factor != 1 else ", the difference" if given.less else ""
    low, high = fit.range
    over = f"n from {value_text(low, 'B')} to {value_text(high, 'B')}"
    why = fit.undetermined.get(given.parameter)
    parts = pieces(fit)
    ends = (parts[0].first, parts[-1].slope) if parts else ()
    line = f"; {glued(fit)[1]}" if given.parameter in ends and not given.less and not band_copy(key) else ""
    said = f"undetermined: {why}; " if why else ""
    return f"{said}fit of {fit.model} to {fit.source}; {over}: {', '.join(told)}{times}{line}"


def _changed(machine: Machine, key: str, value: Any, origin: str, reference: str) -> Machine:
    """Return the machine with a value and where it comes from."""
    made = machine.replace(**{key: value})
    records = tuple(replace(r, origin=origin, reference=reference) if r.key == key else r for r in made.records)
    return replace(made, records=records)


def calibrate(
    name: str,
    fits: Result | Sequence[Result],
    base: Machine | str | os.PathLike[str] | None = None,
    path: str | os.PathLike[str] | None = None,
    description: str | None = None,
    overwrite: bool = True,
    **given: Any,
) -> Machine:
    """Put fits together into a machine, and write its file.

    Parameters
    ----------
    name : str
        Of the new machine.
    fits : Fit or sequence of Fit
        Where two give the same key, the later one counts.
    base : Machine, str or path, optional
        What the fits do not say is taken from here. From a machine of another name it is marked as assumed.
    path : str or path, optional
        File to write, ending in .toml, in a folder that exists; `load_machine` reads it. A machine file that is there
        is replaced, any other file is not.
    description : str, optional
    overwrite : bool
        Whether a machine file that is there is replaced.
    **given
        Keys of the machine file that you know: library, ranks_per_node ...

    Returns
    -------
    Machine

    Raises
    ------
    QuantityError
        If values are missing that every machine file has; the message says which, and what would measure them. If
        the file cannot be written.
    UnknownNameError, FileMissingError
        If there is no machine `base`.

    Warns
    -----
    UserWarning
        Where a fit has no usable value for a key, or the data do not determine it (its origin is then "assumed"); where
        the one line of the file is far from the pieces of a fit; and where numbers of a network stay those of `base`.
    """
    check_text("name", name)
    if description is not None:
        check_text("description", description)
    every = [fits] if isinstance(fits, Result) else list(fits) if isinstance(fits, Sequence) else [fits]
    for fit in every:
        if not isinstance(fit, Result):
            raise QuantityError(f"calibrate takes fits, as oa.fit(...) returns them, not {shown(fit)}.")
    replaced = truth("overwrite", overwrite)
    machine = _start(name, base, description, every)
    taken = set(given)
    for fit in every:
        notes: dict[str, list[str]] = {}
        for key, source in fit.gives.items():
            inverse = key in MACHINE_KEYS and MACHINE_KEYS[key].inverse
            bands = [n for n in fit.parameters if n.startswith(f"beta_{band_copy(key)}_")] if band_copy(key) else []
            if not _usable(fit, source, inverse) or any(fit.parameters[n] <= 0 for n in bands):
                message = f"{key} is not taken from the fit of {fit.model}: the data say nothing of {source.parameter}."
                warnings.warn(message, stacklevel=2)
                continue
            why = fit.undetermined.get(source.parameter)
            origin = "assumed" if why else "derived" if source.derived else "measured"
            machine = _changed(machine, key, _value(fit, key, source), origin, _reference(fit, key, source))
            taken.add(key)
            if why and key not in given:
                notes.setdefault(why, []).append(key)
        if notes:
            kinds = "; ".join(f"{', '.join(keys)} ({why})" for why, keys in notes.items())
            fixes = fit.shared and fit.model in ("collective", "kernel")
            hold = f" fit(..., fixed={{{fit.shared[-1]!r}: ...}}) holds one." if fixes else ""
            warnings.warn(f"undetermined by the fit of {fit.model}, and marked so: {kinds}.{hold}", stacklevel=2)
        wrong, told = glued(fit)
        if wrong > _FAR:
            warnings.warn(f"{told}. {advice(fit)}.", stacklevel=2)
        if isinstance(fit.network, TwoLevel):
            told = f"network of the formula in the fit of {fit.model} to {fit.source}"
            machine = _changed(machine, "ranks_per_node", fit.network.ranks_per_node, "derived", told)
            machine = _changed(machine, "network_cards_per_node", fit.network.cards, "derived", told)
    for key, value in given.items():
        machine = _changed(machine, key, value, "assumed", "given by hand")
    _complete(machine)
    if stay := _untold(machine, taken):
        warnings.warn(stay, stacklevel=2)
    return machine if path is None else _saved(machine, path, replaced)


def _untold(machine: Machine, taken: set[str]) -> str:
    """Say which numbers of networks were not measured, where others were."""
    if taken.isdisjoint({"intra_latency", "intra_bandwidth", *(key for keys in _NETWORKS.values() for key in keys)}):
        return ""
    records = machine.provenance
    stay = {
        network: [k for k in every if k not in taken and k in records and records[k].origin in ("assumed", "vendor")]
        for network, every in _NETWORKS.items()
    }
    told = "; ".join(f"{', '.join(keys)}, which {network} takes" for network, keys in stay.items() if keys)
    if not told:
        return ""
    return f"not measured, and as the base has them: {told}."


def _saved(machine: Machine, path: Any, overwrite: bool) -> Machine:
    """Write a machine file, and return the machine as it is read again."""
    if not isinstance(path, str | os.PathLike):
        raise QuantityError(f"path = {shown(path)} is refused. Allowed: a path that ends in .toml.")
    target = Path(path)
    if target.suffix != ".toml":
        raise QuantityError(f"path = {shown(str(path))} is refused. Allowed: a path that ends in .toml.")
    if not target.parent.is_dir():
        raise QuantityError(f"path = {shown(str(path))} is refused: there is no folder {shown(str(target.parent))}.")
    try:
        if target.exists():
            load_machine(target)
            if not overwrite:
                raise QuantityError(f"{shown(str(path))}: there already. Give another path, or overwrite=True.")
        target.write_bytes(_document(machine).encode("utf-8", "replace"))
    except QuantityError:
        raise
    except FormatError as error:
        raise QuantityError(f"{shown(str(path))} is no machine file, and is not replaced: {error}") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise QuantityError(f"{shown(str(path))} cannot be written: {reason}. Give another path.") from None
    return load_machine(target)


def _start(name: str, base: Any, description: str | None, fits: Sequence[Result]) -> Machine:
    """Return the machine that fits are put into."""
    told = description or f"calibrated: {', '.join(dict.fromkeys(fit.model for fit in fits))}"
    if base is None:
        return Machine(name, told, ())
    machine = base if isinstance(base, Machine) else load_machine(base)
    if machine.name == name:
        return machine if description is None else replace(machine, description=description)
    records = tuple(
        replace(r, origin="assumed", reference=f"{_AS}{machine.name!r} has it ({r.origin}: {r.reference})")
        for r in machine.records
    )
    return Machine(name, told, records)


def _complete(machine: Machine) -> None:
    """Refuse a machine that lacks what every machine file has."""
    keys = machine.provenance
    banded = {f"{copy}_{part}" for copy in COPIES if f"{copy}_bands" in keys for part in ("latency", "bandwidth")}
    needed = ["library", *(key for key, info in MACHINE_KEYS.items() if info.required)]
    missing = [key for key in needed if key not in keys and key not in banded]
    for copy in COPIES:  # one of the two asks for the other
        pair = [f"{copy}_latency", f"{copy}_bandwidth"]
        if any(key in keys for key in pair):
            missing += [key for key in pair if key not in keys and key not in missing]
    if missing:
        told = ", ".join(f"{key} ({_PROBES[key]})" if key in _PROBES else key for key in missing)
        raise QuantityError(
            f"machine {machine.name!r} has no value for {told}. Allowed: more fits; key=value for what you know; or "
            "base=, a machine whose values stand in and are marked as assumed."
        )


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _toml_value(record: Record) -> str:
    if band_copy(record.key):
        bands = []
        for band in cast(tuple[Band, ...], record.si):
            parts = {"latency": (band.latency, "s"), "bandwidth": (band.bandwidth, "B/s")}
            limit = {"up_to": (band.up_to, "B")} if band.up_to is not None else {}
            both: Mapping[str, tuple[float, str]] = {**limit, **parts}
            bands.append("{ " + ", ".join(f'{k} = "{v:.12g} {unit}"' for k, (v, unit) in both.items()) + " }")
        return "[\n  " + ",\n  ".join(bands) + ",\n]"
    if record.key in MACHINE_KEYS and MACHINE_KEYS[record.key].unit == "1":
        return str(record.si)
    return _quoted(record.value)


def _document(machine: Machine) -> str:
    """Return the machine file as text."""
    assumed = [r.key for r in machine.records if r.origin == "assumed" and r.reference.startswith(_AS)]
    told = f"Not measured, and as another machine has them: {', '.join(assumed)}."
    comment = textwrap.fill(told, 118, initial_indent="# ", subsequent_indent="# ") + "\n" if assumed else ""
    parts = [f"{comment}name = {_quoted(machine.name)}\ndescription = {_quoted(machine.description)}\n"]
    order = {key: i for i, key in enumerate(("library", *MACHINE_KEYS))}
    for record in sorted(machine.records, key=lambda r: order.get(r.key.replace("_bands", "_latency"), 0)):
        origin, reference = record.origin, record.reference
        if origin == "what if":
            origin, reference = "assumed", f"what if: {reference}"
        parts.append(
            f"[{record.key}]\nvalue = {_toml_value(record)}\n"
            f"origin = {_quoted(origin)}\nreference = {_quoted(reference)}\n"
        )
    return "\n".join(parts)
