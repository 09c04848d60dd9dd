"""Every closed form against the schedule that it stands for; every round's summand against that round's messages."""

import functools
import itertools

import numpy as np
import pytest
import sympy as sp

import orrery_analytic as oa
from orrery_analytic.collectives.algorithm import Options
from orrery_analytic.collectives.formulas import network_cost
from orrery_analytic.collectives.registry import formulas
from orrery_analytic.collectives.rounds import k, summand
from orrery_analytic.symbols import P, n

ALGORITHMS = [
    (collective, name)
    for collective in oa.list_collectives()
    if not collective.endswith("v")  # allgatherv and alltoallv cost as their twins
    for name in formulas(collective)
]
# Whole numbers keep the schedule exact: latency-bound and byte-bound, with and without reductions.
HOCKNEY = [{"alpha": 1000, "beta": 3, "gamma": 0}, {"alpha": 50, "beta": 2, "gamma": 5}]
LOGGP = [
    {"L": 2500, "o": 1500, "g": 1000, "G": 3, "gamma": 0},
    {"L": 2500, "o": 500, "g": 2000, "G": 2, "gamma": 4},
    {"L": 2500, "o": 500, "g": 12000, "G": 1, "gamma": 0},  # g > L + 2 o: the gap decides
    {"L": 2500, "o": 500, "g": 9000, "G": 1, "gamma": 7},
    {"L": 20, "o": 3000, "g": 0, "G": 4, "gamma": 1},  # the overhead decides
]
SMALL = tuple(range(1, 65))
LARGE = (96, 127, 128, 129, 255, 256, 257, 512, 513, 1000, 1023, 1024)


def counts(collective, ranks):
    """Return (count that divides evenly, n in bytes) for elements of one byte."""
    power = 2 << (ranks.bit_length() - 1)
    count = int(np.lcm(ranks, power)) if collective in ("allreduce", "bcast", "reduce") else power * 4
    return count, ranks * count if collective == "reduce_scatter" else count


@functools.cache
def pattern(collective, name, ranks):
    return oa.schedule(collective, name, ranks, counts(collective, ranks)[0], itemsize=1)


def prove(collective, name, network, sets, ranks):
    algorithm = formulas(collective)[name]
    cost = network_cost(collective, name, network)
    ranks = [p for p in ranks if algorithm.exists(p)]
    exact = algorithm.exact(network)
    sizes = np.array([counts(collective, p)[1] for p in ranks])
    for values in sets:
        given = {key: v for key, v in values.items() if key in cost.symbols}
        formula = cost(P=np.array(ranks), n=sizes, **given)
        gapped = values.get("g", 0) > values.get("L", 0) + 2 * values.get("o", 0)
        for p, got in zip(ranks, formula, strict=True):
            true = float(pattern(collective, name, p).time(network, **values))
            claimed = p == 1 or exact.holds(p, reducing=values["gamma"] > 0, gapped=gapped)
            where = f"{collective} {name} at P = {p} with {values}: formula {got}, schedule {true}"
            if claimed:
                assert got == pytest.approx(true, rel=1e-12), where
            else:
                assert got >= true * (1 - 1e-12), where


@pytest.mark.parametrize(("collective", "name"), ALGORITHMS)
def test_under_hockney_for_every_p_to_64(collective, name):
    prove(collective, name, oa.Hockney(), HOCKNEY, SMALL)


@pytest.mark.parametrize(("collective", "name"), ALGORITHMS)
def test_under_loggp_for_every_p_to_64(collective, name):
    few = LOGGP if len(pattern(collective, name, 2).rounds()) < 3 else LOGGP[1:4]
    prove(collective, name, oa.LogGP(), few, SMALL[:32])
    prove(collective, name, oa.LogGP(), LOGGP[:1] + LOGGP[3:4], SMALL[32:])


@pytest.mark.parametrize(("collective", "name"), ALGORITHMS)
def test_for_large_p(collective, name):
    messages = len(pattern(collective, name, 64).sends(1)) if formulas(collective)[name].exists(64) else 0
    large = [p for p in LARGE if messages < 20 or p < 130]
    prove(collective, name, oa.Hockney(), HOCKNEY[1:], large)
    prove(collective, name, oa.LogGP(), LOGGP[1:2], large)


@pytest.mark.parametrize(("collective", "name"), ALGORITHMS)
@pytest.mark.parametrize("ranks", [2, 3, 4, 5, 6, 7, 8, 12, 16, 17])
def test_each_round_moves_and_reduces_what_its_summand_says(collective, name, ranks):
    algorithm = formulas(collective)[name]
    if not algorithm.exists(ranks):
        pytest.skip(f"{name} exists for {algorithm.only_at} only")
    nbytes = counts(collective, ranks)[1]
    here = {P: ranks, n: nbytes}
    rounds = pattern(collective, name, ranks).rounds()
    seen = 0
    for phase in algorithm.phases(Options()):
        first, last = (sp.sympify(bound).subs(here) for bound in (phase.first, phase.last))
        for i in range(int(first), int(last) + 1):
            assert rounds[i].nbytes == sp.sympify(phase.nbytes).subs(k, i).subs(here), f"{phase.label}, round {i}"
            assert rounds[i].reduced == sp.sympify(phase.reduced).subs(k, i).subs(here), f"{phase.label}, round {i}"
            seen += 1
    assert seen == len(rounds)


@pytest.mark.parametrize(("collective", "name"), ALGORITHMS)
@pytest.mark.parametrize("network", [oa.Hockney(), oa.LogGP()], ids=["hockney", "loggp"])
def test_the_closed_form_is_the_sum_of_its_summands(collective, name, network):
    found = oa.rounds(collective, name, network)
    if not found.summed:
        pytest.skip("the longest path, not a sum over rounds")
    ranks = next(p for p in (12, 16, 2) if formulas(collective)[name].exists(p))
    here = {P: ranks, n: 960}
    total = sp.S.Zero
    for phase in found.phases:
        each = sp.Add(*summand(phase, network).values()).subs(here)
        first, last = (int(sp.sympify(bound).subs(here)) for bound in (phase.first, phase.last))
        total += sum((each.subs(k, i).subs(here) for i in range(first, last + 1)), sp.S.Zero)
    if isinstance(network, oa.LogGP):  # the gap of the last round is not waited for
        total -= summand(found.phases[-1], network)["gap"].subs(k, found.phases[-1].last).subs(here)
    assert sp.expand(found.closed.subs(here) - total) == 0


SAME_AT_EVERY_P = {
    ("allgather", "ring"), ("allreduce", "ring"), ("allreduce", "segmented_ring"), ("alltoall", "pairwise"),
    ("alltoall", "modified_bruck"), ("allgather", "bruck"), ("allgather", "neighbor"), ("bcast", "chain"),
    ("bcast", "pipeline"), ("allreduce", "rabenseifner"), ("scan", "linear"), ("exscan", "linear"),
}  # fmt: skip
SAME_AT_POWERS = {
    ("allgather", "recursive_doubling"), ("allreduce", "recursive_doubling"), ("bcast", "binomial"),
    ("reduce", "binomial"), ("reduce_scatter", "recursive_halving"), ("reduce_scatter", "butterfly"),
    ("bcast", "scatter_allgather"),
}  # fmt: skip


@pytest.mark.parametrize(("collective", "name"), [a for a in ALGORITHMS if a in SAME_AT_EVERY_P | SAME_AT_POWERS])
def test_both_networks_agree_where_the_design_says(collective, name):
    L, o, g, G, gamma = 2500.0, 500.0, 300.0, 2.0, 3.0
    ranks = np.array([2, 3, 4, 6, 8, 12, 16, 31, 64, 100, 128])
    if (collective, name) in SAME_AT_POWERS:
        ranks = ranks[ranks & (ranks - 1) == 0]
    n_bytes = np.array([1e4, 1e6])[:, None]
    costs = [network_cost(collective, name, network) for network in (oa.Hockney(), oa.LogGP())]
    values = {"alpha": L + 2 * o - G, "beta": G, "L": L, "o": o, "g": g, "G": G, "gamma": gamma}
    hockney, loggp = (c(P=ranks, n=n_bytes, **{s: v for s, v in values.items() if s in c.symbols}) for c in costs)
    np.testing.assert_allclose(hockney, loggp, rtol=1e-13)


@pytest.mark.parametrize("fan", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("segment", [0, 4, 12, 24])
def test_chains_with_segments(fan, segment):
    for network, sets in ((oa.Hockney(), HOCKNEY[:1]), (oa.LogGP(), LOGGP[:3])):
        cost = network_cost("bcast", "chain", network, segment_bytes=segment, fan=fan)
        for values in sets:
            given = {key: v for key, v in values.items() if key in cost.symbols}
            for p in [*range(2, 20), 33, 64]:
                count = 24
                schedule = oa.schedule("bcast", "chain", p, count, 1, segment_bytes=segment, fan=fan)
                true, formula = float(schedule.time(network, **values)), cost(P=p, n=count, **given)
                assert formula == pytest.approx(true, rel=1e-12), (p, values)


def test_a_segmented_chain_keeps_its_symbol():
    cost = network_cost("bcast", "pipeline", oa.LogGP(), segment_bytes="symbol")
    assert "n_s" in cost.symbols
    values = {"L": 20, "o": 3000, "g": 0, "G": 4}  # the overhead decides
    for p, segments in itertools.product((2, 3, 8), (1, 2, 3, 4, 6, 8)):
        size = 24 // segments
        true = oa.schedule("bcast", "pipeline", p, 24, 1, segment_bytes=size % 24).time(oa.LogGP(), **values)
        assert cost(P=p, n=24, n_s=size, **values) == pytest.approx(true, rel=1e-12)


@pytest.mark.parametrize("ranks", [2, 3, 4, 7, 8])
@pytest.mark.parametrize("phases", [1, 2, 5])
def test_the_segmented_ring(ranks, phases):
    count = ranks * phases * 4
    for network, values in ((oa.Hockney(), HOCKNEY[1]), (oa.LogGP(), LOGGP[1]), (oa.LogGP(), LOGGP[3])):
        cost = network_cost("allreduce", "segmented_ring", network, segment_bytes=4)
        true = oa.schedule("allreduce", "segmented_ring", ranks, count, 1, segment_bytes=4).time(network, **values)
        given = {key: v for key, v in values.items() if key in cost.symbols}
        assert cost(P=ranks, n=count, **given) == pytest.approx(float(true), rel=1e-12)


@pytest.mark.parametrize("radix", [2, 3, 4, 5, 8])
def test_knomial_trees_of_any_radix(radix):
    ranks = np.array([*range(2, 70), 255, 256, 257])
    for network, values in ((oa.Hockney(), HOCKNEY[0]), *((oa.LogGP(), v) for v in LOGGP)):
        cost = network_cost("bcast", "knomial", network, radix=radix)
        given = {key: v for key, v in values.items() if key in cost.symbols}
        true = [
            float(oa.schedule("bcast", "knomial", int(p), 40, 1, radix=radix).time(network, **values)) for p in ranks
        ]
        np.testing.assert_allclose(cost(P=ranks, n=40, **given), true, rtol=1e-12)


def test_verify_is_exact_and_shows_the_rounding_gap():
    table = oa.verify("allreduce", "ring", P=range(1, 20))
    assert table["equal"].all()
    assert (table["ratio"] == 1).all()
    assert (table["ratio_uneven"][2:] < 1).all()  # one element more makes one block larger
    assert list(oa.verify("allgather", "two_proc")["P"]) == [2]
    bound = oa.verify("reduce", "binomial", P=(6, 8))
    assert list(bound["equal"]) == list(bound["claimed_exact"]) == [False, True]


def test_verify_refuses_what_it_cannot_verify():
    with pytest.raises(KeyError, match="formula of its own"):
        oa.verify("allreduce", "nonoverlapping")
    with pytest.raises(KeyError, match="symbol of this network"):
        oa.verify("allreduce", "ring", L=1)


def test_the_reduction_of_a_schedule_can_be_slower_than_claimed_nowhere():
    # A formula may be an upper bound; it is never below its schedule, at odd numbers of bytes a rank either.
    for p in (3, 6, 12):
        table = oa.verify("reduce", "binomial", P=[p], gamma=0)
        assert table["equal"].all()


def test_schedules_conserve_what_they_move():
    for collective, name in ALGORITHMS:
        if not formulas(collective)[name].exists(11):
            continue
        schedule = oa.schedule(collective, name, P=11, count=97, itemsize=3)
        sent = sorted((r, to, m) for r in range(11) for to, m in schedule.sends(r))
        received = sorted((source, r, m) for r in range(11) for source, m in schedule.receives(r))
        assert sent == received
