"""The explorer: controls at the left; at the right what they mean, in words, in two figures and in a formula."""

from __future__ import annotations

import html
from threading import RLock
from typing import Any

import ipywidgets
from ipywidgets import Layout

from orrery_analytic import plots
from orrery_analytic.collectives import list_algorithms
from orrery_analytic.errors import OrreryError, choose
from orrery_analytic.machines import Machine
from orrery_analytic.widgets.canvas import Canvas
from orrery_analytic.widgets.code import code
from orrery_analytic.widgets.controls import STATE, Controls
from orrery_analytic.widgets.readout import formula, sentence
from orrery_analytic.widgets.upload import Log, Points
from orrery_analytic.widgets.view import Picture, View

__all__ = ["Explorer", "explore"]

_CURSOR: dict[str, Any] = {"color": "black", "linewidth": 1.1, "zorder": 3}

_STATUS = '<div role="status" aria-live="polite" style="line-height: 1.35; overflow-wrap: anywhere">{}</div>'


class Explorer(ipywidgets.Box):
    """The widget that `explore` returns.

    Attributes
    ----------
    controls : Controls
    curves_image, terms_image : Image
        The figures.
    readout, formula, log_text : HTML
        What is said.
    upload : FileUpload
    code_button : Button
    code : Textarea
    """

    def __init__(self, machine: Machine | str, collective: str, **state: Any) -> None:
        for name in state:
            choose("part of the explorer's state", name, STATE)
        self._lock = RLock()  # callbacks may come from several threads
        self._log: Log | None = None
        self._curves: plots.Curves | None = None
        self.controls = Controls(machine, collective, state, self._refresh, self._rebuild)
        self._upper, self._lower = Canvas(3.7, "orrery-figure"), Canvas(1.9, "orrery-terms", above=0.1, below=0.3)
        self.curves_image, self.terms_image = self._upper.image, self._lower.image
        self.readout, self.formula, self.log_text = ipywidgets.HTML(), ipywidgets.HTMLMath(), ipywidgets.HTML()
        self.readout.layout = Layout(min_height="40px")
        self.formula.layout = Layout(width="100%", min_width="0")
        self.readout.add_class("orrery-readout")
        self.upload = ipywidgets.FileUpload(description="upload a log", multiple=False, layout=Layout(width="168px"))
        self.upload.observe(self._uploaded, "value")
        self.code_button = ipywidgets.Button(description="code of this view", icon="code", layout=Layout(width="168px"))
        self.code_button.on_click(lambda _: self._show_code())
        self.code = ipywidgets.Textarea(layout=Layout(width="100%", height="300px", display="none"))
        self.code.add_class("orrery-code")
        buttons = ipywidgets.HBox([self.upload, self.code_button])
        left = ipywidgets.VBox(
            [*self.controls.rows(), buttons, self.log_text],
            layout=Layout(flex="0 0 356px", width="356px", overflow="hidden"),
        )
        right = ipywidgets.VBox(
            [self.readout, self.curves_image, self.terms_image, self.formula, self.code],
            layout=Layout(flex="1 1 400px", min_width="0", max_width="760px", margin="0 0 0 8px"),
        )
        super().__init__([left, right], layout=Layout(flex_flow="row wrap", align_items="flex-start"))
        self.add_class("orrery-explorer")
        self._rebuild()

    @property
    def view(self) -> View:
        """What is shown."""
        return self.controls.view

    def _rebuild(self) -> None:
        """Make the figures anew: what runs along, or up, has changed."""
        with self._lock:
            self._curves = None
            self._refresh()

    def _refresh(self) -> None:
        """Put the numbers of the current view into the artists, and into words."""
        with self._lock:
            view = self.view
            try:
                picture = Picture.of(view)
                points = self._log.points(view) if self._log else None
            except OrreryError as error:
                self._say(f"<b>Cannot be shown:</b> {html.escape(str(error))}")
                self._blank()
                return
            if self._curves is None:
                self._set_up(view, picture)
            self.controls.parameters.show(picture.symbols)
            self._draw_curves(view, picture, points)
            self._say(sentence(view, picture))
            self._draw_terms(picture)
            self.formula.value = formula(view, picture.plan)
            if points:
                self._tell(html.escape(points.told))

    def _set_up(self, view: View, picture: Picture) -> None:
        """Make the artists of both figures, without numbers yet."""
        with self._upper.lock:
            self._upper.clear()
            axes = self._upper.axes
            (self._points,) = axes.plot([], [], label="measured", **plots.MEASURED)
            names = list_algorithms(view.collective)
            self._curves = plots.Curves(axes, view.axis, picture.x, names, also=[self._points])
            axes.set_xlabel("")
            self._caption = axes.text(0.5, -0.12, "", transform=axes.transAxes, ha="center", va="top")
            self._cursor = axes.axvline(1, **_CURSOR)
            (self._dot,) = axes.plot([], [], marker="o", markersize=7, **_CURSOR)
        with self._lower.lock:
            self._lower.clear()
            self._stack = plots.Stack(self._lower.axes, view.axis, picture.x, self.controls.share.value)
            self._lower.axes.set_xlabel("")
            self._lower_cursor = self._lower.axes.axvline(1, **_CURSOR)

    def _blank(self) -> None:
        """Show empty figures, rather than those of something else."""
        self._curves = None
        self.formula.value = ""
        for canvas in (self._upper, self._lower):
            with canvas.lock:
                canvas.clear()
                canvas.axes.set_axis_off()
                canvas.paint([], anew=True)

    def _say(self, text: str) -> None:
        self.readout.value = _STATUS.format(text)

    def _tell(self, text: str) -> None:
        self.log_text.value = _STATUS.format(text)

    def _draw_curves(self, view: View, picture: Picture, points: Points | None) -> None:
        curves = self._curves
        assert curves is not None
        with self._upper.lock:
            if points:
                self._points.set_data(points.x, points.seconds)
            anew = curves.update(picture.x, picture.seconds, picture.choice, picture.chosen, picture.runs)
            here = picture.x[picture.here]
            self._caption.set_text(view.caption)
            self._cursor.set_xdata([here, here])
            self._dot.set_data([here], [picture.choice[picture.here]])
            moving = [*curves.artists, self._points, self._cursor, self._dot, self._caption]
            self._upper.paint(moving, anew)

    def _draw_terms(self, picture: Picture) -> None:
        with self._lower.lock:
            anew = self._stack.update(picture.x, picture.terms, focus=picture.here)
            here = picture.x[picture.here]
            self._lower_cursor.set_xdata([here, here])
            self._lower.paint([*self._stack.artists, self._lower_cursor], anew)

    def _uploaded(self, _: Any) -> None:
        """Read a log and move to where its points are."""
        with self._lock:
            if not self.upload.value:
                return
            try:
                log = Log(self.upload.value[0])
            except OrreryError as error:
                self._tell(f"<b>Not read:</b> {html.escape(str(error))}")
                return
            self._log = log
            collective, buffers = log.proposes(self.view.collective, self.view.buffers)
            self.controls.go(collective, buffers, log.ranks_near(collective, buffers, self.view.P))
            self._rebuild()

    def _show_code(self) -> None:
        with self._lock:
            top = None if self.controls.share.value else float(self._lower.axes.get_ylim()[1])
            self.code.value = code(self.view, top, self._log.name if self._log else None)
            self.code.layout.display = "flex"


def explore(machine: Machine | str = "example", collective: str = "allreduce", **state: Any) -> Explorer:
    """Return a widget that shows what a collective costs on a machine, with every number on a slider.

    Parameters
    ----------
    machine : Machine or str
        A machine, or the name or path of its file.
    collective : str
        One of `list_collectives`.
    **state
        Where to begin: buffers ("host", "device"), transport ("staged", "gdr", "peer"), network ("Hockney", "LogGP"),
        rules ("openmpi-4.1"), axis ("n" or "P"), hold ("block" or "total", over P), P, n (bytes, or "1 MiB"),
        algorithms (names of the curves), share (stacked terms in percent, else seconds).

    Raises
    ------
    UnknownNameError, QuantityError
        For a name or a number that is not there or not allowed; the message says what is.
    """
    return Explorer(machine, collective, **state)
