"""The course's exercises, and what checks an answer: ``course.check("1.1", answer)``.

An answer is a Python object: a SymPy formula or a `Cost`, a number or one with its unit ("2.1 us", a pint quantity), or
a name. Text is never evaluated.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from orrery_analytic.course.exercise import Exercise
from orrery_analytic.course.verdict import Verdict
from orrery_analytic.decisions.whole import one
from orrery_analytic.errors import choose

__all__ = ["CHAPTERS", "Exercise", "Verdict", "check", "exercises"]

CHAPTERS = (
    "message_cost",
    "trees",
    "rings",
    "halving_and_doubling",
    "any_p",
    "which_algorithm",
    "device_legs",
    "host_bounce",
    "busbw",
    "solver",
)
"""The modules of the chapters, in order: the first is chapter 1."""


def exercises(chapter: int | None = None) -> dict[str, Exercise]:
    """Return the exercises by number, of one chapter (1 is the first) or of all."""
    names = CHAPTERS if chapter is None else (CHAPTERS[one("chapter", chapter, 1, len(CHAPTERS)) - 1],)
    modules = [import_module(f"{__name__}.chapters.{name}") for name in names]
    return {exercise.number: exercise for module in modules for exercise in module.EXERCISES}


def check(number: str, answer: Any) -> Verdict:
    """Return what is to be said of an answer to an exercise.

    Parameters
    ----------
    number : str
        Of the exercise: "1.2" is the second of the first chapter.
    answer : SymPy expression, Cost, number, quantity, name or list of names
        ``...`` stands for none yet.

    Raises
    ------
    UnknownNameError
        If there is no such exercise.
    """
    known = exercises()
    return known[choose("exercise", number, known)].check(answer)
