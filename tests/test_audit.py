"""The audit of nccl-tests logs: thresholds, checks, N/A, repeats, baseline."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from orrery_analytic.busbw import bus_factor
from orrery_analytic.errors import FormatError, OrreryError
from orrery_analytic.logs import read
from orrery_analytic.logs.audit import Audit, audit

# Ten cycles, microseconds: median 860, 95th percentile 868.2, standard deviation 4.4 by hand.
TIMES = [850.0, 856.0, 858.0, 859.0, 860.0, 860.0, 861.0, 862.0, 864.0, 873.0]
SIZE = 67_108_864


def log(
    times: list[float],
    program: str = "all_reduce_perf",
    ranks: int = 4,
    size: int = SIZE,
    count: int = SIZE // 4,
    wrong: tuple[str, str] = ("0", "0"),
    add: tuple[float, float] = (0, 0),
    device: str = "Tesla V100-SXM2-32GB",
) -> str:
    lines = [
        "# nccl-tests version 2.19.5 nccl-headers=22203 nccl-library=22203",
        f"# Collective test starting: {program}",
        "# nThread 1 nGpus 4 minBytes 1048576 maxBytes 67108864 step: 64(factor) warmup iters: 5 iters: 20",
        *(f"#  Rank  {rank} Group  0 Pid 1 on node device  {rank} [0000:1b:00] {device}" for rank in range(ranks)),
        "#  size  count  type  redop  root  time  algbw  busbw  #wrong  time  algbw  busbw  #wrong",
    ]
    for time in times:
        algbw = size / time / 1e3
        busbw = algbw * float(bus_factor(program, ranks))
        half = f"{time:.2f} {algbw + add[0]:.2f} {busbw + add[1]:.2f}"
        lines.append(f"{size} {count} float sum -1 {half} {wrong[0]} {half} {wrong[1]}")
    return "\n".join(lines) + "\n"


def verdicts(result: Audit) -> dict[str, str]:
    return {check.name: check.verdict for check in result.checks}


def test_a_clean_log_passes() -> None:
    result = audit(log(TIMES), rows=10)
    assert result.passed
    assert set(verdicts(result).values()) == {"pass", "note"}
    out = result.groups[~result.groups["in_place"].astype(bool)].iloc[0]
    assert (out["cycles"], out["wrong"], out["exact"]) == (10, 0, True)
    assert out["median_seconds"] == pytest.approx(860e-6)
    assert out["p95_seconds"] == pytest.approx((864 + 0.55 * 9) * 1e-6)
    assert out["cv"] == pytest.approx(np.std(TIMES) / np.mean(TIMES))
    assert out["busbw"] == pytest.approx(1.5 * SIZE / 860e-6, rel=1e-9)
    assert result.report().startswith("PASS\n")
    assert str(result) == result.report()
    assert "117.05" in result.report()
    assert "<table>" in result._repr_html_()


def test_a_table_serves_as_well_as_a_log() -> None:
    assert audit(read(log(TIMES))).report() == audit(log(TIMES)).report()


@pytest.mark.parametrize(
    ("add", "broken"),
    [
        ((0.006, 0), []),
        ((0.05, 0), ["algbw recomputed"]),
        ((0, 0.05), ["busbw recomputed"]),
        ((0, -40), ["busbw recomputed"]),
    ],
)
def test_bandwidths_are_recomputed(add: tuple[float, float], broken: list[str]) -> None:
    result = audit(log(TIMES, add=add))
    assert [name for name, verdict in verdicts(result).items() if verdict == "fail"] == broken
    assert result.passed is not bool(broken)
    assert all(name in result.report().splitlines()[0] for name in broken)


def test_the_rounding_of_a_printed_time_is_no_error() -> None:
    # 2 MiB in 2.125 us, printed 2.12: recomputed from that, algbw is 989.22 where 986.90 is printed.
    line = f"{2**21} {2**19} float sum -1 2.12 986.90 1480.34 0 2.12 986.90 1480.34 0\n"
    result = audit(log([]) + line)
    assert verdicts(result)["algbw recomputed"] == verdicts(result)["busbw recomputed"] == "pass"
    assert "rounding of the printed time" in result.report()
    assert not audit(log([]) + line.replace("986.90", "980.90")).passed


@pytest.mark.parametrize(
    ("wrong", "out", "inside"),
    [
        (("0", "0"), "pass", "pass"),
        (("3", "0"), "fail", "pass"),
        (("0", "1"), "pass", "fail"),
        (("N/A", "N/A"), "unknown", "unknown"),
        (("0", "N/A"), "pass", "fail"),
    ],
)
def test_results_are_checked(wrong: tuple[str, str], out: str, inside: str) -> None:
    # An allreduce is checked in place too: N/A is right only if nothing is checked.
    found = verdicts(audit(log(TIMES, wrong=wrong)))
    assert (found["out-of-place results"], found["in-place results"]) == (out, inside)


def test_alltoall_is_not_checked_in_place() -> None:
    good = log(TIMES, "alltoall_perf", count=SIZE // 16, wrong=("0", "N/A"))
    assert verdicts(audit(good))["in-place without a check"] == "pass"
    assert "in-place results" not in verdicts(audit(good))
    bad = log(TIMES, "alltoall_perf", count=SIZE // 16)
    assert verdicts(audit(bad))["in-place without a check"] == "fail"


def test_repeats_that_vary_bear_no_exact_claim() -> None:
    result = audit(log([500.0, *TIMES]))
    assert verdicts(result)["repeats"] == "note"
    assert "exact claims refused" in result.report()
    assert result.passed
    assert result.baseline() == "[]\n"
    assert verdicts(audit(log([500.0, *TIMES]), cv_limit=0.5))["repeats"] == "pass"
    assert verdicts(audit(log(TIMES[:1])))["repeats"] == "unknown"
    assert audit(log(TIMES[:1])).baseline() == "[]\n"


def test_counts_and_rounded_sizes() -> None:
    result = audit(log(TIMES, "all_gather_perf", ranks=3, size=67_108_848, count=5_592_404))
    assert verdicts(result)["size and count"] == "pass"
    assert "less than was asked for" in result.report()
    record = baseline(result)[0]["workload"]
    assert (record["requested_bytes"], record["actual_bytes"]) == (67_108_864, 67_108_848)
    odd = log(TIMES).replace(f"{SIZE} {SIZE // 4}", f"{SIZE} {SIZE // 4 - 1}", 1)
    assert verdicts(audit(odd))["size and count"] == "fail"


def test_what_the_log_leaves_open_can_be_given() -> None:
    rows = log(TIMES).splitlines(keepends=True)[7:]
    found = verdicts(audit("".join(rows).replace("algbw", "algbw")))
    assert found["version of the tests"] == "unknown"
    bcast = "".join(rows).replace(" sum -1 ", " none -1 ")
    assert verdicts(audit(bcast))["busbw recomputed"] == "unknown"
    assert verdicts(audit(bcast, collective="broadcast", ranks=4))["busbw recomputed"] == "fail"
    assert verdicts(audit(bcast, collective="all_reduce", ranks=4))["busbw recomputed"] == "pass"


def test_the_number_of_rows() -> None:
    assert verdicts(audit(log(TIMES), rows=360))["number of rows"] == "fail"


def baseline(result: Audit) -> Any:
    """Read the record without a YAML library: lines are `key:` or `key: scalar`, and scalars are JSON, but for \\U."""
    records: list[dict[str, dict[str, Any]]] = []
    for line in result.baseline().splitlines():
        if line.startswith("- "):
            records.append({})
        key, _, value = line.removeprefix("- ").strip().partition(":")
        if not value:
            section = records[-1].setdefault(key, {})
        else:
            section[key] = json.loads(value.strip().replace("\\U0000", "\\u"))
    return records


def test_the_baseline_record() -> None:
    records = baseline(audit(log(TIMES)))
    assert [record["workload"]["in_place"] for record in records] == [False, True]
    record = records[0]
    assert record["software"] == {"nccl_runtime": "NCCL 2.22.3", "nccl_tests_version": "2.19.5"}
    assert record["hardware"] == {"gpu_model": "Tesla V100-SXM2-32GB", "world_size": 4, "topology_hash": None}
    assert record["workload"]["collective"] == "allreduce"
    assert record["workload"]["requested_bytes"] == record["workload"]["actual_bytes"] == SIZE
    measured = record["measurement"]
    assert (measured["warmup"], measured["iterations"], measured["cycles"], measured["wrong"]) == (5, 20, 10, 0)
    assert (measured["median_us"], measured["algbw_GBs"], measured["busbw_GBs"]) == (860.0, 78.034, 117.05)
    assert record["formula"]["factor"] == 1.5
    assert 0 < record["formula"]["max_recompute_error_GBs"] < 0.016


@pytest.mark.parametrize("device", ['V100" : {a: b}', "x\\", "# no\u2028key: 1", "- é\x85\t&a *b !!python/object:os"])
def test_hostile_words_stay_words(device: str) -> None:
    result = audit(log(TIMES, device=device))
    text = result.baseline()
    assert text.isascii()
    assert " ".join(baseline(result)[0]["hardware"]["gpu_model"].split()) == " ".join(device.split())
    assert len(text.splitlines()) == len(audit(log(TIMES)).baseline().splitlines())
    page = audit(log(TIMES).replace("2.19.5", "<script>")).report()
    assert "<script>" in page
    assert "<script>" not in audit(log(TIMES).replace("2.19.5", "<script>"))._repr_html_()


@pytest.mark.parametrize(
    "options", [{"ranks": 0}, {"collective": "redcue"}, {"rows": -1}, {"cv_limit": "5 %"}, {"cv_limit": True}]
)
def test_refused_options(options: dict[str, Any]) -> None:
    text = log(TIMES).replace("allreduce", "x")
    with pytest.raises(OrreryError):
        audit(text, **options)


def test_other_logs_are_refused() -> None:
    with pytest.raises(FormatError, match="rows of nccl-tests"):
        audit("# OSU MPI Latency Test v5.8\n# Size          Latency (us)\n8 2.25\n")
    with pytest.raises(FormatError, match="no column"):
        audit(read(log(TIMES))[["size"]])


@pytest.mark.parametrize("argument", [{"ranks": []}, {"rows": []}, {"cv_limit": 10**400}, {"ranks": [2, 3]}])
def test_arguments_that_are_no_number(argument: dict[str, Any]) -> None:
    with pytest.raises(OrreryError):
        audit(log(TIMES), **argument)
