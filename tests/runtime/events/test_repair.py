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


class Store(ac.Component):
    """A charge on a capacitance that an event takes away: nothing goes with any charge then."""

    q, v = ac.Variable(start=1.0, fixed=True), ac.Variable()
    size, count = ac.Discrete(1.0), ac.Integer(0)
    shorted = ac.Boolean(False)

    def equations(self) -> Statements:
        yield ac.der(self.q) == -self.v
        left = ac.where(self.shorted, 0.0, self.size)
        yield ac.where(left > 0, self.q - left * self.v, self.v**2 + 1) == 0


class ByNumber(Store):
    def events(self) -> Statements:
        yield ac.when(ac.time >= 1.0, ac.assign(self.size, 0.0))


class ByTruth(Store):
    def events(self) -> Statements:
        yield ac.when(self.q < np.exp(-1.0), ac.assign(self.shorted, True), ac.assign(self.count, ac.pre(self.count) + 1))


class ByClock(Store):
    def events(self) -> Statements:
        yield ac.when(ac.sample(1.0, 5.0), ac.assign(self.shorted, True))


@pytest.mark.parametrize("solver", ["ida", "sundae"])
@pytest.mark.parametrize("kind", [ByNumber, ByTruth, ByClock])
def test_an_assignment_that_cannot_be_solved_with_is_not_taken_back(kind: type[ac.Component], solver: str) -> None:
    result = ac.compile(kind()).simulate(until=3.0, solver=solver, on_failure="keep")
    assert result.outcome is ac.Outcome.EVENT_UNSOLVABLE
    assert abs(result.time_reached - 1.0) < 1e-4 and abs(result["q"][-1] - np.exp(-1.0)) < 1e-4
    told = "\n".join(map(str, result.diagnostics))
    assert "shorted: false → true" in told or "size: 1 → 0" in told


class Turned(Rectifier):
    """The phases turn round at one instant, and diodes take over from each other: by a number, a truth value, and a jump."""

    sign, turned, turns = ac.Discrete(1.0), ac.Boolean(False), ac.Integer(0)
    x = ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Statements:
        for k in range(self.n):
            yield self.branch[k].u == self.sign * ac.where(self.turned, 2.0, 1.0) * ac.sin(ac.time + 0.3 + 2 * np.pi * k / self.n)
            yield self.branch[k].common == self.top
        yield sum(self.branch[k].i for k in range(self.n)) == self.top + 4.0
        yield ac.der(self.charge) == self.top
        yield ac.der(self.x) == 1.0

    def events(self) -> Statements:
        turn = ac.assign(self.sign, -ac.pre(self.sign)), ac.assign(self.turned, ~ac.pre(self.turned))
        yield ac.when(self.x > 0.9, *turn, ac.assign(self.turns, ac.pre(self.turns) + 1), ac.reinit(self.x, 0.0))


@pytest.mark.parametrize("n", [3, 4])
def test_what_a_clause_does_stays_where_switches_change_together(n: int) -> None:
    result = ac.compile(Turned(n)).simulate(until=5.0, rtol=1e-8)
    assert result.outcome is ac.Outcome.FINISHED, result.diagnostics
    assert result["turns"][-1] == 5
    which = np.floor(result.time / 0.9 - 1e-6).astype(int) % 2
    inner = np.abs((result.time / 0.9 + 0.5) % 1 - 0.5) > 1e-4
    voltages = np.where(which, -2.0, 1.0)[:, None] * np.sin(result.time[:, None] + 0.3 + 2 * np.pi * np.arange(n) / n)
    np.testing.assert_allclose(result["top"][inner], voltages.max(axis=1)[inner], atol=1e-6)


class Joined(ac.Component):
    """Two stores that are joined at time 1: from then on they are tied to each other."""

    a, b, i = ac.Variable(start=1.0, fixed=True), ac.Variable(start=0.0, fixed=True), ac.Variable()
    mode = ac.States("apart", "joined", initial="apart")

    def equations(self) -> Statements:
        yield ac.der(self.a) == -self.i - 0.1 * self.a
        yield ac.der(self.b) == 2.0 * self.i
        yield ac.during(self.mode.apart, self.i == 0.0)
        yield ac.during(self.mode.joined, self.tie())

    def tie(self) -> Any:
        return self.a == self.b

    def transitions(self) -> Statements:
        mean = (2.0 * ac.pre(self.a) + ac.pre(self.b)) / 3.0
        yield self.mode.apart.to("joined", when=ac.time >= 1.0, do=[ac.reinit(self.a, mean), ac.reinit(self.b, mean)])


class JoinedByRates(Joined):
    def tie(self) -> Any:
        return ac.der(self.a) == ac.der(self.b)


def test_states_that_are_tied_by_an_event_jump_as_where_their_rates_are_tied() -> None:
    tied = ac.compile(Joined()).simulate(until=2.0, rtol=1e-9)
    np.testing.assert_allclose([tied["a"][-1], tied["b"][-1]], 2 / 3 * np.exp(-0.1 - 0.1 * 2 / 3), rtol=1e-7)
    joined = ac.compile(JoinedByRates()).simulate(until=2.0, rtol=1e-9)
    assert joined.outcome.ok
    np.testing.assert_allclose([joined["a"][-1], joined["b"][-1]], 2 / 3 * np.exp(-0.1 - 0.1 * 2 / 3), rtol=1e-7)
