"""An exercise: what is asked, what is right, and what to say of the mistakes that people make."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from orrery_analytic.course.verdict import Verdict

__all__ = ["Answer", "Exercise", "Mistake"]


class Answer(Protocol):
    """What tells a right answer from a wrong one: `Formula`, `Number` or `Choice`."""

    def judge(self, answer: Any) -> Verdict:
        """Return whether an answer is right, and if not, what to look at."""


@dataclass(frozen=True)
class Mistake:
    """A wrong answer that many give, and what helps them."""

    answer: Answer
    says: str


@dataclass(frozen=True)
class Exercise:
    """An exercise of the course.

    Attributes
    ----------
    number : str
        Chapter and place in it: "1.2".
    asks : str
        What is asked, in a line; the notebook asks it in full.
    answer : function without arguments
        Makes the right answer, from the package's own formulas.
    hint : str
        What to think about, where an answer is wrong and nothing better can be said.
    says : str
        What the right answer means.
    mistakes : function without arguments
        Makes those wrong answers that are known.
    """

    number: str
    asks: str
    answer: Callable[[], Answer]
    hint: str
    says: str = ""
    mistakes: Callable[[], tuple[Mistake, ...]] = tuple

    def check(self, answer: Any) -> Verdict:
        """Return what is to be said of an answer; ``...`` is none yet."""
        if answer is ... or answer is None:
            return Verdict(None, f"Exercise {self.number}: {self.asks} Put your answer in the place of the dots.")
        verdict = self.answer().judge(answer)
        if verdict.right:
            return Verdict(True, self.says)
        known = next((m.says for m in self.mistakes() if m.answer.judge(answer).right), verdict.why)
        return Verdict(False, " ".join(filter(None, (known, self.hint))))
