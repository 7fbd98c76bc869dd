"""Expressions: interned, shaped like numpy arrays, and refusing what cannot mean anything."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from trees import LEAVES, NOW, SHAPES, numbers, read, symbols, trees, value_of

import acausal as ac
from acausal.errors import ShapeError, UsageError
from acausal.language.expression import Constant, Expression, Literal, as_expression, transform, walk


def test_equal_expressions_are_one_object():
    a, s = LEAVES.A, LEAVES.s
    assert a * s + 1 is a * s + 1
    assert a[1:] is a[1:3]
    assert LEAVES.A is LEAVES.A
    assert a * s is not s * a
    assert Leaves_other().A is not a


def Leaves_other():
    return type(LEAVES)()


def test_zero_and_minus_zero_are_told_apart():
    assert Constant(0.0) is not Constant(-0.0)
    assert Constant(1) is Constant(1.0)
    assert Constant(0) is Constant(0.0)


@given(trees())
def test_expressions_have_the_values_and_shapes_of_numpy(tree):
    expression, expected = as_expression(read(tree, symbols(), True)), np.asarray(read(tree, numbers(), False))
    assert expression.shape == expected.shape
    np.testing.assert_allclose(value_of(expression), expected, rtol=1e-12, atol=1e-12)


@given(st.sampled_from(["A", "b", "c"]), st.data())
def test_basic_indices_are_those_of_numpy(name, data):
    index = data.draw(hnp.basic_indices(SHAPES[name], allow_newaxis=True, allow_ellipsis=True))
    picked = getattr(LEAVES, name)[index]
    expected = numbers()[name][index]
    assert picked.shape == expected.shape
    np.testing.assert_array_equal(value_of(picked), expected)


@given(st.sampled_from(["A", "b", "c"]), st.data())
def test_fancy_indices_are_those_of_numpy(name, data):
    shape = SHAPES[name]
    index = data.draw(st.one_of(hnp.integer_array_indices(shape), hnp.arrays(bool, shape)))
    np.testing.assert_array_equal(value_of(getattr(LEAVES, name)[index]), numbers()[name][index])


@given(trees(), st.data())
def test_index_of_an_expression_is_expression_of_indices(tree, data):
    expression = as_expression(read(tree, symbols(), True))
    if expression.shape:
        index = data.draw(hnp.basic_indices(expression.shape))
        np.testing.assert_allclose(value_of(expression[index]), value_of(expression)[index], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 1), (-1,)])
def test_sums_over_axes(axis):
    np.testing.assert_allclose(value_of(ac.sum(LEAVES.A * 2 + LEAVES.b, axis)), (numbers()["A"] * 2 + numbers()["b"]).sum(axis))


def test_index_of_a_sum():
    total = ac.sum(LEAVES.A * LEAVES.b, axis=1)
    np.testing.assert_allclose(value_of(total[::-2]), (numbers()["A"] * numbers()["b"]).sum(1)[::-2])


def test_numpy_functions_and_numbers_work_from_either_side():
    array = np.array([1.0, 2.0, 3.0, 4.0])
    for found, expected in (
        (np.exp(LEAVES.b), np.exp(numbers()["b"])),
        (array * LEAVES.b, array * numbers()["b"]),
        (np.float64(2.0) / LEAVES.s, 2.0 / numbers()["s"]),
        (np.maximum(LEAVES.b, array), np.maximum(numbers()["b"], array)),
        (2**LEAVES.s, 2 ** numbers()["s"]),
        ([1, 2, 3, 4] - LEAVES.b, np.array([1, 2, 3, 4]) - numbers()["b"]),
    ):
        np.testing.assert_allclose(value_of(found), expected)


def test_a_number_from_numpy_may_stand_left_in_an_equation():
    equation = np.array([1.0, 2.0, 3.0, 4.0]) == LEAVES.b
    assert equation.shape == (4,)
    assert (np.float64(1.0) == LEAVES.s).location.file == __file__


def test_iteration_and_length():
    assert len(LEAVES.A) == 3
    np.testing.assert_array_equal([value_of(row) for row in LEAVES.A], numbers()["A"])


def test_walk_gives_arguments_first_and_each_node_once():
    shared = ac.sin(LEAVES.s)
    nodes = list(walk(shared * shared + shared))
    assert len(nodes) == len(set(nodes)) == 4
    place = {node: k for k, node in enumerate(nodes)}
    assert all(place[a] < place[n] for n in nodes for a in n.args)


def test_a_deep_expression_does_not_overflow_the_stack_when_walked():
    node = LEAVES.s
    for k in range(5000):
        node = node + float(k)
    assert sum(1 for _ in walk(node)) == 2 * 5000 - 1  # adding 0 leaves nothing


def test_transform_replaces_leaves():
    replaced = transform(LEAVES.s * 2 + ac.time, lambda n: Constant(3.0) if n is LEAVES.s else None)
    assert value_of(replaced) == pytest.approx(6 + NOW)


ILLEGAL = {
    "truth": (lambda: bool(LEAVES.s > 1), UsageError, "ac.where"),
    "and": (lambda: LEAVES.s > 1 and LEAVES.s < 2, UsageError, "truth value"),
    "math": (lambda: math.sin(LEAVES.s), UsageError, "ac.sin"),
    "unequal": (lambda: LEAVES.s != 1, UsageError, "a == b"),
    "text": (lambda: LEAVES.s + "1", UsageError, "'1' of type str"),
    "none": (lambda: LEAVES.s == None, UsageError, "None of type NoneType"),  # noqa: E711
    "list": (lambda: LEAVES.s + [LEAVES.s, LEAVES.s], UsageError, "list of expressions"),  # noqa: RUF005
    "scalar indexed": (lambda: LEAVES.s[0], ShapeError, "scalar"),
    "scalar length": (lambda: len(LEAVES.s), ShapeError, "scalar"),
    "outside": (lambda: LEAVES.b[4], ShapeError, "shape (4,)"),
    "too many": (lambda: LEAVES.b[0, 0], ShapeError, "shape (4,)"),
    "lengths": (lambda: LEAVES.b + np.ones(3), ShapeError, "(4,)"),
    "axis": (lambda: ac.sum(LEAVES.b, axis=1), ShapeError, "axis 1"),
    "ufunc": (lambda: np.cbrt(LEAVES.s), UsageError, "numpy.cbrt"),
    "reduce": (lambda: np.add.reduce(LEAVES.b), UsageError, "numpy.add"),
    "pickle": (lambda: pickle.dumps(LEAVES.s), UsageError, "pickle"),
    "complex": (lambda: LEAVES.s * 1j, (UsageError, TypeError), ""),
}


@pytest.mark.parametrize("case", ILLEGAL)
def test_illegal_expressions_are_refused_with_a_remedy(case):
    make, error, part = ILLEGAL[case]
    with pytest.raises(error) as found:
        make()
    assert part in str(found.value)


def test_literal_arrays_are_interned_by_value():
    assert Literal(np.array([1.0, 2.0])) is Literal(np.array([1, 2]))
    assert isinstance(as_expression(np.array(2.0)), Constant)
    assert isinstance(as_expression([1.0, 2.0]), Expression)


def test_a_literal_array_keeps_its_values_when_the_user_s_own_changes():
    own = np.array([1.0, 2.0, 3.0, 4.0])
    expression = LEAVES.b * own
    own[:] = 9.0
    np.testing.assert_allclose(value_of(expression), numbers()["b"] * [1.0, 2.0, 3.0, 4.0])


def test_threads_that_make_the_same_node_get_one():
    """The threads start together and switch as often as the interpreter allows."""
    import sys
    import threading

    interval, threads = sys.getswitchinterval(), 4
    start = threading.Barrier(threads)
    made: list[list[Expression]] = [[] for _ in range(threads)]

    def make(k):
        start.wait()
        made[k] = [LEAVES.s * (1000.5 + n) + n for n in range(300)]

    sys.setswitchinterval(1e-6)
    try:
        workers = [threading.Thread(target=make, args=(k,)) for k in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    finally:
        sys.setswitchinterval(interval)
    for nodes in zip(*made, strict=True):
        assert len({id(node) for node in nodes}) == 1
