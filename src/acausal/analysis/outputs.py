"""Outputs by name: whatever a result can show, with its derivatives by the cells of the workspace."""

from __future__ import annotations

from typing import final

import numpy as np
from scipy.sparse import csr_array, vstack

from ..errors import NameNotFound, UsageError
from ..families.forward import Differentiated, differentiated
from ..families.path import Located
from ..families.plant import CONTINUATION, INITIAL, LIVE, TIME, Kind, element_name
from ..language.derivative import der
from ..language.expression import Continuation, Expression, Mark, Reference, Time
from .matrix import Names
from .point import Point


@final
class Outputs:
    """Values and derivatives (one row for each scalar, one column for each cell of the problem's workspace) of named quantities.

    Of one scalar at several workspaces of the point's problem (`at`, a row each): as if they were one, with rows and columns one
    behind the other."""

    def __init__(self, point: Point, names: list[str], at: np.ndarray | None = None) -> None:
        self.system, self.n = point.model.system, point.model.system.size
        self.count = None if at is None else len(at)
        rows = point.whole[None] if at is None else point.problem.lowered.expand(at)
        self.width, self.whole = rows.shape[1], rows.ravel()
        found = [self._named(point.model.system.plant.locate(name)) for name in names]
        self.value = np.concatenate([np.zeros(0), *(f.value.ravel() for f in found)])
        everything = [csr_array((0, len(self.whole))), *(f.slope for f in found)]
        self.slope = self._of_problem(point, csr_array(vstack(everything)), names, found)
        labels = [element_name(name, k, f.value.shape) for name, f in zip(names, found, strict=True) for k in range(f.value.size)]
        self.names = Names(len(labels), labels.__getitem__)

    def _of_problem(self, point: Point, slope: csr_array, names: list[str], found: list[Differentiated]) -> csr_array:
        """Columns of the system's workspace as columns of the problem's."""
        entries = slope.tocoo()
        block, column = np.divmod(entries.col.astype(np.int64), self.width)
        cells = point.problem.lowered.index[column]
        away = (cells < 0) & (entries.data != 0)
        if away.any():
            ends = np.cumsum([f.value.size for f in found])
            name = names[int(np.searchsorted(ends, entries.row[away][0], side="right"))]
            raise UsageError(f"`{name}` needs the derivative of a variable that the model does not differentiate.")
        keep = cells >= 0
        shape = (slope.shape[0], len(point.w) * (self.count or 1))
        cells = cells + block * len(point.w)
        return csr_array((entries.data[keep], (entries.row[keep], cells[keep])), shape=shape)

    # --- what a name stands for ---------------------------------------------------------------------------------------------
    def _named(self, located: Located) -> Differentiated:
        if located.flat is not None:
            flat = np.asarray(located.flat)
            flat = flat if self.count is None else np.full(self.count, int(flat))
            return self._quantity(located.kind, located.name, flat, located.order)
        expression = located.kind.named[located.name]
        if located.order:
            expression = der(expression)
        places = located.instances if self.count is None else np.full(self.count, int(located.instances))
        instances = places.ravel()
        found = self._expression(located.kind, expression, instances)
        numbers = np.arange(found.value.size).reshape((*places.shape, *expression.shape))
        try:
            picked = numbers[(slice(None),) * places.ndim + located.key] if located.key else numbers
        except IndexError:
            raise NameNotFound(f"`{located.name}` has shape {expression.shape}; the index is outside of it.") from None
        return Differentiated(found.value.ravel()[picked], found.slope[np.ravel(picked)])

    def _expression(self, kind: Kind, expression: Expression, instances: np.ndarray) -> Differentiated:
        count = len(instances)

        def leaf(node: Expression) -> Differentiated:
            special = {Time: TIME, Continuation: CONTINUATION}.get(type(node))
            if isinstance(node, Mark):
                special = {"live": LIVE, "initial": INITIAL}[node.name]
            if special is not None:
                return self._cells(np.full(count, 2 * self.n + special), np.ones(count))
            assert isinstance(node, Reference)
            owner: Kind = node.owner.kind
            quantity = owner.quantities[node.name]
            present = quantity.base if node.order >= 0 else quantity.base + owner.count * quantity.size
            return self._quantity(owner, node.name, self.system.plant.numbers(kind, node)[instances] - present, node.order)

        return differentiated(expression, leaf, count, len(self.whole))

    def _quantity(self, kind: Kind, name: str, flat: np.ndarray, order: int) -> Differentiated:
        quantity = kind.quantities[name]
        if quantity.declaration.is_known:
            lag = kind.count * quantity.size if order < 0 and quantity.role == "discrete" else 0
            cells = 2 * self.n + quantity.base + lag + flat
            return self._cells(cells, np.full(flat.shape, float(order <= 0)))
        definition = self.system.definitions.get((kind.index, name))
        if definition is not None:
            instances, elements = np.divmod(flat, quantity.size)
            unique, where = np.unique(instances, return_inverse=True) if self.count is None else (instances, np.arange(self.count))
            found = self._expression(kind, der(definition.expression) if order > 0 else definition.expression, unique)
            size = found.value.size // max(len(unique), 1)
            picked = where.reshape(flat.shape) * size + (elements if size > 1 else 0)
            return Differentiated(found.value.ravel()[picked], found.slope[picked.ravel()])
        return self._variables(quantity.base + flat, order)

    def _variables(self, numbers: np.ndarray, order: int) -> Differentiated:
        aliases = self.system.aliases
        index, known, sign = aliases.index[numbers], aliases.known[numbers], aliases.sign[numbers].astype(float)
        if order <= 0:
            return self._cells(np.where(known, 2 * self.n + index, index), sign)
        sign = np.where(known & (index != TIME), 0.0, sign)  # what is known does not change; time changes by one
        cells = np.where(known, 2 * self.n + TIME, self._slopes(np.where(known, 0, index), known, numbers))
        found = self._cells(cells, np.where(known, 0.0, sign))
        return Differentiated(np.where(known, sign, found.value), found.slope)

    def _slopes(self, unknown: np.ndarray, known: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """Where the derivatives of unknowns are: among y', or among y where index reduction made them unknowns."""
        derivatives = self.system.derivatives
        as_unknown = np.full(self.n, -1) if derivatives is None else derivatives.as_unknown(self.n)
        found = np.where(as_unknown[unknown] >= 0, as_unknown[unknown], self.n + unknown)
        wrong = ~known & (as_unknown[unknown] < 0) & ~self.system.differential[unknown]
        if wrong.any():
            name = self.system.plant.name_of(int(numbers[wrong].ravel()[0]))
            raise NameNotFound(f"`{name}` is not differentiated in the model, so der({name}) is not an output.")
        return found

    def _cells(self, cells: np.ndarray, factor: np.ndarray) -> Differentiated:
        if self.count is not None:
            cells = cells + self.width * np.arange(self.count).reshape((-1,) + (1,) * (cells.ndim - 1))
        flat = cells.ravel()
        shape = (flat.size, len(self.whole))
        return Differentiated(factor * self.whole[cells], csr_array((factor.ravel(), (np.arange(flat.size), flat)), shape=shape))
