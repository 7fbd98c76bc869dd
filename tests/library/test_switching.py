"""Ideal switches and diodes against closed forms: pieces of exponentials and sines between switching times that are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.library import electrical as el
from acausal.library import signal as sg
from acausal.library import switching as sw

EXACT = {"Ron": 0.0, "Goff": 0.0}


def distinct(times: Any, apart: float) -> np.ndarray:
    """Times without those that follow another one at once."""
    return times[np.append(True, np.diff(times) > apart)]


def one_way(wired: Any, diode: ac.Component) -> Any:
    return wired(
        "source.p diode.p", "diode.n load.p", "load.n source.n ground.p",
        source=el.SineVoltage(V=10.0, f=50.0), diode=diode, load=el.Resistor(R=100.0), ground=el.Ground(),
    )  # fmt: skip


@pytest.mark.parametrize("diode", [sw.IdealDiode(**EXACT), sw.SwitchedDiode()], ids=["curve", "conditional"])
def test_an_exact_diode_passes_one_half_of_a_sine(wired: Any, run: Any, agrees: Any, diode: ac.Component) -> None:
    result = run(one_way(wired, diode), 0.049)  # not to the crossing at 0.05: rounding would decide whether it is in the run
    sine = 10.0 * np.sin(100 * np.pi * result.time)
    agrees(result["load.i"], np.maximum(sine, 0.0) / 100, reached=1e-8)
    agrees(result["diode.v"], np.minimum(sine, 0.0), reached=1e-8)
    agrees(distinct(result.events.times, 1e-6)[1:], np.array([0.01, 0.02, 0.03, 0.04]), reached=1e-9)


def test_a_diode_along_its_curve_has_two_resistances(wired: Any, run: Any, agrees: Any) -> None:
    result = run(one_way(wired, sw.IdealDiode(Ron=25.0, Goff=1e-3, V_knee=2.0)), 0.02)
    v = 10.0 * np.sin(100 * np.pi * result.time)
    knee = 2.0 + 100 * 2e-3  # of the source: the knee voltage, and what the current there lets drop over the load
    forward, backward = 2e-3 + (v - knee) / 125.0, v / (1000.0 + 100.0)
    agrees(result["load.i"], np.where(v > knee, forward, backward), reached=1e-7)


def test_a_freewheeling_diode_takes_over_when_a_switch_opens(wired: Any, run: Any, agrees: Any) -> None:
    """A step-down converter: the current rises towards V/R while the switch is closed, and falls towards zero through the diode."""
    plant = wired(
        "source.p switch.p", "switch.n diode.n coil.p", "coil.n load.p", "load.n diode.p source.n ground.p",
        "beat.y switch.control",
        source=el.ConstantVoltage(V=12.0), switch=sw.IdealClosingSwitch(Ron=1e-8, Goff=1e-9), diode=sw.SwitchedDiode(),
        coil=el.Inductor(L=1e-3), load=el.Resistor(R=2.0), ground=el.Ground(), beat=sg.BooleanPulse(period=1e-3, width=0.4),
    )  # fmt: skip
    at = np.array([0.3e-3, 0.9e-3, 1.3e-3, 1.9e-3, 4.9e-3])
    result = run(plant, 5e-3, rtol=1e-9, at=at)
    assert result.events.times.tolist() == pytest.approx(
        [0.4e-3, 1e-3, 1.4e-3, 2e-3, 2.4e-3, 3e-3, 3.4e-3, 4e-3, 4.4e-3, 5e-3], rel=1e-15
    )
    rise, fall = np.exp(-0.8), np.exp(-1.2)
    low, wanted = 0.0, []
    for _ in range(5):
        high = 6.0 + (low - 6.0) * rise
        wanted += [6.0 + (low - 6.0) * np.exp(-0.6), high * np.exp(-1.0)]
        low = high * fall
    stored = np.searchsorted(result.time, at)
    agrees(result["coil.i"][stored], np.array(wanted)[[0, 1, 2, 3, 9]])
    assert result["diode.blocking"][stored].tolist() == [1.0, 0.0, 1.0, 0.0, 0.0]


def test_switches_that_close_and_open_charge_and_discharge(wired: Any, run: Any, agrees: Any) -> None:
    plant = wired(
        "source.p charging.p", "charging.n R.p", "R.n C.p discharging.p", "discharging.n drain.p", "drain.n C.n source.n ground.p",
        "step.y charging.control discharging.control",
        source=el.ConstantVoltage(V=5.0), charging=sw.IdealClosingSwitch(**EXACT), discharging=sw.IdealOpeningSwitch(**EXACT),
        R=el.Resistor(R=100.0), drain=el.Resistor(R=50.0), C=el.Capacitor(C=1e-3, v=ac.start(5.0)), ground=el.Ground(),
        step=sg.Step(start_time=0.08),
    )  # fmt: skip
    result = run(plant, 0.3)
    t = result.time
    low = 5.0 * np.exp(-0.08 / 0.05)
    wanted = np.where(t < 0.08, 5.0 * np.exp(-t / 0.05), 5.0 + (low - 5.0) * np.exp(-(t - 0.08) / 0.1))
    agrees(result["C.v"], wanted)
    assert result.events.times.tolist() == [0.08]


def test_a_thyristor_conducts_from_its_firing_to_the_end_of_the_half_wave(wired: Any, run: Any, agrees: Any) -> None:
    plant = wired(
        "source.p thyristor.p", "thyristor.n load.p", "load.n source.n ground.p", "beat.y thyristor.fire",
        source=el.SineVoltage(V=10.0, f=50.0), thyristor=sw.IdealThyristor(**EXACT), load=el.Resistor(R=10.0), ground=el.Ground(),
        beat=sg.BooleanPulse(period=0.02, width=0.1, start_time=0.004),
    )  # fmt: skip
    result = run(plant, 0.06)
    t = result.time
    moments = result.events.times
    near = np.abs(t[:, None] - moments).min(axis=1) < 1e-9  # before or behind: both are stored
    fired = (t % 0.02 > 0.004) & (t % 0.02 < 0.01)
    wanted = np.where(fired, np.sin(100 * np.pi * t), 0.0)
    agrees(result["load.i"][~near], wanted[~near])
    assert {0.004, 0.024, 0.044} <= set(np.round(moments, 12))


@pytest.mark.parametrize("diode", [sw.IdealDiode(**EXACT), sw.SwitchedDiode()], ids=["curve", "conditional"])
def test_an_exact_switch_and_an_exact_diode_change_together(wired: Any, run: Any, agrees: Any, diode: ac.Component) -> None:
    """Both open would stop the current of a coil, both closed would short the source: neither can switch without the other."""
    plant = wired(
        "source.p switch.p", "switch.n diode.n coil.p", "coil.n load.p", "load.n diode.p source.n ground.p",
        "wave.y switch.control",
        source=el.ConstantVoltage(V=12.0), switch=sw.IdealClosingSwitch(**EXACT), diode=diode, coil=el.Inductor(L=1e-3),
        load=el.Resistor(R=2.0), ground=el.Ground(), wave=sg.Sine(f=1e3, phase=np.pi / 2),
    )  # fmt: skip
    result = run(plant, 5e-3, rtol=1e-10)
    moments = np.array([k * 1e-3 + sign * 1e-3 / 6 for k in range(6) for sign in (-1, 1)])[1:-1]
    agrees(result.events.times, moments, reached=1e-9)
    current, closed, last = 0.0, True, 0.0
    for moment in (*moments, 5e-3):
        limit = 6.0 if closed else 0.0
        current = limit + (current - limit) * np.exp(-(moment - last) / 0.5e-3)
        closed, last = not closed, moment
    assert result["coil.i"][-1] == pytest.approx(current, rel=1e-7)
