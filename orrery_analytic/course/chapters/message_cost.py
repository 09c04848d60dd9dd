"""Chapter 1: what one message costs."""

from __future__ import annotations

import sympy as sp

from orrery_analytic.algebra import half_performance
from orrery_analytic.calls import p2p_cost
from orrery_analytic.course.exercise import Exercise, Mistake
from orrery_analytic.course.formula import Formula
from orrery_analytic.course.number import Number
from orrery_analytic.machines import load_machine
from orrery_analytic.networks import LogGP
from orrery_analytic.symbols import P, alpha, beta, n

__all__ = ["EXERCISES"]

_MESSAGES, _SIZE = 8, 2**16


def _half() -> sp.Expr:
    size = half_performance(p2p_cost()).size
    assert size is not None
    return size


def _share_mistakes() -> tuple[Mistake, ...]:
    half, loses = _half(), "Of the whole time, 9 parts are bytes and 1 part is latency: what is n beta, then?"
    return (
        Mistake(Formula(half), "This is where half of the bandwidth is reached."),
        Mistake(Formula(half * 9 / 10), f"At this size the share is 9/19, less than a half. {loses}"),
        Mistake(Formula(half * 10), f"There the whole time is 11 latencies, and the share 10/11. {loses}"),
        Mistake(Formula(9 * alpha * beta), "alpha times beta is no size: beta is a time a byte, so divide by it."),
    )


def _in_a_row(waits: int) -> sp.Expr:
    """Return when the last message is received that is sent so many distances after the first."""
    network = LogGP()
    return waits * network.distance(n) + network.message(n)


def _row_mistakes() -> tuple[Mistake, ...]:
    network, row = LogGP(), _in_a_row(_MESSAGES - 1)
    return (
        Mistake(
            Formula(_MESSAGES * network.message(n)),
            "So it is if each message waits until the one before has arrived; here the sender goes on.",
        ),
        Mistake(Formula(_in_a_row(_MESSAGES)), "Between 8 messages there are 7 distances."),
        Mistake(
            Formula(_MESSAGES * network.distance(n)), "This is when a ninth could leave: the last one has to arrive."
        ),
        Mistake(
            Formula(network.message(_MESSAGES * n)), "This is one message of 8 n bytes; eight messages have gaps g."
        ),
        Mistake(Formula(row.subs(n, n / _MESSAGES)), "n is the size of one message here, not of all together."),
        Mistake(Formula(row.subs(n, P * n)), "n is the size of one message here: there is no P in it."),
    )


def _printed(nbytes: int) -> float:
    return nbytes / float(p2p_cost().at(load_machine("leonardo"))(n=nbytes))


def _printed_mistakes() -> tuple[Mistake, ...]:
    p = load_machine("leonardo").parameters
    rates = (
        (1 / p["beta"], "That is the link; the message pays its latency as well."),
        (_SIZE / p["alpha"], "That is latency alone: the bytes take time, too."),
        (_printed(_SIZE) / 2, "A ping-pong is two messages, but it divides by the time of one."),
        (2 * _printed(_SIZE), "A ping-pong is two messages, but the bytes of one are counted."),
        (_printed(64_000), "64 KiB are 65,536 bytes, not 64,000."),
    )
    return tuple(Mistake(Number(rate, "B/s", within=1e-3), says) for rate, says in rates)


EXERCISES = (
    Exercise(
        number="1.1",
        asks="The size of a message that gets 90 % of the bandwidth, in Hockney's model.",
        answer=lambda: Formula(9 * _half()),
        hint="The share is n beta / (alpha + n beta). Put 9/10 in its place, and solve for n.",
        says="Nine times n_1/2: 422 kB on musica. The last ten per cent are what costs.",
        mistakes=_share_mistakes,
    ),
    Exercise(
        number="1.2",
        asks="When the last of 8 messages of n bytes is received, in LogGP.",
        answer=lambda: Formula(_in_a_row(_MESSAGES - 1)),
        hint="When does the last message leave, and how long does it take from there on?",
        says="Seven distances, and then one whole message: latency is paid once, not eight times.",
        mistakes=_row_mistakes,
    ),
    Exercise(
        number="1.3",
        asks="The bandwidth that a ping-pong of 64 KiB prints on Leonardo.",
        answer=lambda: Number(_printed(_SIZE), "B/s", within=5e-3),
        hint="Bytes over time, with the latency in the time.",
        says="7.03 GB/s, 55 % of the link: 64 KiB are a little more than n_1/2, which is 53,760 bytes.",
        mistakes=_printed_mistakes,
    ),
)
