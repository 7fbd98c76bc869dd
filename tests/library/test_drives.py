"""Drives with inertia: motors that start, run, coast, and turn compressors and pumps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.library import fluid, refrigeration
from acausal.library.mechanics import drives, rotational

R134A = ac.media.fluid("R134a")
WATER = ac.media.ConstantMedium("water", rho=1000.0, cp=4184.0, viscosity=1e-3, conductivity=0.6)
FIELD = 2 * np.pi * 50.0


def kloss(w: Any, most: float = 10.0, slip_most: float = 0.12) -> Any:
    s = 1 - w / FIELD
    return 2 * most / (s / slip_most + slip_most / s)


def test_a_motor_follows_kloss_from_standstill_to_its_load(wired: Any) -> None:
    plant = wired(
        "motor.flange load.flange", motor=drives.InductionMotor(), load=rotational.QuadraticLoad(tau_nominal=4.0, w_nominal=300.0)
    )
    result = ac.compile(plant).simulate(until=3.0, points=301)
    w, tau = result["motor.w"], result["motor.tau"]
    np.testing.assert_allclose(tau, kloss(w), rtol=1e-9)
    assert tau[0] == pytest.approx(2 * 10.0 / (1 / 0.12 + 0.12)) and tau.max() == pytest.approx(10.0, rel=1e-2)
    assert tau[-1] == pytest.approx(4.0 * (w[-1] / 300.0) ** 2, rel=1e-6)
    assert result["motor.P"][-1] == pytest.approx(tau[-1] * FIELD + 30.0)
    slow = ac.compile(plant).simulate(until=6.0, inputs={"motor.frequency": 25.0})
    assert 0.9 * FIELD / 2 < slow["motor.w"][-1] < FIELD / 2


@pytest.mark.parametrize(("frequency", "breakdown"), [(10.0, 10.0), (50.0, 10.0), (100.0, 2.5)])
def test_torque_belongs_to_the_slip_in_turns_while_the_voltage_follows_the_frequency(
    wired: Any, frequency: float, breakdown: float
) -> None:
    behind = 0.12 * 2 * np.pi * 50.0  # of the field, where the breakdown torque is
    plant = wired("motor.flange load.flange", motor=drives.InductionMotor(frequency=frequency), load=rotational.QuadraticLoad())
    model = ac.compile(plant)

    def torque(lag: float) -> float:
        return float(model.simulate(until=1e-3, given={"motor.w": 2 * np.pi * frequency - lag})["motor.tau"][0])

    assert torque(behind) == pytest.approx(breakdown, rel=1e-9)
    assert torque(behind / 10) == pytest.approx(breakdown * 2 / (10 + 0.1), rel=1e-9)


class Driven(ac.Component):
    """A motor turns a compressor between two pressures; a clock switches it off."""

    def __init__(self) -> None:
        self.low, self.high = fluid.PressureBoundary(p=2e5, h=4.05e5), fluid.PressureBoundary(p=8e5, h=4.4e5)
        self.compressor, self.motor = refrigeration.ShaftCompressor(medium=R134A), drives.InductionMotor(J=0.02)
        self.clock = refrigeration.DefrostClock(first=5.0, longest=1e6)

    def connections(self) -> Any:
        yield self.low.port, self.compressor.a
        yield self.compressor.b, self.high.port
        yield self.motor.flange, self.compressor.flange
        yield self.clock.allow, self.motor.run


def test_a_compressor_on_a_shaft_takes_the_torque_of_its_work() -> None:
    result = ac.compile(Driven()).simulate(until=10.0, points=1001)
    k = int(np.searchsorted(result.time, 4.9))
    w, m, P = (float(result[q][k]) for q in ("motor.w", "compressor.m_flow", "compressor.P"))
    suction = R134A.state(p=2e5, h=4.05e5)
    assert m == pytest.approx(0.85 * 20e-6 * w / (2 * np.pi) * suction.rho, rel=1e-3)
    work = (R134A.state(p=8e5, s=suction.s).h - suction.h) / 0.65
    assert P == pytest.approx(m * work, rel=1e-6) and result["motor.tau"][k] * w == pytest.approx(P, rel=1e-3)
    electricity, kinetic = np.trapezoid(result["motor.P"], result.time), result["motor.energy"][-1]
    spent = np.trapezoid(np.asarray(result["motor.heat"]) + np.asarray(result["compressor.P"]), result.time)
    assert electricity == pytest.approx(spent + kinetic, rel=2e-3)
    assert result["motor.w"][-1] < 0.5 * w and result["motor.P"][-1] == 0.0  # it coasts, and the gas brakes it
    still = ac.compile(Driven()).simulate(until=1.0, inputs={"motor.frequency": 50.0}, set={"clock.first": 0.0})
    assert abs(still["compressor.m_flow"][-1]) < 1e-9


@pytest.mark.parametrize("w", [0.5, 2.0, 10.0, 300.0])
def test_a_slow_shaft_gives_what_the_gas_gets(wired: Any, w: float) -> None:
    plant = wired(
        "low.port part.a", "part.b high.port", "drive.flange part.flange", part=refrigeration.ShaftCompressor(medium=R134A),
        low=fluid.PressureBoundary(p=2e5, h=4.05e5), high=fluid.PressureBoundary(p=8e5, h=4.4e5), drive=rotational.Speed(w=w),
    )  # fmt: skip
    result = ac.compile(plant).simulate(until=0.1)
    P = float(result["part.P"][-1])
    assert P > 0 and result["part.flange.tau"][-1] * w == pytest.approx(P, rel=1e-3)


def test_gas_of_a_higher_pressure_passes_a_compressor_without_work() -> None:
    """With a work of the isentropic drop over the efficiency it would leave with less entropy than it came with."""
    result = ac.compile(Driven()).simulate(until=2.0, set={"low.p": 8e5, "high.p": 5e5})
    assert result["compressor.m_flow"][-1] > 0.01 and result["compressor.P"][-1] == 0.0
    out = R134A.state(p=5e5, h=float(result["compressor.h_discharge"][-1]))
    assert out.s > R134A.state(p=8e5, h=4.05e5).s


def test_a_pump_on_a_shaft_has_the_curve_of_a_pump(wired: Any) -> None:
    def ends() -> dict[str, Any]:
        return {"left": fluid.PressureBoundary(p=1e5, h=1e5), "right": fluid.PressureBoundary(p=1.5e5, h=1e5)}

    joints = ("left.port pump.a", "pump.b right.port")
    shaft = wired(
        *joints, "drive.flange pump.flange", **ends(), drive=rotational.Speed(w=120.0), pump=fluid.ShaftPump(medium=WATER)
    )
    plain = wired(*joints, **ends(), pump=fluid.Pump(medium=WATER, speed=0.8))
    one, other = (ac.compile(plant).simulate(until=1.0) for plant in (shaft, plain))
    assert one["pump.m_flow"][-1] == pytest.approx(other["pump.m_flow"][-1], rel=1e-9)
    disc = 0.05 * 1e5 * 1e-3 / 0.6 * 0.8**3
    assert one["pump.flange.tau"][-1] * 120.0 == pytest.approx(other["pump.P"][-1] + disc, rel=1e-4)


def test_a_pump_coasts_and_water_comes_back(wired: Any) -> None:
    plant = wired(
        "low.port pump.a", "pump.b pipe.a", "pipe.b high.port", "motor.flange pump.flange", "clock.allow motor.run",
        low=fluid.PressureBoundary(p=1e5, h=1e5), high=fluid.PressureBoundary(p=1.6e5, h=1e5), pipe=fluid.Pipe(diameter=0.03),
        pump=fluid.ShaftPump(medium=WATER), motor=drives.InductionMotor(pairs=2, J=0.02),
        clock=refrigeration.DefrostClock(first=5.0, longest=1e6),
    )  # fmt: skip
    result = ac.compile(plant).simulate(until=60.0, points=601)
    flow = result["pump.m_flow"]
    assert result.outcome is ac.Outcome.FINISHED
    assert flow[45] > 0.5 and flow[-1] < -0.1  # no check valve holds it
