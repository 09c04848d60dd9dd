"""Broadcasts by parts, binary trees, pipelined and Rabenseifner's reductions: round by round, and exactly."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sp

import orrery_analytic as oa
from orrery_analytic.collectives.algorithm import Options
from orrery_analytic.collectives.formulas import network_cost
from orrery_analytic.collectives.registry import formulas
from orrery_analytic.collectives.rounds import k
from orrery_analytic.errors import QuantityError
from orrery_analytic.symbols import P, n

NAMES = [
    ("bcast", "binary_tree"),
    ("bcast", "split_binary_tree"),
    ("bcast", "scatter_allgather"),
    ("bcast", "scatter_allgather_ring"),
    ("reduce", "chain"),
    ("reduce", "pipeline"),
    ("reduce", "binary"),
    ("reduce", "in-order_binary"),
    ("reduce", "rabenseifner"),
    ("allreduce", "basic_linear"),
    ("barrier", "double_ring"),
]
PIPED = [pair for pair in NAMES if formulas(pair[0])[pair[1]].segmented]
SIZES = (2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 15, 16, 17, 24, 31, 32, 33, 48)
HOCKNEY = [
    {"alpha": Fraction(7), "beta": Fraction(1, 3), "gamma": Fraction(0)},
    {"alpha": Fraction(7), "beta": Fraction(1, 3), "gamma": Fraction(1, 5)},
    {"alpha": Fraction(1), "beta": Fraction(1, 3), "gamma": Fraction(3)},  # reductions cost more than messages
]
LOGGP = [  # the gap below o, between o and L + 2 o, above it; late messages; o far above everything
    dict(zip(("L", "o", "g", "G", "gamma"), map(Fraction, values), strict=True))
    for values in (
        ("25", "15", "10", "3/50", "1/7"),
        ("25", "5", "30", "1/10", "0"),
        ("25", "5", "30", "1/10", "2"),
        ("25", "5", "120", "1/1000", "0"),
        ("25", "5", "120", "1/1000", "1/7"),
        ("1000", "1", "2", "1/100", "0"),
        ("2", "50", "0", "1/10", "1/7"),
    )
]
NETWORKS = [(oa.Hockney(), HOCKNEY), (oa.LogGP(), LOGGP)]


def compare(collective: str, name: str, network: Any, values: dict[str, Fraction], count: int, **options: Any) -> None:
    """Hold a formula against the schedule for many numbers of ranks; `count` elements of one byte."""
    fan, segment = options.get("fan", 1), options.get("segment_bytes", 0)
    sizes = options.get("sizes", SIZES)
    cost = network_cost(collective, name, network, segment_bytes=segment, fan=fan)
    exact = formulas(collective)[name].exact(network)
    floats = {s: float(v) for s, v in values.items()}
    given = {s: v for s, v in floats.items() if s in cost.symbols}
    gapped = values.get("g", 0) > values.get("L", 0) + 2 * values.get("o", 0)
    for ranks, got in zip(sizes, cost(P=np.array(sizes), n=count, **given), strict=True):
        true = oa.schedule(collective, name, ranks, count, 1, segment_bytes=segment, fan=fan).time(network, **floats)
        if exact.holds(ranks, values["gamma"] > 0, gapped):
            assert got == pytest.approx(true, rel=1e-12), (ranks, values, options)
        else:
            assert true * (1 - 1e-12) <= got <= 1.25 * true, (ranks, values, options)


def even(ranks: int) -> int:
    return int(np.lcm(ranks, 2 << (ranks.bit_length() - 1)))


def test_halves_go_down_both_sides_and_are_exchanged():
    schedule = oa.schedule("bcast", "split_binary_tree", P=6, count=5, itemsize=4)
    assert schedule.sends(0) == [(1, 12), (2, 8), (5, 8)]  # the last rank has no partner
    assert schedule.sends(1) == [(3, 12), (5, 12), (2, 12)]
    assert schedule.receives(2) == [(0, 8), (1, 12)]
    assert schedule.receives(5) == [(1, 12), (0, 8)]
    cut = oa.schedule("bcast", "split_binary_tree", P=3, count=7, itemsize=4, segment_bytes=8, root=2)
    assert cut.sends(2) == [(0, 8), (1, 8), (0, 8), (1, 4)]
    assert [round.nbytes for round in cut.rounds()] == [8, 8, 8, 4, 16]


@pytest.mark.parametrize("name", ["scatter_allgather", "scatter_allgather_ring"])
def test_scattered_bcasts_from_any_root_and_of_any_length(name):
    for ranks, count, root in ((5, 7, 0), (6, 37, 2), (9, 37, 8), (17, 20, 3)):
        schedule = oa.schedule("bcast", name, ranks, count, 4, root=root)
        block = -(-count // ranks)
        rounds = schedule.rounds()[: (ranks - 1).bit_length()]
        scattered = sum(m for round in rounds for source, _, m in round.messages if source == root)
        assert scattered == 4 * (count - block)  # all but the root's own block
        assert all(sum(m for _, m in schedule.receives(r)) >= 4 * count for r in range(ranks) if r != root)
    nine = oa.schedule("bcast", "scatter_allgather", P=9, count=37, itemsize=4)
    assert nine.receives(8) == [(0, 148)]  # the blocks of rank 8 are empty, so nothing is scattered to it
    assert nine.sends(0)[-4:] == [(8, 148), (4, 0), (2, 0), (1, 0)]  # and nothing is there to be passed on


def test_fewer_elements_than_ranks_are_sent_linearly():
    assert oa.schedule("bcast", "scatter_allgather", 8, 7, 4).sends(0) == [(r, 28) for r in range(1, 8)]


@pytest.mark.parametrize("ranks", [2, 3, 5, 6, 7, 8, 13, 16])
def test_rabenseifner_combines_each_element_once_a_rank_for_every_root(ranks):
    for count in (16, 37):
        for root in range(ranks):
            schedule = oa.schedule("reduce", "rabenseifner", ranks, count, 4, root=root)
            assert sum(sum(schedule.reductions(rank)) for rank in range(ranks)) == (ranks - 1) * count * 4
            schedule.time(oa.Hockney(), alpha=1, beta=1, gamma=1)


def test_a_root_that_folds_takes_the_place_of_rank_0():
    schedule = oa.schedule("reduce", "rabenseifner", P=6, count=5, itemsize=4, root=3)
    assert schedule.receives(3)[-3:] == [(0, 4), (4, 4), (2, 12)]
    assert schedule.sends(0)[-1] == (3, 4)


def test_rabenseifner_reduce_at_six_ranks():
    alpha, beta, gamma = sp.symbols("alpha beta gamma", positive=True)
    total = network_cost("reduce", "rabenseifner").total.subs(P, 6)  # q = 4: a fold by halves, then 4 ranks
    assert sp.expand(total - 6 * alpha - sp.Rational(5, 2) * n * beta - sp.Rational(5, 4) * n * gamma) == 0


def test_the_double_ring_goes_around_twice():
    schedule = oa.schedule("barrier", "double_ring", P=5)
    assert [len(round.messages) for round in schedule.rounds()] == [1] * 10
    assert schedule.sends(4) == [(0, 0), (0, 0)]
    assert schedule.time(oa.Hockney(), alpha=3, beta=1) == 30


@pytest.mark.parametrize(("collective", "name"), NAMES)
@pytest.mark.parametrize("ranks", [2, 3, 4, 5, 6, 7, 8, 11, 13, 16, 17])
def test_rounds_move_and_reduce_what_the_phases_say(collective, name, ranks):
    here = {P: ranks, n: even(ranks)}
    rounds = oa.schedule(collective, name, ranks, even(ranks), 1).rounds()
    seen = 0
    for phase in formulas(collective)[name].phases(Options()):
        first, last = (int(sp.sympify(bound).subs(here)) for bound in (phase.first, phase.last))
        for i in range(first, last + 1):
            assert rounds[i].nbytes == sp.sympify(phase.nbytes).subs(k, i).subs(here)
            assert rounds[i].reduced == sp.sympify(phase.reduced).subs(k, i).subs(here)
            seen += 1
    assert seen == len(rounds)


@pytest.mark.parametrize(("collective", "name"), NAMES)
@pytest.mark.parametrize(("network", "sets"), NETWORKS, ids=["hockney", "loggp"])
def test_the_formula_is_the_schedule_where_claimed(collective, name, network, sets):
    for ranks in SIZES:
        for values in sets:
            compare(collective, name, network, values, even(ranks), sizes=(ranks,))


@pytest.mark.parametrize(("collective", "name"), NAMES)
def test_hockney_is_exact_in_fractions(collective, name):
    total = network_cost(collective, name).total
    for ranks in (2, 6, 7, 16, 48, 96):
        for values in HOCKNEY:
            rationals = {
                sp.Symbol(s, positive=True): sp.Rational(v.numerator, v.denominator) for s, v in values.items()
            }
            value = sp.Rational(total.subs({P: ranks, n: even(ranks)}).subs(rationals))
            true = oa.schedule(collective, name, ranks, even(ranks), 1).time(oa.Hockney(), **values)
            assert (value.p, value.q) == (Fraction(true).numerator, Fraction(true).denominator)


@pytest.mark.parametrize(("collective", "name"), PIPED)
@pytest.mark.parametrize(("network", "sets"), NETWORKS, ids=["hockney", "loggp"])
@pytest.mark.parametrize("segments", [2, 5])
def test_equal_segments_of_a_pipeline(collective, name, network, sets, segments):
    halves = 2 if name == "split_binary_tree" else 1
    for values in sets:
        compare(collective, name, network, values, 60 * segments * halves, segment_bytes=60, sizes=SIZES[:12])


@pytest.mark.parametrize("fan", [2, 3, 4, 7])
@pytest.mark.parametrize("segments", [1, 3])
def test_chains_of_a_reduction(fan, segments):
    for network, sets in NETWORKS:
        for values in sets:
            segment = 60 if segments > 1 else 0
            compare("reduce", "chain", network, values, 60 * segments, segment_bytes=segment, fan=fan, sizes=SIZES[:12])


def test_segments_overlap_with_reductions():
    """On two ranks the root combines one segment while the next arrives; inner ranks of a chain also send it on."""
    values = {"alpha": 10, "beta": 1, "gamma": 1}
    pipeline = network_cost("reduce", "pipeline", segment_bytes="symbol")
    assert "n_s" in pipeline.symbols
    message, reduction = 10 + 20, 20
    assert pipeline(P=2, n=100, n_s=20, **values) == 5 * message + reduction
    assert pipeline(P=4, n=100, n_s=20, **values) == (3 + 4) * (message + reduction)
    one = {"alpha": 10, "beta": 1, "gamma": 3}  # reductions longer than messages
    assert pipeline(P=2, n=100, n_s=20, **one) == message + 5 * 60


def test_the_segmented_binary_tree_is_not_the_textbook_formula():
    cost = network_cost("bcast", "binary_tree", segment_bytes="symbol")
    took = cost(P=np.array([4, 5, 8, 16]), n=3, n_s=1, alpha=1, beta=0)
    np.testing.assert_array_equal(took, [6, 7, 8, 10])


def test_a_linear_allreduce_is_its_reduce_and_its_bcast():
    for network in (oa.Hockney(), oa.LogGP()):
        whole = network_cost("allreduce", "basic_linear", network).total
        parts = network_cost("reduce", "linear", network).total + network_cost("bcast", "basic_linear", network).total
        assert sp.expand(whole - parts) == 0


def test_allgather_linear_gathers_blocks_and_sends_all_of_them():
    for ranks, count in ((2, 5), (5, 37), (12, 1000)):
        schedule = oa.schedule("allgather", "linear", ranks, count, 4)
        gather = oa.schedule("gather", str(oa.select("gather", ranks, 4 * count).name), ranks, count, 4)
        bcast = str(oa.select("bcast", ranks, 4 * ranks * count).name)
        sent = oa.schedule("bcast", bcast, ranks, ranks * count, 4)
        assert all(schedule.sends(r) == gather.sends(r) + sent.sends(r) for r in range(ranks))
    cost = network_cost("allgather", "linear", parts=("gather:binomial", "bcast:scatter_allgather_ring"))
    alpha, beta = sp.symbols("alpha beta", positive=True)
    assert sp.expand(cost.total.subs(P, 8) - (3 + 3 + 7) * alpha - (7 + 2 * 7) * n * beta) == 0


def test_the_in_order_tree_ends_on_the_last_rank():
    to_last = oa.schedule("reduce", "in-order_binary", 7, 10, 4, root=6).time(oa.Hockney(), alpha=1, beta=1, gamma=1)
    to_first = oa.schedule("reduce", "in-order_binary", 7, 10, 4).time(oa.Hockney(), alpha=1, beta=1, gamma=1)
    assert to_first == to_last + 41


def test_formulas_for_one_segment_refuse_others():
    with pytest.raises(QuantityError, match="one segment"):
        network_cost("bcast", "scatter_allgather", segment_bytes=1024)
