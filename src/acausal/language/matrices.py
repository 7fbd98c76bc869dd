"""Matrices in equations: products, transposes, and elements whose number is only known during the run."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ShapeError, UsageError
from .expression import Expression, apply, as_expression, take
from .types import type_of

MOST_CHOICES = 10_000


def product(a: Any, b: Any) -> Expression:
    """`A @ x`: as numpy's, for vectors and matrices."""
    from .functions import dot

    return as_expression(dot(as_expression(a), as_expression(b)))


def transpose(node: Expression) -> Expression:
    """`A.T`; a scalar and a vector are their own."""
    if node.ndim < 2:
        return node
    return take(node, np.arange(node.size).reshape(node.shape).T)


def chosen(node: Expression, key: Any) -> Expression:
    """`table[n, 2]` where n is a discrete quantity: the element is looked up whenever n changes.

    A number outside of the table means its first or last element.
    """
    keys = key if isinstance(key, tuple) else (key,)
    axis = next(k for k, part in enumerate(keys) if isinstance(part, Expression))
    if any(part is None or part is Ellipsis for part in keys[:axis]):
        raise UsageError(f"`{node}[…]`: an index that is an expression stands before `...` and `None`.")
    if len(keys) > node.ndim:
        raise ShapeError(f"`{node}` has {node.ndim} dimensions and was given {len(keys)} indices.")
    number = keys[axis]
    _check(node, number)
    if node.shape[axis] > MOST_CHOICES:
        raise UsageError(
            f"`{node}` has {node.shape[axis]} elements along axis {axis}, too many to be chosen from.", remedy="Use `ac.Table`."
        )
    found = [node[(*keys[:axis], k, *keys[axis + 1 :])] for k in range(node.shape[axis])]
    return _bisected(number, found, 0)


def _check(node: Expression, number: Expression) -> None:
    if number.shape:
        raise ShapeError(f"`{node}[{number}]`: an index that is an expression is a scalar, this one has shape {number.shape}.")
    if type_of(number) != "integer":
        raise UsageError(
            f"`{node}[{number}]`: an index that changes during the run is an `ac.Integer`, `{number}` is {type_of(number)}.",
            remedy="For a value between the elements use `ac.Table`.",
        )


def _bisected(number: Expression, found: list[Expression], first: int) -> Expression:
    """A choice as deep as the logarithm of the number of elements."""
    if len(found) == 1:
        return found[0]
    half = len(found) // 2
    low, high = _bisected(number, found[:half], first), _bisected(number, found[half:], first + half)
    return apply("where", number < first + half - 0.5, low, high)
