"""Examples of models exchanged at events: closed forms, a single model with variable structure, and what is made of the results."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from page import example

import acausal as ac
from acausal.errors import NameNotFound, UsageError
from acausal.results.phases import PhasesResult

# --- closed forms -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pendulum() -> PhasesResult:
    return example("string_pendulum").pendulum().simulate(until=6.0, rtol=1e-10)


def test_a_flight_that_begins_along_the_circle_is_one_phase_at_any_tolerance(pendulum: PhasesResult) -> None:
    loose = example("string_pendulum").pendulum().simulate(until=6.0, rtol=1e-5)
    np.testing.assert_allclose([p.start for p in loose.phases], [p.start for p in pendulum.phases], atol=1e-2)


def test_the_string_becomes_slack_where_its_force_vanishes(pendulum: PhasesResult) -> None:
    """m (L w² + g cos φ) = 0 with w² = w0² - 2 g (1 - cos φ)/L."""
    assert [phase.mode for phase in pendulum.phases] == ["taut", "slack"] * 5 + ["taut"]
    cosine = -(6.5**2 - 2 * 9.81) / (3 * 9.81)
    np.testing.assert_allclose(np.cos(pendulum.parts[0]["phi"][-1]), cosine, rtol=1e-8)


def test_each_flight_lasts_as_long_as_the_parabola(pendulum: PhasesResult) -> None:
    """Circle and parabola touch to third order where the string becomes slack; they meet again after 4 v_y / g."""
    for phase, part in zip(pendulum.phases, pendulum.parts, strict=True):
        if phase.mode == "slack":
            assert phase.duration == pytest.approx(4 * part["v"][0] / 9.81, rel=1e-7)
            np.testing.assert_allclose(
                part["y"],
                part["y"][0] + part["v"][0] * (part.time - phase.start) - 9.81 / 2 * (part.time - phase.start) ** 2,
                atol=1e-8,
            )


def test_the_energy_balance_of_the_string(pendulum: PhasesResult) -> None:
    """Conserved in every phase and when the string becomes slack; at the catch the radial part of the kinetic energy is lost."""
    for phase, part in zip(pendulum.phases, pendulum.parts, strict=True):
        np.testing.assert_allclose(part["energy"], part["energy"][0], rtol=1e-7, err_msg=str(phase))
    for before, after in itertools.pairwise(pendulum.parts):
        radial = (before["x"] * before["u"] + before["y"] * before["v"])[-1]
        assert before["energy"][-1] - after["energy"][0] == pytest.approx(0.5 * radial**2, abs=1e-8)


class Single(ac.Component):
    """The same string pendulum as one model, whose equations differ from state to state."""

    L = ac.Parameter(1.0)
    g = ac.Parameter(9.81)
    taut = ac.Boolean(start=True)
    x = ac.Variable(start=0.0)
    y = ac.Variable(start=-1.0)
    u = ac.Variable(start=6.5)
    v = ac.Variable(start=0.0)
    phi = ac.Variable(start=0.0, fixed=True)
    w = ac.Variable(start=6.5, fixed=True)
    F = ac.Variable(start=0.0)
    gap = ac.Variable()

    def equations(self):
        s, c = ac.sin(self.phi), ac.cos(self.phi)
        yield self.gap == ac.where(self.taut, 1.0, self.L**2 - self.x**2 - self.y**2)
        yield ac.during(
            self.taut,
            ac.der(self.phi) == self.w,
            self.L * ac.der(self.w) == -self.g * s,
            self.x == self.L * s,
            self.y == -self.L * c,
            self.u == self.L * self.w * c,
            self.v == self.L * self.w * s,
            self.F == self.L * self.w**2 + self.g * c,
        )
        yield ac.during(
            ~self.taut, ac.der(self.x) == self.u, ac.der(self.y) == self.v, ac.der(self.u) == 0, ac.der(self.v) == -self.g
        )

    def events(self):
        yield ac.when(self.taut & (self.F < 0), ac.assign(self.taut, False)).elsewhen(
            ~self.taut & (self.gap < 0),
            ac.assign(self.taut, True),
            ac.reinit(self.phi, ac.atan2(self.x, -self.y)),
            ac.reinit(self.w, (self.x * self.v - self.y * self.u) / self.L**2),
        )


def test_the_same_as_one_model_with_variable_structure(pendulum: PhasesResult) -> None:
    times = np.linspace(0.05, 5.95, 60)
    one = ac.compile(Single()).simulate(until=6.0, rtol=1e-10, at=times)
    parts = example("string_pendulum").pendulum().simulate(until=6.0, rtol=1e-10, at=times)
    for name in "xyuv":
        there = [np.interp(times, r.time, r[name]) for r in (one, parts)]
        np.testing.assert_allclose(there[0], there[1], atol=1e-6)
    switched = [i.start for i in one.states("taut")[1:]]
    np.testing.assert_allclose([p.start for p in pendulum.phases[1:]], switched, atol=1e-6)


class Cartesian(ac.Component):
    """The circle as a constraint in Cartesian coordinates: index reduction, states selected on the way."""

    L = ac.Parameter(1.0)
    g = ac.Parameter(9.81)
    x = ac.Variable(start=0.0)
    y = ac.Variable(start=-1.0)
    u = ac.Variable(start=6.5)
    v = ac.Variable(start=0.0)
    F = ac.Variable(start=0.0)

    def equations(self):
        yield ac.der(self.x) == self.u
        yield ac.der(self.y) == self.v
        yield ac.der(self.u) == -self.F * self.x / self.L
        yield ac.der(self.v) == -self.F * self.y / self.L - self.g
        yield self.x**2 + self.y**2 == self.L**2


def test_a_mode_whose_index_is_reduced(pendulum: PhasesResult) -> None:
    module = example("string_pendulum")
    plant = ac.Phases(taut=Cartesian(), slack=module.Slack(), initial="taut", units=False)
    plant.switch("taut", "slack", when=lambda m: m.F < 0)

    def tangential(old: Any) -> float:
        return old["x"] * old["v"] - old["y"] * old["u"]

    plant.switch(
        "slack",
        "taut",
        when=lambda m: (m.x**2 + m.y**2 > m.L**2) & (m.x * m.u + m.y * m.v > 1e-3),
        carry={"u": lambda old: -old["y"] * tangential(old), "v": lambda old: old["x"] * tangential(old)},
    )
    result = plant.simulate(until=3.0, rtol=1e-9)
    np.testing.assert_allclose(
        [p.start for p in result.phases], [p.start for p in pendulum.phases[: len(result.phases)]], atol=1e-5
    )
    assert len(result.phases) == 5


def test_a_ball_that_is_removed_and_put_back() -> None:
    """v = v0 exp(-k t), x = x0 + v0 (1 - exp(-k t)) / k; the white ball is not there for 1 s, the red one does not notice."""
    result = example("model_exchange").billiard().simulate(until=8.0, rtol=1e-9)
    k = 0.05 / 0.2
    np.testing.assert_allclose(result["red.x"], 1.2 + 0.2 * (1 - np.exp(-k * result.time)) / k, atol=1e-7)
    falls, back, again = (p.start for p in result.phases[1:4])
    assert falls == pytest.approx(-np.log(1 - k * 1.0 / 0.6) / k, rel=1e-7)
    assert back == pytest.approx(falls + 1.0, abs=1e-12)
    assert again - back == pytest.approx(-np.log(1 - k * 0.635 / 0.3) / k, rel=1e-7)
    gone = np.isnan(result["white.x"])
    np.testing.assert_array_equal(gone, result["phase"] == 1)
    np.testing.assert_array_equal(np.isnan(result["since"]), ~gone)
    assert result["white.x"][~gone].min() > -1e-9


def test_levels_of_detail_are_exchanged_as_the_wind_changes() -> None:
    module = example("model_exchange")
    result = module.wind_turbine().simulate(until=120.0, rtol=1e-8)
    assert [p.mode for p in result.phases] == ["calm", "gusty"] * 2 + ["calm"]
    whole = module.ac.compile(module.Dynamic()).simulate(until=120.0, rtol=1e-8, initial="steady")
    for phase, part in zip(result.phases, result.parts, strict=True):
        if phase.mode == "gusty":  # what the quasi-static model left out has faded by the end
            assert part["twist"][0] == pytest.approx(
                result.parts[0]["M_gen"][-1] / 1e8 if phase.start < 60 else part["M_gen"][0] / 1e8
            )
            assert part["P"][-1] == pytest.approx(np.interp(phase.end, whole.time, whole["P"]), rel=2e-5)
    np.testing.assert_allclose(np.interp(whole.time, result.time, result["P"]), whole["P"], rtol=0.01)
    assert np.isnan(result["twist"][result["phase"] == 0]).all()


# --- the result ---------------------------------------------------------------------------------------------------------------


def test_names_of_all_modes(pendulum: PhasesResult) -> None:
    names = pendulum.names()
    assert {"phase", "x", "phi", "F", "energy"} <= set(names) and len(names) == len(set(names))
    assert pendulum.names("ph*") == ["phase", "phi"]
    assert pendulum.unit("F") == "N" and pendulum.description("F") == "force in the string" and pendulum.unit("time") == "s"
    np.testing.assert_allclose(pendulum.in_unit("phi", "deg")[0], 0.0)
    np.testing.assert_array_equal(np.isnan(pendulum["phi"]), pendulum["phase"] == 1)
    np.testing.assert_array_equal(np.isnan(pendulum["der(w)"]), pendulum["phase"] == 1)
    with pytest.raises(NameNotFound, match=r"No mode of this run has `energi`\. Did you mean `energy`"):
        pendulum["energi"]


def test_phases_are_states_of_the_result(pendulum: PhasesResult) -> None:
    found = pendulum.states("phase")
    assert [(i.state, i.start, i.end) for i in found] == [(p.mode, p.start, p.end) for p in pendulum.phases]
    assert found[1].cause == pendulum.phases[1].cause
    assert "F < 0" in str(found[1].cause) and "string_pendulum.py:" in str(found[1].cause)
    assert pendulum.state_at("phase", 1.0) == "slack"
    assert sum(pendulum.time_in("phase").values()) == pytest.approx(6.0)
    assert str(pendulum.phases[1]).startswith("slack for 0.71")
    assert "F < 0" in repr(pendulum.events)
    assert str(pendulum.events[0].changes[0]) == "phase: taut → slack"
    assert "11 phases" in repr(pendulum)


def test_pictures_have_bands_of_phases(pendulum: PhasesResult, tmp_path: Path) -> None:
    figure = pendulum.plot("x", "F", file=tmp_path / "p.png", show=False)
    assert len(figure.axes) == 3
    assert [text.get_text() for text in figure.axes[-1].get_yticklabels()] == ["phase"]
    assert [t.get_text() for t in figure.legends[0].get_texts()] == ["taut", "slack"]
    assert len(pendulum.plot("x", states=(), show=False).axes) == 1


def test_tables_and_files(pendulum: PhasesResult, tmp_path: Path) -> None:
    table = pendulum.to_pandas(["x", "F", "phase"])
    assert len(table) == len(pendulum.time) and table.attrs["units"]["F"] == "N"
    pendulum.export(tmp_path / "p.csv")
    header = (tmp_path / "p.csv").read_text().splitlines()[0].split(",")
    assert header == ["time", *pendulum.names()]
    with pytest.raises(UsageError, match="not kept in one file"):
        pendulum.save(tmp_path / "p.result")
