"""The explorer: controls at the left; at the right what they mean, in words, in two figures and in a formula."""

from __future__ import annotations

import html
from collections.abc import Sequence
from threading import RLock
from typing import Any

import ipywidgets
from ipywidgets import Layout

from orrery_analytic import plots
from orrery_analytic.collectives import list_algorithms
from orrery_analytic.errors import OrreryError, QuantityError, choose
from orrery_analytic.machines import Machine
from orrery_analytic.widgets import exported
from orrery_analytic.widgets.canvas import Canvas
from orrery_analytic.widgets.code import code, line
from orrery_analytic.widgets.controls import Controls
from orrery_analytic.widgets.readout import formula, sentence
from orrery_analytic.widgets.saving import Saver, button, figure_file
from orrery_analytic.widgets.upload import Log, Points
from orrery_analytic.widgets.view import STATE, Picture, View

__all__ = ["Explorer", "explore"]

_CURSOR: dict[str, Any] = {"color": "black", "linewidth": 1.1, "zorder": 3}

_LARGE = """<style>.orrery-large .orrery-controls { zoom: 1.25 } .orrery-large .orrery-said { font-size: 130% }
.orrery-controls button { padding: 0 6px }</style>"""

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
    buttons : dict of Button
        "PDF", "PNG", "CSV", "LaTeX", "code": what can be saved; and "start again".
    saved : HTML
        Where a saved file is found.
    code : Textarea
        Code, or LaTeX.
    """

    def __init__(self, machine: Any, collective: str, **state: Any) -> None:
        for name in state:
            choose("part of the explorer's state", name, STATE)
        self._lock = RLock()  # callbacks may come from several threads
        self._log: Log | None = None
        self._curves: plots.Curves | None = None
        self._shown: tuple[View, Picture, Points | None] | None = None
        self.controls = Controls(machine, collective, state, self._refresh, self._rebuild)
        self._upper, self._lower = Canvas(3.7, "orrery-figure"), Canvas(1.9, "orrery-terms", above=0.1, below=0.3)
        self._last = Canvas(1.9, "orrery-terms-beside", above=0.1, below=0.3)
        self.curves_image, self.terms_image = self._upper.image, self._lower.image
        self.readout, self.formula, self.log_text = ipywidgets.HTML(), ipywidgets.HTMLMath(), ipywidgets.HTML()
        self.readout.layout = Layout(min_height="40px")
        self.formula.layout = Layout(width="100%", min_width="0")
        self.readout.add_class("orrery-readout")
        self.upload = ipywidgets.FileUpload(description="upload a log", multiple=False, layout=Layout(width="170px"))
        self.upload.observe(self._uploaded, "value")
        self._saver = Saver(_SAVED, self._file)
        self.saved, self.code = self._saver.saved, self._saver.text
        again = button("start again", "All controls as they were at first")
        self.buttons = {**self._saver.buttons, "start again": again}
        again.layout.width, again.icon = "170px", "undo"
        again.on_click(lambda _: self._start_again())
        left = ipywidgets.VBox(
            [*self.controls.rows(), ipywidgets.HBox([self.upload, again]), self.log_text],
            layout=Layout(flex="0 0 auto", width="356px", overflow="hidden"),
        )
        left.add_class("orrery-controls")
        self._right = ipywidgets.VBox(
            [
                self.readout,
                self.curves_image,
                self.terms_image,
                self._last.image,
                self._saver.row,
                self.code,
                self.formula,
            ],
            layout=Layout(flex="1 1 400px", min_width="0", margin="0 0 0 8px"),
        )
        style = ipywidgets.HTML(_LARGE, layout=Layout(height="0", margin="0", width="0"))
        super().__init__([style, left, self._right], layout=Layout(flex_flow="row wrap", align_items="flex-start"))
        self.add_class("orrery-explorer")
        self.readout.add_class("orrery-said")
        self.formula.add_class("orrery-said")
        self._rebuild()
        self._first = self.controls.held()

    @property
    def view(self) -> View:
        """What is shown."""
        return self.controls.view

    def _rebuild(self) -> None:
        """Make the figures anew: what runs along, or up, has changed."""
        with self._lock:
            self._curves = None
            self._enlarge(self.controls.large.value)
            self._refresh()

    def _enlarge(self, large: bool) -> None:
        """Make all letters a third larger, for those in the last row, or as they were."""
        (self.add_class if large else self.remove_class)("orrery-large")
        for canvas in self._canvases:
            with canvas.lock:
                canvas.enlarge(large)
        self._right.layout.max_width = "1000px" if large else "760px"

    @property
    def _canvases(self) -> tuple[Canvas, Canvas, Canvas]:
        return self._upper, self._lower, self._last

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
            self._shown = (view, picture, points)
            self.controls.parameters.show(picture.symbols)
            self._draw_curves(view, picture, points)
            self._say(sentence(view, picture))
            self._draw_terms(self._lower, self._stack, self._lower_cursor, picture)
            if picture.beside:
                self._draw_terms(self._last, self._last_stack, self._last_cursor, picture.beside)
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
            machines = (view.machine_name, view.beside.name) if view.beside else None
            self._curves = plots.Curves(axes, view.axis, picture.x, names, also=[self._points], machines=machines)
            axes.set_xlabel("")
            self._caption = axes.text(0.5, -0.12, "", transform=axes.transAxes, ha="center", va="top")
            self._cursor = axes.axvline(1, **_CURSOR)
            (self._dot,) = axes.plot([], [], marker="o", markersize=7, **_CURSOR)
        self._stack, self._lower_cursor = self._set_up_terms(self._lower, view, picture, view.machine_name)
        self._last.image.layout.display = "" if view.beside else "none"
        if view.beside:
            self._last_stack, self._last_cursor = self._set_up_terms(self._last, view, picture, view.beside.name)

    def _set_up_terms(self, canvas: Canvas, view: View, picture: Picture, machine: str) -> tuple[plots.Stack, Any]:
        with canvas.lock:
            canvas.clear()
            stack = plots.Stack(canvas.axes, view.axis, picture.x, self.controls.share.value)
            canvas.axes.set_xlabel("")
            if view.beside:
                canvas.axes.set_ylabel(machine)  # a second line would stand outside where ticks are wide
            return stack, canvas.axes.axvline(1, **_CURSOR)

    def _blank(self) -> None:
        """Show empty figures, rather than those of something else."""
        self._curves, self._shown = None, None
        self.formula.value = ""
        for canvas in self._canvases:
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
            other = picture.beside
            beside = (other.seconds, other.choice) if other else None
            anew = curves.update(picture.x, picture.seconds, picture.choice, picture.chosen, picture.runs, beside)
            here = picture.x[picture.here]
            self._caption.set_text(view.caption)
            self._cursor.set_xdata([here, here])
            both = [one.choice[picture.here] for one in (picture, other) if one]
            self._dot.set_data([here] * len(both), both)
            moving = [*curves.artists, self._points, self._cursor, self._dot, self._caption]
            self._upper.paint(moving, anew)

    def _draw_terms(self, canvas: Canvas, stack: plots.Stack, cursor: Any, picture: Picture) -> None:
        with canvas.lock:
            anew = stack.update(picture.x, picture.terms, focus=picture.here)
            here = picture.x[picture.here]
            cursor.set_xdata([here, here])
            canvas.paint([*stack.artists, cursor], anew)

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

    def _file(self, kind: str) -> tuple[str, bytes]:
        """Return name and content of what a button stands for."""
        with self._lock:
            if self._shown is None:
                raise QuantityError("nothing is shown that could be saved.")
            view, picture, points = self._shown
            share = self.controls.share.value
            if kind == "CSV":
                content = exported.csv_of(view, picture)
            elif kind == "LaTeX":
                content = exported.latex_of(view, picture)
            elif kind == "code":
                top = None if share else float(self._lower.axes.get_ylim()[1])
                content = code(view, top, self._log.name if self._log else None).encode()
            else:
                measured = (points.x, points.seconds) if points and len(points.x) else None
                content = figure_file(exported.drawn(view, picture, share, measured), kind)
            return view.collective, content

    def _start_again(self) -> None:
        """Put all controls as they were at first, but for the machine files."""
        with self._lock:
            self.controls.restore(self._first)
            self._rebuild()

    def __repr__(self) -> str:
        return f"<Explorer: {line(self.view, self.controls.share.value)}>"


_SAVED = {
    "PDF": "The figure, for a paper", "PNG": "The figure, for slides", "CSV": "The numbers of all curves and terms",
    "LaTeX": "The formula of what runs at the point", "code": "A program that draws the figure, and one line that "
    "opens this view again",
}  # fmt: skip


def explore(
    machine: Machine | str | Sequence[Machine | str] = "example", collective: str = "allreduce", **state: Any
) -> Explorer:
    """Return a widget that shows what a collective costs on a machine, with every number on a slider.

    Parameters
    ----------
    machine : Machine or str, or two of them
        A machine, or the name or path of its file. Two stand beside each other: the first with solid lines and open
        markers, the second with dashed lines and full ones; the sliders move the first.
    collective : str
        One of `list_collectives`.
    **state
        Where to begin: buffers ("host", "device"), transport ("staged", "gdr", "peer"), network ("Hockney", "LogGP"),
        rules ("openmpi-4.1"), axis ("n" or "P"), hold ("block" or "total", over P), P, n (bytes, or "1 MiB"),
        algorithms (names of the curves), share (stacked terms in percent, else seconds),
        large (letters for a projector).

    Raises
    ------
    UnknownNameError, QuantityError
        For a name or a number that is not there or not allowed, or for three machines; the message says what is.
    """
    return Explorer(machine, collective, **state)
