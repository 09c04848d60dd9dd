"""The fixed decision: which algorithm Open MPI takes for a collective on P ranks and n bytes, and why."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from orrery_analytic.decisions import openmpi_4_0, openmpi_4_1
from orrery_analytic.decisions.names import ALGORITHMS, SELF
from orrery_analytic.decisions.rows import Condition, Row, first_row, rows_from_cells, rows_from_formulas
from orrery_analytic.decisions.whole import LARGEST_COUNT, LARGEST_SIZE, broadcast, whole
from orrery_analytic.errors import choose, unknown_name

__all__ = ["RULES", "Selection", "pieces", "rule_set", "select"]

#: The rule sets, and the releases of Open MPI (major.minor) in which each holds.
RULES = {"openmpi-4.0": ("2.1", "3.0", "3.1", "4.0"), "openmpi-4.1": ("4.1", "5.0")}

_VERSION = re.compile(r"(?:(?:open[ _-]?mpi|ompi)[ _-]?)?v?(\d+\.\d+)(?:\.\d+)?(?:(?:a|rc)\d+)?", re.IGNORECASE)
_ANY_BYTES = ("alltoallv", "barrier")


@dataclass(frozen=True)
class Selection:
    """What the library takes. Scalars where P and n were scalars, else arrays of their broadcast shape.

    Attributes
    ----------
    number, name
        The algorithm, as Open MPI's rules and its documentation call it.
    reason
        The row that answered: its conditions on P and n. Rows before it in the table did not hold.
    segment_bytes
        Segment size that the library passes along, in bytes; 0 is one segment.
    fan
        Fan-out or fan-in that the library passes along; 0 is the algorithm's own.
    """

    number: int | NDArray[np.int64]
    name: str | NDArray[np.str_]
    reason: str | NDArray[np.str_]
    segment_bytes: int | NDArray[np.int64] = 0
    fan: int | NDArray[np.int64] = 0


def rule_set(rules: str) -> str:
    """Return the name of the rule set that `rules` means: itself, or the one that holds in that version of Open MPI.

    "openmpi-4.1", "4.1.6", "v5.0.3", "Open MPI 3.1.6" are all understood.

    Raises
    ------
    UnknownNameError
        For anything else.
    """
    found = _VERSION.fullmatch(rules.strip()) if isinstance(rules, str) else None
    for name, releases in RULES.items():
        if found and found[1] in releases:
            return name
    raise unknown_name("rules", rules, [f"openmpi-{release}" for releases in RULES.values() for release in releases])


@cache
def _rows(collective: str, rules: str, commutative: bool) -> tuple[Row, ...]:
    """Return the rows by which one of `RULES` decides a collective, in order."""
    alone = Row((Condition("P", "==", 1),), SELF[0], "P == 1: coll/self answers")
    if collective in ("scan", "exscan"):
        return (alone, Row((), 1, "coll/basic"))
    if rules == "openmpi-4.0":
        formulas = {**openmpi_4_0.TABLES, **({} if commutative else openmpi_4_0.NON_COMMUTATIVE)}
        return (alone, *rows_from_formulas(formulas[collective]))
    cells = {**openmpi_4_1.TABLES, **({} if commutative else openmpi_4_1.NON_COMMUTATIVE)}
    return (alone, *rows_from_cells(cells[collective]))


def select(
    collective: str,
    P: ArrayLike,
    n: ArrayLike,
    rules: str = "openmpi-4.1",
    commutative: bool = True,
    itemsize: int = 1,
) -> Selection:
    """Return which algorithm Open MPI's fixed decision takes, and the row of its table that says so.

    This is the algorithm *chosen*; `runs` says which one then really runs. It is what coll/tuned decides: scan and
    exscan go to coll/basic, one rank to coll/self, and in 5.0 coll/han answers first for seven collectives where
    several ranks of the communicator share each of several nodes.

    Parameters
    ----------
    collective
        One of `list_collectives()`.
    P
        Ranks, at least 1. A whole number or an array of them.
    n
        Bytes that the decision looks at: the whole vector for allreduce, bcast, reduce, scan and exscan; the total for
        reduce_scatter; one block for allgather, alltoall, gather, scatter and reduce_scatter_block; the average block
        for allgatherv (under "openmpi-4.0" the total of its blocks). alltoallv and barrier take any n and ignore it.
    rules
        "openmpi-4.1" (4.1 and 5.0), "openmpi-4.0" (2.1 to 4.0), or a version: "4.1.6", "openmpi-5.0".
    commutative
        Whether the operation commutes; asked by allreduce, reduce, reduce_scatter and reduce_scatter_block.
    itemsize
        Bytes of one element. Only "openmpi-4.0" asks, where allreduce, bcast and reduce compare the count as well.

    Raises
    ------
    UnknownNameError
        For a collective or rules that do not exist.
    QuantityError
        For P, n or itemsize that are no whole numbers in their range, or do not broadcast.

    Notes
    -----
    Source: Open MPI, coll/tuned, fixed decision functions; held against the libraries 4.1.4 and 5.0.11.
    """
    rows = _rows(choose("collective", collective, ALGORITHMS), rule_set(rules), bool(commutative))
    least = -LARGEST_COUNT if collective in _ANY_BYTES else 0
    values: dict[str, NDArray[Any]] = broadcast(P=whole("P", P, 1, LARGEST_SIZE), n=whole("n", n, least))
    values["count"] = values["n"] // whole("itemsize", itemsize, 1)
    # In double precision: the product may exceed 64 bits, and where it is compared a double holds it exactly.
    values["P n"] = np.multiply(values["P"], values["n"], dtype=np.float64)
    index = first_row(rows, values, values["P"].shape)
    names = dict([SELF]) | dict(ALGORITHMS[collective])

    def pick(column: list[Any]) -> Any:
        taken = np.array(column)[index]
        return taken if index.ndim else taken.item()

    return Selection(
        number=pick([row.number for row in rows]),
        name=pick([names[row.number] for row in rows]),
        reason=pick([row.reason for row in rows]),
        segment_bytes=pick([row.segment_bytes for row in rows]),
        fan=pick([row.fan for row in rows]),
    )


def pieces(collective: str, P: int) -> tuple[tuple[int, str], ...]:
    """Return the fixed decision of Open MPI 4.1 and 5.0 on P ranks as pieces in n: (from n bytes, name), ascending.

    Parameters
    ----------
    collective
        One of `list_collectives()`.
    P
        Ranks, at least 1.

    Raises
    ------
    UnknownNameError, QuantityError
        As `select`.
    """
    starts = {0}
    for below, cells in openmpi_4_1.TABLES.get(choose("collective", collective, ALGORITHMS), ()):
        if below is None or int(whole("P", P, 1, LARGEST_SIZE)) < below:
            starts |= {limit for limit, _ in cells if limit is not None}
            break
    names = [(n, str(select(collective, P, n).name)) for n in sorted(starts)]
    return tuple(piece for i, piece in enumerate(names) if i == 0 or piece[1] != names[i - 1][1])
