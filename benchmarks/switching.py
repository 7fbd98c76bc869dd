"""Systems of the literature that switch, built of library components.

`CoupledClutches` and `ControlledTemperature` are examples of the Modelica Standard Library 4.1.0, whose trajectories are published
with it; names of components are those of the columns. The Graetz rectifier is that of a comparison of Dymola and Mosilab, in which
both fail with diodes by conditional equations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from math import pi
from typing import Any

import numpy as np

import acausal as ac
from acausal.library import electrical, signal, switching, thermal
from acausal.library.mechanics import friction, rotational


class CoupledClutches(ac.Component):
    """Four inertias in a row with three clutches, which close at 0.4 s and 0.9 s; the first one's force is a cosine."""

    def __init__(self) -> None:
        self.sin1, self.torque = signal.Sine(amplitude=10.0, f=5.0), rotational.Torque()
        self.sin2 = signal.Sine(amplitude=1.0, f=0.2, phase=pi / 2)
        self.step1, self.step2 = signal.Step(start_time=0.4), signal.Step(start_time=0.9)
        self.J1 = rotational.Inertia(J=1.0, w=ac.start(10.0))
        self.J2, self.J3, self.J4 = (rotational.Inertia(J=1.0) for _ in range(3))
        self.clutch1, self.clutch2, self.clutch3 = (friction.Clutch(peak=1.1, fn_max=20.0) for _ in range(3))

    def connections(self) -> Iterator[Any]:
        yield self.sin1.y, self.torque.tau
        yield self.torque.flange, self.J1.a
        yield self.J1.b, self.clutch1.a
        yield self.clutch1.b, self.J2.a
        yield self.J2.b, self.clutch2.a
        yield self.clutch2.b, self.J3.a
        yield self.J3.b, self.clutch3.a
        yield self.clutch3.b, self.J4.a
        yield self.sin2.y, self.clutch1.pressed
        yield self.step1.y, self.clutch2.pressed
        yield self.step2.y, self.clutch3.pressed


class ControlledTemperature(ac.Component):
    """A body with a loss, heated by a resistor behind a switch; the controller follows a ramp within a band of 2 K."""

    def __init__(self) -> None:
        self.heatCapacitor = thermal.HeatCapacitor(C=1.0, T=ac.start(293.15))
        self.conductor, self.ambient = thermal.ThermalConductor(G=0.1), thermal.FixedTemperature(T=293.15)
        self.resistor = electrical.HeatingResistor(R=10.0, T_ref=293.15, alpha=1 / 255)
        self.source, self.ground = electrical.ConstantVoltage(V=10.0), electrical.Ground()
        self.switch, self.negation = switching.IdealOpeningSwitch(), signal.Not()
        self.sensor, self.onOffController = thermal.TemperatureSensor(), signal.OnOffController(bandwidth=2.0)
        self.ramp = signal.Ramp(height=25.0, duration=6.0, offset=298.15, start_time=2.0)

    def connections(self) -> Iterator[Any]:
        yield self.source.p, self.switch.p
        yield self.switch.n, self.resistor.p
        yield self.resistor.n, self.source.n, self.ground.p
        yield self.resistor.heat_port, self.heatCapacitor.port, self.conductor.a, self.sensor.port
        yield self.conductor.b, self.ambient.port
        yield self.sensor.T, self.onOffController.u
        yield self.ramp.y, self.onOffController.reference
        yield self.onOffController.y, self.negation.u
        yield self.negation.y, self.switch.control


LEAKING = 1e-4  # A through the open switch, of 10 V and Goff = 1e-5 S


@cache
def exact_switching() -> np.ndarray:
    """Switching times of the heater by scipy: C·dT/dt = V²/R(T) - G·(T - T_amb) while on, -G·(T - T_amb) while off."""
    from scipy.integrate import solve_ivp

    def reference(t: float) -> float:
        return 298.15 + 25.0 * min(max((t - 2.0) / 6.0, 0.0), 1.0)

    times, t, T, on = [], 0.0, 293.15, True
    while True:
        shift = 1.0 if on else -1.0

        def rate(s: float, y: Any, on: bool = on) -> Any:
            R = 10.0 * (1 + (y[0] - 293.15) / 255)
            return [(100.0 * R / (R + 1e-5) ** 2 if on else LEAKING**2 * R) - 0.1 * (y[0] - 293.15)]

        def reached(s: float, y: Any, shift: float = shift) -> float:
            return float(y[0] - reference(s) - shift)

        reached.terminal, reached.direction = True, shift  # type: ignore[attr-defined]
        found = solve_ivp(rate, (t, 10.0), [T], events=reached, rtol=1e-11, atol=1e-10, max_step=0.02)
        if not found.t_events[0].size:
            return np.array(times)
        t, T, on = float(found.t[-1]), float(found.y[0, -1]), not on
        times.append(t)


class Graetz(ac.Component):
    """A bridge of four diodes between a source with an inner resistance and a capacitor with a load.

    While all diodes block, the side of the source would hang in the air; stray conductances to ground, at either end of the source,
    hold its voltage.
    """

    stray = ac.Parameter(1e-6, unit="S", min=0, doc="from the first end of the source to ground")
    stray_other = ac.Parameter(1e-6, unit="S", min=0, doc="from the other end")
    phase = ac.Parameter(0.0, unit="rad", doc="of the source at the start")

    def __init__(self, diode: Callable[[], ac.Component]) -> None:
        self.source = electrical.SineVoltage(V=10.0, f=50.0, phase=self.phase)
        self.inner, self.ground = electrical.Resistor(R=1.0), electrical.Ground()
        self.d1, self.d2, self.d3, self.d4 = diode(), diode(), diode(), diode()
        self.load, self.C = electrical.Resistor(R=100.0), electrical.Capacitor(C=1e-4)
        self.leak, self.leak_other = electrical.Conductor(G=self.stray), electrical.Conductor(G=self.stray_other)

    def connections(self) -> Iterator[Any]:
        yield self.source.p, self.inner.p
        yield self.inner.n, self.d1.p, self.d3.n, self.leak.p
        yield self.source.n, self.d2.p, self.d4.n, self.leak_other.p
        yield self.d1.n, self.d2.n, self.load.p, self.C.p
        yield self.d3.p, self.d4.p, self.load.n, self.C.n, self.leak.n, self.leak_other.n, self.ground.p


class ThreePhaseBridge(ac.Component):
    """Six diodes between three phases with inner resistances and a capacitor with a load; stray conductances as in `Graetz`."""

    def __init__(self, diode: Callable[[], ac.Component]) -> None:
        self.phase = [electrical.SineVoltage(V=10.0, f=50.0, phase=0.3 + 2 * pi / 3 * k) for k in range(3)]
        self.inner = [electrical.Resistor(R=0.5) for _ in range(3)]
        self.upper, self.lower = [diode() for _ in range(3)], [diode() for _ in range(3)]
        self.leak = [electrical.Conductor(G=1e-6) for _ in range(3)]
        self.load, self.C, self.ground = electrical.Resistor(R=20.0), electrical.Capacitor(C=1e-3), electrical.Ground()

    def connections(self) -> Iterator[Any]:
        yield tuple(phase.n for phase in self.phase)
        for k in range(3):
            yield self.phase[k].p, self.inner[k].p
            yield self.inner[k].n, self.upper[k].p, self.lower[k].n, self.leak[k].p
            yield self.upper[k].n, self.load.p
            yield self.lower[k].p, self.leak[k].n, self.ground.p
        yield self.C.p, self.load.p
        yield self.C.n, self.load.n, self.ground.p
