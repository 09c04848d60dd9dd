"""What we give as LaTeX compiles. Takes half a minute, so it runs with `make test`: pytest -m latex."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import orrery_analytic as oa
from orrery_analytic.algebra.derivations.sources import bibliography
from orrery_analytic.algebra.derivations.story import derivation, document_of
from orrery_analytic.exports import crossover_statement, formula_latex

sys.path.insert(0, str(Path(__file__).parents[1]))
from test_derivation_story import EVERY, check, parts_for

pytestmark = [
    pytest.mark.latex,
    pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no pdflatex here"),
]


def compiled(folder, name, text):
    """Return the log of pdflatex; the test fails where it stops."""
    (folder / f"{name}.tex").write_text(text)
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", f"{name}.tex"],
        cwd=folder, capture_output=True, text=True, errors="replace", timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-1500:]
    return (folder / f"{name}.log").read_text(errors="replace").replace("\n", "")


def test_every_derivation_under_both_networks_compiles_and_stays_on_the_page(tmp_path):
    stories = [derivation(c, a, net, **parts_for(c, a)) for c, a in EVERY for net in (oa.Hockney(), oa.LogGP())]
    stories += [
        derivation("allreduce", "ring", buffers="device"),
        derivation("allreduce", "ring", oa.TwoLevel(4)),
        derivation("allreduce", "nonoverlapping", P=128),
        derivation("bcast", "pipeline", oa.LogGP(), segment_bytes="symbol"),
    ]
    sources = {source.key: source for story in stories for source in story.sources}.values()
    body = "\n\\clearpage\n".join(story.latex() for story in stories)
    log = compiled(tmp_path, "all", document_of(body, bibliography(sources)))
    too_wide = [float(w) for w in re.findall(r"Overfull \\hbox \(([\d.]+)pt too wide\)", log)]
    assert max(too_wide, default=0.0) < 28.5  # points: 1 cm of a margin of 2.5 cm


def test_every_formula_keeps_to_one_of_two_columns(tmp_path):
    one_level = [(c, a, net) for c, a in EVERY for net in (oa.Hockney(), oa.LogGP())]
    nodes = [("allgather", "ring", oa.TwoLevel(4)), ("alltoall", "modified_bruck", oa.TwoLevel(4))]
    body = "\n".join(
        formula_latex(oa.collective_cost(c, a, net, "device", **parts_for(c, a)), a) for c, a, net in one_level + nodes
    )
    head = r"\documentclass[10pt,twocolumn]{article}\usepackage{amsmath}"
    log = compiled(tmp_path, "columns", rf"{head}\begin{{document}}{body}\end{{document}}")
    too_wide = [float(w) for w in re.findall(r"Overfull \\hbox \(([\d.]+)pt too wide\)", log)]
    assert max(too_wide, default=0.0) < 5  # points


@pytest.mark.parametrize(("collective", "algorithm"), EVERY)
def test_the_last_line_is_the_total_under_loggp(collective, algorithm):
    check(collective, algorithm, oa.LogGP())


def test_a_document_of_its_own_compiles_and_resolves_its_citations(tmp_path):
    text = derivation("reduce_scatter", "recursive_halving", oa.LogGP()).latex(document=True)
    assert "undefined" in compiled(tmp_path, "one", text)  # at first LaTeX has not seen the bibliography
    assert "undefined" not in compiled(tmp_path, "one", text)


_PAPER = r"""\documentclass[10pt,twocolumn]{article}
\usepackage{amsmath,graphicx,pgf}
\begin{document}
\input{figure.pgf}
\includegraphics{figure}
\input{formula}
\input{crossing}
\cite{openmpi}
\bibliographystyle{plain}
\bibliography{sources}
\end{document}
"""


def test_all_of_an_export_goes_into_a_paper(tmp_path):
    made = oa.export(
        "musica", "allreduce", [4, 16, 64, 256, 1024], 2**20, tmp_path,
        algorithms=["recursive_doubling", "ring", "rabenseifner"], buffers="device",
    )  # fmt: skip
    assert "figure.pgf" in made.files
    first = (tmp_path / "figure.pgf").read_bytes()
    doubling, halving = (oa.collective_cost("allreduce", a, oa.LogGP()) for a in ("recursive_doubling", "rabenseifner"))
    names = ("recursive_doubling", "50 % & more")
    stated = crossover_statement(oa.crossover(doubling, halving, "n"), names, "musica", [12, 64])
    (tmp_path / "crossing.tex").write_text(stated)
    compiled(tmp_path, "derivation", (tmp_path / "derivation.tex").read_text())
    compiled(tmp_path, "paper", _PAPER)
    done = subprocess.run(["bibtex", "paper"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert "Warning" not in done.stdout
    for _ in range(2):
        log = compiled(tmp_path, "paper", _PAPER)
    assert "undefined" not in log
    oa.export(
        "musica", "allreduce", [4, 16, 64, 256, 1024], 2**20, tmp_path, overwrite=True,
        algorithms=["recursive_doubling", "ring", "rabenseifner"], buffers="device",
    )  # fmt: skip
    assert (tmp_path / "figure.pgf").read_bytes() == first
