"""Algebra on costs: the closed form of a schedule that anybody wrote."""

from orrery_analytic.algebra.derivation import Derivation
from orrery_analytic.algebra.derive import derive
from orrery_analytic.algebra.identify import BASIS

__all__ = ["BASIS", "Derivation", "derive"]
