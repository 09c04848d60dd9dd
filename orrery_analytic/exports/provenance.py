"""Where numbers come from, in one line: the version, the machine file and its hash, and what was asked."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path
from typing import Any

import orrery_analytic
from orrery_analytic.errors import QuantityError
from orrery_analytic.machines import Machine, load_machine
from orrery_analytic.machines.files import shipped
from orrery_analytic.selection.setting import Setting
from orrery_analytic.units import shown

__all__ = ["file_hash", "provenance", "setting_told"]


def _content(machine: str | os.PathLike[str]) -> tuple[str, bytes]:
    """Return name and content of a machine file that `load_machine` has taken."""
    if isinstance(machine, os.PathLike) or machine.endswith(".toml") or re.search(r"[/\\]", machine):
        path = Path(machine).expanduser()
        return path.name, path.read_bytes()
    return f"{machine}.toml", shipped()[machine].read_bytes()


def file_hash(machine: str | os.PathLike[str]) -> str:
    """Return the first 12 hexadecimal digits of the SHA-256 of a machine file's text, whatever its line ends."""
    return hashlib.sha256(_content(machine)[1].replace(b"\r\n", b"\n")).hexdigest()[:12]


def _shipped_name(machine: Machine) -> str | None:
    """Return the name of the file of the package that a machine was read from, whatever was changed since."""
    if machine.name not in shipped():
        return None
    original = load_machine(machine.name).provenance
    same = all(original.get(r.key) == r for r in machine.records if r.origin != "what if")
    return machine.name if same else None


def _of_machine(machine: Any) -> str:
    if isinstance(machine, str | os.PathLike):
        load_machine(machine)  # a wrong name is an error that teaches
        return f"machine file {_content(machine)[0]}, sha256 {file_hash(machine)}"
    if not isinstance(machine, Machine):
        raise QuantityError(
            f"a Machine, or name or path of a machine file, is allowed, but {shown(machine)} was given."
        )
    if (name := _shipped_name(machine)) is not None:
        return f"machine file {name}.toml, sha256 {file_hash(name)}"
    values = "\n".join(f"{key} = {record.value}" for key, record in machine.provenance.items())
    return f"machine {machine.name}, sha256 of its values {hashlib.sha256(values.encode()).hexdigest()[:12]}"


def _what_if(machine: Any) -> list[str]:
    """Return what is not as the machine file has it."""
    changed = [f"{r.key} = {r.value}" for r in getattr(machine, "records", ()) if r.origin == "what if"]
    return [f"what if {', '.join(changed)}"] if changed else []


def setting_told(setting: Setting) -> str:
    """Return collective, buffers, rules and network of a setting, for the line of provenance."""
    about = setting.about
    buffers = about["buffers"] if isinstance(about["buffers"], str) else " and ".join(about["buffers"])
    return f"{setting.collective}, {buffers} buffers, {about['rules']}, {type(setting.network).__name__}"


def provenance(machine: Machine | str | os.PathLike[str], *asked: str, used: Machine | None = None) -> str:
    """Return one line that tells version, machine file and its hash, what was changed, and what was asked.

    Parameters
    ----------
    machine : Machine, or name or path of a machine file
        A `Machine` that was read from no file of the package is told by a hash of its values.
    *asked : str
        More for the line, such as "allreduce".
    used : Machine, optional
        The machine after what was overridden in a call; `machine` unless given.
    """
    changed = _what_if(machine if used is None else used)
    return "; ".join([f"orrery_analytic {orrery_analytic.__version__}", _of_machine(machine), *changed, *asked])
