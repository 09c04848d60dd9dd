"""Schedules that people bring: GOAL and CSV, there and back, made elsewhere, and malformed."""

import contextlib
import re
from fractions import Fraction as F

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import orrery_analytic as oa
from orrery_analytic.collectives.registry import COMPOSED, find, list_algorithms
from orrery_analytic.errors import FileMissingError, FormatError, OrreryError, QuantityError, ScheduleError
from orrery_analytic.schedules.goal import read_goal, write_goal
from orrery_analytic.schedules.messages import read_messages, write_messages
from orrery_analytic.schedules.operations import (
    exchange,
    irecv,
    isend,
    recv,
    reduce,
    send,
    wait_all,
    wait_recv,
    wait_send,
    wait_sends,
)

NETWORKS = [
    (oa.Hockney(), {"alpha": F(10), "beta": F(1, 2), "gamma": F(3)}),
    (oa.Hockney(), {"alpha": 1, "beta": 3, "gamma": 2}),
    (oa.TwoLevel(2, 1), {"alpha": 10, "beta": 3, "gamma": 2, "alpha_intra": 1, "beta_intra": 1}),
    (oa.LogGP(), {"L": 20, "o": 3, "g": 7, "G": 2, "gamma": 1}),
    (oa.LogGP(), {"L": 2, "o": 30, "g": 0, "G": 1, "gamma": 4}),
    (oa.LogGP(), {"L": 2, "o": 3, "g": 70, "G": F(1, 3), "gamma": 4}),
]
ALGORITHMS = [
    (collective, name)
    for collective in oa.list_collectives()
    if not collective.endswith("v")  # allgatherv and alltoallv run their twins
    for name in list_algorithms(collective)
]
CALLS = [{"count": 37}, {"count": 24, "segment_bytes": 12, "root": 1, "fan": 2, "radix": 3}]


def of(*programs):
    return oa.Schedule(len(programs), lambda rank: iter(programs[rank]))


def readings(schedule):
    return [(schedule.sends(r), schedule.receives(r), schedule.reductions(r)) for r in range(schedule.P)]


def rounds(schedule):
    return [(sorted(r.messages), sorted(r.reductions)) for r in schedule.rounds()]


def assert_alike(read, schedule):
    assert read.P == schedule.P
    assert readings(read) == readings(schedule)
    for network, values in NETWORKS:
        assert read.finish(network, **values) == schedule.finish(network, **values)


@pytest.mark.parametrize(("collective", "name"), ALGORITHMS)
def test_there_and_back(collective, name):
    exists = bool if (collective, name) in COMPOSED else find(collective, name).exists
    for ranks in filter(exists, (2, 3, 5, 8, 13)):
        for call in CALLS:
            schedule = oa.schedule(collective, name, ranks, **call)
            from_goal = read_goal(write_goal(schedule))
            assert_alike(from_goal, schedule)
            assert rounds(from_goal) == rounds(schedule)
            from_table = read_messages(write_messages(schedule), P=ranks)
            assert [list(from_table.operations(r)) for r in range(ranks)] == [
                list(schedule.operations(r)) for r in range(ranks)
            ]


@st.composite
def programs(draw):
    """Programs of 2 to 4 ranks that cannot deadlock: messages in one order for all, with waits in between."""
    ranks = draw(st.integers(2, 4))
    out = [[] for _ in range(ranks)]
    posted = [[0, 0] for _ in range(ranks)]  # sends and receives that are not waited for
    for i in range(draw(st.integers(0, 12))):
        kind = draw(st.sampled_from(["message", "message", "message", "reduce", "wait", "swap"]))
        a = draw(st.integers(0, ranks - 1))
        b = (a + draw(st.integers(1, ranks - 1))) % ranks
        size, other = draw(st.integers(0, 50)), draw(st.integers(0, 50))
        if kind == "reduce":
            out[a].append(reduce(size, i))
        elif kind == "swap":
            out[a].append(exchange(b, size, b, other, i))
            out[b].append(exchange(a, other, a, size, i))
        elif kind == "wait":
            sends, receives = posted[a]
            wait = draw(st.sampled_from([wait_all(), wait_sends(), wait_send(), wait_recv()]))
            if (wait == wait_send() and not sends) or (wait == wait_recv() and not receives):
                continue
            out[a].append(wait)
            posted[a] = [
                sends - 1 if wait == wait_send() else sends if wait == wait_recv() else 0,
                receives - 1 if wait == wait_recv() else 0 if wait == wait_all() else receives,
            ]
        else:
            blocks = draw(st.tuples(st.booleans(), st.booleans()))
            out[a].append((send if blocks[0] else isend)(b, size, i))
            out[b].append((recv if blocks[1] else irecv)(a, size, i))
            posted[a][0] += not blocks[0]
            posted[b][1] += not blocks[1]
    return [[*program, wait_all()] for program in out]


@settings(max_examples=150, deadline=None)
@given(programs())
def test_any_program_there_and_back(program):
    schedule = of(*program)
    assert_alike(read_goal(write_goal(schedule)), schedule)
    table = read_messages(write_messages(schedule), P=schedule.P)
    assert [list(table.operations(r)) for r in range(schedule.P)] == program


LINES = [
    r"num_ranks \d+",
    r"rank \d+ {",
    r"l\d+: (send \d+b to|recv \d+b from) \d+ tag \d+",
    r"l\d+: calc \d+",
    r"l\d+ i?requires l\d+",
    r"// round \d+",
    r"}",
    r"",
]


def test_goal_is_written_as_txt2bin_reads_it(tmp_path):
    text = write_goal(oa.schedule("allreduce", "rabenseifner", 6, 24), tmp_path / "a.goal")
    assert all(any(re.fullmatch(line, given) for line in LINES) for given in text.split("\n"))
    assert (tmp_path / "a.goal").read_text() == text
    assert read_goal(tmp_path / "a.goal").name == str(tmp_path / "a.goal")
    labels: set[str] = set()
    for line in text.split("\n"):  # labels are known before they are used, which txt2bin needs
        words = line.replace(":", "").split()
        if line.startswith("rank"):
            labels = set()
        elif "requires" in line:
            assert {words[0], words[2]} <= labels
        elif line.startswith("l"):
            labels.add(words[0])


def test_each_message_of_a_pair_of_ranks_has_its_own_tag():
    text = write_goal(of([send(1, 8), isend(1, 4), wait_all()], [recv(0, 8), recv(0, 4)]))
    assert "send 8b to 1 tag 0" in text
    assert "send 4b to 1 tag 1" in text
    assert "recv 4b from 0 tag 1" in text


def test_for_a_simulator():
    schedule = of([send(1, 0), reduce(10)], [recv(0, 0), reduce(7)])
    text = write_goal(schedule, calc_per_byte=F(5, 4), least_bytes=1)
    assert "send 1b to 1" in text
    assert "recv 1b from 0" in text
    assert "calc 12\n" in text  # 12.5, rounded half to even
    assert "calc 9\n" in text


def test_what_goal_cannot_say_is_read_as_a_wait():
    rash = of([isend(1, 100)], [reduce(50), recv(0, 100)])
    values = {"alpha": 10, "beta": 1, "gamma": 1}
    assert rash.finish(oa.Hockney(), **values) == [0, 160]
    assert read_goal(write_goal(rash)).finish(oa.Hockney(), **values) == [160, 160]
    assert read_messages(write_messages(rash)).finish(oa.Hockney(), **values) == [0, 160]


def dissemination(ranks):
    """As schedgen writes it: all tags 0, no irequires, receives that nothing waits for at the end."""
    rounds = (ranks - 1).bit_length()
    text = f"num_ranks {ranks}\n"
    for rank in range(ranks):
        text += f"\nrank {rank} {{\n"
        for i in range(rounds):
            text += f"l{2 * i + 1}: send 1b to {(rank + 2**i) % ranks} tag 0\n"
            text += f"l{2 * i + 1} requires l{2 * i}\n" if i else ""
            text += f"l{2 * i + 2}: recv 1b from {(rank - 2**i) % ranks} tag 0\n"
        text += "}\n"
    return text


def test_a_schedule_made_elsewhere_costs_what_its_simulator_says():
    schedule = read_goal(dissemination(16))
    assert schedule.P == 16
    assert schedule.sends(3) == [(4, 1), (5, 1), (7, 1), (11, 1)]
    # LogGOPSim's own example with its default parameters ends at 22000 ns.
    assert set(schedule.finish(oa.LogGP(), L=2500, o=1500, g=1000, G=6)) == {22000}


def test_an_operation_waits_for_what_it_requires_and_for_no_more():
    text = """num_ranks 3
        rank 0 { /* two sends, and a calculation
                    after the first */
        l1: send 100b to 1
        l2: send 100b to 2 tag 0 cpu 0 nic 0
        l3: calc 50 cpu 0
        l3 requires l1
        } rank 1 {
        recv 100b from 0 // no label: nothing waits for it
        }
        rank 2 {
        l1: recv 100b from 0 tag -1
        }
        """
    schedule = read_goal(text)
    assert list(schedule.operations(0)) == [isend(1, 100), isend(2, 100), wait_send(), reduce(50), wait_all()]
    assert schedule.finish(oa.Hockney(), alpha=10, beta=1, gamma=1) == [220, 110, 220]
    later = text.replace("l3 requires l1", "l3 requires l1\nl3 requires l2")
    assert read_goal(later).finish(oa.Hockney(), alpha=10, beta=1, gamma=1) == [270, 110, 220]
    started = text.replace("l3 requires l1", "l3 irequires l1")
    assert list(read_goal(started).operations(0))[2] == reduce(50)


def test_operations_are_posted_as_early_as_their_graph_allows():
    text = """num_ranks 2
        rank 0 {
        a: recv 8b from 1 tag 1
        b: send 8b to 1 tag 2
        b requires a
        c: send 4b to 1 tag 1
        }
        rank 1 {
        a: recv 4b from 0 tag 1
        b: recv 8b from 0 tag 2
        c: send 8b to 0 tag 1
        c requires a
        }
        """
    schedule = read_goal(text)
    assert schedule.sends(0) == [(1, 4), (1, 8)]
    assert schedule.finish(oa.Hockney(), alpha=10, beta=1) == [14 + 18 + 18, 50]


def goal(*lines, ranks=2):
    rest = "".join(f"rank {r} {{\n}}\n" for r in range(1, ranks))
    return "\n".join([f"num_ranks {ranks}", "rank 0 {", *lines, "}", rest])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (goal("l1: sent 8b to 1"), "line 3: 'l1: sent 8b to 1' is not GOAL"),
        (goal("l1: send 8b from 1"), "line 3: it is send ... to"),
        (goal("l1: send 8b to 2"), "line 3: there is no rank 2; ranks are 0 to 1"),
        (goal("l1: recv 8b from -1"), "line 3: messages from any source"),
        (goal("l1: send 99999999999999999999b to 1"), "line 3: .* is not GOAL"),
        (goal("l1: send -8b to 1"), "line 3: .* is not GOAL"),
        (goal("l1: calc 8 cpu 1"), "line 3: cpu 1 is not understood"),
        (goal("l1: send 8b to 1 nic 3"), "line 3: nic 3 is not understood"),
        (goal("l1: calc 8", "l1: calc 9"), "line 4: 'l1' is there twice in rank 0"),
        (goal("l1: calc 8", "l1 requires l2"), "line 4: no operation 'l2' comes before"),
        (goal("l1: calc 8", "l1 requires l1"), "line 3: this operation waits for itself"),
        (goal("l1: calc 8", "l2: calc 8", "l1 irequires l2", "l2 requires l1"), "line 3: .* round in a circle"),
        (goal("l1: recv 8b from 1"), "line 3: rank 1 sends no such message to rank 0"),
        (goal("// round 99999999999"), "line 3: round 99999999999 is above"),
        (goal("}", "l1: calc 8"), "line 4: 'l1: calc 8' is outside a rank"),
        (goal("rank 1 {"), "line 3: rank 1 begins before rank 0 ends"),
        (goal("x" * 3000), "line 3: is 3000 characters long"),
        ("rank 0 {\n}\n", "line 1: rank 0 is there twice, or not below num_ranks"),
        ("num_ranks 2\nrank 0 {\n}\n", "there are 2 ranks, but rank 1 is missing"),
        ("num_ranks 2\nrank 0 {\n}\nrank 0 {\n}\n", "line 4: rank 0 is there twice"),
        ("num_ranks 1\nrank 0 {\nl1: calc 5\n", "the text ends inside rank 0"),
        ("num_ranks 0\n", "line 1: num_ranks must come first, from 1 to"),
        ("num_ranks 99999999\n", "line 1: num_ranks must come first, from 1 to"),
        ("num_ranks 1\n}\n", "line 2: } closes nothing"),
        ("\n", "num_ranks is missing"),
        ("num_ranks 1 /* never closed\nrank 0 {\n}\n", "rank 0 is missing"),
    ],
)
def test_malformed_goal_is_refused_with_its_line(text, message):
    with pytest.raises(FormatError, match=message):
        read_goal(text)


def test_tags_that_overtake_each_other_are_refused():
    crossed = """num_ranks 2
        rank 0 {
        send 8b to 1 tag 1
        send 8b to 1 tag 2
        }
        rank 1 {
        recv 8b from 0 tag 2
        recv 8b from 0 tag 1
        }
        """
    with pytest.raises(FormatError, match="line 7: tag 2 is received where rank 0 sends tag 1"):
        read_goal(crossed)


def test_a_table_by_hand():
    schedule = read_messages(
        """kind, rank, order, peer, nbytes
        send, 0, 1, 1, 100
        recv, 1, 5, 0, 100
        reduce, 1, 7, , 100

        isend, 1, 9, 0, 8
        wait_all, 1, 10, ,
        recv, 0, 2, 1, 8
        """
    )
    assert schedule.P == 2
    assert list(schedule.operations(0)) == [send(1, 100), recv(1, 8)]
    assert list(schedule.operations(1)) == [recv(0, 100), reduce(100), isend(0, 8), wait_all()]
    assert schedule.time(oa.Hockney(), alpha=10, beta=1, gamma=1) == 110 + 100 + 18
    assert read_messages("rank,order,kind,peer,nbytes,round\n", P=4).P == 4


def test_a_send_and_a_receive_in_one_place_are_an_exchange(tmp_path):
    schedule = of([exchange(1, 8, 1, 4, 3)], [exchange(0, 4, 0, 8, 3)])
    text = write_messages(schedule, tmp_path / "a.csv")
    assert text.splitlines() == [
        "rank,order,kind,peer,nbytes,round",
        "0,0,send,1,8,3",
        "0,0,recv,1,4,3",
        "1,0,send,0,4,3",
        "1,0,recv,0,8,3",
    ]
    assert list(read_messages(tmp_path / "a.csv").operations(0)) == [exchange(1, 8, 1, 4, 3)]


HEAD = "rank,order,kind,peer,nbytes,round\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n", "line 2: there is no head"),
        ("rank,order,kind,peer\n", "line 1: columns are missing: nbytes"),
        ("rank,order,kind,peer,nbyte\n", "line 1: .* unknown column 'nbyte'. Did you mean 'nbytes'"),
        ("rank,rank,order,kind,peer,nbytes\n", "line 1: .* unknown column 'rank'"),
        (HEAD + "0,0,sent,1,8,0\n", "line 2: unknown kind 'sent'. Did you mean 'send'"),
        (HEAD + "0,0,send,1,8\n", "line 2: it has 5 cells under a head of 6"),
        (HEAD + "0,0,send,,8,0\n", "line 2: peer is ''. Allowed: a whole number"),
        (HEAD + "0,0,send,1,8.5,0\n", "line 2: nbytes is '8.5'"),
        (HEAD + "0,0,send,1,1e3,0\n", "line 2: nbytes is '1e3'"),
        (HEAD + "-1,0,send,1,8,0\n", "line 2: rank is '-1'"),
        (HEAD + "0,0,send,9999999,8,0\n", "line 2: rank 9999999 is not below"),
        (HEAD + "0,0,send,1,8,9999999\n", "line 2: round 9999999 is above"),
        (HEAD + "0,0,wait_all,1,,\n", "line 2: wait_all has no peer, but '1' is given"),
        (HEAD + "0,0,reduce,1,8,0\n", "line 2: reduce has no peer"),
        (HEAD + '0,0,send,"1,8,0\n', "line 2: it is not CSV"),
        (HEAD + "0,0,send,1,8,0\n0,0,send,1,8,0\n", "line 3: only one send and one recv"),
        (HEAD + "0,0,send,1,8,0\n0,0,recv,1,8,1\n", "line 3: an exchange is of one round, but its rows have 0 and 1"),
    ],
)
def test_a_malformed_table_is_refused_with_its_line(text, message):
    with pytest.raises(FormatError, match=message):
        read_messages(text)


def test_ranks_that_a_table_names_must_be_there():
    for ranks in (1, 0, True, 2.5):
        with pytest.raises(QuantityError, match=r"above the ranks that .* names \(0 to 1\)"):
            read_messages(HEAD + "0,0,send,1,8,0\n", P=ranks)


@pytest.mark.parametrize("read", [read_goal, read_messages])
def test_files_that_cannot_be_read(read, tmp_path):
    with pytest.raises(FileMissingError, match=r"no file 'nowhere.goal'"):
        read("nowhere.goal")
    with pytest.raises(FormatError, match="cannot be read"):
        read(tmp_path)
    with pytest.raises(FormatError, match="cannot be read"):
        read("\0")
    with pytest.raises(FormatError, match="NoneType was given"):
        read(None)
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00\n")
    with pytest.raises(FormatError, match="not text in UTF-8"):
        read(tmp_path / "binary")
    with (tmp_path / "huge").open("wb") as file:
        file.truncate((1 << 29) + 1)  # sparse: takes no room
    with pytest.raises(FormatError, match="larger than 512 MiB"):
        read(tmp_path / "huge")


@pytest.mark.parametrize("write", [write_goal, write_messages])
def test_what_cannot_be_written(write):
    with pytest.raises(QuantityError, match="whole numbers of bytes"):
        write(of([send(1, F(1, 2))], [recv(0, F(1, 2))]))
    with pytest.raises(ScheduleError, match="unknown operation"):
        write(of([("jump", 1)]))


def test_goal_is_not_written_of_a_wait_for_nothing():
    for wait in (wait_recv(), wait_send()):
        with pytest.raises(ScheduleError, match="rank 0 waits for a message, but has none posted"):
            write_goal(of([wait]))
        with pytest.raises(ScheduleError, match=r"rank 0 waits for a (send|receive), but has none posted"):
            of([wait]).time(oa.Hockney(), alpha=1, beta=1)


GOAL_PIECES = st.sampled_from(
    "num_ranks|rank|{|}|send|recv|calc|to|from|tag|cpu|nic|requires|irequires|l1|l2|l1:|l2:|8b|0|1|2|-1|99999999999999999"
    "|//|/*|*/|;|\n|\n|\n|\t|// round 2".split("|")
)
CSV_PIECES = st.sampled_from(
    f"{HEAD}|0|1|-1|send|recv|isend|irecv|reduce|wait_all|wait_recv|,|,|,|,|\n|\n|\"|'|9999999|1e9|\r".split("|")
)


def only_our_errors(read, text):
    with contextlib.suppress(OrreryError):
        schedule = read(text)
        readings(schedule)
        schedule.time(oa.Hockney(), alpha=1, beta=1, gamma=1)


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.lists(GOAL_PIECES, max_size=60).map(" ".join), st.text(max_size=80)))
def test_no_text_breaks_the_reader_of_goal(text):
    only_our_errors(read_goal, text + "\n")


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.lists(CSV_PIECES, max_size=60).map("".join), st.text(max_size=80)))
def test_no_text_breaks_the_reader_of_tables(text):
    only_our_errors(read_messages, text + "\n")
    only_our_errors(read_messages, HEAD + text + "\n")


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_good_file_with_a_fault_in_it(data):
    for write, read in ((write_goal, read_goal), (write_messages, read_messages)):
        text = write(oa.schedule("allreduce", "ring", 3, 12))
        at = data.draw(st.integers(0, len(text) - 1))
        fault = data.draw(st.sampled_from(["", "}", ",", "0", "9", "l1", "\n", "\0", "/*", "send", '"', "é"]))
        length = data.draw(st.integers(0, 30))
        only_our_errors(read, text[:at] + fault + text[at + length :] + "\n")


def test_a_long_chain_of_requirements_is_read():
    sends = [f"l{i}: send 1b to 1\n" + (f"l{i} requires l{i - 1}\n" if i else "") for i in range(10_000)]
    receives = ["recv 1b from 0\n"] * len(sends)
    text = f"num_ranks 2\nrank 0 {{\n{''.join(sends)}}}\nrank 1 {{\n{''.join(receives)}}}\n"
    assert read_goal(text).time(oa.Hockney(), alpha=2, beta=1) == 30_000
