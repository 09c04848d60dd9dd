"""Sliders for the numbers of a machine: one for each that the formulas at hand use."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, cast

import ipywidgets

from orrery_analytic.machines import MACHINE_KEYS, Band, Machine
from orrery_analytic.plots import size_text
from orrery_analytic.units import readable

__all__ = ["Parameters"]

_DECADES = 2  # below and above the machine's own value
_MIDDLE = {"s": 1e-6, "s/B": 1e-10}  # of a slider that begins at zero
_ROUND = "1 1.2 1.5 2 2.5 3 4 5 6 8".split()
_COPIES = ("d2h", "h2d")


@dataclass(frozen=True)
class _Knob:
    """One number: a key of the machine file, or a field of one of its size bands."""

    key: str
    label: str
    unit: str
    meaning: str
    symbol: str
    band: int | None = None
    field: str = ""

    def value(self, machine: Machine) -> float | None:
        """Return the machine's number in SI units, or None where it has none."""
        if self.band is None:
            return machine.values.get(self.key)
        return float(getattr(_bands(machine, self.key)[self.band], self.field))


def _bands(machine: Machine, key: str) -> tuple[Band, ...]:
    return cast(tuple[Band, ...], machine.provenance[key].si)


def _knobs(machine: Machine) -> list[_Knob]:
    """Return the knobs of a machine in the order of `MACHINE_KEYS`; those of bands in place of one latency and rate."""
    knobs = []
    for info in MACHINE_KEYS.values():
        copy, _, field = info.key.partition("_")
        key = f"{copy}_bands"
        if info.symbol is None:
            continue
        if copy not in _COPIES or key not in machine.provenance:
            knobs.append(_Knob(info.key, info.key.replace("_", " "), info.unit, info.meaning, info.symbol))
            continue
        bands = _bands(machine, key)
        for i, band in enumerate(bands):
            limit = f"≤{size_text(band.up_to)}" if band.up_to else f">{size_text(bands[i - 1].up_to or 0)}"
            label = f"{copy} {field} {limit}" if len(bands) > 1 else f"{copy} {field}"
            symbol = f"{info.symbol}_{i + 1}" if len(bands) > 1 else info.symbol
            knobs.append(_Knob(key, label, info.unit, f"{info.meaning}, copies {limit}", symbol, i, field))
    return knobs


def _offered(value: float, unit: str) -> list[float]:
    """Return round numbers around a value, evenly on a log scale, and the value itself.

    One that is zero stands below those around a usual time, or time a byte.
    """
    middle = value or _MIDDLE[unit]
    far = 10**_DECADES * (1 + 1e-9)  # no round number is lost to rounding
    low, high = middle / far, middle * far
    powers = range(int(f"{low:e}".partition("e")[2]), int(f"{high:e}".partition("e")[2]) + 1)
    numbers = {float(f"{mantissa}e{power}") for power in powers for mantissa in _ROUND}
    # A round number that is nearly the value gives way to it.
    kept = {x for x in numbers if low <= x <= high and abs(x - value) > 0.02 * value}
    return sorted({*kept, value})


class Parameters:
    """The box of sliders and its reset button.

    Parameters
    ----------
    changed : function without arguments
        Called after a slider has moved, and once after a reset.
    """

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed, self._quiet = changed, False
        self._knobs: dict[str, _Knob] = {}
        self.sliders: dict[str, Any] = {}
        self.reset_button = ipywidgets.Button(
            description="reset", icon="undo", tooltip="Back to the values of the machine file",
            layout=ipywidgets.Layout(width="76px", height="26px"),
        )  # fmt: skip
        self.reset_button.on_click(lambda _: self.reset())
        head = ipywidgets.HBox([ipywidgets.HTML("<b>numbers of the machine</b>"), self.reset_button])
        head.layout = ipywidgets.Layout(justify_content="space-between", align_items="center", width="346px")
        scrolled = ipywidgets.Layout(max_height="264px", overflow="hidden auto", flex="0 0 auto")
        self.rows = ipywidgets.VBox(layout=scrolled)
        self._others = ipywidgets.VBox(layout=scrolled)
        self.more = ipywidgets.Accordion([self._others], titles=["other numbers, in no formula here"])
        self.more.layout = ipywidgets.Layout(width="346px", flex="0 0 auto")
        self.more.observe(lambda _: self._fold(), "selected_index")
        self._wanted: set[str] = set()
        self.box = ipywidgets.VBox([head, self.rows, self.more], layout=ipywidgets.Layout(flex="0 0 auto"))

    def load(self, machine: Machine) -> None:
        """Take over a machine: its values are the middles of the sliders."""
        self.base = machine
        self._knobs = {knob.label: knob for knob in _knobs(machine)}
        self.sliders = {}
        for knob in self._knobs.values():
            value = knob.value(machine)
            if value is not None:
                self.sliders[knob.label] = self._slider(knob, value)

    def _slider(self, knob: _Knob, value: float) -> Any:
        slider = ipywidgets.SelectionSlider(
            options=[(readable(x, knob.unit), x) for x in _offered(value, knob.unit)],
            value=value,
            description=knob.label,
            tooltip=f"{knob.meaning}; {readable(value, knob.unit)} in the machine file",
            continuous_update=True,
            style={"description_width": "160px"},
            layout=ipywidgets.Layout(width="346px", flex="0 0 auto"),
        )
        slider.observe(self._moved, "value")
        return slider

    def _moved(self, _: Any) -> None:
        if not self._quiet:
            self._changed()

    def show(self, symbols: Iterable[str]) -> None:
        """Show the sliders of these symbols; the others can be unfolded."""
        self._wanted = set(symbols)
        rows = self._of(True)
        if rows != self.rows.children:
            self.rows.children = rows
        self._fold()

    def _of(self, wanted: bool) -> tuple[Any, ...]:
        return tuple(s for label, s in self.sliders.items() if (self._knobs[label].symbol in self._wanted) is wanted)

    def _fold(self) -> None:
        """Give the page the other sliders only while they are unfolded: it would make them all."""
        rows = () if self.more.selected_index is None else self._of(False)
        if rows != self._others.children:
            self._others.children = rows

    def reset(self) -> None:
        """Put every slider back to the value of the machine file."""
        self._quiet = True
        try:
            for label, slider in self.sliders.items():
                slider.value = self._knobs[label].value(self.base)
        finally:
            self._quiet = False
        self._changed()

    def overrides(self) -> dict[str, Any]:
        """Return what differs from the machine file, as `Machine.replace` takes it, in SI units."""
        given: dict[str, Any] = {}
        for label, slider in self.sliders.items():
            knob = self._knobs[label]
            if slider.value == knob.value(self.base):
                continue
            if knob.band is None:
                given[knob.key] = slider.value
                continue
            if knob.key not in given:
                given[knob.key] = [_as_dict(band) for band in _bands(self.base, knob.key)]
            given[knob.key][knob.band][knob.field] = slider.value
        return given


def _as_dict(band: Band) -> dict[str, float]:
    limit = {} if band.up_to is None else {"up_to": band.up_to}
    return {**limit, "latency": band.latency, "bandwidth": band.bandwidth}
