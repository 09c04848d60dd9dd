"""Copies, device legs (Eq. 1), host bounce (Eq. 2) by library, staging in fragments."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sp

from orrery_analytic.cost import evaluate
from orrery_analytic.errors import QuantityError, UnknownNameError
from orrery_analytic.gpu import (
    BOUNCES,
    best_fragment,
    bounce_copies,
    bounce_library,
    by_size,
    device_leg,
    eager_leg,
    fragment_threshold,
    fragments_time,
    gdr_leg,
    host_bounce,
    optimal_fragment,
    pipeline_stages,
    pipeline_time,
    pipelined_terms,
    size_bands,
    t_d2h,
    t_h2d,
)
from orrery_analytic.networks import Hockney, LogGP
from orrery_analytic.symbols import SYMBOLS, P, describe, n, n_f

S = {name: info.symbol for name, info in SYMBOLS.items()}
D2H, H2D = S["alpha_d2h"] + n * S["beta_d2h"], S["alpha_h2d"] + n * S["beta_h2d"]
BANDS = {"d2h": 2, "h2d": 3}


def test_a_copy_is_latency_and_bandwidth() -> None:
    assert t_d2h(n) == D2H
    assert t_h2d(n) == H2D
    assert t_d2h(P * n) == S["alpha_d2h"] + P * n * S["beta_d2h"]


def test_a_banded_copy_takes_the_band_of_its_size() -> None:
    # By hand: 1 us + 10 ps/B up to 1000 B, 2 us + 5 ps/B up to 4000 B, 4 us + 4 ps/B beyond.
    values = {"alpha_h2d_1": 1e-6, "beta_h2d_1": 10e-12, "s_h2d_1": 1000}
    values |= {"alpha_h2d_2": 2e-6, "beta_h2d_2": 5e-12, "s_h2d_2": 4000, "alpha_h2d_3": 4e-6, "beta_h2d_3": 4e-12}
    sizes = np.array([1, 1000, 1001, 4000, 4001, 10**6])
    expected = [1e-6 + 10e-12, 1.01e-6, 2e-6 + 5.005e-9, 2.02e-6, 4e-6 + 16.004e-9, 8e-6]
    (seconds,) = evaluate([t_h2d(n, 3)], {**values, "n": sizes})
    np.testing.assert_allclose(seconds, expected, rtol=1e-12)


def test_bands_are_those_of_the_symbols() -> None:
    names = {symbol.name for symbol in t_d2h(n, 2).free_symbols}
    assert names == {"n", "alpha_d2h_1", "beta_d2h_1", "s_d2h_1", "alpha_d2h_2", "beta_d2h_2"}
    assert all(describe(name).symbol in t_d2h(n, 2).free_symbols for name in names)


@pytest.mark.parametrize("end", ["send", "recv"])
@pytest.mark.parametrize(
    ("buffer", "transport", "expected"),
    [
        ("device", "staged", {"d2h": D2H, "h2d": H2D}),
        ("device", "gdr", {"gdr": S["alpha_gdr"]}),
        ("device", "peer", {"peer": S["alpha_peer"] + n * S["beta_peer"]}),
        ("host", "staged", {}),
        ("host", "gdr", {}),
        ("host", "peer", {}),
    ],
)
def test_eq_1_as_printed(end: str, buffer: str, transport: str, expected: dict[str, sp.Expr]) -> None:
    assert device_leg(n, end, buffer, transport) == expected


@pytest.mark.parametrize(("end", "expected"), [("send", {"d2h": D2H}), ("recv", {"h2d": H2D})])
def test_directed_staging_copies_once(end: str, expected: dict[str, sp.Expr]) -> None:
    assert device_leg(n, end, transport="staged", staging="directed") == expected
    assert device_leg(n, end, "host", "staged", "directed") == {}


def test_directed_peer_copies_move_the_bytes_once() -> None:
    # The receiver fetches them; each side has its own latency.
    assert device_leg(n, "send", transport="peer", staging="directed") == {"peer": S["alpha_peer"]}
    assert device_leg(n, "recv", transport="peer", staging="directed") == device_leg(n, "recv", transport="peer")


def test_gpudirect_is_alike_at_both_ends() -> None:
    assert device_leg(n, "send", staging="directed") == device_leg(n, "recv") == {"gdr": S["alpha_gdr"]}


def test_legs_and_bounce_take_bands() -> None:
    assert device_leg(n, "send", transport="staged", bands=BANDS) == {"d2h": t_d2h(n, 2), "h2d": t_h2d(n, 3)}
    assert host_bounce((n, n), (n,), BANDS) == {"d2h": 2 * t_d2h(n, 2), "h2d": t_h2d(n, 3)}


def test_host_bounce_adds_copies_of_each_size() -> None:
    assert host_bounce((n, n), (n,)) == {"d2h": 2 * D2H, "h2d": H2D}
    down = 2 * S["alpha_d2h"] + P * n * S["beta_d2h"] + n * S["beta_d2h"]
    assert sp.expand(host_bounce((P * n, n), (n,))["d2h"] - down) == 0


def test_one_band_unless_told() -> None:
    assert size_bands(None) == size_bands({}) == {"d2h": 1, "h2d": 1}
    assert size_bands({"h2d": 3}) == {"d2h": 1, "h2d": 3}
    assert size_bands({"d2h": np.int64(2)}) == {"d2h": 2, "h2d": 1}  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("bands", "error", "words"),
    [
        ({"D2H": 2}, UnknownNameError, ["unknown copy 'D2H'", "Did you mean 'd2h'?", "Allowed: d2h, h2d"]),
        ({"d2h": 0}, QuantityError, ["bands['d2h']", "from 1 to 64", "0 was given"]),
        ({"d2h": 1.5}, QuantityError, ["whole number", "1.5"]),
        ({"h2d": True}, QuantityError, ["bands['h2d']", "True"]),
        (2, QuantityError, ["mapping", "2 was given"]),
    ],
)
def test_wrong_bands_are_refused(bands: Any, error: type[Exception], words: list[str]) -> None:
    with pytest.raises(error) as caught:
        device_leg(n, "send", bands=bands)
    assert all(word in str(caught.value) for word in words)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"end": "sender"}, ["unknown end 'sender'", "Allowed: send, recv"]),
        ({"buffer": "gpu"}, ["unknown place of a buffer 'gpu'", "host, device"]),
        ({"transport": "stage"}, ["unknown transport 'stage'", "Did you mean 'staged'?", "staged, gdr, peer"]),
        ({"buffer": "host", "transport": "rdma"}, ["unknown transport 'rdma'"]),
        ({"staging": "direct"}, ["unknown staging 'direct'", "Did you mean 'directed'?"]),
        ({"staging": "pipelined"}, ["unknown staging 'pipelined'"]),  # a way of a whole message, not of a leg
    ],
)
def test_wrong_options_are_refused(options: dict[str, str], words: list[str]) -> None:
    with pytest.raises(UnknownNameError) as caught:
        device_leg(n, **{"end": "send", **options})
    assert all(word in str(caught.value) for word in words)


# Pinned memory, eager messages, limits


def test_pinned_copies_have_numbers_of_their_own() -> None:
    assert t_d2h(n, pinned=True) == S["alpha_pinned_d2h"] + n * S["beta_pinned_d2h"]
    assert t_h2d(n, pinned=True) == S["alpha_pinned_h2d"] + n * S["beta_pinned_h2d"]
    leg = device_leg(n, "send", transport="staged", pinned=True, bands={"d2h": 2, "pinned_h2d": 2})
    assert leg == {"d2h": t_d2h(n, pinned=True), "h2d": t_h2d(n, 2, pinned=True)}
    assert describe("s_pinned_h2d_1").meaning == "largest size, band 1 of a copy from pinned host memory to the device"


def test_a_bounce_is_through_pageable_memory() -> None:
    assert not any("pinned" in str(e) for e in host_bounce((n,), (n,), {"pinned_d2h": 3}).values())


def test_legs_of_protocols() -> None:
    assert eager_leg(n) == {"gdr": S["alpha_gdr"] + n * S["beta_eager"]}
    assert gdr_leg(n) == {"gdr": S["alpha_gdr"] + n * S["beta_gdr"]}


@pytest.mark.parametrize(
    ("given", "limit"), [(30_000, 30_000), ("30 kB", 30_000), ("symbol", S["s_gdr"]), (8 * P, 8 * P)]
)
def test_gpudirect_hands_over_to_staging(given: Any, limit: Any) -> None:
    leg = device_leg(n, "send", staging="directed", gdr_limit=given)
    assert leg["gdr"] == sp.Piecewise((S["alpha_gdr"], n <= limit), (0, True))
    assert leg["d2h"] == sp.Piecewise((0, n <= limit), (D2H, True))
    assert device_leg(n, "send", transport="peer", gdr_limit=given) == device_leg(n, "send", transport="peer")


@pytest.mark.parametrize("limit", [0, -1, 1.5, "big", "30", float("nan"), float("inf"), True, [1], [], sp.oo, 10**400])
def test_wrong_limits_are_refused(limit: Any) -> None:
    with pytest.raises(QuantityError, match="gdr_limit"):
        device_leg(n, "send", gdr_limit=limit)


def test_pieces_of_pieces_are_one_list() -> None:
    small, large = n <= 8, n <= 64
    inner = by_size(({"gdr": n}, large), ({"d2h": n**2}, True))
    inner["gdr"] += P
    assert by_size(({"gdr": sp.S.One}, small), (inner, True)) == {
        "gdr": sp.Piecewise((1, small), (n + P, large), (P, True)),
        "d2h": sp.Piecewise((0, small), (0, large), (n**2, True)),
    }


# The host bounce, library by library

DEVICE, SEND, RECV, HOST = "device", ("device", "host"), ("host", "device"), "host"

#: collective, buffers, in place, rank: copies to the host, copies back. From the table of coll/cuda in Open MPI 4.1.6.
CUDA = [
    *((name, DEVICE, False, "root", [n, n], [n]) for name in ("allreduce", "scan", "exscan", "reduce")),
    *((name, SEND, False, "root", [n], []) for name in ("allreduce", "scan", "exscan", "reduce")),
    *((name, RECV, False, "root", [n], [n]) for name in ("allreduce", "scan", "exscan", "reduce")),
    *((name, HOST, False, "root", [], []) for name in ("allreduce", "scan", "exscan", "reduce")),
    *((name, DEVICE, True, "root", [n], [n]) for name in ("allreduce", "scan", "exscan", "reduce")),
    *((name, DEVICE, False, "other", [n, n], [n]) for name in ("allreduce", "scan", "exscan")),
    ("reduce", DEVICE, False, "other", [n], []),
    ("reduce", DEVICE, True, "other", [n], []),  # only the root is in place
    ("reduce", RECV, False, "other", [], []),  # their receive buffers are not looked at
    ("reduce_scatter_block", DEVICE, False, "root", [P * n, n], [n]),
    ("reduce_scatter_block", SEND, False, "root", [P * n], []),
    ("reduce_scatter_block", RECV, False, "root", [n], [n]),
    ("reduce_scatter_block", DEVICE, True, "root", [n], [n]),  # the bug: one block
    ("reduce_scatter", DEVICE, False, "root", [n], [n / P]),
    ("reduce_scatter", SEND, False, "root", [n], []),
    ("reduce_scatter", RECV, False, "root", [], [n / P]),
    ("reduce_scatter", DEVICE, True, "root", [n], [n / P]),
]


@pytest.mark.parametrize(("collective", "buffers", "in_place", "rank", "down", "up"), CUDA)
@pytest.mark.parametrize("library", ["openmpi-4.1", "5.0.10"])
def test_copies_of_coll_cuda(
    library: str, collective: str, buffers: Any, in_place: bool, rank: str, down: list[Any], up: list[Any]
) -> None:
    copies = bounce_copies(collective, library, buffers, in_place, rank)
    assert copies is not None
    assert (list(copies.down), list(copies.up), copies.limit) == (down, up, None)


@pytest.mark.parametrize(
    "collective", ["bcast", "allgather", "allgatherv", "alltoall", "alltoallv", "gather", "scatter"]
)
def test_coll_cuda_passes_the_others_on(collective: str) -> None:
    assert bounce_copies(collective) is None


#: coll/accelerator of Open MPI 6.0, where it is not as coll/cuda.
ACCELERATOR = [
    ("reduce_scatter_block", DEVICE, True, [P * n], [n], None),
    ("reduce_scatter", DEVICE, False, [n, n / P], [n / P], None),
    ("reduce_scatter", DEVICE, True, [n], [n / P], None),
    ("bcast", DEVICE, False, [n], [n], 256),
    ("bcast", SEND, False, [n], [n], 256),
    ("bcast", HOST, False, [], [], 256),
    ("allgather", DEVICE, False, [n, P * n], [P * n], 65536),
    ("allgather", SEND, False, [n], [], 65536),
    ("allgather", DEVICE, True, [P * n], [P * n], 65536),
    ("alltoall", DEVICE, False, [P * n, P * n], [P * n], 65536),
    ("alltoall", RECV, False, [P * n], [P * n], 65536),
]


@pytest.mark.parametrize(("collective", "buffers", "in_place", "down", "up", "limit"), ACCELERATOR)
def test_copies_of_coll_accelerator(
    collective: str, buffers: Any, in_place: bool, down: list[Any], up: list[Any], limit: int | None
) -> None:
    copies = bounce_copies(collective, "openmpi-6.0", buffers, in_place)
    assert copies is not None
    assert (list(copies.down), list(copies.up), copies.limit) == (down, up, limit)


def test_coll_accelerator_is_as_coll_cuda_elsewhere() -> None:
    for name in ("allreduce", "scan", "exscan", "reduce"):
        assert BOUNCES["openmpi-6.0"][name] == BOUNCES["openmpi-4.1"][name]
    assert all(
        bounce_copies(name, "6.0") is None for name in ("allgatherv", "alltoallv", "gather", "scatter", "barrier")
    )


def test_a_known_bug_is_told() -> None:
    copies = bounce_copies("reduce_scatter_block", in_place=True)
    assert copies is not None
    assert "known bug" in copies.told
    assert "13883" in copies.told


@pytest.mark.parametrize(
    ("given", "name"),
    [("openmpi-4.1", "openmpi-4.1"), ("Open MPI 4.1.6", "openmpi-4.1"), ("v5.0.3", "openmpi-4.1"),
     ("4.0.5", "openmpi-4.1"), ("6.0.0rc1", "openmpi-6.0"), ("ompi 6.0", "openmpi-6.0")],
)  # fmt: skip
def test_libraries_by_version(given: str, name: str) -> None:
    assert bounce_library(given) == name


@pytest.mark.parametrize("given", ["mpich", "openmpi-1.10", "7.0", "", None, 4.1, ["4.1"], "4.1.6.2.1x"])
def test_unknown_libraries_are_refused(given: Any) -> None:
    with pytest.raises(UnknownNameError, match=r"unknown library .* Allowed: openmpi-2\.1, openmpi-3\.0"):
        bounce_copies("allreduce", given)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"collective": "all_reduce"}, UnknownNameError, "Did you mean 'allreduce'"),
        ({"buffers": "gpu"}, UnknownNameError, "place of buffers 'gpu'"),
        ({"buffers": ("device",)}, QuantityError, "one place or two"),
        ({"buffers": ("device", "hots")}, UnknownNameError, "Did you mean 'host'"),
        ({"rank": "leaf"}, UnknownNameError, "Allowed: root, other"),
        ({"in_place": 1}, QuantityError, "in_place must be True or False"),
        ({"collective": "bcast", "in_place": True}, QuantityError, "bcast has no MPI_IN_PLACE"),
    ],
)
def test_wrong_questions_about_copies_are_refused(options: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        bounce_copies(**{"collective": "allreduce", **options})


# Staging in fragments

ENDS = [("device", "device"), ("device", "host"), ("host", "device")]


@pytest.mark.parametrize(("send", "recv"), ENDS)
def test_terms_of_a_pipeline_are_its_time(send: str, recv: str) -> None:
    terms = pipelined_terms(n_f, Hockney(), send, recv)
    line = pipeline_stages(Hockney(), send, recv)
    rng = np.random.default_rng(5)
    values = {s.name: rng.integers(1, 20, 500) for _, a, b in line for s in (a, b)}
    values |= {"n_f": rng.integers(1, 9, 500), "n": rng.integers(1, 99, 500)}
    serial, pipelined, *parts = evaluate(
        [sum(a + n * b for _, a, b in line), pipeline_time(line, n_f), *terms.values()], values
    )
    np.testing.assert_allclose(sum(parts), np.where(values["n"] <= values["n_f"], serial, pipelined), rtol=1e-12)
    assert all((part >= -1e-12).all() for part in parts)


def test_a_pipeline_by_hand() -> None:
    # Three fragments of 10 B. To the host 4 + 10, on the wire 1 + 20, back 2 + 10: 14 + 21 + 12, and twice 21 more.
    values = {"alpha_d2h": 4, "beta_d2h": 1, "alpha": 1, "beta": 2, "alpha_h2d": 2, "beta_h2d": 1, "n": 30}
    terms = pipelined_terms(sp.Integer(10))
    numbers = {name: float(evaluate([e], values)[0]) for name, e in terms.items()}
    assert numbers == {"latency": 3, "bandwidth": 60, "d2h": 14, "h2d": 12, "reduce": 0}


def test_a_pipeline_under_loggp_is_d_apart() -> None:
    values = {"L": 5, "o": 2, "g": 3, "G": 1, "alpha_d2h": 1, "beta_d2h": 0, "alpha_h2d": 1, "beta_h2d": 0}
    values = {SYMBOLS[k].symbol: v for k, v in values.items()} | {n: 40, n_f: 10}
    terms = {name: e.subs(values) for name, e in pipelined_terms(n_f, LogGP()).items()}
    # One way 5 + 4 + 9; the three others each 3 + 9 behind; the copies hide but for the first and the last.
    assert sum(terms.values()) == 1 + 18 + 3 * 12 + 1
    assert terms["gap"] == 3 * 3


def test_a_pipeline_takes_bands() -> None:
    terms = pipelined_terms(n_f, bands={"d2h": 2, "h2d": 2})
    values = {s: 1.0 for e in terms.values() for s in map(str, e.free_symbols)} | {"n": 64, "n_f": 8, "s_d2h_1": 8}
    values |= {"alpha_d2h_1": 100.0, "alpha_d2h_2": 10_000.0}
    assert float(sum(evaluate([*terms.values()], values))) == 108 + 9 + 9 + 7 * 108


def simulated(line: list[tuple[str, Any, Any]], size: int, fragment: int) -> Any:
    """Return when the last fragment leaves the last stage: each waits for the one before it and for its own turn."""
    free = [Fraction(0)] * len(line)
    for start in range(0, size, fragment):
        at = Fraction(0)
        for i, (_, latency, per_byte) in enumerate(line):
            at = free[i] = max(at, free[i]) + latency + min(fragment, size - start) * per_byte
    return free[-1]


def lines(count: int) -> Any:
    rng = random.Random(7)
    for _ in range(count):
        yield [
            ("s", Fraction(rng.randint(0, 30), 7), Fraction(rng.randint(0, 9), 11)) for _ in range(rng.randint(2, 3))
        ]


def test_whole_fragments_take_what_a_simulation_takes() -> None:
    for line in lines(40):
        for size, fragment in itertools.product((1, 7, 24, 25), (1, 2, 5, 8, 24, 30)):
            assert fragments_time(line, size, fragment) == simulated(line, size, fragment)


def test_the_closed_form_is_off_by_less_than_a_fragment() -> None:
    for line in lines(40):
        for size, fragment in itertools.product((24, 25, 31), (1, 5, 8)):
            exact = fragments_time(line, size, fragment)
            closed = pipeline_time(
                tuple((s, sp.Rational(a), sp.Rational(b)) for s, a, b in line), fragment, sp.Integer(size)
            )
            assert size % fragment or closed == sp.Rational(exact)
            one = sp.Rational(sum(a + fragment * b for _, a, b in line))
            assert abs(closed - sp.Rational(exact)) <= one


@pytest.mark.parametrize("slowest", ["d2h", "network", "h2d"])
def test_the_optimal_fragment_has_the_least_time(slowest: str) -> None:
    line = pipeline_stages(pinned=True)
    times = {name: a + n_f * b for name, a, b in line}
    time = sum(times.values()) + (n / n_f - 1) * times[slowest]
    best = optimal_fragment(line, slowest)
    assert sp.simplify(sp.diff(time, n_f).subs(n_f, best)) == 0
    assert sp.simplify(sp.diff(time, n_f, 2)).is_positive


@pytest.mark.parametrize("slowest", ["d2h", "network", "h2d"])
def test_fragments_pay_from_their_threshold_on(slowest: str) -> None:
    line = pipeline_stages()
    times = {name: a + n_f * b for name, a, b in line}
    pipelined = sum(times.values()) + (n / n_f - 1) * times[slowest]
    serial = sum(a + n * b for _, a, b in line)
    others = sum(b for name, _, b in line if name != slowest)
    assert sp.simplify(serial - pipelined - (n / n_f - 1) * others * (n_f - fragment_threshold(line, slowest))) == 0
    # A message as long as the threshold is best sent as one fragment; a longer one is not.
    assert optimal_fragment(line, slowest, fragment_threshold(line, slowest)) == fragment_threshold(line, slowest)


def test_the_best_fragment_in_whole_bytes() -> None:
    for line in lines(25):
        named = tuple((f"s{i}", a, b) for i, (_, a, b) in enumerate(line))
        for size in (1, 2, 13, 40):
            best = best_fragment({}, size, tuple((s, sp.Rational(a), sp.Rational(b)) for s, a, b in named))
            times = {f: fragments_time(line, size, f) for f in range(1, size + 1)}
            assert best.seconds == pytest.approx(float(min(times.values())), rel=1e-12)
            assert float(times[best.nbytes]) == pytest.approx(best.seconds, rel=1e-12)
            assert best.fragments == -(-size // best.nbytes)


def test_the_best_fragment_is_little_better_than_the_closed_form() -> None:
    # Whole fragments leave a short last one, with which the pipeline drains soon: sizes differ, times hardly do.
    values = {"alpha_d2h": 10e-6, "beta_d2h": 1 / 5e9, "alpha_h2d": 1e-6, "beta_h2d": 1 / 50e9}
    values |= {"alpha": 2e-6, "beta": 1 / 25e9}
    at = {SYMBOLS[k].symbol: v for k, v in values.items()}
    size = 16 << 20
    closed = round(float(optimal_fragment(slowest="d2h", nbytes=size).subs(at)))
    line = [(name, values[a.name], values[b.name]) for name, a, b in pipeline_stages()]
    best = best_fragment(values, size)
    assert best.seconds <= fragments_time(line, size, closed) <= 1.04 * best.seconds


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: best_fragment({}, 8), UnknownNameError, r"alpha_d2h \(latency of a copy .*, in s\)"),
        (lambda: best_fragment(dict.fromkeys(SYMBOLS, -1.0), 8), QuantityError, "not negative"),
        (lambda: best_fragment(dict.fromkeys(SYMBOLS, float("nan")), 8), QuantityError, "finite"),
        (lambda: best_fragment(dict.fromkeys(SYMBOLS, "1"), 8), QuantityError, "'1' was given"),
        (lambda: best_fragment(dict.fromkeys(SYMBOLS, True), 8), QuantityError, "True was given"),
        (lambda: best_fragment(None, 8), QuantityError, "a machine or a mapping"),
        (lambda: best_fragment(dict.fromkeys(SYMBOLS, 1.0), 0), QuantityError, "nbytes = 0"),
        (lambda: optimal_fragment(slowest="wire"), UnknownNameError, "Allowed: d2h, network, h2d"),
        (lambda: optimal_fragment(pipeline_stages(send="host"), "d2h"), UnknownNameError, "Allowed: network, h2d"),
        (lambda: pipeline_stages(send="host", recv="host"), QuantityError, "nothing to stage"),
        (lambda: pipeline_stages(LogGP()), QuantityError, r"a Hockney\(\) network"),  # type: ignore[arg-type]
        (lambda: pipeline_stages(pinned="yes"), QuantityError, "pinned must be True or False"),  # type: ignore[arg-type]
    ],
)
def test_wrong_pipelines_are_refused(make: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        make()


def test_a_pipeline_without_latencies_takes_single_bytes() -> None:
    free = {"alpha_d2h": 0, "alpha": 0, "alpha_h2d": 0, "beta_d2h": 1, "beta": 1, "beta_h2d": 1}
    assert best_fragment(free, 100) == (1, 100, 102.0)
