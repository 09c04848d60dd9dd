"""How one message is charged (`Hockney`, `LogGP`), and where ranks sit (`TwoLevel`).

Each network has two faces: formulas (`message`, `distance`, ...), and a `Timing` with numbers that `schedules` runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from numbers import Integral, Real
from typing import Any, ClassVar

import sympy as sp

from orrery_analytic import symbols
from orrery_analytic.errors import QuantityError, UnknownNameError
from orrery_analytic.symbols import describe
from orrery_analytic.units import is_finite, shown

__all__ = ["Hockney", "LogGP", "LogGPTiming", "Network", "RendezvousTiming", "Timing", "TwoLevel"]


def _numbers(values: Mapping[str, Any], **own: Any) -> dict[str, Any]:
    """Return a number for each field of a network: its own if it is one, else the value of its symbol."""
    for name, value in values.items():
        describe(name)  # an unknown name is an error
        wrong = isinstance(value, Real) and not (is_finite(value) and float(value) >= 0)
        if wrong or value is None or isinstance(value, bool | str | bytes):
            raise QuantityError(f"{name} must be a finite number that is not negative, but {shown(value)} was given.")
    out, missing = {}, []
    for name, field in own.items():
        symbol = field.name if isinstance(field, sp.Symbol) else None
        if symbol is None:
            out[name] = field
        elif symbol in values:
            out[name] = values[symbol]
        elif name == "gamma":
            out[name] = None  # needed only where something is reduced
        else:
            missing.append(f"{symbol} ({describe(symbol).told})")
    if missing:
        raise UnknownNameError(f"no value was given for {'; '.join(missing)}. Given: {', '.join(values) or 'nothing'}.")
    return out


def _check_fields(network: Any) -> None:
    """Refuse what is no number and no SymPy expression: SymPy would run text as code."""
    for entry in fields(network):
        value = getattr(network, entry.name)
        number = isinstance(value, Real) and not isinstance(value, bool) and is_finite(value) and float(value) >= 0
        if not (number or isinstance(value, sp.Expr)):
            raise QuantityError(
                f"{entry.name} of {type(network).__name__} must be a finite number that is not negative or a SymPy "
                f"expression, but {shown(value)} was given."
            )


@dataclass(frozen=True)
class RendezvousTiming:
    """Hockney in numbers: a message starts when both sides and both ports are ready and ends after alpha + m beta."""

    alpha: Any
    beta: Any
    gamma: Any
    eager: bool = False
    latest: ClassVar[Callable[..., Any]] = max  # of several times, when all of them are over

    def duration(self, source: int, destination: int, m: int) -> Any:
        """Return how long a message of m bytes holds both ports, in seconds."""
        return self.alpha + m * self.beta

    def cards(self, source: int, destination: int) -> tuple[int, int] | None:
        """Return the sending and the receiving network card, or None where no card is shared."""
        return None

    def busy(self, source: int, destination: int, m: int) -> Any:
        """Return how long a message of m bytes keeps both its cards, in seconds."""
        return m * self.beta

    def order(self, time: Any) -> Any:
        """Return a time as it is compared where messages queue: rounding errors of floats must not decide who goes."""
        return float(f"{time:.9g}") if isinstance(time, float) else time


@dataclass(frozen=True)
class LogGPTiming:
    """LogGP in numbers: sends are eager."""

    L: Any
    o: Any
    g: Any
    G: Any
    gamma: Any
    eager: bool = True
    latest: ClassVar[Callable[..., Any]] = max

    def send(self, m: int, program: Any, port: Any) -> tuple[Any, Any, Any]:
        """Return (program goes on, port free, first byte at the receiver) for a send of m bytes."""
        start = max(program, port)
        distance = max(self.o, self.g + (max(m, 1) - 1) * self.G)
        return start + self.o, start + distance, start + self.o + self.L

    def receive(self, m: int, arrival: Any, posted: Any, port: Any) -> tuple[Any, Any]:
        """Return (data usable, port free) for a receive of m bytes."""
        start = max(arrival, posted, port)
        wire = (max(m, 1) - 1) * self.G
        return start + self.o + wire, start + max(self.o, self.g + wire)


Timing = RendezvousTiming | LogGPTiming


@dataclass(frozen=True)
class Hockney:
    r"""Latency and bandwidth: a message of m bytes takes :math:`\alpha + m \beta`.

    A rank has one port, full duplex: it is in at most one send and one receive at a time. A message holds the sender's
    out-port and the receiver's in-port all its time and starts when both are ready (rendezvous). Reductions take
    :math:`\gamma` a byte and block the rank.

    Parameters
    ----------
    alpha, beta, gamma : SymPy expression or number
        Seconds, seconds a byte, seconds a reduced byte. The package's symbols unless given.

    Source: after Hockney, Parallel Computing 20(3), 1994; the port rule as in SimGrid SMPI's rendezvous mode.
    """

    alpha: Any = symbols.alpha
    beta: Any = symbols.beta
    gamma: Any = symbols.gamma

    def __post_init__(self) -> None:
        _check_fields(self)

    def message(self, m: Any) -> sp.Expr:
        r"""Return :math:`\alpha + m \beta`."""
        return self.alpha + m * self.beta

    def timing(self, **values: Any) -> RendezvousTiming:
        """Return the network with numbers for its symbols (ints, Fractions or floats)."""
        return RendezvousTiming(**_numbers(values, alpha=self.alpha, beta=self.beta, gamma=self.gamma))


@dataclass(frozen=True)
class LogGP:
    r"""Latency L, overhead o, gap g between messages, gap G a byte: one way :math:`A(m) = L + 2o + (m-1)G`.

    Two sends, or two receives, of one rank lie :math:`d(m) = \max(o, g + (m-1)G)` apart. Sends are eager. Messages of
    zero bytes count as one byte.

    Parameters
    ----------
    L, o, g, G, gamma : SymPy expression or number
        Seconds (L, o, g) and seconds a byte (G, gamma). The package's symbols unless given.

    Source: after Alexandrov et al., SPAA 1995.
    """

    L: Any = symbols.L
    o: Any = symbols.o
    g: Any = symbols.g
    G: Any = symbols.G
    gamma: Any = symbols.gamma

    def __post_init__(self) -> None:
        _check_fields(self)

    def message(self, m: Any) -> sp.Expr:
        """Return A(m) = L + 2 o + (m - 1) G, for m >= 1 byte."""
        return self.L + 2 * self.o + (m - 1) * self.G

    def distance(self, m: Any) -> sp.Expr:
        """Return d(m) = max(o, g + (m - 1) G), for m >= 1 byte."""
        return sp.Max(self.o, self.g + (m - 1) * self.G)

    def timing(self, **values: Any) -> LogGPTiming:
        """Return the network with numbers for its symbols (ints, Fractions or floats)."""
        return LogGPTiming(**_numbers(values, L=self.L, o=self.o, g=self.g, G=self.G, gamma=self.gamma))


@dataclass(frozen=True)
class _TwoLevelTiming(RendezvousTiming):
    inside: RendezvousTiming | None = None
    ranks_per_node: int = 1
    cards_per_node: int = 1

    def _apart(self, source: int, destination: int) -> bool:
        return source // self.ranks_per_node != destination // self.ranks_per_node

    def duration(self, source: int, destination: int, m: int) -> Any:
        if self.inside is not None and not self._apart(source, destination):
            return self.inside.duration(source, destination, m)
        return self.alpha + m * self.beta

    def cards(self, source: int, destination: int) -> tuple[int, int] | None:
        if not self._apart(source, destination):
            return None
        return self._card(source), self._card(destination)

    def _card(self, rank: int) -> int:
        node, local = divmod(rank, self.ranks_per_node)
        return node * self.cards_per_node + local % self.cards_per_node


@dataclass(frozen=True)
class TwoLevel:
    """Ranks on nodes, placed in blocks: rank r sits on node r // ranks_per_node.

    Messages inside a node take `inside`, those between nodes `between`. Between nodes, rank r also uses card
    r % network_cards_per_node of its node. A card sends one message at a time, and receives one, each for m beta: a
    message starts when both ranks, their ports and both cards are free. No card is kept for a message whose other card
    is busy. Of messages that could start at the same time, that goes first whose ranks were ready first, of those ready
    together that of the lower sending rank. Latencies overlap: k equal messages of ranks that share a card end
    alpha + m beta, alpha + 2 m beta, ..., alpha + k m beta after they are ready together.

    Parameters
    ----------
    ranks_per_node : int
    network_cards_per_node : int, optional
        An effective number, which can be fitted; one card for each rank unless given.
    inside, between : Hockney
        Reductions take the gamma of `between`.

    Raises
    ------
    QuantityError
        If a count is not a whole number of at least 1, or a level no `Hockney`.
    """

    ranks_per_node: int
    network_cards_per_node: int | None = None
    inside: Hockney = Hockney(symbols.alpha_intra, symbols.beta_intra)
    between: Hockney = Hockney()

    def __post_init__(self) -> None:
        for name in ("ranks_per_node", "network_cards_per_node"):
            value = getattr(self, name)
            if value is None and name == "network_cards_per_node":
                continue
            if isinstance(value, bool) or not isinstance(value, Integral) or not 1 <= int(value) < 2**31:
                raise QuantityError(
                    f"{name} must be a whole number from 1 to {2**31 - 1}, but {shown(value)} was given."
                )
            object.__setattr__(self, name, int(value))  # NumPy's integers overflow
        for name in ("inside", "between"):
            if not isinstance(getattr(self, name), Hockney):
                raise QuantityError(f"{name} must be a Hockney(), but {shown(getattr(self, name))} was given.")

    @classmethod
    def of(cls, machine: Any) -> TwoLevel:
        """Return the nodes of a machine: its ranks_per_node and its network_cards_per_node.

        Raises
        ------
        QuantityError
            If `machine` is no machine: `load_machine` reads one.
        """
        try:
            return cls(machine.ranks_per_node, machine.network_cards_per_node)
        except AttributeError:
            raise QuantityError(
                f"TwoLevel.of takes a machine, such as load_machine('leonardo'), but {shown(machine)} was given."
            ) from None

    @property
    def gamma(self) -> Any:
        """Seconds a reduced byte."""
        return self.between.gamma

    @property
    def cards(self) -> int:
        """Cards of a node that some rank uses."""
        return min(self.network_cards_per_node or self.ranks_per_node, self.ranks_per_node)

    def sharing(self, ranks: int) -> int:
        """Return how many of so many consecutive ranks of a node use the busiest card."""
        return -(-ranks // self.cards)

    def timing(self, **values: Any) -> RendezvousTiming:
        """Return the network with numbers for its symbols (ints, Fractions or floats)."""
        far, near = self.between.timing(**values), self.inside.timing(**values)
        return _TwoLevelTiming(
            far.alpha, far.beta, far.gamma, inside=near, ranks_per_node=self.ranks_per_node, cards_per_node=self.cards
        )


Network = Hockney | LogGP | TwoLevel
