"""The portable solver: IDA of scikit-sundae, plain wheels, Python callbacks. Slower, and always there."""

from __future__ import annotations

import ctypes
import warnings
from typing import Any, ClassVar

import numpy as np

from .integrator import Step, StepFailed, Task, suggested_step
from .problem import Floats
from .solver import Option
from .status import Status

_EPSILON = float(np.finfo(float).eps)
_MOST_STEPS = 1000  # of IDA's own, within one call

# By IDA's return codes
_FAILURES = {
    -1: Status.TOO_MANY_STEPS,
    -2: Status.TOO_MUCH_ACCURACY,
    -3: Status.ERROR_TEST,
    -4: Status.CONVERGENCE,
    -6: Status.SINGULAR,
    -9: Status.NOT_FINITE,
}


_ERROR_TEST = -3
_STUCK = (_ERROR_TEST, -4)  # where a tolerance may be too tight
_SHORTER = 1e-4  # than the first step that failed
_SHARE, _SIGNS = 0.1, 8


class Sundae:
    """The same method as `ida`, driven from Python."""

    name = "sundae"
    events: ClassVar[bool] = True
    doc = (
        "IDA of scikit-sundae with SuperLU; needs no compiler. It has root-mean-square norms only, which let the error of one "
        "variable grow with the square root of the size: both tolerances are divided by that square root, so that results are at "
        "least as accurate as those of `ida`. Algebraic unknowns take part in its error test; where a run is stuck, those that its "
        "states leave open do no longer."
    )
    options: ClassVar[tuple[Option, ...]] = (
        Option("max_order", int, 5, "largest order of the integration formula", 1, 5),
        Option("max_step", float, 0.0, "largest step in seconds; 0: no limit", 0.0),
        Option("initial_step", float, 0.0, "first step in seconds; 0: estimated", 0.0),
        Option("max_steps", int, 0, "number of steps after which a run ends; 0: no limit", 0),
        Option("max_nonlinear_iterations", int, 4, "Newton iterations per attempt", 1, 100),
        Option("max_convergence_failures", int, 10, "failed attempts to solve a step before a run ends", 1, 1000),
        Option("progress_interval", float, 0.1, "seconds of wall time between two calls of the progress function", 0.0),
    )

    def open(self, task: Task) -> SundaeIntegrator:
        return SundaeIntegrator(task)


class SundaeIntegrator:
    """IDA, one step at a time."""

    def __init__(self, task: Task) -> None:
        from scipy.sparse import csc_matrix

        self.task = task
        indptr, indices = task.pattern
        columns = np.repeat(np.arange(task.size), np.diff(indptr))
        self._order = np.lexsort((indices, columns))  # scikit-sundae wants the rows of a column in order
        self._sparsity = csc_matrix((np.ones(len(indices)), (indices, columns)), shape=(task.size, task.size))
        self._solver: Any = None
        self._begin: tuple[float, Floats, Floats, float] | None = None
        self._end, self._looked_back = task.t0, False
        self._reached: tuple[float, Floats, Floats, float] | None = None  # by the last step, and how long that was
        self._least, self._eased_at = np.zeros(task.size), -np.inf  # tolerances that were measured, and where

    def start(self, t: float, y: Floats, yp: Floats, step: float) -> None:
        self._begin, self._end, self._looked_back = (t, y, yp, step), t, False
        self._reached, self._least = None, np.zeros(self.task.size)

    def step(self, stop: float) -> Step:
        aim = min(stop, 1e300)
        found = self._begun(aim) if self._begin is not None else self._solver.step(aim, method="onestep", tstop=aim)
        if self._looked_back and found.success and found.t <= self._end:  # it only came back from there
            found = self._solver.step(aim, method="onestep", tstop=aim)
        if found.status in _STUCK and self._reached is not None and self._end > self._eased_at:
            found = self._eased(aim)
        if not found.success:
            raise StepFailed(_FAILURES.get(found.status, Status.FAILED), found.message)
        self._reached = float(found.t), found.y, found.yp, float(found.t) - self._end
        self._begin, self._looked_back, self._end = None, False, float(found.t)
        return Step(self._end, found.y, found.yp)

    def _begun(self, aim: float) -> Any:
        """The first step after a start. An algebraic unknown has no slope there that a step could be told of: where it moves fast,
        IDA gives up after ten attempts, and a shorter step begins."""
        assert self._begin is not None
        t, y, yp, step = self._begin
        found = self._first(aim)
        shorter = _SHORTER * (step or aim - t)
        while found.status == _ERROR_TEST and 32 * _EPSILON * abs(t) < shorter < np.inf and shorter > 0:
            self._begin, shorter = (t, y, yp, shorter), _SHORTER * shorter
            found = self._first(aim)
        return found

    def _eased(self, aim: float) -> Any:
        """Another attempt, from where the last step ended. Algebraic unknowns that the tolerances of the states leave open are
        tested no tighter than a share of that, as in `ida` (`native/scales.h`)."""
        assert self._reached is not None
        t, y, yp, step = self._reached
        self._least, self._eased_at = np.maximum(self._least, self._left_open(t, y, yp, 1 / max(step, _EPSILON))), self._end
        self._begin = t, y, yp, 0.0
        return self._first(aim)

    def _left_open(self, t: float, y: Floats, yp: Floats, cj: float) -> Floats:
        """A share of how wrong algebraic unknowns are at the end of a step if states are by their tolerances."""
        from scipy.sparse import csc_array
        from scipy.sparse.linalg import splu

        task, algebraic = self.task, ~self.task.differential
        indptr, indices = task.pattern
        rest, whole = (csc_array((task.jacobian(t, y, yp, c), indices, indptr), shape=(task.size,) * 2) for c in (0.0, cj))
        sizes = np.where(algebraic, 0.0, task.rtol * np.abs(y) + task.atol)
        signs = np.random.default_rng(0).choice([-1.0, 1.0], (task.size, _SIGNS))
        try:
            moved = splu(whole).solve((whole - rest) @ (sizes[:, None] * signs))
        except RuntimeError:  # singular
            return np.zeros(task.size)
        return np.asarray(np.where(algebraic & np.isfinite(moved).all(axis=1), _SHARE * np.abs(moved).max(axis=1), 0.0))

    def at(self, t: float) -> tuple[Floats, Floats]:
        self._looked_back = True
        between = self._solver.step(t, method="normal", tstop=None)
        return between.y, between.yp

    def _first(self, stop: float) -> Any:
        """The first step after a start. Freed before it has factorised a matrix, an IDA of scikit-sundae ends the process."""
        line = _Line(self.task, self._order)
        self._solver = self._created(line, stop)
        kept = ctypes.py_object(self._solver)
        ctypes.pythonapi.Py_IncRef(kept)
        try:
            found = self._solver.step(stop, method="onestep", tstop=stop)
        except BaseException:
            line.task = None
            raise
        if found.njev:
            ctypes.pythonapi.Py_DecRef(kept)
        return found

    def _created(self, line: _Line, stop: float) -> Any:
        """A solver that starts here. To start an old one anew would leak the memory of its factorisation.

        Both tolerances are divided by the square root of the size: see `Sundae.doc`.
        """
        from sksundae.ida import IDA

        assert self._begin is not None
        t, y, yp, step = self._begin
        task, options = self.task, self.task.options
        share = np.sqrt(task.size)
        first = options["initial_step"] or suggested_step(task, t, y, yp, stop, step)
        settings: dict[str, Any] = {
            "jacfn": line.jacobian,
            "algebraic_idx": [int(i) for i in np.flatnonzero(~task.differential)],
            "linsolver": "sparse",
            "sparsity": self._sparsity,
            "rtol": float(max(task.rtol / share, 1e-14)),
            "atol": np.maximum(task.atol, self._least) / share,
            "first_step": float(max(first, 32 * _EPSILON * abs(t))),
            "max_step": float(options["max_step"]),
            "max_order": options["max_order"],
            "max_num_steps": _MOST_STEPS,
            "max_nonlin_iters": options["max_nonlinear_iterations"],
            "max_conv_fails": options["max_convergence_failures"],
        }
        with warnings.catch_warnings():  # it tells that a given Jacobian is used instead of its own
            warnings.simplefilter("ignore", UserWarning)
            solver = IDA(line.residual, **settings)
        solver.init_step(t, y, yp)
        return solver


class _Line:
    """Between a solver and what it evaluates. It can be cut, so that a solver that must not be freed keeps nothing else alive."""

    def __init__(self, task: Task, order: np.ndarray) -> None:
        self.task: Task | None = task
        self.order = order

    def residual(self, t: float, y: Floats, yp: Floats, res: Floats) -> None:
        assert self.task is not None
        res[:] = self.task.residual(t, y, yp)

    def jacobian(self, t: float, y: Floats, yp: Floats, res: Floats, cj: float, JJ: Floats) -> None:
        assert self.task is not None
        JJ[:] = self.task.jacobian(t, y, yp, cj)[self.order]
