"""Start values, fixed flags, nominal values and bounds of aliased variables."""

from __future__ import annotations

import numpy as np
import pytest

import acausal as ac


class Twins(ac.Component):
    a, b = ac.Variable(), ac.Variable()

    def equations(self):
        yield self.a == -self.b
        yield ac.der(self.a) == -self.a


def starts_of(component):
    model = ac.compile(component)
    found = model._starts.starts(model._parameters.known({}))
    sign = model.system.aliases.sign[model.system.plant.root.kind.quantities["a"].base]
    return found, sign


def test_signs_turn_starts_and_bounds():
    found, sign = starts_of(Twins(b=ac.start(2.0, min=-1.0, max=5.0)))
    assert sign * found.start[0] == -2.0
    low, high = sorted((sign * found.minimum[0], sign * found.maximum[0]))
    assert (low, high) == (-5.0, 1.0)


@pytest.mark.parametrize(
    "changes, expected",
    [
        ({"a": ac.start(1.0), "b": ac.start(2.0)}, 1.0),  # of equals the first
        ({"a": ac.start(1.0), "b": ac.start(2.0, fixed=True)}, -2.0),  # fixed is stronger
        ({"b": ac.start(2.0)}, -2.0),
        ({}, 0.0),
    ],
)
def test_the_strongest_start_wins(changes, expected):
    found, sign = starts_of(Twins(**changes))
    assert sign * found.start[0] == expected
    assert bool(found.given[0]) == bool(changes)


def test_a_modification_is_stronger_than_the_class():
    class Opinionated(Twins):
        a = ac.Variable(start=7.0)

    found, sign = starts_of(Opinionated(b=ac.start(3.0)))
    assert sign * found.start[0] == -3.0


def test_bounds_of_aliases_intersect():
    found, sign = starts_of(Twins(a=ac.modify(min=-3.0, max=4.0), b=ac.modify(min=-2.0)))
    low, high = sorted((sign * found.minimum[0], sign * found.maximum[0]))
    assert (low, high) == (-3.0, 2.0)


def test_nominal_values_are_sizes():
    found, _ = starts_of(Twins(b=ac.modify(nominal=-1e5)))
    assert found.nominal[0] == 1e5


def test_starts_bound_to_parameters_follow_them():
    class Bound(ac.Component):
        T0 = ac.Parameter(5.0)
        x = ac.Variable(shape=2, fixed=True, start=2 * T0)

        def equations(self):
            yield ac.der(self.x) == 0 * self.x

    model = ac.compile(Bound())
    np.testing.assert_array_equal(model.simulate(until=1.0)["x"][0], [10.0, 10.0])
    np.testing.assert_array_equal(model.simulate(until=1.0, set={"T0": 1.0})["x"][0], [2.0, 2.0])
    np.testing.assert_array_equal(model.simulate(until=1.0)["x"][0], [10.0, 10.0])
