"""The problems are stated in `benchmarks/structure`, where the suite `structure` measures them; here they are held to figures."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import acausal as ac

sys.path.insert(0, str(Path(__file__).parents[2]))

RTOL = 1e-8
REACHED = 1e-6  # of a signal's size: what some hundred steps at RTOL stay below


@pytest.fixture
def run() -> Callable[..., Any]:
    """Compile and simulate at a tolerance that the comparisons rely on."""

    def simulate(component: ac.Component, until: float, **options: Any) -> Any:
        result = ac.compile(component).simulate(until=until, **{"rtol": RTOL, **options})
        assert result.outcome is ac.Outcome.FINISHED, result.outcome.value
        return result

    return simulate


@pytest.fixture
def agrees() -> Callable[..., None]:
    """Whether a trajectory is the closed form."""

    def check(actual: Any, exact: Any, reached: float = REACHED) -> None:
        size = max(float(np.max(np.abs(exact))), 1e-300)
        np.testing.assert_allclose(actual, np.broadcast_to(exact, np.shape(actual)), rtol=0, atol=reached * size)

    return check


@pytest.fixture
def poles() -> Callable[[Any], np.ndarray]:
    """The finite eigenvalues of the linearised equations at rest, with what reduction added in place: one for each state."""

    def compute(model: Any) -> np.ndarray:
        from scipy.linalg import eig
        from scipy.sparse import csc_matrix

        point, problem = model.steady_state(), model.problem
        y = np.array([float(point[problem.name_of_unknown(k)][0]) for k in range(problem.size)])
        indptr, rows = problem.pattern

        def matrix(cj: float) -> np.ndarray:
            values = problem.jacobian(0.0, y, np.zeros(problem.size), cj)[: len(rows)]
            return csc_matrix((values, rows, indptr), shape=(problem.size, problem.size)).toarray()

        by_value = matrix(0.0)
        found = eig(-by_value, matrix(1.0) - by_value, right=False, homogeneous_eigvals=True)
        finite = np.abs(found[1]) > 1e-9 * np.abs(found[0])
        return np.sort_complex(found[0][finite] / found[1][finite])

    return compute


def state_count(model: Any) -> int:
    return int(model.problem.differential.sum())
