"""The whole path in one call: machine, collective, P and n in; time, terms and algorithm out, labelled."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np

from orrery_analytic.collectives.registry import counted, list_algorithms
from orrery_analytic.cost import TERM_NAMES
from orrery_analytic.decisions import list_collectives
from orrery_analytic.decisions.fixed import Rules
from orrery_analytic.errors import QuantityError, choose, unknown_name
from orrery_analytic.networks import Hockney, Network
from orrery_analytic.selection.points import Points
from orrery_analytic.selection.setting import Setting, axis, dimensions, loaded
from orrery_analytic.units import shown

if TYPE_CHECKING:
    import xarray as xr

    from orrery_analytic.machines import Machine

__all__ = ["predict"]


def _chunked(value: Any) -> bool:
    """Return whether something is a dask collection, or an xarray one that holds it, without loading dask."""
    graph = getattr(value, "__dask_graph__", None)
    return callable(graph) and graph() is not None


def _lazy(name: str, value: Any) -> Any:
    """Return chunked numbers as a one-dimensional dask array, without computing them."""
    import dask.array as da

    array = getattr(value, "variable", value)  # of an xarray.DataArray
    array = getattr(array, "data", array)
    if not isinstance(array, da.Array) or array.ndim != 1 or array.dtype.kind not in "iuf":
        kind = f" of {array.ndim} dimensions, {array.dtype}" if isinstance(array, da.Array) else ""
        raise QuantityError(
            f"{name} in chunks must be a one-dimensional dask array or xarray.DataArray of numbers, but a "
            f"{type(value).__name__}{kind} was given."
        )
    if np.isnan(array.size):
        raise QuantityError(f"{name} has chunks of unknown sizes: call its compute_chunk_sizes() first.")
    if not array.size:
        raise QuantityError(f"{name} must have at least one number, but none was given.")
    return array


def _in_si(items: Any, key: str) -> np.ndarray:
    """Return values for a key of the machine in SI units, each checked as the machine file's own."""
    from orrery_analytic.machines.records import check_value

    # `tolist` so that messages show Python's numbers.
    plain = items.tolist() if isinstance(items, np.ndarray) else items
    return np.array([check_value(key, item, bare=True) for item in plain], dtype=float)


def _split_overrides(machine: Machine, overrides: Mapping[str, Any]) -> tuple[Machine, dict[str, Any]]:
    """Return the machine with the single values put in, and the arrays in SI units by key; dask arrays stay lazy."""
    from orrery_analytic.machines.keys import MACHINE_KEYS

    arrays: dict[str, Any] = {}
    single = {}
    arguments = [*signature(predict).parameters][:-1]
    for key, value in overrides.items():
        if key not in MACHINE_KEYS and key not in machine.values:
            raise unknown_name("argument of predict, or key of a machine", key, [*arguments, *MACHINE_KEYS])
        if not _chunked(value) and dimensions(key, value) == 0:
            single[key] = value
            continue
        info = MACHINE_KEYS[key]
        if info.symbol is None or (not _chunked(value) and (dimensions(key, value) != 1 or not len(value))):
            allowed = "one value" if info.symbol is None else "one value or a list of them"
            raise QuantityError(f"{key} can be {allowed} here, but {shown(value)} was given.")
        if _chunked(value):
            arrays[key] = _lazy(key, value).map_blocks(_in_si, key, dtype=float)
            single[key] = 1.0  # any: the machine must have the key
        else:
            arrays[key] = _in_si(value, key)
            single[key] = next(iter(value))
    return machine.replace(**single), arrays


def _block(P: np.ndarray, n: np.ndarray, *values: np.ndarray, points: Points, names: list[str]) -> tuple[Any, ...]:
    """Return seconds, terms, algorithm and what runs for one chunk."""
    grid = points.at(P.ravel(), n.ravel(), *(a.ravel() for a in values))
    missing = np.where(np.isnan(grid.seconds), np.nan, 0.0)
    names_of = (a.reshape(*a.shape, *(1 for _ in values)) for a in (grid.algorithm, grid.runs))
    return (
        grid.seconds,
        *(grid.terms.get(name, missing) for name in names),
        *(np.broadcast_to(a, grid.seconds.shape) for a in names_of),
    )


def _in_chunks(points: Points, axes: Mapping[str, Any]) -> tuple[Any, dict[str, Any], Any, Any]:
    """Return the variables of `predict` as chunked arrays that nothing has computed yet: one task a chunk."""
    import xarray as xr
    from dask.array import PerformanceWarning

    names = points.terms()
    with warnings.catch_warnings():
        # The chunks of a product are more than those of its factors: that is meant.
        warnings.simplefilter("ignore", PerformanceWarning)
        made = xr.apply_ufunc(
            _block,
            *(xr.Variable((dim,), data) for dim, data in axes.items()),
            kwargs={"points": points, "names": names},
            dask="parallelized",
            output_core_dims=[()] * (len(names) + 3),
            output_dtypes=[float] * (len(names) + 1) + [object] * 2,
        )
    seconds, *terms, algorithm, runs = (variable.transpose(*axes).data for variable in made)
    first = (slice(None), slice(None), *(0 for _ in points.keys))
    return seconds, dict(zip(names, terms, strict=True)), algorithm[first], runs[first]


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
        Numbers of ranks. P, n and arrays of `overrides` may be chunked: dask arrays, or xarray.DataArray that hold
        them. Nothing is computed then until it is asked for (see Notes).
    n : int, text, or 1-D array
        Bytes, or sizes with units ("1 MiB", pint quantities), in the convention of the OSU micro-benchmarks: the vector
        of allreduce, bcast, reduce, scan; one rank's block of allgather, gather, scatter; one pair's block of alltoall;
        the total of reduce_scatter.
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
        network. The attribute `note` says what is done with device buffers, which options have no effect, and
        where coll/han answers in the library's place (Open MPI 5.0, nodes of several ranks).

    Raises
    ------
    UnknownNameError
        For a name that is not there, or a symbol that the machine file has no number for.
    QuantityError
        For numbers out of range; in chunks, when the chunk that holds them is computed.

    Notes
    -----
    Where anything is chunked, every variable is: its chunks are the products of those given, and what is not chunked
    is one chunk. Tasks pickle, and run on a cluster of dask.distributed as they are; dask is an extra (``scale``). The
    numbers are those of the same call without chunks. Two things differ, since they would need all of P and n at once:
    all terms that any algorithm of the collective has are there, zero where none has them; and a chunked coordinate
    has no index (``.compute().set_xindex("n")`` makes one, for `sel`).

    Formulas are for one byte and more. At n = 0 the messages are charged, though most of Open MPI's collectives return
    at once from a call without elements: `select(...).note` says where.
    """
    import xarray as xr

    from orrery_analytic.machines.keys import MACHINE_KEYS

    if algorithm is not None:
        choose(
            f"{collective} algorithm", algorithm, list_algorithms(choose("collective", collective, list_collectives()))
        )
    machine, arrays = _split_overrides(loaded(machine), overrides)
    setting = Setting.of(
        machine, collective, rules=rules, buffers=buffers, network=network, transport=transport, staging=staging,
        itemsize=itemsize, commutative=commutative, library=library, in_place=in_place, rank=rank, pinned=pinned,
        gdr_limit=gdr_limit,
    )  # fmt: skip
    ranks, sizes = (_lazy(k, v) if _chunked(v) else axis(k, v) for k, v in (("P", P), ("n", n)))
    points = Points(setting, algorithm, tuple(arrays))
    dims = {key: f"machine_{key}" if key in TERM_NAMES else key for key in arrays}
    axes = {"P": ranks, "n": sizes, **{dims[key]: values for key, values in arrays.items()}}
    lazy = {name for name, values in axes.items() if _chunked(values)}
    seconds, terms, chosen, runs = _in_chunks(points, axes) if lazy else points.at(ranks, sizes, *arrays.values())
    counts = f"message size: the bytes of {counted(collective)}"
    about: dict[str, tuple[str, str]] = {"P": ("1", "ranks"), "n": ("B", counts)}
    about |= {dims[key]: (MACHINE_KEYS[key].unit, MACHINE_KEYS[key].meaning) for key in arrays}
    variables: dict[str, Any] = {
        "seconds": (tuple(axes), seconds, {"units": "s", "long_name": f"time of {collective}"}),
        **{k: (tuple(axes), v, {"units": "s", "long_name": k.replace("_", " ")}) for k, v in terms.items()},
        "algorithm": (("P", "n"), chosen, {"long_name": f"choice of {setting.about['rules']}"}),
        "runs": (("P", "n"), runs),
    }
    coordinates = {
        name: xr.Variable((name,), values, {"units": about[name][0], "long_name": about[name][1]})
        for name, values in axes.items()
    }
    indexed = {name: values for name, values in coordinates.items() if name not in lazy}
    note = ""
    if not lazy:
        note = setting.without_formula(runs[np.isnan(seconds).reshape(*runs.shape, -1).any(axis=2)].tolist())
    data = xr.Dataset(variables, indexed, attrs=setting.described(note))
    # An index would hold all of a coordinate in memory.
    return (
        data.assign_coords(xr.Coordinates({k: coordinates[k] for k in axes if k in lazy}, indexes={})) if lazy else data
    )
