"""Every example runs, and what it finds is right."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest
from page import EXAMPLES, example

SCRIPTS = sorted(EXAMPLES.glob("*.py"))


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Examples write their pictures where they are started."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["example"])


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda p: p.stem)
def test_it_runs_as_a_script(script: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out, "an example tells what it found"
    for picture in tmp_path.glob("*.png"):
        assert picture.stat().st_size > 5000


def test_there_are_examples() -> None:
    assert len(SCRIPTS) >= 9


def test_ladder() -> None:
    assert example("ladder").main()["C[0].v"][-1] == pytest.approx(0.27766133, abs=3e-6)


def test_two_masses() -> None:
    result = example("two_masses").main()
    np.testing.assert_allclose(result["mass1.T"] + result["mass2.T"], 2 * 323.15, rtol=1e-9)  # nothing is lost
    np.testing.assert_allclose(result["mass1.T"], 323.15 + 50 * np.exp(-4 / 3 * result.time), atol=2e-3)  # of rtol 1e-6 and 373 K


def test_motor() -> None:
    """At rest: the speed is the one that is wanted, the torque that of the fan, the voltage that of armature and speed."""
    module = example("motor")
    result = module.ac.compile(module.Drive()).simulate(until=10.0)
    w, current = result["impeller.w"][-1], result["motor.R.i"][-1]
    assert w == pytest.approx(80.0, rel=1e-4)
    assert 0.4 * current == pytest.approx(2.0 * 0.8**2, rel=1e-3)
    assert result["source.v"][-1] == pytest.approx(0.5 * current + 0.4 * w, rel=1e-5)


def test_pipe_heat_converges_with_the_square_of_the_cell() -> None:
    module, errors = example("pipe_heat"), []
    for n in (100, 200):
        result = module.ac.compile(module.Pipe(n)).simulate(until=60.0, points=2, rtol=1e-8)
        x = (np.arange(n) + 0.5) * 10.0 / n
        errors.append(np.abs(result["T"][-1] - 290.0 - 40.0 * module.exact(x, 60.0, 0.05, 0.02))[: n // 2].max())
    assert errors[1] < 0.05
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.2)


def test_robertson_reaches_the_published_end() -> None:
    result = example("plain_robertson").main()
    reached = [result[name][-1] for name in "abc"]
    np.testing.assert_allclose(reached, [0.2083340149701255e-7, 0.8333360770334713e-13, 0.9999999791665050], rtol=1e-5)


def test_c_function_is_exact() -> None:
    from math import erf

    result = example("c_function").main()
    np.testing.assert_allclose(result["y"], [erf(t) for t in result.time], atol=1e-5)


def test_measured_input_is_what_the_file_says() -> None:
    result = example("measured_input").main()
    times, T, _, _ = np.loadtxt(EXAMPLES / "data" / "weather.csv", delimiter=",", skiprows=1).T
    np.testing.assert_allclose(result["outdoor.port.T"], np.interp(result.time, times, T), rtol=1e-12)
    assert 273.15 < result["goods.T"].min() < result["goods.T"].max() < 285.0


def test_parameter_study_gives_the_same_in_threads_as_alone() -> None:
    module = example("parameter_study")
    dampings, found = module.main(runs=6)
    model = module.ac.compile(module.QuarterCar())
    alone = [module.overshoot(model, d) for d in dampings]
    np.testing.assert_array_equal(found, alone)


def test_refrigerated_cabinet() -> None:
    module = example("refrigerated_cabinet")
    result = module.main()
    assert module.imbalance(result) < 1e-3
    assert [p.start for p in result.states("defrost.phase") if p.state == "heating"] == [10800.0, 32400.0, 54000.0, 75600.0]
    assert result.time_in("customers.door")["open"] == pytest.approx(1800.0)


def test_cold_store_keeps_its_charge_and_its_account() -> None:
    """A day of eighty starts; defrost by the clock; nothing is lost."""
    module = example("cold_store")
    result = module.main()
    drift, gap = module.accounts(result)
    assert drift <= 1e-13
    assert gap <= 1e-10
    starts = sum(s.state == "on" for s in result.states("compressor.run"))
    assert starts >= 80
    assert result.diagnose().order > 3.7  # 4.2; a limit of the order that outlasts the event behind it costs a fifth more steps
    assert [p.start for p in result.states("defrost.phase") if p.state == "heating"] == [14400.0, 43200.0, 72000.0]
    assert 270.0 < result["room.T"].min() < result["room.T"].max() < 275.5


def test_a_leak_of_the_cold_store_is_seen_when_the_receiver_is_empty() -> None:
    """The example told of vapour in the valve where there was none, and of goods that nothing had happened to."""
    module = example("cold_store")
    model = module.ac.compile(module.ColdStore())
    (share, goods), first, second, third = (module.leak(model, less) for less in (0.0, *module.LEAKS))
    assert first == pytest.approx((share, goods), rel=1e-3)  # as long as there is liquid at the valve
    assert share + 0.05 < second[0] < third[0] and third[0] > 0.99
    assert second[1] == pytest.approx(goods, abs=0.1) and third[1] > goods + 0.5


def test_heat_pump_gives_more_than_it_takes() -> None:
    module = example("heat_pump")
    result = module.main()
    assert result.outcome
    assert not result.diagnostics  # what stands in the evaporator after a defrost settles before the compressor
    assert 2.5 < result["Q"][-1] / result["W"][-1] < 4.5
    kept = module.ac.accounts(result)
    assert kept.charge_error < 1e-12
    warmed = 4186.0 * 300.0 * (result["tank.T"][-1] - result["tank.T"][0])
    taken = 350.0 * np.trapezoid(result["tank.T"] - result["room.T"], result.time)  # by the floor
    assert result["Q"][-1] == pytest.approx(warmed + taken, rel=1e-4)
    read = np.loadtxt(module.WEATHER, delimiter=",", skiprows=1)  # as it was measured, hour by hour
    np.testing.assert_allclose(np.interp(read[:, 0], result.time, result["outdoors.T"]), read[:, 1] + 273.15, atol=1e-6)
    np.testing.assert_allclose(np.interp(read[:, 0], result.time, result["outdoors.phi"]), read[:, 2], atol=1e-6)
    assert result["room.T"].min() > 292.0
    assert sum(p.state == "heating" for p in result.states("defrost.phase")) == 6


def test_supermarket_keeps_its_charge() -> None:
    module = example("supermarket")
    result = module.main()
    charge = np.asarray(result["charge"])
    assert np.abs(charge / charge[0] - 1).max() < 1e-10
    levels = [int(stay.state[-1]) for stay in result.states("rack.level")]
    assert np.abs(np.diff(levels)).max() == 1 and set(levels) == {0, 1, 2, 3}
    for k in range(3):  # a compressor runs exactly while the level is above it
        on = sum(stay.end - stay.start for stay in result.states("rack.level") if int(stay.state[-1]) > k)
        assert result.time_in(f"compressor[{k}].run").get("on", 0.0) == pytest.approx(on)
        assert sum(stay.state == "on" for stay in result.states(f"compressor[{k}].run")) < 12  # it was a hundred in two hours
    settled, boils = result.time > 1800.0, []
    for name, (T_set, _) in module.ROOMS.items():
        assert np.abs(result[f"{name}.room.T"][settled] - T_set).max() < 1.3
        fed = settled & (result[f"{name}.valve.m_flow"] > 1e-3)
        boils.append(result[f"{name}.evaporator.T_saturation"][fed].mean())
    assert np.diff(boils).min() > 2.0  # each at a temperature of its own


def test_district_heating_arrives_when_and_as_warm_as_plug_flow_says() -> None:
    module = example("district_heating")
    result = module.main()
    exact, _ = module.plug_flow(result.time, lambda t: np.interp(t, [7200.0, 7260.0], [343.15, 358.15]))
    leaves = np.asarray(result["pipe.T"])[:, -1]
    settled = (result.time < 9000.0) & (result.time > 6000.0) | (result.time > 15000.0)
    np.testing.assert_allclose(leaves[settled], exact[settled], atol=0.05)


def test_transcritical_co2_has_a_best_high_pressure() -> None:
    first, found = example("transcritical_co2").main()
    pressures = np.asarray(first["cooler.p"])[:, 0]
    assert pressures[0] < 7.377e6 < pressures[-1]
    assert np.abs(np.asarray(first["charge"]) / first["charge"][0] - 1).max() < 1e-10
    cops = [cop for cop, _ in found]
    assert 0 < int(np.argmax(cops)) < len(cops) - 1  # too low and too high are both worse
    assert np.all(np.diff([p for _, p in found]) > 0)


# The standard run of 1974 as PyWorld3 1.1 has it (C. Vanwynsberghe, 2021; Euler's method with steps of half a year): persons,
# resources left, food and industrial output per head, pollution.
WORLD3_1974 = {
    1950: (2.6074e9, 0.96128, 398.25, 152.00, 0.48759),
    1975: (3.9319e9, 0.89022, 462.99, 242.51, 1.2118),
    2000: (5.6435e9, 0.68802, 495.12, 351.75, 3.5301),
    2025: (7.0544e9, 0.31815, 421.67, 262.05, 9.4387),
    2050: (6.2376e9, 0.19605, 256.57, 89.381, 7.5920),
    2075: (4.8293e9, 0.16179, 224.07, 33.255, 2.2343),
    2100: (3.9769e9, 0.15202, 235.75, 10.711, 0.60187),
}


def test_world3() -> None:
    """Against the published run of 1974; Euler's steps lag by a quarter of a year, which is what is allowed for."""
    module = example("world3")
    names = ("population.pop", "resources.nrfr", "agriculture.fpc", "capital.iopc", "pollution.ppolx")
    model = module.ac.compile(module.World3(edition=1974))
    assert model.info().states == 41
    result = model.simulate(until=2100.0, start=1900.0, every=0.5, rtol=1e-7)
    for year, expected in WORLD3_1974.items():
        for name, value in zip(names, expected, strict=True):
            now, later = (float(result.at(year + shift)[name]) for shift in (0.0, -1.0 if year > 1900 else 0.0))
            assert abs(now - value) < 0.01 * value + abs(now - later), (year, name, now, value)
    people = result["population.pop"]
    assert result.time[int(np.argmax(people))] == pytest.approx(2026.75, abs=1.0)  # 2027 with Euler's steps
    assert people.max() == pytest.approx(7.0620e9, rel=0.006)
