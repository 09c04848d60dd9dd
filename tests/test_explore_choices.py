"""The explorer of choices: its maps stay, its point moves, and what it says is what `select` and `regret` say."""

from __future__ import annotations

import base64
import io

import numpy as np
import pytest
from PIL import Image

import orrery_analytic as oa
from orrery_analytic import plots
from orrery_analytic.errors import OrreryError, QuantityError
from orrery_analytic.widgets import ChoiceExplorer, explore_choices


@pytest.fixture(scope="module")
def explorer() -> ChoiceExplorer:
    return explore_choices("musica", "allreduce")


def pixels(png: bytes) -> np.ndarray:
    with Image.open(io.BytesIO(png)) as image:
        return np.asarray(image.convert("L"), dtype=float)


def test_what_is_said_is_what_the_functions_say(explorer):
    for P, n in ((64, 48 * 2**10), (128, 4096), (3, 4)):
        explorer.P.value, explorer.n.value = P, n
        rows = explorer.rows()
        for row, rules in zip(rows, ("openmpi-4.0", "openmpi-4.1"), strict=False):
            data = oa.regret("musica", "allreduce", P, n, rules=rules)
            taken = oa.select("allreduce", P, n, rules=rules)
            assert row[:3] == (f"Open MPI {rules[-3:]}", taken.name, taken.reason)
            assert row[3].startswith(data["runs"].item())
            assert row[5] == f"{data['regret'].item():.2f} times"
        assert rows[2][3].startswith(data["best"].item())
        assert all(row[4].endswith("s") for row in rows)
        for cell in (cell for row in rows for cell in row):
            assert cell.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") in explorer.readout.value
    assert 'role="status"' in explorer.readout.value


def test_the_point_moves_and_the_maps_stay(explorer, monkeypatch):
    explorer.P.value, explorer.n.value = 64, 2**20
    first = pixels(explorer.image.value)
    monkeypatch.setattr(explorer._figure.canvas, "draw", lambda: pytest.fail("the maps were drawn again"))
    explorer.n.value = 2**10
    moved = pixels(explorer.image.value)
    changed = np.abs(first - moved) > 20
    assert 0 < changed.mean() < 0.03
    lines = np.flatnonzero(changed.mean(axis=0) > 0.3)
    assert lines.size >= 2 * 3  # where the line was and is, in each of three panels
    explorer.n.value = 2**20
    assert (pixels(explorer.image.value) == first).all()


def test_it_starts_again(explorer):
    fresh = explore_choices("musica", "allreduce")
    before = fresh.image.value
    fresh.P.value, fresh.collective.value = 7, "scan"
    assert fresh.image.value != before
    fresh.again.click()
    assert (fresh.image.value, fresh.P.value, fresh.collective.value) == (before, 64, "allreduce")


def test_a_rule_file_beside_the_default():
    rules = oa.tune("example", "bcast", [8, 64], [2**10, 2**20, 2**26]).rules
    explorer = explore_choices(
        oa.load_machine("example").replace(name="mine"), "bcast", rules=["4.1.4", rules], n="1 MiB"
    )
    assert explorer.machine.value == "mine (yours)"
    assert [row[0] for row in explorer.rows()] == ["Open MPI 4.1.4", "example.rules", "least time by the model"]
    assert explorer.rows()[1][2].startswith("example.rules: P >= 64, ")
    assert "P = 64, n = 1 MiB" in explorer.readout.value
    before = explorer.image.value
    explorer.collective.value = "barrier"
    assert explorer.image.value != before
    assert repr(explorer) == "<ChoiceExplorer: barrier on mine (yours), P = 64>"


def test_maps_of_two_libraries_share_a_scale():
    maps = [
        oa.choice_map("example", "bcast", [2, 8, 40], 2 ** np.arange(0, 26, 2), rules=rules, segment_bytes=[0])
        for rules in ("4.0", "4.1")
    ]
    axes = plots.choice_map([*maps, maps[0]], ("regret", "regret", "library"))
    assert [ax.get_title() for ax in axes] == [
        "regret: Open MPI 4.0, time over the least", "regret: Open MPI 4.1, time over the least", "Open MPI 4.0 takes",
    ]  # fmt: skip
    scales = [ax.collections[0].get_clim() for ax in axes[:2]]
    worst = max(float(found.data["regret"].max()) for found in maps)
    assert scales == [(1.0, worst)] * 2
    other = oa.choice_map("example", "barrier", [2, 8], [1, 2])
    for wrong in (maps, [maps[0], other, other]):
        with pytest.raises(QuantityError, match="maps of one collective"):
            plots.choice_map(wrong, ("library", "library", "best"))


def test_what_a_stored_notebook_shows(explorer):
    bundle = explorer._repr_mimebundle_()
    assert base64.b64decode(bundle["image/png"]) == explorer.image.value
    assert "application/vnd.jupyter.widget-view+json" in bundle


@pytest.mark.parametrize(
    "given",
    [
        {"machine": "musika"}, {"machine": None}, {"collective": "alreduce"}, {"buffers": "disk"}, {"P": 1},
        {"n": "1 MB/s"}, {"rules": []}, {"rules": ["4.0", "4.1", "5.0", "5.0"]}, {"rules": "9.9"}, {"rule": "4.1"},
    ],
)  # fmt: skip
def test_what_is_wrong_is_refused(given):
    with pytest.raises(OrreryError):
        explore_choices(**{"machine": "example", **given})


def test_what_is_said_of_blocks_is_what_the_map_shows():
    """Up to 4.0 the decision for allgatherv looks at the sum of all blocks, the map's n is one."""
    explorer = explore_choices("musica", "allgatherv", P=64, n=1024, rules="openmpi-4.0")
    data = oa.regret("musica", "allgatherv", 64, 1024, rules="openmpi-4.0")
    assert explorer.rows()[0][1] == data["library"].item() == "neighbor"
