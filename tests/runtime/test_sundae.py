"""The portable solver: the common suite, also without the native core, and agreement with the native one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest
import small_problems as problems
from solver_suite import SINE, SolverSuite, request_for

from acausal.runtime import solver as solver_module
from acausal.runtime.problem import Problem
from acausal.runtime.run import run_to_end
from acausal.runtime.solver import RunResult, default_solver, find_solver


class TestSundae(SolverSuite):
    solver = "sundae"
    sections: ClassVar = (100, 300)


class TestSundaeWithoutTheNativeCore(SolverSuite):
    """Kernels called through ctypes, as on a machine where nothing could be built."""

    solver = "sundae"
    sections: ClassVar = (100,)

    def run(self, problem: Problem, t_end: float, times: Any = None, **more: Any) -> RunResult:
        return super().run(replace(problem, use_native=False), t_end, times, **more)


def test_both_solvers_agree() -> None:
    pytest.importorskip("acausal._core")
    problem = problems.ladder(30)
    runs = [
        run_to_end(find_solver(name), problem, request_for(problem, 20.0, inputs={0: SINE}, rtol=1e-7, atol=1e-7))
        for name in ("ida", "sundae")
    ]
    np.testing.assert_allclose(runs[0].rows, runs[1].rows, atol=2e-6)


def test_it_is_the_default_without_the_native_core_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver_module, "core", None)
    default_solver.cache_clear()
    with pytest.warns(UserWarning, match=r"without its native core.*`sundae`.*libsundials-dev"):
        assert default_solver() == "sundae"
    assert default_solver() == "sundae"  # once told is enough
    default_solver.cache_clear()
