"""Schedules: who sends how many bytes to whom in which round, who reduces what, who waits for what."""

from orrery_analytic.schedules.schedule import Schedule

__all__ = ["Schedule"]
