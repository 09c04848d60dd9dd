"""The choice: which algorithm Open MPI takes, by a rule of a file or by its fixed decision, and why."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from orrery_analytic.decisions import openmpi_4_1
from orrery_analytic.decisions.fixed import Rules, fixed_rows, resolve, rule_set
from orrery_analytic.decisions.names import ALGORITHMS, SELF
from orrery_analytic.decisions.notes import notes
from orrery_analytic.decisions.rows import first_row
from orrery_analytic.decisions.rule_files import CommRule, MessageRule, RuleFile
from orrery_analytic.decisions.rule_files.records import NO_RULE, QUANTITIES
from orrery_analytic.decisions.selection import Selection
from orrery_analytic.decisions.versions import version_of
from orrery_analytic.decisions.whole import LARGEST_COUNT, LARGEST_SIZE, broadcast, one, truth, whole
from orrery_analytic.errors import choose
from orrery_analytic.units import in_si

__all__ = ["pieces", "select"]

_ANY_BYTES = ("alltoallv", "barrier")


def select(
    collective: str,
    P: ArrayLike,
    n: ArrayLike,
    rules: Rules = "openmpi-4.1",
    commutative: bool = True,
    itemsize: int = 1,
    ranks_per_node: ArrayLike | None = None,
) -> Selection:
    """Return which algorithm Open MPI takes, and the row of its table, or the rule of a file, that says so.

    This is the algorithm *chosen*, `.runs` the one that then really runs. It is what coll/tuned decides: scan and
    exscan go to coll/basic, one rank to coll/self. In 5.0 coll/han answers first for seven collectives where several
    ranks of the communicator share each of several nodes: with `ranks_per_node`, `.note` says so.

    Parameters
    ----------
    collective
        One of `list_collectives()`.
    P
        Ranks, at least 1. A whole number or an array of them.
    n
        Bytes, or text ("1 MiB"), alone or in an array; those that the decision looks at: the whole vector for
        allreduce, bcast, reduce, scan and exscan; the total for reduce_scatter; one block for allgather, alltoall,
        gather, scatter and reduce_scatter_block; the average block for allgatherv (under "openmpi-4.0" the total of its
        blocks). alltoallv and barrier take any n and ignore it. What a rule file compares with its sizes is made of it:
        P n for those of one block.
    rules
        "openmpi-4.1" (4.1 and 5.0), "openmpi-4.0" (2.1 to 4.0), or a version: "4.1.6", "openmpi-5.0", "mpirun (Open
        MPI) 4.1.4". Or a rule file: what `read_rules` or `RuleFile.of` returns, its path or its text. Where no rule
        answers the fixed decision does.
    commutative
        Whether the operation commutes; asked by allreduce, reduce, reduce_scatter and reduce_scatter_block.
    itemsize
        Bytes of one element. `.runs` asks, "openmpi-4.0" (allreduce, bcast and reduce compare the count as well), and
        rule files for scan and exscan.
    ranks_per_node
        Ranks of the communicator on each node, a whole number or an array, if they are to be looked at.

    Raises
    ------
    UnknownNameError
        For a collective or rules that do not exist.
    QuantityError
        For P, n, itemsize or ranks_per_node that are no whole numbers in their range, or do not broadcast; for
        commutative that is neither True nor False; without ranks_per_node for rules that ask for it.
    FormatError, FileMissingError
        For a rule file that the library would not use, or that is not there.

    Notes
    -----
    Source: Open MPI, coll/tuned, fixed decision functions and dynamic rules; held against the libraries 4.1.4 and
    5.0.11.
    """
    found, commutes = resolve(rules), truth("commutative", commutative)
    rows = fixed_rows(choose("collective", collective, ALGORITHMS), rule_set(found), commutes)
    least = -LARGEST_COUNT if collective in _ANY_BYTES else 0
    sizes = whole("n", in_si(n, "B", "n"), least)
    given = {"P": whole("P", P, 1, LARGEST_SIZE), "n": sizes, "itemsize": whole("itemsize", itemsize, 1)}
    if ranks_per_node is not None:
        given["ranks_per_node"] = whole("ranks_per_node", ranks_per_node, 1, LARGEST_SIZE)
    values: dict[str, NDArray[Any]] = broadcast(**given)
    values["count"] = values["n"] // values["itemsize"]
    # In double precision: the product may exceed 64 bits, and where it is compared a double holds it exactly.
    values["P n"] = np.multiply(values["P"], values["n"], dtype=np.float64)
    shape = values["P"].shape
    index = first_row(rows, values, shape)
    names = dict([SELF]) | dict(ALGORITHMS[collective])
    columns: dict[str, list[Any]] = {
        "number": [row.number for row in rows],
        "name": [names[row.number] for row in rows],
        "reason": [row.reason for row in rows],
        "segment_bytes": [row.segment_bytes for row in rows],
        "fan": [row.fan for row in rows],
    }
    unruled = None
    if isinstance(found, RuleFile):
        index, columns, unruled = _by_file(found, collective, values, index, columns)

    def pick(column: Sequence[Any]) -> Any:
        taken = np.array(column)[index]
        return taken if index.ndim else taken.item()

    version = found.version if isinstance(found, RuleFile) else version_of(found)
    note = notes(collective, values, version, commutes, unruled)
    call = {"collective": collective, "commutative": commutes} | {k: values[k] for k in ("P", "n", "itemsize")}
    picked = {name: pick(column) for name, column in columns.items()}
    return Selection(**picked, note=note if index.ndim else note.item(), _call=MappingProxyType(call))


def _by_file(
    rules: RuleFile,
    collective: str,
    values: dict[str, NDArray[Any]],
    index: NDArray[np.intp],
    columns: dict[str, list[Any]],
) -> tuple[NDArray[np.intp], dict[str, list[Any]], NDArray[np.bool_]]:
    """Return the index and the columns with the rules of a file put in front of those of the fixed decision.

    Each pair of a rule (or none) and a row that comes up becomes a row; the third value is where the row answers.
    """
    taken, flat = rules.match(collective, values["P"], values["n"], values["itemsize"], values.get("ranks_per_node"))
    names = rules.algorithms(collective)
    decided = np.array([rule.number != NO_RULE for _, rule in flat] + [False])[taken] & (values["P"] > 1)
    # Where a rule answers, the row does not matter.
    pairs = (taken + 1) * (len(columns["number"]) + 1) + np.where(decided, 0, index + 1)
    found, place = np.unique(pairs, return_inverse=True)
    made: dict[str, list[Any]] = {name: [] for name in columns}
    for pair in found.tolist():
        rule, row = divmod(pair, len(columns["number"]) + 1)
        message = flat[rule - 1][1] if rule else None
        if row == 0 and message is not None:
            made["number"].append(message.number)
            made["name"].append(names[message.number])
            made["reason"].append(_reason(rules, collective, flat, rule - 1))
            made["segment_bytes"].append(message.segment_bytes)
            made["fan"].append(message.fan)
            continue
        for name, column in columns.items():
            made[name].append(column[row - 1])
        if made["number"][-1] != SELF[0]:
            where = (
                f"{_place(rules, message.line)} leaves it to" if message is not None else f"no rule in {rules.name}:"
            )
            made["reason"][-1] = f"{where} the fixed decision: {made['reason'][-1]}"
    return place.reshape(taken.shape), made, ~decided & (values["P"] > 1)


def _place(rules: RuleFile, line: int) -> str:
    return f"{rules.name}, line {line}," if line else rules.name


def _reason(rules: RuleFile, collective: str, flat: Sequence[tuple[CommRule, MessageRule]], i: int) -> str:
    """Return what rule i says about P and about the bytes that the library compares."""
    comm, message = flat[i]
    compared, least, most = QUANTITIES[collective], message.from_bytes, message.to_bytes
    ranks = f"P >= {comm.from_ranks}" if comm.to_ranks is None else f"{comm.from_ranks} <= P <= {comm.to_ranks}"
    if rules.form != "json":
        if comm is flat[0][0] and comm.from_ranks > 2:
            ranks = f"{ranks}, or fewer as it is the first rule"
        if i + 1 < len(flat) and flat[i + 1][0] is comm:
            most = flat[i + 1][1].from_bytes - 1
    spread = "" if comm.distribution == "any" else f", {comm.distribution}"
    nbytes = f"{compared} >= {least}" if most is None else f"{least} <= {compared} <= {most}"
    if compared == "0" or (not least and most is None):
        nbytes = "any n"
    return f"{_place(rules, message.line).rstrip(',')}: {ranks}{spread}, {nbytes}"


def pieces(collective: str, P: int) -> tuple[tuple[int, str], ...]:
    """Return the fixed decision of Open MPI 4.1 and 5.0 on P ranks as pieces in n: (from n bytes, name), ascending.

    Parameters
    ----------
    collective
        One of `list_collectives()`.
    P
        Ranks, at least 1.

    Raises
    ------
    UnknownNameError, QuantityError
        As `select`.
    """
    starts, ranks = {0}, one("P", P, 1, LARGEST_SIZE)
    for below, cells in openmpi_4_1.TABLES.get(choose("collective", collective, ALGORITHMS), ()):
        if below is None or ranks < below:
            starts |= {limit for limit, _ in cells if limit is not None}
            break
    names = [(n, str(select(collective, ranks, n).name)) for n in sorted(starts)]
    return tuple(piece for i, piece in enumerate(names) if i == 0 or piece[1] != names[i - 1][1])
