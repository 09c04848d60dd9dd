"""Run the Python of the how-to pages, in the order of each page: what they say must be true."""

from __future__ import annotations

import contextlib
import io
import os
import re
import tempfile
from pathlib import Path

PAGES = sorted(Path(__file__).resolve().parent.glob("add-*.md"))
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


def run(page: Path) -> None:
    """Run all blocks of a page in one namespace; line numbers in a traceback are those of the page."""
    text = page.read_text(encoding="utf-8")
    namespace: dict[str, object] = {"__name__": "__main__"}  # a module that exists: dataclasses look it up
    for block in BLOCK.finditer(text):
        above = text.count("\n", 0, block.start(1))
        exec(compile("\n" * above + block[1], page.name, "exec", dont_inherit=True), namespace)


def main() -> None:
    """Run all pages, in a folder that is thrown away."""
    home = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                for page in PAGES:
                    run(page)
        finally:
            os.chdir(home)


if __name__ == "__main__":
    main()
