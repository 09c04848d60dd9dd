"""Write the live views, which need no kernel: `python docs/live.py FOLDER`, a page for each collective."""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

import orrery_analytic as oa
from orrery_analytic.widgets.live_data import LIVE_STATE, live

MACHINE = "musica"
PLACES = ("machine", "collective", "algorithms")
"""What explorers take without a name, in order."""

HEAD = """# Live views

These pages compute and draw in your browser, without Python: move a slider, and the formulas follow. The address in the
browser's bar holds what you see, so that it can be sent to others. A notebook has more knobs: `oa.explore()`.
"""


def collectives() -> list[str]:
    """Return those with formulas of their own; allgatherv and alltoallv cost as their twins."""
    return [name for name in oa.list_collectives() if not name.endswith("v")]


def page() -> str:
    """Return the page that lists the views, as Markdown."""
    links = "\n".join(f'* <a href="../live/{name}.html">{name}</a>' for name in collectives())
    return f"{HEAD}\n{links}\n"


def _begin(code: str) -> dict[str, Any] | None:
    """Return where an explorer begins that a cell shows and a page can show as well; None where there is none."""
    try:
        calls = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]
        shown = next(call for call in calls if ast.unparse(call.func) in ("oa.explore", "oa.explore_live"))
        given = dict(zip(PLACES, map(ast.literal_eval, shown.args), strict=False))
        named = [each for each in shown.keywords if not isinstance(each.value, ast.Name)]
        given |= {str(each.arg): ast.literal_eval(each.value) for each in named}
    except (StopIteration, SyntaxError, ValueError):  # no explorer, not Python alone, or not written with plain values
        return None
    usual = {"machine": "example", "collective": "allreduce"}
    return live(**usual | {name: value for name, value in given.items() if name in (*PLACES, *LIVE_STATE)}).state


def linked(notebook: str, up: str) -> str:
    """Return a notebook with a link to the live view below each explorer; `up` leads to the folder of the site."""
    made = json.loads(notebook)
    cells = []
    for cell in made["cells"]:
        cells.append(cell)
        begin = _begin("".join(cell["source"])) if cell["cell_type"] == "code" else None
        if begin is not None and begin["collective"] in collectives():
            state = quote(json.dumps(begin, separators=(",", ":")))
            address = f"{up}live/{begin['collective']}.html#{state}"
            text = f'Here nothing runs. <a href="{address}">This view, as a page that computes in your browser</a>.'
            cells.append({"cell_type": "markdown", "id": f"{cell['id']}-live", "metadata": {}, "source": text})
    return json.dumps({**made, "cells": cells})


def main(folder: Path) -> None:
    """Write all views."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = {name: f"{name}.html" for name in collectives()}
    for name in pages:
        oa.live_page(folder / f"{name}.html", MACHINE, name, pages=pages)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
