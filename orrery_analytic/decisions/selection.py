"""`Selection`: what the library takes, and what then really runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orrery_analytic.decisions.substitutions import really

__all__ = ["Selection"]


@dataclass(frozen=True)
class Selection:
    """What the library takes. Scalars where P and n were scalars, else arrays of their broadcast shape.

    Attributes
    ----------
    number, name
        The algorithm, as Open MPI's rules and its documentation call it.
    reason
        The row that answered: its conditions on P and n. Rows before it in the table did not hold. For a rule file its
        name and line.
    segment_bytes
        Segment size that the library passes along, in bytes; 0 is one segment.
    fan
        Fan-out or fan-in that the library passes along; 0 is the algorithm's own.
    note
        What else to know: that coll/han answers instead, or MPI returns before it asks; "" as a rule.
    """

    number: int | NDArray[np.int64]
    name: str | NDArray[np.str_]
    reason: str | NDArray[np.str_]
    segment_bytes: int | NDArray[np.int64] = 0
    fan: int | NDArray[np.int64] = 0
    note: str | NDArray[np.str_] = ""
    _call: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def runs(self) -> str | NDArray[np.str_]:
        """The algorithm that really runs, after the substitutions of the library at run time (see `runs`).

        "none" where MPI returns at once, as a call has no elements; "unsupported" where the call ends in an error
        (two_proc on other than two ranks, which only a rule file takes). Made of n and itemsize, as count = n /
        itemsize, rounded up. Worked out when first asked for.
        """
        call = dict(self._call)
        size = call.pop("itemsize")
        values = {
            "P": call.pop("P"),
            "count": -(-np.maximum(call.pop("n"), 0) // size),
            "segment_bytes": np.asarray(self.segment_bytes),
            "fan": np.asarray(self.fan),
        }
        names = really(names=np.asarray(self.name), values=values, itemsize=size, **call)
        return names if names.ndim else str(names)
