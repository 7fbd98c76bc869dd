"""The demonstration plant: energy is conserved, the controllers do their work, the shipped weather is the examples' weather."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.library import demo


@pytest.fixture(scope="module")
def result() -> Any:
    return ac.compile(demo.HeatedHouse()).simulate(until=3 * demo.DAY, points=4321)


def test_it_runs_to_the_end(result: Any) -> None:
    assert result.outcome is ac.Outcome.FINISHED
    assert np.isfinite(result.data).all()


def test_the_room_is_warm_and_the_tank_is_layered(result: Any) -> None:
    room, tank = result["room.T"][result.time > 3 * 3600], result["tank.T"]
    assert 293.0 < room.min() < room.max() < 297.5  # the sun overheats it a little at noon
    assert tank[:, 0].max() < 330.0 and (tank[:, 0] - tank[:, -1]).max() > 5.0


def test_heat_pump_performance_stays_in_its_table(result: Any) -> None:
    assert (
        demo.COP.values.min()
        <= result["heat_pump.performance"].min()
        <= result["heat_pump.performance"].max()
        <= demo.COP.values.max()
    )
    assert 2.0 < result["E_heat"][-1] / result["E_electric"][-1] < 4.0


def test_energy_is_conserved(result: Any) -> None:
    """What came in less what went out is what the room, floor, walls and tank hold more than before."""

    def change(values: np.ndarray) -> Any:
        return values[-1] - values[0]

    air = 350.0 * 1.2 * 1006.0
    layers = np.array([0.015, 0.20, 0.14]) * np.array([1400.0, 1200.0, 30.0]) * np.array([1000.0, 1000.0, 1400.0]) * 140.0 / 4
    held = 5.0 * air * change(result["room.T"]) + 1.2e7 * change(result["floor.T"])
    held += float((layers[:, None] * change(result["wall.layer.T"])).sum())
    held += 0.5 * 1000.0 * demo.WATER / 10 * float(change(result["tank.T"]).sum())
    flows = result["gain"] + result["room.Q_ventilation"] + result["outside.b.Q_flow"] + result["window.b.Q_flow"]
    flows = flows + demo.WATER * result["hot_water.m_flow"] * (result["hot_water.T_return"] - result["tank.T"][:, 0])
    brought = result["E_heat"][-1] + np.trapezoid(flows, result.time)
    assert held == pytest.approx(brought, abs=1e-3 * result["E_heat"][-1])  # the trapezoidal rule on minutes


def test_hot_water_of_a_day(result: Any) -> None:
    drawn = np.trapezoid(result["hot_water.m_flow"], result.time) / 3
    assert drawn == pytest.approx(120.0, rel=1e-4)


def test_the_package_carries_the_examples_weather() -> None:
    example = Path(__file__).parents[2] / "examples" / "data" / "weather.csv"
    assert (files("acausal.library.data") / "weather.csv").read_text() == example.read_text()


def test_another_file_of_weather(tmp_path: Path) -> None:
    file = tmp_path / "weather.csv"
    file.write_text("time,T,sun\n0,280,0\n86400,280,100\n")
    result = ac.compile(demo.HeatedHouse(weather=file)).simulate(until=3600.0)
    np.testing.assert_allclose(result["weather.T"], 280.0)
    np.testing.assert_allclose(result["weather.sun"], 100.0 * result.time / demo.DAY, atol=1e-3)
