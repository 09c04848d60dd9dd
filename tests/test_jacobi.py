"""The Jacobi solver as a cost: phases, ranks, rows, scaling."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

import orrery_analytic as oa
from orrery_analytic.applications import PHASES, ROWS, Jacobi, norms_due, slowest_rows
from orrery_analytic.cost import Cost
from orrery_analytic.errors import OrreryError, QuantityError, UnknownNameError
from orrery_analytic.networks import Hockney, TwoLevel
from orrery_analytic.plots.applications import phase_bars, strong_scaling
from orrery_analytic.schedules import Schedule
from orrery_analytic.schedules.operations import Operation, exchange
from orrery_analytic.symbols import P, n

MUSICA = oa.load_machine("musica")
NUMBERS = MUSICA.parameters
NODES = 2 ** np.arange(9)


def _chunks(ny: int, ranks: int, rows: str) -> list[int]:
    """Rows rank by rank, as the two solutions of the tutorial deal them out."""
    low, left = divmod(ny - 2, ranks)
    if rows == "last":
        return [low] * (ranks - 1) + [low + left]
    return [low] * (ranks - left) + [low + 1] * left


@pytest.mark.parametrize("rows", ["balanced", "last"])
def test_the_slowest_rank_has_the_largest_chunk(rows: str) -> None:
    for ny in (16384, 20480, 131, 7):
        for ranks in (1, 2, 3, 4, 5, 127, 128, 1024):
            if ranks > ny - 2:
                continue
            expected = max(_chunks(ny, ranks, rows))
            assert slowest_rows(ny, rows, ranks) == expected
            formula = sp.lambdify(
                [sp.Symbol("ny", positive=True), P], slowest_rows(sp.Symbol("ny", positive=True), rows)
            )
            assert formula(ny, ranks) == expected


def test_what_is_left_over_can_double_the_work_of_the_last_rank() -> None:
    assert slowest_rows(16384, "last", 128) == 127 + 126
    assert slowest_rows(16384, "balanced", 128) == 128
    assert slowest_rows(16384, "even", 128) == sp.Rational(16382, 128)


@pytest.mark.parametrize("csv", [True, False])
def test_the_norm_is_due_as_the_loop_says(csv: bool) -> None:
    for iterations in (1, 99, 100, 101, 1000):
        for nccheck in (1, 3, 25, 100, 150, 1000):
            due = sum(i % nccheck == 0 or (not csv and i % 100 == 0) for i in range(iterations))
            assert norms_due(iterations, nccheck, csv) == due


def test_terms_of_an_iteration_add_up_to_the_run_over_its_iterations() -> None:
    for solver in (
        Jacobi(),
        Jacobi(nccheck=7, iterations=1001, rows="last"),
        Jacobi(overlapped=True, itemsize=8),
        Jacobi(kernel_seconds=1e-3),
    ):
        iteration = solver.iteration
        for ranks in (1, 2, 3, 4, 8, 100):
            numbers = {name: NUMBERS[name] for name in iteration.symbols if name in NUMBERS}
            terms = iteration.values(P=ranks, **numbers)
            total = float(terms.pop("total"))
            assert math.isclose(sum(map(float, terms.values())), total, rel_tol=1e-12)
            run = solver.run(MUSICA, P=ranks)
            assert math.isclose(float(run["seconds"][0]), int(solver.iterations) * total, rel_tol=1e-12)
            phases = [float(run[name][0]) for name in PHASES]
            assert math.isclose(sum(phases), float(run["seconds"][0]), rel_tol=1e-12)


def test_phases_name_what_they_are_made_of() -> None:
    phases = Jacobi().phases
    assert tuple(phases) == PHASES
    assert {*phases["kernel"].terms} == {"launch", "compute", "sync"}
    assert "compute" in phases["memset"].terms
    assert {*phases["norm"].terms} == {"sync", "d2h", "latency", "bandwidth", "reduce"}
    assert Jacobi().iteration.terms == sum(phases.values(), Cost()).terms


def test_one_rank_copies_its_rows_within_the_gpu_and_sums_nothing_up() -> None:
    data = Jacobi(iterations=1).run(MUSICA, P=1)
    copy = NUMBERS["t_launch"] + 4 * 65536 / 2 / NUMBERS["R"] + NUMBERS["t_sync"]
    assert math.isclose(float(data["halo"][0]), 2 * copy)
    down = NUMBERS["alpha_pinned_d2h"] + 4 * NUMBERS["beta_pinned_d2h"] + NUMBERS["t_sync"]
    assert math.isclose(float(data["norm"][0]), down)
    assert data["allreduce"].item() == "self"
    assert float(data["speedup"][0]) == float(data["efficiency"][0]) == 1.0


def test_two_ranks_send_both_halos_to_the_same_peer() -> None:
    peer = 0.7e-6 + 2 * NUMBERS["alpha_peer"] + 65536 * NUMBERS["beta_peer"]
    inside = Jacobi(iterations=1).run(MUSICA, P=[2, 3, 4])["halo"].to_numpy()
    assert np.allclose(inside, 2 * peer, rtol=1e-12)
    apart = Jacobi(iterations=1).run(MUSICA.replace(ranks_per_node=1), P=[2, 3])["halo"].to_numpy()
    message = NUMBERS["alpha"] + 65536 * NUMBERS["beta"] + 2 * NUMBERS["alpha_gdr"]
    assert np.allclose(apart, 2 * message, rtol=1e-12)


@pytest.mark.parametrize(("ranks", "q"), [(2, 1), (2, 2), (3, 1), (3, 2), (3, 4), (7, 4), (12, 4), (16, 4), (9, 3)])
def test_halo_exchanges_finish_as_their_schedule_does(ranks: int, q: int) -> None:
    m, iterations = 4 * 100, 3

    def program(rank: int) -> Iterator[Operation]:
        up, down = (rank - 1) % ranks, (rank + 1) % ranks
        for i in range(iterations):
            yield exchange(up, m, down, m, 2 * i)
            yield exchange(down, m, up, m, 2 * i + 1)

    exact = {
        "alpha": Fraction(19, 10), "beta": Fraction(1, 20),
        "alpha_intra": Fraction(7, 10), "beta_intra": Fraction(1, 90),
    }  # fmt: skip
    slowest = max(Schedule(ranks, program).finish(TwoLevel(q, 1), **exact))
    inside, between = (oa.p2p_cost(network) for network in (TwoLevel(1).inside, Hockney()))
    halo = Jacobi(nx=100, ranks_per_node=q, between=between, inside=inside).phases["halo"].terms
    numbers = {
        oa.describe(name).symbol: sp.Rational(value.numerator, value.denominator) for name, value in exact.items()
    }
    formula = sp.Add(*halo.values()).subs({P: ranks, **numbers})
    assert iterations * formula == sp.Rational(slowest.numerator, slowest.denominator)


def test_compute_share_falls_and_communication_share_grows_with_the_nodes() -> None:
    for solver in (Jacobi(), Jacobi(nx=131072, ny=131072), Jacobi(nccheck=100)):
        data = solver.run("musica", nodes=NODES)
        assert data["P"].to_numpy().tolist() == (4 * NODES).tolist()
        assert (np.diff(data["compute_share"]) < 0).all()
        assert (np.diff(data["communication_share"]) > 0).all()
        assert np.allclose(data["compute_share"] + data["communication_share"], 1)
        assert (np.diff(data["efficiency"]) < 0).all()
        assert (data["efficiency"] <= 1).all()


def test_rows_that_do_not_divide_make_the_last_rank_late() -> None:
    balanced, last = (Jacobi(rows=rows).run(MUSICA, P=[128, 1024]) for rows in ("balanced", "last"))
    assert last["rows"].to_numpy().tolist() == [253, 1037]
    assert (last["kernel"] > balanced["kernel"]).all()
    assert float(last["compute_share"][1]) > float(last["compute_share"][0])  # 1037 rows instead of 16


def test_overlap_hides_the_halo_behind_the_inner_rows() -> None:
    ranks = [1, 2, 4, 8, 64, 512]
    plain, hidden = Jacobi().run(MUSICA, P=ranks), Jacobi(overlapped=True).run(MUSICA, P=ranks)
    solver = Jacobi(overlapped=True)
    assert {*solver.phases["halo"].terms} == {"exposed"}
    for i, p in enumerate(ranks):
        rows = -(-16382 // p)
        inner = 1000 * (5e-6 + 8 * 16384 * (rows - 2) / NUMBERS["R"])
        assert math.isclose(float(hidden["halo"][i]), max(0, float(plain["halo"][i]) - inner), abs_tol=1e-12)
    assert float(hidden["halo"][2]) == 0 < float(hidden["halo"][5])


def test_a_measured_kernel_takes_the_place_of_the_model() -> None:
    data = Jacobi(kernel_seconds={4: 2e-4, 8: 1.1e-4}).run(MUSICA, P=[4, 8, 16])
    assert np.allclose(data["kernel"].to_numpy()[:2], [0.2, 0.11])
    assert np.isnan(data["kernel"][2])
    assert "R" not in Jacobi(kernel_seconds=1e-3).phases["kernel"].symbols
    both = [Jacobi(kernel_seconds=1e-3, overlapped=hidden).phases["kernel"](P=4) for hidden in (False, True)]
    assert math.isclose(*both)


def test_symbols_stay_until_they_get_numbers() -> None:
    solver = Jacobi("symbol", "symbol", "symbol", "symbol")
    nx = sp.Symbol("nx", positive=True)
    assert solver.halo_bytes == 4 * nx
    assert solver.phases["halo"].terms["bandwidth"].has(nx)
    assert not solver.phases["halo"].terms["bandwidth"].has(n)
    given = {name: NUMBERS[name] for name in solver.total.symbols if name in NUMBERS}
    seconds = solver.total(P=64, nx=16384, ny=16384, iterations=1000, nccheck=1, **given)
    assert math.isclose(seconds, float(Jacobi().run(MUSICA, P=64)["seconds"][0]), rel_tol=1e-12)
    with pytest.raises(QuantityError, match="needs a number for nx"):
        solver.run(MUSICA, P=4)


def test_the_allreduce_of_the_norm_is_the_library_s_or_the_one_that_is_asked_for() -> None:
    chosen = Jacobi().run(MUSICA, P=[64, 128])
    assert chosen["allreduce"].to_numpy().tolist()[0] == "recursive_doubling"
    assert "reduce:" in chosen["allreduce"].to_numpy()[1]
    forced = Jacobi(allreduce="recursive_doubling").run(MUSICA, P=[64, 128])
    assert float(forced["norm"][0]) == float(chosen["norm"][0])
    assert float(forced["norm"][1]) < float(chosen["norm"][1])
    two_level, one_level = (
        Jacobi(network=network, allreduce="recursive_doubling").run(MUSICA, P=[4, 64])["norm"].to_numpy()
        for network in (TwoLevel(4), Hockney())
    )
    assert two_level[0] == pytest.approx(one_level[0], rel=1e-12)  # inside a node both count alpha_intra
    assert two_level[1] < one_level[1]
    assert np.isnan(Jacobi(network=TwoLevel(4)).run(MUSICA, P=128)["norm"][0])


@pytest.mark.parametrize(
    "wrong",
    [
        {"nx": 0}, {"nx": "16384"}, {"ny": 2}, {"nx": math.nan}, {"iterations": -1}, {"iterations": [1, 2]},
        {"nccheck": 0}, {"nccheck": True}, {"itemsize": "4"}, {"itemsize": None}, {"ranks_per_node": 0},
        {"rows": "best"}, {"rows": None}, {"overlapped": 1}, {"csv": "no"}, {"pinned": None}, {"between": 3},
        {"inside": oa.collective_cost("allreduce", "ring")}, {"network": "Hockney"}, {"allreduce": "fastest"},
        {"kernel_seconds": -1}, {"kernel_seconds": math.nan}, {"kernel_seconds": {}}, {"kernel_seconds": {0: 1.0}},
        {"kernel_seconds": {4: "fast"}}, {"nccheck": "symbol", "csv": False},
    ],
)  # fmt: skip
def test_wrong_options_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(OrreryError):
        Jacobi(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wrong",
    [
        {}, {"P": 4, "nodes": 1}, {"P": 0}, {"P": 1.5}, {"P": "4"}, {"P": [[1, 2]]}, {"P": []}, {"nodes": -1},
        {"P": 16383}, {"P": 4, "rules": "mpich"},
    ],
)  # fmt: skip
def test_wrong_runs_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(OrreryError):
        Jacobi().run(MUSICA, **wrong)  # type: ignore[arg-type]


def test_too_many_ranks_and_wrong_ways_are_told() -> None:
    with pytest.raises(QuantityError, match="enough for 8191 ranks"):
        Jacobi(overlapped=True).run(MUSICA, P=8192)
    with pytest.raises(QuantityError, match="made of others"):
        _ = Jacobi(allreduce="nonoverlapping").phases
    with pytest.raises(QuantityError, match="has no formula"):
        _ = Jacobi(allreduce="bine_recursive_doubling", network=TwoLevel(4)).phases
    with pytest.raises(UnknownNameError, match="Did you mean 'balanced'"):
        Jacobi(rows="balance")
    assert set(ROWS) == {"balanced", "last", "even"}


def test_pictures_of_a_run() -> None:
    data = Jacobi().run(MUSICA, nodes=[1, 2, 4])
    axes = strong_scaling({"balanced": data, "overlapped": Jacobi(overlapped=True).run(MUSICA, nodes=[1, 2, 4])})
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["balanced", "overlapped", "ideal"]
    assert axes.lines[-1].get_ydata()[-1] == pytest.approx(float(data["seconds"][0]) / 4)
    bars = {str(p): {name: float(data[name][i]) for name in PHASES} for i, p in enumerate(data["P"].to_numpy())}
    axes = phase_bars(bars)
    assert len(axes.patches) == 3 * len(PHASES)
    assert sum(patch.get_height() for patch in axes.patches[::3]) == pytest.approx(float(data["seconds"][0]))
    assert phase_bars(bars, share=True).get_ylim() == (0, 1)
    for draw in (phase_bars, strong_scaling):
        with pytest.raises(QuantityError):
            draw({})
