"""nccl-tests and rccl-tests: text of every age, JSON, CSV, and what stands between the rows."""

from __future__ import annotations

import json
import math
import warnings
from typing import Any

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest

from orrery_analytic.errors import FormatError, OrreryError
from orrery_analytic.logs import LogWarning, read

SETTINGS = (
    "# nThread 1 nGpus 1 minBytes 1024 maxBytes 8192 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 "
    "validation: 1 graph: 0\n#\n# Using devices\n"
)
HEADER = (
    "#\n#                                                      out-of-place                       in-place          \n"
    "#       size         count      type   redop    root     time   algbw   busbw #wrong"
    "     time   algbw   busbw #wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)\n"
)
OLD = "#  size  count  type  redop  time  algbw  busbw  error  time  algbw  busbw  error\n"


def devices(ranks: int, first: int = 0) -> str:
    line = "#  Rank {0:2d} Group  0 Pid  7{0} on node{0} device  0 [0x07] NVIDIA A100-SXM4-40GB\n"
    return "".join(line.format(rank) for rank in range(first, ranks))


def row(size: int, count: int, redop: str = "sum", root: int = -1, in_place: str = "0", time: float = 20.5) -> str:
    half = f"  {time:7.2f}  {1.25:6.2f}  {2.5:6.2f}"
    return f"{size:12d}  {count:12d}     float  {redop:>6s}  {root:6d}{half}  {0:5d}{half}  {in_place:>5s}\n"


def read_warned(source: object) -> tuple[pd.DataFrame, list[str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = read(source)
    assert {w.category for w in caught} <= {LogWarning}
    return table, [str(w.message) for w in caught]


def only(table: pd.DataFrame, column: str) -> object:
    values = table[column].unique()
    assert len(values) == 1
    return values[0]


def us(table: pd.DataFrame) -> list[float]:
    return [round(float(value) * 1e6, 6) for value in table["seconds"]]


ALLREDUCE = SETTINGS + devices(4) + HEADER + row(1024, 256) + row(2048, 512, time=21.75)


def test_both_places_are_points() -> None:
    table = read(ALLREDUCE)
    assert us(table) == [20.5, 20.5, 21.75, 21.75]
    assert list(table["in_place"]) == [False, True, False, True]
    assert list(table["size"]) == list(table["n"]) == list(table["requested_bytes"]) == [1024, 1024, 2048, 2048]
    assert list(table["line"]) == [12, 12, 13, 13]
    expected = {
        "collective": "allreduce",
        "ranks": 4,
        "datatype": "float",
        "reduction": "sum",
        "root": -1,
        "algbw_bytes_per_s": 1.25e9,
        "busbw_bytes_per_s": 2.5e9,
        "wrong": 0,
        "validation": "pass",
        "buffers": "device",
        "device": "NVIDIA A100-SXM4-40GB",
        "warmup_iterations": 5,
        "iterations": 20,
        "table": 0,
    }
    assert {column: only(table, column) for column in expected} == expected
    assert table[["bandwidth_bytes_per_s", "deviation", "benchmark"]].isna().all(axis=None)


@pytest.mark.parametrize(
    ("program", "line", "collective", "n"),
    [
        ("all_reduce_perf", row(4096, 1024), "allreduce", 4096),
        ("all_gather_perf", row(4096, 256, "none"), "allgather", 1024),
        ("reduce_scatter_perf", row(4096, 256), "reduce_scatter", 4096),
        ("alltoall_perf", row(4096, 256, "none", in_place="N/A"), "alltoall", 1024),
        ("alltoallv_perf", row(4096, 0, "none", in_place="N/A"), "alltoallv", 1024),
        ("broadcast_perf", row(4096, 1024, "none", 0), "bcast", 4096),
        ("reduce_perf", row(4096, 1024, "sum", 0), "reduce", 4096),
        ("gather_perf", row(4096, 256, "none", 2), "gather", 1024),
        ("scatter_perf", row(4096, 256, "none", 2), "scatter", 1024),
        ("sendrecv_perf", row(4096, 1024, "sum", in_place="N/A"), "p2p", 4096),
        ("hypercube_perf", row(4096, 256, "none"), "hypercube", 1024),
    ],
)
def test_collectives_and_what_n_is(program: str, line: str, collective: str, n: int) -> None:
    version = (
        f"# nccl-tests version 2.17.6 nccl-headers=22807 nccl-library=22807\n# Collective test starting: {program}\n"
    )
    for said in (version, f"$ mpirun -np 4 ./build/{program} -b 8\n"):
        table = read(said + SETTINGS + devices(4) + HEADER + line)
        assert only(table, "collective") == collective
        assert only(table, "n") == n
        assert only(table, "size") == 4096
        assert only(table, "benchmark") == program
    unnamed = read(SETTINGS + devices(4) + HEADER + line)
    guessed = {"alltoallv": math.nan, "gather": math.nan, "scatter": math.nan, "hypercube": "allgather"}
    np.testing.assert_equal(only(unnamed, "collective"), guessed.get(collective, collective))
    if collective != "alltoallv":
        assert only(unnamed, "n") == n


def test_versions() -> None:
    text = "# nccl-tests version 2.20.0 (b4d5bee) nccl-headers=23102 nccl-library=23102\n" + ALLREDUCE
    assert only(read(text), "version") == "2.20.0"
    assert only(read(text), "library") == "NCCL 2.31.2"
    rccl = SETTINGS + "rccl-tests: Version develop:83d38d9\n" + devices(4) + "RCCL version : 2.27.7-abc\n" + HEADER
    table = read(rccl + row(1024, 256))
    assert (only(table, "version"), only(table, "library")) == ("develop:83d38d9", "RCCL 2.27.7-abc")


def test_a_name_that_contradicts_the_rows_is_not_believed() -> None:
    table = read("$ ./build/all_reduce_perf\n" + SETTINGS + devices(4) + HEADER + row(4096, 256, "none"))
    assert only(table, "collective") == "allgather"


def test_ranks_without_a_device_list() -> None:
    rows = "  536870912  134217728  float  sum  -1  1806.7  297.16  586.06  0  1835.9  292.43  576.74  0\n"
    more = " 1073741824  268435456  float  sum  -1  3108.8  345.38  681.17  0  2924.7  367.13  724.06  0\n"
    table = read(HEADER + rows + more)
    assert only(table, "ranks") == 72  # busbw / algbw = 2 * 71 / 72
    assert only(table, "collective") == "allreduce"
    assert np.isnan(only(read(HEADER + row(1024, 256)), "ranks"))
    assert only(read(HEADER + row(61440, 1024, "none")), "ranks") == 15  # size / (count * 4)
    assert only(read(devices(72, 71) + HEADER + row(1024, 256)), "ranks") == 72  # the head of the list is cut
    noise = "n1:3:4 [0] NCCL INFO comm 0x7f rank 0 nranks 6 cudaDev 0 - Init COMPLETE\n"
    assert only(read(noise + HEADER + row(1024, 256)), "ranks") == 6


# --- layouts of every age ---


@pytest.mark.parametrize(
    ("text", "times", "collective"),
    [
        (OLD + "1024 256 float sum 93.73 0.04 0.09 1e-06 93.15 0.04 0.09 0e+00\n", [93.73, 93.15], "allreduce"),
        (OLD + "16 4 float 16860 254.74 222.90 N/A 16678 257.53 225.34 N/A\n", [16860, 16678], math.nan),
        (
            OLD.replace("redop", "root") + "8 2 float 0 45.82 0.00 0.00 N/A 38.17 0.00 0.00 N/A\n",
            [45.82, 38.17],
            "bcast",
        ),
        (HEADER + "8 2 float sum 0 45.82 0.00 0.00 0 38.17 0.00 0.00 0\n", [45.82, 38.17], "reduce"),
        (HEADER + "4 2 bfloat16 prod -1 1e+07 0.00 0.00 12 38.17 0.00 0.00 1.2e+07\n", [1e7, 38.17], "allreduce"),
        ("8 2 float sum -1 45.82 0.00 0.00 0 38.17 0.00 0.00 0\n", [45.82, 38.17], "allreduce"),
        (
            "| 8 | 2 | float | sum | -1 | 45.82 | 0.00 | 0.00 | 0 | 38.17 | 0.00 | 0.00 | 0 |\n",
            [45.82, 38.17],
            "allreduce",
        ),
        ("8\t2\tfloat\tsum\t-1\t45.82\t0.00\t0.00\t0\t38.17\t0.00\t0.00\t0\n", [45.82, 38.17], "allreduce"),
        (":mark:`8 2 float sum -1 45.82 0.00 0.00 0 38.17 0.00 0.00 0`\n", [45.82, 38.17], "allreduce"),
    ],
)
def test_layouts(text: str, times: list[float], collective: object) -> None:
    table = read(text)
    assert us(table) == times
    np.testing.assert_equal(only(table, "collective"), collective)


def test_times_of_nccl_1_are_milliseconds() -> None:
    table = read(
        "# Using devices\n#   Rank  0 uses device  0 [0x73] GeForce 5\n#   Rank  1 uses device  1 [0xa6] GeForce 5\n"
        "#  bytes N type op time algbw busbw res time algbw busbw res\n"
        "#  10000000 10000000 char sum 1.628 6.14 6.14 0e+00 1.932 5.18 5.18 0e+00\n"
    )
    assert us(table) == [1628, 1932]
    assert only(table, "ranks") == 2
    assert only(table, "deviation") == 0
    assert table["wrong"].isna().all()


def test_more_columns() -> None:
    head = HEADER.splitlines()[2]
    iterations = head.replace("#wrong", "#wrong i_min i_max i_p99 i_cv%") + " timestamp\n"
    half = "20.50 1.25 2.50 0 19.00 25.00 24.10 3.45"
    assert us(read(f"{iterations}1024 256 float sum -1 {half} {half} 2026-01-02 03:04:05\n")) == [20.5, 20.5]
    bits = "20.50 1.25 2.50 0 7"
    assert us(read(f"{HEADER}1024 256 float sum -1 {bits} {bits}\n")) == [20.5, 20.5]
    half = "20.50 1.25 2.50 0"
    for choice in ("RING  SIMPLE  16", "N/A  N/A  N/A"):
        assert us(read(f"{HEADER}1024 256 float sum -1 {half} {half} {choice}\n")) == [20.5, 20.5]


def test_one_place_alone() -> None:
    half = "20.50 1.25 2.50 0"
    table = read(f"{HEADER}1024 256 float sum -1 {half}\n2048 512 float sum -1 {half}\n")
    assert list(table["in_place"]) == [False, False]
    table = read(f"{HEADER}1024 256 float sum -1 {'':32}  {half}\n")
    assert list(table["in_place"]) == [True]


def test_time_of_enqueueing_is_not_the_time() -> None:
    table, messages = read_warned(HEADER.replace("    time", " cputime") + row(1024, 256))
    assert table["seconds"].isna().all()
    assert list(table["enqueue_seconds"]) == [20.5e-6, 20.5e-6]
    assert "enqueueing" in messages[0]


def test_wrong_elements_and_asterisks() -> None:
    line = "1024 256 float sum -1 20.5 1.25 2.5 12 20.5 1.25 2.5 0\n"
    assert list(read(HEADER + line)["validation"]) == ["fail", "pass"]
    table = read(OLD + "1024 256 float sum 20.5 1.25 2.5 1e+00* 20.5 1.25 2.5 1e-06\n")
    assert list(table["deviation"]) == [1, 1e-6]


def test_one_rank_has_wide_bandwidths() -> None:
    line = "33554432 8388608 float none -1 19.56  1715.44  0.00  0  0.78  43046.10  0.00  N/A\n"
    table = read("$ ./alltoall_perf\n" + SETTINGS + devices(1) + HEADER + line)
    assert us(table) == [19.56, 0.78]
    assert (only(table, "ranks"), only(table, "n")) == (1, 33554432)


def test_zero_byte_rows_repeat() -> None:
    table = read(SETTINGS + devices(3) + HEADER + row(0, 0, "none") * 3 + row(48, 4, "none"))
    assert list(table["n"]) == [0] * 6 + [16] * 2


def test_what_was_asked_for_before_rounding() -> None:
    settings = SETTINGS.replace("1024", "65536").replace("8192", "262144")
    rows = row(0, 0, "none") + row(34560, 4, "none") + row(103680, 12, "none")
    table = read(settings + HEADER + rows)
    np.testing.assert_equal(list(table["requested_bytes"][::2]), [math.nan, 65536, 131072])
    settings = SETTINGS.replace("2(factor)", "1000(bytes)")
    assert (
        list(read(settings + HEADER + row(2024, 506) + row(3000, 750))["requested_bytes"].isna())
        == [False] * 2 + [True] * 2
    )


# --- what stands around the rows ---


@pytest.mark.parametrize(
    "prefix", ["[1,0]<stdout>:", "(head, rank=0, pid=38) [1,0]<stdout>:", " 0: ", "0:", "[0] ", "> ", "node7: ", "# "]
)
def test_prefixes(prefix: str) -> None:
    table = read("".join(f"{prefix}{line}\n" for line in ALLREDUCE.splitlines()))
    assert us(table) == [20.5, 20.5, 21.75, 21.75]
    assert only(table, "ranks") == 4


def test_headers_that_lost_their_hash() -> None:
    table = read("".join(line.lstrip("#") + "\n" for line in ALLREDUCE.splitlines()))
    assert us(table) == [20.5, 20.5, 21.75, 21.75]
    assert (only(table, "ranks"), only(table, "warmup_iterations")) == (4, 5)


def test_noise_between_rows_is_left_out_without_a_word() -> None:
    noise = [
        "node1:31808:31808 [0] NCCL INFO Channel 00/04 :    0   1   2   3",
        "node1:31808:31808 [0] NCCL INFO Broadcast |  0.0/ 0.0 |  4.4/ 1.2 | 0.0/ 0.0 | 1.0/ 2.0 | 3.0/ 4.0",
        "NCCL version 2.9.6+cuda11.2",
        "[warn] 3 of 4 ranks are late",
        "+ srun --mpi=pmix hostname",
        "hni_rx_ok_ieee 123 4.5 67 8.9 (10.0%)",
        "",
    ]
    lines = ALLREDUCE.splitlines()
    table = read("\n".join([*noise, *lines[:-1], *noise, lines[-1], *noise]))
    assert us(table) == [20.5, 20.5, 21.75, 21.75]
    assert only(table, "library") == "NCCL 2.9.6+cuda11.2"


def test_rows_that_debug_output_breaks_are_put_together() -> None:
    half = "     74.31    0.06    0.11      0"
    debug = "n1:49:49 [0] NCCL INFO 8192 Bytes -> Algo 0 proto 0 time 26.5\n"
    start = "[0]   8192          2048     float     sum      -1"
    table = read(
        f"{HEADER}{start}[0] {debug}[0] {debug}[0]{half}[0] {debug}[0]{half.replace('4.31', '5.38')}\n{row(1024, 256)}"
    )
    assert us(table) == [74.31, 75.38, 20.5, 20.5]


def test_several_tables() -> None:
    first = (
        "# Collective test starting: all_reduce_perf\n" + ALLREDUCE + "# Collective test concluded: all_reduce_perf\n"
    )
    second = ALLREDUCE.replace(devices(4), devices(2)).replace(row(1024, 256), row(1024, 128, "none"))
    second = second.replace(row(2048, 512, time=21.75), row(2048, 256, "none"))
    table = read(first + "prterun all_reduce_perf exited\n" + second)
    assert [table.loc[table["table"] == at, "collective"].iloc[0] for at in (0, 1)] == ["allreduce", "allgather"]
    assert [table.loc[table["table"] == at, "ranks"].iloc[0] for at in (0, 1)] == [4, 2]
    assert len(table) == 8


def test_runs_that_print_into_each_other_are_told() -> None:
    half = SETTINGS
    text = half + half + devices(1) + devices(1) + HEADER + HEADER + row(1024, 256) + row(1024, 256)
    table, messages = read_warned(text)
    assert len(table) == 4
    assert only(table, "ranks") == 1
    assert "rank 0 a second time" in messages[0]


def test_groups_of_ranks() -> None:
    text = SETTINGS + devices(4).replace("Rank  2 Group  0", "Rank  2 Group  1").replace(
        "Rank  3 Group  0", "Rank  3 Group  1"
    )
    assert only(read(text + HEADER + row(1024, 256)), "ranks") == 2


@pytest.mark.parametrize(
    "text",
    [
        SETTINGS + devices(2) + "node1: Test NCCL failure common.cu:1012 'unhandled system error'\n",
        SETTINGS + devices(2) + HEADER,
        (SETTINGS + devices(2) + HEADER).replace("#", ""),
    ],
)
def test_runs_without_rows_are_refused(text: str) -> None:
    with pytest.raises(FormatError, match=r"looks like nccl-tests or rccl-tests \(line 1: .*nThread 1.*Looked for"):
        read(text)


# --- rows that are not whole ---


@pytest.mark.parametrize("end", [12, 30, 55, 62, 80, 95, 108])
def test_a_last_row_that_breaks_off_is_named(end: int) -> None:
    table, messages = read_warned(ALLREDUCE + row(4096, 1024)[:end])
    assert us(table)[:4] == [20.5, 20.5, 21.75, 21.75]
    assert len(table) == (5 if end > 90 else 4)  # its first result ends there
    assert [message.split(":")[0] for message in messages] == ["<text>, line 14"]


def test_of_a_broken_row_the_whole_result_is_taken() -> None:
    line = row(4096, 1024)
    for damaged in (line[: line.rindex("20.50") + 4] + "\n", line.replace("20.50", "2x.50", 1), line[:92] + "\n"):
        table, messages = read_warned(ALLREDUCE + damaged + row(8192, 2048))
        assert len(table) == 7
        assert [message.split(":")[0] for message in messages] == ["<text>, line 14"]


@pytest.mark.parametrize(
    "damaged",
    [
        row(4096, 1024).replace("float", "flo t"),
        row(4096, 1024).replace("1024", "1o24"),
        row(4096, 1024).replace("4096", "4o96"),
        row(4096, 1024).replace("-1", "-x"),
        row(4096, 1024).replace("sum", "sum sum"),
        row(4096, 1024).replace(" 1.25", " 1.2.5"),
        row(4096, 1024).rstrip("\n") + " 5 5 5\n",
        row(4096, 1024, time=math.nan),
        row(4096, 1024, time=-1),
    ],
)
def test_broken_rows_are_named(damaged: str) -> None:
    table, messages = read_warned(ALLREDUCE + damaged + row(8192, 2048))
    assert us(table)[:4] == [20.5, 20.5, 21.75, 21.75]
    assert us(table)[-2:] == [20.5, 20.5]
    assert "<text>, line 14" in {message.split(":")[0] for message in messages}


# --- JSON ---


def place(time: object, wrong: object = 0.0) -> dict[str, object]:
    return {"time": time, "alg_bw": 1.25, "bus_bw": 1.875, "nwrong": wrong}


def result(size: int, time: object, **more: Any) -> dict[str, Any]:
    common = {"size": size, "count": size // 4, "type": "float", "redop": "sum", "root": "    -1"}
    places = {"out_of_place": place(time), "in_place": place(21.5)}
    return common | places | {"actual_iterations": 40, "experiment_name": "AllReduce"} | more


DOCUMENT: dict[str, Any] = {
    "version": 3,
    "start_time": "2026-01-02 03:04:05",
    "args": ["/opt/build/all_reduce_perf", "-J", "out.json"],
    "env": ["HOME=/root", "AWS_SECRET_ACCESS_KEY=hunter2"],
    "nccl_version": 22807,
    "config": {
        "nthreads": 1,
        "ngpus": 2,
        "minimum_bytes": 1024,
        "maximum_bytes": 4096,
        "step_factor": 2,
        "warmup_iters": 1,
        "iterations": 20,
        "aggregated_iterations": 2,
        "graph": 0,
        "devices": [{"rank": rank, "group": 0, "device_info": "NVIDIA H100"} for rank in (0, 2)],
    },
    "results": [result(1024, 20.5), result(2048, 22.25), result(4096, 25.0, out_of_place=None)],
    "out_of_bounds": {"count": 0, "okay": "true"},
    "end_time": "2026-01-02 03:04:06",
}


@pytest.mark.parametrize("indent", [None, 1])
def test_json_of_nccl_tests(indent: int | None) -> None:
    text = json.dumps(DOCUMENT, indent=indent)
    table = read(text + "\n")
    assert us(table) == [20.5, 21.5, 22.25, 21.5, 21.5]
    assert list(table["in_place"]) == [False, True, False, True, True]
    expected = {"collective": "allreduce", "ranks": 4, "benchmark": "all_reduce_perf", "library": "NCCL 2.28.7"}
    expected |= {"iterations": 40, "warmup_iterations": 1, "device": "NVIDIA H100", "wrong": 0, "root": -1}
    expected |= {"algbw_bytes_per_s": 1.25e9, "busbw_bytes_per_s": 1.875e9}
    assert {column: only(table, column) for column in expected} == expected
    places = [text[: text.index(f'"size": {size}')].count("\n") + 1 for size in (1024, 1024, 2048, 2048, 4096)]
    assert list(table["line"]) == places
    assert list(table["requested_bytes"]) == list(table["size"])
    assert "hunter2" not in table.to_csv() + str(table.attrs)


def test_json_with_nan_cpu_time_and_null() -> None:
    odd = result(1024, "nan", in_place={"cpu_time": 3.5, "alg_bw": 1.0, "bus_bw": 1.5, "nwrong": None})
    table, messages = read_warned(json.dumps(DOCUMENT | {"results": [odd]}) + "\n")
    assert us(table) == [pytest.approx(math.nan, nan_ok=True)]
    assert list(table["enqueue_seconds"]) == [3.5e-6]
    assert messages == ["<text>, line 1: no measured time for size 1024, out-of-place"]


def test_json_that_breaks_off_keeps_whole_results_and_no_secret() -> None:
    text = json.dumps(DOCUMENT)
    cut = text[: text.index('"size": 4096') + 60] + "\n"
    table, messages = read_warned(cut)
    assert us(table) == [20.5, 21.5, 22.25, 21.5]
    assert (only(table, "ranks"), only(table, "warmup_iterations")) == (4, 1)
    assert "JSON breaks here" in messages[0]
    for broken in (
        cut,
        json.dumps({"env": DOCUMENT["env"], "results": []}) + "\n",
        "AWS_SECRET_ACCESS_KEY=hunter2\n1\n",
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                said = str(read(broken).attrs)
            except OrreryError as error:
                said = str(error)
        assert "hunter2" not in said


def test_json_keyed_by_size() -> None:
    results = {
        str(size): {
            **{"count": size // 32, "type": "float", "redop": "none", "root": "-1", "oop_time": time},
            **{"oop_algbw": 22.455275, "oop_busbw": 19.648366, "oop_error": 0.0, "ip_time": 1459.5},
            **{"ip_algbw": 22.989390, "ip_busbw": 20.115716, "ip_error": "N/A"},
        }
        for size, time in ((33554432, 1494.25), (67108864, 2846.5))
    }
    document = {"identifier": "nccl-tests structured output", "version": "2.26.6", "benchmark": [results]}
    table = read(f"WARNING: no fork\nNCCL version 2.26.6\n[1,0]<stdout>:{json.dumps(document)}\n")
    assert us(table) == [1494.25, 1459.5, 2846.5, 1459.5]
    assert list(table["n"]) == [4194304, 4194304, 8388608, 8388608]
    assert (only(table, "collective"), only(table, "ranks"), only(table, "library")) == ("alltoall", 8, "NCCL 2.26.6")


def record(size: int, in_place: int, time: float, **more: object) -> str:
    names = {"#wrong": "0", "algBw": 0.5, "busBw": 0.75, "gpus": 4, "inPlace": in_place, "name": "AllReduce"}
    return json.dumps(names | {"redop": "sum", "size": size, "time": time, "type": "float"} | more)


def test_records_of_rccl_tests() -> None:
    lines = [record(1024, 0, 19.25), record(1024, 1, 19.5), record(2048, 0, 20.75)]
    for text in ("\n".join(lines) + "\n", "[\n" + ",\n".join(lines) + "\n]\n"):
        table = read(text)
        assert us(table) == [19.25, 19.5, 20.75]
        assert list(table["in_place"]) == [False, True, False]
        assert (only(table, "ranks"), only(table, "wrong"), only(table, "table")) == (4, 0, 0)
        assert list(table["line"] - table["line"][0]) == [0, 0, 1] or list(table["line"] - table["line"][0]) == [
            0,
            1,
            2,
        ]
    mpi = record(1024, 0, 19.25, ranks=2, gpusPerRank=4, wrong="N/A")
    table = read(mpi.replace('"gpus": 4, ', "").replace('"#wrong": "0", ', "") + "\n")
    assert only(table, "ranks") == 8
    assert table["wrong"].isna().all()


@pytest.mark.parametrize(
    "damaged",
    [
        record(4096, 0, 1)[:-9],
        record(4096, 0, 1).replace("4096", "-4"),
        record(4096, 0, 1).replace('"time": 1', '"time": [1]'),
    ],
)
def test_broken_records_are_named(damaged: str) -> None:
    table, messages = read_warned(f"{record(1024, 0, 19.25)}\n{damaged}\n{record(2048, 0, 20.5)}\n")
    assert us(table) == [19.25, 20.5]
    assert [message.split(":")[0] for message in messages] == ["<text>, line 2"]


def test_numbers_without_end_and_depth_are_no_crash() -> None:
    for text in ('{"algBw":' * 3000, '[{"algBw":' + "9" * 5000 + "}", '{"size": ' + "9" * 400 + ', "algBw": 1}'):
        with pytest.raises(FormatError, match="no measured row"):
            read(text + "\n")


# --- CSV ---


def test_csv_with_names_that_come_twice() -> None:
    names = "size,count,type,redop,root,time,algbw,busbw,#wrong,time,algbw,busbw,#wrong"
    rows = "1024,256,float,sum,-1,12.25,0.08,0.15,0,12.5,0.08,0.15,0\n"
    rows += "2048,512,float,sum,-1,13,0.08,0.15,0,14,0.1,0.2,N/A\n"
    renamed = names.replace("time,", "time.1,").replace("time.1,", "time,", 1)
    units = names.replace("size", "size (B)").replace("time", "time (us)").replace("algbw", "algbw (GB/s)")
    for header in (names, renamed, units, names.replace(",", ", "), names.replace("size", '"size"')):
        table = read(f"{header}\n{rows}")
        assert us(table) == [12.25, 12.5, 13, 14]
        assert list(table["in_place"]) == [False, True, False, True]
        assert only(table, "collective") == "allreduce"
    table = read((names + "\n" + rows).replace(",", ";").replace("time", "time_ms"))
    assert us(table) == [12250, 12500, 13000, 14000]


def test_csv_of_rccl_tests_leaves_nodes_out_of_its_header() -> None:
    header = "numCycle,collective,ranks,rankspernode,gpusperrank,size,type,redop,inplace,time,algbw,busbw,#wrong\n"
    line = '0,"AllGather",1,8,8,1,1024,"float","none",{},{},0.05,0.05,"0"\n'
    table = read(header + line.format(0, 19.25) + line.format(1, 19.5))
    assert us(table) == [19.25, 19.5]
    assert list(table["in_place"]) == [False, True]
    assert (only(table, "ranks"), only(table, "n"), only(table, "collective")) == (8, 128, "allgather")


def test_broken_csv_rows_are_named() -> None:
    text = "size,time,algbw,busbw\n1024,12.5,1,1\n2048,x,1,1\n4096,14.5\n1_0,14.5,1,1\n8192,15.5,1,1,7\n"
    table, messages = read_warned(text)
    assert us(table) == [12.5, 15.5]
    assert [message.split(":")[0] for message in messages] == [f"<text>, line {at}" for at in (3, 4, 5, 6)]


# --- mutations ---

NOISE = ["", "n1:1:2 [0] NCCL INFO Connected all rings", "```", "srun: error: n1: task 0", "#", "{", "12:30:01"]


@st.composite
def logs(draw: st.DrawFn) -> list[tuple[str, bool]]:
    """Return the lines of a log, each with True if it is a row or a record."""
    lines: list[tuple[str, bool]] = []
    prefix = draw(st.sampled_from(["", "", "[1,0]<stdout>:", " 0: "]))
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(["text", "old", "json", "csv"]))
        times = draw(st.lists(st.integers(100, 10**6), min_size=1, max_size=6))
        if kind == "json":
            lines += [(record(2**at, 0, time / 100), True) for at, time in enumerate(times)]
            continue
        half = [f"{time / 100:.2f} {at:.2f} {1.5 * at:.2f} 0" for at, time in enumerate(times, 1)]
        cells = [f"{2**at * 4} {2**at} float sum {{}}{one} {one}" for at, one in enumerate(half)]
        if kind == "csv":
            lines.append(("size,count,type,redop,time,algbw,busbw,#wrong,time,algbw,busbw,#wrong", False))
            lines += [(cell.format("").replace(" ", ","), True) for cell in cells]
        else:
            lines += [
                (line, False) for line in (SETTINGS + devices(2) + HEADER if kind == "text" else OLD).splitlines()
            ]
            lines += [(" " * 8 + cell.format("-1 " if kind == "text" else ""), True) for cell in cells]
    return [(prefix + line, is_row) for line, is_row in lines]


@st.composite
def mutated(draw: st.DrawFn) -> tuple[str, list[int]]:
    """Return a damaged log and the line numbers of the rows that are whole."""
    lines = draw(logs())
    for _ in range(draw(st.integers(0, 5))):
        at = draw(st.integers(0, len(lines) - 1))
        line, is_row = lines[at]
        kind = draw(st.sampled_from(["noise", "drop", "change", "cut", "double", "join"]))
        if kind == "noise":
            lines.insert(at, (draw(st.sampled_from(NOISE)), False))
        elif kind == "drop" and len(lines) > 1 and is_row:
            del lines[at]
        elif kind == "change" and line and is_row:
            spot = draw(st.integers(0, len(line) - 1))
            lines[at] = (
                line[:spot] + draw(st.characters(codec="utf-8", exclude_characters="\n")) + line[spot + 1 :],
                False,
            )
        elif kind == "cut" and is_row:
            lines[at] = (line[: draw(st.integers(0, len(line)))], False)
        elif kind == "double":
            lines.insert(at, lines[at])
        elif kind == "join" and at + 1 < len(lines) and is_row:
            lines[at : at + 2] = [(line + lines[at + 1][0], False)]
    whole = [number for number, (_, is_row) in enumerate(lines, 1) if is_row]
    return "".join(line + "\n" for line, _ in lines), whole


def outcome(source: str | bytes) -> tuple[set[int], str]:
    """Return the lines that were read or named, or the message of the error."""
    try:
        table, _ = read_warned(source)
    except OrreryError as error:
        return set(), str(error)
    return set(table["line"]) | {problem.line for problem in table.attrs["warnings"]}, ""


@hypothesis.given(mutated())
@hypothesis.settings(max_examples=100, deadline=None, suppress_health_check=list(hypothesis.HealthCheck))
def test_whole_rows_are_read_or_named(case: tuple[str, list[int]]) -> None:
    text, whole = case
    known, refusal = outcome(text.encode())
    assert set(whole) <= known or (refusal and not whole)


@hypothesis.given(st.text(alphabet='# sizecountfloatsumtimealgbwbusbw\n0123456789.-,"{}[]:N/A') | st.binary())
@hypothesis.settings(max_examples=100, deadline=None, suppress_health_check=list(hypothesis.HealthCheck))
def test_any_text_gives_a_table_or_the_error(text: str | bytes) -> None:
    for source in (text, f"{ALLREDUCE}{text!s}", f"{text!s}\n{ALLREDUCE}", f"{record(1, 0, 1)}\n{text!s}\n"):
        read_or_named, refusal = outcome(source)
        assert read_or_named or refusal


def test_ranks_stay_open_where_a_busbw_is_twice_its_algbw() -> None:
    table = read(HEADER + "8 2 float sum -1 1.00 1.00 1.50 0 1.00 1.00 3.00 0\n")
    assert list(table["collective"]) == ["allreduce"] * 2
    assert table["ranks"].isna().all()


def test_a_row_that_ends_before_its_type_is_named() -> None:
    table, messages = read_warned(f"{HEADER}{row(1024, 256)}        2048         512\n{row(4096, 1024)}")
    assert len(table) == 4
    assert ["row breaks off" in message for message in messages] == [True]


def test_of_a_last_row_that_is_cut_the_whole_result_is_kept() -> None:
    head = "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
    whole = "8 2 float sum -1 5.00 0.10 0.20 0 6.00 0.10 0.20 0\n"
    for cut, points_ in (("7.00 0.10 0.20 0 8.00 0.03", 3), ("7.00 0.03", 2)):
        with pytest.warns(LogWarning, match="line 3: row breaks off"):
            table = read(f"{head}{whole}16 4 float sum -1 {cut}")
        assert len(table) == points_
