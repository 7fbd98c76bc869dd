"""Components that differ in a table are of one kind: the table is data, the equations are those of each alone."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.language.table_sets import TableSet

X = np.linspace(0.0, 4.0, 9)


def curve(k: int, **options: Any) -> ac.Table:
    return ac.Table(X, np.tanh(X * (1 + 0.1 * k)) + 0.05 * k, **options)


class Fan(ac.Component):
    x = ac.Variable(start=2.0, fixed=True)

    def __init__(self, curve: Any, gain: float = 1.0) -> None:
        self.curve, self.gain = curve, gain

    def equations(self) -> Iterator[Any]:
        self.flow = self.curve(self.x)
        yield ac.der(self.x) == -self.gain * self.flow


class Fans(ac.Component):
    def __init__(self, fans: list[ac.Component]) -> None:
        self.fans = fans


def kinds(model: ac.Model, name: str = "Fan") -> int:
    return sum(k.name == name for k in model.system.plant.kinds)


@pytest.fixture(scope="module")
def many() -> ac.Model:
    return ac.compile(Fans([Fan(curve(k % 7), gain=1.0 + 0.1 * (k % 3)) for k in range(40)]))


def test_one_kind_and_the_kernels_of_one(many: ac.Model) -> None:
    one = ac.compile(Fans([Fan(curve(0))]))
    assert kinds(many) == 1
    assert len(many.problem.code) == len(one.problem.code)


def test_each_has_its_own_table(many: ac.Model) -> None:
    result = many.simulate(until=1.0, points=5, rtol=1e-9)
    for k in (0, 1, 6, 13, 39):
        alone = ac.compile(Fan(curve(k % 7), gain=1.0 + 0.1 * (k % 3))).simulate(until=1.0, points=5, rtol=1e-9)
        np.testing.assert_allclose(result[f"fans[{k}].x"], alone["x"], rtol=1e-7)
        np.testing.assert_allclose(result[f"fans[{k}].flow"], curve(k % 7)(result[f"fans[{k}].x"]), rtol=1e-14)


def test_kept_and_read_again_it_is_the_same(many: ac.Model, tmp_path: Path) -> None:
    many.save(tmp_path / "fans.acm")
    first = many.simulate(until=0.5, points=3)
    for again in (pickle.loads(pickle.dumps(many)), ac.load(tmp_path / "fans.acm")):
        second = again.simulate(until=0.5, points=3)
        for k in (0, 5, 39):
            np.testing.assert_array_equal(first[f"fans[{k}].x"], second[f"fans[{k}].x"])


def test_tables_of_two_arguments_and_their_derivatives() -> None:
    class Map(ac.Component):
        x, y = ac.Variable(start=1.0, fixed=True), ac.Variable()

        def __init__(self, k: int) -> None:
            self.map = ac.Table2D(X, X, np.add.outer(X**2, (1 + k) * X) / 10)

        def equations(self) -> Iterator[Any]:
            yield ac.der(self.x) == -self.map(self.x, self.y)
            yield self.y == 2.0 - self.map(self.y, self.x)

    model = ac.compile(Fans([Map(k) for k in range(5)]))
    assert kinds(model, "Map") == 1
    result = model.simulate(until=1.0, points=3, rtol=1e-9)
    for k in range(5):
        alone = ac.compile(Map(k)).simulate(until=1.0, points=3, rtol=1e-9)
        np.testing.assert_allclose(result[f"fans[{k}].y"], alone["y"], rtol=1e-7)


@pytest.mark.parametrize("case", ["linear", "of time", "decides", "asks"])
def test_what_cannot_be_data_makes_kinds_of_its_own(case: str) -> None:
    class Other(Fan):
        def equations(self) -> Iterator[Any]:
            argument = ac.time if case == "of time" else self.x
            factor = 2.0 if case == "decides" and self.curve.y[-1] > 1.1 else 1.0
            slope = self.curve.derivative()(self.x) if case == "asks" else 0.0
            yield ac.der(self.x) == -factor * self.curve(argument) + slope

    options = {"method": "linear"} if case == "linear" else {}
    model = ac.compile(Fans([Other(curve(k, **options)) for k in range(3)]))
    assert kinds(model, "Other") == 3
    result = model.simulate(until=0.5, points=3)
    for k in range(3):
        np.testing.assert_allclose(
            result[f"fans[{k}].x"], ac.compile(Other(curve(k, **options))).simulate(until=0.5, points=3)["x"], rtol=1e-5
        )


def test_messages_show_the_table_as_it_was_written(many: ac.Model) -> None:
    texts = [str(e.residual) for t in many.system.traced for e in t.equations]
    assert any("table(x)" in text for text in texts), texts


def test_a_set_is_its_tables() -> None:
    tables = [curve(k) for k in range(3)]
    both = TableSet(tables)
    which, x = np.array([0.0, 2.0, 1.0, 2.0]), np.array([0.3, 1.7, -1.0, 9.0])
    np.testing.assert_array_equal(both(which, x), [tables[int(k)](v) for k, v in zip(which, x, strict=True)])
    assert TableSet(tables) is both and pickle.loads(pickle.dumps(both)) is both
