"""One move of a slider, from its value to the new pictures of both figures. `make bench` times it."""

from __future__ import annotations

from itertools import cycle
from typing import Any

import pytest

import orrery_analytic as oa


@pytest.mark.parametrize("buffers", ["host", "device"])
@pytest.mark.parametrize("slider", ["n", "P", "latency"])
def test_one_move(benchmark: Any, slider: str, buffers: str) -> None:
    explorer = oa.explore(buffers=buffers)
    controls = explorer.controls
    moved = controls.parameters.sliders[slider] if slider == "latency" else getattr(controls, slider)
    places = cycle((moved.index + 1, moved.index))

    def move() -> None:
        moved.index = next(places)

    before = bytes(explorer.curves_image.value)
    move()
    assert bytes(explorer.curves_image.value) != before
    move()
    benchmark(move)
