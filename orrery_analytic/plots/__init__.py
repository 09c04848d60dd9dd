"""Matplotlib figures: one function a figure, data in, Axes out. No pyplot: nothing here changes a global state.

`figure` makes the Axes, `curves`, `stacked_terms` and `measured` draw on them; without Axes they make their own. What
`predict` returns is what they take, what `oa.choice_map` returns is what `choice_map` takes, and what `oa.fit` returns
`fit`. `tree`, `grid`, `overlay`, `butterfly` and `space_time` draw a schedule or a trace, each on a figure of its own;
`phase_bars` and `strong_scaling` a program; the others what algebra on costs says. In a notebook,
``axes.figure`` as the last line of a cell shows the picture.
"""

from __future__ import annotations

from orrery_analytic.plots.algebra import bound_distance, crossover_curves, elasticity_areas, rank_strips
from orrery_analytic.plots.applications import phase_bars, strong_scaling
from orrery_analytic.plots.butterfly import butterfly
from orrery_analytic.plots.choices import choice_map
from orrery_analytic.plots.curves import Curves, curves
from orrery_analytic.plots.fits import fit
from orrery_analytic.plots.measured import measured, relative_error
from orrery_analytic.plots.rounds import show_round
from orrery_analytic.plots.schedules import grid, overlay, tree
from orrery_analytic.plots.space_time import space_time
from orrery_analytic.plots.style import MEASURED, figure, size_text
from orrery_analytic.plots.terms import Stack, stacked_terms

__all__ = [
    "MEASURED", "Curves", "Stack", "bound_distance", "butterfly", "choice_map", "crossover_curves", "curves",
    "elasticity_areas", "figure", "fit", "grid", "measured", "overlay", "phase_bars", "rank_strips", "relative_error",
    "show_round", "size_text", "space_time", "stacked_terms", "strong_scaling", "tree",
]  # fmt: skip
