"""`predict` on chunked coordinates: lazy, in chunks, on a cluster, and the same numbers; formulas in blocks."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import xarray as xr

import orrery_analytic as oa
from orrery_analytic.errors import QuantityError
from orrery_analytic.selection.points import Points
from orrery_analytic.selection.setting import Setting
from orrery_analytic.symbols import evaluation

dask = pytest.importorskip("dask", reason="dask is not installed")
da = pytest.importorskip("dask.array", reason="dask is not installed")

RANKS = np.array([1, 2, 3, 7, 8, 12, 64, 100, 300, 1024])
SIZES = np.array([0, 1, 3, 4, 100, *(2**k for k in range(8, 28, 3))])


def chunked(collective: str, **options: Any) -> xr.Dataset:
    return oa.predict("example", collective, da.from_array(RANKS, chunks=4), da.from_array(SIZES, chunks=5), **options)


def same(lazy: xr.Dataset, eager: xr.Dataset) -> None:
    computed = lazy.compute(scheduler="synchronous")
    xr.testing.assert_identical(computed.set_xindex("P").set_xindex("n"), eager)


@pytest.mark.parametrize("collective", oa.list_collectives())
def test_chunks_hold_what_the_whole_holds(collective: str) -> None:
    lazy = chunked(collective)
    assert all(v.chunks == ((4, 4, 2), (5, 5, 2)) for v in lazy.data_vars.values())
    same(lazy, oa.predict("example", collective, RANKS, SIZES))


def test_overrides_and_data_arrays_in_chunks() -> None:
    bandwidth, latency = np.array([1e9, 2e9, 5e9]), ["1 us", "3 us"]
    ranks = xr.DataArray(RANKS, dims="anything").chunk(anything=3)
    lazy = oa.predict(
        "example", "allreduce", ranks, SIZES, buffers="device", network=oa.LogGP(), latency=latency,
        d2h_bandwidth=da.from_array(bandwidth, chunks=2),
    )  # fmt: skip
    assert lazy.seconds.chunks == ((3, 3, 3, 1), (SIZES.size,), (2,), (2, 1))
    assert lazy.algorithm.chunks == ((3, 3, 3, 1), (SIZES.size,))
    assert lazy["d2h_bandwidth"].chunks is not None
    eager = oa.predict(
        "example", "allreduce", RANKS, SIZES, buffers="device", network=oa.LogGP(), latency=latency,
        d2h_bandwidth=bandwidth,
    )  # fmt: skip
    computed = lazy.compute(scheduler="synchronous")
    xr.testing.assert_identical(computed.set_xindex("P").set_xindex("d2h_bandwidth"), eager)


def test_nothing_is_computed_before_it_is_asked_for_and_then_one_chunk_at_a_time(monkeypatch) -> None:
    asked = []
    original = Points.at
    monkeypatch.setattr(Points, "at", lambda self, P, n, *v: asked.append((P.size, n.size)) or original(self, P, n, *v))
    side, chunk = 10**4, 100
    lazy = oa.predict("example", "bcast", da.arange(2, side + 2, chunks=chunk), da.arange(4, side + 4, chunks=chunk))
    assert lazy.seconds.size == 10**8
    assert not [shape for shape in asked if shape != (1, 1) and shape != (0, 0)]
    asked.clear()
    corner = lazy.seconds[:150, :50].max().compute(scheduler="synchronous")
    assert float(corner) > 0
    assert asked == [(chunk, chunk)] * 2


@pytest.mark.parametrize("network", [oa.Hockney(), oa.LogGP()])
@pytest.mark.parametrize("buffers", ["host", "device"])
def test_no_term_comes_up_that_was_not_told_before(network: Any, buffers: str) -> None:
    for collective in oa.list_collectives():
        points = Points(Setting.of("example", collective, network=network, buffers=buffers))
        assert set(points.at(RANKS, SIZES).terms) <= set(points.terms())


@pytest.mark.cluster
def test_a_cluster_of_processes_computes_it_unchanged() -> None:
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    lazy = chunked("allreduce", algorithm="ring", bandwidth=da.from_array(np.array([1e9, 2e9]), chunks=1))
    with (
        dask.config.set({"distributed.worker.daemon": True, "distributed.comm.timeouts.connect": "60s"}),
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        there = client.compute(lazy.seconds.sum()).result(timeout=120)
        names = client.compute(lazy.runs).result(timeout=120)
    eager = oa.predict("example", "allreduce", RANKS, SIZES, algorithm="ring", bandwidth=[1e9, 2e9])
    assert float(there) == pytest.approx(float(eager.seconds.sum()), rel=1e-12)
    np.testing.assert_array_equal(names.values, eager.runs.values)


def test_what_is_lazy_pickles() -> None:
    same(pickle.loads(pickle.dumps(chunked("reduce"))), oa.predict("example", "reduce", RANKS, SIZES))


@pytest.mark.parametrize(
    "hostile",
    [
        {"P": np.array([4, 0])},
        {"P": np.array([4, 2.5])},
        {"n": np.array([4, np.nan])},
        {"n": np.array([4, -1])},
        {"n": np.array([4, np.inf])},
        {"latency": np.array([1e-6, -1])},
        {"bandwidth": np.array([1e9, 0])},
        {"bandwidth": np.array([1e9, np.nan])},
    ],
)
def test_a_hostile_value_in_a_chunk_is_told_when_it_is_computed(hostile: dict[str, Any]) -> None:
    (name, values), *_ = hostile.items()
    lazy = oa.predict(
        **{"machine": "example", "collective": "bcast", "P": 4, "n": 8} | {name: da.from_array(values, 1)}
    )
    with pytest.raises(QuantityError, match=name):
        lazy.seconds.compute(scheduler="synchronous")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"P": da.ones((2, 2), dtype=int)}, "of 2 dimensions"),
        ({"n": da.ones(2, dtype=bool)}, "bool was given"),
        ({"n": da.from_array(np.array(["8 B"]))}, "<U3 was given"),
        ({"P": da.arange(9)[da.arange(9) > 2]}, "compute_chunk_sizes"),
        ({"P": da.zeros(0)}, "at least one"),
        ({"P": dask.delayed(4)}, "a DelayedLeaf was given"),
        ({"latency": dask.delayed(4)}, "latency in chunks must be"),
        ({"latency": da.ones(3)[0]}, "of 0 dimensions"),
        ({"ranks_per_node": da.ones(2)}, "ranks_per_node can be one value"),
    ],
)
def test_what_is_no_chunked_axis_is_told_at_once(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(QuantityError, match=message):
        oa.predict(**{"machine": "example", "collective": "bcast", "P": 4, "n": 8} | wrong)


def test_without_dask_the_rest_works() -> None:
    code = (
        "import sys; sys.modules['dask'] = None\nimport orrery_analytic as oa, xarray as xr\n"
        "print(oa.predict('example', 'bcast', xr.DataArray([2, 4], dims='P'), 8).seconds.size)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.stdout.split() == ["2"], run.stderr


@pytest.mark.parametrize(
    ("ranks", "sizes"), [((7, 1), (1, 11)), ((77,), (77,)), ((1, 77), ()), ((5, 1, 3), (2, 1)), ((0,), (0,)), ((), ())]
)
def test_blocks_give_what_the_whole_gives(monkeypatch, ranks: tuple[int, ...], sizes: tuple[int, ...]) -> None:
    cost = oa.collective_cost("allreduce", "rabenseifner") + oa.kernel_cost()
    given = dict.fromkeys(cost.symbols, 1e-6)
    given |= {"P": 1 + np.arange(np.prod(ranks)).reshape(ranks), "n": 8.0 * np.arange(np.prod(sizes)).reshape(sizes)}
    whole, total = cost.values(**given), cost(**given)
    (expression,) = evaluation.evaluate([cost.total], given)
    monkeypatch.setattr(evaluation, "_BLOCK", 4)
    for name, value in cost.values(**given).items():
        np.testing.assert_array_equal(value, whole[name])
    np.testing.assert_array_equal(cost(**given), total)
    np.testing.assert_array_equal(evaluation.evaluate([cost.total], given)[0], expression)
    np.testing.assert_allclose(total, whole["total"], rtol=1e-14)
