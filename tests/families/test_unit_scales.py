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


class Strip(ac.Component):
    """Lengths in mm and in m, a time in h, an angle in degrees."""

    x, L = ac.Parameter(500.0, unit="mm"), ac.Parameter(1.0, unit="m")
    tau, speed = ac.Parameter(1.0, unit="h"), ac.Parameter(30.0, unit="deg/s")
    share, wear = ac.Parameter(50.0, unit="%"), ac.Parameter(3.0, unit="ppm/h")
    z, y = ac.Variable(start=1.0, unit="m", fixed=True), ac.Variable()

    def __init__(self, what: Any) -> None:
        self._what = what

    def equations(self) -> Any:
        yield ac.der(self.z) == 0.0
        yield from self._what(self)


@pytest.mark.parametrize(
    "what, ratio",
    [
        (lambda s: [s.y == 1.0 - s.x / s.L], "x/L"),
        (lambda s: [s.y == s.x / s.L - 0.3], "x/L"),
        (lambda s: [s.y == ac.max(2 * s.x / s.L, 0.3)], r"2\*x/L"),
        (lambda s: [s.y == ac.where(s.x / s.L > 0.3, 1.0, 0.0)], "x/L"),
        (lambda s: [s.y == ac.min(ac.time / s.tau, 1.0)], "time/tau"),
        (lambda s: [s.tau * ac.der(s.z) / s.z == -s.y - 1.0], r".*"),
        (lambda s: [s.tau * ac.der(s.z) / s.z + 1.0 == s.y], r".*"),
    ],
)
def test_a_number_beside_a_ratio_is_a_plain_one(what: Any, ratio: str) -> None:
    with pytest.raises(ac.ModelError, match=rf"Units of different scale meet: `.*{ratio}.*` is dimensionless times"):
        ac.compile(Strip(what))


@pytest.mark.parametrize(
    "what, y",
    [
        (lambda s: [s.y == s.x / s.L], 500.0),  # in mm/m, and nobody compares it
        (lambda s: [s.y == ac.max(s.x / s.L, 0.0)], 500.0),
        (lambda s: [s.y == 1.0 - s.x / 1000.0 / s.L], 0.5),
        (lambda s: [s.y == ac.where(s.share > 30.0, 1.0, 0.0)], 1.0),  # a share in per cent
        (lambda s: [s.y == ac.where(10.0 + s.speed * ac.time > 35.0, 1.0, 0.0)], 1.0),  # degrees
        (lambda s: [s.y == ac.where(s.wear * s.tau > 2.0, 1.0, 0.0)], 1.0),
    ],
)
def test_a_number_beside_a_share_is_in_its_unit(what: Any, y: float) -> None:
    assert ac.compile(Strip(what)).simulate(until=1.0)["y"][-1] == pytest.approx(y)
