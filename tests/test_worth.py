"""When it is worth it: thresholds in closed form, against evaluation of both costs around them."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp

from orrery_analytic.calls import (
    Threshold,
    bounce_threshold,
    by_hand_cost,
    collective_cost,
    device_cost,
    p2p_cost,
    staging_threshold,
)
from orrery_analytic.errors import OrreryError, QuantityError
from orrery_analytic.machines import Machine, load_machine
from orrery_analytic.symbols import SYMBOLS, n

S = {name: info.symbol for name, info in SYMBOLS.items()}
BOTH = {"send": "device", "recv": "device"}


@pytest.fixture(scope="module")
def slow() -> Machine:
    """Return a machine whose GPUDirect is slow: 3.84 GB/s, as in openucx/ucx issue 9287."""
    return load_machine("musica").replace(gdr_gap_per_byte="0.11 ns/B")


def test_gpudirect_against_staging_is_a_clean_fraction() -> None:
    found = staging_threshold()
    starts = S["alpha_d2h"] + S["alpha_h2d"] - 2 * S["alpha_gdr"]
    slopes = 2 * S["beta_gdr"] - S["beta_d2h"] - S["beta_h2d"]
    assert sp.simplify(found.size - starts / slopes) == 0
    assert (found.below, found.above) == ("gdr", "staged")
    assert found.where == sp.And(starts > 0, slopes > 0) or found.where == sp.And(-starts < 0, slopes > 0)


def test_one_device_buffer_counts_one_leg() -> None:
    found = staging_threshold(recv="host", pinned=True)
    starts = S["alpha_pinned_d2h"] - S["alpha_gdr"]
    assert sp.simplify(found.size - starts / (S["beta_gdr"] - S["beta_pinned_d2h"])) == 0


@pytest.mark.parametrize("fragment", [None, "512 KiB", 65_536])
def test_around_the_best_limit_both_cost_the_same(slow: Machine, fragment: Any) -> None:
    found = staging_threshold(slow, pinned=True, fragment_bytes=fragment)
    assert (found.below, found.above) == ("gdr", "staged")
    direct = p2p_cost(**BOTH, protocol="rendezvous").at(slow)
    options = {"staging": "pipelined", "fragment_bytes": fragment} if fragment else {"staging": "directed"}
    staged = p2p_cost(**BOTH, transport="staged", protocol="rendezvous", pinned=True, **options).at(slow)
    size = float(found.size)
    assert direct(n=size) == pytest.approx(staged(n=size), rel=1e-9)
    assert direct(n=0.9 * size) < staged(n=0.9 * size)
    assert direct(n=1.1 * size) > staged(n=1.1 * size)


def test_a_threshold_within_a_fragment_is_that_of_staging_at_once(slow: Machine) -> None:
    assert staging_threshold(slow, pinned=True, fragment_bytes="512 KiB") == staging_threshold(slow, pinned=True)
    assert staging_threshold(slow, pinned=True, fragment_bytes="64 KiB").size > 64 * 1024


def test_a_threshold_in_fragments_has_the_slowest_stage_in_it(slow: Machine) -> None:
    found = staging_threshold(pinned=True, fragment_bytes="symbol")
    assert len(found.size.atoms(sp.Max)) == 1
    at = {s: slow.parameters[s.name] for s in found.size.free_symbols if s.name != "n_f"} | {S["n_f"]: 65_536}
    numbers = staging_threshold(slow, pinned=True, fragment_bytes=65_536)
    assert float(found.size.subs(at)) == pytest.approx(float(numbers.size), rel=1e-9)


def test_fragments_that_do_not_pay_leave_gpudirect_ahead() -> None:
    # All at once staging would win from 100 B on; but it is cut into fragments of 10 B, each with a latency of 50 s.
    values = {"alpha": 50, "beta": 0, "alpha_rndv": 0, "alpha_gdr": 0, "beta_gdr": 0.5}
    values |= {"alpha_d2h": 50, "alpha_h2d": 50, "beta_d2h": 0, "beta_h2d": 0}
    assert float(staging_threshold(values).size) == 100
    assert staging_threshold(values, fragment_bytes=10) == Threshold(sp.oo, "gdr", "gdr")


def test_the_limit_makes_the_message_the_cheaper_of_the_two(slow: Machine) -> None:
    size = staging_threshold(slow, pinned=True).size
    options = {**BOTH, "protocol": "rendezvous", "staging": "directed", "pinned": True}
    limited = p2p_cost(**options, gdr_limit=int(size)).at(slow)
    ways = [p2p_cost(**options, transport=way).at(slow) for way in ("gdr", "staged")]
    for nbytes in (1, 10_000, 75_000, 76_000, 10**6):
        assert limited(n=nbytes) == pytest.approx(min(way(n=nbytes) for way in ways), rel=1e-14)


def test_where_gpudirect_keeps_up_there_is_no_limit() -> None:
    found = staging_threshold(load_machine("musica"))
    assert found == Threshold(sp.oo, "gdr", "gdr")
    assert str(found) == "gdr, whatever the size"


def test_a_threshold_says_what_is_cheaper_where() -> None:
    values = {"alpha_d2h": 1, "alpha_h2d": 1, "alpha_gdr": 2, "alpha": 1, "alpha_rndv": 1, "beta": 1, "beta_gdr": 0.0}
    found = staging_threshold({**values, "beta_d2h": 0.25, "beta_h2d": 0.25})
    assert (float(found.size), found.below, found.above) == (4.0, "staged", "gdr")
    assert str(found) == "staged up to 4 B, gdr above"
    assert "where" in str(staging_threshold())


# The library's bounce against two copies by hand


def test_by_hand_is_a_host_collective_and_two_copies() -> None:
    cost = by_hand_cost("allgather", "ring")
    host = collective_cost("allgather", "ring")
    assert cost.terms["d2h"] == S["alpha_pinned_d2h"] + n * S["beta_pinned_d2h"]
    assert cost.terms["h2d"] == S["alpha_pinned_h2d"] + S["P"] * n * S["beta_pinned_h2d"]
    assert {name: cost.terms[name] for name in host.terms} == dict(host.terms)
    assert by_hand_cost("barrier", "bruck").terms == collective_cost("barrier", "bruck").terms
    assert "pageable" in by_hand_cost("bcast", "binomial", pinned=False).validity
    values = dict.fromkeys(cost.symbols, 1.0)
    assert cost(**{**values, "P": 1}) == 0


def test_two_copies_beat_three_whatever_the_size() -> None:
    assert bounce_threshold("allreduce", load_machine("musica")) == Threshold(sp.oo, "by hand", "by hand")


def test_the_bounce_wins_small_messages_if_pinned_copies_start_late() -> None:
    machine = load_machine("musica").replace(pinned_d2h_latency="40 us", pinned_h2d_latency="40 us")
    found = bounce_threshold("allreduce", machine)
    assert (found.below, found.above) == ("library", "by hand")
    size = float(found.size)
    costs = collective_cost("allreduce", "ring", buffers="device"), by_hand_cost("allreduce", "ring")
    ways = [cost.at(machine, P=16) for cost in costs]
    assert ways[0](n=size) == pytest.approx(ways[1](n=size), rel=1e-9)
    assert ways[0](n=size / 2) < ways[1](n=size / 2)


def test_in_place_the_library_copies_as_much_as_a_program() -> None:
    found = bounce_threshold("allreduce", pinned=False, in_place=True)
    assert found == Threshold(sp.oo, "library", "library", sp.Lt(S["t_call"], 0))  # the call alone is left: never
    assert bounce_threshold("reduce", load_machine("musica"), pinned=False, in_place=True).below == "by hand"


def test_legs_grow_with_the_ranks_by_hand_alone() -> None:
    found = bounce_threshold("allgather", load_machine("musica"), P=128)
    assert (found.below, found.above) == ("library", "library")
    slow = load_machine("musica").replace(gdr_latency="100 us")
    few, many = (float(bounce_threshold("allgather", slow, P=ranks).size) for ranks in (4, 128))
    assert few > many > 0
    assert bounce_threshold("allgather", slow, P=4).below == "by hand"


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: bounce_threshold("allgather", library="6.0"), "no straight line|is none"),
        (lambda: bounce_threshold("allreduce", 7), "a machine, its name, or a mapping"),
        (lambda: bounce_threshold("all"), "unknown collective"),
        (lambda: bounce_threshold("allreduce", pinned=1), "pinned must be"),
        (lambda: bounce_threshold("allreduce", load_machine("musica"), P=0.5), "P counts ranks"),
        (lambda: staging_threshold(send="host", recv="host", fragment_bytes=8), "nothing to stage"),
        (lambda: staging_threshold(fragment_bytes=-1), "fragment_bytes"),
        (lambda: by_hand_cost("bcast", "rings"), "unknown bcast algorithm"),
    ],
)
def test_wrong_questions_are_refused(make: Any, words: str) -> None:
    with pytest.raises(OrreryError, match=words):
        make()


def test_size_bands_have_no_single_threshold() -> None:
    with pytest.raises(QuantityError, match="one size band"):
        bounce_threshold("allreduce", bands={"d2h": 2, "h2d": 2})
    assert len(device_cost("allreduce", bands={"d2h": 2, "h2d": 2}).terms["d2h"].atoms(sp.Piecewise)) == 1
