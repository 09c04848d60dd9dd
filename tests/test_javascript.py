"""Formulas as JavaScript, and the live view that is made of them: what is printed, refused, and written to a page."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

import orrery_analytic as oa
from orrery_analytic.errors import QuantityError, UnknownNameError
from orrery_analytic.symbols import P, alpha, beta, log2_ceil, log2_floor, n, n_s
from orrery_analytic.widgets.javascript import function, javascript, runtime
from orrery_analytic.widgets.live import LiveExplorer, explore_live, live_page


@pytest.mark.parametrize(
    ("expression", "printed"),
    [
        (alpha + n * beta, "alpha + beta*n"),
        (sp.Rational(1, 3) * n, "(1/3)*n"),
        (log2_ceil(P) - log2_floor(P - 1), "log2_ceil(P) - log2_floor(P - 1)"),
        (2 ** log2_floor(P) / n_s, "Math.pow(2, log2_floor(P))/n_s"),
        (sp.Mod(P, 2), "(((P) % (2) + (2)) % (2))"),
        (sp.Max(n, n_s, P), "Math.max(P, n, n_s)"),
        (sp.floor(n / n_s), "Math.floor(n/n_s)"),
        (sp.Piecewise((n, P < 3), (1, True)), "((P < 3) ? (n) : (1))"),
        (sp.Piecewise((n, sp.Eq(P, 2))), "((P == 2) ? (n) : (NaN))"),
        (sp.Float(1 / 3) * n, "0.3333333333333333*n"),
        (n ** sp.Rational(-2, 3), "Math.pow(n, -2/3)"),
        (3, "3"),
    ],
)
def test_small_expressions_are_printed(expression: Any, printed: str) -> None:
    assert javascript(expression) == printed


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ("n + 1", QuantityError, "expression or a number"),
        (True, QuantityError, "expression or a number"),
        (None, QuantityError, "expression or a number"),
        (sp.sin(n), UnknownNameError, "'sin'"),
        (sp.Function("log2_floor")(n), QuantityError, "not defined"),
        (sp.Symbol("n; alert(1)"), QuantityError, "no JavaScript name"),
        (sp.I * n, QuantityError, "complex"),
        (sp.zoo, QuantityError, "no JavaScript form"),
        (sp.Integral(n, n), QuantityError, "no JavaScript form"),
    ],
)
def test_what_has_no_javascript_is_refused(given: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=re.escape(says)):
        javascript(given)


def test_a_function_computes_what_is_shared_once() -> None:
    made = function("cost", [(alpha + n) ** 2, beta * (alpha + n)], ["n", "alpha", "beta"])
    assert made.splitlines() == [
        "function cost(n, alpha, beta) {",
        "  const x0 = alpha + n;",
        "  return [Math.pow(x0, 2), beta*x0];",
        "}",
    ]
    with pytest.raises(UnknownNameError, match="'alpha'"):
        function("cost", [alpha], ["n"])


def test_no_name_of_the_runtime_is_that_of_a_symbol() -> None:
    declared = set(re.findall(r"^(?:function|const) (\w+)", runtime(), re.MULTILINE))
    from orrery_analytic.symbols import SYMBOLS

    assert "log2_floor" in declared
    assert declared.isdisjoint(SYMBOLS)


@pytest.fixture(scope="module")
def view() -> LiveExplorer:
    return explore_live("leonardo", "alltoall", ["pairwise", "linear"], P=100, n="1 MiB")


def test_a_view_holds_where_it_begins_and_its_line_of_code(view: LiveExplorer) -> None:
    assert (view.state["P"], view.state["n"], view.state["algorithms"]) == (100, 2**20, ["pairwise", "linear"])
    assert 100 in view.data["ranks"]
    before = dict(view.state)
    view.state = {**before, "P": 64, "axis": "P", "values": {"alpha": 2e-6, "beta": 21e9}}
    line = view.code
    view.state = before
    assert line == (
        'oa.explore_live(oa.load_machine("leonardo").replace(latency="2 us", bandwidth="21 GB/s"), '
        "'alltoall', algorithms=['pairwise', 'linear'], axis='P', P=64, n=1048576)"
    )


def test_the_tables_of_a_view_are_what_the_library_takes(view: LiveExplorer) -> None:
    data = view.parts["alltoall"]
    for P_ in (2, 7, 64, 100):
        row = data["choice"][view.data["ranks"].index(P_)]
        for n_ in (4, 256, 4096, 2**20, 2**30):
            place = view.data["sizes"].index(n_)
            told = [stretch for stretch in row if stretch[0] <= place][-1]
            chosen = oa.select("alltoall", P_, n_)
            assert data["told"][told[2]] == {"name": chosen.name, "reason": chosen.reason}
            assert data["plans"][told[1]]["algorithm"] == chosen.runs


def test_a_page_is_one_file_that_asks_for_nothing(view: LiveExplorer, tmp_path: Path) -> None:
    page = view.to_html(tmp_path / "view.html").read_text(encoding="utf-8")
    assert set(re.findall(r"https?://[^\s'\"<]+", page)) == {"http://www.w3.org/2000/svg"}  # a name, never asked for
    assert not re.search(r"\b(?:import|fetch|src)\s*[(=]", page)
    given = re.search(r'<script type="application/json" id="given">(.*?)</script>', page, re.DOTALL)
    assert given is not None
    assert json.loads(given[1])["state"] == view.state


def test_a_name_cannot_end_the_script_of_a_page(tmp_path: Path) -> None:
    name = "</script><script>alert(1)</script>"
    machine = oa.load_machine("example").replace(name=name)
    page = live_page(tmp_path / "view.html", machine, "barrier").read_text(encoding="utf-8")
    assert page.count("</script>") == 2
    assert "<script>alert" not in page


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"collective": "allreduc"}, UnknownNameError, "'allreduce'"),
        ({"algorithms": ["rings"]}, UnknownNameError, "'ring'"),
        ({"algorithms": "ring"}, QuantityError, "a list of names"),
        ({"network": "Hockny"}, UnknownNameError, "'Hockney'"),
        ({"P": 1}, QuantityError, "P"),
        ({"n": "1 us"}, QuantityError, "wrong kind of unit"),
        ({"hold": "total"}, UnknownNameError, "Allowed"),
        ({"machine": 3}, QuantityError, "machine"),
        ({"machine": ("musica", "leonardo", "example")}, QuantityError, "3 machines"),
        ({"large": "yes"}, QuantityError, "large"),
    ],
)
def test_what_a_view_cannot_begin_with_is_refused(options: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=re.escape(says)):
        explore_live(**options)


def test_two_machines_and_another_collective_in_one_line(view: LiveExplorer) -> None:
    faster = oa.load_machine("leonardo").replace(latency="2 us")
    two = explore_live(("leonardo", faster), "scan", buffers="device")
    assert (two.state["machine"], two.state["beside"]) == ("leonardo", "leonardo, beside")
    assert sorted(two.parts) == ["scan", "scan device gdr"]
    two.state = {**two.state, "collective": "exscan", "buffers": "host", "algorithms": ["linear"]}
    assert {"exscan", "exscan host"} < set(two.parts)
    assert two.code == (
        'oa.explore_live(("leonardo", oa.load_machine("leonardo").replace(latency="2 us")), '
        "'exscan', algorithms=['linear'], P=64, n=65536)"
    )
    before = two.parts
    two.state = {**two.state, "collective": "<script>", "transport": ["x"]}
    assert two.parts is before


def test_a_machine_that_lacks_numbers_is_named(tmp_path: Path) -> None:
    source = Path(oa.__file__).parents[1] / "machines" / "example.toml"
    tables = re.split(r"\n(?=\[)", source.read_text(encoding="utf-8"))
    bare = tmp_path / "bare.toml"
    bare.write_text("\n".join(t for t in tables if not re.match(r"\[(wire_latency|overhead)\]", t)), encoding="utf-8")
    assert explore_live(("musica", str(bare)), "scan").state["beside"]
    with pytest.raises(UnknownNameError, match=r"has no numbers for LogGP: L, o"):
        explore_live(("musica", str(bare)), "scan", network="LogGP")


def test_a_page_leads_to_those_of_other_collectives(tmp_path: Path) -> None:
    page = live_page(tmp_path / "scan.html", ("example", "musica"), "scan", pages={"exscan": "exscan.html"})
    text = page.read_text(encoding="utf-8")
    given = json.loads(re.search(r'id="given">(.*?)</script>', text, re.DOTALL)[1])  # type: ignore[index]
    assert given["data"]["pages"] == {"exscan": "exscan.html", "scan": ""}
    assert sorted(given["parts"]) == ["scan", *(f"scan device {way}" for way in ("gdr", "peer", "staged")), "scan host"]
    assert "<title>scan on example and musica</title>" in text
    with pytest.raises(UnknownNameError, match="exscan"):
        live_page(tmp_path / "scan.html", "example", "scan", pages={"exscn": "exscan.html"})


@pytest.mark.parametrize("path", ["view.txt", "nowhere/view.html", None])
def test_a_page_goes_to_a_file_that_can_be(view: LiveExplorer, path: Any) -> None:
    with pytest.raises(oa.OrreryError, match=r"\.html|nowhere"):
        view.to_html(path)
