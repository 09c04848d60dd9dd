"""What runs at a point: the library's choice, its run-time substitutions and parts, and what that costs."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from orrery_analytic.calls import collective_cost
from orrery_analytic.collectives.formulas import has_formula
from orrery_analytic.collectives.registry import COMPOSED, Part, beyond_openmpi, find, resolve
from orrery_analytic.cost import Cost
from orrery_analytic.decisions import Selection, runs, select
from orrery_analytic.decisions.fixed import Rules, rule_set
from orrery_analytic.decisions.names import ALGORITHMS
from orrery_analytic.decisions.whole import LARGEST_COUNT, LARGEST_SIZE, whole
from orrery_analytic.networks import Hockney, Network
from orrery_analytic.units import in_si

__all__ = ["Plan", "bytes_text", "plan_cost", "plans", "selection_of"]

#: The library sends these in segments if it is told to; their formulas are for one.
_SEGMENTS_WITHOUT_FORMULA = (("bcast", "binomial"), ("bcast", "knomial"), ("reduce", "binomial"))


class Plan(NamedTuple):
    """What runs at a point: an algorithm, its segments, the parts of a composed one, chains or radix of a tree.

    A `segment_bytes` of 0 is one segment, a `fan` of 0 what the library passes along unless told, a `radix` of 0 its
    own, 4.
    """

    algorithm: str
    segment_bytes: int = 0
    parts: tuple[str, ...] = ()
    fan: int = 0
    radix: int = 0

    def __str__(self) -> str:
        return f"{self.algorithm} ({', '.join(self.parts)})" if self.parts else self.algorithm

    @property
    def described(self) -> str:
        """The plan with its numbers, for people: "pipeline, segments of 64 KiB"."""
        told = [f"segments of {bytes_text(self.segment_bytes)}"] if self.segment_bytes else []
        told += [f"{name} {value}" for name, value in (("fan", self.fan), ("radix", self.radix)) if value]
        return ", ".join([str(self), *told])


def bytes_text(nbytes: int) -> str:
    """Return whole bytes exactly, with a binary prefix where they divide: "64 KiB", "370728 B"."""
    for power, prefix in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if nbytes and nbytes % power == 0:
            return f"{nbytes // power} {prefix}"
    return f"{nbytes} B"


def _decide(collective: str, P: Any, n: Any, rules: Rules, itemsize: int, commutative: bool) -> tuple[Any, Any, Any]:
    """Return names, and the segment sizes and fans that the library passes along, for arrays of P and n."""
    chosen = selection_of(collective, P, n, rules, itemsize, commutative)
    return np.asarray(chosen.name), np.asarray(chosen.segment_bytes), np.asarray(chosen.fan)


def selection_of(collective: str, P: Any, n: Any, rules: Rules, itemsize: int, commutative: bool) -> Selection:
    """Return what `select` says for n in the convention of `predict`: one block in allgatherv, under all rules."""
    if collective == "allgatherv" and rule_set(rules) == "openmpi-4.0":  # those rules look at the sum of all blocks
        n = _held(P, n) * P
    return select(collective, P, n, rules=rules, commutative=commutative, itemsize=itemsize)


def _held(P: Any, n: Any) -> Any:
    """Return n, or the most of which a decision still holds P n: no choice changes there, and 64 bits do not wrap."""
    return np.minimum(n, LARGEST_COUNT // P)


def plans(
    collective: str,
    P: Any,
    n: Any,
    rules: Rules = "openmpi-4.1",
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
    P, n = np.broadcast_arrays(whole("P", P, 1, LARGEST_SIZE), whole("n", in_si(n, "B", "n")))
    if algorithm is None:
        chosen, segments, fans = _decide(collective, P, n, rules, itemsize, commutative)
    else:
        chosen, segments, fans = np.full(P.shape, algorithm), *np.zeros((2, *P.shape), dtype=int)
    count = -(-n // itemsize)
    if algorithm is not None and beyond_openmpi(algorithm):
        really = np.where(P == 1, "self", chosen)
    else:
        # A rule file may take an algorithm for two ranks on others: the library returns an error.
        told = np.where((chosen == "two_proc") & (P != 2), "unsupported", chosen) if algorithm is None else chosen
        really = _really(collective, told, P, count, commutative, segments, fans, itemsize)
    parts: list[tuple[str, np.ndarray]] = []
    for (place, name), members in COMPOSED.items():
        here = (really == name) & (resolve(collective, name) == (place, name))
        if here.any():
            parts += _parts(members, P, n, here, rules, itemsize, commutative)
    key = np.zeros(P.shape, dtype=np.int64)
    for column in (really, segments, fans, *(names for _, names in parts)):
        codes, number = _coded(column)
        key = key * number + codes
    _, first, index = np.unique(key, return_index=True, return_inverse=True)
    found = [
        Plan(
            str(really.flat[i]),
            int(segments.flat[i]),
            tuple(f"{name}:{taken.flat[i]}" for name, taken in parts if taken.flat[i]),
            int(fans.flat[i]),
        )
        for i in first
    ]
    return chosen, index.reshape(P.shape), found


def _coded(column: np.ndarray) -> tuple[np.ndarray, int]:
    """Return a number for each value of an array of names or whole numbers, and how many there are."""
    known = set(column.ravel().tolist())
    codes = np.zeros(column.shape, dtype=np.int64)
    for i, value in enumerate(known):
        codes[column == value] = i
    return codes, max(len(known), 1)


def _really(
    collective: str, chosen: Any, P: Any, count: Any, commutative: bool, segments: Any, fans: Any, itemsize: int
) -> np.ndarray:
    """Return what `runs` says, asked once for each name: it looks up names of arrays one by one."""
    really = chosen.astype("U32")
    for name in set(chosen.ravel().tolist()) & {*ALGORITHMS[collective].values(), "self"}:
        here = chosen == name
        really[here] = runs(
            collective, name, P[here], count[here], commutative,
            segment_bytes=segments[here], fan=fans[here], itemsize=itemsize,
        )  # fmt: skip
    return np.asarray(really)


def _parts(
    members: tuple[Part, ...], P: Any, n: Any, here: np.ndarray, rules: Rules, itemsize: int, commutative: bool
) -> list[tuple[str, np.ndarray]]:
    """Return for each part that the library decides again its collective, and what runs `here`; "" elsewhere."""
    parts = []
    ranks = P[here]
    for part in (part for part in members if not part.algorithm):
        name, nbytes = part.collective, n[here]
        size = part.size(ranks, _held(ranks, nbytes) if part.size(2, 1) == 2 else nbytes)  # P n: the bytes of all ranks
        chosen, segments, fans = _decide(name, ranks, size, rules, itemsize, commutative)
        count = np.ones_like(size) if part.one_element else -(-size // itemsize)
        really = _really(name, chosen, ranks, count, commutative, segments, fans, itemsize)
        taken = np.full(P.shape, "", dtype="U64")
        taken[here] = really
        for kind in set(really.tolist()):
            for own in set(segments[really == kind].tolist()) - {0} if _looks_at_segments(name, kind) else ():
                taken[here] = np.where((really == kind) & (segments == own), f"{kind}:{own}", taken[here])
        parts.append((name, taken))
    return parts


def _looks_at_segments(collective: str, algorithm: str) -> bool:
    if algorithm not in ALGORITHMS[collective].values():
        return False
    return find(collective, algorithm).segmented or (collective, algorithm) in _SEGMENTS_WITHOUT_FORMULA


@lru_cache(maxsize=1024)
def plan_cost(
    collective: str,
    plan: Plan,
    network: Network = Hockney(),  # noqa: B008 - frozen
    bands: tuple[tuple[str, int], ...] = (),
    **device: Any,
) -> Cost | None:
    """Return the cost of a plan, or None where what runs has no formula on this network. One rank costs nothing.

    `device` are the options of `collective_cost` on device buffers: buffers, transport, staging, library ...; the
    result is kept, so that each must be hashable, and `bands` are pairs.
    """
    if plan.algorithm == "self":
        return Cost()
    named = [tuple(part.split(":")) for part in plan.parts]
    named = named or [(collective, plan.algorithm, *([str(plan.segment_bytes)] if plan.segment_bytes else []))]
    for where, name, *segment in named:
        if not has_formula(where, name, network) or (segment and (where, name) in _SEGMENTS_WITHOUT_FORMULA):
            return None
    segmented = not plan.parts and find(collective, plan.algorithm).segmented  # others do not look at it
    return collective_cost(
        collective,
        plan.algorithm,
        network,
        segment_bytes=plan.segment_bytes if segmented else 0,
        fan=plan.fan or 1,
        radix=plan.radix or 4,
        parts=plan.parts or None,
        bands=dict(bands) or None,
        **device,
    )
