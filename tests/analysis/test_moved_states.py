"""Sensitivities where states jump at an event: what can be followed is, and what cannot says so."""

import numpy as np
import pytest

import acausal as ac
from acausal.errors import ModelError

STEEPER = ac.Table([-1.0, 1.0, 3.0], [-1.0, 1.0, 5.0], method="linear")


class Tied(ac.Component):
    """x2 == 2 x1, both fall: x1'' = -g/3. When it touches the ground x1 bounces; at 0.9 s the speed of the other one is set, so
    that one of them is no state when it is set."""

    e, g = ac.Parameter(0.8), ac.Parameter(9.81)
    x1, v1 = ac.Variable(start=1.0, fixed=True), ac.Variable(start=0.0, fixed=True)
    x2, v2, F = ac.Variable(), ac.Variable(), ac.Variable()

    def equations(self):
        yield ac.der(self.x1) == self.v1
        yield ac.der(self.x2) == self.v2
        yield self.x2 == 2 * self.x1
        yield ac.der(self.v1) == -self.g - self.F
        yield ac.der(self.v2) == self.F

    def events(self):
        yield ac.when(self.x1 < 0, ac.reinit(self.v1, -self.e * self.v1))
        yield ac.when(ac.time > 0.9, ac.reinit(self.v2, 0.5 * self.e))


def fallen(e, g):
    """x1 and v1 at 1.2 s."""
    touched = np.sqrt(6 / g)
    flight, speed = 0.9 - touched, e * g / 3 * touched
    return np.array([speed * flight - g / 6 * flight**2 + 0.3 * 0.25 * e - g / 6 * 0.09, 0.25 * e - 0.1 * g])


def test_a_state_that_follows_what_is_set():
    model = ac.compile(Tied())
    found = model.gradient(["x1", "v1"], ["e", "g"], until=1.2, rtol=1e-9)
    forward = model.simulate(1.2, rtol=1e-9, sensitivities=["e", "g"])
    for parameter, (high, low) in {"e": ((0.8001, 9.81), (0.7999, 9.81)), "g": ((0.8, 9.811), (0.8, 9.809))}.items():
        exact = (fallen(*high) - fallen(*low)) / (max(high) - max(low) if parameter == "g" else 2e-4)
        for name, value in zip(("x1", "v1"), exact, strict=True):
            assert found[name, parameter] == pytest.approx(value, rel=1e-6, abs=1e-9)
            assert forward.sensitivity(name, parameter)[-1] == pytest.approx(value, rel=1e-6, abs=1e-9)


class Pair(ac.Component):
    """v1 + c v2 is kept; beyond x1 == 1 v2 is 2 v1."""

    v0, c = ac.Parameter(1.0), ac.Parameter(3.0)
    x1, v1 = ac.Variable(start=0.0, fixed=True), ac.Variable(start=v0, fixed=True)
    x2, v2, F = ac.Variable(), ac.Variable(), ac.Variable()

    def equations(self):
        yield ac.der(self.x1) == self.v1
        yield ac.der(self.x2) == self.v2
        yield self.x2 == self.law(self.x1)
        yield self.c * ac.der(self.v2) == self.F
        yield ac.der(self.v1) == -self.F

    def law(self, x):
        return STEEPER(x)


class Written(Pair):
    def law(self, x):
        return ac.where(x < 1, x, 2 * x - 1)


class Capacitors(ac.Component):
    a, b, i = ac.Variable(start=1.0, fixed=True), ac.Variable(start=0.0, fixed=True), ac.Variable()
    C = ac.Parameter(2.0)

    def equations(self):
        yield self.C * ac.der(self.a) == -self.i
        yield ac.der(self.b) == self.i
        yield ac.where(ac.time > 0.5, self.a - self.b, self.i) == 0


@pytest.mark.parametrize("plant", [Pair, Written])
def test_before_an_impulse(plant):
    """A table that is taken piece by piece starts on the piece where it is."""
    model = ac.compile(plant())
    assert model.simulate(0.5, sensitivities=["v0"]).sensitivity("x2", "v0")[-1] == pytest.approx(0.5)
    assert model.gradient(["x2"], ["v0"], until=0.5)["x2", "v0"] == pytest.approx(0.5)


@pytest.mark.parametrize(("plant", "names", "parameter"), [(Pair, "v2", "v0"), (Written, "v", "c"), (Capacitors, "`a`, `b`", "C")])
def test_an_impulse_that_moves_states_is_refused(plant, names, parameter):
    model = ac.compile(plant())
    assert model.simulate(1.5).outcome.ok
    for attempt in (
        lambda: model.simulate(1.5, sensitivities=[parameter]),
        lambda: model.gradient([next(n for n in ("a", "x1") if hasattr(plant, n))], [parameter], until=1.5),
    ):
        with pytest.raises(ModelError, match="cannot be followed across that") as told:
            attempt()
        assert names in str(told.value) and "jumped" in str(told.value)


class Cam(ac.Component):
    """A cam at x = A t - 0.5 carries a mass without inertia of its own: s = |x|, whose speed jumps, and no state with it; a spring
    of stiffness 4 leads from there to a free mass."""

    A = ac.Parameter(1.0)
    x, s, v, F = ac.Variable(start=-0.5, fixed=True), ac.Variable(), ac.Variable(), ac.Variable()
    s2, v2 = ac.Variable(start=0.5, fixed=True), ac.Variable(start=0.0, fixed=True)

    def equations(self):
        yield ac.der(self.x) == self.A
        yield self.s == ac.Table([-1.0, -0.2, 0.0, 0.3, 1.0], [1.0, 0.2, 0.0, 0.3, 1.0], method="linear")(self.x)
        yield ac.der(self.s) == self.v
        yield 3.0 * ac.der(self.v) == self.F
        yield ac.der(self.s2) == self.v2
        yield ac.der(self.v2) == 4.0 * (self.s - self.s2)


def carried(A, until):
    """s2 at the end: it begins at rest with s, which falls at a rate A and rises from 0.5/A on."""
    later = max(0.0, until - 0.5 / A)
    return 0.5 - A * (until - np.sin(2 * until) / 2) + 2 * A * (later - np.sin(2 * later) / 2)


def test_an_impulse_that_moves_no_state_is_followed():
    model = ac.compile(Cam())
    exact = (carried(1 + 1e-5, 1.0) - carried(1 - 1e-5, 1.0)) / 2e-5
    assert model.simulate(1.0, rtol=1e-9, sensitivities=["A"]).sensitivity("s2", "A")[-1] == pytest.approx(exact, rel=1e-7)
    assert model.gradient(["s2"], ["A"], until=1.0, rtol=1e-9)["s2", "A"] == pytest.approx(exact, rel=1e-7)
