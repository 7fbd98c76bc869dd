"""A delay of zero is no delay."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acausal as ac


@pytest.mark.parametrize("late", ["number", "parameter", "one of an array", "variable"])
def test_no_delay_is_no_delay_after_a_jump(late):
    """With a delay of zero, what was before an event went on until the first step behind it was over."""

    class Jumping(ac.Component):
        x = ac.Variable(start=0.0, fixed=True)
        now = ac.Variable(shape=2)
        T = ac.Parameter(0.0)

        def equations(self) -> Any:
            given = {
                "number": 0.0,
                "parameter": self.T,
                "one of an array": np.array([0.0, 1.0]),
                "variable": ac.max(0.0, 1.5 - ac.time),
            }
            yield ac.der(self.x) == 1.0
            yield self.now == ac.delay(self.x * np.ones(2), given[late])

        def events(self) -> Any:
            yield ac.when(ac.time > 2.0, ac.reinit(self.x, 10.0))

    result = ac.compile(Jumping()).simulate(3.0)
    behind = np.asarray(result.time) >= 1.5
    assert np.asarray(result["now"])[behind, 0] == pytest.approx(np.asarray(result["x"])[behind], abs=1e-6)


def test_no_delay_beside_another_one():
    """Where one element of an array is delayed by nothing, the break of another was taken for its own, and x went straight on."""

    class Delayed(ac.Component):
        w = ac.Variable(shape=2)

        def equations(self) -> Any:
            yield self.w == ac.delay(ac.time**2 * np.array([1.0, 2.0]), np.array([0.0, 1.0]))

    result = ac.compile(Delayed()).simulate(3.0)
    t, w = np.asarray(result.time), np.asarray(result["w"])
    assert w[:, 0] == pytest.approx(t**2, abs=1e-6)
    assert w[:, 1] == pytest.approx(2.0 * np.maximum(t - 1.0, 0.0) ** 2, abs=1e-6)
