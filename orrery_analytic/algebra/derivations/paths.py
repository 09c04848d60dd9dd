"""Why some closed forms are no sum over rounds, and what the functions in formulas mean: in words, for derivations.

A(m) is a message of m bytes on its way, d(m) the distance of two messages of a rank, r a reduction.
Source: the docstrings of the formulas, which are held against the schedules.
"""

from __future__ import annotations

import sympy as sp

from orrery_analytic.collectives.algorithm import Algorithm
from orrery_analytic.networks import Hockney, LogGP

__all__ = ["meanings", "no_sum"]

_CHAIN = (
    "Segments follow each other down a chain, and each rank is busy with several of them. The time is that of the "
    "first segment over the longest chain, and the pace at which further segments leave the slowest rank."
)
_TREE = (
    "A rank that is the i-th child of its parent has the data (i - 1) distances of two messages and one message after "
    "its parent. The time is the maximum over the paths from the root to its last ranks."
)
_UP = (
    "The library combines the data of one child while those of the next one arrive: a rank of the tree takes a message "
    "and a reduction for each level, and the longer of the distance of two messages and a reduction for each child "
    "that it takes in before another. The time is that of the longest path up the tree."
)
_FAN_IN = (
    "A round of full subtrees is synchronous: the longer of a message with its reduction and the distance of two "
    "messages. Unless P is a power of two, the last subtree has fewer levels, so that its message lies there already "
    "and is late by the distance of two messages only."
)
_FOLD = (
    "Unless P is a power of two, ranks that hand their data over are late, and whoever meets them finds its message "
    "there already or waits for it. The time is the maximum over a rank that folds and one that does not."
)
_IDLE = (
    "Messages, bytes and reductions add up over the rounds. What the gap leaves idle does not: a reduction fills a "
    "part of the gap that changes from round to round, so it is summed on its own."
)
_JOIN = (
    "Unless P is a power of two, the ranks are full groups of $2^i$ ranks, one for each set bit $i$ of P, and what "
    "some of them miss is passed on. Either side of a join may be the later one: the time is a walk along the binary "
    "digits of P that takes the maximum at each set bit. For a power of two it is the sum over the rounds."
)
_SCAN = (
    "Messages and bytes add up over the rounds. Reductions do not: the higher rank of a pair combines twice, the lower "
    "one once. The time is the maximum over two paths, to rank 2**floor(log2 P) - 1 and to a rank beyond it."
)
_ONCE = "Each rank sends once and receives once, so that no port waits for a gap: messages and reductions add up alone."
_LINEAR_IN = (
    "Blocking receives in a row lie max(o, g) and the bytes of a message apart, and a reduction between them fills a "
    "part of the gap. The first message is waited for."
)
_NODES = (
    "A tree inside nodes meets another one between their leaders, whose ports are still busy with the first; the last "
    "node may have fewer ranks, so that its leader is early. The time is the maximum over these paths."
)
_LONGEST = "The rounds do not follow one another on every rank: the time is that of the longest path through them."

_LOGGP = {
    ("bcast", "chain"): _CHAIN,
    ("bcast", "pipeline"): _CHAIN,
    ("bcast", "binary_tree"): _TREE,
    ("bcast", "binomial"): _TREE,
    ("bcast", "knomial"): _TREE,
    (
        "bcast",
        "split_binary_tree",
    ): f"{_TREE} The exchange of the halves follows; for a power of two the last rank has no "
    "partner, and gets the other half from the root.",
    ("bcast", "scatter_allgather"): _JOIN,
    (
        "bcast",
        "scatter_allgather_ring",
    ): "The rank that the scatter reaches last holds up the ring, each of whose rounds "
    "takes the longer of a message and the distance of two.",
    ("bcast", "two_level_binomial"): _NODES,
    ("reduce", "linear"): _LINEAR_IN,
    ("reduce", "chain"): _CHAIN,
    ("reduce", "pipeline"): _CHAIN,
    ("reduce", "binary"): _UP,
    ("reduce", "binomial"): _FAN_IN,
    ("reduce", "in-order_binary"): f"{_UP} A last message goes from rank P - 1 to rank 0.",
    ("reduce", "rabenseifner"): _IDLE,
    ("reduce", "two_level_binomial"): _NODES,
    ("allreduce", "basic_linear"): f"{_LINEAR_IN} The bcast starts when rank 0 has the result.",
    ("allreduce", "recursive_doubling"): _FOLD,
    ("allreduce", "rabenseifner"): _IDLE,
    ("allreduce", "mpich_rabenseifner"): _IDLE,
    ("allreduce", "bine_reduce_scatter_allgather"): _IDLE,
    ("allreduce", "two_level_recursive_doubling"): _NODES,
    ("barrier", "linear"): "A fan-in of tokens, then a fan-out that starts when the fan-in is over: twice the one.",
    (
        "barrier",
        "double_ring",
    ): "Rank 0 sends the second token when the first one is back and its port is free: a lap of "
    "the ring, and the longer of a second lap and the distance of two messages.",
    ("barrier", "recursive_doubling"): _FOLD,
    ("barrier", "tree"): f"{_FAN_IN} The way down takes as long as the way up.",
    (
        "gather",
        "basic_linear",
    ): "Blocking receives in a row lie max(o, g) and the bytes of a message apart; the first one is waited for.",
    ("gather", "binomial"): _FAN_IN,
    (
        "gather",
        "linear_sync",
    ): "A turn of the root takes a token there and a first segment back, or as long as its port "
    "needs for both segments of a block, whichever is longer.",
    (
        "scatter",
        "binomial",
    ): "A full subtree is a synchronous round for each level. Unless P is a power of two, the root "
    "sends the blocks of its smaller part first, and all the rest comes later by the time that its port needs for "
    "them; where the overhead hides these bytes, the child that waits for them is the later one.",
    ("scan", "linear"): _ONCE,
    ("scan", "recursive_doubling"): _SCAN,
    ("exscan", "linear"): _ONCE,
    ("exscan", "recursive_doubling"): _SCAN,
    ("reduce_scatter", "recursive_halving"): f"{_IDLE} {_FOLD}",
    ("reduce_scatter", "butterfly"): f"{_IDLE} {_FOLD}",
    ("reduce_scatter", "bine_butterfly"): _IDLE,
    ("reduce_scatter_block", "recursive_doubling"): _JOIN,
    ("reduce_scatter_block", "recursive_halving"): f"{_IDLE} {_FOLD}",
    ("reduce_scatter_block", "butterfly"): f"{_IDLE} {_FOLD}",
    ("allgather", "mpich_recursive_doubling"): _JOIN,
}

_HOCKNEY = {
    ("reduce", "chain"): _CHAIN,
    ("reduce", "pipeline"): _CHAIN,
    ("reduce", "binary"): _UP,
    ("reduce", "in-order_binary"): f"{_UP} A last message goes from rank P - 1 to rank 0.",
    ("bcast", "scatter_allgather"): _JOIN,
    ("scan", "recursive_doubling"): _SCAN,
    ("exscan", "recursive_doubling"): _SCAN,
    ("reduce_scatter_block", "recursive_doubling"): _JOIN,
    ("allgather", "mpich_recursive_doubling"): _JOIN,
}

_WALK = (
    "a walk along the set bits $i$ of P from the lowest one, $b$, with the set bit $j$ below $i$ and "
    "$h = P \\bmod 2^i$; its arguments are P, what a message costs ($x$) and what a block costs ($y$)"
)
_HALVES = (
    "the longer of two paths, of a rank that folds and of one that always meets late ranks; its arguments are P, the "
    "bytes of a block, and L, o, g, G and $\\gamma$ (0 where they are left away). The package computes it for any P"
)
_MEANINGS = {
    "max_popcount": "$\\operatorname{pop} P$ is the largest number of set bits among the whole numbers below P that "
    "have as many binary digits as P - 1",
    "popcount": "$\\operatorname{bits}(x)$ is the number of set bits of x",
    "popcount_sum": "$\\operatorname{pop} i$ is the number of set bits of i",
    "doubling_rounds": "$\\operatorname{rounds}(P)$ is the number of rounds of recursive doubling on P ranks, those "
    "included in which parts are passed on",
    "doubling_blocks": "$b_{\\text{held}}(P, k)$ and $b_{\\text{partner}}(P, k)$ are the blocks that a rank and its "
    "partner hold in round k of recursive doubling",
    "settling_rounds": "$\\operatorname{settling}(P, \\cdot)$ is the number of rounds in which blocks go to their "
    "ranks after a butterfly: none on two ranks; where ranks fold, one if one rank does, else two; its second argument "
    "says how many for other powers of two",
    "node_count": "$\\operatorname{nodes}(P, w)$ is the number of nodes of P ranks, w on each",
    "knomial_path": "$a_v$ and $b_v$ count the messages and the distances on the path from the root to rank v",
    "doubling_path_hockney": f"$T_{{\\text{{doubling}}}}$ is {_WALK}: $E_i = i x + (2^i - 1) y$, $F_b = E_b$, "
    "$F_i = \\max(E_i, F_j) + x + 2^i y + (i - j)(x + h y)$; the last $F$ is its value",
    "bcast_path": f"$T_{{\\text{{doubling}}}}$ is {_WALK}: $E_i = 2 i x + 2 (2^i - 1) y$, $F_b = E_b$, "
    "$F_i = \\max(E_i, F_j) + 2 x + (2^i + h) y + (i - j)(x + h y)$; the last $F$ is its value",
    "block_path": f"$T_{{\\text{{doubling}}}}$ is {_WALK}, and its reduction ($z$): $E_i = i x + (i P - 2^i + 1)(y + "
    "z)$, $F_b = E_b$, $F_i = \\max(E_i, F_j) + (1 + i - j)(x + (P - h) y) + (P - h) z$; the last $F$ is its value",
    "doubling_path_loggp": "$T_{\\text{doubling}}$ is the same walk along the set bits of P as under Hockney, but "
    "ports are busy for the distance of two messages; its arguments are P, n, L, o, g and G, and the package "
    "computes it for any P",
    "bcast_path_loggp": "$T_{\\text{doubling}}$ is the same walk along the set bits of P as under Hockney; its "
    "arguments are P, a message without its bytes that is waited for, the longer of it and its gap, one that lies "
    "there already, and a block on the wire. The package computes it for any P",
    "block_path_loggp": "$T_{\\text{doubling}}$ is the same walk along the set bits of P as under Hockney; its "
    "arguments are P, a message without its bytes that is waited for, the longer of it and its gap, two messages at a "
    "join, one that lies there already, a block on the wire, its reduction, and what the gap exceeds the rest by. The "
    "package computes it for any P",
    "halving_path": f"$T_{{\\text{{halving}}}}$ is {_HALVES}",
    "butterfly_path": f"$T_{{\\text{{butterfly}}}}$ is {_HALVES}",
}


def no_sum(known: Algorithm, network: Hockney | LogGP) -> str:
    """Return why the closed form of an algorithm is no sum over its rounds; "" where it is one."""
    hockney = isinstance(network, Hockney)
    if (known.hockney if hockney else known.loggp) is None:
        return ""
    return (_HOCKNEY if hockney else _LOGGP).get((known.collective, known.name), _LONGEST)


def meanings(expressions: list[sp.Expr]) -> list[str]:
    """Return what the functions in some expressions mean, each once."""
    used = {type(f).__name__ for e in expressions for f in e.atoms(sp.Function)}
    return list(dict.fromkeys(text for name, text in _MEANINGS.items() if name in used))
