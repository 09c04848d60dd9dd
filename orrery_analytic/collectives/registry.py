"""The algorithms of every collective, found by Open MPI's names."""

from __future__ import annotations

from orrery_analytic.collectives import allgather, allreduce, barrier, bcast, reduce
from orrery_analytic.collectives.algorithm import Algorithm
from orrery_analytic.decisions import list_collectives
from orrery_analytic.errors import choose

__all__ = ["COMPOSED", "find", "formulas", "list_algorithms", "twin"]

_MODULES = (bcast, reduce, allgather, allreduce, barrier)
_TABLE: dict[tuple[str, str], Algorithm] = {(a.collective, a.name): a for m in _MODULES for a in m.ALGORITHMS}

COMPOSED: dict[tuple[str, str], tuple[str, ...]] = {("allreduce", "nonoverlapping"): ("reduce", "bcast")}
"""Algorithms that call other collectives, one after the other; the library decides each part again."""

_TWINS = {"allgatherv": "allgather", "alltoallv": "alltoall"}


def twin(collective: str) -> str:
    """Return the collective whose algorithms serve: allgatherv and alltoallv cost as their twins with equal counts.

    Raises
    ------
    UnknownNameError
        If there is no such collective.
    """
    return _TWINS.get(collective, choose("collective", collective, list_collectives()))


def _names(collective: str) -> list[str]:
    names = [name for where, name in (*_TABLE, *COMPOSED) if where == twin(collective)]
    return names


def list_algorithms(collective: str) -> list[str]:
    """Return the algorithms of a collective that have a formula, by Open MPI's names.

    Raises
    ------
    UnknownNameError
        If there is no such collective.
    """
    place = twin(collective)
    return [name for name in _names(collective) if (place, name) in COMPOSED or _TABLE[place, name].phases is not None]


def find(collective: str, name: str) -> Algorithm:
    """Return an algorithm that has a schedule.

    Raises
    ------
    UnknownNameError
        If there is no such collective or algorithm.
    """
    place = twin(collective)
    choose(f"{collective} algorithm", name, _names(collective))
    return _TABLE[place, name]


def formulas(collective: str) -> dict[str, Algorithm]:
    """Return the algorithms of a collective that are a formula of their own, by name."""
    place = twin(collective)
    return {name: _TABLE[place, name] for name in list_algorithms(collective) if (place, name) not in COMPOSED}
