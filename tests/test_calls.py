"""Calls put together: Eq. 2 for every collective, algorithm, place of buffers, transport and reading."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
import sympy as sp

from orrery_analytic.calls import collective_cost, device_cost, kernel_cost, p2p_cost
from orrery_analytic.collectives import list_algorithms, schedule
from orrery_analytic.collectives.formulas import network_cost
from orrery_analytic.collectives.registry import COMPOSED, find, formulas, resolve
from orrery_analytic.cost import Cost
from orrery_analytic.decisions import list_collectives
from orrery_analytic.errors import QuantityError, UnknownNameError
from orrery_analytic.gpu import best_fragment
from orrery_analytic.machines import load_machine
from orrery_analytic.networks import Hockney, LogGP, TwoLevel
from orrery_analytic.symbols import SYMBOLS, P, n, t_call

S = {name: info.symbol for name, info in SYMBOLS.items()}
NETWORKS = [Hockney(), LogGP()]
TRANSPORTS = [None, "staged", "gdr", "peer"]
STAGINGS = ["printed", "directed"]
REDUCTIONS = ["schedule", "printed"]
BUILT = [(collective, name) for collective in list_collectives() for name in list_algorithms(collective)]
REDUCING = {"allreduce", "reduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan"}

#: Bytes of send and receive buffer, written down from the MPI standard with n as the package counts it.
LEGS = {
    "allgather": (n, P * n),
    "allgatherv": (n, P * n),
    "alltoall": (P * n, P * n),
    "alltoallv": (P * n, P * n),
    "bcast": (n, n),
    "gather": (n, P * n),
    "scatter": (P * n, n),
}
#: Copies down and copies up, as coll/cuda of Open MPI 4.1 makes them.
BOUNCES = {
    "allreduce": ([n, n], [n]),
    "reduce": ([n, n], [n]),
    "scan": ([n, n], [n]),
    "exscan": ([n, n], [n]),
    "reduce_scatter_block": ([P * n, n], [n]),
    "reduce_scatter": ([n], [n / P]),
}


def d2h(m: sp.Expr) -> sp.Expr:
    return S["alpha_d2h"] + m * S["beta_d2h"]


def h2d(m: sp.Expr) -> sp.Expr:
    return S["alpha_h2d"] + m * S["beta_h2d"]


def peer(m: sp.Expr) -> sp.Expr:
    return S["alpha_peer"] + m * S["beta_peer"]


def named_parts(collective: str, algorithm: str) -> list[str] | None:
    """Return parts for an algorithm that is composed of others, for each the first that has a formula of its own."""
    composed = COMPOSED.get(resolve(collective, algorithm))
    if composed is None:
        return None
    return [f"{part.collective}:{next(iter(formulas(part.collective)))}" for part in composed if not part.algorithm]


@cache
def made(collective: str, algorithm: str, network: Any = None, banded: bool = False, **options: Any) -> Cost:
    bands = {"d2h": 2, "h2d": 3} if banded else None
    parts = named_parts(collective, algorithm)
    return collective_cost(collective, algorithm, network or Hockney(), parts=parts, bands=bands, **options)


def added(collective: str, transport: str | None, staging: str) -> dict[str, sp.Expr]:
    """Return what Eq. 2 adds to the network on device buffers."""
    if collective == "barrier":
        return {}
    if collective in BOUNCES:
        down, up = BOUNCES[collective]
        return {"call": t_call, "d2h": sum(map(d2h, down)), "h2d": sum(map(h2d, up))}
    sent, received = LEGS[collective]
    if transport == "staged":
        if staging == "directed":
            return {"call": t_call, "d2h": d2h(sent), "h2d": h2d(received)}
        return {"call": t_call, "d2h": d2h(sent) + d2h(received), "h2d": h2d(sent) + h2d(received)}
    if transport == "peer":
        return {"call": t_call, "peer": (peer(sent) if staging == "printed" else S["alpha_peer"]) + peer(received)}
    return {"call": t_call, "gdr": 2 * S["alpha_gdr"]}


def combinations() -> Iterator[dict[str, str | None]]:
    for transport, staging, reduction in itertools.product(TRANSPORTS, STAGINGS, REDUCTIONS):
        yield {"transport": transport, "staging": staging, "reduction": reduction}


def distinct(collective: str, algorithm: str, network: Any, **options: Any) -> list[Cost]:
    """Return the costs of all combinations, each once: many differ in what `validity` says only."""
    costs = [made(collective, algorithm, network, **options, **more) for more in combinations()]
    return list({tuple(cost.terms.items()): cost for cost in costs}.values())


def is_zero(e: sp.Expr) -> bool:
    return bool(sp.expand(e) == 0)


# Point to point


@pytest.mark.parametrize(("send", "recv"), list(itertools.product(["host", "device"], repeat=2)))
@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("staging", STAGINGS)
def test_a_message_is_leg_network_leg(send: str, recv: str, transport: str | None, staging: str) -> None:
    on_device = [send, recv].count("device")
    expected = {"latency": S["alpha"], "bandwidth": n * S["beta"]}
    if on_device and transport in (None, "gdr"):
        expected["gdr"] = on_device * S["alpha_gdr"]
    elif on_device and transport == "peer":
        once = n * S["beta_peer"] if staging == "directed" and send == "device" else 0
        expected["peer"] = on_device * peer(n) - once
    elif on_device and staging == "printed":
        expected |= {"d2h": on_device * d2h(n), "h2d": on_device * h2d(n)}
    elif on_device:
        expected |= {"d2h": d2h(n)} if send == "device" else {}
        expected |= {"h2d": h2d(n)} if recv == "device" else {}
    cost = p2p_cost(send=send, recv=recv, transport=transport, staging=staging)
    assert set(cost.terms) == set(expected)
    assert all(is_zero(cost.terms[name] - e) for name, e in expected.items())
    assert is_zero(cost.total - sum(expected.values()))


def test_a_message_under_loggp_is_one_way_without_a_gap() -> None:
    assert dict(p2p_cost(LogGP()).terms) == {"latency": S["L"] + 2 * S["o"], "bandwidth": (n - 1) * S["G"]}


@pytest.mark.parametrize(
    ("network", "values"),
    [
        (Hockney(), {"alpha": Fraction(3), "beta": Fraction(1, 7)}),
        (LogGP(), {"L": Fraction(3), "o": Fraction(1, 2), "g": Fraction(50), "G": Fraction(1, 7)}),
    ],
)
def test_a_message_is_what_its_schedule_takes(network: Any, values: dict[str, Fraction]) -> None:
    finish = max(schedule("bcast", "basic_linear", P=2, count=100, itemsize=1).finish(network, **values))
    at = {S[name]: sp.Rational(value) for name, value in values.items()} | {n: 100}
    assert p2p_cost(network).total.subs(at) == sp.Rational(finish)


def test_a_message_is_due_on_one_rank_too() -> None:
    # Only collectives cost nothing on one rank.
    assert p2p_cost()(P=1, n=1000, alpha=1e-6, beta=1e-9) == pytest.approx(2e-6)


def test_a_message_by_hand() -> None:
    # 10 us + 1 us a kB to the host, 20 us + 2 us a kB to the device, 5 us + 3 us a kB on the wire, for 4 kB.
    values = {"n": 4000, "alpha": 5e-6, "beta": 3e-9, "alpha_d2h": 10e-6, "beta_d2h": 1e-9}
    values |= {"alpha_h2d": 20e-6, "beta_h2d": 2e-9}
    printed = p2p_cost(send="device", recv="device", transport="staged")
    directed = p2p_cost(send="device", recv="device", transport="staged", staging="directed")
    assert printed(**values) == pytest.approx(2 * 14e-6 + 2 * 28e-6 + 17e-6)
    assert directed(**values) == pytest.approx(14e-6 + 28e-6 + 17e-6)


def test_a_message_inside_a_node_takes_the_network_it_is_given() -> None:
    cost = p2p_cost(Hockney(S["alpha_intra"], S["beta_intra"]), "device", "device", "peer")
    assert is_zero(cost.total - (S["alpha_intra"] + n * S["beta_intra"] + 2 * peer(n)))


def test_a_message_on_two_levels_is_refused() -> None:
    with pytest.raises(QuantityError, match=r"Hockney\(\) and LogGP\(\)"):
        p2p_cost(TwoLevel(4))  # type: ignore[arg-type]


# Protocols, limits, fragments

BOTH = {"send": "device", "recv": "device"}


def test_a_protocol_is_a_piece_with_its_switch_point() -> None:
    eager, large, auto = (p2p_cost(**BOTH, protocol=name) for name in ("eager", "rendezvous", "auto"))
    assert eager.terms["gdr"] == 2 * S["alpha_gdr"] + 2 * n * S["beta_eager"]
    assert large.terms["gdr"] == 2 * S["alpha_gdr"] + 2 * n * S["beta_gdr"]
    assert large.terms["latency"] == S["alpha"] + S["alpha_rndv"]
    assert eager.terms["latency"] == S["alpha"]
    for name, e in auto.terms.items():
        small = n <= S["s_rndv"]
        assert e == sp.Piecewise((eager.terms.get(name, 0), small), (large.terms.get(name, 0), True))


def test_host_buffers_have_protocols_too() -> None:
    assert p2p_cost(protocol="eager").terms == p2p_cost().terms
    assert p2p_cost(LogGP(), protocol="rendezvous").terms["latency"] == S["L"] + 2 * S["o"] + S["alpha_rndv"]


@pytest.mark.parametrize(("size", "micro"), [(8192, 3 + 0.8192 + 2 * 8.192), (8193, 5 + 0.8193 + 2 * 0.8193)])
def test_a_message_on_both_sides_of_the_switch(size: int, micro: float) -> None:
    # The example machine: 1 us and 0.1 ns/B, 1 us a leg; eager 1 ns/B a leg; rendezvous 2 us, 0.1 ns/B a leg.
    cost = p2p_cost(**BOTH, protocol="auto").at(load_machine("example"))
    assert cost(n=size) == pytest.approx(micro * 1e-6)


def test_an_eager_peer_message_is_copied_by_the_library() -> None:
    cost = p2p_cost(Hockney(S["alpha_intra"], S["beta_intra"]), **BOTH, transport="peer", protocol="auto")
    assert cost.terms["peer"] == sp.Piecewise((0, n <= S["s_rndv"]), (2 * peer(n), True))


def test_inside_a_node_the_bytes_move_once() -> None:
    nvlink = Hockney(S["alpha_intra"], 0)
    cost = p2p_cost(nvlink, **BOTH, transport="peer", staging="directed")
    assert is_zero(cost.total - S["alpha_intra"] - 2 * S["alpha_peer"] - n * S["beta_peer"])


@pytest.mark.parametrize(("size", "micro"), [(131_072, 3 + 13.1072), (131_073, 1 + 2 * 5 + 13.1073 + 2 * 6.55365)])
def test_gpudirect_hands_over_to_staging(size: int, micro: float) -> None:
    options = {**BOTH, "staging": "directed", "pinned": True}
    machine = load_machine("example").replace(gdr_limit="128 KiB")
    for limit in ("symbol", "128 KiB", 131_072):
        cost = p2p_cost(**options, gdr_limit=limit).at(machine)
        assert cost(n=size) == pytest.approx(micro * 1e-6)
    staged = p2p_cost(**options, transport="staged", gdr_limit=8)
    assert staged.terms == p2p_cost(**options, transport="staged").terms
    assert "gdr_limit has no effect" in staged.validity
    assert p2p_cost(gdr_limit=8).terms == p2p_cost().terms


def test_all_pieces_together_are_one_list() -> None:
    cost = p2p_cost(**BOTH, protocol="auto", gdr_limit="symbol", staging="pipelined", pinned=True)
    for name, e in cost.terms.items():
        assert name == "bandwidth" or len(e.atoms(sp.Piecewise)) == 1
    values = {
        **dict.fromkeys(cost.symbols, 1.0),
        "s_rndv": 10,
        "s_gdr": 100,
        "n_f": 200,
        "n": np.array([10, 100, 200, 400]),
    }
    seconds = cost(**values).tolist()
    assert seconds[0] == (1 + 10) + 2 * (1 + 10)
    assert seconds[1] == (1 + 100) + 1 + 2 * (1 + 100)
    assert seconds[2] == 3 * (1 + 200) + 1
    assert seconds[3] == 3 * (1 + 200) + (1 + 200) + 1


def test_staging_in_fragments_beats_all_at_once() -> None:
    machine = load_machine("musica")
    serial = p2p_cost(**BOTH, transport="staged", staging="directed").at(machine)
    for size in (1 << 20, 1 << 24, 1 << 28):
        best = best_fragment(machine, size)
        fragments = p2p_cost(**BOTH, transport="staged", staging="pipelined", fragment_bytes=best.nbytes).at(machine)
        assert best.seconds < serial(n=size)
        assert fragments(n=size) == pytest.approx(best.seconds, rel=0.05)
    assert fragments(n=100) == pytest.approx(serial(n=100), rel=1e-14)


# Collectives


def test_the_tables_here_cover_every_collective() -> None:
    assert set(LEGS) | set(BOUNCES) | {"barrier"} == set(list_collectives())


@pytest.mark.parametrize(("collective", "algorithm"), BUILT)
@pytest.mark.parametrize("network", NETWORKS, ids=["hockney", "loggp"])
def test_on_the_host_a_collective_is_its_messages(collective: str, algorithm: str, network: Any) -> None:
    parts = named_parts(collective, algorithm)
    assert made(collective, algorithm, network) == network_cost(collective, algorithm, network, parts=parts)
    own = {"alpha", "beta"} if isinstance(network, Hockney) else {"L", "o", "g", "G"}
    for options in combinations():
        cost = made(collective, algorithm, network, **options)
        assert set(cost.symbols) <= {"P", "n", "gamma", *own}
        assert cost.terms.keys() <= {"latency", "bandwidth", "gap", "reduce"}


@pytest.mark.parametrize(("collective", "algorithm"), BUILT)
@pytest.mark.parametrize("network", NETWORKS, ids=["hockney", "loggp"])
def test_on_the_device_eq_2_adds_its_terms(collective: str, algorithm: str, network: Any) -> None:
    for options in combinations():
        host = made(collective, algorithm, network, reduction=options["reduction"]).terms
        cost = made(collective, algorithm, network, buffers="device", **options)
        expected = added(collective, str(options["transport"]), str(options["staging"]))
        assert cost.terms.keys() == host.keys() | expected.keys()
        for name, e in cost.terms.items():
            assert is_zero(e - expected[name]) if name in expected else e == host[name]


@pytest.mark.parametrize(("collective", "algorithm"), BUILT)
@pytest.mark.parametrize("network", NETWORKS, ids=["hockney", "loggp"])
def test_terms_add_up_to_the_total(collective: str, algorithm: str, network: Any) -> None:
    costs = [
        cost for buffers in ("host", "device") for cost in distinct(collective, algorithm, network, buffers=buffers)
    ]
    costs.append(made(collective, algorithm, network, buffers="device", transport="staged", banded=True))
    for cost in costs:
        summed = sp.Add(*cost.terms.values())
        assert cost.total == summed or is_zero(cost.total - summed)


@pytest.mark.parametrize(("collective", "algorithm"), BUILT)
@pytest.mark.parametrize("network", NETWORKS, ids=["hockney", "loggp"])
def test_one_rank_costs_nothing(collective: str, algorithm: str, network: Any) -> None:
    for cost in distinct(collective, algorithm, network, buffers="device"):
        values = dict.fromkeys(cost.symbols, 2.0)
        one, two = (cost(**{**values, "P": np.array([1, 2]), "n": 64.0})).tolist()
        assert one == 0
        assert two > 0


@pytest.mark.parametrize("collective", list_collectives())
def test_terms_add_up_for_every_combination_of_options(collective: str) -> None:
    axes: dict[str, list[Any]] = {
        "buffers": ["host", "device", ("device", "host"), ("host", "device")],
        "transport": ["staged", "gdr", "peer"],
        "staging": STAGINGS,
        "in_place": [False] if collective in ("bcast", "barrier") else [False, True],
        "library": ["openmpi-4.1", "openmpi-5.0", "openmpi-6.0"],
        "rank": ["root", "other"],
        "gdr_limit": [None, "symbol"],
    }
    seen = set()
    for values in itertools.product(*axes.values()):
        cost = device_cost(collective, **dict(zip(axes, values, strict=True)))
        terms = tuple(cost.terms.items())
        if terms not in seen:
            seen.add(terms)
            assert cost.total == sp.Add(*cost.terms.values())
            assert cost.terms.keys() <= {"call", "d2h", "h2d", "gdr", "peer"}
    assert (len(seen) == 1) == (collective == "barrier")


@pytest.mark.parametrize(("collective", "algorithm"), BUILT)
def test_terms_add_up_where_the_library_bounces_small_calls(collective: str, algorithm: str) -> None:
    options: dict[str, Any] = {"buffers": "device", "library": "6.0", "gdr_limit": "symbol", "transport": "gdr"}
    cost, host = made(collective, algorithm, **options), made(collective, algorithm)
    more = device_cost(collective, **options).terms
    assert {name: host.terms.get(name, 0) + more.get(name, 0) for name in {**host.terms, **more}} == dict(cost.terms)
    summed = sp.Add(*cost.terms.values())
    assert cost.total == summed or is_zero(cost.total - summed)


@pytest.mark.parametrize(
    ("options", "down", "up"),
    [
        ({}, 2 * d2h(n), h2d(n)),
        ({"in_place": True}, d2h(n), h2d(n)),
        ({"buffers": ("device", "host")}, d2h(n), 0),
        ({"buffers": ("host", "device")}, d2h(n), h2d(n)),
    ],
)
def test_the_bounce_of_an_allreduce_follows_its_buffers(options: dict[str, Any], down: Any, up: Any) -> None:
    cost = made("allreduce", "ring", **{"buffers": "device", **options})
    assert is_zero(cost.terms["d2h"] - down)
    assert cost.terms.get("h2d", 0) == up
    assert is_zero(cost.total - made("allreduce", "ring").total - t_call - down - up)


def test_the_root_of_a_reduce_copies_more() -> None:
    root, other = (made("reduce", "binomial", buffers="device", rank=rank) for rank in ("root", "other"))
    assert is_zero(root.terms["d2h"] - 2 * d2h(n))
    assert root.terms["h2d"] == h2d(n)
    assert other.terms["d2h"] == d2h(n)
    assert "h2d" not in other.terms


def test_in_place_a_rank_has_one_buffer() -> None:
    assert device_cost("allgather", transport="peer", in_place=True).terms["peer"] == peer(P * n)
    assert device_cost("gather", transport="peer", in_place=True) == device_cost("gather", transport="peer")


@pytest.mark.parametrize("size", [65_536, 65_537])
def test_open_mpi_6_bounces_small_allgathers(size: int) -> None:
    # 4 ranks: one block and all four of them to the host, all four back, or two legs by GPUDirect; and the call.
    cost = device_cost("allgather", library="6.0")
    bounced = (1 + size) + (1 + 4 * size) + (1 + 4 * size) + 1
    ones = {**dict.fromkeys(cost.symbols, 1.0), "P": 4, "n": size}
    assert cost(**ones) == (bounced if size <= 65_536 else 3)


def test_pinned_legs_and_a_pageable_bounce() -> None:
    leg = device_cost("bcast", transport="staged", staging="directed", pinned=True)
    assert set(leg.symbols) >= {"alpha_pinned_d2h", "beta_pinned_h2d"}
    assert "pinned host memory" in leg.validity
    assert not any("pinned" in name for name in device_cost("allreduce", transport="staged", pinned=True).symbols)
    assert load_machine("musica").pinned


@pytest.mark.parametrize("collective", sorted(BOUNCES.keys() & dict(BUILT).keys()))
def test_the_printed_reduction_is_gamma_n(collective: str) -> None:
    for algorithm in list_algorithms(collective):
        for network in NETWORKS:
            cost = made(collective, algorithm, network, buffers="device", reduction="printed")
            other = made(collective, algorithm, network, buffers="device")
            m = P * n if collective == "reduce_scatter_block" else n
            assert cost.terms["reduce"] == m * S["gamma"]
            assert "as printed" in cost.validity
            rest = cost.terms.keys() - {"reduce"}
            assert {name: cost.terms[name] for name in rest} == {name: other.terms[name] for name in rest}


def test_what_does_not_reduce_has_no_printed_reduction() -> None:
    assert made("allgather", "ring", reduction="printed") == made("allgather", "ring")


def test_a_printed_reduction_takes_the_gamma_of_the_network() -> None:
    assert is_zero(made("allreduce", "ring").terms["reduce"] - n * (P - 1) / P * S["gamma"])  # the other reading
    network = Hockney(gamma=sp.Rational(1, 4))
    assert made("allreduce", "ring", network, reduction="printed").terms["reduce"] == n / 4


# By hand: 4 ranks, 4000 B in all or 1000 B a rank; 1 us + 1 us a kB on the wire, 0.5 us a reduced kB, 10 us + 0.1 us a
# kB to the host, 20 us + 0.2 us a kB to the device, 2 us a call, 3 us by GPUDirect, 4 us + 0.01 us a kB to a peer.
NUMBERS = {"alpha": 1e-6, "beta": 1e-9, "gamma": 0.5e-9, "t_call": 2e-6, "alpha_gdr": 3e-6}
NUMBERS |= {"alpha_d2h": 10e-6, "beta_d2h": 0.1e-9, "alpha_h2d": 20e-6, "beta_h2d": 0.2e-9}
NUMBERS |= {"alpha_peer": 4e-6, "beta_peer": 0.01e-9}
STAGED = {"transport": "staged"}
DIRECTED = {"transport": "staged", "staging": "directed"}


@pytest.mark.parametrize(
    ("call", "options", "size", "expected"),
    [
        # 2 (P - 1) messages of 1 kB, 3 kB reduced; bounce 2 * 10.4 down, 20.8 up.
        ("allreduce ring", {}, 4000, [("latency", 6), ("bandwidth", 6), ("reduce", 1.5), ("d2h", 20.8), ("h2d", 20.8)]),
        ("reduce linear", {}, 4000, [("latency", 3), ("bandwidth", 12), ("reduce", 6), ("d2h", 20.8), ("h2d", 20.8)]),
        ("allgather ring", {}, 1000, [("latency", 3), ("bandwidth", 3), ("gdr", 6)]),
        ("allgatherv ring", {"transport": "peer"}, 1000, [("latency", 3), ("bandwidth", 3), ("peer", 8.05)]),
        # 1 kB and 4 kB: 10.1 + 10.4 down, 20.2 + 20.8 up.
        ("allgather ring", STAGED, 1000, [("latency", 3), ("bandwidth", 3), ("d2h", 20.5), ("h2d", 41)]),
        ("allgather ring", DIRECTED, 1000, [("latency", 3), ("bandwidth", 3), ("d2h", 10.1), ("h2d", 20.8)]),
        ("bcast binomial", STAGED, 4000, [("latency", 2), ("bandwidth", 8), ("d2h", 20.8), ("h2d", 41.6)]),
        ("barrier bruck", STAGED, 1, [("latency", 2)]),
    ],
)
def test_a_collective_by_hand(call: str, options: dict[str, str], size: int, expected: list[tuple[str, float]]) -> None:
    micro = dict(expected) if call.startswith("barrier") else {"call": 2, **dict(expected)}
    cost = collective_cost(*call.split(), buffers="device", **options)  # type: ignore[arg-type]
    needed = {name: value for name, value in NUMBERS.items() if name in cost.symbols}
    seconds = cost.values(P=4, n=size, **needed)
    assert {name: float(1e6 * t) for name, t in seconds.items() if name != "total"} == pytest.approx(micro)
    assert float(1e6 * seconds["total"]) == pytest.approx(sum(micro.values()))


def test_options_of_the_algorithm_go_through() -> None:
    for options in [{"segment_bytes": "symbol"}, {"segment_bytes": 4096, "fan": 4}]:
        assert made("bcast", "chain", **options) == network_cost("bcast", "chain", **options)
    assert made("bcast", "knomial", radix=8) == network_cost("bcast", "knomial", radix=8)
    parts = ("reduce:linear", "bcast:pipeline")
    cost = collective_cost("allreduce", "nonoverlapping", buffers="device", parts=parts)
    two = network_cost("reduce", "linear") + network_cost("bcast", "pipeline")
    assert cost.terms["latency"] == two.terms["latency"]
    assert cost.terms["d2h"] == 2 * d2h(n)  # one bounce: the parts work on host buffers


@pytest.mark.parametrize("root", [0, 1, 7, np.int64(3)])
def test_the_root_changes_nothing(root: int) -> None:
    assert made("bcast", "binomial", root=root) == made("bcast", "binomial")
    for algorithm, network in itertools.product(formulas("reduce"), NETWORKS):
        assert made("reduce", algorithm, network, root=root).terms == made("reduce", algorithm, network).terms


@pytest.mark.parametrize("gap", [Fraction(1, 2), Fraction(5), Fraction(40)])
def test_linear_reduce_to_another_root_is_below_its_formula(gap: Fraction) -> None:
    network, size = LogGP(), 24
    values = {"L": Fraction(3), "o": Fraction(1), "g": gap, "G": Fraction(1, 7), "gamma": Fraction(1, 11)}
    assert "root other than 0: under LogGP an upper bound" in made("reduce", "linear", network, root=1).validity
    for ranks in range(2, 9):
        formula = made("reduce", "linear", network)(P=ranks, n=size, **values)
        finish = [
            float(max(schedule("reduce", "linear", P=ranks, count=size, itemsize=1, root=r).finish(network, **values)))
            for r in range(ranks)
        ]
        assert finish[0] == pytest.approx(formula)
        assert all(seconds <= formula * (1 + 1e-12) for seconds in finish)
        assert ranks < 3 or (min(finish) < formula * (1 - 1e-9)) == (gap > 1)


def shift(algorithm: str, ranks: int, root: int) -> Fraction:
    """Return what validity says that a root adds to a reduce of 24 B, with alpha = 1 and beta = 1 / 7."""
    power = 1 << (ranks.bit_length() - 1)
    if algorithm == "in-order_binary" and root == ranks - 1:
        return -(1 + Fraction(24, 7))
    if algorithm == "rabenseifner" and root % 2 and root < 2 * (ranks - power):
        return 1 + Fraction(24 // power, 7)
    return Fraction(0)


@pytest.mark.parametrize("collective", ["bcast", "reduce", "gather", "scatter"])
def test_another_root_changes_a_schedule_as_validity_says(collective: str) -> None:
    values = {"alpha": Fraction(1), "beta": Fraction(1, 7), "gamma": Fraction(1, 11)}
    for algorithm, ranks in itertools.product(list_algorithms(collective), range(2, 9)):
        if not find(collective, algorithm).exists(ranks):
            continue
        times = [
            max(schedule(collective, algorithm, P=ranks, count=24, itemsize=1, root=r).finish(Hockney(), **values))
            for r in range(ranks)
        ]
        added = [shift(algorithm, ranks, root) if collective == "reduce" else 0 for root in range(ranks)]
        assert times == [times[0] + more for more in added]


def test_validity_speaks_of_another_root_where_it_matters() -> None:
    told = {name for name in formulas("reduce") if "root" in made("reduce", name, root=1).validity}
    assert told == {"linear", "in-order_binary", "rabenseifner"} & formulas("reduce").keys()
    assert not any("root" in made("bcast", name, root=1).validity for name in ("binomial", "chain", "basic_linear"))


# What validity says


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        (p2p_cost(transport="staged"), "transport 'staged' has no effect"),
        (p2p_cost(send="device", transport="staged"), "d2h + h2d on each leg"),
        (p2p_cost(send="device"), "GPUDirect RDMA"),
        (made("bcast", "binomial", transport="peer"), "transport 'peer' has no effect"),
        (made("bcast", "binomial", buffers="device", transport="peer"), "NVLink or PCIe"),
        (made("allreduce", "ring", buffers="device", transport="peer"), "the transport plays no part"),
        (made("allreduce", "ring", buffers="device", staging="directed"), "staging 'directed' has no effect"),
        (
            made("allreduce", "ring", buffers="device", transport="gdr", staging="directed", pinned=True),
            "transport 'gdr' and staging 'directed' and pinned have no effect",
        ),
        (made("bcast", "binomial", buffers="device", staging="directed"), "staging 'directed' has no effect"),
        (made("bcast", "binomial", buffers="device", transport="peer", pinned=True), "pinned has no effect"),
        (made("bcast", "binomial", pinned=True), "pinned has no effect: there are no device buffers"),
        (made("barrier", "tree", buffers="device", transport="peer"), "barrier has no buffers"),
    ],
)
def test_validity_says_what_is_assumed(cost: Cost, words: str) -> None:
    assert words in cost.validity


def test_validity_of_host_buffers_does_not_speak_of_devices() -> None:
    assert "device" not in p2p_cost().validity + made("allreduce", "ring").validity


# Size bands of a machine: up to 64 KiB 5 us + 0.2 ns a byte, beyond 10 us + 0.125 ns a byte, both ways


@pytest.mark.parametrize(
    ("size", "copy"), [(40_000, 13e-6), (65_536, 18.1072e-6), (65_537, 18.192125e-6), (80_000, 20e-6)]
)
def test_a_message_on_a_banded_machine(size: int, copy: float) -> None:
    machine = load_machine("example")
    cost = p2p_cost(send="device", recv="device", transport="staged", staging="directed", bands=machine.bands)
    expected = 2 * copy + 1e-6 + size * 0.1e-9
    assert cost.at(machine)(n=size) == pytest.approx(expected)
    assert float(cost.at(machine, n=size).total) == pytest.approx(expected)


def test_buffers_of_a_collective_may_lie_in_different_bands() -> None:
    machine = load_machine("example")
    cost = collective_cost("allgather", "ring", buffers="device", transport="staged", bands=machine.bands).at(machine)
    seconds = cost.values(P=4, n=40_000)  # 40 kB sent: 13 us; 160 kB received: 30 us
    assert float(seconds["d2h"]) == pytest.approx(43e-6)
    assert float(seconds["h2d"]) == pytest.approx(43e-6)
    assert float(seconds["total"]) == pytest.approx(86e-6 + 1e-6 + 3 * 5e-6)


def warned(cost: Cost, machine: Any, **values: float) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cost.at(machine, **values)
    assert all(w.category is UserWarning and w.filename == __file__ for w in caught)
    return [str(w.message) for w in caught]


def test_one_band_on_a_banded_machine_warns() -> None:
    cost = p2p_cost(send="device", transport="staged", staging="directed")
    (message,) = warned(cost, load_machine("example"))
    assert "example has 2 size band(s) of d2h copies, this cost is for 1" in message
    assert "largest sizes" in message
    assert "bands=machine.bands" in message


@pytest.mark.parametrize(("bands", "words"), [(3, "example has 2 size band(s) of h2d copies, this cost is for 3")])
def test_other_bands_than_the_machine_has_warn(bands: int, words: str) -> None:
    cost = p2p_cost(recv="device", transport="staged", staging="directed", bands={"h2d": bands})
    (message,) = warned(cost, load_machine("example"))
    assert words in message
    assert "they do not fit" in message


def test_bands_of_pinned_copies_are_their_own() -> None:
    bands = [{"up_to": 1024, "latency": 1e-6, "bandwidth": 1e9}, {"latency": 2e-6, "bandwidth": 2e9}]
    machine = load_machine("musica").replace(pinned_d2h_bands=bands)
    cost = p2p_cost(send="device", transport="staged", staging="directed", pinned=True)
    (message,) = warned(cost, machine)
    assert "2 size band(s) of pinned_d2h copies" in message
    fits = p2p_cost(send="device", transport="staged", staging="directed", pinned=True, bands=machine.bands)
    assert warned(fits, machine) == []
    assert warned(p2p_cost(send="device", transport="staged", staging="directed"), machine) == []


def test_nothing_warns_where_no_band_is_lost() -> None:
    machine = load_machine("example")
    staged = p2p_cost(send="device", transport="staged", staging="directed")
    assert warned(p2p_cost(send="device", transport="staged", bands=machine.bands), machine) == []
    assert warned(p2p_cost(send="device"), machine) == []
    assert warned(staged, machine, alpha_d2h=1e-6, beta_d2h=1e-9) == []
    assert warned(staged, machine.replace(d2h_latency="5 us")) == []
    assert warned(staged, machine.parameters) == []


# Kernels


def test_a_kernel_by_hand() -> None:
    cost = kernel_cost()
    assert list(cost.terms) == ["launch", "compute", "sync"]
    assert cost(W=2e6, R=1e12, t_launch=3e-6, t_sync=4e-6) == pytest.approx(9e-6)
    assert list(kernel_cost(1e6, sync=False).terms) == ["launch", "compute"]
    assert float((3 * kernel_cost(1e6, sync=False) + kernel_cost(1e6)).at(load_machine("example")).total) == (
        pytest.approx(4 * 6e-6 + 5e-6)
    )


def test_a_kernel_and_a_call_add_term_by_term() -> None:
    step = kernel_cost() + made("allreduce", "ring", buffers="device")
    values = dict.fromkeys(step.symbols, 1.0)
    assert step(**{**values, "P": 1}) == 3  # launch, compute, sync: one rank computes, and need not communicate


# Errors


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: p2p_cost(send="gpu"), UnknownNameError, ["place of a buffer 'gpu'", "host, device"]),
        (lambda: p2p_cost(transport="gds"), UnknownNameError, ["transport 'gds'", "Did you mean 'gdr'?"]),
        (lambda: p2p_cost(staging="as printed"), UnknownNameError, ["staging", "Did you mean 'printed'?"]),
        (lambda: p2p_cost(bands={"d2h": 0}), QuantityError, ["bands['d2h']"]),
        (lambda: made("allreduce", "ring", buffers="devise"), UnknownNameError, ["Did you mean 'device'?"]),
        (lambda: made("allreduce", "ring", transport="pear"), UnknownNameError, ["Did you mean 'peer'?"]),
        (lambda: made("allreduce", "ring", staging="direct"), UnknownNameError, ["Did you mean 'directed'?"]),
        (lambda: made("allreduce", "ring", reduction="print"), UnknownNameError, ["Did you mean 'printed'?"]),
        (lambda: collective_cost("allreduce", "ring", bands={"h2d": -1}), QuantityError, ["bands['h2d']", "-1"]),
        (lambda: made("allreduce", "ring", root=-1), QuantityError, ["root", "-1"]),
        (lambda: made("bcast", "binomial", root=1.5), QuantityError, ["root", "1.5"]),
        (lambda: made("bcast", "binomial", root="first"), QuantityError, ["root", "first"]),
        (lambda: made("allreduce", "rings"), UnknownNameError, ["Did you mean 'ring'?"]),
        (lambda: made("all_reduce", "ring"), UnknownNameError, ["Did you mean 'allreduce'?"]),
        (lambda: collective_cost("allreduce", "nonoverlapping"), UnknownNameError, ["parts="]),
        (lambda: made("allreduce", "ring", library="4.2"), UnknownNameError, ["unknown library '4.2'", "openmpi-4.1"]),
        (lambda: made("allreduce", "ring", rank=0), UnknownNameError, ["rank 0", "root, other"]),
        (lambda: made("allreduce", "ring", in_place="yes"), QuantityError, ["in_place must be True or False"]),
        (lambda: made("allreduce", "ring", pinned=None), QuantityError, ["pinned must be True or False"]),
        (lambda: made("allreduce", "ring", gdr_limit=-5), QuantityError, ["gdr_limit = -5"]),
        (lambda: made("allreduce", "ring", staging="pipelined"), UnknownNameError, ["printed, directed"]),
        (lambda: p2p_cost(protocol="lazy"), UnknownNameError, ["eager, rendezvous, auto"]),
        (lambda: p2p_cost(protocol=True), UnknownNameError, ["protocol True"]),
        (lambda: p2p_cost(staging="pipeline"), UnknownNameError, ["Did you mean 'pipelined'?"]),
        (lambda: p2p_cost(fragment_bytes=0), QuantityError, ["fragment_bytes = 0"]),
        (lambda: p2p_cost(fragment_bytes="512 GB/s"), QuantityError, ["fragment_bytes", "wrong kind of unit"]),
        (lambda: p2p_cost(gdr_limit="300 us"), QuantityError, ["gdr_limit", "wrong kind of unit"]),
        (lambda: p2p_cost(pinned=2), QuantityError, ["pinned must be True or False"]),
        (lambda: kernel_cost("1 MiB"), QuantityError, ["work must be bytes", "'1 MiB'"]),
    ],
)
def test_wrong_options_are_refused(make: Any, error: type[Exception], words: list[str]) -> None:
    with pytest.raises(error) as caught:
        make()
    assert all(word in str(caught.value) for word in words)
