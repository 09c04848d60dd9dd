"""`Cost`: a time as named terms that add up to a total."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np
import sympy as sp

from orrery_analytic.cost.arithmetic import NoNumber
from orrery_analytic.cost.parameters import compare_bands, machine_of, parameters_of
from orrery_analytic.errors import QuantityError, unknown_name
from orrery_analytic.symbols import SYMBOLS
from orrery_analytic.symbols.evaluation import as_floats, compiled, in_blocks, is_number, shape_of, unit_of
from orrery_analytic.symbols.printing import latex
from orrery_analytic.units import in_si, is_finite, readable, shown

__all__ = ["TERM_NAMES", "Cost"]

TERM_NAMES = (
    "call", "launch", "compute", "sync", "d2h", "h2d", "gdr", "peer",
    "latency", "bandwidth", "gap", "intra_latency", "intra_bandwidth", "reduce",
    "exposed",
)  # fmt: skip
"""The names of terms, in the order in which they are printed and stacked."""

_COORDINATES = ("P", "n")


@lru_cache(maxsize=4096)
def _sum(expressions: tuple[sp.Expr, ...]) -> sp.Expr:
    """Return the sum in few steps: common factors taken out, and what multiplies the same part of P and n added up."""
    return sp.factor_terms(sp.Add(*expressions)).replace(lambda e: e.is_Add, _gathered)


def _gathered(e: sp.Add) -> sp.Expr:
    coefficients: dict[sp.Expr, list[sp.Expr]] = {}
    for part in e.args:
        coefficient, varying = part.as_independent(*(SYMBOLS[name].symbol for name in _COORDINATES), as_Add=False)
        coefficients.setdefault(varying, []).append(coefficient)
    return sp.Add(*(sp.Add(*found) * varying for varying, found in coefficients.items()))


def _seconds(
    local: Mapping[str, sp.Expr], collective: Mapping[str, sp.Expr], values: Mapping[str, Any]
) -> dict[str, np.ndarray]:
    """Return terms in seconds, and the total; those of a collective are 0 at P = 1."""
    function, needed = compiled((*local.values(), *collective.values()), values)
    arrays = {name: as_floats(name, value) for name, value in values.items()}
    names = dict.fromkeys((*(name for name in TERM_NAMES if name in local or name in collective), "total"))
    any_alone = "P" in arrays and np.any(arrays["P"] == 1)

    def block(part: Mapping[str, np.ndarray]) -> list[Any]:
        numbers = function(*(part[name] for name in needed))
        out: dict[str, Any] = dict(zip(local, numbers, strict=False))
        for name, number in zip(collective, numbers[len(local) :], strict=True):
            due = np.where(part["P"] == 1, 0.0, number) if any_alone else number
            out[name] = out[name] + due if name in out else due
        if "total" not in out:
            out["total"] = sum(out[name] for name in names if name != "total")
        return [out[name] for name in names]

    return dict(zip(names, in_blocks(block, arrays, [shape_of(arrays)] * len(names)), strict=True))


def _expression(e: Any, what: str) -> sp.Expr:
    """Return a number or a SymPy expression; never text, which SymPy would run as code."""
    if isinstance(e, sp.Expr) or (is_number(e) and is_finite(e)):
        expression = sp.sympify(e)
        if expression.is_extended_real is not False:
            return expression
    raise QuantityError(f"{what} must be a real SymPy expression or a finite number, but {shown(e)} was given.")


def _ordered(terms: Mapping[str, sp.Expr]) -> dict[str, sp.Expr]:
    if not isinstance(terms, Mapping):
        raise QuantityError(f"terms are a mapping of their names to expressions, but {shown(terms)} was given.")
    for name in terms:
        if name not in TERM_NAMES:
            raise unknown_name("term", name, TERM_NAMES)
    kept = {name: _expression(terms[name], f"the term {name!r}") for name in TERM_NAMES if name in terms}
    return {name: e for name, e in kept.items() if e != 0}


def _added(a: Mapping[str, sp.Expr], b: Mapping[str, sp.Expr]) -> dict[str, sp.Expr]:
    return _ordered({name: a.get(name, 0) + b.get(name, 0) for name in {**a, **b}})


@dataclass(frozen=True, repr=False)
class Cost(NoNumber):
    """A time in seconds as a sum of named terms: ``total = sum(terms.values())``.

    Parameters
    ----------
    local : mapping of term name to SymPy expression, in seconds
        Terms that are due whatever the number of ranks (a message, a kernel).
    validity : str
        Where the formula is exact.
    collective : mapping of term name to SymPy expression, in seconds
        Terms of a collective call, stated for P >= 2. At P = 1 a collective costs 0: this class applies that rule.
    fixed : frozenset of str
        Which of P and n have a number already (see `at`): they take no other one.
    """

    local: Mapping[str, sp.Expr] = field(default_factory=dict)
    validity: str = ""
    collective: Mapping[str, sp.Expr] = field(default_factory=dict)
    fixed: frozenset[str] = frozenset()

    _instead = (
        "Costs add up, and take a number of times: a + b, 3 * a, a / 2. Calculate with the formula, cost.total, or "
        "with seconds, cost(P=..., n=..., ...); two costs are compared by oa.crossover(a, b, 'n')."
    )

    def __post_init__(self) -> None:
        if not isinstance(self.validity, str):
            raise QuantityError(f"validity is text, where the formula is exact, but {shown(self.validity)} was given.")
        for name in ("local", "collective"):
            object.__setattr__(self, name, MappingProxyType(_ordered(getattr(self, name))))

    def __reduce__(self) -> tuple[Any, ...]:
        return Cost, (dict(self.local), self.validity, dict(self.collective), self.fixed)

    def __hash__(self) -> int:
        return hash((*self.local.items(), self.validity, *self.collective.items(), self.fixed))

    @cached_property
    def terms(self) -> Mapping[str, sp.Expr]:
        """Term name to expression; the expressions add up to `total`."""
        return MappingProxyType(_added(self.local, self.collective))

    @cached_property
    def total(self) -> sp.Expr:
        """The whole cost as one SymPy expression, in seconds."""
        total = sp.Add(*self.terms.values())
        merged = sp.expand(total)
        left = merged.atoms(sp.Max)
        # What one term adds and the next takes away again cancels; a sum without such pairs stays as it was written.
        return total if left == total.atoms(sp.Max) else sp.collect(merged, left, sp.factor_terms)

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """Names of the symbols that need a number before the cost is one."""
        return tuple(sorted({symbol.name for e in self.terms.values() for symbol in e.free_symbols}))

    def __add__(self, other: Any) -> Cost:
        """Add two costs term by term: one after the other."""
        if not isinstance(other, Cost):
            raise QuantityError(
                f"a Cost adds up with another Cost, such as oa.kernel_cost(), but {shown(other)} was given. An "
                "expression in seconds is a Cost under the name of a term: oa.Cost({'compute': expression})."
            )
        for one, another in ((self, other), (other, self)):
            for name in (one.fixed - another.fixed).intersection(another.symbols):
                raise QuantityError(f"{name} has a number in one of the costs alone: give it to both, a.at({name}=8).")
        validity = "; ".join(dict.fromkeys(text for text in (self.validity, other.validity) if text))
        terms = _added(self.local, other.local), validity, _added(self.collective, other.collective)
        return Cost(*terms, self.fixed | other.fixed)

    def __radd__(self, other: Any) -> Cost:
        # So that sum(costs) works.
        return self if is_number(other) and other == 0 else self.__add__(other)

    def __mul__(self, times: Any) -> Cost:
        """Repeat a cost: every term `times` over."""
        times = _expression(times, "how often a cost is repeated")
        if times.has(sp.nan, sp.oo, -sp.oo):
            raise QuantityError(f"a cost cannot be repeated {times} times.")
        local, collective = ({k: times * e for k, e in part.items()} for part in (self.local, self.collective))
        return Cost(local, self.validity, collective, self.fixed)

    __rmul__ = __mul__

    def __truediv__(self, times: Any) -> Cost:
        """Share a cost: every term over `times`."""
        over = _expression(times, "what a cost is divided by")
        if over.is_zero:
            raise QuantityError("a cost cannot be divided by 0.")
        return self.__mul__(1 / over)

    def __float__(self) -> float:
        """Return the seconds of a cost that has all its numbers."""
        if self.symbols:
            raise QuantityError(f"no number yet for {', '.join(self.symbols)}: see cost.at(machine, P=64, n='1 MiB').")
        return float(self.total)

    def _check(self, names: Iterable[str]) -> None:
        """Refuse names that are no symbol of this cost, and a second number for P or n."""
        allowed = dict.fromkeys((*self.symbols, *_COORDINATES))
        for name in names:
            if name in self.fixed:
                raise QuantityError(f"{name} has a number in this cost already, and takes no other one.")
            if name not in allowed:
                raise unknown_name("symbol in this cost", name, allowed)

    def values(self, **values: Any) -> dict[str, np.ndarray]:
        """Return each term in seconds, under its name, and their sum under "total".

        Takes scalars or arrays that broadcast, in SI units or as text with a unit (n="1 MiB"); `P` and `n` are accepted
        even where the cost does not depend on them.

        Raises
        ------
        UnknownNameError
            If a symbol has no value (the message names its meaning and unit) or a name is not in the cost.
        QuantityError
            If a value is no number, or arrays do not broadcast.
        """
        self._check(values)
        return _seconds(self.local, self.collective, values)

    def __call__(self, **values: Any) -> Any:
        """Return the total in seconds: a float for scalars, an array where a value is one (see `values`)."""
        total = self._total(values)
        return float(total) if total.ndim == 0 else total

    def _total(self, values: Mapping[str, Any]) -> np.ndarray:
        self._check(values)
        local, collective = (
            {"total": _sum(tuple(part.values()))} if part else {} for part in (self.local, self.collective)
        )
        return _seconds(local, collective, values)["total"]

    def at(self, machine: Any = None, **values: float) -> Cost:
        """Return the cost with numbers put in: those of a machine, and any symbol by name (P and n too).

        Parameters
        ----------
        machine : Machine, its name, or mapping of symbol name to number, optional
            SI units. Symbols that the cost does not hold are passed over.
        **values : float
            Numbers for symbols by name, or text with a unit ("1 MiB"); they go before the machine's.

        Warns
        -----
        UserWarning
            If the machine has another number of size bands of a copy than the cost was made for.
        """
        machine = machine_of(machine)
        given = {**parameters_of(machine), **values}
        numbers = {name: in_si(value, unit_of(name), name) for name, value in given.items()}
        self._check(values)
        compare_bands(machine, set(self.symbols).difference(values))
        for name in {*self.symbols, "P"} & set(numbers):
            if as_floats(name, numbers[name]).ndim:
                raise QuantityError(f"{name} can be one number here, but {shown(numbers[name])} was given.")
        put = {s: sp.sympify(np.asarray(numbers[s.name]).item()) for s in self.total.free_symbols if s.name in numbers}
        if "P" in numbers:
            put = {s: sp.Integer(int(numbers["P"])) if s.name == "P" else e for s, e in put.items()}
        given_coordinates = frozenset(_COORDINATES) & set(numbers)
        local, collective = ({k: e.subs(put) for k, e in part.items()} for part in (self.local, self.collective))
        return Cost(local, self.validity, {} if numbers.get("P") == 1 else collective, self.fixed | given_coordinates)

    def latex(self) -> str:
        """Return the total as LaTeX, its terms in the order of `TERM_NAMES` where they simply add up."""
        if self.total.atoms(sp.Max) != sp.Add(*self.terms.values()).atoms(sp.Max):
            return latex(self.total)
        return " + ".join(latex(e) for e in self.terms.values()) or "0"

    def _repr_latex_(self) -> str:
        groups = (rf"\underbrace{{{latex(e)}}}_{{\text{{{name.replace('_', ' ')}}}}}" for name, e in self.terms.items())
        return rf"$\displaystyle T = {' + '.join(groups) or '0'}$"

    def __repr__(self) -> str:
        lines = [f"{name:<15} {e}" for name, e in self.terms.items()] or ["0"]
        return "\n".join([*lines, *([f"validity: {self.validity}"] if self.validity else [])])

    def _repr_html_(self) -> str:
        """Return a table of the terms; once numbers are in, with seconds and the share of the total."""
        numeric = not self.symbols
        total = float(self.total) if numeric else 0.0
        left = "style='text-align:left'"
        head = "<th>time</th><th>share</th>" if numeric else f"<th {left}>formula</th>"
        rows = []
        # The total is the rows together, unless what they take from each other cancels.
        merged = self.total != sp.Add(*self.terms.values())
        for name, e in [*self.terms.items(), *([("total", self.total)] if numeric or merged else [])]:
            if numeric:
                share = float(e) / total if total else 0.0
                cells = f"<td>{readable(float(e), 's')}</td><td>{100 * share:.1f} %</td>"
            else:
                cells = f"<td {left}>${latex(e)}$</td>"
            rows.append(f"<tr><th {left}>{name.replace('_', ' ')}</th>{cells}</tr>")
        note = f"<p>{html.escape(self.validity)}</p>" if self.validity else ""
        return f"<table><thead><tr><th {left}>term</th>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>{note}"
