"""The library's choice as a formula, the model's own choice, the regret, and where choices change."""

import re
from itertools import pairwise

import numpy as np
import pytest
import sympy as sp

import orrery_analytic as oa
from orrery_analytic import symbols
from orrery_analytic.collectives.registry import beyond_openmpi
from orrery_analytic.decisions import ALGORITHMS, SUBSTITUTIONS, RuleFile, runs
from orrery_analytic.errors import OrreryError, QuantityError, UnknownNameError
from orrery_analytic.selection import (
    Plan,
    borders,
    breakpoints,
    candidates,
    decided,
    plan_cost,
    plans,
    sample_sizes,
    seconds_of,
)
from orrery_analytic.symbols import evaluation

EXAMPLE = oa.load_machine("example")
SIZES = np.array([0, 1, 3, 4, 5, *(2**k for k in range(3, 31, 3)), 370727, 370728, 10**6, 12345677])
RULES = RuleFile.of(
    {
        "allreduce": {8: [(0, "recursive_doubling"), (65536, "ring"), (2**20, "segmented_ring", 65536)]},
        "allgather": {4: [(0, "two_proc"), (1000, "linear"), (50000, "neighbor")]},
        "bcast": {2: [(0, "chain", 1024, 4), (10000, "split_binary_tree", 8192)]},
    }
)
CASES = [
    *((c, "openmpi-4.1", p, True) for c in ALGORITHMS for p in (2, 7, 300)),
    *((c, "openmpi-4.0", 10, True) for c in ALGORITHMS),
    *((c, r, 12, False) for c in ("allreduce", "reduce", "reduce_scatter_block") for r in ("4.0", "4.1")),
    *((c, RULES, p, True) for c in ("allreduce", "allgather", "bcast") for p in (6, 12)),
    ("allreduce", "openmpi-4.0", 3000, True),
    ("reduce_scatter_block", "openmpi-4.0", 4096, True),
]


def numbers(cost, machine=EXAMPLE):
    return {name: machine.parameters[name] for name in cost.symbols if name in machine.parameters}


@pytest.mark.parametrize(("collective", "rules", "ranks", "commutative"), CASES)
def test_what_is_decided_is_exact_at_every_size(collective, rules, ranks, commutative):
    found = decided(collective, ranks, rules, commutative=commutative)
    assert found[0].start == 0
    assert found[-1].stop is None
    assert all(a.stop == b.start and a[2:] != b[2:] for a, b in pairwise(found))
    starts = np.array([piece.start for piece in found])
    near = (starts[:, None] + np.arange(-2, 3)).ravel()
    random = np.random.default_rng(4).integers(0, 2 ** np.arange(1, 32, 0.1).astype(np.int64))
    sizes = np.unique(np.concatenate([near[near >= 0], random, np.arange(200)]))
    chosen, index, plans_there = plans(collective, ranks, sizes, rules, commutative=commutative)
    pieces = [found[i] for i in np.searchsorted(starts, sizes, side="right") - 1]
    assert [piece.chosen for piece in pieces] == chosen.tolist()
    assert [piece.plan for piece in pieces] == [plans_there[i] for i in index]


def test_breakpoints_know_the_count():
    # Ring with fewer elements than ranks hands over; 4.0 compares the count, rounded down, with P.
    assert 4 * 11 + 1 in breakpoints("allreduce", 12, RULES, itemsize=4)
    assert 8 * 2 + 1 in breakpoints("allreduce", 3, itemsize=8)
    assert decided("allreduce", 3, itemsize=8)[0].plan.algorithm == "recursive_doubling"
    assert [p.start for p in decided("allreduce", 3000, "4.0", itemsize=8)][:3] == [0, 10000, 24008]


@pytest.mark.parametrize(("collective", "rules", "ranks", "commutative"), CASES[::6])
def test_the_formula_of_the_choice_gives_the_numbers_of_predict(collective, rules, ranks, commutative):
    cost = oa.selected_cost(collective, rules, ranks, buffers="device", commutative=commutative, bands=EXAMPLE.bands)
    data = oa.predict(
        EXAMPLE, collective, ranks, SIZES, rules=rules, buffers="device", commutative=commutative
    )  # fmt: skip
    seconds = cost(n=SIZES, **numbers(cost))
    np.testing.assert_allclose(seconds, data.seconds.values[0], rtol=1e-12)
    known = ~np.isnan(seconds)
    for name, values in cost.values(n=SIZES, **numbers(cost)).items():
        if name in data:
            np.testing.assert_allclose(values[known], data[name].values[0][known], rtol=1e-12, atol=1e-18)


def test_terms_and_total_are_piecewise_and_agree():
    cost = oa.selected_cost("bcast", "4.0", P=10)
    assert isinstance(cost, oa.Cost)
    assert isinstance(cost.total, sp.Piecewise)
    assert [str(condition) for _, condition in cost.total.args] == ["n < 2048", "n < 370728", "n < 4890170", "True"]
    given = {symbols.SYMBOLS[name].symbol: sp.Rational(str(v)) for name, v in numbers(cost).items()}
    for size in (1, 2047, 2048, 10**6, 10**7):
        exact = cost.total.subs(symbols.n, size).subs(given)
        assert sum(e.subs(symbols.n, size).subs(given) for e in cost.terms.values()) - exact == 0
        assert cost(n=size, **numbers(cost)) == pytest.approx(float(exact), rel=1e-12)
    one = oa.selected_cost("allgather", P=6)
    assert not one.total.has(sp.Piecewise)
    assert one.symbols == ("alpha", "beta", "n")


def test_no_nested_piecewise_is_ever_computed(monkeypatch):
    cost = oa.selected_cost("allreduce", P=300)
    computed = []
    original = evaluation._function
    monkeypatch.setattr(evaluation, "_function", lambda e, names: computed.append(e) or original(e, names))
    small = cost(n=np.array([1.0, 4095.0]), **numbers(cost))
    assert (small > 0).all()
    one_piece = len(computed)
    cost(n=np.array([1.0, 4095.0, 4096.0]), **numbers(cost))
    assert len(computed) - one_piece == one_piece + 1  # the second piece only where some n lies in it
    assert not any(e.has(sp.Piecewise) for expressions in computed for e in expressions)


def test_a_selected_cost_does_what_a_cost_does():
    cost = oa.selected_cost("allreduce", P=300)
    with pytest.raises(QuantityError, match="P has a number"):
        cost(P=300, n=8, **numbers(cost))
    with pytest.raises(UnknownNameError, match="n "):
        cost(**numbers(cost))
    with pytest.raises(UnknownNameError, match="Did you mean 'gamma'"):
        cost(n=8, gama=1)
    at = cost.at(EXAMPLE)
    assert at.symbols == ("n",)
    assert at(n=[8, 2**20]) == pytest.approx(cost(n=[8, 2**20], **numbers(cost)))
    assert float(cost.at(EXAMPLE, n=4096).total) == pytest.approx(at(n=4096))
    beta = np.array([[1e-10], [2e-10]])
    grid = cost(n=np.array([8, 2**20]), **{**numbers(cost), "beta": beta})
    assert grid.shape == (2, 2)
    assert grid[1, 1] == pytest.approx(cost(n=2**20, **{**numbers(cost), "beta": 2e-10}))
    kernel = oa.kernel_cost(sp.Integer(10**6))
    for both in (cost + kernel, kernel + cost, sum([cost, kernel])):
        assert both.at(EXAMPLE)(n=4096) == pytest.approx(at(n=4096) + kernel.at(EXAMPLE)())
    other = oa.selected_cost("bcast", P=300)
    two = (2 * cost + other).at(EXAMPLE)
    assert [p.start for p in two.pieces] == sorted({p.start for p in (*cost.pieces, *other.pieces)})
    for size in (8, 5000, 20000, 10**6):
        assert two(n=size) == pytest.approx(2 * at(n=size) + other.at(EXAMPLE)(n=size))


def test_a_selected_cost_is_read():
    cost = oa.selected_cost("allreduce", P=300)
    assert str(cost).splitlines()[1].startswith("n < 4 KiB   nonoverlapping (reduce:binomial, bcast:knomial)  22*alpha")
    assert r"\text{rabenseifner:}\; 4\,\mathrm{KiB} \le n" in cost.latex()
    assert "<th style='text-align:left'>n &lt; 4 KiB</th>" in cost._repr_html_()
    assert "recursive_doubling" in str(oa.selected_cost("allreduce", RULES, P=6))
    assert str(oa.selected_cost("bcast", P=1)).splitlines()[1].split() == ["any", "n", "self", "0"]


def test_the_rules_for_every_p_as_a_table():
    table = oa.selected_cost("allgather")
    assert list(table.columns) == ["P", "n", "algorithm", "runs", "formula"]
    row = table[(table.P == "128 <= P < 256") & (table.n == "512 B <= n < 128 KiB")].iloc[0]
    assert (row.algorithm, row.runs) == ("neighbor", "neighbor; ring where P is odd")
    assert row.formula == oa.collective_cost("allgather", "neighbor").total
    old = oa.selected_cost("allreduce", "4.0")
    assert old.n.tolist()[1:3] == ["n < 10000 B", "n >= 10000 B and count <= P"]
    assert old.formula[2] == sp.Function("T_reduce")(symbols.P, symbols.n) + sp.Function("T_bcast")(
        symbols.P, symbols.n
    )
    for collective in ("alltoall", "reduce_scatter"):
        assert not oa.selected_cost(collective).n.str.contains("not").any()


def test_the_ranges_of_the_table_are_those_of_the_decision():
    table = oa.selected_cost("allreduce")
    for ranks in (1, 2, 3, 4, 7, 8, 31, 32, 100, 255, 256, 4095, 4096, 10**5):
        for size in (0, 7, 8, 63, 64, 2047, 2048, 262143, 262144, 2**24):
            held = [
                row.algorithm
                for row in table.itertuples()
                if all(_holds(text, ranks, size) for text in (row.P, row.n))
            ]  # fmt: skip
            assert held == [str(oa.select("allreduce", ranks, size).name)]


def _holds(text, ranks, size):
    """Return whether one chain such as "1 KiB <= n < 64 KiB" holds."""
    units = {"KiB": 1024, "MiB": 1024**2, "B": 1}
    words = [units.get(word, word) for word in text.split()]
    values, signs = [], []
    for word in words:
        if word in ("<", "<=", ">=", "="):
            signs.append(word)
        elif isinstance(word, int):
            values[-1] *= word
        elif word != "any":
            values.append({"P": ranks, "n": size}.get(word) if word in ("P", "n") else int(word))
    compare = {"<": np.less, "<=": np.less_equal, ">=": np.greater_equal, "=": np.equal}
    return all(compare[sign](a, b) for sign, a, b in zip(signs, values, values[1:], strict=False))


@pytest.mark.parametrize("collective", ["allreduce", "allgather", "reduce_scatter_block", "scatter"])
def test_the_best_is_the_least_of_all_algorithms(collective):
    ranks = [1, 2, 3, 8, 48, 300]
    names = [name for name in oa.list_algorithms(collective) if not beyond_openmpi(name) and name != "two_proc"]
    data = oa.best(EXAMPLE, collective, ranks, SIZES, candidates=names, segment_bytes=[0])
    each = np.array([oa.predict(EXAMPLE, collective, ranks, SIZES, algorithm=name).seconds.values for name in names])
    np.testing.assert_allclose(data.seconds.values, each.min(axis=0), rtol=1e-13)
    assert data.algorithm.dims == ("P", "n")
    assert (data.algorithm.sel(P=1) == "self").all()
    assert data.attrs["candidates"] == names


def test_the_best_names_what_runs_itself():
    # Told to take the ring for fewer elements than ranks, the library doubles recursively.
    assert oa.best(EXAMPLE, "allreduce", 64, 8).algorithm.item() == "recursive_doubling"
    assert oa.best(EXAMPLE, "allreduce", 64, 8, candidates=["ring"]).algorithm.item() == "recursive_doubling"
    assert oa.best(EXAMPLE, "allgather", 12, 8, candidates=["recursive_doubling"]).algorithm.item() == "bruck"
    parts = oa.best(EXAMPLE, "allgather", 12, 8, candidates=["linear"])
    assert parts.algorithm.item() == "linear (gather:binomial, bcast:knomial)"
    segmented = oa.best(EXAMPLE, "bcast", 64, 2**26)
    assert (segmented.algorithm.item(), segmented.segment_bytes.item()) == ("pipeline", 131072)


def test_algorithms_exist_on_some_numbers_of_ranks_only():
    two = seconds_of(EXAMPLE, "allgather", [Plan("two_proc")], np.array([1, 2, 3])[:, None], np.array([8, 64]))
    assert np.isnan(two).tolist() == [[[False, False], [False, False], [True, True]]]
    assert (two[0, 0] == 0).all()
    powers = seconds_of(EXAMPLE, "bcast", [Plan("bine_tree")], [2, 6, 8], 64)
    assert np.isnan(powers).tolist() == [[False, True, False]]
    nothing = oa.best(EXAMPLE, "bcast", [6, 8], 64, candidates=["bine_tree"])
    assert nothing.algorithm.values.ravel().tolist() == ["", "bine_tree"]
    assert np.isnan(nothing.seconds.values).ravel().tolist() == [True, False]


def test_seconds_of_prices_segments_fans_and_radices():
    told = candidates("bcast", ["chain", "knomial"], segment_bytes=[0, 4096], fan=[1, 2, 4], radix=[2, 4])
    assert len(told) == 8
    seconds = seconds_of(EXAMPLE, "bcast", told, np.array([5, 64])[:, None], SIZES[1:])
    assert seconds.shape == (8, 2, SIZES.size - 1)
    for plan, values in zip(told, seconds, strict=True):
        cost = oa.collective_cost(
            "bcast", plan.algorithm, segment_bytes=plan.segment_bytes, fan=plan.fan or 1, radix=plan.radix or 4
        )
        np.testing.assert_allclose(values[1], cost(P=64, n=SIZES[1:], **numbers(cost)), rtol=1e-12)
    beyond = candidates("allreduce", ["bine_recursive_doubling"])
    assert beyond == [Plan("bine_recursive_doubling")]
    assert not any(beyond_openmpi(plan.algorithm) or plan.algorithm == "sparbit" for plan in candidates("allgather"))


@pytest.mark.parametrize("collective", sorted({row[0] for row in SUBSTITUTIONS}))
def test_what_is_told_becomes_what_runs(collective):
    ranks, sizes = np.array([1, 2, 3, 8, 37])[:, None], np.array([0, 1, 4, 12, 30, 150, 5000, 2**31, 2**40])
    for commutative in (True, False):
        for name in {row[1] for row in SUBSTITUTIONS if row[0] == collective}:
            for segment, fan in ((0, 0), (64, 4)):
                really = runs(
                    collective, name, ranks, -(-sizes // 4), commutative, segment_bytes=segment, fan=fan, itemsize=4
                )
                seconds = seconds_of(
                    EXAMPLE, collective, [Plan(name, segment, (), fan)], ranks, sizes, commutative=commutative
                )[0]
                for kind in set(really.ravel().tolist()) - {"self", "basic_linear"}:
                    plan = Plan(kind, segment, (), fan if kind == name else 0)
                    cost = plan_cost(collective, plan)
                    expected = cost(P=ranks, n=sizes, **numbers(cost))
                    np.testing.assert_allclose(seconds[really == kind], expected[really == kind], rtol=1e-12)
                assert (seconds[0] == 0).all()


@pytest.mark.parametrize("rules", ["openmpi-4.1", "openmpi-4.0", RULES])
def test_regret_is_at_least_one(rules):
    ranks = [1, 2, 7, 64, 300]
    for collective in ("allreduce", "bcast"):
        data = oa.regret(EXAMPLE, collective, ranks, SIZES, rules=rules, buffers="device")
        known = ~np.isnan(data.regret.values)
        assert (data.regret.values[known] >= 1).all()
        assert (data.regret.sel(P=1) == 1).all()
        predicted = oa.predict(EXAMPLE, collective, ranks, SIZES, rules=rules, buffers="device")
        np.testing.assert_allclose(data.seconds_library, predicted.seconds, rtol=1e-12)
        assert (data.library == predicted.algorithm).all()
        assert (data.runs == predicted.runs).all()
        ratio = (data.seconds_library / data.seconds_best).values
        np.testing.assert_allclose(ratio[1:][known[1:]], data.regret.values[1:][known[1:]], rtol=1e-11)
        best = oa.best(EXAMPLE, collective, ranks, SIZES, rules=rules, buffers="device")
        assert (data.seconds_best.values <= best.seconds.values * (1 + 1e-11))[known].all()


def test_the_librarys_own_choice_need_not_be_a_candidate():
    data = oa.regret(EXAMPLE, "allreduce", 64, [8, 2**20], candidates=["basic_linear"])
    assert data.best.values.ravel().tolist() == ["recursive_doubling", "rabenseifner"]
    assert (data.regret == 1).all()


def test_a_regret_without_a_formula_is_nan():
    data = oa.regret(EXAMPLE, "reduce", 64, [2**14], rules="4.0")  # binomial in segments
    assert np.isnan(data.regret.item())
    assert re.search("NaN where binomial, segments of .* runs, which has no closed form on Hockney", data.note)
    assert data.seconds_best.item() > 0


@pytest.mark.parametrize("ask", [oa.best, oa.regret, oa.predict])
def test_where_han_answers_first_is_noted(ask):
    told = {"ranks_per_node": 4, "rules": "5.0.3"}
    note = ask(EXAMPLE, "bcast", 100, 2**18, **told).attrs["note"]
    assert "with 4 ranks a node, coll/han of Open MPI 5.0 answers on more than 4 ranks" in note
    nodes = oa.TwoLevel(8, 1)
    assert "on more than 8 ranks" in ask(EXAMPLE, "barrier", 100, 1, **told, network=nodes).attrs["note"]
    for without in ({"rules": "4.1.6"}, {"ranks_per_node": 1}):
        assert "note" not in ask(EXAMPLE, "bcast", 100, 2**18, **{**told, **without}).attrs
    assert "note" not in ask(EXAMPLE, "alltoall", 100, 8, **told).attrs
    assert "note" not in ask(EXAMPLE, "reduce", 100, 8, **told, commutative=False).attrs


def test_what_has_no_closed_form_on_nodes_is_noted():
    nodes = oa.TwoLevel(4, 1)
    regret = oa.regret(EXAMPLE, "bcast", [1, 100], 2**18, network=nodes)
    assert np.isnan(regret["regret"].values[1, 0])
    for data in (regret, oa.predict(EXAMPLE, "bcast", [1, 100], 2**18, network=nodes)):
        assert "NaN where knomial runs, which has no closed form on TwoLevel: oa.schedule(" in data.note
    best = oa.best(EXAMPLE, "bcast", [1, 100], 2**18, network=nodes)
    assert "not compared, for want of a closed form on TwoLevel: chain" in best.note
    assert "NaN" not in best.note
    for name in oa.list_collectives():
        assert "note" not in oa.best(EXAMPLE, name, 8, 2**10).attrs


def test_operations_that_do_not_commute_have_fewer_candidates():
    assert {p.algorithm for p in candidates("reduce", commutative=False)} == {"linear", "in-order_binary"}
    assert {p.algorithm for p in candidates("bcast", commutative=False)} == {p.algorithm for p in candidates("bcast")}
    data = oa.best(EXAMPLE, "allreduce", 16, 2**24, commutative=False)
    assert data.algorithm.item().startswith(("recursive_doubling", "nonoverlapping", "basic_linear"))


def test_borders_are_exact():
    table = borders(EXAMPLE, "allreduce", [6, 100], np.arange(1, 20000, 613))
    every = np.arange(1, 20000)
    best = oa.best(EXAMPLE, "allreduce", [6, 100], every)
    for ranks, rows in table.groupby("P"):
        names = best.algorithm.sel(P=ranks).values
        changes = [1, *(every[1:][names[1:] != names[:-1]]).tolist()]
        assert rows.start.tolist() == changes
        assert rows.stop.tolist() == [*changes[1:], 0]
        assert rows.algorithm.tolist() == [names[start - 1] for start in changes]
        np.testing.assert_allclose(rows.seconds, best.seconds.sel(P=ranks, n=rows.start.to_numpy()), rtol=1e-12)


def test_sample_sizes():
    sizes = sample_sizes(1000, each=2)
    assert {1, 2, 3, 4, 5, 7, 8, 9, 11, 511, 512, 513, 1000} <= set(sizes.tolist())
    assert (np.diff(sizes) > 0).all()


def test_a_map_knows_its_regions():
    found = oa.choice_map(EXAMPLE, "allreduce", P=[2, 3, 8, 40, 300], n=2 ** np.arange(0, 26, 2))
    assert found.data.sizes == {"P": 5, "n": 13}
    for which, name in (("library", "library"), ("runs", "runs"), ("best", "best")):
        regions = found.regions(which)
        for p in found.data.P.values:
            place, start, what = regions
            starts, choice = start[place == p], what[place == p]
            at = choice[np.searchsorted(starts, found.data.n.values, side="right") - 1]
            names = [str(text).partition(" (")[0] for text in found.data[name].sel(P=p).values]
            assert [found.names[i] for i in at] == names
    regions = found.regions("library")
    exact = [piece.start for piece in decided("allreduce", 300)][1:]
    assert regions.start[regions.P == 300][1:] == pytest.approx(exact, rel=2e-3)
    assert "allreduce" in repr(found)


def test_a_map_has_200_by_200_points_unless_told():
    data = oa.choice_map(EXAMPLE, "barrier").data
    assert data.sizes == {"P": 200, "n": 200}
    assert {2**k for k in range(1, 13)} <= set(data.P.values.tolist())
    assert data.n.values[[0, -1]].tolist() == [1, 2**30]


def test_a_picture_of_a_map():
    from orrery_analytic import plots
    from orrery_analytic.plots.style import algorithm_styles, paler

    found = oa.choice_map(EXAMPLE, "reduce", P=[2, 3, 8, 40, 300], n=2 ** np.arange(0, 26, 2), rules="4.0",
                          candidates=["linear", "binomial"])  # fmt: skip
    axes = plots.choice_map(found, ("library", "runs", "best", "regret"))
    axes[0].figure.draw_without_rendering()
    assert [ax.get_title() for ax in axes[:2]] == ["Open MPI 4.0 takes", "Open MPI 4.0: what then runs"]
    named = {text.get_text() for text in axes[0].texts}
    assert "binomial" in named
    colours = [{(p.get_facecolor(), p.get_hatch()) for p in ax.patches} for ax in axes[:3]]
    assert len(colours[0]) == len(set(found.regions("library").choice.tolist()))
    assert colours[0] & colours[2]  # binomial looks the same in both
    curve = algorithm_styles(["binomial"])[0]["color"]
    patches = {patch.get_label(): patch for patch in axes[0].figure.legends[0].get_patches()}
    assert patches["binomial"].get_facecolor()[:3] == pytest.approx(paler(curve, 0.52))
    legend = {text.get_text() for text in axes[0].figure.legends[0].get_texts()}
    assert {"binomial", "no formula"} <= legend
    alone = plots.figure()[1]
    assert plots.choice_map(found, ("best",), alone) == alone
    with pytest.raises(UnknownNameError, match="Did you mean 'regret'"):
        plots.choice_map(found, ("regrets",))
    with pytest.raises(QuantityError, match="as many axes"):
        plots.choice_map(found, ("best", "regret"), alone)
    for wrong in (None, 3, [found, 3], "best"):
        with pytest.raises(QuantityError, match="maps of one collective"):
            plots.choice_map(wrong, ("best", "regret"))
    for wrong in (3, "best", []):
        with pytest.raises(QuantityError, match="panels must be names"):
            plots.choice_map(found, wrong)
    with pytest.raises(QuantityError, match="as many axes"):
        plots.choice_map(found, ("best",), [3])
    with pytest.raises(UnknownNameError, match="choice"):
        found.grid("bst")
    with pytest.raises(QuantityError, match="two values"):
        plots.choice_map(oa.choice_map(EXAMPLE, "reduce", P=[4], n=[1, 2]))


@pytest.mark.parametrize(
    "wrong",
    [
        {"P": 0}, {"P": "8"}, {"P": True}, {"P": [[2]]}, {"P": 2.5}, {"P": float("nan")}, {"P": None}, {"P": []},
        {"itemsize": [4, 8]}, {"n": -1}, {"n": float("inf")}, {"n": [1, "x"]}, {"n": None},
        {"collective": "all_reduce"}, {"machine": "muisca"}, {"rules": "openmpi-9"}, {"rules": 4}, {"buffers": "gpu"},
        {"candidates": ["rign"]}, {"candidates": "ring"}, {"candidates": []}, {"segment_bytes": [-1]}, {"fan": [0]},
        {"segment_bytes": []}, {"radix": [1]}, {"segment_bytes": [None]}, {"itemsize": 0}, {"itemsize": True},
        {"bandwith": "1 GB/s"}, {"bandwidth": ["1 GB/s", "2 GB/s"]}, {"bandwidth": "1 us"}, {"network": "hockney"},
        {"transport": "pigeon"}, {"staging": "both"}, {"commutative": "no"}, {"commutative": np.array([1, 0])},
        {"candidates": 3}, {"candidates": {"ring": 1}}, {"buffers": None}, {"bandwidth": [1, [2]]},
        {"P": np.ma.array([4, 8], mask=[0, 1])}, {"itemsize": "4"},
    ],
)  # fmt: skip
def test_wrong_input_is_told(wrong):
    arguments = {"machine": EXAMPLE, "collective": "allreduce", "P": 8, "n": 8, **wrong}
    for function in (oa.best, oa.regret, borders):
        if function is borders and "n" in wrong and wrong["n"] is None:
            continue
        with pytest.raises(OrreryError):
            function(**arguments)


@pytest.mark.parametrize(
    "wrong",
    [
        {"P": 0},
        {"P": True},
        {"P": [2, 3]},
        {"P": "8"},
        {"collective": "x"},
        {"rules": "x"},
        {"P": None, "rules": RULES},
        {"buffers": 3},
        {"buffers": ["host"]},
        {"network": {}},
        {"network": None},
        {"transport": []},
        {"staging": {}},
        {"itemsize": 0},
        {"commutative": "no"},
        {"bands": 3},
    ],
)
def test_wrong_input_of_the_formula_is_told(wrong):
    for P in (8, None):
        if P or wrong.get("P", 0) is None or "P" not in wrong:
            with pytest.raises(OrreryError):
                oa.selected_cost(**{"collective": "allreduce", "P": P, **wrong})


@pytest.mark.parametrize("wrong", [{"collective": "all_reduce"}, {"collective": []}, {"commutative": "no"}, {"P": [2]}])
def test_wrong_input_of_decided_is_told(wrong):
    with pytest.raises(OrreryError):
        decided(**{"collective": "allreduce", "P": 8, **wrong})


@pytest.mark.parametrize("told", [3, "ring", ["ring"], [Plan("ring"), None]])
def test_what_are_no_plans_are_refused(told):
    with pytest.raises(QuantityError, match="Plan"):
        seconds_of(EXAMPLE, "allreduce", told, 8, 8)


@pytest.mark.parametrize("wrong", [{"P": np.int64(8)}, {"P": 8.0}, {"buffers": ["host", "host"]}])
def test_the_formula_takes_what_means_the_same(wrong):
    assert oa.selected_cost("bcast", **{"P": 8, **wrong}).total == oa.selected_cost("bcast", P=8).total


def test_the_formula_of_the_choice_copies_as_the_library_of_the_rules_does():
    """Open MPI 6.0 copies the buffers of small allgathers to the host, others pass them on."""
    text = (
        '{"rule_file_version": 3, "module": "tuned", "collectives": {"allgather": [{"comm_size_min": 2, '
        '"rules": [{"msg_size_min": 0, "alg": "ring"}]}]}}\n'
    )
    rules = oa.read_rules(text)
    cost = oa.selected_cost("allgather", rules, P=8, buffers="device", bands=EXAMPLE.bands)
    sizes = [8, 1024, 2**20]
    numbers_ = {name: EXAMPLE.parameters[name] for name in cost.symbols if name in EXAMPLE.parameters}
    want = oa.predict(EXAMPLE, "allgather", 8, sizes, rules=rules, buffers="device").seconds.to_numpy()[0]
    np.testing.assert_allclose(cost(n=np.array(sizes), **numbers_), want, rtol=1e-12)


@pytest.mark.parametrize(("collective", "algorithm"), [("allgatherv", None), ("allgather", "linear")])
def test_totals_beyond_64_bits_do_not_wrap(collective, algorithm):
    """2**20 blocks of 2**44 bytes: in 64 bits their sum is 0, for which the library would take another algorithm."""
    options = {"rules": "openmpi-4.0", "algorithm": algorithm}
    huge, large = (oa.predict(EXAMPLE, collective, 2**20, n, **options).runs.item() for n in (2**44, 2**32))
    assert huge.partition("bcast")[2] == large.partition("bcast")[2]
    assert huge.partition(" ")[0] == large.partition(" ")[0]
