"""`invert` for what is counted: how many cards, or ranks, a node must have for one cost to beat another."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from orrery_analytic.algebra.crossings.stretches import Stretch, undefined
from orrery_analytic.algebra.exact.arguments import numbers_for, one_whole
from orrery_analytic.algebra.exact.values import exact_cost
from orrery_analytic.algebra.tables import html_table
from orrery_analytic.cost import Cost, NoNumber, machine_of
from orrery_analytic.errors import OrreryError, QuantityError
from orrery_analytic.units import shown

__all__ = ["COUNTS", "CountInversion", "invert_count"]

COUNTS = ("network_cards_per_node", "ranks_per_node")
"""The keys of a machine that are whole numbers, and no symbols of formulas."""
_MOST = 1024
_FEW = 16


@dataclass(frozen=True, repr=False)
class CountInversion(NoNumber):
    """The counts with which a beats b. Made by `invert`.

    Parameters
    ----------
    key : str
    stretches : tuple of Stretch
        From 1 on, ascending: which is cheaper. "only a", "only b" or "neither" where a formula is not there.
    now : int or None
        The machine's own count.
    """

    key: str
    stretches: tuple[Stretch, ...]
    now: int | None

    _instead = "Its numbers are .wins and .stretches."

    @property
    def wins(self) -> tuple[tuple[int, int], ...]:
        """From, to, both included: with so many a costs less than b."""
        return tuple((int(s.first), int(s.last)) for s in self.stretches if s.cheaper == "a")

    @property
    def holds_now(self) -> bool | None:
        """Whether a beats b with the machine's own count; None where it has none, or one that was not asked for."""
        if self.now is None or self.now > self.stretches[-1].last:
            return None
        return any(low <= self.now <= high for low, high in self.wins)

    @property
    def told(self) -> str:
        """With how many a beats b, as text: "1 or 4 to 8"."""
        return " or ".join(f"{low}" if low == high else f"{low} to {high}" for low, high in self.wins) or "none"

    @property
    def _asked(self) -> str:
        return f"of 1 to {int(self.stretches[-1].last)}"

    def __repr__(self) -> str:
        now = "" if self.now is None else f" (now {self.now})"
        return f"{self.key} for a to beat b: {self.told}, {self._asked}{now}"

    def _repr_html_(self) -> str:
        now = "" if self.now is None else str(self.now)
        return html_table(("key", "a beats b", "now"), [(self.key, f"{self.told}, {self._asked}", now)])


def invert_count(
    cost_a: Callable[[int], Cost], cost_b: Callable[[int], Cost], key: str, machine: Any, last: Any, values: Any
) -> CountInversion:
    """Return for each count from 1 to `last` which of two costs, given as functions of it, is cheaper: in fractions.

    Raises
    ------
    QuantityError
        If they are no functions that return costs.
    """
    for name, made in (("cost_a", cost_a), ("cost_b", cost_b)):
        if isinstance(made, Cost) or not callable(made):
            raise QuantityError(
                f"{name} must be a function of {key} that returns a Cost, such as lambda cards: collective_cost("
                f"'alltoall', 'pairwise', TwoLevel(4, cards)), but {shown(made)} was given."
            )
        if not _takes_one(made):
            raise QuantityError(
                f"{name} must take the count: lambda cards: ..., but {shown(made)} takes other arguments."
            )
    most = one_whole("last", _FEW if last is None else last, 1, _MOST)
    found: list[Stretch] = []
    failed: dict[str, list[OrreryError]] = {"cost_a": [], "cost_b": []}
    for count in range(1, most + 1):
        costs: list[Cost | None] = []
        for name, made in (("cost_a", cost_a), ("cost_b", cost_b)):
            try:
                costs.append(_cost(key, made(count)))
            except OrreryError as error:  # a network without a formula for this algorithm
                costs.append(None)
                failed[name].append(error)
        word = _word(costs, key, machine, values)
        if found and found[-1].cheaper == word:
            found[-1] = found[-1]._replace(last=count)
        else:
            found.append(Stretch(count, count, word))
    for errors in failed.values():
        if len(errors) == most:
            raise errors[-1]
    now = getattr(machine_of(machine), key, None)
    return CountInversion(key, tuple(found), now)


def _takes_one(made: Callable[..., Any]) -> bool:
    """Return whether a function can be called with one argument, as far as it tells."""
    try:
        inspect.signature(made).bind(1)
    except TypeError:
        return False
    except ValueError:  # some built-in functions tell nothing
        return True
    return True


def _cost(key: str, made: Any) -> Cost:
    if not isinstance(made, Cost):
        raise QuantityError(f"the functions of {key} must return a Cost, but one returned {shown(made)}.")
    return made


def _word(costs: list[Cost | None], key: str, machine: Any, values: dict[str, Any]) -> str:
    given = tuple(cost for cost in costs if cost is not None)
    if not given:
        return "neither"
    numbers = numbers_for(given, machine, values)
    a, b = (None if cost is None else exact_cost(cost, numbers) for cost in costs)
    if a is None or b is None:
        return undefined(a, b)
    return "a" if a < b else "b" if a > b else "equal"
