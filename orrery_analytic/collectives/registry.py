"""The algorithms of every collective, found by Open MPI's names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from orrery_analytic.collectives import (
    allgather,
    allreduce,
    alltoall,
    barrier,
    bcast,
    bcast_scatter,
    bine,
    gather,
    mpich,
    mpich_doubling,
    rabenseifner,
    reduce,
    reduce_scatter,
    reduce_scatter_block,
    scan,
    scatter,
    sparbit,
    two_level,
)
from orrery_analytic.collectives.algorithm import Algorithm
from orrery_analytic.decisions import ALGORITHMS, list_collectives
from orrery_analytic.errors import choose, unknown_name
from orrery_analytic.symbols import P

__all__ = ["COMPOSED", "Part", "beyond_openmpi", "counted", "find", "formulas", "list_algorithms", "resolve", "twin"]

_MODULES = (
    bcast, bcast_scatter, reduce, rabenseifner, allgather, allreduce, barrier, alltoall, gather, scatter, scan,
    reduce_scatter, reduce_scatter_block, sparbit, mpich, mpich_doubling, bine, two_level,
)  # fmt: skip
_TABLE: dict[tuple[str, str], Algorithm] = {(a.collective, a.name): a for m in _MODULES for a in m.ALGORITHMS}


@dataclass(frozen=True)
class Part:
    """A collective that a composed algorithm calls, on rank 0 where it has a root.

    Parameters
    ----------
    collective : str
    scale : SymPy expression
        Its n over that of the whole: 1, P or 1 / P.
    algorithm : str
        What it always runs; "" where the library decides again.
    one_element : bool
        Whether it is called for one element of a type that holds all its bytes: no algorithm can divide them.
    """

    collective: str
    scale: sp.Expr = sp.S.One
    algorithm: str = ""
    one_element: bool = False

    def size(self, ranks: Any, nbytes: Any) -> Any:
        """Return the n of this part where that of the whole is `nbytes`, in bytes; whole numbers or arrays of them."""
        return nbytes * ranks if self.scale == P else nbytes // ranks if self.scale == 1 / P else nbytes

    def itemsize(self, nbytes: int, itemsize: int) -> int:
        """Return the bytes of an element of this part, for `nbytes` in all and the caller's elements of `itemsize`."""
        return nbytes if self.one_element else itemsize


COMPOSED: dict[tuple[str, str], tuple[Part, ...]] = {
    ("allreduce", "nonoverlapping"): (Part("reduce"), Part("bcast")),
    ("allgather", "linear"): (Part("gather"), Part("bcast", P)),
    ("allgatherv", "default"): (  # a gatherv; the bcast is of one element, in which all blocks lie
        Part("gather", sp.S.One, "basic_linear"),
        Part("bcast", P, one_element=True),
    ),
    ("reduce_scatter", "non-overlapping"): (Part("reduce"), Part("scatter", 1 / P, "basic_linear")),  # a scatterv
    ("reduce_scatter_block", "basic_linear"): (Part("reduce", P), Part("scatter")),
}
"""Algorithms that call other collectives, one after the other."""

_PREFIXES = ("mpich_", "bine_", "two_level_")
_TWINS = {"allgatherv": "allgather", "alltoallv": "alltoall"}
_COUNTED = {
    "reduce_scatter": "all blocks together",
    "allgather": "one rank's block",
    "gather": "one rank's block",
    "scatter": "one rank's block",
    "reduce_scatter_block": "one rank's block",
    "alltoall": "one pair's block",
}


def counted(collective: str) -> str:
    """Return whose bytes n counts, in words: "the whole vector", "one rank's block" ...

    Raises
    ------
    UnknownNameError
        If there is no such collective.
    """
    return _COUNTED.get(twin(collective), "the whole vector")


def twin(collective: str) -> str:
    """Return the collective whose algorithms serve allgatherv and alltoallv, where these have none of their own.

    Raises
    ------
    UnknownNameError
        If there is no such collective.
    """
    return _TWINS.get(collective, choose("collective", collective, list_collectives()))


def resolve(collective: str, algorithm: str) -> tuple[str, str]:
    """Return under which collective an algorithm is found: its own, or the twin of that."""
    if not (isinstance(collective, str) and isinstance(algorithm, str)):
        raise unknown_name(f"{twin(collective)} algorithm", algorithm, _names(collective))
    own = (collective, algorithm)
    return own if own in _TABLE or own in COMPOSED else (twin(collective), algorithm)


def beyond_openmpi(algorithm: str) -> bool:
    """Return whether a name is none of Open MPI's: the decisions do not know it, and nothing else runs in its place."""
    return algorithm.startswith(_PREFIXES)


def _names(collective: str) -> list[str]:
    known = [*_TABLE, *COMPOSED]
    others = [name for where, name in known if where == twin(collective) and beyond_openmpi(name)]
    numbered = [name for name in ALGORITHMS[collective].values() if resolve(collective, name) in known]
    return numbered + (others if collective not in _TWINS else [])


def list_algorithms(collective: str) -> list[str]:
    """Return the algorithms of a collective that have a formula: Open MPI's names, and others with a prefix.

    Raises
    ------
    UnknownNameError
        If there is no such collective.
    """
    found = {name: resolve(collective, name) for name in _names(collective)}
    return [name for name, at in found.items() if at in COMPOSED or _TABLE[at].phases is not None]


def find(collective: str, name: str) -> Algorithm:
    """Return an algorithm that has a schedule.

    Raises
    ------
    UnknownNameError
        If there is no such collective or algorithm.
    """
    choose(f"{collective} algorithm", name, _names(collective))
    return _TABLE[resolve(collective, name)]


def formulas(collective: str) -> dict[str, Algorithm]:
    """Return the algorithms of a collective that are a formula of their own, by name."""
    found = {name: resolve(collective, name) for name in list_algorithms(collective)}
    return {name: _TABLE[at] for name, at in found.items() if at not in COMPOSED}
