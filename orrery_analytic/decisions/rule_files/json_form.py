"""The JSON form of rule files, as Open MPI 6.0 reads it: what its parser takes, not what its schema says."""

from __future__ import annotations

import difflib

from orrery_analytic.decisions.names import algorithms_of
from orrery_analytic.decisions.rule_files.json_text import Value, parse
from orrery_analytic.decisions.rule_files.numbers import Text, numbers
from orrery_analytic.decisions.rule_files.problems import Problems, algorithm_list, odd_rules
from orrery_analytic.decisions.rule_files.records import (
    COLLECTIVES,
    DECIDED,
    NO_RULE,
    Collectives,
    CommRule,
    MessageRule,
    signed,
)

__all__ = ["DISTRIBUTIONS", "RELEASE", "read_json"]

#: The first release that reads JSON.
RELEASE = "6.0"
DISTRIBUTIONS = ("any", "one-per-node", "single-node")

_INFINITE = 2**63 - 1
_TOP_KEYS = ("$schema", "collectives", "module", "rule_file_version")
_COMM_KEYS = ("comm_rank_distribution", "comm_size_max", "comm_size_min", "rules")
_MESSAGE_KEYS = ("alg", "faninout", "msg_size_max", "msg_size_min", "reqs", "seg_size")


def read_json(data: bytes, problems: Problems) -> Collectives:
    """Return the rules of a file.

    Raises
    ------
    FormatError
        Where the text is no JSON to the library's parser (the message begins with the line), or the library ignores it.
    """
    root = parse(data)
    _check_keys(root, _TOP_KEYS, problems)
    collectives = root.get("collectives")
    if collectives is None or collectives.kind != "object":
        where = (collectives or root).line
        problems.refuse(where, 'no object "collectives" at the top. Allowed: {"collectives": {"allreduce": [...]}}')
    found: dict[str, tuple[CommRule, ...]] = {}
    for name, comms in collectives.value:
        if name not in COLLECTIVES:
            near = difflib.get_close_matches(name, COLLECTIVES, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            problems.refuse(comms.line, f"unknown collective {name[:40]!r}.{hint} Allowed: {', '.join(COLLECTIVES)}")
        if comms.kind != "array":
            problems.refuse(comms.line, f"{name} holds {_shown(comms)}. Allowed: an array of rules on communicators")
        if name in found:
            problems.note(comms.line, f"rules for {name} once more: these replace the earlier ones")
        found[name] = tuple(_comm(name, comm, problems) for comm in comms.value)
        odd_rules(name, found[name], problems, comms.line)
    if not any(found.values()):
        problems.note(collectives.line, "no rules")
    return tuple((name, comms) for name, comms in found.items() if comms)


def _comm(collective: str, comm: Value, problems: Problems) -> CommRule:
    _check_keys(comm, _COMM_KEYS, problems)
    rules = comm.get("rules")
    least = signed(_integer(comm, "comm_size_min", 0, problems))
    most = signed(_integer(comm, "comm_size_max", 2**31 - 1, problems))
    if most < max(least, 1):
        cut = comm.get("comm_size_max")
        why = ' ("inf" is kept in 32 bits, as -1: leave it out)' if cut is not None and cut.kind == "string" else ""
        problems.note(comm.line, f"{collective}: no communicator has {least} to {most} ranks{why}")
    distribution = comm.get("comm_rank_distribution") or Value("string", "any", comm.line)
    if distribution.kind != "string":
        allowed = ", ".join(DISTRIBUTIONS)
        problems.refuse(distribution.line, f'"comm_rank_distribution" is {_shown(distribution)}. Allowed: {allowed}')
    where = distribution.value
    if where not in DISTRIBUTIONS:
        problems.note(distribution.line, f"comm_rank_distribution {where[:40]!r} is taken as 'any'")
        where = "any"
    if rules is None or rules.kind not in ("array", "object") or (rules.kind == "object" and rules.value):
        found = "missing" if rules is None else _shown(rules)
        problems.refuse(comm.line, f'"rules" is {found} in a rule of {collective}. Allowed: an array')
    messages = [_message(collective, message, problems) for message in rules.value]
    kept = tuple(message for message in messages if message is not None)
    return CommRule(max(least, 0), kept, None if most == 2**31 - 1 else most, where, comm.line)


def _message(collective: str, message: Value, problems: Problems) -> MessageRule | None:
    """Return a rule, or None where the library disables it."""
    _check_keys(message, _MESSAGE_KEYS, problems)
    least = _integer(message, "msg_size_min", 0, problems) % 2**64
    most = _integer(message, "msg_size_max", _INFINITE, problems) % 2**64
    rule = MessageRule(
        from_bytes=least,
        number=NO_RULE,
        fan=max(signed(_integer(message, "faninout", 0, problems)), 0),
        segment_bytes=signed(_integer(message, "seg_size", 0, problems)) % 2**32,
        max_requests=max(signed(_integer(message, "reqs", 0, problems)), 0),
        to_bytes=None if most >= _INFINITE else most,
        line=message.line,
    )
    number = _algorithm(collective, message, problems)
    if number is None:
        return None
    if most < least:
        problems.note(message.line, f"{collective}: no message has {least} to {most} bytes")
    return rule._replace(number=number)


def _algorithm(collective: str, message: Value, problems: Problems) -> int | None:
    """Return the number of the algorithm of a rule; None if there is no such."""
    given = message.get("alg")
    if given is None or given.kind not in ("string", "integer"):
        found = "missing" if given is None else _shown(given)
        problems.note(message.line, f'"alg" is {found}: this is algorithm 0, the fixed decision')
        return NO_RULE
    known = algorithms_of(collective, RELEASE) if collective in DECIDED else {}
    names = {name: number for number, name in known.items()} | {"ignore": NO_RULE}
    number = names.get(given.value.lower()) if given.kind == "string" else signed(given.value)
    if number is None:
        number = _from_text(given.value)
    if number in known or number == NO_RULE:
        return number
    if collective in DECIDED:
        allowed = algorithm_list(collective, RELEASE)
        shown = repr(given.value)[:60]
        problems.note(given.line, f"{collective} has no algorithm {shown}: this rule never holds. Allowed: {allowed}")
    return None


def _from_text(text: str) -> int | None:
    """Return a number that stands in quotes, as C's strtol reads it."""
    if not text:
        return 0
    data = text.encode("utf-8", errors="replace")
    first = next(numbers(Text(data)), None)
    whole = first is not None and first.end == len(data) and not data[: first.start].strip()
    return signed(first.value) if first is not None and whole else None


def _integer(parent: Value, key: str, default: int, problems: Problems) -> int:
    """Return the whole number under a key; "inf" is the largest."""
    value = parent.get(key)
    if value is None:
        return default
    if value.kind == "integer":
        return int(value.value)
    if value.kind == "string" and value.value[:3] in ("inf", "Inf", "INF"):
        return _INFINITE
    return problems.refuse(value.line, f'"{key}" is {_shown(value)}. Allowed: a whole number, or "inf"')


def _check_keys(value: Value, known: tuple[str, ...], problems: Problems) -> None:
    """Note the keys that the library does not look at, and those that are given twice."""
    seen = set()
    for key, item in value.value if value.kind == "object" else ():
        if key not in known:
            problems.note(item.line, f"{key[:40]!r} is not looked at. Known: {', '.join(known)}")
        elif key in seen:
            problems.note(item.line, f"{key!r} once more: the first one counts")
        seen.add(key)


def _shown(value: Value) -> str:
    return f"an {value.kind}" if value.kind in ("array", "object") else repr(value.value)[:60]
