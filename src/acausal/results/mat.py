"""Trajectory files of Dymola and OpenModelica (`.mat`), written and read with numpy alone.

A file is a sequence of MATLAB version 4 matrices: a header of five int32 (type, rows, columns, 0, length of the name), the name and
the numbers, column after column. In the form `binTrans` used here they are, for n names, c constants, v columns and k times,

    Aclass       text (4, 11)     "Atrajectory", "1.1", "", "binTrans"
    name         text (·, n)      one name a column, in UTF-8, padded with blanks
    description  text (·, n)      "absolute pressure [Pa]"
    dataInfo     int32 (4, n)     number of the data matrix (0: the time); row in it from 1, negative for a negated alias;
                                  0: interpolate linearly; -1: nothing is known outside the interval
    data_1       float64 (c+1, 2)  what does not change: start and stop time in the first row
    data_2       float64 (v+1, k)  what does: the times in the first row

so that one point of time is contiguous in `data_2`, as in our own buffer, and is written in pieces. Aliases share a row. Names keep
our indices, which count from 0 (`wall.T[0]`).
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, final

import numpy as np
from numpy.typing import NDArray

from ..container import CHUNK_BYTES, FileError, whole_file
from ..errors import NameNotFound, near_matches
from ..records import dataclass
from . import series
from .series import Array, Column, Names, Trajectories
from .store import SavedOutcome
from .viewable import Viewable

_HEADER = struct.Struct("<5i")
_DOUBLE, _INTEGER, _TEXT = 0, 20, 51
_PRECISION = {0: "f8", 1: "f4", 2: "i4", 3: "i2", 4: "u2", 5: "u1"}
_TIME, _CONSTANTS, _VARIABLES = 0, 1, 2
_NAMES_AT_ONCE = 1 << 16

# ---------------------------------------------------------------- writing


def write_mat(result: Trajectories, path: str | os.PathLike[str], names: Names = None) -> None:
    """Write a trajectory file that Dymola, OpenModelica and the tools around them read.

    names: which variables, patterns allowed; None for all. Aliases and parameters cost a name each, named expressions a row.
    """
    wanted = series.columns(result, names)
    table = series.sources(result, wanted)
    info, used, constants, computed = _layout(table)
    with whole_file(path) as place, open(place, "wb") as stream:
        _write(stream, "Aclass", _TEXT, _text_rows(["Atrajectory", "1.1", "", "binTrans"]))
        _write_texts(stream, "name", ["time", *(column.label for column in wanted)])
        _write_texts(stream, "description", ["Time [s]", *_descriptions(result, wanted)])
        _write(stream, "dataInfo", _INTEGER, info)
        _write(stream, "data_1", _DOUBLE, _constant_rows(result, [wanted[k] for k in constants], table.sign[constants]))
        _write_variables(stream, result, used, series.matrix(result, [wanted[k] for k in computed]))


def _layout(table: series.Sources) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """dataInfo; the data columns used; for each distinct constant one name that has it; the names that are computed."""
    column, constant, computed = (np.flatnonzero(table.kind == kind) for kind in range(3))
    used, row_of_column = np.unique(table.index[column], return_inverse=True)
    _, first, row_of_constant = np.unique(table.index[constant], return_index=True, return_inverse=True)
    row = np.empty(len(table.kind), dtype=np.int64)
    row[column], row[constant] = row_of_column, row_of_constant
    row[computed] = len(used) + np.arange(len(computed))
    info = np.empty((len(row) + 1, 4), dtype="<i4")
    info[:] = (_TIME, 1, 0, -1)
    info[1:, 0] = np.where(table.kind == series.KINDS.index(series.CONSTANT), _CONSTANTS, _VARIABLES)
    info[1:, 1] = (row + 2) * np.where(table.kind == series.KINDS.index(series.EXPRESSION), 1, table.sign)
    return info, used, constant[first], computed


def _descriptions(result: Trajectories, wanted: Sequence[Column]) -> Iterator[str]:
    """Text and unit as Dymola writes them; readers take a closing bracket for a unit, so one that is none gets the unit 1."""
    for column in wanted:
        text, unit = result.description(column.name), result.unit(column.name)
        yield f"{text} [{unit or 1}]".strip() if unit or text.endswith("]") else text


def _constant_rows(result: Trajectories, samples: Sequence[Column], signs: NDArray[np.int8]) -> Array:
    rows = np.empty((2, len(samples) + 1))
    rows[:, 0] = (result.time[0], result.time[-1]) if len(result.time) else 0.0
    for k, (sign, value) in enumerate(zip(signs, series.values(result, samples), strict=True), 1):
        rows[:, k] = sign * value[0]
    return rows


def _write_variables(stream: BinaryIO, result: Trajectories, used: NDArray[np.int64], computed: Array) -> None:
    times, width = len(result.time), 1 + len(used) + computed.shape[1]
    _write_header(stream, "data_2", _DOUBLE, width, times)
    every = len(used) == result.data.shape[1]
    step = max(1, CHUNK_BYTES // (8 * width))
    for start in range(0, times, step):
        part = slice(start, min(start + step, times))
        piece = np.empty((part.stop - part.start, width), dtype="<f8")
        piece[:, 0] = result.time[part]
        piece[:, 1 : 1 + len(used)] = result.data[part] if every else result.data[part][:, used]
        piece[:, 1 + len(used) :] = computed[part]
        stream.write(piece.tobytes())


def _write_header(stream: BinaryIO, name: str, kind: int, rows: int, columns: int) -> None:
    stream.write(_HEADER.pack(kind, rows, columns, 0, len(name) + 1) + name.encode() + b"\0")


def _write(stream: BinaryIO, name: str, kind: int, transposed: NDArray[Any]) -> None:
    """A matrix given by its transpose, whose memory is what the file holds."""
    columns, rows = transposed.shape
    _write_header(stream, name, kind, rows, columns)
    stream.write(np.ascontiguousarray(transposed).tobytes())


def _text_rows(texts: Sequence[str]) -> NDArray[np.uint8]:
    """One text a row, column after column: the way of `Aclass` only."""
    return np.ascontiguousarray(_padded([text.encode() for text in texts], max(map(len, texts))).T)


def _padded(texts: Sequence[bytes], width: int) -> NDArray[np.uint8]:
    letters = np.array(texts, dtype=f"S{width}").view(np.uint8).reshape(len(texts), width)
    letters[letters == 0] = ord(" ")
    return letters


def _write_texts(stream: BinaryIO, name: str, texts: Sequence[str]) -> None:
    encoded = [text.encode() for text in texts]
    width = max(1, *map(len, encoded))
    _write_header(stream, name, _TEXT, width, len(encoded))
    for start in range(0, len(encoded), _NAMES_AT_ONCE):
        stream.write(_padded(encoded[start : start + _NAMES_AT_ONCE], width).tobytes())


# ---------------------------------------------------------------- reading


@dataclass(frozen=True, slots=True)
class _Entry:
    block: int
    row: int
    sign: int
    text: str


def read_mat(path: str | os.PathLike[str]) -> MatResult:
    """A trajectory file of Dymola, OpenModelica or this program, to be looked at and plotted like any other result."""
    return MatResult(Path(path))


@final
class MatResult(Viewable):
    """The variables of a trajectory file by name. Names are as the other program wrote them; its array indices may count from 1."""

    def __init__(self, path: Path) -> None:
        self.path = path
        blocks = _matrices(path)
        form = _form(blocks, path)
        oriented = {name: value if form == "binTrans" else value.T for name, value in blocks.items() if name != "Aclass"}
        try:
            names, texts = _texts(oriented["name"]), _texts(oriented["description"])
            info = oriented["dataInfo"].astype(np.int64)
            self._blocks = {int(name[5:]): np.asarray(value) for name, value in oriented.items() if name.startswith("data_")}
            self._main = self._blocks[_VARIABLES]
        except (KeyError, UnicodeDecodeError) as cause:
            raise FileError(f"`{path}` is not a complete trajectory file: {cause} is missing or damaged.") from cause
        places = zip(info[0].tolist(), info[1].tolist(), texts, strict=True)
        self._entries = {
            name: _Entry(block or _VARIABLES, abs(row) - 1, -1 if row < 0 else 1, text)
            for name, (block, row, text) in zip(names, places, strict=True)
        }
        self.time: Array = np.array(self._main[0], dtype=np.float64)
        self.title = path.stem
        self.outcome = SavedOutcome("UNKNOWN", "The file does not say how the run ended.")
        self.statistics: dict[str, Any] = {}
        self.metadata: dict[str, str | float] = {"file": str(path)}

    @property
    def data(self) -> Array:
        """The varying columns (time, column), without the time."""
        return np.asarray(self._main[1:].T, dtype=np.float64)

    def names(self, pattern: str = "*") -> list[str]:
        """Every name, or those that match a pattern (`*` and `?`), without the time."""
        matches = series.pattern_of(pattern).fullmatch
        return [name for name in self._entries if matches(name) and name.lower() != "time"]

    def _entry(self, name: str) -> _Entry:
        found = self._entries.get(name)
        if found is None:
            raise NameNotFound(f"`{name}` is not in `{self.path}`.", remedy=near_matches(name, list(self._entries)[:5000]))
        return found

    def values_of(self, name: str) -> Array:
        """Values at the times of the varying variables; what has other times (parameters: start and stop) is interpolated."""
        if name == "time":
            return self.time
        entry = self._entry(name)
        block = self._blocks[entry.block]
        values = entry.sign * np.asarray(block[entry.row], dtype=np.float64)
        return values if entry.block == _VARIABLES else np.interp(self.time, block[0], values)

    def unit(self, name: str) -> str:
        text = self._entry(name).text
        if not text.endswith("]"):
            return ""
        return text[text.rfind("[") + 1 : -1].split(":#")[0].split("|")[0]

    def description(self, name: str) -> str:
        text = self._entry(name).text
        return text[: text.rfind("[")].rstrip() if text.endswith("]") and "[" in text else text

    def source(self, name: str) -> tuple[str, int, int]:
        """Where the values come from; see `Trajectories`."""
        entry = self._entry(name)
        if entry.block == _VARIABLES:
            return (series.COLUMN, entry.row - 1, entry.sign) if entry.row else (series.EXPRESSION, -1, 1)
        return (series.CONSTANT, entry.row, entry.sign) if entry.block == _CONSTANTS else (series.EXPRESSION, -1, 1)


def _matrices(path: Path) -> dict[str, NDArray[Any]]:
    """Every matrix of a MATLAB 4 file as a view of the file."""
    try:
        letters = np.memmap(path, dtype=np.uint8, mode="r") if path.stat().st_size else np.empty(0, dtype=np.uint8)
    except OSError as cause:
        raise FileError(f"`{path}` cannot be read: {cause.strerror or cause}.") from cause
    found: dict[str, NDArray[Any]] = {}
    position = 0
    while position < len(letters):
        name, matrix, position = _next_matrix(letters, position, path)
        found[name] = matrix
    return found


def _next_matrix(letters: NDArray[np.uint8], position: int, path: Path) -> tuple[str, NDArray[Any], int]:
    wrong = FileError(
        f"`{path}` is not a trajectory file (MATLAB version 4), or it is incomplete: byte {position} makes no sense.",
        remedy="check the file, or simulate again; MATLAB 5 and 7.3 files are something else.",
    )
    if position + _HEADER.size > len(letters):
        raise wrong
    header = letters[position : position + _HEADER.size].tobytes()
    order = "<" if 0 <= struct.unpack("<i", header[:4])[0] < 1000 else ">"
    kind, rows, columns, imaginary, name_length = struct.unpack(f"{order}5i", header)
    precision = _PRECISION.get(kind % 100 // 10)
    if not 0 <= kind < 2000 or precision is None or min(rows, columns) < 0 or imaginary or not 0 < name_length < 64:
        raise wrong
    start = position + _HEADER.size + name_length
    end = start + rows * columns * np.dtype(precision).itemsize
    if end > len(letters):
        raise wrong
    name = letters[position + _HEADER.size : start - 1].tobytes().decode("latin-1")
    matrix = letters[start:end].view(order + precision).reshape(rows, columns, order="F")
    return name, matrix, end


def _form(blocks: dict[str, NDArray[Any]], path: Path) -> str:
    rows = [bytes(row.astype(np.uint8)).decode("latin-1").strip("\0 ") for row in blocks.get("Aclass", np.empty((0, 0)))]
    if len(rows) < 4 or rows[0] != "Atrajectory" or rows[1] != "1.1" or rows[3] not in ("binTrans", "binNormal"):
        raise FileError(
            f"`{path}` is not a trajectory file of version 1.1: its `Aclass` is {rows}.",
            remedy="in Dymola, take the result file of the simulation itself (`dsres.mat`).",
        )
    return rows[3]


def _texts(letters: NDArray[Any]) -> list[str]:
    """One text a column; Dymola and OpenModelica pad with blanks or with zeros."""
    width = letters.shape[0]
    joined = np.ascontiguousarray(letters.T.astype(np.uint8)).tobytes()
    return [joined[k : k + width].rstrip(b"\0 ").decode() for k in range(0, len(joined), width)]
