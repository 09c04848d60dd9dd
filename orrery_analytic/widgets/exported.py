"""What an explorer saves: its figure, its numbers, and the formula of what is chosen."""

from __future__ import annotations

from typing import Any

import pandas as pd

from orrery_analytic import plots
from orrery_analytic.errors import QuantityError
from orrery_analytic.exports import formula_latex
from orrery_analytic.plots import size_text
from orrery_analytic.widgets.view import Picture, View

__all__ = ["csv_of", "drawn", "latex_of"]


def drawn(view: View, picture: Picture, share: bool, measured: Any = None) -> Any:
    """Return a new figure of a view: its curves, and a panel of terms for each machine.

    Parameters
    ----------
    view, picture
        What is drawn.
    share : bool
        Terms in percent, else in seconds.
    measured : (x, seconds), optional
        Points of a log.
    """
    pictures = [picture, *([picture.beside] if picture.beside else [])]
    names = [view.machine_name, *([view.beside.name] if view.beside else [])]
    figure, (upper, *lower) = plots.figure(3.8, *[2.2] * len(pictures))
    machines = (names[0], names[1]) if len(names) == 2 else None
    curves = plots.Curves(upper, view.axis, picture.x, list(picture.seconds), machines=machines)
    beside = (picture.beside.seconds, picture.beside.choice) if picture.beside else None
    curves.update(picture.x, picture.seconds, picture.choice, picture.chosen, picture.runs, beside)
    if measured is not None:
        plots.measured(measured[0], measured[1], ax=upper)
    upper.set_xlabel("")
    for ax, one, name in zip(lower, pictures, names, strict=True):
        plots.Stack(ax, view.axis, one.x, share).update(one.x, one.terms, focus=None if share else one.here)
        ax.set_xlabel("")
        if machines:
            ax.set_ylabel(name)
    lower[-1].set_xlabel(view.caption)
    return figure


def csv_of(view: View, picture: Picture) -> bytes:
    """Return the numbers of the curves and terms as CSV: bytes, ranks and seconds, with the unit in each head."""
    _, P, n = view.grid()
    columns: dict[str, Any] = {"P": P, "n (B)": n, "algorithm": picture.chosen, "runs": picture.runs}
    pictures = {view.machine_name: picture}
    if view.beside and picture.beside:
        pictures[view.beside.name] = picture.beside
    for machine, one in pictures.items():
        on = f" on {machine}" if view.beside else ""
        columns[f"choice{on} (s)"] = one.choice
        columns |= {f"choice{on}, {name.replace('_', ' ')} (s)": values for name, values in one.terms.items()}
        columns |= {f"{name}{on} (s)": values for name, values in one.seconds.items()}
    return pd.DataFrame(columns).to_csv(index=False, float_format="%.9g", lineterminator="\n").encode()


def latex_of(view: View, picture: Picture) -> bytes:
    """Return the formula of what runs at the current point as LaTeX, with where it is exact.

    Raises
    ------
    QuantityError
        If what runs has no formula.
    """
    cost = view.cost(picture.plan)
    if cost is None:
        raise QuantityError(f"there is no formula for {view.collective} {picture.plan.described} yet.")
    place = f"P = {view.P}" + ("" if view.collective == "barrier" else f", n = {size_text(view.size)}")
    head = (
        f"% {view.collective}, {picture.plan.described}, on {view.buffers} buffers, {view.network}; runs at {place}\n"
    )
    exact = f"% {' '.join(cost.validity.split())}\n% Needs amsmath. Seconds; n in bytes.\n"
    return f"{head}{exact}{formula_latex(cost, picture.plan.algorithm)}\n".encode()
