"""`result.diagnose`: who limited the step, which equation did not converge, when; on runs whose reasons are known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.errors import UsageError
from benchmarks.structure.pendulum import Pendulum

from .models import Kinks, StiffSpring, TwoCapacitors


def told(result: Any) -> str:
    """The text, however it was wrapped."""
    return " ".join(str(result.diagnose()).split())


@pytest.fixture(scope="module")
def spring() -> Any:
    return ac.compile(StiffSpring()).simulate(until=2.0, record_steps=True)


@pytest.fixture(scope="module")
def kinks() -> Any:
    return ac.compile(Kinks()).simulate(until=5.0, record_steps=True)


def test_the_stiff_spring_limits_the_step(spring: Any) -> None:
    """The slow temperature never does, and the steps are a fraction of the spring's period."""
    found = spring.diagnose()
    shares = {one.name: one.share for one in found.limits}
    assert sum(shares.get(n, 0.0) for n in ("x1", "x2", "v1", "v2")) > 0.99
    assert "T" not in shares
    assert found.median < 2 * np.pi / (np.sqrt(2) * 1e3)
    assert found.looked_at == spring.statistics.steps


def test_and_the_advice_says_why(spring: Any) -> None:
    text = told(spring)
    assert "What limited the step, in" in text
    assert "the model (StiffSpring): ac.der(self.v1) == self.w**2 * (self.x2 - self.x1) (" in text
    assert "which are even and of high order: it moves that fast" in text
    assert "replace what is stiff by something rigid" in text


def test_records_are_bounded_and_complete(spring: Any) -> None:
    journal = spring.journal
    assert spring.statistics.steps > 10_000 >= len(journal.time)
    assert journal.steps.sum() == spring.statistics.steps
    assert journal.error_failures.sum() == spring.statistics.error_test_failures
    assert (np.diff(journal.time) > 0).all() and journal.time[-1] == pytest.approx(2.0)
    assert journal.order.min() >= 1 and journal.order.max() <= 5
    assert journal.limited.sum() == journal.weight == journal.sampled_steps


def test_recording_changes_no_step() -> None:
    plain = ac.compile(StiffSpring()).simulate(until=0.2)
    recorded = ac.compile(StiffSpring()).simulate(until=0.2, record_steps=True)
    assert plain.statistics.steps == recorded.statistics.steps
    np.testing.assert_array_equal(plain.data, recorded.data)


def test_without_recording_a_sample_says_the_same(spring: Any) -> None:
    sampled = ac.compile(StiffSpring()).simulate(until=2.0)
    journal = sampled.journal
    assert journal.steps.sum() == sampled.statistics.steps
    assert 0 < journal.sampled_steps < 0.1 * sampled.statistics.steps
    assert journal.weight == pytest.approx(sampled.statistics.steps, rel=0.2)
    names = {one.name for one in sampled.diagnose().limits}
    assert names <= {"x1", "x2", "v1", "v2"}
    assert "record_steps=True" in told(sampled)


def test_the_equation_that_bends_is_named(kinks: Any) -> None:
    found = kinks.diagnose()
    assert found.stubborn[0].equation.equation.startswith("self.y**3 + 1e-9 * self.y ==")
    assert found.stubborn[0].equation.location is not None
    text = told(kinks)
    assert "Equations whose iterations did not converge" in text
    assert "is far from linear where iterations fail: smooth it" in text


def test_failed_error_tests_stand_where_the_jumps_are(kinks: Any) -> None:
    """sin(20 t) changes sign at multiples of π/20; nearly all tests that x failed are there."""
    journal = kinks.journal
    x = next(k for k in range(3) if journal.problem.name_of_unknown(k) == "x")
    times = journal.failure_time[(journal.failure_unknown == x) & (journal.failure_kind == 0)]
    distance = np.abs(times - np.round(times * 20 / np.pi) * np.pi / 20)
    assert len(times) > 100 and np.median(distance) < 1e-3
    assert journal.error_failures.sum() == kinks.statistics.error_test_failures
    assert {one.name for one in kinks.diagnose().limits if one.failed_tests} >= {"x", "y"}
    assert "fails its error test: look for a non-smooth expression in the equation of" in told(kinks)
    assert "When attempts failed" in told(kinks)


def test_states_that_are_exchanged() -> None:
    """A journal goes on across exchanges; a state of a reduced system is named with the equation of its derivative."""
    result = ac.compile(Pendulum()).simulate(until=5.0, record_steps=True)
    assert result.statistics.state_exchanges > 0
    assert result.journal.steps.sum() == result.statistics.steps
    assert "is a state" not in told(result)


def test_a_quiet_run() -> None:
    text = told(ac.compile(TwoCapacitors()).simulate(until=10.0, record_steps=True))
    assert "Nothing stands out" in text and "What the solver said" not in text


def test_a_nominal_value_that_is_far_too_small() -> None:
    """p swings around zero with an amplitude of 1e5 and no nominal value."""

    class Wave(ac.Component):
        p = ac.Variable(unit="Pa", start=1e5, fixed=True)
        q = ac.Variable(unit="Pa", start=0.0, fixed=True, nominal=1e9)

        def equations(self) -> Any:
            yield ac.der(self.p) == 100.0 * self.q
            yield ac.der(self.q) == -100.0 * self.p

    text = told(ac.compile(Wave(), units=False).simulate(until=10.0, record_steps=True))
    assert "is far larger (1e+05) than its nominal value (1): declare `nominal=100000`" in text


class Charge(ac.Component):
    """A capacitor by its charge, behind a resistor. With a time constant of RC = 1 ps its voltage is that of the source."""

    C, R, w = ac.Parameter(1e-12), ac.Parameter(1.0), ac.Parameter(3.0)
    q, u = ac.Variable(start=1e-12, fixed=True), ac.Variable()

    def equations(self):
        yield self.q == self.C * self.u
        yield self.R * ac.der(self.q) == 1.0 + ac.sin(self.w * ac.time) - self.u


def test_a_state_within_its_tolerance_is_told() -> None:
    """With a nominal value of 1 no test sees a charge of 1 pC, although `rtol` is tight."""
    model = ac.compile(Charge(), units=False)
    loose = model.simulate(until=2.0, rtol=1e-8)
    text = told(loose)
    assert "`q` is never larger than 2e-12, far below its nominal value (1): errors of its own size pass" in text
    assert "Declare `nominal=2e-12`" in text
    tight = ac.compile(Charge(q=ac.modify(nominal=1e-12)), units=False).simulate(until=2.0, rtol=1e-8)
    assert np.abs(tight["u"] - 1.0 - np.sin(3.0 * tight.time)).max() < 1e-7 and tight.statistics.steps > 3 * loose.statistics.steps
    assert "never larger" not in told(tight)


def test_another_solver_keeps_no_journal() -> None:
    result = ac.compile(TwoCapacitors()).simulate(until=1.0, solver="sundae")
    assert "keeps no journal" in told(result)
    with pytest.raises(UsageError, match="no steps to draw"):
        result.plot_steps()


def test_a_run_that_failed_tells_the_end() -> None:
    class Escape(ac.Component):
        x = ac.Variable(start=1.0, fixed=True)

        def equations(self) -> Any:
            yield ac.der(self.x) == self.x**2

    result = ac.compile(Escape()).simulate(until=2.0)
    text = told(result)
    assert not result.outcome.ok and "What the solver said at the end" in text
    assert result.diagnose().span[1] == pytest.approx(1.0, rel=1e-3)


def test_the_picture(kinks: Any, tmp_path: Path) -> None:
    figure = kinks.plot_steps(file=tmp_path / "steps.png")
    assert (tmp_path / "steps.png").stat().st_size > 10_000
    steps, orders = figure.axes
    assert steps.get_yscale() == "log" and orders.get_ylabel() == "Order"
    labels = steps.get_legend_handles_labels()[1]
    assert labels[0] == f"error test failed ({kinks.statistics.error_test_failures})"
    np.testing.assert_array_equal(steps.lines[0].get_ydata(), kinks.journal.step)


class Strings(ac.Component):
    """Many strings that swing alike: none of them limits most of the steps."""

    x = ac.Variable(shape=12, start=np.linspace(1.0, 1.1, 12), fixed=True)
    v = ac.Variable(shape=12, start=0.0, fixed=True)
    w = ac.Parameter(np.linspace(900.0, 1100.0, 12), shape=12)

    def equations(self):
        yield ac.der(self.x) == self.w * self.v
        yield ac.der(self.v) == -self.w * self.x


def test_what_rules_short_steps_is_always_said() -> None:
    result = ac.compile(Strings(), units=False).simulate(until=1.0)
    assert result.statistics.steps > 5000 and max(one.share for one in result.diagnose().limits) < 0.5
    text = told(result)
    assert "Nothing stands out" not in text
    assert "Steps are short" in text and "of this kind), a state, rules" in text and "moves that fast" in text


class Fold(ac.Component):
    """Beyond t = 1 the curve has no solution nearby."""

    s = ac.Variable(start=0.0, fixed=True)
    x = ac.Variable(start=-1.8)

    def equations(self):
        yield ac.der(self.s) == 1.0
        yield self.x**3 - 3 * self.x == 2.0 * self.s


class Explosion(ac.Component):
    x = ac.Variable(start=1.0, fixed=True)

    def equations(self):
        yield ac.der(self.x) == self.x**2


class Emptied(ac.Component):
    x = ac.Variable(start=1.0, fixed=True)

    def equations(self):
        yield ac.der(self.x) == -1 / ac.sqrt(self.x)


@pytest.mark.filterwarnings("ignore::acausal.RunWarning")
@pytest.mark.parametrize(
    "component, outcome, equation",
    [
        (Fold, ac.Outcome.CONVERGENCE, "self.x**3 - 3 * self.x == 2.0 * self.s"),
        (Explosion, ac.Outcome.STEP_TOO_SMALL, "ac.der(self.x) == self.x**2"),
        (Emptied, ac.Outcome.NOT_FINITE, "ac.der(self.x) == -1 / ac.sqrt(self.x)"),
    ],
)
def test_a_run_that_ends_early_names_unknowns_and_equations(component: type, outcome: ac.Outcome, equation: str) -> None:
    result = ac.compile(component(), units=False).simulate(until=3.0)
    assert result.outcome is outcome
    text = "\n".join(str(d) for d in result.diagnostics)
    assert equation in text and "x" in text and "test_run.py" in text


def test_what_grows_without_end_is_told_so() -> None:
    """A nominal value of 1e300 would not help."""

    class Explosion(ac.Component):
        x = ac.Variable(start=1.0, fixed=True)

        def equations(self):
            yield ac.der(self.x) == 40 * self.x

    result = ac.compile(Explosion()).simulate(until=10.0, record_steps=True)
    text = told(result)
    assert "`x` grows without end" in text and "declare `nominal=" not in text
