"""Pictures of schedules: every message is there, no labels overlap, a round looks alike in each of them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.patches import FancyArrowPatch
from PIL import Image

import orrery_analytic as oa
from orrery_analytic import plots
from orrery_analytic.errors import QuantityError, ScheduleError, UnknownNameError
from orrery_analytic.plots.spread import messages_of, orientation, spread
from orrery_analytic.schedules.operations import recv, send

NUMBERS = {
    "alpha": 2e-6, "beta": 5e-11, "gamma": 1e-10, "L": 1e-6, "o": 5e-7, "g": 7.5e-7, "G": 5e-11,
}  # fmt: skip
RANKS = (2, 5, 8, 16, 33)


def space_time(schedule: oa.Schedule) -> Axes:
    return plots.space_time(schedule, oa.Hockney(), **NUMBERS)


VIEWS: dict[str, Callable[..., Axes]] = {
    "tree": plots.tree, "grid": plots.grid, "overlay": plots.overlay, "butterfly": plots.butterfly,
    "space_time": space_time,
}  # fmt: skip
DRAWN = [
    ("tree", "bcast", "binomial"),
    ("tree", "bcast", "basic_linear"),
    ("tree", "gather", "binomial"),
    ("tree", "reduce", "pipeline"),
    ("overlay", "allgather", "bruck"),
    ("butterfly", "allreduce", "recursive_doubling"),
    ("butterfly", "allreduce", "rabenseifner"),
    ("butterfly", "allreduce", "ring"),
    ("space_time", "allreduce", "ring"),
    ("space_time", "reduce", "binomial"),
]


def arrows(ax: Axes) -> list[FancyArrowPatch]:
    return [patch for patch in ax.patches if isinstance(patch, FancyArrowPatch)]


def messages(schedule: oa.Schedule) -> int:
    return sum(len(schedule.sends(rank)) for rank in range(schedule.P))


def texts(ax: Axes) -> list[Any]:
    """Everything that is written in a figure."""
    figure: Any = ax.figure
    found: list[Any] = [*ax.texts, *figure.texts]
    if (legend := ax.get_legend()) is not None:
        found += legend.get_texts()
    if ax.axison:
        low, high = ax.get_xlim()
        ticks = zip(ax.get_xticks(), ax.get_xticklabels(), strict=True)
        found += [label for x, label in ticks if low <= x <= high]
        found += [*ax.get_yticklabels(), ax.xaxis.label, ax.yaxis.label]
    return [text for text in found if text.get_text()]


def assert_readable(ax: Axes) -> None:
    figure: Any = ax.figure
    figure.canvas.draw()
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts(ax)]
    assert [(a, b) for (a, box), (b, other) in combinations(boxes, 2) if box.overlaps(other)] == []
    right, top = figure.bbox.x1 + 1, figure.bbox.y1 + 1
    assert [a for a, box in boxes if box.x0 < -1 or box.y0 < -1 or box.x1 > right or box.y1 > top] == []


@pytest.mark.parametrize("P", RANKS)
@pytest.mark.parametrize(("view", "collective", "algorithm"), DRAWN)
def test_labels_do_not_overlap(view: str, collective: str, algorithm: str, P: int) -> None:
    assert_readable(VIEWS[view](oa.schedule(collective, algorithm, P, count=1320)))


@pytest.mark.parametrize("P", RANKS[:4])
@pytest.mark.parametrize("algorithm", ["bruck", "ring"])
def test_labels_of_a_grid_do_not_overlap(algorithm: str, P: int) -> None:
    assert_readable(plots.grid(oa.schedule("allgather", algorithm, P, count=1320)))


@pytest.mark.parametrize("P", [2, 5, 8, 16])
def test_labels_of_traces_do_not_overlap(P: int) -> None:
    trace = oa.schedule("bcast", "binomial", P, count=1320).trace(oa.LogGP(), **NUMBERS)
    for view in (plots.tree, plots.butterfly, plots.space_time):
        assert_readable(view(trace))


@pytest.mark.parametrize("P", [2, 5, 8, 13])
def test_there_are_as_many_arrows_as_messages(P: int) -> None:
    for collective, algorithm in (("bcast", "binomial"), ("gather", "binomial"), ("reduce", "chain")):
        schedule = oa.schedule(collective, algorithm, P, count=12)
        assert len(arrows(plots.tree(schedule))) == messages(schedule) == P - 1
    for algorithm in ("ring", "bruck", "recursive_doubling"):
        schedule = oa.schedule("allgather", algorithm, P, count=12)
        assert len(arrows(plots.grid(schedule))) == P * (P - 1)  # one message a rank and source, but its own
        assert len(arrows(plots.butterfly(schedule))) == messages(schedule)
    ring = oa.schedule("allgather", "ring", P, count=12)
    assert len(arrows(plots.overlay(ring))) == messages(ring)


@pytest.mark.parametrize("network", [oa.Hockney(), oa.LogGP()])
def test_space_time_holds_each_message_and_reduction_and_the_path(network: Any) -> None:
    schedule = oa.schedule("allreduce", "rabenseifner", 6, count=64)
    trace = schedule.trace(network, **NUMBERS)
    ax = plots.space_time(schedule, network, **NUMBERS)
    named: dict[str, Any] = {str(made.get_gid()): made for made in ax.collections}
    for k, each in enumerate(schedule.rounds()):
        ends = {(m.source, m.destination) for m in trace.messages if m.round == k}
        segments = named[f"round {k}"].get_segments()
        assert len(segments) == len(each.messages)
        assert {(int(a[1]), int(b[1])) for a, b in segments} == ends
    assert len(named["reductions"].get_paths()) == len(trace.reductions) > 0
    path = named["critical path"].get_segments()
    assert (path[0][0][0], path[-1][1][0]) == (0, trace.time)
    assert ax.get_xlim() == (0, trace.time)
    assert sum(width > 1 for width in named["reductions"].get_linewidth()) > 0


def looks(ax: Axes) -> dict[str, Any]:
    """Colour and dashes of each round, as drawn; and as the legend says, which must be the same."""
    drawn: dict[str, Any] = {}
    for patch in arrows(ax):
        assert drawn.setdefault(str(patch.get_gid()), patch.get_edgecolor()) == patch.get_edgecolor()
    for made in ax.collections:
        name = str(made.get_gid())
        if name.startswith("round") and not name.endswith("ends"):
            drawn[name] = tuple(made.get_edgecolor()[0])
    legend = ax.get_legend()
    assert legend is not None
    named = {t.get_text().partition(":")[0]: h for t, h in zip(legend.get_texts(), legend.legend_handles, strict=True)}
    told = {name: to_rgba(line.get_color()) for name, line in named.items() if name.startswith("round")}  # type: ignore[union-attr]
    assert drawn == told
    return drawn


def test_a_round_has_one_look_in_all_views() -> None:
    schedule = oa.schedule("allgather", "ring", 9, count=12)
    first, *others = (looks(view(schedule)) for view in VIEWS.values())
    assert len(first) == 8
    assert all(other == first for other in others)
    styles = {(str(p.get_gid()), p.get_linestyle()) for p in arrows(plots.butterfly(schedule))}
    assert len(styles) == 8  # one a round
    pairs = {(p.get_edgecolor(), p.get_linestyle()) for p in arrows(plots.butterfly(schedule))}
    assert len(pairs) == 8  # no two rounds alike, though there are six colours


def test_neighbouring_rounds_differ_without_colour() -> None:
    look = plots.rounds.Look()
    assert all(str(look(k)["linestyle"]) != str(look(k + 1)["linestyle"]) for k in range(64))


def test_a_palette_is_taken_in_turn() -> None:
    schedule = oa.schedule("bcast", "chain", 5, count=4, fan=1)
    for palette in (["#FF0000", "blue"], "#FF0000, blue"):
        colours = [patch.get_edgecolor() for patch in arrows(plots.tree(schedule, palette=palette))]
        assert colours == [to_rgba(name) for name in ("red", "blue", "red", "blue")]
    with pytest.raises(QuantityError, match="'reddish' is no colour"):
        plots.tree(schedule, palette=["reddish"])


def test_what_is_not_wanted_is_left_away() -> None:
    schedule = oa.schedule("bcast", "binomial", 4, count=4)
    ax = plots.tree(schedule, labels=False, row_labels=False, legend=False)
    assert sorted(text.get_text() for text in ax.texts) == ["0", "1", "2", "3"]
    assert ax.get_legend() is None
    told = [text.get_text() for text in plots.tree(schedule).texts]
    assert told.count("16 B") == 3
    assert {"start", "round 0", "round 1"} <= set(told)
    for view in (plots.grid, plots.overlay, plots.butterfly):
        ax = view(schedule, labels=False, legend=False)
        assert ax.get_legend() is None
        assert not [text for text in ax.texts if "B" in text.get_text()]


def test_segments_are_counted_and_traces_tell_times() -> None:
    schedule = oa.schedule("bcast", "pipeline", 3, count=8, segment_bytes=8)
    assert [text.get_text() for text in plots.tree(schedule).texts].count("4 × 8 B") == 2
    trace = schedule.trace(oa.Hockney(1e-6, 0), **NUMBERS)
    assert [text.get_text() for text in plots.tree(trace).texts].count("4 × 1 us") == 2
    legend = plots.grid(oa.schedule("gather", "binomial", 6, count=4), "up").get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["round 0: 16 B", "round 1: 32 B", "round 2: 32 B"]


@pytest.mark.parametrize(
    ("collective", "algorithm", "root", "expected"),
    [
        ("bcast", "binomial", 3, (3, False)),
        ("scatter", "basic_linear", 1, (1, False)),
        ("gather", "binomial", 2, (2, True)),
        ("reduce", "chain", 2, (2, True)),
        ("reduce", "pipeline", 3, (3, True)),
        ("allgather", "ring", 0, (0, False)),
    ],
)
def test_root_and_direction_are_found(collective: str, algorithm: str, root: int, expected: tuple[int, bool]) -> None:
    schedule = oa.schedule(collective, algorithm, 6, count=4, root=root, fan=1)
    found = messages_of(schedule)
    assert orientation(schedule, found, None, "auto") == expected
    assert orientation(schedule, found, root, "auto") == expected
    assert orientation(schedule, found, None, "up" if expected[1] else "down") == expected
    assert orientation(schedule.trace(oa.Hockney(), **NUMBERS), found, None, "auto") == expected


def test_two_ranks_have_rank_0_as_root() -> None:
    for collective, up in (("bcast", False), ("gather", True), ("reduce", True)):
        schedule = oa.schedule(collective, "binomial", 2, count=4)
        assert orientation(schedule, messages_of(schedule), None, "auto") == (0, up)


@pytest.mark.parametrize("P", [2, 7, 16, 33])
@pytest.mark.parametrize("up", [False, True])
def test_ranks_of_a_tree_have_places_of_their_own_and_time_goes_down(P: int, up: bool) -> None:
    for algorithm in ("bruck", "ring", "recursive_doubling"):
        drawn = spread(messages_of(oa.schedule("allgather", algorithm, P, count=4)), 1, up)
        places = drawn.places()
        assert len(set(places.values())) == len(places) == P
        assert all(places[edge.source][1] < places[edge.destination][1] for edge in drawn.edges)
        assert [min(numbers) for numbers in zip(*places.values(), strict=True)] == [0, 0]


def test_one_round_is_shown_alone() -> None:
    schedule = oa.schedule("allgather", "bruck", 5, count=4)
    for view in VIEWS.values():
        ax = view(schedule)
        plots.show_round(ax, 1)
        artists = [made for made in (*ax.patches, *ax.collections) if str(made.get_gid()).startswith("round")]
        assert {str(made.get_gid()) for made in artists if made.get_alpha() is None} == {"round 1"}
        plots.show_round(ax, None)
        assert {made.get_alpha() for made in artists} == {None}


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_files_are_written(tmp_path: Path, ending: str) -> None:
    schedule = oa.schedule("allgather", "ring", 4, count=4)
    for name in VIEWS:
        path = tmp_path / f"{name}.{ending}"
        options: dict[str, Any] = {"network": oa.Hockney(), **NUMBERS} if name == "space_time" else {}
        ax = getattr(plots, name)(schedule, file=path, dpi=50, **options)
        assert path.stat().st_size > 1000
        if ending == "png":
            size = ax.figure.get_size_inches()
            with Image.open(path) as image:
                assert image.size == pytest.approx((50 * size[0], 50 * size[1]), abs=1.1)


def test_columns_of_a_grid() -> None:
    schedule = oa.schedule("allgather", "ring", 6, count=4)
    tall, wide = (plots.grid(schedule, columns=n).figure.get_size_inches() for n in (1, 6))
    assert tall[1] > 3 * wide[1]
    assert wide[0] > 2 * tall[0]
    assert "to 5" in [text.get_text() for text in plots.grid(schedule, "up").texts]


def test_what_cannot_be_drawn_is_refused() -> None:
    schedule = oa.schedule("bcast", "binomial", 4, count=4)
    with pytest.raises(QuantityError, match="root must be a rank, 0 to 3, but 4"):
        plots.tree(schedule, root=4)
    with pytest.raises(ScheduleError, match="rank 3 sends nothing"):
        plots.tree(schedule, root=3, direction="down")
    with pytest.raises(UnknownNameError, match="direction"):
        plots.tree(schedule, direction="sideways")
    with pytest.raises(UnknownNameError, match="direction"):
        plots.grid(schedule, direction="auto")
    with pytest.raises(QuantityError, match="columns must be"):
        plots.grid(schedule, columns=0)
    with pytest.raises(QuantityError, match="dpi must be"):
        plots.butterfly(schedule, dpi=0)
    with pytest.raises(QuantityError, match="give one, for example"):
        plots.space_time(schedule)
    with pytest.raises(UnknownNameError, match="no value was given for alpha"):
        plots.space_time(schedule, oa.Hockney(), beta=1)
    many = oa.Schedule(2, lambda rank: ((recv(0, 1, k) if rank else send(1, 1, k)) for k in range(6001)))
    with pytest.raises(QuantityError, match=r"6001 messages\. A picture holds 6000"):
        plots.butterfly(many)


def test_a_schedule_of_nothing() -> None:
    alone = oa.schedule("allgather", "ring", 1, count=4)
    for view in (plots.grid, plots.overlay, plots.butterfly, space_time):
        assert_readable(view(alone))
    with pytest.raises(ScheduleError, match="rank 0 sends nothing"):
        plots.tree(alone)
