"""Numbers that people write down themselves, and the bulk and the limits of reading."""

from __future__ import annotations

import pandas as pd
import pytest

from orrery_analytic.errors import FormatError
from orrery_analytic.logs import LogWarning, read

LATENCY = "# OSU MPI Latency Test v5.8\n# Size          Latency (us)\n8                       2.25\n"
NCCL = "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"


@pytest.mark.parametrize(
    ("text", "column", "values"),
    [
        ("size_bytes,latency_us\n8,1.5\n1024,2.5\n", "seconds", [1.5e-6, 2.5e-6]),
        ("# Size  GB/s\n8 0.5\n1024 0.25\n", "bandwidth_bytes_per_s", [5e8, 2.5e8]),
        ("Size (B)\tTime [ms]\n8\t1.5\n1024\t2.5\n", "seconds", [1.5e-3, 2.5e-3]),
        ("n;seconds\n8;1.5e-6\n1024;2.5e-6\n", "seconds", [1.5e-6, 2.5e-6]),
        (
            "# taken on Friday\nMessage Size (bytes)   avg MiB/s\n8   1\n1024   2\n",
            "bandwidth_bytes_per_s",
            [2**20, 2**21],
        ),
        ("bytes,min_us,max_us,avg_us,iterations\n8,1,3,1.5,10\n1024,2,4,2.5,10\n", "seconds", [1.5e-6, 2.5e-6]),
    ],
)
def test_own_columns_are_read_where_units_are_unmistakable(text: str, column: str, values: list[float]) -> None:
    table = read(text)
    assert table["n"].tolist() == table["size"].tolist() == [8, 1024]
    assert table[column].tolist() == pytest.approx(values, rel=1e-12)
    assert table.attrs["warnings"] == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("size,time\n8,1.5\n", "Line 1: a column names no unit, and is not read; call it time_us, time_ms or seconds"),
        ("size bandwidth\n8 1.5\n", "call it bandwidth_GB/s or bandwidth_MB/s"),
        ("sise,latency_us\n8,1.5\n", "the column 'sise' is not known; did you mean 'size'?"),
        ("a,b\n8,1.5\n", "oa.fit takes a pandas table with the columns n"),
    ],
)
def test_other_columns_are_refused_with_the_way_to_bring_them(text: str, told: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(text)
    assert told in str(caught.value)
    assert "a text is read where its header names bytes and a unit, as 'size_bytes,latency_us'" in str(caught.value)


def test_rows_of_own_columns_that_are_none_are_named() -> None:
    with pytest.warns(LogWarning) as caught:
        table = read("bytes GB/s\n8 1.5\n16 x\n32 -1.0\n64 2.5\n128 3")
    assert table["line"].tolist() == [2, 5]
    assert [problem.line for problem in table.attrs["warnings"]] == [3, 4, 6]
    assert len(caught) == 3


@pytest.mark.parametrize(
    ("row", "points"),
    [
        ("8 2 float sum -1 5.00 0.10 0.20 0 7.00 0.30 0.40 3", [(5e-6, 0.1e9, 0.2e9, 0), (7e-6, 0.3e9, 0.4e9, 3)]),
        ("8 2 float 5.00 0.10 0.20 0e+00 7.00 0.30 0.40 N/A", [(5e-6, 0.1e9, 0.2e9, 0), (7e-6, 0.3e9, 0.4e9, None)]),
        ("8 2 float sum -1 5.00 0.10 0.20 0", [(5e-6, 0.1e9, 0.2e9, 0)]),
    ],
)
@pytest.mark.parametrize("label", ["", "[1,0]<stdout>:", " 0: "])
def test_rows_taken_together_are_those_taken_alone(row: str, points: list[tuple[float, ...]], label: str) -> None:
    rows = 450
    table = read("".join(f"{label}{line}\n" for line in [NCCL.strip(), *[row] * rows]))
    columns = ["seconds", "algbw_bytes_per_s", "busbw_bytes_per_s", "wrong"]
    expected = pd.DataFrame(points * rows, columns=columns, dtype=float)
    pd.testing.assert_frame_equal(table[columns], expected)
    assert table["in_place"].tolist() == [False, True][: len(points)] * rows
    assert table["line"].tolist() == [at for at in range(2, rows + 2) for _ in points]


def test_a_result_that_debug_output_moved_down_belongs_to_the_last_row() -> None:
    alone = "8 2 float sum -1 5.0 0.1 0.2 0\n"
    with pytest.warns(LogWarning, match="one result where other rows have two"):
        table = read(NCCL + alone * 3 + "h:1:1 [0] NCCL INFO x\n6.0 0.1 0.2 0\n")
    assert table["seconds"].tolist() == pytest.approx([5e-6, 5e-6, 5e-6, 6e-6])
    assert table["in_place"].tolist() == [False, False, False, True]


def test_tables_and_short_lines_without_end_stop_a_reader_that_names_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = 12_000
    with pytest.warns(LogWarning, match="tables stand above this one"):
        table = read("highest\n12\n" * rows)
    assert 10_000 <= len(table) < rows
    assert table.attrs["warnings"][-1].line == 2 * len(table) + 1
    monkeypatch.setattr("orrery_analytic.logs.table._MOST_LOOKS", 1000)
    with pytest.warns(LogWarning, match="short lines or values that are no plain rows stand above this one"):
        table = read(LATENCY + "hello there\n" * 2000 + LATENCY)
    assert table["line"].tolist() == [3]
    assert 1000 < table.attrs["warnings"][-1].line < 3000


def test_own_and_foreign_line_ends_and_stamps() -> None:
    stamped = "".join(f"Nov 30 09:00:01 {line}\n" for line in LATENCY.splitlines())
    since = "".join(f"1700000000.123456 {line}\n" for line in LATENCY.splitlines())
    for text in (stamped, since, LATENCY.replace("\n", "\r").encode()):
        table = read(text)
        assert (table["size"].tolist(), table["seconds"].tolist()) == ([8], [2.25e-6])
        assert table.attrs["warnings"] == []


def test_a_table_of_jobs_below_the_rows_is_none_of_them() -> None:
    table = read(f"{LATENCY}JobID    Elapsed   MaxRSS\n1234     00:01:02  1024K\n1234.0   1-00:01:02 1K\n")
    assert table["line"].tolist() == [3]
    assert table.attrs["warnings"] == []


def test_cells_of_a_matrix_taken_together_and_alone() -> None:
    head = "Unidirectional P2P=Enabled Bandwidth Matrix (GB/s)\n   D\\D     0      1\n"
    table = read(head + "     0 1.00 2.00\n     1 3.00 4.00\n     2 N/A 5.00\n     3 6.00 7.00\n")
    assert (table["bandwidth_bytes_per_s"] / 1e9).tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert table["source"].tolist() == [f"GPU {row}" for row in (0, 0, 1, 1, 2, 3, 3)]
    assert table["destination"].tolist() == [f"GPU {column}" for column in (0, 1, 0, 1, 1, 0, 1)]
    assert set(table["buffers"]) == {"device"}
    assert table["line"].tolist() == [3, 3, 4, 4, 5, 6, 6]


def test_runs_of_a_summary_taken_together_and_alone() -> None:
    head = "collective,algorithm,count_elements,median_us,dtype,nnodes,tasks_per_node\n"
    row = "allgather,ring,64,63.4,int32,4,4\n"
    with pytest.warns(LogWarning) as caught:
        table = read(head + row * 5 + "bcast,ring,64,,int32,4,4\n" + row.replace("allgather", "bcast"))
    assert table["n"].tolist() == [16] * 5 + [256]
    assert set(table["seconds"]) == {63.4e-6}
    assert set(table["ranks"]) == {16}
    assert len(caught) == 1
    assert table.attrs["warnings"][0].line == 7


def test_digits_of_other_scripts_are_no_numbers_where_rows_are_taken_together() -> None:
    with pytest.warns(LogWarning, match="no row of 1 times"):
        table = read("highest\n1200\n1\u096f00\n1300\n1400\n")
    assert table["line"].tolist() == [2, 4, 5]


MILLI = "n latency_ms\n8 1\n16 2\n"


@pytest.mark.parametrize("header", ["# n  time_ms", "n milliseconds", "size_bytes latency_ms", "[1,0]<stdout>:n ms"])
@pytest.mark.parametrize("first", [LATENCY, "Transfer Size (Bytes)  Bandwidth(GB/s)\n8  2.5\n"])
def test_a_header_of_own_columns_ends_the_table_above(header: str, first: str) -> None:
    table = read(f"{first}{header}\n8 1\n# more\n16 2\n")
    assert table["seconds"].tolist()[1:] == pytest.approx([1e-3, 2e-3])
    assert table.attrs["warnings"] == []


def test_a_rate_under_a_size_of_osu_is_no_time() -> None:
    table = read(f"{LATENCY}# Size GB/s\n8 1\n")
    assert table["bandwidth_bytes_per_s"].tolist()[1:] == pytest.approx([1e9])
    assert table["seconds"].tolist()[0] == 2.25e-6
    assert pd.isna(table["seconds"].tolist()[1])


@pytest.mark.parametrize(
    "text",
    ["{own}{osu}", "{osu}{own}", "{osu}\n{own}\n{osu}", "{own}\n{own}{osu}"],
    ids=["above", "below", "in", "two"],
)
@pytest.mark.parametrize("own", ["size_bytes,latency_ms\n1,2\n4,5\n", MILLI])
def test_own_tables_are_read_above_and_below_that_of_a_benchmark(text: str, own: str) -> None:
    table = read(text.format(own=own, osu=LATENCY))
    seconds = [value for part in text.replace("\n", "").split("}")[:-1] for value in _seconds(part, own)]
    assert table["seconds"].tolist() == pytest.approx(seconds)
    assert table.attrs["warnings"] == []


def _seconds(part: str, own: str) -> list[float]:
    if part == "{osu":
        return [2.25e-6]
    return [1e-3, 2e-3] if own == MILLI else [2e-3, 5e-3]


@pytest.mark.parametrize(
    ("own", "told"),
    [
        ("# n cycles\n8 1\n16 2\n", "the column 'cycles' is not known; 2 lines below"),
        ("size,time\n1,2\n4,5\n", "a column names no unit, and is not read; call it time_us"),
        ("foo,bar\n1,2\n4,5\n", "2 lines of numbers between commas, to line"),
    ],
)
@pytest.mark.parametrize("above", [True, False])
def test_tables_that_nobody_knows_are_named_with_their_rows(own: str, told: str, above: bool) -> None:
    with pytest.warns(LogWarning) as caught:
        table = read(own + LATENCY if above else LATENCY + own)
    assert table["seconds"].tolist() == [2.25e-6]
    assert len(caught) == 1
    assert told in str(caught[0].message)


@pytest.mark.parametrize("most", ["_MOST", "_LOOKED"])
def test_headers_without_end_stop_the_reading(monkeypatch: pytest.MonkeyPatch, most: str) -> None:
    monkeypatch.setattr(f"orrery_analytic.logs.beside.{most}", 3 + (most == "_LOOKED"))  # OSU's own header is looked at
    with pytest.warns(LogWarning, match="3 headers of own columns stand above this one"):
        table = read(LATENCY + "n ms\n8 1\n" * 5)
    assert table["seconds"].tolist() == pytest.approx([2.25e-6, 1e-3, 1e-3])


def test_an_error_says_where_reading_stopped() -> None:
    with pytest.raises(FormatError, match=r"Reading stopped at line 1\d{4}: 10,\d{3} lines that cannot be read stand"):
        read("size_bytes,latency_us\n" + "1,x\n" * 11_000 + "7,8\n")


def test_a_mark_of_byte_order_in_text_is_none_of_its_words() -> None:
    assert read("\ufeffsize_bytes,latency_us\n8,1.5\n")["seconds"].tolist() == pytest.approx([1.5e-6])
    assert read(f"\ufeff{LATENCY}")["line"].tolist() == [3]


def test_rows_wider_than_their_header_stop_the_reading() -> None:
    with pytest.warns(LogWarning) as caught:
        table = read(LATENCY + "8 2 3 4\n" * 12_000)
    assert 10_000 < len(table) < 12_000
    assert "3 values where the header names 1" in str(caught[0].message)
    assert "from here on nothing is read" in str(caught[-1].message)
