"""From whatever a reader was given to a name and its lines, without what launchers and people put in front of them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from orrery_analytic.errors import FileMissingError, FormatError
from orrery_analytic.logs.refused import binary

__all__ = ["Lines", "excerpt", "load", "strip_prefix", "to_lines"]

_ACCEPTED = (
    "a path, text with at least one line break, bytes, an open file, or one item of an ipywidgets FileUpload "
    "(upload.value[0])"
)
# What is longer is no row of any format: it is cut, so that no line costs more than a short one.
_LONGEST = 2000
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_VALUES = re.compile(
    r"""(\b(?!P2P)[A-Z_]\w{0,60}=|"\s?:\s?(?=")|\b\w*(?:token|secret|passw|key|credential)\w*"?\s?[:=]\s?)"""
    r"""(?:"[^"]*"?|'[^']*'?|[^\s"',]+)""",
    re.IGNORECASE,
)
# Quotes and bars; `[3] ` (MPICH), `[1,0]<stdout>:` (Open MPI), `[node1:4711] `; `(head, rank=0)` (Ray); `12: `
# (srun -l); times of day and dates, `Sun May 20 14:55:08 2018` (Open MPI, date) among them.
_PREFIX = re.compile(
    r"""(?: \s+ | [>|│]
      | (?:\[[^\]\s]{1,80}\])?<std(?:out|err|diag)>:
      | \[(?:[\w.-]{1,80}:)?\d{1,7}\](?=\s)
      | \([^()]{0,80}\brank=\d{1,7}[^()]{0,80}\)
      | \[?\d{4}-\d\d-\d\d[T\s]\d\d:\d\d:\d\d[.,]?\d{0,9}(?:Z|[+-]\d\d:?\d\d)?\]?:?(?=\s)
      | \[?\d{1,2}:\d\d:\d\d[.,]?\d{0,9}\]?(?=\s)
      | (?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\s+[A-Z][a-z]{2}\s+\d{1,2}\s+\d\d:\d\d:\d\d(?:\s[A-Z]{3,4})?\s\d{4}(?=[\s\[<])
      | \d{1,7}:(?=\s)
    )+""",
    re.VERBOSE,
)

# What a prefix may begin with.
_PREFIX_BEGINS = frozenset(" \t\r\f\v[>|│<(0123456789MTWFS\xa0")
# Bytes that a row has, or a row of words in CSV; without them, a line that is shorter than a heading says nothing.
_OF_ROWS = np.array([chr(byte) in "0123456789,;" or byte > 127 for byte in range(256)])
_SHORTEST = len("#Size")

# Whatever stands before one of these is a label: of a host (pdsh), a pod, a service, a level of importance.
_HEADS = ("# OSU ", "# Size ", "# Benchmarking ", "#bytes ", "# size ", "nvbandwidth Version", "[P2P (Peer", "Running ")
_LABEL = re.compile(r"[A-Za-z][\w./@\[\]-]{0,80}(?:: ?| \| ?|> ?| )")


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
    if isinstance(source, str) and not source.strip():
        raise FormatError(f"An empty text is no log, and no path to one. A log is {_ACCEPTED}.")
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


class Lines(list[str]):
    """Lines of a log. `text` is all of them; `telling` has a byte each, 0 for one that no reader need look at."""

    def __init__(self, lines: Iterable[str]) -> None:
        super().__init__(lines)
        self.text = "\n".join(self)
        codes = np.frombuffer(f"{self.text}\n".encode(errors="replace"), dtype=np.uint8)
        ends = np.flatnonzero(codes == ord("\n"))
        begins = np.append(0, ends[:-1] + 1)
        self.telling = (np.logical_or.reduceat(_OF_ROWS[codes], begins) | (ends - begins >= _SHORTEST)).tobytes()


def to_lines(text: str) -> Lines:
    """Split at line feeds alone, so that numbers are those of an editor; cut what is too long to be a row."""
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    lines = [line if len(line) <= _LONGEST else line[:_LONGEST] for line in text.split("\n")]
    if labels := tuple(_labels(text)):
        lines = [_without(line, labels) for line in lines]
    return Lines(lines)


def _labels(text: str) -> set[str]:
    """Return the words that stand before the first heading of each kind, and are no prefix of launchers."""
    found = set()
    for head in _HEADS:
        at = text.find(head)
        before = strip_prefix(text[text.rfind("\n", 0, at) + 1 : at][:_LONGEST]) if at > 0 else ""
        if _LABEL.fullmatch(before):
            found.add(before.rstrip())
    return found


def _without(line: str, labels: tuple[str, ...]) -> str:
    bare = strip_prefix(line)
    label = next((label for label in labels if bare.startswith(label)), None)
    return line if label is None else bare[len(label) :]


def strip_prefix(line: str) -> str:
    """Take indentation, quotation marks, and the rank, stream and time labels of launchers off a line."""
    found = _PREFIX.match(line) if line[:1] in _PREFIX_BEGINS else None
    return line[found.end() :] if found else line


def excerpt(line: str, longest: int = 60) -> str:
    """Return a line in quotes, short enough for a message.

    Values of environment variables, text values of JSON, and whatever is called a key are left out: a log that people
    show to others may hold secrets there.
    """
    line = " ".join(line[: 4 * longest].split())
    if "=" in line or ":" in line:
        line = _VALUES.sub(lambda found: f"{found[1]}...", line)
    return repr(line if len(line) <= longest else line[: longest - 3] + "...")
