"""Quantities at the boundary: exact conversion, refusals that teach, short readable text."""

from __future__ import annotations

import math
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pint
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

import orrery_analytic as oa
from orrery_analytic import units
from orrery_analytic.errors import OrreryError, QuantityError, UnknownNameError
from orrery_analytic.units import UNITS, in_si, readable, to_si

OTHER_REGISTRY = pint.UnitRegistry()


@pytest.mark.parametrize(
    ("text", "unit", "si"),
    [
        ("2.1 us", "s", 2.1e-6),
        ("2.1us", "s", 2.1e-6),
        (" 2.1  us ", "s", 2.1e-6),
        ("2.1 \N{MICRO SIGN}s", "s", 2.1e-6),
        ("2.1 \N{GREEK SMALL LETTER MU}s", "s", 2.1e-6),
        ("63.4e3 ns", "s", 63.4e-6),
        (".5 ms", "s", 0.5e-3),
        ("+3. s", "s", 3.0),
        ("0 s", "s", 0.0),
        ("24.3 GB/s", "B/s", 24.3e9),
        ("1 GiB/s", "B/s", float(2**30)),
        ("200 Gbit/s", "B/s", 25e9),
        ("24 kB/us", "B/s", 24e9),
        ("1 MiB", "B", float(2**20)),
        ("1 MB", "B", 1e6),
        ("8 bit", "B", 1.0),
        ("3 bytes", "B", 3.0),
        ("0.04 ns/B", "s/B", 4e-11),
        ("1 s/GiB", "s/B", 1 / 2**30),
        ("33.5 Tflop/s", "flop/s", 33.5e12),
    ],
)
def test_text_is_converted_to_the_nearest_float(text: str, unit: str, si: float) -> None:
    assert to_si(text, unit, "x") == si


@pytest.mark.parametrize("value", [2, 2.0, Fraction(2), np.float64(2), np.int32(2)])
def test_plain_numbers_are_si(value: object) -> None:
    si = to_si(value, "B/s", "x")
    assert si == 2.0
    assert type(si) is float


def test_quantities_of_any_pint_registry() -> None:
    assert to_si(OTHER_REGISTRY.Quantity(25, "GB/s"), "B/s", "x") == pytest.approx(25e9, rel=1e-15)
    assert to_si(OTHER_REGISTRY.Quantity(2, "microsecond"), "s", "x") == pytest.approx(2e-6, rel=1e-15)
    for wrong in (OTHER_REGISTRY.Quantity(2, "m"), OTHER_REGISTRY.Quantity([1.0, 2.0], "s")):
        with pytest.raises(QuantityError, match=r"x = <Quantity.*Allowed: a time"):
            to_si(wrong, "s", "x")


@pytest.mark.parametrize(
    ("value", "unit", "words"),
    [
        ("2.1 GB/s", "s", ["latency = '2.1 GB/s'", "wrong kind of unit", "Allowed: a time", "'2.1 us'"]),
        ("2.1", "s", ["a number without a unit", "'2.1 us'"]),
        ("us", "s", ["no number followed by a unit"]),
        ("", "s", ["latency = ''", "no number followed by a unit"]),
        ("24 gb/s", "B/s", ["'GB/s'", "'GiB/s'", "'Gbit/s'", "'24.3 GB/s'"]),
        ("24 GBps", "B/s", ["'GB/s'", "'Gbit/s'"]),
        ("24 Gb/s", "B/s", ["'GB/s'", "'Gbit/s'"]),
        ("24 Gbits/sec", "B/s", ["Did you mean 'Gbit/s'?"]),
        ("1 KB", "B", ["'kB'", "'KiB'", "powers of 1024"]),
        ("1 mb", "B", ["'MB'", "'MiB'", "'Mbit'"]),
        ("2 Ms", "s", ["Did you mean 'ms'?"]),
        ("2 usec", "s", ["Did you mean 'us'?"]),
        ("2 parsec", "s", ["not known here, 'parsec'. Allowed"]),
        ("-1 us", "s", ["is negative"]),
        (-1.0, "s", ["latency = -1.0 is negative"]),
        ("nan us", "s", ["no number"]),
        (math.nan, "s", ["nan is not finite"]),
        (math.inf, "s", ["inf is not finite"]),
        ("1e999 s", "s", ["is not finite"]),
        (True, "s", ["True is not one number"]),
        (None, "s", ["None is not one number"]),
        ([1.0], "s", ["not one number"]),
        ("\u0663 us", "s", ["no number"]),
        ("1_0 us", "s", ["no number"]),
    ],
)
def test_refusals_teach(value: object, unit: str, words: list[str]) -> None:
    with pytest.raises(QuantityError) as caught:
        to_si(value, unit, "latency")
    for word in ["latency = ", "Allowed: ", *words]:
        assert word in str(caught.value)


def test_numbers_too_large_to_print() -> None:
    with pytest.raises(QuantityError, match="x = a very large int is not finite"):
        to_si(10**5000, "s", "x")


def test_zero_is_refused_where_it_must_be_positive() -> None:
    assert to_si("0 GB/s", "B/s", "bandwidth") == 0
    with pytest.raises(QuantityError, match=r"bandwidth = '0 GB/s' must be more than zero"):
        to_si("0 GB/s", "B/s", "bandwidth", positive=True)
    with pytest.raises(QuantityError, match="more than zero"):
        to_si("1e-400 B/s", "B/s", "bandwidth", positive=True)


@pytest.mark.parametrize(
    "text", ["2**9999999 s", "__import__('os') s", "1 s**9", "1 us*us", "9**9**9 s", "(1) s", "1 B/s/s", "1 /s"]
)
def test_nothing_is_evaluated(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: object) -> None:
        raise AssertionError("text reached pint")

    monkeypatch.setattr(units, "_factor", forbidden)
    with pytest.raises(QuantityError):
        to_si(text, "s", "x")


def test_long_text_is_cut_in_the_message() -> None:
    with pytest.raises(QuantityError) as caught:
        to_si("1 us " * 10_000, "s", "x")
    assert len(str(caught.value)) < 400


def test_unknown_target_unit() -> None:
    with pytest.raises(UnknownNameError, match="unknown unit 'm'"):
        to_si("1 m", "m", "x")


# The first example loads pint, which takes longer than Hypothesis allows an example.
@settings(deadline=None)
@given(st.text(max_size=40) | st.from_regex(r"[0-9.e+-]{0,6} ?[a-zA-Z]{0,4}(/[a-zA-Z]{0,4})?", fullmatch=True))
def test_any_text_is_a_number_or_our_error(text: str) -> None:
    for unit in UNITS:
        try:
            outcome: float | str = to_si(text, unit, "x")
        except OrreryError as error:
            outcome = str(error)
        assert "Allowed: " in outcome if isinstance(outcome, str) else 0 <= outcome < math.inf


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1.9e-6, "s", "1.9 us"),
        (999.9996e-6, "s", "1 ms"),
        (999.4e-9, "s", "999 ns"),
        (1e-6, "s", "1 us"),
        (0.0, "s", "0 s"),
        (1200.0, "s", "1200 s"),
        (1e-13, "s", "0.1 ps"),
        (-1.9e-6, "s", "-1.9 us"),
        (math.nan, "s", "nan s"),
        (24.3e9, "B/s", "24.3 GB/s"),
        (2.9e12, "B/s", "2.9 TB/s"),
        (1 / 24.7e9, "s/B", "40.5 ps/B"),
        (65536, "B", "64 KiB"),
        (np.int64(2**20), "B", "1 MiB"),
        (3 * 2**30, "B", "3 GiB"),
        (1023 * 1024, "B", "1023 KiB"),
        (1500, "B", "1.5 kB"),
        (1000, "B", "1 kB"),
        (256, "B", "256 B"),
        (123_456 * 1024, "B", "126 MB"),
        (0, "B", "0 B"),
        (128, "1", "128"),
    ],
)
def test_readable(value: float, unit: str, text: str) -> None:
    assert readable(value, unit) == text


def test_readable_refuses_other_units() -> None:
    with pytest.raises(UnknownNameError, match="unknown unit 'us'"):
        readable(1.0, "us")


@settings(deadline=None)
@given(st.sampled_from(UNITS), st.floats(1e-12, 1e14))
def test_readable_text_reads_back_to_three_digits(unit: str, value: float) -> None:
    back = to_si(readable(value, unit), unit, "x")
    assert back == pytest.approx(value, rel=5.1e-3)


def test_pint_waits_until_it_is_needed() -> None:
    code = "import sys, orrery_analytic.units as u; u.readable(1e-6, 's'); assert 'pint' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


MIB = pint.UnitRegistry().Quantity(1, "MiB")


@pytest.mark.parametrize(
    ("given_", "found"),
    [
        ("1 MiB", 2**20),
        (["1 KiB", 64, "2 kB"], [1024, 64, 2000]),
        (("1 B",), [1]),
        (MIB, 2**20),
        ([MIB, 3], [2**20, 3]),
        (np.array([1, 2]) * MIB, [2**20, 2**21]),
        (np.array(1) * MIB, 2**20),
        (np.array(["1 KiB", "2 KiB"]), [1024, 2048]),
        ("1.5 B", 1.5),
    ],
)
def test_texts_and_quantities_are_taken_among_numbers(given_, found):
    assert in_si(given_, "B", "n") == found
    assert in_si("2.1 us", "s", "alpha") == 2.1e-6


@pytest.mark.parametrize("other", [7, 7.5, [1, 2], np.arange(3), None, True, b"1 MiB", {"1 MiB"}, {}, range(3)])
def test_all_else_is_left_to_whoever_checks_numbers(other):
    assert in_si(other, "B", "n") is other
    assert in_si("1 MiB", "1", "x") == "1 MiB"


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("1 Mi", "Did you mean 'MiB'"),
        ("1 GB/s", "wrong kind of unit"),
        ("64", "without a unit"),
        (["1 s"], "wrong kind"),
    ],
)
def test_a_wrong_unit_is_told_with_the_name(wrong, told):
    with pytest.raises(QuantityError, match=f"^n = .*{told}"):
        in_si(wrong, "B", "n")


@pytest.mark.parametrize("kind", [np.int8, np.uint16, np.int32])
def test_small_integers_of_pint_do_not_overflow(kind):
    quantities = pint.UnitRegistry().Quantity(np.array([5, 64], kind), "GiB")
    assert in_si(quantities, "B", "n") == [5 * 2**30, 64 * 2**30]


def test_units_in_labelled_arrays_and_arrays_without_dimension_count():
    sizes = xr.DataArray(pint.UnitRegistry().Quantity([1, 2], "KiB"), dims="n")
    assert in_si(sizes, "B", "n") == [1024, 2048]
    assert in_si(np.array("1 MiB"), "B", "n") == 2**20


@pytest.mark.parametrize("sizes", [["1 KiB", True], [4096, True], (np.True_, 8)])
def test_true_in_a_list_is_no_number(sizes):
    for call in (
        lambda: oa.predict("example", "allreduce", 4, sizes),
        lambda: oa.select("allreduce", 4, sizes),
        lambda: oa.p2p_cost()(n=sizes, alpha=1, beta=1),
        lambda: oa.bus_bandwidth("allreduce", sizes, 1, ranks=4),
    ):
        with pytest.raises(QuantityError):
            call()
