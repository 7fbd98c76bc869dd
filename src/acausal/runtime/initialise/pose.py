"""Inverse problems from names: which cells a parameter in `solve_for` is, which unknowns a quantity in `given` is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from ...arguments import unmasked
from ...errors import ModelError, UsageError
from ...families.path import Located
from ...families.system import System
from ...program.evaluator import Evaluator
from ...program.rows import Stored
from ..storage import choose, needed_unknowns
from .inverse import Given, Inverse, Sought
from .types import Floats


def pose(
    system: System,
    parameters: Any,
    problem: Any,
    given: Mapping[str, Any],
    solve_for: Iterable[str],
    known_with: Callable[[Mapping[str, float]], Floats],
) -> Inverse:
    """The inverse problem of a problem in which every unknown of the system is one (nothing computed explicitly).

    `known_with(values)` gives all known cells when some parameters have other values.
    """
    if isinstance(solve_for, str):
        solve_for = [solve_for]
    sought = [s for path in solve_for for s in _sought(system, parameters, problem.known, path)]
    names = [s.name for s in sought]

    def known_of(values: Floats) -> Floats:
        try:
            return known_with(dict(zip(names, values.tolist(), strict=True)))
        except ModelError:  # a parameter bound to these left its range: no value there, the iteration stays away
            return np.full(system.known_count, np.nan)

    return Inverse(problem, sought, [g for path, value in given.items() for g in _given(system, problem, path, value)], known_of)


def _sought(system: System, parameters: Any, known: Floats, path: str) -> list[Sought]:
    cells = parameters.cells(path).ravel()
    return [
        Sought(
            system.plant.name_of(int(c), "known"), float(known[c]), float(parameters.low.cells[c]), float(parameters.high.cells[c])
        )
        for c in cells
    ]


def _given(system: System, problem: Any, path: str, value: Any) -> list[Given]:
    located = system.plant.locate(path)
    shape = located.shape if located.flat is not None else (*located.shape, *_expression_shape(located))
    try:
        values = np.broadcast_to(np.asarray(_in_base_unit(system, path, unmasked(value)), dtype=float), shape).ravel()
    except (TypeError, ValueError, OverflowError):
        expected = f"an array of shape {shape}" if shape else "a number"
        raise UsageError(f"`{path}` is given as {value!r}; it takes {expected}.") from None
    if not np.isfinite(values).all():
        raise UsageError(f"`{path}` cannot be given as {value!r}: it is not finite.")
    quantity = located.kind.quantities.get(located.name) if located.flat is not None else None
    if quantity is not None and quantity.role == "parameter":
        raise UsageError(f"`{path}` is a parameter; `given` is for variables.", remedy=f"Set it: set={{{path!r}: {value!r}}}.")
    is_input = located.flat is not None and quantity is not None and quantity.role == "input"
    if is_input and system.aliases.known[quantity.base + located.flat.ravel()].all():  # type: ignore[union-attr]
        raise UsageError(
            f"`{path}` is an input that nothing in the model determines; `given` is for variables.",
            remedy=f"Give it for the whole run: inputs={{{path!r}: {value!r}}}.",
        )
    if quantity is None or (located.kind.index, located.name) in system.definitions:
        return _expressions(system, problem, path, values, shape)
    assert located.flat is not None
    numbers = quantity.base + located.flat.ravel()
    if system.aliases.known[numbers].any():
        return _expressions(system, problem, path, values, shape)
    return [_unknown(system, int(k), float(v), located.order) for k, v in zip(numbers, values, strict=True)]


def _unknown(system: System, number: int, value: float, order: int) -> Given:
    name, unknown = system.plant.name_of(number), int(system.aliases.index[number])
    sign, slope = float(system.aliases.sign[number]), bool(order)
    if order:
        name = f"der({name})"
        as_unknown = -1 if system.derivatives is None else int(system.derivatives.as_unknown(system.size)[unknown])
        if as_unknown >= 0:
            unknown, slope = as_unknown, False
        elif not system.differential[unknown]:
            raise UsageError(f"`{name}` is given, but the model does not contain this derivative.")
    return Given(name, value, np.array([unknown]), sign, slope)


def _expressions(system: System, problem: Any, path: str, values: Floats, shape: tuple[int, ...]) -> list[Given]:
    """Quantities that are computed from unknowns: evaluated as a result would."""
    choice = choose(system, None, True, 1)
    unknowns = needed_unknowns(system, path)

    def whole(t: float, y: Floats, yp: Floats, known: Floats) -> Floats:
        row = np.concatenate([y, yp])[choice.gather][None, :]
        stored = Stored(np.array([t]), row, choice.column, choice.slope_column, known)
        return np.asarray(Evaluator(system, stored, live=True)[path], dtype=float).ravel()

    def evaluate(element: int) -> Callable[[float, Floats, Floats, Floats], float]:
        return lambda t, y, yp, known: float(whole(t, y, yp, known)[element])

    needed = [unknowns] if len(values) == 1 else _by_element(whole, unknowns, len(values), problem)
    names = [path if not shape else f"{path} ({k})" for k in range(len(values))]
    return [Given(n, float(v), needed[k], evaluate=evaluate(k)) for k, (n, v) in enumerate(zip(names, values, strict=True))]


def _by_element(whole: Callable[..., Floats], unknowns: np.ndarray, count: int, problem: Any) -> list[np.ndarray]:
    """Which unknowns each element of an array depends on: where one of them is not a number, what depends on it is none either."""
    y, yp = np.array(problem.start, dtype=float), np.zeros(problem.size)
    here = whole(0.0, y, yp, problem.known)
    touched = np.ones((len(unknowns), count), dtype=bool)
    for k, unknown in enumerate(unknowns):
        missing, rate = y.copy(), yp.copy()
        missing[unknown] = rate[unknown] = np.nan
        there = whole(0.0, missing, rate, problem.known)
        touched[k] = np.isnan(there) | np.isnan(here) | (there != here)
    return [unknowns[touched[:, element]] for element in range(count)]


def _expression_shape(located: Located) -> tuple[int, ...]:
    expression = located.kind.named[located.name]
    return tuple(np.empty(expression.shape)[located.key].shape) if located.key else tuple(expression.shape)


def _in_base_unit(system: System, path: str, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    from ...language.units import quantity

    unit = Evaluator.of_names(system).unit(path)
    try:
        return quantity(value, unit)
    except UsageError as error:
        raise UsageError(
            f"`given` gives `{path}` the value {value!r}. {error.diagnostics[0].what}",
            remedy=f"Give a number{f' in {unit}' if unit else ''}, or a text with a unit that can be converted to it.",
        ) from None
