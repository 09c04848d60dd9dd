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
