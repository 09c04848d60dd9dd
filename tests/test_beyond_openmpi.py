"""Sparbit, and algorithms that Open MPI does not have: what they move reaches everyone once, and costs what is said.

`test_proofs` holds their formulas against their schedules; here are the knobs that it does not turn.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
import sympy as sp

import orrery_analytic as oa
from orrery_analytic.collectives import bine
from orrery_analytic.collectives.algorithm import Options
from orrery_analytic.collectives.formulas import network_cost
from orrery_analytic.collectives.registry import find
from orrery_analytic.collectives.rounds import k
from orrery_analytic.collectives.sparbit import steps
from orrery_analytic.errors import QuantityError
from orrery_analytic.schedules import Schedule
from orrery_analytic.symbols import P, alpha, beta, n

POWERS = [2**i for i in range(1, 11)]
HOCKNEY = {"alpha": 50, "beta": 2, "gamma": 5}
LOGGP = [
    {"L": 2500, "o": 500, "g": 2000, "G": 2, "gamma": 0},
    {"L": 2500, "o": 100, "g": 100, "G": 1, "gamma": 40},
    {"L": 2500, "o": 500, "g": 12000, "G": 1, "gamma": 7},  # g > L + 2 o
    {"L": 20, "o": 3000, "g": 0, "G": 4, "gamma": 1},
]


def priced(cost: Any, **values: Any) -> Any:
    return cost(**{name: v for name, v in values.items() if name in (*cost.symbols, "P", "n")})


# A rank's data as bits, one for each block or contribution: what is joined must not overlap.


def joined(a: int, b: int) -> int:
    assert a & b == 0, "something arrives twice"
    return a | b


def combined(schedule: Schedule) -> list[int]:
    """Whole vectors go around: return whose contributions each rank holds in the end."""
    held = [1 << rank for rank in range(schedule.P)]
    for part in schedule.rounds():
        reducing = {rank for rank, _ in part.reductions}
        arriving = [(to, held[source]) for source, to, _ in part.messages]
        for to, data in arriving:
            held[to] = joined(held[to], data) if to in reducing else data
    return held


def spread(schedule: Schedule, root: int) -> list[bool]:
    """Return which ranks have the root's vector in the end: all messages come from ranks that have it."""
    has = [rank == root for rank in range(schedule.P)]
    for part in schedule.rounds():
        assert all(has[source] for source, _, _ in part.messages)
        for _, to, _ in part.messages:
            assert not has[to]
            has[to] = True
    return has


def partners(schedule: Schedule) -> list[dict[int, tuple[int, int]]]:
    """Return for each round the (partner, bytes) to which each rank sends."""
    found = [{source: (to, m) for source, to, m in part.messages} for part in schedule.rounds()]
    for pairs in found:
        assert all(pairs[to][0] == rank for rank, (to, _) in pairs.items())
    return found


def check_halving(rounds: list[dict[int, tuple[int, int]]], pieces: dict[int, int]) -> None:
    """In each round pairs part what they hold: in the end each rank has its piece, with every contribution."""
    keeps = [{rank: 1 << piece for rank, piece in pieces.items()}]
    for pairs in reversed(rounds):
        keeps.append({rank: joined(keeps[-1][rank], keeps[-1][to]) for rank, (to, _) in pairs.items()})
    everything = (1 << len(pieces)) - 1
    assert set(keeps[-1].values()) == {everything}
    held = {rank: 1 << piece for rank, piece in pieces.items()}  # contributions
    for pairs, kept in zip(rounds, keeps[-2::-1], strict=True):
        assert all(m == kept[to].bit_count() for to, m in pairs.values())
        held = {rank: joined(held[rank], held[to]) for rank, (to, _) in pairs.items()}
    assert set(held.values()) == {everything}


def check_doubling(rounds: list[dict[int, tuple[int, int]]], pieces: dict[int, int]) -> None:
    """In each round pairs exchange all they hold: in the end each rank has every piece."""
    held = {rank: 1 << piece for rank, piece in pieces.items()}
    for pairs in rounds:
        assert all(m == held[rank].bit_count() for rank, (_, m) in pairs.items())
        held = {rank: joined(held[rank], held[to]) for rank, (to, _) in pairs.items()}
    assert set(held.values()) == {(1 << len(pieces)) - 1}


# Sparbit


@pytest.mark.parametrize("ranks", range(2, 131))
def test_sparbit_brings_every_block_once(ranks: int) -> None:
    schedule = oa.schedule("allgather", "sparbit", ranks, 1, 1)
    assert [distance for distance, _ in steps(ranks)] == [2**i for i in reversed(range((ranks - 1).bit_length()))]
    order = [(distance, t) for distance, messages in steps(ranks) for t in range(messages)]
    for rank in (0, ranks - 1):  # all ranks do the same, turned
        held, fresh, last = {rank}, set(), None
        sent, received = schedule.sends(rank), schedule.receives(rank)
        for (distance, t), (to, _), (source, _) in zip(order, sent, received, strict=True):
            if distance != last:
                held, fresh, last = held | fresh, set(), distance
            assert (to, source) == ((rank + distance) % ranks, (rank - distance) % ranks)
            assert (rank - 2 * t * distance) % ranks in held
            block = (rank - (2 * t + 1) * distance) % ranks
            assert block not in held | fresh
            fresh.add(block)
        assert held | fresh == set(range(ranks))


def test_every_message_of_sparbit_costs_its_own_latency() -> None:
    assert sp.expand(oa.collective_cost("allgather", "sparbit").total - (P - 1) * (alpha + n * beta)) == 0
    assert steps(12) == [(8, 1), (4, 1), (2, 3), (1, 6)]


# MPICH

#: Messages and blocks in a row, from SimGrid SMPI's run of MPICH's code.
SIMULATED = {3: (3, 4), 5: (5, 9), 6: (4, 9), 7: (5, 11), 9: (7, 18), 12: (5, 19), 13: (7, 22), 17: (9, 35),
             24: (6, 39), 31: (9, 57), 33: (11, 68)}  # fmt: skip


def test_recursive_doubling_of_mpich_takes_as_long_as_in_the_simulator() -> None:
    cost = oa.collective_cost("allgather", "mpich_recursive_doubling")
    for ranks, (messages, blocks) in SIMULATED.items():
        assert cost(P=ranks, n=8, alpha=1000, beta=1) == 1000 * messages + 8 * blocks
        at = sp.expand(cost.total.subs(P, ranks))
        assert at == messages * alpha + blocks * n * beta


@pytest.mark.parametrize("ranks", [*range(2, 70), 127, 200])
def test_recursive_doubling_of_mpich_brings_every_block_once(ranks: int) -> None:
    held = [1 << rank for rank in range(ranks)]
    last = [0] * ranks  # what came last is what is passed on
    for part in oa.schedule("allgather", "mpich_recursive_doubling", ranks, 1, 1).rounds():
        arriving = []
        for source, to, blocks in part.messages:
            data = held[source] if blocks == held[source].bit_count() else last[source]
            assert blocks == data.bit_count()
            arriving.append((to, data))
        for to, data in arriving:
            held[to], last[to] = joined(held[to], data), data
    assert set(held) == {(1 << ranks) - 1}


def test_recursive_doubling_of_mpich_where_the_longest_path_changes() -> None:
    # 11 ranks: what is passed on early hides behind a level at which the last ranks are idle.
    cost = oa.collective_cost("allgather", "mpich_recursive_doubling")
    assert cost(P=11, n=1, alpha=1000, beta=1) == 6021
    for values in LOGGP:
        loggp = network_cost("allgather", "mpich_recursive_doubling", oa.LogGP())
        for ranks in (11, 21, 22, 45, 341):
            true = oa.schedule("allgather", "mpich_recursive_doubling", ranks, 10, 1).time(oa.LogGP(), **values)
            assert priced(loggp, P=ranks, n=10, **values) == true
            numbers = {sp.Symbol(s, positive=True): v for s, v in values.items()}
            assert loggp.total.subs({P: ranks, n: 10}).subs(numbers) == true


@pytest.mark.parametrize("ranks", [2, 3, 5, 6, 7, 8, 11, 12, 16, 31, 33])
def test_rabenseifner_of_mpich(ranks: int) -> None:
    depth = ranks.bit_length() - 1
    power, folded = 1 << depth, ranks - (1 << depth)
    schedule = oa.schedule("allreduce", "mpich_rabenseifner", ranks, power, 1)
    rounds = schedule.rounds()
    if folded:
        into = [(rank, rank + 1, power) for rank in range(0, 2 * folded, 2)]
        assert list(rounds[0].messages) == into
        assert sorted(rounds[-1].messages) == [(to, source, m) for source, to, m in into]
        assert {m for _, m in rounds[0].reductions} == {power}
        rounds = rounds[1:-1]
    pairs = [{source: (to, m) for source, to, m in part.messages} for part in rounds]
    pieces = {rank: i for i, rank in enumerate(pairs[0])}
    assert len(pieces) == power
    check_halving(pairs[:depth], pieces)
    check_doubling(pairs[depth:], pieces)
    q, fl, fold = power, depth, int(folded > 0)
    want = 2 * fl * 1000 + 2 * (q - 1) + 2 * fold * (1000 + q) + (q - 1 + fold * q) * 7  # as in the simulator
    cost = oa.collective_cost("allreduce", "mpich_rabenseifner")
    assert cost(P=ranks, n=q, alpha=1000, beta=1, gamma=7) == want


def test_rabenseifner_of_mpich_on_a_short_vector_is_recursive_doubling() -> None:
    short, other = (oa.schedule("allreduce", name, 11, 7) for name in ("mpich_rabenseifner", "recursive_doubling"))
    assert short.rounds() == other.rounds()
    assert oa.schedule("allreduce", "mpich_rabenseifner", 11, 8).rounds() != other.rounds()


@pytest.mark.parametrize("ranks", [2, 3, 7, 12])
def test_pairwise_reduce_scatter(ranks: int) -> None:
    schedule = oa.schedule("reduce_scatter", "mpich_pairwise", ranks, 5, 2)
    for rank in range(ranks):
        others = sorted(other for other in range(ranks) if other != rank)
        assert sorted(schedule.sends(rank)) == [(other, 10) for other in others]
        assert schedule.reductions(rank) == [10] * (ranks - 1)


@pytest.mark.parametrize(
    ("collective", "name"), [("allreduce", "mpich_rabenseifner"), ("reduce_scatter", "mpich_pairwise")]
)
def test_both_networks_agree_at_every_p(collective: str, name: str) -> None:
    values = LOGGP[0] | {"gamma": 3.0}
    values |= {"alpha": values["L"] + 2 * values["o"] - values["G"], "beta": values["G"]}
    at = {"P": np.arange(2, 40), "n": np.array([[1e4], [1e6]])}
    hockney, loggp = (priced(network_cost(collective, name, net), **at, **values) for net in (oa.Hockney(), oa.LogGP()))
    np.testing.assert_allclose(hockney, loggp, rtol=1e-13)


# Bine


def test_the_bine_tree_of_the_paper() -> None:
    assert bine.tree(8).children == ((3, 7, 1), (), (), (4, 2), (5,), (), (), (6,))
    by_step = [
        {min((to - source) % 16, (source - to) % 16) for source, to, _ in part.messages}
        for part in oa.schedule("bcast", "bine_tree", 16).rounds()
    ]
    assert by_step == [{5}, {3}, {1}, {1}]
    assert [bine.partner(0, j, 1024) for j in range(6)] == [1, 1023, 3, 1019, 11, 1003]


@pytest.mark.parametrize("ranks", POWERS)
def test_bine_trees_reach_every_rank_once(ranks: int) -> None:
    everything = (1 << ranks) - 1
    for root in {0, 1, ranks - 1} if ranks < 64 else {ranks // 3}:
        assert all(spread(oa.schedule("bcast", "bine_tree", ranks, root=root), root))
        assert combined(oa.schedule("reduce", "bine_tree", ranks, root=root))[root] == everything
        held = [1 << rank for rank in range(ranks)]
        gather = oa.schedule("gather", "bine_tree", ranks, 1, 1, root=root).rounds()
        subtrees = []
        for part in gather:
            for source, to, blocks in part.messages:
                assert blocks == held[source].bit_count()
                held[to] = joined(held[to], held[source])
                subtrees.append((to, source, blocks))
        assert held[root] == everything
        scatter = oa.schedule("scatter", "bine_tree", ranks, 1, 1, root=root).rounds()
        # Scatter is gather backwards, and a rank has received before it sends.
        assert sorted(message for part in scatter for message in part.messages) == sorted(subtrees)
        assert [set(part.messages) for part in scatter] == [
            {(to, source, m) for source, to, m in part.messages} for part in reversed(gather)
        ]


@pytest.mark.parametrize("ranks", POWERS)
def test_bine_butterflies_reach_every_rank_once(ranks: int) -> None:
    pieces = {rank: rank for rank in range(ranks)}
    check_doubling(partners(oa.schedule("allgather", "bine_butterfly", ranks, 1, 1)), pieces)
    check_halving(partners(oa.schedule("reduce_scatter", "bine_butterfly", ranks, 1, 1)), pieces)
    depth = ranks.bit_length() - 1
    both = partners(oa.schedule("allreduce", "bine_reduce_scatter_allgather", ranks, ranks, 1))
    check_halving(both[:depth], pieces)
    check_doubling(both[depth:], pieces)
    assert set(combined(oa.schedule("allreduce", "bine_recursive_doubling", ranks))) == {(1 << ranks) - 1}


def test_bine_splits_an_uneven_vector_into_all_its_bytes() -> None:
    schedule = oa.schedule("allreduce", "bine_reduce_scatter_allgather", 8, 21, 3)
    for rank in range(8):
        # A rank reduces all that it receives on the way there, and holds its block besides.
        own = 3 * (3 if rank < 5 else 2)
        assert sum(m for _, m in schedule.receives(rank)[3:]) + own == 63
        assert [m for _, m in schedule.receives(rank)[:3]] == schedule.reductions(rank)


@pytest.mark.parametrize(
    ("collective", "name", "twin"),
    [
        ("bcast", "bine_tree", "binomial"),
        ("reduce", "bine_tree", "binomial"),
        ("gather", "bine_tree", "binomial"),
        ("scatter", "bine_tree", "binomial"),
        ("allgather", "bine_butterfly", "recursive_doubling"),
        ("reduce_scatter", "bine_butterfly", "recursive_halving"),
        ("allreduce", "bine_recursive_doubling", "recursive_doubling"),
        ("allreduce", "bine_reduce_scatter_allgather", "rabenseifner"),
    ],
)
def test_bine_costs_what_its_binomial_twin_costs(collective: str, name: str, twin: str) -> None:
    at = {"P": np.array(POWERS), "n": 2.0**20}
    for network, values in ((oa.Hockney(), HOCKNEY), (oa.LogGP(), LOGGP[0]), (oa.LogGP(), LOGGP[3])):
        ours, theirs = (priced(network_cost(collective, a, network), **at, **values) for a in (name, twin))
        np.testing.assert_allclose(ours, theirs, rtol=1e-13)


def test_bine_is_for_powers_of_two() -> None:
    with pytest.raises(QuantityError, match="'bine_tree' on P = 12: it is allowed on powers of two alone"):
        oa.schedule("bcast", "bine_tree", 12)
    cost = oa.collective_cost("bcast", "bine_tree")
    assert cost.validity.endswith("exact for powers of two; there is no such algorithm for other P")
    seconds = cost(P=np.array([1, 8, 12]), n=1, alpha=1, beta=1)
    assert list(seconds[:2]) == [0, 6]
    assert np.isnan(seconds[2])


# Two levels

TWO_LEVEL = [
    ("bcast", "two_level_binomial"),
    ("reduce", "two_level_binomial"),
    ("allreduce", "two_level_recursive_doubling"),
]
WIDTHS = [1, 2, 3, 4, 8]


def nodes(ranks: int, width: int) -> int:
    return -(-ranks // width)


@pytest.mark.parametrize("width", WIDTHS)
def test_two_levels_reach_every_rank_once(width: int) -> None:
    for ranks in (2, 3, 5, 8, 12, 13, 24, 31):
        for root in {0, 1, ranks // 2, ranks - 1}:
            bcast, reduce = (
                oa.schedule(collective, "two_level_binomial", ranks, root=root, ranks_per_node=width)
                for collective in ("bcast", "reduce")
            )
            assert all(spread(bcast, root))
            assert combined(reduce)[root] == (1 << ranks) - 1
            for schedule in (bcast, reduce):  # a tree: between nodes, one message for each but the root's
                crossing = [m for p in schedule.rounds() for m in p.messages if m[0] // width != m[1] // width]
                assert len(crossing) == nodes(ranks, width) - 1
        allreduce = oa.schedule("allreduce", "two_level_recursive_doubling", ranks, ranks_per_node=width)
        assert set(combined(allreduce)) == {(1 << ranks) - 1}


@pytest.mark.parametrize("width", [1, 3, 4, 6])
@pytest.mark.parametrize(("collective", "name"), TWO_LEVEL)
def test_two_levels_cost_what_their_schedule_takes(collective: str, name: str, width: int) -> None:
    ranks = [*range(2, 34), 37, 48, 49]
    patterns = [oa.schedule(collective, name, p, 24, 1, ranks_per_node=width) for p in ranks]
    for network, sets in ((oa.Hockney(), [HOCKNEY]), (oa.LogGP(), LOGGP)):
        cost = network_cost(collective, name, network, ranks_per_node=width)
        for values in sets:
            true = [float(pattern.time(network, **values)) for pattern in patterns]
            np.testing.assert_allclose(priced(cost, P=np.array(ranks), n=24, **values), true, rtol=1e-12)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(("collective", "name"), TWO_LEVEL)
def test_rounds_of_two_levels_stay_in_a_node_or_leave_it(collective: str, name: str, width: int) -> None:
    phases = find(collective, name).phases
    assert phases is not None
    for ranks in (2, 3, 4, 6, 7, 8, 9, 12, 16, 17, 31):
        here = {P: ranks, n: 24}
        rounds = oa.schedule(collective, name, ranks, 24, 1, ranks_per_node=width).rounds()
        seen = 0
        for phase in phases(Options(ranks_per_node=width)):
            first, last = (int(sp.sympify(bound).subs(here)) for bound in (phase.first, phase.last))
            for part in rounds[first : last + 1]:
                assert part.nbytes == sp.sympify(phase.nbytes).subs(k, first).subs(here)
                assert part.reduced == sp.sympify(phase.reduced).subs(here)
                assert {source // width == to // width for source, to, _ in part.messages} == {phase.inside}
                seen += 1
        assert seen == len(rounds)


def test_one_rank_a_node_or_one_node_is_the_algorithm_of_one_level() -> None:
    for width in (1, 64):
        two, one = (oa.schedule("bcast", name, 12, ranks_per_node=width) for name in ("two_level_binomial", "binomial"))
        assert two.rounds() == one.rounds()
    for network in (oa.Hockney(), oa.LogGP()):
        two, one = (network_cost("bcast", name, network) for name in ("two_level_binomial", "binomial"))
        for ranks in range(2, 40):
            values = {**HOCKNEY, **LOGGP[2], "P": ranks, "n": 24}
            assert priced(two, **values) == priced(one, **values)


def test_two_levels_on_a_network_of_two_levels() -> None:
    # 4 nodes of 8: 3 messages inside for 2 between, where one level sends all but the last two across nodes.
    network = oa.TwoLevel(8, 1)
    values = {"alpha": 100, "beta": 4, "alpha_intra": 1, "beta_intra": 1}
    schedule = oa.schedule("bcast", "two_level_binomial", 32, 10, 1, ranks_per_node=8)
    assert schedule.time(network, **values) == 2 * (100 + 40) + 3 * (1 + 10)


def test_ranks_per_node_goes_through() -> None:
    cost = oa.collective_cost("allreduce", "two_level_recursive_doubling", ranks_per_node=4)
    assert cost(P=32, n=1, alpha=1, beta=0, gamma=0) == 2 + 3 + 2
    assert cost == network_cost("allreduce", "two_level_recursive_doubling", ranks_per_node=4)
    table = oa.verify("reduce", "two_level_binomial", oa.LogGP(), P=(8, 9, 12), ranks_per_node=4)
    assert table["equal"].all()
    assert table["claimed_exact"].all()
    derivation = oa.rounds("bcast", "two_level_binomial", ranks_per_node=4)
    assert [phase.inside for phase in derivation.phases] == [False, True]
    with pytest.raises(QuantityError, match="ranks_per_node must be a whole number from 1"):
        oa.schedule("bcast", "two_level_binomial", 8, ranks_per_node=0)
    with pytest.raises(QuantityError, match="ranks_per_node must be a whole number from 1"):
        oa.collective_cost("bcast", "two_level_binomial", ranks_per_node=0)


# Names


def names(collectives: Iterable[str]) -> set[str]:
    return {name for collective in collectives for name in oa.list_algorithms(collective)}


def test_they_are_listed_and_predicted() -> None:
    prefixed = {name for name in names(oa.list_collectives()) if name.startswith(("mpich_", "bine_", "two_level_"))}
    assert len(prefixed) == 9
    assert not prefixed & names(["allgatherv", "alltoallv"])
    assert "sparbit" in oa.list_algorithms("allgatherv")
    found = oa.predict("example", "allreduce", [1, 8, 12], [4096], algorithm="bine_recursive_doubling")
    assert list(found["runs"].values[:, 0]) == ["self", "bine_recursive_doubling", "bine_recursive_doubling"]
    assert found["seconds"].values[0, 0] == 0
    assert list(np.isnan(found["seconds"].values[:, 0])) == [False, False, True]
