"""Corners without events: an algebraic unknown whose equation has another slope on the other side, as a density at saturation has.

Newton's iteration with the slopes of one side never meets a solution on the other, if that is steeper by a factor of two; the step
may be as short as it likes. Every such equation here is monotone, so it has one solution, and the run must go on.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acausal as ac

RATIOS = (0.01, 0.1, 10.0, 100.0)


def bent(y: Any, ratio: Any) -> Any:
    return y + (ratio - 1) * ac.no_event(ac.max(y, 0.0))


class OneCorner(ac.Component):
    """A swing, and what follows from it across a corner."""

    ratio = ac.Parameter(100.0, doc="of the slopes")
    x, v = ac.Variable(start=0.5, fixed=True), ac.Variable(start=0.0, fixed=True)
    y, z = ac.Variable(start=0.0), ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Any:
        yield ac.der(self.x) == self.v
        yield ac.der(self.v) == -self.x
        yield bent(self.y, self.ratio) == self.x
        yield ac.der(self.z) == self.y - self.z


class TwoCorners(OneCorner):
    """Two unknowns, each with a corner, that depend on each other."""

    u = ac.Variable(start=0.0)

    def equations(self) -> Any:
        yield ac.der(self.x) == self.v
        yield ac.der(self.v) == -self.x
        yield bent(self.y, self.ratio) + 0.5 * (self.y - self.u) == self.x
        yield bent(-self.u - 0.1, self.ratio) + 0.5 * (self.y - self.u) == -self.v
        yield ac.der(self.z) == self.y * self.u - self.z


@pytest.mark.parametrize("rtol", [1e-3, 3e-5, 1e-6, 3e-8])
def test_a_corner_is_passed_with_any_slopes(rtol: float) -> None:
    model = ac.compile(OneCorner())
    for ratio in RATIOS:
        result = model.simulate(until=50.0, points=101, rtol=rtol, set={"ratio": ratio})
        x, y = np.asarray(result["x"]), np.asarray(result["y"])
        np.testing.assert_allclose(x, 0.5 * np.cos(result.time), atol=300 * rtol)
        np.testing.assert_allclose(y, np.where(x > 0, x / ratio, x), atol=2 * rtol * max(1.0, 1 / ratio))


@pytest.mark.parametrize("rtol", [1e-3, 3e-4, 1e-5, 1e-6, 3e-8])
def test_two_corners_that_depend_on_each_other(rtol: float) -> None:
    model = ac.compile(TwoCorners())
    for ratio in RATIOS:
        assert model.simulate(until=50.0, points=11, rtol=rtol, set={"ratio": ratio}).outcome is ac.Outcome.FINISHED
