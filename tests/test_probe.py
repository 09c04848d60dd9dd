"""The probes without MPI: ranks are threads, the GPU is NumPy, and the log is read back."""

from __future__ import annotations

import io
import math
import queue
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

import orrery_analytic as oa
from orrery_analytic.errors import FileMissingError, OrreryError, QuantityError
from orrery_analytic.logs import read
from orrery_analytic.probe import command, timing
from orrery_analytic.probe.options import PROBES, Options, checked, parser
from orrery_analytic.probe.text import osu_row, osu_title, own_row, own_title, stopped, unsteady
from orrery_analytic.probe.timing import Times, measure, repetitions, sweep

UNDEFINED = -1
SECONDS_TO_WAIT = 20


class Board:
    """What the ranks of a communicator share."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.meet = threading.Barrier(size, timeout=SECONDS_TO_WAIT)
        self.slots: list[Any] = [None] * size
        self.mail: dict[tuple[int, int], queue.Queue[bytes]] = {
            (a, b): queue.Queue() for a in range(size) for b in range(size)
        }


class Communicator:
    """As much of mpi4py's as the probes use; sends are eager."""

    def __init__(self, board: Board, rank: int) -> None:
        self.board, self.rank, self.size = board, rank, board.size

    def allgather(self, value: Any) -> list[Any]:
        self.board.slots[self.rank] = value
        self.board.meet.wait()
        values = list(self.board.slots)
        self.board.meet.wait()
        return values

    def bcast(self, value: Any, root: int) -> Any:
        return self.allgather(value)[root]

    def Barrier(self) -> None:
        self.board.meet.wait()

    def Ibarrier(self) -> Any:
        self.Barrier()
        return SimpleNamespace(Test=lambda: True)

    def Split(self, color: int, key: int) -> Communicator | None:
        colors = self.allgather(color)
        ranks = [rank for rank, each in enumerate(colors) if each == color]
        boards = self.allgather(Board(len(ranks)) if ranks[0] == self.rank else None)
        return None if color == UNDEFINED else Communicator(boards[ranks[0]], ranks.index(self.rank))

    def Split_type(self, kind: int) -> Communicator | None:
        return self.Split(0, self.rank)

    def Free(self) -> None:
        pass

    def Send(self, message: list[Any], to: int, tag: int = 0) -> None:
        if to != UNDEFINED:
            self.board.mail[self.rank, to].put(message[0].tobytes())

    def Recv(self, message: list[Any], source: int, tag: int) -> None:
        received = self.board.mail[source, self.rank].get(timeout=SECONDS_TO_WAIT)
        assert len(received) == len(message[0])

    def Isend(self, message: list[Any], to: int, tag: int) -> Callable[[], None]:
        self.Send(message, to, tag)
        return lambda: None

    def Irecv(self, message: list[Any], source: int, tag: int) -> Callable[[], None]:
        return lambda: self.Recv(message, source, tag)

    def Allreduce(self, given: list[Any], total: list[Any]) -> None:
        assert self.size == 1


def mpi_of(comm: Communicator, host: str = "node") -> Any:
    """What a rank sees as the module `mpi4py.MPI`."""

    def add(given: Any, total: Any) -> None:
        total += given

    return SimpleNamespace(
        COMM_WORLD=comm,
        COMM_SELF=Communicator(Board(1), 0),
        COMM_TYPE_SHARED=0,
        UNDEFINED=UNDEFINED,
        PROC_NULL=UNDEFINED,
        BYTE="byte",
        FLOAT="float",
        SUM=SimpleNamespace(Reduce_local=add),
        Request=SimpleNamespace(Waitall=lambda requests: [wait() for wait in requests]),
        Get_processor_name=lambda: host,
        Get_library_version=lambda: "Some MPI v1.2, built here\nsecond line\0",
    )


def options(*words: str) -> Options:
    return checked(parser().parse_args([*words]))


def on_ranks(size: int, *words: str) -> list[OrreryError | None]:
    """Run the probes on so many ranks, each in a thread; the error of each."""
    board, failed = Board(size), [None] * size

    def rank(at: int) -> None:
        try:
            command.run(mpi_of(Communicator(board, at)), options(*words))
        except OrreryError as error:
            failed[at] = error  # type: ignore[call-overload]

    ranks = [threading.Thread(target=rank, args=(at,)) for at in range(size)]
    for thread in ranks:
        thread.start()
    for thread in ranks:
        thread.join(3 * SECONDS_TO_WAIT)
    assert not any(thread.is_alive() for thread in ranks)
    return failed


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """CuPy whose device is the host."""
    cupy = ModuleType("cupy")

    def zeros(size: int, dtype: Any) -> Any:
        made = np.zeros(size, dtype)
        moved = lambda address, nbytes: used.append(("copy", nbytes, address > 0))  # noqa: E731
        return SimpleNamespace(
            data=SimpleNamespace(copy_to_host=moved, copy_from_host=moved),
            view=made.view,
        )

    used: list[Any] = []

    class CUDARuntimeError(RuntimeError):
        pass

    runtime = SimpleNamespace(
        is_hip=False,
        CUDARuntimeError=CUDARuntimeError,
        deviceSynchronize=lambda: None,
        getDeviceCount=lambda: 2,
        getDeviceProperties=lambda number: {"name": f"Some GPU {number}".encode()},
    )
    cupy.__dict__.update(
        zeros=zeros,
        add=np.add,
        used=used,
        RawKernel=lambda code, name: lambda grid, block, arguments: used.append((name, grid, block)),
        cuda=SimpleNamespace(
            runtime=runtime,
            Device=lambda number: SimpleNamespace(use=lambda: used.append(("device", number))),
            alloc_pinned_memory=lambda size: SimpleNamespace(ptr=1),
        ),
    )
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    return cupy


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few repetitions, and no limit that a busy machine reaches."""
    monkeypatch.setattr(timing, "_MOST_SAMPLES", 5)
    monkeypatch.setattr(timing, "_MOST_IN_A_SAMPLE", 3)
    monkeypatch.setattr(timing, "_MOST_WARM_UP", 3)


# --- the whole run ---


@pytest.mark.usefixtures("no_gpu", "quick")
def test_two_ranks_write_a_log_that_read_reads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "here.log"
    assert on_ranks(2, "--out", str(path), "--sizes", "1,8,1KiB") == [None, None]
    head = path.read_text().splitlines()[:4]
    assert head == [
        f"# orrery_analytic probe {oa.__version__}",
        "# library: Some MPI v1.2, built here",
        "# ranks: 2 on 1 host; first and last rank on the same host",
        "# buffers: host",
    ]
    table = read(path)  # a line that is not read would be a warning, and that an error
    found = dict(list(table.groupby("benchmark", sort=False)))
    messages = ["osu_latency", "osu_bw", "osu_bibw", "osu_mbw_mr"]
    own = ["probe_reduce_local", "probe_call_barrier", "probe_call_allreduce", "probe_call_send"]
    assert list(found) == messages + own
    for name in messages:
        assert found[name]["n"].tolist() == [1, 8, 1024]
        assert set(found[name]["ranks"]) == {2}
    assert found["probe_reduce_local"]["n"].tolist() == [8, 1024]
    assert set(table["buffers"]) == {"host"}
    assert (table["seconds"].fillna(table["n"] / table["bandwidth_bytes_per_s"]) > 0).all()
    assert set(table.loc[table["benchmark"].isin(own), "library"]) == {"Some MPI v1.2, built here"}
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "latency: 1 KiB, 3 of 3" in printed.err
    assert "left out: copies, launches, kernel: " in printed.err


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(("size", "pairs"), [(3, 1), (5, 2)])
def test_more_ranks_first_and_last_play_and_pairs_send(
    size: int, pairs: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not any(on_ranks(size, "--only", "message_rate,latency", "--sizes", "4:8", "--quiet"))
    printed = capsys.readouterr()
    assert printed.err == ""
    table = read(printed.out)
    assert table["benchmark"].tolist() == ["osu_latency"] * 2 + ["osu_mbw_mr"] * 2
    assert table["ranks"].tolist() == [2, 2, 2 * pairs, 2 * pairs]


@pytest.mark.usefixtures("quick")
def test_device_buffers_copies_launches_and_a_kernel(gpu: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert not any(on_ranks(1, "--only", "call,copies,launches,kernel", "--sizes", "4,64", "--buffers", "device"))
    text = capsys.readouterr().out
    assert "# device: Some GPU 0" in text
    table = read(text).set_index("benchmark")
    copies = [f"probe_copy_{way}_{memory}" for way in ("d2h", "h2d") for memory in ("pageable", "pinned")]
    calls = ["probe_call_barrier", "probe_call_allreduce", "probe_call_send"]
    assert list(dict.fromkeys(table.index)) == [*calls, *copies, "probe_launch", "probe_launch_sync", "probe_kernel"]
    assert table.loc[copies[0], "n"].tolist() == [4, 64]
    assert (table.loc["probe_kernel", "n"], table.loc["probe_launch", "n"]) == (64, 0)
    assert set(table.loc["probe_copy_d2h_pinned", "send_buffer"]) == {"device"}
    assert set(table.loc["probe_copy_d2h_pinned", "recv_buffer"]) == {"host"}
    assert set(table.loc[copies, "collective"]) == {"copy"}
    assert set(table.loc[calls, "buffers"]) == {"device"}
    assert {("copy", 4, True), ("copy", 64, True), ("empty", (1,), (1,)), ("device", 0)} <= set(gpu.used)


def test_a_pinned_copy_can_be_fitted() -> None:
    times = [(size, Times(2e-6 + size / 20e9, 2e-6, 3e-6, 100)) for size in (1, 1024, 2**20, 2**24)]
    title = own_title("1", "probe_copy_h2d_pinned", collective="copy", send="host", recv="device")
    fit = oa.fit(read("\n".join([*title, *(own_row(*each) for each in times), ""])))
    assert fit.parameters["alpha_pinned_h2d"] == pytest.approx(2e-6, rel=0.01)
    assert 1 / fit.parameters["beta_pinned_h2d"] == pytest.approx(20e9, rel=0.01)


# --- refusals ---


def test_one_rank_says_how_to_start_two() -> None:
    (error,) = on_ranks(1)
    assert isinstance(error, QuantityError)
    assert "mpirun -n 2 python -m orrery_analytic.probe" in str(error)


@pytest.mark.usefixtures("no_gpu")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--out", "/nowhere/here.log"], "--out '/nowhere/here.log' cannot be written"),
        (["--buffers", "device"], "pip install cupy-cuda12x"),
        (["--only", "copies"], "pip install cupy-cuda12x"),
    ],
)
def test_what_fails_on_one_rank_is_an_error_on_all(words: list[str], said: str) -> None:
    for error in on_ranks(2, *words):
        assert isinstance(error, FileMissingError)
        assert said in str(error)


def test_without_a_device(gpu: Any) -> None:
    def fail() -> None:
        raise gpu.cuda.runtime.CUDARuntimeError("cudaErrorNoDevice")

    gpu.cuda.runtime.getDeviceCount = fail
    (error,) = on_ranks(1, "--only", "launches")
    assert "no GPU that it can use (cudaErrorNoDevice)" in str(error)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--only", "latancy"], "'latency'"),
        (["--only", ""], "Allowed: latency, bandwidth"),
        (["--sizes", "0"], "whole bytes from 1 to 1 GiB"),
        (["--sizes", "2GiB"], "whole bytes from 1 to 1 GiB"),
        (["--sizes", "1.5 B"], "whole bytes from 1 to 1 GiB"),
        (["--sizes", "8:4"], "from a larger size to a smaller one"),
        (["--sizes", "8,"], "no number followed by a unit"),
        (["--sizes", "9" * 5000], "a size in --sizes"),
        (["--time-limit", "nan"], "--time-limit"),
        (["--time-limit", "0"], "--time-limit"),
        (["--time-limit", "soon"], "--time-limit"),
        (["--buffers", "gpu"], "Allowed: host, device"),
    ],
)
def test_options_are_checked(words: list[str], said: str) -> None:
    with pytest.raises(OrreryError, match=said):
        options(*words)


def test_options() -> None:
    given = options("--sizes", "1:1 KiB", "--only", "copies, latency", "--time-limit", "2 ms")
    assert given.sizes == tuple(2**k for k in range(11))
    assert (given.probes, given.chosen, given.limit) == (("latency", "copies"), True, 0.002)
    assert checked(parser().parse_args([])).sizes[-1] == 4 * 2**20
    assert checked(parser().parse_args([])).probes == PROBES


@pytest.mark.parametrize(
    ("error", "said"), [(ImportError("no mpi4py"), r"orrery_analytic\[probe\]"), (RuntimeError("no libmpi"), "apt-get")]
)
def test_without_mpi(
    error: Exception, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(name: str) -> None:
        raise error

    monkeypatch.setattr(command, "import_module", fail)
    assert command.main([]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert said.replace("\\", "") in printed.err


def test_a_rank_that_fails_ends_the_others(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    statuses: list[int] = []
    comm = SimpleNamespace(rank=1, size=2, Abort=statuses.append)
    monkeypatch.setattr(command, "import_module", lambda name: SimpleNamespace(COMM_WORLD=comm))
    command.main(["--quiet"])  # this communicator can do nothing
    assert statuses == [1]
    assert "AttributeError" in capsys.readouterr().err


# --- time ---


class Clock:
    """Stands still but when something runs."""

    def __init__(self, seconds: list[float]) -> None:
        self.time, self.seconds, self.runs = 0.0, seconds, 0

    def __call__(self) -> float:
        return self.time

    def run(self, iterations: int) -> None:
        self.time += iterations * self.seconds[self.runs % len(self.seconds)]
        self.runs += 1


@pytest.mark.parametrize(
    ("seconds", "share", "expected"),
    [(3e-6, 1.0, (200, 34)), (1e-3, 0.05, (50, 1)), (1.0, 0.1, (5, 1)), (0.0, 1.0, (200, 10_000))],
)
def test_repetitions(seconds: float, share: float, expected: tuple[int, int]) -> None:
    assert repetitions(seconds, share) == expected


def test_the_median_is_taken_after_a_warm_up() -> None:
    # The first two runs are the warm-up; then five samples.
    clock = Clock([9.0, 1.0, 4.0, 2.0, 3.0, 5.0, 100.0])
    settled: list[float] = []
    times = measure(clock.run, 1.0, settle=lambda: settled.append(clock.time), now=clock)
    assert times == Times(4.0, 2.0, 100.0, 5)
    assert len(settled) == 7


def test_no_size_is_begun_after_the_limit() -> None:
    clock = Clock([0.01])
    taken = list(sweep([1, 2, 4, 8], lambda size: clock.run, 0.5, now=clock))
    assert [size for size, _ in taken] == [1, 2, 4, 8]
    assert clock.time < 0.7
    slow = Clock([1.0])
    assert [size for size, _ in sweep([1, 2, 4, 8], lambda size: slow.run, 0.5, now=slow)] == [1]


# --- text ---


def test_lines_in_the_form_of_osu() -> None:
    times = Times(4e-6, 3e-6, 5e-6, 100)
    assert osu_title("latency", "1.0") == [
        "",
        "# OSU MPI Latency Test (orrery_analytic probe 1.0)",
        "# Size          Latency (us)",
    ]
    assert osu_row("latency", 8, times).split() == ["8", "2.000"]
    assert osu_row("bandwidth", 1000, times, 64).split() == ["1000", "16000.000"]
    assert osu_row("message_rate", 1000, times, 64).split() == ["1000", "16000.000", "16000000.000"]
    device = osu_title("message_rate", "1.0", "CUDA", 2, 64)
    assert device[1].startswith("# OSU MPI-CUDA Multiple Bandwidth / Message Rate Test")
    (row,) = read("\n".join([*device, osu_row("message_rate", 1000, times, 128), ""])).to_dict("records")
    assert (row["benchmark"], row["buffers"], row["ranks"]) == ("osu_mbw_mr", "device", 4)
    assert (row["bandwidth_bytes_per_s"], row["messages_per_s"]) == (pytest.approx(32e9), pytest.approx(32e6))


REDUCTION = [
    *osu_title("bandwidth", "1.0"),
    osu_row("bandwidth", 64, Times(1e-5, 1e-5, 1e-5, 9), 64),
    stopped(10.0, 128),
    unsteady([64], 1),
    *own_title(
        "1.0", "probe_reduce_local", collective="reduce_local", reduction="sum", ranks=1, send="host", recv="host"
    ),
    *(own_row(4**k, Times(1e-6 * k, 0.5e-6 * k, 2e-6 * k, 200 * k)) for k in range(1, 9)),
    unsteady([4], 8),
    *own_title("1.0", "probe_call_barrier", ranks=1, send="host", recv="host"),
    own_row(0, Times(0.06e-6, 0.05e-6, 0.07e-6, 1000)),
    "",
]


def test_rows_of_our_own() -> None:
    table = read("\n".join(REDUCTION))
    assert table["benchmark"].tolist() == ["osu_bw"] + ["probe_reduce_local"] * 8 + ["probe_call_barrier"]
    row = table.iloc[3]
    assert (row["n"], row["iterations"], row["ranks"], row["version"]) == (64, 600, 1, "1.0")
    assert (row["seconds"], row["best_seconds"], row["p90_seconds"]) == pytest.approx((3e-6, 1.5e-6, 6e-6))
    assert (row["reduction"], row["buffers"]) == ("sum", "host")


@pytest.mark.parametrize("prefix", ["", "[1,0]<stdout>:", "0: ", "> "])
def test_labels_of_launchers(prefix: str) -> None:
    assert len(read("\n".join(prefix + line for line in REDUCTION))) == 10


@pytest.mark.parametrize(
    ("damage", "rows", "said"),
    [
        (lambda lines: [*lines[:-2], lines[-2][:-1]], 9, "row breaks off"),
        (lambda lines: [*lines[:-2], ""], 9, "no measured row under"),
        (lambda lines: [*lines[:-4], lines[-2], ""], 10, "sizes start again"),
        (lambda lines: [lines[-2], *lines], 10, "a row without its title"),
        (lambda lines: [line.replace(" 1.5000", " x.5000") for line in lines], 9, "no row of size"),
        (lambda lines: [line.replace("256  ", "256x ") for line in lines], 9, "does not begin with a size"),
    ],
)
def test_damaged_rows_are_named(damage: Callable[[list[str]], list[str]], rows: int, said: str) -> None:
    with pytest.warns(oa.logs.LogWarning, match=said):
        assert len(read("\n".join(damage(REDUCTION)))) == rows


def test_rows_without_their_title_are_read() -> None:
    table = read("\n".join(line for line in REDUCTION if "benchmark=" not in line))
    assert len(table) == 10
    assert "probe_reduce_local" not in set(table["benchmark"])


@st.composite
def mutated(draw: st.DrawFn) -> tuple[str, set[int]]:
    """A damaged log, and the lines of its rows that are as they were."""
    known = set(read("\n".join(REDUCTION))["line"])
    lines = [(line, at in known) for at, line in enumerate(REDUCTION, 1)]
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(lines) - 1))
        line, _ = lines[at]
        place = draw(st.integers(0, len(line)))
        new = draw(st.sampled_from(["", "12 ", "x", " 1.5 ", "#", "\ufffd"]))
        kind = draw(st.sampled_from(["insert", "change", "cut", "drop"]))
        if kind == "insert":
            lines.insert(at, (new, False))
        elif kind == "change":
            lines[at] = (line[:place] + new + line[place:], False)
        elif kind == "cut":
            lines[at] = (line[:place], False)
        elif len(lines) > 1:
            del lines[at]
    return "\n".join(line for line, _ in lines) + "\n", {at for at, (_, row) in enumerate(lines, 1) if row}


@hypothesis.given(mutated())
@hypothesis.settings(max_examples=100, deadline=None, suppress_health_check=list(hypothesis.HealthCheck))
@pytest.mark.filterwarnings("ignore::orrery_analytic.logs.LogWarning")
def test_whole_rows_are_read_or_a_line_that_stopped_them_is_named(case: tuple[str, set[int]]) -> None:
    text, whole = case
    try:
        table = read(io.StringIO(text))
    except OrreryError as error:
        assert not whole or "Line " in str(error)  # noqa: PT017
        return
    named = [problem.line for problem in table.attrs["warnings"]]
    for line in whole - set(table["line"]):
        assert min(named, default=math.inf) <= line
