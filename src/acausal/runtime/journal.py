"""The journal of a run: its steps and failed attempts in bounded memory, kept by the native solver (native/journal.h).

It is always kept, of some of the steps; `record_steps=True` has every attempt looked at unknown by unknown. `diagnosis/run.py`
reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from ..records import dataclass
from .inputs import Signal, values_at
from .problem import Floats, Problem


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
