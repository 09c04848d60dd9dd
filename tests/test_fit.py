"""Fits of synthetic data, where the truth is known: is it inside of the stated intervals, and what do warnings say?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import orrery_analytic as oa
from orrery_analytic.errors import FormatError, QuantityError, UnknownNameError

SIZES = 2.0 ** np.arange(25)
NOISE, OUTLIERS = 0.03, 0.08


def dirty(seed: int, seconds: Any, outliers: float = OUTLIERS) -> Any:
    """Times with 3 % noise, some of them 1.5 to 4 times too long."""
    rng = np.random.default_rng(seed)
    seconds = seconds * (1 + NOISE * rng.standard_normal(len(seconds)))
    out = rng.random(len(seconds)) < outliers
    return np.where(out, seconds * rng.uniform(1.5, 4, len(seconds)), seconds)


def ideal(columns: Any, truth: Any) -> Any:
    """Half-widths of the 95 % intervals of least squares, if nothing but the parameters were unknown."""
    relative = columns / (columns @ truth)[:, None]
    return 1.96 * NOISE * np.sqrt(np.diag(np.linalg.inv(relative.T @ relative)))


def half_width(made: oa.Fit, name: str) -> float:
    return made.intervals[name][1] - made.parameters[name]


def inside(made: oa.Fit, truth: dict[str, float]) -> np.ndarray[Any, Any]:
    low_high = [made.intervals.get(name, (np.nan, np.nan)) for name in truth]
    return np.array([low <= value <= high for (low, high), value in zip(low_high, truth.values(), strict=True)])


def test_pieces_and_their_switch_point_are_found() -> None:
    truth = {"alpha_1": 1.5e-6, "beta_1": 1 / 4e9, "s_1": 16384.0, "alpha_2": 6e-6, "beta_2": 1 / 20e9}
    first = truth["s_1"] >= SIZES
    a = np.where(first, truth["alpha_1"], truth["alpha_2"])
    b = np.where(first, truth["beta_1"], truth["beta_2"])
    hits, wide = np.zeros(5), []
    for seed in range(25):
        made = oa.fit({"n": SIZES, "seconds": dirty(seed, a + b * SIZES)})
        hits += inside(made, truth)
        for part, number in ((first, 1), (~first, 2)):
            columns = np.column_stack([np.ones(part.sum()), SIZES[part]])
            best = ideal(columns, np.array([truth[f"alpha_{number}"], truth[f"beta_{number}"]]))
            wide += [half_width(made, f"{name}_{number}") / w for name, w in zip(("alpha", "beta"), best, strict=True)]
    assert (hits >= 23).all()
    assert max(wide) < 3


MODELS: dict[str, tuple[Callable[[int], oa.Fit], dict[str, float]]] = {}


def known(**truth: float) -> Callable[[Callable[[int], oa.Fit]], Callable[[int], oa.Fit]]:
    def put(function: Callable[[int], oa.Fit]) -> Callable[[int], oa.Fit]:
        MODELS[function.__name__] = (function, truth)
        return function

    return put


@known(alpha=2e-6, beta=1 / 12e9)
def hockney(seed: int) -> oa.Fit:
    return oa.fit({"n": SIZES, "seconds": dirty(seed, 2e-6 + SIZES / 12e9)}, "hockney")


@known(alpha_bounce=30e-6, beta_bounce=1 / 4.2e9)
def bounce(seed: int) -> oa.Fit:
    host = 3e-6 + SIZES / 3e9
    device = dirty(seed, host + 30e-6 + 3 * SIZES / 4.2e9)
    return oa.fit_bounce({"n": SIZES, "seconds": device}, {"n": SIZES, "seconds": host}, copies=3)


@known(alpha=2e-6, beta=1 / 10e9)
def collective(seed: int) -> oa.Fit:
    P, n = np.repeat([16, 64], len(SIZES)), np.tile(SIZES, 2)
    cost = oa.collective_cost("allreduce", "rabenseifner")
    seconds = dirty(seed, cost(P=P, n=n, alpha=2e-6, beta=1 / 10e9, gamma=1 / 8e9))
    return oa.fit({"n": n, "seconds": seconds, "ranks": P}, cost, fixed={"gamma": "0.125 ns/B"})


@known(L=1.2e-6, o=0.4e-6, g=0.6e-6, G=1 / 9e9)
def loggp_of_netgauge(seed: int) -> oa.Fit:
    way = dirty(seed, 2e-6 + (SIZES - 1) / 9e9)
    gap = dirty(seed + 1000, 0.6e-6 + (SIZES - 1) / 9e9)
    overhead = dirty(seed + 2000, np.full(len(SIZES), 0.4e-6))
    columns = {"round_trip_seconds": 2 * way, "train_seconds": 2 * way + 9 * gap, "messages": 10.0}
    return oa.fit({"n": SIZES, "seconds": way, "o_send": overhead, "o_recv": overhead, **columns})


@known(L=1.2e-6, o=0.4e-6, g=0.6e-6, G=1 / 9e9)
def loggp_of_tests(seed: int) -> oa.Fit:
    latency = {"n": SIZES, "seconds": dirty(seed, 2e-6 + (SIZES - 1) / 9e9)}
    gap = dirty(seed + 1000, 0.6e-6 + (SIZES - 1) / 9e9)
    return oa.fit((latency, {"n": SIZES, "bandwidth_bytes_per_s": SIZES / gap}))


@known(alpha_d2h_1=8e-6, beta_d2h_1=1 / 3e9, s_d2h_1=65536, alpha_d2h_2=14e-6, beta_d2h_2=1 / 12e9)
def copies(seed: int) -> oa.Fit:
    seconds = dirty(seed, np.where(SIZES <= 65536, 8e-6 + SIZES / 3e9, 14e-6 + SIZES / 12e9))
    return oa.fit({"n": SIZES, "bandwidth_bytes_per_s": SIZES / seconds}, "copies", copy="d2h")


@known(t_launch=5e-6, R=1.4e12)
def kernel(seed: int) -> oa.Fit:
    seconds = dirty(seed, 9e-6 + 64 * SIZES / 1.4e12)
    return oa.fit({"n": 64 * SIZES, "seconds": seconds}, "kernel", fixed={"t_sync": "4 us"})


@known(gamma=1 / 8e9)
def reduction(seed: int) -> oa.Fit:
    return oa.fit({"n": SIZES, "seconds": dirty(seed, 2e-7 + SIZES / 8e9)}, "reduction")


@known(alpha_gdr=1.5e-6, beta_gdr=1 / 50e9)
def call(seed: int) -> oa.Fit:
    host = 2e-6 + SIZES / 12e9
    device = dirty(seed, host + 3e-6 + 2 * SIZES / 50e9)
    return oa.fit(({"n": SIZES, "seconds": device}, {"n": SIZES, "seconds": host}), "call")


@pytest.mark.parametrize("model", MODELS)
def test_the_truth_is_inside_of_the_intervals(model: str) -> None:
    # Intervals of 95 % hold the truth of a parameter in 17 or more of 20 runs, but in 2 of 100 cases.
    function, truth = MODELS[model]
    hits = np.sum([inside(function(seed), truth) for seed in range(20)], axis=0)
    assert (hits >= 17).all(), dict(zip(truth, hits, strict=True))


def test_parameters_of_exact_data_are_exact() -> None:
    made = oa.fit({"n": SIZES, "seconds": 2e-6 + SIZES / 1e10})
    assert made.parameters["alpha"] == pytest.approx(2e-6, rel=1e-6)
    assert made.parameters["beta"] == pytest.approx(1e-10, rel=1e-6)
    assert made.warnings == ()


def test_an_outlier_is_named_with_its_line() -> None:
    seconds = 2e-6 + SIZES / 1e10
    seconds[5] *= 3
    made = oa.fit({"n": SIZES, "seconds": seconds, "line": np.arange(4, 29)})
    assert made.outliers["line"].tolist() == [9]
    assert "line 9: 6.01 us at 32 B, 3.00 times the model" in made.report()


def test_time_that_falls_with_size_is_told_and_nothing_turns_negative() -> None:
    n = 2.0 ** np.arange(0, 23)
    seconds = np.where(n <= 128, 19.7e-6, 11.8e-6 + n / 20e9)
    made = oa.fit({"n": n, "seconds": seconds, "line": np.arange(5, 28)}, "hockney")
    assert min(made.parameters.values()) >= 0
    assert any("from 19.7 us at 128 B to 11.8 us at 256 B (lines 12 and 13)" in text for text in made.warnings)


def test_rows_of_0_bytes_of_device_buffers_are_left_out() -> None:
    table = pd.DataFrame({"n": [0.0, *SIZES], "seconds": [0.95e-6, *(21e-6 + SIZES / 1e10)]})
    device = oa.fit(table.assign(buffers="device"))
    assert device.parameters["alpha"] == pytest.approx(21e-6, rel=1e-3)
    assert "1 row of 0 bytes not used" in device.warnings[0]
    assert len(oa.fit(table.assign(buffers="host")).points) == 26


def test_of_rows_that_repeat_a_size_the_mean_without_those_far_off_is_taken() -> None:
    seconds = 2e-6 + SIZES / 1e10
    table = {"n": np.tile(SIZES, 3), "seconds": np.concatenate([seconds, 1.01 * seconds, 9 * seconds])}
    made = oa.fit(table)
    assert made.parameters["alpha"] == pytest.approx(2.01e-6, rel=1e-4)
    assert "75 rows repeat 25 sizes" in made.warnings[0]
    assert "without 25 rows far from the others" in made.warnings[0]


def test_of_two_repeats_that_differ_the_shorter_one_counts() -> None:
    seconds = np.concatenate([dirty(1, 2e-6 + SIZES / 1e10, 0.0), dirty(2, 2e-6 + SIZES / 1e10, 0.0)])
    seconds[7] *= 3
    made = oa.fit({"n": np.tile(SIZES, 2), "seconds": seconds, "line": np.arange(4, 54)})
    assert made.points["seconds"][7] == seconds[32]
    assert "without 1 row far from the others (line 11)" in made.warnings[0]


def test_overheads_of_netgauge_survive_two_outliers_in_a_row() -> None:
    way, gap = 2e-6 + SIZES / 9e9, 0.6e-6 + SIZES / 9e9
    overhead = np.where(SIZES <= 4096, 0.4e-6, 0.4e-6 + SIZES / 1e9)
    overhead[3:5] *= 5
    columns = {"round_trip_seconds": 2 * way, "train_seconds": 2 * way + 9 * gap, "messages": 10.0}
    made = oa.fit({"n": SIZES, "seconds": way, "o_send": overhead, "o_recv": overhead, **columns})
    assert made.parameters["o"] == pytest.approx(0.4e-6, rel=0.05)
    assert (
        made.points["series"] == "overhead"
    ).sum() == 11 + 2  # 512 and 1024 bytes more are within half as much again
    assert any("the overhead is that of messages up to" in text for text in made.warnings)


def test_a_call_is_told_from_the_latency_of_its_ends() -> None:
    host = pd.DataFrame({"n": SIZES, "seconds": 4e-6 + SIZES / 12e9, "collective": "bcast", "ranks": 8})
    device = host.assign(seconds=host["seconds"] + 5e-6 + SIZES / 30e9)
    made = oa.fit((device, host), "call", gdr_latency="1.5 us")
    assert made.parameters["t_call"] == pytest.approx(2e-6, rel=1e-3)
    assert made.to_machine("x", base="example").parameters["t_call"] == pytest.approx(2e-6, rel=1e-3)
    both = oa.fit((device, host), "call")
    assert both.parameters["t_call"] == pytest.approx(5e-6, rel=1e-3)
    assert any("no gdr_latency= was given" in text for text in both.warnings)
    with pytest.raises(QuantityError, match="fit_bounce"):
        oa.fit((device.assign(collective="allreduce"), host.assign(collective="allreduce")), "call")
    for other, said in (({"collective": "gather"}, "collective: bcast and gather"), ({"ranks": 16}, "ranks: 8 and 16")):
        with pytest.raises(QuantityError, match=said):
            oa.fit((device, host.assign(**other)), "call")
        with pytest.raises(QuantityError, match=said):
            oa.fit((device, host.assign(**other)), "bounce", copies=2)


def test_wrong_results_are_left_out() -> None:
    verdicts = ["fail", *["pass"] * 24]
    made = oa.fit(pd.DataFrame({"n": SIZES, "seconds": 2e-6 + SIZES / 1e10, "validation": verdicts}))
    assert len(made.points) == 24
    assert "wrong results" in made.warnings[0]


def test_values_that_are_no_times_are_told_and_left_out() -> None:
    seconds = 2e-6 + SIZES / 1e10
    table = pd.DataFrame({"n": SIZES, "seconds": seconds, "line": np.arange(4, 29)}).astype({"seconds": object})
    table.loc[[3, 7], "seconds"] = [-1e-6, "n/a"]
    table.loc[9, "seconds"] = np.nan  # nothing was measured: nothing is told
    made = oa.fit(table)
    assert len(made.points) == 22
    assert made.warnings == ("2 rows not used (lines 7 and 11): seconds holds -1e-06.",)


def test_sizes_may_be_the_index_of_a_table() -> None:
    table = pd.DataFrame({"n": SIZES, "seconds": 2e-6 + SIZES / 1e10})
    for other in (table.set_index("n"), table[::-1], table.set_index(np.zeros(25))):
        assert oa.fit(other).parameters["alpha"] == pytest.approx(2e-6, rel=1e-6)


def test_several_series_are_an_error_that_lists_them() -> None:
    one = pd.DataFrame({"n": SIZES, "seconds": 2e-6 + SIZES / 1e10})
    both = pd.concat([one.assign(table=0), one.assign(table=1)])
    with pytest.raises(QuantityError, match=r"has 2: table 0 \(25 rows\); table 1 .*table\[table\['table'\] == 0\]"):
        oa.fit(both)
    oa.fit(both[both["table"] == 1])


def test_a_bandwidth_above_the_wire_is_told() -> None:
    table = pd.DataFrame({"n": SIZES, "seconds": 20e-6 + SIZES / 122e9, "busbw_bytes_per_s": 122e9})
    made = oa.fit(table, wire="48 GB/s")
    assert any("1/beta is 122 GB/s, above the wire (48 GB/s)" in text for text in made.warnings)
    assert any("bus bandwidth of this table, up to 122 GB/s, above the wire," in text for text in made.warnings)
    assert not any("1/beta" in text for text in oa.fit(table, wire="200 GB/s").warnings)


def test_what_the_data_cannot_tell() -> None:
    flat = oa.fit({"n": SIZES[:8], "seconds": dirty(1, 2e-6 + SIZES[:8] / 1e11, outliers=0.0)}, "hockney")
    assert flat.intervals["beta"][0] == 0
    assert any("beta cannot be told from 0" in text for text in flat.warnings)
    two = oa.fit({"n": [1, 1e6], "seconds": [2e-6, 1e-4]}, "hockney")
    assert two.intervals["alpha"] == (0.0, np.inf)
    assert any("2 points for 2 parameters are few" in text for text in two.warnings)
    together = oa.fit({"n": SIZES, "seconds": dirty(2, 9e-6 + SIZES / 1e12)}, "kernel")
    assert any("t_launch and t_sync cannot be told apart" in text for text in together.warnings)
    assert sum(together.parameters[name] for name in ("t_launch", "t_sync")) == pytest.approx(9e-6, rel=0.05)
    assert together.intervals["t_sync"][0] == 0 < 9e-6 <= together.intervals["t_sync"][1]


def test_parameters_that_trade_off_are_told() -> None:
    n = np.linspace(1e6, 1.2e6, 12)
    made = oa.fit({"n": n, "seconds": dirty(3, 1e-4 + n / 1e10, outliers=0.0)}, "hockney")
    assert made.correlations.loc["alpha", "beta"] < -0.95
    assert any("alpha and beta trade off" in text for text in made.warnings)


def test_a_sum_of_beta_and_gamma_is_no_beta() -> None:
    cost = oa.collective_cost("allreduce", "recursive_doubling")
    seconds = cost(P=16, n=SIZES, alpha=2e-6, beta=1e-10, gamma=1e-10)
    made = oa.fit({"n": SIZES, "seconds": seconds, "ranks": 16}, cost)
    assert any("beta and gamma cannot be told apart" in text for text in made.warnings)
    assert made.parameters["beta"] + made.parameters["gamma"] == pytest.approx(2e-10, rel=1e-4)
    held = oa.fit({"n": SIZES, "seconds": seconds, "ranks": 16}, cost, fixed="gamma", machine={"gamma": 1e-10})
    assert held.parameters["beta"] == pytest.approx(1e-10, rel=1e-4)
    assert set(held.parameters) == {"alpha", "beta"}


def test_the_library_s_own_choice_is_fitted_point_by_point() -> None:
    n, truth = 4.0 * 2.0 ** np.arange(20), {"alpha": 2e-6, "beta": 1e-10}
    P = np.repeat([12, 48], len(n))
    n = np.tile(n, 2)
    machine = oa.load_machine("example").replace(latency="2 us", bandwidth="10 GB/s")
    seconds = np.concatenate(
        [oa.predict(machine, "allgather", p, n[p == P])["seconds"].to_numpy()[0] for p in (12, 48)]
    )
    table = {"n": n, "seconds": seconds, "ranks": P, "collective": "allgather"}
    made = oa.fit(table, "collective", rules="openmpi-4.1")
    for name, value in truth.items():
        assert made.parameters[name] == pytest.approx(value, rel=1e-4)
    assert any("taken to have run, by 'openmpi-4.1'" in text for text in made.warnings)


def test_gamma_from_allreduce_and_allgather() -> None:
    P, n = 8, 1024 * 2.0 ** np.arange(14)
    values = {"P": P, "alpha": 2e-6, "beta": 1e-10}
    allreduce = oa.collective_cost("allreduce", "ring")(n=n, gamma=3e-10, **values)
    allgather = oa.collective_cost("allgather", "ring")(n=n / P, **values)
    tables = {"n": n, "seconds": allreduce, "ranks": P}, {"n": n / P, "seconds": allgather, "ranks": P}
    assert oa.fit(tables, "reduction").parameters["gamma"] == pytest.approx(3e-10, rel=1e-6)


def test_windowed_tests_tell_gap_and_bandwidth_of_a_pair() -> None:
    total = 4 * SIZES / (0.5e-6 + (SIZES - 1) / 20e9)
    table = pd.DataFrame({"n": SIZES, "bandwidth_bytes_per_s": total, "benchmark": "osu_mbw_mr", "ranks": 8})
    made = oa.fit(table)
    assert made.model == "bandwidth"
    assert made.parameters["g"] == pytest.approx(0.5e-6, rel=1e-4)
    assert 1 / made.parameters["G"] == pytest.approx(20e9, rel=1e-4)
    assert any("of the latency it says nothing" in text for text in made.warnings)


def test_a_rate_alone_gives_no_latency() -> None:
    table = pd.DataFrame({"bandwidth_bytes_per_s": [25e9, 26e9, 24e9], "send_buffer": "device", "recv_buffer": "host"})
    made = oa.fit(table.assign(collective="copy", line=[3, 4, 5]))
    assert made.model == "copies"
    assert 1 / made.parameters["beta_d2h"] == pytest.approx(25e9, rel=0.02)
    assert "alpha_d2h" not in made.parameters
    assert any("latency of a copy cannot be told" in text for text in made.warnings)


def test_a_negative_gap_of_netgauge_is_not_used() -> None:
    n = 2.0 ** np.arange(20)
    way, gap = 2e-6 + (n - 1) / 9e9, 0.6e-6 + (n - 1) / 9e9
    table = pd.DataFrame({"n": n, "seconds": way, "round_trip_seconds": 2 * way, "train_seconds": 2 * way + 9 * gap})
    table = table.assign(messages=10, o_send=0.4e-6, o_recv=0.4e-6, g=np.where(n > 1e5, -9.9e-6, np.nan), line=n)
    made = oa.fit(table)
    assert made.parameters["g"] == pytest.approx(0.6e-6, rel=1e-4)
    assert any("netgauge prints a negative g" in text for text in made.warnings)


@pytest.mark.parametrize(
    ("table", "options", "error", "message"),
    [
        (None, {}, QuantityError, "takes a table"),
        ("log.txt", {}, QuantityError, "takes a table"),
        ({"n": [1, 2], "seconds": [1]}, {}, QuantityError, "make no table"),
        ({"n": [], "seconds": []}, {}, QuantityError, "no row"),
        ({"n": [1, 2], "speed": [1, 2]}, {}, FormatError, "Its columns: n, speed"),
        ({"n": [1, 2], "seconds": [-1, np.nan]}, {}, FormatError, "Its seconds holds -1.0. Allowed: numbers above 0"),
        ({"n": ["4 KiB"], "seconds": [1e-6]}, {}, FormatError, "Its n holds '4 KiB'"),
        ({"size": [1], "time_us": [2]}, {}, FormatError, r"n=table\['size'\], seconds=table\['time_us'\] / 1e6"),
        ({"Bytes": [1], "Latency": [2]}, {}, FormatError, r"n=table\['Bytes'\], seconds=table\['Latency'\]\)"),
        ({"n": [1], "seconds": pd.to_timedelta([2], unit="us")}, {}, QuantityError, "holds timedelta64.*numbers"),
        ({"n": [True], "seconds": [1e-6]}, {}, QuantityError, "column n of this table holds bool"),
        (pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("n", "a")])), {}, QuantityError, "several levels"),
        ({"n": [8] * 9, "seconds": [1e-6] * 9}, {}, QuantityError, "too few"),
        ({"n": [1], "seconds": [1e-6]}, {}, QuantityError, "too few"),
        ({"n": SIZES, "seconds": SIZES}, {"model": "hocney"}, UnknownNameError, "Did you mean 'hockney'"),
        ({"n": SIZES, "seconds": SIZES}, {"model": True}, UnknownNameError, "unknown model"),
        ({"n": SIZES, "seconds": SIZES}, {"mst": 2}, UnknownNameError, "Did you mean 'most'"),
        ({"n": SIZES, "seconds": SIZES}, {"most": 0}, QuantityError, "most"),
        ({"n": SIZES, "seconds": SIZES}, {"link": "nvlink"}, UnknownNameError, "unknown link"),
        ({"n": SIZES, "seconds": SIZES}, {"wire": "48 us"}, QuantityError, "wire"),
        ({"n": SIZES, "seconds": SIZES}, {"model": "collective"}, QuantityError, "which collective"),
        ({"n": SIZES, "seconds": SIZES}, {"model": "copies"}, QuantityError, "one direction"),
        ({"n": SIZES, "bandwidth_bytes_per_s": SIZES}, {"model": "hockney"}, FormatError, 'model="bandwidth"'),
        (({"n": SIZES, "seconds": SIZES},), {"model": "hockney"}, QuantityError, "takes one table"),
        ((), {}, QuantityError, "none was given"),
        ({"n": SIZES, "seconds": SIZES}, {"model": "call"}, QuantityError, "two tables"),
        (({"n": SIZES, "seconds": SIZES},) * 2, {"model": "call", "library": "mpich"}, UnknownNameError, "openmpi-4.1"),
        ({"n": SIZES, "seconds": SIZES}, {"most": [1]}, QuantityError, "most"),
        ({"n": [10**400], "seconds": [1e-6]}, {}, QuantityError, "the column n"),
        ({"n": SIZES, "seconds": SIZES, "file": [{}] * 25}, {}, QuantityError, "the column file"),
        (pd.DataFrame([[1, 1, 2e-6]], columns=["n", "n", "seconds"]), {}, QuantityError, "several columns 'n'"),
    ],
)
def test_what_a_fit_refuses(table: Any, options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        oa.fit(table, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"algorithm": "rign"}, "Did you mean 'ring'"),
        ({"algorithm": "ring", "fixed": {"gama": 1}}, "gama"),
        ({"algorithm": "ring", "fixed": {"o": 1e-6}}, "unknown fixed parameter"),
        ({"algorithm": "ring", "fixed": {"alpha": 1e-6, "beta": 1e-10}}, "nothing is left to fit"),
        ({"algorithm": "ring", "network": []}, "names no network"),
        ({"algorithm": "ring", "rendezvous": 1}, "True or False"),
        ({"algorithm": {"ring": "ring"}}, "algorithm"),
        ({"cost": "P*alpha"}, "must be a Cost"),
        ({"cost": oa.Cost(), "network": oa.Hockney()}, "its own network"),
        ({"cost": oa.Cost({"latency": oa.describe("alpha").symbol * oa.describe("beta").symbol})}, "not linear"),
        ({}, "does not say which algorithm"),
    ],
)
def test_what_a_fit_of_a_collective_refuses(options: dict[str, Any], message: str) -> None:
    table = {"n": SIZES, "seconds": 1e-6 + SIZES / 1e9, "ranks": 8}
    with pytest.raises(oa.OrreryError, match=message):
        oa.fit(table, "collective", collective="allgather", **options)
