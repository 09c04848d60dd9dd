"""A formula of the package fitted to times: a collective, the library's own choice, a kernel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from orrery_analytic.calibration.fitted import Fit
from orrery_analytic.calibration.lines import LINKS
from orrery_analytic.calibration.points import as_table, by_size, falls, measured, numbers, one_series
from orrery_analytic.calibration.tangent import fit_cost, loss, with_rendezvous
from orrery_analytic.calls import collective_cost, kernel_cost
from orrery_analytic.cost import Cost
from orrery_analytic.decisions.whole import one
from orrery_analytic.errors import QuantityError, choose, unknown_name
from orrery_analytic.gpu import flag
from orrery_analytic.networks import Hockney, TwoLevel
from orrery_analytic.selection import plan_cost, plans
from orrery_analytic.symbols import describe, n
from orrery_analytic.units import shown, to_si

__all__ = ["collective", "kernel"]

_MOST_RANKS = 2**31 - 1


def _fixed(fixed: Any, machine: Any) -> dict[str, float]:
    """Return SI numbers for the parameters that are held fixed."""
    source: Mapping[str, float] = {}
    if machine is not None:
        if isinstance(machine, str):
            from orrery_analytic.machines import load_machine

            machine = load_machine(machine)
        source = getattr(machine, "parameters", machine)
        if not isinstance(source, Mapping):
            raise QuantityError(f"machine is a machine or a mapping of symbols to numbers, not {shown(machine)}.")
    if fixed is None:
        return {}
    if isinstance(fixed, Mapping):
        return {str(k): to_si(v, describe(k).unit, f"fixed[{k!r}]") for k, v in fixed.items()}
    if not isinstance(fixed, str | list | tuple):
        raise QuantityError(f"fixed names parameters, or maps them to numbers, but {shown(fixed)} was given.")
    names = [fixed] if isinstance(fixed, str) else fixed
    for name in names:
        if name not in source:
            raise unknown_name("fixed parameter of the machine", name, [str(key) for key in source])
    return {name: float(to_si(source[name], describe(name).unit, f"machine[{name!r}]")) for name in names}


def _points(table: pd.DataFrame, ranks: Any, P: Any, apart: Iterable[str]) -> tuple[pd.DataFrame, list[str]]:
    rows = one_series(measured(table), ("file", "table", "ranks", "nodes", "library", *apart)).copy()
    rows["P"] = numbers(rows, "ranks") if ranks is None else float(one("ranks", ranks, 1))
    if P is not None:
        count = float(one("P", P, 1))
        if (rows["P"].notna() & (rows["P"] != count)).any():
            other = rows.loc[rows["P"] != count, "P"].iloc[0]
            raise QuantityError(f"P = {shown(P)}, but the table or ranks= says {other:g} ranks: give one of them.")
        rows["P"] = count
    keys = [name for name in ("P", "n", *apart) if name in rows.columns and rows[name].notna().all()]
    points, notes = by_size(rows, keys=keys)
    if "algorithm" in keys:
        points["series"] = points["algorithm"]
    wrong = points.loc[~points["P"].isna() & ~points["P"].between(0, _MOST_RANKS), "P"]
    if len(wrong):
        raise QuantityError(f"this table has {wrong.iloc[0]:g} ranks. Allowed: 1 to {_MOST_RANKS}.")
    alone = points["P"] == 1
    if alone.all():
        raise QuantityError("all rows of this table are of one rank, for which a collective costs nothing.")
    return points[~alone].reset_index(drop=True), notes


def _best_network(fits: Sequence[tuple[Any, Fit]]) -> Fit:
    """Return the fit that misses least, and say by how much it is the better one."""
    order = sorted(fits, key=lambda pair: loss(pair[1].points["deviation"].to_numpy()))
    told = "; ".join(f"{_named(network)} misses by {100 * fit.sigma:.2g} %" for network, fit in order)
    return replace(order[0][1], warnings=(*order[0][1].warnings, f"the network that fits best was taken: {told}."))


def _named(network: Any) -> str:
    if isinstance(network, TwoLevel):
        return f"TwoLevel({network.ranks_per_node}, {network.cards})"
    return type(network).__name__


def collective(
    table: pd.DataFrame,
    collective: str | None = None,
    algorithm: str | Mapping[str, str] | None = None,
    cost: Cost | None = None,
    rules: Any = None,
    network: Any = None,
    fixed: Any = None,
    machine: Any = None,
    ranks: int | None = None,
    rendezvous: bool = False,
    itemsize: int = 4,
    link: str | None = None,
    **options: Any,
) -> Fit:
    """Return the parameters of the formula of a collective, from its times.

    Parameters
    ----------
    table : DataFrame
        n, seconds and ranks; several numbers of ranks may be in one table.
    collective : str, optional
        What the table says unless given.
    algorithm : str or mapping, optional
        Which one ran, or for each name in the table's column algorithm which one that is:
        ``{"ring_ompi": "ring", "recursive_doubling_ompi": "recursive_doubling"}``.
    cost : Cost, optional
        The formula, in place of a name; linear in what is fitted, but for Max and Piecewise.
    rules : str or RuleFile, optional
        The library's own choice at each point ("openmpi-4.1"), in place of `algorithm`.
    network : Hockney, LogGP, TwoLevel or a list of them, optional
        Of a list the one that fits best: ``[oa.TwoLevel(4, cards) for cards in (1, 2, 4)]``.
    fixed : mapping of str to number, or names, optional
        Parameters that are not fitted, SI or text with a unit; names take the numbers of `machine`.
    machine : Machine or str, optional
    ranks : int, optional
        Where the table does not say.
    rendezvous : bool
        Messages take alpha_rndv longer above a size s_rndv that is found: `with_rendezvous` of the formula.
    itemsize : int
        Bytes of an element, for `rules`.
    link : str, optional
        Where all messages went, in place of `network`: "between" nodes, "inside" a node (the formula has alpha_intra,
        beta_intra then), "peer" as in `hockney`.
    **options
        As in `collective_cost`: buffers, segment_bytes, fan ... P counts as `ranks` where the table has none.

    Raises
    ------
    QuantityError
        If the formula is not linear, or nothing says which formula it is.
    """
    if cost is not None and network is not None:
        raise QuantityError("cost= is made for its own network: give network= to collective_cost.")
    if link is not None:
        first, slope, *_ = LINKS[choose("link", link, LINKS)]
        if cost is not None or network is not None:
            raise QuantityError(f"link={link!r} is for a formula without cost= and network=, which have links.")
        network = Hockney(describe(first).symbol, describe(slope).symbol)
    if isinstance(network, list | tuple):
        if not network:
            raise QuantityError("network=[] names no network. Allowed: a network, or a list of at least one.")
        given = dict(
            collective=collective, algorithm=algorithm, rules=rules, fixed=fixed, machine=machine, ranks=ranks,
            rendezvous=rendezvous, itemsize=itemsize, **options,
        )  # fmt: skip
        fits = [(each, _collective(table, network=each, cost=None, **given)) for each in network]
        return _best_network(fits)
    return _collective(
        table, collective, algorithm, cost, rules, network, fixed, machine, ranks, rendezvous, itemsize, **options
    )


def _collective(
    table: pd.DataFrame,
    collective: str | None,
    algorithm: str | Mapping[str, str] | None,
    cost: Cost | None,
    rules: Any,
    network: Any,
    fixed: Any,
    machine: Any,
    ranks: int | None,
    rendezvous: bool,
    itemsize: int,
    **options: Any,
) -> Fit:
    table = as_table(table)
    P = options.get("P")
    _all_given(table, collective, algorithm, cost, rules, P if ranks is None else ranks)
    points, notes = _points(table, ranks, P, ("algorithm",) if isinstance(algorithm, Mapping) else ())
    held = _fixed(fixed, machine)
    if network is not None:
        options["network"] = network
    elif "nodes" in points.columns and (points["nodes"] == 1).all():
        notes.append('all ranks were in one node: link="inside" makes that of the latency and the bandwidth.')
    every = np.arange(len(points))
    if cost is not None:
        if not isinstance(cost, Cost):
            raise QuantityError(f"cost must be a Cost, such as collective_cost(...) returns, not {shown(cost)}.")
        return fit_cost("collective", [(with_rendezvous(cost) if rendezvous else cost, every)], points, held, notes)
    collective = str(points["collective"].iloc[0]) if collective is None else collective
    costs: list[tuple[Cost, np.ndarray[Any, Any]]]
    if isinstance(algorithm, Mapping):
        if "algorithm" not in points.columns:
            raise QuantityError("the table has no column algorithm: give algorithm= as one name.")
        names = points["algorithm"]
        unknown = sorted(set(map(str, names)) - set(algorithm))
        if unknown:
            raise unknown_name("algorithm of the table", unknown[0], algorithm)
        costs = [
            (collective_cost(collective, ours, **options), np.flatnonzero(names == theirs))
            for theirs, ours in algorithm.items()
            if (names == theirs).any()
        ]
    elif algorithm is not None:
        costs = [(collective_cost(collective, algorithm, **options), every)]
    else:
        options.pop("P", None)
        costs, points, more = _chosen(collective, points, rules, itemsize, options)
        notes += more
    for _, part in points.groupby("P"):
        notes += falls(part.sort_values("n")) if not isinstance(algorithm, Mapping) else []
    if flag("rendezvous", rendezvous):
        costs = [(with_rendezvous(cost), at) for cost, at in costs]
    return replace(fit_cost("collective", costs, points, held, notes), network=network)


def _all_given(table: pd.DataFrame, collective: Any, algorithm: Any, cost: Any, rules: Any, ranks: Any) -> None:
    """Refuse a table that lacks what the formula needs, and name all of that at once."""
    if cost is not None:  # whether it asks for P is seen later
        return
    missing = []
    if collective is None and ("collective" not in table.columns or table["collective"].isna().any()):
        missing.append(("which collective it measured", "collective="))
    if algorithm is None and rules is None:
        missing.append(("which algorithm ran", 'algorithm= (or rules="openmpi-4.1", or cost=)'))
    if ranks is None and not (numbers(table, "ranks") >= 1).any():
        missing.append(("how many ranks took part", "ranks="))
    if missing:
        what, how = (", ".join(each) for each in zip(*missing, strict=True))
        raise QuantityError(f"the table does not say {what}: give {how}.")


def _chosen(
    collective: str, points: pd.DataFrame, rules: Any, itemsize: int, options: Mapping[str, Any]
) -> tuple[list[tuple[Cost, np.ndarray[Any, Any]]], pd.DataFrame, list[str]]:
    """Return the formula of what the library takes at each point, without the points that have none."""
    if not np.all(points["P"] >= 1):
        raise QuantityError("the table does not say how many ranks took part: give ranks=.")
    whole_n = points["n"].to_numpy().round().astype(np.int64)
    _, index, found = plans(collective, points["P"].astype(int).to_numpy(), whole_n, rules, itemsize=itemsize)
    costs = [plan_cost(collective, plan, **options) for plan in found]
    has = np.array([costs[i] is not None for i in index])
    names = sorted({str(found[i]) for i in index[~has]})
    notes = [f"{(~has).sum()} points not used: no formula for what ran there ({', '.join(names)})."] if names else []
    told = ", ".join(sorted({str(found[i]) for i in index[has]}))
    notes.append(f"taken to have run, by {shown(rules)}: {told or 'nothing'}.")
    if not has.any():
        raise QuantityError(f"no point can be fitted: {notes[0]}")
    kept = index[has]
    parts = [
        (cost, np.flatnonzero(kept == i)) for i, cost in enumerate(costs) if cost is not None and (kept == i).any()
    ]
    return parts, points[has].reset_index(drop=True), notes


def kernel(table: pd.DataFrame, fixed: Any = None, machine: Any = None) -> Fit:
    """Return launch, synchronisation and rate of a kernel from its bytes (n) and seconds: `kernel_cost` with W = n."""
    points, notes = by_size(one_series(measured(table)))
    every = np.arange(len(points))
    return fit_cost("kernel", [(kernel_cost(n), every)], points, _fixed(fixed, machine), [*notes, *falls(points)])
