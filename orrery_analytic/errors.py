"""The errors of the package, and the sentence they share: what was given, what is allowed, the nearest spelling."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = [
    "FileMissingError",
    "FormatError",
    "UnknownNameError",
    "OrreryError",
    "QuantityError",
    "ScheduleError",
    "choose",
    "shown",
    "unknown_name",
]


_LONGEST = 100


class OrreryError(Exception):
    """Base of every error that this package raises on purpose."""

    def __str__(self) -> str:
        # KeyError would print the repr of its message, with quotes and escaped line breaks.
        return str(self.args[0]) if len(self.args) == 1 else super().__str__()


class UnknownNameError(OrreryError, KeyError, ValueError):
    """A name (collective, algorithm, machine, parameter, symbol ...) that does not exist or is missing."""


class QuantityError(OrreryError, ValueError):
    """A value that is no number, has the wrong unit, or lies outside its range."""


class FormatError(OrreryError, ValueError):
    """A file (machine, log, rules) that cannot be understood; the message names the file and the line or key."""


class FileMissingError(OrreryError, FileNotFoundError):
    """A file that is not there."""


class ScheduleError(OrreryError, ValueError):
    """A schedule that contradicts itself: unmatched messages, sizes that differ, a deadlock."""


def shown(value: object) -> str:
    """Return what was given as an error message shows it: its repr, cut where it is long."""
    try:
        text = repr(value)
    except ValueError:  # Python refuses to print whole numbers of thousands of digits
        return f"a very large {type(value).__name__}"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def unknown_name(kind: str, given: object, allowed: Iterable[str]) -> UnknownNameError:
    """Return the error for a name that is not among `allowed`, with the nearest right spelling where there is one."""
    names = list(allowed)
    text = given[:_LONGEST] if isinstance(given, str) else shown(given)
    near = difflib.get_close_matches(text.lower().replace(" ", "_").replace("-", "_"), names, n=1, cutoff=0.5)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return UnknownNameError(f"unknown {kind} {shown(given)}.{hint} Allowed: {', '.join(names) or 'none'}.")


def choose(kind: str, given: object, allowed: Iterable[str]) -> str:
    """Return `given` if it is one of `allowed`, else raise the error that names the nearest right spelling."""
    names = list(allowed)
    if isinstance(given, str) and given in names:
        return given
    raise unknown_name(kind, given, names)
