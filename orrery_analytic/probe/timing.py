"""How often a thing is done, and the time it takes: warm-up, repetitions for the time there is, median."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

__all__ = ["Agree", "Now", "Run", "Times", "alone", "measure", "repetitions", "sweep"]

Run = Callable[[int], None]
"""Does a thing so many times."""
Agree = Callable[[float], float]
"""Returns, on every rank that takes part, the number that the first one has."""
Now = Callable[[], float]

_SAMPLE_SECONDS = 100e-6  # reading the clock takes 0.05 us or so, and must not count
_MOST_SAMPLES, _LEAST_SAMPLES = 200, 5
_MOST_IN_A_SAMPLE = 10_000
_WARM_UP_SECONDS = 5e-3
_MOST_WARM_UP = 1000


@dataclass(frozen=True)
class Times:
    """Seconds of an iteration: median, shortest and 90th percentile of the samples, and iterations behind them."""

    median: float
    best: float
    p90: float
    iterations: int


def alone(value: float) -> float:
    """Return the value: nobody else takes part."""
    return value


def repetitions(seconds: float, share: float) -> tuple[int, int]:
    """Return how many samples are taken, and the iterations of each.

    Parameters
    ----------
    seconds
        Of an iteration, about.
    share
        Seconds that the samples may take; there are at least five.
    """
    seconds = max(seconds, 1e-9)
    batch = min(math.ceil(_SAMPLE_SECONDS / seconds), _MOST_IN_A_SAMPLE)
    return max(_LEAST_SAMPLES, min(_MOST_SAMPLES, int(share / (batch * seconds)))), batch


def measure(
    run: Run, share: float, agree: Agree = alone, settle: Callable[[], None] | None = None, now: Now = time.perf_counter
) -> Times:
    """Return the times of an iteration of `run`, after a warm-up.

    Parameters
    ----------
    run
        Every rank that takes part calls it equally often.
    share
        Seconds that it may take, about.
    agree
        Makes the ranks choose alike.
    settle
        Called after each sample; its time does not count.
    now
        The clock, in seconds.
    """

    def sample(iterations: int) -> float:
        start = now()
        run(iterations)
        seconds = (now() - start) / iterations
        if settle:
            settle()
        return seconds

    first = max(agree(sample(1)), 1e-9)
    warm = agree(sample(max(1, min(_MOST_WARM_UP, int(min(_WARM_UP_SECONDS, share / 5) / first)))))
    samples, batch = repetitions(warm, share)
    every = sorted(sample(batch) for _ in range(samples))
    return Times(statistics.median(every), every[0], every[math.ceil(0.9 * samples) - 1], samples * batch)


def sweep(
    sizes: Sequence[int],
    prepare: Callable[[int], Run],
    limit: float,
    agree: Agree = alone,
    settle: Callable[[], None] | None = None,
    now: Now = time.perf_counter,
) -> Iterator[tuple[int, Times]]:
    """Yield sizes and their times, in order; no size is begun after `limit` seconds.

    Parameters
    ----------
    sizes
        In bytes, increasing.
    prepare
        From a size to what is run.
    limit
        Seconds; what the small sizes leave goes to the large ones.
    agree, settle, now
        As in `measure`.
    """
    end = now() + limit
    for at, size in enumerate(sizes):
        share = agree((end - now()) / (len(sizes) - at))
        if share <= 0:
            return
        yield size, measure(prepare(size), share, agree, settle, now)
