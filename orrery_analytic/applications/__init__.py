"""Programs made of calls: the Jacobi solver."""

from __future__ import annotations

from orrery_analytic.applications.grid import ROWS, kernel_bytes, norms_due, slowest_rows
from orrery_analytic.applications.jacobi import PHASES, Jacobi

__all__ = ["PHASES", "ROWS", "Jacobi", "kernel_bytes", "norms_due", "slowest_rows"]
