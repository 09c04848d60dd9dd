"""From whatever a reader was given to a name and its lines, without what launchers and people put in front of them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from pathlib import Path

from orrery_analytic.errors import FileMissingError, FormatError
from orrery_analytic.logs.refused import binary

__all__ = ["excerpt", "load", "strip_prefix", "to_lines"]

_ACCEPTED = (
    "a path, text with at least one line break, bytes, an open file, or one item of an ipywidgets FileUpload "
    "(upload.value[0])"
)
# What is longer is no row of any format: it is cut, so that no line costs more than a short one.
_LONGEST = 2000
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
# Quotes and bars; `[3] ` (MPICH), `[1,0]<stdout>:` (Open MPI); `(head, rank=0)` (Ray); `12: ` (srun -l); times of day.
_PREFIX = re.compile(
    r"""(?: \s+ | [>|│]
      | \[[^\]\s]{1,80}\]<std(?:out|err|diag)>:
      | \[\d{1,7}\](?=\s)
      | \([^()]{0,80}\brank=\d{1,7}[^()]{0,80}\)
      | \[?\d{4}-\d\d-\d\d[T\s]\d\d:\d\d:\d\d[.,]?\d{0,9}(?:Z|[+-]\d\d:?\d\d)?\]?:?(?=\s)
      | \[?\d{1,2}:\d\d:\d\d[.,]?\d{0,9}\]?(?=\s)
      | \d{1,7}:(?=\s)
    )+""",
    re.VERBOSE,
)


def load(source: object) -> tuple[str, str]:
    """Return the name and the text of a log.

    Parameters
    ----------
    source
        A path (`str` or `Path`), text (a `str` with a line break), bytes, an open file, or one item of an ipywidgets
        FileUpload (a mapping with `name` and `content`).

    Raises
    ------
    FileMissingError
        No file of that name; the message has the nearest one in its folder.
    FormatError
        A directory, something binary, or nothing that can be read.
    """
    if isinstance(source, Mapping) and "content" in source:
        return _decode(str(source.get("name", "<upload>")), source["content"])
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _decode("<bytes>", source)
    if isinstance(source, str) and "\n" in source:
        return "<text>", source
    if isinstance(source, (str, Path)):
        return _decode(str(source), _bytes_of(Path(source)))
    if hasattr(source, "read"):
        name = getattr(source, "name", "<file>")
        try:
            content = source.read()
        except (OSError, ValueError) as error:
            raise FormatError(f"{name} cannot be read: {error}.") from error
        return _decode(str(name), content)
    raise FormatError(f"A log is {_ACCEPTED}; not {type(source).__name__}.")


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except IsADirectoryError as error:
        raise FormatError(f"{path} is a directory, not a log. Give one of its files.") from error
    except FileNotFoundError as error:
        folder = path.parent
        names = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
        near = difflib.get_close_matches(path.name, names, n=1)
        hint = f" Did you mean {str(folder / near[0])!r}?" if near else ""
        raise FileMissingError(f"no file {str(path)!r}.{hint} A log is {_ACCEPTED}.") from error
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise FormatError(f"{excerpt(str(path))} cannot be read: {error}. A log is {_ACCEPTED}.") from error


def _decode(name: str, content: object) -> tuple[str, str]:
    if isinstance(content, str):
        return name, content
    if not isinstance(content, (bytes, bytearray, memoryview)):
        raise FormatError(f"{name} holds {type(content).__name__}, not bytes or text. A log is {_ACCEPTED}.")
    data = bytes(content)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return name, data.decode("utf-16", errors="replace")  # what PowerShell's > writes
    kind = binary(data)
    if kind:
        raise FormatError(f"{name} is binary, not a log of text: {kind}")
    start = data[:4096]
    if sum(byte < 9 or 13 < byte < 27 for byte in start) > max(4, len(start) / 50):
        raise FormatError(f"{name} is binary (it begins with {data[:8]!r}), not a log of text.")
    return name, data.decode("utf-8-sig", errors="replace")


def to_lines(text: str) -> list[str]:
    """Split at line feeds alone, so that numbers are those of an editor; cut what is too long to be a row."""
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    return [line if len(line) <= _LONGEST else line[:_LONGEST] for line in text.split("\n")]


def strip_prefix(line: str) -> str:
    """Take indentation, quotation marks, and the rank, stream and time labels of launchers off a line."""
    found = _PREFIX.match(line)
    return line[found.end() :] if found else line


def excerpt(line: str, longest: int = 60) -> str:
    """Return a line in quotes, short enough for a message."""
    line = " ".join(line[: 4 * longest].split())
    return repr(line if len(line) <= longest else line[: longest - 3] + "...")
