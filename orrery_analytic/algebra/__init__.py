"""Algebra on costs: where they cross, what counts in them, how they grow; the closed form of a schedule."""

from orrery_analytic.algebra.bounds import distance_to_bound, lower_bound
from orrery_analytic.algebra.crossings.counts import CountInversion
from orrery_analytic.algebra.crossings.crossover import Crossover, crossover
from orrery_analytic.algebra.crossings.dominance import Dominance, dominant_term
from orrery_analytic.algebra.crossings.inversion import Inversion, invert
from orrery_analytic.algebra.elasticities import Elasticity, elasticity
from orrery_analytic.algebra.from_schedules.closed_forms import Derivation
from orrery_analytic.algebra.from_schedules.derive import derive
from orrery_analytic.algebra.from_schedules.identify import BASIS
from orrery_analytic.algebra.guidelines import GUIDELINES, guidelines
from orrery_analytic.algebra.half_performance import HalfPerformance, half_performance
from orrery_analytic.algebra.limits import Asymptotics, asymptotics
from orrery_analytic.algebra.segments import OptimalSegment, optimal_segment
from orrery_analytic.algebra.verdicts import Verdict, guideline

__all__ = [
    "BASIS",
    "GUIDELINES",
    "Asymptotics",
    "CountInversion",
    "Crossover",
    "Derivation",
    "Dominance",
    "Elasticity",
    "HalfPerformance",
    "Inversion",
    "OptimalSegment",
    "Verdict",
    "asymptotics",
    "crossover",
    "derive",
    "distance_to_bound",
    "dominant_term",
    "elasticity",
    "guideline",
    "guidelines",
    "half_performance",
    "invert",
    "lower_bound",
    "optimal_segment",
]
