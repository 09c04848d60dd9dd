"""The explorer of any costs: its curves and words are what the costs say, its sliders what the symbols are."""

from __future__ import annotations

import base64
import re
from typing import Any

import numpy as np
import pytest
import sympy as sp

import orrery_analytic as oa
from orrery_analytic.errors import OrreryError
from orrery_analytic.widgets.costs import CostsExplorer

TWO = {"one": oa.p2p_cost(), "staged": oa.p2p_cost(send="device", recv="device", transport="staged")}


def words(explorer: CostsExplorer) -> str:
    return " ".join(re.sub("<[^>]+>", " ", explorer.readout.value).split())


def test_curves_words_and_sliders_are_those_of_the_costs() -> None:
    explorer = oa.explore_costs(TWO, "musica", n="1 MiB")
    machine = oa.load_machine("musica").parameters
    assert tuple(explorer.sliders) == ("n", "alpha", "beta", "alpha_d2h", "beta_d2h", "alpha_h2d", "beta_h2d")
    assert explorer.values == {name: machine.get(name, 2**20) for name in explorer.sliders}
    for (line,), cost in zip(explorer._curves.lines, TWO.values(), strict=True):
        x, y = line.get_data()
        np.testing.assert_allclose(y, cost.at(machine)(n=x))
        assert (x[0], x[-1]) == (1, 2**30)
    one, staged = (cost.at(machine)(n=2**20) for cost in TWO.values())
    assert words(explorer) == (
        f"n = 1 MiB one {1e6 * one:.1f} us staged {1e6 * staged:.0f} us {staged / one:.3g} times the least"
    )
    assert "(24.7 GB/s)" in explorer._told["beta"].value
    assert "time a byte on the wire between nodes" in explorer._told["beta"].value
    assert explorer.code == 'oa.explore_costs(costs, "musica", n=1048576)'
    assert "application/vnd.jupyter.widget-view+json" in (bundle := explorer._repr_mimebundle_())
    assert base64.b64decode(bundle["image/png"]) == explorer.image.value


def test_sliders_move_the_curves_and_one_button_puts_all_back() -> None:
    explorer = oa.explore_costs(TWO, "musica")
    before, picture, told = explorer.values, explorer.image.value, words(explorer)
    explorer.sliders["n"].value = 2**10
    assert words(explorer).startswith("n = 1 KiB")
    assert list(explorer._curves.cursor.get_xdata()) == [2**10, 2**10]
    explorer.sliders["alpha"].value = explorer.sliders["alpha"].options[-1][1]
    assert explorer._curves.dots.get_ydata()[0] == pytest.approx(
        TWO["one"](**{k: explorer.values[k] for k in ("n", "alpha", "beta")})
    )
    explorer.machine.value = "leonardo"
    assert explorer.values["beta"] == pytest.approx(1 / 12.8e9)
    assert explorer.values["n"] == 2**10
    assert '"leonardo"' in explorer.code
    explorer.again.click()
    assert explorer.values == before
    assert words(explorer) == told
    assert explorer.machine.value == "musica"
    explorer.sliders["n"].value = 2**11
    explorer.sliders["n"].value = 2**16
    assert explorer.image.value == picture


def test_what_stays_is_not_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    explorer = oa.explore_costs(TWO, "musica")
    monkeypatch.setattr(explorer._canvas.figure.canvas, "draw", lambda: pytest.fail("everything was drawn again"))
    before = explorer.image.value
    explorer.sliders["n"].value = 2**20
    assert explorer.image.value != before


def test_two_machines_stand_beside_each_other_and_the_sliders_move_the_first() -> None:
    explorer = oa.explore_costs(TWO, ("musica", "leonardo"), n="1 MiB")
    leonardo = oa.load_machine("leonardo").parameters
    x, y = explorer._curves.lines[1][1].get_data()
    np.testing.assert_allclose(y, TWO["staged"].at(leonardo)(n=x))
    explorer.sliders["alpha"].value = explorer.sliders["alpha"].options[0][1]
    np.testing.assert_array_equal(explorer._curves.lines[1][1].get_ydata(), y)
    one = 1e6 * TWO["one"].at(leonardo)(n=2**20)
    assert f"{one:.1f} us (2.03 times)" in words(explorer)
    assert words(explorer).startswith("n = 1 MiB musica leonardo one")
    assert 'oa.explore_costs(costs, ("musica", "leonardo"), ' in explorer.code
    again = oa.explore_costs(TWO, ("musica", "leonardo"), n=2**20, alpha=explorer.values["alpha"])
    assert again.code == explorer.code
    assert words(again) == words(explorer)
    explorer.beside.value = "musica"  # as its file has it, beside the moved one
    assert words(explorer).startswith("n = 1 MiB musica, moved musica one")
    twice = oa.explore_costs(TWO, ("musica", "musica")).code
    assert twice == 'oa.explore_costs(costs, ("musica", "musica"))'
    explorer.beside.value = "nothing"
    assert [len(pair) for pair in explorer._curves.lines] == [1, 1]


def test_what_is_shown_can_be_saved() -> None:
    explorer = oa.explore_costs(TWO, ("musica", "leonardo"), n="1 MiB")
    found = {}
    for kind, button in explorer.buttons.items():
        button.click()
        found[kind] = base64.b64decode(explorer.saved.value.partition("base64,")[2].partition('"')[0])
    assert found["PDF"].startswith(b"%PDF")
    assert found["PNG"].startswith(b"\x89PNG")
    heads, *rows = (line.split(",") for line in found["CSV"].decode().splitlines())
    assert heads == ["n (B)", *(f"{name} on {m} (s)" for m in ("musica", "leonardo") for name in TWO)]
    number = {int(row[0]): [float(x) for x in row[1:]] for row in rows}
    assert number[2**20] == pytest.approx([c.at(m)(n=2**20) for m in ("musica", "leonardo") for c in TWO.values()])
    assert found["LaTeX"].count(rb"\begin{align*}") == 2
    assert explorer.text.value == found["code"].decode()
    assert explorer.code in explorer.text.value


def test_over_ranks_counts_and_other_symbols() -> None:
    solver = oa.Jacobi(nx="symbol", ny="symbol").phases
    over_P = oa.explore_costs({k: solver[k] for k in ("kernel", "halo")}, "musica", "P", nx=2**14, ny=2**14)
    assert over_P._x[0] == 1
    assert {*range(1, 17), 64, 4096} <= {*over_P._x}
    assert words(over_P).startswith("P = 64 kernel")
    assert "a long formula" in over_P.formula.value
    assert 16384 in [x for _, x in over_P.sliders["nx"].options]
    ring = oa.explore_costs({"ring": oa.collective_cost("allreduce", "ring")}, axis="P")
    assert ring._x[0] == 2  # alone, it costs nothing
    ring.sliders["P"].value = 1
    assert "ring 0 s" in words(ring)
    beta = oa.explore_costs(TWO, "musica", "beta", alpha="3 us")
    assert beta.values["alpha"] == pytest.approx(3e-6)
    assert beta._x[0] < 1 / 24.7e9 < beta._x[-1]
    assert "beta = 40.5 ps/B" in words(beta)
    assert beta.code == 'oa.explore_costs(costs, "musica", axis="beta", alpha=3e-06)'


def test_symbols_of_ones_own_labels_of_any_kind_and_times_of_zero() -> None:
    k = sp.Symbol("k", positive=True)
    own = {"$x_$ <b>": oa.p2p_cost() * k, "gdr": oa.p2p_cost(send="device", protocol="rendezvous")}
    explorer = oa.explore_costs(own, "leonardo", k=3)
    assert explorer.values["k"] == 3
    assert explorer.values["beta_gdr"] == 0
    assert {"0 s/B", "1 ps/B", "100 ps/B"} <= {text for text, _ in explorer.sliders["beta_gdr"].options}
    assert "&lt;b&gt;" in explorer.readout.value
    assert "&lt;b&gt;" in explorer.formula.value


def test_more_size_bands_than_the_cost_has_are_told() -> None:
    with pytest.warns(UserWarning, match="size band"):
        oa.explore_costs(TWO, oa.load_machine("example"), n="2 MiB")


@pytest.mark.parametrize(
    "given",
    [
        {"costs": {}}, {"costs": None}, {"costs": TWO["one"]}, {"costs": {"a": 1}}, {"costs": {1: TWO["one"]}},
        {"costs": {"_a": TWO["one"]}}, {"costs": {"a": oa.Cost()}}, {"costs": {str(i): TWO["one"] for i in range(13)}},
        {"machine": "musika"}, {"machine": None}, {"axis": "P"}, {"axis": "m"}, {"axis": None}, {"n": 0}, {"n": 1.5},
        {"n": "64 KB/s"}, {"n": True}, {"n": 2**50}, {"n": float("nan")}, {"alpha": -1}, {"alpha": "1 B"},
        {"alfa": 1}, {"P": 2.5}, {"costs": {"k": oa.kernel_cost()}, "axis": "W"},
        {"costs": {"k": oa.kernel_cost()}, "axis": "W", "W": 0},
        {"costs": {"k": oa.kernel_cost(flops="symbol")}, "axis": "W", "W": 1, "F": "1 s"},
    ],
)  # fmt: skip
def test_what_is_wrong_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(OrreryError):
        oa.explore_costs(**{"costs": {"one": TWO["one"]}, **given})
