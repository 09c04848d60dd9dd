"""Explorers for notebooks: every knob of the formulas as a control, figures that follow at once."""

from __future__ import annotations

from orrery_analytic.widgets.choices import ChoiceExplorer, explore_choices
from orrery_analytic.widgets.explorer import Explorer, explore
from orrery_analytic.widgets.schedule_steps import ScheduleSteps, explore_schedule

__all__ = ["ChoiceExplorer", "Explorer", "ScheduleSteps", "explore", "explore_choices", "explore_schedule"]
