"""Columns of numbers in a file: CSV as people and programs write it, Parquet and Excel by way of pandas.

*What is read is right, or refused.* A file says itself what its numbers mean, so far as it can, and nothing it says is ignored:

- The header is found, or there is none. `T [degC]`, `T (degC)` and a second row of units give a column its unit.
- Cells are separated by semicolons, tabs, bars, commas or blanks. A comma within a number is a decimal comma, where commas do not
  separate. Rows have as many cells as the header: a row that has more is not cut.
- The time is in the column that is called `time`, `t`, `hour`, `date` or the like, wherever it stands; otherwise in the first.
  Dates become seconds since the first of them; with a time zone or an offset they are what the sun says, across summer and winter.
- A unit at the end of a name, `T_degC`, is read where it can be nothing else (`suffixes.py`).
- UTF-8, UTF-16 with its mark, and what Windows writes (cp1252) are read.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import durations, unmasked
from ..errors import UsageError, near_matches
from ..records import dataclass
from .suffixes import as_temperature, clock_at_end, in_unit_of_suffix, is_same, spelled, suffix_for
from .units import convert, dimension, respelled, to_si

Floats = NDArray[np.float64]

FILES = (".csv", ".txt", ".tsv", ".dat", ".parquet", ".xlsx", ".xls", ".ods")
SEPARATORS = (";", "\t", "|", ",")
TIMES = ("time", "times", "zeit", "date", "datetime", "timestamp", "date/time")
CLOCKS = {
    "s": ("second", "seconds", "sec", "sekunde", "sekunden"),
    "min": ("minute", "minutes", "min", "minuten"),
    "h": ("hour", "hours", "stunde", "stunden"),
    "day": ("day", "days", "tag", "tage"),
}
LONE = {
    "ms": ("ms",),
    "h": ("h", "hr", "hrs"),
    "day": ("d",),
    "year": ("year", "years"),
}  # of a column that is known to be the time
Over = tuple[str, str]  # what a model is integrated over: its name and its unit
SECONDS: Over = ("time", "s")
_MISSING = ("", "nan", "na", "n/a", "null", "none", "-")
_UNIT = re.compile(r"^(?P<name>.*?)(?:\s*\[(?P<square>[^\[\]]*)\]|\s+\((?P<round>[^()]*)\))\s*$")
_QUOTIENT = re.compile(r"^(?P<name>[^\s/](?:[^/]*[^\s/])?)(?P<gap>\s*)/(?P<unit>.+)$")
_NUMERAL = re.compile(r"\s*[+-]?[.,]?\d")
_DATE = re.compile(
    r"(\d{1,4})([-./])(\d{1,2})\2(\d{1,4})(?:[T ]+(\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?)\s*(Z|UTC|[+-]\d{2}:?\d{2})?)?"
)


class ColumnError(UsageError):
    """A file whose numbers cannot be read, or could be read in two ways."""


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One column: what its header calls it, its unit if it says one, and its numbers; of dates, seconds since the first."""

    title: str
    name: str
    unit: str
    values: Floats
    dates: bool = False
    problem: str = ""  # why these are no numbers; said when somebody wants them, since a file may have texts besides
    wrong: str = ""  # the same, of a cell that is not merely empty

    def numbers(self) -> Floats:
        if self.problem:
            raise ColumnError(self.problem, remedy="Correct the file there, or remove the row.")
        return self.values

    def with_gaps(self) -> Column:
        """The same for somebody who takes an empty cell for a gap: not a number."""
        return replace(self, problem=self.wrong)

    def in_unit(self, unit: str, path: str, said: str = "", called: str = "") -> Floats:
        """The numbers in another unit; without a unit of their own they are in the one that was `said`, or in it already. `called`:
        the path of what they are for."""
        if self.unit and said and not is_same(said, self.unit):
            raise ColumnError(
                f"The column `{self.title}` of `{path}` is in {self.unit}, and is said to be in {said}.",
                remedy="Leave out `unit=…`: a file is believed. Or correct its header.",
            )
        own = self.unit or respelled(said)
        if not own:
            return np.asarray(in_unit_of_suffix(self.numbers(), self.title, unit, f"`{path}`", called), dtype=float)
        try:
            return np.asarray(convert(self.numbers(), own, respelled(unit)), dtype=float)
        except ColumnError:
            raise
        except UsageError as error:
            wanted = f"in {unit}" if unit else "without a unit"
            degrees = as_temperature(own, unit)
            remedy = f"Write `[{degrees}]` for {degrees[3:]} degrees. " if degrees else ""
            raise ColumnError(
                f"The column `{self.title}` of `{path}` is needed {wanted}. {error.diagnostics[0].what}",
                remedy=f"{remedy}Choose another column, or declare the unit of what it is for.",
            ) from None

    def in_si(self) -> Floats:
        """The numbers in SI base units, as far as the header says what they are."""
        return np.asarray(to_si(self.numbers(), self.unit), dtype=float)


class Columns:
    """All columns of a file."""

    def __init__(self, path: str, columns: Sequence[Column], taken: Sequence[Column] = ()) -> None:
        self.path, self.columns, self._taken = path, list(columns), tuple(taken)

    def apart(self, taken: Sequence[Column]) -> Columns:
        """The same; `taken` are known to be something else than the time, whatever they are called."""
        return Columns(self.path, self.columns, taken)

    @property
    def titles(self) -> list[str]:
        return [column.title for column in self.columns]

    def find(self, which: str | int, unit: str = "") -> Column:
        """By number, by the header as it stands, by the name in it, or by that without the unit at its end: one that the `unit` of
        what it is for can be computed from."""
        if isinstance(which, int) and -len(self.columns) <= which < len(self.columns):
            return self.columns[which]
        for attribute in ("title", "name"):
            found = [column for column in self.columns if getattr(column, attribute) == which]
            if len(found) > 1:
                raise ColumnError(
                    f"`{self.path}` has {len(found)} columns called `{which}`.", remedy="Rename them, or give a number."
                )
            if found:
                return found[0]
        ends = [c for c in self.columns if (end := suffix_for(c.title, unit)) and end.sure and end.name == which and not c.unit]
        if len(ends) == 1:
            return ends[0]
        listed = ", ".join(f"`{title}`" for title in self.titles)
        near = near_matches(str(which), dict.fromkeys([*self.titles, *(c.name for c in self.columns)]))
        raise ColumnError(f"`{self.path}` has no column `{which}`; it has {listed}.", remedy=near)

    def _called_time(self, over: Over = SECONDS) -> list[Column]:
        name, unit = over
        free = [c for c in self.columns if not any(c is taken for taken in self._taken)]
        own = [c for c in free if c.name == name or c.name.casefold() in (unit, f"{unit}s")] if over != SECONDS else []
        if own:
            return own
        by_name = [c for c in free if c.name.casefold() in TIMES or c.dates]
        by_name = by_name or [c for c in free if not c.unit and clock_at_end(c.title, TIMES)]
        short = [c for c in free if c.name == "t"]  # `T` is a temperature
        return by_name or short or [c for c in free if any(c.name.casefold() in names for names in CLOCKS.values())]

    def has_time(self, over: Over = SECONDS) -> bool:
        """Whether a column is called the time, or holds dates."""
        return bool(self._called_time(over))

    def time(self, over: Over = SECONDS) -> Column:
        """The column of times: the one that is called so (or as what the model is integrated over), or holds dates; otherwise the
        first."""
        called = self._called_time(over)
        if len(called) > 1:
            listed = ", ".join(f"`{c.title}`" for c in called)
            raise ColumnError(f"`{self.path}` has several columns that could be the time: {listed}.", remedy="Keep one of them.")
        return called[0] if called else self.columns[0]

    def values_of(self, which: str | int, over: Over = SECONDS, unit: str = "") -> Column:
        """The column that is wanted, in that unit; not the one that is taken for the time because none is called so."""
        column = self.find(which, unit)
        if column is self.time(over) and not self.has_time(over) and len(self.columns) > 1:
            raise ColumnError(
                f"The column `{column.title}` of `{self.path}` is the first, which is taken for the time: no column is called so.",
                remedy=f"Call the column of times `{over[0]}`, for instance `{over[0]} [{'h' if over == SECONDS else over[1]}]`.",
            )
        return column

    def times(self, over: Over = SECONDS, unit: str = "") -> Floats:
        """The times in the unit of what the model is integrated over; `unit`: what they are in where the file does not say it."""
        column = self.time(over)
        clocks = [*CLOCKS.items(), *(LONE.items() if over == SECONDS else ())]
        called = next((clock for clock, names in clocks if column.name.casefold() in names), "")
        said = "s" if column.dates else column.unit or called or clock_at_end(column.title, TIMES) or unit
        if not said or said == over[1]:
            return column.numbers()
        if dimension(said) != dimension(over[1]):
            what = "the time" if over == SECONDS else f"`{over[0]}`, over which the model is integrated in {over[1]}"
            raise ColumnError(
                f"The column `{column.title}` of `{self.path}` is taken for {what}, but it "
                + ("holds dates." if column.dates else f"is in {said}."),
                remedy=f"Call the column of times `{over[0]}`, for instance `{over[0]} [{'h' if over == SECONDS else over[1]}]`.",
            )
        return np.asarray(convert(column.numbers(), said, over[1]), dtype=float)

    def data(self, over: Over = SECONDS) -> list[Column]:
        """What is not the time."""
        time = self.time(over)
        return [column for column in self.columns if column is not time]


def titled(title: str, place: str) -> tuple[str, str]:
    """The name and the unit that a header says: `T_out [degC]`; `x[3]` is an element, not a unit.

    >>> titled("T_out [degC]", "a file"), titled("wall.T[3]", "a file"), titled("flow (m3/h)", "a file")
    (('T_out', 'degC'), ('wall.T[3]', ''), ('flow', 'm^3/h'))
    """
    text = title.strip()
    match = _UNIT.match(text)
    if match is None:
        return _divided(text)
    square = match["square"] is not None
    given = (match["square"] if square else match["round"]).strip()
    if not given:
        return match["name"].strip(), ""
    if re.fullmatch(r"[\d\s,:]+", given) and not (given == "1" and text.endswith(" [1]")):
        return text, ""
    try:
        unit = respelled(spelled(given))
        dimension(unit)
    except UsageError as error:
        if not square:  # `T (outside)` is a name
            return text, ""
        raise ColumnError(
            f"The header `{text}` of {place} says a unit that cannot be read. {error.diagnostics[0].what}",
            remedy=error.diagnostics[0].remedy or "Write it as `name [unit]` with a unit such as `degC` or `kg/s`.",
        ) from None
    return match["name"].strip(), unit


def _divided(text: str) -> tuple[str, str]:
    """`T / degC`, as ISO 80000 writes it, and `t/s` of a time; whatever else has a stroke in it is a name (`Q/A`)."""
    match = _QUOTIENT.match(text)
    if match is None or not (match["gap"] or match["name"].lower() in ("t", *TIMES)):
        return text, ""
    try:
        unit = respelled(match["unit"].strip())
        dimension(unit)
    except UsageError:
        return text, ""
    return match["name"], unit


# --- files ----------------------------------------------------------------------------------------------------------------


def read(path: str | os.PathLike[str]) -> Columns:
    """All columns of a file, by its ending: `.parquet`, `.xlsx` and `.xls` through pandas, everything else as separated text."""
    name = os.fspath(path)
    ending = Path(name).suffix.lower()
    if ending in (".parquet", ".xlsx", ".xls", ".ods"):
        return _through_pandas(name, ending)
    try:
        data = Path(name).read_bytes()
    except OSError as error:
        raise ColumnError(f"`{name}` cannot be read: {error.strerror or error}.") from None
    return _separated(_decoded(data, name), name)


def of_mapping(given: Mapping[Any, Any], path: str) -> Columns:
    """Columns by name, as a dictionary has them."""
    found = []
    for title, numbers in given.items():
        name, unit = titled(str(title), path)
        passed = durations(numbers)
        values = np.asarray(unmasked(numbers), dtype=float) if passed is None else passed
        found.append(Column(str(title), name, unit if passed is None else "s", values))
    return Columns(path, found)


def _through_pandas(path: str, ending: str) -> Columns:
    try:
        import pandas
    except ImportError:
        raise ColumnError(f"`{path}` is read with pandas, which is not installed.", remedy="`pip install pandas`.") from None
    try:
        frame = pandas.read_parquet(path) if ending == ".parquet" else _headed(pandas, path)
    except ColumnError:
        raise
    except ImportError as error:
        raise ColumnError(f"`{path}` cannot be read: {error}", remedy="Install what pandas asks for, or save it as CSV.") from None
    except Exception as error:  # whatever pandas and its engines raise
        raise ColumnError(f"`{path}` cannot be read: {type(error).__name__}: {error}.") from None
    return of_frame(frame, path)


def _headed(pandas: Any, path: str) -> Any:
    name, frame = sheet_of(pandas, path)
    if all(_is_value(str(label)) for label in frame.columns):  # a sheet without a header
        frame = pandas.read_excel(path, sheet_name=name, header=None)
        frame.columns = _untitled(frame.shape[1])
    return frame


def sheet_of(pandas: Any, path: str | os.PathLike[str]) -> tuple[str, Any]:
    """The sheet of a workbook that has numbers or dates, and its name. Notes beside it do no harm."""
    sheets = pandas.read_excel(path, sheet_name=None)
    if not sheets:
        raise ColumnError(f"`{path}` has no sheet with cells.")
    filled = [name for name, sheet in sheets.items() if _has_numbers(sheet)] or list(sheets)[:1]
    if len(filled) > 1:
        listed = ", ".join(f"`{name}`" for name in filled)
        raise ColumnError(
            f"`{path}` has {len(filled)} sheets with numbers, {listed}: which one is meant cannot be told.",
            remedy="Save the sheet that is meant in a file of its own.",
        )
    return filled[0], sheets[filled[0]]


def _has_numbers(sheet: Any) -> bool:
    """Whether there are columns of numbers or dates, or all are texts that begin as numbers do: `0,5`, `2 W/K`."""
    filled = sheet.dropna(axis=1, how="all")
    if filled.select_dtypes(["number", "datetime"]).size:
        return True
    last = [filled.iloc[:, k].dropna().iloc[-1] for k in range(filled.shape[1])]
    return bool(last) and all(not isinstance(cell, str) or _NUMERAL.match(cell) for cell in last)


def of_frame(frame: Any, path: str = "the table", over: Over = SECONDS) -> Columns:
    """The columns of a pandas DataFrame; an index that has a name, or holds dates, is one of them, unless a column is the time."""
    for axis, what in ((frame.index, "an index"), (frame.columns, "a header")):
        if getattr(axis, "nlevels", 1) > 1:
            raise ColumnError(
                f"`{path}` is a DataFrame with {what} of {axis.nlevels} levels: which of them means what cannot be told.",
                remedy="Give one run, `frame.loc[…]`, with one column for each variable and one that is called `time`.",
            )
    noted = dict(getattr(frame, "attrs", {}).get("units", {}))
    labels = list(enumerate(frame.columns))
    found = Columns(path, [_of_series(frame.iloc[:, k], str(label), noted.get(label, ""), path) for k, label in labels])
    index, dated = frame.index, hasattr(frame.index, "tz_localize") or hasattr(frame.index, "total_seconds")
    if index.name is None and not dated:
        return found
    own = _of_series(index.to_series(), str(index.name or over[0]), noted.get(index.name, ""), path)
    numbered = not dated and found.has_time(over) and not Columns(path, [own]).has_time(over)  # rows have a number or a name
    if numbered or any(c.name in (own.name, over[0]) or c.name.casefold() == "time" for c in found.columns):
        return found
    return Columns(path, [own, *found.columns])


def _of_series(series: Any, title: str, noted: str, path: str) -> Column:
    name, unit = titled(title, f"`{path}`")
    if hasattr(series, "dt") and hasattr(series.dt, "total_seconds"):
        return Column(title, name, "s", np.asarray(series.dt.total_seconds(), dtype=float))
    if hasattr(series, "dt"):
        return Column(title, name, "", np.asarray((series - series.iloc[0]).dt.total_seconds(), dtype=float), dates=True)
    try:
        values = np.asarray(series.to_numpy(), dtype=float)
    except (TypeError, ValueError):
        cells = [(k, str(cell)) for k, cell in enumerate(series, 1)]
        return _column(title, cells, ".", f"`{path}`", "row")
    return Column(title, name, unit or noted, values)


def _decoded(data: bytes, path: str) -> str:
    for mark, encoding in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if data.startswith(mark):
            return _decode(data, encoding, path)
    if b"\x00" in data[:4096]:
        raise ColumnError(
            f"`{path}` is not a text file that can be read: it contains zero bytes.", remedy="Save it as CSV in UTF-8."
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return _decode(data, "cp1252", path)


def _decode(data: bytes, encoding: str, path: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise ColumnError(f"`{path}` is not text in UTF-8: {error.reason}.", remedy="Save it as CSV in UTF-8.") from None


# --- separated text ---------------------------------------------------------------------------------------------------------

Rows = list[tuple[int, list[str]]]  # the line in the file, and its cells


def _separated(text: str, path: str) -> Columns:
    lines = [(k, line) for k, line in enumerate(text.splitlines(), 1) if line.strip() and not line.lstrip().startswith("#")]
    forced = None
    if lines and lines[0][1].strip().lower().startswith("sep=") and len(lines[0][1].strip()) == 5:  # Excel's own hint
        forced, lines = lines[0][1].strip()[4], lines[1:]
    if not lines:
        raise ColumnError(f"`{path}` is empty.", remedy="It needs two columns: time and values.")
    separator, rows = _split(lines, forced, path)
    header, units, rows = _header(rows, path)
    _cut_empty_end(header, rows)
    _check_lengths(header, rows, separator, path)
    if not rows:
        raise ColumnError(f"`{path}` has a header and no row of numbers.")
    decimal = _decimal_mark(rows, separator, path)
    columns = []
    for number, title in enumerate(header):
        column = _column(title, [(line, cells[number]) for line, cells in rows], decimal, f"`{path}`", "line")
        if units[number] and not column.unit:
            column = replace(column, unit="" if column.dates else units[number])
        columns.append(column)
    return Columns(path, columns)


def _split(lines: list[tuple[int, str]], forced: str | None, path: str) -> tuple[str, Rows]:
    """The separator that cuts the lines into cells, strong ones first: a comma may be part of a number, a blank of a name."""
    found = [s for s in SEPARATORS if s in lines[0][1] and s in lines[-1][1]] or [s for s in SEPARATORS if s in lines[0][1]]
    for separator in [forced] if forced else found:
        return separator, [
            (k, [c.strip() for c in next(csv.reader([line], delimiter=separator, skipinitialspace=True))]) for k, line in lines
        ]
    rows = [(k, line.split()) for k, line in lines]
    if len(rows[-1][1]) > 1:
        return " ", rows
    raise ColumnError(
        f"`{path}` has a single column.", remedy="It needs a column of times and one of values, separated by commas or semicolons."
    )


def _header(rows: Rows, path: str) -> tuple[list[str], list[str], Rows]:
    """Titles of the columns, units of a second row, and the rows of numbers."""
    first = rows[0][1]
    if all(map(_is_value, first)):
        return _untitled(len(first)), [""] * len(first), rows
    second = rows[1][1] if len(rows) > 1 else []
    if len(second) == len(first) and not any(map(_is_value, second)) and any(second):
        units = [_unit_of_row(cell, rows[1][0], path) for cell in second]
        return first, units, rows[2:]
    return first, [""] * len(first), rows[1:]


def _untitled(count: int) -> list[str]:
    return [f"column {k + 1}" for k in range(count)]


def _unit_of_row(cell: str, line: int, path: str) -> str:
    text = cell.strip("[]() ")
    if text.casefold() in ("", "-"):
        return "1" if text else ""
    try:
        unit = respelled(spelled(text))
        dimension(unit)
    except UsageError:
        raise ColumnError(
            f"`{path}`, line {line}: expected numbers or units under the header, got {cell!r}.",
            remedy="Save it as CSV in UTF-8, with a header in the first line and numbers in the others.",
        ) from None
    return unit


def _cut_empty_end(header: list[str], rows: Rows) -> None:
    """Columns at the end without a title and without a value are none: every line of such a file ends with a separator."""
    while header and not header[-1] and not any(cell for _, cells in rows for cell in cells[len(header) - 1 :]):
        header.pop()
        for _, cells in rows:
            del cells[len(header) :]


def _check_lengths(header: list[str], rows: Rows, separator: str, path: str) -> None:
    for _, cells in rows:
        if len(cells) == len(header) + 1 and not cells[-1]:
            cells.pop()  # a separator at the end of the line
    wrong = next(((line, cells) for line, cells in rows if len(cells) != len(header)), None)
    if wrong is None:
        return
    line, cells = wrong
    remedy = "Every row has one cell for each column."
    if separator == "," and len(cells) > len(header):
        remedy = "Are these decimal commas? Then the cells have to be separated by semicolons: save the file as `0,5;1,5`."
    raise ColumnError(
        f"`{path}`, line {line}: {len(cells)} cells where {len(header)} columns are ({', '.join(header)}).", remedy=remedy
    )


def _decimal_mark(rows: Rows, separator: str, path: str) -> str:
    """The decimal comma or point of a file; numbers with both, or some with one and some with the other, are not guessed."""
    if separator == ",":
        return "."
    numbers = [(line, cell) for line, cells in rows for cell in cells if re.fullmatch(r"[+-]?[\d.,]+(?:[eE][+-]?\d+)?", cell)]
    comma = next(((line, cell) for line, cell in numbers if "," in cell), None)
    point = next(((line, cell) for line, cell in numbers if "." in cell), None)
    if comma is None:
        return "."
    if point is not None or comma[1].count(",") > 1:
        both = f"{comma[1]!r} in line {comma[0]}" + (f" and {point[1]!r} in line {point[0]}" if point and point != comma else "")
        raise ColumnError(
            f"`{path}`: it cannot be told whether a comma or a point is the decimal mark: {both}.",
            remedy="Save it with one decimal mark and without separators of thousands.",
        )
    return ","


def _column(title: str, cells: list[tuple[int, str]], decimal: str, place: str, what: str) -> Column:
    name, unit = titled(title, place)
    if all(_DATE.fullmatch(cell) for _, cell in cells):
        seconds, problem = _seconds_of_dates(cells, f"{place}, column `{title}`", what)
        return Column(title, name, "", seconds, dates=True, problem=problem, wrong=problem)
    values, problem, wrong = np.full(len(cells), np.nan), "", ""
    for k, (line, cell) in enumerate(cells):
        text = cell.replace(",", ".") if decimal == "," else cell
        if _is_number(text) and np.isfinite(float(text)):
            values[k] = float(text)
        elif not wrong:
            missing = cell.casefold() in _MISSING
            expected = "there is no value" if missing else f"expected a number, got {cell!r}"
            here = f"{place}, {what} {line}, column `{title}`: {expected}."
            problem, wrong = problem or here, "" if missing else here
    return Column(title, name, unit, values, problem=problem, wrong=wrong)


def _is_value(cell: str) -> bool:
    """Whether a cell is not part of a header: a number, perhaps with a decimal comma, or a date."""
    return bool(_is_number(cell.replace(",", ".")) or _DATE.fullmatch(cell))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


# --- dates ------------------------------------------------------------------------------------------------------------------


def _seconds_of_dates(cells: list[tuple[int, str]], place: str, what: str) -> tuple[Floats, str]:
    """Seconds since the first date, or why there are none."""
    parts = [_DATE.fullmatch(cell) for _, cell in cells]
    order = _order_of_dates([m for m in parts if m is not None])
    if order is None:
        return np.zeros(len(cells)), f"{place}: {cells[0][1]!r} may be read in two ways; write dates as 2024-12-31."
    found = []
    for (line, cell), match in zip(cells, parts, strict=True):
        try:
            assert match is not None
            found.append(_moment(match, order))
        except ValueError as error:
            return np.zeros(len(cells)), f"{place}, {what} {line}: {cell!r} is not a date: {error}."
    if len({moment.tzinfo is None for moment in found}) > 1:
        return np.zeros(len(cells)), f"{place}: some dates have a time zone and some have none."
    return np.array([(moment - found[0]).total_seconds() for moment in found]), ""


def _order_of_dates(dates: Sequence[re.Match[str]]) -> str | None:
    """Where year, month and day stand; None where 01/02/2024 could be in January or in February."""
    if all(len(m[1]) == 4 for m in dates):
        return "ymd"
    if any(len(m[4]) != 4 for m in dates):
        return None
    if all(m[2] == "." for m in dates) or any(int(m[1]) > 12 for m in dates):
        return "dmy"
    return "mdy" if any(int(m[3]) > 12 for m in dates) else None


def _moment(match: re.Match[str], order: str) -> datetime:
    numbers = dict(zip(order, (int(match[1]), int(match[3]), int(match[4])), strict=True))
    clock, zone = (match[5] or "00:00").replace(",", "."), match[6]
    hour, minute, *seconds = clock.split(":")
    second = float(seconds[0]) if seconds else 0.0
    moment = datetime(
        numbers["y"], numbers["m"], numbers["d"], int(hour), int(minute), int(second), round(second % 1 * 1e6) % 1_000_000
    )
    if zone is None:
        return moment
    if zone in ("Z", "UTC"):
        return moment.replace(tzinfo=UTC)
    return datetime.strptime(f"{moment:%Y-%m-%d %H:%M:%S.%f} {zone.replace(':', '')}", "%Y-%m-%d %H:%M:%S.%f %z")
