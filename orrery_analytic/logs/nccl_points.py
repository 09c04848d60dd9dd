"""What all outputs of nccl-tests and rccl-tests have in common: points, the run they belong to, and what follows.

Old versions name neither the collective nor, without a device list, the ranks. Both mostly follow from the rows: the
size is the total, so size / (count * element size) is P where the count is that of a block; and busbw / algbw is a
known function of P.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orrery_analytic.busbw import BLOCKWISE, canonical
from orrery_analytic.errors import UnknownNameError
from orrery_analytic.logs.rows import Rows
from orrery_analytic.logs.table import Block

__all__ = ["DATATYPE", "PROGRAM", "Point", "Points", "Run", "block", "library", "resolution"]

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
_HALF_DIGITS = np.array([0.5 * 10.0**-decimals for decimals in range(7)])


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


class Points(Rows):
    """The points of a table, by column: those of `Point`."""

    def take(self, points: Iterable[Point]) -> None:
        """Add points one by one."""
        for point in points:
            self.add(point.line, Point._fields, point)

    def together(self, each: Mapping[str, Any], results: Sequence[Mapping[str, Any]]) -> None:
        """Add the points of many rows by column: what a row says of all its points, and what of one each."""
        points = [{**each, **result} for result in results]
        columns = {name: _in_turn([point[name] for point in points]) for name in points[0]}
        self.many(columns["line"], columns)


def _in_turn(columns: list[Any]) -> Any:
    """Return columns as one: the first value of each, the second of each ..."""
    return np.stack([np.asarray(column) for column in columns], axis=1).ravel() if len(columns) > 1 else columns[0]


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


def resolution(value: Any, wide: float) -> Any:
    """Return half a unit in the last printed digit of values.

    Two decimals are printed, one from `wide` on (100 for microseconds, 1000 for GB/s), none from 10,000 on; or more.
    """
    value = np.nan_to_num(value, posinf=0.0)
    millionths = np.rint(value * 1e6)
    decimals = sum((millionths % 10.0**more != 0).astype(int) for more in range(6, 0, -1))
    return _HALF_DIGITS[np.maximum(decimals, 2 - (value >= wide).astype(int) - (value >= 10_000))]


def library(code: str) -> str:
    """Return the version of NCCL that its number stands for: 22807 is 2.28.7, 2708 is 2.7.8."""
    number = int(code)
    major, rest = divmod(number, 10_000 if number >= 10_000 else 1000)
    return f"{major}.{rest // 100}.{rest % 100}"


def _blocks(fields: Mapping[str, Any]) -> int:
    """Return how many blocks of `count` elements a size holds, if all points agree; else 0."""
    sizes, datatypes = np.asarray(fields["size"]), fields["datatype"]
    itemsizes = {name: _ITEMSIZE.get(name, math.nan) for name in set(datatypes)}
    widths = np.asarray(fields["elements"]) * np.array([itemsizes[name] for name in datatypes])
    known = (widths > 0) & (sizes > 0)
    found = sizes[known] / widths[known]
    return int(found[0]) if len(found) and found[0].is_integer() and (found == found[0]).all() else 0


def _guess(fields: Mapping[str, Any], blocks: int) -> str:
    """Return which collective prints such rows, or ""."""
    reduces = {reduction not in _REDUCES_NOTHING for reduction in set(fields["reduction"])}
    rooted = set((np.asarray(fields["root"]) >= 0).tolist())
    if len(reduces) > 1 or len(rooted) > 1 or not blocks:
        return ""
    in_place = np.asarray(fields["in_place"], dtype=bool)
    unchecked = np.isnan(np.asarray(fields["wrong"])) & np.isnan(np.asarray(fields["deviation"]))
    checked = set(in_place[~unchecked].tolist())
    in_place_unchecked = checked == {False} and bool(in_place.any())
    if blocks > 1:
        if rooted == {True} or not checked:
            return ""  # gather and scatter look alike, and so do allgather and alltoall without a check
        return "reduce_scatter" if reduces == {True} else "alltoall" if in_place_unchecked else "allgather"
    if rooted == {True}:
        return "reduce" if reduces == {True} else "bcast"
    if in_place_unchecked:
        return "p2p"
    return "allreduce" if reduces == {True} else ""


def _ranks_of_allreduce(fields: Mapping[str, Any]) -> float:
    """Return the one P for which busbw / algbw is 2(P-1)/P in every row, within what was printed; else NaN."""
    algbw, busbw = np.asarray(fields["algbw"]) / _GIGA, np.asarray(fields["busbw"]) / _GIGA
    sure = (algbw >= 0.1) & (algbw < math.inf) & (busbw < math.inf)
    algbw, busbw = algbw[sure], busbw[sure]
    of_algbw, of_busbw = resolution(np.stack((algbw, busbw)), _WIDE)
    least = max([2.0, *_ranks_of((busbw - of_busbw) / (algbw + of_algbw))])
    most = min(_ranks_of((busbw + of_busbw) / (algbw - of_algbw)), default=math.inf)
    if math.isinf(least):  # some row has a busbw of twice its algbw or more: no P has that
        return math.nan
    first = math.ceil(least - 1e-9)
    return float(first) if most < math.inf and first <= most < first + 1 else math.nan


def _ranks_of(factor: NDArray[np.float64]) -> list[float]:
    """Return the P, no whole number, for which 2(P-1)/P is a factor; infinity where none is."""
    ranks = np.full(factor.shape, math.inf)
    found: list[float] = np.divide(2.0, 2 - factor, out=ranks, where=factor < 2).tolist()
    return found


def _identity(fields: Mapping[str, Any], run: Run) -> tuple[str, float, int]:
    """Return the collective ("" if unknown), the ranks (NaN if unknown) and the blocks in a size (0 if unknown)."""
    blocks = _blocks(fields)
    try:
        collective = canonical(run.program) if run.program else ""
    except UnknownNameError:
        collective = ""
    if collective != "alltoallv":
        if blocks and run.ranks != 1 and (blocks > 1) != (collective in BLOCKWISE):
            collective = ""  # the name belongs to another table
        collective = collective or _guess(fields, blocks)
    ranks = run.ranks
    if blocks > 1 and collective != "alltoallv":
        ranks = float(blocks)  # a device list may be cut, a count is not
    elif math.isnan(ranks) and collective == "allreduce":
        ranks = _ranks_of_allreduce(fields)
    return collective, ranks, blocks


def _n(sizes: np.ndarray[Any, Any], collective: str, ranks: float, blocks: int, reduces: bool) -> Any:
    """Return the sizes in the convention of the formulas."""
    if collective in _BLOCK_IS_N or (not collective and blocks > 1 and not reduces):
        return np.where(sizes == 0, 0.0, sizes / ranks)
    if collective or blocks == 1:
        return sizes
    return np.where(sizes == 0, 0.0, math.nan)


def _asked(size: float, sweep: tuple[int, int, int, bool], loss: float) -> float:
    """Return the size of the sweep that was rounded down to `size`, losing less than `loss` bytes; NaN if none was."""
    if not size > 0:
        return math.nan
    least, most, step, multiplies = sweep
    if multiplies:
        asked = least
        while 0 < asked < size and step > 1:
            asked *= step
    else:
        asked = least + max(0, -(-(int(size) - least) // step)) * step if step > 0 else least
    return float(asked) if size <= asked <= most and asked - size < loss else math.nan


def block(points: Points, run: Run) -> Block:
    """Return the points of one table, at least one, as a block."""
    found = points.columns()
    nothing = np.broadcast_to(math.nan, len(found["line"]))
    fields = dict.fromkeys(Point._fields, nothing) | found
    collective, ranks, blocks = _identity(fields, run)
    sizes, wrong, iterations = (np.asarray(fields[name]) for name in ("size", "wrong", "iterations"))
    reduces = not set(fields["reduction"]) <= set(_REDUCES_NOTHING)
    validation = np.full(len(sizes), math.nan, dtype=object)
    validation[wrong == 0], validation[wrong > 0] = "pass", "fail"
    columns: dict[str, Any] = {
        "size": sizes,
        "n": _n(sizes, collective, ranks, blocks, reduces),
        "algbw_bytes_per_s": fields["algbw"],
        "busbw_bytes_per_s": fields["busbw"],
        "validation": validation,
        "iterations": np.where(np.isnan(iterations), run.iterations, iterations),
    }
    if run.sweep:
        loss = (
            16 * ranks if collective in BLOCKWISE else max(_ITEMSIZE.get(name, 1) for name in set(fields["datatype"]))
        )
        asked = {size: _asked(size, run.sweep, loss) for size in set(sizes.tolist())}
        columns["requested_bytes"] = [asked[size] for size in sizes.tolist()]
    columns |= {name: fields[name] for name in ("root", "in_place", "seconds", "enqueue_seconds", "deviation")}
    columns |= {"count": fields["elements"], "wrong": wrong}
    constants = {"benchmark": run.program, "version": run.version, "library": run.library}
    constants |= {"collective": collective, "device": run.device}
    told: dict[str, Any] = {name: text for name, text in constants.items() if text}
    told |= {"ranks": ranks, "warmup_iterations": run.warmup}
    for name in ("datatype", "reduction"):
        texts = set(fields[name])
        if len(texts) > 1:
            columns[name] = [text or math.nan for text in fields[name]]
        elif text := texts.pop():
            told[name] = text
    return Block(fields["line"], columns, told | dict.fromkeys(("buffers", "send_buffer", "recv_buffer"), "device"))
