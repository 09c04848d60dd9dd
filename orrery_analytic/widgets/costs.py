"""An explorer of any costs: a curve for each, a slider for each symbol, and how they compare at a marked point."""

from __future__ import annotations

import html
import os
from collections.abc import Mapping
from threading import RLock
from typing import Any

import ipywidgets
import numpy as np
from ipywidgets import Layout
from numpy.typing import NDArray

from orrery_analytic.cost import Cost
from orrery_analytic.errors import QuantityError, UnknownNameError, choose
from orrery_analytic.machines import Machine, list_machines, load_machine
from orrery_analytic.plots.style import curve_style, legend, log_limits, set_time_axis
from orrery_analytic.units import readable, shown
from orrery_analytic.widgets.canvas import Canvas, Pictured
from orrery_analytic.widgets.controls import _dropdown, start_again
from orrery_analytic.widgets.symbol_sliders import (
    grid,
    in_order,
    info_of,
    meaning,
    number_of,
    number_text,
    offers,
    set_symbol_axis,
    symbol_slider,
)

__all__ = ["CostsExplorer", "explore_costs"]

_BEGIN: dict[str, Any] = {"P": 64, "n": 64 * 2**10}
_LONGEST = 500  # characters of a formula that can be read here
_MOST = 12  # curves that are told apart
_CURSOR: dict[str, Any] = {"color": "black", "linewidth": 1.1, "zorder": 3}
_STATUS = '<div role="status" aria-live="polite" style="line-height: 1.4; overflow-wrap: anywhere">{}</div>'


def explore_costs(
    costs: Mapping[str, Cost], machine: Machine | str = "example", axis: str = "n", **values: Any
) -> CostsExplorer:
    """Return a widget that draws costs over one of their symbols, with a slider for each symbol, and compares them.

    Parameters
    ----------
    costs : mapping of label to Cost
        Up to twelve: of messages, device legs, kernels, collectives, programs, and sums of them.
    machine : Machine or str
        A machine, or the name or path of its file: where the sliders of its numbers begin.
    axis : str
        The symbol that runs along: "n", "P", or another one that a cost uses.
    **values
        Where the sliders of other symbols begin, by name: P, n (bytes, or "1 MiB"), W, nx ...; and what goes before the
        machine's numbers (alpha="2 us"). P is 64 and n is 64 KiB unless given.

    Raises
    ------
    UnknownNameError, QuantityError
        For a name or a number that is not there or not allowed, and for a symbol that neither the machine nor `values`
        have a number for; the message says what is.
    """
    return CostsExplorer(costs, machine, axis, values)


class CostsExplorer(Pictured):
    """The widget that `explore_costs` returns.

    Attributes
    ----------
    machine : Dropdown
        The machines that have a number for each symbol.
    sliders : dict of SelectionSlider
        By the name of the symbol; values are SI numbers. That of the axis moves the marked point.
    image : Image
        The curves.
    readout : HTML
        The costs at the marked point.
    formula : HTMLMath
        What is drawn.
    again : Button
        Puts the controls back to where they began.
    """

    def __init__(self, costs: Mapping[str, Cost], machine: Machine | str, axis: str, values: dict[str, Any]) -> None:
        self._lock = RLock()  # callbacks may come from several threads
        self._quiet = True
        self.costs = _checked(costs)
        self.symbols = in_order({name for cost in self.costs.values() for name in cost.symbols})
        self.axis = choose("axis (a symbol of these costs)", axis, self.symbols)
        allowed = dict.fromkeys((*self.symbols, *_BEGIN))
        self._given = {choose("symbol in these costs", name, allowed): number_of(name, x) for name, x in values.items()}
        own = load_machine(machine) if isinstance(machine, str | os.PathLike) else machine
        if not isinstance(own, Machine):
            raise QuantityError(f"machine is a Machine, or the name or path of its file, but {shown(own)} was given.")
        begin = self._numbers(own)
        for cost in self.costs.values():
            if any(name.endswith(("d2h", "h2d")) for name in cost.symbols):
                # It warns where a machine has more size bands than the cost was made for.
                cost.at(own, **{name: x for name, x in self._given.items() if name in cost.symbols})
        offered = {own.name: own} | {name: load_machine(name) for name in list_machines() if name != own.name}
        self._machines = {name: m for name, m in offered.items() if not self._missing(m)}
        self.machine = _dropdown("machine", list(self._machines), own.name)
        wide = max(66, *(8 * len(name) for name in self.symbols))  # pixels of the longest name
        self.sliders = {name: symbol_slider(name, value, f"{wide}px") for name, value in begin.items()}
        self._told = {
            name: ipywidgets.HTML(layout=Layout(margin=f"-8px 0 0 {wide + 10}px", width=f"{334 - wide}px"))
            for name in self.symbols
        }
        self.again = start_again([self.machine, *self.sliders.values()])
        self.again.layout.margin = f"8px 0 0 {wide + 10}px"
        self._canvas = Canvas(3.7, "orrery-figure", above=0.16, below=0.56)
        self.image = self._canvas.image
        self.readout, self.formula = ipywidgets.HTML(layout=Layout(min_height="64px")), ipywidgets.HTMLMath()
        self.readout.add_class("orrery-readout")
        self.formula.layout = Layout(width="100%", min_width="0")
        self.formula.value = "".join(_formula(label, cost) for label, cost in self.costs.items())
        rows = [widget for name in self.symbols for widget in (self.sliders[name], self._told[name])]
        left = ipywidgets.VBox([self.machine, *rows, self.again])
        left.layout = Layout(flex="0 0 356px", width="356px", overflow="hidden")
        right = ipywidgets.VBox([self.readout, self.image, self.formula])
        right.layout = Layout(flex="1 1 400px", min_width="0", max_width="760px", margin="0 0 0 8px")
        super().__init__([left, right], layout=Layout(flex_flow="row wrap", align_items="flex-start"))
        self.add_class("orrery-costs")
        self._set_up()
        self.machine.observe(self._on_machine, "value")
        for slider in self.sliders.values():
            slider.observe(self._moved, "value")
        self._quiet = False
        self._moved()

    @property
    def values(self) -> dict[str, float]:
        """Where the sliders are: a number in SI units for each symbol."""
        return {name: slider.value for name, slider in self.sliders.items()}

    def _numbers(self, machine: Machine) -> dict[str, float]:
        """Return where the sliders begin on a machine."""
        missing = self._missing(machine)
        if missing:
            told = ", ".join(f"{name} ({info_of(name).meaning})" for name in missing)
            raise UnknownNameError(f"{machine.name} has no number for {told}: give it by its name.")
        source = {**_BEGIN, **machine.parameters, **self._given}
        return {name: source[name] for name in self.symbols}

    def _missing(self, machine: Machine) -> list[str]:
        return [name for name in self.symbols if name not in {**_BEGIN, **machine.parameters, **self._given}]

    def _on_machine(self, _: Any) -> None:
        """Take the machine's numbers; all others stay where they are."""
        with self._lock:
            machine = self._machines[self.machine.value]
            self._quiet = True
            for name in self.symbols:
                if name in machine.parameters and name not in self._given:
                    slider, value = self.sliders[name], machine.parameters[name]
                    slider.options = offers(name, value)
                    slider.value = value
            self._quiet = False
            self._set_up()
            self._moved()

    def _set_up(self) -> None:
        """Make the axis, and curves without points yet."""
        numbers = self.values
        self._x = grid(self.axis, [x for _, x in self.sliders[self.axis].options])
        if self.axis == "P" and not all(cost(**_own(cost, {**numbers, "P": 1})) > 0 for cost in self.costs.values()):
            self._x = self._x[1:]  # a collective of one rank costs nothing
        with self._canvas.lock:
            self._canvas.clear()
            axes = self._canvas.axes
            set_symbol_axis(axes, self.axis, self._x)
            set_time_axis(axes)
            axes.set_ylabel("time")
            axes.grid(True, color="#E2E2E2", linewidth=0.7)
            every = max(len(self._x) // 9, 1)
            self._lines = [
                axes.plot([], [], label=label, markevery=(i * every // 3 % every, every), **curve_style(i))[0]
                for i, label in enumerate(self.costs)
            ]
            legend(axes, self._lines)
            box: Any = axes.get_legend()
            for text in box.get_texts():
                text.set_parse_math(False)
            self._cursor = axes.axvline(1, **_CURSOR)
            (self._dots,) = axes.plot([], [], marker="o", markersize=6, linestyle="", **_CURSOR)
            self._limits: tuple[float, float] | None = None

    def _moved(self, _: Any = None) -> None:
        """Put the numbers of the sliders into picture and words."""
        if self._quiet:
            return
        with self._lock:
            numbers = self.values
            here = {label: float(cost(**_own(cost, numbers))) for label, cost in self.costs.items()}
            with self._canvas.lock:
                self._draw(numbers, list(here.values()))
            for name, value in numbers.items():
                self._told[name].value = meaning(name, value)
            self.readout.value = _STATUS.format(self._words(numbers, here))

    def _draw(self, numbers: dict[str, float], here: list[float]) -> None:
        along = {**numbers, self.axis: self._x}
        curves = [_drawn(cost(**_own(cost, along)), self._x) for cost in self.costs.values()]
        for line, curve in zip(self._lines, curves, strict=True):
            line.set_data(self._x, curve)
        self._cursor.set_xdata([numbers[self.axis]] * 2)
        self._dots.set_data([numbers[self.axis]] * len(here), _drawn(here, here))
        need = log_limits(curves)
        anew = need is not None and not (self._limits and self._limits[0] <= need[0] and need[1] <= self._limits[1])
        if anew and need is not None:
            self._limits = need
            self._canvas.axes.set_ylim(*need)
        self._canvas.paint([*self._lines, self._cursor, self._dots], anew)

    def _words(self, numbers: dict[str, float], here: dict[str, float]) -> str:
        """Return HTML: the costs at the marked point, and how many times the least each is."""
        named = [name for name in dict.fromkeys((self.axis, *_BEGIN)) if name in numbers]
        least = min(here.values())
        rows = []
        for label, seconds in here.items():
            times = f"{seconds / least:.3g} times the least" if seconds > 1.0005 * least > 0 else ""
            time = readable(seconds, "s") if times else f"<b>{readable(seconds, 's')}</b>"
            cells = "".join(f"<td {_CELL}>{text}</td>" for text in (html.escape(label), time, times))
            rows.append(f"<tr>{cells}</tr>")
        place = ", ".join(f"{name} = {number_text(name, numbers[name])}" for name in named)
        return f"<b>{html.escape(place)}</b><table>{''.join(rows)}</table>"

    @property
    def code(self) -> str:
        """One line of code that opens this view again."""
        at_first = {**_BEGIN, **self._machines[self.machine.value].parameters}
        changed = {name: value for name, value in self.values.items() if value != at_first.get(name)}
        told = [f"{name}={value!r}" for name, value in changed.items()]
        axis = [] if self.axis == "n" else [f'axis="{self.axis}"']
        return f"oa.explore_costs({', '.join(['costs', ascii(self.machine.value), *axis, *told])})"

    def __repr__(self) -> str:
        return f"<CostsExplorer: {', '.join(self.costs)}; {self.code}>"


_CELL = 'style="padding-right: 14px; white-space: nowrap"'


def _checked(costs: Any) -> dict[str, Cost]:
    """Return the costs by label; they need a symbol, or there is nothing to move."""
    if not isinstance(costs, Mapping) or not 1 <= len(costs) <= _MOST:
        raise QuantityError(
            f'costs are a mapping of 1 to {_MOST} labels to costs, {{"Hockney": oa.p2p_cost()}}, not {shown(costs)}.'
        )
    for label, cost in costs.items():
        if not isinstance(label, str) or not label.strip() or label.startswith("_"):
            raise QuantityError(f"a label is a text that does not begin with _, but {shown(label)} was given.")
        if not isinstance(cost, Cost):
            raise QuantityError(
                f"{label} must be a Cost, as p2p_cost makes it, or one of your own such as "
                f'oa.Cost({{"latency": 3 * alpha, "bandwidth": n * beta}}), but {shown(cost)} was given.'
            )
    if not any(cost.symbols for cost in costs.values()):
        raise QuantityError("these costs have no symbol left: there is nothing to move. Leave out .at(...).")
    return dict(costs)


def _own(cost: Cost, numbers: Mapping[str, Any]) -> dict[str, Any]:
    """Return the numbers that a cost takes."""
    return {name: numbers[name] for name in cost.symbols}


def _drawn(seconds: Any, like: Any) -> NDArray[np.float64]:
    """Return an array as long as another, without what has no place on a log axis."""
    array = np.broadcast_to(np.asarray(seconds, dtype=float), np.shape(like))
    return np.where(array > 0, array, np.nan)


def _formula(label: str, cost: Cost) -> str:
    """Return HTML with LaTeX; what is too long is scrolled."""
    latex = html.escape(f"$\\displaystyle {cost.latex()}$")
    if len(latex) > _LONGEST:
        latex = "<i>a long formula, with cases: .latex() of this cost has it</i>"
    note = f'<div style="font-size: smaller; line-height: 1.3">{html.escape(cost.validity)}</div>'
    scrolled = f'<div style="overflow: auto hidden; contain: inline-size; margin: 2px 0">{latex}</div>'
    return (
        f'<div style="width: 740px; max-width: 100%; margin-top: 6px"><b>{html.escape(label)}</b>{scrolled}{note}</div>'
    )
