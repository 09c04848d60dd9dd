"""The two bandwidths of nccl-tests and rccl-tests: their exact factors, and the size the tools use for a requested one.

Both are arithmetic on a size and a time, made after the run: no link and no counter is read. GB is 10^9 bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from orrery_analytic.decisions.whole import LARGEST_COUNT, LARGEST_SIZE, broadcast, whole
from orrery_analytic.errors import QuantityError, choose, unknown_name
from orrery_analytic.units import holds_truth, in_si, shown, to_si

__all__ = [
    "BLOCKWISE",
    "FACTORS",
    "bus_bandwidth",
    "bus_factor",
    "canonical",
    "nccl_message_size",
    "seconds_at_bus_bandwidth",
]


def _two_phases(ranks: Any) -> Any:
    return 2 * (ranks - 1) / ranks


def _one_phase(ranks: Any) -> Any:
    return (ranks - 1) / ranks


def _whole_payload(ranks: Any) -> Any:
    return ranks / ranks


#: busbw = algbw * factor(P), by collective.
FACTORS: dict[str, Callable[[Any], Any]] = {
    "allgather": _one_phase,
    "allreduce": _two_phases,
    "alltoall": _one_phase,
    "alltoallv": _one_phase,
    "bcast": _whole_payload,
    "gather": _one_phase,
    "hypercube": _whole_payload,
    "p2p": _whole_payload,
    "reduce": _whole_payload,
    "reduce_scatter": _one_phase,
    "reduce_scatter_block": _one_phase,
    "scatter": _one_phase,
}
# What algbw divides by the time: the printed size, but for one test.
_PAYLOADS = {"hypercube": _one_phase}

#: Collectives whose printed size is P blocks, so that it is rounded to whole blocks.
BLOCKWISE = frozenset(
    {"allgather", "alltoall", "gather", "hypercube", "reduce_scatter", "reduce_scatter_block", "scatter"}
)
# Of these, rccl-tests rounds the block down to four elements.
_FOUR_ELEMENTS = frozenset({"allgather", "hypercube", "reduce_scatter", "reduce_scatter_block"})
_ALIGNMENT_BYTES = 16
_ALIGNED_SINCE = (2, 13, 12)
_SUFFIX = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}

_SPELLINGS = {re.sub("[^a-z0-9]", "", name): name for name in FACTORS} | {"broadcast": "bcast", "sendrecv": "p2p"}


def canonical(name: object) -> str:
    """Return this package's name of a collective as NCCL people spell it: all_reduce_perf, AllReduce, Broadcast.

    Raises
    ------
    UnknownNameError
        With the nearest right spelling.
    """
    if isinstance(name, str) and len(name) <= 100:
        flat = re.sub("[^a-z0-9]", "", name.lower())
        found = _SPELLINGS.get(flat) or _SPELLINGS.get(re.sub("(?:perf|test)$", "", flat))
        if found:
            return found
    raise unknown_name("collective", name if isinstance(name, str) else shown(name), FACTORS)


def bus_factor(collective: str, ranks: int | sp.Expr) -> Any:
    """Return busbw / algbw, exactly: 2(P-1)/P, (P-1)/P or 1.

    Parameters
    ----------
    collective
        "allreduce", "allgather", "bcast" ..., or as NCCL spells it ("all_reduce", "Broadcast", "sendrecv").
    ranks
        P: a whole number, at least 1, or a SymPy expression.

    Returns
    -------
    Fraction, or a SymPy expression for one

    Raises
    ------
    UnknownNameError, QuantityError

    Notes
    -----
    The factor counts what a ring would send per rank; the tools apply it whichever algorithm ran. Source: nccl-tests
    2.13.0 to 2.19.6 and rccl-tests of 2024, `GetBw`.
    """
    factor = FACTORS[canonical(collective)]
    if isinstance(ranks, sp.Expr) and not ranks.is_number:
        return sp.sympify(factor(ranks))
    given = whole("ranks", int(ranks) if isinstance(ranks, sp.Integer) else ranks, 1, LARGEST_SIZE)
    if given.ndim:
        raise QuantityError(f"ranks = {shown(ranks)}: an exact factor takes one whole number of ranks.")
    return Fraction(factor(Fraction(int(given))))


def _si(name: str, value: object, unit: str, positive: bool) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return a quantity, or an array of numbers in SI, as floats that are finite and not negative."""
    value = in_si(value, unit, name)
    if np.ndim(np.asarray(value, dtype=object)) == 0:
        return np.asarray(to_si(value, unit, name, positive=positive))
    try:
        array = np.asarray(value)
    except ValueError:
        array = np.asarray(None)
    if array.dtype.kind not in "iuf" or holds_truth(value):
        raise QuantityError(f"{name} = {shown(value)}: allowed are numbers in {unit}.")
    wrong = ~(np.isfinite(array) & (array >= 0)) | ((array == 0) & positive)
    if wrong.any():
        limit = "more than zero" if positive else "at least zero"
        raise QuantityError(f"{name} = {array[wrong].flat[0].item()!r}: allowed are finite numbers in {unit}, {limit}.")
    return array.astype(np.float64)


def _plain(array: Any) -> Any:
    """Return an array, or the number that it is; refuse what no double holds."""
    if np.isinf(array).any():
        raise QuantityError("the result is above 1.8e308, which no number here holds. Allowed: less extreme arguments.")
    return array if array.ndim else array.item()


def bus_bandwidth(collective: str, nbytes: Any, seconds: Any, ranks: Any) -> tuple[Any, Any]:
    """Return algbw = nbytes / seconds and busbw = algbw * `bus_factor`, as nccl-tests reports them.

    Parameters
    ----------
    collective
        "allreduce", "allgather", "bcast" ..., or as NCCL spells it.
    nbytes
        Bytes as nccl-tests prints them in its column size: the total. A number or text ("64 MiB"), or an array of them.
    seconds
        Time of one operation, above zero: a number or text ("859.71 us"), or an array of them.
    ranks
        P, at least 1. With one rank busbw is 0 where the factor is.

    Returns
    -------
    tuple of float or ndarray
        algbw and busbw in bytes per second, broadcast together.

    Raises
    ------
    UnknownNameError, QuantityError

    Notes
    -----
    busbw is no reading of a bus: with NVLink SHARP, trees between two nodes, or several links at work it may exceed
    what one link carries. The test hypercube alone divides (P-1)/P of its printed size by the time.
    """
    name = canonical(collective)
    values = broadcast(
        nbytes=_si("nbytes", nbytes, "B", False),
        seconds=_si("seconds", seconds, "s", True),
        ranks=whole("ranks", ranks, 1, LARGEST_SIZE).astype(np.float64),
    )
    with np.errstate(over="ignore"):
        algbw = values["nbytes"] * _PAYLOADS.get(name, _whole_payload)(values["ranks"]) / values["seconds"]
        busbw = algbw * FACTORS[name](values["ranks"])
    return _plain(algbw), _plain(busbw)


def seconds_at_bus_bandwidth(collective: str, nbytes: Any, busbw: Any, ranks: Any) -> Any:
    """Return the time of an operation that nccl-tests would report with this busbw: the inverse of `bus_bandwidth`.

    Parameters
    ----------
    collective, nbytes, ranks
        As for `bus_bandwidth`.
    busbw
        Bytes per second, above zero: a number or text ("117.09 GB/s"), or an array of them.

    Returns
    -------
    float or ndarray
        Seconds.

    Raises
    ------
    UnknownNameError
    QuantityError
        Also for one rank, where the factor is 0 and busbw says nothing of the time.
    """
    name = canonical(collective)
    values = broadcast(
        nbytes=_si("nbytes", nbytes, "B", False),
        busbw=_si("busbw", busbw, "B/s", True),
        ranks=whole("ranks", ranks, 1, LARGEST_SIZE).astype(np.float64),
    )
    factor = FACTORS[name](values["ranks"]) * _PAYLOADS.get(name, _whole_payload)(values["ranks"])
    if (factor == 0).any():
        raise QuantityError(f"ranks = 1: busbw of {name} is 0 whatever the time. Allowed: at least 2.")
    with np.errstate(over="ignore"):
        seconds = values["nbytes"] * factor / values["busbw"]
    return _plain(seconds)


def _version(version: object) -> tuple[int, ...]:
    found = re.match(r"v?(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?(?![\w.])", version) if isinstance(version, str) else None
    if not found:
        raise QuantityError(f"version = {shown(version)}: allowed is text such as '2.19.5'.")
    return tuple(int(part or 0) for part in found.groups())


def _requested(value: object) -> Any:
    """Return bytes; text is read as -b and -e read it, K, M and G being powers of 1024."""
    if not isinstance(value, str):
        return value
    found = re.fullmatch(r"\s*(\d{1,16}(?:\.\d{1,16})?)\s*([KMGkmg]?)\s*", value[:60])
    if not found:
        raise QuantityError(
            f"requested_bytes = {shown(value)}: allowed are numbers, and text as -b takes it: '64M' (64 MiB), '1.5G'."
        )
    return int(Fraction(found[1]) * _SUFFIX[found[2].upper()])


def nccl_message_size(
    collective: str,
    requested_bytes: Any,
    ranks: Any,
    itemsize: Any,
    tool: str = "nccl-tests",
    version: str = "2.19.5",
) -> Any:
    """Return the bytes that the tool reports, and really uses, where so many were asked for.

    c = floor(requested / itemsize) elements. Where every rank has its own block, a block is b = floor(c / P) elements
    (nccl-tests since 2.13.12: rounded down to 16 bytes) and the tool prints P * b * itemsize; else c * itemsize.

    Parameters
    ----------
    collective
        Any but alltoallv, whose size depends on its pattern.
    requested_bytes
        A whole number, an array of them, or text as -b takes it ("64M" is 64 MiB).
    ranks, itemsize
        Whole numbers, at least 1; itemsize is 1, 2, 4 or 8.
    tool
        "nccl-tests", or "rccl-tests": blocks of four elements for allgather, reduce_scatter and hypercube, any others.
    version
        Of nccl-tests, as it prints it. rccl-tests prints a commit: the rule is that of 2024 whatever stands here.

    Returns
    -------
    int, or an array of them

    Raises
    ------
    UnknownNameError, QuantityError

    Notes
    -----
    Source: `GetCollByteCount` of nccl-tests 2.13.0 to 2.19.6 and rccl-tests of 2024.
    """
    name = canonical(collective)
    if name == "alltoallv":
        raise unknown_name("collective whose size follows from these arguments", collective, set(FACTORS) - {name})
    choose("tool", tool, ("nccl-tests", "rccl-tests"))
    release = _version(version)
    values = broadcast(
        requested=whole("requested_bytes", _requested(requested_bytes), 0, LARGEST_COUNT),
        ranks=whole("ranks", ranks, 1, LARGEST_SIZE),
        itemsize=whole("itemsize", itemsize, 1, 8),
    )
    size = values["itemsize"]
    if not np.isin(size, (1, 2, 4, 8)).all():
        raise QuantityError(f"itemsize = {shown(itemsize)}: allowed are 1, 2, 4 and 8 bytes.")
    count = values["requested"] // size
    if name not in BLOCKWISE:
        return _plain(count * size)
    step: Any = 1
    if tool == "nccl-tests" and release >= _ALIGNED_SINCE:
        step = _ALIGNMENT_BYTES // size
    elif name == "hypercube" or (tool == "rccl-tests" and name in _FOUR_ELEMENTS):
        step = 4
    return _plain(count // values["ranks"] // step * step * values["ranks"] * size)
