"""OSU micro-benchmarks: titles, headers, rows, and what stands between them."""

from __future__ import annotations

import math
import warnings

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest

from orrery_analytic.errors import FormatError, OrreryError
from orrery_analytic.logs import LogWarning, read

LATENCY = """# OSU MPI Latency Test v5.8
# Size          Latency (us)
0                       1.50
8                       2.25
4096                   10.75
"""


def points(table: pd.DataFrame, column: str = "seconds") -> list[tuple[float, float]]:
    return [(float(size), float(value)) for size, value in zip(table["size"], table[column], strict=True)]


def us(*pairs: tuple[float, float]) -> list[tuple[float, float]]:
    return [(size, value / 1e6) for size, value in pairs]


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


def test_point_to_point_latency() -> None:
    table = read(LATENCY)
    assert points(table) == us((0, 1.5), (8, 2.25), (4096, 10.75))
    assert list(table["n"]) == [0, 8, 4096]
    assert list(table["line"]) == [3, 4, 5]
    assert only(table, "file") == "<text>"
    assert only(table, "table") == 0
    assert only(table, "benchmark") == "osu_latency"
    assert only(table, "version") == "5.8"
    assert only(table, "collective") == "p2p"
    assert only(table, "ranks") == 2
    assert only(table, "buffers") == "host"


def test_a_title_without_rows_says_what_stopped_them() -> None:
    with pytest.raises(FormatError, match=r"looks like OSU .*line 1.* Line 3: row breaks off: '1024'"):
        read("# OSU MPI Latency Test v5.8\n# Size  Latency (us)\n1024\n")


# --- titles ---


@pytest.mark.parametrize(
    ("title", "program", "collective", "version"),
    [
        ("# OSU MPI-CUDA Allreduce Latency Test v5.7", "osu_allreduce", "allreduce", "5.7"),
        ("# OSU MPI All-to-All Personalized Exchange Latency Test v7.5", "osu_alltoall", "alltoall", "7.5"),
        ("# OSU MPI All-to-Allv Personalized Exchange Latency Test v7.5", "osu_alltoallv", "alltoallv", "7.5"),
        ("# OSU MPI-ROCM Broadcast Latency Test v7.5.2", "osu_bcast", "bcast", "7.5.2"),
        ("# OSU MPI Reduce_scatter Latency Test v5.3", "osu_reduce_scatter", "reduce_scatter", "5.3"),
        ("# OSU MPI Reduce_scatter_block Latency Test v7.4", "osu_reduce_scatter_block", "reduce_scatter_block", "7.4"),
        ("# OSU MPI Allgather Persistent Latency Test v7.4", "osu_allgather_persistent", "allgather_init", "7.4"),
        ("# OSU MPI Neighborhood Allgather Latency Test v7.4", "osu_neighbor_allgather", "neighbor_allgather", "7.4"),
        ("# OSU XCCL-CUDA Allreduce Latency Test v7.5", "osu_xccl_allreduce", "allreduce", "7.5"),
        ("# OSU MPI_Get latency Test v5.8", "osu_get_latency", "get", "5.8"),
        ("# OSU MPI Multi-threaded Latency Test v5.6", "osu_latency_mt", "p2p", "5.6"),
        ("# OSU MPI Latency Test (Version 2.1)", "osu_latency", "p2p", "2.1"),
        ("OSU MPI Latency Test v5.8", "osu_latency", "p2p", "5.8"),
        ("# OMB Python MPI Latency Test", "osu_latency", "p2p", math.nan),
        ("# OSU MPI Wonder Latency Test v9", "MPI Wonder Latency", math.nan, "9"),
    ],
)
def test_titles(title: str, program: str, collective: object, version: object) -> None:
    table = read(f"{title}\n# Size       Avg Latency(us)\n8                       2.25\n")
    assert points(table) == us((8, 2.25))
    for column, expected in [("benchmark", program), ("collective", collective), ("version", version)]:
        assert only(table, column) == expected or (expected is math.nan and table[column].isna().all())


@pytest.mark.parametrize("title", ["Bandwidth", "Bi-Directional Bandwidth"])
def test_bandwidth_is_in_bytes_per_second(title: str) -> None:
    table = read(f"# OSU MPI {title} Test v7.2\n# Size   Bandwidth (MB/s)\n# Datatype: MPI_CHAR.\n1 0.50\n64 12.75\n")
    assert points(table, "bandwidth_bytes_per_s") == [(1, 0.5e6), (64, 12.75e6)]
    assert only(table, "benchmark") == ("osu_bibw" if "Bi" in title else "osu_bw")
    assert only(table, "datatype") == "MPI_CHAR"
    assert table["seconds"].isna().all()


def test_message_rate_of_several_pairs() -> None:
    title = "# OSU MPI Multiple Bandwidth / Message Rate Test v7.1\n"
    table = read(
        f"{title}{title}\n# [ pairs: 3 ] [ window size: 64 ]\n# Size     MB/s     Messages/s\n# Datatype: MPI_CHAR.\n"
        "1 6.50 6500000.25\n2 13.00 6500000.00\n4 2.5e+01 6.25E6\n"
    )
    assert points(table, "bandwidth_bytes_per_s") == [(1, 6.5e6), (2, 13e6), (4, 25e6)]
    assert list(table["messages_per_s"]) == [6500000.25, 6500000.0, 6.25e6]
    assert only(table, "ranks") == 6


def test_a_barrier_has_no_size() -> None:
    noise = "3 ranks late\n"
    table, _ = read_warned(
        f"# OSU MPI Barrier Latency Test v5.8\n# Avg Latency(us)\n             8.50\n{noise}12 1.00\n"
    )
    assert list(table["seconds"]) == [8.5e-6]
    assert table["size"].isna().all()
    assert only(table, "n") == 0
    header = "# Avg Latency(us) Min Latency(us) Max Latency(us) Iterations"
    table = read(f"# OSU MPI Barrier Latency Test v7\n{header}\n 8.5 7.5 9.5 10\n")
    assert list(table["max_seconds"]) == [9.5e-6]


def test_non_blocking_time_is_the_pure_communication() -> None:
    table = read(
        "# OSU MPI Non-blocking Allreduce Latency Test v7.5\n# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait\n\n"
        "# Datatype: MPI_INT.\n# Size    Overall(us)    Compute(us)    Pure Comm.(us)    Overlap(%)\n"
        "4 11.00 6.00 5.25 4.50\n8 10.00 6.00 5.00 20.00\n16 9.00 5.00 4.00 0.00\n"
    )
    assert points(table) == us((4, 5.25), (8, 5), (16, 4))
    assert list(table["overall_seconds"]) == [11e-6, 10e-6, 9e-6]
    assert list(table["compute_seconds"]) == [6e-6, 6e-6, 5e-6]
    assert list(table["overlap"]) == [0.045, 0.2, 0]
    assert only(table, "collective") == "iallreduce"


def test_non_blocking_in_full() -> None:
    header = "# Size Overall(us) Compute(us) Coll. Init(us) MPI_Test(us) MPI_Wait(us) Pure Comm.(us) Min Comm.(us)"
    table = read(
        f"# OSU MPI Non-blocking Barrier Latency Test v7.4\n{header} Max Comm.(us) Overlap(%)\n4 9 8 1 2 3 5 4 6 50\n"
    )
    assert points(table) == us((4, 5))
    assert only(table, "min_seconds") == 4e-6
    assert only(table, "max_seconds") == 6e-6


# --- buffers and ranks ---


@pytest.mark.parametrize(
    ("letters", "buffers"),
    [
        (("DEVICE (D)", "DEVICE (D)"), "device"),
        (("HOST (H)", "HOST (H)"), "host"),
        (("HOST (H)", "DEVICE (D)"), "mixed"),
        (("MANAGED (MD)", "MANAGED (MD)"), "managed"),
    ],
)
def test_the_buffer_line_decides_and_not_the_title(letters: tuple[str, str], buffers: str) -> None:
    line = f"# Send Buffer on {letters[0]} and Receive Buffer on {letters[1]}\n"
    table = read(f"# OSU MPI-CUDA Latency Test v5.8\n{line}# Size          Latency (us)\n8 2.25\n")
    assert only(table, "buffers") == buffers
    assert only(table, "send_buffer") == letters[0].split()[0].lower()
    assert only(table, "recv_buffer") == letters[1].split()[0].lower()


@pytest.mark.parametrize(
    ("title", "buffers"),
    [
        ("MPI Allreduce Latency", "host"),
        ("MPI-ROCM Allreduce Latency", "device"),
        ("MPI-CUDA MANAGED Allreduce Latency", "managed"),
        ("MPI Latency", "host"),
        ("MPI-CUDA Latency", math.nan),
        ("MPI_Get-CUDA Bandwidth", math.nan),
    ],
)
def test_buffers_without_a_buffer_line(title: str, buffers: object) -> None:
    table = read(f"# OSU {title} Test v7.5\n# Size       Avg Latency(us)\n8 2.25\n")
    assert only(table, "buffers") == buffers or (buffers is math.nan and table["buffers"].isna().all())


@pytest.mark.parametrize(
    ("before", "ranks", "buffers"),
    [
        ("$ mpirun -np 96 --mca pml ob1 -x A=B osu_reduce -d cuda -f", 96, "device"),
        ("srun -n4 /opt/osu_bench/collective/osu_reduce", 4, "device"),
        ("srun -N2 --ntasks-per-node=4 --mpi=pmix ./osu_reduce", 8, "device"),
        ("srun -N2 ./osu_reduce", math.nan, "device"),
        ("mpirun -np 96 osu_allreduce", math.nan, "device"),
        ("I am 3 of 12: 1 on node7", 12, "device"),
        ("my notes on osu_reduce -n 4", math.nan, "device"),
    ],
)
def test_ranks_from_what_comes_before(before: str, ranks: float, buffers: str) -> None:
    table = read(f"{before}\n# OSU MPI-CUDA Reduce Latency Test v7.3\n# Size       Avg Latency(us)\n8 2.25\n")
    np.testing.assert_equal(only(table, "ranks"), ranks)
    assert only(table, "buffers") == buffers


def test_buffers_from_the_command_line_hold_for_one_title() -> None:
    text = "# OSU MPI-CUDA Bandwidth Test v7.5\n# Size      Bandwidth (MB/s)\n8 2.25\n"
    table = read(f"$ srun -N2 ./pt2pt/osu_bw --validation D H > log\n{text}{text}")
    assert table["send_buffer"][0] == "device"
    assert table["recv_buffer"][0] == "host"
    assert table["buffers"][0] == "mixed"
    assert list(table["buffers"].isna()) == [False, True]


# --- what stands around the rows ---


@pytest.mark.parametrize(
    "prefix",
    ["[0] ", "0: ", "  0: ", "[1,0]<stdout>:", "(head, rank=0, pid=38) [1,0]<stdout>: ", "[prte-n1-38@1,0]<stdout>: "],
)
def test_prefixes_of_launchers(prefix: str) -> None:
    table = read("".join(f"{prefix}{line}\n" for line in LATENCY.splitlines()))
    assert points(table) == us((0, 1.5), (8, 2.25), (4096, 10.75))


@pytest.mark.parametrize(
    "prefix",
    ["00:55:22 ", "2024-08-27T10:11:12.345Z ", "[2024-08-27 10:11:12] ", "> > ", "        ", "\t", "\x1b[32m"],
)
def test_prefixes_of_time_and_quotation(prefix: str) -> None:
    table = read("".join(f"{prefix}{line}\n" for line in LATENCY.splitlines()))
    assert points(table) == us((0, 1.5), (8, 2.25), (4096, 10.75))


def test_noise_between_rows_is_left_out_without_a_word() -> None:
    noise = [
        "[n1.cluster:mpi_rank_0][dreg_register] [Performance Impact Warning]: Entries are being evicted",
        "[1701292112.829711] [n1:162239:0]   ucp_worker.c:1855 UCX  INFO  0x10 inter-node cfg#3 tag(rc_mlx5/mlx5_0:1)",
        "1 more process has sent help message help-mpi-btl-openib.txt / error in device init",
        "CUDA_VISIBLE_DEVICES=2",
        '{"timestamp":1724827806.26,"name":"init"}',
        "0.035s: flux-shell[1]: ERROR: host n1: Could not change dir",
        "# a comment of somebody",
        "```",
        "real\t0m7.045s",
    ]
    first, *others = LATENCY.splitlines()
    text = "\n".join([*noise, first, *(part for line in others for part in (*noise, line)), *noise])
    assert points(read(text)) == us((0, 1.5), (8, 2.25), (4096, 10.75))


def test_several_tables_in_a_file() -> None:
    other = "# OSU MPI-CUDA Allreduce Latency Test v5.7\n# Size  Avg Latency(us)\n4 30.50\n"
    again = "# Datatype: MPI_INT.\n# Size  Avg Latency(us)\n4 40.25\n"
    table = read(f"Some text\n\n{LATENCY}\nMore\n{other}{again}```\n")
    assert list(table["table"]) == [0, 0, 0, 1, 2]
    assert list(table["line"]) == [5, 6, 7, 12, 15]
    assert points(table)[3:] == us((4, 30.5), (4, 40.25))
    assert list(table["collective"]) == ["p2p"] * 3 + ["allreduce"] * 2
    assert list(table["datatype"].fillna("")) == ["", "", "", "", "MPI_INT"]


def test_rows_of_another_tool_are_not_taken() -> None:
    table, messages = read_warned(
        f"{LATENCY}#       size   count  type  redop  time\n  8192   2048  float  sum  33.50\n"
    )
    assert len(table) == 3
    assert len(messages) == 1
    assert "8192" in messages[0]


def test_a_title_without_a_table_is_named() -> None:
    table, messages = read_warned(f"# OSU MPI Init Test v7.5\nnprocs: 144, min: 2032 ms, max: 2054 ms\n{LATENCY}")
    assert len(table) == 3
    assert messages == ["<text>, line 1: no measured row under: '# OSU MPI Init Test v7.5'"]


@pytest.mark.parametrize("header", ["# Size          Latency (us)\n", "# OSU MPI Latency Test v5.8\n"])
def test_half_of_the_heading_is_enough(header: str) -> None:
    assert points(read(LATENCY.replace(header, ""))) == us((0, 1.5), (8, 2.25), (4096, 10.75))


@pytest.mark.parametrize(
    "header", ["# Sixe  Latency (us)", "# Size  Lxtency (us)", "Size  Latency (us)", "#Size\tLatency (us)"]
)
def test_mangled_headers(header: str) -> None:
    table = read(LATENCY.replace("# Size          Latency (us)", header))
    assert points(table) == us((0, 1.5), (8, 2.25), (4096, 10.75))


# --- rows ---

FULL = "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations"


@pytest.mark.parametrize("header", [FULL, "# Size       Avg Latency(us)"])
def test_full_rows_also_under_a_short_header(header: str) -> None:
    table = read(f"# OSU MPI Reduce Latency Test v7.3\n{header}\n1 50.50 18.25 89.75 1000\n2 50.00 18.00 88.50 100\n")
    assert points(table) == us((1, 50.5), (2, 50))
    assert points(table, "min_seconds") == us((1, 18.25), (2, 18))
    assert points(table, "max_seconds") == us((1, 89.75), (2, 88.5))
    assert list(table["iterations"]) == [1000, 100]


def test_columns_merged_by_hand_give_the_first_and_a_warning() -> None:
    text = "# OSU MPI-ROCM Broadcast Latency Test v7.5\n# Size  Avg Latency(us)\n# procs   16   16   32   32\n"
    table, messages = read_warned(f"{text}1  12.25  2.75\t 14.50  3.50\n2  17.00  4.25\t 21.75  4.75\n")
    assert points(table) == us((1, 12.25), (2, 17))
    assert [message[:62] for message in messages] == [
        "<text>, line 4: 4 values where the header names 1: '1 12.25 2.",
        "<text>, line 5: 4 values where the header names 1: '2 17.00 4.",
    ]


def test_validation_and_percentiles() -> None:
    header = (
        "# Size Avg Latency(us) Min Latency(us) Max Latency(us) Iterations Validation P50 Tail Lat(us) P99 Tail Lat(us)"
    )
    table = read(
        f"# OSU MPI Bcast Latency Test v7.4\n{header}\n1 5.5 4.5 6.5 100 Pass 5.0 6.0\n2 6.5 5.5 7.5 100 Fail 6.0 7.0\n"
    )
    assert points(table) == us((1, 5.5), (2, 6.5))
    assert points(table, "max_seconds") == us((1, 6.5), (2, 7.5))
    assert list(table["validation"]) == ["pass", "fail"]


def test_remarks_exponents_and_repeated_sizes() -> None:
    rows = "0 0.95\n0 1.05\n512 8.50   ← UCX switch (eager → rendezvous)\n4194304 1.25e+03\n"
    table = read(f"# OSU MPI-ROCM Latency Test v7.5\n# Size       Avg Latency(us)\n{rows}")
    assert points(table) == us((0, 0.95), (0, 1.05), (512, 8.5), (4194304, 1250))


def test_what_is_not_measured_is_nan_or_no_row() -> None:
    text = f"# OSU MPI Reduce Latency Test v5\n{FULL}\n1 2.50 N/A nan 100\n2 N/A 1 2 100\n4 -nan 1 2 100\n8 inf 1 2 1\n"
    table, messages = read_warned(text)
    assert points(table) == us((1, 2.5))
    assert table["min_seconds"].isna().all()
    assert [message.split(":")[0] for message in messages] == [f"<text>, line {line}" for line in (4, 5, 6)]


@pytest.mark.parametrize("tail", ["8192", "8192  ", "8192   1", "8192   10.", "8192   10.7", "81"])
def test_a_truncated_last_row_is_a_warning(tail: str) -> None:
    table, messages = read_warned(LATENCY + tail)
    assert points(table) == us((0, 1.5), (8, 2.25), (4096, 10.75))
    assert messages == [f"<text>, line 6: row breaks off: {tail.strip()!r}".replace("   ", " ")]


def test_a_last_row_without_a_line_feed_is_whole() -> None:
    assert len(read(LATENCY.rstrip("\n"))) == 3


@pytest.mark.parametrize(
    "line",
    [
        "8192 2.x5",
        "8192",
        "8l92 2.50",
        "8192 -2.50",
        "-8192 2.50",
        "8192.2.50",
        "8192 2,50",
        "8192 1_0",
        "8192 4 ranks",
    ],
)
def test_broken_rows_are_named(line: str) -> None:
    table, messages = read_warned(f"{LATENCY}{line}\n16384 40.50\n")
    assert points(table)[3:] == us((16384, 40.5))
    assert [message.split(":")[0] for message in messages] == ["<text>, line 6"]


@pytest.mark.parametrize("line", ["node7: 8192 2.50", "garbage8192   2.50 Pass", "8192 2.50x", "9" * 400 + " 1.00"])
def test_lines_that_look_like_rows_are_named(line: str) -> None:
    table, messages = read_warned(f"{LATENCY}{line}\n16384 40.50\n")
    assert points(table)[3:] == us((16384, 40.5))
    assert [message.split(":")[0] for message in messages] == ["<text>, line 6"]


def test_short_rows_keep_what_they_have() -> None:
    table, messages = read_warned(
        f"# OSU MPI Reduce Latency Test v5\n{FULL}\n1 2.50\n2 3.50 1 4 100\n4 4.50 1x\n8 5.5 1 9"
    )
    assert points(table) == us((1, 2.5), (2, 3.5))
    assert list(table["iterations"].isna()) == [True, False]
    assert [message.split(":")[0] for message in messages] == [f"<text>, line {line}" for line in (3, 5, 6)]


def test_rows_that_lost_their_heading_are_named() -> None:
    table, messages = read_warned(f"64 9.25\n{LATENCY}4 3.50\n8 4.50\n")
    assert points(table)[3:] == us((4, 3.5), (8, 4.5))
    assert messages[0] == "<text>, line 1: a row without its title or header above it: '64 9.25'"
    assert messages[1].startswith("<text>, line 7: sizes start again without a header")
    _, messages = read_warned(f"{LATENCY}# OSU MPI Non-blocking Bcast Latency Test v5\n4 3.50 1 2 3\n8\n")
    assert [message.split(":")[0] for message in messages] == [f"<text>, line {line}" for line in (6, 7, 8)]
    assert "no header says what this row measures" in messages[1]


# --- mutations ---

NOISE = [
    "",
    "[n1:31808] *** Process received signal ***",
    "```",
    "srun: error: n1: task 0",
    "# UCX  WARN",
    "12:30:01",
    "{",
]
TITLES = ["MPI", "MPI-CUDA Allreduce", "MPI Non-blocking Bcast", "MPI Barrier", "MPI Multiple Bandwidth / Message Rate"]
HEADERS = [
    ("# Size          Latency (us)", 1),
    ("# Size       Avg Latency(us)", 4),
    (FULL, 4),
    ("# Size      Bandwidth (MB/s)        Validation", 1),
    ("# Size           Overall(us)       Compute(us)    Pure Comm.(us)        Overlap(%)", 4),
    ("# Size                  MB/s        Messages/s", 2),
]


@st.composite
def logs(draw: st.DrawFn) -> list[tuple[str, bool]]:
    """Return the lines of a log, each with True if it is a row."""
    lines: list[tuple[str, bool]] = []
    prefix = draw(st.sampled_from(["", "", "[0] ", " 0: ", "[1,0]<stdout>:", "    "]))
    for _ in range(draw(st.integers(1, 3))):
        header, width = draw(st.sampled_from(HEADERS))
        lines += [
            (f"# OSU {draw(st.sampled_from(TITLES))} Latency Test v{draw(st.integers(4, 7))}.1", False),
            (header, False),
        ]
        for size in range(draw(st.integers(1, 8))):
            mean = draw(st.integers(200, 10**6)) / 100
            values = [f"{mean:18.2f}", f"{mean - 1:18.2f}", f"{mean + 1:18.2f}", f"{1000:12d}"][:width]
            verdict = "              Pass" if "Validation" in header else ""
            lines.append((f"{2**size:<10d}{''.join(values)}{verdict}", True))
    return [(prefix + line, row) for line, row in lines]


@st.composite
def mutated(draw: st.DrawFn) -> tuple[str, list[int]]:
    """Return a damaged log and the line numbers of the rows that are whole."""
    lines = draw(logs())
    for _ in range(draw(st.integers(0, 6))):
        at = draw(st.integers(0, len(lines) - 1))
        line, _ = lines[at]
        kind = draw(st.sampled_from(["noise", "drop", "change", "cut", "double", "join", "prefix"]))
        if kind == "noise":
            lines.insert(at, (draw(st.sampled_from(NOISE)), False))
        elif kind == "drop" and len(lines) > 1:
            del lines[at]
        elif kind == "change" and line:
            place = draw(st.integers(0, len(line) - 1))
            lines[at] = (line[:place] + draw(st.characters(codec="utf-8")) + line[place + 1 :], False)
        elif kind == "cut":
            lines[at] = (line[: draw(st.integers(0, len(line)))], False)
        elif kind == "double":
            lines.insert(at, lines[at])
        elif kind == "join" and at + 1 < len(lines):
            lines[at : at + 2] = [(line + lines[at + 1][0], False)]
        elif kind == "prefix":
            lines[at] = (draw(st.sampled_from(["[3] ", "12: ", "node7: ", "> "])) + line, False)
    text, whole = "", []
    for line, row in lines:
        if row:
            whole.append(text.count("\n") + 1)
        text += line + "\n"
    return text[: -draw(st.integers(0, 1)) or None], whole


def outcome(source: str | bytes) -> tuple[set[int], str]:
    """Return the lines that were read or named, or the message of the error."""
    try:
        table, _ = read_warned(source)
    except OrreryError as error:
        return set(), str(error)
    return set(table["line"]) | {problem.line for problem in table.attrs["warnings"]}, ""


@hypothesis.given(mutated())
@hypothesis.settings(max_examples=300, deadline=None, suppress_health_check=list(hypothesis.HealthCheck))
def test_whole_rows_are_read_or_named(case: tuple[str, list[int]]) -> None:
    text, whole = case
    known, refusal = outcome(text.encode())
    assert set(whole) <= known or "It begins with line" in refusal


@hypothesis.given(st.text() | st.binary() | st.text(alphabet="# OSUMPITest Size Latency(us)\n0123456789.[]:-"))
@hypothesis.settings(max_examples=200, deadline=None)
def test_any_text_gives_a_table_or_the_error(text: str | bytes) -> None:
    for source in (text, f"{LATENCY}{text!s}", f"{text!s}\n{LATENCY}"):
        read_or_named, refusal = outcome(source)
        assert read_or_named or refusal


def test_a_broken_value_is_told_and_never_shifts_the_others() -> None:
    rows = "1 2.5 1.5 3.5 100\n2 abc 2.5 4.5 100\n4 3.5 2.5 100\n8 999.5 3.5 5.5 100\n"
    text = f"# OSU MPI Reduce Latency Test v5\n{FULL}\n{rows}"
    table, messages = read_warned(text)
    assert points(table) == us((1, 2.5), (4, 3.5), (8, 999.5))
    assert table["max_seconds"].isna().tolist() == [False, True, False]
    assert [message.split(":")[0] for message in messages] == [f"<text>, line {line}" for line in (4, 5, 6)]


@pytest.mark.parametrize("end", ["", "\r"])
def test_a_long_table_is_read_as_its_rows_are(end: str) -> None:
    rows = [f"{size}   {1 + size / 7:.2f}{end}" for size in range(5000)]
    rows[3000], rows[4000] = "12 x", "7  1.00"
    table, caught = read_warned("\n".join([*LATENCY.splitlines()[:2], *rows]) + "\n")
    expected = [row.split() for row in rows if row != "12 x"]
    assert points(table) == [(float(size), float(time) / 1e6) for size, time in expected]
    assert list(table["line"]) == [3 + at for at, row in enumerate(rows) if row != "12 x"]
    assert [text.split(": ")[0] for text in caught] == ["<text>, line 3003", "<text>, line 4003"]


def test_a_long_table_that_is_cut() -> None:
    table, caught = read_warned(LATENCY + "8192 11.25\n" * 500 + "8192 1")
    assert len(table) == 503
    assert "line 506: row breaks off" in caught[0]


@pytest.mark.parametrize(
    ("header", "column", "value"),
    [
        ("# Size Latency (ms)", "seconds", 1.5e-3),
        ("# Size Latency (s)", "seconds", 1.5),
        ("# Size Bandwidth (GB/s)", "bandwidth_bytes_per_s", 1.5e9),
        ("# Size Bandwidth (MiB/s)", "bandwidth_bytes_per_s", 1.5 * 2**20),
    ],
)
def test_another_unit_is_converted(header: str, column: str, value: float) -> None:
    table = read(f"# OSU MPI Latency Test v5.9\n{header}\n8 1.50\n16 1.50\n32 1.50\n")
    assert list(table[column]) == pytest.approx([value] * 3, rel=1e-15)
    assert list(table["size"]) == [8, 16, 32]


def test_each_column_has_its_own_unit() -> None:
    head = "# OSU MPI Allreduce Latency Test v5.9\n# Size Avg Latency(ms) Min Latency(us) Max Latency(s) Iterations\n"
    row = read(f"{head}8 1.50 20.00 3.00 100\n").iloc[0]
    expected = [1.5e-3, 2e-5, 3.0, 100]
    assert list(row[["seconds", "min_seconds", "max_seconds", "iterations"]]) == pytest.approx(expected)


def test_the_unit_of_a_header_holds_for_all_times_of_a_row() -> None:
    row = read("# OSU MPI Allreduce Latency Test v5.9\n# Size Avg Latency(ms)\n8 1.50 1.00 3.00 100\n").iloc[0]
    assert list(row[["seconds", "min_seconds", "max_seconds", "iterations"]]) == pytest.approx(
        [1.5e-3, 1e-3, 3e-3, 100]
    )


@pytest.mark.parametrize("header", ["# Size Latency (GB/s)", "# Size Bandwidth (ms)", "# Size Bandwidth (gbps)"])
def test_under_a_unit_of_something_else_nothing_is_read(header: str) -> None:
    with pytest.raises(FormatError, match=r"the unit \(.*\) is not known: under it no row is read"):
        read(f"# OSU MPI Latency Test v5.9\n{header}\n8 1.50\n")


@pytest.mark.parametrize("family", ["NCCL", "XCCL-CUDA"])
def test_libraries_for_devices_take_device_buffers(family: str) -> None:
    allreduce = read(f"# OSU {family} Allreduce Latency Test v7.5\n# Size Avg Latency(us)\n8 1.50\n")
    latency = read(f"# OSU {family} Latency Test v7.5\n# Size Latency (us)\n8 1.50\n")
    assert [only(table, "buffers") for table in (allreduce, latency)] == ["device", "device"]
    assert [only(table, "collective") for table in (allreduce, latency)] == ["allreduce", "p2p"]
    assert only(latency, "ranks") == 2


def test_values_that_cannot_be_are_missing() -> None:
    head = "# OSU MPI Bcast Latency Test v5\n# Size Avg Latency(us) Min Latency(us) Max Latency(us) Iterations\n"
    table, caught = read_warned(head + "8 2.00 1.00 3.00 -5\n16 2.00 1.00 3.00 1e400\n")
    assert points(table) == us((8, 2), (16, 2))
    assert table["iterations"].isna().all()
    assert "a value is negative" in caught[0]
