"""Numbers: what parameters, inputs, start values, nominal values and bounds are, for every instance, as arrays.

Values are data: they are read from declarations and modifications, checked, and written into arrays; a value given as an
expression of parameters becomes a *binding*, evaluated with numpy whenever parameters change. Nothing here compiles anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import Diagnostic, ModelError
from ..language.component import Component
from ..language.declarations import Named
from ..language.expression import Arithmetic, Continuation, Expression, Reference, Time, Unbound, as_expression, transform, walk
from .plant import Kind, Plant, Quantity, element_name, joined

DECLARED, MODIFIED = 1, 2


@dataclass(slots=True, eq=False)
class Binding:
    """`target[cells] = expression`, where the expression's references are seen from `instances` of `kind`."""

    cells: np.ndarray  # (instances, elements)
    expression: Expression
    kind: Kind
    instances: np.ndarray
    what: str


@dataclass(slots=True, eq=False)
class Values:
    """One attribute of all quantities of one role: an array with one cell for each number, and its bindings."""

    cells: np.ndarray
    given: np.ndarray  # 0: nobody said anything, DECLARED by the class, MODIFIED for the instance
    bindings: list[Binding] = field(default_factory=list)


class Attributes:
    """Reads attributes of declarations and modifications into arrays."""

    def __init__(self, plant: Plant) -> None:
        self.plant = plant
        self.problems: list[Diagnostic] = []

    def read(self, attribute: str, role: str, size: int, default: float = np.nan, kind_of: type = float) -> Values:
        """`attribute` of all variables (`role="variable"`, inputs included) or knowns (`"known"`)."""
        values = Values(np.full(size, default, dtype=kind_of), np.zeros(size, dtype=np.int8))
        for kind in self.plant.kinds:
            modified = {name for member in kind.members for name in member._modifications}
            for quantity in kind.quantities.values():
                base = quantity.first(role)
                if base is None:
                    continue
                stated = getattr(quantity.declaration, attribute)
                if stated is not None and not (attribute == "fixed" and stated is False):
                    self._put(values, base, kind, quantity, attribute, stated, kind.representative, 0, kind.count, own=True)
                if quantity.name in modified:
                    self._put_modified(values, base, kind, quantity, attribute)
        return values

    def _put_modified(self, values: Values, base: int, kind: Kind, quantity: Quantity, attribute: str) -> None:
        plain_members, plain_values = [], []
        for member in kind.members:
            stated = member._modifications.get(quantity.name, _NOTHING).get(attribute)
            if stated is None:
                continue
            if member._count == 1 and quantity.size == 1 and type(stated) in (float, int, bool):
                plain_members.append(member._first)
                plain_values.append(stated)
            else:
                self._put(values, base, kind, quantity, attribute, stated, member, member._first, member._count, own=False)
        if plain_members:
            cells = base + np.array(plain_members)
            values.cells[cells] = plain_values
            values.given[cells] = MODIFIED
            _drop_bindings(values, cells)

    def _put(
        self, values: Values, base: int, kind: Kind, quantity: Quantity, attribute: str, stated: Any, member: Component, first: int,
        count: int, own: bool,
    ) -> None:  # fmt: skip
        cells = base + (np.arange(first, first + count)[:, None] * quantity.size + np.arange(quantity.size))
        values.given[cells] = DECLARED if own else MODIFIED
        _drop_bindings(values, cells)
        if isinstance(stated, (Arithmetic, Named)):
            self._bind(values, kind, quantity, attribute, as_expression(stated), member, cells, own)
            return
        try:
            number = self._as_numbers(stated, quantity, attribute)
            outer = () if own else member._array_shape
            full = np.broadcast_to(number, outer + quantity.shape if number.ndim > len(quantity.shape) else quantity.shape)
        except _Wrong as wrong:
            self._complain(quantity, attribute, member, stated, str(wrong))
            return
        except ValueError:
            wanted = (
                quantity.shape if own or not member._array_shape else f"{quantity.shape} or {member._array_shape + quantity.shape}"
            )
            self._complain(quantity, attribute, member, stated, f"its shape is {np.shape(stated)}, expected {wanted}")
            return
        per_element = full.reshape(-1, quantity.size)
        repeats = count // len(per_element) if len(per_element) else 0
        values.cells[cells] = np.tile(per_element, (repeats, 1)) if repeats > 1 else per_element

    def _as_numbers(self, stated: Any, quantity: Quantity, attribute: str) -> np.ndarray:
        if isinstance(stated, str):
            from ..language.units import quantity as parsed

            return np.asarray(parsed(stated, quantity.declaration.unit))
        try:
            number = np.asarray(stated)
        except ValueError:
            raise _Wrong(f"{stated!r} is not a number") from None
        if number.dtype.kind not in "biuf":
            raise _Wrong(f"expected a number, got {stated!r} of type {type(stated).__name__}")
        if not np.isfinite(number).all() and attribute in ("value", "start", "nominal"):
            raise _Wrong(f"{stated!r} is not finite")
        return number

    def _complain(self, quantity: Quantity, attribute: str, member: Component, stated: Any, why: str) -> None:
        path = self.plant._path(member, 0) if member._parent is not None else ""
        name = joined(path, quantity.name)
        what = name if attribute == "value" else f"{attribute} of {name}"
        self.problems.append(
            Diagnostic(
                f"`{what}` cannot be {_short(stated)}: {why}.",
                component=f"{path or 'the model'} ({type(member).__name__})",
                remedy=f"Give a number{' in ' + quantity.declaration.unit if quantity.declaration.unit else ''}"
                + (f", or an array of shape {quantity.shape}." if quantity.shape else "."),
            )
        )

    def _bind(
        self, values: Values, kind: Kind, quantity: Quantity, attribute: str, expression: Expression, member: Component,
        cells: np.ndarray, own: bool,
    ) -> None:  # fmt: skip
        """An expression: of own parameters when it stands in the class, of the component where it was written otherwise."""
        if own:
            bound = transform(expression, lambda n: _bound(n, kind.representative))
            values.bindings.append(Binding(cells, bound, kind, np.arange(kind.count), quantity.name))
            return
        roots = {r.root for r in walk(expression) if isinstance(r, Reference)}
        if len(roots) > 1 or any(not hasattr(r, "_kind") for r in roots):
            self._complain(quantity, attribute, member, expression, "it refers to a component that is not part of the model")
            return
        root = roots.pop() if roots else member
        instances = np.arange(root._first, root._first + root._count)
        values.bindings.append(Binding(cells.reshape(len(instances), -1), expression, root._kind, instances, quantity.name))

    def evaluate(self, bindings: list[Binding], target: np.ndarray, known: np.ndarray) -> None:
        """Write the values of all bindings; those that depend on one another settle in a few sweeps."""
        for _ in range(len(bindings) + 1):
            changed = False
            for binding in bindings:
                value = self._value(binding, known)
                cells = target[binding.cells]
                new = np.broadcast_to(value.reshape(len(binding.instances), -1), cells.shape)
                if not np.array_equal(new, cells, equal_nan=True):
                    target[binding.cells] = new
                    changed = True
            if not changed or target is not known:
                return
        names = ", ".join(sorted({b.what for b in bindings}))
        raise ModelError(f"Parameters are defined in a circle: {names}.", remedy="Give one of them a number.")

    def _value(self, binding: Binding, known: np.ndarray) -> np.ndarray:
        from .evaluate import evaluate_arrays

        self._only_parameters(binding)

        def leaf(node: Expression) -> np.ndarray:
            assert isinstance(node, Reference)
            return known[self.plant.numbers(binding.kind, node)[binding.instances]]

        value = evaluate_arrays(binding.expression, leaf, batch=1)
        return np.broadcast_to(value, (len(binding.instances), *binding.expression.shape))

    def _only_parameters(self, binding: Binding) -> None:
        for node in walk(binding.expression):
            wrong = isinstance(node, Reference) and node.declaration.role != "parameter"
            if wrong or isinstance(node, (Time, Continuation)):
                raise ModelError(
                    f"`{binding.what}` of {binding.kind.name} is bound to `{node}`, which is not a parameter.",
                    remedy="A parameter may depend on parameters only; for anything else declare a variable and state an equation.",
                )

    # --- checks ---------------------------------------------------------------------------------------------------------
    def missing(self, values: Values) -> None:
        """Parameters without a value."""
        for kind, quantity, _ in self._known_quantities():
            cells = quantity.base + np.arange(kind.count * quantity.size)
            empty = cells[values.given[cells] == 0]
            if len(empty) and quantity.role == "parameter":
                instance = int((empty[0] - quantity.base) // quantity.size)
                path = self.plant.path_of(kind, instance)
                more = f" (and {len(empty) - 1} more)" if len(empty) > 1 else ""
                self.problems.append(
                    Diagnostic(
                        f"Parameter `{joined(path, quantity.name)}`{more} has no value.",
                        component=f"{path or 'the model'} ({kind.name})",
                        remedy=f"Give it one: {kind.name}({quantity.name}=…).",
                    )
                )

    def out_of_range(self, known: np.ndarray, low: Values, high: Values) -> Iterator[Diagnostic]:
        for kind, quantity, base in self._known_quantities():
            cells = base + np.arange(kind.count * quantity.size)
            wrong = (known[cells] < low.cells[cells]) | (known[cells] > high.cells[cells])
            if wrong.any():
                cell = int(np.flatnonzero(wrong)[0])
                instance, element = divmod(cell, quantity.size)
                name = joined(self.plant.path_of(kind, instance), element_name(quantity.name, element, quantity.shape))
                number = base + cell
                unit = f" {quantity.declaration.unit}" if quantity.declaration.unit else ""
                more = f" (and {int(wrong.sum()) - 1} more)" if wrong.sum() > 1 else ""
                bounds = f"{low.cells[number]:g} … {high.cells[number]:g}{unit}"
                yield Diagnostic(
                    f"`{name}`{more} = {known[number]:g}{unit} is out of its range {bounds}.",
                    component=kind.name,
                    remedy=f"Choose a value within {bounds}, or widen the range: {quantity.name}=ac.modify(value=…, min=…, max=…).",
                )

    def _known_quantities(self) -> Iterator[tuple[Kind, Quantity, int]]:
        for kind in self.plant.kinds:
            for quantity in kind.quantities.values():
                base = quantity.first("known")
                if base is not None:
                    yield kind, quantity, base


class _Wrong(Exception):
    pass


_NOTHING: dict[str, Any] = {}


def _bound(node: Expression, component: Component) -> Expression | None:
    return component._reference(node.declaration.name) if isinstance(node, Unbound) else None


def _drop_bindings(values: Values, cells: np.ndarray) -> None:
    """A number given for an instance takes the place of the class's expression there."""
    if not values.bindings:
        return
    kept = []
    for binding in values.bindings:
        keep = ~np.isin(binding.cells, cells).any(axis=1)
        if keep.all():
            kept.append(binding)
        elif keep.any():
            kept.append(Binding(binding.cells[keep], binding.expression, binding.kind, binding.instances[keep], binding.what))
    values.bindings[:] = kept


def _short(value: Any) -> str:
    text = repr(value) if not isinstance(value, Expression) else f"`{value}`"
    return text if len(text) < 60 else text[:57] + "…"
