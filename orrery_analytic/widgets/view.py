"""What an explorer shows: one `View`, and the numbers of its figures, computed without a widget."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orrery_analytic.collectives.algorithm import TWO, Algorithm
from orrery_analytic.collectives.registry import formulas
from orrery_analytic.cost import Cost
from orrery_analytic.errors import QuantityError
from orrery_analytic.machines import Machine
from orrery_analytic.networks import Hockney, LogGP
from orrery_analytic.plots import size_text
from orrery_analytic.selection import Plan, plan_cost, plans

__all__ = ["BLOCKS", "NETWORKS", "RANKS", "SIZES", "SIZES_DRAWN", "STATE", "Picture", "View", "model"]

STATE: dict[str, Any] = {
    "buffers": "host", "transport": "gdr", "network": "Hockney", "rules": "openmpi-4.1", "axis": "n", "hold": "block",
    "P": 64, "n": 64 * 2**10, "algorithms": None, "share": True, "large": False,
}  # fmt: skip
"""What `explore` takes beside machine and collective, and what it takes it for unless given."""

NETWORKS: dict[str, Hockney | LogGP] = {"Hockney": Hockney(), "LogGP": LogGP()}

#: Collectives whose n is one block, so that a total is P n.
BLOCKS = ("allgather", "allgatherv", "alltoall", "alltoallv", "gather", "reduce_scatter_block", "scatter")
_VECTORS = {"reduce_scatter": "of all ranks together", "barrier": "(none are sent)"}

_ITEMSIZE = 4  # bytes of an element, as in `predict`


def _octaves(low: int, high: int, parts: int, multiple: int = 1) -> list[int]:
    """Return whole multiples from low to high, `parts` of them evenly in each octave."""
    octaves = range(low.bit_length() - 1, high.bit_length())
    every = {(1 << k) * (parts + i) // parts for k in octaves for i in range(parts)}
    return sorted(x for x in every if low <= x <= high and x % multiple == 0)


SIZES = _octaves(4, 2**30, 4, _ITEMSIZE)
"""Bytes that the slider of n offers."""

RANKS = sorted({*range(2, 17), *_octaves(16, 4096, 4), *(2**k - 1 for k in range(5, 12))})
"""Ranks that the slider of P offers: some odd, some one less than a power of two."""

SIZES_DRAWN = "np.unique(np.rint(np.geomspace(4, 2**30, 225)).astype(int))"
"""The sizes of a curve, as `code` writes them: eight an octave, with every power of two."""

_GRIDS = {
    "n": np.unique(np.rint(np.geomspace(4, 2**30, 225)).astype(int)).tolist(),
    "P": [P for P in RANKS if P <= 8 or P % 2 == 0],
}


@dataclass(frozen=True)
class View:
    """All that decides what is drawn.

    Attributes
    ----------
    machine
        With the values of the sliders.
    collective, buffers, transport, rules
        As in `predict`.
    network
        "Hockney" or "LogGP".
    axis
        What the figures run over, "n" or "P".
    hold
        Over P, what is held: "block" (n itself) or "total" (P n, so that n = total / P; for collectives of blocks).
    P, n
        The current point, ranks and bytes; over P with a total held, n is that total.
    algorithms
        Whose curves are drawn.
    beside
        A second machine, as its file has it, or None.
    """

    machine: Machine
    collective: str
    buffers: str
    transport: str | None
    network: str
    rules: str
    axis: str
    hold: str
    P: int
    n: int
    algorithms: tuple[str, ...]
    beside: Machine | None = None

    @property
    def machine_name(self) -> str:
        """The name of the machine, with a word where the second one has the same."""
        name = self.machine.name
        return f"{name}, moved" if self.beside and self.beside.name == name else name

    @property
    def second(self) -> View | None:
        """The same view of the second machine, where there is one."""
        return None if self.beside is None else replace(self, machine=self.beside, beside=None)

    @property
    def shares_total(self) -> bool:
        """Whether n is a total that is shared out among the ranks."""
        return self.axis == "P" and self.hold == "total" and self.collective in BLOCKS

    @property
    def size(self) -> int:
        """The n of the formulas at the current point, in bytes."""
        return max(self.n // self.P, 1) if self.shares_total else self.n

    @property
    def drawn(self) -> list[str]:
        """The algorithms that have a formula here, without those that exist at another P alone."""
        known = formulas(self.collective)
        return [a for a in self.algorithms if a not in known or self._shows(known[a])]

    def _shows(self, algorithm: Algorithm) -> bool:
        return algorithm.exists(self.P) if self.axis == "n" else algorithm.only_at != TWO

    @property
    def caption(self) -> str:
        """What the horizontal axis is, and what is held."""
        if self.axis == "n":
            kind = "of one block" if self.collective in BLOCKS else _VECTORS.get(self.collective, "of the vector")
            return f"n, bytes {kind}   (held: P = {self.P})"
        if self.collective == "barrier":
            return "ranks P"
        if self.shares_total:
            return f"ranks P   (held: {size_text(self.n)} in all, n = {size_text(self.n)} / P)"
        return f"ranks P   (held: n = {size_text(self.n)})"

    def grid(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Return x, P and n of the figures' points; the current one is among them."""
        here = self.n if self.axis == "n" else self.P
        x = np.array(sorted({*_GRIDS[self.axis], here}))
        if self.axis == "n":
            return x, np.full_like(x, self.P), x
        return x, x, np.maximum(self.n // x, 1) if self.shares_total else np.full_like(x, self.n)

    def cost(self, plan: Plan) -> Cost | None:
        """Return what a plan costs, or None where it has no formula."""
        network = NETWORKS[self.network]
        return plan_cost(self.collective, plan, network, self.bands, buffers=self.buffers, transport=self.transport)

    @property
    def bands(self) -> tuple[tuple[str, int], ...]:
        """Size bands of the copies, as `plan_cost` takes them."""
        return tuple(self.machine.bands.items())


@dataclass(frozen=True)
class Picture:
    """The numbers of the figures. Arrays are as long as x; seconds are NaN where there is no formula."""

    x: NDArray[Any]
    seconds: dict[str, NDArray[Any]]
    chosen: NDArray[Any]
    runs: NDArray[Any]
    choice: NDArray[Any]
    terms: dict[str, NDArray[Any]]
    here: int
    plan: Plan
    symbols: frozenset[str]
    beside: Picture | None = None

    @classmethod
    def of(cls, view: View) -> Picture:
        """Return the numbers of a view, and beside them those of its second machine.

        Raises
        ------
        QuantityError
            If a machine has no number for a symbol of the formulas; with a second machine it is named.
        """
        if view.second is None:
            return cls._of_one(view)
        found = []
        for one in (replace(view, beside=None), view.second):
            try:
                found.append(cls._of_one(one))
            except QuantityError as error:
                raise QuantityError(f"machine {one.machine.name!r}: {error}") from None
        return replace(found[0], beside=found[1])

    @classmethod
    def _of_one(cls, view: View) -> Picture:
        x, P, n = view.grid()
        used: set[str] = set()
        seconds = {name: _priced(view, P, n, name, used)[0]["total"] for name in view.drawn}
        values, chosen, index, found = _priced_choice(view, P, n, used)
        runs = np.array([str(plan) for plan in found], dtype=object)[index]
        here = int(np.searchsorted(x, view.n if view.axis == "n" else view.P))
        total = values.pop("total")
        plan = found[int(index[here])]
        return cls(x, seconds, chosen, runs, total, values, here, plan, frozenset(used))


def model(view: View, P: NDArray[Any], n: NDArray[Any]) -> NDArray[Any]:
    """Return the seconds of the library's choice at pairs of P and n; NaN where it has no formula."""
    return _priced_choice(view, P, n, set())[0]["total"]


def _priced_choice(
    view: View, P: NDArray[Any], n: NDArray[Any], used: set[str]
) -> tuple[dict[str, NDArray[Any]], NDArray[Any], NDArray[Any], tuple[Plan, ...]]:
    values, planned = _priced(view, P, n, None, used)
    return values, *planned


def _priced(
    view: View, P: NDArray[Any], n: NDArray[Any], algorithm: str | None, used: set[str]
) -> tuple[dict[str, NDArray[Any]], tuple[NDArray[Any], NDArray[Any], tuple[Plan, ...]]]:
    """Return the terms and the total of an algorithm, or of the choice, and what runs; add the symbols to `used`."""
    planned = _planned(view.collective, P.tobytes(), n.tobytes(), P.dtype.str, view.rules, algorithm)
    parameters = view.machine.parameters
    values = {"total": np.full(len(P), np.nan)}
    for i, plan in enumerate(planned[2]):
        cost = view.cost(plan)
        if cost is None:
            continue
        used.update(cost.symbols)
        here = planned[1] == i
        given = {name: parameters[name] for name in cost.symbols if name in parameters}
        for name, value in cost.values(P=P[here], n=n[here], **given).items():
            values.setdefault(name, np.zeros(len(P)))[here] = value
    return values, planned


@lru_cache(maxsize=512)
def _planned(
    collective: str, P: bytes, n: bytes, dtype: str, rules: str, algorithm: str | None
) -> tuple[NDArray[Any], NDArray[Any], tuple[Plan, ...]]:
    """`plans`, kept: they do not depend on the machine, and its sliders move most."""
    ranks, sizes = np.frombuffer(P, dtype), np.frombuffer(n, dtype)
    chosen, index, found = plans(collective, ranks, sizes, rules, algorithm, _ITEMSIZE)
    return chosen, index, tuple(found)
