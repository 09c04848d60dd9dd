"""From a machine to labelled numbers."""

import sys
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

import orrery_analytic as oa
from orrery_analytic.errors import QuantityError, UnknownNameError
from orrery_analytic.selection import Plan, plan_cost

EXAMPLE = oa.load_machine("example")
SIZES = np.array([2**k for k in range(0, 26, 3)])


def test_the_librarys_choice_is_priced_with_its_own_formula():
    ranks = [2, 7, 16, 64, 100]
    data = oa.predict(EXAMPLE, "allreduce", ranks, SIZES)
    assert data.seconds.dims == ("P", "n")
    assert data.seconds.attrs["units"] == "s"
    for p in ranks:
        for m in SIZES:
            point = data.sel(P=p, n=m)
            name = str(point.runs.values)
            cost = plan_cost("allreduce", Plan(name)) if "(" not in name else None
            if cost is None:
                continue
            given = {s: v for s, v in EXAMPLE.parameters.items() if s in cost.symbols}
            assert float(point.seconds) == pytest.approx(cost(P=p, n=m, **given), rel=1e-14)


def test_terms_add_up_to_the_total_wherever_there_is_one():
    for collective in oa.list_collectives():
        for buffers in ("host", "device"):
            data = oa.predict("example", collective, [1, 2, 5, 8, 40, 150], SIZES, buffers=buffers)
            terms = [v for v in data.data_vars if v not in ("seconds", "algorithm", "runs")]
            if terms:
                total = sum(data[t] for t in terms)
                np.testing.assert_allclose(total.values, data.seconds.values, rtol=1e-12)


def test_one_rank_costs_nothing():
    data = oa.predict("example", "allreduce", 1, SIZES, buffers="device")
    assert (data.seconds == 0).all()
    assert str(data.algorithm.values[0, 0]) == "self"


def test_the_switch_of_the_allgather_figure():
    million = 2**20
    blocks = oa.predict("musica", "allgather", [128, 256, 512, 1024], million)
    assert list(blocks.algorithm.values[:, 0]) == ["ring", "ring", "neighbor", "neighbor"]
    ranks = [32, 64, 128, 256, 512, 1024]
    total = [str(oa.predict("musica", "allgather", p, million // p).algorithm.values[0, 0]) for p in ranks]
    assert total == ["neighbor"] * 5 + ["recursive_doubling"]


def test_what_really_runs_is_priced():
    # Allreduce ring on fewer elements than ranks runs recursive doubling; allgather doubling on 12 ranks runs Bruck.
    data = oa.predict("example", "allreduce", 4, 8)
    assert str(data.algorithm.values[0, 0]) == "ring"
    assert str(data.runs.values[0, 0]) == "recursive_doubling"
    assert str(oa.predict("example", "allgather", 12, 64).runs.values[0, 0]) == "bruck"


def test_a_composed_algorithm_takes_the_parts_that_the_library_decides():
    data = oa.predict("example", "allreduce", 300, 1024)
    assert str(data.algorithm.values[0, 0]) == "nonoverlapping"
    assert str(data.runs.values[0, 0]) == "nonoverlapping (reduce:binomial, bcast:knomial)"
    cost = oa.collective_cost("allreduce", "nonoverlapping", parts=("reduce:binomial", "bcast:knomial"))
    given = {s: v for s, v in EXAMPLE.parameters.items() if s in cost.symbols}
    assert float(data.seconds[0, 0]) == pytest.approx(cost(P=300, n=1024, **given))


def test_a_choice_without_a_formula_is_nan_with_its_name(monkeypatch):
    monkeypatch.setattr(sys.modules["orrery_analytic.selection.plans"], "has_formula", lambda *named: False)
    plan_cost.cache_clear()
    data = oa.predict("example", "bcast", 64, 2**20)
    assert np.isnan(data.seconds.values).all()
    assert str(data.algorithm.values[0, 0]) == "knomial"
    plan_cost.cache_clear()


def test_a_named_algorithm():
    data = oa.predict("example", "allreduce", [4, 8], SIZES, algorithm="ring")
    assert set(data.algorithm.values.flat) == {"ring"}
    assert set(data.runs.values.flat) == {"ring", "recursive_doubling"}
    with pytest.raises(UnknownNameError, match="Did you mean 'rabenseifner'"):
        oa.predict("example", "allreduce", 4, 8, algorithm="rabenseifer")


def test_overrides_are_what_the_machine_file_says():
    slow = oa.predict("example", "bcast", 8, 2**20, bandwidth="1 GB/s")
    fast = oa.predict("example", "bcast", 8, 2**20, bandwidth=10e9)
    assert float(slow.bandwidth[0, 0]) == pytest.approx(10 * float(fast.bandwidth[0, 0]))


def test_an_array_of_overrides_makes_a_dimension():
    data = oa.predict(
        "example",
        "allreduce",
        [2, 16],
        SIZES,
        buffers="device",
        d2h_bandwidth=["2 GB/s", "4 GB/s"],
        latency=["1 us"] * 3,
    )
    assert data.seconds.dims == ("P", "n", "d2h_bandwidth", "machine_latency")
    assert data.d2h_bandwidth.values.tolist() == [2e9, 4e9]
    assert data.d2h_bandwidth.attrs["units"] == "B/s"
    alone = oa.predict("example", "allreduce", [2, 16], SIZES, buffers="device", d2h_bandwidth="4 GB/s", latency="1 us")
    np.testing.assert_allclose(data.seconds.isel(d2h_bandwidth=1, machine_latency=2), alone.seconds, rtol=1e-14)


def test_both_networks():
    hockney = oa.predict("example", "allgather", 16, SIZES, algorithm="ring")
    loggp = oa.predict("example", "allgather", 16, SIZES, algorithm="ring", network=oa.LogGP())
    assert hockney.seconds.shape == loggp.seconds.shape
    assert (loggp.seconds > 0).all()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"P": "8"}, "P must be a number"),
        ({"P": [[2]]}, "P must be a number or a one-dimensional"),
        ({"n": -1}, "n"),
        ({"n": 2.5}, "n"),
        ({"rules": "openmpi-9"}, "rules"),
        ({"collective": "all_reduce"}, "Did you mean 'allreduce'"),
        ({"bandwith": "1 GB/s"}, "Did you mean 'bandwidth'"),
        ({"bandwidth": "1 us"}, "bandwidth"),
        ({"ranks_per_node": [1, 2]}, "ranks_per_node can be one value"),
        ({"machine": "muisca"}, "Did you mean 'musica'"),
        ({"bandwidth": []}, "bandwidth can be one value or a list"),
        ({"bandwidth": [1, [2]]}, "bandwidth can be one value or a list"),
        ({"buffers": 3}, "place of buffers"),
        ({"commutative": "no"}, "commutative must be True or False"),
    ],
)
def test_wrong_input_is_told(wrong, message):
    arguments = {"machine": "example", "collective": "allreduce", "P": 8, "n": 8, **wrong}
    with pytest.raises((QuantityError, UnknownNameError), match=message):
        oa.predict(**arguments)


@pytest.mark.parametrize(("collective", "algorithm"), [("allreduce", "nonoverlapping"), ("allgather", "linear")])
def test_a_composed_algorithm_at_one_p_is_piecewise_in_n(collective, algorithm):
    sizes = np.array([2**k for k in range(3, 25)])
    for ranks in (3, 12, 150):
        cost = oa.collective_cost(collective, algorithm, P=ranks)
        given = {s: v for s, v in EXAMPLE.parameters.items() if s in cost.symbols}
        data = oa.predict("example", collective, ranks, sizes, algorithm=algorithm)
        np.testing.assert_allclose(cost(n=sizes, **given), data.seconds.values[0], rtol=1e-12)
    with pytest.raises(UnknownNameError, match=r"P=128"):
        oa.collective_cost(collective, algorithm)


def test_allgatherv_and_alltoallv_cost_as_their_twins():
    for collective, name, other, twin in (
        ("allgatherv", "bruck", "allgather", "bruck"),
        ("alltoallv", "pairwise", "alltoall", "pairwise"),
    ):
        assert oa.collective_cost(collective, name).terms == oa.collective_cost(other, twin).terms
        assert not np.isnan(oa.predict("example", collective, [2, 7, 64, 600], SIZES).seconds.values).any()
    assert "default" in oa.list_algorithms("allgatherv")
    assert "recursive_doubling" not in oa.list_algorithms("allgatherv")


def test_every_value_of_an_override_is_checked_as_the_first():
    with pytest.raises(QuantityError, match="bandwidth = 0 must be more than zero"):
        oa.predict("example", "bcast", 4, 8, bandwidth=["1 GB/s", 0])


def test_sizes_with_units_are_taken_wherever_n_is():
    ring = oa.collective_cost("allreduce", "ring")
    doubling = oa.collective_cost("allreduce", "recursive_doubling")
    text, numbers = ["64 KiB", 4096], [65536, 4096]
    for f in (oa.predict, oa.best, oa.regret):
        assert f("example", "allreduce", 8, text).identical(f("example", "allreduce", 8, numbers)), f
    for ask in (
        lambda n: oa.select("allreduce", 8, n).name,
        lambda n: oa.elasticity(ring).at("example", P=8, n=n),
        lambda n: oa.half_performance(ring).ranks("example", n=n),
        lambda n: oa.dominant_term(ring).at("example", P=8, n=n),
        lambda n: oa.distance_to_bound(ring, "allreduce", "example", P=8, n=n),
        lambda n: oa.invert(ring, doubling, "latency", "example", P=8, n=n).wins,
        lambda n: oa.crossover(ring, doubling, "alpha").intervals("example", P=8, n=n),
        lambda n: oa.selected_cost("allreduce", P=8).at("example", n=n).total,
    ):
        assert ask("64 KiB") == ask(65536)
        for wrong in ("1 Mi", "1 GB/s"):
            with pytest.raises(QuantityError, match=f"^n = '{wrong}'"):
                ask(wrong)
    assert oa.tune("example", "bcast", P=[4], n=text).report() == oa.tune("example", "bcast", P=[4], n=numbers).report()
    assert oa.choice_map("example", "bcast", [4, 8], text).data.n.values.tolist() == sorted(numbers)
    assert oa.best("example", "bcast", 8, 2**20, ["pipeline"], segment_bytes=["64 KiB"]).segment_bytes.item() == 65536
    with pytest.raises(QuantityError, match="P must be a number"):
        oa.predict("example", "allreduce", "8", 8)


def test_what_options_change_nothing_is_said():
    def note(collective, **options):
        return oa.predict("example", collective, 4, 8, **options).attrs.get("note", "")

    assert note("allreduce") == ""
    assert "the library copies" in note("allreduce", buffers="device")
    assert "staging 'directed' has no effect" in note("allreduce", buffers="device", staging="directed")
    assert "transport 'gdr' has no effect" in note("bcast", transport="gdr")
    assert "no effect" not in note("bcast", buffers="device", transport="staged", staging="directed")
    assert "no effect" in oa.regret("example", "allreduce", 4, 8, buffers="device", transport="peer").attrs["note"]


@pytest.mark.parametrize("whole", [64, 64.0, np.int32(64), Fraction(64), sp.Integer(64), [Fraction(64)]])
def test_whole_numbers_of_any_kind_count(whole):
    assert oa.predict("example", "bcast", whole, whole).seconds.identical(
        oa.predict("example", "bcast", [64], [64]).seconds
    )


def test_arrays_of_no_dimension_are_numbers_or_refused():
    four = np.array(4)
    options = {"buffers": "device", "gdr_limit": four}
    assert oa.predict("example", "bcast", four, four, **options).equals(
        oa.predict("example", "bcast", [4], [4], buffers="device", gdr_limit=4)
    )
    with pytest.raises(QuantityError, match="candidates must be a sequence"):
        oa.best("example", "bcast", 4, 4, candidates=four)


@pytest.mark.parametrize("verb", [oa.predict, oa.best, oa.regret])
def test_machine_and_collective_in_the_wrong_order_are_told_apart(verb):
    with pytest.raises(UnknownNameError, match="'allreduce' is a collective, which comes second"):
        verb("allreduce", "musica", 8, 8)


@pytest.mark.parametrize(("given", "meant"), [("buffer", "buffers"), ("bandwith", "bandwidth")])
def test_a_misspelt_argument_is_told_apart_from_a_key(given, meant):
    with pytest.raises(UnknownNameError, match=f"Did you mean '{meant}'"):
        oa.predict("example", "bcast", 4, 4, **{given: "device"})


@pytest.mark.parametrize(
    ("collective", "counts"),
    [("allreduce", "the whole vector"), ("allgatherv", "one rank's block"), ("reduce_scatter", "all blocks together")],
)
def test_sizes_say_what_they_count(collective, counts):
    assert oa.predict("example", collective, 4, 4).n.long_name == f"message size: the bytes of {counts}"
