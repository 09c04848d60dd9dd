"""What an exercise says of answers."""

from __future__ import annotations

from typing import Any

from orrery_analytic import course


def taken(number: str, *answers: Any) -> None:
    """Every answer is right, whatever its form."""
    for answer in answers:
        verdict = course.check(number, answer)
        assert verdict.right, f"{answer!r}: {verdict}"


def refused(number: str, *answers: Any, says: str = "") -> None:
    """Every answer is wrong, and the verdict helps with these words."""
    for answer in answers:
        verdict = course.check(number, answer)
        assert verdict.right is False, f"{answer!r}: {verdict}"
        assert says in verdict.why, f"{answer!r}: {verdict}"
