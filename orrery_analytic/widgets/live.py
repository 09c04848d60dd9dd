"""A live view: formulas and picture in the page itself, in a notebook or on a page without a kernel."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from orrery_analytic.decisions import list_collectives
from orrery_analytic.errors import FileMissingError, QuantityError, choose
from orrery_analytic.exports.files import folder_of, write_all
from orrery_analytic.gpu import BUFFERS, TRANSPORTS
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
mountPage(document.getElementById('view'), given.data, given.parts, given.state);
</script>
</body>
</html>
"""


_SCRIPTS = "text numbers marks figure readout state controls saves view".split()  # each uses those before it


@cache
def _file(name: str) -> str:
    return (resources.files(__package__) / "page" / name).read_text(encoding="utf-8")


def _script() -> str:
    return "\n".join(_file(f"{name}.js") for name in _SCRIPTS)


class LiveExplorer(anywidget.AnyWidget):
    """The widget that `explore_live` returns. It moves without a kernel, also where a notebook is only looked at.

    Attributes
    ----------
    state : dict
        Where the controls are: machine, beside, collective, buffers, transport, network, axis, P, n, share, large,
        algorithms, and under "values" the numbers of the first machine that were moved, by symbol, in the unit of the
        machine file. The page writes it; assigning moves the controls.
    parts : dict
        Formulas and tables that the page has: those of the place where it began, and of each that it came to.
    """

    _esm = _script()
    _css = _file("view.css")
    data = traitlets.Dict().tag(sync=True)
    parts = traitlets.Dict().tag(sync=True)
    state = traitlets.Dict().tag(sync=True)

    def __init__(self, given: Live) -> None:
        self._given = given
        super().__init__(data=given.data, parts=given.parts(*_place(given.state)), state=given.state)
        self.observe(self._on_state, "state")

    def _on_state(self, _: Any) -> None:
        """Print what the page has come to, if it is a place that there is, and the page does not have it yet."""
        collective, buffers, transport = _place(self.state)
        if collective not in self.data["collectives"] or buffers not in BUFFERS or transport not in (None, *TRANSPORTS):
            return
        if " ".join(filter(None, (collective, buffers, transport))) not in self.parts:
            self.parts = {**self.parts, **self._given.parts(collective, buffers, transport)}

    def __repr__(self) -> str:
        return f"LiveExplorer: {self.code}"

    @property
    def code(self) -> str:
        """One line of code that makes this view again, as it stands."""
        return line_of_code(self._given, self.state)

    def to_html(self, path: str | Path) -> Path:
        """Write a page of its own that shows this view, as it stands, and moves without a kernel (see `live_page`)."""
        begin = dict(self.state)
        return _write(path, replace(self._given, state={**begin, "values": {}}), begin)


def _place(state: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Return collective, buffers and transport of a state; on host buffers there is no transport."""
    device = state.get("buffers") == "device" and state.get("collective") != "barrier"
    return state.get("collective"), "device" if device else "host", state.get("transport") if device else None


def explore_live(
    machine: Machine | str | Sequence[Machine | str] = "example", collective: str = "allreduce",
    algorithms: Iterable[str] | None = None, **state: Any,
) -> LiveExplorer:  # fmt: skip
    """Return a widget that shows what a collective costs, computed and drawn in the page: a slider asks no kernel.

    Parameters
    ----------
    machine : Machine or str, or two of them
        A machine, or the name or path of its file. Two stand beside each other, as in `explore`.
    collective : str
        One of `list_collectives`.
    algorithms : iterable of str, optional
        Whose curves are drawn; all of the library's unless given.
    **state
        Where to begin, as in `explore`: network ("Hockney", "LogGP"), axis ("n" or "P"), P, n (bytes, or "1 MiB"),
        share (terms in percent, else seconds), large (letters for a projector), buffers ("host", "device"), transport
        ("staged", "gdr", "peer"); and what stays, rules ("openmpi-4.1"). For another collective, or another place of
        buffers than it began with, the page asks the kernel once.

    Raises
    ------
    UnknownNameError, QuantityError
        For a name or a number that is not there or not allowed; the message says what is.
    """
    return LiveExplorer(live(machine, collective, algorithms, **state))


def live_page(
    path: str | Path, machine: Machine | str | Sequence[Machine | str] = "example", collective: str = "allreduce",
    algorithms: Iterable[str] | None = None, pages: Mapping[str, str] | None = None, **state: Any,
) -> Path:  # fmt: skip
    """Write one HTML file that shows what `explore_live` shows, with nothing from elsewhere; return its path.

    It moves when it is opened as a file, or served from any folder, and keeps its state in the address. It holds the
    formulas of one collective, on host and device buffers; another one is another page.

    Parameters
    ----------
    path : str or Path
        The file, whose name ends in .html; its folder exists.
    machine, collective, algorithms, **state
        As of `explore_live`.
    pages : mapping of collective to address, optional
        Where the pages of other collectives are, such as {"bcast": "bcast.html"}: the list of collectives leads there.
    """
    given = live(machine, collective, algorithms, **state)
    found = {choose("collective", name, list_collectives()): str(to) for name, to in (pages or {}).items()}
    return _write(path, given, given.state, found)


def _write(path: str | Path, given: Live, state: dict[str, Any], pages: Mapping[str, str] | None = None) -> Path:
    if not isinstance(path, str | Path) or Path(path).suffix != ".html":
        raise QuantityError(f"a page is a file whose name ends in .html, but {shown(path)} was given.")
    file = folder_of(Path(path).parent) / Path(path).name
    if not file.parent.is_dir():
        raise FileMissingError(f"there is no folder {shown(str(file.parent))} to write {file.name} into.")
    # No text of a name may end the script that holds it.
    data = {**given.data, "pages": {**(pages or {}), state["collective"]: ""}}
    told = json.dumps({"data": data, "parts": given.all_parts(), "state": state}).replace("<", "\\u003c")
    on = " and ".join(filter(None, (state["machine"], state["beside"])))
    title = html.escape(f"{state['collective']} on {on}")
    write_all({file: _PAGE.format(title=title, style=_file("view.css"), given=told, script=_script())})
    return file
