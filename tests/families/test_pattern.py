"""The sparsity pattern and the assembled Jacobian, against differences of the residual."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from plants import Ladder
from scipy.sparse import csc_matrix
from trees import SHAPES, read, trees

import acausal as ac
import acausal.structure.native as native
from acausal.families.pattern import Pattern, jacobian_pattern
from acausal.families.template import MIXED


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


def drawn(rng: np.random.Generator, rows: int, columns: int) -> tuple[Pattern, np.ndarray]:
    """A random pattern, and which of its columns are states."""
    where, parts, states = rng.random((columns, rows)) < 0.3, rng.integers(1, 4, (columns, rows)), rng.random(columns) < 0.5
    parts[~states] = 1  # only states have slopes
    indptr = np.concatenate([[0], np.cumsum(where.sum(axis=1))]).astype(np.int32)
    indices, by = np.nonzero(where)[1].astype(np.int32), parts[where]
    return Pattern(indptr, indices, [], (by & 1) > 0, (by & 2) > 0), states


@pytest.mark.parametrize("seed", range(20))
def test_what_is_solved_for_natively_and_with_numpy(seed):
    rng = np.random.default_rng(seed)
    rows, columns = int(rng.integers(1, 12)), int(rng.integers(1, 12))
    pattern, states = drawn(rng, rows, columns)
    found = pattern.active(rows, states)
    with native.portable():
        expected = pattern.active(rows, states)
    assert found.indptr.tolist() == expected.indptr.tolist() and found.indices.tolist() == expected.indices.tolist()
    owners = np.repeat(np.arange(columns), np.diff(pattern.indptr))
    wanted = np.where(states[owners], pattern.by_slope, pattern.by_value)
    pairs = sorted(zip(pattern.indices[wanted].tolist(), owners[wanted].tolist(), strict=True))
    assert list(zip(found.owners.tolist(), found.indices.tolist(), strict=True)) == pairs


def test_rows_are_ordered_where_they_determine_everything_and_only_there():
    chain = Pattern(np.array([0, 2, 3], dtype=np.int32), np.array([0, 1, 1], dtype=np.int32), [], *np.ones((2, 3), dtype=bool))
    algebraic = np.zeros(2, dtype=bool)
    form = chain.solution(2, algebraic)
    assert form is not None and form.equations.tolist() == [0, 1] and form.unknowns.tolist() == [0, 1]
    assert chain.solution(2, algebraic) is form
    assert chain.solution(3, np.zeros(2, dtype=bool)) is None  # another number of rows
    alone = Pattern(np.array([0, 1, 2], dtype=np.int32), np.array([0, 0], dtype=np.int32), [], *np.ones((2, 2), dtype=bool))
    assert alone.solution(2, algebraic) is None  # both in one row


def family(rng: np.random.Generator, equations: int, unknowns: int, known: int) -> Any:
    """What the pattern asks of a family: rows of several outputs, slots with signs of their own, derivatives by some of them."""
    outputs, slots, count, entries = (int(k) for k in rng.integers(1, [4, 6, 8, 7]))
    index = rng.integers(2 * unknowns + known, size=(slots, count)).astype(np.int32)
    table = np.where(rng.random(index.shape) < 0.2, ~index, index)
    places = rng.integers(outputs, size=entries), rng.integers(slots, size=entries)
    rows = rng.integers(equations, size=(outputs, count)).astype(np.int32)
    return SimpleNamespace(
        template=SimpleNamespace(entry_places=places), slots=table, rows=rows, signs=(MIXED,) * slots, count=count
    )


@pytest.mark.parametrize("seed", range(20))
def test_patterns_natively_and_with_numpy(seed):
    rng = np.random.default_rng(seed)
    equations, unknowns = int(rng.integers(1, 9)), int(rng.integers(1, 9))
    families = [family(rng, equations, unknowns, 5) for _ in range(int(rng.integers(4)))]
    found = jacobian_pattern(families, equations, unknowns)
    with native.portable():
        expected = jacobian_pattern(families, equations, unknowns)
    for name in ("indptr", "indices", "by_value", "by_slope"):
        mine, theirs = getattr(found, name), getattr(expected, name)
        assert mine.dtype == theirs.dtype and np.array_equal(mine, theirs), name
    for mine, theirs in zip(found.positions, expected.positions, strict=True):
        assert mine.dtype == theirs.dtype and np.array_equal(mine, theirs)


def test_a_row_that_does_not_exist_is_refused():
    rng = np.random.default_rng(1)
    with pytest.raises(IndexError):
        jacobian_pattern([family(rng, 100, 3, 5)], 2, 3)
