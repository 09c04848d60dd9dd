"""Chapter 6 of the course: answers that are taken, and wrong ones that are told from them."""

from __future__ import annotations

from typing import Any

import pint
import pytest
import sympy as sp
from answers import refused, taken

from orrery_analytic.symbols import P, alpha, beta, gamma, log2_ceil

m = log2_ceil(P)
border = (2 * (P - 1) - m) * alpha / ((m - 2 * (P - 1) / P) * beta + (m - (P - 1) / P) * gamma)
own = border.subs({s: sp.Symbol(s.name) for s in (P, alpha, beta, gamma)})


def test_the_ring_against_recursive_doubling() -> None:
    taken("6.1", border, sp.expand(border), own, sp.together(border.subs(m, sp.log(P, 2))))


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (border.subs(gamma, 0), "reductions are missing"),
        (border * P, "vectors of all ranks"),
        (border / P, "a block of n / P"),
        (1 / border, "upside down"),
        (-border, "sign"),
        (alpha / ((m - 2 * (P - 1) / P) * beta + (m - (P - 1) / P) * gamma), "Count the messages"),
        (2 * border, "2 times"),
        ("2*alpha/beta", "without quotes"),
    ],
)
def test_what_is_no_border(answer: Any, says: str) -> None:
    refused("6.1", answer, says=says)


def test_a_longer_latency() -> None:
    taken("6.2", 144274, "144.27 kB", "140.9 KiB", pint.Quantity(0.14427, "MB"), sp.Integer(144275), 143000.0)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("144.27 MB", "10^3"),
        ("144.27 KiB", "1024"),
        ("144.27 us", "wrong kind of unit"),
        (14427, "as it was"),
        ("1.4427 kB", "where should the border go"),
        (144274 * 64, "all ranks together"),
        (144274 / 64, "a block of n / P"),
    ],
)
def test_what_is_no_size(answer: Any, says: str) -> None:
    refused("6.2", answer, says=says)


def test_where_the_library_is_slow() -> None:
    taken("6.3", ["64 KiB", "128 KiB"], {"128 KiB", "64 KiB"}, ("128 KiB", "64 KiB", "64 KiB"))


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (["4 KiB", "64 KiB", "128 KiB"], "below the border"),
        (["4 KiB", "1 MiB"], "the best one"),
        ("64 KiB", "1 more"),
        (["64 KiB", "128 Kib"], "Did you mean '128 KiB'"),
        (2**16, "names"),
    ],
)
def test_where_it_is_not(answer: Any, says: str) -> None:
    refused("6.3", answer, says=says)
