"""Components whose condition holds from the beginning, or always."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.library import signal as sg
from acausal.library.mechanics import stops as st
from acausal.library.mechanics import translational as tr
from acausal.library.refrigeration.rooms import Door


class Pushed(ac.Component):
    """A mass between stops, and a force on it."""

    def __init__(self, body: st.StoppedMass, force: float) -> None:
        self.body, self.push = body, tr.Force(f=force)

    def connections(self) -> Iterator[Any]:
        yield self.push.flange, self.body.a


@pytest.mark.parametrize(("limits", "force"), [({"s_min": 0.0}, -1.0), ({"s_max": 0.0}, 1.0)])
def test_a_mass_that_begins_at_a_stop_lies_there(limits: dict[str, float], force: float) -> None:
    """A mass that lay at a stop from the beginning fell through it, half a metre in a second, and nothing was said."""
    result = ac.compile(Pushed(st.StoppedMass(m=1.0, **limits), force)).simulate(until=1.0)
    assert result["body.s"][-1] == 0.0 and result["body.v"][-1] == 0.0
    assert result["body.resting"][-1] == np.sign(force) and result["body.f_stop"][-1] == pytest.approx(-force)


def test_a_mass_that_begins_at_a_stop_bounces_or_leaves() -> None:
    """One that hit a stop at the first instant went on through it; one that is pulled away leaves as it did."""
    hit = st.StoppedMass(m=1.0, s_min=0.0, restitution=0.5, v=ac.start(-1.0))
    result = ac.compile(Pushed(hit, -1.0)).simulate(until=0.5, rtol=1e-8)
    assert result["body.s"][-1] == pytest.approx(0.5 * 0.5 - 0.5 * 0.25, rel=1e-6)
    result = ac.compile(Pushed(st.StoppedMass(m=1.0, s_min=0.0), 1.0)).simulate(until=1.0, rtol=1e-8)
    assert result["body.s"][-1] == pytest.approx(0.5, rel=1e-6) and result["body.resting"][-1] == 0


@pytest.mark.parametrize(
    ("start", "hours", "opened"),
    [(0.0, (8.0, 18.0), 20), (12.0, (8.0, 18.0), 12), (20.0, (8.0, 18.0), 0), (108.0, (8.0, 18.0), 12), (0.0, (22.0, 6.0), 17)],
)
def test_a_door_knows_the_hour_at_which_a_run_begins(start: float, hours: tuple[float, float], opened: int) -> None:
    """A run that began during work, or with work over midnight, had its door closed until work began the next time."""
    door = Door(opening=3600 * hours[0], closing=3600 * hours[1])
    end = 86400.0 * (np.floor(start / 24.0) + 1)
    result = ac.compile(door).simulate(start=3600 * start, until=end)
    assert sum(s.state == "open" for s in result.states("door")) == opened


@pytest.mark.parametrize("kind", [sg.Pulse, sg.BooleanPulse])
def test_pulses_as_long_as_their_period_are_one(kind: Any) -> None:
    """With a width of 1 the output fell to zero for an instant at one tick in five, and what counts saw it."""

    class Counted(ac.Component):
        falls = ac.Integer(0)

        def __init__(self) -> None:
            self.source = kind(width=1.0, period=0.1, start_time=0.3)

        def events(self) -> Iterator[Any]:
            yield ac.when((self.source.y < 0.5) & (ac.time > 0.35), ac.assign(self.falls, ac.pre(self.falls) + 1))

    result = ac.compile(Counted()).simulate(until=10.05)
    y = np.asarray(result["source.y"])
    assert result["falls"][-1] == 0 and y[0] == 0.0 and np.all(y[result.time > 0.3] == 1.0)


def test_a_smoothed_derivative_needs_a_time_constant() -> None:
    """With T = 0, which was allowed, the output was not a number all along, and the run came to its end without a word."""
    with pytest.raises(ac.ModelError, match="`T` = 0 s is out of its range"):
        ac.compile(sg.Derivative(T=0.0)).simulate(until=1.0)
