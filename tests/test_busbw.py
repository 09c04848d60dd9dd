"""algbw and busbw: factors, both ways; the sizes that the tools use; refusals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from orrery_analytic.busbw import FACTORS, bus_bandwidth, bus_factor, nccl_message_size, seconds_at_bus_bandwidth
from orrery_analytic.errors import OrreryError, QuantityError, UnknownNameError

MIB64 = 2**26
# Course chapter 08, 4 x V100, nccl-tests 2.19.5: collective, P, bytes, factor, median us, algbw and busbw in GB/s.
TABLE = [
    ("AllGather", 2, 67_108_864, 0.5, 791.410, 84.79, 42.40),
    ("AllGather", 3, 67_108_848, 0.666667, 621.610, 107.96, 71.97),
    ("AllGather", 4, 67_108_864, 0.75, 469.425, 142.96, 107.22),
    ("AllReduce", 2, 67_108_864, 1.0, 1533.285, 43.77, 43.77),
    ("AllReduce", 3, 67_108_864, 1.333333, 1107.190, 60.61, 80.81),
    ("AllReduce", 4, 67_108_864, 1.5, 859.710, 78.06, 117.09),
    ("AllToAll", 2, 67_108_864, 0.5, 842.290, 79.67, 39.84),
    ("AllToAll", 3, 67_108_848, 0.666667, 684.665, 98.02, 65.34),
    ("AllToAll", 4, 67_108_864, 0.75, 535.965, 125.22, 93.91),
    ("Broadcast", 2, 67_108_864, 1.0, 1494.360, 44.91, 44.91),
    ("Broadcast", 3, 67_108_864, 1.0, 858.130, 78.20, 78.20),
    ("Broadcast", 4, 67_108_864, 1.0, 648.795, 103.44, 103.44),
    ("Reduce", 2, 67_108_864, 1.0, 1488.855, 45.07, 45.07),
    ("Reduce", 3, 67_108_864, 1.0, 852.540, 78.72, 78.72),
    ("Reduce", 4, 67_108_864, 1.0, 695.360, 96.51, 96.51),
    ("ReduceScatter", 2, 67_108_864, 0.5, 1138.075, 58.97, 29.48),
    ("ReduceScatter", 3, 67_108_848, 0.666667, 639.390, 104.95, 69.97),
    ("ReduceScatter", 4, 67_108_864, 0.75, 524.570, 127.93, 95.95),
]


@pytest.mark.parametrize(("name", "ranks", "size", "factor", "us", "algbw", "busbw"), TABLE)
def test_the_table_of_64_mib(
    name: str, ranks: int, size: int, factor: float, us: float, algbw: float, busbw: float
) -> None:
    assert nccl_message_size(name, MIB64, ranks, 4) == size
    assert float(bus_factor(name, ranks)) == pytest.approx(factor, abs=5e-7)
    # The medians of the bandwidths are those of ten cycles, so they miss the one of the median time by a digit.
    assert bus_bandwidth(name, size, us * 1e-6, ranks) == pytest.approx((algbw * 1e9, busbw * 1e9), abs=0.0101e9)
    assert seconds_at_bus_bandwidth(name, size, busbw * 1e9, ranks) == pytest.approx(us * 1e-6, rel=3e-4)


@pytest.mark.parametrize(
    ("name", "size", "us", "ranks", "algbw", "busbw"),
    [
        ("all_reduce", 67_108_864, "859.710 us", 4, 78.06, 117.09),
        ("all_gather", 67_108_864, "469.425 us", 4, 142.96, 107.22),
        ("alltoall", 67_108_848, "684.665 us", 3, 98.02, 65.34),
        ("all_reduce_perf", "256 MiB", "3290 us", 4, 81.59, 122.39),
    ],
)
def test_calculations_by_hand(name: str, size: object, us: str, ranks: int, algbw: float, busbw: float) -> None:
    found = [round(value / 1e9, 2) for value in bus_bandwidth(name, size, us, ranks)]
    assert found == [algbw, busbw]


def test_exercises_with_numbers() -> None:
    assert 80 * bus_factor("all_reduce", 4) == 120  # 1
    assert 120 * bus_factor("all_gather", 4) == 90  # 2
    # 3: the size that algbw divides is N * recvcount * typesize, the whole input.
    assert bus_bandwidth("reduce_scatter", 3 * 5_592_404 * 4, 1, 3)[0] == 67_108_848
    # 6: rounded down to whole elements, then to 16 bytes a rank.
    assert nccl_message_size("all_gather", MIB64, 3, 4) == 5_592_404 * 3 * 4 == MIB64 - 16
    assert nccl_message_size("all_gather", 2**20, 3, 4) == 1_048_560


def test_reduce_scatter_and_allgather_make_an_allreduce() -> None:
    P = sp.Symbol("P")
    parts = bus_factor("reduce_scatter", P) + bus_factor("allgather", P)
    assert sp.simplify(parts - bus_factor("allreduce", P)) == 0
    assert bus_factor("bcast", P) == 1
    for name in FACTORS:
        assert bus_factor(name, sp.Integer(7)) == Fraction(
            *sp.Rational(bus_factor(name, P).subs(P, 7)).as_numer_denom()
        )


def test_one_rank_and_arrays() -> None:
    assert bus_factor("allreduce", 1) == 0
    assert bus_bandwidth("allreduce", 8, 2.0, 1) == (4.0, 0.0)
    algbw, busbw = bus_bandwidth("allgather", [100, 200], 1e-6, [[2], [4]])
    np.testing.assert_allclose(algbw, [[1e8, 2e8], [1e8, 2e8]])
    np.testing.assert_allclose(busbw, [[0.5e8, 1e8], [0.75e8, 1.5e8]])
    np.testing.assert_allclose(seconds_at_bus_bandwidth("allgather", [100, 200], busbw, [[2], [4]]), 1e-6)


def test_hypercube_divides_less_than_it_prints() -> None:
    assert bus_bandwidth("hypercube", 800, 1.0, 4) == (600.0, 600.0)
    assert seconds_at_bus_bandwidth("hypercube", 800, 600.0, 4) == 1.0


def test_decimal_and_binary_units_differ_by_seven_percent() -> None:
    algbw = bus_bandwidth("bcast", "1 GiB", "1 s", 2)[0]
    assert algbw / bus_bandwidth("bcast", "1 GB", "1 s", 2)[0] == pytest.approx(1.0737, abs=1e-4)
    assert seconds_at_bus_bandwidth("bcast", "1 GiB", "1 GiB/s", 2) == 1.0


@pytest.mark.parametrize(
    ("arguments", "size"),
    [
        (("all_reduce", 1003, 3, 4), 1000),
        (("broadcast", 7, 3, 8), 0),
        (("sendrecv", "1.5K", 2, 2), 1536),
        (("all_gather", 65536, 2160, 4), 34_560),
        (("all_gather", 131072, 2160, 4), 103_680),
        (("all_gather", 32768, 2160, 4), 0),
        (("alltoall", 1000, 3, 1), 960),
        (("gather", 1000, 3, 8), 960),
        (("hypercube", 1000, 4, 4), 960),
        (("all_gather", MIB64, 3, 4, "nccl-tests", "2.13.11"), 67_108_860),
        (("all_gather", MIB64, 3, 4, "nccl-tests", "v2.13.12"), 67_108_848),
        (("all_gather", MIB64, 3, 4, "nccl-tests", "2.20.0 (b4d5bee)"), 67_108_848),
        (("hypercube", 1000, 4, 8, "nccl-tests", "2.13.0"), 896),
        (("all_gather", 1000, 3, 8, "rccl-tests"), 960),
        (("reduce_scatter", 1000, 3, 1, "rccl-tests"), 996),
        (("alltoall", 1000, 3, 1, "rccl-tests"), 999),
        (("scatter", 1003, 3, 4, "rccl-tests"), 996),
        (("all_gather", 2**53 - 1, 1, 1), 2**53 - 16),
    ],
)
def test_message_sizes(arguments: tuple[object, ...], size: int) -> None:
    found = nccl_message_size(*arguments)  # type: ignore[arg-type]
    assert found == size
    assert type(found) is int


def test_message_sizes_of_arrays() -> None:
    assert nccl_message_size("all_gather", [2**20, 2**26], [2, 3], 4).tolist() == [2**20, MIB64 - 16]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("allredce", 1, 1, 4), "Did you mean 'allreduce'"),
        ((None, 1, 1, 4), "unknown collective 'None'"),
        (("x" * 10**5, 1, 1, 4), "unknown collective"),
        (("allreduce", -1, 1, 4), "nbytes = -1"),
        (("allreduce", np.nan, 1, 4), "nbytes = nan"),
        (("allreduce", "64 MB/s", 1, 4), "wrong kind of unit"),
        (("allreduce", [1, np.inf], 1, 4), "nbytes = inf"),
        (("allreduce", ["1", "2"], 1, 4), "number without a unit"),
        (("allreduce", True, 1, 4), "nbytes = True"),
        (("allreduce", [[1], [1, 2]], 1, 4), "numbers in B"),
        (("allreduce", 10**400, 1, 4), "not finite"),
        (("allreduce", 1, 0, 4), "more than zero"),
        (("allreduce", 1, [1, 0], 4), "more than zero"),
        (("allreduce", 1, 1, 0), "ranks = 0"),
        (("allreduce", 1, 1, 2.5), "ranks = 2.5"),
        (("allreduce", [1, 2], [1, 2, 3], 4), "do not broadcast"),
    ],
)
def test_refused_bandwidths(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(OrreryError, match=message):
        bus_bandwidth(*arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("alltoallv", 64, 2, 4), "size follows"),
        (("all_gather", 64, 2, 3), "itemsize = 3"),
        (("all_gather", 64, 2, 16), "itemsize = 16"),
        (("all_gather", 64.5, 2, 4), "requested_bytes = 64.5"),
        (("all_gather", "64 MB", 2, 4), "'64M'"),
        (("all_gather", "1e9", 2, 4), "'64M'"),
        (("all_gather", 2**60, 2, 4), "requested_bytes"),
        (("all_gather", 64, 0, 4), "ranks = 0"),
        (("all_gather", 64, 2, 4, "nccl"), "Did you mean 'nccl-tests'"),
        (("all_gather", 64, 2, 4, "nccl-tests", "develop"), "version = 'develop'"),
        (("all_gather", 64, 2, 4, "nccl-tests", None), "version = None"),
    ],
)
def test_refused_message_sizes(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(OrreryError, match=message):
        nccl_message_size(*arguments)  # type: ignore[arg-type]


def test_a_bus_bandwidth_of_one_rank_says_nothing_of_the_time() -> None:
    with pytest.raises(QuantityError, match="at least 2"):
        seconds_at_bus_bandwidth("allreduce", 8, 1e9, 1)
    with pytest.raises(QuantityError, match="one whole number"):
        bus_factor("allreduce", [2, 3])  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError):
        bus_factor("barrier", 2)


def test_results_that_no_double_holds() -> None:
    for call in (
        lambda: bus_bandwidth("allgather", 1, 1e-320, 4),
        lambda: bus_bandwidth("allreduce", 1e308, 1.0, 64),
        lambda: bus_bandwidth("allreduce", 1e308, [1.0, 2.0], 64),
        lambda: seconds_at_bus_bandwidth("allreduce", 8, 1e-320, 4),
    ):
        with pytest.raises(QuantityError, match=r"1\.8e308"):
            call()
