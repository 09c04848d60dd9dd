"""A run of the probes: who takes part in each, what it writes, and how far it is."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TextIO

import numpy as np

import orrery_analytic as oa
from orrery_analytic.probe import device, local
from orrery_analytic.probe.messages import WINDOW, Pair, exchange, messages_of, one_way, ping_pong
from orrery_analytic.probe.options import BETWEEN, Options
from orrery_analytic.probe.text import UNSTEADY, osu_row, osu_title, own_row, own_title, stopped, unsteady
from orrery_analytic.probe.timing import Agree, Run, Times, alone, sweep
from orrery_analytic.units import readable

__all__ = ["Log", "Session"]

_HOST = {"send": "host", "recv": "host"}
_DEVICE = {"send": "device", "recv": "device"}
_PATTERNS: dict[str, Callable[[Pair, int], Run]] = {
    "latency": ping_pong,
    "bandwidth": one_way,
    "exchange": exchange,
    "message_rate": one_way,
}


def _at_any_size(run: Run) -> Callable[[int], Run]:
    return lambda _: run


@dataclass(frozen=True)
class Log:
    """Where the first rank writes; the others have no `out`, and are silent."""

    out: TextIO | None
    quiet: bool = False

    def write(self, *lines: str) -> None:
        """Write lines of the log."""
        if self.out:
            print(*lines, sep="\n", file=self.out, flush=True)

    def tell(self, text: str) -> None:
        """Show how far the run is."""
        if self.out and not self.quiet:
            print(text, file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Session:
    """The ranks of a run; each calls `run` for the same probes in the same order."""

    mpi: Any
    options: Options
    gpu: device.Gpu | None
    log: Log

    def run(self, probe: str) -> None:
        """Run a probe, and wait until all ranks are through."""
        comm = self.mpi.COMM_WORLD
        if probe in BETWEEN:
            self._between(probe)
        elif comm.rank == 0:
            {
                "reduction": self._reduction,
                "call": self._call,
                "copies": self._copies,
                "launches": self._launches,
                "kernel": self._kernel,
            }[probe]()
        # A rank that waits sleeps: it would take a core from those that measure, where cores are few.
        through = comm.Ibarrier()
        while not through.Test():
            time.sleep(1e-3)

    def _between(self, probe: str) -> None:
        comm = self.mpi.COMM_WORLD
        half = comm.size // 2 if probe == "message_rate" else 1
        takes_part = comm.rank < 2 * half if probe == "message_rate" else comm.rank in (0, comm.size - 1)
        group = comm.Split(0 if takes_part else self.mpi.UNDEFINED, comm.rank)
        if not takes_part:
            return
        pair = Pair(self.mpi, group, (group.rank + half) % group.size, self._buffer)
        accelerator = self.gpu.accelerator if self.gpu and self.options.buffers == "device" else ""
        self._table(
            probe,
            osu_title(probe, oa.__version__, accelerator, half, WINDOW),
            partial(_PATTERNS[probe], pair),
            row=partial(osu_row, probe, messages=messages_of(probe, group.size)),
            agree=pair.agree,
        )
        group.Free()

    def _buffer(self, size: int) -> Any:
        if self.gpu and self.options.buffers == "device":
            return self.gpu.buffer(size)
        return np.zeros(size, dtype=np.uint8)

    def _table(
        self,
        told: str,
        title: Sequence[str],
        prepare: Callable[[int], Run],
        sizes: Sequence[int] | None = None,
        row: Callable[[int, Times], str] = own_row,
        agree: Agree = alone,
        settle: Callable[[], None] | None = None,
        part: int = 1,
    ) -> None:
        """Measure and write a table, in one of `part` equal parts of the time of its probe."""
        sizes = self.options.sizes if sizes is None else sizes
        if not sizes:
            self.log.tell(f"left out: {told}: no size is a multiple of its elements")
            return
        self.log.write(*title)
        limit = self.options.limit / part
        done, odd = 0, []
        for size, times in sweep(sizes, prepare, limit, agree, settle):
            done += 1
            if times.median > UNSTEADY * times.best:
                odd.append(size)
            self.log.write(row(size, times))
            self.log.tell(f"{told}: {readable(size, 'B')}, {done} of {len(sizes)}")
        if done < len(sizes):
            self.log.write(stopped(limit, sizes[done]))
            self.log.tell(f"{told}: stopped by the time limit")
        if odd:
            self.log.write(unsteady(odd, done))
            self.log.tell(f"{told}: {unsteady(odd, done)[2:]}")

    def _own(self, benchmark: str, prepare: Callable[[int], Run], **given: Any) -> None:
        """Measure and write a table of our own; `given` are options of `_table`, and constants of the table."""
        options = {name: given.pop(name) for name in ("sizes", "settle", "part") if name in given}
        self._table(benchmark, own_title(oa.__version__, f"probe_{benchmark}", **given), prepare, **options)

    def _reduction(self) -> None:
        constants = {"collective": "reduce_local", "reduction": "sum", "datatype": "float", "ranks": 1, **_HOST}
        sizes = [size for size in self.options.sizes if size % 4 == 0]
        self._own("reduce_local", partial(local.reduce_local, self.mpi), sizes=sizes, **constants)

    def _call(self) -> None:
        memory = _DEVICE if self.options.buffers == "device" else _HOST
        for name, (size, make) in local.CALLS.items():
            prepared = make(self.mpi, self._buffer)
            constants = {"ranks": 1, **memory}
            self._own(f"call_{name}", _at_any_size(prepared), sizes=[size], part=len(local.CALLS), **constants)

    def _copies(self) -> None:
        assert self.gpu is not None
        for way, memory in device.COPIES:
            ends = {"send": "device", "recv": "host"} if way == "d2h" else {"send": "host", "recv": "device"}
            prepare = partial(device.copy, self.gpu, way, memory)
            self._own(f"copy_{way}_{memory}", prepare, part=len(device.COPIES), collective="copy", **ends)

    def _launches(self) -> None:
        assert self.gpu is not None
        for name, sync in (("launch", False), ("launch_sync", True)):
            prepared = device.launch(self.gpu, sync)
            self._own(name, _at_any_size(prepared), sizes=[0], settle=self.gpu.wait, part=2, **_DEVICE)

    def _kernel(self) -> None:
        assert self.gpu is not None
        sizes = [size for size in self.options.sizes if size % 8 == 0]
        self._own("kernel", partial(device.kernel, self.gpu), sizes=sizes, **_DEVICE)
