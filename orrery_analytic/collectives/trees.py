"""The trees that Open MPI builds, over ranks counted from the root: v = (rank - root) mod P.

Each function gives the children of every node, in the order in which the library serves them; the tree of a `fan`
or `radix` is made by a closure. Source: facts about coll/base of Open MPI 4.1, held against traces of the library.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

from orrery_analytic.errors import QuantityError

__all__ = ["Tree", "binary", "binomial", "chain", "in_order_binary", "in_order_binomial", "knomial"]


_MOST_NODES = 2**22


@dataclass(frozen=True)
class Tree:
    """Children of every node; `root` is the node on top.

    Parameters
    ----------
    children : tuple of tuples of int
        ``children[v]`` are the children of node v, in the order in which v serves them.
    root : int
        The node without a parent.
    """

    children: tuple[tuple[int, ...], ...]
    root: int = 0

    @cached_property
    def parents(self) -> tuple[int | None, ...]:
        """The parent of every node, None for the root."""
        parents: list[int | None] = [None] * len(self.children)
        for v, kids in enumerate(self.children):
            for child in kids:
                parents[child] = v
        return tuple(parents)

    @cached_property
    def slots(self) -> tuple[int, ...]:
        """The round in which each node has its data if every node serves one child a round; 0 for the root."""
        slots = [0] * len(self.children)
        stack = [self.root]
        while stack:
            v = stack.pop()
            for i, child in enumerate(self.children[v], start=1):
                slots[child] = slots[v] + i
                stack.append(child)
        return tuple(slots)

    @cached_property
    def arrivals(self) -> tuple[int, ...]:
        """The round in which the data of each node reach its parent, if a node takes in one child a round."""
        arrivals = [0] * len(self.children)
        order = [self.root]
        for v in order:
            order += self.children[v]
        ready = [0] * len(self.children)
        for v in reversed(order):
            for child in self.children[v]:
                arrivals[child] = max(ready[v], ready[child])
                ready[v] = arrivals[child] + 1
        return tuple(arrivals)


def _refuse_large(P: int) -> None:
    """A tree is kept node by node: refuse one that would take minutes and gigabytes."""
    if P > _MOST_NODES:
        raise QuantityError(f"P = {P}: the schedule of a tree is for up to {_MOST_NODES} ranks; its formula for any P.")


def _tree(P: int, children: Callable[[int], list[int]]) -> Tree:
    _refuse_large(P)
    return Tree(tuple(tuple(c for c in children(v) if c < P) for v in range(P)))


@lru_cache(maxsize=256)
def chain(P: int, fan: int) -> Tree:
    """Return `fan` chains below the root; the first (P - 1) mod fan of them are one longer."""
    _refuse_large(P)
    fan = max(1, min(fan, P - 1))
    short, more = divmod(P - 1, fan)
    children: list[list[int]] = [[] for _ in range(P)]
    head = 1
    for i in range(fan):
        length = short + (i < more)
        if length:
            children[0].append(head)
        for v in range(head, head + length - 1):
            children[v].append(v + 1)
        head += length
    return Tree(tuple(map(tuple, children)))


@lru_cache(maxsize=256)
def binary(P: int) -> Tree:
    """Return the binary tree: node v on level l has children v + 2**l and v + 2**(l + 1)."""

    def children(v: int) -> list[int]:
        level = 1 << ((v + 1).bit_length() - 1)
        return [v + level, v + 2 * level]

    return _tree(P, children)


@lru_cache(maxsize=256)
def binomial(P: int) -> Tree:
    """Return the binomial tree of bcast: children v + 2**k for all 2**k > v, nearest first."""
    return _tree(P, lambda v: [v + (1 << k) for k in range(v.bit_length(), P.bit_length())])


@lru_cache(maxsize=256)
def in_order_binomial(P: int) -> Tree:
    """Return the binomial tree of reduce: children v + 2**k, 2**k below the lowest set bit of v, nearest first."""

    def children(v: int) -> list[int]:
        below = (v & -v).bit_length() - 1 if v else P.bit_length()
        return [v + (1 << k) for k in range(below)]

    return _tree(P, children)


@lru_cache(maxsize=256)
def knomial(P: int, radix: int) -> Tree:
    """Return the k-nomial tree: children v + d radix**j, far strides first, 1 <= d < radix."""

    def children(v: int) -> list[int]:
        stride = _below(P, radix) if v == 0 else _trailing(v, radix) // radix
        found = []
        while stride >= 1:
            found += [v + d * stride for d in range(1, radix)]
            stride //= radix
        return found

    return _tree(P, children)


def _below(P: int, radix: int) -> int:
    """Return the largest power of `radix` below P."""
    power = 1
    while power * radix < P:
        power *= radix
    return power


def _trailing(v: int, radix: int) -> int:
    """Return the largest power of `radix` that divides v."""
    power = 1
    while v % (power * radix) == 0:
        power *= radix
    return power


@lru_cache(maxsize=256)
def in_order_binary(P: int) -> Tree:
    """Return the binary tree that keeps rank order: its root is rank P - 1, a node's left child the rank below it."""
    _refuse_large(P)
    children: list[tuple[int, ...]] = [()] * P
    spans = [(0, P)]
    while spans:
        a, k = spans.pop()
        if k < 2:
            continue
        right = k >> 1
        left_span, right_span = (a + right, k - 1 - right), (a, right)
        kids = [a + k - 2]
        spans.append(left_span)
        if k >= 3:
            kids.append(a + right - 1)
            spans.append(right_span)
        children[a + k - 1] = tuple(kids)
    return Tree(tuple(children), root=P - 1)
