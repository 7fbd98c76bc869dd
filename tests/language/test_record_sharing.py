"""One record, several owners: other plants, copies of a plant, elements of an array of records."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import acausal as ac


class Geometry(ac.Record):
    L = ac.Parameter(2.0, unit="m")
    d = ac.Parameter(0.1, unit="m")


class Rod(ac.Component):
    A = ac.Variable(unit="m^2")

    def __init__(self, geometry: Any) -> None:
        self.geometry = geometry

    def equations(self) -> Any:
        yield self.A == self.geometry.L * self.geometry.d


class Plant(ac.Component):
    def __init__(self, geometry: Any, keeps: bool = True) -> None:
        if keeps:
            self.geometry = geometry
        self.a, self.b = Rod(geometry), Rod(geometry)


def _areas(plant: Any, **set_: float) -> list[float]:
    result = ac.compile(plant).steady_state(set={k.replace("__", "."): v for k, v in set_.items()})
    return [round(float(result[name][0]), 12) for name in ("a.A", "b.A")]


@pytest.mark.parametrize("keeps", [True, False])
def test_one_record_in_two_plants(keeps: bool) -> None:
    geometry = Geometry(L=3.0)
    first, second = Plant(geometry, keeps), Plant(geometry, keeps)
    assert _areas(first) == _areas(second) == [0.3, 0.3]
    leader = "geometry" if keeps else "a.geometry"
    for plant in (first, second):  # within each plant the others follow the first
        result = ac.compile(plant).steady_state(set={f"{leader}.L": 5.0})
        assert result["b.A"][0] == pytest.approx(0.5)
    third = Plant(second.a.geometry)  # a follower of a follower
    assert _areas(third) == [0.3, 0.3]


def test_a_deep_copy_of_a_plant_shares_within_itself() -> None:
    plant = Plant(Geometry(L=3.0))
    for twin in (copy.deepcopy(plant), copy.copy(plant), copy.deepcopy([plant, 1])[0], copy.deepcopy({"plant": plant})["plant"]):
        assert _areas(twin) == [0.3, 0.3] and _areas(twin, geometry__L=5.0) == [0.5, 0.5]
        twin.geometry.d = 0.2
        assert _areas(twin) == [0.6, 0.6] and _areas(plant) == [0.3, 0.3]


def test_a_deep_copy_of_a_part_leaves_its_plant_behind() -> None:
    plant = Plant(Geometry(L=3.0))
    part = copy.deepcopy(plant.geometry)
    assert part._ac_parent is None and _areas(Plant(part)) == [0.3, 0.3]


def test_elements_of_an_array_of_records() -> None:
    class Rack(ac.Component):
        def __init__(self) -> None:
            self.kinds = ac.array(Geometry, 3, L=np.array([1.0, 2.0, 3.0]))
            self.a, self.b = Rod(self.kinds[0]), Rod(self.kinds[2])
            self.rods = ac.array(Rod, 3, self.kinds)

    model = ac.compile(Rack())
    result = model.steady_state()
    assert [result[n][0] for n in ("a.A", "b.A")] == pytest.approx([0.1, 0.3])
    assert result["rods.A"][0] == pytest.approx([0.1, 0.2, 0.3])
    moved = model.steady_state(set={"kinds[2].L": 4.0})
    assert moved["b.A"][0] == pytest.approx(0.4) and moved["rods.A"][0] == pytest.approx([0.1, 0.2, 0.4])
