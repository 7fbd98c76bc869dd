"""Gears against their kinematics and the balance of power."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.library import motion, signal
from acausal.library.mechanics import gears
from acausal.library.mechanics import rotational as ro


def test_a_gear_in_a_housing(wired: Any, run: Any) -> None:
    """The housing stands: speeds as the ratio, and it carries what the shafts do not."""
    plant = wired(
        "torque.flange one.a", "one.b gear.a", "gear.b two.a", "gear.support wall.flange", "step.y torque.tau",
        torque=ro.Torque(), step=signal.Constant(k=3.0), one=ro.Inertia(J=1.0), gear=gears.SupportedGear(ratio=4.0),
        two=ro.Inertia(J=8.0), wall=ro.Fixed(),
    )  # fmt: skip
    result = run(plant, 2.0)
    w = 3.0 / (1.0 + 8.0 / 16.0) * result.time
    np.testing.assert_allclose(result["one.w"], w, atol=1e-6)
    np.testing.assert_allclose(result["two.w"], w / 4.0, atol=1e-6)
    np.testing.assert_allclose(result["gear.a.tau"] + result["gear.b.tau"] + result["gear.support.tau"], 0.0, atol=1e-9)


def test_a_planetary_gear_with_its_ring_held(wired: Any, run: Any) -> None:
    plant = wired(
        "torque.flange sun.a", "sun.b gear.sun", "gear.carrier load.a", "gear.ring wall.flange", "step.y torque.tau",
        torque=ro.Torque(), step=signal.Constant(k=1.0), sun=ro.Inertia(J=0.1), gear=gears.PlanetaryGear(ratio=3.0),
        load=ro.Inertia(J=1.6), wall=ro.Fixed(),
    )  # fmt: skip
    result = run(plant, 1.0)
    w = 1.0 / (0.1 + 1.6 / 16.0) * result.time  # the load counts with the square of 1 + ratio
    np.testing.assert_allclose(result["sun.w"], w, atol=1e-6)
    np.testing.assert_allclose(result["load.w"], w / 4.0, atol=1e-6)


def test_a_freewheel_drives_and_runs_ahead(wired: Any, run: Any) -> None:
    """While the motor pulls both turn together; when it stops pulling and brakes, the wheel runs on."""
    plant = wired(
        "torque.flange motor.a", "motor.b wheel_clutch.a", "wheel_clutch.b wheel.a", "pull.y torque.tau",
        torque=ro.Torque(), pull=signal.Step(height=-4.0, offset=2.0, start_time=1.0), motor=ro.Inertia(J=1.0),
        wheel_clutch=gears.OneWayClutch(d=1e4), wheel=ro.Inertia(J=1.0),
    )  # fmt: skip
    result = run(plant, 2.0)
    assert result.at(1.0)["wheel.w"] == pytest.approx(1.0, rel=1e-3)
    assert result.at(2.0)["wheel.w"] == pytest.approx(1.0, rel=1e-3)  # nothing brakes it
    assert result.at(2.0)["motor.w"] == pytest.approx(-1.0, rel=2e-3)


@pytest.mark.parametrize(("distance", "v_max"), [(10.0, 2.0), (1.0, 5.0)])
def test_from_point_to_point(run: Any, distance: float, v_max: float) -> None:
    class Drive(ac.Component):
        x = ac.Variable(start=0.0)

        def __init__(self) -> None:
            self.path = motion.PointToPoint(distance=distance, v_max=v_max, a_max=1.0, start_time=1.0)

        def equations(self) -> Any:
            yield ac.der(self.x) == self.path.v

    result = ac.compile(Drive(), units=False).simulate(until=10.0, rtol=1e-9)
    np.testing.assert_allclose(result["x"], result["path.y"], atol=1e-6)  # the position is the integral of the speed
    assert result["path.y"][-1] == pytest.approx(distance)
    assert result["path.v"].max() == pytest.approx(min(v_max, np.sqrt(distance)), rel=1e-6)


def test_trapezoids(run: Any) -> None:
    source = motion.Trapezoid(amplitude=2.0, rising=0.1, width=0.3, falling=0.2, period=1.0, offset=1.0, start_time=0.5)
    result = ac.compile(source, units=False).simulate(until=3.0, at=[0.2, 0.55, 0.75, 1.0, 1.3, 1.55, 2.75])
    wanted = {0.2: 1.0, 0.55: 2.0, 0.75: 3.0, 1.0: 2.0, 1.3: 1.0, 1.55: 2.0, 2.75: 3.0}
    for time, value in wanted.items():
        assert result.at(time)["y"] == pytest.approx(value, abs=1e-9), time


def _lossy(wired: Any, drive: float, load: float, bearing: float = 0.0) -> Any:
    return wired(
        "torque.flange one.a", "one.b gear.a", "gear.b two.a", "two.b brake.flange", "push.y torque.tau", "pull.y brake.tau",
        torque=ro.Torque(), push=signal.Constant(k=drive), one=ro.Inertia(J=1.0),
        gear=gears.LossyGear(ratio=2.0, eta_a=0.8, eta_b=0.5, tau_bearing=bearing), two=ro.Inertia(J=4.0), brake=ro.Torque(),
        pull=signal.Constant(k=load),
    )  # fmt: skip


def test_a_lossy_gear_takes_its_part_from_whoever_drives(wired: Any, run: Any) -> None:
    """a drives: 1·w' = 3 - t, 4·(w'/2) = 2·0.8·t, so that w' = 3·0.8/(0.8 + 1); b drives: t negative, with 1/0.5."""
    result = run(_lossy(wired, 3.0, 0.0), 2.0)
    np.testing.assert_allclose(result["one.w"], 3.0 * 0.8 / 1.8 * result.time, atol=1e-6)
    result = run(_lossy(wired, 0.0, 6.0), 2.0)  # 1·w' = t, 4·w'/2 = 6 - 2·t/0.5
    np.testing.assert_allclose(result["one.w"], 6.0 / (2.0 + 4.0) * result.time, atol=1e-6)
    power_in = result["two.w"] * 6.0
    kinetic = 0.5 * result["one.w"] ** 2 + 2.0 * result["two.w"] ** 2
    heat = np.concatenate([[0.0], np.cumsum(np.diff(result.time) * (result["gear.loss"][1:] + result["gear.loss"][:-1]) / 2)])
    work = np.concatenate([[0.0], np.cumsum(np.diff(result.time) * (power_in[1:] + power_in[:-1]) / 2)])
    np.testing.assert_allclose(kinetic + heat, work, atol=1e-4)


def test_a_lossy_gear_holds_itself(wired: Any, run: Any) -> None:
    result = run(_lossy(wired, 3.0, -5.5), 1.0)  # it would take 5.5/(2·0.8) = 3.4 to move it
    np.testing.assert_allclose(result["one.w"], 0.0, atol=1e-9)
    assert result["gear.locked"][-1] == 1
    result = run(_lossy(wired, 3.0, -4.0, bearing=0.6), 1.0)  # (3 - 0.6)·0.8 … w' = 3 - t, 2·w' = 1.6·t - 1.2 - 4 … moves not
    assert result["one.w"][-1] == pytest.approx(0.0, abs=1e-9)
