"""A study: many runs of one model, and the table that comes of it.

study = ac.study(model, ac.grid({"wall.G": [1.0, 2.0, 4.0]}), outputs=["room.T", ac.max("heater.Q_flow")], until="1 day")
print(study)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..arguments import checked
from ..errors import Diagnostic, ModelError, NameNotFound, UsageError
from ..language.component import Component
from ..language.reductions import Reduction
from ..model.asked import check_rest, check_run
from . import facts
from .case_run import Job, Row, run_case
from .cases import Cases, Draws, cases_of
from .chain import Chain
from .executors import Chunk, rows_of
from .journal import Journal
from .outputs import Column, Outputs, columns_of
from .progress import check_counter, counted
from .rows import Rows
from .table import Study
from .together import GROUP, pays, why_not
from .variants import Variants, variants_of

_MOST_WORKERS = 10_000
_EACH_FROM = ("start", "first", "previous")
_ROWS_A_CHUNK = 64  # at the most
_CHUNKS_A_WORKER = 16  # so that workers end together
_CHECKED = 1000  # distinct values of a column that are looked at before the first run; a case checks its own all the same


@checked
def study(
    model: Any,
    cases: Any,
    outputs: Outputs,
    *,
    until: float | str | None = None,
    steady: bool = False,
    executor: Any = None,
    workers: int | None = None,
    each_from: str = "start",
    keep: str | os.PathLike[str] | None = None,
    together: bool | None = None,
    progress: bool | Callable[[int, int], Any] = False,
    **options: Any,
) -> Study:
    """Run a model for many cases and keep what is asked of each.

    Every day:
        model: a compiled model (`model.study(…)` is the same), or a component class or function that makes the plant: columns that
            are its arguments are structural, and each combination of them is compiled once.
        cases: `ac.grid(…)`, `ac.one_at_a_time(…)`, `ac.draws(…)`, a list of changes, columns by path, a pandas frame, or a CSV or
            Excel file. Paths are parameters, start values or inputs; values may be texts with units.
        outputs: paths (final values), reductions (`ac.max("room.T")`), functions of a result; a list, or a mapping by name.
        until: as for `simulate`; or `steady=True` for states of rest.
    The rest:
        executor: "threads" (the default), "processes", "serial", an executor of concurrent.futures, a Dask client, joblib.Parallel.
        each_from: "start" (each case by itself), "first" or "previous" (each case begins from that case's end).
        together: True advances many cases in one solve, with one step size that suits all of them: faster for small plants without
            events. None (the default): where it pays, for 64 cases or more. False: each case has steps of its own.
        keep: a folder for the rows; the same study run again goes on where it stopped.
        progress: True for a bar, or a function of (cases done, cases in all).
        options: what `simulate` or `steady_state` takes besides.

    A case that fails is a row with its outcome, the time reached and the reason; it never ends the study.
    """
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or not 1 <= workers <= _MOST_WORKERS):
        raise UsageError(f"`workers` is how many cases run side by side: a whole number of at least 1, got {workers!r}.")
    check_counter(progress)
    columns = tuple(columns_of(outputs))
    model, found, variants = _models(model, cases)
    _check_options(model, until, steady, each_from, options)
    asked = dict(options) if steady else {"until": until, **options}
    structural = () if variants is None else variants.arguments
    inputs = _checked(model, found, structural)
    if variants is None:
        _check_outputs(model, columns)
    grouped = _together(together, model, asked, steady, each_from, variants, columns, len(found))
    job = Job(model, columns, asked, steady, inputs, variants, grouped)
    journal = None if keep is None else Journal(keep, _fingerprint(job, found, each_from))
    rows = Rows(len(found), len(columns))
    for row in journal.rows() if journal is not None else ():
        rows.put(row)
    chain = Chain(None if journal is None else journal.folder)
    with counted(progress, rows.done, len(found), getattr(model, "title", "model")) as count:
        for batch in _batches(_rows(job, found, rows.left(), each_from, executor, workers, chain)):
            if journal is not None:
                journal.append(batch)
                chain.save()
            for row in batch:
                rows.put(row)
            count(rows.done)
    return Study(job, found, rows, each_from, None if journal is None else journal.folder)


def _check_options(model: Any, until: Any, steady: bool, each_from: str, options: dict[str, Any]) -> None:
    """What no case could be run with is told once, before the first."""
    if each_from not in _EACH_FROM:
        raise UsageError(f'`each_from` is "start", "first" or "previous", got {each_from!r}.')
    if steady and until is not None:
        raise UsageError("A study is of runs (`until=…`) or of states of rest (`steady=True`), not of both.")
    if steady:
        check_rest(model, options)
    elif until is None:
        raise UsageError("A study needs an end for its runs, or `steady=True`.", remedy='until="1 day"')
    else:
        check_run(model, until, options)


def _together(
    asked: bool | None,
    model: Any,
    options: dict[str, Any],
    steady: bool,
    each_from: str,
    variants: Variants | None,
    columns: Sequence[Column],
    count: int,
) -> bool:
    """Whether cases are advanced in one solve: if it is asked for it must be possible, otherwise it must pay."""
    if asked is not None and not isinstance(asked, bool):
        raise UsageError(f"`together` is True, False, or None for where it pays; got {asked!r}.")
    if asked is False:
        return False
    reason = "the variants are models of their own" if variants is not None else why_not(model, options, steady, each_from)
    if asked and reason:
        raise UsageError(f"The cases cannot be advanced together: {reason}.", remedy="Leave `together` out.")
    return not reason and (bool(asked) or pays(model, count, columns))


def _rows(
    job: Job, cases: Cases, left: Sequence[int], each_from: str, executor: Any, workers: int | None, chain: Chain
) -> Iterator[Row]:
    if each_from == "start" and job.together:
        wanted = frozenset(left)
        for row in rows_of(job, _groups(cases, wanted), executor, workers):
            if row.number in wanted:
                yield row
    elif each_from == "start":
        yield from rows_of(job, _chunks(cases, left, workers), executor, workers)
    elif each_from == "first":
        row, result = run_case(job, 0, cases[0])
        if 0 in left:
            yield row
        others = [k for k in left if k != 0]
        yield from rows_of(job, _chunks(cases, others, workers), executor, workers, result if row.ok else None)
    else:
        yield from chain.rows(job, cases, left)


def _chunks(cases: Cases, numbers: Sequence[int], workers: int | None) -> Iterator[Chunk]:
    count = workers or os.cpu_count() or 1
    size = max(1, min(_ROWS_A_CHUNK, len(numbers) // (count * _CHUNKS_A_WORKER)))
    for first in range(0, len(numbers), size):
        yield [(k, cases[k]) for k in numbers[first : first + size]]


def _groups(cases: Cases, wanted: frozenset[int]) -> Iterator[Chunk]:
    """Cases that are advanced together. Who goes with whom depends on their numbers alone, so that a study that was stopped goes on
    with the same steps; of a group some of whose rows are done all are run again."""
    for first in range(0, len(cases), GROUP):
        group = range(first, min(first + GROUP, len(cases)))
        if not wanted.isdisjoint(group):
            yield [(k, cases[k]) for k in group]


def _batches(rows: Iterator[Row], seconds: float = 0.5) -> Iterator[list[Row]]:
    """Rows gathered for about half a second, so that a journal is not synchronised for each of them."""
    import time

    batch: list[Row] = []
    last = time.monotonic()
    while True:
        try:
            row = next(rows, None)
        except BaseException:
            if batch:
                yield batch  # what is done is kept, whatever ends the study
            raise
        if row is not None:
            batch.append(row)
        if batch and (row is None or time.monotonic() - last > seconds):
            yield batch
            batch, last = [], time.monotonic()
        if row is None:
            return


def _models(what: Any, cases: Any) -> tuple[Any, Cases, Variants | None]:
    """The model that is studied, its cases, and its variants where some of the changes are structural."""
    if hasattr(what, "simulate"):
        return what, cases_of(cases, _unit_reader(what), facts.distributions(what)), None
    if isinstance(what, Component) or not callable(what):
        raise UsageError(
            f"A study is made of a compiled model, or of a class or function that makes a component; got {what!r}.",
            remedy="`ac.compile(plant).study(…)`, or `ac.study(Plant, …)` where arguments of `Plant` are among the cases.",
        )
    from ..model.model import compile

    if isinstance(cases, Draws):  # units and distributions are those of the plant as it is
        plain = variants_of(what, Cases({}, ("1",)), compile).first
        found = cases_of(cases, _unit_reader(plain), facts.distributions(plain))
    else:
        found = cases_of(cases, None)
    variants = variants_of(what, found, compile)
    return variants.first, found, variants


def _unit_reader(model: Any) -> Callable[[str], str]:
    return lambda path: facts.unit(model, path)


def _checked(model: Any, cases: Cases, structural: Sequence[str] = ()) -> frozenset[str]:
    """Refuse columns that name nothing and values that cannot be, all at once; say which of the columns are inputs."""
    wrong: list[Diagnostic] = []
    inputs: set[str] = set()
    for path, values in cases.columns.items():
        if path in structural:
            continue
        try:
            if facts.role(model, path) == "input":
                inputs.add(path)
            given: dict[Any, str] = {}  # each value with the first case that has it
            for name, value in zip(cases.names, map(_hashable, values), strict=True):
                if value is not None:
                    given.setdefault(value, name)
            for value, name in list(given.items())[:_CHECKED]:
                _check_value(model, path, value, name)
        except ModelError as error:
            wrong += error.diagnostics
    if wrong:
        raise ModelError(*wrong[:20])
    return frozenset(inputs)


def _check_value(model: Any, path: str, value: Any, case: str) -> None:
    try:
        facts.check(model, path, value)
    except NameNotFound:
        raise
    except ModelError as error:
        raise ModelError(*(replace(d, what=f"Case {case}: {d.what}") for d in error.diagnostics)) from None


def _check_outputs(model: Any, columns: Sequence[Column]) -> None:
    """A path that names nothing is told before the first run; of structural variants each knows for itself."""
    for path in (path for column in columns for path in column.paths or ()):
        try:
            facts.role(model, path)
        except NameNotFound as error:
            told = error.diagnostics[0]
            raise NameNotFound(f"An output: {told.what}", remedy=told.remedy) from None
    for column in columns:
        if isinstance(column.what, Reduction) and isinstance(column.what.level, str):
            try:
                facts.number(model, column.what.path, column.what.level)
            except UsageError as error:
                raise UsageError(f"The output `{column.label}`: {error.diagnostics[0].what}") from None


def _hashable(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, str | int | float | bool) else None


def _fingerprint(job: Job, cases: Cases, each_from: str) -> dict[str, Any]:
    """What makes a study another one."""
    models = [job.model] if job.variants is None else job.variants.models.values()
    return {
        "model": [str(m) if isinstance(m, ModelError) else facts.fingerprint(m) for m in models],
        "cases": {path: facts.told(list(values)) for path, values in cases.columns.items()},
        "names": cases.names,
        "outputs": {c.label: facts.told(c.what) for c in job.columns},
        "options": facts.told(job.options),
        "steady": job.steady,
        "each_from": each_from,
        **({"together": GROUP} if job.together else {}),
    }
