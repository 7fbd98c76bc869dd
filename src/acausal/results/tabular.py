"""Tables for other programs: pandas, xarray, CSV, Parquet and HDF5, and the choice of a format by a file's ending.

One grammar for plots, tables and files: names one after another or in a list, `unit=`, `window=`, `time_unit=`. Arrays become one
column for each element. pandas, xarray, pyarrow and h5py are imported when they are needed; CSV and `.mat` need none of them.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import checked
from ..container import CHUNK_BYTES, whole_file
from ..errors import NameNotFound, UsageError
from ..records import dataclass
from . import series
from .series import Array, Column, Names, Trajectories, Unit

if TYPE_CHECKING:
    import pandas
    import xarray

    from .views import Window

Given = str | Iterable[str] | None


def optional_module(name: str, purpose: str, remedy: str = "`pip install acausal[export]`.") -> Any:
    """A package that not everyone has, or the command that installs it."""
    try:
        return import_module(name)
    except ImportError as cause:
        raise UsageError(f"{purpose} needs `{name}`, which is not installed.", remedy=remedy) from cause


@dataclass(frozen=True)
class Table:
    """The columns somebody asked for, in the units asked for, over the times asked for."""

    result: Trajectories
    columns: Sequence[Column]
    units: Mapping[str, str]
    time_unit: str

    @cached_property
    def time(self) -> Array:
        from ..language.units import convert

        own = self.result.unit("time") or "s"
        return self.result.time if self.time_unit == own else np.asarray(convert(self.result.time, own, self.time_unit))

    def values(self) -> Iterator[Array]:
        return series.values(self.result, self.columns, self.units)

    def matrix(self) -> Array:
        return series.matrix(self.result, self.columns, self.units)

    def unit(self, column: Column) -> str:
        return self.units.get(column.name) or self.result.unit(column.name)

    def attributes(self) -> dict[str, Any]:
        return {
            "title": self.result.title,
            "units": {column.label: self.unit(column) for column in self.columns},
            "descriptions": {c.label: text for c in self.columns if (text := self.result.description(c.name))},
        }


def _table(result: Trajectories, names: Names, unit: Unit, window: Window = None, time_unit: str | None = None) -> Table:
    from .views import windowed

    shown = windowed(result, window)
    wanted = series.columns(shown, names)
    return Table(
        shown, wanted, series.units_for(shown, dict.fromkeys(c.name for c in wanted), unit), time_unit or shown.unit("time") or "s"
    )


@checked
def to_pandas(
    result: Trajectories,
    *names: Given,
    unit: Unit = None,
    window: Window = None,
    time_unit: str | None = None,
    units: Unit = None,
) -> pandas.DataFrame:
    """A table indexed by time, one column a variable: `result.to_pandas("room.T", "*.Q", unit={"K": "degC"}, time_unit="h")`.

    names: variables, arrays or patterns, one after another or in a list; none for all.
    unit: a unit for whatever can be given in it, or units by name, pattern or declared unit. `units` is the same.
    window: the times of the first and last row: `("1 h", "2 h")`.
    time_unit: of the index.

    `table.attrs` holds the `title`, and by column the `units` and the `descriptions`.
    """
    frames = optional_module("pandas", "A table")
    asked = _table(result, series.given_names(names), series.either_unit(unit, units), window, time_unit)
    index = frames.Index(asked.time, name="time")
    labels = [column.label for column in asked.columns]
    table: pandas.DataFrame = frames.DataFrame(asked.matrix(), index=index, columns=labels, copy=False)
    table.attrs.update(asked.attributes())
    return table


@checked
def to_xarray(
    result: Trajectories,
    *names: Given,
    unit: Unit = None,
    window: Window = None,
    time_unit: str | None = None,
    units: Unit = None,
) -> xarray.Dataset:
    """A Dataset over `time`: arrays stay arrays, with a dimension for each array of components or of elements.

    Arguments are those of `to_pandas`. Units and descriptions are attributes as the CF conventions have them (`units`,
    `long_name`; `flag_values` and `flag_meanings` of states), so that xarray labels its plots with them.

        data = result.to_xarray("wall.T", unit="degC")
        data["wall.T"].isel({"wall.T:0": 3}).plot()
    """
    from .views import windowed

    arrays = optional_module("xarray", "A Dataset", remedy="`pip install xarray`.")
    shown = windowed(result, window)
    given = series.given_names(names)
    wanted = _whole_arrays(shown) if given is None else series.expand(shown, given)
    chosen = series.units_for(shown, wanted, series.either_unit(unit, units))
    scalars = shown.names() if any(np.ndim(shown[name]) > 1 for name in wanted) else []
    variables = {}
    for name in wanted:
        values = np.asarray(shown.in_unit(name, chosen[name]) if name in chosen else shown[name])
        dimensions = _dimensions(name, values.ndim - 1, scalars)
        variables[name] = (("time", *dimensions), values, _about(shown, name, chosen.get(name)))
    time = Table(shown, (), {}, time_unit := time_unit or shown.unit("time") or "s").time
    return arrays.Dataset(variables, {"time": ("time", time, {"units": time_unit, "long_name": "time"})}, {"title": shown.title})


def _about(result: Trajectories, name: str, unit: str | None) -> dict[str, Any]:
    about: dict[str, Any] = {"units": unit or result.unit(name) or "1"}
    if text := result.description(name):
        about["long_name"] = text
    if states := result.meaning(name).values:
        about |= {"flag_values": np.arange(len(states)), "flag_meanings": " ".join(states)}
    return about


def _whole_arrays(result: Trajectories) -> list[str]:
    """Every name of the result, where the elements of an array are one."""
    found: dict[str, None] = {}
    for name in series.expand(result, None):
        whole = series.bare(name)
        if whole not in found:
            found[whole if whole == name or _has_values(result, whole) else name] = None
    return list(found)


def _has_values(result: Trajectories, name: str) -> bool:
    try:
        result[name]
    except (NameNotFound, UsageError):
        return False
    return True


def _dimensions(name: str, count: int, scalars: Sequence[str]) -> list[str]:
    """What each axis of an array goes over: `C.v`, whose elements are `C[0].v`, over `C`; `wall.T` over `wall.T:0`.

    A variable that is called like its own dimension would be a coordinate to xarray, and take no part in what is computed.
    """
    if not count:
        return []
    parts = [part for part, _ in series.split_path(name)]
    alike = next((s for s in scalars if [part for part, _ in series.split_path(s)] == parts), name)
    found: list[str] = []
    for k, (_, subscript) in enumerate(series.split_path(alike)):
        axes = subscript.count(",") + 1 if subscript else 0
        own = ".".join(parts[: k + 1])
        found += [own if axes == 1 and own != name else f"{own}:{axis}" for axis in range(axes)]
    return found if len(found) == count else [f"{name}:{axis}" for axis in range(count)]


def write_csv(
    result: Trajectories,
    path: str | os.PathLike[str],
    names: Names = None,
    *,
    unit: Unit = None,
    window: Window = None,
    time_unit: str | None = None,
    with_units: bool | None = None,
) -> None:
    """Comma-separated values: one line of names beginning with `time`, then one line for each time, numbers in full precision.

    `pandas.read_csv(path, index_col="time")` gives the table back. with_units: name the columns `wall.T [K]`; None: where other
    units than the declared ones were asked for, since nobody could know them otherwise.
    """
    asked = _table(result, names, unit, window, time_unit)
    with_units = bool(asked.units or asked.time_unit != "s") if with_units is None else with_units
    header = [("time", asked.time_unit), *((column.label, asked.unit(column) or "1") for column in asked.columns)]
    labels = [f"{label} [{own}]" if with_units else label for label, own in header]
    table = asked.matrix()
    step = max(1, CHUNK_BYTES // (32 * len(labels)))
    with whole_file(path) as place, open(place, "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(labels)
        for start in range(0, len(table), step):
            times = asked.time[start : start + step, None]
            writer.writerows(np.hstack([times, table[start : start + step]]).tolist())


def write_parquet(
    result: Trajectories,
    path: str | os.PathLike[str],
    names: Names = None,
    *,
    unit: Unit = None,
    window: Window = None,
    time_unit: str | None = None,
) -> None:
    """Parquet: a column `time` and one for each variable.

    Unit and description are in the metadata of each field; `pandas.read_parquet` finds them all in `attrs`, as in `to_pandas`.
    Made for up to some ten thousand variables: a Parquet file repeats its header for every column.
    """
    arrow, parquet = optional_module("pyarrow", "A Parquet file"), optional_module("pyarrow.parquet", "A Parquet file")
    asked = _table(result, names, unit, window, time_unit)
    about = asked.attributes()
    fields = [arrow.field("time", arrow.float64(), metadata={"unit": asked.time_unit, "description": "time"})]
    for column in asked.columns:
        note = {"unit": about["units"][column.label], "description": about["descriptions"].get(column.label, "")}
        fields.append(arrow.field(column.label, arrow.float64(), metadata=note))
    schema = arrow.schema(fields, metadata={"title": result.title, "PANDAS_ATTRS": json.dumps(about)})
    arrays = [arrow.array(np.asarray(values)) for values in (asked.time, *asked.values())]
    with whole_file(path) as place, open(place, "wb") as stream:
        parquet.write_table(arrow.Table.from_arrays(arrays, schema=schema), stream)


def write_hdf5(
    result: Trajectories,
    path: str | os.PathLike[str],
    names: Names = None,
    *,
    unit: Unit = None,
    window: Window = None,
    time_unit: str | None = None,
) -> None:
    """HDF5 with five datasets: `time` (times), `values` (variables, times), `names`, `units`, `descriptions` (variables).

    One variable is one contiguous row, so that reading a few of very many is fast, and a million names are no million datasets:

        with h5py.File(path) as file:
            row = list(file["names"].asstr()).index("wall.T[3]")
            T = file["values"][row]
    """
    h5py = optional_module("h5py", "An HDF5 file")
    asked = _table(result, names, unit, window, time_unit)
    text = h5py.string_dtype("utf-8")
    with whole_file(path, device=False) as place:
        place.open("wb").close()  # what can go wrong with the path is told better here than by the library
        with h5py.File(place, "w") as file:
            file.attrs["title"] = result.title
            file["time"] = asked.time
            file["time"].attrs["unit"] = asked.time_unit
            file.create_dataset("names", data=[column.label for column in asked.columns], dtype=text)
            file.create_dataset("units", data=[asked.unit(column) for column in asked.columns], dtype=text)
            file.create_dataset("descriptions", data=[result.description(c.name) for c in asked.columns], dtype=text)
            _write_rows(file.create_dataset("values", (len(asked.columns), len(asked.time)), dtype="f8"), asked)


def _write_rows(dataset: Any, asked: Table) -> None:
    """A block of variables at a time: row by row would be slow, all at once a copy of everything."""
    times = len(asked.time)
    block = np.empty((max(1, CHUNK_BYTES // (8 * max(1, times))), times))
    start = filled = 0
    for row in asked.values():
        block[filled] = row
        filled += 1
        if filled == len(block):
            dataset[start : start + filled] = block
            start, filled = start + filled, 0
    if filled:
        dataset[start : start + filled] = block[:filled]


def write_mat(result: Trajectories, path: str | os.PathLike[str], names: Names = None, **options: Any) -> None:
    """Dymola's trajectory format; see `acausal.results.mat`. It always has the declared units and all times."""
    from . import mat

    if chosen := [name for name, value in options.items() if value not in (None, "s")]:
        raise UsageError(
            f"A trajectory file (`.mat`) has the declared units and the whole run; `{chosen[0]}` cannot be chosen.",
            remedy=f"leave `{chosen[0]}` out.",
        )
    mat.write_mat(result, path, names)


FORMS: dict[str, Callable[..., None]] = {"csv": write_csv, "parquet": write_parquet, "hdf5": write_hdf5, "mat": write_mat}
ENDINGS = {".csv": "csv", ".parquet": "parquet", ".h5": "hdf5", ".hdf5": "hdf5", ".mat": "mat"}


@checked
def export(
    result: Trajectories,
    path: str | os.PathLike[str],
    *names: Given,
    form: str | None = None,
    unit: Unit = None,
    window: Window = None,
    time_unit: str | None = None,
    units: Unit = None,
) -> None:
    """Write for other programs: `.csv`, `.parquet`, `.h5` or Dymola's `.mat`, chosen by the ending or by `form`.

    The other arguments are those of `to_pandas`. A CSV file says its units in its header (`wall.T [degC]`) where others than the
    declared ones were asked for, and is understood so when it is an input.
    """
    chosen = form or ENDINGS.get(Path(path).suffix.lower())
    if chosen not in FORMS:
        known = ", ".join(f"`{ending}`" for ending in ENDINGS)
        what = f"The form {form!r}" if form else f"The ending of `{path}`"
        raise UsageError(
            f"{what} is not one that can be written.", remedy=f"use one of {known}, or `form=` one of {', '.join(FORMS)}."
        )
    wanted, shown = series.given_names(names), series.either_unit(unit, units)
    FORMS[chosen](result, path, wanted, unit=shown, window=window, time_unit=time_unit)
