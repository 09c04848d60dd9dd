"""Algebra on costs: where they cross, what counts in them, how they grow; the closed form of a schedule."""

from orrery_analytic.algebra.bounds import distance_to_bound, lower_bound
from orrery_analytic.algebra.crossover import Crossover, crossover
from orrery_analytic.algebra.derivation import Derivation
from orrery_analytic.algebra.derive import derive
from orrery_analytic.algebra.dominance import Dominance, dominant_term
from orrery_analytic.algebra.elasticities import Elasticity, elasticity
from orrery_analytic.algebra.half_performance import HalfPerformance, half_performance
from orrery_analytic.algebra.identify import BASIS
from orrery_analytic.algebra.inversion import Inversion, invert
from orrery_analytic.algebra.limits import Asymptotics, asymptotics
from orrery_analytic.algebra.rules import GUIDELINES, Verdict, guideline, guidelines
from orrery_analytic.algebra.segments import OptimalSegment, optimal_segment

__all__ = [
    "BASIS",
    "GUIDELINES",
    "Asymptotics",
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
