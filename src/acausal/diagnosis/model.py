"""A model diagnosed before it runs: statistics, warnings, suggested next steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import Diagnostic, ModelError
from ..families.statistics import Statistics
from ..readable import Readable, Section, count, warning_lines
from ..runtime.initialise import InitialisationError
from .checks import CHECKS, Finding, Start
from .solution import Solution


@dataclass(slots=True)
class ModelDiagnosis(Readable):
    """What `model.diagnose` gives: fields for programs, `print` for people."""

    name: str
    statistics: Statistics
    warnings: tuple[Diagnostic, ...]
    next_steps: tuple[str, ...]
    start: str  # how the initial values were found, or that they were not

    @property
    def ok(self) -> bool:
        return not self.warnings

    @property
    def title(self) -> str:  # type: ignore[override]
        return f"Diagnosis of {self.name}"

    def sections(self) -> Iterator[Section]:
        yield Section("Statistics", [*_facts(self.statistics), ("start", self.start)])
        found = [line for k, w in enumerate(self.warnings, 1) for line in warning_lines(k, w)]
        yield Section(f"Warnings: {len(self.warnings)}" if found else "Warnings: none", found)
        yield Section("Suggested next steps", [(f"{k}.", step) for k, step in enumerate(self.next_steps, 1)])


def diagnose(model: Any) -> ModelDiagnosis:
    """`model.diagnose()`: the model with its parameters and start values as they are set now."""
    start, failure = _start(model)
    findings = [finding for check in CHECKS for finding in check(start)]
    told = {f.warning for f in findings}
    rest = [
        Finding(d, "Make it start: the failed block says which unknowns need better start values.")
        for d in failure
        if d not in told
    ]
    singular = [f for f in findings if f.warning in failure]
    findings = [*singular, *rest, *(f for f in findings if f not in singular)]
    steps = tuple(dict.fromkeys(f.step for f in findings)) or _when_fine(start)
    found = start.report.outcome.value if start.found else "No consistent initial values were found."
    return ModelDiagnosis(model.title, model.info(), tuple(f.warning for f in findings), steps, found)


def _start(model: Any) -> tuple[Start, tuple[Diagnostic, ...]]:
    """The model at its consistent start, or at its start values with the reason why there is none."""
    from ..runtime.preparation import Beginning

    try:
        first = model.prepare(Beginning())
    except InitialisationError as error:
        return _at_start_values(model, error.report), error.diagnostics
    except ModelError as error:
        return _at_start_values(model, None), error.diagnostics
    return Start(model, Solution(model), first.problem, first.y, first.yp, True, first.report), ()


def _at_start_values(model: Any, report: Any) -> Start:
    problem = model.problem
    return Start(model, Solution(model), problem, problem.start.copy(), np.zeros(problem.size), False, report)


def _when_fine(start: Start) -> tuple[str, ...]:
    states = np.flatnonzero(start.problem.differential)
    example = start.solution.name(int(start.problem.lowered.kept[states[0]])) if len(states) else "a.quantity"
    return (
        "Nothing stands out. Run it: `result = model.simulate(until=…)`.",
        f'`model.explain("{example}")` tells what determines a quantity, `result.diagnose()` what made a run slow.',
    )


def _facts(s: Statistics) -> Iterator[tuple[str, str]]:
    yield "components", f"{count(s.components, 'component')} of {count(s.classes, 'class', 'classes')}" if s.components else "none"
    yield "declared", f"{count(s.variables, 'variable')}, {count(s.inputs, 'input')}, {count(s.parameters, 'parameter')}"
    yield (
        "of these",
        (f"{s.aliases} aliases, {s.known} known, {s.eliminated} eliminated, {s.computed} computed, {count(s.unknowns, 'unknown')}"),
    )
    yield "unknowns", f"{count(s.states, 'state')}, {s.algebraic} algebraic"
    if s.derivatives:
        differentiated = count(s.differentiated, "equation")
        yield "index", f"reduced: {differentiated} differentiated, {count(s.dummies, 'dummy derivative')}"
    together = ", ".join(str(size) for size in s.simultaneous_blocks)
    yield "blocks", f"{s.blocks}; solved together: {together}" if together else f"{s.blocks}, all of one equation"
