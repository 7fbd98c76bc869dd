"""Numbers: what parameters, inputs, start values, nominal values and bounds are, for every instance, as arrays.

Values are data: they are read from declarations and modifications, checked, and written into arrays; a value given as an
expression of parameters becomes a *binding*, evaluated with numpy whenever parameters change. Nothing here compiles anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from math import isfinite
from typing import Any

import numpy as np

from ..arguments import unmasked
from ..errors import Diagnostic, ModelError, UsageError
from ..language.declarations import Named
from ..language.expression import (
    Arithmetic,
    Continuation,
    Expression,
    Mark,
    Reference,
    Time,
    Unbound,
    as_expression,
    transform,
    walk,
)
from ..records import dataclass
from .plant import Kind, Plant, Quantity, element_name, joined
from .tree import Node

BY_CONNECTOR, DECLARED, MODIFIED = 1, 2, 3  # the later counts more


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
    given: np.ndarray  # 0: nobody said anything, BY_CONNECTOR, DECLARED by the component's class, MODIFIED for the instance
    bindings: list[Binding] = field(default_factory=list)

    @staticmethod
    def unsaid(default: float, size: int, kind_of: type = float) -> Values:
        """What is so where nobody says anything: one number in the place of all, until somebody does."""
        return Values(np.broadcast_to(np.array(default, dtype=kind_of), size), np.broadcast_to(np.int8(0), size))

    def take_room(self) -> None:
        """Have a number for each cell, to be written to."""
        if not self.cells.flags.writeable:
            self.cells, self.given = self.cells.copy(), self.given.copy()

    def own(self) -> Values:
        """The same, with cells that may be written to."""
        return Values(self.cells.copy(), self.given, self.bindings)

    def own_if_bound(self) -> Values:
        """The same where nothing depends on parameters, which nobody will write to then."""
        return self.own() if self.bindings else self


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """What declarations and modifications say: of known cells their value and bounds, of variables where they start, and so on."""

    value: Values
    low: Values
    high: Values
    start: Values
    fixed: Values
    nominal: Values
    minimum: Values
    maximum: Values


class Attributes:
    """Reads attributes of declarations and modifications into arrays."""

    def __init__(self, plant: Plant) -> None:
        self.plant = plant
        self.problems: list[Diagnostic] = []
        self._with_role: dict[str, list[tuple[Kind, Quantity, int, bool]]] = {}

    def read(self, attribute: str, role: str, size: int, default: float = np.nan, kind_of: type = float) -> Values:
        """`attribute` of all variables (`role="variable"`, inputs included) or knowns (`"known"`)."""
        values = Values.unsaid(default, size, kind_of)
        for kind, quantity, base, modified in self._quantities(role):
            if quantity.name in kind.representative.declared:  # in `__init__`: each instance may say something else
                for m in kind.members:
                    stated = getattr(m.declared[quantity.name], attribute)
                    self._put_declared(values, base, kind, quantity, attribute, stated, m, m.first, m.count)
            else:
                stated = getattr(quantity.declaration, attribute)
                if stated is not None:
                    self._put_declared(values, base, kind, quantity, attribute, stated, kind.representative, 0, kind.count)
            if modified:
                self._put_modified(values, base, kind, quantity, attribute)
        return values

    def _quantities(self, role: str) -> list[tuple[Kind, Quantity, int, bool]]:
        """All of a role, with their first numbers, and whether anything was changed for an instance."""
        if role not in self._with_role:
            found = self._with_role[role] = []
            for kind in self.plant.kinds:
                modified = {name for member in kind.members for name in member.modifications}
                for quantity in kind.quantities.values():
                    base = quantity.first(role)
                    if base is not None:
                        found.append((kind, quantity, base, quantity.name in modified))
        return self._with_role[role]

    def _put_declared(
        self, values: Values, base: int, kind: Kind, quantity: Quantity, attribute: str, stated: Any, member: Node, first: int,
        count: int,
    ) -> None:  # fmt: skip
        """What a class says; most often a number for all elements of all instances."""
        if stated is None or (attribute == "fixed" and stated is False):
            return
        values.take_room()
        if _is_plain(stated, attribute) and not values.bindings and not hasattr(quantity.declaration, "number_of"):
            cells = slice(base + first * quantity.size, base + (first + count) * quantity.size)
            values.cells[cells] = stated
            values.given[cells] = DECLARED if quantity.connector is None else BY_CONNECTOR
        else:
            self._put(values, base, kind, quantity, attribute, stated, member, first, count, own=True)

    def _put_modified(self, values: Values, base: int, kind: Kind, quantity: Quantity, attribute: str) -> None:
        plain_members, plain_values = [], []
        for member in kind.members:
            modified = member.modifications.get(quantity.name, _NOTHING)
            stated = modified.get(attribute)
            if stated is None:
                if attribute == "value" and attribute in modified:
                    self._complain(quantity, attribute, member, None, "it is not a number")
                continue
            if _is_plain(stated, attribute) and member.count == 1 and quantity.size == 1:
                plain_members.append(member.first)
                plain_values.append(stated)
            else:
                self._put(values, base, kind, quantity, attribute, stated, member, member.first, member.count, own=False)
        if plain_members:
            values.take_room()
            cells = base + np.array(plain_members)
            values.cells[cells] = plain_values
            values.given[cells] = MODIFIED
            _drop_bindings(values, cells)

    def _put(
        self, values: Values, base: int, kind: Kind, quantity: Quantity, attribute: str, stated: Any, member: Node, first: int,
        count: int, own: bool,
    ) -> None:  # fmt: skip
        cells = base + (np.arange(first, first + count)[:, None] * quantity.size + np.arange(quantity.size))
        by_class = DECLARED if quantity.connector is None else BY_CONNECTOR
        values.take_room()
        values.given[cells] = by_class if own else MODIFIED
        _drop_bindings(values, cells)
        if isinstance(stated, (Arithmetic, Named)):
            self._bind(values, quantity, attribute, as_expression(stated), member, cells, own)
            return
        try:
            number = self._as_numbers(stated, quantity, attribute)
            outer = () if own else member.shape
            full = np.broadcast_to(number, outer + quantity.shape if number.ndim > len(quantity.shape) else quantity.shape)
        except _Wrong as wrong:
            self._complain(quantity, attribute, member, stated, str(wrong))
            return
        except ValueError:
            wanted = quantity.shape if own or not member.shape else f"{quantity.shape} or {member.shape + quantity.shape}"
            self._complain(quantity, attribute, member, stated, f"its shape is {np.shape(stated)}, expected {wanted}")
            return
        if not cells.size:
            return
        per_element = full.reshape(-1, quantity.size)
        repeats = count // len(per_element) if len(per_element) else 0
        values.cells[cells] = np.tile(per_element, (repeats, 1)) if repeats > 1 else per_element

    def _as_numbers(self, stated: Any, quantity: Quantity, attribute: str) -> np.ndarray:
        if hasattr(quantity.declaration, "number_of"):
            try:
                stated = quantity.declaration.number_of(stated)
            except UsageError as error:
                raise _Wrong(f"{error.diagnostics[0].what.rstrip('.')} {error.diagnostics[0].remedy.rstrip('.')}") from None
        if isinstance(stated, str):
            from ..language.units import quantity as parsed

            try:
                return np.asarray(parsed(stated, quantity.declaration.unit))
            except UsageError as error:
                said = error.diagnostics[0].what.rstrip(".")
                expected = "it is neither a number nor a number with its unit, such as `20 degC`"
                raise _Wrong(expected if said.startswith("Expected") else said) from None
        try:
            number = np.asarray(unmasked(stated))
            number = number.astype(float) if number.dtype.kind == "O" else number  # fractions, decimals
        except UsageError as error:
            raise _Wrong(error.diagnostics[0].what.rstrip(".")) from None
        except TypeError:
            raise _Wrong(f"expected a number, got {stated!r} of type {type(stated).__name__}") from None
        except (ValueError, OverflowError):
            raise _Wrong(f"{stated!r} is not a number") from None
        if number.dtype.kind not in "biuf":
            raise _Wrong(f"expected a number, got {stated!r} of type {type(stated).__name__}")
        if not np.isfinite(number).all() and attribute in ("value", "start", "nominal"):
            raise _Wrong(f"{stated!r} is not finite")
        if attribute == "nominal" and not number.all():
            raise _Wrong("a typical size is not zero")
        return number

    def _complain(self, quantity: Quantity, attribute: str, member: Node, stated: Any, why: str) -> None:
        path = self.plant.path_within(member, 0)
        name = joined(path, quantity.name)
        what = name if attribute == "value" else f"{attribute} of {name}"
        self.problems.append(
            Diagnostic(
                f"`{what}` cannot be {_short(stated)}: {why}.",
                component=f"{path or 'the model'} ({member.class_name})",
                remedy=f"Give a number{' in ' + quantity.declaration.unit if quantity.declaration.unit else ''}"
                + (f", or an array of shape {quantity.shape}." if quantity.shape else "."),
            )
        )

    def _bind(
        self, values: Values, quantity: Quantity, attribute: str, expression: Expression, member: Node, cells: np.ndarray,
        own: bool,
    ) -> None:  # fmt: skip
        """An expression: of own parameters when it stands in the class, of the component where it was written otherwise."""
        root = _common_root(expression, member)
        if root is None or not self._is_part(root):
            self._complain(quantity, attribute, member, expression, "it refers to a component that is not part of the model")
            return
        first, count = (0, len(cells)) if own and len(cells) != member.count else (root.first, root.count)
        instances, cells = np.arange(first, first + count), cells.reshape(count, -1)
        if expression.shape and expression.shape == quantity.shape and expression.size != cells.shape[1]:
            instances, cells = np.repeat(instances, cells.shape[1] // quantity.size), cells.reshape(-1, quantity.size)
        if expression.size not in (1, cells.shape[1]):
            wanted = quantity.shape if not member.shape else f"{quantity.shape} or {member.shape + quantity.shape}"
            self._complain(quantity, attribute, member, expression, f"its shape is {expression.shape}, expected {wanted}")
            return
        seen = transform(expression, lambda n: _seen_from(n, root))
        values.bindings.append(Binding(cells, seen, root.kind, instances, quantity.name))

    def _is_part(self, node: Node) -> bool:
        kind = node.kind
        return kind is not None and kind.index < len(self.plant.kinds) and self.plant.kinds[kind.index] is kind

    def evaluate(self, bindings: list[Binding], target: np.ndarray, known: np.ndarray, held: np.ndarray | None = None) -> None:
        """Write the values of all bindings but where `held`; those that depend on one another settle in a few sweeps."""
        free = [np.ones(b.cells.shape, dtype=bool) if held is None else ~held[b.cells] for b in bindings]
        if target is known:
            for binding, mask in zip(bindings, free, strict=True):
                target[binding.cells[mask]] = np.nan  # so that what is defined in a circle never gets a value
        for _ in range(len(bindings) + 1):
            changed = False
            for binding, mask in zip(bindings, free, strict=True):
                cells = binding.cells[mask]
                value = self._value(binding, known).reshape(len(binding.instances), -1)
                new = np.broadcast_to(value, mask.shape)[mask]
                if not np.array_equal(new, target[cells], equal_nan=True):
                    target[cells] = new
                    changed = True
            if not changed or target is not known:
                break
        if target is known:
            self._refuse_circles(bindings, known)

    def _refuse_circles(self, bindings: list[Binding], known: np.ndarray) -> None:
        """A value that is missing because its arguments are missing, without end, is defined by itself."""
        names: list[str] = []
        for binding in bindings:
            missing = np.isnan(known[binding.cells]).any(axis=1)
            reads = np.zeros(len(missing), dtype=bool)
            for node in walk(binding.expression):
                if isinstance(node, Reference):
                    numbers = self.plant.numbers(binding.kind, node)[binding.instances]
                    reads |= np.isnan(known[numbers]).reshape(len(missing), -1).any(axis=1)
            if (missing & ~reads).any():
                return  # 0/0 or the like: reported with the values that are not finite
            names += [self.plant.name_of(int(c), "known") for c in binding.cells[missing, 0][:3]]
        if names:
            raise ModelError(
                f"Parameters are defined in a circle: {', '.join(names[:6])}{', …' if len(names) > 6 else ''}.",
                component=", ".join(dict.fromkeys(b.kind.name for b in bindings if np.isnan(known[b.cells]).any())),
                details=tuple(f"{b.what} = {b.expression}" for b in bindings[:6] if np.isnan(known[b.cells]).any()),
                remedy="Give one of them a number.",
            )

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
            if wrong or isinstance(node, (Time, Continuation, Mark)):
                raise ModelError(
                    f"`{binding.what}` of {binding.kind.name} is bound to `{node}`, which is not a parameter: it changes in a run.",
                    component=binding.kind.name,
                    equation=f"{binding.what} = {binding.expression}",
                    remedy="A parameter may depend on parameters only; for anything else declare a variable and state an equation.",
                )

    # --- checks ---------------------------------------------------------------------------------------------------------
    def missing(self, values: Values) -> None:
        """Parameters without a value."""
        for kind, quantity, base in self._known_quantities():
            cells = base + np.arange(kind.count * quantity.size)
            empty = cells[values.given[cells] == 0]
            if len(empty):
                instance = int((empty[0] - base) // quantity.size)
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
                bounds = f"{range_text(float(low.cells[number]), float(high.cells[number]))}{unit}"
                yield Diagnostic(
                    f"`{name}`{more} = {known[number]:g}{unit} is out of its range: it must be {bounds}.",
                    component=f"{self.plant.path_of(kind, instance) or 'the model'} ({kind.name})",
                    remedy=f"Choose a value {bounds}, or widen the range: {quantity.name}=ac.modify(value=…, min=…, max=…).",
                )

    def _known_quantities(self) -> Iterator[tuple[Kind, Quantity, int]]:
        for kind in self.plant.kinds:
            for quantity in kind.quantities.values():
                base = quantity.first("known")
                if base is not None:
                    yield kind, quantity, base


def range_text(low: float, high: float) -> str:
    """Bounds in words.

    >>> range_text(0.0, float("inf")), range_text(-float("inf"), 1.0), range_text(0.0, 1.0)
    ('≥ 0', '≤ 1', 'from 0 to 1')
    """
    if np.isfinite(low) and np.isfinite(high):
        return f"from {low:g} to {high:g}"
    return f"≥ {low:g}" if np.isfinite(low) else f"≤ {high:g}"


def _is_plain(stated: Any, attribute: str) -> bool:
    """A number with which nothing can be wrong."""
    return type(stated) in (float, int, bool) and isfinite(stated) and (attribute != "nominal" or bool(stated))


class _Wrong(Exception):
    pass


_NOTHING: dict[str, Any] = {}


def _common_root(expression: Expression, otherwise: Node) -> Node | None:
    """The innermost component below which are all quantities of an expression; None if there is none."""
    roots = []
    for node in walk(expression):
        if isinstance(node, Unbound):
            return None
        if isinstance(node, Reference):
            roots.append(node.root)
    root: Node | None = roots[0] if roots else otherwise
    while root is not None and any(r._steps_from(root) is None for r in roots):
        root = root.parent
    return root


def _seen_from(node: Expression, root: Node) -> Expression | None:
    """What an instance says of quantities below it, said of those below its kind's representative."""
    if not isinstance(node, Reference):
        return None
    representative = root.kind.representative
    owner = representative.follow(tuple(node.owner._steps_from(root) or ()))
    return Reference(representative, owner, node.name, node.shape, node.picked, node.order)


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
