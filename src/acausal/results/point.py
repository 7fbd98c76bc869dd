"""A single point as a result: a state of rest, or where the search for a start gave up."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..program.program import Program
from ..program.rows import Stored
from ..runtime.initialise import InitialisationError
from ..runtime.preparation import Prepared
from ..runtime.solver import Statistics
from ..runtime.storage import choose
from .result import Result


def point(program: Program, at: Prepared, t: float, outcome: Any) -> Result:
    """A result with a single point, every quantity by name; also of a point where an initialisation gave up."""
    choice, problem = choose(program.system, None, True, 1), at.problem
    workspace = problem.equations.workspace(t, at.y, at.yp, problem.known)
    row = workspace[problem.lowered.index[choice.gather]]
    stored = Stored(np.array([t]), row[None, :], choice.column, choice.slope_column, problem.known.copy(), at.signals)
    statistics = Statistics()
    statistics.late = {"initialisation": at.report.__str__}
    return Result(program, stored, outcome, statistics)


class shown:
    """A start that fails shows how far it came, as a result: `with shown(program): …`."""

    def __init__(self, program: Program) -> None:
        self.program = program

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, InitialisationError) and error.reached is not None and error.result is None:
            error.result = point(self.program, error.reached, error.report.time, error.outcome)
