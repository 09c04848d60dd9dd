"""Make the notebooks of the course from their sources: `python notebooks/course/build.py`, or with names of sources.

A source, source/NN-name.md, is text with lines that begin its cells:

* `%% md` and `%% code`: a cell of both notebooks, the task and its solution.
* `%% exercise N.M`: text that asks, in both.
* `%% solution N.M`: code that sets `answer`. The task has `answer = ...` in its place, and the code folded below the
  check; the solution has the code itself.

After the answer both have a cell that checks it. So a task and its solution cannot differ in anything else.
"""

from __future__ import annotations

import base64
import json
import re
import sys
from pathlib import Path
from typing import Any

import nbformat

HERE = Path(__file__).resolve().parent
WIDGET = "application/vnd.jupyter.widget-view+json"
METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
_FOLDED = """<details>
<summary>Solution of {number}</summary>

```python
{code}
```

</details>"""


def _from_solutions(text: str) -> str:
    """Make links that lead out of the tasks' folder, or to the index, lead there from the solutions' folder."""
    return re.sub(r"\]\((?=\.\./|00-)", "](../", text)


def cells(source: str, solved: bool) -> list[tuple[str, str]]:
    """Return kind ("md" or "code") and text of each cell of a task, or of its solution."""
    found: list[tuple[str, str]] = []
    for head, body in re.findall(r"^%% (.+)\n((?:(?!%% ).*\n?)*)", source, re.M):
        kind, _, number = head.strip().partition(" ")
        text = body.strip("\n")
        text = _from_solutions(text) if solved and kind in ("md", "exercise") else text
        if kind == "exercise":
            found.append(("md", f"### Exercise {number}\n\n{text}"))
        elif kind == "solution":
            found.append(("code", text if solved else "answer = ..."))
            found.append(("code", f'course.check("{number}", answer)'))
            found += [] if solved else [("md", _FOLDED.format(number=number, code=text))]
        elif kind in ("md", "code") and not number:
            found.append((kind, text))
        else:
            raise SystemExit(f"a cell begins with md, code, exercise N.M or solution N.M, not {head!r}")
    return found


def notebook(source: Path, solved: bool) -> Any:
    """Return the notebook of a source, not yet run."""
    made = nbformat.v4.new_notebook(metadata=json.loads(json.dumps(METADATA)))
    for i, (kind, text) in enumerate(cells(source.read_text(encoding="utf-8"), solved), start=1):
        cell = nbformat.v4.new_markdown_cell(text) if kind == "md" else nbformat.v4.new_code_cell(text)
        cell["id"] = f"cell-{i:02d}"
        made.cells.append(cell)
    return made


def target(source: Path, solved: bool) -> Path:
    """Return where a notebook of a source is stored."""
    return (HERE / "solutions" if solved else HERE) / f"{source.stem}.ipynb"


def _cleaned(made: Any, picture: Path) -> Any:
    """Keep what people read: no view of a widget but its picture, no times, no metadata."""
    made.metadata = nbformat.from_dict(json.loads(json.dumps(METADATA)))
    for cell in made.cells:
        cell.metadata = nbformat.from_dict({})
        for output in cell.get("outputs", ()):
            if output.get("name") == "stderr":
                raise SystemExit(f"{cell.id}: {output.text}")
            if "metadata" in output:
                output.metadata = nbformat.from_dict({})
            data = output.get("data", {})
            if data.pop(WIDGET, None) is not None and picture.exists():
                data["image/png"] = base64.b64encode(picture.read_bytes()).decode()
    return made


def build(source: Path, solved: bool) -> Path:
    """Run a notebook and store it with its outputs."""
    from nbclient import NotebookClient

    made, file = notebook(source, solved), target(source, solved)
    NotebookClient(
        made,
        timeout=300,
        kernel_name="python3",
        coalesce_streams=True,
        resources={"metadata": {"path": str(file.parent)}},
    ).execute()
    nbformat.validate(_cleaned(made, source.with_suffix(".png")))
    text = json.dumps(made, indent=1, ensure_ascii=False, sort_keys=True)
    file.write_text(text + "\n", encoding="utf-8", newline="\n")
    return file


def main(wanted: list[str]) -> None:
    """Make those notebooks whose names begin as wanted, or all."""
    for source in sorted((HERE / "source").glob("*.md")):
        if not wanted or source.stem.startswith(tuple(wanted)):
            for solved in (False, True) if "%% solution" in source.read_text(encoding="utf-8") else (False,):
                print(build(source, solved).relative_to(HERE))


if __name__ == "__main__":
    main(sys.argv[1:])
