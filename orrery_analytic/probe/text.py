"""The text of the log: OSU's where it has such a test, a table of our own elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

from orrery_analytic.probe.timing import Times

__all__ = [
    "OSU",
    "OWN_HEADER",
    "UNSTEADY",
    "header",
    "osu_row",
    "osu_title",
    "own_row",
    "own_title",
    "stopped",
    "unsteady",
]

OSU = {
    "latency": ("Latency", "# Size          Latency (us)"),
    "bandwidth": ("Bandwidth", "# Size      Bandwidth (MB/s)"),
    "exchange": ("Bi-Directional Bandwidth", "# Size      Bandwidth (MB/s)"),
    "message_rate": ("Multiple Bandwidth / Message Rate", "# Size                  MB/s        Messages/s"),
}
"""Probe to the title of OSU's test, and the header of its columns."""

UNSTEADY = 2.0
"""Median over shortest time, above which a measurement is said to be unsteady."""

OWN_HEADER = f"{'# bytes':<12}" + "".join(f"{name:>16}" for name in ("median_us", "best_us", "p90_us", "iterations"))


def header(version: str, **facts: str) -> list[str]:
    """Return the first lines of a log: the version of this package, and what is known of the run."""
    return [f"# orrery_analytic probe {version}", *(f"# {name}: {text}" for name, text in facts.items() if text)]


def osu_title(probe: str, version: str, accelerator: str = "", pairs: int = 1, window: int = 1) -> list[str]:
    """Return the lines above the rows of a table in OSU's form.

    Parameters
    ----------
    probe
        One of `OSU`.
    version
        Of this package, which is told, as OSU's program is not what ran.
    accelerator
        "CUDA" or "ROCM" for device buffers.
    pairs, window
        Told by the message rate alone.
    """
    name, columns = OSU[probe]
    family = f"MPI-{accelerator}" if accelerator else "MPI"
    lines = ["", f"# OSU {family} {name} Test (orrery_analytic probe {version})"]
    if accelerator:
        lines.append("# Send Buffer on DEVICE (D) and Receive Buffer on DEVICE (D)")
    if probe == "message_rate":
        lines.append(f"# [ pairs: {pairs} ] [ window size: {window} ]")
    return [*lines, columns]


def osu_row(probe: str, size: int, times: Times, messages: int = 1) -> str:
    """Return a row in OSU's form: us, or 10^6 bytes per second.

    Parameters
    ----------
    probe
        One of `OSU`.
    size
        Bytes of a message.
    times
        Of an iteration: a round trip, or a window of messages.
    messages
        In an iteration, of all ranks.
    """
    if probe == "latency":
        values = [times.median / 2 * 1e6]
    else:
        rate = messages / times.median
        values = [size * rate / 1e6, rate][: 2 if probe == "message_rate" else 1]
    return f"{size:<10d}" + "".join(f"{value:>18.3f}" for value in values)


def own_title(version: str, benchmark: str, **constants: object) -> list[str]:
    """Return the lines above the rows of a table of our own; `constants` hold for all of them, a word each."""
    told = " ".join(f"{name}={value}" for name, value in {"benchmark": benchmark, **constants}.items())
    return ["", f"# orrery_analytic probe {version}: {told}", OWN_HEADER]


def own_row(size: int, times: Times) -> str:
    """Return a row of a table of our own: size in bytes, microseconds, iterations."""
    values = (times.median, times.best, times.p90)
    return f"{size:<12d}" + "".join(f"{1e6 * value:>16.4f}" for value in values) + f"{times.iterations:>16d}"


def stopped(limit: float, size: int) -> str:
    """Return the line under a table whose probe ran out of time before a size."""
    return f"# stopped by the time limit of {limit:g} s: no size from {size} B on"


def unsteady(odd: Sequence[int], sizes: int) -> str:
    """Return the line under a table where the median is far above the shortest time, at some of so many sizes."""
    return (
        f"# unsteady: at {len(odd)} of {sizes} sizes ({odd[0]} B first) the median is more than {UNSTEADY:g} times the "
        "shortest time: other programs run here, or there are fewer cores than ranks"
    )
