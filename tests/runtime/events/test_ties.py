"""Equations that leave something open after an event: what is said, and that tying slopes instead of states works."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import acausal as ac

Statements = Iterator[Any]


class Free(ac.Component):
    """a decays; from 1 s on a and b are to be equal, and i flows from one to the other."""

    a, b, i = ac.Variable(start=1.0, fixed=True), ac.Variable(start=0.0, fixed=True), ac.Variable()
    mode = ac.States("free", "tied", initial="free")

    def transitions(self) -> Statements:
        yield self.mode.free.to("tied", when=ac.time >= 1)

    def equations(self) -> Statements:
        yield ac.der(self.a) == -self.i - self.a
        yield ac.der(self.b) == self.i


class Apart(Free):
    """The current has no effect, so that nothing can keep a and b together."""

    effect = ac.Parameter(0.0)

    def equations(self) -> Statements:
        yield ac.der(self.a) == -self.effect * self.i - self.a
        yield ac.der(self.b) == self.effect * self.i


class Chosen(Apart):
    def equations(self) -> Statements:
        yield from super().equations()
        yield ac.where(ac.time >= 1, self.a - self.b, self.i) == 0


class During(Apart):
    def equations(self) -> Statements:
        yield from super().equations()
        yield ac.during(self.mode.free, self.i == 0)
        yield ac.during(self.mode.tied, self.a == self.b)


class Jumping(Free):
    def events(self) -> Statements:
        mean = (ac.pre(self.a) + ac.pre(self.b)) / 2
        yield ac.when(ac.time >= 1, ac.reinit(self.a, mean), ac.reinit(self.b, mean))


class ChosenSlope(Jumping):
    def equations(self) -> Statements:
        yield from super().equations()
        yield ac.where(ac.time >= 1, ac.der(self.a) - ac.der(self.b), self.i) == 0


class DuringSlope(Jumping):
    def equations(self) -> Statements:
        yield from super().equations()
        yield ac.during(self.mode.free, self.i == 0)
        yield ac.during(self.mode.tied, ac.der(self.a) == ac.der(self.b))


class Within(ac.Component):
    def __init__(self, part: ac.Component) -> None:
        self.part = part


@pytest.mark.parametrize("kind", [Chosen, During])
@pytest.mark.parametrize("solver", ["ida", "sundae"])
def test_an_equation_that_speaks_of_states_alone_is_named_with_the_remedy(kind: type[Free], solver: str) -> None:
    result = ac.compile(Within(kind())).simulate(until=2.0, on_failure="keep", solver=solver)
    assert result.outcome.name == "EVENT_UNSOLVABLE" and result.time_reached == 1.0
    found = result.diagnostics[-1]
    assert "speaks of part.a, part.b alone by now" in found.what and "leaves part.i open" in found.what
    assert found.component == f"part ({kind.__name__})" and "self.a" in found.equation and "test_ties.py" in str(found.location)
    assert "ac.der(a) == ac.der(b)" in found.remedy and "ac.Phases" in found.remedy


@pytest.mark.parametrize("kind", [ChosenSlope, DuringSlope])
def test_the_remedy_works(kind: type[Jumping]) -> None:
    result = ac.compile(kind()).simulate(until=2.0, rtol=1e-9)
    assert result["a"][-1] == pytest.approx(0.5 * np.exp(-1.5), rel=1e-7)
    assert result["b"][-1] == pytest.approx(result["a"][-1], rel=1e-9)


class Contradiction(ac.Component):
    x, m = ac.Variable(start=1.0, fixed=True), ac.Variable(start=1.0)

    def equations(self) -> Statements:
        yield ac.der(self.x) == -1.0
        yield ac.where(ac.time >= 1, self.m**2 + 1, self.m - 1) == 0


def test_nothing_of_it_is_said_where_an_equation_has_no_solution() -> None:
    result = ac.compile(Contradiction()).simulate(until=2.0, on_failure="keep")
    assert result.outcome.name == "EVENT_UNSOLVABLE" and "alone by now" not in str(result.diagnostics)
