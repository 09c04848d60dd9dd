"""Kernels: Eq. 3, the roofline, measured times, overlap with communication."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sp

from orrery_analytic.calls import collective_cost, kernel_cost, p2p_cost
from orrery_analytic.cost import Cost
from orrery_analytic.errors import QuantityError
from orrery_analytic.kernels import kernel_terms, machine_balance, overlap, roofline_rate, roofline_time
from orrery_analytic.machines import load_machine
from orrery_analytic.symbols import SYMBOLS, F, R, R_flop, R_mem, W, n, t_launch, t_sync


def test_eq_3_with_sync_apart() -> None:
    assert kernel_terms() == {"launch": t_launch, "compute": W / R, "sync": t_sync}
    assert kernel_terms(sync=False) == {"launch": t_launch, "compute": W / R}


@pytest.mark.parametrize("work", [0, 1000, 2.5, np.float64(8), Fraction(1, 3), 8 * n, sp.Symbol("x")])
def test_work_may_be_a_number_or_an_expression(work: Any) -> None:
    assert kernel_terms(work)["compute"] == sp.sympify(work) / R


@pytest.mark.parametrize("work", ["1 MiB", -1, float("nan"), float("inf"), True, [1], sp.Integer(-3), -n])
def test_wrong_work_is_refused(work: Any) -> None:
    with pytest.raises(QuantityError, match="work must be bytes"):
        kernel_terms(work)


# The roofline


def test_a_kernel_at_the_roof() -> None:
    cost = kernel_cost(flops="symbol")
    assert dict(cost.terms) == {"launch": t_launch, "compute": sp.Max(W / R_mem, F / R_flop), "sync": t_sync}
    assert list(kernel_cost(8, flops=3, sync=False).terms) == ["launch", "compute"]
    assert "roof" in cost.validity


def test_the_balance_of_a_machine_is_where_the_roofs_meet() -> None:
    assert roofline_time(W, machine_balance() * W) == W / R_mem
    assert roofline_rate(machine_balance()) == R_flop
    example = load_machine("example")
    assert (
        float(machine_balance().subs({R_flop: example.parameters["R_flop"], R_mem: example.parameters["R_mem"]})) == 8
    )
    below, above = kernel_cost(1e9, flops=7.9e9).at(example), kernel_cost(1e9, flops=8.1e9).at(example)
    assert float(below.terms["compute"]) == pytest.approx(1e9 / 1.25e12)  # memory
    assert float(above.terms["compute"]) == pytest.approx(8.1e9 / 10e12)  # arithmetic


def test_a_rate_is_work_over_time() -> None:
    for intensity in (sp.Rational(1, 4), sp.Integer(3), sp.Symbol("I", positive=True)):
        rate = intensity * W / roofline_time(W, intensity * W)
        values = {R_mem: 7, R_flop: 10, W: 5, sp.Symbol("I", positive=True): 2}
        assert sp.nsimplify(rate.subs(values)) == sp.nsimplify(roofline_rate(intensity).subs(values))


# A measured time


def test_a_measured_kernel_takes_the_place_of_the_model() -> None:
    assert dict(kernel_cost(seconds=Fraction(3, 2)).terms) == {"compute": sp.Rational(3, 2)}
    assert "measured" in kernel_cost(seconds=1).validity
    both = kernel_cost(seconds=2.0) + p2p_cost()
    assert both(n=0, alpha=1.0, beta=1.0) == 3.0


# Overlap


def test_overlap_is_the_maximum_and_names_what_is_exposed() -> None:
    kernel, halo = kernel_cost(), 2 * p2p_cost(send="device", recv="device")
    both = overlap(kernel, halo)
    assert set(both.terms) == {*kernel.terms, "exposed"}
    assert {name: both.terms[name] for name in kernel.terms} == dict(kernel.terms)
    ones = dict.fromkeys(both.symbols, 1.0)
    for work in (0.0, 5.0, 50.0):
        values = {**ones, "W": work, "n": 3.0}
        apart = [cost(**{k: values[k] for k in cost.symbols}) for cost in (kernel, halo)]
        assert both(**values) == max(apart)
        exposed = float(both.values(**values)["exposed"])
        assert exposed == max(0.0, apart[1] - apart[0])
    assert sp.simplify(both.total - sum(both.terms.values())) == 0


def test_boundary_rows_come_first() -> None:
    boundary, inner, halo = kernel_cost(1, sync=False), kernel_cost(10), p2p_cost()
    step = boundary + overlap(inner, halo)
    assert step.terms["launch"] == 2 * t_launch
    values = {"R": 1.0, "t_launch": 2.0, "t_sync": 1.0, "alpha": 20.0, "beta": 1.0, "n": 4.0}
    assert step(**values) == 3.0 + max(13.0, 24.0)


def test_on_one_rank_no_collective_is_exposed() -> None:
    norm = collective_cost("allreduce", "ring")
    step = overlap(kernel_cost(), p2p_cost() + norm)
    values = {**dict.fromkeys(step.symbols, 1.0), "n": 8.0}
    kernel = 3.0
    message = 9.0
    seconds = step(**{**values, "P": np.array([1, 2, 4])})
    reduced = norm(P=np.array([1, 2, 4]), n=8.0, alpha=1.0, beta=1.0, gamma=1.0)
    assert seconds.tolist() == np.maximum(kernel, message + reduced).tolist()
    assert reduced[0] == 0


def test_computing_may_be_a_collective_too() -> None:
    one, two = collective_cost("allreduce", "ring"), collective_cost("allgather", "ring")
    both = overlap(one, two)
    ranks = np.array([1, 2, 5])
    values = {"n": 8.0, "alpha": 1.0, "beta": 1.0}
    expected = np.maximum(one(P=ranks, gamma=1e-3, **values), two(P=ranks, **values))
    np.testing.assert_allclose(both(P=ranks, gamma=1e-3, **values), expected, rtol=1e-12)


def test_overlaps_add_up() -> None:
    step = overlap(kernel_cost(10), overlap(kernel_cost(1), p2p_cost()))
    assert list(step.terms) == ["launch", "compute", "sync", "exposed"]
    values = {"R": 1.0, "t_launch": 0.0, "t_sync": 0.0, "alpha": 20.0, "beta": 1.0, "n": 4.0}
    assert step(**values) == 24.0
    assert (3 * step).terms["exposed"] == 3 * step.terms["exposed"]


def test_what_overlaps_keeps_its_coordinates() -> None:
    step = overlap(kernel_cost(), p2p_cost().at(n=8))
    with pytest.raises(QuantityError, match="n has a number in this cost already"):
        step.at(n=9)


# Errors


@pytest.mark.parametrize("wrong", ["1 us", -1, float("nan"), float("inf"), True, [1], -n])
@pytest.mark.parametrize("name", ["seconds", "flops"])
def test_wrong_amounts_are_refused(name: str, wrong: Any) -> None:
    with pytest.raises(QuantityError, match=f"{name} must be"):
        kernel_cost(**{name: wrong})


def test_a_measured_time_goes_with_nothing_else() -> None:
    for other in ({"work": 1}, {"flops": 1}):
        with pytest.raises(QuantityError, match="takes the place of the model"):
            kernel_cost(seconds=1, **other)


@pytest.mark.parametrize("wrong", [None, 1.0, "halo"])
def test_only_costs_overlap(wrong: Any) -> None:
    with pytest.raises(QuantityError, match="communication must be a Cost"):
        overlap(Cost(), wrong)
    with pytest.raises(QuantityError, match="compute must be a Cost"):
        overlap(wrong, Cost())


def test_symbols_of_kernels_have_units() -> None:
    units = {name: SYMBOLS[name].unit for name in ("W", "F", "R", "R_mem", "R_flop")}
    assert units == {"W": "B", "F": "flop", "R": "B/s", "R_mem": "B/s", "R_flop": "flop/s"}
