"""A narrow peak of a table has its area, whatever moves through it and however fast: no step passes over it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import acausal as ac

WIDTHS = (0.3, 1e-2, 1e-4, 1e-6)


def peaked(width: float, method: str = "monotone") -> ac.Table:
    """Of area 1, at 5."""
    return ac.Table([0.0, 5 - width, 5.0, 5 + width, 10.0], [0.0, 0.0, 1 / width, 0.0, 0.0], method=method)


class Passing(ac.Component):
    """x moves from 0 to 10, or back, and E adds up what the table says, by way of x."""

    x, y, E = ac.Variable(start=0.0, fixed=True), ac.Variable(), ac.Variable(start=0.0, fixed=True)
    v = ac.Parameter(1.0)

    def __init__(self, table: ac.Table) -> None:
        self.table = table

    def equations(self) -> Any:
        yield ac.der(self.x) == self.v
        yield self.y == self.table(self.x)
        yield ac.der(self.E) == ac.abs(self.v) * self.y


@pytest.mark.parametrize("method", ["monotone", "linear"])
@pytest.mark.parametrize("width", WIDTHS)
def test_the_area_of_a_peak(width: float, method: str) -> None:
    model = ac.compile(Passing(peaked(width, method)))
    there, back = model.simulate(until=10.0), model.simulate(until=1e4, set={"v": -1e-3}, given={"x": 10.0})
    for run in (there, back):
        assert abs(run["E"][-1] - 1.0) < 3e-5 and run.statistics.steps < 250


@pytest.mark.parametrize("solver", ["sundae", "ida"])
def test_other_solvers_sessions_and_files(solver: str, tmp_path: Path) -> None:
    model = ac.compile(Passing(peaked(1e-4)))
    model.save(tmp_path / "peak.acm")
    assert abs(ac.load(tmp_path / "peak.acm").simulate(until=10.0, solver=solver)["E"][-1] - 1.0) < 3e-5
    session = model.start(solver=solver)
    for t in (3.0, 4.99995, 7.0):
        session.advance(t)
    assert abs(session["E"] - 1.0) < 3e-5


class Swinging(ac.Component):
    """Of a hundred points that swing, each passes the peak twice a period: it stays as long as its velocity has it."""

    x, u = ac.Variable(shape=100, fixed=True, start=np.linspace(6.0, 9.0, 100)), ac.Variable(shape=100, fixed=True, start=0.0)
    E = ac.Variable(shape=100, start=0.0, fixed=True)

    def equations(self) -> Any:
        yield ac.der(self.x) == self.u
        yield ac.der(self.u) == 5.0 - self.x
        yield ac.der(self.E) == peaked(1e-3)(self.x)


def test_many_that_swing_through_it() -> None:
    run = ac.compile(Swinging()).simulate(until=2 * np.pi)
    wanted = 2.0 / (np.linspace(6.0, 9.0, 100) - 5.0)  # area over velocity, twice
    assert np.allclose(run["E"][-1], wanted, rtol=1e-3)


def test_a_table_of_time() -> None:
    class Timed(ac.Component):
        E = ac.Variable(start=0.0, fixed=True)

        def equations(self) -> Any:
            yield ac.der(self.E) == peaked(1e-4)(ac.time)

    assert abs(ac.compile(Timed()).simulate(until=10.0)["E"][-1] - 1.0) < 3e-5


def test_nothing_stops_at_a_table_without_one() -> None:
    table = ac.Table(np.linspace(0.0, 10.0, 50), np.sin(np.linspace(0.0, 10.0, 50)))
    run = ac.compile(Passing(table)).simulate(until=10.0)
    assert not len(run.events)
