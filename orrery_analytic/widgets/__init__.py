"""Explorers for notebooks: every knob of the formulas as a control, figures that follow at once."""

from __future__ import annotations

from orrery_analytic.widgets.explorer import Explorer, explore

__all__ = ["Explorer", "explore"]
