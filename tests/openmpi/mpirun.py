"""The real Open MPI: collectives under `mpirun`, and every message that each rank sent."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

import pytest

RANKS = 8
TIMEOUT_SECONDS = 120
RELEASE = "Open MPI 4.1"
MCA = {
    "btl": "self,vader",
    "btl_vader_single_copy_mechanism": "none",  # containers forbid the others
    "plm": "isolated",  # no other machine: ssh may be missing
    "pml": "^cm,ucx",
    "pml_monitoring_enable": "1",
    "pml_monitoring_enable_output": "3",
}

#: The messages of one rank, as (destination, bytes), in the order in which it starts them.
Sends = list[tuple[int, int]]


@dataclass(frozen=True)
class Case:
    """A call, as a line of what `collective.c` reads."""

    collective: str
    P: int
    count: int = 1
    itemsize: int = 4
    root: int = 0
    commutative: bool = True

    def __str__(self) -> str:
        collective, *numbers = astuple(self)
        return " ".join([collective, *(str(int(number)) for number in numbers)])


def calls(trace: Sequence[str]) -> Iterator[Sends | None]:
    """The sends of each call in a trace; None where the library says that it does not support the call."""
    sends: Sends = []
    for line in trace:
        if line == "call":
            sends = []
        elif line == "ok":
            yield sends
        elif line == "unsupported":
            assert not sends
            yield None
        else:
            destination, nbytes = line.split()
            sends.append((int(destination), int(nbytes)))


def traced(trace: Sequence[str]) -> dict[int, tuple[int, int]]:
    """(bytes, messages) by destination, over a whole trace."""
    messages: Counter[int] = Counter()
    nbytes: Counter[int] = Counter()
    for line in trace:
        if line[0].isdigit():
            destination, size = map(int, line.split())
            messages[destination] += 1
            nbytes[destination] += size
    return {destination: (nbytes[destination], messages[destination]) for destination in messages}


def counted(report: Sequence[str]) -> dict[int, tuple[int, int]]:
    """(bytes, messages) by destination, as pml/monitoring writes them at the end."""
    fields = [line.split("\t") for line in report if line.startswith(("I\t", "E\t"))]  # tags of Open MPI, of programs
    assert all(words[3].endswith(" bytes") and words[4].endswith(" msgs sent") for words in fields)
    return {int(words[2]): (int(words[3].split()[0]), int(words[4].split()[0])) for words in fields}


def mpirun(arguments: Sequence[str], home: Path) -> None:
    """Run a job to its end, or to its timeout; it leaves nothing behind."""
    # Neither a user's settings nor a job around this test may change what the library does.
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "PMIX_", "SLURM_"))}
    command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", str(RANKS), *arguments]
    job = subprocess.Popen(
        command,
        cwd=home,
        env=ours | {"HOME": str(home)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        output, _ = job.communicate(timeout=TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        job.terminate()  # mpirun ends the ranks that it started
        try:
            output, _ = job.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            output = "mpirun did not end when told to."
        pytest.fail(f"mpirun was stopped after {TIMEOUT_SECONDS} s:\n{' '.join(command)}\n{output}")
    finally:
        if job.poll() is None:
            job.kill()
            job.communicate()
    assert job.returncode == 0, f"mpirun ended with {job.returncode}:\n{' '.join(command)}\n{output}"


@dataclass(frozen=True)
class Library:
    """Open MPI, a program that calls it, and a folder for each job."""

    program: Path
    folder: Callable[[], Path]

    def sends(self, cases: Sequence[Case], rules: str = "", **mca: object) -> list[list[Sends] | None]:
        """What each rank of each case sends; None where the library says that it does not support the call.

        `rules` is the text of a rule file, `mca` are further parameters.
        """
        home = self.folder()
        parameters: dict[str, object] = MCA | {
            "orte_tmpdir_base": home,
            "btl_vader_backing_directory": home,
            "pml_monitoring_filename": home / "counted",
        }
        if rules:
            (home / "rules").write_text(rules)
            parameters |= {"coll_tuned_use_dynamic_rules": 1, "coll_tuned_dynamic_rules_filename": home / "rules"}
        (home / "cases").write_text("".join(f"{case}\n" for case in cases))
        options = [word for name, value in (parameters | mca).items() for word in ("--mca", name, str(value))]
        mpirun([*options, str(self.program), str(home / "cases"), str(home / "trace")], home)

        made = []
        for rank in range(RANKS):
            trace = (home / f"trace.{rank}").read_text().splitlines()
            report = (home / f"counted.{rank}.prof").read_text().splitlines()
            assert traced(trace) == counted(report), f"rank {rank}: the trace is not what pml/monitoring counts"
            made.append(calls(trace))
        found: list[list[Sends] | None] = []
        for case in cases:
            ranks = [next(made[rank]) for rank in range(case.P)]
            sends = [rank for rank in ranks if rank is not None]
            assert len(sends) in (0, case.P), f"{case}: supported on some ranks alone"
            found.append(sends or None)
        assert all(next(rest, "end") == "end" for rest in made)
        return found


def build(folder: Callable[[], Path]) -> Library:
    """The library on this machine; the test is skipped where it is missing or another one."""
    for tool, ask in (("mpirun", "--version"), ("mpicc", "--showme:version")):
        if shutil.which(tool) is None:
            pytest.skip(f"no {tool}; on Debian: apt-get install openmpi-bin libopenmpi-dev")
        run = subprocess.run([tool, ask], capture_output=True, text=True, check=False)
        if f"{RELEASE}." not in run.stdout.replace("(Open MPI)", "Open MPI"):
            pytest.skip(f"{tool} is not of {RELEASE}: {run.stdout.strip() or run.stderr.strip()}")
    compiler = subprocess.run(["mpicc", "--showme:command"], capture_output=True, text=True, check=False).stdout.strip()
    if shutil.which(compiler) is None:
        pytest.skip(f"mpicc calls {compiler}, which is missing")
    program = folder() / "collective"
    source = Path(__file__).with_name("collective.c")
    # Linked with pml/monitoring's library, and seen by it: see the head of collective.c.
    links = ["-rdynamic", "-Wl,--no-as-needed", "-lmca_common_monitoring", "-ldl"]
    flags = ["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror"]
    compiled = subprocess.run(
        ["mpicc", *flags, "-o", program, source, *links], capture_output=True, text=True, check=False
    )
    assert compiled.returncode == 0, compiled.stderr
    return Library(program, folder)
