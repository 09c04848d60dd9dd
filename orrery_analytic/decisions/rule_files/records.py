"""The rules of a rule file as data: for each collective rules on communicator sizes, each with rules on bytes."""

from __future__ import annotations

from typing import NamedTuple

__all__ = [
    "COLLECTIVES",
    "DECIDED",
    "LARGEST",
    "NO_RULE",
    "QUANTITIES",
    "Collectives",
    "CommRule",
    "MessageRule",
    "signed",
]

#: The collectives in the order of their numbers in the classic form.
COLLECTIVES = tuple(
    "allgather allgatherv allreduce alltoall alltoallv alltoallw barrier bcast exscan gather gatherv reduce"
    " reduce_scatter reduce_scatter_block scan scatter scatterv neighbor_allgather neighbor_allgatherv"
    " neighbor_alltoall neighbor_alltoallv neighbor_alltoallw".split()
)

#: What the library compares with the sizes of a file; n as in `select`. It is not what its fixed decision looks at.
QUANTITIES = {
    **dict.fromkeys(("allgatherv", "allreduce", "bcast", "reduce", "reduce_scatter"), "n"),
    **dict.fromkeys(("allgather", "alltoall", "gather", "reduce_scatter_block", "scatter"), "P n"),
    **dict.fromkeys(("exscan", "scan"), "P itemsize"),
    **dict.fromkeys(("alltoallv", "barrier"), "0"),
}

#: The collectives whose rules the library looks at.
DECIDED = frozenset(QUANTITIES)

#: Sizes are C longs.
LARGEST = 2**63 - 1

#: Algorithm 0: the library asks its fixed decision.
NO_RULE = 0


class MessageRule(NamedTuple):
    """Take an algorithm from so many bytes on.

    Bytes are what the library compares, `QUANTITIES`: the total P n for allgather. In the forms of text a rule holds up
    to the next one; in JSON up to `to_bytes`, which belongs to it (None: no limit).
    """

    from_bytes: int
    number: int
    fan: int = 0
    segment_bytes: int = 0
    max_requests: int = 0
    to_bytes: int | None = None
    line: int = 0


class CommRule(NamedTuple):
    """Take these rules from so many ranks on; in JSON up to `to_ranks`, and where the ranks sit so on the nodes."""

    from_ranks: int
    messages: tuple[MessageRule, ...]
    to_ranks: int | None = None
    distribution: str = "any"
    line: int = 0


#: (collective, its rules), ...
Collectives = tuple[tuple[str, tuple[CommRule, ...]], ...]


def signed(value: int) -> int:
    """Return what a C int keeps of a number: its lowest 32 bits."""
    return (value + 2**31) % 2**32 - 2**31
