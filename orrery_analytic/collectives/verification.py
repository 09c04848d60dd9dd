"""Closed form against schedule: `verify` the formula, and see the `rounds` that it comes from."""

from __future__ import annotations

import html
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from operator import index
from typing import TYPE_CHECKING, Any

import sympy as sp

from orrery_analytic import symbols
from orrery_analytic.collectives.algorithm import Algorithm, Options
from orrery_analytic.collectives.formulas import network_cost, node_width
from orrery_analytic.collectives.patterns import schedule
from orrery_analytic.collectives.placement import placed, placed_claim
from orrery_analytic.collectives.registry import find, formulas
from orrery_analytic.collectives.rounds import Phase, k, summand
from orrery_analytic.decisions import list_collectives
from orrery_analytic.errors import QuantityError, choose
from orrery_analytic.networks import Hockney, LogGP, Network, TwoLevel
from orrery_analytic.symbols.printing import latex
from orrery_analytic.units import shown

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Rounds", "claims", "rounds", "verify"]

_MICROSECOND, _BYTE = Fraction(1, 10**6), Fraction(1, 10**9)
_VALUES: dict[type[Network], dict[str, Fraction]] = {
    Hockney: {"alpha": 2 * _MICROSECOND, "beta": _BYTE / 20, "gamma": _BYTE / 10},
    TwoLevel: {
        "alpha": 2 * _MICROSECOND,
        "beta": _BYTE / 20,
        "alpha_intra": _MICROSECOND,
        "beta_intra": _BYTE / 80,
        "gamma": _BYTE / 40,
    },
    LogGP: {
        "L": _MICROSECOND,
        "o": _MICROSECOND / 2,
        "g": 3 * _MICROSECOND / 4,
        "G": _BYTE / 20,
        "gamma": _BYTE / 10,
    },
}


def verify(
    collective: str,
    algorithm: str,
    network: Network = Hockney(),  # noqa: B008 - frozen
    P: Iterable[int] = range(2, 65),
    itemsize: int = 4,
    ranks_per_node: int = 1,
    **values: int | float | Fraction,
) -> pd.DataFrame:
    """Return closed form and schedule side by side, computed in exact fractions.

    Parameters
    ----------
    collective, algorithm : str
        An algorithm with a formula of its own; a composed one is verified by its parts.
    network : Hockney, LogGP or TwoLevel
    P : iterable of int
        Numbers of ranks. Those without the algorithm, or without a closed form on these nodes, have no row.
    itemsize : int
        Bytes of an element.
    ranks_per_node : int
        As in `collective_cost`.
    **values
        Numbers for the network's symbols (SI units); round ones unless given.

    Returns
    -------
    pandas.DataFrame
        A row for each P. `count` is the least number of elements that divides evenly; `formula_s` and `schedule_s` are
        in seconds, `ratio` is formula over schedule, `equal` compares the fractions, `claimed_exact` is what the
        formula says of itself. `ratio_uneven` is the same ratio at count + 1, where blocks differ in size.

    Raises
    ------
    UnknownNameError
        For an algorithm without a formula of its own.
    """
    import pandas as pd

    known = formulas(collective)
    choose(f"{collective} algorithm with a formula of its own", algorithm, known)
    cost = network_cost(collective, algorithm, network, ranks_per_node=ranks_per_node)
    width = node_width(network, ranks_per_node)
    defaults = _VALUES[type(network)]
    for name in values:
        choose("symbol of this network", name, defaults)
    numbers = {name: Fraction(values.get(name, default)) for name, default in defaults.items()}
    rows = []
    for ranks in _ranks(P):
        claimed = _claimed(known[algorithm], network, ranks, numbers)
        if claimed is None:
            continue
        count = _even_count(ranks)
        (formula, true), uneven = (
            _both(collective, algorithm, network, cost.total, ranks, elements, itemsize, numbers, width)
            for elements in (count, count + 1)
        )
        rows.append(
            {
                "P": ranks,
                "count": count,
                "formula_s": float(formula),
                "schedule_s": float(true),
                "ratio": float(formula / true) if true else float(formula == true),
                "equal": formula == true,
                "claimed_exact": claimed,
                "ratio_uneven": float(uneven[0] / uneven[1]) if uneven[1] else 1.0,
            }
        )
    return pd.DataFrame(rows)


def _claimed(known: Algorithm, network: Network, ranks: int, numbers: dict[str, Fraction]) -> bool | None:
    """Return whether a formula is claimed to be exact on so many ranks, or None where there is none."""
    if ranks == 1:
        return True
    if not known.exists(ranks):
        return None
    if isinstance(network, TwoLevel):
        if network.ranks_per_node == 1:
            return known.exact(network.between).holds(ranks, reducing=numbers["gamma"] > 0)
        form = placed(known, network)
        return form.holds(network, ranks, numbers["gamma"] >= numbers["beta"]) if form.exists(network, ranks) else None
    gapped = isinstance(network, LogGP) and numbers["g"] > numbers["L"] + 2 * numbers["o"]
    return known.exact(network).holds(ranks, reducing=numbers["gamma"] > 0, gapped=gapped)


def _ranks(P: Any) -> list[int]:
    """Return numbers of ranks as ints, from a range, a list or an array of whole numbers."""
    try:
        ranks = [index(p) for p in P]
    except TypeError:
        raise QuantityError(f"P must be numbers of ranks, such as range(2, 65), but {shown(P)} was given.") from None
    if any(p < 1 for p in ranks):
        raise QuantityError(f"P counts ranks, of at least 1, but {shown(P)} was given.")
    return ranks


def _even_count(P: int) -> int:
    """Return the least count that P ranks, and the halvings of the power of two below P, divide evenly."""
    return lcm(P, 2 << (P.bit_length() - 1))


def _both(
    collective: str,
    algorithm: str,
    network: Network,
    total: sp.Expr,
    P: int,
    count: int,
    itemsize: int,
    numbers: dict[str, Fraction],
    ranks_per_node: int,
) -> tuple[Fraction, Fraction]:
    """Return the time of the formula and that of the schedule, as fractions."""
    per_rank = P if collective == "reduce_scatter" else 1
    pattern = schedule(collective, algorithm, P, count, itemsize, ranks_per_node=ranks_per_node)
    true = pattern.time(network, **numbers)
    if P == 1:
        return Fraction(0), Fraction(true)  # the rule of `Cost` for one rank
    here = {symbols.P: sp.Integer(P), symbols.n: sp.Integer(per_rank * count * itemsize)}
    rationals = {sp.Symbol(s, positive=True): sp.Rational(v.numerator, v.denominator) for s, v in numbers.items()}
    value = total.subs(here).subs(rationals)
    return Fraction(int(value.p), int(value.q)), Fraction(true)


@dataclass(frozen=True)
class Rounds:
    """The rounds of an algorithm, what each costs, and the closed form that they add up to.

    Prints as a table of sums in a notebook. Where no sum over rounds is exact, the closed form comes from the longest
    path instead, and `summed` is False.
    """

    collective: str
    algorithm: str
    network: Hockney | LogGP
    phases: tuple[Phase, ...]
    closed: sp.Expr
    validity: str
    summed: bool

    def sums(self) -> list[sp.Expr]:
        """Return the sum over rounds k of each phase, not yet evaluated, in seconds."""
        return [
            sp.Sum(sp.Add(*summand(phase, self.network).values()), (k, phase.first, phase.last))
            for phase in self.phases
        ]

    def _repr_html_(self) -> str:
        rows = []
        for phase in self.phases:
            cells = (
                html.escape(phase.label),
                f"${latex(phase.first)} \\ldots {latex(phase.last)}$",
                f"${latex(phase.nbytes)}$",
                f"${latex(phase.reduced)}$",
                f"${latex(sp.Add(*summand(phase, self.network).values()))}$",
            )
            rows.append("<tr>" + "".join(f"<td style='text-align:left'>{cell}</td>" for cell in cells) + "</tr>")
        head = "".join(f"<th>{t}</th>" for t in ("rounds", "k", "bytes", "reduced bytes", "a round costs (s)"))
        how = "Sum over all rounds" if self.summed else "The longest path"
        return (
            f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
            f"<p>{how}: $T = {latex(self.closed)}$</p><p>{html.escape(self.validity)}</p>"
        )

    def __repr__(self) -> str:
        lines = [f"k = {p.first} .. {p.last}: {p.nbytes} bytes, {p.reduced} reduced ({p.label})" for p in self.phases]
        return "\n".join([*lines, f"T = {self.closed}", self.validity])


def rounds(
    collective: str,
    algorithm: str,
    network: Hockney | LogGP = Hockney(),  # noqa: B008 - frozen
    **options: Any,
) -> Rounds:
    """Return the derivation of a closed form: its rounds and their sums.

    Parameters
    ----------
    collective, algorithm : str
        An algorithm with a formula of its own.
    network : Hockney or LogGP
    **options
        As in `collective_cost`: segment_bytes, fan, radix, ranks_per_node.

    Raises
    ------
    UnknownNameError, QuantityError
        As `collective_cost`; and for another network, whose closed forms are no sum of equal rounds.
    """
    if not isinstance(network, Hockney | LogGP):
        raise QuantityError(f"rounds are shown under Hockney() and LogGP(), but {shown(network)} was given.")
    choose(f"{collective} algorithm with a formula of its own", algorithm, formulas(collective))
    cost = network_cost(collective, algorithm, network, **options)
    segment = symbols.n_s if options.get("segment_bytes") == "symbol" else options.get("segment_bytes") or None
    known = find(collective, algorithm)
    assert known.phases is not None
    knobs = {name: value for name, value in options.items() if name in ("fan", "radix", "ranks_per_node")}
    phases = known.phases(Options(segment, **knobs))
    summed = (known.hockney if isinstance(network, Hockney) else known.loggp) is None
    return Rounds(collective, algorithm, network, phases, cost.total, cost.validity, summed)


def claims() -> pd.DataFrame:
    """Return what every formula says of itself: where it equals its schedule, under each network.

    Returns
    -------
    pandas.DataFrame
        A row for each algorithm with a formula of its own: collective, algorithm, `hockney`, `loggp`, and
        `two_level` for `TwoLevel`, "" where there is no closed form. Composed algorithms are as exact as their parts.
    """
    import pandas as pd

    rows = [
        (
            collective,
            name,
            *(known.exact(network).told(known.only_at) for network in (Hockney(), LogGP())),
            placed_claim(known.collective, known.name),
        )
        for collective in list_collectives()
        for name, known in formulas(collective).items()
    ]
    return pd.DataFrame(rows, columns=["collective", "algorithm", "hockney", "loggp", "two_level"])
