"""Where two costs cross: closed formulas and exact intervals, against numbers of the costs themselves."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

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
)
from orrery_analytic.algebra.crossings.crossover import crossover
from orrery_analytic.algebra.exact.arguments import numbers_for
from orrery_analytic.algebra.exact.lines import Lines, signs
from orrery_analytic.algebra.exact.values import exact_value
from orrery_analytic.collectives.registry import beyond_openmpi
from orrery_analytic.symbols import P, alpha, beta, gamma, log2_ceil, log2_floor, n

NUMBERS = {"alpha": 2e-6, "beta": 1e-10, "gamma": 3e-9, "L": 1e-6, "o": 3e-7, "g": 4e-6, "G": 4e-11}
SIZES = np.array(sorted({2**k + j for k in range(30) for j in (-1, 0, 1)} - {0} | {2**30}))
RANKS = (6, 128)
NETWORKS = (Hockney(), LogGP())


def allreduce(name: str, network: Hockney | LogGP = NETWORKS[0]) -> Cost:
    return collective_cost("allreduce", name, network)


def costs_of(collective: str, network: Hockney | LogGP, ranks: int) -> dict[str, Cost]:
    """Open MPI's algorithms that have a formula; composed ones with the parts that are decided at `ranks`."""
    found = {}
    for name in list_algorithms(collective):
        if not beyond_openmpi(name):
            try:
                found[name] = collective_cost(collective, name, network)
            except OrreryError:
                found[name] = collective_cost(collective, name, network, P=ranks)
    return found


def given(cost: Cost, **more: object) -> dict[str, object]:
    numbers = {name: NUMBERS[name] for name in cost.symbols if name in NUMBERS}
    return {**numbers, **{name: value for name, value in more.items() if name not in cost.fixed}}


def words(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Which of two times is the smaller one; "" where floats cannot tell."""
    if np.isnan(x).all() or np.isnan(y).all():
        both = np.isnan(x).all() and np.isnan(y).all()
        return np.full(x.shape, "neither" if both else "only b" if np.isnan(x).all() else "only a")
    clear = np.abs(x - y) > 1e-9 * (np.abs(x) + np.abs(y))
    return np.where(clear, np.where(x < y, "a", "b"), "")


def pairs(ranks: int, networks: tuple[Hockney | LogGP, ...] = NETWORKS) -> Iterator[tuple[str, str, str, Cost, Cost]]:
    for network in networks:
        for collective in list_collectives():
            costs = costs_of(collective, network, ranks)
            for a, b in itertools.combinations(costs, 2):
                yield collective, a, b, costs[a], costs[b]


@pytest.mark.parametrize("ranks", RANKS)
def test_every_pair_agrees_with_a_scan_over_n(ranks: int) -> None:
    for collective, a, b, left, right in pairs(ranks):
        found = crossover(left, right, "n").intervals(NUMBERS, P=ranks)
        assert found[0].first == 1
        assert found[-1].last == math.inf
        assert all(s.last + 1 == t.first and s.cheaper != t.cheaper for s, t in itertools.pairwise(found))
        place = np.searchsorted([s.first for s in found], SIZES, side="right") - 1
        told = np.array([s.cheaper for s in found])[place]
        seconds = (np.broadcast_to(c(**given(c, P=ranks, n=SIZES)), SIZES.shape) for c in (left, right))
        expected = words(*seconds)
        wrong = (told != expected) & (expected != "")
        assert not wrong.any(), (collective, a, b, SIZES[wrong][:3], found)


def test_every_pair_agrees_with_a_scan_over_ranks() -> None:
    ranks = np.arange(2, 1025)
    for i, (collective, a, b, left, right) in enumerate(pairs(128, NETWORKS[:1])):
        if i % 2 or "P" in left.fixed | right.fixed:
            continue  # half of the pairs take seconds enough; a composed algorithm has its number of ranks
        size = (8, 65536)[i // 2 % 2]
        found = crossover(left, right, "P").intervals(NUMBERS, n=size)
        assert (found[0].first, found[-1].last) == (2, 1024)
        assert all(s.last + 1 == t.first and s.cheaper != t.cheaper for s, t in itertools.pairwise(found))
        told = np.array([s.cheaper for s in found])[np.searchsorted([s.first for s in found], ranks, side="right") - 1]
        x, y = (np.broadcast_to(c(**given(c, P=ranks, n=size)), ranks.shape) for c in (left, right))
        defined = np.isfinite(x) & np.isfinite(y)
        expected = np.where(defined, words(np.where(defined, x, 1), np.where(defined, y, 1)), told)
        wrong = (told != expected) & (expected != "")
        assert not wrong.any(), (collective, a, b, ranks[wrong][:3], found)
        assert (np.isin(told, ("a", "b", "equal")) == defined).all()


def test_every_border_is_a_point_of_a_case_that_holds() -> None:
    seen = 0
    for collective, a, b, left, right in pairs(100, NETWORKS[:1]):
        crossing = crossover(left, right, "n")
        at = crossing.at(NUMBERS, P=100)
        if not at or crossing.note:
            continue
        numbers = numbers_for((left, right), NUMBERS, {"P": 100}, "n")
        points = [float(exact_value(c.point, numbers)) for c in crossing.cases if c.holds(n, numbers)]
        for border in at:
            seen += 1
            assert any(math.isclose(border, point, rel_tol=1e-9) for point in points), (collective, a, b)
    assert seen > 20


def test_a_closed_formula_a_person_can_read() -> None:
    crossing = crossover(allreduce("recursive_doubling"), allreduce("ring"), "n")
    fl, cl = log2_floor(P), log2_ceil(P)
    expected = alpha * (2 * P - 2 - 2 * cl + fl) / (beta * (2 * cl - fl - 2 + 2 / P) + gamma * (cl - 1 + 1 / P))
    assert sp.simplify(crossing.points[0] - expected) == 0
    assert crossing.points[0].count_ops() < 30
    assert (crossing.cheaper, crossing.conditions, crossing.note) == ("a below, b above", ((),), "")
    assert crossover(allreduce("ring"), allreduce("recursive_doubling"), "n").cheaper == "b below, a above"


def test_two_plain_costs_cross_at_one_clean_fraction() -> None:
    a, b = Cost({"latency": alpha, "bandwidth": 3 * n * beta}), Cost({"latency": 5 * alpha, "bandwidth": n * beta})
    assert crossover(a, b, "n").points == (2 * alpha / beta,)


def test_numbers_are_exact_decimals_and_a_tie_is_equal() -> None:
    crossing = crossover(Cost({"latency": alpha, "bandwidth": 2 * n * beta}),
                         Cost({"latency": 2 * alpha, "bandwidth": n * beta}), "n")  # fmt: skip
    assert crossing.intervals(alpha=2e-6, beta=1e-9) == ((1, 1999, "a"), (2000, 2000, "equal"), (2001, math.inf, "b"))
    assert crossing(alpha=2e-6, beta=1e-9) == (2000.0,)
    assert crossing.intervals(alpha=2e-6, beta=1e-9, first=1990, last=1995) == ((1990, 1995, "a"),)
    assert crossing.intervals(alpha=2e-6, beta=1e-9, first="2 kB", last="1 MiB")[-1] == (2001, 2**20, "b")


@pytest.mark.parametrize(
    ("a", "b", "found", "text"),
    [
        (alpha, alpha, ((1, math.inf, "equal"),), "equal"),
        (alpha, 2 * alpha, ((1, math.inf, "a"),), "a"),
        (2 * alpha + n * beta, alpha, ((1, math.inf, "b"),), "b"),
        # They cross at half a byte: above, b is the cheaper one of every message.
        (n * beta * 4, 2 * beta, ((1, math.inf, "b"),), "a below, b above"),
        # They touch at 8 bytes.
        (sp.Max(n * beta, 16 * beta - n * beta), 8 * beta, ((1, 7, "b"), (8, 8, "equal"), (9, math.inf, "b")), None),
        # They cross three times.
        (sp.Max(10 * beta, sp.Min(n * beta, 40 * beta - n * beta), n * beta - 60 * beta), 15 * beta,
         ((1, 14, "a"), (15, 15, "equal"), (16, 24, "b"), (25, 25, "equal"), (26, 74, "a"), (75, 75, "equal"),
          (76, math.inf, "b")), None),
        # A jump, without equality.
        (sp.Piecewise((beta, n < 512), (9 * beta, True)), 3 * beta, ((1, 511, "a"), (512, math.inf, "b")), None),
        (sp.Piecewise((beta, n <= 512), (9 * beta, True)), 3 * beta, ((1, 512, "a"), (513, math.inf, "b")), None),
    ],
)  # fmt: skip
def test_degenerate_and_composed_costs(a: sp.Expr, b: sp.Expr, found: tuple[object, ...], text: str | None) -> None:
    crossing = crossover(Cost({"latency": a}), Cost({"latency": b}), "n")
    assert crossing.intervals({"alpha": 1e-6, "beta": 1e-9}) == found
    if text is not None:
        assert crossing.cheaper == text
    swapped = crossover(Cost({"latency": b}), Cost({"latency": a}), "n").intervals({"alpha": 1e-6, "beta": 1e-9})
    assert [s.cheaper for s in swapped] == [{"a": "b", "b": "a"}.get(word, word) for _, _, word in found]


def test_algorithms_of_one_cost_are_equal_everywhere() -> None:
    linear, sync = (collective_cost("alltoall", name) for name in ("linear", "linear_sync"))
    for symbol in ("n", "P", "alpha"):
        assert crossover(linear, sync, symbol).cheaper == "equal"
    assert crossover(linear, sync, "P").intervals(NUMBERS, n=8) == ((2, 1024, "equal"),)


def test_a_formula_for_two_ranks_has_no_verdict_elsewhere() -> None:
    two, ring = (collective_cost("allgather", name) for name in ("two_proc", "ring"))
    assert crossover(two, ring, "P").intervals(NUMBERS, n=8) == ((2, 2, "equal"), (3, 1024, "only b"))
    assert crossover(ring, two, "n").intervals(NUMBERS, P=9) == ((1, math.inf, "only a"),)


def test_intervals_of_ranks_reach_a_million_and_one_rank_is_free() -> None:
    crossing = crossover(allreduce("recursive_doubling"), allreduce("ring"), "P")
    found = crossing.intervals(NUMBERS, n=2**22, first=1, last=2**20)
    assert found[0] == (1, 1, "equal")
    assert found[-1].last == 2**20
    assert crossing.at(NUMBERS, n=2**22)[0] == found[1].first if found[1].first > 2 else True


def test_parameters_have_real_intervals() -> None:
    a, b = (
        p2p_cost(send="device", recv="device", transport="gdr"),
        p2p_cost(send="device", recv="device", transport="staged"),
    )
    crossing = crossover(a, b, "alpha_gdr")
    assert crossing.cheaper == "a below, b above"
    numbers = {"alpha": 2e-6, "beta": 1e-10, **dict.fromkeys(("alpha_d2h", "alpha_h2d"), 4e-6),
               **dict.fromkeys(("beta_d2h", "beta_h2d"), 2e-10)}  # fmt: skip
    assert crossing.intervals(numbers, n=1000) == ((0.0, 8.4e-6, "a"), (8.4e-6, math.inf, "b"))
    value, formula = crossing.formulas(numbers, n=1000)[0]
    assert value == 8.4e-6
    assert formula is not None
    assert formula.subs(
        {**{s: numbers[s.name] for s in formula.free_symbols if s.name in numbers}, n: 1000}
    ) == pytest.approx(8.4e-6)


def test_a_rate_is_looked_for_as_one_over_a_time() -> None:
    kernel, message = kernel_cost(1_000_000), p2p_cost()
    crossing = crossover(kernel, message, "R")
    numbers = {"alpha": 1e-5, "beta": 1e-10, "t_launch": 3e-6, "t_sync": 2e-6}
    (rate,) = crossing.at(numbers, n=0)
    assert rate == pytest.approx(1_000_000 / 5e-6)
    assert [s.cheaper for s in crossing.intervals(numbers, n=0)] == ["b", "a"]
    assert crossing.cheaper.startswith("a above, b below if")
    assert crossing.intervals(numbers, n=0, last="1 MB/s") == ((0.0, 1e6, "b"),)
    with pytest.raises(OrreryError, match="a rate of 0"):
        crossing.intervals(numbers, n=0, last=0)


def test_maxima_give_one_case_for_each_branch() -> None:
    crossing = crossover(collective_cost("reduce", "binary"), collective_cost("reduce", "binomial"), "n")
    assert {str(c) for case in crossing.cases for c in case.conditions} == {
        "gamma*n >= alpha + beta*n", "alpha + beta*n >= gamma*n"}  # fmt: skip
    assert "\\begin{array}" in crossing._repr_latex_()
    assert "gamma" in crossing._repr_html_()
    assert repr(crossing).startswith("n: ")


def test_a_walk_along_the_bits_has_a_formula_at_one_P() -> None:
    a, b = (collective_cost("bcast", name) for name in ("scatter_allgather", "binomial"))
    assert "no closed form" in crossover(a, b, "n").note or crossover(a, b, "n").cases
    at_37 = crossover(a.at(P=37), b.at(P=37), "n")
    assert at_37.note == ""
    assert at_37.intervals(NUMBERS) == crossover(a, b, "n").intervals(NUMBERS, P=37)
    for value, formula in crossover(a, b, "n").formulas(NUMBERS, P=37):
        assert formula is not None
        assert float(formula.subs({alpha: NUMBERS["alpha"], beta: NUMBERS["beta"], P: 37})) == pytest.approx(value)


@pytest.mark.parametrize("symbol", ["m", "__import__('os')", "", "N"])
def test_unknown_symbols_are_refused(symbol: str) -> None:
    with pytest.raises(OrreryError, match="unknown symbol"):
        crossover(p2p_cost(), p2p_cost(), symbol)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ((p2p_cost(), p2p_cost(), 3), "symbol or its name"),
        ((p2p_cost(), alpha, "n"), "cost_b must be a Cost"),
        ((p2p_cost().at(n=8), p2p_cost(), "n"), "cost_a has a number for n"),
    ],
)
def test_wrong_arguments_are_refused(arguments: tuple[object, object, object], match: str) -> None:
    with pytest.raises(OrreryError, match=match):
        crossover(*arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("numbers", "match"),
    [
        ({"P": 8, "alpha": -1}, "alpha must be one finite"),
        ({"P": 8, "alpha": math.nan}, "alpha must be one finite"),
        ({"P": 8, "alpha": "2 GB"}, "alpha = '2 GB' has the wrong kind of unit"),
        ({"P": 8, "alpha": True}, "alpha must be one finite"),
        ({"P": 8, "alpha": 10**400}, "alpha must be one finite"),
        ({"P": 8, "beta": [1, 2]}, "beta must be one finite"),
        ({"P": 2.5}, "P = 2.5"),
        ({"P": 0}, "P = 0"),
        ({}, "no value was given for P"),
        ({"P": 8, "first": 0}, "first"),
        ({"P": 8, "first": 9, "last": 8}, "last"),
        ({"P": 8, "n": 3}, "n is what is looked for"),
        ({"P": 8, "betta": 3}, "Did you mean 'beta'"),
        ({"P": 8, "machine": 7}, "a machine, its name, or a mapping"),
        ({"P": 8, "machine": "musicaa"}, "Did you mean 'musica'"),
    ],
)
def test_wrong_numbers_are_refused(numbers: dict[str, object], match: str) -> None:
    crossing = crossover(allreduce("recursive_doubling"), allreduce("ring"), "n")
    with pytest.raises(OrreryError, match=match):
        crossing.intervals(**{"machine": NUMBERS, **numbers})


def test_text_and_symbols_name_the_same() -> None:
    a, b = allreduce("recursive_doubling"), allreduce("ring")
    assert crossover(a, b, n).points == crossover(a, b, "n").points == crossover(a, b, sp.Symbol("n")).points


def test_machines_give_numbers() -> None:
    musica = load_machine("musica")
    crossing = crossover(allreduce("recursive_doubling"), allreduce("ring"), "n")
    (border,) = crossing.at(musica, P=8)
    assert crossing.intervals(musica, P=8)[0].last == math.floor(border)
    a, b = (allreduce(name)(P=8, n=border, alpha=musica.parameters["alpha"], beta=musica.parameters["beta"],
                            gamma=musica.parameters["gamma"]) for name in ("recursive_doubling", "ring"))  # fmt: skip
    assert a == pytest.approx(b)


def test_a_machine_goes_by_its_name() -> None:
    crossing = crossover(allreduce("recursive_doubling"), allreduce("ring"), "n")
    assert crossing.intervals("musica", P=64) == crossing.intervals(load_machine("musica"), P=64)
    assert oa.elasticity(crossing.a).at("musica", P=64, n=8)["alpha"] > 0.9


def sign_at(ranks: int, left: Cost, right: Cost) -> int:
    a, b = (cost(**given(cost, P=ranks, n=1000)) for cost in (left, right))
    return 0 if math.isclose(a, b, rel_tol=1e-9) else (1 if a > b else -1)


@pytest.mark.parametrize(
    ("collective", "a", "b", "network"),
    [
        ("barrier", "linear", "bruck", LogGP()),
        ("barrier", "double_ring", "recursive_doubling", Hockney()),
        ("scan", "linear", "recursive_doubling", Hockney()),
        ("gather", "basic_linear", "binomial", LogGP()),
    ],
)
def test_lamberts_w_is_where_linear_and_logarithmic_costs_cross(
    collective: str, a: str, b: str, network: Hockney | LogGP
) -> None:
    left, right = (collective_cost(collective, name, network) for name in (a, b))
    points = crossover(left, right, "P").at_powers_of_two
    assert len(points) == 2
    assert all(point.has(sp.LambertW) for point in points)
    put_in = {s: 1000 if s == n else NUMBERS[s.name] for point in points for s in point.free_symbols}
    found = [complex(point.subs(put_in).evalf(30)) for point in points]
    real = [x.real for x in found if abs(x.imag) < 1e-12 and x.real > 1.9999]
    powers = [2**k for k in range(1, 11)]
    for p, q in itertools.pairwise(powers):
        changes = sign_at(p, left, right) != sign_at(q, left, right)
        assert changes == any(p - 1e-6 <= x <= q + 1e-6 for x in real)


def test_other_costs_have_no_formula_in_ranks() -> None:
    assert crossover(allreduce("ring"), allreduce("recursive_doubling"), "P").at_powers_of_two == ()
    assert crossover(allreduce("ring"), allreduce("recursive_doubling"), "n").at_powers_of_two == ()
    a, b = Cost({"latency": P * alpha}), Cost({"latency": alpha, "bandwidth": n * beta})
    assert crossover(a, b, "P").at_powers_of_two == ((alpha + beta * n) / alpha,)
    a = Cost({"latency": log2_ceil(P) * alpha})
    assert crossover(a, b, "P").at_powers_of_two == (2 ** ((alpha + beta * n) / alpha),)


def test_many_branches_are_told_and_intervals_stay_exact() -> None:
    heights = [sp.Max(n * beta * k, alpha * (9 - k), gamma * n + k * beta) for k in range(1, 6)]
    crossing = crossover(Cost({"latency": sum(heights)}), Cost({"latency": 40 * alpha}), "n")
    assert crossing.points == ()
    assert "more than 8 branches" in crossing.note
    assert "`intervals` is exact" in crossing.note
    numbers = {"alpha": 2e-6, "beta": 1e-10, "gamma": 3e-9}
    edge = int(crossing.intervals(numbers)[0].last)
    exact = [float(crossing.a(n=x, **numbers)) - 40 * 2e-6 for x in (edge, edge + 1)]
    assert exact[0] < 0 < exact[1]
    ((at, formula),) = crossing.formulas(numbers)
    assert formula is not None
    assert edge < at < edge + 1


def test_lines_know_their_roots_and_steps() -> None:
    x = Lines.identity(Fraction(0), Fraction(4))
    assert signs(x - 4) == [((0, 0), -1), ((4, 0), 0)]
    assert signs(x) == [((0, 0), 0), ((0, 1), 1)]
    steps = (x * Fraction(1, 2)).__floor__()
    assert [steps.at(Fraction(k, 2)) for k in range(9)] == [0, 0, 0, 0, 1, 1, 1, 1, 2]
    falling = (2 - x * Fraction(1, 2)).__floor__()
    assert [falling.at(Fraction(k, 2)) for k in range(9)] == [2, 1, 1, 1, 1, 0, 0, 0, 0]
    with pytest.raises(OrreryError, match="endlessly many steps"):
        Lines.identity(Fraction(0)).__floor__()
    with pytest.raises(OrreryError, match="not affine"):
        x * x


def test_segments_make_steps_that_need_a_last_n() -> None:
    pipeline = collective_cost("bcast", "pipeline", LogGP(), segment_bytes=1024)
    binomial = collective_cost("bcast", "binomial", LogGP())
    crossing = crossover(pipeline, binomial, "n")
    with pytest.raises(OrreryError, match="give one, such as last"):
        crossing.intervals(NUMBERS, P=16)
    found = crossing.intervals(NUMBERS, P=16, last=2**17)
    sizes = np.arange(1, 2**17, 37)
    told = np.array([s.cheaper for s in found])[np.searchsorted([s.first for s in found], sizes, side="right") - 1]
    expected = words(*(c(**given(c, P=16, n=sizes)) for c in (pipeline, binomial)))
    assert (told == expected)[expected != ""].all()


def test_costs_on_nodes_with_idle_cards_cross_in_exact_numbers():
    nodes = oa.TwoLevel(2, 1)
    bruck, pairwise = (oa.collective_cost("alltoall", name, nodes) for name in ("modified_bruck", "pairwise"))
    numbers = {"P": 8, "alpha": 2e-6, "beta": 1e-10, "alpha_intra": 5e-7, "beta_intra": 1e-11}
    for first, _, cheaper in oa.crossover(bruck, pairwise, "n").intervals(**numbers):
        a, b = (cost(n=first, **numbers) for cost in (bruck, pairwise))
        assert a == pytest.approx(b) if cheaper == "equal" else cheaper == ("a" if a < b else "b")


def test_rates_of_a_roofline_are_varied_as_one_over_them():
    roof, measured = oa.kernel_cost(flops="symbol"), oa.kernel_cost()
    numbers = {"R_flop": 2e13, "W": 1e9, "F": 1e10, "t_launch": 3e-6, "t_sync": 1e-6}
    assert "1/R_mem*" not in oa.crossover(roof, measured, "R_mem").cheaper
    assert oa.crossover(roof, measured, "R_mem").at(R=1e12, **numbers) == (1e12,)
    assert oa.elasticity(roof).at(**numbers | {"R_mem": 1e12})["R_mem"] == pytest.approx(-1e-3 / (1e-3 + 4e-6))


def test_costs_that_are_equal_at_no_time_a_byte_tie_at_an_endless_bandwidth():
    a, b = oa.Cost({"bandwidth": beta * n}), oa.Cost({"bandwidth": 2 * beta * n})
    found = oa.invert(a, b, "bandwidth", n=8)
    assert found.ties == ((np.inf, np.inf),)
    assert found.wins == ((0, np.inf),)
