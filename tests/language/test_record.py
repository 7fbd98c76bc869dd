"""Records: groups of parameters that travel as one value."""

from __future__ import annotations

import json
import pickle

import pytest

import acausal as ac


class Geometry(ac.Record):
    d = ac.Parameter(0.02, unit="m", min=0)
    L = ac.Parameter(1.0, unit="m")


class Pipe(ac.Component):
    V = ac.Variable(unit="m^3")

    def __init__(self, geometry=None):
        self.geometry = geometry or Geometry()

    def equations(self):
        yield self.V == self.geometry.d**2 * self.geometry.L


class Plant(ac.Component):
    def __init__(self, count=3):
        self.geometry = Geometry(d="50 mm")
        self.a, self.b = Pipe(self.geometry), Pipe(self.geometry)
        self.row = ac.array(Pipe, count, geometry=self.geometry)


def volumes(model, **more):
    result = model.steady_state(**more)
    return [float(result["a.V"][0]), float(result["b.V"][0]), *result["row.V"][0].tolist()]


def test_all_that_share_a_record_follow_it():
    model = ac.compile(Plant())
    assert volumes(model) == pytest.approx([0.0025] * 5)
    assert volumes(model, set={"geometry.d": "100 mm"}) == pytest.approx([0.01] * 5)
    assert volumes(model, set={"geometry.L": 2.0, "b.geometry.L": 4.0}) == pytest.approx([0.005, 0.01, 0.005, 0.005, 0.005])
    assert volumes(model, set={"row[1].geometry.d": 0.1}) == pytest.approx([0.0025, 0.0025, 0.0025, 0.01, 0.0025])


def test_a_record_in_the_place_of_another_keeps_what_it_says_nothing_of():
    plant = Plant()
    plant.geometry = Geometry(L=3.0)
    assert volumes(ac.compile(plant)) == pytest.approx([0.0075] * 5)
    assert volumes(ac.compile(Plant(**{"geometry.d": 0.1}))) == pytest.approx([0.01] * 5)


def test_who_takes_it_first_has_it():
    class Pair(ac.Component):
        def __init__(self):
            shared = Geometry(d=0.1)
            self.a, self.b = Pipe(shared), Pipe(shared)

    result = ac.compile(Pair()).steady_state(set={"a.geometry.d": 0.2})
    assert result["b.V"][0] == pytest.approx(0.04)


def test_models_with_records_are_pickled():
    model = pickle.loads(pickle.dumps(ac.compile(Plant())))
    assert volumes(model, set={"geometry.d": "100 mm"}) == pytest.approx([0.01] * 5)


def test_a_catalogue(tmp_path):
    file = tmp_path / "pipes.json"
    file.write_text(json.dumps({"DN50": {"d": "53 mm"}, "DN80": {"d": 0.08, "L": 3.0}, "worn": {"dd": 1.0}, "flat": 3}))
    assert ac.compile(Pipe(Geometry.of(file, "DN50"))).get("geometry.d") == pytest.approx(0.053)
    assert ac.compile(Pipe(Geometry.of(file, "DN80"))).get("geometry.L") == 3.0
    for name, message in {"DN5": "no `DN5`.*Did you mean `DN50`", "worn": "has no.*dd", "flat": "is 3, not a group"}.items():
        with pytest.raises(ac.ModelError, match=f"(?s){message}"):
            Geometry.of(file, name)
    file.write_text("{")
    with pytest.raises(ac.ModelError, match="is not JSON"):
        Geometry.of(file, "DN50")
    with pytest.raises(ac.ModelError, match="cannot be read: No such file"):
        Geometry.of(tmp_path / "none.json", "DN50")


def test_a_record_has_parameters_only():
    with pytest.raises(ac.ModelError, match="`v` of Wrong is a Variable: a record has parameters only"):
        type("Wrong", (ac.Record,), {"v": ac.Variable()})


def test_misspelt_parameters_are_refused():
    with pytest.raises(ac.ModelError, match=r"has no `dd`\. Did you mean `d`"):
        ac.compile(Plant()).simulate(until=1.0, set={"geometry.dd": 0.1})
    with pytest.raises(ac.ModelError, match="a Pipe cannot take its place"):
        Plant().geometry = Pipe()


class Wall(ac.Record):
    k = ac.Parameter(2.0)

    def __init__(self, layers=1, geometry=None):
        self.layers = layers
        self.geometry = geometry or Geometry()


class Walled(ac.Component):
    y = ac.Variable(unit="m^2")

    def __init__(self, wall):
        self.wall = wall

    def equations(self):
        yield self.y == self.wall.k * self.wall.layers * self.wall.geometry.d * self.wall.geometry.L


class House(ac.Component):
    def __init__(self):
        self.wall = Wall(3, Geometry(d=0.5))
        self.a, self.b = Walled(self.wall), Walled(self.wall)


def test_a_record_within_a_record_and_arguments_of_its_own_are_shared():
    model = ac.compile(House())
    for given, y in (({}, 3.0), ({"wall.geometry.L": 2.0, "wall.k": 1.0}, 3.0), ({"wall.geometry.d": 1.0}, 6.0)):
        result = model.steady_state(set=given)
        assert [float(result[f"{name}.y"][0]) for name in "ab"] == pytest.approx([y, y])


def test_what_a_class_has_as_a_part_follows_its_own_record():
    class Town(ac.Component):
        one, other = House(), House()

    result = ac.compile(Town()).steady_state(set={"one.wall.geometry.L": 2.0, "other.wall.k": 4.0})
    assert [float(result[f"{name}.y"][0]) for name in ("one.a", "one.b", "other.a", "other.b")] == pytest.approx([6, 6, 6, 6])
    assert float(ac.compile(Town()).steady_state()["one.b.y"][0]) == pytest.approx(3.0)


def test_what_a_class_has_as_a_part_hands_its_parameters_on():
    class Part(ac.Component):
        R, y = ac.Parameter(1.0), ac.Variable()

        def equations(self):
            yield self.y == self.R

    class Whole(ac.Component):
        R = ac.Parameter(5.0)

        def __init__(self):
            self.part = Part(R=2 * self.R)
            self.row = ac.array(Part, 2, R=3 * self.R)

    class Top(ac.Component):
        one, other = Whole(), Whole(R=1.0)

    result = ac.compile(Top()).steady_state(set={"one.R": 7.0})
    found = [float(result["one.part.y"][0]), *result["one.row.y"][0], float(result["other.part.y"][0])]
    assert found == pytest.approx([14.0, 21.0, 21.0, 2.0])
