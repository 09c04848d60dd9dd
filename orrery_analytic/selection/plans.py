"""What runs at a point: the library's choice, its run-time substitutions and parts, and what that costs."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from orrery_analytic.calls import collective_cost
from orrery_analytic.collectives.registry import COMPOSED, Part, beyond_openmpi, find, list_algorithms, resolve
from orrery_analytic.cost import Cost
from orrery_analytic.decisions import runs, select
from orrery_analytic.decisions.fixed import rule_set
from orrery_analytic.decisions.whole import LARGEST_SIZE, whole
from orrery_analytic.networks import Hockney, LogGP

__all__ = ["Plan", "plan_cost", "plans"]


class Plan(NamedTuple):
    """What runs at a point: an algorithm, its segments, and the parts that a composed one is made of."""

    algorithm: str
    segment_bytes: int = 0
    parts: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.algorithm} ({', '.join(self.parts)})" if self.parts else self.algorithm


def _decide(collective: str, P: Any, n: Any, rules: str, itemsize: int, commutative: bool) -> tuple[Any, Any]:
    """Return names and segment sizes that the library passes along, for arrays of P and n."""
    total = collective == "allgatherv" and rule_set(rules) == "openmpi-4.0"  # those rules look at the sum of all blocks
    chosen = select(collective, P, n * P if total else n, rules=rules, commutative=commutative, itemsize=itemsize)
    return np.asarray(chosen.name), np.asarray(chosen.segment_bytes)


def plans(
    collective: str,
    P: Any,
    n: Any,
    rules: str = "openmpi-4.1",
    algorithm: str | None = None,
    itemsize: int = 4,
    commutative: bool = True,
) -> tuple[np.ndarray, np.ndarray, list[Plan]]:
    """Return what the library takes at every point, and what then really runs.

    Parameters
    ----------
    collective, algorithm : str
        As in `predict`; P and n are arrays of whole numbers that broadcast.

    Returns
    -------
    chosen : array of str
        The library's choice, or `algorithm`.
    index : array of int
        For each point its place in the list.
    found : list of Plan
        What runs, run-time substitutions applied and the parts of composed algorithms decided.
    """
    # As 64-bit integers: in the caller's type, sums of blocks could overflow.
    P, n = np.broadcast_arrays(whole("P", P, 1, LARGEST_SIZE), whole("n", n))
    if algorithm is None:
        chosen, segments = _decide(collective, P, n, rules, itemsize, commutative)
    else:
        chosen, segments = np.full(P.shape, algorithm), np.zeros(P.shape, dtype=int)
    count = -(-n // itemsize)
    if algorithm is not None and beyond_openmpi(algorithm):
        really = np.where(P == 1, "self", chosen)
    else:
        really = np.asarray(
            runs(collective, chosen, P, count, commutative=commutative, segment_bytes=segments, itemsize=itemsize)
        )
    parts = np.full(P.shape, "", dtype=object)
    for (place, name), members in COMPOSED.items():
        here = (really == name) & (resolve(collective, name) == (place, name))
        if here.any():
            parts[here] = _parts(members, P[here], n[here], rules, itemsize, commutative)
    rows = zip(really.flat, segments.flat, parts.flat, strict=True)
    keys = [Plan(str(name), int(segment), tuple(made_of.split())) for name, segment, made_of in rows]
    found = list(dict.fromkeys(keys))
    place_of = {key: i for i, key in enumerate(found)}
    return chosen, np.array([place_of[key] for key in keys], dtype=int).reshape(P.shape), found


def _parts(members: tuple[Part, ...], P: Any, n: Any, rules: str, itemsize: int, commutative: bool) -> list[str]:
    """Return for each point the parts that the library decides again, as "collective:algorithm" in one text."""
    columns = []
    for name, size in ((part.collective, part.size(P, n)) for part in members if not part.algorithm):
        names, segments = _decide(name, P, size, rules, itemsize, commutative)
        count = -(-size // itemsize)
        really = runs(name, names, P, count, commutative=commutative, segment_bytes=segments, itemsize=itemsize)
        columns.append([f"{name}:{kind}" for kind in np.asarray(really)])
    return [" ".join(row) for row in zip(*columns, strict=True)]


@lru_cache(maxsize=1024)
def plan_cost(
    collective: str,
    plan: Plan,
    network: Hockney | LogGP = Hockney(),  # noqa: B008 - frozen
    buffers: str = "host",
    transport: str | None = None,
    staging: str = "printed",
    bands: tuple[tuple[str, int], ...] = (),
) -> Cost | None:
    """Return the cost of a plan, or None where what runs has no formula yet. One rank costs nothing."""
    if plan.algorithm == "self":
        return Cost()
    named = [tuple(part.split(":")) for part in plan.parts] or [(collective, plan.algorithm)]
    if any(name not in list_algorithms(where) for where, name in named):
        return None
    if plan.segment_bytes and (plan.parts or not find(collective, plan.algorithm).segmented):
        return None
    return collective_cost(
        collective,
        plan.algorithm,
        network,
        buffers=buffers,
        transport=transport,
        staging=staging,
        segment_bytes=plan.segment_bytes,
        parts=plan.parts or None,
        bands=dict(bands) or None,
    )
