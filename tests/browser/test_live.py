"""The live view in a browser: a page that is a mere file on a server without a kernel, and a notebook."""

from __future__ import annotations

import json
import statistics
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from test_explorer import RUN_ALL

import orrery_analytic as oa

READOUT = ".orrery-live-readout"
SIZE = ".orrery-live-n input"
FIGURE = ".orrery-live-figure"
WAIT_MS = 40_000
TOLD = 'oa.explore_live("example"'

# From an input event to the frame after the one that shows it, some moves up and some down.
MOVES = """async ([selector, moves]) => {
  const view = document.querySelector('.orrery-live'), slider = view.querySelector(selector), taken = [];
  const frame = () => new Promise(done => requestAnimationFrame(done));
  for (let i = 0; i < moves; i++) {
    const start = performance.now(), before = view.dataset.drawn;
    slider.value = Number(slider.value) + (i % 10 < 5 ? 1 : -1);
    slider.dispatchEvent(new Event('input', { bubbles: true }));
    while (view.dataset.drawn === before) await frame();
    await new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)));
    taken.push(performance.now() - start);
  }
  return taken.sort((a, b) => a - b);
}"""
RUN_LAST = """async () => {
  const panel = window.jupyterapp.shell.currentWidget;
  panel.content.activeCellIndex = panel.content.widgets.length - 1;
  await window.jupyterapp.commands.execute('notebook:run-cell');
}"""
OPEN_NOTEBOOK = """async notebook => {
  const app = window.jupyterapp;
  await app.restored;
  await app.serviceManager.contents.save('live.ipynb', { type: 'notebook', format: 'json', content: notebook });
  await app.commands.execute('docmanager:open', { path: 'live.ipynb' });
}"""
NOTEBOOK = {
    "nbformat": 4,
    "nbformat_minor": 5,
    "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    "cells": [
        {
            "cell_type": "code", "id": name, "metadata": {}, "outputs": [], "execution_count": None, "source": source,
        }
        for name, source in (
            ("live", "import orrery_analytic as oa\nview = oa.explore_live('example', 'alltoall')\nview"),
            ("told", "print(view.code)"),
        )
    ],
}  # fmt: skip


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a folder with one page."""
    folder = tmp_path_factory.mktemp("page")
    oa.live_page(folder / "allreduce.html", "leonardo", "allreduce")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/allreduce.html"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page on a laptop; what goes wrong in it fails the test."""
    made = browser.new_page(viewport={"width": 1366, "height": 768})
    wrong: list[str] = []
    made.on("pageerror", lambda error: wrong.append(str(error)))
    yield made
    made.close()
    assert not wrong


def wait_for_readout(page: Any, *texts: str, timeout: float | None = None) -> None:
    """Wait until the readout holds all the texts: the page draws in the frame after an event, not in it."""
    holds = "([s, texts]) => texts.every(text => document.querySelector(s)?.innerText.includes(text))"
    page.wait_for_function(holds, arg=[READOUT, texts], timeout=timeout)


@pytest.mark.browser
def test_a_page_in_a_folder_moves_and_asks_for_nothing_else(served: str, page: Any) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(served)
    slider = page.locator(SIZE)
    before = page.inner_text(READOUT), page.inner_html(FIGURE)
    slider.focus()
    page.keyboard.press("End")
    cost = oa.predict("leonardo", "allreduce", 64, 2**30)
    said = f"It costs {1e3 * float(cost.seconds.item()):.3g} ms"
    wait_for_readout(page, "n = 1 GiB", f" takes {cost.algorithm.item()} ", said)
    page.wait_for_function("([s, t]) => document.querySelector(s).innerHTML !== t", arg=[FIGURE, before[1]])
    assert slider.get_attribute("aria-valuetext") == "1 GiB"

    page.wait_for_function("location.hash.length > 1")  # the state is in the address, and leads back
    page.goto("about:blank")
    page.go_back()
    wait_for_readout(page, "n = 1 GiB")
    page.get_by_role("button", name="start again").click()
    page.wait_for_function("([s, t]) => document.querySelector(s).innerText === t", arg=[READOUT, before[0]])
    assert {url.partition("#")[0] for url in asked} <= {served, "about:blank"}


def ms_of(machine: str, *where: Any, **options: Any) -> str:
    """The cost that a readout should say."""
    seconds = float(oa.predict(machine, *where, **options).seconds.item())
    power, unit = (1e6, "us") if seconds < 0.9995e-3 else (1e3, "ms")
    return f"{float(f'{power * seconds:.3g}'):g} {unit}"


@pytest.mark.browser
@pytest.mark.parametrize("transport", ["staged", "gdr", "peer"])
def test_two_machines_cost_what_python_says(tmp_path: Any, page: Any, transport: str) -> None:
    """The page fills up size bands of copies: the one machine has two, the other one."""
    made = oa.live_page(tmp_path / "two.html", ("example", "musica"), "allgather", n="1 MiB")
    page.goto(made.as_uri())
    page.get_by_label("buffers", exact=True).select_option("device")
    page.get_by_label("transport", exact=True).select_option(transport)
    for network in ("Hockney", "LogGP"):
        page.get_by_label("network", exact=True).select_option(network)
        for pair in (("example", "musica"), ("musica", "example")):
            page.get_by_label("machine", exact=True).select_option(pair[0])
            page.get_by_label("beside", exact=True).select_option(pair[1])
            options = {"buffers": "device", "transport": transport, "network": getattr(oa, network)()}
            first, second = (ms_of(name, "allgather", 64, 2**20, **options) for name in pair)
            wait_for_readout(page, f"It costs {first} on {pair[0]}", f"; {second} on {pair[1]},")
    assert page.locator(f"{FIGURE} rect[fill=none]").count() == 3  # frames: the curves, and the terms of each machine
    for name in ("SVG", "PNG", "CSV", "LaTeX"):
        with page.expect_download() as download:
            page.get_by_role("button", name=name).click()
        assert download.value.suggested_filename == f"allgather.{'tex' if name == 'LaTeX' else name.lower()}"
    page.get_by_label("beside", exact=True).select_option("nothing")
    page.wait_for_function("s => document.querySelectorAll(s).length === 2", arg=f"{FIGURE} rect[fill=none]")
    page.get_by_role("button", name="start again").click()
    wait_for_readout(page, f"It costs {ms_of('example', 'allgather', 64, 2**20)} on example")
    assert page.get_by_label("buffers", exact=True).input_value() == "host"


@pytest.mark.browser
def test_a_file_is_never_older_than_the_controls(served: str, page: Any) -> None:
    """A move waits for the next frame; what is saved before that has the move in it."""
    page.goto(served)
    page.wait_for_selector(FIGURE)
    with page.expect_download() as download:
        page.evaluate("""() => {
          const slider = document.querySelector('.orrery-live-P input');
          slider.value = slider.max;
          slider.dispatchEvent(new Event('input', { bubbles: true }));
          [...document.querySelectorAll('button')].find(button => button.textContent === 'CSV').click();
        }""")
    heads, *rows = (row.split(",") for row in Path(download.value.path()).read_text().splitlines())
    assert heads[:2] == ["n (B)", "choice (s)"]
    cost = oa.predict("leonardo", "allreduce", 4096, 2**20).seconds.item()
    assert [float(row[1]) for row in rows if row[0] == f"{2**20}"] == [pytest.approx(cost)]


@pytest.mark.browser
def test_a_number_that_is_zero_is_offered_times_of_its_unit(tmp_path: Any, page: Any) -> None:
    page.goto(oa.live_page(tmp_path / "zero.html", "leonardo", "allgather", buffers="device").as_uri())
    page.get_by_text("other numbers").click()
    slider = page.locator(".orrery-live-row", has_text="gdr gap per byte").locator("input")
    said = {}
    for key in ("Home", "End"):
        slider.focus()
        page.keyboard.press(key)
        said[key] = slider.get_attribute("aria-valuetext")
    assert said == {"Home": "0 s/B", "End": "10 ns/B"}


@pytest.mark.browser
def test_the_list_of_collectives_leads_to_another_page(tmp_path: Any, page: Any) -> None:
    pages = {name: f"{name}.html" for name in ("scan", "exscan")}
    for name in pages:
        oa.live_page(tmp_path / f"{name}.html", "musica", name, pages=pages)
    page.goto((tmp_path / "scan.html").as_uri())
    page.locator(".orrery-live-P input").focus()
    page.keyboard.press("Home")
    page.get_by_label("collective", exact=True).select_option("exscan")
    page.wait_for_url("**/exscan.html*")
    wait_for_readout(page, "P = 2,")


@pytest.mark.browser
def test_state_of_a_stranger_in_the_address_is_passed_over(served: str, page: Any) -> None:
    page.goto(f"{served}#not-a-state")
    page.wait_for_selector(FIGURE)
    strange = {"P": "64", "n": -1, "network": "toString", "machine": 3, "values": {"alpha": "x", "beta": 0}}
    page.goto(f"{served}#{json.dumps(strange)}")
    wait_for_readout(page, "P = 64, n = 64 KiB")


@pytest.mark.browser
@pytest.mark.parametrize(("width", "height"), [(1366, 768), (1920, 1080)])
def test_all_of_it_is_seen_at_once_and_moves_fast(served: str, page: Any, width: int, height: int) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.goto(served)
    root = "document.documentElement"
    assert page.evaluate(f"[{root}.scrollWidth, {root}.scrollHeight]") == [width, height]
    for name, selector in (("n", SIZE), ("P", ".orrery-live-P input"), ("latency", ".orrery-live-knobs input")):
        taken = page.evaluate(MOVES, [selector, 40])
        print(f"\n{width} x {height}, {name}: median {statistics.median(taken):.0f} ms, 95 % {taken[37]:.0f} ms")
        assert len(taken) == 40


@pytest.mark.browser
def test_a_notebook_shows_it_and_its_kernel_hears_of_a_move(lab: str, page: Any) -> None:
    page.goto(f"{lab}/lab?reset")
    page.wait_for_function("window.jupyterapp", timeout=WAIT_MS)
    page.evaluate(OPEN_NOTEBOOK, NOTEBOOK)
    page.evaluate(RUN_ALL)
    page.wait_for_selector(FIGURE, timeout=WAIT_MS)
    page.locator("pre", has_text=TOLD).wait_for(timeout=WAIT_MS)
    page.locator(SIZE).focus()
    page.keyboard.press("Home")
    wait_for_readout(page, "n = 4 B")
    taken = page.evaluate(MOVES, [".orrery-live-knobs input", 40])
    print(f"\nJupyterLab: median {statistics.median(taken):.0f} ms, 95 % {taken[37]:.0f} ms")
    page.wait_for_timeout(1000)  # what was moved is sent a moment later
    page.evaluate(RUN_LAST)
    page.locator("pre", has_text="n=4)").wait_for(timeout=WAIT_MS)
    page.get_by_label("buffers", exact=True).select_option("device")  # the kernel prints what the page has not yet
    page.get_by_label("collective", exact=True).select_option("scan")
    cost = ms_of("example", "scan", 64, 4, buffers="device")
    wait_for_readout(page, f"It costs {cost}", timeout=WAIT_MS)
    page.wait_for_selector(".orrery-live-ticks input:checked")
