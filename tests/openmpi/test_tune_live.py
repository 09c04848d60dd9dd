"""A rule file from the model, against the real Open MPI 4.1: calls on both sides of each border run what it names."""

from __future__ import annotations

import pytest
from mpirun import Case, Library, Sends, build

import orrery_analytic as oa
from orrery_analytic.collectives.registry import COMPOSED
from orrery_analytic.decisions import Selection
from orrery_analytic.decisions.fixed import Rules
from orrery_analytic.selection import Tuning

pytestmark = pytest.mark.openmpi

LISTED = (2, 4, 7, 8)
ITEMSIZE = 4
LARGEST = 4 * 2**20


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return build(lambda: tmp_path_factory.mktemp("tune"))


@pytest.fixture(scope="module")
def tuning() -> Tuning:
    names = ["allgather", "allreduce", "alltoall", "barrier", "bcast", "reduce", "reduce_scatter_block", "scatter"]
    return oa.tune("example", names, LISTED, bound=1.02)


def borders(tuning: Tuning) -> list[Case]:
    """Calls just below and at each border of the file, on every number of ranks, listed or not."""
    cases = set()
    for collective in tuning.points:
        for P in range(2, 9):
            for n, _ in tuning.rules.taken(collective, P):
                count = -(-n // ITEMSIZE)  # the first whole elements at the border or above
                cases |= {Case(collective, P, c) for c in (max(count - 1, 1), max(count, 1), 1000)}
    return sorted((case for case in cases if case.count * ITEMSIZE <= LARGEST), key=str)


def planned(case: Case, taken: Selection) -> list[Sends]:
    """What each rank sends in an algorithm, with its segments and its fan."""
    knobs = {"fan": taken.fan} if taken.fan else {}
    plan = oa.schedule(
        case.collective, taken.name, case.P, case.count, case.itemsize, segment_bytes=taken.segment_bytes, **knobs
    )
    return [plan.sends(rank) for rank in range(case.P)]


def selected(case: Case, rules: Rules) -> Selection:
    return oa.select(case.collective, case.P, case.count * case.itemsize, rules=rules, itemsize=case.itemsize)


def expected(case: Case, rules: Rules) -> list[Sends]:
    """What each rank sends in the algorithm that `oa.select` names; in its parts, for which the library asks again."""
    taken = selected(case, rules)
    parts = COMPOSED.get((case.collective, str(taken.name)))
    if parts is None:
        return planned(case, taken)
    calls = [expected(Case(part.collective, case.P, part.size(case.P, case.count)), rules) for part in parts]
    return [[message for sends in calls for message in sends[rank]] for rank in range(case.P)]


def test_the_library_takes_what_the_file_names(library: Library, tuning: Tuning) -> None:
    text = tuning.write()
    rules = oa.read_rules(text, library="4.1.4")
    cases = borders(tuning)
    with_file = library.sends(cases, text)
    without = library.sends(cases)
    other, named = 0, set()
    for case, theirs, default in zip(cases, with_file, without, strict=True):
        assert theirs == expected(case, rules), (case, selected(case, rules))
        assert default == expected(case, "openmpi-4.1"), (case, selected(case, "openmpi-4.1"))
        other += theirs != default
        named.add((case.collective, selected(case, rules).name))
    # The file is no copy of the fixed decision.
    assert other > len(cases) // 3
    assert len(named) > 12


def test_neighbours_at_a_border_send_otherwise(tuning: Tuning) -> None:
    """Or the test above could not tell the two sides of a border apart."""
    told = pairs = 0
    for case in borders(tuning):
        for n, _ in tuning.rules.taken(case.collective, case.P)[1:]:
            if case.count == -(-n // ITEMSIZE):
                below = oa.select(case.collective, case.P, n - 1, rules=tuning.rules)
                told += planned(case, below) != planned(case, selected(case, tuning.rules))
                pairs += 1
    assert pairs > 20
    assert told > 0.8 * pairs
