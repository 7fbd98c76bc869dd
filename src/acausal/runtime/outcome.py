"""How a run ended, in the sentence the user reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

from ..errors import Diagnostic

if TYPE_CHECKING:
    from .journal import Journal
    from .problem import Problem


_LIMITING = 0.3  # of the tolerance: a local error below it has no say in the step


class Outcome(Enum):
    """What became of a run. The value is the sentence the user reads, with its remedy; everything computed so far is kept."""

    FINISHED = "The simulation reached its end."
    CANCELLED = "The simulation was stopped before its end. Everything computed so far is kept."
    TOO_MANY_STEPS = "The maximum number of solver steps was reached. Try increasing `max_steps`, or set it to 0 for no limit."
    STEP_TOO_SMALL = (
        "Time no longer moves: the steps became too small for the numbers of the machine. The solution probably goes to infinity "
        "or an equation jumps; look at the variables named below just before the end."
    )
    ERROR_TEST = (
        "The error test failed again and again: some variable changes faster than any step can follow. "
        "Look for a jump in its equation, smooth it, or loosen `rtol`."
    )
    CONVERGENCE = (
        "The equations of a step could not be solved, even with the smallest step. Look for a jump or a missing solution in the "
        "equations named below, or give better start and nominal values."
    )
    SINGULAR = (
        "The equations became singular: they no longer determine the unknown named below. Look for a coefficient that became zero "
        "(a closed valve, an empty volume, a root at zero), and use a regularised function there."
    )
    NOT_FINITE = (
        "An equation has no finite value (division by zero, logarithm or root of a negative number, overflow). "
        "Check its start values and bounds, or use a regularised function there."
    )
    TOO_MUCH_ACCURACY = (
        "The tolerances ask for more accuracy than the numbers of the machine can give. Increase `rtol`, or the nominal values."
    )
    STATES_DEGRADED = "The selected states no longer determine the rest well; others are selected and the run goes on."
    TERMINATED = "The model ended the run: a condition under which it says so became true."
    ASSERTION = "A condition that the model asserts does not hold; it is named below. Everything computed until then is kept."
    CHATTERING = (
        "Events follow each other so fast that time hardly moves: a relation switches back and forth. It is named below, with what "
        "can be done about it."
    )
    ZENO = "Events come at ever shorter intervals and pile up at one time. What causes them is named below."
    EVENT_CYCLES = "An event does not come to rest: discrete values switch each other back and forth at one instant. See below."
    EVENT_CONFLICT = "At an event two statements set one state to different values. See below which."
    EVENT_UNSOLVABLE = (
        "After an event the equations could not be solved in the new state, although everything known was tried. See below "
        "which state."
    )
    FAILED = "The solver gave up for a reason of its own; its message is kept below."

    @property
    def ok(self) -> bool:
        """Whether the run came to its end, or to where the model ended it."""
        return self in (Outcome.FINISHED, Outcome.TERMINATED)

    def __bool__(self) -> bool:
        """Whether the run came to its end: `if result.outcome: …`."""
        return self.ok

    def __str__(self) -> str:
        return self.value


def equations_without_value(
    problem: Problem, t: float, y: np.ndarray, yp: np.ndarray, known: np.ndarray | None = None
) -> np.ndarray:
    """Numbers of the equations whose residual, or else whose derivative, is not finite at this point."""
    residual = problem.residual(t, y, yp, known=known)
    rows = np.flatnonzero(~np.isfinite(residual))
    if len(rows):
        return rows
    by_value, by_slope = problem.partials(t, y, yp, known=known)
    return np.unique(problem.pattern[1][~(np.isfinite(by_value) & np.isfinite(by_slope))])


def explain_unmoved(problem: Problem, t: float, workspace: np.ndarray) -> tuple[Diagnostic, ...]:
    """Which equation has no finite value where nothing is unknown, and all equations compute something."""
    if problem.has_values(workspace):
        return ()  # what has none is not an equation: a value assigned at an event, of which the event tells
    explained = problem.explain_row(0, workspace)
    return () if explained is None else (replace(explained, what=f"{explained.what.rstrip('.')}, at time {t:.6g}."),)


def explain_not_finite(
    problem: Problem, t: float, y: np.ndarray, yp: np.ndarray, known: np.ndarray | None = None, most: int = 5
) -> tuple[Diagnostic, ...]:
    """Which equations have no finite value at this point, with the values of their unknowns."""
    found: list[Diagnostic] = []
    for row in equations_without_value(problem, t, y, yp, known)[:most]:
        workspace = problem.equations.workspace(t, y, yp, problem.known if known is None else known)
        explained = problem.explain_row(int(row), workspace)
        if explained is not None:
            explained = replace(explained, what=f"{explained.what.rstrip('.')}, at time {t:.6g}.")
            if explained not in found:  # several rows may use one explicit variable that has no value
                found.append(explained)
            continue
        where = problem.describe_equation(int(row))
        details = tuple(f"{problem.name_of_unknown(int(i))} = {y[i]:.6g}" for i in problem.unknowns_of_equation(int(row))[:8])
        found.append(
            Diagnostic(
                f"This equation has no finite value at time {t:.6g}.",
                component=getattr(where, "component", ""),
                equation=getattr(where, "equation", ""),
                location=getattr(where, "location", None),
                details=details,
                remedy=getattr(where, "remedy", ""),
            )
        )
    return tuple(found)


def explain_singular(
    problem: Problem,
    t: float,
    column: int,
    y: np.ndarray | None = None,
    yp: np.ndarray | None = None,
    known: np.ndarray | None = None,
) -> tuple[Diagnostic, ...]:
    """What the equations no longer determine: unknowns that can move together, equations that say the same; or just the unknown."""
    if y is not None and yp is not None:
        from .singular import explain_point

        found = explain_point(problem, t, y, yp, known)
        if found:
            return found
    if column < 0:
        return ()
    name = problem.name_of_unknown(column)
    return (Diagnostic(f"`{name}` is not determined by the equations at time {t:.6g}.", component=name.rpartition(".")[0]),)


def explain_stopped(problem: Problem, t: float, errors: np.ndarray, journal: Journal, newton: bool) -> tuple[Diagnostic, ...]:
    """Unknowns and equations at a step that was given up, or was one too many; there are always some.

    `newton`: it was the iteration for a step that failed. Then the last such attempt tells which unknowns it could not settle, and
    which equations hold least.
    """
    if newton and journal.attempts:
        return _explain_attempt(problem, journal)
    found = explain_limiting(problem, t, errors, always=True)
    if found:
        return found
    counts = journal.failed_tests + journal.not_converged + journal.limited
    worst = [int(i) for i in np.argsort(-counts, kind="stable")[:5] if counts[i] > 0] or list(range(min(problem.size, 5)))
    details = [f"{problem.name_of_unknown(i)}" for i in worst]
    remedy = "Plot them just before the end, and look at their equations."
    what = f"These unknowns kept the last steps before time {t:.6g} from succeeding."
    return (Diagnostic(what, details=(*details, *equations_of(problem, worst[0])), remedy=remedy),)


def _explain_attempt(problem: Problem, journal: Journal, most: int = 3) -> tuple[Diagnostic, ...]:
    a = journal.attempts[-1]
    known = journal.known_at(a.t)
    size = np.maximum(np.abs(a.y), problem.nominal)
    with np.errstate(all="ignore"):
        moved = np.nan_to_num(np.abs(a.last_y - a.y) / size, nan=np.inf)
        residual = np.abs(problem.residual(a.t, a.last_y, a.last_yp, known=known))
        values = np.abs(problem.jacobian(a.t, a.y, a.yp, 0.0, known=known))
        indptr, indices = problem.pattern
        terms = np.bincount(indices, values * np.repeat(size, np.diff(indptr)), problem.size)
        wrong = np.nan_to_num(residual / np.maximum(terms, np.finfo(float).tiny), nan=np.inf)
    unknowns = [int(i) for i in np.argsort(-moved, kind="stable")[:most]]
    rows = [int(r) for r in np.argsort(-wrong, kind="stable")[:most] if wrong[r] > 0] or [int(indices[indptr[unknowns[0]]])]
    details = [f"{problem.name_of_unknown(i)}: from {a.y[i]:.6g} to {a.last_y[i]:.6g}" for i in unknowns]
    return (
        Diagnostic(
            f"The iteration for the step to time {a.t:.6g} did not settle these unknowns, and these equations hold least.",
            details=(*details, *_told(problem, rows)),
            remedy="Look for a jump, or for a point beyond which the equations have no solution; smooth it, or keep away from it.",
        ),
    )


def explain_place(problem: Problem, t: float, y: np.ndarray, yp: np.ndarray, known: np.ndarray) -> tuple[Diagnostic, ...]:
    """Unknowns and equations where a run ended whose solver keeps no errors: what moves fastest, and what holds least."""
    size = np.maximum(np.abs(y), problem.nominal)
    with np.errstate(all="ignore"):
        speed = np.nan_to_num(np.abs(yp) / size, nan=np.inf)
        wrong = np.nan_to_num(np.abs(problem.residual(t, y, yp, known=known)), nan=np.inf)
    unknowns = [int(i) for i in np.argsort(-speed, kind="stable")[:3]]
    details = [f"{problem.name_of_unknown(i)} = {y[i]:.6g}, changing by {yp[i]:.3g} a second" for i in unknowns]
    rows = [int(r) for r in np.argsort(-wrong, kind="stable")[:2] if wrong[r] > 0]
    lines = dict.fromkeys((*equations_of(problem, unknowns[0]), *_told(problem, rows)))
    what = f"These unknowns moved fastest where the run ended, at time {t:.6g}; they and what holds least stand in these equations."
    remedy = 'Plot them just before the end. The solver `ida` tells which unknown kept each step short: `solver="ida"`.'
    return (Diagnostic(what, details=(*details, *lines), remedy=remedy),)


def explain_limiting(
    problem: Problem, t: float, errors: Sequence[float] | np.ndarray, most: int = 5, always: bool = False
) -> tuple[Diagnostic, ...]:
    """The unknowns whose local error keeps the step small, worst first; nothing when it was not the error that did.

    With `always` the largest are told even if the last step could have been longer: of many steps it is only one.
    """
    sizes = np.nan_to_num(np.asarray(errors, dtype=float), nan=np.inf)
    least = 0.1 * sizes.max(initial=0.0) if always else _LIMITING
    worst = [int(i) for i in np.argsort(-sizes, kind="stable")[:most] if sizes[i] > least]
    if not worst:
        return ()
    details = [f"{problem.name_of_unknown(i)}: local error {sizes[i]:.3g} times the tolerance" for i in worst]
    remedy = "Plot them just before the end: do they grow without end, jump, or oscillate faster than anything of interest?"
    what = f"These unknowns limited the step at time {t:.6g}."
    return (Diagnostic(what, details=(*details, *equations_of(problem, worst[0])), remedy=remedy),)


STUCK = (Outcome.ERROR_TEST, Outcome.CONVERGENCE, Outcome.STEP_TOO_SMALL, Outcome.TOO_MANY_STEPS)  # a step, or steps, were too much


def equations_of(problem: Problem, unknown: int, most: int = 3) -> list[str]:
    """The equations in which an unknown stands."""
    indptr, indices = problem.pattern
    return _told(problem, indices[indptr[unknown] : indptr[unknown + 1]][:most])


def _told(problem: Problem, rows: Iterable[int]) -> list[str]:
    found = [problem.describe_equation(int(row)) for row in rows]
    return [f"in:        {d.component}: {d.equation}" + (f"  ({d.location})" if d.location else "") for d in found if d is not None]
