"""Ranks against rounds: who sends to whom, round by round."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, product
from os import PathLike

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from orrery_analytic.plots.rounds import (
    INK,
    LISTED,
    SMALL,
    Key,
    Look,
    arrow,
    beneath,
    cross,
    finish,
    marks,
    sheet,
    tell,
    tell_all,
    width_of,
)
from orrery_analytic.plots.spread import messages_of, predicted_of, unmatched
from orrery_analytic.schedules import Schedule
from orrery_analytic.schedules.trace import Message, Trace

__all__ = ["butterfly"]


def butterfly(
    schedule: Schedule | Trace, *, predicted: Schedule | Trace | None = None,
    palette: Sequence[str] | str | None = None, labels: bool = True, legend: bool = True, dpi: float | None = None,
    file: str | PathLike[str] | None = None,
) -> Axes:  # fmt: skip
    """Draw ranks (down) against rounds (across): an arrow a message, a square where a rank reduces in the round before.

    Parameters
    ----------
    schedule, palette, legend, dpi, file
        As in `tree`.
    predicted : Schedule or Trace, optional
        Whose messages are drawn beneath, in thin grey lines: those that show are not in `schedule`.
    labels : bool
        Write bytes (of a trace, seconds): above each round where all its messages are alike, else at each sender;
        behind the name where they are the same in more than 12 rounds.

    Raises
    ------
    QuantityError
        For arguments out of range.
    """
    messages, thin = messages_of(schedule), predicted_of(schedule, predicted)
    look, reducing = Look(palette, messages), _reducing(schedule)
    rounds = sorted({message.round for message in (*messages, *thin)})
    heads = {k: tell(each) if (each := [m for m in messages if m.round == k]) else "" for k in rounds}
    unlike = {k for k in rounds if " to " in heads[k]}
    at_sender = _at_sender(messages, unlike) if labels else {}
    once = labels and len(rounds) > LISTED and len({*heads.values()}) == 1 and not unlike
    note = f", {heads[rounds[0]]} a message" if once else ""
    heads = {k: text for k, text in heads.items() if labels and not once and k not in unlike}
    narrow = max(0.34 if len(rounds) > LISTED else 0.5, 0.25 + width_of([*at_sender.values(), *heads.values()]))
    dy = 0.3 if at_sender else 0.25
    steep = {k: sum(abs(m.source - m.destination) for m in messages if m.round == k) / schedule.P for k in rounds}
    widths = [max(narrow, 0.06 * each) for each in steep.values()]  # room between steep lines
    edges = list(accumulate(widths, initial=0.1))
    left, right = dict(zip(rounds, edges, strict=False)), dict(zip(rounds, edges[1:], strict=True))
    more = [Line2D([], [], linestyle="", marker="s", markersize=6, color=INK, label="reduces")] if reducing else []
    key = Key(look, messages, False, [*more, *marks(thin, messages)]) if legend else None
    size = edges[-1] + 0.1, dy * (schedule.P - 1) + 0.3
    figure, ax = sheet(schedule, *size, (0.5, 0.1, 0.45, 0.1), key, dpi, note)
    y = [0.15 + dy * rank for rank in range(schedule.P)]
    weight, head = (1.4, 7) if schedule.P <= 16 else (1.0, 6)

    def ends(message: Message) -> tuple[tuple[float, float], tuple[float, float]]:
        return (left[message.round], y[message.source]), (right[message.round], y[message.destination])

    for message in messages:
        arrow(ax, *ends(message), message.round, look, 0.06, linewidth=weight, mutation_scale=head)
    for message in thin:
        beneath(ax, *ends(message), 0.06)
    for message in unmatched(messages):
        cross(ax, *ends(message))
    columns = [-1, *rounds]  # what happens before each edge
    for reduces, marker, area in ((False, "o", 10), (True, "s", 30)):
        spots = [
            (edges[i], y[rank])
            for i, rank in product(range(len(columns)), range(schedule.P))
            if ((rank, columns[i]) in reducing) == reduces
        ]
        ax.scatter(*_xy(spots), marker=marker, s=area * (1 if schedule.P <= 16 else 0.6), color=INK, zorder=3)
    for rank in range(schedule.P):
        ax.text(-0.05, y[rank], str(rank), ha="right", va="center", fontsize=8, color=INK)
    for k in rounds:
        ax.text((left[k] + right[k]) / 2, -0.3, str(k), ha="center", va="center", fontsize=8, color=INK)
    for k, text in heads.items():
        ax.text((left[k] + right[k]) / 2, -0.1, text, ha="center", va="center", fontsize=SMALL, color=INK)
    box = {"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.75}
    for (rank, k), text in at_sender.items():
        ax.text(left[k] + 0.08, y[rank] - 0.36 * dy, text, va="center", fontsize=SMALL - 0.5, color=INK, bbox=box)
    for height, name in ((-0.3, "round"), (-0.1, "rank")):
        ax.text(-0.05, height, name, ha="right", va="center", fontsize=8, color=INK)
    finish(figure, file)
    return ax


def _at_sender(messages: Sequence[Message], rounds: set[int]) -> dict[tuple[int, int], str]:
    """Return what each rank sends in some rounds, by rank and round."""
    sent: dict[tuple[int, int], list[Message]] = {}
    for message in messages:
        if message.round in rounds:
            sent.setdefault((message.source, message.round), []).append(message)
    return {key: tell_all(each) for key, each in sent.items()}


def _reducing(schedule: Schedule | Trace) -> set[tuple[int, int]]:
    """Return (rank, round) of all reductions."""
    if isinstance(schedule, Trace):
        return {(each.rank, each.round) for each in schedule.reductions}
    return {(rank, k) for k, each in enumerate(schedule.rounds()) for rank, _ in each.reductions}


def _xy(places: Iterable[tuple[float, float]]) -> tuple[list[float], list[float]]:
    pairs = list(places)
    return [x for x, _ in pairs], [y for _, y in pairs]
