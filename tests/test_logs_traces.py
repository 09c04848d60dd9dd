"""CollBench: operations as a table, sends matched with receives, and predictions in the same form."""

from __future__ import annotations

import json
import math
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

import hypothesis
import hypothesis.strategies as st
import pandas as pd
import pytest

from orrery_analytic.collectives import list_algorithms, schedule
from orrery_analytic.errors import FormatError, OrreryError, QuantityError, UnknownNameError
from orrery_analytic.logs import LogWarning, read
from orrery_analytic.logs.traces import read_trace, write_trace
from orrery_analytic.networks import Hockney, LogGP
from orrery_analytic.plots import butterfly, grid, overlay, space_time, tree
from orrery_analytic.schedules.trace import Trace

ZERO = 9_007_199_254_740_993_000  # beyond what a float holds to the nanosecond
VALUES: dict[str, Any] = {"alpha": 2e-6, "beta": 1e-9, "gamma": 1e-10}


def operation(kind: str, rank: int, peer: int, step: int, start: int, end: int, wait: int = 0) -> dict[str, Any]:
    start, end, wait = ZERO + start, ZERO + end, ZERO + wait if wait else 0
    return {
        "index": 0, "operation_type": kind, "rank": rank, "peer": peer, "algo_idx": step, "t_start_ns": start,
        "t_wait_ns": wait, "t_end_ns": end, "t_issue_ns": (wait - start) % 2**64, "t_total_ns": end - start,
    }  # fmt: skip


BCAST = [
    operation("send", 0, 1, 0, 100, 400, 150),
    operation("send", 0, 1, 1, 500, 700),
    operation("recv", 1, 0, 1, 250, 900, 300),
    operation("send", 1, 2, 2, 1000, 1100, 1050),
    operation("recv", 2, 1, 2, 0, 1600, 10),
    operation("bcast", 2, 0, 9, 0, 1700),
]


def document(operations: list[dict[str, Any]], indent: int | None = 2) -> bytes:
    return json.dumps({"count": len(operations), "operations": operations}, indent=indent).encode()


def test_each_operation_is_a_row() -> None:
    table = read(document(BCAST))
    assert table[["operation", "rank", "peer", "step"]].to_numpy().tolist()[:3] == [
        ["send", 0, 1, 0], ["send", 0, 1, 1], ["recv", 1, 0, 1],
    ]  # fmt: skip
    assert list(table["start_seconds"]) == [1e-7, 5e-7, 2.5e-7, 1e-6, 0, 0]
    assert list(table["end_seconds"]) == [4e-7, 7e-7, 9e-7, 1.1e-6, 1.6e-6, 1.7e-6]
    assert list(table["seconds"]) == [3e-7, 2e-7, 6.5e-7, 1e-7, 1.6e-6, 1.7e-6]
    # t_wait is 0 where nobody waited, and t_issue then a huge number.
    assert list(table["issue_seconds"])[:3] == pytest.approx([5e-8, math.nan, 5e-8], nan_ok=True)
    assert list(table["collective"]) == ["p2p"] * 5 + ["bcast"]
    assert list(table["line"]) == [4, 16, 28, 40, 52, 64]
    assert table[["size", "n"]].isna().all(axis=None)
    assert len(read(document(BCAST, indent=None))) == 6


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("operation_type", "sned", "operation_type is 'sned'"),
        ("rank", -1, "from rank -1"),
        ("rank", 1.5, "rank is"),
        ("peer", None, "peer is"),
        ("peer", True, "peer is"),
        ("t_end_ns", 0, "ends before it begins"),
        ("t_total_ns", 7, "t_total_ns is '7'"),
        ("t_start_ns", 10**400, "t_start_ns is"),
        ("algo_idx", math.nan, "algo_idx is"),
        ("algo_idx", [[1]], "algo_idx is"),
        ("peer", {"a": 1}, "brace"),
    ],
)
def test_what_is_no_operation_is_named(key: str, value: object, told: str) -> None:
    broken = [BCAST[0], {**BCAST[1], key: value}, *BCAST[2:]]
    with pytest.warns(LogWarning, match="line 1[6-9]|line 2"):
        table = read(document(broken))
    assert len(table) == 5
    assert told in table.attrs["warnings"][0].text


def test_files_that_break_off_and_other_json() -> None:
    text = document(BCAST).decode()
    with pytest.warns(LogWarning) as caught:
        assert len(read(text[: text.index('"peer": 2')])) == 3
    assert [str(each.message).split(": ", 1)[0] for each in caught] == ["<text>, line 2", "<text>, line 40"]
    assert "a brace of the object is missing" in str(caught[1].message)
    with pytest.warns(LogWarning, match="line 2: count says 7 operations, but there are 6"):
        assert len(read(document(BCAST).replace(b'"count": 6', b'"count": 7'))) == 6
    twice = text.replace('"rank": 1,', '"rank": 1, "rank": 2,', 1)
    with pytest.warns(LogWarning, match="'rank' is there twice"):
        assert len(read(twice)) == 5
    with pytest.raises(FormatError, match="holds no measured row, though it looks like CollBench"):
        read('{"operations": [{"operation_type": ' + "[" * 5000 + "\n")
    with pytest.raises(FormatError, match="of a known format"):
        read('{"count": 0,\n "operations": []}\n')


def test_sends_and_receives_are_matched_in_their_order() -> None:
    with pytest.warns(LogWarning, match="a whole bcast is no message"):
        trace = read_trace(document(BCAST))
    assert [(m.source, m.destination, m.round, m.nbytes) for m in trace.messages] == [(0, 1, 0, None), (1, 2, 2, None)]
    assert [(m.start, m.end) for m in trace.messages] == [(1e-7, 9e-7), (1e-6, 1.6e-6)]
    assert (trace.P, trace.finish) == (3, (7e-7, 1.1e-6, 1.6e-6))
    assert [(each.rank, each.peer, each.step) for each in trace.orphans] == [(0, 1, 1)]
    notes = " ".join(trace.notes)
    assert "no sizes" in notes
    assert "different hosts" in notes
    assert "1 without a partner: 0 to 1." in notes
    assert "1 of 2 messages were received in another step" in notes
    assert notes.split()[0] in repr(trace)


def test_latencies_by_message_and_by_step() -> None:
    trace = read_trace(document(BCAST[:-1]))
    assert trace.table().to_numpy().tolist() == [
        pytest.approx([0, 1, 0, 1, math.nan, 8e-7, 3e-7, 6.5e-7], nan_ok=True),
        pytest.approx([2, 2, 1, 2, math.nan, 6e-7, 1e-7, 1.6e-6], nan_ok=True),
    ]
    steps = trace.steps()
    assert list(steps["step"]) == [0, 2]
    assert list(steps["messages"]) == [1, 1]
    assert list(steps["recv_longest"]) == pytest.approx([6.5e-7, 1.6e-6])


def test_clocks_of_different_hosts() -> None:
    late = [{**each, "t_start_ns": each["t_start_ns"] - 10**6, "t_end_ns": each["t_end_ns"] - 10**6, "t_wait_ns": 0}
            if each["rank"] == 2 else each for each in BCAST[:-1]]  # fmt: skip
    assert "end before they begin" in " ".join(read_trace(document(late)).notes)
    trace = read_trace(document(late), clocks="separate")
    assert trace.messages[-1].end == 1.6e-6
    with pytest.raises(UnknownNameError, match="clocks"):
        read_trace(document(late), clocks="shard")


def test_a_prediction_gives_the_bytes_and_tells_the_differences() -> None:
    chain = schedule("bcast", "chain", P=4, count=5, fan=1)
    trace = read_trace(document(BCAST[:-1]), chain)
    assert [message.nbytes for message in trace.messages] == [20, 20]
    assert trace.P == 4
    assert "1 messages not recorded: 2 to 3." in trace.notes
    assert not any("no sizes" in note for note in trace.notes)
    trace = read_trace(document(BCAST[:-1]), schedule("bcast", "basic_linear", P=3, count=5))
    assert "1 messages not predicted: 1 to 2." in trace.notes
    with pytest.raises(QuantityError, match="has 2 ranks"):
        read_trace(document(BCAST[:-1]), schedule("bcast", "basic_linear", P=2, count=5))
    with pytest.raises(QuantityError, match="must be a Schedule"):
        read_trace(document(BCAST[:-1]), "chain")  # type: ignore[arg-type]


def test_a_trace_without_a_pair_is_refused() -> None:
    with pytest.raises(FormatError, match="no send with its receive, but 2 of them alone"):
        read_trace(document(BCAST[:2]))
    with pytest.raises(FormatError, match="Looked for: CollBench"):
        read_trace("hello\n")


@pytest.mark.parametrize(
    ("collective", "algorithm"),
    [
        (c, a)
        for c in ("allreduce", "alltoall", "bcast", "gather")
        for a in list_algorithms(c)[:3]
        if a != "nonoverlapping"
    ],
)
def test_a_prediction_survives_the_way_through_a_file(collective: str, algorithm: str, tmp_path: Path) -> None:
    made = schedule(collective, algorithm, P=6, count=12)
    for network, values in ((Hockney(), VALUES), (LogGP(), {"L": 2e-6, "o": 1e-6, "g": 2e-6, "G": 1e-9, "gamma": 0})):
        predicted = made.trace(network, **values)
        path = tmp_path / "trace.json"
        text = write_trace(predicted, path)
        assert path.read_text() == text
        again = read_trace(path, made)
        assert again.orphans == ()
        begun = min(message.start for message in predicted.messages)
        for message, read_back in zip(
            sorted(predicted.messages, key=order), sorted(again.messages, key=order), strict=True
        ):
            assert order(message) == order(read_back)
            assert read_back.nbytes == message.nbytes
            assert read_back.start == pytest.approx(message.start - begun, abs=1.1e-9)
            assert read_back.end == pytest.approx(message.end - begun, abs=1.1e-9)


def order(message: Any) -> tuple[int, int, int, int]:
    return message.source, message.destination, message.round, round(message.start * 1e8)


def test_what_collbench_can_hold() -> None:
    exact = schedule("allreduce", "ring", P=3, count=6).trace(
        Hockney(), alpha=Fraction(1, 10**6), beta=Fraction(1, 10**9), gamma=Fraction(1, 10**9)
    )
    written = json.loads(write_trace(exact))
    assert written["count"] == len(written["operations"]) == 2 * len(exact.messages)
    first = written["operations"][0]
    assert list(first) == list(BCAST[0])
    assert (first["rank"], first["t_total_ns"], first["t_issue_ns"]) == (0, 1008, 0)
    with pytest.raises(QuantityError, match="a Trace is written"):
        write_trace(schedule("allreduce", "ring", P=3, count=6))  # type: ignore[arg-type]
    symbolic = Trace(2, (type(exact.messages[0])(0, 1, 4, 0, 0, "soon"),), (), (0, 0))
    with pytest.raises(QuantityError, match="a number of seconds"):
        write_trace(symbolic)


def test_pictures_of_schedules_take_it() -> None:
    from matplotlib import pyplot as plt

    trace = read_trace(document(BCAST[:-1]))
    texts = [text.get_text() for text in tree(trace).texts]
    assert "2 × 800 ns" in texts  # one of them was never received
    ring = read_trace(write_trace(schedule("allgather", "ring", P=4, count=1).trace(Hockney(), alpha=2e-6, beta=0)))
    for draw in (grid, overlay, butterfly, space_time):
        assert draw(ring).figure is not None
    plt.close("all")


@hypothesis.given(st.data())
@hypothesis.settings(max_examples=150, deadline=None, suppress_health_check=list(hypothesis.HealthCheck))
def test_mutations_lose_nothing_in_silence(data: st.DataObject) -> None:
    text = document(BCAST[:-1]).decode()
    starts = [text.index(f'"t_start_ns": {each["t_start_ns"]}') for each in BCAST[:-1]]
    place = data.draw(st.integers(text.index("operations") + 15, len(text) - 1))
    length = data.draw(st.integers(0, 30))
    insert = data.draw(st.sampled_from(["", "{", "}", '"', "[", ",", "9", "x", "\n", '"rank": 3,']))
    changed = text[:place] + insert + text[place + length :]
    intact = sum(not _object(text, start) & set(range(place, place + length + 1)) for start in starts)
    for reader in (read, read_trace):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                result = reader(changed.encode())
            except OrreryError:
                assert reader is read_trace or not intact
                continue
        assert {each.category for each in caught} <= {LogWarning}
        if isinstance(result, pd.DataFrame):
            assert len(result) >= intact
            assert len(result) == len(starts) or caught


def _object(text: str, inside: int) -> set[int]:
    return set(range(text.rindex("{", 0, inside), text.index("}", inside) + 1))
