"""Which states a run integrates: fixed for an index-1 system, selected and re-selected for a reduced one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from ..families.explicit import Explicit
from ..families.lowering import Lowered, lower, lower_with
from ..families.pattern import Pattern, jacobian_pattern
from ..families.plant import ZERO
from ..families.reduction import with_states
from ..families.selection import Choice, Selection, Selector, merged
from ..families.starts import StartReader, Starts
from ..families.system import System
from ..records import dataclass
from .build import build, kernels
from .histories import PAST_ALONE, history_cells
from .inputs import Signal, values_at
from .problem import Equations, Floats, Problem

_ENDLESS = 1e100  # what a slope without end counts for: products with scales stay finite
GROWTH_LIMIT = 3.0  # exchange states when that enlarges the determinant of the chosen block at least so much


@dataclass(slots=True, eq=False)
class Watch:
    """What a solver looks at now and then: a matrix [M | N] whose chosen columns M may degrade (see native/watch.h)."""

    choice: Choice
    scale: Floats  # of the columns of M, then of N: nominal values
    limit: float
    equations: Equations  # of G, see `families/selection.py`
    source: np.ndarray  # where the cells of its workspace are in that of the problem that is run

    def attach(self, session: Any) -> None:
        """Have a native session watch."""
        session.set_watch(self.equations.native, self.source, *self.table(), self.limit)

    def table(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """[M | N] in compressed columns: pointers, rows, positions in the values of G, and the scale of each column."""
        c = self.choice
        order = np.lexsort((c.entry_row, c.entry_column))
        pointers = np.zeros(len(self.scale) + 1, dtype=np.int32)
        pointers[1:] = np.cumsum(np.bincount(c.entry_column, minlength=len(self.scale)))
        rows, positions = (np.ascontiguousarray(v[order], dtype=np.int32) for v in (c.entry_row, c.position))
        return pointers, rows, positions, np.ascontiguousarray(self.scale, dtype=np.float64)

    def growth(self, t: float, y: Floats, yp: Floats, known: Floats) -> float:
        """By which factor exchanging two columns would enlarge the determinant at most, in scales; y and y' of the whole system."""
        c, m = self.choice, len(self.choice.rows)
        matrix = np.zeros((m, len(self.scale)))
        matrix[c.entry_row, c.entry_column] = self.equations.jacobian(t, y, yp, 0.0, known)[c.position]
        matrix *= self.scale
        try:
            return float(np.abs(np.linalg.solve(matrix[:, :m], matrix[:, m:])).max(initial=0.0))
        except np.linalg.LinAlgError:
            return np.inf


class StateSelection:
    """Problems of a reduced system, one for each selection of states that came up."""

    def __init__(self, system: System, pattern: Pattern, preference: np.ndarray, known: np.ndarray, keep: np.ndarray) -> None:
        self.system, self.selector, self.keep = system, Selector(system, pattern, preference), keep
        own = self.selector.pattern
        residuals, jacobians, self._code = kernels(self.selector.families, own.positions)
        size = system.size
        self.equations = Equations(
            size, system.equation_count, len(known), 2 * size, (own.indptr, own.indices), residuals, jacobians
        )
        self._pattern, self._known_size, self._histories = pattern, len(known), history_cells(system)
        self._problems: dict[bytes, Problem] = {}
        self._common: Explicit | None = None  # what is computed whatever the states are

    @cached_property
    def whole(self) -> tuple[Equations, object]:
        """All equations of the reduced system, without rows that select states, and their code; few runs ask for them."""
        residuals, jacobians, code = kernels(self.system.families, self._pattern.positions)
        size, pattern = self.system.size, (self._pattern.indptr, self._pattern.indices)
        return Equations(size, self.system.equation_count, self._known_size, 2 * size, pattern, residuals, jacobians), code

    def select(self, t: float, y: Floats, yp: Floats, known: Floats, nominal: Floats, limit: float = np.inf) -> Selection:
        """The best states at a point; with a `limit`, preferences count where numbers allow it."""
        if len(self._histories):
            known = known.copy()
            known[self._histories] = PAST_ALONE
        values = self.equations.jacobian(t, y, yp, 0.0, known)
        return self.selector.select(np.nan_to_num(values, posinf=_ENDLESS, neginf=-_ENDLESS), nominal, limit)

    def problem(self, selection: Selection, known: np.ndarray, starts: Starts, explicit: bool = True) -> Problem:
        """The problem with these states; not `explicit`: every unknown of the system is one of the problem."""
        found = self._problem(selection, known, starts, explicit)
        return found if found.lowered.usable(known) else self._problem(selection, known, starts, False)

    def alike(self, problem: Problem, states: np.ndarray, known: np.ndarray, starts: Starts) -> Problem:
        """The problem with other states and the same unknowns."""
        return self._problem(Selection(states, []), known, starts, bool(problem.lowered.computed), problem.lowered.explicit)

    def _problem(
        self, selection: Selection, known: np.ndarray, starts: Starts, explicit: bool, same: Explicit | None = None
    ) -> Problem:
        dynamic = self.dynamic(selection)
        key = selection.states.tobytes() + bytes([explicit, dynamic, same is not None])
        if key not in self._problems:
            system = with_states(self.system, selection.states)
            pattern = jacobian_pattern(system.families, system.equation_count, system.size)
            candidates = np.zeros(system.size, dtype=bool)
            candidates[self.selector.derivatives.candidates()[:, 0]] = True
            keep = self.keep | (candidates & starts.given)
            lowered = self._lowered(system, pattern, keep, dynamic, same) if explicit else lower(system, pattern)
            problem = build(lowered, known, starts)
            problem.candidates = candidates[problem.lowered.kept]
            problem.states = selection.states
            problem.fresh_jacobians = not self.selector.constant.all()
            self._problems[key] = problem
        return self._problems[key]

    def _lowered(self, system: System, pattern: Pattern, keep: np.ndarray, dynamic: bool, same: Explicit | None) -> Lowered:
        """With explicit variables; if states may be exchanged, with those that are explicit whatever the states are.

        What one selection computes from a row with a constant coefficient is a dummy in all others: its derivative is determined by
        the derivative of that row, which must be there.
        """
        if same is not None:
            return lower_with(system, pattern, same)
        if not dynamic:
            return lower(system, pattern, keep)
        if self._common is None:
            lowered = lower(system, pattern, keep, self.selector.derivatives.determines(self.system.size))
            self._common = lowered.explicit
            self.selector.no_state[self._common.unknown] = True
            return lowered
        return lower_with(system, pattern, self._common)

    def watch(self, selection: Selection, problem: Problem, nominal: Floats) -> Watch | None:
        """What may degrade during a run: blocks with entries that vary, and with a choice."""
        chosen = self._changing(selection)
        if not len(chosen.rows):
            return None
        index = problem.lowered.index
        source = np.where(index >= 0, index, 2 * problem.size + ZERO).astype(np.int32)
        columns = np.concatenate([chosen.chosen, chosen.others])
        return Watch(chosen, nominal[columns], GROWTH_LIMIT, self.equations, source)

    def dynamic(self, selection: Selection) -> bool:
        """Whether states may have to be exchanged. Then all selections share one workspace."""
        return bool(len(self._changing(selection).rows))

    def _changing(self, selection: Selection) -> Choice:
        return merged([self.selector.changing(c) for c in selection.choices])


class Exchange:
    """Selects states anew during a run; called by a solver when those it has degrade."""

    def __init__(self, selection: StateSelection, known: Floats, inputs: Mapping[int, Signal], starts: StartReader) -> None:
        self.selection, self.known, self.inputs, self.starts = selection, known, inputs, starts

    def __call__(self, problem: Problem, t: float, y: Floats, yp: Floats) -> tuple[Problem, Watch]:
        """A problem with better states in place of this one; the watch takes what it finds there for good."""
        here = values_at(self.inputs, t, self.known)
        starts = self.starts.starts(here)
        whole, slopes = spread(problem, t, y, yp, values_at(self.inputs, t, problem.known))
        chosen = self.selection.select(t, whole, slopes, here, starts.nominal, GROWTH_LIMIT)
        if problem.lowered.computed and np.isin(chosen.states[:, 0], problem.lowered.explicit.unknown).any():
            chosen = Selection(problem.states, chosen.choices)  # nothing that can be had is better
        other = self.selection.problem(chosen, self.known, starts)
        watch = self.selection.watch(chosen, other, starts.nominal)
        assert watch is not None
        return other, watch

    def replaced(self, problem: Problem, state: int, by: int, t: float) -> Problem:
        """The problem with unknown `by` as a state in place of another, for an event that sets it."""
        here = values_at(self.inputs, t, self.known)
        derivative = dict(self.selection.selector.derivatives.candidates().tolist())
        kept, states = problem.lowered.kept, problem.states.copy()
        states[states[:, 0] == kept[state]] = (kept[by], derivative[int(kept[by])])
        return self.selection.alike(problem, states, here, self.starts.starts(here))


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
