"""Pictures of schedules: a tree, a grid of trees, all trees on one circle, and ranks against rounds (butterfly).

Colour and dashes of a round are the same in each, and in `space_time`. All of them make figures of their own, as large
as it takes to read them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import product
from math import ceil, cos, pi, sin, sqrt
from os import PathLike
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from orrery_analytic.errors import QuantityError, ScheduleError, choose
from orrery_analytic.plots.rounds import SMALL, Look, arrow, finish, round_handles, sheet, tell, width_of
from orrery_analytic.plots.spread import Spread, messages_of, orientation, spread
from orrery_analytic.schedules import Schedule
from orrery_analytic.schedules.trace import Message, Trace

__all__ = ["butterfly", "grid", "overlay", "tree"]

Palette = Sequence[str] | str | None
File = str | PathLike[str] | None

_INK = "#222222"


def tree(
    schedule: Schedule | Trace, root: int | None = None, direction: str = "auto", *, palette: Palette = None,
    labels: bool = True, row_labels: bool = True, legend: bool = True, dpi: float | None = None, file: File = None,
) -> Axes:  # fmt: skip
    """Draw how data go from one rank to all (bcast, scatter), or from all to one (gather, reduce); time goes down.

    A rank stands in the row of the round in which it first gets something (down), or last gives something (up). A rank
    passes on in later rounds what it has got, so of a schedule that is no tree the tree of its root is drawn.

    Parameters
    ----------
    schedule : Schedule or Trace
    root : int, optional
        Unless given, the only rank that never receives, or never sends; else 0.
    direction : {"auto", "down", "up"}
        From the root, or to it. Unless said, up where the root never sends, or where the schedule reduces.
    palette : sequence of colours, or text with commas, optional
        For the rounds in turn.
    labels : bool
        Write the bytes at each rank's edge; of a trace, the seconds.
    row_labels, legend : bool
    dpi : float, optional
        100 unless given.
    file : path, optional
        Where to write the picture; the ending says the format.

    Returns
    -------
    Axes
        In inches; arrows carry "round k" as their gid.

    Raises
    ------
    ScheduleError
        If the root reaches nobody.
    QuantityError, UnknownNameError
        For arguments out of range.
    """
    look, messages = Look(palette), messages_of(schedule)
    root, up = orientation(schedule, messages, root, direction)
    drawn = spread(messages, root, up)
    if not drawn.edges:
        raise ScheduleError(
            f"no tree: rank {root} {'receives' if up else 'sends'} nothing. Another root or direction may do."
        )
    pairs: dict[tuple[int, int], list[Message]] = {}
    for message in messages:
        pairs.setdefault((message.source, message.destination), []).append(message)
    texts = {drawn.far(edge): _repeated(pairs[edge.source, edge.destination]) for edge in drawn.edges}
    places, dx = drawn.places(), max(0.44, 0.26 + width_of([*texts.values()])) if labels else 0.44
    height = 0.5 * len(drawn.rounds)
    width = dx * max(column for column, _ in places.values())
    handles = round_handles(look, drawn.edges, labels=False) if legend else []
    left = 0.75 if row_labels else 0.1
    figure, ax = sheet(schedule, width + dx, height + 0.4, (left, 0.1, 0.05, 0.1), handles, dpi)
    at = _draw(ax, drawn, look, (0.2, 0.2), (dx, 0.5), 0.13)
    if labels:
        for rank, text in texts.items():
            x, y = at[rank]
            ax.text(x + 0.13, y + (0.12 if up else -0.12), text, fontsize=SMALL, va="center", color=_INK)
    if row_labels:
        names = [f"round {k}" for k in drawn.rounds]
        for i, name in enumerate([*names, "end"] if up else ["start", *names]):
            ax.text(-0.1, 0.2 + 0.5 * i, name, ha="right", va="center", fontsize=8, color=_INK)
    finish(figure, file)
    return ax


def grid(
    schedule: Schedule | Trace, direction: str = "down", *, columns: int | None = None, palette: Palette = None,
    labels: bool = True, legend: bool = True, dpi: float | None = None, file: File = None,
) -> Axes:  # fmt: skip
    """Draw one tree a rank, as `tree` does for one: how what it has reaches the others (allgather, allreduce).

    Parameters
    ----------
    schedule, palette, legend, dpi, file
        As in `tree`.
    direction : {"down", "up"}
        From each rank to the others, or from the others to it.
    columns : int, optional
        Trees in a row.
    labels : bool
        Say in the legend what the messages of each round carry.

    Raises
    ------
    QuantityError, UnknownNameError
        For arguments out of range.
    """
    look, trees = Look(palette), _trees(schedule, direction)
    places = [each.places() for each in trees]
    step = (0.3, 0.36)
    across = step[0] * max(column for each in places for column, _ in each.values()) + 0.55
    down = step[1] * max(len(each.rounds) for each in trees) + 0.75
    most = ceil(sqrt(1.6 * len(trees) * down / across)) if columns is None else columns
    if isinstance(most, bool) or not hasattr(most, "__index__") or most < 1:
        raise QuantityError(f"columns must be a whole number of at least 1, but {columns!r} was given.")
    most = min(most, len(trees))
    across = max(across, 0.95)  # the name of a tree
    handles = round_handles(look, _united(trees), labels) if legend else []
    size = across * most, down * ceil(len(trees) / most)
    figure, ax = sheet(schedule, *size, (0.1, 0.1, 0.05, 0.1), handles, dpi)
    for i, each in enumerate(trees):
        x, y = across * (i % most) + 0.18, down * (i // most) + 0.4
        ax.text(x - 0.1, y - 0.3, f"{'to' if each.up else 'from'} {each.root}", fontsize=8, va="center", color=_INK)
        _draw(ax, each, look, (x, y), step, 0.1, width=1.4, size=6.5)
    finish(figure, file)
    return ax


def overlay(
    schedule: Schedule | Trace, direction: str = "down", *, palette: Palette = None, labels: bool = True,
    legend: bool = True, dpi: float | None = None, file: File = None,
) -> Axes:  # fmt: skip
    """Draw the trees of all ranks over each other, with the ranks on a circle; an arrow of many trees is broad.

    Parameters
    ----------
    schedule, direction, palette, labels, legend, dpi, file
        As in `grid`.

    Raises
    ------
    QuantityError, UnknownNameError
        For arguments out of range.
    """
    look, trees = Look(palette), _trees(schedule, direction)
    uses = Counter((edge.source, edge.destination, edge.round) for each in trees for edge in each.edges)
    radius = max(0.9, 0.42 * schedule.P / (2 * pi))
    centre = radius + 0.25
    handles = round_handles(look, _united(trees), labels) if legend else []
    figure, ax = sheet(schedule, 2 * centre, 2 * centre, (0.1, 0.1, 0.0, 0.1), handles, dpi)
    turn = 2 * pi / schedule.P
    at = {rank: (centre + radius * sin(turn * rank), centre - radius * cos(turn * rank)) for rank in range(schedule.P)}
    for (source, destination, k), trees_of_it in sorted(uses.items(), key=lambda item: item[0][2]):
        arrow(
            ax, at[source], at[destination], k, look, 0.13,
            linewidth=0.7 + 1.5 * trees_of_it / max(uses.values()), connectionstyle="arc3,rad=0.12",
        )  # fmt: skip
    _ranks(ax, at, 0.12, 8)
    finish(figure, file)
    return ax


def butterfly(
    schedule: Schedule | Trace, *, palette: Palette = None, labels: bool = True, legend: bool = True,
    dpi: float | None = None, file: File = None,
) -> Axes:  # fmt: skip
    """Draw ranks (down) against rounds (across): an arrow a message, a square where a rank reduces in the round before.

    Parameters
    ----------
    schedule, palette, legend, dpi, file
        As in `tree`.
    labels : bool
        Write bytes (of a trace, seconds): above each round where all its messages are alike, else at each sender.

    Raises
    ------
    QuantityError
        For arguments out of range.
    """
    look, messages = Look(palette), messages_of(schedule)
    rounds = sorted({message.round for message in messages})
    heads = {k: tell([m for m in messages if m.round == k]) for k in rounds}
    sent: dict[tuple[int, int], list[Message]] = {}
    for message in messages:
        sent.setdefault((message.source, message.round), []).append(message)
    unlike = {k for k in rounds if " to " in heads[k]}
    at_sender = {key: _repeated(each) for key, each in sent.items() if key[1] in unlike}
    texts = [*at_sender.values(), *(heads[k] for k in rounds if k not in unlike)] if labels else []
    dx, dy = max(0.5, 0.25 + width_of(texts)), 0.3 if labels and unlike else 0.25
    reducing = _reducing(schedule)
    handles: list[Any] = round_handles(look, messages, labels=False) if legend else []
    if reducing and legend:
        handles.append(Line2D([], [], linestyle="", marker="s", markersize=6, color=_INK, label="reduces"))
    size = dx * len(rounds) + 0.2, dy * (schedule.P - 1) + 0.3
    figure, ax = sheet(schedule, *size, (0.5, 0.1, 0.45, 0.1), handles, dpi)
    x = {k: 0.1 + dx * i for i, k in enumerate(rounds)}
    places: dict[bool, list[tuple[float, float]]] = {False: [], True: []}  # of ranks that do not reduce, and that do
    for rank, i in product(range(schedule.P), range(len(rounds) + 1)):
        places[i > 0 and (rank, rounds[i - 1]) in reducing].append((0.1 + dx * i, 0.15 + dy * rank))
    for message in messages:
        begin, end = ((x[message.round], 0.15 + dy * rank) for rank in (message.source, message.destination))
        arrow(ax, begin, (end[0] + dx, end[1]), message.round, look, 0.06, linewidth=1.4, mutation_scale=7)
    for reduces, spots in places.items():
        ax.scatter(*_xy(spots), marker="s" if reduces else "o", s=30 if reduces else 10, color=_INK, zorder=3)
    for rank in range(schedule.P):
        y = 0.15 + dy * rank
        ax.text(-0.05, y, str(rank), ha="right", va="center", fontsize=8, color=_INK)
    for k in rounds:
        ax.text(x[k] + dx / 2, -0.3, str(k), ha="center", va="center", fontsize=8, color=_INK)
        if labels and k not in unlike:
            ax.text(x[k] + dx / 2, -0.1, heads[k], ha="center", va="center", fontsize=SMALL, color=_INK)
    if labels:
        box = {"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.75}
        for (rank, k), text in at_sender.items():
            ax.text(
                x[k] + 0.08, 0.15 + dy * (rank - 0.36), text, va="center", fontsize=SMALL - 0.5, color=_INK, bbox=box
            )
    ax.text(-0.05, -0.3, "round", ha="right", va="center", fontsize=8, color=_INK)
    ax.text(-0.05, -0.1, "rank", ha="right", va="center", fontsize=8, color=_INK)
    finish(figure, file)
    return ax


def _reducing(schedule: Schedule | Trace) -> set[tuple[int, int]]:
    """Return (rank, round) of all reductions."""
    if isinstance(schedule, Trace):
        return {(each.rank, each.round) for each in schedule.reductions}
    return {(rank, k) for k, each in enumerate(schedule.rounds()) for rank, _ in each.reductions}


def _repeated(messages: Sequence[Message]) -> str:
    told = tell(messages)
    return told if len(messages) == 1 else f"{len(messages)} × {told}"


def _trees(schedule: Schedule | Trace, direction: str) -> list[Spread]:
    up = choose("direction", direction, ("down", "up")) == "up"
    messages = messages_of(schedule)
    return [spread(messages, rank, up) for rank in range(schedule.P)]


def _united(trees: Sequence[Spread]) -> list[Message]:
    return [edge for each in trees for edge in each.edges]


def _draw(
    ax: Axes, drawn: Spread, look: Look, corner: tuple[float, float], step: tuple[float, float], radius: float,
    width: float = 1.7, size: float = 8,
) -> dict[int, tuple[float, float]]:  # fmt: skip
    """Draw a tree and return where its ranks are."""
    at = {
        rank: (corner[0] + step[0] * column, corner[1] + step[1] * row)
        for rank, (column, row) in drawn.places().items()
    }
    for edge in drawn.edges:
        arrow(ax, at[edge.source], at[edge.destination], edge.round, look, radius + 0.01, linewidth=width)
    _ranks(ax, at, radius, size)
    return at


def _xy(places: Iterable[tuple[float, float]]) -> tuple[list[float], list[float]]:
    pairs = list(places)
    return [x for x, _ in pairs], [y for _, y in pairs]


def _ranks(ax: Axes, at: dict[int, tuple[float, float]], radius: float, size: float) -> None:
    ax.scatter(*_xy(at.values()), s=(2 * 72 * radius) ** 2, facecolor="white", edgecolor=_INK, linewidth=1.1, zorder=3)
    for rank, place in at.items():
        ax.text(*place, str(rank), ha="center", va="center_baseline", fontsize=size, color=_INK, zorder=4)
