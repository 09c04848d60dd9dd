"""The first notebook as a reader meets it, in a browser: opened, run, and changed by a slider moved by keyboard."""

from __future__ import annotations

from typing import Any

import pytest

NOTEBOOK = "01-explore.ipynb"
FIGURE = "img.orrery-figure"
READOUT = ".orrery-readout"
HANDLE = ".orrery-n .noUi-handle"
OPEN_MS = 60_000
RUN_MS = 90_000
MOVE_MS = 20_000

# Asking the kernel for its info first matters: JupyterLab drops a run-all that comes before the kernel has answered.
RUN_ALL = """async () => {
  const app = window.jupyterapp;
  await app.restored;
  const settled = async condition => {
    const deadline = Date.now() + 60000;
    while (!condition()) {
      if (Date.now() > deadline) throw new Error(`waited in vain for ${condition}`);
      await new Promise(done => setTimeout(done, 50));
    }
  };
  await settled(() => app.shell.currentWidget?.sessionContext);
  const panel = app.shell.currentWidget;
  await panel.context.ready;
  await panel.sessionContext.ready;
  const kernel = () => panel.sessionContext.session?.kernel;
  await settled(() => kernel()?.connectionStatus === 'connected');
  await kernel().info;
  await settled(() => kernel().status === 'idle');
  await app.commands.execute('notebook:run-all-cells');
}"""
PICTURE = """async selector => {
  const answer = await fetch(document.querySelector(selector).src);
  return Array.from(new Uint8Array(await answer.arrayBuffer()));
}"""
SOURCE_CHANGED = "([selector, before]) => document.querySelector(selector).src !== before"
TEXT_CHANGED = "([selector, before]) => document.querySelector(selector).innerText !== before"


@pytest.mark.browser
def test_moving_a_slider_by_keyboard_changes_the_picture(lab: str, browser: Any) -> None:
    page = browser.new_page(viewport={"width": 1400, "height": 1000})
    try:
        page.goto(f"{lab}/lab/tree/{NOTEBOOK}?reset")
        page.wait_for_function("window.jupyterapp", timeout=OPEN_MS)
        page.evaluate(RUN_ALL)
        page.wait_for_selector(FIGURE, timeout=RUN_MS)
        # Cells after the picture may still be running, and the kernel answers a slider only after them.
        page.wait_for_function(
            "window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === 'idle'", timeout=RUN_MS
        )
        # The last cell is in view now, and JupyterLab lays out only the cells that are.
        page.locator(FIGURE).first.scroll_into_view_if_needed(timeout=MOVE_MS)

        picture = page.evaluate(PICTURE, FIGURE)
        source = page.get_attribute(FIGURE, "src")
        readout = page.locator(READOUT).first.inner_text()
        assert bytes(picture[:8]) == b"\x89PNG\r\n\x1a\n"
        assert readout.strip()

        handle = page.locator(HANDLE).first
        handle.focus()
        assert handle.get_attribute("role") == "slider"
        page.keyboard.press("ArrowRight")

        page.wait_for_function(SOURCE_CHANGED, arg=[FIGURE, source], timeout=MOVE_MS)
        page.wait_for_function(TEXT_CHANGED, arg=[READOUT, readout], timeout=MOVE_MS)
        assert page.evaluate(PICTURE, FIGURE) != picture
    finally:
        page.close()
