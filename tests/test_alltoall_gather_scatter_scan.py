"""Alltoall, gather, scatter, scan and exscan: schedule against rounds, closed form against schedule, exactly."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sp

import orrery_analytic as oa
from orrery_analytic.collectives import alltoall, gather, scan, scatter
from orrery_analytic.collectives.algorithm import Algorithm, Options
from orrery_analytic.collectives.alltoall import popcount_sum
from orrery_analytic.collectives.formulas import network_cost
from orrery_analytic.collectives.rounds import k
from orrery_analytic.cost import evaluate
from orrery_analytic.errors import QuantityError
from orrery_analytic.networks import Hockney, LogGP
from orrery_analytic.symbols import P, log2_ceil, n

ALGORITHMS = [a for module in (alltoall, gather, scatter, scan) for a in module.ALGORITHMS]
NAMES = [f"{a.collective}-{a.name}" for a in ALGORITHMS]
ROOTED = [a for a in ALGORITHMS if a.collective in ("gather", "scatter")]
HOCKNEY = [
    {"alpha": Fraction(7), "beta": Fraction(1, 3), "gamma": Fraction(0)},
    {"alpha": Fraction(7), "beta": Fraction(1, 3), "gamma": Fraction(1, 5)},
    {"alpha": Fraction(1), "beta": Fraction(1, 3), "gamma": Fraction(3)},  # reductions cost more than messages
]
# L, o, g, G: the gap below o, between o and L + 2 o, above it, far above it; o far above everything; long messages.
LOGGP = [
    dict(zip(("L", "o", "g", "G", "gamma"), map(Fraction, values), strict=True))
    for values in (
        ("25", "15", "10", "3/50", "1/7"),
        ("25", "5", "40", "1/10", "0"),
        ("25", "5", "40", "1/10", "1/7"),
        ("25", "5", "120", "1/1000", "0"),
        ("25", "5", "120", "1/1000", "2"),
        ("2", "50", "0", "1/10", "1/7"),
        ("3", "1", "2", "2", "2"),
        ("1", "40", "3", "1/50", "1/7"),
        ("1", "10", "1", "3", "0"),
    )
]
RANKS = (2, 3, 4, 5, 6, 7, 8, 9, 13, 15, 16, 17, 31)


def ranks_of(algorithm: Algorithm, ranks: tuple[int, ...] = RANKS) -> list[int]:
    return [p for p in ranks if algorithm.exists(p)]


def at(expression: sp.Expr, **values: int) -> sp.Expr:
    return sp.sympify(expression).subs({P: values["P"], n: values["n"]}).subs(k, values.get("k", 0))


def assert_exact(algorithm: Algorithm, ranks: int, count: int, segment: int = 0) -> None:
    """The formula equals the schedule wherever it is claimed to, and is nowhere below it."""
    for network, points in ((Hockney(), HOCKNEY), (LogGP(), LOGGP)):
        total = network_cost(algorithm.collective, algorithm.name, network, segment_bytes=segment).total
        here = total.subs({P: ranks, n: count})
        assert not here.has(sp.Float)
        symbols = sorted(here.free_symbols, key=str)
        formula = sp.lambdify(symbols, here, "math")  # fractions stay fractions
        schedule = oa.schedule(algorithm.collective, algorithm.name, ranks, count, itemsize=1, segment_bytes=segment)
        for values in points:
            want = schedule.time(network, **values)
            got = formula(*(values[s.name] for s in symbols))
            gapped = "g" in values and values["g"] > values["L"] + 2 * values["o"]
            assert got >= want, values
            if algorithm.exact(network).holds(ranks, values["gamma"] > 0, gapped):
                assert got == want, values


def test_default_allgatherv_broadcasts_one_element():
    """Which no algorithm divides: on 18 ranks Open MPI 4.1.4, told to, sends all the blocks to each rank."""
    plan = oa.schedule("allgatherv", "default", P=18, count=7500, itemsize=8)
    assert plan.sends(0) == [(rank, 18 * 60000) for rank in range(1, 18)]
    cost = oa.collective_cost("allgatherv", "default", P=18)
    assert cost(n=60000, alpha=1, beta=0) == plan.time(Hockney(), alpha=1, beta=0) == 2 * 17


def test_alltoallv_from_rank_0_up_takes_almost_twice_as_long():
    cost = oa.collective_cost("alltoallv", "basic_linear")
    assert sp.expand(cost.total - (2 * P - 3) * sp.sympify(oa.p2p_cost(send="host", recv="host").total)) == 0


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=NAMES)
def test_phases_are_the_rounds_of_the_schedule(algorithm: Algorithm) -> None:
    assert algorithm.phases is not None
    for ranks in ranks_of(algorithm):
        rounds = oa.schedule(algorithm.collective, algorithm.name, ranks, 12, itemsize=1).rounds()
        told = []
        for phase in algorithm.phases(Options()):
            first, last = (int(at(bound, P=ranks, n=12)) for bound in (phase.first, phase.last))
            told += [
                (i, at(phase.nbytes, P=ranks, n=12, k=i), at(phase.reduced, P=ranks, n=12, k=i))
                for i in range(first, last + 1)
            ]
        assert told == [(i, r.nbytes, r.reduced) for i, r in enumerate(rounds)], ranks


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=NAMES)
def test_formula_equals_schedule(algorithm: Algorithm) -> None:
    for ranks in ranks_of(algorithm):
        assert_exact(algorithm, ranks, count=24)
    for ranks in ranks_of(algorithm, (7, 12)):
        assert_exact(algorithm, ranks, count=1)


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=NAMES)
def test_exactness_is_claimed_for_every_number_of_ranks(algorithm: Algorithm) -> None:
    assert ranks_of(algorithm) == ([2] if algorithm.name == "two_proc" else list(RANKS))
    for network in (Hockney(), LogGP()):
        claim = algorithm.exact(network)
        for ranks in ranks_of(algorithm, tuple(range(2, 70))):
            assert claim.holds(ranks, reducing=True, gapped=True)
        assert network_cost(algorithm.collective, algorithm.name, network).validity.startswith(
            f"{algorithm.collective} {algorithm.name}: exact for "
        )


@pytest.mark.parametrize(
    ("collective", "name", "ranks"),
    [
        ("alltoall", "pairwise", RANKS),
        ("alltoall", "modified_bruck", RANKS),
        ("scan", "linear", RANKS),
        ("scan", "recursive_doubling", RANKS),
        ("exscan", "linear", RANKS),
        ("exscan", "recursive_doubling", RANKS),
        ("gather", "binomial", (2, 4, 8, 16)),
        ("scatter", "binomial", (2, 4, 8, 16)),
    ],
)
def test_both_networks_agree_where_no_gap_counts(collective: str, name: str, ranks: tuple[int, ...]) -> None:
    L, o, G = 25.0, 5.0, 0.125
    here = {"P": np.array(ranks), "n": 96.0, "gamma": 2.0}
    one, other = (network_cost(collective, name, network).terms.values() for network in (Hockney(), LogGP()))
    hockney = sum(evaluate(one, {**here, "alpha": L + 2 * o - G, "beta": G}))
    loggp = sum(evaluate(other, {**here, "L": L, "o": o, "g": 0.25, "G": G}))
    assert np.array_equal(hockney, loggp)


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=NAMES)
def test_terms_are_not_negative(algorithm: Algorithm) -> None:
    ranks = np.array(ranks_of(algorithm))
    for network, points in ((Hockney(), HOCKNEY), (LogGP(), LOGGP)):
        cost = network_cost(algorithm.collective, algorithm.name, network)
        for values in points:
            numbers = {name: float(v) for name, v in values.items()}
            for size in (1, 1000):
                terms = evaluate(cost.terms.values(), {**numbers, "P": ranks, "n": size})
                assert np.min(terms) >= -1e-9


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=NAMES)
@pytest.mark.parametrize("count", [1, 7])
def test_what_is_sent_is_received(algorithm: Algorithm, count: int) -> None:
    for ranks in ranks_of(algorithm, (2, 3, 6, 13)):
        schedule = oa.schedule(algorithm.collective, algorithm.name, ranks, count, itemsize=3)
        sent = sorted((r, to, m) for r in range(ranks) for to, m in schedule.sends(r))
        received = sorted((source, r, m) for r in range(ranks) for source, m in schedule.receives(r))
        assert sent == received


@pytest.mark.parametrize("name", ["linear", "pairwise", "linear_sync"])
def test_alltoall_sends_one_block_to_each_other_rank(name: str) -> None:
    schedule = oa.schedule("alltoall", name, 7, count=5, itemsize=4)
    for rank in range(7):
        others = [(r, 20) for r in range(7) if r != rank]
        assert sorted(schedule.sends(rank)) == sorted(schedule.receives(rank)) == others


def test_alltoall_linear_sends_downwards_and_receives_upwards() -> None:
    schedule = oa.schedule("alltoall", "linear", 5, count=1, itemsize=1)
    assert [to for to, _ in schedule.sends(1)] == [0, 4, 3, 2]
    assert [source for source, _ in schedule.receives(1)] == [2, 3, 4, 0]


@pytest.mark.parametrize("ranks", [2, 5, 8, 13])
def test_modified_bruck_forwards_a_block_once_for_each_bit_of_its_distance(ranks: int) -> None:
    schedule = oa.schedule("alltoall", "modified_bruck", ranks, count=3, itemsize=1)
    ones = sum(distance.bit_count() for distance in range(ranks))
    assert sum(m for _, m in schedule.sends(ranks - 1)) == 3 * ones
    assert popcount_sum(ranks, (ranks - 1).bit_length()) == ones


def test_two_proc_is_for_two_ranks() -> None:
    with pytest.raises(QuantityError, match="P = 2 alone"):
        oa.schedule("alltoall", "two_proc", 3)
    assert np.isnan(network_cost("alltoall", "two_proc")(P=3, n=1, alpha=1.0, beta=1.0))


@pytest.mark.parametrize("ranks", [2, 3, 6, 8, 13])
@pytest.mark.parametrize("root", [0, 1])
def test_scatter_binomial_is_gather_binomial_backwards(ranks: int, root: int) -> None:
    up = oa.schedule("gather", "binomial", ranks, count=5, root=root)
    down = oa.schedule("scatter", "binomial", ranks, count=5, root=root)
    for rank in range(ranks):
        assert down.sends(rank) == up.receives(rank)[::-1]
        assert down.receives(rank) == up.sends(rank)


@pytest.mark.parametrize("algorithm", ROOTED, ids=[f"{a.collective}-{a.name}" for a in ROOTED])
def test_root_holds_all_blocks_and_does_not_change_the_time(algorithm: Algorithm) -> None:
    values: dict[str, Any] = LOGGP[2]
    times = set()
    for root in range(7):
        schedule = oa.schedule(algorithm.collective, algorithm.name, 7, 5, itemsize=1, root=root)
        messages = schedule.receives(root) if algorithm.collective == "gather" else schedule.sends(root)
        assert sum(m for _, m in messages) == 6 * 5
        times.add(schedule.time(LogGP(), **values))
    assert len(times) == 1


def test_gather_linear_sync_splits_off_a_first_segment() -> None:
    schedule = oa.schedule("gather", "linear_sync", 3, count=37, itemsize=4, root=1, segment_bytes=64)
    assert schedule.sends(0) == schedule.sends(2) == [(1, 64), (1, 84)]
    assert schedule.sends(1) == [(0, 0), (2, 0)]
    whole = oa.schedule("gather", "linear_sync", 3, count=37, itemsize=4, root=1)
    assert whole.sends(0) == [(1, 148), (1, 0)]


@pytest.mark.parametrize("segment", [1, 7, 16, 23, 24, 100])
def test_gather_linear_sync_with_any_first_segment(segment: int) -> None:
    (linear_sync,) = (a for a in gather.ALGORITHMS if a.name == "linear_sync")
    for ranks in (2, 3, 5, 9):
        assert_exact(linear_sync, ranks, 24, segment)
        rounds = oa.schedule("gather", "linear_sync", ranks, 24, itemsize=1, segment_bytes=segment).rounds()
        go, turns = linear_sync.phases(Options(sp.Integer(segment)))  # type: ignore[misc]
        assert rounds[0].nbytes == go.nbytes == 0
        assert [r.nbytes for r in rounds[1:]] == [at(turns.nbytes, P=ranks, n=24, k=i) for i in range(1, 2 * ranks - 1)]


def test_scatter_binomial_may_end_below_the_first_child() -> None:
    # o hides from the root the bytes of the 7 blocks that it sends first, but rank 8 waits for them.
    values = {"L": 0, "o": 100, "g": 0, "G": 1}
    n_bytes = 5
    served = 100 + 3 * 200 + (7 * n_bytes - 3)  # d, then a full subtree of 8 ranks
    late = oa.schedule("scatter", "binomial", 15, n_bytes, itemsize=1).time(LogGP(), **values)
    assert late > served
    assert network_cost("scatter", "binomial", LogGP())(P=15, n=n_bytes, **values) == late


# Reduction calls of each rank, as the real Open MPI 4.1.4 makes them.
@pytest.mark.parametrize(
    ("collective", "ranks", "calls"),
    [
        ("scan", 5, [3, 3, 3, 4, 2]),
        ("scan", 6, [3, 4, 3, 4, 3, 4]),
        ("exscan", 5, [3, 2, 2, 3, 1]),
        ("exscan", 6, [3, 3, 2, 3, 2, 3]),
    ],
)
def test_reductions_of_recursive_doubling(collective: str, ranks: int, calls: list[int]) -> None:
    schedule = oa.schedule(collective, "recursive_doubling", ranks, count=3, itemsize=4)
    assert [schedule.reductions(rank) for rank in range(ranks)] == [[12] * number for number in calls]


def test_scan_with_dear_reductions_does_not_wait_for_the_last_round() -> None:
    # On 17 ranks one rank more than 16 exchanges in the last round, with 0, which has combined least.
    values = {"alpha": 1, "beta": 0, "gamma": 1}
    for collective, spared in (("scan", 0), ("exscan", 1)):
        cost = network_cost(collective, "recursive_doubling")
        assert cost(P=17, n=100, **values) == 4 + (2 * 4 - spared) * 100
        assert cost(P=17, n=1, **values) == 5 + max(4 + 2 - spared, 2 * 4 - spared - 1)


@pytest.mark.parametrize("collective", ["scan", "exscan"])
def test_linear_scan_is_a_chain(collective: str) -> None:
    schedule = oa.schedule(collective, "linear", 4, count=3, itemsize=4)
    assert [schedule.sends(rank) for rank in range(4)] == [[(1, 12)], [(2, 12)], [(3, 12)], []]
    last = [12] if collective == "scan" else []
    assert [schedule.reductions(rank) for rank in range(4)] == [[], [12], [12], last]


def test_popcount_sum_counts_bits() -> None:
    for x in range(1, 70):
        for bits in range(8):
            assert popcount_sum(x, bits) == sum((i % 2**bits).bit_count() for i in range(x))
    assert popcount_sum(2**40, 40) == 40 * 2**39


def test_popcount_sum_of_symbols() -> None:
    m = sp.Symbol("m", integer=True, positive=True)
    total = popcount_sum(P, log2_ceil(P))
    assert total.subs(P, 2**m) == m * 2**m / 2
    assert popcount_sum(P, 0) == 0
    assert popcount_sum(sp.Integer(0), 1) is sp.nan
    assert total.is_integer
    assert total.evalf() == total
    assert sp.latex(total) == r"\left(\sum_{i < P} \operatorname{pop} i\right)"
    assert sp.latex(popcount_sum(P, k) ** 2) == (
        r"\left(\sum_{i < P} \operatorname{pop} \left(i \bmod 2^{k}\right)\right)^{2}"
    )


def test_popcount_sum_of_arrays() -> None:
    ranks = np.array([[1, 2, 3], [1000, 2**20, 2**20 + 1]])
    (total,) = evaluate([popcount_sum(P, log2_ceil(P))], {"P": ranks})
    want = [[0, 1, 2], [sum(i.bit_count() for i in range(1000)), 20 * 2**19, 20 * 2**19 + 1]]
    assert total.tolist() == want
