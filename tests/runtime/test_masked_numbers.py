"""Masked elements of numpy's arrays are no numbers: numpy takes what lies below the mask, or 0."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import acausal as ac

GAPS = np.ma.array([1.0, 99.0, 3.0], mask=[False, True, False])
WHOLE = np.ma.array([1.0, 2.0, 3.0], mask=[False, False, False])


class Row(ac.Component):
    k, u = ac.Parameter(1.0), ac.Input(0.0)
    c, v = ac.Parameter(np.ones(3)), ac.Input(0.0, shape=3)
    x, y = ac.Variable(start=0.0, fixed=True), ac.Variable(shape=3, start=0.0, fixed=True)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == self.k * self.u
        yield ac.der(self.y) == self.c * self.v


@pytest.fixture(scope="module")
def row() -> ac.Model:
    return ac.compile(Row())


@pytest.mark.parametrize(
    "options",
    [
        {"set": {"k": np.ma.masked}},
        {"set": {"c": GAPS}},
        {"inputs": {"u": ([0.0, 1.0, 2.0], GAPS)}},
        {"inputs": {"u": (GAPS, [0.0, 1.0, 2.0])}},
        {"inputs": {"u": ac.data([0.0, 1.0, 2.0], GAPS, unit="%")}},
        {"inputs": {"u": lambda t: GAPS[1]}},
        {"inputs": {"v": GAPS}},
        {"inputs": {"v": lambda t: GAPS}},
        {"inputs": {"v": ([0.0, 1.0], np.ma.array(np.ones((2, 3)), mask=np.eye(2, 3)))}},
        {"start_from": {"x": np.ma.masked}},
        {"start_from": {"y": GAPS}},
    ],
)
def test_what_is_masked_is_refused(row: ac.Model, options: dict[str, Any]) -> None:
    with pytest.raises(ac.AcausalError, match="finite"):
        row.simulate(until=2.0, **options)


@pytest.mark.parametrize(
    "make",
    [
        lambda: ac.hold([0.0, 1.0, 2.0], GAPS),
        lambda: ac.Table([0.0, 1.0, 2.0], GAPS),
        lambda: ac.compile(Row(k=np.ma.masked)),
        lambda: ac.compile(Row(c=GAPS)),
        lambda: Row().y == GAPS,
        lambda: Row().x + np.ma.masked,
    ],
)
def test_so_it_is_where_models_are_stated(make: Any) -> None:
    with pytest.raises(ac.AcausalError, match=r"finite|masked"):
        make()


def test_an_array_with_nothing_masked_is_an_array(row: ac.Model) -> None:
    found = row.simulate(until=2.0, set={"c": WHOLE}, inputs={"u": ([0.0, 1.0, 2.0], WHOLE), "v": WHOLE})
    np.testing.assert_allclose(found["x"][-1], 4.0, rtol=1e-6)
    np.testing.assert_allclose(found["y"][-1], 2.0 * np.array([1.0, 4.0, 9.0]), rtol=1e-6)
