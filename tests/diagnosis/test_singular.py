"""Near-null vectors against those known by hand, and the sentences made of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.runtime.singular import NEARLY, _sparsest, diagnostic, explain_point, singularities

from .models import Dependent, Floating, Loop, Merging, TwoCapacitors, Valve


def at_start(model: Any) -> list[Any]:
    problem = model.problem
    return singularities(problem, 0.0, problem.start, np.zeros(problem.size))


def test_a_regular_model_has_none() -> None:
    for component in (TwoCapacitors(), Loop(5)):
        assert at_start(ac.compile(component)) == []


def test_a_floating_ring_of_resistors() -> None:
    """Both potentials can rise by the same amount; the two node sums are the same equation with opposite sign."""
    model = ac.compile(Floating())  # structurally there is an equation for every unknown
    (found,) = at_start(model)
    names = {model.problem.name_of_unknown(int(u)) for u in found.unknowns}
    assert found.exact and names == {"a.p.v", "a.n.v"}
    np.testing.assert_allclose(found.amounts, [1.0, 1.0], rtol=1e-9)
    assert len(found.equations) == 2 and not found.zeros
    np.testing.assert_allclose(np.abs(found.factors), [1.0, 1.0], rtol=1e-9)


def test_the_message_of_a_failed_start_names_them() -> None:
    with pytest.raises(ac.ModelError) as failure:
        ac.compile(Floating()).simulate(until=1.0)
    first = failure.value.diagnostics[0]
    assert first.what == "Equations depend on each other at time 0, so they do not determine their unknowns."
    text = str(first)
    assert "This is caused by the numbers, not by the structure" in text
    assert "can move:  a.p.v, a.n.v, all by the same amount, without changing an equation" in text
    assert "the flows connected to a.p.i sum to zero" in text and "the flows connected to a.n.i sum to zero" in text
    assert "try:       Nothing holds the level of a.p.v, a.n.v: connect a ground, a boundary or a store there." in text


@pytest.mark.parametrize("n", [5, 100, 2500])
def test_small_dense_and_sparse_ways_agree(n: int) -> None:
    """The null vector of a chain without a reference is constant, whatever the size and the method."""
    model = ac.compile(Dependent(n))
    problem = model.problem
    (found,) = singularities(problem, 0.0, np.linspace(1.0, 1.1, n)[: problem.size], np.zeros(problem.size))
    assert found.block_size == problem.size and len(found.unknowns) == problem.size
    np.testing.assert_allclose(found.amounts, 1.0, rtol=1e-6)
    assert found.ratio < NEARLY


def test_two_motions_are_told_apart() -> None:
    """Two rings float: each vector moves one of them, not a mixture of both."""

    class Rings(ac.Component):
        def __init__(self) -> None:
            self.one, self.other = Floating(), Floating()

    found = at_start(ac.compile(Rings()))
    assert len(found) == 2 and all(len(f.unknowns) == 2 for f in found)


def test_two_motions_within_one_block() -> None:
    """2a + 3b + 5c = s said three times: two free directions, each told with a pivot of its own."""
    model = ac.compile(
        ac.plain(
            lambda dy, y, x: [dy.s + y.s, *(k * (2 * x.a + 3 * x.b + 5 * x.c - y.s) for k in (1.0, 3.0, 7.0))],
            y={"s": 1.0},
            x={"a": 1.0, "b": 0.0, "c": 0.0},
        )
    )
    found, weight = at_start(model), {"a": 2.0, "b": 3.0, "c": 5.0}
    assert len(found) == 2
    for one in found:
        weights = [weight[model.problem.name_of_unknown(int(u))] for u in one.unknowns]
        np.testing.assert_allclose(one.amounts @ weights, 0.0, atol=1e-9)
        assert len(one.unknowns) == 2


def test_a_coefficient_that_became_zero() -> None:
    model = ac.compile(Valve())
    problem = model.problem
    (found,) = singularities(problem, 1.0, problem.start, np.zeros(problem.size))
    told = str(diagnostic(problem, found, "at time 1"))
    assert told.startswith("An equation does not contain the unknown it is to determine at time 1: its coefficient is zero.")
    assert "zero:      the coefficient of p in the model (Valve): ac.max(1.0 - ac.time, 0.0) * self.p ==" in told
    assert "models.py:" in told and "regularised" in told


def test_a_run_that_meets_it_says_so() -> None:
    """The motion that no equation notices is (x, y) = (-2, 3), and the second equation is twice the first."""
    result = ac.compile(Merging()).simulate(until=2.0)
    assert result.outcome is ac.Outcome.SINGULAR and result.time_reached == pytest.approx(1.0)
    text = str(result.diagnostics[0])
    assert text.startswith("Equations depend on each other at time 1")
    assert "can move:  y by 1, x by -0.6667, without changing an equation" in text
    assert "-0.5 ×  the model (Merging): k * 3 * self.x + 4 * self.y == 2 * self.s" in text


def test_an_equation_that_was_used_as_a_definition_is_named_too() -> None:
    """x = sin(t) - 2y was put in, so that 2x + 4y loses y: no coefficient of the user's is zero, two equations are alike."""

    class Meshes(ac.Component):
        x, y = ac.Variable(unit="A"), ac.Variable(unit="A")
        k = ac.Parameter(2.0)

        def equations(self) -> Any:
            yield self.x + 2 * self.y == ac.sin(ac.time)
            yield self.k * self.x + 4 * self.y == 1.0

    with pytest.raises(ac.ModelError) as failure:
        ac.compile(Meshes()).simulate(until=1.0)
    text = str(failure.value.diagnostics[0])
    assert text.startswith("Equations depend on each other at time 0")
    assert "can move:  y, and x with it, without changing an equation" in text
    assert "These equations say the same:" in text
    assert text.count("self.k * self.x + 4 * self.y == 1.0") == 2 and "self.x + 2 * self.y == ac.sin(ac.time)" in text
    assert "One of these equations repeats what the others say" in text


def test_scaling_of_rows_and_columns_does_not_make_it_singular() -> None:
    """Coefficients of 1e-15 … 1e21 are regular; one row twice is not, however it is scaled: (a, b, c) = (-2, 1, 3)."""
    start = {"y": {"s": 1.0}, "x": {"a": 1e-15, "b": 1.0, "c": 1e15}}
    regular = ac.plain(
        lambda dy, y, x: [
            dy.s + y.s,
            x.a * 1e-15 + x.b * 2e-15 - y.s,
            3 * x.a - 2 * x.b + x.c * 1e12,
            7 * x.a + x.b * 1e9 + x.c * 1e21 - 1,
        ],
        **start,
    )
    assert at_start(ac.compile(regular)) == []
    twice = ac.plain(
        lambda dy, y, x: [dy.s + y.s, *(k * (x.a + 2 * x.b) - y.s for k in (1e-15, 1e6)), 3 * x.a + 3 * x.b + x.c],
        **start,
    )
    model = ac.compile(twice)
    (found,) = at_start(model)
    amount = {model.problem.name_of_unknown(int(u)): a for u, a in zip(found.unknowns, found.amounts, strict=True)}
    np.testing.assert_allclose(amount["a"] / amount["b"], -2.0, rtol=1e-9)


def test_explain_point_is_silent_where_all_is_well() -> None:
    problem = ac.compile(TwoCapacitors()).problem
    assert explain_point(problem, 0.0, problem.start, np.zeros(problem.size)) == ()


def test_motions_of_sizes_that_are_far_apart_are_told_apart() -> None:
    """Brought to their scales first, two independent vectors look like one where both are largest in the same unknown."""
    vectors = np.linalg.qr(np.array([[1.0, 1.0], [1.0, -1.0], [1.0, 0.0], [0.0, 1.0]]))[0]
    scales = np.array([1e30, 1.0, 1e-8, 1e-20])
    found = _sparsest(vectors, scales)
    np.testing.assert_allclose(np.abs(found).max(axis=0), 1.0, rtol=1e-12)
    mixed = vectors.T @ (found / scales[:, None])
    assert np.linalg.cond(mixed / np.abs(mixed).max(axis=0)) < 10.0
