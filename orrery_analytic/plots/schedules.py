"""Pictures of trees in schedules: one tree, a grid of one a rank, and all of them on one circle.

Colour and dashes of a round are the same in each, in `butterfly` and in `space_time`. All of them make figures of their
own, as large as it takes to read them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import ceil, cos, hypot, pi, sin, sqrt
from os import PathLike

from matplotlib.axes import Axes

from orrery_analytic.errors import QuantityError, ScheduleError, choose
from orrery_analytic.plots.rounds import (
    INK,
    SMALL,
    Key,
    Look,
    arrow,
    beneath,
    cross,
    finish,
    marks,
    sheet,
    tell_all,
    width_of,
)
from orrery_analytic.plots.spread import Spread, messages_of, orientation, predicted_of, spread, unmatched
from orrery_analytic.schedules import Schedule
from orrery_analytic.schedules.trace import Message, Trace

__all__ = ["grid", "overlay", "tree"]

Palette = Sequence[str] | str | None
File = str | PathLike[str] | None
Places = dict[int, tuple[float, float]]

_WIDE = 9.0  # inches, beyond which a tree says what its rows carry, not its edges
_STEP = 0.42  # inches from rank to rank on a circle


def tree(
    schedule: Schedule | Trace, root: int | None = None, direction: str = "auto", *,
    predicted: Schedule | Trace | None = None, palette: Palette = None, labels: bool = True, row_labels: bool = True,
    legend: bool = True, dpi: float | None = None, file: File = None,
) -> Axes:  # fmt: skip
    """Draw how data go from one rank to all (bcast, scatter), or from all to one (gather, reduce); time goes down.

    A rank stands in the row of the round in which it first gets something (down), or last gives something (up). A rank
    passes on in later rounds what it has got, so of a schedule that is no tree the tree of its root is drawn.

    Parameters
    ----------
    schedule : Schedule or Trace
    root : int, optional
        Unless given, the only rank that sends before it receives, or that receives last; else 0.
    direction : {"auto", "down", "up"}
        From the root, or to it. Unless said, up where the root never sends, or where all ends at the root.
    predicted : Schedule or Trace, optional
        Whose tree is drawn beneath, in thin grey lines: those that show are not in `schedule`.
    palette : sequence of colours, or text with commas, optional
        For the rounds in turn.
    labels : bool
        Write the bytes at each rank's edge; of a trace, the seconds ("?" where they are not known). In a broad tree
        of which all edges of a row carry the same, at the row.
    row_labels, legend : bool
    dpi : float, optional
        100 unless given.
    file : path, optional
        Where to write the picture; the ending says the format.

    Returns
    -------
    Axes
        In inches; arrows carry "round k" as their gid. A cross marks a message of which one end alone was measured.

    Raises
    ------
    ScheduleError
        If the root reaches nobody.
    QuantityError, UnknownNameError
        For arguments out of range.
    """
    messages = messages_of(schedule)
    look, thin = Look(palette, messages), predicted_of(schedule, predicted)
    root, up = orientation(schedule, messages, root, direction)
    drawn = spread(messages, root, up)
    if not drawn.edges:
        raise ScheduleError(
            f"no tree: rank {root} {'receives' if up else 'sends'} nothing. Another root or direction may do."
        )
    texts = _texts(drawn, messages) if labels else {}
    rows = dict.fromkeys(drawn.rounds, "")
    places, dx = drawn.places(), max(0.44, 0.26 + width_of([*texts.values()]))
    last = max(column for column, _ in places.values())
    if dx * last > _WIDE and row_labels:
        texts, rows = _by_row(drawn, texts)
        dx = max(0.44, 0.26 + width_of([*texts.values()]))
    dy = 0.5 if len(rows) <= 12 else 0.42
    names = [f"round {k}" + (f": {text}" if text else "") for k, text in rows.items()]
    key = Key(look, drawn.edges, False, marks(thin, drawn.edges)) if legend else None
    left = 0.22 + max(0.53, width_of(names, 8)) if row_labels else 0.1
    figure, ax = sheet(schedule, dx * (last + 1), dy * len(rows) + 0.4, (left, 0.1, 0.05, 0.1), key, dpi)
    at = _draw(ax, drawn, look, (0.2, 0.2), (dx, dy), 0.13)
    for edge in spread(thin, root, up).edges:
        if edge.source in at and edge.destination in at:
            beneath(ax, at[edge.source], at[edge.destination], 0.14)
    for rank, text in texts.items():
        x, y = at[rank]
        ax.text(x + 0.13, y + (0.12 if up else -0.12), text, fontsize=SMALL, va="center", color=INK)
    if row_labels:
        for i, name in enumerate([*names, "end"] if up else ["start", *names]):
            ax.text(-0.1, 0.2 + dy * i, name, ha="right", va="center", fontsize=8, color=INK)
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
    messages, trees = messages_of(schedule), _trees(schedule, direction)
    look, places = Look(palette, messages), [each.places() for each in trees]
    step = (0.3, 0.36)
    across = step[0] * max(column for each in places for column, _ in each.values()) + 0.45
    across = max(across, 0.15 + width_of([f"from {schedule.P - 1}"], 8))
    down = step[1] * max(len(each.rounds) for each in trees) + 0.7
    most = ceil(sqrt(1.6 * len(trees) * down / across)) if columns is None else columns
    if isinstance(most, bool) or not hasattr(most, "__index__") or most < 1:
        raise QuantityError(f"columns must be a whole number of at least 1, but {columns!r} was given.")
    rows = ceil(len(trees) / most)
    if columns is None:  # the last row about as full as the others
        rows = max(round(len(trees) / most), 1)
        most = ceil(len(trees) / rows)
    edges = _united(trees)
    key = Key(look, edges, labels, marks((), edges)) if legend else None
    figure, ax = sheet(schedule, across * min(most, len(trees)), down * rows, (0.1, 0.1, 0.05, 0.1), key, dpi)
    for i, each in enumerate(trees):
        x, y = across * (i % most) + 0.18, down * (i // most) + 0.4
        ax.text(x - 0.1, y - 0.28, f"{'to' if each.up else 'from'} {each.root}", fontsize=8, va="center", color=INK)
        _draw(ax, each, look, (x, y), step, 0.1, width=1.4, size=6.5)
    finish(figure, file)
    return ax


def overlay(
    schedule: Schedule | Trace, direction: str = "down", *, palette: Palette = None, labels: bool = True,
    legend: bool = True, dpi: float | None = None, file: File = None,
) -> Axes:  # fmt: skip
    """Draw the trees of all ranks over each other, with the ranks on a circle; an arrow of many trees is broad.

    Arrows bend towards the centre; where two ranks meet in several rounds, more in each round.

    Parameters
    ----------
    schedule, direction, palette, labels, legend, dpi, file
        As in `grid`.

    Raises
    ------
    QuantityError, UnknownNameError
        For arguments out of range.
    """
    messages, trees = messages_of(schedule), _trees(schedule, direction)
    look = Look(palette, messages)
    uses = Counter((edge.source, edge.destination, edge.round) for each in trees for edge in each.edges)
    meetings: dict[frozenset[int], set[int]] = {}
    for source, destination, k in uses:
        meetings.setdefault(frozenset((source, destination)), set()).add(k)
    most = max(map(len, meetings.values()), default=1)
    gap = min(0.09, 0.5 / most)  # inches from one arrow to the next of the same two ranks, at most
    radius = max(0.9, _STEP * schedule.P / (2 * pi))
    centre = radius + 0.3
    key = Key(look, _united(trees), labels) if legend else None
    figure, ax = sheet(schedule, 2 * centre, 2 * centre, (0.1, 0.1, 0.0, 0.1), key, dpi)
    turn = 2 * pi / schedule.P
    way = [(sin(turn * rank), -cos(turn * rank)) for rank in range(schedule.P)]
    at = [(centre + radius * x, centre + radius * y) for x, y in way]
    broad = min(1.5, 72 * gap - 0.7)
    for (source, destination, k), trees_of_it in sorted(uses.items(), key=lambda item: item[0][2]):
        (x, y), (to_x, to_y) = way[source], way[destination]
        across = x * to_y - y * to_x  # positive where the shorter way to the destination is clockwise
        bend = 0.06 + gap * sorted(meetings[frozenset((source, destination))]).index(k)
        curve = 2 * bend / (radius * hypot(to_x - x, to_y - y)) * (1 if across > -1e-9 else -1)
        arrow(
            ax, at[source], at[destination], k, look, 0.06, linewidth=0.7 + broad * trees_of_it / max(uses.values()),
            connectionstyle=f"arc3,rad={curve:.4f}", mutation_scale=9 if most < 5 else 6,
        )  # fmt: skip
    x_all, y_all = zip(*at, strict=True)
    ax.scatter(x_all, y_all, s=22, color=INK, zorder=3)
    for rank, (x, y) in enumerate(way):
        place = centre + (radius + 0.17) * x, centre + (radius + 0.17) * y
        ax.text(*place, str(rank), ha="center", va="center_baseline", fontsize=8, color=INK)
    finish(figure, file)
    return ax


def _texts(drawn: Spread, messages: Sequence[Message]) -> dict[int, str]:
    """Return what the edge of each rank carries, over all rounds: a pipeline uses it for each segment."""
    pairs: dict[tuple[int, int], list[Message]] = {}
    for message in messages:
        pairs.setdefault((message.source, message.destination), []).append(message)
    return {drawn.far(edge): tell_all(pairs[edge.source, edge.destination]) for edge in drawn.edges}


def _by_row(drawn: Spread, texts: dict[int, str]) -> tuple[dict[int, str], dict[int, str]]:
    """Return the texts of ranks that differ from others in their row, and the text of each row that has one."""
    row_of = {drawn.far(edge): edge.round for edge in drawn.edges}
    told: dict[int, set[str]] = {k: set() for k in drawn.rounds}
    for rank, text in texts.items():
        told[row_of[rank]].add(text)
    rows = {k: next(iter(each)) if len(each) == 1 else "" for k, each in told.items()}
    return {rank: text for rank, text in texts.items() if not rows[row_of[rank]]}, rows


def _trees(schedule: Schedule | Trace, direction: str) -> list[Spread]:
    up = choose("direction", direction, ("down", "up")) == "up"
    messages = messages_of(schedule)
    return [spread(messages, rank, up) for rank in range(schedule.P)]


def _united(trees: Sequence[Spread]) -> list[Message]:
    return [edge for each in trees for edge in each.edges]


def _draw(
    ax: Axes, drawn: Spread, look: Look, corner: tuple[float, float], step: tuple[float, float], radius: float,
    width: float = 1.7, size: float = 8,
) -> Places:  # fmt: skip
    """Draw a tree and return where its ranks are."""
    at = {
        rank: (corner[0] + step[0] * column, corner[1] + step[1] * row)
        for rank, (column, row) in drawn.places().items()
    }
    for edge in drawn.edges:
        arrow(ax, at[edge.source], at[edge.destination], edge.round, look, radius + 0.01, linewidth=width)
    for edge in unmatched(drawn.edges):
        cross(ax, at[edge.source], at[edge.destination])
    x_all, y_all = zip(*at.values(), strict=True)
    ax.scatter(x_all, y_all, s=(2 * 72 * radius) ** 2, facecolor="white", edgecolor=INK, linewidth=1.1, zorder=3)
    for rank, place in at.items():
        ax.text(*place, str(rank), ha="center", va="center_baseline", fontsize=size, color=INK, zorder=4)
    return at
