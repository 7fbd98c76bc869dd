"""Electrical components against the closed forms of the circuits they make."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.errors import ModelError
from acausal.library import electrical as el
from acausal.library import signal, thermal


def test_a_capacitor_charges_through_a_resistor(wired: Any, run: Any, agrees: Any) -> None:
    circuit = wired(
        "source.p R.p", "R.n C.p", "C.n source.n ground.p",
        source=el.ConstantVoltage(V=2.0), R=el.Resistor(R=3.0), C=el.Capacitor(C=0.5, v=ac.start(-1.0)), ground=el.Ground(),
    )  # fmt: skip
    result = run(circuit, 5.0)
    agrees(result["C.v"], 2.0 - 3.0 * np.exp(-result.time / 1.5))
    agrees(result["C.i"], np.exp(-result.time / 1.5))
    agrees(result["source.P"] + result["R.P"] + result["C.P"], 0.0, size=2.0)


def test_current_rises_in_an_inductor(wired: Any, run: Any, agrees: Any) -> None:
    circuit = wired(
        "source.p meter.p", "meter.n G.p", "G.n L.p", "L.n source.n ground.p",
        source=el.ConstantVoltage(V=10.0), meter=el.CurrentSensor(), G=el.Conductor(G=0.5), L=el.Inductor(L=0.2),
        ground=el.Ground(),
    )  # fmt: skip
    result = run(circuit, 1.0)
    agrees(result["meter.i"], 5.0 * (1 - np.exp(-result.time / 0.1)))


def test_a_series_circuit_rings(wired: Any, run: Any, agrees: Any) -> None:
    R, L, C = 0.4, 1.0, 0.25
    circuit = wired(
        "R.n L.p", "L.n C.p", "C.n R.p ground.p probe.n", "C.p probe.p",
        R=el.Resistor(R=R), L=el.Inductor(L=L), C=el.Capacitor(C=C, v=ac.start(1.0)), ground=el.Ground(), probe=el.VoltageSensor(),
    )  # fmt: skip
    result = run(circuit, 10.0)
    t, decay, frequency = result.time, R / (2 * L), np.sqrt(1 / (L * C) - (R / (2 * L)) ** 2)
    exact = np.exp(-decay * t) * (np.cos(frequency * t) + decay / frequency * np.sin(frequency * t))
    agrees(result["probe.v"], exact, reached=5e-6)  # errors in phase add up over three periods


def test_a_sine_through_a_low_pass_settles_to_amplitude_and_phase(wired: Any, run: Any, agrees: Any) -> None:
    f, tau = 2.0, 0.1
    circuit = wired(
        "source.p R.p", "R.n C.p probe.p", "C.n source.n ground.p",
        source=el.SineVoltage(V=3.0, f=f, offset=1.0, phase=0.5), R=el.Resistor(R=tau), C=el.Capacitor(C=1.0), ground=el.Ground(),
        probe=el.PotentialSensor(),
    )  # fmt: skip
    result = run(circuit, 4.0)
    late = result.time > 2.5  # exp(-25) of the beginning is left
    w = 2 * np.pi * f
    wave = 3.0 / np.hypot(1.0, w * tau) * np.sin(w * result.time + 0.5 - np.arctan(w * tau))
    agrees(result["probe.v"][late], 1.0 + wave[late])


def test_a_sine_waits_for_its_start(wired: Any, run: Any, agrees: Any) -> None:
    circuit = wired(
        "source.p R.p",
        "source.n R.n ground.p",
        source=el.SineVoltage(V=1.0, f=0.5, start_time=1.0),
        R=el.Resistor(),
        ground=el.Ground(),
    )
    result = run(circuit, 2.0)
    agrees(result["R.v"], np.sin(np.pi * np.maximum(result.time - 1, 0)))


def test_a_ramp_charges_a_capacitor_by_a_parabola(wired: Any, run: Any, agrees: Any) -> None:
    """An integrator: a current that follows a voltage ramp, into a capacitor."""
    circuit = wired(
        "source.p steer.p1", "source.n steer.n1 steer.p2 C.n ground.p", "steer.n2 C.p",
        source=el.RampVoltage(V=2.0, duration=4.0), steer=el.VoltageControlledCurrent(transconductance=3.0), C=el.Capacitor(C=1.0),
        ground=el.Ground(),
    )  # fmt: skip
    result = run(circuit, 4.0)
    agrees(result["C.v"], 3.0 * 2.0 * result.time**2 / 8.0)


def test_currents_of_sources_leave_at_n(wired: Any, run: Any, agrees: Any) -> None:
    circuit = wired(
        "fixed.n R.p given.n", "fixed.p given.p R.n ground.p",
        fixed=el.ConstantCurrent(I=2.0), given=el.SignalCurrent(), R=el.Resistor(R=5.0), ground=el.Ground(),
    )  # fmt: skip
    result = run(circuit, 1.0, inputs={"given.I": lambda t: t})
    agrees(result["R.v"], 5.0 * (2.0 + result.time))


def test_signals_drive_a_source_and_a_resistance(wired: Any, run: Any, agrees: Any) -> None:
    circuit = wired(
        "source.p R.p", "source.n R.n ground.p", "ramp.y source.V", "resistance.y R.R",
        source=el.SignalVoltage(), R=el.VariableResistor(), ground=el.Ground(), ramp=signal.Ramp(height=6.0, duration=2.0),
        resistance=signal.Constant(k=3.0),
    )  # fmt: skip
    result = run(circuit, 2.0)
    agrees(result["R.i"], result.time)


def test_a_heating_resistor_warms_its_own_resistance(wired: Any, run: Any, agrees: Any) -> None:
    """At constant current I: C·dT/dt = R·I²·(1 + α·(T - T_ref)), so T - T_ref = (exp(α·R·I²·t/C) - 1)/α."""
    circuit = wired(
        "source.n R.p", "source.p R.n ground.p", "R.heat_port body.port",
        source=el.ConstantCurrent(I=2.0), R=el.HeatingResistor(R=5.0, alpha=0.004, T_ref=300.0), ground=el.Ground(),
        body=thermal.HeatCapacitor(C=10.0, T=ac.start(300.0)),
    )  # fmt: skip
    result = run(circuit, 50.0)
    agrees(result["body.T"] - 300.0, (np.exp(0.004 * 2.0 * result.time) - 1) / 0.004, size=300.0)
    agrees(result["R.R_T"], 5.0 * np.exp(0.008 * result.time))


def test_the_diode_has_its_characteristic_and_a_straight_end(wired: Any, run: Any) -> None:
    diode = el.Diode(I_s=1e-9, V_t=0.025, exponent_limit=20.0, R_shunt=1e6)
    circuit = wired("source.p D.p", "source.n D.n ground.p", source=el.SignalVoltage(), D=diode, ground=el.Ground())
    result = run(circuit, 1.0, inputs={"source.V": lambda t: -1.0 + 2.0 * t}, points=101)
    v, x = result["D.v"], result["D.v"] / 0.025
    exponential = np.where(x < 20, np.exp(np.minimum(x, 20)), np.exp(20) * (1 + x - 20))
    np.testing.assert_allclose(result["D.i"], 1e-9 * (exponential - 1) + v / 1e6, rtol=1e-6, atol=1e-7)  # nominal current: 1 A


def test_a_rectifier_charges_its_capacitor_to_the_peak_less_the_diode_drop(wired: Any, run: Any) -> None:
    circuit = wired(
        "source.p D.p", "D.n C.p load.p", "C.n load.n source.n ground.p",
        source=el.SineVoltage(V=10.0, f=50.0), D=el.Diode(), C=el.Capacitor(C=1e-3), load=el.Resistor(R=1e3), ground=el.Ground(),
    )  # fmt: skip
    result = run(circuit, 0.1, points=2001, rtol=1e-6)
    late = result["C.v"][result.time > 0.06]
    assert 8.5 < late.min() < late.max() < 9.7
    assert result["D.i"].min() > -2e-6  # saturation and shunt current, no more


def test_chuas_resistor_has_three_segments(wired: Any, run: Any, agrees: Any) -> None:
    resistor = el.NonlinearResistor(Ga=2.0, Gb=0.5, Ve=1.0)
    circuit = wired("source.p R.p", "source.n R.n ground.p", source=el.SignalVoltage(), R=resistor, ground=el.Ground())
    result = run(circuit, 1.0, inputs={"source.V": lambda t: -3.0 + 6.0 * t})
    v = result["R.v"]
    agrees(result["R.i"], np.where(np.abs(v) < 1, 2.0 * v, np.sign(v) * 2.0 + 0.5 * (v - np.sign(v))))


def test_a_transformer_and_an_amplifier(wired: Any, run: Any, agrees: Any) -> None:
    circuit = wired(
        "source.p T.p1", "source.n T.n1 T.n2 A.n1 A.n2 load.n end.n ground.p", "T.p2 load.p A.p1", "A.p2 end.p",
        source=el.SineVoltage(V=12.0, f=1.0), T=el.IdealTransformer(ratio=4.0), load=el.Resistor(R=2.0),
        A=el.VoltageControlledVoltage(gain=5.0), end=el.Resistor(R=1.0), ground=el.Ground(),
    )  # fmt: skip
    result = run(circuit, 1.0)
    wave = np.sin(2 * np.pi * result.time)
    agrees(result["load.v"], 3.0 * wave)
    agrees(result["source.i"], -1.5 / 4.0 * wave)
    agrees(result["end.v"], 15.0 * wave)


def test_power_that_passes_a_sensor(wired: Any, run: Any, agrees: Any) -> None:
    circuit = wired(
        "source.p W.p", "W.n R.p", "R.n W.v_n source.n ground.p",
        source=el.ConstantVoltage(V=6.0), W=el.PowerSensor(), R=el.Resistor(R=3.0), ground=el.Ground(),
    )  # fmt: skip
    agrees(run(circuit, 1.0)["W.P"], 12.0)


def test_a_ladder_is_as_exact_with_many_sections_as_known(run: Any) -> None:
    """The first capacitor of an RC ladder driven by a slow sine: 0.27766133 V at 10 s, whatever lies far behind."""

    class Ladder(ac.Component):
        def __init__(self, n: int) -> None:
            self.source, self.ground = el.SineVoltage(V=1.0, f=0.05), el.Ground()
            self.R, self.C = ac.array(el.Resistor, n, R=1.0), ac.array(el.Capacitor, n, C=1.0)

        def connections(self) -> Any:
            yield self.source.p, self.R[0].p
            yield self.R[:-1].n, self.R[1:].p
            yield self.R.n, self.C.p
            yield self.C.n, self.ground.p
            yield self.source.n, self.ground.p

    assert run(Ladder(200), 10.0, rtol=1e-6)["C[0].v"][-1] == pytest.approx(0.27766133, abs=3e-6)


def test_a_circuit_without_ground_is_refused(wired: Any) -> None:
    circuit = wired("source.p R.p", "source.n R.n", source=el.ConstantVoltage(), R=el.Resistor())
    with pytest.raises(ModelError, match="connect a ground"):
        ac.compile(circuit)


def test_a_negative_resistance_is_refused(wired: Any) -> None:
    circuit = wired("source.p R.p", "source.n R.n ground.p", source=el.ConstantVoltage(), R=el.Resistor(R=-1.0), ground=el.Ground())
    with pytest.raises(ModelError, match="out of its range"):
        ac.compile(circuit).simulate(until=1.0)
