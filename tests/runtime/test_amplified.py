"""What is computed from unknowns and enlarges their uncertainty is right at output points within a step, too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acausal as ac


class Tiny(ac.Component):
    """Without `a` of index 2, with a tiny one as stiff as can be: y is (sin t - x) / a, and cos t."""

    a = ac.Parameter(1e-14)
    x, y = ac.Variable(start=0.0), ac.Variable()

    def equations(self) -> Any:
        yield ac.der(self.x) == self.y
        yield self.a * self.y + self.x == ac.sin(ac.time)


@pytest.mark.parametrize("a", [1e-14, 1e-12, 1e-10, 1e-7, 1e-3])
def test_a_quotient_by_next_to_nothing(a: float) -> None:
    result = ac.compile(Tiny()).simulate(until=5.0, points=101, set={"a": a}, rtol=1e-6)
    later = result.time > 20 * a  # after the jump from the start
    np.testing.assert_allclose(np.asarray(result["x"])[later], np.sin(result.time[later]), atol=max(2 * a, 1e-5))
    rounding = np.finfo(float).eps / a  # of sin t - x, divided by a
    np.testing.assert_allclose(np.asarray(result["y"])[later], np.cos(result.time[later]), atol=max(2 * a, 3e-4, rounding))


class Bar(ac.Component):
    """Two stores with a thick wire between them: its current is small beside what their voltages could drive through it."""

    R = ac.Parameter(1e-11)
    u, v, i = ac.Variable(start=1.0, fixed=True), ac.Variable(start=1.0, fixed=True), ac.Variable()

    def equations(self) -> Any:
        yield ac.der(self.u) == ac.cos(ac.time) - self.i
        yield ac.der(self.v) == self.i
        yield self.R * self.i == self.u - self.v


def test_the_current_of_a_thick_wire() -> None:
    result = ac.compile(Bar()).simulate(until=5.0, points=101, rtol=1e-6)
    later = result.time > 0.01
    np.testing.assert_allclose(np.asarray(result["i"])[later], 0.5 * np.cos(result.time[later]), atol=1e-3)


class Charge(ac.Component):
    """A charge far below its tolerance: no iteration needs to move it, and at the end of a step the voltage was what that left."""

    C = ac.Parameter(1e-12)
    u, q, i = ac.Variable(start=1.0), ac.Variable(), ac.Variable()

    def equations(self) -> Any:
        yield self.q == self.C * self.u
        yield ac.der(self.q) == self.i
        yield self.i == 1.0 + ac.sin(3.0 * ac.time) - self.u


@pytest.mark.parametrize("C", [1e-15, 1e-12])
@pytest.mark.parametrize("rtol", [1e-6, 1e-7, 1e-8, 1e-9])
def test_the_end_of_a_run_is_as_right_as_what_is_within_its_steps(rtol: float, C: float) -> None:
    for until in np.linspace(1.0, 3.0, 9):
        result = ac.compile(Charge()).simulate(until=float(until), set={"C": C}, points=21, rtol=rtol)
        exact = 1.0 + np.sin(3.0 * result.time)
        np.testing.assert_allclose(np.asarray(result["u"])[1:], exact[1:], atol=1e-6)
