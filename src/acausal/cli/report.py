"""`acausal report`: simulate a plant and write a page about it at a rating point."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import arguments, show
from .common import ModelArgument, Quiet, Traceback, translated, working
from .exits import Exit
from .guard import blamed


def report(
    model: ModelArgument,
    until: Annotated[str, typer.Option("--until", "-u", metavar="TIME", help="End of the run: 10, 2h, 1day.")],
    at: Annotated[
        str | None, typer.Option("--at", metavar="TIME", help="The rating point; the end of the run unless given.")
    ] = None,
    cycle: Annotated[
        str | None, typer.Option("--cycle", metavar="PORTS", help="Ports that the medium passes: compressor.a,compressor.b,…")
    ] = None,
    medium: Annotated[str | None, typer.Option("--medium", metavar="NAME", help="The medium, where several boil.")] = None,
    set: Annotated[
        list[str] | None, typer.Option("--set", "-s", metavar="PATH=VALUE", help='A parameter: room.T_set="21 degC".')
    ] = None,
    plot: Annotated[
        list[str] | None, typer.Option("--plot", "-p", metavar="NAMES", help="Curves; commas put several in one picture.")
    ] = None,
    output: Annotated[str | None, typer.Option("--output", "-o", metavar="FILE", help="The page; MODEL.html unless given.")] = None,
    quiet: Quiet = False,
    traceback: Traceback = False,
) -> Exit:
    """Write a page about a plant at a rating point: COP, states, exchangers, charge, exergy, diagrams.

    [dim]acausal report store.py --until 2h --cycle compressor.a,compressor.b,condenser.b,valve.b --plot room.T[/dim]
    """
    from ..results.report import report as write

    arguments.early_seconds(until, "--until")
    changes = {k: arguments.literal(v) for k, v in arguments.pairs(set or [], "--set", "room.T_set=294").items()}
    compiled = translated(model, quiet=quiet)
    unit = compiled.system.plant.independent[1]
    end = arguments.seconds(until, "--until", unit)
    rating = None if at is None else arguments.seconds(at, "--at", unit)
    ports = arguments.names([cycle])[0] if cycle else []
    file = Path(output) if output else Path(f"{compiled.title}.html")
    with blamed(Exit.USAGE), working("simulating", quiet):
        result = compiled.simulate(until=end, points=2001, set=changes)
        write(result, ports, medium=medium, at=rating, plots=arguments.names(plot or []), file=file)
    if not quiet:
        show.screen().print(f"[bold green]✓[/bold green] {file}", soft_wrap=True)
    return Exit.FINE if result.outcome else Exit.STOPPED
