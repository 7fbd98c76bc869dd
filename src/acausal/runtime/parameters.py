"""Parameter values of a model: read once, changed without compiling, checked before every run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from ..arguments import unmasked
from ..errors import Diagnostic, ModelError, UsageError
from ..families.numbers import Attributes, Numbers
from ..families.plant import DERIVATIVES, Plant, element_name, joined
from ..families.system import System
from ..language.declarations import Constant, Declaration
from ..language.expression import Call, walk
from ..language.states import StateDeclaration
from .initialise.earlier import values_from
from .inputs import Constant as Held
from .inputs import Signal, derivative

_MOST_NAMES = 50_000  # that are remembered


class _Setting(NamedTuple):
    """What a path stands for that can be set; `plain`: any finite number will do."""

    cells: np.ndarray
    declaration: Declaration
    states: StateDeclaration | None
    plain: bool


class Parameters:
    """The known part of the workspace for a model, and the rules that bind its cells to each other."""

    def __init__(self, system: System, numbers: Numbers) -> None:
        self.system, self.attributes = system, Attributes(system.plant)
        self.values, self.low, self.high = numbers.value.own(), numbers.low.own_if_bound(), numbers.high.own_if_bound()
        self.overridden = np.zeros(system.known_count, dtype=bool)
        self._differentiated: dict[int, tuple[int, ...]] | None = None  # inputs, with the cells of their derivatives; when asked
        self.starts: dict[str, Any] = {}  # start values of variables, given for all runs to come
        self._settings: dict[str, _Setting] = {}  # paths that were set …
        self._variables: dict[str, bool] = {}  # … or asked for, and whether they are variables
        self._unchanged: tuple[bytes, np.ndarray] | None = None  # numbers as they were, and all known values with them

    def set(self, path: str, value: Any) -> None:
        """Give a parameter (or a slice of parameters) another value for all runs to come; a variable, another start value."""
        if self._is_variable(path):
            values_from(self.system, {path: value}, what="set")
            self.starts[path] = value
            return
        cells, number = self._checked(path, value)
        self.values.cells[cells] = number
        self.overridden[cells.ravel()] = True

    def split(self, changes: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Values of parameters, and start values of variables."""
        starts = {path: value for path, value in changes.items() if self._is_variable(path)}
        if not starts:
            return dict(changes), starts
        return {path: value for path, value in changes.items() if path not in starts}, starts

    def _is_variable(self, path: str) -> bool:
        found = self._variables.get(path)
        if found is None:
            located = self.system.plant.locate(path)
            quantity = located.kind.quantities.get(located.name) if located.flat is not None else None
            if len(self._variables) >= _MOST_NAMES:
                self._variables.clear()
            found = quantity is not None and quantity.role == "variable" and not located.order
            self._variables[path] = found
        return found

    def get(self, path: str) -> Any:
        known = self.known({})
        found = known[self.cells(path)]
        states = self._states(path)
        if states is not None:
            found = np.array(states.states)[found.astype(np.intp)]
            return str(found) if found.ndim == 0 else found
        return float(found) if found.ndim == 0 else found

    def known(self, changes: Mapping[str, Any], *, for_a_run: bool = False) -> np.ndarray:
        """All known values with some changes for one run; bound parameters follow. Only a run needs every state to exist: a model
        may be compiled with parameters that are set later."""
        if changes or not for_a_run or self._calls:
            return self._evaluated(changes, for_a_run)
        now = self.values.cells.tobytes() + self.overridden.tobytes()
        if self._unchanged is None or self._unchanged[0] != now:
            self._unchanged = now, self._evaluated({}, True)
        return self._unchanged[1].copy()

    @cached_property
    def _calls(self) -> bool:
        """Whether parameters are bound to functions, which may give something else next time."""
        values = (self.values, self.low, self.high)
        bound = [binding.expression for each in values for binding in each.bindings]
        return any(isinstance(node, Call) for node in walk(*bound, *(derived.expression for derived in self.system.derived)))

    def _evaluated(self, changes: Mapping[str, Any], for_a_run: bool) -> np.ndarray:
        known = self.values.cells.copy()
        overridden = self.overridden
        if changes:
            overridden = overridden.copy() if self.values.bindings else overridden
            for path, value in by_name(changes, "set").items():
                cells, number = self._checked(path, value)
                known[cells] = number
                if self.values.bindings:
                    overridden[cells.ravel()] = True
        if self.values.bindings:
            self.attributes.evaluate(self.values.bindings, known, known, held=overridden)
        for bounds in (self.low, self.high):
            if bounds.bindings:
                self.attributes.evaluate(bounds.bindings, bounds.cells, known)
        self._check(known)
        if self.system.states is not None:
            self.system.states.follow(known)
        for derived in self.system.derived:
            derived.evaluate(self.system.plant, known)
            if for_a_run:
                from .faults import refuse_outside

                refuse_outside(self.system.plant, derived, known)
        if self.system.hybrid is not None:
            known[self.system.hybrid.partners] = known[self.system.hybrid.cells]
        return known

    def input_cells(self, path: str) -> np.ndarray:
        """The cells that an external input fills; an error that says why if it is none."""
        located = self.system.plant.locate(path)
        quantity = located.kind.quantities.get(located.name) if located.flat is not None else None
        if quantity is None or quantity.role != "input":
            raise ModelError(f"`{path}` is not an input.", remedy="Declare it with `ac.Input(…)`, or use `set` for a parameter.")
        flat = np.asarray(located.flat)
        numbers = quantity.base + flat
        if (self.system.aliases.index[numbers] != quantity.known_base + flat).any() or not self.system.aliases.known[numbers].all():
            raise ModelError(f"`{path}` is connected inside the model and cannot be given from outside.")
        return quantity.known_base + flat

    def signals(
        self, inputs: Mapping[str, Any], changes: Mapping[str, Any], begin: float, end: float, at_rest: bool = False
    ) -> tuple[dict[int, Signal], list[Diagnostic]]:
        """The signals that fill cells in a run, and what the user should know about data that are shorter than it. `at_rest`: they
        stay what they are at the beginning, and their derivatives are zero."""
        if type(inputs) is dict and not inputs:
            return {}, []
        from .given import ends_told, over_run, within_bounds
        from .given import signals as given_signals

        if inputs and (self.low.bindings or self.high.bindings):
            self.known(changes)  # bounds may depend on parameters
        found: dict[int, Signal] = {}
        over = self.system.plant.independent[:2]
        told: dict[str, str] = {}
        for path, given in by_name(inputs, "inputs").items():
            cells = self.input_cells(path)
            signals = given_signals(given, path, cells.shape, self.unit(path), over)
            for cell, signal in zip(cells.ravel().tolist(), signals, strict=True):
                signal, said = over_run(signal, begin, end, path, over[1])
                low, high = float(self.low.cells[cell]), float(self.high.cells[cell])
                signal = within_bounds(signal, low, high, path, over[1], self.unit(path))
                found[cell] = Held(signal(begin)) if at_rest else signal
                found.update(self._rates(cell, found[cell], path, begin, end))
                told[path] = told.get(path) or said
        return found, ends_told(told)

    def _rates(self, cell: int, signal: Signal, path: str, begin: float, end: float) -> Iterator[tuple[int, Signal]]:
        """The signals of those derivatives of an input that equations contain."""
        if self._differentiated is None:
            self._differentiated = differentiated_inputs(self.system)
        for rate in self._differentiated.get(cell, ()):
            found = derivative(signal, begin, end)
            if isinstance(found, str):
                raise UsageError(
                    f"The model needs the derivative of input `{path}`, because it prescribes something that other equations "
                    f"integrate; {found}.",
                    remedy="Give a number, a table `(times, values)` or `ac.hold`; or let a first-order lag follow the input, or "
                    "write it in the model as an expression of time.",
                )
            yield rate, found
            signal = found

    def names(self) -> Iterator[tuple[str, int]]:
        """Every parameter and external input with its cell."""
        plant: Plant = self.system.plant
        for kind, quantity, base in self.attributes._known_quantities():
            if quantity.declaration.auxiliary:
                continue
            for k in range(kind.count * quantity.size):
                instance, element = divmod(k, quantity.size)
                yield joined(plant.path_of(kind, instance), element_name(quantity.name, element, quantity.shape)), base + k

    def cells(self, path: str) -> np.ndarray:
        plant: Plant = self.system.plant
        located = plant.locate(path)
        quantity = located.kind.quantities.get(located.name) if located.flat is not None else None
        if quantity is None or quantity.role == "variable" or located.order:
            raise ModelError(
                f"`{path}` is not a parameter, so it cannot be set.",
                remedy="`model.parameters()` lists what can be set; variables can be given start values.",
            )
        if isinstance(quantity.declaration, Constant):
            raise ModelError(f"`{path}` is a constant and cannot be changed.", remedy="Declare it with `ac.Parameter` instead.")
        base = quantity.base if quantity.declaration.is_known else quantity.known_base
        return base + np.asarray(located.flat)

    def _setting(self, path: str) -> _Setting:
        found = self._settings.get(path)
        if found is None:
            cells, declaration, states = self.cells(path), self._declaration(path), self._states(path)
            plain = not cells.shape and states is None and getattr(declaration, "type", "real") == "real"
            if len(self._settings) >= _MOST_NAMES:
                self._settings.clear()
            found = self._settings[path] = _Setting(cells, declaration, states, plain)
        return found

    def _checked(self, path: str, value: Any) -> tuple[np.ndarray, np.ndarray | float]:
        from ..language.misuse import typed

        cells, declaration, states, plain = self._setting(path)
        if plain and type(value) is float and isfinite(value):
            return cells, value
        if states is not None:
            value = self._state_number(path, cells, states, value)
        if isinstance(value, str):
            from ..language.differences import refuse_level
            from ..language.units import quantity

            refuse_level(path, value, str(declaration.unit))
            try:
                value = quantity(value, str(declaration.unit))
            except UsageError as error:
                raise UsageError(*(replace(d, what=f"`{path}` cannot be {value!r}. {d.what}") for d in error.diagnostics)) from None
        try:
            number = np.broadcast_to(np.asarray(unmasked(value), dtype=float), cells.shape)
        except (TypeError, ValueError, OverflowError):
            shape = f"an array of shape {cells.shape}" if cells.shape else "a number"
            raise ModelError(f"`{path}` takes {shape}, got {value!r} of type {type(value).__name__}.") from None
        if not np.isfinite(number).all():
            raise ModelError(f"`{path}` cannot be {value!r}: it is not finite.")
        wrong = typed(declaration, number)
        if wrong:
            raise ModelError(f"`{path}` cannot be {value!r}: {wrong}.")
        return cells, number

    def _declaration(self, path: str) -> Declaration:
        located = self.system.plant.locate(path)
        return located.kind.quantities[located.name].declaration

    def _states(self, path: str) -> StateDeclaration | None:
        """The declaration of a state variable; None for anything else."""
        located = self.system.plant.locate(path)
        quantity = located.kind.quantities.get(located.name)
        return quantity.declaration if quantity is not None and isinstance(quantity.declaration, StateDeclaration) else None

    def _state_number(self, path: str, cells: np.ndarray, states: StateDeclaration, value: Any) -> Any:
        """The number of a state given by its name; what follows other states cannot be given one."""
        tables = self.system.states
        if tables is not None and np.isin(cells, tables.followers).any():
            raise ModelError(
                f"`{path}` follows the states it is made of or connected to, so it cannot be set.",
                remedy="Set those; `model.states()` lists all state variables.",
            )
        try:
            return states.number_of(value)
        except UsageError as error:
            raise UsageError(*(replace(d, what=f"`{path}` cannot be {value!r}. {d.what}") for d in error.diagnostics)) from None

    def unit(self, path: str) -> str:
        """The unit in which a parameter or an input is declared."""
        return str(self._declaration(path).unit)

    def _check(self, known: np.ndarray) -> None:
        own = self.system.plant.known_count  # what is derived from these may be anything
        if ((known >= self.low.cells) & (known <= self.high.cells)).all() and np.isfinite(known[:own]).all():
            return
        if ((known < self.low.cells) | (known > self.high.cells)).any():
            raise ModelError(*self.attributes.out_of_range(known, self.low, self.high))
        if not np.isfinite(known[:own]).all():
            raise ModelError(*self._not_finite(known[:own]))

    def _not_finite(self, known: np.ndarray) -> list[Diagnostic]:
        cells = np.flatnonzero(~np.isfinite(known))
        names = [self.system.plant.name_of(int(c), "known") for c in cells[:6]]
        return [Diagnostic(f"Parameter `{n}` has no finite value.", remedy="Check the expression it is bound to.") for n in names]


def later(first: Mapping[str, Any], then: Mapping[str, Any]) -> dict[str, Any]:
    """Values by path in the order in which they were given: of `k` and `k[0]` what was said last counts.

    >>> later({"k[0]": 1.0, "k": 2.0}, {"k[0]": 3.0})
    {'k': 2.0, 'k[0]': 3.0}
    """
    return {**{path: value for path, value in first.items() if path not in then}, **then}


def by_name(given: Any, what: str) -> Mapping[str, Any]:
    """Values by path, or why this is not that."""
    if type(given) is not dict and not isinstance(given, Mapping):
        raise UsageError(
            f'`{what}` takes values by name, such as {{"room.T": 20.0}}, got {given!r:.60} of type {type(given).__name__}.',
            remedy="A list of pairs becomes one with `dict(…)`." if isinstance(given, (list, tuple)) else "",
        )
    for path in given:
        if not isinstance(path, str):
            raise UsageError(f"`{what}` takes names such as `room.T`, got {path!r} of type {type(path).__name__}.")
    return given


def differentiated_inputs(system: System) -> dict[int, tuple[int, ...]]:
    """The cells of inputs whose derivatives equations contain, with the cells of these derivatives, the first order first.

    Initial equations and what is said about events count as well.
    """
    rules = [] if system.hybrid is None else [family for part in system.hybrid.parts.values() for family in part.families]
    slots = [np.where(f.slots < 0, ~f.slots, f.slots).ravel() for f in (*system.families, *system.initial_families, *rules)]
    used = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *slots]))
    orders = [system.plant.input_cells(order) for order in range(1 + DERIVATIVES)]
    here = [np.isin(2 * system.size + cells, used) for cells in orders]
    found: dict[int, tuple[int, ...]] = {}
    for k in np.flatnonzero(np.any(here[1:], axis=0)):
        highest = max(order for order in range(1, 1 + DERIVATIVES) if here[order][k])
        found[int(orders[0][k])] = tuple(int(orders[order][k]) for order in range(1, 1 + highest))
    return found
