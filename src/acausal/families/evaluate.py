"""Array expressions evaluated with numpy for many instances or points in time at once.

Every leaf's value has `batch` leading axes and then the leaf's own shape; so has the result. (Templates, which are scalar, are
evaluated by `kernels/interpret.py`.)
"""

from __future__ import annotations

from collections.abc import Callable, Container

import numpy as np

from ..language.expression import Call, Constant, Expression, Literal, Operation, Sum, walk


def evaluate_arrays(
    expression: Expression, value_of_leaf: Callable[[Expression], np.ndarray], batch: int, known: Container[Expression] = ()
) -> np.ndarray:
    """The value of an array expression; nan or inf where there is none. `known`: nodes that `value_of_leaf` gives as well."""
    values: dict[Expression, np.ndarray] = {}
    with np.errstate(all="ignore"):
        for node in walk(expression):
            if node in known:
                values[node] = np.asarray(value_of_leaf(node), dtype=float)
            else:
                values[node] = value_of(node, values, value_of_leaf, batch)
    return values[expression]


def value_of(
    node: Expression, values: dict[Expression, np.ndarray], value_of_leaf: Callable[[Expression], np.ndarray], batch: int
) -> np.ndarray:
    """The value of a node whose arguments have `values`."""
    if isinstance(node, Constant):
        return np.full((1,) * batch, node.value)
    if isinstance(node, Literal):
        return node.values.reshape((1,) * batch + node.shape)
    if isinstance(node, Sum):
        axes = tuple(batch + k for k in node.axes)
        inner = values[node.args[0]]
        return np.broadcast_to(inner, inner.shape[:batch] + node.args[0].shape).sum(axis=axes)
    if isinstance(node, (Operation, Call)):
        args = [_aligned(values[a], len(a.shape), len(node.shape), batch) for a in node.args]
        function = node.operator.value if isinstance(node, Operation) else node.function.value
        return np.asarray(function(*args), dtype=float)
    return np.asarray(value_of_leaf(node), dtype=float)


def _aligned(value: np.ndarray, own: int, wanted: int, batch: int) -> np.ndarray:
    """Axes of length one between the batch and the node's own axes, so that numpy's broadcasting is that of the node."""
    return value.reshape(value.shape[:batch] + (1,) * (wanted - own) + value.shape[batch:])
