"""What is assigned to a component, or to what stands for a quantity in equations, and cannot be; the message has the line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import acausal as ac
from acausal.library.thermal import HeatCapacitor


class Room(ac.Component):
    x, u, tau = ac.Variable(start=1.0), ac.Input(), ac.Parameter(10.0, unit="s")

    def equations(self) -> Any:
        yield ac.der(self.x) == self.u


class House(ac.Component):
    def __init__(self) -> None:
        self.room, self.row, self.cap = Room(), ac.array(Room, 3), HeatCapacitor()


def nested() -> list[Any]:
    found: list[Any] = []
    for _ in range(5000):
        found = [found]
    return found


def line_of(stated: Callable[[], Any]) -> str:
    return f"{__file__}:{stated.__code__.co_firstlineno + 1}"


def test_a_value_for_an_unknown_names_the_line() -> None:
    def given() -> None:
        House().room.x = 20.0

    def made() -> None:
        Room(x=20.0)

    def misspelt() -> None:
        House().cap.port = 3.0

    for stated in (given, made, misspelt):
        with pytest.raises(ac.UsageError) as told:
            stated()
        assert line_of(stated) in str(told.value)
    assert "`HeatCapacitor.port` is a connector and cannot be given a value" in str(told.value)
    assert "`port.T`, `port.Q_flow`" in str(told.value)


@pytest.mark.parametrize(
    "path", ["room.x.start", "row.x.start", "row[0].x.start", "room.x.foo", "cap.port.T.foo", "room.x[0]", "row.x[1]"]
)
def test_what_stands_in_equations_is_not_assigned(path: str) -> None:
    with pytest.raises(ac.UsageError, match="stands for the quantity in equations here") as told:
        exec(f"house.{path} = 3.0", {"house": House()})
    assert "try:" in str(told.value)


def test_reading_a_start_outside_of_equations_is_answered() -> None:
    house = House()
    assert not hasattr(house.room.x, "start")
    with pytest.raises(ac.ModelError, match=r"its `start` is part of its declaration(.|\n)*model.explain"):
        house.room.x.start  # noqa: B018


@pytest.mark.parametrize(
    "stated",
    [
        lambda deep: Room(x=deep),
        lambda deep: ac.Variable(shape=deep),
        lambda deep: ac.compile(Room()).simulate(1.0, inputs={"u": deep}),
        lambda deep: ac.compile(Room()).simulate(1.0, inputs={"u": 1.0}, set={"tau": deep}),
        lambda deep: ac.compile(Room()).simulate(deep, inputs={"u": 1.0}),
        lambda deep: ac.compile(Room()).simulate(1.0, inputs={"u": 1.0}, store=deep),
        lambda deep: ac.compile(Room()).simulate(1.0, inputs={"u": 1.0}, start_from={"x": deep}),
        lambda deep: ac.compile(Room()).steady_state(given={"x": deep}, inputs={"u": 0.0}),
        lambda deep: ac.compile(type("Yields", (ac.Component,), {"equations": lambda self: [deep]})()),
    ],
)
def test_a_list_that_nobody_can_show_is_told(stated: Callable[[Any], Any]) -> None:
    with pytest.raises(ac.ModelError, match=r"too deep to be (read|shown)"):
        stated(nested())


def test_a_function_of_the_user_that_calls_itself_is_hers() -> None:
    def endless(t: float) -> float:
        return endless(t)

    with pytest.raises((RecursionError, ac.ModelError, ac.RunFailed)) as told:
        ac.compile(Room()).simulate(1.0, inputs={"u": endless}, on_failure="raise")
    assert "too deep to be" not in str(told.value)
