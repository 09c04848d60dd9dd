"""Text of schedules that people bring: from a path or a string to numbered lines, and back to a file."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any, NoReturn

from orrery_analytic.errors import FileMissingError, FormatError, QuantityError, shown

__all__ = ["MOST", "NUMBER", "load", "refuse", "save", "whole"]

MOST = 1 << 20
"""The most ranks, and rounds, of a file."""
NUMBER = r"[0-9]{1,15}"
"""A whole number; 15 digits are a petabyte."""

_LARGEST = 1 << 29
_LONGEST = 2000


def load(source: str | PathLike[str]) -> tuple[str, list[str]]:
    """Return the name and the lines of a schedule: of a file, or of a string that holds a line break.

    Raises
    ------
    FileMissingError
        If there is no such file.
    FormatError
        If it cannot be read as text, is larger than 512 MiB, or has a line of more than 2000 characters.
    """
    if not isinstance(source, (str, PathLike)):
        raise FormatError(f"{type(source).__name__} was given. Allowed: a path, or text with at least one line break.")
    if isinstance(source, str) and "\n" in source:
        name, text = "<text>", source
    else:
        name, text = str(source), _text_of(Path(source))
    if len(text) > _LARGEST:
        raise FormatError(f"{name} is larger than 512 MiB, the most that is read.")
    lines = text.split("\n")
    for i, line in enumerate(lines, start=1):
        if len(line) > _LONGEST:
            refuse(name, i, f"is {len(line)} characters long; allowed: {_LONGEST}")
    return name, lines


def _text_of(path: Path) -> str:
    told = repr(str(path)[:200])
    try:
        if path.stat().st_size > _LARGEST:
            raise FormatError(f"{told} is larger than 512 MiB, the most that is read.")
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise FileMissingError(
            f"no file {told}. A schedule is given as a path, or as text with at least one line break."
        ) from error
    except UnicodeDecodeError as error:
        raise FormatError(f"{told} is not text in UTF-8.") from error
    except (OSError, ValueError) as error:  # a directory; a name that no file can have
        raise FormatError(f"{told} cannot be read: {error}.") from error


def save(text: str, path: str | PathLike[str] | None) -> str:
    """Return the text after it was written to a file, if one is named."""
    if path is not None:
        try:
            Path(path).write_text(text, encoding="utf-8", newline="\n")
        except FileNotFoundError as error:
            raise FileMissingError(f"no folder {str(Path(path).parent)[:200]!r} to write a file to.") from error
        except (OSError, TypeError, ValueError) as error:  # a directory, no rights; what is no name of a file
            raise FormatError(f"{shown(path)} cannot be written: {error}.") from error
    return text


def refuse(name: str, line: int, problem: str) -> NoReturn:
    """Raise the error for a line."""
    raise FormatError(f"{name}, line {line}: {problem}.")


def whole(nbytes: Any) -> int:
    """Return a number of bytes as files hold it.

    Raises
    ------
    QuantityError
        If it is no whole number (schedules with Fractions of n are for `derive`).
    """
    if not hasattr(nbytes, "__index__"):
        raise QuantityError(
            f"files of schedules hold whole numbers of bytes, but a message or reduction has {nbytes!r}."
        )
    return int(nbytes)
