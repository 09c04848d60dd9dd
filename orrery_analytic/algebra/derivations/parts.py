"""The rounds behind a closed form: one part, or one for each collective that a composed algorithm calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from orrery_analytic import symbols
from orrery_analytic.algebra.derivations.layout import latex
from orrery_analytic.algebra.derivations.paths import no_sum
from orrery_analytic.collectives.algorithm import Options
from orrery_analytic.collectives.registry import COMPOSED, find, resolve
from orrery_analytic.collectives.rounds import Phase, k, summand
from orrery_analytic.cost import Cost
from orrery_analytic.networks import Hockney, LogGP, Network, TwoLevel
from orrery_analytic.symbols import P, n

__all__ = ["Part", "device_words", "parts_of"]

_SIZES = ("first", "last", "nbytes", "reduced")
_ON_NODES = (
    "On nodes of several ranks some messages stay inside and others leave, and rounds overlap: the rounds of step 1 "
    "are those of one level, and the time is that of the longest path on these nodes."
)


@dataclass(frozen=True)
class Part:
    """A collective and its rounds.

    Parameters
    ----------
    collective, algorithm : str
    phases : tuple of (name, Phase)
        Rounds by the name of what they cost, "t_1".
    why : str
        Why the closed form is no sum over these rounds; "" where it is one.
    last_gap : SymPy expression
        What the last round would wait for but does not, in seconds.
    network : Hockney, LogGP or TwoLevel
    skips : bool
        Whether a phase has no round for some P.
    """

    collective: str
    algorithm: str
    phases: tuple[tuple[str, Phase], ...]
    why: str
    last_gap: sp.Expr
    network: Network
    skips: bool

    def expressions(self) -> list[sp.Expr]:
        """Return all that is printed of the rounds."""
        own = (sp.sympify(e) for _, p in self.phases for e in (p.first, p.last, p.nbytes, p.reduced))
        return [*own, *([self.sum()] if not isinstance(self.network, TwoLevel) else [])]

    def written(self, names: Mapping[sp.Expr, sp.Symbol]) -> Part:
        """Return the part with names put in for expressions."""

        def short(phase: Phase) -> Phase:
            found = {name: sp.sympify(getattr(phase, name)).xreplace(names) for name in _SIZES}
            return replace(phase, **found)

        phases = tuple((name, short(phase)) for name, phase in self.phases)
        return replace(self, phases=phases, last_gap=self.last_gap.xreplace(names))

    def prices(self, network: Hockney | LogGP) -> list[tuple[str, sp.Expr]]:
        """Return what round k of each phase costs, in seconds."""
        return [(name, sp.Add(*summand(phase, network).values())) for name, phase in self.phases]

    def sum(self) -> sp.Expr:
        """Return the sum over all rounds, not yet evaluated, in seconds."""
        assert not isinstance(self.network, TwoLevel)
        costs = (price for _, price in self.prices(self.network))
        sums = (sp.Sum(e, (k, p.first, p.last)) for e, (_, p) in zip(costs, self.phases, strict=True))
        return sp.Add(*sums) - self.last_gap

    def sum_rows(self) -> tuple[str, str]:
        """Return the same as LaTeX, phase by phase, and as text."""
        assert not isinstance(self.network, TwoLevel)
        prices = [price for _, price in self.prices(self.network)]
        sums = [sp.Sum(e, (k, p.first, p.last)) for e, (_, p) in zip(prices, self.phases, strict=True)]
        rows = [latex(e) for e in sums] + ([rf"{{}} - {latex(self.last_gap)}"] if self.last_gap != 0 else [])
        broken = r" \\ ".join(f"& {'{} + ' * (0 < i < len(sums))}{row}" for i, row in enumerate(rows))
        less = f" - ({self.last_gap})" if self.last_gap != 0 else ""
        return rf"\begin{{aligned}}[t] {broken} \end{{aligned}}", " + ".join(map(str, sums)) + less


def _part(
    collective: str, algorithm: str, network: Network, options: Options, first: int, scale: sp.Expr = sp.S.One
) -> Part:
    known = find(collective, algorithm)
    assert known.phases is not None
    phases = tuple(_scaled(phase, scale) for phase in known.phases(options))
    named = tuple((str(i), phase) for i, phase in enumerate(phases, start=first))
    skips = any(phase.count.subs(P, ranks) == 0 for phase in phases for ranks in (2, 3, 4))
    if isinstance(network, TwoLevel):
        return Part(collective, algorithm, named, _ON_NODES, sp.S.Zero, network, skips)
    why = no_sum(known, network)
    last_gap = (
        sp.S.Zero if isinstance(network, Hockney) else summand(phases[-1], network)["gap"].subs(k, phases[-1].last)
    )
    return Part(collective, algorithm, named, why, last_gap, network, skips)


def _scaled(phase: Phase, scale: sp.Expr) -> Phase:
    """Return a phase of a part whose n is `scale` times that of the whole."""
    found = {name: sp.sympify(getattr(phase, name)).subs(n, scale * n) for name in _SIZES}
    return replace(phase, **found)


def _segment(value: Any) -> sp.Expr | None:
    """Return what a validated `segment_bytes` is in a formula."""
    if value == "symbol":
        return symbols.n_s
    return sp.sympify(value) if isinstance(value, sp.Expr) or value else None


def parts_of(collective: str, algorithm: str, network: Network, given: Mapping[str, Any]) -> tuple[Part, ...]:
    """Return the parts of a closed form that has been made with these options; none where n decides what they are.

    Parameters
    ----------
    collective, algorithm : str
    network : Hockney, LogGP or TwoLevel
    given : mapping
        The options of `network_cost` that were given.
    """
    segment = _segment(given.get("segment_bytes", 0))
    composed = COMPOSED.get(resolve(collective, algorithm))
    if composed is None:
        width = network.ranks_per_node if isinstance(network, TwoLevel) else given.get("ranks_per_node", 1)
        knobs = {name: given[name] for name in ("fan", "radix") if name in given}
        return (_part(collective, algorithm, network, Options(segment, **knobs, ranks_per_node=width), 1),)
    if given.get("parts") is None:
        return ()
    named = iter((*str(part).split(":"), "", "")[:3] for part in given["parts"])
    found: list[Part] = []
    for part in composed:
        _, kind, own = (part.collective, part.algorithm, "0") if part.algorithm else next(named)
        first = 1 + sum(len(p.phases) for p in found)
        size = Options(_segment(int(own)) if own else segment)
        found.append(_part(part.collective, kind, network, size, first, part.scale))
    return tuple(found)


def device_words(cost: Cost, alone: Cost, options: Mapping[str, Any]) -> list[str]:
    """Return in words what a call adds to the rounds: legs and copies of device buffers, and a printed reduction."""
    added = [name for name in cost.terms if name not in alone.terms]
    out = []
    if added:
        told = ", ".join(name.replace("_", " ") for name in added)
        out.append(f"Device buffers add what the rounds do not know: the terms {told}.")
    if options.get("reduction") == "printed":
        out.append(
            "The reduction is taken as printed, $\\gamma$ times the bytes of a rank's vector, whatever the rounds say."
        )
    return out
