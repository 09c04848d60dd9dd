"""What pictures of schedules share: one look a round in each of them, sheets measured in inches, labels, legends."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from os import PathLike
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import ListedColormap, Normalize, is_color_like
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from orrery_analytic.errors import QuantityError
from orrery_analytic.plots import style
from orrery_analytic.plots.spread import duration, seconds, timed, unmatched
from orrery_analytic.schedules import Schedule
from orrery_analytic.schedules.trace import Message, Trace
from orrery_analytic.units import readable

__all__ = [
    "INK", "LISTED", "PREDICTED", "SMALL", "UNMATCHED", "Key", "Look", "arrow", "beneath", "cross", "finish",
    "marks", "sheet", "show_round", "tell", "tell_all", "width_of",
]  # fmt: skip

SMALL = 7.5
"""Size of labels, in points."""
LISTED = 12
"""So many rounds a legend lists, at most."""
INK = "#222222"
PREDICTED: dict[str, Any] = {"color": "#8C8C8C", "linewidth": 0.7, "linestyle": "-"}
UNMATCHED: dict[str, Any] = {"color": INK, "marker": "x", "linestyle": "", "markersize": 6, "markeredgewidth": 1.5}
_LINE, _COLUMN = 0.185, 0.62  # of a legend: inches a row, inches a column without its text
_BAR = (0.16, 2.0)  # inches of a colour bar
_FAINT = 0.1
_COLOURS = 6  # rounds that get colours of their own
_BRIGHTEST = 0.86  # of viridis: beyond, lines are too faint on white


class Look:
    """Colour and dashes of each round. They depend on its place among all rounds and on their number: on no view.

    Up to 6 rounds have colours that are easy to name; more take a scale from dark to bright, which a grey print keeps.
    Neighbours differ in dashes too, up to 12 rounds; beyond, dashes would be noise.

    Parameters
    ----------
    palette : sequence of colours, or text with commas between them, optional
        Taken in turn in place of the usual ones.
    messages : sequence of Message
        All of the schedule.

    Raises
    ------
    QuantityError
        If Matplotlib knows no such colour.
    """

    def __init__(self, palette: Sequence[str] | str | None, messages: Sequence[Message]) -> None:
        if not isinstance(palette, (str, Sequence, type(None))):
            raise QuantityError(f"palette must be colours, or text with commas between them, but is {palette!r}.")
        names = palette.split(",") if isinstance(palette, str) else list(palette or ())
        self.palette = [name.strip() if isinstance(name, str) else name for name in names]
        for name in self.palette:
            if not is_color_like(name):
                raise QuantityError(f"palette: {name!r} is no colour. Allowed: Matplotlib's, for example '#0072B2'.")
        self.rounds = sorted({message.round for message in messages})
        self._place = {k: i for i, k in enumerate(self.rounds)}
        self._scale = [tuple(colour) for colour in colormaps["viridis"](np.linspace(0, _BRIGHTEST, len(self.rounds)))]

    def __call__(self, k: int) -> dict[str, Any]:
        """Return colour and dashes of round k."""
        i, many = self._place[k], len(self.rounds)
        usual = style.curve_style(i)
        colour = usual["color"]
        if self.palette:
            colour = self.palette[i % len(self.palette)]
        elif many > _COLOURS:
            colour = self._scale[i]
        dashes = usual["linestyle"] if self.palette or many <= LISTED else "-"
        return {"color": colour, "linestyle": dashes}


class Key:
    """What stands at the right of a picture: a line a round, or a colour bar where they are too many, and the rest.

    Parameters
    ----------
    look : Look
    messages : sequence of Message
        Those drawn.
    labels : bool
        Say what the messages of each round carry.
    more : sequence of artists
        For a legend, with labels.
    """

    def __init__(self, look: Look, messages: Sequence[Message], labels: bool, more: Sequence[Any] = ()) -> None:
        by_round: dict[int, list[Message]] = {}
        for message in messages:
            by_round.setdefault(message.round, []).append(message)
        self.handles = list(more)
        self.title, self.scale = "", None
        self.names: dict[int, int] = {}
        if len(by_round) > LISTED and not look.palette:
            self.title = "round" + (f": {tell(messages)}" if labels else "")
            colours = ListedColormap([look(k)["color"] for k in look.rounds])
            self.scale = ScalarMappable(Normalize(-0.5, len(look.rounds) - 0.5), colours)
            self.names = dict(enumerate(look.rounds))
            return
        self.handles[:0] = [
            Line2D([], [], linewidth=2, label=f"round {k}" + (f": {tell(by_round[k])}" if labels else ""), **look(k))
            for k in sorted(by_round)
        ]


def tell(messages: Sequence[Message]) -> str:
    """Return the bytes of some messages, or seconds in a trace: "4 KiB", "1 to 4 KiB"; "?" where nothing is known."""
    low, high = _extremes(messages)
    if low == high:
        return low
    (number, unit), (_, last) = low.split(), high.split()
    return f"{number} to {high}" if unit == last else f"{low} to {high}"


def tell_all(messages: Sequence[Message]) -> str:
    """Return how many messages there are, where more than one, and the most that one carries: "4 × ≤ 8 KiB"."""
    low, high = _extremes(messages)
    many = f"{len(messages)} × " if len(messages) > 1 else ""
    return many + (high if low == high else f"≤ {high}")


def _extremes(messages: Sequence[Message]) -> tuple[str, str]:
    if timed(messages):
        found = [span for message in messages if (span := seconds(message)) is not None]
        texts = [readable(span, "s") for span in (min(found), max(found))] if found else []
    else:
        values = [float(message.nbytes) for message in messages if message.nbytes is not None]
        found = [value for value in values if value == value]  # NaN: not known
        texts = [style.size_text(value) for value in (min(found), max(found))] if found else []
    return (texts[0], texts[1]) if texts else ("?", "?")


def width_of(texts: Sequence[str], size: float = SMALL) -> float:
    """Return about how wide the widest of some texts is, in inches, rather too wide; measuring text is slow."""
    return max((0.62 * size / 72 * len(text) for text in texts), default=0.0)


def sheet(
    schedule: Schedule | Trace, width: float, height: float, margins: tuple[float, float, float, float],
    key: Key | None, dpi: float | None, note: str = "",
) -> tuple[Figure, Axes]:  # fmt: skip
    """Return a figure whose Axes are `width` by `height` inches, with these as data units, from the upper left.

    Parameters
    ----------
    schedule : Schedule or Trace
        Whose name stands above.
    width, height : float
    margins : left, right, above (without the name), below, in inches
    key : Key, optional
        For which room is made at the right.
    dpi : float, optional
    note : str
        What stands behind the name.

    Raises
    ------
    QuantityError
        If `dpi` is not positive.
    """
    if dpi is not None and (isinstance(dpi, bool) or not isinstance(dpi, Real) or not 0 < dpi < float("inf")):
        raise QuantityError(f"dpi must be a positive number, but {dpi!r} was given.")
    told = f"{schedule.name}, P = {schedule.P}"
    if isinstance(schedule, Trace):
        told += f": {readable(duration(schedule), 's')}"
    told += note
    left, right, above, below = margins
    above += 0.3
    handles = key.handles if key else []
    bar = 0.0 if key is None or key.scale is None else _BAR[1] + 0.4  # inches, with its title
    rows = min(max(int((height + below - bar) / _LINE), 8), max(len(handles), 1))
    columns, gap = -(-len(handles) // rows), right + 0.1
    beside = columns * (_COLUMN + width_of([str(handle.get_label()) for handle in handles], 8.0))
    right += max(beside, width_of([key.title], 8.0) + 0.2 if key and bar else 0)
    below = max(below, bar + rows * _LINE * (columns > 0) - height)
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
    if key and bar:
        place = ((left + width + gap) / across, (below + height - bar + 0.1) / up, _BAR[0] / across, _BAR[1] / up)
        _colour_bar(figure, place, key)
    if handles:
        ax.legend(
            handles=handles, loc="upper left", bbox_to_anchor=(1 + gap / width, 1 - bar / height), borderaxespad=0,
            frameon=False, fontsize=8, handlelength=2.8, labelspacing=0.5, ncols=columns, columnspacing=1.0,
        )  # fmt: skip
    return figure, ax


def _colour_bar(figure: Figure, place: tuple[float, float, float, float], key: Key) -> None:
    """Draw the scale of the rounds; the first is at the top, as in a tree."""
    cax = figure.add_axes(place)
    assert key.scale is not None
    name = FuncFormatter(lambda i, _: str(key.names.get(round(i), "")))
    bar = figure.colorbar(key.scale, cax=cax, ticks=MaxNLocator(6, integer=True), format=name)
    cax.invert_yaxis()
    cax.tick_params(labelsize=8)
    cax.set_title(key.title, fontsize=8, loc="left", pad=6)
    bar.outline.set_linewidth(0.6)


def arrow(
    ax: Axes, begin: tuple[float, float], end: tuple[float, float], k: int, look: Look, shrink: float = 0.0,
    **options: Any,
) -> FancyArrowPatch:  # fmt: skip
    """Draw an arrow of a round, which stops `shrink` inches before each of its ends."""
    settings = {"linewidth": 1.7, "mutation_scale": 9, "zorder": 2, **look(k), **options}
    made = FancyArrowPatch(
        begin, end, arrowstyle="-|>", shrinkA=72 * shrink, shrinkB=72 * shrink, gid=f"round {k}", **settings
    )
    ax.add_artist(made)  # `add_patch` would look for limits, which are set: it takes most of the time
    return made


def beneath(ax: Axes, begin: tuple[float, float], end: tuple[float, float], shrink: float) -> None:
    """Draw a thin arrow of what was predicted."""
    style_of_it = {"arrowstyle": "-|>", "mutation_scale": 6, "zorder": 1.5, "gid": "predicted", **PREDICTED}
    ax.add_artist(FancyArrowPatch(begin, end, shrinkA=72 * shrink, shrinkB=72 * shrink, **style_of_it))


def cross(ax: Axes, begin: tuple[float, float], end: tuple[float, float]) -> None:
    """Mark the arrow of a message of which one end alone was measured."""
    ax.plot((begin[0] + end[0]) / 2, (begin[1] + end[1]) / 2, **UNMATCHED)


def marks(predicted: Sequence[Message], drawn: Sequence[Message]) -> list[Line2D]:
    """Return what a legend says of `beneath` and `cross`, where there are such."""
    more = [Line2D([], [], label="predicted", **PREDICTED)] if predicted else []
    return more + ([Line2D([], [], label="unmatched", **UNMATCHED)] if unmatched(drawn) else [])


def show_round(ax: Axes, round: int | None) -> None:
    """Make the messages of all rounds but one faint, in any picture of a schedule; None shows all of them."""
    for artist in (*ax.patches, *ax.collections):
        name = str(artist.get_gid())
        if name.startswith("round "):
            artist.set_alpha(None if round is None or name.split()[1] == str(round) else _FAINT)


def finish(figure: Figure, file: str | PathLike[str] | None) -> None:
    """Write the figure if a file is named; its ending says in which format."""
    if file is not None:
        figure.savefig(file, dpi=figure.dpi)
