"""An explorer of choices: maps of what libraries take, side by side; at one point why, what it costs, what is best."""

from __future__ import annotations

import html
import io
from collections.abc import Sequence
from threading import RLock
from typing import Any

import ipywidgets
import numpy as np
from ipywidgets import Layout
from PIL import Image

from orrery_analytic import plots
from orrery_analytic.decisions import list_collectives
from orrery_analytic.decisions.fixed import Rules
from orrery_analytic.errors import OrreryError, QuantityError, choose
from orrery_analytic.gpu import BUFFERS
from orrery_analytic.machines import Machine, list_machines, load_machine
from orrery_analytic.plots import size_text
from orrery_analytic.selection import ChoiceMap, choice_map
from orrery_analytic.units import readable, shown
from orrery_analytic.widgets.canvas import Pictured
from orrery_analytic.widgets.controls import _buttons, _bytes, _dropdown, _ranks, _slider, start_again
from orrery_analytic.widgets.view import RANKS, SIZES

__all__ = ["ChoiceExplorer", "explore_choices"]

_RULES = ("openmpi-4.0", "openmpi-4.1")
_STATE = {"collective": "allreduce", "buffers": "host", "P": 64, "n": 64 * 2**10, "rules": _RULES}
_RING: dict[str, Any] = {"marker": "o", "markersize": 11, "markerfacecolor": "none", "linestyle": ""}
#: Lines through the point and a ring around it, broad in white and thin in black on top.
_POINT: tuple[tuple[dict[str, Any], dict[str, Any]], ...] = tuple(
    ({"color": color, "linewidth": wide, "zorder": 5}, {**_RING, "markeredgecolor": color, "markeredgewidth": wide + 1})
    for color, wide in (("white", 2.2), ("black", 0.9))
)
_HEADS = ("", "takes", "because", "runs", "time", "over the least")


def explore_choices(machine: Machine | str = "example", collective: str = "allreduce", **state: Any) -> ChoiceExplorer:
    """Return a widget with maps of what libraries take, and what would be best, with a point that sliders move.

    Parameters
    ----------
    machine : Machine or str
        A machine, or the name or path of its file.
    collective : str
        One of `list_collectives`.
    **state
        Where to begin: buffers ("host", "device"), P, n (bytes, or "1 MiB"); and rules, one to three libraries or rule
        files as `select` takes them: "openmpi-4.0" and "openmpi-4.1" unless given.

    Raises
    ------
    UnknownNameError, QuantityError
        For a name or a number that is not there or not allowed; the message says what is.
    """
    return ChoiceExplorer(machine, collective, **state)


class ChoiceExplorer(Pictured, ipywidgets.VBox):
    """The widget that `explore_choices` returns.

    The maps are drawn once for a machine, a collective and a place of buffers; a move of the point draws a cross onto
    the kept picture.

    Attributes
    ----------
    machine, collective, buffers, P, n
        The controls.
    image : Image
        The maps.
    readout : HTML
        What is taken at the point, why, what it costs, and what would be best.
    again : Button
        Puts the controls back to where they began.
    """

    def __init__(self, machine: Machine | str, collective: str, **state: Any) -> None:
        for name in state:
            choose("part of the explorer's state", name, _STATE)
        given = {**_STATE, **state}
        self._rules = _libraries(given["rules"])
        self._lock = RLock()  # callbacks may come from several threads
        self._maps: list[ChoiceMap] = []
        self._own = {} if isinstance(machine, str) and machine in list_machines() else _loaded(machine)
        names = [*self._own, *list_machines()]
        self.machine = _dropdown("machine", names, next(iter(self._own), machine))
        self.collective = _dropdown(
            "collective", list_collectives(), choose("collective", collective, list_collectives())
        )
        self.buffers = _buttons("buffers", list(BUFFERS), choose("place of buffers", given["buffers"], BUFFERS))
        self.P = _slider("P", RANKS, _ranks(given["P"]), str, "ranks")
        self.n = _slider("n", SIZES, _bytes(given["n"]), size_text, "message size, bytes")
        self.P.add_class("orrery-P")
        self.n.add_class("orrery-n")
        self.image = ipywidgets.Image(format="png", layout=Layout(width="100%", flex="0 0 auto"))
        self.image.add_class("orrery-choices")
        self.readout = ipywidgets.HTML()
        self.readout.add_class("orrery-readout")
        wrap = Layout(flex_flow="row wrap")
        chosen = ipywidgets.Box([self.machine, self.collective, self.buffers], layout=wrap)
        self.again = start_again([self.machine, self.collective, self.buffers, self.P, self.n])
        sliders = ipywidgets.Box([self.P, self.n, self.again], layout=wrap)
        super().__init__([chosen, sliders, self.readout, self.image])
        self.add_class("orrery-choice-explorer")
        for control in (self.machine, self.collective, self.buffers):
            control.observe(self._rebuild, "value")
        for control in (self.P, self.n):
            control.observe(self._refresh, "value")
        self._draw()

    def _rebuild(self, _: Any = None) -> None:
        """Draw the maps anew, or say why they cannot be: a machine may have no number for device buffers."""
        with self._lock:
            try:
                self._draw()
            except OrreryError as error:
                self._maps, self.image.value = [], b""
                self.readout.value = f"<b>Cannot be shown:</b> {html.escape(str(error))}"

    def _draw(self) -> None:
        machine = self._own.get(self.machine.value) or load_machine(self.machine.value)
        ranks, sizes = ([value for _, value in slider.options] for slider in (self.P, self.n))
        self._maps = [
            choice_map(machine, self.collective.value, ranks, sizes, rules=rules, buffers=self.buffers.value)
            for rules in self._rules
        ]
        axes = plots.choice_map([*self._maps, self._maps[-1]], ("library",) * len(self._maps) + ("best",))
        figure = axes[0].figure
        canvas: Any = figure.canvas
        canvas.draw()
        self._figure, self._background = figure, canvas.copy_from_bbox(figure.bbox)
        self._points = [
            (ax, (ax.axvline(1, **line), ax.axhline(1, **line), *ax.plot(1, 1, **ring)))
            for ax in axes
            for line, ring in _POINT
        ]
        self.image.layout.max_width = f"{figure.bbox.width:.0f}px"
        self._refresh()

    def _refresh(self, _: Any = None) -> None:
        """Move the point, and say what is there."""
        with self._lock:
            if not self._maps:
                return
            canvas: Any = self._figure.canvas
            canvas.restore_region(self._background)
            n, P = [self.n.value], [self.P.value]
            for ax, (upright, level, ring) in self._points:
                upright.set_xdata(n * 2)
                level.set_ydata(P * 2)
                ring.set_data(n, P)
                for artist in (upright, level, ring):
                    ax.draw_artist(artist)
            out = io.BytesIO()
            # Level 1: encoding costs more than sending here.
            Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3]).save(out, "png", compress_level=1)
            self.image.value = out.getvalue()
            self.readout.value = _table(self._title, self.rows())

    @property
    def _title(self) -> str:
        place = f"P = {self.P.value}"
        return place if self.collective.value == "barrier" else f"{place}, n = {size_text(self.n.value)}"

    def rows(self) -> list[tuple[str, ...]]:
        """Return what is said of the point: for each library, and for the best, who takes what, why, and its cost."""
        here = (self.P.index, self.n.index)
        rows: list[tuple[str, ...]] = []
        for found in self._maps:
            data, plan = found.data, found.found.found[int(found.found.index[here])]
            taken = found.search.setting.selection(self.P.value, self.n.value)
            seconds, regret = (float(data[name].to_numpy()[here]) for name in ("seconds_library", "regret"))
            ratio = "" if np.isnan(regret) else f"{regret:.2f} times"
            rows.append((found.library, str(taken.name), str(taken.reason), plan.described, _seconds(seconds), ratio))
        least = found.found
        place = int(least.place[here])
        best = least.plans[place].described if place >= 0 else "nothing has a formula"
        rows.append(("least time by the model", "", "", best, _seconds(float(least.least[here])), ""))
        return rows

    def __repr__(self) -> str:
        return f"<ChoiceExplorer: {self.collective.value} on {self.machine.value}, {self._title}>"


def _libraries(rules: Any) -> tuple[Rules, ...]:
    given = (rules,) if isinstance(rules, str) or not isinstance(rules, Sequence) else tuple(rules)
    if not 1 <= len(given) <= 3:
        raise QuantityError(f"rules = {shown(rules)}: allowed are one to three libraries or rule files.")
    return given


def _loaded(machine: Machine | str) -> dict[str, Machine]:
    """Return a machine that is not among the packaged ones, under the name that the list shows."""
    own = machine if isinstance(machine, Machine) else load_machine(machine)
    return {f"{own.name} (yours)": own}


def _seconds(value: float) -> str:
    return "no formula yet" if np.isnan(value) else readable(value, "s")


def _table(title: str, rows: Sequence[Sequence[str]]) -> str:
    left = 'style="text-align: left; padding: 0 12px 0 0"'
    head = "".join(f"<th {left}>{name}</th>" for name in _HEADS)
    body = "".join(
        f"<tr><th {left}>{html.escape(row[0])}</th>"
        + "".join(f"<td {left}>{html.escape(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for row in rows
    )
    caption = f"<caption {left}><b>{html.escape(title)}</b></caption>"
    return f'<div role="status" aria-live="polite"><table>{caption}<tr>{head}</tr>{body}</table></div>'
