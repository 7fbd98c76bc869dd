"""Studies of the literature: an orbit in other states, CO2 abatement, a Monte Carlo of an amplifier, cases of a spreadsheet.

The models are stated in `benchmarks/literature.py`, where the suite `studies` measures them; here they are held to figures.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acausal as ac
from benchmarks import literature
from benchmarks.literature import AIR, ALONE, AT_REST, GEO, MU, Amplifier, Cooler, Equinoctial


def test_an_orbit_takes_few_steps_in_its_own_elements() -> None:
    """793 steps against 20 in the paper (DASSL, 1e-12), 0.0188 m against 8.9e-5 m after one period."""
    assert literature.period() == pytest.approx(86163.66, abs=0.01)
    plain, other = literature.orbits()
    for run, error in ((plain, 0.0188), (other, 8.9e-5)):
        assert literature.closing_error(run) < error
        momentum = run["x"][-1] * run["vy"][-1] - run["y"][-1] * run["vx"][-1]
        assert momentum == pytest.approx(GEO["x"] * GEO["vy"], rel=1e-9)
    assert other.statistics["steps"] <= 25 and plain.statistics["steps"] > 30 * other.statistics["steps"]


@pytest.mark.parametrize("rtol", [1e-6, 1e-9, 1e-12])
def test_what_is_left_out_of_the_error_test_is_solved_for_within_a_step(rtol: float) -> None:
    """Steps of an eighth of a period: what a polynomial says of x and y there is wrong by a part in a hundred."""
    semi = 1 / (2 / GEO["x"] - GEO["vy"] ** 2 / MU)
    period = literature.period()
    run = ac.compile(Equinoctial()).simulate(period, points=61, rtol=rtol, **ALONE)
    anomaly, e = 2 * np.pi * run.time / period, GEO["x"] / semi - 1  # the body begins at the far end
    angle = anomaly.copy()
    for _ in range(30):
        angle = anomaly - e * np.sin(angle)
    x, y = semi * (np.cos(angle) + e), semi * np.sqrt(1 - e**2) * np.sin(angle)
    assert np.hypot(run["x"] - x, run["y"] - y).max() < 100 * rtol * semi + 1e-4


def test_eigenvalues_of_a_circuit_whose_index_grows() -> None:
    assert literature.eigenvalue_error() < 1e-9


def test_paths_of_abatement() -> None:
    study = literature.abatement()
    assert literature.abatement_error(study) <= 1.0
    np.testing.assert_allclose(study["first"], 35.0)  # not the 40 that is a guess in the paper
    gap = study.result("early")["relative"] - study.result("late").at(study.result("early").time)["relative"]
    assert np.abs(gap).max() == pytest.approx(0.02, abs=3e-3)


def test_a_monte_carlo_of_an_amplifier() -> None:
    assert ac.compile(Amplifier()).simulate(1.0)["output"][-1] == pytest.approx(1.0)  # not drawn, it has its nominal values
    study, again = literature.monte_carlo(), literature.monte_carlo()
    np.testing.assert_array_equal(study["output"], again["output"])
    assert literature.monte_carlo_error(study) < 1e-9
    assert study.correlations("output")["R2"] == pytest.approx(1.0)
    assert np.corrcoef(study["tight"], study["p1"])[0, 1] > 0.99


def test_a_spreadsheet_of_cases_each_from_the_first_or_the_previous(tmp_path: Any) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("openpyxl")
    model, cases, good = ac.compile(Cooler()), literature.spreadsheet(tmp_path), AIR > -273
    for each_from, until in (("start", 200.0), ("first", 600.0), ("previous", 600.0)):
        study = model.study(cases, "T", until=until, each_from=each_from)
        assert study.ok.tolist() == good.tolist()  # one that fails does not end the batch
        np.testing.assert_allclose(study["T"][good], AT_REST[good], atol=30 * np.exp(-until / 100.0) + 1e-4)
        assert "out of its range" in study.failed[0].message and study.cases.names[3] == "air -400"
    assert literature.spreadsheet_error(tmp_path) < 1e-9
