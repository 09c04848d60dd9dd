"""Verbs on costs beside `crossover`: segments, shares, inversion, growth, bounds, guidelines."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import sympy as sp

import orrery_analytic as oa
from orrery_analytic import (
    Cost,
    Hockney,
    LogGP,
    OrreryError,
    collective_cost,
    kernel_cost,
    list_algorithms,
    list_collectives,
    load_machine,
    p2p_cost,
    schedule,
)
from orrery_analytic.algebra import (
    GUIDELINES,
    asymptotics,
    distance_to_bound,
    dominant_term,
    elasticity,
    guideline,
    guidelines,
    half_performance,
    invert,
    lower_bound,
    optimal_segment,
)
from orrery_analytic.symbols import P, alpha, beta, gamma, log2_ceil, n

NUMBERS = {"alpha": 2e-6, "beta": 1e-10, "gamma": 3e-9, "L": 1e-6, "o": 4e-7, "g": 4e-7, "G": 4e-11}


def segmented(collective: str, algorithm: str, network: Hockney | LogGP = Hockney()) -> Cost:  # noqa: B008
    return collective_cost(collective, algorithm, network, segment_bytes="symbol")


def test_the_best_segment_of_the_pipeline_is_the_known_formula() -> None:
    best = optimal_segment(segmented("bcast", "pipeline"))
    assert sp.simplify(best.points[0] ** 2 - n * alpha / ((P - 2) * beta)) == 0
    time = (sp.sqrt((P - 2) * alpha) + sp.sqrt(n * beta)) ** 2
    numbers = {P: 9, n: 10**6, alpha: sp.Rational(1, 10**6), beta: sp.Rational(1, 10**9)}
    assert float(best.cases[0][2].subs(numbers)) == pytest.approx(float(time.subs(numbers)))
    assert best._repr_latex_() == r"$\displaystyle n_s^* = \sqrt{\frac{\alpha n}{\beta \left(P - 2\right)}}$"
    assert repr(best).startswith("n_s = sqrt(alpha*n/(beta*(P - 2)))")


def test_under_loggp_the_gap_takes_the_place_of_the_latency() -> None:
    best = optimal_segment(segmented("bcast", "pipeline", LogGP()))
    G, g = sp.symbols("G g", positive=True)
    assert any(sp.simplify(point**2 - n * (g - G) / (G * (P - 2))) == 0 for point in best.points)


@pytest.mark.parametrize("network", [Hockney(), LogGP()])
@pytest.mark.parametrize(
    ("collective", "algorithm", "cut"),
    [("bcast", "pipeline", 1), ("bcast", "binary_tree", 1), ("bcast", "split_binary_tree", 2), ("reduce", "chain", 1),
     ("reduce", "binary", 1), ("reduce", "in-order_binary", 1), ("allreduce", "segmented_ring", 0)],
)  # fmt: skip
def test_the_whole_number_of_segments_is_the_best_of_all(
    collective: str, algorithm: str, cut: int, network: Hockney | LogGP
) -> None:
    cost = segmented(collective, algorithm, network)
    numbers = {name: NUMBERS[name] for name in cost.symbols if name in NUMBERS}
    for ranks, size in ((2, 5000), (7, 1), (64, 2_000_000)):
        found = optimal_segment(cost).at(NUMBERS, P=ranks, n=size)
        whole = size / (cut or ranks)
        counts = np.arange(1, min(1000, max(1, math.ceil(whole))) + 1)
        seconds = cost(P=ranks, n=size, n_s=whole / counts, **numbers)
        assert found.seconds == pytest.approx(seconds.min(), rel=1e-12)
        assert found.seconds == pytest.approx(seconds[found.number - 1], rel=1e-12)
        assert found.segment_bytes == math.ceil(whole / found.number)


def test_the_best_segment_is_the_best_of_the_schedule() -> None:
    best = optimal_segment(segmented("bcast", "pipeline")).at(alpha=1, beta=1, P=6, n=60)
    times = {}
    for size in range(1, 61):
        program = schedule("bcast", "pipeline", 6, 60, itemsize=1, segment_bytes=size)
        times[size] = max(program.finish(Hockney(), alpha=1, beta=1, gamma=1))
    assert times[best.segment_bytes] == min(times.values())


def test_the_best_of_flat_costs_is_exact() -> None:
    """4095 and 4096 segments differ in the eleventh digit."""
    best = optimal_segment(segmented("reduce", "pipeline")).at(alpha=1, beta=1, gamma=1, P=2, n=2**24 - 1)
    assert (best.number, best.segment_bytes) == (4096, 4096)


def test_one_rank_has_nothing_to_cut() -> None:
    assert optimal_segment(segmented("bcast", "pipeline")).at(NUMBERS, P=1, n=100) == (1, 100, 0.0)


@pytest.mark.parametrize("network", [Hockney(), LogGP()])
def test_shares_add_up_to_one(network: Hockney | LogGP) -> None:
    """Euler: costs are of the first degree in the parameters; o and g are equal here, which is a border of maxima."""
    seen = 0
    for collective in list_collectives():
        for name in list_algorithms(collective):
            try:
                shares = elasticity(collective_cost(collective, name, network)).at(NUMBERS, P=37, n=5000)
            except OrreryError:
                continue  # stated for other P, or made of parts
            seen += 1
            assert sum(shares.values()) == pytest.approx(1, abs=1e-12), (collective, name)
    assert seen > 50


def test_shares_are_formulas_and_fixed_seconds_take_from_them() -> None:
    shares = elasticity(p2p_cost()).shares
    assert shares["alpha"] == alpha / (alpha + n * beta)
    fixed = elasticity(p2p_cost() + Cost({"call": sp.Rational(1, 10**6)}))
    assert sum(fixed.at(NUMBERS, n=0).values()) == pytest.approx(2 / 3)
    assert elasticity(p2p_cost()).at(NUMBERS, n=20_000) == {"alpha": 0.5, "beta": 0.5}


def test_a_rate_has_a_share_below_zero() -> None:
    shares = elasticity(kernel_cost()).at(t_launch=1e-6, t_sync=1e-6, R=1e9, W=2000)
    assert shares == {"R": -0.5, "t_launch": 0.25, "t_sync": 0.25}


def test_a_share_is_what_a_percent_more_costs() -> None:
    cost = collective_cost("reduce", "in-order_binary")
    shares = elasticity(cost).at(NUMBERS, P=20, n=1000)
    numbers = {name: NUMBERS[name] for name in ("alpha", "beta", "gamma")}
    for name, share in shares.items():
        more = cost(P=20, n=1000, **{**numbers, name: numbers[name] * 1.0001})
        assert (more / cost(P=20, n=1000, **numbers) - 1) / 1e-4 == pytest.approx(share, rel=1e-3)


def test_inversion_turns_a_time_a_byte_into_a_bandwidth() -> None:
    doubling, ring = (collective_cost("allreduce", name) for name in ("recursive_doubling", "ring"))
    musica = load_machine("musica")
    found = invert(ring, doubling, "bandwidth", musica, P=8, n=65536)
    ((low, high),) = found.wins
    assert low == 0
    assert found.now == pytest.approx(24.7e9)
    assert found.holds_now is False
    slower, faster = (musica.replace(bandwidth=high * factor) for factor in (0.999, 1.001))
    for machine, wins in ((slower, True), (faster, False)):
        a, b = (cost.at(machine, P=8, n=65536).total for cost in (ring, doubling))
        assert (a < b) == wins
    assert invert(ring, doubling, "beta", musica, P=8, n=65536).wins == ((1 / high, math.inf),)
    assert repr(found).startswith("bandwidth for a to beat b: less than")


def test_inversion_names_the_keys_that_there_are() -> None:
    cost = p2p_cost()
    with pytest.raises(OrreryError, match="Did you mean 'bandwidth'"):
        invert(cost, cost, "bandwith", NUMBERS, n=8)
    with pytest.raises(OrreryError, match="network_cards_per_node"):
        invert(cost, cost, "network_cards_per_node", NUMBERS, n=8)
    assert invert(cost, cost, "latency", NUMBERS, n=8).wins == ()
    assert invert(cost, cost, "latency", NUMBERS, n=8).ties == ((0.0, math.inf),)


@pytest.mark.parametrize(
    ("collective", "algorithm", "term", "least", "most"),
    [
        ("allreduce", "ring", "bandwidth", 2 * n * beta, 2 * n * beta),
        ("allreduce", "ring", "latency", 2 * P * alpha, 2 * P * alpha),
        ("allreduce", "recursive_doubling", "latency", alpha * sp.log(P, 2), alpha * sp.log(P, 2)),
        ("allreduce", "rabenseifner", "bandwidth", 2 * n * beta, 4 * n * beta),
        ("alltoall", "modified_bruck", "bandwidth", n * beta * P * sp.log(P, 2) / 2, n * beta * P * sp.log(P, 2) / 2),
        ("allgather", "neighbor", "latency", P * alpha / 2, P * alpha),
        ("bcast", "binary_tree", "latency", 2 * alpha * sp.log(P, 2), 2 * alpha * sp.log(P, 2)),
    ],
)
def test_growth_with_the_ranks(collective: str, algorithm: str, term: str, least: sp.Expr, most: sp.Expr) -> None:
    found = asymptotics(collective_cost(collective, algorithm)).in_P[term]
    assert found is not None
    assert sp.simplify(found.least - least) == 0
    assert sp.simplify(found.most - most) == 0


def test_growth_with_the_size() -> None:
    found = asymptotics(collective_cost("gather", "basic_linear", LogGP()))
    G = sp.Symbol("G", positive=True)
    ((leading, conditions),) = found.in_n["bandwidth"]
    assert sp.expand(leading - (P - 1) * G * n) == 0
    assert conditions == ()
    in_order = asymptotics(collective_cost("reduce", "binary")).in_n["reduce"]
    assert {str(c) for _, where in in_order for c in where} == {"gamma <= beta", "beta <= gamma"}
    assert "n -> oo" in repr(found)
    assert "<table>" in found._repr_html_()


def test_the_largest_term_changes_where_two_are_equal() -> None:
    cost = collective_cost("allreduce", "recursive_doubling")
    dominance = dominant_term(cost)
    regions = dominance.regions(NUMBERS, P=64)
    assert [region.term for region in regions] == ["latency", "reduce"]
    assert regions[0].last == 666  # 2 us / 3 ns
    assert dominance.borders["latency", "bandwidth"].points == (alpha / beta,)
    assert (dominance.at(NUMBERS, P=64, n=666), dominance.at(NUMBERS, P=64, n=667)) == ("latency", "reduce")
    sizes = np.array([1, 100, 666, 667, 10**6])
    values = cost.values(P=64, n=sizes, alpha=2e-6, beta=1e-10, gamma=3e-9)
    largest = np.argmax([values[name] for name in cost.terms], axis=0)
    assert [list(cost.terms)[i] for i in largest] == [dominance.at(NUMBERS, P=64, n=int(size)) for size in sizes]


def test_half_performance_is_half_of_the_rate() -> None:
    assert half_performance(p2p_cost()).size == alpha / beta
    for network in (Hockney(), LogGP()):
        cost = collective_cost("reduce", "in-order_binary", network)
        half = half_performance(cost)
        size = half.at(NUMBERS, P=20)
        numbers = {name: NUMBERS[name] for name in cost.symbols if name in NUMBERS}
        large = 1e15
        rate = large / cost(P=20, n=large, **numbers)
        assert size / cost(P=20, n=size, **numbers) == pytest.approx(rate / 2, rel=1e-6)
        ranks = half.ranks(NUMBERS, n=size, last=30)
        assert ranks is not None
        assert half.at(NUMBERS, P=ranks) <= size * (1 + 1e-12)
    assert half_performance(collective_cost("allreduce", "ring")).ranks(NUMBERS, n=10**5, last=200) == 80
    with pytest.raises(OrreryError, match="does not grow"):
        half_performance(collective_cost("barrier", "bruck")).at(NUMBERS, P=4)


def test_no_algorithm_undercuts_its_bound_and_some_reach_it() -> None:
    alone = [
        {"alpha": 1, "beta": 0, "gamma": 0},
        {"alpha": 0, "beta": 1, "gamma": 0},
        {"alpha": 0, "beta": 0, "gamma": 1},
    ]
    reached = set()
    for collective in list_collectives():
        for name in list_algorithms(collective):
            for ranks in (2, 3, 6, 8, 37):
                for i, numbers in enumerate(alone):
                    try:
                        cost = collective_cost(collective, name)
                        far = distance_to_bound(cost, collective, numbers, P=ranks, n=720)
                    except OrreryError:
                        continue  # made of parts, stated for other P, or no such bound
                    assert far >= 1, (collective, name, ranks, numbers)
                    reached |= {(collective, i)} if far == 1 and ranks == 8 else set()
    assert {("allreduce", 0), ("allreduce", 1), ("allreduce", 2), ("bcast", 0), ("allgather", 1)} <= reached


def test_bounds_are_formulas_of_hockney() -> None:
    bounds = lower_bound("allreduce")
    expected = {
        "latency": alpha * log2_ceil(P),
        "bandwidth": 2 * (P - 1) / P * n * beta,
        "reduce": (P - 1) / P * n * gamma,
    }
    assert bounds.keys() == expected.keys()
    assert all(sp.expand(bounds[name] - expected[name]) == 0 for name in bounds)
    assert set(lower_bound("barrier")) == {"latency"}
    with pytest.raises(OrreryError, match="Hockney"):
        lower_bound("allreduce", LogGP())  # type: ignore[arg-type]
    with pytest.raises(OrreryError, match="allreduce"):
        lower_bound("allredcue")


def test_guidelines_are_proved_refuted_or_open() -> None:
    chosen = {"allreduce": "rabenseifner", "reduce": "binomial", "bcast": "binomial", "gather": "binomial",
              "allgather": "ring"}  # fmt: skip
    verdicts = {v.name: v for v in guidelines(chosen)}
    assert verdicts["gather <= allgather"].verdict == "proved"
    assert verdicts["allreduce <= reduce + bcast"].verdict == "refuted"
    a, b = Cost({"latency": sp.Max(alpha, n * beta)}), Cost({"latency": sp.Max(alpha, 1 + n * beta)})
    assert guideline(a, b).verdict in ("open", "proved")


def seconds_of(
    collective: str, algorithm: str, network: Hockney | LogGP, size: int, witness: dict[str, float]
) -> float:
    """The time of the schedule for the n of a guideline, at the numbers of a witness."""
    ranks = int(witness["P"])
    count = size // ranks if collective == "reduce_scatter" else size
    names = ("alpha", "beta", "gamma", "L", "o", "g", "G")
    program = schedule(collective, algorithm, ranks, count, itemsize=1)
    return float(max(program.finish(network, **{name: witness.get(name, 0) for name in names})))


@pytest.mark.parametrize("network", [Hockney(), LogGP()])
@pytest.mark.parametrize(
    ("chosen", "refuted"),
    [
        ({"allreduce": "rabenseifner", "reduce": "binomial", "bcast": "binomial"}, {"allreduce <= reduce + bcast"}),
        ({"allreduce": "ring", "reduce": "rabenseifner", "reduce_scatter": "ring", "allgather": "bruck",
          "scatter": "binomial"}, {"allreduce <= reduce_scatter + allgather", "reduce_scatter <= reduce + scatter"}),
        ({"allgather": "bruck", "gather": "basic_linear"}, {"gather <= allgather"}),
    ],
)  # fmt: skip
def test_what_is_refuted_falls_on_the_schedules_too(
    chosen: dict[str, str], refuted: set[str], network: Hockney | LogGP
) -> None:
    claims = {f"{where} <= {' + '.join(dict(others))}": (where, others) for where, others in GUIDELINES}
    seen = set()
    for verdict in guidelines(chosen, network):
        where, others = claims[verdict.name]
        if verdict.witness is not None:
            seen.add(verdict.name)
            witness = dict(verdict.witness)
            sizes = {other: int(witness["n"] * scale.subs(P, witness["P"])) for other, scale in others}
            left = seconds_of(where, chosen[where], network, witness["n"], witness)
            right = (seconds_of(other, chosen[other], network, size, witness) for other, size in sizes.items())
            assert left > sum(right), verdict
    assert refuted <= seen


def test_two_parameters_are_decided_over_their_quotient() -> None:
    few, many = (Cost({"latency": 2 * alpha}), Cost({"bandwidth": 2 * n * beta}))
    found = guideline([few, many], Cost({"latency": alpha, "bandwidth": n * beta}))
    assert (found.verdict, found.where) == ("proved", "for P = 2 to 1024 and all parameters")
    refuted = guideline([few, many], Cost({"latency": alpha, "bandwidth": n * beta * sp.Rational(99, 100)}))
    assert refuted.where == "where alpha and beta alone count"
    assert refuted.witness is not None
    size = refuted.witness["n"] * refuted.witness["beta"]
    assert min(2, 2 * size) > 1 + 0.99 * size


def test_the_best_algorithms_are_proved_or_refuted_for_all_parameters() -> None:
    found = {
        v.name: v for v in guidelines({"gather": "best", "allgather": "best", "reduce": "best", "allreduce": "best"})
    }
    assert found["gather <= allgather"].verdict == "proved"  # one on the right is a walk along the bits of P
    witness = dict(found["reduce <= allreduce"].witness or {})
    least = {
        where: min(seconds_of(where, name, Hockney(), witness["n"], witness) for name in list_algorithms(where)
                   if name != "nonoverlapping" and not name.startswith("bine_"))  # for powers of two alone
        for where in ("reduce", "allreduce")
    }  # fmt: skip
    assert least["reduce"] > least["allreduce"]


def test_guidelines_on_a_machine_have_a_witness_in_n() -> None:
    doubling, ring = (collective_cost("allreduce", name) for name in ("recursive_doubling", "ring"))
    found = guideline(doubling, ring, load_machine("musica"), ranks=[8])
    assert found.witness == {"P": 8, "n": 66091}
    assert str(found).startswith("left <= right: refuted on musica")
    assert guideline(ring, collective_cost("allreduce", "segmented_ring"), NUMBERS, ranks=[8, 9]).verdict == "proved"


@pytest.mark.parametrize(
    "verb", [optimal_segment, elasticity, asymptotics, dominant_term, half_performance, lambda x: guideline(x, x)]
)
@pytest.mark.parametrize("value", [None, 3, "alpha", alpha, {}])
def test_what_is_no_cost_is_refused(verb: Callable[[object], object], value: object) -> None:
    with pytest.raises(OrreryError, match="a Cost is allowed"):
        verb(value)


@pytest.mark.parametrize("numbers", [{"P": 2.5}, {"P": 8, "n": -1}, {"P": 8, "n": math.nan}, {"P": 8, "n": "1 Mi"}, {}])
def test_wrong_numbers_are_refused(numbers: dict[str, object]) -> None:
    ring = collective_cost("allreduce", "ring")
    for ask in (elasticity(ring).at, lambda m, **v: distance_to_bound(ring, "allreduce", m, **v),
                optimal_segment(segmented("bcast", "pipeline")).at,
                lambda m, **v: invert(ring, ring, "latency", m, **v)):  # fmt: skip
        with pytest.raises(OrreryError):
            ask(NUMBERS, **numbers)  # type: ignore[operator]


def test_costs_without_segments_are_refused() -> None:
    with pytest.raises(OrreryError, match="no segments to choose"):
        optimal_segment(collective_cost("bcast", "binomial"))
    with pytest.raises(OrreryError, match="more than 0"):
        optimal_segment(segmented("bcast", "pipeline")).at(NUMBERS, P=8, n=0)


def test_costs_that_share_parameters_that_cancel_are_compared() -> None:
    ring, doubling = (collective_cost("allgather", name) for name in ("ring", "recursive_doubling"))
    for left, right in ((ring, doubling), (doubling, ring)):
        assert guideline(left, right).verdict in ("proved", "refuted", "open")
    neighbor = collective_cost("allgather", "neighbor")
    found = guideline(ring, neighbor)
    assert found.verdict == "refuted"
    assert found.witness is not None
    values = {"P": found.witness["P"], "n": found.witness["n"], "alpha": 1, "beta": 0}
    assert ring(**values) > neighbor(**values)


def test_what_is_not_stated_everywhere_is_not_proved() -> None:
    two, ring = (collective_cost("allgather", name) for name in ("two_proc", "ring"))
    for left, right in ((two, ring), (ring, two)):
        assert guideline(left, right).verdict == "open"
    found = guideline(two, ring, "musica", ranks=[2, 3, 64])
    assert (found.verdict, "P = 3, 64" in found.where) == ("open", True)


def test_of_several_costs_the_cheapest_one_counts() -> None:
    ring, doubling = (collective_cost("allreduce", name) for name in ("ring", "recursive_doubling"))
    assert guideline([ring, doubling], ring).verdict == "proved"
    assert guideline(ring, [ring, doubling], "musica", ranks=[64]).verdict == "refuted"
    with pytest.raises(OrreryError, match="none was given"):
        guideline([], ring)


def test_the_best_algorithms_are_judged_by_scanning_them() -> None:
    found = {v.name: v for v in guidelines("best", machine="musica", ranks=[8, 9])}
    assert found["allgather <= alltoall"].verdict == "proved"
    assert found["allgather <= alltoall"].where.endswith("P = 8 to 9, every n")
    refuted = found["reduce <= allreduce"]
    assert refuted.witness is not None
    machine, witness = load_machine("musica").parameters, dict(refuted.witness)
    seconds = {}
    for collective in ("reduce", "allreduce"):
        costs = []
        for name in oa.list_algorithms(collective):
            try:
                cost = collective_cost(collective, name)
            except OrreryError:
                continue
            costs.append(cost(**witness, **{s: machine[s] for s in cost.symbols if s in machine}))
        seconds[collective] = float(np.nanmin(np.array(costs, dtype=float)))
    assert seconds["reduce"] > seconds["allreduce"]


def test_best_and_named_algorithms_go_together() -> None:
    found = guidelines({"allreduce": "ring", "reduce": "best", "bcast": "binomial"}, machine="musica", ranks=[8])
    assert {v.name: v.verdict for v in found} == {"allreduce <= reduce + bcast": "refuted", "reduce <= allreduce":
                                                   found[1].verdict}  # fmt: skip


def test_inversion_counts_cards_of_a_node() -> None:
    few, many = (
        lambda cards, name=name: collective_cost("alltoall", name, oa.TwoLevel(4, cards))
        for name in ("modified_bruck", "pairwise")
    )
    # A size at which the cheaper one changes with the number of cards is looked for, not guessed.
    machine, checked = load_machine("leonardo"), set()
    for size in (2**k for k in range(10, 18)):
        found = oa.invert(few, many, "network_cards_per_node", machine, last=4, P=64, n=size)
        told = [s.cheaper for s in found.stretches for _ in range(int(s.first), int(s.last) + 1)]
        for cards, word in enumerate(told, start=1):
            a, b = (
                cost(**{s: machine.parameters.get(s, 64 if s == "P" else size) for s in cost.symbols})
                for cost in (few(cards), many(cards))
            )
            assert word == ("a" if a < b else "b")
        checked.add(tuple(told))
        assert found.now == machine.network_cards_per_node
    assert len(checked) > 1


def test_inversion_counts_ranks_of_a_node_where_there_is_a_formula() -> None:
    doubling, ring = (
        lambda ranks, name=name: collective_cost("allreduce", name, oa.TwoLevel(ranks, 1))
        for name in ("recursive_doubling", "ring")
    )
    found = oa.invert(doubling, ring, "ranks_per_node", "leonardo", last=4, P=64, n=65536)
    assert [s.cheaper for s in found.stretches] == ["a", "only b", "a"]
    assert repr(found).startswith("ranks_per_node for a to beat b: 1 to 2 or 4, of 1 to 4")
    assert "4" in found._repr_html_()


@pytest.mark.parametrize(
    ("arguments", "more", "match"),
    [
        ((Cost(), Cost(), "ranks_per_node"), {}, "must be a function of ranks_per_node"),
        ((lambda q: 3, lambda q: 3, "ranks_per_node"), {}, "must return a Cost"),
        ((Cost(), Cost(), "ranks_per_nod"), {}, "Did you mean 'ranks_per_node'"),
        ((Cost(), Cost(), "latency"), {"last": 3}, "last is for counts"),
        ((lambda q: Cost(), lambda q: Cost(), "ranks_per_node"), {"last": 10**9}, "last = 1000000000"),
        ((lambda q: collective_cost("x", "y"),) * 2 + ("ranks_per_node",), {}, "unknown collective"),
        ((lambda q: collective_cost("bcast", "rng"), lambda q: Cost(), "ranks_per_node"), {}, "'rng'"),
        ((lambda q: None, lambda q: Cost(), "ranks_per_node"), {}, "must return a Cost"),
    ],
)
def test_wrong_counts_are_refused(arguments: tuple[object, ...], more: dict[str, object], match: str) -> None:
    with pytest.raises(OrreryError, match=match):
        oa.invert(*arguments, machine="musica", P=8, n=8, **more)  # type: ignore[arg-type]


def test_guidelines_are_for_networks_of_one_level() -> None:
    for network in (oa.TwoLevel(4, 1), "Hockney"):
        with pytest.raises(OrreryError, match="network is Hockney or LogGP"):
            oa.guidelines("best", network)  # type: ignore[arg-type]


def test_functions_of_a_count_must_take_it() -> None:
    ring = collective_cost("allreduce", "ring")
    for wrong in (lambda: ring, lambda a, b: ring):
        with pytest.raises(OrreryError, match="cost_a must take the count"):
            invert(wrong, lambda cards: ring, "ranks_per_node", "musica", P=4, n=8)
    assert invert(lambda w: ring, lambda w: ring, "ranks_per_node", "musica", P=4, n=8, last=8).holds_now is False
