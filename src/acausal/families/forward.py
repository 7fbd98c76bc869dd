"""Array expressions with their derivatives, by numpy and scipy: values forward, sparse Jacobians along with them.

For what is evaluated rarely and belongs to no kernel: parameters bound to expressions, and whatever a user names as an output.
Derivatives are those of the operators themselves, so they are exact; elements, broadcasting and sums are sparse selections.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array, diags_array

from ..language.expression import Constant, Expression, Literal, Sum, walk
from ..records import dataclass
from .differentiate import partials
from .evaluate import evaluate_arrays


@dataclass(frozen=True, slots=True, eq=False)
class Differentiated:
    """A value of shape (instances, *shape of the node) and its derivatives: one row for each element, one column for each cell."""

    value: np.ndarray
    slope: csr_array


def differentiated(
    expression: Expression, leaf: Callable[[Expression], Differentiated], instances: int, columns: int
) -> Differentiated:
    """`expression` in so many instances; `leaf` gives the value and the derivatives of what it is made of."""
    found: dict[Expression, Differentiated] = {}
    for node in walk(expression):
        if isinstance(node, (Constant, Literal)):
            value = node.values if isinstance(node, Literal) else np.array(node.value)
            whole = np.broadcast_to(value, (instances, *node.shape))
            found[node] = Differentiated(whole, csr_array((whole.size, columns)))
        elif isinstance(node, Sum):
            found[node] = _summed(node, found[node.args[0]])
        elif node.args:
            found[node] = _operated(node, found, instances, columns)
        else:
            found[node] = leaf(node)
    return found[expression]


def _operated(node: Expression, found: dict[Expression, Differentiated], instances: int, columns: int) -> Differentiated:
    shape = (instances, *node.shape)
    value = np.broadcast_to(evaluate_arrays(node, lambda n: found[n].value, batch=1, known=found), shape)
    here = {**found, node: Differentiated(value, csr_array((0, columns)))}
    slope = csr_array((value.size, columns))
    for argument, partial in zip(node.args, partials(node), strict=True):
        inner = found[argument].slope
        if inner.nnz:
            factor = np.broadcast_to(evaluate_arrays(partial, lambda n: here[n].value, batch=1, known=here), shape)
            slope = slope + diags_array(factor.ravel()) @ inner[_broadcast(argument.shape, node.shape, instances)]
    return Differentiated(value, csr_array(slope))


def _broadcast(own: tuple[int, ...], wanted: tuple[int, ...], instances: int) -> np.ndarray:
    """For each element of a node, the number of the element of its argument that it is made of."""
    numbers = np.arange(instances * int(np.prod(own))).reshape((instances, *(1,) * (len(wanted) - len(own)), *own))
    return np.broadcast_to(numbers, (instances, *wanted)).ravel()


def _summed(node: Sum, inner: Differentiated) -> Differentiated:
    axes = tuple(1 + k for k in node.axes)
    value = inner.value.sum(axis=axes)
    target = np.broadcast_to(np.expand_dims(np.arange(value.size).reshape(value.shape), axes), inner.value.shape).ravel()
    adding = csr_array((np.ones(len(target)), (target, np.arange(len(target)))), shape=(value.size, len(target)))
    return Differentiated(value, csr_array(adding @ inner.slope))
