"""An explorer of any costs: a curve for each, a slider for each symbol, and how they compare at a marked point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import RLock
from typing import Any

import ipywidgets
from ipywidgets import Layout

from orrery_analytic.cost import Cost
from orrery_analytic.errors import QuantityError, UnknownNameError, choose
from orrery_analytic.exports.formula import formulas_latex
from orrery_analytic.machines import Machine
from orrery_analytic.units import shown
from orrery_analytic.widgets.canvas import Canvas, Pictured
from orrery_analytic.widgets.code import short
from orrery_analytic.widgets.controls import _dropdown, start_again
from orrery_analytic.widgets.cost_curves import CostCurves, Costs, seconds_of
from orrery_analytic.widgets.cost_words import formula, words
from orrery_analytic.widgets.pair import NOTHING, offered_machines, two_machines
from orrery_analytic.widgets.saving import Saver, figure_file
from orrery_analytic.widgets.symbol_sliders import (
    grid,
    in_order,
    info_of,
    meaning,
    number_of,
    offers,
    symbol_slider,
)

__all__ = ["CostsExplorer", "explore_costs"]

_BEGIN: dict[str, Any] = {"P": 64, "n": 64 * 2**10}
_MOST = 12  # curves that are told apart
_SAVED = {
    "PDF": "The figure, for a paper", "PNG": "The figure, for slides", "CSV": "The numbers of all curves",
    "LaTeX": "The formulas of all curves", "code": "One line that opens this view again",
}  # fmt: skip


def explore_costs(
    costs: Mapping[str, Cost], machine: Machine | str | Sequence[Machine | str] = "example", axis: str = "n",
    **values: Any,
) -> CostsExplorer:  # fmt: skip
    """Return a widget that draws costs over one of their symbols, with a slider for each symbol, and compares them.

    Parameters
    ----------
    costs : mapping of label to Cost
        Up to twelve: of messages, device legs, kernels, collectives, programs, and sums of them.
    machine : Machine or str, or two of them
        A machine, or the name or path of its file: where the sliders of its numbers begin. Two stand beside each other:
        the first with solid lines and open markers, the second, as its file has it, with dashed lines and full ones.
    axis : str
        The symbol that runs along: "n", "P", or another one that a cost uses.
    **values
        Where the sliders of other symbols begin, by name: P, n (bytes, or "1 MiB"), W, nx ...; and what goes before the
        numbers of the first machine (alpha="2 us"). P is 64 and n is 64 KiB unless given.

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
    beside : Dropdown
        The same, for a second machine: the sliders of a machine's numbers move the first alone.
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
    buttons : dict of Button
        "PDF", "PNG", "CSV", "LaTeX", "code": what can be saved.
    saved, text
        Where a saved file is found, and where LaTeX and code are read.
    """

    def __init__(self, costs: Mapping[str, Cost], machine: Any, axis: str, values: dict[str, Any]) -> None:
        self._lock = RLock()  # callbacks may come from several threads
        self._quiet = True
        self.costs = _checked(costs)
        self.symbols = in_order({name for cost in self.costs.values() for name in cost.symbols})
        self.axis = choose("axis (a symbol of these costs)", axis, self.symbols)
        allowed = dict.fromkeys((*self.symbols, *_BEGIN))
        self._given = {choose("symbol in these costs", name, allowed): number_of(name, x) for name, x in values.items()}
        own, second = two_machines(machine)
        for given in filter(None, (second, own)):
            begin = self._numbers(given)
            for cost in self.costs.values():
                if any(name.endswith(("d2h", "h2d")) for name in cost.symbols):
                    # It warns where a machine has more size bands than the cost was made for.
                    cost.at(given, **{name: x for name, x in self._given.items() if name in cost.symbols})
        self._machines = {name: m for name, m in offered_machines(own, second).items() if not self._missing(m)}
        self.machine = _dropdown("machine", list(self._machines), own.name)
        self.beside = _dropdown(
            "beside", [NOTHING, *self._machines], NOTHING if second is None else [*self._machines][1]
        )
        wide = max(66, *(8 * len(name) for name in self.symbols))  # pixels of the longest name
        self.sliders = {name: symbol_slider(name, value, f"{wide}px") for name, value in begin.items()}
        self._told = {
            name: ipywidgets.HTML(layout=Layout(margin=f"-8px 0 0 {wide + 10}px", width=f"{334 - wide}px"))
            for name in self.symbols
        }
        self.again = start_again([self.machine, self.beside, *self.sliders.values()])
        self.again.layout.margin = f"8px 0 0 {wide + 10}px"
        self._canvas = Canvas(3.7, "orrery-figure", above=0.16, below=0.56)
        self.image = self._canvas.image
        self.readout, self.formula = ipywidgets.HTML(layout=Layout(min_height="64px")), ipywidgets.HTMLMath()
        self.readout.add_class("orrery-readout")
        self.formula.layout = Layout(width="100%", min_width="0")
        self.formula.value = "".join(formula(label, cost) for label, cost in self.costs.items())
        self._saver = Saver(_SAVED, self._file)
        self.buttons, self.saved, self.text = self._saver.buttons, self._saver.saved, self._saver.text
        rows = [widget for name in self.symbols for widget in (self.sliders[name], self._told[name])]
        left = ipywidgets.VBox([self.machine, self.beside, *rows, self.again])
        left.layout = Layout(flex="0 0 356px", width="356px", overflow="hidden")
        right = ipywidgets.VBox([self.readout, self.image, self._saver.row, self.text, self.formula])
        right.layout = Layout(flex="1 1 400px", min_width="0", max_width="760px", margin="0 0 0 8px")
        super().__init__([left, right], layout=Layout(flex_flow="row wrap", align_items="flex-start"))
        self.add_class("orrery-costs")
        self._set_up()
        self.machine.observe(self._on_machine, "value")
        self.beside.observe(self._on_beside, "value")
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

    def _on_beside(self, _: Any) -> None:
        with self._lock:
            self._set_up()
            self._moved()

    def _sets(self) -> dict[str, dict[str, float]]:
        """Return the numbers of the symbols by machine: the second has its own, and all others of the sliders."""
        first, second = self.machine.value, self.beside.value
        if second == NOTHING:
            return {first: self.values}
        own = self._machines[second].parameters
        others = {name: x if name == self.axis else own.get(name, x) for name, x in self.values.items()}
        return {f"{first}, moved" if first == second else first: self.values, second: others}

    def _set_up(self) -> None:
        """Make the axis, and curves without points yet."""
        sets = self._sets()
        self._x = grid(self.axis, [x for _, x in self.sliders[self.axis].options])
        if self.axis == "P" and not all(
            seconds_of(cost, {**numbers, "P": 1}) > 0 for cost in self.costs.values() for numbers in sets.values()
        ):
            self._x = self._x[1:]  # a collective of one rank costs nothing
        with self._canvas.lock:
            self._canvas.clear()
            self._curves = CostCurves(self._canvas.axes, self.axis, self._x, list(self.costs), list(sets))

    def _moved(self, _: Any = None) -> None:
        """Put the numbers of the sliders into picture and words."""
        if self._quiet:
            return
        with self._lock:
            self._shown = Costs.of(self.costs, self.axis, self._x, self._sets())
            with self._canvas.lock:
                anew = self._curves.update(self._shown)
                self._canvas.paint(self._curves.artists, anew)
            numbers = self.values
            for name, value in numbers.items():
                self._told[name].value = meaning(name, value)
            self.readout.value = words(self._shown, numbers, [name for name in (self.axis, *_BEGIN) if name in numbers])

    def _file(self, kind: str) -> tuple[str, bytes]:
        """Return name and content of what a button stands for."""
        with self._lock:
            if kind == "CSV":
                return "costs", self._shown.csv()
            if kind == "LaTeX":
                return "costs", formulas_latex(self.costs, self.code).encode()
            if kind == "code":
                labels = ", ".join(f"{label!r}: ..." for label in self.costs)
                return "costs", f"# costs = {{{labels}}}, those of this view\n{self.code}\n".encode()
            return "costs", figure_file(self._shown.figure(), kind)

    @property
    def code(self) -> str:
        """One line of code that opens this view again."""
        at_first = {**_BEGIN, **self._machines[self.machine.value].parameters}
        changed = {name: value for name, value in self.values.items() if value != at_first.get(name)}
        told = [f"{name}={value!r}" for name, value in changed.items()]
        axis = [] if self.axis == "n" else [f'axis="{self.axis}"']
        own = [short(self._machines[name]) for name in (self.machine.value, self.beside.value) if name != NOTHING]
        pair = own[0] if len(own) == 1 else f"({', '.join(own)})"
        return f"oa.explore_costs({', '.join(['costs', pair, *axis, *told])})"

    def __repr__(self) -> str:
        return f"<CostsExplorer: {', '.join(self.costs)}; {self.code}>"


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
