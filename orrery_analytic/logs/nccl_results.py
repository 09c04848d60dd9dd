"""Results of nccl-tests and rccl-tests as decoded JSON: where they stand, and what they and their document say."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from orrery_analytic.logs.nccl_points import PROGRAM, Point, Run, library
from orrery_analytic.logs.rows import number

__all__ = ["name_of", "points_of", "ranks_of", "results_in", "run_of", "run_of_record"]

_GIGA = 1e9
_WORD = re.compile(r"\w[\w.+-]{0,40}")
_CODE = re.compile(r"\d{4,6}")


def results_in(value: Any) -> Iterator[tuple[Mapping[str, Any] | None, Mapping[str, Any]]]:
    """Yield the results in a value, in order, each with the document that it belongs to, if there is one."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, list):
            waiting += reversed(item)
        elif isinstance(item, dict):
            inside = _inside(item)
            if inside is None:
                waiting += reversed([content for key, content in item.items() if key not in ("env", "args")])
            else:
                yield from inside


def _inside(item: dict[str, Any]) -> list[tuple[Mapping[str, Any] | None, Mapping[str, Any]]] | None:
    """Return the results of a document, or a result that stands alone; None for anything else."""
    results, sizes = item.get("results"), item.get("benchmark")
    if isinstance(results, list) and any(isinstance(result, dict) and _is_result(result) for result in results):
        return [(item, result) for result in results if isinstance(result, dict)]
    if isinstance(sizes, list) and any(_by_size(part) for part in sizes):
        return [(item, result) for part in sizes for result in _by_size(part)]
    if by_size := _by_size(item):
        return [(item, result) for result in by_size]
    return [(None, item)] if _is_result(item) else None


def _is_result(item: Mapping[str, Any]) -> bool:
    return "size" in item and ("algBw" in item or "out_of_place" in item or "in_place" in item)


def _by_size(item: object) -> list[Mapping[str, Any]]:
    """Return the results of an object that is keyed by size."""
    if not isinstance(item, dict):
        return []
    pairs = [(size, result) for size, result in item.items() if isinstance(result, dict) and "oop_time" in result]
    return [{**result, "size": size} for size, result in pairs]


def _value(given: object) -> float:
    """Return a number, or text that is one, as float; NaN for anything else, and for what is no finite number."""
    if type(given) is float and math.isfinite(given):
        return given
    if isinstance(given, str):
        found = number(given.strip())
        return math.nan if found is None else found
    if isinstance(given, bool) or not isinstance(given, (int, float)):
        return math.nan
    try:
        value = float(given)
    except OverflowError:
        return math.nan
    return value if math.isfinite(value) else math.nan


def _word(given: object) -> str:
    return given if isinstance(given, str) and _WORD.fullmatch(given) else ""


def _object(given: object) -> Mapping[str, Any]:
    return given if isinstance(given, dict) else {}


def points_of(line: int, result: Mapping[str, Any]) -> tuple[list[Point], str]:
    """Return the points of a result, and what is wrong with it ("" if nothing is)."""
    size = _value(result.get("size"))
    if not (0 <= size < 2**63 and size.is_integer()):
        return [], "a result without a size"
    points, fault = [], ""
    told = (
        _value(result.get("count")),
        _word(result.get("type")),
        _word(result.get("redop")),
        _value(result.get("root")),
    )
    repeats = _value(result.get("actual_iterations"))
    for in_place, (time, algbw, busbw, wrong), of_cpu in _places(result):
        seconds = _value(time) / 1e6
        if not seconds >= 0:
            fault = f"no measured time for size {size:.0f}, {'in-place' if in_place else 'out-of-place'}"
            continue
        times = (math.nan, seconds) if of_cpu else (seconds, math.nan)
        bandwidths = (_value(algbw) * _GIGA, _value(busbw) * _GIGA)
        points.append(Point(line, size, *told, in_place, *times, *bandwidths, _value(wrong), math.nan, repeats))
    return points, fault or ("" if points else f"no result for size {size:.0f}")


def _places(result: Mapping[str, Any]) -> Iterator[tuple[bool, tuple[Any, ...], bool]]:
    """Yield out-of-place and in-place, each with its values and whether the time is that of enqueueing."""
    if "algBw" in result:  # rccl-tests: each alone
        wrong = result.get("#wrong", result.get("wrong"))
        in_place = result.get("inPlace")
        yield in_place is True or _value(in_place) == 1, (*map(result.get, ("time", "algBw", "busBw")), wrong), False
        return
    for in_place, key, prefix in ((False, "out_of_place", "oop_"), (True, "in_place", "ip_")):
        if isinstance(values := result.get(key), dict):
            of_cpu = "cpu_time" in values
            names = ("cpu_time" if of_cpu else "time", "alg_bw", "bus_bw", "nwrong")
            yield in_place, tuple(map(values.get, names)), of_cpu
        elif prefix + "time" in result:
            names = (prefix + "time", prefix + "algbw", prefix + "busbw", prefix + "error")
            yield in_place, tuple(map(result.get, names)), False


def name_of(result: Mapping[str, Any]) -> str:
    """Return the name of the test that a result tells."""
    return _word(result.get("name")) or _word(result.get("experiment_name"))


def ranks_of(result: Mapping[str, Any]) -> float:
    """Return the ranks of NCCL, one a GPU, that a record of rccl-tests tells."""
    alone = _value(result.get("gpus"))
    each = _value(result.get("gpusPerRank"))
    return alone if alone > 0 else _value(result.get("ranks")) * (1 if math.isnan(each) else each)


def run_of_record(result: Mapping[str, Any], cut: Run | None) -> Run:
    """Return what a result tells that has no document, or one that breaks off after its configuration, `cut`."""
    if "algBw" not in result and cut:
        return replace(cut, program=name_of(result))
    ranks = ranks_of(result)
    return Run(program=name_of(result), ranks=ranks if ranks >= 1 and ranks.is_integer() else math.nan)


def run_of(document: Mapping[str, Any], result: Mapping[str, Any]) -> Run:
    """Return what a document says of all its results; of its command line, the name of the program alone."""
    args, config = document.get("args"), _object(document.get("config"))
    program = PROGRAM.search(args[0]) if isinstance(args, list) and args and isinstance(args[0], str) else None
    code = str(document.get("nccl_version"))
    version = _word(document.get("version"))
    together = _value(config.get("aggregated_iterations"))
    devices = document.get("devices", config.get("devices"))
    listed = [device for device in devices if isinstance(device, dict)] if isinstance(devices, list) else []
    models = {str(device.get("device_info"))[:100] for device in listed}
    return Run(
        program=program[0] if program else name_of(result),
        library=f"NCCL {library(code) if _CODE.fullmatch(code) else version}"
        if _CODE.fullmatch(code) or version
        else "",
        device=models.pop() if len(models) == 1 else "",
        ranks=_ranks(listed, config),
        warmup=_value(config.get("warmup_iters")),
        iterations=_value(config.get("iterations")) * (1 if math.isnan(together) else together),
        sweep=_sweep(config),
    )


def _ranks(devices: list[dict[str, Any]], config: Mapping[str, Any]) -> float:
    """Return the ranks that a device list shows: it has a device a process, whatever their number."""
    ranks = sorted(_value(device.get("rank")) for device in devices)
    each = _value(config.get("nthreads")) * _value(config.get("ngpus"))
    if not ranks or not ranks[-1] >= 0 or len({device.get("group") for device in devices}) > 1:
        return math.nan
    complete = len(ranks) > 1 and ranks[1] - ranks[0] == 1
    return ranks[-1] + (each if each > 1 and not complete else 1)


def _sweep(config: Mapping[str, Any]) -> tuple[int, int, int, bool] | None:
    factor = _value(config.get("step_factor"))
    step = factor if factor > 1 else _value(config.get("step_bytes"))
    least, most = _value(config.get("minimum_bytes")), _value(config.get("maximum_bytes"))
    if not (least >= 0 and most >= 0 and step >= 0):
        return None
    return int(least), int(most), int(step), factor > 1
