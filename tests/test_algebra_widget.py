"""The explorer of crossovers: controls move formula, pictures and words; what is not allowed is refused."""

from __future__ import annotations

import base64
import io
from typing import Any

import numpy as np
import pytest
from PIL import Image

import orrery_analytic as oa
from orrery_analytic.errors import OrreryError, QuantityError, UnknownNameError
from orrery_analytic.widgets.algebra import CrossoverExplorer, explore_crossover


@pytest.fixture(scope="module")
def explorer() -> CrossoverExplorer:
    return explore_crossover("musica", "allreduce", a="rabenseifner", b="ring", P=12, n="512 KiB")


def state(explorer: CrossoverExplorer) -> tuple[Any, ...]:
    return explorer.readout.value, explorer.formula.value, explorer.curves_image.value, explorer.ranks_image.value


def test_words_and_formula_are_those_of_the_algebra(explorer: CrossoverExplorer) -> None:
    a, b = (oa.collective_cost("allreduce", name) for name in ("rabenseifner", "ring"))
    musica = oa.load_machine("musica")
    border = oa.crossover(a, b, "n").intervals(musica, P=12)[1].first
    assert f"<b>ring</b> from {border:,} B on".replace(",", " ") in explorer.readout.value
    assert "<b>rabenseifner</b> at 4, 8, 16, 26 to 64" in explorer.readout.value
    assert "<b>equal</b> at 2" in explorer.readout.value
    assert 'role="status"' in explorer.readout.value
    assert r"$\displaystyle n^* = \frac{\alpha" in explorer.formula.value
    assert repr(explorer) == "<CrossoverExplorer: allreduce rabenseifner and ring on musica, P = 12, n = 512 KiB>"


def test_each_slider_moves_what_depends_on_it(explorer: CrossoverExplorer) -> None:
    before = state(explorer)
    explorer.n.value = 2**13
    moved = state(explorer)
    assert [x != y for x, y in zip(before, moved, strict=True)] == [True, False, True, True]
    explorer.n.value = 2**19
    explorer.P.value = 16
    assert "change places at no n" in explorer.formula.value
    assert "<b>rabenseifner</b> everywhere" in explorer.readout.value
    explorer.P.value = 12
    assert state(explorer) == before  # nothing is left of other points
    slider = explorer.parameters.sliders["latency"]
    slider.value = 2e-5
    assert "<b>ring</b> at 3, 5 to 6;" in explorer.readout.value
    explorer.parameters.reset()
    assert state(explorer) == before


def test_another_collective_offers_its_own_algorithms() -> None:
    explorer = explore_crossover("example")
    assert (explorer.a.value, explorer.b.value) == ("recursive_doubling", "ring")
    explorer.collective.value = "alltoall"
    assert set(explorer.a.options) <= set(oa.list_algorithms("alltoall"))
    assert (explorer.a.value, explorer.b.value) == ("pairwise", "modified_bruck")
    explorer.b.value = "two_proc"
    assert "only pairwise is stated" in explorer.readout.value
    assert "two_proc not stated" in explorer.readout.value
    explorer.b.value = "pairwise"
    assert "<b>equal</b> everywhere" in explorer.readout.value


def test_a_machine_of_ones_own_is_offered_beside_the_others() -> None:
    slow = oa.load_machine("musica").replace(name="slow", latency="20 us")
    explorer = explore_crossover(slow, "allreduce", a="rabenseifner", b="ring", P=12)
    assert explorer.machine.value == "slow (yours)"
    assert "<b>ring</b> from 1 927 504 B on" in explorer.readout.value
    explorer.machine.value = "musica"
    assert "<b>ring</b> from 183 113 B on" in explorer.readout.value
    explorer.machine.value = "slow (yours)"
    assert "<b>ring</b> from 1 927 504 B on" in explorer.readout.value


def test_a_stored_notebook_shows_both_pictures(explorer: CrossoverExplorer) -> None:
    bundle = explorer._repr_mimebundle_()
    with Image.open(io.BytesIO(base64.b64decode(bundle["image/png"]))) as image:
        pixels = np.asarray(image)
    with Image.open(io.BytesIO(explorer.curves_image.value)) as upper:
        assert np.array_equal(pixels[: upper.height], np.asarray(upper))
        assert image.height > upper.height
    assert "application/vnd.jupyter.widget-view+json" in bundle


def test_the_sliders_are_reachable_by_keys(explorer: CrossoverExplorer) -> None:
    for control in (explorer.P, explorer.n, *explorer.parameters.sliders.values()):
        assert control._model_name == "SelectionSliderModel"  # which takes focus and the arrow keys
        assert control.description


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ({"collective": "allreduse"}, UnknownNameError, "Did you mean 'allreduce'"),
        ({"collective": "barrier"}, UnknownNameError, "unknown collective"),
        ({"a": "rings"}, UnknownNameError, "Did you mean 'ring'"),
        ({"b": 3}, UnknownNameError, "algorithm with a formula"),
        ({"P": 1}, QuantityError, "P = 1"),
        ({"P": float("nan")}, QuantityError, "P = nan"),
        ({"n": None}, QuantityError, "n = None"),
        ({"n": "much"}, QuantityError, "n = 'much'"),
        ({"machine": "nowhere"}, OrreryError, "nowhere"),
    ],
)
def test_what_is_not_there_is_refused(arguments: dict[str, Any], error: type[OrreryError], match: str) -> None:
    with pytest.raises(error, match=match):
        explore_crossover(**{"machine": "example", **arguments})
