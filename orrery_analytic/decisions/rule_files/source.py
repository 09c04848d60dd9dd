"""From whatever holds a rule file to its name and its bytes, and from a text to a file."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike, fspath
from pathlib import Path

from orrery_analytic.errors import FileMissingError, FormatError, QuantityError
from orrery_analytic.units import shown

__all__ = ["Source", "load", "save"]

Source = object
_ALLOWED = "a path, text with at least one line break, bytes, or an open file"
_LARGEST = 16 * 2**20


def load(source: Source) -> tuple[str, bytes]:
    """Return the name and the bytes of a rule file.

    Raises
    ------
    FileMissingError
        If there is no such file.
    FormatError
        If it cannot be read, or is larger than 16 MiB.
    """
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _checked("<bytes>", bytes(source))
    if isinstance(source, str) and "\n" in source:
        return _checked("<text>", source.encode("utf-8", errors="replace"))
    if isinstance(source, (str, PathLike)):
        return _from_path(source)
    if hasattr(source, "read"):
        name = str(getattr(source, "name", "<file>"))
        try:
            content = source.read(_LARGEST + 1)
        except (OSError, TypeError, ValueError) as error:
            raise FormatError(f"{name} cannot be read: {error}.") from error
        if isinstance(content, str):
            content = content.encode("utf-8", errors="replace")
        if isinstance(content, bytes):
            return _checked(name, content)
    raise FormatError(f"a rule file is {_ALLOWED}; not {type(source).__name__}.")


def _from_path(path: str | PathLike[str]) -> tuple[str, bytes]:
    name = shown(str(path))
    try:
        with Path(path).open("rb") as file:
            return _checked(str(path), file.read(_LARGEST + 1))
    except FileNotFoundError as error:
        raise FileMissingError(f"no file {name}. A rule file is {_ALLOWED}.") from error
    except (OSError, ValueError) as error:  # a directory; a name that no file can have
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"{name} cannot be read: {_reason(error)}. A rule file is {_ALLOWED}.") from error


def _checked(name: str, data: bytes) -> tuple[str, bytes]:
    if len(data) > _LARGEST:
        raise FormatError(f"{name} is larger than 16 MiB, the most that is read. Real rule files hold some kilobytes.")
    return name, data


def save(
    text: str, path: str | PathLike[str] | None, check: Callable[[str | PathLike[str]], None] | None = None
) -> str:
    """Return the text after it was written to a file, if one is named; `check` refuses some paths.

    Raises
    ------
    FileMissingError
        If there is no such folder.
    QuantityError
        If it is no path, or cannot be written there.
    """
    if path is None:
        return text
    if not isinstance(path, str | PathLike) or isinstance(fspath(path), bytes):
        raise QuantityError(f"path = {shown(path)}: allowed is the path of the file to write.")
    if check is not None:
        check(path)
    try:
        Path(path).write_text(text, encoding="utf-8", newline="\n")
    except FileNotFoundError as error:
        raise FileMissingError(f"no folder for {shown(str(path))}. Make it first, or give another path.") from error
    except (OSError, ValueError) as error:  # a directory; no permission; a name that no file can have
        raise QuantityError(f"{shown(str(path))} cannot be written: {_reason(error)}. Give another path.") from error
    return text


def _reason(error: Exception) -> str:
    """Return what is wrong, without the path, which may be long."""
    return getattr(error, "strerror", None) or str(error)
