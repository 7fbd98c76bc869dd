"""What is ordinary in Python is ordinary in a component: properties, slots, calls of the base class, private names."""

from __future__ import annotations

import copy
import inspect
import pickle
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import acausal as ac


class Decay(ac.Component):
    x, k = ac.Variable(start=1.0, fixed=True), ac.Parameter(1.0)

    def equations(self) -> Any:
        yield ac.der(self.x) == -self.k * self.x


class Pair(ac.Component):
    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = a, b


def rate(component: ac.Component, name: str = "x") -> float:
    """How fast it decays."""
    return float(-np.log(ac.compile(component).simulate(until=1.0, rtol=1e-9)[name][-1]))


class Turning(Decay):
    def __init__(self, speed: float) -> None:
        self._speed = speed

    @property
    def speed(self) -> float:
        return self._speed

    @speed.setter
    def speed(self, value: float) -> None:
        self._speed = value

    @property
    def twice(self) -> float:
        return 2.0 * self._speed

    def equations(self) -> Any:
        yield ac.der(self.x) == -self.speed * self.x


def test_a_property_is_assigned_through_its_setter() -> None:
    one, other = Turning(1.0), Turning(1.0)
    other.speed = 3.0
    result = ac.compile(Pair(one, other)).simulate(until=1.0, rtol=1e-9)
    np.testing.assert_allclose(-np.log([result["a.x"][-1], result["b.x"][-1]]), [1.0, 3.0], rtol=1e-6)
    with pytest.raises(ac.UsageError, match="`twice` of Turning is a property, and cannot be assigned 6"):
        one.twice = 6.0  # type: ignore[misc]


def test_slots_are_assigned_as_attributes_are() -> None:
    class Slotted(Decay):
        __slots__ = ("speed",)

        def __init__(self, speed: float) -> None:
            self.speed = speed

        def equations(self) -> Any:
            yield ac.der(self.x) == -self.speed * self.x

    result = ac.compile(Pair(Slotted(1.0), Slotted(3.0))).simulate(until=1.0, rtol=1e-9)
    np.testing.assert_allclose(-np.log([result["a.x"][-1], result["b.x"][-1]]), [1.0, 3.0], rtol=1e-6)


@dataclass(slots=True)
class Made(ac.Component):
    speed: float = 2.0
    x = ac.Variable(start=1.0, fixed=True)

    def equations(self) -> Any:
        yield ac.der(self.x) == -self.speed * self.x


def test_a_component_may_be_a_dataclass_with_slots() -> None:
    assert rate(Made()) == pytest.approx(2.0, rel=1e-6) and rate(Made(3.0)) == pytest.approx(3.0, rel=1e-6)


def test_init_of_the_base_takes_modifications() -> None:
    class Handed(Decay):
        def __init__(self, speed: float) -> None:
            super().__init__(k=speed)

    class Passed(Decay):
        def __init__(self, factor: float = 1.0, **others: Any) -> None:
            super().__init__(**others)
            self.factor = factor

    assert rate(Handed(3.0)) == pytest.approx(3.0, rel=1e-6) and rate(Passed(2.0, k=4.0)) == pytest.approx(4.0, rel=1e-6)
    with pytest.raises(ac.UsageError, match="Passed has no `kk` that could be given a value"):
        Passed(kk=4.0)
    assert list(inspect.signature(Decay).parameters) == ["k", "x"]


def test_a_parameter_may_be_called_cls() -> None:
    class Sorted(Decay):
        cls = ac.Parameter(1.0)

        def equations(self) -> Any:
            yield ac.der(self.x) == -self.cls * self.x

    assert rate(Sorted(cls=3.0)) == pytest.approx(3.0, rel=1e-6)


def test_a_private_name_that_init_declares_is_declared() -> None:
    class Private(ac.Component):
        def __init__(self) -> None:
            self._x = ac.Variable(start=1.0, fixed=True)
            self.__k = ac.Parameter(3.0)

        def equations(self) -> Any:
            yield ac.der(self._x) == -self.__k * self._x

    made = Private()
    assert ac.compile(made).get("_Private__k") == 3.0
    for one in (made, copy.copy(made), copy.deepcopy(made)):
        assert rate(one, "_x") == pytest.approx(3.0, rel=1e-6)
    assert rate(pickle.loads(pickle.dumps(Decay(k=2.0)))) == pytest.approx(2.0, rel=1e-6)
    with pytest.raises(AttributeError):
        made._y  # noqa: B018


class Terms(Decay):
    """What its `__init__` makes of its parameter lies in lists."""

    def __init__(self) -> None:
        self.terms = {"first": [self.k], "others": (2.0 * self.k, {"last": 3.0 * self.k})}
        self.ring: list[Any] = [self.terms]
        self.ring.append(self.ring)

    def equations(self) -> Any:
        (first,), (second, others) = self.terms["first"], self.terms["others"]
        yield ac.der(self.x) == -(first + second + others["last"]) * self.x


def test_expressions_in_lists_of_a_copy_speak_of_the_copy() -> None:
    one = Terms(k=1.0)
    other = copy.deepcopy(one)
    other.k = 0.5
    result = ac.compile(Pair(one, other)).simulate(until=1.0, rtol=1e-9)
    np.testing.assert_allclose(-np.log([result["a.x"][-1], result["b.x"][-1]]), [6.0, 3.0], rtol=1e-5)


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("time", lambda: ac.named(2.0 * ac.time), "it is that of the time of a run"),
        ("der(x)", lambda: ac.named(2.0 * ac.time), "which is not a name"),
        ("cell 1", Decay, "'cell 1', which is not a name"),
        ("cell 1", lambda: ac.array(Decay, 2), "'cell 1', which is not a name"),
        ("a.b", lambda: [Decay()], "'a.b', which is not a name"),
        ("µ", ac.Variable, "declares `µ`, which Python reads as `μ`"),  # the sign for a millionth, and the letter
        ("connections", Decay, "it is that of the method"),
        ("events", lambda: [1, 2], "it is that of the method"),
        ("equations", lambda: ac.named(2.0 * ac.time), "it is that of the method"),
    ],
)
def test_what_nobody_could_ask_for_is_refused_where_it_is_assigned(name: str, value: Callable[[], Any], told: str) -> None:
    with pytest.raises(ac.UsageError, match=re.escape(told)):
        setattr(ac.Component(), name, value())


def test_an_iterator_that_equations_read_is_not_used_up() -> None:
    """The second compilation had what the first one left of it, and other numbers without a word."""

    class Decays(ac.Component):
        x = ac.Variable(start=1.0, fixed=True)

        def __init__(self, rates: list[float]) -> None:
            self.rates = iter(rates)

        def equations(self) -> Any:
            yield ac.der(self.x) == -next(self.rates) * self.x

    plant = Decays([1.0, 2.0, 3.0])
    for _ in range(2):
        assert ac.compile(plant).simulate(until=1.0)["x"][-1] == pytest.approx(np.exp(-1.0), rel=1e-4)
    assert list(plant.rates) == [1.0, 2.0, 3.0]
