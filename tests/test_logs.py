"""Logs of any format: sources, encodings, types of the table, and the errors that say what was seen."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import numpy as np
import pytest

from orrery_analytic.errors import FileMissingError, FormatError, OrreryError
from orrery_analytic.logs import COLUMNS, LogWarning, read

LATENCY = """# OSU MPI Latency Test v5.8
# Size          Latency (us)
0                       1.50
8                       2.25
4096                   10.75
"""
MICROSECONDS = [1.5, 2.25, 10.75]


def test_columns_have_one_type_whatever_the_log_holds() -> None:
    bandwidth = read("# OSU MPI Bandwidth Test v7.5\n# Size Bandwidth (MB/s) Validation\n1 2.00 Pass\n")
    for table in (read(LATENCY), bandwidth):
        assert {column: table[column].dtype for column in table} == {
            column: np.dtype(kind) for column, (kind, _) in COLUMNS.items()
        }
        assert table.attrs["warnings"] == []
    assert bandwidth["seconds"].isna().all()
    assert bandwidth["in_place"].isna().all()


def test_sources_give_the_same_points(tmp_path: Path) -> None:
    path = tmp_path / "latency.out"
    path.write_text(LATENCY)
    item = {"name": "up.txt", "type": "text/plain", "size": len(LATENCY), "content": memoryview(LATENCY.encode())}
    with path.open() as text, path.open("rb") as binary:
        named = [(path, str(path)), (str(path), str(path)), (text, str(path)), (binary, str(path)), (item, "up.txt")]
        named += [(LATENCY.encode(), "<bytes>"), (io.StringIO(LATENCY), "<file>"), (LATENCY, "<text>")]
        for source, name in named:
            table = read(source)
            assert list(table["seconds"] * 1e6) == MICROSECONDS
            assert set(table["file"]) == {name}


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
def test_encodings_and_line_ends(encoding: str) -> None:
    text = LATENCY.replace("10.75", "10.75  × two").replace("\n", "\r\n")
    assert list(read(text.encode(encoding))["seconds"] * 1e6) == MICROSECONDS


def test_a_missing_file_names_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "allreduce.log").write_text(LATENCY)
    with pytest.raises(FileMissingError, match=r"Did you mean .*allreduce\.log"):
        read(tmp_path / "alreduce.log")
    with pytest.raises(FileNotFoundError, match="text with at least one line break"):
        read("no such log")


@pytest.mark.parametrize("name", ["x" * 5000, "a\0b"])
def test_what_no_file_can_be_called(name: str) -> None:
    with pytest.raises(OrreryError, match="cannot be read"):
        read(name)


def test_what_is_no_log(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="is a directory"):
        read(tmp_path)
    with pytest.raises(FormatError, match="is binary"):
        read(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0>\0")
    with pytest.raises(FormatError, match="not tuple"):
        read(({"name": "a", "content": b""},))
    with pytest.raises(FormatError, match="holds int"):
        read({"name": "a", "content": 1})
    closed = io.StringIO(LATENCY)
    closed.close()
    with pytest.raises(FormatError, match="closed file"):
        read(closed)


@pytest.mark.parametrize("text", ["\n", "hello\n1 2 3\n", "#threads #repetitions t[msec]\n 0 1000 1.25\n"])
def test_unknown_formats_say_what_was_looked_for_and_seen(text: str) -> None:
    with pytest.raises(ValueError, match="Looked for: OSU micro-benchmarks") as error:
        read(text)
    assert all(repr(line) in str(error.value) or not line for line in text.strip().splitlines()[:1])


def test_problems_are_warnings_and_attributes() -> None:
    broken = "".join(f"{size} 1.x\n" for size in range(30))
    with pytest.warns(LogWarning) as caught:
        table = read(LATENCY + broken)
    assert len(table) == 3
    assert [problem.line for problem in table.attrs["warnings"]] == list(range(6, 36))
    assert str(caught[0].message) == "<text>, line 6: row breaks off: '0 1.x'"
    assert caught[0].filename == __file__
    assert len(caught) == 21
    assert "10 more lines" in str(caught[20].message)


def test_an_empty_text_is_no_path() -> None:
    for text in ("", "  "):
        with pytest.raises(FormatError, match="empty text is no log"):
            read(text)


@pytest.mark.parametrize(
    ("head", "broken"),
    [
        (LATENCY, "1 x\n"),
        ("# Benchmarking PingPong\n#bytes #repetitions t[usec] Mbytes/sec\n0 1000 2.50 0.00\n", "1 x\n"),
        ("size,time,algbw\n8,5.0,0.1\n", "8,x,1\n"),
        ("highest\n1200\n", "1x\n"),
        ("# size count type time algbw busbw\n8 2 float 5.0 0.1 0.2 0\n", "8 2 float 1\n"),
    ],
)
def test_reading_stops_where_nothing_is_a_log_any_more_and_names_the_line(head: str, broken: str) -> None:
    with pytest.warns(LogWarning) as caught:
        table = read(head + broken * 30_000)
    last = table.attrs["warnings"][-1]
    assert "lines that cannot be read stand above this one" in last.text
    assert len(table) <= 3
    assert 10_000 < last.line < 10_500
    assert f"the last is line {last.line}" in str(caught[-1].message)


def test_lines_that_another_format_reads_stop_nobody() -> None:
    imb = "# Benchmarking PingPong\n#bytes #repetitions t[usec] Mbytes/sec\n" + "8 1000 2.50 3.20\n" * 12_000
    table = read(imb + LATENCY)
    assert len(table) == 12_000 + len(MICROSECONDS)
    assert table.attrs["warnings"] == []


@pytest.mark.parametrize("line", ["[" * 3000, "9" * 3000, " " * 3000, "mpirun osu_ " * 300, "\x1b[0" * 800])
def test_long_lines_are_noise(line: str) -> None:
    with pytest.warns(LogWarning) if line[0] == "9" else contextlib.nullcontext():
        table = read(f"{LATENCY}{line}\n8192  20.50\n")
    assert list(table["seconds"] * 1e6) == [*MICROSECONDS, 20.5]


@pytest.mark.parametrize(
    "label",
    [
        *("node01: ", "worker-0 | ", "INFO ", "2021-05-05 10:10:10,123 INFO ", "[node01:123] ", "<stdout>:"),
        *("Sun May 20 14:55:08 2018[1,0]<stdout>:", "Mon Nov 30 03:54:37 UTC 2026 "),
    ],
)
def test_labels_of_hosts_and_dates_before_every_line(label: str) -> None:
    imb = "# Benchmarking PingPong\n#bytes #repetitions t[usec] Mbytes/sec\n0 1000 2.50 0.00\n4 1000 3.50 1.14\n"
    for text, times in ((LATENCY, MICROSECONDS), (imb, [2.5, 3.5])):
        table = read("".join(f"{label}{line}\n" for line in text.splitlines()))
        assert list(table["seconds"] * 1e6) == times
        assert table.attrs["warnings"] == []


@pytest.mark.parametrize(
    "line",
    [
        *("API_TOKEN: hunter2", '{"env": {"TOKEN": "hunter2"}}', "T='hunter2 x'", 'export T="hunter2', "A_KEY=hunter2"),
        *('"PASSWORD" : "hunter2",', "1 TOKEN=hunter2"),
    ],
)
def test_values_that_may_be_secret_are_not_quoted(line: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(f"{line}\n1 x\n")
    with pytest.warns(LogWarning) if line.startswith("1") else contextlib.nullcontext() as warned:
        read(f"{LATENCY}{line}\n")
    assert "hunter2" not in str(caught.value) + "".join(str(warning.message) for warning in warned or ())
