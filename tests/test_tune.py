"""`tune`: the fewest rules, against brute force; what they say, through the text of a rule file and back."""

from __future__ import annotations

import re
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest

import orrery_analytic as oa
from orrery_analytic.decisions.rule_files.records import QUANTITIES
from orrery_analytic.errors import OrreryError, QuantityError, UnknownNameError
from orrery_analytic.selection import candidates, seconds_of
from orrery_analytic.selection.cover import Group, cover

EXAMPLE = oa.load_machine("example")
RANKS = (2, 4, 6, 8, 32, 100)


@pytest.fixture(scope="module")
def tuning():
    return oa.tune(EXAMPLE, ["allreduce", "bcast", "allgather", "alltoall", "scan"], RANKS)


def price(groups, cost):
    """Rules, stretches of sizes, and cost of what `cover` returned."""
    total = 0.0
    for first, last, rules in groups:
        assert rules[0][0] == 0
        stops = [cell for cell, _ in rules[1:]] + [cost.shape[2]]
        for (cell, what), stop in zip(rules, stops, strict=True):
            total += cost[what, first : last + 1, cell:stop].sum()
    return sum(len(group.rules) for group in groups), len(groups), round(total, 9)


def by_brute_force(allowed, cost):
    """The least of the same three, over all divisions and all candidates in all cells."""
    number, sizes, cells = allowed.shape
    least = {}
    for first in range(sizes):
        for last in range(first, sizes):
            ways = []
            for taken in product(range(number), repeat=cells):
                here = (np.array(taken), slice(first, last + 1))
                if all(allowed[what, here[1], cell].all() for cell, what in enumerate(taken)):
                    changes = 1 + sum(a != b for a, b in pairwise(taken))
                    ways.append((changes, 1, sum(cost[what, here[1], cell].sum() for cell, what in enumerate(taken))))
            least[first, last] = min(ways, default=(np.inf, 1, 0.0))
    totals = []
    for cuts in product((False, True), repeat=sizes - 1):
        edges = [0, *(i + 1 for i, cut in enumerate(cuts) if cut), sizes]
        pieces = [least[a, b - 1] for a, b in pairwise(edges)]
        totals.append(tuple(sum(column) for column in zip(*pieces, strict=True)))
    rules, groups, total = min(totals)
    return rules, groups, round(total, 9)


@pytest.mark.parametrize("seed", range(30))
def test_the_fewest_rules_are_those_of_brute_force(seed):
    chance = np.random.default_rng(seed)
    shape = (3, int(chance.integers(1, 4)), int(chance.integers(1, 6)))
    allowed = chance.random(shape) < 0.6
    cost = np.round(chance.random(shape), 3)
    allowed |= cost == cost.min(axis=0)  # one at least
    found = cover(allowed, cost)
    assert [group.first for group in found] == [0, *(group.last + 1 for group in found[:-1])]
    assert found[-1].last == shape[1] - 1
    for group in found:
        for cell, what in group.rules:
            assert allowed[what, group.first : group.last + 1, cell].all()
    assert price(found, cost) == by_brute_force(allowed, cost)


def test_fewer_rules_go_before_cost_and_equal_sizes_share_them():
    allowed = np.ones((2, 3, 4), dtype=bool)
    cost = np.zeros((2, 3, 4))
    cost[0, :, 2:], cost[1] = 50.0, 40.0
    cost[1, :, 2:] = 0.0
    assert cover(allowed, cost) == [Group(0, 2, ((0, 1),))]
    allowed[1, :, 0] = False
    assert cover(allowed, cost) == [Group(0, 2, ((0, 0),))]
    allowed[0, :, 3] = False
    assert cover(allowed, cost) == [Group(0, 2, ((0, 0), (2, 1)))]


def test_the_bound_holds_at_every_point_as_the_library_reads_the_file(tuning):
    rules = oa.read_rules(tuning.write(), library="4.1.4")
    for name in ("allreduce", "bcast", "allgather", "alltoall"):
        points = tuning.points[name]
        for P in (2, 6, 100):
            n = np.unique(points.n[(points.P == P) & ~points.held_out])
            assert n.size > 250
            found = oa.regret(EXAMPLE, name, P, n, rules=rules)
            assert found["regret"].max() <= 1.05 * (1 + 1e-9)
    # Between these points it may be exceeded, by little.
    assert tuning.summary()["worst_rules"].drop("scan").max() < 1.08


def test_what_is_measured_is_what_the_rules_run(tuning):
    for name, points in tuning.points.items():
        for P in (6, 32):
            here = points.P == P
            n, place = np.unique(points.n[here], return_index=True)
            with_rules = oa.predict(EXAMPLE, name, P, n, rules=tuning.rules)["seconds"].to_numpy()[0]
            default = oa.predict(EXAMPLE, name, P, n)["seconds"].to_numpy()[0]
            assert points.rules[here][place] == pytest.approx(with_rules)
            assert points.default[here][place] == pytest.approx(default)


def test_held_out_sizes_are_not_those_of_the_search(tuning):
    for points in tuning.points.values():
        for P in RANKS:
            here = points.P == P
            searched, held_out = (points.n[here & (points.held_out == flag)] for flag in (False, True))
            assert len(set(searched)) == searched.size
            assert len(set(held_out)) == held_out.size > 100
            assert not set(searched) & set(held_out)


@pytest.mark.parametrize(("collective", "P"), [("bcast", 32), ("reduce", 6), ("alltoall", 100)])
def test_no_set_of_rules_is_smaller(collective, P):
    """Going as far as any candidate is allowed before the next gives as few rules as there can be."""
    found = oa.tune(EXAMPLE, collective, P, bound=1.02)
    points = found.points[collective]
    n = points.n[~points.held_out]
    told = [plan for plan in candidates(collective) if plan.algorithm != "two_proc"]
    default = oa.predict(EXAMPLE, collective, P, n)["seconds"].to_numpy()
    seconds = np.concatenate([seconds_of(EXAMPLE, collective, told, P, n), default])
    good = seconds <= 1.02 * (1 + 1e-9) * np.fmin.reduce(seconds)
    number, start = 0, 0
    while start < n.size:
        start += max(int(np.argmin(np.append(row[start:], False))) for row in good)
        number += 1
    assert found.table["rules"].tolist() == [number, number]


def test_a_bound_of_one_takes_the_best_and_a_loose_one_the_default():
    best = oa.tune(EXAMPLE, "reduce", 8, bound=1)
    points = best.points["reduce"]
    assert points.rules[~points.held_out] == pytest.approx(points.best[~points.held_out])
    loose = oa.tune(EXAMPLE, ["reduce", "alltoallv"], [8, 64], bound=1000)
    assert loose.rules.rules == ()
    assert loose.table["gain"].tolist() == [1.0] * 8
    assert "reduce: no rule is needed; regret" in loose.report()


def test_segments_and_fans_are_sought():
    rules = dict(oa.tune(EXAMPLE, "bcast", [32], n=[4, 2**20, 2**27]).rules.rules)["bcast"][1].messages
    assert any(rule.segment_bytes for rule in rules)
    only = oa.tune(EXAMPLE, "bcast", [8], [2**24], candidates={"bcast": ["chain"]}, segment_bytes=[2**16], fan=[2, 3])
    before, rule, after = only.rules.collectives["bcast"][1].messages
    assert before.number == after.number == 0
    assert (rule.number, rule.segment_bytes) == (2, 2**16)
    assert rule.fan in (2, 3)


def test_rules_of_the_called_decide_what_their_caller_costs():
    """nonoverlapping is the library's reduce and bcast, which the file changes too."""
    found = oa.tune(EXAMPLE, ["allreduce", "bcast", "reduce"], [128], candidates={"allreduce": ["nonoverlapping"]})
    n = 64
    parts = [
        sum(oa.predict(EXAMPLE, name, 128, n, rules=rules)["seconds"].item() for name in ("bcast", "reduce"))
        for rules in (found.rules, "openmpi-4.1")
    ]
    assert oa.select("allreduce", 128, n, rules=found.rules).name == "nonoverlapping"
    points = found.points["allreduce"]
    assert points.rules[points.n == n] == pytest.approx(parts[0])
    assert points.default[points.n == n] == pytest.approx(parts[1])
    assert parts[0] < parts[1]


def test_borders_are_what_the_library_compares(tuning):
    for name in ("alltoall", "allreduce"):
        scale = 8 if QUANTITIES[name] == "P n" else 1
        pieces = tuning.rules.taken(name, 8)
        assert len(pieces) > 1
        for (n, rule), (_, before) in zip(pieces[1:], pieces, strict=False):
            start = {r.from_bytes for comm in tuning.rules.collectives[name] for r in comm.messages}
            assert any(-(-edge // scale) == n for edge in start)
            assert rule != before


@pytest.mark.parametrize(
    ("names", "P", "n"),
    [
        (["bcast"], [100], "200 kB"),
        (["bcast", "allreduce"], [6, 32], ["10 kB", "12 kB", "200 kB"]),
        (["allgather", "alltoall"], [6, 8, 100], [64, 1000, 4096]),
        (["bcast", "alltoall"], [8], [1, 2]),
    ],
)
def test_outside_of_the_sizes_asked_the_library_decides_on_its_own(names, P, n):
    machine = oa.load_machine("musica")
    found = oa.tune(machine, names, P, n)
    assert found.rules.rules
    read = oa.read_rules(found.write())
    assert read.write() == found.write()
    asked = np.unique(np.atleast_1d(oa.units.in_si(n, "B", "n"))).astype(int)
    least, most = asked[[0, -1]]
    edges = [least - 1, least, most, most + 1]
    sizes = np.unique([*np.geomspace(1, 2**30, 300).astype(int), *(edge for edge in edges if edge)])
    outside = (sizes < least) | (sizes > most)
    for name in names:
        for ranks in P:
            own, told = (oa.select(name, ranks, sizes, rules=rules, itemsize=4) for rules in ("openmpi-4.1", read))
            assert told.name[outside].tolist() == own.name[outside].tolist()
            assert not told.segment_bytes[outside].any()
            assert not told.fan[outside].any()
            assert (oa.regret(machine, name, ranks, asked, rules=read)["regret"] <= 1.05 * (1 + 1e-9)).all()
            regret = oa.regret(machine, name, ranks, sizes[outside], rules=read)["regret"]
            assert regret.values == pytest.approx(oa.regret(machine, name, ranks, sizes[outside])["regret"].values)
    assert " alone, as was asked" in found.report()
    assert " alone, as was asked" in found.write()


def test_one_size_is_measured_where_it_was_sought():
    found = oa.tune("musica", ["bcast"], [100], "200 kB")
    assert "nan" not in found.report() + found._repr_html_()
    assert "On the sizes of the search, as none lies between them:" in found.report()
    row = found.summary().loc["bcast"]
    assert row["worst_default"] == pytest.approx(oa.regret("musica", "bcast", 100, "200 kB")["regret"].item())
    assert row["gain"] == pytest.approx(row["worst_default"])
    assert row["worst_rules"] == 1
    scan = oa.tune("musica", "scan", [8], 2**20)
    assert "rules hold at all sizes" in scan.report()
    assert "rules hold at all sizes" in scan.write()


def test_what_has_no_closed_form_on_nodes_is_said():
    nodes = oa.TwoLevel.of(oa.load_machine("musica"))
    found = oa.tune("musica", ["bcast"], [100], ["10 kB", "200 kB"], network=nodes)
    assert "regret not known without, 1.00" in found.report()
    assert "at 3 of 3 points" in found.report()
    assert "not compared, for want of a closed form on TwoLevel: chain" in found.report()
    assert "nan" not in found.report() + found._repr_html_()


def test_a_file_for_5_0_says_so_when_it_is_read(tmp_path):
    path = tmp_path / "five.rules"
    text = oa.tune("musica", ["bcast", "scan"], [100], library="5.0.3").write(path)
    assert "--mca coll_han_priority 0" in text.replace("\n# ", " ")
    read = oa.read_rules(path)
    assert (read.library, read.write()) == ("5.0", text)
    assert "coll/han answers here" in oa.select("bcast", 100, 2**20, rules=path, ranks_per_node=4).note
    assert "coll/han" in oa.predict("musica", "bcast", 100, 2**20, rules=path).attrs["note"]
    assert oa.read_rules(path, library="4.1").library == "4.1"


def test_rules_are_written_over_rules_alone(tmp_path):
    found = oa.tune("musica", "bcast", [100], 2**20)
    path = tmp_path / "notes.txt"
    path.write_text("my measurements of 3 days\n")
    with pytest.raises(QuantityError, match=r"is no rule file, and is not replaced: .*overwrite=True"):
        found.write(path)
    assert path.read_text() == "my measurements of 3 days\n"
    text = found.write(path, overwrite=True)
    assert found.write(path) == text == path.read_text()


def test_library_is_what_rules_are_for():
    for name in ("rules", "version"):
        with pytest.raises(UnknownNameError, match=r"Did you mean 'library'.*library='5\.0\.3'"):
            oa.tune("musica", "bcast", [4], **{name: "5.0.3"})
    with pytest.raises(QuantityError):
        oa.tune("musica", "alltoall", [2**31 - 1], [2**53 - 1])


def test_no_rule_names_an_algorithm_for_two_ranks_alone():
    found = oa.tune(EXAMPLE, ["allgather", "alltoall", "barrier"], [2])
    rules = found.rules
    assert not (rules.to_table()["algorithm"] == "two_proc").any()
    for name in found.points:
        assert (oa.select(name, 3, [1, 2**20], rules=rules).runs != "unsupported").all()
    with pytest.raises(QuantityError, match="two ranks alone"):
        oa.tune(EXAMPLE, "barrier", [2], candidates={"barrier": ["two_proc"]})


def test_below_the_first_size_the_fixed_decision_stays():
    rules = oa.tune(EXAMPLE, "bcast", [32, 64]).rules
    n = [1, 1000, 2**20]
    assert oa.select("bcast", 31, n, rules=rules).name.tolist() == oa.select("bcast", 31, n).name.tolist()
    assert oa.select("bcast", 32, n, rules=rules).name.tolist() != oa.select("bcast", 32, n).name.tolist()


def test_where_the_library_looks_at_no_bytes_there_is_one_rule(tuning):
    assert all(len(comm.messages) == 1 for comm in tuning.rules.collectives["scan"])
    (note,) = [note for note in tuning.notes if note.startswith("scan: ")]
    worst = tuning.table.query("collective == 'scan' and sizes == 'search'")["worst_rules"].max()
    assert worst > 1.05
    assert f"{worst:.3g}" in note


def test_operations_that_do_not_commute():
    told = oa.tune(EXAMPLE, ["reduce", "reduce_scatter"], [16])
    assert any("reduce_scatter" in note and "do not commute" in note for note in told.notes)
    kept = oa.tune(EXAMPLE, ["reduce", "reduce_scatter"], [16], commutative=False)
    assert not any("do not commute" in note for note in kept.notes)
    assert {*kept.rules.to_table()["algorithm"]} <= {"fixed decision", "linear", "in-order_binary", "non-overlapping"}
    han = oa.tune(EXAMPLE, "reduce", [16], library="5.0.7")
    assert any("coll_han_priority 0" in note for note in han.notes)


def test_what_is_said(tuning, tmp_path):
    path = tmp_path / "example.rules"
    text = tuning.write(path)
    assert path.read_text() == text
    assert text == oa.read_rules(path).write()
    lines = tuning.report().splitlines()
    assert lines[0].startswith("Rules for example, P = 2, 4, 6, 8, 32, 100: regret of at most 1.05 ")
    assert lines[1].lstrip().startswith("allreduce: ")
    assert all(f"- {note}" in lines for note in tuning.notes)
    page = tuning._repr_html_()
    assert all(f"<th style='text-align:left'>{name}</th>" in page for name in tuning.points)
    assert repr(tuning) == f"<Tuning: {lines[0].split(' On sizes')[0]}>"
    table = tuning.table
    assert table.shape == (5 * len(RANKS) * 2, 11)
    assert (table["worst_default"] >= table["mean_default"]).all()
    search = table[(table["sizes"] == "search") & (table["collective"] != "scan")]
    assert (search["worst_rules"] <= 1.05 + 1e-9).all()
    assert (table["most"] >= table["gain"]).all()
    assert tuning.summary().loc["bcast", "gain"] > 1.2
    many = oa.tune(EXAMPLE, "barrier", range(2, 20))
    assert "P = 2 to 19 (18 sizes)" in repr(many)


def test_progress_goes_from_nothing_to_all():
    seen = []
    oa.tune(EXAMPLE, ["bcast", "allreduce"], [4, 8], progress=lambda *now: seen.append(now))
    done = [done for done, _, _ in seen]
    assert done == sorted(done)
    assert (seen[0], seen[-1]) == ((0.0, 2, "bcast"), (2.0, 2, "allreduce"))
    assert len(seen) > 6


def test_other_settings_are_those_of_predict():
    slow = oa.tune(EXAMPLE, "allgather", [16], [2**10], buffers="device", network=oa.LogGP(), overhead="9 us")
    data = oa.predict(EXAMPLE, "allgather", 16, 2**10, buffers="device", network=oa.LogGP(), overhead="9 us")
    assert slow.points["allgather"].default == pytest.approx(data["seconds"].item())


def test_a_machine_without_numbers_is_refused(tmp_path):
    text = (Path(__file__).parents[1] / "machines" / "example.toml").read_text()
    path = tmp_path / "bare.toml"
    path.write_text(re.sub(r"\[overhead\]\n(.+\n)*", "", text))
    bare = oa.load_machine(path)
    assert oa.tune(bare, "allreduce", [4]).rules
    with pytest.raises(UnknownNameError, match="overhead"):
        oa.tune(bare, "allreduce", [4], network=oa.LogGP())


@pytest.mark.parametrize(
    "given",
    [
        {"collectives": "alreduce"}, {"collectives": []}, {"collectives": 3}, {"collectives": [None]}, {"P": 1},
        {"P": [2, 2.5]}, {"P": []}, {"P": "8"}, {"P": [[2, 4]]}, {"P": 2**40}, {"P": range(2, 300)},
        {"n": 0}, {"n": [np.nan]},
        {"n": "1 Mi"}, {"bound": 0.99}, {"bound": np.nan}, {"bound": np.inf}, {"bound": "2"}, {"bound": True},
        {"bound": None},
        {"candidates": ["ring"]}, {"candidates": {"bcast": ["chain"]}}, {"candidates": {"allreduce": ["rings"]}},
        {"candidates": {"allreduce": "ring"}}, {"candidates": {"allreduce": []}}, {"library": "6.0"}, {"library": 4},
        {"rules": "openmpi-4.1"}, {"buffers": "disk"}, {"latencies": "1 us"}, {"segment_bytes": [-1]}, {"fan": []},
        {"candidates": {"allreduce": ["mpich_recursive_doubling"]}}, {"candidates": {"allreduce": 3}},
        {"segment_bytes": [1, [2]]}, {"itemsize": [4]}, {"commutative": "no"}, {"progress": 3}, {"bound": 10**400},
    ],
)  # fmt: skip
def test_what_is_wrong_is_refused(given):
    with pytest.raises(OrreryError):
        oa.tune(**{"machine": EXAMPLE, "collectives": "allreduce", "P": [4], "n": [4, 4096], **given})


def test_what_only_a_later_library_has_is_refused():
    with pytest.raises(UnknownNameError, match=r"of Open MPI 4\.1 'sparbit'"):
        oa.tune(EXAMPLE, "allgather", [4], candidates={"allgather": ["sparbit"]})
    found = oa.tune(EXAMPLE, "allgather", [4], [2**20], candidates={"allgather": ["sparbit"]}, library="5.0")
    assert found.rules.library == "5.0"


@pytest.mark.parametrize("bound", [1, 10**6, np.float32(2)])
def test_bounds_are_numbers_from_one_on(bound):
    assert oa.tune("example", "bcast", 8, [1024, 4096], bound=bound).bound == bound
