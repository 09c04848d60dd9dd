"""The numbers of a classic rule file, as C's ``fscanf("%li")`` finds them when all else is skipped."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["Number", "Text", "numbers"]

# White space stands between numbers. A number may be octal (010 is 8, 08 is 0 and 8) or hexadecimal (a bare 0x is 0).
# A sign without a number is skipped along with the character after it, all else by itself.
_TOKEN = re.compile(
    rb"(?P<number>[+-]?(?:0[xX][0-9a-fA-F]*|0[0-7]*|[1-9][0-9]*))"
    rb"|(?P<comment>[+-]?#[^\n]*)"
    rb"|(?P<junk>[+-][\s\S]?|[^\s0-9+#-]+)"
)
_LONGEST = 19
_ZERO = ord("0")
_LEAST, _MOST = -(2**63), 2**63 - 1


class Number(NamedTuple):
    """A number of a file: its value as a C long, and where its text stands."""

    value: int
    start: int
    end: int


class Text:
    """The bytes of a file, which know their lines."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._ends: list[int] | None = None

    def line(self, position: int) -> int:
        """Return the number of the line of a position, from 1 on."""
        if self._ends is None:
            self._ends = [found.start() for found in re.finditer(rb"\n", self.data)]
        return bisect_left(self._ends, position) + 1

    def excerpt(self, start: int, end: int) -> str:
        """Return a part of the text in quotes, short enough for a message."""
        text = self.data[start : min(end, start + 40)].decode("utf-8", errors="replace")
        return repr(text if end - start <= 40 else text + "...")


def numbers(text: Text, start: int = 0, junk: list[tuple[int, int]] | None = None) -> Iterator[Number]:
    """Yield the numbers from a position on; the first places of what is skipped and no comment go to `junk`."""
    for found in _TOKEN.finditer(text.data, start):
        if found.lastgroup == "number":
            start, end = found.span()
            digits = found[0]
            plain = digits.isdigit() and end - start < _LONGEST and not (digits[0] == _ZERO and end - start > 1)
            yield Number(int(digits) if plain else _value(digits), start, end)
        elif found.lastgroup == "junk" and junk is not None and len(junk) < 3:
            junk.append(found.span())


def _value(text: bytes) -> int:
    """Return the value of a number; one that no C long holds becomes the nearest that does."""
    digits = text.lstrip(b"+-")
    if digits[:2] in (b"0x", b"0X"):
        value = int(digits[2:] or b"0", 16)
    elif digits.startswith(b"0"):
        value = int(digits, 8)
    else:
        value = int(digits) if len(digits) <= _LONGEST else _MOST + 1
    return max(_LEAST, min(-value if text.startswith(b"-") else value, _MOST))
