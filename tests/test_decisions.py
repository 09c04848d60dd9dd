from __future__ import annotations

import numpy as np
import pytest

from orrery_analytic.decisions import (
    ALGORITHMS,
    SUBSTITUTIONS,
    list_collectives,
    openmpi_4_0,
    openmpi_4_1,
    pieces,
    runs,
    select,
)
from orrery_analytic.decisions.fixed import rule_set
from orrery_analytic.decisions.names import algorithms_of
from orrery_analytic.decisions.whole import power_of_two_below
from orrery_analytic.errors import QuantityError, UnknownNameError

MIB = 2**20
CELL_TABLES = [
    (collective, commutative, table)
    for commutative, tables in ((True, openmpi_4_1.TABLES), (False, openmpi_4_1.NON_COMMUTATIVE))
    for collective, table in tables.items()
]
FORMULA_TABLES = [*openmpi_4_0.TABLES.items(), *openmpi_4_0.NON_COMMUTATIVE.items()]


# --- the data


def test_both_rule_sets_decide_the_same_collectives():
    assert set(openmpi_4_1.TABLES) == set(openmpi_4_0.TABLES) == set(ALGORITHMS) - {"scan", "exscan"}
    assert list_collectives() == sorted(ALGORITHMS)


@pytest.mark.parametrize(("collective", "commutative", "table"), CELL_TABLES)
def test_cells_ascend_end_with_an_else_and_name_their_algorithms(collective, commutative, table):
    for bounds in ([size for size, _ in table], *([limit for limit, _ in cells] for _, cells in table)):
        assert bounds[-1] is None
        assert None not in bounds[:-1]
        assert bounds[:-1] == sorted(set(bounds[:-1]))
    assert {number for _, cells in table for _, number in cells} <= set(ALGORITHMS[collective])


@pytest.mark.parametrize(("collective", "table"), FORMULA_TABLES)
def test_formulas_end_with_their_only_else_and_name_their_algorithms(collective, table):
    assert [not conditions for conditions, _, _ in table] == [False] * (len(table) - 1) + [True]
    assert {number for _, number, _ in table} <= set(ALGORITHMS[collective])


def test_numbers_and_names_are_those_of_open_mpi():
    assert ALGORITHMS["reduce"] == {
        1: "linear",
        2: "chain",
        3: "pipeline",
        4: "binary",
        5: "binomial",
        6: "in-order_binary",
        7: "rabenseifner",
    }
    assert ALGORITHMS["reduce_scatter"][1] == "non-overlapping"
    assert ALGORITHMS["allreduce"][2] == "nonoverlapping"
    assert ALGORITHMS["bcast"][9] == "scatter_allgather_ring"


# --- the choice


@pytest.mark.parametrize(("collective", "commutative", "table"), CELL_TABLES)
def test_every_bound_from_both_sides(collective, commutative, table):
    below = 1
    for size, cells in table:
        ranks = max(below, 2)  # the first P of this row; its last one is checked beside it
        last = ranks if size is None else size - 1
        start = 0
        for limit, number in cells:
            ends = [start, start + 1 if limit is None else limit - 1]
            chosen = select(collective, [[ranks], [last]], ends, commutative=commutative)
            assert np.all(chosen.number == number)
            start = limit
        below = size


@pytest.mark.parametrize(
    ("P", "number", "name"),
    [(128, 4, "ring"), (256, 4, "ring"), (512, 5, "neighbor"), (1024, 5, "neighbor"), (2048, 5, "neighbor")],
)
def test_allgather_of_a_mebibyte_a_rank(P, number, name):
    chosen = select("allgather", P, MIB)
    assert (chosen.number, chosen.name) == (number, name)
    assert select("allgather", P, MIB, rules="openmpi-4.0").name == "neighbor"


@pytest.mark.parametrize(
    ("collective", "P", "n", "number", "reason"),
    [
        ("allreduce", 100, 262143, 3, "P < 128 and n < 262144"),
        ("allreduce", 100, 262144, 6, "P < 128 and n >= 262144"),
        ("allreduce", 128, 262143, 3, "P < 256 and n < 262144"),
        ("allreduce", 4096, 32768, 6, "P >= 4096 and n >= 32768"),
        ("allreduce", 4096, 2047, 2, "P >= 4096 and n < 2048"),
        ("bcast", 64, 5, 7, "P < 128, any n"),
        ("gather", 512, 5, 2, "P >= 512, any n"),
        ("alltoall", 2, 3, 5, "P == 2 and n < 4"),
        ("barrier", 300, 0, 6, "P < 512, any n"),
        ("scan", 64, 5, 1, "coll/basic"),
        ("exscan", 64, 5, 1, "coll/basic"),
        ("allreduce", 1, 5, 0, "P == 1: coll/self answers"),
    ],
)
def test_reason_names_the_row(collective, P, n, number, reason):
    chosen = select(collective, P, n)
    assert (chosen.number, chosen.reason) == (number, reason)


def test_reason_of_a_table_without_bounds():
    assert select("reduce_scatter", 7, 5, commutative=False).reason == "any P, any n"


@pytest.mark.parametrize(
    ("collective", "P", "n", "name", "segment_bytes", "reason"),
    [
        ("allreduce", 8, 9999, "recursive_doubling", 0, "n < 10000"),
        ("allreduce", 8, 8 * MIB, "ring", 0, "n <= 1048576 P"),
        ("allreduce", 8, 8 * MIB + 1, "segmented_ring", MIB, "n > 1048576 P"),
        ("allreduce", 12000, 12000, "nonoverlapping", 0, "count <= P"),
        ("allgather", 8, 6249, "recursive_doubling", 0, "P n < 50000 and P is a power of two"),
        ("allgather", 8, 6250, "neighbor", 0, "P is even"),
        ("allgather", 7, 7143, "ring", 0, "P is odd"),
        ("allgather", 7, 7142, "bruck", 0, "P n < 50000"),
        ("barrier", 12, 0, "bruck", 0, "P is no power of two"),
        ("bcast", 3, 2**30, "pipeline", 128 * 1024, "P < 1.6134e-06 n + 2.1102"),
        ("bcast", 512, 10**6, "pipeline", 8 * 1024, "P >= 3.2118e-06 n + 8.7936"),
        ("scatter", 10, 299, "basic_linear", 0, "P <= 10 or n >= 300"),
        ("scatter", 11, 299, "binomial", 0, "P > 10 and n < 300"),
        ("reduce_scatter_block", 11, 299, "basic_linear", 0, "any P, any n"),
    ],
)
def test_formulas_of_4_0(collective, P, n, name, segment_bytes, reason):
    chosen = select(collective, P, n, rules="openmpi-4.0")
    assert (chosen.name, chosen.segment_bytes, chosen.fan, chosen.reason) == (name, segment_bytes, 0, reason)


def test_4_0_counts_elements_where_the_library_does():
    assert select("allreduce", 4096, 16384, rules="openmpi-4.0", itemsize=1).name == "ring"
    assert select("allreduce", 4096, 16384, rules="openmpi-4.0", itemsize=4).name == "nonoverlapping"
    assert select("bcast", 64, 4096, rules="openmpi-4.0", itemsize=4096).reason == "count <= 1"


def test_operations_that_do_not_commute():
    assert select("allreduce", 16, MIB, commutative=False).name == "recursive_doubling"
    assert select("reduce", 16, MIB, commutative=False).name == "in-order_binary"
    assert select("reduce", 11, 2047, rules="4.0", commutative=False).name == "linear"
    assert select("bcast", 16, MIB, commutative=False) == select("bcast", 16, MIB)


# --- shapes


def test_scalars_give_scalars():
    chosen = select("allreduce", np.int64(8), 1024)
    assert [type(x) for x in (chosen.number, chosen.name, chosen.reason)] == [int, str, str]


def test_arrays_broadcast_and_agree_with_scalars():
    P, n = np.array([[1], [2], [100], [5000]]), np.array([0, 1, 4096, MIB])
    chosen = select("allreduce", P, n)
    assert chosen.number.shape == chosen.name.shape == chosen.reason.shape == chosen.segment_bytes.shape == (4, 4)
    for i, j in np.ndindex(4, 4):
        one = select("allreduce", int(P[i, 0]), int(n[j]))
        assert (chosen.number[i, j], chosen.name[i, j], chosen.reason[i, j]) == (one.number, one.name, one.reason)


def test_whole_floats_and_empty_arrays_are_taken():
    assert select("bcast", 64.0, 1e6) == select("bcast", 64, 1000000)
    assert select("bcast", 64, []).name.shape == (0,)


# --- rules


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("openmpi-4.1", "openmpi-4.1"),
        ("4.1.6", "openmpi-4.1"),
        ("5.0.3", "openmpi-4.1"),
        ("openmpi-5.0", "openmpi-4.1"),
        ("Open MPI v5.0.0rc2", "openmpi-4.1"),
        ("openmpi-4.0", "openmpi-4.0"),
        ("v4.0.7", "openmpi-4.0"),
        ("3.1", "openmpi-4.0"),
        ("2.1.6", "openmpi-4.0"),
        ("v5.0.x", "openmpi-4.1"),
        ("Open MPI 4.1.4rc1", "openmpi-4.1"),
        ("ompi 4.0.7", "openmpi-4.0"),
        ("(Open MPI) 4.1.4", "openmpi-4.1"),
        ("mpirun (Open MPI) 4.1.4", "openmpi-4.1"),
        ("mpirun (Open MPI) 5.0.3\n\nReport bugs to http://www.open-mpi.org/community/help/\n", "openmpi-4.1"),
        ("Open MPI v4.1.5, package: Debian OpenMPI, ident: 4.1.5, repo rev: v4.1.5, Feb 23, 2023", "openmpi-4.1"),
        ("4.1.4-3+b1", "openmpi-4.1"),
        ("openmpi/4.1.6-gcc", "openmpi-4.1"),
        ("OpenMPI/4.1.5-GCC-12.3.0", "openmpi-4.1"),
        ("openmpi@4.0.7%gcc", "openmpi-4.0"),
    ],
)
def test_versions_that_people_have(given, name):
    assert rule_set(given) == name
    assert select("allgather", 128, MIB, rules=given) == select("allgather", 128, MIB, rules=name)


@pytest.mark.parametrize(
    "given",
    [
        "6.0.0",
        "2.0",
        "4",
        "mpich-4.1",
        "openmpi-4.10",
        "",
        4.1,
        None,
        "3.2",
        "9.1",
        "4.1.6.2",
        "14.1",
        "4.1 6",
        ["4.1"],
    ],
)
def test_unknown_rules(given):
    with pytest.raises(UnknownNameError, match=r"openmpi-4\.0, openmpi-4\.1, openmpi-5\.0"):
        select("bcast", 8, 8, rules=given)


def test_versions_with_other_tables():
    for given in ("6.0", "v6.0.1", "mpirun (Open MPI) 6.1.0"):
        with pytest.raises(UnknownNameError, match=r"Open MPI 6\.\d has other tables, which are not held here"):
            select("bcast", 8, 8, rules=given)


def test_names_of_each_release():
    assert 7 not in algorithms_of("allgather", "4.1")
    assert algorithms_of("allgather", "5.0") == ALGORITHMS["allgather"]
    assert algorithms_of("allgather", "6.0")[2] == "bruck-k-fanout"
    assert algorithms_of("reduce", "6.0")[8] == "knomial"
    assert algorithms_of("bcast", "4.1") == algorithms_of("bcast", "6.0") == ALGORITHMS["bcast"]


def test_nearest_spellings():
    with pytest.raises(UnknownNameError, match="Did you mean 'allreduce'"):
        select("all_reduce", 8, 8)
    with pytest.raises(UnknownNameError, match=r"Did you mean 'openmpi-4\.1'"):
        select("allreduce", 8, 8, rules="openmpi_4_1")
    with pytest.raises(UnknownNameError, match="Did you mean 'recursive_doubling'"):
        runs("allreduce", "recursive-doubling", 8, 8)


# --- P and n


@pytest.mark.parametrize("bad", [-1, 2.5, np.nan, np.inf, None, True, 2**70, [4, -1], [[1, 2], [3]], 1j])
def test_what_is_no_number_of_bytes_or_ranks(bad):
    with pytest.raises(QuantityError, match=r"^n = .*whole numbers from 0 to"):
        select("bcast", 8, bad)
    with pytest.raises(QuantityError, match=r"^P = .*whole numbers from 1 to 2147483647"):
        select("bcast", bad, 8)


def test_bytes_may_be_sizes_with_units_and_ranks_may_not():
    assert select("bcast", 8, ["1 MiB", 4096]).name.tolist() == select("bcast", 8, [2**20, 4096]).name.tolist()
    with pytest.raises(QuantityError, match="n = '8' is a number without a unit"):
        select("bcast", 8, "8")
    with pytest.raises(QuantityError, match="P = '8': allowed are whole numbers"):
        select("bcast", "8", 8)


def test_errors_name_the_offender_and_the_nearest_number():
    with pytest.raises(QuantityError, match=r"P = 0: .*Nearest: 1\."):
        select("bcast", [4, 0], 8)
    with pytest.raises(QuantityError, match=r"n = 7\.9: .*Nearest: 8\."):
        select("bcast", 4, 7.9)
    with pytest.raises(QuantityError, match=r"P \(2,\), n \(3,\)"):
        select("bcast", [4, 5], [1, 2, 3])


def test_collectives_that_take_any_n():
    for collective in ("alltoallv", "barrier"):
        assert select(collective, 64, -1) == select(collective, 64, 10**9)


# --- what runs


@pytest.mark.parametrize(
    ("collective", "chosen", "P", "count", "options", "name"),
    [
        ("allgather", "recursive_doubling", 12, 5, {}, "bruck"),
        ("allgather", "recursive_doubling", 16, 5, {}, "recursive_doubling"),
        ("allgather", "neighbor", 7, 5, {}, "ring"),
        ("allgather", "neighbor", 8, 5, {}, "neighbor"),
        ("allgatherv", "neighbor", 7, 5, {}, "ring"),
        ("allgatherv", "neighbor", 8, 5, {}, "neighbor"),
        ("allreduce", "ring", 8, 7, {}, "recursive_doubling"),
        ("allreduce", "ring", 8, 8, {}, "ring"),
        ("allreduce", "segmented_ring", 8, 10**6, {}, "ring"),
        ("allreduce", "segmented_ring", 8, 7, {}, "recursive_doubling"),
        ("allreduce", "segmented_ring", 8, 800, {"segment_bytes": 400}, "segmented_ring"),
        ("allreduce", "segmented_ring", 8, 799, {"segment_bytes": 400}, "ring"),
        ("allreduce", "segmented_ring", 8, 800, {"segment_bytes": 402}, "segmented_ring"),  # 100.5 elements are 100
        ("allreduce", "segmented_ring", 8, 800, {"segment_bytes": 403}, "ring"),  # 100.75 elements are 101
        ("allreduce", "segmented_ring", 8, 800, {"segment_bytes": 3}, "ring"),  # less than an element: no segments
        ("allreduce", "rabenseifner", 15, 7, {}, "basic_linear"),
        ("allreduce", "rabenseifner", 15, 8, {}, "rabenseifner"),
        ("allreduce", "rabenseifner", 15, 8, {"commutative": False}, "basic_linear"),
        ("bcast", "scatter_allgather", 9, 8, {}, "basic_linear"),
        ("bcast", "scatter_allgather", 9, 9, {}, "scatter_allgather"),
        ("bcast", "scatter_allgather_ring", 9, 8, {}, "basic_linear"),
        ("bcast", "scatter_allgather_ring", 9, 9, {}, "scatter_allgather_ring"),
        ("bcast", "split_binary_tree", 9, 1, {}, "pipeline"),
        ("bcast", "split_binary_tree", 9, 1, {"fan": 4}, "pipeline"),
        ("bcast", "split_binary_tree", 9, 2, {}, "split_binary_tree"),
        ("bcast", "split_binary_tree", 9, 513, {"segment_bytes": 1024}, "split_binary_tree"),
        ("bcast", "split_binary_tree", 9, 511, {"segment_bytes": 1024}, "pipeline"),
        ("bcast", "chain", 9, 100, {}, "pipeline"),
        ("bcast", "chain", 9, 100, {"fan": 1}, "pipeline"),
        ("bcast", "chain", 9, 100, {"fan": 2}, "chain"),
        ("reduce", "rabenseifner", 15, 7, {}, "linear"),
        ("reduce", "rabenseifner", 15, 8, {}, "rabenseifner"),
        ("reduce", "rabenseifner", 15, 8, {"commutative": False}, "linear"),
        ("reduce", "chain", 9, 100, {}, "pipeline"),
        ("reduce", "chain", 9, 100, {"fan": 4}, "chain"),
        ("reduce_scatter_block", "recursive_doubling", 2, 2**30, {}, "basic_linear"),
        ("reduce_scatter_block", "recursive_doubling", 2, 2**30 - 1, {}, "recursive_doubling"),
        ("reduce_scatter_block", "recursive_halving", 8, 8, {"commutative": False}, "basic_linear"),
        ("reduce_scatter_block", "recursive_halving", 8, 8, {}, "recursive_halving"),
        ("reduce_scatter_block", "butterfly", 8, 8, {"commutative": False}, "butterfly"),
        ("alltoall", "two_proc", 2, 8, {}, "two_proc"),
        ("alltoall", "pairwise", 1, 8, {}, "self"),
    ],
)
def test_what_runs(collective, chosen, P, count, options, name):
    assert runs(collective, chosen, P, count, **options) == name


def test_a_selection_says_what_runs():
    for collective in list_collectives():
        P, n = np.array([[2], [3], [7], [64], [300]]), np.array([1, 4, 60, 5000, MIB])
        chosen = select(collective, P, n, itemsize=4)
        assert np.array_equal(chosen.runs, runs(collective, chosen.name, P, -(-n // 4)))
        assert chosen.runs is chosen.runs
    assert select("allreduce", 8, 28, itemsize=4).runs == select("allreduce", 8, 28).runs == "recursive_doubling"
    assert select("allreduce", 3, 28, rules="4.0", itemsize=4).runs == "recursive_doubling"
    assert select("reduce", 16, MIB, commutative=False).runs == "in-order_binary"
    assert select("bcast", 64, 2**30, rules="4.0", itemsize=4).runs == "pipeline"
    assert isinstance(select("bcast", 8, 8).runs, str)


def test_what_runs_where_no_algorithm_does():
    assert select("alltoallv", 2, -1).runs == select("alltoallv", 2, 0).runs == "pairwise"
    assert select("barrier", 2, 0).runs == "recursive_doubling"
    assert (select("bcast", 8, 0).runs, select("bcast", 1, 0).runs) == ("none", "self")
    assert select("bcast", 8, 0).note == "a call without elements: MPI returns before it asks for an algorithm"
    assert select("bcast", 8, 0).name == "knomial"


# --- notes


def test_han_answers_in_5_0_on_several_nodes_with_several_ranks_each():
    P = [1, 2, 4, 5, 8]
    note = select("allreduce", P, 8, rules="5.0.3", ranks_per_node=4).note
    assert [text.startswith("coll/han answers here: in 5.0 it takes") for text in note] == [False] * 3 + [True] * 2
    assert "This is what coll/tuned would take" in note[3]
    note = select("allgather", 8, 8, rules="openmpi-5.0", ranks_per_node=[1, 2, 7, 8]).note
    assert [bool(text) for text in note] == [False, True, True, False]


def test_han_stands_down():
    options = {"rules": "5.0.3", "ranks_per_node": 4}
    han = "allgather allreduce barrier bcast gather reduce scatter".split()
    assert [name for name in list_collectives() if select(name, 8, 8, **options).note] == han
    assert [name for name in han if select(name, 8, 8, commutative=False, **options).note] == sorted(
        {*han} - {"allreduce", "reduce"}
    )
    assert select("bcast", 8, 8, rules="4.1.6", ranks_per_node=4).note == ""
    assert select("bcast", 8, 8, rules="openmpi-4.1", ranks_per_node=4).note == ""
    assert select("bcast", 8, 8, rules="5.0.3").note == ""
    both = select("bcast", 8, 0, **options).note
    assert both.startswith("coll/han answers here")
    assert both.endswith("; a call without elements: MPI returns before it asks for an algorithm")


@pytest.mark.parametrize("bad", [0, -1, 1.5, "4", True, [1, 2, 3]])
def test_ranks_per_node_are_whole_numbers(bad):
    with pytest.raises(QuantityError, match="ranks_per_node"):
        select("bcast", [8, 9], 8, rules="5.0", ranks_per_node=bad)


def test_substitutions_name_algorithms_and_are_ordered():
    replaced_before = set()
    for collective, name, _, instead in SUBSTITUTIONS:
        replaced_before.add((collective, name))
        assert {name, instead} <= set(ALGORITHMS[collective].values())
        assert (collective, instead) not in replaced_before, "one pass over the table must be enough"


def test_runs_takes_numbers_arrays_and_what_select_gives():
    assert runs("allreduce", 4, 8, 7) == "recursive_doubling"
    assert isinstance(runs("allreduce", 4, 8, 7), str)
    P = np.array([1, 2, 3, 3])
    chosen = select("allreduce", P, [8, 4, 4, 4 * MIB])
    for given in (chosen.number, chosen.name):
        assert runs("allreduce", given, P, [2, 1, 1, MIB]).tolist() == [
            "self",
            "recursive_doubling",
            "recursive_doubling",
            "rabenseifner",
        ]
    assert runs("bcast", [2, 6], [[4], [5]], 100).tolist() == [["pipeline", "binomial"]] * 2


@pytest.mark.parametrize("given", ["rabenseifner", 10, -1, 1.0, None, True])
def test_unknown_algorithms(given):
    with pytest.raises(UnknownNameError, match=r"bcast algorithm .*scatter_allgather_ring"):
        runs("bcast", given, 8, 8)


def test_algorithms_for_some_sizes_alone():
    with pytest.raises(QuantityError, match=r"'two_proc' on P = 3: .* P = 2 alone"):
        runs("allgather", "two_proc", [2, 3], 8)
    with pytest.raises(QuantityError, match=r"'self' on P = 8: .* P = 1 alone"):
        runs("allgather", 0, 8, 8)


def test_powers_of_two_are_exact():
    exponents = np.arange(1, 31)
    powers = 2**exponents
    assert np.array_equal(power_of_two_below(powers), powers)
    assert np.array_equal(power_of_two_below(powers - 1), powers // 2)
    assert np.array_equal(power_of_two_below(powers + 1), powers)
    assert power_of_two_below(np.array(2**31 - 1)) == 2**30


@pytest.mark.parametrize("given", ["no", None, 2, 1.0, float("nan"), [True], np.array([1, 0]), np.array([])])
def test_commutative_is_true_or_false(given):
    with pytest.raises(QuantityError, match="commutative must be True or False"):
        select("reduce", 8, 1024, commutative=given)
    with pytest.raises(QuantityError, match="commutative must be True or False"):
        runs("reduce", "linear", 8, 10, commutative=given)


def test_masked_numbers_and_what_makes_no_array_are_refused():
    class OnAnotherDevice:
        def __array__(self, *_, **__):
            raise RuntimeError("copy it to the host first")

    for wrong in (np.ma.array([4, 8], mask=[0, 1]), OnAnotherDevice(), [1, [2]]):
        with pytest.raises(QuantityError, match="P = "):
            select("bcast", wrong, 8)
    with pytest.raises(UnknownNameError, match="bcast algorithm"):
        runs("bcast", ["chain", ["chain"]], 4, 8)
    with pytest.raises(QuantityError, match="P must be one whole number"):
        pieces("bcast", [4, 8])
