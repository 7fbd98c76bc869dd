"""`model.diagnose`: each warning on a model that deserves it, and silence on one that does not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import acausal as ac
from acausal.library.demo import HeatedHouse
from benchmarks.structure.pendulum import Pendulum

from .models import Floating, Loop, TwoCapacitors


class Tank(ac.Component):
    """A pressure without a nominal value, a tiny leak, a parameter on its bound, no start."""

    A = ac.Parameter(0.0, unit="m^2", min=0)
    p = ac.Variable(unit="Pa", start=1e5, fixed=True)
    leak = ac.Variable(unit="kg/s", start=1e-7, fixed=True)
    m = ac.Variable(unit="kg")

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.p) == -self.p / 10.0
        yield ac.der(self.leak) == -self.leak / 10.0
        yield ac.der(self.m) == self.leak * (1 + self.A)


def told(component: ac.Component, **options: Any) -> str:
    """The text, however it was wrapped."""
    return " ".join(str(ac.compile(component, **options).diagnose()).split())


def test_nothing_to_complain_about() -> None:
    found = ac.compile(Pendulum()).diagnose()
    assert found.ok and found.warnings == ()
    text = str(found)
    assert text.startswith("Diagnosis of Pendulum\n\nStatistics\n")
    assert "Warnings: none" in text and "Suggested next steps" in text
    assert "reduced: 4 equations differentiated" in text
    assert "1.  Nothing stands out. Run it" in text


def test_the_house_lacks_units_only() -> None:
    found = ac.compile(HeatedHouse()).diagnose()
    assert len(found.warnings) == 1
    assert found.warnings[0].what.startswith("Some quantities have no unit")
    assert "HeatPump.speed: no unit is declared; dimensionless follows from" in str(found)
    assert found.statistics.states == 28


def test_scaling_start_bounds() -> None:
    text = told(Tank(), units=False)
    assert "1 state without a start value begins at 0: m." in text
    assert "1 unknown is far smaller than the nominal value" in text and "leak is 1e-07, nominal 1" in text
    assert "1 unknown is far larger than the nominal value" in text and "p is 1e+05, nominal 1" in text
    assert "1 parameter lies on a bound: A = 0." in text
    assert "equation ac.der(self.leak) == -self.leak / 10.0" in text and "test_model.py:" in text
    steps = text[text.index("Suggested next steps") :]
    assert "Give every state a start value." in steps and "Declare `nominal`" in steps


def test_a_start_on_a_bound() -> None:
    class Empty(ac.Component):
        m = ac.Variable(unit="kg", start=0.0, min=0.0, fixed=True)

        def equations(self) -> Iterator[Any]:
            yield ac.der(self.m) == 1.0

    assert "1 unknown starts on a bound: m = 0." in told(Empty())


def test_large_nonlinear_loops_and_their_guesses() -> None:
    text = told(Loop(12))
    assert "12 equations form one nonlinear algebraic loop: u[0], u[1]" in text
    assert "no start value" not in text
    text = told(Loop(4, start=False))
    assert "A nonlinear block of 4 equations is iterated from 0 for" in text and "which have no start value." in text
    assert "algebraic loop" not in text
    assert "component Loop" not in text and "the model (Loop)" in text


def test_only_unknowns_in_which_a_block_is_nonlinear_need_a_guess() -> None:
    class Half(ac.Component):
        a, b = ac.Variable(unit="1", start=1.0), ac.Variable(unit="1")

        def equations(self) -> Iterator[Any]:
            yield self.b == self.a**2
            yield 3 * self.a + 5 * self.b == 2

    assert "no start value" not in told(Half())


def test_a_singular_model_is_told_first() -> None:
    found = ac.compile(Floating()).diagnose()
    assert found.warnings[0].what.startswith("Equations depend on each other at time 0")
    assert found.next_steps[0].startswith("Remove the singularity first")
    assert sum(w.what.startswith("Equations depend") for w in found.warnings) == 1
    assert "No consistent initial values were found." in str(found)


def test_a_start_outside_its_bounds_is_a_warning_here() -> None:
    class Wrong(ac.Component):
        T = ac.Variable(unit="K", start=-5.0, min=0.0, fixed=True)

        def equations(self) -> Iterator[Any]:
            yield ac.der(self.T) == 1.0

    found = ac.compile(Wrong(), units=False).diagnose()
    assert "`T` starts at -5, outside its bounds" in str(found)


def test_parameters_as_they_are_set() -> None:
    model = ac.compile(Tank(), units=False)
    assert "lies on a bound" in str(model.diagnose())
    assert "lies on a bound" not in str(model.set({"A": 1.0}).diagnose())


def test_index_two_circuit() -> None:
    found = ac.compile(TwoCapacitors()).diagnose()
    assert found.statistics.states == 1
    assert not [w for w in found.warnings if "singular" in w.what or "depend" in w.what]
