"""Expressions evaluated with numpy: for values outside the solver's loop, and to find out what went wrong inside it.

Each node is evaluated once, on whole arrays. Leaves (slots, references, time) are given by the caller; their values may have
more axes in front than the node's own shape (one value per row, or per point in time) and broadcast as numpy's arrays do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..language.expression import Call, Constant, Expression, Literal, Operation, Sum, walk
from ..records import dataclass

ValueOfLeaf = Callable[[Expression], Any]
Values = dict[Expression, np.ndarray]


def evaluate(outputs: Sequence[Expression], value_of_leaf: ValueOfLeaf) -> list[np.ndarray]:
    """The values of `outputs`. Numbers that do not exist come out as nan or inf, without a warning.

    >>> from acausal.language.expression import Slot
    >>> x = Slot(0, "variable")
    >>> evaluate([x * x + 1], lambda leaf: np.array([1.0, 2.0]))
    [array([2., 5.])]
    """
    values = _values(outputs, value_of_leaf)
    return [values[output] for output in outputs]


def _values(outputs: Sequence[Expression], value_of_leaf: ValueOfLeaf) -> Values:
    values: Values = {}
    with np.errstate(all="ignore"):
        for node in walk(*outputs):
            values[node] = _value(node, [values[a] for a in node.args], value_of_leaf)
    return values


def _value(node: Expression, args: list[np.ndarray], value_of_leaf: ValueOfLeaf) -> np.ndarray:
    found: Any
    if isinstance(node, Operation):
        found = node.operator.value(*args)
    elif isinstance(node, Call):
        found = node.function.value(*args)
    elif isinstance(node, Constant):
        found = node.value
    elif isinstance(node, Literal):
        found = node.values
    elif isinstance(node, Sum):
        found = _whole(node, args[0]).sum(axis=_axes_from_the_end(node))
    else:
        found = value_of_leaf(node)
    return np.asarray(found, dtype=float)


def _whole(node: Sum, value: np.ndarray) -> np.ndarray:
    """The value of what is summed in its full shape: an element that was given once counts as often as it stands there."""
    return np.broadcast_to(value, np.broadcast_shapes(value.shape, node.args[0].shape))


def _axes_from_the_end(node: Sum) -> tuple[int, ...]:
    """The summed axes as negative numbers, which hold whatever stands in front of them."""
    return tuple(k - len(node.args[0].shape) for k in node.axes)


@dataclass(frozen=True, slots=True)
class Fault:
    """The first place where an expression has no value: which node, why, for which element, with which arguments."""

    node: Expression
    complaint: str
    index: tuple[int, ...]  # of the element, within the node's value
    arguments: tuple[float, ...]
    value: float

    def __str__(self) -> str:
        if not self.node.args:
            return f"{self.complaint}: `{self.node}` = {self.value:g}"
        pairs = zip(self.node.args, self.arguments, strict=False)  # a sum lists none
        listed = ", ".join(f"`{a}` = {v:g}" for a, v in pairs if not isinstance(a, Constant))
        return f"{self.complaint} in `{self.node}`" + (f", with {listed}" if listed else "")


def first_fault(outputs: Sequence[Expression], value_of_leaf: ValueOfLeaf) -> Fault | None:
    """The first node, in order of evaluation, that has no finite value or leaves its domain although its arguments are finite.

    What a `where` does not choose is no fault: `where(x > 0, sqrt(x), 0)` is fine for every x.

    >>> from acausal.language.expression import Slot
    >>> x = Slot(0, "variable")
    >>> print(first_fault([1 / x], lambda leaf: np.array([1.0, 0.0])))
    division by zero in `1/$0`, with `$0` = 0
    """
    values = _values(outputs, value_of_leaf)
    order = list(walk(*outputs))
    chosen = _chosen(order, outputs, values)
    with np.errstate(all="ignore"):
        for node in order:
            outside = _outside(node, values)
            wrong = (outside | ~np.isfinite(values[node])) & _sound(node, values) & chosen.get(node, False)
            if wrong.any():
                return _fault(node, wrong, outside, values)
    return None


def _outside(node: Expression, values: Values) -> np.ndarray:
    """Where the arguments leave the operator's domain."""
    if isinstance(node, Operation) and node.operator.outside is not None:
        return np.asarray(node.operator.outside(*(values[a] for a in node.args)), dtype=bool)
    return np.zeros(values[node].shape, dtype=bool)


def _sound(node: Expression, values: Values) -> np.ndarray:
    """Where all arguments are finite, so that nobody below is to blame."""
    if isinstance(node, Sum):
        return np.asarray(np.isfinite(_whole(node, values[node.args[0]])).all(axis=_axes_from_the_end(node)))
    sound = np.ones((), dtype=bool)
    for argument in node.args:
        sound = sound & np.isfinite(values[argument])
    return sound


def _fault(node: Expression, wrong: np.ndarray, outside: np.ndarray, values: Values) -> Fault:
    index = tuple(int(k) for k in np.argwhere(wrong)[0])

    def element(value: np.ndarray) -> Any:
        return np.broadcast_to(value, wrong.shape)[index]

    complaint = "a result that is not finite" if node.args else "a value that is not finite"
    if isinstance(node, Operation) and element(outside):
        complaint = node.operator.complaint
    arguments: tuple[float, ...] = () if isinstance(node, Sum) else tuple(float(element(values[a])) for a in node.args)
    if isinstance(node, Call):
        complaint = node.function.complaint(arguments) or complaint
    return Fault(node, complaint, index, arguments, float(element(values[node])))


def _chosen(order: list[Expression], outputs: Sequence[Expression], values: Values) -> dict[Expression, np.ndarray]:
    """For each node, the elements that some output really uses."""
    chosen: dict[Expression, np.ndarray] = {output: np.ones(values[output].shape, dtype=bool) for output in outputs}
    for node in reversed(order):
        if node not in chosen:
            continue
        for k, argument in enumerate(node.args):
            used = _reduced(_used(node, k, chosen[node], values), values[argument].shape)
            chosen[argument] = chosen[argument] | used if argument in chosen else used
    return chosen


def _used(node: Expression, place: int, chosen: np.ndarray, values: Values) -> np.ndarray:
    """The elements that a node uses of its argument number `place`."""
    if isinstance(node, Sum):
        return np.expand_dims(chosen, _axes_from_the_end(node))
    if isinstance(node, Operation) and node.operator.name == "where" and place:
        condition = values[node.args[0]] != 0
        return np.asarray(chosen & (condition if place == 1 else ~condition))
    return chosen


def _reduced(used: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """`used` for an argument of `shape` that was broadcast: an element is used if any of its copies is."""
    if used.shape == shape:
        return used
    whole = np.broadcast_to(used, np.broadcast_shapes(used.shape, shape))
    extra = whole.ndim - len(shape)
    copied = [extra + k for k, n in enumerate(shape) if n == 1]
    return np.asarray(whole.any(axis=(*range(extra), *copied))).reshape(shape)
