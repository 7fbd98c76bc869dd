"""Translational components against the closed forms of oscillators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.errors import ModelError
from acausal.library import signal
from acausal.library.mechanics import translational as tr


def test_a_mass_on_spring_and_damper_rings(wired: Any, run: Any, agrees: Any) -> None:
    m, c, d = 2.0, 50.0, 1.5
    apart = wired(
        "wall.flange spring.a damper.a", "spring.b damper.b mass.a", wall=tr.Fixed(s0=1.0), spring=tr.Spring(c=c, s_rel0=0.5),
        damper=tr.Damper(d=d), mass=tr.Mass(m=m, s=ac.start(2.0)),
    )  # fmt: skip
    together = wired(
        "wall.flange link.a", "link.b mass.a", wall=tr.Fixed(s0=1.0), link=tr.SpringDamper(c=c, d=d, s_rel0=0.5),
        mass=tr.Mass(m=m, s=ac.start(2.0)),
    )  # fmt: skip
    for plant in (apart, together):
        result = run(plant, 4.0)
        t, decay = result.time, d / (2 * m)
        w = np.sqrt(c / m - decay**2)
        exact = 1.5 + 0.5 * np.exp(-decay * t) * (np.cos(w * t) + decay / w * np.sin(w * t))
        agrees(result["mass.s"], exact, reached=5e-6)  # errors in phase add up over three periods


def test_energy_goes_to_and_fro_without_a_damper(wired: Any, run: Any, agrees: Any) -> None:
    plant = wired(
        "wall.flange spring.a", "spring.b mass.a", wall=tr.Fixed(), spring=tr.Spring(c=4.0), mass=tr.Mass(s=ac.start(1.0))
    )
    result = run(plant, 5.0)
    agrees(result["mass.energy"] + result["spring.energy"], 2.0, reached=1e-5)
    agrees(result["mass.v"], -2.0 * np.sin(2.0 * result.time), reached=1e-5)


def test_a_spring_and_a_damper_in_a_row_need_no_mass_between(wired: Any, run: Any, agrees: Any) -> None:
    """Maxwell's element: held at a distance, its force relaxes with the time constant d/c."""
    plant = wired(
        "left.flange spring.a", "spring.b damper.a", "damper.b right.flange",
        left=tr.Fixed(), spring=tr.Spring(c=10.0), damper=tr.Damper(d=5.0, **{"a.s": ac.start(1.0)}), right=tr.Fixed(s0=1.0),
    )  # fmt: skip
    result = run(plant, 3.0)
    agrees(result["spring.f"], 10.0 * np.exp(-2.0 * result.time))


def test_a_force_accelerates_and_sensors_tell(wired: Any, run: Any, agrees: Any) -> None:
    plant = wired(
        "push.flange meter.a", "meter.b power.a", "power.b mass.a", "mass.b rod.a", "rod.b where.flange speed.flange",
        "ramp.y push.f", push=tr.Force(), meter=tr.ForceSensor(), mass=tr.Mass(m=2.0), rod=tr.Rod(L=0.3), where=tr.PositionSensor(),
        speed=tr.SpeedSensor(), power=tr.PowerSensor(), ramp=signal.Ramp(height=6.0, duration=3.0),
    )  # fmt: skip
    result = run(plant, 3.0)
    t = result.time
    agrees(result["where.s"], 0.3 + t**3 / 6.0)
    agrees(result["speed.v"], t**2 / 2.0)
    agrees(result["meter.f"], 2.0 * t)
    agrees(result["power.P"], t**3)


def test_a_moved_end_drags_a_mass(wired: Any, run: Any, agrees: Any) -> None:
    """Two ways to say it: a speed works with the damper; a position alone works with a spring."""
    dragged = wired(
        "hand.flange damper.a", "damper.b mass.a", hand=tr.Speed(v=2.0), damper=tr.Damper(d=3.0), mass=tr.Mass(m=1.5),
    )  # fmt: skip
    result = run(dragged, 3.0)
    agrees(result["mass.v"], 2.0 * (1 - np.exp(-2.0 * result.time)))
    pulled = wired("hand.flange spring.a", "spring.b mass.a", hand=tr.Position(s=1.0), spring=tr.Spring(c=9.0), mass=tr.Mass())
    result = run(pulled, 3.0)
    agrees(result["mass.s"], 1 - np.cos(3.0 * result.time), reached=1e-5)


def test_masses_joined_rigidly_move_as_one(wired: Any, run: Any, agrees: Any) -> None:
    """They share one position: an index above 1, which is reduced."""
    plant = wired(
        "push.flange one.a",
        "one.b rod.a",
        "rod.b two.a",
        push=tr.Force(f=6.0),
        one=tr.Mass(m=2.0),
        rod=tr.Rod(L=0.5),
        two=tr.Mass(),
    )
    plant.two.s = ac.start(0.5)
    result = run(plant, 2.0)
    agrees(result["one.v"], 2.0 * result.time)
    agrees(result["two.s"], 0.5 + result.time**2)


def test_a_position_that_a_block_gives_has_a_velocity(wired: Any, run: Any, agrees: Any) -> None:
    """A damper drags a mass behind a sine: m·v' = d·(u' - v) with u = sin(t); with d/m = 1, v = (cos t + sin t - exp(-t))/2."""
    plant = wired(
        "sine.y hand.s", "hand.flange damper.a", "damper.b mass.a",
        sine=signal.Sine(f=0.5 / np.pi), hand=tr.Position(), damper=tr.Damper(),
        mass=tr.Mass(),
    )  # fmt: skip
    result = run(plant, 3.0)
    t = result.time
    agrees(result["mass.v"], 0.5 * (np.cos(t) + np.sin(t) - np.exp(-t)))


def test_the_velocity_of_a_position_from_outside_is_that_of_the_data(wired: Any) -> None:
    """m v' = d (1 - v): v tends to that of the hand."""
    mass = tr.Mass(m=2.0, s=ac.start(0.0, fixed=True), v=ac.start(0.0, fixed=True))
    plant = wired("hand.flange damper.a", "damper.b mass.a", hand=tr.Position(), damper=tr.Damper(d=4.0), mass=mass)
    model = ac.compile(plant)
    result = model.simulate(1.0, inputs={"hand.s": ([0.0, 1.0], [0.0, 1.0])}, rtol=1e-9)
    assert result["mass.v"][-1] == pytest.approx(1 - np.exp(-2.0), rel=1e-7)
    with pytest.raises(ModelError, match="a Python function says nothing about its derivative"):
        model.simulate(1.0, inputs={"hand.s": lambda t: t})
