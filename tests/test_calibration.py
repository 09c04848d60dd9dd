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
    with pytest.raises(
        QuantityError, match=r"no value for call_overhead \(latency test of device buffers\), gdr_latency"
    ):
        oa.calibrate("mine", probes, **given)
    machine = oa.calibrate(
        "mine", probes, path=tmp_path / "mine.toml", call_overhead="1 us", gdr_latency="1 us", **given
    )
    assert machine.bands["d2h"] == 2
    assert machine.parameters["s_d2h_1"] == 65536
    assert machine.parameters["alpha_h2d_1"] == pytest.approx(8e-6, rel=0.1)
    assert machine.parameters["R"] == pytest.approx(1.4e12, rel=0.1)
    assert machine.provenance["gdr_latency"].reference == "given by hand"
    later = oa.calibrate("mine", line(1e-6, 10e9), base=machine)  # of the same name: all else keeps its origin
    assert later.provenance["kernel_rate"] == machine.provenance["kernel_rate"]
    assert later.parameters["alpha"] == pytest.approx(1e-6, rel=0.1)


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
        assert two.to_machine(name, base="example", path=tmp_path / "x.toml").name == name


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
