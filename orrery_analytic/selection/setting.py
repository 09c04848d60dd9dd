"""`Setting`: a call on a machine, all but P and n, and what plans cost there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from orrery_analytic.calls import device_cost
from orrery_analytic.cost import Cost
from orrery_analytic.decisions import RuleFile, Selection, list_collectives, resolve
from orrery_analytic.decisions.fixed import Rules, rule_set
from orrery_analytic.decisions.notes import han_note
from orrery_analytic.decisions.versions import version_of
from orrery_analytic.decisions.whole import one, truth, whole
from orrery_analytic.errors import QuantityError, UnknownNameError, choose
from orrery_analytic.gpu import buffer_places, size_option
from orrery_analytic.networks import Hockney, Network, TwoLevel
from orrery_analytic.selection.plans import Plan, plan_cost, plans, selection_of
from orrery_analytic.symbols import s_gdr
from orrery_analytic.symbols.evaluation import is_number
from orrery_analytic.units import holds_truth, in_si, shown

if TYPE_CHECKING:
    from orrery_analytic.machines import Machine

__all__ = ["Prices", "Setting", "answering", "axis", "check_network", "dimensions", "loaded"]


@dataclass(frozen=True)
class Setting:
    """A call on a machine, all but P and n.

    Attributes
    ----------
    machine : Machine
    collective : str
    rules, buffers, network, transport, staging, itemsize, commutative, library, in_place, rank, pinned, gdr_limit
        As in `predict`.
    """

    machine: Machine
    collective: str
    rules: Rules = "openmpi-4.1"
    buffers: str | tuple[str, str] = "host"
    network: Network = Hockney()  # noqa: RUF009 - frozen
    transport: str | None = None
    staging: str = "printed"
    itemsize: int = 4
    commutative: bool = True
    library: str | None = None
    in_place: bool = False
    rank: str = "root"
    pinned: bool = False
    gdr_limit: Any = None

    @classmethod
    def of(cls, machine: Machine | str, collective: str, **options: Any) -> Setting:
        """Return the setting of a machine (or the name or path of its file), with the options of `predict`.

        Options that are keys of the machine file change the machine: ``bandwidth="21 GB/s"``.

        Raises
        ------
        UnknownNameError
            For a name that is not there.
        QuantityError
            For a value that is out of range, or several values for a key of the machine.
        """
        own = {field.name for field in fields(cls)}
        changed = {key: options.pop(key) for key in list(options) if key not in own}
        several = next((key for key, value in changed.items() if dimensions(key, value)), None)
        if several:
            raise QuantityError(f"{several} can be one value here, but {shown(changed[several])} was given.")
        machine = loaded(machine)
        options["itemsize"] = one("itemsize", options.get("itemsize", cls.itemsize), 1)
        options["commutative"] = truth("commutative", options.get("commutative", cls.commutative))
        options["rules"] = resolve(options.get("rules", cls.rules))
        if options.get("gdr_limit") is not None:
            options["gdr_limit"] = size_option("gdr_limit", options["gdr_limit"], s_gdr)
        made = cls(machine.replace(**changed), choose("collective", collective, list_collectives()), **options)
        check_network(made.network)
        device_cost(collective, **made.device)  # refuses what is wrong
        return made

    @property
    def device(self) -> dict[str, Any]:
        """Options of `collective_cost` on device buffers: what is given, and the library of the rules."""
        return {
            "buffers": buffer_places(self.buffers),
            "transport": self.transport,
            "staging": self.staging,
            "library": answering(self.rules) if self.library is None else self.library,
            "in_place": self.in_place,
            "rank": self.rank,
            "pinned": self.pinned,
            "gdr_limit": self.gdr_limit,
        }

    def formula(self, plan: Plan) -> Cost | None:
        """Return the cost of a plan in n_s for its segments: one formula for all sizes, as SymPy takes its time."""
        symbol: Any = "symbol"
        return self.cost(plan._replace(segment_bytes=symbol) if plan.segment_bytes else plan)

    def cost(self, plan: Plan) -> Cost | None:
        """Return the cost of a plan, or None where it has no formula: see `plan_cost`."""
        return plan_cost(self.collective, plan, self.network, tuple(self.machine.bands.items()), **self.device)

    def plans(self, P: Any, n: Any, algorithm: str | None = None) -> tuple[np.ndarray, np.ndarray, list[Plan]]:
        """Return what the library takes, or is told to take, and what then runs: see `plans`."""
        return plans(self.collective, P, n, self.rules, algorithm, self.itemsize, self.commutative)

    def selection(self, P: Any, n: Any) -> Selection:
        """Return what the library takes, and why: see `select`."""
        return selection_of(self.collective, P, n, self.rules, self.itemsize, self.commutative)

    @property
    def about(self) -> dict[str, Any]:
        """What a data set says of itself: see `described`."""
        return self.described()

    def described(self, *more: str) -> dict[str, Any]:
        """Return what a data set says of itself.

        Its note: what is done with device buffers, which options do nothing, where another component of the library
        answers, and `more`.
        """
        rules, version = str(self.rules), version_of(self.rules)
        if isinstance(self.rules, RuleFile):
            rules, version = self.rules.name, self.rules.version
        about = {"machine": self.machine.name, "collective": self.collective, "buffers": self.buffers, "rules": rules}
        place = self.network if isinstance(self.network, TwoLevel) else self.machine
        han = han_note(self.collective, version, self.commutative, place.ranks_per_node)
        note = "; ".join(filter(None, [device_cost(self.collective, **self.device).validity, han, *more]))
        return {**about, **({"note": note} if note else {})}

    def without_formula(self, names: Iterable[str]) -> str:
        """Return what to know where what runs, by its names, has no seconds; "" for none."""
        names = sorted({*names} - {"unsupported"})
        if not names:
            return ""
        return (
            f"NaN where {', '.join(names)} runs, which has no closed form on {type(self.network).__name__}: "
            "oa.schedule(collective, algorithm, P, count).time(network, ...) gives the seconds of one call"
        )


class Prices:
    """Seconds of plans over one grid of P and n; every plan is computed once.

    Parameters
    ----------
    setting : Setting
    P, n : arrays of whole numbers that broadcast
    """

    def __init__(self, setting: Setting, P: np.ndarray, n: np.ndarray) -> None:
        self.setting, self.P, self.n = setting, P, n
        self.shape = np.broadcast_shapes(P.shape, n.shape)
        self._whole: dict[Plan, np.ndarray] = {}

    def everywhere(self, plan: Plan) -> np.ndarray:
        """Return the seconds of a plan on the whole grid; NaN where there is none, or no formula."""
        if plan not in self._whole:
            self._whole[plan] = self._seconds(plan, self.P, self.n)
        return self._whole[plan]

    def at(self, plan: Plan, where: np.ndarray) -> np.ndarray:
        """Return the seconds of a plan at the points where a mask of the grid's shape holds."""
        if plan in self._whole:
            return np.asarray(self._whole[plan][where])
        return self._seconds(plan, *(np.broadcast_to(a, self.shape)[where] for a in (self.P, self.n)))

    def taken(self) -> tuple[np.ndarray, np.ndarray, list[Plan], np.ndarray]:
        """Return what the library takes, as `Setting.plans`, and its seconds at every point."""
        chosen, index, found = self.setting.plans(self.P, self.n)
        seconds = np.full(self.shape, np.nan)
        for i, plan in enumerate(found):
            here = index == i
            seconds[here] = self.at(plan, here)
        return chosen, index, found, seconds

    def _seconds(self, plan: Plan, P: np.ndarray, n: np.ndarray) -> np.ndarray:
        setting = self.setting
        cost = setting.formula(plan)
        if cost is None:
            return np.full(np.broadcast_shapes(P.shape, n.shape), np.nan)
        numbers = {**setting.machine.parameters, "n_s": plan.segment_bytes}
        given = {name: numbers[name] for name in cost.symbols if name in numbers}
        return np.asarray(cost(P=P, n=n, **given))


def loaded(machine: Machine | str) -> Machine:
    """Return a machine, or that of a name or path.

    Raises
    ------
    UnknownNameError, FileMissingError, FormatError
        As `load_machine`; and for a collective, which comes after the machine.
    """
    from orrery_analytic.machines import Machine, list_machines, load_machine

    if isinstance(machine, Machine):
        return machine
    if isinstance(machine, str) and machine in list_collectives():
        raise UnknownNameError(
            f"{machine!r} is a collective, which comes second: machine, collective, P, n. Machines: "
            f"{', '.join(list_machines())}, or the path of a machine file."
        )
    return load_machine(machine)


def answering(rules: Rules) -> str:
    """Return the library that resolved rules are those of: what it copies to the host depends on it."""
    return rules.library if isinstance(rules, RuleFile) else rule_set(rules)


def check_network(network: object) -> None:
    """Refuse what is no network with closed forms."""
    if not isinstance(network, Network):
        raise QuantityError(f"network can be Hockney(), LogGP() or TwoLevel(...), but {shown(network)} was given.")


def dimensions(key: str, value: Any) -> int:
    """Return how many dimensions a value for a key of the machine has: 0 for one value."""
    try:
        return np.ndim(value)
    except (RuntimeError, TypeError, ValueError):
        raise QuantityError(f"{key} can be one value or a list of them, but {shown(value)} was given.") from None


def axis(name: str, value: Any) -> np.ndarray:
    """Return P, or n in bytes, as a one-dimensional array of numbers.

    Raises
    ------
    QuantityError
        If it is neither a number nor a one-dimensional array of numbers.
    """
    numbers = in_si(value, "B", name) if name == "n" else value
    try:
        array = np.atleast_1d(np.asarray(numbers))
    except (RuntimeError, TypeError, ValueError):
        array = np.empty(0)
    if array.dtype.kind == "O" and all(map(is_number, array.flat)):  # fractions, and SymPy's numbers
        array = np.atleast_1d(whole(name, array))
    if (
        array.ndim != 1
        or array.size == 0
        or array.dtype.kind not in "iuf"
        or np.ma.is_masked(value)
        or holds_truth(numbers)
    ):
        also = ", sizes such as '1 MiB' among them" if name == "n" else ""
        raise QuantityError(
            f"{name} must be a number or a one-dimensional array of numbers{also}, but {shown(value)} was given."
        )
    return array
