"""`schedule`: what the library sends when an algorithm is asked for, its run-time substitutions included."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from numbers import Integral
from typing import Any

from orrery_analytic.collectives.algorithm import Algorithm, Call
from orrery_analytic.collectives.registry import COMPOSED, Part, beyond_openmpi, find, resolve
from orrery_analytic.decisions import runs, select
from orrery_analytic.decisions.whole import LARGEST_COUNT, LARGEST_SIZE, truth
from orrery_analytic.errors import QuantityError, shown
from orrery_analytic.schedules import Schedule
from orrery_analytic.schedules.operations import Operation, Program, shifted
from orrery_analytic.units import in_si

__all__ = ["schedule"]

_COUNTLESS = ("barrier", "alltoallv")  # these send messages of no bytes


def _whole(name: str, value: Any, least: int, most: int = LARGEST_COUNT) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool) or not least <= int(value) <= most:
        raise QuantityError(f"{name} must be a whole number from {least} to {most}, but {shown(value)} was given.")
    return int(value)


def _nothing(rank: int) -> Iterator[Operation]:
    return iter(())


def schedule(
    collective: str,
    algorithm: str,
    P: int,
    count: int = 1,
    itemsize: int = 4,
    root: int = 0,
    segment_bytes: int = 0,
    fan: int | None = None,
    radix: int | None = None,
    ranks_per_node: int = 1,
    commutative: bool = True,
) -> Schedule:
    """Return the messages and reductions of a collective on P ranks, in each rank's program order.

    Parameters
    ----------
    collective, algorithm : str
        Open MPI's names (see `list_collectives`, `list_algorithms`).
    P : int
        Number of ranks. On one rank nothing is sent.
    count : int
        Elements, as the MPI call passes them; of no meaning for a barrier. No element, no message, but for alltoallv.
    itemsize : int
        Bytes of an element.
    root : int
        Where the collective has one.
    segment_bytes : int or text with a unit
        Bytes of a segment, also "64 KiB", rounded to whole elements as the library does; 0 is one segment.
    fan, radix : int, optional
        Chains below the root of "chain" (1 unless given); radix of "knomial" (4 unless given).
    ranks_per_node : int
        Ranks of a node, in blocks, for "two_level_" algorithms; the last node may have fewer.
    commutative : bool
        Whether the operation commutes: if not, some algorithms hand over to others, and parts are decided otherwise.

    Returns
    -------
    Schedule
        Of what really runs: where the library takes another algorithm at run time (recursive doubling of allgather on
        12 ranks runs Bruck), this is that one. Algorithms made of other collectives ("nonoverlapping", allgather
        "linear", ...) take for these what openmpi-4.1 decides.

    Raises
    ------
    UnknownNameError
        For a collective or an algorithm that is not there.
    QuantityError
        For numbers out of range, and for an algorithm that does not exist on P ranks: "two_proc" is for two, "bine_"
        for powers of two.
    """
    P = _whole("P", P, 1, LARGEST_SIZE)
    call = Call(
        P,
        _whole("count", count, 0),
        _whole("itemsize", itemsize, 1),
        _whole("root", root, 0, P - 1),
        _whole("segment_bytes", in_si(segment_bytes, "B", "segment_bytes"), 0),
        _whole("fan", 1 if fan is None else fan, 1),
        _whole("radix", 4 if radix is None else radix, 2),
        _whole("ranks_per_node", ranks_per_node, 1),
        truth("commutative", commutative),
    )
    if resolve(collective, algorithm) not in COMPOSED:
        find(collective, algorithm)  # an unknown name is an error on one rank too
    title = f"{collective} {algorithm}"
    if P == 1 or (count == 0 and collective not in _COUNTLESS):
        return Schedule(P, _nothing, title)
    return Schedule(P, _program(collective, algorithm, call), title)


def _program(collective: str, algorithm: str, call: Call) -> Program:
    at = resolve(collective, algorithm)
    if at in COMPOSED:
        return _composed(COMPOSED[at], call, call.P if collective == "reduce_scatter" else 1)
    if beyond_openmpi(algorithm):
        return _other(find(collective, algorithm), call)
    really = runs(
        collective,
        algorithm,
        call.P,
        call.count,
        commutative=call.commutative,
        segment_bytes=call.segment_bytes,
        fan=call.fan,
        itemsize=call.itemsize,
    )
    if resolve(collective, str(really)) in COMPOSED:
        return _program(collective, str(really), call)
    return find(collective, str(really)).program(call)


def _other(algorithm: Algorithm, call: Call) -> Program:
    if not algorithm.exists(call.P):
        raise QuantityError(
            f"{algorithm.collective} {algorithm.name!r} on P = {call.P}: it is allowed on {algorithm.only_at} alone."
        )
    return algorithm.program(call)


def _composed(parts: tuple[Part, ...], call: Call, counts: int) -> Program:
    """Return one collective after another, each decided at its size; the vector of the whole has `counts` counts."""
    programs: list[Program] = []
    start = 0
    for part in parts:
        nbytes = part.size(call.P, counts * call.count * call.itemsize)
        itemsize = part.itemsize(nbytes, call.itemsize)
        chosen = part.algorithm or str(select(part.collective, call.P, nbytes, commutative=call.commutative).name)
        own = Call(call.P, nbytes // itemsize, itemsize, commutative=call.commutative)
        program = _program(part.collective, chosen, own)
        programs.append(shifted(program, start))
        start += len(Schedule(call.P, program).rounds())
    return lambda rank: chain.from_iterable(program(rank) for program in programs)
