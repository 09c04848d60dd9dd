"""Recursive doubling on any number of ranks: where the partner of a rank is missing, others pass its part on.

At level i, ranks r and r ^ 2**i exchange what the 2**i ranks around each of them hold. Where P cuts the upper subtree
off, some ranks of the lower one have no partner; those that have one pass on what they got, by recursive halving.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Level", "levels", "passing_rounds"]


@dataclass(frozen=True)
class Level:
    """What one rank does at one level.

    Parameters
    ----------
    round : int
        The round of the exchange; messages that are passed on come in the rounds after it.
    own, other : tuple of int
        First rank and end of the rank's subtree and of its partner's, both cut off at P.
    partner : int or None
        None where it would lie beyond P.
    source : tuple of int or None
        (rank, round) from which the partner's part comes instead.
    forwards : tuple of tuples of int
        (rank, round) to which the partner's part is passed on, in order.
    """

    round: int
    own: tuple[int, int]
    other: tuple[int, int]
    partner: int | None
    source: tuple[int, int] | None
    forwards: tuple[tuple[int, int], ...]

    @property
    def receives(self) -> bool:
        """Return whether the partner's part reaches this rank."""
        return self.partner is not None or self.source is not None


def passing_rounds(P: int, level: int) -> int:
    """Return how many rounds it takes at one level to pass the part of a cut-off subtree on."""
    there = P % (1 << level)  # ranks of that subtree
    return level + 1 - there.bit_length() if P >> level & 1 and there else 0


def levels(rank: int, P: int) -> Iterator[Level]:
    """Return what a rank does, level by level.

    Source: Open MPI's coll/base (bcast scatter_allgather, reduce_scatter_block recursive_doubling) and MPICH's
    recursive doubling, held against traces of the former.
    """
    start = 0
    for i in range((P - 1).bit_length()):
        span = 1 << i
        own, other = rank & -span, (rank ^ span) & -span
        partner = rank ^ span if rank ^ span < P else None
        source: tuple[int, int] | None = None
        forwards: list[tuple[int, int]] = []
        if other < P < other + span:
            have = P - other  # as many ranks of the own subtree, counted from its first, have a partner
            for step in range(i):
                half = span >> (step + 1)
                peer = rank ^ half
                end = (rank & -(2 * half)) + have
                if rank < end <= peer:
                    forwards.append((peer, start + 1 + step))
                elif peer < end <= rank:
                    source = (peer, start + 1 + step)
        yield Level(start, (own, min(own + span, P)), (other, min(other + span, P)), partner, source, tuple(forwards))
        start += 1 + passing_rounds(P, i)
