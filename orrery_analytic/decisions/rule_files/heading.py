"""The first lines of the files that are written here: who reads them, and what else to know."""

from __future__ import annotations

import re
from collections.abc import Sequence
from textwrap import wrap

__all__ = ["heading", "own_heading"]

_FIRST = "# Rules for Open MPI, from {} on: coll_tuned_dynamic_rules_filename"
_OWN = re.compile(
    rb"(?:rule-file-version-[0-9]+\r?\n)?"
    + re.escape(_FIRST).replace(re.escape("{}"), "([0-9]+[.][0-9]+)[.0-9]*").encode()
    + rb"\r?\n((?:#[^\n]*\n)*)"
)
_WIDTH = 110


def heading(since: str, comments: Sequence[str]) -> list[str]:
    """Return the lines of comment with which a file for the version `since` and later ones begins."""
    told = [line for comment in comments for line in wrap(comment, _WIDTH, break_on_hyphens=False)]
    return [_FIRST.format(since), *(f"# {line}" for line in told)]


def own_heading(data: bytes) -> tuple[str, tuple[str, ...]] | None:
    """Return the release and the comments that `heading` put into a file; None for a file of others."""
    found = _OWN.match(data)
    if found is None:
        return None
    lines = found[2].decode("utf-8", "replace").splitlines()
    return found[1].decode(), tuple(line.removeprefix("#").strip() for line in lines)
