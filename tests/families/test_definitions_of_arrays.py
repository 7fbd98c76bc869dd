"""Arrays that an equation states by elements of their own are no definitions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import acausal as ac


class Ring(ac.Component):
    """y[i] + y[i + 1] == a[i] + x around a ring of three: a loop, whatever order its elements stand in."""

    x = ac.Variable(start=1.0, fixed=True)
    y = ac.Variable(shape=3)
    a = ac.Parameter(np.array([1.0, 2.0, 4.0]))

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == -self.x
        yield self.y == self.a + self.x - self.y[[1, 2, 0]]


def test_an_array_by_its_own_elements_is_solved_for() -> None:
    result = ac.compile(Ring()).simulate(until=1.0)
    ring = np.eye(3) + np.eye(3)[[1, 2, 0]]
    wanted = np.linalg.solve(ring, np.array([1.0, 2.0, 4.0])[:, None] + np.asarray(result["x"])).T
    assert result["y"] == pytest.approx(wanted, abs=1e-9)
