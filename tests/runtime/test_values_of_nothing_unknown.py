"""A model in which nothing is unknown stops where an equation has no value, and says which."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.library import fluid


class Root(ac.Component):
    """Nothing but expressions of time."""

    u = ac.Input(1.0)
    y = ac.Variable()

    def equations(self) -> Iterator[Any]:
        yield self.y == ac.sqrt(self.u)


class Switched(Root):
    """The same with an event."""

    z = ac.Variable()

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        yield self.z == ac.where(ac.time > 0.25, 1.0, 2.0)


@pytest.mark.parametrize("kind", [Root, Switched])
def test_it_stops_where_an_equation_has_no_value(kind: Any) -> None:
    model = ac.compile(kind())
    with pytest.warns(ac.RunWarning, match="square root of a negative number"):
        result = model.simulate(until=1.0, points=101, inputs={"u": lambda t: 0.505 - t})
    assert result.outcome is ac.Outcome.NOT_FINITE and result.time_reached == pytest.approx(0.51)
    assert "self.y == ac.sqrt(self.u)" in str(result.diagnostics[0])
    before = result.time < 0.5  # what was computed is kept
    np.testing.assert_allclose(result["y"][before], np.sqrt(0.505 - result.time[before]))
    assert model.simulate(until=1.0, inputs={"u": 4.0})["y"][-1] == 2.0


class Reservoirs(ac.Component):
    """Two of them with a hole between; no state is stored anywhere."""

    def __init__(self) -> None:
        self.hot, self.cold = fluid.PressureBoundary(p=1e5, T=900.0, medium="R134a"), fluid.PressureBoundary(p=9e4, h=4e5)
        self.valve = fluid.Orifice()

    def connections(self) -> Iterator[Any]:
        yield self.hot.port, self.valve.a
        yield self.valve.b, self.cold.port


def test_a_reservoir_beyond_the_table_says_so() -> None:
    """It was nan, and the run finished."""
    with pytest.warns(ac.RunWarning, match="T = 900 K is above the highest temperature of the table of R134a, 450 K"):
        result = ac.compile(Reservoirs()).simulate(until=1.0)
    assert result.outcome is ac.Outcome.NOT_FINITE
    assert result.diagnostics[0].component == "hot (PressureBoundary)"
