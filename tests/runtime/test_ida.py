"""The native solver: the common suite, and what only a native session does."""

from __future__ import annotations

import threading
import time
from typing import Any, ClassVar

import numpy as np
import pytest
import small_problems as problems
from solver_suite import SINE, SolverSuite, consistent_slopes, request_for

from acausal.errors import NameNotFound
from acausal.runtime.outcome import Outcome
from acausal.runtime.problem import Stored
from acausal.runtime.run import run_to_end
from acausal.runtime.solver import find_solver, solver_names

core = pytest.importorskip("acausal._core")


class TestIda(SolverSuite):
    solver = "ida"
    sections: ClassVar = (100, 3000)


def session(problem: Any, gather: Any = None, **options: Any) -> Any:
    """A started native session."""
    cells = np.arange(problem.size) if gather is None else gather
    outputs = core.Outputs(problem.native, np.asarray(cells, dtype=np.int32))
    atol = np.full(problem.size, 1e-6)
    ida = core.Ida(problem.native, problem.known, 1e-6, atol, problem.differential, outputs, **{**problems.SUNDIALS, **options})
    ida.start(0.0, problem.start, consistent_slopes(problem))
    return ida


def advance(ida: Any, t_end: float, times: Any = (), **more: Any) -> tuple[int, np.ndarray]:
    times = np.asarray(times, dtype=float)
    rows = np.full((len(times), ida.width), np.nan)
    status, written = ida.advance(t_end, times, rows, **more)
    return status, rows[:written]


def test_maximum_norms_take_the_same_steps_at_every_size() -> None:
    """n equal equations are as hard as one; a root-mean-square norm would agree here, so one of them is made to move alone."""
    steps = []
    for n in (1, 10, 1000):
        problem = problems.decay(n)
        problem.start = np.zeros(n)
        problem.start[0] = 1.0
        run = run_to_end(find_solver("ida"), problem, request_for(problem, 5.0))
        steps.append((run.statistics["steps"], run.statistics["residual_evaluations"], run.rows[-1, 0]))
    assert steps[0] == steps[1] == steps[2]


def test_algebraic_unknowns_are_in_the_error_test_unless_they_are_suppressed() -> None:
    problem = problems.ladder(10)
    by_default = run_to_end(find_solver("ida"), problem, request_for(problem, 10.0, inputs={0: SINE}))
    without = run_to_end(
        find_solver("ida"), problem, request_for(problem, 10.0, inputs={0: SINE}, options={"suppress_algebraic": True})
    )
    assert without.statistics["steps"] < by_default.statistics["steps"]


def test_a_session_goes_on_where_it_was() -> None:
    ida = session(problems.decay(1, 1.0))
    assert advance(ida, 1.0)[0] == core.status.FINISHED
    status, rows = advance(ida, 2.0, [1.0, 1.5, 2.0])
    assert status == core.status.FINISHED and ida.t == 2.0
    np.testing.assert_allclose(rows[:, 0], np.exp([-1.0, -1.5, -2.0]), rtol=1e-4)


def test_a_restart_keeps_the_counters_and_the_analysis() -> None:
    ida = session(problems.decay(1, 1.0))
    advance(ida, 1.0)
    before = ida.statistics()["steps"]
    ida.reinit(1.0, np.array([5.0]), np.array([-5.0]))
    _status, rows = advance(ida, 2.0, [1.0, 2.0])
    np.testing.assert_allclose(rows[:, 0], [5.0, 5.0 * np.exp(-1.0)], rtol=1e-4)
    assert ida.statistics()["steps"] > before


def test_changed_known_values_hold_after_a_restart() -> None:
    ida = session(problems.decay(1, 1.0))
    advance(ida, 1.0)
    ida.set_known(np.array([3.0, 0.0]))
    ida.reinit(1.0, ida.y, -3 * ida.y)
    advance(ida, 2.0)
    np.testing.assert_allclose(ida.y, np.exp(-4.0), rtol=1e-4)


def rooted(level: float) -> Any:
    """exp(-t) with a root function y - level."""
    problem = problems.decay(1, 1.0)
    kernel = problems.expression_kernel(problems.Rows([[0]], [0], lambda y: y - level), 1)
    problem.native.add_root(*kernel)
    problem.native.set_roots(1)
    return problem


def test_roots_are_located_and_output_stops_there() -> None:
    ida = session(rooted(0.5))
    status, rows = advance(ida, 2.0, np.linspace(0.0, 2.0, 21))
    assert status == core.status.ROOT and ida.roots().tolist() == [-1]
    assert ida.t == pytest.approx(np.log(2.0), abs=1e-5)
    assert len(rows) == 7
    status, rows = advance(ida, 2.0, np.linspace(0.7, 2.0, 14))
    assert status == core.status.FINISHED and len(rows) == 14
    np.testing.assert_allclose(rows[:, 0], np.exp(-np.linspace(0.7, 2.0, 14)), rtol=1e-4)


def test_roots_do_not_depend_on_output_times() -> None:
    found = []
    for points in (2, 1000):
        ida = session(rooted(0.5))
        advance(ida, 2.0, np.linspace(0.0, 2.0, points))
        found.append((ida.t, ida.statistics()["steps"], ida.statistics()["root_evaluations"]))
    assert found[0] == found[1]


def test_root_directions() -> None:
    ida = session(rooted(0.5))
    ida.set_root_directions(np.array([1], dtype=np.int32))
    assert advance(ida, 2.0)[0] == core.status.FINISHED


def test_cancel_from_another_thread() -> None:
    problem = problems.ladder(100)
    ida = session(problem)
    ida.add_function(0, SINE.function)
    answers: list[int] = []
    thread = threading.Thread(target=lambda: answers.append(advance(ida, 1e6)[0]))
    thread.start()
    time.sleep(0.05)
    ida.cancel()
    thread.join(20.0)
    assert not thread.is_alive() and answers == [core.status.CANCELLED]
    assert 0 < ida.t < 1e6


def test_two_runs_in_two_threads_overlap_and_agree() -> None:
    problem = problems.ladder(300)
    alone = run_to_end(find_solver("ida"), problem, request_for(problem, 1000.0))
    inside = threading.Barrier(2, timeout=20.0)
    met: list[bool] = []
    results: dict[int, np.ndarray] = {}

    def simulate(k: int) -> None:
        first = True

        def progress(t: float) -> None:
            nonlocal first
            if first:  # both runs are in the middle of their integration at once
                first = False
                inside.wait()
                met.append(True)

        table = (np.linspace(0, 1000, 400), np.sin(np.linspace(0, 1000, 400)))
        from acausal.runtime.given import as_signal

        run = run_to_end(
            find_solver("ida"),
            problem,
            request_for(problem, 1000.0, inputs={0: as_signal(table)}, progress=progress, options={"progress_interval": 0.0}),
        )
        results[k] = run.rows

    threads = [threading.Thread(target=simulate, args=(k,)) for k in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60.0)
    assert met == [True, True]
    np.testing.assert_array_equal(results[0], results[1])
    assert np.abs(results[0]).max() > np.abs(alone.rows).max()  # the quiet run was another one


def test_python_runs_while_a_simulation_does() -> None:
    """The GIL is free: this thread gets on while the other one never returns to Python."""
    ida = session(problems.ladder(2000))
    ida.add_table(0, np.arange(100_000.0), np.sin(np.arange(100_000.0)))
    thread = threading.Thread(target=lambda: advance(ida, 1e6))
    thread.start()
    count = 0
    while ida.statistics()["steps"] < 50 and count < 10**7:
        count += 1
    ida.cancel()
    thread.join(20.0)
    assert count > 0 and not thread.is_alive()


def test_a_session_is_not_shared() -> None:
    ida = session(problems.ladder(100))
    ida.add_function(0, SINE.function)

    def meddle(t: float) -> None:
        ida.start(0.0, np.zeros(200), np.zeros(200))

    with pytest.raises(RuntimeError, match="already running"):
        advance(ida, 1e4, progress=meddle, progress_interval=0.0)


def test_singular_equations_name_the_unknown() -> None:
    problem = problems.undetermined()
    run = run_to_end(find_solver("ida"), problem, request_for(problem, 1.0, yp0=np.array([1.0, 0.0])))
    assert run.outcome is Outcome.SINGULAR
    assert run.t == 0.0 and len(run.rows) == 1
    assert "part.y[1] can take any value" in run.messages[0]


def test_steps_and_times_of_phases_are_told() -> None:
    problem = problems.ladder(50)
    run = run_to_end(find_solver("ida"), problem, request_for(problem, 10.0, inputs={0: SINE}))
    seconds = run.statistics["seconds"]
    assert set(seconds) == {"residual", "jacobian", "factorisation", "solution", "roots", "output", "watch", "total"}
    assert 0 < run.statistics["steps"] <= run.statistics["nonlinear_iterations"] <= run.statistics["residual_evaluations"]
    factorisations = run.statistics["full_factorisations"] + run.statistics["refactorisations"]
    assert 0 < run.statistics["linear_setups"] <= factorisations  # old factors are renewed between two setups
    assert seconds["total"] > 0


def test_sundials_does_not_talk_on_standard_error(capfd: pytest.CaptureFixture[str]) -> None:
    run = run_to_end(find_solver("ida"), problems.blow_up(), request_for(problems.blow_up(), 2.0))
    assert not run.ok
    assert capfd.readouterr() == ("", "")


def test_a_run_that_limits_its_steps_names_the_unknown() -> None:
    problem = problems.blow_up()
    run = run_to_end(find_solver("ida"), problem, request_for(problem, 2.0))
    assert any("part.y[0]" in message for message in run.messages), (run.outcome, run.messages)


@pytest.mark.parametrize(
    "change, told",
    [
        ({"atol": np.ones(2)}, "`atol` must have 3 elements, not 2"),
        ({"atol": np.ones(3, dtype=np.float32)}, "`atol` must be a C-contiguous numpy array of float64 with 1 dimension.*float32"),
        ({"tested": np.ones(3)}, "`tested` must be .* of bool"),
        ({"known": np.ones(5)}, "`known` must have 2 elements, not 5"),
    ],
)
def test_arrays_are_checked(change: dict[str, Any], told: str) -> None:
    problem = problems.decay(3)
    given = {"known": problem.known, "atol": np.ones(3), "tested": problem.differential} | change
    with pytest.raises((TypeError, ValueError), match=told):
        core.Ida(problem.native, given["known"], 1e-6, given["atol"], given["tested"], **problems.SUNDIALS)


def test_a_buffer_of_the_wrong_shape_is_refused() -> None:
    ida = session(problems.decay(2))
    with pytest.raises(ValueError, match=r"`rows` must have the shape \(3 or more, 2\), not \(3, 1\)"):
        ida.advance(1.0, np.linspace(0, 1, 3), np.empty((3, 1)))


def test_solvers_are_found_by_name() -> None:
    assert {"ida", "sundae"} <= set(solver_names())
    assert find_solver().name == "ida"
    with pytest.raises(NameNotFound, match=r"no solver `idaa`(.|\n)*Did you mean `ida`"):
        find_solver("idaa")


def test_stored_width_counts_cells_and_expressions() -> None:
    assert Stored(np.arange(3, dtype=np.int32), (), 2).width == 5
