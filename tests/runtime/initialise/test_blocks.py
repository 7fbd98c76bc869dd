"""Block by block, and what is tried on a block that resists."""

from __future__ import annotations

import numpy as np
import pytest

from acausal.runtime.initialise import InitialisationError, Options, Outcome, initialise

from .doubles import DenseProblem


def hill(x):
    """One root, at -2.104; Newton's method from the right is caught by the minimum at x = 1."""
    return x**3 - 3.0 * x + 3.0


HILL_ROOT = np.roots([1.0, 0.0, -3.0, 3.0]).real.min()


def test_a_single_equation_that_stalls_is_bracketed() -> None:
    found = initialise(DenseProblem(lambda t, y, yp, h: [hill(y[0])], 1, start=2.0), 0.0)
    assert found.outcome is Outcome.BLOCKS
    assert found.y[0] == pytest.approx(HILL_ROOT, rel=1e-9)


def test_bracketing_takes_the_nearest_change_of_sign_within_bounds() -> None:
    """sin x = 0.5 - tiny slope trap: bounds keep it to one branch."""

    def f(t, y, yp, h):
        return [np.sin(y[0]) * np.exp(-20.0 * (y[0] - 4.0) ** 2) + 1e-3 * (y[0] - 5.0)]

    found = initialise(DenseProblem(f, 1, start=0.5, minimum=0.0, maximum=7.0), 0.0)
    value = np.sin(found.y[0]) * np.exp(-20.0 * (found.y[0] - 4.0) ** 2) + 1e-3 * (found.y[0] - 5.0)
    assert abs(value) < 1e-10 and 0.0 <= found.y[0] <= 7.0


def test_a_hard_block_deep_in_a_chain_costs_the_logarithm_of_its_length() -> None:
    """64 blocks in a row, each one needing the one before; number 40 resists Newton's method."""
    n, hard = 64, 40

    def f(t, y, yp, h):
        easy = [y[0] - 1.0] + [y[k] - y[k - 1] - 0.1 * y[k - 1] ** 2 / (1 + y[k - 1] ** 2) for k in range(1, n)]
        easy[hard] = hill(y[hard]) + 1e-3 * (y[hard - 1] - 1.0)
        return easy

    found = initialise(DenseProblem(f, n, start=2.0), 0.0)
    assert found.report.blocks == n
    assert hill(found.y[hard]) + 1e-3 * (found.y[hard - 1] - 1.0) == pytest.approx(0.0, abs=1e-9)
    expected = found.y[hard] + 0.1 * found.y[hard] ** 2 / (1 + found.y[hard] ** 2)
    assert found.y[hard + 1] == pytest.approx(expected)
    assert len(found.report.attempts) <= 2 * np.log2(n) + 4
    assert found.report.statistics.residuals < 1500  # 64 levels one by one would be 4 times as many


def test_many_hard_blocks_of_one_level_are_solved_together() -> None:
    """The same stubborn equation a hundred times costs no more evaluations than once."""

    def cost(n: int) -> int:
        shifts = np.linspace(0.0, 0.5, n)
        found = initialise(DenseProblem(lambda t, y, yp, h: hill(y) + shifts, n, start=2.0), 0.0)
        np.testing.assert_allclose(hill(found.y) + shifts, 0.0, atol=1e-8)
        return found.report.statistics.residuals

    assert cost(100) < 3 * cost(1)


def stubborn(scale: float):
    """A coupled pair (rotated coordinates), one of which is the hill."""

    def f(t, y, yp, h):
        u, v = y[0] + 0.5 * y[1], y[1] - 0.5 * y[0]
        return [scale * (hill(u) + 0.1 * (v - 1.0)), v - 1.0 + 0.01 * (u - HILL_ROOT)]

    return f


def test_a_pair_behind_a_hill_is_found_by_continuation_or_another_start() -> None:
    found = initialise(DenseProblem(stubborn(1.0), 2, start=[2.0, 1.0]), 0.0)
    u, v = found.y[0] + 0.5 * found.y[1], found.y[1] - 0.5 * found.y[0]
    assert hill(u) + 0.1 * (v - 1.0) == pytest.approx(0.0, abs=1e-8)
    assert found.outcome in (Outcome.HOMOTOPY, Outcome.BLOCKS)


def test_the_models_own_simplification_is_used_first() -> None:
    """u exp(-u) = -1/2 from u = 3 leads Newton's method off to infinity. At 0 the pair is linear; the parameter ends at 1."""
    root = -0.351733711249195826  # -W(1/2)

    def f(t, y, yp, h):
        u, v = y
        actual, simple = u * np.exp(-u) + 0.5 + 0.1 * (v - 1.0), u
        return [h * actual + (1.0 - h) * simple, v - 1.0 + 0.01 * np.arctan(u - root)]

    problem = DenseProblem(f, 2, start=[3.0, 1.0])
    found = initialise(problem, 0.0)
    assert found.outcome is Outcome.HOMOTOPY
    np.testing.assert_allclose(found.y, [root, 1.0], rtol=1e-8)
    assert problem.known[0] == 1.0
    assert [a.method for a in found.report.attempts if a.solved] == ["the model's own homotopy"]


def test_without_homotopy_it_is_not_tried() -> None:
    def f(t, y, yp, h):
        return [y[0] ** 2 + y[1] ** 2 + 1.0, y[0] - y[1]]

    with pytest.raises(InitialisationError) as error:
        initialise(DenseProblem(f, 2, start=1.0), 0.0, options=Options(homotopy=False))
    assert not any("homotopy" in a.method for a in error.value.report.attempts)


def test_independent_failures_are_reported_together_and_the_rest_is_solved() -> None:
    def f(t, y, yp, h):
        return [y[0] ** 2 + 1.0, y[1] ** 2 + 2.0, y[2] - 5.0, y[3] - y[0], y[4] - 2.0 * y[2]]

    with pytest.raises(InitialisationError) as error:
        initialise(DenseProblem(f, 5, start=1.0), 0.0)
    report = error.value.report
    assert sorted(int(b.rows[0]) for b in report.failed) == [0, 1]
    assert report.not_reached == 1
    np.testing.assert_allclose(error.value.y[[2, 4]], [5.0, 10.0])


def test_with_frozen_relations_a_linear_contradiction_is_not_laboured_and_a_curved_block_still_is() -> None:
    """Ideal diodes that all block leave such equations at every commutation: nothing but another configuration helps."""

    def f(t, y, yp, h):
        return [y[0] + y[1] - 1.0, 2.0 * y[0] + 2.0 * y[1] - 3.0, hill(y[2])]

    problem = DenseProblem(f, 3, start=2.0)
    with pytest.raises(InitialisationError) as caught:
        initialise(problem, 0.0, options=Options(frozen=True))
    report = caught.value.report
    (failed,) = report.failed
    assert sorted(failed.rows) == [0, 1] and failed.tried == ("Newton's method",)
    assert report.y[2] == pytest.approx(HILL_ROOT, rel=1e-9)
