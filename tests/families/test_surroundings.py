"""What is around is known to everything inside: one world, many worlds, worlds in arrays; and none, or two, is told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acausal as ac


class Ambient(ac.Component):
    T = ac.Parameter(280.0, unit="K")
    wind = ac.Variable(unit="m/s")
    gusts = ac.Input(2.0, unit="m/s")

    def equations(self) -> Any:
        yield self.wind == 2 * self.gusts


class Body(ac.Component):
    ambient = ac.outer(Ambient)
    T = ac.Variable(start=350.0, unit="K")
    cooling = ac.Variable(unit="m/s")
    tau = ac.Parameter(10.0, unit="s")

    def equations(self) -> Any:
        yield self.tau * ac.der(self.T) == self.ambient.T - self.T
        yield self.cooling == self.ambient.wind + self.ambient.gusts


class Shelf(ac.Component):
    def __init__(self, n: int = 2) -> None:
        self.bodies = ac.array(Body, n)
        self.single = Body()


class House(ac.Component):
    def __init__(self, T: Any = 280.0) -> None:
        self.ambient, self.shelf = Ambient(T=T), Shelf()


def test_a_world_is_known_however_deep() -> None:
    model = ac.compile(House(T=270.0))
    state = model.steady_state(inputs={"ambient.gusts": 3.0})
    np.testing.assert_allclose(state["shelf.bodies.T"][0], [270.0, 270.0])
    assert state["shelf.single.cooling"][0] == 9.0 and state["shelf.single.ambient.T"][0] == 270.0
    assert model.steady_state(set={"ambient.T": 275.0})["shelf.single.T"][0] == pytest.approx(275.0)
    assert model.problem.size == 3  # three temperatures: what is around costs nothing


def test_each_house_has_its_own() -> None:
    class Street(ac.Component):
        def __init__(self) -> None:
            self.ambient = Ambient(T=260.0)
            self.houses = ac.array(House, 3)
            self.lamp, self.villa = Body(), House(T=290.0)

    state = ac.compile(Street()).set({"houses.ambient.T": [281.0, 282.0, 283.0]}).steady_state()
    np.testing.assert_allclose(state["houses.shelf.bodies.T"][0], [[281.0] * 2, [282.0] * 2, [283.0] * 2])
    np.testing.assert_allclose(state["houses.shelf.single.T"][0], [281.0, 282.0, 283.0])
    assert (state["lamp.T"][0], state["villa.shelf.single.T"][0]) == pytest.approx((260.0, 290.0))


def test_a_component_may_be_the_world_itself() -> None:
    class Planet(Ambient):
        def __init__(self) -> None:
            self.body = Body()

    assert ac.compile(Planet(T=100.0)).steady_state()["body.T"][0] == pytest.approx(100.0)


def test_no_world_and_two_worlds_are_told() -> None:
    with pytest.raises(ac.ModelError, match=r"`the model` \(Body\) needs an Ambient around it(.|\n)*self.ambient = Ambient\(\)"):
        ac.compile(Body())

    class Torn(ac.Component):
        def __init__(self) -> None:
            self.north, self.south, self.body = Ambient(), Ambient(), Body()

    with pytest.raises(ac.ModelError, match=r"Torn has 2 of Ambient, and `body` \(Body\) cannot tell(.|\n)*north(.|\n)*south"):
        ac.compile(Torn())
    with pytest.raises(ac.ModelError, match="takes a class of components, got 3"):
        ac.outer(3)  # type: ignore[arg-type]
    with pytest.raises(ac.ModelError, match=r"An Ambient has no `t`. Did you mean `T`"):
        _ = Body().ambient.t
