"""Problems: native and ctypes evaluation against numpy, the Jacobian against differences, the sparse factorisation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import small_problems as problems
from hypothesis import given, settings
from hypothesis import strategies as st

from acausal.errors import UsageError
from acausal.runtime.outcome import Outcome, explain_limiting, explain_not_finite, explain_singular
from acausal.runtime.problem import Problem, Stored

ENGINES = ["native", "ctypes"]


def with_engine(problem: Problem, engine: str) -> Problem:
    if engine == "native":
        pytest.importorskip("acausal._core")
    return replace(problem, use_native=engine == "native")


def dense(problem: Problem, values: np.ndarray) -> np.ndarray:
    matrix = np.zeros((problem.size, problem.size))
    indptr, indices = problem.pattern
    for column in range(problem.size):
        for k in range(indptr[column], indptr[column + 1]):
            matrix[indices[k], column] = values[k]
    return matrix


@pytest.mark.parametrize("engine", ENGINES)
def test_residual_of_robertson(engine: str) -> None:
    problem = with_engine(problems.robertson(), engine)
    a, b, c = y = np.array([0.9, 1e-5, 0.1])
    yp = np.array([0.3, -0.2, 0.7])
    expected = [0.3 + 0.04 * a - 1e4 * b * c, -0.2 - 0.04 * a + 1e4 * b * c + 3e7 * b * b, a + b + c - 1.0]
    np.testing.assert_allclose(problem.residual(0.0, y, yp), expected, rtol=1e-14)
    out = np.full(3, np.nan)
    assert problem.residual(0.0, y, yp, out) is out
    np.testing.assert_allclose(out, expected, rtol=1e-14)


@pytest.mark.parametrize("engine", ENGINES)
def test_jacobian_is_the_derivative_of_the_residual(engine: str) -> None:
    problem = with_engine(problems.robertson(), engine)
    y, yp, cj, h = np.array([0.9, 1e-2, 0.1]), np.zeros(3), 7.0, 1e-6
    by_difference = np.stack(
        [
            (problem.residual(0.0, y + h * e, yp + h * cj * e) - problem.residual(0.0, y - h * e, yp - h * cj * e)) / (2 * h)
            for e in np.eye(3)
        ],
        axis=1,
    )
    np.testing.assert_allclose(dense(problem, problem.jacobian(0.0, y, yp, cj)), by_difference, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("engine", ENGINES)
def test_time_and_known_values_reach_the_kernels(engine: str) -> None:
    problem = with_engine(problems.decay(2, 5.0), engine)
    y, yp = np.array([1.0, 2.0]), np.zeros(2)
    np.testing.assert_array_equal(problem.residual(0.0, y, yp), [5.0, 10.0])
    problem.known[0] = 3.0  # a tuned parameter
    np.testing.assert_array_equal(problem.residual(0.0, y, yp), [3.0, 6.0])
    np.testing.assert_array_equal(problem.residual(0.0, y, yp, known=np.array([7.0, 0.0])), [7.0, 14.0])


@pytest.mark.parametrize("engine", ENGINES)
def test_initial_equations_may_be_fewer_than_unknowns(engine: str) -> None:
    law = problems.Rows([[0], [1]], [0], lambda a, b: a * b - 6.0)
    kernel = problems.expression_kernel(law, 2)
    pattern = (np.array([0, 0, 0], dtype=np.int32), np.array([], dtype=np.int32))
    problem = with_engine(problems.decay(2, initial_size=1, initial_pattern=pattern, initial_residual_kernels=[kernel]), engine)
    assert problem.initial_residual(0.0, np.array([2.0, 4.0]), np.zeros(2)).tolist() == [2.0]
    assert problem.initial_jacobian(0.0, np.array([2.0, 4.0]), np.zeros(2), 1.0).shape == (0,)


def test_whether_the_homotopy_parameter_is_used_is_read_from_the_tables() -> None:
    assert problems.decay(2, continuation_index=0).uses_continuation is True
    assert problems.decay(2, continuation_index=1).uses_continuation is False


def test_unknowns_of_an_equation() -> None:
    problem = problems.ladder(3)
    assert problem.unknowns_of_equation(0).tolist() == [0, 3, 4]
    assert problem.unknowns_of_equation(4).tolist() == [0, 1, 4]


def test_shapes_are_checked() -> None:
    with pytest.raises(UsageError, match=r"`nominal` has the shape \(5,\); the problem has 2 unknowns"):
        replace(problems.decay(2), nominal=np.ones(5))


@given(st.lists(st.integers(0, 6).flatmap(lambda i: st.sampled_from([i, ~i])), min_size=1, max_size=8))
@settings(max_examples=30, deadline=None)
def test_stored_cells_carry_their_signs(cells: list[int]) -> None:
    w = np.arange(1.0, 8.0)
    out = np.empty(len(cells))
    Stored(np.array(cells, dtype=np.int32)).row(w, out)
    assert out.tolist() == [w[i] if i >= 0 else -w[~i] for i in cells]


class TestSystem:
    """What the native System refuses."""

    def build(self, **change: Any) -> Any:
        core = pytest.importorskip("acausal._core")
        given = {"slots": np.array([[0, 1]], dtype=np.int32), "rows": np.array([[0, 1]], dtype=np.int32), "functions": []} | change
        system = core.System(2, 3, 4)
        system.add_residual(1, given["slots"], given["rows"], given["functions"])
        return system

    @pytest.mark.parametrize(
        "change, told",
        [
            ({"slots": np.array([[0, 7]], dtype=np.int32)}, "`slots` points at cell 7 of a workspace of 7"),
            ({"slots": np.array([[0, ~7]], dtype=np.int32)}, "`slots` points at cell 7 of a workspace of 7"),
            ({"slots": np.array([[0, 1]])}, "`slots` must be .* int32 .* not ndarray of int64, shape"),
            ({"slots": np.zeros((2, 4), dtype=np.int32)[:, ::2]}, "not C-contiguous"),
            ({"rows": np.array([[0, -1]], dtype=np.int32)}, "`rows` holds the negative index -1"),
            ({"rows": np.array([[0]], dtype=np.int32)}, "`slots` has 2 rows, `rows` has 1"),
            ({"functions": [1]}, "pairs of addresses"),
        ],
    )
    def test_tables_are_checked(self, change: dict[str, Any], told: str) -> None:
        with pytest.raises((TypeError, ValueError), match=told):
            self.build(**change)

    def test_rows_outside_the_system_are_refused_before_they_are_written(self) -> None:
        system = self.build(rows=np.array([[0, 2]], dtype=np.int32))
        with pytest.raises(ValueError, match="residual row 2 is out of range: there are 2"):
            system.residual(np.zeros(3), 0.0, np.zeros(2), np.zeros(2), np.zeros(2))

    def test_patterns_are_checked(self) -> None:
        with pytest.raises(ValueError, match="a row outside the system"):
            self.build().set_pattern(np.array([0, 1, 2], dtype=np.int32), np.array([0, 2], dtype=np.int32))


class TestKlu:
    def factor(self, matrix: np.ndarray, ordering: str = "amd") -> tuple[Any, bool]:
        from scipy.sparse import csc_array

        core = pytest.importorskip("acausal._core")
        sparse = csc_array(matrix)
        lu = core.Klu(len(matrix), sparse.indptr.astype(np.int32), sparse.indices.astype(np.int32), ordering)
        return lu, lu.factor(sparse.data)

    @given(st.integers(1, 30), st.sampled_from(["amd", "colamd", "auto"]), st.integers(0, 2**32 - 1))
    @settings(max_examples=60, deadline=None)
    def test_it_solves_as_numpy_does(self, n: int, ordering: str, seed: int) -> None:
        random = np.random.default_rng(seed)
        matrix = np.where(random.random((n, n)) < min(0.4, 4 / n), random.normal(size=(n, n)), 0.0)
        matrix[random.permutation(n), np.arange(n)] += 8.0
        right = random.normal(size=n)
        lu, regular = self.factor(matrix, ordering)
        assert regular and 0 < lu.rcond <= 1
        # Pivots may be a thousandth of their column's largest entry: growth takes half of the digits of one draw in a thousand, and
        # what Newton's iteration does anyway, solving for what is left, gives them back.
        found, exact = lu.solve(right.copy()), np.linalg.solve(matrix, right)
        np.testing.assert_allclose(found, exact, rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(found + lu.solve(right - matrix @ found), exact, rtol=1e-10, atol=1e-12)

    def test_bad_pivots_are_chosen_anew(self) -> None:
        core = pytest.importorskip("acausal._core")
        lu = core.Klu(2, np.array([0, 2, 4], dtype=np.int32), np.array([0, 1, 0, 1], dtype=np.int32))
        assert lu.factor(np.array([1.0, 0.1, 0.1, 1.0]))
        assert lu.factor(np.array([1e-18, 1.0, 1.0, 1e-18]))  # the old pivots would lose everything
        np.testing.assert_allclose(lu.solve(np.array([2.0, 3.0])), [3.0, 2.0], rtol=1e-12)

    def test_pivots_that_are_small_in_their_columns_are_chosen_anew(self) -> None:
        """Where one pivot was tiny with the fresh ones, the smallest over the largest says nothing of those that come later."""
        core = pytest.importorskip("acausal._core")
        lu = core.Klu(3, np.array([0, 3, 5, 6], dtype=np.int32), np.array([0, 1, 2, 0, 1, 2], dtype=np.int32))
        assert lu.factor(np.array([1.0, 0.1, 1.0, 0.1, 1.0, 1e-30]))
        assert lu.rcond < 1e-28
        assert lu.factor(np.array([1e-13, 1.0, 1.0, 1.0, 1e-13, 1.0]))
        for quickly in (False, True):
            np.testing.assert_allclose(lu.solve(np.array([2.1, 3.3, 4.0]), quickly=quickly), [3.3, 2.1, 0.7], rtol=1e-11)

    @pytest.mark.parametrize("cells", [3, 20, 300])
    def test_cells_in_a_row_fill_in_little(self, cells: int) -> None:
        """Each has laws in which states, flows and closures stand on either side of the diagonal, as equations of a plant do."""
        random, each = np.random.default_rng(0), 6
        block, link = random.random((each, each)) < 0.35, random.random((each, each)) < 0.06
        np.fill_diagonal(block, True)
        present = np.kron(np.eye(cells), block) + np.kron(np.eye(cells, k=1) + np.eye(cells, k=-1), link)
        mixed = random.permutation(cells * each)  # rows are in no order
        matrix = (present * random.uniform(0.5, 2.0, present.shape))[mixed]
        (auto, good), (amd, _) = self.factor(matrix, "auto"), self.factor(matrix, "amd")
        assert good and auto.fill <= 2 * np.count_nonzero(matrix) and auto.fill <= amd.fill
        right = random.normal(size=len(matrix))
        np.testing.assert_allclose(matrix @ auto.solve(right.copy(), quickly=True), right, atol=1e-9)

    def test_a_dense_row_and_a_dense_column_are_no_trouble(self) -> None:
        n = 3000
        core, count = pytest.importorskip("acausal._core"), np.arange(n - 1, dtype=np.int32)
        indptr = np.append(0, n + np.arange(n, dtype=np.int32) * 2).astype(np.int32)
        indices = np.concatenate(
            [np.arange(n, dtype=np.int32), np.column_stack([np.zeros(n - 1, dtype=np.int32), count + 1]).ravel()]
        )
        lu = core.Klu(n, indptr, indices, "auto")
        data = np.concatenate([np.ones(n), np.column_stack([np.ones(n - 1), np.full(n - 1, 2.0)]).ravel()])
        data[0] = n  # an arrow: nothing fills in if its head is last
        assert lu.factor(data) and lu.fill <= 4 * n

    def test_renewed_factors_lose_no_more_than_fresh_ones(self) -> None:
        """Entries that change by sixteen decades: what is left of each row, in sizes of its terms."""
        from scipy.sparse import csc_array

        core, random = pytest.importorskip("acausal._core"), np.random.default_rng(3)
        for _ in range(100):
            n = int(random.integers(5, 60))
            present = random.random((n, n)) < 3.0 / n
            present[random.permutation(n), np.arange(n)] = True
            pattern = csc_array(present.astype(float))
            lu = core.Klu(n, pattern.indptr.astype(np.int32), pattern.indices.astype(np.int32), str(random.choice(["amd", "auto"])))
            first = random.normal(size=pattern.nnz) * 10.0 ** random.uniform(-5, 5, pattern.nnz)
            for _ in range(5):
                changed = np.where(random.random(pattern.nnz) < 0.15, 10.0 ** random.uniform(-8, 8, pattern.nnz), 1.0)
                matrix = csc_array((first * changed, pattern.indices, pattern.indptr), shape=(n, n))
                right = matrix @ random.normal(size=n)
                if lu.factor(matrix.data):
                    found = lu.solve(right.copy(), quickly=True)
                    assert (np.abs(matrix @ found - right) <= 1e-5 * (abs(matrix) @ np.abs(found) + np.abs(right))).all()

    def test_numerically_singular(self) -> None:
        lu, regular = self.factor(np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 0.0, 3.0]]))
        assert not regular and lu.trouble == "singular" and lu.structural_rank == 3 and lu.numerical_rank < 3
        assert lu.singular_column in (0, 1)
        with pytest.raises(RuntimeError, match="no factorisation"):
            lu.solve(np.ones(3))

    def test_structurally_singular(self) -> None:
        lu, regular = self.factor(np.array([[1.0, 2.0], [0.0, 0.0]]))
        assert not regular and lu.trouble == "structurally singular" and lu.structural_rank == 1


def test_every_outcome_is_a_sentence() -> None:
    for outcome in Outcome:
        assert outcome.value[0].isupper() and outcome.value.endswith(".") and str(outcome) == outcome.value
    assert [o for o in Outcome if o.ok] == [Outcome.FINISHED, Outcome.TERMINATED]


def test_explanations_name_equations_and_unknowns() -> None:
    problem = problems.square_root(0.5)
    (found,) = explain_not_finite(problem, 0.7, np.array([0.7, 0.1]), np.array([1.0, 0.0]))
    assert (found.component, found.equation) == ("part", "equation 1") and "part.y[0] = 0.7" in found.details
    assert "`part.y[1]`" in explain_singular(problem, 0.0, 1)[0].what and explain_singular(problem, 0.0, -1) == ()
    (limiting,) = explain_limiting(problem, 0.0, [0.01, 2.0])
    assert limiting.details[0] == "part.y[1]: local error 2 times the tolerance"
    assert "part.y[0]" not in str(limiting)
    assert explain_limiting(problem, 0.0, [0.01, 0.2]) == ()  # something else kept the step small


@pytest.mark.parametrize("seed", range(20))
def test_the_quick_solution_is_the_solution(seed: int) -> None:
    """Also for matrices that fall into several blocks, with entries between them, and after a refactorisation."""
    core = pytest.importorskip("acausal._core")
    from scipy.sparse import csc_matrix

    random = np.random.default_rng(seed)
    n = int(random.integers(1, 40))
    upper = np.triu(random.random((n, n)) < 0.15) | np.eye(n, dtype=bool)
    loops = random.random((n, n)) < random.choice([0.0, 0.02, 0.1])
    order = random.permutation(n)
    present = (upper | loops)[order][:, random.permutation(n)]
    pattern = csc_matrix(present)
    lu = core.Klu(n, pattern.indptr.astype(np.int32), pattern.indices.astype(np.int32))
    for k in range(4):
        sizes = 10.0 ** random.uniform(-6, 6, n)  # of rows: those with derivatives grow as steps become shorter
        data = random.uniform(0.5, 2.0, pattern.nnz) * (sizes[pattern.indices] if k % 2 else 1.0)
        matrix = csc_matrix((data, pattern.indices, pattern.indptr), shape=(n, n))
        right = random.normal(size=n) * (sizes if k % 2 else 1.0)
        if lu.factor(matrix.data) and lu.rcond > 1e-8:
            np.testing.assert_allclose(lu.solve(right.copy(), quickly=True), lu.solve(right.copy()), rtol=1e-9, atol=1e-9)
            scale = sizes if k % 2 else 1.0
            np.testing.assert_allclose(matrix @ lu.solve(right.copy(), quickly=True) / scale, right / scale, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("shape", ["upwind", "both ways", "tree", "network", "upwind cells in a network"])
def test_solutions_of_chains_trees_and_networks(shape: str) -> None:
    """Little fill-in is solved row by row, much of it column by column: both to rounding, also with a few blocks between many."""
    core = pytest.importorskip("acausal._core")
    from scipy.sparse import csc_matrix

    random, n = np.random.default_rng(7), 120
    cells = np.arange(1, n)
    matrix = np.diag(random.uniform(3.0, 4.0, n))
    if shape == "tree":
        matrix[cells, cells // 3] = matrix[cells // 3, cells] = -0.4
    elif shape == "network":
        matrix += np.where(random.random((n, n)) < 0.2, random.uniform(-0.1, 0.1, (n, n)), 0.0)
    else:
        matrix[cells, cells - 1] = random.uniform(-1.5, -0.5, n - 1)
    if shape == "both ways":
        matrix[cells - 1, cells] = -1.0
    if shape == "upwind cells in a network":
        for first in range(0, n, 10):  # loops of three between runs of single cells
            matrix[first, first + 2] = matrix[first + 1, first + 2] = 0.7
        matrix[n - 1, : n // 2 : 7] = 0.3
    order = random.permutation(n)
    sparse = csc_matrix(matrix[order][:, order])
    lu = core.Klu(n, sparse.indptr.astype(np.int32), sparse.indices.astype(np.int32))
    right = random.normal(size=n)
    for factor in (1.0, 3.0):  # the second is a refactorisation
        assert lu.factor(sparse.data * factor)
        found = lu.solve(right.copy(), quickly=True)
        np.testing.assert_allclose(factor * (sparse @ found), right, rtol=0, atol=1e-13)
    assert lu.blocks == (n if shape == "upwind" else n - 24 if "cells" in shape else 1)


def test_a_refactorisation_of_what_is_singular_is_told() -> None:
    """A row of zeros, pivots that vanish, and what is no number; afterwards it serves again."""
    core = pytest.importorskip("acausal._core")
    lu = core.Klu(2, np.array([0, 2, 4], dtype=np.int32), np.array([0, 1, 0, 1], dtype=np.int32))
    for bad in ([0.0, 1.0, 0.0, 1.0], [1.0, 2.0, 2.0, 4.0], [np.nan, 1.0, 1.0, 3.0]):
        assert lu.factor(np.array([2.0, 1.0, 1.0, 3.0])) and lu.factor(np.array([2.0, 1.0, 1.0, 4.0]))
        np.testing.assert_allclose(lu.solve(np.array([3.0, 5.0]), quickly=True), [1.0, 1.0], rtol=1e-14)
        assert not lu.factor(np.array(bad))


def test_pivots_that_have_become_small_in_their_column_are_exchanged() -> None:
    """Other entries decide the scale of the row, the last unknown the ratio of pivots: only a multiplier tells of lost digits."""
    from scipy.sparse import csc_matrix

    core = pytest.importorskip("acausal._core")
    pattern = csc_matrix(np.array([[1, 1, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 1]]))
    lu = core.Klu(4, pattern.indptr.astype(np.int32), pattern.indices.astype(np.int32))

    def matrix(pivot: float) -> csc_matrix:
        return csc_matrix(np.array([[pivot, 0.01, 1.0, 0.0], [1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1e-12, 1.0], [0.0, 0.0, 0.0, 1.0]]))

    right, random = np.zeros(4), np.random.default_rng(0)
    assert lu.factor(matrix(0.9).data)
    for pivot in 10.0 ** random.uniform(-5.0, -4.5, 100):
        right[:2] = random.normal(size=2)
        assert lu.factor(matrix(pivot).data)
        x = lu.solve(right.copy(), quickly=True)
        assert np.abs(matrix(pivot) @ x - right).max() < 5e-16 * (abs(matrix(pivot)) @ np.abs(x)).max()
        assert lu.factor(matrix(0.9).data)
