"""What is said of an answer: right, not right, or not there yet, and why."""

from __future__ import annotations

import html
from dataclasses import dataclass

__all__ = ["Verdict"]

_SIGNS = {True: "✔ Right.", False: "✘ Not yet.", None: "… Not answered yet."}
_COLOURS = {True: "#0072B2", False: "#D55E00", None: "#777777"}  # colour-blind safe; the sign tells it too


@dataclass(frozen=True, repr=False)
class Verdict:
    """What is said of an answer.

    Attributes
    ----------
    right : bool or None
        Whether the answer is right; None where there is none yet.
    why : str
        What to look at, or what the answer says.
    """

    right: bool | None
    why: str = ""

    def __bool__(self) -> bool:
        """Return whether the answer is right."""
        return bool(self.right)

    def __repr__(self) -> str:
        return f"{_SIGNS[self.right]} {self.why}".rstrip()

    def _repr_html_(self) -> str:
        sign, colour = _SIGNS[self.right], _COLOURS[self.right]
        return (
            f"<p style='border-left: 4px solid {colour}; padding-left: 0.6em'><b>{sign}</b> {html.escape(self.why)}</p>"
        )
