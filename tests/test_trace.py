"""Traces: the times of the engine to the last digit, every event, and a critical path without a pause."""

from __future__ import annotations

from fractions import Fraction as F
from itertools import pairwise
from typing import Any

import pytest

import orrery_analytic as oa
from orrery_analytic.errors import QuantityError, ScheduleError, UnknownNameError
from orrery_analytic.schedules.operations import exchange, irecv, isend, recv, reduce, send, wait_all, wait_sends
from orrery_analytic.schedules.trace import Message, Reduction, Trace

HOCKNEY = {"alpha": F(10), "beta": F(1, 2), "gamma": F(3)}
LOGGP = {"L": F(20), "o": F(3), "g": F(7), "G": F(1, 2), "gamma": F(1)}
NODES = {**HOCKNEY, "alpha_intra": F(1), "beta_intra": F(1, 10)}
NETWORKS: list[tuple[Any, dict[str, Any]]] = [
    (oa.Hockney(), HOCKNEY),
    (oa.Hockney(), {name: float(value) / 3 for name, value in HOCKNEY.items()}),
    (oa.LogGP(), LOGGP),
    (oa.LogGP(), {**LOGGP, "g": F(100)}),  # ports decide
    (oa.TwoLevel(3, 2), NODES),
]
ALGORITHMS = [
    ("allgather", "bruck"), ("allgather", "recursive_doubling"), ("allreduce", "ring"), ("allreduce", "rabenseifner"),
    ("alltoall", "linear_sync"), ("barrier", "tree"), ("bcast", "binomial"), ("bcast", "scatter_allgather"),
    ("gather", "basic_linear"), ("reduce", "in-order_binary"), ("reduce_scatter", "recursive_halving"),
    ("scan", "linear"),
]  # fmt: skip


def of(*programs: list[Any]) -> oa.Schedule:
    return oa.Schedule(len(programs), lambda rank: iter(programs[rank]))


@pytest.mark.parametrize(("collective", "algorithm"), ALGORITHMS)
@pytest.mark.parametrize("P", [2, 5, 8, 13])
def test_times_are_those_of_the_engine(collective: str, algorithm: str, P: int) -> None:
    schedule = oa.schedule(collective, algorithm, P, count=40, segment_bytes=64)
    for network, values in NETWORKS:
        trace = schedule.trace(network, **values)
        assert list(trace.finish) == schedule.finish(network, **values)
        assert trace.time == schedule.time(network, **values)


@pytest.mark.parametrize(("collective", "algorithm"), ALGORITHMS)
@pytest.mark.parametrize("P", [2, 5, 8, 13])
def test_the_critical_path_is_as_long_as_the_collective(collective: str, algorithm: str, P: int) -> None:
    schedule = oa.schedule(collective, algorithm, P, count=40, segment_bytes=64)
    for network, values in NETWORKS:
        path = schedule.trace(network, **values).path
        assert path[0].start == 0
        assert path[-1].end == schedule.time(network, **values)
        assert all(a.end == b.start for a, b in pairwise(path))
        if isinstance(path[0].start + path[-1].end, F):
            assert sum(part.end - part.start for part in path) == schedule.time(network, **values)


@pytest.mark.parametrize(("collective", "algorithm"), ALGORITHMS)
def test_every_message_and_reduction_is_there(collective: str, algorithm: str) -> None:
    schedule = oa.schedule(collective, algorithm, P=7, count=40)
    messages = [(k, *m) for k, each in enumerate(schedule.rounds()) for m in each.messages]
    reductions = [(k, *r) for k, each in enumerate(schedule.rounds()) for r in each.reductions]
    for network, values in NETWORKS:
        trace = schedule.trace(network, **values)
        assert sorted((m.round, m.source, m.destination, m.nbytes) for m in trace.messages) == sorted(messages)
        assert sorted((r.round, r.rank, r.nbytes) for r in trace.reductions) == sorted(reductions)


def test_a_port_takes_one_message_after_another() -> None:
    trace = of([isend(1, 2), isend(2, 4), wait_sends()], [recv(0, 2)], [recv(0, 4)]).trace(oa.Hockney(), **HOCKNEY)
    first, second = trace.messages
    assert (first, second) == (Message(0, 1, 2, 0, 0, 11), Message(0, 2, 4, 0, 11, 23))
    assert [part.event for part in trace.path] == [first, second]


def test_a_late_receiver_decides_under_rendezvous() -> None:
    trace = of([send(1, 8, 1)], [reduce(10, 0), recv(0, 8, 1)]).trace(oa.Hockney(), **HOCKNEY)
    assert trace.reductions == (Reduction(1, 10, 0, 0, 30),)
    assert [(part.event, part.start, part.end) for part in trace.path] == [
        (trace.reductions[0], 0, 30),
        (Message(0, 1, 8, 1, 30, 44), 30, 44),
    ]


def test_an_eager_message_costs_a_late_receiver_its_bytes_alone() -> None:
    trace = of([send(1, 8)], [reduce(100), recv(0, 8)]).trace(oa.LogGP(), **LOGGP)
    (message,) = trace.messages
    assert (message.start, message.end) == (0, 103 + F(7, 2))
    assert [(part.source, part.destination, part.start) for part in trace.path] == [(1, 1, 0), (1, 1, 100)]


def test_an_eager_message_on_its_way_is_one_part() -> None:
    (part,) = of([send(1, 8)], [recv(0, 8)]).trace(oa.LogGP(), **LOGGP).path
    assert (part.source, part.destination, part.start, part.end) == (0, 1, 0, 26 + F(7, 2))


def test_the_gap_of_a_port_is_a_part_of_the_path() -> None:
    sender = [isend(1, 3), isend(2, 3), wait_sends()]
    path = of(sender, [recv(0, 3)], [recv(0, 3)]).trace(oa.LogGP(), **LOGGP).path
    assert [(part.source, part.destination, part.end) for part in path] == [(0, 0, 8), (0, 2, 35)]


def test_a_shared_card_is_a_part_of_the_path() -> None:
    def program(rank: int) -> Any:
        yield exchange((rank + 2) % 4, 8, (rank + 2) % 4, 8)

    trace = oa.Schedule(4, program).trace(oa.TwoLevel(2, 1), **NODES)
    assert [(part.start, part.end) for part in trace.path] == [(0, 4), (4, 18)]


def test_rounds_of_a_channel_follow_the_order_of_its_messages() -> None:
    trace = of([isend(1, 4, 3), isend(1, 8, 5), wait_all()], [irecv(0, 4, 3), irecv(0, 8, 5), wait_all()]).trace(
        oa.Hockney(), **HOCKNEY
    )
    assert [(m.nbytes, m.round) for m in trace.messages] == [(4, 3), (8, 5)]


def test_one_rank_and_no_rank_wait_for_nothing() -> None:
    trace = oa.schedule("allreduce", "ring", P=1, count=4).trace(oa.Hockney(), **HOCKNEY)
    assert (trace.messages, trace.path, trace.time) == ((), (), 0)
    assert Trace(0, (), (), ()).time == 0
    assert "P = 1: 0 messages" in repr(trace)


def test_errors_are_those_of_the_engine() -> None:
    with pytest.raises(ScheduleError, match="deadlocks"):
        of([recv(1, 4)], [recv(0, 4)]).trace(oa.Hockney(), **HOCKNEY)
    with pytest.raises(UnknownNameError, match="no value was given for beta"):
        of([send(1, 4)], [recv(0, 4)]).trace(oa.Hockney(), alpha=1)
    with pytest.raises(QuantityError, match="gamma"):
        of([reduce(4)]).trace(oa.Hockney(), alpha=1, beta=1)
