"""What pictures of schedules share: one look a round in each of them, sheets measured in inches, labels, legends."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import is_color_like
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch

from orrery_analytic.errors import QuantityError
from orrery_analytic.plots import style
from orrery_analytic.schedules import Schedule
from orrery_analytic.schedules.trace import Message, Trace
from orrery_analytic.units import readable

__all__ = ["SMALL", "Look", "arrow", "finish", "round_handles", "sheet", "show_round", "tell", "width_of"]

SMALL = 7.5
"""Size of labels, in points."""
_LINE, _COLUMN = 0.185, 0.62  # of a legend: inches a row, inches a column without its text
_FAINT = 0.1


class Look:
    """Colour and dashes of each round; they depend on its number alone, so that they are the same in each picture.

    Parameters
    ----------
    palette : sequence of colours, or text with commas between them, optional
        Taken in turn in place of the usual ones.

    Raises
    ------
    QuantityError
        If Matplotlib knows no such colour.
    """

    def __init__(self, palette: Sequence[str] | str | None = None) -> None:
        names = palette.split(",") if isinstance(palette, str) else list(palette or ())
        self.palette = [name.strip() for name in names]
        for name in self.palette:
            if not is_color_like(name):
                raise QuantityError(f"palette: {name!r} is no colour. Allowed: Matplotlib's, for example '#0072B2'.")

    def __call__(self, k: int) -> dict[str, Any]:
        """Return colour and dashes of round k."""
        usual = style.curve_style(k)
        colour = self.palette[k % len(self.palette)] if self.palette else usual["color"]
        return {"color": colour, "linestyle": usual["linestyle"]}


def tell(messages: Sequence[Message]) -> str:
    """Return the bytes of some messages, or seconds where they are known: "4 KiB", "1 to 4 KiB"."""
    if messages[0].start is None:
        values = sorted({float(message.nbytes) for message in messages})
        texts = [style.size_text(value) for value in (values[0], values[-1])]
    else:
        spans = sorted(float(message.end - message.start) for message in messages)
        texts = [readable(span, "s") for span in (spans[0], spans[-1])]
    if texts[0] != texts[1]:
        (low, unit), (high, last) = (text.split() for text in texts)
        return f"{low} to {high} {last}" if unit == last else f"{low} {unit} to {high} {last}"
    return texts[0]


def width_of(texts: Sequence[str], size: float = SMALL) -> float:
    """Return about how wide the widest of some texts is, in inches, rather too wide; measuring text is slow."""
    return max((0.62 * size / 72 * len(text) for text in texts), default=0.0)


def round_handles(look: Look, messages: Sequence[Message], labels: bool) -> list[Line2D]:
    """Return a legend's line for each round; with `labels`, with what its messages carry."""
    by_round: dict[int, list[Message]] = {}
    for message in messages:
        by_round.setdefault(message.round, []).append(message)
    return [
        Line2D([], [], linewidth=2, label=f"round {k}" + (f": {tell(by_round[k])}" if labels else ""), **look(k))
        for k in sorted(by_round)
    ]


def sheet(
    schedule: Schedule | Trace, width: float, height: float, margins: tuple[float, float, float, float],
    handles: Sequence[Any], dpi: float | None,
) -> tuple[Figure, Axes]:  # fmt: skip
    """Return a figure whose Axes are `width` by `height` inches, with these as data units, from the upper left.

    Parameters
    ----------
    schedule : Schedule or Trace
        Whose name stands above.
    width, height : float
    margins : left, right, above (without the name), below, in inches
    handles : sequence of artists
        Of a legend, for which room is made at the right; none if empty.
    dpi : float, optional

    Raises
    ------
    QuantityError
        If `dpi` is not positive.
    """
    if dpi is not None and not dpi > 0:
        raise QuantityError(f"dpi must be a positive number, but {dpi!r} was given.")
    told = f"{schedule.name}, P = {schedule.P}"
    if isinstance(schedule, Trace):
        told += f": {readable(float(schedule.time), 's')}"
    left, right, above, below = margins
    above += 0.3
    rows = min(max(int((height + below) / _LINE), 8), max(len(handles), 1))
    columns, gap = -(-len(handles) // rows), right + 0.1
    right += columns * (_COLUMN + width_of([str(handle.get_label()) for handle in handles], 8.0))
    below = max(below, rows * _LINE - height if handles else 0)
    across, up = max(left + width + right, 0.2 + width_of([told], 9)), above + height + below
    figure, (ax,) = style.figure()
    figure.set_size_inches(across, up)
    figure.text(0.1 / across, 1 - 0.08 / up, told, fontsize=9, va="top")
    ax.set_position((left / across, below / up, width / across, height / up))
    ax.set_xlim(0, width)
    ax.set_ylim(height, 0)
    ax.set_axis_off()
    if dpi is not None:
        figure.set_dpi(dpi)
    if handles:
        ax.legend(
            handles=list(handles), loc="upper left", bbox_to_anchor=(1 + gap / width, 1.0), borderaxespad=0,
            frameon=False, fontsize=8, handlelength=2.8, labelspacing=0.5, ncols=columns, columnspacing=1.0,
        )  # fmt: skip
    return figure, ax


def arrow(
    ax: Axes, begin: tuple[float, float], end: tuple[float, float], k: int, look: Look, shrink: float = 0.0,
    **options: Any,
) -> FancyArrowPatch:  # fmt: skip
    """Draw an arrow of a round, which stops `shrink` inches before each of its ends."""
    settings = {"linewidth": 1.7, "mutation_scale": 9, "zorder": 2, **look(k), **options}
    made = FancyArrowPatch(
        begin, end, arrowstyle="-|>", shrinkA=72 * shrink, shrinkB=72 * shrink, gid=f"round {k}", **settings
    )
    ax.add_patch(made)
    return made


def show_round(ax: Axes, round: int | None) -> None:
    """Make the messages of all rounds but one faint, in any picture of a schedule; None shows all of them."""
    for artist in (*ax.patches, *ax.collections):
        name = str(artist.get_gid())
        if name.startswith("round "):
            artist.set_alpha(None if round is None or name == f"round {round}" else _FAINT)


def finish(figure: Figure, file: str | PathLike[str] | None) -> None:
    """Write the figure if a file is named; its ending says in which format."""
    if file is not None:
        figure.savefig(file, dpi=figure.dpi)
