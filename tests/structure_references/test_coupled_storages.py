"""What users connect: storages without anything between them. Each against the closed form of the lumped storage."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.library import electrical as el
from acausal.library import signal as sg
from acausal.library import thermal as th
from acausal.library.mechanics import rotational as ro

from .conftest import state_count


class Wired(ac.Component):
    """Given parts and the joints between them, each joint a line of connector paths."""

    def __init__(self, *joints: str, **parts: ac.Component) -> None:
        self._joints = joints
        for name, part in parts.items():
            setattr(self, name, part)

    def connections(self) -> Iterator[Any]:
        for joint in self._joints:
            yield tuple(reduce(getattr, path.split("."), self) for path in joint.split())


def held(value: float) -> Any:
    return ac.start(value, fixed=True)


# --- capacitors -------------------------------------------------------------------------------------------------------


def test_capacitors_in_parallel(run: Any, agrees: Any) -> None:
    plant = Wired(
        "a.p b.p R.p", "a.n b.n R.n ground.p",
        a=el.Capacitor(C=2.0, v=held(3.0)), b=el.Capacitor(C=1.0), R=el.Resistor(R=0.5), ground=el.Ground(),
    )  # fmt: skip
    result = run(plant, 5.0)
    agrees(result["b.v"], 3 * np.exp(-result.time / 1.5))
    agrees(result["a.i"], -2 * 3 / 1.5 * np.exp(-result.time / 1.5))


def test_capacitor_on_a_voltage_source_needs_the_derivative_of_the_source(run: Any, agrees: Any) -> None:
    plant = Wired(
        "source.p C.p", "source.n C.n ground.p",
        source=el.SineVoltage(V=2.0, f=0.5), C=el.Capacitor(C=0.3), ground=el.Ground(),
    )  # fmt: skip
    assert state_count(ac.compile(plant)) == 0
    result = run(plant, 4.0)
    agrees(result["C.i"], 0.3 * 2.0 * np.pi * np.cos(np.pi * result.time), 1e-9)


def test_loop_of_source_and_two_capacitors(run: Any, agrees: Any) -> None:
    """C1 and C2 in series on the source, R across C2: (C1 + C2)·v2' + v2/R = C1·u', one state left."""
    C1, C2, R, w = 0.4, 0.6, 2.0, np.pi
    plant = Wired(
        "source.p a.p", "a.n b.p R.p", "source.n b.n R.n ground.p",
        source=el.SineVoltage(V=1.0, f=0.5), a=el.Capacitor(C=C1), b=el.Capacitor(C=C2, v=held(0.0)),
        R=el.Resistor(R=R), ground=el.Ground(),
    )  # fmt: skip
    assert state_count(ac.compile(plant)) == 1
    result = run(plant, 6.0)
    t, rate = result.time, 1 / (R * (C1 + C2))
    gain = C1 * w / ((C1 + C2) * (rate**2 + w**2))
    agrees(result["b.v"], gain * (rate * np.cos(w * t) + w * np.sin(w * t) - rate * np.exp(-rate * t)))


# --- inductors --------------------------------------------------------------------------------------------------------


def test_inductors_in_series(run: Any, agrees: Any) -> None:
    plant = Wired(
        "source.p a.p", "a.n b.p", "b.n R.p", "R.n source.n ground.p",
        source=el.ConstantVoltage(V=1.0), a=el.Inductor(L=0.5, i=held(0.0)), b=el.Inductor(L=1.5), R=el.Resistor(R=4.0),
        ground=el.Ground(),
    )  # fmt: skip
    result = run(plant, 3.0)
    agrees(result["b.i"], 0.25 * (1 - np.exp(-2 * result.time)))
    agrees(result["b.v"], 0.75 * np.exp(-2 * result.time))


def test_cut_set_of_three_inductors(run: Any, agrees: Any) -> None:
    """A star of inductors: three currents that sum to zero, two states. One branch has the source, two end in resistors.

    With equal branches b and c the star is L + L/2 in series with R/2.
    """
    L, R = 0.4, 3.0
    plant = Wired(
        "source.p a.p", "a.n b.p c.p", "b.n Rb.p", "c.n Rc.p", "source.n Rb.n Rc.n ground.p",
        source=el.ConstantVoltage(V=6.0), a=el.Inductor(L=L), b=el.Inductor(L=L, i=held(0.0)), c=el.Inductor(L=L, i=held(0.0)),
        Rb=el.Resistor(R=R), Rc=el.Resistor(R=R), ground=el.Ground(),
    )  # fmt: skip
    assert state_count(ac.compile(plant)) == 2
    result = run(plant, 2.0)
    rise = 1 - np.exp(-(R / 2) / (1.5 * L) * result.time)
    agrees(result["a.i"], 4.0 * rise)
    agrees(result["b.i"], 2.0 * rise)


# --- inertias ---------------------------------------------------------------------------------------------------------


def test_inertias_on_one_shaft(run: Any, agrees: Any) -> None:
    plant = Wired(
        "sine.y torque.tau", "torque.flange a.a", "a.b b.a",
        sine=sg.Sine(amplitude=3.0, f=0.5), torque=ro.Torque(),
        a=ro.Inertia(J=1.0, phi=held(0.0), w=held(0.0)), b=ro.Inertia(J=2.0),
    )  # fmt: skip
    model = ac.compile(plant)
    assert state_count(model) == 2
    result = run(plant, 4.0)
    agrees(result["b.w"], (1 - np.cos(np.pi * result.time)) / np.pi)


def test_inertias_on_both_sides_of_a_gear(run: Any, agrees: Any) -> None:
    """Seen from the slow side: J = ratio²·J1 + J2, torque ratio·tau."""
    plant = Wired(
        "step.y torque.tau", "torque.flange fast.a", "fast.b gear.a", "gear.b slow.a",
        step=sg.Constant(k=2.0), torque=ro.Torque(), fast=ro.Inertia(J=0.1, phi=held(0.0), w=held(0.0)),
        gear=ro.IdealGear(ratio=5.0), slow=ro.Inertia(J=7.5),
    )  # fmt: skip
    assert state_count(ac.compile(plant)) == 2
    result = run(plant, 3.0)
    agrees(result["slow.w"], result.time)
    agrees(result["fast.phi"], 2.5 * result.time**2)


# --- heat and fluid ---------------------------------------------------------------------------------------------------


def test_heat_capacities_joined(run: Any, agrees: Any) -> None:
    plant = Wired(
        "a.port b.port loss.a", "loss.b outside.port",
        a=th.HeatCapacitor(C=100.0, T=held(350.0)), b=th.HeatCapacitor(C=300.0), loss=th.ThermalConductor(G=20.0),
        outside=th.FixedTemperature(T=280.0),
    )  # fmt: skip
    result = run(plant, 60.0)
    agrees(result["b.T"], 280 + 70 * np.exp(-result.time / 20))
    agrees(result["b.port.Q_flow"], -300 * 3.5 * np.exp(-result.time / 20))


class FluidPort(ac.Connector):
    p = ac.Potential(unit="Pa", nominal=1e5)
    m_flow = ac.Flow(unit="kg/s")


class Volume(ac.Component):
    """A rigid volume of gas at constant temperature; mass and pressure are both unknowns, the mass is what the balance is for."""

    port = FluidPort()
    V, RT = ac.Parameter(1.0, unit="m^3"), ac.Parameter(8e4, unit="J/kg")
    m = ac.Variable(unit="kg", start=1.0)
    p = ac.Variable(unit="Pa", start=1e5, nominal=1e5)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.m) == self.port.m_flow
        yield self.p * self.V == self.m * self.RT
        yield self.port.p == self.p


class Inflow(ac.Component):
    port = FluidPort()

    def equations(self) -> Iterator[Any]:
        yield self.port.m_flow == -0.1 * ac.cos(ac.time)


def test_volumes_connected_directly(run: Any, agrees: Any) -> None:
    """One pressure: (V1 + V2)/RT·p' = m_flow, and the mass goes where there is room."""
    plant = Wired(
        "small.port large.port inflow.port", small=Volume(V=1.0, p=held(1e5)), large=Volume(V=3.0), inflow=Inflow()
    )  # fmt: skip
    assert state_count(ac.compile(plant)) == 1
    result = run(plant, 5.0)
    agrees(result["large.p"], 1e5 + 8e4 / 4.0 * 0.1 * np.sin(result.time))
    agrees(result["small.port.m_flow"], 0.025 * np.cos(result.time))


@pytest.mark.parametrize("n", [2, 50])
def test_a_row_of_volumes(n: int, run: Any, agrees: Any) -> None:
    class Row(ac.Component):
        def __init__(self) -> None:
            self.volume, self.inflow = ac.array(Volume, n, V=np.full(n, 4.0 / n), p=held(1e5)), Inflow()

        def connections(self) -> Iterator[Any]:
            yield self.volume.port, self.inflow.port

    assert state_count(ac.compile(Row())) == 1
    result = run(Row(), 5.0)
    agrees(result["volume[-1].p"], 1e5 + 8e4 / 4.0 * 0.1 * np.sin(result.time))
