"""The engine: ports, rendezvous, eager sends, shared cards, and what is wrong with a wrong schedule."""

from fractions import Fraction as F

import pytest

import orrery_analytic as oa
from orrery_analytic.errors import OrreryError, QuantityError, ScheduleError, UnknownNameError
from orrery_analytic.schedules.operations import (
    exchange,
    irecv,
    isend,
    recv,
    reduce,
    send,
    shifted,
    wait_all,
    wait_recv,
    wait_sends,
)

HOCKNEY = {"alpha": F(10), "beta": F(1, 2), "gamma": F(3)}
LOGGP = {"L": F(20), "o": F(3), "g": F(7), "G": F(1, 2), "gamma": F(1)}


def of(*programs):
    return oa.Schedule(len(programs), lambda rank: iter(programs[rank]))


def finish(network, values, *programs):
    return of(*programs).finish(network, **values)


def test_one_message():
    assert finish(oa.Hockney(), HOCKNEY, [send(1, 8)], [recv(0, 8)]) == [14, 14]
    # LogGP: the sender is free after o; the receiver has the data after L + 2 o + 7 G.
    assert finish(oa.LogGP(), LOGGP, [send(1, 8)], [recv(0, 8)]) == [3, 20 + 6 + F(7, 2)]


def test_rendezvous_waits_for_the_receiver():
    assert finish(oa.Hockney(), HOCKNEY, [send(1, 8)], [reduce(10), recv(0, 8)]) == [44, 44]
    # Eager: the message lies there, and costs its overhead and its bytes.
    assert finish(oa.LogGP(), LOGGP, [send(1, 8)], [reduce(100), recv(0, 8)])[1] == 100 + 3 + F(7, 2)


def test_a_port_takes_one_message_at_a_time_in_program_order():
    times = finish(oa.Hockney(), HOCKNEY, [isend(1, 2), isend(2, 4), wait_sends()], [recv(0, 2)], [recv(0, 4)])
    assert times == [23, 11, 23]
    # Two sends lie d = max(o, g + (m - 1) G) apart.
    times = finish(oa.LogGP(), LOGGP, [isend(1, 3), isend(2, 3), wait_sends()], [recv(0, 3)], [recv(0, 3)])
    assert times == [8 + 3, 27, 35]


def test_send_and_receive_ports_are_apart():
    both = [exchange(1, 8, 1, 8)], [exchange(0, 8, 0, 8)]
    assert finish(oa.Hockney(), HOCKNEY, *both) == [14, 14]
    assert max(finish(oa.LogGP(), LOGGP, *both)) == 26 + F(7, 2)


def test_blocking_receives_in_a_row_under_loggp():
    # max(o, g) + (m - 1) G apart, and A(m) for the first.
    times = finish(oa.LogGP(), LOGGP, [send(2, 5)], [send(2, 5)], [recv(0, 5), recv(1, 5)])
    assert times[2] == 26 + 2 + (7 + 2)


def test_a_posted_receive_takes_its_message_while_the_rank_reduces():
    late = [recv(0, 8), reduce(2), recv(0, 8)]
    early = [irecv(0, 8), irecv(0, 8), wait_recv(), reduce(2), wait_recv()]
    sender = [send(1, 8), send(1, 8)]
    assert finish(oa.Hockney(), HOCKNEY, sender, late)[1] == 14 + 6 + 14
    assert finish(oa.Hockney(), HOCKNEY, sender, early)[1] == 28


def test_zero_bytes_count_as_one_under_loggp():
    assert finish(oa.LogGP(), LOGGP, [send(1, 0)], [recv(0, 0)]) == finish(
        oa.LogGP(), LOGGP, [send(1, 1)], [recv(0, 1)]
    )


def test_exact_in_exact_out_and_floats_in_floats_out():
    schedule = oa.schedule("allreduce", "ring", P=7, count=7, itemsize=1)
    exact = schedule.time(oa.Hockney(), alpha=F(1, 3), beta=F(1, 7), gamma=F(1, 11))
    assert exact == 12 * (F(1, 3) + F(1, 7)) + 6 * F(1, 11)
    assert schedule.time(oa.Hockney(), alpha=1, beta=2, gamma=0) == 36
    assert schedule.time(oa.Hockney(), alpha=1 / 3, beta=1 / 7, gamma=1 / 11) == pytest.approx(float(exact))


def test_cards_are_shared_between_nodes():
    # Four ranks on two nodes exchange across; each node has one card, then two.
    def program(rank):
        yield exchange((rank + 2) % 4, 8, (rank + 2) % 4, 8)

    schedule = oa.Schedule(4, program)
    values = {**HOCKNEY, "alpha_intra": F(1), "beta_intra": F(0)}
    assert schedule.time(oa.TwoLevel(2, 1), **values) == 10 + 2 * 4
    assert schedule.time(oa.TwoLevel(2, 2), **values) == 10 + 4
    assert schedule.time(oa.TwoLevel(2), **values) == 10 + 4
    assert schedule.time(oa.TwoLevel(4), **values) == 1  # all on one node


def test_no_card_is_kept_for_a_message_that_cannot_start():
    # Nodes of two ranks, a card each; a byte takes a second, and there is no latency. All are ready at 0.
    #   0 -> 2, 8 bytes: card 0 out, card 1 in, 0 to 8.
    #   3 -> 1, 4 bytes: card 1 out, card 0 in, at once: cards send and receive apart. 0 to 4.
    #   4 -> 3, 2 bytes: card 2 out, card 1 in, which is busy to 8. 8 to 10.
    #   5 -> 6, 3 bytes: card 2 out, card 3 in: card 2 is not kept for 4 -> 3. 0 to 3.
    values = {"alpha": 0, "beta": 1, "alpha_intra": 0, "beta_intra": 0}
    programs = ([isend(2, 8), wait_sends()], [recv(3, 4)], [recv(0, 8)], [isend(1, 4), irecv(4, 2), wait_all()],
                [send(3, 2)], [send(6, 3)], [recv(5, 3)], [])  # fmt: skip
    assert finish(oa.TwoLevel(2, 1), values, *programs) == [8, 4, 8, 10, 10, 3, 3, 0]


def test_who_was_ready_first_goes_first_and_then_the_lower_rank():
    # Card 0 sends 0 -> 3 (4 bytes) from 0 to 4. Rank 2 is ready at 1, rank 1 after 2 s of reductions: 2 -> 5 goes
    # first, from 4 to 6, then 1 -> 4, to 9. Each arrives its latency of 10 s later.
    values = {"alpha": 10, "beta": 1, "alpha_intra": 0, "beta_intra": 0, "gamma": 1}
    late, early = [reduce(2), send(4, 3)], [reduce(1), send(5, 2)]
    receivers = [recv(0, 4)], [recv(1, 3)], [recv(2, 2)]
    assert finish(oa.TwoLevel(3, 1), values, [send(3, 4)], late, early, *receivers)[3:] == [14, 19, 16]
    # Both ready at 1: 1 -> 4 from 4 to 7, 2 -> 5 from 7 to 9.
    late[0] = reduce(1)
    assert finish(oa.TwoLevel(3, 1), values, [send(3, 4)], late, early, *receivers)[3:] == [14, 17, 19]


def test_rounding_does_not_decide_who_goes_first():
    # Ranks are ready together, but reach that time by sums in another order.
    values = {"alpha": 3.1e-6, "beta": 1 / 7.3e9, "alpha_intra": 4.7e-7, "beta_intra": 1 / 3.1e10, "gamma": 1 / 1.7e10}
    schedule = oa.schedule("reduce_scatter_block", "recursive_doubling", P=32, count=96)
    for network in (oa.TwoLevel(2, 1), oa.TwoLevel(4, 1), oa.TwoLevel(8, 3)):
        exact = schedule.time(network, **{name: F(value) for name, value in values.items()})
        assert schedule.time(network, **values) == pytest.approx(float(exact), rel=1e-12)
        assert schedule.trace(network, **values).time == pytest.approx(float(exact), rel=1e-12)


def test_large_allgather_on_shared_cards_recursive_doubling_loses_to_ring():
    # Leonardo, 16 ranks on 4 nodes, 256 MiB in all, one effective card of 12.8 GB/s a node: 19.7 and 62.9 ms.
    values = {"alpha": 0.0, "beta": 1 / 12.8e9, "alpha_intra": 0.0, "beta_intra": 0.0}
    block = 2**28 // 16

    def milliseconds(algorithm, cards):
        schedule = oa.schedule("allgather", algorithm, P=16, count=block, itemsize=1)
        return 1e3 * schedule.time(oa.TwoLevel(4, cards), **values)

    assert milliseconds("ring", 1) == pytest.approx(19.66, abs=0.01)
    assert milliseconds("recursive_doubling", 1) == pytest.approx(62.91, abs=0.01)
    assert milliseconds("recursive_doubling", 2) == pytest.approx(31.46, abs=0.01)
    assert milliseconds("recursive_doubling", 4) == pytest.approx(15.73, abs=0.01)


def test_rounds_and_readings():
    schedule = of(
        [send(1, 4, 0), isend(2, 6, 1), wait_all()], [recv(0, 4, 0), reduce(4, 1)], [irecv(0, 6, 1), wait_all()]
    )
    first, second = schedule.rounds()
    assert first.messages == ((0, 1, 4),)
    assert (second.nbytes, second.reduced, first.reduced) == (6, 4, 0)
    assert schedule.sends(0) == [(1, 4), (2, 6)]
    assert schedule.receives(2) == [(0, 6)]
    assert schedule.reductions(1) == [4]
    later = oa.Schedule(3, shifted(schedule.program, 5))
    assert len(later.rounds()) == 7
    assert "P = 3" in repr(schedule)
    with pytest.raises(QuantityError, match="ranks 0 to 2"):
        schedule.sends(3)


@pytest.mark.parametrize(
    ("programs", "message"),
    [
        (([recv(1, 4)], [recv(0, 4)]), "deadlocks"),
        (([send(1, 4), recv(1, 4)], [send(0, 4), recv(0, 4)]), "deadlocks"),
        (([isend(1, 4)], []), "from rank 0 to rank 1 is never received"),
        (([irecv(1, 4)], []), "from rank 1 to rank 0 is never sent"),
        (([send(1, 4)], [recv(0, 8)]), "sends 4 bytes to rank 1, which expects 8"),
        (([send(7, 4)], []), "ranks are 0 to 1"),
        (([wait_recv()], []), "has none posted"),
        (([("jump", 1)], []), "unknown operation"),
    ],
)
def test_a_wrong_schedule_says_what_is_wrong(programs, message):
    with pytest.raises(ScheduleError, match=message):
        finish(oa.Hockney(), HOCKNEY, *programs)


def test_missing_numbers_are_named():
    schedule = of([send(1, 4)], [recv(0, 4), reduce(4)])
    with pytest.raises(UnknownNameError, match=r"beta \(time a byte"):
        schedule.time(oa.Hockney(), alpha=1)
    with pytest.raises(QuantityError, match="gamma"):
        schedule.time(oa.Hockney(), alpha=1, beta=1)
    assert of([send(1, 4)], [recv(0, 4)]).time(oa.Hockney(2, 3)) == 14  # numbers in the network, nothing reduced


@pytest.mark.parametrize("bad", [0, -1, 1.5, True, "4"])
def test_a_node_has_a_whole_number_of_ranks(bad):
    with pytest.raises(OrreryError, match="ranks_per_node must be a whole number"):
        oa.TwoLevel(bad)


@pytest.mark.parametrize(
    ("argument", "value"), [("P", 0), ("P", 2.5), ("count", -1), ("itemsize", 0), ("root", 4), ("fan", 0)]
)
def test_numbers_out_of_range_are_refused(argument, value):
    arguments = {"P": 4, "count": 4, argument: value}
    with pytest.raises(QuantityError, match=f"{argument} must be a whole number"):
        oa.schedule("bcast", "chain", **arguments)


def test_names_are_checked_on_one_rank_too():
    with pytest.raises(UnknownNameError, match="Did you mean 'recursive_doubling'"):
        oa.schedule("allreduce", "recursive-doubling", P=1)
    with pytest.raises(UnknownNameError, match="Did you mean 'allreduce'"):
        oa.schedule("all_reduce", "ring", P=4)
