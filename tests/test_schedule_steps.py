"""The stepper: one round at a time, drawn onto a picture that is kept."""

from __future__ import annotations

import base64
import io
from typing import Any

import numpy as np
import pytest
from PIL import Image

import orrery_analytic as oa
from orrery_analytic import plots
from orrery_analytic.errors import QuantityError, UnknownNameError
from orrery_analytic.widgets import ScheduleSteps, explore_schedule

SCHEDULE = oa.schedule("bcast", "scatter_allgather", 5, count=1320)
TIMES: dict[str, Any] = {"network": oa.Hockney(), "alpha": 2e-6, "beta": 5e-11}


def pixels(png: bytes) -> Any:
    with Image.open(io.BytesIO(png)) as image:
        return np.asarray(image.convert("L"), dtype=float)


@pytest.mark.parametrize("view", ["butterfly", "tree", "grid", "overlay", "space_time"])
def test_a_step_looks_like_a_picture_drawn_anew(view: str) -> None:
    options = TIMES if view == "space_time" else {}
    steps = explore_schedule(SCHEDULE, view, **options)
    ax = getattr(plots, view)(SCHEDULE, **options)
    out = io.BytesIO()
    for k in (1, 0):
        steps.slider.value = k
        plots.show_round(ax, k)
        out.seek(0)
        ax.figure.savefig(out, format="png")
        kept, anew = pixels(steps.image.value), pixels(out.getvalue())
        assert kept.shape == anew.shape
        assert np.mean(np.abs(kept - anew) > 40) < 0.002


def test_each_round_has_its_picture_and_its_line() -> None:
    steps = explore_schedule(SCHEDULE, legend=False)
    pictures = []
    for k in range(8):
        steps.slider.value = k
        pictures.append(steps.image.value)
    assert len({*pictures}) == 8
    assert steps.line.value == "round 7, 1.03 KiB each: 0 to 1, 2 to 3"
    steps.slider.value = 0
    assert steps.image.value == pictures[0]  # nothing is left of the others
    many = explore_schedule(oa.schedule("allgather", "ring", 12, count=1))
    assert many.line.value.endswith("7 to 8 and 4 more")


def test_a_step_draws_the_messages_of_its_round_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = explore_schedule(SCHEDULE)
    drawn: list[str] = []
    monkeypatch.setattr(steps.axes, "draw_artist", lambda artist: drawn.append(str(artist.get_gid())))
    monkeypatch.setattr(steps.axes.figure.canvas, "draw", lambda: drawn.append("everything"))
    steps.slider.value = 3
    assert drawn.count("round 3") == len(SCHEDULE.rounds()[3].messages) == 4
    assert {*drawn} == {"round 3", "None"}  # and labels that stand on arrows


def test_the_play_button_walks_through_all_rounds() -> None:
    steps = explore_schedule(SCHEDULE)
    assert (steps.play.min, steps.play.max) == (0, 7)
    assert [*steps.slider.options] == [*range(8)]


def test_what_a_stored_notebook_shows() -> None:
    steps = explore_schedule(SCHEDULE)
    assert repr(steps) == "<ScheduleSteps of <Schedule bcast scatter_allgather, P = 5>: 8 rounds>"
    bundle = steps._repr_mimebundle_()
    assert base64.b64decode(bundle["image/png"]) == steps.image.value
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert isinstance(steps, ScheduleSteps)


def test_what_cannot_be_stepped_through_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="view"):
        explore_schedule(SCHEDULE, "trees")
    with pytest.raises(QuantityError, match="no messages"):
        explore_schedule(oa.schedule("allgather", "ring", 1, count=1))
