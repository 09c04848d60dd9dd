"""The text of a rule file, in each of its forms."""

from __future__ import annotations

import json
from typing import Any

from orrery_analytic.decisions.names import algorithms_of
from orrery_analytic.decisions.rule_files.classic import HEADER
from orrery_analytic.decisions.rule_files.contents import Contents
from orrery_analytic.decisions.rule_files.heading import heading
from orrery_analytic.decisions.rule_files.records import (
    COLLECTIVES,
    DECIDED,
    NO_RULE,
    QUANTITIES,
    CommRule,
    MessageRule,
)
from orrery_analytic.decisions.rule_files.steps import Steps, comm_steps, message_steps
from orrery_analytic.errors import FormatError, choose

__all__ = ["FORMS", "written"]

FORMS = ("classic", "version-2", "json")

_FIXED = MessageRule(0, NO_RULE)
_BYTES = {
    "n": "n of the call",
    "P n": "P n, the bytes of all ranks",
    "P itemsize": "P times the bytes of one element",
    "0": "0 for every call",
    "": "",
}


def written(rules: Contents, form: str) -> str:
    """Return rules as the text of a file in one of `FORMS`."""
    choose("form of a rule file", form, FORMS)
    return _json(rules) if form == "json" else _text(rules, form == "version-2")


def _text(rules: Contents, second: bool) -> str:
    release = "5.0" if rules.form == "json" or second else rules.version.release
    head = [f"{HEADER}2"] if second else []
    since = "5.0.7" if second else release
    lines = [*head, *heading(since, rules.comments)]
    lines.append(f"{len(rules.rules)}  # collectives")
    for collective, comms in rules.rules:
        plain = _unbounded(rules, collective, comms) if rules.form == "json" else comms
        names = algorithms_of(collective, release) if collective in DECIDED else {}
        lines += ["", f"{COLLECTIVES.index(collective)}  # {collective}", f"{len(plain)}  # communicator sizes"]
        for comm in plain:
            lines.append(f"{comm.from_ranks}  # ranks and more")
            lines.append(f"{len(comm.messages)}  # rules: bytes ({_BYTES[QUANTITIES.get(collective, '')]}),")
            lines[-1] += " algorithm, fan, bytes of a segment" + (", most requests" if second else "")
            lines += [_line(rules, collective, rule, names, second) for rule in comm.messages]
    return "\n".join([*lines, ""])


def _line(rules: Contents, collective: str, rule: MessageRule, names: dict[int, str], second: bool) -> str:
    if rule.max_requests and not second:
        what = f"line {rule.line} allows {rule.max_requests} requests, and the classic form has no number for them"
        raise FormatError(f"{rules.name}: {what}. Allowed: form='version-2' or 'json'.")
    if collective in DECIDED and rule.number != NO_RULE and rule.number not in names:
        given = rules.algorithms(collective).get(rule.number, "")
        what = f"line {rule.line} takes algorithm {rule.number} {given} of {collective}, which came with 6.0"
        raise FormatError(f"{rules.name}: {what}. Allowed: form='json'.")
    columns = [rule.from_bytes, rule.number, rule.fan, rule.segment_bytes, *([rule.max_requests] if second else [])]
    name = "the fixed decision" if rule.number == NO_RULE else names.get(rule.number, "")
    return " ".join(map(str, columns)) + (f"  # {name}" if name else "")


def _unbounded(rules: Contents, collective: str, comms: tuple[CommRule, ...]) -> tuple[CommRule, ...]:
    """Return rules with bounds as rules that hold up to the next one; where there is none, the fixed decision."""
    for comm in comms:
        if comm.distribution != "any":
            what = f"line {comm.line}: rules of {collective} hold for {comm.distribution} alone"
            raise FormatError(f"{rules.name}, {what}, which the forms of text cannot say. Allowed: form='json'.")
    plain = []
    for start, _, i in comm_steps(comms, bounded=True).pieces():
        messages = [_FIXED] if i < 0 else _plain(message_steps(comms[i], bounded=True), comms[i])
        plain.append(CommRule(start, tuple(messages)))
    return tuple(plain)


def _plain(steps: Steps, comm: CommRule) -> list[MessageRule]:
    return [
        (_FIXED if i < 0 else comm.messages[i])._replace(from_bytes=start, to_bytes=None)
        for start, _, i in steps.pieces()
    ]


def _json(rules: Contents) -> str:
    bounded = rules.form == "json"
    collectives: dict[str, list[Any]] = {}
    for collective, comms in rules.rules:
        names = algorithms_of(collective, "6.0") if collective in DECIDED else {}
        found = collectives.setdefault(collective, [])
        if bounded:
            found += [_comm(comm, comm.from_ranks, comm.to_ranks, names, bounded) for comm in comms]
        else:
            pieces = comm_steps(comms, bounded).pieces()
            found += [_comm(comms[i], start, end, names, bounded) for start, end, i in pieces]
    text = {"rule_file_version": 3, "module": "tuned", "collectives": collectives}
    return json.dumps(text, indent=2) + "\n"


def _comm(comm: CommRule, start: int, end: int | None, names: dict[int, str], bounded: bool) -> dict[str, Any]:
    item: dict[str, Any] = {"comm_size_min": start}
    if end is not None:
        item["comm_size_max"] = end
    if comm.distribution != "any":
        item["comm_rank_distribution"] = comm.distribution
    if bounded:
        item["rules"] = [_rule(rule, rule.from_bytes, rule.to_bytes, names) for rule in comm.messages]
    else:
        pieces = message_steps(comm, bounded).pieces()
        item["rules"] = [_rule(comm.messages[i], start, end, names) for start, end, i in pieces if i >= 0]
    return item


def _rule(rule: MessageRule, start: int, end: int | None, names: dict[int, str]) -> dict[str, Any]:
    item: dict[str, Any] = {"msg_size_min": start}
    if end is not None:
        item["msg_size_max"] = end
    item["alg"] = "ignore" if rule.number == NO_RULE else names.get(rule.number, rule.number)
    knobs = {"faninout": rule.fan, "seg_size": rule.segment_bytes, "reqs": rule.max_requests}
    return item | {key: value for key, value in knobs.items() if value}
