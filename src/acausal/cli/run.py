"""`acausal run`: translate, simulate, and show, plot and write what came out."""

from __future__ import annotations

import json as json_format
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import Diagnostic, Interrupted, ModelError
from . import arguments, keep, show
from .common import Json, ModelArgument, Quiet, Traceback, translated
from .exits import Exit
from .guard import Stop, blamed

if TYPE_CHECKING:
    from ..model.model import Model
    from ..results.result import Result


@dataclass(slots=True)
class Request:
    """The command line, read and checked as far as it can be without the model."""

    until: float | None
    start: float
    points: int | None
    rtol: float
    changes: dict[str, Any]
    inputs: dict[str, str]
    store: list[str] | None
    plots: list[list[str]]
    steady: bool
    solver: str | None
    options: dict[str, Any]
    times: tuple[str, str | None]  # start and end as they were typed: the model says what it is integrated over
    given: dict[str, Any] = field(default_factory=dict)  # the inputs, once the model can say what they are

    @property
    def plotted(self) -> list[str]:
        return [name for group in self.plots for name in group]

    @property
    def stored(self) -> list[str] | None:
        """What is plotted must be stored too."""
        return None if self.store is None else list(dict.fromkeys([*self.store, *self.plotted]))

    @property
    def shown(self) -> list[str]:
        return list(dict.fromkeys([*self.plotted, *(self.store or [])]))


WHAT, OUT, HOW = "What is simulated", "What comes out", "How it is solved"


def run(
    model: ModelArgument,
    until: Annotated[
        str | None, typer.Option("--until", "-u", metavar="TIME", rich_help_panel=WHAT, help="End of the run: 10, 2h, 1day.")
    ] = None,
    start: Annotated[str, typer.Option(metavar="TIME", rich_help_panel=WHAT, help="Beginning of the run.")] = "0",
    set: Annotated[
        list[str] | None,
        typer.Option("--set", "-s", metavar="PATH=VALUE", rich_help_panel=WHAT, help='A parameter: room.T_set="21 degC".'),
    ] = None,
    input: Annotated[
        list[str] | None,
        typer.Option("--input", "-i", metavar="PATH=…", rich_help_panel=WHAT, help="An input: 20, data.csv or data.csv:column."),
    ] = None,
    steady: Annotated[
        bool, typer.Option("--steady", metavar="", rich_help_panel=WHAT, help="Start at rest; without --until, show that state.")
    ] = False,
    plot: Annotated[
        list[str] | None,
        typer.Option("--plot", "-p", metavar="NAMES", rich_help_panel=OUT, help="Draw these; commas put several in one picture."),
    ] = None,
    plot_file: Annotated[
        str | None, typer.Option("--plot-file", metavar="FILE", rich_help_panel=OUT, help="Where pictures go: .png .svg .pdf")
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", rich_help_panel=OUT, help="The result: .csv .mat .parquet .h5 .acausal"),
    ] = None,
    store: Annotated[
        list[str] | None, typer.Option("--store", metavar="NAMES", rich_help_panel=OUT, help="Keep only these.")
    ] = None,
    points: Annotated[
        int | None, typer.Option(metavar="N", rich_help_panel=OUT, help="Output points (501); they do not influence the steps.")
    ] = None,
    rtol: Annotated[
        float, typer.Option(metavar="NUMBER", rich_help_panel=HOW, help="Relative tolerance, all there is to know about accuracy.")
    ] = 1e-6,
    solver: Annotated[str | None, typer.Option(metavar="NAME", rich_help_panel=HOW, help="See `acausal solvers`.")] = None,
    option: Annotated[
        list[str] | None, typer.Option("--option", metavar="NAME=VALUE", rich_help_panel=HOW, help="An option of the solver.")
    ] = None,
    quiet: Quiet = False,
    json: Json = False,
    traceback: Traceback = False,
) -> Exit:
    """Simulate a model, then show what it did.

    [dim]acausal run house.py --until 1day --set heater.P_max="3 kW" --plot room.T,outside.T[/dim]
    """
    keep.check_output(output)
    keep.check_picture(plot_file)
    request = _read(until, start, points, rtol, set, input, store, plot, steady, solver, option)
    compiled = translated(model, quiet=quiet or json)
    with blamed(Exit.USAGE):
        _apply(compiled, request)
    result = _simulated(compiled, request, bar=not quiet)
    kept = keep.Kept()
    if len(result.time):
        if output is not None:
            keep.write(result, output, kept, request.stored)
        keep.draw(result, request.plots, plot_file, kept)
    _report(result, compiled, request, kept, quiet, json)
    return _code(result, kept)


def _read(
    until: str | None,
    start: str,
    points: int | None,
    rtol: float,
    changes: list[str] | None,
    inputs: list[str] | None,
    store: list[str] | None,
    plot: list[str] | None,
    steady: bool,
    solver: str | None,
    option: list[str] | None,
) -> Request:
    """Check everything that can be checked before the model is translated, which may take a while."""
    if until is None and not steady:
        what = "How long shall the run be?"
        raise Stop(
            Exit.USAGE,
            Diagnostic(what, remedy="`--until 10` (seconds) or `--until 2h`; `--steady` computes the state of rest instead"),
        )
    begin, end = arguments.early_seconds(start, "--start"), None if until is None else arguments.early_seconds(until, "--until")
    if not rtol > 0:
        raise Stop(
            Exit.USAGE,
            Diagnostic(f"`--rtol {rtol:g}`: a tolerance must be positive.", remedy="1e-6 is usual, 1e-4 is coarse, 1e-9 is fine"),
        )
    with blamed(Exit.USAGE):
        if begin is not None and end is not None:
            _check_times(begin, end, points)
        settings = arguments.options_of(solver, arguments.pairs(option or [], "--option", "max_step=0.1"))
    values = arguments.pairs(changes or [], "--set", 'room.T_set="21 degC"')
    stored = None if store is None else [name for group in arguments.names(store) for name in group]
    return Request(
        until=end,
        start=begin or 0.0,
        times=(start, until),
        points=points,
        rtol=rtol,
        changes={path: arguments.literal(text) for path, text in values.items()},
        inputs=arguments.pairs(inputs or [], "--input", "T_out=weather.csv"),
        store=stored,
        plots=arguments.names(plot or []),
        steady=steady,
        solver=solver,
        options=settings,
    )


def _check_times(start: float, until: float, points: int | None) -> None:
    from ..runtime.storage import output_times

    output_times(start, until, points, None, 1)


def _apply(model: Model, request: Request) -> None:
    """Names and values that the model must know; a wrong one is told before anything is computed."""
    unit, (start, until) = model.system.plant.independent[1], request.times
    request.start = arguments.seconds(start, "--start", unit)
    request.until = None if until is None else arguments.seconds(until, "--until", unit)
    for path, value in request.changes.items():
        _set(model, path, value)
    for path in list(request.changes)[:1]:
        model.get(path)  # evaluates all parameters, and so checks their bounds
    for path in request.inputs:
        model.system.plant.locate(path)
    request.given = arguments.inputs_of(model, request.inputs)
    for name in request.shown:
        if not any(letter in name for letter in "*?") and name != "time":
            model.system.plant.locate(name)


def _set(model: Model, path: str, value: Any) -> None:
    try:
        model.set({path: value})
    except ModelError as error:
        said = f"option:    --set {path}={value}"
        raise Stop(Exit.USAGE, *(replace(d, details=(*d.details, said)) for d in error.diagnostics)) from error


def _simulated(model: Model, request: Request, bar: bool) -> Result:
    if request.until is None:
        return model.steady_state(at=request.start, inputs=request.given, warn=False)
    try:
        return _run_to_end(model, request, bar)
    except Interrupted as stop:
        result: Result = stop.result
        return result


def _run_to_end(model: Model, request: Request, bar: bool) -> Result:
    assert request.until is not None
    return model.simulate(
        request.until,
        start=request.start,
        points=request.points,
        rtol=request.rtol,
        inputs=request.given,
        store=request.stored,
        initial="steady" if request.steady else "start",
        progress=bar,
        solver=request.solver,
        on_failure="keep",
        **request.options,
    )


def _report(result: Result, model: Model, request: Request, kept: keep.Kept, quiet: bool, json: bool) -> None:
    from .summary import show_summary, summary_json

    if json:
        print(json_format.dumps(summary_json(result, model, request.shown, kept)))
        return
    if not quiet:
        show_summary(result, model, request.shown, kept, show.screen())
    elif not result.outcome.ok:
        show.show_diagnostics([Diagnostic(result.outcome.value)])
    if result.diagnostics:
        show.screen(errors=True).print()
        show.show_diagnostics(result.diagnostics)
    if kept.problems:
        show.screen(errors=True).print()
        show.show_diagnostics(kept.problems)


def _code(result: Result, kept: keep.Kept) -> Exit:
    if result.outcome.name == "CANCELLED":
        return Exit.INTERRUPTED
    if not result.outcome.ok:
        return Exit.STOPPED
    return Exit.NOT_WRITTEN if kept.problems else Exit.FINE
