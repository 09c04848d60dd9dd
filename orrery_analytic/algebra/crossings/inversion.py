"""`invert`: what a machine must be like for one cost to beat another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

import sympy as sp

from orrery_analytic.algebra.crossings.counts import COUNTS, CountInversion, invert_count
from orrery_analytic.algebra.crossings.crossover import crossover
from orrery_analytic.algebra.tables import formula, html_table
from orrery_analytic.cost import Cost, NoNumber, parameters_of
from orrery_analytic.errors import QuantityError, unknown_name
from orrery_analytic.symbols import describe
from orrery_analytic.units import readable, shown

__all__ = ["Inversion", "invert"]


@dataclass(frozen=True, repr=False)
class Inversion(NoNumber):
    """The values of one key of a machine with which a beats b. Made by `invert`.

    Parameters
    ----------
    key, unit : str
        The key of the machine file, and the SI unit of its values.
    wins : tuple of (float, float)
        From, to: with a value in between a costs less than b; at a border they cost the same.
    ties : tuple of (float, float)
        Where they cost the same.
    formulas : tuple of SymPy expressions
        The borders, in ascending order of the symbol; None where there is no formula.
    symbol : str
        The symbol of the formulas: a bandwidth is one over it.
    now : float or None
        The machine's own value.
    """

    key: str
    unit: str
    wins: tuple[tuple[float, float], ...]
    ties: tuple[tuple[float, float], ...]
    formulas: tuple[sp.Expr | None, ...]
    symbol: str
    now: float | None

    _instead = "Its formulas are .formulas, its numbers are .wins and .ties."

    @property
    def holds_now(self) -> bool | None:
        """Whether a beats b with the machine's own value; None where it has none."""
        return None if self.now is None else any(low < self.now < high for low, high in self.wins)

    @property
    def told(self) -> str:
        """With which values a beats b, as text with units: "less than 23.5 GB/s"."""

        def told(low: float, high: float) -> str:
            if low == 0 and high == inf:
                return "any"
            if high == inf:
                return f"more than {readable(low, self.unit)}"
            below = f"less than {readable(high, self.unit)}"
            return below if low == 0 else f"more than {readable(low, self.unit)} and {below}"

        return " or ".join(told(*pair) for pair in self.wins) or "none"

    def __repr__(self) -> str:
        now = "" if self.now is None else f" (now {readable(self.now, self.unit)})"
        rows = [f"  {self.symbol} = {e}" for e in self.formulas if e is not None]
        return "\n".join([f"{self.key} for a to beat b: {self.told}{now}", *rows])

    def _repr_html_(self) -> str:
        now = "" if self.now is None else readable(self.now, self.unit)
        borders = ", ".join(formula(sp.Eq(describe(self.symbol).symbol, e, evaluate=False)) for e in self.formulas if e)
        return html_table(("key", "a beats b", "now", "border"), [(self.key, self.told, now, borders)])


def invert(
    cost_a: Cost | Callable[[int], Cost],
    cost_b: Cost | Callable[[int], Cost],
    key: str,
    machine: Any = None,
    last: Any = None,
    **values: Any,
) -> Inversion | CountInversion:
    r"""Return which values of one key of a machine make a beat b at given P and n.

    Costs are lines in each parameter, so that the border is a quotient, as in `crossover`; of a bandwidth, whose symbol
    is one over it, the border is one over that.

    Parameters
    ----------
    cost_a, cost_b : Cost, or function of a count that returns one
        Both on the same machine: a parameter that both hold is changed in both. Of the two counts, functions: the
        network is another one for each.
    key : str
        A key of the machine file, "bandwidth", "latency", "gdr_latency" ..., or the symbol itself ("beta"); or a count,
        "network_cards_per_node" or "ranks_per_node".
    machine : Machine, its name, or mapping of symbol name to number, optional
    last : int, optional
        The largest count that is tried, 16 unless given; at most 1024.
    **values : number
        P, n and other symbols by name; they go before the machine's.

    Returns
    -------
    Inversion or CountInversion
        `.wins` in SI units, `.formulas`, `.holds_now`; of a count `.stretches`, each tried in exact numbers.

    Raises
    ------
    UnknownNameError
        If there is no such key, or a symbol has no number.
    QuantityError
        For numbers out of range.

    Source: derived.

    Examples
    --------
    >>> import orrery_analytic as oa
    >>> few, many = (lambda cards, name=name: oa.collective_cost("alltoall", name, oa.TwoLevel(4, cards))
    ...              for name in ("modified_bruck", "pairwise"))
    >>> oa.invert(few, many, "network_cards_per_node", "leonardo", P=64, n=4096, last=4).key
    'network_cards_per_node'
    >>> doubling, ring = (oa.collective_cost("allreduce", name) for name in ("recursive_doubling", "ring"))
    >>> found = oa.invert(ring, doubling, "latency", P=8, n=65536, beta=1e-10, gamma=1e-10)
    >>> print(repr(found).splitlines()[0])
    latency for a to beat b: less than 2.01 us
    """
    if isinstance(key, str) and key in COUNTS:
        return invert_count(cost_a, cost_b, key, machine, last, values)  # type: ignore[arg-type]
    if last is not None:
        raise QuantityError(f"last is for counts ({', '.join(COUNTS)}), and not for {shown(key)}.")
    return _invert(cost_a, cost_b, key, machine, values)  # type: ignore[arg-type]


def _invert(cost_a: Cost, cost_b: Cost, key: str, machine: Any, values: Mapping[str, Any]) -> Inversion:
    from orrery_analytic.machines.keys import MACHINE_KEYS  # its package needs pydantic

    keys = {name: info for name, info in MACHINE_KEYS.items() if info.symbol}
    by_symbol = {info.symbol: info for info in keys.values()}
    info = keys.get(key) or by_symbol.get(key) if isinstance(key, str) else None
    if info is None or info.symbol is None:
        raise unknown_name("key of a machine with a symbol, or a count", key, [*keys, *COUNTS])
    symbol, inverse = info.symbol, info.inverse and key != info.symbol
    unit = "s/B" if info.inverse and not inverse else info.unit
    crossing = crossover(cost_a, cost_b, symbol)
    found = crossing.intervals(machine, **values)
    wins, ties = (
        tuple(sorted(_turned(s.first, s.last) if inverse else (s.first, s.last) for s in found if s.cheaper == word))
        for word in ("a", "equal")
    )
    formulas = tuple(formula for _, formula in crossing.formulas(machine, **values))
    now = parameters_of(machine).get(symbol)
    return Inversion(info.key if unit == info.unit else symbol, unit, wins, ties, formulas, symbol,
                     1 / now if inverse and now else now)  # fmt: skip


def _turned(first: float, last: float) -> tuple[float, float]:
    return (1 / last if last else inf, 1 / first if first else inf)
