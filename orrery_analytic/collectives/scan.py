"""MPI_Scan and MPI_Exscan: n is the whole vector; rank r ends with what ranks 0 to r (exscan: r - 1) hold together."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import sympy as sp

from orrery_analytic.collectives.algorithm import Algorithm, Call, Exact, Options
from orrery_analytic.collectives.rounds import Phase, close
from orrery_analytic.networks import Hockney, LogGP
from orrery_analytic.schedules.operations import Operation, Program, exchange, recv, reduce, send
from orrery_analytic.symbols import P, log2_ceil, log2_floor, n

__all__ = ["ALGORITHMS"]

_CHAIN = Exact(note="Sends and receives block.")
_EXCHANGED = Exact(note="A rank waits for its send and its receive in every round.")


def _linear(call: Call, last_reduces: bool) -> Program:
    """Return a chain: a rank receives from the one below, combines, and sends the result to the one above."""
    nbytes = call.count * call.itemsize

    def program(rank: int) -> Iterator[Operation]:
        last = rank == call.P - 1
        if rank:
            yield recv(rank - 1, nbytes, rank - 1)
            if last_reduces or not last:
                yield reduce(nbytes, rank - 1)
        if not last:
            yield send(rank + 1, nbytes, rank)

    return program


def _recursive_doubling(call: Call, exclusive: bool) -> Program:
    """Return exchanges with rank XOR 2**k, of what all ranks that differ in lower bits hold together.

    Every rank combines that; the higher one of a pair combines it into its result as well. In exscan the result is
    empty at first, and a copy takes the place of the first reduction.
    """
    nbytes = call.count * call.itemsize

    def program(rank: int) -> Iterator[Operation]:
        empty = exclusive
        for i in range((call.P - 1).bit_length()):
            peer = rank ^ (1 << i)
            if peer >= call.P:
                continue
            yield exchange(peer, nbytes, peer, nbytes, i)
            yield reduce(nbytes, i)
            if rank > peer and not empty:
                yield reduce(nbytes, i)
            empty = empty and rank < peer

    return program


def _scan_linear_phases(options: Options) -> tuple[Phase, ...]:
    return (Phase("the vector goes to the next rank and is combined", 0, P - 2, n, n),)


def _exscan_linear_phases(options: Options) -> tuple[Phase, ...]:
    return (
        Phase("the vector goes to the next rank and is combined", 0, P - 3, n, n),
        Phase("the last rank takes it as it is", P - 2, P - 2, n),
    )


def _scan_doubling_phases(options: Options) -> tuple[Phase, ...]:
    return (Phase("pairs at distance 2**k exchange; the higher one combines twice", 0, log2_ceil(P) - 1, n, 2 * n),)


def _exscan_doubling_phases(options: Options) -> tuple[Phase, ...]:
    fl, cl = log2_floor(P), log2_ceil(P)
    combined = sp.Min(2, P - 2**fl) * n  # one rank more than a power of two: its first exchange
    return (
        Phase("neighbours exchange", 0, 0, n, n),
        Phase("pairs at distance 2**k exchange; the higher one combines twice", 1, fl - 1, n, 2 * n),
        Phase("the ranks beyond a power of two exchange, if there are any", fl, cl - 1, n, combined),
    )


def _linear_loggp(network: LogGP, reductions: sp.Expr) -> dict[str, sp.Expr]:
    """Return (P - 1) A(n) and the reductions: a port is used once, so that there is no gap."""
    return {
        "latency": (P - 1) * (network.L + 2 * network.o),
        "bandwidth": (P - 1) * (n - 1) * network.G,
        "reduce": reductions * n * network.gamma,
    }


def _beside(
    message: sp.Expr, r: sp.Expr, exclusive: bool, once: sp.Expr = sp.S.Zero, twice: sp.Expr = sp.S.Zero
) -> tuple[sp.Expr, sp.Expr]:
    r"""Return what recursive doubling takes beside cl messages: (reductions, gap), exact for every P.

    Round k leads from a rank to its partner: a message, then r, and r once more where bit k of the partner is set; or,
    under LogGP, it keeps a rank until its port is free: d. `once` is what d exceeds A + r by, `twice` A + 2 r. The last
    rank is at the end of the longer of two paths:

    * to rank 2**fl - 1, in fl rounds with two reductions each;
    * where R = P - 2**fl > 0, one round longer, to a rank 2**fl + b, b < R. As b has no more than s = floor(log2 R)
      ones, s of the rounds before the last have two reductions, fl - s have one.

    In exscan the first set bit of a rank stands for one reduction, not for two.

    Source: derived; held against the schedule.
    """
    fl, ones = log2_floor(P), log2_floor(P - 2 ** log2_floor(P))
    spared = int(exclusive)
    early = sp.Min(1, fl - 1) if exclusive else 0  # rounds with one reduction on the path to 2**fl - 1
    late = sp.Max(0, ones - 1) if exclusive else ones  # rounds with two on the other one
    below = (2 * fl - spared) * r
    below_gap = early * once + (fl - 1 - early) * twice
    beyond = (fl + 2 + ones - spared) * r
    beyond_gap = (fl - late) * once + late * twice
    power = sp.Eq(log2_ceil(P), fl)
    longer = sp.Max(beyond, below - message)
    with_gap = sp.Max(beyond + beyond_gap, below + below_gap - message)
    return sp.Piecewise((below, power), (longer, True)), sp.Piecewise((below_gap, power), (with_gap - longer, True))


def _doubling_loggp(network: LogGP, exclusive: bool) -> dict[str, sp.Expr]:
    """Return cl A(n) and what is beside it; j reductions leave max(0, g - L - 2 o - j r) of a gap."""
    r, one_way = n * network.gamma, network.L + 2 * network.o
    once, twice = (sp.Max(0, network.g - one_way - j * r) for j in (1, 2))
    reduce, gap = _beside(network.message(n), r, exclusive, once, twice)
    cl = log2_ceil(P)
    return {"latency": cl * one_way, "bandwidth": cl * (n - 1) * network.G, "reduce": reduce, "gap": gap}


def _doubling(collective: str, phases: Callable[[Options], tuple[Phase, ...]]) -> Algorithm:
    """Return recursive doubling, whose ranks combine unequally: no sum over rounds is exact, under Hockney either."""
    exclusive = collective == "exscan"

    def hockney(network: Hockney, options: Options) -> dict[str, sp.Expr]:
        reduce, _ = _beside(network.message(n), n * network.gamma, exclusive)
        return {**close(phases(options), network), "reduce": reduce}

    return Algorithm(
        collective,
        "recursive_doubling",
        lambda call: _recursive_doubling(call, exclusive),
        phases,
        lambda network, options: _doubling_loggp(network, exclusive),
        _EXCHANGED,
        _EXCHANGED,
        hockney=hockney,
    )


ALGORITHMS = (
    Algorithm(
        "scan",
        "linear",
        lambda call: _linear(call, last_reduces=True),
        _scan_linear_phases,
        lambda network, options: _linear_loggp(network, P - 1),
        _CHAIN,
        _CHAIN,
    ),
    _doubling("scan", _scan_doubling_phases),
    Algorithm(
        "exscan",
        "linear",
        lambda call: _linear(call, last_reduces=False),
        _exscan_linear_phases,
        lambda network, options: _linear_loggp(network, P - 2),
        _CHAIN,
        _CHAIN,
    ),
    _doubling("exscan", _exscan_doubling_phases),
)
