"""Pictures of schedules: every message is there, no labels overlap, a round looks alike in each of them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.patches import FancyArrowPatch
from PIL import Image

import orrery_analytic as oa
from orrery_analytic import plots
from orrery_analytic.errors import QuantityError, ScheduleError, UnknownNameError
from orrery_analytic.plots.rounds import Look
from orrery_analytic.plots.spread import messages_of, orientation, spread
from orrery_analytic.schedules.operations import recv, send
from orrery_analytic.schedules.trace import Message, Trace

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
    ("tree", "bcast", "knomial"),
    ("tree", "bcast", "chain"),
    ("tree", "bcast", "split_binary_tree"),
    ("tree", "bcast", "scatter_allgather"),
    ("tree", "gather", "binomial"),
    ("tree", "reduce", "rabenseifner"),
    ("tree", "reduce", "pipeline"),
    ("grid", "allgather", "bruck"),
    ("grid", "reduce", "chain"),
    ("overlay", "allgather", "bruck"),
    ("overlay", "allgather", "neighbor"),
    ("butterfly", "allreduce", "rabenseifner"),
    ("butterfly", "allreduce", "ring"),
    ("butterfly", "alltoall", "pairwise"),
    ("butterfly", "bcast", "scatter_allgather"),
    ("space_time", "allreduce", "ring"),
    ("space_time", "barrier", "tree"),
    ("space_time", "reduce", "rabenseifner"),
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
    for each in figure.axes:
        if each.axison:
            for axis, (low, high) in ((each.xaxis, each.get_xlim()), (each.yaxis, sorted(each.get_ylim()))):
                found += [tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
                found += [tick.label2 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
            found += [each.xaxis.label, each.yaxis.label, each._left_title]
    return [text for text in found if text.get_text() and text.get_visible()]


def assert_readable(ax: Axes) -> None:
    """Nothing written overlaps, leaves the figure or is tiny. Arrows are left away: they take long and move no text."""
    figure: Any = ax.figure
    for artist in (*ax.patches, *ax.collections):
        artist.set_visible(False)
    figure.canvas.draw()
    written = texts(ax)
    boxes = np.array([text.get_window_extent().extents for text in written])
    low, high = boxes[:, None, :2], boxes[:, None, 2:]
    together = np.all((low < boxes[:, 2:]) & (boxes[:, :2] < high), axis=2)
    pairs = [(written[a].get_text(), written[b].get_text()) for a, b in np.argwhere(np.triu(together, 1))]
    assert pairs == []
    inside = np.all((boxes >= -1) & (boxes <= [*figure.bbox.size + 1] * 2), axis=1)
    assert [text.get_text() for text, good in zip(written, inside, strict=True) if not good] == []
    assert min(text.get_fontsize() for text in written) >= 6.5


@pytest.mark.parametrize("P", RANKS)
@pytest.mark.parametrize("row", [row for row in DRAWN if row[0] != "tree"])
def test_labels_do_not_overlap(row: tuple[str, str, str], P: int) -> None:
    view, collective, algorithm = row
    assert_readable(VIEWS[view](oa.schedule(collective, algorithm, P, count=1320)))


def crosses(begin: Any, end: Any, box: Any) -> bool:
    """Tell whether a straight line from begin to end runs through a box (x0, y0, x1, y1)."""
    at, to = 0.0, 1.0
    for x, d, low, high in zip(begin, np.subtract(end, begin), box[:2], box[2:], strict=True):
        if d:
            at, to = max(at, min((low - x) / d, (high - x) / d)), min(to, max((low - x) / d, (high - x) / d))
        elif not low < x < high:
            return False
    return at < to


@pytest.mark.parametrize("P", RANKS)
@pytest.mark.parametrize("row", [row for row in DRAWN if row[0] == "tree"])
def test_labels_of_a_tree_do_not_overlap_and_arrows_pass_by(row: tuple[str, str, str], P: int) -> None:
    ax = plots.tree(oa.schedule(*row[1:], P, count=1320))
    lines = [patch._posA_posB for patch in arrows(ax)]  # type: ignore[attr-defined]
    assert_readable(ax)
    places = {text.get_text(): text.get_position() for text in ax.texts if text.get_text().isdigit()}
    assert len(places) == P
    back = ax.transData.inverted()
    for begin, end in lines:
        for place in places.values():
            if place not in (begin, end):
                assert not crosses(begin, end, (*np.subtract(place, 0.1), *np.add(place, 0.1)))
        for text in ax.texts:
            if not text.get_text().isdigit():
                (x0, y1), (x1, y0) = back.transform(text.get_window_extent().get_points())
                assert not crosses(begin, end, (x0, y0 + 0.02, x1, y1 - 0.02)), text  # without what hangs and rises


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


def looks(ax: Axes) -> dict[str, tuple[Any, str]]:
    """Colour and dashes of each round, as drawn; and as the legend says, which must be the same."""
    drawn: dict[str, tuple[Any, str]] = {}
    for patch in arrows(ax):
        look = patch.get_edgecolor(), str(patch.get_linestyle())
        assert drawn.setdefault(str(patch.get_gid()), look) == look
    for made in ax.collections:
        name = str(made.get_gid())
        if name.startswith("round") and not name.endswith("ends") and len(made.get_edgecolor()):
            colour = tuple(made.get_edgecolor()[0])
            name = " ".join(name.split()[:2])
            assert drawn.setdefault(name, (colour, ""))[0] == colour
    legend = ax.get_legend()
    if legend is not None:
        lines = zip(legend.get_texts(), legend.legend_handles, strict=True)
        told = {text.get_text().partition(":")[0]: handle for text, handle in lines}
        rounds = {name: to_rgba(line.get_color()) for name, line in told.items() if name.startswith("round")}  # type: ignore[union-attr]
        assert rounds == {} or rounds == {name: colour for name, (colour, _) in drawn.items()}
    return drawn


@pytest.mark.parametrize(("algorithm", "P"), [("ring", 6), ("ring", 9), ("ring", 14), ("bruck", 12)])
def test_a_round_has_one_look_in_all_views(algorithm: str, P: int) -> None:
    schedule = oa.schedule("allgather", algorithm, P, count=12)
    views = {name: looks(view(schedule)) for name, view in VIEWS.items()}
    colours = {name: [look[0] for _, look in sorted(view.items())] for name, view in views.items()}
    assert len(colours["tree"]) == len(schedule.rounds())
    assert all(each == colours["tree"] for each in colours.values())
    assert views["tree"] == views["grid"] == views["overlay"] == views["butterfly"]
    assert len({*views["tree"].values()}) == len(schedule.rounds())  # no two alike


def test_a_tree_of_some_rounds_has_the_colours_of_the_whole() -> None:
    schedule = oa.schedule("bcast", "scatter_allgather", 16, count=1320)
    part, whole = looks(plots.tree(schedule)), looks(plots.butterfly(schedule))
    assert len(part) == 4
    assert part.items() <= whole.items()


def test_a_trace_has_the_colours_of_its_schedule() -> None:
    schedule = oa.schedule("allreduce", "ring", 5, count=1320)
    assert looks(plots.butterfly(schedule)) == looks(plots.butterfly(schedule.trace(oa.Hockney(), **NUMBERS)))


def lightness(colour: Any) -> float:
    """CIE L* of a colour, 0 (black) to 100 (white): how light it is in a grey print."""
    rgb = np.array(to_rgba(colour)[:3])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    y = float(linear @ [0.2126, 0.7152, 0.0722])
    return 116 * y ** (1 / 3) - 16 if y > 0.008856 else 903.3 * y


def look_of(rounds: int) -> Look:
    return Look(None, [Message(0, 1, 1, k, None, None) for k in range(rounds)])


@pytest.mark.parametrize("rounds", range(2, 13))
def test_rounds_differ_without_colour(rounds: int) -> None:
    looks_of_all = [look_of(rounds)(k) for k in range(rounds)]
    for a, b in combinations(looks_of_all, 2):
        apart = abs(lightness(a["color"]) - lightness(b["color"]))
        assert str(a["linestyle"]) != str(b["linestyle"]) or apart > 20
    assert all(lightness(each["color"]) < 85 for each in looks_of_all)  # all show on white


@pytest.mark.parametrize("rounds", [7, 12, 13, 32, 64])
def test_many_rounds_go_from_dark_to_light_in_even_steps(rounds: int) -> None:
    light = np.array([lightness(look_of(rounds)(k)["color"]) for k in range(rounds)])
    assert light[0] < 20
    assert 75 < light[-1] < 85
    steps = np.diff(light)
    assert steps.min() > 0.6 * steps.mean()
    assert steps.max() < 1.5 * steps.mean()


def test_a_colour_bar_takes_the_place_of_a_long_legend() -> None:
    figure: Any = plots.butterfly(oa.schedule("allgather", "ring", 13, count=12)).figure
    assert len(figure.axes) == 1
    ring = oa.schedule("allreduce", "ring", 8, count=1320)
    ax = plots.butterfly(ring)
    figure = ax.figure
    bar = figure.axes[1]
    assert bar.get_title(loc="left") == "round"
    assert [*bar.get_ylim()] == [13.5, -0.5]  # the first round is at the top
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["reduces"]
    assert len(plots.butterfly(ring, legend=False).figure.axes) == 1
    named = plots.butterfly(ring, palette="red,blue").get_legend()
    assert named is not None
    assert len(named.get_texts()) == 15  # 14 rounds, and the reductions; a palette has no order that a bar could show


def test_a_palette_is_taken_in_turn() -> None:
    schedule = oa.schedule("bcast", "chain", 5, count=4, fan=1)
    for palette in (["#FF0000", "blue"], "#FF0000, blue"):
        colours = [patch.get_edgecolor() for patch in arrows(plots.tree(schedule, palette=palette))]
        assert colours == [to_rgba(name) for name in ("red", "blue", "red", "blue")]
    with pytest.raises(QuantityError, match="'reddish' is no colour"):
        plots.tree(schedule, palette=["reddish"])
    for palette in (5, [3]):
        with pytest.raises(QuantityError, match="palette"):
            plots.tree(schedule, palette=palette)  # type: ignore[arg-type]


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
    ax = plots.space_time(schedule, oa.Hockney(), labels=False, **NUMBERS)
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["round 0", "round 1", "critical path"]


def test_a_broad_tree_says_what_its_rows_carry() -> None:
    schedule = oa.schedule("gather", "binomial", 33, count=4)
    told = [text.get_text() for text in plots.tree(schedule).texts]
    assert {"round 0: 16 B", "round 1: 32 B", "round 5: 16 B", "end"} <= set(told)
    assert "16 B" not in told
    assert [text.get_text() for text in plots.tree(schedule, row_labels=False).texts].count("16 B") == 17
    assert plots.tree(schedule).figure.get_size_inches()[0] < 10


def test_what_is_the_same_in_many_rounds_is_said_once() -> None:
    ax = plots.butterfly(oa.schedule("allgather", "ring", 14, count=4))
    assert [text.get_text() for text in ax.figure.texts] == ["allgather ring, P = 14, 16 B a message"]
    assert "16 B" not in [text.get_text() for text in ax.texts]


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
        ("bcast", "scatter_allgather", 3, (3, False)),
        ("bcast", "chain", 1, (1, False)),
        ("gather", "linear_sync", 1, (1, True)),
        ("reduce", "rabenseifner", 2, (2, True)),
        ("allgather", "ring", 0, (0, False)),
    ],
)
def test_root_and_direction_are_found(collective: str, algorithm: str, root: int, expected: tuple[int, bool]) -> None:
    schedule = oa.schedule(collective, algorithm, 6, count=4, root=root, fan=1)
    found = messages_of(schedule)
    assert orientation(schedule, found, None, "auto") == expected
    assert orientation(schedule, found, None, "up" if expected[1] else "down") == expected
    assert orientation(schedule.trace(oa.Hockney(), **NUMBERS), found, None, "auto") == expected


def test_two_ranks_have_rank_0_as_root() -> None:
    for collective, up in (("bcast", False), ("gather", True), ("reduce", True)):
        schedule = oa.schedule(collective, "binomial", 2, count=4)
        assert orientation(schedule, messages_of(schedule), None, "auto") == (0, up)
        nameless = oa.Schedule(2, schedule.program)
        assert orientation(nameless, messages_of(nameless), None, "auto") == (0, up)


def test_a_root_that_never_sends_has_a_tree_that_goes_up() -> None:
    schedule = oa.schedule("gather", "binomial", 6, count=4, root=2)
    found = messages_of(schedule)
    assert orientation(schedule, found, 2, "auto") == (2, True)
    assert orientation(schedule, found, 3, "auto") == (3, False)


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
        assert {str(made.get_gid())[:7] for made in artists if made.get_alpha() is None} == {"round 1"}
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
    for dpi in (0, -1, nan, float("inf"), "100", True):
        with pytest.raises(QuantityError, match="dpi must be"):
            plots.butterfly(schedule, dpi=dpi)  # type: ignore[arg-type]
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


US = 1e-6
MEASURED = Trace(
    6,
    (
        Message(0, 1, nan, 1, 0.0, 3 * US),
        Message(0, 1, None, 2, 1 * US, None),  # nobody has received it
        Message(0, 2, nan, 2, 3 * US, 7 * US),
        Message(1, 3, nan, 2, 3.5 * US, 8 * US),
        Message(5, 4, None, 2, nan, 6 * US),  # nobody has sent it
        Message(0, 4, nan, 3, 7 * US, 12 * US),
        Message(2, 5, nan, 3, 8 * US, 11.5 * US),
    ),
    (),
    (12 * US, 8 * US, 11 * US, 8 * US, 12 * US, nan),
    name="measured",
)
"""As a file of measured messages has it: no bytes, and some messages of which one end alone is known."""


def legend_of(ax: Axes) -> list[str]:
    legend = ax.get_legend()
    assert legend is not None
    return [text.get_text() for text in legend.get_texts()]


@pytest.mark.parametrize("view", ["tree", "grid", "overlay", "butterfly", "space_time"])
def test_what_was_measured_is_drawn_though_parts_are_unknown(view: str) -> None:
    ax = getattr(plots, view)(MEASURED)
    assert legend_of(ax)[:3] == (
        ["round 1", "round 2", "round 3"]
        if view in ("tree", "butterfly")
        else ["round 1: 3 us", "round 2: 4 to 4.5 us", "round 3: 3.5 to 5 us"]
    )
    assert ax.figure.texts[0].get_text() == "measured, P = 6: 12 us"
    assert_readable(ax)


def test_messages_with_one_end_are_marked() -> None:
    for ax, marked in ((plots.butterfly(MEASURED), 2), (plots.space_time(MEASURED), 2), (plots.tree(MEASURED, 5), 1)):
        assert sum(line.get_marker() == "x" for line in ax.lines) == marked
        assert legend_of(ax)[-1] == "unmatched"
    tips = [line.get_xydata()[0].tolist() for line in plots.space_time(MEASURED).lines if line.get_marker() == "x"]
    assert tips == [[1 * US, 0.4], [6 * US, 4.4]]  # towards the other end: rank 1, and rank 5
    assert [text.get_text() for text in plots.tree(MEASURED, 5).texts].count("?") == 1
    assert "unmatched" not in legend_of(plots.tree(MEASURED))


def test_rounds_of_a_trace_may_have_any_numbers() -> None:
    run = oa.schedule("allgather", "ring", 14, count=4).trace(oa.Hockney(), **NUMBERS)
    shifted = tuple(Message(m.source, m.destination, None, 10**9 + 7 * m.round, m.start, m.end) for m in run.messages)
    ax = plots.overlay(Trace(14, shifted, (), run.finish))
    assert {*looks(ax).values()} == {*looks(plots.overlay(run)).values()}
    figure: Any = ax.figure
    figure.canvas.draw()
    names = [text.get_text() for text in figure.axes[1].get_yticklabels() if text.get_text()]
    assert names[:2] == ["1000000000", "1000000021"]
    ends_first = Trace(2, (Message(0, 1, None, 0, 5 * US, 3 * US),), (), (5 * US, 3 * US))  # clocks differ
    assert legend_of(plots.space_time(ends_first)) == ["round 0: -2 us"]


def test_bytes_that_are_not_known_are_no_number() -> None:
    unknown = Trace(2, (Message(0, 1, None, 0, None, None), Message(1, 0, nan, 1, None, None)), (), (None, None))
    ax = plots.butterfly(unknown)
    assert [text.get_text() for text in ax.texts].count("?") == 2


@pytest.mark.parametrize("view", ["tree", "butterfly", "space_time"])
def test_a_prediction_lies_beneath(view: str) -> None:
    predicted = oa.schedule("bcast", "binomial", 6, count=4096)
    options: dict[str, Any] = {"network": oa.Hockney(), **NUMBERS} if view == "space_time" else {}
    ax = getattr(plots, view)(MEASURED, predicted=predicted, **options)
    assert "predicted" in legend_of(ax)
    if view == "space_time":
        (thin,) = [made for made in ax.collections if made.get_gid() == "predicted"]
        assert len(thin.get_segments()) == 5
        assert "predicted" in ax.figure.texts[0].get_text()
        again = plots.space_time(MEASURED, predicted=predicted.trace(oa.Hockney(), **NUMBERS))
        assert again.get_xlim() == ax.get_xlim() == (0, 12 * US)
        thick = [made for made in ax.collections if str(made.get_gid()).startswith("round")]
    else:
        thin = next(patch for patch in arrows(ax) if patch.get_gid() == "predicted")
        assert sum(patch.get_gid() == "predicted" for patch in arrows(ax)) == 5
        thick = [patch for patch in arrows(ax) if patch.get_gid() != "predicted"]
    assert all(thin.get_zorder() < made.get_zorder() for made in thick)
    assert_readable(ax)
    with pytest.raises(QuantityError, match="schedule or trace of 6 ranks"):
        getattr(plots, view)(MEASURED, predicted=oa.schedule("bcast", "binomial", 5, count=1), **options)
    with pytest.raises(QuantityError, match="schedule or trace of 6 ranks, but 3 was"):
        getattr(plots, view)(MEASURED, predicted=3, **options)
