"""Text is never run, and numbers out of range are refused, wherever a formula takes numbers."""

import numpy as np
import pytest

import orrery_analytic as oa
from orrery_analytic import applications
from orrery_analytic.errors import OrreryError, QuantityError
from orrery_analytic.symbols import log_floor

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
        lambda: log_floor(ATTACK, 3),
        lambda: RING(**{**NUMBERS, "alpha": ATTACK}),
        lambda: oa.schedule("bcast", "chain", 4, 4).time(oa.Hockney(), alpha=ATTACK, beta=1),
        lambda: oa.optimal_fragment(ATTACK),
        lambda: oa.optimal_fragment(nbytes=ATTACK),
        lambda: oa.fragment_threshold((("d2h", ATTACK, 1), ("network", 1, 1))),
        lambda: oa.best_fragment({}, 8, (("d2h", ATTACK, 1),)),
        lambda: oa.kernel_cost(work=ATTACK),
        lambda: oa.Jacobi(nx=ATTACK),
        lambda: applications.norms_due(ATTACK, 1),
        lambda: applications.norms_due(1, ATTACK),
        lambda: applications.slowest_rows(ATTACK),
        lambda: applications.slowest_rows(8, "last", ATTACK),
        lambda: applications.kernel_bytes(ATTACK, 1),
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


HUGE = 10**5000
STAGES = (("d2h", 1e-6, 1e-9), ("network", 1e-6, 1e-9))


class Converts:
    """What SymPy would call if it were asked to convert this."""

    def _sympy_(self):
        raise AssertionError("SymPy was asked to convert what a user gave")


@pytest.mark.parametrize(
    "call",
    [
        lambda x: oa.collective_cost("bcast", "chain", fan=x),
        lambda x: oa.collective_cost("bcast", "knomial", radix=x),
        lambda x: oa.collective_cost("bcast", "chain", segment_bytes=x),
        lambda x: oa.collective_cost("bcast", "two_level_binomial", ranks_per_node=x),
        lambda x: oa.collective_cost("bcast", "chain", root=x),
        lambda x: oa.collective_cost("bcast", "chain", P=x),
        lambda x: oa.collective_cost("bcast", x),
        lambda x: oa.collective_cost("allreduce", "nonoverlapping", parts=(x, "bcast:chain")),
        lambda x: oa.collective_cost("bcast", "chain", buffers="device", bands={"d2h": x}),
        lambda x: oa.schedule("bcast", "chain", x, 4),
        lambda x: oa.schedule("bcast", "knomial", 4, 4, radix=x),
        lambda x: oa.schedule("bcast", x, 4, 4),
        lambda x: oa.derive(lambda p: oa.schedule("bcast", "chain", p, 1), P=[x]),
        lambda x: oa.derive(x),
        lambda x: oa.describe(x),
        lambda x: oa.kernel_cost(seconds=x),
        lambda x: oa.kernel_cost(sync=x),
        lambda x: oa.Jacobi(kernel_seconds={4: x}),
        lambda x: oa.optimal_fragment(nbytes=x),
        lambda x: oa.optimal_fragment((("d2h", 1, x), ("network", 1, 1))),
        lambda x: oa.best_fragment({}, x, STAGES),
        lambda x: oa.best_fragment({}, 64, (("d2h", x, 1e-9), ("network", 1e-6, 1e-9))),
        lambda x: oa.Hockney(alpha=x),
        lambda x: oa.LogGP(G=x),
        lambda x: oa.TwoLevel(x),
        lambda x: oa.Cost(x),
        lambda x: oa.Cost({"latency": x}),
        lambda x: RING * x,
        lambda x: RING.at(alpha=x),
        lambda x: RING(**{**NUMBERS, "n": x}),
        lambda x: log_floor(8, x),
        lambda x: oa.crossover(RING, RING, "n").intervals(last=x, P=4, alpha=1, beta=1, gamma=1),
        lambda x: oa.guideline(RING, RING, NUMBERS, ranks=x),
        lambda x: oa.bounce_threshold("allreduce", transport=x),
        lambda x: oa.invert(RING, RING, x),
    ],
)
@pytest.mark.parametrize(
    "wrong",
    [ATTACK, -HUGE, float("nan"), -np.inf, 2j, {"a": 1}, [[1], [1, 2]], Converts(), np.array(["a"])],
    ids=["text", "huge", "nan", "infinite", "complex", "mapping", "ragged", "converts", "array of text"],
)
def test_what_no_argument_can_be_is_refused_and_not_printed_at_length(call, wrong):
    with pytest.raises(OrreryError) as refused:
        call(wrong)
    assert len(str(refused.value)) < 1500


@pytest.mark.parametrize("call", [oa.bounce_threshold, lambda *a, **k: oa.by_hand_cost(*a, "ring", **k)])
def test_an_option_that_is_not_there_is_named(call):
    with pytest.raises(OrreryError, match="transprot"):
        call("allreduce", transprot="gdr")


def test_one_number_in_an_array_is_that_number():
    assert RING.at(alpha=np.array(2.0)).total == RING.at(alpha=2.0).total


def test_thresholds_of_infinite_costs_are_refused():
    with pytest.raises(QuantityError, match="not finite"):
        oa.bounce_threshold("allreduce", {"t_call": np.inf, "alpha_d2h": np.inf})


def test_the_schedule_of_a_tree_on_too_many_ranks_is_refused_at_once():
    with pytest.raises(QuantityError, match="4194304"):
        oa.schedule("bcast", "chain", P=2**31 - 1, count=4)


def test_a_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(FileNotFoundError, match="no folder") as refused:
        oa.write_goal(oa.schedule("bcast", "chain", 4, 4), tmp_path / "none" / "a.goal")
    assert isinstance(refused.value, OrreryError)
