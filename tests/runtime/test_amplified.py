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
