"""An explorer of algbw and busbw: what nccl-tests makes of a size and a time, beside what one link carries."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from threading import RLock
from typing import Any

import ipywidgets
from ipywidgets import Layout
from matplotlib.ticker import FuncFormatter, MaxNLocator

from orrery_analytic.busbw import bus_bandwidth, bus_factor, canonical, nccl_message_size
from orrery_analytic.errors import QuantityError, choose
from orrery_analytic.plots import size_text
from orrery_analytic.units import readable, shown, to_si
from orrery_analytic.widgets.canvas import Canvas, Pictured
from orrery_analytic.widgets.controls import _dropdown, _ranks, _slider, start_again
from orrery_analytic.widgets.view import RANKS

__all__ = ["BusbwExplorer", "explore_busbw"]

#: Those of which the factor counts what each rank of a ring sends.
_COLLECTIVES = ("allreduce", "allgather", "reduce_scatter", "alltoall", "bcast", "reduce", "p2p")
_ITEMSIZE = 4  # bytes of a float, the type of nccl-tests unless asked for another
_NS, _MB, _GB, _GIB = 1e-9, 10**6, 1e9, 2**30
_LONGEST, _FASTEST = 1e3, 1e14  # seconds, bytes per second


def _decades(low: int, high: int, parts: int) -> list[int]:
    """Return whole numbers from low to high, `parts` of them in each decade, rounded to two digits."""
    count = round(parts * math.log10(high / low))
    return sorted({int(float(f"{low * 10 ** (i / parts):.2g}")) for i in range(count + 1)})


_SIZES = [2**k for k in range(10, 35)]
_TIMES = _decades(1000, 10**9, 24)  # nanoseconds
_LINKS = _decades(1000, 10**6, 12)  # MB/s

_BARS: dict[str, tuple[str, str]] = {
    "one link": ("#C4C4C4", ""), "algbw": ("#56B4E9", "//"), "busbw": ("#0072B2", "\\\\")
}  # fmt: skip
_TOPS = (1, 1.5, 2, 3, 4, 5, 6, 8, 10)
_MOST_MARKS = 8


def explore_busbw(
    collective: str = "allreduce",
    P: int = 4,
    nbytes: int | str = "256 MiB",
    seconds: float | str = "3290 us",
    link: float | str = "48.3 GB/s",
) -> BusbwExplorer:
    """Return a widget that shows algbw and busbw of a size and a time beside the speed of one link.

    algbw = size / time, busbw = algbw * `bus_factor`; the size is what nccl-tests uses when it is asked for `nbytes` of
    floats.

    Parameters
    ----------
    collective : str
        "allreduce", "allgather", "reduce_scatter", "alltoall", "bcast", "reduce" or "p2p", or as NCCL spells it.
    P : int
        Ranks, at least 2.
    nbytes : int or str
        Bytes that nccl-tests is asked for, up to 1 TiB, or text ("64 MiB").
    seconds : float or str
        Time of one operation, to 1 ns and up to 1000 s, or text ("859.71 us").
    link : float or str
        Bytes per second of one link in one direction, to 1 MB/s and up to 100 TB/s, or text ("48.3 GB/s").

    Raises
    ------
    UnknownNameError, QuantityError
        For a name or a number that is not there or not allowed; the message says what is.
    """
    return BusbwExplorer(collective, P, nbytes, seconds, link)


class BusbwExplorer(Pictured, ipywidgets.VBox):
    """The widget that `explore_busbw` returns.

    Attributes
    ----------
    collective, P, nbytes, seconds, link
        The controls; the time is in nanoseconds, the link in MB/s.
    image : Image
        Three bars: one link, algbw, busbw.
    readout : HTML
        The arithmetic in words.
    again : Button
        Puts the controls back to where they began.
    """

    def __init__(self, collective: str, P: int, nbytes: int | str, seconds: float | str, link: float | str) -> None:
        self._lock = RLock()  # callbacks may come from several threads
        self.collective = _dropdown(
            "collective", list(_COLLECTIVES), choose("collective", canonical(collective), _COLLECTIVES)
        )
        self.P = _slider("P", RANKS, _ranks(P), str, "ranks")
        self.nbytes = _slider(
            "size", _SIZES, _steps("nbytes", nbytes, "B", 1, 2**40), size_text, "bytes that nccl-tests is asked for"
        )
        self.seconds = _slider(
            "time", _TIMES, _steps("seconds", seconds, "s", _NS, _LONGEST), _microseconds, "time of one operation"
        )
        self.link = _slider(
            "link", _LINKS, _steps("link", link, "B/s", _MB, _FASTEST), _link, "speed of one link in one direction"
        )
        sliders = {"P": self.P, "size": self.nbytes, "time": self.seconds, "link": self.link}
        for name, slider in sliders.items():
            slider.add_class(f"orrery-{name}")
        self._canvas = Canvas(2.35, "orrery-busbw-figure", above=0.42, below=0.5)
        self.image = self._canvas.image
        self.readout = ipywidgets.HTML(layout=Layout(max_width=self.image.layout.max_width, min_height="96px"))
        self.readout.add_class("orrery-readout")
        self.again = start_again([self.collective, *sliders.values()])
        knobs = ipywidgets.Box([*sliders.values(), self.again], layout=Layout(flex_flow="row wrap"))
        super().__init__([self.collective, knobs, self.image, self.readout], layout=Layout(max_width="760px"))
        self.add_class("orrery-busbw")
        self._scale: tuple[float, float] | None = None
        for control in (self.collective, *sliders.values()):
            control.observe(self._refresh, "value")
        self._refresh()

    @property
    def used(self) -> int:
        """The bytes that nccl-tests uses, and prints, when it is asked for these."""
        return int(nccl_message_size(self.collective.value, self.nbytes.value, self.P.value, _ITEMSIZE))

    def bandwidths(self) -> tuple[float, float, float]:
        """Return one link, algbw and busbw, in bytes per second."""
        algbw, busbw = bus_bandwidth(self.collective.value, self.used, self.seconds.value * _NS, self.P.value)
        return float(self.link.value * _MB), float(algbw), float(busbw)

    def _refresh(self, _: Any = None) -> None:
        with self._lock:
            values = self.bandwidths()
            scale = (_top(max(values) / _GB), values[0] / _GB)
            with self._canvas.lock:
                anew = scale != self._scale
                if anew:
                    self._set_up(*scale)
                self._scale = scale
                self._draw(values, anew)
            self.readout.value = (
                f'<div role="status" aria-live="polite" style="line-height: 1.4">{self._told(values)}</div>'
            )

    def _set_up(self, top: float, link: float) -> None:
        """Make the axis and the marks of whole links, and bars without a length yet."""
        self._canvas.clear()
        axes = self._canvas.axes
        axes.set_xlim(0, top)
        axes.set_ylim(len(_BARS) - 0.45, -0.55)
        axes.set_yticks(range(len(_BARS)), list(_BARS))
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel("GB/s (10$^9$ bytes a second)")
        axes.spines[["top", "right"]].set_visible(False)
        axes.xaxis.set_major_locator(MaxNLocator(6))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
        self._marks: list[Any] = []
        step = next(s for s in _steps_of_links() if top / link / s <= _MOST_MARKS)
        for k in range(step, int(top / link * (1 + 1e-9)) + 1, step):
            self._marks.append(axes.axvline(k * link, color="black", linewidth=1, linestyle=(0, (4, 3))))
            text = f"{k} links" if k > 1 else "1 link"
            axes.text(k * link, -0.62, text, ha="center", va="bottom", fontsize=8.5)
        self._bars = [
            axes.barh(
                i, 0, height=0.62, color=colour, hatch=hatch, edgecolor="white" if hatch else "#6E6E6E", zorder=2
            )[0]
            for i, (colour, hatch) in enumerate(_BARS.values())
        ]
        self._texts = [
            axes.text(1.03, i, "", transform=axes.get_yaxis_transform(), va="center", fontsize=9)
            for i in range(len(_BARS))
        ]

    def _draw(self, values: Sequence[float], anew: bool) -> None:
        reasons = ("", "\nsize / time", f"\nalgbw × {self._factor}")
        for bar, text, value, reason in zip(self._bars, self._texts, values, reasons, strict=True):
            bar.set_width(value / _GB)
            text.set_text(_rate(value) + reason)
        self._canvas.paint([*self._bars, *self._marks, *self._texts], anew)

    @property
    def _factor(self) -> str:
        return str(bus_factor(self.collective.value, self.P.value))

    @property
    def _title(self) -> str:
        size, time = size_text(self.nbytes.value), _microseconds(self.seconds.value)
        return f"{self.collective.value}, P = {self.P.value}, {size} in {time}"

    def _told(self, values: Sequence[float]) -> str:
        link, algbw, busbw = values
        used, lines = self.used, [f"<b>{html.escape(self._title)}</b>"]
        if not used:
            return f"{lines[0]}: nothing is sent, since that makes no whole block for each rank."
        if used != self.nbytes.value:
            lines[0] += f" (of which nccl-tests uses {used:,} B: whole blocks of 16 B for each rank)"
        lines.append(
            f"algbw = {used:,} B / {_microseconds(self.seconds.value)} = <b>{_rate(algbw)}</b> "
            f"({algbw / _GIB:,.4g} GiB/s)"
        )
        times = f"{busbw / link:.2f}" if busbw >= link / 100 else f"{busbw / link:.2g}"
        lines.append(
            f"busbw = algbw × {self._factor} = <b>{_rate(busbw)}</b>, "
            f"<b>{times} times</b> one link of {_link(self.link.value)}"
        )
        sent = float(bus_factor(self.collective.value, self.P.value)) * used
        need = math.ceil(busbw / link * (1 - 1e-9))
        links = "that is work for one link" if need == 1 else f"that is work for at least {need:,} such links at once"
        sends = f"{self._factor} × size = {readable(sent, 'B')}"
        doubt = "" if need == 1 else ". With fewer at hand, it was no ring"
        lines.append(f"If a ring ran, each rank sent {sends}; in this time {links}{doubt}.")
        return "<br>".join(lines)

    def __repr__(self) -> str:
        _, algbw, busbw = (_rate(value) for value in self.bandwidths())
        return f"<BusbwExplorer: {self._title}: algbw {algbw}, busbw {busbw}>"


def _steps(name: str, value: object, unit: str, step: float, largest: float) -> int:
    """Return a quantity in whole steps, as sliders hold it."""
    si = to_si(value, unit, name, positive=True)
    steps = round(si / step)
    if not 1 <= steps <= largest / step:
        raise QuantityError(
            f"{name} = {shown(value)}: allowed are {readable(step, unit)} to {readable(largest, unit)}."
        )
    return steps


def _steps_of_links() -> Any:
    return (digit * 10**power for power in range(16) for digit in (1, 2, 5))


def _top(value: float) -> float:
    """Return a round number somewhat above a value."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(power * digit for digit in (*_TOPS, 15) if power * digit >= 1.04 * value)


def _microseconds(ns: int) -> str:
    return f"{ns / 1000:.12g} us"


def _link(megabytes: int) -> str:
    return f"{megabytes / 1000:.12g} GB/s"


def _rate(value: float) -> str:
    """Return a bandwidth as nccl-tests prints it, to two decimals of a GB/s; slow ones to three digits."""
    return f"{value / _GB:,.2f} GB/s" if value == 0 or value >= 0.0995 * _GB else readable(value, "B/s")
