"""`Schedule`: the programs of P ranks, read rank by rank, round by round, or timed on a network."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from orrery_analytic.errors import QuantityError
from orrery_analytic.networks import Network
from orrery_analytic.schedules.engine import finish_times
from orrery_analytic.schedules.operations import EXCHANGE, IRECV, ISEND, RECV, REDUCE, SEND, Operation, Program
from orrery_analytic.schedules.trace import Trace, traced

__all__ = ["Round", "Schedule"]


@dataclass(frozen=True)
class Round:
    """One round: messages as (source, destination, bytes), reductions as (rank, bytes)."""

    messages: tuple[tuple[int, int, int], ...]
    reductions: tuple[tuple[int, int], ...]

    @property
    def nbytes(self) -> int:
        """Return the bytes of the largest message, 0 without messages."""
        return max((m for _, _, m in self.messages), default=0)

    @property
    def reduced(self) -> int:
        """Return the most bytes that one rank reduces in this round."""
        by_rank: dict[int, int] = {}
        for rank, nbytes in self.reductions:
            by_rank[rank] = by_rank.get(rank, 0) + nbytes
        return max(by_rank.values(), default=0)


@dataclass(frozen=True)
class Schedule:
    """The programs of P ranks.

    Parameters
    ----------
    P : int
        Number of ranks.
    program : function of a rank
        Returns an iterator over the rank's operations (see `orrery_analytic.schedules.operations`), in program order.
    name : str
        For people.
    """

    P: int
    program: Program
    name: str = "schedule"

    def operations(self, rank: int) -> Iterator[Operation]:
        """Return the operations of a rank in program order.

        Raises
        ------
        QuantityError
            If there is no such rank.
        """
        if isinstance(rank, bool) or not 0 <= rank < self.P:
            raise QuantityError(f"rank {rank!r} was given, but this schedule has ranks 0 to {self.P - 1}.")
        return iter(self.program(rank))

    def sends(self, rank: int) -> list[tuple[int, int]]:
        """Return the sends of a rank as (destination, bytes), in program order."""
        return [(op[1], op[2]) for op in self.operations(rank) if op[0] in (SEND, ISEND, EXCHANGE)]

    def receives(self, rank: int) -> list[tuple[int, int]]:
        """Return the receives of a rank as (source, bytes), in program order."""
        found = []
        for op in self.operations(rank):
            if op[0] in (RECV, IRECV):
                found.append((op[1], op[2]))
            elif op[0] == EXCHANGE:
                found.append((op[3], op[4]))
        return found

    def reductions(self, rank: int) -> list[int]:
        """Return the bytes of each reduction call of a rank, in program order."""
        return [op[1] for op in self.operations(rank) if op[0] == REDUCE]

    def rounds(self) -> list[Round]:
        """Return what happens in each round, over all ranks."""
        messages: dict[int, list[tuple[int, int, int]]] = {}
        reductions: dict[int, list[tuple[int, int]]] = {}
        for rank in range(self.P):
            for op in self.program(rank):
                if op[0] in (SEND, ISEND, EXCHANGE):
                    messages.setdefault(op[-1], []).append((rank, op[1], op[2]))
                elif op[0] == REDUCE:
                    reductions.setdefault(op[-1], []).append((rank, op[1]))
        last = max((*messages, *reductions), default=-1)
        return [Round(tuple(messages.get(k, ())), tuple(reductions.get(k, ()))) for k in range(last + 1)]

    def finish(self, network: Network, **values: Any) -> list[Any]:
        """Return the time, in seconds, at which each rank is done; all enter at 0.

        Parameters
        ----------
        network : Hockney, LogGP or TwoLevel
        **values : int, Fraction or float
            Numbers for the network's symbols, by name (SI units). Exact values give exact times. `gamma` is needed
            only where the schedule reduces.

        Raises
        ------
        UnknownNameError
            If a symbol of the network has no value.
        ScheduleError
            If the programs deadlock, leave a message unmatched, or disagree on its size.
        """
        return finish_times(self.P, self.program, network.timing(**values))

    def time(self, network: Network, **values: Any) -> Any:
        """Return the time of the collective, in seconds: the last rank leaves (see `finish`)."""
        return max(self.finish(network, **values), default=0)

    def trace(self, network: Network, **values: Any) -> Trace:
        """Return every message and reduction with its start and end, and the critical path, in seconds.

        Arguments and errors are those of `finish`, and so are the times, exact values included; it takes several times
        as long.

        Examples
        --------
        >>> import orrery_analytic as oa
        >>> trace = oa.schedule("bcast", "chain", P=3, count=1, fan=1).trace(oa.Hockney(), alpha=2, beta=1)
        >>> [(m.source, m.destination, m.start, m.end) for m in trace.messages]
        [(0, 1, 0, 6), (1, 2, 6, 12)]
        """
        return traced(self.P, self.program, network.timing(**values), self.name)

    def __repr__(self) -> str:
        return f"<Schedule {self.name}, P = {self.P}>"
