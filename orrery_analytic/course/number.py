"""Answers that are numbers with a unit: a right one in a wrong unit is told from a wrong one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

import sympy as sp

from orrery_analytic.course.verdict import Verdict
from orrery_analytic.errors import OrreryError, shown
from orrery_analytic.units import is_finite, to_si

__all__ = ["Number"]

_NAMES = {"s": "seconds", "B": "bytes", "B/s": "bytes per second", "s/B": "seconds per byte", "flop/s": "flop/s"}
# What a number is off by whose unit was mistaken, and what that looks like.
_THOUSANDS = [(10.0**k, f"a unit that is 10^{k} times as large or small") for k in (3, 6, 9, 12)]
_PREFIXES = [
    (1.024**k, f"a prefix of 1024 in the place of one of 1000 ({names})")
    for k, names in enumerate(("KiB and kB", "MiB and MB", "GiB and GB"), start=1)
]
_SLIP_WITHIN = 2e-3  # a KiB is not far from a kB
_SLIPS = (*_THOUSANDS, *_PREFIXES, (8.0, "bits in the place of bytes"))


@dataclass(frozen=True)
class Number:
    """A number that is asked for.

    Parameters
    ----------
    truth : float
        The right one, in SI units.
    unit : str
        "s", "B", "B/s", "s/B", "flop/s", or "1" for one without a unit.
    within : float
        How far off an answer may be, as a share of the right one; 0 where only the right one will do.
    """

    truth: float
    unit: str = "1"
    within: float = 0.01

    def judge(self, answer: Any) -> Verdict:
        """Return whether an answer is this number; plain numbers are in SI units."""
        try:
            given = self._read(answer)
        except OrreryError as error:
            return Verdict(False, str(error))
        if given is None:
            what = "A plain number" if self.unit == "1" else f"A number in {_NAMES[self.unit]}, or one with its unit,"
            return Verdict(False, f"{what} is asked for, but {shown(answer)} was given.")
        if self._near(given, self.truth):
            return Verdict(True)
        return Verdict(False, self._hint(given))

    def _read(self, answer: Any) -> float | None:
        if isinstance(answer, sp.Expr):
            answer = float(answer) if answer.is_number and answer.is_real and answer.is_finite else None
        if isinstance(answer, bool) or answer is None:
            return None
        if self.unit != "1":
            return to_si(answer, self.unit, "The answer")
        if hasattr(answer, "magnitude") or not isinstance(answer, Real) or not is_finite(answer):
            return None
        return float(answer)

    def _near(self, given: float, truth: float) -> bool:
        return math.isclose(given, truth, rel_tol=max(self.within, 1e-12), abs_tol=0)

    def _hint(self, given: float) -> str:
        off = max(given / self.truth, self.truth / given) if given * self.truth > 0 else 0.0
        for factor, told in _SLIPS:
            if self.unit != "1" and math.isclose(off, factor, rel_tol=_SLIP_WITHIN):
                plain = f"A plain number is in {_NAMES[self.unit]}."
                return f"The digits are right, but this looks like {told}. {plain}"
        if self._near(given, -self.truth):
            return "The sign is the other one."
        return f"This is too {'large' if given > self.truth else 'small'}."
