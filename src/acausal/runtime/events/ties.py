"""Why no values were found after an event: what the initialisation says, and whether an equation speaks of states alone by now.

`ac.where(closed, a - b, i) == 0` determines i while it is open. Where it closes, a and b are states, which keep their values at an
event: nothing determines i, which is what keeps them together from then on. The index of the equations is another one there, and
they are reduced once, for all branches together.

And which unknowns are of one kind, so that one may be a state in place of another (`ranks`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...errors import Diagnostic
from ..initialise import InitialisationError
from ..initialise.report import Outcome, Report
from ..problem import Problem

_OF_A_START, _OF_AN_EVENT = "The initial values could not be found", "Values after the event could not be found"
_MOST = 4  # names
_REMEDY = (
    "Where these states are tied from here on, something must keep them together: an unknown on which their derivatives depend, as "
    "the current through a contact that closes on two capacitors. Does it act on none of them here, or is one tie said twice (a "
    "loop of ideal contacts, which a small resistance opens)? If nothing is to keep them together, let the states jump, "
    "`ac.when(…, ac.reinit(a, …))`, and state the derivative in this branch (`ac.der(a) == ac.der(b)` instead of `a == b`); or "
    "exchange whole models (`ac.Phases`), each of which is reduced by itself."
)


def explained(error: InitialisationError) -> tuple[Diagnostic, ...]:
    """What to say of an initialisation with states held that failed after an event; its problem has the numbers of that moment."""
    told = tuple(replace(d, what=d.what.replace(_OF_A_START, _OF_AN_EVENT)) for d in error.diagnostics)
    report = error.report
    tied = _speaks_of_states_alone(report) if report.outcome is Outcome.SINGULAR and report.failed else None
    if tied is None:
        return told
    row, states = tied
    names = ", ".join(report.quantity(int(c)) for c in states[:_MOST]) + (", …" if len(states) > _MOST else "")
    left = ", ".join(report.quantity(int(c)) for c in report.failed[0].columns[:_MOST])
    what = f"{_OF_AN_EVENT}: the equation named speaks of {names} alone by now, which keep their values at an event"
    place = report.describe(row)
    named = Diagnostic("") if place is None else place
    return (
        replace(
            told[0],
            what=f"{what}, and leaves {left} open.",
            component=named.component,
            equation=named.equation,
            location=named.location,
            remedy=_REMEDY,
        ),
        *told[1:],
    )


def _speaks_of_states_alone(report: Report) -> tuple[int, np.ndarray] | None:
    """An equation of the block that failed in which nothing is solved for that counts now, and the states in it."""
    problem, n = report.problem, report.problem.size
    if not (np.isfinite(report.y).all() and np.isfinite(report.yp).all()):
        return None
    indptr, rows = problem.pattern
    parts = [np.asarray(part)[: len(rows)] != 0.0 for part in problem.partials(report.time, report.y, report.yp)]
    column = np.repeat(np.arange(n), np.diff(indptr))
    columns, rows = (
        np.concatenate([column[parts[0]], n + column[parts[1]]]),
        np.concatenate([np.asarray(rows)[part] for part in parts]),
    )
    held = np.isin(columns, np.union1d(report.conditions.fixed, report.conditions.taken))
    block = report.failed[0].rows[report.failed[0].rows < n]
    alone = block[np.isin(block, rows) & ~np.isin(block, rows[~held])]
    return (int(alone[0]), np.unique(columns[rows == alone[0]])) if len(alone) else None


def ranks(problem: Problem) -> np.ndarray:
    """How often each unknown can still be differentiated before its highest derivative is reached: 2 for positions, 1 for
    velocities."""
    added = problem.lowered.system.derivatives
    if added is None:
        return np.zeros(problem.size, dtype=np.int64)
    return np.concatenate([added.highest, added.highest[added.of_unknown] - added.order])[problem.lowered.kept]
