"""The plants among the examples: what they find is what laws and conservation say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from page import example


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Examples write their pictures where they are started."""
    monkeypatch.chdir(tmp_path)


def test_hot_water_network_closes_its_loops_and_stands_still() -> None:
    module = example("hot_water_network")
    result = module.main()
    assert result.outcome
    flow, houses = np.asarray(result["flow.m_flow"]), np.asarray(result["house.valve.m_flow"])

    def at(hour: float) -> int:
        return int(np.searchsorted(result.time, hour * 3600.0))

    for hour in (0.95, 1.45):  # at rest what comes to a node leaves it; water becomes warmer in the nodes, by less than 1e-3
        k = at(hour)
        np.testing.assert_allclose(flow[k, :-1] - flow[k, 1:], houses[k], atol=2e-3)
    losses = np.asarray(result["flow.a.p"] - result["flow.b.p"])
    assert np.abs(losses.sum(axis=1)).max() < 1.0  # Pa, of some 30 kPa, round the ring
    assert flow[at(0.95), 2] > 0 > flow[at(1.45), 2]  # a section turns
    assert np.abs(houses[at(1.45), 2]) < 1e-3
    assert max(np.abs(flow[at(3.1)]).max(), np.abs(houses[at(3.1)]).max()) < 2e-3
    _compare_with_hardy_cross(module, result, at(0.95))


def _compare_with_hardy_cross(module: Any, result: Any, k: int) -> None:
    """The ring with the flows of the houses given: one correction of all sections makes the losses sum to zero."""
    from scipy.optimize import brentq

    from acausal.library.fluid import pressure_loss

    houses = np.asarray(result["house.valve.m_flow"])[k]
    water = module.ac.media.fluid("water").state(p=3e5, T=353.15)

    def section(first: float) -> np.ndarray:
        return first - np.concatenate([[0.0], np.cumsum(houses)])

    def sum_of_losses(first: float) -> float:
        terms = [pressure_loss(m, water.rho, water.viscosity, length, 0.05, 5e-5)
                 for m, length in zip(section(first), module.LENGTH, strict=True)]  # fmt: skip
        return float(np.sum([float(t) for t in terms]))

    exact = section(brentq(sum_of_losses, 0.0, houses.sum()))
    np.testing.assert_allclose(np.asarray(result["flow.m_flow"])[k], exact, atol=5e-3)


def test_a_pressure_wave_is_that_of_acoustics() -> None:
    module = example("pressure_wave")
    result = module.main()
    p, m, c = np.asarray(result["pipe.p"]), np.asarray(result["pipe.m"]), float(module.AT_REST.speed_of_sound)
    low = module.P - 0.25 * (module.P - module.P_LOW)
    quarter, three = (module.arrival(result.time, p[:, k], low) for k in (60, 20))
    assert 0.5 * module.LENGTH / (three - quarter) == pytest.approx(c, rel=5e-3)
    k = int(np.searchsorted(result.time, 0.5 * module.LENGTH / c))
    assert m[k, -5] == pytest.approx(np.pi / 4 * (module.P - p[k, -5]) / c, rel=0.02)
    k = int(np.searchsorted(result.time, 1.5 * module.LENGTH / c))
    assert module.P - p[k, 0] == pytest.approx(2 * (module.P - p[k, -1]), rel=0.02)


def test_hydrogen_burns_as_another_solver_says() -> None:
    module = example("hydrogen_combustion")
    result = module.main()
    times, T = [2e-3, 4e-3, 8e-3, 1e-2, 2e-2], [300.89047, 1463.255, 1810.502, 1565.3267, 1432.1898]  # SciPy's Radau, rtol 1e-7
    fine = module.simulate(0.02, points=2001, rtol=1e-8)
    np.testing.assert_allclose([np.interp(t, fine.time, fine["T"]) for t in times], T, rtol=5e-5)
    N = np.asarray(result["N"])
    held = N @ np.array(list(module.ATOMS.values())).T
    np.testing.assert_allclose(held, held[0] + np.asarray(result["atoms_in"]), atol=1e-12 * held.max())
    assert N[-1, 1] / N[-1].sum() < 1e-3 < N[-1, 0] / N[-1].sum()  # hydrogen is burnt, oxygen is left
    h = np.array([float(v) for v in module.enthalpies(float(result["T"][-1]))])
    cold = np.array([float(v) for v in module.enthalpies(300.0)])
    leaves = 1e-4 * (result["p"][-1] - 1e5)  # at rest what leaves carries the enthalpy that came
    assert leaves * (N[-1] @ h) / N[-1].sum() == pytest.approx(0.1 * float(module.FEED @ cold), abs=0.02 * 0.1 * h.max())


def test_an_attemperator_keeps_the_temperature_of_the_steam() -> None:
    with_control, without = example("attemperator").main()
    end = with_control.time > 1700.0
    assert np.abs(np.asarray(with_control["sensor.y"])[end] - 773.15).max() < 0.3
    later = with_control.time > 590.0
    swing = [np.ptp(np.asarray(run["sensor.y"])[later]) for run in (with_control, without)]
    assert swing[0] < 0.7 * swing[1]
    last = {name: float(with_control[name][-1]) for name in ("drum.port.m_flow", "spray.m_flow", "stop.m_flow")}
    assert last["stop.m_flow"] == pytest.approx(last["spray.m_flow"] - last["drum.port.m_flow"], rel=1e-4)


def test_a_micro_turbine_takes_a_pulse_of_load() -> None:
    result = example("micro_turbine").main()
    k = int(np.searchsorted(result.time, 119.0))
    last = {n: float(result[n][k]) for n in ("compressor.P", "turbine.P", "generator.P", "fuel.Q_flow", "compressor.m_flow")}
    assert last["turbine.P"] - last["compressor.P"] == pytest.approx(85e3 / 0.94, rel=1e-4)  # the shaft
    out = float(result["recuperator.b2.h.outflow"][k] - result["inlet.h"][k])
    assert last["fuel.Q_flow"] == pytest.approx(85e3 / 0.94 + last["compressor.m_flow"] * out, rel=2e-3)  # the whole plant
    speed = np.asarray(result["speed"])[result.time > 55.0]
    assert 62000 < speed.min() < speed.max() < 68000
    assert result["TOT"].max() < 1150.0 and 0.25 < result["efficiency"][k] < 0.4


def test_a_house_over_a_year_closes_its_account() -> None:
    module = example("house_year")
    result = module.main()
    assert result.outcome and result.time[-1] == module.YEAR
    stored = 30.0 * 400.0 * 1.2 * 1006.0 * float(result["room.T"][-1] - result["room.T"][0])
    layers = zip(*(module.LAYERS[name] for name in ("thickness", "density", "specific_heat")), strict=True)
    for k, (thickness, rho, c) in enumerate(layers):
        T = np.asarray(result[f"wall.layer[{k}].T"])
        stored += rho * c * module.WALL * thickness * (T[-1].mean() - T[0].mean())
    came = float(result["E_heat"][-1] + result["E_sun"][-1]) + 400.0 * module.YEAR
    assert came - float(result["E_lost"][-1]) == pytest.approx(stored, abs=1e-9 * came)
    assert 292.5 < result["room.T"].min() < result["room.T"].max() < 300.5
    heat = np.interp(np.linspace(0, module.YEAR, 13), result.time, result["E_heat"])
    assert np.diff(heat)[[5, 6, 7]].max() < 0.01 * np.diff(heat)[0]  # none in summer


def test_a_desiccant_wheel_keeps_water_and_energy_and_converges() -> None:
    module = example("desiccant_wheel")
    found = {}
    for around in (4, 8, 16):
        run = module.ac.compile(module.DesiccantWheel(around), units=False).simulate(until=20000.0, points=3, rtol=1e-8)
        found[around] = float(run["w_dry"][-1])
        Ta, w = np.asarray(run["Ta"])[-1], np.asarray(run["w"])[-1]
        assert run["w_dry"][-1] + run["w_damp"][-1] == pytest.approx(0.028, abs=1e-9)
        leaves = module.enthalpy(Ta[-1, :around], w[-1, :around]).mean() + module.enthalpy(Ta[0, around:], w[0, around:]).mean()
        enters = module.enthalpy(305.15, 0.014) + module.enthalpy(353.15, 0.014)
        assert leaves == pytest.approx(enters, rel=1e-7)
    assert 1.5 < (found[4] - found[8]) / (found[8] - found[16]) < 2.5  # upwind: the error halves with the cells
    assert found[16] < 0.55 * 0.014


def test_a_controllable_accumulator_has_the_published_trends() -> None:
    """Geometry and coefficients are not published: directions and sizes are compared, not digits."""
    module = example("co2_accumulator")
    runs, found = module.main()
    for name, published in module.PUBLISHED.items():
        assert np.all(np.sign(np.diff(found[name])) == np.sign(np.diff(published))), name
        assert np.abs(np.array(found[name]) / published - 1).max() < 0.4, name
    for run in runs.values():
        charge = np.asarray(run["charge"])
        assert np.abs(charge / charge[0] - 1).max() < 1e-10
        assert run["p_high"][0] < 7.377e6 < run["p_high"][-1]  # started across the critical point


def test_a_car_air_conditioner_cycles_when_hot_and_has_two_points_of_rest() -> None:
    mild, hot, twice = example("car_air_conditioner").main()
    resting, cycling = (np.asarray(run["dp"])[run.time > 200.0] for run in (mild, hot))
    assert np.ptp(resting) < 1e-3 * 73e5
    assert cycling.max() > 72.9e5 and cycling.min() < 60.1e5
    lifts = [s.start for s in hot.states("valve.stage") if s.state == "lifted" and s.start > 150.0]
    assert len(lifts) > 8 and np.std(np.diff(lifts[-6:])) < 0.02 * np.mean(np.diff(lifts[-6:]))  # a limit cycle has one period
    before, after = (int(np.searchsorted(twice.time, t)) for t in (345.0, 595.0))
    assert (twice.state_at("valve.stage", 345.0), twice.state_at("valve.stage", 595.0)) == ("lifted", "seated")
    assert twice["outside.T"][before] == twice["outside.T"][after]
    assert twice["dp"][after] - twice["dp"][before] > 3e5
    for run in (mild, hot, twice):
        charge = np.asarray(run["charge"])
        assert np.abs(charge / charge[0] - 1).max() < 1e-10


def test_a_dehumidifier_dries_the_air_and_freezes_in_a_cold_cellar() -> None:
    result, cold = example("dehumidifier").main()
    assert result.outcome and cold.outcome
    assert 1.5 < result["water"][-1] / (result["W"][-1] / 3.6e6) < 5.0  # l/kWh, as such things do
    stored = result["energy"][-1] - result["energy"][0]
    assert stored + result["gained"][-1] + result["drained"][-1] == pytest.approx(result["W"][-1], rel=1e-4)
    taken = np.trapezoid(result["cold.moisture"], result.time)
    assert result["water"][-1] + result["cold.frost"][-1] == pytest.approx(taken, rel=1e-2)
    assert cold["cold.frost"][-1] > 0.3 and any("Frost fills the gaps" in d.what for d in cold.diagnostics)


def test_a_blind_saves_energy_at_night() -> None:
    runs = example("shop_cabinet").main()
    with_blind, without = runs[True], runs[False]
    assert with_blind.outcome and without.outcome
    assert 0.1 < 1 - with_blind["W"][-1] / without["W"][-1] < 0.3
    assert with_blind.in_unit("cabinet.T_goods", "degC").max() < 5.0
    charge = with_blind["charge"]
    assert np.abs(charge / charge[0] - 1).max() < 1e-12


def test_oxygen_cools_a_line_down_and_the_wall_is_stressed_where_it_is_wetted() -> None:
    """What the steel and the oxygen take is in table 1 of the paper; film boiling is slow and wetting is quick."""
    module = example("cryogenic_cooldown")
    grid = np.linspace(20.0, 318.0, 2001)
    steel = np.trapezoid(np.asarray(module.of_steel(grid, module.HEAT)), grid)
    assert steel == pytest.approx(101.5e3, rel=0.02)
    oxygen = module.ac.media.fluid("oxygen")
    ends = oxygen.saturation(p=5e5)
    assert ends.h_evaporation == pytest.approx(191.2e3, rel=0.005)
    result = module.main()
    assert result.outcome and np.abs(result["valve.m_flow"]).max() == pytest.approx(1.7, rel=0.05)
    T, stress = np.asarray(result["wall.T"]), np.asarray(result["wall.stress"])
    assert T[-1].max() < 115.0 and np.all(np.diff(T[:, :, -1], axis=0) < 1e-3)  # the outside only becomes colder
    when = result.time[stress.argmax(axis=0)]
    wetted = [result.time[np.argmax(T[:, k, 0] < 150.0)] for k in range(module.CELLS)]
    np.testing.assert_allclose(when, wetted, atol=12.0)
    assert 5e7 < stress.max() < 2e8
    lost = module.steel_energy(T)[0] - module.steel_energy(T)[-1]
    gained = result["vented"][-1] + result["fluid_energy"][-1] - result["fluid_energy"][0]
    assert gained == pytest.approx(lost, rel=1e-5)


def test_every_plant_has_its_page() -> None:
    """Those that docs/plants.md lists are explained in docs/example_plants.md; four were not."""
    docs = Path(__file__).parents[1] / "docs"
    listed = set(re.findall(r"^\| `examples/(\w+)\.py`", (docs / "plants.md").read_text(encoding="utf-8"), re.MULTILINE))
    explained = set(re.findall(r"^## .*`(\w+)\.py`", (docs / "example_plants.md").read_text(encoding="utf-8"), re.MULTILINE))
    assert len(listed) > 15
    assert listed - explained == {"world3"}  # nothing flows there: its docstring says what it is
