"""How figures look: colours that colour-blind people tell apart, with dashes, markers and hatches for grey prints."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from orrery_analytic.errors import QuantityError, choose
from orrery_analytic.units import readable

__all__ = [
    "BESIDE", "CHOICE", "MEASURED", "NO_FORMULA", "NO_FORMULA_LINE", "TERM_STYLES", "algorithm_styles", "axis_of",
    "beside_style", "curve_style", "figure", "head_of", "legend", "log_limits", "paler", "set_axis", "set_time_axis",
    "size_text",
]  # fmt: skip

# Okabe and Ito's colours without yellow, which is too faint for lines, and without black, which marks what is measured.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_DASHES: tuple[Any, ...] = ("-", (0, (6, 2)), (0, (3, 1.5)), (0, (7, 2, 1.5, 2)), (0, (1.2, 1.2)))
_MARKERS = "os^DvPX"

# Places in the three rows above, so that an algorithm looks the same in every figure. Those of one collective differ in
# dashes or marker, and the usual ones of a collective in colour, as far as six colours go.
_LOOKS: dict[str, tuple[int, int, int]] = {
    "basic_linear": (4, 4, 2), "nonoverlapping": (3, 1, 5), "recursive_doubling": (0, 0, 0), "ring": (5, 2, 4),
    "segmented_ring": (2, 3, 6), "rabenseifner": (1, 1, 1), "mpich_rabenseifner": (0, 2, 1),
    "bine_recursive_doubling": (3, 4, 5), "bine_reduce_scatter_allgather": (4, 3, 3),
    "two_level_recursive_doubling": (2, 0, 6), "linear": (4, 4, 3), "bruck": (3, 3, 2), "neighbor": (2, 1, 1),
    "two_proc": (5, 3, 6), "sparbit": (1, 4, 5), "mpich_recursive_doubling": (3, 1, 6), "bine_butterfly": (0, 0, 2),
    "chain": (3, 0, 4), "pipeline": (0, 1, 0), "split_binary_tree": (2, 3, 3), "binary_tree": (3, 2, 1),
    "binomial": (2, 3, 6), "knomial": (4, 2, 4), "scatter_allgather": (1, 1, 5), "scatter_allgather_ring": (5, 0, 3),
    "bine_tree": (5, 2, 5), "two_level_binomial": (1, 4, 0), "binary": (3, 1, 5), "in-order_binary": (5, 3, 2),
    "non-overlapping": (4, 4, 5), "recursive_halving": (3, 1, 6), "butterfly": (2, 3, 3), "mpich_pairwise": (1, 2, 0),
    "pairwise": (2, 1, 1), "modified_bruck": (0, 2, 2), "linear_sync": (3, 0, 0), "double_ring": (2, 1, 1),
    "tree": (1, 2, 4), "linear_nb": (3, 0, 1), "default": (4, 0, 3),
}  # fmt: skip

CHOICE: dict[str, Any] = {"color": "#B8B8B8", "linewidth": 9, "alpha": 0.7, "solid_capstyle": "round", "zorder": 1.5}
"""The library's choice: a broad band under the curve that it takes."""

BESIDE: dict[str, Any] = {**CHOICE, "color": "#DCDCDC", "alpha": 0.8, "zorder": 1.4}
"""The same of a second machine, paler."""

MEASURED: dict[str, Any] = {
    "color": "black", "linestyle": "", "marker": "o", "markersize": 6, "markerfacecolor": "white",
    "markeredgewidth": 1.4, "zorder": 4,
}  # fmt: skip

NO_FORMULA: dict[str, Any] = {"facecolor": "#F2F2F2", "edgecolor": "#8C8C8C", "hatch": "xxx", "linewidth": 0}
NO_FORMULA_LINE = (0, (0.4, 0.4))

TERM_STYLES: dict[str, tuple[str, str]] = {
    "call": ("#FFFFFF", ""),
    "launch": ("#C4C4C4", ""),
    "compute": ("#8C8C8C", "//"),
    "sync": ("#E6E6E6", "\\\\"),
    "d2h": ("#D55E00", "\\\\\\"),
    "h2d": ("#F4B183", "\\\\"),
    "gdr": ("#009E73", "--"),
    "peer": ("#8FD6BF", "||"),
    "latency": ("#56B4E9", ""),
    "bandwidth": ("#0072B2", "///"),
    "gap": ("#CC79A7", "xx"),
    "intra_latency": ("#C6E4F7", "oo"),
    "intra_bandwidth": ("#5C9BC4", "++"),
    "reduce": ("#F0C94A", "..."),
    "exposed": ("#3E5C76", "**"),
}
"""Colour and hatch of each term, whatever the figure."""

_LEFT, _RIGHT, _BETWEEN = 0.88, 1.75, 0.12  # margins, inches; a legend stands at the right
_LONGEST = 19  # characters of a line of the legend
_AXES = {"n": "message size n", "P": "ranks P"}


class _ShownFigure(Figure):
    """A figure that a notebook shows without pyplot."""

    def _repr_png_(self) -> bytes:
        out = io.BytesIO()
        self.savefig(out, format="png")
        return out.getvalue()


def figure(*heights: float, width: float = 7.8, above: float = 0.68, below: float = 0.5) -> tuple[Figure, list[Axes]]:
    """Return a figure with one panel a height, one under the other, with room for a legend at the right.

    Parameters
    ----------
    *heights : float
        Inches from one panel to the next; one of 3.8 unless given.
    width : float
        Inches of the whole figure.
    above : float
        Inches above the first panel, where `curves` names the switches.
    below : float
        Inches below each panel.
    """
    sizes = heights or (3.8,)
    made = _ShownFigure(figsize=(width, sum(sizes)), dpi=100)
    FigureCanvasAgg(made)
    panels, top = [], sum(sizes)
    for i, height in enumerate(sizes):
        over = _BETWEEN if i else above
        across, up = width - _LEFT - _RIGHT, height - over - below
        box = (_LEFT / width, (top - height + below) / sum(sizes), across / width, up / sum(sizes))
        panels.append(made.add_axes(box))
        top -= height
    return made, panels


def curve_style(i: int) -> dict[str, Any]:
    """Return colour, dashes and marker of the i-th curve; later ones are thinner, so that equal curves both show."""
    return {
        "color": _COLOURS[i % len(_COLOURS)],
        "linestyle": _DASHES[i % len(_DASHES)],
        "marker": _MARKERS[i % len(_MARKERS)],
        "markersize": 5.5,
        "markerfacecolor": "white",
        "linewidth": max(2.6 - 0.2 * i, 1.4),
        "zorder": 2 + 0.01 * i,
    }


def algorithm_styles(names: Sequence[str]) -> list[dict[str, Any]]:
    """Return the style of each curve of a figure: that of its algorithm in every figure, or a free one for other names.

    Width and order of drawing are those of its place, so that equal curves both show.
    """
    free = iter([i for i in range(len(_DASHES) * len(_MARKERS)) if _place(i) not in _LOOKS.values()] * (len(names) + 1))
    made = []
    for i, name in enumerate(names):
        colour, dashes, marker = _LOOKS[name] if name in _LOOKS else _place(next(free))
        look = {"color": _COLOURS[colour], "linestyle": _DASHES[dashes], "marker": _MARKERS[marker]}
        made.append({**curve_style(i), **look})
    return made


def paler(colour: str, share: float) -> tuple[float, ...]:
    """Return a colour of which only a share is left, the rest being white: for areas beside lines of that colour."""
    return tuple(1 - (1 - part) * share for part in to_rgb(colour))


def _place(i: int) -> tuple[int, int, int]:
    return i % len(_COLOURS), i % len(_DASHES), i % len(_MARKERS)


def beside_style(style: dict[str, Any], second: bool) -> dict[str, Any]:
    """Return a style for one of two machines: the first solid with open markers, the second dashed with full ones."""
    line: Any = (0, (5, 2.2)) if second else "-"
    return {**style, "linestyle": line, "markerfacecolor": style["color"] if second else "white"}


def head_of(machine: str, second: bool) -> Line2D:
    """Return the entry of a legend that says which lines are those of a machine, the first or the second of two."""
    look = beside_style({**curve_style(0), "color": "#333333"}, second)
    return Line2D([], [], label=machine, **look)


def size_text(nbytes: float) -> str:
    """Return bytes with a binary prefix, to three digits: "1.5 KiB", "64 B"."""
    powers = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1, "B"))
    power, prefix = next((row for row in powers if nbytes >= row[0]), powers[-1])
    value = nbytes / power
    return f"{value:.{4 if value >= 999.5 else 3}g} {prefix}"


def axis_of(data: xr.Dataset) -> tuple[str, np.ndarray[Any, Any], xr.Dataset]:
    """Return the name of the long dimension of a prediction, its values, and the data along it alone.

    Raises
    ------
    QuantityError
        If more than one dimension is longer than 1: a curve has one.
    """
    long = [str(name) for name, size in data.sizes.items() if size > 1] or ["n"]
    if len(long) > 1:
        told = ", ".join(f"{name} ({data.sizes[name]} values)" for name in long)
        raise QuantityError(f"a curve runs over one of P and n, but long are {told}. Take one with .sel or .isel.")
    name = choose("axis of a curve", long[0], _AXES)
    flat = data.squeeze([d for d in data.dims if d != name])
    return name, np.atleast_1d(flat[name].to_numpy()), flat


def set_axis(ax: Axes, axis: str, x: np.ndarray[Any, Any]) -> None:
    """Make the horizontal axis one of sizes ("n") or of ranks ("P"), logarithmic, as long as x."""
    ax.set_xscale("log", base=2)
    ax.set_xlim(float(np.min(x)), max(float(np.max(x)), 2 * float(np.min(x))))
    ax.xaxis.set_major_locator(LogLocator(base=4 if axis == "n" else 2, numticks=9 if axis == "n" else 13))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: size_text(v) if axis == "n" else f"{v:.0f}"))
    ax.set_xlabel(_AXES[axis])


def set_time_axis(ax: Axes) -> None:
    """Make the vertical axis one of times, logarithmic, with units on its ticks."""
    ax.set_yscale("log")
    ax.yaxis.set_major_locator(LogLocator(base=10, numticks=8))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: readable(v, "s")))
    ax.set_ylabel("time of the call")


def log_limits(values: Sequence[np.ndarray[Any, Any]]) -> tuple[float, float] | None:
    """Return half or whole powers of ten around all positive finite values, or None where there are none."""
    flat = np.concatenate([np.ravel(v) for v in values]) if values else np.array([])
    flat = flat[np.isfinite(flat) & (flat > 0)]
    if not flat.size:
        return None
    low, high = 2 * np.log10(flat.min()) - 0.1, 2 * np.log10(flat.max()) + 0.1
    return float(10 ** (np.floor(low) / 2)), float(10 ** (np.ceil(high) / 2))


def legend(ax: Axes, handles: Sequence[Any]) -> None:
    """Put the legend at the right, outside of the data; long names take two lines."""
    made = ax.legend(
        handles=list(handles), loc="upper left", bbox_to_anchor=(1.015, 1.0), borderaxespad=0, frameon=False,
        fontsize=8.5, handlelength=2.75, handletextpad=0.75, labelspacing=0.55 if len(handles) < 10 else 0.25,
    )  # fmt: skip
    for text in made.get_texts():
        name = text.get_text()
        if len(name) > _LONGEST and "\n" not in name:
            cut = name.rfind("_", 0, _LONGEST) + 1 or _LONGEST
            text.set_text(f"{name[:cut]}\n{name[cut:]}")
