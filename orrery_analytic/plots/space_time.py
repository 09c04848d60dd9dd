"""Ranks down, time across: when each message and reduction happens, and which of them decide the time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from os import PathLike
from typing import Any

from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from orrery_analytic.errors import QuantityError
from orrery_analytic.networks import Network
from orrery_analytic.plots.rounds import PREDICTED, UNMATCHED, Key, Look, finish, marks, sheet
from orrery_analytic.plots.spread import duration, known, messages_of, predicted_of, seconds, unmatched
from orrery_analytic.plots.style import TERM_STYLES
from orrery_analytic.schedules import Schedule
from orrery_analytic.schedules.trace import Message, Part, Trace
from orrery_analytic.units import readable

__all__ = ["space_time"]

Line = list[tuple[float, float]]

_WIDTH, _ROUND, _ROW = (7.0, 9.0), 0.3, 0.27  # inches: of few and many ranks, of a round at least, and a rank
_BAR = 0.28  # half the height of a reduction, in rows
_PATH: dict[str, Any] = {"color": "#CACACA", "linewidth": 7.5}  # pale: dashes on it show in grey prints too


def space_time(
    schedule: Schedule | Trace, network: Network | None = None, *, predicted: Schedule | Trace | None = None,
    palette: Sequence[str] | str | None = None, labels: bool = True, legend: bool = True, dpi: float | None = None,
    file: str | PathLike[str] | None = None, **values: Any,
) -> Axes:  # fmt: skip
    """Draw a run: a slanted line a message, from sender and start to receiver and end; a bar a reduction.

    A broad grey band is the critical path: the messages and reductions without a pause between, of which the last one
    ends with the collective; its bars have thick edges. Where it goes on at another rank, a dotted line leads there.

    Parameters
    ----------
    schedule : Schedule or Trace
    network : Hockney, LogGP or TwoLevel
        For a Schedule; a Trace has its times. Of a message whose other end was not measured, a stub is drawn at the end
        that was, with a cross.
    predicted : Schedule or Trace, optional
        Whose messages are drawn beneath, in thin grey lines.
    palette, legend, dpi, file
        As in `tree`.
    labels : bool
        Say in the legend how long the messages of each round take.
    **values : numbers
        For the network's symbols, by name (SI units), as `Schedule.trace` takes them.

    Returns
    -------
    Axes
        Seconds across, ranks down; collections carry "round k", "reductions" or "critical path" as their gid.

    Raises
    ------
    QuantityError
        If a Schedule comes without a network; for arguments out of range.
    UnknownNameError
        If a symbol of the network has no value.
    """
    trace = _trace(schedule, network, values)
    messages = messages_of(trace)
    more: list[Any] = []
    look, prediction = Look(palette, messages), None
    if predicted is not None and predicted_of(trace, predicted):
        prediction = _trace(predicted, network, values)
    thin = prediction.messages if prediction else ()
    note = f", predicted {readable(duration(prediction), 's')}" if prediction else ""
    if trace.reductions:
        more.append(Patch(label="reduction", **_bar()))
    if trace.path:
        more.append(Line2D([], [], label="critical path", **_PATH))
    key = Key(look, messages, labels, [*more, *marks(thin, messages)]) if legend else None
    whole = [message for message in messages if seconds(message) is not None]
    width = max(_WIDTH[trace.P > 16], _ROUND * len({message.round for message in messages}))
    figure, ax = sheet(trace, width, max(_ROW * trace.P, 0.8), (0.65, 0.35, 0.05, 0.5), key, dpi, note)
    end = max(duration(trace), duration(prediction) if prediction else 0.0) or 1.0
    ax.set_axis_on()
    ax.set_xlim(0, end)
    ax.set_ylim(trace.P - 0.5, -0.5)
    done = [float(time) if known(time) else 0.0 for time in trace.finish]
    ax.hlines(range(trace.P), 0, done, color="#C8C8C8", linewidth=0.8, zorder=1)
    planned = [_line(message) for message in thin if seconds(message) is not None]
    _add(ax, planned, zorder=1.5, gid="predicted", **PREDICTED)
    _draw_messages(ax, trace, whole, look)
    _mark_path(ax, trace)
    _draw_reductions(ax, trace, 72 * width / end)
    for message in unmatched(messages):
        x, y, tip = _stub(message)
        ax.plot([x, x], [y, tip], linewidth=1.0, color=look(message.round)["color"], zorder=3)
        ax.plot(x, tip, clip_on=False, **UNMATCHED)
    ax.set_yticks(range(trace.P))
    ax.set_ylabel("rank")
    ax.xaxis.set_major_locator(MaxNLocator(6))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: readable(v, "s")))
    ax.set_xlabel("time")
    ax.tick_params(labelsize=8)
    ax.spines[["top", "right"]].set_visible(False)
    finish(figure, file)
    return ax


_CORNERS = (-_BAR, -_BAR, _BAR, _BAR)


def _bar() -> dict[str, Any]:
    return {"facecolor": TERM_STYLES["reduce"][0], "edgecolor": "#333333", "linewidth": 0.7}


def _trace(schedule: Schedule | Trace, network: Network | None, values: dict[str, Any]) -> Trace:
    if isinstance(schedule, Trace):
        return schedule
    if network is None:
        raise QuantityError("a schedule takes time on a network: give one, for example oa.Hockney(), and its numbers.")
    messages_of(schedule)  # not too many
    return schedule.trace(network, **values)


def _line(message: Message | Part) -> Line:
    return [(float(message.start), message.source), (float(message.end), message.destination)]


def _stub(message: Message) -> tuple[float, float, float]:
    """Return when and at which rank the end is that was measured, and where the stub of its message ends."""
    sent = known(message.start)
    time, rank, peer = (
        (message.start, message.source, message.destination)
        if sent
        else (message.end, message.destination, message.source)
    )
    return float(time), rank, rank + (0.4 if peer > rank else -0.4)


def _add(ax: Axes, lines: list[Line], **options: Any) -> None:
    ax.add_collection(LineCollection(lines, **options), autolim=False)


def _draw_messages(ax: Axes, trace: Trace, messages: Sequence[Message], look: Look) -> None:
    """Draw a line a message above the band of the critical path; those on it once more, above all others."""
    decisive = {part.event for part in trace.path}
    width, area = (1.7, 13) if trace.P <= 16 else (1.0, 7)
    for k in sorted({message.round for message in messages}):
        there = [message for message in messages if message.round == k]
        _add(ax, [_line(message) for message in there], linewidth=width, zorder=3, gid=f"round {k}", **look(k))
        above = [_line(message) for message in there if message in decisive]
        _add(ax, above, linewidth=1.7, zorder=3.3, gid=f"round {k} on the path", **look(k))
        x, y = zip(*(_line(message)[1] for message in there), strict=True)
        ax.scatter(x, y, s=area, color=look(k)["color"], zorder=4, gid=f"round {k} ends", clip_on=False)


def _draw_reductions(ax: Axes, trace: Trace, scale: float) -> None:
    """Draw a bar a reduction, with an edge that leaves something of narrow ones; `scale` is points a second."""
    bars = [
        [(float(x), each.rank + y) for x, y in zip((each.start, each.end, each.end, each.start), _CORNERS, strict=True)]
        for each in trace.reductions
    ]
    decisive = {part.event for part in trace.path}
    made = PolyCollection(bars, zorder=3.6, gid="reductions", clip_on=False, **_bar())
    widths = [scale * float(each.end - each.start) / 4 for each in trace.reductions]
    edges = [(1.2, 2.2) if each in decisive else (0.2, 0.7) for each in trace.reductions]
    made.set_linewidth([min(max(width, low), high) for width, (low, high) in zip(widths, edges, strict=True)])
    ax.add_collection(made, autolim=False)


def _mark_path(ax: Axes, trace: Trace) -> None:
    parts = [_line(part) for part in trace.path]
    _add(ax, parts, zorder=2.9, gid="critical path", capstyle="butt", **_PATH)
    turns = [[a[1], b[0]] for a, b in pairwise(parts) if a[1][1] != b[0][1]]
    _add(ax, turns, zorder=3.2, color="#222222", linewidth=1.4, linestyle=(0, (1, 1.2)), gid="turns")
