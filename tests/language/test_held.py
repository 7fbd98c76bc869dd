"""Components that only a helper object knows: found wherever they can be reached from an attribute, and told."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

import acausal as ac


class Decay(ac.Component):
    x, k = ac.Variable(start=1.0), ac.Parameter(1.0)

    def equations(self) -> Any:
        yield ac.der(self.x) == -self.k * self.x


class Helper:
    def __init__(self, part: Any) -> None:
        self.part = part

    def ask(self) -> Any:
        return self.part


class Slotted:
    __slots__ = ("__dict__", "part")

    def __init__(self, part: Any) -> None:
        self.part = part


@dataclass(slots=True)
class Record:
    part: Any


class Pair(NamedTuple):
    one: Any
    other: Any


def closure(part: Any) -> Callable[[], Any]:
    return lambda: part


SHAPES: dict[str, Callable[[Any], Any]] = {
    "object": Helper,
    "slots": Slotted,
    "dataclass": Record,
    "object in a list": lambda part: [1, Helper(part)],
    "object in an object": lambda part: Helper(Helper(part)),
    "dictionary of lists": lambda part: Helper({"a": [part]}),
    "namespace": lambda part: Helper(SimpleNamespace(part=part)),
    "deep list": lambda part: [[[[[[[part]]]]]]],
    "closure": closure,
    "default": lambda part: lambda given=part: given,
    "partial": lambda part: partial(max, part),
    "method": lambda part: Helper(part).ask,
    "class": lambda part: type("Kept", (), {"part": part})(),
    "iterator": lambda part: itertools.cycle([part]),
    "named tuple": lambda part: Helper(Pair(1, part)),
    "array": lambda _: Helper(ac.array(Decay, 3)),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_component_that_only_a_helper_knows_is_told(shape: str) -> None:
    class Whole(ac.Component):
        def __init__(self) -> None:
            self.part, self.held = Decay(), SHAPES[shape](Decay())

    class OfClass(ac.Component):
        held = SHAPES[shape](Decay())

    for whole in (Whole, OfClass):
        if whole is OfClass and shape in ("closure", "default", "method"):
            continue  # a method of the component's
        with pytest.raises(ac.ModelError, match=r"`held[^ ]*` of .* is a Decay within .* where it is not seen: it is not part"):
            ac.compile(whole())


@pytest.mark.parametrize("shape", [s for s in SHAPES if s != "array"])
def test_a_helper_may_hold_a_part(shape: str) -> None:
    """Of its own component, of the whole, and the whole itself."""

    class Whole(ac.Component):
        def __init__(self) -> None:
            self.part, self.other = Decay(), Decay(k=2.0)
            self.part.beside = SHAPES[shape](self.other)
            self.mine, self.all = SHAPES[shape](Helper(self.part)), Helper(self)

    Decay.beside = None
    try:
        whole = Whole()
        for one in (whole, copy.copy(whole)):
            result = ac.compile(one).simulate(1.0, rtol=1e-8)
            assert [result["part.x"][-1], result["other.x"][-1]] == pytest.approx(np.exp([-1.0, -2.0]), rel=1e-6)
        assert ac.compile(whole.part).simulate(1.0, rtol=1e-8)["x"][-1] == pytest.approx(np.exp(-1.0), rel=1e-6)
    finally:
        del Decay.beside


def test_what_a_function_of_a_copy_knows_is_the_original() -> None:
    """Parts in a class body are copied for every component, with all they hold but functions."""

    class Asking(Decay):
        def __init__(self) -> None:
            self.rate = lambda: 3.0 * (self is not None)

        def equations(self) -> Any:
            yield ac.der(self.x) == -self.rate() * self.x

    class House(ac.Component):
        room = Asking()

    for whole in (House(), copy.copy(House())):
        assert ac.compile(whole).simulate(1.0, rtol=1e-8)["room.x"][-1] == pytest.approx(np.exp(-3.0), rel=1e-6)


def test_a_part_in_a_slot_or_behind_a_property_is_told() -> None:
    class InSlot(ac.Component):
        __slots__ = ("room",)

        def __init__(self) -> None:
            self.room = Decay()

    class Behind(ac.Component):
        def __init__(self) -> None:
            self.room = Decay()

        @property
        def room(self) -> Any:
            return self._room

        @room.setter
        def room(self, given: Any) -> None:
            self._room = given

        def equations(self) -> Any:
            yield self.room.x == 1.0

    for whole, name in ((InSlot, "room"), (Behind, "_room")):
        with pytest.raises(ac.ModelError, match=f"`{name}` of {whole.__name__} is a Decay where it is not seen") as told:
            ac.compile(whole())
        assert f"{__file__}:" in str(told.value)
        assert "assign it as `self.room = …`, which is no slot and no property" in str(told.value)


def test_a_part_that_a_property_makes_anew_is_told() -> None:
    class Whole(ac.Component):
        y = ac.Variable()

        @property
        def room(self) -> Any:
            return Decay()

        def equations(self) -> Any:
            yield self.y == self.room.x

    with pytest.raises(ac.ModelError, match=r"Whole refers to a Decay that is not part of it(.|\n)*`self.decay = Decay\(…\)`"):
        ac.compile(Whole())


def test_a_named_tuple_of_components_keeps_its_names() -> None:
    class Whole(ac.Component):
        y = ac.Variable()

        def __init__(self) -> None:
            self.both = Pair(Decay(), Decay(k=2.0))

        def equations(self) -> Any:
            yield self.y == self.both.one.x + self.both.other.x

    for whole in (Whole(), copy.deepcopy(Whole())):
        result = ac.compile(whole).simulate(1.0, rtol=1e-8)
        assert result["y"][-1] == pytest.approx(np.exp(-1.0) + np.exp(-2.0), rel=1e-6)
        assert result["both[1].x"][-1] == pytest.approx(np.exp(-2.0), rel=1e-6)


def test_no_code_of_a_user_runs_where_parts_are_looked_for() -> None:
    class Shy:
        def __init__(self) -> None:
            self.part = Decay()

        def __getattr__(self, name: str) -> Any:
            raise RuntimeError(name)

        def __iter__(self) -> Any:
            raise RuntimeError

        def __eq__(self, other: object) -> bool:
            raise RuntimeError

        __hash__ = None  # type: ignore[assignment]

    class Whole(Decay):
        def __init__(self) -> None:
            self._held = Shy()

    with pytest.raises(ac.ModelError, match=r"`_held.part` of Whole is a Decay within a Shy"):
        ac.compile(Whole())
