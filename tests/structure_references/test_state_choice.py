"""`state="always|prefer|default|avoid|never"` decides among equivalent states; scaling and pivots do when nothing is said."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import acausal as ac


class Geared(ac.Component):
    """Two angles tied by a ratio, a torque on the first: one angle and one speed are states, either side's."""

    a, wa = ac.Variable(start=0.0), ac.Variable(start=0.0)
    b, wb = ac.Variable(start=0.0), ac.Variable(start=0.0)
    reaction = ac.Variable()
    ratio = ac.Parameter(3.0)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.a) == self.wa
        yield ac.der(self.b) == self.wb
        yield ac.der(self.wa) == 1 - self.reaction
        yield ac.der(self.wb) == self.ratio * self.reaction
        yield self.a == self.ratio * self.b


def states_of(component: ac.Component) -> set[str]:
    problem = ac.compile(component).problem
    return {problem.name_of_unknown(int(k)) for k in np.flatnonzero(problem.differential)}


def chosen(**states: str) -> set[str]:
    return states_of(Geared(**{name: ac.modify(state=state) for name, state in states.items()}))


@pytest.mark.parametrize("word", ["always", "prefer"])
@pytest.mark.parametrize("side", ["a", "b"])
def test_wanted_states_are_taken(word: str, side: str) -> None:
    found = chosen(**{side: word, f"w{side}": word})
    assert side in found
    assert len(found) == 2


@pytest.mark.parametrize("word", ["avoid", "never"])
@pytest.mark.parametrize("side", ["a", "b"])
def test_unwanted_states_are_left(word: str, side: str) -> None:
    assert side not in chosen(**{side: word, f"w{side}": word})


def test_stronger_words_win() -> None:
    assert "a" in chosen(a="always", b="prefer")
    assert "a" in chosen(a="prefer", b="default")
    assert "a" in chosen(a="avoid", b="never")


def test_whatever_is_chosen_the_motion_is_the_same(agrees: Any) -> None:
    """(1 + 1/ratio²)·a'' = 1."""
    for side in "ab":
        component = Geared(**{side: ac.modify(state="always"), f"w{side}": ac.modify(state="always")})
        result = ac.compile(component).simulate(until=2.0, rtol=1e-8)
        agrees(result["a"], 0.45 * result.time**2)
        agrees(result["wb"], 0.3 * result.time)


def test_nominal_values_scale_the_choice() -> None:
    """a is a thousand times b, and both move by about their nominal values: neither is chosen for the size of its unit."""
    names = states_of(Geared(ratio=1000.0, a=ac.modify(nominal=1000.0), wa=ac.modify(nominal=1000.0)))
    assert len(names) == 2


class Tank(ac.Component):
    """Only the mass is differentiated; the level may be wanted as a state all the same."""

    area = ac.Parameter(2.0)
    m = ac.Variable(start=1000.0, nominal=1000.0)
    level = ac.Variable(start=0.5, fixed=True, state="prefer")

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.m) == 10.0 - 20.0 * self.level
        yield self.m == 1000.0 * self.area * self.level**2


def test_a_preferred_variable_becomes_a_state_though_nobody_differentiates_it(agrees: Any) -> None:
    assert states_of(Tank()) == {"level"}
    result = ac.compile(Tank(level=ac.start(1.0, fixed=True))).simulate(until=500.0, rtol=1e-8)
    level = np.asarray(result["level"])
    agrees(result["der(level)"], (10 - 20 * level) / (4000 * level), 1e-5)
