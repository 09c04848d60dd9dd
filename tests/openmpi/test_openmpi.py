"""Schedules and decisions against the real Open MPI: every message of every rank, in order, on 2 to 8 ranks."""

from __future__ import annotations

import dataclasses
from itertools import zip_longest

import pytest
from mpirun import Case, Library, Sends, build

import orrery_analytic as oa
from orrery_analytic.collectives.registry import COMPOSED
from orrery_analytic.decisions import ALGORITHMS
from orrery_analytic.errors import QuantityError

pytestmark = pytest.mark.openmpi

SIZES = range(2, 9)
#: The number of a collective in a rule file, and of the last of its algorithms in Open MPI 4.1.
NUMBERS = {
    "allgather": (0, 6),
    "allgatherv": (1, 5),
    "allreduce": (2, 6),
    "alltoall": (3, 5),
    "alltoallv": (4, 2),
    "barrier": (6, 6),
    "bcast": (7, 9),
    "exscan": (8, 2),
    "gather": (9, 3),
    "reduce": (11, 7),
    "reduce_scatter": (12, 4),
    "reduce_scatter_block": (13, 4),
    "scan": (14, 2),
    "scatter": (15, 3),
}
ROOTED = ("bcast", "gather", "reduce", "scatter")
#: (fan, bytes of a segment) -> (count, bytes of an element), ...: segments of whole elements, and rounded up and down.
KNOBS = {
    (0, 0): ((0, 4), (1, 1), (2, 8), (3, 4), (5, 4), (8, 1), (13, 8), (1001, 4), (20011, 4)),
    (1, 7): ((1, 4), (3, 4), (13, 8), (64, 1), (401, 4)),
    (2, 64): ((3, 4), (33, 4), (40, 8), (1001, 4)),
    (3, 1021): ((300, 1), (1001, 4), (1024, 8), (20011, 4)),
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return build(lambda: tmp_path_factory.mktemp("openmpi"))


def rule_file(numbers: dict[str, int], fan: int = 0, segment_bytes: int = 0) -> str:
    """A rule file that forces an algorithm of each collective, on any number of ranks and for any size."""
    rules = [f"{NUMBERS[name][0]} 1  1 1  0 {number} {fan} {segment_bytes}" for name, number in numbers.items()]
    return "\n".join([str(len(rules)), *rules, ""])


def cases_of(collective: str, P: int, counts: tuple[tuple[int, int], ...]) -> list[Case]:
    """Calls with these counts and sizes of elements, from several roots where there are roots."""
    if collective == "barrier":
        return [Case(collective, P)]
    roots = sorted({0, 1, P - 1}) if collective in ROOTED else [0]
    return [Case(collective, P, count, itemsize, root) for count, itemsize in counts for root in roots]


def scheduled(case: Case, algorithm: str, **knobs: int) -> list[Sends] | None:
    try:
        plan = oa.schedule(
            case.collective,
            algorithm,
            case.P,
            case.count,
            case.itemsize,
            case.root,
            commutative=case.commutative,
            **knobs,
        )
    except QuantityError:
        return None
    return [plan.sends(rank) for rank in range(case.P)]


def difference(ours: list[Sends] | None, library: list[Sends] | None) -> str:
    """The first message that differs."""
    if ours is None or library is None:
        return f"only {'the library' if ours is None else 'oa.schedule'} supports it"
    rank = next(rank for rank, sends in enumerate(ours) if sends != library[rank])
    pairs = zip_longest(library[rank], ours[rank])
    at = next(position for position, (theirs, mine) in enumerate(pairs) if theirs != mine)
    shown = [f"{sends[at : at + 6]} ({len(sends)} in all)" for sends in (library[rank], ours[rank])]
    return f"from message {at} on, rank {rank} of the library sends {shown[0]},\n    that of the schedule {shown[1]}"


def compare(cases: list[Case], algorithms: list[str], found: list[list[Sends] | None], **knobs: int) -> None:
    """Fail with the first differences, if any."""
    wrong = []
    for case, algorithm, library in zip(cases, algorithms, found, strict=True):
        ours = scheduled(case, algorithm, **knobs)
        if ours != library:
            wrong.append(f"  {algorithm}, {case!r}:\n    {difference(ours, library)}")
    report = "\n".join([f"{len(wrong)} of {len(cases)} calls differ with {knobs}:", *wrong[:8]])
    assert not wrong, report


def named(number: int) -> dict[str, str]:
    """Collective -> its algorithm of that number, where there is one."""
    return {name: ALGORITHMS[name][number] for name, (_, last) in NUMBERS.items() if number <= last}


def test_every_collective_is_held() -> None:
    assert NUMBERS.keys() == set(oa.list_collectives())


@pytest.mark.parametrize(("fan", "segment_bytes"), KNOBS)
@pytest.mark.parametrize("number", range(1, 10))
def test_forced(library: Library, number: int, fan: int, segment_bytes: int) -> None:
    names = dict(set(named(number).items()) - COMPOSED.keys())
    counts = KNOBS[fan, segment_bytes]
    cases = [case for collective in names for P in SIZES for case in cases_of(collective, P, counts)]
    found = library.sends(cases, rule_file(dict.fromkeys(names, number), fan, segment_bytes))
    knobs = {"segment_bytes": segment_bytes} | ({"fan": fan} if fan else {})
    compare(cases, [names[case.collective] for case in cases], found, **knobs)


def test_forced_composed(library: Library) -> None:
    """Apart from the others: their parts are to be decided by the fixed rules, not by a rule file."""
    numbers = {"allgather": 1, "allgatherv": 1, "allreduce": 2, "reduce_scatter": 1, "reduce_scatter_block": 1}
    names = {collective: named(number)[collective] for collective, number in numbers.items()}
    counts = ((0, 4), (1, 4), *((2**k + k % 3, (1, 4, 8)[k % 3]) for k in range(1, 18)))
    cases = [case for collective in names for P in SIZES for case in cases_of(collective, P, counts)]
    compare(cases, [names[case.collective] for case in cases], library.sends(cases, rule_file(numbers)))


@pytest.mark.parametrize("radix", [2, 3])
def test_radix(library: Library, radix: int) -> None:
    cases = [case for P in SIZES for case in cases_of("bcast", P, ((1, 4), (1001, 4)))]
    found = library.sends(cases, rule_file({"bcast": 7}), coll_tuned_bcast_algorithm_knomial_radix=radix)
    compare(cases, ["knomial"] * len(cases), found, radix=radix)


@pytest.mark.parametrize("numbers", [{"allreduce": 6, "reduce": 7}, {"reduce_scatter_block": 3}])
def test_forced_on_operations_that_do_not_commute(library: Library, numbers: dict[str, int]) -> None:
    """Rabenseifner's algorithms and recursive halving then hand over to others."""
    cases = [
        dataclasses.replace(case, commutative=False)
        for collective in numbers
        for P in SIZES
        for case in cases_of(collective, P, ((3, 4), (1001, 4)))
    ]
    names = [ALGORITHMS[case.collective][numbers[case.collective]] for case in cases]
    compare(cases, names, library.sends(cases, rule_file(numbers)))


def decided(collective: str, P: int, commutative: bool) -> tuple[list[Case], list[str]]:
    """Calls just below and at each power of two of bytes, where all thresholds lie, and the names from `select`."""
    whole = P if collective == "reduce_scatter" else 1  # n is the bytes of so many counts
    largest = 22 if (collective, P) == ("reduce_scatter_block", 8) else 20
    edges = [2**k for k in range(largest + 1)]
    sizes = [(1, (edge - 1) // whole) for edge in edges] + [(1, -(-edge // whole)) for edge in edges]
    sizes += [(8, -(-edge // (8 * whole))) for edge in edges[3:]]
    cases = [
        Case(collective, P, count, itemsize, position % P if collective in ROOTED else 0, commutative)
        for position, (itemsize, count) in enumerate(sorted(set(sizes)))
        if count
    ]
    nbytes = [whole * case.count * case.itemsize for case in cases]
    return cases, oa.select(collective, P, nbytes, commutative=commutative).name.tolist()


@pytest.mark.parametrize(
    ("collective", "commutative"),
    [
        *((collective, True) for collective in NUMBERS),
        *((collective, False) for collective in ("allreduce", "reduce", "reduce_scatter", "reduce_scatter_block")),
    ],
)
def test_decided(library: Library, collective: str, commutative: bool) -> None:
    cases, names = [], []
    for P in SIZES:
        for case, name in zip(*decided(collective, P, commutative), strict=True):
            cases.append(case)
            names.append(name)
    compare(cases, names, library.sends(cases))
