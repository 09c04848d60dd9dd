"""Times with symbols in place of numbers: the latest of several sums of messages, bytes and reduced bytes.

A time is ``max over v of v[0] alpha + v[1] beta + v[2] gamma`` for a few vectors v. Whatever alpha, beta and gamma >= 0
are, a vector that another one exceeds in every place is never the largest: it is left away.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

from orrery_analytic.networks import RendezvousTiming
from orrery_analytic.schedules import Schedule
from orrery_analytic.schedules.engine import finish_times

__all__ = ["Front", "Vector", "largest", "symbolic_time"]

Vector = tuple[Any, Any, Any]
"""How often alpha, beta and gamma are due; ints or Fractions."""

_ZERO: Vector = (0, 0, 0)


def _pareto(vectors: set[Vector]) -> tuple[Vector, ...]:
    """Return the vectors that no other one exceeds or equals in every place, the largest first."""
    kept: list[Vector] = []
    for v in sorted(vectors, reverse=True):  # what exceeds v comes before it
        if not any(u[1] >= v[1] and u[2] >= v[2] for u in kept):
            kept.append(v)
    return tuple(kept)


@dataclass(frozen=True)
class Front:
    """A symbolic time: the largest of some vectors, none of which exceeds another."""

    vectors: tuple[Vector, ...]

    def __add__(self, other: Front | int) -> Front:
        if isinstance(other, int):  # the engine's clocks start at 0
            return self
        a, b = self.vectors, other.vectors
        if len(a) > 1 and len(b) > 1:
            return Front(_pareto({(u[0] + v[0], u[1] + v[1], u[2] + v[2]) for u in a for v in b}))
        return Front(tuple([(u[0] + v[0], u[1] + v[1], u[2] + v[2]) for u in a for v in b]))

    __radd__ = __add__

    def __rmul__(self, times: int) -> Front:
        return Front(tuple([(times * u, times * v, times * w) for u, v, w in self.vectors]))


def _latest(*times: Front | int) -> Front:
    """Return the time at which all are over."""
    vectors: set[Vector] = set()
    for time in times:
        if not isinstance(time, int):
            vectors.update(time.vectors)
    return Front(_pareto(vectors) if len(vectors) > 1 else tuple(vectors or [_ZERO]))


class _SymbolicTiming(RendezvousTiming):
    latest = staticmethod(_latest)


_TIMING = _SymbolicTiming(Front(((1, 0, 0),)), Front(((0, 1, 0),)), Front(((0, 0, 1),)))


def _between(v: Vector, u: Vector, w: Vector) -> bool:
    """Return whether a point between u and w exceeds or equals v in every place, so that u or w always exceeds v."""
    least, most = Fraction(0), Fraction(1)  # of the share of w
    for at_v, at_u, at_w in zip(v, u, w, strict=True):
        if at_u == at_w:
            if at_u < at_v:
                return False
            continue
        share = Fraction(at_v - at_u) / (at_w - at_u)
        if at_w > at_u:
            least = max(least, share)
        else:
            most = min(most, share)
    return least <= most


def largest(vectors: Iterable[Vector]) -> tuple[Vector, ...]:
    """Return those of some vectors that decide a time, the largest first.

    Left away is what one other vector, or a point between two others, exceeds or equals in every place.
    """
    kept = list(_pareto(set(vectors)))
    for v in tuple(kept):
        others = [u for u in kept if u != v]
        if any(_between(v, u, w) for u, w in combinations(others, 2)):
            kept = others
    return tuple(kept)


def symbolic_time(schedule: Schedule) -> tuple[Vector, ...]:
    """Return the time of a schedule under Hockney as vectors (messages, bytes, reduced bytes), the largest first.

    Raises
    ------
    ScheduleError
        If the schedule contradicts itself.
    """
    return largest(_latest(*finish_times(schedule.P, schedule.program, _TIMING)).vectors)
