"""Answers that are names, or several of them, out of a list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from orrery_analytic.course.verdict import Verdict
from orrery_analytic.errors import OrreryError, choose, shown

__all__ = ["Choice"]


@dataclass(frozen=True)
class Choice:
    """A name that is asked for, or several.

    Parameters
    ----------
    truth : str or frozenset of str
        The right one, or all the right ones in any order.
    among : tuple of str
        What may be chosen.
    """

    truth: str | frozenset[str]
    among: tuple[str, ...]

    def judge(self, answer: Any) -> Verdict:
        """Return whether an answer is this name, or exactly these names."""
        asked = {self.truth} if isinstance(self.truth, str) else set(self.truth)
        many = isinstance(answer, list | tuple | set | frozenset)
        names = [answer] if isinstance(answer, str) else list(answer) if many else None
        if names is None:
            what = "One name" if isinstance(self.truth, str) else "A list of names"
            return Verdict(False, f"{what} out of {', '.join(self.among)} is asked for, but {shown(answer)} was given.")
        spelled = {_folded(name): name for name in self.among}
        try:
            given = {choose("answer", spelled.get(_folded(name), name), self.among) for name in names}
        except OrreryError as error:
            return Verdict(False, _sentence(error))
        if given == asked:
            return Verdict(True)
        if given < asked:
            missing = len(asked) - len(given)
            so_far = "Right as far as it goes, but " if given else ""
            return Verdict(False, f"{so_far}{missing} more {'belongs' if missing == 1 else 'belong'} to it.")
        return Verdict(False)


def _folded(name: Any) -> str:
    """Return a name without spaces, underscores and a capital at its head: people write them one way or the other."""
    text = "".join(str(name).replace("_", " ").split())
    return text[:1].lower() + text[1:]


def _sentence(error: OrreryError) -> str:
    text = str(error)
    return text[:1].upper() + text[1:]
