"""Chapter 9: what the bandwidths of nccl-tests say."""

from __future__ import annotations

import sympy as sp

from orrery_analytic.busbw import bus_bandwidth, bus_factor
from orrery_analytic.calls import collective_cost
from orrery_analytic.course.choice import Choice
from orrery_analytic.course.exercise import Exercise, Mistake
from orrery_analytic.course.formula import Formula
from orrery_analytic.course.number import Number
from orrery_analytic.symbols import P, alpha, beta, gamma, n

__all__ = ["EXERCISES"]

_BLOCK, _RANKS, _SECONDS = 16 * 2**20, 8, 3e-3
_LINK, _GPUS = 48.3, 4  # GB/s from each GPU to each other one
_REPORTED = (44, 80, 140, 150, 200)


def _of_ring() -> sp.Expr:
    return bus_factor("allreduce", P) * n / collective_cost("allreduce", "ring").total.subs(gamma, 0)


def _ring_mistakes() -> tuple[Mistake, ...]:
    busbw = _of_ring()
    algbw = busbw / bus_factor("allreduce", P)
    return (
        Mistake(Formula(algbw), "This is algbw: the factor 2 (P - 1) / P is missing."),
        Mistake(Formula(algbw / bus_factor("allreduce", P)), "algbw is multiplied by the factor, not divided."),
        Mistake(Formula(1 / beta, also=("n", "alpha")), "That is so for very large n alone: alpha is not yet in it."),
        Mistake(Formula(n / (alpha + n * beta)), "A ring sends pieces of n / P, not of n: more rounds, more latency."),
    )


def _of_allgather(nbytes: int) -> float:
    return float(bus_bandwidth("allgather", nbytes, _SECONDS, _RANKS)[1])


def _allgather_mistakes() -> tuple[Mistake, ...]:
    total = _RANKS * _BLOCK
    algbw = total / _SECONDS
    twice = algbw * float(bus_factor("allreduce", _RANKS))
    return (
        Mistake(Number(_of_allgather(_BLOCK), "B/s"), "nccl-tests divides the total, P blocks; this is one block."),
        Mistake(Number(algbw, "B/s"), "This is algbw: its factor (P - 1) / P is missing."),
        Mistake(Number(_BLOCK / _SECONDS, "B/s"), "This is one block over the time, without the factor."),
        Mistake(Number(twice, "B/s"), "This is the factor of allreduce, which passes everything round twice."),
    )


def _beyond(links: int) -> Choice:
    impossible = frozenset(f"{rate} GB/s" for rate in _REPORTED if rate > links * _LINK)
    return Choice(impossible, tuple(f"{rate} GB/s" for rate in _REPORTED))


EXERCISES = (
    Exercise(
        number="9.1",
        asks="busbw of a ring allreduce of n bytes, with reductions that cost nothing.",
        answer=lambda: Formula(_of_ring()),
        hint="busbw is n over the time, times 2 (P - 1) / P; most of it cancels.",
        says="n / (P alpha + n beta): half of the link shows at n = P alpha / beta, the more ranks the later.",
        mistakes=_ring_mistakes,
    ),
    Exercise(
        number="9.2",
        asks="busbw of an allgather of 16 MiB a rank on 8 ranks in 3.0 ms.",
        answer=lambda: Number(_of_allgather(_RANKS * _BLOCK), "B/s"),
        hint="Which size does nccl-tests divide by the time, and which factor has allgather?",
        says="Seven blocks in 3 ms: each rank receives what the others brought.",
        mistakes=_allgather_mistakes,
    ),
    Exercise(
        number="9.3",
        asks="The busbw that rings on these links cannot show.",
        answer=lambda: _beyond(_GPUS - 1),
        hint="busbw is what a rank sends in a second, over all its links together. How many has it?",
        says="Above 144.9 GB/s it was no ring on these links: another algorithm, or another clock.",
        mistakes=lambda: (
            Mistake(_beyond(1), "That is one link; a GPU sends over all its links at once."),
            Mistake(_beyond(2), "That is two links; a GPU has one to each of the other three."),
            Mistake(_beyond(_GPUS), "Four GPUs, but each has a link to three others."),
        ),
    ),
)
