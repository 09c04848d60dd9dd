"""JSON as Open MPI's parser takes it, with the line of each value.

It is more generous than the standard (a comma after the last item, line breaks in strings, a bare "-" for 0), except
that a byte 0 ends the text. Objects keep keys that are given twice.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple, NoReturn

from orrery_analytic.errors import FormatError

__all__ = ["Value", "parse"]

_TOKEN = re.compile(
    r'[ \t\r\n]*(?:(?P<mark>[\[\]{}:,])|(?P<string>"(?:[^"\\\0]|\\[^\0])*")|(?P<word>true|false|null)'
    r"|(?P<number>-?(?:0|[1-9][0-9]*)?(?P<real>(?:(?<=[0-9])\.[0-9]+)?(?:(?<=[0-9])[eE][+-]?[0-9]+)?))"
    r"(?<=[-0-9])(?![0-9.eE]))",
    re.DOTALL,
)
_BLANK = re.compile(r"[ \t\r\n]*")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_CONTROL = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_WORDS = {"true": True, "false": False, "null": None}
_LARGEST = 2**63 - 1


class Value(NamedTuple):
    """A value: an "object" (pairs of key and Value), "array", "string", "integer", or "other"."""

    kind: str
    value: Any
    line: int

    def get(self, key: str) -> Value | None:
        """Return what an object holds under a key, the first if there are two; None from all else."""
        if self.kind != "object":
            return None
        return next((value for name, value in self.value if name == key), None)


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text.partition("\0")[0]
        self.position, self.line, self.counted = 0, 1, 0

    def fail(self, wanted: str) -> NoReturn:
        blank = _BLANK.match(self.text, self.position)
        at = blank.end() if blank else self.position
        self.count(at)
        found = repr(self.text[at : at + 20]) if at < len(self.text) else "the end of the text"
        raise FormatError(f"line {self.line}: {wanted} is due, but {found} was found")

    def count(self, position: int) -> None:
        """Let `line` be that of a position, which never goes back."""
        self.line += self.text.count("\n", self.counted, position)
        self.counted = position

    def token(self) -> tuple[str, str]:
        """Return the kind and the text of the next token; ("", "") where there is none."""
        found = _TOKEN.match(self.text, self.position)
        if found is None:
            return "", ""
        kind = "mark" if found["mark"] else "string" if found["string"] else "word" if found["word"] else "number"
        if kind == "number" and found["real"]:
            kind = "real"
        text = found["number"] if kind == "real" else found[kind]
        self.position = found.end()
        return kind, text

    def peek(self) -> str:
        """Return the next character that is not blank."""
        blank = _BLANK.match(self.text, self.position)
        at = blank.end() if blank else self.position
        return self.text[at : at + 1]


def parse(data: bytes) -> Value:
    """Return the value that a JSON text stands for.

    Raises
    ------
    FormatError
        Where the library's parser fails; the message begins with the line.
    """
    parser = _Parser(data.decode("utf-8-sig", errors="replace"))
    # What is open: objects and arrays, and for objects the key of the value to come.
    open_values: list[tuple[Value, str]] = []
    while True:
        value = _scalar_or_opening(parser)
        if value.kind in ("object", "array") and parser.peek() not in "}]":
            open_values.append((value, _key(parser) if value.kind == "object" else ""))
            continue
        if value.kind in ("object", "array"):
            _close(parser, value)
        # A value is complete: hand it over, and close what ends with it.
        while open_values:
            parent, key = open_values.pop()
            parent.value.append((key, value) if parent.kind == "object" else value)
            if parser.peek() == ",":
                parser.token()
                if parser.peek() not in "}]":
                    open_values.append((parent, _key(parser) if parent.kind == "object" else ""))
                    break
            _close(parser, parent)
            value = parent
        else:
            if parser.peek():
                parser.fail("the end of the text")
            return value


def _scalar_or_opening(parser: _Parser) -> Value:
    """Return the next scalar, or the empty object or array that opens."""
    start = parser.position
    kind, text = parser.token()
    parser.count(parser.position - len(text))
    if text in ("{", "["):
        return Value("object" if text == "{" else "array", [], parser.line)
    if kind == "string":
        return Value("string", _plain(text), parser.line)
    if kind == "number" and abs(number := _integer(text)) <= _LARGEST:
        return Value("integer", number, parser.line)
    if kind in ("word", "number", "real"):
        return Value("other", _WORDS.get(text, text[:40]), parser.line)
    parser.position = start
    return parser.fail("a value")


def _integer(text: str) -> int:
    return _LARGEST + 1 if len(text) > 20 else int(text.replace("-", "-0", 1))


def _key(parser: _Parser) -> str:
    """Return a key of an object, and go past the colon after it."""
    start = parser.position
    kind, text = parser.token()
    if kind != "string":
        parser.position = start
        parser.fail("a key in quotes")
    start = parser.position
    if parser.token()[1] != ":":
        parser.position = start
        parser.fail("a colon")
    return _plain(text)


def _close(parser: _Parser, value: Value) -> None:
    """Go past the mark that closes an object or array."""
    mark = "}" if value.kind == "object" else "]"
    start = parser.position
    if parser.token()[1] != mark:
        parser.position = start
        parser.fail(f"a comma or {mark!r}")


def _plain(text: str) -> str:
    """Return the text of a string without its quotes and escapes."""
    if "\\" not in text:
        return text[1:-1]
    return _ESCAPE.sub(_character, text[1:-1])


def _character(found: re.Match[str]) -> str:
    escaped = found[1]
    if len(escaped) == 5:
        code = int(escaped[1:], 16)
        return "\ufffd" if 0xD800 <= code < 0xE000 else chr(code)
    return _CONTROL.get(escaped, escaped)
