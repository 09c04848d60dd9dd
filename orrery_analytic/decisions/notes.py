"""What to know beside a choice: who answers instead of coll/tuned, and calls that end before it is asked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from orrery_analytic.decisions.substitutions import WITHOUT_ELEMENTS
from orrery_analytic.decisions.versions import Version

__all__ = ["HAN", "han_note", "notes"]

#: What coll/han decides from 5.0 on, where several ranks share each of several nodes.
HAN = ("allgather", "allreduce", "barrier", "bcast", "gather", "reduce", "scatter")
_ASKS_OPERATION = ("allreduce", "reduce")

_HAN_NOTE = (
    f"coll/han answers here: in {{}} it takes {', '.join(HAN)} on several nodes with several ranks each. "
    "This is what coll/tuned would take"
)
_EMPTY_NOTE = "a call without elements: MPI returns before it asks for an algorithm"
_UNRULED_NOTE = "the fixed decision of {} is not held here: this is that of 4.1 and 5.0"


def han_note(collective: str, version: Version | None, commutative: bool, ranks_per_node: int) -> str:
    """Return on which P coll/han answers before coll/tuned, where each node has so many ranks; "" if on none."""
    if not _asks_han(collective, version, commutative) or ranks_per_node == 1:
        return ""
    return (
        f"with {ranks_per_node} ranks a node, coll/han of Open MPI {version and version.release} answers on more than "
        f"{ranks_per_node} ranks, before any rule, unless told not to (--mca coll_han_priority 0): this is what "
        "coll/tuned takes"
    )


def _asks_han(collective: str, version: Version | None, commutative: bool) -> bool:
    new = version is not None and version >= (5, 0)
    return new and collective in HAN and (commutative or collective not in _ASKS_OPERATION)


def notes(
    collective: str,
    values: dict[str, NDArray[Any]],
    version: Version | None,
    commutative: bool,
    unruled: NDArray[np.bool_] | None,
) -> NDArray[np.str_]:
    """Return the notes at every point.

    Parameters
    ----------
    collective, commutative
        As in `select`.
    values
        P, n and, if it is known, ranks_per_node.
    version
        Of the library.
    unruled
        Where a rule file leaves the choice to the fixed decision; None without a rule file.
    """
    P = values["P"]
    places: list[tuple[NDArray[np.bool_], str]] = []
    if "ranks_per_node" in values and version and _asks_han(collective, version, commutative):
        per_node = values["ranks_per_node"]
        places.append(((per_node > 1) & (per_node < P), _HAN_NOTE.format(version.release)))
    if unruled is not None and version and version >= (6, 0):
        places.append((unruled, _UNRULED_NOTE.format(version.release)))
    if collective in WITHOUT_ELEMENTS:
        places.append(((values["n"] == 0) & (P > 1), _EMPTY_NOTE))
    # A number for each set of notes, then the text of each set that comes up.
    key = np.zeros(P.shape, dtype=np.intp)
    for i, (here, _) in enumerate(places):
        key += here * 2**i
    texts = ["; ".join(text for i, (_, text) in enumerate(places) if bits & 2**i) for bits in range(2 ** len(places))]
    used = int(key.max(initial=0)) + 1
    return np.array(texts[:used])[key]
