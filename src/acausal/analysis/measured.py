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
from ..families.path import described
from ..language.columns import FILES, Column, Columns, Over, of_frame, of_mapping, read, titled
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
    columns = _columns(model, whole.data, name, over)
    time = _time(columns, name, over)
    values, inputs = dict[str, np.ndarray](), dict[str, Any]()
    for column in columns.data(over):
        path, unit, role = _meant(model, column, name)
        flat = model.system.plant.locate(path).flat
        if flat is not None and np.ndim(flat):
            raise UsageError(
                f"The column `{column.title}` of {name} names an array of shape {np.shape(flat)}; a column is one number.",
                remedy=f"Name an element: `{path}[{'0' + ', 0' * (np.ndim(flat) - 1)}]`.",
            )
        numbers = column.with_gaps().in_unit(unit, columns.path, called=path)
        if len(numbers) != len(time):
            raise UsageError(f"`{path}` of {name} has {len(numbers)} values, its time has {len(time)}.")
        if path in values or path in inputs:
            raise UsageError(f"Two columns of {name} are `{path}`.", remedy="Keep one of them.")
        if path in whole.inputs:
            raise UsageError(
                f"The input `{path}` of {name} is given twice: by the column `{column.title}` and by `inputs`.",
                remedy="Keep one of them.",
            )
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
    return Measured(name, time, values, {**whole.inputs, **inputs}, dict(whole.set))


def _columns(model: Model, data: Any, name: str, over: Over) -> Columns:
    """All columns, the time told from variables of the model that are called as times are (`date`, `t`)."""
    if hasattr(data, "columns") and hasattr(data, "to_numpy"):  # a pandas frame
        plain = of_frame(data, name, over)
        found = _apart(model, plain, over)
        counted = type(data.index).__name__ == "RangeIndex" and plain.has_time(over)  # what was left out is no reason to count rows
        return found if found.has_time(over) or counted else _apart(model, of_frame(data.rename_axis(over[0]), name, over), over)
    return _apart(model, _given(data, name), over)


def _apart(model: Model, columns: Columns, over: Over) -> Columns:
    """The column with the very name of what the model is integrated over is the time; else none that is a variable is."""
    exact = [c for c in columns.columns if c.name == over[0]]
    if exact:
        return columns.apart([c for c in columns.columns if c.name != over[0]])
    return columns.apart([c for c in columns.columns if not c.dates and _exists(model, c.name)])


def _exists(model: Model, path: str) -> bool:
    try:
        model.system.plant.locate(path)
    except NameNotFound:
        return False
    return True


def _given(data: Any, name: str) -> Columns:
    if isinstance(data, str | os.PathLike):
        return read(data)
    if not isinstance(data, Mapping) or not data:
        raise UsageError(
            f"The data of {name} are columns by name, a frame or a CSV file; got {type(data).__name__}.",
            remedy='{"time": [0.0, 10.0], "room.T [degC]": [20.0, 20.5]}',
        )
    try:
        return of_mapping(data, name)
    except (TypeError, ValueError) as error:
        raise UsageError(f"The data of {name} hold something that is not a number: {error}.") from None


def _time(columns: Columns, name: str, over: Over) -> np.ndarray:
    """The times in the unit of what the model is integrated over; the column has its name, or is called `time`."""
    if not columns.has_time(over):
        own = next((c.title for c in columns.columns if Columns(name, [c]).has_time(over)), None)
        raise UsageError(
            f"The data of {name} have no column `{over[0]}`. They have: {', '.join(columns.titles)}.",
            remedy=f"`{own}` is a variable of the model. Call the column of times `{over[0]}`." if own else "",
        )
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
        suffix = suffix_for(column.title, unit, ending.name) or ending
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
    plant = model.system.plant
    located = plant.locate(path)
    unit = described(plant, located)[0]
    return unit, "expression" if located.flat is None else str(located.kind.quantities[located.name].role)
