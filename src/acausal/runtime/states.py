"""Which states a run integrates: fixed for an index-1 system, selected and re-selected for a reduced one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..families.lowering import lower
from ..families.pattern import Pattern, jacobian_pattern
from ..families.plant import ZERO
from ..families.reduction import with_states
from ..families.selection import Choice, Selection, Selector
from ..families.starts import StartReader, Starts
from ..families.system import System
from .build import build, kernels
from .inputs import Signal, values_at
from .problem import Equations, Floats, Problem

GROWTH_LIMIT = 3.0  # exchange states when that enlarges the determinant of the chosen block at least so much


@dataclass(slots=True, eq=False)
class Watch:
    """What a solver looks at after each step: blocks of the Jacobian whose chosen columns (the first `count`) may degrade."""

    positions: list[np.ndarray]  # (rows, columns) into the values of `equations.pattern`; -1: zero
    counts: list[int]
    limit: float
    equations: Equations  # of the reduced system without its state rows
    source: np.ndarray  # where the cells of its workspace are in that of the problem that is run

    def blocks(self) -> list[tuple[np.ndarray, int]]:
        return [(np.ascontiguousarray(p, dtype=np.int32), c) for p, c in zip(self.positions, self.counts, strict=True)]

    def degraded(self, t: float, y: Floats, yp: Floats, known: Floats) -> bool:
        """The same without the native core; y and y' are those of the reduced system."""
        return self.growth(t, y, yp, known) > self.limit

    def growth(self, t: float, y: Floats, yp: Floats, known: Floats) -> float:
        """By which factor exchanging two columns would enlarge the determinant of a chosen block at most."""
        values = np.append(self.equations.jacobian(t, y, yp, 0.0, known), 0.0)
        return max(_growth(values[p], c) for p, c in zip(self.positions, self.counts, strict=True))


def _growth(matrix: np.ndarray, count: int) -> float:
    if matrix.shape[1] == count:
        return 0.0
    try:
        return float(np.abs(np.linalg.solve(matrix[:, :count], matrix[:, count:])).max())
    except np.linalg.LinAlgError:
        return np.inf


class StateSelection:
    """Problems of a reduced system, one for each selection of states that came up."""

    def __init__(self, system: System, pattern: Pattern, preference: np.ndarray, known: np.ndarray, keep: np.ndarray) -> None:
        self.system, self.selector, self.keep = system, Selector(system, pattern, preference), keep
        residuals, jacobians, self._code = kernels(system.families, pattern.positions)
        size = system.size
        self.equations = Equations(
            size, system.equation_count, len(known), 2 * size, (pattern.indptr, pattern.indices), residuals, jacobians
        )
        self.constant = self.selector.constant_entries()
        self._problems: dict[bytes, Problem] = {}

    def select(self, t: float, y: Floats, yp: Floats, known: Floats, nominal: Floats, wishes: bool = True) -> Selection:
        """The best states at a point; without `wishes`, by numbers alone."""
        values = self.equations.jacobian(t, y, yp, 0.0, known)
        return self.selector.select(np.nan_to_num(values), nominal, wishes)

    def problem(self, selection: Selection, known: np.ndarray, starts: Starts, explicit: bool = True) -> Problem:
        """The problem with these states; not `explicit`: every unknown of the system is one of the problem."""
        explicit = explicit and not self.dynamic(selection)
        found = self._problem(selection, known, starts, explicit)
        return found if found.lowered.usable(known) else self._problem(selection, known, starts, False)

    def _problem(self, selection: Selection, known: np.ndarray, starts: Starts, explicit: bool) -> Problem:
        key = selection.states.tobytes() + bytes([explicit])
        if key not in self._problems:
            system = with_states(self.system, selection.states)
            pattern = jacobian_pattern(system.families, system.equation_count, system.size)
            candidates = np.zeros(system.size, dtype=bool)
            candidates[self.selector.derivatives.candidates()[:, 0]] = True
            lowered = lower(system, pattern, self.keep | (candidates & starts.given)) if explicit else lower(system, pattern)
            problem = build(lowered, known, starts)
            problem.candidates = candidates[problem.lowered.kept]
            problem.states = selection.states
            problem.fresh_jacobians = not self.constant[self.selector.entry_position].all()
            self._problems[key] = problem
        return self._problems[key]

    def watch(self, selection: Selection, problem: Problem) -> Watch | None:
        """What may degrade during a run: blocks with entries that vary, and with a choice."""
        chosen = self._changing(selection)
        if not chosen:
            return None
        index = problem.lowered.index
        source = np.where(index >= 0, index, 2 * problem.size + ZERO).astype(np.int32)
        return Watch([c.entries for c in chosen], [c.count for c in chosen], GROWTH_LIMIT, self.equations, source)

    def dynamic(self, selection: Selection) -> bool:
        """Whether states may have to be exchanged. Then nothing is made explicit, so that all selections share one workspace."""
        return bool(self._changing(selection))

    def _changing(self, selection: Selection) -> list[Choice]:
        """Choices with an alternative, of which an entry varies; those of one shape are looked at together."""
        by_shape: dict[tuple[int, ...], list[int]] = {}
        for k, choice in enumerate(selection.choices):
            if choice.entries.shape[1] > choice.count:
                by_shape.setdefault(choice.entries.shape, []).append(k)
        constant, found = np.append(self.constant, True), list[int]()  # the last one is where there is no entry
        for same in by_shape.values():
            entries = np.stack([selection.choices[k].entries for k in same])
            found += np.array(same)[~constant[entries].all(axis=(1, 2))].tolist()
        return [selection.choices[k] for k in sorted(found)]


class Exchange:
    """Selects states anew during a run; called by a solver when those it has degrade."""

    def __init__(self, selection: StateSelection, known: Floats, inputs: Mapping[int, Signal], starts: StartReader) -> None:
        self.selection, self.known, self.inputs, self.starts = selection, known, inputs, starts

    def __call__(self, t: float, y: Floats, yp: Floats) -> tuple[Problem, Watch]:
        here = values_at(self.inputs, t, self.known)
        starts = self.starts.starts(here)
        # A wish that led here is not asked again: it would hold states where they hardly determine the rest.
        chosen = self.selection.select(t, y, yp, here, starts.nominal, wishes=False)
        problem = self.selection.problem(chosen, self.known, starts)
        watch = self.selection.watch(chosen, problem)
        assert watch is not None
        # Nothing better is to be had here. Selection weighs by nominal values, so this may be far above the limit.
        return problem, replace(watch, limit=max(watch.limit, 2 * watch.growth(t, y, yp, here)))

    def replaced(self, problem: Problem, state: int, by: int, t: float) -> Problem:
        """The problem with one selected state replaced by another unknown that could be one."""
        here = values_at(self.inputs, t, self.known)
        derivative = dict(self.selection.selector.derivatives.candidates().tolist())
        states = problem.states.copy()
        states[states[:, 0] == state] = (by, derivative[by])
        return self.selection.problem(Selection(states, []), here, self.starts.starts(here), explicit=False)


def spread(problem: Problem, t: float, y: Floats, yp: Floats, known: Floats) -> tuple[Floats, Floats]:
    """Values of the unknowns of a problem as values of all unknowns of its system."""
    size = problem.lowered.system.size
    whole = problem.lowered.expand(problem.equations.workspace(t, y, yp, known))
    return whole[:size], whole[size : 2 * size]


def gathered(problem: Problem, y: Floats, yp: Floats) -> tuple[Floats, Floats]:
    """Values of all unknowns of a system as those of a problem; y' of selected states are unknowns of the system themselves."""
    slopes = yp.copy()
    slopes[problem.states[:, 0]] = y[problem.states[:, 1]]
    kept = problem.lowered.kept
    return y[kept], slopes[kept]
