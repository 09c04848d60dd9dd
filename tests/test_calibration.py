"""From fits to a machine file, to bands and chances, and to a picture."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import orrery_analytic as oa
from orrery_analytic.errors import OrreryError, QuantityError
from orrery_analytic.plots import fits

SIZES = 2.0 ** np.arange(25)


def noisy(seconds: Any, seed: int = 1) -> Any:
    return seconds * (1 + 0.03 * np.random.default_rng(seed).standard_normal(len(seconds)))


def line(latency: float, bandwidth: float, model: str = "hockney", **options: Any) -> oa.Fit:
    return oa.fit({"n": SIZES, "seconds": noisy(latency + SIZES / bandwidth)}, model, **options)


@pytest.fixture(scope="module")
def two() -> oa.Fit:
    seconds = np.where(SIZES <= 16384, 1.5e-6 + SIZES / 4e9, 6e-6 + SIZES / 20e9)
    return oa.fit({"n": SIZES, "seconds": noisy(seconds), "line": np.arange(4, 29), "file": "osu.txt"})


@pytest.fixture(scope="module")
def ring() -> tuple[oa.Cost, oa.Fit]:
    cost = oa.collective_cost("allgather", "ring")
    seconds = noisy(cost(P=16, n=SIZES, alpha=2e-6, beta=1e-10))
    return cost, oa.fit({"n": SIZES, "seconds": seconds, "ranks": 16}, cost)


def test_the_report_says_it_all(two: oa.Fit) -> None:
    report = two.report()
    for text in (
        "Fit of hockney_pieces to osu.txt, lines 4 to 28",
        "alpha_1",
        "95 % interval",
        "GB/s",
        "s_1",
        "extrapolation",
    ):
        assert text in report
    assert repr(two) == report
    assert "<table>" in two._repr_html_()
    assert "<script" not in replace(two, source="<script>")._repr_html_()


@pytest.mark.filterwarnings("ignore:one line glued", "ignore:not measured")
def test_a_machine_file_is_written_and_read(two: oa.Fit, tmp_path: Path) -> None:
    path = tmp_path / "new.toml"
    machine = two.to_machine("new", base="example", path=path, description='a "new" one \\ here')
    again = oa.load_machine(path)
    assert again == machine
    assert again.description == 'a "new" one \\ here'
    assert again.parameters["alpha"] == pytest.approx(two.parameters["alpha_1"], rel=1e-5)
    assert again.parameters["beta"] == pytest.approx(two.parameters["beta_2"], rel=1e-5)
    told = again.provenance["latency"]
    assert told.origin == "measured"
    assert "fit of hockney_pieces to osu.txt, lines 4 to 28" in told.reference
    assert "95 %" in told.reference
    other = again.provenance["kernel_rate"]
    assert other.origin == "assumed"
    assert other.reference.startswith("as machine 'example' has it")


def test_the_seven_probes_make_a_machine_without_a_base(tmp_path: Path) -> None:
    bands = np.where(SIZES <= 65536, 8e-6 + SIZES / 3e9, 14e-6 + SIZES / 12e9)
    copies = [oa.fit({"n": SIZES, "seconds": noisy(bands)}, "copies", copy=copy) for copy in ("d2h", "h2d")]
    probes = [
        line(2e-6, 24e9),
        line(3e-6, 90e9, link="peer"),
        *copies,
        oa.fit({"n": 64 * SIZES, "seconds": noisy(9e-6 + 64 * SIZES / 1.4e12)}, "kernel"),
        oa.fit({"n": SIZES, "seconds": noisy(1e-7 + SIZES / 8e9)}, "reduction"),
    ]
    given = {"library": "Open MPI 4.1.6", "ranks_per_node": 4, "network_cards_per_node": 2}
    with (
        pytest.warns(UserWarning, match="t_launch"),
        pytest.raises(
            QuantityError, match=r"no value for call_overhead \(latency test of device buffers\), gdr_latency"
        ),
    ):
        oa.calibrate("mine", probes, **given)
    with pytest.warns(UserWarning, match=r"launch_latency, sync_latency \(t_launch and t_sync cannot be told apart"):
        machine = oa.calibrate(
            "mine", probes, path=tmp_path / "mine.toml", call_overhead="1 us", gdr_latency="1 us", **given
        )
    assert "another machine" not in (tmp_path / "mine.toml").read_text()
    assert machine.bands["d2h"] == 2
    assert machine.parameters["s_d2h_1"] == 65536
    assert machine.parameters["alpha_h2d_1"] == pytest.approx(8e-6, rel=0.1)
    assert machine.parameters["R"] == pytest.approx(1.4e12, rel=0.1)
    assert machine.provenance["gdr_latency"].reference == "given by hand"
    later = oa.calibrate("mine", line(1e-6, 10e9), base=machine)  # of the same name: all else keeps its origin
    assert later.provenance["kernel_rate"] == machine.provenance["kernel_rate"]
    assert later.parameters["alpha"] == pytest.approx(1e-6, rel=0.1)


@pytest.mark.filterwarnings("ignore:one line glued", "ignore:not measured")
def test_what_no_machine_is_made_of(two: oa.Fit, tmp_path: Path) -> None:
    with pytest.raises(QuantityError, match=r"ends in .toml"):
        two.to_machine("x", base="example", path=tmp_path / "x.txt")
    with pytest.raises(QuantityError, match="takes fits"):
        oa.calibrate("x", "fit")  # type: ignore[arg-type]
    with pytest.raises(QuantityError, match="path"):
        two.to_machine("x", base="example", path=3)  # type: ignore[arg-type]
    with pytest.raises(OrreryError, match="Did you mean 'ranks_per_node'"):
        two.to_machine("x", base="example", ranks_pr_node=4)
    flat = oa.fit({"n": SIZES[:8], "seconds": np.linspace(2e-6, 1.9e-6, 8)}, "hockney")
    with pytest.warns(UserWarning, match="bandwidth is not taken"):
        assert flat.to_machine("x", base="example").provenance["bandwidth"].origin == "assumed"


@pytest.mark.filterwarnings("ignore:one line glued", "ignore:not measured")
def test_a_file_that_cannot_be_written_is_told(two: oa.Fit, tmp_path: Path) -> None:
    (tmp_path / "folder.toml").mkdir()
    (tmp_path / "pyproject.toml").write_text("[build-system]\n")
    for path, said in (
        ("no/such/x.toml", "there is no folder"),
        ("folder.toml", "cannot be written"),
        ("pyproject.toml", "is no machine file, and is not replaced"),
        ("a\0b.toml", "null byte"),
    ):
        with pytest.raises(QuantityError, match=said):
            two.to_machine("x", base="example", path=tmp_path / path)
    assert (tmp_path / "pyproject.toml").read_text() == "[build-system]\n"
    with pytest.raises(OrreryError, match="Did you mean 'example'"):
        two.to_machine("x", base="exampel")
    for name in ("first", "second"):  # a machine file is replaced
        assert two.to_machine(name, base="example", path=tmp_path / "x.toml", overwrite=True).name == name
    with pytest.raises(QuantityError, match=r"x\.toml': there already.*overwrite=True\.$"):
        two.to_machine("third", base="example", path=tmp_path / "x.toml", overwrite=False)
    assert oa.load_machine(tmp_path / "x.toml").name == "second"


def test_a_glued_line_says_how_far_off_it_is(two: oa.Fit, tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="glued|not measured") as told:
        machine = two.to_machine("x", base="example", path=tmp_path / "x.toml")
    said = str(told[0].message)
    assert "alpha_1 (up to 16 KiB) and beta_2 (above 16 KiB), is up to 59 % below them at 32 KiB" in said
    assert "fit.piece(32768) above 16 KiB" in said
    n = np.array([2.0**14, 2.0**15])  # the sizes of the largest errors, without and with the rendezvous
    lines = [oa.p2p_cost(protocol=protocol).at(machine) for protocol in (None, "auto")]
    pieces = [two.piece(size).parameters for size in n]
    fitted = np.array([p["alpha"] + size * p["beta"] for p, size in zip(pieces, n, strict=True)])
    plain, auto = (line(n=n) / fitted - 1 for line in lines)
    assert plain[1] == pytest.approx(-0.59, abs=0.005)
    assert auto[1] == pytest.approx(0, abs=1e-4)
    assert f"up to {-100 * auto[0]:.2g} % below them at 16 KiB" in said
    for key in ("latency", "bandwidth"):
        assert "59 % below them at 32 KiB" in machine.provenance[key].reference
    assert machine.provenance["rendezvous_latency"].origin == "derived"


def test_numbers_of_the_base_are_named(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="not measured") as told:
        line(2e-6, 24e9).to_machine("x", base="example", path=tmp_path / "x.toml")
    [said] = [str(each.message) for each in told]
    keys = "wire_latency, overhead, message_gap, gap_per_byte"
    assert said == f"not measured, and as the base has them: {keys}, which LogGP() takes."
    comment = (tmp_path / "x.toml").read_text().partition("name =")[0]
    assert " ".join(comment.replace("#", "").split()).startswith("Not measured, and as another machine has them: ")
    assert "kernel_rate" in comment
    assert " latency" not in comment
    with pytest.warns(UserWarning, match=r"has them: latency, bandwidth, which Hockney\(\) takes"):
        line(2e-6, 24e9, link="inside").to_machine("x", base="example")


def test_what_is_shared_out_is_not_measured() -> None:
    times = oa.collective_cost("allreduce", "ring")(P=4, n=SIZES, alpha=2e-6, beta=1e-11, gamma=1e-11)
    table = {"n": SIZES, "seconds": noisy(times), "ranks": 4, "collective": "allreduce"}
    made = oa.fit(table, "collective", algorithm="ring", link="inside")
    assert set(made.undetermined) == {"beta_intra", "gamma"}
    with pytest.warns(UserWarning, match="undetermined|not measured") as told:
        machine = made.to_machine("x", base="example")
    said = str(told[0].message)
    assert "intra_bandwidth, reduction_rate (beta_intra and gamma cannot be told apart)" in said
    assert said.endswith("fit(..., fixed={'gamma': ...}) holds one.")
    record = machine.provenance["intra_bandwidth"]
    assert (record.origin, record.reference.partition(";")[0]) == (
        "assumed",
        "undetermined: beta_intra and gamma cannot be told apart",
    )
    assert machine.provenance["bandwidth"] == replace(
        machine.provenance["bandwidth"], value=oa.load_machine("example").provenance["bandwidth"].value
    )
    held = oa.fit(table, "collective", algorithm="ring", link="inside", fixed={"gamma": 1e-11})
    assert not held.undetermined
    assert held.parameters["beta_intra"] == pytest.approx(1e-11, rel=0.05)
    with pytest.raises(QuantityError, match="have links"):
        oa.fit(table, "collective", algorithm="ring", link="inside", network=oa.LogGP())
    one_node = oa.fit({**table, "nodes": 1}, "collective", algorithm="ring")
    assert any('link="inside"' in text for text in one_node.warnings)


def test_all_that_is_missing_is_named_at_once() -> None:
    table = {"n": SIZES, "seconds": 1e-5 + SIZES / 1e9}
    with pytest.raises(QuantityError, match=r"give collective=, algorithm= \(or rules=.*\), ranks=\.$"):
        oa.fit(table, "collective")
    counted = [oa.fit(table, "collective", collective="bcast", algorithm="binomial", **{k: 8}) for k in ("P", "ranks")]
    assert counted[0].parameters == counted[1].parameters
    chosen = oa.fit(table, "collective", collective="allreduce", rules="openmpi-4.1", P=8)
    assert (chosen.points["P"] == 8).all()
    with pytest.raises(QuantityError, match="says 4 ranks"):
        oa.fit({**table, "ranks": 4}, "collective", collective="bcast", algorithm="binomial", P=8)


def test_a_piece_is_a_fit_of_one_line(two: oa.Fit) -> None:
    cost = oa.collective_cost("bcast", "binomial")
    for asked in (oa.predict_band, lambda *given: oa.chance(cost, *given)):
        with pytest.raises(QuantityError, match=r'fit\.piece\(32768\) above 16 KiB.*table\["n"\] > 16384\], "hockney"'):
            asked(cost, two, 8, 2**20)
    small, large = two.piece("1 KiB"), two.piece(2**20)
    assert [len(each.points) for each in (small, large)] == [15, 10]
    assert two.piece(16384).parameters == small.parameters
    for i, each in enumerate((small, large), start=1):
        for name in ("alpha", "beta"):
            assert each.parameters[name] == two.parameters[f"{name}_{i}"]
            assert each.intervals[name] == two.intervals[f"{name}_{i}"]
    band = oa.predict_band(cost, large, 8, 2**20)
    assert band["low"].item() < 3 * (6e-6 + 2**20 / 20e9) < band["high"].item()
    with pytest.warns(UserWarning, match="not measured"):  # and of nothing that is glued
        machine = large.to_machine("x", base="musica")
    assert machine.parameters["alpha"] == pytest.approx(large.parameters["alpha"], rel=1e-5)
    assert "piece above 16 KiB of a fit in 2 pieces" in large.report()
    with pytest.raises(QuantityError, match="no pieces"):
        large.piece(8)


def test_times_of_a_call_go_into_no_machine_file() -> None:
    made = oa.fit({"n": SIZES, "seconds": 2e-5 + SIZES / 1e9, "collective": "allreduce"})
    assert not made.gives
    assert any("times of a whole allreduce" in text for text in made.warnings)


def test_draws_have_the_covariance_of_the_fit(ring: tuple[oa.Cost, oa.Fit]) -> None:
    made = ring[1]
    draws = made.sample(20000, seed=3)
    np.testing.assert_array_equal(draws["alpha"], made.sample(20000, seed=3)["alpha"])
    assert draws["alpha"].std() == pytest.approx(made.stderr["alpha"], rel=0.05)
    assert draws["alpha"].mean() == pytest.approx(made.parameters["alpha"], rel=1e-3)
    found = np.corrcoef(draws["alpha"], draws["beta"])[0, 1]
    assert found == pytest.approx(made.correlations.loc["alpha", "beta"], abs=0.05)
    with pytest.raises(QuantityError, match="k"):
        made.sample(0)


def test_a_band_holds_the_truth_and_widens_with_the_error(ring: tuple[oa.Cost, oa.Fit]) -> None:
    cost, made = ring
    band = oa.predict_band(cost, made, [16, 64], SIZES)
    assert dict(band.sizes) == {"P": 2, "n": 25}
    truth = np.array([cost(P=P, n=SIZES, alpha=2e-6, beta=1e-10) for P in (16, 64)])
    assert ((band["low"] <= truth) & (truth <= band["high"])).mean() > 0.9
    narrow = oa.predict_band(cost, made, [16, 64], SIZES, level=0.5)
    assert ((narrow["high"] - narrow["low"]) < (band["high"] - band["low"])).all()
    assert oa.predict_band(cost, made, [16, 64], SIZES).equals(band)
    with pytest.raises(QuantityError, match="1-D"):
        oa.predict_band(cost, made, [], SIZES)
    with pytest.raises(QuantityError, match="level"):
        oa.predict_band(cost, made, 16, 1, level=95)


def test_a_fit_of_other_parameters_makes_no_band(ring: tuple[oa.Cost, oa.Fit]) -> None:
    cost, made = ring
    pieces = replace(made, parameters={f"{name}_1": value for name, value in made.parameters.items()})
    with pytest.raises(QuantityError, match=r"alpha_1.*says nothing"):
        oa.predict_band(cost, pieces, 16, SIZES, machine="example")
    with pytest.raises(QuantityError, match="says nothing"):
        oa.chance(cost, cost, pieces, 16, SIZES, machine="example")


def test_the_chance_that_one_algorithm_wins(ring: tuple[oa.Cost, oa.Fit]) -> None:
    cost, made = ring
    doubling = oa.collective_cost("allgather", "recursive_doubling")
    won = oa.chance(doubling, cost, made, 16, SIZES)
    assert won.sizes == {"P": 1, "n": 25}
    assert float(won[0, 0]) == 1.0  # 4 latencies against 15, and as many bytes
    assert (oa.chance(cost, cost, made, 16, SIZES) == 0.5).all()
    total = oa.chance(cost, doubling, made, 16, SIZES) + won
    np.testing.assert_allclose(total, 1.0)
    # Two guesses at the same time, 2 % apart, with a latency known to 1 %: neither sure nor open.
    alpha = oa.describe("alpha").symbol
    near = oa.chance(oa.Cost({"latency": 100 * alpha}), oa.Cost({"latency": 99 * 2e-6 + 0 * alpha}), made, 16, 1)
    assert 0 < float(near[0, 0]) < 1


def test_a_symbol_without_a_number_is_named(ring: tuple[oa.Cost, oa.Fit]) -> None:
    cost = oa.collective_cost("allreduce", "ring")
    with pytest.raises(OrreryError, match="gamma"):
        oa.chance(cost, cost, ring[1], 16, 1024)
    assert oa.predict_band(cost, ring[1], 16, 1024, machine="example")["seconds"].item() > 0


def test_a_fit_is_drawn(two: oa.Fit) -> None:
    points = two.points
    above, below = fits.fit(two)
    above.figure.canvas.draw()
    drawn = np.concatenate([np.asarray(item.get_ydata()) for item in above.lines if item.get_marker() == "o"])
    np.testing.assert_allclose(np.sort(drawn), np.sort(points.loc[points["used"], "seconds"]))
    models = [item for item in above.lines if item.get_marker() in ("", "None")]
    assert sum(len(item.get_xdata()) for item in models) == len(points)
    assert len(models) == 2  # a line for each piece: none is drawn across the switch
    names = [text.get_text() for text in above.get_legend().get_texts()]
    assert names[:2] == ["model", "measured"]
    assert "switch point, 95 %" in names
    assert below.get_xlabel() == "message size n"
    with pytest.raises(QuantityError, match="a fit is drawn"):
        fits.fit("fit")  # type: ignore[arg-type]


def test_series_of_a_fit_are_told_apart() -> None:
    latency = {"n": SIZES, "seconds": noisy(2e-6 + SIZES / 9e9)}
    rate = {"n": SIZES, "bandwidth_bytes_per_s": SIZES / noisy(0.6e-6 + SIZES / 9e9, 2)}
    above, _ = fits.fit(oa.fit((latency, rate)))
    names = [text.get_text() for text in above.get_legend().get_texts()]
    assert names[:2] == ["one way", "between messages"]
