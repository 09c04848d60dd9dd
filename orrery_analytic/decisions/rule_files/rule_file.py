"""`RuleFile`: the rules of a file, which make a selection, a table and a file again."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from orrery_analytic.decisions.names import algorithms_of
from orrery_analytic.decisions.rule_files.build import build
from orrery_analytic.decisions.rule_files.contents import Contents
from orrery_analytic.decisions.rule_files.existing import check_replaceable
from orrery_analytic.decisions.rule_files.json_form import RELEASE
from orrery_analytic.decisions.rule_files.records import (
    COLLECTIVES,
    DECIDED,
    NO_RULE,
    QUANTITIES,
    CommRule,
    MessageRule,
)
from orrery_analytic.decisions.rule_files.source import save
from orrery_analytic.decisions.rule_files.steps import Steps, comm_steps, message_steps
from orrery_analytic.decisions.rule_files.write import written
from orrery_analytic.decisions.whole import LARGEST_COUNT, LARGEST_SIZE, one, truth
from orrery_analytic.errors import QuantityError, choose
from orrery_analytic.units import shown

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["RuleFile"]

_COLUMNS = (
    "collective from_ranks to_ranks distribution compares from_bytes to_bytes number algorithm fan segment_bytes"
    " max_requests line"
).split()


@dataclass(frozen=True)
class RuleFile(Contents):
    """The rules of a rule file, for ``select(..., rules=...)``. `read_rules` and `RuleFile.of` make one.

    Attributes
    ----------
    form
        "classic", "version-2" or "json".
    library
        The version of Open MPI that reads the file: "4.1", "5.0.7", "6.0".
    rules
        (collective, (CommRule, ...)), ... as the file has them.
    name
        Of the file.
    problems
        What the library accepts but people may not have meant, each with its line.
    comments
        What else to know: lines of comment at the head of a file in the forms of text.
    """

    @classmethod
    def of(
        cls,
        rules: Mapping[str, Mapping[int, Sequence[Sequence[Any]]]],
        library: str = "4.1",
        name: str = "<rules>",
    ) -> RuleFile:
        """Return the rules that a mapping says: {collective: {ranks: [(n, algorithm, segment_bytes, fan), ...]}}.

        Parameters
        ----------
        rules
            For each collective and communicator size, from which n on which algorithm: a name, a number, or "fixed"
            for the library's fixed decision. Bytes of a segment and the fan may be left out (0). n is in bytes as in
            `select`, and becomes what the library compares: P n for allgather, alltoall, gather, scatter and
            reduce_scatter_block, with this very P. A communicator size holds up to the next one, where the library
            still compares P n: between them the borders in n shift with 1 / P. The rules of the last size hold from
            there on, below the first size, and below the first n, the fixed decision stays.
        library
            Version of Open MPI, "4.1" or "5.0", whose algorithms may be named.
        name
            What reasons and errors call the rules.

        Raises
        ------
        UnknownNameError
            For a collective, an algorithm or a library that does not exist.
        QuantityError
            For numbers out of range, for n that do not ascend, and for more than one n where the library does not look
            at the bytes of a call (alltoallv, barrier, exscan, scan).

        Examples
        --------
        >>> rules = RuleFile.of({"allreduce": {8: [(0, "recursive_doubling"), (65536, "ring")]}})
        >>> print(rules.write())  # doctest: +SKIP
        """
        if not isinstance(name, str):
            raise QuantityError(f"name = {shown(name)}: allowed is text.")
        return cls("classic", library, build(rules, library), name)

    @property
    def rule_set(self) -> str:
        """Name of the fixed decision that answers where no rule does; 6.0's own is not held here."""
        return "openmpi-4.1"

    def write(self, path: str | PathLike[str] | None = None, form: str | None = None, overwrite: bool = False) -> str:
        """Return the rules as the text of a rule file, and write it to a file if one is named.

        Parameters
        ----------
        path
            Of the file, if any. A rule file that is there is replaced, any other file is not.
        form
            "classic" (every release), "version-2" (from 5.0.7 on) or "json" (from 6.0 on); without it, their own form.
            Reading the text gives the same choices.
        overwrite
            Whether any file that is there is replaced.

        Raises
        ------
        UnknownNameError
            For another form.
        FormatError
            For rules that the form cannot say: `max_requests` in the classic form, rules for a distribution of ranks
            over nodes in both forms of text, algorithms that the releases of a form do not have.
        FileMissingError, QuantityError
            If there is no such folder, or no file can be written there; if another file is there.
        """
        replaces = truth("overwrite", overwrite)
        text = written(self, self.form if form is None else form)
        return save(text, path, None if replaces else check_replaceable)

    def match(
        self,
        collective: str,
        P: NDArray[np.int64],
        n: NDArray[np.int64],
        itemsize: NDArray[np.int64],
        ranks_per_node: NDArray[np.int64] | None = None,
    ) -> tuple[NDArray[np.intp], list[tuple[CommRule, MessageRule]]]:
        """Return which rule the library takes at every point, -1 for none, and the rules of the collective.

        The arrays have one shape, as in `select`. `ranks_per_node` must be given where a rule asks for a distribution.
        """
        flat, comm_of, found = self._compiled(collective)
        index = np.full(P.shape, -1, dtype=np.intp)
        if not flat:
            return index, flat
        nbytes = _compared(collective, P, n, itemsize)
        for allowed, here in self._placed(collective, P, ranks_per_node):
            comm = np.where(here, comm_of(allowed).at(P), -1)
            for i in np.unique(comm[comm >= 0]).tolist():
                start, messages = found[i]
                these = comm == i
                taken = messages.at(nbytes[these])
                index[these] = np.where(taken >= 0, start + taken, -1)
        return index, flat

    def taken(
        self, collective: str, P: int, itemsize: int = 1, ranks_per_node: int | None = None
    ) -> list[tuple[int, MessageRule | None]]:
        """Return the rules on P ranks as pieces in n: (from n bytes, rule, or None for the fixed decision), ..."""
        choose("collective", collective, COLLECTIVES)
        ranks = np.array([one("P", P, 1, LARGEST_SIZE)])
        size = np.array([one("itemsize", itemsize, 1)])
        nodes = None if ranks_per_node is None else np.array([one("ranks_per_node", ranks_per_node, 1, LARGEST_SIZE)])
        edges = {0}
        for comm in self.collectives.get(collective, ()):
            for rule in comm.messages:
                edges |= {rule.from_bytes, *(() if rule.to_bytes is None else (rule.to_bytes + 1,))}
        compared = QUANTITIES.get(collective)
        starts = sorted({-(-edge // P) if compared == "P n" else edge for edge in edges})
        n = np.array([start for start in starts if start < LARGEST_COUNT], dtype=np.int64)
        index, flat = self.match(collective, np.broadcast_to(ranks, n.shape), n, np.broadcast_to(size, n.shape), nodes)
        rules = [flat[i][1] if i >= 0 and flat[i][1].number != NO_RULE else None for i in index.tolist()]
        found = list(zip(n.tolist(), rules, strict=True))
        return [piece for i, piece in enumerate(found) if i == 0 or piece[1] != found[i - 1][1]]

    def _compiled(self, collective: str) -> Any:
        if collective not in self._tables:
            comms = self.collectives.get(collective, ()) if collective in DECIDED else ()
            bounded = self.form == "json"
            starts = np.cumsum([0, *(len(comm.messages) for comm in comms)]).tolist()
            found = [(start, message_steps(comm, bounded)) for start, comm in zip(starts, comms, strict=False)]
            flat = [(comm, message) for comm in comms for message in comm.messages]

            def comm_of(allowed: frozenset[str]) -> Steps:
                return comm_steps(comms, bounded, allowed)

            self._tables[collective] = (flat, comm_of, found)
        return self._tables[collective]

    @cached_property
    def _tables(self) -> dict[str, Any]:
        return {}

    def _placed(
        self, collective: str, P: NDArray[np.int64], ranks_per_node: NDArray[np.int64] | None
    ) -> list[tuple[frozenset[str], NDArray[np.bool_]]]:
        """Return the distributions of communicators, and where each is."""
        asked = {comm.distribution for comm in self.collectives[collective]} - {"any"}
        if not asked:
            return [(frozenset({"any"}), np.ones(P.shape, dtype=bool))]
        if ranks_per_node is None:
            raise QuantityError(
                f"ranks_per_node = None: rules of {self.name} for {collective} ask for {', '.join(sorted(asked))}. "
                "Allowed: whole numbers from 1 on."
            )
        spread, packed = ranks_per_node == 1, ranks_per_node >= P
        return [
            (frozenset({"any"}) | one | all_, (spread == bool(one)) & (packed == bool(all_)))
            for one in (frozenset(), frozenset({"one-per-node"}))
            for all_ in (frozenset(), frozenset({"single-node"}))
        ]

    def to_table(self) -> pd.DataFrame:
        """Return a row a rule; to_ranks and to_bytes are missing where a rule holds up to the next one."""
        import pandas as pd

        table = pd.DataFrame(self._rows(), columns=_COLUMNS)
        return table.astype(dict.fromkeys(("to_ranks", "to_bytes"), "Int64"))

    def _rows(self) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = []
        for collective, comms in self.rules:
            names = algorithms_of(collective, self.version.release) if collective in DECIDED else {}
            for comm in comms:
                for rule in comm.messages:
                    name = "fixed decision" if rule.number == NO_RULE else names.get(rule.number, "")
                    where = (collective, comm.from_ranks, comm.to_ranks, comm.distribution)
                    sizes = (QUANTITIES.get(collective, ""), rule.from_bytes, rule.to_bytes)
                    knobs = (rule.fan, rule.segment_bytes, rule.max_requests)
                    rows.append((*where, *sizes, rule.number, name, *knobs, rule.line))
        return rows

    def __str__(self) -> str:
        form = f"JSON, Open MPI {RELEASE}" if self.form == "json" else f"{self.form}, Open MPI {self.library}"
        return f"{self.name} ({form})"

    def __repr__(self) -> str:
        counts = ", ".join(f"{name}: {sum(len(comm.messages) for comm in comms)}" for name, comms in self.rules)
        return f"<RuleFile {self}: {counts or 'no rules'}>"

    def _repr_html_(self) -> str:
        left = "style='text-align:left'"
        heads = "".join(f"<th {left}>{name}</th>" for name in _COLUMNS)
        rows = [
            "<tr>"
            + "".join(f"<td {left}>{'' if cell is None else html.escape(str(cell))}</td>" for cell in row)
            + "</tr>"
            for row in self._rows()
        ]
        problems = "".join(f"<li>{html.escape(problem)}</li>" for problem in self.problems)
        caption = f"<caption><b>{html.escape(str(self))}</b></caption>"
        table = f"<table>{caption}<thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
        return table + (f"<ul>{problems}</ul>" if problems else "")


def _compared(
    collective: str, P: NDArray[np.int64], n: NDArray[np.int64], itemsize: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the bytes that the library compares with those of rules; beyond 64 bits, the most that they hold."""
    quantity = QUANTITIES[collective]
    if quantity == "0":
        return np.zeros_like(P)
    if quantity == "n":
        return n
    factor = n if quantity == "P n" else np.broadcast_to(itemsize, P.shape)
    most = np.iinfo(np.int64).max
    return np.where(factor > most // P, most, P * np.minimum(factor, most // P))
