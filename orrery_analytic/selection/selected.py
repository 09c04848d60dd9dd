"""`SelectedCost`: the cost of what the library takes at a given P, in pieces of n, each with its own formula."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import sympy as sp

from orrery_analytic.cost import TERM_NAMES, Cost, evaluate
from orrery_analytic.errors import QuantityError
from orrery_analytic.selection.plans import bytes_text
from orrery_analytic.symbols import n
from orrery_analytic.units import shown

__all__ = ["NO_FORMULA", "Piece", "SelectedCost"]

NO_FORMULA = Cost(validity="no formula", collective={"latency": sp.nan})
"""The cost of what has none: NaN."""


class Piece(NamedTuple):
    """A range of sizes from `start` bytes up to but without `stop` (None: to the end), and what it costs there.

    `chosen` is what the library takes, `runs` what then runs.
    """

    start: int
    stop: int | None
    chosen: str
    runs: str
    cost: Cost

    @property
    def sizes(self) -> str:
        """The range for people: "1 KiB <= n < 64 KiB"."""
        low = f"{bytes_text(self.start)} <= " if self.start else ""
        return f"{low}n < {bytes_text(self.stop)}" if self.stop is not None else f"{low}n" if low else "any n"

    @property
    def told(self) -> str:
        """What is chosen, and what runs where that is another: "ring, runs recursive_doubling"."""
        return self.runs if self.runs.startswith(self.chosen) else f"{self.chosen}, runs {self.runs}"


@dataclass(frozen=True, repr=False)
class SelectedCost(Cost):
    """A cost in pieces of n. Its terms and its total are SymPy Piecewise; numbers come from each piece on its own.

    What holds of `Cost` holds here: it adds, multiplies, prints, takes numbers. A value of n takes the piece whose
    range it lies in, and no other piece is computed there.

    Attributes
    ----------
    pieces : tuple of Piece
        In the order of n: ranges that follow one another from 0 on.
    title : str
        What it is the cost of.
    """

    pieces: tuple[Piece, ...] = ()
    title: str = ""

    @classmethod
    def of(cls, pieces: Sequence[Piece], title: str) -> SelectedCost:
        """Return the cost made of these pieces, which follow one another from n = 0 on."""
        costs = [piece.cost for piece in pieces]
        stops = [piece.stop for piece in pieces]

        def terms(of: Callable[[Cost], Mapping[str, sp.Expr]]) -> dict[str, sp.Expr]:
            names = [name for name in TERM_NAMES if any(name in of(cost) for cost in costs)]
            return {name: _piecewise([of(cost).get(name, sp.S.Zero) for cost in costs], stops) for name in names}

        fixed = frozenset().union(*(cost.fixed for cost in costs))
        validity = "; ".join(dict.fromkeys(cost.validity for cost in costs if cost.validity))
        return cls(
            terms(lambda c: c.local), validity, terms(lambda c: c.collective), fixed, pieces=tuple(pieces), title=title
        )

    @cached_property
    def total(self) -> sp.Expr:
        """The whole cost as one SymPy expression, in seconds: a Piecewise in n where there is more than one piece."""
        return _piecewise([piece.cost.total for piece in self.pieces], [piece.stop for piece in self.pieces])

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """Names of the symbols that need a number before the cost is one; n among them where there are pieces."""
        own = {name for piece in self.pieces for name in piece.cost.symbols}
        return tuple(sorted(own | ({"n"} if len(self.pieces) > 1 else set())))

    def piece(self, nbytes: float) -> Piece:
        """Return the piece that holds at a size."""
        return next(p for p in self.pieces if p.stop is None or nbytes < p.stop)

    def values(self, **values: Any) -> dict[str, np.ndarray]:
        """Return each term in seconds, under its name, and their sum under "total"; as `Cost.values`."""
        self._check(values)
        if len(self.pieces) == 1:
            return self.pieces[0].cost.values(**values)
        (sizes,) = evaluate((n,), values)
        arrays = {name: value if np.ndim(value) == 0 else np.asarray(value) for name, value in values.items()}
        out: dict[str, np.ndarray] = {name: np.zeros(sizes.shape) for name in (*self.terms, "total")}
        for piece in self.pieces:
            here = (sizes >= piece.start) & (sizes < (np.inf if piece.stop is None else piece.stop))
            if not here.any():
                continue
            given = {k: v if np.ndim(v) == 0 else np.broadcast_to(v, sizes.shape)[here] for k, v in arrays.items()}
            for name, part in piece.cost.values(**_known(piece.cost, given) | {"n": sizes[here]}).items():
                out[name][here] = part
        return out

    def _total(self, values: Mapping[str, Any]) -> np.ndarray:
        return self.values(**values)["total"]

    def at(self, machine: Any = None, **values: float) -> Cost:
        """Return the cost with numbers put in (see `Cost.at`); with a number for n, that of its piece alone."""
        self._check(values)
        if "n" in values:
            (size,) = evaluate((n,), {"n": values["n"]})
            if size.ndim:
                raise QuantityError(f"n can be one number here, but {shown(values['n'])} was given.")
            cost = self.piece(float(size)).cost
            return cost.at(machine, **_known(cost, values))
        return self._with([p._replace(cost=p.cost.at(machine, **_known(p.cost, values))) for p in self.pieces])

    def __add__(self, other: Cost) -> Cost:
        """Add a cost to every piece, or the pieces of another one where they meet: one after the other."""
        if not isinstance(other, Cost):
            return super().__add__(other)  # an error that says what adds up
        others = other.pieces if isinstance(other, SelectedCost) else (Piece(0, None, "", "", other),)
        starts = sorted({p.start for p in (*self.pieces, *others)})
        added = []
        for start, stop in zip(starts, [*starts[1:], None], strict=True):
            a, b = (next(p for p in side if p.stop is None or start < p.stop) for side in (self.pieces, others))
            told = [" + ".join(filter(None, names)) for names in ((a.chosen, b.chosen), (a.runs, b.runs))]
            added.append(Piece(start, stop, told[0], told[1], a.cost + b.cost))
        title = f"{self.title} + {other.title}" if isinstance(other, SelectedCost) else self.title
        return SelectedCost.of(added, title)

    def __mul__(self, times: Any) -> Cost:
        """Repeat a cost: every term `times` over."""
        return self._with([piece._replace(cost=piece.cost * times) for piece in self.pieces])

    __rmul__ = __mul__

    def _with(self, pieces: Sequence[Piece]) -> SelectedCost:
        return SelectedCost.of(pieces, self.title)

    def latex(self) -> str:
        """Return the total as LaTeX: one case a piece, with the algorithm and the sizes for which it holds."""
        if len(self.pieces) == 1:
            return self.pieces[0].cost.latex()
        rows = [rf"{p.cost.latex()} & \text{{{_escaped(p.told)}:}}\; {_range(p)}" for p in self.pieces]
        return r"\begin{cases} " + r" \\ ".join(rows) + r" \end{cases}"

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle T = {self.latex()}$"

    def __repr__(self) -> str:
        rows = [(piece.sizes, piece.told, str(piece.cost.total)) for piece in self.pieces]
        widths = [max(len(row[i]) for row in rows) for i in (0, 1)]
        lines = [f"{sizes:<{widths[0]}}  {name:<{widths[1]}}  {e}" for sizes, name, e in rows]
        return "\n".join([self.title, *lines, *([f"validity: {self.validity}"] if self.validity else [])])

    def _repr_html_(self) -> str:
        """Return a table of the pieces: sizes, what is chosen, what runs, and the formula."""
        left = "style='text-align:left'"
        head = "".join(f"<th {left}>{name}</th>" for name in ("sizes", "chosen", "runs", "seconds"))
        rows = []
        for piece in self.pieces:
            cells = (*(html.escape(text) for text in piece[2:4]), f"${piece.cost.latex()}$")
            rows.append(
                f"<tr><th {left}>{html.escape(piece.sizes)}</th>"
                + "".join(f"<td {left}>{cell}</td>" for cell in cells)
                + "</tr>"
            )
        caption = f"<caption>{html.escape(self.title)}</caption>"
        note = f"<p>{html.escape(self.validity)}</p>" if self.validity else ""
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>{note}"


def _piecewise(formulas: Sequence[sp.Expr], stops: Sequence[int | None]) -> sp.Expr:
    """Return formulas that hold below each stop, the last one everywhere else; neighbours that are equal are one."""
    pairs = list(zip(formulas, stops, strict=True))
    merged = [pair for i, pair in enumerate(pairs) if i + 1 == len(pairs) or pair[0] != pairs[i + 1][0]]
    return sp.Piecewise(*((e, sp.true if stop is None else n < stop) for e, stop in merged))


def _known(cost: Cost, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that a piece takes: its own symbols, of all those of the whole."""
    return {name: value for name, value in values.items() if name in cost.symbols or name in ("P", "n")}


def _escaped(text: str) -> str:
    return text.replace("_", r"\_")


def _range(piece: Piece) -> str:
    """Return the sizes of a piece as LaTeX."""
    bare = piece.sizes.replace("<=", r"\le")
    return re.sub(r" (\w*B)\b", r"\\,\\mathrm{\1}", bare)
