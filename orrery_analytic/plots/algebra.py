"""What algebra on costs says, as pictures: where two algorithms cross, shares of parameters, distances to a bound."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from numpy.typing import ArrayLike

from orrery_analytic.errors import QuantityError
from orrery_analytic.plots import style
from orrery_analytic.plots.crossovers import crossover_curves, rank_strips
from orrery_analytic.symbols import describe
from orrery_analytic.symbols.printing import latex

__all__ = ["bound_distance", "crossover_curves", "elasticity_areas", "rank_strips"]

#: Of well-known parameters, the term that they look like, and a word for the legend.
_KNOWN = {
    "alpha": ("latency", "latency"), "beta": ("bandwidth", "bytes"), "gamma": ("reduce", "reduce"),
    "L": ("latency", "latency"), "o": ("sync", "overhead"), "g": ("gap", "gap"), "G": ("bandwidth", "bytes"),
}  # fmt: skip
_OTHERS = ("d2h", "peer", "h2d", "intra_latency", "intra_bandwidth", "gdr", "compute")


def elasticity_areas(x: ArrayLike, shares: Mapping[str, ArrayLike], ax: Axes | None = None, axis: str = "n") -> Axes:
    """Draw the share of each parameter in a cost over n or P, as stacked areas.

    Parameters
    ----------
    x : array
        Bytes or ranks.
    shares : mapping of parameter name to array like x
        Elasticities, as ``elasticity(cost).at(machine, P=64, n=x)`` gives them at one point: numbers from 0 on, without
        a unit, that add up to 1 unless there are fixed seconds.
    ax : Axes, optional
        Those of a new `figure` unless given.
    axis : {"n", "P"}

    Raises
    ------
    UnknownNameError
        If a name is no symbol of the package.
    QuantityError
        If a share is below 0, as that of a rate is: such areas do not stack.
    """
    ax = style.figure(2.8, above=0.15)[1][0] if ax is None else ax
    places = np.asarray(x, dtype=float)
    bottom, handles = np.zeros(len(places)), []
    others = iter(_OTHERS * len(shares))
    style.set_axis(ax, axis, places)
    for name, values in shares.items():
        height = np.asarray(values, dtype=float)
        if not np.all(height[np.isfinite(height)] >= 0):
            raise QuantityError(f"the share of {name} is below 0 somewhere: it cannot be stacked.")
        term, word = _KNOWN.get(name) or (next(others), "")
        colour, hatch = style.TERM_STYLES[term]
        handles.append(
            ax.fill_between(
                places,
                bottom,
                bottom + height,
                facecolor=colour,
                hatch=hatch,
                edgecolor="#333333",
                linewidth=0.5,
                label=f"${latex(describe(name).symbol)}$" + (f" ({word})" if word else ""),
            )
        )
        bottom = bottom + height
    ax.set_ylim(0, 1)
    ax.set_ylabel("share of the time")
    ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:.0%}"))
    style.legend(ax, handles[::-1])
    return ax


def bound_distance(x: ArrayLike, distances: Mapping[str, ArrayLike], ax: Axes | None = None, axis: str = "n") -> Axes:
    """Draw how many times each cost exceeds the lower bound of its collective, over n or P.

    Parameters
    ----------
    x : array
        Bytes or ranks.
    distances : mapping of name to array like x
        As `distance_to_bound` gives them: numbers of at least 1, without a unit; NaN where there is none.
    ax : Axes, optional
        Those of a new `figure` unless given.
    axis : {"n", "P"}

    Returns
    -------
    Axes
        Times the bound, logarithmic; the bound itself is the line at 1.
    """
    ax = style.figure(3.4, above=0.15)[1][0] if ax is None else ax
    places = np.asarray(x, dtype=float)
    style.set_axis(ax, axis, places)
    ax.grid(True, color="#E2E2E2", linewidth=0.7)
    ax.set_yscale("log")
    looks = style.algorithm_styles(list(distances))
    bound = ax.axhline(1, color="black", linewidth=1.6, label="lower bound")
    lines = [
        ax.plot(places, np.asarray(y, dtype=float), label=name, markevery=(4 * i, 28), **look)[0]
        for i, ((name, y), look) in enumerate(zip(distances.items(), looks, strict=True))
    ]
    values = np.concatenate([[1.0], *(np.ravel(np.asarray(y, dtype=float)) for y in distances.values())])
    highest = float(values[np.isfinite(values)].max())
    top = next(d * 10.0**e for e in range(400) for d in (1, 2, 5) if d * 10.0**e >= 1.05 * highest and d * 10**e > 1)
    ax.set_ylim(0.93, top)
    steps = (1, 1.2, 1.5, 2, 3, 5, 7) if top <= 10 else (1, 2, 5)
    ax.yaxis.set_major_locator(FixedLocator([d * 10.0**e for e in range(int(np.log10(top)) + 1) for d in steps]))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
    ax.set_ylabel("times the lower bound")
    style.legend(ax, [*lines, bound])
    return ax
