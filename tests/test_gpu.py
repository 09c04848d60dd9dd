"""Copies, device legs (Eq. 1), host bounce (Eq. 2), kernel terms (Eq. 3)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sp

from orrery_analytic.cost import evaluate
from orrery_analytic.errors import QuantityError, UnknownNameError
from orrery_analytic.gpu import device_leg, host_bounce, size_bands, t_d2h, t_h2d
from orrery_analytic.kernels import kernel_terms
from orrery_analytic.symbols import SYMBOLS, P, R, W, describe, n, t_launch, t_sync

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


@pytest.mark.parametrize("transport", ["gdr", "peer"])
def test_only_staged_legs_have_a_direction(transport: str) -> None:
    assert device_leg(n, "send", transport=transport, staging="directed") == device_leg(n, "recv", transport=transport)


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
    ],
)
def test_wrong_options_are_refused(options: dict[str, str], words: list[str]) -> None:
    with pytest.raises(UnknownNameError) as caught:
        device_leg(n, **{"end": "send", **options})
    assert all(word in str(caught.value) for word in words)


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
