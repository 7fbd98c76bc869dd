"""Stops and play against closed forms: half sines in contact, parabolas and straight lines without."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.library import signal as sg
from acausal.library.mechanics import rotational as ro
from acausal.library.mechanics import stops as st
from acausal.library.mechanics import translational as tr


def test_a_ball_bounces_and_comes_to_rest(wired: Any, run: Any) -> None:
    ball = st.StoppedMass(m=0.1, s_min=0.0, restitution=0.7, s=ac.start(1.0))
    result = run(wired("weight.flange ball.a", ball=ball, weight=tr.Force(f=-0.981)), 6.0, rtol=1e-10)
    fall = np.sqrt(2 / 9.81)
    speeds = 9.81 * fall * 0.7 ** np.arange(40)  # before the impacts
    times = fall + np.append(0.0, np.cumsum(2 * speeds[1:] / 9.81))
    impacts = 1 + int(np.argmax(0.7 * speeds < 1e-3))  # the last one ends it
    np.testing.assert_allclose(result.events.times, times[:impacts], rtol=1e-9)
    assert result["ball.resting"][-1] == -1
    assert abs(result["ball.s"][-1]) < 1e-10 and result["ball.v"][-1] == 0.0
    assert result["ball.f_stop"][-1] == pytest.approx(0.981)


def test_a_mass_rests_at_a_stop_until_it_is_pulled_away(wired: Any, run: Any, agrees: Any) -> None:
    """Pushed up, stopped dead at s = 1, let go when the force changes its sign at t = 3; between two stops it never leaves them."""
    body = st.StoppedMass(m=2.0, s_min=0.0, s_max=1.0)
    plant = wired(
        "ramp.y push.f", "push.flange body.a", ramp=sg.Ramp(offset=3.0, height=-6.0, duration=6.0), push=tr.Force(), body=body
    )
    result = run(plant, 8.0)
    t, s = result.time, np.asarray(result["body.s"])
    assert s.min() > -1e-9 and s.max() < 1 + 1e-9
    upper, leaving, lower = result.events.times[:3]
    assert 1.5 * upper**2 / 2 - upper**3 / 12 == pytest.approx(1.0, rel=1e-8)
    assert leaving == pytest.approx(3.0, abs=1e-7)
    assert lower == pytest.approx(3.0 + 12.0 ** (1 / 3), rel=1e-7)
    flight = (t > leaving) & (t < lower)
    agrees(s[flight], 1.0 - (t[flight] - 3.0) ** 3 / 12)
    assert np.all(result["body.v"][t > lower + 1e-9] == 0.0)


@pytest.mark.parametrize("damping", [0.0, 6.0])
def test_an_elastic_stop_turns_a_mass_round(wired: Any, run: Any, agrees: Any, damping: float) -> None:
    """Without damping half a period of the spring; with some, what the limited damper leaves, against scipy."""
    m, c, v = 2.0, 800.0, 3.0
    plant = wired(
        "wall.flange stop.a", "stop.b mass.a",
        wall=tr.Fixed(), stop=st.ElasticStop(c=c, d=damping, s_rel0=0.1), mass=tr.Mass(m=m, s=ac.start(0.6), v=ac.start(-v)),
    )  # fmt: skip
    result = run(plant, 1.0, rtol=1e-9)
    touch, leave = result.events.times
    assert touch == pytest.approx(0.5 / v, rel=1e-9)
    assert result["stop.f"].max() <= 1e-9
    if damping == 0:
        assert leave == pytest.approx(0.5 / v + np.pi / 20.0, rel=1e-7)
        assert result["mass.v"][-1] == pytest.approx(v, rel=1e-6)
        assert result["stop.f"].min() == pytest.approx(-v * np.sqrt(c * m), rel=1e-3)
    else:
        assert (leave - touch, result["mass.v"][-1]) == pytest.approx(contact(m, c, damping, v), rel=1e-6)


def contact(m: float, c: float, d: float, v: float) -> tuple[float, float]:
    """Length of the contact and speed at its end."""
    from scipy.integrate import solve_ivp

    def rates(t: float, y: Any) -> list[float]:
        spring = c * y[0]
        return [y[1], -(spring + min(max(d * y[1], spring), -spring)) / m]

    def over(t: float, y: Any) -> float:
        return float(y[0])

    over.terminal, over.direction = True, 1.0  # type: ignore[attr-defined]
    found = solve_ivp(rates, (0.0, 5.0), [-1e-14, -v], rtol=1e-11, atol=1e-13, events=over, max_step=1e-3)
    return float(found.t[-1]), float(found.y[1, -1])


def test_play_between_two_ends(wired: Any, run: Any, agrees: Any) -> None:
    """A body in the middle of its play: free for b/w, turned round within half a period of the spring, and back."""
    plant = wired(
        "wall.flange play.a", "play.b body.a",
        wall=ro.Fixed(), play=st.ElasticBacklash(c=800.0, backlash=1.0), body=ro.Inertia(J=2.0, w=ac.start(3.0)),
    )  # fmt: skip
    result = run(plant, 2.0, rtol=1e-9)
    half, free = np.pi / 20.0, 1.0 / 3.0
    turns = np.cumsum([free / 2, half, free, half, free, half, free, half])
    np.testing.assert_allclose(result.events.times, turns, rtol=0, atol=2e-7)
    energy = result["body.energy"] + 400.0 * np.maximum(np.abs(result["body.phi"]) - 0.5, 0.0) ** 2
    agrees(energy, 9.0)


def test_damped_play_takes_the_same_from_both_sides(wired: Any, run: Any) -> None:
    speeds = []
    for sign in (1.0, -1.0):
        plant = wired(
            "wall.flange play.a", "play.b body.a",
            wall=ro.Fixed(), play=st.ElasticBacklash(c=800.0, d=20.0, backlash=1.0), body=ro.Inertia(J=2.0, w=ac.start(3.0 * sign)),
        )  # fmt: skip
        result = run(plant, 0.5, rtol=1e-9)
        speeds.append(result["body.w"][-1])
    assert speeds[0] == pytest.approx(-speeds[1], rel=1e-8)
    assert speeds[0] == pytest.approx(-contact(2.0, 800.0, 20.0, 3.0)[1], rel=1e-6)
