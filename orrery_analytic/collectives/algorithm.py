"""What one algorithm says of itself: its pattern, its derivation, and where its formula is exact."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp

from orrery_analytic.collectives.rounds import Phase, close
from orrery_analytic.networks import Hockney, LogGP
from orrery_analytic.schedules.operations import Program

__all__ = ["EVERY", "NONE", "POWERS", "TWO", "Algorithm", "Call", "Exact", "Options"]

EVERY, POWERS, TWO, NONE = "every P", "powers of two", "P = 2", "no P"
_MEMBERS: Mapping[str, Callable[[int], bool]] = {
    EVERY: lambda P: True,
    POWERS: lambda P: P & (P - 1) == 0,
    TWO: lambda P: P == 2,
    NONE: lambda P: False,
}


@dataclass(frozen=True)
class Exact:
    """Where a closed form equals its schedule; elsewhere it is an upper bound.

    Parameters
    ----------
    at : str
        One of EVERY, POWERS, TWO, NONE: the numbers of ranks.
    reducing : str, optional
        The same where gamma > 0; as `at` unless given.
    gapped : str, optional
        The same under LogGP where g > L + 2 o; as `at` unless given.
    gapped_reducing : str, optional
        The same where both hold; as `gapped` unless given.
    note : str
        For people.
    """

    at: str = EVERY
    reducing: str = ""
    gapped: str = ""
    gapped_reducing: str = ""
    note: str = ""

    def holds(self, P: int, reducing: bool = False, gapped: bool = False) -> bool:
        """Return whether the formula is claimed to be exact at P."""
        scopes = [self.at]
        if reducing and self.reducing:
            scopes.append(self.reducing)
        if gapped and self.gapped:
            scopes.append(self.gapped)
        if gapped and reducing and self.gapped_reducing:
            scopes.append(self.gapped_reducing)
        return all(_MEMBERS[scope](P) for scope in scopes)

    def __str__(self) -> str:
        return self.told()

    def told(self, only_at: str = EVERY) -> str:
        """Return the claim in words, of an algorithm that exists on these numbers of ranks only."""
        if self.at == NONE and self.note:
            return self.note
        parts = [f"exact for {self.at}"]
        parts += [f"with gamma > 0 for {self.reducing}"] if self.reducing else []
        parts += [f"with g > L + 2 o for {self.gapped}"] if self.gapped else []
        parts += [f"with both gamma > 0 and g > L + 2 o for {self.gapped_reducing}"] if self.gapped_reducing else []
        bounded = {self.at, self.reducing, self.gapped, self.gapped_reducing} - {EVERY, only_at, ""}
        parts += ["elsewhere an upper bound"] if bounded else []
        parts += ["there is no such algorithm for other P"] if only_at != EVERY else []
        text = "; ".join(parts)
        return f"{text}. {self.note}" if self.note else text


@dataclass(frozen=True)
class Call:
    """One call: what the MPI function is given, and the knobs of the algorithm."""

    P: int
    count: int
    itemsize: int = 4
    root: int = 0
    segment_bytes: int = 0
    fan: int = 1
    radix: int = 4
    ranks_per_node: int = 1
    commutative: bool = True

    def virtual(self, rank: int) -> int:
        """Return the rank counted from the root."""
        return (rank - self.root) % self.P

    def real(self, v: int) -> int:
        """Return the rank that is v-th from the root."""
        return (v + self.root) % self.P


@dataclass(frozen=True)
class Options:
    """The knobs that a formula knows.

    Parameters
    ----------
    segment : SymPy expression or None
        Bytes of a segment; None is one segment.
    fan, radix : int
        Chains below the root; radix of a k-nomial tree.
    ranks_per_node : int
        Ranks below a leader, itself among them.
    """

    segment: Any = None
    fan: int = 1
    radix: int = 4
    ranks_per_node: int = 1


@dataclass(frozen=True)
class Algorithm:
    """An algorithm of a collective.

    Parameters
    ----------
    collective, name : str
        Open MPI's names.
    program : function of a Call
        Returns the program of every rank: the schedule. Called for P >= 2.
    phases : function of Options, optional
        The rounds whose sum is the closed form; None while an algorithm has a schedule only.
    loggp : function of (LogGP, Options), optional
        Terms under LogGP where they are no sum over rounds.
    hockney : function of (Hockney, Options), optional
        The same under Hockney.
    exact : mapping of network class to `Exact`, or function of Options that returns one
        Where the closed form equals the schedule, for each network.
    only_at : str
        The numbers of ranks on which there is such an algorithm: EVERY, POWERS or TWO.
    segmented : bool
        Whether formulas know segments.
    """

    collective: str
    name: str
    program: Callable[[Call], Program]
    phases: Callable[[Options], tuple[Phase, ...]] | None = None
    loggp: Callable[[LogGP, Options], dict[str, sp.Expr]] | None = None
    hockney_exact: Exact = Exact()
    loggp_exact: Exact = Exact()
    only_at: str = EVERY
    segmented: bool = False
    hockney: Callable[[Hockney, Options], dict[str, sp.Expr]] | None = None

    def terms(self, network: Hockney | LogGP, options: Options) -> dict[str, sp.Expr]:
        """Return the closed form, term by term; `phases` must be there."""
        assert self.phases is not None
        if isinstance(network, LogGP) and self.loggp is not None:
            return self.loggp(network, options)
        if isinstance(network, Hockney) and self.hockney is not None:
            return self.hockney(network, options)
        return close(self.phases(options), network)

    def exact(self, network: Hockney | LogGP) -> Exact:
        """Return where the closed form equals the schedule under a network."""
        return self.hockney_exact if isinstance(network, Hockney) else self.loggp_exact

    def exists(self, P: int) -> bool:
        """Return whether there is such an algorithm on P ranks; on one rank there is nothing to do."""
        return P == 1 or _MEMBERS[self.only_at](P)
