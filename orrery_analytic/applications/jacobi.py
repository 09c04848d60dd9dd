"""The multi-GPU Jacobi solver of a tutorial, as a cost: kernel, memset, two halo exchanges, and the norm."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from orrery_analytic.applications.grid import ROWS, kernel_bytes, norms_due, slowest_rows
from orrery_analytic.applications.scaling import ranks_of, strong_scaling
from orrery_analytic.calls import kernel_cost, p2p_cost
from orrery_analytic.collectives.registry import COMPOSED, list_algorithms
from orrery_analytic.cost import Cost
from orrery_analytic.decisions.whole import LARGEST_SIZE, Integers, whole
from orrery_analytic.errors import QuantityError, choose
from orrery_analytic.gpu import by_size, copy_time, flag
from orrery_analytic.kernels import measured_terms, overlap
from orrery_analytic.networks import Hockney, Network
from orrery_analytic.selection import Plan, plan_cost, plans
from orrery_analytic.symbols import P, alpha_intra, beta_intra, n, t_sync
from orrery_analytic.units import shown

if TYPE_CHECKING:
    import xarray as xr

    from orrery_analytic.machines import Machine

__all__ = ["PHASES", "Jacobi"]

PHASES = ("memset", "kernel", "halo", "norm")
"""The phases of an iteration, in their order."""

_COMPUTE = ("memset", "kernel")
_INSIDE = Hockney(alpha_intra, beta_intra)
_TOLD = "one rank a GPU on a periodic ring, all ranks at once; the slowest decides"


def _between_nodes() -> Cost:
    return p2p_cost(send="device", recv="device", transport="gdr")


def _inside_node() -> Cost:
    network = Hockney(alpha_intra, 0)
    return p2p_cost(network, send="device", recv="device", transport="peer", staging="directed")


@dataclass(frozen=True)
class Jacobi:
    r"""One iteration of the solver: :math:`T = T_{memset} + T_{kernel} + 2\,T_{halo} + s\,T_{norm}`, in seconds.

    Each rank sweeps its rows on its GPU, sends its first row up and its last row down a periodic ring (two
    MPI_Sendrecv of itemsize nx bytes, device buffers), and, when the norm is due (a share s of the iterations), copies
    it to the host and sums it up by an allreduce of one number on host buffers. Phases follow one another, and the rank
    that takes longest decides: the one with most rows for the kernel; for a halo exchange, one at the edge of its node,
    which talks to another node, as soon as there is more than one.

    Parameters
    ----------
    nx, ny : int, SymPy expression or "symbol"
        Columns and rows of the grid; "symbol" keeps nx, ny.
    iterations, nccheck : int, SymPy expression or "symbol"
        Iterations of a run, and the norm every so many of them.
    itemsize : int
        Bytes of a number.
    ranks_per_node : int
        Up to so many ranks all halos stay inside a node.
    rows : str
        How rows are dealt out, one of `ROWS`; the plain solution of the tutorial does "last".
    between, inside : Cost, optional
        A message of n bytes between nodes, and inside one, as `p2p_cost` makes it. Unless given, GPUDirect RDMA, and a
        peer copy whose bytes are charged once. `between` must not be the faster one.
    kernel_seconds : number, SymPy expression, or mapping of P to seconds, optional
        A measured time of the kernel in an iteration, in place of the model ("twin").
    overlapped : bool
        Boundary rows first, then the exchange while the inner rows are swept: the term exposed is what of it is left.
    network : Hockney, LogGP or TwoLevel
        Of the norm's allreduce between nodes; inside one it takes alpha_intra and beta_intra. A `TwoLevel` says both.
    allreduce : str, optional
        Its algorithm. Unless given, recursive doubling in formulas, and the library's choice in `run`.
    pinned : bool
        Whether the norm is copied to pinned host memory, as the tutorial does.
    csv : bool
        As the option of the tutorial: without it the norm is due in every 100th iteration too, to be printed.

    Raises
    ------
    UnknownNameError, QuantityError
        For a name that is not there; for a wrong number.

    Notes
    -----
    On one rank a halo is a copy within the GPU: a launch, 2 itemsize nx bytes touched, a synchronisation. The copy of
    the norm runs beside the exchange in the tutorial; here it follows, so that T may be too large by that copy.

    Source: FZJ-JSC/tutorial-multi-gpu, 03-H and, for overlapped, 06-H; as a cost derived.
    """

    nx: Any = 16384
    ny: Any = 16384
    iterations: Any = 1000
    nccheck: Any = 1
    itemsize: int = 4
    ranks_per_node: int = 4
    rows: str = "balanced"
    between: Cost | None = None
    inside: Cost | None = None
    kernel_seconds: Any = None
    overlapped: bool = False
    network: Network = Hockney()  # noqa: RUF009 - frozen
    allreduce: str | None = None
    pinned: bool = True
    csv: bool = True

    def __post_init__(self) -> None:
        for name, least in (("nx", 1), ("ny", 3), ("iterations", 1), ("nccheck", 1)):
            object.__setattr__(self, name, _count(name, getattr(self, name), least))
        for name in ("itemsize", "ranks_per_node"):
            object.__setattr__(self, name, _one(name, getattr(self, name), 1))
        for name in ("overlapped", "pinned", "csv"):
            flag(name, getattr(self, name))
        for name in ("between", "inside"):
            cost = getattr(self, name)
            if cost is not None and (not isinstance(cost, Cost) or cost.collective):
                raise QuantityError(f"{name} must be the cost of a message, as p2p_cost makes it, not {shown(cost)}.")
        if not isinstance(self.network, Network):
            raise QuantityError(f"network can be Hockney(), LogGP() or TwoLevel(...), not {shown(self.network)}.")
        choose("way of dealing out rows", self.rows, ROWS)
        if self.allreduce is not None:
            choose("allreduce algorithm", self.allreduce, list_algorithms("allreduce"))
        if not (self.csv or self.nccheck.is_number):
            raise QuantityError("csv=False counts iterations that are due twice: it needs a number for nccheck.")
        object.__setattr__(self, "kernel_seconds", _measured(self.kernel_seconds))

    @property
    def halo_bytes(self) -> sp.Expr:
        """Bytes of one row."""
        return self.itemsize * self.nx

    @property
    def norm_share(self) -> sp.Expr:
        """In which share of the iterations the norm is due."""
        return norms_due(self.iterations, self.nccheck, self.csv) / self.iterations

    @property
    def phases(self) -> Mapping[str, Cost]:
        """The phases of one iteration, name to `Cost` in P; the norm with the share of iterations that it is due in."""
        plan = Plan(self.allreduce or "recursive_doubling")
        if ("allreduce", plan.algorithm) in COMPOSED:
            raise QuantityError(f"{plan.algorithm} is made of others, which the library takes by P: run() knows them.")
        found = self._phases(plan, {})
        if found["norm"] is None:
            raise QuantityError(f"allreduce {plan.algorithm} has no formula on {shown(self.network)}.")
        return MappingProxyType({name: cost for name, cost in found.items() if cost is not None})

    @property
    def iteration(self) -> Cost:
        """What one iteration costs, on average over a run: the sum of `phases`."""
        return sum(self.phases.values(), Cost())

    @property
    def total(self) -> Cost:
        """What a run costs: `iteration`, so many times."""
        run: Cost = self.iteration * self.iterations
        return run

    def run(self, machine: Machine | str, P: Any = None, nodes: Any = None, rules: str = "openmpi-4.1") -> xr.Dataset:
        """Return what a run takes on a machine, phase by phase, over the number of ranks.

        Parameters
        ----------
        machine : Machine or str
            A machine, or the name or path of its file; its ranks_per_node counts.
        P : int or 1-D array, optional
            Numbers of ranks.
        nodes : int or 1-D array, optional
            Numbers of full nodes, in place of P.
        rules : str
            The library whose choice the norm's allreduce follows.

        Returns
        -------
        xarray.Dataset
            Over P: seconds of the run, and of each phase in it; speedup over one rank; efficiency; compute_share and
            communication_share; rows of the slowest rank; allreduce, what runs for the norm. Where that has no formula
            on `network`, seconds are NaN.

        Raises
        ------
        QuantityError
            If a rank has no row (with overlapped: the slowest fewer than two), or the grid has no numbers.
        """
        from orrery_analytic.machines import Machine, load_machine

        place = machine if isinstance(machine, Machine) else load_machine(machine)
        for name in ("nx", "ny", "iterations", "nccheck"):
            if not getattr(self, name).is_number:
                raise QuantityError(f"a run needs a number for {name}, but it is {getattr(self, name)}.")
        ranks = ranks_of(place, P, nodes)
        most = (int(self.ny) - 2) // (2 if self.overlapped else 1)
        if ranks.max() > most:
            raise QuantityError(f"P = {ranks.max()}: {self.ny} rows are enough for {most} ranks at most.")
        solver = replace(self, ranks_per_node=place.ranks_per_node)
        _, index, found = plans("allreduce", ranks, self.itemsize, rules, self.allreduce, self.itemsize)

        def groups(points: Integers) -> Iterator[tuple[Any, Mapping[str, Cost | None]]]:
            own = np.append(index, -1)  # the last point is one rank, on which no allreduce runs
            for i, plan in enumerate((*found, Plan("self"))):
                here = own == (i if i < len(found) else -1)
                if here.any():
                    yield here, solver._phases(plan, place.bands)

        data = strong_scaling(place, ranks, groups, int(self.iterations), _COMPUTE)
        counted = [float(slowest_rows(self.ny, self.rows, int(p))) for p in ranks]
        data["rows"] = ("P", counted, {"units": "1", "long_name": "rows of the slowest rank"})
        data["allreduce"] = ("P", np.array([str(plan) for plan in found], dtype=object)[index])
        return data

    def _phases(self, plan: Plan, bands: Mapping[str, int]) -> dict[str, Cost | None]:
        kernel, halo = self._kernel_and_halo()
        memset = kernel_cost(self.itemsize, sync=False)
        return dict(zip(PHASES, (memset, kernel, halo, self._norm(plan, bands)), strict=True))

    def _sweep(self, rows: Any) -> Cost:
        """Return the kernel on some of the slowest rank's rows."""
        if self.kernel_seconds is None:
            return kernel_cost(kernel_bytes(self.nx, rows, self.itemsize))
        return kernel_cost(seconds=self.kernel_seconds * rows / slowest_rows(self.ny, self.rows))

    def _kernel_and_halo(self) -> tuple[Cost, Cost]:
        rows, halo = slowest_rows(self.ny, self.rows), self._halo()
        if not self.overlapped:
            return self._sweep(rows), halo
        inner = self._sweep(rows - 2)
        first = self._sweep(1) + self._sweep(1) if self.kernel_seconds is None else self._sweep(2)
        left = overlap(inner, halo)
        return first + inner, Cost({"exposed": left.terms["exposed"]}, left.validity)

    def _halo(self) -> Cost:
        """Return both exchanges: on one rank, inside a node, between nodes."""
        copy = kernel_cost(2 * self.halo_bytes)
        between = self.between or _between_nodes()
        inside = self.inside or _inside_node()
        own, near, far = (
            {name: 2 * e.subs(n, self.halo_bytes) for name, e in cost.terms.items()} for cost in (copy, inside, between)
        )
        terms = by_size((own, sp.Eq(P, 1)), (near, sp.Le(P, self.ranks_per_node)), (far, True))
        return Cost(terms, f"{_TOLD}; between nodes: {between.validity}; inside: {inside.validity}")

    def _norm(self, plan: Plan, bands: Mapping[str, int]) -> Cost | None:
        """Return the copy of the norm and its allreduce, times the share of iterations; None without a formula."""
        far = plan_cost("allreduce", plan, self.network)
        one_level = not hasattr(self.network, "between")
        near = plan_cost("allreduce", plan, _INSIDE) if one_level else far
        if far is None or near is None:
            return None
        costs = {"near": near, "far": far}
        own, others = (
            {name: e.subs(n, self.itemsize) for name, e in costs[place].terms.items()} for place in ("near", "far")
        )
        shared = by_size((own, sp.Le(P, self.ranks_per_node)), (others, True)) if one_level else others
        copy = {"d2h": copy_time("d2h", self.itemsize, bands, self.pinned), "sync": t_sync}
        once = Cost(copy, far.validity, shared)
        averaged: Cost = once * self.norm_share
        return averaged


def _one(name: str, value: Any, least: int) -> int:
    """Return one whole number."""
    array = whole(name, int(value) if isinstance(value, sp.Integer) else value, least, LARGEST_SIZE)
    if array.ndim:
        raise QuantityError(f"{name} can be one number, but {shown(value)} was given.")
    return int(array)


def _count(name: str, value: Any, least: int) -> sp.Expr:
    """Return a whole number, an expression as it is, or a symbol of that name for "symbol"."""
    if isinstance(value, str) and value == "symbol":
        return sp.Symbol(name, positive=True)
    if isinstance(value, sp.Expr) and not value.is_number:
        return value
    return sp.Integer(_one(name, value, least))


def _measured(seconds: Any) -> sp.Expr | None:
    """Return a measured time, checked, or None; a mapping of P to seconds as a Piecewise."""
    if seconds is None:
        return None
    if isinstance(seconds, Mapping) and seconds:
        times = {_one("P of kernel_seconds", p, 1): measured_terms(value)["compute"] for p, value in seconds.items()}
        return sp.Piecewise(*((value, sp.Eq(P, p)) for p, value in times.items()))
    return measured_terms(seconds)["compute"]
