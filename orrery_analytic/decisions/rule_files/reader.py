"""`read_rules`: a rule file in any of its forms, found by content."""

from __future__ import annotations

from orrery_analytic.decisions.names import algorithms_of
from orrery_analytic.decisions.rule_files.build import check_library
from orrery_analytic.decisions.rule_files.classic import HEADER, SECOND_FORM, has_header, read_classic
from orrery_analytic.decisions.rule_files.heading import own_heading
from orrery_analytic.decisions.rule_files.json_form import RELEASE, read_json
from orrery_analytic.decisions.rule_files.problems import Problems
from orrery_analytic.decisions.rule_files.records import DECIDED, Collectives
from orrery_analytic.decisions.rule_files.rule_file import RuleFile
from orrery_analytic.decisions.rule_files.source import Source, load
from orrery_analytic.decisions.versions import Version, version_of
from orrery_analytic.errors import FormatError

__all__ = ["read_rules"]


def read_rules(source: Source, library: str | None = None) -> RuleFile:
    """Return the rules of a file that Open MPI's coll_tuned_dynamic_rules_filename names, as Open MPI reads it.

    Parameters
    ----------
    source
        A path, text with at least one line break, bytes, or an open file; at most 16 MiB.
    library
        The version of Open MPI that is to read it, "4.1.6", "5.0": algorithms and forms differ. Without it, that of the
        first line of a file written here, or the first that takes the form: 4.1 (5.0 if an algorithm came with that)
        for the classic form, 5.0.7 for "rule-file-version-2", 6.0 for JSON. In 5.0 coll/han may answer before any rule;
        `select(..., rules=..., ranks_per_node=...)` says where.

    Returns
    -------
    RuleFile
        With what is accepted but odd in `problems`.

    Raises
    ------
    FileMissingError
        If there is no such file.
    FormatError
        Where the library would not use the file, or end the job: the line, what was found, what is allowed, and what
        the library does.
    UnknownNameError
        For another library.

    Notes
    -----
    The library looks at rule files, and at algorithms that are forced, only with coll_tuned_use_dynamic_rules = 1, and
    tells nobody when it ignores a file. In 5.0 a forced algorithm comes before the file, in 4.1 after it. Sources: Open
    MPI, coll/tuned; the reader of 4.1.4 held against the library itself; JSON and ``rule-file-version-2`` from reading.
    """
    if library is not None:
        check_library(library, ("4.1", "5.0", RELEASE))
    name, data = load(source)
    looks_json = data.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n").startswith(b"{")
    version = version_of(library)
    if looks_json and (version is None or version.release == RELEASE):
        return _json(name, data)
    if version is not None and version.release == RELEASE:
        raise FormatError(
            f"{name} is no JSON. Open MPI {RELEASE} still reads the classic form, but matches it in another way, which "
            "is not held here. Allowed: library='4.1' or '5.0', or JSON."
        )
    header, own = has_header(data), own_heading(data)
    since, comments = own or ("4.1", ())
    if version is None and not header and since == "5.0":  # in one for 4.1, algorithms of 5.0 are still told as such
        library, version = since, Version(5, 0)
    release = "5.0" if version is None else version.release
    if version is None:
        version = SECOND_FORM if header else Version(4, 1)
    problems = Problems(name, library or (str(SECOND_FORM) if header else "4.1"))
    try:
        # A release without a patch is the last one.
        reader = version if version.patch is not None or version.release != "5.0" else version._replace(patch=99)
        form, rules = read_classic(data, problems, reader, release)
    except FormatError as error:
        hint = f" The header {HEADER}2 is known from {SECOND_FORM} on." if header and version < SECOND_FORM else ""
        hint = f" JSON is read from {RELEASE} on." if looks_json else hint
        raise FormatError(f"{error}{hint}") from None
    if looks_json:
        problems.note(1, f"JSON is read from {RELEASE} on: these are the rules that its numbers happen to make")
    return RuleFile(form, library or _oldest(form, rules, problems), rules, name, problems.listed(), comments)


def _oldest(form: str, rules: Collectives, problems: Problems) -> str:
    """Return the first version that reads these rules and has all of their algorithms."""
    if form == "version-2":
        return str(SECOND_FORM)
    for collective, comms in rules:
        known = algorithms_of(collective, "4.1") if collective in DECIDED else {}
        for rule in (rule for comm in comms for rule in comm.messages if known and rule.number):
            if rule.number not in known:
                what = f"algorithm {rule.number} of {collective} came with 5.0; in 4.1 calls that take it end the job"
                problems.note(rule.line, what)
                return "5.0"
    return "4.1"


def _json(name: str, data: bytes) -> RuleFile:
    problems = Problems(name, RELEASE)
    try:
        rules = read_json(data, problems)
    except FormatError as error:
        if not str(error).startswith("line "):
            raise
        raise FormatError(f"{name}, {error}. {_as_classic(data)}") from None
    return RuleFile("json", RELEASE, rules, name, problems.listed())


def _as_classic(data: bytes) -> str:
    """Return what the library makes of a text that is no JSON: it tries the classic form."""
    begin = f"Open MPI {RELEASE} then reads it in the classic form"
    try:
        read_classic(data, Problems("", RELEASE), SECOND_FORM, "5.0")
    except FormatError:
        return f"{begin}, fails again, ignores the whole file in silence and takes its fixed decision."
    return f"{begin}, and takes the rules that its numbers happen to make."
