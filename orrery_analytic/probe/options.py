"""What the command takes: which probes, sizes, times, and where the log goes."""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass

from orrery_analytic.errors import QuantityError, choose
from orrery_analytic.units import shown, to_si

__all__ = ["BETWEEN", "LOCAL", "ON_GPU", "PROBES", "Options", "checked", "parser"]

BETWEEN = ("latency", "bandwidth", "exchange", "message_rate")
"""Probes that take two ranks."""
LOCAL = ("reduction", "call")
ON_GPU = ("copies", "launches", "kernel")
PROBES = (*BETWEEN, *LOCAL, *ON_GPU)

_LARGEST = 2**30
_SIZES = "1:4MiB"
_LIMIT = "10"
_ALLOWED = (
    "whole bytes from 1 to 1 GiB, with a unit or without, in a list ('8,1KiB,1MiB') or from one to another, each twice "
    "the one before ('1:4MiB')"
)
_EXAMPLES = """examples:
  mpirun -n 2 python -m orrery_analytic.probe --out here.log
  mpirun -n 2 --map-by node python -m orrery_analytic.probe --only latency,bandwidth --buffers device
  python -m orrery_analytic.probe --only reduction,call
then, in Python: table = orrery_analytic.read("here.log")"""


@dataclass(frozen=True)
class Options:
    """What is measured: `probes` of `PROBES`; `chosen` if they were named; sizes in bytes; `limit` in seconds."""

    probes: tuple[str, ...]
    chosen: bool
    sizes: tuple[int, ...]
    limit: float
    buffers: str
    out: str | None
    quiet: bool


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(
        prog="python -m orrery_analytic.probe",
        description="Measure MPI, and with CuPy the GPU, of the machine at hand; write a log that read() reads.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    made.add_argument("--out", metavar="FILE", help="write the log there instead of to the standard output")
    made.add_argument("--only", metavar="PROBES", help=f"some of {','.join(PROBES)}; all that can run unless given")
    made.add_argument(
        "--sizes", default=_SIZES, help="bytes: 1:4MiB in powers of two (the default), or a list such as 8,1KiB,1MiB"
    )
    made.add_argument(
        "--time-limit",
        default=_LIMIT,
        metavar="SECONDS",
        help=f"no probe begins a new size after it; {_LIMIT} by default",
    )
    made.add_argument("--buffers", default="host", help="of messages: host (the default) or device")
    made.add_argument("--quiet", action="store_true", help="show no progress on the standard error")
    return made


def _bytes(text: str) -> int:
    size = to_si(int(text) if re.fullmatch(r"\s*[0-9]{1,20}\s*", text) else text, "B", "a size in --sizes")
    if not (size.is_integer() and 1 <= size <= _LARGEST):
        raise QuantityError(f"a size in --sizes = {shown(text)}. Allowed: {_ALLOWED}.")
    return int(size)


def _sizes(text: str) -> tuple[int, ...]:
    first, colon, last = text.partition(":")
    if not colon:
        return tuple(sorted({_bytes(word) for word in text.split(",")}))
    size, end = _bytes(first), _bytes(last)
    if size > end:
        raise QuantityError(f"--sizes {shown(text)} goes from a larger size to a smaller one. Allowed: {_ALLOWED}.")
    made = []
    while size <= end:
        made.append(size)
        size *= 2
    return tuple(made)


def _seconds(text: str) -> float:
    try:
        value: float | str = float(text)
    except ValueError:
        value = text
    return to_si(value, "s", "--time-limit", positive=True)


def checked(given: argparse.Namespace) -> Options:
    """Return what the parser of the command line found, in the units of the package.

    Raises
    ------
    UnknownNameError, QuantityError
        With what was given and what is allowed.
    """
    names = PROBES if given.only is None else given.only.split(",")
    probes = {choose("probe", name.strip(), PROBES) for name in names}
    return Options(
        probes=tuple(probe for probe in PROBES if probe in probes),
        chosen=given.only is not None,
        sizes=_sizes(given.sizes),
        limit=_seconds(given.time_limit),
        buffers=choose("buffers", given.buffers, ("host", "device")),
        out=given.out,
        quiet=given.quiet,
    )
