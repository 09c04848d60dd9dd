"""A schedule round by round: a slider and a play button over any picture of it."""

from __future__ import annotations

import io
from typing import Any

import ipywidgets
import numpy as np
from PIL import Image

from orrery_analytic import plots
from orrery_analytic.errors import QuantityError, choose
from orrery_analytic.plots.rounds import tell
from orrery_analytic.plots.spread import messages_of
from orrery_analytic.schedules import Schedule
from orrery_analytic.schedules.trace import Message, Trace
from orrery_analytic.widgets.canvas import Pictured

__all__ = ["ScheduleSteps", "explore_schedule"]

_VIEWS = {
    "butterfly": plots.butterfly, "tree": plots.tree, "grid": plots.grid, "overlay": plots.overlay,
    "space_time": plots.space_time,
}  # fmt: skip
_NAMED = 8  # messages that the line below the picture names
_PACE = 900  # milliseconds a round


def explore_schedule(schedule: Schedule | Trace, view: str = "butterfly", **options: Any) -> ScheduleSteps:
    """Return a picture of a schedule with a slider that shows one round at a time; the others are faint.

    The slider takes the arrow keys; the play button walks through all rounds.

    Parameters
    ----------
    schedule : Schedule or Trace
    view : {"butterfly", "tree", "grid", "overlay", "space_time"}
        Which picture.
    **options
        Of that picture's function in `orrery_analytic.plots`.

    Raises
    ------
    UnknownNameError
        For another view.
    QuantityError
        If the schedule has no messages, and as the picture's function.
    """
    draw: Any = _VIEWS[choose("view", view, _VIEWS)]
    if not messages_of(schedule):
        raise QuantityError(f"{schedule!r} has no messages to step through.")
    return ScheduleSteps(schedule, draw(schedule, **options))


class ScheduleSteps(Pictured, ipywidgets.VBox):
    """The widget that `explore_schedule` returns.

    A move of the slider draws the messages of one round onto a kept picture of all rounds, faint.

    Parameters
    ----------
    schedule : Schedule or Trace
    axes : Axes
        A picture of it.

    Attributes
    ----------
    slider, play, image, line
        The parts; `slider.value` is the round.
    """

    def __init__(self, schedule: Schedule | Trace, axes: Any) -> None:
        self.axes, self._told = axes, repr(schedule)
        self._messages: dict[int, list[Message]] = {}
        for message in messages_of(schedule):
            self._messages.setdefault(message.round, []).append(message)
        rounds = sorted(self._messages)
        self._artists: dict[int, list[Any]] = {k: [] for k in rounds}
        for artist in sorted((*axes.patches, *axes.collections), key=lambda artist: artist.get_zorder()):
            name, _, k = str(artist.get_gid()).partition(" ")
            if name == "round":
                self._artists[int(k.split()[0])].append(artist)
        self._boxed = [text for text in axes.texts if text.get_bbox_patch() is not None]  # these stand on arrows
        figure = axes.figure
        plots.show_round(axes, -1)
        figure.canvas.draw()
        self._background = figure.canvas.copy_from_bbox(figure.bbox)
        plots.show_round(axes, None)
        self.slider = ipywidgets.SelectionSlider(options=rounds, description="round")
        self.play = ipywidgets.Play(max=len(rounds) - 1, interval=_PACE, layout={"width": "auto"})
        ipywidgets.jslink((self.play, "value"), (self.slider, "index"))
        self.image = ipywidgets.Image(format="png", layout={"width": "100%", "max_width": f"{figure.bbox.width:.0f}px"})
        self.line = ipywidgets.Label()
        super().__init__([ipywidgets.HBox([self.play, self.slider]), self.image, self.line])
        self.slider.observe(self._show, "value")
        self._show()

    def _show(self, _: Any = None) -> None:
        k, canvas = self.slider.value, self.axes.figure.canvas
        canvas.restore_region(self._background)
        for artist in (*self._artists[k], *self._boxed):
            self.axes.draw_artist(artist)
        out = io.BytesIO()
        # Level 1: encoding costs more than sending here.
        Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3]).save(out, "png", compress_level=1)
        self.image.value = out.getvalue()
        self.line.value = _line(k, self._messages[k])

    def __repr__(self) -> str:
        return f"<ScheduleSteps of {self._told}: {len(self._messages)} rounds>"


def _line(k: int, messages: list[Message]) -> str:
    pairs = ", ".join(f"{message.source} to {message.destination}" for message in messages[:_NAMED])
    more = f" and {len(messages) - _NAMED} more" if len(messages) > _NAMED else ""
    return f"round {k}, {tell(messages)} each: {pairs}{more}"
