"""What a rule file could tell the library to take, what then runs, and what that costs: all candidates at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from orrery_analytic.collectives.registry import COMPOSED, beyond_openmpi, find, list_algorithms, resolve
from orrery_analytic.decisions.names import ALGORITHMS, SELF
from orrery_analytic.decisions.openmpi_4_1 import NON_COMMUTATIVE
from orrery_analytic.decisions.substitutions import SUBSTITUTIONS, _segment
from orrery_analytic.decisions.whole import LARGEST_SIZE, broadcast, power_of_two_below, truth, whole
from orrery_analytic.errors import QuantityError, choose
from orrery_analytic.selection.plans import Plan
from orrery_analytic.selection.setting import Prices, Setting
from orrery_analytic.units import in_si, shown

if TYPE_CHECKING:
    from orrery_analytic.machines import Machine

__all__ = ["FANS", "RADICES", "SEGMENTS", "Told", "candidates", "each", "seconds_of", "tell"]

SEGMENTS = (0, 1024, 8192, 32768, 65536, 131072, 1048576)
"""Segment sizes that are tried, in bytes: those that Open MPI's own rules have had; 0 is one segment."""

FANS = (4,)
"""Numbers of chains below the root that are tried: Open MPI's default."""

RADICES = (4,)
"""Radices of a k-nomial tree that are tried: Open MPI's default, which a rule file cannot change."""

#: Came with Open MPI 5.0: to a library of 4.1, its number is an error.
_NOT_EVERYWHERE = ("sparbit",)


def candidates(
    collective: str,
    names: Sequence[str] | None = None,
    segment_bytes: Sequence[int] = SEGMENTS,
    fan: Sequence[int] = FANS,
    radix: Sequence[int] = RADICES,
    commutative: bool = True,
) -> list[Plan]:
    """Return the plans that the library could be told to take, in the order of its numbers.

    Parameters
    ----------
    collective : str
    names : sequence of str, optional
        Algorithms of `list_algorithms`; unless given, those that every release from 4.1 on has a number for. Those
        beyond Open MPI ("mpich_", "bine_", "two_level_") are candidates where they are named.
    segment_bytes : sequence of int
        Bytes of a segment, or sizes ("64 KiB"), for algorithms that are segmented; 0 is one segment.
    fan : sequence of int
        Chains below the root, for "chain"; with one it is the pipeline.
    radix : sequence of int
        For "knomial".
    commutative : bool
        Where the operation does not commute, unless named, only algorithms that Open MPI itself takes then.

    Raises
    ------
    UnknownNameError
        For a name that is not there.
    QuantityError
        For numbers out of range.
    """
    known = list_algorithms(collective)
    if names is None:
        offered = known if truth("commutative", commutative) else _in_order(collective)
        names = [name for name in offered if not beyond_openmpi(name) and name not in _NOT_EVERYWHERE]
    else:
        given = names
        names = [] if isinstance(given, str | bytes | Mapping) or not np.iterable(given) else list(given)
        if not names:
            raise QuantityError(f"candidates must be a sequence of names of algorithms, but {shown(given)} was given.")
    segments, fans, radices = each("segment_bytes", segment_bytes, 0), each("fan", fan, 1), each("radix", radix, 2)
    found = []
    for name in names:
        choose(f"{collective} algorithm", name, known)
        segmented = resolve(collective, name) not in COMPOSED and find(collective, name).segmented
        options = (
            segments if segmented else (0,),
            fans if name == "chain" else (0,),
            radices if name == "knomial" else (0,),
        )
        found += [Plan(name, segment, (), chains, base) for segment, chains, base in product(*options)]
    return list(dict.fromkeys(found))


def _in_order(collective: str) -> list[str]:
    """Return the algorithms that Open MPI takes where the operation does not commute; others may reorder."""
    numbers = {number for _, cells in NON_COMMUTATIVE.get(collective, ()) for _, number in cells}
    names = [ALGORITHMS[collective][number] for number in sorted(numbers)]
    return names or list_algorithms(collective)


def each(name: str, values: Iterable[int], least: int) -> list[int]:
    """Return whole numbers that are to be tried, each once."""
    numbers = in_si(values, "B", name) if name == "segment_bytes" else values
    found = np.atleast_1d(whole(name, numbers, least)).ravel().tolist()
    if not found:
        raise QuantityError(f"{name} must have at least one number.")
    return list(dict.fromkeys(found))


class Told:
    """What happens where the library is told to take each of some candidates.

    Attributes
    ----------
    plans : list of Plan
        All that can really run.
    seconds : array (candidates, *shape of P and n)
        What it costs; NaN where there is no such algorithm, or no formula.
    runs : array of int, like seconds
        What really runs, as places in `plans`.
    substituted : array of bool, like seconds
        Whether another algorithm stands in for the candidate.
    """

    def __init__(self, prices: Prices, told: Sequence[Plan]) -> None:
        shape = (len(told), *prices.shape)
        self.plans: list[Plan] = []
        self.seconds = np.full(shape, np.nan)
        self.runs = np.zeros(shape, dtype=np.int32)
        self.substituted = np.zeros(shape, dtype=bool)
        for i, plan in enumerate(told):
            for where, real in tell(prices, plan):
                self.seconds[i, where] = prices.everywhere(real) if where is ... else prices.at(real, where)
                self.runs[i, where] = self.place(real)
                self.substituted[i, where] = real.algorithm not in (plan.algorithm, SELF[1])

    def place(self, plan: Plan) -> int:
        """Return the place of a plan, which it takes now if it has none yet."""
        if plan not in self.plans:
            self.plans.append(plan)
        return self.plans.index(plan)


def tell(prices: Prices, plan: Plan) -> list[tuple[Any, Plan]]:
    """Return what runs where the library is told to take a plan: pairs of a mask (... is everywhere) and a plan."""
    setting = prices.setting
    instead = [new for where, old, _, new in SUBSTITUTIONS if (where, old) == (setting.collective, plan.algorithm)]
    if any(resolve(setting.collective, name) in COMPOSED for name in (plan.algorithm, *instead)):
        _, index, found = setting.plans(prices.P, prices.n, plan.algorithm)
        return [(index == i, real) for i, real in enumerate(found)]
    if not instead and prices.P.min() > 1:
        return [(..., plan)]
    return [
        (where, plan if name == plan.algorithm else _instead(setting.collective, plan, name))
        for name, where in _handed_over(setting, plan, prices).items()
    ]


def _handed_over(setting: Setting, plan: Plan, prices: Prices) -> dict[str, np.ndarray]:
    """Return for each name that may run in place of a plan, its own among them, where it does.

    As `runs`, which works with arrays of names: too slow for maps.
    """
    ranks, count, itemsize = prices.P, -(-prices.n // setting.itemsize), setting.itemsize
    segment = _segment(count, np.asarray(plan.segment_bytes), np.asarray(itemsize))
    values: dict[str, Any] = {
        "P": ranks,
        "count": count,
        "fan": np.int64(plan.fan),
        "commutative": np.bool_(setting.commutative),
        "power of two": power_of_two_below(ranks),
        "half": count // 2,
        "asked segment": np.int64(-(-plan.segment_bytes // itemsize)),
        "P count": np.multiply(ranks, count, dtype=np.float64),
        "P segment": np.multiply(ranks, segment, dtype=np.float64),
    }
    found = {SELF[1]: np.broadcast_to(ranks == 1, prices.shape)}
    found[plan.algorithm] = ~found[SELF[1]]
    for where, old, condition, new in SUBSTITUTIONS:
        if where == setting.collective and old in found:
            moved = found[old] & condition.holds(values)
            found[new] = found.get(new, False) | moved
            found[old] = found[old] & ~moved
    return found


def _instead(collective: str, plan: Plan, name: str) -> Plan:
    """Return the plan of an algorithm that stands in: with the same segments, where it has any."""
    segmented = name != SELF[1] and find(collective, name).segmented
    return Plan(name, plan.segment_bytes if segmented else 0)


def seconds_of(
    machine: Machine | str, collective: str, told: Sequence[Plan], P: Any, n: Any, **options: Any
) -> np.ndarray:
    """Return what a collective costs where the library is told to take each of some plans: one matrix, in seconds.

    What counts is what really runs: where the library hands over to another algorithm, the seconds are that one's, and
    a composed algorithm has the parts that the rules decide.

    Parameters
    ----------
    machine : Machine or str
        A machine, or the name or path of its file.
    collective : str
    told : sequence of Plan
        What the library is told, such as those of `candidates`: algorithm, segment size, fan.
    P, n : arrays of whole numbers that broadcast
        Ranks, and bytes or sizes with units as in `predict`.
    **options
        rules, buffers, network, transport, staging, itemsize and commutative of `predict`, and keys of the machine
        file with one value each.

    Returns
    -------
    array of shape (len(told), *shape of P and n)
        NaN where there is no such algorithm for that P, or no formula.

    Raises
    ------
    UnknownNameError
        For a name that is not there, or a symbol that the machine file has no number for.
    QuantityError
        For numbers out of range.
    """
    setting = Setting.of(machine, collective, **options)
    told = list(told) if isinstance(told, Iterable) else [told]
    if not all(isinstance(plan, Plan) for plan in told):
        raise QuantityError(f"told must be a sequence of Plan, such as that of `candidates`, not {shown(told)}.")
    for plan in told:
        choose(f"{collective} algorithm", plan.algorithm, list_algorithms(collective))
    grid = {"P": whole("P", P, 1, LARGEST_SIZE), "n": whole("n", in_si(n, "B", "n"))}
    broadcast(**grid)
    return Told(Prices(setting, **grid), told).seconds
