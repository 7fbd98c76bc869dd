"""Rotational components against closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np

import acausal as ac
from acausal.library.mechanics import rotational as ro


def test_two_inertias_on_an_elastic_shaft(wired: Any, run: Any, agrees: Any) -> None:
    """The sum turns evenly, the difference swings with the reduced inertia."""
    J1, J2, c = 2.0, 0.5, 40.0
    plant = wired(
        "one.b shaft.a", "shaft.b two.a", one=ro.Inertia(J=J1, w=ac.start(3.0)), shaft=ro.Spring(c=c), two=ro.Inertia(J=J2)
    )
    result = run(plant, 2.0)
    t, even, w = result.time, 3.0 * J1 / (J1 + J2), np.sqrt(c * (J1 + J2) / (J1 * J2))
    agrees(result["one.w"], even + 3.0 * J2 / (J1 + J2) * np.cos(w * t), reached=1e-5)
    agrees(J1 * result["one.w"] + J2 * result["two.w"], J1 * 3.0)
    energy = result["one.energy"] + result["two.energy"] + result["shaft.energy"]
    agrees(energy, 9.0, reached=1e-5)
    agrees(result["shaft.phi_rel"], -3.0 / w * np.sin(w * t), size=1.0, reached=1e-5)


def test_an_elastic_shaft_with_damping(wired: Any, run: Any, agrees: Any) -> None:
    J, c, d = 0.5, 8.0, 0.6
    apart = wired(
        "wall.flange spring.a damper.a", "spring.b damper.b body.a", wall=ro.Fixed(), spring=ro.Spring(c=c, phi_rel0=0.2),
        damper=ro.Damper(d=d), body=ro.Inertia(J=J, phi=ac.start(1.2)),
    )  # fmt: skip
    together = wired(
        "wall.flange link.a", "link.b body.a", wall=ro.Fixed(), link=ro.SpringDamper(c=c, d=d, phi_rel0=0.2),
        body=ro.Inertia(J=J, phi=ac.start(1.2)),
    )  # fmt: skip
    for plant in (apart, together):
        result = run(plant, 4.0)
        t, decay = result.time, d / (2 * J)
        w = np.sqrt(c / J - decay**2)
        agrees(result["body.phi"], 0.2 + np.exp(-decay * t) * (np.cos(w * t) + decay / w * np.sin(w * t)), reached=5e-6)


def test_a_gear_shows_the_load_behind_it_reduced(wired: Any, run: Any, agrees: Any) -> None:
    """A torque drives an inertia through a gear: only one side carries states, so the index is 1."""
    plant = wired(
        "motor.flange meter.a", "meter.b gear.a", "gear.b body.a", "body.b speed.flange angle.flange",
        motor=ro.Torque(tau=2.0), meter=ro.TorqueSensor(), gear=ro.IdealGear(ratio=5.0), body=ro.Inertia(J=4.0),
        speed=ro.SpeedSensor(), angle=ro.AngleSensor(),
    )  # fmt: skip
    result = run(plant, 2.0)
    t = result.time
    agrees(result["speed.w"], 2.5 * t)
    agrees(result["angle.phi"], 1.25 * t**2)
    agrees(result["gear.a.phi"], 6.25 * t**2)
    agrees(result["meter.tau"], 2.0)


def test_power_that_passes_a_shaft_is_what_the_inertia_gains_and_gives_back(wired: Any, run: Any, agrees: Any) -> None:
    """P = tau·w = d(J·w²/2)/dt, into the body while the spring drives it and back while it winds the spring up."""
    J, c, wound = 0.5, 8.0, 1.2
    plant = wired(
        "wall.flange spring.a", "spring.b meter.a", "meter.b body.a", wall=ro.Fixed(), spring=ro.Spring(c=c),
        meter=ro.PowerSensor(), body=ro.Inertia(J=J, phi=ac.start(wound)),
    )  # fmt: skip
    result = run(plant, 3.0)
    w = np.sqrt(c / J)
    agrees(result["meter.P"], 0.5 * c * wound**2 * w * np.sin(2 * w * result.time), reached=1e-5)
    assert result["meter.P"].min() < -1.0


def test_a_fan_runs_down(wired: Any, run: Any, agrees: Any) -> None:
    """J·dw/dt = -k·w²: w = w0/(1 + k·w0·t/J)."""
    plant = wired(
        "body.b fan.flange", body=ro.Inertia(J=0.1, w=ac.start(100.0)), fan=ro.QuadraticLoad(tau_nominal=2.0, w_nominal=50.0)
    )
    result = run(plant, 2.0)
    agrees(result["body.w"], 100.0 / (1 + 2.0 / 50.0**2 * 100.0 / 0.1 * result.time))


def test_speed_and_position_sources(wired: Any, run: Any, agrees: Any) -> None:
    dragged = wired(
        "hand.flange clutch.a", "clutch.b body.a", hand=ro.Speed(w=4.0), clutch=ro.Damper(d=1.0), body=ro.Inertia(J=0.5)
    )
    result = run(dragged, 2.0)
    agrees(result["body.w"], 4.0 * (1 - np.exp(-2.0 * result.time)))
    agrees(
        result["clutch.w_rel"], -4.0 * np.exp(-2.0 * result.time), reached=1e-5
    )  # a derivative: one order less than its integral
    turned = wired("hand.flange spring.a", "spring.b body.a", hand=ro.Position(phi=0.5), spring=ro.Spring(c=4.0), body=ro.Inertia())
    result = run(turned, 2.0)
    agrees(result["body.phi"], 0.5 * (1 - np.cos(2.0 * result.time)))


def test_a_gear_between_two_inertias_adds_them_up(wired: Any, run: Any, agrees: Any) -> None:
    """Seen from the fast side the load counts with 1/ratio²; the two share one angle, an index above 1, which is reduced."""
    plant = wired(
        "motor.flange one.a", "one.b gear.a", "gear.b two.a",
        motor=ro.Torque(tau=7.0), one=ro.Inertia(J=1.0), gear=ro.IdealGear(ratio=2.0), two=ro.Inertia(J=3.0),
    )  # fmt: skip
    result = run(plant, 2.0)
    agrees(result["one.w"], 7.0 / (1 + 3.0 / 4.0) * result.time)
    agrees(result["two.phi"], 1.0 * result.time**2)
