"""Bine trees and butterflies, for powers of two: as many messages and bytes as binomial ones, over other distances.

Ranks are numbered in base -2, so that partners lie about 2/3 as far from each other as with powers of two. Source: De
Sensi et al., "Bine Trees: Enhancing Collective Operations by Optimizing Communication Locality", SC25.

Blocks that move together need not lie side by side: a message here is all of them, as if they were packed for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache

import sympy as sp

from orrery_analytic.collectives import bcast
from orrery_analytic.collectives import reduce as to_root
from orrery_analytic.collectives.algorithm import POWERS, Algorithm, Call, Exact, Options
from orrery_analytic.collectives.blocks import blocks
from orrery_analytic.collectives.halving_formulas import idle
from orrery_analytic.collectives.rounds import Phase, close, k
from orrery_analytic.collectives.trees import Tree
from orrery_analytic.networks import LogGP
from orrery_analytic.schedules.operations import Operation, Program, exchange, recv, reduce, send
from orrery_analytic.symbols import P, log2_floor, n

__all__ = ["ALGORITHMS", "partner", "tree"]

_DIGITS = 0xAAAAAAAA  # the digits of base -2 that count negative
_FL = log2_floor(P)


@lru_cache(maxsize=64)
def tree(P: int) -> Tree:
    """Return the Bine tree of bcast over ranks counted from the root: in step i all holders send, distances halve.

    The partner in step i has the log2 P - i last digits, in base -2, flipped.
    """
    children: list[list[int]] = [[] for _ in range(P)]
    holders = [0]  # as numbers whose digits, read in base -2, are the rank
    for last in range(P.bit_length() - 1, 0, -1):
        flipped = [digits ^ ((1 << last) - 1) for digits in holders]
        for digits, other in zip(holders, flipped, strict=True):
            children[((digits ^ _DIGITS) - _DIGITS) % P].append(((other ^ _DIGITS) - _DIGITS) % P)
        holders += flipped
    return Tree(tuple(map(tuple, children)))


def _upwards(P: int) -> Tree:
    """Return the tree with children in the order in which they can send: distances double."""
    return Tree(tuple(children[::-1] for children in tree(P).children))


def partner(rank: int, j: int, P: int) -> int:
    """Return the partner of a rank at distance j of the butterfly: 1, 1, 3, 5, 11 ... ranks away, modulo P."""
    distance = (1 - int((-2) ** (j + 1))) // 3
    return (rank - distance if rank % 2 else rank + distance) % P


def _gather(call: Call) -> Program:
    """Return the program in which whole subtrees go up the tree; the i-th child heads 2**i ranks."""
    up, block = _upwards(call.P), call.count * call.itemsize

    def program(rank: int) -> Iterator[Operation]:
        v = call.virtual(rank)
        for i, child in enumerate(up.children[v]):
            yield recv(call.real(child), block << i, i)
        parent, level = up.parents[v], len(up.children[v])
        if parent is not None:
            yield send(call.real(parent), block << level, level)

    return program


def _scatter(call: Call) -> Program:
    """Return the program in which whole subtrees go down the tree, the largest first."""
    down, block = tree(call.P), call.count * call.itemsize
    top = call.P.bit_length() - 2

    def program(rank: int) -> Iterator[Operation]:
        v = call.virtual(rank)
        parent, level = down.parents[v], len(down.children[v])
        if parent is not None:
            yield recv(call.real(parent), block << level, top - level)
        for i, child in zip(reversed(range(level)), down.children[v], strict=True):
            yield send(call.real(child), block << i, top - i)

    return program


def _kept(sizes: list[int]) -> list[list[int]]:
    """Return, for each distance j and rank, the bytes that it keeps when pairs at distance j have parted theirs.

    After the last distance that is its own block; before, what it and its partner there keep.
    """
    ranks = len(sizes)
    found = [sizes]
    for j in reversed(range(1, ranks.bit_length() - 1)):
        found.append([found[-1][rank] + found[-1][partner(rank, j, ranks)] for rank in range(ranks)])
    return found[::-1]


def _parting(rank: int, sizes: list[list[int]]) -> Iterator[Operation]:
    """Reduce-scatter: pairs exchange what the other one keeps, and combine; distances double."""
    for j, kept in enumerate(sizes):
        other = partner(rank, j, len(kept))
        yield exchange(other, kept[other], other, kept[rank], j)
        yield reduce(kept[rank], j)


def _joining(rank: int, sizes: list[list[int]], start: int) -> Iterator[Operation]:
    """Allgather: pairs exchange what they hold; distances halve."""
    for i, kept in enumerate(reversed(sizes)):
        other = partner(rank, len(sizes) - 1 - i, len(kept))
        yield exchange(other, kept[rank], other, kept[other], start + i)


def _reduce_scatter(call: Call) -> Program:
    sizes = _kept([call.count * call.itemsize] * call.P)
    return lambda rank: _parting(rank, sizes)


def _allgather(call: Call) -> Program:
    sizes = _kept([call.count * call.itemsize] * call.P)
    return lambda rank: _joining(rank, sizes, 0)


def _reduce_scatter_allgather(call: Call) -> Program:
    sizes = _kept([elements * call.itemsize for elements in blocks(call.count, call.P)])

    def program(rank: int) -> Iterator[Operation]:
        yield from _parting(rank, sizes)
        yield from _joining(rank, sizes, len(sizes))

    return program


def _recursive_doubling(call: Call) -> Program:
    nbytes = call.count * call.itemsize

    def program(rank: int) -> Iterator[Operation]:
        for j in range(call.P.bit_length() - 1):
            other = partner(rank, j, call.P)
            yield exchange(other, nbytes, other, nbytes, j)
            yield reduce(nbytes, j)

    return program


def _bcast_phases(options: Options) -> tuple[Phase, ...]:
    return (Phase("all that have the vector send it on", 0, _FL - 1, n),)


def _reduce_phases(options: Options) -> tuple[Phase, ...]:
    return (Phase("half of the ranks send, the others combine", 0, _FL - 1, n, n),)


def _doubling_phases(options: Options) -> tuple[Phase, ...]:
    return (Phase("all blocks held so far", 0, _FL - 1, 2**k * n),)


def _scatter_phases(options: Options) -> tuple[Phase, ...]:
    return (Phase("half of the blocks held", 0, _FL - 1, 2 ** (_FL - 1 - k) * n),)


def _halving_phases(options: Options) -> tuple[Phase, ...]:
    half = n / 2 ** (k + 1)
    return (Phase("pairs exchange halves of what is left and combine", 0, _FL - 1, half, half),)


def _there_and_back_phases(options: Options) -> tuple[Phase, ...]:
    back = Phase("the same halves back, smallest first", _FL, 2 * _FL - 1, n / 2 ** (2 * _FL - k))
    return (*_halving_phases(options), back)


def _halving_loggp(network: LogGP, options: Options) -> dict[str, sp.Expr]:
    """Return the sum over rounds; no gap where the reduction takes as long, nor after the last one."""
    behind = network.g - network.L - 2 * network.o
    gap = idle(behind, n / P * network.gamma, sp.S.One, _FL)
    return {**close(_halving_phases(options), network), "gap": gap}


def _there_and_back_loggp(network: LogGP, options: Options) -> dict[str, sp.Expr]:
    """Return the sum over rounds, as `_halving_loggp`; on the way back nothing is reduced."""
    behind = network.g - network.L - 2 * network.o
    gap = idle(behind, n / P * network.gamma, sp.S.Zero, _FL) + (_FL - 1) * sp.Max(0, behind)
    return {**close(_there_and_back_phases(options), network), "gap": gap}


def _algorithm(
    collective: str,
    name: str,
    program: Callable[[Call], Program],
    phases: Callable[[Options], tuple[Phase, ...]],
    loggp: Callable[[LogGP, Options], dict[str, sp.Expr]] | None = None,
) -> Algorithm:
    return Algorithm(collective, name, program, phases, loggp, Exact(POWERS), Exact(POWERS), only_at=POWERS)


ALGORITHMS = (
    _algorithm("bcast", "bine_tree", lambda call: bcast.tree_program(tree(call.P), call), _bcast_phases),
    _algorithm("reduce", "bine_tree", lambda call: to_root.tree_program(_upwards(call.P), call), _reduce_phases),
    _algorithm("gather", "bine_tree", _gather, _doubling_phases),
    _algorithm("scatter", "bine_tree", _scatter, _scatter_phases),
    _algorithm("allgather", "bine_butterfly", _allgather, _doubling_phases),
    _algorithm("reduce_scatter", "bine_butterfly", _reduce_scatter, _halving_phases, _halving_loggp),
    _algorithm("allreduce", "bine_recursive_doubling", _recursive_doubling, _reduce_phases),
    _algorithm(
        "allreduce",
        "bine_reduce_scatter_allgather",
        _reduce_scatter_allgather,
        _there_and_back_phases,
        _there_and_back_loggp,
    ),
)
