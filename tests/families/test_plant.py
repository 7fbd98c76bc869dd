"""The plant: kinds, numbers and names, against a walk over every element."""

from __future__ import annotations

import numpy as np
import pytest
from plants import Boundary, Conductor, Mass

import acausal as ac
from acausal.families.census import Census


class Wall(ac.Component):
    k = ac.Parameter(1.0)
    T = ac.Variable(shape=(2, 3))

    def __init__(self, n=2):
        self.n = n
        self.cells = ac.array(Mass, (n, 2))
        self.surface = Mass()


class House(ac.Component):
    def __init__(self):
        self.walls = ac.array(Wall, 3, 2)
        self.door = Wall(2)
        self.gate = Wall(5)
        self.rooms = [Mass(), Mass(), Mass()]


def test_kinds_are_classes_with_their_structural_choices():
    plant = Census(House()).plant
    count = {}
    for kind in plant.kinds:
        count.setdefault(kind.name, []).append(kind.count)
    assert sorted(count["Wall"]) == [1, 4]  # three of the array and the door alike, the gate apart
    assert count["Mass"] == [3 * 4 + 3 + 4 + 1 + 10 + 1 + 3]
    assert count["House"] == [1]


def test_every_number_has_one_name_and_every_name_its_number():
    plant = Census(House()).plant
    names = [plant.name_of(k) for k in range(plant.variable_count)]
    assert len(set(names)) == plant.variable_count
    for number, name in enumerate(names):
        located = plant.locate(name)
        assert located.kind.quantities[located.name].base + int(located.flat) == number
    assert "walls[2].cells[1, 0].port.T" in names and "gate.T[1, 2]" in names and "rooms[2].T" in names


def test_numbers_of_a_reference_are_those_of_its_elements():
    house = House()
    census = Census(house)
    plant = census.plant
    for view, path in (
        (house.walls.cells.T, "walls.cells.T"),
        (house.walls[1].cells[::-1, 0].T, "walls[1].cells[::-1, 0].T"),
        (house.walls[1:].T[:, 1], "walls[1:].T[1]"),
        (house.door.cells.port.T, "door.cells.port.T"),
    ):
        numbers = plant.numbers(plant.root.kind, census.moved(view))[0]
        located = plant.locate(path)
        np.testing.assert_array_equal(numbers, located.kind.quantities[located.name].base + located.flat)


def test_arrays_without_elements():
    class Empty(ac.Component):
        x = ac.Variable(start=1.0, fixed=True)
        y = ac.Variable(unit="K")

        def __init__(self):
            self.none = ac.array(Mass, 0)

        def equations(self):
            yield ac.der(self.x) == -self.x
            yield self.y == ac.sum(self.none.T)

    result = ac.compile(Empty()).simulate(until=1.0, rtol=1e-8)
    assert result["x"][-1] == pytest.approx(np.exp(-1.0), rel=1e-5)
    assert (result["y"] == 0).all()
    assert result["none.T"].shape == (len(result.time), 0)


def test_a_component_of_another_can_be_compiled_on_its_own():
    class Outer(ac.Component):
        def __init__(self):
            self.inner = Mass()

    model = ac.compile(Outer().inner)
    assert {model.system.name_of_unknown(k) for k in range(model.system.size)} <= {"T", "port.T"}


def test_structural_choices_of_every_type_are_told_apart():
    class Chosen(ac.Component):
        x = ac.Variable()

        def __init__(self, choice):
            self.choice = choice

        def equations(self):
            yield self.x == float(np.sum(self.choice))

    class Many(ac.Component):
        def __init__(self):
            choices = (1, 2.0, True, (1, 2), [3, 4], np.array([5.0, 6.0]), np.array([5.0, 7.0]), 1)
            self.parts = [Chosen(c) for c in choices]

    state = ac.compile(Many()).steady_state()
    assert [state[f"parts[{k}].x"][0] for k in range(8)] == [1.0, 2.0, 1.0, 3.0, 7.0, 11.0, 12.0, 1.0]


def test_conductors_between_every_pair_of_a_list():
    class Star(ac.Component):
        def __init__(self):
            self.ends = [Boundary(T=300.0 + k) for k in range(3)]
            self.links = [Conductor() for _ in range(3)]

        def connections(self):
            for k in range(3):
                yield self.ends[k].port, self.links[k].a
                yield self.links[k].b, self.ends[(k + 1) % 3].port

    state = ac.compile(Star()).steady_state()
    assert [state[f"links[{k}].a.Q_flow"][0] for k in range(3)] == pytest.approx([-1.0, -1.0, 2.0])
    assert sum(state[f"ends[{k}].port.Q_flow"][0] for k in range(3)) == pytest.approx(0.0, abs=1e-12)


def test_a_result_does_not_mind_what_becomes_of_its_components():
    class Outer(ac.Component):
        def __init__(self, inner):
            self.others = ac.array(Mass, 3)
            self.inner = inner

    room = Mass()
    first = ac.compile(room).simulate(until=1.0)
    second = ac.compile(Outer(room)).simulate(until=1.0)
    assert second["inner.T"][0] == 300.0
    assert first["T"][0] == 300.0 and first.names() == first.names("*")
