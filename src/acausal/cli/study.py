"""`acausal study`: many cases of a model, and the table that comes of it."""

from __future__ import annotations

import json as json_format
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import Diagnostic
from . import arguments, show
from .common import Json, Quiet, Traceback, translated
from .exits import Exit
from .guard import Stop, blamed

if TYPE_CHECKING:
    from ..studies.plan import Plan
    from ..studies.table import Study


def study(
    what: Annotated[
        str, typer.Argument(metavar="STUDY", help="A plan (study.toml), or a file of cases (cases.csv, .xlsx).", show_default=False)
    ],
    model: Annotated[
        str | None, typer.Option("--model", "-m", metavar="MODEL", help="plant.py:House, where the plan names none.")
    ] = None,
    until: Annotated[str | None, typer.Option("--until", "-u", metavar="TIME", help="End of each run: 10, 2h, 1day.")] = None,
    steady: Annotated[bool, typer.Option("--steady", metavar="", help="States of rest instead of runs.")] = False,
    output: Annotated[
        list[str] | None,
        typer.Option("--output", "-o", metavar="WHAT", help="A column: room.T, 'max room.T', 'time of room.T > 22 degC'."),
    ] = None,
    table: Annotated[
        str | None, typer.Option("--table", "-t", metavar="FILE", help="Where the table goes: .csv .xlsx .parquet")
    ] = None,
    keep: Annotated[
        str | None, typer.Option("--keep", metavar="FOLDER", help="Keep each case; the same study goes on where it stopped.")
    ] = None,
    executor: Annotated[str | None, typer.Option("--executor", metavar="NAME", help="threads, processes or serial.")] = None,
    scheduler: Annotated[str | None, typer.Option("--scheduler", metavar="ADDRESS", help="An existing Dask cluster.")] = None,
    workers: Annotated[int | None, typer.Option("--workers", metavar="N", help="How many run side by side.")] = None,
    quiet: Quiet = False,
    json: Json = False,
    traceback: Traceback = False,
) -> Exit:
    """Run a model for many cases and make a table of what comes of each.

    [dim]acausal study cases.csv --model house.py --until 1day --output room.T --output "max heater.Q_flow"[/dim]
    """
    with blamed(Exit.USAGE):
        plan = _read(what, model, until, steady, output, table, keep, executor)
        studied = _variants(plan)
    if studied is None:
        studied = translated(plan.model, quiet=quiet or json)
    where = _cluster(scheduler) if scheduler else plan.executor
    with blamed(Exit.USAGE):
        try:
            found = _run(studied, plan, where, workers, bar=not (quiet or json))
        except KeyboardInterrupt:
            raise Stop(Exit.INTERRUPTED, _interrupted(plan)) from None
        _tell(found, plan, quiet, json)
        if plan.table:
            found.save(plan.table)
            if not (quiet or json):
                show.screen().print(f"The table is in {plan.table}.", highlight=False)
    return Exit.FINE if found.ok.all() else Exit.STOPPED


def _read(what: str, model: str | None, until: str | None, steady: bool, output: list[str] | None, *files: str | None) -> Plan:
    from ..studies.plan import Plan, read_plan
    from ..studies.table import checked_ending

    plan = read_plan(what) if Path(what).suffix == ".toml" else Plan(cases=Path(what))
    given: dict[str, Any] = {"model": model, "until": until, "steady": steady or None, "outputs": tuple(output or ()) or None}
    given |= dict(zip(("table", "keep", "executor"), files, strict=True))
    plan = replace(plan, **{name: value for name, value in given.items() if value is not None})
    for missing, remedy in ((plan.model, "--model house.py:House"), (plan.outputs, "--output room.T")):
        if not missing:
            raise Stop(
                Exit.USAGE, Diagnostic(f"`acausal study {what}` lacks a {'model' if not plan.model else 'column'}.", remedy=remedy)
            )
    if plan.table:
        checked_ending(plan.table)
    if plan.until is None and not plan.steady:
        raise Stop(Exit.USAGE, Diagnostic("How long shall the runs be?", remedy="`--until 2h`, or `--steady` for states of rest"))
    return plan


def _variants(plan: Plan) -> Any:
    """The class or function that makes the plant, where its arguments are among the cases: each combination is compiled."""
    from ..studies.cases import columns_in
    from ..studies.variants import arguments_of
    from .load import load_maker

    if plan.model.endswith(".acm"):
        return None
    maker = load_maker(plan.model)
    return maker if maker is not None and set(arguments_of(maker)) & set(columns_in(plan.cases)) else None


def _run(model: Any, plan: Plan, where: Any, workers: int | None, bar: bool) -> Study:
    from ..studies.plan import output
    from ..studies.study import study as run

    unit = model.system.plant.independent[1] if hasattr(model, "system") else "s"
    until = arguments.seconds(str(plan.until), "--until", unit) if plan.until is not None else None
    return run(
        model, plan.cases, {text: output(text) for text in plan.outputs}, until=until, steady=plan.steady, executor=where,
        workers=workers, each_from=plan.each_from, keep=plan.keep, progress=bar, **plan.options,
    )  # fmt: skip


def _interrupted(plan: Plan) -> Diagnostic:
    from ..studies.journal import rows_kept

    if not plan.keep:
        return Diagnostic(
            "Interrupted; of a study that is not kept nothing is left.", remedy="--keep FOLDER keeps each case that is done"
        )
    kept = rows_kept(plan.keep)
    return Diagnostic(f"Interrupted: {kept} cases are kept in `{plan.keep}`.", remedy="The same command goes on from there.")


def _cluster(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError:
        raise Stop(
            Exit.USAGE, Diagnostic("`--scheduler` needs Dask, which is not installed.", remedy='pip install "acausal[cluster]"')
        ) from None
    try:
        return Client(address, timeout="10s")
    except (OSError, ValueError) as error:
        raise Stop(Exit.USAGE, Diagnostic(f"There is no Dask scheduler at `{address}`: {error}.")) from None


def _plain(value: Any) -> Any:
    """JSON has no word for what is not a number."""
    return None if isinstance(value, float) and not isfinite(value) else value


def _tell(found: Study, plan: Plan, quiet: bool, json: bool) -> None:
    if json:
        names = [*found.changed, *found.outputs]
        columns = {name: [_plain(value) for value in found[name].tolist()] for name in names}
        rows = [
            {"case": found.cases.names[k], "outcome": row.outcome, **{name: column[k] for name, column in columns.items()}}
            | ({"message": row.message} if row.message else {})
            for k, row in enumerate(found.rows)
        ]
        print(json_format.dumps({"ok": bool(found.ok.all()), "units": {n: found.unit(n) for n in names}, "cases": rows}))
    elif not quiet:
        print(found)
