"""What the results of algebra look like in a notebook, and what they say to arguments that make no sense."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import orrery_analytic as oa
from orrery_analytic.errors import OrreryError, QuantityError, UnknownNameError

NUMBERS = {"alpha": 2e-6, "beta": 1e-10, "gamma": 1e-10}
DOUBLING, RING = (oa.collective_cost("allreduce", name) for name in ("recursive_doubling", "ring"))
PIPELINE = oa.collective_cost("bcast", "pipeline", segment_bytes="symbol")


def test_stretches_are_tuples_with_units() -> None:
    crossing = oa.crossover(DOUBLING, RING, "n").intervals(NUMBERS, P=8)
    assert crossing == ((1, 65185, "a"), (65186, math.inf, "b"))
    assert all(cell in crossing._repr_html_() for cell in (">1 B<", ">65 185 B<", ">no end<"))
    ranks = oa.crossover(DOUBLING, RING, "P").intervals(NUMBERS, n=2**16, last=16)._repr_html_()
    assert ">P from<" in ranks
    assert ">16<" in ranks
    assert ">2 us<" in oa.crossover(DOUBLING, RING, "alpha").intervals(NUMBERS, P=8, n=65536, first=2e-6)._repr_html_()


def test_a_table_leaves_out_columns_without_entries() -> None:
    assert ">if<" not in oa.crossover(DOUBLING, RING, "n")._repr_html_()
    assert "<table" not in oa.crossover(DOUBLING, RING, "P")._repr_html_()
    assert ">if<" not in oa.optimal_segment(PIPELINE)._repr_html_()


def test_shares_are_one_fraction_each() -> None:
    shares = oa.elasticity(RING)
    assert str(shares.shares["beta"]) == "2*beta*n/(2*P*alpha + 2*beta*n + gamma*n)"
    assert r"\displaystyle \frac{2 \beta n}" in shares._repr_html_()


def test_verdicts_and_inversions_are_tables() -> None:
    verdicts = oa.guidelines({"allreduce": "ring", "reduce": "binomial", "bcast": "binomial"})
    assert isinstance(verdicts, tuple)
    assert repr(verdicts).splitlines() == [str(verdict) for verdict in verdicts]
    assert "allreduce &lt;= reduce + bcast" in verdicts._repr_html_()
    found = oa.invert(RING, DOUBLING, "latency", NUMBERS, P=8, n=65536)
    assert found.told == "less than 2.01 us"
    assert all(text in found._repr_html_() for text in (">less than 2.01 us<", ">2 us<", r"\alpha = "))
    assert ">border<" not in oa.invert(DOUBLING, DOUBLING, "latency", NUMBERS, P=8, n=65536)._repr_html_()


def test_what_has_no_formula_shows_text() -> None:
    barrier = oa.half_performance(oa.collective_cost("barrier", "bruck"))
    assert barrier._repr_latex_() is None
    assert repr(barrier) == "n_1/2: ask for `at` numbers"
    assert repr(oa.dominant_term(RING)).startswith("the largest of latency, bandwidth, reduce")


@pytest.mark.parametrize(
    ("ask", "error", "match"),
    [
        (
            lambda: oa.crossover(DOUBLING, RING, "alpha_gdr"),
            UnknownNameError,
            "neither cost depends on alpha_gdr.*hold P",
        ),
        (lambda: oa.invert(DOUBLING, RING, "gdr_latency", P=8, n=8), UnknownNameError, "neither cost depends on"),
        (
            lambda: oa.crossover(DOUBLING, RING, "P").intervals(NUMBERS, n=8, last=[8, 9]),
            QuantityError,
            "last must be one",
        ),
        (lambda: oa.dominant_term(RING).at(NUMBERS, P=8, n=[1, 2]), QuantityError, "n must be one whole"),
        (lambda: oa.optimal_segment(PIPELINE).at(NUMBERS, P=8, n=8, largest=[1]), QuantityError, "largest must be one"),
        (lambda: oa.half_performance(RING).ranks(NUMBERS, n=8, last="many"), QuantityError, "last = 'many'"),
        (lambda: oa.elasticity(RING).at(NUMBERS, P="8", n=8), QuantityError, "P = '8'"),
        (lambda: oa.elasticity(RING).at(NUMBERS, P=8, n=math.nan), QuantityError, "n must be one finite"),
        (lambda: oa.elasticity(RING).at(NUMBERS, P=8, n=10**400), QuantityError, "n must be one finite"),
        (lambda: oa.guideline(DOUBLING, RING, ranks=64), QuantityError, "several numbers of ranks"),
        (lambda: oa.guideline(DOUBLING, RING, NUMBERS, ranks=[None]), QuantityError, "ranks = None"),
        (lambda: oa.guidelines("ring"), QuantityError, "a mapping of collectives"),
        (lambda: oa.guidelines({"allreduce": None}), QuantityError, "a mapping of collectives"),
    ],
)
def test_what_makes_no_sense_is_refused(ask: Callable[[], Any], error: type[OrreryError], match: str) -> None:
    with pytest.raises(error, match=match):
        ask()
