"""JSON objects that hold no other object, found one by one: a broken one costs itself alone, and depth nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

__all__ = ["flat_objects"]


def flat_objects(text: str, keys: Sequence[str]) -> Iterator[tuple[int, dict[str, Any] | str]]:
    """Yield the line and the content of each innermost object that has one of some keys; a text where it is broken.

    Parameters
    ----------
    text
        JSON, or something like it: a document, lines, or either among other lines.
    keys
        What betrays an object. Others are passed over.

    Yields
    ------
    tuple
        The line in which it begins, from 1, and a dict, or a sentence that says why there is none.
    """
    sign = re.compile("|".join(f'"{re.escape(key)}"' for key in keys))
    done, line, counted, braces = 0, 1, 0, _Braces(text)
    for found in sign.finditer(text):
        at = found.start()
        if at < done:
            continue
        opening = max(text.rfind("{", done, at), text.rfind("}", done, at))
        closing = braces.after(at)
        whole = opening >= 0 and text[opening] == "{" and text[closing : closing + 1] == "}"
        start = opening if whole or (opening >= 0 and text[opening] == "{") else at
        line += text.count("\n", counted, start)
        counted = start
        done = closing + 1 if whole else max(closing, at + 1)
        yield line, _content(text[start:done]) if whole else "a brace of the object is missing"


class _Braces:
    """The next brace after a place; places only grow, so each stretch of the text is searched once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.next = {"{": -1, "}": -1}

    def after(self, at: int) -> int:
        """Return where the next brace is, or the end of the text."""
        for brace, place in self.next.items():
            if place < at:
                found = self.text.find(brace, at)
                self.next[brace] = len(self.text) if found < 0 else found
        return min(self.next.values())


def _content(text: str) -> dict[str, Any] | str:
    try:
        content = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        return f"it is no JSON ({error.msg})"
    except ValueError as error:  # a key that is there twice, or a number with thousands of digits
        return str(error)[:100]
    except RecursionError:
        return "its lists are too deep"
    return content if isinstance(content, dict) else "it is no object"


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in content if names.count(name) > 1)
        raise ValueError(f"the key {twice[:40]!r} is there twice")
    return content


_DECODER = json.JSONDecoder(object_pairs_hook=_unique)
