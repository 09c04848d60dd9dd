"""Chapter 7 of the course: answers that are taken, and wrong ones that are told from them."""

from __future__ import annotations

from typing import Any

import pint
import pytest
import sympy as sp
from answers import refused, taken

import orrery_analytic as oa
from orrery_analytic.symbols import P, alpha_gdr, beta_gdr, copy_symbols, n

(alpha_d2h, beta_d2h), (alpha_h2d, beta_h2d) = copy_symbols("d2h"), copy_symbols("h2d")
start, slope = alpha_d2h + alpha_h2d - 2 * alpha_gdr, 2 * beta_gdr - beta_d2h - beta_h2d


def test_the_border() -> None:
    a, b, c, d, e, f = sp.symbols("alpha_d2h alpha_h2d alpha_gdr beta_gdr beta_d2h beta_h2d")
    direct, staged = alpha_gdr * 2 + n * beta_gdr * 2, alpha_d2h + alpha_h2d + n * (beta_d2h + beta_h2d)
    own = (a + b) / (2 * d - e - f) - 2 * c / (2 * d - e - f)
    taken("7.1", start / slope, -start / -slope, own, sp.solve(direct - staged, n)[0], oa.staging_threshold().size)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ((start + alpha_gdr) / (slope - beta_gdr), "one at each end"),
        (-start / slope, "sign"),
        (slope / start, "upside down"),
        (start / slope / P, "no P in it"),
        ((start + alpha_d2h + alpha_h2d) / (slope - beta_d2h - beta_h2d), "one at each end"),
        (start / (2 * beta_gdr), "a + b n"),
        (start / slope * n, "unknown symbol"),
        (oa.staging_threshold(pinned=True).size, "unknown symbol"),
        ("start / slope", "without quotes"),
    ],
)
def test_what_is_no_border(answer: Any, says: str) -> None:
    refused("7.1", answer, says=says)


def test_one_leg_up() -> None:
    exact = 1.9e-6 + 2**16 / 24.7e9 + 8e-6 + 2**16 / 55.6e9
    cost = oa.p2p_cost(recv="device", transport="staged", staging="directed", pinned=True)
    known = cost.at(oa.load_machine("musica"))(n=2**16)
    taken("7.2", exact, "13.73 us", "0.01373 ms", "13730 ns", pint.Quantity(13.73, "us"), known, sp.Float(exact))


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (13.73, "10^6"),
        ("13.73 ms", "10^3"),
        ("13.73 GB/s", "wrong kind of unit"),
        ("22.97 us", "no leg"),
        ("22.974 us", "no leg"),
        ("28.5 us", "pageable"),
        ("13.79 us", "the copy down"),
        ("4.553 us", "network alone"),
        ("9.179 us", "copy alone"),
        ("14 us", "too large"),
    ],
)
def test_what_is_not_one_leg(answer: Any, says: str) -> None:
    refused("7.2", answer, says=says)


def test_where_staging_wins() -> None:
    taken("7.3", ["96 KiB", "1 MiB"], ("1 MiB", "96 KiB"), {"96 KiB", "1 MiB"}, ["1 MiB", "96 KiB", "1 MiB"])


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (["16 KiB", "64 KiB", "96 KiB", "1 MiB"], "Small messages pay"),
        (["64 KiB", "96 KiB", "1 MiB"], "two of 5 us"),
        ("1 MiB", "96 KiB are above"),
        (["16 KiB", "64 KiB"], "n* first"),
        (["96 kB", "1 MiB"], "Unknown answer '96 kB'"),
        (8e4, "A list of names"),
    ],
)
def test_where_it_does_not(answer: Any, says: str) -> None:
    refused("7.3", answer, says=says)
