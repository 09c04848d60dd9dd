"""Matplotlib figures: one function a figure, data in, Axes out. No pyplot: nothing here changes a global state.

`figure` makes the Axes, `curves`, `stacked_terms` and `measured` draw on them; without Axes they make their own. What
`predict` returns is what they take, and what `oa.choice_map` returns is what `choice_map` takes. `tree`, `grid`,
`overlay`, `butterfly` and `space_time` draw a schedule or a trace, each on a figure of its own. In a notebook,
``axes.figure`` as the last line of a cell shows the picture.
"""

from __future__ import annotations

from orrery_analytic.plots.butterfly import butterfly
from orrery_analytic.plots.choices import choice_map
from orrery_analytic.plots.curves import Curves, curves, measured, relative_error
from orrery_analytic.plots.rounds import show_round
from orrery_analytic.plots.schedules import grid, overlay, tree
from orrery_analytic.plots.space_time import space_time
from orrery_analytic.plots.style import MEASURED, figure, size_text
from orrery_analytic.plots.terms import Stack, stacked_terms

__all__ = [
    "MEASURED", "Curves", "Stack", "butterfly", "choice_map", "curves", "figure", "grid", "measured", "overlay",
    "relative_error", "show_round", "size_text", "space_time", "stacked_terms", "tree",
]  # fmt: skip
