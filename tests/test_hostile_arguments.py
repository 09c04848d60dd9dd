"""Text is never run, and numbers out of range are refused, wherever a formula takes numbers."""

import numpy as np
import pytest

import orrery_analytic as oa
from orrery_analytic.errors import OrreryError, QuantityError

ATTACK = "__import__('os').getpid()"
RING = oa.collective_cost("allreduce", "ring")
NUMBERS = {"P": 4, "n": 8, "alpha": 1.0, "beta": 1.0, "gamma": 1.0}


@pytest.mark.parametrize(
    "call",
    [
        lambda: oa.Cost({"latency": ATTACK}),
        lambda: RING.at(alpha=ATTACK),
        lambda: RING.at({"alpha": ATTACK}),
        lambda: RING.at(P=ATTACK),
        lambda: RING * ATTACK,
        lambda: oa.Hockney(alpha=ATTACK),
        lambda: oa.LogGP(o=ATTACK),
        lambda: oa.LogGP(gamma="2"),
        lambda: oa.log2_ceil(ATTACK),
        lambda: oa.log2_floor("4"),
        lambda: RING(**{**NUMBERS, "alpha": ATTACK}),
        lambda: oa.schedule("bcast", "chain", 4, 4).time(oa.Hockney(), alpha=ATTACK, beta=1),
        lambda: oa.optimal_fragment(ATTACK),
        lambda: oa.optimal_fragment(nbytes=ATTACK),
        lambda: oa.fragment_threshold((("d2h", ATTACK, 1), ("network", 1, 1))),
        lambda: oa.best_fragment({}, 8, (("d2h", ATTACK, 1),)),
        lambda: oa.kernel_cost(work=ATTACK),
        lambda: oa.Jacobi(nx=ATTACK),
    ],
)
def test_text_is_refused_and_never_run(call):
    with pytest.raises(QuantityError):
        call()


@pytest.mark.parametrize(
    ("name", "value"),
    [("P", 0), ("P", -4), ("P", 2.5), ("P", np.inf), ("P", True), ("n", -1), ("n", np.nan), ("alpha", -1e-6),
     ("alpha", 3j), ("n", b"4"), ("n", np.datetime64("2020-01-01"))],
)  # fmt: skip
def test_numbers_out_of_range_are_refused(name, value):
    with pytest.raises(QuantityError, match=name):
        RING(**{**NUMBERS, name: value})
    with pytest.raises(QuantityError, match=name):
        RING.at(**{name: value})


def test_one_rank_costs_nothing_however_it_is_given():
    device = oa.collective_cost("bcast", "binomial", buffers="device")
    assert device.at(P=1).total == device.at({"P": 1}).total == 0


@pytest.mark.parametrize("values", [{"alpha": float("nan")}, {"alpha": -1}, {"alpha": None}])
def test_schedules_refuse_such_times(values):
    with pytest.raises(QuantityError, match="alpha"):
        oa.schedule("bcast", "chain", 4, 4).time(oa.Hockney(), **{"beta": 1, **values})


def test_a_misspelt_parameter_of_a_schedule_is_an_error():
    with pytest.raises(KeyError, match="bandwith"):
        oa.schedule("bcast", "chain", 4, 4).time(oa.Hockney(), alpha=1, beta=1, bandwith=3)


@pytest.mark.parametrize("kind", [np.uint8, np.uint32, np.int16, np.uint64])
def test_narrow_integers_choose_as_wide_ones(kind):
    wide = oa.predict("example", "allreduce", 64, 128, algorithm="ring")
    narrow = oa.predict("example", "allreduce", 64, np.array([128], kind), algorithm="ring")
    assert str(narrow.runs.values[0, 0]) == str(wide.runs.values[0, 0]) == "recursive_doubling"


def test_long_chains_of_messages_do_not_recurse():
    time = oa.schedule("alltoall", "linear", P=600, count=1, itemsize=1).time(oa.Hockney(), alpha=1, beta=0)
    assert time == 599


@pytest.mark.parametrize("ranks", [np.arange(2, 5), [np.int64(4)], range(2, 4)])
def test_verify_takes_any_whole_numbers(ranks):
    assert oa.verify("allgather", "bruck", P=ranks)["equal"].all()


@pytest.mark.parametrize("ranks", [8, [0], ["4"], [2.5]])
def test_verify_refuses_what_are_no_ranks(ranks):
    with pytest.raises(QuantityError, match="P"):
        oa.verify("allgather", "bruck", P=ranks)


@pytest.mark.parametrize("wrong", [{"buffers": "gpu"}, {"transport": "zzz"}, {"staging": "x"}, {"machine": 3}])
def test_predict_checks_its_options_even_where_they_play_no_part(wrong):
    with pytest.raises(OrreryError):
        oa.predict(**{"machine": "example", "collective": "allreduce", "P": 1, "n": 4, **wrong})


def test_what_has_a_number_takes_no_other_one():
    at_four = RING.at(P=4)
    assert at_four(n=8, alpha=1, beta=1, gamma=1) == RING(**NUMBERS)
    with pytest.raises(QuantityError, match="P has a number"):
        at_four(P=8, n=8, alpha=1, beta=1, gamma=1)
    with pytest.raises(QuantityError, match="P has a number"):
        (2 * at_four + RING).at(P=8)
