"""Rule files: what is read, what is taken, what is refused and why, and there and back in each form."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import re
import time

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import orrery_analytic as oa
from orrery_analytic.decisions import CommRule, MessageRule, RuleFile, read_rules, rule_set, select
from orrery_analytic.decisions.names import algorithms_of
from orrery_analytic.decisions.rule_files.numbers import Text, numbers
from orrery_analytic.decisions.rule_files.records import COLLECTIVES, QUANTITIES
from orrery_analytic.decisions.rule_files.write import FORMS
from orrery_analytic.errors import FileMissingError, FormatError, OrreryError, QuantityError, UnknownNameError

PEOPLE_WRITE = """\
2             # Number of collectives
2             # Collective ID: allreduce
2             # Number of com sizes
8             # Com size
2             # Number of message sizes
0 3 0 0       # Message size 0, algorithm 3, topo and segmentation at 0
1024 5 0 64   # segmented ring
64
1
0 0 0 0
7             # bcast
1
2
1
0 2 4 8192    # chain
"""

TRAILING_COMMAS = """\
{
  "rule_file_version": 3, "module": "tuned",
  "collectives": {
    "allreduce": [
      {"comm_size_min": 64, "comm_size_max": 128,
       "rules": [{"msg_size_min": 512, "msg_size_max": 511999, "alg": 2,},
                 {"msg_size_min": 512000, "msg_size_max": "inf", "alg": "Recursive_Doubling", "reqs": 8}]},
      {"comm_size_min": 100, "rules": [{"alg": "ring", "seg_size": 64}]},
    ],
  }
}
"""


def numbers_of(text: bytes) -> list[int]:
    return [number.value for number in numbers(Text(text))]


def refused(text: str | bytes, **options: str) -> str:
    with pytest.raises(FormatError) as caught:
        read_rules(text, **options)
    return str(caught.value)


def taken(rules: RuleFile, collective: str, P: object, n: object, **options: object) -> list[object]:
    return np.asarray(select(collective, P, n, rules=rules, **options).number).tolist()


# --- numbers, as C reads them


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (b"12 3\t4\r\n5\x0b6\x0c7", [12, 3, 4, 5, 6, 7]),
        (b"# 1\n2 # 3\n#\n4#5", [2, 4]),
        (b"010 0x1F -0x10 +7", [8, 31, -16, 7]),
        (b"08 1.5 1e6 1,000", [0, 8, 1, 5, 1, 6, 1, 0]),
        (b"0x 0xg5 00x5 0b11", [0, 0, 5, 0, 5, 0, 11]),
        (b"--5 - 5 -x5 +-3 ---5 -#7\n8", [5, 5, 5, 3, -5, 8]),
        (b"rule-file-version-2", [-2]),
        (b"9" * 5000 + b" -" + b"9" * 30 + b" 0x" + b"f" * 5000, [2**63 - 1, -(2**63), 2**63 - 1]),
        (b"5\x006 \xc2\xa07 -", [5, 6, 7]),
        (b"", []),
    ],
)
def test_numbers_are_those_that_c_finds(text, values):
    assert numbers_of(text) == values


# --- the classic form


def test_a_file_as_people_write_it():
    rules = read_rules(PEOPLE_WRITE)
    assert (rules.form, rules.library, rules.name) == ("classic", "4.1", "<text>")
    assert rules.collectives == {
        "allreduce": (
            CommRule(8, (MessageRule(0, 3, line=6), MessageRule(1024, 5, segment_bytes=64, line=7)), line=4),
            CommRule(64, (MessageRule(0, 0, line=10),), line=8),
        ),
        "bcast": (CommRule(2, (MessageRule(0, 2, fan=4, segment_bytes=8192, line=15),), line=13),),
    }
    assert rules.problems == ("line 4: allreduce: the rules from 8 ranks on are taken on fewer ranks too",)
    assert str(rules) == "<text> (classic, Open MPI 4.1)"
    assert repr(rules) == "<RuleFile <text> (classic, Open MPI 4.1): allreduce: 3, bcast: 1>"


def test_line_breaks_comments_and_junk_mean_nothing():
    text = "rules: 1; allreduce = 2 (1) @ 1 / 1, 0 4 0 0 # 3 3 3\n"
    rules = read_rules(text)
    assert taken(rules, "allreduce", 4, 100) == 4
    assert rules.problems[0] == "line 1: 'rules:' is skipped: it is no number"


def test_the_first_rule_holds_below_its_size_too():
    chosen = select("allreduce", [1, 2, 7, 8, 63, 64], [[0], [1023], [1024]], rules=read_rules(PEOPLE_WRITE))
    assert chosen.number[:, :5].tolist() == [[0, 3, 3, 3, 3], [0, 3, 3, 3, 3], [0, 5, 5, 5, 5]]
    assert chosen.name[:, 5].tolist() == [select("allreduce", 64, n).name for n in (0, 1023, 1024)]
    assert chosen.segment_bytes[2].tolist() == [0, 64, 64, 64, 64, 0]
    assert chosen.reason[1].tolist()[1:] == [
        *["<text>, line 6: P >= 8, or fewer as it is the first rule, 0 <= n <= 1023"] * 4,
        "<text>, line 10, leaves it to the fixed decision: P < 128 and n < 262144",
    ]
    assert select("allreduce", 1, 5, rules=read_rules(PEOPLE_WRITE)).reason == "P == 1: coll/self answers"


@pytest.mark.parametrize(
    ("sizes", "at", "rules"),
    [
        ((0, 100, 50, 200), (0, 49, 50, 99, 100, 199, 200), (1, 1, 1, 1, 3, 3, 4)),  # 100 is passed with 50
        ((0, 300, 200, 400), (0, 250, 299, 300, 400), (1, 1, 1, 3, 4)),
        ((0, 0, 5), (0, 4, 5), (2, 2, 3)),
    ],
)
def test_sizes_that_do_not_ascend_are_walked_as_they_stand(sizes, at, rules):
    rows = "\n".join(f"{size} {i} 0 0" for i, size in enumerate(sizes, start=1))
    read = read_rules(f"1 2 1 1 {len(sizes)}\n{rows}\n")
    assert taken(read, "allreduce", 8, at) == list(rules)
    assert any("bytes after" in problem for problem in read.problems)


def test_communicator_sizes_that_do_not_ascend():
    read = read_rules("1 2 3\n8 1 0 1 0 0\n4 1 0 2 0 0\n16 1 0 3 0 0\n")
    assert taken(read, "allreduce", [2, 4, 7, 8, 15, 16], 10) == [1, 1, 1, 2, 2, 3]
    assert "line 3: allreduce: 4 ranks after 8" in read.problems


@pytest.mark.parametrize(
    ("collective", "quantity"),
    [
        ("allgather", lambda P, n, size: P * n),
        ("allgatherv", lambda P, n, size: n),
        ("allreduce", lambda P, n, size: n),
        ("alltoall", lambda P, n, size: P * n),
        ("alltoallv", lambda P, n, size: 0),
        ("barrier", lambda P, n, size: 0),
        ("bcast", lambda P, n, size: n),
        ("exscan", lambda P, n, size: P * size),
        ("gather", lambda P, n, size: P * n),
        ("reduce", lambda P, n, size: n),
        ("reduce_scatter", lambda P, n, size: n),
        ("reduce_scatter_block", lambda P, n, size: P * n),
        ("scan", lambda P, n, size: P * size),
        ("scatter", lambda P, n, size: P * n),
    ],
)
def test_what_is_compared_with_the_sizes_of_a_file(collective, quantity):
    rules = read_rules(f"1 {COLLECTIVES.index(collective)} 1 1 2\n0 1 0 0\n1200 2 0 0\n")
    for P, n, size in [(3, 399, 4), (3, 400, 4), (3, 1199, 8), (3, 1200, 8), (150, 1, 8), (149, 2**50, 8)]:
        want = 2 if quantity(P, n, size) >= 1200 else 1
        assert taken(rules, collective, P, n, itemsize=size) == want, (P, n, size)


def test_products_beyond_64_bits_stay_large():
    rules = read_rules(f"1 0 1 1 2\n0 1 0 0\n{2**63 - 1} 2 0 0\n")
    assert taken(rules, "allgather", 2**31 - 1, [1, 2**50]) == [1, 2]


def test_collectives_without_rules_and_algorithm_0_are_decided_as_without_a_file():
    rules = read_rules("2\n3 0\n2 1 1 1 0 0 0 0\n")
    for collective in ("allreduce", "alltoall", "barrier", "scan"):
        fixed, ruled = select(collective, 100, 5000), select(collective, 100, 5000, rules=rules)
        assert (fixed.number, fixed.name) == (ruled.number, ruled.name)
        assert ruled.reason.endswith(f"fixed decision: {fixed.reason}")
    assert select("alltoall", 9, 5, rules=rules).reason.startswith("no rule in <text>: the fixed decision: ")
    assert rules.collectives.keys() == {"allreduce"}


def test_scan_and_exscan_are_decided_by_tuned_where_a_rule_is():
    rules = read_rules("1\n14 1 1 1 0 2 0 0\n")
    assert select("scan", 8, 4, rules=rules).name == "recursive_doubling"
    assert select("exscan", 8, 4, rules=rules).name == "linear"


def test_later_rules_for_a_collective_replace_the_earlier():
    rules = read_rules("2\n2 1 1 1 0 3 0 0\n2 1 1 1 0 4 0 0\n")
    assert taken(rules, "allreduce", 8, 8) == 4
    assert rules.problems == ("line 3: rules for allreduce once more: these replace the earlier ones",)
    assert read_rules("2\n2 1 1 1 0 3 0 0\n2 0\n").collectives == {}


def test_numbers_that_no_int_holds_lose_their_upper_bits():
    rules = read_rules(f"1 2 2\n0 1 0 3 0 0\n{2**32 + 4} 1 0 {2**32 + 4} {2**32 + 2} {2**32 - 1}\n")
    chosen = select("allreduce", [3, 4], 8, rules=rules)
    assert chosen.number.tolist() == [3, 4]
    assert (chosen.fan.tolist(), chosen.segment_bytes.tolist()) == ([0, 2], [0, 2**32 - 1])
    assert "line 3: 4294967300 becomes 4: it is kept in 32 bits" in rules.problems


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("1 2 1 1 1\n0 03 0 0", "line 2: '03' is 3: a leading 0 makes it octal"),
        ("1 2 1 1 1\n0 3 0\n0", "line 2: a rule runs over its line: is the number in line 1 right?"),
        ("1 2 1 1 1\n0 3 0 0\n7 7", "line 3: numbers after the last rule are not read"),
        ("0\n", "line 1: no rules"),
        ("1\n10 1 1 1 0 99 0 0\n", "line 2: coll/tuned decides nothing for gatherv: these rules are never looked at"),
        ("1 6 1 1 2\n0 1 0 0\n8 2 0 0\n", "line 1: barrier looks for 0 bytes: only the rule for these is ever taken"),
        ("1 14 1 1 2\n0 1 0 0\n8 2 0 0\n", "line 1: scan looks for P times the bytes of one element"),
        ("1 0 1 2 1\n0 6 0 0\n", "line 2: two_proc: calls on other than 2 ranks that take it end in an error"),
        (
            "1 0 1 1 1\n0 7 0 0\n",
            "line 2: algorithm 7 of allgather came with 5.0; in 4.1 calls that take it end the job",
        ),
    ],
)
def test_what_is_accepted_but_odd_is_listed(text, problem):
    assert any(found.startswith(problem) for found in read_rules(text + "\n").problems)


def test_many_problems_are_counted():
    rows = "\n".join("5 3 0 0" for _ in range(100))
    problems = read_rules(f"1 2 1 1 101\n0 3 0 0\n{rows}\n").problems
    assert (len(problems), problems[-1]) == (21, "and 79 more")


# --- refused


IGNORED = "Open MPI 4.1 ignores the whole file in silence and takes its fixed decision."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n", f"<text>, line 2: the file ends where the number of collectives is due. {IGNORED}"),
        ("1\n2 1\n1 1\n0 3 0\n", f"<text>, line 5: the file ends where the segment size of a rule is due. {IGNORED}"),
        ("23\n", f"<text>, line 1: the number of collectives is '23'. Allowed: 0 to 22. {IGNORED}"),
        ("1\n22 0\n", f"<text>, line 2: the number of a collective is '22'. Allowed: 0 to 21. {IGNORED}"),
        ("1 2 1 1 1\n0 -3 0 0\n", "line 2: the algorithm of a rule is '-3'. Allowed: whole numbers from 0 on."),
        ("1 2 1 4 1\n8 3 0 0\n", "line 2: the first rule of allreduce from 4 ranks on begins at 8 bytes. Allowed: 0."),
        (
            "1 2 1 1 1\n0 9 0 0\n",
            "<text>, line 2: algorithm 9 of allreduce. Allowed: 0 the fixed decision, 1 basic_linear, 2 nonoverlapping,"
            " 3 recursive_doubling, 4 ring, 5 segmented_ring, 6 rabenseifner. Open MPI 4.1 reads the file, but calls"
            " that take this rule fail with MPI_ERR_ARG, which ends the job.",
        ),
        # A file that is ignored fails no call.
        ("2 2 1 1 1\n0 9 0 0\n2 1 1 1\n8 3 0 0\n", "line 4: the first rule of allreduce from 1 ranks on"),
        # A number of rules that is one too large.
        (
            "1 2 2\n2\n3 # rules\n0 3 0 0\n8 4 0 0\n64\n1\n0 3 0 64\n",
            "The rule of line 6 runs over its end: is the number in line 3 right? Open MPI 4.1 ignores",
        ),
    ],
)
def test_a_bad_file_says_where_what_is_allowed_and_what_the_library_does(text, message):
    assert message in refused(text)


def test_numbers_of_the_version_that_reads():
    text = "1 0 1 1 1\n0 7 0 0\n"
    assert read_rules(text, library="5.0").collectives == read_rules(text).collectives
    assert read_rules(text).library == "5.0"
    assert "algorithm 7 of allgather (sparbit came with 5.0)" in refused(text, library="4.1.6")


def test_counts_that_the_file_does_not_hold_are_refused_at_once():
    start = time.perf_counter()
    for text in ("22 0 2147483647 1", "1 2 1 1 2147483647 0 3 0 0", "1 2 99999999999999999999\n"):
        assert "the file ends where" in refused(text.encode())
    assert time.perf_counter() - start < 1


def test_large_files_are_read_and_larger_ones_refused():
    many = 20000
    rows = "".join(f"{i} 3 0 0\n" for i in range(many))
    rules = read_rules(f"1 2 1 1 {many}\n{rows}{'# nothing' * 500000}\n")
    assert len(rules.collectives["allreduce"][0].messages) == many
    assert taken(rules, "allreduce", 8, 12345) == 3
    assert "larger than 16 MiB" in refused(b" " * (2**24 + 1))


@pytest.mark.parametrize("library", ["4.0.7", "3.1", "mpich", "", None.__class__, 4.1])
def test_libraries_whose_files_are_not_held(library):
    with pytest.raises(UnknownNameError, match=r"unknown library .* Allowed: 4\.1, 5\.0, 6\.0"):
        read_rules(PEOPLE_WRITE, library=library)


def test_classic_files_under_6_0_are_matched_in_another_way():
    assert "Open MPI 6.0 still reads the classic form, but matches it in another way" in refused(
        PEOPLE_WRITE, library="6.0"
    )


# --- the second form


SECOND = "rule-file-version-2\n1 3 1 1 3\n0 4 0 0 64\n100 4 0 0 # none\n200 4 0 0\t8\n"


def test_the_second_form_may_say_the_most_requests():
    rules = read_rules(SECOND)
    assert (rules.form, rules.library) == ("version-2", "5.0.7")
    assert [rule.max_requests for rule in rules.collectives["alltoall"][0].messages] == [64, 0, 8]
    assert read_rules(SECOND, library="5.0").form == read_rules(SECOND, library="5.0.11").form == "version-2"


@pytest.mark.parametrize("library", ["4.1", "4.1.6", "5.0.0", "5.0.6"])
def test_older_releases_ignore_the_second_form(library):
    message = refused(SECOND, library=library)
    assert "line 1: the number of collectives is '-2'" in message
    assert message.endswith("The header rule-file-version-2 is known from 5.0.7 on.")
    assert f"Open MPI {library} ignores the whole file" in message


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("rule-file-version-1\n1 2 1 1 1\n0 3 0 0\n", "classic"),
        ("rule-file-version- 3 # later\n1 2 1 1 1\n0 3 0 0 5\n", "version-2"),
        ("1 2 1 1 1\n0 3 0 0\n", "classic"),
    ],
)
def test_headers(text, form):
    assert read_rules(text, library="5.0.8").form == form


def test_a_header_that_does_not_begin_the_file_is_none():
    assert "the number of collectives is '-2'" in refused("# rules\nrule-file-version-2\n1 0 0\n", library="5.0.8")
    assert "the number of collectives is '-2'" in refused("rule-file-versiom-2\n1 0 0\n", library="5.0.8")


# --- JSON


def test_json_takes_the_first_rule_that_matches_with_both_bounds():
    rules = read_rules(TRAILING_COMMAS)
    assert (rules.form, rules.library, rules.problems) == ("json", "6.0", ())
    P, n = [[63], [64], [128], [129]], [0, 511, 512, 511999, 512000, 2**40]
    chosen = select("allreduce", P, n, rules=rules)
    fixed = select("allreduce", P, n).number
    assert chosen.number.tolist() == [
        fixed[0].tolist(),
        [*fixed[1, :2].tolist(), 2, 2, 3, 3],
        [*fixed[2, :2].tolist(), 2, 2, 3, 3],
        [4] * 6,
    ]
    assert chosen.segment_bytes[3].tolist() == [64] * 6
    assert chosen.reason[1, 2] == "<text>, line 6: 64 <= P <= 128, 512 <= n <= 511999"
    assert chosen.reason[3, 0] == "<text>, line 8: P >= 100, any n"
    assert chosen.reason[0, 3].startswith("no rule in <text>: the fixed decision: ")
    assert "the fixed decision of 6.0 is not held here" in chosen.note[0, 3]
    assert chosen.note[3, 3] == ""


def json_file(comm: str, collective: str = "allreduce") -> str:
    return f'{{"collectives":\n{{"{collective}":\n[{comm}]}}}}\n'


@pytest.mark.parametrize(
    ("comm", "problem", "number"),
    [
        (
            '{"comm_size_max": "inf", "rules": [{"alg": 3}]}',
            'line 3: allreduce: no communicator has 0 to -1 ranks ("inf"',
            6,
        ),
        ('{"rules": [{"alg": 12}, {"alg": 3}]}', "line 3: allreduce has no algorithm 12: this rule never holds", 3),
        ('{"rules": [{"alg": "ringg"}, {"alg": " 0x3"}]}', "line 3: allreduce has no algorithm 'ringg'", 3),
        ('{"rules": [{"seg_size": 5}]}', 'line 3: "alg" is missing: this is algorithm 0, the fixed decision', 6),
        ('{"rules": [{"alg": "IGNORE", "size": 3}]}', "line 3: 'size' is not looked at", 6),
        (
            '{"comm_rank_distribution": "all", "rules": [{"alg": 3}]}',
            "line 3: comm_rank_distribution 'all' is taken",
            3,
        ),
        ('{"rules": [{"alg": 3, "alg": 4}]}', "line 3: 'alg' once more: the first one counts", 3),
        (
            '{"rules": [{"msg_size_min": 9, "msg_size_max": 8, "alg": 3}]}',
            "line 3: allreduce: no message has 9 to 8",
            6,
        ),
        ('{"rules": [{"msg_size_max": -1, "alg": 3}]}', "", 3),
        ('{"rules": [{"alg": 7}]}', "", 7),
    ],
)
def test_json_that_is_accepted_but_odd(comm, problem, number):
    rules = read_rules(json_file(comm))
    assert any(found.startswith(problem) for found in rules.problems) if problem else rules.problems == ()
    assert taken(rules, "allreduce", 64, 10**6) == number


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"collectives": 3}\n', 'line 1: no object "collectives" at the top.'),
        (json_file("", "reducescatter"), "line 3: unknown collective 'reducescatter'. Did you mean 'reduce_scatter'?"),
        (json_file('{"rules": 3}'), 'line 3: "rules" is 3 in a rule of allreduce. Allowed: an array.'),
        (json_file("{}"), 'line 3: "rules" is missing in a rule of allreduce.'),
        (
            json_file('{"comm_size_min": 1.5, "rules": []}'),
            "line 3: \"comm_size_min\" is '1.5'. Allowed: a whole number",
        ),
        (json_file('{"comm_size_min": 99999999999999999999, "rules": []}'), 'line 3: "comm_size_min" is'),
        (
            json_file('{"comm_rank_distribution": 1, "rules": []}'),
            'line 3: "comm_rank_distribution" is 1. Allowed: any,',
        ),
        ('{"collectives": {"bcast": {}}}\n', "line 1: bcast holds an object. Allowed: an array of rules"),
    ],
)
def test_json_that_the_library_ignores(text, message):
    found = refused(text)
    assert message in found
    assert found.endswith("Open MPI 6.0 ignores the whole file in silence and takes its fixed decision.")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"collectives"\n: {"bcast" []}}\n', "line 2: a colon is due, but '[]}}\\n' was found."),
        ('{"a": 1 "b": 2}\n', "line 1: a comma or '}' is due"),
        ('{"a": [1 2]}\n', "line 1: a comma or ']' is due"),
        ('{"a": [,1]}\n', "line 1: a value is due"),
        ('{"a": 01}\n', "line 1: a value is due"),
        ('{"a": 1.}\n', "line 1: a value is due"),
        ("{a: 1}\n", "line 1: a key in quotes is due"),
        ('{"a": 1}\n\n# 3', "line 3: the end of the text is due"),
        ('{"a": 1\n', "is due, but the end of the text was found"),
        ('{"a": "x\n', "line 1: a value is due"),
    ],
)
def test_json_that_is_none(text, message):
    found = refused(text)
    assert message in found
    assert "Open MPI 6.0 then reads it in the classic form, fails again, ignores the whole file" in found


def test_json_in_strings_and_deep_nesting():
    name = "all\\u0072edu\\ce\\ud83d"
    assert "unknown collective 'allreduce\ufffd'" in refused(f'{{"collectives": {{"{name}": []}}}}\n')
    deep = '{"collectives": {}, "deep": ' + "[" * 20000 + "]" * 20000 + "}"
    assert read_rules(deep.encode()).collectives == {}


def test_json_for_distributions_of_ranks_over_nodes():
    comms = ", ".join(
        f'{{"comm_rank_distribution": "{where}", "rules": [{{"alg": {number}}}]}}'
        for where, number in (("one-per-node", 3), ("single-node", 4), ("any", 5))
    )
    rules = read_rules(json_file(comms))
    assert taken(rules, "allreduce", 8, 10**6, ranks_per_node=[1, 4, 8, 16]) == [3, 5, 4, 4]
    with pytest.raises(QuantityError, match=r"ranks_per_node = None.*one-per-node, single-node"):
        select("allreduce", 8, 8, rules=rules)
    assert select("bcast", 8, 8, rules=rules).name
    for form in ("classic", "version-2"):
        with pytest.raises(FormatError, match=r"line 3: rules of allreduce hold for one-per-node alone"):
            rules.write(form=form)
    assert read_rules(rules.write()).rules == read_rules(read_rules(rules.write()).write()).rules


def test_json_that_an_older_library_reads():
    assert refused(TRAILING_COMMAS, library="4.1.6").endswith("JSON is read from 6.0 on.")
    lucky = read_rules('{"1": 2, "1": 1, "1": 0, "3": 0, "0": 0}\n', library="4.1.6")
    assert lucky.form == "classic"
    assert any("JSON is read from 6.0 on" in problem for problem in lucky.problems)


# --- from Python


def test_rules_from_python():
    rules = RuleFile.of(
        {
            "bcast": {2: [(0, "chain", 8192, 4), (np.int64(10**6), 8)]},
            "allgather": {4: [(1024, "ring")], 64: [(0, "fixed"), (2.0**20, "neighbor")]},
            "barrier": {2: [(0, "tree")]},
        },
        library="5.0.3",
    )
    assert rules.collectives == {
        "allgather": (
            CommRule(0, (MessageRule(0, 0),)),
            CommRule(4, (MessageRule(0, 0), MessageRule(4 * 1024, 4))),
            CommRule(64, (MessageRule(0, 0), MessageRule(64 * 2**20, 5))),
        ),
        "barrier": (CommRule(2, (MessageRule(0, 6),)),),
        "bcast": (CommRule(2, (MessageRule(0, 2, 4, 8192), MessageRule(10**6, 8))),),
    }
    chosen = select("allgather", [[3], [4], [63]], [1023, 1024], rules=rules)
    assert chosen.name.tolist() == [["recursive_doubling"] * 2, ["recursive_doubling", "ring"], ["ring", "ring"]]
    assert chosen.reason[1, 1] == "<rules>: P >= 4, P n >= 4096"
    assert select("bcast", 2, 5, rules=rules).runs == "chain"


@pytest.mark.parametrize(
    ("rules", "error", "message"),
    [
        ({"all_reduce": {}}, UnknownNameError, "Did you mean 'allreduce'"),
        ({"allreduce": {2: [(0, "rings")]}}, UnknownNameError, r"allreduce algorithm.*Did you mean 'ring'.*fixed"),
        ({"allreduce": {2: [(0, 9)]}}, UnknownNameError, "allreduce algorithm 9"),
        ({"allreduce": {2: [(0, True)]}}, UnknownNameError, "allreduce algorithm True"),
        ({"allgather": {2: [(0, "sparbit")]}}, UnknownNameError, "allgather algorithm 'sparbit'"),
        ({"allreduce": {0: [(0, 3)]}}, QuantityError, "ranks of allreduce = 0"),
        ({"allreduce": {2: [(-1, 3)]}}, QuantityError, "n of allreduce from 2 ranks on = -1"),
        ({"allreduce": {2: [([1, 2], 3)]}}, QuantityError, "must be one whole number"),
        ({"allreduce": {2: [(0, 3), (0, 4)]}}, QuantityError, "n must ascend"),
        ({"allreduce": {2: [(0, 3, "1 KiB")]}}, QuantityError, "segment_bytes of allreduce from 2 ranks on = '1 KiB'"),
        ({"allreduce": {2: [(0,)]}}, QuantityError, r"Allowed: \(n, algorithm\)"),
        ({"allreduce": {2: ["03"]}}, QuantityError, r"Allowed: \(n, algorithm\)"),
        ({"allreduce": {2: 3}}, QuantityError, "a list of"),
        ({"allreduce": [(0, 3)]}, QuantityError, "allowed is"),
        ({"allreduce": None}, QuantityError, "allowed is"),
        ([("allreduce", 2)], QuantityError, "allowed is"),
        ({"scan": {2: [(0, 1), (8, 2)]}}, QuantityError, "does not look at the bytes of a call"),
    ],
)
def test_rules_from_python_that_are_none(rules, error, message):
    with pytest.raises(error, match=message):
        RuleFile.of(rules)


def test_taken_gives_the_pieces_on_some_ranks():
    rules = RuleFile.of({"allgather": {8: [(0, "bruck"), (100, "ring")]}})
    assert [(n, rule and rule.number) for n, rule in rules.taken("allgather", 8)] == [(0, 2), (100, 4)]
    assert [(n, rule and rule.number) for n, rule in rules.taken("allgather", 9)] == [(0, 2), (89, 4)]
    assert rules.taken("allgather", 2) == rules.taken("bcast", 2) == [(0, None)]


# --- written


@pytest.mark.parametrize("form", FORMS)
def test_written_rules_are_read_as_they_were(form):
    rules = RuleFile.of(
        {
            "bcast": {2: [(0, "chain", 8192, 4), (10**6, 8)], 9: [(0, "binomial")]},
            "alltoall": {2: [(0, "pairwise"), (100, "linear_sync")]},
        }
    )
    text = rules.write(form=form)
    again = read_rules(text)
    assert again.form == form
    assert again.problems == ()
    assert again.write(form=form) == text
    for collective in rules.collectives:
        P, n = np.arange(1, 12)[:, None], [0, 1, 49, 50, 99, 100, 10**6 - 1, 10**6, 10**9]
        for name in ("number", "segment_bytes", "fan"):
            one, other = select(collective, P, n, rules=rules), select(collective, P, n, rules=again)
            assert np.array_equal(getattr(one, name), getattr(other, name))


def test_the_text_names_what_its_numbers_mean(tmp_path):
    rules = RuleFile.of({"allgather": {4: [(0, "fixed"), (1024, "ring", 64)]}})
    text = rules.write(tmp_path / "rules.conf")
    assert (tmp_path / "rules.conf").read_text() == text
    assert text == (
        "# Rules for Open MPI, from 4.1 on: coll_tuned_dynamic_rules_filename\n"
        "1  # collectives\n\n"
        "0  # allgather\n"
        "2  # communicator sizes\n"
        "0  # ranks and more\n"
        "1  # rules: bytes (P n, the bytes of all ranks), algorithm, fan, bytes of a segment\n"
        "0 0 0 0  # the fixed decision\n"
        "4  # ranks and more\n"
        "2  # rules: bytes (P n, the bytes of all ranks), algorithm, fan, bytes of a segment\n"
        "0 0 0 0  # the fixed decision\n"
        "4096 4 0 64  # ring\n"
    )


def test_what_a_form_cannot_say():
    with pytest.raises(FormatError, match=r"line 3 allows 64 requests.*form='version-2' or 'json'"):
        read_rules(SECOND).write(form="classic")
    later = read_rules(json_file('{"rules": [{"alg": "allgather_reduce"}]}'))
    for form in ("classic", "version-2"):
        with pytest.raises(FormatError, match=r"algorithm 7 allgather_reduce of allreduce, which came with 6\.0"):
            later.write(form=form)
    with pytest.raises(UnknownNameError, match="Did you mean 'json'"):
        later.write(form="Json")


def test_a_rule_file_shows_itself():
    rules = read_rules(PEOPLE_WRITE)
    table = rules.to_table()
    assert table["algorithm"].tolist() == ["recursive_doubling", "segmented_ring", "fixed decision", "chain"]
    assert table["compares"].tolist() == ["n"] * 4
    assert table["to_bytes"].isna().all()
    page = RuleFile("classic", "4.1", rules.rules, "<b>", ("line 1: <i>",))._repr_html_()
    assert "segmented_ring" in page
    assert "<b>&lt;b&gt; (classic" in page
    assert "<li>line 1: &lt;i&gt;</li>" in page


# --- sources


def test_sources(tmp_path):
    path = tmp_path / "rules.conf"
    path.write_text(PEOPLE_WRITE)
    rules = read_rules(PEOPLE_WRITE).rules
    assert read_rules(path).rules == read_rules(str(path)).rules == read_rules(PEOPLE_WRITE.encode()).rules == rules
    assert read_rules(io.StringIO(PEOPLE_WRITE)).rules == rules
    with path.open("rb") as file:
        assert read_rules(file).name == str(path)
    one = select("bcast", 8, 8, rules=path)
    assert one == select("bcast", 8, 8, rules=str(path))
    assert one.reason == f"{path}, line 15: P >= 2, any n"
    assert select("bcast", 8, 8, rules=PEOPLE_WRITE).reason == "<text>, line 15: P >= 2, any n"


def test_sources_that_hold_no_rules(tmp_path):
    with pytest.raises(FileMissingError, match=r"no file .*rules\.conf"):
        read_rules(tmp_path / "rules.conf")
    with pytest.raises(FileMissingError):
        select("bcast", 8, 8, rules=str(tmp_path / "rules.conf"))
    for source in (tmp_path, "\0", 3, None, io.BytesIO, ["1\n"]):
        with pytest.raises(OrreryError):
            read_rules(source)
    with pytest.raises(UnknownNameError, match=r"Or a rule file: its path, or what read_rules returns\."):
        select("bcast", 8, 8, rules="rules.conf")


def test_rules_are_hashable_and_name_their_fixed_decision():
    assert hash(read_rules(PEOPLE_WRITE)) == hash(read_rules(PEOPLE_WRITE))
    assert rule_set(read_rules(PEOPLE_WRITE)) == rule_set(read_rules(TRAILING_COMMAS)) == "openmpi-4.1"


def test_a_map_is_made_at_once():
    rules = RuleFile.of({"allgather": {P: [(n, 2) for n in range(0, 3000, 300)] for P in range(2, 100, 5)}})
    P, n = np.arange(2, 202)[:, None], np.arange(200)[None, :] * 17
    chosen = select("allgather", P, n, rules=rules)
    assert chosen.name.shape == (200, 200)
    assert set(chosen.runs.flat) == {"none", "bruck"}


# --- anything at all


sizes = st.sampled_from([0, 1, 2, 3, 7, 8, 9, 100, 1000, 2**20, 2**62])
knobs = st.sampled_from([0, 0, 1, 4, 1024])


@st.composite
def classic_rules(draw):
    """Rules in any order, of any length."""
    found = []
    for collective in draw(st.lists(st.sampled_from(sorted(QUANTITIES)), unique=True, max_size=3)):
        known = [0, *algorithms_of(collective, "4.1")]
        comms = []
        for ranks in draw(st.lists(sizes.filter(lambda size: size < 2**31), max_size=3)):
            rest = draw(st.lists(sizes, max_size=4))
            messages = [
                MessageRule(size, draw(st.sampled_from(known)), draw(knobs), draw(knobs))
                for size in ([0, *rest] if draw(st.booleans()) or rest else [])
            ]
            comms.append(CommRule(ranks, tuple(messages)))
        if comms:
            found.append((collective, tuple(comms)))
    return RuleFile("classic", "4.1", tuple(found))


bounds = st.none() | sizes


@st.composite
def json_rules(draw):
    """Rules that overlap and leave holes."""
    found = []
    for collective in draw(st.lists(st.sampled_from(sorted(QUANTITIES)), unique=True, max_size=2)):
        known = [0, *set(algorithms_of(collective, "4.1"))]
        rule = st.tuples(sizes, st.sampled_from(known), knobs, knobs, st.just(0), bounds).map(lambda t: MessageRule(*t))
        rules = st.lists(rule, max_size=4).map(tuple)
        ranks = sizes.filter(lambda size: size < 2**31)
        comm = st.tuples(ranks, rules, st.none() | st.integers(0, 99)).map(lambda t: CommRule(*t))
        found.append((collective, tuple(draw(st.lists(comm, min_size=1, max_size=3)))))
    return RuleFile("json", "6.0", tuple(found))


def choices(rules: RuleFile) -> list[object]:
    P = np.array([2, 3, 7, 8, 9, 99, 100, 101, 1000, 2000])[:, None]
    n = np.array([0, 1, 2, 3, 7, 8, 9, 10, 99, 100, 101, 999, 1000, 2**20, 2**50])
    found = [select(name, P, n, rules=rules, itemsize=4) for name in rules.collectives]
    return [(one.number.tolist(), one.segment_bytes.tolist(), one.fan.tolist()) for one in found]


def first_match(rules: RuleFile, collective: str, P: int, nbytes: int) -> int:
    """JSON's matching, word by word."""
    for comm in rules.collectives[collective]:
        if comm.from_ranks <= P and (comm.to_ranks is None or comm.to_ranks >= P):
            for rule in comm.messages:
                if rule.from_bytes <= nbytes and (rule.to_bytes is None or nbytes <= rule.to_bytes):
                    return rule.number
            return 0
    return 0


def last_passed(rules: RuleFile, collective: str, P: int, nbytes: int) -> int:
    """The classic matching, word by word."""
    comms = rules.collectives[collective]
    best = comms[0]
    for comm in comms:
        if comm.from_ranks > P:
            break
        best = comm
    number = 0
    for rule in best.messages:
        if rule.from_bytes > nbytes:
            break
        number = rule.number
    return number


@settings(max_examples=60, deadline=None)
@given(classic_rules() | json_rules(), st.sampled_from([2, 3, 8, 9, 100]), st.sampled_from([0, 1, 7, 8, 99, 100, 1000]))
def test_matching_is_that_of_the_library(rules, P, n):
    plain = first_match if rules.form == "json" else last_passed
    for collective in rules.collectives:
        nbytes = {"n": n, "P n": P * n, "P itemsize": P * 4, "0": 0}[QUANTITIES[collective]]
        want = plain(rules, collective, P, nbytes)
        assert taken(rules, collective, P, n, itemsize=4) == (want or select(collective, P, n).number)


@settings(max_examples=60, deadline=None)
@given(classic_rules() | json_rules(), st.sampled_from(FORMS))
def test_read_write_read_gives_the_same_choices(rules, form):
    again = read_rules(rules.write(form=form))
    wanted = dict(zip(rules.collectives, choices(rules), strict=True))
    found = dict(zip(again.collectives, choices(again), strict=True))
    for name, one in wanted.items():
        assert found.get(name, one) == one
        if name not in found:  # nothing was left to say
            assert not any(rule.number for comm in rules.collectives[name] for rule in comm.messages)


def try_to_read(source: str | bytes) -> None:
    for library in (None, "4.1.6", "5.0.8"):
        with contextlib.suppress(OrreryError):
            rules = read_rules(source, library=library)
            for collective in QUANTITIES.keys() & rules.collectives.keys():
                assert select(collective, [2, 9], [0, 4096], rules=rules, ranks_per_node=2).name.shape == (2,)
            assert read_rules(rules.write()).form == rules.form


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=80).map(lambda text: text + "\n") | st.binary(max_size=80))
def test_nothing_but_rules_or_the_one_error(source):
    try_to_read(source)


FILES = [PEOPLE_WRITE, SECOND, TRAILING_COMMAS]


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(FILES),
    st.lists(
        st.tuples(st.integers(0, 600), st.integers(0, 3), st.text('0123456789 \n-+#x,"{}[]:ainf.eE\0é', max_size=4)),
        min_size=1,
        max_size=4,
    ),
)
@example(PEOPLE_WRITE, [(0, 3, "0x")])
def test_nothing_but_rules_or_the_one_error_from_files_with_a_fault(text, faults):
    for place, length, new in faults:
        place %= len(text) + 1
        text = text[:place] + new + text[place + length :]
    try_to_read(text + "\n")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["inf", "any", "ring", "3", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["collectives", "allreduce", "scan", "rules", "alg", "comm_size_min", "msg_size_max", "reqs"]
            ),
            inner,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=80, deadline=None)
@given(st.dictionaries(st.sampled_from(["collectives", "module"]), json_values))
def test_nothing_but_rules_or_the_one_error_from_json(value):
    try_to_read(json.dumps(value, indent=1) + "\n")


def test_lines_of_errors_are_those_of_an_editor():
    for line in range(1, 30):
        text = "\n" * (line - 1) + "-1\n"
        assert re.search(rf"line {line}:", refused(text))


def test_public_names():
    assert oa.read_rules is read_rules
    assert oa.RuleFile is RuleFile


@pytest.mark.parametrize("path", [True, 3, b"x", ["x"], "", "a\0b", "\ud800", "x" * 1000])
def test_what_is_no_path_is_not_written_to(path):
    with pytest.raises(QuantityError, match=r"path|written") as refused:
        RuleFile.of({"bcast": {2: [(0, 3)]}}).write(path)
    assert len(str(refused.value)) < 400


def test_where_no_file_can_be_is_told(tmp_path):
    rules = RuleFile.of({"bcast": {2: [(0, 3)]}})
    with pytest.raises(QuantityError, match="directory"):
        rules.write(tmp_path)
    with pytest.raises(FileMissingError, match="no folder for"):
        rules.write(tmp_path / "none" / "x.rules")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(QuantityError, match="cannot be written"):
        rules.write(tmp_path / "loop")


@pytest.mark.parametrize(
    "other",
    [
        "",
        "a,b\n1,2\n",
        "0\n",
        "1 7 1 2 and 1 0 3 0 0\n",
        "# all of it\n",
        "name = 'x'\n",
        "{}",
        '{"a": 1}',
        "\0\1",
    ],
)
def test_what_is_no_rule_file_is_not_replaced(other, tmp_path):
    rules, path = RuleFile.of({"bcast": {2: [(0, 3)]}}), tmp_path / "there"
    path.write_text(other)
    with pytest.raises(QuantityError, match=r"is no rule file, and is not replaced: .*overwrite=True"):
        rules.write(path)
    assert path.read_text() == other
    rules.write(path, overwrite=True)
    assert path.read_text() == rules.write()
    with pytest.raises(QuantityError, match="overwrite"):
        rules.write(path, overwrite="no")


@pytest.mark.parametrize("form", FORMS)
def test_a_rule_file_is_replaced(form, tmp_path):
    rules, path = RuleFile.of({"bcast": {2: [(0, 3)]}}, library="5.0"), tmp_path / "x.rules"
    for there in (rules.write(form=form), RuleFile.of({}).write(), "1 7 1 2 1 0 3 0 0\n"):
        path.write_text(there)
        assert rules.write(path) == path.read_text()


@pytest.mark.parametrize(
    ("library", "form", "read"),
    [("4.1.6", None, "4.1"), ("5.0.3", None, "5.0"), ("5.0", "version-2", "5.0.7"), ("4.1", "json", "6.0")],
)
def test_the_first_line_of_a_file_written_here_says_who_reads_it(library, form, read):
    rules = RuleFile.of({"bcast": {2: [(0, 3)]}}, library=library)
    told = dataclasses.replace(rules, comments=("7 8 9\nand --mca coll_han_priority 0 " + 12 * "twelve letters ",))
    text = told.write(form=form)
    again = read_rules(text)
    assert again.library == read
    assert again.write() == text
    assert again.rules[0][0] == "bcast"
    assert " ".join(again.comments).split() == ("" if form == "json" else told.comments[0]).split()
    if form is None:
        assert read_rules(text.replace("\n", "\r\n")).library == read


def test_a_first_line_that_is_almost_ours_says_nothing():
    text = RuleFile.of({"bcast": {2: [(0, 3)]}}, library="5.0").write()
    assert read_rules(text.replace("from 5.0", "from 6.0")).library == "4.1"
    assert read_rules(text.replace("# Rules", "# My rules")).library == "4.1"
    assert read_rules("1 7 1 2 1 0 3 0 0\n" + text).library == "4.1"


def test_bytes_beyond_a_c_long_are_refused():
    with pytest.raises(QuantityError, match="Nearest: 4294967298"):
        RuleFile.of({"allgather": {2**31 - 1: [(2**53 - 1, "ring")]}})
    most = read_rules(RuleFile.of({"allgather": {2**31 - 1: [(4294967298, "neighbor")]}}).write())
    taken = select("allgather", 2**31 - 1, [4294967297, 4294967298, 2**53 - 1], rules=most)
    assert ["leaves it to" in reason for reason in taken.reason] == [True, False, False]


@pytest.mark.parametrize("wrong", [{"collective": "allgater"}, {"P": 0}, {"P": [2, 4]}, {"P": None}, {"itemsize": "4"}])
def test_taken_checks_what_it_is_given(wrong):
    with pytest.raises(OrreryError):
        RuleFile.of({"allgather": {2: [(0, 3)]}}).taken(**{"collective": "allgather", "P": 4, **wrong})
