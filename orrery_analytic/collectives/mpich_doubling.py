"""MPICH's allgather by recursive doubling on any number of ranks, and the longest path through it.

Where P is no power of two, some ranks have no partner at the level of a set bit i of P (but the lowest): the others
exchange 2**i blocks for the P mod 2**i of the last ranks, and pass these on. That takes as many messages, one after
another, as i lies above the next lower set bit. Source: read in MPICH's source, which takes it for powers of two only;
the rest is derived, and held against the schedule for every P.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import sympy as sp

from orrery_analytic.collectives.algorithm import Algorithm, Call, Options
from orrery_analytic.collectives.doubling import levels
from orrery_analytic.collectives.doubling_formulas import doubling_blocks, doubling_rounds
from orrery_analytic.collectives.functions_of_p import OfP, set_bits
from orrery_analytic.collectives.rounds import Phase, k, split
from orrery_analytic.networks import Hockney, LogGP
from orrery_analytic.schedules.operations import Operation, Program, exchange, recv, send
from orrery_analytic.symbols import P, n

__all__ = ["ALGORITHMS", "doubling_path_hockney", "doubling_path_loggp"]


def _program(call: Call) -> Program:
    block = call.count * call.itemsize

    def program(rank: int) -> Iterator[Operation]:
        for level in levels(rank, call.P):
            own, other = ((end - first) * block for first, end in (level.own, level.other))
            if level.partner is not None:
                yield exchange(level.partner, own, level.partner, other, level.round)
            if level.source is not None:
                yield recv(level.source[0], other, level.source[1])
            for to, at in level.forwards:
                yield send(to, other, at)

    return program


class doubling_path_hockney(OfP):
    r"""Return the longest path of recursive doubling on P ranks under Hockney: x a message and y a block, in seconds.

    A full group of 2**i ranks is through level i - 1 at :math:`E_i = i x + (2^i - 1) y`, and the last ranks are through
    the level of the lowest set bit b of P at :math:`F_b = E_b`. For each higher set bit i, with j the set bit below it,
    :math:`F_i = \max(E_i, F_j) + x + 2^i y + (i - j) (x + (P \bmod 2^i) y)`. The last F is the path.
    """

    _name = r"T_{\text{doubling}}"

    @staticmethod
    def _walk(P: int, latest: Callable[..., Any], *rest: Any) -> Any:
        x, y = rest
        bits = set_bits(P)
        through = bits[0] * x + (2 ** bits[0] - 1) * y
        for lower, i in pairwise(bits):
            through = latest(i * x + (2**i - 1) * y, through) + x + 2**i * y + (i - lower) * (x + P % 2**i * y)
        return through


class _Last(NamedTuple):
    """When the last ranks are through a level of recursive doubling under LogGP, in seconds.

    Parameters
    ----------
    done, receive : when all are done; when their receive ports are free.
    fresh, send : when the send ports are free of those to which blocks were passed on, and of all.
    """

    done: Any
    receive: Any
    fresh: Any
    send: Any


class doubling_path_loggp(OfP):
    r"""Return the longest path of recursive doubling on P ranks under LogGP, in seconds; n is a block in bytes.

    As under Hockney, but a rank need not wait for its partner to send, and ports are busy for d(m):

    * a full group of 2**i ranks is through level i - 1 at E, its send ports are free at E + max(0, g - L - 2 o);
    * at a set bit i, ranks of the full group have what the h = P mod 2**i last ones sent after A(h n), and pass it on
      as soon as their own 2**i blocks have left;
    * the ranks to which these last ones had passed blocks on (or all, at first) have partners that begin the longest
      chains, those of i - j messages; the other chains are shorter by one.
    """

    _name = r"T_{\text{doubling}}"

    @classmethod
    def eval(cls, P: sp.Expr, *rest: sp.Expr) -> sp.Expr | None:
        """Return the time where all is numbers; of symbols, SymPy would take minutes for the maxima of maxima."""
        return super().eval(P, *rest) if all(x.is_number for x in rest) else None

    @staticmethod
    def _walk(P: int, latest: Callable[..., Any], *rest: Any) -> Any:
        n, L, o, g, G = rest

        def wire(blocks: int) -> Any:
            return (blocks * n - 1) * G

        def distance(blocks: int) -> Any:
            return latest(o, g + wire(blocks))

        def group(i: int) -> _Last:
            done = sum((L + 2 * o + wire(1 << j) for j in range(i)), 0 * n) + max(0, i - 1) * behind
            send = done + behind if i else done
            return _Last(done, done + taken if i else done, send, send)

        behind, taken = latest(0, g - L - 2 * o), latest(0, g - o)
        bits = set_bits(P)
        last = group(bits[0])
        for lower, i in pairwise(bits):
            h, hops, full = P % (1 << i), i - lower, group(i)
            one_way, apart = L + 2 * o + wire(h), distance(h)
            begin_long, begin = (
                latest(port + one_way, full.receive + o + wire(h), full.send + distance(1 << i))
                for port in (last.fresh, last.send)
            )
            upper = latest(full.send + L + 2 * o + wire(1 << i), latest(last.done, last.receive) + o + wire(1 << i))
            pace = latest(one_way, apart)
            passed = begin_long + (hops - 1) * pace + one_way
            if hops > 1:
                passed = latest(passed, begin + (hops - 2) * pace + one_way)
            back = latest(last.send + one_way, full.receive + o + wire(h))
            done = latest(upper, passed, back)
            send = latest(begin_long + hops * apart, begin + (hops - 1) * apart, last.send + apart, upper, passed)
            last = _Last(done, latest(done, passed + taken, upper + taken), passed, send)
        return last.done


def _phases(options: Options) -> tuple[Phase, ...]:
    label = "pairs exchange what they hold; what some cannot get is passed on"
    return (Phase(label, 0, doubling_rounds(P) - 1, doubling_blocks(P, k, 0) * n),)


def _hockney(network: Hockney, options: Options) -> dict[str, sp.Expr]:
    return split(doubling_path_hockney(P, network.alpha, n * network.beta), network)


def _loggp(network: LogGP, options: Options) -> dict[str, sp.Expr]:
    return split(doubling_path_loggp(P, n, network.L, network.o, network.g, network.G), network)


ALGORITHMS = (Algorithm("allgather", "mpich_recursive_doubling", _program, _phases, _loggp, hockney=_hockney),)
