"""Units of one dimension and of different scale: hours beside seconds, and times of events."""

from __future__ import annotations

from typing import Any

import pytest

import acausal as ac


class Lag(ac.Component):
    x = ac.Variable(start=0.0, unit="m")
    tau = ac.Parameter(1.0, unit="h")

    def equations(self) -> Any:
        yield self.tau * ac.der(self.x) == 1.0 - self.x


class Growth(ac.Component):
    r = ac.Parameter(0.5, unit="1/year")
    N = ac.Variable(start=1.0)

    def equations(self) -> Any:
        yield ac.der(self.N) == self.r * self.N


@pytest.mark.parametrize("component, declared", [(Lag, "tau in h"), (Growth, "r in 1/year")])
def test_scales_are_compared_beside_a_number_and_without_a_unit(component: Any, declared: str) -> None:
    with pytest.raises(ac.ModelError, match=rf"Units of different scale meet(.|\n)*{declared}"):
        ac.compile(component())


class Timed(ac.Component):
    """A clock, and a state that is left after a while, both by a time in minutes."""

    x, wait = ac.Variable(start=0.0), ac.Parameter(7.0, unit="min")
    mode = ac.States("here", "there", initial="here")

    def equations(self) -> Any:
        yield ac.der(self.x) == 1.0


class Clocked(Timed):
    def events(self) -> Any:
        yield ac.when(ac.sample(0.0, self.wait), ac.reinit(self.x, 0.0))


class Waiting(Timed):
    def transitions(self) -> Any:
        yield self.mode.here.to("there", after=self.wait)


@pytest.mark.parametrize("kind", [Clocked, Waiting])
def test_times_of_events_are_in_the_units_of_time(kind: type[ac.Component]) -> None:
    with pytest.raises(ac.ModelError) as told:
        ac.compile(kind())
    for part in ("Units of different scale meet: `time` is s, `wait` is s times 60", "self.wait", "test_unit_scales.py:"):
        assert part in str(told.value)
