"""Components: attributes, modifications, arrays, views, and what is refused."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
import pytest
from plants import Capacitor, Conductor, Mass, Resistor

import acausal as ac
from acausal.errors import UsageError
from acausal.library.fluid.passages import Throttle


class Rack(ac.Component):
    def __init__(self, n=2):
        self.cells = ac.array(Mass, n)
        self.first = Mass()


def test_unknown_arguments_name_near_matches_and_what_there_is():
    with pytest.raises(UsageError, match="Resistor has no `r`") as found:
        Resistor(r=2.0)
    assert "R" in str(found.value).splitlines()[-1]


def test_unknown_attributes_name_near_matches_and_hasattr_works():
    with pytest.raises(ac.ModelError, match="has no attribute `capacity`"):
        Capacitor().capacity  # noqa: B018
    with pytest.raises(ac.ModelError, match="Did you mean `port`"):
        Mass().prt  # noqa: B018
    assert not hasattr(Mass(), "nothing")
    assert not hasattr(Mass(), "_kind")


def test_an_unknown_cannot_be_given_a_value():
    with pytest.raises(UsageError, match=r"`Mass\.T` is an unknown") as found:
        Mass(T=5.0)
    assert "ac.start(5.0)" in str(found.value)


def test_a_constant_cannot_be_changed():
    class WithConstant(ac.Component):
        g = ac.Constant(9.81)

    with pytest.raises(UsageError, match="constant"):
        WithConstant(g=10.0)


def test_a_component_has_one_place():
    shared = Mass()

    class Twice(ac.Component):
        def __init__(self):
            self.a = shared
            self.b = shared

    with pytest.raises(UsageError, match="`a` of a Twice"):
        Twice()


def test_arguments_of_init_and_modifications_are_told_apart():
    class Sized(ac.Component):
        k = ac.Parameter(1.0)

        def __init__(self, n, scale=1.0):
            self.n, self.scale = n, scale

    made = Sized(3, scale=2.0, k=5.0)
    assert (made.n, made.scale, made._ac_modifications["k"]["value"]) == (3, 2.0, 5.0)
    with pytest.raises(UsageError, match="no `q`"):
        Sized(3, q=1.0)


def test_positional_arguments_without_init_are_refused():
    with pytest.raises(UsageError, match="keyword arguments only"):
        Resistor(5.0)


def test_views_index_as_numpy_does():
    numbers = np.arange(6).reshape(2, 3)

    class Grid(ac.Component):
        def __init__(self):
            self.m = ac.array(Mass, (2, 3))

    grid = Grid()
    for key in (0, -1, (1, 2), (slice(None), -1), slice(None, None, -1), (0, slice(1, None)), np.array([1, 0])):
        picked = grid.m[key].T
        expected = numbers[key]
        assert picked.shape == expected.shape
        np.testing.assert_array_equal(picked.picked, expected)


def test_views_of_arrays_in_arrays_count_row_by_row():
    class House(ac.Component):
        def __init__(self):
            self.racks = ac.array(Rack, 3, 4)

    house = House()
    assert house.racks.cells.T.shape == (3, 4)
    np.testing.assert_array_equal(house.racks[1].cells[::2].T.picked, [4, 6])
    np.testing.assert_array_equal(house.racks[:, None][2, 0].cells.T.picked, [8, 9, 10, 11])
    assert house.racks.first.T.shape == (3,)


def test_an_index_outside_an_array_is_refused():
    with pytest.raises(UsageError, match=r"\(2,\) elements"):
        Rack().cells[2]


def test_array_takes_a_class_and_a_shape():
    assert len(ac.array(Mass, np.int64(3))) == 3
    for wrong in (3.0, -1, "3", (2, 1.5)):
        with pytest.raises(UsageError, match="whole number"):
            ac.array(Mass, wrong)
    with pytest.raises(UsageError, match="component class"):
        ac.array(Mass(), 3)


def test_children_of_the_class_body_are_each_instance_s_own():
    class Pair(ac.Component):
        k = ac.Parameter(2.0)
        left = Conductor(G=3 * k)
        right = Conductor(G=k)

    a, b = Pair(), Pair()
    assert a.left is not b.left and a.left._ac_parent is a and b.left._ac_parent is b
    assert Pair.left._ac_parent is None


def test_inheritance_overrides_declarations():
    class Small(Resistor):
        R = ac.Parameter(0.5)

    class Fixed(Resistor):
        R = 3.0

    assert Small._class_declared["R"].value == 0.5
    assert "R" not in Fixed._class_declared


def test_assigning_to_a_declared_name_modifies_it():
    class Outer(ac.Component):
        def __init__(self):
            self.r = Resistor()
            self.r.R = 7.0

    assert Outer().r._ac_modifications["R"] == {"value": 7.0}


def test_a_name_is_either_declared_or_a_component():
    class Both(ac.Component):
        a = ac.Variable()

        def __init__(self):
            self.a = Mass()

    with pytest.raises(UsageError, match="`a` of Both is declared"):
        Both()


def test_a_base_that_leaves_something_to_define_is_not_built() -> None:
    class Valve(ac.Component):
        @abstractmethod
        def area(self) -> Any:
            """In m²."""

    class Hole(Valve):
        def area(self) -> Any:
            return 1e-4

    assert Hole().area() == 1e-4
    with pytest.raises(ac.ModelError, match=r"Valve is a base of other components and does not define `area`\."):
        Valve()
    with pytest.raises(ac.ModelError, match="Throttle is a base of other components and does not define `effective_area`"):
        Throttle()
