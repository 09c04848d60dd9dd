"""Whole fragments: what a pipeline of real fragments takes, the last one shorter, and the best size in whole bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from numbers import Rational, Real
from typing import Any, NamedTuple

import sympy as sp

from orrery_analytic.decisions.whole import whole
from orrery_analytic.errors import QuantityError, UnknownNameError
from orrery_analytic.gpu.pipeline import Stage, checked_stages
from orrery_analytic.symbols import describe
from orrery_analytic.units import is_finite, shown

__all__ = ["BestFragment", "best_fragment", "fragments_time"]

_MOST = 20_000


class BestFragment(NamedTuple):
    """The best fragment: its bytes, how many fragments that makes, and the time in seconds."""

    nbytes: int
    fragments: int
    seconds: float


def fragments_time(line: Sequence[tuple[str, Any, Any]], nbytes: int, fragment: int) -> Any:
    """Return the exact time of whole fragments through the stages, the last one with what remains.

    The makespan of a flow shop: all fragments but the last are alike, so that the critical path changes from stage to
    stage at the slowest one, and meets the last fragment at the stage j for which the whole is longest:
    max_j of sum_{k <= j} p_k + (m - 2) max_{k <= j} p_k + sum_{k >= j} q_k, with m fragments, p_k the time of a full
    one in stage k and q_k that of the last.

    Parameters
    ----------
    line : sequence of (name, latency, time a byte)
        Numbers: seconds, and seconds a byte. Fractions make it exact.
    nbytes, fragment : int
        Bytes, at least 1.

    Source: derived.
    """
    count = -(-nbytes // fragment)
    last = nbytes - (count - 1) * fragment
    ends = [a + last * b for _, a, b in line]
    if count == 1:
        return sum(ends)
    full = [a + fragment * b for _, a, b in line]
    return max(sum(full[: j + 1]) + (count - 2) * max(full[: j + 1]) + sum(ends[j:]) for j in range(len(line)))


def _number(e: Any, values: Mapping[str, Any]) -> Fraction:
    """Return a parameter of a stage as an exact fraction."""
    expression = sp.sympify(e)
    missing = sorted(s.name for s in expression.free_symbols if s.name not in values)
    if missing:
        told = "; ".join(f"{name} ({describe(name).told})" for name in missing)
        raise UnknownNameError(f"no value was given for {told}.")
    given = {s: _exact(s.name, values[s.name]) for s in expression.free_symbols}
    if expression in given:
        return given[expression]
    value = expression.subs({s: sp.Rational(v.numerator, v.denominator) for s, v in given.items()})
    return _exact("a latency or a time a byte of a stage", float(value) if value.is_real else value)


def _exact(name: str, value: Any) -> Fraction:
    """Return a finite number of at least 0 as a fraction."""
    if not isinstance(value, Real) or isinstance(value, bool) or not is_finite(value) or value < 0:
        raise QuantityError(f"{name} must be a finite number, not negative, but {shown(value)} was given.")
    return Fraction(value) if isinstance(value, Rational) else Fraction(float(value))


def _least(line: Sequence[Stage], nbytes: int, count: int) -> tuple[Any, int] | None:
    """Return the least time with `count` >= 2 fragments and its fragment size; None where no size makes so many."""
    low = -(-nbytes // count)
    high = -(-nbytes // (count - 1)) - 1
    if low > high:
        return None
    while low < high:  # the time is convex in the size: a maximum of straight lines
        middle = (low + high) // 2
        if fragments_time(line, nbytes, middle) <= fragments_time(line, nbytes, middle + 1):
            high = middle
        else:
            low = middle + 1
    return fragments_time(line, nbytes, low), low


def best_fragment(machine: Any, nbytes: int, line: tuple[Stage, ...] | None = None) -> BestFragment:
    """Return the whole number of bytes a fragment that moves a message soonest, for given numbers.

    Every number of fragments is tried for which some stage alone would not take longer than the best so far.

    Parameters
    ----------
    machine : Machine, or mapping of symbol name to number
        SI units.
    nbytes : int
        Bytes of the message.
    line : tuple of stages, optional
        As `pipeline_stages` makes them, such as ``pipeline_stages(pinned=True)``; device to device, pageable, unless
        given.

    Raises
    ------
    UnknownNameError
        If a symbol of a stage has no number.
    QuantityError
        For a wrong number, or latencies so small that more than 20000 fragments would have to be tried.

    Source: derived.
    """
    values = getattr(machine, "parameters", machine)
    if not isinstance(values, Mapping):
        raise QuantityError(f"a machine or a mapping of symbol names to numbers is allowed, not {shown(machine)}.")
    size = whole("nbytes", nbytes, 1)
    if size.ndim:
        raise QuantityError(f"nbytes is one size, but {shown(nbytes)} was given.")
    return _best(int(size), [(name, _number(a, values), _number(b, values)) for name, a, b in checked_stages(line)])


def _best(size: int, numbers: Sequence[Stage]) -> BestFragment:
    """Return the best fragment of a message, for stages in numbers."""
    best = fragments_time(numbers, size, size), size
    for count in range(2, size + 1):
        if any(count * a + size * b > best[0] for _, a, b in numbers):
            break
        if count > _MOST:
            raise QuantityError(
                f"more than {_MOST} fragments would have to be tried: the latencies are too small for fragments of "
                "whole bytes. Use optimal_fragment, or larger latencies."
            )
        best = min(best, _least(numbers, size, count) or best)
    return BestFragment(best[1], -(-size // best[1]), float(best[0]))
