"""`export`: all that a paper needs of one prediction, in one folder, the same bytes at every run."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes

from orrery_analytic.algebra.derivations import sources
from orrery_analytic.algebra.derivations.story import Story, derivation, document_of
from orrery_analytic.collectives.registry import find
from orrery_analytic.cost import Cost
from orrery_analytic.exports.curves import draw, predictions
from orrery_analytic.exports.files import check_free, folder_of, write_all
from orrery_analytic.exports.formula import formulas_latex
from orrery_analytic.exports.paper import figure_of, pdf_bytes, pgf_text
from orrery_analytic.exports.provenance import provenance, setting_told
from orrery_analytic.exports.tables import csv_text
from orrery_analytic.selection.plans import Plan
from orrery_analytic.selection.setting import Setting, axis

if TYPE_CHECKING:
    import xarray as xr

    from orrery_analytic.machines import Machine

__all__ = ["Bundle", "export"]

_README = """\
{line}

figure.pdf      the figure: \\includegraphics{{figure}}
{pgf}
data.csv        its numbers in SI units, the unit of each column in its head
formula.tex     the formulas of its curves: \\input{{formula}}, with \\usepackage{{amsmath}}
derivation.tex  how they come about: a document of its own: pdflatex derivation, twice
sources.bib     what the derivation cites
provenance.txt  the line above
"""
_PGF = "figure.pgf      the same in the fonts of your document: \\input{figure.pgf}, with \\usepackage{pgf}"
_NO_PGF = "(figure.pgf     is left out: it needs pdflatex, which was not found here)"
_NAMES = ("figure.pdf", "figure.pgf", "data.csv", "formula.tex", "derivation.tex", "sources.bib", "provenance.txt")


@dataclass(frozen=True)
class Bundle:
    """What was written.

    Attributes
    ----------
    folder : Path
    files : tuple of str
        Names in the folder.
    line : str
        Version, machine file and its hash, and what was asked.
    data : Dataset
        What `predict` returned.
    axes : Axes
        The figure's; ``bundle.axes.figure`` shows it in a notebook.
    """

    folder: Path
    files: tuple[str, ...]
    line: str
    data: xr.Dataset
    axes: Axes

    def __repr__(self) -> str:
        return "\n".join([self.line, *(f"  {self.folder / name}" for name in self.files)])


def export(
    machine: Machine | str,
    collective: str,
    P: Any,
    n: Any,
    folder: Any,
    algorithms: Sequence[str] | None = None,
    column: Any = "single",
    font_size: float = 8.0,
    overwrite: bool = False,
    **options: Any,
) -> Bundle:
    """Write what a paper needs of a collective on a machine: figure, data, formulas, derivations, provenance.

    Parameters
    ----------
    machine, collective, P, n, **options
        As in `predict`: one of P and n has several values and is the axis of the figure. Overrides ("21 GB/s") are
        single values.
    folder : path
        Where to: figure.pdf, figure.pgf (where there is pdflatex), data.csv, formula.tex, derivation.tex, sources.bib,
        provenance.txt, README.txt.
    algorithms : sequence of str, optional
        The curves; what the library takes anywhere on the axis unless given.
    column : str or float
        "single", "double", or a width in inches.
    font_size : float
        Points.
    overwrite : bool
        Whether files that are there already may be written over.

    Returns
    -------
    Bundle

    Raises
    ------
    UnknownNameError, QuantityError
        As `predict`; and if both P and n have several values, or files are there already.
    """
    where = folder_of(folder)
    names = [name for name in (*_NAMES, "README.txt") if name != "figure.pgf" or shutil.which("pdflatex")]
    check_free((where / name for name in names), overwrite)
    setting, choice, others = predictions(machine, collective, P, n, algorithms, **options)
    line = provenance(machine, *_asked(setting, P, n), used=setting.machine)
    axes = draw(choice, others, column, font_size)
    figure = figure_of(axes)
    stories = _stories(setting, P, n, list(others))
    made: dict[str, str | bytes] = {
        "figure.pdf": pdf_bytes(figure, line),
        "data.csv": csv_text(choice, others),
        "formula.tex": formulas_latex(_costs(stories), line, column),
        "derivation.tex": _document(stories, line),
        "sources.bib": f"% {line}\n{sources.bibtex(_all_sources(stories))}",
        "provenance.txt": f"{line}\n",
        "README.txt": _README.format(line=line, pgf=_PGF if "figure.pgf" in names else _NO_PGF),
    }
    if "figure.pgf" in names:
        made["figure.pgf"] = f"%% {line}\n{pgf_text(figure)}"
    write_all({where / name: made[name] for name in names})
    return Bundle(where, tuple(names), line, choice, axes)


def _asked(setting: Setting, P: Any, n: Any) -> list[str]:
    """Return what was asked, for the line of provenance."""

    def told(name: str, values: np.ndarray) -> str:
        ends = f"{values.min()}" if values.size == 1 else f"{values.min()} to {values.max()}"
        return f"{name} = {ends}"

    sizes = axis("n", n)
    unit = "byte" if sizes.max() == 1 else "bytes"
    return [setting_told(setting), f"{told('P', axis('P', P))}, {told('n', sizes)} {unit}"]


def _stories(setting: Setting, P: Any, n: Any, names: Sequence[str]) -> dict[str, Story]:
    """Return a derivation for everything that runs on a curve and has a formula."""
    ranks, sizes = axis("P", P)[:, None], axis("n", n)[None, :]
    found: dict[Plan, None] = {}
    for name in names:
        found |= dict.fromkeys(setting.plans(ranks, sizes, name)[2])
    return {
        plan.described: _story(setting, plan)
        for plan in found
        if plan.algorithm != "self" and setting.cost(plan) is not None
    }


def _story(setting: Setting, plan: Plan) -> Story:
    segmented = not plan.parts and find(setting.collective, plan.algorithm).segmented
    return derivation(
        setting.collective, plan.algorithm, setting.network, segment_bytes=plan.segment_bytes if segmented else 0,
        fan=plan.fan or 1, radix=plan.radix or 4, parts=plan.parts or None, bands=setting.machine.bands or None,
        **setting.device,
    )  # fmt: skip


def _costs(stories: Mapping[str, Story]) -> dict[str, Cost]:
    return {name: story.cost for name, story in stories.items()}


def _all_sources(stories: Mapping[str, Story]) -> list[sources.Source]:
    return list({source.key: source for story in stories.values() for source in story.sources}.values())


def _document(stories: Mapping[str, Story], line: str) -> str:
    bodies = "\n\n".join(story.latex() for story in stories.values())
    return f"% {line}\n{document_of(bodies, sources.bibliography(_all_sources(stories)))}"
