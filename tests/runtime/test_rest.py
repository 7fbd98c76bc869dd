"""States of rest: meters take no part, what is conserved is held, a stated homotopy leads, branches that end are told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acausal as ac


class Metered(ac.Component):
    T = ac.Variable(start=300.0)
    E = ac.Variable(start=2.0, fixed=True)
    twice = ac.Variable(start=1.0)
    shown = ac.Variable()

    def equations(self) -> Any:
        yield ac.der(self.T) == 10.0 - (self.T - 280.0)
        yield ac.der(self.E) == self.T - 280.0
        yield ac.der(self.twice) == self.E
        yield self.shown**3 + self.shown == self.E


def test_a_meter_takes_no_part_in_a_state_of_rest() -> None:
    model = ac.compile(Metered())
    rest = model.steady_state()
    assert rest["T"][0] == pytest.approx(290.0)
    assert rest["E"][0] == 2.0 and rest["der(E)"][0] == pytest.approx(10.0)
    assert rest["shown"][0] == pytest.approx(1.0)
    run = model.simulate(until=2.0, initial="steady", rtol=1e-9)
    assert run["T"][-1] == pytest.approx(290.0)
    assert run["E"][-1] == pytest.approx(22.0)
    assert run["twice"][-1] == pytest.approx(1.0 + 2.0 * 2.0 + 20.0)


class Bowl(ac.Component):
    """What comes to rest by itself is no meter, though its equation looks like one."""

    x = ac.Variable(start=3.0)
    v = ac.Variable()
    way = ac.Variable(start=5.0)

    def equations(self) -> Any:
        yield ac.der(self.x) == self.v
        yield ac.der(self.v) == 2.0 - self.x - self.v
        yield ac.der(self.way) == self.v


def test_what_comes_to_rest_is_no_meter() -> None:
    rest = ac.compile(Bowl()).steady_state()
    assert rest["x"][0] == pytest.approx(2.0) and rest["v"][0] == pytest.approx(0.0) and rest["way"][0] == 5.0


class Circuit(ac.Component):
    """A closed circuit of vessels: the balances sum to zero."""

    n = 5
    M = ac.Variable(shape=5, start=[3.0, 1.0, 0.5, 2.0, 4.0])
    flow = ac.Variable(shape=5)
    charge = ac.Variable()

    def equations(self) -> Any:
        for k in range(self.n):
            yield self.flow[k] * abs(self.flow[k]) + 0.1 * self.flow[k] == self.M[k] - self.M[(k + 1) % self.n] + 0.1 * k - 0.2
            yield ac.der(self.M[k]) == self.flow[k - 1] - self.flow[k]
        yield self.charge == ac.sum(self.M)


def test_a_closed_circuit_keeps_its_charge() -> None:
    model = ac.compile(Circuit(), units=False)
    rest = model.steady_state()
    assert rest["charge"][0] == pytest.approx(10.5, rel=1e-9)
    late = model.simulate(until=200.0, rtol=1e-9)
    np.testing.assert_allclose(rest["M"][0], late["M"][-1], rtol=1e-5)


@pytest.mark.parametrize("charge", [10.5, 20.0, 3.0])
def test_a_closed_circuit_takes_the_charge_that_is_given(charge: float) -> None:
    model = ac.compile(Circuit(), units=False)
    rest = model.steady_state(given={"charge": charge})
    assert rest["charge"][0] == pytest.approx(charge)
    np.testing.assert_allclose(rest["M"][0] - rest["M"][0].mean(), model.steady_state()["M"][0] - 2.1, atol=1e-6)
    run = model.simulate(until=1.0, initial="steady", given={"charge": charge})
    np.testing.assert_allclose(run["M"][-1], rest["M"][0], rtol=1e-6)


@pytest.mark.parametrize("near", [-2.0, 2.0])
def test_a_homotopy_that_the_model_states_is_followed(near: float) -> None:
    class Led(ac.Component):
        x = ac.Variable(start=0.1)

        def equations(self) -> Any:
            yield ac.homotopy(self.x**3 - 4 * self.x + 0.5, self.x - near) == 0.0

    model = ac.compile(Led())
    assert abs(model.steady_state()["x"][0] - near) < 0.1
    assert abs(model.simulate(until=1.0)["x"][0] - near) < 0.1
    assert model.steady_state(start_from={"x": 0.1})["x"][0] == pytest.approx(0.1255, abs=1e-3)  # what is better than any start


class Fold(ac.Component):
    x = ac.Variable(start=-2.0)
    p = ac.Parameter(-1.0)

    def equations(self) -> Any:
        yield ac.der(self.x) == self.p + self.x - self.x**3 / 3


def test_a_branch_that_ends_is_told() -> None:
    with pytest.warns(ac.RunWarning, match="end at p = 0.66666"):
        states = ac.compile(Fold()).steady_states({"p": np.linspace(-1, 1, 21)})
    assert states.ok.all() and list(states.jumps) == [17] and "x jumps from -1.0" in states.reasons[17]
    assert "another branch" in repr(states)


class Steep(ac.Component):
    x = ac.Variable()
    p = ac.Parameter(0.0)

    def equations(self) -> Any:
        yield self.x == ac.tanh(300.0 * (self.p - 0.513))


def test_a_steep_branch_is_no_jump() -> None:
    states = ac.compile(Steep()).steady_states({"p": np.linspace(0, 1, 11)})
    assert not states.jumps and states.ok.all()


def test_a_start_without_a_value_is_left_although_nothing_was_factorised() -> None:
    """A search for rest that begins outside of the domain was asked for the factors of a matrix that nobody had."""

    class Outside(ac.Component):
        x, y = ac.Variable(start=-5.0), ac.Variable(start=-2.0)

        def equations(self) -> Any:
            yield ac.der(self.x) == ac.log(self.x * self.y - 20.0) - 1
            yield self.y == self.x * ac.sqrt(self.x)

    assert ac.compile(Outside()).steady_state()["x"][-1] == pytest.approx((20.0 + np.e) ** 0.4, rel=1e-9)
