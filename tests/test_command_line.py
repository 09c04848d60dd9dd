import json
import re
import subprocess
import sys

import pytest

import orrery_analytic as oa
from orrery_analytic.__main__ import main

LATENCY = "# OSU MPI Latency Test v7.3\n# Size          Latency (us)\n" + "".join(
    f"{2**i:<16}{2 + 2**i / 20e3:.2f}\n" for i in range(23)
)


@pytest.fixture
def run(capsys):
    def call(*arguments):
        code = main([str(a) for a in arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return call


def test_select_says_what_the_library_takes(run):
    code, out, err = run("select", "allreduce", "-P", "4..16", "-n", "1KiB,1 MiB", "--json")
    rows = json.loads(out)
    assert (code, err) == (0, "")
    assert [(row["P"], row["n"]) for row in rows] == [(p, n) for p in (4, 8, 16) for n in (1024, 2**20)]
    assert all(row["name"] == oa.select("allreduce", row["P"], row["n"]).name for row in rows)
    assert "recursive_doubling" in run("select", "allreduce", "-P", "4", "-n", "1KiB")[1]


def test_predict_is_predict(run, tmp_path):
    file = tmp_path / "out.csv"
    code, out, _ = run(
        "predict", "musica", "allreduce", "-P", "64", "-n", "1MiB", "--set", "bandwidth=21 GB/s", "--algorithm", "ring",
        "--network", "twolevel", "--csv", "--out", file,
    )  # fmt: skip
    assert (code, out) == (0, "")
    head, row = (line.split(",") for line in file.read_text().splitlines())
    expected = oa.predict(
        "musica", "allreduce", 64, 2**20, algorithm="ring", bandwidth="21 GB/s",
        network=oa.TwoLevel.of(oa.load_machine("musica")),
    )  # fmt: skip
    assert float(row[head.index("seconds (s)")]) == pytest.approx(expected.seconds.item())
    code, _, err = run("predict", "musica", "allreduce", "-P", "64", "-n", "1MiB", "--out", file)
    assert code == 2
    assert "there already. Give another path, or --overwrite." in err
    code, _, err = run("predict", "musica", "allreduce", "-P", "64", "-n", "1MiB", "--out", tmp_path / "no" / "x.csv")
    assert (code, (tmp_path / "no").exists()) == (2, False)
    assert "there is no folder" in err


def test_a_range_ends_with_its_last_number(run):
    rows = json.loads(run("select", "allreduce", "-P", "4..20", "-n", "1KiB..4KiB,3", "--json")[1])
    assert sorted({row["P"] for row in rows}) == [4, 8, 16, 20]
    assert sorted({row["n"] for row in rows}) == [3, 1024, 2048, 4096]


def test_read_and_fit_take_logs(run, tmp_path):
    log = tmp_path / "osu_latency.txt"
    log.write_text(LATENCY)
    code, out, _ = run("read", log, "--csv")
    assert code == 0
    assert len(out.splitlines()) == 24
    assert " 4194304 " in run("read", log)[1]  # not 4.1943e+06
    code, out, err = run("fit", log, "--model", "hockney", "--json")
    assert (code, err) == (0, "")
    found = {row["parameter"]: row for row in json.loads(out)}
    assert found["alpha"]["value"] == pytest.approx(2e-6, rel=0.05)
    assert found["beta"]["unit"] == "s/B"
    assert found["beta"]["value"] == pytest.approx(0.05e-9, rel=0.05)  # all digits are there
    assert "alpha" in run("fit", log)[1]


def test_tune_writes_rules(run, tmp_path):
    rules = tmp_path / "rules.conf"
    code, out, _ = run("tune", "musica", "allreduce", "-P", "16", "-n", "1KiB..1MiB", "--rules-out", rules)
    assert code == 0
    assert out.startswith("Rules for musica")
    assert oa.read_rules(rules).collectives


def test_derive_gives_text_latex_and_sources(run):
    story = oa.derivation("allreduce", "ring", oa.LogGP())
    asked = ("derive", "allreduce", "ring", "--network", "loggp")
    assert run(*asked)[1] == f"{story!r}\n"
    assert run(*asked, "--latex")[1] == f"{story.latex()}\n"
    assert run(*asked, "--document")[1] == f"{story.latex(document=True)}\n"
    assert run(*asked, "--bibtex")[1] == story.bibtex
    composed = run("derive", "allreduce", "nonoverlapping", "--parts", "reduce:binomial,bcast:binomial")
    assert "reduce by binomial" in composed[1]
    assert "n_s" in run("derive", "bcast", "pipeline", "--segment-bytes", "symbol")[1]


def test_draw_and_export_write_files(run, tmp_path, monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)  # PGF takes seconds
    asked = ("musica", "allreduce", "-P", "4..1024", "-n", "1MiB", "--algorithms", "ring,rabenseifner")
    code, out, _ = run("draw", *asked, "--out", tmp_path / "figure", "--column", "3.3")
    assert (code, out) == (0, f"{tmp_path / 'figure.pdf'}\n")
    code, out, _ = run("export", *asked, "--out", tmp_path / "paper")
    assert code == 0
    assert "sha256" in out
    assert (tmp_path / "paper" / "derivation.tex").exists()


def test_crossover_says_from_which_byte_on(run):
    asked = ("crossover", "musica", "allreduce", "recursive_doubling", "ring", "-P", "8,64")
    code, out, err = run(*asked, "--json")
    costs = [oa.collective_cost("allreduce", name) for name in asked[3:5]]
    found = {p: oa.crossover(*costs, "n").intervals("musica", P=p) for p in (8, 64)}
    assert (code, err) == (0, "")
    assert [(row["P"], row["n from (B)"], row["n to (B)"]) for row in json.loads(out)] == [
        (p, s.first, None if s.last == float("inf") else s.last) for p in found for s in found[p]
    ]
    text = run(*asked)[1]
    assert "On 8~ranks" in text
    assert "machine file musica.toml, sha256" in text
    assert "what if bandwidth = 5 GB/s" in run(*asked, "--set", "bandwidth=5 GB/s")[1]
    assert run(*asked, "--network", "twolevel", "--csv")[1] != run(*asked, "--csv")[1]
    assert "allreduce, device buffers, openmpi-4.1, Hockney" in run(*asked, "--buffers", "device")[1].splitlines()[0]


def test_what_never_crosses_has_no_border(run):
    text = run("crossover", "musica", "allreduce", "ring", "rabenseifner", "-P", "64")[1]
    assert "rabenseifner is cheaper for every message size" in text
    assert "They cost the same" not in text


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("derive", "allreduce", "rign"), "Did you mean 'ring'"),
        (("crossover", "musicaa", "allreduce", "ring", "rabenseifner", "-P", "4"), "Did you mean 'musica'"),
        (("crossover", "musica", "allreduce", "ring", "rabenseifne", "-P", "4"), "Did you mean 'rabenseifner'"),
        (("crossover", "musica", "allreduce", "ring", "nonoverlapping", "-P", "4"), "parts="),
        (("crossover", "musica", "allreduce", "ring", "rabenseifner", "-P", "0"), "P = 0"),
        (("select", "allreduc", "-P", "4", "-n", "8"), "Did you mean 'allreduce'"),
        (("select", "allreduce", "-P", "4x", "-n", "8"), "whole numbers such as"),
        (("select", "allreduce", "-P", "4", "-n", "-8"), "or sizes such as 1MiB, but '-8'"),
        (("select", "allreduce", "-P", "4", "-n", "1Mi"), "Did you mean 'MiB'"),
        (("derive", "allreduce", "nonoverlapping"), "--parts reduce:rabenseifner,bcast:"),
        (("draw", "musica", "allreduce", "-P", "1", "-n", "8"), "on one rank"),
        (("draw", "musica", "allreduce", "-P", "4", "-n", "8", "--out", "no-such-folder/x"), "there is no folder"),
        (("tune", "musica", "bcast", "-P", "4", "--rules-out", "no-such-folder/x"), "there is no folder"),
        (("select", "allreduce", "-P", "16..4", "-n", "8"), "a range goes up"),
        (("select", "allreduce", "-P", "0..4", "-n", "8"), "a range goes up"),
        (("select", "allreduce", "-P", "4", "-n", "8 parsec"), "n = "),
        (("predict", "musica", "allreduce", "-P", "4", "-n", "1.5B"), "whole bytes"),
        (("predict", "musica", "allreduce", "-P", "4", "-n", "8", "--set", "ranks_per_node=x"), "ranks_per_node"),
        (("predict", "musica", "allreduce", "-P", "4", "-n", "8", "--set", "bandwidth"), "key=value"),
        (("predict", "musica", "allreduce", "-P", "4", "-n", "8", "--network", "loggb"), "Did you mean 'loggp'"),
        (("predict", "musica", "allreduce", "-P", "4", "-n", "8", "--set", "bandwith=1 GB/s"), "Did you mean"),
        (("predict", "musica", "allreduce", "-P", "4", "-n", "8", "--set", "machine=leonardo"), "key of a machine"),
        (("read", "no-such-file.txt"), "no-such-file.txt"),
        (("draw", "musica", "allreduce", "-P", "4,8", "-n", "8,16"), "one axis"),
        (("draw", "musica", "allreduce", "-P", "4,8", "-n", "8", "--column", "wide"), "column"),
    ],
)
def test_what_is_wrong_is_one_line_and_exit_code_2(run, arguments, told):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert told in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("arguments", [(), ("selct",), ("select", "allreduce"), ("select", "allreduce", "-P")])
def test_so_is_a_wrong_command(arguments, capsys):
    with pytest.raises(SystemExit) as left:
        main(list(arguments))
    assert left.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_the_module_runs_and_has_no_traceback():
    done = subprocess.run(
        [sys.executable, "-m", "orrery_analytic", "derive", "bcast", "binomal"], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "Did you mean 'binomial'" in done.stderr
    assert "Traceback" not in done.stderr


VERBS = ["select", "predict", "read", "fit", "tune", "draw", "derive", "crossover", "export"]


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_tells_all_of_its_arguments(verb, capsys):
    with pytest.raises(SystemExit) as left:
        main([verb, "--help"])
    assert left.value.code == 0
    usage, _, arguments = capsys.readouterr().out.partition("\n\n")
    for name in set(re.findall(r"(?<=[ \[])--?[a-zA-Z][a-z-]*", usage)) - {"-m"}:
        told = re.search(rf"^  (?:-h, )?{name}\b[^\n]*(?: {{2,}}|\n {{6,}})\S", arguments, re.MULTILINE)
        assert told or (name == "-h" and "-h, --help" in arguments), name


def test_the_version_is_told(capsys):
    with pytest.raises(SystemExit):
        main(["--version"])
    assert oa.__version__ in capsys.readouterr().out
