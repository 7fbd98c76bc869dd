"""The evaluator: any quantity of a program by its path, over the rows that a run stored.

Variables that the translation eliminated, named expressions, parameters, inputs and discrete values have no column of their own;
what they are is known to the program. Results show what is computed here, and the runtime asks the same for a single point.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from ..errors import ModelError, NameNotFound
from ..families.evaluate import evaluate_arrays
from ..families.path import Located, described
from ..families.plant import TIME, Kind, element_name, joined
from ..families.system import System
from ..language.derivative import der
from ..language.expression import Continuation, Expression, Mark, Operation, Reference, Time, transform
from ..language.operators import PRE
from .cells import PlantCells, meaning_of
from .rows import Meaning, Place, Stored


class Discrete(Protocol):
    """The values of discrete cells over time, and the rows just before events."""

    rows: np.ndarray

    def changes(self, cell: Any) -> Any: ...
    def trajectories(self, cells: np.ndarray, length: int, lag: int) -> np.ndarray: ...


class Evaluator:
    """Values, units and meanings by name."""

    def __init__(self, system: System, stored: Stored, history: Discrete | None = None, *, live: bool = False) -> None:
        self._system, self._stored, self.history = system, stored, history
        self._live = live  # whether relations are as written, which they are while a start is sought, or frozen as in a run

    @staticmethod
    def of_names(system: System) -> Evaluator:
        """One without a point of time: it knows names, units and meanings."""
        nothing = np.full(system.size, -1)
        return Evaluator(system, Stored(np.zeros(0), np.zeros((0, 0)), nothing, nothing, np.zeros(system.known_count)))

    @property
    def time(self) -> np.ndarray:
        return self._stored.time

    # --- values -----------------------------------------------------------------------------------------------------------
    def __getitem__(self, name: str) -> np.ndarray:
        if name == "time":
            return self.time
        return self.values(self._system.plant.locate(name))

    def values(self, located: Located) -> np.ndarray:
        if located.flat is None:
            expression = located.kind.named[located.name]
            if located.order:
                raise NameNotFound(
                    f"The derivative of the expression `{located.name}` is not stored; name `ac.der(…)` of it in the model."
                )
            value = self._expression(located.kind, expression, located.instances.ravel())
            value = value.reshape((len(self.time), *located.instances.shape, *expression.shape))
            try:
                return value[(slice(None),) * (1 + located.instances.ndim) + located.key] if located.key else value
            except IndexError:
                raise NameNotFound(f"`{located.name}` has shape {expression.shape}; the index is outside of it.") from None
        return self._quantity(located.kind, located.name, located.flat, located.order)

    def many(self, names: Sequence[str]) -> list[np.ndarray]:
        """The values of many names; what is one quantity of several components is computed once for all of them."""
        found: list[np.ndarray] = [self.time] * len(names)
        groups: dict[tuple[int, str, int], list[tuple[int, Located]]] = {}
        for k, name in enumerate(names):
            located = None if name == "time" else self._system.plant.locate(name)
            if located is not None and located.shape == () and not located.key:
                groups.setdefault((located.kind.index, located.name, located.order), []).append((k, located))
            elif located is not None:
                found[k] = self.values(located)
        for members in groups.values():
            first = members[0][1]
            instances = np.array([int(m.instances) for _, m in members])
            flat = None if first.flat is None else np.array([int(m.flat) for _, m in members])  # type: ignore[arg-type]
            together = self.values(Located(first.kind, first.name, instances, flat, (), first.order))
            for (k, _), column in zip(members, np.moveaxis(together, 1, 0), strict=True):
                found[k] = column
        return found

    def _quantity(self, kind: Kind, name: str, flat: np.ndarray, order: int = 0) -> np.ndarray:
        quantity = kind.quantities[name]
        if quantity.role in ("parameter", "discrete") and order > 0:
            return np.zeros((len(self.time), *flat.shape))
        if quantity.role == "parameter":
            return self._parameter(quantity.base + flat)
        if quantity.role == "discrete":
            return self._discrete(quantity.base + flat, lag=int(order < 0))
        if order < 0:
            return self._before_events(self._quantity(kind, name, flat))
        definition = self._system.definitions.get((kind.index, name))
        if definition is not None and flat.size:
            instances, elements = np.divmod(flat, quantity.size)
            unique, where = np.unique(instances, return_inverse=True)
            expression = der(definition.expression) if order else definition.expression
            value = self._expression(kind, expression, unique).reshape(len(self.time), len(unique), -1)
            return value[:, where.reshape(flat.shape), elements if value.shape[2] > 1 else np.zeros_like(elements)]
        return self._variables(quantity.base + flat, order)

    def _parameter(self, cells: np.ndarray) -> np.ndarray:
        """Parameters are constant, unless a session changed them on the way."""
        if self.history is not None and self.history.changes(cells).any():
            return self.history.trajectories(cells, len(self.time), 0)
        return np.broadcast_to(self._stored.known[cells], (len(self.time), *cells.shape))

    def _variables(self, numbers: np.ndarray, order: int) -> np.ndarray:
        """Variables by number: through their alias to a stored column, a parameter or an input."""
        aliases, stored = self._system.aliases, self._stored
        flat = numbers.ravel()
        index, known = aliases.index[flat], aliases.known[flat]
        out = np.empty((len(self.time), len(flat)))
        columns = (stored.slope_column if order else stored.column)[index[~known]]
        if (columns < 0).any():
            missing = int(flat[~known][np.argmax(columns < 0)])
            self._not_stored(missing, order)
        out[:, ~known] = stored.data[:, columns]
        if order:
            for place in np.flatnonzero(known):
                out[:, place] = self._cell_slope(int(index[place]), int(flat[place]))
        else:
            out[:, known] = self._cells_over_time(index[known])
        return (out * aliases.sign[flat]).reshape((len(self.time), *numbers.shape))

    def _cells_over_time(self, cells: np.ndarray) -> np.ndarray:
        """Known cells that variables are equal to: (time, cell)."""
        out = np.broadcast_to(self._stored.known[cells], (len(self.time), len(cells)))
        special = [k for k, cell in enumerate(cells.tolist()) if self._varies(cell)]
        if special:
            out = out.copy()
            for k in special:
                out[:, k] = self._cell(int(cells[k]))
        return out

    def _varies(self, cell: int) -> bool:
        if cell == TIME or cell in self._stored.inputs:
            return True
        place = self._places.place(cell)
        return self.history is not None and bool(self.history.changes(cell if place is None else place.cell))

    def _cell(self, cell: int) -> np.ndarray:
        """The values of a known cell that is not constant."""
        if cell == TIME:
            return self.time
        function = self._stored.inputs.get(cell)
        if function is not None:
            return np.asarray(function.at(self.moments))
        place = self._places.place(cell)
        return self._parameter(np.asarray(cell)) if place is None else self._discrete(np.asarray(place.cell), place.lag)

    @cached_property
    def moments(self) -> np.ndarray:
        """The times at which external inputs are asked: just before an event for its first row, where an input may jump."""
        history = self.history
        if history is None:
            return self.time
        moments, rows = self.time.copy(), history.rows[(history.rows >= 0) & (history.rows + 1 < len(self.time))]
        rows = rows[(moments[rows] == moments[rows + 1]) & (moments[rows] > moments[0])]
        moments[rows] = np.nextafter(moments[rows], -np.inf)
        return moments

    # --- events -----------------------------------------------------------------------------------------------------------
    @cached_property
    def _places(self) -> PlantCells:
        return PlantCells(self._system.plant)

    def _discrete(self, cells: np.ndarray, lag: int = 0) -> np.ndarray:
        if self._stored.cell_columns and cells.size and int(cells.ravel()[0]) in self._stored.cell_columns:
            return self._stored.data[:, np.vectorize(self._stored.cell_columns.__getitem__)(cells)]
        if self.history is None:
            return np.broadcast_to(self._stored.known[cells], (len(self.time), *cells.shape))
        return self.history.trajectories(cells, len(self.time), lag)

    def _before_events(self, values: np.ndarray) -> np.ndarray:
        """What `pre` of a continuous quantity gives: just behind an event the value just before it."""
        if self.history is None:
            return values
        rows = self.history.rows[(self.history.rows >= 0) & (self.history.rows + 1 < len(values))]
        rows = rows[self.time[rows] == self.time[rows + 1]]  # rows are not stored at every event
        before = np.array(values)
        before[rows + 1] = values[rows]
        return before

    def place(self, name: str) -> Place | None:
        """Where a discrete variable, or one that is equal to one, is in the event log."""
        located = self._system.plant.locate(name)
        if located.flat is None or located.order or located.flat.size != 1:
            return None
        quantity = located.kind.quantities[located.name]
        number = quantity.base + int(located.flat.ravel()[0])
        if quantity.role == "discrete":
            return Place(number)
        if quantity.role == "parameter" or (located.kind.index, located.name) in self._system.definitions:
            return None
        aliases = self._system.aliases
        return self._places.place(int(aliases.index[number]), int(aliases.sign[number])) if aliases.known[number] else None

    def meaning(self, name: str) -> Meaning:
        """What the numbers of a quantity stand for; a variable that is equal to a discrete one means the same."""
        if name == "time":
            return Meaning()
        located = self._system.plant.locate(name)
        if located.order:
            return Meaning()
        if located.flat is None:
            return meaning_of(located.kind.named[located.name])
        own = meaning_of(located.kind.quantities[located.name].declaration)
        place = None if own.steps else self.place(name)
        return own if place is None or place.sign < 0 else self._places.meaning(place.cell)

    def _cell_slope(self, cell: int, variable: int) -> float:
        if cell in self._stored.inputs:
            name = self._system.plant.name_of(variable)
            raise NameNotFound(f"`{name}` is given from outside, so der({name}) was not computed.")
        return 1.0 if cell == TIME else 0.0

    def _not_stored(self, variable: int, order: int) -> None:
        name = self._system.plant.name_of(variable)
        if order and not self._system.differential[self._system.aliases.index[variable]]:
            raise NameNotFound(f"`{name}` is not differentiated in the model, so der({name}) was not computed.")
        what = f"der({name})" if order else name
        raise NameNotFound(
            f"`{what}` was not stored in this run.", remedy=f"Run again with store=[…, {what!r}], or without `store`."
        )

    def _expression(self, kind: Kind, expression: Expression, instances: np.ndarray) -> np.ndarray:
        """An expression of a kind in some of its instances: (time, instance, *shape)."""
        steps = len(self.time)

        def leaf(node: Expression) -> np.ndarray:
            if isinstance(node, Time):
                return self.time[:, None]
            if isinstance(node, (Continuation, Mark)):  # the model as written; in the middle of a run, relations frozen
                return np.full((1, 1), float(isinstance(node, Continuation) or (self._live and node is Mark("live"))))
            assert isinstance(node, Reference)
            owner: Kind = node.owner.kind
            quantity = owner.quantities[node.name]
            present = quantity.base if node.order >= 0 else quantity.base + owner.count * quantity.size
            return self._quantity(owner, node.name, self._system.plant.numbers(kind, node)[instances] - present, node.order)

        value = evaluate_arrays(transform(expression, _told_before), leaf, batch=2)
        return np.broadcast_to(value, (steps, len(instances), *expression.shape))

    # --- names ------------------------------------------------------------------------------------------------------------
    def names(self) -> Iterator[str]:
        """All scalar names; of a large plant these are many."""
        plant = self._system.plant
        for kind in plant.kinds:
            own = [quantity for quantity in kind.quantities.values() if not quantity.declaration.auxiliary]
            for instance in range(kind.count):
                path = plant.path_of(kind, instance)
                for quantity in own:
                    for element in range(quantity.size):
                        yield joined(path, element_name(quantity.name, element, quantity.shape))
                for name, expression in kind.named.items():
                    for element in range(expression.size):
                        yield joined(path, element_name(name, element, expression.shape))

    def _described(self, name: str) -> tuple[str, str]:
        return described(self._system.plant, self._system.plant.locate(name))

    def unit(self, name: str) -> str:
        return self._system.plant.independent[1] if name == "time" else self._described(name)[0]

    def description(self, name: str) -> str:
        return self._system.plant.independent[2] if name == "time" else self._described(name)[1]

    def source(self, name: str) -> tuple[str, int, int]:
        """Where a scalar comes from: a stored column and a sign, a constant cell, or something to be evaluated."""
        located = self._system.plant.locate(name)
        if located.flat is None or located.order:
            return "expression", -1, 1
        quantity = located.kind.quantities[located.name]
        number = quantity.base + int(located.flat.ravel()[0])
        if quantity.role in ("parameter", "discrete"):
            return ("expression", -1, 1) if self._varies(number) else ("constant", number, 1)
        if (located.kind.index, located.name) in self._system.definitions:
            return "expression", -1, 1
        aliases = self._system.aliases
        index, sign = int(aliases.index[number]), int(aliases.sign[number])
        if aliases.known[number]:
            return ("expression", -1, 1) if self._varies(index) else ("constant", index, sign)
        column = int(self._stored.column[index])
        if column < 0:
            raise ModelError(f"`{name}` was not stored in this run.")
        return "column", column, sign


def _told_before(node: Expression) -> Expression | None:
    """`pre(a + b)` as the sum of the values before: references tell which value they mean."""
    if not isinstance(node, Operation) or node.operator is not PRE:
        return None

    def before(leaf: Expression) -> Expression | None:
        if not isinstance(leaf, Reference) or leaf.order:
            return None
        return Reference(leaf.root, leaf.owner, leaf.name, leaf.shape, leaf.picked, -1)

    return transform(node.args[0], before)
