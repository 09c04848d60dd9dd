"""What really runs: Open MPI's algorithms hand over to others, at run time, where they cannot work themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from orrery_analytic.decisions.names import ALGORITHMS, SELF
from orrery_analytic.decisions.rows import Condition, all_hold
from orrery_analytic.decisions.whole import LARGEST_SIZE, Integers, broadcast, one, power_of_two_below, truth, whole
from orrery_analytic.errors import QuantityError, choose, unknown_name
from orrery_analytic.units import shown

__all__ = ["NOTHING", "SUBSTITUTIONS", "UNSUPPORTED", "WITHOUT_ELEMENTS", "really", "runs"]

_FEWER_THAN_RANKS = Condition("count", "<", slope=1, of="P")
_FEWER_THAN_POWER = Condition("count", "<", slope=1, of="power of two")
_NON_COMMUTATIVE = Condition("commutative", "==", 0)
_LONGER_THAN_INT = Condition("P count", ">", 2**31 - 1)

#: (collective, algorithm, where, what runs instead), in the order in which they follow one another.
SUBSTITUTIONS: tuple[tuple[str, str, Condition, str], ...] = (
    ("allgather", "recursive_doubling", Condition("P", "is no power of two"), "bruck"),
    ("allgather", "neighbor", Condition("P", "is odd"), "ring"),
    ("allgatherv", "neighbor", Condition("P", "is odd"), "ring"),
    ("allreduce", "segmented_ring", Condition("count", "<", slope=1, of="P segment"), "ring"),
    ("allreduce", "ring", _FEWER_THAN_RANKS, "recursive_doubling"),
    ("allreduce", "rabenseifner", _FEWER_THAN_POWER, "basic_linear"),
    ("allreduce", "rabenseifner", _NON_COMMUTATIVE, "basic_linear"),
    ("bcast", "scatter_allgather", _FEWER_THAN_RANKS, "basic_linear"),
    ("bcast", "scatter_allgather_ring", _FEWER_THAN_RANKS, "basic_linear"),
    # A chain of fan-out 1 whatever the fan: that is the pipeline.
    ("bcast", "split_binary_tree", Condition("count", "<", 2), "pipeline"),
    ("bcast", "split_binary_tree", Condition("asked segment", ">", slope=1, of="half"), "pipeline"),
    ("bcast", "chain", Condition("fan", "<=", 1), "pipeline"),
    ("reduce", "rabenseifner", _FEWER_THAN_POWER, "linear"),
    ("reduce", "rabenseifner", _NON_COMMUTATIVE, "linear"),
    ("reduce", "chain", Condition("fan", "<=", 1), "pipeline"),
    ("reduce_scatter_block", "recursive_doubling", _LONGER_THAN_INT, "basic_linear"),
    ("reduce_scatter_block", "recursive_halving", _NON_COMMUTATIVE, "basic_linear"),
)

#: What runs where MPI returns before it asks for an algorithm, and where it returns MPI_ERR_UNSUPPORTED_OPERATION.
NOTHING, UNSUPPORTED = "none", "unsupported"

#: Algorithms that exist at one number of ranks alone.
_ONLY_AT = {SELF[1]: 1, "two_proc": 2}

#: Collectives that a call without elements does not reach.
WITHOUT_ELEMENTS = frozenset(ALGORITHMS) - {"alltoallv", "barrier"}


def runs(
    collective: str,
    algorithm: ArrayLike,
    P: ArrayLike,
    count: ArrayLike,
    commutative: bool = True,
    segment_bytes: ArrayLike = 0,
    fan: ArrayLike = 0,
    itemsize: int = 4,
) -> str | NDArray[np.str_]:
    """Return the name of the algorithm that really runs where Open MPI was told, or chose, to take `algorithm`.

    Algorithms made of other collectives (allreduce "nonoverlapping", allgather "linear", ...) keep their name. Calls
    in place are not looked at (alltoall then runs a loop of its own).

    Parameters
    ----------
    collective
        One of `list_collectives()`.
    algorithm
        Number or name, or an array of either, such as `select(...).number`.
    P
        Ranks, at least 1; on one rank "self" runs whatever was chosen.
    count
        Elements, as the call passes them: of the vector for allreduce, bcast and reduce; of one block for allgather,
        alltoall, gather, scatter and reduce_scatter_block.
    commutative
        Whether the operation commutes.
    segment_bytes, fan
        What is passed to the algorithm: bytes a segment (0: one segment), children of the root of a chain. The fixed
        decision passes 0 for both (from 2.1 to 4.0, `select(...).segment_bytes`).
    itemsize
        Bytes of one element; matters with `segment_bytes`.

    Returns
    -------
    str or array of str
        An array where any of algorithm, P, count, segment_bytes, fan is one.

    Raises
    ------
    UnknownNameError
        For a collective or an algorithm that does not exist.
    QuantityError
        For numbers out of range; for "two_proc" on other than two ranks, where the library returns
        MPI_ERR_UNSUPPORTED_OPERATION.

    Notes
    -----
    Source: Open MPI, coll/base and coll/tuned, 4.1 and 5.0.
    """
    choose("collective", collective, ALGORITHMS)
    values = broadcast(
        algorithm=_names(collective, algorithm),
        P=whole("P", P, 1, LARGEST_SIZE),
        count=whole("count", count),
        fan=whole("fan", fan),
        segment_bytes=whole("segment_bytes", segment_bytes),
    )
    names = np.where(values["P"] == 1, SELF[1], values.pop("algorithm"))
    for name, only in _ONLY_AT.items():
        misplaced = values["P"][(names == name) & (values["P"] != only)]
        if misplaced.size:
            raise QuantityError(f"{collective} {name!r} on P = {misplaced[0]}: it is allowed on P = {only} alone.")
    size = np.asarray(one("itemsize", itemsize, 1))
    names = _substituted(collective, names, values, truth("commutative", commutative), size)
    return names if names.ndim else str(names)


def really(
    collective: str,
    names: NDArray[np.str_],
    values: dict[str, NDArray[Any]],
    commutative: bool,
    itemsize: Integers,
) -> NDArray[np.str_]:
    """Return what comes of a call, as `runs`, also where no algorithm runs.

    Parameters
    ----------
    collective, commutative, itemsize
        As in `runs`.
    names
        Of the chosen algorithms.
    values
        P, count, segment_bytes and fan, all of the shape of the names.

    Returns
    -------
    array of str
        Names of algorithms; "none" where MPI returns at once, as there are no elements; "unsupported" where it returns
        MPI_ERR_UNSUPPORTED_OPERATION.
    """
    ranks = values["P"]
    names = np.where((names == "two_proc") & (ranks != _ONLY_AT["two_proc"]), UNSUPPORTED, names)
    names = _substituted(collective, np.where(ranks == 1, SELF[1], names), values, commutative, itemsize)
    if collective in WITHOUT_ELEMENTS:
        names = np.where((values["count"] == 0) & (ranks > 1), NOTHING, names)
    return names


def _substituted(
    collective: str,
    names: NDArray[np.str_],
    given: dict[str, NDArray[Any]],
    commutative: bool,
    itemsize: Integers,
) -> NDArray[np.str_]:
    """Return the names of the algorithms that others hand over to."""
    ranks, count = given["P"], given["count"]
    segment = _segment(count, given["segment_bytes"], itemsize)
    values = {
        **given,
        "commutative": np.asarray(bool(commutative)),
        "power of two": power_of_two_below(ranks),
        "half": count // 2,
        "asked segment": -(-given["segment_bytes"] // itemsize),
        # In double precision: the products may exceed 64 bits, and where they are compared a double holds them exactly.
        "P count": np.multiply(ranks, count, dtype=np.float64),
        "P segment": np.multiply(ranks, segment, dtype=np.float64),
    }
    for where, name, condition, instead in SUBSTITUTIONS:
        if where == collective:
            names = np.where((names == name) & all_hold((condition,), values, names.shape), instead, names)
    return names


def _segment(count: Integers, segment_bytes: Integers, itemsize: Integers) -> Integers:
    """Return the elements of one segment: those that fill it, to the nearest; all where it holds all or none."""
    fitting, left = segment_bytes // itemsize, segment_bytes % itemsize
    splits = (fitting >= 1) & (fitting < count)
    return np.where(splits, fitting + (left > (itemsize >> 1)), count)


def _names(collective: str, algorithm: ArrayLike) -> NDArray[np.str_]:
    """Return the names of algorithms that are given by number or by name."""
    try:
        given = np.asarray(algorithm)
    except (RuntimeError, TypeError, ValueError):
        raise unknown_name(f"{collective} algorithm", shown(algorithm), _numbered(collective)) from None
    if given.dtype.kind in "OV":  # what holds anything may not even be comparable
        distinct, places = given.ravel(), np.arange(given.size)
    else:
        distinct, places = np.unique(given, return_inverse=True)
    names = np.array([_name(collective, item) for item in distinct.tolist()], dtype=np.str_)
    return names[places].reshape(given.shape)


def _name(collective: str, given: object) -> str:
    known = ALGORITHMS[collective]
    if isinstance(given, str):
        return choose(f"{collective} algorithm", given, [*known.values(), SELF[1]])
    if isinstance(given, int) and not isinstance(given, bool) and (given in known or given == SELF[0]):
        return known.get(given, SELF[1])
    raise unknown_name(f"{collective} algorithm", given, _numbered(collective))


def _numbered(collective: str) -> list[str]:
    return [f"{number} {name}" for number, name in ALGORITHMS[collective].items()]
