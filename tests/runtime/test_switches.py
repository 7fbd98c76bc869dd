"""Events handled natively (`native/switches.h`) against the handler in Python, which is the reference: the same events, rows and log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.runtime.events import native

core = pytest.importorskip("acausal._core")

Statements = Iterator[Any]


class Room(ac.Component):
    """Hysteresis: of the two relations one turns back without any effect."""

    T = ac.Variable(start=20.5, fixed=True)
    tau = ac.Parameter(10.0)
    on = ac.Boolean(start=False)

    def equations(self) -> Statements:
        yield self.tau * ac.der(self.T) == ac.where(self.on, 40.0, 0.0) - self.T

    def events(self) -> Statements:
        yield ac.when(self.T < 20.0, ac.assign(self.on, True)).elsewhen(self.T > 22.0, ac.assign(self.on, False))


class Rooms(ac.Component):
    def __init__(self) -> None:
        self.room = ac.array(Room, 7, tau=np.linspace(5.0, 15.0, 7))


class Ball(ac.Component):
    """A state that jumps, with its value before; a counter, and a second one that follows the first."""

    h = ac.Variable(start=1.0, fixed=True)
    v = ac.Variable(start=0.0, fixed=True)
    bounces, twice = ac.Integer(start=0), ac.Integer(start=0)

    def equations(self) -> Statements:
        yield ac.der(self.h) == self.v
        yield ac.der(self.v) == -9.81
        yield self.twice == 2 * self.bounces

    def events(self) -> Statements:
        yield ac.when(
            self.h <= 0, ac.reinit(self.v, -0.9 * ac.pre(self.v)), ac.assign(self.bounces, ac.pre(self.bounces) + 1)
        )


class Ladder(ac.Component):
    """Algebraic unknowns that jump, relations on them, and one switch that makes the next one switch."""

    x = ac.Variable(start=0.0, fixed=True)
    a, b = ac.Variable(), ac.Variable()
    u = ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Statements:
        yield ac.der(self.x) == ac.cos(ac.time)
        yield self.a + 0.1 * self.a**3 == ac.where(self.x > 0.5, 2.0, 0.0) + self.x
        yield self.b + self.a == ac.where(self.a > 1.5, -3.0, 1.0)
        yield ac.der(self.u) == ac.where(self.b > 0.0, 1.0, -1.0) - 0.1 * self.u


class Stairs(ac.Component):
    """Crossings in one direction."""

    x = ac.Variable(start=0.3, fixed=True)
    y = ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Statements:
        yield ac.der(self.x) == 2.0 * ac.cos(ac.time)
        yield ac.der(self.y) == ac.floor(self.x) + ac.abs(self.x)

    def events(self) -> Statements:
        yield ac.crossing(self.y - 1.0, direction="rising", kind="knee")


class Sampled(ac.Component):
    """State events between ticks, and a time to come that a state event moves."""

    x = ac.Variable(start=0.0, fixed=True)
    n, crossings = ac.Integer(start=0), ac.Integer(start=0)
    wake = ac.Discrete(start=1.5)
    rung = ac.Integer(start=0)

    def equations(self) -> Statements:
        yield ac.der(self.x) == ac.cos(3.0 * ac.time) - 0.1 * self.n * self.x

    def events(self) -> Statements:
        yield ac.when(ac.sample(0.0, 0.7), ac.assign(self.n, ac.pre(self.n) + 1))
        yield ac.when(self.x > 0.1, ac.assign(self.crossings, ac.pre(self.crossings) + 1))
        yield ac.when(self.x < -0.05, ac.assign(self.wake, ac.time + 0.123))
        yield ac.when(ac.time >= self.wake, ac.assign(self.rung, ac.pre(self.rung) + 1))


class Driven(ac.Component):
    u = ac.Input()
    x = ac.Variable(start=0.0, fixed=True)
    high = ac.Boolean(start=False)

    def equations(self) -> Statements:
        yield ac.der(self.x) == self.u - ac.where(self.high, 2.0 * self.x, 0.0)

    def events(self) -> Statements:
        yield ac.when(self.x > 0.8, ac.assign(self.high, True)).elsewhen(self.x < 0.2, ac.assign(self.high, False))
        yield ac.assert_(self.x < 0.75, "large", level="warning")


class Ending(Room):
    switched = ac.Integer(start=0)

    def events(self) -> Statements:
        yield from super().events()
        yield ac.when(ac.change(self.on), ac.assign(self.switched, ac.pre(self.switched) + 1))
        yield ac.when(self.switched >= 9, ac.terminate("enough"))


class Asserting(Room):
    switched = ac.Integer(start=0)

    def events(self) -> Statements:
        yield from super().events()
        yield ac.when(ac.change(self.on), ac.assign(self.switched, ac.pre(self.switched) + 1))
        yield ac.assert_(self.switched < 6, "too often")


class Cycling(ac.Component):
    x = ac.Variable(start=0.0, fixed=True)
    a, b = ac.Boolean(start=False), ac.Boolean(start=True)

    def equations(self) -> Statements:
        yield ac.der(self.x) == 1.0
        yield self.a == (self.x > 1.0) & ~ac.pre(self.b)
        yield self.b == ac.pre(self.a) | (self.x < 1.0)


class Relay(ac.Component):
    """Chattering."""

    x = ac.Variable(start=0.5, fixed=True)

    def equations(self) -> Statements:
        yield ac.der(self.x) == ac.where(self.x > 0.0, -1.0, 1.0)


MODELS = {
    "rooms": (Rooms, 60.0),
    "ball": (Ball, 6.0),
    "zeno": (Ball, 20.0),
    "ladder": (Ladder, 20.0),
    "stairs": (Stairs, 10.0),
    "sampled": (Sampled, 12.0),
    "driven": (Driven, 10.0),
    "ending": (Ending, 200.0),
    "asserting": (Asserting, 200.0),
    "cycling": (Cycling, 2.0),
    "relay": (Relay, 2.0),
}


def _idle(switches: Any) -> Any:
    switches.handles = False
    return switches


def run(name: str, natively: bool, monkeypatch: Any, **more: Any) -> Any:
    kind, until = MODELS[name]
    model = ac.compile(kind())
    if name == "driven":
        times = np.linspace(0.0, until, 30)
        more["inputs"] = {"u": (times, 1.0 + np.sin(2 * times))}
    with monkeypatch.context() as patched:
        if not natively:
            made = native.switches
            patched.setattr(native, "switches", lambda *given: _idle(made(*given)))
        return model.simulate(until=until, points=101, **more)


@pytest.mark.parametrize("name", MODELS)
def test_the_same_as_in_python(name: str, monkeypatch: Any) -> None:
    ours, reference = (run(name, natively, monkeypatch) for natively in (True, False))
    assert ours.outcome == reference.outcome
