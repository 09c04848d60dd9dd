"""The command: what each rank does, and the log that the first one writes."""

from __future__ import annotations

import platform
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, TextIO, TypeVar

import orrery_analytic as oa
from orrery_analytic.errors import FileMissingError, OrreryError, QuantityError
from orrery_analytic.probe.device import Gpu, load
from orrery_analytic.probe.options import BETWEEN, ON_GPU, Options, checked, parser
from orrery_analytic.probe.session import Log, Session
from orrery_analytic.probe.text import header

__all__ = ["main", "run"]

T = TypeVar("T")
_TWO = "mpirun -n 2 python -m orrery_analytic.probe"


def _load_mpi() -> Any:
    """Return ``mpi4py.MPI``; loading it starts MPI."""
    try:
        return import_module("mpi4py.MPI")
    except ImportError as error:
        raise FileMissingError(
            f"the probes take mpi4py, which cannot be loaded ({error}). "
            'Install the extra "probe": pip install "orrery_analytic[probe]".'
        ) from None
    except RuntimeError as error:
        raise FileMissingError(
            f"mpi4py is there, but not the MPI library ({str(error).splitlines()[0]}). "
            "On Debian: apt-get install openmpi-bin."
        ) from None


def _together(comm: Any, check: Callable[[], T]) -> T:
    """Return what `check` gives on this rank; if it fails on one rank, raise that error on all."""
    made: T
    message = ""
    try:
        made = check()
    except OrreryError as error:
        message = str(error)
    for each in comm.allgather(message):
        if each:
            raise FileMissingError(each)
    return made


def _open(path: str | None) -> TextIO:
    try:
        return open(path, "w", encoding="utf-8") if path else sys.stdout
    except OSError as error:
        raise FileMissingError(f"--out {path!r} cannot be written: {error}.") from None


def _with_gpu(mpi: Any, options: Options, log: Log) -> tuple[Gpu | None, tuple[str, ...]]:
    """Return the GPU of this rank, if it needs one, and the probes that can run."""
    comm = mpi.COMM_WORLD
    wanted = [probe for probe in options.probes if probe in ON_GPU]
    every = options.buffers == "device"
    if not (wanted or every):
        return None, options.probes
    local_rank = comm.Split_type(mpi.COMM_TYPE_SHARED).rank
    try:
        return _together(comm, lambda: load(local_rank) if every or comm.rank == 0 else None), options.probes
    except FileMissingError as error:
        if every or options.chosen:
            raise
        log.tell(f"left out: {', '.join(wanted)}: {error}")
        return None, tuple(probe for probe in options.probes if probe not in ON_GPU)


def run(mpi: Any, options: Options) -> None:
    """Run the probes, on every rank of ``mpi.COMM_WORLD``; the first one writes the log.

    Parameters
    ----------
    mpi
        The module ``mpi4py.MPI``.
    options
        The same on every rank.

    Raises
    ------
    QuantityError
        With one rank where a probe takes two.
    FileMissingError
        Without the GPU that was asked for, or where the log cannot be written.
    """
    comm = mpi.COMM_WORLD
    between = [probe for probe in options.probes if probe in BETWEEN]
    if comm.size < 2 and between:
        raise QuantityError(
            f"{', '.join(between)}: these take two ranks, and there is one. Start them with {_TWO}; "
            "one rank is enough for --only reduction,call."
        )
    out = _together(comm, lambda: _open(options.out) if comm.rank == 0 else None)
    try:
        log = Log(out, options.quiet)
        gpu, probes = _with_gpu(mpi, options, log)
        hosts = comm.allgather(mpi.Get_processor_name())
        where = "the same host" if hosts[0] == hosts[-1] else "two hosts"
        ends = f"; first and last rank on {where}" if comm.size > 1 else ""
        log.write(
            *header(
                oa.__version__,
                library=mpi.Get_library_version().splitlines()[0].rstrip(" \0"),
                ranks=f"{comm.size} on {len(set(hosts))} host{'s' if len(set(hosts)) > 1 else ''}{ends}",
                buffers=options.buffers,
                device=gpu.name if gpu else "",
                timed=f"medians, from Python {platform.python_version()}",
            )
        )
        session = Session(mpi, options, gpu, log)
        for probe in probes:
            session.run(probe)
    finally:
        if out and options.out:
            out.close()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    given = parser().parse_args(arguments)
    try:
        mpi = _load_mpi()
    except OrreryError as error:
        print(error, file=sys.stderr)
        return 2
    comm = mpi.COMM_WORLD
    try:
        run(mpi, checked(given))
    except OrreryError as error:  # the same on every rank
        if comm.rank == 0:
            print(error, file=sys.stderr, flush=True)
        comm.Barrier()  # mpirun ends the other ranks as soon as one fails
        return 2
    except BaseException:
        if comm.size == 1:
            raise
        # The others wait for this rank, for ever.
        traceback.print_exc()
        comm.Abort(1)
    return 0
