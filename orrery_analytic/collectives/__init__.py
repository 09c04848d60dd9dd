"""Collectives: for each algorithm a schedule for any P, and a closed form derived from its rounds."""

from orrery_analytic.collectives.patterns import schedule
from orrery_analytic.collectives.registry import list_algorithms
from orrery_analytic.collectives.verification import claims, rounds, verify

__all__ = ["claims", "list_algorithms", "rounds", "schedule", "verify"]
