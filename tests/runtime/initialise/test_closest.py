"""More starts than the equations leave open, where equations bend: none is lost that could be kept."""

from __future__ import annotations

from collections.abc import Iterator
from math import cos, pi, sin
from typing import Any

import numpy as np
import pytest
from fuzz.mechanisms import Anchor, Bar, Body, Rod

import acausal as ac

X, Y, L, RATE = 0.55, 0.68, 0.32, 5.9
ANGLES = [0.0, 1e-9, 0.3, pi / 2 - 1e-9, pi / 2, pi / 2 + 1e-9, 2.0, 3.0, pi, -2.0, -pi / 2]


def at(angle: float) -> dict[str, float]:
    """All that is true of a body at the end of a bar that turns; upright and level to the last bit."""
    c, s = (round(f, 0) if abs(f - round(f, 0)) < 1e-15 else f for f in (cos(angle), sin(angle)))
    return {"x": X + L * c, "y": Y + L * s, "u": -RATE * L * s, "v": RATE * L * c}


class Turning(ac.Component):
    def __init__(self, link: Any, **starts: Any) -> None:
        self.anchor, self.link = Anchor(x=X, y=Y), link
        self.body = Body(m=0.77, **{name: ac.start(value) for name, value in starts.items()})

    def connections(self) -> Iterator[Any]:
        yield self.anchor.joint, self.link.a
        yield self.body.joint, self.link.b


def begun(plant: ac.Component, names: tuple[str, ...] = ("x", "y", "u", "v"), body: str = "body") -> dict[str, float]:
    result = ac.compile(plant).simulate(until=1e-7, points=2)
    assert result.outcome.ok
    return {name: float(result[f"{body}.{name}"][0]) for name in names}


@pytest.mark.parametrize("angle", ANGLES)
def test_a_bar_that_stands_upright_keeps_its_speed(angle: float) -> None:
    """Where cos φ is a rounding error, v = φ' L cos φ says nothing about φ': it started from rest."""
    assert begun(Turning(Bar(L=L, angle=ac.start(angle)), **at(angle))) == pytest.approx(at(angle), abs=1e-8)


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize("names", [("x", "y", "u", "v"), ("x", "y", "u"), ("x", "y")])
def test_an_angle_without_a_start_follows_from_places(angle: float, names: tuple[str, ...]) -> None:
    """Half of all angles were mirrored, φ = arcsin(y/L), and the start of x was lost."""
    wanted = {name: at(angle)[name] for name in names}
    assert begun(Turning(Bar(L=L), **wanted), names) == pytest.approx(wanted, abs=1e-7)


@pytest.mark.parametrize("angle", [pi / 2, 1.57, 0.0, -pi / 2, 2.0])
def test_starts_that_are_rounded_lose_no_more_than_that(angle: float) -> None:
    rounded = {name: round(value, 3) + 0.0003 for name, value in at(angle).items()}
    assert begun(Turning(Bar(L=L, angle=ac.start(round(angle, 3))), **rounded)) == pytest.approx(at(angle), abs=4e-3)


def test_what_is_said_of_the_instance_counts_before_what_its_class_declares() -> None:
    class Declared(Bar):
        angle = ac.Variable(start=0.4)

    assert begun(Turning(Declared(L=L), **at(2.4))) == pytest.approx(at(2.4), abs=1e-8)


def test_of_starts_that_contradict_each_other_one_is_a_guess_as_before() -> None:
    """A guess of y says which side is meant, and loses: x is what y follows from."""
    found = begun(Turning(Rod(L=1.0), x=X + 0.6, y=Y - 1.0, u=0.0, v=0.0))
    assert found["x"] == pytest.approx(X + 0.6) and found["y"] == pytest.approx(Y - 0.8)


class Chain(ac.Component):
    """Bars one after the other, whose angles nobody knows."""

    def __init__(self, angles: np.ndarray, rates: np.ndarray) -> None:
        x, y = np.cumsum(np.cos(angles)), np.cumsum(np.sin(angles))
        u, v = np.cumsum(-rates * np.sin(angles)), np.cumsum(rates * np.cos(angles))
        self.anchor, self.starts = (
            Anchor(),
            [dict(zip("xyuv", map(float, row), strict=True)) for row in zip(x, y, u, v, strict=True)],
        )
        self.bodies = [Body(**{name: ac.start(value) for name, value in start.items()}) for start in self.starts]
        self.bars = [Bar() for _ in angles]

    def connections(self) -> Iterator[Any]:
        before = self.anchor
        for bar, body in zip(self.bars, self.bodies, strict=True):
            yield before.joint, bar.a
            yield bar.b, body.joint
            before = body


@pytest.mark.parametrize("seed", range(5))
def test_a_chain_of_bars_starts_where_its_bodies_do(seed: int) -> None:
    rng = np.random.default_rng(seed)
    plant = Chain(rng.uniform(-2.5, 2.5, 3), rng.uniform(-2, 2, 3))
    result = ac.compile(plant).simulate(until=1e-7, points=2)
    for k, starts in enumerate(plant.starts):
        assert {n: float(result[f"bodies[{k}].{n}"][0]) for n in starts} == pytest.approx(starts, abs=1e-6)


class Many(ac.Component):
    def __init__(self, angles: np.ndarray) -> None:
        n = len(angles)
        self.x, self.y = L * np.cos(angles), L * np.sin(angles)
        starts = {"x": self.x, "y": self.y, "u": -RATE * self.y, "v": RATE * self.x}
        self.anchors, self.bars = ac.array(Anchor, n), ac.array(Bar, n, L=L)
        self.bodies = ac.array(Body, n, **{name: ac.start(values) for name, values in starts.items()})

    def connections(self) -> Iterator[Any]:
        yield self.anchors.joint, self.bars.a
        yield self.bodies.joint, self.bars.b


def test_of_many_mechanisms_each_keeps_its_starts() -> None:
    """More starts than are chosen among at once, in parts that do not see each other."""
    plant = Many(np.linspace(-2.8, 2.8, 250))
    result = ac.compile(plant).simulate(until=1e-7, points=2)
    for name, wanted in (("x", plant.x), ("y", plant.y), ("u", -RATE * plant.y), ("v", RATE * plant.x)):
        np.testing.assert_allclose(result[f"bodies.{name}"][0], wanted, atol=1e-6)


class Folded(ac.Component):
    """A rod, and a bar that lies on it: what is taken at its start by structure alone determines nothing."""

    starts = ((1.0, 0.0, 0.0, -0.2), (0.0, 0.0, 0.0, 1.45), (-1.0, 2.0, 0.5, 0.3), (1.0, -2.0, 0.2, 1.55))

    def __init__(self) -> None:
        self.anchor = Anchor(x=-1.0)
        self.bodies = [Body(**{n: ac.start(v) for n, v in zip("xyuv", row, strict=True)}) for row in self.starts]
        self.first, self.bar, self.third, self.fourth = Rod(L=2.0), Bar(angle=ac.start(pi)), Rod(L=8**0.5), Rod(L=5**0.5)

    def connections(self) -> Iterator[Any]:
        a, b, c, d = self.bodies
        for link, near, far in ((self.first, self.anchor, a), (self.bar, a, b), (self.third, a, c), (self.fourth, b, d)):
            yield near.joint, link.a
            yield far.joint, link.b


def test_where_starts_taken_by_structure_lead_nowhere_others_do() -> None:
    result = ac.compile(Folded()).simulate(until=1e-7, points=2)
    for k, wanted in enumerate(Folded.starts):
        np.testing.assert_allclose([result[f"bodies[{k}].{n}"][0] for n in "xyuv"], wanted, atol=1e-6)
