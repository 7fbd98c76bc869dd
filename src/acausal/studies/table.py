"""The table of a study: a row for each case, columns for what was changed and what came of it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import NameNotFound, UsageError, near_matches
from ..runtime.parameters import later
from . import facts
from .case_run import Job, Row
from .cases import Cases
from .rows import Rows
from .whole import Whole

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

_SHOWN = 12  # rows of a table that is printed


class Study:
    """What came of a study: `study["max room.T"]` is a column, `study.result(k)` a whole run, `print(study)` the table.

    Every day: `[…]`, `to_pandas`, `failed`, `plot`, `tornado`, `heat_map`, `scatter`, `bands`, `overlay`.
    """

    def __init__(self, job: Job, cases: Cases, rows: Rows, each_from: str = "start", folder: Path | None = None) -> None:
        self._job, self.cases, self.rows, self._each_from = job, cases, rows, each_from
        self._results = Whole(job, cases, self._before, folder)

    def _before(self, number: int) -> int | None:
        """The case from whose end a case began."""
        if self._each_from == "start" or number == 0:
            return None
        candidates = [0] if self._each_from == "first" else range(number - 1, -1, -1)
        return next((k for k in candidates if self.rows[k].ok), None)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    @property
    def outputs(self) -> list[str]:
        """Headings of what came of the cases."""
        return [column.label for column in self._job.columns]

    @property
    def changed(self) -> list[str]:
        """Headings of what was changed: paths, and `room.T (start)` for the start value of a variable that is an output, too."""
        return list(self._paths)

    @property
    def _paths(self) -> dict[str, str]:
        return {f"{path} (start)" if path in self.outputs else path: path for path in self.cases.columns}

    @property
    def ok(self) -> np.ndarray:
        """Which cases came to their end."""
        return self.rows.ok

    @property
    def failed(self) -> list[Row]:
        """Rows of the cases that did not come to their end, with outcome, time reached and reason."""
        return [self.rows[int(k)] for k in np.flatnonzero(~self.rows.ok)]

    def __getitem__(self, name: str) -> np.ndarray:
        if name in self.outputs:
            return np.array(self.rows.values[:, self.outputs.index(name)])
        if name in self._paths:
            return self._numbers(self._paths[name])
        known = [*self.changed, *self.outputs]
        raise NameNotFound(
            f"The study has no column `{name}`. {near_matches(name, known)}".rstrip(), remedy=f"It has: {', '.join(known)}"
        )

    def _numbers(self, path: str) -> np.ndarray:
        """A column of what was changed: as numbers in the parameter's own unit where it can be."""
        model, given = self._job.model, self.cases.columns[path]
        if self._is_structural(path):
            return np.asarray(given, dtype=float if all(isinstance(v, int | float) for v in given) else object)
        own = any(v is None for v in given) and facts.role(model, path) == "parameter"
        otherwise = self._as_it_is(path, {}) if own else None
        values = [otherwise if v is None else facts.number(model, path, v) if isinstance(v, str) else v for v in given]
        if own and model._parameters.values.bindings:  # it may follow what else is changed in a case
            values = [self._as_it_is(path, self.cases[k]) if v is None else values[k] for k, v in enumerate(given)]
        try:
            return np.asarray(values, dtype=float)
        except (TypeError, ValueError):
            return np.asarray(values, dtype=object)

    def _as_it_is(self, path: str, changes: Mapping[str, Any]) -> Any:
        """What a parameter is in a case that says nothing of it: as the options of the study have it, or the model."""
        model = self._job.model
        given = later(self._job.options.get("set") or {}, changes)
        known = model._parameters.known(
            {p: v for p, v in given.items() if not self._is_structural(p) and facts.role(model, p) == "parameter"}
        )
        found = known[model._parameters.cells(path)]
        return float(found) if found.ndim == 0 else found

    def _is_structural(self, path: str) -> bool:
        return self._job.variants is not None and path in self._job.variants.arguments

    def unit(self, name: str) -> str:
        """The unit of a column."""
        path = self._paths.get(name)
        if path is not None:
            return "" if self._is_structural(path) else facts.unit(self._job.model, path)
        for column in self._job.columns:
            if column.label == name:
                return "" if column.paths is None else column.unit(_Units(self._job.model))
        raise NameNotFound(f"The study has no column `{name}`.")

    def to_pandas(self) -> pandas.DataFrame:
        """A frame with a row for each case; units are in `frame.attrs["units"]`."""
        import pandas

        columns: dict[str, Any] = {name: self[name] for name in (*self.changed, *self.outputs)}
        columns |= {"outcome": self.rows.outcomes, "time reached": self.rows.reached, "message": self.rows.messages}
        frame = pandas.DataFrame(columns, index=pandas.Index(self.cases.names, name="case"))
        frame.attrs["units"] = {name: self.unit(name) for name in (*self.changed, *self.outputs)}
        return frame

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table: `.csv`, `.xlsx` or `.parquet`, with units in the headings of a CSV."""
        ending = checked_ending(path)
        frame = self.to_pandas()
        try:
            if ending == ".csv":
                units = frame.attrs["units"]
                frame.rename(columns={n: f"{n} [{u}]" for n, u in units.items() if u}).to_csv(path)
            elif ending == ".xlsx":
                frame.to_excel(path)
            else:
                frame.attrs = {}
                frame.to_parquet(path)
        except OSError as error:
            raise UsageError(f"The table cannot be written to `{path}`: {error.strerror or error}.") from error

    def result(self, case: int | str) -> Any:
        """The whole result of one case, by number or name: run once more when asked for, and then kept (with `keep=`, on disk)."""
        return self._results[self._number(case)]

    def _number(self, case: int | str) -> int:
        if isinstance(case, str):
            if case not in self.cases.names:
                raise NameNotFound(f"There is no case `{case}`. {near_matches(case, self.cases.names)}".rstrip())
            return self.cases.names.index(case)
        if not -len(self) <= case < len(self):
            raise UsageError(f"There is no case {case}: the study has {len(self)}.")
        return range(len(self))[case]

    def percentiles(self, output: str, shares: Sequence[float] = (5, 50, 95)) -> np.ndarray:
        """Values below which these percentages of the cases lie; failed cases do not count."""
        from .pictures import check_shares

        values = self[output]
        good = values[self.ok & np.isfinite(values)]
        return np.asarray(np.nanpercentile(good, check_shares(shares))) if len(good) else np.full(np.shape(shares), np.nan)

    def correlations(self, output: str) -> dict[str, float]:
        """Rank correlation of an output with each thing that was changed, the strongest first: what matters, and which way."""
        from scipy.stats import spearmanr

        found: dict[str, float] = {}
        y = self[output]
        for path in self.changed:
            x = self[path]
            if x.dtype == object:
                continue
            good = self.ok & np.isfinite(y) & np.isfinite(x)  # a start value that is as the model has it is no number here
            if good.sum() < 3 or np.ptp(x[good]) == 0:
                continue
            found[path] = float(spearmanr(x[good], y[good])[0])
        return dict(sorted(found.items(), key=lambda pair: -abs(pair[1])))

    def __repr__(self) -> str:
        bad = len(self.failed)
        return f"<Study: {len(self)} cases of {', '.join(self.changed) or 'the model as it is'}{f', {bad} failed' if bad else ''}>"

    def __str__(self) -> str:
        from .words import printed

        return printed(self, _SHOWN)

    def _repr_html_(self) -> str:
        from .words import html

        return html(self, 100)

    # --- pictures ---------------------------------------------------------------------------------------------------------------
    def plot(self, x: str, *outputs: str, file: str | os.PathLike[str] | None = None) -> Figure:
        """Outputs over something that was changed."""
        from .pictures import lines

        return lines(self, x, outputs, file)

    def scatter(self, output: str, file: str | os.PathLike[str] | None = None) -> Figure:
        """An output against each thing that was changed, with the rank correlation."""
        from .pictures import scatter

        return scatter(self, output, file)

    def tornado(self, output: str, file: str | os.PathLike[str] | None = None) -> Figure:
        """How far each thing that was changed moves an output; of `ac.one_at_a_time`, around the model as it is."""
        from .pictures import tornado

        return tornado(self, output, file)

    def heat_map(self, *names: str, file: str | os.PathLike[str] | None = None) -> Figure:
        """An output over two things that were changed on a grid: `heat_map("G", "P", "T")`, or `heat_map("T")` where two were."""
        from .pictures import heat_map

        if len(names) == 1 and len(self.changed) == 2:
            names = (*self.changed, *names)
        if len(names) != 3:
            changed = f"changed were {', '.join(self.changed)}" if self.changed else "nothing was changed"
            raise UsageError(f"A heat map is of an output over two things ({changed}).", remedy='study.heat_map("G", "P", "T")')
        return heat_map(self, *names, file)

    def overlay(self, path: str, *, most: int = 20, file: str | os.PathLike[str] | None = None) -> Figure:
        """A trajectory of every case (of `most` at the most, evenly picked) in one picture."""
        from .pictures import overlay

        return overlay(self, path, most, file)

    def bands(
        self, path: str, shares: Sequence[float] = (5, 25, 50, 75, 95), *, file: str | os.PathLike[str] | None = None
    ) -> Figure:
        """Percentiles of a trajectory over all cases."""
        from .pictures import bands

        return bands(self, path, shares, file)


class _Units:
    """A model as a reduction asks for units."""

    time = np.zeros(0)

    def __init__(self, model: Any) -> None:
        self._model = model

    def __getitem__(self, name: str) -> np.ndarray:
        return self.time

    def unit(self, name: str) -> str:
        return str(self._model.system.plant.independent[1]) if name == "time" else facts.unit(self._model, name)


def checked_ending(path: str | os.PathLike[str]) -> str:
    """How the file of a table ends; a complaint, before anything is computed, where none can be written."""
    ending = os.path.splitext(path)[1].lower()
    if ending not in (".csv", ".xlsx", ".parquet"):
        raise UsageError(f"A table is written to .csv, .xlsx or .parquet, not to `{path}`.")
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise UsageError(f"The table cannot be written to `{path}`: there is no folder `{folder}`.")
    return ending
