"""A live view: formulas and picture in the page itself, in a notebook or on a page without a kernel."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from orrery_analytic.errors import FileMissingError, QuantityError
from orrery_analytic.machines import Machine
from orrery_analytic.units import shown
from orrery_analytic.widgets.live_data import Live, line_of_code, live

__all__ = ["LiveExplorer", "explore_live", "live_page"]

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>
body {{ margin: 8px; background: white; }}
{style}</style>
</head>
<body>
<main id="view"></main>
<noscript>This page computes its curves by JavaScript, which is switched off.</noscript>
<script type="application/json" id="given">{given}</script>
<script type="module">
{script}
const given = JSON.parse(document.getElementById('given').textContent);
mountPage(document.getElementById('view'), given.data, given.source, given.state);
</script>
</body>
</html>
"""


@cache
def _file(name: str) -> str:
    return (resources.files(__package__) / name).read_text(encoding="utf-8")


def _script() -> str:
    return f"{_file('live_figure.js')}\n{_file('live.js')}"


class LiveExplorer(anywidget.AnyWidget):
    """The widget that `explore_live` returns. It moves without a kernel, also where a notebook is only looked at.

    Attributes
    ----------
    state : dict
        Where the controls are: machine, network, axis, P, n, share, algorithms, and under "values" the numbers that
        were moved, by symbol, in the unit of the machine file. The page writes it; assigning moves the controls.
    """

    _esm = _script()
    _css = _file("live.css")
    data = traitlets.Dict().tag(sync=True)
    source = traitlets.Unicode().tag(sync=True)
    state = traitlets.Dict().tag(sync=True)

    def __init__(self, given: Live) -> None:
        self._given = given
        super().__init__(data=given.data, source=given.source, state=given.state)

    @property
    def code(self) -> str:
        """One line of code that makes this view again, as it stands."""
        return line_of_code(self._given, self.state)

    def to_html(self, path: str | Path) -> Path:
        """Write a page of its own that shows this view, as it stands, and moves without a kernel (see `live_page`)."""
        return _write(path, self._given, dict(self.state))


def explore_live(
    machine: Machine | str = "example", collective: str = "allreduce", algorithms: Iterable[str] | None = None,
    **state: Any,
) -> LiveExplorer:  # fmt: skip
    """Return a widget that shows what a collective costs, computed and drawn in the page: a slider asks no kernel.

    Parameters
    ----------
    machine : Machine or str
        A machine, or the name or path of its file.
    collective : str
        One of `list_collectives`.
    algorithms : iterable of str, optional
        Whose curves are drawn; all of the library's unless given.
    **state
        Where to begin, as in `explore`: network ("Hockney", "LogGP"), axis ("n" or "P"), P, n (bytes, or "1 MiB"),
        share (terms in percent, else seconds); and what stays: buffers ("host", "device"), transport ("staged", "gdr",
        "peer"), rules ("openmpi-4.1").

    Raises
    ------
    UnknownNameError, QuantityError
        For a name or a number that is not there or not allowed; the message says what is.
    """
    return LiveExplorer(live(machine, collective, algorithms, **state))


def live_page(
    path: str | Path, machine: Machine | str = "example", collective: str = "allreduce",
    algorithms: Iterable[str] | None = None, **state: Any,
) -> Path:  # fmt: skip
    """Write one HTML file that shows what `explore_live` shows, with nothing from elsewhere; return its path.

    It moves when it is opened as a file, or served from any folder, and keeps its state in the address.

    Parameters
    ----------
    path : str or Path
        The file, whose name ends in .html; its folder exists.
    machine, collective, algorithms, **state
        As of `explore_live`.
    """
    given = live(machine, collective, algorithms, **state)
    return _write(path, given, given.state)


def _write(path: str | Path, given: Live, state: dict[str, Any]) -> Path:
    if not isinstance(path, str | Path) or Path(path).suffix != ".html":
        raise QuantityError(f"a page is a file whose name ends in .html, but {shown(path)} was given.")
    file = Path(path)
    if not file.parent.is_dir():
        raise FileMissingError(f"there is no folder {shown(str(file.parent))} to write {file.name} into.")
    # No text of a name may end the script that holds it.
    told = json.dumps({"data": given.data, "source": given.source, "state": state}).replace("<", "\\u003c")
    title = html.escape(f"{given.options['collective']} on {given.machine.name}")
    file.write_text(
        _PAGE.format(title=title, style=_file("live.css"), given=told, script=_script()), encoding="utf-8", newline="\n"
    )
    return file
