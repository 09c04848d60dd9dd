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
from orrery_analytic.plots.rounds import Look, finish, round_handles, sheet
from orrery_analytic.plots.spread import messages_of
from orrery_analytic.plots.style import TERM_STYLES
from orrery_analytic.schedules import Schedule
from orrery_analytic.schedules.trace import Message, Trace
from orrery_analytic.units import readable

__all__ = ["space_time"]

_WIDTH, _ROUND, _ROW = 7.0, 0.3, 0.27  # inches, of the whole and of a round at least; inches a rank
_BAR = 0.28  # half the height of a reduction, in rows
_PATH: dict[str, Any] = {"color": "#222222", "linewidth": 5.5, "alpha": 0.55}


def space_time(
    schedule: Schedule | Trace, network: Network | None = None, *, palette: Sequence[str] | str | None = None,
    labels: bool = True, legend: bool = True, dpi: float | None = None, file: str | PathLike[str] | None = None,
    **values: Any,
) -> Axes:  # fmt: skip
    """Draw a run: a slanted line a message, from sender and start to receiver and end; a bar a reduction.

    Beneath them lies the critical path: the messages and reductions without a pause between, of which the last one ends
    with the collective; its bars have thick edges. Where it goes on at another rank, a dotted line leads there.

    Parameters
    ----------
    schedule : Schedule or Trace
    network : Hockney, LogGP or TwoLevel
        For a Schedule; a Trace has its times.
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
    look, messages = Look(palette), messages_of(trace)
    handles: list[Any] = round_handles(look, messages, labels) if legend else []
    if legend and trace.reductions:
        handles.append(Patch(label="reduction", **_bar()))
    if legend and trace.path:
        handles.append(Line2D([], [], label="critical path", **_PATH))
    width = max(_WIDTH, _ROUND * len({message.round for message in messages}))
    figure, ax = sheet(trace, width, max(_ROW * trace.P, 0.8), (0.65, 0.35, 0.05, 0.5), handles, dpi)
    ax.set_axis_on()
    ax.set_xlim(0, float(trace.time) or 1.0)
    ax.set_ylim(trace.P - 0.5, -0.5)
    ax.hlines(range(trace.P), 0, [float(end) for end in trace.finish], color="#C8C8C8", linewidth=0.8, zorder=1)
    _mark_path(ax, trace)
    for k in sorted({message.round for message in messages}):
        lines = [_line(message) for message in messages if message.round == k]
        ax.add_collection(LineCollection(lines, linewidth=1.7, zorder=3, gid=f"round {k}", **look(k)), autolim=False)
        x, y = zip(*(line[1] for line in lines), strict=True)
        ax.scatter(x, y, s=13, color=look(k)["color"], zorder=4, gid=f"round {k} ends", clip_on=False)
    bars = [
        [(float(x), each.rank + y) for x, y in zip((each.start, each.end, each.end, each.start), _CORNERS, strict=True)]
        for each in trace.reductions
    ]
    decisive = {part.event for part in trace.path}
    made = PolyCollection(bars, zorder=2.5, gid="reductions", clip_on=False, **_bar())
    made.set_linewidth([2.2 if each in decisive else 0.7 for each in trace.reductions])
    ax.add_collection(made, autolim=False)
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


def _line(message: Message) -> list[tuple[float, float]]:
    return [(float(message.start), message.source), (float(message.end), message.destination)]


def _mark_path(ax: Axes, trace: Trace) -> None:
    parts = [[(float(p.start), p.source), (float(p.end), p.destination)] for p in trace.path]
    ax.add_collection(LineCollection(parts, zorder=2, gid="critical path", **_PATH), autolim=False)
    turns = [[a[1], b[0]] for a, b in pairwise(parts) if a[1][1] != b[0][1]]
    ax.add_collection(
        LineCollection(turns, zorder=2, color="#222222", linewidth=1.4, linestyle=(0, (1, 1.2)), gid="turns"),
        autolim=False,
    )
