"""A row of buttons that save what an explorer shows: links within the page, and text where it can be read."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets
from ipywidgets import Layout
from matplotlib.figure import Figure

from orrery_analytic.errors import OrreryError
from orrery_analytic.exports.paper import pdf_bytes
from orrery_analytic.plots import size_text

__all__ = ["Saver", "button", "figure_file"]

_TYPES = {"pdf": "application/pdf", "png": "image/png", "csv": "text/csv", "tex": "text/x-tex", "py": "text/x-python"}
_ENDINGS = {"PDF": "pdf", "PNG": "png", "CSV": "csv", "LaTeX": "tex", "code": "py"}
_READ = ("LaTeX", "code")  # shown as well: people copy from them


class Saver:
    """The buttons, and what they fill.

    Parameters
    ----------
    told : mapping of kind to str
        What each button says when pointed at; kinds are "PDF", "PNG", "CSV", "LaTeX" and "code".
    make : function of a kind
        Returns the name of the file without its ending, and its content. What it refuses is shown in place of a link.
    """

    def __init__(self, told: Mapping[str, str], make: Callable[[str], tuple[str, bytes]]) -> None:
        self._make = make
        self.buttons = {kind: button(kind, text) for kind, text in told.items()}
        for kind, pressed in self.buttons.items():
            pressed.on_click(lambda _, kind=kind: self._save(kind))
        self.saved = ipywidgets.HTML()
        self.text = ipywidgets.Textarea(layout=Layout(width="100%", height="300px", display="none"))
        self.text.add_class("orrery-code")
        head = ipywidgets.HTML("<style>.orrery-saves button { padding: 0 6px }</style><b>save</b>")
        self.row = ipywidgets.HBox([head, *self.buttons.values(), self.saved])
        self.row.layout = Layout(flex_flow="row wrap", align_items="center", width="100%")
        self.row.add_class("orrery-saves")

    def _save(self, kind: str) -> None:
        """Make what a button stands for, and a link that saves it; show it where it is text."""
        try:
            name, content = self._make(kind)
        except OrreryError as error:
            self.saved.value = html.escape(str(error))
            return
        self.saved.value = _link(f"{name}.{_ENDINGS[kind]}", content)
        if kind in _READ:
            self.text.value = content.decode()
        self.text.layout.display = "flex" if kind in _READ else "none"


def button(name: str, told: str) -> Any:
    """Return a small button."""
    return ipywidgets.Button(description=name, tooltip=told, layout=Layout(width="62px", height="28px"))


def figure_file(made: Figure, kind: str) -> bytes:
    """Return a figure as a file, "PDF" or "PNG"; the same at every call."""
    if kind == "PDF":
        return pdf_bytes(made)
    out = io.BytesIO()
    made.savefig(out, format="png", dpi=200)
    return out.getvalue()


def _link(name: str, content: bytes) -> str:
    """Return an anchor that saves a file from within the page."""
    kind = _TYPES[name.rpartition(".")[2]]
    data = base64.b64encode(content).decode()
    safe = html.escape(name)
    where = f'class="orrery-save" download="{safe}" href="data:{kind};base64,{data}"'
    return f'<a {where} style="text-decoration: underline">save {safe}</a> ({size_text(len(content))})'
