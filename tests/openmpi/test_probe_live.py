"""The probes on two ranks of the real Open MPI, and what `read` and `fit` make of their log."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest

import orrery_analytic as oa

pytestmark = pytest.mark.openmpi

ROOT = Path(__file__).resolve().parents[2]
SIZES = [2**k for k in range(17)]
TIMEOUT_SECONDS = 300


def probe(home: Path, ranks: int, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the probes under mpirun, to their end or the timeout."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "PMIX_", "SLURM_"))}
    options = ["--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "--mca", "plm", "isolated"]
    options += ["--mca", "btl_vader_single_copy_mechanism", "none"]  # containers forbid the others
    command = ["mpirun", *options, "-n", str(ranks), sys.executable, "-W", "error", "-m", "orrery_analytic.probe"]
    return subprocess.run(
        [*command, *words],
        cwd=ROOT,
        env=ours | {"HOME": str(home), "TMPDIR": str(home)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("mpirun") is None:
        pytest.skip("no mpirun; on Debian: apt-get install openmpi-bin")
    if importlib.util.find_spec("mpi4py") is None:
        pytest.skip('no mpi4py; pip install "orrery_analytic[probe]"')
    return tmp_path_factory.mktemp("p")


@pytest.fixture(scope="module")
def log(home: Path) -> Path:
    path = home / "here.log"
    # A busy machine stops no sweep: the limit is long, and rarely used up.
    run = probe(home, 2, "--out", str(path), "--sizes", "1:64KiB", "--time-limit", "60")
    assert run.returncode == 0, run.stderr
    assert run.stdout == ""
    assert run.stderr.count("latency: 64 KiB, 17 of 17") == 1  # one rank alone shows it
    return path


def of(table: pd.DataFrame, benchmark: str) -> pd.DataFrame:
    return table[table["benchmark"] == benchmark]


def test_the_log_is_read_whole(log: Path) -> None:
    text = log.read_text()
    assert "# library: Open MPI v" in text
    assert "# ranks: 2 on 1 host; first and last rank on the same host" in text
    table = oa.read(log)
    assert table.attrs["warnings"] == []
    messages = ["osu_latency", "osu_bw", "osu_bibw", "osu_mbw_mr"]
    calls = ["probe_call_barrier", "probe_call_allreduce", "probe_call_send"]
    own = ["probe_reduce_local", *calls]
    assert [name for name in dict.fromkeys(table["benchmark"]) if name in messages + own] == messages + own
    for name in messages:
        rows = of(table, name)
        assert rows["n"].tolist() == SIZES
        assert set(rows["ranks"]) == {2}
        assert (rows["seconds" if name == "osu_latency" else "bandwidth_bytes_per_s"] > 0).all()
    rates = of(table, "osu_mbw_mr")
    assert (rates["messages_per_s"] * rates["n"]).tolist() == pytest.approx(
        rates["bandwidth_bytes_per_s"].tolist(), rel=0.2, abs=1e3
    )
    reduced = of(table, "probe_reduce_local")
    assert reduced["n"].tolist() == SIZES[2:]
    every = table[table["benchmark"].isin(own)]
    assert ((every["best_seconds"] > 0) & (every["best_seconds"] <= every["seconds"])).all()
    assert ((every["seconds"] <= every["p90_seconds"]) & (every["iterations"] >= 5)).all()
    assert [len(of(table, name)) for name in calls] == [1, 1, 1]


def test_reduction_can_be_fitted(log: Path) -> None:
    fit = oa.fit(of(oa.read(log), "probe_reduce_local"), model="reduction")
    assert 1e8 < 1 / fit.parameters["gamma"] < 1e13


@pytest.mark.parametrize(
    ("ranks", "words", "said"),
    [
        (1, [], "mpirun -n 2 python -m orrery_analytic.probe"),
        (2, ["--only", "latancy"], "Did you mean 'latency'?"),
        (2, ["--out", "/nowhere/here.log"], "--out '/nowhere/here.log' cannot be written"),
    ],
)
def test_refusals_are_said_once(home: Path, ranks: int, words: Sequence[str], said: str) -> None:
    run = probe(home, ranks, *words)
    assert run.returncode == 2
    assert run.stderr.count(said) == 1
    assert "Traceback" not in run.stderr


def test_of_three_ranks_the_first_and_the_last_play(home: Path) -> None:
    run = probe(home, 3, "--only", "latency,message_rate", "--sizes", "8,1KiB", "--quiet")
    assert (run.returncode, run.stderr) == (0, "")
    table = oa.read(run.stdout)
    assert table["benchmark"].tolist() == ["osu_latency"] * 2 + ["osu_mbw_mr"] * 2
    assert set(table["ranks"]) == {2}
