"""How Open MPI cuts a vector: into blocks (one a rank) and into segments (of a pipelined algorithm).

Source: facts about coll/base of Open MPI 4.1, held against traces of the library.
"""

from __future__ import annotations

__all__ = ["blocks", "segment_count", "segments"]


def blocks(count: int, parts: int) -> list[int]:
    """Return `parts` block sizes in elements: the first ``count % parts`` blocks hold one element more."""
    small, more = divmod(count, parts)
    return [small + 1] * more + [small] * (parts - more)


def segment_count(count: int, itemsize: int, segment_bytes: int) -> int:
    """Return the elements of one segment: `segment_bytes` rounded to whole elements, or all if it does not apply."""
    if not itemsize <= segment_bytes < itemsize * count:
        return count
    elements, rest = divmod(segment_bytes, itemsize)
    return elements + (rest > itemsize >> 1)


def segments(count: int, itemsize: int, segment_bytes: int) -> list[int]:
    """Return segment sizes in elements; the last one is the remainder."""
    size = segment_count(count, itemsize, segment_bytes)
    if size == 0:
        return [0]
    return [min(size, count - start) for start in range(0, count, size)]
