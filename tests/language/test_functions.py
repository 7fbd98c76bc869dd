"""Functions on numbers are numpy's; on expressions they are the operators of the table, and evaluate to the same numbers."""

import inspect

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acausal.errors import ShapeError, UsageError
from acausal.families.differentiate import gradient
from acausal.kernels.interpret import evaluate
from acausal.language import functions as f
from acausal.language.expression import Continuation, Expression, Literal, Slot, Time

relaxed = settings(deadline=None, max_examples=50)
X, Y, Z = (Slot(k, "variable") for k in range(3))

UNARY = {
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh,
    "cosh": np.cosh, "tanh": np.tanh, "exp": np.exp, "log": np.log, "log10": np.log10, "sqrt": np.sqrt, "abs": np.abs,
    "sign": np.sign, "floor": np.floor, "ceil": np.ceil,
}  # fmt: skip
POSITIVE_UNIT = st.floats(1e-3, 0.999)


def value(expression, **slots):
    numbers = {X: slots.get("x"), Y: slots.get("y"), Z: slots.get("z"), Continuation(): slots.get("along", 1.0)}
    return evaluate([expression], numbers.__getitem__)[0]


@pytest.mark.parametrize("name", UNARY)
@relaxed
@given(x=POSITIVE_UNIT)
def test_elementwise_functions_agree_with_numpy(name, x):
    ours, numpys = getattr(f, name), UNARY[name]
    assert ours(x) == numpys(x) and type(ours(x)) is float
    np.testing.assert_array_equal(ours([x, 0.5]), numpys([x, 0.5]))
    symbolic = ours(X)
    assert isinstance(symbolic, Expression)
    assert value(symbolic, x=x) == numpys(x)
    assert numpys(X) is symbolic  # numpy's own function means the same expression


@pytest.mark.parametrize("name", [n for n in UNARY if n not in ("sign", "floor", "ceil")])
@relaxed
@given(x=st.floats(0.05, 0.9))
def test_derivatives_agree_with_differences(name, x):
    slope = value(gradient(getattr(f, name)(X), [X])[X], x=x)
    h = 1e-6
    assert slope == pytest.approx((UNARY[name](x + h) - UNARY[name](x - h)) / (2 * h), rel=1e-6, abs=1e-8)


def test_every_function_has_an_example():
    public = [g for n, g in vars(f).items() if inspect.isfunction(g) and g.__module__ == f.__name__ and not n.startswith("_")]
    without = [g.__name__ for g in public if ">>>" not in (g.__doc__ or "")]
    assert len(public) > 25 and without == ["is_symbolic", "numbers", "plain"]  # those three serve the other modules


@relaxed
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=9))
def test_extremes_of_several_values_and_of_an_array(values):
    assert f.minimum(*values) == min(values) and f.maximum(*values) == max(values)
    assert f.minimum(values) == min(values) and f.maximum(np.array(values)) == max(values)
    array = Literal(np.array(values))
    assert evaluate([f.maximum(array)], lambda leaf: None)[0] == max(values)
    assert f.maximum(array).shape == ()


def test_extremes_mix_numbers_and_expressions():
    assert value(f.maximum(X, 2.0, Y), x=1.0, y=3.0) == 3.0
    assert value(f.minimum([X, Y, Z]), x=1.0, y=3.0, z=-1.0) == -1.0
    assert value(f.maximum(Literal(np.arange(6.0).reshape(2, 3)) * X), x=2.0) == 10.0
    with pytest.raises(UsageError, match="at least one"):
        f.minimum()


def test_where_chooses():
    assert f.where(np.array([True, False]), 1.0, [2.0, 3.0]).tolist() == [1.0, 3.0]
    chosen = f.where(X > 0, X, -Y)
    assert value(chosen, x=2.0, y=5.0) == 2.0
    assert value(chosen, x=-2.0, y=5.0) == -5.0


def test_sums_and_means():
    matrix = np.arange(6.0).reshape(2, 3)
    symbolic = Literal(matrix) * X
    for axis in (None, 0, 1, -1, (0, 1)):
        np.testing.assert_array_equal(f.sum(matrix, axis), matrix.sum(axis=axis))
        np.testing.assert_allclose(value(f.sum(symbolic, axis), x=2.0), 2 * matrix.sum(axis=axis))
        np.testing.assert_allclose(value(f.mean(symbolic, axis), x=2.0), 2 * matrix.mean(axis=axis))
        np.testing.assert_allclose(f.mean(matrix, axis), matrix.mean(axis=axis))
    assert value(f.sum([X, Y, 1.0]), x=2.0, y=3.0) == 6.0
    assert value(f.sum(x for x in (X, Y)), x=2.0, y=3.0) == 5.0
    assert value(f.mean([X, Y, 1.0]), x=2.0, y=3.0) == 2.0


@pytest.mark.parametrize("a, b", [((3,), (3,)), ((2, 3), (3,)), ((2,), (2, 3)), ((2, 3), (3, 4))])
def test_dot_is_numpys(a, b):
    generator = np.random.default_rng(1)
    left, right = generator.normal(size=a), generator.normal(size=b)
    np.testing.assert_allclose(f.dot(left, right), np.dot(left, right))
    symbolic = f.dot(Literal(left) * X, right)
    assert symbolic.shape == np.dot(left, right).shape
    np.testing.assert_allclose(value(symbolic, x=2.0), 2 * np.dot(left, right))


def test_dot_refuses_lengths_that_would_only_broadcast():
    with pytest.raises(ShapeError, match=r"\(3,\) and \(1,\)"):
        f.dot(np.ones(3), Literal(np.ones(1)) * X)


def test_homotopy_is_the_model_as_written_at_one():
    led = f.homotopy(X, 3.0 * Y)
    assert value(led, x=2.0, y=5.0, along=1.0) == 2.0
    assert value(led, x=2.0, y=5.0, along=0.0) == 15.0
    assert f.homotopy(2.0, [1.0, 1.0]).tolist() == [2.0, 2.0]


def test_time_is_one_object():
    assert f.time is Time()


@pytest.mark.parametrize("wrong", ["3", None, 1j, object()])
def test_what_is_no_number_is_refused_with_its_value(wrong):
    with pytest.raises(UsageError, match="Expected a number"):
        f.sin(wrong)
    with pytest.raises(UsageError, match="Expected a number"):
        f.atan2(X, wrong)


def test_a_list_of_expressions_is_no_array():
    with pytest.raises(UsageError, match="list of expressions"):
        f.sin([X, Y])
