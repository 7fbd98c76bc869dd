"""The journal of a run: its steps and failed attempts in bounded memory, kept by the native solver (native/journal.h).

It is always kept, of some of the steps; `record_steps=True` has every attempt looked at unknown by unknown. `diagnosis/run.py`
reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..records import dataclass, field_names
from .inputs import Signal, values_at
from .problem import Floats, Problem

if TYPE_CHECKING:
    from ..families.explicit import Explicit
    from ..families.system import System


class Failure(IntEnum):
    """What became of an attempt at a step; by the numbers of native/journal.h."""

    ERROR_TEST = 0
    NOT_CONVERGED = 1
    NOT_FINITE = 2
    SINGULAR = 3


class Attempt(NamedTuple):
    """An attempt whose iteration did not converge: where it began (the predicted point) and where it was given up."""

    t: float
    y: Floats
    yp: Floats
    last_y: Floats
    last_yp: Floats


@dataclass(slots=True, eq=False)
class Journal:
    """Records of steps, oldest first; each stands for `steps` of them, and shows the smallest of those that were looked at.

    Unknowns are numbered as in `problem`; -1 where nobody looked.
    """

    problem: Problem
    known: Floats
    inputs: Mapping[int, Signal]
    time: Floats  # reached by the step
    step: Floats
    order: np.ndarray
    limiting: np.ndarray  # unknown with the largest local error over its tolerance
    steps: np.ndarray
    error_failures: np.ndarray  # failed attempts since the record before
    convergence_failures: np.ndarray
    sampled_steps: int  # whose limiting unknown is known
    weight: int  # how many steps these stand for
    limited: np.ndarray  # per unknown, how many of these it limited
    failed_tests: np.ndarray  # per unknown, how many failed error tests it caused, of those seen
    not_converged: np.ndarray  # per unknown, how many iterations it kept from converging
    failure_time: Floats
    failure_kind: np.ndarray  # `Failure`
    failure_unknown: np.ndarray
    attempts: tuple[Attempt, ...]

    def known_at(self, t: float) -> Floats:
        return values_at(self.inputs, t, self.known)

    def kept(self, system: System, inputs: Mapping[int, Any]) -> KeptJournal:
        """As data, for another process: of the problem, which unknowns of the system are left in it and what is known of them."""
        problem, own = self.problem, {name: getattr(self, name) for name in _OWN}
        attributes = {name: getattr(problem, of) for name, of in _OF_STARTS.items()}
        states = getattr(problem, "states", None)
        return KeptJournal(system, problem.lowered.explicit, states, attributes, self.known, dict(inputs), own)


_OWN = tuple(name for name in field_names(Journal) if name not in ("problem", "known", "inputs"))
_OF_STARTS = {
    "start": "start", "given": "start_given", "fixed": "fixed", "nominal": "nominal", "minimum": "minimum", "maximum": "maximum",
    "level": "start_level", "voices": "start_voices",
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class KeptJournal:
    """A journal that was sent to another process: its problem is made again when somebody looks at it."""

    system: System
    explicit: Explicit
    states: np.ndarray | None  # where states were selected
    attributes: Mapping[str, np.ndarray]
    known: Floats
    inputs: Mapping[int, Any]
    own: Mapping[str, Any]

    def __call__(self) -> Journal:
        from ..families.lowering import lower_with  # who looks at no journal needs none of this
        from ..families.pattern import jacobian_pattern
        from ..families.starts import Starts
        from .build import build

        system = self._system()
        pattern = jacobian_pattern(system.families, system.equation_count, system.size)
        lowered = lower_with(system, pattern, self.explicit)
        spread = {name: _spread(held, lowered.kept, system.size) for name, held in self.attributes.items()}
        problem = build(lowered, self.known[: system.known_count], Starts(**spread))
        if self.states is not None:
            problem.states = self.states
        return Journal(problem, self.known, self.inputs, **self.own)

    def _system(self) -> System:
        from ..families.reduction import with_states

        return self.system if self.states is None else with_states(self.system, self.states)


def _spread(values: np.ndarray, places: np.ndarray, size: int) -> np.ndarray:
    whole = np.zeros(size, dtype=np.asarray(values).dtype)
    whole[places] = values
    return whole


def journal_of(kept: Any, problem: Problem, known: Floats, inputs: Mapping[int, Signal]) -> Journal:
    """What a native session wrote down (`_core.Journal`)."""
    found = kept.as_dict()
    n = problem.size
    counts = {
        name: found[name] if len(found[name]) else np.zeros(n, np.int64) for name in ("limited", "failed_tests", "not_converged")
    }
    return Journal(
        problem,
        known,
        inputs,
        time=found["t"],
        step=found["h"],
        order=found["order"],
        limiting=found["limiting"],
        steps=found["steps"],
        error_failures=found["error_failures"],
        convergence_failures=found["convergence_failures"],
        sampled_steps=found["sampled_steps"],
        weight=found["weight"],
        **counts,
        failure_time=found["failure_t"],
        failure_kind=found["failure_kind"],
        failure_unknown=found["failure_unknown"],
        attempts=tuple(Attempt(t, a[:n], a[n:], b[:n], b[n:]) for t, a, b in found["points"]),
    )
