"""`network_cost`: the closed form of a collective on host buffers, as a `Cost`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from numbers import Integral
from types import MappingProxyType
from typing import Any

import sympy as sp

from orrery_analytic.collectives.algorithm import EVERY, POWERS, TWO, Algorithm, Options
from orrery_analytic.collectives.placement import on_nodes, placed_claim, placed_terms
from orrery_analytic.collectives.registry import COMPOSED, Part, beyond_openmpi, find, list_algorithms, resolve
from orrery_analytic.cost import Cost
from orrery_analytic.decisions import pieces, runs
from orrery_analytic.decisions.whole import LARGEST_COUNT
from orrery_analytic.errors import QuantityError, UnknownNameError, choose
from orrery_analytic.networks import Hockney, Network, TwoLevel
from orrery_analytic.symbols import P, log2_ceil, log2_floor, n, n_s
from orrery_analytic.units import in_si, shown

__all__ = ["has_formula", "network_cost", "node_width"]

_AT = {TWO: sp.Eq(P, 2), POWERS: sp.Eq(log2_ceil(P), log2_floor(P))}


def network_cost(
    collective: str,
    algorithm: str,
    network: Network = Hockney(),  # noqa: B008 - frozen
    segment_bytes: Any = 0,
    fan: int = 1,
    radix: int = 4,
    parts: Sequence[str] | None = None,
    ranks_per_node: int = 1,
    P: int | None = None,
) -> Cost:
    """Return what the messages and reductions of a collective cost, in P, n and the parameters of a network.

    Parameters
    ----------
    collective, algorithm : str
        Names of `list_collectives` and `list_algorithms`.
    network : Hockney, LogGP or TwoLevel
        On nodes (`TwoLevel`) symmetric algorithms have a closed form: rings, recursive doubling and halving, Bruck,
        Rabenseifner, pairwise, barriers; and the "two_level_" ones.
    segment_bytes : int, text with a unit, SymPy expression or "symbol"
        Bytes of a segment, also "64 KiB"; 0 is one segment, "symbol" keeps n_s. Segments are taken as equal, n / n_s
        of them.
    fan, radix : int
        Chains below the root of "chain"; radix of "knomial".
    parts : sequence of "collective:algorithm" or "collective:algorithm:segment_bytes", optional
        What the library takes for the parts of a composed algorithm that it decides again, such as
        ("reduce:binomial", "bcast:pipeline:65536").
    P : int, optional
        A number of ranks: where a composed algorithm has no `parts`, those that openmpi-4.1 decides on so many ranks,
        as a Piecewise in n for this one P.
    ranks_per_node : int
        Ranks of a node, in blocks, for "two_level_" algorithms; the last node may have fewer. Those of `network`, if it
        is a `TwoLevel`.

    Raises
    ------
    UnknownNameError
        For a name that is not there, and for a composed algorithm without `parts` and `P`.
    QuantityError
        For a network without a closed form, a wrong number, or segments where the algorithm's formula has none.
    """
    if not isinstance(network, Network):
        raise QuantityError(f"closed forms are for Hockney(), LogGP() and TwoLevel(...), not {shown(network)}.")
    width = node_width(network, ranks_per_node)
    if isinstance(network, TwoLevel) and width == 1:
        network = network.between  # no message is inside a node
    choose(f"{collective} algorithm with a formula", algorithm, list_algorithms(collective))
    at = resolve(collective, algorithm)
    ranks = None if P is None else _count("P", P, 2 if at in COMPOSED else 1)
    if at in COMPOSED:
        if parts is None and ranks is not None:
            return _decided(COMPOSED[at], algorithm, network, ranks)
        return _composed(COMPOSED[at], algorithm, network, segment_bytes, parts)
    if parts is not None:
        raise QuantityError(f"{collective} {algorithm!r} is not made of parts, but parts={shown(parts)} was given.")
    known = find(collective, algorithm)
    options = Options(
        _segment(segment_bytes),
        _count("fan", fan, 1),
        _count("radix", radix, 2),
        width,
    )
    if options.segment is not None and not known.segmented:
        raise QuantityError(
            f"the formula of {collective} {algorithm!r} is for one segment, but segment_bytes={shown(segment_bytes)} "
            "was given. Use segment_bytes=0, or time its schedule."
        )
    terms = _terms(known, network, options)
    if isinstance(network, TwoLevel):
        claim = placed_claim(known.collective, known.name)
        return Cost(validity=f"{collective} {algorithm}: {claim}", collective=terms)
    if known.only_at != EVERY:
        terms = {name: sp.Piecewise((e, _AT[known.only_at])) if e != 0 else e for name, e in terms.items()}
    claim = known.exact(network).told(known.only_at)
    return Cost(validity=f"{collective} {algorithm}: {claim}", collective=terms)


@lru_cache(maxsize=1024)
def _terms(known: Algorithm, network: Network, options: Options) -> Mapping[str, sp.Expr]:
    """Return the closed form of an algorithm; SymPy takes up to a tenth of a second for some of them."""
    if isinstance(network, TwoLevel):
        return MappingProxyType(placed_terms(known, network, options))
    return MappingProxyType(known.terms(network, options))


def has_formula(collective: str, algorithm: str, network: Network) -> bool:
    """Return whether an algorithm has a closed form on a network: on nodes of several ranks not all do."""
    if algorithm not in list_algorithms(collective):
        return False
    if not isinstance(network, TwoLevel) or network.ranks_per_node == 1:
        return True
    return resolve(collective, algorithm) not in COMPOSED and on_nodes(find(collective, algorithm), network)


def node_width(network: Network, ranks_per_node: Any = 1) -> int:
    """Return the ranks of a node: those of a `TwoLevel`, which another number must not contradict.

    Raises
    ------
    QuantityError
        If it does, or is no whole number of at least 1.
    """
    width = _count("ranks_per_node", ranks_per_node, 1)
    if not isinstance(network, TwoLevel):
        return width
    if width not in (1, network.ranks_per_node):
        raise QuantityError(
            f"ranks_per_node = {width} was given, but the network has {network.ranks_per_node}: leave it away."
        )
    return network.ranks_per_node


def _composed(
    composed: tuple[Part, ...],
    algorithm: str,
    network: Network,
    segment_bytes: Any,
    parts: Sequence[str] | None,
) -> Cost:
    """Return the sum of the costs of the parts: those that the library decides again are named."""
    expected = [part.collective for part in composed if not part.algorithm]
    last = {part: [name for name in list_algorithms(part) if not beyond_openmpi(name)][-1] for part in expected}
    example = ", ".join(f'"{part}:{name}"' for part, name in last.items()) + "," * (len(expected) == 1)
    if parts is None:
        raise UnknownNameError(
            f"{algorithm!r} calls {' and '.join(expected)}, which the library decides again: name what it takes, "
            f"parts=({example}), or give a number of ranks, P=128, for what it decides there."
        )
    if not isinstance(parts, list | tuple):
        raise QuantityError(f"parts must be a list of names, ({example}), but {shown(parts)} was given.")
    named = [(*part.split(":"), "", "")[:3] if isinstance(part, str) else ("", "", "") for part in parts]
    if [name for name, _, _ in named] != expected or not all(re.fullmatch("[0-9]{0,18}", own) for *_, own in named):
        raise QuantityError(f"{algorithm!r} is made of {', '.join(expected)}, but parts={shown(parts)} was given. "
                            f"Write parts=({example}).")  # fmt: skip
    decided = iter((kind, int(own) if own else segment_bytes) for _, kind, own in named)
    total = Cost()
    for part in composed:
        kind, segment = (part.algorithm, 0) if part.algorithm else next(decided)
        cost = network_cost(part.collective, kind, network, segment)
        scaled = {name: e.subs(n, part.scale * n) for name, e in cost.collective.items()}
        total += Cost(validity=cost.validity, collective=scaled)
    return total


def _decided(composed: tuple[Part, ...], algorithm: str, network: Network, ranks: int) -> Cost:
    """Return a composed algorithm on `ranks` ranks with the parts that openmpi-4.1 decides, piece by piece in n."""
    free = [part for part in composed if not part.algorithm]
    scales = [sp.Integer(1) * part.scale.subs(P, ranks) for part in free]
    starts = sorted(
        {start / s for part, s in zip(free, scales, strict=True) for start, _ in pieces(part.collective, ranks)}
    )
    costs = []
    for start in starts:
        names = [
            [name for first, name in pieces(part.collective, ranks) if first <= start * scale][-1]
            for part, scale in zip(free, scales, strict=True)
        ]
        really = [
            str(runs(part.collective, name, ranks, 1 if part.one_element else 2**31 // ranks))
            for part, name in zip(free, names, strict=True)
        ]
        costs.append(
            _composed(
                composed, algorithm, network, 0, [f"{p.collective}:{r}" for p, r in zip(free, really, strict=True)]
            )
        )
    terms = {
        name: sp.Piecewise(
            *(
                (c.collective.get(name, sp.S.Zero).subs(P, ranks), n < end)
                for c, end in zip(costs, starts[1:], strict=False)
            ),
            (costs[-1].collective.get(name, sp.S.Zero).subs(P, ranks), True),
        )
        for name in dict.fromkeys(name for c in costs for name in c.collective)
    }
    told = f"{algorithm} on {ranks} ranks, parts as openmpi-4.1 decides; its parts: "
    return Cost({}, told + "; ".join(dict.fromkeys(c.validity for c in costs)), terms, frozenset({"P"}))


def _segment(value: Any) -> sp.Expr | None:
    if isinstance(value, str) and value == "symbol":
        return n_s
    if isinstance(value, sp.Expr) and not value.is_number:
        return value
    number = _count("segment_bytes", in_si(value, "B", "segment_bytes"), 0)
    return sp.Integer(number) if number else None


def _count(name: str, value: Any, least: int) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool) or not least <= int(value) <= LARGEST_COUNT:
        also = ' or "symbol"' if name == "segment_bytes" else ""
        raise QuantityError(
            f"{name} must be a whole number from {least} to {LARGEST_COUNT}{also}, but {shown(value)} was given."
        )
    return int(value)
