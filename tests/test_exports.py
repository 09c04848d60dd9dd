import csv
import hashlib
import io
import itertools
import re
from pathlib import Path

import numpy as np
import pytest
import sympy as sp

import orrery_analytic as oa
from orrery_analytic import symbols
from orrery_analytic.algebra.derivations.layout import width, write
from orrery_analytic.errors import OrreryError, QuantityError, UnknownNameError
from orrery_analytic.exports import (
    crossover_statement,
    formula_latex,
    paper_axes,
    paper_curves,
    provenance,
    save_figure,
)
from orrery_analytic.exports import paper as paper_module
from orrery_analytic.exports.formula import letters_of
from orrery_analytic.plots import figure

P = [4, 16, 64, 256, 1024]


@pytest.fixture(autouse=True)
def no_pdflatex(monkeypatch):
    """PGF takes seconds: tests/latex tries it."""
    monkeypatch.setattr("shutil.which", lambda name: None)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shutil.which", lambda name: None)
        return oa.export("musica", "allreduce", P, 2**20, tmp_path_factory.mktemp("paper") / "new" / "allreduce")


def test_one_call_writes_everything_and_says_what_it_left_out(bundle):
    assert {p.name for p in bundle.folder.iterdir()} == set(bundle.files)
    assert set(bundle.files) == {
        "figure.pdf", "data.csv", "formula.tex", "derivation.tex", "sources.bib", "provenance.txt", "README.txt",
    }  # fmt: skip
    assert "needs pdflatex" in (bundle.folder / "README.txt").read_text()


def test_the_line_tells_version_machine_file_and_its_hash(bundle):
    content = (Path(__file__).parents[1] / "machines" / "musica.toml").read_bytes()
    assert oa.__version__ in bundle.line
    assert f"musica.toml, sha256 {hashlib.sha256(content).hexdigest()[:12]}" in bundle.line
    assert "P = 4 to 1024, n = 1048576 bytes" in bundle.line
    for name in ("provenance.txt", "formula.tex", "derivation.tex", "sources.bib", "README.txt"):
        assert bundle.line in (bundle.folder / name).read_text()
    assert b"sha256" in (bundle.folder / "figure.pdf").read_bytes()


def test_a_file_of_your_own_and_a_machine_that_was_changed(tmp_path):
    musica = oa.load_machine("musica")
    assert provenance(musica) == provenance("musica")
    own = tmp_path / "mine.toml"
    own.write_bytes((Path(__file__).parents[1] / "machines" / "musica.toml").read_bytes().replace(b"1.9 us", b"1.8 us"))
    assert f"mine.toml, sha256 {hashlib.sha256(own.read_bytes()).hexdigest()[:12]}" in provenance(str(own))
    assert "sha256 of its values" in provenance(oa.load_machine(own))
    assert "musica.toml" in provenance(musica.replace(bandwidth="21 GB/s"))
    made = oa.export(
        musica.replace(latency="3 us"), "allreduce", 16, [2**10, 2**20], tmp_path / "out", bandwidth="21 GB/s"
    )
    assert "what if" in made.line
    assert "bandwidth = 21 GB/s" in made.line
    assert "latency = 3 us" in made.line


def test_data_are_those_of_predict_in_si_with_units(bundle):
    rows = list(csv.DictReader(io.StringIO((bundle.folder / "data.csv").read_text())))
    data = oa.predict("musica", "allreduce", P, 2**20)
    assert [int(row["P (1)"]) for row in rows] == P
    seconds = [float(row["seconds (s)"]) for row in rows]
    np.testing.assert_allclose(seconds, data.seconds.to_numpy().ravel(), rtol=1e-8)
    np.testing.assert_allclose([float(row["rabenseifner (s)"]) for row in rows], seconds, rtol=1e-8)
    assert {row["runs"] for row in rows} == {"rabenseifner"}


def test_formulas_and_derivations_are_of_the_curves(bundle):
    cost = oa.collective_cost("allreduce", "rabenseifner")
    assert formula_latex(cost, "rabenseifner") in (bundle.folder / "formula.tex").read_text()
    assert oa.derivation("allreduce", "rabenseifner").latex() in (bundle.folder / "derivation.tex").read_text()


def test_the_same_call_gives_the_same_bytes(bundle, tmp_path):
    again = oa.export("musica", "allreduce", P, 2**20, tmp_path)
    for name in bundle.files:
        assert (tmp_path / name).read_bytes() == (bundle.folder / name).read_bytes(), name
    assert b"CreationDate" not in (again.folder / "figure.pdf").read_bytes()


def test_nothing_is_written_over_unless_told(bundle):
    before = (bundle.folder / "data.csv").read_bytes()
    with pytest.raises(QuantityError, match=r"data\.csv.*overwrite=True"):
        oa.export("musica", "allreduce", [4, 8], 2**20, bundle.folder)
    assert (bundle.folder / "data.csv").read_bytes() == before


def test_the_figure_is_as_wide_as_the_column_and_its_texts_of_one_size(tmp_path):
    made = oa.export(
        "musica", "bcast", P, 2**10, tmp_path, algorithms=["binomial", "chain"], column="double", font_size=9,
        network=oa.LogGP(), overwrite=True,
    )  # fmt: skip
    width = re.search(rb"MediaBox \[ 0 0 ([\d.]+) ", (tmp_path / "figure.pdf").read_bytes())
    assert float(width[1]) == pytest.approx(7.16 * 72, abs=0.1)
    texts = [made.axes.xaxis.label, made.axes.yaxis.label, *made.axes.get_legend().get_texts()]
    assert {text.get_fontsize() for text in texts} == {9.0}
    assert [t.get_text() for t in made.axes.get_legend().get_texts()][1:] == ["binomial", "chain"]


def test_any_figure_can_be_saved_for_a_paper(tmp_path):
    drawn, (axes,) = figure()
    axes.plot([1, 2], [3, 4], label="recursive_doubling, 50 %")
    files = save_figure(axes, tmp_path / "any", column=3.3)
    assert [f.name for f in files] == ["any.pdf"]
    assert drawn.get_size_inches()[0] == pytest.approx(3.3)
    with pytest.raises(QuantityError, match="there already"):
        save_figure(axes, tmp_path / "any")


def test_texts_for_pgf_are_escaped_and_put_back():
    axes = paper_axes()
    axes.set_xlabel("a_b & c #1")
    axes.set_ylabel("$x_1$")
    with paper_module._escaped(axes.figure):
        assert axes.get_xlabel() == r"a\_b \& c \#1"
        assert axes.get_ylabel() == "$x_1$"
    assert axes.get_xlabel() == "a_b & c #1"


@pytest.mark.parametrize(
    ("change", "error", "told"),
    [
        ({"machine": "musika"}, UnknownNameError, "Did you mean 'musica'"),
        ({"algorithms": ["rign"]}, UnknownNameError, "Did you mean 'ring'"),
        ({"algorithm": "ring"}, QuantityError, "algorithms="),
        ({"n": [1, 2]}, QuantityError, "one axis"),
        ({"n": 0}, QuantityError, "logarithmic axis"),
        ({"P": 1}, QuantityError, "on one rank a collective costs 0"),
        ({"column": "singel"}, UnknownNameError, "Did you mean 'single'"),
        ({"column": float("nan")}, QuantityError, "inches"),
        ({"column": True}, QuantityError, "inches"),
        ({"font_size": "8pt"}, QuantityError, "points"),
        ({"folder": ""}, QuantityError, "folder must be a path"),
        ({"folder": None}, QuantityError, "folder must be a path"),
        ({"folder": b"x"}, QuantityError, "folder must be a path"),
        ({"folder": "/dev/null/x"}, QuantityError, "cannot be made"),
    ],
)
def test_errors_teach(change, error, told, tmp_path):
    call = {"machine": "musica", "collective": "allreduce", "P": [4, 8], "n": 2**20, "folder": tmp_path / "a" / "b"}
    call |= change
    with pytest.raises(error, match=told) as raised:
        oa.export(**call)
    assert isinstance(raised.value, OrreryError)
    assert not list(tmp_path.iterdir())


def test_what_is_no_figure_or_path_is_refused(tmp_path):
    with pytest.raises(QuantityError, match="figure or Axes"):
        save_figure("figure", tmp_path / "x")
    with pytest.raises(QuantityError, match="stem must be a path"):
        save_figure(paper_axes(), None)
    with pytest.raises(QuantityError, match="needs pdflatex"):
        paper_module.pgf_text(paper_axes().figure)


def crossing(collective="allreduce", a="recursive_doubling", b="rabenseifner", network=None):
    costs = (oa.collective_cost(collective, name, network or oa.Hockney()) for name in (a, b))
    return oa.crossover(*costs, "n")


def test_a_notebook_shows_a_figure_as_wide_as_the_column():
    png, size = paper_axes("single").figure._repr_png_()
    assert png.startswith(b"\x89PNG")
    assert size["width"] == round(3.5 * 96)


@pytest.mark.parametrize(
    ("collective", "ranks", "sizes", "options"),
    [
        ("allreduce", 64, [2**k for k in range(10, 27)], {}),
        ("bcast", [2**k for k in range(2, 11)], 2**20, {}),
        ("allgather", 64, [2**k for k in range(2, 27)], {"column": "double", "font_size": 12}),
        ("allreduce", [4, 16, 64], 2**20, {"font_size": 11, "algorithms": ["ring", "rabenseifner"]}),
    ],
)
def test_no_text_of_a_figure_hides_another_or_leaves_the_page(collective, ranks, sizes, options):
    axes = paper_curves("musica", collective, ranks, sizes, **options)
    axes.figure.canvas.draw()
    page, legend = axes.figure.bbox, axes.get_legend().get_window_extent()
    ticks = [label.get_window_extent() for label in axes.get_xticklabels()]
    assert len(ticks) >= 3
    assert all(left.x1 < right.x0 for left, right in itertools.pairwise(ticks))
    assert legend.y1 < axes.xaxis.label.get_window_extent().y0
    for box in [*ticks, legend, axes.yaxis.label.get_window_extent(), *(t.get_window_extent() for t in axes.texts)]:
        assert page.x0 <= box.x0
        assert box.x1 <= page.x1
        assert page.y0 <= box.y0
        assert box.y1 <= page.y1


def test_texts_that_leave_no_room_for_curves_are_refused():
    with pytest.raises(QuantityError, match="no room"):
        paper_axes(1.2, font_size=12)


def test_a_crossover_is_stated_with_whole_bytes_formula_numbers_and_provenance():
    found = crossing()
    text = crossover_statement(found, ("recursive_doubling", "Rabenseifner's"), "musica", [64, 96])
    assert text.startswith(f"% {provenance('musica')}; ")
    for ranks in (64, 96):
        last, first = (int(s) for s in (found.intervals(oa.load_machine("musica"), P=ranks)[i][1 - i] for i in (0, 1)))
        a, b = (f"{bytes_ // 1000}\\,{bytes_ % 1000:03}" for bytes_ in (last, first))
        told = f"recursive\\_doubling is cheaper up to {a}~bytes and Rabenseifner's is cheaper from {b}~bytes on."
        assert f"On {ranks}~ranks {told}" in text
    assert text.count("n^* &=") == 1
    assert r"with $\alpha = 1.9\,\mu\text{s}$, $\beta \approx 40.5\,\text{ps/B}$, $\gamma = 125\," in text


def test_without_a_formula_for_every_P_the_statement_has_those_of_its_ranks():
    text = crossover_statement(crossing("bcast", "binomial", "scatter_allgather"), ("a", "b"), "musica", [12, 64])
    assert r"n^*_{P = 12} &= \frac{10 \alpha}{3 \beta} \\" in text
    assert r"n^*_{P = 64} &= \frac{64 \alpha}{43 \beta}" in text
    never = crossover_statement(crossing("allgather", "recursive_doubling", "ring"), ("a", "b"), "musica", 64)
    assert never.splitlines()[1:] == ["On 64~ranks a is cheaper for every message size."]


def test_a_changed_machine_is_told_in_every_line():
    changed = oa.load_machine("musica").replace(latency="3 us")
    assert "what if latency = 3 us" in provenance(changed)
    assert "what if latency = 3 us" in crossover_statement(crossing(), ("a", "b"), changed, 64).splitlines()[0]


@pytest.mark.parametrize(
    ("change", "error", "told"),
    [
        ({"crossing": None}, QuantityError, "crossover"),
        ({"crossing": "P"}, QuantityError, "crossover"),
        ({"names": "ab"}, QuantityError, "names must be"),
        ({"names": ("a", 1)}, QuantityError, "names must be"),
        ({"machine": "musika"}, UnknownNameError, "Did you mean 'musica'"),
        ({"machine": None}, OrreryError, "machine"),
        ({"P": 2.5}, QuantityError, "P"),
        ({"P": True}, QuantityError, "P"),
        ({"P": []}, QuantityError, "P"),
    ],
)
def test_errors_of_a_statement_teach(change, error, told):
    call = {"crossing": crossing(), "names": ("a", "b"), "machine": "musica", "P": 64} | change
    if call["crossing"] == "P":
        call["crossing"] = oa.crossover(crossing().a, crossing().b, "P")
    with pytest.raises(error, match=told):
        crossover_statement(**call)


def test_a_folder_that_was_made_in_vain_is_gone(tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "write_bytes", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(QuantityError, match="No space left"):
        save_figure(paper_axes(), tmp_path / "a" / "b" / "figure")
    assert not list(tmp_path.iterdir())


def test_a_single_point_is_drawn_as_a_marker_amid_the_axis():
    axes = paper_curves("musica", "allreduce", 64, "1 MiB", ["ring", "rabenseifner"])
    low, high = axes.get_xlim()
    assert low < 2**20 < high
    assert all(line.get_marker() not in ("None", None, "") for line in axes.get_lines())
    assert {line.get_markevery() for line in axes.get_lines()} == {None}


def test_one_rank_and_one_byte_are_one():
    found = crossing()
    assert "On 1~rank both cost the same" in crossover_statement(found, ("a", "b"), "musica", 1)
    small = oa.crossover(oa.Cost({"bandwidth": 2 * symbols.n}), oa.Cost({"bandwidth": symbols.n, "call": 1.5}), "n")
    assert "a is cheaper for 1~byte and" in crossover_statement(small, ("a", "b"), "musica", 2)


@pytest.mark.parametrize("algorithm", ["recursive_doubling", "rabenseifner", "ring"])
@pytest.mark.parametrize("network", [oa.Hockney(), oa.LogGP()])
def test_a_formula_keeps_to_its_column_and_stays_itself(algorithm, network):
    cost = oa.collective_cost("allreduce", algorithm, network, buffers="device")
    for column in ("single", "double"):
        rows = formula_latex(cost, algorithm, column).removeprefix("\\begin{align*}").removesuffix("\\end{align*}")
        assert width(f"\\begin{{aligned}}{rows}\\end{{aligned}}") <= letters_of(column) + 1
    written = write(cost.terms, cost.total, line=letters_of("single"))
    whole, total = (e.subs({symbols.P: 12}) for e in (written.spelled_out(written.total), cost.total))
    assert sp.expand(whole - total) == 0


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: formula_latex(None), "a Cost is allowed"),
        (lambda: formula_latex(oa.p2p_cost(), 3), "name is text"),
        (lambda: formula_latex(oa.p2p_cost(), "", 10**400), "inches"),
        (lambda: paper_curves("musica", "bcast", 8, [8, 16], [["chain"]]), "unknown bcast algorithm"),
        (lambda: crossover_statement(crossing(), ("a", "b"), "musica", 8, about=3), "about is text"),
    ],
)
def test_what_is_no_formula_or_text_is_refused(call, told):
    with pytest.raises(OrreryError, match=told):
        call()
