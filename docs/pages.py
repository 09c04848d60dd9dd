"""Put the pages of the site together: `python docs/pages.py FOLDER`.

They lie as in the repository, so that links hold here and there, but for docs/index.md, which is the first page.
Below an explorer of a notebook there is a link to its live view.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import formulas
import live
import reference

ROOT = Path(__file__).resolve().parent.parent
COPIED = (
    "README.md",
    "CHANGELOG.md",
    "CITATION.cff",
    "docs/*.md",
    "docs/*.png",
    "machines/*.toml",
    "notebooks/**/*.ipynb",
)


def copy(folder: Path) -> None:
    """Copy the pages that people have written."""
    for pattern in COPIED:
        for source in ROOT.glob(pattern):
            if ".ipynb_checkpoints" not in source.parts:
                target = folder / source.relative_to(ROOT)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, target)
                if source.suffix == ".ipynb":
                    up = "../" * (len(source.relative_to(ROOT).parts) - 1)
                    target.write_text(live.linked(source.read_text(encoding="utf-8"), up), encoding="utf-8")
    (folder / "docs" / "index.md").rename(folder / "index.md")


def main(folder: Path) -> None:
    """Make the folder anew: copied pages, and those that the package says itself."""
    shutil.rmtree(folder, ignore_errors=True)
    copy(folder)
    for name, text in {"formulas.md": formulas.page(), "live.md": live.page(), **reference.pages()}.items():
        target = folder / "docs" / name
        target.parent.mkdir(exist_ok=True)
        target.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
