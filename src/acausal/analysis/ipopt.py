"""IPOPT, from cyipopt or from casadi, whichever is installed, with the arguments of scipy's `minimize`.

casadi brings IPOPT in its wheels. It differentiates expressions of its own; here it is given functions, and their derivatives as
functions, and IPOPT makes up second derivatives from first ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..errors import UsageError

_WITHIN = {"bound_relax_factor": 0.0}  # bounds are kept exactly: a model may have no values beyond them


def ipopt(tolerance: float) -> Callable[..., Any]:
    """A function with the arguments of scipy's `minimize`."""
    try:
        found = import_module("cyipopt").minimize_ipopt
        return partial(found, tol=tolerance, options={"max_iter": 200, "print_level": 0, **_WITHIN})
    except ImportError:
        pass
    try:
        return partial(_with_casadi, import_module("casadi"), tolerance)
    except ImportError:
        raise UsageError(
            '`method="ipopt"` needs cyipopt or casadi, and neither is installed.', remedy="pip install casadi"
        ) from None


def _with_casadi(
    casadi: Any,
    tolerance: float,
    objective: Callable[[np.ndarray], float],
    x0: np.ndarray,
    *,
    jac: Callable[[np.ndarray], np.ndarray],
    bounds: Sequence[tuple[float, float]],
    constraints: Sequence[dict[str, Any]] = (),
) -> Any:
    wrong: list[BaseException] = []  # casadi takes an exception for a point to go round, and nobody would hear of it

    def told(functions: Sequence[Callable[[np.ndarray], Any]], shape: tuple[int, ...], x: np.ndarray) -> np.ndarray:
        try:
            return np.full(shape, np.nan) if wrong else np.array([f(x) for f in functions])
        except BaseException as error:
            wrong.append(error)
            return np.full(shape, np.nan)

    size, count = len(x0), 1 + len(constraints)
    values = partial(told, [objective, *(c["fun"] for c in constraints)], (count,))
    slopes = partial(told, [jac, *(c["jac"] for c in constraints)], (count, size))
    both = _function(casadi, "values", values, slopes, (size, count))
    x = casadi.MX.sym("x", size)
    found = both(x)
    quiet = {"print_time": False, "show_eval_warnings": False, "ipopt.print_level": 0, "ipopt.sb": "yes"}
    how = {"ipopt.tol": tolerance, "ipopt.max_iter": 200, "ipopt.hessian_approximation": "limited-memory"}
    how |= {f"ipopt.{name}": value for name, value in _WITHIN.items()}
    problem = {"x": x, "f": found[0], "g": found[1:]}
    solver = casadi.nlpsol("optimum", "ipopt", problem, {**quiet, **how})
    low, high = np.array(bounds, dtype=float).T
    try:
        best = solver(x0=x0, lbx=low, ubx=high, lbg=np.zeros(count - 1), ubg=np.full(count - 1, np.inf))
    except Exception as error:
        raise (wrong or [error])[0] from None
    if wrong:
        raise wrong[0]
    said = solver.stats()
    return SimpleNamespace(
        x=np.asarray(best["x"]).ravel(), success=bool(said["success"]), message=str(said["return_status"]), kept=both
    )


def _function(casadi: Any, name: str, values: Callable[..., Any], slopes: Callable[..., Any], shape: tuple[int, int]) -> Any:
    """A function of casadi's that calls ours, and whose Jacobian does."""
    size, count = shape

    class Jacobian(casadi.Callback):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.construct(f"jac_{name}", {})

        def get_n_in(self) -> int:
            return 2  # the point, and the values there

        def get_sparsity_in(self, i: int) -> Any:
            return casadi.Sparsity.dense(size if i == 0 else count, 1)

        def get_sparsity_out(self, i: int) -> Any:
            return casadi.Sparsity.dense(count, size)

        def eval(self, given: Any) -> list[Any]:
            return [casadi.DM(slopes(np.asarray(given[0]).ravel()))]

    class Values(casadi.Callback):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.jacobian_of_it = Jacobian()
            self.construct(name, {})

        def get_sparsity_in(self, i: int) -> Any:
            return casadi.Sparsity.dense(size, 1)

        def get_sparsity_out(self, i: int) -> Any:
            return casadi.Sparsity.dense(count, 1)

        def eval(self, given: Any) -> list[Any]:
            return [casadi.DM(values(np.asarray(given[0]).ravel()))]

        def has_jacobian(self) -> bool:
            return True

        def get_jacobian(self, *_: Any) -> Any:
            return self.jacobian_of_it

    return Values()
