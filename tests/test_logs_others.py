"""netgauge, Intel MPI Benchmarks, nvbandwidth, CUDA's bandwidth programs, PICO, and what is no log at all."""

from __future__ import annotations

import json
import math
import re
import warnings
from pathlib import Path

import hypothesis
import hypothesis.strategies as st
import pandas as pd
import pytest

from orrery_analytic.errors import FormatError, OrreryError
from orrery_analytic.logs import LogWarning, read

NETGAUGE = """# size n PRTT(1,0,s) PRTT(n,0,s) PRTT(n,PRTT(1,0,s),s) L o_s o_r g G lsqu(g,G)
# to get o: plot "./loggp.out" using 1:(($5-$3)/($2-1)-$3)
1 10 12.500000 21.250000 140.500000 6.250000 1.125000 1.250000 -nan -nan -nan
2 10 10.500000 20.500000 118.500000 6.250000 1.250000 1.125000 1.500000 0.001250 -nan
16777216 10 17430.250000 95456.500000 252305.500000 6.250000 8667.250000 8668.250000 -9.500000 0.000500 52.949713
"""
IMB = """#------------------------------------------------------------
#    Intel (R) MPI Benchmarks 4.1, MPI-1 part
#------------------------------------------------------------
# MPI_Datatype                   :   MPI_BYTE
# MPI_Datatype for reductions    :   MPI_FLOAT
# PingPong
# Allreduce

#---------------------------------------------------
# Benchmarking PingPong
# #processes = 2
# ( 6 additional processes waiting in MPI_Barrier)
#---------------------------------------------------
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         1000       155.82         0.00
      4194304           10     40000.00       100.00

#-----------------------------------------------------------------------------
# Benchmarking Exchange
# #processes = 8
#-----------------------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]   Mbytes/sec
      1048576           40     20000.00     40000.00     30000.00       100.00

#----------------------------------------------------------------
# Benchmarking Allreduce
# #processes = 8
#----------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            0         1000         0.32         0.34         0.33
            4         1000       290.25       290.75       290.50

#---------------------------------------------------
# Benchmarking Barrier
# #processes = 8
#---------------------------------------------------
 #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
         1000       287.25       287.75       287.50


# All processes entering MPI_Finalize
"""
NVBANDWIDTH = """nvbandwidth Version: v0.6
Built from Git version: v0.6

Device 0: Some GPU (00000000:01:00)

Running host_to_device_memcpy_ce.
memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)
           0         1
 0     25.50     26.50

SUM host_to_device_memcpy_ce 52.00

Running device_to_device_memcpy_read_ce.
memcpy CE GPU(row) <- GPU(column) bandwidth (GB/s)
           0         1
 0       N/A    276.25
 1    275.75       N/A

SUM device_to_device_memcpy_read_ce 552.00

Waived:
Running host_device_latency_sm.
memory latency SM CPU(row) <-> GPU(column) (ns)
           0         1
 0    772.50    780.25

SUM host_device_latency_sm 1552.75
"""
BANDWIDTH_TEST = """[CUDA Bandwidth Test] - Starting...
Running on...

 Device 0: Some GPU
 Quick Mode

 Host to Device Bandwidth, 1 Device(s)
 PINNED Memory Transfers
   Transfer Size (Bytes)\tBandwidth(GB/s)
   32000000\t\t\t12.3

 Device to Host Bandwidth, 1 Device(s)
 PAGEABLE Memory Transfers
   Transfer Size (Bytes)\tBandwidth(GB/s)
   1000\t\t\t\t0.5
   32000000\t\t\t6.7

Result = PASS
"""
SHMOO = """bandwidthTest-D2H-Pinned, Bandwidth = 0.5 GB/s, Time = 0.00000 s, Size = 1000 bytes, NumDevsUsed = 1
bandwidthTest-D2H-Pinned, Bandwidth = 12.5 GB/s, Time = 0.00512 s, Size = 64000000 bytes, NumDevsUsed = 1
bandwidthTest-D2D, Bandwidth = 640.0 MB/s, Time = 0.00100 s, Size = 671088 bytes, NumDevsUsed = 1
"""
P2P = """[P2P (Peer-to-Peer) GPU Bandwidth Latency Test]
Device: 0, Some GPU, pciBusID: 16, pciDeviceID: 0, pciDomainID:0
P2P Connectivity Matrix
     D\\D     0     1
     0\t     1     1
     1\t     1     1
Bidirectional P2P=Enabled Bandwidth Matrix (GB/s)
   D\\D     0      1
     0 780.50  96.25
     1  96.75 781.50
P2P=Enabled Latency (P2P Writes) Matrix (us)
   GPU     0      1
     0   1.50   2.25
     1   2.75   1.75

   CPU     0      1
     0   3.50   4.25
     1   4.75   3.25
"""
SUMMARY = """system,timestamp,test_id,nnodes,tasks_per_node,collective,mpi_lib,mpi_version,gpu_aware,algorithm,dtype,\
count_elements,n_iter_used,min_us,median_us,mean_us,p90_us
somewhere,2025_01_01,0,4,2,ALLGATHER,OMPI,4.1.6,yes,ring_ompi,int32,1024,1900,14.5,15.5,15.75,16.5
somewhere,2025_01_01,1,4,2,ALLREDUCE,OMPI,4.1.6,no,rabenseifner_ompi,int64,8,900,10.5,11.5,12.5,13.5
"""
RAW = "highest\n5064882\n673331\n578597\n"


def read_warned(source: object) -> tuple[pd.DataFrame, list[str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = read(source)
    assert {w.category for w in caught} <= {LogWarning}
    return table, [str(w.message) for w in caught]


def rows(table: pd.DataFrame, *columns: str) -> list[tuple[object, ...]]:
    return list(table[list(columns)].itertuples(index=False, name=None))


def us(*values: float) -> list[float]:
    return [value / 1e6 for value in values]


# --- netgauge ---


def test_netgauge_is_one_way_and_keeps_its_parameters() -> None:
    table = read(NETGAUGE)
    assert rows(table, "line", "size", "n") == [(3, 1, 1), (4, 2, 2), (5, 16777216, 16777216)]
    assert list(table["seconds"]) == us(6.25, 5.25, 8715.125)
    assert list(table["L"]) == us(6.25, 6.25, 6.25)
    assert list(table["o_send"]) == us(1.125, 1.25, 8667.25)
    assert table["g"].isna().tolist() == [True, False, False]
    assert table["g"][2] == -9.5 / 1e6  # kept as printed: whoever fits must see it
    assert table["G"][1] == 0.00125 / 1e6
    assert list(table["messages"]) == [10, 10, 10]
    assert list(table["train_seconds"]) == us(21.25, 20.5, 95456.5)
    assert set(table["benchmark"]) == {"netgauge LogGP"}


def test_netgauge_headers_that_lost_something() -> None:
    for changed in (NETGAUGE.replace("# size", "size", 1), NETGAUGE.replace("PRTT(n,0,s)", "PRTT(n,0;s)")):
        assert len(read(changed)) == 3
    table, messages = read_warned(NETGAUGE + "4 10 10.500000 20.500000\n8 10 11.5 20.5 118 6 1 1 1.5 0.001 1 7\n")
    assert list(table["seconds"][3:]) == us(5.25, 5.75)
    assert table["train_seconds"].isna().tolist() == [False, False, False, True, False]
    assert [message.split(":")[0] for message in messages] == ["<text>, line 6", "<text>, line 7"]


# --- Intel MPI Benchmarks ---


def test_imb_suite() -> None:
    table = read(IMB)
    assert rows(table, "benchmark", "collective", "ranks", "size", "n", "table")[:3] == [
        ("IMB PingPong", "p2p", 2, 0, 0, 0),
        ("IMB PingPong", "p2p", 2, 4194304, 4194304, 0),
        ("IMB Exchange", "exchange", 8, 1048576, 1048576, 1),
    ]
    assert list(table["seconds"]) == us(155.82, 40000, 30000, 0.33, 290.5, 287.5)
    assert list(table["min_seconds"][2:]) == us(20000, 0.32, 290.25, 287.25)
    assert list(table["iterations"]) == [1000, 10, 40, 1000, 1000, 1000]
    assert list(table["datatype"]) == ["MPI_BYTE"] * 3 + ["MPI_FLOAT"] * 2 + ["MPI_BYTE"]
    barrier = table.iloc[-1]
    assert (barrier["collective"], barrier["n"], math.isnan(barrier["size"])) == ("barrier", 0, True)


def test_imb_bandwidth_is_in_the_unit_that_its_rows_obey() -> None:
    # 4 MiB in 40 ms are 104.8576 MB/s or 100 MiB/s; Exchange counts four messages.
    assert list(read(IMB)["bandwidth_bytes_per_s"][1:3]) == [100 * 2.0**20, 100 * 2.0**20]
    new = IMB.replace("4.1", "2021.3").replace("100.00\n", "104.86\n")
    assert list(read(new)["bandwidth_bytes_per_s"][1:3]) == [104.86e6, 104.86e6]
    small = "       #bytes #repetitions      t[usec]   Mbytes/sec\n 1 1000 100.00 0.01\n"
    for version, unit in (("4.1", 2.0**20), ("2019 Update 6", 1e6), ("2018", 1e6)):
        title = f"#    Intel (R) MPI Benchmarks {version}, MPI-1 part\n# Benchmarking PingPong\n"
        assert list(read(title + small)["bandwidth_bytes_per_s"]) == [0.01 * unit]


def test_imb_without_headers_titles_and_with_other_columns() -> None:
    headless = "".join(line for line in IMB.splitlines(keepends=True) if "[usec]" not in line)
    columns = ["benchmark", "size", "n", "seconds", "min_seconds", "bandwidth_bytes_per_s"]
    pd.testing.assert_frame_equal(read(headless)[columns], read(IMB)[columns])
    multi = (
        "# Benchmarking Multi-Allreduce\n# ( 2 groups of 4 processes each running simultaneous )\n# Group 0: 0 1 2 3\n"
    )
    multi += "    Group       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n"
    table = read(multi + "   0     4  1000   1.25  1.75  1.50\n   1   4  1000   2.25  2.75 2.50\n")
    assert rows(table, "size", "seconds", "ranks") == [(4, 1.5 / 1e6, 4), (4, 2.5 / 1e6, 4)]
    nbc = "# Benchmarking Iallreduce\n# #processes = 2\n #bytes #repetitions t_ovrl[usec] t_pure[usec] t_CPU[usec]"
    table = read(nbc + "  overlap[%]\n 8 1000 9.50 5.25 6.00 25.00\n")
    assert rows(table, "collective", "seconds", "overall_seconds", "compute_seconds", "overlap") == [
        ("iallreduce", 5.25e-6, 9.5e-6, 6e-6, 0.25)
    ]


def test_imb_says_what_it_did_not_measure() -> None:
    reason = ' 8388608  out-of-mem.; needed X=   1.234 GB; use flag "-mem X"\n'
    at = IMB.index(
        "\n#-----------------------------------------------------------------------------\n# Benchmarking Exch"
    )
    table, messages = read_warned(IMB[:at] + reason + " 16 1000 1.2x 0.01\n 32 1000 1.25\n" + IMB[at:])
    assert len(table) == 6
    assert [message.split(":")[0] for message in messages] == [f"<text>, line {line}" for line in (17, 18, 19)]
    assert "not measured" in messages[0]


# --- nvbandwidth ---

POINTS = [
    ("nvbandwidth host_to_device_memcpy_ce", "host", "GPU 0", 25.5e9),
    ("nvbandwidth host_to_device_memcpy_ce", "host", "GPU 1", 26.5e9),
    ("nvbandwidth device_to_device_memcpy_read_ce", "GPU 1", "GPU 0", 276.25e9),
    ("nvbandwidth device_to_device_memcpy_read_ce", "GPU 0", "GPU 1", 275.75e9),
]


def test_nvbandwidth_matrices() -> None:
    table = read(NVBANDWIDTH)
    assert rows(table, "benchmark", "source", "destination", "bandwidth_bytes_per_s")[:4] == POINTS
    assert list(table["line"]) == [9, 9, 16, 17, 25, 25]
    assert list(table["seconds"][4:]) == pytest.approx([772.5e-9, 780.25e-9])
    assert list(table["buffers"]) == ["mixed", "mixed", "device", "device", "mixed", "mixed"]
    assert set(table["version"]) == {"v0.6"}


def test_nvbandwidth_json_gives_the_same_points() -> None:
    described = "memcpy CE {} bandwidth (GB/s)"
    document = {
        "nvbandwidth": {
            "Driver Version": "550.1",
            "testcases": [
                {"name": "host_to_device_memcpy_ce", "status": "Passed", "sum": 52.0,
                 "bandwidth_description": described.format("CPU(row) -> GPU(column)"),
                 "bandwidth_matrix": [["25.5", "26.5"]]},
                {"name": "multinode", "status": "Waived"},
                {"name": "device_to_device_memcpy_read_ce", "status": "Passed", "sum": 552.0,
                 "bandwidth_description": described.format("GPU(row) <- GPU(column)"),
                 "bandwidth_matrix": [["N/A", "276.25"], ["275.75", "N/A"]]},
            ],
            "version": "v0.6",
        }
    }  # fmt: skip
    for text in (json.dumps(document) + "\n", json.dumps(document, indent=3)):
        table = read(text.encode())
        assert rows(table, "benchmark", "source", "destination", "bandwidth_bytes_per_s") == POINTS
        assert set(table["version"]) == {"v0.6"}
    text = json.dumps(document, indent=3).replace('"276.25"', "[[]]").replace('"25.5"', '"x"')
    table, messages = read_warned(text.encode())
    assert list(table["bandwidth_bytes_per_s"]) == [26.5e9, 275.75e9]
    assert len(messages) == 2


def test_nvbandwidth_ways_and_sums() -> None:
    for arrow, test, ends in [
        ("CPU(row) <-> GPU(column)", "device_to_host_bidirectional_memcpy_ce", ("GPU 0", "host")),
        ("CPU(row) <-> GPU(column)", "host_to_device_bidirectional_memcpy_ce", ("host", "GPU 0")),
        ("GPU(columns) <- CPU(rows)", "old", ("host", "GPU 0")),
        ("local GPU(column)", "device_local_copy", ("GPU 0", "GPU 0")),
    ]:
        text = f"Running {test}.\nmemcpy CE {arrow} bandwidth (GB/s)\n 0\n 0 17.50\n\nSUM {test} 17.50\n"
        table = read(text)
        assert rows(table, "source", "destination") == [ends]
    _, messages = read_warned(NVBANDWIDTH.replace(" 1    275.75       N/A\n", ""))
    assert "line 18: the values above add up to 276.25; a row may be missing" in messages[0]
    _, messages = read_warned(NVBANDWIDTH.replace("780.25\n", "78x.25\n").replace("25.50 ", "25.50 1.00 "))
    assert [message.split(":")[0] for message in messages] == [f"<text>, line {line}" for line in (9, 11, 25, 27)]


# --- CUDA samples ---


def test_bandwidth_test_tables_and_lines() -> None:
    table = read(BANDWIDTH_TEST)
    assert rows(table, "benchmark", "size", "n", "bandwidth_bytes_per_s", "send_buffer", "recv_buffer") == [
        ("bandwidthTest H2D-Pinned", 32e6, 32e6, 12.3e9, "host", "device"),
        ("bandwidthTest D2H-Paged", 1e3, 1e3, 0.5e9, "device", "host"),
        ("bandwidthTest D2H-Paged", 32e6, 32e6, 6.7e9, "device", "host"),
    ]
    table = read(SHMOO)
    assert rows(table, "benchmark", "size", "bandwidth_bytes_per_s", "buffers") == [
        ("bandwidthTest D2H-Pinned", 1e3, 0.5e9, "mixed"),
        ("bandwidthTest D2H-Pinned", 64e6, 12.5e9, "mixed"),
        ("bandwidthTest D2D", 671088, 640 * 2.0**20, "device"),
    ]
    assert table["seconds"].isna().tolist() == [True, False, False]  # 0.00000 s is no time
    assert table["seconds"][1] == 0.00512
    _, messages = read_warned(SHMOO + "bandwidthTest-D2H-Pinned, Bandwidth = 12.x GB/s, Time = 0.1 s, Size = 1 bytes\n")
    assert "line 4" in messages[0]


def test_p2p_matrices() -> None:
    table = read(P2P)
    assert rows(table, "source", "destination", "bandwidth_bytes_per_s")[:3] == [
        ("GPU 0", "GPU 0", 780.5e9),
        ("GPU 0", "GPU 1", 96.25e9),
        ("GPU 1", "GPU 0", 96.75e9),
    ]
    assert list(table["seconds"][4:]) == pytest.approx(us(1.5, 2.25, 2.75, 1.75, 3.5, 4.25, 4.75, 3.25))
    assert list(table["benchmark"].unique()) == [
        "p2pBandwidthLatencyTest Bidirectional P2P=Enabled Bandwidth",
        "p2pBandwidthLatencyTest P2P=Enabled Latency (P2P Writes) (GPU)",
        "p2pBandwidthLatencyTest P2P=Enabled Latency (P2P Writes) (CPU)",
    ]


# --- PICO ---


def test_pico_counts_the_whole_buffer() -> None:
    table = read(SUMMARY)
    assert rows(table, "collective", "algorithm", "ranks", "nodes", "size", "n", "buffers", "table") == [
        ("allgather", "ring_ompi", 8, 4, 4096, 512, "device", 0),
        ("allreduce", "rabenseifner_ompi", 8, 4, 64, 64, "host", 1),
    ]
    assert list(table["seconds"]) == us(15.5, 11.5)
    assert list(table["mean_seconds"]) == us(15.75, 12.5)
    assert list(table["best_seconds"]) == us(14.5, 10.5)
    assert list(table["p90_seconds"]) == us(16.5, 13.5)
    for collective, n in (("ALLTOALL", 512), ("SCATTER", 512), ("REDUCE_SCATTER", 4096), ("BCAST", 4096)):
        assert read(SUMMARY.replace("ALLGATHER", collective))["n"][0] == n


def test_pico_raw_files_have_the_rest_in_their_name(tmp_path: Path) -> None:
    table = read(RAW)
    assert list(table["seconds"]) == [0.005064882, 0.000673331, 0.000578597]
    assert table["size"].isna().all()
    path = tmp_path / "leonardo_cuda_allreduce" / "512_recursive_doubling_over_int32.csv"
    path.parent.mkdir()
    path.write_text(RAW)
    assert rows(read(path), "collective", "algorithm", "datatype", "size", "n")[0] == (
        "allreduce", "recursive_doubling_over", "int32", 2048, 2048,
    )  # fmt: skip
    every = "highest,rank0,rank1\n900,900,700\n800,600,800\n"
    table = read({"name": "64_ring_ompi_1024_float.csv", "content": every.encode()})
    assert rows(table, "ranks", "seconds", "min_seconds", "size") == [
        (2, 900 / 1e9, 700 / 1e9, 256), (2, 800 / 1e9, 600 / 1e9, 256),
    ]  # fmt: skip
    _, messages = read_warned(RAW + "12x\n57")
    assert [message.split(":")[0] for message in messages] == ["<text>, line 5", "<text>, line 6"]


# --- what is no log ---


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tNV4\t0-31\t0\nGPU1\tNV4\t X \t0-31\t0\n", "topo -m"),
        ("        GPU0  GPU1  mlx5_0 CPU Affinity\nGPU0     X    SYS   PIX   0-15\nmlx5_0  PIX  SYS  X\n", "topo -m"),
        ("| NVIDIA-SMI 550.54.15    Driver Version: 550.54.15   CUDA Version: 12.4 |\n", "`nvidia-smi`"),
        (" #bytes #iterations t_min[usec] t_max[usec] t_typical[usec]\n 2 1000 1.00 5.00 1.10\n", "`perftest`"),
        ("|    Stage     | # iterations | 50.0%ile |\n[thread 0]  10000  1.500  1.600\n", "`ucx_perftest`"),
        ("T/V                N    NB     P     Q               Time\nWR11C2R4  40000  192  2  2  50.00\n", "HPL"),
        ("Function    Best Rate MB/s  Avg time\nCopy:  12000.0  0.013433\n", "STREAM"),
        ("fio-3.28\n  read: IOPS=1000, BW=4000KiB/s\n", "`fio`"),
        (" ** CUDA GPU Kernel Summary (cuda_gpu_kern_sum):\n 90.0 1000000 10 k\n", "Nsight Systems"),
        ("@ mpiP\n@ Command : ./a.out\n", "mpiP"),
        ("# darshan log version: 3.41\n# nprocs: 4\n", "Darshan"),
        ("# Library version: 1.15.0\n# Library path: /usr/lib\n", "`ucx_info`"),
        ("                 Package: Open MPI builder\n                Open MPI: 4.1.4\n", "`ompi_info`"),
        ("#!/bin/bash\n#SBATCH -N 4\nsrun ./osu_latency\n", "Slurm"),
        ("<!DOCTYPE html>\n<html><body>1 2.5</body></html>\n", "HTML"),
        ("<system version=\"1\">\n  <cpu numaid=\"0\">\n", "topology file"),
        ("12    # Number of collectives\n0     # Collective ID\n", "decision rules"),
        ("collective_type,min_bytes,max_bytes,algorithm\nallreduce,0,65536,tree,simple,2,1,-1\n", "tuner file"),
        ("n1:10:10 [0] NCCL INFO Bootstrap : Using eth0\nn1:10:10 [0] NCCL INFO NET/IB\n", "debug output of NCCL"),
        ("timestamp,test_id,nnodes,tasks_per_node,collective_type\n2025,0,8,1,ALLREDUCE\n", "PICO's list"),
        (" #bytes  #iterations  BW peak[MB/sec]  BW average[MB/sec]\n 65536 5000 11000.00 10990.00\n", "perftest"),
        ("from __future__ import annotations\nimport numpy\n", "Python"),
    ],
)  # fmt: skip
def test_what_is_no_log_is_called_by_its_name(text: str, name: str) -> None:
    with pytest.raises(FormatError, match=r"is no log of a benchmark, but .*Looked for: OSU") as error:
        read(text)
    assert name in str(error.value)


@pytest.mark.parametrize(
    ("data", "name"),
    [(b"%PDF-1.7\n1 0 obj\n", "a PDF"), (b"\x1f\x8b\x08\0", "gunzip"), (b"\x89PNG\r\n", "picture"), (b"PK\3\4", "ZIP")],
)
def test_bytes_are_called_by_their_name(data: bytes, name: str) -> None:
    with pytest.raises(FormatError, match=f"is binary.*{name}"):
        read(data)


def test_what_stands_before_a_log_does_not_hide_it() -> None:
    assert len(read("#!/bin/bash\n#SBATCH -N 4\n| NVIDIA-SMI 550.54.15 |\n" + IMB)) == 6


# --- all together ---

TEXTS = {
    "netgauge": NETGAUGE, "imb": IMB, "nvbandwidth": NVBANDWIDTH, "table": BANDWIDTH_TEST, "shmoo": SHMOO, "p2p": P2P,
    "summary": SUMMARY, "raw": RAW,
}  # fmt: skip
LINES = {"netgauge": 3, "imb": 6, "nvbandwidth": 6, "table": 3, "shmoo": 3, "p2p": 12, "summary": 2, "raw": 3}


@pytest.mark.parametrize("name", [name for name in TEXTS if name not in ("summary", "raw")])
def test_launchers_may_label_each_line(name: str) -> None:
    plain = read(TEXTS[name])
    for prefix in ("[0] ", "0: ", "[1,0]<stdout>:", "00:55:22 ", "> "):
        table, messages = read_warned("".join(f"{prefix}{line}\n" for line in TEXTS[name].splitlines()))
        assert messages == []
        columns = ["benchmark", "size", "seconds", "bandwidth_bytes_per_s", "source"]
        pd.testing.assert_frame_equal(table[columns], plain[columns])
    assert len(plain) == LINES[name]


def test_tables_of_all_kinds_in_one_file() -> None:
    osu = "# OSU MPI Latency Test v5.8\n# Size          Latency (us)\n8                       2.25\n"
    every = [osu, *(text for name, text in TEXTS.items() if name not in ("summary", "raw"))]
    for order in (every, every[::-1]):
        table, messages = read_warned("\n".join(order))
        assert messages == []
        assert len(table) == 1 + sum(count for name, count in LINES.items() if name not in ("summary", "raw"))


def outcome(source: object) -> tuple[pd.DataFrame | None, str]:
    """Return the table, or the message of the one error."""
    try:
        return read_warned(source)[0], ""
    except OrreryError as error:
        return None, str(error)


@st.composite
def mutated(draw: st.DrawFn) -> tuple[str, set[int]]:
    """Return a damaged log, and the lines of its rows that are as they were."""
    name = draw(st.sampled_from(sorted(TEXTS)))
    known = {int(line) for line in read(TEXTS[name])["line"]}
    lines = [(line, at in known) for at, line in enumerate(TEXTS[name].splitlines(), 1)]
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(lines) - 1))
        line, _ = lines[at]
        place = draw(st.integers(0, len(line)))
        kind = draw(st.sampled_from(["noise", "change", "cut", "double", "drop", "insert"]))
        if kind == "noise":
            noise = ["", "[n1:31808] *** Process received signal ***", "srun: error: n1: task 0", "```", "{"]
            lines.insert(at, (draw(st.sampled_from(noise)), False))
        elif kind == "change":
            lines[at] = (line[:place] + draw(st.characters(codec="utf-8")) + line[place + 1 :], False)
        elif kind == "cut":
            lines[at] = (line[:place], False)
        elif kind == "double":
            lines.insert(at, lines[at])
        elif kind == "drop" and len(lines) > 1:
            del lines[at]
        else:
            lines[at] = (line[:place] + draw(st.sampled_from(["12 ", "x", " 1.5 ", ","])) + line[place:], False)
    text, whole = "", set()
    for line, row in lines:
        if row:
            whole.add(text.count("\n") + 1)
        text += line + "\n"
    return text, whole


@hypothesis.given(mutated())
@hypothesis.settings(max_examples=200, deadline=None, suppress_health_check=list(hypothesis.HealthCheck))
def test_whole_rows_are_read_or_a_line_that_stopped_them_is_named(case: tuple[str, set[int]]) -> None:
    text, whole = case
    table, refusal = outcome(text.encode())
    if table is None:
        # Without a heading that betrays the format, rows of numbers are nothing.
        assert not whole or any(said in refusal for said in ("Line ", "of a known format", "is no log"))
        return
    named = [problem.line for problem in table.attrs["warnings"]]
    for line in whole - {int(line) for line in table["line"]}:
        assert min(named, default=math.inf) <= line  # itself, or a heading above it


ALPHABET = (
    "# Benchmarkingbytesrepetitions[usec]PRTT(,)0123456789.-+eE\n\t\\{}\"':,memcpyGPU(row)->(GB/s)highestP2P=DMatrix"
)


@hypothesis.given(st.text(alphabet=ALPHABET) | st.text() | st.binary(), st.sampled_from(sorted(TEXTS)))
@hypothesis.settings(max_examples=150, deadline=None)
def test_any_text_gives_a_table_or_the_error(text: str | bytes, name: str) -> None:
    for source in (
        text if isinstance(text, bytes) else f"{text}\n",
        f"{TEXTS[name]}{text!s}",
        f"{text!s}\n{TEXTS[name]}",
    ):
        table, refusal = outcome(source)
        assert len(refusal if table is None else table) > 0


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("# OSU MPI Latency Test v7\n# Size Latency (us)\n1 2.00\n### 3.00\n", 4, "does not begin with a size"),
        ("# OSU MPI Latency Test v7\n# Size Latency (us) Latency (us)\n1 2.00 3.00\n", 2, "names a column twice"),
        ("b-H2D-Pinned, Bandwidth = 1.4 GB/s, Time = 0.1 s, Size = 4 bytes\nbandwidthTest-\n", 1, "row breaks off"),
        ("P2P=Enabled Latency Matrix (us)\n GPU 0 1\n 0 1.5 2.5\n 1\n", 4, "row breaks off"),
        (
            "# Benchmarking Reduce\n#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec]\n"
            "4 10 1.00 3.00 2.00Sun May 20 14:55:08 2018<stdout>: 8 10 1.00 3.00 2.00\n",
            3,
            "no row of numbers",
        ),
    ],
)
def test_broken_rows_are_named(text: str, line: int, what: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            told = "".join(f"Line {problem.line}: {problem.text}\n" for problem in read(text).attrs["warnings"])
        except FormatError as error:
            told = str(error)
    assert re.search(rf"Line {line}: [^:]*{what}", told)


def test_imb_a_remark_after_a_row() -> None:
    head = "#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec] Mbytes/sec\n"
    table = read(f"{head}4 40 164.25 258.50 217.50 8.16 \u2190 drops from here\n8 40 1.0 3.0 2.0 8.00\n")
    assert list(table["seconds"] * 1e6) == [217.5, 2]
