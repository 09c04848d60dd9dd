"""A log given to the buttons of the calibration notebook, and the cells below them run again with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from test_explorer import MOVE_MS, OPEN_MS, RUN_ALL, RUN_MS

NOTEBOOK = "14-calibrate.ipynb"
BUTTON = "button.widget-upload"
IDLE = "window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === 'idle'"
# Which cell it is: its number in the notebook, of the first whose source begins so.
CELL = """start => window.jupyterapp.shell.currentWidget.content.widgets.findIndex(
  cell => cell.model.sharedModel.getSource().startsWith(start))"""
RUN_ABOVE = RUN_ALL.replace(
    "await app.commands.execute('notebook:run-all-cells')",
    """panel.content.activeCellIndex = panel.content.widgets.findIndex(
    cell => cell.model.sharedModel.getSource().startsWith('given = '));
  await app.commands.execute('notebook:run-all-above')""",
)
RUN_FROM = """async number => {
  const app = window.jupyterapp;
  app.shell.currentWidget.content.activeCellIndex = number;
  await app.commands.execute('notebook:run-all-below');
}"""
# What the cells from a number on show: from the model, as JupyterLab lays out only the cells that are in view.
SHOWN = """number => JSON.stringify(window.jupyterapp.shell.currentWidget.content.widgets.slice(number)
  .map(cell => cell.model.type === 'code' ? cell.model.outputs.toJSON() : []))"""

LATENCY = "# OSU MPI Latency Test v7.4\n# Size          Latency (us)\n" + "".join(
    f"{2**k:<12} {3 + 2**k / 5e3:14.2f}\n" for k in range(23)
)


@pytest.mark.browser
def test_the_steps_go_on_with_a_log_that_was_given(lab: str, browser: Any, tmp_path: Path) -> None:
    log = tmp_path / "mine.txt"
    log.write_text(LATENCY, encoding="utf-8")
    page = browser.new_page(viewport={"width": 1400, "height": 1000})
    try:
        page.goto(f"{lab}/lab/tree/{NOTEBOOK}?reset")
        page.wait_for_function("window.jupyterapp", timeout=OPEN_MS)
        page.evaluate(RUN_ABOVE)
        page.wait_for_function(IDLE, timeout=RUN_MS)
        buttons, read = (page.evaluate(CELL, start) for start in ("names = ", "given = "))
        assert "24.0462 us" in page.evaluate(SHOWN, read)  # as stored, of the samples
        page.evaluate("number => window.jupyterapp.shell.currentWidget.content.scrollToItem(number)", buttons)
        with page.expect_file_chooser(timeout=MOVE_MS) as chooser:
            page.locator(BUTTON, has_text="between").click(timeout=MOVE_MS)
        chooser.value.set_files(log)
        page.locator(BUTTON, has_text="between (1)").wait_for(timeout=MOVE_MS)
        page.evaluate(RUN_FROM, read)
        page.wait_for_function(IDLE, timeout=RUN_MS)

        shown = page.evaluate(SHOWN, read)
        assert "<td>7.4</td>" in shown
        assert "Fit of hockney_pieces to mine.txt" in shown
        assert '"output_type":"error"' not in shown
        assert "24.0462 us" not in shown
    finally:
        page.close()
