"""`der` of expressions; constraints that hold user functions and tables, differentiated through declared derivatives."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import acausal as ac

from .conftest import state_count

# --- der of expressions -------------------------------------------------------------------------------------------------


class OpenVessel(ac.Component):
    """d(m·u)/dt = q while the mass grows: u follows from the product."""

    m = ac.Variable(start=1.0, fixed=True)
    u = ac.Variable(start=2.0, fixed=True)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.m) == 0.5
        yield ac.der(self.m * self.u) == 3.0


def test_der_of_a_product(run: Any, agrees: Any) -> None:
    result = run(OpenVessel(), 4.0)
    agrees(result["u"], (2 + 3 * result.time) / (1 + 0.5 * result.time))


class Growing(ac.Component):
    """d(x² e^{-t})/dt = -x² e^{-t}, so x² e^{-t} = e^{-t}·x0² and x stays; with a sum beside it."""

    x = ac.Variable(start=1.5, fixed=True)
    z = ac.Variable(shape=3, start=[1.0, 2.0, 3.0], fixed=True)

    def equations(self) -> Iterator[Any]:
        grown = self.x**2 * ac.exp(-ac.time)
        yield ac.der(grown) == -grown
        yield ac.der(ac.sum(self.z)) == -ac.sum(self.z)
        yield ac.der(self.z[0]) == 1.0
        yield ac.der(self.z[1] / self.z[0]) == 0.0


def test_der_of_powers_sums_and_quotients(run: Any, agrees: Any) -> None:
    result = run(Growing(), 1.5)
    z = np.asarray(result["z"])
    agrees(result["x"], 1.5)
    agrees(z.sum(axis=1), 6 * np.exp(-result.time))
    agrees(z[:, 1], 2 * (1 + result.time))


class PrescribedSpeed(ac.Component):
    """der() of what is no state: speed and acceleration of a prescribed motion."""

    s, v, a = ac.Variable(), ac.Variable(), ac.Variable()

    def equations(self) -> Iterator[Any]:
        yield self.s == ac.sin(ac.time) ** 3
        yield self.v == ac.der(self.s)
        yield self.a == ac.der(self.v)


def test_derivatives_of_a_prescribed_motion(agrees: Any) -> None:
    model = ac.compile(PrescribedSpeed())
    assert state_count(model) == 0
    result = model.simulate(until=3.0, rtol=1e-8)
    sin, cos = np.sin(result.time), np.cos(result.time)
    agrees(result["v"], 3 * sin**2 * cos)
    agrees(result["a"], 6 * sin * cos**2 - 3 * sin**3)


# --- functions in constraints ---------------------------------------------------------------------------------------------


class Cam(ac.Component):
    """A follower on a cam: y = profile(x) is held through positions, so that its force needs the profile's second derivative."""

    x, y = ac.Variable(start=0.3, fixed=True), ac.Variable()
    vx, vy = ac.Variable(), ac.Variable()
    force = ac.Variable()

    def __init__(self, profile: Callable[..., Any]) -> None:
        self.profile = profile

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == self.vx
        yield self.vx == 0.5 * ac.cos(ac.time)
        yield ac.der(self.y) == self.vy
        yield ac.der(self.vy) == self.force
        yield self.y == self.profile(self.x)


def position(t: Any) -> tuple[Any, Any, Any]:
    return 0.3 + 0.5 * np.sin(t), 0.5 * np.cos(t), -0.5 * np.sin(t)


@ac.function
def traced(x: Any) -> Any:
    return ac.exp(-x) * ac.sin(2 * x)


@ac.function(opaque=True, derivative=lambda x: math.exp(-x) * (2 * math.cos(2 * x) - math.sin(2 * x)))
def opaque(x: float) -> float:
    return math.exp(-x) * math.sin(2 * x)


@ac.function(opaque=True, derivative=lambda x: ac.exp(-x) * (2 * ac.cos(2 * x) - ac.sin(2 * x)))
def opaque_with_traced_derivative(x: float) -> float:
    return math.exp(-x) * math.sin(2 * x)


@pytest.mark.parametrize(
    ("profile", "reached"),
    [(traced, 1e-6), (opaque_with_traced_derivative, 1e-6), (opaque, 1e-4)],
    ids=["traced", "declared, traced derivative", "declared derivative, second by differences"],
)
def test_functions_in_a_constraint(profile: Any, reached: float, run: Any, agrees: Any) -> None:
    result = run(Cam(profile), 6.0)
    x, v, a = position(result.time)
    sin, cos, decay = np.sin(2 * x), np.cos(2 * x), np.exp(-x)
    first, second = decay * (2 * cos - sin), decay * (-3 * sin - 4 * cos)
    agrees(result["vy"], first * v, reached)
    agrees(result["force"], second * v**2 + first * a, reached)


class Follower(ac.Component):
    """As the cam, by velocities only: the second derivative of a table jumps at its nodes, its slope does not."""

    x, y, vy = ac.Variable(start=0.3, fixed=True), ac.Variable(), ac.Variable()

    def __init__(self, profile: Callable[..., Any]) -> None:
        self.profile = profile

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == 0.5 * ac.cos(ac.time)
        yield ac.der(self.y) == self.vy
        yield self.y == self.profile(self.x)


@pytest.mark.parametrize("method", ["monotone", "akima", "catmull-rom"])
def test_a_table_in_a_constraint(method: str, run: Any, agrees: Any) -> None:
    grid = np.linspace(-0.5, 1.2, 35)
    table = ac.Table(grid, np.sin(2 * grid), method=method, name="cam")
    result = run(Follower(table), 6.0)
    x, v, _ = position(result.time)
    agrees(result["y"], table(x))
    agrees(result["vy"], np.asarray(table.derivative(1)(x)) * v, 1e-5)


def test_a_surface_in_a_constraint(run: Any, agrees: Any) -> None:
    """z = f(x, y) over two moving coordinates, as a property table over two states: its rate by both partial derivatives."""

    class Surface(ac.Component):
        x, y, z, rate = ac.Variable(start=1.0, fixed=True), ac.Variable(start=0.5, fixed=True), ac.Variable(), ac.Variable()

        def __init__(self) -> None:
            grid = np.linspace(0.0, 2.0, 21)
            self.f = ac.Table2D(grid, grid, np.outer(grid**2, 1 + grid), name="surface")

        def equations(self) -> Iterator[Any]:
            yield ac.der(self.x) == -0.3 * self.x
            yield ac.der(self.y) == 0.2
            yield self.z == self.f(self.x, self.y)
            yield self.rate == ac.der(self.z)

    result = run(Surface(), 3.0)
    x, y = np.exp(-0.3 * result.time), 0.5 + 0.2 * result.time
    agrees(result["rate"], -0.6 * x**2 * (1 + y) + 0.2 * x**2, 1e-2)
