"""How the start of a run moves with parameters: the initial system, differentiated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import block_array, csc_array
from scipy.sparse.linalg import splu

from ..errors import ModelError
from ..runtime.initialise import Initialiser
from ..runtime.initialise.conditions import Conditions, by_structure
from ..runtime.preparation import private
from ..runtime.problem import Problem
from .local import Local

if TYPE_CHECKING:
    from ..model.model import Model
    from .directions import Directions

_STEP = 1e-5  # of start values that are expressions of parameters


def initial(problem: Problem, w: np.ndarray, directions: Directions, mode: str) -> np.ndarray:
    """Sensitivities of all unknowns at the start."""
    n, local, starts = problem.size, Local(problem, w), directions.own if mode == "hold" else directions.starts
    initialiser = Initialiser(private(problem), mode)  # type: ignore[arg-type]
    conditions = initialiser.conditions
    if problem.differential.all() and not problem.initial_size and mode != "steady":
        return starts  # nothing else is to be solved for
    known = directions.known
    rows, right = [csc_array(local.F_y), csc_array(local.F_yp)], local.by_known(known)
    matrix = block_array([rows])
    if problem.initial_size:
        families = problem.lowered.initial_families()
        direct = local.slopes(families, problem.initial_size)
        matrix = block_array([rows, [direct[:, :n], direct[:, n : 2 * n]]])
        d = np.zeros((len(w), known.shape[1]))
        d[2 * n : local.first_computed] = known
        right = np.vstack([right, direct @ local.follow(d)])
    found = _solved(conditions, matrix, right, starts)
    if found is None:  # where numbers are zero, something else is determined than structure says
        found = _solved(by_structure(initialiser.stack, mode, w[: 2 * n]), matrix, right, starts)  # type: ignore[arg-type]
    if found is None:
        raise ModelError(
            "The start of the run is not determined uniquely, so that it has no sensitivities.",
            remedy="Fix the start values (`fixed=True`) that decide about it.",
        )
    return found[:n]


def _solved(conditions: Conditions, matrix: Any, right: np.ndarray, starts: np.ndarray) -> np.ndarray | None:
    whole = np.zeros((matrix.shape[1], right.shape[1]))
    held = np.concatenate([conditions.fixed, conditions.taken]).astype(np.int64)
    whole[held] = starts[held]
    chosen = csc_array(csc_array(matrix)[:, conditions.columns])[conditions.rows]
    if not conditions.square:
        return None
    try:
        whole[conditions.columns] = splu(csc_array(chosen)).solve(-(right + matrix @ whole)[conditions.rows])
    except RuntimeError:
        return None
    return whole if np.isfinite(whole).all() else None


def moved_starts(
    model: Model, problem: Problem, known: np.ndarray, directions: Any, started: np.ndarray | None = None
) -> np.ndarray:
    """How start values move with known cells; they are expressions of parameters, evaluated by Python. Those that `set` or an
    earlier result gave (`started`) are none."""
    reader, found = model._preparation.starts, np.zeros((problem.size, directions.shape[1]))
    if not reader.start.bindings:
        return found
    for k in range(directions.shape[1]):
        direction = directions[:, [k]].toarray().ravel()
        if not direction.any():
            continue
        moving = (direction != 0) & (known != 0)
        size = float(np.abs(known[moving] / direction[moving]).min(initial=np.inf))  # nothing goes beyond zero
        step = _STEP * (size if np.isfinite(size) else 1.0)
        high, low = (reader.starts(known + sign * step * direction).start.copy() for sign in (1, -1))
        slopes = (high - low) / (2 * step)
        found[:, k] = (slopes if started is None else np.where(started, 0.0, slopes))[problem.lowered.kept]
    return found
