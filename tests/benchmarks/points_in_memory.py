"""What 10^8 points of `predict` take: seconds, and the most memory at any time. Run it as a script."""

from __future__ import annotations

import resource
import time

import dask
import dask.array as da
import numpy as np

import orrery_analytic as oa

ROOT_OF_POINTS, CHUNK = 10_000, 1_000


def most_memory() -> float:
    """In MB; Linux counts in KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    ranks = da.arange(2, ROOT_OF_POINTS + 2, chunks=CHUNK)
    sizes = da.from_array(np.unique(np.geomspace(4, 2**30, 2 * ROOT_OF_POINTS).round())[:ROOT_OF_POINTS], chunks=CHUNK)
    data = oa.predict("musica", "allreduce", ranks, sizes)
    before, start = most_memory(), time.perf_counter()
    total, slowest = dask.compute(data.seconds.sum(), data.seconds.max())
    print(f"{data.seconds.size:.0e} points: sum {float(total):.6g} s, max {float(slowest):.4g} s")
    print(f"{time.perf_counter() - start:.1f} s; most memory {most_memory():.0f} MB ({before:.0f} MB before)")
    print(f"the data set in memory would take {sum(v.size * 8 for v in data.data_vars.values()) / 1e9:.1f} GB")


if __name__ == "__main__":
    main()
