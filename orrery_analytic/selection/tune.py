"""`tune`: the fewest rules of a rule file that keep the regret of a machine under a bound."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from orrery_analytic.collectives.registry import COMPOSED, find, list_algorithms, resolve
from orrery_analytic.decisions import RuleFile, list_collectives
from orrery_analytic.decisions.names import algorithms_of
from orrery_analytic.decisions.rule_files import CommRule, MessageRule
from orrery_analytic.decisions.rule_files.build import check_library
from orrery_analytic.decisions.rule_files.records import LARGEST, NO_RULE, QUANTITIES
from orrery_analytic.decisions.whole import LARGEST_SIZE, whole
from orrery_analytic.errors import QuantityError, UnknownNameError, choose
from orrery_analytic.selection.best import Search
from orrery_analytic.selection.candidates import FANS, SEGMENTS, Told, each
from orrery_analytic.selection.candidates import candidates as offered
from orrery_analytic.selection.cover import cover
from orrery_analytic.selection.layout import Layout
from orrery_analytic.selection.plans import Plan
from orrery_analytic.selection.setting import Prices, axis
from orrery_analytic.selection.tune_notes import file_notes, notes
from orrery_analytic.selection.tuning import Points, Tuning
from orrery_analytic.units import shown

if TYPE_CHECKING:
    from orrery_analytic.machines import Machine

__all__ = ["tune"]

_FIXED = MessageRule(0, NO_RULE)
_ALIKE = 1 + 1e-9
_MOST_RANKS, _MOST_SIZES = 256, 4096  # time and memory go with the square of the ranks
_OPTIONS = ("buffers", "network", "transport", "staging", "itemsize", "commutative")

#: Told how much is done, of how much, and for which collective.
Progress = Callable[[float, int, str], None]


def tune(
    machine: Machine | str,
    collectives: str | Sequence[str],
    P: Any,
    n: Any = None,
    bound: float = 1.05,
    candidates: Mapping[str, Sequence[str]] | None = None,
    segment_bytes: Sequence[int] = SEGMENTS,
    fan: Sequence[int] = FANS,
    library: str = "4.1",
    progress: Progress | None = None,
    **options: Any,
) -> Tuning:
    r"""Return the fewest rules with which Open MPI stays within a bound of the best, and what they gain.

    What a rule says takes :math:`T_{rule}(P, n) \le b \min_i T_i(P, n)` at all P given and all n of the search, b being
    the bound and i running over all candidates, the library's own choice among them. Algorithm, segment size and fan
    are sought together. Of the sets with the fewest rules the one of the least mean regret is taken.

    Parameters
    ----------
    machine : Machine or str
        A machine, or the name or path of its file.
    collectives : str or sequence of str
        Of `list_collectives`.
    P : int or 1-D array
        The communicator sizes that matter, at least 2. Rules hold from one of them up to the next, and the last ones
        for all that are larger; they are sought and measured at these sizes alone (what they do at others `regret`
        says, with `rules`). Below the first the fixed decision stays. Neighbours that can share rules do. At most 256:
        32 of them take a fraction of a second for a collective, 256 a quarter of a minute and a gigabyte.
    n : 1-D array, optional
        Bytes (or "1 MiB") for which rules are sought, as in `predict`. Rules then hold from the least to the largest of
        them, and the fixed decision at all other sizes. Unless given, from 1 B to 1 GiB of what a rule file compares
        (P n for collectives of blocks), sixteen sizes to an octave, and those where algorithms hand over to others;
        the last rule holds for all that is larger.
    bound : float
        The most regret that is let be, at least 1.
    candidates : mapping of str to sequence of str, optional
        For collectives whose algorithms are to be chosen among some: their names. Unless given, all that every release
        from 4.1 on has. The library's fixed decision is a candidate as well, always.
    segment_bytes, fan : sequence of int
        Segment sizes, and numbers of chains, that are tried: as in `best`.
    library : str
        "4.1" or "5.0": the version of Open MPI that reads the file.
    progress : function, optional
        Called with how much is done, of how much, and the collective: a float, a whole number and a text.
    **options
        buffers, network, transport, staging, itemsize and commutative of `predict`, and keys of the machine file with
        one value each.

    Returns
    -------
    Tuning
        Its `rules` are a `RuleFile`; `write` makes the file; `table` says what is gained, and what is lost where.

    Raises
    ------
    UnknownNameError
        For a name that is not there, or a symbol that the machine file has no number for.
    QuantityError
        For numbers out of range.

    Notes
    -----
    What counts is what really runs where the library is told to take a candidate: where it hands over to another
    algorithm, that one's seconds. Algorithms made of other collectives have the parts that the rules found for those
    decide. "two_proc" is no candidate: on three ranks, for which a rule for two holds, it ends the program. Where the
    library does not look at the bytes of a call (alltoallv, barrier, scan, exscan), one rule for a communicator size
    is all that there can be; it is then the one of the least worst regret, if none is within the bound.

    Examples
    --------
    >>> tuning = oa.tune("example", ["allreduce", "bcast"], P=[8, 64])
    >>> tuning.write("example.rules")  # doctest: +SKIP
    """
    release = check_library(library)
    names = _collectives(collectives)
    ranks = np.unique(whole("P", axis("P", P), 2, LARGEST_SIZE))
    sizes = None if n is None else np.unique(whole("n", axis("n", n), 1))
    if ranks.size > _MOST_RANKS or (sizes is not None and sizes.size > _MOST_SIZES):
        raise QuantityError(
            f"P and n have {ranks.size} and {0 if sizes is None else sizes.size} values. "
            f"Allowed: at most {_MOST_RANKS} and {_MOST_SIZES}."
        )
    if sizes is not None and any(QUANTITIES[name] == "P n" for name in names):
        whole("n", sizes, 1, LARGEST // int(ranks[-1]) - 1)  # a file says the bytes of all ranks, in a C long
    limit = _bound(bound)
    if mistaken := options.keys() & {"rules", "version"}:
        name = min(mistaken)
        raise UnknownNameError(
            f"unknown option of tune {name!r}. Did you mean 'library'? That is the version of Open MPI which reads the "
            f"rules that are found: library={shown(options[name])}. Allowed: {', '.join(('library', *_OPTIONS))}."
        )
    if progress is not None and not callable(progress):
        raise QuantityError(f"progress must be a function, but {shown(progress)} was given.")
    segments = tuple(each("segment_bytes", segment_bytes, 0))
    among = {} if candidates is None else candidates
    if not isinstance(among, Mapping):
        raise QuantityError(f"candidates must be {{collective: [algorithm, ...]}}, but {shown(candidates)} was given.")
    for name in among:
        choose("collective among those tuned", name, names)
    searches = {
        name: Search.of(
            machine, name, _names(name, among.get(name), release, options), segments, fan, rules=library, **options
        )
        for name in names
    }
    setting = searches[names[0]].setting
    layouts = {name: Layout.of(name, ranks, sizes, segments, setting.itemsize) for name in names}
    rules = RuleFile("classic", library, (), f"{setting.machine.name}.rules")
    lost = {}
    # Collectives that others call come first: the rules for those decide what these cost.
    for i, name in enumerate(sorted(names, key=lambda collective: any(where == collective for where, _ in COMPOSED))):

        def tick(done: int, of: int, i: int = i, name: str = name) -> None:
            if progress is not None:
                progress(i + done / of, len(names), name)

        tick(0, 1)
        found, needed = _sought(searches[name], rules, layouts[name], limit, tick)
        if needed > limit:
            lost[name] = needed
        rules = replace(rules, rules=tuple(sorted([*rules.rules, *([(name, found)] if found else [])])))
        tick(1, 1)
    rules = replace(rules, comments=file_notes(rules, sizes))
    points = {name: _measured(searches[name], rules, layouts[name]) for name in names}
    told = notes(searches, rules, ranks, lost, points)
    return Tuning(rules, setting.machine.name, limit, tuple(ranks.tolist()), points, told)


def _collectives(given: str | Sequence[str]) -> list[str]:
    names = [given] if isinstance(given, str) else list(given) if isinstance(given, Sequence) else []
    if not names:
        raise QuantityError(f"collectives must be names of collectives, at least one, but {shown(given)} was given.")
    return list(dict.fromkeys(choose("collective", name, list_collectives()) for name in names))


def _bound(given: object) -> float:
    number = np.nan
    if isinstance(given, int | float | np.integer | np.floating) and not isinstance(given, bool):
        with suppress(OverflowError):  # a whole number may be larger than any float
            number = float(given)
    if not 1 <= number < np.inf:
        raise QuantityError(f"bound = {shown(given)}: allowed are numbers from 1 on. 1.05 lets 5 % be lost.")
    return number


def _names(collective: str, given: Sequence[str] | None, release: str, options: Mapping[str, Any]) -> list[str]:
    """Return the algorithms that are tried: those of the library that reads the file, for any number of ranks."""
    names = [plan.algorithm for plan in offered(collective, given, commutative=options.get("commutative", True))]
    for name in names:
        choose(f"{collective} algorithm of Open MPI {release}", name, algorithms_of(collective, release).values())
    # A rule for two ranks holds up to the next size; an algorithm for two alone would end a program on three.
    anywhere = [
        name for name in dict.fromkeys(names) if _is_composed(collective, name) or find(collective, name).exists(3)
    ]
    if not anywhere:
        raise QuantityError(
            f"candidates of {collective}: {shown(given)} exist for two ranks alone. Allowed: "
            f"{', '.join(name for name in list_algorithms(collective) if name not in names)}."
        )
    return anywhere


def _is_composed(collective: str, name: str) -> bool:
    return resolve(collective, name) in COMPOSED


def _sought(
    search: Search, rules: RuleFile, layout: Layout, bound: float, tick: Callable[[int, int], None]
) -> tuple[tuple[CommRule, ...], float]:
    """Return the rules of one collective beside those of others, and the least bound that they can keep."""
    prices = Prices(replace(search.setting, rules=rules), layout.ranks[:, None], layout.n)
    # The fixed decision is the first candidate: of equals it needs no rule.
    seconds = np.concatenate([prices.taken()[3][None], Told(prices, search.told).seconds])
    least = np.fmin.reduce(seconds)
    with np.errstate(invalid="ignore", divide="ignore"):
        regret = np.where(seconds == least, 1.0, seconds / least)
    regret[np.isnan(regret)] = np.inf
    regret[:, ~layout.used | np.isnan(least)] = 1.0
    cost = np.log(regret)
    if len(layout.cells) == 1:
        regret, cost = regret.max(axis=2, keepdims=True), cost.sum(axis=2, keepdims=True)
    needed = np.maximum(bound, regret.min(axis=0))
    allowed = regret <= needed * _ALIKE
    allowed[1:, layout.outside] = False
    if allowed[0].all():
        return (), float(needed.max())
    groups = cover(allowed, cost, tick)
    plans = [None, *search.told]
    comms = [
        (int(layout.ranks[group.first]), [(int(layout.cells[cell]), plans[what]) for cell, what in group.rules])
        for group in groups
    ]
    return _comm_rules(search.setting.collective, comms, rules.version.release), float(needed.max())


def _comm_rules(
    collective: str, found: Sequence[tuple[int, Sequence[tuple[int, Plan | None]]]], release: str
) -> tuple[CommRule, ...]:
    """Return rules as those of a file, None being the fixed decision."""
    numbers = {name: number for number, name in algorithms_of(collective, release).items()}

    def message(start: int, plan: Plan | None) -> MessageRule:
        if plan is None:
            return MessageRule(start, NO_RULE)
        return MessageRule(start, numbers[plan.algorithm], plan.fan, plan.segment_bytes)

    comms = [CommRule(P, tuple(message(*rule) for rule in rules)) for P, rules in found]
    if comms[0].messages == (_FIXED,):
        comms[0] = CommRule(0, (_FIXED,))
    elif comms[0].from_ranks > 2:  # the library takes the first rule below its own size as well
        comms.insert(0, CommRule(0, (_FIXED,)))
    return tuple(comms)


def _measured(search: Search, rules: RuleFile, layout: Layout) -> Points:
    """Return what the library takes without rules and with them, at all points."""
    P, n, held_out = layout.points()
    with_rules = Prices(replace(search.setting, rules=rules), P, n)
    default = Prices(search.setting, P, n).taken()[3]
    taken = with_rules.taken()[3]
    return Points(
        P, n, held_out, default, taken, np.fmin.reduce([*Told(with_rules, search.told).seconds, default, taken])
    )
