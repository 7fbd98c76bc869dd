"""What every solver must do; test_ida.py and test_sundae.py run all of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest
import small_problems as problems

from acausal.errors import NameNotFound, UsageError
from acausal.runtime.given import as_signal
from acausal.runtime.outcome import Outcome
from acausal.runtime.problem import Problem, Stored
from acausal.runtime.run import run_to_end
from acausal.runtime.solver import Request, RunResult, find_solver

SINE = as_signal(lambda t: np.sin(2 * np.pi * 0.05 * t))


def consistent_slopes(problem: Problem, known: np.ndarray | None = None) -> np.ndarray:
    """y' at the start, of a problem linear in y' with one differential unknown per row."""
    zero = np.zeros(problem.size)
    return np.where(problem.differential, -problem.residual(0.0, problem.start, zero, known=known), 0.0)


def request_for(problem: Problem, t_end: float, times: Any = None, **more: Any) -> Request:
    times = np.linspace(0.0, t_end, 11) if times is None else np.asarray(times, dtype=float)
    stored = more.pop("stored", Stored(np.arange(problem.size, dtype=np.int32)))
    slopes = more.pop("yp0", None)
    slopes = consistent_slopes(problem) if slopes is None else slopes
    return Request(0.0, t_end, times, problem.start.copy(), slopes, stored, **more)


class SolverSuite:
    """Subclasses say which solver, and how much slower it may be given work."""

    solver: ClassVar[str]
    sections: ClassVar[tuple[int, ...]]

    def run(self, problem: Problem, t_end: float, times: Any = None, **more: Any) -> RunResult:
        return run_to_end(find_solver(self.solver), problem, request_for(problem, t_end, times, **more))

    def test_linear_decay_follows_the_exponential(self) -> None:
        run = self.run(problems.decay(3, 2.0), 2.0, rtol=1e-8, atol=1e-10)
        assert run.outcome is Outcome.FINISHED and run.ok and run.t == 2.0
        assert run.rows.shape == (11, 3) and run.rows.dtype == np.float64
        np.testing.assert_allclose(run.rows, np.exp(-2 * run.times)[:, None] * np.ones(3), rtol=1e-6)
        np.testing.assert_allclose(run.y, run.rows[-1], rtol=1e-12)
        np.testing.assert_allclose(run.yp, -2 * run.y, rtol=1e-4)

    def test_robertson_reaches_the_published_end_values(self) -> None:
        problem = problems.robertson()
        run = self.run(problem, 1e11, [1e11], rtol=1e-8, atol=np.array([1e-12, 1e-16, 1e-12]))
        published = np.array([0.2083340149701255e-7, 0.8333360770334713e-13, 0.9999999791665050])
        assert run.ok
        np.testing.assert_allclose(run.rows[0], published, rtol=2e-4)
        assert abs(run.rows[0].sum() - 1.0) < 1e-12  # conservation of mass

    def test_accuracy_does_not_dilute_with_size(self) -> None:
        """First capacitor of an RC ladder at t = 10 s, in every size the same: 0.27766133."""
        for sections in self.sections:
            problem = problems.ladder(sections)
            run = self.run(problem, 10.0, [10.0], inputs={0: SINE}, rtol=1e-6, atol=1e-6)
            assert abs(run.rows[0, 0] - 0.27766133) < 3e-6, sections

    def test_output_times_do_not_change_the_steps(self) -> None:
        problem = problems.ladder(20)
        few = self.run(problem, 10.0, [0.0, 10.0], inputs={0: SINE})
        many = self.run(problem, 10.0, np.linspace(0.0, 10.0, 2000), inputs={0: SINE})
        counters = ("steps", "residual_evaluations", "jacobian_evaluations")
        assert [few.statistics[c] for c in counters] == [many.statistics[c] for c in counters]
        assert few.statistics["steps"] > 20
        np.testing.assert_array_equal(few.rows[-1], many.rows[-1])

    def test_a_start_at_rest_does_not_step_over_the_input(self) -> None:
        """A thousandth of the span is half a period of the input: every such step would see zero."""
        run = self.run(problems.ladder(2), 1e4, np.linspace(0.0, 20.0, 21), inputs={0: SINE}, options={"max_steps": 300})
        assert np.abs(run.rows[:, 0]).max() > 0.5

    def test_output_at_the_start_is_the_start(self) -> None:
        problem = problems.decay()
        run = self.run(problem, 1.0, [0.0, 1e-300, 0.5], stored=Stored(np.array([0, 1], dtype=np.int32)))
        assert run.rows[0].tolist() == [1.0, -1.0]
        np.testing.assert_allclose(run.rows[1], [1.0, -1.0], rtol=1e-5)
        np.testing.assert_allclose(run.rows[2], [np.exp(-0.5), -np.exp(-0.5)], rtol=1e-4)

    def test_an_output_time_may_come_twice(self) -> None:
        run = self.run(problems.decay(), 1.0, [0.5, 0.5, 1.0, 1.0])
        assert run.rows[0] == run.rows[1] and run.rows[2] == run.rows[3]

    def test_stored_rows_hold_signs_slopes_time_and_expressions(self) -> None:
        problem = problems.decay(2, 3.0)
        law = problems.Rows([[0], [4]], [0], lambda y, k: y * y * k)
        stored = Stored(np.array([~0, 2, 4, 5], dtype=np.int32), (problems.expression_kernel(law, 2),), 1)
        run = self.run(problem, 1.0, [0.0, 0.25, 1.0], stored=stored, rtol=1e-8, atol=1e-10)
        y = np.exp(-3 * run.times)
        expected = np.stack([-y, -3 * y, np.full(3, 3.0), run.times, 3 * y * y], axis=1)
        np.testing.assert_allclose(run.rows, expected, rtol=2e-5)

    @pytest.mark.parametrize(
        "signal, integral",
        [
            (2.5, 2.5 * 4),
            (lambda t: np.cos(t), np.sin(4)),
            (([0.0, 4.0], [0.0, 8.0]), 16.0),
            (([1.0, 2.0], [1.0, 3.0]), 1.0 + 2.0 + 2 * 3.0),  # values hold outside
        ],
    )
    def test_inputs_drive_the_equations(self, signal: Any, integral: float) -> None:
        problem, given = problems.driven(), as_signal(signal)
        run = self.run(problem, 4.0, inputs={0: given}, yp0=np.array([given(0.0)]), stored=Stored(np.array([0, 2], dtype=np.int32)))
        assert run.rows[-1, 0] == pytest.approx(integral, abs=1e-4)
        np.testing.assert_allclose(run.rows[:, 1], given.at(run.times), atol=1e-14)

    def test_cubic_table_as_input(self) -> None:
        times = np.linspace(0.0, 4.0, 9)
        given = as_signal((times, times**2), interpolation="smooth")  # exact for a parabola
        run = self.run(problems.driven(), 4.0, inputs={0: given}, rtol=1e-8, atol=1e-8)
        assert run.rows[-1, 0] == pytest.approx(64 / 3, rel=1e-6)

    def test_a_function_that_raises_is_heard(self) -> None:
        def broken(t: float) -> float:
            if t > 0.5:
                raise ZeroDivisionError("no value")
            return 1.0

        with pytest.raises(ZeroDivisionError, match="no value"):
            self.run(problems.driven(), 1.0, inputs={0: as_signal(broken)})

    def test_known_values_of_a_run_are_its_own(self) -> None:
        problem = problems.decay(1, 1.0)
        known = np.array([2.0, 0.0])
        run = self.run(problem, 1.0, known=known, yp0=np.array([-2.0]), rtol=1e-8, atol=1e-10)
        assert run.rows[-1, 0] == pytest.approx(np.exp(-2.0), rel=1e-6)
        assert problem.known.tolist() == [1.0, 0.0] and known.tolist() == [2.0, 0.0]

    def test_a_run_that_fails_midway_keeps_its_rows(self) -> None:
        run = self.run(problems.blow_up(), 2.0, np.linspace(0.0, 2.0, 21))
        assert run.outcome in (Outcome.STEP_TOO_SMALL, Outcome.ERROR_TEST, Outcome.CONVERGENCE, Outcome.NOT_FINITE)
        assert run.t == pytest.approx(1.0, abs=1e-3)
        assert 10 <= len(run.times) == len(run.rows) <= 12
        assert run.times[-1] == run.t and run.rows[-1, 0] > run.rows[-2, 0]
        np.testing.assert_allclose(run.rows[:9, 0], 1 / (1 - run.times[:9]), rtol=1e-3)

    def test_an_equation_without_value_is_named(self) -> None:
        run = self.run(problems.square_root(0.5), 1.0, np.linspace(0.0, 1.0, 21))
        assert run.outcome is Outcome.NOT_FINITE
        assert run.t == pytest.approx(0.5, abs=1e-2)
        assert run.statistics["non_finite_evaluations"] > 0
        (diagnostic,) = run.diagnostics
        assert (diagnostic.component, diagnostic.equation) == ("part", "equation 1")
        assert any("part.y[0] = 0.5" in d for d in diagnostic.details)
        assert "equation 1" in run.messages[0]

    def test_too_many_steps(self) -> None:
        run = self.run(problems.decay(), 1.0, options={"max_steps": 7})
        assert run.outcome is Outcome.TOO_MANY_STEPS and "max_steps" in run.outcome.value
        assert run.statistics["steps"] == 7 and 0 < run.t < 1.0

    def test_a_run_that_stops_before_its_first_output_time_has_a_row(self) -> None:
        run = self.run(problems.decay(), 1.0, [1.0], options={"max_steps": 7})
        assert run.times.tolist() == [run.t]
        np.testing.assert_allclose(run.rows, [np.exp(-run.t * problems.decay().known[:1])], rtol=1e-5)

    def test_progress_sees_time_move_and_can_stop_the_run(self) -> None:
        seen: list[float] = []

        def progress(t: float) -> bool:
            seen.append(t)
            return len(seen) < 5

        run = self.run(
            problems.ladder(50),
            1e4,
            np.linspace(0, 1e4, 101),
            inputs={0: SINE},
            progress=progress,
            options={"progress_interval": 0.0},
        )
        assert run.outcome is Outcome.CANCELLED
        assert len(seen) == 5 and sorted(seen) == seen
        wanted = np.linspace(0, 1e4, 101)
        assert run.t < 1e4 and run.times.tolist() == [*wanted[wanted < run.t], run.t]
        np.testing.assert_array_equal(run.rows[-1], run.y)  # one more row, where it stopped

    def test_ctrl_c_ends_the_run_and_keeps_the_rows(self) -> None:
        def progress(t: float) -> None:
            raise KeyboardInterrupt

        run = self.run(problems.ladder(50), 1e4, inputs={0: SINE}, progress=progress, options={"progress_interval": 0.0})
        assert run.outcome is Outcome.CANCELLED and len(run.rows) >= 1

    def test_an_exception_of_the_progress_function_is_heard(self) -> None:
        def progress(t: float) -> None:
            raise LookupError("lost")

        with pytest.raises(LookupError, match="lost"):
            self.run(problems.ladder(50), 1e4, inputs={0: SINE}, progress=progress, options={"progress_interval": 0.0})

    def test_a_run_of_no_length_gives_its_start(self) -> None:
        problem = problems.decay()
        run = run_to_end(find_solver(self.solver), problem, request_for(problem, 0.0, [0.0]))
        assert run.ok and run.rows.tolist() == [[1.0]] and run.statistics["steps"] == 0

    def test_kernels_through_ctypes_give_the_same_equations(self) -> None:
        problem = problems.ladder(5)
        plain = replace(problem, use_native=False)
        y, yp = np.linspace(0, 1, 10), np.linspace(-1, 1, 10)
        np.testing.assert_array_equal(problem.residual(1.0, y, yp), plain.residual(1.0, y, yp))

    @pytest.mark.parametrize(
        "options, told",
        [
            ({"max_order": 6}, r"`max_order` of solver `\w+` must be an integer ≥ 1 and ≤ 5; it got 6 \(int\)"),
            ({"max_order": 2.5}, r"must be an integer .* it got 2.5 \(float\)"),
            ({"max_step": "large"}, r"must be a number ≥ 0; it got 'large' \(str\)"),
        ],
    )
    def test_option_values_are_checked(self, options: dict[str, Any], told: str) -> None:
        with pytest.raises(UsageError, match=told):
            self.run(problems.decay(), 1.0, options=options)

    def test_unknown_options_have_near_matches(self) -> None:
        with pytest.raises(NameNotFound, match=r"no option `max_stepz`.*(\n.*)*Did you mean `max_step"):
            self.run(problems.decay(), 1.0, options={"max_stepz": 1})

    @pytest.mark.parametrize(
        "times, told",
        [
            ([-1.0, 1.0], "output time -1 lies outside the run, which goes from 0 to 1"),
            ([0.5, 0.2], "increasing order"),
            ([2.0], "output time 2"),
        ],
    )
    def test_output_times_are_checked(self, times: list[float], told: str) -> None:
        with pytest.raises(UsageError, match=told):
            self.run(problems.decay(), 1.0, times)

    def test_the_end_comes_after_the_start(self) -> None:
        with pytest.raises(UsageError, match="cannot go from t = 0 to t = -1"):
            self.run(problems.decay(), -1.0, [])

    def test_tolerances_are_positive(self) -> None:
        with pytest.raises(UsageError, match="Tolerances must be positive"):
            self.run(problems.decay(), 1.0, rtol=-1.0)
