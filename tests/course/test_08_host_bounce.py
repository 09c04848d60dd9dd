"""Chapter 8 of the course: answers that are taken, and wrong ones that are told from them."""

from __future__ import annotations

from typing import Any

import pint
import pytest
import sympy as sp
from answers import refused, taken

import orrery_analytic as oa
from orrery_analytic.symbols import P, alpha, beta, copy_symbols, n, t_call

(alpha_d2h, beta_d2h), (alpha_h2d, beta_h2d) = copy_symbols("d2h"), copy_symbols("h2d")
down, up = alpha_d2h + n * beta_d2h, alpha_h2d + n * beta_h2d
plain = sp.symbols("t_call alpha_d2h alpha_h2d beta_d2h beta_h2d n")


def test_a_bounce_in_place() -> None:
    own = plain[0] + plain[1] + plain[2] + (plain[3] + plain[4]) * plain[5]
    taken("8.1", t_call + down + up, oa.device_cost("allreduce", in_place=True), own, sp.factor(t_call + down + up))


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (t_call + 2 * down + up, "one copy down, not two"),
        (oa.device_cost("allreduce"), "one copy down, not two"),
        (down + up, "t_call is missing"),
        (2 * down + up, "out of place, and"),
        (t_call + (down + up).subs(n, P * n), "n were P times"),
        (t_call + (down + up).subs(n, n / P), "one P-th"),
        (t_call + down, "look again at"),
        (t_call + 2 * (alpha + n * beta), "unknown symbol"),
    ],
)
def test_what_is_no_bounce(answer: Any, says: str) -> None:
    refused("8.1", answer, says=says)


def test_the_bandwidth_of_a_copy() -> None:
    taken("8.2", 4.584e9, "4.58 GB/s", "4.27 GiB/s", pint.Quantity(4584, "MB/s"), 3 * 2**25 / 0.02195824)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("4.584 GiB/s", "1024"),
        ("4.584 MB/s", "10^3"),
        ("36.67 GB/s", "bits"),
        ("4.584 GB", "wrong kind of unit"),
        (2**25 / 0.02195824, "one copy"),
        ("3.056 GB/s", "two copies"),
        (3 * 2**25 / 0.03741253, "on the host is no copy"),
        (4 * 3 * 2**25 / 0.02195824, "all four ranks"),
    ],
)
def test_what_is_no_bandwidth(answer: Any, says: str) -> None:
    refused("8.2", answer, says=says)


def test_what_counts_for_small_messages() -> None:
    taken("8.3", "copy latency", ["copy latency"], ("copy latency",))


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("copy bandwidth", "large messages"),
        ("network latency", "Close"),
        ("reduction rate", "largest one"),
        ("copy latencies", "Did you mean 'copy latency'"),
        (["copy latency", "network latency"], "Write down"),
        (4.85e-6, "One name"),
    ],
)
def test_what_does_not(answer: Any, says: str) -> None:
    refused("8.3", answer, says=says)
