"""Cases of a study: what is changed in each run. A table whose columns are paths of parameters, start values or inputs.

Cases come from a grid, one parameter at a time, random draws, a list, a table in memory or a file. Values may be texts with
units; they are checked against the model before the first run.
"""

from __future__ import annotations

import csv
import itertools
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..arguments import checked
from ..errors import UsageError
from ..language.columns import sheet_of
from ..language.distributions import Distribution
from .sampling import Correlation, correlation_matrix, shares

_UNIT = re.compile(r"^(.*?)\s*\[([^\[\]]*)\]\s*$")
_NAMES = ("case", "name")  # headings of a column that names the cases


@dataclass(frozen=True, eq=False)
class Cases:
    """`columns[path][k]` is the value of `path` in case k; `names[k]` is what the case is called."""

    columns: Mapping[str, Sequence[Any]]
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        lengths = {path: len(values) for path, values in self.columns.items()}
        if any(n != len(self.names) for n in lengths.values()):
            sizes = ", ".join(f"{path}: {n}" for path, n in lengths.items())
            raise UsageError(f"All columns of the cases must be as long as there are cases ({len(self.names)}); got {sizes}.")
        doubled = [name for name, count in _counts(self.names).items() if count > 1]
        if doubled:
            raise UsageError(f"Two cases are called `{doubled[0]}`.", remedy="Give every case a name of its own, or none at all.")

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, k: int) -> dict[str, Any]:
        return {path: values[k] for path, values in self.columns.items() if not _is_empty(values[k])}

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self[k] for k in range(len(self)))

    def __add__(self, other: Cases) -> Cases:
        """These cases, then those; what only one of them changes is empty (as the model has it) in the other."""
        paths = list(dict.fromkeys([*self.columns, *other.columns]))
        columns = {p: [*self.columns.get(p, [None] * len(self)), *other.columns.get(p, [None] * len(other))] for p in paths}
        return Cases(columns, (*self.names, *other.names))

    def __repr__(self) -> str:
        return f"<Cases: {len(self)} of {', '.join(self.columns) or 'nothing changed'}>"


@checked
def grid(values: Mapping[str, Iterable[Any]]) -> Cases:
    """Every combination of the values given.

    >>> len(grid({"wall.G": [1.0, 2.0, 3.0], "room.C": [1e5, 2e5]}))
    6
    """
    columns = {path: list(given) for path, given in _checked(values).items()}
    rows = list(itertools.product(*columns.values()))
    return _numbered({path: [row[k] for row in rows] for k, path in enumerate(columns)}, len(rows))


@checked
def one_at_a_time(values: Mapping[str, Iterable[Any]]) -> Cases:
    """The model as it is, then each parameter by itself, the others as the model has them.

    >>> [dict(case) for case in one_at_a_time({"a": [1, 2], "b": [3]})]
    [{}, {'a': 1}, {'a': 2}, {'b': 3}]
    """
    rows: list[tuple[str, Any]] = [(path, value) for path, given in _checked(values).items() for value in given]
    columns = {path: [None, *(v if p == path else None for p, v in rows)] for path in values}
    return Cases(columns, ("base", *(f"{path} = {_text(value)}" for path, value in rows)))


@checked
def draws(
    distributions: Mapping[str, Distribution] | int,
    count: int | None = None,
    *,
    method: str = "latin",
    seed: int = 0,
    correlation: Correlation | None = None,
) -> Draws:
    """`count` random cases; the same seed gives the same cases. `ac.draws(200)` draws all parameters that declare a distribution.

    method: "random", "latin" (a Latin hypercube) or "sobol". correlation: of pairs, `{("wall.G", "room.C"): 0.8}`, or a matrix over
    the parameters in their order.

    >>> from acausal.language.distributions import uniform
    >>> len(draws({"wall.G": uniform(1.0, 2.0)}, 100))
    100
    """
    if count is None and not isinstance(distributions, Mapping):
        return draws({}, distributions, method=method, seed=seed, correlation=correlation)
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        raise UsageError(f"`count` is how many cases are drawn: a whole number of at least 1, got {count!r}.")
    if not isinstance(distributions, Mapping):
        raise UsageError(f"Distributions by path were expected, got {distributions!r}.", remedy='{"wall.G": ac.uniform(1.0, 2.0)}')
    wrong = [p for p, d in distributions.items() if not isinstance(d, Distribution)]
    if wrong:
        raise UsageError(f"`{wrong[0]}` has no distribution.", remedy="Give one: ac.uniform(1.0, 2.0), ac.normal(20.0, 0.5), …")
    found = Draws(dict(distributions), int(count), method, seed, correlation)
    if distributions:
        found.shares(list(distributions))  # to be told at once what cannot be
    return found


@dataclass(frozen=True, eq=False)
class Draws:
    """Random cases whose distributions may still speak in units, or are the model's own: they become numbers when it is known."""

    distributions: dict[str, Distribution]
    count: int
    method: str
    seed: int
    correlation: Correlation | None = None

    def __len__(self) -> int:
        return self.count

    def shares(self, paths: Sequence[str]) -> np.ndarray:
        matrix = None if self.correlation is None else correlation_matrix(self.correlation, paths)
        return shares(self.count, len(paths), self.method, self.seed, matrix)

    def cases(self, unit_of: Any, declared: Mapping[str, Distribution] | None = None) -> Cases:
        """The cases, with numbers in the units of the model's parameters."""
        given = self.distributions or declared
        if not given:
            raise UsageError(
                "No parameter of the model declares a distribution, so there is nothing to draw.",
                remedy='`ac.draws({"wall.G": ac.uniform(1.0, 2.0)}, 100)`, or `G = ac.Parameter(…, distribution=ac.uniform(…))`.',
            )
        points = self.shares(list(given))
        columns = {
            path: d.in_unit(unit_of(path) if d.kind != "choice" else "").at(points[:, k]).tolist()
            for k, (path, d) in enumerate(given.items())
        }
        return _numbered(columns, len(self))


def cases_of(given: Any, unit_of: Any, declared: Mapping[str, Distribution] | None = None) -> Cases:
    """Cases from whatever a user gives: see `study`. `declared` are the distributions that the model's parameters declare."""
    if isinstance(given, Draws):
        return given.cases(unit_of, declared)
    if isinstance(given, Cases):
        return given
    if isinstance(given, str | os.PathLike):
        return read_cases(given)
    if hasattr(given, "columns") and hasattr(given, "to_dict"):  # a pandas frame
        return _of_frame(given)
    if isinstance(given, Mapping):
        if any(isinstance(v, Distribution) for v in given.values()):
            raise UsageError("How many cases shall be drawn?", remedy="cases=ac.draws({…}, 100)")
        columns = {path: list(values) for path, values in _checked(given).items()}
        return _numbered(columns, max((len(c) for c in columns.values()), default=0))
    rows = list(given) if isinstance(given, Iterable) else [given]
    wrong = [row for row in rows if not isinstance(row, Mapping)]
    if wrong or not rows:
        raise UsageError(
            f"Cases are changes by name, got {given!r}.",
            remedy='[{"wall.G": 1.0}, {"wall.G": 2.0}], {"wall.G": [1.0, 2.0]}, ac.grid(…), ac.draws(…), a frame or a file.',
        )
    paths = list(dict.fromkeys(path for row in rows for path in row))
    return _named({path: [row.get(path) for row in rows] for path in paths}, len(rows))


def columns_in(given: Any) -> list[str]:
    """What is changed in the cases of a plan."""
    if isinstance(given, Draws):
        return list(given.distributions)
    return list(cases_of(given, None).columns)


def read_cases(file: str | os.PathLike[str]) -> Cases:
    """Cases from a CSV or Excel file: a heading of paths, perhaps with units (`wall.G [W/K]`), and a row for each case."""
    path = Path(file)
    if not path.is_file():
        raise UsageError(f"There is no file `{file}`.")
    if path.suffix.lower() in (".xlsx", ".xls"):
        try:
            import pandas
        except ImportError:
            raise UsageError(f"`{file}` is an Excel file; pandas and openpyxl are needed to read it.") from None
        return _of_frame(sheet_of(pandas, path)[1])
    text = path.read_bytes().decode("utf-8-sig", errors="replace")
    rows = [row for row in csv.reader(text.splitlines(), delimiter=_delimiter(text)) if any(cell.strip() for cell in row)]
    if len(rows) < 2:
        raise UsageError(f"`{file}` needs a heading and at least one case.")
    heading, comma = [cell.strip() for cell in rows[0]], _delimiter(text) != ","
    ragged = next((k for k, row in enumerate(rows) if len(row) != len(heading)), None)
    if ragged is not None:
        raise UsageError(f"Row {ragged + 1} of `{file}` has {len(rows[ragged])} cells; its heading has {len(heading)}.")
    columns = [_with_unit(name, [_cell(row[k], comma) for row in rows[1:]]) for k, name in enumerate(heading)]
    return _named(_once_each(columns), len(rows) - 1)


def _of_frame(frame: Any) -> Cases:
    columns = [
        _with_unit(str(name), [None if _is_empty(v) else v for v in frame.iloc[:, k].tolist()])
        for k, name in enumerate(frame.columns)
    ]
    return _named(_once_each(columns), len(frame))


def _once_each(columns: list[tuple[str, list[Any]]]) -> dict[str, list[Any]]:
    doubled = [path for path, count in _counts(path for path, _ in columns).items() if count > 1]
    if doubled:
        raise UsageError(f"Two columns of the cases are called `{doubled[0]}`.", remedy="One column says what it is in each case.")
    return dict(columns)


def _with_unit(heading: str, values: list[Any]) -> tuple[str, list[Any]]:
    """`wall.G [W/K]` is the path `wall.G` with values in W/K; an index such as `wall[3]` is not a unit."""
    match = _UNIT.match(heading)
    if match is None or re.fullmatch(r"[\d\s,:-]*", match[2]):
        return heading, values
    return match[1], [_in_unit(v, match[2]) for v in values]


def _in_unit(value: Any, unit: str) -> Any:
    """A number of a column with a unit, be it one of numpy's or written as a text; a text with a unit of its own stays."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.number | str):
        return value
    try:
        return f"{float(value)!r} {unit}"
    except ValueError:
        return value


def _delimiter(text: str) -> str:
    first = text.partition("\n")[0]
    return max(";\t,", key=first.count)


def _cell(text: str, decimal_comma: bool) -> Any:
    text = text.strip()
    if not text:
        return None
    for spelt in (text, text.replace(",", ".") if decimal_comma else text):
        try:
            return float(spelt)
        except ValueError:
            continue
    return text


def _named(columns: dict[str, list[Any]], count: int) -> Cases:
    for heading in list(columns):
        if heading.casefold() in _NAMES:
            names = columns.pop(heading)
            return Cases(columns, tuple(str(k + 1) if n is None else _text(n) for k, n in enumerate(names)))
    return _numbered(columns, count)


def _numbered(columns: Mapping[str, Sequence[Any]], count: int) -> Cases:
    return Cases(columns, tuple(str(k + 1) for k in range(count)))


def _checked(values: Any) -> Mapping[str, Iterable[Any]]:
    if not isinstance(values, Mapping) or not values:
        raise UsageError(f"Parameters and their values were expected, got {values!r}.", remedy='{"wall.G": [1.0, 2.0]}')
    for path, given in values.items():
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise UsageError(
                f"`{path}` has the value {given!r}; a list of values was expected.", remedy=f'{{"{path}": [{given!r}]}}'
            )
    return values


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _is_empty(value: Any) -> bool:
    """Nothing, not a number, or whatever else pandas has for a cell without a value: it does not even equal itself."""
    if value is None or isinstance(value, str):
        return value is None
    try:
        return not isinstance(value, np.ndarray) and not bool(value == value)
    except (TypeError, ValueError):  # pandas.NA does not say
        return type(value).__name__ in ("NAType", "NaTType")


def _counts(names: Iterable[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for name in names:
        found[name] = found.get(name, 0) + 1
    return found
