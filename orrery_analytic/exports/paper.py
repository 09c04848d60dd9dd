"""Figures as a paper wants them: its column width, its font size, PDF and PGF that are the same at every run."""

from __future__ import annotations

import io
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Real
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure, SubFigure
from matplotlib.text import Text

from orrery_analytic.errors import QuantityError, choose
from orrery_analytic.exports.files import check_free, folder_of, write_all
from orrery_analytic.units import is_finite, shown

__all__ = [
    "COLUMNS", "figure_of", "paper_axes", "pdf_bytes", "pgf_text", "points_of", "save_figure", "set_font_size",
    "width_of",
]  # fmt: skip

COLUMNS = {"single": 3.5, "double": 7.16}
"""Widths of a column and of the text of a page with two columns, in inches."""

# Inches around the axes, and for a row of the legend, with texts of 8 points.
_LEFT, _RIGHT, _ABOVE, _BELOW = 0.74, 0.2, 0.45, 0.5
_ROW = 0.17
_SCREEN = 96  # pixels of an inch, in a browser
_SMALLEST, _LARGEST = 1.0, 30.0  # inches


class _PaperFigure(Figure):
    """A figure that a notebook shows as wide as the paper does, sharp on any screen."""

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        out = io.BytesIO()
        self.savefig(out, format="png", dpi=2 * _SCREEN)
        wide, high = (round(_SCREEN * inches) for inches in self.get_size_inches())
        return out.getvalue(), {"width": wide, "height": high}


def _number(name: str, value: Any, low: float, high: float, unit: str) -> float:
    number = isinstance(value, Real) and not isinstance(value, bool) and is_finite(value)
    if not number or not low <= float(value) <= high:
        raise QuantityError(
            f"{name} must be a number of {unit} from {low:g} to {high:g}, but {shown(value)} was given."
        )
    return float(value)


def points_of(font_size: Any) -> float:
    """Return a font size in points."""
    return _number("font_size", font_size, 4, 30, "points")


def width_of(column: Any) -> float:
    """Return the width of a figure: that of a column of `COLUMNS`, or inches."""
    if isinstance(column, str):
        return COLUMNS[choose("column of a paper", column, COLUMNS)]
    return _number("column", column, _SMALLEST, _LARGEST, "inches, or 'single' or 'double',")


def paper_axes(
    column: Any = "single", legend_rows: int = 2, height: float | None = None, font_size: float = 8.0
) -> Axes:
    """Return Axes of a new figure as wide as a column, with room above for names and below for a legend.

    Parameters
    ----------
    column : str or float
        "single", "double", or a width in inches.
    legend_rows : int
        Rows of the legend below.
    height : float, optional
        Inches of the whole figure; 0.62 of the width and the legend unless given, at most that of a page.
    font_size : float
        Points; larger texts have larger margins.
    """
    wide, larger = width_of(column), points_of(font_size) / 8
    left, right, above = (larger * inches for inches in (_LEFT, _RIGHT, _ABOVE))
    below = larger * (_BELOW + _number("legend_rows", legend_rows, 0, 40, "rows") * _ROW)
    high = min(0.62 * wide, 3.4) + below if height is None else _number("height", height, 1.5, _LARGEST, "inches")
    figure = _PaperFigure(figsize=(wide, high))
    FigureCanvasAgg(figure)
    if wide < left + right + 0.5 or high < below + above + 0.5:
        raise QuantityError(
            f"a figure of {wide:g} x {high:.2g} inches leaves no room for curves beside texts of {font_size:g} points. "
            "Take smaller texts, or a wider column."
        )
    box = (left / wide, below / high, (wide - left - right) / wide, (high - below - above) / high)
    return figure.add_axes(box)


def figure_of(drawn: Any) -> Figure:
    """Return a figure, or that of Axes."""
    if isinstance(drawn, Axes):
        drawn = drawn.figure
    while isinstance(drawn, SubFigure):
        drawn = drawn.figure
    if not isinstance(drawn, Figure):
        raise QuantityError(f"a Matplotlib figure or Axes is allowed, but {shown(drawn)} was given.")
    return drawn


@contextmanager
def _escaped(figure: Figure) -> Iterator[None]:
    """Show LaTeX no character that it trips over: PGF takes texts as they are."""
    figure.canvas.draw()  # ticks get their labels
    texts = {text: text.get_text() for text in figure.findobj(Text)}
    try:
        for text, content in texts.items():
            if "$" not in content:
                text.set_text(re.sub(r"([_&#])", r"\\\1", content))
        yield
    finally:
        for text, content in texts.items():
            text.set_text(content)


def pdf_bytes(figure: Figure, subject: str = "") -> bytes:
    """Return a figure as PDF with its fonts in it and no date, so that the same figure gives the same bytes."""
    out = io.BytesIO()
    with mpl.rc_context({"pdf.fonttype": 42}):
        figure.savefig(out, format="pdf", metadata={"CreationDate": None, **({"Subject": subject} if subject else {})})
    return out.getvalue()


def pgf_text(figure: Figure) -> str:
    r"""Return a figure as PGF for ``\input``, set in the fonts of the document; needs pdflatex.

    Raises
    ------
    QuantityError
        If there is no pdflatex, which measures the texts.
    """
    if shutil.which("pdflatex") is None:
        raise QuantityError("PGF needs pdflatex, which measures the texts. Install TeX Live, or save PDF alone.")
    out = io.BytesIO()
    with mpl.rc_context({"pgf.texsystem": "pdflatex", "pgf.rcfonts": False, "pgf.preamble": ""}), _escaped(figure):
        figure.savefig(out, format="pgf", backend="pgf")
    return out.getvalue().decode()


def save_figure(
    drawn: Figure | Axes, stem: Any, column: Any = None, font_size: float = 8.0, overwrite: bool = False
) -> list[Path]:
    """Write any figure of this package as PDF and, where there is pdflatex, as PGF, for a paper.

    Parameters
    ----------
    drawn : Figure or Axes
    stem : path
        Where to, without an ending: "paper/figure" gives paper/figure.pdf and paper/figure.pgf.
    column : str or float, optional
        "single", "double", or a width in inches: the figure is made as wide, with its own proportions. As it is unless
        given.
    font_size : float
        Points of all texts; those of the paper's captions look right.
    overwrite : bool
        Whether files that are there already may be written over.

    Returns
    -------
    list of Path

    Raises
    ------
    QuantityError
        For what is no figure, no width, or no path, and for files that are there already.
    """
    figure = figure_of(drawn)
    if not isinstance(stem, str | Path) or not Path(stem).name:
        raise QuantityError(f"stem must be a path without an ending, such as 'paper/figure', not {shown(stem)}.")
    if column is not None:
        wide, (old, high) = width_of(column), figure.get_size_inches()
        figure.set_size_inches(wide, high * wide / old)
    set_font_size(figure, font_size)
    folder = folder_of(Path(stem).parent)
    pdf, pgf = (folder / f"{Path(stem).name}.{ending}" for ending in ("pdf", "pgf"))
    wanted = [pdf, *([pgf] if shutil.which("pdflatex") else [])]
    check_free(wanted, overwrite)
    write_all({path: pdf_bytes(figure) if path == pdf else pgf_text(figure) for path in wanted})
    return wanted


def set_font_size(figure: Figure, points: Any) -> None:
    """Give all texts of a figure the same size, in points."""
    size = points_of(points)
    for axes in figure.axes:
        axes.tick_params(labelsize=size)
    for text in figure.findobj(Text):
        text.set_fontsize(size)
