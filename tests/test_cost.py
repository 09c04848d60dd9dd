"""Costs: named terms that add up, print themselves, take numbers and become NumPy functions."""

import copy
import pickle

import numpy as np
import pytest
import sympy as sp

import orrery_analytic as oa
from orrery_analytic.cost import TERM_NAMES, Cost, evaluate
from orrery_analytic.errors import OrreryError, QuantityError, UnknownNameError
from orrery_analytic.symbols import P, alpha, beta, gamma, n, t_call
from orrery_analytic.symbols.evaluation import _function

RING = Cost(
    validity="every P",
    collective={
        "latency": 2 * (P - 1) * alpha,
        "bandwidth": 2 * (P - 1) / P * n * beta,
        "reduce": (P - 1) / P * n * gamma,
    },
)
CALL = Cost({"call": t_call}, "always")
NUMBERS = {"alpha": 1e-6, "beta": 1e-9, "gamma": 2e-9}


def test_terms_add_up_to_the_total():
    both = RING + CALL
    assert list(both.terms) == ["call", "latency", "bandwidth", "reduce"]
    assert sp.expand(sum(both.terms.values()) - both.total) == 0
    assert both.validity == "every P; always"
    assert sp.expand((RING + RING).terms["latency"] - 4 * alpha * (P - 1)) == 0
    assert sum([RING, CALL]).terms == both.terms
    assert (3 * RING).terms["reduce"] == 3 * RING.terms["reduce"]


def test_numbers_broadcast_like_numpy():
    got = RING(P=np.array([[2], [3]]), n=np.array([1e3, 1e6, 1e9]), **NUMBERS)
    want = [[2 * (p - 1) * 1e-6 + (p - 1) / p * m * (2e-9 + 2e-9) for m in (1e3, 1e6, 1e9)] for p in (2, 3)]
    assert got.shape == (2, 3)
    np.testing.assert_allclose(got, want, rtol=1e-14)
    assert isinstance(RING(P=4, n=8, **NUMBERS), float)


def test_one_rank_costs_nothing_in_a_collective_and_the_call_remains():
    got = (RING + CALL)(P=np.array([1, 2]), n=100, t_call=5.0, **NUMBERS)
    assert got[0] == 5.0
    assert got[1] > 5.0
    assert RING.at(P=1, n=7, **NUMBERS).total == 0


def test_a_constant_takes_the_shape_of_its_coordinates():
    assert CALL(n=np.zeros(3), t_call=2.0).tolist() == [2.0, 2.0, 2.0]
    assert Cost()(n=np.zeros(3)).tolist() == [0.0, 0.0, 0.0]


def test_large_integers_do_not_overflow():
    cost = Cost({"bandwidth": n**2 * P**3})
    assert cost(n=np.array([2**40]), P=np.array([2**20]))[0] == 2.0**140


def test_a_missing_symbol_is_named_with_meaning_and_unit():
    with pytest.raises(UnknownNameError, match=r"beta \(time a byte on the wire between nodes, in s/B\)"):
        RING(P=2, n=1, alpha=1, gamma=0)


@pytest.mark.parametrize("wrong", ["alhpa", "t_launch", "x"])
def test_an_unknown_symbol_is_an_error(wrong):
    with pytest.raises(KeyError, match=r"unknown symbol in this cost.*Allowed: P, alpha, beta, gamma, n"):
        RING(P=2, n=1, **NUMBERS, **{wrong: 1})


@pytest.mark.parametrize("bad", ["x", None, [1, "2"], {}])
def test_what_is_no_number_is_an_error(bad):
    with pytest.raises(QuantityError, match=r"alpha (must be a number|= .[x2]. is )"):
        RING(**{**NUMBERS, "alpha": bad}, P=2, n=1)


def test_shapes_that_do_not_broadcast_are_an_error():
    with pytest.raises(QuantityError, match=r"P \(2,\), n \(3,\)"):
        RING(P=np.ones(2), n=np.ones(3), **NUMBERS)


def test_an_unknown_term_is_an_error():
    with pytest.raises(OrreryError, match="Did you mean 'latency'"):
        Cost({"latencies": alpha})


def test_the_numpy_function_is_made_once():
    RING(P=2, n=1, **NUMBERS)
    before = _function.cache_info().misses
    for p in range(2, 9):
        Cost(validity="another object", collective=dict(RING.collective))(P=p, n=1, **NUMBERS)
    assert _function.cache_info().misses == before


def test_many_expressions_are_evaluated_at_once():
    a, b = evaluate([alpha * P, sp.Integer(3)], {"alpha": 2.0, "P": np.array([1, 2])})
    assert a.tolist() == [2.0, 4.0]
    assert b.tolist() == [3.0, 3.0]


def test_numbers_put_in_leave_the_rest_symbolic():
    with_numbers = RING.at(NUMBERS)
    assert with_numbers.symbols == ("P", "n")
    assert with_numbers(P=4, n=1000) == pytest.approx(RING(P=4, n=1000, **NUMBERS))
    with pytest.raises(UnknownNameError):
        RING.at(alhpa=1)


def test_text_latex_and_html():
    assert "latency" in repr(RING)
    assert "validity: every P" in repr(RING)
    assert (
        oa.rounds("allreduce", "ring").closed
        == 2 * alpha * (P - 1) + 2 * beta * n * (P - 1) / P + gamma * n * (P - 1) / P
    )
    assert RING.latex().count("+") == 2
    assert r"\underbrace" in RING._repr_latex_()
    assert "share" not in RING._repr_html_()
    table = RING.at(NUMBERS, P=2, n=1000)._repr_html_()
    assert "50.0 %" in table  # 2 us of latency, 1 us of bytes, 1 us of reduction
    assert "4 us" in table
    assert "&lt;b&gt;" in Cost({"call": t_call}, "<b>")._repr_html_()


def test_costs_are_frozen():
    with pytest.raises(AttributeError):
        RING.validity = "no"
    with pytest.raises(TypeError):
        RING.terms["latency"] = 0


def test_term_names_are_those_of_the_design():
    assert set(TERM_NAMES) == set(
        "latency bandwidth gap reduce d2h h2d gdr peer call launch compute sync intra_latency intra_bandwidth "
        "exposed".split()
    )


def test_a_sum_with_cancelling_maxima_is_merged():
    big, small = sp.Max(alpha, n * beta), sp.Max(alpha, n)
    cost = Cost({"bandwidth": (P - 2) * big, "gap": (P - 2) * small - (P - 2) * big})
    assert cost.total.atoms(sp.Max) == {small}
    assert oa.Cost is Cost


def test_a_function_that_is_none_is_not_printed_as_code(tmp_path):
    told = tmp_path / "run"
    hostile = sp.Function(f"open({str(told)!r}, 'w').write('x') + 0*abs")(alpha)
    with pytest.raises(QuantityError, match="has no value"):
        oa.Cost({"latency": hostile})(alpha=1.0)
    assert not told.exists()


@pytest.mark.parametrize("which", ["musica", oa.load_machine("musica"), oa.load_machine("musica").parameters])
def test_a_machine_is_taken_by_name_as_well(which):
    put = (RING + CALL).at(which, P=64, n="1 MiB")
    assert float(put) == pytest.approx((RING + CALL)(P=64, n=2**20, **{
        name: oa.load_machine("musica").parameters[name] for name in ("alpha", "beta", "gamma", "t_call")
    }))  # fmt: skip
    with pytest.raises(UnknownNameError, match="Did you mean 'musica'"):
        RING.at("musika")


def test_numbers_may_have_units():
    units = {"alpha": "1 us", "beta": "1 ns/B", "gamma": "2 ns/B"}
    assert RING(P=4, n=["1 KiB", 64], **units).tolist() == RING(P=4, n=[1024, 64], **NUMBERS).tolist()
    with pytest.raises(QuantityError, match="gamma = '1 us' has the wrong kind of unit"):
        RING(P=4, n=1, **{**NUMBERS, "gamma": "1 us"})


def test_a_cost_is_shared_out_and_becomes_a_float_once_it_has_its_numbers():
    assert (RING / 2).terms["latency"] == RING.terms["latency"] / 2
    assert float(CALL.at(t_call=3)) == 3.0
    with pytest.raises(QuantityError, match="no number yet for P, alpha"):
        float(RING)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (lambda: RING + alpha, r"oa\.Cost\({'compute': expression}\)"),
        (lambda: alpha + RING, r"no number yet|oa\.Cost"),
        (lambda: RING + 1, "adds up with another Cost"),
        (lambda: oa.selected_cost("allreduce", P=64) + alpha, "adds up with another Cost"),
        (lambda: RING - CALL, "is no number"),
        (lambda: -RING, "is no number"),
        (lambda: RING**2, "is no number"),
        (lambda: RING / 0, "divided by 0"),
        (lambda: RING / "2", "divided by"),
        (lambda: RING < CALL, "oa.crossover"),
        (lambda: max(RING, CALL), "oa.crossover"),
        (lambda: oa.half_performance(RING) * 9, r"\.size"),
        (lambda: 9 - oa.elasticity(RING), r"\.shares"),
        (lambda: oa.optimal_segment(oa.collective_cost("bcast", "pipeline", segment_bytes="symbol")) + 1, r"\.cases"),
        (lambda: abs(oa.crossover(RING, RING + CALL, "n")), r"\.points"),
        (lambda: oa.invert(RING, 2 * RING, "latency", P=4, n=8, beta=1, gamma=1) / 2, r"\.wins"),
    ],
)
def test_what_is_no_number_says_what_to_calculate_with(wrong, told):
    with pytest.raises(QuantityError, match=told):
        wrong()


@pytest.mark.parametrize("wrong", [None, 3, [], b"exact"])
def test_validity_is_text(wrong):
    with pytest.raises(QuantityError, match="validity is text"):
        Cost({"call": t_call}, wrong)


def test_a_number_behind_a_mask_is_none():
    with pytest.raises(QuantityError, match="n must be a number"):
        RING(P=4, n=np.ma.masked_array([1, 2], [0, 1]), **NUMBERS)


@pytest.mark.parametrize("times", [sp.zoo, sp.nan, sp.oo, sp.I])
def test_a_cost_is_repeated_a_real_number_of_times(times):
    with pytest.raises(QuantityError):
        times * oa.p2p_cost()
    with pytest.raises(QuantityError, match="divided by 0"):
        oa.p2p_cost() / 0.0


def test_costs_are_copied_pickled_and_hashed():
    cost = oa.collective_cost("allreduce", "ring").at(P=8)
    for made in (pickle.loads(pickle.dumps(cost)), copy.deepcopy(cost)):
        assert made == cost
        assert hash(made) == hash(cost)


def test_a_sum_that_could_never_have_a_number_is_refused():
    ring, tree = oa.collective_cost("allreduce", "ring"), oa.collective_cost("bcast", "binomial")
    with pytest.raises(QuantityError, match=r"give it to both, a\.at\(P=8\)"):
        ring.at(P=8) + tree
    assert (ring.at(P=8) + tree.at(P=8)).fixed == {"P"}
