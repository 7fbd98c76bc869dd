"""The journal of the native solver, against IDAS' own estimates and counters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import small_problems as problems
from solver_suite import consistent_slopes

import acausal as ac
from acausal.runtime.journal import Failure, journal_of

core = pytest.importorskip("acausal._core")


def ended(problem: Any, t_end: float, steps: int = 0, swinging: bool = False, **options: Any) -> Any:
    """A session that was advanced, to its end or for so many steps; `swinging`: with a sine at its input."""
    atol = np.full(problem.size, 1e-6)
    ida = core.Ida(
        problem.native, problem.known, 1e-6, atol, problem.differential, **{**problems.SUNDIALS, "max_steps": steps, **options}
    )
    if swinging:
        ida.add_function(0, np.sin)
    ida.start(0.0, problem.start, consistent_slopes(problem))
    ida.advance(t_end, np.zeros(0), np.zeros((0, ida.width)))
    return ida


@pytest.mark.parametrize("steps", [1, 5, 12, 30, 55])
def test_the_limiting_unknown_is_the_one_with_the_largest_estimated_error(steps: int) -> None:
    """Without restarts, so the last step is the same as in a longer run; `weighted_errors` is what IDAS itself estimates."""
    problem = problems.ladder(10)
    ida = ended(problem, 10.0, steps, swinging=True, record_steps=True, suppress_algebraic=False)
    errors = ida.weighted_errors()
    journal = journal_of(ida.kept_journal(), problem, problem.known, {})
    assert len(journal.time) == steps == ida.statistics()["steps"]
    assert journal.step[-1] == ida.statistics()["last_step"] and journal.order[-1] == ida.statistics()["last_order"]
    assert errors[journal.limiting[-1]] >= 0.999 * errors.max()


def test_records_add_up_to_the_counters() -> None:
    problem = problems.decay(3)
    for options in ({}, {"record_steps": True}):
        ida = ended(problem, 50.0, **options)
        journal, counters = journal_of(ida.kept_journal(), problem, problem.known, {}), ida.statistics()
        assert journal.steps.sum() == counters["steps"]
        assert journal.error_failures.sum() == counters["error_test_failures"]
        assert journal.time[-1] == pytest.approx(50.0)
        np.testing.assert_allclose(np.diff(journal.time), journal.step[1:], rtol=1e-9)


def test_steps_do_not_change() -> None:
    problem = problems.ladder(10)
    with_it, without = (ended(problem, 10.0, swinging=True, record_steps=recorded) for recorded in (True, False))
    assert with_it.statistics()["residual_evaluations"] == without.statistics()["residual_evaluations"]
    np.testing.assert_array_equal(with_it.y, without.y)


def test_a_restart_goes_on_where_it_was() -> None:
    problem = problems.decay(2)
    ida = ended(problem, 5.0, record_steps=True)
    first = len(ida.journal()["t"])
    ida.reinit(5.0, problem.start, consistent_slopes(problem))
    ida.advance(10.0, np.zeros(0), np.zeros((0, ida.width)))
    times = ida.journal()["t"]
    assert len(times) == ida.statistics()["steps"] > first
    assert (np.diff(times) > 0).all()


def test_kinds_have_the_numbers_of_the_core() -> None:
    assert [int(kind) for kind in (Failure.ERROR_TEST, Failure.NOT_CONVERGED, Failure.NOT_FINITE, Failure.SINGULAR)] == [0, 1, 2, 3]


def test_a_pickled_result_keeps_its_journal():
    """Also of states that were selected, and pickled a second time; what `diagnose` says is the same word for word."""
    import pickle

    class Swing(ac.Component):
        x, y = ac.Variable(start=1.0, fixed=True), ac.Variable(start=0.0)
        u, w, F = ac.Variable(start=0.0, fixed=True), ac.Variable(), ac.Variable()

        def equations(self):
            yield ac.der(self.x) == self.u
            yield ac.der(self.y) == self.w
            yield ac.der(self.u) == -self.F * self.x
            yield ac.der(self.w) == -self.F * self.y - 9.81
            yield self.x**2 + self.y**2 == 1.0

    class Cooling(ac.Component):
        u, T, q = ac.Input(0.0), ac.Variable(start=1.0), ac.Variable()

        def equations(self):
            yield ac.der(self.T) == self.u - self.q
            yield self.q == self.T**3

    for component, inputs in ((Swing(), {}), (Cooling(), {"u": lambda t: 0.1 * t})):
        result = ac.compile(component).simulate(until=2.0, inputs=inputs, record_steps=True)
        once = pickle.loads(pickle.dumps(result))
        twice = pickle.loads(pickle.dumps(once))
        assert str(result.diagnose()) == str(once.diagnose()) == str(twice.diagnose())
        np.testing.assert_array_equal(once.journal.limiting, result.journal.limiting)
