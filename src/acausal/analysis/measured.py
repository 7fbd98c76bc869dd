"""Measured data for a fit: times and columns by path, in the model's units, with gaps."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import checked
from ..errors import NameNotFound, UsageError
from ..language.units import convert

if TYPE_CHECKING:
    from ..model.model import Model

_UNIT = re.compile(r"^(.*?)\s*\[([^\[\]]*[a-zA-Z%°][^\[\]]*)\]\s*$")


def _is_time(heading: str) -> bool:
    name = _UNIT.sub(r"\1", heading)
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
    return isinstance(given, Experiment) or hasattr(given, "to_numpy") or str(given).lower().endswith(".csv")


def measured(model: Model, given: Any, number: int) -> Measured:
    """What a user gives as data: columns by name, a pandas frame, a CSV file, or an `ac.experiment` of them."""
    whole = given if isinstance(given, Experiment) else Experiment(given)
    name = whole.name or f"experiment {number + 1}"
    columns = _columns(whole.data, name)
    time = _time(columns, name, model.system.plant.independent[:2])
    values, inputs = dict[str, np.ndarray](), dict(whole.inputs)
    for heading, numbers in columns.items():
        path, column = _in_unit(model, heading, numbers, name)
        if len(column) != len(time):
            raise UsageError(f"`{path}` of {name} has {len(column)} values, its time has {len(time)}.")
        if _role(model, path) == "input":
            good = np.isfinite(column)
            inputs[path] = (time[good], column[good])
        else:
            values[path] = column
    if not values:
        raise UsageError(
            f"The data of {name} have no column that is a variable of the model.", remedy="Name columns by path: `room.T [degC]`."
        )
    empty = next((path for path, column in values.items() if not np.isfinite(column).any()), None)
    if empty is not None:
        raise UsageError(f"`{empty}` of {name} has no number at all.")
    return Measured(name, time, values, inputs, dict(whole.set))


def _columns(data: Any, name: str) -> dict[str, np.ndarray]:
    if isinstance(data, str | os.PathLike):
        data = _read(Path(data))
    if hasattr(data, "columns") and hasattr(data, "to_numpy"):  # a pandas frame
        frame, data = data, {str(c): data[c].to_numpy() for c in data.columns}
        if not any(_is_time(c) for c in data):
            index = frame.index
            seconds = (index - index[0]).total_seconds() if hasattr(index, "tz") else index
            heading = "time [s]" if hasattr(index, "tz") else "time"
            data = {heading: np.asarray(seconds, dtype=float), **data}
    if not isinstance(data, Mapping) or not data:
        raise UsageError(
            f"The data of {name} are columns by name, a frame or a CSV file; got {type(data).__name__}.",
            remedy='{"time": [0.0, 10.0], "room.T [degC]": [20.0, 20.5]}',
        )
    try:
        return {str(key): np.asarray(column, dtype=float) for key, column in data.items()}
    except (TypeError, ValueError) as error:
        raise UsageError(f"The data of {name} hold something that is not a number: {error}.") from None


def _read(path: Path) -> dict[str, list[float]]:
    if not path.is_file():
        raise UsageError(f"There is no file `{path}`.")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"`{path}` is not text in UTF-8: {error.reason}.", remedy="Save it as CSV in UTF-8.") from None
    delimiter = max(";\t,", key=text.partition("\n")[0].count)
    rows = [row for row in csv.reader(text.splitlines(), delimiter=delimiter) if any(cell.strip() for cell in row)]
    comma = delimiter != ","
    if not rows:
        raise UsageError(f"`{path}` is empty.", remedy="It needs a heading of paths and a row for each time.")
    ragged = next((k for k, row in enumerate(rows) if len(row) != len(rows[0])), None)
    if ragged is not None:
        raise UsageError(f"Row {ragged + 1} of `{path}` has {len(rows[ragged])} cells; its heading has {len(rows[0])}.")
    try:
        cells = [[float(c.replace(",", ".") if comma else c) if c.strip() else np.nan for c in row] for row in rows[1:]]
    except ValueError as error:
        raise UsageError(f"`{path}` holds something that is not a number: {error}.") from None
    return {heading.strip(): [row[k] for row in cells] for k, heading in enumerate(rows[0])}


def _time(columns: dict[str, np.ndarray], name: str, over: tuple[str, str]) -> np.ndarray:
    """The times in the unit of what the model is integrated over; the column has its name, or is called `time`."""
    heading = next((h for h in columns if _is_time(h) or (_UNIT.match(h) or (h, h))[1] == over[0]), None)
    if heading is None:
        raise UsageError(f"The data of {name} have no column `time`. They have: {', '.join(columns)}.")
    time, unit = columns.pop(heading), _UNIT.match(heading)
    time = np.asarray(convert(time, unit[2], over[1])) if unit else time
    if not np.isfinite(time).all():
        raise UsageError(f"The times of {name} have a gap in row {int(np.flatnonzero(~np.isfinite(time))[0]) + 1}.")
    back = np.flatnonzero(np.diff(time) <= 0)
    if len(back):
        k = int(back[0])
        raise UsageError(
            f"The times of {name} do not grow: {time[k + 1]:g} {over[1]} comes after {time[k]:g} {over[1]} (row {k + 2})."
        )
    return time


def _in_unit(model: Model, heading: str, numbers: np.ndarray, name: str) -> tuple[str, np.ndarray]:
    match = _UNIT.match(heading)
    path = match[1] if match else heading
    try:
        located = model.system.plant.locate(path)
    except NameNotFound as error:
        raise NameNotFound(f"A column of {name} names nothing in the model: {error.diagnostics[0].what}") from None
    if not match:
        return path, numbers
    unit = "" if located.flat is None else located.kind.quantities[located.name].declaration.unit
    return path, np.asarray(convert(numbers, match[2], unit)) if unit else numbers


def _role(model: Model, path: str) -> str:
    located = model.system.plant.locate(path)
    return "expression" if located.flat is None else str(located.kind.quantities[located.name].role)
