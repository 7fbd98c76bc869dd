"""Parts that others take the place of keep what was modified, and are what the plant relies on."""

from __future__ import annotations

from typing import Any

import pytest

import acausal as ac


class Tank(ac.Component):
    A, h = ac.Parameter(1.0), ac.Variable(start=1.0)

    def equations(self) -> Any:
        yield self.A * ac.der(self.h) == -0.1 * self.h


class Advanced(Tank):
    loss = ac.Parameter(0.2)

    def equations(self) -> Any:
        yield self.A * ac.der(self.h) == -self.loss * self.h


class Alien(ac.Component):
    z = ac.Variable(start=1.0)

    def equations(self) -> Any:
        yield ac.der(self.z) == -self.z


class Sub(ac.Component):
    def __init__(self, part: Any = None) -> None:
        self.tank = part or Tank(A=2.0, h=ac.start(3.0, fixed=True))


class Big(ac.Component):
    def __init__(self, part: Any = None) -> None:
        self.sub = Sub(part)


def test_a_part_exchanged_by_path_keeps_what_was_modified() -> None:
    for given in (Advanced(), Advanced):
        model = ac.compile(Big(**{"sub.tank": given}))
        assert model.get("sub.tank.A") == 2.0 and model.get("sub.tank.loss") == 0.2
        assert model.simulate(until=1.0)["sub.tank.h"][0] == 3.0
    own = ac.compile(Big(**{"sub.tank": Advanced(A=5.0)}))
    assert own.get("sub.tank.A") == 5.0 and own.simulate(until=1.0)["sub.tank.h"][0] == 3.0  # what it says itself goes first
    big = Big()
    big.sub.tank = Advanced(loss=0.4)
    assert (ac.compile(big).get("sub.tank.A"), ac.compile(big).get("sub.tank.loss")) == (2.0, 0.4)
    more = ac.compile(Big(**{"sub.tank": Advanced, "sub.tank.loss": 0.7}))
    assert more.get("sub.tank.loss") == 0.7


def test_what_is_no_such_thing_does_not_take_its_place() -> None:
    with pytest.raises(ac.ModelError, match=r"`Sub.tank` is a Tank; an Alien cannot take its place(.|\n)*Derive it from Tank"):
        Big(**{"sub.tank": Alien()})
    big = Big()
    with pytest.raises(ac.ModelError, match="cannot take its place"):
        big.sub.tank = Alien()
    assert isinstance(big.sub.tank, Tank)  # nothing has changed
    with pytest.raises(ac.ModelError, match=r"`Sub.tank` is a component, and 3.0 cannot take its place"):
        Big(**{"sub.tank": 3.0})


class Base(ac.Component):
    h = ac.Variable(start=1.0)


class Round(Base):
    def equations(self) -> Any:
        yield ac.der(self.h) == -self.h


class Square(Base):
    def equations(self) -> Any:
        yield ac.der(self.h) == -2 * self.h


def test_a_replaceable_part_says_what_may_stand_there() -> None:
    def plant(**given: Any) -> Big:
        return Big(ac.replaceable(Round, of=Base, choices=[Round, Square], h=ac.start(4.0, fixed=True)), **given)

    for given in (Square, "Square", Square()):
        big = plant(**{"sub.tank": given})
        assert isinstance(big.sub.tank, Square) and ac.compile(big).simulate(until=0.1)["sub.tank.h"][0] == 4.0
    twice = plant(**{"sub.tank": Square})
    twice.sub.tank = Round()
    assert isinstance(twice.sub.tank, Round)
    with pytest.raises(ac.ModelError, match=r"is a Base; a Tank cannot(.|\n)*Choices: Round, Square"):
        plant(**{"sub.tank": Tank})
    with pytest.raises(ac.ModelError, match=r"`Sub.tank` cannot be 'Sqare'. Did you mean `Square`"):
        plant(**{"sub.tank": "Sqare"})
    with pytest.raises(ac.ModelError, match="Tank cannot be chosen: it is not derived from Base"):
        ac.replaceable(Round, of=Base, choices=[Tank])
    with pytest.raises(ac.ModelError, match="takes a component or a class of components, got 3"):
        ac.replaceable(3)


def test_arrays_are_exchanged_whole() -> None:
    class Row(ac.Component):
        def __init__(self) -> None:
            self.tanks = ac.array(Tank, 3, A=[1.0, 2.0, 3.0])

    model = ac.compile(Row(tanks=Advanced))
    assert model.get("tanks.A").tolist() == [1.0, 2.0, 3.0] and model.get("tanks.loss").tolist() == [0.2] * 3
    with pytest.raises(ac.ModelError, match=r"is an array of components of shape \(3,\)"):
        Row(tanks=ac.array(Advanced, 4))


def test_structural_choices_are_texts_and_enumerations_too() -> None:
    import enum

    class Law(enum.Enum):
        LINEAR, QUADRATIC = 1, 2

    class Valve(ac.Component):
        x = ac.Variable(start=1.0)

        def __init__(self, law: Law = Law.LINEAR, name: str = "a") -> None:
            self.law, self.label = law, name

        def equations(self) -> Any:
            yield ac.der(self.x) == -(self.x if self.law is Law.LINEAR else self.x**2) * (2 if self.label == "b" else 1)

    class Both(ac.Component):
        def __init__(self) -> None:
            self.a, self.b, self.c = Valve(), Valve(Law.QUADRATIC), Valve(name="b")

    result = ac.compile(Both()).simulate(until=1.0, rtol=1e-8)
    assert [result[f"{n}.x"][-1] for n in "abc"] == pytest.approx([0.36787944, 0.5, 0.13533528], rel=1e-5)
