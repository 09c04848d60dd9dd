"""The algorithms that Open MPI's coll/tuned offers, by collective: its numbers and its names."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["ALGORITHMS", "SELF", "algorithms_of", "list_collectives"]

#: What Open MPI calls each algorithm, by the number that its rules and MCA parameters use, in 4.1 and 5.0. The two
#: "sparbit" came with 5.0, and no fixed rule chooses them.
ALGORITHMS: Mapping[str, Mapping[int, str]] = MappingProxyType(
    {
        collective: MappingProxyType(dict(enumerate(names.split(), start=1)))
        for collective, names in {
            "allgather": "linear bruck recursive_doubling ring neighbor two_proc sparbit",
            "allgatherv": "default bruck ring neighbor two_proc sparbit",
            "allreduce": "basic_linear nonoverlapping recursive_doubling ring segmented_ring rabenseifner",
            "alltoall": "linear pairwise modified_bruck linear_sync two_proc",
            "alltoallv": "basic_linear pairwise",
            "barrier": "linear double_ring recursive_doubling bruck two_proc tree",
            "bcast": "basic_linear chain pipeline split_binary_tree binary_tree binomial knomial scatter_allgather"
            " scatter_allgather_ring",
            "exscan": "linear recursive_doubling",
            "gather": "basic_linear binomial linear_sync",
            "reduce": "linear chain pipeline binary binomial in-order_binary rabenseifner",
            "reduce_scatter": "non-overlapping recursive_halving ring butterfly",
            "reduce_scatter_block": "basic_linear recursive_doubling recursive_halving butterfly",
            "scan": "linear recursive_doubling",
            "scatter": "basic_linear binomial linear_nb",
        }.items()
    }
)

#: What other releases than 5.0 call by a number: names that differ, and None where they have none.
_ELSEWHERE: Mapping[str, Mapping[str, Mapping[int, str | None]]] = {
    "4.1": {"allgather": {7: None}, "allgatherv": {6: None}},
    "6.0": {
        "allgather": {2: "bruck-k-fanout", 8: "direct-messaging"},
        "allreduce": {7: "allgather_reduce"},
        "reduce": {8: "knomial"},
    },
}

#: On one rank the component coll/self answers every collective; it has no numbers, so 0 stands for it.
SELF: tuple[int, str] = (0, "self")


def algorithms_of(collective: str, release: str = "5.0") -> dict[int, str]:
    """Return the algorithms of a collective by number in Open MPI "4.1", "5.0" or "6.0"."""
    numbered = dict(ALGORITHMS[collective]) | dict(_ELSEWHERE.get(release, {}).get(collective, {}))
    return {number: name for number, name in numbered.items() if name is not None}


def list_collectives() -> list[str]:
    """Return the names of the collectives that the decisions know, in alphabetical order."""
    return list(ALGORITHMS)
