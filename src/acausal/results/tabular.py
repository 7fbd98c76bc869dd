"""Tables for other programs: pandas, CSV, Parquet and HDF5, and the choice of a format by a file's ending.

Arrays become one column for each element. Values are in the declared units unless `units={"wall.T": "degC"}` says otherwise.
pandas, pyarrow and h5py are imported when they are needed; CSV and `.mat` need neither.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..container import CHUNK_BYTES, whole_file
from ..errors import UsageError
from . import series
from .series import Column, Names, Trajectories

if TYPE_CHECKING:
    import pandas

Units = Mapping[str, str] | None


def optional_module(name: str, purpose: str, remedy: str = "`pip install acausal[export]`.") -> Any:
    """A package that not everyone has, or the command that installs it."""
    try:
        return import_module(name)
    except ImportError as cause:
        raise UsageError(f"{purpose} needs `{name}`, which is not installed.", remedy=remedy) from cause


def to_pandas(result: Trajectories, names: Names = None, *, units: Units = None) -> pandas.DataFrame:
    """A table indexed by time, one column a variable.

    `table.attrs` holds the `title`, and by column the `units` and the `descriptions`.
    """
    frames = optional_module("pandas", "A table")
    wanted = series.columns(result, names)
    index = frames.Index(result.time, name="time")
    table: pandas.DataFrame = frames.DataFrame(
        series.matrix(result, wanted, units), index=index, columns=[c.label for c in wanted], copy=False
    )
    table.attrs.update(_attributes(result, wanted, units))
    return table


def _attributes(result: Trajectories, wanted: Sequence[Column], units: Units) -> dict[str, Any]:
    return {
        "title": result.title,
        "units": {column.label: series.unit_of(result, column, units) for column in wanted},
        "descriptions": {column.label: text for column in wanted if (text := result.description(column.name))},
    }


def write_csv(
    result: Trajectories, path: str | os.PathLike[str], names: Names = None, *, units: Units = None, with_units: bool = False
) -> None:
    """Comma-separated values: one line of names beginning with `time`, then one line for each time, numbers in full precision.

    `pandas.read_csv(path, index_col="time")` gives the table back. with_units: name the columns `wall.T [K]`.
    """
    wanted = series.columns(result, names)
    header = [(column.label, series.unit_of(result, column, units) or "1") for column in wanted]
    labels = [f"{label} [{unit}]" if with_units else label for label, unit in [("time", "s"), *header]]
    table = series.matrix(result, wanted, units)
    step = max(1, CHUNK_BYTES // (32 * len(labels)))
    with whole_file(path) as place, open(place, "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(labels)
        for start in range(0, len(table), step):
            times = result.time[start : start + step, None]
            writer.writerows(np.hstack([times, table[start : start + step]]).tolist())


def write_parquet(result: Trajectories, path: str | os.PathLike[str], names: Names = None, *, units: Units = None) -> None:
    """Parquet: a column `time` and one for each variable.

    Unit and description are in the metadata of each field; `pandas.read_parquet` finds them all in `attrs`, as in `to_pandas`.
    Made for up to some ten thousand variables: a Parquet file repeats its header for every column.
    """
    arrow, parquet = optional_module("pyarrow", "A Parquet file"), optional_module("pyarrow.parquet", "A Parquet file")
    wanted = series.columns(result, names)
    about = _attributes(result, wanted, units)
    fields = [arrow.field("time", arrow.float64(), metadata={"unit": "s", "description": "time"})]
    for column in wanted:
        note = {"unit": about["units"][column.label], "description": about["descriptions"].get(column.label, "")}
        fields.append(arrow.field(column.label, arrow.float64(), metadata=note))
    schema = arrow.schema(fields, metadata={"title": result.title, "PANDAS_ATTRS": json.dumps(about)})
    arrays = [arrow.array(result.time), *(arrow.array(column) for column in series.values(result, wanted, units))]
    with whole_file(path) as place, open(place, "wb") as stream:
        parquet.write_table(arrow.Table.from_arrays(arrays, schema=schema), stream)


def write_hdf5(result: Trajectories, path: str | os.PathLike[str], names: Names = None, *, units: Units = None) -> None:
    """HDF5 with five datasets: `time` (times), `values` (variables, times), `names`, `units`, `descriptions` (variables).

    One variable is one contiguous row, so that reading a few of very many is fast, and a million names are no million datasets:

        with h5py.File(path) as file:
            row = list(file["names"].asstr()).index("wall.T[3]")
            T = file["values"][row]
    """
    h5py = optional_module("h5py", "An HDF5 file")
    wanted = series.columns(result, names)
    text = h5py.string_dtype("utf-8")
    with whole_file(path, device=False) as place:
        place.open("wb").close()  # what can go wrong with the path is told better here than by the library
        with h5py.File(place, "w") as file:
            file.attrs["title"] = result.title
            file["time"] = result.time
            file["time"].attrs["unit"] = "s"
            file.create_dataset("names", data=[column.label for column in wanted], dtype=text)
            file.create_dataset("units", data=[series.unit_of(result, column, units) for column in wanted], dtype=text)
            file.create_dataset("descriptions", data=[result.description(column.name) for column in wanted], dtype=text)
            _write_rows(file.create_dataset("values", (len(wanted), len(result.time)), dtype="f8"), result, wanted, units)


def _write_rows(dataset: Any, result: Trajectories, wanted: Sequence[Column], units: Units) -> None:
    """A block of variables at a time: row by row would be slow, all at once a copy of everything."""
    times = len(result.time)
    block = np.empty((max(1, CHUNK_BYTES // (8 * max(1, times))), times))
    start = filled = 0
    for row in series.values(result, wanted, units):
        block[filled] = row
        filled += 1
        if filled == len(block):
            dataset[start : start + filled] = block
            start, filled = start + filled, 0
    if filled:
        dataset[start : start + filled] = block[:filled]


def write_mat(result: Trajectories, path: str | os.PathLike[str], names: Names = None, *, units: Units = None) -> None:
    """Dymola's trajectory format; see `acausal.results.mat`. It always has the declared units."""
    from . import mat

    if units:
        raise UsageError(
            "A trajectory file (`.mat`) has the declared units; `units` cannot be chosen.", remedy="leave `units` out."
        )
    mat.write_mat(result, path, names)


FORMS: dict[str, Callable[..., None]] = {"csv": write_csv, "parquet": write_parquet, "hdf5": write_hdf5, "mat": write_mat}
ENDINGS = {".csv": "csv", ".parquet": "parquet", ".h5": "hdf5", ".hdf5": "hdf5", ".mat": "mat"}


def export(
    result: Trajectories, path: str | os.PathLike[str], names: Names = None, *, form: str | None = None, units: Units = None
) -> None:
    """Write a file for other programs; the format is given by the file's ending, or by `form`."""
    chosen = form or ENDINGS.get(Path(path).suffix.lower())
    if chosen not in FORMS:
        known = ", ".join(f"`{ending}`" for ending in ENDINGS)
        what = f"The form {form!r}" if form else f"The ending of `{path}`"
        raise UsageError(
            f"{what} is not one that can be written.", remedy=f"use one of {known}, or `form=` one of {', '.join(FORMS)}."
        )
    FORMS[chosen](result, path, names, units=units)
