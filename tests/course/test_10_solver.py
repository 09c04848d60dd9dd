"""Chapter 10 of the course: answers that are taken, and wrong ones that are told from them."""

from __future__ import annotations

from typing import Any

import pint
import pytest
import sympy as sp
from answers import refused, taken

from orrery_analytic.symbols import P, R, alpha, alpha_gdr, beta, n

nx, ny = sp.symbols("nx ny", positive=True)
halo = 2 * (alpha + 2 * alpha_gdr + 4 * nx * beta)
sweep = 8 * nx * (ny - 2) / R


def test_where_sweep_and_halo_are_equal() -> None:
    own = {s: sp.Symbol(s.name) for s in (nx, ny, R, alpha, alpha_gdr, beta)}
    solved = sp.solve(sweep / P - halo, P)[0]
    taken("10.1", sweep / halo, sp.expand(sweep / halo), (sweep / halo).subs(own), solved, 1 / (halo / sweep))


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (2 * sweep / halo, "two exchanges"),
        (sweep / halo / 2, "read, and it is written"),
        (sweep / (halo - 2 * alpha_gdr), "two legs"),
        (sweep / halo.subs(beta, beta / 4), "4 nx bytes"),
        (8 * nx * ny / R / halo, "ny - 2"),
        (halo / sweep, "upside down"),
        (sweep / P / halo, "cannot stand on this side"),
        (P * sweep / halo, "solve for P"),
        (8 * n * (ny - 2) / R / halo, "unknown symbol"),
        ("sweep / halo", "without quotes"),
    ],
)
def test_where_they_are_not(answer: Any, says: str) -> None:
    refused("10.1", answer, says=says)


def test_an_iteration_on_leonardo() -> None:
    exact = 5e-6 + 8 * 16384 * 512 / 1.2e12 + 2 * (5.7e-6 + 4 * 16384 / 12.8e9)
    taken("10.2", exact, "82.56 us", "0.0826 ms", "82560 ns", pint.Quantity(82.6, "us"), sp.Float(exact))


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (82.56, "10^6"),
        ("82.56 ms", "10^3"),
        ("82.56 ns", "10^3"),
        ("82.56 GB/s", "wrong kind of unit"),
        ("77.56 us", "5 us more"),
        ("71.74 us", "two exchanges"),
        ("60.92 us", "kernel alone"),
        ("79.56 us", "four legs"),
        ("54.6 us", "read, and it is written"),
        ("77.71 us", "not dealt out"),
        ("90 us", "too large"),
    ],
)
def test_what_is_no_iteration(answer: Any, says: str) -> None:
    refused("10.2", answer, says=says)


def test_what_saves_most() -> None:
    right = "the norm every 10th iteration"
    taken("10.3", right, [right], (right,))


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("recursive doubling for the norm", "second"),
        ("half the network latency", "as many"),
        ("twice the network bandwidth", "2.7 us"),
        ("kernels twice as fast", "2.9 us"),
        ("norm every 10th iteration", "Did you mean"),
        (["the norm every 10th iteration", "kernels twice as fast"], "Which phase"),
        (29e-3, "One name"),
    ],
)
def test_what_saves_less(answer: Any, says: str) -> None:
    refused("10.3", answer, says=says)
