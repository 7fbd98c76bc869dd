"""Expressions of components around, in lists of elements, and axes of sums."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.errors import ModelError, ShapeError


class _Given(ac.Component):
    p = ac.Parameter(1.0)
    y = ac.Variable()

    def __init__(self, factor) -> None:
        self.factor = factor

    def equations(self) -> Any:
        self.product = self.factor * self.p
        yield self.y == self.p


def test_expressions_of_a_component_around_stay_its_own():
    """An expression of the plant that parts hold was read as one of theirs where it named a quantity that they have as well."""

    class Plant(ac.Component):
        p = ac.Parameter(10.0)
        z, w = ac.Variable(shape=2), ac.Variable()

        def __init__(self) -> None:
            self.c = ac.array(_Given, 2, self.p * 2, p=np.array([4.0, 5.0]))
            self.d, self.e = _Given(self.p * 2, p=4.0), _Given(self.p * 2, p=5.0)

        def equations(self) -> Any:
            yield self.z == self.c.factor
            yield self.w == self.d.product + self.e.product

    result = ac.compile(Plant()).steady_state()
    assert result["z"][-1] == pytest.approx([20.0, 20.0])
    assert result["w"][-1] == pytest.approx(180.0)


class _Holding(ac.Component):
    p = ac.Parameter(1.0)
    v = ac.Parameter(np.array([1.0, 2.0]))
    y = ac.Variable()

    def __init__(self) -> None:
        self.few = [self.v[1], self.p * 2]
        self.by_name = {"turned": (self.v[::-1], 3)}
        self.numbers = [1.0, 2.0]
        self.helper = SimpleNamespace(last=self.v[1])

    def equations(self) -> Any:
        yield self.y == self.few[0]


def _read(what, shape):
    class Plant(ac.Component):
        z = ac.Variable(shape=shape)

        def __init__(self) -> None:
            self.c = ac.array(_Holding, 2, p=np.array([4.0, 5.0]), v=np.array([[4.0, 5.0], [6.0, 7.0]]))
            assert self.c.numbers is self.c._element.numbers

        def equations(self) -> Any:
            yield self.z == what(self)

    return ac.compile(Plant()).steady_state()["z"][-1]


@pytest.mark.parametrize(
    ("what", "wanted"),
    [
        (lambda s: s.c.few[0], [5.0, 7.0]),
        (lambda s: s.c.few[1], [8.0, 10.0]),
        (lambda s: s.c[1].few[0], 7.0),
        (lambda s: s.c.by_name["turned"][0], [[5.0, 4.0], [7.0, 6.0]]),
    ],
)
def test_expressions_in_lists_are_those_of_the_elements(what, wanted):
    """What elements of an array hold in a list was read as that of the first element, or ended in an error of numpy."""
    assert _read(what, np.shape(wanted)) == pytest.approx(np.array(wanted))


def test_expressions_in_objects_of_elements_are_refused():
    """What an object that elements of an array hold knows of them was read as that of the first element."""
    with pytest.raises(ModelError, match="of a single element of an array"):
        _read(lambda s: s.c.helper.last, (2,))


def test_axes_of_sums():
    """An axis that was named twice ended in an error of numpy, and a whole number of numpy's in one of Python."""
    x = ac.Variable(shape=(2, 3))

    class Holder(ac.Component):
        def __init__(self) -> None:
            self.x = x

    node = Holder().x
    assert ac.sum(node, axis=np.int64(1)).shape == (2,)
    assert ac.sum(node, axis=(0, -1)).shape == ()
    for twice in ((0, 0), (0, -2)):
        with pytest.raises(ShapeError, match="over axis"):
            ac.sum(node, axis=twice)
