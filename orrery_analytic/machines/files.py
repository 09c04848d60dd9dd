"""Reading machine files: TOML with units and, for every value, where it comes from."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable
from functools import cache, partial
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, PlainValidator, ValidationError, create_model

from orrery_analytic.errors import FileMissingError, FormatError, UnknownNameError, choose, unknown_name
from orrery_analytic.machines.keys import COPIES, MACHINE_KEYS, ORIGINS
from orrery_analytic.machines.machine import Machine
from orrery_analytic.machines.records import Record, check_text, check_value, written
from orrery_analytic.units import shown

__all__ = ["list_machines", "load_machine", "shipped"]

_LARGEST = 32 * 1024
_SHOWN = 8
_PARTS = ("value", "origin", "reference")
_BAND_NAMES = tuple(f"{copy}_bands" for copy in COPIES)
_TOP = ("name", "description", "library", *MACHINE_KEYS, *_BAND_NAMES)
_STRICT = ConfigDict(extra="forbid", strict=True)


def _model(key: str) -> type[BaseModel]:
    """Return the model of ``[key]`` with its value, origin and reference."""
    checks: tuple[Callable[[object], object], ...] = (
        partial(check_value, key, bare=False),
        partial(choose, "origin", allowed=ORIGINS),
        partial(check_text, "reference"),
    )
    fields: dict[str, Any] = {
        part: (Annotated[Any, PlainValidator(check)], ...) for part, check in zip(_PARTS, checks, strict=True)
    }
    return create_model(key, __config__=_STRICT, **fields)


@cache
def _file_model() -> type[BaseModel]:
    """Return the model of a machine file."""
    fields: dict[str, Any] = {
        key: (Annotated[Any, PlainValidator(partial(check_text, key))], ...) for key in ("name", "description")
    }
    banded = [f"{copy}_{part}" for copy in COPIES for part in ("latency", "bandwidth")]
    for key in ("library", *MACHINE_KEYS, *_BAND_NAMES):
        required = key == "library" or (key in MACHINE_KEYS and MACHINE_KEYS[key].required and key not in banded)
        fields[key] = (_model(key), ...) if required else (_model(key), None)
    return create_model("MachineFile", __config__=_STRICT, **fields)


def _wanted(key: str, part: str) -> str:
    """Return what belongs into the file at ``[key]``, or at one part of it; a missing ``[key]`` is its own part."""
    if part == "origin":
        return ", ".join(ORIGINS)
    if part == "value" and key in _BAND_NAMES:
        return "a list of {up_to, latency, bandwidth}"
    if part == "value" and key in MACHINE_KEYS:
        return "a whole number" if MACHINE_KEYS[key].unit == "1" else "text with a unit"
    return "a text" if part in ("value", "reference", "name", "description") else f"a table with {', '.join(_PARTS)}"


def _problem(location: tuple[int | str, ...], kind: str, given: object, context: dict[str, Any]) -> str:
    """Return our sentence for one of pydantic's errors."""
    key = ".".join(str(part) for part in location)
    if kind == "missing":
        return f"key {key!r} is missing. Allowed: {_wanted(str(location[0]), str(location[-1]))}."
    if kind == "extra_forbidden":
        return str(unknown_name("key", key, [".".join([*map(str, location[:-1]), name]) for name in _known(location)]))
    if "error" in context:
        return f"key {key!r}: {context['error']}"
    return f"key {key!r} = {shown(given)} is refused. Allowed: a table with {', '.join(_PARTS)}."


def _known(location: tuple[int | str, ...]) -> tuple[str, ...]:
    return _TOP if len(location) == 1 else _PARTS


def _copies(document: dict[str, Any]) -> list[str]:
    """Return what is wrong with the choice between one band (latency, bandwidth) and several (bands) of a copy."""
    wrong = []
    for copy in COPIES:
        single = [key for key in (f"{copy}_latency", f"{copy}_bandwidth") if key in document]
        allowed = f"Allowed: {copy}_latency and {copy}_bandwidth, or {copy}_bands."
        if f"{copy}_bands" in document and single:
            wrong.append(f"key '{copy}_bands' is given together with {' and '.join(map(repr, single))}. {allowed}")
        elif f"{copy}_bands" not in document and (single or MACHINE_KEYS[f"{copy}_latency"].required):
            missing = [key for key in (f"{copy}_latency", f"{copy}_bandwidth") if key not in document]
            wrong += [f"key {key!r} is missing. {allowed}" for key in missing]
    return wrong


def _line(text: str, location: tuple[int | str, ...]) -> str:
    """Return "line 24: " for where a key, or a part of it, is written; "" where it is nowhere."""
    key, part = (rf'"?{re.escape(str(name))}"?[ \t]*' for name in (*location, "")[:2])
    table, dotted = (
        re.search(rf"^[ \t]*\[*[ \t]*{pattern}[].=]", text, re.MULTILINE) for pattern in (key, rf"{key}\.[ \t]*{part}")
    )
    if table is None:
        return ""
    inside, *_ = re.split(r"^[ \t]*\[", text[table.end() :], maxsplit=1, flags=re.MULTILINE)
    value = re.search(rf"^[ \t]*{part}[.=]", inside, re.MULTILINE) if location[1:] else None
    at = dotted.start() if dotted else table.start() if value is None else table.end() + value.start()
    return f"line {text.count(chr(10), 0, at) + 1}: "


def _parse(content: bytes, source: str) -> tuple[dict[str, Any], str]:
    """Return the document of a TOML file, and its text."""
    if len(content) > _LARGEST:
        raise FormatError(f"machine file {source!r} is too large. Allowed: at most {_LARGEST // 1024} KiB.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = f"machine file {source!r}, line {content.count(bytes([10]), 0, error.start) + 1}"
        bad = content[error.start]
        raise FormatError(f"{place}: byte 0x{bad:02x} is no UTF-8. Allowed: TOML text in UTF-8.") from None
    try:
        return tomllib.loads(text), text
    except RecursionError:
        raise FormatError(f"machine file {source!r} nests too deeply. Allowed: tables of values.") from None
    except ValueError as error:
        at = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)$", str(error))
        if at is None:  # Python's own limit, which says nothing of where
            at = re.search("[0-9_]{4000,}", text)
            place = f"line {text.count(chr(10), 0, at.start() if at else 0) + 1}"
            said = "a whole number has thousands of digits"
        else:
            place = f"line {at[1]}, column {at[2]}" if at[1] else f"line {text.count(chr(10)) + 1}, end of the file"
            said = str(error)[: at.start()]
        example = 'each key once, for example [latency] with value = "2.1 us", origin and reference'
        raise FormatError(f"machine file {source!r}, {place}: {said}. Allowed: TOML, {example}.") from None


def _machine(content: bytes, source: str) -> Machine:
    """Return the machine of a file's content, or raise one FormatError that names every problem."""
    document, text = _parse(content, source)
    problems = _copies(document)
    try:
        checked = _file_model().model_validate(document)
    except ValidationError as error:
        # What is there and wrong comes before what is missing: a misspelt key explains the missing one.
        errors = sorted(error.errors(include_url=False), key=lambda e: e["type"] == "missing")
        told = (_line(text, e["loc"]) + _problem(e["loc"], e["type"], e["input"], e.get("ctx", {})) for e in errors)
        problems = [*told, *problems]
    if problems:
        more = [f"and {len(problems) - _SHOWN} more"] if len(problems) > _SHOWN else []
        raise FormatError(f"machine file {source!r}: " + "\n  ".join([*problems[:_SHOWN], *more]))
    records = []
    for key in document:
        if key in ("name", "description"):
            continue
        si = getattr(checked, key).value
        raw = document[key]
        records.append(Record(key, written(key, raw["value"], si), raw["origin"], raw["reference"], si))
    return Machine(document["name"], document["description"], tuple(records))


def shipped() -> dict[str, Traversable]:
    """Return the machine files that come with the package: package data in a wheel, else those of the checkout."""
    package = resources.files("orrery_analytic")
    folder: Traversable = package.joinpath("_machines")
    if not folder.is_dir():
        folder = Path(__file__).resolve().parents[2] / "machines"
    return {item.name.removesuffix(".toml"): item for item in folder.iterdir() if item.name.endswith(".toml")}


def list_machines() -> list[str]:
    """Return the names of the machines that come with the package.

    Returns
    -------
    list of str
        Sorted; each is an argument for `load_machine`.
    """
    return sorted(shipped())


def _read(path: Path) -> bytes:
    """Return the content of a file, of which no more than a little over the allowed size is read."""
    try:
        path = path.expanduser()
        if path.is_file():
            with path.open("rb") as handle:
                return handle.read(_LARGEST + 1)
        reason = "is no file" if path.exists() else "does not exist"
    except (OSError, RuntimeError, ValueError) as error:
        reason = f"cannot be read ({getattr(error, 'strerror', None) or error})"
    names = ", ".join(list_machines())
    raise FileMissingError(f"machine file {shown(str(path))} {reason}. Allowed: a TOML file, or a name: {names}.")


def load_machine(name_or_path: str | os.PathLike[str]) -> Machine:
    """Return a machine that comes with the package, or one of your own.

    Parameters
    ----------
    name_or_path
        A name of `list_machines`, or a path: a text that ends in ``.toml`` or has a separator, or a `pathlib.Path`.

    Raises
    ------
    UnknownNameError
        If there is no machine of that name.
    FileMissingError
        If there is no such file, or it cannot be read.
    FormatError
        If the file is no machine file. The message names the file, the line or each key, what was given, and what is
        allowed.
    """
    if isinstance(name_or_path, os.PathLike):
        return _machine(_read(Path(name_or_path)), os.fspath(name_or_path))
    if isinstance(name_or_path, str) and (name_or_path.endswith(".toml") or re.search(r"[/\\]", name_or_path)):
        return _machine(_read(Path(name_or_path)), name_or_path)
    found = shipped()
    try:
        name = choose("machine", name_or_path, sorted(found))
    except UnknownNameError as error:
        raise UnknownNameError(f"{error} A file of your own: give its path, ending in .toml.") from None
    return _machine(found[name].read_bytes(), f"{name}.toml")
