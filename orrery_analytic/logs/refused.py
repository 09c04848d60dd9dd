"""What people paste that is no benchmark log: its name, and what to give instead."""

from __future__ import annotations

import re

__all__ = ["binary", "refusal"]

_LOG = "Give the output of a benchmark that ran on that machine"
_DEVICES = f"{_LOG}: nvbandwidth, p2pBandwidthLatencyTest, nccl-tests or OSU with device buffers."
_NETWORK = f"{_LOG}: OSU (osu_latency, osu_bw, osu_allreduce ...) or the Intel MPI Benchmarks."
_OUTPUT = "Give what it printed when it ran, such as the file slurm-<job>.out."

# Looked for in this order, at the begin of a line: what it is, what betrays it, what to give instead.
_KINDS = (
    ("an HTML page", r"<(?:!doctype html|html)\b", "Copy the log out of it, or download the raw file."),
    (
        "a matrix of `nvidia-smi topo -m`",
        r"\s*(?:GPU\d+|NIC\d+|mlx\d_\d+)\s+(?:(?:X|SYS|NODE|PHB|PXB|PIX|NV\d+|CPU Affinity)\s+)+"
        r"|\s+GPU0(?:\s+(?:GPU|NIC|mlx)\S+)*\s+CPU Affinity",
        f"It says how devices are connected, not how fast. {_DEVICES}",
    ),
    ("output of `nvidia-smi nvlink`", r"\s*Link \d+: \d+(?:\.\d+)? GB/s", f"It lists what links can do. {_DEVICES}"),
    ("output of `nvidia-smi`", r"\| NVIDIA-SMI |=+NVSMI LOG=+|GPU \d+: .{1,80}\(UUID: GPU-", _DEVICES),
    (
        "output of `rocm-smi` or `rocminfo`",
        r"=+ ?ROCm System Management|ROCk module is loaded|HSA System Attr",
        _DEVICES,
    ),
    ("output of `deviceQuery`", r"\S*deviceQuery Starting|\s*CUDA Device Query", _DEVICES),
    ("output of `ucx_info`", r"#\s*(?:UCT|UCP|Memory domain|Transport|Library version): ?|# UCX library", _NETWORK),
    ("output of `ompi_info`", r"\s*(?:Open MPI: \d|Package: Open MPI|MCA \w+: )", _NETWORK),
    ("output of `fi_info`", r"provider: \w+\s*$|fi_info:", _NETWORK),
    ("output of `ibstat` or `ibv_devinfo`", r"CA '\w+'|hca_id:\s", _NETWORK),
    ("output of `lscpu`", r"Architecture:\s+\w+|CPU op-mode", _NETWORK),
    ("output of `lstopo`", r"Machine \(\d+\w+ total|<topology", _NETWORK),
    (
        "output of `perftest` (ib_write_bw, ib_send_lat ...)",
        r"\s*#bytes\s+#iterations\s",
        f"It runs without MPI. {_NETWORK}",
    ),
    (
        "output of `ucx_perftest`",
        r"\|.{0,40}overhead \(usec\)|\|\s*Stage\s*\|\s*# iterations|\[thread \d+\]\s+\d+\s",
        f"It runs without MPI. {_NETWORK}",
    ),
    ("output of HPL", r"(?:T/V\s+N\s+NB\s|HPLinpack )", f"It solves a system of equations. {_NETWORK}"),
    ("output of STREAM", r"Function\s+Best Rate MB/s|STREAM version", f"It measures memory of a CPU. {_DEVICES}"),
    ("output of `fio` or IOR", r"fio-\d|\s*(?:read|write)\s*: IOPS=|IOR-\d", f"It measures files. {_NETWORK}"),
    (
        "a summary of Nsight Systems",
        r".{0,20}\bnsys-report|\s*\*\* .{1,60}\((?:cuda|nvtx|osrt)_\w+\):|\s*Time \(%\)\s+Total Time \(ns\)",
        f"It sums up a program. {_DEVICES}",
    ),
    ("a report of mpiP", r"@ mpiP|@-+ MPI Time", f"It sums up a program. {_NETWORK}"),
    ("a log of Darshan", r"# darshan log version", f"It measures files. {_NETWORK}"),
    ("output of `iperf`", r"\[ *ID\] Interval\s", f"It measures TCP. {_NETWORK}"),
    ("a topology file of NCCL or RCCL (XML)", r"<system version=|<graphs? ", f"It holds no times. {_DEVICES}"),
    ("an XML file", r"<\?xml ", _NETWORK),
    (
        "a file of decision rules of Open MPI",
        r"rule-file-version-\d|\s*\d+\s+#\s*(?:number|num) of coll",
        "It says which algorithm runs, not how long: use it as rules=, as in oa.select(..., rules=path).",
    ),
    (
        "a tuner file of NCCL",
        r"(?:#\s*)?\w*collective\w*\s*,\s*min\w*\s*,\s*max\w*\s*,"
        r"|(?:allreduce|allgather|broadcast|reducescatter|reduce),\d+,\d+,\w+,\w+,-?\d",
        f"It says which algorithm NCCL takes, not how long it is. {_DEVICES}",
    ),
    (
        "PICO's list of its runs",
        r"timestamp,test_id,nnodes,tasks_per_node,",
        "It has no times: give <count>_<algorithm>_<type>.csv of a run, or a summary with median_us.",
    ),
    (
        "PICO's list of ranks and hosts",
        r"MPI_Rank, ?allocation",
        "It has no times: give <count>_<algorithm>_<type>.csv.",
    ),
    ("a script for Slurm", r"#SBATCH ", _OUTPUT),
    ("a script for PBS, LSF or Flux", r"#(?:PBS|BSUB|FLUX:|flux:) ?-", _OUTPUT),
    ("a shell script", r"#! ?/\S*(?:sh|env \w*sh)\b", _OUTPUT),
    ("a Python program", r"#! ?/\S*python|from __future__ import |import (?:numpy|torch|mpi4py|cupy)\b", _OUTPUT),
    ("a notebook of Jupyter", r'\s*"(?:nbformat|cell_type)": ', "Copy the log out of it."),
    (
        "a machine file",
        r"\[(?:latency|bandwidth|gap_per_byte|ranks_per_node)\]\s*$",
        "Load it by oa.load_machine(path).",
    ),
    (
        "debug output of NCCL without a table",
        r".{0,80}\bNCCL INFO ",
        "Give what all_reduce_perf and its like print, with the rows of sizes and times.",
    ),
    (
        "a Slurm log of a job that failed",
        r"(?:slurmstepd|srun): error: |.{0,40}DUE TO TIME LIMIT",
        "It ended before the benchmark printed a row.",
    ),
)
_PATTERNS = [(what, re.compile(pattern, re.IGNORECASE), instead) for what, pattern, instead in _KINDS]
_MAGIC = (
    (b"%PDF", "a PDF", "Give the log itself, or its text."),
    (b"\x1f\x8b", "compressed by gzip", "Unpack it first (gunzip)."),
    (b"BZh", "compressed by bzip2", "Unpack it first (bunzip2)."),
    (b"\xfd7zXZ", "compressed by xz", "Unpack it first (unxz)."),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd", "Unpack it first (unzstd)."),
    (b"PK\x03\x04", "a ZIP archive, or a file of Office or NumPy", "Unpack it, or save the table as CSV."),
    (b"\x89PNG", "a picture (PNG)", "Give the text of the log, not a picture of it."),
    (b"\xff\xd8\xff", "a picture (JPEG)", "Give the text of the log, not a picture of it."),
    (b"GIF8", "a picture (GIF)", "Give the text of the log, not a picture of it."),
    (b"\x7fELF", "a compiled program (ELF)", "Run it, and give what it prints."),
    (b"\x89HDF", "an HDF5 file", "Give the log as the benchmark printed it."),
    (b"SQLite format 3", "a database (SQLite; Nsight's reports are such)", "Give the log as the benchmark printed it."),
)
_START = 1 << 18


def binary(data: bytes) -> str | None:
    """Return what a file of bytes is and what to give instead, or None if its first bytes say nothing."""
    return next((f"{what}. {instead}" for magic, what, instead in _MAGIC if data.startswith(magic)), None)


def refusal(lines: list[str]) -> str | None:
    """Return what a text is and what to give instead, or None if it is nothing that is known."""
    start: list[str] = []
    length = 0
    for line in lines:
        start.append(line[:400])
        length += len(start[-1]) + 1
        if length > _START:
            break
    for what, pattern, instead in _PATTERNS:
        for at, line in enumerate(start, 1):
            if pattern.match(line):
                return f"{what} (line {at}). {instead}"
    return None
