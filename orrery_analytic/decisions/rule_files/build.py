"""Rules from Python: {collective: {ranks: [(n, algorithm, segment_bytes, fan), ...]}} as those of a classic file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from orrery_analytic.decisions.names import ALGORITHMS, algorithms_of
from orrery_analytic.decisions.rule_files.records import (
    COLLECTIVES,
    LARGEST,
    NO_RULE,
    QUANTITIES,
    Collectives,
    CommRule,
    MessageRule,
)
from orrery_analytic.decisions.versions import version_of
from orrery_analytic.decisions.whole import LARGEST_COUNT, LARGEST_SIZE, one
from orrery_analytic.errors import QuantityError, choose, unknown_name
from orrery_analytic.units import shown

__all__ = ["build", "check_library"]

_TEXT_RELEASES = ("4.1", "5.0")
_FIXED = MessageRule(0, NO_RULE)
_INT = 2**31 - 1


def check_library(library: object, releases: Sequence[str] = _TEXT_RELEASES) -> str:
    """Return the release of a version of Open MPI whose rule files are known here."""
    version = version_of(library)
    if version is None or version.release not in releases:
        raise unknown_name("library", library, releases)
    return version.release


def build(rules: Mapping[str, Mapping[int, Sequence[Sequence[Any]]]], library: str) -> Collectives:
    """Return the rules of a file from those of `RuleFile.of`, in the order of the collectives' numbers."""
    release = check_library(library)
    if not isinstance(rules, Mapping):
        raise QuantityError(f"rules = {type(rules).__name__}: allowed is {{collective: {{ranks: [(n, algorithm)]}}}}.")
    names = sorted((choose("collective", name, ALGORITHMS) for name in rules), key=COLLECTIVES.index)
    found = ((name, _comms(name, rules[name], release)) for name in names)
    return tuple((name, comms) for name, comms in found if comms)


def _comms(collective: str, sizes: Mapping[int, Sequence[Sequence[Any]]], release: str) -> tuple[CommRule, ...]:
    if not isinstance(sizes, Mapping):
        raise QuantityError(f"rules of {collective}: allowed is {{ranks: [(n, algorithm), ...]}}, not {shown(sizes)}.")
    checked = sorted((one(f"ranks of {collective}", P, 1, LARGEST_SIZE), steps) for P, steps in sizes.items())
    comms = [CommRule(P, _messages(collective, P, steps, release)) for P, steps in checked]
    # The library takes the first rule below its own size as well. One rank asks nobody.
    return ((CommRule(0, (_FIXED,)),) if comms and comms[0].from_ranks > 2 else ()) + tuple(comms)


def _messages(collective: str, P: int, steps: Sequence[Sequence[Any]], release: str) -> tuple[MessageRule, ...]:
    where = f"{collective} from {P} ranks on"
    if not isinstance(steps, Sequence) or isinstance(steps, str):
        raise QuantityError(f"{where}: {shown(steps)}. Allowed: a list of (n, algorithm).")
    messages = [_message(collective, P, step, release, where) for step in steps]
    if not messages or messages[0].from_bytes > 0:
        messages.insert(0, _FIXED)
    if len(messages) > 1 and QUANTITIES[collective] in ("0", "P itemsize"):
        raise QuantityError(
            f"{where}: the library does not look at the bytes of a call. Allowed: one rule, from n = 0."
        )
    for before, message in pairwise(messages):
        if message.from_bytes <= before.from_bytes:
            raise QuantityError(f"{where}: n must ascend.")
    return tuple(messages)


def _message(collective: str, P: int, step: Sequence[Any], release: str, where: str) -> MessageRule:
    if not isinstance(step, Sequence) or isinstance(step, str) or not 2 <= len(step) <= 4:
        raise QuantityError(f"{where}: {shown(step)}. Allowed: (n, algorithm), then segment_bytes and fan if wanted.")
    n, algorithm, segment_bytes, fan = (*step, 0, 0)[:4]
    factor = P if QUANTITIES[collective] == "P n" else 1
    # A file says the bytes of all ranks, in a C long.
    nbytes = factor * one(f"n of {where}", n, 0, min(LARGEST_COUNT, LARGEST // factor))
    return MessageRule(
        from_bytes=nbytes,
        number=_number(collective, algorithm, release),
        fan=one(f"fan of {where}", fan, 0, _INT),
        segment_bytes=one(f"segment_bytes of {where}", segment_bytes, 0, _INT),
    )


def _number(collective: str, algorithm: object, release: str) -> int:
    known = algorithms_of(collective, release)
    if isinstance(algorithm, int) and not isinstance(algorithm, bool) and (algorithm in known or algorithm == NO_RULE):
        return algorithm
    numbers = {"fixed": NO_RULE} | {name: number for number, name in known.items()}
    return numbers[choose(f"{collective} algorithm", algorithm, numbers)]
