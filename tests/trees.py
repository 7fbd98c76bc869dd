"""Random expressions as trees that are read twice: as acausal expressions and as numpy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

import acausal as ac
from acausal.families.evaluate import evaluate_arrays
from acausal.language.expression import Expression, Reference, Time

SHAPES = {"A": (3, 4), "b": (4,), "c": (3, 1), "s": ()}
NOW = 0.7


class Leaves(ac.Component):
    A = ac.Variable(shape=(3, 4))
    b = ac.Variable(shape=4)
    c = ac.Variable(shape=(3, 1))
    s = ac.Variable()


LEAVES = Leaves()

_SMOOTH = {"sin": np.sin, "tanh": np.tanh, "neg": np.negative, "square": lambda x: x**2, "cube": lambda x: x**3}
_KINKED = {"abs": np.abs, "sign": np.sign}
_SYMBOLIC = {
    "sin": ac.sin, "tanh": ac.tanh, "neg": lambda x: -x, "square": lambda x: x**2, "cube": lambda x: x**3, "abs": ac.abs,
    "sign": ac.sign,
}  # fmt: skip
_BINARY = ("add", "sub", "mul", "div")
_CHOICES = ("min", "max", "where")


def trees(smooth: bool = False) -> st.SearchStrategy[Any]:
    leaf = st.one_of(
        st.sampled_from([("A",), ("b",), ("c",), ("s",), ("t",)]),
        st.tuples(st.just("k"), st.sampled_from([0.0, 1.0, -1.0, 2.0, 0.5, 3.7])),
        st.tuples(st.just("array"), st.sampled_from([4, 3])),
    )
    one = list(_SMOOTH) if smooth else [*_SMOOTH, *_KINKED]
    two = list(_BINARY) if smooth else [*_BINARY, *_CHOICES]
    return st.recursive(
        leaf,
        lambda inner: st.one_of(
            st.tuples(st.sampled_from(one), inner),
            st.tuples(st.sampled_from(two), inner, inner),
            st.tuples(st.just("sum"), inner, st.integers(-1, 2)),
            st.tuples(st.just("index"), inner, st.integers(0, 7)),
        ),
        max_leaves=8,
    )


def read(tree: Any, leaves: dict[str, Any], symbolic: bool) -> Any:
    """A tree over expressions (`symbolic`) or over numbers; shapes that do not fit leave the second operand out."""
    head, *rest = tree
    if head in leaves:
        return leaves[head]
    if head == "k":
        return rest[0]
    if head == "array":
        return np.arange(1.0, rest[0] + 1).reshape((rest[0], 1) if rest[0] == 3 else (rest[0],))
    a = read(rest[0], leaves, symbolic)
    if head in _SYMBOLIC:
        return (_SYMBOLIC if symbolic else {**_SMOOTH, **_KINKED})[head](a)
    if head == "sum":
        axis = rest[1] if -_rank(a) <= rest[1] < _rank(a) else None
        return ac.sum(a, axis=axis) if symbolic else np.sum(a, axis=axis)
    if head == "index":
        return _indexed(a, rest[1])
    b = read(rest[1], leaves, symbolic)
    return _two(head, a, b, symbolic) if _fits(a, b) else a


def _shape(value: Any) -> tuple[int, ...]:
    return value.shape if isinstance(value, Expression) else np.shape(value)


def _rank(value: Any) -> int:
    return len(_shape(value))


def _fits(a: Any, b: Any) -> bool:
    try:
        np.broadcast_shapes(_shape(a), _shape(b))
    except ValueError:
        return False
    return True


def _indexed(a: Any, seed: int) -> Any:
    keys: list[Any] = [0, -1, slice(None, None, -1), slice(1, None), slice(None, -1), Ellipsis, [0, -1, 0], None]
    return a[keys[seed]] if _shape(a) and _shape(a)[0] > 1 else a


def _two(head: str, a: Any, b: Any, symbolic: bool) -> Any:
    if head == "add":
        return a + b
    if head == "sub":
        return a - b
    if head == "mul":
        return a * b
    if head == "div":
        return a / (2.0 + b * b)
    if head == "where":
        return ac.where(a < b, a, 2.0 * b) if symbolic else np.where(np.asarray(a) < b, a, 2.0 * np.asarray(b))
    symbols, numbers = {"min": ac.min, "max": ac.max}, {"min": np.minimum, "max": np.maximum}
    return (symbols if symbolic else numbers)[head](a, b)


def symbols() -> dict[str, Any]:
    return {**{name: getattr(LEAVES, name) for name in SHAPES}, "t": ac.time}


def numbers(t: float = NOW, order: int = 0) -> dict[str, Any]:
    """Smooth functions of time for every leaf (or their derivatives)."""
    found: dict[str, Any] = {"t": t if order == 0 else 1.0}
    for k, (name, shape) in enumerate(SHAPES.items()):
        phase = np.arange(int(np.prod(shape))).reshape(shape) * 0.37 + k
        found[name] = np.sin(phase + t) if order == 0 else np.cos(phase + t)
    return found


def value_of(expression: Expression, t: float = NOW) -> np.ndarray:
    """An expression over the leaves, evaluated with numpy."""

    def leaf(node: Expression) -> np.ndarray:
        if isinstance(node, Time):
            return np.asarray(t)
        assert isinstance(node, Reference)
        whole = np.asarray(numbers(t, node.order)[node.name])
        return whole if node.picked is None else whole.ravel()[node.picked]

    return np.broadcast_to(evaluate_arrays(expression, leaf, batch=0), expression.shape)
