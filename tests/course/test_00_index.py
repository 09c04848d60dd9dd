"""The index of the course says of each chapter what the chapter says of itself."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from orrery_analytic.course import CHAPTERS

SOURCE = Path(__file__).resolve().parents[2] / "notebooks" / "course" / "source"
INDEX = (SOURCE / "00-index.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| \[.+\]\((?P<file>\d\d-[\w-]+)\.ipynb\) \| (?P<minutes>\d+) \| (?P<question>.+) \|$", re.M)
ROWS = list(ROW.finditer(INDEX))


def test_every_chapter_is_listed_in_its_order() -> None:
    assert [int(row["file"][:2]) for row in ROWS] == list(range(1, len(CHAPTERS) + 1))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["file"])
def test_question_and_minutes_are_those_of_the_chapter(row: re.Match[str]) -> None:
    text = (SOURCE / f"{row['file']}.md").read_text(encoding="utf-8")
    assert f"# Course {int(row['file'][:2])}. {row['question']}\n" in text
    assert f"*About {row['minutes']} minutes" in text
