"""The explorer of choices in a browser: its maps are shown; its point moves by keyboard, in picture and in words."""

from __future__ import annotations

from typing import Any

import pytest
from test_explorer import MOVE_MS, OPEN_MS, PICTURE, RUN_ALL, RUN_MS, SOURCE_CHANGED

NOTEBOOK = "08-selection.ipynb"
MAPS = "img.orrery-choices"
READOUT = ".orrery-choice-explorer .orrery-readout"
SAYS = "([selector, text]) => document.querySelector(selector).innerText.trim().startsWith(text)"


@pytest.mark.browser
def test_the_point_moves_by_keyboard(lab: str, browser: Any) -> None:
    page = browser.new_page(viewport={"width": 1400, "height": 1000})
    try:
        page.goto(f"{lab}/lab/tree/{NOTEBOOK}?reset")
        page.wait_for_function("window.jupyterapp", timeout=OPEN_MS)
        page.evaluate(RUN_ALL)
        page.wait_for_selector(MAPS, timeout=RUN_MS)
        # Cells after the maps may still be running, and the kernel answers a slider only after them.
        page.wait_for_function(
            "window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === 'idle'", timeout=RUN_MS
        )
        page.locator(MAPS).first.scroll_into_view_if_needed(timeout=MOVE_MS)

        page.wait_for_function(SAYS, arg=[READOUT, "P = 64, n = 64 KiB"], timeout=MOVE_MS)
        for slider, key, place in (
            (".orrery-n", "ArrowRight", "P = 64, n = 80 KiB"),
            (".orrery-P", "ArrowLeft", "P = 63,"),
        ):
            picture, source = page.evaluate(PICTURE, MAPS), page.get_attribute(MAPS, "src")
            handle = page.locator(f".orrery-choice-explorer {slider} .noUi-handle").first
            handle.focus()
            assert handle.get_attribute("role") == "slider"
            page.keyboard.press(key)
            page.wait_for_function(SOURCE_CHANGED, arg=[MAPS, source], timeout=MOVE_MS)
            page.wait_for_function(SAYS, arg=[READOUT, place], timeout=MOVE_MS)
            assert page.evaluate(PICTURE, MAPS) != picture
    finally:
        page.close()
