"""From rounds to a closed form: sums over rounds, written down, which SymPy closes.

A derivation is a list of phases. Phase by phase, round k moves messages of ``nbytes(k)`` and then reduces
``reduced(k)`` bytes; the sum of what the rounds cost under a network is the cost of the collective.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import sympy as sp

from orrery_analytic.networks import Hockney, LogGP
from orrery_analytic.symbols import P, log2_ceil, log2_floor

__all__ = ["Phase", "close", "close_tree", "k", "split", "summand", "tidy"]

k = sp.Symbol("k", integer=True, nonnegative=True)
"""The index of a round."""


@dataclass(frozen=True)
class Phase:
    """Rounds k = first .. last of one kind.

    Parameters
    ----------
    label : str
        What happens in these rounds.
    first, last : SymPy expression
        Bounds of the round index `k`, counted from the start of the collective.
    nbytes : SymPy expression in `k`
        Bytes of the message that a rank on the critical path sends or receives in round k.
    reduced : SymPy expression in `k`
        Bytes that it then reduces.
    back_to_back : bool
        True where the next message follows on the same port without waiting for this one (a root that sends to many, or
        receives from many): under LogGP such messages lie d(m) apart instead of A(m).
    inside : bool
        True where the messages of these rounds stay inside a node.
    beside : bool
        True where messages inside nodes go on beside those between nodes.
    sharing : int
        Messages of a round that take the busiest network card of a node.
    """

    label: str
    first: Any
    last: Any
    nbytes: Any
    reduced: Any = sp.S.Zero
    back_to_back: bool = False
    inside: bool = False
    beside: bool = False
    sharing: int = 1

    @property
    def count(self) -> sp.Expr:
        """Return the number of rounds."""
        return sp.expand(sp.sympify(self.last) - self.first + 1)


def _hockney(phase: Phase, network: Hockney) -> dict[str, sp.Expr]:
    return {
        "latency": network.alpha,
        "bandwidth": phase.nbytes * network.beta,
        "reduce": phase.reduced * network.gamma,
    }


def _charged(phase: Phase) -> Phase:
    """Return the phase as LogGP charges it: a message of no bytes counts as one byte."""
    return replace(phase, nbytes=sp.S.One) if phase.nbytes == 0 else phase


def _loggp(phase: Phase, network: LogGP) -> dict[str, sp.Expr]:
    phase = _charged(phase)
    wire = (phase.nbytes - 1) * network.G
    reduce = phase.reduced * network.gamma
    if phase.back_to_back:
        free = sp.Max(network.o, wire)
        return {
            "latency": network.o,
            "bandwidth": free - network.o,
            "gap": sp.Max(network.o, network.g + wire) - free,
            "reduce": reduce,
        }
    # A round costs max(A(m) + reduction, d(m)). What d(m) adds does not depend on m. Where the reduced bytes change
    # from round to round, the reduction is not taken off the gap, so that the sum still closes: an upper bound.
    hidden = 0 if sp.sympify(reduce).has(k) else reduce
    return {
        "latency": network.L + 2 * network.o,
        "bandwidth": wire,
        "gap": sp.Max(0, network.g - network.L - 2 * network.o - hidden),
        "reduce": reduce,
    }


def summand(phase: Phase, network: Hockney | LogGP) -> dict[str, sp.Expr]:
    """Return what round `k` of a phase costs, term by term, in seconds.

    Hockney: alpha + nbytes beta + reduced gamma. LogGP: A(nbytes) + reduced gamma and, where the gap is the larger,
    what d(nbytes) adds; back to back: d(nbytes) + reduced gamma.
    """
    return _hockney(phase, network) if isinstance(network, Hockney) else _loggp(phase, network)


def _summed(quantity: sp.Expr, phase: Phase) -> sp.Expr:
    """Return the sum of a quantity over the rounds of a phase."""
    quantity = sp.sympify(quantity)
    if not quantity.has(k):
        return phase.count * quantity
    return sp.summation(quantity, (k, phase.first, phase.last))


_PARTIAL = sp.Dummy("partial", nonnegative=True)


def tidy(e: sp.Expr) -> sp.Expr:
    """Return a count or a number of bytes as a reader would write it, over P where that is shorter (blocks of n / P).

    Uses that P - 2**floor(log2 P) is 0 for a power of two, so that the factor ceil - floor (1 unless P is a power of
    two) may be left away beside it.
    """
    return min(_tidied(e), _tidied(P * e) / P, key=sp.count_ops)


def _tidied(e: sp.Expr) -> sp.Expr:
    e = sp.expand(e)
    for fl in e.atoms(log2_floor):
        rest = fl.args[0] - 2**fl
        by_partial = sp.expand(e.subs(log2_ceil(fl.args[0]), fl + _PARTIAL))
        ratio = sp.cancel(by_partial.coeff(_PARTIAL, 1) / rest)
        if ratio != 0 and not ratio.has(2**fl, fl.args[0]):
            e = sp.expand(by_partial.coeff(_PARTIAL, 0) + by_partial.coeff(_PARTIAL, 1))
    return sp.factor_terms(e) if e.has(log2_floor, log2_ceil) else sp.factor(e)


@lru_cache(maxsize=4096)
def close(phases: tuple[Phase, ...], network: Hockney | LogGP) -> dict[str, sp.Expr]:
    """Return the closed form of each term: what `summand` adds up to over all rounds of all phases.

    Messages, bytes and reduced bytes are summed apart, so that the parameters of the network stay in front. The gap of
    the very last round is not waited for.
    """
    if isinstance(network, LogGP):
        phases = tuple(_charged(p) for p in phases)
    reduced = tidy(sp.Add(*(_summed(p.reduced, p) for p in phases))) * network.gamma
    nbytes = tidy(sp.Add(*(_summed(p.nbytes, p) for p in phases)))
    messages = tidy(sp.Add(*(p.count for p in phases)))
    if isinstance(network, Hockney):
        return {"latency": messages * network.alpha, "bandwidth": nbytes * network.beta, "reduce": reduced}
    by_summand: dict[tuple[sp.Expr, sp.Expr, sp.Expr], sp.Expr] = {}
    plain = [p for p in phases if not p.back_to_back]
    for phase in phases:
        of_round = summand(phase, network)
        key = tuple(sp.sympify(of_round[name]) for name in ("latency", "bandwidth", "gap"))
        if not phase.back_to_back:
            key = (key[0], sp.S.Zero, key[2])  # its bytes are summed below
        by_summand[key] = by_summand.get(key, sp.S.Zero) + phase.count
    terms = dict.fromkeys(("latency", "bandwidth", "gap"), sp.S.Zero)
    last_gap = summand(phases[-1], network)["gap"].subs(k, phases[-1].last)
    for (latency, bandwidth, gap), count in by_summand.items():
        terms["latency"] += tidy(count) * latency
        terms["bandwidth"] += tidy(count) * bandwidth
        terms["gap"] += tidy(count - 1 if gap == last_gap else count) * gap
    wire = tidy(sp.Add(*(_summed(p.nbytes, p) for p in plain))) - tidy(sp.Add(*(p.count for p in plain)))
    terms["bandwidth"] += wire * network.G
    return {**terms, "reduce": reduced}


def close_tree(full: Phase, last: Phase, network: LogGP) -> dict[str, sp.Expr]:
    """Return the terms of a binomial fan-in or fan-out under LogGP: full subtrees in `full`, the rest in `last`.

    (fl - 1) max(A + r, d) + A + r, and d + r more unless P is a power of two: the last subtree has fewer levels, so
    that its message is late by the distance of two messages only.
    """
    terms, step = close((full,), network), summand(last, network)
    return {name: e + last.count * step[name] for name, e in terms.items()}


def split(total: sp.Expr, network: Hockney | LogGP) -> dict[str, sp.Expr]:
    """Return the terms of a total that is no sum over rounds, such as a maximum over a tree.

    ``gap`` is what g adds, ``reduce`` what gamma adds to the rest, ``bandwidth`` what G (or beta) adds to that;
    ``latency`` remains. None is negative, since the total grows with each parameter; together they are the total.
    """
    if isinstance(total, sp.Piecewise):
        cases = [(split(e, network), condition) for e, condition in total.args]
        return {name: sp.Piecewise(*((terms[name], condition) for terms, condition in cases)) for name in cases[0][0]}
    if isinstance(network, Hockney):
        no_gap, wire = total, network.beta
    else:
        no_gap, wire = total.subs(network.g, 0), network.G
    no_reduction = no_gap.subs(network.gamma, 0)
    latency = no_reduction.subs(wire, 0)
    terms = {"latency": latency, "bandwidth": no_reduction - latency, "gap": total - no_gap,
             "reduce": no_gap - no_reduction}  # fmt: skip
    return {name: _cancelled(e) for name, e in terms.items() if name != "gap" or isinstance(network, LogGP)}


def _cancelled(difference: sp.Expr) -> sp.Expr:
    """Return a difference with its products multiplied out, so that what is on both sides goes away."""
    if not difference.has(sp.Max, sp.Min, sp.Piecewise):
        return tidy(difference)
    multiplied = sp.Add(*(sp.expand_mul(part, deep=False) for part in sp.Add.make_args(difference)))
    return sp.collect(multiplied, sorted(multiplied.atoms(sp.Max), key=sp.default_sort_key))
