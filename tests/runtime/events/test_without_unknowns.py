"""Events of models in which nothing is unknown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import acausal as ac
from acausal.library import sampled


def test_an_assignment_without_value_is_told_where_nothing_is_unknown() -> None:
    """In a model without unknowns an assignment that is not finite ended in an IndexError inside of the engine."""

    class Holding(ac.Component):
        x = ac.Discrete(0.0)
        a = ac.Parameter(0.0)

        def events(self) -> Iterator[Any]:
            yield ac.when(ac.sample(0.05, 0.1), ac.assign(self.x, 1.0 / self.a))

    with pytest.warns(ac.RunWarning, match="A discrete variable is assigned a value that is not finite"):
        result = ac.compile(Holding()).simulate(until=0.25)
    assert result.outcome is ac.Outcome.NOT_FINITE
    with pytest.warns(ac.RunWarning, match="A discrete variable is assigned a value that is not finite"):
        ac.compile(sampled.DiscretePI(T=0.0)).simulate(until=0.25)
