"""The host bounce: what a collective on device buffers takes longer than on host buffers, and what it predicts."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import sympy as sp

from orrery_analytic.calibration.fitted import Fit
from orrery_analytic.calibration.linear import Floats
from orrery_analytic.calibration.points import as_table, by_size, falls, measured, numbers, one_series, where
from orrery_analytic.calibration.result import Given
from orrery_analytic.calibration.solve import Column, solve, source_of
from orrery_analytic.cost import evaluate
from orrery_analytic.decisions.whole import one
from orrery_analytic.errors import QuantityError
from orrery_analytic.gpu import bounce_copies
from orrery_analytic.units import readable, shown

__all__ = ["add_bounce", "common_sizes", "fit_bounce", "same_call"]

_STEP = 1.5


def common_sizes(device: Any, host: Any, names: tuple[str, str]) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """Return the points of two tables at the sizes that both have, and notes."""
    sides, notes = [], []
    for name, table in zip(names, (device, host), strict=True):
        points, told = by_size(one_series(measured(as_table(table))))
        sides.append(points)
        notes += [f"{name}: {note}" for note in (*told, *falls(points))]
    common = np.intersect1d(sides[0]["n"], sides[1]["n"])
    if not common.size:
        raise QuantityError(f"the two tables have no size in common: nothing can be fitted to {' and '.join(names)}.")
    left = sum(len(side) for side in sides) - 2 * len(common)
    if left:
        rows = "1 row has" if left == 1 else f"{left} rows have"
        notes.append(f"{rows} a size that the other table lacks: not used.")
    first, second = (side[side["n"].isin(common)].reset_index(drop=True) for side in sides)
    return first, second, notes


def _copied(points: pd.DataFrame, copies: int | None, library: str) -> tuple[int, Floats, str]:
    """Return how many copies a call makes, how many bytes in all at each point, and of what."""
    n: Floats = points["n"].to_numpy(dtype=float)
    if copies is not None:
        count = one("copies", copies, 1, 64)
        return count, count * n, f"{count} {'copies' if count > 1 else 'copy'} of n bytes"
    known = points["collective"].dropna() if "collective" in points.columns else points["n"][:0]
    if not len(known):
        raise QuantityError("the table does not say which collective it measured: give copies=, how many a call makes.")
    name = str(known.iloc[0])
    made = bounce_copies(name, library)
    if made is None:
        raise QuantityError(
            f"{library} copies no buffer of {name} to the host. Allowed: copies=, how many of n bytes a call makes."
        )
    each = (*made.down, *made.up)
    P = numbers(points, "ranks")
    values: dict[str, Any] = {"n": n, **({"P": P} if np.all(P >= 1) else {})}
    return (
        len(each),
        evaluate([sp.Add(*each)], values)[0],
        f"{len(each)} copies by {library}, {', '.join(map(str, each))}",
    )


def same_call(device: pd.DataFrame, host: pd.DataFrame) -> None:
    """Raise a QuantityError if two tables say that they are of two collectives, or of two numbers of ranks."""
    for name in ("collective", "ranks"):
        one_each = [table[name].dropna().unique() for table in (device, host) if name in table.columns]
        if len(one_each) == 2 and all(map(len, one_each)) and set(one_each[0]) != set(one_each[1]):
            of = " and ".join(f"{value[0]:g}" if name == "ranks" else str(value[0]) for value in one_each)
            raise QuantityError(f"the two tables differ in {name}: {of}. Allowed: two tables of the same call.")


def fit_bounce(device: Any, host: Any, copies: int | None = None, library: str = "openmpi-4.1") -> Fit:
    r"""Return what the bounce through the host costs, :math:`T_{device} - T_{host} = \alpha_b + b \beta_b`.

    The parameters are alpha_bounce and beta_bounce; b are the bytes of all copies of a call. The relative error of the
    sum, host as measured plus bounce against device as measured, is what is made small, over all sizes; where a point
    is far off it counts less, and none is set aside.

    Parameters
    ----------
    device, host : DataFrame
        Times of the same collective on the same ranks, on device and on host buffers.
    copies : int, optional
        How many copies of n bytes a call makes; what the library does (`bounce_copies`) unless given.
    library : str
        As in `bounce_copies`.

    Raises
    ------
    QuantityError
        If the tables have no size in common or are of two collectives or numbers of ranks, or the library copies
        nothing of that collective.
    """
    slow, fast, notes = common_sizes(device, host, ("device", "host"))
    same_call(slow, fast)
    count, copied, told = _copied(slow, copies, library)
    known: Floats = fast["seconds"].to_numpy(dtype=float)
    less = (slow["seconds"].to_numpy() <= known).sum()
    if less:
        notes.append(f"at {less} of {len(slow)} sizes the host buffers are not faster: no bounce shows there.")
    columns = [Column("alpha_bounce", "s", np.ones(len(slow))), Column("beta_bounce", "s/B", copied)]
    notes.append(f"{told}: beta_bounce is the time a byte of one of them.")
    gives = {
        f"{way}_{kind}": Given(name, factor, derived=True)
        for way in ("d2h", "h2d")
        for kind, name, factor in (("latency", "alpha_bounce", 1 / count), ("bandwidth", "beta_bounce", 1.0))
    }
    source = f"device: {source_of(slow)}; host: {source_of(fast)}"
    first = solve("bounce", columns, slow, offset=known, trim=False, gives=gives, source=source)
    notes += _steps(slow, known, copied, first.parameters["alpha_bounce"])
    return solve("bounce", columns, slow, offset=known, trim=False, notes=notes, gives=gives, source=source)


def _steps(slow: pd.DataFrame, known: Floats, copied: Floats, alpha: float) -> list[str]:
    """Say between which sizes the bandwidth of a copy jumps."""
    seconds = slow["seconds"].to_numpy(dtype=float)
    rest = seconds - known - alpha
    long = np.flatnonzero((rest > alpha) & (rest > 0.1 * seconds))
    rates = copied[long] / rest[long]
    notes = []
    for at, (i, j) in enumerate(pairwise(long)):
        if not 1 / _STEP < rates[at + 1] / rates[at] < _STEP:
            n = slow["n"].to_numpy()
            below, above = (float(np.median(part)) for part in (rates[max(at - 2, 0) : at + 1], rates[at + 1 : at + 4]))
            notes.append(
                f"the bandwidth of a copy steps from {readable(rates[at], 'B/s')} at {readable(n[i], 'B')} to "
                f"{readable(rates[at + 1], 'B/s')} at {readable(n[j], 'B')}{where(slow.loc[[i, j]])} "
                f"(medians of three sizes: {readable(below, 'B/s')} and {readable(above, 'B/s')}): one bandwidth does "
                "not describe both sides."
            )
    return notes


def add_bounce(fit: Fit, host: Any, copies: int | None = None, library: str = "openmpi-4.1") -> pd.DataFrame:
    """Return the times that a bounce predicts: host times as measured plus the bounce of a fit.

    Parameters
    ----------
    fit : Fit
        What `fit_bounce` returned.
    host : DataFrame
        Times on host buffers, of any number of ranks.
    copies, library
        As in `fit_bounce`.

    Returns
    -------
    DataFrame
        n, host_seconds, bounce_seconds, seconds (their sum), low and high (95 %, from the covariance of the fit).
    """
    if not isinstance(fit, Fit) or fit.model != "bounce":
        raise QuantityError(
            f"add_bounce takes a fit of a bounce, as fit_bounce returns it, not {shown(getattr(fit, 'model', fit))}."
        )
    points, _ = by_size(one_series(measured(as_table(host))))
    _, copied, _ = _copied(points, copies, library)
    columns = np.column_stack([np.ones(len(points)), copied])
    bounce = columns @ np.array([fit.parameters[name] for name in fit.names])
    half = 1.96 * np.sqrt(np.einsum("ij,jk,ik->i", columns, fit.covariance, columns))
    out = points[["n"]].assign(host_seconds=points["seconds"], bounce_seconds=bounce)
    out["seconds"] = out["host_seconds"] + bounce
    return out.assign(low=out["host_seconds"] + np.maximum(bounce - half, 0.0), high=out["seconds"] + half)
