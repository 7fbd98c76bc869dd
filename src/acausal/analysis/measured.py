"""Measured data for a fit: times and columns by path, in the model's units, with gaps.

Files and headers are read as those of inputs are (`language/columns.py`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import checked
from ..errors import NameNotFound, UsageError
from ..language.columns import FILES, Column, Columns, of_frame, of_mapping, read, titled
from ..language.suffixes import suffix_for, suffixes
from ..language.units import dimension

if TYPE_CHECKING:
    from ..model.model import Model


def _is_time(heading: str) -> bool:
    name = titled(heading, "the data")[0]
    return name == "t" or name.casefold() in ("time", "seconds")


@dataclass(frozen=True, eq=False)
class Experiment:
    """One experiment: what was measured, with what inputs, parameters and start values. Made by `ac.experiment`."""

    data: Any
    inputs: Mapping[str, Any] = field(default_factory=dict)
    set: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""


@checked
def experiment(
    data: Any, *, inputs: Mapping[str, Any] | None = None, set: Mapping[str, Any] | None = None, name: str = ""
) -> Experiment:
    """Measured data with the conditions of its experiment, for `model.fit`.

    >>> experiment({"time": [0.0, 1.0], "T": [20.0, 21.0]}, set={"P": 500.0}).set["P"]
    500.0
    """
    return Experiment(data, inputs or {}, set or {}, name)


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """Numbers of one experiment: `values[path]` over `time`, not a number where there is a gap."""

    name: str
    time: np.ndarray
    values: dict[str, np.ndarray]
    inputs: dict[str, Any]
    set: dict[str, Any]


def looks_like_data(given: Any) -> bool:
    """Whether something is measured data rather than names of parameters."""
    if isinstance(given, list | tuple) and given:
        given = given[0]
    if isinstance(given, Mapping):
        return any(_is_time(str(key)) and not (value is None or isinstance(value, tuple)) for key, value in given.items())
    return isinstance(given, Experiment) or hasattr(given, "to_numpy") or str(given).lower().endswith(FILES)


def measured(model: Model, given: Any, number: int) -> Measured:
    """What a user gives as data: columns by name, a pandas frame, a file, or an `ac.experiment` of them."""
    whole = given if isinstance(given, Experiment) else Experiment(given)
    name, over = whole.name or f"experiment {number + 1}", model.system.plant.independent[:2]
    columns = _columns(whole.data, name, over)
    time = _time(columns, name, over)
    values, inputs = dict[str, np.ndarray](), dict(whole.inputs)
    for column in columns.data(over):
        path, unit, role = _meant(model, column, name)
        numbers = column.with_gaps().in_unit(unit, columns.path) if unit else column.with_gaps().numbers()
        if len(numbers) != len(time):
            raise UsageError(f"`{path}` of {name} has {len(numbers)} values, its time has {len(time)}.")
        if path in values:
            raise UsageError(f"Two columns of {name} are `{path}`.", remedy="Keep one of them.")
        if role == "input":
            good = np.isfinite(numbers)
            inputs[path] = (time[good], numbers[good])
        else:
            values[path] = numbers
    if not values:
        raise UsageError(
            f"The data of {name} have no column that is a variable of the model.", remedy="Name columns by path: `room.T [degC]`."
        )
    empty = next((path for path, numbers in values.items() if not np.isfinite(numbers).any()), None)
    if empty is not None:
        raise UsageError(f"`{empty}` of {name} has no number at all.")
    return Measured(name, time, values, inputs, dict(whole.set))


def _columns(data: Any, name: str, over: tuple[str, str]) -> Columns:
    if isinstance(data, str | os.PathLike):
        return read(data)
    if hasattr(data, "columns") and hasattr(data, "to_numpy"):  # a pandas frame
        found = of_frame(data, name)
        return found if found.has_time(over) else of_frame(data.rename_axis(over[0]), name)
    if not isinstance(data, Mapping) or not data:
        raise UsageError(
            f"The data of {name} are columns by name, a frame or a CSV file; got {type(data).__name__}.",
            remedy='{"time": [0.0, 10.0], "room.T [degC]": [20.0, 20.5]}',
        )
    try:
        return of_mapping(data, name)
    except (TypeError, ValueError) as error:
        raise UsageError(f"The data of {name} hold something that is not a number: {error}.") from None


def _time(columns: Columns, name: str, over: tuple[str, str]) -> np.ndarray:
    """The times in the unit of what the model is integrated over; the column has its name, or is called `time`."""
    if not columns.has_time(over):
        raise UsageError(f"The data of {name} have no column `{over[0]}`. They have: {', '.join(columns.titles)}.")
    time = columns.times(over)
    if not np.isfinite(time).all():
        raise UsageError(f"The times of {name} have a gap in row {int(np.flatnonzero(~np.isfinite(time))[0]) + 1}.")
    back = np.flatnonzero(np.diff(time) <= 0)
    if len(back):
        k = int(back[0])
        raise UsageError(
            f"The times of {name} do not grow: {time[k + 1]:g} {over[1]} comes after {time[k]:g} {over[1]} (row {k + 2})."
        )
    return time


def _meant(model: Model, column: Column, name: str) -> tuple[str, str, str]:
    """The path, the unit and the role of what a column is: by its name, or by that without a unit at its end, `room.T_degC`."""
    try:
        return column.name, *_unit_and_role(model, column.name)
    except NameNotFound as error:
        unknown = error.diagnostics[0].what
    for ending in suffixes(column.title) if not column.unit else ():
        try:
            unit, role = _unit_and_role(model, ending.name)
        except NameNotFound:
            continue
        suffix = suffix_for(column.title, unit) or ending
        if suffix.name != ending.name or dimension(suffix.unit) != dimension(unit):
            continue
        if suffix.sure:
            return suffix.name, unit, role
        raise NameNotFound(
            f"The column `{column.title}` of {name} names nothing in the model; its end may be a unit.",
            remedy=f"Call it `{suffix.name} [{suffix.unit}]`.",
        )
    raise NameNotFound(f"A column of {name} names nothing in the model: {unknown}") from None


def _unit_and_role(model: Model, path: str) -> tuple[str, str]:
    located = model.system.plant.locate(path)
    if located.flat is None:
        return "", "expression"
    quantity = located.kind.quantities[located.name]
    return quantity.declaration.unit, str(quantity.role)
