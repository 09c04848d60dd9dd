"""Reduce-scatter: the schedules round by round, what they combine, and where the closed forms equal them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sp

import orrery_analytic as oa
from orrery_analytic.collectives.algorithm import Options
from orrery_analytic.collectives.doubling import levels
from orrery_analytic.collectives.doubling_formulas import block_path, doubling_rounds
from orrery_analytic.collectives.formulas import network_cost
from orrery_analytic.collectives.halving_formulas import halving_path, idle
from orrery_analytic.collectives.registry import formulas
from orrery_analytic.collectives.rounds import k
from orrery_analytic.symbols import P, n

NAMES = [
    (collective, name)
    for collective in ("reduce_scatter", "reduce_scatter_block")
    for name in ("recursive_halving", "ring", "butterfly", "recursive_doubling")
    if name in formulas(collective)
]
HALVING = [pair for pair in NAMES if pair[1] in ("recursive_halving", "butterfly", "ring")]
SIZES = (2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 15, 16, 17, 24, 31, 32, 33, 48)
HOCKNEY = [
    {"alpha": Fraction(7), "beta": Fraction(1, 3), "gamma": Fraction(0)},
    {"alpha": Fraction(1), "beta": Fraction(1, 3), "gamma": Fraction(3)},
]
LOGGP = [  # the gap below o, between o and L + 2 o, above it; late messages; o far above everything
    dict(zip(("L", "o", "g", "G", "gamma"), map(Fraction, values), strict=True))
    for values in (
        ("25", "15", "10", "3/50", "1/7"),
        ("25", "5", "30", "1/10", "0"),
        ("25", "5", "30", "1/10", "1/7"),
        ("25", "5", "120", "1/1000", "0"),
        ("25", "5", "120", "1/1000", "2"),
        ("1000", "1", "2", "1/100", "0"),
        ("2", "50", "0", "1/10", "1/7"),
    )
]


def whole(collective: str, ranks: int, count: int) -> int:
    """Return n for elements of one byte."""
    return ranks * count if collective == "reduce_scatter" else count


def formula(collective: str, name: str, network: Any, ranks: int, nbytes: int, values: dict[str, Fraction]) -> Fraction:
    total = network_cost(collective, name, network).total.subs({P: ranks, n: nbytes})
    numbers = {sp.Symbol(s, positive=True): sp.Rational(v.numerator, v.denominator) for s, v in values.items()}
    value = sp.Rational(total.subs(numbers))
    return Fraction(int(value.p), int(value.q))


def test_recursive_halving_far_partners_first_with_a_fold():
    schedule = oa.schedule("reduce_scatter", "recursive_halving", P=5, count=1, itemsize=4)
    assert schedule.sends(0) == [(1, 20)]
    assert schedule.sends(1) == [(3, 8), (2, 4), (0, 4)]
    assert schedule.reductions(1) == [20, 12, 8]
    assert schedule.sends(3) == [(1, 12), (4, 4)]
    assert schedule.receives(4) == [(2, 8), (3, 4)]


def test_butterfly_near_partners_first_ends_with_the_mirror():
    schedule = oa.schedule("reduce_scatter", "butterfly", P=6, count=1, itemsize=4)
    assert schedule.sends(4) == [(5, 8), (1, 8), (2, 4), (3, 4)]  # it holds the blocks of 2 and 3, who fold
    assert schedule.receives(2) == [(4, 4)]
    assert schedule.sends(1) == [(3, 8), (4, 8), (0, 4)]  # its own mirror
    eight = oa.schedule("reduce_scatter", "butterfly", P=8, count=1, itemsize=4)
    assert eight.sends(1) == [(0, 16), (3, 8), (5, 4), (4, 4)]
    assert eight.sends(2) == [(3, 16), (0, 8), (6, 4)]


def test_the_butterfly_of_equal_blocks_permutes_first_on_powers_of_two():
    for ranks in (2, 4, 8, 16):
        schedule = oa.schedule("reduce_scatter_block", "butterfly", ranks, 3, 4)
        assert all(len(schedule.sends(rank)) == ranks.bit_length() - 1 for rank in range(ranks))
    same = [oa.schedule(collective, "butterfly", 6, 3, 4) for collective in ("reduce_scatter", "reduce_scatter_block")]
    assert all(same[0].sends(rank) == same[1].sends(rank) for rank in range(6))


def test_recursive_doubling_reduces_around_the_partner_and_passes_on():
    schedule = oa.schedule("reduce_scatter_block", "recursive_doubling", P=5, count=1, itemsize=4)
    assert schedule.sends(0) == [(1, 16), (2, 12), (4, 4), (2, 16), (1, 16)]
    assert schedule.reductions(0) == [4, 12, 8, 4, 16, 0]
    assert schedule.sends(4) == [(0, 16)]
    assert schedule.receives(3) == [(2, 16), (1, 12), (2, 16)]


@pytest.mark.parametrize("ranks", range(2, 70))
def test_every_rank_ends_a_doubling_with_the_parts_of_all(ranks):
    """Run the levels with sets in place of data: each message is there when it is sent."""
    held = [{rank} for rank in range(ranks)]
    steps = [list(levels(rank, ranks)) for rank in range(ranks)]
    for level in range((ranks - 1).bit_length()):
        at = [steps[rank][level] for rank in range(ranks)]
        before = [set(h) for h in held]
        part = [set(range(*step.other)) for step in at]
        for rank, step in enumerate(at):
            if step.partner is not None:
                assert part[rank] <= before[step.partner]
                held[rank] |= part[rank]
        passed = sorted((when, rank, to) for rank, step in enumerate(at) for to, when in step.forwards)
        for when, rank, to in passed:
            assert part[rank] == part[to] <= held[rank]
            assert at[to].source == (rank, when)
            held[to] |= part[rank]
    assert all(h == set(range(ranks)) for h in held)
    last = max(at for own in steps for step in own for at in (step.round, *(when for _, when in step.forwards)))
    assert doubling_rounds(sp.Integer(ranks)) == last + 1


@pytest.mark.parametrize(("collective", "name"), HALVING)
@pytest.mark.parametrize("count", [1, 5])
def test_each_block_is_combined_once_for_each_rank_but_one(collective, name, count):
    for ranks in (2, 3, 5, 6, 7, 8, 11, 13, 16, 17, 33):
        schedule = oa.schedule(collective, name, ranks, count, 4)
        combined = sum(sum(schedule.reductions(rank)) for rank in range(ranks))
        assert combined == (ranks - 1) * ranks * count * 4
        if name == "ring":
            assert all(schedule.sends(rank) == [((rank + 1) % ranks, 4 * count)] * (ranks - 1) for rank in range(ranks))


@pytest.mark.parametrize(("collective", "name"), NAMES)
@pytest.mark.parametrize("ranks", [2, 3, 4, 5, 6, 7, 8, 11, 13, 16, 17])
def test_rounds_move_and_reduce_what_the_phases_say(collective, name, ranks):
    here = {P: ranks, n: whole(collective, ranks, 7)}
    rounds = oa.schedule(collective, name, ranks, 7, 1).rounds()
    seen = 0
    for phase in formulas(collective)[name].phases(Options()):
        first, last = (int(sp.sympify(bound).subs(here)) for bound in (phase.first, phase.last))
        for i in range(first, last + 1):
            assert rounds[i].nbytes == sp.sympify(phase.nbytes).subs(k, i).subs(here)
            assert rounds[i].reduced == sp.sympify(phase.reduced).subs(k, i).subs(here)
            seen += 1
    assert seen == len(rounds)


@pytest.mark.parametrize(("collective", "name"), NAMES)
def test_hockney_is_exact_for_every_number_of_ranks_and_odd_counts(collective, name):
    for ranks in (*SIZES, 64, 100):
        for count in (1, 7):
            schedule = oa.schedule(collective, name, ranks, count, 1)
            for values in HOCKNEY:
                nbytes = whole(collective, ranks, count)
                got = formula(collective, name, oa.Hockney(), ranks, nbytes, values)
                assert got == schedule.time(oa.Hockney(), **values), (ranks, values)


@pytest.mark.parametrize(("collective", "name"), NAMES)
def test_loggp_is_exact_where_claimed_and_else_at_most_a_quarter_high(collective, name):
    exact, cost = formulas(collective)[name].exact(oa.LogGP()), network_cost(collective, name, oa.LogGP())
    nbytes = [whole(collective, ranks, 16) for ranks in SIZES]
    schedules = [oa.schedule(collective, name, ranks, 16, 1) for ranks in SIZES]
    for values in LOGGP:
        floats = {s: float(v) for s, v in values.items()}
        found = cost(P=np.array(SIZES), n=np.array(nbytes), **floats)
        gapped = values["g"] > values["L"] + 2 * values["o"]
        for ranks, schedule, got in zip(SIZES, schedules, found, strict=True):
            true = schedule.time(oa.LogGP(), **floats)
            if exact.holds(ranks, values["gamma"] > 0, gapped):
                assert got == pytest.approx(true, rel=1e-12), (ranks, values)
            else:
                assert true * (1 - 1e-12) <= got <= 1.25 * true, (ranks, values)


def test_the_textbook_forms_at_powers_of_two():
    """Closed forms of MPICH's comments (recursive halving) and of the butterfly with its exchange."""
    alpha, beta, gamma = sp.symbols("alpha beta gamma", positive=True)
    for ranks in (2, 4, 8, 64):
        depth, part = ranks.bit_length() - 1, sp.Rational(ranks - 1, ranks) * n
        halving = network_cost("reduce_scatter", "recursive_halving").total.subs(P, ranks)
        assert sp.expand(halving - depth * alpha - part * (beta + gamma)) == 0
        butterfly = network_cost("reduce_scatter", "butterfly").total.subs(P, ranks)
        more = 0 if ranks == 2 else alpha + n / ranks * beta
        assert sp.expand(butterfly - halving - more) == 0
        doubling = network_cost("reduce_scatter_block", "recursive_doubling").total.subs(P, ranks)
        assert sp.expand(doubling - depth * alpha - (ranks * depth - ranks + 1) * n * (beta + gamma)) == 0


def test_a_fold_costs_the_whole_vector_and_double_blocks():
    total = network_cost("reduce_scatter", "recursive_halving").total.subs(P, 6)
    alpha, beta, gamma = sp.symbols("alpha beta gamma", positive=True)
    blocks = sp.Rational(1, 6) * n  # 4 and 2 of them in two rounds, after a fold of six and before one goes back
    assert sp.expand(total - 4 * alpha - (6 + 4 + 2 + 1) * blocks * beta - (6 + 4 + 2) * blocks * gamma) == 0


@pytest.mark.parametrize(
    ("collective", "name", "reduced", "scattered"),
    [
        ("reduce_scatter", "non-overlapping", lambda ranks, nbytes: nbytes, lambda ranks, nbytes: nbytes // ranks),
        ("reduce_scatter_block", "basic_linear", lambda ranks, nbytes: ranks * nbytes, lambda ranks, nbytes: nbytes),
    ],
)
def test_the_composed_ones_reduce_the_total_and_scatter_blocks(collective, name, reduced, scattered):
    for ranks in (2, 5, 8, 13):
        for count in (1, 37, 3000):
            schedule = oa.schedule(collective, name, ranks, count, 4)
            nbytes = whole(collective, ranks, 4 * count)
            reduce = oa.schedule("reduce", str(oa.select("reduce", ranks, reduced(ranks, nbytes)).name), ranks,
                                 ranks * count, 4)  # fmt: skip
            last = "basic_linear"
            if collective == "reduce_scatter_block":
                last = str(oa.select("scatter", ranks, scattered(ranks, nbytes)).name)
            scatter = oa.schedule("scatter", last, ranks, count, 4)
            for rank in range(ranks):
                assert schedule.sends(rank) == reduce.sends(rank) + scatter.sends(rank)
                assert schedule.reductions(rank) == reduce.reductions(rank)
            assert len(schedule.rounds()) == len(reduce.rounds()) + len(scatter.rounds())


def test_an_operation_that_does_not_commute_is_reduced_in_order():
    """The library hands over to an algorithm made of others, and takes other parts for those."""
    given = {"P": 5, "count": 3, "itemsize": 4, "commutative": False}
    in_order = oa.schedule("reduce_scatter", "non-overlapping", **given)
    assert [in_order.sends(rank) for rank in range(1, 5)] == [[(0, 60)]] * 4  # reduce linear, where else a tree runs
    assert in_order.sends(0) == [(rank, 12) for rank in range(1, 5)]
    halving, composed = (
        oa.schedule("reduce_scatter_block", name, **given) for name in ("recursive_halving", "basic_linear")
    )
    assert [halving.sends(rank) for rank in range(5)] == [composed.sends(rank) for rank in range(5)]
    assert composed.sends(4) == [(0, 60)]


def test_more_elements_than_an_int_counts_are_reduced_and_scattered():
    doubling, composed = (
        oa.schedule("reduce_scatter_block", name, P=4, count=2**29, itemsize=1)
        for name in ("recursive_doubling", "basic_linear")
    )
    assert [doubling.sends(rank) for rank in range(4)] == [composed.sends(rank) for rank in range(4)]


def test_the_cost_of_composed_ones_is_that_of_their_parts_at_their_sizes():
    values = HOCKNEY[0]
    numbers = {sp.Symbol(s, positive=True): v for s, v in values.items()}
    for ranks, count in ((3, 5), (8, 4), (12, 7)):
        total = network_cost("reduce_scatter", "non-overlapping", parts=("reduce:binomial",)).total
        reduce = oa.schedule("reduce", "binomial", ranks, ranks * count, 1).time(oa.Hockney(), **values)
        scatter = oa.schedule("scatter", "basic_linear", ranks, count, 1).time(oa.Hockney(), **values)
        assert total.subs({P: ranks, n: ranks * count}).subs(numbers) == reduce + scatter
        parts = ("reduce:binomial", "scatter:basic_linear")
        block = network_cost("reduce_scatter_block", "basic_linear", parts=parts).total
        assert block.subs({P: ranks, n: count}).subs(numbers) == reduce + scatter
    with pytest.raises(ValueError, match="is made of reduce"):
        network_cost("reduce_scatter", "non-overlapping", parts=("scatter:binomial",))


def test_paths_take_arrays_and_print_as_latex():
    ranks = np.array([1, 2, 3, 6, 8, 13])
    for collective, name in NAMES:
        for network, values in ((oa.Hockney(), HOCKNEY[1]), (oa.LogGP(), LOGGP[2])):
            cost = network_cost(collective, name, network)
            given = {s: float(v) for s, v in values.items() if s in cost.symbols}
            many = cost(P=ranks, n=64, **given)
            assert many[0] == 0
            one = [float(formula(collective, name, network, int(p), 64, values)) for p in ranks[1:]]
            np.testing.assert_allclose(many[1:], one, rtol=1e-12)
            assert "_path" not in cost.latex()


def test_idle_is_the_sum_that_it_prints():
    x, r = sp.symbols("x r")
    assert idle(sp.Integer(10), sp.Integer(1), sp.Integer(0), sp.Integer(4)) == 9 + 8 + 6 + 2
    assert idle(x, sp.Integer(0), sp.Integer(1), sp.Integer(4)) == 3 * sp.Max(0, x)
    wire = sp.Symbol("L", positive=True)
    assert idle(-wire, wire, sp.Integer(0), P) == 0
    assert idle(-wire, r, sp.Integer(0), P) != 0  # r < 0 on nodes where messages cost less than reductions
    function = sp.lambdify([x, r, P], idle(x, r, sp.Integer(1), P), "numpy")
    np.testing.assert_allclose(function(np.array([10.0, 3.0]), 1.0, np.array([4, 3])), [8 + 6 + 2, 1])
    assert r"\max\left(0, x - 2^i" in sp.latex(idle(x, r, sp.Integer(1), P))
    assert block_path(P, x, r, r).subs(P, 4) == 2 * x + 10 * r
    L, o = sp.symbols("L o", positive=True)
    assert halving_path(sp.Integer(3), n, L, o, 0, 0, 0) == 2 * L + 5 * o
