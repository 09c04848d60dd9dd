"""`derive`: the closed form of a schedule that anybody wrote, found and checked in fractions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from numbers import Integral, Rational

import sympy as sp

from orrery_analytic.algebra.from_schedules.closed_forms import NAMES, Derivation, Piece, closed_form, ranges, value_at
from orrery_analytic.algebra.from_schedules.fronts import Vector, largest, symbolic_time
from orrery_analytic.algebra.from_schedules.identify import BASIS, basis_of, combine, tabulate
from orrery_analytic.cost import Cost
from orrery_analytic.decisions.whole import LARGEST_SIZE
from orrery_analytic.errors import QuantityError, ScheduleError, shown
from orrery_analytic.schedules import Schedule

__all__ = ["derive"]

_NEIGHBOURS = (63, 64, 65)
_UNITS = ("messages", "n bytes", "n reduced bytes")
_ADVICE = (
    "Give a basis with further functions of P (basis=(*BASIS, ...), BASIS of orrery_analytic.algebra), or the P for "
    "which one formula can hold (P=range(2, 100, 2))"
)


def derive(
    schedule_for_P: Callable[[int], Schedule],
    n: int | Callable[[int], int] | None = None,
    basis: Sequence[sp.Expr | int] = BASIS,
    P: Iterable[int] | None = None,
) -> Derivation:
    r"""Return the closed form in P and n of any schedule under Hockney, proved on many P, or refuse.

    At each P the schedule is run with symbols for numbers, by the rules of `Schedule.finish`: a time is the largest of
    a few sums :math:`a \alpha + b\, n \beta + c\, n \gamma` with fractions a, b, c. Over P, each of a, b, c must then
    be a sum of basis functions with fractions as coefficients, the same at every P.

    Parameters
    ----------
    schedule_for_P : function of P
        Returns the `Schedule` on P ranks. Its byte counts should divide evenly, since rounding is no closed form; they
        may be Fractions of an n of 1.
    n : int or function of P
        The message size, in bytes, for which `schedule_for_P` makes its schedule: a number where it is the same for
        every P (a schedule of whole blocks: the size of one), else a function (a vector of P blocks of 4 bytes:
        ``lambda P: 4 * P``). All bytes are taken as proportional to it. May be left away where no byte is sent.
    basis : sequence of SymPy expressions in P
        Functions of P (`orrery_analytic.symbols.P`) with fractions as values: `BASIS` unless given.
    P : iterable of int, optional
        Numbers of ranks, at least 2 and at least four a basis function. The first half is fitted, the second is not
        used but to check. Unless given: 2, 3, 4 ... , and 63, 64, 65.

    Returns
    -------
    Derivation
        `.formula` is a `Cost` with the terms latency, bandwidth and reduce.

    Raises
    ------
    ScheduleError
        If the basis does not hold the schedule: the message names the first P that disagrees. Also where a time is
        the largest of several sums that cannot be told apart from P to P, and where a schedule contradicts itself.
    QuantityError
        For arguments out of range, and where bytes are sent and `n` is not given.

    Source: derived. Equality at finitely many P is proof for these, and evidence beyond them: four times as many
    equations hold as there are coefficients.

    Examples
    --------
    >>> import orrery_analytic as oa
    >>> found = oa.derive(lambda P: oa.schedule("allreduce", "ring", P, count=P, itemsize=4), n=lambda P: 4 * P)
    >>> found.formula.terms["bandwidth"]
    2*beta*n*(P - 1)/P
    """
    if not callable(schedule_for_P):
        raise QuantityError(
            f"schedule_for_P must be a function of P that returns a Schedule, but {shown(schedule_for_P)} was given."
        )
    functions = basis_of(basis)
    fitted, checked = _split(P, len(functions))
    times = {p: _time(schedule_for_P, n, p) for p in fitted}
    table = {p: tabulate(functions, p) for p in fitted}
    pieces = _match(times, table, functions)
    for p in checked:
        table[p] = tabulate(functions, p)
        found, true = _values(pieces, table[p]), _time(schedule_for_P, n, p)
        if found != true:
            raise ScheduleError(
                f"the formula that was found on P = {ranges(fitted)} gives {_shown(found)} at P = {p}, which it was "
                f"not fitted on; the schedule takes {_shown(true)}. {_ADVICE}."
            )
    validity = f"exact under Hockney on P = {ranges(sorted(table))} (fitted on {ranges(fitted)}, checked on the others)"
    terms = closed_form(functions, pieces, list(table.values()))
    return Derivation(Cost(collective=terms, validity=validity), functions, pieces, fitted, checked)


def _split(P: Iterable[int] | None, size: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the P to fit on and those to check on, at least twice as many of each as there are basis functions."""
    if P is None:
        fit = tuple(range(2, 2 + 2 * size))
        more = range(2 + 2 * size, 2 + 4 * size)
        return fit, tuple(sorted({*more, *_NEIGHBOURS} - set(fit)))
    if not isinstance(P, Iterable):
        raise QuantityError(f"P must be several whole numbers of at least 2, but {shown(P)} was given.")
    numbers = list(P)
    for p in numbers:
        if not isinstance(p, Integral) or isinstance(p, bool) or not 2 <= p <= LARGEST_SIZE:
            raise QuantityError(f"P must be whole numbers of at least 2, but {shown(p)} was given.")
    ordered = sorted({int(p) for p in numbers})
    if len(ordered) < 4 * size:
        raise QuantityError(
            f"{len(ordered)} P were given for {size} basis functions. Allowed: at least {4 * size}, half to fit and "
            "half to check; or a smaller basis."
        )
    half = len(ordered) // 2
    return tuple(ordered[:half]), tuple(ordered[half:])


def _time(
    schedule_for_P: Callable[[int], Schedule],
    n: int | Callable[[int], int] | None,
    p: int,
) -> tuple[Vector, ...]:
    """Return the time of the schedule at P = p, bytes as fractions of n."""
    schedule = schedule_for_P(p)
    if not isinstance(schedule, Schedule):
        raise QuantityError(f"schedule_for_P must return a Schedule, but returned {shown(schedule)} at P = {p}.")
    if p != schedule.P:
        raise QuantityError(
            f"schedule_for_P must return a schedule on P ranks, but returned one on {schedule.P} at P = {p}."
        )
    try:
        vectors = symbolic_time(schedule)
    except ScheduleError as error:
        raise ScheduleError(f"at P = {p}: {error}") from error
    if any(not isinstance(x, Rational) for vector in vectors for x in vector):
        raise QuantityError(f"bytes must be whole numbers or Fractions, but the schedule at P = {p} has others.")
    size = n(p) if callable(n) else n
    if size is None:
        if any(b or c for _, b, c in vectors):
            raise QuantityError(
                "this schedule moves bytes: say for which message size n, in bytes, it is made (n=4, or a function of "
                "P: n=lambda P: 4 * P)."
            )
        size = 1
    if isinstance(size, bool) or not hasattr(size, "__index__") or size < 1:
        raise QuantityError(f"n must be a whole number of bytes, at least 1, but is {size!r} at P = {p}.")
    return tuple((Fraction(a), Fraction(b) / int(size), Fraction(c) / int(size)) for a, b, c in vectors)


def _match(
    times: Mapping[int, tuple[Vector, ...]],
    table: Mapping[int, Sequence[Fraction]],
    basis: Sequence[sp.Expr],
) -> tuple[Piece, ...]:
    """Return the coefficients of each sum whose maximum the times are.

    Where a time is the largest of several sums, they are put in the order of their messages, bytes or reduced bytes
    from P to P. Where only one decides, all of them may be equal there, or some may be smaller: both are tried.
    """
    most = max(map(len, times.values()))
    failures: list[tuple[int, int]] = []
    for order in range(3) if most > 1 else [0]:
        ordered = {p: sorted(time, key=lambda v: (v[order], v), reverse=True) for p, time in times.items()}
        full = {p: vectors for p, vectors in ordered.items() if len(vectors) == most}
        alike = full | {p: vectors * most for p, vectors in ordered.items() if len(vectors) == 1}
        for known in [alike, full] if len(full) < len(alike) else [full]:
            if len(known) < 2 * len(basis):
                continue
            pieces, failure = _fit(known, table, most)
            if failure is None:
                wrong = next((p for p in sorted(times) if _values(pieces, table[p]) != times[p]), None)
                if wrong is None:
                    return pieces
                failure = (wrong, 0)
            failures.append(failure)
    if not failures:  # too few P have as many sums as the most
        at = min(p for p, time in times.items() if len(time) > 1)
        raise ScheduleError(
            f"the time of this schedule is the largest of several sums, up to {most}, which cannot be matched from P "
            f"to P: the first P that disagrees is {at}, where it takes {_shown(times[at])}. {_ADVICE}."
        )
    at, part = failures[0]
    what = f"{NAMES[part]} (in {_UNITS[part]})" if most == 1 else f"time, the largest of up to {most} sums,"
    raise ScheduleError(
        f"no sum of {', '.join(map(str, basis))} is the {what} of this schedule: the first P that disagrees is {at}, "
        f"where it takes {_shown(times[at])}. {_ADVICE}."
    )


def _fit(
    known: Mapping[int, Sequence[Vector]], table: Mapping[int, Sequence[Fraction]], most: int
) -> tuple[tuple[Piece, ...], tuple[int, int] | None]:
    """Return the coefficients of each sum, and (P, part) of the first disagreement if there is one."""
    pieces: list[Piece] = []
    failures: list[tuple[int, int]] = []
    for i in range(most):
        parts = []
        for j in range(3):
            coefficients, at = combine(table, {p: vectors[i][j] for p, vectors in known.items()})
            parts.append(tuple(coefficients))
            if at is not None:
                failures.append((at, j))
        pieces.append(tuple(parts))
    return tuple(pieces), min(failures, default=None)


def _values(pieces: Sequence[Piece], table: Sequence[Fraction]) -> tuple[Vector, ...]:
    """Return the time that the pieces give at one P."""
    vectors: list[Vector] = []
    for piece in pieces:
        a, b, c = (value_at(part, table) for part in piece)
        vectors.append((a, b, c))
    return largest(vectors)


def _shown(vectors: Sequence[Vector]) -> str:
    names = ("alpha", "n beta", "n gamma")
    sums = [" + ".join(f"{x} {name}" for x, name in zip(v, names, strict=True) if x) or "0" for v in vectors]
    return sums[0] if len(sums) == 1 else f"the largest of {'; '.join(sums)}"
