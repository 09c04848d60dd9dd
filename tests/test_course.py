"""The course: answers in several forms are taken, wrong ones refused, and task and solution have one source."""

from __future__ import annotations

import importlib.util
import json
import math
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pint
import pytest
import sympy as sp

import orrery_analytic as oa
from orrery_analytic import course
from orrery_analytic.course.choice import Choice
from orrery_analytic.course.formula import POWERS, Formula
from orrery_analytic.course.number import Number
from orrery_analytic.errors import OrreryError, UnknownNameError
from orrery_analytic.symbols import P, alpha, beta, gamma, log2_ceil, n

HERE = Path(__file__).resolve().parent.parent / "notebooks" / "course"
SOURCES = sorted((HERE / "source").glob("*.md"))
PLAIN = dict(zip(("P", "n", "alpha", "beta"), sp.symbols("P n alpha beta"), strict=True))
RING = Formula(oa.collective_cost("allgather", "ring"))
REDUCED = Formula(oa.collective_cost("allreduce", "ring"))
TIME = Number(2.1e-6, "s")
RATE = Number(24e9, "B/s")
COUNT = Number(22, within=0)


def the_builder() -> Any:
    """The maker of the notebooks, which lies beside them and is no part of the package."""
    spec = importlib.util.spec_from_file_location("build_course", HERE / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


build = the_builder()


def stored() -> Iterator[Any]:
    for source in SOURCES:
        for solved in (False, True) if "%% solution" in source.read_text(encoding="utf-8") else (False,):
            yield pytest.param(source, solved, id=build.target(source, solved).stem + ("-solved" if solved else ""))


@pytest.mark.parametrize(("source", "solved"), list(stored()))
def test_stored_notebooks_are_made_from_their_source(source: Path, solved: bool) -> None:
    kept = json.loads(build.target(source, solved).read_text(encoding="utf-8"))["cells"]
    made = build.notebook(source, solved).cells
    assert [(c["cell_type"], c["source"]) for c in kept] == [(c.cell_type, c.source) for c in made]


def test_every_exercise_is_asked_once() -> None:
    asked = [
        text.split('"')[1]
        for source in SOURCES
        for _, text in build.cells(source.read_text(encoding="utf-8"), solved=True)
        if text.startswith("course.check(")
    ]
    assert sorted(asked) == sorted(course.exercises())


@pytest.mark.parametrize(("source", "solved"), [case for case in stored() if case.values[1]])
def test_every_solution_is_right(source: Path, solved: bool) -> None:
    kept = json.loads(build.target(source, solved).read_text(encoding="utf-8"))["cells"]
    checks = [cell for cell in kept if cell["source"].startswith("course.check(")]
    said = ["".join(output["data"]["text/plain"]) for cell in checks for output in cell["outputs"]]
    assert len(said) == len(checks)
    assert [text for text in said if not text.startswith("✔")] == []


def test_a_cell_of_an_unknown_kind_is_refused() -> None:
    with pytest.raises(SystemExit, match="'drawing'"):
        build.cells("%% drawing\n", solved=False)


def test_there_is_no_such_exercise() -> None:
    with pytest.raises(UnknownNameError, match="unknown exercise"):
        course.check("1.99", ...)


@pytest.mark.parametrize("chapter", [0, 11, -1, "1", True])
def test_there_is_no_such_chapter(chapter: Any) -> None:
    with pytest.raises(OrreryError, match="chapter"):
        course.exercises(chapter)


def test_dots_are_no_answer_yet() -> None:
    verdict = course.check("1.1", ...)
    assert verdict.right is None
    assert not verdict
    assert "Exercise 1.1" in repr(verdict)
    assert "Not answered yet" in verdict._repr_html_()


@pytest.mark.parametrize(
    "answer",
    [
        (P - 1) * (alpha + n * beta),
        sp.expand((P - 1) * (alpha + n * beta)),
        (PLAIN["P"] - 1) * PLAIN["alpha"] + (PLAIN["P"] - 1) * PLAIN["n"] * PLAIN["beta"],
        oa.collective_cost("allgather", "ring"),
        sp.Sum(alpha + n * beta, (sp.Symbol("k"), 1, P - 1)),
        sp.solve(sp.Symbol("T") - (P - 1) * (alpha + n * beta), sp.Symbol("T")),
    ],
)
def test_a_formula_is_right_in_any_form(answer: Any) -> None:
    assert RING.judge(answer)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ((P - 1) * (alpha + n * beta / P), "one P-th"),
        ((P - 1) * (alpha + n * P * beta), "n were P times"),
        (2 * (P - 1) * (alpha + n * beta), "2 times"),
        ((P - 1) * alpha + P * n * beta, "alpha is right; look again at beta"),
        (log2_ceil(P) * alpha + (P - 1) * n * beta, "beta is right; look again at alpha"),
        ((P - 1) * (sp.Symbol("alfa") + n * beta), "'alpha'"),
        ("(P - 1)*(alpha + n*beta)", "Text is not read"),
        (P > 1, "formula in the symbols"),
        (True, "formula in the symbols"),
        (math.nan, "formula in the symbols"),
        (sp.zoo, "infinite"),
        (sp.I * alpha, "no real number"),
        (sp.Function("f")(P) * alpha, "no formula that gives a time"),
        (sp.Function("exit")(), "no formula that gives a time"),
        (alpha + sp.Derivative(sp.Function("f")(n), n), "no formula that gives a time"),
        (sp.Piecewise((RING.expression, P <= 256), (alpha, True)), ""),
        (3, ""),
    ],
)
def test_a_wrong_formula_is_told_from_a_right_one(answer: Any, why: str) -> None:
    verdict = RING.judge(answer)
    assert verdict.right is False
    assert why in verdict.why


def test_a_formula_that_is_right_at_powers_of_two_alone() -> None:
    tree = Formula(log2_ceil(P) * alpha)
    verdict = tree.judge(sp.log(P, 2) * alpha)
    assert "At every power of two this is right; at P = 3" in verdict.why
    assert Formula(log2_ceil(P) * alpha, ranks=POWERS).judge(sp.log(P, 2) * alpha)


@pytest.mark.parametrize("answer", [9 * alpha, 9 / beta, alpha + 9 / beta])
def test_a_quotient_is_not_told_part_by_part(answer: Any) -> None:
    verdict = Formula(9 * alpha / beta).judge(answer)
    assert verdict.right is False
    assert "look again" not in verdict.why


def test_a_part_that_the_right_formula_has_not() -> None:
    assert "'gamma'" in RING.judge(REDUCED.truth).why
    assert "gamma" in REDUCED.judge(2 * (P - 1) * (alpha + n / P * beta)).why
    assert Formula(alpha, also=("gamma",)).judge(alpha + gamma).right is False


@pytest.mark.parametrize(
    "answer",
    [2.1e-6, "2.1 us", "2100 ns", sp.Rational(21, 10**7), Fraction(21, 10**7), pint.Quantity(2.1, "us"), 2.11e-6],
)
def test_a_number_is_right_in_any_unit(answer: Any) -> None:
    assert TIME.judge(answer)


@pytest.mark.parametrize(
    ("asked", "answer", "why"),
    [
        (TIME, 2.1, "10^6"),
        (TIME, "2.1 ms", "10^3"),
        (TIME, "2.1 MB", "wrong kind of unit"),
        (TIME, pint.Quantity(2.1, "meter"), "wrong kind of unit"),
        (TIME, 2.5e-6, "too large"),
        (TIME, True, "A number in seconds"),
        (TIME, [2.1e-6], "not one number"),
        (TIME, "import os", "no number"),
        (TIME, P, "A number in seconds"),
        (RATE, "24 GiB/s", "1024"),
        (RATE, "24 Gbit/s", "bits"),
        (RATE, "24 GB", "wrong kind of unit"),
        (COUNT, 23, "too large"),
        (COUNT, 21.999, "too small"),
        (COUNT, -22, "sign"),
        (COUNT, "22", "plain number"),
        (COUNT, pint.Quantity(22, "s"), "plain number"),
        (COUNT, math.inf, "plain number"),
    ],
)
def test_a_wrong_number_is_told_from_a_right_one(asked: Number, answer: Any, why: str) -> None:
    verdict = asked.judge(answer)
    assert verdict.right is False
    assert why in verdict.why


def test_names_in_any_order() -> None:
    several = Choice(frozenset({"ring", "bruck"}), ("ring", "bruck", "linear"))
    assert several.judge({"bruck", "ring"})
    assert several.judge(["ring", "bruck", "ring"])
    assert several.judge("ring").why == "Right as far as it goes, but 1 more belongs to it."
    assert several.judge([" Ring", "BRUCK"]).right is False
    assert several.judge([" Ring", "Bruck "])
    assert "Did you mean 'bruck'" in several.judge(["ring", "bruk"]).why
    assert several.judge(3).right is False
    one = Choice("ring", ("ring", "bruck"))
    assert one.judge("ring")
    assert one.judge("bruck").right is False
    assert one.judge(["ring", "bruck"]).right is False
