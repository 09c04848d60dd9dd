import csv
import hashlib
import io
import re
from pathlib import Path

import numpy as np
import pytest

import orrery_analytic as oa
from orrery_analytic.errors import OrreryError, QuantityError, UnknownNameError
from orrery_analytic.exports import formula_latex, paper_axes, provenance, save_figure
from orrery_analytic.exports import paper as paper_module
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
    call = {"machine": "musica", "collective": "allreduce", "P": [4, 8], "n": 2**20, "folder": tmp_path} | change
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
