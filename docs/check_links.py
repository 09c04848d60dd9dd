"""Follow every link inside the site: `python docs/check_links.py FOLDER`. Links to elsewhere are not looked at."""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit


class Page(HTMLParser):
    """What a page links to and loads, and the places in it that have a name."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.anchors: set[str] = {"", "top"}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take the addresses and names of a tag."""
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.add(value)
            elif name in ("id", "name") and value:
                self.anchors.add(value)


def broken(folder: Path) -> list[str]:
    """Return every link that leads nowhere, with the page that has it."""
    pages = {path.resolve(): Page(path) for path in folder.rglob("*.html")}
    wrong = []
    for path, page in pages.items():
        for link in sorted(page.links):
            if urlsplit(link).scheme or link.startswith("//"):
                continue
            address, anchor = urldefrag(link)
            target = (path.parent / unquote(urlsplit(address).path)).resolve() if address else path
            state = unquote(anchor).startswith("{")  # of a live view
            lost = target in pages and not state and unquote(anchor) not in pages[target].anchors
            if lost or not target.is_file():
                wrong.append(f"{path.relative_to(folder.resolve())}: {link}")
    return wrong


if __name__ == "__main__":
    found = broken(Path(sys.argv[1]))
    sys.exit("\n".join(["links that lead nowhere:", *found]) if found else 0)
