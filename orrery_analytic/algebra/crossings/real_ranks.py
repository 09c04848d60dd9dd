"""Where two costs are equal at powers of two, as a formula in P: a quotient, a power of two, or Lambert's W."""

from __future__ import annotations

import sympy as sp

from orrery_analytic.algebra.exact.monomials import quotient_of
from orrery_analytic.symbols import P, log2_ceil, log2_floor

__all__ = ["points_at_powers_of_two"]


def points_at_powers_of_two(a: sp.Expr, b: sp.Expr) -> tuple[sp.Expr, ...]:
    r"""Return the real P at which two costs are equal, where both rounded logarithms are :math:`\log_2 P`.

    With :math:`a - b = c_0 + c_1 P + c_2 \log_2 P` and :math:`c_1, c_2 \ne 0` they are
    :math:`P = -v\, W_k(-2^{-c_0 / c_2} / v)` with :math:`v = -c_2 / (c_1 \ln 2)`, k = 0 and -1; a W that is not real
    says that there is no such P. Empty where the difference has other parts in P. Source: derived.
    """
    size = sp.Symbol("P", positive=True)
    logarithm = sp.Dummy("l", real=True)
    put = {log2_floor(P): logarithm, log2_ceil(P): logarithm}
    difference = sp.expand((a - b).xreplace(put)).xreplace({P: size})
    if any(f.has(size) for f in difference.atoms(sp.Function, sp.Piecewise)):
        return ()
    slope, rate = difference.coeff(size, 1), difference.coeff(logarithm, 1)
    rest = sp.expand(difference - slope * size - rate * logarithm)
    if any(part.has(size, logarithm) for part in (slope, rate, rest)):
        return ()
    if slope == 0 and rate == 0:
        return ()
    if rate == 0:
        return (_quotient(-rest, slope),)
    if slope == 0:
        return (2 ** _quotient(-rest, rate),)
    scale = _quotient(-rate, slope) / sp.log(2)
    argument = -(2 ** _quotient(-rest, rate)) / scale
    return tuple(-scale * sp.LambertW(argument, k) for k in (0, -1))


def _quotient(numerator: sp.Expr, denominator: sp.Expr) -> sp.Expr:
    """Return a quotient with as few minus signs as there can be."""
    flipped = quotient_of(-numerator, -denominator)
    return min(
        (quotient_of(numerator, denominator), flipped), key=lambda e: (str(e).count("-"), sp.default_sort_key(e))
    )
