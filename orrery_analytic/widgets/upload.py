"""Measured points: a log that was dropped on the explorer, and its rows that belong to the current view."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from orrery_analytic import logs
from orrery_analytic.decisions import list_collectives
from orrery_analytic.errors import FormatError
from orrery_analytic.plots import relative_error, size_text
from orrery_analytic.widgets.view import View, model

__all__ = ["Log", "Points"]

_MOST = 2000  # points drawn


@dataclass(frozen=True)
class Points:
    """Measured points of a view, with what to say of them."""

    x: NDArray[Any]
    seconds: NDArray[Any]
    told: str


_NONE = np.array([])


class Log:
    """The rows of a log that a collective on host or device buffers may be compared with.

    Parameters
    ----------
    upload : mapping
        An item of a FileUpload: its name and its content.

    Raises
    ------
    FormatError
        If it is no log of a known format, or holds no collective of `list_collectives`.
    """

    def __init__(self, upload: Any) -> None:
        self.name = str(upload["name"])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", logs.LogWarning)  # counted below
            table = logs.read(upload)
        self.unread = len(table.attrs["warnings"])
        usable = table["seconds"].gt(0) & np.isfinite(table["seconds"])
        usable &= table["n"].between(1, 2**50) | table["collective"].eq("barrier")
        usable &= table["ranks"].isna() | table["ranks"].between(2, 2**31 - 1)
        self.rows = table[usable & table["collective"].isin(list_collectives())]
        if self.rows.empty:
            kinds = ", ".join(sorted({str(kind) for kind in table["collective"]})) or "nothing"
            raise FormatError(f"{self.name} holds {kinds}. Drawn are: {', '.join(list_collectives())}.")

    def proposes(self, collective: str, buffers: str) -> tuple[str, str]:
        """Return the collective and the buffers to look at: those of now, if the log has them, or its first."""
        if not self._of(collective, buffers).empty:
            return collective, buffers
        first = self.rows.iloc[0]
        return str(first["collective"]), "device" if first["buffers"] == "device" else "host"

    def ranks_near(self, collective: str, buffers: str, P: int) -> int:
        """Return the number of ranks nearest to P among the rows; P where the log does not say."""
        known = self._of(collective, buffers)["ranks"].dropna().unique()
        return int(min(known, key=lambda ranks: abs(np.log(ranks / P)))) if len(known) else P

    def _of(self, collective: str, buffers: str) -> pd.DataFrame:
        # A log that does not say where the buffers were is taken for one of host buffers.
        place = self.rows["buffers"].eq("device") == (buffers == "device")
        rows: pd.DataFrame = self.rows.loc[place & self.rows["collective"].eq(collective)]
        return rows

    def points(self, view: View) -> Points:
        """Return the points that belong to a view, and their error to the model, in words."""
        rows = self._of(view.collective, view.buffers)
        what = f"{view.collective} on {view.buffers} buffers"
        if rows.empty:
            return Points(_NONE, _NONE, f"{self.name} has no {what}.")
        unknown = bool(rows["ranks"].isna().all())
        ranks = rows["ranks"].fillna(view.P)
        if view.axis == "n":
            nearest = self.ranks_near(view.collective, view.buffers, view.P)
            rows, ranks = rows[ranks == nearest], ranks[ranks == nearest]
            place = f"P = {nearest}" + (" (the log does not say)" if unknown else "")
            place += "" if nearest == view.P else f", the nearest to {view.P}"
        else:
            total = rows["n"] * ranks if view.shares_total else rows["n"]
            held = float(total.iloc[int(np.abs(np.log(total / view.n)).to_numpy().argmin())])
            rows, ranks = rows[total == held], ranks[total == held]
            place = f"{size_text(held)} in all" if view.shares_total else f"n = {size_text(held)}"
            place += "" if held == view.n else f", the nearest to {size_text(view.n)}"
        rows, ranks = rows.iloc[:_MOST], ranks.iloc[:_MOST]
        n, P, seconds = rows["n"].to_numpy(), ranks.to_numpy(), rows["seconds"].to_numpy()
        points = f"{len(rows)} point{'s' if len(rows) > 1 else ''}"
        told = f"{self.name}: {points} of {what}, {place}. {self._error(view, P, n, seconds)}"
        if self.unread:
            told += f" {self.unread} lines that look like data could not be read."
        return Points(n if view.axis == "n" else P, seconds, told)

    def _error(self, view: View, P: NDArray[Any], n: NDArray[Any], seconds: NDArray[Any]) -> str:
        error = np.abs(relative_error(seconds, model(view, P.astype(np.int64), n.astype(np.int64))))
        known = error[np.isfinite(error)]
        if not known.size:
            return "The error is unknown: the library's choice has no formula there."
        left = "" if known.size == error.size else f" ({known.size} of them: elsewhere the choice has no formula)"
        return f"Median |error| to the model at the library's choice: {100 * np.median(known):.0f} %{left}."
