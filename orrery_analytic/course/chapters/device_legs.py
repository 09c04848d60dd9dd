"""Chapter 7: what a device buffer adds to a message, and when staging wins."""

from __future__ import annotations

from typing import Any

import sympy as sp

from orrery_analytic.calls import p2p_cost, staging_threshold
from orrery_analytic.course.choice import Choice
from orrery_analytic.course.exercise import Exercise, Mistake
from orrery_analytic.course.formula import Formula
from orrery_analytic.course.number import Number
from orrery_analytic.machines import load_machine
from orrery_analytic.symbols import P, alpha_gdr, beta_gdr

__all__ = ["EXERCISES"]

_SIZES = {"16 KiB": 2**14, "64 KiB": 2**16, "96 KiB": 96 * 2**10, "1 MiB": 2**20}


def _border() -> sp.Expr:
    return staging_threshold().size


def _border_mistakes() -> tuple[Mistake, ...]:
    border = _border()
    start, slope = sp.fraction(sp.together(border))
    return (
        Mistake(
            Formula((start + alpha_gdr) / (slope - beta_gdr)),
            "Two copies stand against two legs of GPUDirect, one at each end; here one side is counted twice.",
        ),
        Mistake(Formula(-border), "The sign is the other one: which of the two has the higher start?"),
        Mistake(Formula(1 / border), "This is upside down: a time over a time a byte is a size."),
        Mistake(Formula(border / P), "The size of one message is asked for: there is no P in it."),
    )


def _message(**options: Any) -> float:
    return float(p2p_cost(transport="staged", **options).at(load_machine("musica"))(n=2**16))


def _taken_in() -> float:
    return _message(recv="device", staging="directed", pinned=True)


def _taken_in_mistakes() -> tuple[Mistake, ...]:
    both = _message(send="device", recv="device", staging="directed", pinned=True)
    times = (
        (both, "The sender's buffer is on the host: it has no leg."),
        (_message(recv="device", pinned=True), "Nothing is copied down here: the receiver copies up, once."),
        (_message(recv="device", staging="directed"), "These are the copies through pageable memory."),
        (_message(send="device", staging="directed", pinned=True), "This is the copy down; the receiver copies up."),
        (_message(), "This is the network alone: the receiver's copy comes on top."),
        (_taken_in() - _message(), "This is the copy alone: the network comes first."),
    )
    return tuple(Mistake(Number(seconds, "s", within=1e-3), says) for seconds, says in times)


def _staged_above(border: float) -> Choice:
    return Choice(frozenset(name for name, size in _SIZES.items() if size > border), tuple(_SIZES))


def _border_of_example() -> float:
    return float(staging_threshold(load_machine("example"), pinned=True).size)


EXERCISES = (
    Exercise(
        number="7.1",
        asks="The size up to which GPUDirect is faster than staging, with both buffers on GPUs.",
        answer=lambda: Formula(_border()),
        hint="Write both times as a + b n; where they are equal, n is the difference of the a over that of the b.",
        says="A price at the start, over what each byte pays back; without P, and without the network.",
        mistakes=_border_mistakes,
    ),
    Exercise(
        number="7.2",
        asks="How long 64 KiB take from host memory to a GPU of another node, through pinned memory.",
        answer=lambda: Number(_taken_in(), "s", within=3e-3),
        hint="A leg for each buffer that is on a GPU, and the network.",
        says="13.7 us: 4.6 us of network, and one copy up, which is latency nearly all of it.",
        mistakes=_taken_in_mistakes,
    ),
    Exercise(
        number="7.3",
        asks="The messages that staging through pinned memory makes faster on the machine example.",
        answer=lambda: _staged_above(_border_of_example()),
        hint="Compute n* first: 10 us against 2 us at the start, 0.1 ns against 0.2 ns for each byte.",
        says="Above 80 kB. A setting of 64 KiB for this border would not be far off.",
        mistakes=lambda: (
            Mistake(_staged_above(0), "Small messages pay the latencies of two copies, and have few bytes to save on."),
            Mistake(_staged_above(2e4), "This is with one copy alone: there are two of 5 us."),
            Mistake(_staged_above(2**20 - 1), "96 KiB are above the border as well."),
        ),
    ),
)
