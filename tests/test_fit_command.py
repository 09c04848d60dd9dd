"""`fit` in a shell: what a formula needs, rows of a log, a machine file."""

import json

import numpy as np
import pytest

import orrery_analytic as oa
from orrery_analytic.__main__ import main

SIZES = 2.0 ** np.arange(23)


@pytest.fixture
def run(capsys):
    def call(*arguments):
        code = main(["fit", *(str(a) for a in arguments)])
        return code, *capsys.readouterr()

    return call


def osu(path, title, seconds):
    rows = "".join(f"{int(n):<16}{1e6 * t:.3f}\n" for n, t in zip(SIZES, seconds, strict=True))
    path.write_text(f"# OSU MPI {title} v7.3\n# Size          {'Avg ' * ('All' in title)}Latency(us)\n{rows}")
    return path


@pytest.fixture
def allreduce(tmp_path):
    times = oa.collective_cost("allreduce", "ring")(P=8, n=SIZES, alpha=2e-6, beta=1e-10, gamma=1e-10)
    return osu(tmp_path / "osu_allreduce.txt", "Allreduce Latency Test", times)


@pytest.fixture
def latency(tmp_path):
    times = np.where(SIZES <= 4096, 2e-6 + SIZES / 5e9, 6e-6 + SIZES / 12e9)
    return osu(tmp_path / "osu_latency.txt", "Latency Test", times)


def test_a_collective_is_fitted(run, allreduce):
    code, _, err = run(allreduce, "--model", "collective")
    assert code == 2
    assert err.endswith("give --algorithm (or --rules openmpi-4.1), --ranks.\n")
    code, out, err = run(
        allreduce, "--model", "collective", "--algorithm", "ring", "--ranks", 8, "--link", "inside", "--json"
    )
    assert (code, err) == (0, "")
    assert {row["parameter"]: row["value"] for row in json.loads(out)}["alpha_intra"] == pytest.approx(2e-6, rel=0.01)
    code, out, _ = run(allreduce, "--model", "collective", "--rules", "openmpi-4.1", "--ranks", 8)
    assert "taken to have run, by 'openmpi-4.1'" in out
    assert "--model collective finds those of a message" in run(allreduce)[1]
    for wrong in ("1.5", "x", "0"):
        assert run(allreduce, "--model", "collective", "--algorithm", "ring", "--ranks", wrong)[0] == 2


def test_rows_are_taken(run, latency, tmp_path):
    both = tmp_path / "nccl.log"
    row = "{0:12d} {1:12d} float sum -1 {2:9.2f} 1.25 2.5 0 {2:9.2f} 1.25 2.5 0\n"
    rows = "".join(row.format(int(n), int(n) // 4, 20 + n / 1e4) for n in SIZES[10:])
    both.write_text(
        "# nThread 1 nGpus 4 minBytes 1024 maxBytes 8192 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 "
        "validation: 1 graph: 0\n#\n# Using devices\n#\n#  size count type redop root time algbw busbw #wrong "
        f"time algbw busbw #wrong\n#  (B) (elements) (us) (GB/s) (GB/s) (us) (GB/s) (GB/s)\n{rows}"
    )
    code, _, err = run(both)
    assert code == 2
    assert "--where in_place=False" in err
    assert run(both, "--where", "in_place=False")[0] == 0
    for wrong, said in (
        ("in_plac=False", "Did you mean 'in_place'"),
        ("in_place", "takes column=value"),
        ("in_place=0", "holds False, True"),
    ):
        code, _, err = run(both, "--where", wrong)
        assert code == 2
        assert said in err
    found = {row["parameter"]: row["value"] for row in json.loads(run(latency, "-n", "8KiB..", "--json")[1])}
    assert found["alpha"] == pytest.approx(6e-6, rel=0.01)
    assert run(latency, "-n", "8KiB..64KiB", "--model", "hockney")[1].count("8 KiB to 64 KiB") == 1
    assert "no row has a size n in 9..10" in run(latency, "-n", "9..10")[2]


def test_a_machine_file_is_written(run, latency, tmp_path):
    path = tmp_path / "here.toml"
    assert "--base NAME go together" in run(latency, "--to-machine", path)[2]
    code, out, err = run(latency, "--to-machine", path, "--base", "example")
    assert code == 0
    assert "alpha_2" in out
    assert "-n takes the sizes of the messages that are sent: -n 8192.. for the largest." in err
    assert "wire_latency" in err
    assert oa.load_machine(path).parameters["alpha"] == pytest.approx(2e-6, rel=0.01)
    again = (latency, "--to-machine", path, "--base", "example")
    assert "there already. Give another path, or --overwrite." in run(*again)[2]
    assert run(*again, "--overwrite")[0] == 0
