"""Chapter 1 of the course: answers that are taken, and wrong ones that are told from them."""

from __future__ import annotations

from typing import Any

import pint
import pytest
import sympy as sp
from answers import refused, taken

import orrery_analytic as oa
from orrery_analytic.symbols import G, L, P, alpha, beta, g, n, o

plain = {name: sp.Symbol(name) for name in ("alpha", "beta", "L", "o", "g", "G", "n")}
distance, arrives = sp.Max(o, g + (n - 1) * G), L + 2 * o + (n - 1) * G


def test_ninety_per_cent() -> None:
    half = oa.half_performance(oa.p2p_cost()).size
    taken("1.1", 9 * alpha / beta, 9 * half, plain["alpha"] * 9 / plain["beta"], alpha / (beta / 9), 4.5 * 2 * half)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (alpha / beta, "half of the bandwidth"),
        (sp.Rational(9, 10) * alpha / beta, "9/19"),
        (10 * alpha / beta, "10/11"),
        (9 * alpha * beta, "no size"),
        (alpha / (9 * beta), "1/81 times"),
        (9 * alpha / beta * n, "unknown symbol"),
        (9 * P * alpha / beta, "solve for n"),
        ("9 alpha / beta", "without quotes"),
        (422370.0, "solve for n"),
    ],
)
def test_what_is_not_ninety(answer: Any, says: str) -> None:
    refused("1.1", answer, says=says)


def test_eight_in_a_row() -> None:
    network = oa.LogGP()
    p = plain
    own = 7 * sp.Max(p["o"], p["g"] - p["G"] + p["n"] * p["G"]) + p["L"] + 2 * p["o"] + p["G"] * (p["n"] - 1)
    cost = oa.Cost({"gap": 7 * network.distance(n)}) + oa.p2p_cost(network)
    taken("1.2", 7 * distance + arrives, sp.expand(7 * distance + arrives), own, cost)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (8 * arrives, "the sender goes on"),
        (8 * distance + arrives, "7 distances"),
        (8 * distance, "has to arrive"),
        (L + 2 * o + (8 * n - 1) * G, "one message of 8 n"),
        ((7 * distance + arrives).subs(n, n / 8), "size of one message"),
        ((7 * distance + arrives).subs(n, P * n), "no P in it"),
        (7 * g + arrives, "When does the last"),
        (8 * (alpha + n * beta), "unknown symbol"),
    ],
)
def test_what_is_not_eight_in_a_row(answer: Any, says: str) -> None:
    refused("1.2", answer, says=says)


def test_what_a_ping_pong_prints() -> None:
    exact = 2**16 / oa.p2p_cost().at(oa.load_machine("leonardo"))(n=2**16)
    taken("1.3", exact, "7.03 GB/s", "6.55 GiB/s", pint.Quantity(7032, "MB/s"), "56.25 Gbit/s", sp.Float(exact))


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("7.03 GiB/s", "1024"),
        ("7.03 MB/s", "10^3"),
        ("7.03 Gbit/s", "bits"),
        ("7.03 GB", "wrong kind of unit"),
        ("9.32 us", "wrong kind of unit"),
        ("12.8 GB/s", "That is the link"),
        ("15.6 GB/s", "latency alone"),
        ("3.516 GB/s", "two messages"),
        ("14.064 GB/s", "two messages"),
        (6.9565e9, "65,536"),
        (7.0316, "10^9"),
    ],
)
def test_what_it_does_not_print(answer: Any, says: str) -> None:
    refused("1.3", answer, says=says)
