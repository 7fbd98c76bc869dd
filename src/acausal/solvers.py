"""What a solver plug-in needs, by name; `docs/solvers.md` tells how to write one."""

from __future__ import annotations

from .runtime.integrator import Integrator, Step, StepFailed, Task
from .runtime.outcome import Outcome
from .runtime.solver import Option, Request, RunResult, Solver, find_solver, solver_names
from .runtime.status import Status

__all__ = [
    "Integrator",
    "Option",
    "Outcome",
    "Request",
    "RunResult",
    "Solver",
    "Status",
    "Step",
    "StepFailed",
    "Task",
    "find_solver",
    "solver_names",
]
