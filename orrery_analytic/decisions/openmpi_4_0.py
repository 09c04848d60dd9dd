"""The fixed decision of coll/tuned in Open MPI 2.1 to 4.0: formulas in P and n, in the order of the library's tests.

A row is (conditions, number, segment_bytes); the first whose conditions all hold answers, and () is "else". The bytes n
are those of 4.1, but for allgatherv: the total of all blocks. `count` is in elements, as the call passes it. The slopes
and intercepts are the library's own, fitted by its authors to measurements: P against n in bytes.
"""

from __future__ import annotations

from collections.abc import Mapping

from orrery_analytic.decisions.rows import Condition, FormulaRow

__all__ = ["NON_COMMUTATIVE", "TABLES"]

_KIB = 1024
_MIB = 1024 * 1024

_TWO = Condition("P", "==", 2)
_ODD = Condition("P", "is odd")
_POWER_OF_TWO = Condition("P", "is a power of two")
_ONE_ELEMENT = Condition("count", "<=", 1)


def _ranks(relation: str, slope: float, bound: float) -> Condition:
    """Return the condition `P relation slope * n + bound`."""
    return Condition("P", relation, bound, slope, "n")


TABLES: Mapping[str, tuple[FormulaRow, ...]] = {
    "allgather": (
        ((_TWO,), 6, 0),
        ((Condition("P n", "<", 50000), _POWER_OF_TWO), 3, 0),
        ((Condition("P n", "<", 50000),), 2, 0),
        ((_ODD,), 4, 0),
        ((), 5, 0),
    ),
    "allgatherv": (
        ((_TWO,), 5, 0),
        ((Condition("n", "<", 50000),), 2, 0),
        ((_ODD,), 3, 0),
        ((), 4, 0),
    ),
    "allreduce": (
        ((Condition("n", "<", 10000),), 3, 0),
        ((Condition("count", "<=", slope=1, of="P"),), 2, 0),
        ((Condition("n", "<=", slope=_MIB, of="P"),), 4, 0),
        ((), 5, _MIB),
    ),
    "alltoall": (
        ((_TWO,), 5, 0),
        ((Condition("n", "<", 200), Condition("P", ">", 12)), 3, 0),
        ((Condition("n", "<", 3000),), 1, 0),
        ((), 2, 0),
    ),
    "alltoallv": (((), 2, 0),),
    "barrier": (
        ((_TWO,), 5, 0),
        ((_POWER_OF_TWO,), 3, 0),
        ((), 4, 0),
    ),
    "bcast": (
        ((Condition("n", "<", 2048),), 6, 0),
        ((_ONE_ELEMENT,), 6, 0),
        ((Condition("n", "<", 370728),), 4, _KIB),
        ((_ranks("<", 1.6134e-6, 2.1102),), 3, 128 * _KIB),
        ((Condition("P", "<", 13),), 4, 8 * _KIB),
        ((_ranks("<", 2.3679e-6, 1.1787),), 3, 64 * _KIB),
        ((_ranks("<", 3.2118e-6, 8.7936),), 3, 16 * _KIB),
        ((), 3, 8 * _KIB),
    ),
    "gather": (
        ((Condition("n", ">", 92160),), 3, 32 * _KIB),
        ((Condition("n", ">", 6000),), 3, _KIB),
        ((Condition("P", ">", 60),), 2, 0),
        ((Condition("P", ">", 10), Condition("n", "<", 1024)), 2, 0),
        ((), 1, 0),
    ),
    "reduce": (
        ((Condition("P", "<", 8), Condition("n", "<", 512)), 1, 0),
        ((Condition("P", "<", 8), Condition("n", "<", 20480)), 5, 0),
        ((Condition("n", "<", 2048),), 5, 0),
        ((_ONE_ELEMENT,), 5, 0),
        ((_ranks(">", 0.6016 / 1024, 1.3496),), 5, _KIB),
        ((_ranks(">", 0.0410 / 1024, 9.7128),), 3, _KIB),
        ((_ranks(">", 0.0422 / 1024, 1.1614),), 4, 32 * _KIB),
        ((_ranks(">", 0.0033 / 1024, 1.6761),), 3, 32 * _KIB),
        ((), 3, 64 * _KIB),
    ),
    "reduce_scatter": (
        ((Condition("n", "<=", 12 * _KIB),), 2, 0),
        ((Condition("n", "<=", 256 * _KIB), _POWER_OF_TWO), 2, 0),
        ((_ranks(">=", 0.0012, 8),), 2, 0),
        ((), 3, 0),
    ),
    # coll/tuned did not decide this one: coll/basic's linear answered.
    "reduce_scatter_block": (((), 1, 0),),
    "scatter": (
        ((Condition("P", ">", 10), Condition("n", "<", 300)), 2, 0),
        ((), 1, 0),
    ),
}

#: Where the operation does not commute; other collectives do not ask.
NON_COMMUTATIVE: Mapping[str, tuple[FormulaRow, ...]] = {
    "allreduce": (
        ((Condition("n", "<", 10000),), 3, 0),
        ((), 2, 0),
    ),
    "reduce": (
        ((Condition("P", "<", 12), Condition("n", "<", 2048)), 1, 0),
        ((), 6, 0),
    ),
    "reduce_scatter": (((), 1, 0),),
}
