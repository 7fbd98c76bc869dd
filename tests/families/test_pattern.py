"""The sparsity pattern and the assembled Jacobian, against differences of the residual."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from plants import Ladder
from scipy.sparse import csc_matrix
from trees import SHAPES, read, trees

import acausal as ac


def dense(problem, t, y, yp, cj):
    indptr, indices = problem.pattern
    return csc_matrix((problem.jacobian(t, y, yp, cj), indices, indptr), shape=(problem.size, problem.size)).toarray()


def differences(problem, t, y, yp, cj, h=1e-6):
    columns = []
    for k in range(problem.size):
        step = np.zeros(problem.size)
        step[k] = h
        up, down = problem.residual(t, y + step, yp + cj * step), problem.residual(t, y - step, yp - cj * step)
        columns.append((up - down) / (2 * h))
    return np.stack(columns, axis=1)


def test_the_ladder_s_jacobian():
    problem = ac.compile(Ladder(7)).problem
    rng = np.random.default_rng(1)
    y, yp = rng.normal(size=problem.size), rng.normal(size=problem.size)
    np.testing.assert_allclose(dense(problem, 1.0, y, yp, 3.0), differences(problem, 1.0, y, yp, 3.0), atol=1e-7)


def test_indices_are_sorted_and_unique_in_every_column():
    indptr, indices = ac.compile(Ladder(20)).problem.pattern
    for a, b in zip(indptr[:-1], indptr[1:], strict=True):  # noqa: RUF007
        assert (np.diff(indices[a:b]) > 0).all()


@settings(max_examples=12)
@given(trees(smooth=True))
@example(("cube", ("cube", ("array", 4))))
def test_random_array_models(tree):
    class Model(ac.Component):
        A, b, c, s = (ac.Variable(shape=SHAPES[k], start=0.3, fixed=True) for k in "Abcs")

        def equations(self):
            leaves = {"A": self.A, "b": self.b, "c": self.c, "s": self.s, "t": ac.time}
            extra = ac.sum(read(tree, leaves, True) * 1.0) if np.shape(read(tree, _ones(), False)) else read(tree, leaves, True)
            yield ac.der(self.A) == -self.A
            yield ac.der(self.b) == -self.b * self.A[0]
            yield ac.der(self.c) == self.c * 2.0
            yield ac.der(self.s) + extra == ac.sin(self.s)

    problem = ac.compile(Model()).problem
    rng = np.random.default_rng(0)
    y, yp = rng.uniform(-1, 1, problem.size), rng.uniform(-1, 1, problem.size)
    expected = differences(problem, 0.4, y, yp, 2.0)
    scale = 1 + np.abs(expected).max()
    rounding = 8 * np.finfo(float).eps * np.abs(problem.residual(0.4, y, yp)).max() / 1e-6  # divided by the step
    np.testing.assert_allclose(dense(problem, 0.4, y, yp, 2.0), expected, atol=2e-6 * scale + rounding)


def _ones():
    return {**{k: np.ones(s) for k, s in SHAPES.items()}, "t": 1.0}


def test_the_pattern_grows_with_the_plant_and_no_faster():
    small, large = (len(ac.compile(Ladder(n)).problem.pattern[1]) for n in (50, 500))
    assert large == pytest.approx(10 * small, rel=0.05)
