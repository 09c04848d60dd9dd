"""Rule files against the real Open MPI 4.1: its own reader on thousands of texts, and what calls then run."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from mpirun import Case, Library, build

import orrery_analytic as oa
from orrery_analytic.decisions import RuleFile, read_rules
from orrery_analytic.decisions.rule_files.records import COLLECTIVES
from orrery_analytic.errors import FormatError, OrreryError

pytestmark = pytest.mark.openmpi

#: Asks coll/tuned itself, in a process of its own: which file it ignores, and what it takes at (collective, P, bytes).
ASK = """
import ctypes, json, sys
plugin, points, folder, number = json.loads(sys.argv[1])
ctypes.CDLL("libmpi.so.40", mode=ctypes.RTLD_GLOBAL)
tuned = ctypes.CDLL(plugin)
comm_rule, target = tuned.ompi_coll_tuned_get_com_rule_ptr, tuned.ompi_coll_tuned_get_target_method_params
comm_rule.restype, comm_rule.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_int, ctypes.c_int]
out = [ctypes.c_int() for _ in range(3)]
target.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.POINTER(ctypes.c_int)] * 3]
found = []
for i in range(number):
    rules = ctypes.c_void_p()
    path = f"{folder}/{i}".encode()
    if tuned.ompi_coll_tuned_read_rules_config_file(path, ctypes.byref(rules), 22) < 0:
        found.append(None)
        continue
    taken = []
    for collective, P, nbytes in points:
        rule = comm_rule(rules, collective, P)
        number = target(rule, nbytes, *map(ctypes.byref, out)) if rule else 0
        taken.append([number, out[0].value, out[1].value] if number else [0, 0, 0])
    found.append(taken)
print(json.dumps(found))
"""
LOOKED_AT = ("allreduce", "bcast", "reduce")  # these compare the bytes of a call as they are
POINTS = [(name, P, n) for name in LOOKED_AT for P in (2, 3, 8, 9, 100) for n in (0, 7, 8, 9, 1000, 10**6, 2**40)]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return build(lambda: tmp_path_factory.mktemp("rules"))


def taken_by_tuned(texts: list[bytes], folder: Path) -> list[list[list[int]] | None]:
    """What coll/tuned takes at `POINTS`, for each text; None where it ignores the file."""
    asked = subprocess.run(
        ["ompi_info", "--path", "pkglibdir", "--parsable"], capture_output=True, text=True, check=True
    )
    plugin = Path(asked.stdout.strip().rpartition(":")[2]) / "mca_coll_tuned.so"
    for i, text in enumerate(texts):
        (folder / str(i)).write_bytes(text)
    points = [(COLLECTIVES.index(name), P, n) for name, P, n in POINTS]
    question = json.dumps([str(plugin), points, str(folder), len(texts)])
    answer = subprocess.run(
        [sys.executable, "-c", ASK, question], capture_output=True, text=True, check=True, timeout=60
    )
    found: list[list[list[int]] | None] = json.loads(answer.stdout)
    return found


def ours(text: bytes) -> list[list[int]] | str:
    """The same from `read_rules`, or its error."""
    try:
        rules = read_rules(text, library="4.1.4")
    except FormatError as error:
        return str(error)
    points = []
    for name, P, n in POINTS:
        index, flat = rules.match(name, *(np.array([value]) for value in (P, n, 1)))
        rule = flat[index[0]][1] if index[0] >= 0 else None
        points.append([rule.number, rule.fan, rule.segment_bytes] if rule and rule.number else [0, 0, 0])
    return points


def some_text(chance: random.Random) -> bytes:
    """A rule file, as people write it or with anything wrong with it."""
    size = lambda: chance.choice((0, 1, 2, 3, 8, 9, 16, 100, 1000, 2**31 + 1, 2**32 + 3, 2**63, 10**20))  # noqa: E731
    tokens: list[object] = []
    names = chance.sample(LOOKED_AT, chance.randint(0, 3)) + chance.choice(([], ["allgather"], ["allreduce"]))
    tokens.append(len(names))
    for name in names:
        comms = chance.randint(0, 3)
        tokens += [COLLECTIVES.index(name), comms]
        for _ in range(comms):
            rules = chance.randint(0, 4)
            tokens += [size(), rules]
            for i in range(rules):
                tokens += [
                    size() if i else 0,
                    chance.randint(0, 6),
                    *((0, 0) if chance.random() < 0.5 else (size(), size())),
                ]
    if chance.random() < 0.4 and tokens:
        place = chance.randrange(len(tokens))
        tokens[place : place + chance.randint(0, 1)] = [
            chance.choice(("-1", "x", "- 4", "--3", "0x8", "010", "08", 5, "-"))
        ]
    space = lambda: chance.choice((" ", " ", "\n", "\t", " # note 7\n", " : ", ",", "\r\n"))  # noqa: E731
    return "".join(f"{token}{space()}" for token in tokens).encode()


def test_reader_and_matching_are_those_of_the_library(library: Library) -> None:
    chance = random.Random(414)
    texts = [some_text(chance) for _ in range(1000)]
    ignored = 0
    for text, theirs in zip(texts, taken_by_tuned(texts, library.folder()), strict=True):
        mine = ours(text)
        if theirs is None:
            assert isinstance(mine, str), text
            assert "ignores the whole file in silence" in mine, (text, mine)
            ignored += 1
        elif isinstance(mine, str):
            assert "MPI_ERR_ARG" in mine, (text, mine)
        else:
            want = [[number, max(fan, 0), segment % 2**32] if number else [0, 0, 0] for number, fan, segment in theirs]
            assert mine == want, text
    assert 100 < ignored < 800


def test_what_is_written_is_read_alike(library: Library) -> None:
    chance = random.Random(7)
    texts, choices = [], []
    for text in (some_text(chance) for _ in range(150)):
        try:
            rules = read_rules(text, library="4.1.4")
        except OrreryError:
            continue
        for form in (rules, read_rules(rules.write(form="json"))):
            texts.append(form.write(form="classic").encode())
            choices.append(ours(text))
    assert len(texts) > 100
    for text, theirs, mine in zip(texts, taken_by_tuned(texts, library.folder()), choices, strict=True):
        assert theirs is not None, text
        assert [[number, max(fan, 0), segment % 2**32] for number, fan, segment in theirs] == mine, text


FILES = {
    "first size above P": "1  2 1  64 1  0 4 0 0\n",
    "no number is skipped": "rules: 1; allreduce = 2 (1) @ 1 / 1, 0 4 0 0 # 3 3 3\n",
    "octal and hexadecimal": "1 2 1 0x1 01\n0 04 0 00\n",
    "too short": "1  2 1  1 2  0 4 0 0\n",
    "first rule not from 0": "1  2 1  1 1  1 4 0 0\n",
    "allgather compares P n": "1  0 1  1 2  0 2 0 0  4000 4 0 0\n",
    "scan does not look at n": "1  14 1  1 2  0 1 0 0  16 2 0 0\n",
    "segments and fan": "2  2 1 1 1  0 5 0 64  7 1 1 1  0 2 3 128\n",
    "algorithm 0": "1  2 1  1 1  0 0 0 0\n",
}
CALLS = [
    *(Case(name, P, count) for name in ("allreduce", "bcast", "scan") for P in (3, 4) for count in (5, 500)),
    *(Case("allgather", P, count) for P in (4, 8) for count in (100, 200, 300)),
]


@pytest.mark.parametrize("title", FILES)
def test_calls_run_what_the_file_says(library: Library, title: str) -> None:
    text = FILES[title]
    rules: RuleFile | str = "4.1.4"
    if title in ("too short", "first rule not from 0"):
        with pytest.raises(FormatError, match="ignores the whole file in silence"):
            read_rules(text, library="4.1.4")
    else:
        rules = read_rules(text, library="4.1.4")
    for case, sends in zip(CALLS, library.sends(CALLS, text), strict=True):
        taken = oa.select(case.collective, case.P, case.count * case.itemsize, rules=rules, itemsize=case.itemsize)
        knobs = {"fan": taken.fan} if taken.fan else {}
        plan = oa.schedule(
            case.collective, taken.name, case.P, case.count, case.itemsize, segment_bytes=taken.segment_bytes, **knobs
        )
        assert sends == [plan.sends(rank) for rank in range(case.P)], (case, taken)


def test_an_unknown_algorithm_ends_the_job(library: Library) -> None:
    text = "1  2 1  1 1  0 9 0 0\n"
    with pytest.raises(FormatError, match=r"algorithm 9 of allreduce.*MPI_ERR_ARG"):
        read_rules(text)
    with pytest.raises(AssertionError, match=r"a call failed|MPI_ERR_ARG"):
        library.sends([Case("allreduce", 4, 5)], text)
