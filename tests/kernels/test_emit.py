"""Machine code against numpy (values) and against differences of itself (Jacobians)."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from acausal.families.template import MINUS, MIXED, PLUS, Template
from acausal.kernels.emit import EMITTERS, emit_kernel
from acausal.kernels.interpret import evaluate
from acausal.language.expression import Call, Constant, Expression, Operation, Slot, apply, walk
from acausal.language.operators import OPERATORS

SMOOTH_WITHIN = {  # where to draw arguments from, so that the operator has a value and a derivative there
    "div": [(-3, 3), (0.5, 3)], "pow": [(0.2, 3), (-3, 3)], "exp": [(-5, 5)], "log": [(0.2, 9)], "log10": [(0.2, 9)],
    "sqrt": [(0.2, 9)], "tan": [(-1.2, 1.2)], "asin": [(-0.8, 0.8)], "acos": [(-0.8, 0.8)], "abs": [(0.2, 3)],
    "atan2": [(0.3, 3), (-3, 3)], "min": [(-3, 0), (0.2, 3)], "max": [(-3, 0), (0.2, 3)], "sign": [(0.2, 3)],
    "floor": [(0.1, 0.9)], "ceil": [(0.1, 0.9)],
}  # fmt: skip


def variable(number: int) -> Slot:
    return Slot(number, "variable")


def of_slots(values: np.ndarray) -> Any:
    return lambda leaf: values[leaf.number]


def operator_case(name: str, rows: int = 40) -> tuple[Template, np.ndarray]:
    """An operator over slots, and arguments inside its domain. Plain `Operation`: nothing simplified away."""
    arity = OPERATORS[name].arity
    ranges = SMOOTH_WITHIN.get(name, [(-3, 3)] * arity)
    values = np.array([np.random.default_rng(k).uniform(*r, rows) for k, r in enumerate(ranges)])
    if OPERATORS[name].logical or name == "where":
        values[0, ::3] = 0.0  # both truths, and equality in relations
        values[-1, ::3] = 0.0
    return Template((Operation(OPERATORS[name], tuple(variable(k) for k in range(arity))),)), values


def test_every_operator_is_emitted() -> None:
    assert set(EMITTERS) == set(OPERATORS)


@pytest.mark.parametrize("name", OPERATORS)
def test_operator_agrees_with_numpy(name: str, compiled: Any) -> None:
    template, values = operator_case(name)
    (expected,) = evaluate(template.outputs, of_slots(values))
    assert np.isfinite(expected).all()
    np.testing.assert_allclose(compiled(template).residual_of(values)[0], expected, rtol=1e-14, atol=0)


@pytest.mark.parametrize("name", OPERATORS)
def test_derivative_of_operator_agrees_with_differences(name: str, compiled: Any) -> None:
    template, values = operator_case(name)
    kernel = compiled(template)
    entries = {slot: row for (_, slot, _), row in zip(template.jacobian, kernel.jacobian_of(values), strict=True)}
    for slot in range(len(template.slots)):
        if OPERATORS[name].logical or (name == "where" and slot == 0):
            assert slot not in entries  # steps have no derivative: they make events
            continue
        entry = entries.get(slot, np.zeros(values.shape[1]))
        np.testing.assert_allclose(entry, kernel.difference_of(values, slot)[0], rtol=1e-9, atol=1e-9)


SMOOTH = ["add", "sub", "mul", "div", "neg", "exp", "sin", "cos", "atan", "tanh", "sqrt", "log", "pow", "sinh", "cosh", "atan2"]
BROKEN = ["abs", "sign", "floor", "ceil", "min", "max", "lt", "le", "gt", "ge", "and", "or", "not", "where"]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, np.inf, -np.inf, np.nan, 1e300, 5e-324]


@pytest.mark.parametrize("name", ["add", "div", "sqrt", "abs", *BROKEN])
def test_special_numbers_go_through_as_in_numpy(name: str, compiled: Any) -> None:
    """A residual that is not a number must reach the solver as such, not be swallowed by a comparison."""
    arity = OPERATORS[name].arity
    values = np.stack([g.ravel() for g in np.meshgrid(*[SPECIAL] * arity)])
    template = Template((Operation(OPERATORS[name], tuple(variable(k) for k in range(arity))),))
    np.testing.assert_array_equal(compiled(template).residual_of(values)[0], evaluate(template.outputs, of_slots(values))[0])


@pytest.mark.parametrize("exponent", [5.0, 7.0, 16.0, 17.0, -3.0, -6.0, 1.5, 2.5, -0.5, -1.5, 0.25, 1.75, 100.0, -40.5])
def test_constant_powers(exponent: float, compiled: Any) -> None:
    x = variable(0)
    template = Template((x**exponent,))
    values = np.random.default_rng(1).uniform(0.3, 3.0, (1, 50))
    np.testing.assert_allclose(compiled(template).residual_of(values)[0], values[0] ** exponent, rtol=1e-14)
    expected = exponent * values[0] ** (exponent - 1)
    np.testing.assert_allclose(compiled(template).jacobian_of(values)[0], expected, rtol=1e-14)


def test_logical_values_are_numbers_where_numbers_are_needed(compiled: Any) -> None:
    x, y = variable(0), variable(1)
    inside = (x > 0) & (y <= 1)
    template = Template((inside, 3 * inside + x, apply("where", ~inside | (x > y), x, y), apply("where", x, 1.0, 2.0)))
    values = np.random.default_rng(2).choice([-1.0, 0.0, 0.5, 1.0, 2.0], (2, 60))
    np.testing.assert_array_equal(compiled(template).residual_of(values), evaluate(template.outputs, of_slots(values)))


# --- tables, signs, accumulation ------------------------------------------------------------------------------------------
def test_capacitor_with_every_kind_of_slot(compiled: Any) -> None:
    """C der(v) == i, the current with a minus sign: entries are cj C and +1 by hand."""
    template = Template((Slot(0, "known") * Slot(1, "derivative") - variable(2),))
    kernel = compiled(template, (PLUS, PLUS, MINUS))
    values = np.array([[2.0, 3.0], [5.0, 7.0], [11.0, 13.0]])
    np.testing.assert_array_equal(kernel.residual_of(values), [[-1.0, 8.0]])
    assert [entry[:2] for entry in template.jacobian] == [(0, 1), (0, 2)]
    np.testing.assert_array_equal(kernel.jacobian_of(values, cj=100.0), [[200.0, 300.0], [1.0, 1.0]])


@pytest.mark.parametrize("sign", [PLUS, MINUS, MIXED])
def test_constant_entries_carry_sign_and_cj(sign: int, compiled: Any) -> None:
    template = Template((4.0 * Slot(0, "derivative") - 3.0 * variable(1),))
    negative = np.array([[True, False, True]] * 2)
    kernel = compiled(template, (sign, sign), negative)
    sign_of_row = {PLUS: np.ones(3), MINUS: -np.ones(3), MIXED: np.array([-1.0, 1.0, -1.0])}[sign]
    np.testing.assert_array_equal(kernel.jacobian_of(np.zeros((2, 3)), cj=0.5), [2.0 * sign_of_row, -3.0 * sign_of_row])


def test_results_are_added_to_what_is_there_and_rows_may_meet(compiled: Any) -> None:
    template = Template((variable(0), 2.0 * variable(1)))
    kernel = compiled(template)
    w = np.array([1.0, 10.0, 100.0])
    slots = np.array([[0, 1, 2], [2, 1, 0]], dtype=np.int32)
    rows = np.array([[0, 0, 1], [1, 0, 0]], dtype=np.int32)
    out = np.array([0.5, 0.25])
    kernel.residual(w, out, slots, rows)
    np.testing.assert_array_equal(out, [0.5 + 1 + 10 + 20 + 2, 0.25 + 100 + 200])
    jac = np.array([7.0, 0.0])
    kernel.jacobian(w, 1.0, jac, slots, np.array([[0, 0, 1], [1, 1, 1]], dtype=np.int32))
    np.testing.assert_array_equal(jac, [9.0, 7.0])


def test_no_rows_touch_nothing(compiled: Any) -> None:
    template = Template((variable(0) * variable(0),))
    out = np.array([3.0])
    empty = np.zeros((1, 0), dtype=np.int32)
    compiled(template).residual(np.zeros(1), out, empty, empty)
    compiled(template).jacobian(np.zeros(1), 1.0, out, empty, empty)
    assert out[0] == 3.0


def test_template_of_numbers_only_has_no_jacobian(compiled: Any) -> None:
    kernel = compiled(Template((Constant(2.5), Slot(0, "known") * 2.0)))
    assert kernel.kernel.jacobian_address == 0
    np.testing.assert_array_equal(kernel.residual_of(np.array([[1.0, 2.0]])), [[2.5, 2.5], [2.0, 4.0]])


def test_each_sub_expression_is_computed_once() -> None:
    x, y = variable(0), variable(1)
    shared = apply("exp", x * y)
    template = Template((shared + x, shared * apply("sin", shared), shared / y))
    residual, jacobian = emit_kernel(template, (PLUS, PLUS), "k").split("define void")[1:]
    assert residual.count("call double @llvm.exp.f64") == jacobian.count("call double @llvm.exp.f64") == 1
    assert residual.count("ptr %w, i64") == 2


def test_constant_entries_evaluate_nothing() -> None:
    template = Template((variable(0) + apply("exp", Slot(1, "known")),))
    jacobian = emit_kernel(template, (PLUS, PLUS), "k").split("define void")[2]
    assert "call" not in jacobian and "ptr %w, i64" not in jacobian


def test_deep_expressions(compiled: Any) -> None:
    """A chain as long as a discretised sum: no recursion anywhere between expression and machine code."""
    node: Expression = variable(0)
    for _ in range(3000):
        node = 0.5 * node + variable(1)
    values = np.array([[1.0, -2.0], [3.0, 0.25]])
    kernel = compiled(Template((node,)))
    np.testing.assert_allclose(kernel.residual_of(values)[0], 2 * values[1], rtol=1e-14)
    np.testing.assert_allclose(kernel.jacobian_of(values)[-1], 2.0, rtol=1e-14)


# --- functions known by address -------------------------------------------------------------------------------------------
@dataclass(eq=False)
class Function:
    """What kernels ask of a function known by address, over a ctypes callback."""

    name: str
    code: Any
    python: Any
    derivatives: tuple[Any, ...] = ()
    data: np.ndarray | None = None
    arity: int = field(init=False)

    def __post_init__(self) -> None:
        self.arity = len(self.derivatives)
        self.address = ctypes.cast(self.code, ctypes.c_void_p).value
        self.data_address = 0 if self.data is None else self.data.ctypes.data

    @property
    def evaluation(self) -> Function:
        return self

    def partial(self, k: int, args: tuple[Expression, ...]) -> Expression:
        return Call(self.derivatives[k], args)

    def value(self, *arrays: Any) -> Any:
        return np.vectorize(self.python)(*arrays)


def plain(name: str, function: Any, *derivatives: Any) -> Function:
    arity = function.__code__.co_argcount
    prototype = ctypes.CFUNCTYPE(ctypes.c_double, *[ctypes.c_double] * arity)
    return Function(name, prototype(function), function, tuple(plain(f"{name}{k}", d) for k, d in enumerate(derivatives)))


def scaled(data: np.ndarray, power: int) -> Function:
    """data[0] * x**power, its coefficient reached through the data pointer."""
    prototype = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.POINTER(ctypes.c_double), ctypes.c_double)
    slope = Function("slope", prototype(lambda d, x: d[0] * power * x ** (power - 1)), None, data=data)
    return Function("scaled", prototype(lambda d, x: d[0] * x**power), lambda x: data[0] * x**power, (slope,), data)


def test_calls_with_and_without_data(compiled: Any) -> None:
    product = plain("product", lambda a, b: a * b * b, lambda a, b: b * b, lambda a, b: 2 * a * b)
    cubic = scaled(np.array([2.5]), 3)
    x, y = variable(0), variable(1)
    template = Template((Call(product, (x, Call(cubic, (y,)))) + Call(cubic, (x,)), Call(product, (y, x))))
    values = np.random.default_rng(3).uniform(0.5, 1.5, (2, 20))
    kernel = compiled(template, (PLUS, MINUS))
    np.testing.assert_allclose(kernel.residual_of(values), evaluate(template.outputs, of_slots(values)), rtol=1e-14)
    entries = kernel.jacobian_of(values)
    for (output, slot, _), entry in zip(template.jacobian, entries, strict=True):
        sign = -1 if slot == 1 else 1
        np.testing.assert_allclose(sign * entry, kernel.difference_of(values, slot)[output], rtol=1e-9)


def test_same_code_serves_other_functions_of_the_same_form(compiled: Any) -> None:
    """Addresses come at run time, so a template that differs in its functions only is the same machine code."""
    double, triple = plain("double", lambda a: 2 * a, lambda a: 2.0), plain("triple", lambda a: 3 * a, lambda a: 3.0)
    one, other = (compiled(Template((Call(f, (variable(0),)) + 1.0,))) for f in (double, triple))
    assert one.kernel.residual_address == other.kernel.residual_address
    values = np.array([[1.0, 4.0]])
    np.testing.assert_array_equal(one.residual_of(values), [[3.0, 9.0]])
    np.testing.assert_array_equal(other.residual_of(values), [[4.0, 13.0]])


# --- random expressions ---------------------------------------------------------------------------------------------------


@st.composite
def graphs(draw: Any, names: list[str], most: int = 25) -> tuple[Expression, ...]:
    """A random DAG: each new node takes its arguments from all nodes before it, so that much is shared."""
    kinds = draw(st.lists(st.sampled_from(["variable", "derivative", "known"]), min_size=2, max_size=4))
    nodes: list[Expression] = [Slot(k, kind) for k, kind in enumerate(kinds)]
    nodes += [Constant(c) for c in draw(st.lists(st.sampled_from([-1.5, 0.5, 2.0, 3.0]), max_size=2))]
    leaves = sum(nodes[1 : len(kinds)], start=nodes[0])  # every slot appears
    for name in draw(st.lists(st.sampled_from(names), min_size=1, max_size=most)):
        args = [nodes[draw(st.integers(0, len(nodes) - 1))] for _ in range(OPERATORS[name].arity)]
        nodes.append(apply(name, *args))
    return leaves + nodes[-1], nodes[-1]


relaxed = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])


@relaxed
@given(graphs(SMOOTH + BROKEN), st.integers(0, 2**32 - 1), st.data())
def test_random_residuals_agree_with_numpy(compiled: Any, outputs: tuple[Expression, ...], seed: int, data: Any) -> None:
    template = Template(outputs)
    n = len(template.slots)
    signs = data.draw(st.lists(st.sampled_from([PLUS, MINUS, MIXED]), min_size=n, max_size=n))
    random = np.random.default_rng(seed)
    values = random.uniform(0.3, 2.0, (n, 8))
    expected, calm, allowed = values_and_their_rounding(outputs, values, random)
    got = compiled(template, signs, random.random(values.shape) < 0.5).residual_of(values)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_less(np.abs(got - expected)[calm], allowed[calm])


def values_and_their_rounding(outputs: tuple[Expression, ...], values: np.ndarray, random: Any) -> tuple[np.ndarray, ...]:
    """Values, where they can be compared, and how far rounding may move them, as told by arguments nearby (cancellation, jumps)."""

    def at(arguments: np.ndarray) -> np.ndarray:
        return np.stack([np.broadcast_to(o, values.shape[1:]) for o in evaluate(outputs, of_slots(arguments))])

    expected = at(values)
    with np.errstate(all="ignore"):
        near = [at(values * (1 + e * random.choice([-1, 1], values.shape))) for e in (1e-13, -1e-13, 3e-14)]
        spread = np.max(np.abs(np.array(near) - expected), axis=0)
        calm = np.isfinite(expected) & (np.abs(expected) < 1e100) & (spread <= 1e-9 * (1 + np.abs(expected)))
        return expected, calm, 1e-11 * (1 + np.abs(expected)) + 50 * spread


@relaxed
@given(graphs(SMOOTH, most=12), st.integers(0, 2**32 - 1), st.data())
def test_random_jacobians_agree_with_differences(compiled: Any, outputs: tuple[Expression, ...], seed: int, data: Any) -> None:
    template = Template(outputs)
    n = len(template.slots)
    signs = data.draw(st.lists(st.sampled_from([PLUS, MINUS, MIXED]), min_size=n, max_size=n))
    random = np.random.default_rng(seed)
    values = random.uniform(0.3, 2.0, (n, 6))
    kernel = compiled(template, signs, random.random(values.shape) < 0.5)
    sign = {PLUS: np.ones((n, 6)), MINUS: -np.ones((n, 6)), MIXED: np.where(kernel.negative, -1.0, 1.0)}
    cj = 3.0
    checked = 0
    with np.errstate(all="ignore"):
        differences = {(s, h): kernel.difference_of(values, s, h) for s in range(n) for h in (2.0**-7, 2.0**-9)}
        rounding = rounding_of_differences(outputs, values, 2.0**-7)
    for (output, slot, _), entry in zip(template.jacobian, kernel.jacobian_of(values, cj), strict=True):
        factor = sign[signs[slot]][slot] * (cj if template.slots[slot].kind == "derivative" else 1.0)
        fine, finer = (differences[slot, h][output] for h in (2.0**-7, 2.0**-9))
        with np.errstate(all="ignore"):
            trusted = np.isfinite(fine) & (np.abs(fine - finer) <= 1e-8 * (1 + np.abs(fine))) & (np.abs(fine) < 1e4)
        trusted &= rounding[slot] < 1e-7  # otherwise `x + 1e26` seems not to depend on x
        np.testing.assert_allclose((entry / factor)[trusted], fine[trusted], rtol=2e-6, atol=2e-6)
        checked += int(trusted.sum())
    assume(checked > 0)


def rounding_of_differences(outputs: tuple[Expression, ...], values: np.ndarray, step: float) -> np.ndarray:
    """How far rounding may move a difference quotient (slot, row): the largest intermediate's last digit over the smallest step.

    `difference_of` weighs quotients of steps h, h/2 and h/4 with 1/45, 20/45 and 64/45: together at most 7 eps/h of the largest.
    """
    nodes = list({node: None for output in outputs for node in walk(output)})
    sizes = [np.broadcast_to(np.abs(v), values.shape[1:]) for v in evaluate(nodes, of_slots(values))]
    largest = np.nan_to_num(np.max(sizes, axis=0), nan=np.inf)
    return 7 * np.finfo(float).eps * largest / (step * np.maximum(np.abs(values), 0.5))
