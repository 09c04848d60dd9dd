"""What a stored notebook holds: nbval compares only cells that were run, and outputs must not tell of one machine."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parent.parent / "notebooks"
NOTEBOOKS = [path for path in sorted(FOLDER.rglob("*.ipynb")) if ".ipynb_checkpoints" not in path.parts]
PRIVATE = {
    "an absolute path": re.compile(r"(?<![\w<>.:/)\]}~*-])/(?:[\w.+-]+/)+[\w.+-]+|\b[A-Z]:\\\w"),
    "a memory address": re.compile(r"\b0x[0-9a-fA-F]{4,}"),
    "a time stamp": re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}|\b\d{2}:\d{2}:\d{2}\b"),
}


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.relative_to(FOLDER).as_posix())
def code_cells(request: pytest.FixtureRequest) -> list[dict[str, Any]]:
    cells = json.loads(request.param.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code" and "".join(cell["source"]).strip()]


def shown_text(cell: dict[str, Any]) -> Iterator[str]:
    """Every text among a cell's outputs; pictures and widget states are data, not text."""
    for output in cell["outputs"]:
        yield "".join(output.get("text", ""))
        for kind, data in output.get("data", {}).items():
            if kind.startswith("text/") or kind == "image/svg+xml":
                yield "".join(data)


def private_things(text: str) -> list[str]:
    return [f"{what}: {found[0]}" for what, pattern in PRIVATE.items() if (found := pattern.search(text))]


def test_every_cell_was_run(code_cells: list[dict[str, Any]]) -> None:
    not_run = ["".join(cell["source"]) for cell in code_cells if cell["execution_count"] is None]
    assert not_run == []


def test_no_cell_failed(code_cells: list[dict[str, Any]]) -> None:
    kinds = {output["output_type"] for cell in code_cells for output in cell["outputs"]}
    assert "error" not in kinds


def test_no_cell_warned(code_cells: list[dict[str, Any]]) -> None:
    streams = [output for cell in code_cells for output in cell["outputs"] if output["output_type"] == "stream"]
    assert ["".join(stream["text"]) for stream in streams if stream["name"] == "stderr"] == []


def test_outputs_tell_nothing_of_the_machine_they_were_made_on(code_cells: list[dict[str, Any]]) -> None:
    assert [thing for cell in code_cells for text in shown_text(cell) for thing in private_things(text)] == []


@pytest.mark.parametrize(
    "text",
    [
        "<Explorer at 0x7f3c5a1b>",
        "'/opt/machines/a.toml'",
        "read /srv/data/osu.log",
        r"C:\logs",
        "2024-05-01T12:30",
        "at 12:30:59",
    ],
)
def test_what_belongs_to_one_machine_is_found(text: str) -> None:
    assert private_things(text)


@pytest.mark.parametrize("text", ["</div></td>", "24 GB/s/card", "P/2/n", "image/svg+xml", "n / P", "machines/a.toml"])
def test_what_belongs_to_none_is_let_through(text: str) -> None:
    assert private_things(text) == []
