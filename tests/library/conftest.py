"""Small networks in one line, `wired("source.p R.p", "R.n ground.p", source=…, R=…)`, and runs at a tolerance to rely on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any

import numpy as np
import pytest

import acausal as ac

RTOL = 1e-8
# The error of a run grows over its steps: some hundred of them at rtol 1e-8 stay below 1e-6 of the signal's size.
REACHED = 1e-6


class Wired(ac.Component):
    """Given parts and the joints between them, each joint a line of connector paths."""

    def __init__(self, *joints: str, **parts: ac.Component) -> None:
        self._joints = joints
        for name, part in parts.items():
            setattr(self, name, part)

    def connections(self) -> Iterator[Any]:
        for joint in self._joints:
            yield tuple(_reach(self, path) for path in joint.split())


def _reach(component: Any, path: str) -> Any:
    name, _, index = path.partition("[")
    found = reduce(getattr, name.split("."), component)
    return found[int(index.rstrip("]"))] if index else found


@pytest.fixture
def wired() -> type[Wired]:
    return Wired


@pytest.fixture
def run() -> Callable[..., Any]:
    """Compile and simulate. Algebraic unknowns are compared as well, so they take part in the error test."""

    def simulate(component: ac.Component, until: float, **options: Any) -> Any:
        result = ac.compile(component).simulate(until=until, **{"rtol": RTOL, "suppress_algebraic": False, **options})
        assert result.outcome is ac.Outcome.FINISHED, result.outcome.value
        return result

    return simulate


@pytest.fixture
def agrees() -> Callable[..., None]:
    """Whether a trajectory is the closed form, to what the tolerance of the runs reaches."""

    def check(actual: Any, exact: Any, size: float | None = None, reached: float = REACHED) -> None:
        scale = float(np.max(np.abs(exact))) if size is None else size
        np.testing.assert_allclose(actual, np.broadcast_to(exact, np.shape(actual)), rtol=0, atol=reached * scale)

    return check
