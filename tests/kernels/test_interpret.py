"""numpy evaluation, and finding the place where a number ceased to exist."""

from __future__ import annotations

import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from acausal.kernels.interpret import evaluate, first_fault
from acausal.language.expression import Call, Constant, Expression, Literal, Slot, Sum, Time, apply, total
from acausal.language.operators import OPERATORS

x, y = Slot(0, "variable"), Slot(1, "variable")


def held(**values: Any) -> Any:
    """Values of `x`, `y` and time."""
    places = {x: "x", y: "y", Time(): "time"}
    return lambda leaf: np.asarray(values[places[leaf]], dtype=float)


def test_values_broadcast_and_outputs_keep_their_order() -> None:
    column, row = np.array([[1.0], [2.0]]), np.array([10.0, 20.0, 30.0])
    product, moment = evaluate([x * y, Time() + Constant(1.0)], held(x=column, y=row, time=4.0))
    np.testing.assert_array_equal(product, column * row)
    assert moment == 5.0 and moment.shape == ()


def test_literals_and_sums() -> None:
    matrix = Literal(np.arange(6.0).reshape(2, 3))
    one, both, scaled = evaluate([Sum(matrix, (0,)), total(matrix), Sum(matrix * x, (1,))], held(x=2.0))
    np.testing.assert_array_equal(one, [3.0, 5.0, 7.0])
    assert both == 15.0
    np.testing.assert_array_equal(scaled, [6.0, 24.0])


def test_sums_keep_axes_in_front() -> None:
    """One value per moment in front of the expression's own axes."""
    weights = Literal(np.array([1.0, 2.0, 3.0]))
    (found,) = evaluate([Sum(weights * x, (0,))], held(x=np.array([[1.0], [10.0]])))
    np.testing.assert_array_equal(found, [6.0, 60.0])


def test_elements_given_once_count_as_often_as_they_stand_there() -> None:
    (found,) = evaluate([Sum(Literal(np.zeros(4)) + x, (0,))], held(x=2.0))
    assert found == 8.0


def test_calls() -> None:
    square = SimpleNamespace(name="square", value=lambda a: a * a, data_address=0)
    (found,) = evaluate([Call(square, (x,)) + 1.0], held(x=[1.0, 3.0]))
    np.testing.assert_array_equal(found, [2.0, 10.0])


def test_deep_expressions() -> None:
    node: Expression = x
    for _ in range(5_000):
        node = node + y
    assert evaluate([node], held(x=1.0, y=2.0)) == [10_001.0]
    assert first_fault([node], held(x=1.0, y=2.0)) is None


OUTSIDE = {
    "div": (1.0, 0.0), "pow": (-8.0, 1.5), "exp": (1000.0,), "log": (0.0,), "log10": (-1.0,), "sqrt": (-4.0,), "asin": (1.5,),
    "acos": (-1.5,),
}  # fmt: skip


def test_table_of_faults_is_complete() -> None:
    assert set(OUTSIDE) == {name for name, operator in OPERATORS.items() if operator.outside is not None}


@pytest.mark.parametrize("name", OUTSIDE)
def test_each_domain_is_watched(name: str) -> None:
    slots = (x, y)[: OPERATORS[name].arity]
    node = apply(name, *slots)
    values = [np.array([0.5, argument, 0.5]) for argument in OUTSIDE[name]]
    fault = first_fault([node + 1.0], lambda leaf: values[leaf.number])
    assert fault is not None
    assert (fault.node, fault.complaint, fault.index, fault.arguments) == (node, OPERATORS[name].complaint, (1,), OUTSIDE[name])


def test_no_warning_is_seen() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name, arguments in OUTSIDE.items():
            node = apply(name, *(x, y)[: len(arguments)])
            evaluate([node], lambda leaf, a=arguments: np.array(a[leaf.number]))
            first_fault([node], lambda leaf, a=arguments: np.array(a[leaf.number]))


def test_the_cause_is_named_not_what_follows_from_it() -> None:
    quotient = 1.0 / (x - y)
    fault = first_fault([apply("sqrt", apply("exp", -quotient)) * 2.0], held(x=[1.0, 3.0], y=[2.0, 3.0]))
    assert fault is not None and fault.node is quotient
    assert str(fault) == "division by zero in `1/($0 - $1)`, with `$0 - $1` = 0"


def test_leaves_may_be_the_cause() -> None:
    fault = first_fault([x + y], held(x=[1.0, 2.0], y=[1.0, np.nan]))
    assert fault is not None and fault.node is y and fault.index == (1,)
    assert str(fault) == "a value that is not finite: `$1` = nan"


def test_overflow_inside_the_domain() -> None:
    fault = first_fault([x * y], held(x=1e200, y=1e200))
    assert fault is not None and fault.complaint == "a result that is not finite" and fault.value == np.inf


def test_what_a_choice_leaves_aside_is_no_fault() -> None:
    root = apply("sqrt", x)
    guarded = apply("where", x > 0, root, 0.0)
    assert first_fault([guarded], held(x=[-1.0, 4.0])) is None
    fault = first_fault([guarded, root + 1.0], held(x=[-1.0, 4.0]))
    assert fault is not None and fault.node is root and fault.index == (0,)
    wrong_way = apply("where", x > 0, 0.0, root)
    assert first_fault([wrong_way], held(x=4.0)) is None
    assert first_fault([wrong_way], held(x=-4.0)) is not None


def test_faults_below_broadcasts_and_sums() -> None:
    weights = Literal(np.array([1.0, 0.0, 3.0]))
    node = Sum(x / weights, (0,))
    fault = first_fault([node], held(x=np.array([[1.0], [2.0]])))
    assert fault is not None and fault.index == (0, 1) and fault.arguments == (1.0, 0.0)
    chosen = apply("where", Literal(np.array([1.0, 0.0, 1.0])) * x, x / weights, 0.0)
    assert first_fault([Sum(chosen, (0,))], held(x=2.0)) is None
