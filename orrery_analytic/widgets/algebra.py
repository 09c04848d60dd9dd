"""An explorer of crossovers: two algorithms, the formula of their border, and who is the cheaper one over n and P."""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import lru_cache
from threading import RLock
from typing import Any

import ipywidgets
import numpy as np
from ipywidgets import Layout
from numpy.typing import NDArray
from PIL import Image

from orrery_analytic.algebra import crossover
from orrery_analytic.calls import collective_cost
from orrery_analytic.collectives import list_algorithms
from orrery_analytic.cost import Cost
from orrery_analytic.decisions import list_collectives
from orrery_analytic.errors import OrreryError, choose
from orrery_analytic.machines import Machine, list_machines, load_machine
from orrery_analytic.plots import size_text
from orrery_analytic.plots.crossovers import Border, Ranks
from orrery_analytic.widgets.canvas import Canvas, Pictured
from orrery_analytic.widgets.controls import _bytes, _dropdown, _ranks, _slider
from orrery_analytic.widgets.crossover_words import formulas, words
from orrery_analytic.widgets.parameters import Parameters
from orrery_analytic.widgets.view import RANKS, SIZES

__all__ = ["CrossoverExplorer", "explore_crossover"]

_X = np.unique(np.rint(np.geomspace(4, 2**30, 225)).astype(int))
_FIRST, _LAST = 2, 64  # ranks of the strip
_CURSOR: dict[str, Any] = {"color": "black", "linewidth": 1.0, "linestyle": (0, (1, 2)), "zorder": 3}
_USUAL = ("recursive_doubling", "ring", "recursive_halving", "binomial", "scatter_allgather_ring", "rabenseifner",
          "pairwise", "modified_bruck")  # fmt: skip
_STATUS = '<div role="status" aria-live="polite" style="line-height: 1.45; overflow-wrap: anywhere">{}</div>'
_COLLECTIVES = [name for name in list_collectives() if name != "barrier"]  # without bytes nothing crosses over n


def explore_crossover(
    machine: Machine | str = "example",
    collective: str = "allreduce",
    a: str | None = None,
    b: str | None = None,
    P: int = 12,
    n: int | str = "64 KiB",
) -> CrossoverExplorer:
    """Return a widget that shows where one of two algorithms becomes the cheaper one: formula, curves, and ranks.

    Parameters
    ----------
    machine : Machine or str
        A machine, or the name or path of its file.
    collective : str
        One of `list_collectives` that moves bytes.
    a, b : str, optional
        Two of its algorithms; two common ones unless given. Costs are those on host buffers under Hockney.
    P : int
        Ranks of the curves, at least 2.
    n : int or str
        Bytes of the strip of ranks, or text ("64 KiB").

    Raises
    ------
    UnknownNameError, QuantityError
        For a name or a number that is not there or not allowed; the message says what is.
    """
    return CrossoverExplorer(machine, collective, a, b, P, n)


class CrossoverExplorer(Pictured):
    """The widget that `explore_crossover` returns.

    Attributes
    ----------
    machine, collective, a, b, P, n
        The controls.
    parameters : Parameters
        Sliders of the machine's numbers.
    curves_image, ranks_image : Image
        Times over n on P ranks, and who is the cheaper one over P at n.
    readout, formula : HTML
        What is said: verdict and borders in words, and the border as a formula.
    """

    def __init__(
        self, machine: Machine | str, collective: str, a: str | None, b: str | None, P: int, n: int | str
    ) -> None:
        self._lock, self._quiet = RLock(), False  # callbacks may come from several threads
        base = machine if isinstance(machine, Machine) else load_machine(machine)
        own = machine not in list_machines()
        self._own = {f"{base.name} (yours)": base} if own else {}
        names = [*self._own, *list_machines()]
        self.machine = _dropdown("machine", names, next(iter(self._own), base.name))
        self.collective = _dropdown("collective", _COLLECTIVES, choose("collective", collective, _COLLECTIVES))
        offered = _offered(collective)
        first, second = _pair(offered, a, b)
        self.a = _dropdown("a", offered, first)
        self.b = _dropdown("b", offered, second)
        self.P = _slider("P", RANKS, _ranks(P), str, "ranks of the curves")
        self.n = _slider("n", SIZES, _bytes(n), size_text, "message size of the strip, bytes")
        self.P.add_class("orrery-P")
        self.n.add_class("orrery-n")
        self.parameters = Parameters(self._moved)
        self.parameters.load(base)
        self._upper, self._lower = (
            Canvas(3.4, "orrery-figure", above=0.58),
            Canvas(1.2, "orrery-ranks", above=0.1, below=0.7),
        )
        self.curves_image, self.ranks_image = self._upper.image, self._lower.image
        self.readout, self.formula = ipywidgets.HTML(layout=Layout(min_height="76px")), ipywidgets.HTMLMath()
        self.readout.add_class("orrery-readout")
        self.formula.layout = Layout(width="100%", min_width="0")
        left = ipywidgets.VBox(
            [self.machine, self.collective, self.a, self.b, self.P, self.n, self.parameters.box],
            layout=Layout(flex="0 0 356px", width="356px", overflow="hidden"),
        )
        right = ipywidgets.VBox(
            [self.readout, self.curves_image, self.ranks_image, self.formula],
            layout=Layout(flex="1 1 400px", min_width="0", max_width="760px", margin="0 0 0 8px"),
        )
        super().__init__([left, right], layout=Layout(flex_flow="row wrap", align_items="flex-start"))
        self.add_class("orrery-crossover")
        self.machine.observe(self._on_machine, "value")
        self.collective.observe(self._on_collective, "value")
        for control in (self.a, self.b):
            control.observe(self._rebuild, "value")
        for control in (self.P, self.n):
            control.observe(self._moved, "value")
        self._rebuild()

    @property
    def _names(self) -> tuple[str, str]:
        return self.a.value, self.b.value

    def _on_machine(self, _: Any) -> None:
        name = self.machine.value
        self.parameters.load(self._own.get(name) or load_machine(name))
        self._rebuild()

    def _on_collective(self, _: Any) -> None:
        offered = _offered(self.collective.value)
        self._quiet = True
        self.a.options = self.b.options = offered
        self.a.value, self.b.value = _pair(offered, None, None)
        self._quiet = False
        self._rebuild()

    def _rebuild(self, _: Any = None) -> None:
        """Make the artists anew: other names, or a machine with other times."""
        if self._quiet:
            return
        with self._lock:
            for canvas in (self._upper, self._lower):
                with canvas.lock:
                    canvas.clear()
            self._border = Border(self._upper.axes, _X, self._names)
            self._upper.axes.set_xlabel("")
            self._caption = _caption(self._upper, -0.13)
            self._at_n = self._upper.axes.axvline(1, **_CURSOR)
            self._strip = Ranks(self._lower.axes, [""], self._names, _FIRST, _LAST)
            self._lower.axes.set_xlabel("")
            self._below = _caption(self._lower, -0.75)
            (self._at_P,) = self._lower.axes.plot([], [], marker="v", color="black", markersize=6, clip_on=False)
            self._moved()

    def _moved(self, _: Any = None) -> None:
        """Put the numbers of the controls into pictures, words and formula."""
        if self._quiet:
            return
        with self._lock:
            self._show()

    def _show(self) -> None:
        overrides = self.parameters.overrides()
        machine = self.parameters.base.replace(**overrides) if overrides else self.parameters.base
        a, b = costs = [_cost(self.collective.value, name) for name in self._names]
        self.parameters.show({*a.symbols, *b.symbols})
        over_n, over_P = crossover(a, b, "n"), crossover(a, b, "P")
        P, n = self.P.value, self.n.value
        stretches = over_n.intervals(machine, P=P)
        ranks = over_P.intervals(machine, n=n, first=_FIRST, last=_LAST)
        curves = [_seconds(cost, machine, P, _X) for cost in costs]
        with self._upper.lock:
            anew = self._border.update(curves, stretches)
            self._caption.set_text(f"message size n of {self.collective.value}, P = {P}; dotted: n = {size_text(n)}")
            self._at_n.set_xdata([n, n])
            self._upper.paint([*self._border.artists, self._at_n, self._caption], anew)
        with self._lower.lock:
            anew = self._strip.update([ranks])
            self._below.set_text(f"ranks P, at n = {size_text(n)}")
            self._at_P.set_data(([P], [-0.44]) if P <= _LAST else ([], []))
            self._lower.paint([*self._strip.artists, self._at_P, self._below], anew)
        here = [float(_seconds(cost, machine, P, [n])[0]) for cost in costs]
        self.readout.value = _STATUS.format(words(self._names, P, n, here, stretches, ranks))
        self.formula.value = formulas(over_n.formulas(machine, P=P), P)

    def picture(self) -> bytes:
        """Return both pictures, one above the other."""
        return _stacked(self.curves_image.value, self.ranks_image.value)

    def __repr__(self) -> str:
        a, b = self._names
        place = f"P = {self.P.value}, n = {size_text(self.n.value)}"
        return f"<CrossoverExplorer: {self.collective.value} {a} and {b} on {self.machine.value}, {place}>"


@lru_cache(maxsize=512)
def _cost(collective: str, algorithm: str) -> Cost:
    return collective_cost(collective, algorithm)


@lru_cache(maxsize=64)
def _offered(collective: str) -> list[str]:
    """Return the algorithms that have a formula for any P on one level."""
    found = []
    for name in list_algorithms(collective):
        try:
            _cost(collective, name)
        except OrreryError:  # made of parts that n decides, or for nodes of several ranks
            continue
        found.append(name)
    return found


def _pair(offered: Sequence[str], a: str | None, b: str | None) -> tuple[str, str]:
    """Return two algorithms; common ones, and two that differ, for those that are not given."""
    usual = [*(name for name in _USUAL if name in offered), *offered]
    first = choose("algorithm with a formula", a, offered) if a is not None else next(x for x in usual if x != b)
    second = choose("algorithm with a formula", b, offered) if b is not None else next(x for x in usual if x != first)
    return first, second


def _seconds(cost: Cost, machine: Machine, P: int, n: Any) -> NDArray[np.float64]:
    given = {name: machine.parameters[name] for name in cost.symbols if name in machine.parameters}
    return np.broadcast_to(np.asarray(cost(**given, P=P, n=n)), np.shape(n))


def _caption(canvas: Canvas, height: float) -> Any:
    """Return a text that stands for the name of the horizontal axis, and changes with the numbers."""
    return canvas.axes.text(0.5, height, "", transform=canvas.axes.transAxes, ha="center", va="top")


def _stacked(*pngs: bytes) -> bytes:
    """Return pictures of one width, one under the other."""
    pictures = [np.asarray(Image.open(io.BytesIO(png)).convert("RGB")) for png in pngs]
    out = io.BytesIO()
    Image.fromarray(np.vstack(pictures)).save(out, "png")
    return out.getvalue()
