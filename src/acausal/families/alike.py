"""Whether two components say the same but for some numbers and tables, which are then data of one kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

import numpy as np

from ..errors import ModelError
from ..language.component import Component
from ..language.events import expressions
from ..language.expression import (
    Call,
    Constant,
    Expression,
    Literal,
    Operation,
    Reference,
    Time,
    as_expression,
    transform,
    walk,
)
from ..language.reading import undone
from ..language.table_sets import TableSet, is_choosable
from ..language.tables import _derivative_of
from .evaluate import value_of
from .plant import Kind
from .trace import stand_in, stated
from .tree import Node

_POINTS = 7  # at which expressions are compared


class SameButFor:
    """Whether two components state the same once some numbers of theirs are parameters: shown for both of them.

    The representative is asked with parameters in the place of the numbers. What it says then is compared, with the numbers of
    either put in, with what each of them says as it is. An equation that decides on a number (`if self.rate > 1`) refuses to be
    stated in this way, or says something else; then the two are of different kinds.
    """

    def __init__(self) -> None:
        self._said: dict[tuple[int, tuple[str, ...]], list[Any]] = {}

    def __call__(self, representative: Component, names: tuple[str, ...], other: Component) -> bool:
        try:
            symbolic = self._with_parameters(representative, names)
            with undone(other, _nothing_named):
                plain = _spoken(other, names)
            return _agree(symbolic, plain, representative, other, names)
        except Exception:  # whatever goes wrong with parameters is told when the component itself is asked
            return False

    def _with_parameters(self, representative: Component, names: tuple[str, ...]) -> list[Any]:
        key = (id(representative), names)
        if key not in self._said:
            with undone(representative, _nothing_named):
                own = representative.__dict__
                stand_in(representative, names, {n: [own[n]] for n in names if is_choosable(own[n])})
                symbolic = _spoken(representative, names)
            if any(_depends_on_time(e) for e in symbolic if isinstance(e, Expression)):
                raise ModelError("Steps end where a table of time does, each at a place of its own.")
            with undone(representative, _nothing_named):
                plain = _spoken(representative, names)
            if not _agree(symbolic, plain, representative, representative, names):
                raise ModelError("It says something else.")
            self._said[key] = symbolic
        return self._said[key]


def first_that_differs(one: Component, others: Iterable[Component]) -> Component | None:
    """Of components that hold the same as one does, the first that says something else; those of which it cannot be told do not."""
    own = _whatever_is_spoken(one)
    for other in others if own is not None else ():
        said = _whatever_is_spoken(other)
        if own is not None and said is not None and not _agree(own, said, one, other, ()):
            return other
    return None


def _whatever_is_spoken(component: Component) -> list[Any] | None:
    try:
        with undone(component, _nothing_named):
            return _spoken(component, ())
    except Exception:  # which is told when the component itself is asked
        return None


def _nothing_named(component: Component, name: str) -> None:
    return None


def _spoken(component: Component, names: tuple[str, ...]) -> list[Any]:
    """All that a component states, in order: expressions, and what is not one as it is."""
    found: list[Any] = []
    kind = Kind(-1, type(component).__name__, "", -1, Node("", None, (), "", None))
    said = stated(kind, component)
    if said.connections or said.state_connections:
        raise ModelError("Connections are compared by nobody.")
    for equation in [*said.equations, *said.initial]:
        found += [equation.residual, equation.shape]
    for target, value, _, _ in said.assigned:
        found += [target, value]
    for statement in said.statements:
        found += [type(statement), *(part for part, _ in expressions(statement)), *_plain_parts(statement)]
    for t in said.transitions:
        found += [t.variable, t.sources, t.target, t.when, t.after, *_action_parts(t.do)]
    for guess in said.guesses:
        found += [guess.target, guess.condition, guess.value]
    for name, value in component.__dict__.items():
        if isinstance(value, Expression) and name not in names:
            found += [name, value]
    return found


def _plain_parts(statement: Any) -> list[Any]:
    """What a statement says besides expressions."""
    kept = ("message", "level", "direction", "kind")
    return [getattr(statement, name) for name in kept if hasattr(statement, name)]


def _action_parts(actions: Iterable[Any]) -> list[Any]:
    found: list[Any] = []
    for action in actions:
        found += [type(action), *(getattr(action, f.name) for f in fields(action) if f.name != "location")]
    return found


def _agree(symbolic: list[Any], plain: list[Any], representative: Component, component: Component, names: tuple[str, ...]) -> bool:
    """Whether what was said with parameters is, with a component's numbers put in, what it says itself."""

    def put_in(node: Expression) -> Expression | None:
        if isinstance(node, Call) and isinstance(node.function, TableSet):
            table = component.__dict__[node.args[0].name]  # type: ignore[attr-defined]
            return Call(_derivative_of(table, node.function.orders), tuple(transform(a, put_in) for a in node.args[1:]))
        if not isinstance(node, Reference) or node.owner is not representative:
            return None
        if node.name in names:
            return as_expression(component.__dict__[node.name])
        return Reference(component, component, node.name, node.shape, node.picked, node.order)

    if len(symbolic) != len(plain):
        return False
    for one, other in zip(symbolic, plain, strict=True):
        if isinstance(one, Expression) and isinstance(other, Expression):
            if not _equivalent(transform(one, put_in), other):
                return False
        elif isinstance(one, Expression) or isinstance(other, Expression) or one != other:
            return False
    return True


def _depends_on_time(expression: Expression) -> bool:
    """Whether one of several tables is a table of time."""
    chosen = [n for n in walk(expression) if isinstance(n, Call) and isinstance(n.function, TableSet)]
    return any(isinstance(n, Time) for call in chosen for n in walk(*call.args))


_ARITHMETIC = ("add", "sub", "mul", "div", "neg")  # what simplification may have written in another way


@np.errstate(all="ignore")
def _equivalent(one: Expression, other: Expression) -> bool:
    """Whether two expressions are the same up to arithmetic: over the same leaves, with the same functions and decisions of what
    is equal at some points.

    A function's value stands for itself: what is chosen where `T > 300`, or what a root of `T - 300` is multiplied by, would be
    seen at none of the points otherwise.
    """
    if one is other:
        return True
    if one.shape != other.shape or _skeleton(one) != _skeleton(other):
        return False
    points = np.random.default_rng(1)

    def leaf(node: Expression) -> np.ndarray:
        return points.uniform(-3.0, 3.0, (_POINTS, *node.shape))

    values: dict[Expression, np.ndarray] = {}
    for node in walk(one):
        values[node] = leaf(node) if _is_function(node) else value_of(node, values, leaf, batch=1)
    own = set(walk(other))
    ahead = {node: None for node in walk(one) if _is_function(node) and node not in own}
    for node in walk(other):
        if node in values:
            continue
        if not _is_function(node):
            values[node] = value_of(node, values, leaf, batch=1)
            continue
        found = next((n for n in ahead if _work(n) == _work(node) and _agree_on_arguments(n, node, values)), None)
        if found is None:
            return False
        values[node] = values[found]
        del ahead[found]
    return _close(values[one], values[other])


def _agree_on_arguments(one: Expression, other: Expression, values: dict[Expression, np.ndarray]) -> bool:
    shapes = (one.shape, *(a.shape for a in one.args)) == (other.shape, *(a.shape for a in other.args))
    return shapes and all(_close(values[a], values[b]) for a, b in zip(one.args, other.args, strict=True))


def _close(one: np.ndarray, other: np.ndarray) -> bool:
    return one is other or bool(np.allclose(one, other, rtol=1e-9, atol=1e-300, equal_nan=True))


def _is_function(node: Expression) -> bool:
    return isinstance(node, Call) or (isinstance(node, Operation) and node.operator.name not in _ARITHMETIC)


def _work(node: Expression) -> Any:
    return node.operator.name if isinstance(node, Operation) else id(node.function)  # type: ignore[attr-defined]


def _skeleton(expression: Expression) -> tuple[set[Expression], Counter[Any]]:
    leaves = {n for n in walk(expression) if not n.args and not isinstance(n, (Constant, Literal))}
    return leaves, Counter(_work(n) for n in walk(expression) if _is_function(n))
