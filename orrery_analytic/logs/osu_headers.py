"""What an OSU title, a header and a command line say about the rows below them.

Whether buffers lie on a device: the line `# Send Buffer on ...` says it. Without that line, a title without `-CUDA`,
`-ROCM` ... means host; one with it means device for collectives, where only `-d cuda` prints it. Point-to-point
programs print it for host buffers too, so there the command line (`osu_bw D D`) is all that helps.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from orrery_analytic.errors import QuantityError, UnknownNameError
from orrery_analytic.units import to_si

__all__ = [
    "FULL",
    "NO_LAUNCH",
    "TITLE",
    "Launch",
    "Test",
    "is_header",
    "launched",
    "memory",
    "named",
    "started",
    "under_header",
    "unknown_unit",
]

TITLE = re.compile(r"#* ?(?:OSU|OMB(?:-Py| Python)?) (.{1,100}?) Test\b(.*)")
_VERSION = re.compile(r"(?:\bv|version )(\d[\w.+-]*)", re.IGNORECASE)
_ACCELERATOR = re.compile(r"-(CUDA|ROCM|ZE|SYCL|OPENACC|HABANA|GPU|CXL)\b", re.IGNORECASE)
_MANAGED = re.compile(r"[ -]managed\b", re.IGNORECASE)
_COLLECTIVE = re.compile(
    r"(?P<nonblocking>non-?blocking )?(?P<neighbor>neighbou?r(?:hood)? )?"
    r"(?P<name>all-?gatherv?|all-?reduce|all-?to-?all[vw]?|barrier|broadcast|bcast|gatherv?|scatterv?"
    r"|reduce(?:[ _-]scatter(?:[ _-]block)?)?)"
    r"(?: personalized exchange)?(?P<persistent> persistent)?(?: latency)?"
)
_POINT_TO_POINT = {
    "latency": ("osu_latency", 2),
    "bandwidth": ("osu_bw", 2),
    "bi-directional bandwidth": ("osu_bibw", 2),
    "multi-threaded latency": ("osu_latency_mt", 2),
    "multi-process latency": ("osu_latency_mp", 2),
    "partitioned latency": ("osu_partitioned_latency", 2),
    "multi latency": ("osu_multi_lat", math.nan),
    "multiple bandwidth / message rate": ("osu_mbw_mr", math.nan),
}
# Libraries that take no host buffers.
_OF_DEVICES = ("nccl", "rccl", "xccl")
_ONE_SIDED = {"latency": "latency", "bandwidth": "bw", "bi-directional bandwidth": "bibw"}
# The words of a header, by column of the table; `rest` is printed and not kept.
_HEADING = re.compile(
    r"(?P<rest>p\d+ tail \w+(?: ?\(\S+\))?|transmit size|coll\. ?init|mpi_test|mpi_wait|wait avg|init avg)"
    r"|(?P<size>\bsize)"
    r"|(?P<min_seconds>min (?:lat|comm))"
    r"|(?P<max_seconds>max (?:lat|comm))"
    r"|(?P<iterations>iterations)"
    r"|(?P<overall_seconds>overall)"
    r"|(?P<compute_seconds>compute)"
    r"|(?P<overlap>overlap)"
    r"|(?P<messages_per_s>messages/s)"
    r"|(?P<bandwidth_bytes_per_s>bandwidth(?: ?\(mb/s)?|mb/s)"
    r"|(?P<seconds>pure comm|(?:avg )?lat)"
)
# OSU prints microseconds and MB/s alone; who names another unit has converted the values.
_OTHER_UNIT = re.compile(r"\(\s?(?:s|ms|ns|[kgt]i?b/s|mib/s|[kmg]?bits?/s|[kmg]bps)\s?\)|\b(?:gb|mib|gib)/s")
_MEASURES = ("seconds", "bandwidth_bytes_per_s")
FULL = ("seconds", "min_seconds", "max_seconds", "iterations")
_LARGEST = 2.0**63
_MEMORY = {"H": "host", "D": "device", "M": "managed", "MD": "managed", "MH": "managed"}
_LAUNCHER = re.compile(r"\b(?:mpirun|mpiexec|srun|flux|prun|jsrun|aprun|ibrun)\b")
_PROGRAM = re.compile(r"osu_[a-z_]+(?![\w/.])")
_RANKS = re.compile(r"\s(?:--?np|-n|--ntasks)[ =]?(\d{1,9})\s")
_NODES = re.compile(r"\s(?:-N|--nodes)[ =]?(\d{1,9})\s")
_RANKS_PER_NODE = re.compile(r"\s--n?tasks-per-node[ =](\d{1,9})\s")


@dataclass(frozen=True)
class Test:
    """What holds for every row of a table: constants of the table, and the columns of a row after its size.

    Without `sized` (barriers) a row has no size.
    """

    constants: Mapping[str, Any]
    columns: tuple[str, ...] = ()
    sized: bool = True
    scales: Mapping[str, float] = field(default_factory=dict)
    """Of columns in other units than those that OSU prints: what one is worth in SI."""

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The columns of a row, with its size; of those that come twice, the first is kept."""
        names = ("size", *self.columns) if self.sized else self.columns
        return tuple("rest" if name in names[:at] else name for at, name in enumerate(names))

    @cached_property
    def ranged(self) -> bool:
        """Whether a row has a mean, a least and a most, in one unit."""
        return self.columns == FULL and len({self.scales.get(name) for name in FULL[:3]}) == 1

    def told(self, **constants: Any) -> Test:
        """Return the test with more constants."""
        return replace(self, constants={**self.constants, **constants})

    @cached_property
    def main(self) -> int:
        """Place in a row of the value without which it measures nothing; -1 if the columns are not known."""
        places = (at for at, column in enumerate(self.columns, self.sized) if column in _MEASURES)
        return next(places, -1)

    def fits(self, values: list[float]) -> bool:
        """Tell whether a row is as wide as it should be and measures something."""
        return (
            len(values) == len(self.columns) + self.sized
            and self.main >= 0
            and 0 <= values[self.main] < math.inf
            and values[0] < _LARGEST
        )


class Launch(NamedTuple):
    """What came before a title: the program started, its ranks, and its buffers ("" if not given)."""

    program: str = ""
    ranks: float = math.nan
    send: str = ""
    recv: str = ""


NO_LAUNCH = Launch()


def memory(send: str, recv: str) -> dict[str, str]:
    """Return the columns that say where the buffers of sender and receiver lie."""
    return {"send_buffer": send, "recv_buffer": recv, "buffers": send if send == recv else "mixed"}


@lru_cache(maxsize=256)
def named(words: str, rest: str) -> Test:
    """Read a title, such as `MPI-CUDA Non-blocking Allreduce Latency` and ` v7.5`."""
    accelerator, managed = _ACCELERATOR.search(words), _MANAGED.search(words)
    plain = _MANAGED.sub("", _ACCELERATOR.sub("", words))
    family, _, kind = plain.lower().partition(" ")
    version = _VERSION.search(rest)
    test = Test({"benchmark": plain, "version": version[1] if version else math.nan})
    collective = _COLLECTIVE.fullmatch(kind)
    if kind in _POINT_TO_POINT and family in ("mpi", *_OF_DEVICES):
        benchmark, ranks = _POINT_TO_POINT[kind]
        benchmark = benchmark if family == "mpi" else benchmark.replace("osu_", f"osu_{family}_")
        test = test.told(benchmark=benchmark, collective="p2p", ranks=ranks)
    elif family.startswith("mpi_"):
        call = family.removeprefix("mpi_")
        test = test.told(benchmark=f"osu_{call}_{_ONE_SIDED.get(kind, kind)}", collective=call, ranks=2)
    elif collective:
        test = test.told(**_collective(collective, "osu_" if family == "mpi" else f"osu_{family}_"))
    if family in _OF_DEVICES:
        test = test.told(**memory("device", "device"))
    elif not accelerator and not managed:
        test = test.told(**memory("host", "host"))
    elif collective and managed:
        test = test.told(**memory("managed", "managed"))
    elif collective and accelerator and accelerator[1].upper() != "CXL":
        test = test.told(**memory("device", "device"))
    if "message rate" in kind:
        return replace(test, columns=("bandwidth_bytes_per_s", "messages_per_s"))
    if "bandwidth" in kind:
        return replace(test, columns=("bandwidth_bytes_per_s",))
    if "latency" in kind and not (collective and collective["nonblocking"]):
        return replace(test, columns=("seconds",), sized="barrier" not in kind)
    return test


def _collective(match: re.Match[str], tool: str) -> dict[str, str]:
    """Return program and collective: MPI's names, so `iallreduce`, `allreduce_init`, `neighbor_allgather`."""
    name = match["name"].replace("broadcast", "bcast").replace(" ", "_")
    name = name.replace("-", "_" if name.startswith("reduce") else "")
    name = ("i" if match["nonblocking"] else "") + ("neighbor_" if match["neighbor"] else "") + name
    if match["persistent"]:
        return {"benchmark": f"{tool}{name}_persistent", "collective": f"{name}_init"}
    return {"benchmark": tool + name, "collective": name}


def is_header(line: str) -> bool:
    """Tell whether a line names columns; `line` has single spaces."""
    text = line.lstrip("# ").lower()
    measures = "(us)" in text or "mb/s" in text or (line.startswith("#") and _OTHER_UNIT.search(text))
    if measures and _HEADING.search(text):
        return line.startswith("#") or text.startswith(("size ", "avg latency", "overall"))
    return line.startswith("#") and text.startswith("size ")


def unknown_unit(line: str) -> str:
    """Return the unit that a header names and whose worth is not known, "" if there is none."""
    return _columns(line)[3]


def under_header(test: Test, line: str) -> Test:
    """Take the columns from a header such as `# Size Avg Latency(us) Min Latency(us)`."""
    columns, sized, scales, _ = _columns(line)
    if not columns:
        return test  # mangled: what the title says holds
    return replace(test, columns=columns, sized=sized, scales=scales)


@lru_cache(maxsize=256)
def _columns(line: str) -> tuple[tuple[str, ...], bool, dict[str, float], str]:
    """Return what a header names: columns, () where none of them measures; whether rows begin with a size; units."""
    line = line.lstrip("# ")
    text = line.lower()
    matches = list(_HEADING.finditer(text))
    scales: dict[str, float] = {}
    unknown, end = "", len(text)
    for match in reversed(matches):
        if unit := _OTHER_UNIT.search(text, match.start(), end):
            scale = _worth(line[unit.start() : unit.end()].strip("( )"), str(match.lastgroup))
            scales |= {str(match.lastgroup): scale} if scale else {}
            unknown = unknown if scale else unit[0]
        end = match.start()
    if not matches and (unit := _OTHER_UNIT.search(text)):
        unknown = unit[0]
    found = [(match.start(), str(match.lastgroup)) for match in matches]
    columns = tuple(column for _, column in found if column != "size")
    if not set(columns) & set(_MEASURES):
        return (), True, {}, unknown
    # `# Avg Latency(us)`, of a barrier, begins with its measure; `# Sxze Latency (us)` does not.
    return columns, found[0][1] == "size" or found[0][0] > 0, scales, unknown


def _worth(unit: str, column: str) -> float:
    """Return what one of a unit is in SI, 0 if it is none of what the column measures."""
    kind = "B/s" if column == "bandwidth_bytes_per_s" else "s" if column.endswith("seconds") else ""
    try:
        return to_si(f"1 {unit}", kind, column)
    except (QuantityError, UnknownNameError):
        return 0.0


def launched(line: str) -> Launch | None:
    """Read a command line that starts an OSU program: `mpirun -np 8 osu_allreduce -d cuda`, `srun -N2 osu_bw D H`."""
    program = _PROGRAM.search(line)
    if not program or not _LAUNCHER.search(line, 0, program.start()):
        return None
    options, words = f"{line[: program.start()]} ", line[program.end() :].split()
    send, recv = next((pair for pair in pairwise(words) if set(pair) <= _MEMORY.keys()), ("", ""))
    ranks, nodes, each = _RANKS.search(options), _NODES.search(options), _RANKS_PER_NODE.search(options)
    number = float(ranks[1]) if ranks else float(nodes[1]) * float(each[1]) if nodes and each else math.nan
    return Launch(program[0], number, _MEMORY.get(send, ""), _MEMORY.get(recv, ""))


def started(test: Test, launch: Launch) -> Test:
    """Add what the command line before a title says, where the title and its program leave it open."""
    if launch.program not in ("", test.constants["benchmark"]):
        return test
    if math.isnan(test.constants.get("ranks", math.nan)):
        test = test.told(ranks=launch.ranks)
    if launch.send and "buffers" not in test.constants:
        test = test.told(**memory(launch.send, launch.recv))
    return test
