"""Electronic parts against closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from acausal.library import electrical as el
from acausal.library import electronics as en
from acausal.library import signal, thermal


@pytest.mark.parametrize(("amplifier", "reached"), [(en.OpAmp(), 1e-9), (en.LimitedOpAmp(gain=1e7), 1e-6)])
def test_an_inverting_amplifier(wired: Any, run: Any, amplifier: Any, reached: float) -> None:
    plant = wired(
        "source.p R1.p", "R1.n amp.in_n R2.p", "R2.n amp.out load.p", "source.n amp.in_p load.n ground.p",
        source=el.SineVoltage(V=1.0, f=1.0), R1=el.Resistor(R=1000.0), R2=el.Resistor(R=4700.0), amp=amplifier,
        load=el.Resistor(R=1000.0), ground=el.Ground(),
    )  # fmt: skip
    result = run(plant, 1.0)
    np.testing.assert_allclose(result["load.v"], -4.7 * np.sin(2 * np.pi * result.time), atol=10 * reached)


def test_an_amplifier_at_its_supplies(wired: Any, run: Any) -> None:
    plant = wired(
        "source.p amp.in_p", "amp.out load.p", "source.n amp.in_n load.n ground.p", source=el.SineVoltage(V=1.0, f=1.0),
        amp=en.LimitedOpAmp(gain=100.0, v_max=12.0, v_min=-10.0), load=el.Resistor(R=1e3), ground=el.Ground(),
    )  # fmt: skip
    result = run(plant, 1.0)
    exact = np.clip(100.0 * np.sin(2 * np.pi * result.time), -10.0, 12.0)
    np.testing.assert_allclose(result["load.v"], exact, atol=1e-4)


def test_a_core_that_saturates(wired: Any, run: Any) -> None:
    """At a constant voltage the flux rises evenly; the current is what belongs to it."""
    plant = wired(
        "source.p coil.p", "source.n coil.n ground.p", source=el.ConstantVoltage(V=2.0),
        coil=en.SaturatingInductor(L=1.0, L_far=0.05, I_sat=0.5), ground=el.Ground(),
    )  # fmt: skip
    result = run(plant, 1.0, rtol=1e-8)
    i = result["coil.i"]
    np.testing.assert_allclose(0.05 * i + 0.95 * 0.5 * np.tanh(i / 0.5), 2.0 * result.time, atol=1e-6)
    assert i[-1] > 10 * i[len(i) // 10]


def test_a_diode_that_warms_up(wired: Any, run: Any) -> None:
    """Shockley's law at the temperature of its heat port; all of its loss is heat."""
    plant = wired(
        "source.p diode.p", "source.n diode.n ground.p", "diode.heat_port warm.port", source=el.ConstantVoltage(V=0.6),
        diode=en.HeatingDiode(), warm=thermal.FixedTemperature(T=350.0), ground=el.Ground(),
    )  # fmt: skip
    result = run(plant, 1.0)
    k_q = 8.617333262e-5
    grown = (350.0 / 300.15) ** 3 * np.exp(1.11 * (1 / (k_q * 300.15) - 1 / (k_q * 350.0)))
    assert result["diode.i"][-1] == pytest.approx(1e-14 * grown * np.expm1(0.6 / (k_q * 350.0)) + 0.6e-9, rel=1e-6)
    np.testing.assert_allclose(result["diode.heat_port.Q_flow"], -0.6 * result["diode.i"], rtol=1e-9)


def test_a_two_way_switch(wired: Any, run: Any) -> None:
    plant = wired(
        "source.p switch.p", "switch.n1 R1.p", "switch.n2 R2.p", "source.n R1.n R2.n ground.p", "step.y switch.control",
        source=el.ConstantVoltage(V=10.0), switch=en.TwoWaySwitch(Ron=0.0, Goff=0.0), R1=el.Resistor(R=10.0),
        R2=el.Resistor(R=20.0), ground=el.Ground(), step=signal.Step(start_time=0.5),
    )  # fmt: skip
    result = run(plant, 1.0)
    before = result.time < 0.5
    np.testing.assert_allclose(result["R1.i"][before], 1.0, atol=1e-9)
    np.testing.assert_allclose(result["R2.i"][result.time > 0.5], 0.5, atol=1e-9)
    assert abs(result["R1.i"][-1]) < 1e-9
