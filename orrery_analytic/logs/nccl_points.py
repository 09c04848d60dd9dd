"""What all outputs of nccl-tests and rccl-tests have in common: points, the run they belong to, and what follows.

Old versions name neither the collective nor, without a device list, the ranks. Both mostly follow from the rows: the
size is the total, so size / (count * element size) is P where the count is that of a block; and busbw / algbw is a
known function of P.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from orrery_analytic.busbw import BLOCKWISE, canonical
from orrery_analytic.errors import UnknownNameError
from orrery_analytic.logs.table import Block

__all__ = ["DATATYPE", "PROGRAM", "Point", "Run", "block", "library", "resolution"]

_ITEMSIZES = {
    1: "int8 uint8 char f8e4m3 f8e5m2 fp8_e4m3 fp8_e5m2 float8_e4m3 float8_e5m2 fp8",
    2: "half bfloat16 float16 bf16 fp16",
    4: "int32 uint32 int float float32 fp32",
    8: "int64 uint64 double float64 fp64",
}
_ITEMSIZE = {name: size for size, names in _ITEMSIZES.items() for name in names.split()}
#: Types of elements, as regular expression: the words that mark a row.
DATATYPE = r"(?:u?int(?:8|16|32|64)?|char|half|double|b(?:float|f)16|f(?:loat|p)?(?:8|16|32|64)?(?:_?e\dm\d\w{0,4})?)"
#: Names of the tests; `all_reduce_test` and its like are those of NCCL 1.
PROGRAM = re.compile(
    r"(?:all_?reduce|all_?gather|all_?to_?allv?|broadcast|bcast|reduce_?scatter|reduce|gather|scatter|sendrecv|hypercube)"
    r"(?:(?:_with)?_bias)?_(?:perf|test)\b"
)
# A rank's own block is n for these; hypercube is an allgather.
_BLOCK_IS_N = BLOCKWISE - {"reduce_scatter", "reduce_scatter_block"} | {"alltoallv"}
_REDUCES_NOTHING = ("", "none")
_GIGA = 1e9
_WIDE = 1000.0


class Point(NamedTuple):
    """One result, in-place or not; in SI, NaN or "" where it was not printed."""

    line: int
    size: float
    elements: float
    datatype: str
    reduction: str
    root: float
    in_place: bool
    seconds: float
    enqueue_seconds: float
    algbw: float
    busbw: float
    wrong: float
    deviation: float
    iterations: float = math.nan


@dataclass(frozen=True)
class Run:
    """What holds for all points of a table."""

    program: str = ""
    version: str = ""
    library: str = ""
    device: str = ""
    ranks: float = math.nan
    warmup: float = math.nan
    iterations: float = math.nan
    sweep: tuple[int, int, int, bool] | None = None  # least, most, step, whether the step multiplies


def resolution(value: float, wide: float) -> float:
    """Return half a unit in the last printed digit of a value.

    Two decimals are printed, one from `wide` on (100 for microseconds, 1000 for GB/s), none from 10,000 on; or more.
    """
    decimals = len(f"{value:.6f}".rstrip("0").partition(".")[2])
    return 0.5 * 10.0 ** -max(decimals, 2 - (value >= wide) - (value >= 10_000))


def library(code: str) -> str:
    """Return the version of NCCL that its number stands for: 22807 is 2.28.7, 2708 is 2.7.8."""
    number = int(code)
    major, rest = divmod(number, 10_000 if number >= 10_000 else 1000)
    return f"{major}.{rest // 100}.{rest % 100}"


def _blocks(points: Sequence[Point]) -> int:
    """Return how many blocks of `count` elements a size holds, if all points agree; else 0."""
    alike = {(point.size, point.elements, point.datatype) for point in points}
    widths = [(size, count * _ITEMSIZE.get(datatype, math.nan)) for size, count, datatype in alike]
    found = {size / width for size, width in widths if width > 0 and size > 0}
    ratio = found.pop() if len(found) == 1 else 0.0
    return int(ratio) if ratio.is_integer() else 0


def _guess(points: Sequence[Point], blocks: int) -> str:
    """Return which collective prints such rows, or ""."""
    reduces = {point.reduction not in _REDUCES_NOTHING for point in points}
    rooted = {point.root >= 0 for point in points}
    if len(reduces) > 1 or len(rooted) > 1 or not blocks:
        return ""
    checked = {point.in_place for point in points if not math.isnan(point.wrong) or not math.isnan(point.deviation)}
    in_place_unchecked = checked == {False} and any(point.in_place for point in points)
    if blocks > 1:
        if rooted == {True} or not checked:
            return ""  # gather and scatter look alike, and so do allgather and alltoall without a check
        return "reduce_scatter" if reduces == {True} else "alltoall" if in_place_unchecked else "allgather"
    if rooted == {True}:
        return "reduce" if reduces == {True} else "bcast"
    if in_place_unchecked:
        return "p2p"
    return "allreduce" if reduces == {True} else ""


def _ranks_of_allreduce(points: Sequence[Point]) -> float:
    """Return the one P for which busbw / algbw is 2(P-1)/P in every row, within what was printed; else NaN."""
    least, most = 2.0, math.inf
    for point in points:
        algbw, busbw = point.algbw / _GIGA, point.busbw / _GIGA
        if not 0.1 <= algbw < math.inf or not busbw < math.inf:
            continue
        low = (busbw - resolution(busbw, _WIDE)) / (algbw + resolution(algbw, _WIDE))
        high = (busbw + resolution(busbw, _WIDE)) / (algbw - resolution(algbw, _WIDE))
        least = max(least, 2 / (2 - low) if low < 2 else math.inf)
        most = min(most, 2 / (2 - high) if high < 2 else math.inf)
    if math.isinf(least):  # some row has a busbw of twice its algbw or more
        return math.nan
    if least == math.inf:  # a busbw of twice the algbw or more: no P has that
        return math.nan
    first = math.ceil(least - 1e-9)
    return float(first) if most < math.inf and first <= most < first + 1 else math.nan


def _identity(points: Sequence[Point], run: Run) -> tuple[str, float, int]:
    """Return the collective ("" if unknown), the ranks (NaN if unknown) and the blocks in a size (0 if unknown)."""
    blocks = _blocks(points)
    try:
        collective = canonical(run.program) if run.program else ""
    except UnknownNameError:
        collective = ""
    if collective != "alltoallv":
        if blocks and run.ranks != 1 and (blocks > 1) != (collective in BLOCKWISE):
            collective = ""  # the name belongs to another table
        collective = collective or _guess(points, blocks)
    ranks = run.ranks
    if blocks > 1 and collective != "alltoallv":
        ranks = float(blocks)  # a device list may be cut, a count is not
    elif math.isnan(ranks) and collective == "allreduce":
        ranks = _ranks_of_allreduce(points)
    return collective, ranks, blocks


def _n(sizes: np.ndarray[Any, Any], collective: str, ranks: float, blocks: int, reduces: bool) -> Any:
    """Return the sizes in the convention of the formulas."""
    if collective in _BLOCK_IS_N or (not collective and blocks > 1 and not reduces):
        return np.where(sizes == 0, 0.0, sizes / ranks)
    if collective or blocks == 1:
        return sizes
    return np.where(sizes == 0, 0.0, math.nan)


def _asked(size: float, run: Run, loss: float) -> float:
    """Return the size of the sweep that was rounded down to `size`, losing less than `loss` bytes; NaN if none was."""
    if run.sweep is None or not size > 0:
        return math.nan
    least, most, step, multiplies = run.sweep
    if multiplies:
        asked = least
        while 0 < asked < size and step > 1:
            asked *= step
    else:
        asked = least + max(0, -(-(int(size) - least) // step)) * step if step > 0 else least
    return float(asked) if size <= asked <= most and asked - size < loss else math.nan


def _told(texts: Sequence[str]) -> list[Any]:
    names = {text: text or math.nan for text in set(texts)}
    return [names[text] for text in texts]


def block(points: Sequence[Point], run: Run) -> Block:
    """Return the points of one table, at least one, as a block."""
    collective, ranks, blocks = _identity(points, run)
    fields: dict[str, list[Any]] = {name: [point[at] for point in points] for at, name in enumerate(Point._fields)}
    sizes, wrong, iterations = (np.array(fields[name]) for name in ("size", "wrong", "iterations"))
    reduces = not set(fields["reduction"]) <= set(_REDUCES_NOTHING)
    loss = 16 * ranks if collective in BLOCKWISE else max(_ITEMSIZE.get(name, 1) for name in set(fields["datatype"]))
    asked = {size: _asked(size, run, loss) for size in set(fields["size"])}
    validation = np.full(len(points), math.nan, dtype=object)
    validation[wrong == 0], validation[wrong > 0] = "pass", "fail"
    columns: dict[str, Any] = {
        "size": sizes,
        "n": _n(sizes, collective, ranks, blocks, reduces),
        "requested_bytes": [asked[size] for size in fields["size"]],
        "algbw_bytes_per_s": fields["algbw"],
        "busbw_bytes_per_s": fields["busbw"],
        "validation": validation,
        "iterations": np.where(np.isnan(iterations), run.iterations, iterations),
        **{name: _told(fields[name]) for name in ("datatype", "reduction")},
    }
    columns |= {name: fields[name] for name in ("root", "in_place", "seconds", "enqueue_seconds", "deviation")}
    columns |= {"count": fields["elements"], "wrong": wrong}
    constants = {"benchmark": run.program, "version": run.version, "library": run.library}
    constants |= {"collective": collective, "device": run.device}
    told: dict[str, Any] = {name: text for name, text in constants.items() if text}
    told |= {"ranks": ranks, "warmup_iterations": run.warmup}
    return Block(fields["line"], columns, told | dict.fromkeys(("buffers", "send_buffer", "recv_buffer"), "device"))
