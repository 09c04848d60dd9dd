"""The probes that one rank runs by itself: the library's reduction, and what a call costs that sends nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from orrery_analytic.probe.timing import Run

__all__ = ["CALLS", "reduce_local"]


def reduce_local(mpi: Any, size: int) -> Run:
    """Return what adds `size` bytes of floats on the host to as many, by MPI_Reduce_local."""
    added, total = (np.zeros(size // 4, dtype=np.float32) for _ in range(2))
    reduce = mpi.SUM.Reduce_local

    def run(iterations: int) -> None:
        for _ in range(iterations):
            reduce(added, total)

    return run


def _barrier(mpi: Any, buffer: Callable[[int], Any]) -> Run:
    barrier = mpi.COMM_SELF.Barrier

    def run(iterations: int) -> None:
        for _ in range(iterations):
            barrier()

    return run


def _allreduce(mpi: Any, buffer: Callable[[int], Any]) -> Run:
    given, total = [buffer(4), mpi.FLOAT], [buffer(4), mpi.FLOAT]
    allreduce = mpi.COMM_SELF.Allreduce

    def run(iterations: int) -> None:
        for _ in range(iterations):
            allreduce(given, total)

    return run


def _send(mpi: Any, buffer: Callable[[int], Any]) -> Run:
    given, nobody, send = [buffer(4), mpi.BYTE], mpi.PROC_NULL, mpi.COMM_SELF.Send

    def run(iterations: int) -> None:
        for _ in range(iterations):
            send(given, nobody)

    return run


CALLS: dict[str, tuple[int, Callable[[Any, Callable[[int], Any]], Run]]] = {
    "barrier": (0, _barrier),
    "allreduce": (4, _allreduce),
    "send": (4, _send),
}
"""Name to the bytes of a call on one rank, and what makes it; `send` goes to MPI_PROC_NULL, so it is mpi4py's own."""
