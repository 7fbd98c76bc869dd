"""Second attempts at an event: switches that must change together, and configurations that must not be accepted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import acausal as ac

Statements = Iterator[Any]


class Branch(ac.Component):
    """An ideal diode between a source and a common node: conducts (v = 0, i > 0) or blocks (i = 0, v < 0)."""

    u, i, v = ac.Variable(), ac.Variable(), ac.Variable()
    s = ac.Variable(start=-1.0)
    common = ac.Input()

    def equations(self) -> Statements:
        yield self.v == self.u - self.common
        yield self.v == ac.where(self.s > 0, 0.0, self.s)
        yield self.i == ac.where(self.s > 0, self.s, 0.0)


class Rectifier(ac.Component):
    """n phases on one load: the highest voltage conducts. When it changes, one diode takes over from another at one instant."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.branch = ac.array(Branch, n)
        self.top = ac.Variable(start=1.0)
        self.charge = ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Statements:
        for k in range(self.n):
            yield self.branch[k].u == ac.sin(ac.time + 0.3 + 2 * np.pi * k / self.n)
            yield self.branch[k].common == self.top
        yield sum(self.branch[k].i for k in range(self.n)) == self.top + 2.0
        yield ac.der(self.charge) == self.top


@pytest.mark.parametrize("n", [2, 3, 5])
def test_one_diode_takes_over_from_another(n: int) -> None:
    result = ac.compile(Rectifier(n)).simulate(until=12.0, rtol=1e-8)
    assert result.outcome is ac.Outcome.FINISHED, result.diagnostics
    voltages = np.sin(result.time[:, None] + 0.3 + 2 * np.pi * np.arange(n) / n)
    np.testing.assert_allclose(result["top"], voltages.max(axis=1), atol=1e-6)
    assert result["branch.i"].min() > -1e-6 and result["branch.v"].max() < 1e-6


def test_no_configuration_is_invented_where_assignments_disagree() -> None:
    class Quarrel(ac.Component):
        x = ac.Variable(start=0.0, fixed=True)
        a, b = ac.Boolean(start=False), ac.Boolean(start=False)

        def equations(self) -> Statements:
            yield ac.der(self.x) == ac.where(self.a, 2.0, 1.0)
            yield self.a == (self.x > 1) & ~ac.pre(self.b)
            yield self.b == ac.pre(self.a)

    result = ac.compile(Quarrel()).simulate(until=2.0)
    assert result.outcome is ac.Outcome.EVENT_CYCLES and result.time[-1] == pytest.approx(1.0)


def test_an_action_of_the_event_is_not_undone_to_find_a_solution() -> None:
    """With b as it was there would be a solution; but the event says that b becomes true."""

    class Stubborn(ac.Component):
        x, y = ac.Variable(start=0.0, fixed=True), ac.Variable(start=0.5)
        b = ac.Boolean(start=False)

        def equations(self) -> Statements:
            yield ac.der(self.x) == 1.0
            yield self.y**2 == ac.where(self.b, -1.0, 1.0) + 0 * self.x

        def events(self) -> Statements:
            yield ac.when(self.x > 1, ac.assign(self.b, True))

    result = ac.compile(Stubborn()).simulate(until=2.0)
    assert result.outcome is ac.Outcome.EVENT_UNSOLVABLE
    text = "\n".join(map(str, result.diagnostics))
    assert "b: false → true" in text and "pre(x)" not in text and "self.y**2" in text
    np.testing.assert_allclose(result["y"][result.time < 1], 1.0, rtol=1e-6)


def test_values_at_the_switching_point_of_the_other_side_are_not_accepted() -> None:
    class Liar(ac.Component):
        x, y, w = ac.Variable(start=0.0, fixed=True), ac.Variable(), ac.Variable()

        def equations(self) -> Statements:
            yield ac.der(self.x) == 1.0
            yield self.y == ac.where(self.w > 0.5, 0.0, self.x)
            yield self.w == ac.where(self.y > 1.0, 1.0, 0.0)

    assert ac.compile(Liar()).simulate(until=2.0).outcome is ac.Outcome.EVENT_CYCLES
