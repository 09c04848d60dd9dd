"""From whatever a reader was given to a name and its lines, without what launchers and people put in front of them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from copy import copy
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

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
# (srun -l); times of day, seconds since 1970 and dates, `Sun May 20 14:55:08 2018` (Open MPI, date) and
# `May 20 14:55:08` (ts) among them.
_PREFIX = re.compile(
    r"""(?: \s+ | [>|│]
      | (?:\[[^\]\s]{1,80}\])?<std(?:out|err|diag)>:
      | \[(?:[\w.-]{1,80}:)?\d{1,7}\](?=\s)
      | \([^()]{0,80}\brank=\d{1,7}[^()]{0,80}\)
      | \[?\d{4}-\d\d-\d\d[T\s]\d\d:\d\d:\d\d[.,]?\d{0,9}(?:Z|[+-]\d\d:?\d\d)?\]?:?(?=\s)
      | \[?\d{1,2}:\d\d:\d\d[.,]?\d{0,9}\]?(?=\s)
      | (?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\s+[A-Z][a-z]{2}\s+\d{1,2}\s+\d\d:\d\d:\d\d(?:\s[A-Z]{3,4})?\s\d{4}(?=[\s\[<])
      | (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\s+\d{1,2}\s+\d\d:\d\d:\d\d[.,]?\d{0,9}(?=\s)
      | 1[5-9]\d{8}\.\d{2,9}(?=\s+\S)
      | \d{1,7}:(?=\s)
    )+""",
    re.VERBOSE,
)

# What a prefix may begin with.
_PREFIX_BEGINS = frozenset(" \t\r\f\v[>|│<(0123456789MTWFSJAOND\xa0")
# Characters that a row has, or a row of words in CSV; without them, a line that is shorter than a heading says nothing.
_OF_ROWS = np.array([chr(byte) in "0123456789,;?" or byte > 127 for byte in range(256)])
_SHORTEST = len("n us")

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
        return _decode("<text>", source)
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
        return name, content.removeprefix("\ufeff")
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
    """Lines of a log, split at line feeds alone, so that numbers are those of an editor; what is too long is cut.

    `text` is all of them, and `ends` where each ends in it; `telling` has a byte each, 0 for one that no reader need
    look at. `readers` share the patience for lines that have to be looked at one by one.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text.split("\n"))
        self.readers = 1
        self.text = text
        codes, self.ends, lengths = _measured(text)
        if lengths.max() > _LONGEST:
            self[:] = [line[:_LONGEST] for line in self]
            self.text = "\n".join(self)
            codes, self.ends, lengths = _measured(self.text)
        self.telling = (np.logical_or.reduceat(_OF_ROWS[codes], self.ends - lengths) | (lengths >= _SHORTEST)).tobytes()

    def numbers(self, places: Iterable[int]) -> list[int]:
        """Return the numbers of the lines, from 1, in which places of the text are."""
        found: list[int] = (np.searchsorted(self.ends, np.fromiter(places, dtype=np.int64)) + 1).tolist()
        return found

    def without(self, numbers: NDArray[np.int64]) -> Lines:
        """Return the same lines, of which some no longer tell anything."""
        left = copy(self)
        telling = np.frombuffer(self.telling, dtype=np.uint8).copy()
        telling[numbers - 1] = 0
        left.telling = telling.tobytes()
        return left


def _measured(text: str) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
    """Return a byte for each character of a text and its last line feed, where each line ends, and how long it is."""
    # What is not in Latin-1 becomes a question mark.
    codes = np.frombuffer(f"{text}\n".encode("latin-1", errors="replace"), dtype=np.uint8)
    ends = np.flatnonzero(codes == ord("\n"))
    return codes, ends, np.diff(ends, prepend=-1) - 1


def to_lines(text: str) -> Lines:
    """Return the lines of a text, without what terminals and hosts add."""
    if "\r" in text and "\n" not in text.rstrip("\n"):  # no line feeds: line ends of old Macs
        text = text.replace("\r", "\n")
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    if labels := tuple(_labels(text)):
        shortest = min(map(len, labels))
        text = "\n".join([_without(line, labels) if len(line) > shortest else line for line in text.split("\n")])
    return Lines(text)


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
