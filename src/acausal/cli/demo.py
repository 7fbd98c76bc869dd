"""`acausal demo`: a small but real plant, simulated and drawn, so that a newcomer sees in seconds that everything works."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from . import keep, show
from .common import Quiet, Traceback, compiled, working
from .exits import Exit
from .summary import duration, facts, number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from ..results.result import Result
    from ..runtime.model import Model

MODEL = "acausal.library.demo:HeatedHouse"
PLANT = (
    "A house in winter. An air-source heat pump charges a stratified hot-water tank, which heats the floor and gives hot water; "
    "sun, people and the weather do the rest. Two controllers keep the room and the tank at their temperatures."
)
DAYS = 3
DRAWN = ("room.T", "weather.T", "tank.T_top", "heat_pump.P", "heat_pump.Q_flow", "Q_sun")
UNITS = {"K": "degC", "W": "kW"}
JOULE_PER_KWH = 3.6e6


def demo(
    plot_file: Annotated[str, typer.Option("--plot-file", metavar="FILE", help="Where the picture goes.")] = "demo.png",
    quiet: Quiet = False,
    traceback: Traceback = False,
) -> Exit:
    """Simulate a heated house over three winter days, and draw what happens."""
    keep.check_picture(plot_file)
    from ..library.demo import DAY, HeatedHouse

    with working("translating the house", quiet):
        model = compiled(HeatedHouse())
    result = model.simulate(DAYS * DAY, points=DAYS * 24 * 12 + 1, progress=not quiet)
    kept = keep.Kept()
    keep.draw(result, [DRAWN], plot_file, kept, unit=UNITS, title="A heated house in winter")
    if not quiet:
        _tell(model, result, kept, show.screen())
    if result.diagnostics or kept.problems:
        show.show_diagnostics([*result.diagnostics, *kept.problems])
    return Exit.STOPPED if not result.outcome.ok else Exit.NOT_WRITTEN if kept.problems else Exit.FINE


def _tell(model: Model, result: Result, kept: keep.Kept, console: Console) -> None:
    from rich.text import Text

    console.print(Text.assemble(("✓ " if result.outcome.ok else "■ ", "bold green"), ("HeatedHouse", "bold")))
    facts(console, _story(model, result, kept))
    console.print()
    console.print("Three things to try next:", style="bold")
    for command, why in _next():
        console.print(Text.assemble("  ", (command, "cyan")), soft_wrap=True)
        console.print(Text(f"      {why}", "dim"), soft_wrap=True)


def _story(model: Model, result: Result, kept: keep.Kept) -> Iterator[tuple[str, str]]:
    from ..families.statistics import statistics

    s, seconds = statistics(model), result.statistics["seconds"]
    translation = sum(s.seconds.values())
    yield "plant", PLANT
    yield "made of", f"{number(s.components, 'component')}, {number(s.variables, 'variable')}, {number(s.parameters, 'parameter')}"
    yield (
        "solved as",
        f"{number(s.unknowns, 'unknown')}, {number(s.states)} of them states; {number(s.aliases)} aliases cost nothing",
    )
    yield "translated", f"in {duration(translation)}, to {number(s.kernels, 'kernel')} of machine code"
    run = seconds["initialisation"] + seconds["integration"]
    yield "simulated", f"{DAYS} days in {duration(run)}, {number(result.statistics['steps'], 'step')}"
    if not result.outcome.ok:
        yield "but", result.outcome.value
    elif len(result.time):
        yield "found", _found(result)
    for picture in kept.pictures:
        yield "plotted", picture


def _found(result: Result) -> str:
    room, outside = result.in_unit("room.T", "degC"), result.in_unit("weather.T", "degC")
    electric, heat = result["E_electric"][-1] / JOULE_PER_KWH, result["E_heat"][-1] / JOULE_PER_KWH
    return (
        f"outdoors {outside.min():.0f} … {outside.max():.0f} °C, indoors {room.min():.1f} … {room.max():.1f} °C; "
        f"the heat pump made {heat:.0f} kWh of heat from {electric:.0f} kWh of electricity, {heat / electric:.1f} for 1"
    )


def _next() -> tuple[tuple[str, str], ...]:
    return (
        (f"acausal run {MODEL} -u 3day -s people=900 -p room.T", "a party: does the room get too warm?"),
        (f"acausal run {MODEL} -u 1day -p tank.T -o demo.csv", "the tank layer by layer, and everything in a table"),
        (f'acausal info "{MODEL}(layers=200)"', "twenty times the layers: longer tables, not more machine code"),
    )
