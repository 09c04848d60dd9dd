"""The explorer without a browser: controls are moved by their values, pictures and words must follow."""

from __future__ import annotations

import base64
import io
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import orrery_analytic as oa
from orrery_analytic.decisions import ALGORITHMS
from orrery_analytic.errors import OrreryError, UnknownNameError
from orrery_analytic.selection import plan_cost
from orrery_analytic.widgets import Explorer, explore, readout
from orrery_analytic.widgets.code import code
from orrery_analytic.widgets.view import RANKS, SIZES, model

OSU = """# OSU MPI Allreduce Latency Test v7.3
# Size       Avg Latency(us)
4                       7.00
1024                    9.00
65536                 130.00
1048576               620.00
"""
DEVICE = OSU.replace("# OSU MPI Allreduce", "# OSU MPI-CUDA Allgather")


def said(explorer: Explorer) -> str:
    return plain(explorer.readout.value)


def plain(value: str) -> str:
    return unescape(re.sub("<[^>]*>", "", value))


def drawn(explorer: Explorer) -> bytes:
    return bytes(explorer.curves_image.value)


def give(explorer: Explorer, content: bytes, name: str = "osu.txt") -> None:
    item = {"name": name, "type": "text/plain", "size": len(content), "content": memoryview(content)}
    explorer.upload.value = ({**item, "last_modified": datetime(2026, 1, 1, tzinfo=UTC)},)


def pixels(widget: Any) -> np.ndarray[Any, Any]:
    return np.asarray(Image.open(io.BytesIO(widget.value)))


@pytest.fixture(scope="module")
def shared() -> Explorer:
    return explore()


@pytest.fixture
def explorer(shared: Explorer) -> Iterator[Explorer]:
    """One explorer for all tests, which is slow to make; each finds it as it was."""
    controls = shared.controls
    names = ("beside", "network", "buffers", "transport", "rules", "axis", "hold", "P", "n", "share", "large")
    state = {name: getattr(controls, name) for name in names}
    before = {name: control.value for name, control in state.items()}
    machine, collective = controls.machine.value, controls.collective.value
    yield shared
    controls.machine.value, controls.collective.value = machine, collective
    for name, control in state.items():
        control.value = before[name]
    controls.parameters.reset()


def test_it_begins_as_asked() -> None:
    made = oa.explore(
        "musica", "allgather", buffers="device", transport="staged", network=oa.LogGP(), rules="4.0.3", axis="P",
        hold="total", P=96, n="1 MiB", algorithms=["ring", "bruck"], share=False,
    )  # fmt: skip
    view = made.view
    assert (view.machine.name, view.collective, view.buffers, view.transport) == (
        "musica",
        "allgather",
        "device",
        "staged",
    )
    assert (view.network, view.rules, view.axis, view.hold) == ("LogGP", "openmpi-4.0", "P", "total")
    assert (view.P, view.n, set(view.drawn)) == (96, 2**20, {"ring", "bruck"})
    assert "P = 96, n = 10.7 KiB a rank (1 MiB in all): Open MPI (openmpi-4.0)" in said(made)


@pytest.mark.parametrize(
    ("state", "told"),
    [
        ({"collective": "allredcue"}, "allreduce"),
        ({"machine": "musika"}, "musica"),
        ({"buffer": "host"}, "buffers"),
        ({"buffers": "gpu"}, "host, device"),
        ({"network": "LogP"}, "LogGP"),
        ({"algorithms": ["rign"]}, "ring"),
        ({"n": "1 Mb"}, "MB"),
        ({"n": 1.5}, "whole"),
        ({"P": 1}, "2"),
        ({"P": 64.5}, "64"),
        ({"machine": ("musica", "leonardo", "example")}, "3 machines, but one axis shows one, or two"),
        ({"machine": ("musica", 3)}, "path of its file"),
        ({"machine": ()}, "0 machines"),
        ({"large": "no"}, "large must be True or False"),
    ],
)
def test_wrong_states_are_refused_with_what_is_allowed(state: dict[str, Any], told: str) -> None:
    with pytest.raises(OrreryError, match=told):
        explore(**state)


def test_moving_n_moves_the_picture_and_the_words(explorer: Explorer) -> None:
    before, words = drawn(explorer), said(explorer)
    explorer.controls.n.index += 1
    assert before.startswith(b"\x89PNG")
    assert drawn(explorer) != before
    assert said(explorer) != words
    explorer.controls.n.index -= 1
    assert (drawn(explorer), said(explorer)) == (before, words)


@pytest.mark.parametrize("label", ["latency", "bandwidth", "reduction rate"])
def test_moving_a_parameter_moves_both_pictures(explorer: Explorer, label: str) -> None:
    slider = explorer.controls.parameters.sliders[label]
    before = drawn(explorer), bytes(explorer.terms_image.value), said(explorer)
    slider.index += 3
    after = drawn(explorer), bytes(explorer.terms_image.value), said(explorer)
    assert all(a != b for a, b in zip(before, after, strict=True))
    explorer.controls.parameters.reset_button.click()
    assert (drawn(explorer), bytes(explorer.terms_image.value), said(explorer)) == before


def test_what_is_said_is_what_predict_says(explorer: Explorer) -> None:
    explorer.controls.parameters.sliders["latency"].value = 2e-6
    one = oa.predict(oa.load_machine("example").replace(latency="2 us"), "allreduce", 64, 2**16)
    seconds = one["seconds"].item()
    assert f"takes {one['algorithm'].item()} because P < 128 and n < 262144. It costs {seconds * 1e6:.0f} us" in said(
        explorer
    )
    share = max(one[name].item() for name in ("latency", "bandwidth", "reduce")) / seconds
    assert f"{100 * share:.0f} % of it reduce" in said(explorer)


def test_sliders_say_their_unit_and_stand_at_the_machines_value(explorer: Explorer) -> None:
    explorer.controls.machine.value = "musica"
    sliders = explorer.controls.parameters.sliders
    assert (sliders["latency"].label, sliders["bandwidth"].label) == ("1.9 us", "24.7 GB/s")
    for slider in sliders.values():
        assert slider.description
        assert slider.tooltip
        assert all(re.fullmatch(r"[\d.]+ \S*(s|B|B/s|s/B|flop/s)", text) for text, _ in slider.options)
    assert dict(explorer.controls.n.options)["1.5 KiB"] == 1536
    assert {3, 5, 6, 7, 12, 24, 127, 4096} <= set(RANKS)
    assert {4, 2**20, 2**30} <= set(SIZES)


def shown_sliders(explorer: Explorer) -> list[str]:
    return [slider.description for slider in explorer.controls.parameters.rows.children]


def test_a_number_that_is_zero_is_offered_times_of_its_unit() -> None:
    zero = oa.load_machine("leonardo").replace(overhead=0)
    sliders = oa.explore(zero, "allgather", buffers="device").controls.parameters.sliders
    texts = {name: [text for text, _ in sliders[name].options] for name in ("gdr gap per byte", "overhead")}
    assert {name: (own[0], own[-1]) for name, own in texts.items()} == {
        "gdr gap per byte": ("0 s/B", "10 ns/B"), "overhead": ("0 s", "100 us"),
    }  # fmt: skip


def test_only_the_numbers_in_the_formulas_have_sliders(explorer: Explorer) -> None:
    controls = explorer.controls
    assert shown_sliders(explorer) == ["latency", "bandwidth", "reduction rate"]
    controls.collective.value = "allgather"
    assert shown_sliders(explorer) == ["latency", "bandwidth"]
    controls.network.value = "LogGP"
    assert shown_sliders(explorer) == ["wire latency", "overhead", "message gap", "gap per byte"]
    controls.network.value, controls.buffers.value = "Hockney", "device"
    assert shown_sliders(explorer) == ["latency", "bandwidth", "call overhead", "gdr latency"]
    controls.transport.value = "staged"
    assert shown_sliders(explorer)[3:5] == ["d2h latency ≤64 KiB", "d2h latency >64 KiB"]


def test_a_size_band_has_its_own_sliders(explorer: Explorer) -> None:
    controls = explorer.controls
    controls.buffers.value = "device"
    before = said(explorer)
    controls.parameters.sliders["d2h latency ≤64 KiB"].value = 1e-4  # 64 KiB is in the first band
    assert said(explorer) != before
    small = said(explorer)
    controls.parameters.sliders["d2h latency >64 KiB"].value = 1e-3
    assert said(explorer) == small
    assert controls.view.machine.parameters["alpha_d2h_1"] == 1e-4
    assert controls.view.machine.parameters["alpha_d2h_2"] == 1e-3


def test_transport_waits_for_device_buffers(explorer: Explorer) -> None:
    controls = explorer.controls
    assert controls.transport.disabled
    assert controls.view.transport is None
    controls.buffers.value = "device"
    assert not controls.transport.disabled


def test_barrier_has_no_size(explorer: Explorer) -> None:
    explorer.controls.collective.value = "barrier"
    assert explorer.controls.n.disabled
    assert explorer.view.axis == "P"
    assert said(explorer).startswith("P = 64: Open MPI")


def test_the_switch_of_the_paper_needs_the_total_held(explorer: Explorer) -> None:
    """Blocks of 1 MiB: ring to 256, then neighbor. 1 MiB in all: neighbor from 32 to 512, then recursive doubling."""
    controls = explorer.controls
    controls.collective.value = "allgather"
    controls.axis.value, controls.n.value = "P", 2**20
    expected = {"block": {128: "ring", 256: "ring", 512: "neighbor", 1024: "neighbor"}}
    expected["total"] = {**dict.fromkeys((32, 64, 128, 256, 512), "neighbor"), 1024: "recursive_doubling"}
    for hold, algorithms in expected.items():
        controls.hold.value = hold
        for P, name in algorithms.items():
            controls.P.value = P
            assert f"takes {name} because" in said(explorer), (hold, P)
    assert controls.n.description == "P n, total"
    assert "held: 1 MiB in all, n = 1 MiB / P" in explorer.view.caption
    controls.hold.value = "block"
    assert controls.n.description == "n"
    assert "held: n = 1 MiB" in explorer.view.caption


def test_a_total_can_be_held_for_blocks_over_ranks_alone(explorer: Explorer) -> None:
    controls = explorer.controls
    assert controls.hold.disabled
    controls.axis.value = "P"
    assert controls.hold.disabled
    controls.collective.value = "allgather"
    assert not controls.hold.disabled
    controls.axis.value = "n"
    assert controls.hold.disabled


def test_what_is_handed_over_is_said(explorer: Explorer) -> None:
    controls = explorer.controls
    controls.collective.value, controls.P.value, controls.n.value = "allgather", 12, 64
    assert "takes recursive_doubling because P < 32, any n, which hands over to bruck." in said(explorer)
    controls.collective.value, controls.P.value = "allreduce", 128
    assert "which is made of reduce:binomial and bcast:" in said(explorer)


def test_a_choice_without_formula_is_said_by_name(explorer: Explorer, monkeypatch: pytest.MonkeyPatch) -> None:
    module = sys.modules[plan_cost.__module__]
    every = module.has_formula

    def fewer(collective: str, name: str, network: Any) -> bool:
        return (collective, name) != ("allreduce", "rabenseifner") and every(collective, name, network)

    for place in (module, readout):
        monkeypatch.setattr(place, "has_formula", fewer)
    module.plan_cost.cache_clear()
    try:
        explorer.controls.n.value = 2**20
        assert "takes rabenseifner because" in said(explorer)
        assert "There is no formula for allreduce rabenseifner yet, so its cost is not shown." in said(explorer)
        assert "It costs" not in said(explorer)
        assert "The fastest that is drawn: " in said(explorer)
        readout._formula.cache_clear()
        explorer.controls.P.value = 48
        assert "no formula yet" in explorer.formula.value
    finally:
        module.plan_cost.cache_clear()
        readout._formula.cache_clear()


def test_curves_can_be_taken_away(explorer: Explorer) -> None:
    ticks = {tick.description: tick for tick in explorer.controls.algorithms.children}
    before = drawn(explorer)
    explorer.controls.n.value = 2**12
    with_all = said(explorer)
    for name, tick in ticks.items():
        tick.value = name == "ring"
    assert explorer.view.drawn == ["ring"]
    assert drawn(explorer) != before
    for name, tick in ticks.items():
        tick.value = name in ALGORITHMS["allreduce"].values()  # as it begins
    assert said(explorer) == with_all


def test_nothing_is_rebuilt_when_a_slider_moves(explorer: Explorer) -> None:
    axes, background = explorer._upper.axes, explorer._upper._background
    artists = list(explorer._curves.artists)
    explorer.controls.parameters.sliders["latency"].index += 1
    explorer.controls.n.index += 1
    assert explorer._upper.axes is axes
    assert explorer._upper._background is background
    assert list(explorer._curves.artists)[: len(artists)] == artists


def test_the_picture_shows_where_n_is(explorer: Explorer) -> None:
    explorer.controls.n.value = 2**10
    before = pixels(explorer.curves_image)
    explorer.controls.n.value = 2**20
    columns = (pixels(explorer.curves_image) != before).any(axis=(0, 2)).nonzero()[0]
    at = [explorer._upper.axes.transData.transform((n, 1.0))[0] for n in (2**10, 2**20)]
    assert abs(columns.min() - at[0]) < 10
    assert abs(columns.max() - at[1]) < 10


def test_a_log_becomes_points_with_their_error(explorer: Explorer) -> None:
    give(explorer, OSU.encode())
    told = plain(explorer.log_text.value)
    model = oa.predict("example", "allreduce", 64, [4, 1024, 65536, 2**20])["seconds"].to_numpy()[0]
    error = 100 * np.median(np.abs(model * 1e6 / np.array([7, 9, 130, 620]) - 1))
    assert told.startswith("osu.txt: 4 points of allreduce on host buffers, P = 64 (the log does not say).")
    assert f"{error:.0f} %." in told
    np.testing.assert_allclose(explorer._points.get_ydata(), [7e-6, 9e-6, 130e-6, 620e-6])
    explorer.controls.parameters.sliders["latency"].value *= 2
    assert plain(explorer.log_text.value) != told
    explorer.controls.collective.value = "bcast"
    assert plain(explorer.log_text.value) == "osu.txt has no bcast on host buffers."
    assert not len(explorer._points.get_xdata())


def test_the_explorer_moves_to_a_log_of_something_else(explorer: Explorer) -> None:
    ranks = "".join(f"I am {i} of 8: x\n" for i in range(8))
    give(explorer, (ranks + DEVICE).encode())
    view = explorer.view
    assert (view.collective, view.buffers, view.P) == ("allgather", "device", 8)
    assert "4 points of allgather on device buffers, P = 8." in plain(explorer.log_text.value)
    explorer.controls.P.value = 64
    assert "P = 8, the nearest to 64" in plain(explorer.log_text.value)
    explorer.controls.axis.value = "P"
    assert "1 point of allgather on device buffers, n = 64 KiB. " in plain(explorer.log_text.value)
    explorer.controls.n.value = 2**17
    assert "n = 64 KiB, the nearest to 128 KiB. " in plain(explorer.log_text.value)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00\x01\x02" * 5000,
        b"<script>alert(1)</script>\n",
        b"# OSU MPI Latency Test v7.3\n# Size Latency (us)\n1 1.00\n",
        OSU.replace("7.00", "nan").replace("9.00", "inf").replace("130.00", "-1.00").replace("620.00", "0.00").encode(),
        b"# OSU MPI Allreduce Latency Test v7.3\n# Size       Avg Latency(us)\n" + b"9" * 400 + b" 1.00\n",
    ],
)
def test_a_wrong_log_is_told_and_changes_nothing(explorer: Explorer, content: bytes) -> None:
    picture, words = drawn(explorer), said(explorer)
    give(explorer, content, "<img src=x onerror=alert(1)>.txt")
    assert "Not read:" in plain(explorer.log_text.value)
    assert "<img" not in explorer.log_text.value
    assert "<script" not in explorer.log_text.value
    assert (drawn(explorer), said(explorer)) == (picture, words)


def run_code(text: str, folder: Path) -> np.ndarray[Any, Any]:
    root = Path(oa.__file__).parents[1]
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", f"import sys; sys.path.insert(0, {str(root)!r})\n{text}"],
        capture_output=True, text=True, check=False, cwd=folder,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    (picture,) = folder.glob("*.png")
    return np.asarray(Image.open(io.BytesIO(picture.read_bytes())).convert("L"))


def test_the_code_remakes_the_view(explorer: Explorer, tmp_path: Path) -> None:
    controls = explorer.controls
    controls.buffers.value = "device"
    controls.parameters.sliders["latency"].value = 2e-6
    controls.parameters.sliders["d2h bandwidth >64 KiB"].value = 2e10
    explorer.buttons["code"].click()
    text = explorer.code.value
    assert 'oa.load_machine("example").replace(latency="2 us", d2h_bands=[{' in text
    assert explorer.code.layout.display != "none"
    seconds = model(explorer.view, np.array([64]), np.array([4096])).item()
    check = f"assert abs(choice.seconds.sel(n=4096).item() / {seconds!r} - 1) < 1e-12\n"
    picture = run_code(text.replace("figure.savefig", f"{check}figure.savefig"), tmp_path)
    assert len(np.unique(picture)) > 50  # not blank


def test_the_code_shares_out_a_total(explorer: Explorer, tmp_path: Path) -> None:
    controls = explorer.controls
    controls.collective.value, controls.axis.value = "allgather", "P"
    controls.hold.value, controls.n.value = "total", 2**20
    controls.share.value = False
    give(explorer, DEVICE.replace("-CUDA", "").encode(), 'a "log"\nimport os.txt')
    explorer.buttons["code"].click()
    check = "assert (choice.algorithm.sel(P=512).item(), choice.n.sel(P=512).item()) == ('neighbor', 2048)\n"
    run_code(explorer.code.value.replace("figure.savefig", f"{check}figure.savefig"), tmp_path)


def test_the_code_remakes_a_machine_of_ones_own(tmp_path: Path) -> None:
    mine = oa.load_machine("musica").replace(
        name='my "own"', bandwidth=2.34567e10, ranks_per_node=8, library="Open MPI 5.0"
    )
    made = explore(mine, n=2**12)
    assert made.controls.machine.label == 'my "own" (yours)'
    text = code(made.view)
    (line,) = (line for line in text.splitlines() if line.startswith("machine ="))
    values: dict[str, Any] = {"oa": oa}
    exec(line, values)  # our own text
    assert values["machine"].parameters == mine.parameters
    assert values["machine"].name == mine.name


def test_a_machine_without_the_networks_numbers_is_told(tmp_path: Path) -> None:
    source = Path(oa.__file__).parents[1] / "machines" / "example.toml"
    tables = re.split(r"\n(?=\[)", source.read_text())
    kept = [t for t in tables if not re.match(r"\[(wire_latency|overhead|message_gap|gap_per_byte)\]", t)]
    path = tmp_path / "bare.toml"
    path.write_text("\n".join(kept))
    made = explore(str(path))
    picture = drawn(made)
    made.controls.network.value = "LogGP"
    assert "Cannot be shown: no value was given for" in said(made)
    assert (pixels(made.curves_image) == 255).all()  # no curves of the other network stay
    made.controls.network.value = "Hockney"
    assert drawn(made) == picture


def test_callbacks_from_several_threads_leave_one_state() -> None:
    made = explore(algorithms=["ring"])
    errors: list[BaseException] = []

    def move(slider: Any, steps: range) -> None:
        try:
            for i in steps:
                slider.index = i
        except BaseException as error:
            errors.append(error)

    sliders = [made.controls.n, made.controls.P, made.controls.parameters.sliders["latency"]]
    threads = [threading.Thread(target=move, args=(slider, range(10, 18))) for slider in sliders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert not errors
    other = explore(algorithms=["ring"], n=made.view.n, P=made.view.P)
    other.controls.parameters.sliders["latency"].index = 17
    assert [slider.index for slider in sliders] == [17, 17, 17]
    assert (said(made), bytes(made.terms_image.value)) == (said(other), bytes(other.terms_image.value))


def test_terms_in_seconds_are_drawn_for_the_current_point(explorer: Explorer) -> None:
    explorer.controls.share.value = False
    axes = explorer._lower.axes
    total = oa.predict("example", "allreduce", 64, 2**16)["seconds"].item()
    assert 1.5 * total < axes.get_ylim()[1] < 3 * total
    explorer.controls.n.value = 2**26
    assert axes.get_ylim()[1] > 100 * total


def test_formulas_are_latex_with_where_they_hold(explorer: Explorer) -> None:
    text = explorer.formula.value
    assert r"\text{latency}" in text
    assert r"\alpha" in text
    assert "exact for every P" in text
    explorer.controls.network.value = "LogGP"
    assert "T =" in explorer.formula.value
    assert explorer.formula.value.count("$") == 2


def test_two_machines_stand_beside_each_other(explorer: Explorer) -> None:
    explorer.controls.beside.value = "musica"
    seconds = [oa.predict(name, "allreduce", 64, 2**16)["seconds"].item() for name in ("example", "musica")]
    first, second = (f"{1e6 * s:.3g} us" for s in seconds)
    assert f"It costs {first} on example" in said(explorer)
    assert f"; {second} on musica, {seconds[1] / seconds[0]:.2f} times as long." in said(explorer)
    legend = explorer._upper.axes.get_legend()
    assert [text.get_text() for text in legend.get_texts()][:2] == ["example", "musica"]
    last = bytes(explorer._last.image.value)
    explorer.controls.parameters.sliders["latency"].index += 2  # moves the first alone
    assert f"; {second} on musica" in said(explorer)
    assert bytes(explorer._last.image.value) == last
    explorer.buttons["CSV"].click()
    table = pd.read_csv(io.StringIO(saved(explorer).decode()))
    assert table.loc[table["n (B)"] == 2**16, "choice on musica (s)"].item() == pytest.approx(seconds[1], rel=1e-8)
    explorer.buttons["start again"].click()
    assert explorer.view.beside is None
    assert explorer._last.image.layout.display == "none"


def saved(explorer: Explorer) -> bytes:
    return base64.b64decode(re.search(r'base64,([^"]*)"', explorer.saved.value)[1])  # type: ignore[index]


def test_what_is_shown_can_be_saved(explorer: Explorer) -> None:
    for kind, begin in (("PDF", b"%PDF"), ("PNG", b"\x89PNG"), ("CSV", b"P,n (B),algorithm,runs,choice (s)")):
        explorer.buttons[kind].click()
        assert saved(explorer).startswith(begin)
        assert f'download="allreduce.{kind.lower()}"' in explorer.saved.value
    explorer.buttons["LaTeX"].click()
    assert explorer.code.value == saved(explorer).decode()
    assert explorer.code.value.startswith("% allreduce, recursive_doubling, on host buffers, Hockney; runs at P = 64")
    assert r"\begin{align*}" in explorer.code.value


def test_one_line_of_code_opens_the_view_again(explorer: Explorer) -> None:
    controls = explorer.controls
    controls.collective.value, controls.axis.value = "allgather", "P"
    controls.hold.value, controls.beside.value = "total", "leonardo"
    controls.parameters.sliders["latency"].value = 2e-6
    explorer.buttons["code"].click()
    told = explorer.code.value.splitlines()[0].removeprefix("# As a widget: ")
    again = eval(told, {"oa": oa})  # our own text
    view = explorer.view
    assert again.view.machine.parameters == view.machine.parameters
    assert replace(again.view, machine=view.machine) == view
    assert said(again) == said(explorer)


def test_the_other_numbers_can_be_unfolded(explorer: Explorer) -> None:
    more = explorer.controls.parameters.more
    assert not more.children[0].children
    more.selected_index = 0
    folded = [slider.description for slider in more.children[0].children]
    assert {"wire latency", "gdr latency"} < set(folded)
    assert not set(folded) & set(shown_sliders(explorer))
    more.selected_index = None
    assert not more.children[0].children


def test_letters_for_a_projector(explorer: Explorer) -> None:
    small = pixels(explorer.curves_image).shape
    explorer.controls.large.value = True
    large = pixels(explorer.curves_image).shape
    assert (large[0] / small[0], large[1] / small[1]) == pytest.approx((1.3, 1.3), abs=0.01)
    explorer.controls.large.value = False
    assert pixels(explorer.curves_image).shape == small


def test_unknown_state_is_a_key_error_too() -> None:
    with pytest.raises(KeyError):
        explore(nothing=1)
    assert issubclass(UnknownNameError, KeyError)
