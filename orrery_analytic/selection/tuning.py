"""`Tuning`: the rules that `tune` found, and what they gain."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orrery_analytic.decisions import RuleFile

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Points", "Tuning"]

_SIZES = ("search", "held out")
_LISTED = 12


class Points(NamedTuple):
    """What a collective costs at points: arrays with an element for each.

    P and n; whether the search did not use this n; seconds of what the library takes without a file and with it; and of
    the best candidate.
    """

    P: NDArray[np.int64]
    n: NDArray[np.int64]
    held_out: NDArray[np.bool_]
    default: NDArray[np.float64]
    rules: NDArray[np.float64]
    best: NDArray[np.float64]


class _Row(NamedTuple):
    collective: str
    rules: int
    sizes: int
    points: int
    worst_default: float
    mean_default: float
    worst_rules: float
    mean_rules: float
    gain: float
    most: float


@dataclass(frozen=True, repr=False)
class Tuning:
    """Rules for a machine, and what they gain by the model.

    Attributes
    ----------
    rules : RuleFile
        For ``select(..., rules=...)``, `predict`, `regret`, and for Open MPI.
    machine : str
        Name of the machine.
    bound : float
        The most regret at the points of the search.
    P : tuple of int
        The communicator sizes for which rules were sought.
    points : mapping of str to Points
        What each collective costs, at the sizes of the search and at those held out.
    notes : tuple of str
        What the rules cannot do, and where they hold.
    """

    rules: RuleFile
    machine: str
    bound: float
    P: tuple[int, ...]
    points: Mapping[str, Points]
    notes: tuple[str, ...]

    @cached_property
    def table(self) -> pd.DataFrame:
        """What the rules gain: a row for each collective, P and kind of sizes ("search", "held out").

        Columns: `rules`, the rules for bytes that hold at this P (0: the fixed decision alone); `points`; worst and
        mean regret without a file (`worst_default`, `mean_default`) and with it (`worst_rules`, `mean_rules`); `gain`,
        how many times faster a call is with the file, in the mean, and `most`, at best. Means are geometric, over the
        sizes, which are evenly spread over the octaves.
        """
        import pandas as pd

        rows = []
        for collective, points in self.points.items():
            for P in self.P:
                for held_out, kind in enumerate(_SIZES):
                    here = (points.P == P) & (points.held_out == held_out)
                    if here.any():
                        rows.append((collective, P, kind, self._number(collective, P), *_measures(points, here)))
        columns = "collective P sizes rules points worst_default mean_default worst_rules mean_rules gain most".split()
        return pd.DataFrame(rows, columns=columns)

    def summary(self) -> pd.DataFrame:
        """Return a row for each collective, over all P, measured on the sizes that the search did not use, if any.

        Where `n` of `tune` leaves no others between its sizes, those of the search are taken. `rules` and `sizes` count
        rules for bytes and communicator sizes of the file; the others are as in `table`.
        """
        import pandas as pd

        return pd.DataFrame(self._rows).set_index("collective")

    @cached_property
    def _rows(self) -> list[_Row]:
        rows = []
        for collective, points in self.points.items():
            comms = self.rules.collectives.get(collective, ())
            number = sum(len(comm.messages) for comm in comms)
            rows.append(_Row(collective, number, len(comms), *_measures(points, _where(points))))
        return rows

    def _number(self, collective: str, P: int) -> int:
        taken = [rule for _, rule in self.rules.taken(collective, P)]
        return 0 if taken == [None] else len(taken)

    def write(self, path: str | PathLike[str] | None = None, form: str | None = None, overwrite: bool = False) -> str:
        """Return the text of the rule file, and write it to a file if one is named: see `RuleFile.write`."""
        return self.rules.write(path, form, overwrite)

    def report(self) -> str:
        """Return in words how many rules there are, and what they gain at sizes that the search did not use, if any."""
        lines = [f"{self._title} {self._places}:"]
        for row in self._rows:
            default = _regret(row.mean_default, row.worst_default)
            if not row.rules:
                lines.append(f"  {row.collective}: no rule is needed; regret {default}")
                continue
            told = f"{_count(row.rules, 'rule')} for {_count(row.sizes, 'range')} of communicator sizes"
            after = _regret(row.mean_rules, row.worst_rules)
            gain = f"{_number(row.gain)} times as fast in the mean, {_number(row.most)} times at best"
            if np.isnan(row.gain):
                gain = "how many times as fast is not known"
            lines.append(f"  {row.collective}: {told}; regret {default} without, {after} with them; {gain}")
        return "\n".join([*lines, *(f"- {note}" for note in self.notes)])

    @property
    def _title(self) -> str:
        few = len(self.P) <= _LISTED
        ranks = ", ".join(map(str, self.P)) if few else f"{self.P[0]} to {self.P[-1]} ({len(self.P)} sizes)"
        return f"Rules for {self.machine}, P = {ranks}: regret of at most {self.bound:g} at the sizes of the search."

    @property
    def _places(self) -> str:
        """Where `summary` measures."""
        same = [name for name, points in self.points.items() if not points.held_out.any()]
        if len(same) == len(self.points):
            return "On the sizes of the search, as none lies between them"
        own = f" (for {', '.join(same)} on its own)" if same else ""
        return f"On sizes that the search did not use{own}"

    def __repr__(self) -> str:
        return f"<Tuning: {self._title}>"

    def _repr_html_(self) -> str:
        left, right = "style='text-align:left'", "style='text-align:right'"
        heads = (
            "rules", "ranges of P", "worst regret, default", "with the rules", "mean regret, default", "with the rules",
            "times as fast, mean", "at best",
        )  # fmt: skip
        head = f"<th {left}>collective</th>" + "".join(f"<th {right}>{name}</th>" for name in heads)
        body = ""
        for row in self._rows:
            numbers = (row.worst_default, row.worst_rules, row.mean_default, row.mean_rules, row.gain, row.most)
            cells = "".join(f"<td {right}>{text}</td>" for text in (row.rules, row.sizes, *map(_number, numbers)))
            body += f"<tr><th {left}>{html.escape(row.collective)}</th>{cells}</tr>"
        caption = f"{html.escape(self._title)} Measured {html.escape(self._places.replace('On', 'on', 1))}."
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in self.notes)
        return (
            f"<table><caption {left}>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
            f"<ul>{notes}</ul>"
        )


def _where(points: Points) -> NDArray[np.bool_]:
    """Return at which points rules are measured: those that the search did not use, if there are any."""
    return points.held_out if points.held_out.any() else ~points.held_out


def _measures(points: Points, here: NDArray[np.bool_]) -> tuple[int, float, float, float, float, float, float]:
    """Return how many points there are, and worst and mean regrets and gains over those that have a formula."""
    default, rules, best = (seconds[here] for seconds in (points.default, points.rules, points.best))
    before, after, gain = _ratio(default, best), _ratio(rules, best), _ratio(default, rules)
    return int(here.sum()), _most(before), _mean(before), _most(after), _mean(after), _mean(gain), _most(gain)


def _ratio(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.where(a == b, 1.0, a / b)  # both may be 0
    return np.asarray(ratio[np.isfinite(ratio)])


def _most(ratio: NDArray[np.float64]) -> float:
    return float(ratio.max()) if ratio.size else np.nan


def _mean(ratio: NDArray[np.float64]) -> float:
    return float(np.exp(np.log(ratio).mean())) if ratio.size else np.nan


def _number(ratio: float) -> str:
    if np.isnan(ratio):
        return "not known"
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:.1f}"


def _regret(mean: float, worst: float) -> str:
    return "not known" if np.isnan(mean) else f"{_number(mean)} (worst {_number(worst)})"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
