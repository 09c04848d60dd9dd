"""Printed JavaScript against Python, in a real engine: every algorithm, every network, P to 2**20 and n to 2**40."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import orrery_analytic as oa
from orrery_analytic.collectives.formulas import has_formula
from orrery_analytic.collectives.registry import COMPOSED, find, resolve
from orrery_analytic.decisions.names import ALGORITHMS
from orrery_analytic.symbols import describe
from orrery_analytic.widgets.javascript import function, runtime

POINTS = 2000
NETWORKS = {
    "Hockney": oa.Hockney(),
    "LogGP": oa.LogGP(),
    "two cards": oa.TwoLevel(4, 2),
    "a card a rank": oa.TwoLevel(8),
}
PARTS = {
    "nonoverlapping": [("reduce:binary:1024", "bcast:chain:65536"), ("reduce:rabenseifner", "bcast:knomial")],
    "linear": [("gather:binomial", "bcast:scatter_allgather"), ("gather:linear_sync", "bcast:split_binary_tree:8192")],
    "default": [("bcast:scatter_allgather_ring",), ("bcast:binomial",)],
    "non-overlapping": [("reduce:in-order_binary",), ("reduce:pipeline:4096",)],
    "basic_linear": [("reduce:linear", "scatter:binomial"), ("reduce:chain:32768", "scatter:linear_nb")],
}
#: Evaluates functions, each at all points of its columns.
EVALUATE = """cases => cases.map(([source, columns]) => {
  const f = new Function(source + '; return cost;')();
  return columns[0].map((_, i) => f(...columns.map(c => c[i])).map(x => Number.isFinite(x) ? x : null));
})"""
NODE = f"""const cases = JSON.parse(require('fs').readFileSync(0, 'utf8'));
process.stdout.write(JSON.stringify(({EVALUATE})(cases)));"""
Engine = Callable[[list[Any]], list[list[list[float | None]]]]


@pytest.fixture(scope="module")
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """Node where it is there, else Chromium."""
    if node := shutil.which("node"):

        def run(cases: list[Any]) -> Any:
            told = [node, "-e", NODE]
            done = subprocess.run(told, input=json.dumps(cases), capture_output=True, text=True, check=True)
            return json.loads(done.stdout)

        yield run
        return
    page = request.getfixturevalue("browser").new_page()
    yield lambda cases: page.evaluate(EVALUATE, cases)
    page.close()


def points(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """P and n over all their orders of magnitude, half of each at powers of two and one beside them."""
    random = np.random.default_rng(seed)
    ranks, sizes = (np.rint(2.0 ** random.uniform(low, top, POINTS)) for low, top in ((1, 20), (0, 40)))
    near = random.random((2, POINTS)) < 0.5
    for values, top, at in ((ranks, 20, near[0]), (sizes, 40, near[1])):
        values[at] = 2.0 ** random.integers(1, top + 1, POINTS)[at] + random.integers(-1, 2, POINTS)[at]
    return np.clip(ranks, 2, 2**20), np.clip(sizes, 1, 2**40)


def costs(collective: str) -> Iterator[tuple[str, oa.Cost]]:
    for algorithm in oa.list_algorithms(collective):
        composed = resolve(collective, algorithm) in COMPOSED
        for title, network in NETWORKS.items():
            if composed and title in ("Hockney", "LogGP"):
                for parts in PARTS[algorithm]:
                    yield f"{title} {parts}", oa.collective_cost(collective, algorithm, network, parts=parts)
            elif not composed and has_formula(collective, algorithm, network):
                yield f"{title} {algorithm}", oa.collective_cost(collective, algorithm, network)
                if find(collective, algorithm).segmented:
                    name = f"{title} {algorithm} in segments"
                    yield name, oa.collective_cost(collective, algorithm, network, segment_bytes="symbol")


def numbers(cost: oa.Cost, n: np.ndarray, random: np.random.Generator) -> dict[str, Any]:
    """Random numbers for the symbols of a network at each point, and segments of up to the whole message."""
    lows = {"s": -7.0, "s/B": -11.5}
    drawn = {
        name: 10 ** random.uniform(lows[describe(name).unit], lows[describe(name).unit] + 2.5, len(n))
        for name in cost.symbols
        if name not in ("P", "n", "n_s")
    }
    return drawn | ({"n_s": np.maximum(np.rint(n ** random.random(len(n))), 1)} if "n_s" in cost.symbols else {})


@pytest.mark.browser
@pytest.mark.parametrize("collective", list(ALGORITHMS))
def test_printed_formulas_agree_with_python(collective: str, engine: Engine) -> None:
    random = np.random.default_rng(8)
    known = dict(costs(collective))
    cases, expected = [], []
    for seed, cost in enumerate(known.values()):
        P, n = points(seed)
        values = {"P": P, "n": n, **numbers(cost, n, random)}
        source = runtime() + function("cost", list(cost.terms.values()), list(values))
        cases.append([source, [column.tolist() for column in values.values()]])
        expected.append((P, n, cost.values(**values)))
    worst, compared = 0.0, 0
    for title, given, (P, n, terms) in zip(known, engine(cases), expected, strict=True):
        found = np.array([[np.nan if x is None else x for x in row] for row in given])
        total = terms.pop("total")
        defined = np.isfinite(total)
        assert np.array_equal(np.isfinite(found.sum(axis=1)), defined), title
        compared += int(defined.sum())
        # Terms against the total: one term is what others leave of it.
        for column, term in [*zip(found.T, terms.values(), strict=True), (found.sum(axis=1), total)]:
            error = np.where(defined, np.abs(column - term) / np.abs(total), 0.0)
            assert error.max() < 1e-12, (title, P[error.argmax()], n[error.argmax()])
            worst = max(worst, float(error.max()))
    print(f"\n{collective}: {len(known)} formulas, {compared} points, {worst:.1e} at worst")
    assert compared > POINTS
