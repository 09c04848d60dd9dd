"""Write the live views, which need no kernel: `python docs/live.py FOLDER`, a page for each collective."""

from __future__ import annotations

import sys
from pathlib import Path

import orrery_analytic as oa

MACHINE = "musica"

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


def main(folder: Path) -> None:
    """Write all views."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in collectives():
        oa.live_page(folder / f"{name}.html", MACHINE, name)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
