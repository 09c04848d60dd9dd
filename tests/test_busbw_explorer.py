"""The explorer of algbw and busbw: its bars and its words are what `bus_bandwidth` says."""

from __future__ import annotations

import base64
import io
import re
from typing import Any

import numpy as np
import pytest
from PIL import Image

import orrery_analytic as oa
from orrery_analytic.errors import OrreryError
from orrery_analytic.widgets.busbw import BusbwExplorer


def words(explorer: BusbwExplorer) -> str:
    return re.sub("<[^>]+>", " ", explorer.readout.value)


def pixels(png: bytes) -> Any:
    with Image.open(io.BytesIO(png)) as image:
        return np.asarray(image.convert("L"), dtype=float)


def test_122_gigabytes_on_a_link_of_48() -> None:
    explorer = oa.explore_busbw()
    link, algbw, busbw = explorer.bandwidths()
    assert (link, algbw, busbw) == (48.3e9, *oa.bus_bandwidth("allreduce", "256 MiB", "3290 us", 4))
    told = " ".join(words(explorer).split())
    assert told.startswith("allreduce, P = 4, 256 MiB in 3290 us algbw = 268,435,456 B / 3290 us = 81.59 GB/s")
    assert "(75.99 GiB/s)" in told  # 2^28 / 0.00329 / 2^30
    assert "busbw = algbw × 3/2 = 122.39 GB/s , 2.53 times one link of 48.3 GB/s" in told
    assert "each rank sent 3/2 × size = 384 MiB; in this time that is work for at least 3 such links" in told
    assert 'role="status"' in explorer.readout.value
    assert repr(explorer) == (
        "<BusbwExplorer: allreduce, P = 4, 256 MiB in 3290 us: algbw 81.59 GB/s, busbw 122.39 GB/s>"
    )


@pytest.mark.parametrize(
    ("collective", "P", "nbytes", "us", "used", "algbw", "busbw"),
    [  # the course's 64 MiB rows, and a copy
        ("AllToAll", 3, "64 MiB", 684.665, 67_108_848, "98.02", "65.34"),
        ("all_gather", 4, "64 MiB", 469.425, 67_108_864, "142.96", "107.22"),
        ("Broadcast", 2, "64 MiB", 1494.360, 67_108_864, "44.91", "44.91"),
        ("sendrecv", 2, 2**30, 20_000, 2**30, "53.69", "53.69"),
    ],
)
def test_other_collectives(
    collective: str, P: int, nbytes: int | str, us: float, used: int, algbw: str, busbw: str
) -> None:
    explorer = oa.explore_busbw(collective, P, nbytes, us * 1e-6)
    assert explorer.used == used
    assert f"algbw = {used:,} B" in words(explorer)
    assert f"= {algbw} GB/s" in " ".join(words(explorer).split())
    assert f"= {busbw} GB/s" in " ".join(words(explorer).split())
    assert ("of which nccl-tests uses" in words(explorer)) is (P == 3)
    assert ("work for one link." in words(explorer)) is (float(busbw) < 48.3)


def test_bars_are_as_long_as_they_say() -> None:
    explorer = oa.explore_busbw(link="40 GB/s")
    before = pixels(explorer.image.value)
    for name, value in (("P", 3), ("seconds", 2_000_000), ("nbytes", 2**20), ("link", 450_000)):
        getattr(explorer, name).value = value if name != "link" else explorer.link.options[-1][1]
        lengths = [bar.get_width() * 1e9 for bar in explorer._bars]
        assert lengths == pytest.approx(explorer.bandwidths())
        low, high = explorer._canvas.axes.get_xlim()
        assert low == 0
        assert max(lengths) < high * 1e9 < 2.1 * max(lengths)
        after = pixels(explorer.image.value)
        assert (after != before).any()
        before = after


def test_what_stays_is_not_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    explorer = oa.explore_busbw()
    before = explorer.image.value
    monkeypatch.setattr(explorer._canvas.figure.canvas, "draw", lambda: pytest.fail("everything was drawn again"))
    explorer.P.value = 3
    assert explorer.image.value != before
    explorer.P.value = 4
    assert explorer.image.value == before


def test_a_size_too_small_for_the_ranks_sends_nothing() -> None:
    explorer = oa.explore_busbw("allgather", 4096, "32 KiB")
    assert explorer.bandwidths()[1:] == (0, 0)
    assert "nothing is sent" in words(explorer)


def test_what_a_stored_notebook_shows() -> None:
    explorer = oa.explore_busbw()
    bundle = explorer._repr_mimebundle_()
    assert base64.b64decode(bundle["image/png"]) == explorer.image.value
    assert "application/vnd.jupyter.widget-view+json" in bundle


@pytest.mark.parametrize(
    "given",
    [
        {"collective": "alreduce"}, {"collective": "hypercube"}, {"collective": None}, {"P": 1}, {"P": 2.5},
        {"P": True}, {"nbytes": 0}, {"nbytes": "64 MiB/s"}, {"nbytes": 2**50}, {"seconds": 0}, {"seconds": 1e-12},
        {"seconds": float("nan")}, {"seconds": 10**400}, {"link": "48 GB"}, {"link": float("inf")}, {"link": 1e30},
        {"link": None},
    ],
)  # fmt: skip
def test_what_is_wrong_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(OrreryError):
        oa.explore_busbw(**given)
