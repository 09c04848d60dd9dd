"""Fits held against measurements that others published: the host bounce of ABCI, the allgather of Leonardo."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import orrery_analytic as oa
from orrery_analytic.calibration import add_bounce
from orrery_analytic.errors import QuantityError

# osu_allreduce between nodes with eight A100 each, device and host buffers: github.com/aistabci/abci2.0benchmark,
# allreduce_inter_anode n02, n04, n08, n16. Microseconds for 4 B to 32 MiB, doubling, by ranks.
ABCI: dict[tuple[int, str], tuple[float, ...]] = {
    (16, "device"): (
        34.31,
        34.1,
        34.22,
        33,
        36.7,
        36.09,
        34.4,
        35.02,
        36.04,
        38.84,
        42.96,
        50.83,
        75.01,
        98.36,
        137.9,
        213.86,
        365.43,
        664.01,
        1227.13,
        2179.22,
        7019.96,
        13738.96,
        24425.22,
        44592.17,
    ),
    (16, "host"): (
        3.35,
        3.35,
        3.36,
        3.66,
        4.17,
        4.97,
        5.32,
        5.8,
        6.29,
        8.47,
        11.26,
        16.46,
        33.19,
        43.22,
        60.56,
        91.42,
        157.21,
        283.86,
        571.59,
        1110.77,
        1965.02,
        4329.13,
        10882.66,
        21480.64,
    ),
    (32, "device"): (
        35.69,
        35.38,
        34.49,
        37.34,
        37.03,
        38.68,
        37.54,
        38.09,
        39.23,
        42.64,
        47.23,
        55.9,
        108.33,
        123.15,
        166.2,
        248.25,
        398.66,
        694.2,
        1277.67,
        2442.88,
        6445.76,
        13697.4,
        24965.93,
        44433.31,
    ),
    (32, "host"): (
        5.36,
        5.34,
        5.35,
        5.55,
        6.02,
        6.65,
        7.55,
        8.11,
        8.89,
        11.55,
        15.42,
        22.16,
        63.81,
        67.64,
        88.52,
        124.8,
        190.64,
        323.79,
        649.5,
        1259.71,
        2380.99,
        4658.59,
        10217.44,
        21956.94,
    ),
    (64, "device"): (
        36.37,
        36.07,
        36.66,
        36.87,
        41.42,
        49.12,
        39.44,
        40.27,
        42.49,
        45.71,
        51.73,
        61.98,
        151.79,
        181.57,
        217.1,
        308.8,
        483.25,
        818.39,
        1487.73,
        2584.79,
        6899.62,
        12403.16,
        27075.38,
        48030.75,
    ),
    (64, "host"): (
        7.71,
        7.46,
        7.43,
        7.67,
        8.19,
        9.07,
        10.2,
        10.91,
        11.95,
        15.32,
        19.95,
        27.8,
        110.05,
        125.53,
        135.59,
        176.65,
        249.18,
        382.73,
        857.02,
        1352.19,
        2540.39,
        5191.19,
        10550.55,
        22384.11,
    ),
    (128, "device"): (
        39.2,
        39.08,
        39.5,
        39.07,
        70.73,
        41.72,
        43.98,
        43.91,
        44.04,
        48.63,
        56.07,
        67.83,
        229.46,
        271.01,
        332.69,
        399.71,
        573.82,
        900.04,
        1495.77,
        2565.21,
        6999.55,
        12510.63,
        24641.89,
        51207.1,
    ),
    (128, "host"): (
        9.27,
        9.17,
        9.15,
        9.56,
        9.96,
        10.85,
        12.39,
        12.86,
        14.23,
        17.88,
        23.39,
        33.17,
        187.63,
        237.44,
        248.1,
        269.96,
        350.07,
        499.97,
        801.14,
        1541.39,
        2748.36,
        5539.98,
        11611.71,
        22911.89,
    ),
}
ABCI_SIZES = 4.0 * 2.0 ** np.arange(24)

# allgather on device buffers, 4 nodes of 4 ranks, medians in microseconds by bytes of one rank's block: PICO
# (HLC-Lab/pico), leonardo 2025_03_20___12_52_50, test 0, Open MPI 4.1.6.
LEONARDO_SIZES = np.array([16.0, 128, 512, 4096, 32768, 262144, 2097152, 16777216])
LEONARDO = {
    "ring": (63.407, 65.165, 68.547, 146.076, 175.729, 381.025, 2010.741, 19647.31),
    "recursive_doubling": (20.538, 23.301, 28.435, 61.063, 124.186, 606.678, 6995.12, 58576.17),
}


def abci(ranks: int, buffers: str) -> pd.DataFrame:
    lines = np.arange(4, 4 + len(ABCI_SIZES))
    seconds = np.array(ABCI[ranks, buffers]) / 1e6
    return pd.DataFrame(
        {"n": ABCI_SIZES, "seconds": seconds, "line": lines, "collective": "allreduce", "buffers": buffers}
    )


@pytest.fixture(scope="module")
def bounce() -> oa.Fit:
    return oa.fit((abci(16, "device"), abci(16, "host")), model="bounce")


@pytest.mark.parametrize("ranks", [16, 32, 64, 128])
def test_the_bounce_of_two_nodes_predicts_more(bounce: oa.Fit, ranks: int) -> None:
    predicted = add_bounce(bounce, abci(ranks, "host"))
    error = np.abs(predicted["seconds"] / abci(ranks, "device")["seconds"] - 1)
    assert error.mean() < 0.07


def test_the_bounce_is_three_pageable_copies(bounce: oa.Fit) -> None:
    assert bounce.parameters["alpha_bounce"] == pytest.approx(30e-6, rel=0.02)
    assert 1 / bounce.parameters["beta_bounce"] == pytest.approx(4.2e9, rel=0.05)


def test_the_step_of_the_copies_is_named(bounce: oa.Fit) -> None:
    told = [text for text in bounce.warnings if "steps" in text]
    assert len(told) == 1
    assert "6.06 GB/s at 2 MiB" in told[0]
    assert "4 MiB (lines 23 and 24)" in told[0]


def test_the_band_holds_the_prediction(bounce: oa.Fit) -> None:
    made = add_bounce(bounce, abci(32, "host"))
    assert (made["low"] < made["seconds"]).all()
    assert (made["seconds"] < made["high"]).all()
    np.testing.assert_allclose(made["host_seconds"] + made["bounce_seconds"], made["seconds"])


def test_copies_of_the_machine_file_come_from_the_bounce(bounce: oa.Fit) -> None:
    machine = bounce.to_machine("abci", base="example")
    three = 2 * machine.parameters["alpha_d2h"] + machine.parameters["alpha_h2d"]
    assert three == pytest.approx(bounce.parameters["alpha_bounce"], rel=1e-4)
    assert machine.parameters["beta_h2d"] == pytest.approx(bounce.parameters["beta_bounce"], rel=1e-4)
    assert machine.provenance["d2h_bandwidth"].origin == "derived"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"copies": 0}, "copies"),
        ({"library": "mpich"}, "library"),
    ],
)
def test_what_a_bounce_refuses(change: dict[str, Any], message: str) -> None:
    with pytest.raises(oa.OrreryError, match=message):
        oa.fit_bounce(abci(16, "device"), abci(16, "host"), **change)


def test_what_is_not_bounced_needs_a_number_of_copies() -> None:
    device, host = (abci(16, buffers).assign(collective="bcast") for buffers in ("device", "host"))
    with pytest.raises(QuantityError, match="copies no buffer of bcast"):
        oa.fit_bounce(device, host)
    assert oa.fit_bounce(device, host, copies=3).parameters["alpha_bounce"] > 0


def test_a_bounce_takes_two_tables_of_common_sizes(bounce: oa.Fit) -> None:
    with pytest.raises(QuantityError, match="two tables"):
        oa.fit(abci(16, "device"), model="bounce")
    with pytest.raises(QuantityError, match="no size in common"):
        oa.fit_bounce(abci(16, "device"), abci(16, "host").assign(n=3 * ABCI_SIZES))
    with pytest.raises(QuantityError, match="add_bounce takes a fit of a bounce"):
        add_bounce(oa.fit(abci(16, "device")), abci(16, "host"))


@pytest.mark.parametrize("half", [0, 1])
def test_leonardo_from_half_of_the_sizes(half: int) -> None:
    every = pd.concat(
        [
            pd.DataFrame({"n": LEONARDO_SIZES, "seconds": np.array(us) / 1e6, "algorithm": name, "ranks": 16})
            for name, us in LEONARDO.items()
        ],
        ignore_index=True,
    )
    train = every["n"].isin(LEONARDO_SIZES[half::2])
    made = oa.fit(
        every[train],
        "collective",
        collective="allgather",
        algorithm={name: name for name in LEONARDO},
        network=[oa.TwoLevel(4, cards) for cards in (1, 2, 4)],
        rendezvous=True,
    )
    assert made.network == oa.TwoLevel(4, 1)  # four ranks behave like one card
    if half == 0:  # the other half says nothing of beta_intra
        with pytest.warns(UserWarning, match="undetermined|not measured") as told:
            machine = made.to_machine("leonardo here", base="example")
        assert "intra_latency (alpha_intra cannot be told from 0)" in str(told[0].message)
        assert machine.provenance["intra_latency"].origin == "assumed"
        assert (machine.ranks_per_node, machine.network_cards_per_node) == (4, 1)
        assert machine.parameters["s_rndv"] == made.parameters["s_rndv"]
    for name in LEONARDO:
        cost = oa.with_rendezvous(oa.collective_cost("allgather", name, network=made.network))
        rest = every[~train & (every["algorithm"] == name)]
        predicted = oa.predict_band(cost, made, 16, rest["n"].to_numpy())["seconds"].to_numpy()[0]
        assert np.median(np.abs(predicted / rest["seconds"] - 1)) < 0.2


def test_no_warning_reaches_python() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        oa.fit(abci(128, "device")).report()
