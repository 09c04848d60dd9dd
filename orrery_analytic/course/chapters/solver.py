"""Chapter 10: what a solver costs that is dealt out to more and more GPUs."""

from __future__ import annotations

from functools import cache
from typing import Any

import sympy as sp

from orrery_analytic.applications import Jacobi
from orrery_analytic.course.choice import Choice
from orrery_analytic.course.exercise import Exercise, Mistake
from orrery_analytic.course.formula import Formula
from orrery_analytic.course.number import Number
from orrery_analytic.machines import load_machine
from orrery_analytic.symbols import P, alpha_gdr, beta

__all__ = ["EXERCISES"]

_NX, _NY = (sp.Symbol(name, positive=True) for name in ("nx", "ny"))
_GPUS = 256

_CHANGES: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "twice the network bandwidth": ({}, {"bandwidth": "49.4 GB/s"}),
    "half the network latency": ({}, {"latency": "0.95 us"}),
    "kernels twice as fast": ({}, {"kernel_rate": "5.8 TB/s"}),
    "recursive doubling for the norm": ({"allreduce": "recursive_doubling"}, {}),
    "the norm every 10th iteration": ({"nccheck": 10}, {}),
}


@cache
def _sweep_and_halo() -> tuple[sp.Expr, sp.Expr]:
    """Return what the sweep costs on one GPU, its bytes alone, and a halo that leaves the node."""
    solver = Jacobi(nx="symbol", ny="symbol", rows="even")
    phases, several = solver.phases, solver.ranks_per_node + 1
    halo = sp.Add(*(e.subs(P, several) for e in phases["halo"].terms.values()))
    return phases["kernel"].terms["compute"] * P, halo


def _border() -> sp.Expr:
    sweep, halo = _sweep_and_halo()
    return sweep / halo


def _border_mistakes() -> tuple[Mistake, ...]:
    sweep, halo = _sweep_and_halo()
    border = sweep / halo
    return (
        Mistake(Formula(2 * border), "The halo is two exchanges: one row up, one row down."),
        Mistake(Formula(border / 2), "A point has 8 bytes here: it is read, and it is written."),
        Mistake(Formula(sweep / (halo - 2 * alpha_gdr)), "Each message has two legs, one at each of its GPUs."),
        Mistake(
            Formula(sweep / halo.subs(beta, beta / 4)),
            "A row has 4 nx bytes: beta is the time of a byte, not of a number.",
        ),
        Mistake(Formula(border * _NY / (_NY - 2)), "Two rows are fixed: ny - 2 are dealt out."),
        Mistake(Formula(1 / border), "This is upside down: with more work more GPUs are of use."),
        Mistake(Formula(sweep / P / halo), "P is what is asked for: it cannot stand on this side."),
    )


@cache
def _on_leonardo(ranks: int) -> tuple[float, float]:
    """Return seconds of kernel and halo."""
    phases, machine = Jacobi().phases, load_machine("leonardo")
    kernel, halo = (float(phases[name].at(machine)(P=ranks)) for name in ("kernel", "halo"))
    return kernel, halo


def _leonardo_mistakes() -> tuple[Mistake, ...]:
    (kernel, halo), p = _on_leonardo(32), load_machine("leonardo").parameters
    start = p["t_launch"] + p["t_sync"]
    times = (
        (kernel - start + halo, "The kernel is launched, and waited for: 5 us more."),
        (kernel + halo / 2, "There are two exchanges in an iteration, one up and one down."),
        (kernel, "This is the kernel alone."),
        (kernel + halo - 4 * p["alpha_gdr"], "Both ends of a message are on GPUs: four legs in two exchanges."),
        ((kernel - start) / 2 + start + halo, "A point has 8 bytes: it is read, and it is written."),
        (_on_leonardo(1)[0] / 32 + halo, "Launch and synchronisation are not dealt out: each GPU has them."),
    )
    return tuple(Mistake(Number(seconds, "s", within=1e-3), says) for seconds, says in times)


@cache
def _saves_most() -> str:
    musica = load_machine("musica")
    seconds = {
        name: Jacobi(**options).run(musica.replace(**keys), P=_GPUS)["seconds"].item()
        for name, (options, keys) in _CHANGES.items()
    }
    return min(seconds, key=lambda name: seconds[name])


def _choice(name: str) -> Choice:
    return Choice(name, tuple(_CHANGES))


EXERCISES = (
    Exercise(
        number="10.1",
        asks="The number of GPUs on which the sweep takes as long as the halo.",
        answer=lambda: Formula(_border()),
        hint="Sweep: work over P R. Halo: two messages. Put them equal, and solve for P.",
        says="55 GPUs on musica, 83 on leonardo. For long rows it goes to (ny - 2) / (R beta): more rows, more GPUs.",
        mistakes=_border_mistakes,
    ),
    Exercise(
        number="10.2",
        asks="How long kernel and halo take on 32 GPUs of Leonardo.",
        answer=lambda: Number(sum(_on_leonardo(32)), "s", within=5e-3),
        hint="Launch, 512 rows of 16,384 points with 8 bytes each, wait; then two messages with two legs each.",
        says="82.6 us, of which 21.6 us are the halo.",
        mistakes=_leonardo_mistakes,
    ),
    Exercise(
        number="10.3",
        asks="The change that saves most on 256 GPUs of musica.",
        answer=lambda: _choice(_saves_most()),
        hint="Which phase is the largest on 256 GPUs, and what makes it smaller?",
        says="29 ms in the place of 72 ms: what is asked for less often costs less. No hardware does as much.",
        mistakes=lambda: (
            Mistake(
                _choice("recursive doubling for the norm"), "It comes second: 50 ms. The norm is then still 25 us."
            ),
            Mistake(_choice("half the network latency"), "It shortens the rounds of the norm, but there are as many."),
            Mistake(_choice("twice the network bandwidth"), "Only the halo has bytes: 2.7 us of 72 us."),
            Mistake(_choice("kernels twice as fast"), "The sweep itself is 2.9 us of 72 us here."),
        ),
    ),
)
