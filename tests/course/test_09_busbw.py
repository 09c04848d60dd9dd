"""Chapter 9 of the course: answers that are taken, and wrong ones that are told from them."""

from __future__ import annotations

from typing import Any

import pint
import pytest
import sympy as sp
from answers import refused, taken

import orrery_analytic as oa
from orrery_analytic.symbols import P, alpha, beta, gamma, n

busbw = n / (P * alpha + n * beta)
plain = sp.symbols("n P alpha beta")
ring = 2 * (P - 1) * alpha + 2 * (P - 1) / P * n * beta


def test_busbw_of_a_ring() -> None:
    own = 1 / (plain[3] + plain[1] * plain[2] / plain[0])
    of_cost = oa.bus_factor("allreduce", P) * n / oa.collective_cost("allreduce", "ring").total.subs(gamma, 0)
    taken("9.1", busbw, own, of_cost, 2 * (P - 1) / P * n / sp.expand(ring))


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (n / ring, "This is algbw"),
        (n / ring / (2 * (P - 1) / P), "multiplied by the factor"),
        (busbw.subs(n, P * n), "pieces of n / P"),
        (busbw.subs(n, n / P), "one P-th"),
        (1 / beta, "very large n"),
        (n / (alpha + n * beta), "pieces of n / P"),
        (1 / busbw, "most of it cancels"),
        (n / (P * alpha + n * beta + n * gamma / 2), "unknown symbol"),
    ],
)
def test_what_is_no_busbw(answer: Any, says: str) -> None:
    refused("9.1", answer, says=says)


def test_busbw_of_an_allgather() -> None:
    taken("9.2", 7 * 2**24 / 3e-3, "39.1 GB/s", "36.46 GiB/s", pint.Quantity(39146, "MB/s"), sp.Float(3.91e10))


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("39.147 GiB/s", "1024"),
        ("39.147 MB/s", "10^3"),
        ("313.2 GB/s", "bits"),
        ("39.1 GB", "wrong kind of unit"),
        (7 / 8 * 2**24 / 3e-3, "P blocks; this is one block"),
        (2**24 / 3e-3, "without the factor"),
        (8 * 2**24 / 3e-3, "This is algbw"),
        (14 * 2**24 / 3e-3, "factor of allreduce"),
    ],
)
def test_what_no_tool_prints(answer: Any, says: str) -> None:
    refused("9.2", answer, says=says)


def test_what_rings_cannot_show() -> None:
    taken("9.3", ["150 GB/s", "200 GB/s"], {"200 GB/s", "150 GB/s"}, ("200 GB/s", "150 GB/s", "200 GB/s"))


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (["80 GB/s", "140 GB/s", "150 GB/s", "200 GB/s"], "one link"),
        (["80 GB/s", "150 GB/s", "200 GB/s", "140 GB/s", "44 GB/s"], "over all its links"),
        (["140 GB/s", "150 GB/s", "200 GB/s"], "two links"),
        ("150 GB/s", "1 more"),
        ([], "2 more"),
        (["200 GB/s"], "to three others"),
        (["150 GB", "200 GB/s"], "Unknown answer"),
    ],
)
def test_what_they_can(answer: Any, says: str) -> None:
    refused("9.3", answer, says=says)
