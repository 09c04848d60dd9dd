"""`Cost`: named terms that add up to a total; prints itself, takes numbers, becomes a fast NumPy function."""

from __future__ import annotations

import html
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from numbers import Real
from types import MappingProxyType
from typing import Any

import numpy as np
import sympy as sp

from orrery_analytic.errors import QuantityError, UnknownNameError, unknown_name
from orrery_analytic.symbols import SYMBOLS, describe
from orrery_analytic.units import is_finite, readable, shown

__all__ = ["TERM_NAMES", "Cost", "evaluate"]

TERM_NAMES = (
    "call", "launch", "compute", "sync", "d2h", "h2d", "gdr", "peer",
    "latency", "bandwidth", "gap", "intra_latency", "intra_bandwidth", "reduce",
    "exposed",
)  # fmt: skip
"""The names of terms, in the order in which they are printed and stacked."""

_COORDINATES = ("P", "n")


@lru_cache(maxsize=4096)
def _function(expressions: tuple[sp.Expr, ...], names: tuple[str, ...]) -> Any:
    """Return one NumPy function for several expressions; made once for each set of expressions."""
    return sp.lambdify([sp.Symbol(name, **_assumptions(name)) for name in names], list(expressions), "numpy", cse=True)


def _assumptions(name: str) -> dict[str, bool]:
    return dict(describe(name).symbol.assumptions0) if name in SYMBOLS else {"positive": True}


def evaluate(expressions: Iterable[sp.Expr], values: Mapping[str, Any]) -> list[np.ndarray]:
    """Return the numbers of several expressions at once, broadcast against each other and all `values`.

    Parameters
    ----------
    expressions : iterable of SymPy expressions in the package's symbols
    values : mapping of symbol name to scalar or array
        SI units (`describe` tells them). Names that no expression holds take part in broadcasting only.

    Raises
    ------
    UnknownNameError
        If a symbol of an expression has no value; the message names its meaning and unit.
    """
    fixed = tuple(expressions)
    needed = tuple(sorted({symbol.name for e in fixed for symbol in e.free_symbols}))
    missing = [name for name in needed if name not in values]
    if missing:
        told = "; ".join(f"{name} ({describe(name).meaning}, in {describe(name).unit})" for name in missing)
        raise UnknownNameError(f"no value was given for {told}. Given: {', '.join(values) or 'nothing'}.")
    arrays = {name: _numbers(name, value) for name, value in values.items()}
    try:
        shape = np.broadcast_shapes(*(a.shape for a in arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {a.shape}" for name, a in arrays.items() if a.ndim)
        raise QuantityError(f"arrays of these shapes do not broadcast: {shapes}.") from None
    with np.errstate(all="ignore"):  # np.select computes every branch of a Piecewise, also those that do not hold
        results = _function(fixed, needed)(*(arrays[name] for name in needed))
    return [np.broadcast_to(np.asarray(r, dtype=float), shape) for r in results]


def _numbers(name: str, value: Any) -> np.ndarray:
    """Return `value` as floats, since int64 arithmetic would overflow in silence."""
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "iufO" or (array.dtype.kind == "O" and not all(map(_is_number, array.flat))):
            raise TypeError
        numbers = array.astype(float)
    except (TypeError, ValueError, OverflowError):
        raise QuantityError(f"{name} must be a number or an array of numbers, but {shown(value)} was given.") from None
    if name == "P":
        if not np.all(np.isfinite(numbers) & (numbers >= 1) & (numbers == np.floor(numbers))):
            raise QuantityError(
                f"P counts ranks: whole numbers of at least 1 are allowed, but {shown(value)} was given."
            )
    elif not np.all(numbers >= 0):
        raise QuantityError(f"{name} must not be negative or NaN, but {shown(value)} was given.")
    return numbers


def _is_number(item: Any) -> bool:
    return isinstance(item, Real | sp.Number) and not isinstance(item, bool)


def _expression(e: Any, what: str) -> sp.Expr:
    """Return a number or a SymPy expression; never text, which SymPy would run as code."""
    if isinstance(e, sp.Expr) or (_is_number(e) and is_finite(e)):
        return sp.sympify(e)
    raise QuantityError(f"{what} must be a SymPy expression or a finite number, but {shown(e)} was given.")


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


def _compare_bands(machine: Any, names: Iterable[str]) -> None:
    """Warn where the symbols that a machine gives numbers for are of fewer or more size bands than it has."""
    for copy, count in getattr(machine, "bands", {}).items():
        bands = [name.partition(copy)[2] for name in names if name.startswith((f"alpha_{copy}", f"beta_{copy}"))]
        made_for = max((int(band.lstrip("_") or 1) for band in bands), default=count)  # alpha_d2h, or alpha_d2h_1 ...
        if made_for != count:
            taken = "that of the largest sizes is taken for all" if made_for == 1 else "they do not fit"
            warnings.warn(
                f"{machine.name} has {count} size band(s) of {copy} copies, this cost is for {made_for}: {taken}. "
                "Make the cost with bands=machine.bands.",
                stacklevel=3,
            )


@dataclass(frozen=True, repr=False)
class Cost:
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

    def __post_init__(self) -> None:
        for name in ("local", "collective"):
            object.__setattr__(self, name, MappingProxyType(_ordered(getattr(self, name))))

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

    def __add__(self, other: Cost) -> Cost:
        """Add two costs term by term: one after the other."""
        if not isinstance(other, Cost):
            return NotImplemented
        validity = "; ".join(dict.fromkeys(text for text in (self.validity, other.validity) if text))
        terms = _added(self.local, other.local), validity, _added(self.collective, other.collective)
        return Cost(*terms, self.fixed | other.fixed)

    def __radd__(self, other: object) -> Cost:
        return self if other == 0 else NotImplemented  # so that sum(costs) works

    def __mul__(self, times: Any) -> Cost:
        """Repeat a cost: every term `times` over."""
        times = _expression(times, "how often a cost is repeated")
        local, collective = ({k: times * e for k, e in part.items()} for part in (self.local, self.collective))
        return Cost(local, self.validity, collective, self.fixed)

    __rmul__ = __mul__

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

        Takes scalars or arrays that broadcast, in SI units; `P` and `n` are accepted even where the cost does not
        depend on them.

        Raises
        ------
        UnknownNameError
            If a symbol has no value (the message names its meaning and unit) or a name is not in the cost.
        QuantityError
            If a value is no number, or arrays do not broadcast.
        """
        self._check(values)
        expressions = [*self.local.values(), *self.collective.values()]
        numbers = evaluate(expressions, values)
        shape = np.broadcast_shapes(*(np.shape(v) for v in values.values()))
        alone = np.asarray(values.get("P", 2)) == 1
        out = dict.fromkeys(self.terms, np.zeros(shape))
        for i, name in enumerate((*self.local, *self.collective)):
            out[name] = out[name] + (numbers[i] if i < len(self.local) else np.where(alone, 0.0, numbers[i]))
        out["total"] = np.asarray(sum(out.values()) if out else np.zeros(shape))
        return out

    def __call__(self, **values: Any) -> Any:
        """Return the total in seconds: a float for scalars, an array where a value is one (see `values`)."""
        total = self.values(**values)["total"]
        return float(total) if total.ndim == 0 else total

    def at(self, machine: Any = None, **values: float) -> Cost:
        """Return the cost with numbers put in: those of a machine, and any symbol by name (P and n too).

        Parameters
        ----------
        machine : Machine or mapping of symbol name to number, optional
            SI units. Symbols that the cost does not hold are passed over.
        **values : float
            Numbers for symbols by name; they go before the machine's.

        Warns
        -----
        UserWarning
            If the machine has another number of size bands of a copy than the cost was made for.
        """
        source = getattr(machine, "parameters", {} if machine is None else machine)
        if not isinstance(source, Mapping):
            raise QuantityError(f"a machine or a mapping of symbol names to numbers is allowed, not {shown(machine)}.")
        numbers = {**source, **values}
        self._check(values)
        _compare_bands(machine, set(self.symbols).difference(values))
        for name in {*self.symbols, "P"} & set(numbers):
            if _numbers(name, numbers[name]).ndim:
                raise QuantityError(f"{name} can be one number here, but {shown(numbers[name])} was given.")
        given = {
            s: sp.sympify(np.asarray(numbers[s.name]).item()) for s in self.total.free_symbols if s.name in numbers
        }
        if "P" in numbers:
            given = {s: sp.Integer(int(numbers["P"])) if s.name == "P" else e for s, e in given.items()}
        given_coordinates = frozenset(_COORDINATES) & set(numbers)
        local, collective = ({k: e.subs(given) for k, e in part.items()} for part in (self.local, self.collective))
        return Cost(local, self.validity, {} if numbers.get("P") == 1 else collective, self.fixed | given_coordinates)

    def latex(self) -> str:
        """Return the total as LaTeX, its terms in the order of `TERM_NAMES` where they simply add up."""
        if self.total.atoms(sp.Max) != sp.Add(*self.terms.values()).atoms(sp.Max):
            return str(sp.latex(self.total))
        return " + ".join(sp.latex(e) for e in self.terms.values()) or "0"

    def _repr_latex_(self) -> str:
        groups = (
            rf"\underbrace{{{sp.latex(e)}}}_{{\text{{{name.replace('_', ' ')}}}}}" for name, e in self.terms.items()
        )
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
                cells = f"<td {left}>${sp.latex(e)}$</td>"
            rows.append(f"<tr><th {left}>{name.replace('_', ' ')}</th>{cells}</tr>")
        note = f"<p>{html.escape(self.validity)}</p>" if self.validity else ""
        return f"<table><thead><tr><th {left}>term</th>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>{note}"
