"""Events that set quantities which equations tie to each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import acausal as ac


class Tied(ac.Component):
    """b is twice a, so that one of them is a state."""

    a, b, f = ac.Variable(start=0.0, fixed=True), ac.Variable(), ac.Variable()
    first, second = ac.Parameter(10.0), ac.Parameter(7.0)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.a) == 1 + 2 * self.f
        yield ac.der(self.b) == -self.f
        yield self.b == 2 * self.a

    def events(self) -> Iterator[Any]:
        yield ac.when(ac.time > 0.5, ac.reinit(self.b, self.first), ac.reinit(self.a, self.second))


@pytest.mark.parametrize("solver", [{}, {"solver": "sundae"}, {"solver": "fixed", "step": 0.01}], ids=str)
def test_values_that_contradict_what_ties_them_are_a_conflict(solver: dict[str, Any]) -> None:
    """The value of `a` was dropped, and nothing was said."""
    model = ac.compile(Tied())
    with pytest.warns(ac.RunWarning, match="tie to each other"):
        result = model.simulate(until=1.0, **solver)
    assert result.outcome is ac.Outcome.EVENT_CONFLICT
    agreeing = model.simulate(until=1.0, set={"first": 14.0}, **solver)
    assert agreeing.outcome is ac.Outcome.FINISHED and agreeing["a"][-1] == pytest.approx(7.1)


class TiedTwice(ac.Component):
    """An event sets the one that is no state, a later one the other."""

    a, b, f = ac.Variable(start=0.0, fixed=True), ac.Variable(), ac.Variable()

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.a) == 1 + 2 * self.f
        yield ac.der(self.b) == -self.f
        yield self.b == 2 * self.a

    def events(self) -> Iterator[Any]:
        yield ac.when(ac.time > 0.5, ac.reinit(self.b, 10.0))
        yield ac.when(ac.time > 0.7, ac.reinit(self.a, 7.0))


@pytest.mark.parametrize("solver", [{}, {"solver": "sundae"}, {"solver": "fixed", "step": 0.01}], ids=str)
def test_whichever_of_two_that_are_tied_is_set_moves_both(solver: dict[str, Any]) -> None:
    """With steps of one length it was an exception from inside."""
    result = ac.compile(TiedTwice()).simulate(until=1.0, **solver)
    assert result.outcome and result["a"][-1] == pytest.approx(7.0 + 0.3 / 5, abs=1e-6)
    assert result["b"] == pytest.approx(2 * result["a"], abs=1e-9)
