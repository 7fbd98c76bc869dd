"""Arrays of components: numbers given after construction, to all elements and to some."""

from __future__ import annotations

import numpy as np
import pytest

import acausal as ac
from acausal.errors import UsageError


class Layer(ac.Component):
    area = ac.Parameter(2.0, unit="m^2", min=0)
    bare = ac.Parameter()
    profile = ac.Parameter([1.0, 2.0], shape=2)
    T = ac.Variable(start=300.0, fixed=True, unit="K")
    free = ac.Variable()

    def equations(self):
        yield ac.der(self.T) == -self.area * (self.T - 290) * self.bare * self.profile[0]
        yield self.free == 2 * self.T


class Wall(ac.Component):
    def __init__(self, n=3):
        self.layer = ac.array(Layer, n, bare=1.0)


class House(ac.Component):
    def __init__(self, change=lambda house: None):
        self.wall = Wall()
        self.rooms = ac.array(Wall, 2)
        change(self)


def house(change):
    return ac.compile(House(change), units=False)


def test_all_elements():
    def change(house):
        house.wall.layer.T = ac.start(310.0)
        house.wall.layer.area = [1.0, 2.0, 3.0]
        house.rooms.layer.area = 7.0

    model = house(change)
    result = model.simulate(until=1e-3, points=2)
    assert result["wall.layer.T"][0].tolist() == [310.0, 310.0, 310.0]
    assert result["rooms.layer.T"][0].tolist() == [[300.0] * 3] * 2
    assert model.get("wall.layer.area").tolist() == [1.0, 2.0, 3.0]
    assert model.get("rooms.layer.area").tolist() == [[7.0] * 3] * 2


def test_some_elements():
    def change(house):
        layer = house.wall.layer
        layer[0].area = 3.0
        layer[1:].T = ac.start([305.0, 306.0])
        layer[-1].area = "50 cm^2"
        layer[2].area = ac.modify(max=10.0)
        layer[1].profile = [5.0, 6.0]

    model = house(change)
    np.testing.assert_allclose(model.get("wall.layer.area"), [3.0, 2.0, 5e-3])
    assert model.get("wall.layer.profile").tolist() == [[1.0, 2.0], [5.0, 6.0], [1.0, 2.0]]
    assert model.simulate(until=1e-3, points=2)["wall.layer.T"][0].tolist() == [300.0, 305.0, 306.0]
    assert model.get("rooms.layer.area").tolist() == [[2.0] * 3] * 2
    model.set({"wall.layer[1].area": 20.0})
    with pytest.raises(ac.ModelError, match=r"`wall.layer\[2\].area` = 20 m\^2 is out of its range: it must be from 0 to 10 m\^2"):
        model.set({"wall.layer[2].area": 20.0})
        model.simulate(until=1.0)


def test_an_array_that_is_not_part_of_anything_yet():
    class Other(ac.Component):
        def __init__(self):
            layers = ac.array(Layer, 2, bare=1.0)
            layers[1].area = 9.0
            self.layers = layers

    assert ac.compile(Other(), units=False).get("layers.area").tolist() == [2.0, 9.0]


@pytest.mark.parametrize(
    "change, told",
    [
        (lambda h: setattr(h.wall.layer, "aera", 3.0), r"no `aera`.*Did you mean `area`"),
        (lambda h: setattr(h.wall.layer, "T", 3.0), r"`Layer\.T` is an unknown"),
        (lambda h: setattr(h.wall.layer[0], "T", 3.0), r"`Layer\.T` is an unknown"),
        (lambda h: setattr(h.wall.layer[0], "aera", 3.0), "only parameters and variables of single elements"),
        (lambda h: setattr(h.wall.layer[0], "area", h.wall.layer[1].bare), "can be given numbers for `area`"),
        (lambda h: setattr(h.wall.layer[0], "area", [1.0, 2.0]), r"takes numbers of shape \(\)"),
        (lambda h: setattr(h.wall.layer[0], "T", ac.modify(doc="warm")), "the same for all elements"),
        (lambda h: setattr(h.wall.layer[0], "free", ac.start(3.0)), "have no start of `free` yet"),
        (lambda h: setattr(h.rooms[0].layer, "area", 3.0), "share their numbers"),
    ],
)
def test_what_is_refused(change, told):
    with pytest.raises(UsageError, match=told):
        House(change)
