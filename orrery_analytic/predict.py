"""The whole path in one call: machine, collective, P and n in; time, terms and algorithm out, labelled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from orrery_analytic.collectives.registry import list_algorithms
from orrery_analytic.cost import TERM_NAMES
from orrery_analytic.decisions import list_collectives
from orrery_analytic.decisions.fixed import Rules
from orrery_analytic.errors import QuantityError, choose
from orrery_analytic.networks import Hockney, Network
from orrery_analytic.selection.setting import Setting, axis, dimensions
from orrery_analytic.units import shown

if TYPE_CHECKING:
    import xarray as xr

    from orrery_analytic.machines import Machine

__all__ = ["predict"]


def _split_overrides(machine: Machine, overrides: Mapping[str, Any]) -> tuple[Machine, dict[str, np.ndarray]]:
    """Return the machine with the single values put in, and the arrays in SI units by key."""
    from orrery_analytic.machines.keys import MACHINE_KEYS
    from orrery_analytic.units import to_si

    arrays: dict[str, np.ndarray] = {}
    single = {}
    for key, value in overrides.items():
        if dimensions(key, value) == 0:
            single[key] = value
            continue
        info = MACHINE_KEYS[choose("key of a machine", key, MACHINE_KEYS)]
        if info.symbol is None or dimensions(key, value) != 1 or not len(value):
            allowed = "one value" if info.symbol is None else "one value or a list of them"
            raise QuantityError(f"{key} can be {allowed} here, but {shown(value)} was given.")
        items = list(value)
        arrays[key] = np.array([to_si(item, info.unit, key) for item in items])
        single[key] = items[0]
    return machine.replace(**single), arrays


def predict(
    machine: Machine | str,
    collective: str,
    P: Any,
    n: Any,
    rules: Rules = "openmpi-4.1",
    algorithm: str | None = None,
    buffers: str | tuple[str, str] = "host",
    network: Network = Hockney(),  # noqa: B008 - frozen
    transport: str | None = None,
    staging: str = "printed",
    itemsize: int = 4,
    commutative: bool = True,
    library: str | None = None,
    in_place: bool = False,
    rank: str = "root",
    pinned: bool = False,
    gdr_limit: Any = None,
    **overrides: Any,
) -> xr.Dataset:
    """Return what a collective costs on a machine, over P and n: the total, each term, and the algorithm.

    Parameters
    ----------
    machine : Machine or str
        A machine, or the name or path of its file.
    collective : str
        One of `list_collectives`.
    P : int or 1-D array
        Numbers of ranks.
    n : int or 1-D array
        Bytes, in the convention of the OSU micro-benchmarks: the vector of allreduce, bcast, reduce, scan; one rank's
        block of allgather, gather, scatter; one pair's block of alltoall; the total of reduce_scatter.
    rules : str, RuleFile or path
        The library whose choice is taken, "openmpi-4.1" or a version such as "5.0.3".
    algorithm : str, optional
        Take this algorithm everywhere instead, as if a rule file forced it.
    buffers, transport, staging, in_place, rank, pinned, gdr_limit
        As in `collective_cost`: "host" or "device", and how device buffers reach the network.
    library : str, optional
        As in `collective_cost`: what it copies to the host; that of `rules` unless given.
    network : Hockney, LogGP or TwoLevel
        The machine file needs the numbers of the one that is taken. ``TwoLevel.of(machine)`` is the machine's own
        nodes; the ranks and cards of `network` count, whatever `overrides` say.
    itemsize : int
        Bytes of an element: the library looks at the number of elements as well.
    commutative : bool
        Whether the reduction commutes.
    **overrides
        Keys of the machine file with other values ("21 GB/s"); an array of values makes a dimension of that name
        ("machine_latency" and "machine_bandwidth" for the two keys that are names of terms as well).

    Returns
    -------
    xarray.Dataset
        Dimensions P, n and those of `overrides`. Variables: `seconds` and one for each term, in seconds; `algorithm`,
        what the library takes; `runs`, what then really runs. `seconds` is NaN where that has no formula on the
        network.

    Raises
    ------
    UnknownNameError
        For a name that is not there, or a symbol that the machine file has no number for.
    QuantityError
        For numbers out of range.
    """
    import xarray as xr

    from orrery_analytic.machines import Machine, load_machine
    from orrery_analytic.machines.keys import MACHINE_KEYS

    if algorithm is not None:
        choose(
            f"{collective} algorithm", algorithm, list_algorithms(choose("collective", collective, list_collectives()))
        )
    machine, arrays = _split_overrides(machine if isinstance(machine, Machine) else load_machine(machine), overrides)
    setting = Setting.of(
        machine, collective, rules=rules, buffers=buffers, network=network, transport=transport, staging=staging,
        itemsize=itemsize, commutative=commutative, library=library, in_place=in_place, rank=rank, pinned=pinned,
        gdr_limit=gdr_limit,
    )  # fmt: skip
    ranks, sizes = axis("P", P), axis("n", n)
    chosen, index, found = setting.plans(ranks[:, None], sizes[None, :], algorithm)

    shape = (ranks.size, sizes.size, *(a.size for a in arrays.values()))
    parameters: dict[str, Any] = dict(machine.parameters)
    for i, (key, values) in enumerate(arrays.items()):
        info = MACHINE_KEYS[key]
        along = values.reshape(1, *(-1 if i == j else 1 for j in range(len(arrays))))
        parameters[str(info.symbol)] = 1 / along if info.inverse else along
    terms: dict[str, np.ndarray] = {}
    total = np.full(shape, np.nan)
    grid_P, grid_n = np.broadcast_arrays(ranks[:, None], sizes[None, :])
    for i, plan in enumerate(found):
        cost = setting.cost(plan)
        if cost is None:
            continue
        here = index == i
        points = (-1, *(1 for _ in arrays))
        given = {name: parameters[name] for name in cost.symbols if name in parameters}
        parts = cost.values(P=grid_P[here].reshape(points), n=grid_n[here].reshape(points), **given)
        for name, value in parts.items():
            where = total if name == "total" else terms.setdefault(name, np.full(shape, np.nan))
            where[here] = value
    for value in terms.values():
        value[np.isnan(value) & ~np.isnan(total)] = 0.0  # a term that an algorithm does not have
    dims = {key: f"machine_{key}" if key in TERM_NAMES else key for key in arrays}
    names = ("P", "n", *dims.values())
    variables: dict[str, Any] = {"seconds": (names, total, {"units": "s", "long_name": f"time of {collective}"})}
    for name in (t for t in TERM_NAMES if t in terms):
        variables[name] = (names, terms[name], {"units": "s", "long_name": name.replace("_", " ")})
    variables["algorithm"] = (("P", "n"), chosen.astype(object), {"long_name": f"choice of {setting.about['rules']}"})
    variables["runs"] = (("P", "n"), np.array([str(p) for p in found], dtype=object)[index])
    coordinates = {
        "P": ("P", ranks, {"units": "1", "long_name": "ranks"}),
        "n": ("n", sizes, {"units": "B", "long_name": "message size"}),
        **{
            dims[key]: (dims[key], a, {"units": MACHINE_KEYS[key].unit, "long_name": MACHINE_KEYS[key].meaning})
            for key, a in arrays.items()
        },
    }
    return xr.Dataset(variables, coordinates, attrs=setting.about)
