"""A `Cost` fitted to times: linear in the parameters where no Max or Piecewise turns, searched where they do."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import sympy as sp

from orrery_analytic.calibration.fitted import Fit
from orrery_analytic.calibration.linear import CAUCHY, Floats, deviations, estimate, spread
from orrery_analytic.calibration.pieces import UNSURE
from orrery_analytic.calibration.points import numbers
from orrery_analytic.calibration.result import Given
from orrery_analytic.calibration.solve import Column, Switch, solve
from orrery_analytic.calibration.ways import doubted
from orrery_analytic.cost import Cost, evaluate
from orrery_analytic.errors import QuantityError, UnknownNameError, unknown_name
from orrery_analytic.symbols import SYMBOLS, alpha, alpha_intra, alpha_rndv, describe, n, s_rndv
from orrery_analytic.units import shown

__all__ = ["fit_cost", "loss", "with_rendezvous"]

_COORDINATES = ("P", "n")
_ROUNDS = 30
_INSIDE = {"alpha_intra": "alpha", "beta_intra": "beta"}  # no slower than between nodes
_POOR = 0.15
_ROUGH = 0.1  # a formula that misses by this much is not far off
_SWITCH = "s_rndv"
_TYPICAL = {"s": 2e-6, "s/B": 1e-10, "B/s": 1e-11}


def _seen(name: str) -> str:
    """Return the name of what is fitted: one over a rate in place of the rate."""
    return f"per_{name}" if describe(name).unit == "B/s" else name


def _prepared(cost: Cost) -> sp.Expr:
    """Return the total in what is fitted."""
    rates = [s for s in cost.total.free_symbols if s.name in SYMBOLS and describe(s.name).unit == "B/s"]
    return cost.total.subs({s: 1 / sp.Symbol(_seen(s.name), positive=True) for s in rates})


@dataclass(frozen=True)
class _Formula:
    """Totals that each hold for some of the points, as a function of what is fitted: the parameters are mix @ x."""

    parts: tuple[tuple[sp.Expr, np.ndarray[Any, Any]], ...]
    names: tuple[str, ...]
    mix: Floats
    typical: Floats
    fixed: Mapping[str, float]
    P: Floats
    n: Floats

    def __call__(self, x: Floats) -> Floats:
        """Return seconds of every point, one row for each row of x."""
        out = np.empty((len(x), len(self.n)))
        values = (x @ self.mix.T).T
        given = {_seen(name): value[:, None] for name, value in zip(self.names, values, strict=True)}
        given |= {_seen(name): 1 / v if _seen(name) != name else v for name, v in self.fixed.items()}
        for total, at in self.parts:
            ranks = {"P": self.P[at]} if np.all(self.P[at] >= 1) else {}
            out[:, at] = evaluate((total,), {**given, "n": self.n[at], **ranks})[0]
        return out

    def tangent(self, x: Floats) -> tuple[Floats, Floats, Floats]:
        """Return totals at x, their derivatives (exact within a piece), and what of the totals needs no parameter."""
        step = 1e-6 * np.maximum(x, self.typical)
        every = self(np.vstack([x, x + np.diag(step)]))
        columns = (every[1:] - every[0]).T / step
        columns[np.abs(columns) * np.maximum(x, self.typical) < 1e-8 * every[0][:, None]] = 0.0
        offset = every[0] - columns @ x
        offset[np.abs(offset) < 1e-8 * every[0]] = 0.0
        return every[0], columns, offset

    def check(self) -> None:
        """Refuse totals that are not linear in the parameters, but for where a Max or a Piecewise turns.

        Raises
        ------
        QuantityError
            If second differences do not vanish at most points.
        """
        rng = np.random.default_rng(1)
        for name, i in zip(self.names, range(len(self.names)), strict=True):
            bent = []
            for x in self.typical * rng.uniform(0.5, 2.0, (5, len(self.typical))):
                step = 0.05 * x * (np.arange(len(x)) == i)
                other = 0.05 * x  # together with all others: products show as well
                four = self(np.array([x, x + step, x + other, x + step + other]))
                bent.append(np.abs(four[3] - four[2] - four[1] + four[0]) / four[0])
            if np.median(bent) > 1e-9:
                raise QuantityError(
                    f"this cost is not linear in {name}: give it a number with fixed={{{name!r}: ...}}."
                )


def with_rendezvous(cost: Cost) -> Cost:
    r"""Return a cost whose messages take :math:`\alpha_{rndv}` longer each where :math:`n > s_{rndv}`.

    A library sends small messages eagerly and shakes hands before large ones. The limit is held against n, not against
    the messages of each round, which may be several blocks of n bytes.
    """
    if not isinstance(cost, Cost):
        raise QuantityError(f"a Cost is allowed, such as collective_cost(...) returns, not {shown(cost)}.")
    handshake = sp.Piecewise((0, sp.Le(n, s_rndv)), (alpha_rndv, True))
    longer = {a: a + handshake for a in (alpha, alpha_intra)}
    local, collective = ({k: e.subs(longer) for k, e in part.items()} for part in (cost.local, cost.collective))
    told = "alpha_rndv more for each message where n > s_rndv"
    return Cost(local, f"{cost.validity}; {told}" if cost.validity else told, collective, cost.fixed)


def fit_cost(
    model: str,
    costs: Sequence[tuple[Cost, np.ndarray[Any, Any]]],
    points: pd.DataFrame,
    fixed: Mapping[str, float],
    notes: Sequence[str] = (),
) -> Fit:
    """Return the fit of costs to points: each holds for the points of its array of places.

    Formulas with a Max are linear in pieces: the fit is repeated with the pieces that the last one chose, and the one
    that misses least is taken. A message inside a node takes no longer than one between nodes: alpha_intra <= alpha,
    beta_intra <= beta. The switch point s_rndv is looked for between the sizes.
    """
    from orrery_analytic.machines.keys import MACHINE_KEYS

    free = sorted({name for cost, _ in costs for name in cost.symbols} - {*_COORDINATES, *fixed})
    for name in fixed:
        if not any(name in cost.symbols for cost, _ in costs):
            raise unknown_name("fixed parameter of this cost", name, {s for cost, _ in costs for s in cost.symbols})
    P, sizes, seconds = numbers(points, "P"), points["n"].to_numpy(dtype=float), points["seconds"].to_numpy(dtype=float)
    if any("P" in cost.symbols for cost, _ in costs) and not np.all(P >= 1):
        raise QuantityError("the table does not say how many ranks took part: give ranks=.")
    linear = [name for name in free if name != _SWITCH]
    for name in linear:
        if describe(name).unit not in _TYPICAL:
            raise UnknownNameError(
                f"{name} ({describe(name).meaning}) cannot be fitted: give it a number with fixed={{{name!r}: ...}}."
            )
    if not linear:
        raise QuantityError("every parameter of this cost is fixed: nothing is left to fit.")
    mix = np.eye(len(linear))
    for inside, between in _INSIDE.items():
        if inside in linear and between in linear:  # what is fitted is by how much the way between nodes is slower
            mix[linear.index(between), linear.index(inside)] = 1.0
    typical = np.array([_TYPICAL[describe(name).unit] * (0.2 if "intra" in name else 1.0) for name in linear])
    parts = tuple((_prepared(cost), at) for cost, at in costs)
    found: list[_Found] = []
    for switch in _switches(sizes) if _SWITCH in free else (None,):
        values = fixed if switch is None else {**fixed, _SWITCH: switch}
        formula = _Formula(parts, tuple(linear), mix, typical, values, P, sizes)
        if not found:
            formula.check()
        found.append(_best_piece(formula, seconds, switch))
    admitted = _admitted(found, len(linear))
    keys = {info.symbol: key for key, info in MACHINE_KEYS.items()}
    gives = {keys[name]: Given(name, derived=model != "kernel") for name in free if name in keys}
    ends = {one.switch: float(sizes[sizes > one.switch].min()) for one, _ in admitted if one.switch is not None}

    def solved(one: _Found) -> Fit:
        fitted = [Column(x, describe(x).unit, column) for x, column in zip(linear, one.columns.T, strict=True)]
        s = one.switch
        at = [] if s is None else [Switch(_SWITCH, s, ends[s], min(ends), max(ends.values()))]
        return solve(
            model, fitted, points, mix=mix, offset=one.offset, trim=False, switches=at, notes=notes, gives=gives
        )

    fits = [(solved(one), chance) for one, chance in admitted]
    made = fits[0][0]
    made = doubted(made, [replace(fit.ways[0], chance=c) for fit, c in fits if fit.names == made.names])
    if model == "collective" and made.sigma > _POOR and _SWITCH not in free and "alpha" in free:
        hint = (
            "rendezvous=True lets messages above a size take longer, as after a handshake; it may describe them better."
        )
        return replace(made, warnings=(*made.warnings, hint))
    return made


def _switches(sizes: Floats) -> list[float]:
    """Return the sizes that the switch may come after."""
    every = [float(s) for s in np.unique(sizes)]
    if len(every) < 3:
        raise QuantityError(f"{_SWITCH} cannot be found among {len(every)} sizes: give it a number with fixed=.")
    return every[:-1]


def loss(residuals: Floats) -> float:
    """Return how much a formula misses: points that are far off count little."""
    return float(np.log1p((residuals / _ROUGH) ** 2).sum())


@dataclass(frozen=True)
class _Found:
    """Where a formula fits best with the switch after a size: loss, relative distances, columns and offset."""

    switch: float | None
    loss: float
    r: Floats
    columns: Floats
    offset: Floats


def _admitted(found: Sequence[_Found], parameters: int) -> list[tuple[_Found, float]]:
    """Return the fits that may be right, at 95 %, and how likely each is next to the best, which comes first.

    The likelihood is that whose maximum Cauchy's weights find.
    """
    best = min(found, key=lambda each: each.loss)
    scale = CAUCHY * spread(best.r, parameters)
    least, *misfits = (CAUCHY**2 * float(np.log1p((one.r / scale) ** 2).sum()) for one in (best, *found))
    return [
        (best, 1.0),
        *(
            (one, math.exp(min(least - misfit, 0.0) / 2))
            for one, misfit in zip(found, misfits, strict=True)
            if one is not best and misfit <= least + UNSURE
        ),
    ]


def _best_piece(formula: _Formula, seconds: Floats, switch: float | None) -> _Found:
    """Return where the formula fits best, of all pieces that the search came through."""
    found: list[_Found] = []
    x = formula.typical
    _, columns, offset = formula.tangent(x)
    for _ in range(_ROUNDS):
        new = estimate(columns, seconds, offset, trim=False)[0]
        still = np.allclose(new, x, rtol=1e-9, atol=0)
        x = new
        total, columns, offset = formula.tangent(x)
        r = deviations(total[:, None], seconds, np.ones(1))
        found.append(_Found(switch, loss(r), r, columns, offset))
        if still:
            break
    return min(found, key=lambda each: each.loss)
