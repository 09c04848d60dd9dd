"""The controls of an explorer, and the `View` that they stand for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import ipywidgets
from ipywidgets import Layout

from orrery_analytic.collectives import list_algorithms
from orrery_analytic.decisions import ALGORITHMS, RULES, list_collectives
from orrery_analytic.decisions.fixed import rule_set
from orrery_analytic.decisions.whole import LARGEST_SIZE, truth, whole
from orrery_analytic.errors import QuantityError, choose
from orrery_analytic.gpu import BUFFERS, TRANSPORTS
from orrery_analytic.machines import Machine, list_machines, load_machine
from orrery_analytic.plots import size_text
from orrery_analytic.units import to_si
from orrery_analytic.widgets.pair import NOTHING, two_machines
from orrery_analytic.widgets.parameters import Parameters
from orrery_analytic.widgets.view import BLOCKS, NETWORKS, RANKS, SIZES, STATE, View

__all__ = ["TRANSPORT_NAMES", "Controls", "start_again"]

TRANSPORT_NAMES = {"staged": "staged through the host", "gdr": "GPUDirect RDMA", "peer": "peer (NVLink, PCIe)"}
_HOLD = {"one block, n": "block", "the total, P n": "total"}
_NAMES = tuple("machine beside collective buffers transport network rules axis hold P n share large".split())
_AXES = {"message size n": "n", "ranks P": "P"}


class Controls:
    """All controls. Those that change only numbers call `moved`, those that change the figures call `rebuilt`."""

    def __init__(
        self, machine: str | Machine, collective: str, state: dict[str, Any], moved: Callable[[], None],
        rebuilt: Callable[[], None],
    ) -> None:  # fmt: skip
        self._quiet = False
        self._moved, self._rebuilt = moved, rebuilt
        given = {**STATE, **state}
        first, second = two_machines(machine)
        self._own: dict[str, Machine] = {}
        labels = [self._label(m) for m in (first, second) if m is not None]
        self.machine = _dropdown("machine", [*self._own, *list_machines()], labels[0])
        self.beside = _dropdown("beside", [NOTHING, *self._own, *list_machines()], [*labels, NOTHING][1])
        self.beside.tooltip = "A second machine on the same axis, as its file has it: the sliders move the first alone"
        choose("collective", collective, list_collectives())
        self.collective = _dropdown("collective", list_collectives(), collective)
        self.buffers = _buttons("buffers", list(BUFFERS), choose("place of buffers", given["buffers"], BUFFERS))
        ways = [(TRANSPORT_NAMES[name], name) for name in TRANSPORTS]
        self.transport = _dropdown("transport", ways, choose("transport", given["transport"], TRANSPORTS))
        self.network = _buttons("network", list(NETWORKS), _network(given["network"]))
        libraries = [(f"Open MPI {_releases(name)}", name) for name in reversed(RULES)]
        self.rules = _dropdown("library", libraries, rule_set(given["rules"]))
        self.axis = _buttons("over", list(_AXES.items()), choose("axis", given["axis"], _AXES.values()))
        self.hold = _dropdown("held", list(_HOLD.items()), choose("hold", given["hold"], _HOLD.values()))
        self._held = self.hold.value
        self.P = _slider("P", RANKS, _ranks(given["P"]), str, "ranks")
        self.n = _slider("n", SIZES, _bytes(given["n"]), size_text, "message size, bytes")
        self.n.add_class("orrery-n")
        self.P.add_class("orrery-P")
        self.share = _buttons("terms as", [("share", True), ("time", False)], truth("share", given["share"]))
        self.large = _buttons("letters", [("laptop", False), ("projector", True)], truth("large", given["large"]))
        self.parameters = Parameters(self._on_moved)
        self.parameters.load(self.base)
        self._ticks: dict[str, Any] = {}
        scrolled = Layout(flex_flow="row wrap", flex="0 0 auto", max_height="216px", overflow="hidden auto")
        self.algorithms = ipywidgets.Box(layout=scrolled)
        self._offer(given["algorithms"])
        self._enable()
        for control in (self.P, self.n):
            control.observe(self._on_moved, "value")
        for control in (
            self.buffers,
            self.transport,
            self.network,
            self.rules,
            self.axis,
            self.hold,
            self.share,
            self.large,
        ):
            control.observe(self._on_rebuilt, "value")
        self.machine.observe(self._on_machine, "value")
        self.beside.observe(self._on_rebuilt, "value")
        self.collective.observe(self._on_collective, "value")

    @property
    def base(self) -> Machine:
        """The machine as its file has it."""
        return self._found(self.machine.value)

    def _label(self, machine: Machine) -> str:
        """Return how the lists name a machine; keep it, if it is none of the packaged ones."""
        if machine.name in list_machines() and machine.values == load_machine(machine.name).values:
            return machine.name
        label = f"{machine.name} (yours)"
        while label in self._own and self._own[label] is not machine:
            label += "'"
        self._own[label] = machine
        return label

    def _found(self, label: str) -> Machine:
        return self._own[label] if label in self._own else load_machine(label)

    @property
    def view(self) -> View:
        """What the controls say."""
        overrides = self.parameters.overrides()
        return View(
            machine=self.parameters.base.replace(**overrides) if overrides else self.parameters.base,
            collective=self.collective.value,
            buffers=self.buffers.value,
            transport=None if self.transport.disabled else self.transport.value,
            network=self.network.value,
            rules=self.rules.value,
            axis=self.axis.value,
            hold=self.hold.value,
            P=self.P.value,
            n=self.n.value,
            algorithms=tuple(name for name, tick in self._ticks.items() if tick.value),
            beside=None if self.beside.value == NOTHING else self._found(self.beside.value),
        )

    def rows(self) -> tuple[Any, ...]:
        """Return the controls, as they stand one under the other."""
        return (
            self.machine, self.beside, self.collective, self.buffers, self.transport, self.network, self.rules,
            self.axis, self.hold, self.P, self.n, self.parameters.box, ipywidgets.HTML("<b>curves</b>"),
            self.algorithms, self.share, self.large,
        )  # fmt: skip

    @contextmanager
    def quietly(self) -> Iterator[None]:
        """Change several controls at once: nothing is called until the end, and there only by the caller."""
        before, self._quiet = self._quiet, True
        try:
            yield
        finally:
            self._quiet = before

    def go(self, collective: str, buffers: str, P: int) -> None:
        """Move to another place, without a call."""
        with self.quietly():
            self.collective.value, self.buffers.value = collective, buffers
            if P not in [value for _, value in self.P.options]:
                self.P.options = [(str(x), x) for x in sorted({*RANKS, P})]
            self.P.value = P

    def held(self) -> dict[str, Any]:
        """Return where all controls are, for `restore`; the sliders of the machine go back to its file."""
        return {name: getattr(self, name).value for name in _NAMES} | {"algorithms": self.view.algorithms}

    def restore(self, held: dict[str, Any]) -> None:
        """Put all controls where they were, without a call."""
        with self.quietly():
            for name, value in held.items():
                if name == "algorithms":
                    for label, tick in self._ticks.items():
                        tick.value = label in value
                elif name == "hold":
                    self._enable()
                    self.hold.value = value
                elif name == "axis" and self.axis.disabled:
                    self._enable()
                    self.axis.value = value
                else:
                    getattr(self, name).value = value
            self.parameters.load(self.base)
            self._enable()

    def _on_moved(self, _: Any = None) -> None:
        if not self._quiet:
            self._moved()

    def _on_rebuilt(self, _: Any = None) -> None:
        self._enable()
        if not self._quiet:
            self._rebuilt()

    def _on_machine(self, _: Any) -> None:
        self.parameters.load(self.base)
        self._on_rebuilt()

    def _on_collective(self, _: Any) -> None:
        self._offer(None)
        self._on_rebuilt()

    def _enable(self) -> None:
        """Switch off what has no meaning now."""
        barrier = self.collective.value == "barrier"
        if barrier:
            with self.quietly():
                self.axis.value = "P"
        self.axis.disabled = self.n.disabled = barrier
        self.transport.disabled = self.buffers.value == "host" or barrier
        self.hold.disabled = self.axis.value == "n" or self.collective.value not in BLOCKS
        # Where there is no choice, none is shown: over n it is P that is held, and a vector is not shared out.
        offered = _HOLD if not self.hold.disabled else {"P": "block"} if self.axis.value == "n" else {"n": "block"}
        if tuple(self.hold.options) != tuple(offered.items()):
            with self.quietly():
                if len(self.hold.options) > 1:
                    self._held = self.hold.value
                self.hold.options = list(offered.items())
                self.hold.value = self._held if len(offered) > 1 else "block"
        total = not self.hold.disabled and self.hold.value == "total"
        self.n.description = "P n, total" if total else "n"

    def _offer(self, wanted: Any) -> None:
        """Make a tick box for each algorithm that has a formula."""
        names = list_algorithms(self.collective.value)
        own = ALGORITHMS[self.collective.value].values()  # what Open MPI has; others are drawn when asked for
        for name in wanted or ():
            choose(f"{self.collective.value} algorithm with a formula", name, names)
        self._ticks = {}
        for name in names:
            size = Layout(width="170px" if len(name) < 20 else "340px", height="26px")
            # "two_proc" is for two ranks alone: it would be a tick without a curve.
            ticked = name in wanted if wanted is not None else name in own and name != "two_proc"
            tick = ipywidgets.Checkbox(value=ticked, description=name, indent=False, layout=size)
            tick.observe(self._on_moved, "value")
            self._ticks[name] = tick
        none = ipywidgets.HTML(f"<i>no algorithm of {self.collective.value} has a formula yet</i>")
        self.algorithms.children = tuple(self._ticks.values()) or (none,)


_STYLE = {"description_width": "66px"}
_WIDE = "346px"


def start_again(controls: Sequence[Any]) -> Any:
    """Return a button that puts controls back to where they are now, in this order."""
    first = [control.value for control in controls]
    button = ipywidgets.Button(description="start again", icon="undo", tooltip="All controls as they were at first")
    button.layout = Layout(width="170px", height="28px")

    def back(_: Any) -> None:
        for control, value in zip(controls, first, strict=True):
            control.value = value

    button.on_click(back)
    return button


def _dropdown(name: str, options: list[Any], value: Any) -> Any:
    return ipywidgets.Dropdown(
        options=options, value=value, description=name, style=_STYLE, layout=Layout(width=_WIDE, flex="0 0 auto")
    )


def _buttons(name: str, options: list[Any], value: Any) -> Any:
    made = ipywidgets.ToggleButtons(
        options=options, value=value, description=name, style={**_STYLE, "button_width": "130px"},
        layout=Layout(width=_WIDE, flex="0 0 auto"),
    )  # fmt: skip
    made.add_class("jupyter-widgets")  # or JupyterLab puts the description on a line of its own
    made.add_class("widget-inline-hbox")
    return made


def _slider(name: str, values: list[int], value: int, text: Callable[[int], str], meaning: str) -> Any:
    return ipywidgets.SelectionSlider(
        options=[(text(x), x) for x in sorted({*values, value})], value=value, description=name,
        tooltip=meaning, continuous_update=True, style=_STYLE, layout=Layout(width=_WIDE, flex="0 0 auto"),
    )  # fmt: skip


def _bytes(n: Any) -> int:
    size = to_si(n, "B", "n", positive=True)
    if size != int(size) or size > 2**40:
        raise QuantityError(f"n = {n!r} is refused. Allowed: whole bytes, up to 1 TiB.")
    return int(size)


def _ranks(P: Any) -> int:
    return int(whole("P", P, 2, LARGEST_SIZE))


def _network(given: Any) -> str:
    return choose("network", given if isinstance(given, str) else type(given).__name__, NETWORKS)


def _releases(rules: str) -> str:
    return f"{RULES[rules][0]} {'and' if len(RULES[rules]) == 2 else 'to'} {RULES[rules][-1]}"
