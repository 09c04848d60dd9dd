"""An explorer of crossovers: two algorithms, the formula of their border, and who is the cheaper one over n and P."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Iterable, Sequence
from contextlib import contextmanager
from functools import lru_cache
from threading import RLock
from typing import Any

import ipywidgets
import numpy as np
import sympy as sp
from ipywidgets import Layout
from PIL import Image

from orrery_analytic.algebra import Crossover, crossover
from orrery_analytic.calls import collective_cost
from orrery_analytic.collectives import list_algorithms
from orrery_analytic.cost import Cost
from orrery_analytic.decisions import list_collectives
from orrery_analytic.errors import OrreryError, choose
from orrery_analytic.machines import Machine, list_machines, load_machine
from orrery_analytic.plots import size_text
from orrery_analytic.plots.algebra import Border, Ranks
from orrery_analytic.units import readable
from orrery_analytic.widgets.canvas import Canvas
from orrery_analytic.widgets.controls import _bytes, _dropdown, _ranks, _slider
from orrery_analytic.widgets.parameters import Parameters
from orrery_analytic.widgets.view import RANKS, SIZES

__all__ = ["CrossoverExplorer", "explore_crossover"]

_X = np.unique(np.rint(np.geomspace(4, 2**30, 225)).astype(int))
_FIRST, _LAST = 2, 64  # ranks of the strip
_CURSOR: dict[str, Any] = {"color": "black", "linewidth": 1.0, "linestyle": (0, (1, 2)), "zorder": 3}
_USUAL = ("recursive_doubling", "ring")
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


class CrossoverExplorer(ipywidgets.Box):
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
        base = load_machine(machine) if isinstance(machine, str) else machine
        own = not isinstance(machine, str) or machine not in list_machines()
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
        self._upper, self._lower = Canvas(3.5, "orrery-figure"), Canvas(0.95, "orrery-ranks", above=0.1, below=0.45)
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

    @contextmanager
    def _quietly(self) -> Any:
        """Change several controls at once; what follows is up to the caller."""
        self._quiet = True
        try:
            yield
        finally:
            self._quiet = False

    def _on_machine(self, _: Any) -> None:
        name = self.machine.value
        self.parameters.load(self._own.get(name) or load_machine(name))
        self._rebuild()

    def _on_collective(self, _: Any) -> None:
        offered = _offered(self.collective.value)
        with self._quietly():
            first, second = _pair(offered, None, None)
            self.a.options, self.b.options = offered, offered
            self.a.value, self.b.value = first, second
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
            self._caption = self._upper.axes.text(0.5, -0.13, "", transform=self._upper.axes.transAxes, ha="center",
                                                  va="top")  # fmt: skip
            self._at_n = self._upper.axes.axvline(1, **_CURSOR)
            self._strip = Ranks(self._lower.axes, [""], self._names, _FIRST, _LAST)
            (self._at_P,) = self._lower.axes.plot([], [], marker="v", color="black", markersize=6, clip_on=False)
            self._moved()

    def _moved(self, _: Any = None) -> None:
        """Put the numbers of the controls into pictures, words and formula."""
        if self._quiet:
            return
        with self._lock:
            try:
                self._show()
            except OrreryError as error:
                self.readout.value = _STATUS.format(f"<b>Cannot be shown:</b> {html.escape(str(error))}")
                self.formula.value = ""
                for canvas in (self._upper, self._lower):
                    with canvas.lock:
                        canvas.clear()
                        canvas.axes.set_axis_off()
                        canvas.paint([], anew=True)

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
            self._lower.axes.set_xlabel("")
            self._at_P.set_data(([P], [-0.44]) if P <= _LAST else ([], []))
            self._lower.paint([*self._strip.artists, self._at_P], anew)
        here = [float(_seconds(cost, machine, P, np.array([n]))[0]) for cost in costs]
        self.readout.value = _STATUS.format("<br>".join(self._said(here, stretches, ranks)))
        self.formula.value = _formulas(over_n, over_n.formulas(machine, P=P), P)

    def _said(self, here: Sequence[float], stretches: Iterable[Any], ranks: Iterable[Any]) -> list[str]:
        """Return the verdict at the point, and the stretches over n and over P, in words."""
        P, n = self.P.value, size_text(self.n.value)
        names = dict(zip("ab", map(html.escape, self._names), strict=True))
        times = ", ".join(f"{names[k]} {_time(t)}" for k, t in zip("ab", here, strict=True))
        ratio = f", {max(here) / min(here):.2f} times as long" if np.isfinite(here).all() and min(here) else ""
        over_n = "; ".join(f"{_who(who, names)} {_sizes(first, last)}" for first, last, who in stretches)
        by_who: dict[str, list[str]] = {}
        for first, last, who in ranks:
            by_who.setdefault(who, []).append(f"{first}" if first == last else f"{first} to {last}")
        over_P = "; ".join(f"{_who(who, names)} at {', '.join(found)}" for who, found in by_who.items())
        return [
            f"<b>P = {P}, n = {n}:</b> {times}{ratio}.",
            f"<b>Over n on {P} ranks,</b> the cheaper one: {over_n}.",
            f"<b>Over P = {_FIRST} to {_LAST} at {n}:</b> {over_P}.",
        ]

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """Add both pictures, for where nothing runs: a stored notebook on a page."""
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is not None:
            bundle["image/png"] = base64.b64encode(_stacked(self.curves_image.value, self.ranks_image.value)).decode()
        return bundle

    def __repr__(self) -> str:
        a, b = self._names
        place = f"P = {self.P.value}, n = {size_text(self.n.value)}"
        return f"<CrossoverExplorer: {self.collective.value} {a} and {b} on {self.machine.value}, {place}>"


@lru_cache(maxsize=512)
def _cost(collective: str, algorithm: str) -> Cost:
    return collective_cost(collective, algorithm)


@lru_cache(maxsize=64)
def _offered(collective: str) -> tuple[str, ...]:
    """Return the algorithms that have a formula for any P on one level."""
    found = []
    for name in list_algorithms(collective):
        try:
            _cost(collective, name)
        except OrreryError:  # made of parts that n decides, or for nodes of several ranks
            continue
        found.append(name)
    return tuple(found)


def _pair(offered: Sequence[str], a: str | None, b: str | None) -> tuple[str, str]:
    """Return two algorithms; common ones, and two that differ, for those that are not given."""
    usual = [*(name for name in _USUAL if name in offered), *offered]
    first = choose("algorithm with a formula", a, offered) if a is not None else next(x for x in usual if x != b)
    second = choose("algorithm with a formula", b, offered) if b is not None else next(x for x in usual if x != first)
    return first, second


def _seconds(cost: Cost, machine: Machine, P: int, n: Any) -> Any:
    given = {name: machine.parameters[name] for name in cost.symbols if name in machine.parameters}
    return np.broadcast_to(cost(**given, P=P, n=n), np.shape(n))


def _time(seconds: float) -> str:
    return readable(seconds, "s") if np.isfinite(seconds) else "not stated"


def _who(verdict: str, names: dict[str, str]) -> str:
    only = {f"only {k}": f"only {name} is stated" for k, name in names.items()}
    return f"<b>{ {**names, **only}.get(verdict, verdict) }</b>"


def _sizes(first: float, last: float) -> str:
    low, high = (f"{x:,.0f} B".replace(",", " ") for x in (first, last))
    return f"from {low} on" if last == float("inf") else f"from {low} to {high}" if first > 1 else f"to {high}"


def _formulas(crossing: Crossover, found: Iterable[tuple[float, sp.Expr | None]], P: int) -> str:
    """Return HTML with LaTeX: each border on these ranks, with its formula for the branches that hold there."""
    rows = [
        f"$\\displaystyle n^* = {_latex(e)} = \\text{{{at:,.1f} B}}$".replace(",", "\\,")
        if e is not None
        else f"{at:,.1f} B: a formula jumps there"
        for at, e in found
    ]
    body = "".join(f'<div style="overflow: auto hidden; contain: inline-size; margin: 8px 0">{row}</div>' for row in rows)
    title = "Equal cost, as a formula:" if rows else f"Nowhere in n do the two change places on {P} ranks."
    return f'<div style="width: 740px; max-width: 100%"><b>{title}</b>{body}</div>'


@lru_cache(maxsize=256)
def _latex(e: sp.Expr) -> str:
    return str(sp.latex(e))


def _stacked(*pngs: bytes) -> bytes:
    """Return pictures of one width, one under the other."""
    pictures = [np.asarray(Image.open(io.BytesIO(png)).convert("RGB")) for png in pngs]
    out = io.BytesIO()
    Image.fromarray(np.vstack(pictures)).save(out, "png")
    return out.getvalue()
