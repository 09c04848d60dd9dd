"""Machine files: what they give, and that a wrong one is refused with file, key, what was given, what is allowed."""

from __future__ import annotations

import copy
import dataclasses
import html
import math
import pickle
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pint
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orrery_analytic.errors import FileMissingError, FormatError, OrreryError, QuantityError, UnknownNameError
from orrery_analytic.machines import MACHINE_KEYS, Machine, list_machines, load_machine
from orrery_analytic.symbols import SYMBOLS, describe

SHIPPED = Path(__file__).resolve().parent.parent / "machines"
MUSICA = (SHIPPED / "musica.toml").read_text()
EXAMPLE = (SHIPPED / "example.toml").read_text()
NAMES = ["example", "leonardo", "musica"]


@pytest.fixture(params=NAMES)
def machine(request: pytest.FixtureRequest) -> Machine:
    return load_machine(request.param)


def refused(folder: Path, content: str | bytes) -> str:
    """Return the message with which a file of this content is refused."""
    path = folder / "mine.toml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(FormatError) as caught:
        load_machine(path)
    message = str(caught.value)
    assert message.startswith(f"machine file {str(path)!r}")
    assert "Allowed: " in message or "more" in message
    assert "pydantic" not in message.lower()
    assert "Input should" not in message
    assert "Field required" not in message
    return message


def with_value(text: str, key: str, value: str, part: str = "value") -> str:
    """Return the text with another value for a part of one key."""
    changed, times = re.subn(rf"(\[{key}\]\n(?:.+\n)*?{part} = ).+", lambda m: m[1] + value, text)
    assert times == 1
    return changed


# What ships


def test_shipped_machines() -> None:
    assert list_machines() == NAMES


def test_file_and_machine_have_the_same_name(machine: Machine) -> None:
    assert load_machine(SHIPPED / f"{machine.name}.toml") == machine
    assert load_machine(str(SHIPPED / f"{machine.name}.toml")) == machine


def test_parameters_are_positive_numbers_of_known_symbols(machine: Machine) -> None:
    for name, value in machine.parameters.items():
        assert describe(name).symbol.name == name
        assert type(value) is float
        assert 0 <= value < math.inf
        assert value > 0 or name == "beta_gdr"  # GPUDirect may keep up with the network


def test_every_parameter_of_the_formulas_has_a_value(machine: Machine) -> None:
    never = {"P", "n", "n_s", "n_f", "W", "F", "nx", "ny", "iterations", "nccheck"}
    assert set(machine.parameters) >= set(SYMBOLS) - never - {"s_gdr"}  # UCX has no limit


def test_provenance_is_complete(machine: Machine) -> None:
    document = tomllib.loads((SHIPPED / f"{machine.name}.toml").read_text())
    assert set(machine.provenance) == set(document) - {"name", "description"}
    for key, record in machine.provenance.items():
        assert record.key == key
        assert record.value
        assert record.origin in ("measured", "vendor", "derived", "assumed")
        assert len(record.reference) > 10
        assert record.reference == document[key]["reference"]


@pytest.mark.parametrize("name", ["musica", "leonardo"])
def test_assumed_values_say_that_nothing_is_published(name: str) -> None:
    for record in load_machine(name).provenance.values():
        if record.origin == "assumed":
            assert re.match(r"no public measurement;|as \w+[:;]", record.reference), record.key


def test_hockney_and_loggp_agree(machine: Machine) -> None:
    p = machine.parameters
    assert p["L"] + 2 * p["o"] - p["G"] == pytest.approx(p["alpha"], rel=1e-9)
    assert p["G"] == pytest.approx(p["beta"], rel=1e-8)
    # The gap of small messages never exceeds their way: a round costs A(m).
    assert max(p["o"], p["g"]) <= p["L"] + 2 * p["o"]


def test_leonardo_reproduces_the_ring_it_was_fitted_to() -> None:
    p = load_machine("leonardo").parameters
    assert 15 * p["alpha"] == pytest.approx(63.4e-6, rel=0.01)
    assert 15 / 16 * 2**28 * p["beta"] == pytest.approx(19647e-6, rel=0.01)
    assert 4 * p["alpha"] + p["t_call"] + 2 * p["alpha_gdr"] == pytest.approx(20.5e-6, rel=0.01)
    assert load_machine("leonardo").network_cards_per_node == 1


def test_musica_is_the_machine_of_the_paper() -> None:
    machine = load_machine("musica")
    assert (machine.ranks_per_node, machine.network_cards_per_node) == (4, 4)
    assert machine.library == "Open MPI 4.1.6"
    assert machine.parameters["beta"] > 1 / 25e9  # no faster than its card
    assert machine.bands == {"d2h": 1, "h2d": 1, "pinned_d2h": 1, "pinned_h2d": 1}


def test_example_has_bands() -> None:
    machine = load_machine("example")
    assert machine.bands == {"d2h": 2, "h2d": 2, "pinned_d2h": 1, "pinned_h2d": 1}
    p = machine.parameters
    for way in ("d2h", "h2d"):
        assert p[f"s_{way}_1"] == 65536
        assert (p[f"alpha_{way}_1"], p[f"beta_{way}_1"]) == (5e-6, 1 / 5e9)
        assert (p[f"alpha_{way}_2"], p[f"beta_{way}_2"]) == (p[f"alpha_{way}"], p[f"beta_{way}"]) == (10e-6, 1 / 8e9)
        assert f"s_{way}_2" not in p


# Keys, values, immutability


def test_keys_name_symbols_and_values_are_in_their_units(machine: Machine) -> None:
    symbols = [info.symbol for info in MACHINE_KEYS.values() if info.symbol]
    assert len(symbols) == len(set(symbols))
    for key, info in MACHINE_KEYS.items():
        assert info.key == key
        assert info.meaning
        if info.symbol is None:
            assert info.unit == "1"
            continue
        assert SYMBOLS[info.symbol].unit == ("s/B" if info.inverse else info.unit)
        if key == "gdr_limit":  # UCX has none
            assert info.symbol not in machine.parameters
            continue
        number = machine.parameters[info.symbol]
        assert machine.values[key] == pytest.approx(1 / number if info.inverse else number, rel=1e-15)


def test_machine_cannot_be_changed(machine: Machine) -> None:
    with pytest.raises(TypeError):
        machine.parameters["alpha"] = 1.0  # type: ignore[index]
    with pytest.raises(TypeError):
        machine.provenance["latency"] = None  # type: ignore[index]
    with pytest.raises(dataclasses.FrozenInstanceError):
        machine.name = "other"  # type: ignore[misc]


def test_machine_copies_pickles_and_hashes(machine: Machine) -> None:
    assert dict(machine.parameters) == dict(pickle.loads(pickle.dumps(machine)).parameters)
    assert copy.deepcopy(machine) == machine
    assert hash(copy.deepcopy(machine)) == hash(machine)


def test_optional_keys_are_absent_where_the_file_has_none(tmp_path: Path) -> None:
    optional = [key for key, info in MACHINE_KEYS.items() if not info.required]
    text = MUSICA
    for key in optional:
        text = re.sub(rf"\[{key}\]\n(?:.+\n)+", "", text)
    path = tmp_path / "mine.toml"
    path.write_text(text)
    machine = load_machine(path)
    assert {MACHINE_KEYS[key].symbol for key in optional} & set(machine.parameters) == set()
    assert dict(machine.parameters) == {
        k: v for k, v in load_machine("musica").parameters.items() if k in machine.parameters
    }
    assert machine.replace(overhead="0.3 us").parameters["o"] == 0.3e-6


# What if


def test_replace_takes_the_keys_and_units_of_the_file() -> None:
    machine = load_machine("musica")
    other = machine.replace(bandwidth="21 GB/s", latency="1.8 us", ranks_per_node=8)
    assert other.parameters["beta"] == 1 / 21e9
    assert other.parameters["alpha"] == 1.8e-6
    assert other.ranks_per_node == 8
    assert machine.parameters["alpha"] == 1.9e-6
    rest = set(machine.parameters) - {"alpha", "beta"}
    assert {k: other.parameters[k] for k in rest} == {k: machine.parameters[k] for k in rest}
    assert list(other.provenance) == list(machine.provenance)


def test_replace_takes_numbers_and_quantities() -> None:
    machine = load_machine("musica")
    quantity = pint.UnitRegistry().Quantity(2.0, "microsecond")
    other = machine.replace(latency=quantity, bandwidth=np.float64(2e10), network_cards_per_node=np.int64(2))
    assert other.parameters["alpha"] == pytest.approx(2e-6, rel=1e-15)
    assert other.parameters["beta"] == 1 / 2e10
    assert other.network_cards_per_node == 2
    assert other.provenance["bandwidth"].value == "20000000000.0 B/s"


def test_replace_tells_what_if_and_what_the_file_had() -> None:
    twice = load_machine("musica").replace(latency="3 us").replace(latency="4 us")
    record = twice.provenance["latency"]
    assert (record.value, record.origin) == ("4 us", "what if")
    assert record.reference == "instead of 1.9 us (assumed)"
    assert twice.provenance["bandwidth"].origin == "assumed"


def test_replace_of_text() -> None:
    machine = load_machine("musica").replace(name="mine", library="Open MPI 5.0.8")
    assert (machine.name, machine.library) == ("mine", "Open MPI 5.0.8")
    with pytest.raises(QuantityError, match=r"name = '' is refused"):
        machine.replace(name="")


def test_replace_of_one_number_makes_one_band_of_several() -> None:
    machine = load_machine("example").replace(d2h_latency="3 us")
    assert (machine.bands["d2h"], machine.bands["h2d"]) == (1, 2)
    pageable = {k: v for k, v in machine.parameters.items() if "d2h" in k and "pinned" not in k}
    assert pageable == {"alpha_d2h": 3e-6, "beta_d2h": 1 / 8e9}
    assert machine.provenance["d2h_latency"].reference == "instead of 10 us (assumed)"
    assert machine.provenance["d2h_bandwidth"].origin == "assumed"


def test_replace_of_bands() -> None:
    bands = [{"up_to": 1024, "latency": "2 us", "bandwidth": 1e9}, {"latency": "3 us", "bandwidth": "2 GB/s"}]
    machine = load_machine("musica").replace(h2d_bands=bands)
    assert (machine.bands["d2h"], machine.bands["h2d"]) == (1, 2)
    assert machine.parameters["s_h2d_1"] == 1024
    assert machine.parameters["beta_h2d"] == 1 / 2e9
    assert "h2d_latency" not in machine.provenance
    assert machine.provenance["h2d_bands"].value == "to 1024.0 B: 2 us, 1000000000.0 B/s; above: 3 us, 2 GB/s"
    assert machine.values["h2d_latency"] == 3e-6


def test_pinned_copies_are_copies_of_their_own() -> None:
    machine = load_machine("musica")
    assert machine.pinned
    assert machine.parameters["beta_pinned_d2h"] == 1 / 52.8e9
    bands = [{"up_to": "64 KiB", "latency": "2 us", "bandwidth": "9 GB/s"}, {"latency": "3 us", "bandwidth": "20 GB/s"}]
    other = machine.replace(pinned_d2h_bands=bands)
    assert other.bands == {"d2h": 1, "h2d": 1, "pinned_d2h": 2, "pinned_h2d": 1}
    assert (other.parameters["s_pinned_d2h_1"], other.parameters["alpha_pinned_d2h_2"]) == (65536, 3e-6)
    assert other.parameters["beta_d2h"] == machine.parameters["beta_d2h"]
    back = other.replace(pinned_d2h_latency="4 us")
    assert (back.bands["pinned_d2h"], back.parameters["beta_pinned_d2h"]) == (1, 1 / 20e9)


def test_a_machine_need_not_have_pinned_copies(tmp_path: Path) -> None:
    text = re.sub(r"\[pinned_\w+\]\n(?:.+\n)+", "", MUSICA)
    path = tmp_path / "mine.toml"
    path.write_text(text)
    machine = load_machine(path)
    assert not machine.pinned
    assert machine.bands == {"d2h": 1, "h2d": 1}
    half = re.sub(r"\[pinned_d2h_bandwidth\]\n(?:.+\n)+", "", MUSICA)
    assert "'pinned_d2h_bandwidth' is missing. Allowed: pinned_d2h_latency and" in refused(tmp_path, half)


def test_rates_of_the_roofline_stay_rates() -> None:
    machine = load_machine("musica").replace(peak_flop_rate="67 Tflop/s", memory_bandwidth="4 TB/s")
    assert (machine.parameters["R_flop"], machine.parameters["R_mem"]) == (67e12, 4e12)
    with pytest.raises(QuantityError, match="'34 Tflop/s'"):
        machine.replace(peak_flop_rate="67 TB/s")


@pytest.mark.parametrize(
    ("overrides", "error", "words"),
    [
        ({"latenci": "1 us"}, UnknownNameError, ["unknown key of a machine 'latenci'", "Did you mean 'latency'?"]),
        ({"alpha": 1e-6}, UnknownNameError, ["'alpha'", "Allowed: latency"]),
        ({"latency": "1 GB/s"}, QuantityError, ["latency = '1 GB/s'", "wrong kind of unit", "'2.1 us'"]),
        ({"latency": -1e-6}, QuantityError, ["latency = -1e-06 is negative"]),
        ({"bandwidth": 0}, QuantityError, ["bandwidth = 0 must be more than zero"]),
        ({"bandwidth": 5e-324}, QuantityError, ["bandwidth = 5e-324 is too small"]),
        ({"latency": math.nan}, QuantityError, ["latency = nan is not finite"]),
        ({"latency": None}, QuantityError, ["latency = None"]),
        ({"ranks_per_node": 0}, QuantityError, ["ranks_per_node = 0", "a whole number from 1"]),
        ({"ranks_per_node": True}, QuantityError, ["ranks_per_node = True"]),
        ({"library": 4}, QuantityError, ["library = 4", "a text"]),
        ({"d2h_bands": "1 us"}, QuantityError, ["'1 us' is refused", "up_to"]),
    ],
)
def test_replace_refuses(overrides: dict[str, Any], error: type[OrreryError], words: list[str]) -> None:
    with pytest.raises(error) as caught:
        load_machine("musica").replace(**overrides)
    for word in words:
        assert word in str(caught.value)


# How it shows itself


def test_repr_is_short(machine: Machine) -> None:
    assert repr(machine).startswith(f"<Machine {machine.name!r}: Open MPI 4.1.6, ranks_per_node 4")
    assert machine.provenance["latency"].value in repr(machine)
    assert len(repr(machine)) < 150


def test_html_has_a_row_for_each_value(machine: Machine) -> None:
    text = machine._repr_html_()
    assert text.count("<tr>") == 1 + len(machine.provenance)
    for record in machine.provenance.values():
        for cell in (record.key, record.value, record.origin, record.reference):
            assert f">{html.escape(cell)}</td>" in text
    assert ">alpha_gdr</td>" in text


def test_html_is_escaped(tmp_path: Path) -> None:
    evil = "<script>alert('x')</script>"
    text = MUSICA.replace('name = "musica"', f'name = "{evil}"')
    text = with_value(text, "latency", f'"{evil}"', "reference")
    text = with_value(text, "library", f'"{evil}"')
    path = tmp_path / "evil.toml"
    path.write_text(text)
    shown = load_machine(path).replace(description=evil)._repr_html_()
    assert "<script" not in shown
    assert shown.count("&lt;script&gt;") == 4


# Which machine


def test_a_wheel_has_its_machines_as_package_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "_machines").mkdir()
    (tmp_path / "_machines" / "packaged.toml").write_text(MUSICA.replace('name = "musica"', 'name = "packaged"'))
    (tmp_path / "_machines" / "README.md").write_text("no machine")
    monkeypatch.setattr("orrery_analytic.machines.files.resources.files", lambda _: tmp_path)
    assert list_machines() == ["packaged"]
    assert load_machine("packaged").name == "packaged"


def test_unknown_name() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown machine 'muisca'\. Did you mean 'musica'\? Allowed: example,"):
        load_machine("muisca")
    for wrong in (None, 3, b"musica"):
        with pytest.raises(UnknownNameError, match="unknown machine"):
            load_machine(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "path", ["nowhere.toml", "no/where", "no\\where", "x\0.toml", "~nobody_at_all/x.toml", "/" + "a" * 5000]
)
def test_missing_file(path: str) -> None:
    with pytest.raises(FileMissingError) as caught:
        load_machine(path)
    assert isinstance(caught.value, FileNotFoundError)
    assert "musica" in str(caught.value)


def test_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileMissingError, match="is no file"):
        load_machine(tmp_path)


def test_byte_order_mark_and_windows_lines_are_fine(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(b"\xef\xbb\xbf" + MUSICA.replace("\n", "\r\n").encode())
    assert load_machine(path) == load_machine("musica")


# Wrong files


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ('"1.9 GB/s"', ["'1.9 GB/s' has the wrong kind of unit", "a time in s"]),
        ('"1.9 usec"', ["Did you mean 'us'?"]),
        ('"1.9"', ["a number without a unit"]),
        ("1.9e-6", ["1.9e-06 is a number without a unit", "'2.1 us'"]),
        ("2", ["2 is a number without a unit"]),
        ("true", ["True is a bool"]),
        ('["1.9 us"]', ["['1.9 us'] is a list"]),
        ("{ us = 2 }", ["{'us': 2} is a dict"]),
        ("2026-01-01", ["is a date"]),
        ("nan", ["nan is a number without a unit"]),
        ('"-1.9 us"', ["'-1.9 us' is negative"]),
        ('"1e999 s"', ["is not finite"]),
        ("\"__import__('os') s\"", ["is no number followed by a unit"]),
        ("0x" + "F" * 5000, ["a very large int is a number without a unit"]),
    ],
)
def test_wrong_time(tmp_path: Path, value: str, words: list[str]) -> None:
    message = refused(tmp_path, with_value(MUSICA, "latency", value))
    for word in ["key 'latency.value'", "value = ", *words]:
        assert word in message


def test_wrong_rate(tmp_path: Path) -> None:
    zero = refused(tmp_path, with_value(MUSICA, "bandwidth", '"0 GB/s"'))
    assert "key 'bandwidth.value': value = '0 GB/s' must be more than zero" in zero
    case = refused(tmp_path, with_value(MUSICA, "bandwidth", '"24 gb/s"'))
    assert "Did you mean 'GB/s' or" in case
    tiny = refused(tmp_path, with_value(MUSICA, "bandwidth", '"1e-310 B/s"'))
    assert "'1e-310 B/s' is too small" in tiny


@pytest.mark.parametrize("value", ["0", "-4", "4.0", "true", '"4"', "[4]", "99999999999"])
def test_wrong_count(tmp_path: Path, value: str) -> None:
    message = refused(tmp_path, with_value(MUSICA, "ranks_per_node", value))
    assert "key 'ranks_per_node.value': value = " in message
    assert "Allowed: a whole number from 1" in message


@pytest.mark.parametrize(
    ("part", "value", "words"),
    [
        ("origin", '"guessed"', ["key 'latency.origin'", "'guessed'", "Allowed: measured, vendor, derived, assumed"]),
        ("origin", '"Asumed"', ["Did you mean 'assumed'?"]),
        ("origin", '"what if"', ["unknown origin 'what if'"]),
        ("origin", "3", ["unknown origin 3"]),
        ("reference", '" "', ["key 'latency.reference'", "a text that is not empty"]),
        ("reference", "1", ["key 'latency.reference'", "reference = 1"]),
    ],
)
def test_wrong_provenance(tmp_path: Path, part: str, value: str, words: list[str]) -> None:
    message = refused(tmp_path, with_value(MUSICA, "latency", value, part))
    for word in words:
        assert word in message


@pytest.mark.parametrize("part", ["value", "origin", "reference"])
def test_missing_part(tmp_path: Path, part: str) -> None:
    message = refused(tmp_path, re.sub(rf"(\[latency\]\n(?:.+\n)*?){part} = .+\n", r"\1", MUSICA))
    wanted = {"value": "text with a unit", "origin": "measured, vendor, derived, assumed", "reference": "a text"}
    assert f"key 'latency.{part}' is missing. Allowed: {wanted[part]}." in message


@pytest.mark.parametrize("key", ["latency", "library", "ranks_per_node", "d2h_bandwidth", "kernel_rate"])
def test_missing_key(tmp_path: Path, key: str) -> None:
    message = refused(tmp_path, re.sub(rf"\[{key}\]\n(?:.+\n)+", "", MUSICA))
    assert f"key {key!r} is missing" in message


def test_missing_name(tmp_path: Path) -> None:
    assert "key 'name' is missing. Allowed: a text" in refused(tmp_path, MUSICA.replace('name = "musica"\n', ""))
    assert "key 'name': name = 3" in refused(tmp_path, MUSICA.replace('name = "musica"\n', "name = 3\n"))


def test_unknown_key(tmp_path: Path) -> None:
    message = refused(tmp_path, MUSICA.replace("[latency]", "[latencies]"))
    assert "unknown key 'latencies'. Did you mean 'latency'?" in message
    assert message.index("'latencies'") < message.index("key 'latency' is missing")
    inner = refused(tmp_path, MUSICA.replace('value = "1.9 us"', 'valeu = "1.9 us"'))
    assert "unknown key 'latency.valeu'. Did you mean 'latency.value'?" in inner


def test_value_without_its_table(tmp_path: Path) -> None:
    message = refused(tmp_path, 'latency = "1.9 us"\n' + re.sub(r"\[latency\]\n(?:.+\n)+", "", MUSICA))
    assert "key 'latency' = '1.9 us' is refused. Allowed: a table with value, origin, reference" in message


@pytest.mark.parametrize(
    ("old", "new", "after"),
    [
        ('value = "1.9 us"', "value = 3", "value = 3"),
        ('value = "1.9 us"', 'value = "1.9 us"\nvalu = 3', "valu = 3"),
        ("[latency]", "[latencies]", "[latencies]"),
        ("[latency]", "[[latency]]", "[[latency]]"),
        ("[bandwidth]", "[latency.more]\nx = 1\n[bandwidth]", "[latency.more]"),
        ("[bandwidth]", "[bandwidths]\n", "[bandwidths]"),
        ('name = "musica"', "name = 3", "name = 3"),
    ],
)
def test_what_is_wrong_has_its_line(tmp_path: Path, old: str, new: str, after: str) -> None:
    text = MUSICA.replace(old, new, 1)
    line = text[: text.index(after)].count("\n") + 1
    assert f"line {line}: " in refused(tmp_path, text)


def test_every_problem_is_named_and_many_are_counted(tmp_path: Path) -> None:
    two = with_value(with_value(MUSICA, "latency", "1"), "bandwidth", "2")
    message = refused(tmp_path, two)
    assert "key 'latency.value'" in message
    assert "key 'bandwidth.value'" in message
    assert re.search(r"and \d+ more$", refused(tmp_path, ""))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('up_to = "64 KiB", ', "", ["band 1 of 2 has latency, bandwidth"]),
        ('{ latency = "10 us"', '{ up_to = "1 MiB", latency = "10 us"', ["band 2 of 2 has up_to"]),
        ('bandwidth = "5', 'bandwith = "5', ["key of band 1 'bandwith'", "Did you mean 'bandwidth'?"]),
        ('"64 KiB"', "65536", ["up_to of band 1 = 65536 is a number without a unit", "'64 KiB'"]),
        ('"64 KiB"', '"64 us"', ["up_to of band 1", "wrong kind of unit"]),
        ('"64 KiB"', '"0 B"', ["must be more than zero"]),
        ('"10 us"', '"-10 us"', ["latency of band 2", "is negative"]),
        (
            '{ up_to = "64 KiB"',
            '{ up_to = "64 KiB", latency = "1 us", bandwidth = "1 GB/s" }, { up_to = "64 KiB"',
            ["up_to = 64 KiB, 64 KiB does not grow"],
        ),
        ('{ up_to = "64 KiB", latency = "5 us", bandwidth = "5 GB/s" }', '"64 KiB"', ["band 1 = '64 KiB' is refused"]),
    ],
)
def test_wrong_bands(tmp_path: Path, old: str, new: str, words: list[str]) -> None:
    message = refused(tmp_path, EXAMPLE.replace(old, new, 1))
    assert "key 'd2h_bands.value'" in message
    for word in words:
        assert word in message


def test_bands_or_one_band(tmp_path: Path) -> None:
    single = '[d2h_latency]\nvalue = "1 us"\norigin = "assumed"\nreference = "x"\n'
    both = refused(tmp_path, EXAMPLE + single)
    assert "'d2h_bands' is given together with 'd2h_latency'" in both
    neither = refused(tmp_path, re.sub(r"\[d2h_bands\]\n(?:.+\n)+", "", EXAMPLE) + single)
    assert "key 'd2h_bandwidth' is missing. Allowed: d2h_latency and d2h_bandwidth, or d2h_bands" in neither
    empty = refused(tmp_path, re.sub(r"value = \[\n(?:.+\n)+?\]", "value = []", EXAMPLE, count=1))
    assert "key 'd2h_bands.value': value = []" in empty


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (MUSICA + "[latency]\n", [f"line {len(MUSICA.splitlines()) + 1}, column 9", "twice"]),
        ('name = "a"\nname = "b"\n', ["line 2, column 11", "overwrite"]),
        ('name = "a"\nb = = 1\n', ["line 2, column 5"]),
        ('name = "a\n', ["line 1, column"]),
        ("name = ", ["line 1, end of the file"]),
        (b"name = 'a'\nb = '\xff'\n", ["line 2", "byte 0xff is no UTF-8"]),
        (MUSICA.encode("utf-16"), ["is no UTF-8"]),
        ("#" * 40_000, ["too large", "32 KiB"]),
        ("a = " + "[" * 5000, ["nests too deeply"]),
        ("a = 1" + "0" * 5000, ["line 1"]),
    ],
)
def test_malformed(tmp_path: Path, content: str | bytes, words: list[str]) -> None:
    message = refused(tmp_path, content)
    for word in words:
        assert word in message


# Anything at all

_VALUES = st.recursive(
    st.one_of(
        st.integers(-(10**20), 10**20).map(str),
        st.floats().map(str),
        st.sampled_from(["true", "false", "1979-05-27", "07:32:00", '"1 us"', '"1 GB/s"', '"64 KiB"', '"assumed"']),
        st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8).map(lambda t: f"'{t}'"),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
        st.dictionaries(st.sampled_from(["value", "origin", "up_to", "latency", "x"]), inner, max_size=3).map(
            lambda d: "{" + ", ".join(f"{k} = {v}" for k, v in d.items()) + "}"
        ),
    ),
    max_leaves=6,
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    key=st.sampled_from([*MACHINE_KEYS, "library", "h2d_bands"]),
    part=st.sampled_from(["value", "origin", "reference"]),
    value=_VALUES,
)
def test_any_value_is_read_or_refused(tmp_path: Path, key: str, part: str, value: str) -> None:
    text = EXAMPLE if key == "h2d_bands" else MUSICA
    path = tmp_path / "mine.toml"
    path.write_text(re.sub(rf"(\[{key}\]\n(?:.+\n)*?{part} = )(\[\n(?:.+\n)+?\]|.+)", lambda m: m[1] + value, text))
    try:
        outcome: Machine | str = load_machine(path)
    except OrreryError as error:
        outcome = str(error)
    if isinstance(outcome, str):
        assert str(path) in outcome
    else:
        assert all(math.isfinite(x) for x in outcome.parameters.values())


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(content=st.binary(max_size=60) | st.text(max_size=60).map(str.encode), at=st.integers(0, len(MUSICA)))
def test_any_content_is_read_or_refused(tmp_path: Path, content: bytes, at: int) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(MUSICA[:at].encode() + content + MUSICA[at:].encode())
    try:
        outcome: Machine | str = load_machine(path)
    except FormatError as error:
        outcome = str(error)
    if isinstance(outcome, str):
        assert str(path) in outcome
    else:
        assert all(math.isfinite(x) for x in outcome.parameters.values())


@settings(deadline=None)
@given(
    st.sampled_from([*MACHINE_KEYS, "library", "d2h_bands"]),
    st.text(max_size=12) | st.floats() | st.integers() | st.none(),
)
def test_any_override_is_taken_or_refused(key: str, value: object) -> None:
    try:
        outcome = load_machine("musica").replace(**{key: value}).provenance[key].origin
    except OrreryError as error:
        outcome = str(error)
    assert outcome == "what if" or "Allowed: " in outcome
