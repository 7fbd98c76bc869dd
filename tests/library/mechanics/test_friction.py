"""Stick and slip against closed forms: constant or sinusoidal torques, so that speeds are known between switching times."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.library import signal as sg
from acausal.library.mechanics import friction as fr
from acausal.library.mechanics import rotational as ro
from acausal.library.mechanics import translational as tr


def mode_changes(result: Any, name: str) -> list[tuple[float, int]]:
    """When a mode became what; the starts, which end at once, count as the sliding that follows."""
    return [
        (event.time, int(change.after))
        for event in result.events
        for change in event.changes
        if change.name == name and change.after != change.before
    ]


def test_a_clutch_brings_two_inertias_to_one_speed(wired: Any, run: Any, agrees: Any) -> None:
    """Slipping torque 10 N·m: the speeds meet at t = w0/(tau/J1 + tau/J2); momentum is kept, friction takes the rest."""
    J1, J2, w0, tau = 2.0, 3.0, 20.0, 10.0
    plant = wired(
        "one.b clutch.a",
        "clutch.b two.a",
        one=ro.Inertia(J=J1, w=ac.start(w0)),
        clutch=fr.Clutch(fn_max=20.0, pressed=1.0),
        two=ro.Inertia(J=J2),
    )
    result = run(plant, 4.0)
    meet, t = w0 / (tau / J1 + tau / J2), result.time
    together = J1 * w0 / (J1 + J2)
    agrees(result["one.w"], np.where(t < meet, w0 - tau / J1 * t, together))
    agrees(result["two.w"], np.where(t < meet, tau / J2 * t, together))
    agrees(J1 * result["one.w"] + J2 * result["two.w"], J1 * w0, reached=1e-9)
    ((when, mode),) = mode_changes(result, "clutch.mode")
    assert when == pytest.approx(meet, rel=1e-9) and mode == fr.STUCK
    assert result["clutch.mode"][0] == fr.BACKWARD
    lost = 0.5 * J1 * w0**2 - 0.5 * (J1 + J2) * together**2
    assert np.trapezoid(result["clutch.loss"], t) == pytest.approx(lost, rel=1e-4)


def swinging(wired: Any, part: ac.Component) -> Any:
    """A torque of 15·sin(π·t) N·m on an inertia of 2 kg·m² that something holds."""
    return wired(
        "sine.y torque.tau", "torque.flange body.a", "body.b part.a",
        sine=sg.Sine(amplitude=15.0, f=0.5), torque=ro.Torque(), body=ro.Inertia(J=2.0), part=part,
    )  # fmt: skip


def slipping(torque: float, peak: float, d: float = 0.0) -> tuple[float, float]:
    """When 15·sin(π·t) overcomes the friction, and when the motion it causes ends: 2·dw/dt = 15·sin(π·t) - torque - d·w."""
    from scipy.integrate import quad
    from scipy.optimize import brentq

    begin = np.arcsin(peak * torque / 15.0) / np.pi

    def speed(t: float) -> float:
        return quad(lambda s: (15.0 * np.sin(np.pi * s) - torque) * np.exp(-d / 2.0 * (t - s)), begin, t, epsabs=1e-13)[0]

    return begin, brentq(speed, 0.7, 1.2, xtol=1e-13)


@pytest.mark.parametrize(
    ("part", "torque", "peak", "d"),
    [
        (fr.Brake(fn_max=20.0, pressed=1.0, peak=1.2), 10.0, 1.2, 0.0),
        (fr.BearingFriction(tau_coulomb=10.0, peak=1.3), 10.0, 1.3, 0.0),
        (fr.BearingFriction(tau_coulomb=8.0, d=0.8), 8.0, 1.0, 0.8),
    ],
    ids=["brake", "bearing", "viscous bearing"],
)
def test_a_shaft_sticks_and_slips(wired: Any, run: Any, part: ac.Component, torque: float, peak: float, d: float) -> None:
    """At rest at first; every half period it breaks loose and comes to rest again, in turns forward and backward."""
    result = run(swinging(wired, part), 4.15, rtol=1e-9)
    begin, end = slipping(torque, peak, d)
    changes = mode_changes(result, "part.mode")
    assert [mode for _, mode in changes] == [fr.FORWARD, fr.STUCK, fr.BACKWARD, fr.STUCK] * 2
    wanted = np.concatenate([[k + begin, k + end] for k in range(4)])
    np.testing.assert_allclose([t for t, _ in changes], wanted, rtol=0, atol=1e-6)  # it moves an instant after breaking loose
    stuck = result["part.locked"] > 0
    assert np.abs(result["body.w"][stuck]).max() < 1e-8
    assert np.abs(result["part.tau"][stuck]).max() <= peak * torque * (1 + 1e-9)
    assert np.all(result["part.loss"] > -1e-6)


def test_friction_that_falls_with_the_speed(wired: Any, run: Any, agrees: Any) -> None:
    """mue = 0.6 - 0.1·w: the slower, the stronger."""
    table = ac.Table([0.0, 6.0], [0.6, 0.0], method="linear")
    held = wired(
        "body.b clutch.a", "clutch.b wall.flange",
        body=ro.Inertia(J=2.0, w=ac.start(5.0)), clutch=fr.Clutch(table, fn_max=20.0, pressed=1.0), wall=ro.Fixed(),
    )  # fmt: skip
    result = run(held, 2.0)
    t = result.time
    rest = np.log(6.0)  # 2·dw/dt = -20·(0.6 - 0.1·w): 6 - w grows as exp(t)
    agrees(result["body.w"], np.where(t < rest, 6.0 - np.exp(t), 0.0))
    assert result.events.times[-1] == pytest.approx(rest, rel=1e-6)


def test_an_open_clutch_lets_go(wired: Any, run: Any, agrees: Any) -> None:
    plant = wired(
        "one.b clutch.a", "clutch.b two.a", "push.flange one.a", "close.y clutch.pressed",
        push=ro.Torque(tau=3.0), one=ro.Inertia(J=1.0), two=ro.Inertia(J=2.0), clutch=fr.Clutch(fn_max=100.0),
        close=sg.Step(height=-1.0, offset=1.0, start_time=1.0),
    )  # fmt: skip
    result = run(plant, 2.0)
    t = result.time
    agrees(result["one.w"], np.where(t < 1, t, 1 + 3 * (t - 1)))
    agrees(result["two.w"], np.minimum(t, 1.0))
    agrees(result["clutch.tau"][t < 1], -2.0)
    assert mode_changes(result, "clutch.mode") == [(1.0, fr.FREE)]


@pytest.mark.parametrize("count", [2, 4])
def test_equal_clutches_switch_at_one_instant(count: int, run: Any, agrees: Any) -> None:
    """A torque in the middle of equal wings: what is symmetric stays so, and each event is one event for all of them."""

    class Wings(ac.Component):
        def __init__(self) -> None:
            self.sine, self.torque = sg.Sine(amplitude=15.0 * count, f=0.5), ro.Torque()
            self.middle = ro.Inertia(J=1.0)
            self.clutch = ac.array(fr.Clutch, count, fn_max=10.0, pressed=1.0, peak=1.1)
            self.wing = ac.array(ro.Inertia, count, J=1.0)

        def connections(self) -> Any:
            yield self.sine.y, self.torque.tau
            yield self.torque.flange, self.middle.a
            for k in range(count):
                yield self.middle.b, self.clutch[k].a
                yield self.clutch[k].b, self.wing[k].a

    result = run(Wings(), 6.0)
    first = np.arcsin(5.5 * (1 + count) / (15.0 * count)) / np.pi
    assert result.events.times[0] == pytest.approx(first, rel=1e-9)
    modes = np.asarray(result["clutch.mode"])
    assert np.all(modes == modes[:, :1])
    assert set(np.unique(modes)) == {-1.0, 0.0, 1.0}
    speeds = np.asarray(result["wing.w"])
    agrees(speeds, speeds[:, :1], reached=1e-12)
    momentum = 15.0 * count * (1 - np.cos(np.pi * result.time)) / np.pi
    agrees(result["middle.w"] + speeds.sum(axis=1), momentum)


@pytest.mark.parametrize("part", [fr.LineFriction(f_coulomb=3.0), fr.LineBrake(fn_max=6.0, mue=0.5, pressed=1.0)])
def test_a_mass_slides_to_rest_and_breaks_away(wired: Any, run: Any, part: ac.Component) -> None:
    """m = 1 with v = 2 against 3 N stops after 2/3 s and 2/3 m; a force 2·t breaks it away when it reaches 3 N at 1.5 s."""
    plant = wired(
        "force.flange mass.a", "mass.b part.a", "push.y force.f",
        force=tr.Force(), mass=tr.Mass(m=1.0, v=ac.start(2.0)), part=part,
        push=sg.Ramp(height=4.0, duration=2.0, start_time=0.7),
    )  # fmt: skip
    result = run(plant, 2.7)
    assert result.at(0.7)["mass.s"] == pytest.approx(2.0 / 3.0, abs=1e-6)
    assert result.at(2.1)["mass.v"] == pytest.approx(0.0, abs=1e-9)
    assert result.at(2.7)["mass.v"] == pytest.approx(0.25, abs=1e-5)  # ∫ (2·s - 3) ds from 1.5 to 2
