"""A figure behind an Image widget: what stays is kept as a background, what moves is drawn onto it."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from threading import Lock
from typing import Any

import ipywidgets
import numpy as np
from PIL import Image

from orrery_analytic import plots

__all__ = ["Canvas", "Pictured"]

_WIDTH = 7.3  # inches


class Pictured(ipywidgets.Box):
    """A widget that gives its picture as well, for where nothing runs: a stored notebook on a page."""

    image: ipywidgets.Image

    def picture(self) -> bytes:
        """Return what the widget shows now, as PNG."""
        return bytes(self.image.value)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is not None:
            bundle["image/png"] = base64.b64encode(self.picture()).decode()
        return bundle


class Canvas:
    """One panel and the picture of it.

    Parameters
    ----------
    height : float
        Inches.
    name : str
        Class of the widget, for style sheets and tests.
    **margins : float
        Inches, as `figure` takes them.
    """

    def __init__(self, height: float, name: str, **margins: float) -> None:
        self.figure, (self.axes,) = plots.figure(height, width=_WIDTH, **margins)
        self.lock = Lock()  # callbacks may come from several threads
        self.image = ipywidgets.Image(format="png", layout=ipywidgets.Layout(width="100%", flex="0 0 auto"))
        self.image.add_class(name)
        self._background: Any = None
        self.enlarge(False)

    def enlarge(self, large: bool) -> None:
        """Make all letters and lines a third larger, or as they were; nothing is drawn."""
        self.figure.set_dpi(130 if large else 100)
        self.image.layout.max_width = f"{_WIDTH * self.figure.dpi:.0f}px"
        self._background = None

    def clear(self) -> None:
        """Take everything off the panel."""
        self.axes.clear()
        self._background = None

    def paint(self, artists: Sequence[Any], anew: bool) -> None:
        """Draw moving artists, in this order; all the rest as well if it is `anew`, or was never drawn."""
        for artist in artists:
            artist.set_animated(True)
        canvas: Any = self.figure.canvas
        if anew or self._background is None:
            canvas.draw()
            self._background = canvas.copy_from_bbox(self.figure.bbox)
        canvas.restore_region(self._background)
        for artist in artists:
            self.axes.draw_artist(artist)
        out = io.BytesIO()
        # Level 1: encoding costs more than sending here.
        Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3]).save(out, "png", compress_level=1)
        self.image.value = out.getvalue()
