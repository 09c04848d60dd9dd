"""For papers: figures as PDF and PGF, data as CSV, all formulas as LaTeX, and where it comes from."""

from __future__ import annotations

from orrery_analytic.exports.bundle import Bundle, export
from orrery_analytic.exports.curves import paper_curves
from orrery_analytic.exports.formula import formula_latex
from orrery_analytic.exports.paper import COLUMNS, paper_axes, save_figure
from orrery_analytic.exports.provenance import provenance
from orrery_analytic.exports.statement import crossover_statement
from orrery_analytic.exports.tables import csv_text

__all__ = [
    "COLUMNS", "Bundle", "crossover_statement", "csv_text", "export", "formula_latex", "paper_axes", "paper_curves",
    "provenance", "save_figure",
]  # fmt: skip
